"""The wire form of an observation: lossless, canonical, and without data in its refusals."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure import record
from ctxmeasure.bounded.budget import ReadStats
from ctxmeasure.capability.model import ModelRef
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
    Witness,
)
from ctxmeasure.testing.strategies import observations
from ctxmeasure.usage import TokenUsage

AT = datetime(2026, 11, 29, 18, tzinfo=UTC)
TOKENS = Observed(
    value=TokenMeasurement(
        used_tokens=41_500,
        limit_tokens=200_000,
        measured_at=AT,
        method="claude_transcript_usage_model_capability",
    ),
    attestation=Attestation.INFERRED,
    confidence=Confidence.HIGH,
    completeness=Completeness.INFERRED,
    provenance=Provenance(
        adapter="claude",
        source="claude.transcript",
        used_basis=UsedBasis.PROMPT,
        limit_basis=LimitBasis.WINDOW,
        stats=ReadStats(bytes_read=65_536, rows_decoded=3),
    ),
)
SHARE = PercentMeasurement(
    used_percent=63.5, measured_at=AT, method="cursor_composer_context_percent"
)
PERCENT = Observed(
    value=SHARE,
    attestation=Attestation.DERIVED,
    confidence=Confidence.HIGH,
    completeness=Completeness.PERCENTAGE_ONLY,
    provenance=Provenance(adapter="cursor", source="cursor.composer"),
)
MISSING = Missing(
    reason=MissingReason.WINDOW_AMBIGUOUS,
    partial=Partial(used_tokens=41_500, measured_at=AT),
    provenance=Provenance(
        adapter="pi",
        source="pi.stream",
        runtime_version="1.6.0",
        used_basis=UsedBasis.PROMPT_AND_OUTPUT,
        usage=TokenUsage(
            input_tokens=1_000,
            cache_read_tokens=40_000,
            cache_write_tokens=0,
            output_tokens=500,
            reasoning_tokens=120,
        ),
        model=ModelRef(
            id="claude-opus-4-6",
            provider="anthropic",
            long_context_marker=False,
            platform="bedrock",
        ),
        stats=ReadStats(bytes_read=4_096, rows_decoded=2, rows_skipped=1, window_truncated=True),
    ),
)


# -- writing --------------------------------------------------------------------------------------


def test_a_token_measurement_is_written_as_designed() -> None:
    assert record.dumps(TOKENS) == (
        '{"state":"observed","value":{"shape":"tokens","used_tokens":41500,"limit_tokens":200000,'
        '"remaining_tokens":158500,"measured_at":"2026-11-29T18:00:00.000Z",'
        '"method":"claude_transcript_usage_model_capability"},'
        '"attestation":"inferred","confidence":"high","completeness":"inferred",'
        '"provenance":{"adapter":"claude","source":"claude.transcript","used_basis":"prompt",'
        '"limit_basis":"window","bytes_read":65536,"rows_decoded":3}}'
    )


def test_a_percentage_is_written_as_designed() -> None:
    assert record.dumps(PERCENT) == (
        '{"state":"observed","value":{"shape":"percent","used_percent":63.5,'
        '"remaining_percent":36.5,"measured_at":"2026-11-29T18:00:00.000Z",'
        '"method":"cursor_composer_context_percent"},'
        '"attestation":"derived","confidence":"high","completeness":"percentage_only",'
        '"provenance":{"adapter":"cursor","source":"cursor.composer","bytes_read":0,'
        '"rows_decoded":0}}'
    )


def test_a_missing_measurement_is_written_with_all_that_is_known() -> None:
    assert record.dumps(MISSING) == (
        '{"state":"missing","reason":"window_ambiguous","partial":{"used_tokens":41500,'
        '"measured_at":"2026-11-29T18:00:00.000Z","estimated":false},'
        '"provenance":{"adapter":"pi","source":"pi.stream","runtime_version":"1.6.0",'
        '"used_basis":"prompt_and_output","usage":{"input_tokens":1000,"cache_read_tokens":40000,'
        '"cache_write_tokens":0,"output_tokens":500,"reasoning_tokens":120},'
        '"model":{"id":"claude-opus-4-6","provider":"anthropic","long_context_marker":false,'
        '"platform":"bedrock"},"bytes_read":4096,"rows_decoded":2,"rows_skipped":1,'
        '"window_truncated":true}}'
    )


def test_a_missing_measurement_without_a_partial_has_no_key_for_it() -> None:
    assert "partial" not in record.to_dict(evolve(MISSING, partial=None))


@given(observations())
def test_the_wire_form_is_one_line_of_json_without_nulls(observation: Observation) -> None:
    text = record.dumps(observation)
    assert "\n" not in text
    assert "\r" not in text
    assert None not in _leaves(json.loads(text))


@given(observations(), st.binary(min_size=32, max_size=32))
def test_the_witness_is_never_written(observation: Observation, digest: bytes) -> None:
    bare = evolve(observation, provenance=evolve(observation.provenance, witness=None))
    seen = evolve(observation, provenance=evolve(observation.provenance, witness=Witness(digest)))
    assert record.dumps(seen) == record.dumps(bare)


def test_what_is_not_an_observation_is_not_written() -> None:
    with pytest.raises(TypeError, match="observation: "):
        record.dumps(TOKENS.value)  # type: ignore[arg-type]


# -- reading --------------------------------------------------------------------------------------


@given(observations())
def test_what_was_written_is_read_back(observation: Observation) -> None:
    text = record.dumps(observation)
    assert record.loads(text) == observation
    assert record.loads(text.encode()) == observation
    assert record.from_dict(record.to_dict(observation)) == observation


def test_any_mapping_is_read() -> None:
    assert record.from_dict(MappingProxyType(record.to_dict(TOKENS))) == TOKENS


def test_a_whole_percentage_is_read_with_and_without_decimals() -> None:
    half = evolve(PERCENT, value=evolve(SHARE, used_percent=50))
    text = record.dumps(half)
    assert '"used_percent":50.0,"remaining_percent":50.0' in text
    assert record.loads(text.replace("50.0", "50")) == half


def test_the_order_of_keys_and_white_space_do_not_matter() -> None:
    assert record.loads(json.dumps(record.to_dict(MISSING), sort_keys=True, indent=2)) == MISSING


def _changed(observation: Observation, path: str, value: object) -> str:
    """Return the wire form with the key at *path* set to *value*, or removed for `...`."""
    wire = record.to_dict(observation)
    *groups, key = path.split(".")
    target = wire
    for group in groups:
        target = target[group]
    if value is ...:
        del target[key]
    else:
        target[key] = value
    return json.dumps(wire)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("state", ...),
        ("state", "secret"),
        ("state", ["secret"]),
        ("state", "missing"),
        ("secret", 1),
        ("attestation", "secret"),
        ("attestation", ...),
        ("provenance", "secret"),
        ("provenance", None),
        ("value", []),
        ("value.shape", "percent"),
        ("value.shape", ...),
        ("value.secret", 1),
        ("value.used_percent", 20.75),
        ("value.used_tokens", True),
        ("value.used_tokens", 41_500.0),
        ("value.used_tokens", "41500"),
        ("value.used_tokens", -1),
        ("value.used_tokens", None),
        ("value.limit_tokens", 0),
        ("value.remaining_tokens", ...),
        ("value.remaining_tokens", 158_499),
        ("value.method", ""),
        ("value.method", 7),
        ("value.measured_at", 1_795_975_200),
        ("value.measured_at", "2026-11-29T18:00:00Z"),
        ("value.measured_at", "2026-11-29T18:00:00.000"),
        ("value.measured_at", "2026-11-29T18:00:00.000+00:00"),
        ("value.measured_at", "2026-11-29T18:00:00.000000Z"),
        ("value.measured_at", "2026-11-29T18:00:00.000Z\n"),
        ("value.measured_at", "2026-02-30T18:00:00.000Z"),
        ("value.measured_at", "secret"),
        ("provenance.adapter", ...),
        ("provenance.adapter", 1),
        ("provenance.used_basis", "secret"),
        ("provenance.used_basis", None),
        ("provenance.runtime_version", None),
        ("provenance.usage", {"input_tokens": 1}),
        ("provenance.model", {"id": "m", "secret": 1}),
        ("provenance.bytes_read", ...),
        ("provenance.bytes_read", -1),
        ("provenance.rows_skipped", 0),
        ("provenance.window_truncated", False),
        ("provenance.window_truncated", 1),
        ("provenance.witness", {"digest": "secret"}),
        ("provenance.stats", {"bytes_read": 1}),
    ],
)
def test_a_form_that_is_never_written_is_refused_without_a_word_of_it(
    path: str, value: object
) -> None:
    text = _changed(TOKENS, path, value)
    with pytest.raises(ValueError, match=r"^text: not the wire form") as refusal:
        record.loads(text)
    assert refusal.value.__context__ is None


def test_an_amount_is_never_read_from_a_bool() -> None:
    full = evolve(PERCENT, value=evolve(SHARE, used_percent=99))
    for path in ("value.used_percent", "value.remaining_percent"):
        with pytest.raises(ValueError, match="not the wire form"):
            record.loads(_changed(full, path, True))


@pytest.mark.parametrize(
    ("path", "value"),
    [("partial", None), ("partial", {}), ("partial.estimated", ...), ("partial.estimated", 0)],
)
def test_a_partial_that_is_never_written_is_refused(path: str, value: object) -> None:
    with pytest.raises(ValueError, match="not the wire form"):
        record.loads(_changed(MISSING, path, value))


@pytest.mark.parametrize(
    "text",
    ["", "secret", "{", "[]", "null", "7", '"secret"', "{}", "[" * 100_000, b"\xff\xfe\xfd", "NaN"],
)
def test_text_that_is_no_observation_is_refused_without_a_word_of_it(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"^text: not the wire form") as refusal:
        record.loads(text)
    assert refusal.value.__context__ is None


def test_the_argument_at_fault_is_named() -> None:
    with pytest.raises(TypeError, match="text: "):
        record.loads({})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="wire: "):
        record.from_dict([])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^wire: "):
        record.from_dict({})


# -- the cost of importing ------------------------------------------------------------------------


def test_importing_the_room_imports_neither_cattrs_nor_a_json_codec() -> None:
    program = (
        "import sys, ctxmeasure.record\n"
        "print(*{'cattrs', 'orjson', 'json'} & sys.modules.keys(), sep=',')"
    )
    ran = subprocess.run(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "\n"


def _leaves(node: Any) -> list[Any]:
    match node:
        case dict():
            return [leaf for child in node.values() for leaf in _leaves(child)]
        case _:
            return [node]
