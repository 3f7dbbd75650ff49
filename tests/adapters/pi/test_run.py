"""What the turns of a run of Pi's say of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from ctxmeasure import Stream
from ctxmeasure.adapters.pi.run import tally
from ctxmeasure.source import Tally

RECORDINGS = Path(__file__).parents[2] / "recordings"


def tallied(recording: str) -> Tally:
    stream = Stream("pi.stream")
    for line in (RECORDINGS / recording).read_bytes().split(b"\n"):
        stream.feed(line)
    return stream.tally


def about(cost_usd: float) -> Any:
    """Return what equals *cost_usd* to within the digits that a line shows."""
    return pytest.approx(cost_usd, abs=5e-5)


def turn(total: object) -> dict[str, Any]:
    usage = {"input": 1, "output": 1, "cost": {"input": 5.0, "total": total}}
    return {"type": "turn_end", "message": {"role": "assistant", "usage": usage}}


@pytest.mark.parametrize(
    ("recording", "turns", "cost_usd"),
    [
        ("pi/a-simple/stream.jsonl", 1, 0.0463),
        ("pi/b-tools/stream.jsonl", 3, 0.073),
        ("pi-0.73.1/b-tools/stream.jsonl", 3, 0.073),
        ("pi-versions/stream_json_0.58.3.jsonl", 2, 0.0006),
        ("pi-versions/stream_rpc_1.6.0.jsonl", 3, 0.0294),
    ],
)
def test_turns_are_counted_and_their_costs_added_once(
    recording: str, turns: int, cost_usd: float
) -> None:
    assert tallied(recording) == Tally(turns=turns, cost_usd=about(cost_usd))


def test_a_model_without_a_price_costs_nobody_knows_what() -> None:
    assert tallied("pi/g-nowindow/stream.jsonl") == Tally(turns=1, cost_usd=None)


def test_costs_add_up_over_turns() -> None:
    told = Tally()
    for _ in range(3):
        told = tally(told, turn(0.03))
    assert told == Tally(turns=3, cost_usd=about(0.09))


def test_costs_beyond_all_numbers_are_none() -> None:
    told = tally(Tally(), turn(sys.float_info.max))
    assert told.cost_usd == sys.float_info.max
    assert tally(told, turn(sys.float_info.max)) == Tally(turns=2, cost_usd=None)


@pytest.mark.parametrize("total", [None, 0, 0.0, True, -1.0, "1", float("inf")])
def test_a_turn_without_a_cost_is_a_turn(total: object) -> None:
    assert tally(Tally(), turn(total)) == Tally(turns=1)
    assert tally(Tally(turns=1, cost_usd=0.5), turn(total)) == Tally(turns=2, cost_usd=0.5)


@pytest.mark.parametrize(
    "event", [{"type": "turn_end"}, {"type": "turn_end", "message": None}, turn(None)]
)
def test_a_turn_without_a_usage_or_a_message_is_a_turn(event: dict[str, Any]) -> None:
    assert tally(Tally(), event) == Tally(turns=1)


@pytest.mark.parametrize("kind", ["agent_end", "message_end", "compaction_end", "turn_start"])
def test_no_other_event_is_a_turn(kind: str) -> None:
    so_far = Tally(turns=1)
    assert tally(so_far, turn(1.0) | {"type": kind}) is so_far
