"""A curve in characters: rows of text, each with the part that it plays, and no colour.

With Unicode's blocks a character is an eighth of a row exact; without them half a row, and what is
less than that is a line at its bottom. Where a column stands for several points, what lies between
the lowest and the highest of them is shaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

from attrs import frozen

from ..figures import short
from ..history import Mark
from .columns import Column, columns, top
from .curve import Curve, Kind, Unit
from .sentences import count_of

__all__ = ["NARROWEST", "Part", "Row", "plotted"]

NARROWEST = 20
"""Characters; a narrower plot shows nothing."""

_WIDEST_COLUMN = 6  # a short session's steps are no walls
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_SIGNS = {Mark.COMPACTED: "c", Mark.REWOUND: "r", Mark.MODEL_SWITCHED: "m"}
_SEVERAL = "*"
_LANE = {
    Kind.SURE: " ",
    Kind.INFERRED: ".",
    Kind.ROUGH: "~",
    Kind.UNLIMITED: "+",
    Kind.GAP: "?",
}
_TOLD = {
    Kind.INFERRED: "limit looked up or declared",
    Kind.ROUGH: "assumed or estimated",
    Kind.UNLIMITED: "count without a limit",
    Kind.GAP: "missing",
}


class Part(StrEnum):
    """What part a row plays."""

    CURVE = "curve"
    MARKS = "marks"
    LANE = "lane"
    AXIS = "axis"
    LEGEND = "legend"


@frozen
class Row:
    """A row of a plot.

    Attributes:
        part: What part it plays.
        label: What stands before it, on the left.
        text: What it shows.
    """

    part: Part
    label: str
    text: str


@frozen
class _Ink:
    """The characters that a plot is drawn with."""

    full: str
    shaded: str
    limit: str
    side: str
    floor: str

    def partly(self, share: float) -> str:
        """Return the character of a cell of which a *share* is filled."""
        if self.full != _EIGHTHS[-1]:
            return self.full if share >= 0.5 else "_"  # a little is not nothing
        return _EIGHTHS[max(1, min(8, int(share * 8)))]


_BLOCKS = _Ink(full="█", shaded="░", limit="─", side="│", floor="─")
_ASCII = _Ink(full="#", shaded=":", limit="-", side="|", floor="-")


def plotted(curve: Curve, *, width: int, height: int = 12, blocks: bool = True) -> list[Row]:
    """Return the rows of a plot, the uppermost first.

    Args:
        curve: What to plot.
        width: How many characters there are in a row, at least `NARROWEST`.
        height: How many rows the curve itself has.
        blocks: Whether Unicode's blocks and lines can be shown; else ASCII is all that is used.

    Raises:
        ValueError: *width* or *height* is too small.
    """
    if width < NARROWEST:
        raise ValueError(f"width: expected at least {NARROWEST}")
    if height < 1:
        raise ValueError("height: expected at least 1")
    ink = _BLOCKS if blocks else _ASCII
    unit = curve.unit
    whole = top(columns(curve.points, 1, unit))
    labels = _labels(whole, height, unit) if _has_height(curve) else {}
    margin = max(map(len, labels.values()), default=1) + 1
    room = width - margin - 1
    parts = columns(curve.points, room, unit)
    each = max(1, min(_WIDEST_COLUMN, room // len(parts)))
    rows = [
        Row(Part.CURVE, f"{labels.get(number, ''):>{margin - 1}} {ink.side}", line)
        for number, line in _curve(parts, each, height, ink)
    ]
    blank = " " * (margin + 1)
    rows.append(Row(Part.AXIS, f"{'0':>{margin - 1}} {ink.side}", ink.floor * (each * len(parts))))
    rows += _beneath(curve, parts, each, blank)
    return rows


def _has_height(curve: Curve) -> bool:
    return any(point.height(curve.unit) is not None for point in curve.points)


def _labels(whole: float, height: int, unit: Unit) -> dict[int, str]:
    """Return what stands beside the rows, by their number from the bottom."""
    marks = {height - 1: whole, height // 2 - 1: whole * (height // 2) / height}
    spelled = short if unit is Unit.TOKENS else _percent
    return {row: spelled(round(value)) for row, value in marks.items() if row >= 0}


def _percent(value: int) -> str:
    return f"{value}%"


def _curve(parts: Sequence[Column], each: int, height: int, ink: _Ink) -> Iterator[tuple[int, str]]:
    whole = top(parts)
    for number in range(height - 1, -1, -1):
        cells = (_cell(part, number, height / whole, height, ink) for part in parts)
        yield number, "".join(cell * each for cell in cells)


def _cell(part: Column, number: int, scale: float, height: int, ink: _Ink) -> str:
    if part.high is not None and part.low is not None:
        low, high = part.low * scale, part.high * scale
        if low >= number + 1:
            return ink.full
        if high > number:
            is_one = part.low == part.high
            return ink.partly(min(1.0, high - number)) if is_one else ink.shaded
    at_limit = part.limit is not None and min(height - 1, int(part.limit * scale)) == number
    return ink.limit if at_limit else " "


def _beneath(curve: Curve, parts: Sequence[Column], each: int, blank: str) -> Iterator[Row]:
    """Yield what stands beneath the curve: marks, kinds, numbers, and what the signs say."""
    if any(part.marks for part in parts):
        yield Row(Part.MARKS, blank, _spread((_sign(part) for part in parts), each).rstrip())
    lane = _spread((_LANE[part.kind] for part in parts), each, fill=True)
    if lane.strip():
        yield Row(Part.LANE, blank, lane.rstrip())
    last = str(len(curve.points))
    between = each * len(parts) - 1 - len(last)
    yield Row(Part.AXIS, blank, f"1{' ' * between}{last}" if between > 0 else "1")
    legend = "   ".join(_legend(curve))
    if legend:
        yield Row(Part.LEGEND, blank, legend)


def _legend(curve: Curve) -> Iterator[str]:
    """Yield what the signs say that occur."""
    for mark in Mark:
        count = curve.count(mark)
        if count:
            yield f"{_SIGNS[mark]} {count_of(mark, count)}"
    kinds = {point.kind for point in curve.points}
    for kind, words in _TOLD.items():
        if kind in kinds:
            yield f"{_LANE[kind]} {words}"


def _spread(signs: Iterator[str], each: int, *, fill: bool = False) -> str:
    return "".join(sign * each if fill else sign.ljust(each) for sign in signs)


def _sign(part: Column) -> str:
    if len(part.marks) > 1:
        return _SEVERAL
    return next((_SIGNS[mark] for mark in part.marks), " ")
