"""The tail of a JSON-lines file: its last rows, newest first, within a byte budget.

`TailReader` is the thin edge: it reads a window at the file's end and doubles it on demand, and
asks for no byte twice; where the first row of the file says whose rows these are, it reads that
row too. `Tail` is what an adapter gets: rows that are decoded only when their bytes
hold a needle, so that a megabyte of tool output costs one pass in C and nothing else. Where real
rows lie: formats/claude.md §1.5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Self, TypeAlias

from attrs import define, field, frozen

from .budget import KIB, ReadBudget, ReadFault, ReadStats
from .decode import decode_object, repeats_keys
from .extent import Extent, ReadableSource, open_extent

__all__ = ["Row", "Tail", "TailReader", "check_needles", "is_compressed"]

_BOM = b"\xef\xbb\xbf"
_ZSTANDARD = b"\x28\xb5\x2f\xfd"  # what a file compressed by Zstandard begins with (RFC 8878)
_HEAD_STEP = 16 * KIB  # a first row is 9 to 24 KiB long in recordings of Codex 0.120 to 0.171
_Span: TypeAlias = tuple[int, int]


@define(eq=False)
class _Window:
    """The bytes held of a file; grows at its front only.

    Every tail and row of one reading refers to the one window, so that its bytes are held once.

    Attributes:
        base: Absolute offset of the first byte held.
        content: The bytes held.
    """

    base: int
    content: bytes

    def prepend(self, older: bytes) -> None:
        """Put the bytes that lie just before the window in front of it."""
        self.content = older + self.content
        self.base -= len(older)

    def line(self, start: int, stop: int) -> bytes:
        """Return the line from *start* to *stop* (absolute) without the file's byte order mark."""
        raw = self.content[start - self.base : stop - self.base]
        return raw.removeprefix(_BOM) if start == 0 else raw


@frozen
class Row:
    """One decoded row.

    Attributes:
        offset: Absolute offset in bytes of the row's first byte in the file.
        value: The decoded JSON object. Treat as immutable: later questions get the same object.
    """

    offset: int
    value: dict[str, Any] = field(repr=False)
    _stop: int = field(repr=False)
    _window: _Window = field(repr=False, eq=False)

    @classmethod
    def alone(cls, offset: int, raw: bytes) -> Row | None:
        """Return the row that the line *raw* at *offset* is, holding its own bytes; None if none.

        A row outlives the window that it was read with only if it keeps nothing else alive.
        """
        window = _Window(offset, raw)
        stop = offset + len(raw)
        value = decode_object(window.line(offset, stop))
        return None if value is None else cls(offset, value, stop, window)

    @property
    def stop(self) -> int:
        """Absolute offset in bytes of the end of the row's line, without its line break."""
        return self._stop

    def has_duplicate_keys(self) -> bool:
        """Tell whether any object in the row names a key twice (the value keeps the last)."""
        return repeats_keys(self._window.line(self.offset, self._stop), self.value)


