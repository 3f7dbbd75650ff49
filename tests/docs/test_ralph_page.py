"""The page on runners gives the reason for every difference that the tests hold us to."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_ralph_expectations import EXPECTATIONS, Expectation

PAGE = Path(__file__).resolve().parents[2] / "docs" / "ralph.md"
DIFFERENCES = [row for row in EXPECTATIONS if row.why]


@pytest.mark.parametrize("row", DIFFERENCES, ids=lambda row: row.of)
def test_a_difference_stands_on_the_page_with_its_reason(row: Expectation) -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if "|" in line]
    (written,) = (line for line in rows if line.startswith(f"| {row.of} |"))
    assert written.endswith(f" | {row.why} |")


def test_the_page_has_no_difference_that_is_none() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("## Where we differ from Ralph")[2]
    assert table.count("\n| ") == len(DIFFERENCES) + 2
