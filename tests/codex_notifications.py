"""Notifications of ``codex app-server`` for tests: the recorded ones, and a stream to feed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from attrs import define

from ctxmeasure.adapters.codex.app_server import APP_SERVER, AppServerState
from ctxmeasure.evidence import Evidence, Gap, Query, TokenPair, UsedTokens
from ctxmeasure.observation import MissingReason

__all__ = ["AT", "NOTIFICATIONS", "Feed"]

AT = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)

_RECORDED = (
    Path(__file__).parent
    / "recordings"
    / "codex-versions"
    / "appserver_v0.171.0_notifications.jsonl"
)
NOTIFICATIONS: list[dict[str, Any]] = list(map(json.loads, _RECORDED.read_bytes().splitlines()))
"""The recorded notifications of 0.171: seven turns of a thread, and a fork of it."""


@define
class Feed:
    """A connection that is fed notification by notification, as the verb does it.

    Attributes:
        state: What has been shown so far.
        now: When the last notification was received; each comes a second after the one before.
    """

    state: AppServerState = APP_SERVER.initial
    now: datetime = AT

    def __call__(self, *rows: dict[str, Any]) -> Feed:
        """Take *rows*; return itself."""
        for row in rows:
            self.now += timedelta(seconds=1)
            if APP_SERVER.relevant(json.dumps(row).encode()):
                self.state = APP_SERVER.step(self.state, row, Query(at=self.now))
        return self

    def evidence(self, **asked: Any) -> Evidence:
        """Return what the connection shows."""
        return APP_SERVER.evidence(self.state, Query(**{"at": self.now, **asked}))

    def peak(self, **asked: Any) -> Evidence:
        """Return the fullest that it has shown."""
        return APP_SERVER.peak(self.state, Query(**{"at": self.now, **asked}))

    def used(self, **asked: Any) -> int | None:
        """Return the used count, None for a gap."""
        seen = self.evidence(**asked)
        return seen.usage.total_tokens if isinstance(seen, UsedTokens) and seen.usage else None

    def limit(self, **asked: Any) -> int | None:
        """Return the limit, None where there is none."""
        seen = self.evidence(**asked)
        return seen.limit_tokens if isinstance(seen, TokenPair) else None

    def reason(self, **asked: Any) -> MissingReason | None:
        """Return why nothing is measured, None if something is."""
        seen = self.evidence(**asked)
        return seen.reason if isinstance(seen, Gap) else None
