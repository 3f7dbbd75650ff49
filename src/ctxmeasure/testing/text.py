"""The output of an agent that prints text: JSON in it is as silent as any other words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from .claude.frames import assistant
from .session import Answer, Row, Truth, Writer

__all__ = ["TextWriter"]


class TextWriter(Writer):
    """Writes lines that look like much and report nothing."""

    steps: ClassVar[tuple[str, ...]] = ("say", "quote")

    def answers(self) -> Iterator[Answer]:
        """Return what is seen: that nothing can be."""
        nothing = Truth.missing("source_unsupported")
        yield Answer(nothing)
        yield Answer(nothing, session_id="s", turn_id="t", phase="active")
        yield Answer(nothing, agent_id="a", phase="terminal")

    def say(self, size: int) -> None:
        """Print words."""
        self.write({"text": "Context: 45% " * size})

    def quote(self, size: int) -> None:
        """Print what another agent's report looks like."""
        self.write(assistant(self.fresh(), f"msg_{size}"))

    def strangers(self) -> Iterable[Row]:
        """Return more of the like."""
        yield {"used": 77_000, "size": 100_000}
