"""A curve in characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from moments import COMPACTED, curve_of, missing, moment, observed, shared

from ctxmeasure import Attestation, Confidence, MissingReason
from ctxmeasure.history import Mark
from ctxmeasure.report import Curve, plotted
from ctxmeasure.report.plot import NARROWEST, Part

INFERRED = {"attestation": Attestation.INFERRED, "confidence": Confidence.HIGH}


def drawn(curve: Curve, width: int = 40, height: int = 4, *, blocks: bool = True) -> str:
    rows = plotted(curve, width=width, height=height, blocks=blocks)
    return "\n".join((row.label + row.text).rstrip() for row in rows)


CURVE = curve_of(
    observed(100_000),
    observed(175_000),
    moment(COMPACTED, Mark.COMPACTED),
    observed(10_000),
    moment(missing(MissingReason.MODEL_UNKNOWN, used=50_000), Mark.REWOUND, Mark.MODEL_SWITCHED),
    observed(0, confidence=Confidence.LOW),
)


PLOT = """\
200K │──────▄▄▄▄▄▄      ──────      ──────
     │      ██████
100K │████████████
     │████████████      ▁▁▁▁▁▁██████
   0 │────────────────────────────────────
                  c           *
                  ??????      ++++++~~~~~~
      1                                  6
      c 1 compaction   r 1 rewind   m 1 model switch   ~ assumed or estimated   \
+ count without a limit   ? missing"""


def test_a_plot_has_steps_gaps_limits_and_marks() -> None:
    assert drawn(CURVE, width=42) == PLOT


def test_ascii_is_all_that_is_used_where_blocks_cannot_be_shown() -> None:
    plot = drawn(CURVE, blocks=False)
    assert plot.isascii()
    assert "######" in plot
    assert "|" in plot


def test_an_eighth_of_a_row_is_told_where_there_are_blocks() -> None:
    curve = curve_of(observed(100_000, 100_000), observed(68_750, 100_000))
    second, *_ = [row.text[6:12] for row in plotted(curve, width=30, height=2) if "█" in row.text]
    assert second == "▃" * 6
    third, *_ = [row.text[6:12] for row in plotted(curve, width=30, height=2, blocks=False)]
    assert third == "_" * 6


def test_what_lies_between_the_points_of_one_column_is_shaded() -> None:
    curve = curve_of(*(observed(used) for used in [50_000, 200_000] * 40))
    rows = [row for row in plotted(curve, width=30, height=4) if row.part is Part.CURVE]
    assert [row.text[0] for row in rows] == ["░", "░", "░", "█"]


def test_shares_without_counts_are_plotted_as_shares() -> None:
    plot = drawn(curve_of(shared(40), shared(80)))
    assert plot.startswith("100% │")
    assert " 50% │" in plot


def test_what_was_never_measured_has_no_height() -> None:
    assert "K" not in drawn(curve_of(COMPACTED)).partition("?")[0]


def test_a_curve_of_sure_points_needs_no_legend() -> None:
    rows = plotted(curve_of(observed(1)), width=30)
    assert {row.part for row in rows} == {Part.CURVE, Part.AXIS}
    inferred = plotted(curve_of(observed(1, **INFERRED)), width=30)  # type: ignore[arg-type] # as named
    assert {row.part for row in inferred} >= {Part.LANE, Part.LEGEND}


@given(st.integers(NARROWEST, 120), st.integers(1, 300), st.integers(1, 20), st.booleans())
def test_no_row_but_the_legend_is_wider_than_there_is_room(
    width: int, count: int, height: int, blocks: bool
) -> None:
    curve = curve_of(*(observed(used * 1_000) for used in range(count)), COMPACTED)
    rows = plotted(curve, width=width, height=height, blocks=blocks)
    assert all(len(r.label + r.text) <= width for r in rows if r.part is not Part.LEGEND)
    assert sum(row.part is Part.CURVE for row in rows) == height


def test_too_small_a_plot_is_refused() -> None:
    with pytest.raises(ValueError, match="width: "):
        plotted(CURVE, width=NARROWEST - 1)
    with pytest.raises(ValueError, match="height: "):
        plotted(CURVE, width=40, height=0)
