"""One answer of ``pi --mode rpc``, or the ``data`` in it; ``get_session_stats`` before all.

Its ``contextUsage`` (since 0.63.0) is Pi's own number and window: what the last good reply used,
and an estimate of what was added since (characters by 4), which is nothing once a turn is over. It
is null from a compaction to the next reply, and absent without a model. Nothing tells how much of
it is estimated, unless no reply was counted at all. ``get_state`` states the window alone.
Decoys: ``tokens`` are sums over the session; ``compact`` has an estimate of what is left and the
usage of its own request (formats/pi_ralph.md §3, §5).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...bounded.fields import is_amount, is_count, is_limit, nested, text
from ...evidence import (
    Channel,
    Claim,
    Evidence,
    Gap,
    Origin,
    Phase,
    Quantity,
    Query,
    TokenPair,
    UsedTokens,
)
from ...observation import LimitBasis, MissingReason, Partial, UsedBasis
from ...source import PayloadSource
from .messages import DEFAULT_WINDOWS, Model, session_gap

__all__ = ["RPC"]

_COMMANDS = frozenset({"compact", "get_session_stats", "get_state"})


def _extract(payload: Mapping[str, Any], query: Query) -> Evidence:
    answer = nested(payload, "data") if payload.get("type") == "response" else payload
    gap = session_gap(text(answer, "sessionId"), query) or _turn_gap(query)
    if gap is not None:
        return gap
    stated = answer.get("contextUsage")
    if stated is None:
        return _without_usage(answer, query)
    if not isinstance(stated, Mapping):
        return Gap(reason=MissingReason.USAGE_INVALID)
    return _of_usage(stated, answer, query)


def _turn_gap(query: Query) -> Gap | None:
    """Return the gap if a turn is asked for: an answer does not say which turn it measured."""
    is_asked = query.turn_id is not None or query.turn_started_at is not None
    if is_asked or query.phase is Phase.ACTIVE:
        return Gap(reason=MissingReason.TURN_IDS_NOT_RECORDED)
    return None


def _without_usage(answer: Mapping[str, Any], query: Query) -> Gap:
    """Name the gap of an answer that states no use of the context."""
    if "tokensBefore" in answer:
        left = answer.get("estimatedTokensAfter")
        known = _estimate(left, query) if is_limit(left) else None
        return Gap(reason=MissingReason.COMPACTED, partial=known)
    if isinstance(answer.get("tokens"), Mapping):
        return Gap(reason=MissingReason.CUMULATIVE_ONLY)
    model = Model.of(answer.get("model"))
    known = None
    if model.window_tokens is not None:
        known = Partial(limit_tokens=model.window_tokens, measured_at=query.at)
    return Gap(reason=MissingReason.USAGE_NOT_REPORTED, partial=known, model=model.ref)


def _of_usage(stated: Mapping[str, Any], answer: Mapping[str, Any], query: Query) -> Evidence:
    used, window = stated.get("tokens"), stated.get("contextWindow")
    limit = window if is_limit(window) else None
    model = Model.of(answer.get("model")).ref
    if not is_limit(used):
        known = Partial(limit_tokens=limit, measured_at=query.at) if limit else None
        return Gap(reason=_why_uncounted(stated), partial=known, model=model)
    if nested(answer, "tokens").get("total") == 0:  # no reply was counted
        known = _estimate(used, query, limit)
        return Gap(reason=MissingReason.ESTIMATE_ONLY, partial=known, model=model)
    seen: dict[str, Any] = {
        "used_tokens": used,
        "used_basis": UsedBasis.PROMPT_AND_OUTPUT,
        "model": model,
        "measured_at": query.at,
        "claims": _claims(stated),
    }
    if limit is None:
        is_absent = window is None
        lacks = MissingReason.LIMIT_NOT_REPORTED if is_absent else MissingReason.LIMIT_INVALID
        return UsedTokens(**seen, limit_missing=lacks)
    return TokenPair(
        **seen,
        limit_tokens=limit,
        limit_basis=LimitBasis.WINDOW,
        default_limits=DEFAULT_WINDOWS,
        overflows=True,  # 297,047 of 272,000 in public (issue 6879)
    )


def _why_uncounted(stated: Mapping[str, Any]) -> MissingReason:
    if "tokens" not in stated:
        return MissingReason.USAGE_NOT_REPORTED
    used = stated["tokens"]
    if used is None:
        return MissingReason.COMPACTED
    # 0: before the first message
    return MissingReason.NOT_MEASURED_YET if is_count(used) else MissingReason.USAGE_INVALID


def _claims(stated: Mapping[str, Any]) -> tuple[Claim, ...]:
    """Return the percentage, which is not rounded: 0..100, and more where the window overflowed."""
    percent = stated.get("percent")
    if not isinstance(percent, int | float) or isinstance(percent, bool):
        return ()
    tolerance = 1e-9 * percent if is_amount(percent) else 0  # no other can be right
    return (Claim(Quantity.USED_PERCENT, percent, tolerance),)


def _estimate(used: int, query: Query, limit: int | None = None) -> Partial:
    return Partial(used_tokens=used, limit_tokens=limit, measured_at=query.at, estimated=True)


def _recognise(payload: Mapping[str, Any]) -> bool:
    """Tell an answer by its form and by what is in it: others speak of responses too."""
    if payload.get("type") != "response" or text(payload, "command") not in _COMMANDS:
        return False
    answer = nested(payload, "data")
    return "tokensBefore" in answer or text(answer, "sessionId") is not None


RPC = PayloadSource(
    origin=Origin(
        adapter="pi",
        source="pi.rpc",
        method="pi_rpc_context_usage",
        channel=Channel.HANDED_OVER,
        client="pi",
    ),
    about="One answer of pi --mode rpc: Pi's own number and the window, from get_session_stats",
    extract=_extract,
    recognise=_recognise,
)
