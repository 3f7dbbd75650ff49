"""The JSON object that Codex hands to a hook, on its standard input, and to a ``notify`` program.

Neither carries tokens, a percentage or a window, in any event of any version (formats/codex.md §4).
They are pointers: their session, turn and transcript make the question for ``codex.rollout``, see
`query_from_hook`. A ``notify`` program gets its object as its last argument, with keys in
kebab-case and without a path; it is not called for turns that failed, were interrupted or only
compacted. Codex took its events' names and fields from Claude Code, so payloads of Claude Code and
of Cursor are told by their marks and refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from ...bounded.fields import text
from ...evidence import Channel, Evidence, Gap, Origin, Phase, Query
from ...observation import MissingReason
from ...source import Hooks, PayloadSource
from .usage_info import model_ref

__all__ = ["HOOK", "HOOKS", "query_from_hook", "transcript_path"]

_NOTIFIED = "agent-turn-complete"

# Claude Code's turn id, and Cursor's marks (formats/claude.md §4, cursor.md §1.2).
_FOREIGN_KEYS = frozenset({"prompt_id", "cursor_version", "conversation_id", "generation_id"})

# Stop and SubagentStop too: a turn's end is written when they have run.
_WITHIN_A_TURN = (
    *("PreToolUse", "PostToolUse", "PreCompact", "PostCompact"),
    *("SubagentStart", "SubagentStop", "Stop"),
)
_PHASES = {**dict.fromkeys(_WITHIN_A_TURN, Phase.ACTIVE), "SessionEnd": Phase.TERMINAL}
# The turn of UserPromptSubmit has only begun: the file holds the turns before it.
_OF_THE_SESSION = frozenset({"UserPromptSubmit"})


def _extract(payload: Mapping[str, Any], query: Query) -> Evidence:
    if not (_is_hook(payload) or _is_notification(payload)):
        return Gap(reason=MissingReason.SOURCE_MALFORMED)
    named = text(payload, "session_id") or text(payload, "thread-id")
    if query.session_id is not None and named not in {None, query.session_id}:
        return Gap(reason=MissingReason.SESSION_MISMATCH)
    return Gap(reason=MissingReason.USAGE_NOT_REPORTED, model=model_ref(payload.get("model")))


def _is_hook(payload: Mapping[str, Any]) -> bool:
    """Tell whether *payload* can be a hook's of Codex, whose transcripts are all rollouts."""
    if text(payload, "hook_event_name") is None or not _FOREIGN_KEYS.isdisjoint(payload):
        return False
    path = text(payload, "transcript_path")
    return path is None or _is_rollout(path)


def _is_rollout(path: str) -> bool:
    return path.replace("\\", "/").rpartition("/")[2].startswith("rollout-")


def _is_notification(payload: Mapping[str, Any]) -> bool:
    return payload.get("type") == _NOTIFIED and text(payload, "turn-id") is not None


def query_from_hook(payload: Mapping[str, Any], *, at: datetime) -> Query:
    """Return the question for ``codex.rollout`` that a *payload* asks, a hook's or a ``notify``'s.

    What is on disk at each event (0.171):

    =========================  =====================================================================
    ``SessionStart``           new: no count. Resumed: the last turn's. After a compaction (there it
                               names no turn): the estimate, so the answer is ``compacted``
    ``UserPromptSubmit``       the turns before this one; so its own turn is not asked for
    ``PreToolUse``             of the response that asked for the tool, the ``token_usage_record``
                               (since 0.155); its ``token_count`` is not, so older versions are one
                               response behind
    ``PostToolUse``            as at ``PreToolUse``
    ``PreCompact``             automatic: the last response. Manual: nothing, for the command is a
                               turn of its own
    ``PostCompact``            the estimate: ``compacted``
    ``Stop``                   the turn's last response, but not the turn's end: the turn is asked
                               for as one that runs
    ``SubagentStart``          the sub-agent's file without a count
    ``SubagentStop``           as at ``Stop``, in the sub-agent's file
    ``SessionEnd``             everything; it names no turn
    ``notify``                 the turn's last response; its end may still be missing, so the phase
                               is left open
    =========================  =====================================================================

    At ``SubagentStart`` and ``SubagentStop`` the session is the parent's, the turn and the
    ``agent_id``, which is its thread's id, the sub-agent's. `transcript_path` finds its file. A
    sub-agent's ``notify`` names its own thread.

    Args:
        payload: The decoded payload. Fields that are absent or of a wrong type are left out of the
            question.
        at: When it was handed over; aware.

    Raises:
        TypeError: *payload* is no mapping, or *at* no datetime.
        ValueError: *at* has no time zone.
    """
    if not isinstance(payload, Mapping):
        raise TypeError("payload: expected a mapping")
    event = text(payload, "hook_event_name") or ""
    turn_id = text(payload, "turn_id") or text(payload, "turn-id")
    return Query(
        at=at,
        session_id=text(payload, "session_id") or text(payload, "thread-id"),
        turn_id=None if event in _OF_THE_SESSION else turn_id,
        agent_id=text(payload, "agent_id"),
        phase=_PHASES.get(event, Phase.LATEST),
    )


def transcript_path(payload: Mapping[str, Any]) -> str | None:
    """Return the path of the rollout that a hook's *payload* is about, or None.

    That is the sub-agent's own file at ``SubagentStart`` and ``SubagentStop``, which state it under
    different keys, and the session's at every other event. A ``notify`` states none: its rollout is
    the file whose name ends with its ``thread-id``.

    Raises:
        TypeError: *payload* is no mapping.
    """
    if not isinstance(payload, Mapping):
        raise TypeError("payload: expected a mapping")
    if text(payload, "hook_event_name") == "SubagentStop":
        return text(payload, "agent_transcript_path")
    return text(payload, "transcript_path")


def _recognise(payload: Mapping[str, Any]) -> bool:
    """Tell the hook by its transcript's folder and name: other agents use the same events."""
    if _is_notification(payload):
        return True
    path = (text(payload, "transcript_path") or "").replace("\\", "/")
    return "/.codex/sessions/" in path and _is_hook(payload)


HOOK = PayloadSource(
    origin=Origin(
        adapter="codex",
        source="codex.hook",
        method="codex_hook",
        channel=Channel.HANDED_OVER,
        client="codex",
    ),
    about="The payload of a Codex hook or notify program: no usage, but which rollout to ask",
    extract=_extract,
    recognise=_recognise,
)

HOOKS = Hooks(
    source=HOOK,
    query=query_from_hook,
    session=partial(text, key="session_id"),
    turn=partial(text, key="turn_id"),
    transcript="codex.rollout",
    path=transcript_path,
)
