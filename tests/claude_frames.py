"""Frames of Claude Code's live stream for tests, and a stream to feed them to.

The frames have the keys of 2.1.332 that matter; every field can be overridden.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import define

from ctxmeasure.adapters.claude.stream import STREAM, StreamState
from ctxmeasure.evidence import Evidence, Gap, Query, TokenPair, UsedTokens
from ctxmeasure.observation import MissingReason

__all__ = [
    "AT",
    "MODEL",
    "SESSION",
    "STREAMED",
    "Feed",
    "assistant",
    "boundary",
    "init",
    "lines_of",
    "message_delta",
    "message_start",
    "result",
    "status",
    "usage",
]

AT = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)
SESSION = "5e551014-0000-4000-8000-000000000001"
MODEL = "claude-sonnet-4-5-20250929"

_ROOT = Path(__file__).parent / "recordings"
STREAMED = sorted(
    {path.parent.relative_to(_ROOT).as_posix() for path in _ROOT.glob("claude*/*/stream*.jsonl")}
)
"""The recordings that hold a stream, such as ``claude/b-tools``."""


def lines_of(recording: str) -> list[bytes]:
    """Return the lines of a recording's streams, one process after the other."""
    files = sorted((_ROOT / recording).glob("stream*.jsonl"))
    return [line for file in files for line in file.read_bytes().splitlines()]


@define
class Feed:
    """A stream that is fed frame by frame, as the verb does it."""

    state: StreamState = STREAM.initial

    def __call__(self, *frames: dict[str, Any], at: datetime = AT) -> Feed:
        """Take *frames*; return itself."""
        for frame in frames:
            self.take(json.dumps(frame).encode(), at=at)
        return self

    def take(self, line: bytes, *, at: datetime = AT) -> None:
        """Take one line."""
        if STREAM.relevant(line):
            self.state = STREAM.step(self.state, json.loads(line), Query(at=at))

    def evidence(self, **asked: Any) -> Evidence:
        """Return what the stream shows."""
        return STREAM.evidence(self.state, Query(**{"at": AT, **asked}))

    def peak(self, **asked: Any) -> Evidence:
        """Return the fullest that it has shown."""
        return STREAM.peak(self.state, Query(**{"at": AT, **asked}))

    @property
    def used(self) -> int | None:
        """The used count, None for a gap."""
        seen = self.evidence()
        return seen.usage.prompt_tokens if isinstance(seen, UsedTokens) and seen.usage else None

    @property
    def output(self) -> int | None:
        """The output of the last response."""
        seen = self.evidence()
        return seen.usage.output_tokens if isinstance(seen, UsedTokens) and seen.usage else None

    @property
    def limit(self) -> int | None:
        """The limit, None where there is none."""
        seen = self.evidence()
        return seen.limit_tokens if isinstance(seen, TokenPair) else None

    @property
    def marker(self) -> bool | None:
        """What is known of the long-context marker."""
        model = self.evidence().model
        assert model is not None
        return model.long_context_marker

    @property
    def reason(self) -> MissingReason | None:
        """Why nothing is measured, None if something is."""
        seen = self.evidence()
        return seen.reason if isinstance(seen, Gap) else None


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
