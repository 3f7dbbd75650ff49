"""A measurement as people read it: its share, and the line that holds share and counts.

`observation` and `render` say the same measurement in the same way, so the way is written here
once, in the digits of `figures`. May import those and `measurement`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from .figures import context, decimal, short, whole_percent
from .measurement import Measurement, PercentMeasurement

__all__ = ["Rounding", "context_line", "share"]

Rounding: TypeAlias = Literal["round", "floor"]
"""What becomes of a percentage's further digits: rounded half up, or cut off."""


def share(value: Measurement, rounding: Rounding = "round", *, decimals: int = 1) -> str:
    """Return the share with a ``%``; one of counts is always whole, whatever the *decimals*."""
    floor = rounding == "floor"
    if isinstance(value, PercentMeasurement):
        return decimal(value.used_percent, decimals=decimals, floor=floor)
    return whole_percent(value.used_tokens, value.limit_tokens, floor=floor)


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
    told = f"{'~' if is_rough else ''}{share(value, rounding, decimals=decimals)}"
    if isinstance(value, PercentMeasurement):
        return context(told)
    assumed = " assumed" if is_assumed else ""
    return context(told, f"{count(value.used_tokens)}/{count(value.limit_tokens)}{assumed}")
