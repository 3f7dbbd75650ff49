"""Claude Code's session files for tests: the recordings, a writer of new ones, and a reader.

`Writer` writes rows as 2.1.332 does (keys and order as in the recordings); every field can be
overridden, which is how a test makes its one mistake. `read` drives a source's extraction with a
growing window, as `observe` does, and stops at the evidence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from ctxmeasure.adapters.claude.transcript import TRANSCRIPT
from ctxmeasure.bounded.budget import KIB, MIB, ReadBudget
from ctxmeasure.bounded.jsonl import TailReader
from ctxmeasure.evidence import Evidence, NeedMore, Query

__all__ = [
    "ABSENT",
    "RECORDINGS",
    "START",
    "Recording",
    "Writer",
    "joined",
    "read",
    "usage",
]

START = datetime(2026, 11, 29, 18, 0, tzinfo=UTC)
"""The moment of a written session's first row."""

ABSENT: Any = object()
"""As a field's value: leave the key out."""

MODEL = "claude-sonnet-4-5-20250929"


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


def usage(used: int, output: int = 7) -> dict[str, Any]:
    """Return a usage object with *used* prompt tokens."""
    return {
        "input_tokens": 2,
        "cache_creation_input_tokens": 1,
        "cache_read_input_tokens": used - 3,
        "output_tokens": output,
    }


def joined(rows: list[dict[str, Any]]) -> bytes:
    """Return *rows* as a JSON-lines file."""
    return b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows)


@define
class Writer:
    """Writes the rows of one conversation, each hanging off the last one that has a uuid.

    Attributes:
        session_id: Goes into every row.
        version: Goes into every row.
        rows: What has been written.
        leaf: The uuid that the next row hangs off. Set it back to rewind.
        prompt_id: The running turn's; None writes no ``promptId``, as versions up to 2.1.71.
        agent_id: The sub-agent whose rows these are.
    """

    session_id: str = "5e551014-0000-4000-8000-000000000001"
    version: str = "2.1.332"
    rows: list[dict[str, Any]] = field(factory=list)
    leaf: str | None = None
    prompt_id: str | None = "9b50f700-0000-4000-8000-000000000001"
    agent_id: str | None = None

    @property
    def content(self) -> bytes:
        """The file."""
        return joined(self.rows)

    @property
    def now(self) -> datetime:
        """When the next row is written: one second after the last one."""
        return START + timedelta(seconds=len(self.rows))

    def row(self, kind: str, **fields: Any) -> str:
        """Write a row that hangs off the leaf and becomes the leaf; return its uuid."""
        uuid = f"{len(self.rows):08x}-0000-4000-8000-{kind[:12]:0>12}"
        row = {
            "parentUuid": self.leaf,
            "isSidechain": self.agent_id is not None,
            "type": kind,
            "uuid": uuid,
            "timestamp": self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "sessionId": self.session_id,
            "version": self.version,
            "agentId": ABSENT if self.agent_id is None else self.agent_id,
            **fields,
        }
        self.loose(row)
        self.leaf = row["uuid"] if isinstance(row["uuid"], str) else self.leaf
        return uuid

    def loose(self, row: dict[str, Any]) -> None:
        """Write *row* as it is, without a place in the conversation."""
        self.rows.append({key: value for key, value in row.items() if value is not ABSENT})

    def user(self, content: Any, **fields: Any) -> str:
        """Write a user row of the running turn."""
        prompt_id = ABSENT if self.prompt_id is None else self.prompt_id
        message = {"role": "user", "content": content}
        return self.row("user", **{"promptId": prompt_id, "message": message, **fields})

    def prompt(self, text: str = "Do it", **fields: Any) -> str:
        """Write a prompt."""
        return self.user(text, **fields)

    def tool_result(self, **fields: Any) -> str:
        """Write a tool's result."""
        return self.user(
            [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}], **fields
        )

    def response(
        self, used: int, *, message_id: Any = None, message: Any = None, **fields: Any
    ) -> str:
        """Write one block row of a response with *used* prompt tokens."""
        whole = {
            "id": f"msg_01{len(self.rows):04}" if message_id is None else message_id,
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [{"type": "text", "text": "Done."}],
            "stop_reason": "end_turn",
            "usage": usage(used),
        }
        if isinstance(message, dict):
            whole = {k: v for k, v in {**whole, **message}.items() if v is not ABSENT}
        elif message is not None:
            whole = message
        return self.row("assistant", message=whole, **fields)

    def error(self, **fields: Any) -> str:
        """Write the row that stands for a failed call."""
        synthetic = {
            "id": "a1796b10-63e1-40a4-b2ea-f844cbf2e72f",
            "model": "<synthetic>",
            "stop_reason": "stop_sequence",
            "usage": dict.fromkeys(usage(0), 0),
        }
        return self.response(0, message=synthetic, **{"isApiErrorMessage": True, **fields})

    def attachment(self, kind: str, **fields: Any) -> str:
        """Write an attachment row."""
        return self.row("attachment", attachment={"type": kind, **fields})

    def boundary(self, *, post: Any = ABSENT, kept: Any = ABSENT, **fields: Any) -> str:
        """Write a compaction's boundary, a new root."""
        metadata = {"trigger": "auto", "preTokens": 150_000, "postTokens": post}
        metadata["preservedMessages"] = kept if kept is ABSENT else {"uuids": kept}
        return self.row(
            "system",
            **{
                "parentUuid": None,
                "logicalParentUuid": self.leaf,
                "subtype": "compact_boundary",
                "compactMetadata": {k: v for k, v in metadata.items() if v is not ABSENT},
                **fields,
            },
        )

    def summary(self, **fields: Any) -> str:
        """Write a compaction's summary."""
        return self.user(
            "This session is being continued",
            isVisibleInTranscriptOnly=True,
            isCompactSummary=True,
            **fields,
        )

    def compaction(self, **fields: Any) -> None:
        """Write a boundary and its summary."""
        self.boundary(**fields)
        self.summary()


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
