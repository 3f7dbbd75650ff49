"""What is asked of a key-value store, and what was read of it: plain values.

A store is never listed or searched: one `Key` names one value. That there is no value has three
meanings (`Lack`), which are told apart because an agent's versions differ in exactly these.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import TypeAlias

from attrs import field, frozen

__all__ = ["Key", "KeyValues", "Lack", "Value"]


@frozen
class Key:
    """The name of one value: a column of the row whose key is given.

    Attributes:
        table: The table, as a constant of the adapter.
        key: The row's key; may be a native id, hidden from repr.
        column: The column with the value, as a constant of the adapter.
        key_column: The column with the key, as a constant of the adapter.
    """

    table: str
    key: str = field(repr=False)
    column: str = "value"
    key_column: str = "key"


class Lack(Enum):
    """Why there is no value under a key."""

    NO_COLUMN = "the store has no such table or column"
    NO_ROW = "the table has no row with this key"
    NULL = "the row holds NULL"


Value: TypeAlias = bytes | Lack
"""A value as the bytes that are stored, or why there is none."""


@frozen(eq=False)
class KeyValues:
    """What has been read of a store by now, all of it from one state of the store.

    Attributes:
        modified_at: When the store was last written to (aware, UTC), by the clock of its files.
    """

    modified_at: datetime
    _values: Mapping[Key, Value] = field(factory=dict, repr=False)

    def get(self, key: Key) -> Value | None:
        """Return the value under *key*, or None if it has not been asked for yet."""
        return self._values.get(key)

    def with_read(self, read: Mapping[Key, Value]) -> KeyValues:
        """Return these values and the ones just *read*."""
        return KeyValues(self.modified_at, {**self._values, **read})
