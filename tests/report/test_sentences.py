"""What a curve says in words."""

from __future__ import annotations

import pytest
from moments import COMPACTED, curve_of, missing, moment, observed

from ctxmeasure import MissingReason, Observation
from ctxmeasure.history import Mark
from ctxmeasure.report import Unit, sentences
from ctxmeasure.report.sentences import headline, tick


def test_the_headline_tells_the_end_the_peak_and_what_happened() -> None:
    curve = curve_of(observed(150_000), moment(COMPACTED, Mark.COMPACTED), observed(9_000))
    assert headline(curve) == (
        "3 moments of the session. At its end: 5% (9K/200K) (exact). "
        "The fullest: 75% (150K/200K) (exact), at moment 1. What happened: 1 compaction."
    )


def test_a_headline_without_a_measurement_says_why() -> None:
    assert headline(curve_of(COMPACTED)) == (
        "1 moment of the session. Nothing was measured: compacted."
    )
    unknown = missing(MissingReason.MODEL_UNKNOWN, used=9_000)
    assert headline(curve_of(unknown)) == (
        "1 moment of the session. No limit is known. "
        "At its end: Tokens: 9K (missing: model_unknown)."
    )


def test_times_and_the_source_are_told_where_they_are_known() -> None:
    told = list(sentences(curve_of(observed(1), observed(2, seconds=5))))
    assert told[1:] == [
        "From 2026-11-29 18:00:00 UTC to 2026-11-29 18:00:05 UTC, read by claude.transcript."
    ]
    assert len(list(sentences(curve_of(missing(seconds=None))))) == 2


def test_spans_without_a_measurement_are_listed_by_reason_and_not_without_end() -> None:
    exceeded = missing(MissingReason.WINDOW_EXCEEDED)
    by_turns: list[Observation] = [observed(1), COMPACTED]
    curve = curve_of(COMPACTED, COMPACTED, *by_turns * 10, exceeded)
    *_, compacted, last = sentences(curve)
    assert compacted == ("No measurement at 1 to 2, 4, 6, 8, 10, 12, 14, 16 and 3 more: compacted.")
    assert last == "No measurement at 23: window_exceeded."


@pytest.mark.parametrize(
    ("height", "unit", "told"),
    [
        (0.0, Unit.TOKENS, "0"),
        (0.5, Unit.TOKENS, "0.5"),
        (750.0, Unit.TOKENS, "750"),
        (2_500.0, Unit.TOKENS, "2.5K"),
        (200_000.0, Unit.TOKENS, "200K"),
        (1_000_000.0, Unit.TOKENS, "1M"),
        (1_250_000.0, Unit.TOKENS, "1.25M"),
        (0.0, Unit.PERCENT, "0%"),
        (2.5, Unit.PERCENT, "2.5%"),
        (100.0, Unit.PERCENT, "100%"),
    ],
)
def test_a_line_of_a_grid_says_exactly_where_it_lies(height: float, unit: Unit, told: str) -> None:
    assert tick(height, unit) == told
