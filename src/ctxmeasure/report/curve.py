"""A session's history as a curve: a point for every moment, with what a drawing needs of it.

A point holds a few numbers and words, not the observation: a session of 200 MB has tens of
thousands of them. Nothing is drawn between a point that has no value and its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from attrs import frozen

from ..figures import plain
from ..history import Mark, Moment
from ..measurement import PercentMeasurement
from ..observation import Attestation, Missing, MissingReason, Observation, Observed, pressure
from ..render import grade

__all__ = ["Curve", "Kind", "Point", "Span", "Unit"]


class Kind(StrEnum):
    """How much a point can be believed, the surest first."""

    SURE = "sure"
    """The agent's own numbers."""
    INFERRED = "inferred"
    """The limit was looked up or declared."""
    ROUGH = "rough"
    """The limit is assumed, or the numbers are estimated."""
    UNLIMITED = "unlimited"
    """The count was measured, its limit is missing."""
    GAP = "gap"
    """There is no value."""


class Unit(StrEnum):
    """What a curve's height means."""

    TOKENS = "tokens"
    PERCENT = "percent"


@frozen(kw_only=True)
class Point:
    """A moment of the session.

    Attributes:
        kind: How much it can be believed.
        measured_at: When the sample was taken (UTC), or None where the file does not say.
        used_tokens: Tokens in use, or None.
        limit_tokens: What they are measured against, or None.
        used_percent: The share in use, over 100 where the limit is overrun, or None.
        grade: How far to believe it, in words (`ctxmeasure.render.grade`).
        reason: Why there is no measurement, or None.
        model: The model's id, printable, or None.
        marks: What has happened since the point before, in the order of `Mark`.
    """

    kind: Kind
    measured_at: datetime | None
    used_tokens: int | None
    limit_tokens: int | None
    used_percent: float | None
    grade: str
    reason: MissingReason | None
    model: str | None
    marks: tuple[Mark, ...]

    @classmethod
    def of(cls, moment: Moment) -> Point:
        """Return the point of a *moment*."""
        observation = moment.observation
        model = observation.provenance.model
        used, limit, percent = _numbers(observation)
        return cls(
            kind=_kind(observation),
            measured_at=_measured_at(observation),
            used_tokens=used,
            limit_tokens=limit,
            used_percent=percent,
            grade=grade(observation),
            reason=observation.reason if isinstance(observation, Missing) else None,
            model=None if model is None else plain(model.id),
            marks=tuple(mark for mark in Mark if mark in moment.marks),
        )

    def height(self, unit: Unit) -> float | None:
        """Return how high the curve is here, or None in a gap."""
        return self.used_tokens if unit is Unit.TOKENS else self.used_percent

    def limit(self, unit: Unit) -> float | None:
        """Return how high the limit is here, or None where it is not known."""
        if unit is Unit.TOKENS:
            return self.limit_tokens
        return None if self.used_percent is None else 100.0


def _kind(observation: Observation) -> Kind:
    match observation:
        case Missing():
            return Kind.GAP if observation.standing_tokens is None else Kind.UNLIMITED
        case Observed(is_rough=True):
            return Kind.ROUGH
        case Observed(attestation=Attestation.INFERRED | Attestation.OPERATOR):
            return Kind.INFERRED
        case _:
            return Kind.SURE


def _numbers(observation: Observation) -> tuple[int | None, int | None, float | None]:
    if isinstance(observation, Missing):
        return observation.standing_tokens, None, None
    value = observation.value
    if isinstance(value, PercentMeasurement):
        return None, None, value.used_percent
    return value.used_tokens, value.limit_tokens, value.used_percent


def _measured_at(observation: Observation) -> datetime | None:
    if isinstance(observation, Observed):
        return observation.value.measured_at
    return None if observation.partial is None else observation.partial.measured_at


@frozen(kw_only=True)
class Span:
    """Points next to each other that are missing for the same reason.

    Attributes:
        reason: Why.
        first: The number of the first of them, counted from 1.
        last: The number of the last of them.
        began_at: When the first of them was, or None where the file does not say.
    """

    reason: MissingReason
    first: int
    last: int
    began_at: datetime | None


@frozen(kw_only=True)
class Curve:
    """A session's curve.

    Attributes:
        source: The id of the source that it was read by.
        points: Its points, the oldest first; at least one.
        unit: Tokens, unless a share was measured of which no count is known.
        last: What the file shows at its end.
        peak: The fullest that it has been, or None where nothing was measured.
        peak_number: The number of that point, counted from 1, or 0.
    """

    source: str
    points: tuple[Point, ...]
    unit: Unit
    last: Observation
    peak: Observed | None
    peak_number: int

    @classmethod
    def of(cls, moments: Iterable[Moment]) -> Curve:
        """Return the curve of the *moments* of one session, the oldest first.

        Raises:
            ValueError: There are none.
        """
        points: list[Point] = []
        last: Observation | None = None
        peak: Observed | None = None
        number = 0
        for moment in moments:
            points.append(Point.of(moment))
            last = moment.observation
            if isinstance(last, Observed) and (peak is None or pressure(last) < pressure(peak)):
                peak, number = last, len(points)
        if last is None:
            raise ValueError("moments: expected at least one")
        has_bare_shares = any(
            point.used_percent is not None and point.used_tokens is None for point in points
        )
        return cls(
            source=plain(last.provenance.source),
            points=tuple(points),
            unit=Unit.PERCENT if has_bare_shares else Unit.TOKENS,
            last=last,
            peak=peak,
            peak_number=number,
        )

    @property
    def period(self) -> tuple[datetime, datetime] | None:
        """From the first sample to the last, or None where no time is known."""
        times = [point.measured_at for point in self.points if point.measured_at is not None]
        return (min(times), max(times)) if times else None

    @property
    def missing(self) -> tuple[Span, ...]:
        """Where there is no measurement, and why."""
        spans: list[Span] = []
        for number, point in enumerate(self.points, start=1):
            if point.reason is None:
                continue
            before = spans[-1] if spans else None
            is_next = before is not None and before.last == number - 1
            if before is not None and is_next and before.reason is point.reason:
                spans[-1] = Span(
                    reason=point.reason,
                    first=before.first,
                    last=number,
                    began_at=before.began_at,
                )
            else:
                spans.append(
                    Span(
                        reason=point.reason,
                        first=number,
                        last=number,
                        began_at=point.measured_at,
                    )
                )
        return tuple(spans)

    def count(self, mark: Mark) -> int:
        """Return how often something has happened."""
        return sum(mark in point.marks for point in self.points)
