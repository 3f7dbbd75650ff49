"""A curve holds what every moment shows, and nothing between them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from moments import COMPACTED, START, curve_of, missing, moment, observed, shared

from ctxmeasure import Attestation, Confidence, LimitBasis, MissingReason, Observation
from ctxmeasure.history import Mark
from ctxmeasure.report import Curve, Kind, Span, Unit


def test_a_point_has_the_numbers_of_its_moment() -> None:
    (point,) = curve_of(observed(50_000, seconds=3)).points
    assert (point.used_tokens, point.limit_tokens, point.used_percent) == (50_000, 200_000, 25)
    assert (point.measured_at, point.grade, point.reason) == (
        START + timedelta(seconds=3),
        "exact",
        None,
    )
    assert point.model == "claude-sonnet-4-5"


def test_a_gap_has_no_number_but_its_reason_and_time() -> None:
    (point,) = curve_of(COMPACTED).points
    assert (point.used_tokens, point.limit_tokens, point.used_percent) == (None, None, None)
    assert (point.measured_at, point.reason) == (START, MissingReason.COMPACTED)
    (point,) = curve_of(missing(seconds=None)).points
    assert point.measured_at is None


@pytest.mark.parametrize(
    ("observation", "kind"),
    [
        (observed(1), Kind.SURE),
        (observed(1, attestation=Attestation.NATIVE), Kind.SURE),
        (shared(10), Kind.SURE),
        (observed(1, attestation=Attestation.INFERRED, confidence=Confidence.HIGH), Kind.INFERRED),
        (observed(1, attestation=Attestation.OPERATOR, confidence=Confidence.HIGH), Kind.INFERRED),
        (observed(1, confidence=Confidence.LOW), Kind.ROUGH),
        (observed(1, limit_basis=LimitBasis.ASSUMED_DEFAULT), Kind.ROUGH),
        (missing(MissingReason.MODEL_UNKNOWN, used=9), Kind.UNLIMITED),
        (missing(MissingReason.COMPACTED, used=9), Kind.GAP),
    ],
)
def test_a_kind_says_how_much_can_be_believed(observation: Observation, kind: Kind) -> None:
    assert curve_of(observation).points[0].kind is kind


def test_a_count_that_only_lacks_its_limit_is_shown_without_one() -> None:
    (point,) = curve_of(missing(MissingReason.MODEL_UNKNOWN, used=9)).points
    assert (point.height(Unit.TOKENS), point.limit(Unit.TOKENS)) == (9, None)
    assert point.reason is MissingReason.MODEL_UNKNOWN


def test_marks_come_in_their_order() -> None:
    marks = (Mark.MODEL_SWITCHED, Mark.COMPACTED)
    (point,) = curve_of(moment(COMPACTED, *marks)).points
    assert point.marks == (Mark.COMPACTED, Mark.MODEL_SWITCHED)


def test_the_unit_is_tokens_unless_a_share_has_none() -> None:
    assert curve_of(observed(1), COMPACTED).unit is Unit.TOKENS
    curve = curve_of(observed(50_000), shared(30), COMPACTED)
    assert curve.unit is Unit.PERCENT
    assert [point.height(Unit.PERCENT) for point in curve.points] == [25, 30, None]
    assert [point.limit(Unit.PERCENT) for point in curve.points] == [100, 100, None]


def test_the_peak_is_the_first_of_the_fullest() -> None:
    fullest = observed(150_000, seconds=1)
    curve = curve_of(observed(1), fullest, observed(160_000, 1_000_000), observed(150_000))
    assert (curve.peak, curve.peak_number) == (fullest, 2)
    assert curve.last == observed(150_000)


def test_what_was_never_measured_has_no_peak() -> None:
    curve = curve_of(COMPACTED)
    assert (curve.peak, curve.peak_number) == (None, 0)


def test_the_period_is_that_of_the_samples() -> None:
    curve = curve_of(observed(1, seconds=9), observed(1), missing(seconds=None))
    assert curve.period == (START, START + timedelta(seconds=9))
    assert curve_of(missing(seconds=None)).period is None


def test_gaps_next_to_each_other_are_one_span_for_each_reason() -> None:
    exceeded = missing(MissingReason.WINDOW_EXCEEDED, seconds=5)
    curve = curve_of(COMPACTED, missing(seconds=2), exceeded, observed(1), exceeded)
    assert curve.missing == (
        Span(reason=MissingReason.COMPACTED, first=1, last=2, began_at=START),
        Span(
            reason=MissingReason.WINDOW_EXCEEDED,
            first=3,
            last=3,
            began_at=START + timedelta(seconds=5),
        ),
        Span(
            reason=MissingReason.WINDOW_EXCEEDED,
            first=5,
            last=5,
            began_at=START + timedelta(seconds=5),
        ),
    )


def test_marks_are_counted() -> None:
    curve = curve_of(moment(COMPACTED, Mark.COMPACTED), observed(1), moment(COMPACTED, *Mark))
    assert [curve.count(mark) for mark in Mark] == [2, 1, 1]


def test_a_session_of_no_moments_is_no_session() -> None:
    with pytest.raises(ValueError, match="moments: "):
        Curve.of([])
