from __future__ import annotations

import pytest

import ctxmeasure
from ctxmeasure.adapters import claude
from ctxmeasure.adapters.claude.dialect import release
from ctxmeasure.adapters.claude.rows import model_ref
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.registry import find


def test_a_version_compares_by_its_numbers() -> None:
    assert release("2.1.332") == (2, 1, 332)
    assert release("2.1.332-beta.1") == (2, 1, 332)


@pytest.mark.parametrize("text", [None, 2.1, "", "2.1", "2.1.x", "2.1.3.4", "٢.1.1", "9" * 99])
def test_what_is_no_version_is_none(text: object) -> None:
    assert release(text) is None


@pytest.mark.parametrize(
    ("named", "requested", "expected"),
    [
        ("claude-opus-4-6", None, ModelRef(id="claude-opus-4-6")),
        ("claude-opus-4-6[1M]", None, ModelRef(id="claude-opus-4-6", long_context_marker=True)),
        (
            "claude-opus-4-6",
            "claude-opus-4-6[1m]",
            ModelRef(id="claude-opus-4-6", long_context_marker=True),
        ),
        (
            "claude-opus-4-6",
            "claude-opus-4-6",
            ModelRef(id="claude-opus-4-6", long_context_marker=False),
        ),
        ("claude-opus-4-6", "claude-opus-4-8[1m]", ModelRef(id="claude-opus-4-6")),
        ("claude-opus-4-6", "opus[1m]", ModelRef(id="claude-opus-4-6")),
        ("claude-opus-4-6", 7, ModelRef(id="claude-opus-4-6")),
        ("claude-opus-4-6", "", ModelRef(id="claude-opus-4-6")),
    ],
)
def test_the_marker_is_told_by_the_string_that_names_the_same_model(
    named: str, requested: object, expected: ModelRef
) -> None:
    assert model_ref(named, requested=requested) == expected


@pytest.mark.parametrize("named", [None, 7, "", "<synthetic>", {"id": "x"}])
def test_what_is_no_model_is_none(named: object) -> None:
    assert model_ref(named) is None


@pytest.mark.parametrize(
    ("message_id", "platform"),
    [
        ("msg_01ab", "first_party"),
        ("msg_bdrk_1", "bedrock"),
        ("msg_vrtx_1", "vertex"),
        ("a1796b10", None),
        (7, None),
    ],
)
def test_the_message_id_tells_the_platform(message_id: object, platform: str | None) -> None:
    model = model_ref("claude-opus-4-8", message_id=message_id)
    assert model == ModelRef(id="claude-opus-4-8", platform=platform)


@pytest.mark.parametrize("name", ["TRANSCRIPT", "STREAM", "STATUS_LINE", "CONTEXT_USAGE", "HOOK"])
def test_the_room_gives_what_the_registry_finds(name: str) -> None:
    source = getattr(claude, name)
    assert source is find(f"claude.{name.lower()}")
    assert source is getattr(ctxmeasure.claude, name)


def test_the_room_gives_what_it_lists_and_nothing_else() -> None:
    assert all(getattr(claude, name) is not None for name in claude.__all__)
    assert callable(claude.query_from_hook)
    with pytest.raises(AttributeError, match="NOTHING"):
        claude.NOTHING  # noqa: B018


def test_a_name_beyond_any_models_is_read_all_the_same() -> None:
    endless = "x" * 1_000
    assert model_ref(endless) == ModelRef(id=endless)
    asked = model_ref("claude-opus-4-6", requested=endless, message_id="msg_bdrk_1")
    assert asked == ModelRef(id="claude-opus-4-6", platform="bedrock")
