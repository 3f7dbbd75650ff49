"""A readable stretch of bytes of known size: a path, a binary file object or bytes, opened.

The thin edge of the house: every byte of a user's file passes through `Extent.read`. Nothing is
written, created or touched, nothing blocks (a FIFO or a device is refused unread), and what is not
ours to close stays open.
"""

from __future__ import annotations

import io
import os
import stat
from datetime import UTC, datetime
from typing import Any, BinaryIO, TypeAlias

from attrs import field, frozen

from .budget import ReadFault

__all__ = [
    "Extent",
    "ReadableSource",
    "beginning",
    "file_time",
    "open_extent",
    "read_fully",
    "written_at",
]

ReadableSource: TypeAlias = "str | os.PathLike[Any] | BinaryIO | bytes | bytearray | memoryview"
"""A path, a binary file object with ``seek`` and ``read``, or the content itself."""

_LAST_NS = 253_402_300_799_999 * 1_000_000  # the end of the year 9999
_EXPECTED = "data: expected a path, a binary file object or bytes"
# O_NONBLOCK: opening a FIFO must not wait for a writer. O_BINARY exists on Windows only.
_FLAGS = os.O_RDONLY
for _name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"):
    _FLAGS |= getattr(os, _name, 0)


def file_time(nanoseconds: int) -> datetime:
    """Return the moment that a file system gives in *nanoseconds* since 1970 (UTC, whole ms).

    File systems can hold years that no calendar has: these become its first or last moment.
    """
    milliseconds = min(max(nanoseconds, 0), _LAST_NS) // 1_000_000
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def written_at(file: Any) -> datetime | None:
    """Return when the regular file below a file object was last written to; None: there is none."""
    try:
        status = os.fstat(file.fileno())
    except (AttributeError, OSError, TypeError, ValueError):  # whatever it calls its number
        return None
    return file_time(status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


@frozen(eq=False)
class Extent:
    """An opened source.

    Attributes:
        size: Bytes in it when it was opened; what is appended later is not seen.
        modified_at: When the file was last written to before it was opened (aware, UTC); None for
            what is no file of a file system.
    """

    size: int
    modified_at: datetime | None
    _file: Any = field(repr=False)
    _owned: bool = field(repr=False)

    def read(self, start: int, count: int) -> bytes | ReadFault:
        """Return the *count* bytes from *start* on, or fewer when the file has shrunk."""
        try:
            self._file.seek(start)
            return read_fully(self._file, count)
        except (OSError, ValueError):  # ValueError: the file object was closed
            return ReadFault.UNREADABLE

    def close(self) -> None:
        """Close what `open_extent` opened itself; nothing else."""
        if self._owned:
            self._file.close()


def read_fully(file: Any, count: int) -> bytes:
    """Return *count* bytes of a binary file object, fewer only at its end.

    Short reads are repeated for the missing bytes only, so no byte is asked for after it was given.

    Raises:
        OSError: The file object raised it, or has no bytes now (a non-blocking one).
        TypeError: The file object gives text.
    """
    pieces = []
    missing = count
    while missing > 0:
        piece = file.read(missing)
        if piece is None:
            raise BlockingIOError
        if not isinstance(piece, bytes):
            raise TypeError(_EXPECTED)
        if not piece:
            break
        pieces.append(piece[:missing])
        missing -= len(piece)
    return b"".join(pieces)


def open_extent(source: ReadableSource) -> Extent | ReadFault:
    """Open *source* for reading, without reading.

    Returns:
        The extent, or the fault: absent, unreadable (no permission, not a regular file, an I/O
        error, a file object that cannot seek) or busy (another process holds a lease on it).

    Raises:
        TypeError: *source* is none of the things that can be read.
    """
    match source:
        case str() | os.PathLike():
            return _open_path(source)
        case bytes():
            return Extent(len(source), None, io.BytesIO(source), owned=True)
        case bytearray() | memoryview():
            return _open_view(memoryview(source))
        case io.TextIOBase():
            raise TypeError(_EXPECTED)
        case _ if callable(getattr(source, "read", None)) and hasattr(source, "seek"):
            return _open_file_object(source)
        case _:
            raise TypeError(_EXPECTED)


def beginning(source: ReadableSource, count: int) -> bytes | ReadFault:
    """Return the first *count* bytes of *source*, or all of them if it has fewer.

    Raises:
        TypeError: *source* is none of the things that can be read.
    """
    extent = open_extent(source)
    if isinstance(extent, ReadFault):
        return extent
    try:
        return extent.read(0, min(count, extent.size))
    finally:
        extent.close()


def _open_path(path: str | os.PathLike[Any]) -> Extent | ReadFault:
    try:
        descriptor = os.open(path, _FLAGS)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return ReadFault.ABSENT  # ValueError: a NUL or a lone surrogate; no file has such a name
    except BlockingIOError:
        return ReadFault.BUSY
    except OSError:
        return ReadFault.UNREADABLE
    try:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode):
            file = io.FileIO(descriptor)
            return Extent(status.st_size, file_time(status.st_mtime_ns), file, owned=True)
    except OSError:  # a stale network file
        pass
    os.close(descriptor)
    return ReadFault.UNREADABLE


def _open_view(view: memoryview) -> Extent:
    if not view.c_contiguous:
        raise TypeError(_EXPECTED)
    return Extent(view.nbytes, None, _ViewFile(view.cast("B")), owned=True)


def _open_file_object(file: Any) -> Extent | ReadFault:
    try:
        size = file.seek(0, os.SEEK_END)
        if size is None:  # mmap before Python 3.13
            size = file.tell()
    except (OSError, ValueError):
        return ReadFault.UNREADABLE
    return Extent(size, written_at(file), file, owned=False)


class _ViewFile:
    """A file over a memoryview, which `io.BytesIO` would copy whole."""

    __slots__ = ("_position", "_view")

    def __init__(self, view: memoryview) -> None:
        self._view = view
        self._position = 0

    def seek(self, position: int) -> None:
        self._position = position

    def read(self, count: int) -> bytes:
        piece = bytes(self._view[self._position : self._position + count])
        self._position += len(piece)
        return piece

    def close(self) -> None:
        self._view.release()
