"""Sessions of Codex as their rollout shows them, and what each row makes true.

Models turns, tools, repeated counts, interruptions, killed processes, compactions, overflows,
failures, rollbacks, switches of the model, and forks. Subclass it to write as another version did.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import ClassVar

from attrs import define, evolve

from ...evidence import Phase
from ..session import Answer, Row, Truth, Writer, line
from .rows import PARENT, PARENTS_TURN, WINDOW, RolloutRows, usage

__all__ = [
    "MODELS",
    "NOT_FOUND",
    "WORDS",
    "RolloutWriter",
    "RolloutWriter0115",
    "RolloutWriter0145",
    "Turn",
]

WORDS = Writer.words | {
    "cli_version",
    "originator",
    "source",
    "trigger",
    "hook_event_name",
    "method",
    "status",
    "cliVersion",
    "codexErrorInfo",
    "codex_error_info",
}
"""Keys whose texts tell a reader how to read Codex's rows, notifications and payloads."""

_TURN_END_LAG = timedelta(seconds=30)  # a turn's last sample lies at most this far before its end

MODELS = {
    "gpt-5.5": WINDOW,
    "gpt-6.2-sol": 475_000,
    "gpt-5.4-mini": WINDOW,
    "mystery-model-9": 121_600,
}
"""The models of a written session, and the windows that Codex states for them."""

NOT_FOUND = Truth.missing("turn_not_found")
"""What must be seen of a turn that has not been answered."""


@define
class Turn:
    """A turn, what must be seen of it, and when it has ended."""

    truth: Truth = NOT_FOUND
    ended_at: datetime | None = None

    @property
    def at_its_end(self) -> Truth:
        """What must be seen by who asks for the turn once it is over."""
        if self.ended_at is None or self.truth.measured_at is None:
            return self.truth
        is_late = self.ended_at - self.truth.measured_at > _TURN_END_LAG
        return Truth.missing("sample_stale") if is_late else self.truth


