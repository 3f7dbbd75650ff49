"""The last request is played alone only where that says what playing every row says."""

from __future__ import annotations

from typing import Any

import pytest
from codex_sessions import ROLLOUTS, Rollout, read
from hypothesis import given
from hypothesis import strategies as st

import ctxmeasure as cm
from ctxmeasure.adapters.codex import replay, rollout
from ctxmeasure.bounded.budget import KIB, ReadBudget
from ctxmeasure.bounded.jsonl import Tail, TailReader
from ctxmeasure.evidence import Phase
from ctxmeasure.testing import START
from ctxmeasure.testing.codex.rows import THREAD, RolloutRows, turn

STEPS = st.sampled_from(
    [
        *("start", "end", "abort", "begin", "context", "message", "call", "output", "count"),
        *("record", "respond", "respond_with_calls", "compact", "exceed", "roll_back"),
    ]
)


def written(steps: list[str]) -> RolloutRows:
    """Return a thread in which *steps* happened, in any order at all.

    What is read of the file's beginning is its first row alone, so that a window can cut the rest.
    """
    session = RolloutRows()
    session.begin(base_instructions={"text": "x" * (16 * KIB - 700)})
    session.start()
    for used, step in enumerate(steps, 20_000):
        match step:
            case "respond":
                session.respond(used)
            case "respond_with_calls":
                session.respond(used, calls=True)
            case "compact":
                session.compact(used, 3_000)
            case "roll_back":
                session.event("thread_rolled_back", num_turns=1)
            case "record" if session.last is None:
                session.take(used)
            case _:
                getattr(session, step)()
    return session


def tail_of(content: bytes, window: int = 1 << 20) -> Tail:
    reader = TailReader.open(content, ReadBudget(initial=window, maximum=1 << 20), head=1 << 16)
    assert isinstance(reader, TailReader)
    return reader.tail


def every_answer(content: bytes, window: int, turn_id: str | None) -> list[Any]:
    asked: list[dict[str, Any]] = [{"phase": phase} for phase in Phase]
    asked += [{"turn_id": turn_id, "phase": phase} for phase in Phase if turn_id]
    asked += [{**question, "budget": window} for question in asked]
    return [read(content, window=window, **question) for question in asked]


def assert_the_same(content: bytes, window: int, turn_id: str | None) -> None:
    alone = every_answer(content, window, turn_id)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rollout, "replay_last_request", lambda _: None)
        assert every_answer(content, window, turn_id) == alone


@pytest.mark.once
@pytest.mark.parametrize("recorded", ROLLOUTS, ids=lambda rollout: rollout.name)
def test_a_recording_cut_behind_any_row_says_the_same(recorded: Rollout) -> None:
    for count in range(1, len(recorded.ends), 1 + len(recorded.ends) // 20):
        for turn_id in {None, *recorded.turns[:1], *recorded.turns[-1:]}:
            assert_the_same(recorded.first(count), 20_000, turn_id)


@given(st.lists(STEPS, max_size=14), st.sampled_from([1_500, 4_000, 1 << 20]))
def test_whatever_was_written_says_the_same(steps: list[str], window: int) -> None:
    session = written(steps)
    assert_the_same(session.content, window, session.turn_id)


def test_only_the_last_request_is_decoded() -> None:
    session = written(["respond_with_calls"] * 20)
    observed = cm.observe("codex.rollout", session.content, at=session.now)
    assert isinstance(observed, cm.Observed)
    assert isinstance(observed.value, cm.TokenMeasurement)
    assert observed.value.used_tokens == 20_019
    # What of it matters, the count before it, the two rows that begin the turn, the file's first.
    assert observed.provenance.stats.rows_decoded == 7
    session.end()
    observed = cm.observe("codex.rollout", session.content, at=session.now)
    assert observed.provenance.stats.rows_decoded == 8


def test_whether_turns_are_named_is_told_by_all_of_them_where_none_is_running() -> None:
    session = RolloutRows("0.77.0")
    session.begin()
    session.start()
    session.respond(20_000)
    session.version = "0.171.0"
    session.start()
    session.respond(20_001)
    session.end()
    assert_the_same(session.content, 1 << 20, None)


def stands_alone(session: RolloutRows) -> bool:
    return replay.replay_last_request(tail_of(session.content)) is not None


def test_a_turn_of_one_request_stands_alone() -> None:
    assert stands_alone(written(["respond"]))
    assert stands_alone(written(["respond", "respond", "end"]))


@pytest.mark.parametrize("replaced", ["compact", "roll_back"])
def test_a_request_stands_alone_behind_what_replaced_the_context_before_it(replaced: str) -> None:
    assert stands_alone(written(["respond", replaced, "respond", "respond"]))
    assert not stands_alone(written(["respond", "respond", replaced]))


def test_a_request_of_a_turn_that_has_begun_before_the_window_stands_alone() -> None:
    session = written(["respond_with_calls"] * 5)
    request = len(session.content) - len(written(["respond_with_calls"] * 4).content)
    played = replay.replay_last_request(tail_of(session.content, 3 * request))
    assert played is not None
    assert [turn.begins_here for turn in played.turns.values()] == [False]
    # Of one request alone nobody knows whether something lies before it in its turn.
    assert replay.replay_last_request(tail_of(session.content, request + 1)) is None


@pytest.mark.parametrize(
    "steps",
    [
        *([], ["record", "message"], ["respond", "compact"], ["respond", "exceed"]),
        ["respond", "abort", "respond", "respond"],  # the turn has ended before them
        ["respond", "end", "start"],  # a turn that shows nothing yet
    ],
)
def test_what_is_no_complete_request_does_not(steps: list[str]) -> None:
    assert not stands_alone(written(steps))


def test_a_request_without_a_model_or_of_no_known_age_does_not() -> None:
    nameless = RolloutRows(model=None)
    ageless = RolloutRows()
    for session, turn_id in ((nameless, turn(1)), (ageless, "no-uuid")):
        session.begin()
        session.start(turn_id)
        session.respond(20_000)
        assert not stands_alone(session)


def test_a_file_without_its_first_row_does_not() -> None:
    session = written(["respond"])
    del session.rows[0]
    assert not stands_alone(session)


def test_a_second_first_row_behind_the_request_is_played_with_it() -> None:
    session = written(["respond"])
    session.begin()
    assert stands_alone(session)
    session.begin(id=THREAD.replace("22891", "22899"))
    assert_the_same(session.content, 1 << 20, session.turn_id)


def test_a_second_first_row_before_the_turn_may_end_the_file() -> None:
    session = RolloutRows()
    session.begin()
    session.begin(id=THREAD.replace("22891", "22899"))
    session.start()
    session.respond(20_000)
    assert not stands_alone(session)
    assert_the_same(session.content, 1 << 20, session.turn_id)


def test_a_window_in_which_no_turn_states_its_model_is_not_played(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = written(["respond_with_calls"] * 30)
    played: list[int] = []

    def play(tail: Tail) -> replay.Replay:
        played.append(tail.stats.bytes_read)
        return replay.replay(tail)

    monkeypatch.setattr(rollout, "replay_last_request", lambda _: None)
    monkeypatch.setattr(rollout, "replay", play)
    budget = ReadBudget(initial=2_000)
    observed = cm.observe("codex.rollout", session.content, at=START, budget=budget)
    assert isinstance(observed, cm.Missing)
    assert observed.reason is cm.MissingReason.SAMPLE_FROM_FUTURE
    assert len(played) == 1
