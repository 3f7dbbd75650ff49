"""A curve as an SVG element: steps, gaps, limits, marks and kinds, without a colour or a script.

A sample holds until the next one, so the curve is made of steps; where there is no value nothing is
drawn but a hatching that says so. Colours are the page's: every element names its class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from html import escape
from itertools import groupby
from math import ceil, floor, log10

from ..history import Mark
from .columns import Column, columns, runs, top
from .curve import Curve, Kind, Unit
from .sentences import count_of, tick

__all__ = ["COLUMNS", "HEIGHT", "LEFT", "WIDTH", "chart"]

WIDTH, HEIGHT = 1000, 354
LEFT, RIGHT = 56, 988
_ABOVE, _BELOW = 48, 280
_LANE_AT, _LANE_HEIGHT = 288, 9
_NUMBERS_AT, _TIMES_AT = 316, 334

COLUMNS = RIGHT - LEFT
"""How many columns a chart has at most: one per unit of its width."""

_TICKS = 6
_MARK_AT, _MARK_STEP = 44, 14  # marks of one column stand on top of each other
_SHAPES = {
    Mark.COMPACTED: "M{x} {y}l-6 -10h12z",
    Mark.REWOUND: "M{x} {y}l-6 -5l6 -5l6 5z",
    Mark.MODEL_SWITCHED: "M{x} {y}h-5v-10h10v10z",
}


def chart(curve: Curve, *, summary: str) -> str:
    """Return the drawing of *curve*; *summary* is what it says to those who cannot see it."""
    unit = curve.unit
    parts = columns(curve.points, COLUMNS, unit)
    scale = _Scale(len(parts), top(parts))
    inner = [
        f'<title id="chart-title">{escape(_title(unit))}</title>',
        f'<desc id="chart-summary">{escape(summary)}</desc>',
        _HATCHING,
        *_gaps(parts, scale),
        *_grid(parts, scale, unit),
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
    'patternTransform="rotate(45)"><line class="hatch" x1="0" x2="0" y1="0" y2="6"/></pattern>'
    "</defs>"
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


def _step(highest: float) -> float:
    """Return the distance between lines of the grid: a round number, four to seven times in it."""
    power: float = 10 ** floor(log10(highest / 4))
    return max(power * factor for factor in (1, 2, 2.5, 5) if power * factor <= highest / 4)


def _grid(parts: Sequence[Column], scale: _Scale, unit: Unit) -> Iterator[str]:
    if all(part.high is None for part in parts):
        yield (
            f'<text class="nothing" x="{(LEFT + RIGHT) / 2:g}" y="{(_ABOVE + _BELOW) / 2:g}" '
            'text-anchor="middle">Nothing was measured.</text>'
        )
        return
    step = _step(scale.whole)
    for number in range(int(scale.whole / step) + 1):
        y = scale.y(number * step)
        yield f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y}" y2="{y}"/>'
        text = tick(number * step, unit)
        yield f'<text class="tick" x="{LEFT - 8}" y="{y}" text-anchor="end" dy="4">{text}</text>'


def _numbers(curve: Curve, parts: Sequence[Column], scale: _Scale) -> Iterator[str]:
    """Yield numbers of responses below the curve, and the times where they are known."""
    for number in range(0, len(parts), ceil(len(parts) / _TICKS)):
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
    path: list[str] = []
    number = start
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
        base = _MARK_AT
        for mark in Mark:
            count = part.marks[mark]
            if not count:
                continue
            x = scale.x(number)
            shape = _SHAPES[mark].format(x=x, y=base)
            where = f"at {part.first:,}" if part.first == part.last else f"from {part.first:,} on"
            yield (
                f'<g class="mark {mark.value}" data-number="{part.first}" data-x="{x}">'
                f"<title>{count_of(mark, count)} {where}</title>"
                f'<path class="stem" d="M{x} {base}V{_BELOW}"/><path d="{shape}"/></g>'
            )
            base -= _MARK_STEP
