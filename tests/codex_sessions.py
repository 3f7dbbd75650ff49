"""Codex's rollouts for tests: the recordings, a writer of new ones, and a reader.

`Writer` writes rows as 0.171 does, or as an older version with what that version had; every field
can be overridden, which is how a test makes its one mistake. `read` drives the extraction with a
growing window and the file's first row, as `observe` does, and stops at the evidence.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from ctxmeasure.adapters.codex.rollout import ROLLOUT
from ctxmeasure.bounded.budget import MIB, ReadBudget
from ctxmeasure.bounded.jsonl import TailReader
from ctxmeasure.evidence import Evidence, Gap, NeedMore, Query, TokenPair, UsedTokens

__all__ = [
    "ABSENT",
    "PARENT",
    "PARENTS_TURN",
    "ROLLOUTS",
    "START",
    "THREAD",
    "WINDOW",
    "Rollout",
    "Seen",
    "Writer",
    "joined",
    "read",
    "shown",
    "turn",
    "usage",
]

START = datetime(2026, 11, 29, 18, 0, tzinfo=UTC)
"""The moment of a written rollout's first row; each row comes a second after the one before."""

PARENT = "01a22890-0000-7000-8000-00000000000a"
PARENTS_TURN = "01a22890-0001-7000-8000-00000000000b"
THREAD = "01a22891-0000-7000-8000-00000000000c"
WINDOW = 258_400

ABSENT: Any = object()
"""As a field's value: leave the key out."""

Seen = int | str
"""Used tokens, or the reason why there are none."""


def turn(number: int) -> str:
    """Return the id of a turn of `THREAD`, a UUIDv7 made after the thread's."""
    return f"01a22891-{number:04x}-7000-8000-00000000000d"


def read(content: bytes, *, window: int = MIB, budget: int = 4 * MIB, **asked: Any) -> Evidence:
    """Return the evidence in *content*, reading *window* bytes first and *budget* at most."""
    query = Query(**{"at": START + timedelta(days=1), **asked})
    budgets = ReadBudget(initial=window, maximum=budget)
    reader = TailReader.open(content, budgets, head=ROLLOUT.head)
    assert isinstance(reader, TailReader)
    with reader:
        while isinstance(evidence := ROLLOUT.extract(reader.tail, query), NeedMore):
            if not reader.grow():
                return evidence.settled()
        return evidence


def shown(evidence: Evidence) -> Seen:
    """Return the used tokens, or the reason why there are none."""
    match evidence:
        case Gap(reason=reason):
            return reason.value
        case TokenPair(used_tokens=used) if used is not None:
            return used
        case UsedTokens(limit_missing=reason) if reason is not None:
            return reason.value
    raise AssertionError(evidence)


def usage(used: int, output: int = 40) -> dict[str, int]:
    """Return the usage of a request that came to *used* tokens."""
    return {
        "input_tokens": used - output,
        "cached_input_tokens": (used - output) // 2,
        "cache_write_input_tokens": 0,
        "output_tokens": output,
        "reasoning_output_tokens": 7,
        "total_tokens": used,
    }


_NOTHING = dict.fromkeys(usage(0), 0)


def joined(rows: list[dict[str, Any]]) -> bytes:
    """Return *rows* as a JSON-lines file."""
    return b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows)


