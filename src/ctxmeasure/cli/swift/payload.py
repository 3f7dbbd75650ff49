"""The payload on standard input: all of it is taken, a part of it is held, and no wait is endless.

An agent that writes into a pipe which nobody reads to its end gets an error for its trouble, so the
reading goes on when there is too much to hold.
"""

from __future__ import annotations

import os
import select
import time

TYPE_CHECKING = False  # typing's own, without importing it
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["HELD", "pass_on", "read"]

# A hook repeats a tool's whole answer: an image or a large file is several MB.
HELD = 16 * 1024 * 1024
"""How many bytes are held, and one more to tell that there were too many."""

_PIECE = 1024 * 1024
_PATIENCE = 2.0  # seconds from one piece to the end of all; an agent has it ready when it calls


def read(descriptor: int = 0) -> bytes:
    """Return what comes from *descriptor* until its end, at most `HELD` bytes and one more.

    What cannot be read, and what does not come in time, is left out.
    """
    return _held(_pieces(descriptor))


def pass_on(drain: int, descriptor: int = 0) -> bytes:
    """Return what `read` does, and write all that comes, and whenever it does, to *drain*.

    A reader at the other end that has seen enough loses nothing for us.
    """
    return _held(_passed_on(drain, _pieces(descriptor, None)))


def _held(pieces: Iterable[bytes]) -> bytes:
    held = bytearray()
    for piece in pieces:
        held += piece[: HELD + 1 - len(held)]
    return bytes(held)


def _pieces(descriptor: int, patience: float | None = _PATIENCE) -> Iterator[bytes]:
    end = None if patience is None else time.monotonic() + patience
    try:
        while _is_ready(descriptor, end):
            piece = os.read(descriptor, _PIECE)
            if not piece:
                return
            yield piece
    except OSError:  # it was closed before this process began
        return


def _is_ready(descriptor: int, end: float | None) -> bool:
    patience = None if end is None else max(0.0, end - time.monotonic())
    return bool(select.select([descriptor], [], [], patience)[0])


def _passed_on(drain: int, pieces: Iterable[bytes]) -> Iterator[bytes]:
    is_open = True
    for piece in pieces:
        left = piece
        while is_open and left:
            try:
                left = left[os.write(drain, left) :]
            except OSError:  # the other end is closed
                is_open = False
        yield piece
