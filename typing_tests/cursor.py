"""What type-checkers know of Cursor's room; executed by type-checkers only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, assert_type

import ctxmeasure as cm
from ctxmeasure import cursor
from ctxmeasure.source import PayloadSource, StoreSource


def sources_are_payloads_or_stores() -> None:
    assert_type(cursor.HOOK, PayloadSource)
    assert_type(cursor.STATUS_LINE, PayloadSource)
    assert_type(cursor.CHAT_STORE, StoreSource)
    assert_type(cursor.COMPOSER, StoreSource)


def a_cloud_session_asks_nothing(payload: dict[str, Any]) -> cm.Query:
    query = cursor.query_from_hook(payload, at=datetime.now(UTC))
    assert_type(query, cm.Query | None)
    return query  # type: ignore[return-value]
