"""Hypothesis strategies for every type that an observation is made of.

They draw from all that the types allow, not from what is likely: huge counts, moments at the ends
of the calendar and in any time zone, ids of any text, every combination of optional facts.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from typing import TypeVar

from hypothesis import strategies as st

from ctxmeasure.bounded.budget import ReadStats
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.measurement import Measurement, PercentMeasurement, TokenMeasurement
from ctxmeasure.observation import (
    Attestation,
    Completeness,
    Confidence,
    LimitBasis,
    Missing,
    MissingReason,
    Observation,
    Observed,
    Partial,
    Provenance,
    UsedBasis,
    Witness,
)
from ctxmeasure.usage import TokenUsage

__all__ = [
    "counts",
    "limits",
    "measurements",
    "missing",
    "models",
    "moments",
    "observations",
    "observed",
    "partials",
    "percent_measurements",
    "percentages",
    "provenances",
    "read_stats",
    "token_measurements",
    "usages",
    "witnesses",
]

ValueT = TypeVar("ValueT")
EnumT = TypeVar("EnumT", bound=Enum)

_DAY = timedelta(days=1)  # no time zone shifts a moment further than this
_TEXT = st.text(st.characters(), max_size=30)  # lone surrogates too
_NAMES = st.text(st.characters(), min_size=1, max_size=30)


def _maybe(values: st.SearchStrategy[ValueT]) -> st.SearchStrategy[ValueT | None]:
    return st.none() | values


def _member(vocabulary: type[EnumT]) -> st.SearchStrategy[EnumT]:
    return st.sampled_from(list(vocabulary))


def counts() -> st.SearchStrategy[int]:
    """Return a strategy for token counts."""
    return st.integers(0, 2_000_000) | st.integers(min_value=0)


def limits() -> st.SearchStrategy[int]:
    """Return a strategy for token limits."""
    return st.sampled_from([128_000, 200_000, 272_000, 1_000_000]) | st.integers(min_value=1)


def percentages() -> st.SearchStrategy[float]:
    """Return a strategy for percentages, ints among them."""
    return st.floats(0, 100) | st.integers(0, 100)


def moments() -> st.SearchStrategy[datetime]:
    """Return a strategy for aware datetimes, in UTC and in other time zones."""
    offsets = st.timedeltas(-_DAY + timedelta(minutes=1), _DAY - timedelta(minutes=1))
    elsewhere = st.datetimes(
        datetime.min + _DAY,  # noqa: DTZ901 - hypothesis adds the time zone
        datetime.max - _DAY,  # noqa: DTZ901 - as above
        timezones=offsets.map(timezone),
    )
    return st.datetimes(timezones=st.just(UTC)) | elsewhere


def token_measurements() -> st.SearchStrategy[TokenMeasurement]:
    """Return a strategy for token measurements, overrun ones among them."""
    return st.builds(
        TokenMeasurement,
        used_tokens=counts(),
        limit_tokens=limits(),
        measured_at=moments(),
        method=_NAMES,
    )


def percent_measurements() -> st.SearchStrategy[PercentMeasurement]:
    """Return a strategy for percentage measurements."""
    return st.builds(
        PercentMeasurement, used_percent=percentages(), measured_at=moments(), method=_NAMES
    )


def measurements() -> st.SearchStrategy[Measurement]:
    """Return a strategy for measurements of both shapes."""
    return token_measurements() | percent_measurements()


def usages() -> st.SearchStrategy[TokenUsage]:
    """Return a strategy for token usages."""
    return st.builds(
        TokenUsage,
        input_tokens=counts(),
        cache_read_tokens=counts(),
        cache_write_tokens=counts(),
        output_tokens=counts(),
        reasoning_tokens=_maybe(counts()),
    )


def models() -> st.SearchStrategy[ModelRef]:
    """Return a strategy for models as a runtime names them."""
    return st.builds(
        ModelRef,
        id=_TEXT,
        provider=_maybe(_TEXT),
        long_context_marker=_maybe(st.booleans()),
        platform=_maybe(_TEXT),
    )


def read_stats() -> st.SearchStrategy[ReadStats]:
    """Return a strategy for what a reading cost."""
    return st.builds(
        ReadStats,
        bytes_read=counts(),
        rows_decoded=counts(),
        rows_skipped=counts(),
        window_truncated=st.booleans(),
    )


def witnesses() -> st.SearchStrategy[Witness]:
    """Return a strategy for witnesses."""
    return st.binary(min_size=32, max_size=32).map(Witness)


def provenances() -> st.SearchStrategy[Provenance]:
    """Return a strategy for provenances, with and without a witness."""
    return st.builds(
        Provenance,
        adapter=_TEXT,
        source=_TEXT,
        runtime_version=_maybe(_TEXT),
        used_basis=_maybe(_member(UsedBasis)),
        limit_basis=_maybe(_member(LimitBasis)),
        usage=_maybe(usages()),
        model=_maybe(models()),
        witness=_maybe(witnesses()),
        stats=read_stats(),
    )


def partials() -> st.SearchStrategy[Partial]:
    """Return a strategy for what is still known when there is no measurement."""
    return st.builds(
        Partial,
        used_tokens=_maybe(counts()),
        used_percent=_maybe(percentages()),
        limit_tokens=_maybe(limits()),
        measured_at=_maybe(moments()),
        estimated=st.booleans(),
    )


def observed(value: st.SearchStrategy[Measurement] | None = None) -> st.SearchStrategy[Observed]:
    """Return a strategy for observed measurements, of both shapes unless *value* says which."""
    return st.builds(
        Observed,
        value=measurements() if value is None else value,
        attestation=_member(Attestation),
        confidence=_member(Confidence),
        completeness=_member(Completeness),
        provenance=provenances(),
    )


def missing() -> st.SearchStrategy[Missing]:
    """Return a strategy for missing measurements."""
    return st.builds(
        Missing,
        reason=_member(MissingReason),
        partial=_maybe(partials()),
        provenance=provenances(),
    )


def observations() -> st.SearchStrategy[Observation]:
    """Return a strategy for all observations."""
    return observed() | missing()
