"""A curve as a PNG or SVG picture, drawn by matplotlib (the extra ``plot``), without a screen.

The same columns, gaps and marks as on the page. Nothing but the drawing is in the file: no date,
no name of a program, no path.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from itertools import groupby
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..history import Mark
from .columns import Column, columns, runs, top
from .curve import Curve, Unit
from .sentences import tick, word

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Format", "picture"]

Format: TypeAlias = Literal["png", "svg"]
"""What a picture can be."""

_COLUMNS = 1_200
_INCHES = (12, 4.5)
_CURVE, _AREA, _BETWEEN, _LIMIT, _GAP = "#1f6fd1", "#8fbdf0", "#cfe2f8", "#8a3b12", "#9aa1ae"
_MARKS = {
    Mark.COMPACTED: ("v", "#a8410b"),
    Mark.REWOUND: ("D", "#6a3fb5"),
    Mark.MODEL_SWITCHED: ("s", "#0b7a5b"),
}
_UNLISTED = "_"  # what begins so is not in the legend
_NO_DATE = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}


def picture(curve: Curve, form: Format) -> bytes:
    """Return a picture of *curve*.

    Args:
        curve: The session's curve.
        form: What the picture is to be.

    Raises:
        ModuleNotFoundError: matplotlib is not installed.
    """
    import matplotlib as mpl  # noqa: PLC0415 - half a second, for pictures only
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - as above
    from matplotlib.figure import Figure  # noqa: PLC0415 - as above

    # What draws the same twice: ids from a fixed salt, and text as text.
    with mpl.rc_context({"svg.hashsalt": "ctxmeasure", "svg.fonttype": "none"}):
        figure = Figure(figsize=_INCHES, layout="constrained")
        FigureCanvasAgg(figure)
        _draw(figure.subplots(), curve)
        drawn = BytesIO()
        figure.savefig(drawn, format=form, dpi=120, metadata=_NO_DATE[form])
    return drawn.getvalue()


def _draw(axes: Axes, curve: Curve) -> None:
    unit = curve.unit
    parts = columns(curve.points, _COLUMNS, unit)
    edges = [part.first for part in parts] + [len(curve.points) + 1]
    whole = top(parts)
    _draw_curve(axes, parts, edges)
    _draw_limits(axes, parts, edges)
    _draw_marks(axes, parts, whole)
    axes.set_xlim(1, len(curve.points) + 1)
    axes.set_ylim(0, whole * 1.12)
    axes.locator_params("x", integer=True, prune="upper")  # no number behind the last
    axes.set_xlabel("moment of the session")
    axes.set_ylabel("tokens in use" if unit is Unit.TOKENS else "percent in use")
    axes.yaxis.set_major_formatter(lambda value, _: tick(value, unit))
    axes.spines[["top", "right"]].set_visible(False)
    axes.figure.legend(loc="outside upper left", ncols=6, frameon=False)


def _draw_curve(axes: Axes, parts: Sequence[Column], edges: Sequence[int]) -> None:
    """Draw steps where there are values, and a hatching where there are none."""
    curve, missing = "in use", "missing"
    for has_value, start, stop in runs(parts):
        between = edges[start : stop + 1]
        if not has_value:
            span = axes.axvspan(between[0], between[-1], facecolor="none", lw=0, label=missing)
            span.set(edgecolor=_GAP, hatch="///")
            missing = _UNLISTED
            continue
        low = [part.low or 0 for part in parts[start:stop]]
        high = [part.high or 0 for part in parts[start:stop]]
        axes.stairs(high, between, fill=True, color=_BETWEEN)
        axes.stairs(low, between, fill=True, color=_AREA)
        axes.stairs(high, between, baseline=None, color=_CURVE, lw=1.2, label=curve)
        curve = _UNLISTED


def _draw_limits(axes: Axes, parts: Sequence[Column], edges: Sequence[int]) -> None:
    number, label = 0, "limit"
    for limit, group in groupby(part.limit for part in parts):
        start, number = number, number + sum(1 for _ in group)
        if limit is not None:
            axes.hlines(limit, edges[start], edges[number], _LIMIT, "dashed", label=label)
            label = _UNLISTED


def _draw_marks(axes: Axes, parts: Sequence[Column], whole: float) -> None:
    for row, mark in enumerate(Mark):
        marked = [part for part in parts if part.marks[mark]]
        if marked:
            shape, colour = _MARKS[mark]
            numbers = [part.first for part in marked]
            heights = [whole * (1.03 + 0.03 * row)] * len(marked)
            axes.plot(numbers, heights, shape, color=colour, ms=5, label=word(mark))
