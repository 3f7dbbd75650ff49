"""Payloads as Cursor hands them to a command, written by hand: no recording of Cursor's exists.

Numbers are those of published captures, keys and types those of Cursor's SDK (formats/cursor.md).
"""

from __future__ import annotations

from typing import Any

__all__ = ["PRE_COMPACT", "SESSION", "STATUS_LINE", "hook", "status_line"]

SESSION = "0b3a5d4e"


def hook(event: str, **fields: Any) -> dict[str, Any]:
    """Return the payload of *event*, with the fields that every hook has; ... drops one."""
    payload = {
        "conversation_id": SESSION,
        "generation_id": "9c1f",
        "model": "claude-opus-5",
        **fields,
        "session_id": fields.get("session_id", SESSION),
        "hook_event_name": fields.get("hook_event_name", event),
        "cursor_version": fields.get("cursor_version", "2026.08.11-e8db854"),
        "workspace_roots": ["/home/dev/project"],
        "user_email": None,
        "transcript_path": None,
    }
    return {key: value for key, value in payload.items() if value is not ...}


PRE_COMPACT = hook(
    "preCompact",
    trigger="auto",
    context_usage_percent=92.5,
    context_tokens=185_000,
    context_window_size=200_000,
    message_count=84,
    messages_to_compact=60,
    is_first_compaction=True,
    cursor_version="3.13.25",
)
"""The published one, of the IDE."""


def status_line(window: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """Return the payload that CLI 2026.08.11 sent; *window* overrides its numbers, ... drops."""
    numbers = {
        "total_input_tokens": 42_752,
        "total_output_tokens": 141,
        "context_window_size": 256_000,
        "used_percentage": 16.7,
        "remaining_percentage": 83.3,
        "current_usage": {
            "input_tokens": 201,
            "output_tokens": 33,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 42_624,
        },
        **(window or {}),
    }
    payload = {
        "session_id": SESSION,
        "transcript_path": "/home/dev/.cursor/projects/home-dev-project/agent-transcripts/0b.jsonl",
        "cwd": "/home/dev/project",
        "render_width_chars": 394,
        "autorun": False,
        "model": {"id": "default", "display_name": "Auto"},
        "version": "2026.08.11-e8db854",
        "context_window": {key: value for key, value in numbers.items() if value is not ...},
        "session_name": "a name",
        **fields,
    }
    return {key: value for key, value in payload.items() if value is not ...}


STATUS_LINE = status_line()
