"""Numbers and names as people read them: token counts, shares, the line that holds both.

`observation` and `render` say the same numbers in the same way, so the way is written here once.
May import `measurement`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from .measurement import Measurement, PercentMeasurement

__all__ = ["Rounding", "context_line", "decimal", "percent", "plain", "short", "thousands"]

Rounding: TypeAlias = Literal["round", "floor"]
"""What becomes of a percentage's further digits: rounded half up, or cut off."""


def thousands(tokens: int) -> str:
    """Return a count in thousands, rounded half up: ``0K``, ``90K``, ``1050K``."""
    return f"{(tokens + 500) // 1_000}K"


def short(tokens: int) -> str:
    """Return a count in at most four digits and a unit: ``950``, ``90K``, ``1M``, ``1.05M``."""
    if tokens < 1_000:
        return str(tokens)
    if tokens < 999_500:
        return thousands(tokens)
    hundredths = (tokens + 5_000) // 10_000
    fraction = f".{hundredths % 100:02}".rstrip("0").rstrip(".")
    return f"{hundredths // 100}{fraction}M"


def percent(value: Measurement, rounding: Rounding = "round", *, decimals: int = 1) -> str:
    """Return the share with a ``%``; one of counts is always whole, whatever the *decimals*."""
    if isinstance(value, PercentMeasurement):
        return decimal(value.used_percent, rounding, decimals=decimals)
    halves = value.limit_tokens if rounding == "round" else 0
    return f"{(200 * value.used_tokens + halves) // (2 * value.limit_tokens)}%"


def decimal(share: float, rounding: Rounding = "round", *, decimals: int = 1) -> str:
    """Return a percentage with a ``%`` and at most *decimals* digits behind the point."""
    from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal  # noqa: PLC0415 - for percentages only

    # People read the decimal digits: as binary fractions, some halves lie below the half.
    last_digit = Decimal(1).scaleb(-decimals)
    way = ROUND_HALF_UP if rounding == "round" else ROUND_FLOOR
    return f"{str(Decimal(repr(share)).quantize(last_digit, way)).removesuffix('.0')}%"


def context_line(
    value: Measurement,
    *,
    is_rough: bool,
    is_assumed: bool,
    count: Callable[[int], str] = short,
    rounding: Rounding = "round",
    decimals: int = 1,
) -> str:
    """Return a measurement as ``Context: 45% (90K/200K)`` or ``Context: 63.5%``.

    Args:
        value: The measurement.
        is_rough: It rests on an assumption or an estimate: a ``~`` says so.
        is_assumed: Its limit is an assumed default: a word beside the limit says so.
        count: How counts are written.
        rounding: What becomes of a percentage's further digits.
        decimals: How many digits a percentage without counts has behind the point.
    """
    share = f"Context: {'~' if is_rough else ''}{percent(value, rounding, decimals=decimals)}"
    if isinstance(value, PercentMeasurement):
        return share
    assumed = " assumed" if is_assumed else ""
    return f"{share} ({count(value.used_tokens)}/{count(value.limit_tokens)}{assumed})"


def plain(text: str) -> str:
    """Return *text* with all that could command a terminal or break the line replaced."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)
