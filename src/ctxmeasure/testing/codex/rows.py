"""The rows of Codex's rollout, written as 0.171 does, or as an older version with what that had.

Every field can be overridden, which is how a test makes its one mistake.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from attrs import define, field

from ..session import ABSENT, START, joined, without_absent

__all__ = ["PARENT", "PARENTS_TURN", "THREAD", "WINDOW", "RolloutRows", "turn", "usage"]

PARENT = "01a22890-0000-7000-8000-00000000000a"
PARENTS_TURN = "01a22890-0001-7000-8000-00000000000b"
THREAD = "01a22891-0000-7000-8000-00000000000c"
WINDOW = 258_400


def turn(number: int) -> str:
    """Return the id of a turn of `THREAD`, a UUIDv7 made after the thread's."""
    return f"01a22891-{number:04x}-7000-8000-00000000000d"


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


@define
class RolloutRows:
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
        clock: When the first row is written; each comes a second after the one before.
    """

    version: str = "0.171.0"
    thread_id: str = THREAD
    rows: list[dict[str, Any]] = field(factory=list)
    turn_id: str | None = None
    model: Any = "gpt-5.5"
    window: Any = WINDOW
    counted_window: Any = WINDOW
    last: Any = None
    total: dict[str, int] = field(factory=lambda: {**_NOTHING})
    clock: datetime = START

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
        return self.clock + timedelta(seconds=len(self.rows))

    # -- rows ---------------------------------------------------------------------------------

    def row(self, kind: str, payload: Any, **envelope: Any) -> None:
        """Write one row."""
        row = {
            "timestamp": self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "ordinal": len(self.rows) if self.minor >= 150 else ABSENT,
            "type": kind,
            "payload": without_absent(payload),
            **envelope,
        }
        self.rows.append(without_absent(row))

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
        self.last, self.counted_window = usage(used), self.window
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
            "token_count", info=None if self.last is None else without_absent({**known, **info})
        )

    def repeat(self) -> None:
        """Write the meter down again, with the window that it was counted against (0.171)."""
        self.count(model_context_window=self.counted_window)

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
        self.last, self.counted_window = {**_NOTHING, "total_tokens": tokens}, self.window
        self.count()

    def exceed(self) -> None:
        """Mark the meter as full, and write it down."""
        left, self.counted_window = max(self.window - self.total["total_tokens"], 0), self.window
        self.last = {**_NOTHING, "total_tokens": left}
        self.total = {**_NOTHING, "total_tokens": self.window}
        self.count()
