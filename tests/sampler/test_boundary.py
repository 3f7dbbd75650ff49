from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxmeasure.sampler import Boundary, boundary_of

ROOT = Path(__file__).parents[1] / "recordings"

EXPECTED = {
    "UserPromptSubmit": Boundary.PROMPT,
    "beforeSubmitPrompt": Boundary.PROMPT,
    "PostToolUse": Boundary.TOOL_COMPLETED,
    "PostToolUseFailure": Boundary.TOOL_COMPLETED,
    "PostToolBatch": Boundary.TOOL_COMPLETED,
    "afterFileEdit": Boundary.TOOL_COMPLETED,
    "afterShellExecution": Boundary.TOOL_COMPLETED,
    "afterMCPExecution": Boundary.TOOL_COMPLETED,
    "postToolUse": Boundary.TOOL_COMPLETED,
    "postToolUseFailure": Boundary.TOOL_COMPLETED,
    "PreCompact": Boundary.PRE_COMPACTION,
    "preCompact": Boundary.PRE_COMPACTION,
    "PostCompact": Boundary.POST_COMPACTION,
    "Stop": Boundary.STOP,
    "StopFailure": Boundary.STOP,
    "SubagentStop": Boundary.STOP,
    "stop": Boundary.STOP,
    "SessionEnd": Boundary.SESSION_END,
    "sessionEnd": Boundary.SESSION_END,
    "SessionStart": Boundary.OTHER,
    "PreToolUse": Boundary.OTHER,
    "SubagentStart": Boundary.OTHER,
    "subagentStop": Boundary.OTHER,
    "Whatever": Boundary.OTHER,
}


@pytest.mark.parametrize(("event", "boundary"), EXPECTED.items())
def test_every_event_is_at_one_boundary(event: str, boundary: Boundary) -> None:
    assert boundary_of({"hook_event_name": event}) is boundary


def test_what_is_no_event_is_at_none() -> None:
    assert boundary_of({}) is Boundary.OTHER
    assert boundary_of({"hook_event_name": ["Stop"]}) is Boundary.OTHER
    with pytest.raises(TypeError, match=r"^payload: "):
        boundary_of(None)  # type: ignore[arg-type]


def test_every_event_that_was_recorded_is_known() -> None:
    recorded = {
        json.loads(line)["hook_event_name"]
        for path in ROOT.glob("*/*/hooks.jsonl")
        for line in path.read_bytes().splitlines()
    }
    assert {"Stop", "PostToolUse", "PreCompact", "PostCompact", "SessionEnd"} < recorded
    assert recorded <= EXPECTED.keys()
