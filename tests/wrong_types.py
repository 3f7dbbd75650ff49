"""Wrong JSON for tests: every way to spoil one field of a real object, and any value at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

__all__ = ["WRONG", "any_json", "spoilt"]

WRONG: tuple[Any, ...] = (None, True, -1, 1.5, "7", "", [], [7], {}, {"7": 7})


def spoilt(value: Any) -> Iterator[Any]:
    """Yield copies of *value* in each of which one value, at any depth, is a wrong one."""
    yield from WRONG
    if isinstance(value, dict):
        for key, inner in value.items():
            for wrong in spoilt(inner):
                yield {**value, key: wrong}
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            for wrong in spoilt(inner):
                yield [*value[:index], wrong, *value[index + 1 :]]


def any_json(*keys: str) -> st.SearchStrategy[Any]:
    """Return any JSON value, NaN included, whose objects have some of the *keys*."""
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from([*keys, "x"]), inner, max_size=4)
        ),
        max_leaves=8,
    )
