"""The wire format of protocol buffers: a message's fields by number, and nothing of their meaning.

Enough for two numbers of a message whose other fields nobody here needs to know. Groups have been
out of use since proto3, so a message with one is none of Cursor's.
"""

from __future__ import annotations

from typing import TypeAlias

__all__ = ["Message", "fields"]

Message: TypeAlias = dict[int, list[int | bytes]]
"""The values under each field number, in their order: a whole number for a varint, else bytes."""

_LONGEST_VARINT = 10  # bytes of 7 bits each, for 64 bits
_VARINT, _FIXED64, _LENGTH_DELIMITED, _FIXED32 = 0, 1, 2, 5


def fields(message: bytes) -> Message | None:
    """Return the fields of *message*, or None when it is cut off or no message at all."""
    found: Message = {}
    position = 0
    while position < len(message):
        key, position = _varint(message, position)
        value, position = _value(message, position, wire_type=key & 7)
        if value is None or not 0 < key >> 3 < 1 << 29:
            return None
        found.setdefault(key >> 3, []).append(value)
    return found


def _value(message: bytes, start: int, wire_type: int) -> tuple[int | bytes | None, int]:
    """Return the value that begins at *start* and where it ends; None if there is none."""
    if wire_type == _VARINT:
        number, stop = _varint(message, start)
        return (None if number < 0 else number), stop
    if wire_type == _LENGTH_DELIMITED:
        length, start = _varint(message, start)
    else:
        length = {_FIXED64: 8, _FIXED32: 4}.get(wire_type, -1)
    stop = start + length
    if length < 0 or stop > len(message):
        return None, start
    return message[start:stop], stop


def _varint(message: bytes, start: int) -> tuple[int, int]:
    """Return the number that begins at *start* and where it ends; -1 if there is none."""
    number = 0
    for place, byte in enumerate(message[start : start + _LONGEST_VARINT]):
        number |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return (number if number < 1 << 64 else -1), start + place + 1
    return -1, start
