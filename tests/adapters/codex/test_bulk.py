"""What of a rollout is told by its first bytes to have no part in the meter, and never decoded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from codex_sessions import ROLLOUTS, Rollout, read, shown

import ctxmeasure as cm
from ctxmeasure.adapters.codex.replay import Replay, is_bulk
from ctxmeasure.adapters.codex.thread import Thread
from ctxmeasure.bounded.jsonl import Row
from ctxmeasure.testing.codex.rows import RolloutRows

LONG = "x" * 320
SAID, OTHER = {"type": "AgentMessage"}, {"type": "Other"}


def line(kind: str, **payload: Any) -> bytes:
    row = {"timestamp": "2026-11-29T18:33:45.134Z", "ordinal": 1, "type": kind, "payload": payload}
    return json.dumps(row, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    "bulk",
    [
        line("response_item", type="message", content='"_call"'),
        line("response_item", type="reasoning", encrypted_content="x"),
        line("response_item", type="function_call_output", output="x"),
        line("event_msg", type="item_completed", item={"type": "CommandExecution"}),
        line("event_msg", type="item_completed", item={"type": "Other", "like": "AgentMessage"}),
        line("event_msg", type="item_completed", thread_id=LONG, item={"type": "Other"}),
        line("world_state", full=True),
    ],
)
def test_what_was_said_and_printed_is_bulk(bulk: bytes) -> None:
    assert is_bulk(bulk)


@pytest.mark.parametrize(
    "row",
    [
        line("response_item", type="function_call", name="x"),
        line("event_msg", type="item_completed", item={"type": "AgentMessage"}),
        line("event_msg", type="item_completed", item={"type": "ContextCompaction"}),
        line("event_msg", type="item_completed", item={"type": "AgentMessage", "item": OTHER}),
        line("event_msg", type="item_completed", thread_id=LONG, like={"item": OTHER}, item=SAID),
        line("event_msg", type="token_count", info=None),
        line("from-the-future"),
        b'{"type":"response_item","payload":{"type":"message"}}',
    ],
)
def test_what_may_matter_is_none(row: bytes) -> None:
    assert not is_bulk(row)


@pytest.mark.parametrize("rollout", ROLLOUTS, ids=lambda rollout: rollout.name)
def test_no_row_of_a_recording_that_is_bulk_moves_the_meter(rollout: Rollout) -> None:
    raw = rollout.content.splitlines()
    rows = [row for row in (Row.alone(0, part) for part in raw) if row is not None]
    whole, bare = (Replay(Thread.begun_by(rows[0].value), is_whole=True) for _ in range(2))
    for part, row in zip(raw, rows, strict=True):
        whole.play(row)
        if not is_bulk(part):
            bare.play(row)
    assert bare == whole
    assert any(map(is_bulk, raw)) or len(raw) < 12


def test_bulk_is_not_decoded() -> None:
    session = RolloutRows("0.115.0")  # no record: every row of the window is played
    session.begin()
    session.start()
    session.respond(10_000, calls=True)
    observation = cm.observe("codex.rollout", session.content, at=session.now)
    lines = session.content.splitlines()
    assert observation.provenance.stats.rows_decoded == sum(not is_bulk(line) for line in lines)
    assert any(map(is_bulk, lines))


def test_a_row_that_begins_in_another_way_is_decoded() -> None:
    session = RolloutRows()
    session.begin()
    session.start()
    session.respond(10_000)
    session.event("item_completed", thread_id=session.thread_id, item={"type": "CommandExecution"})
    turned = [dict(reversed(row.items())) for row in session.rows]
    content = b"".join(json.dumps(row).encode() + b"\n" for row in turned)
    assert shown(read(content)) == 10_000
