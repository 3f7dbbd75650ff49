from __future__ import annotations

from typing import Any

import pytest

from ctxmeasure.adapters.cursor.payload import is_percent, model_ref, rounding
from ctxmeasure.capability.model import ModelRef


@pytest.mark.parametrize("value", [0, 1, 100, 0.0, 0.4, 1.0, 92.5, 100.0])
def test_a_share_of_a_hundred_is_a_percentage(value: float) -> None:
    assert is_percent(value)


@pytest.mark.parametrize(
    "value", [-1, -0.1, 100.1, 101, float("nan"), float("inf"), True, None, "92.5", [92.5], {}]
)
def test_anything_else_is_none(value: object) -> None:
    assert not is_percent(value)


@pytest.mark.parametrize(
    ("stated", "used", "limit"),
    [
        (18, 46_427, 272_000),  # 17.07, rounded up
        (57.731998443603516, 57_732, 100_000),  # float32
        (80.67867279052734, 272_000 - 52_554, 272_000),
        (16.7, 42_825, 256_000),  # 16.73, rounded to a tenth
    ],
)
def test_what_cursor_states_of_a_pair_is_within_its_rounding(
    stated: float, used: int, limit: int
) -> None:
    assert abs(stated - 100 * used / limit) <= rounding(stated)


def test_what_contradicts_a_pair_is_not() -> None:
    assert abs(55 - 100 * 111_068 / 272_000) > rounding(55)


@pytest.mark.parametrize("named", ["", "default", "unknown", None, 7, ["claude-opus-5"]])
def test_a_placeholder_is_no_model(named: Any) -> None:
    assert model_ref(named) is None


def test_a_model_is_kept_as_it_is_written_and_asks_for_no_window() -> None:
    named = model_ref("claude-4.6-opus-high-thinking")
    assert named == ModelRef(id="claude-4.6-opus-high-thinking", long_context_marker=None)
