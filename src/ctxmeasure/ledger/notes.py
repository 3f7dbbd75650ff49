"""``errors.log`` of a state folder: what went wrong where nobody watches, in a bounded file.

A note is a moment, who noted it, and a kind of fault; never a message from outside this package,
which could repeat what a session holds.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

__all__ = ["note"]

_MOST_BYTES = 64 * 1024  # some 700 notes; then the file is put aside, and the one before is gone
_FILE_MODE = 0o600


def note(folder: str | os.PathLike[str], *words: str, at: datetime) -> None:
    """Add a line of *words* to the notes of a state *folder*, if that can be done at all."""
    path = Path(folder) / "errors.log"
    line = " ".join((at.isoformat(timespec="seconds"), *words))
    try:
        if path.exists() and path.stat().st_size > _MOST_BYTES:
            path.replace(path.with_suffix(".log.old"))
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _FILE_MODE)
    except (OSError, ValueError):
        return
    try:
        os.write(descriptor, f"{line}\n".encode())
    except OSError:
        return
    finally:
        os.close(descriptor)
