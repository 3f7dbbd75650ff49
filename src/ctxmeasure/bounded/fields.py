"""What a decoded row holds under a key, read strictly: texts, counts, moments.

Agents write the same kinds of value everywhere; a wrong type is the same as nothing. Knows no
agent and no key.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeGuard

__all__ = ["epoch_milliseconds", "instant", "is_amount", "is_count", "is_limit", "nested", "text"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_count(value: object) -> TypeGuard[int]:
    """Tell whether *value* is a strict whole number of at least 0 (no bool, float or string)."""
    return type(value) is int and value >= 0


def is_limit(value: object) -> TypeGuard[int]:
    """Tell whether *value* is a strict whole number of at least 1."""
    return is_count(value) and value > 0


def is_amount(value: object) -> TypeGuard[float]:
    """Tell whether *value* is a strict number from 0 to the largest float."""
    return type(value) in (int, float) and 0 <= value <= sys.float_info.max  # type: ignore[operator] # see left


def text(row: Mapping[str, Any], key: str) -> str | None:
    """Return the non-empty string under *key*, or None."""
    value = row.get(key)
    return value if isinstance(value, str) and value else None


def nested(row: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the object under *key*, or an empty one."""
    value = row.get(key)
    return value if isinstance(value, dict) else {}


def instant(written: object) -> datetime | None:
    """Return the moment that *written* (ISO 8601 with a time zone) names, in UTC, or None."""
    if not isinstance(written, str):
        return None
    try:
        moment = datetime.fromisoformat(written)
        return None if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def epoch_milliseconds(written: object) -> datetime | None:
    """Return the moment *written* milliseconds after 1970 (a whole number), in UTC, or None."""
    if not is_limit(written):  # 0 says "not set"
        return None
    try:
        return _EPOCH + timedelta(milliseconds=written)
    except OverflowError:
        return None
