"""The page in a real browser: it works, says what the data say, and can be used by the keyboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from chromium import BINARY, Chromium, Page
from claude_sessions import RECORDINGS
from codex_sessions import ROLLOUTS
from moments import COMPACTED, curve_of, missing, moment, observed

from ctxmeasure import history
from ctxmeasure.report import Curve, page
from ctxmeasure.report.chart import COLUMNS, LEFT

pytestmark = pytest.mark.skipif(
    BINARY is None, reason="no chromium on this machine: the page is not looked at in a browser"
)

AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
Open = Callable[..., Page]

(ROLLOUT,) = (rollout for rollout in ROLLOUTS if "modelswitch" in rollout.name)
SWITCHED = Curve.of(history.scan("codex.rollout", ROLLOUT.content, at=AT))
(RECORDING,) = (recording for recording in RECORDINGS if recording.name == "claude/h-tui")
COMPACTING = Curve.of(history.scan("claude.transcript", RECORDING.content, at=AT))
ORDINARY = curve_of(*(observed(9_000 + 700 * n, seconds=60 * n) for n in range(250)))
EMPTY = curve_of(missing(seconds=None))
LONG = Curve.of(
    moment(observed(20_000 + 61 * n % 170_000, seconds=9 * n) if n % 500 else COMPACTED)
    for n in range(5_000)
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as chromium:
        yield chromium


@pytest.fixture
def opened(browser: Chromium, tmp_path: Path) -> Iterator[Open]:
    pages: list[Page] = []

    def open_page(curve: Curve, scheme: str = "light") -> Page:
        path = tmp_path / f"{len(pages)}.html"
        path.write_text(page(curve, at=AT), encoding="utf-8")
        pages.append(browser.open(path, scheme))
        return pages[-1]

    yield open_page
    for one in pages:
        one.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "curve",
    [ORDINARY, COMPACTING, SWITCHED, EMPTY, LONG],
    ids=["ordinary", "compacted", "switched", "empty", "long"],
)
def test_it_loads_without_an_error_or_a_request(opened: Open, curve: Curve, scheme: str) -> None:
    shown = opened(curve, scheme)
    assert shown.problems() == []
    assert shown.ask("document.querySelectorAll('#table tbody tr').length") == min(
        100, len(curve.points) % 100 or 100
    )


def test_what_its_policy_forbids_is_a_problem(opened: Open) -> None:
    shown = opened(EMPTY)
    shown.ask("document.head.append(Object.assign(document.createElement('style')))")
    shown.ask("document.body.setAttribute('style', 'color: red')")
    shown.ask(
        "document.body.append(Object.assign(new Image(), {src: 'https://example.org/x.png'}))"
    )
    assert shown.problems() != []


def marks(shown: Page) -> list[dict[str, Any]]:
    return list(
        shown.ask(
            """[...document.querySelectorAll('#chart .mark')].map((mark) => {
              const chart = document.getElementById('chart');
              const box = mark.querySelector('.stem').getBoundingClientRect();
              const frame = chart.getBoundingClientRect();
              const scale = chart.viewBox.baseVal.width / frame.width;
              return {
                kind: mark.classList[1], number: Number(mark.dataset.number),
                x: (box.left + box.width / 2 - frame.left) * scale,
              };
            })"""
        )
    )


@pytest.mark.parametrize("curve", [COMPACTING, SWITCHED])
def test_marks_are_seen_where_the_data_say(opened: Open, curve: Curve) -> None:
    expected = [
        (mark.value, number, LEFT + number * COLUMNS / len(curve.points))
        for number, point in enumerate(curve.points)
        for mark in point.marks
    ]
    found = marks(opened(curve))
    assert [(mark["kind"], mark["number"] - 1) for mark in found] == [
        (kind, number) for kind, number, _ in expected
    ]
    for mark, (_, _, x) in zip(found, expected, strict=True):
        assert mark["x"] == pytest.approx(x, abs=0.7)


def cells(shown: Page) -> list[list[str]]:
    return list(
        shown.ask(
            "[...document.querySelectorAll('#table tbody tr')]"
            ".map((row) => [...row.cells].map((cell) => cell.textContent))"
        )
    )


def test_the_table_says_what_the_moments_say(opened: Open) -> None:
    rows = cells(opened(SWITCHED))
    for number, (row, point) in enumerate(zip(rows, SWITCHED.points, strict=True), start=1):
        assert row == [
            str(number),
            "" if point.measured_at is None else f"{point.measured_at:%Y-%m-%d %H:%M:%S}",
            "" if point.used_tokens is None else f"{point.used_tokens:,}",
            "" if point.limit_tokens is None else f"{point.limit_tokens:,}",
            "" if point.used_percent is None else f"{point.used_percent:.0f}%",
            point.grade,
            point.model or "",
            ", ".join(mark.value.replace("_", " ") for mark in point.marks),
        ]


@pytest.mark.parametrize(("scheme", "is_dark"), [("light", False), ("dark", True)])
def test_it_is_dark_where_it_is_to_be_dark(opened: Open, scheme: str, is_dark: bool) -> None:
    shown = opened(COMPACTING, scheme)
    colours = {
        name: shown.ask(
            f"getComputedStyle(document.querySelector('{where}')).{name}"
            ".match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0)"
        )
        for name, where in (("backgroundColor", "body"), ("color", "body"), ("stroke", ".curve"))
    }
    background = colours.pop("backgroundColor")
    assert (background < 150) is is_dark
    assert all(abs(colour - background) > 150 for colour in colours.values())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_row_without_a_measurement_can_be_read_as_well(opened: Open, scheme: str) -> None:
    shown = opened(COMPACTING, scheme)
    row = "getComputedStyle(document.querySelector('tr.missing'))"
    assert shown.ask(f"{row}.opacity") == "1"


def focused(shown: Page) -> str:
    return str(shown.ask("document.activeElement.id || document.activeElement.className"))


def test_the_keyboard_reaches_everything_in_the_order_of_the_page(opened: Open) -> None:
    shown = opened(ORDINARY)
    reached = []
    for _ in range(9):
        shown.press("Tab")
        reached.append(focused(shown))
    # Buttons that can do nothing are left out: the last page is shown.
    assert reached == ["skip", "at", "show", "scrolled", "which", "first", "before", "scrolled", ""]


def test_the_first_key_can_lead_to_the_table(opened: Open) -> None:
    shown = opened(ORDINARY)
    shown.press("Tab")
    shown.press("Enter")
    assert focused(shown) == "responses"
    shown.press("Tab")
    assert focused(shown) == "which"


def test_arrows_read_the_curve_and_a_button_shows_the_moment_in_the_table(opened: Open) -> None:
    shown = opened(ORDINARY)
    shown.press("Tab")
    shown.press("Tab")
    shown.press("ArrowLeft")
    reading = "document.getElementById('reading').textContent"
    assert str(shown.ask(reading)).startswith("Moment 249, 2026-11-29 22:08:00 UTC, 182,600 of")
    assert shown.ask("document.getElementById('at').getAttribute('aria-valuetext')") == shown.ask(
        reading
    )
    shown.press("Home")
    assert str(shown.ask(reading)).startswith("Moment 1, ")
    pointer = float(shown.ask("document.getElementById('pointer').getAttribute('x1')"))
    assert pointer == pytest.approx(LEFT + COLUMNS / 500)
    shown.press("Tab")
    shown.press("Enter")
    assert focused(shown) == "moment-1"
    assert cells(shown)[0][0] == "1"


def test_pages_are_turned_and_rows_chosen_by_the_keyboard(opened: Open) -> None:
    shown = opened(LONG)
    shown.ask("document.getElementById('first').focus()")
    shown.press("Enter")
    assert [cells(shown)[row][0] for row in (0, -1)] == ["1", "100"]
    shown.ask("document.getElementById('after').focus()")
    shown.press("Enter")
    assert cells(shown)[0][0] == "101"
    shown.ask("const which = document.getElementById('which'); which.value = 'missing';")
    shown.ask("document.getElementById('which').dispatchEvent(new Event('change'))")
    assert [row[0] for row in cells(shown)] == [f"{n + 1:,}" for n in range(0, 5_000, 500)]
    assert shown.ask("document.getElementById('place').textContent") == "Page 1 of 1, 10 in all."
    shown.ask("document.getElementById('which').value = 'marked'")
    shown.ask("document.getElementById('which').dispatchEvent(new Event('change'))")
    assert shown.ask("document.getElementById('place').textContent") == "There are none."


def test_a_picture_of_it_can_be_taken(opened: Open) -> None:
    assert opened(COMPACTING).picture().startswith(b"\x89PNG")
