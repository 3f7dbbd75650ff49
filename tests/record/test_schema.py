"""The JSON Schema accepts what is written and nothing else."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ctxmeasure import record
from ctxmeasure.observation import (
    Attestation,
    Completeness,
    Confidence,
    LimitBasis,
    Missing,
    MissingReason,
    Observation,
    Observed,
    Provenance,
    UsedBasis,
)
from ctxmeasure.testing.strategies import observations, percent_measurements, token_measurements

VALIDATOR = Draft202012Validator(record.schema())
PROVENANCE = Provenance(adapter="claude", source="claude.transcript")
GRADES = {
    "attestation": Attestation.NATIVE,
    "confidence": Confidence.EXACT,
    "completeness": Completeness.EXACT,
}


def test_the_schema_is_a_valid_schema() -> None:
    Draft202012Validator.check_schema(record.schema())


def test_a_form_that_there_is_not_is_a_wrong_argument() -> None:
    said = r"^form: expected one of observation, runner_event, context_observed$"
    for wrong in ("secret", "../observation", None):
        with pytest.raises(ValueError, match=said):
            record.schema(wrong)  # type: ignore[arg-type]


def test_the_schema_is_a_new_dict_each_time() -> None:
    record.schema().clear()
    assert record.schema()["title"] == "Observation"


@given(observations())
def test_all_that_is_written_is_valid(observation: Observation) -> None:
    VALIDATOR.validate(json.loads(record.dumps(observation)))


@pytest.mark.parametrize(
    ("name", "vocabulary"),
    [
        ("attestation", Attestation),
        ("confidence", Confidence),
        ("completeness", Completeness),
        ("used_basis", UsedBasis),
        ("limit_basis", LimitBasis),
        ("missing_reason", MissingReason),
    ],
)
def test_the_vocabularies_are_those_of_the_types(name: str, vocabulary: type[StrEnum]) -> None:
    assert record.schema()["$defs"][name]["enum"] == [member.value for member in vocabulary]


def test_every_object_is_closed() -> None:
    objects = [
        definition
        for definition in record.schema()["$defs"].values()
        if definition.get("type") == "object"
    ]
    assert objects
    assert all(definition["additionalProperties"] is False for definition in objects)


@given(token_measurements(), percent_measurements(), st.data())
def test_a_value_of_both_shapes_is_invalid(tokens: Any, percent: Any, draw: st.DataObject) -> None:
    first, second = (
        record.to_dict(Observed(value=value, provenance=PROVENANCE, **GRADES))  # type: ignore[arg-type]
        for value in draw.draw(st.permutations([tokens, percent]))
    )
    first["value"] = {**second["value"], **first["value"]}
    assert not VALIDATOR.is_valid(first)


@given(observations(), st.data())
def test_a_null_anywhere_is_invalid(observation: Observation, draw: st.DataObject) -> None:
    wire = record.to_dict(observation)
    parent, key = draw.draw(st.sampled_from(_keys(wire)))
    parent[key] = None
    assert not VALIDATOR.is_valid(wire)


@given(observations(), st.data())
def test_an_unknown_key_anywhere_is_invalid(observation: Observation, draw: st.DataObject) -> None:
    wire = record.to_dict(observation)
    parents = [wire, *(parent[key] for parent, key in _keys(wire) if type(parent[key]) is dict)]
    draw.draw(st.sampled_from(parents))["prompt_text"] = "…"
    assert not VALIDATOR.is_valid(wire)


@pytest.mark.parametrize(
    "moment",
    [
        "2026-11-29T18:00:00Z",
        "2026-11-29T18:00:00.00Z",
        "2026-11-29T18:00:00.0000Z",
        "2026-11-29T18:00:00.000",
        "2026-11-29T18:00:00.000z",
        "2026-11-29T18:00:00.000+00:00",
        "2026-11-29 18:00:00.000Z",
        "2026-11-29T18:00:00.000Z\n",
        "2026-13-29T18:00:00.000Z",
        "2026-11-29T24:00:00.000Z",
        "\u0662\u0660\u0662\u0666-11-29T18:00:00.000Z",
        1795975200,
    ],
)
@given(observation=token_measurements())
def test_another_spelling_of_a_moment_is_invalid(observation: Any, moment: object) -> None:
    wire = record.to_dict(Observed(value=observation, provenance=PROVENANCE, **GRADES))  # type: ignore[arg-type]
    wire["value"]["measured_at"] = moment
    assert not VALIDATOR.is_valid(wire)


_OTHER_VALUES: st.SearchStrategy[object] = st.sampled_from(
    [None, True, False, 0, 1, -1, 0.0, 1.5, 101, "", "x", "tokens", "percent", [], {}]
)


@given(observations(), st.data())
def test_what_the_schema_refuses_the_reader_refuses(
    observation: Observation, draw: st.DataObject
) -> None:
    wire = record.to_dict(observation)
    parent, key = draw.draw(st.sampled_from(_keys(wire)))
    if draw.draw(st.booleans()):
        del parent[key]
    else:
        parent[key] = draw.draw(_OTHER_VALUES)
    try:
        record.loads(json.dumps(wire))
    except ValueError:
        return
    VALIDATOR.validate(wire)


def test_a_reason_needs_no_partial() -> None:
    bare = Missing(reason=MissingReason.SOURCE_ABSENT, provenance=evolve(PROVENANCE))
    VALIDATOR.validate(record.to_dict(bare))


def _keys(node: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Return every key of *node* and of the objects in it, each with the object it is in."""
    found = [(node, key) for key in node]
    for child in node.values():
        if type(child) is dict:
            found += _keys(child)
    return found
