"""Sessions of Codex as ``codex exec --json`` prints them, in its present form and an old one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from ...evidence import Phase
from ..session import Answer, Row, Truth, Writer
from .rollout import NOT_FOUND, WORDS
from .rows import THREAD, usage

__all__ = ["ExecWriter", "OldExecWriter"]

_OLD_WINDOW = 272_000
_EXCEEDED = Truth.missing("window_exceeded")


class ExecWriter(Writer):
    """Writes the lines of the present form, whose one usage is a sum over the thread."""

    steps: ClassVar[tuple[str, ...]] = ("start", "say", "complete", "fail")
    words: ClassVar[frozenset[str]] = WORDS

    def begin(self) -> None:
        """Name the thread."""
        self.write({"type": "thread.started", "thread_id": THREAD})

    def answers(self) -> Iterator[Answer]:
        """Return what is seen: that sums measure nothing."""
        sums = Truth.missing("cumulative_only")
        yield Answer(sums)
        yield Answer(sums, session_id=THREAD, phase=Phase.TERMINAL)
        yield Answer(Truth.missing("session_mismatch"), session_id="another")
        yield Answer(Truth.missing("usage_not_reported"), agent_id="an-agent")

    def start(self, size: int) -> None:  # noqa: ARG002 - every step has a size
        """Begin a turn."""
        self.write({"type": "turn.started"})

    def say(self, size: int) -> None:
        """Print what a command or the model says."""
        self.write({"type": "item.completed", "item": {"id": "item_0", "text": "x" * size}})

    def complete(self, size: int) -> None:  # noqa: ARG002 - as above
        """End the turn with the thread's sum."""
        self.write({"type": "turn.completed", "usage": usage(self.fresh())})

    def fail(self, size: int) -> None:  # noqa: ARG002 - as above
        """Let the turn fail."""
        self.write({"type": "turn.failed", "error": {"message": "x"}})

    def strangers(self) -> Iterable[Row]:
        """Return lines that say nothing of the context."""
        yield {"type": "item.started", "item": {"type": "command_execution"}}
        yield {"type": "from-the-future", "usage": usage(99_000)}


class OldExecWriter(Writer):
    """Writes the lines of 0.36, which wrap the core's messages."""

    steps: ClassVar[tuple[str, ...]] = ("start", "respond", "repeat", "say", "compact", "exceed")
    words: ClassVar[frozenset[str]] = WORDS

    def __init__(self) -> None:
        super().__init__()
        self._seen = Truth.missing("not_measured_yet")
        self._last: dict[str, Any] = {}
        self._lifetime = 0
        self._turn = self._of_turn = ""

    def begin(self) -> None:
        """Print the header."""
        self.write({"workdir": "/home/dev", "provider": "openai", "model": "gpt-5-codex"})

    def answers(self) -> Iterator[Answer]:
        """Return what is seen of the last request, and of the running turn."""
        is_older = self._of_turn not in ("", self._turn)
        yield Answer(self._seen)
        yield Answer(NOT_FOUND if is_older else self._seen, phase=Phase.ACTIVE)
        yield Answer(Truth.missing("usage_not_reported"), agent_id="an-agent")

    def _message(self, kind: str, **message: Any) -> None:
        self.write({"id": self._turn, "msg": {"type": kind, **message}})

    def _count(self, seen: Truth, last: dict[str, int], total: dict[str, int]) -> None:
        if not seen == self._seen == _EXCEEDED:  # nothing tells a second marker from the first
            self._seen, self._of_turn = seen, self._turn
        info = {"last_token_usage": last, "total_token_usage": total}
        self._last = {**info, "model_context_window": _OLD_WINDOW}
        self._message("token_count", info=self._last)

    def start(self, size: int) -> None:  # noqa: ARG002 - every step has a size
        """Begin a turn."""
        self._turn = str(self.number)
        self._message("task_started", model_context_window=_OLD_WINDOW)

    def _go_on(self) -> None:
        if not self._turn:
            self.start(0)

    def respond(self, size: int) -> None:  # noqa: ARG002 - as above
        """Count a response."""
        self._go_on()
        used = self.fresh()
        self._lifetime += used
        self._count(Truth.tokens(used, _OLD_WINDOW), usage(used), usage(self._lifetime))

    def repeat(self, size: int) -> None:  # noqa: ARG002 - as above
        """Print the count again, as this version does before every request."""
        self._go_on()
        self._message("token_count", info=self._last or None)

    def say(self, size: int) -> None:
        """Print what the model says."""
        self._go_on()
        self._message("agent_message", message="x" * size)

    def compact(self, size: int) -> None:  # noqa: ARG002 - as above
        """Compact, to a context that Codex estimates."""
        self._go_on()
        nothing = dict.fromkeys(usage(0), 0)
        left = self.shrink()
        estimated = {**nothing, "total_tokens": left}
        compacted = Truth.missing("compacted", used_tokens=left)
        self._count(compacted, estimated, usage(self._lifetime + 40))

    def exceed(self, size: int) -> None:  # noqa: ARG002 - as above
        """Mark the meter as full."""
        self._go_on()
        nothing = dict.fromkeys(usage(0), 0)
        left, full = 130_000 + self.number, _OLD_WINDOW
        self._count(
            _EXCEEDED,
            {**nothing, "total_tokens": left},
            {**nothing, "total_tokens": full},
        )

    def strangers(self) -> Iterable[Row]:
        """Return lines that say nothing of the context."""
        yield {"id": "0", "msg": {"type": "exec_command_output_delta"}}
        yield {"id": "0", "msg": {"type": "from-the-future", "info": usage(99_000)}}
