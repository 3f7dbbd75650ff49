"""The payloads that Codex hands to hooks and to a ``notify`` program: none measures anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from ..session import Answer, Truth, Writer
from .rollout import WORDS
from .rows import THREAD, turn

__all__ = ["HookWriter"]

_PATH = f"/home/dev/.codex/sessions/2026/11/29/rollout-2026-11-29T18-00-00-{THREAD}.jsonl"


class HookWriter(Writer):
    """Writes the payloads of a session's hooks."""

    steps: ClassVar[tuple[str, ...]] = ("start", "use_a_tool", "stop", "notify", "foreign")
    words: ClassVar[frozenset[str]] = WORDS

    def __init__(self) -> None:
        super().__init__()
        self._seen = Truth.missing("usage_not_reported")
        self._other = Truth.missing("session_mismatch")

    def answers(self) -> Iterator[Answer]:
        """Return what is seen: that no hook has a count, and whose hook it is."""
        yield Answer(self._seen)
        yield Answer(self._seen, session_id=THREAD, phase="terminal")
        yield Answer(self._other, session_id="another")

    def _hand_over(self, event: str, **fields: Any) -> None:
        own = {"session_id": THREAD, "transcript_path": _PATH, "cwd": "/home/dev/project"}
        self.write({**own, "hook_event_name": event, "model": "gpt-5.5", **fields})

    def start(self, size: int) -> None:
        """Begin the session."""
        self._hand_over("SessionStart", source=("startup", "resume", "compact")[size % 3])

    def use_a_tool(self, size: int) -> None:
        """Be about to use a tool."""
        self._hand_over("PreToolUse", turn_id=turn(size), tool_input={"command": "x" * size})

    def stop(self, size: int) -> None:
        """Have answered."""
        self._hand_over("Stop", turn_id=turn(size), stop_hook_active=False)

    def notify(self, size: int) -> None:
        """Call the ``notify`` program, whose keys are in kebab-case."""
        ids = {"thread-id": THREAD, "turn-id": turn(size)}
        self.write({"type": "agent-turn-complete", **ids, "input-messages": ["x" * size]})

    def foreign(self, size: int) -> None:
        """Hand over what another agent's hook would: events of the same names."""
        own = self._seen, self._other
        self._seen = self._other = Truth.missing("source_malformed")
        mark = ("prompt_id", "cursor_version", "conversation_id", "generation_id")[size % 4]
        self._hand_over("Stop", **{mark: "x"})
        self._seen, self._other = own
