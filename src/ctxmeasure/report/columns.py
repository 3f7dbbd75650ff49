"""A curve in as many columns as a drawing has room for, with nothing averaged.

A column that stands for several points has the lowest and the highest of their values, every
mark, and the least sure of their kinds: what a single point shows is still seen, wherever it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise

from attrs import frozen

from ..history import Mark
from .curve import Kind, Point, Unit

__all__ = ["Column", "columns", "runs", "top"]

_DOUBT = {kind: doubt for doubt, kind in enumerate(Kind)}


@frozen(kw_only=True)
class Column:
    """One column of a drawing.

    Attributes:
        first: The number of its first point, counted from 1.
        last: The number of its last point.
        low: The lowest value, or None where no point has one.
        high: The highest value, or None.
        limit: The highest limit, or None where no point has one.
        kind: The least sure kind of its points.
        marks: What has happened, and how often.
    """

    first: int
    last: int
    low: float | None
    high: float | None
    limit: float | None
    kind: Kind
    marks: Counter[Mark]


def columns(points: Sequence[Point], width: int, unit: Unit) -> list[Column]:
    """Return *points*, at least one, in at most *width* columns.

    Raises:
        ValueError: *width* is below 1.
    """
    if width < 1:
        raise ValueError("width: expected at least 1")
    count = len(points)
    shown = min(count, width)
    edges = [number * count // shown for number in range(shown + 1)]
    return [_column(points[start:stop], start + 1, unit) for start, stop in pairwise(edges)]


def _column(points: Sequence[Point], first: int, unit: Unit) -> Column:
    heights = [height for point in points if (height := point.height(unit)) is not None]
    limits = [limit for point in points if (limit := point.limit(unit)) is not None]
    marks: Counter[Mark] = Counter()
    for point in points:
        marks.update(point.marks)
    return Column(
        first=first,
        last=first + len(points) - 1,
        low=min(heights, default=None),
        high=max(heights, default=None),
        limit=max(limits, default=None),
        kind=max((point.kind for point in points), key=_DOUBT.__getitem__),
        marks=marks,
    )


def runs(parts: Sequence[Column]) -> list[tuple[bool, int, int]]:
    """Return where columns have values and where not: whether, the first and behind the last."""
    found, start = [], 0
    for has_value, group in groupby(parts, key=lambda part: part.high is not None):
        stop = start + sum(1 for _ in group)
        found.append((has_value, start, stop))
        start = stop
    return found


def top(parts: Sequence[Column]) -> float:
    """Return the height of the whole drawing: of the highest value and of every limit."""
    heights = [height for part in parts for height in (part.high, part.limit) if height]
    return max(heights, default=1.0)
