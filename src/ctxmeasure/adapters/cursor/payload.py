"""What Cursor's sources share: how it names sessions and models, and how it states a percentage.

Percentages are shares of the window in use, 0..100, as whole numbers or with a fraction, and never
shares of one: 1.0 is 1 % (formats/cursor.md §2.5). What Cursor does not know it sends as ``""`` or
0, because most of its fields are protobuf defaults that cannot be told from values. Sessions whose
id begins with ``bc-`` run in Cursor's cloud, and nothing on this machine holds their state (§1.8).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

from ...bounded.fields import text
from ...capability.model import ModelRef
from ...evidence import Gap, Query
from ...observation import MissingReason

__all__ = [
    "is_cloud_session",
    "is_percent",
    "model_ref",
    "session_gap",
    "session_id",
]

_CLOUD = "bc-"  # background Composer

# "default" is Auto, which picks a model per request; "unknown" is sessionEnd's placeholder (§1.2).
_NO_MODELS = frozenset({"default", "unknown"})


def is_percent(value: object) -> TypeGuard[int | float]:
    """Tell whether *value* is a number in 0..100 (no bool, NaN or string)."""
    return type(value) in {int, float} and 0 <= value <= 100  # type: ignore[operator]


def model_ref(named: object) -> ModelRef | None:
    """Return the model that Cursor names as *named*, or None when that is no model."""
    if not isinstance(named, str) or not named or named in _NO_MODELS:
        return None
    return ModelRef(id=named)


def session_id(payload: Mapping[str, Any]) -> str | None:
    """Return the session that *payload* is of, or None: the chat's id in every store."""
    return text(payload, "conversation_id") or text(payload, "session_id")


def session_gap(payload: Mapping[str, Any], query: Query) -> Gap | None:
    """Return the gap if *payload* is of another context than the one asked for.

    A payload that names no session (server-driven hooks) is taken at the caller's word. None says
    anything of a sub-agent: that has a conversation of its own, which is asked for as a session.
    """
    if query.agent_id is not None:
        return Gap(reason=MissingReason.SESSION_MISMATCH)
    named = {text(payload, "conversation_id"), text(payload, "session_id")} - {None}
    if query.session_id is None or not named or query.session_id in named:
        return None
    return Gap(reason=MissingReason.SESSION_MISMATCH)


def is_cloud_session(named: str | None) -> bool:
    """Tell whether the session *named* runs in Cursor's cloud."""
    return named is not None and named.startswith(_CLOUD)