class RolloutWriter(Writer):
    """Writes rollouts, and knows where the meter stands after each row.

    Attributes:
        version: The version that writes.
        rows: The rows of the file.
    """

    version: ClassVar[str] = "0.171.0"
    steps: ClassVar[tuple[str, ...]] = (
        "fork",
        "start",
        "respond",
        "call",
        "repeat",
        "end",
        "switch_model",
        "overflow",
        "compact",
        "interrupt",
        "rollback",
        "fail",
    )
    words: ClassVar[frozenset[str]] = WORDS

    def __init__(self) -> None:
        super().__init__()
        self._open(RolloutRows(self.version))

    def _open(self, rows: RolloutRows) -> None:
        self.written.clear()
        self.rows = rows
        self._seen = Truth.missing("not_measured_yet")
        self._turns: dict[str, Turn] = {}
        self._is_running = self._is_fork = False

    def begin(self) -> None:
        """Write whose file it is."""
        self.rows.begin()
        self._emit()

    # -- what is true -------------------------------------------------------------------------

    def answers(self) -> Iterator[Answer]:
        """Return what is seen of the thread, and of its last turns."""
        own = self.rows.thread_id
        yield Answer(self._seen)
        yield Answer(self._seen, session_id=own)
        yield Answer(self._seen, session_id=own, agent_id=own)
        yield Answer(Truth.missing("session_mismatch"), session_id=PARENT)
        yield Answer(Truth.missing("carried_over"), session_id=own, turn_id=PARENTS_TURN)
        running = self._turn.truth if self._is_running else NOT_FOUND
        yield Answer(running, session_id=own, phase=Phase.ACTIVE)
        for turn_id, turn in list(self._turns.items())[-2:]:
            is_over = not (self._is_running and turn is self._turn)
            truth = turn.at_its_end if is_over else Truth.missing("turn_not_finished")
            yield Answer(truth, session_id=own, turn_id=turn_id, phase=Phase.TERMINAL)

    @property
    def _turn(self) -> Turn:
        """The turn that has begun last."""
        return self._turns[self.rows.turn_id or ""]

    def _emit(self, *, left: int | None = None) -> None:
        """Write the rows that are new; the count in them tells what a compaction has *left*."""
        for row in self.rows.rows[len(self.written) :]:
            if left is not None and row["payload"].get("type") == "token_count":
                self._void(Truth.missing("compacted", used_tokens=left))
            self.now = self.rows.clock + timedelta(seconds=len(self.written))
            self._put(line(row))

    def _void(self, truth: Truth) -> None:
        """Let the meter show no response from the next row on."""
        self._seen = self._turn.truth = truth

    def _count(self, used: int) -> None:
        """Let the meter show a response of *used* tokens from the next row on.

        It is held against the window of its own model until the next one.
        """
        counted = Truth.tokens(used, self.rows.window, self.rows.now)
        is_over = used > self.rows.window
        over = Truth.missing("limit_contradicted", used_tokens=used)
        self._seen = over if is_over else counted
        self._turn.truth = self._seen

    # -- turns --------------------------------------------------------------------------------

    def start(self, size: int) -> None:  # noqa: ARG002 - every step has a size
        """Begin a turn; the process of one that runs was killed."""
        turn_id = f"{self.rows.thread_id[:8]}-{len(self.rows.rows):04x}-7000-8000-00000000000d"
        self._turns[turn_id] = Turn()
        self._is_running = True
        self.rows.start(turn_id)
        self._emit()

    def _go_on(self) -> None:
        if not self._is_running:
            self.start(0)

    def end(self, size: int) -> None:  # noqa: ARG002 - as above
        """End the turn."""
        self._go_on()
        self._over()
        self.rows.end()
        self._emit()

    def _over(self) -> None:
        self._is_running, self._turn.ended_at = False, self.rows.now

    def interrupt(self, size: int) -> None:
        """Interrupt the turn, before which the meter is written down again."""
        self.repeat(size)
        self._over()
        self.rows.abort()
        self._emit()

    def switch_model(self, size: int) -> None:
        """Let the next turn use another model."""
        if self._is_running:
            self.end(size)
        self.rows.model = list(MODELS)[size % len(MODELS)]
        self.rows.window = MODELS[self.rows.model]

    # -- responses ----------------------------------------------------------------------------

    def respond(self, size: int) -> None:  # noqa: ARG002 - as above
        """Write a response and the count of it."""
        self._respond(self.fresh())

    def call(self, size: int) -> None:  # noqa: ARG002 - as above
        """Write a response that calls a tool, and what the tool says."""
        self._respond(self.fresh(), calls=True)

    def overflow(self, size: int) -> None:  # noqa: ARG002 - as above
        """Write a response of more tokens than the window holds."""
        self._respond(1_000_000 + self.number)

    def _respond(self, used: int, *, calls: bool = False) -> None:
        self._go_on()
        rows, minor = self.rows, self.rows.minor
        if minor <= 130:
            self.repeat(0)  # when the rate limits arrive
        rows.call() if calls else rows.message()
        self._emit()
        rows.take(used)
        if minor <= 130 or minor >= 155:
            self._count(used)
            rows.count() if minor <= 130 else rows.record()
            self._emit()
        if calls:
            rows.output()
            self._emit()
        if minor > 130:
            if minor < 155:
                self._count(used)
            rows.count()
            self._emit()

    def repeat(self, size: int) -> None:  # noqa: ARG002 - as above
        """Write the meter down again."""
        self._go_on()
        self._carry_over()
        self.rows.repeat()
        self._emit()

    def _carry_over(self) -> None:
        if self.rows.last is not None and self._turn.truth == NOT_FOUND:
            self._turn.truth = Truth.missing("carried_over")

    # -- what makes a count void --------------------------------------------------------------

    def compact(self, size: int) -> None:  # noqa: ARG002 - as above
        """Compact, by a request of its own, to a context that Codex estimates."""
        self.repeat(0)
        rows = self.rows
        rows.row("response_item", {"type": "message", "role": "assistant", "content": []})
        rows.take(self.fresh())
        if rows.minor >= 155:
            rows.record()
        rows.count()
        self._emit()  # nobody can tell yet whose request that was
        left = self.shrink()
        self._void(Truth.missing("compacted"))
        rows.replace(left)
        self._emit(left=left)

    def fail(self, size: int) -> None:
        """Fail because the window is exceeded, and mark the meter as full."""
        self.repeat(0)
        before = (self.rows.last, self.rows.total)
        self.rows.exceed()
        if (self.rows.last, self.rows.total) != before:  # else it is one more repetition
            self._void(Truth.missing("window_exceeded"))
        self._emit()
        self.end(size)

    def rollback(self, size: int) -> None:
        """Cut some turns off the context.

        In a fork that has no turn of its own yet, nobody can tell this from a rollback of its
        parent's, whose rows were copied up to 0.145 and name no thread.
        """
        if self._is_running:
            self.end(size)
        is_told = self._turns or not self._is_fork
        left = self.shrink()
        reason = "estimate_only" if is_told else "carried_over"
        if self._seen.reason in ("compacted", "rewound"):
            reason = self._seen.reason
        self._seen = Truth.missing(reason, used_tokens=left if is_told else None)
        self.rows.estimate(left)
        self._emit()
        self._seen = Truth.missing("rewound", used_tokens=left) if is_told else self._seen
        self.rows.event("thread_rolled_back", num_turns=1)
        self._emit()

    def fork(self, size: int) -> None:  # noqa: ARG002 - as above
        """Go on in the file of another thread, which begins with this one's meter."""
        before = self.rows
        thread_id = f"01a228{0x92 + self.number % 0x60:02x}-0000-7000-8000-00000000000c"
        self._open(evolve(before, thread_id=thread_id, rows=[], clock=before.now, turn_id=None))
        self._is_fork, base = True, {"thread_id": before.thread_id}
        self.rows.begin(forked_from_id=before.thread_id, history_base=base)
        self._emit()
        if before.last is not None:
            self._seen = Truth.missing("carried_over")
        self.rows.repeat()
        self._emit()

    def strangers(self) -> Iterable[Row]:
        """Return rows that name another thread, and rows of kinds that do not matter."""
        theirs = RolloutRows(thread_id=PARENT, turn_id=PARENTS_TURN, last=usage(99_000))
        theirs.record()
        theirs.item("AgentMessage")
        theirs.item("ContextCompaction")
        theirs.event("user_message", message="x")
        theirs.row("world_state", {"state": {"token_count": 1}})
        theirs.row("response_item", {"type": "message", "content": '{"type":"token_count"}'})
        theirs.row("unheard_of", {"type": "token_count", "info": None})
        theirs.event("unheard_of", info={"last_token_usage": usage(99_000)})
        for row in theirs.rows:
            row.pop("ordinal")
        return theirs.rows


class RolloutWriter0115(RolloutWriter):
    """Writes as 0.115 did: counts alone, and the last one again before every request."""

    version: ClassVar[str] = "0.115.0"


class RolloutWriter0145(RolloutWriter):
    """Writes as 0.145 did: counts alone, without records."""

    version: ClassVar[str] = "0.145.0"
