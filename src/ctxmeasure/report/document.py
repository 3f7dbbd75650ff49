"""The report of a session: one page that stands alone and can be read without a network.

The drawing, the sums and the spans without a measurement are in the page itself; a script of the
page's own fills the table of all responses, a screenful at a time, and moves the pointer over the
curve. A policy in the page allows that style and that script, by their digests, and nothing else.
What a session says of itself is escaped, wherever it stands.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cache
from hashlib import sha256
from html import escape
from importlib import resources
from itertools import groupby, pairwise
from string import Template
from typing import Any

from ..history import Mark
from .chart import chart
from .curve import Curve, Kind, Point, Unit
from .sentences import headline, line, moment, numbers, word

__all__ = ["MOST_ROWS", "page"]

MOST_ROWS = 100_000
"""Rows of the table: they take about 1 MB. Of a session with more of them the newest are listed."""

_MOST_SPANS = 500  # a row of the list is about 200 bytes
_KINDS = {
    Kind.SURE: "the agent's own numbers",
    Kind.INFERRED: "the limit was looked up or declared",
    Kind.ROUGH: "a limit is assumed, or a number estimated",
    Kind.UNLIMITED: "a count without a limit",
    Kind.GAP: "missing",
}


def page(curve: Curve, *, at: datetime) -> str:
    """Return the page on *curve* as HTML.

    Args:
        curve: The session's curve.
        at: When the page is made (UTC).
    """
    style, script = _resource("page.css"), _resource("page.js")
    told = headline(curve)
    return Template(_resource("page.html")).substitute(
        policy=_policy(style, script),
        style=style,
        script=script,
        source=escape(curve.source),
        made=moment(at),
        lead=escape(told),
        sums=_sums(curve),
        chart=chart(curve, summary=told),
        legend=_legend(curve),
        spans=_spans(curve),
        rows=_json(_columns(curve)),
        left_out=_left_out(curve),
        last=len(curve.points),
    )


@cache
def _resource(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Return what the browser may take: this style and this script, and nothing from elsewhere."""
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


# -- sentences and sums ---------------------------------------------------------------------------


def _sums(curve: Curve) -> str:
    period = curve.period
    sums = [("At the end", line(curve.last))]
    if curve.peak is not None:
        sums.append(("Fullest", f"{line(curve.peak)}, at moment {curve.peak_number:,}"))
    if period is not None:
        sums.append(("From", moment(period[0])))
        sums.append(("To", moment(period[1])))
    sums += [(word(mark, 0).capitalize(), f"{curve.count(mark):,}") for mark in Mark]
    without = sum(point.reason is not None for point in curve.points)
    sums.append(("Without a measurement", f"{without:,} of {len(curve.points):,}"))
    return "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(told)}</dd></div>" for name, told in sums
    )


# -- legend and spans -----------------------------------------------------------------------------


def _legend(curve: Curve) -> str:
    marked = {mark for point in curve.points for mark in point.marks}
    kinds = {point.kind for point in curve.points}
    entries = [(f"key-mark {mark.value}", word(mark)) for mark in Mark if mark in marked]
    if any(point.limit(curve.unit) is not None for point in curve.points):
        entries.append(("key-limit", "limit"))
    entries += [(f"key-lane {kind.value}", _KINDS[kind]) for kind in Kind if kind in kinds]
    return "".join(f'<li><span class="{name}"></span>{text}</li>' for name, text in entries)


def _spans(curve: Curve) -> str:
    """Return the rows of the spans without a measurement, and of how many are left out."""
    spans = curve.missing
    if not spans:
        return '<tr><td colspan="4">Every moment was measured.</td></tr>'
    rows = [
        f"<tr><td>{numbers(span.first, span.last)}</td><td>{moment(span.began_at)}</td>"
        f'<th scope="row"><code>{span.reason.value}</code></th>'
        f"<td>{escape(str(span.reason.__doc__))}</td></tr>"
        for span in spans[-_MOST_SPANS:]
    ]
    if len(spans) > _MOST_SPANS:
        older = len(spans) - _MOST_SPANS
        rows.insert(0, f'<tr><td colspan="4">{older:,} older ones are not listed.</td></tr>')
    return "".join(rows)


# -- the rows of the table ------------------------------------------------------------------------


def _left_out(curve: Curve) -> str:
    older = len(curve.points) - MOST_ROWS
    return f" The {older:,} oldest are not listed." if older > 0 else ""


def _columns(curve: Curve) -> dict[str, Any]:
    """Return the table by columns, in the shortest form that the script can read back.

    Numbers are differences to the row before, and what seldom changes is told with how often it is
    repeated.
    """
    points = curve.points[-MOST_ROWS:]
    times = [None if p.measured_at is None else int(p.measured_at.timestamp()) for p in points]
    return {
        "first": len(curve.points) - len(points) + 1,
        "unit": curve.unit.value,
        "times": _differences(times),
        "used": _differences([_value(point, curve.unit) for point in points]),
        "limits": _repeated(points, lambda point: point.limit(curve.unit)),
        "grades": _repeated(points, lambda point: point.grade),
        "models": _repeated(points, lambda point: point.model),
        "marks": [
            [number, *(mark.value for mark in point.marks)]
            for number, point in enumerate(points)
            if point.marks
        ],
    }


def _value(point: Point, unit: Unit) -> int | None:
    """Return a point's value as a whole number: tokens, or hundredths of a percent."""
    height = point.height(unit)
    if height is None:
        return None
    return int(height) if unit is Unit.TOKENS else round(height * 100)


def _differences(values: Sequence[int | None]) -> list[int | None]:
    known = [0, *(value for value in values if value is not None)]
    steps = iter([after - before for before, after in pairwise(known)])
    return [None if value is None else next(steps) for value in values]


def _repeated(points: Iterable[Point], told: Callable[[Point], Any]) -> list[list[Any]]:
    return [[sum(1 for _ in group), value] for value, group in groupby(map(told, points))]


def _json(value: Any) -> str:
    """Return *value* as JSON that cannot end the element it stands in."""
    import json  # noqa: PLC0415 - only for pages

    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
