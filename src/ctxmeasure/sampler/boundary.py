"""At which moment of a turn a hook fires, and which of the agents' events is which."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from ..bounded.fields import text

__all__ = ["Boundary", "boundary_of"]


class Boundary(StrEnum):
    """A moment in the life of a turn at which it is bounded work to look."""

    PROMPT = "prompt"
    """A turn begins. Nothing of it can be measured."""
    TOOL_COMPLETED = "tool_completed"
    """A tool has run: looked at by cadence, and only a measurement is published."""
    PRE_COMPACTION = "pre_compaction"
    """The context is about to be replaced: its last measurement."""
    POST_COMPACTION = "post_compaction"
    """The context was replaced: mostly not measured yet, and the event says so."""
    STOP = "stop"
    """The turn's end: a measurement that is new, or the reason why there is none."""
    SESSION_END = "session_end"
    """The session's end: the last chance of what is pending, and of the last measurement."""
    OTHER = "other"
    """Any other hook: what its payload itself measures, and what is pending."""


_TOOLS = ("PostToolUse", "PostToolUseFailure", "PostToolBatch")  # Claude Code and Codex
_CURSORS_TOOLS = (
    *("afterShellExecution", "afterMCPExecution", "afterFileEdit"),
    *("postToolUse", "postToolUseFailure"),
)
_BOUNDARIES = {
    **dict.fromkeys(("UserPromptSubmit", "beforeSubmitPrompt"), Boundary.PROMPT),
    **dict.fromkeys((*_TOOLS, *_CURSORS_TOOLS), Boundary.TOOL_COMPLETED),
    **dict.fromkeys(("PreCompact", "preCompact"), Boundary.PRE_COMPACTION),
    "PostCompact": Boundary.POST_COMPACTION,
    **dict.fromkeys(("Stop", "StopFailure", "SubagentStop", "stop"), Boundary.STOP),
    **dict.fromkeys(("SessionEnd", "sessionEnd"), Boundary.SESSION_END),
}


def boundary_of(payload: Mapping[str, Any]) -> Boundary:
    """Return the boundary at which a hook's *payload* was handed over.

    Cursor runs the hook commands of Claude Code too, under its own events' names, so one table
    holds for all agents. Cursor's ``subagentStop`` is none: its conversation is the parent's.

    Raises:
        TypeError: *payload* is no mapping.
    """
    if not isinstance(payload, Mapping):
        raise TypeError("payload: expected a mapping")
    return _BOUNDARIES.get(text(payload, "hook_event_name") or "", Boundary.OTHER)
