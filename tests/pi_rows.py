"""Pi's session files and event lines for tests: the recordings, writers of new ones, a stream.

Messages have the keys of 1.6.0 that matter; every field can be overridden. Session files are
written as format 3, 2 or 1 has them.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from ctxmeasure.adapters.pi.session import SESSION
from ctxmeasure.adapters.pi.stream import STREAM, StreamState
from ctxmeasure.bounded.budget import MIB, ReadBudget
from ctxmeasure.bounded.jsonl import TailReader
from ctxmeasure.evidence import Evidence, Gap, NeedMore, Query, UsedTokens

__all__ = [
    "ABSENT",
    "AT",
    "MODEL",
    "PROVIDER",
    "ROOT",
    "RUNS",
    "SESSION_ID",
    "START",
    "VERSION_SESSIONS",
    "Feed",
    "Run",
    "Seen",
    "Writer",
    "answer",
    "edit",
    "message_end",
    "read",
    "reply",
    "said",
    "shown",
    "turn_end",
    "usage",
]

ROOT = Path(__file__).parent / "recordings"
START = datetime(2026, 11, 29, 18, 0, tzinfo=UTC)
"""The moment of a written file's header; each row comes a second after the one before."""
AT = START + timedelta(hours=2)
"""After all that is written and recorded."""
SESSION_ID = "01a22899-0000-7000-8000-00000000000a"
PROVIDER = "anthropic"
MODEL = "claude-sonnet-4-5"
"""Has 200,000 tokens in the table, by this provider."""

ABSENT: Any = object()
"""As a field's value: leave the key out."""

Seen = int | str
"""Used tokens, or the reason why there are none; a trailing ``+`` says that more was added."""


def _without_absent(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not ABSENT}


def usage(used: int, **fields: Any) -> dict[str, Any]:
    """Return the usage of a reply that *used* so many tokens, 10 of them output."""
    parts = {"input": 4, "output": 10, "cacheRead": used - 15, "cacheWrite": 1}
    return _without_absent({**parts, "totalTokens": used, "cost": {"total": 0.1}, **fields})


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
    return _without_absent({**message, **fields})


def said(role: str, **fields: Any) -> dict[str, Any]:
    """Return a message of another *role*."""
    return {"role": role, "content": "words", "timestamp": 1_795_975_200_000, **fields}


# -- session files ------------------------------------------------------------------------------


@define
class Writer:
    """A writer of a session file.

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
        return b"".join(json.dumps(row).encode() + b"\n" for row in self.rows)

    def row(self, kind: str, /, **fields: Any) -> str:
        """Write a row of a type; return its id."""
        number = len(self.rows)
        written_at = (START + timedelta(seconds=number)).isoformat()
        native_id = f"{number:08x}"
        links = {"id": native_id, "parentId": self.leaf} if self.version > 1 else {}
        row = {"type": kind, **links, "timestamp": written_at, **fields}
        self.rows.append(_without_absent(row))
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


def read(content: bytes, *, window: int = MIB, budget: int = 4 * MIB, **asked: Any) -> Evidence:
    """Return the evidence in *content*, reading *window* bytes first and *budget* at most."""
    query = Query(**{"at": AT, **asked})
    budgets = ReadBudget(initial=window, maximum=budget)
    reader = TailReader.open(content, budgets, head=SESSION.head)
    assert isinstance(reader, TailReader)
    with reader:
        while isinstance(evidence := SESSION.extract(reader.tail, query), NeedMore):
            if not reader.grow():
                return evidence.fallback
        return evidence


def shown(evidence: Evidence) -> Seen:
    """Return the used tokens, with a ``+`` where more was added, or the reason."""
    match evidence:
        case Gap(reason=reason):
            return reason.value
        case UsedTokens(used_tokens=int(used), lower_bound=lower_bound):
            return f"{used}+" if lower_bound else used
    raise AssertionError(evidence)


# -- event lines --------------------------------------------------------------------------------


def message_end(message: dict[str, Any]) -> dict[str, Any]:
    """Return the event that a *message* is complete."""
    return {"type": "message_end", "message": message}


def turn_end(message: dict[str, Any], *results: dict[str, Any]) -> dict[str, Any]:
    """Return the event that a turn has ended, with its reply and its tools' results."""
    return {"type": "turn_end", "message": message, "toolResults": list(results)}


def answer(command: str, data: Any = ABSENT, **fields: Any) -> dict[str, Any]:
    """Return an answer of the RPC mode."""
    form = {"id": "r1", "type": "response", "command": command, "success": True, "data": data}
    return _without_absent({**form, **fields})


def edit(**fields: Any) -> dict[str, Any]:
    """Return the event that a context edit was appended."""
    entry = {"type": "context_edit", "id": "b8f11201", "targetId": "9b541235", "replacement": None}
    return {"type": "entry_appended", "entry": {**entry, **fields}}


@define
class Feed:
    """A stream that is fed event by event, as the verb does it."""

    state: StreamState = STREAM.initial

    def __call__(self, *events: dict[str, Any], at: datetime = AT) -> Feed:
        """Take *events*; return itself."""
        for event in events:
            self.take(json.dumps(event).encode(), at=at)
        return self

    def take(self, line: bytes, *, at: datetime = AT) -> None:
        """Take one line."""
        if STREAM.relevant(line):
            self.state = STREAM.step(self.state, json.loads(line), Query(at=at))

    def evidence(self, **asked: Any) -> Evidence:
        """Return what the stream shows."""
        return STREAM.evidence(self.state, Query(**{"at": AT, **asked}))

    def peak(self, **asked: Any) -> Evidence:
        """Return what the stream shows of the fullest reply."""
        return STREAM.peak(self.state, Query(**{"at": AT, **asked}))

    def shows(self, **asked: Any) -> Seen:
        """Return what the stream shows, in short."""
        return shown(self.evidence(**asked))


# -- recordings ---------------------------------------------------------------------------------


@frozen
class Run:
    """A recorded run of Pi against a server that knew every count.

    Attributes:
        folder: Where it lies.
    """

    folder: Path

    @property
    def name(self) -> str:
        """Such as ``pi/b-tools``."""
        return self.folder.relative_to(ROOT).as_posix()

    @property
    def session(self) -> Path:
        """The session's file."""
        (path,) = (self.folder / "session").iterdir()
        return path

    @cached_property
    def rows(self) -> list[bytes]:
        """The lines of the session's file, with their ends."""
        return self.session.read_bytes().splitlines(keepends=True)

    @property
    def streams(self) -> list[Path]:
        """What each process printed, in order; none on the terminal."""
        return sorted([*self.folder.glob("stream*.jsonl"), *self.folder.glob("rpc.jsonl")])

    @property
    def lines(self) -> list[bytes]:
        """The lines that were printed, one process after the other."""
        return [line for path in self.streams for line in path.read_bytes().split(b"\n") if line]

    @cached_property
    def truth(self) -> dict[str, Any]:
        """What the server and Pi itself said."""
        return dict(json.loads((self.folder / "truth.json").read_bytes()))

    @cached_property
    def own(self) -> list[dict[str, Any]]:
        """What Pi's own meter said at each of its events."""
        lines = (self.folder / "own-context-usage.jsonl").read_bytes().splitlines()
        return [json.loads(line) for line in lines]


RUNS = [
    Run(truth.parent) for truth in sorted(ROOT.glob("pi*/*/truth.json")) if "pi" in truth.parts[-3]
]
VERSION_SESSIONS = sorted((ROOT / "pi-versions").glob("session*.jsonl"))
