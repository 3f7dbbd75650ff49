"""A small file of our own that only its owner may read: what a hook remembers for the next one.

Written whole or not at all: a reader sees the old content or the new one, never a part, also when
the writer is killed. No lock is taken: writers that depend on what they read need one around both.
The only module of this room that writes. Imports nothing of ours but the budget.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from .budget import ReadFault

__all__ = ["read_owner_file", "write_owner_file"]

_OWNER_ONLY = 0o600
_LONGEST = 1024 * 1024  # what is remembered is bounded, and far smaller


def write_owner_file(path: str | os.PathLike[str], content: bytes) -> bool:
    """Put *content* in the place of the file at *path*, with mode 0600; its folder must exist.

    Returns:
        Whether it was written. If not, the file is as it was.
    """
    target = Path(path)
    draft = target.with_name(f"{target.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
    except (OSError, ValueError):
        return False
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        draft.replace(target)
    except OSError:
        with suppress(OSError):
            draft.unlink()
        return False
    return True


def read_owner_file(path: str | os.PathLike[str]) -> bytes | ReadFault:
    """Return what `write_owner_file` put at *path*.

    Returns:
        The content; `ReadFault.ABSENT`, `ReadFault.UNREADABLE`, or `ReadFault.BUDGET_EXHAUSTED` for
        a file of more than 1 MiB, which it never wrote.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(_LONGEST + 1)
    except FileNotFoundError:
        return ReadFault.ABSENT
    except (OSError, ValueError):
        return ReadFault.UNREADABLE
    return content if len(content) <= _LONGEST else ReadFault.BUDGET_EXHAUSTED
