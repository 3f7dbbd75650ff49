"""Which files were written to, as the operating system tells it: `watchfiles` behind one door.

Everything is looked at anew when nothing happened for a tick, and now and then when much does: what
was written before the system began to watch is told by nobody, and a folder may not exist yet.
Where the system cannot watch a folder (too many of them, a network disk), or `watchfiles` is not
installed, that is all there is.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["LOOK_ANEW", "TICK", "file_events"]

TICK = 5.0
"""Seconds without an event after which everything is looked at anew."""

_BUSY_TICK = 30.0  # seconds, whatever happens

LOOK_ANEW = None
"""What is said when files may have been written to that are not named."""

_GATHERED_MS = 1_000  # events that come close together are one, and one drawing
_STEP_MS = 100


def file_events(folders: Callable[[], list[str]]) -> Iterator[set[str] | None]:
    """Yield the files that were written to, or `LOOK_ANEW`.

    Args:
        folders: Returns the folders to watch; those that do not exist are passed over until they
            do.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    while True:
        watched = _existing(folders())
        try:
            looked_at = time.monotonic()
            for paths in _watched(watched):
                if paths:
                    yield paths
                if not paths or time.monotonic() - looked_at > _BUSY_TICK:
                    yield LOOK_ANEW
                    looked_at = time.monotonic()
                if _existing(folders()) != watched:
                    break
        except OSError:
            time.sleep(TICK)
        yield LOOK_ANEW


def _watched(folders: list[str]) -> Iterator[set[str]]:
    """Yield the files in *folders* that were written to, or end after a tick without watching."""
    watch = _watcher()
    if watch is None or not folders:
        time.sleep(TICK)
        return
    for changes in watch(
        *folders,
        watch_filter=None,
        debounce=_GATHERED_MS,
        step=_STEP_MS,
        rust_timeout=int(TICK * 1000),
        yield_on_timeout=True,
        ignore_permission_denied=True,
    ):
        yield {path for _, path in changes}


def _watcher() -> Callable[..., Iterator[set[tuple[Any, str]]]] | None:
    try:
        from watchfiles import watch  # noqa: PLC0415 - for one command
    except ModuleNotFoundError:
        return None
    return watch


def _existing(folders: list[str]) -> list[str]:
    """Return the folders that exist, without those that lie in another one of them."""
    found = sorted({folder for folder in folders if os.path.isdir(folder)})  # noqa: PTH112
    return [
        folder
        for folder in found
        if not any(folder.startswith(other.rstrip(os.sep) + os.sep) for other in found)
    ]
