"""What Cursor's two stores share: which questions they can answer, and their JSON.

Neither records turns, so a turn can only be told by when it began. Both state 0 for what is not
known yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ...bounded.decode import decode_object, repeats_keys
from ...evidence import Gap, Query
from ...observation import MissingReason
from .payload import is_cloud_session

__all__ = ["document", "scope_gap", "turn_gap"]


def document(raw: bytes) -> Mapping[str, Any] | None:
    """Return the JSON object in *raw*, or None when it holds anything else or a key twice."""
    value = decode_object(raw)
    return None if value is None or repeats_keys(raw, value) else value


def scope_gap(query: Query) -> Gap | None:
    """Return the gap if *query* asks for what no store on this machine holds.

    A sub-agent has a conversation of its own, which is asked for as a session.
    """
    if query.agent_id is not None:
        return Gap(reason=MissingReason.SESSION_MISMATCH)
    if is_cloud_session(query.session_id):
        return Gap(reason=MissingReason.REMOTE_SESSION)
    return None


def turn_gap(measured_at: datetime | None, query: Query) -> Gap | None:
    """Return the gap if a sample of *measured_at* is not known to be of the turn asked for."""
    if query.turn_started_at is not None:
        is_before = measured_at is None or measured_at < query.turn_started_at
        return Gap(reason=MissingReason.TURN_NOT_FOUND) if is_before else None
    if query.turn_id is not None:
        return Gap(reason=MissingReason.TURN_IDS_NOT_RECORDED)
    return None
