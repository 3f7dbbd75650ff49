"""The JSON object that Claude Code hands to a hook command, on its standard input.

No hook carries a limit or a percentage, and three carry a count: ``context_tokens``, which is the
last response's prompt *and output* (15,035 where the status line shows 15,010). ``SessionStart``
has it when a session is resumed or forked, ``PreModelSwitch`` and ``PostModelSwitch`` always; it
came between 2.1.240 and 2.1.332 (formats/claude.md §4). Every other hook is a pointer: its session,
prompt and transcript make the question for ``claude.transcript``, see `query_from_hook`.
Cursor runs Claude Code's hook commands too, with payloads of its own: they are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from ...bounded.fields import is_count, text
from ...capability.model import ModelRef
from ...evidence import Channel, Evidence, Gap, Origin, Phase, Query, UsedTokens
from ...observation import MissingReason, UsedBasis
from ...source import Hooks, PayloadSource
from .payload import identity, session_gap, turn_gap
from .rows import model_ref

__all__ = ["HOOK", "HOOKS", "query_from_hook", "transcript_path"]

# Cursor's marks (formats/cursor.md §1.2), and Codex's turn id: its events have Claude's names.
_FOREIGN_KEYS = frozenset({"cursor_version", "conversation_id", "generation_id", "turn_id"})
# The first event of Codex's session has no turn, but all its transcripts have such names.
_FOREIGN_TRANSCRIPT = "rollout-"

# The model that is in force when the hook fires: a switch that is announced may still be refused.
_MODEL_OF = {
    "SessionStart": "model",
    "PreModelSwitch": "from_model",
    "PostModelSwitch": "to_model",
}

_PHASES = {
    **dict.fromkeys(
        (
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "PostToolBatch",
            "PermissionRequest",
            "Notification",
            "SubagentStart",
            "PreCompact",
            "PostCompact",
        ),
        Phase.ACTIVE,
    ),
    **dict.fromkeys(("Stop", "StopFailure", "SubagentStop", "SessionEnd"), Phase.TERMINAL),
}
# At these events the prompt's id names no turn that has, or will have, a row on disk: the prompt of
# UserPromptSubmit has only begun, and SessionEnd names the command that ended the session
# (2.1.332: `/exit` has a prompt id of its own).
_OF_THE_SESSION = frozenset({"UserPromptSubmit", "SessionEnd"})


def _extract(payload: Mapping[str, Any], query: Query) -> Evidence:
    event = text(payload, "hook_event_name")
    if event is None or _is_foreign(payload):
        return Gap(reason=MissingReason.SOURCE_MALFORMED)
    gap = session_gap(payload, query)
    if gap is not None:
        return gap
    count = payload.get("context_tokens")
    if event not in _MODEL_OF or count is None:
        return Gap(reason=MissingReason.USAGE_NOT_REPORTED)
    if payload.get("agent_id") != query.agent_id:
        return Gap(reason=MissingReason.SESSION_MISMATCH)
    return turn_gap(payload, query) or _of_count(count, event, payload, query)


def _is_foreign(payload: Mapping[str, Any]) -> bool:
    """Tell whether *payload* is another agent's."""
    return not _FOREIGN_KEYS.isdisjoint(payload) or _path(payload).rpartition("/")[2].startswith(
        _FOREIGN_TRANSCRIPT
    )


def _path(payload: Mapping[str, Any]) -> str:
    return (text(payload, "transcript_path") or "").replace("\\", "/")


def _of_count(count: object, event: str, payload: Mapping[str, Any], query: Query) -> Evidence:
    model = _model(event, payload)
    if not is_count(count):
        return Gap(reason=MissingReason.USAGE_INVALID, model=model)
    if count == 0:  # before the first response
        return Gap(reason=MissingReason.NOT_MEASURED_YET, model=model)
    return UsedTokens(
        used_tokens=count,
        used_basis=UsedBasis.PROMPT_AND_OUTPUT,
        measured_at=query.at,
        identity=identity(payload, event),
        model=model,
    )


def _model(event: str, payload: Mapping[str, Any]) -> ModelRef | None:
    """Return the model in force; a bare id is evidence that nobody asked for the long window.

    Only where that was seen: in ``SessionStart`` of 2.1.332, whose model has the marker if and only
    if the session was started with it.
    """
    named = payload.get(_MODEL_OF[event])
    return model_ref(named, requested=named if event == "SessionStart" else None)


