"""Sessions of Codex as ``codex app-server`` notifies of them (0.171)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from ...evidence import Phase
from ..session import Answer, Row, Truth, Writer
from . import notifications
from .notifications import CHILD, THREAD
from .rollout import MODELS, NOT_FOUND, WORDS, Turn
from .rows import WINDOW

__all__ = ["AppServerWriter"]


class AppServerWriter(Writer):
    """Writes the notifications of a connection, and knows what each of them shows."""

    steps: ClassVar[tuple[str, ...]] = (
        "start",
        "respond",
        "chatter",
        "end",
        "delegate",
        "switch_model",
        "overflow",
        "compact",
        "interrupt",
        "fail",
        "revert",
    )
    words: ClassVar[frozenset[str]] = WORDS

    def __init__(self) -> None:
        super().__init__()
        self._seen = Truth.missing("not_measured_yet")
        self._turns: dict[str, Turn] = {}
        self._turn_id = ""
        self._is_running = False
        self._lifetime = 0
        self._last: dict[str, Any] | None = None  # what was reported last, to report it again
        self._agents: Truth | None = None
        self._window = WINDOW

    def begin(self) -> None:
        """Load a thread, and choose its model."""
        thread = {"id": THREAD, "cliVersion": "0.171.0"}
        self._notify({"method": "thread/started", "params": {"thread": thread}})
        self._use("gpt-5.5")

    # -- what is true -------------------------------------------------------------------------

    def answers(self) -> Iterator[Answer]:
        """Return what is seen of the thread, its last turn, and its sub-agent."""
        yield Answer(self._seen)
        yield Answer(self._seen, session_id=THREAD)
        yield Answer(Truth.missing("session_mismatch"), session_id="another")
        if self._turn_id:
            own = {"session_id": THREAD, "turn_id": self._turn_id}
            turn = self._turns[self._turn_id]
            yield Answer(turn.truth, **own, phase=Phase.ACTIVE)
            over = Truth.missing("turn_not_finished") if self._is_running else turn.at_its_end
            yield Answer(over, **own, phase=Phase.TERMINAL)
        if self._agents is not None:
            yield Answer(self._agents, agent_id=CHILD)

    def _notify(self, row: Row) -> None:
        self.write({**row, "emittedAtMs": int(self.now.timestamp() * 1000)})

    @property
    def _is_counted(self) -> bool:
        is_over = self._seen.reason == "limit_contradicted"
        return self._seen.reason is None or is_over

    def _show(self, truth: Truth) -> None:
        self._seen = self._turns[self._turn_id].truth = truth

    def _report(self, used: int) -> None:
        self._lifetime += used
        self._last = {"used": used, "lifetime": self._lifetime, "window": self._window}
        self._notify(notifications.updated(**self._last, turn=self._turn_id))

    def _repeat(self) -> None:
        """Report what was reported last again, under the id of whatever turn runs."""
        turn = self._turns[self._turn_id]
        if self._last is not None:
            if turn.truth == NOT_FOUND and self._is_counted:
                turn.truth = Truth.missing("carried_over")
            self._notify(notifications.updated(**self._last, turn=self._turn_id))

    # -- steps --------------------------------------------------------------------------------

    def start(self, size: int) -> None:
        """Begin a turn, after the one that runs."""
        if self._is_running:
            self.end(size)
        self._turn_id = f"turn-{self.number}-{len(self.written)}"
        self._turns[self._turn_id], self._is_running = Turn(), True
        self._notify(notifications.started(self._turn_id))

    def _go_on(self) -> None:
        if not self._is_running:
            self.start(0)

    def end(self, size: int, status: str = "completed", error: Any = None) -> None:  # noqa: ARG002
        """End the turn."""
        self._go_on()
        self._is_running, self._turns[self._turn_id].ended_at = False, self.now
        self._notify(notifications.ended(self._turn_id, status, error))

    def respond(self, size: int) -> None:  # noqa: ARG002 - every step has a size
        """Report a response."""
        self._go_on()
        used = self.fresh()
        self._show(Truth.tokens(used, self._window, self.now))
        self._report(used)

    def overflow(self, size: int) -> None:  # noqa: ARG002 - as above
        """Report a response of more tokens than the window holds."""
        self._go_on()
        used = 1_000_000 + self.number
        self._show(Truth.missing("limit_contradicted", used_tokens=used))
        self._report(used)

    def chatter(self, size: int) -> None:
        """Notify of what says nothing of the context."""
        delta = {"threadId": THREAD, "turnId": "t", "delta": "x" * size}
        self._notify({"method": "item/agentMessage/delta", "params": delta})

    def delegate(self, size: int) -> None:  # noqa: ARG002 - as above
        """Let a sub-agent's thread respond on the same connection."""
        turn, used = f"agents-turn-{self.number}", self.fresh()
        if self._agents is None:
            self._agents = Truth.missing("not_measured_yet")
        root = {"id": turn, "rootTurnId": "turn-of-the-root"}
        self._notify(notifications.notification("turn/started", threadId=CHILD, turn=root))
        self._agents = Truth.tokens(used, WINDOW, self.now)
        self._notify(notifications.updated(used, turn=turn, threadId=CHILD))

    def switch_model(self, size: int) -> None:
        """Let the next turn use another model; what was counted stands until the next response."""
        if self._is_running:
            self.end(size)
        self._use(list(MODELS)[size % len(MODELS)])

    def _use(self, model: str) -> None:
        self._window = MODELS[model]
        settings = {"model": model}
        row = notifications.notification("thread/settings/updated", threadSettings=settings)
        self._notify(row)

    def compact(self, size: int) -> None:  # noqa: ARG002 - as above
        """Compact, by a request of its own, to a context that Codex estimates."""
        self._go_on()
        self._repeat()
        self._notify(notifications.compaction("item/started", self._turn_id))
        self._report(self.fresh())
        left = self.shrink()
        self._show(Truth.missing("compacted", used_tokens=left))
        self._last = None
        self._notify(notifications.estimated(left, self._lifetime, turn=self._turn_id))
        self._notify(notifications.compaction(turn=self._turn_id))

    def interrupt(self, size: int) -> None:
        """Interrupt the turn, before which the last report is sent again."""
        self._go_on()
        self._repeat()
        self.end(size, status="interrupted")

    def fail(self, size: int) -> None:
        """Fail because the window is exceeded."""
        self._go_on()
        self._show(Truth.missing("window_exceeded"))
        self._last = None
        self._notify(notifications.exceeded(130_000 + self.number, turn=self._turn_id))
        error = {"codexErrorInfo": "contextWindowExceeded"}
        self.end(size, status="failed", error=error)

    def revert(self, size: int) -> None:
        """Go back to an earlier state of the thread."""
        if self._is_running:
            self.end(size)
        self._seen = Truth.missing("rewound")
        self._last = None
        for turn in self._turns.values():
            turn.truth = self._seen
        self._notify(notifications.notification("thread/reverted"))

    def strangers(self) -> Iterable[Row]:
        """Return notifications of another thread, and such as say nothing of the context."""
        yield notifications.updated(99_000, turn="t", threadId="another-thread")
        yield notifications.notification("thread/reverted", threadId="another-thread")
        yield {"method": "account/rateLimits/updated", "params": {"threadId": THREAD}}
        yield {"id": 7, "result": {}}