@frozen(eq=False)
class Tail:
    """An immutable view on the last bytes of a JSON-lines file.

    Attributes:
        size: The file's size in bytes at opening.
        truncated: The window does not reach the beginning of the file. Its first line is then no
            row, because its beginning is not known.
    """

    size: int
    truncated: bool
    _bytes_read: int = field(repr=False)
    _first: int = field(repr=False)  # absolute offset of the first complete line
    _window: _Window = field(repr=False)
    _head: _Window | None = field(repr=False)  # the file's first line, read beside the window
    # The rows of the whole reading by absolute offset; None for those that could not be decoded.
    _decoded: dict[int, Row | None] = field(repr=False)

    @property
    def stats(self) -> ReadStats:
        """What the reading has cost by now."""
        skipped = sum(row is None for row in self._decoded.values())
        return ReadStats(
            bytes_read=self._bytes_read,
            rows_decoded=len(self._decoded) - skipped,
            rows_skipped=skipped,
            window_truncated=self.truncated,
        )

    @property
    def first_complete(self) -> int:
        """Absolute offset of the window's first complete line."""
        return self._first

    @property
    def cut_off(self) -> int:
        """How many bytes of the line that the window's beginning cuts are in it."""
        return self._first - self._window.base

    @property
    def no_complete_row(self) -> bool:
        """The window lies wholly inside one line that is longer than it."""
        if not self.truncated:
            return False
        window = self._window
        end = window.base + len(window.content)
        if window.content.find(b"\n", self._first - window.base) >= 0:
            return False
        return self._first == end or self._row(self._first, end, window) is None

    def first_row(self) -> Row | None:
        """Return the file's first row, or None where it was not read or is no row.

        It is read when the window reaches the beginning of the file, and beside the window when
        the reader was asked for a head.
        """
        window = self._head or self._window
        if window.base > 0 or not window.content:
            return None
        line_break = window.content.find(b"\n")
        return self._row(0, len(window.content) if line_break < 0 else line_break, window)

    def contains(
        self, *needles: bytes, after: int | None = None, before: int | None = None
    ) -> bool:
        """Tell whether any complete line of the window contains any of the *needles*.

        Args:
            *needles: Byte strings without a line break.
            after: Only what lies behind this absolute offset.
            before: Only what lies before this absolute offset.

        Raises:
            TypeError: A needle is not bytes.
            ValueError: A needle is empty or contains a line break.
        """
        check_needles(needles)
        content, base = self._window.content, self._window.base
        low = self._first if after is None else max(self._first, after)
        high = len(content) if before is None else before - base
        return any(content.rfind(needle, low - base, high) >= 0 for needle in needles)

    def line_before(self, offset: int) -> tuple[int, bytes] | None:
        """Return where the line before the one at *offset* begins (absolute), and its bytes.

        None where the window holds no complete one. Nothing is decoded.
        """
        content, base = self._window.content, self._window.base
        stop = offset - 1 - base
        if stop < self._first - base:
            return None
        start = content.rfind(b"\n", 0, stop) + 1
        return base + start, content[start:stop]

    def rows(
        self,
        *needles: bytes,
        before: int | None = None,
        unless: Callable[[bytes], bool] | None = None,
    ) -> Iterator[Row]:
        """Return the rows whose bytes contain any of the *needles*, newest first and lazily.

        Lines that contain none of them are never looked at. Lines that are no JSON object are
        skipped and counted, once each.

        Args:
            *needles: Byte strings without a line break; none of them: every row.
            before: Only rows that start before this absolute offset.
            unless: Whether a line that holds a needle cannot matter for all that, by its bytes: it
                is then not decoded.

        Raises:
            TypeError: A needle is not bytes, or *before* is not an int.
            ValueError: A needle is empty or contains a line break.
        """
        check_needles(needles)
        if before is not None and type(before) is not int:
            raise TypeError("before: expected an int")
        return self._rows(needles, before, unless)

    def _rows(
        self,
        needles: tuple[bytes, ...],
        before: int | None,
        unless: Callable[[bytes], bool] | None,
    ) -> Iterator[Row]:
        window = self._window
        content, base = window.content, window.base
        low, high = self._first - base, len(content)
        if before is not None and before - base < high:
            high = _line_end(content, before - base, low)
        spans = _spans_with(content, needles, low, high) if needles else _spans(content, low, high)
        for start, stop in spans:
            if unless is not None and unless(content[start:stop]):
                continue
            row = self._row(base + start, base + stop, window)
            if row is not None:
                yield row

    def _row(self, start: int, stop: int, window: _Window) -> Row | None:
        """Return the row from *start* to *stop* (absolute), decoding it only the first time."""
        if start in self._decoded:
            return self._decoded[start]
        raw = window.line(start, stop)
        value = decode_object(raw)
        if value is None and not raw.strip():
            return None  # a blank line is no row, so none was lost
        row = None if value is None else Row(start, value, stop, window)
        self._decoded[start] = row
        return row


