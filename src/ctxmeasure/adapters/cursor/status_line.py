"""The JSON object that Cursor's CLI hands to the ``statusLine`` command, on its standard input.

Cursor measures a percentage, rounds it to a tenth, and derives the token count beside it from that:
42,752 is 0.167 * 256,000 to the token (CLI 2026.08.11). So the percentage is the source and no
tokens are read here, ``total_input_tokens`` only being held against it (formats/cursor.md §3.4).
``current_usage`` is the last call's bill. Field names are Claude Code's with other meanings, so
only what is clearly Cursor's is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

from attrs import evolve

from ...bounded.fields import is_count, is_limit, nested, text
from ...evidence import (
    Channel,
    Claim,
    Evidence,
    Gap,
    Origin,
    Phase,
    Quantity,
    Query,
    UsedPercent,
)
from ...observation import MissingReason, Partial
from ...source import PayloadSource
from .dialect import FOREIGN_KEYS, OWN_KEYS
from .payload import is_percent, model_ref, session_gap

__all__ = ["STATUS_LINE"]

# A tenth is the step of the percentages; half a step more for what binary fractions add.
_ROUNDING = 0.15
_MOST_TOKENS = 2**53  # the largest whole number up to which JavaScript counts exactly


def _extract(payload: Mapping[str, Any], query: Query) -> Evidence:
    window = payload.get("context_window")
    if not _is_cursors(payload) or not isinstance(window, Mapping | None):
        return Gap(reason=MissingReason.SOURCE_MALFORMED)
    evidence = (
        session_gap(payload, query) or _turn_gap(query) or _of_window(window or {}, payload, query)
    )
    return evolve(
        evidence,
        runtime_version=text(payload, "version"),
        model=model_ref(nested(payload, "model").get("id")),
    )


def _is_cursors(payload: Mapping[str, Any]) -> bool:
    """Tell whether *payload* is clearly Cursor's: by keys of its own, or a version by date."""
    if not FOREIGN_KEYS.isdisjoint(payload):
        return False
    year = (text(payload, "version") or "").partition(".")[0]
    is_dated = len(year) == 4 and year.isascii() and year.isdigit()
    return is_dated or not OWN_KEYS.isdisjoint(payload)


def _turn_gap(query: Query) -> Gap | None:
    """Return the gap if a turn matters: the line names none and may still show the one before."""
    if query.turn_id is None and query.phase is not Phase.ACTIVE:
        return None
    return Gap(reason=MissingReason.TURN_IDS_NOT_RECORDED)


def _of_window(
    window: Mapping[str, Any], payload: Mapping[str, Any], query: Query
) -> UsedPercent | Gap:
    reason = _fault(window) or _absence(window)
    if reason is not None:
        return Gap(reason=reason, partial=_known(window, query))
    return UsedPercent(
        measured_at=query.at,
        identity=_identity(payload, window),
        used_percent=float(window["used_percentage"]),
        claims=_claims(window),
    )


def _fault(window: Mapping[str, Any]) -> MissingReason | None:
    """Name the first statement that cannot be true."""
    for key in ("used_percentage", "remaining_percentage"):
        if window.get(key) is not None and not is_percent(window[key]):
            return MissingReason.PERCENT_INVALID
    total = window.get("total_input_tokens")
    if total is not None and not _is_possible(total):
        return MissingReason.USAGE_INVALID
    return None


def _is_possible(total: object) -> TypeGuard[int]:
    return is_count(total) and total <= _MOST_TOKENS


def _absence(window: Mapping[str, Any]) -> MissingReason | None:
    """Say why no percentage is stated: null early in a session, and every request has a prompt."""
    if "used_percentage" not in window:
        return MissingReason.PERCENT_NOT_REPORTED
    return None if window["used_percentage"] else MissingReason.NOT_MEASURED_YET


def _claims(window: Mapping[str, Any]) -> tuple[Claim, ...]:
    """Return what else the payload says of the percentage, the count derived from it included.

    Against a window that is none, that count says nothing of it.
    """
    claims = []
    remaining, size = window.get("remaining_percentage"), window.get("context_window_size")
    total = window.get("total_input_tokens")
    if remaining is not None:
        claims.append(Claim(Quantity.REMAINING_PERCENT, float(remaining), _ROUNDING))
    if total is not None and is_limit(size):
        claims.append(Claim(Quantity.USED_PERCENT, 100 * total / size, _ROUNDING))
    return tuple(claims)


def _known(window: Mapping[str, Any], query: Query) -> Partial | None:
    """Return what is valid of the percentage and the window's size and set."""
    percent, size = window.get("used_percentage"), window.get("context_window_size")
    used_percent = float(percent) if is_percent(percent) and percent else None
    limit_tokens = size if is_limit(size) else None
    if used_percent is None and limit_tokens is None:
        return None
    return Partial(
        used_percent=used_percent,
        limit_tokens=limit_tokens,
        measured_at=None if used_percent is None else query.at,
    )


def _identity(payload: Mapping[str, Any], window: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the session and the growing sum of its output, which serves for a clock."""
    session, output = text(payload, "session_id"), window.get("total_output_tokens")
    if session is None:
        return ()
    return (session, str(output) if _is_possible(output) else "")


def _recognise(payload: Mapping[str, Any]) -> bool:
    """Tell the status line by a key that only Cursor writes."""
    return (
        isinstance(payload.get("context_window"), Mapping)
        and not OWN_KEYS.isdisjoint(payload)
        and _is_cursors(payload)
    )


STATUS_LINE = PayloadSource(
    origin=Origin(
        adapter="cursor",
        source="cursor.status_line",
        method="cursor_status_line",
        channel=Channel.HANDED_OVER,
        client="cursor",
    ),
    about="The payload of the Cursor CLI's status-line command: the percentage in use",
    extract=_extract,
    recognise=_recognise,
)
