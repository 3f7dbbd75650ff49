"""From the clock's nanoseconds, which a swift command can read for nothing, to a moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

__all__ = ["of"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def of(nanoseconds: int) -> datetime:
    """Return the moment that many *nanoseconds* after 1970."""
    return _EPOCH + timedelta(microseconds=nanoseconds // 1_000)
