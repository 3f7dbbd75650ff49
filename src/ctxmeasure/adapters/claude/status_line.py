"""The JSON object that Claude Code hands to the ``statusLine`` command, on its standard input.

Its own meter counts the prompt of the last main call against the model's full window, rounds to a
whole percentage and clamps it to 0..100. ``context_window_size`` exists since 2.0.65,
``current_usage`` since 2.0.70, the percentages since 2.1.6 (formats/claude.md §3).
Decoys: ``total_input_tokens`` is a sum over the session before 2.1.132; after ``/compact`` all
counts are 0 (2.1.332), null (before), or stale (before about 2.1.13x, which nothing in the payload
gives away); the size was wrong in several releases, so a use above it refutes it. Other agents send
objects of the same shape whose numbers mean other things: they are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve, field, frozen

from ...bounded.fields import is_count, is_limit, text
from ...evidence import (
    Channel,
    Claim,
    Evidence,
    Gap,
    Origin,
    Quantity,
    Query,
    TokenPair,
    UsedPercent,
    UsedTokens,
)
from ...observation import LimitBasis, MissingReason, Partial, UsedBasis
from ...source import PayloadSource
from ...usage import TokenUsage, UsageFault, UsageFaultKind, anthropic
from .dialect import (
    FIRST_CALENDAR_VERSION,
    FOREIGN_KEYS,
    FOREIGN_WINDOW_KEYS,
    misstates_window,
    release,
)
from .payload import estimate, identity, session_gap, turn_gap
from .rows import DEFAULT_WINDOWS, model_ref

__all__ = ["STATUS_LINE"]

_TOTALS_ARE_CURRENT = (2, 1, 132)  # CHANGELOG: before it the totals were sums over the session

# The percentage is a rounded one, and formats/claude.md §3 allows it one unit beside.
_PERCENT_TOLERANCE = 1.5
# Both percentages are whole and come from one share: together they miss 100 by at most one.
_REMAINDER_TOLERANCE = 1.0

_OWN_KEYS = frozenset({"session_id", "transcript_path", "model", "workspace", "version"})


def _extract(payload: Mapping[str, Any], query: Query) -> Evidence:
    if _is_foreign(payload):
        return Gap(reason=MissingReason.SOURCE_MALFORMED)
    gap = session_gap(payload, query)
    if gap is not None:
        return gap
    if query.agent_id is not None or ("tasks" in payload and "context_window" not in payload):
        return _of_task(payload, query)
    return turn_gap(payload, query) or _of_window(payload, query)


def _is_foreign(payload: Mapping[str, Any]) -> bool:
    """Tell whether *payload* is another agent's, or no status line at all."""
    if not FOREIGN_KEYS.isdisjoint(payload):
        return True
    if payload.get("hook_event_name", "Status") != "Status":  # 1.0.x named its status line a hook
        return True
    version = release(payload.get("version"))
    if version is not None and version >= FIRST_CALENDAR_VERSION:
        return True
    window = payload.get("context_window")
    if window is None:
        return _OWN_KEYS.isdisjoint(payload)
    return not isinstance(window, Mapping) or not FOREIGN_WINDOW_KEYS.isdisjoint(window)


def _of_window(payload: Mapping[str, Any], query: Query) -> Evidence:
    named = payload.get("model")
    version = text(payload, "version")
    model = model_ref(named.get("id")) if isinstance(named, Mapping) else None
    line = _Line(
        window=payload.get("context_window") or {},
        totals_are_current=(release(version) or (0, 0, 0)) >= _TOTALS_ARE_CURRENT,
        sample={
            "measured_at": query.at,
            "identity": identity(payload),
            "runtime_version": version,
            "model": model,
        },
    )
    evidence = line.read()
    if isinstance(evidence, Gap):
        return evolve(evidence, runtime_version=version, model=model)
    return evidence


