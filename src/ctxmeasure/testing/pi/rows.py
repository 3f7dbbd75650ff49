"""The rows of Pi's session file in the formats 3, 2 and 1, with the keys of 1.6.0 that matter.

Every field can be overridden, which is how a test makes its one mistake. The messages in the rows
are those of the event lines and of the answers too.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from attrs import define, field

from ..session import START, joined, without_absent

__all__ = ["MODEL", "PROVIDER", "SESSION_ID", "SessionRows", "reply", "said", "usage"]

SESSION_ID = "01a22899-0000-7000-8000-00000000000a"
PROVIDER = "anthropic"
MODEL = "claude-sonnet-4-5"
"""Has 200,000 tokens in the table, by this provider."""


def usage(used: int, **fields: Any) -> dict[str, Any]:
    """Return the usage of a reply that *used* so many tokens, 10 of them output."""
    parts = {"input": 4, "output": 10, "cacheRead": used - 15, "cacheWrite": 1}
    return dict(without_absent({**parts, "totalTokens": used, "cost": {"total": 0.1}, **fields}))


def reply(used: int, **fields: Any) -> dict[str, Any]:
    """Return an assistant's message that *used* so many tokens."""
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": "words"}],
        "api": "anthropic-messages",
        "provider": PROVIDER,
        "model": MODEL,
        "usage": usage(used),
        "stopReason": "stop",
        "timestamp": 1_795_975_200_000 + used,
    }
    return dict(without_absent({**message, **fields}))


def said(role: str, **fields: Any) -> dict[str, Any]:
    """Return a message of another *role*."""
    return {"role": role, "content": "words", "timestamp": 1_795_975_200_000, **fields}


@define
class SessionRows:
    """Writes the rows of one session file, each hanging off the leaf.

    Attributes:
        version: The format: 3, 2 or 1.
        rows: What is written, the header first.
        leaf: The id of the last row that was written, or where the user went back to.
    """

    version: int = 3
    rows: list[dict[str, Any]] = field(factory=list)
    leaf: str | None = None

    def __attrs_post_init__(self) -> None:
        stated = {"version": self.version} if self.version > 1 else {}
        header = {"type": "session", **stated, "id": SESSION_ID, "cwd": "/home/dev"}
        self.rows.append({**header, "timestamp": START.isoformat()})

    @property
    def content(self) -> bytes:
        """The file."""
        return joined(self.rows)

    def row(self, kind: str, /, **fields: Any) -> str:
        """Write a row of a type; return its id."""
        number = len(self.rows)
        written_at = (START + timedelta(seconds=number)).isoformat()
        native_id = f"{number:08x}"
        links = {"id": native_id, "parentId": self.leaf} if self.version > 1 else {}
        row = {"type": kind, **links, "timestamp": written_at, **fields}
        self.rows.append(without_absent(row))
        self.leaf = row.get("id", self.leaf)
        return native_id

    def say(self, role: str = "user", **fields: Any) -> str:
        """Write a message of a role that is not the assistant's."""
        return self.row("message", message=said(role, **fields))

    def reply(self, used: int = 0, **fields: Any) -> str:
        """Write an assistant's message that *used* so many tokens."""
        return self.row("message", message=reply(used, **fields))

    def compact(self, **fields: Any) -> str:
        """Write a compaction with the usage of its own request."""
        kept = {"firstKeptEntryId": "00000001"} if self.version > 1 else {"firstKeptEntryIndex": 1}
        summary = {"summary": "words", "tokensBefore": 190_000, "usage": usage(14_700)}
        return self.row("compaction", **{**kept, **summary, **fields})

    def select(self, model: str, provider: str = PROVIDER) -> str:
        """Write that another model was selected."""
        return self.row("model_change", provider=provider, modelId=model)

    def back_to(self, leaf: str | None) -> None:
        """Go back to a row, which writes nothing."""
        self.leaf = leaf
