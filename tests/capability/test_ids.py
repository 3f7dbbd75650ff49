"""What may be normalised in a model id, what keeps a marker, and what is refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxmeasure.capability.ids import (
    LONG_CONTEXT_MARKER,
    MAX_ID_CHARS,
    IdRefusal,
    ParsedId,
    parse,
    same_model,
)
from ctxmeasure.capability.model import Unresolved
from ctxmeasure.capability.table import Identity, identify, models

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "cases" / "id_forms.json").read_text(encoding="utf-8")
)
LISTED = sorted({model_id for row in models() for model_id in row.ids})


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: str(vector["input"]))
def test_every_observed_form_gives_the_listed_model_and_marker_or_the_listed_refusal(
    vector: dict[str, Any],
) -> None:
    named = identify(vector["input"])
    if isinstance(named, Unresolved):
        assert vector == vector | {"canonical": None, "marker": None, "refusal": named.why}
    else:
        told = {"canonical": named.canonical, "marker": named.marker, "refusal": None}
        assert vector == vector | told


def test_the_vectors_are_all_there() -> None:
    assert len(VECTORS) == 54


@pytest.mark.parametrize("region", ["us", "eu", "apac", "au", "jp", "in", "us-gov", "global"])
def test_every_bedrock_region_is_taken_off_and_tells_the_platform(region: str) -> None:
    parsed = parse(f"{region}.anthropic.claude-opus-4-5-20251101-v1:0")
    assert parsed == ParsedId(candidate="claude-opus-4-5-20251101", platform="bedrock")


@pytest.mark.parametrize(
    ("model_id", "candidate"),
    [
        ("claude-opus-4-8@20260528", "claude-opus-4-8-20260528"),
        ("claude-sonnet-5@default", "claude-sonnet-5"),
        ("claude-opus-4-6@default", "claude-opus-4-6"),
    ],
)
def test_a_vertex_form_tells_the_platform(model_id: str, candidate: str) -> None:
    assert parse(model_id) == ParsedId(candidate=candidate, platform="vertex")


@pytest.mark.parametrize(
    ("model_id", "refusal"),
    [
        ("", IdRefusal.UNPARSEABLE),
        ("claude-opus-4-8\n", IdRefusal.UNPARSEABLE),
        ("claude-opus-4-8 ", IdRefusal.UNPARSEABLE),
        ("claude-opus-4-\N{FULLWIDTH DIGIT EIGHT}", IdRefusal.UNPARSEABLE),
        ("c" * (MAX_ID_CHARS + 1), IdRefusal.UNPARSEABLE),
        ("[1m]", IdRefusal.UNKNOWN_MARKER),
        ("claude-opus-4-8[", IdRefusal.UNKNOWN_MARKER),
        ("claude-opus-4-8]", IdRefusal.UNKNOWN_MARKER),
        ("composer-2.5[fast=true]", IdRefusal.UNKNOWN_MARKER),
        ("claude-opus-4-8[1m]x", IdRefusal.UNKNOWN_MARKER),
        ("claude-opus-4-8@latest", IdRefusal.UNPINNED_ALIAS),
        ("claude-sonnet-4@default", IdRefusal.UNPINNED_ALIAS),
        ("claude-sonnet-4-5@default", IdRefusal.UNPINNED_ALIAS),
        ("claude-mythos-preview@default", IdRefusal.UNPINNED_ALIAS),
        ("arn:aws:s3:::bucket", IdRefusal.OPAQUE_ARN),
        (
            "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-pro-v1:0",
            IdRefusal.OPAQUE_ARN,
        ),
        ("gpt-5-chat-latest", IdRefusal.MOVING_ALIAS),
        ("models/gemini-2.5-pro", IdRefusal.ROUTER_ID),
    ],
)
def test_what_names_no_one_model_is_refused(model_id: str, refusal: IdRefusal) -> None:
    assert parse(model_id) is refusal


def test_an_id_of_one_character_can_have_a_marker() -> None:
    assert parse("x[1m]") == ParsedId(candidate="x", marker="[1m]")


def test_the_longest_id_is_read() -> None:
    longest = "c" * MAX_ID_CHARS
    assert parse(longest) == ParsedId(candidate=longest)


def test_the_clouds_forms_are_anthropics_alone() -> None:
    bedrock = "us.anthropic.claude-opus-4-8"
    for provider in ("anthropic", None):
        parsed = parse(bedrock, provider=provider)
        assert parsed == ParsedId(candidate="claude-opus-4-8", platform="bedrock")
    assert parse(bedrock, provider="openai") == ParsedId(candidate=bedrock)
    vertex = "claude-opus-4-8@default"
    assert parse(vertex, provider="google") == ParsedId(candidate=vertex)
    arn = "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-opus-4-7"
    assert parse(arn) == ParsedId(candidate="claude-opus-4-7", platform="bedrock")
    assert parse(arn, provider="openai") is IdRefusal.OPAQUE_ARN


@given(st.text() | st.text(st.characters(max_codepoint=0x7F)))
@example("<synthetic>[1m]")
@example("arn:")
@example("anthropic.")
def test_parsing_never_raises_and_never_swallows_a_bracket(model_id: str) -> None:
    match parse(model_id):
        case ParsedId() as parsed:
            assert not {"[", "]"} & set(parsed.candidate)
            assert ("[" in model_id) == (parsed.marker is not None)
        case refusal:
            assert isinstance(refusal, IdRefusal)


@given(st.sampled_from(LISTED), st.sampled_from(["[1m]", "[1M]"]))
def test_a_marker_is_kept_whatever_id_it_follows(model_id: str, marker: str) -> None:
    match parse(model_id + marker), parse(model_id):
        case ParsedId() as marked, ParsedId() as bare:
            assert marked.marker == LONG_CONTEXT_MARKER
            assert marked.candidate == bare.candidate
        case marked_refusal, bare_refusal:
            assert marked_refusal is bare_refusal


@given(
    st.sampled_from(LISTED),
    st.sampled_from([" ", "\n", "\t", "x", "0", "-0", "-x", ".5", "\N{ARABIC-INDIC DIGIT FIVE}"]),
    st.booleans(),
)
def test_an_id_with_anything_before_or_after_it_is_never_the_same_model(
    model_id: str, more: str, before: bool
) -> None:
    longer = more + model_id if before else model_id + more
    whole, part = identify(longer), identify(model_id)
    if isinstance(whole, Identity) and isinstance(part, Identity):
        assert longer in whole.row.ids
        assert whole.row != part.row


@pytest.mark.parametrize(
    "model_id",
    [
        "claude-opus-4-10",
        "claude-opus-4-1-2025080",
        "claude-opus-4-1-202508050",
        "claude-opus-4-19",
        "claude-opus-4",
        "claude-opus-5-9",
        "claude-opus-50",
        "claude-opus-5-5-5",
        "claude-sonnet-4-60",
        "claude-haiku-4-5-x",
        "claude-haiku-4-5-20251002",
        "claude-opus-5-2026072\N{SUPERSCRIPT FOUR}",
        "Claude-Opus-5",
        "gpt-5.50",
        "gpt-5-2025-08-08",
        "gpt-",
    ],
)
def test_a_near_miss_is_not_a_known_model(model_id: str) -> None:
    assert isinstance(identify(model_id), Unresolved)


@pytest.mark.parametrize(
    ("model_id", "canonical"),
    [
        ("claude-opus-5", "claude-opus-5"),
        ("claude-opus-5-5", "claude-opus-5-5"),
        ("claude-opus-5-20260724", "claude-opus-5"),
        ("claude-opus-5-5-20260922", "claude-opus-5-5"),
        ("claude-fable-5-1", "claude-fable-5-1"),
        ("claude-opus-4-0", "claude-opus-4-0"),
        ("gpt-5", "gpt-5"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("gpt-5.5", "gpt-5.5"),
        ("MiniMax-M2.7", "MiniMax-M2.7"),
        ("minimax-m2.7", "MiniMax-M2.7"),
    ],
)
def test_a_model_is_not_taken_for_its_neighbour(model_id: str, canonical: str) -> None:
    identity = identify(model_id)
    assert isinstance(identity, Identity)
    assert identity.canonical == canonical


def test_an_id_of_two_providers_needs_its_provider() -> None:
    assert identify("grok-4.5") == Unresolved(ambiguous=True, why="provider-not-stated")
    identity = identify("grok-4.5", provider="xai")
    assert isinstance(identity, Identity)
    assert identity.row.provider == "xai"


def test_an_id_is_looked_up_only_among_its_providers_models() -> None:
    for provider in ("openai", "github-copilot", ""):
        assert identify("claude-opus-5", provider=provider) == Unresolved(
            ambiguous=False, why="unknown-model"
        )


def test_the_long_context_marker_is_anthropics_alone() -> None:
    assert identify("gemini-2.5-pro[1m]") == Unresolved(ambiguous=False, why="unknown-marker")


# -- the same model -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dressed",
    [
        "claude-haiku-4-5-20251001",
        "us.anthropic.claude-haiku-4-5-20251001-v1:0",
        "anthropic.claude-haiku-4-5-v1",
        "claude-haiku-4-5@20251001",
        "claude-haiku-4-5",
    ],
)
def test_a_date_and_a_clouds_dress_do_not_change_the_model(dressed: str) -> None:
    assert same_model(dressed, "claude-haiku-4-5")


@pytest.mark.parametrize(
    "other",
    [
        "claude-haiku-4",
        "claude-haiku-4-5-5",
        "claude-haiku-4-50",
        "haiku",
        "anthropic/claude-haiku-4-5",
        "-20251001",
        "",
    ],
)
def test_anything_else_does(other: str) -> None:
    assert not same_model(other, "claude-haiku-4-5")


@given(st.text(), st.text())
def test_sameness_is_mutual(one: str, other: str) -> None:
    assert same_model(one, one)
    assert same_model(one, other) == same_model(other, one)
