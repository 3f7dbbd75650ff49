"""A session with hooks for tests: what the agent writes, what its hooks hand over, what is sampled.

`Session` keeps the sampler's state between two hooks as a hook's processes do: written down and
read back. Every event is held against its schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from attrs import define, field
from jsonschema import Draft202012Validator

from ctxmeasure import record
from ctxmeasure.sampler import Boundary, Event, Sampler, SamplerState, boundary_of
from ctxmeasure.testing.claude import rows as claude_rows
from ctxmeasure.testing.codex import rows as codex_rows

__all__ = ["KEY", "ClaudeSession", "CodexSession", "Session", "measured", "seen"]

KEY = b"a key for tests"
VALIDATOR = Draft202012Validator(record.schema("context_observed"))

Seen = int | float | str
"""Used tokens, a used percentage, or the state or reason why there is neither."""


def seen(measurement: Mapping[str, Any]) -> Seen:
    """Return what *measurement* says, in one word."""
    value = measurement.get("value")
    if value is None:
        said: str = measurement.get("reason", measurement["state"])
        return said
    amount: int | float = value.get("used_tokens", value.get("used_percent"))
    return amount


def measured(events: tuple[Event, ...]) -> list[Seen]:
    """Return what the observations among *events* say."""
    bodies = [event.body for event in events]
    return [
        seen(body["payload"]["measurement"])
        for body in bodies
        if body["event_type"] == "context.observed"
    ]


@define
class Session:
    """One session of an agent and its sampler.

    Attributes:
        sampler: Samples at its hooks.
        state: What the sampler remembers.
        events: All that was published.
    """

    sampler: Sampler
    state: SamplerState = field(factory=SamplerState)
    events: list[Event] = field(factory=list)

    def take(
        self, payload: Mapping[str, Any], *, now: datetime, boundary: Boundary | None = None
    ) -> tuple[Event, ...]:
        """Let a hook's process sample *payload*; return the events that it appends."""
        written = json.dumps(self.state.to_dict())
        state = SamplerState.from_dict(json.loads(written))
        assert state == self.state
        at = boundary_of(payload) if boundary is None else boundary
        self.state, events = self.sampler.step(state, at, payload, now=now)
        for event in events:
            VALIDATOR.validate(event.body)
            assert json.loads(event.line()) == event.body
        self.events += events
        return events

    @property
    def said(self) -> list[Seen]:
        """What all observations of the session say."""
        return measured(tuple(self.events))


@define
class _TranscriptSession:
    folder: Path
    session: Session

    def _path(self) -> Path:
        raise NotImplementedError

    def _written(self) -> bytes:
        raise NotImplementedError

    def _now(self) -> datetime:
        raise NotImplementedError

    def flush(self) -> None:
        """Let what was written so far reach the disk."""
        self._path().write_bytes(self._written())

    def hook(self, event: str, *, later: float = 0, **fields: Any) -> list[Seen]:
        """Call a hook *later* seconds after the last row; return what it measured."""
        raise NotImplementedError

    def _take(self, payload: dict[str, Any], later: float) -> list[Seen]:
        kept = {key: value for key, value in payload.items() if value is not ...}
        now = self._now() + timedelta(seconds=later)
        return measured(self.session.take(kept, now=now))


@define
class ClaudeSession(_TranscriptSession):
    """A session of Claude Code: `rows` writes its transcript, `hook` calls its hooks."""

    rows: claude_rows.TranscriptRows = field(factory=claude_rows.TranscriptRows)

    def _path(self) -> Path:
        return self.folder / f"{self.rows.session_id}.jsonl"

    def _written(self) -> bytes:
        return self.rows.content

    def _now(self) -> datetime:
        return self.rows.now

    def hook(self, event: str, *, later: float = 0, **fields: Any) -> list[Seen]:
        prompt_id = ... if self.rows.prompt_id is None else self.rows.prompt_id
        payload = {
            "session_id": self.rows.session_id,
            "transcript_path": str(self._path()),
            "cwd": "/home/dev/project",
            "prompt_id": prompt_id,
            "hook_event_name": event,
            **fields,
        }
        return self._take(payload, later)

    def turn(self, prompt_id: str) -> None:
        """Begin a turn: its prompt is written, and its hook is called."""
        self.rows.prompt_id = prompt_id
        self.hook("UserPromptSubmit", prompt="Do it")
        self.rows.prompt()
        self.flush()

    def respond(self, used: int, **fields: Any) -> None:
        """Write a response that reaches the disk."""
        self.rows.response(used, **fields)
        self.flush()


@define
class CodexSession(_TranscriptSession):
    """A session of Codex: `rows` writes its rollout, `hook` calls its hooks."""

    rows: codex_rows.RolloutRows = field(factory=codex_rows.RolloutRows)

    def _path(self) -> Path:
        return self.folder / f"rollout-2026-11-29T18-00-00-{self.rows.thread_id}.jsonl"

    def _written(self) -> bytes:
        return self.rows.content

    def _now(self) -> datetime:
        return self.rows.now

    def hook(self, event: str, *, later: float = 0, **fields: Any) -> list[Seen]:
        payload = {
            "session_id": self.rows.thread_id,
            "turn_id": ... if event in ("SessionStart", "SessionEnd") else self.rows.turn_id,
            "transcript_path": str(self._path()),
            "cwd": "/home/dev/project",
            "hook_event_name": event,
            "model": "gpt-5.5",
            **fields,
        }
        return self._take(payload, later)

    def turn(self) -> None:
        """Begin a turn: its rows are written, and its hook is called."""
        if not self.rows.rows:
            self.rows.begin()
        self.rows.start()
        self.flush()
        self.hook("UserPromptSubmit", prompt="Do it")

    def respond(self, used: int, **fields: Any) -> None:
        """Write a response that reaches the disk."""
        self.rows.respond(used, **fields)
        self.flush()

    def end(self) -> None:
        """Write the turn's end."""
        self.rows.end()
        self.flush()
