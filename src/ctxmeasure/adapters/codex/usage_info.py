"""What Codex's meter says: the ``info`` of a ``token_count``, the app-server's ``tokenUsage``.

Both hold the usage of the last request, the lifetime sum of all requests and the window. Occupancy
is the last request's ``total_tokens``; the sum never is. Two decoys look like a last request whose
parts are all zero: Codex's own estimate of the context (after a compaction or a rollback), and the
marker of an exceeded window, whose total is the window itself and whose last request is meaningless
(formats/codex.md §0, §1.5). Knows no row around an ``info``: what repeats, what was compacted and
whose turn it is, is for the sources to tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from attrs import frozen

from ...bounded.fields import is_count, is_limit, nested
from ...capability.model import ModelRef
from ...observation import MissingReason
from ...usage import TokenUsage, UsageFault, UsageFaultKind, codex

__all__ = [
    "DEFAULT_WINDOWS",
    "Estimate",
    "LastRequest",
    "WindowExceeded",
    "last_request",
    "model_ref",
    "stated_window",
]

DEFAULT_WINDOWS = frozenset({258_400})
"""What Codex states for a model it does not know, since 0.115: 95 % of 272,000. Up to 0.98 it
stated null (formats/codex.md §6)."""


@frozen
class Estimate:
    """Codex's own estimate of the whole context: bytes divided by four, no tool schemas.

    Attributes:
        used_tokens: The estimate, in tokens.
    """

    used_tokens: int


@frozen
class WindowExceeded:
    """The API refused a request as too long; Codex marks its meter as full and counts nothing."""


LastRequest: TypeAlias = TokenUsage | Estimate | WindowExceeded | UsageFault
"""What the last request of an ``info`` comes to."""


def last_request(info: Mapping[str, Any]) -> LastRequest:
    """Return what *info* (snake_case, or the app-server's camelCase) says of the last request.

    An estimate that follows a `WindowExceeded` without a request in between keeps the marker's
    total and looks like it: who has seen the total before it knows more.
    """
    last = info.get("last_token_usage", info.get("last"))
    usage = codex(last)
    if not isinstance(usage, UsageFault) or usage.kind is not UsageFaultKind.NOT_REPORTED:
        return usage
    if _is_marked_full(info):
        return WindowExceeded()
    estimated = _total(last) if isinstance(last, Mapping) and not _has_parts(last) else None
    return Estimate(estimated) if is_limit(estimated) else usage


def stated_window(info: Mapping[str, Any]) -> int | MissingReason:
    """Return the window that *info* (or a ``task_started``) states, in tokens, or what it lacks.

    It is 95 % of the model's window since 0.58, the whole of it before (formats/codex.md §0.7).
    """
    window = info.get("model_context_window", info.get("modelContextWindow"))
    if window is None:
        return MissingReason.LIMIT_NOT_REPORTED
    return window if is_limit(window) else MissingReason.LIMIT_INVALID


def model_ref(slug: object) -> ModelRef | None:
    """Return the model that Codex names by its *slug*, or None when that is none."""
    return ModelRef(id=slug, provider="openai") if isinstance(slug, str) and slug else None


def _is_marked_full(info: Mapping[str, Any]) -> bool:
    total = nested(info, "total_token_usage") or nested(info, "total")
    prompt = total.get("input_tokens", total.get("inputTokens"))
    return prompt == 0 and is_count(prompt) and _total(total) == stated_window(info)


def _has_parts(usage: Mapping[str, Any]) -> bool:
    return bool(usage.get("output_tokens", usage.get("outputTokens")))


def _total(usage: Mapping[str, Any]) -> object:
    return usage.get("total_tokens", usage.get("totalTokens"))
