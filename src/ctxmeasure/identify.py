"""Which source wrote this? Told by the first and last rows, beyond doubt or not at all.

Every source may declare how its rows are recognised; this room only asks them all. Agents copy each
other's formats, so one claim too many is an answer too: not known. Stands on the floor of the
verbs, which take the source that is found here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .bounded.budget import KIB, MIB, ReadBudget, ReadFault
from .bounded.extent import ReadableSource, beginning
from .bounded.jsonl import TailReader
from .bounded.payload import Payload, read_object
from .registry import sources
from .source import PayloadSource, Source

__all__ = ["claimant", "identify"]

_END = 64 * KIB  # of either end of the file; holds a row of 94 % of real transcripts
_PAYLOAD = ReadBudget(maximum=4 * MIB)  # as for reading one


def identify(data: ReadableSource) -> Source | ReadFault | None:
    """Return the source that wrote *data*, or None when that is in doubt.

    At most 64 KiB of either end are read, and up to 4 MiB where they may be one JSON object.

    Args:
        data: A path, a binary file object that can seek, or the content as bytes.

    Returns:
        The source; None when no source, or more than one, recognises *data*; or the reason why it
        could not be read.

    Raises:
        TypeError: *data* cannot be read from.
    """
    last = _rows(data)
    if isinstance(last, ReadFault):
        return last
    if len(last) < 2:
        payload = read_object(data, _PAYLOAD)
        if isinstance(payload, Payload):
            return claimant([payload.value])
    first = _first_rows(data)
    if isinstance(first, ReadFault):
        return first
    return claimant([*first, *last])


def claimant(rows: Sequence[Mapping[str, Any]]) -> Source | None:
    """Return the only source that recognises any of *rows*, or None.

    A payload is one object: sources of payloads are not asked about several rows.
    """
    several = len(rows) > 1
    claims = [
        source
        for source in sources()
        if source.recognise is not None
        and not (several and isinstance(source, PayloadSource))
        and any(map(source.recognise, rows))
    ]
    return claims[0] if len(claims) == 1 else None


def _rows(data: ReadableSource) -> list[Mapping[str, Any]] | ReadFault:
    """Return the last rows of *data*, without the one that is cut off."""
    reader = TailReader.open(data, ReadBudget(initial=_END, maximum=_END))
    if isinstance(reader, ReadFault):
        return reader
    with reader:
        return [row.value for row in reader.tail.rows()]


def _first_rows(data: ReadableSource) -> list[Mapping[str, Any]] | ReadFault:
    """Return the first rows of *data*, without the one that is cut off."""
    first = beginning(data, _END)
    if isinstance(first, ReadFault):
        return first
    return _rows(first[: first.rfind(b"\n") + 1])
