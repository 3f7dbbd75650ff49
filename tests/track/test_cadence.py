from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.track import Cadence

START = datetime(2026, 11, 29, 18, tzinfo=UTC)
SECOND = timedelta(seconds=1)
WRONG: Any = object()
"""Of no type that is expected."""


def attempts(*asked: tuple[str, float], cadence: Cadence | None = None) -> list[bool]:
    """Return whether each attempt may be made: a turn, at seconds after the start."""
    cadence = Cadence() if cadence is None else cadence
    allowed = []
    for turn, seconds in asked:
        cadence, is_due = cadence.attempt(turn, now=START + seconds * SECOND)
        allowed.append(is_due)
    return allowed


def test_a_turn_is_looked_at_once_in_fifteen_seconds() -> None:
    assert attempts(("a", 0), ("a", 14.999), ("a", 15), ("a", 29), ("a", 30)) == [
        *(True, False, True, False, True)
    ]


def test_a_new_turn_is_looked_at_at_once() -> None:
    assert attempts(("a", 0), ("b", 0), ("c", 1)) == [True, True, True]


def test_turns_that_alternate_do_not_make_each_other_new() -> None:
    assert attempts(("a", 0), ("b", 1), ("a", 2), ("b", 3)) == [True, True, False, False]


def test_a_clock_that_goes_back_looks_again() -> None:
    assert attempts(("a", 0), ("a", -0.001), ("a", 10)) == [True, True, False]


def test_an_attempt_is_stamped_whatever_it_comes_to() -> None:
    stamped, is_due = Cadence().attempt("a", now=START)
    assert is_due
    assert stamped != Cadence()
    assert stamped.attempt("a", now=START + SECOND) == (stamped, False)


def test_the_interval_is_the_callers() -> None:
    assert attempts(("a", 0), ("a", 0), cadence=Cadence(timedelta(0))) == [True, True]
    assert attempts(("a", 0), ("a", 1), cadence=Cadence(SECOND / 2)) == [True, True]


def test_what_no_longer_matters_is_forgotten() -> None:
    cadence = Cadence()
    for number in range(100):
        cadence, _ = cadence.attempt(str(number), now=START + number * SECOND)
    assert len(cadence.to_dict()["attempts"]) == 15


def test_a_moment_in_another_zone_is_the_same_moment() -> None:
    cadence, _ = Cadence().attempt("a", now=START)
    east = (START + SECOND).astimezone(tz=datetime.now().astimezone().tzinfo)
    assert cadence.attempt("a", now=east)[1] is False


def test_no_turn_is_in_the_repr() -> None:
    assert "secret" not in repr(Cadence().attempt("secret", now=START)[0])


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 60_000))),
    st.integers(0, 20_000).map(lambda number: timedelta(milliseconds=number)),
)
def test_no_two_attempts_of_a_turn_are_closer_than_the_interval(
    steps: list[tuple[str, int]], interval: timedelta
) -> None:
    cadence, now = Cadence(interval), START
    last: dict[str, datetime] = {}
    for turn, later in steps:
        now += timedelta(milliseconds=later % 7_000)
        cadence, is_due = cadence.attempt(turn, now=now)
        assert is_due == (turn not in last or now - last[turn] >= interval)
        if is_due:
            last[turn] = now
        assert Cadence.from_dict(cadence.to_dict()) == cadence


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (TypeError, "^interval: ", lambda: Cadence(WRONG)),
        (ValueError, "^interval: ", lambda: Cadence(-SECOND)),
        (TypeError, "^turn: ", lambda: Cadence().attempt(WRONG, now=START)),
        (TypeError, "^now: ", lambda: Cadence().attempt("a", now=WRONG)),
        (ValueError, "^now: ", lambda: Cadence().attempt("a", now=START.replace(tzinfo=None))),
    ],
)
def test_wrong_arguments_are_named(error: type[Exception], message: str, call: Any) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    "change",
    [
        {"interval_s": "15"},
        {"interval_s": -1},
        {"interval_s": 1e300},
        {"attempts": None},
        {"attempts": [{"turn": "secret"}]},
        {"attempts": [{"turn": "secret", "at": "today"}]},
        {"attempts": [{"turn": "secret", "at": "2026-11-29T18:00:00"}]},
        {"more": "secret"},
    ],
)
def test_a_state_that_was_never_written_is_refused_without_its_words(change: Any) -> None:
    with pytest.raises(ValueError, match=r"^state: ") as raised:
        Cadence.from_dict({**Cadence().to_dict(), **change})
    assert "secret" not in repr(raised.value)
    assert raised.value.__context__ is None
