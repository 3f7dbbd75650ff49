"""The page: what is in it, and what cannot get into it."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from datetime import UTC, datetime
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from moments import COMPACTED, START, curve_of, missing, moment, observed, shared

from ctxmeasure import MissingReason, Observation
from ctxmeasure.history import Mark
from ctxmeasure.report import Curve, page
from ctxmeasure.report.chart import LEFT, chart

AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
CURVE = curve_of(
    observed(100_000),
    observed(150_000, seconds=5),
    moment(missing(seconds=7), Mark.COMPACTED),
    moment(observed(9_000, 1_000_000, seconds=9, model="claude-opus-4-6"), Mark.MODEL_SWITCHED),
)


class Elements(HTMLParser):
    """The elements of a page, each with its attributes and the text that is directly in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def made(curve: Curve) -> Elements:
    return Elements(page(curve, at=AT))


def listed(text: str) -> dict[str, Any]:
    (rows,) = re.findall(r'<script type="application/json" id="rows">(.*?)</script>', text)
    return dict(json.loads(rows))


def test_nothing_is_fetched_from_anywhere() -> None:
    text = page(CURVE, at=AT)
    assert "://" not in text
    assert not any(
        name in {"src", "href", "srcset", "action", "style"} and not str(value).startswith("#")
        for _, attributes in Elements(text).found
        for name, value in attributes.items()
    )
    assert "@import" not in text
    assert set(re.findall(r"url\(([^)]*)\)", text)) == {"#hatching"}


def test_the_policy_allows_the_pages_own_style_and_script_and_nothing_else() -> None:
    text = page(CURVE, at=AT)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)

    def digest(part: str) -> str:
        return f"'sha256-{b64encode(sha256(part.encode()).digest()).decode()}'"

    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src {digest(style)}",
        f"script-src {digest(script)}",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert not any(name.startswith("on") for _, a in Elements(text).found for name in a)


def test_tables_and_regions_have_names_and_headings() -> None:
    elements = made(CURVE)
    ids = {attributes["id"] for _, attributes in elements.found if "id" in attributes}
    named = [
        (tag, str(attributes[by]))
        for tag, attributes in elements.found
        for by in ("aria-labelledby", "aria-describedby", "for")
        if by in attributes
    ]
    assert {name for _, names in named for name in names.split()} <= ids
    assert all("scope" in attributes for attributes in elements.of("th"))
    assert all("aria-labelledby" in attributes for attributes in elements.of("section"))
    assert elements.of("html") == [{"lang": "en"}]
    assert len(elements.of("h1")) == 1
    labelled = {attributes["for"] for attributes in elements.of("label")}
    fields = [*elements.of("input"), *elements.of("select")]
    assert {attributes["id"] for attributes in fields} == labelled
    assert elements.of("svg")[0]["role"] == "img"
    assert elements.of("a") == [{"class": "skip", "href": "#responses"}]


def test_dark_light_and_reduced_motion_are_respected() -> None:
    text = page(CURVE, at=AT)
    assert "color-scheme: light dark" in text
    assert "prefers-color-scheme: dark" in text
    assert "prefers-reduced-motion: no-preference" in text


def test_the_rows_say_what_the_moments_say() -> None:
    assert listed(page(CURVE, at=AT)) == {
        "first": 1,
        "unit": "tokens",
        "times": [int(START.timestamp()), 5, 2, 2],
        "used": [100_000, 50_000, None, -141_000],
        "limits": [[2, 200_000], [1, None], [1, 1_000_000]],
        "grades": [[2, "exact"], [1, "missing: compacted"], [1, "exact"]],
        "models": [[2, "claude-sonnet-4-5"], [1, None], [1, "claude-opus-4-6"]],
        "marks": [[2, "compacted"], [3, "model_switched"]],
    }


def test_shares_without_counts_are_hundredths_of_a_percent() -> None:
    rows = listed(page(curve_of(shared(63.5), missing(seconds=None)), at=AT))
    assert (rows["unit"], rows["used"], rows["limits"]) == (
        "percent",
        [6_350, None],
        [[1, 100.0], [1, None]],
    )
    assert rows["times"] == [int(START.timestamp()), None]


