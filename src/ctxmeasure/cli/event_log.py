"""A log of events: one line of JSON each, appended in one write, for its owner's eyes only."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["append"]

# A named pipe that nobody reads, or that is full, is refused and not waited for: the command has
# ended, and its caller waits for us.
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
_OWNER_ONLY = 0o600  # when it was worked, for how long and at what cost is nobody else's business


def append(path: str, event: Mapping[str, Any]) -> bool:
    """Append *event* to the log at *path*, which is made if need be; return whether it was done.

    The line goes in one write, so that several runners can share a log. Where a full disk
    left half of one at the end, it begins on a line of its own.
    """
    import json  # noqa: PLC0415 - only where asked for

    line = json.dumps(event, separators=(",", ":")).encode() + b"\n"
    try:
        log = os.open(path, _FLAGS, _OWNER_ONLY)
        try:
            if _ends_amid_a_line(log, path):
                line = b"\n" + line
            return os.write(log, line) == len(line)
        finally:
            os.close(log)
    except OSError:
        return False


def _ends_amid_a_line(log: int, path: str) -> bool:
    """Tell whether the open *log* is a file, and its end not that of a line."""
    state = os.fstat(log)
    if not stat.S_ISREG(state.st_mode) or not state.st_size:
        return False
    try:
        with Path(path).open("rb") as written:
            written.seek(-1, os.SEEK_END)
            return written.read(1) != b"\n"
    except OSError:  # we may write to it and not read
        return False
