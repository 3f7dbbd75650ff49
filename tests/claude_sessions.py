"""Claude Code's session files for tests: the recordings, and a reader.

`read` drives a source's extraction with a growing window, as `observe` does, and stops at the
evidence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import frozen

from ctxmeasure.adapters.claude.transcript import TRANSCRIPT
from ctxmeasure.bounded.budget import KIB, MIB, ReadBudget
from ctxmeasure.bounded.jsonl import TailReader
from ctxmeasure.evidence import Evidence, NeedMore, Query
from ctxmeasure.testing import START

__all__ = [
    "RECORDINGS",
    "Line",
    "Recording",
    "read",
]


def read(
    content: bytes, *, window: int = 64 * KIB, budget: int = 4 * MIB, **asked: Any
) -> Evidence:
    """Return the evidence in *content*, reading *window* bytes first and *budget* at most."""
    query = Query(**{"at": START + timedelta(days=1), **asked})
    reader = TailReader.open(content, ReadBudget(initial=window, maximum=budget))
    assert isinstance(reader, TailReader)
    with reader:
        while isinstance(evidence := TRANSCRIPT.extract(reader.tail, query), NeedMore):
            if not reader.grow():
                return evidence.settled()
        return evidence


@frozen
class Line:
    """One row of a recording: ``content[start:stop]`` without its line break."""

    start: int
    stop: int
    row: dict[str, Any]


@frozen
class Recording:
    """A session file that a real Claude Code wrote, and what the model server had told it.

    Attributes:
        name: The scenario, such as ``claude/h-tui``.
        folder: Where it lies.
        path: The session file of the main conversation.
    """

    name: str
    folder: Path
    path: Path

    @cached_property
    def content(self) -> bytes:
        """The session file."""
        return self.path.read_bytes()

    @cached_property
    def lines(self) -> list[Line]:
        """Its rows."""
        lines, start = [], 0
        for raw in self.content.splitlines():
            lines.append(Line(start, start + len(raw), json.loads(raw)))
            start += len(raw) + 1
        return lines

    @cached_property
    def truth(self) -> dict[str, Any]:
        """What the scripted model server reported for each call."""
        truth: dict[str, Any] = json.loads((self.folder / "truth.json").read_bytes())
        return truth

    @cached_property
    def main_calls(self) -> dict[str, dict[str, Any]]:
        """The calls of the main conversation that a response came back for, by ``message.id``."""
        return {
            f"msg_mock{call['n']:04}": call
            for call in self.truth["calls"]
            if call["role"] == "main" and call["outcome"] != "error"
        }

    @property
    def session_id(self) -> str:
        """The session that the file belongs to."""
        return self.path.stem

    def call_of(self, line: Line) -> dict[str, Any] | None:
        """Return the main call that *line* is a block row of."""
        if line.row["type"] != "assistant" or line.row.get("isSidechain"):
            return None
        return self.main_calls.get(line.row["message"]["id"])

    def beside(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of another file of the recording."""
        return [json.loads(raw) for raw in (self.folder / name).read_bytes().splitlines()]


def _recordings() -> Iterator[Recording]:
    root = Path(__file__).parent / "recordings"
    for truth in sorted(root.glob("claude*/*/truth.json")):
        for path in sorted((truth.parent / "session").glob("*.jsonl")):
            if not path.name.startswith("agent-"):
                yield Recording(truth.parent.relative_to(root).as_posix(), truth.parent, path)


RECORDINGS = tuple(_recordings())
"""All recordings of Claude Code that wrote a session file."""
