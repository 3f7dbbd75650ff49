"""A curve as an SVG element: steps, gaps, limits, marks and kinds, without a colour or a script.

A sample holds until the next one, so the curve is made of steps; where there is no value nothing is
drawn but a hatching that says so. Colours are the page's: every element names its class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from html import escape
from itertools import groupby
from math import ceil, log10

from ..figures import short
from ..history import Mark
from .columns import Column, columns, runs, top
from .curve import Curve, Kind, Unit

__all__ = ["COLUMNS", "HEIGHT", "LEFT", "WIDTH", "chart", "said"]

WIDTH, HEIGHT = 1000, 340
LEFT, RIGHT = 56, 988
_ABOVE, _BELOW = 34, 266
_LANE_AT, _LANE_HEIGHT = 274, 9
_NUMBERS_AT, _TIMES_AT = 302, 320

COLUMNS = RIGHT - LEFT
"""How many columns a chart has at most: one per unit of its width."""

_TICKS = 6
_SHAPES = {
    Mark.COMPACTED: "M{x} 30l-6 -10h12z",
    Mark.REWOUND: "M{x} 30l-6 -5l6 -5l6 5z",
    Mark.MODEL_SWITCHED: "M{left} 20h10v10h-10z",
}
_HAPPENED = {
    Mark.COMPACTED: "compaction",
    Mark.REWOUND: "rewind",
    Mark.MODEL_SWITCHED: "model switch",
}


def said(mark: Mark, count: int = 1) -> str:
    """Return what has happened in words: ``1 compaction``, ``2 model switches``."""
    word = _HAPPENED[mark]
    plural = "es" if word.endswith("ch") else "s"
    return f"{count:,} {word}{'' if count == 1 else plural}"


def chart(curve: Curve, *, summary: str) -> str:
    """Return the drawing of *curve*; *summary* is what it says to those who cannot see it."""
    unit = curve.unit
    parts = columns(curve.points, COLUMNS, unit)
    scale = _Scale(len(parts), _rounded(top(parts), unit))
    inner = [
        f'<title id="chart-title">{escape(_title(unit))}</title>',
        f'<desc id="chart-summary">{escape(summary)}</desc>',
        _HATCHING,
        *_grid(scale, unit),
        *_gaps(parts, scale),
        *_areas(parts, scale),
        *_limits(parts, scale),
        *_lane(parts, scale),
        *_numbers(curve, parts, scale),
        *_marks(parts, scale),
        f'<line id="pointer" class="pointer" x1="0" x2="0" y1="{_ABOVE}" y2="{_BELOW}"/>',
    ]
    return (
        f'<svg id="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'aria-labelledby="chart-title" aria-describedby="chart-summary" '
        f'data-left="{LEFT}" data-right="{RIGHT}">{"".join(inner)}</svg>'
    )


def _title(unit: Unit) -> str:
    what = "Tokens in use" if unit is Unit.TOKENS else "Share of the context in use"
    return f"{what}, response by response"


_HATCHING = (
    '<defs><pattern id="hatching" width="6" height="6" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><line class="hatch" x1="0" x2="0" y1="0" y2="6"/></pattern></defs>'
)


class _Scale:
    """Where columns and heights lie in the drawing.

    Args:
        count: How many columns there are.
        whole: The height at the upper edge.
    """

    def __init__(self, count: int, whole: float) -> None:
        self.whole = whole
        self._width = COLUMNS / count

    def x(self, number: int) -> str:
        """Return where a column begins."""
        return _short(LEFT + number * self._width)

    def y(self, height: float) -> str:
        """Return where a height lies."""
        return _short(_BELOW - (_BELOW - _ABOVE) * height / self.whole)

    def width(self, count: int) -> str:
        """Return how wide *count* columns are."""
        return _short(count * self._width)


def _short(length: float) -> str:
    return f"{length:.1f}".removesuffix(".0")


# -- axes -----------------------------------------------------------------------------------------


def _rounded(highest: float, unit: Unit) -> float:
    """Return a round number that is not below *highest*, a little above a limit."""
    if unit is Unit.PERCENT:
        return max(100.0, ceil(highest / 25) * 25)
    step = 10 ** int(log10(highest)) / 4
    return ceil(highest / step) * step


def _grid(scale: _Scale, unit: Unit) -> Iterator[str]:
    spelled: Callable[[int], str] = short if unit is Unit.TOKENS else "{}%".format
    for quarter in range(5):
        height = scale.whole * quarter / 4
        y = scale.y(height)
        yield f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y}" y2="{y}"/>'
        text = spelled(round(height))
        yield f'<text class="tick" x="{LEFT - 8}" y="{y}" text-anchor="end" dy="4">{text}</text>'


def _numbers(curve: Curve, parts: Sequence[Column], scale: _Scale) -> Iterator[str]:
    """Yield numbers of responses below the curve, and the times where they are known."""
    shown = min(_TICKS, len(parts))
    for tick in range(shown):
        number = tick * len(parts) // shown
        first = parts[number].first
        x = scale.x(number)
        yield f'<text class="tick" x="{x}" y="{_NUMBERS_AT}">{first:,}</text>'
        at = curve.points[first - 1].measured_at
        if at is not None:
            yield f'<text class="tick faint" x="{x}" y="{_TIMES_AT}">{_clock(at)}</text>'


def _clock(at: datetime) -> str:
    return f"{at:%b} {at.day} {at:%H:%M}"


# -- the curve ------------------------------------------------------------------------------------


def _gaps(parts: Sequence[Column], scale: _Scale) -> Iterator[str]:
    for has_value, start, stop in runs(parts):
        if not has_value:
            yield (
                f'<rect class="missing" x="{scale.x(start)}" y="{_ABOVE}" '
                f'width="{scale.width(stop - start)}" height="{_BELOW - _ABOVE}" '
                'fill="url(#hatching)"/>'
            )


def _areas(parts: Sequence[Column], scale: _Scale) -> Iterator[str]:
    for has_value, start, stop in runs(parts):
        if not has_value:
            continue
        highest = [part.high or 0 for part in parts[start:stop]]
        lowest = [part.low or 0 for part in parts[start:stop]]
        if highest != lowest:
            yield f'<path class="between" d="{_area(highest, start, scale)}"/>'
        yield f'<path class="area" d="{_area(lowest, start, scale)}"/>'
        yield f'<path class="curve" d="{_steps(highest, start, scale)}"/>'


def _area(heights: Sequence[float], start: int, scale: _Scale) -> str:
    return f"{_steps(heights, start, scale)}V{_BELOW}H{scale.x(start)}z"


def _steps(heights: Sequence[float], start: int, scale: _Scale) -> str:
    """Return a path of steps; equal neighbours are one step."""
    path, number = [], start
    for height, group in groupby(heights):
        y = scale.y(height)
        path.append(f"V{y}" if path else f"M{scale.x(start)} {y}")
        number += sum(1 for _ in group)
        path.append(f"H{scale.x(number)}")
    return "".join(path)


def _limits(parts: Sequence[Column], scale: _Scale) -> Iterator[str]:
    number = 0
    for limit, group in groupby(part.limit for part in parts):
        start, number = number, number + sum(1 for _ in group)
        if limit is not None:
            y = scale.y(limit)
            yield f'<path class="limit" d="M{scale.x(start)} {y}H{scale.x(number)}"/>'


def _lane(parts: Sequence[Column], scale: _Scale) -> Iterator[str]:
    """Yield a strip that says how much each column can be believed."""
    number = 0
    for kind, group in groupby(part.kind for part in parts):
        start, number = number, number + sum(1 for _ in group)
        fill = ' fill="url(#hatching)"' if kind is Kind.GAP else ""
        yield (
            f'<rect class="lane {kind.value}" x="{scale.x(start)}" y="{_LANE_AT}" '
            f'width="{scale.width(number - start)}" height="{_LANE_HEIGHT}"{fill}/>'
        )


def _marks(parts: Sequence[Column], scale: _Scale) -> Iterator[str]:
    for number, part in enumerate(parts):
        for mark in Mark:
            count = part.marks[mark]
            if not count:
                continue
            x = scale.x(number)
            shape = _SHAPES[mark].format(x=x, left=_short(float(x) - 5))
            where = f"at {part.first:,}" if part.first == part.last else f"from {part.first:,} on"
            yield (
                f'<g class="mark {mark.value}" data-number="{part.first}" data-x="{x}">'
                f"<title>{said(mark, count)} {where}</title>"
                f'<path class="stem" d="M{x} 30V{_BELOW}"/><path d="{shape}"/></g>'
            )
