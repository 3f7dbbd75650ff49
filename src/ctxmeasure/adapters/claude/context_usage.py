"""The answer to the SDK's ``get_context_usage`` request, and the structured twin of ``/context``.

``apiUsage`` is the usage of the last main response, or null; ``totalTokens`` and ``percentage``
are the runtime's own estimate of everything in the context, so only ``apiUsage`` is measured
(formats/claude.md §2). It is counted as Claude Code's own displays count: prompt only, also in
``/context`` (2.1.332; aligned with the status line in 2.1.14).
``rawMaxTokens`` is "the window usage is measured against": the model's window, or the smaller
auto-compact window where one is set (``--autocompact 100000`` shows 9.1k/100k beside a status line
of 200,000), so it is an effective window. The snake_case twin (``context_usage``, since SDK
0.3.232) holds estimates only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from ...bounded.fields import is_limit
from ...evidence import Channel, Evidence, Gap, Origin, Query, TokenPair, UsedTokens
from ...observation import LimitBasis, MissingReason, UsedBasis
from ...source import PayloadSource
from ...usage import TokenUsage, UsageFaultKind, anthropic
from .payload import estimate, identity, session_gap, turn_gap
from .rows import DEFAULT_WINDOWS, model_ref

__all__ = ["CONTEXT_USAGE"]

# The request's answer in camelCase, the structured twin in snake_case.
_TOTAL = ("totalTokens", "total_tokens")
_LIMIT = ("rawMaxTokens", "raw_max_tokens", "maxTokens")


def _extract(payload: Mapping[str, Any], query: Query) -> Evidence:
    gap = session_gap(payload, query)
    if gap is not None:
        return gap
    if query.agent_id is not None:  # the answer is about the main context
        return Gap(reason=MissingReason.SESSION_MISMATCH)
    answer = _unwrapped(payload)
    if answer.get("subtype") == "error":  # a version that does not know the request
        return Gap(reason=MissingReason.USAGE_NOT_REPORTED)
    if all(key not in answer for key in (*_TOTAL, *_LIMIT)):
        return Gap(reason=MissingReason.SOURCE_MALFORMED)
    return turn_gap(payload, query) or _of_answer(answer, identity(payload), query)


def _unwrapped(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the innermost answer of a control response, an assistant frame, or *payload*."""
    for key in ("response", "context_usage"):
        while isinstance(inner := payload.get(key), Mapping):
            payload = inner
    return payload


def _of_answer(answer: Mapping[str, Any], identity_: tuple[str, ...], query: Query) -> Evidence:
    model = model_ref(answer.get("model"))
    usage = anthropic(answer.get("apiUsage"))
    if isinstance(usage, TokenUsage):
        evidence = _measured(answer, usage, identity_, query)
    elif usage.kind is UsageFaultKind.NOT_REPORTED:
        evidence = estimate(_first(answer, _TOTAL), _first(answer, _LIMIT), query)
    else:
        evidence = Gap.of_usage(usage)
    return evolve(evidence, model=model)


def _measured(
    answer: Mapping[str, Any], usage: TokenUsage, identity_: tuple[str, ...], query: Query
) -> Evidence:
    limit = _first(answer, _LIMIT)
    counted: dict[str, Any] = {
        "usage": usage,
        "used_basis": UsedBasis.PROMPT,
        "measured_at": query.at,
        "identity": identity_,
    }
    if not is_limit(limit):
        lacks = None if limit is None else MissingReason.LIMIT_INVALID
        return UsedTokens(**counted, limit_missing=lacks)
    return TokenPair(
        **counted,
        limit_tokens=limit,
        limit_basis=LimitBasis.EFFECTIVE_WINDOW,
        default_limits=DEFAULT_WINDOWS,
    )


def _first(answer: Mapping[str, Any], keys: tuple[str, ...]) -> object:
    return next((value for key in keys if (value := answer.get(key)) is not None), None)


def _recognise(payload: Mapping[str, Any]) -> bool:
    return {"rawMaxTokens", "apiUsage", "isAutoCompactEnabled"} <= _unwrapped(payload).keys()


CONTEXT_USAGE = PayloadSource(
    origin=Origin(
        adapter="claude",
        source="claude.context_usage",
        method="claude_context_usage",
        channel=Channel.HANDED_OVER,
        client="claude",
    ),
    about="Claude Code's answer to get_context_usage: the last response against the window in use",
    extract=_extract,
    recognise=_recognise,
)
