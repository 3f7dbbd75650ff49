"""What Pi's sources share: a reply's usage and model, a model object, whose session it is.

Stream, RPC and session file hold the same message. Its ``usage`` is one request's own, in disjoint
buckets; Pi's meter takes ``totalTokens`` of the last good reply, or the sum where that is 0 or
absent (before 0.12.15), so output counts. Decoys: replies that failed or were aborted, which may
have a usage that Pi ignores; all-zero usage of servers that report none (formats/pi_ralph.md §1,
§5). Pi before 0.70.0 counted reasoning twice for ``openai-completions``; no message states its
version, so the count is what that Pi itself showed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from attrs import frozen

from ...bounded.fields import is_count, is_limit, nested, text
from ...capability.model import ModelRef
from ...evidence import Claim, Gap, Quantity, Query
from ...observation import MissingReason, UsedBasis
from ...usage import TokenUsage, UsageFault, pi

__all__ = [
    "DEFAULT_WINDOWS",
    "PASSED_OVER",
    "Counted",
    "Model",
    "counted",
    "measured",
    "model_of",
    "model_ref",
    "session_gap",
    "turn_gap",
]

DEFAULT_WINDOWS = frozenset({128_000})
"""What Pi states for a model of ``models.json`` that names no window (0.51.0 and later)."""

PASSED_OVER = frozenset({MissingReason.NOT_MEASURED_YET, MissingReason.USAGE_NOT_REPORTED})
"""Why a reply counts nothing and leaves the reply before it in force, as in Pi's own meter."""

# How servers refuse a prompt as too long: Anthropic, OpenAI and those that copy it, Gemini, xAI,
# llama.cpp, Bedrock. Pi writes their words down and no code of its own.
_TOO_LONG = re.compile(
    r"maximum context length|context[_ ]length[_ ]exceeded|prompt is too long"
    r"|exceeds the (?:available )?context (?:window|size)|input is too long for requested model"
    r"|exceeds the maximum number of tokens|maximum prompt length is",
    re.IGNORECASE,
)


@frozen
class Counted:
    """What a good reply used.

    Attributes:
        usage: Its usage, in disjoint buckets.
        used_tokens: What Pi's own meter makes of it: prompt and output.
    """

    usage: TokenUsage
    used_tokens: int


@frozen
class Model:
    """A model object of an RPC reply.

    Attributes:
        ref: The model; None where the object names none.
        window_tokens: Its window as Pi has it, or None where it states none.
    """

    ref: ModelRef | None = None
    window_tokens: int | None = None

    @classmethod
    def of(cls, stated: object) -> Model:
        """Return what the object *stated* says; anything else says nothing."""
        if not isinstance(stated, Mapping):
            return cls()
        window = stated.get("contextWindow")
        ref = model_ref(stated.get("id"), stated.get("provider"))
        return cls(ref, window if is_limit(window) else None)


def counted(message: Mapping[str, Any]) -> Counted | MissingReason:
    """Return what the assistant's *message* used, or why it counts nothing.

    A failed or aborted reply is `MissingReason.NOT_MEASURED_YET`: nothing is measured by it,
    whatever usage it carries.
    """
    stopped = message.get("stopReason")
    if stopped == "error" and _TOO_LONG.search(text(message, "errorMessage") or ""):
        return MissingReason.WINDOW_EXCEEDED
    if stopped in ("aborted", "error", "pending"):
        return MissingReason.NOT_MEASURED_YET
    usage = pi(message.get("usage"))
    if isinstance(usage, UsageFault):
        return MissingReason(usage.kind.value)
    stated = nested(message, "usage")
    total = stated.get("totalTokens", stated.get("total_tokens"))
    if total is not None and not is_count(total):
        return MissingReason.USAGE_INVALID
    return Counted(usage, total or usage.total_tokens)


def model_of(message: Mapping[str, Any]) -> ModelRef | None:
    """Return the model that an assistant's *message* is of, or None."""
    return model_ref(message.get("model"), message.get("provider"))


def model_ref(named: object, provider: object) -> ModelRef | None:
    """Return the model that Pi names so, or None when that is none.

    Pi sizes windows by provider and id together (formats/pi_ralph.md §6).
    """
    if not isinstance(named, str) or not named:
        return None
    return ModelRef(id=named, provider=provider if isinstance(provider, str) and provider else None)


def measured(count: Counted, session_id: str | None, written_at: object) -> dict[str, Any]:
    """Return what the evidence of *count* says in every source of Pi's.

    Args:
        count: What the reply used.
        session_id: The session, or None where it is not named.
        written_at: The message's own ``timestamp``, which singles the reply out in the stream and
            in the session file alike; without one the sample has no identity.
    """
    return {
        "usage": count.usage,
        "used_tokens": count.used_tokens,
        "used_basis": UsedBasis.PROMPT_AND_OUTPUT,
        "identity": (session_id or "", str(written_at)) if is_limit(written_at) else (),
        # A provider of the user's own may count the cache twice, once inside the input (issues
        # patlux/pi-commandcode-provider#30, fitchmultz/pi-cursor-sdk#196): its total tells.
        "claims": (Claim(Quantity.USED_TOKENS, count.usage.total_tokens),),
    }


def session_gap(named: str | None, query: Query) -> Gap | None:
    """Return the gap if the session *named* is not the one asked for.

    Pi has no sub-agents: what an extension starts is a session of its own.
    """
    is_other = None not in (named, query.session_id) and named != query.session_id
    if is_other or query.agent_id is not None:
        return Gap(reason=MissingReason.SESSION_MISMATCH)
    return None


def turn_gap(measured_at: datetime | None, query: Query) -> Gap | None:
    """Return the gap if a reply of *measured_at* is not known to be of the turn asked for.

    Pi records no turn ids, so its time alone can tell.
    """
    started_at = query.turn_started_at
    if started_at is not None:
        is_of_turn = measured_at is not None and measured_at >= started_at
        return None if is_of_turn else Gap(reason=MissingReason.TURN_NOT_FOUND)
    if query.turn_id is not None:
        return Gap(reason=MissingReason.TURN_IDS_NOT_RECORDED)
    return None
