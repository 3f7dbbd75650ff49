"""The notifications of ``codex app-server``, with the keys of 0.171 that matter.

Every field can be overridden, which is how a test makes its one mistake.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from .rows import WINDOW

__all__ = [
    "CHILD",
    "THREAD",
    "compaction",
    "ended",
    "estimated",
    "event",
    "exceeded",
    "notification",
    "started",
    "updated",
]

THREAD = "01a22891-5013-7873-a3e8-d65d5b29e7f2"
CHILD = "01a228a8-9221-7882-80d6-2b24db730483"


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
