"""The payloads that Claude Code hands over: status lines, hooks, answers to get_context_usage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from ...evidence import Phase
from ..session import ABSENT, Answer, Truth, Writer, without_absent
from .rows import MODEL, usage
from .transcript import BAD_USAGES, WORDS

__all__ = ["ContextUsageWriter", "HookWriter", "StatusLineWriter"]

_SESSION = "5e551014-0000-4000-8000-000000000001"
_PROMPT = "9b50f700-0000-4000-8000-000000000001"
_WINDOW = 200_000
_PATH = f"/home/dev/.claude/projects/-home-dev-project/{_SESSION}.jsonl"
_TURN_NOT_FOUND = Truth.missing("turn_not_found")
_MISMATCH = Truth.missing("session_mismatch")


class _PayloadWriter(Writer):
    """Hands over payloads that name their session and their turn."""

    words: ClassVar[frozenset[str]] = WORDS

    def __init__(self) -> None:
        super().__init__()
        self._seen = Truth.missing("not_measured_yet")

    def answers(self) -> Iterator[Answer]:
        """Return what is seen of the session and of its turn."""
        own = {"session_id": _SESSION}
        yield Answer(self._seen)
        yield Answer(self._seen, **own, turn_id=_PROMPT, phase=Phase.ACTIVE)
        yield Answer(self._of_turn, **own, turn_id="another", phase=Phase.TERMINAL)
        yield Answer(_MISMATCH, session_id="another")

    @property
    def _of_turn(self) -> Truth:
        """What is seen of another turn than the payload's."""
        return _TURN_NOT_FOUND

    def _counted(self, used: int, window: int = _WINDOW) -> None:
        """Let the payload show *used* tokens at the moment it is handed over."""
        is_over = used > window
        counted = Truth.tokens(used, window, self.now)
        over = Truth.missing("limit_contradicted", used_tokens=used)
        self._seen = over if is_over else counted


class StatusLineWriter(_PayloadWriter):
    """Writes status lines of 2.1.332, and of a version that stated no usage."""

    steps: ClassVar[tuple[str, ...]] = (
        "show_nothing",
        "show",
        "show_percentage",
        "show_zeros",
        "disagree",
        "overflow",
        "report_badly",
    )

    def _line(self, version: str = "2.1.332", **window: Any) -> None:
        stated = {"context_window_size": _WINDOW, **window}
        self.write(
            {
                "session_id": _SESSION,
                "prompt_id": _PROMPT,
                "transcript_path": _PATH,
                "model": {"id": MODEL, "display_name": "Sonnet 4.5"},
                "workspace": {"current_dir": "/home/dev/project"},
                "version": version,
                "cost": {"total_cost_usd": 0.1},
                "exceeds_200k_tokens": False,
                "context_window": without_absent(stated),
            }
        )

    def _full(self, used: int, **window: Any) -> None:
        percent = min(100, round(100 * used / _WINDOW))
        shares = {"used_percentage": percent, "remaining_percentage": 100 - percent}
        totals = {"total_input_tokens": used, "total_output_tokens": 7}
        self._line(**{**totals, "current_usage": usage(used), **shares, **window})

    def show_nothing(self, size: int) -> None:  # noqa: ARG002 - every step has a size
        """Hand over a line before the first response."""
        self._seen = Truth.missing("not_measured_yet")
        self._line(current_usage=None, used_percentage=None, remaining_percentage=None)

    def show(self, size: int) -> None:  # noqa: ARG002 - as above
        """Hand over a line with all its statements."""
        used = self.fresh()
        self._counted(used)
        self._full(used)

    def show_percentage(self, size: int) -> None:
        """Hand over a line that states no usage, and totals that are sums."""
        self._seen = Truth.percent(float(1 + size), self.now)
        sums = {"total_input_tokens": self.fresh()}
        self._line("2.1.6", **sums, used_percentage=1 + size, remaining_percentage=99 - size)

    def show_zeros(self, size: int) -> None:  # noqa: ARG002 - as above
        """Hand over the line right after a compaction."""
        self.shrink()
        self._seen = Truth.missing("not_measured_yet")
        self._full(0, current_usage=dict.fromkeys(usage(0), 0))

    def disagree(self, size: int) -> None:
        """Hand over a line whose percentage is not that of its counts."""
        used = self.fresh()
        self._seen = Truth.missing("sources_disagree", used_tokens=used)
        share = round(100 * used / _WINDOW)
        self._full(used, used_percentage=(share + 5 + size) % 101)

    def overflow(self, size: int) -> None:
        """Hand over a line with more tokens than its window."""
        self._counted(250_000 + size)
        self._full(250_000 + size)

    def report_badly(self, size: int) -> None:
        """Hand over a line whose usage cannot be counted."""
        used = self.fresh()
        change, reason = BAD_USAGES[size % len(BAD_USAGES)]
        # Zeros are what a line has before the first response.
        seen = "not_measured_yet" if reason == "usage_not_reported" else reason
        self._seen = Truth.missing(seen)
        self._full(used, current_usage=without_absent({**usage(used), **change}))


