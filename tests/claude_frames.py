"""Claude Code's live streams for tests: the recordings, and a stream to feed frames to."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import define

from ctxmeasure.adapters.claude.stream import STREAM, StreamState
from ctxmeasure.evidence import Evidence, Gap, Query, TokenPair, UsedTokens
from ctxmeasure.observation import MissingReason

__all__ = ["AT", "STREAMED", "Feed", "lines_of"]

AT = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)

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