@frozen
class _Line:
    """The numbers of one status line.

    Attributes:
        window: The payload's ``context_window``.
        totals_are_current: The version's totals describe the context, not the session.
        sample: What every sample of this payload carries beside its numbers.
    """

    window: Mapping[str, Any] = field(repr=False)
    totals_are_current: bool
    sample: dict[str, Any] = field(repr=False)

    def read(self) -> Evidence:
        """Return the best evidence that the numbers give, in the order of trust."""
        if "current_usage" not in self.window:
            return self._without_usage()
        reported = self.window["current_usage"]
        if reported is None:  # before the first call, and after /compact until the next one
            return self._not_measured_yet()
        usage = anthropic(reported)
        if isinstance(usage, TokenUsage):
            return self._counted(usage.prompt_tokens, usage)
        return self._faulty(usage)

    def _faulty(self, fault: UsageFault) -> Gap:
        if fault.kind is UsageFaultKind.NOT_REPORTED:  # all zero: right after /compact (2.1.332)
            return self._not_measured_yet()
        return Gap.of_usage(fault)

    def _not_measured_yet(self) -> Gap:
        size = self.window.get("context_window_size")
        known = Partial(limit_tokens=size) if is_limit(size) else None
        return Gap(reason=MissingReason.NOT_MEASURED_YET, partial=known)

    def _counted(self, used: int, usage: TokenUsage | None) -> Evidence:
        """Return the evidence of a *used* count, or what is wrong with the statements beside it."""
        known = Partial(used_tokens=used, measured_at=self.sample["measured_at"])
        stated = self.window.get("context_window_size")
        size = stated if is_limit(stated) else None
        known = evolve(known, limit_tokens=size)
        if not (self._is_percent("used_percentage") and self._is_percent("remaining_percentage")):
            return Gap(reason=MissingReason.PERCENT_INVALID, partial=known)
        total = self.window.get("total_input_tokens") if self.totals_are_current else None
        if total is not None and not is_count(total):
            return Gap(reason=MissingReason.USAGE_INVALID, partial=known)
        counted = {
            **self.sample,
            "usage": usage,
            "used_tokens": used,
            "used_basis": UsedBasis.PROMPT,
            "claims": self._claims(used, size, total),
        }
        if size is None:
            lacks = None if stated is None else MissingReason.LIMIT_INVALID
            return UsedTokens(**counted, limit_missing=lacks)
        return TokenPair(
            **counted,
            limit_tokens=size,
            limit_basis=LimitBasis.WINDOW,
            default_limits=DEFAULT_WINDOWS,
            misstates_limit=misstates_window(self.sample["runtime_version"]),
        )

    def _claims(self, used: int, size: int | None, total: int | None) -> tuple[Claim, ...]:
        """Return what else the payload says of the same count.

        A percentage that is clamped at 100 says nothing: it goes with any use above the size, and
        only the size is refuted by that.
        """
        claims = []
        percent, remaining = self._percent("used_percentage"), self._percent("remaining_percentage")
        is_over = size is not None and used > size
        if percent is not None and not (is_over and percent == 100):
            claims.append(Claim(Quantity.USED_PERCENT, percent, _PERCENT_TOLERANCE))
        if remaining is not None and not (is_over and remaining == 0):
            claims.append(Claim(Quantity.REMAINING_PERCENT, remaining, _PERCENT_TOLERANCE))
        if total is not None:
            claims.append(Claim(Quantity.USED_TOKENS, total))
        return tuple(claims)

    def _without_usage(self) -> Evidence:
        """Return what a payload without a ``current_usage`` key can still show."""
        if not (self._is_percent("used_percentage") and self._is_percent("remaining_percentage")):
            return Gap(reason=MissingReason.PERCENT_INVALID)
        percent = self._percent("used_percentage")
        if percent is None:
            return self._totals_alone()
        total, size = self.window.get("total_input_tokens"), self.window.get("context_window_size")
        if self.totals_are_current and is_count(total) and total > 0 and size is not None:
            return self._counted(total, None)
        if percent == 0:  # zero use is never a measurement: every request has a prompt
            return self._not_measured_yet()
        remaining = self._percent("remaining_percentage")
        claims = (
            ()
            if remaining is None
            else (Claim(Quantity.REMAINING_PERCENT, remaining, _REMAINDER_TOLERANCE),)
        )
        return UsedPercent(**self.sample, used_percent=percent, claims=claims)

    def _totals_alone(self) -> Gap:
        """Name the gap of a payload with neither usage nor percentage (2.0.65 to 2.0.69)."""
        totals = [self.window.get(key) for key in ("total_input_tokens", "total_output_tokens")]
        stated = [total for total in totals if total is not None]
        if not all(map(is_count, stated)):
            return Gap(reason=MissingReason.USAGE_INVALID)
        if stated and not any(stated):
            return self._not_measured_yet()
        if stated and not self.totals_are_current:
            return Gap(reason=MissingReason.CUMULATIVE_ONLY)
        return Gap(reason=MissingReason.USAGE_NOT_REPORTED)

    def _percent(self, key: str) -> float | None:
        value = self.window.get(key)
        return None if value is None else float(value)

    def _is_percent(self, key: str) -> bool:
        value = self.window.get(key)
        return value is None or (type(value) in {int, float} and 0 <= value <= 100)


def _of_task(payload: Mapping[str, Any], query: Query) -> Gap:
    """Return what the ``subagentStatusLine`` payload says of one sub-agent: an estimate.

    The counters of running tasks are the last prompt plus *all* output so far (2.1.178: 7,901 for
    a last request of 7,834), so a task's ``tokenCount`` is not known to be its context.
    """
    tasks = payload.get("tasks")
    if not isinstance(tasks, list):  # the main line's payload says nothing of a sub-agent
        return Gap(reason=MissingReason.SESSION_MISMATCH)
    if query.agent_id is None:  # and the sub-agents' payload says nothing of the main context
        return Gap(reason=MissingReason.USAGE_NOT_REPORTED)
    for task in tasks:
        if isinstance(task, Mapping) and task.get("id") == query.agent_id:
            gap = estimate(task.get("tokenCount"), task.get("contextWindowSize"), query)
            return turn_gap(payload, query) or evolve(gap, model=model_ref(task.get("model")))
    return Gap(reason=MissingReason.SESSION_NOT_FOUND)


def _recognise(payload: Mapping[str, Any]) -> bool:
    """Tell the status line by a key that only Claude Code writes, since 1.0.88."""
    window = payload.get("context_window")
    return (
        "exceeds_200k_tokens" in payload
        and isinstance(window, Mapping)
        and not _is_foreign(payload)
    )


STATUS_LINE = PayloadSource(
    origin=Origin(
        adapter="claude",
        source="claude.status_line",
        method="claude_status_line",
        channel=Channel.HANDED_OVER,
        client="claude",
    ),
    about="The payload of Claude Code's status-line command: usage and window of the main context",
    extract=_extract,
    recognise=_recognise,
)
