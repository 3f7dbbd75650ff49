"""One JSON object that fills a file or a pipe: a status-line payload, a hook payload.

Read forward and whole, or not at all: more bytes than the budget allows are a named fault. Unlike a
row, a payload is refused when it names a key twice, because nothing else in it could be trusted.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from attrs import field, frozen

from .budget import ReadBudget, ReadFault, ReadStats
from .decode import decode_object, repeats_keys
from .extent import ReadableSource, open_extent, read_fully

__all__ = ["Payload", "read_object"]

# PowerShell's pipes and redirections write UTF-16 with a byte order mark (Cursor on Windows).
_ENCODINGS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_UTF8_BOM = b"\xef\xbb\xbf"


@frozen
class Payload:
    """A decoded payload.

    Attributes:
        value: The JSON object.
        stats: What the reading cost.
        modified_at: When the file that holds it was last written to (aware, UTC); None: no file.
    """

    value: dict[str, Any] = field(repr=False)
    stats: ReadStats
    modified_at: datetime | None = None


def read_object(source: ReadableSource, budget: ReadBudget) -> Payload | ReadFault:
    """Read the one JSON object that *source* holds, from its beginning.

    Args:
        source: A path, a binary file object (a pipe such as ``sys.stdin.buffer`` too), or the
            content as bytes.
        budget: How many bytes may be asked for.

    Returns:
        The payload; or `ReadFault.BUDGET_EXHAUSTED` when *source* is longer than the budget,
        `ReadFault.MALFORMED` when it is empty, undecodable, not a JSON object or names a key
        twice, or the reason why it could not be opened.

    Raises:
        TypeError: *source* cannot be read from.
    """
    if _is_pipe(source):
        return _read_pipe(source, budget)
    extent = open_extent(source)
    if isinstance(extent, ReadFault):
        return extent
    try:
        if extent.size > budget.maximum:
            return ReadFault.BUDGET_EXHAUSTED
        raw = extent.read(0, extent.size)
    finally:
        extent.close()
    if isinstance(raw, ReadFault):
        return raw
    return _payload(raw, asked=extent.size, modified_at=extent.modified_at)


def _is_pipe(source: Any) -> bool:
    """Tell whether *source* is an open file object that cannot seek."""
    seekable = getattr(source, "seekable", None)
    try:
        return callable(seekable) and not seekable()
    except ValueError:  # it was closed
        return False


def _read_pipe(pipe: Any, budget: ReadBudget) -> Payload | ReadFault:
    """Read a pipe to its end; the budget's last byte is a probe for the end."""
    try:
        raw = read_fully(pipe, budget.maximum)
    except (OSError, ValueError):
        return ReadFault.UNREADABLE
    if len(raw) == budget.maximum:
        return ReadFault.BUDGET_EXHAUSTED
    return _payload(raw, asked=len(raw))


def _payload(raw: bytes, asked: int, modified_at: datetime | None = None) -> Payload | ReadFault:
    text = _utf8(raw)
    value = decode_object(text)
    if value is None or repeats_keys(text, value):
        return ReadFault.MALFORMED
    return Payload(value, ReadStats(bytes_read=asked, rows_decoded=1), modified_at)


def _utf8(raw: bytes) -> bytes:
    """Return *raw* in UTF-8 without a byte order mark; b"" when it is not in its encoding."""
    encoding = _ENCODINGS.get(raw[:2])
    if encoding is not None:
        raw = raw[2:]
    elif raw[1:2] == b"\0":  # no JSON text in UTF-8 has a NUL, every one in UTF-16-LE has this one
        encoding = "utf-16-le"
    else:
        return raw.removeprefix(_UTF8_BOM)
    try:
        return raw.decode(encoding).encode()
    except UnicodeDecodeError:
        return b""
