"""Standard input as data: a redirected file as it is, a pipe as its two ends, or chunk by chunk.

A pipe cannot seek, and files are read from their end. So a pipe is read through once and only its
end is held, as many bytes as a reading may ask for, and its first row's worth of the beginning.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from datetime import datetime
from io import BytesIO
from typing import Any, BinaryIO, cast

import click

from ..bounded import extent
from ..bounded.budget import KIB, MIB

__all__ = ["IS_TERMINAL", "PipeEnds", "as_file", "pieces", "written_at"]

IS_TERMINAL = "Standard input is a terminal: pipe or redirect the data into it."
"""What a person is told who typed a command and nothing for it to read."""

_HELD = 4 * MIB  # the largest budget of a reading, unless the caller names one
HEAD_HELD = 64 * KIB
"""How much of a pipe's beginning is held: the most that a source asks of a file's first row."""
_CHUNK = MIB
_READY = 64 * 1024  # the size of a pipe on Linux: what a writer can have ready


class PipeEnds:
    """The beginning and the end of a pipe, as a file that can seek.

    Args:
        pipe: What to read, to its end.
        held: How many of its last bytes to hold; of the first no more than `HEAD_HELD`.

    Raises:
        OSError: The pipe cannot be read.
    """

    def __init__(self, pipe: BinaryIO, held: int) -> None:
        self._beginning = bytearray()
        self._end = bytearray()
        self._size = 0
        self._position = 0
        while piece := pipe.read(_CHUNK):
            self._size += len(piece)
            self._beginning += piece[: HEAD_HELD - len(self._beginning)]
            self._end += piece
            del self._end[:-held]

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to *offset*, counted from the beginning or from the end of all that came."""
        self._position = offset + (self._size if whence == os.SEEK_END else 0)
        return self._position

    def read(self, count: int) -> bytes:
        """Return the next *count* bytes at most; none where the pipe's middle was let go."""
        start = self._position - (self._size - len(self._end))
        held, start = (self._end, start) if start >= 0 else (self._beginning, self._position)
        piece = bytes(held[start : start + count])
        self._position += len(piece)
        return piece


def as_file(held: int | None = None) -> BinaryIO:
    """Return standard input as a file that can seek, for a reading of at most *held* bytes.

    One that cannot be read is returned as a file that cannot be read either: it gets its named
    missing state like any other.

    Raises:
        click.UsageError: Standard input is a terminal.
    """
    pipe = _standard_input()
    if pipe.closed or pipe.seekable():
        return pipe
    try:
        return cast("BinaryIO", PipeEnds(pipe, held or _HELD))
    except OSError:
        return pipe


def pieces() -> Iterator[bytes]:
    """Yield standard input as it comes, in pieces that end at most one line each.

    Raises:
        click.UsageError: Standard input is a terminal.
    """
    pipe: Any = _standard_input()
    while True:
        try:
            chunk = pipe.read1(_READY)
        except (OSError, ValueError):  # ValueError: it was closed
            return
        if not chunk:
            return
        yield from chunk.splitlines(keepends=True)


def written_at() -> datetime | None:
    """Return when the file that standard input is redirected from was written; None: it is none.

    Raises:
        click.UsageError: Standard input is a terminal.
    """
    return extent.written_at(_standard_input())


def _standard_input() -> BinaryIO:
    if sys.stdin is None:  # closed before this process began
        nothing = BytesIO()
        nothing.close()
        return nothing
    pipe = sys.stdin.buffer
    if pipe.isatty():
        raise click.UsageError(IS_TERMINAL)
    return pipe
