"""Messages of the Agent Client Protocol for tests, and a connection to feed them to."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from attrs import define

from ctxmeasure.adapters.acp.session import SESSION, AcpState
from ctxmeasure.evidence import Evidence, Gap, Query, TokenPair, UsedPercent, UsedTokens
from ctxmeasure.observation import MissingReason

__all__ = [
    "AT",
    "CLAUDE",
    "A",
    "B",
    "Feed",
    "answer",
    "answered",
    "compaction",
    "initialized",
    "kiro",
    "line",
    "metadata",
    "notification",
    "opened",
    "request",
    "update",
    "usage",
]

AT = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)
A = "sess_a81c"
B = "sess_b02e"
CLAUDE = "@agentclientprotocol/claude-agent-acp"


@define
class Feed:
    """A connection that is fed message by message, as the verb does it.

    Attributes:
        state: What has been shown so far.
        now: When the last message was received; each comes a second after the one before.
    """

    state: AcpState = SESSION.initial
    now: datetime = AT

    def __call__(self, *rows: dict[str, Any]) -> Feed:
        """Take *rows*; return itself."""
        for row in rows:
            self.now += timedelta(seconds=1)
            if SESSION.relevant(line(row)):
                self.state = SESSION.step(self.state, row, Query(at=self.now))
        return self

    def evidence(self, **asked: Any) -> Evidence:
        """Return what the connection shows."""
        return SESSION.evidence(self.state, Query(**{"at": self.now, **asked}))

    def peak(self, **asked: Any) -> Evidence:
        """Return the fullest that it has shown."""
        return SESSION.peak(self.state, Query(**{"at": self.now, **asked}))

    def said(self, **asked: Any) -> Any:
        """Return what is shown, in short."""
        return short(self.evidence(**asked))


def short(seen: Evidence) -> tuple[int, int] | tuple[int, MissingReason | None] | float | str:
    """Return the pair, the count and why it has no limit, the percentage, or the reason."""
    match seen:
        case TokenPair(used_tokens=int(used), limit_tokens=limit):
            return used, limit
        case UsedTokens(used_tokens=int(used), limit_missing=missing):
            return used, missing
        case UsedPercent(used_percent=percent):
            return percent
        case Gap(reason=reason):
            return reason
    raise AssertionError(seen)


def line(row: dict[str, Any], *, end: bytes = b"\n") -> bytes:
    """Return *row* as the SDKs write it."""
    return json.dumps(row, separators=(",", ":")).encode() + end


def notification(method: str, **params: Any) -> dict[str, Any]:
    """Return a notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def request(method: str, id_: Any = 1, **params: Any) -> dict[str, Any]:
    """Return a request of the client."""
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def answer(id_: Any = 1, **result: Any) -> dict[str, Any]:
    """Return the answer to a request."""
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def update(kind: str, session: Any = A, **fields: Any) -> dict[str, Any]:
    """Return an update of the kind *kind*."""
    body = {"sessionUpdate": kind, **fields}
    return notification("session/update", sessionId=session, update=body)


def usage(used: Any, size: Any = 200_000, session: Any = A, **fields: Any) -> dict[str, Any]:
    """Return a report of use."""
    return update("usage_update", session, used=used, size=size, **fields)


def compaction(status: str = "completed", session: Any = A) -> dict[str, Any]:
    """Return the protocol's own report of a compaction."""
    return update("compaction_update", session, compactionId="c-1", status=status)


def kiro(method: str, session: Any = A, **params: Any) -> dict[str, Any]:
    """Return a notification of Kiro's, without a session if that is None."""
    named = {} if session is None else {"sessionId": session}
    return notification(f"_kiro.dev/{method}", **named, **params)


def metadata(percent: Any, session: Any = A, **params: Any) -> dict[str, Any]:
    """Return Kiro's report of its share."""
    return kiro("metadata", session, contextUsagePercentage=percent, **params)


def initialized(name: Any = CLAUDE, version: Any = "0.31.0") -> dict[str, Any]:
    """Return the answer to ``initialize``."""
    return answer(0, protocolVersion=1, agentInfo={"name": name, "version": version})


def opened(session: Any = A, id_: Any = 1) -> dict[str, Any]:
    """Return the answer to ``session/new``."""
    return answer(id_, sessionId=session, modes={})


def answered(id_: Any = 3, stop: Any = "end_turn", **result: Any) -> dict[str, Any]:
    """Return the answer to ``session/prompt``."""
    return answer(id_, stopReason=stop, **result)
