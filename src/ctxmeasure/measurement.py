"""The two shapes of a reading: a token measurement or a percentage measurement.

The shapes exclude each other. A percentage never grows tokens, because the denominator is not
known; a token pair is never reduced to a percentage, because the counts would be lost. This room
imports nothing of ours; every other room builds on it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeAlias

from attrs import Attribute, field, frozen

__all__ = ["Measurement", "PercentMeasurement", "TokenMeasurement", "utc_milliseconds"]


def utc_milliseconds(moment: datetime, argument: str = "measured_at") -> datetime:
    """Return *moment* in UTC, cut to whole milliseconds.

    The wire form carries exactly three decimals, so a measurement holds no more than that: this is
    what makes the round trip lossless.

    Args:
        moment: An aware datetime.
        argument: The name under which the caller knows *moment*, for the messages.

    Raises:
        TypeError: *moment* is not a datetime.
        ValueError: *moment* has no time zone, or lies outside the years 1..9999 in UTC.
    """
    if not isinstance(moment, datetime):
        raise TypeError(f"{argument}: expected a datetime")
    # A tzinfo that answers None is naive all the same; astimezone would take it for local time.
    if moment.utcoffset() is None:
        raise ValueError(f"{argument}: expected an aware datetime (with a time zone)")
    if moment.tzinfo is not UTC:
        try:
            moment = moment.astimezone(UTC)
        except OverflowError:
            raise ValueError(f"{argument}: expected a year between 1 and 9999 in UTC") from None
    # Most agents write milliseconds: what needs no cut is not built again (1 of 2 us).
    finer = moment.microsecond % 1000
    return moment.replace(microsecond=moment.microsecond - finer) if finer else moment


_Check: TypeAlias = Callable[[Any, "Attribute[Any]", Any], None]


def count(minimum: int) -> _Check:
    """Return an attrs validator for an int of at least *minimum*."""

    def check(_: object, attribute: Attribute[Any], value: object) -> None:
        # bool is an int in Python, but True tokens is a mistake.
        if type(value) is not int:
            raise TypeError(f"{attribute.name}: expected an int")
        if value < minimum:
            raise ValueError(f"{attribute.name}: expected at least {minimum}")

    return check


def percentage(_: object, attribute: Attribute[Any], value: object) -> None:
    """Check, as an attrs validator, that *value* is a percentage between 0 and 100."""
    if type(value) not in (int, float):
        raise TypeError(f"{attribute.name}: expected a number")
    if not 0 <= value <= 100:  # type: ignore[operator] # a number, see above; NaN fails too
        raise ValueError(f"{attribute.name}: expected a percentage between 0 and 100")


def as_percentage(value: float) -> float:
    """Return an int or float between 0 and 100 as a float, all else as it is for `percentage`."""
    if type(value) in (int, float) and 0 <= value <= 100:
        return value + 0.0  # -0.0 becomes 0.0
    return value


def _method(_: object, attribute: Attribute[Any], value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{attribute.name}: expected a str")
    if not value:
        raise ValueError(f"{attribute.name}: expected a method name")


@frozen(kw_only=True)
class TokenMeasurement:
    """Tokens in use against a limit, at one moment, by one method.

    ``used_tokens > limit_tokens`` is legal: runtimes do overflow their window. Whether an overflow
    is real or a contradiction is the judge's decision, not this type's.

    Attributes:
        used_tokens: Tokens in the context, at least 0. What counts is stated by the observation's
            ``provenance.used_basis``.
        limit_tokens: The limit they are measured against, in tokens, at least 1. Which limit it is
            (window, effective window, input budget, ...) is stated by ``provenance.limit_basis``.
        measured_at: When the runtime took the sample; aware, UTC, whole milliseconds.
        method: The name of the way the numbers were obtained, such as
            ``claude_transcript_usage_model_capability``.

    Raises:
        TypeError: An argument has the wrong type (the message names it).
        ValueError: An argument is out of range or *measured_at* has no time zone.
    """

    used_tokens: int = field(validator=count(0))
    limit_tokens: int = field(validator=count(1))
    measured_at: datetime = field(converter=utc_milliseconds)
    method: str = field(validator=_method)

    @property
    def remaining_tokens(self) -> int:
        """Tokens left below the limit; 0 when the limit is overrun."""
        return max(0, self.limit_tokens - self.used_tokens)

    @property
    def used_percent(self) -> float:
        """Used tokens as a percentage of the limit; over 100 when the limit is overrun."""
        return 100 * self.used_tokens / self.limit_tokens


@frozen(kw_only=True)
class PercentMeasurement:
    """A share of the context window in use, where the runtime states no token counts we can trust.

    Attributes:
        used_percent: Percentage in use, 0..100.
        measured_at: When the runtime took the sample; aware, UTC, whole milliseconds.
        method: The name of the way the number was obtained.

    Raises:
        TypeError: An argument has the wrong type (the message names it).
        ValueError: *used_percent* is outside 0..100 or *measured_at* has no time zone.
    """

    used_percent: float = field(validator=percentage, converter=as_percentage)
    measured_at: datetime = field(converter=utc_milliseconds)
    method: str = field(validator=_method)

    @property
    def remaining_percent(self) -> float:
        """Percentage left, never below 0."""
        return max(0.0, 100.0 - self.used_percent)


Measurement: TypeAlias = TokenMeasurement | PercentMeasurement
"""What an observation holds: exactly one of the two shapes."""
