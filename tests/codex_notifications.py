"""Notifications of ``codex app-server`` for tests: the recorded ones, and a stream to feed."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

from feeding import AT, StreamFeed

from ctxmeasure.adapters.codex.app_server import APP_SERVER
from ctxmeasure.evidence import UsedTokens
from ctxmeasure.source import StreamSource

__all__ = ["AT", "NOTIFICATIONS", "Feed"]

_RECORDED = (
    Path(__file__).parent
    / "recordings"
    / "codex-versions"
    / "appserver_v0.171.0_notifications.jsonl"
)
NOTIFICATIONS: list[dict[str, Any]] = list(map(json.loads, _RECORDED.read_bytes().splitlines()))
"""The recorded notifications of 0.171: seven turns of a thread, and a fork of it."""


class Feed(StreamFeed):
    """A connection to ``codex app-server``; each notification comes a second after the last."""

    source: ClassVar[StreamSource[Any]] = APP_SERVER
    pace: ClassVar[timedelta] = timedelta(seconds=1)

    def used(self, **asked: Any) -> int | None:
        """Return the used count, None for a gap."""
        seen = self.evidence(**asked)
        return seen.usage.total_tokens if isinstance(seen, UsedTokens) and seen.usage else None