def query_from_hook(payload: Mapping[str, Any], *, at: datetime) -> Query:
    """Return the question for ``claude.transcript`` that a hook's *payload* asks.

    What is on disk at each event (2.1.332; the final row is flushed late, so the turn match is what
    keeps an older turn's count from being taken for the new one):

    ==================================  ============================================================
    ``SessionStart``                    new: no file yet. Resumed: the session's last response
    ``UserPromptSubmit``                the turns before this one
    ``PreToolUse``                      usually all but the response that asked for the tool
    ``PostToolUse``, ``PostToolBatch``  the response that asked for the tool too
    ``Stop``, ``StopFailure``           the turn's last response in 25 of 27 runs, else not yet
    ``PreCompact``, ``PostCompact``     not the compaction: its row comes later. So behind it, also
                                        at its own ``SessionStart``, only a newer response counts
    ``SubagentStop``                    the sub-agent, in the file `transcript_path` names (which
                                        does not exist for the compaction's own sub-agent)
    ``SessionEnd``                      everything
    ==================================  ============================================================

    Inside a sub-agent, hooks carry the parent's session, prompt and transcript and the sub-agent's
    ``agent_id``: the query then asks for the sub-agent, whose rows are in its own file.

    Args:
        payload: The decoded hook payload. Fields that are absent or of a wrong type are left out
            of the question.
        at: When the hook fired; aware.

    Raises:
        TypeError: *payload* is no mapping, or *at* no datetime.
        ValueError: *at* has no time zone.
    """
    if not isinstance(payload, Mapping):
        raise TypeError("payload: expected a mapping")
    event = text(payload, "hook_event_name") or ""
    phase = _PHASES.get(event, Phase.LATEST)
    return Query(
        at=at,
        session_id=text(payload, "session_id"),
        turn_id=None if event in _OF_THE_SESSION else text(payload, "prompt_id"),
        turn_started_at=at if _is_behind_compaction(event, payload) else None,
        agent_id=text(payload, "agent_id"),
        phase=phase,
    )


def _is_behind_compaction(event: str, payload: Mapping[str, Any]) -> bool:
    """Tell whether the context was just replaced by its summary, whatever the file still says."""
    return event == "PostCompact" or (
        event == "SessionStart" and payload.get("source") == "compact"
    )


def _is_compacted(payload: Mapping[str, Any]) -> bool:
    """Tell whether a ``PostCompact`` has the summary that is the context from now on."""
    return text(payload, "compact_summary") is not None


def transcript_path(payload: Mapping[str, Any]) -> str | None:
    """Return the path of the transcript that a hook's *payload* is about, or None.

    That is the sub-agent's own file at ``SubagentStop`` (since 2.0.42) and the session's file at
    every other event, also inside a sub-agent. The file may not exist yet.

    Raises:
        TypeError: *payload* is no mapping.
    """
    if not isinstance(payload, Mapping):
        raise TypeError("payload: expected a mapping")
    if text(payload, "hook_event_name") == "SubagentStop":
        return text(payload, "agent_transcript_path")
    return text(payload, "transcript_path")


def _recognise(payload: Mapping[str, Any]) -> bool:
    """Tell the hook by its transcript's folder: other agents use the same events and fields."""
    return (
        # 1.0.x calls its status line a hook of the event Status.
        text(payload, "hook_event_name") not in (None, "Status")
        and "/.claude/projects/" in _path(payload)
        and not _is_foreign(payload)
    )


HOOK = PayloadSource(
    origin=Origin(
        adapter="claude",
        source="claude.hook",
        method="claude_hook",
        channel=Channel.HANDED_OVER,
        client="claude",
    ),
    about="The payload of a Claude Code hook: the count it has at a resume or a model switch",
    extract=_extract,
    recognise=_recognise,
)

HOOKS = Hooks(
    source=HOOK,
    query=query_from_hook,
    session=partial(text, key="session_id"),
    turn=partial(text, key="prompt_id"),
    transcript="claude.transcript",
    path=transcript_path,
    is_compacted=_is_compacted,
)
