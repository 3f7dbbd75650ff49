"""Token usage of one model call, and one normaliser per provider convention.

Providers count the same tokens in different fields: Anthropic's buckets are disjoint, OpenAI's and
Gemini's cached tokens lie *inside* the input count, Bedrock and Pi rename everything. A normaliser
turns one provider's object into a `TokenUsage`, or says what is wrong with it as a `UsageFault`.
Integers are strict: no bools, floats, strings or negatives. Imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import wraps
from typing import Any, TypeAlias

from attrs import Attribute, field, frozen
from attrs.validators import optional

__all__ = [
    "TokenUsage",
    "Usage",
    "UsageFault",
    "UsageFaultKind",
    "anthropic",
    "bedrock_converse",
    "codex",
    "gemini",
    "openai_chat",
    "openai_responses",
    "pi",
]


def _count(_: object, attribute: Attribute[int], value: int) -> None:
    if type(value) is not int:
        raise TypeError(f"{attribute.name}: expected an int")
    if value < 0:
        raise ValueError(f"{attribute.name}: expected at least 0")


@frozen(kw_only=True)
class TokenUsage:
    """What one model call cost in tokens, in disjoint buckets.

    Attributes:
        input_tokens: Prompt tokens that were neither read from nor written to a cache.
        cache_read_tokens: Prompt tokens read from a cache.
        cache_write_tokens: Prompt tokens written to a cache.
        output_tokens: Generated tokens, reasoning included.
        reasoning_tokens: The part of *output_tokens* that was reasoning; None when not reported.
    """

    input_tokens: int = field(validator=_count)
    cache_read_tokens: int = field(validator=_count, default=0)
    cache_write_tokens: int = field(validator=_count, default=0)
    output_tokens: int = field(validator=_count, default=0)
    reasoning_tokens: int | None = field(validator=optional(_count), default=None)

    @property
    def prompt_tokens(self) -> int:
        """All that was sent to the model: input, cache read and cache write."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def total_tokens(self) -> int:
        """Prompt and output together."""
        return self.prompt_tokens + self.output_tokens


class UsageFaultKind(StrEnum):
    """What is wrong with a usage object; the values are the missing reasons of the same name."""

    NOT_REPORTED = "usage_not_reported"
    INVALID = "usage_invalid"
    INCOMPLETE = "usage_incomplete"


@frozen
class UsageFault:
    """Why a usage object gives no `TokenUsage`.

    Attributes:
        kind: Not reported (absent, or all zero), invalid (a wrong type or value) or incomplete
            (a field that the sum needs is absent).
        fault_field: The field at fault, as our own constant; never a value from the data.
    """

    kind: UsageFaultKind
    fault_field: str


Usage: TypeAlias = TokenUsage | UsageFault


class _Fault(Exception):  # noqa: N818 - internal control flow, carries our own field name only
    def __init__(self, kind: UsageFaultKind, fault_field: str) -> None:
        self.fault = UsageFault(kind, fault_field)


def _required(usage: Mapping[str, Any], key: str) -> int:
    """Return the strict count under *key*; absent and null are the same: not known, never 0."""
    value = usage.get(key)
    if value is None:
        raise _Fault(UsageFaultKind.INCOMPLETE, key)
    return _strict(value, key)


def _optional(usage: Mapping[str, Any], key: str) -> int:
    """Return the strict count under *key*, 0 where the provider's convention lets it be absent."""
    value = usage.get(key)
    return 0 if value is None else _strict(value, key)


def _optional_in(usage: Mapping[str, Any], group: str, key: str) -> int | None:
    details = usage.get(group)
    if details is None:
        return None
    if not isinstance(details, Mapping):
        raise _Fault(UsageFaultKind.INVALID, group)
    value = details.get(key)
    return None if value is None else _strict(value, key)


def _strict(value: object, key: str) -> int:
    if type(value) is not int or value < 0:
        raise _Fault(UsageFaultKind.INVALID, key)
    return value


def _remainder(whole: int, *parts: int, key: str) -> int:
    rest = whole - sum(parts)
    if rest < 0:
        raise _Fault(UsageFaultKind.INVALID, key)
    return rest


def _checked_total(usage: Mapping[str, Any], key: str, expected: int) -> None:
    """Refuse an object whose own total contradicts its parts."""
    total = usage.get(key)
    if total is not None and _strict(total, key) != expected:
        raise _Fault(UsageFaultKind.INVALID, key)


