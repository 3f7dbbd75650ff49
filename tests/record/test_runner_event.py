"""What a runner's event says: the prompt under its own name, and nothing that is not known."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ctxmeasure import record
from ctxmeasure.measurement import PercentMeasurement, TokenMeasurement
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
)
from ctxmeasure.record import runner_event_fields
from ctxmeasure.testing.strategies import (
    missing,
    observations,
    observed,
    percent_measurements,
    token_measurements,
)
from ctxmeasure.usage import TokenUsage

AT = datetime(2026, 11, 29, 18, tzinfo=UTC)
VALIDATOR = Draft202012Validator(record.schema("runner_event"))
USAGE = TokenUsage(
    input_tokens=10_000, cache_read_tokens=70_000, cache_write_tokens=9_000, output_tokens=1_000
)


def origin(**provenance: Any) -> Provenance:
    stated = {
        "adapter": "pi",
        "source": "pi.stream",
        "used_basis": UsedBasis.PROMPT_AND_OUTPUT,
        "limit_basis": LimitBasis.WINDOW,
        "usage": USAGE,
        **provenance,
    }
    return Provenance(**stated)


def tokens(used: int = 90_000, **provenance: Any) -> Observed:
    return Observed(
        value=TokenMeasurement(
            used_tokens=used, limit_tokens=200_000, measured_at=AT, method="pi_stream_usage"
        ),
        attestation=Attestation.INFERRED,
        confidence=Confidence.HIGH,
        completeness=Completeness.INFERRED,
        provenance=origin(**provenance),
    )


def no_limit(reason: MissingReason, partial: Partial | None, **provenance: Any) -> Missing:
    return Missing(
        reason=reason, partial=partial, provenance=origin(limit_basis=None, **provenance)
    )


def test_a_prompt_has_its_share_and_how_it_is_known() -> None:
    assert runner_event_fields(tokens(used_basis=UsedBasis.PROMPT)) == {
        "input_tokens": 90_000,
        "context_utilization_pct": 45.0,
        "context_tokens": 90_000,
        "context_used_basis": "prompt",
        "context_window": 200_000,
        "context_limit_basis": "window",
        "context_method": "pi_stream_usage",
        "context_attestation": "inferred",
        "context_confidence": "high",
    }


def test_output_is_never_called_input() -> None:
    fields = runner_event_fields(tokens())
    assert fields["input_tokens"] == 89_000
    assert fields["context_tokens"] == 90_000
    assert fields["context_used_basis"] == "prompt_and_output"
    assert fields["context_utilization_pct"] == 45.0


def test_a_prompt_that_cannot_be_told_from_output_is_left_out() -> None:
    fields = runner_event_fields(tokens(usage=None))
    assert "input_tokens" not in fields
    assert fields["context_tokens"] == 90_000


def test_a_count_of_unknown_content_is_no_prompt() -> None:
    fields = runner_event_fields(tokens(used_basis=None, limit_basis=None, usage=None))
    assert fields.keys().isdisjoint({"input_tokens", "context_used_basis", "context_limit_basis"})
    assert (fields["context_tokens"], fields["context_window"]) == (90_000, 200_000)


def test_an_assumed_limit_is_visible() -> None:
    fields = runner_event_fields(tokens(limit_basis=LimitBasis.ASSUMED_DEFAULT))
    assert fields["context_limit_basis"] == "assumed_default"


def test_an_overrun_is_neither_clamped_nor_rounded() -> None:
    assert runner_event_fields(tokens(250_001))["context_utilization_pct"] == 125.0005


def test_a_share_has_no_counts() -> None:
    observation = Observed(
        value=PercentMeasurement(used_percent=63.5, measured_at=AT, method="cursor_hook"),
        attestation=Attestation.NATIVE,
        confidence=Confidence.EXACT,
        completeness=Completeness.PERCENTAGE_ONLY,
        provenance=Provenance(adapter="cursor", source="cursor.hook"),
    )
    assert runner_event_fields(observation) == {
        "context_utilization_pct": 63.5,
        "context_method": "cursor_hook",
        "context_attestation": "native",
        "context_confidence": "exact",
    }


def test_a_measured_zero_is_a_zero() -> None:
    fields = runner_event_fields(tokens(0, used_basis=UsedBasis.PROMPT))
    assert (fields["input_tokens"], fields["context_utilization_pct"]) == (0, 0.0)


def test_a_count_without_a_limit_has_no_share() -> None:
    partial = Partial(used_tokens=90_000, measured_at=AT)
    assert runner_event_fields(no_limit(MissingReason.MODEL_UNKNOWN, partial)) == {
        "input_tokens": 89_000,
        "context_tokens": 90_000,
        "context_used_basis": "prompt_and_output",
        "context_missing_reason": "model_unknown",
    }


def test_a_refuted_limit_is_not_told() -> None:
    partial = Partial(used_tokens=250_000, limit_tokens=200_000)
    contradicted = no_limit(MissingReason.LIMIT_CONTRADICTED, partial, used_basis=UsedBasis.PROMPT)
    assert runner_event_fields(contradicted) == {
        "input_tokens": 250_000,
        "context_tokens": 250_000,
        "context_used_basis": "prompt",
        "context_missing_reason": "limit_contradicted",
    }


@pytest.mark.parametrize(
    "observation",
    [
        no_limit(MissingReason.COMPACTED, Partial(used_tokens=90_000, limit_tokens=200_000)),
        no_limit(MissingReason.SAMPLE_STALE, Partial(used_tokens=90_000, used_percent=45)),
        no_limit(MissingReason.MODEL_UNKNOWN, Partial(used_tokens=90_000, estimated=True)),
        no_limit(MissingReason.SOURCE_UNSUPPORTED, None),
    ],
)
def test_only_the_reason_is_left_when_no_count_stands(observation: Missing) -> None:
    reason = observation.reason.value
    assert runner_event_fields(observation) == {"context_missing_reason": reason}


@given(observations())
def test_an_event_is_flat_json_without_nulls(observation: Observation) -> None:
    fields = runner_event_fields(observation)
    assert {type(value) for value in fields.values()} <= {int, float, str}
    assert json.loads(json.dumps(fields)) == fields


@given(observed(token_measurements()))
def test_input_is_the_prompt_or_nothing(observation: Observed) -> None:
    fields, provenance = runner_event_fields(observation), observation.provenance
    prompts = [] if provenance.usage is None else [provenance.usage.prompt_tokens]
    if provenance.used_basis is UsedBasis.PROMPT:
        prompts = [observation.value.used_tokens]  # type: ignore[union-attr] # drawn as tokens
    assert [fields[key] for key in ("input_tokens",) if key in fields] == prompts


@given(observed(percent_measurements()))
def test_a_share_never_grows_tokens(observation: Observed) -> None:
    assert not any("tokens" in key or "window" in key for key in runner_event_fields(observation))


@given(observations())
def test_an_event_has_a_share_or_a_reason(observation: Observation) -> None:
    keys = {"context_utilization_pct", "context_missing_reason"}
    assert len(keys & runner_event_fields(observation).keys()) == 1


@given(missing())
def test_a_missing_measurement_has_no_share_no_window_and_no_grade(observation: Missing) -> None:
    told = {"input_tokens", "context_tokens", "context_used_basis", "context_missing_reason"}
    assert runner_event_fields(observation).keys() <= told


def test_what_is_no_observation_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^observation: "):
        runner_event_fields(tokens().value)  # type: ignore[arg-type]


# -- the schema -----------------------------------------------------------------------------------


def test_the_schema_is_a_valid_schema() -> None:
    Draft202012Validator.check_schema(record.schema("runner_event"))


@given(observations())
def test_all_fields_are_in_the_schema(observation: Observation) -> None:
    VALIDATOR.validate(json.loads(json.dumps(runner_event_fields(observation))))


@given(observations(), st.sampled_from(["prompt_text", "context_window_tokens"]))
def test_no_other_field_is_in_the_schema(observation: Observation, key: str) -> None:
    assert not VALIDATOR.is_valid({**runner_event_fields(observation), key: 1})


@given(observations(), st.data())
def test_a_null_is_not_in_the_schema(observation: Observation, draw: st.DataObject) -> None:
    fields = runner_event_fields(observation)
    key = draw.draw(st.sampled_from(sorted(fields)))
    assert not VALIDATOR.is_valid({**fields, key: None})


@given(observed(percent_measurements()))
def test_a_share_with_a_count_is_not_in_the_schema(observation: Observed) -> None:
    assert not VALIDATOR.is_valid({**runner_event_fields(observation), "context_tokens": 1})


@given(missing())
def test_a_missing_measurement_with_a_share_is_not_in_the_schema(observation: Missing) -> None:
    fields = runner_event_fields(observation)
    assert not VALIDATOR.is_valid({**fields, "context_utilization_pct": 45})


def test_the_vocabularies_are_those_of_an_observation() -> None:
    shared = ("attestation", "confidence", "used_basis", "limit_basis", "missing_reason")
    here, there = record.schema("runner_event")["$defs"], record.schema()["$defs"]
    assert [here[word] for word in shared] == [there[word] for word in shared]
