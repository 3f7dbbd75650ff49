"""Moments of a session for tests of what is shown of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from ctxmeasure import (
    Attestation,
    Completeness,
    Confidence,
    LimitBasis,
    Missing,
    MissingReason,
    Observation,
    Observed,
    Partial,
    PercentMeasurement,
    Provenance,
    TokenMeasurement,
)
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.history import Mark, Moment
from ctxmeasure.report import Curve

__all__ = ["COMPACTED", "START", "curve_of", "missing", "moment", "observed", "shared"]

START = datetime(2026, 11, 29, 18, 0, tzinfo=UTC)
METHOD = "claude_transcript_usage_model_capability"
SOURCE = "claude.transcript"


def _provenance(model: str | None, **fields: Any) -> Provenance:
    named = None if model is None else ModelRef(id=model)
    return Provenance(adapter="claude", source=SOURCE, model=named, **fields)


def observed(
    used: int,
    limit: int = 200_000,
    *,
    seconds: float = 0,
    model: str | None = "claude-sonnet-4-5",
    attestation: Attestation = Attestation.DERIVED,
    confidence: Confidence = Confidence.EXACT,
    limit_basis: LimitBasis = LimitBasis.WINDOW,
) -> Observed:
    """Return a measurement that was taken so many *seconds* after `START`."""
    at = START + timedelta(seconds=seconds)
    value = TokenMeasurement(used_tokens=used, limit_tokens=limit, measured_at=at, method=METHOD)
    return Observed(
        value=value,
        attestation=attestation,
        confidence=confidence,
        completeness=Completeness.EXACT,
        provenance=_provenance(model, limit_basis=limit_basis),
    )


def shared(percent: float, *, seconds: float = 0) -> Observed:
    """Return a share without counts."""
    at = START + timedelta(seconds=seconds)
    return Observed(
        value=PercentMeasurement(used_percent=percent, measured_at=at, method=METHOD),
        attestation=Attestation.DERIVED,
        confidence=Confidence.HIGH,
        completeness=Completeness.PERCENTAGE_ONLY,
        provenance=_provenance(None),
    )


def missing(
    reason: MissingReason = MissingReason.COMPACTED,
    *,
    used: int | None = None,
    seconds: float | None = 0,
) -> Missing:
    """Return what is no measurement; without *seconds* nothing at all is known."""
    at = None if seconds is None else START + timedelta(seconds=seconds)
    partial = None if at is None else Partial(used_tokens=used, measured_at=at)
    return Missing(reason=reason, partial=partial, provenance=_provenance(None))


COMPACTED = missing()


def moment(observation: Observation, *marks: Mark, offset: int = 1) -> Moment:
    """Return a moment."""
    return Moment(observation=observation, offset=offset, marks=frozenset(marks))


def curve_of(*told: Observation | Moment) -> Curve:
    """Return the curve of observations and moments."""
    return Curve.of(one if isinstance(one, Moment) else moment(one) for one in told)
