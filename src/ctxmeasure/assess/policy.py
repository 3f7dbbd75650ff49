"""What a caller accepts as a measurement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeAlias

from attrs import Attribute, field, frozen

from ..capability.model import ModelRef

__all__ = ["DEFAULT_POLICY", "RUNNER_DEFAULTS", "Counts", "Policy", "Resolver"]

Resolver: TypeAlias = Callable[[ModelRef], int | None]
"""Returns the window of a model in tokens, or None if it does not know."""


class Counts(StrEnum):
    """Which tokens to count."""

    OWN = "own"
    """What each agent's own meter counts."""
    PROMPT = "prompt"
    """The prompt of the last request, for all agents alike."""


def _counts(counts: Counts | str) -> Counts:
    try:
        return Counts(counts)
    except ValueError:
        raise ValueError("counts: expected own or prompt") from None


def _age(_: object, __: Attribute[timedelta | None], age: timedelta | None) -> None:
    if age is None:
        return
    if not isinstance(age, timedelta):
        raise TypeError("max_age: expected a timedelta")
    if age < timedelta(0):
        raise ValueError("max_age: expected no negative duration")


def _yes_or_no(_: object, attribute: Attribute[bool], answer: bool) -> None:
    if not isinstance(answer, bool):
        raise TypeError(f"{attribute.name}: expected a bool")


def _frozen_limits(limits: Mapping[str, int]) -> Mapping[str, int]:
    if not isinstance(limits, Mapping):
        raise TypeError("assume_limits: expected a mapping")
    return MappingProxyType(dict(limits))


def _limits(_: object, __: Attribute[Mapping[Any, Any]], limits: Mapping[Any, Any]) -> None:
    for adapter, limit in limits.items():
        if not isinstance(adapter, str) or type(limit) is not int:
            raise TypeError("assume_limits: expected ints by name of an adapter")
        if limit < 1:
            raise ValueError("assume_limits: expected at least 1 token")


def _resolver(_: object, __: Attribute[Resolver | None], resolver: Resolver | None) -> None:
    if resolver is not None and not callable(resolver):
        raise TypeError("resolver: expected a callable")


@frozen(kw_only=True)
class Policy:
    """What the caller accepts.

    Attributes:
        counts: Which tokens to count.
        max_age: How old a sample may be; None leaves it to the phase (30 s while a turn is active,
            any age otherwise).
        accept_estimates: Accept counts that the runtime estimated (graded inferred and low).
        assume_limits: A default limit in tokens per adapter, used when nothing better is known
            (graded inferred and low, and visible as assumed in every rendering). Empty: never.
        resolver: Asked for the window of a model that the table does not decide; returns tokens,
            or None. Graded inferred and medium. What it raises is raised.

    Raises:
        TypeError: An argument has the wrong type (the message names it).
        ValueError: A limit is below 1, or *max_age* is negative.
    """

    counts: Counts = field(default=Counts.OWN, converter=_counts)
    max_age: timedelta | None = field(default=None, validator=_age)
    accept_estimates: bool = field(default=False, validator=_yes_or_no)
    assume_limits: Mapping[str, int] = field(
        factory=dict, converter=_frozen_limits, validator=_limits
    )
    resolver: Resolver | None = field(default=None, validator=_resolver)

    def resolved(self, model: ModelRef) -> int | None:
        """Return the window that the caller's resolver gives *model*, or None without one.

        Raises:
            TypeError: The resolver returned something else than an int or None.
            ValueError: The resolver returned a window below 1 token.
        """
        window = None if self.resolver is None else self.resolver(model)
        if window is None:
            return None
        if type(window) is not int:
            raise TypeError("resolver: expected it to return an int or None")
        if window < 1:
            raise ValueError("resolver: expected it to return at least 1 token")
        return window


DEFAULT_POLICY = Policy()
"""Each agent's own meter, no estimates, nothing assumed."""

RUNNER_DEFAULTS: Mapping[str, int] = MappingProxyType({"claude": 200_000, "pi": 200_000})
"""The limits that Ralph assumes, in tokens by adapter, for ``Policy(assume_limits=...)``.

Nothing takes them by itself. Most current models have a larger window, so they stand in only where
nothing better is known, and every rendering says that the limit is assumed. Source: Ralph 2.10.1,
``resolve_context_window`` (formats/pi_ralph.md §7).
"""