def check_needles(needles: tuple[bytes, ...]) -> None:
    """Refuse needles that no line of a file can hold.

    Raises:
        TypeError: A needle is not bytes.
        ValueError: A needle is empty or contains a line break.
    """
    for needle in needles:
        if not isinstance(needle, bytes):
            raise TypeError("needles: expected bytes")
        if not needle or b"\n" in needle:
            raise ValueError("needles: expected at least one byte and no line break")


def is_compressed(beginning: bytes) -> bool:
    """Tell whether a file that begins so holds no lines, but their compressed form."""
    return beginning.startswith(_ZSTANDARD)


def _line_end(content: bytes, before: int, low: int) -> int:
    """Return the end of the last line that starts before the position *before*."""
    if before <= low:
        return low
    end = content.find(b"\n", before - 1)
    return len(content) if end < 0 else end


def _spans(content: bytes, low: int, high: int) -> Iterator[_Span]:
    """Yield start and stop of every line between *low* and *high*, the last first."""
    stop = high
    while stop > low:
        start = content.rfind(b"\n", low, stop) + 1 or low
        if start < stop:
            yield start, stop
        stop = start - 1


def _spans_with(content: bytes, needles: tuple[bytes, ...], low: int, high: int) -> Iterator[_Span]:
    """Yield start and stop of every line that contains a needle, the last first.

    No byte is searched twice for one needle, and none that lies before the line asked for unless
    an earlier needle was not found behind it: put the needle that is found soonest first.
    """
    hits = dict.fromkeys(needles, -1)  # the needle's last hit before `high`, while it is known
    tops = dict.fromkeys(needles, high)  # from here on nothing of the needle is left to find
    while True:
        last, stop, floor = -1, high, low
        for needle in hits:
            if hits[needle] < 0:
                hits[needle] = content.rfind(needle, floor, tops[needle])
                if hits[needle] < 0:
                    tops[needle] = min(tops[needle], floor)
            if hits[needle] > last:
                last = hits[needle]
                line_break = content.find(b"\n", last, high)
                stop = high if line_break < 0 else line_break
                floor = stop + 1  # only a line that comes later can come first
        if last < 0:
            return
        high = content.rfind(b"\n", low, last) + 1 or low
        yield high, stop
        for needle, hit in hits.items():
            tops[needle] = min(tops[needle], high)
            if hit >= high:
                hits[needle] = -1


