"""What a user's checker knows of an observation; executed by type-checkers only.

An ignore that is not needed is an error under ``mypy --strict``: each stands for a mistake that a
user's checker finds.
"""

from __future__ import annotations

from datetime import datetime
from typing import assert_never, assert_type

import ctxmeasure as cm


def both_states_are_all_there_are(observation: cm.Observation) -> str:
    match observation:
        case cm.Observed(value=value):
            assert_type(value, cm.TokenMeasurement | cm.PercentMeasurement)
            return f"{value.used_percent:.0f} %"
        case cm.Missing(reason=reason):
            assert_type(reason, cm.MissingReason)
            return reason.value
        case _:
            assert_never(observation)


def both_shapes_are_all_there_are(value: cm.Measurement) -> float:
    match value:
        case cm.TokenMeasurement():
            assert_type(value.remaining_tokens, int)
            return value.used_tokens / value.limit_tokens
        case cm.PercentMeasurement():
            return value.used_percent / 100
        case _:
            assert_never(value)


def a_pattern_reaches_through_to_the_shape(observation: cm.Observation) -> int | None:
    match observation:
        case cm.Observed(value=cm.TokenMeasurement() as tokens):
            assert_type(tokens, cm.TokenMeasurement)
            return tokens.used_tokens
        case cm.Missing(partial=cm.Partial() as partial):
            assert_type(partial.used_tokens, int | None)
            return partial.used_tokens
    return None


def isinstance_narrows_as_well(observation: cm.Observation) -> datetime | None:
    if isinstance(observation, cm.Observed):
        assert_type(observation.attestation, cm.Attestation)
        assert_type(observation.confidence, cm.Confidence)
        assert_type(observation.completeness, cm.Completeness)
        return observation.value.measured_at
    assert_type(observation, cm.Missing)
    return None


def a_value_is_not_to_be_had_without_asking(observation: cm.Observation) -> None:
    observation.value  # type: ignore[union-attr]
    observation.reason  # type: ignore[union-attr]


def a_percentage_has_no_tokens(percentage: cm.PercentMeasurement) -> None:
    percentage.used_tokens  # type: ignore[attr-defined]


def an_observation_is_frozen(observation: cm.Observed) -> None:
    observation.confidence = cm.Confidence.EXACT  # type: ignore[misc]


def provenance_is_typed(provenance: cm.Provenance) -> None:
    assert_type(provenance.used_basis, cm.UsedBasis | None)
    assert_type(provenance.limit_basis, cm.LimitBasis | None)
    assert_type(provenance.usage, cm.TokenUsage | None)
    assert_type(provenance.stats, cm.ReadStats)
