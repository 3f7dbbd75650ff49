"""The two shapes of a reading are strict about what they hold."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

import pytest
from attrs import evolve
from attrs.exceptions import FrozenInstanceError
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.measurement import PercentMeasurement, TokenMeasurement, utc_milliseconds
from ctxmeasure.testing.strategies import (
    counts,
    limits,
    moments,
    percent_measurements,
    token_measurements,
)

AT = datetime(2026, 11, 29, 18, tzinfo=UTC)
TOKENS = TokenMeasurement(used_tokens=41_500, limit_tokens=200_000, measured_at=AT, method="m")
PERCENT = PercentMeasurement(used_percent=63.5, measured_at=AT, method="m")


class _Nowhere(tzinfo):
    """A time zone that does not know its offset."""

    def utcoffset(self, _moment: datetime | None) -> None:
        return None

    dst = tzname = utcoffset


# -- tokens ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["used_tokens", "limit_tokens"])
@pytest.mark.parametrize("count", [True, 1.0, "1", None, [1]])
def test_a_count_is_an_int_and_nothing_else(field: str, count: Any) -> None:
    with pytest.raises(TypeError, match=f"^{field}: "):
        evolve(TOKENS, **{field: count})


@pytest.mark.parametrize(("field", "least"), [("used_tokens", 0), ("limit_tokens", 1)])
def test_a_count_has_a_least_value(field: str, least: int) -> None:
    exact: Any = {field: least}
    assert getattr(evolve(TOKENS, **exact), field) == least
    below: Any = {field: least - 1}
    with pytest.raises(ValueError, match=f"^{field}: "):
        evolve(TOKENS, **below)


@given(counts(), limits())
def test_used_and_remaining_make_the_limit_unless_it_is_overrun(used: int, limit: int) -> None:
    tokens = evolve(TOKENS, used_tokens=used, limit_tokens=limit)
    assert tokens.remaining_tokens == max(0, limit - used)
    assert (tokens.used_percent > 100) <= (used > limit)


def test_an_overrun_is_legal_and_not_clamped() -> None:
    tokens = evolve(TOKENS, used_tokens=250_000)
    assert tokens.used_percent == 125
    assert tokens.remaining_tokens == 0


# -- percentages ----------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [True, "63.5", None, [63.5], 1j])
def test_a_percentage_is_a_number_and_nothing_else(share: object) -> None:
    with pytest.raises(TypeError, match=r"^used_percent: "):
        PercentMeasurement(used_percent=share, measured_at=AT, method="m")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "share", [-1, -5e-324, 100.00000000000001, 101, math.nan, math.inf, -math.inf, 10**400]
)
def test_a_percentage_lies_between_0_and_100(share: float) -> None:
    with pytest.raises(ValueError, match=r"^used_percent: "):
        PercentMeasurement(used_percent=share, measured_at=AT, method="m")


def test_a_percentage_is_held_as_a_float() -> None:
    whole = evolve(PERCENT, used_percent=63)
    assert type(whole.used_percent) is float
    assert math.copysign(1, evolve(PERCENT, used_percent=-0.0).used_percent) == 1


@given(percent_measurements())
def test_used_and_remaining_make_the_whole(percent: PercentMeasurement) -> None:
    assert 0 <= percent.remaining_percent <= 100
    assert percent.used_percent + percent.remaining_percent == pytest.approx(100)


# -- both -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [TOKENS, PERCENT])
def test_the_shapes_exclude_each_other(shape: Any) -> None:
    other_field = "used_percent" if shape is TOKENS else "used_tokens"
    with pytest.raises(TypeError, match=other_field):
        evolve(shape, **{other_field: 50})


@pytest.mark.parametrize("shape", [TOKENS, PERCENT])
def test_a_method_has_a_name(shape: Any) -> None:
    with pytest.raises(TypeError, match=r"^method: "):
        evolve(shape, method=None)
    with pytest.raises(ValueError, match=r"^method: "):
        evolve(shape, method="")


@pytest.mark.parametrize("shape", [TOKENS, PERCENT])
def test_a_measurement_does_not_change(shape: Any) -> None:
    with pytest.raises(FrozenInstanceError):
        shape.method = "other"


@given(token_measurements() | percent_measurements())
def test_a_measurement_can_be_a_key(shape: TokenMeasurement | PercentMeasurement) -> None:
    assert len({shape, evolve(shape)}) == 1


# -- moments --------------------------------------------------------------------------------------


def test_a_moment_is_brought_to_utc_and_cut_to_milliseconds() -> None:
    east = timezone(timedelta(hours=5, minutes=30))
    moment = datetime(2026, 11, 29, 23, 30, 0, 123_999, tzinfo=east)
    held = evolve(PERCENT, measured_at=moment).measured_at
    assert held == datetime(2026, 11, 29, 18, 0, 0, 123_000, tzinfo=UTC)
    assert held.tzinfo is UTC


@given(moments())
def test_a_moment_moves_by_less_than_a_millisecond(moment: datetime) -> None:
    held = utc_milliseconds(moment)
    assert timedelta(0) <= moment - held < timedelta(milliseconds=1)
    assert utc_milliseconds(held) == held


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2026, 11, 29),  # noqa: DTZ001 - the point of the test
        datetime(2026, 11, 29, tzinfo=_Nowhere()),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
        datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-1))),
    ],
)
def test_a_moment_that_is_not_known_in_utc_is_refused(moment: datetime) -> None:
    with pytest.raises(ValueError, match=r"^measured_at: "):
        evolve(PERCENT, measured_at=moment)


@pytest.mark.parametrize("moment", [None, 1_795_975_200, "2026-11-29T18:00:00.000Z", AT.date()])
def test_a_moment_is_a_datetime_and_nothing_else(moment: Any) -> None:
    with pytest.raises(TypeError, match=r"^measured_at: "):
        evolve(PERCENT, measured_at=moment)


@given(st.text(min_size=1))
def test_a_refusal_names_the_argument_and_not_its_value(secret: str) -> None:
    with pytest.raises(TypeError) as refusal:
        evolve(TOKENS, used_tokens=secret)  # type: ignore[arg-type]
    assert str(refusal.value) == "used_tokens: expected an int"
