"""The frames of Claude Code's live stream, with the keys of 2.1.332 that matter.

Every field can be overridden, which is how a test makes its one mistake.
"""

from __future__ import annotations

from typing import Any

from .rows import MODEL

__all__ = [
    "SESSION",
    "assistant",
    "boundary",
    "init",
    "message_delta",
    "message_start",
    "result",
    "status",
    "usage",
]

SESSION = "5e551014-0000-4000-8000-000000000001"


def usage(used: int, output: int = 1) -> dict[str, Any]:
    """Return a usage object with *used* prompt tokens."""
    return {
        "input_tokens": 2,
        "cache_creation_input_tokens": 1,
        "cache_read_input_tokens": used - 3,
        "output_tokens": output,
    }


def init(model: str | None = MODEL, **fields: Any) -> dict[str, Any]:
    """Return the frame that begins a turn."""
    return {
        "type": "system",
        "subtype": "init",
        "session_id": SESSION,
        "model": model,
        "claude_code_version": "2.1.332",
        **fields,
    }


def assistant(used: int, message_id: str = "msg_01a", **fields: Any) -> dict[str, Any]:
    """Return a frame with one content block of a response; *message* overrides its message."""
    message = {
        "id": message_id,
        "model": MODEL,
        "role": "assistant",
        "content": [],
        "usage": usage(used),
        **fields.pop("message", {}),
    }
    return {
        "type": "assistant",
        "message": message,
        "parent_tool_use_id": None,
        "session_id": SESSION,
        **fields,
    }


def _event(event: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "type": "stream_event",
        "event": event,
        "parent_tool_use_id": None,
        "session_id": SESSION,
        **fields,
    }


def message_start(used: int, message_id: str = "msg_01a", **fields: Any) -> dict[str, Any]:
    """Return the API's event that begins a response."""
    message = {"id": message_id, "model": MODEL, "usage": usage(used), **fields}
    return _event({"type": "message_start", "message": message})


def message_delta(stated: Any, **fields: Any) -> dict[str, Any]:
    """Return the API's event that completes a response with the usage *stated*."""
    return _event({"type": "message_delta", "delta": {}, "usage": stated}, **fields)


def status(value: str | None, **fields: Any) -> dict[str, Any]:
    """Return a status frame."""
    return {
        "type": "system",
        "subtype": "status",
        "status": value,
        "session_id": SESSION,
        **fields,
    }


def boundary(**metadata: Any) -> dict[str, Any]:
    """Return the frame that marks a compaction."""
    return {
        "type": "system",
        "subtype": "compact_boundary",
        "compact_metadata": {"trigger": "auto", **metadata},
        "session_id": SESSION,
    }


def result(windows: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """Return the frame that ends a turn, stating *windows* by model string."""
    stated = {MODEL: 200_000} if windows is None else windows
    return {
        "type": "result",
        "subtype": "success",
        "session_id": SESSION,
        "uuid": "0e5011",
        "usage": usage(2_779_492, 93_000),
        "modelUsage": {
            key: {"inputTokens": 14_800_000, "contextWindow": window}
            for key, window in stated.items()
        },
        **fields,
    }
