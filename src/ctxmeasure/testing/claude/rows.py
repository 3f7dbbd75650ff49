"""The rows of Claude Code's session file, written as 2.1.332 does (keys and order as recorded).

Every field can be overridden, which is how a test makes its one mistake.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from attrs import define, field

from ..session import ABSENT, START, joined, without_absent

__all__ = ["MODEL", "TranscriptRows", "usage"]

MODEL = "claude-sonnet-4-5-20250929"
"""The model that answers; its id decides its window, 200,000."""


def usage(used: int, output: int = 7) -> dict[str, Any]:
    """Return a usage object with *used* prompt tokens."""
    return {
        "input_tokens": 2,
        "cache_creation_input_tokens": 1,
        "cache_read_input_tokens": used - 3,
        "output_tokens": output,
    }


@define
class TranscriptRows:
    """Writes the rows of one conversation, each hanging off the last one that has a uuid.

    Attributes:
        session_id: Goes into every row.
        version: Goes into every row.
        rows: What has been written.
        leaf: The uuid that the next row hangs off. Set it back to rewind.
        prompt_id: The running turn's; None writes no ``promptId``, as versions up to 2.1.71.
        agent_id: The sub-agent whose rows these are.
        model: The model that answers.
        clock: When the first row is written.
    """

    session_id: str = "5e551014-0000-4000-8000-000000000001"
    version: str = "2.1.332"
    rows: list[dict[str, Any]] = field(factory=list)
    leaf: str | None = None
    prompt_id: str | None = "9b50f700-0000-4000-8000-000000000001"
    agent_id: str | None = None
    model: str = MODEL
    clock: datetime = START

    @property
    def content(self) -> bytes:
        """The file."""
        return joined(self.rows)

    @property
    def now(self) -> datetime:
        """When the next row is written: one second after the last one."""
        return self.clock + timedelta(seconds=len(self.rows))

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
        self.rows.append(without_absent(row))

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
            "model": self.model,
            "content": [{"type": "text", "text": "Done."}],
            "stop_reason": "end_turn",
            "usage": usage(used),
        }
        if isinstance(message, dict):
            whole = without_absent({**whole, **message})
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
                "compactMetadata": without_absent(metadata),
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
