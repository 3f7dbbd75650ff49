"""A log of events: one line of JSON each, appended in one write, for its owner's eyes only."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

__all__ = ["append"]

# A named pipe that nobody reads, or that is full, is refused and not waited for: the command has
# ended, and its caller waits for us.
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
_OWNER_ONLY = 0o600  # when it was worked, for how long and at what cost is nobody else's business


def append(path: str, event: Mapping[str, Any]) -> bool:
    """Append *event* to the log at *path*, which is made if need be; return whether it was done.

    The line goes in one write, so that several runners can share a log.
    """
    import json  # noqa: PLC0415 - only where asked for

    line = json.dumps(event, separators=(",", ":")).encode() + b"\n"
    try:
        log = os.open(path, _FLAGS, _OWNER_ONLY)
        try:
            return os.write(log, line) == len(line)
        finally:
            os.close(log)
    except OSError:
        return False
