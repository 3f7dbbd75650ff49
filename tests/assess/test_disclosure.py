"""What of the data's own words may stand in an observation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging import measured, missing, percent, used

from ctxmeasure.assess.disclosure import public_model, public_version
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import Gap
from ctxmeasure.observation import MissingReason

VERSIONS = [
    "2.1.332",
    "1.0.60",
    "0.171.0-alpha.3",
    "1.6.0",
    "2025.10.28-0a91dc2",
    "1.2.3+build.7",
    "1.2",
    "1.20251124",
    "1.2-" + "a" * 36,
]
NO_VERSIONS = [
    "",
    "7",
    "7f347325-52ef-4efe-a804-564cce6e70cb",
    "20261129",
    "2.1.",
    ".1",
    "2.1.332 (Claude Code)",
    "v2.1.332",
    "secret",
    "1secret",
    "1.secret",
    "a.b.c",
    "2.1/../../home",
    "\u0662.\u0661",
    "1.123456789",
    "1." + "2" * 40,
    "1.2-" + "a" * 37,
    "-1.2",
]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_is_let_out(version: str) -> None:
    assert public_version(version) == version


@pytest.mark.parametrize("version", [None, *NO_VERSIONS])
def test_what_is_no_version_is_not(version: str | None) -> None:
    assert public_version(version) is None


MODELS = [
    "claude-opus-4-8",
    "claude-sonnet-4-5-20250929",
    "claude-3-5-sonnet-v2@20241022",
    "claude-opus-4-8@default",
    "us.anthropic.claude-haiku-4-5-20251001-v1:0",
    "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-6-v1",
    "anthropic/claude-opus-4.6",
    "meta-llama/Llama-3.1-405B",
    "claude-opus-4-8[2m]",
    "gpt-5.4",
    "MiniMax-M2.7",
    "mcs-5",
    "m",
    "m" * 200,
]
NO_MODELS = [
    "",
    " ",
    "please fix the bug",
    "/home/someone/models/llama.gguf",
    "../someone/llama",
    "models/../../someone",
    "~/someone",
    "C:/Users/someone",
    "C:\\Users\\someone",
    "https://someone:secret@host/v1",
    "host//someone",
    "someone@example.com",
    "<synthetic>",
    "модель",
    "model\n",
    "model\0",
    "\ud800",
    "m" * 201,
]


@pytest.mark.parametrize("named", MODELS)
def test_a_models_id_is_let_out(named: str) -> None:
    model = ModelRef(id=named, provider="anthropic", platform="first_party")
    assert public_model(model) is model


@pytest.mark.parametrize("named", NO_MODELS)
def test_what_is_no_models_id_is_not(named: str) -> None:
    assert public_model(ModelRef(id=named)) is None


def test_no_model_is_no_model() -> None:
    assert public_model(None) is None


@pytest.mark.parametrize("named", ["/home/someone", "some one", "a@b", "p" * 41, "\ud800", "a:b"])
def test_a_provider_or_platform_that_is_no_name_is_left_out(named: str) -> None:
    model = ModelRef(id="model", long_context_marker=True)
    spoilt = ModelRef(id="model", long_context_marker=True, provider=named, platform=named)
    assert public_model(spoilt) == model
    partly = ModelRef(id="model", long_context_marker=True, provider="openai", platform=named)
    assert public_model(partly) == ModelRef(id="model", long_context_marker=True, provider="openai")
    partly = ModelRef(id="model", long_context_marker=True, provider=named, platform="azure")
    assert public_model(partly) == ModelRef(id="model", long_context_marker=True, platform="azure")


def test_a_name_is_let_out_up_to_forty_characters() -> None:
    longest = ModelRef(id="model", provider="p" * 40, platform="p" * 40)
    assert public_model(longest) is longest


@given(st.text(st.characters()))
def test_whatever_is_let_out_is_one_printable_word(text: str) -> None:
    assert public_version(text) in {None, text}
    model = public_model(ModelRef(id=text, provider=text, platform=text))
    for word in (public_version(text), *((model.id, model.provider) if model else ())):
        assert word is None or (word.isascii() and word.isprintable() and len(word.split()) == 1)


@pytest.mark.usefixtures("table")
def test_no_observation_carries_what_is_neither_a_version_nor_a_model() -> None:
    named = ModelRef(id="/home/someone/llama.gguf")
    said = "please fix the bug"
    provenances = [
        measured(used(model=named, runtime_version=said), limit_tokens=200_000).provenance,
        measured(percent(model=named, runtime_version=said)).provenance,
        missing(used(model=named, runtime_version=said)).provenance,
        missing(percent(101, model=named, runtime_version=said)).provenance,
        missing(Gap(reason=MissingReason.COMPACTED, model=named, runtime_version=said)).provenance,
    ]
    for provenance in provenances:
        assert provenance.model is None
        assert provenance.runtime_version is None
        assert "someone" not in repr(provenance)
        assert "bug" not in repr(provenance)
