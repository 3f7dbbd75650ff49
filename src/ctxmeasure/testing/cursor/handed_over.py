"""The payloads that Cursor hands over: hooks, and the status line of its CLI."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from ...evidence import Phase
from ..session import Answer, Truth, Writer
from . import payloads
from .payloads import SESSION

__all__ = ["WORDS", "HookWriter", "StatusLineWriter"]

WORDS = Writer.words | {"hook_event_name", "cursor_version", "trigger", "id"}
"""Keys whose texts tell a reader how to read Cursor's payloads."""

_MISMATCH = Truth.missing("session_mismatch")
_TURN = "9c1f"


class HookWriter(Writer):
    """Writes the payloads of hooks; ``preCompact`` alone measures."""

    steps: ClassVar[tuple[str, ...]] = (
        "submit",
        "compact",
        "compact_by_percentage",
        "disagree",
        "overflow",
        "state_nothing",
        "stop",
        "leave_for_the_cloud",
    )
    words: ClassVar[frozenset[str]] = WORDS

    def __init__(self) -> None:
        super().__init__()
        self._seen = Truth.missing("usage_not_reported")

    def answers(self) -> Iterator[Answer]:
        """Return what is seen of the chat and of its turn."""
        yield Answer(self._seen)
        yield Answer(self._seen, session_id=SESSION, turn_id=_TURN, phase=Phase.ACTIVE)
        yield Answer(Truth.missing("turn_not_found"), session_id=SESSION, turn_id="another")
        yield Answer(_MISMATCH, session_id="another")
        yield Answer(_MISMATCH, agent_id="an-agent")

    def _pre_compact(self, used: int, limit: int, percent: float) -> None:
        numbers = {"context_tokens": used, "context_window_size": limit}
        self.write(payloads.hook("preCompact", **numbers, context_usage_percent=percent))

    def submit(self, size: int) -> None:
        """Submit a prompt."""
        self._seen = Truth.missing("usage_not_reported")
        self.write(payloads.hook("beforeSubmitPrompt", prompt="x" * size))

    def compact(self, size: int) -> None:
        """Be about to compact, with all three statements or without the percentage."""
        used = self.fresh()
        self._seen = Truth.tokens(used, 200_000, self.now)
        exact = 100 * used / 200_000
        self._pre_compact(used, 200_000, (0, round(exact, 1), int(exact))[size % 3])
        self.shrink()

    def compact_by_percentage(self, size: int) -> None:
        """Be about to compact, with 0 for the counts: they are not set."""
        self._seen = Truth.percent(91.5 - size, self.now)
        self._pre_compact(self.fresh() if size % 2 else 0, 0, 91.5 - size)

    def disagree(self, size: int) -> None:
        """State a percentage that is not that of the counts."""
        used = self.fresh()
        self._seen = Truth.missing("sources_disagree", used_tokens=used)
        self._pre_compact(used, 200_000, 99 - size % 3)

    def overflow(self, size: int) -> None:
        """State more tokens than the window holds."""
        self._seen = Truth.missing("limit_contradicted", used_tokens=250_000 + size)
        self._pre_compact(250_000 + size, 200_000, 100)

    def state_nothing(self, size: int) -> None:
        """State no count and no percentage, or a count and no window to hold it against."""
        used = self.fresh() if size % 2 else 0
        nothing = Truth.missing("usage_not_reported")
        self._seen = Truth.missing("limit_not_reported", used_tokens=used) if used else nothing
        self._pre_compact(used, 0, 0)

    def stop(self, size: int) -> None:
        """End the turn, with sums over its calls or without any."""
        self._seen = Truth.missing("cumulative_only" if size % 2 else "usage_not_reported")
        sums: dict[str, Any] = {"input_tokens": 900_000, "output_tokens": 7} if size % 2 else {}
        self.write(payloads.hook("stop", status="completed", **sums))

    def leave_for_the_cloud(self, size: int) -> None:
        """Submit a prompt to an agent in the cloud, of which nothing is on this machine."""
        self._seen = Truth.missing("remote_session")
        background = {"is_background_agent": True}
        self.write(payloads.hook("beforeSubmitPrompt", prompt="x" * size, **background))


class StatusLineWriter(Writer):
    """Writes the status lines of CLI 2026.08.11."""

    steps: ClassVar[tuple[str, ...]] = ("show_nothing", "show", "show_alone", "disagree")
    words: ClassVar[frozenset[str]] = WORDS

    def __init__(self) -> None:
        super().__init__()
        self._seen = Truth.missing("not_measured_yet")

    def answers(self) -> Iterator[Answer]:
        """Return what is seen of the chat; of a turn nothing can be."""
        yield Answer(self._seen)
        yield Answer(self._seen, session_id=SESSION, phase=Phase.TERMINAL)
        yield Answer(Truth.missing("turn_ids_not_recorded"), session_id=SESSION, turn_id="t")
        yield Answer(_MISMATCH, session_id="another")

    def _line(self, percent: float | None, **window: Any) -> None:
        shares: dict[str, Any] = {"used_percentage": percent, "remaining_percentage": None}
        if percent is not None:
            shares["remaining_percentage"] = round(100 - percent, 1)
            shares["total_input_tokens"] = round(256_000 * percent / 100)
        self.write(payloads.status_line({**shares, **window}))

    def show_nothing(self, size: int) -> None:  # noqa: ARG002 - every step has a size
        """Hand over a line early in a chat."""
        self._seen = Truth.missing("not_measured_yet")
        self._line(None, total_input_tokens=0)

    def _fresh_percent(self) -> float:
        return round(100 * self.fresh() / 256_000, 1)

    def show(self, size: int) -> None:  # noqa: ARG002 - as above
        """Hand over a line with all its statements."""
        percent = self._fresh_percent()
        self._seen = Truth.percent(percent, self.now)
        self._line(percent)

    def show_alone(self, size: int) -> None:
        """Hand over the percentage without the count that is derived from it."""
        percent = self._fresh_percent()
        self._seen = Truth.percent(percent, self.now)
        dropped = ("total_input_tokens", "context_window_size", "remaining_percentage")
        self._line(percent, **{dropped[size % 3]: ...})

    def disagree(self, size: int) -> None:
        """Hand over a percentage that is not that of what is left."""
        percent = self._fresh_percent()
        self._seen = Truth.missing("sources_disagree", used_percent=percent)
        self._line(percent, remaining_percentage=99 - size)
