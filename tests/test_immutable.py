"""A mapping that stays what it is, wherever it is sent."""

from __future__ import annotations

import copy
import pickle

import pytest

from ctxmeasure.immutable import FrozenMapping


def test_it_is_a_copy_and_equal_to_any_mapping_with_the_same_items() -> None:
    items = {"a": 1}
    frozen = FrozenMapping(items)
    items["b"] = 2
    assert frozen == {"a": 1}
    assert (len(frozen), list(frozen), frozen["a"], repr(frozen)) == (1, ["a"], 1, "{'a': 1}")


def test_it_cannot_be_changed() -> None:
    frozen = FrozenMapping({"a": 1})
    with pytest.raises(TypeError):
        frozen["a"] = 2  # type: ignore[index]


def test_it_survives_pickling_and_copying() -> None:
    frozen = FrozenMapping({"a": 1})
    for again in (pickle.loads(pickle.dumps(frozen)), copy.copy(frozen), copy.deepcopy(frozen)):  # noqa: S301 - our own
        assert again == frozen
        assert type(again) is FrozenMapping