class ContextUsageWriter(_PayloadWriter):
    """Writes answers to ``get_context_usage``."""

    steps: ClassVar[tuple[str, ...]] = ("answer", "estimate", "refuse", "overflow", "report_badly")

    def _answer(self, **fields: Any) -> None:
        stated = {"model": MODEL, "totalTokens": 55_100, "rawMaxTokens": _WINDOW, "percentage": 28}
        answer = without_absent({**stated, "isAutoCompactEnabled": True, **fields})
        self.write({"session_id": _SESSION, "prompt_id": _PROMPT, "response": answer})

    def answer(self, size: int) -> None:
        """State the last response's usage, against the window in use."""
        used, window = self.fresh(), (_WINDOW, 180_000, _WINDOW)[size % 3]
        self._counted(used, window)
        self._answer(apiUsage=usage(used), rawMaxTokens=window)

    def estimate(self, size: int) -> None:
        """State nothing but an estimate."""
        left = 9_000 * size
        nothing = Truth.missing("not_measured_yet")
        self._seen = Truth.missing("estimate_only", used_tokens=left) if left else nothing
        self._answer(apiUsage=None, totalTokens=left)

    def refuse(self, size: int) -> None:  # noqa: ARG002 - every step has a size
        """Answer as a version does that does not know the request."""
        self._seen = Truth.missing("usage_not_reported")
        self.write({"session_id": _SESSION, "prompt_id": _PROMPT, "subtype": "error"})

    def overflow(self, size: int) -> None:
        """State a response of more tokens than the window holds."""
        self._counted(250_000 + size)
        self._answer(apiUsage=usage(250_000 + size))

    def report_badly(self, size: int) -> None:
        """State a usage that cannot be counted."""
        used = self.fresh()
        change, reason = BAD_USAGES[size % len(BAD_USAGES)]
        seen = "estimate_only" if reason == "usage_not_reported" else reason
        self._seen = Truth.missing(seen)
        self._answer(apiUsage=without_absent({**usage(used), **change}))

    @property
    def _of_turn(self) -> Truth:
        is_refused = self._seen == Truth.missing("usage_not_reported")
        return self._seen if is_refused else _TURN_NOT_FOUND


class HookWriter(_PayloadWriter):
    """Writes the payloads of hooks; those of a resume and of a model switch have a count."""

    steps: ClassVar[tuple[str, ...]] = ("start", "resume", "switch_model", "use_a_tool", "stop")

    def _hand_over(self, event: str, **fields: Any) -> None:
        own = {"session_id": _SESSION, "prompt_id": _PROMPT, "transcript_path": _PATH}
        self.write({**own, "hook_event_name": event, "cwd": "/home/dev/project", **fields})

    def _without_count(self, event: str, **fields: Any) -> None:
        self._seen = Truth.missing("usage_not_reported")
        self._hand_over(event, **fields)

    @property
    def _of_turn(self) -> Truth:
        has_count = self._seen.reason != "usage_not_reported"
        return _TURN_NOT_FOUND if has_count else self._seen

    def start(self, size: int) -> None:  # noqa: ARG002 - every step has a size
        """Begin the session."""
        self._without_count("SessionStart", source="startup", model=MODEL)

    def resume(self, size: int) -> None:
        """Go on with a session, whose last count is handed over."""
        count = self.fresh() if size else 0
        self._seen = Truth.missing("not_measured_yet")
        if count:
            self._counted(count)
        self._hand_over("SessionStart", source="resume", model=MODEL, context_tokens=count)

    def switch_model(self, size: int) -> None:
        """Switch the model: the count is the old model's before, the new one's after."""
        event, other = ("PreModelSwitch", "claude-opus-4-8"), ("PostModelSwitch", MODEL)
        named, to_model = event if size % 2 else other
        count = self.fresh()
        self._counted(count)
        self._hand_over(named, from_model=MODEL, to_model=to_model, context_tokens=count)

    def use_a_tool(self, size: int) -> None:
        """Be about to use a tool."""
        self._without_count("PreToolUse", tool_input={"command": "x" * size})

    def stop(self, size: int) -> None:
        """Have answered; a count in another hook than those is not known to be one."""
        self._without_count("Stop", context_tokens=self.fresh() if size % 2 else ABSENT)
