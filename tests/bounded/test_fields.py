"""A field holds what it should or nothing: wrong types are never turned into values."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.bounded.fields import (
    epoch_milliseconds,
    instant,
    is_amount,
    is_count,
    is_limit,
    nested,
    text,
)

NO_COUNTS: list[Any] = [True, False, 1.0, "1", -1, None, [1]]


@pytest.mark.parametrize("value", NO_COUNTS)
def test_a_count_is_a_strict_whole_number(value: object) -> None:
    assert not is_count(value)
    assert not is_limit(value)


def test_nothing_is_a_count_and_no_limit() -> None:
    assert is_count(0)
    assert not is_limit(0)
    assert is_limit(1)


@pytest.mark.parametrize("value", ["", None, 1, ["x"]])
def test_a_text_has_at_least_one_character(value: object) -> None:
    assert text({"key": value}, "key") is None
    assert text({}, "key") is None
    assert text({"key": "x"}, "key") == "x"


@pytest.mark.parametrize("value", [None, [], "x", 1])
def test_an_object_that_is_none_is_empty(value: object) -> None:
    assert nested({"key": value}, "key") == {}
    assert nested({"key": {"x": 1}}, "key") == {"x": 1}


def test_a_moment_needs_a_time_zone_and_a_place_in_the_calendar() -> None:
    noon = datetime(2026, 11, 29, 12, tzinfo=UTC)
    assert instant("2026-11-29T12:00:00.000Z") == noon
    assert instant("2026-11-29T13:00:00+01:00") == noon
    for written in ("2026-11-29T12:00:00", "0001-01-01T00:00:00+23:00", "noon", "", None, 1):
        assert instant(written) is None


@given(st.text())
def test_any_text_is_a_moment_in_utc_or_none(written: str) -> None:
    moment = instant(written)
    assert moment is None or moment.tzinfo is UTC


def test_milliseconds_of_the_epoch_are_a_whole_number_in_the_calendar() -> None:
    assert epoch_milliseconds(1784548846123) == datetime(2026, 7, 20, 12, 0, 46, 123000, UTC)
    for written in (0, -1, 1784548846000.0, "1784548846000", True, None, 10**15, 10**30):
        assert epoch_milliseconds(written) is None


@pytest.mark.parametrize(
    "value", [True, "1", None, [1], -1, -0.5, float("nan"), float("inf"), 10**400]
)
def test_an_amount_is_a_strict_finite_number(value: object) -> None:
    assert not is_amount(value)


@pytest.mark.parametrize("value", [0, 0.0, 1, 0.25, 10**30])
def test_nothing_and_more_are_amounts(value: object) -> None:
    assert is_amount(value)
