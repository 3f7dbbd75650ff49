"""A mapping that cannot be changed and, unlike `types.MappingProxyType`, can be pickled and copied.

Values of this library are sent between processes and kept in caches. Imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

__all__ = ["FrozenMapping"]

ValueT = TypeVar("ValueT")


class FrozenMapping(Mapping[str, ValueT]):
    """A copy of a mapping; equal to any mapping with the same items."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, ValueT]) -> None:
        self._items = dict(items)

    def __getitem__(self, key: str) -> ValueT:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return repr(self._items)