def _normaliser(convert: Callable[[Mapping[str, Any]], TokenUsage]) -> Callable[[object], Usage]:
    """Wrap *convert* with what all conventions share: absent, not an object, all zero."""

    @wraps(convert)
    def normalise(usage: object) -> Usage:
        if usage is None:
            return UsageFault(UsageFaultKind.NOT_REPORTED, "usage")
        if not isinstance(usage, Mapping):
            return UsageFault(UsageFaultKind.INVALID, "usage")
        try:
            converted = convert(usage)
        except _Fault as refusal:
            return refusal.fault
        # A call with an empty prompt does not exist: an all-zero object is a gateway or a runtime
        # that reports nothing (formats/claude.md §1.8, observed_runs.md).
        if converted.prompt_tokens == 0:
            return UsageFault(UsageFaultKind.NOT_REPORTED, "usage")
        return converted

    return normalise


def _last_message(usage: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the entry of the last model call: the last ``message`` iteration, or *usage*."""
    iterations = usage.get("iterations")
    if iterations is None:
        return usage
    if not isinstance(iterations, list):
        raise _Fault(UsageFaultKind.INVALID, "iterations")
    for iteration in reversed(iterations):
        if not isinstance(iteration, Mapping):
            raise _Fault(UsageFaultKind.INVALID, "iterations")
        if iteration.get("type") == "message":
            return iteration
    return usage


_ANTHROPIC_PROMPT = {
    "input_tokens": "input_tokens",
    "cache_read_tokens": "cache_read_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
}


@_normaliser
def anthropic(usage: Mapping[str, Any]) -> TokenUsage:
    """Normalise an Anthropic Messages ``usage`` object (three disjoint prompt buckets).

    All four counts are required: a gateway may leave the cache counts out, and absent is not 0.
    With a server-side tool loop the top level is a sum over ``iterations``; the window is then the
    last entry of type ``message`` (Anthropic's own rule for these entries), never a ``compaction``
    entry. Entries carry no ``output_tokens_details``; the top level's are taken where its output is
    the entry's (Claude Code >= 2.1.220 writes one entry, equal to the top level).
    """
    call = _last_message(usage)
    # The prompt first: an impossible prompt count says more than an output that is not there.
    prompt = {bucket: _required(call, key) for bucket, key in _ANTHROPIC_PROMPT.items()}
    output = _required(call, "output_tokens")
    detailed = usage if usage.get("output_tokens") == output else call
    return TokenUsage(
        **prompt,
        output_tokens=output,
        reasoning_tokens=_optional_in(detailed, "output_tokens_details", "thinking_tokens"),
    )


@_normaliser
def openai_responses(usage: Mapping[str, Any]) -> TokenUsage:
    """Normalise an OpenAI Responses ``usage`` object (cached lie inside ``input_tokens``)."""
    prompt = _required(usage, "input_tokens")
    output = _required(usage, "output_tokens")
    cached = _optional_in(usage, "input_tokens_details", "cached_tokens") or 0
    written = _optional_in(usage, "input_tokens_details", "cache_write_tokens") or 0
    _checked_total(usage, "total_tokens", prompt + output)
    return TokenUsage(
        input_tokens=_remainder(prompt, cached, written, key="cached_tokens"),
        cache_read_tokens=cached,
        cache_write_tokens=written,
        output_tokens=output,
        reasoning_tokens=_optional_in(usage, "output_tokens_details", "reasoning_tokens"),
    )


@_normaliser
def openai_chat(usage: Mapping[str, Any]) -> TokenUsage:
    """Normalise an OpenAI Chat Completions ``usage`` object (cached inside ``prompt_tokens``)."""
    prompt = _required(usage, "prompt_tokens")
    output = _required(usage, "completion_tokens")
    cached = _optional_in(usage, "prompt_tokens_details", "cached_tokens") or 0
    _checked_total(usage, "total_tokens", prompt + output)
    return TokenUsage(
        input_tokens=_remainder(prompt, cached, key="cached_tokens"),
        cache_read_tokens=cached,
        output_tokens=output,
        reasoning_tokens=_optional_in(usage, "completion_tokens_details", "reasoning_tokens"),
    )


_CODEX = {
    "input": "input_tokens",
    "cached": "cached_input_tokens",
    "written": "cache_write_input_tokens",
    "output": "output_tokens",
    "reasoning": "reasoning_output_tokens",
    "total": "total_tokens",
}
_CODEX_APP_SERVER = {
    "input": "inputTokens",
    "cached": "cachedInputTokens",
    "written": "cacheWriteInputTokens",
    "output": "outputTokens",
    "reasoning": "reasoningOutputTokens",
    "total": "totalTokens",
}


@_normaliser
def codex(usage: Mapping[str, Any]) -> TokenUsage:
    """Normalise a Codex usage object: a rollout's snake_case or the app-server's camelCase.

    Cached and cache-write tokens (since 0.145) lie inside the input, reasoning inside the output,
    and the total is input and output. Where both are zero the total is no sum but Codex's own
    estimate, or its marker of an exceeded window, so nothing was reported (formats/codex.md §1.5).
    """
    is_app_servers = any(key in usage for key in _CODEX_APP_SERVER.values())
    keys = _CODEX_APP_SERVER if is_app_servers else _CODEX
    prompt = _required(usage, keys["input"])
    output = _required(usage, keys["output"])
    if prompt == output == 0:
        raise _Fault(UsageFaultKind.NOT_REPORTED, "usage")
    cached = _optional(usage, keys["cached"])
    written = _optional(usage, keys["written"])
    _checked_total(usage, keys["total"], prompt + output)
    reasoning = usage.get(keys["reasoning"])
    return TokenUsage(
        input_tokens=_remainder(prompt, cached, written, key=keys["cached"]),
        cache_read_tokens=cached,
        cache_write_tokens=written,
        output_tokens=output,
        reasoning_tokens=None if reasoning is None else _strict(reasoning, keys["reasoning"]),
    )


@_normaliser
def gemini(usage: Mapping[str, Any]) -> TokenUsage:
    """Normalise a Gemini ``usageMetadata`` object.

    Cached tokens lie inside ``promptTokenCount``; thoughts lie *outside* ``candidatesTokenCount``.
    The first chunk of a stream carries no candidates, so that count may be absent.
    """
    prompt = _required(usage, "promptTokenCount")
    cached = _optional(usage, "cachedContentTokenCount")
    thoughts = _optional(usage, "thoughtsTokenCount")
    tool_prompt = _optional(usage, "toolUsePromptTokenCount")
    output = _optional(usage, "candidatesTokenCount") + thoughts
    _checked_total(usage, "totalTokenCount", prompt + tool_prompt + output)
    return TokenUsage(
        input_tokens=_remainder(prompt, cached, key="cachedContentTokenCount") + tool_prompt,
        cache_read_tokens=cached,
        output_tokens=output,
        reasoning_tokens=None if usage.get("thoughtsTokenCount") is None else thoughts,
    )


@_normaliser
def bedrock_converse(usage: Mapping[str, Any]) -> TokenUsage:
    """Normalise a Bedrock Converse ``usage`` object (disjoint buckets, absent when unused)."""
    converted = TokenUsage(
        input_tokens=_required(usage, "inputTokens"),
        cache_read_tokens=_optional(usage, "cacheReadInputTokens"),
        cache_write_tokens=_optional(usage, "cacheWriteInputTokens"),
        output_tokens=_required(usage, "outputTokens"),
    )
    _checked_total(usage, "totalTokens", converted.total_tokens)
    return converted


@_normaliser
def pi(usage: Mapping[str, Any]) -> TokenUsage:
    """Normalise a Pi ``usage`` object (disjoint buckets; camelCase, Ralph's snake_case accepted).

    Pi's own ``totalTokens`` may be the provider's total and may be 0 or absent in old files, so it
    is not checked here: the adapter decides what Pi itself would show.
    """
    snake = "cache_read" in usage or "cache_write" in usage
    return TokenUsage(
        input_tokens=_required(usage, "input"),
        cache_read_tokens=_required(usage, "cache_read" if snake else "cacheRead"),
        cache_write_tokens=_required(usage, "cache_write" if snake else "cacheWrite"),
        output_tokens=_required(usage, "output"),
        reasoning_tokens=None if usage.get("reasoning") is None else _optional(usage, "reasoning"),
    )
