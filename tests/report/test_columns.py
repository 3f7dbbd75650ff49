"""Whatever a drawing has room for, no value, gap or mark is lost in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from moments import COMPACTED, curve_of, missing, moment, observed

from ctxmeasure import MissingReason
from ctxmeasure.history import Mark
from ctxmeasure.report import Kind, Unit
from ctxmeasure.report.columns import columns, runs, top

OBSERVATIONS = st.one_of(
    st.integers(0, 300_000).map(observed),
    st.just(COMPACTED),
    st.integers(0, 9).map(lambda used: missing(MissingReason.MODEL_UNKNOWN, used=used)),
)
MOMENTS = st.builds(
    lambda observation, marks: moment(observation, *marks),
    OBSERVATIONS,
    st.sets(st.sampled_from(Mark)),
)


@given(st.lists(MOMENTS, min_size=1, max_size=60), st.integers(1, 40))
def test_a_column_reaches_from_the_lowest_to_the_highest_of_its_points(
    told: list[object], width: int
) -> None:
    points = curve_of(*told).points  # type: ignore[arg-type] # moments
    parts = columns(points, width, Unit.TOKENS)
    assert len(parts) == min(len(points), width)
    assert [part.first for part in parts[1:]] == [part.last + 1 for part in parts[:-1]]
    assert (parts[0].first, parts[-1].last) == (1, len(points))
    for part in parts:
        own = points[part.first - 1 : part.last]
        heights = [point.used_tokens for point in own if point.used_tokens is not None]
        assert (part.low, part.high) == (min(heights, default=None), max(heights, default=None))
        assert sum(part.marks.values()) == sum(len(point.marks) for point in own)
        assert part.kind in {point.kind for point in own}
        assert (part.kind is Kind.GAP) == any(point.kind is Kind.GAP for point in own)


def test_where_there_are_values_and_where_not() -> None:
    points = curve_of(COMPACTED, observed(1), observed(0), COMPACTED).points
    parts = columns(points, 10, Unit.TOKENS)
    assert runs(parts) == [(False, 0, 1), (True, 1, 3), (False, 3, 4)]


def test_the_whole_holds_every_value_and_limit() -> None:
    points = curve_of(observed(250_000), observed(1, 100_000), COMPACTED).points
    assert top(columns(points, 3, Unit.TOKENS)) == 250_000
    assert top(columns(points[1:], 3, Unit.TOKENS)) == 100_000
    assert top(columns(points[2:], 3, Unit.TOKENS)) == 1


def test_a_drawing_has_at_least_one_column() -> None:
    with pytest.raises(ValueError, match="width: "):
        columns(curve_of(COMPACTED).points, 0, Unit.TOKENS)