class TailReader:
    """Reads the end of a file and, on demand, what lies before it; a context manager.

    Attributes:
        tail: The current window.
        fault: Why the window cannot grow any more, or None: the budget and the beginning of the
            file are no faults.
    """

    __slots__ = (
        "_budget",
        "_bytes_read",
        "_decoded",
        "_extent",
        "_head",
        "_window",
        "fault",
        "tail",
    )

    fault: ReadFault | None
    tail: Tail

    def __init__(
        self, extent: Extent, budget: ReadBudget, window: _Window, bytes_read: int
    ) -> None:
        self._extent = extent
        self._budget = budget
        self._window = window
        self._head = b""  # the file's first bytes, while there is a gap between them and the window
        self._bytes_read = bytes_read
        self._decoded: dict[int, Row | None] = {}
        self.fault = None
        self.tail = self._view()

    @classmethod
    def open(
        cls, source: ReadableSource, budget: ReadBudget, *, head: int = 0
    ) -> TailReader | ReadFault:
        """Open *source* and read its first window.

        Args:
            source: A path, a binary file object with ``seek`` and ``read``, or bytes. A file
                object is not closed and its position is not restored.
            budget: How many bytes may be asked for.
            head: How many bytes of the file's beginning may be read for its first row, within the
                budget; 0 reads nothing but the end.

        Returns:
            The reader, or why there is none: a file that is seen to be compressed is of an unknown
            schema.

        Raises:
            TypeError: *source* cannot be read from.
        """
        extent = open_extent(source)
        if isinstance(extent, ReadFault):
            return extent
        wanted = min(budget.initial, budget.maximum, extent.size)
        base = extent.size - wanted
        content = extent.read(base, wanted)
        if not content and wanted:
            content = ReadFault.BUSY  # cut off below us by its writer
        if isinstance(content, ReadFault):
            extent.close()
            return content
        reader = cls(extent, budget, _Window(base, content), wanted)
        fault = reader._read_head(head)
        if fault is None:
            return reader
        reader.close()
        return fault

    @property
    def stats(self) -> ReadStats:
        """What the reading has cost by now."""
        return self.tail.stats

    @property
    def modified_at(self) -> datetime | None:
        """When the file was last written to (aware, UTC), as of opening; None: it is no file."""
        return self._extent.modified_at

    def grow(self) -> bool:
        """Double the window within the budget by reading the bytes before it.

        Returns:
            Whether there is more to see in `tail`. False when the budget or the beginning of the
            file is reached, or when the file could not be read on (`fault` says why).
        """
        window = self._window
        unseen = window.base - len(self._head)
        wanted = min(len(window.content), self._budget.maximum - self._bytes_read, unseen)
        if wanted == 0 or self.fault is not None:
            return False
        older = self._read(window.base - wanted, wanted)
        if isinstance(older, ReadFault):
            self.fault = older
        else:
            window.prepend(older)
            self._close_gap()
        self.tail = self._view()
        return self.fault is None

    def reach(self, *needles: bytes) -> None:
        """Grow until a complete line contains one of the *needles*, or as far as it goes.

        No line is searched twice, and none is decoded.

        Raises:
            TypeError: A needle is not bytes.
            ValueError: A needle is empty or contains a line break.
        """
        check_needles(needles)
        unseen_to: int | None = None
        while not self.tail.contains(*needles, before=unseen_to):
            unseen_to = self.tail.first_complete
            if not self.grow():
                return

    def close(self) -> None:
        """Close the file if it was opened here; the tail stays usable."""
        self._extent.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, start: int, count: int) -> bytes | ReadFault:
        """Return the *count* bytes from *start* on, and count them."""
        self._bytes_read += count
        found = self._extent.read(start, count)
        if isinstance(found, bytes) and len(found) < count:
            return ReadFault.BUSY  # cut off below us by its writer
        return found

    def _read_head(self, head: int) -> ReadFault | None:
        """Read the file's first line as far as *head*, the window and the budget allow."""
        head = min(head, self._window.base)
        while b"\n" not in self._head:
            seen = len(self._head)
            wanted = min(_HEAD_STEP, head - seen, self._budget.maximum - self._bytes_read)
            if wanted <= 0:
                break
            piece = self._read(seen, wanted)
            if isinstance(piece, ReadFault):
                return piece
            self._head += piece
        if self._head:
            self._close_gap()
            self.tail = self._view()
        beginning = self._head or (b"" if self._window.base else self._window.content)
        if is_compressed(beginning):
            return ReadFault.SCHEMA_UNKNOWN
        return None

    def _close_gap(self) -> None:
        """Make head and window one where they meet."""
        if self._head and self._window.base == len(self._head):
            self._window.prepend(self._head)
            self._head = b""

    def _view(self) -> Tail:
        window = self._window
        first = window.base
        if window.base > 0:
            # The first byte is a probe: a line break there shows that the next line is complete.
            line_break = window.content.find(b"\n")
            first += line_break + 1 if line_break >= 0 else len(window.content)
        return Tail(
            size=self._extent.size,
            truncated=window.base > 0,
            bytes_read=self._bytes_read,
            first=first,
            window=window,
            head=_Window(0, self._head) if b"\n" in self._head else None,
            decoded=self._decoded,
        )
