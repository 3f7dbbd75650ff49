from __future__ import annotations

from typing import Any

import pytest

from ctxmeasure.adapters.cursor.payload import is_percent, model_ref
from ctxmeasure.capability.model import ModelRef


@pytest.mark.parametrize("value", [0, 1, 100, 0.0, 0.4, 1.0, 92.5, 100.0])
def test_a_share_of_a_hundred_is_a_percentage(value: float) -> None:
    assert is_percent(value)


@pytest.mark.parametrize(
    "value", [-1, -0.1, 100.1, 101, float("nan"), float("inf"), True, None, "92.5", [92.5], {}]
)
def test_anything_else_is_none(value: object) -> None:
    assert not is_percent(value)


@pytest.mark.parametrize("named", ["", "default", "unknown", None, 7, ["claude-opus-5"]])
def test_a_placeholder_is_no_model(named: Any) -> None:
    assert model_ref(named) is None


def test_a_model_is_kept_as_it_is_written_and_asks_for_no_window() -> None:
    named = model_ref("claude-4.6-opus-high-thinking")
    assert named == ModelRef(id="claude-4.6-opus-high-thinking", long_context_marker=None)
