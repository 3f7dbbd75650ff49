from __future__ import annotations

from typing import Any

import pytest

from ctxmeasure.bounded.budget import ReadBudget


@pytest.mark.parametrize("name", ["initial", "maximum"])
@pytest.mark.parametrize("value", [True, 1.0, "1", None])
def test_a_budget_is_a_number_of_bytes(name: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"^{name}: "):
        ReadBudget(**{name: value})


@pytest.mark.parametrize("name", ["initial", "maximum"])
@pytest.mark.parametrize("value", [0, -1])
def test_a_budget_allows_at_least_one_byte(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"^{name}: "):
        ReadBudget(**{name: value})