@define
class Writer:
    """Writes the rows of one thread.

    Attributes:
        version: The version that writes: what it lacks is left out.
        thread_id: Whose rows they are.
        rows: What has been written.
        turn_id: The running turn.
        model: Goes into every ``turn_context``.
        window: Goes into every row that states one.
        last: The last request's usage, as the meter holds it; None: no ``info``.
        total: The sum of all requests, as the meter holds it.
    """

    version: str = "0.171.0"
    thread_id: str = THREAD
    rows: list[dict[str, Any]] = field(factory=list)
    turn_id: str | None = None
    model: Any = "gpt-5.5"
    window: Any = WINDOW
    last: Any = None
    total: dict[str, int] = field(factory=lambda: {**_NOTHING})

    @property
    def minor(self) -> int:
        """The version's second number."""
        return int(self.version.split(".")[1])

    @property
    def content(self) -> bytes:
        """The file."""
        return joined(self.rows)

    @property
    def now(self) -> datetime:
        """When the next row is written."""
        return START + timedelta(seconds=len(self.rows))

    # -- rows ---------------------------------------------------------------------------------

    def row(self, kind: str, payload: Any, **envelope: Any) -> None:
        """Write one row."""
        row = {
            "timestamp": self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "ordinal": len(self.rows) if self.minor >= 150 else ABSENT,
            "type": kind,
            "payload": _without_absent(payload),
            **envelope,
        }
        self.rows.append(_without_absent(row))

    def event(self, kind: str, **payload: Any) -> None:
        """Write an event."""
        self.row("event_msg", {"type": kind, **payload})

    def begin(self, **meta: Any) -> None:
        """Write the file's first row."""
        own = {"id": self.thread_id, "cli_version": self.version, "originator": "codex_exec"}
        tree = {"session_id": self.thread_id} if self.minor >= 145 else {}
        self.row("session_meta", {**tree, **own, "source": "exec", **meta})

    def start(self, turn_id: str | None = None, **payload: Any) -> str | None:
        """Begin a turn; return its id."""
        self.turn_id = turn_id or turn(len(self.rows) + 1)
        if self.minor <= 98:
            self.turn_id = None
        else:
            known = {"turn_id": self.turn_id, "model_context_window": self.window}
            self.event("task_started", **{**known, **payload})
        self.context()
        self.row("response_item", {"type": "message", "role": "user", "content": []})
        return self.turn_id

    def context(self, **payload: Any) -> None:
        """Write what the turn (up to 0.98: the request) is about to use."""
        named = ABSENT if self.turn_id is None else self.turn_id
        self.row("turn_context", {"turn_id": named, "model": self.model, **payload})

    def end(self, **payload: Any) -> None:
        """End the turn."""
        if self.minor > 98:
            self.event("task_complete", **{"turn_id": self.turn_id, **payload})

    def abort(self, **payload: Any) -> None:
        """Interrupt the turn."""
        self.event("turn_aborted", **{"turn_id": self.turn_id, "reason": "interrupted", **payload})

    # -- what the model says ------------------------------------------------------------------

    def message(self) -> None:
        """Write a message of the model."""
        if self.minor > 130:
            self.item("AgentMessage")
        else:
            self.event("agent_message", message="x")
        self.row("response_item", {"type": "message", "role": "assistant", "content": []})

    def item(self, kind: str, **payload: Any) -> None:
        """Write that an item is complete."""
        own = {"thread_id": self.thread_id, "turn_id": self.turn_id, "item": {"type": kind}}
        self.event("item_completed", **{**own, **payload})

    def call(self) -> None:
        """Write a call of a tool."""
        self.row("response_item", {"type": "function_call", "name": "shell", "call_id": "1"})

    def output(self) -> None:
        """Write a tool's output."""
        self.row("response_item", {"type": "function_call_output", "call_id": "1"})

    # -- the meter ----------------------------------------------------------------------------

    def take(self, used: int) -> None:
        """Let the meter take a request of *used* tokens."""
        self.last = usage(used)
        self.total = {key: self.total[key] + count for key, count in self.last.items()}

    def record(self, **payload: Any) -> None:
        """Write the record of the last request."""
        own = {"thread_id": self.thread_id, "turn_id": self.turn_id}
        response = {"response_id": f"resp_{len(self.rows)}", "usage": self.last}
        self.row("token_usage_record", {**own, **response, **payload})

    def count(self, **info: Any) -> None:
        """Write the meter down."""
        known = {
            "total_token_usage": self.total,
            "last_token_usage": self.last,
            "model_context_window": self.window,
        }
        self.event(
            "token_count", info=None if self.last is None else _without_absent({**known, **info})
        )

    def respond(self, used: int, *, calls: bool = False) -> None:
        """Write a response of the conversation and all that its tools leave."""
        if 44 <= self.minor <= 130:
            self.count()  # when the rate limits arrive
        self.call() if calls else self.message()
        self.take(used)
        if self.minor >= 155:
            self.record()
        elif self.minor <= 130:
            self.count()
        if calls:
            self.output()
        if self.minor > 130:
            self.count()
        elif calls and self.minor <= 98:
            self.context()

    def compact(self, used: int, estimate: int) -> None:
        """Write a compaction, whose own request came to *used* tokens."""
        self.summarise(used)
        self.replace(estimate)

    def summarise(self, used: int) -> None:
        """Write a compaction's own request."""
        self.count()
        self.row("response_item", {"type": "message", "role": "assistant", "content": []})
        self.take(used)
        if self.minor >= 155:
            self.record()
        self.count()

    def replace(self, estimate: int) -> None:
        """Write that the context was replaced, by one that Codex estimates."""
        self.row("compacted", {"message": "x", "replacement_history": []})
        self.context()
        self.estimate(estimate)
        self.item("ContextCompaction")

    def estimate(self, tokens: int) -> None:
        """Let the meter hold an estimate, and write it down."""
        self.last = {**_NOTHING, "total_tokens": tokens}
        self.count()

    def exceed(self) -> None:
        """Mark the meter as full, and write it down."""
        left = max(self.window - self.total["total_tokens"], 0)
        self.last = {**_NOTHING, "total_tokens": left}
        self.total = {**_NOTHING, "total_tokens": self.window}
        self.count()


