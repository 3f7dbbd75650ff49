"""What a curve says in words, for those who read and do not look."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from ..history import Mark
from ..observation import Observation
from ..render import grade, summary
from .curve import Curve, Unit

__all__ = ["count_of", "headline", "line", "moment", "numbers", "sentences", "tick", "word"]

_MOST_SPANS = 8  # a line of them
_HAPPENED = {
    Mark.COMPACTED: ("compaction", "compactions"),
    Mark.REWOUND: ("rewind", "rewinds"),
    Mark.MODEL_SWITCHED: ("model switch", "model switches"),
}


def word(mark: Mark, count: int = 1) -> str:
    """Return the word for what has happened: ``compaction``, ``model switches``."""
    return _HAPPENED[mark][count != 1]


def count_of(mark: Mark, count: int) -> str:
    """Return how often something has happened: ``1 compaction``, ``2 model switches``."""
    return f"{count:,} {word(mark, count)}"


def line(observation: Observation) -> str:
    """Return an observation and its grade: ``45% (90K/200K) (exact)``, ``missing: compacted``."""
    told, graded = summary(observation).removeprefix("Context: "), grade(observation)
    return f"{told} ({graded})" if told else graded


def moment(at: datetime | None) -> str:
    """Return a moment in UTC to the second, or nothing where there is none."""
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S} UTC"


def numbers(first: int, last: int) -> str:
    """Return a span of numbers: ``4``, ``4 to 7``."""
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"


def tick(height: float, unit: Unit) -> str:
    """Return what stands beside a line of a grid: exact, where a short count would be rounded."""
    if unit is Unit.PERCENT:
        return f"{height:g}%"
    for size, letter in ((1_000_000, "M"), (1_000, "K")):
        if height >= size:
            return f"{height / size:g}{letter}"
    return f"{height:g}"


def headline(curve: Curve) -> str:
    """Return in a few sentences what the curve shows."""
    return " ".join(_headline(curve))


def _headline(curve: Curve) -> Iterator[str]:
    count = len(curve.points)
    yield f"{count:,} {'moment' if count == 1 else 'moments'} of the session."
    if curve.peak is not None:
        yield f"At its end: {line(curve.last)}."
        yield f"The fullest: {line(curve.peak)}, at moment {curve.peak_number:,}."
    elif any(point.height(curve.unit) is not None for point in curve.points):
        yield f"No limit is known. At its end: {line(curve.last)}."
    else:
        yield f"Nothing was measured: {line(curve.last).removeprefix('missing: ')}."
    happened = [count_of(mark, often) for mark in Mark if (often := curve.count(mark))]
    if happened:
        yield f"What happened: {', '.join(happened)}."


def sentences(curve: Curve) -> Iterator[str]:
    """Yield the lines that stand beneath a plot."""
    yield headline(curve)
    if curve.period is not None:
        began, ended = curve.period
        yield f"From {moment(began)} to {moment(ended)}, read by {curve.source}."
    missing: dict[str, list[str]] = {}
    for span in curve.missing:
        missing.setdefault(span.reason.value, []).append(numbers(span.first, span.last))
    for reason, spans in missing.items():
        more = len(spans) - _MOST_SPANS
        told = ", ".join(spans[:_MOST_SPANS]) + (f" and {more:,} more" if more > 0 else "")
        yield f"No measurement at {told}: {reason}."
