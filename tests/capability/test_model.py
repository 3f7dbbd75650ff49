"""A model as a runtime, or the caller, names it."""

from __future__ import annotations

import pytest

from ctxmeasure.capability.model import ModelRef


@pytest.mark.parametrize("marker", ["[1m]", "[1M]"])
def test_a_model_started_with_the_marker_asked_for_the_long_window(marker: str) -> None:
    assert ModelRef.as_started(f"claude-opus-4-6{marker}") == ModelRef(
        id="claude-opus-4-6", long_context_marker=True
    )


def test_a_model_started_without_the_marker_did_not_ask() -> None:
    assert ModelRef.as_started("claude-opus-4-6") == ModelRef(
        id="claude-opus-4-6", long_context_marker=False
    )


def test_a_model_has_a_name() -> None:
    with pytest.raises(ValueError, match=r"^model:"):
        ModelRef.as_started("")