def test_marks_stand_where_their_moment_begins() -> None:
    marks = [a for a in made(CURVE).of("g") if a["class"].startswith("mark ")]  # type: ignore[union-attr] # has one
    assert [(a["class"], a["data-number"], float(str(a["data-x"]))) for a in marks] == [
        ("mark compacted", "3", LEFT + 2 * 233),
        ("mark model_switched", "4", LEFT + 3 * 233),
    ]


def test_a_gap_is_hatched_and_nothing_is_drawn_through_it() -> None:
    drawing = chart(CURVE, summary="")
    ((x, width),) = re.findall(r'class="missing" x="([\d.]+)" y="48" width="([\d.]+)"', drawing)
    assert (float(x), float(width)) == (LEFT + 466, 233)
    before, after = re.findall(r'class="curve" d="([^"]*)"', drawing)
    assert before.endswith(f"H{LEFT + 466}")
    assert after.startswith(f"M{LEFT + 699} ")


def test_what_lies_between_the_points_of_one_column_is_drawn_as_such() -> None:
    curve = curve_of(*(observed(used) for used in [50_000, 150_000] * 1_000))
    assert 'class="between"' in chart(curve, summary="")
    assert 'class="between"' not in chart(CURVE, summary="")
    marked = curve_of(*[moment(COMPACTED, Mark.COMPACTED)] * 2_000)
    assert "<title>3 compactions from" in chart(marked, summary="")


@pytest.mark.parametrize("told", [[COMPACTED], [observed(0)], [shared(0)], [observed(1, 1)]])
def test_the_smallest_sessions_have_a_chart(told: list[Observation]) -> None:
    drawing = chart(curve_of(*told), summary="")
    assert ("Nothing was measured." in drawing) == (told == [COMPACTED])
    assert "nan" not in drawing


def test_spans_without_a_measurement_say_what_to_do() -> None:
    text = page(CURVE, at=AT)
    assert "<td>3</td><td>2026-11-29 18:00:07 UTC</td>" in text
    assert str(MissingReason.COMPACTED.__doc__) in text
    assert "Every moment was measured." in page(curve_of(observed(1)), at=AT)
    assert "<dt>From</dt>" not in page(curve_of(missing(seconds=None)), at=AT)


def test_of_very_many_spans_the_newest_are_listed() -> None:
    by_turns: list[Observation] = [observed(1), COMPACTED]
    text = page(curve_of(*by_turns * 502), at=AT)
    assert "2 older ones are not listed." in text
    assert text.count('<th scope="row"><code>compacted') == 500


def test_of_very_many_moments_the_newest_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxmeasure.report.document.MOST_ROWS", 2)
    text = page(CURVE, at=AT)
    rows = listed(text)
    assert (rows["first"], len(rows["times"])) == (3, 2)
    assert "The 2 oldest are not listed." in text
    assert 'max="4"' in text


@given(st.text(min_size=1))
def test_a_model_can_be_called_whatever_it_likes(name: str) -> None:
    text = page(curve_of(observed(1, model=f"</script><b>&{name}")), at=AT)
    elements = Elements(text)
    assert elements.of("b") == []
    assert len(elements.of("script")) == 2
    assert listed(text)["models"][0][1].startswith("</script><b>&")


def test_the_source_is_escaped_too() -> None:
    provenance = evolve(COMPACTED.provenance, source="<b>x")
    assert made(curve_of(evolve(COMPACTED, provenance=provenance))).of("b") == []


def test_a_page_of_very_many_moments_stays_small() -> None:
    told = (
        moment(observed(20_000 + 37 * number % 160_000, seconds=7 * number))
        for number in range(30_000)
    )
    assert len(page(Curve.of(told), at=AT)) < 700_000


def test_the_lead_is_the_text_of_the_drawing_too() -> None:
    text = page(CURVE, at=AT)
    (told,) = re.findall(r'<desc id="chart-summary">(.*?)</desc>', text)
    (lead,) = re.findall(r'<p class="lead">(.*?)</p>', text)
    assert told == lead
    assert "75% (150K/200K)" in unescape(lead)
