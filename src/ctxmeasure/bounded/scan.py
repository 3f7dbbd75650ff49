"""A JSON-lines file from its beginning to its end, in constant memory.

`RowScan` reads block by block and gives the rows whose bytes hold a needle, the oldest first; what
lies between them is searched, never looked at. A few blocks are kept, so that an adapter can look
back at what was skipped. A line that is longer than the kept memory is skipped and counted.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from typing import Self

from attrs import define

from .budget import MIB, ReadFault, ReadStats
from .extent import Extent, ReadableSource, open_extent
from .jsonl import Row, check_needles, is_compressed

__all__ = ["RowScan"]

_BLOCK = MIB  # several needles are searched for in a block: it should stay in the processor's cache
_KEPT_BLOCKS = 4  # a turn has less than 2 MB in 99 % of real transcripts (formats/claude.md §1.5)
_LONGEST_LINE = 16 * MIB  # the longest of 77,405 real rows was 961 KB


@define(eq=False)
class _Block:
    """Complete lines of the file: ``content[:high]``, from the absolute offset *base* on."""

    base: int
    content: bytes
    high: int

    @property
    def end(self) -> int:
        """Absolute offset behind the last complete line."""
        return self.base + self.high


class RowScan:
    """Reads a file of JSON lines once, from its beginning; a context manager.

    Attributes:
        size: Bytes in the file when it was opened; what is appended later is not seen.
        fault: Why the file could not be read to its end, or None.
    """

    __slots__ = (
        "_at",
        "_blocks",
        "_bytes_read",
        "_decoded",
        "_extent",
        "_is_overlong",
        "_rest",
        "_skipped",
        "fault",
        "size",
    )

    fault: ReadFault | None
    size: int

    def __init__(self, extent: Extent) -> None:
        self._extent = extent
        self.size = extent.size
        self.fault = None
        self._at = 0  # absolute offset of what `_rest` begins with
        self._rest = b""  # read, but not yet known to be a complete line
        self._is_overlong = False  # `_rest` is the end of a line whose beginning was let go
        self._blocks: deque[_Block] = deque(maxlen=_KEPT_BLOCKS)
        self._bytes_read = 0
        self._decoded = 0
        self._skipped = 0

    @classmethod
    def open(cls, source: ReadableSource) -> RowScan | ReadFault:
        """Open *source* and read its first block.

        Returns:
            The scan, or why there is none: a compressed file is of an unknown schema.

        Raises:
            TypeError: *source* cannot be read from.
        """
        extent = open_extent(source)
        if isinstance(extent, ReadFault):
            return extent
        scan = cls(extent)
        scan._read_block()
        fault = scan.fault
        if scan._blocks and is_compressed(scan._blocks[0].content):
            fault = ReadFault.SCHEMA_UNKNOWN
        if fault is None:
            return scan
        scan.close()
        return fault

    @property
    def stats(self) -> ReadStats:
        """What the scan has cost by now."""
        return ReadStats(
            bytes_read=self._bytes_read, rows_decoded=self._decoded, rows_skipped=self._skipped
        )

    def first_row(self) -> Row | None:
        """Return the row in the file's first line, or None where that is no row.

        Only before `rows` was begun: the first block is not kept for good.
        """
        if not self._blocks or self._blocks[0].base > 0:
            return None
        content, high = self._blocks[0].content, self._blocks[0].high
        line_break = content.find(b"\n", 0, high)
        return Row.alone(0, content[: high if line_break < 0 else line_break])

    def rows(self, *needles: bytes, unless: Callable[[bytes], bool] | None = None) -> Iterator[Row]:
        """Return the rows whose bytes contain any of the *needles*, the oldest first and lazily.

        To be asked for once. Lines that are no JSON object are skipped and counted.

        Args:
            *needles: Byte strings without a line break; none of them: every row.
            unless: Whether a line that holds a needle cannot matter for all that, by its bytes: it
                is then not decoded.

        Raises:
            TypeError: A needle is not bytes.
            ValueError: A needle is empty or contains a line break.
        """
        check_needles(needles)
        return self._rows(needles, unless)

    @property
    def held_from(self) -> int:
        """Absolute offset of the oldest byte that `between` can still give."""
        return self._blocks[0].base if self._blocks else 0

    def between(self, start: int, stop: int) -> bytes | None:
        """Return the bytes from *start* to *stop* (absolute), or None where they are let go of."""
        pieces = []
        for block in self._blocks:
            if start < block.end and block.base < stop:
                low, high = start - block.base, stop - block.base
                pieces.append(block.content[max(low, 0) : min(high, block.high)])
        found = b"".join(pieces)
        return found if len(found) == stop - start else None

    def as_file(self) -> _Prefix:
        """Return the file as it was when it was opened, to be read by other means."""
        return _Prefix(self._extent)

    def close(self) -> None:
        """Close the file if it was opened here."""
        self._extent.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _rows(
        self, needles: tuple[bytes, ...], unless: Callable[[bytes], bool] | None
    ) -> Iterator[Row]:
        block = self._blocks[-1] if self._blocks else None
        while block is not None:
            content, base = block.content, block.base
            spans = _spans_with(content, needles, block.high) if needles else _spans(block)
            for start, stop in spans:
                raw = content[start:stop]
                if unless is not None and unless(raw):
                    continue
                row = Row.alone(base + start, raw)
                if row is not None:
                    self._decoded += 1
                    yield row
                else:
                    self._skipped += bool(raw.strip())
            block = self._read_block()

    def _read_block(self) -> _Block | None:
        """Read on until there is a complete line, and return the lines that came with it."""
        while self.fault is None and self._bytes_read < self.size:
            wanted = min(_BLOCK, self.size - self._bytes_read)
            piece = self._extent.read(self._bytes_read, wanted)
            if isinstance(piece, bytes) and len(piece) < wanted:
                piece = ReadFault.BUSY  # cut off below us by its writer
            if isinstance(piece, ReadFault):
                self.fault = piece
                break
            self._bytes_read += wanted
            block = self._completed(piece)
            if block is not None:
                self._blocks.append(block)
                return block
        return None

    def _completed(self, piece: bytes) -> _Block | None:
        """Return the lines that *piece* completes, or keep it until one is complete."""
        content, base = self._rest + piece, self._at
        if self._is_overlong:
            lost = content.find(b"\n") + 1 or len(content)
            self._is_overlong = not content.endswith(b"\n", 0, lost)
            content, base = content[lost:], base + lost
        is_last = self._bytes_read == self.size
        high = len(content) if is_last else content.rfind(b"\n") + 1
        if high == 0 and len(content) > _LONGEST_LINE:
            self._is_overlong = True
            self._skipped += 1
            content, base = b"", base + len(content)
        self._rest, self._at = content[high:], base + high
        return _Block(base, content, high) if high else None


class _Prefix:
    """A binary file object over an extent, which does not grow when the file does."""

    __slots__ = ("_extent", "_position")

    def __init__(self, extent: Extent) -> None:
        self._extent = extent
        self._position = 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._position = offset + (self._extent.size if whence == os.SEEK_END else 0)
        return self._position

    def read(self, count: int) -> bytes:
        """Return the next *count* bytes, or fewer at the end.

        Raises:
            OSError: The file cannot be read any more.
        """
        wanted = min(count, self._extent.size - self._position)
        found = self._extent.read(self._position, max(wanted, 0))
        if isinstance(found, ReadFault):
            raise OSError
        self._position += len(found)
        return found


def _spans(block: _Block) -> Iterator[tuple[int, int]]:
    """Yield start and stop of every line of *block*, the first first."""
    content, start, high = block.content, 0, block.high
    while start < high:
        line_break = content.find(b"\n", start, high)
        stop = high if line_break < 0 else line_break
        if start < stop:
            yield start, stop
        start = stop + 1


def _spans_with(content: bytes, needles: tuple[bytes, ...], high: int) -> Iterator[tuple[int, int]]:
    """Yield start and stop of every line before *high* that contains a needle, the first first.

    No byte is searched twice for one needle.
    """
    hits = [_hit(content, needle, 0, high) for needle in needles]
    while (hit := min(hits, default=high)) < high:
        start = content.rfind(b"\n", 0, hit) + 1
        line_break = content.find(b"\n", hit, high)
        stop = high if line_break < 0 else line_break
        yield start, stop
        for number, found in enumerate(hits):
            if found < stop:
                hits[number] = _hit(content, needles[number], stop, high)


def _hit(content: bytes, needle: bytes, low: int, high: int) -> int:
    """Return where *needle* is found between *low* and *high*, or *high*."""
    found = content.find(needle, low, high)
    return high if found < 0 else found
