"""Sessions of Pi as their file shows them, and what each row makes true.

Models turns, tools, replies that fail, that are aborted or that report nothing, compactions,
context edits, switches of the model, and branches. Subclass it to write an older format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, ClassVar

from attrs import evolve, frozen

from ...evidence import Phase
from ..session import ABSENT, SECOND, START, Answer, Row, Truth, Writer, line
from .events import message_end
from .rows import SESSION_ID, SessionRows, reply, usage

__all__ = [
    "BAD_USAGES",
    "MODELS",
    "NOTHING",
    "TOO_LONG",
    "WORDS",
    "Model",
    "SessionWriter",
    "SessionWriterFormat1",
]

WORDS = Writer.words | {
    "command",
    "errorMessage",
    "modelId",
    "provider",
    "reason",
    "stopReason",
}
"""Keys whose texts tell a reader how to read Pi's rows, events and answers."""


@frozen
class Model:
    """A model that a session selects.

    Attributes:
        id: Its id.
        provider: Whose it is.
        window: Its window in the table, or None.
    """

    id: str
    provider: str
    window: int | None


MODELS = (
    Model("claude-sonnet-4-5", "anthropic", 200_000),
    Model("mystery-model-9", "house", None),
    Model("gpt-4o", "openai", 128_000),
    Model("claude-opus-4-8", "anthropic", 1_000_000),
)
"""The models of a written session; the table does not know the second."""

BAD_USAGES: tuple[tuple[dict[str, Any], str], ...] = (
    ({"cacheRead": ABSENT}, "usage_incomplete"),
    ({"input": -1}, "usage_invalid"),
    ({"totalTokens": "7"}, "usage_invalid"),
)
"""What can be wrong with a reply's usage, and the reason that it gives."""

NOTHING = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "totalTokens"), 0)
"""The usage of servers that report none, and of replies that failed."""

TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"
"""How Anthropic refuses a prompt that does not fit."""

_NOTHING_YET = Truth.missing("not_measured_yet")


@frozen(kw_only=True)
class _Stand:
    """What the conversation stands on at one of its rows.

    Attributes:
        model: The model in force.
        counted: What the last good reply used, and when it was written; None where *gap* stands.
        gap: Why nothing is measured.
        is_edited: The context was edited since that reply.
    """

    model: Model = MODELS[0]
    counted: tuple[int, datetime] | None = None
    gap: Truth = _NOTHING_YET
    is_edited: bool = False

    @property
    def truth(self) -> Truth:
        """What must be seen."""
        if self.counted is None:
            return self.gap
        if self.is_edited:
            return Truth.missing("rewound")
        (used, at), window = self.counted, self.model.window
        if window is None:
            return Truth.missing("model_unknown", used_tokens=used)
        if used > window:
            return Truth.missing("limit_contradicted", used_tokens=used)
        return Truth.tokens(used, window, at)

    def void(self, reason: str) -> _Stand:
        """Return what is left of it when nothing is measured, for *reason*."""
        return _Stand(model=self.model, gap=Truth.missing(reason))


