from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.track import End, Ended, Pending, Target, Tried

START = datetime(2026, 11, 29, 18, tzinfo=UTC)
SECOND = timedelta(seconds=1)
WRONG: Any = object()
"""Of no type that is expected."""


def target(turn: str = "1", **changes: Any) -> Target:
    fields = {"path": "/p", "session_id": "s", "turn_id": turn, "tried_at": START, **changes}
    return Target(**fields)


def waiting(*turns: str) -> Pending:
    pending = Pending()
    for turn in turns:
        pending, _ = pending.add(target(turn))
    return pending


def test_a_turn_is_asked_for_a_second_after_its_end() -> None:
    pending = waiting("1")
    assert pending.due(now=START + SECOND / 2) == ()
    assert pending.due(now=START + SECOND) == pending.targets


def test_a_clock_that_has_gone_back_asks_at_once() -> None:
    assert waiting("1").due(now=START - SECOND) == waiting("1").targets


def test_a_sample_that_is_found_ends_the_waiting() -> None:
    pending, ended = waiting("1", "2").tried(target("1"), Tried.FOUND, now=START + SECOND)
    assert pending == waiting("2")
    assert ended == Ended(target("1", tried_at=START + SECOND, retries=1), End.FOUND)


def test_what_will_not_come_is_not_waited_for() -> None:
    pending, ended = waiting("1").tried(target("1"), Tried.REFUSED, now=START + SECOND)
    assert (pending, ended and ended.end) == (Pending(), End.REFUSED)


def test_there_are_two_retries() -> None:
    pending, ended = waiting("1").tried(target("1"), Tried.NOT_YET, now=START + SECOND)
    assert ended is None
    assert pending.due(now=START + 1.5 * SECOND) == ()
    (again,) = pending.due(now=START + 2 * SECOND)
    pending, ended = pending.tried(again, Tried.NOT_YET, now=START + 2 * SECOND)
    assert (pending, ended and ended.end) == (Pending(), End.RETRIES_EXHAUSTED)


def test_the_end_of_the_session_is_the_last_chance_of_its_turns() -> None:
    elsewhere = target("2", session_id="t")
    pending, _ = waiting("1").add(elsewhere)
    assert pending.due(now=START, ending_session="s") == (target("1"),)
    pending, ended = pending.tried(target("1"), Tried.NOT_YET, now=START, ending_session="s")
    assert (pending.targets, ended and ended.end) == ((elsewhere,), End.SESSION_ENDED)
    pending, ended = pending.tried(elsewhere, Tried.NOT_YET, now=START, ending_session="s")
    assert ended is None


def test_the_oldest_of_five_turns_is_crowded_out() -> None:
    pending, ended = waiting("1", "2", "3", "4").add(target("5"))
    assert pending == waiting("2", "3", "4", "5")
    assert ended == (Ended(target("1"), End.CROWDED_OUT),)


def test_a_turn_that_ends_again_is_waited_for_anew() -> None:
    later = target("1", tried_at=START + SECOND)
    pending, ended = waiting("1", "2", "3", "4").add(later)
    assert pending.targets == (*waiting("2", "3", "4").targets, later)
    assert ended == (Ended(target("1"), End.REPLACED),)
    assert not target("1").is_of_turn(target("1", agent_id="a"))


def test_no_id_and_no_path_is_in_the_repr() -> None:
    said = repr(
        Pending().add(target("secret", path="secret", session_id="secret", agent_id="secret"))
    )
    assert "secret" not in said


@given(
    st.lists(
        st.tuples(st.sampled_from("123456"), st.integers(0, 3_000), st.sampled_from(Tried)),
        max_size=40,
    )
)
def test_there_are_never_more_than_four_and_each_comes_to_one_end(
    steps: list[tuple[str, int, Tried]],
) -> None:
    pending, now, added, ended = Pending(), START, 0, []
    for turn, milliseconds, result in steps:
        now += timedelta(milliseconds=milliseconds)
        for due in pending.due(now=now):
            pending, end = pending.tried(due, result, now=now)
            ended += [] if end is None else [end]
        pending, put_out = pending.add(target(turn, tried_at=now))
        added += 1
        ended += put_out
        assert len(pending.targets) <= 4
        assert all(each.retries < 2 for each in pending.targets)
        assert Pending.from_dict(json.loads(json.dumps(pending.to_dict()))) == pending
    assert added == len(ended) + len(pending.targets)
    assert all(each.target.retries <= 2 for each in ended)


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (TypeError, "^path: ", lambda: target(path=None)),
        (TypeError, "^tried_at: ", lambda: target(tried_at=0)),
        (TypeError, "^retries: ", lambda: target(retries="0")),
        (TypeError, "^target: ", lambda: Pending().add(WRONG)),
        (TypeError, "^now: ", lambda: Pending().due(now=WRONG)),
        (ValueError, "^target: ", lambda: Pending().tried(target(), Tried.FOUND, now=START)),
        (TypeError, "^result: ", lambda: waiting("1").tried(target("1"), WRONG, now=START)),
    ],
)
def test_wrong_arguments_are_named(error: type[Exception], message: str, call: Any) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"targets": [{"path": "secret"}]},
        {"targets": [{**waiting("1").to_dict()["targets"][0], "more": "secret"}]},
        {"targets": waiting("1").to_dict()["targets"] * 5},
    ],
)
def test_a_state_that_was_never_written_is_refused_without_its_words(state: Any) -> None:
    with pytest.raises(ValueError, match=r"^state: ") as raised:
        Pending.from_dict(state)
    assert "secret" not in repr(raised.value)
