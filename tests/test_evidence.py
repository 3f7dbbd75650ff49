"""Evidence carries what was seen; what is native in it does not show."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import Gap, NeedMore, Phase, Query, TokenPair, UsedPercent, UsedTokens
from ctxmeasure.observation import LimitBasis, MissingReason, UsedBasis
from ctxmeasure.usage import UsageFault, UsageFaultKind

AT = datetime(2026, 11, 29, 18, tzinfo=UTC)


class Timeless(tzinfo):
    """A time zone that knows no offset: a datetime with it is naive all the same."""

    def utcoffset(self, _: datetime | None) -> None:
        return None

    dst = utcoffset

    def tzname(self, _: datetime | None) -> None:
        return None


TIMELESS = datetime(2026, 11, 29, tzinfo=Timeless())
BEFORE_THE_CALENDAR = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (UsageFaultKind.NOT_REPORTED, MissingReason.USAGE_NOT_REPORTED),
        (UsageFaultKind.INVALID, MissingReason.USAGE_INVALID),
        (UsageFaultKind.INCOMPLETE, MissingReason.USAGE_INCOMPLETE),
    ],
)
def test_a_usage_fault_is_a_gap_of_the_same_name(
    kind: UsageFaultKind, reason: MissingReason
) -> None:
    assert Gap.of_usage(UsageFault(kind, "input_tokens")) == Gap(reason=reason)


# -- the question ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("at", "2026-11-29T18:00:00.000Z"),
        ("turn_started_at", 1_795_975_200),
        ("session_id", 7),
        ("turn_id", b"turn"),
        ("agent_id", ["agent"]),
        ("model", 7),
        ("limit_tokens", True),
        ("limit_tokens", 200_000.0),
    ],
)
def test_an_argument_of_the_wrong_type_is_named(argument: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"^{argument}: "):
        Query(**{"at": AT, argument: value})


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("at", datetime(2026, 11, 29)),  # noqa: DTZ001 - the point of the test
        ("turn_started_at", datetime(2026, 11, 29)),  # noqa: DTZ001 - as above
        ("at", TIMELESS),
        ("turn_started_at", TIMELESS),
        ("at", BEFORE_THE_CALENDAR),
        ("turn_started_at", BEFORE_THE_CALENDAR),
        ("session_id", ""),
        ("turn_id", ""),
        ("agent_id", ""),
        ("model", ""),
        ("phase", "over"),
        ("phase", ["over"]),
        ("limit_tokens", 0),
    ],
)
def test_an_argument_with_an_impossible_value_is_named(argument: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{argument}: "):
        Query(**{"at": AT, argument: value})


def test_a_limit_may_be_declared() -> None:
    assert Query(at=AT, limit_tokens=1).limit_tokens == 1


def test_a_phase_may_be_named() -> None:
    assert Query(at=AT, phase="active").phase is Phase.ACTIVE


def test_a_model_may_be_named_as_the_agent_was_started_with_it() -> None:
    assert Query(at=AT, model="claude-opus-4-6[1m]").model == ModelRef(
        id="claude-opus-4-6", long_context_marker=True
    )
    vouched = ModelRef(id="claude-opus-4-6")
    assert Query(at=AT, model=vouched).model is vouched


def test_a_question_keeps_its_time_zone_and_all_its_digits() -> None:
    precise = AT.replace(microsecond=123_456)
    assert Query(at=precise, turn_started_at=precise).at.microsecond == 123_456


def test_a_wrong_argument_is_not_repeated() -> None:
    wrong: Any = [b"secret"]
    for argument in ("session_id", "phase", "model", "limit_tokens", "at"):
        with pytest.raises((TypeError, ValueError)) as raised:
            Query(**{"at": AT, argument: wrong})
        assert "secret" not in str(raised.value)


# -- samples --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "moment",
    [
        None,
        datetime(2026, 11, 29),  # noqa: DTZ001 - the point of the test
        TIMELESS,
        BEFORE_THE_CALENDAR,
        datetime(1, 12, 31, tzinfo=UTC),
        datetime(9999, 1, 1, tzinfo=UTC),
    ],
)
def test_a_moment_that_compares_with_no_other_is_no_moment(moment: datetime | None) -> None:
    sample = UsedPercent(measured_at=moment, turn_ended_at=moment, used_percent=50)
    assert sample.measured_at is None
    assert sample.turn_ended_at is None


def test_a_moment_that_compares_is_kept_as_it_is() -> None:
    sample = UsedPercent(measured_at=AT, turn_ended_at=AT, used_percent=50)
    assert sample.measured_at is sample.turn_ended_at is AT


# -- what does not show ---------------------------------------------------------------------------


def test_native_ids_of_a_query_do_not_show() -> None:
    query = Query(at=AT, session_id="secret", turn_id="secret", agent_id="secret")
    assert "secret" not in repr(query)


def test_the_identity_of_a_sample_does_not_show() -> None:
    native = ("secret session", "secret row")
    for sample in (
        UsedPercent(measured_at=AT, identity=native, used_percent=50),
        UsedTokens(measured_at=AT, identity=native, used_basis=UsedBasis.PROMPT),
        TokenPair(
            measured_at=AT,
            identity=native,
            used_basis=UsedBasis.PROMPT,
            limit_tokens=200_000,
            limit_basis=LimitBasis.WINDOW,
        ),
    ):
        assert "secret" not in repr(sample)


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_question_asked_at_another_moment_is_the_same_otherwise(at: datetime) -> None:
    asked = Query(
        at=AT,
        session_id="s",
        turn_id="t",
        turn_started_at=AT,
        agent_id="a",
        phase=Phase.ACTIVE,
        model=ModelRef(id="m"),
        limit_tokens=1,
    )
    assert asked.as_of(at) == evolve(asked, at=at)
    assert Query(at=AT).as_of(at) == Query(at=at)


def test_what_stands_without_more_is_given_or_found_out() -> None:
    gap = Gap(reason=MissingReason.BUDGET_EXHAUSTED)
    assert NeedMore(gap).settled() is NeedMore(lambda: gap).settled() is gap
