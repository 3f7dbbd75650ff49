"""Claude Code's live streams for tests: the recordings, and a stream to feed frames to."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from feeding import AT, StreamFeed

from ctxmeasure.adapters.claude.stream import STREAM
from ctxmeasure.evidence import UsedTokens
from ctxmeasure.source import StreamSource

__all__ = ["AT", "STREAMED", "Feed", "lines_of"]

_ROOT = Path(__file__).parent / "recordings"
STREAMED = sorted(
    {path.parent.relative_to(_ROOT).as_posix() for path in _ROOT.glob("claude*/*/stream*.jsonl")}
)
"""The recordings that hold a stream, such as ``claude/b-tools``."""


def lines_of(recording: str) -> list[bytes]:
    """Return the lines of a recording's streams, one process after the other."""
    files = sorted((_ROOT / recording).glob("stream*.jsonl"))
    return [line for file in files for line in file.read_bytes().splitlines()]


class Feed(StreamFeed):
    """A stream of Claude Code."""

    source: ClassVar[StreamSource[Any]] = STREAM

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
    def marker(self) -> bool | None:
        """What is known of the long-context marker."""
        model = self.evidence().model
        assert model is not None
        return model.long_context_marker
