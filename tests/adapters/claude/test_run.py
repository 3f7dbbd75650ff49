"""What a result of Claude Code's says of its run."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from claude_frames import lines_of

from ctxmeasure import Stream
from ctxmeasure.adapters.claude.run import tally
from ctxmeasure.source import Tally
from ctxmeasure.testing.claude.frames import result


def tallied(recording: str) -> Tally:
    stream = Stream("claude.stream")
    for line in lines_of(recording):
        stream.feed(line)
    return stream.tally


def about(cost_usd: float) -> Any:
    """Return what equals *cost_usd* to within the digits that a line shows."""
    return pytest.approx(cost_usd, abs=5e-5)


def used(*costs: object) -> dict[str, Any]:
    return {f"model-{number}": {"costUSD": cost} for number, cost in enumerate(costs)}


@pytest.mark.parametrize(
    ("recording", "turns", "cost_usd"),
    [
        ("claude/b-tools", 4, 0.072969),
        ("claude/f-subagent", 2, 0.0742905),
        ("claude/e-sigint", 3, 0.0620655),
        ("claude-2.0.76/b-tools", 4, 0.073101),
        ("claude-1.0.60/b-tools", 9, 0.1427374),
    ],
)
def test_turns_and_costs_are_what_the_agent_states(
    recording: str, turns: int, cost_usd: float
) -> None:
    assert tallied(recording) == Tally(turns=turns, cost_usd=about(cost_usd))


def test_a_resumed_run_costs_what_it_cost_itself_and_not_what_the_session_did() -> None:
    stream = Stream("claude.stream")
    *_, second = lines_of("claude/c-continue")
    stream.feed(second)
    assert b'"total_cost_usd":0.063516' in second
    assert stream.tally == Tally(turns=1, cost_usd=about(0.006861))


def test_a_run_that_failed_before_anything_was_used_cost_nothing() -> None:
    stream = Stream("claude.stream")
    *_, failed = lines_of("claude/e-error-400")
    stream.feed(failed)
    assert stream.tally == Tally(turns=1, cost_usd=0)


def test_before_the_result_and_without_one_nothing_is_known() -> None:
    stream = Stream("claude.stream")
    for line in lines_of("claude/b-tools")[:-1]:
        stream.feed(line)
    assert stream.tally == Tally()


def test_costs_of_several_results_add_up_and_their_turns_are_not_known() -> None:
    frame = result(num_turns=3, total_cost_usd=9.0, model_usage_since_last_result=used(1.0, 0.5))
    first = tally(Tally(), frame)
    second = tally(first, frame)
    assert first == Tally(turns=3, cost_usd=1.5)
    assert second == Tally(turns=None, cost_usd=3.0)
    assert tally(second, frame) == Tally(turns=None, cost_usd=4.5)


def test_a_total_stands_for_all_results_before_it() -> None:
    first = tally(Tally(), result(num_turns=1, total_cost_usd=1.0))
    assert first == Tally(turns=1, cost_usd=1.0)
    assert tally(first, result(num_turns=1, total_cost_usd=3)).cost_usd == 3


@pytest.mark.parametrize("wrong", [None, True, -1, "3", 0.5, float("inf"), float("nan"), [1]])
def test_what_is_no_count_and_no_amount_is_not_known(wrong: object) -> None:
    told = tally(Tally(), result(num_turns=wrong, total_cost_usd=None))
    assert told == Tally()
    if wrong != 0.5:
        assert tally(Tally(), result(total_cost_usd=wrong)).cost_usd is None
    assert tally(Tally(), result(total_cost_usd=wrong)).turns is None


def test_a_result_without_a_cost_leaves_what_is_known() -> None:
    assert tally(Tally(turns=1, cost_usd=1.0), result(total_cost_usd="3")).cost_usd == 1.0


def test_costs_beyond_all_numbers_are_none() -> None:
    frame = result(model_usage_since_last_result=used(sys.float_info.max))
    first = tally(Tally(), frame)
    assert first.cost_usd == sys.float_info.max
    assert tally(first, frame).cost_usd is None


@pytest.mark.parametrize(
    "since", [None, [1], used(1.0, None), used("1"), {"model": 1.0}, used(1.0, -1.0)]
)
def test_where_not_every_model_states_its_cost_the_total_stands(since: object) -> None:
    frame = result(total_cost_usd=2.0, model_usage_since_last_result=since)
    assert tally(Tally(), frame).cost_usd == 2.0


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "assistant", "num_turns": 1, "total_cost_usd": 1.0},
        {"type": "result", "num_turns": 1, "total_cost_usd": 1.0, "parent_tool_use_id": "t"},
        {},
    ],
)
def test_no_other_frame_says_anything_of_the_run(frame: dict[str, Any]) -> None:
    so_far = Tally(turns=1)
    assert tally(so_far, frame) is so_far
