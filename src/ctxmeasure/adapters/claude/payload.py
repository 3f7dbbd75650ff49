"""What Claude Code's payloads share: the session, the prompt and the counts they state.

``prompt_id`` is the turn's id, in hooks and status lines of 2.1.196 and later, and absent until the
first prompt of a process (formats/claude.md §1.6). Payloads carry no clock: they are measured at
the moment they are received.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...bounded.fields import is_count, is_limit, text
from ...evidence import Gap, Phase, Query
from ...observation import MissingReason, Partial

__all__ = ["estimate", "identity", "session_gap", "turn_gap"]


def session_gap(payload: Mapping[str, Any], query: Query) -> Gap | None:
    """Return the gap if *payload* is of another session than the one asked for.

    A payload that names no session (a control response) is taken at the caller's word.
    """
    named = payload.get("session_id")
    if query.session_id is None or named is None or named == query.session_id:
        return None
    return Gap(reason=MissingReason.SESSION_MISMATCH)


def turn_gap(payload: Mapping[str, Any], query: Query) -> Gap | None:
    """Return the gap if *payload* is not known to be of the turn asked for."""
    prompt_id = text(payload, "prompt_id")
    if prompt_id is None:
        if query.turn_id is not None or query.phase is Phase.ACTIVE:
            return Gap(reason=MissingReason.TURN_IDS_NOT_RECORDED)
        return None
    if query.turn_id is None or prompt_id == query.turn_id:
        return None
    return Gap(reason=MissingReason.TURN_NOT_FOUND)


def identity(payload: Mapping[str, Any], *further: str) -> tuple[str, ...]:
    """Return the facts that single the payload's sample out; empty if it names no session."""
    session_id = text(payload, "session_id")
    if session_id is None:
        return ()
    return (session_id, text(payload, "prompt_id") or "", *further)


def estimate(used: object, limit: object, query: Query) -> Gap:
    """Return the gap of a *used* count that the runtime only estimated, with what it stated."""
    if used is None:
        return Gap(reason=MissingReason.USAGE_NOT_REPORTED)
    if not is_count(used):
        return Gap(reason=MissingReason.USAGE_INVALID)
    if used == 0:
        return Gap(reason=MissingReason.NOT_MEASURED_YET)
    known = Partial(
        used_tokens=used,
        limit_tokens=limit if is_limit(limit) else None,
        measured_at=query.at,
        estimated=True,
    )
    return Gap(reason=MissingReason.ESTIMATE_ONLY, partial=known)