class SessionWriter(Writer):
    """Writes session files, and knows what the conversation stands on after each row.

    Attributes:
        version: The format.
        rows: The rows of the file.
    """

    version: ClassVar[int] = 3
    steps: ClassVar[tuple[str, ...]] = (
        "prompt",
        "respond",
        "use_tools",
        "rewind",
        "chain",
        "edit",
        "fail",
        "abort",
        "refuse",
        "report_nothing",
        "switch_model",
        "overrun",
        "report_badly",
        "compact",
    )
    words: ClassVar[frozenset[str]] = WORDS

    def __init__(self) -> None:
        super().__init__()
        self.rows = SessionRows(self.version)
        self._stand = _Stand()
        self._stands: dict[str | None, _Stand] = {}
        self._asked_at = START

    def begin(self) -> None:
        """Write the header, and which model is selected."""
        self._emit()
        self._select(self._stand.model)

    # -- what is true -------------------------------------------------------------------------

    def answers(self) -> Iterator[Answer]:
        """Return what is seen of the session and of the running turn."""
        stand, own = self._stand, {"session_id": SESSION_ID}
        unnamed = by_time = stand.truth
        if stand.counted is not None and not stand.is_edited:
            unnamed = Truth.missing("turn_ids_not_recorded")
            if stand.counted[1] < self._asked_at:
                by_time = Truth.missing("turn_not_found")
        yield Answer(stand.truth)
        yield Answer(stand.truth, **own)
        yield Answer(Truth.missing("session_mismatch"), session_id="another")
        yield Answer(Truth.missing("session_mismatch"), agent_id="an-agent")
        yield Answer(unnamed, **own, turn_id="a-turn")
        yield Answer(unnamed, **own, phase=Phase.ACTIVE)
        yield Answer(by_time, **own, turn_started_at=self._asked_at, phase=Phase.ACTIVE)

    @property
    def _row_at(self) -> datetime:
        """When the next row is written."""
        return START + len(self.rows.rows) * SECOND

    def _emit(self) -> None:
        """Write the rows that are new, which make true what the conversation stands on now."""
        self._stands[self.rows.leaf] = self._stand
        for index in range(len(self.written), len(self.rows.rows)):
            self.now = START + index * SECOND
            self._put(line(self.rows.rows[index]))

    def _select(self, model: Model) -> None:
        self.rows.select(model.id, model.provider)
        self._stand = evolve(self._stand, model=model)
        self._emit()

    def _reply(self, used: int, **fields: Any) -> None:
        model = self._stand.model
        dated = {"timestamp": int(self._row_at.timestamp() * 1000)}
        self.rows.reply(used, model=model.id, provider=model.provider, **dated, **fields)

    def _respond(self, used: int) -> None:
        self._stand = _Stand(model=self._stand.model, counted=(used, self._row_at))
        self._reply(used)
        self._emit()

    # -- steps --------------------------------------------------------------------------------

    def prompt(self, size: int) -> None:
        """Begin a turn."""
        self._asked_at = self._row_at
        self.rows.say(content="x" * size)
        self._emit()

    def respond(self, size: int) -> None:  # noqa: ARG002 - every step has a size
        """Write a reply."""
        self._respond(self.fresh())

    def use_tools(self, size: int) -> None:
        """Write a reply that calls tools, and what they say."""
        self._respond(self.fresh())
        for _ in range(1 + size % 2):
            self.rows.say("toolResult", toolCallId="toolu_1", content="x" * size)
            self._emit()

    def overrun(self, size: int) -> None:  # noqa: ARG002 - as above
        """Write a reply that does not fit into the window of a smaller model."""
        self._respond(250_000 + self.number)

    def chain(self, size: int) -> None:
        """Write a row that holds no message."""
        rows: tuple[tuple[str, dict[str, Any]], ...] = (
            ("label", {"targetId": "00000001", "label": "x" * size}),
            ("thinking_level_change", {"thinkingLevel": "off"}),
            ("branch_summary", {"summary": "x" * size, "usage": usage(900_000)}),
            ("custom_message", {"content": "x" * size}),
            ("from_the_future", {"usage": usage(900_000)}),
        )
        kind, fields = rows[size % len(rows)]
        self.rows.row(kind, **fields)
        self._emit()

    def fail(self, size: int) -> None:
        """Write a reply that failed; Pi's meter passes over it."""
        self._reply(0, usage=NOTHING, stopReason="error", errorMessage="overloaded " * size)
        self._emit()

    def abort(self, size: int) -> None:  # noqa: ARG002 - as above
        """Write a reply that was aborted; Pi's meter ignores its usage."""
        self._reply(self.fresh(), stopReason="aborted")
        self._emit()

    def refuse(self, size: int) -> None:  # noqa: ARG002 - as above
        """Write that the server refused the prompt as too long."""
        self._stand = self._stand.void("window_exceeded")
        self._reply(0, usage=NOTHING, stopReason="error", errorMessage=TOO_LONG)
        self._emit()

    def report_nothing(self, size: int) -> None:  # noqa: ARG002 - as above
        """Write a reply of a server that reports no usage; the one before it stands."""
        if self._stand.counted is None and self._stand.gap == _NOTHING_YET:
            self._stand = self._stand.void("usage_not_reported")
        self._reply(0, usage=NOTHING)
        self._emit()

    def report_badly(self, size: int) -> None:
        """Write a reply whose usage cannot be counted."""
        change, reason = BAD_USAGES[size % len(BAD_USAGES)]
        self._stand = self._stand.void(reason)
        self._reply(0, usage=usage(self.fresh(), **change))
        self._emit()

    def compact(self, size: int) -> None:
        """Compact the conversation."""
        self.shrink()
        self._stand = self._stand.void("compacted")
        self.rows.compact(summary="x" * size)
        self._emit()

    def edit(self, size: int) -> None:  # noqa: ARG002 - as above
        """Take a message out of the context."""
        self._stand = evolve(self._stand, is_edited=True)
        self.rows.row("context_edit", targetId="00000002", replacement=None)
        self._emit()

    def switch_model(self, size: int) -> None:
        """Select another model, against which Pi holds the count from now on."""
        self._select(MODELS[size % len(MODELS)])

    def rewind(self, size: int) -> None:
        """Go back to a row, and ask something else."""
        leaves = list(self._stands)
        self.rows.leaf = leaves[-1 - 3 * size % len(leaves)]
        self._stand = self._stands[self.rows.leaf]
        self.prompt(0)

    def strangers(self) -> Iterable[Row]:
        """Return what is no row of the conversation."""
        yield message_end(reply(777_000))
        yield {"usage": usage(777_000)}


class SessionWriterFormat1(SessionWriter):
    """Writes as Pi did before 0.31.0: the rows are a list, and no tree."""

    version: ClassVar[int] = 1
    steps: ClassVar[tuple[str, ...]] = tuple(
        step for step in SessionWriter.steps if step != "rewind"
    )
