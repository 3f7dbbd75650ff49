"""Messages of the Agent Client Protocol, as its SDKs and the agents that speak it write them.

Every field can be overridden, which is how a test makes its one mistake.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "CLAUDE",
    "A",
    "B",
    "answer",
    "answered",
    "compaction",
    "initialized",
    "kiro",
    "metadata",
    "notification",
    "opened",
    "request",
    "update",
    "usage",
]

A = "sess_a81c"
B = "sess_b02e"
CLAUDE = "@agentclientprotocol/claude-agent-acp"


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
