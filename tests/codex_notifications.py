"""Notifications of ``codex app-server`` for tests, and a stream to feed them to.

They have the keys of 0.171 that matter; every field can be overridden.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from attrs import define

from ctxmeasure.adapters.codex.app_server import APP_SERVER, AppServerState
from ctxmeasure.evidence import Evidence, Gap, Query, TokenPair, UsedTokens
from ctxmeasure.observation import MissingReason

__all__ = [
    "AT",
    "CHILD",
    "NOTIFICATIONS",
    "THREAD",
    "WINDOW",
    "Feed",
    "compaction",
    "ended",
    "estimated",
    "event",
    "exceeded",
    "notification",
    "started",
    "updated",
]

AT = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)
THREAD = "01a22891-5013-7873-a3e8-d65d5b29e7f2"
CHILD = "01a228a8-9221-7882-80d6-2b24db730483"
WINDOW = 258_400

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


def notification(method: str, clock: datetime | None = None, **params: Any) -> dict[str, Any]:
    """Return a notification, with a *clock* of its own if one is given."""
    row: dict[str, Any] = {"method": method, "params": {"threadId": THREAD, **params}}
    if clock is not None:
        row["emittedAtMs"] = int(clock.timestamp() * 1000)
    return row


def _breakdown(total: int, output: int) -> dict[str, int]:
    return {
        "totalTokens": total,
        "inputTokens": total - output,
        "cachedInputTokens": 0,
        "cacheWriteInputTokens": 0,
        "outputTokens": output,
        "reasoningOutputTokens": 0,
    }


def updated(
    used: int,
    lifetime: int | None = None,
    *,
    turn: str | None = "turn-1",
    window: Any = WINDOW,
    clock: datetime | None = None,
    **params: Any,
) -> dict[str, Any]:
    """Return a report of a request of *used* tokens, after *lifetime* tokens in all."""
    usage = {
        "total": _breakdown(used if lifetime is None else lifetime, 100),
        "last": _breakdown(used, 100),
        "modelContextWindow": window,
    }
    fields = {"turnId": turn, "tokenUsage": usage, **params}
    return notification("thread/tokenUsage/updated", clock, **fields)


def estimated(
    used: int, lifetime: int, *, turn: str = "turn-1", clock: datetime | None = None
) -> dict[str, Any]:
    """Return the report of Codex's own estimate."""
    row = updated(used, lifetime, turn=turn, clock=clock)
    row["params"]["tokenUsage"]["last"] = _breakdown(0, 0) | {"totalTokens": used}
    return row


def exceeded(rest: int = 130_750, *, turn: str = "turn-1") -> dict[str, Any]:
    """Return the report that marks the window as exceeded."""
    row = updated(rest, WINDOW, turn=turn)
    row["params"]["tokenUsage"]["last"] = _breakdown(0, 0) | {"totalTokens": rest}
    row["params"]["tokenUsage"]["total"] = _breakdown(0, 0) | {"totalTokens": WINDOW}
    return row


def started(turn: str = "turn-1", *, root: str | None = None, **params: Any) -> dict[str, Any]:
    """Return the beginning of a turn."""
    return notification("turn/started", turn={"id": turn, "rootTurnId": root or turn}, **params)


def ended(
    turn: str = "turn-1", status: str = "completed", error: Any = None, **params: Any
) -> dict[str, Any]:
    """Return the end of a turn."""
    return notification(
        "turn/completed", turn={"id": turn, "status": status, "error": error}, **params
    )


def compaction(method: str = "item/completed", turn: str = "turn-1") -> dict[str, Any]:
    """Return the notification of a compaction's beginning or end."""
    return notification(method, turnId=turn, item={"type": "contextCompaction", "id": "i"})


def event(
    kind: str, *, turn: str = "turn-1", method: str | None = None, meta: Any = None, **message: Any
) -> dict[str, Any]:
    """Return an old notification: the app-server's, or with *method* the MCP server's."""
    params: dict[str, Any] = {"id": turn, "msg": {"type": kind, **message}}
    params |= {"conversationId": THREAD} if method is None else {"_meta": meta}
    return {"method": method or f"codex/event/{kind}", "params": params}
