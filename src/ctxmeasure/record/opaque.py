"""Opaque ids: what stands in an event for a native id. Keyed, and of no use without the key.

HMAC-SHA-256 over a name of what the id is, the agent, and the native id: the same id is the same
digest under one key, and nothing links it to the digests under another one.
"""

from __future__ import annotations

__all__ = ["agent_id", "event_id", "session_id", "turn_id"]

# Witnesses are digested under the same key as they are, 32 bytes long. These names alone are as
# long, so that no message is ever another kind's.
_SESSION = b"ctxmeasure:v1:native-session-id\0"
_TURN = b"ctxmeasure:v1:native-turn-id====\0"
_AGENT = b"ctxmeasure:v1:native-agent-id===\0"
_EVENT = b"ctxmeasure:v1:ledger-event-id===\0"


def session_id(adapter: str, session_key: str, key: bytes) -> str:
    """Return ``sid_`` and the keyed digest of an agent's native session id."""
    return f"sid_{_session(adapter, session_key, key).hex()}"


def turn_id(adapter: str, session_key: str, turn_key: str, key: bytes) -> str:
    """Return ``tid_`` and the keyed digest of a native turn id within its session."""
    message = _session(adapter, session_key, key) + _encoded(turn_key)
    return f"tid_{_digest(key, _TURN + message).hex()}"


def agent_id(adapter: str, session_key: str, agent_key: str, key: bytes) -> str:
    """Return ``hid_`` and the keyed digest of a sub-agent's native id within its session."""
    message = _session(adapter, session_key, key) + _encoded(agent_key)
    return f"hid_{_digest(key, _AGENT + message).hex()}"


def event_id(*facts: str, key: bytes) -> str:
    """Return ``hid_`` and the keyed digest of the facts that single an event out."""
    return f"hid_{_digest(key, _EVENT + _encoded(chr(0).join(facts))).hex()}"


def _session(adapter: str, session_key: str, key: bytes) -> bytes:
    return _digest(key, _SESSION + _encoded(adapter) + b"\0" + _encoded(session_key))


def _encoded(native: str) -> bytes:
    return native.encode("utf-8", "surrogatepass")


def _digest(key: bytes, message: bytes) -> bytes:
    import hmac  # noqa: PLC0415 - only publishers pay for it

    return hmac.digest(key, message, "sha256")