def _without_absent(fields: Any) -> Any:
    if not isinstance(fields, dict):
        return fields
    return {key: value for key, value in fields.items() if value is not ABSENT}


# -- recordings -------------------------------------------------------------------------------

_RECORDED = Path(__file__).parent / "recordings"


@frozen
class Rollout:
    """A recorded rollout.

    Attributes:
        name: Its scenario, or its file name among those of older versions.
        path: Where it lies.
    """

    name: str
    path: Path

    @cached_property
    def content(self) -> bytes:
        """The file."""
        return self.path.read_bytes()

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Its rows."""
        return [json.loads(line) for line in self.content.splitlines()]

    @cached_property
    def ends(self) -> list[int]:
        """How many bytes the first 0, 1, 2, ... rows take."""
        ends = [0]
        for line in self.content.splitlines(keepends=True):
            ends.append(ends[-1] + len(line))
        return ends

    @cached_property
    def thread_id(self) -> str:
        """The thread's id."""
        return str(self.rows[0].get("payload", self.rows[0])["id"])

    @cached_property
    def turns(self) -> list[str]:
        """The turns that begin in it, a parent's too, in order."""
        payloads = [row.get("payload", {}) for row in self.rows]
        return [p["turn_id"] for p in payloads if p.get("type") == "task_started"]

    @property
    def truth(self) -> dict[str, Any]:
        """What the model server had said, where it is known."""
        folder = self.path.parents[5]
        known: dict[str, Any] = json.loads((folder / "truth.json").read_bytes())
        return known

    def beside(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of another file of the scenario."""
        lines = (self.path.parents[5] / name).read_bytes().splitlines()
        return [json.loads(line) for line in lines]

    def first(self, count: int) -> bytes:
        """Return the first *count* rows."""
        return self.content[: self.ends[count]]


def _scenario(path: Path) -> Rollout:
    name = "/".join(path.relative_to(_RECORDED).parts[:2])
    is_child = b'"thread_source":"subagent"' in path.read_bytes().partition(b"\n")[0]
    return Rollout(f"{name}/sub-agent" if is_child else name, path)


def _recorded() -> list[Rollout]:
    scenarios = [
        _scenario(path)
        for agent in ("codex", "codex-0.120.0")
        for path in sorted((_RECORDED / agent).glob("*/session/**/rollout-*.jsonl"))
    ]
    versions = [
        Rollout(path.stem.removeprefix("rollout_"), path)
        for path in sorted((_RECORDED / "codex-versions").glob("rollout_*.jsonl"))
    ]
    return scenarios + versions


ROLLOUTS = _recorded()
