"""Hostile data: every way to spoil one field of a real object, any JSON at all, damaged bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

from ..bounded.decode import decode_object

__all__ = ["WRONG", "any_json", "damaged", "places", "spoilt", "with_value"]

WRONG: tuple[Any, ...] = (None, True, -1, 1.5, "7", "", [], [7], {}, {"7": 7})
"""Values of which at most one is of a field's own type."""


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


def places(value: Any) -> list[tuple[str | int, ...]]:
    """Return the way to every value inside *value*: the keys and indexes that lead there."""
    inner: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return [(key, *rest) for key, held in inner for rest in [(), *places(held)]]


def with_value(value: Any, place: Sequence[str | int], new: Any = ...) -> Any:
    """Return a copy of *value* with *new* at *place*; ``...`` takes away what is there."""
    key, *rest = place
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    if rest:
        copy[key] = with_value(copy[key], rest, new)
    elif new is ...:
        del copy[key]
    else:
        copy[key] = new
    return copy


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Draw *content* with a value replaced, bytes put in, cut out or overwritten, or other bytes.

    Args:
        draw: Hypothesis's own.
        content: JSON lines, or one payload.
    """
    way = draw(st.sampled_from(["value", "value", "insert", "overwrite", "cut", "other"]))
    lines = [raw for raw in content.splitlines(keepends=True) if decode_object(raw) is not None]
    if way == "value" and lines:
        index = draw(st.integers(0, len(lines) - 1))
        row = json.loads(lines[index])
        place = draw(st.sampled_from([(), *places(row)]))
        value = draw(st.sampled_from(WRONG) | any_json(*row))
        lines[index] = json.dumps(with_value(row, place, value) if place else value).encode()
        return b"\n".join(raw.rstrip(b"\n") for raw in lines) + b"\n"
    noise = draw(st.binary(max_size=20))
    if way == "other":
        return noise
    start = draw(st.integers(0, len(content)))
    stop = start + draw(st.integers(0, 40)) if way == "cut" else start
    if way == "overwrite":
        stop = start + len(noise)
    return content[:start] + (b"" if way == "cut" else noise) + content[stop:]
