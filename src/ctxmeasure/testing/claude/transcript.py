"""Sessions of Claude Code as their file shows them, and what each row makes true.

Models turns, parallel tools, sub-agents, failures, compactions, rewinds, forks, resumes with
another version, switches of the model, and a clock that is set back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, ClassVar

from attrs import frozen

from ...evidence import Phase
from ..session import ABSENT, Answer, Row, Truth, Writer, line, without_absent
from .rows import TranscriptRows, usage

__all__ = ["AGENT", "BAD_USAGES", "MODELS", "WORDS", "TranscriptWriter"]

WORDS = Writer.words | {
    "subtype",
    "rowSource",
    "requestedModel",
    "modelId",
    "claude_code_version",
    "status",
    "compact_result",
    "terminal_reason",
    "hook_event_name",
    "source",
    "from_model",
    "to_model",
}
"""Keys whose texts tell a reader how to read Claude Code's rows, frames and payloads."""

AGENT = "a54e51b23b1dadccb"
"""The sub-agent of a written session."""

_NOBODY = "0123abcd-0000-4000-8000-00000000000e"
_STRANGER = "0123abcd-0000-4000-8000-00000000000f"

MODELS: dict[str, int | None] = {
    "claude-haiku-4-5-20251001": 200_000,
    "claude-opus-4-8": 1_000_000,
    "mystery-model-9": None,
    "claude-sonnet-4-5-20250929": 200_000,
}
"""The models of a written session, and their windows; None: the table does not know the model."""

BAD_USAGES: tuple[tuple[dict[str, Any], str], ...] = (
    ({"cache_read_input_tokens": ABSENT}, "usage_incomplete"),
    (dict.fromkeys(usage(0), 0), "usage_not_reported"),
    ({"input_tokens": -1}, "usage_invalid"),
)
"""What can be wrong with a usage, and the reason that it gives."""

_VERSIONS = ("2.1.332", "2.1.328", "2.1.320")


@frozen
class _Stand:
    """What the conversation stands on: a response of a turn, or nothing that can be measured.

    Attributes:
        truth: What must be seen.
        turn: The turn, or None where there is no response.
        before: What the turn builds on: the last response of the turn before it.
    """

    truth: Truth
    turn: str | None = None
    before: _Stand | None = None

    def of(self, turn: str | None) -> Truth:
        """Return what must be seen by who asks for *turn*."""
        return self.truth if self.turn in (None, turn) else Truth.missing("turn_not_found")


_NOTHING = _Stand(Truth.missing("not_measured_yet"))
_COMPACTED = _Stand(Truth.missing("compacted"))
_REWOUND = _Stand(Truth.missing("rewound"))
_CARRIED_OVER = _Stand(Truth.missing("carried_over"))


class TranscriptWriter(Writer):
    """Writes session files, and knows what the conversation stands on after each row.

    Attributes:
        rows: The rows of the file.
    """

    steps: ClassVar[tuple[str, ...]] = (
        "fork",
        "prompt",
        "respond",
        "set_clock_back",
        "use_tools",
        "rewind",
        "chain",
        "note",
        "fail",
        "aside",
        "delegate",
        "switch_model",
        "resume",
        "overflow",
        "report_badly",
        "compact",
        "preserve",
    )
    words: ClassVar[frozenset[str]] = WORDS

    def __init__(self) -> None:
        super().__init__()
        self._open(TranscriptRows())

    def _open(self, rows: TranscriptRows) -> None:
        """Begin a file, in which nothing was said yet."""
        self.written.clear()
        self.rows = rows
        self._standing: dict[str | None, _Stand] = {None: _NOTHING}  # by row, since a compaction
        self._newest = _NOTHING
        self._compacted = _COMPACTED
        self._compacted_at: datetime | None = None
        self._agents_leaf: str | None = None
        self._agents_truth: Truth | None = None

    def begin(self) -> None:
        """Ask for something."""
        self.prompt(0)

    # -- what is true -------------------------------------------------------------------------

    @property
    def _seen(self) -> _Stand:
        here = self._standing[self.rows.leaf]
        # The newest itself: an earlier response can have the same truth, and yet be rewound to.
        return here if here is self._newest or here == self._compacted else _REWOUND

    def answers(self) -> Iterator[Answer]:
        """Return what is seen of the session, of its turn, and of its sub-agent."""
        seen, turn = self._seen, self.rows.prompt_id
        own: dict[str, Any] = {"session_id": self.rows.session_id}
        yield Answer(seen.truth)
        yield Answer(seen.truth, **own)
        yield Answer(Truth.missing("session_mismatch"), session_id=_NOBODY)
        for phase in (Phase.ACTIVE, Phase.TERMINAL):
            yield Answer(seen.of(turn), **own, turn_id=turn, phase=phase)
        yield Answer(seen.of("no-turn"), **own, turn_id="no-turn")
        if seen.before is not None:
            over: dict[str, Any] = {"turn_id": seen.before.turn, "phase": Phase.TERMINAL}
            yield Answer(seen.before.truth, **own, **over)
        if self._agents_truth is not None:
            yield Answer(self._agents_truth, **own, agent_id=AGENT)

    def _emit(self) -> None:
        """Write the rows that are new."""
        rows = self.rows
        for index in range(len(self.written), len(rows.rows)):
            self.now = rows.clock + timedelta(seconds=index)
            self._put(line(rows.rows[index]))

    def _stay(self, before: str | None) -> None:
        """Stand where *before* stands."""
        self._standing[self.rows.leaf] = self._standing[before]
        self._emit()

    # -- steps --------------------------------------------------------------------------------

    def prompt(self, size: int) -> None:
        """Begin a turn."""
        before = self.rows.leaf
        self.rows.prompt_id = f"turn-{self.number}-{len(self.rows.rows)}"
        self.rows.prompt("x" * size)
        self._stay(before)

    def respond(self, size: int) -> None:
        """Write a response in one to three blocks."""
        self._respond(self.fresh(), blocks=1 + size % 3)

    def _respond(self, used: int, *, blocks: int, reported: Any = None, wrong: str = "") -> None:
        rows, written = self.rows, list[str]()
        window, base = MODELS[rows.model], self._standing[self.rows.leaf]
        before = base.before if base.turn == rows.prompt_id else base
        for _ in range(blocks):
            truth = _truth(used, window, rows.now) if not wrong else Truth.missing(wrong)
            message = {"usage": usage(used) if reported is None else reported}
            is_after = self._compacted_at is None or rows.now > self._compacted_at
            uuid = rows.response(used, message_id=f"msg_{used}", message=message)
            if is_after:
                written.append(uuid)
                known = before if before is not None and before.turn is not None else None
                self._newest = _Stand(truth, rows.prompt_id, known)
                self._standing.update(dict.fromkeys(written, self._newest))
            else:
                self._standing[uuid] = self._compacted
            self._emit()

    def use_tools(self, size: int) -> None:
        """Write a response with parallel tool calls, whose results come in any order."""
        self._respond(self.fresh(), blocks=3)
        blocks = [row["uuid"] for row in self.rows.rows[-3:]]
        for shift in range(3):
            parent = blocks[(size + shift) % 3]
            self.rows.tool_result(parentUuid=parent)
            self._stay(parent)

    def chain(self, size: int) -> None:
        """Write a row of some other type into the chain."""
        before = self.rows.leaf
        kind = ("attachment", "system", "progress", "from-the-future")[size % 4]
        self.rows.row(kind, subtype="api_error", text="x" * size)
        self._stay(before)

    def note(self, size: int) -> None:
        """Write a user row that nobody typed."""
        before = self.rows.leaf
        self.rows.prompt(**({"isMeta": True} if size % 2 else {"rowSource": "harness"}))
        self._stay(before)

    def fail(self, size: int) -> None:
        """Write the row that stands for a failed call."""
        before = self.rows.leaf
        self.rows.error(isApiErrorMessage=bool(size % 2))
        self._stay(before)

    def aside(self, size: int) -> None:
        """Write rows that are no part of the conversation: a note, an inline sidechain."""
        before = self.rows.leaf
        self.rows.loose({"type": "last-prompt", "leafUuid": before, "lastPrompt": "x" * size})
        self.rows.response(900_000 + size, parentUuid=None, isSidechain=True)
        self.rows.leaf = before
        self._emit()

    def delegate(self, size: int) -> None:
        """Write a sub-agent's prompt and response between the conversation's own rows."""
        rows, before = self.rows, self.rows.leaf
        rows.agent_id, rows.leaf = AGENT, self._agents_leaf
        rows.prompt("x" * size)
        asked, rows.leaf = rows.leaf, before
        if self._agents_truth is None:
            self._agents_truth = Truth.missing("not_measured_yet")
        self._emit()
        used = self.fresh()
        self._agents_truth = _truth(used, MODELS[rows.model], rows.now)
        rows.leaf = asked
        rows.response(used)
        rows.agent_id, self._agents_leaf, rows.leaf = None, rows.leaf, before
        self._emit()

    def switch_model(self, size: int) -> None:
        """Let another model answer from now on."""
        self.rows.model = list(MODELS)[size % len(MODELS)]

    def resume(self, size: int) -> None:
        """Let another version go on with the session."""
        self.rows.version = _VERSIONS[size % len(_VERSIONS)]
        self.chain(0)

    def overflow(self, size: int) -> None:  # noqa: ARG002 - every step has a size
        """Write a response that does not fit into the window of a smaller model."""
        self._respond(250_000 + self.number, blocks=1)

    def report_badly(self, size: int) -> None:
        """Write a response whose usage cannot be counted."""
        used = self.fresh()
        change, reason = BAD_USAGES[size % len(BAD_USAGES)]
        reported = without_absent({**usage(used), **change})
        self._respond(used, blocks=1, reported=reported, wrong=reason)

    def compact(self, size: int) -> None:
        """Compact the conversation."""
        self._compact(size)

    def _compact(self, size: int, kept: Any = ABSENT) -> None:
        left = self.shrink()
        boundary = self.rows.boundary(post=left if size % 2 else ABSENT, kept=kept)
        estimate = left if size % 2 else None
        self._compacted = _Stand(Truth.missing("compacted", used_tokens=estimate))
        self._standing = {boundary: self._compacted}
        self._emit()
        self._compacted_at = self.rows.now
        summary = self.rows.summary()
        self._standing[summary] = self._compacted
        self._emit()

    def preserve(self, size: int) -> None:
        """Compact, and write the newest response again behind the compaction.

        The boundary lists it where its time is later than the compaction's: a window that begins
        at the boundary could not tell it from a new one otherwise.
        """
        rows = self.rows
        old = next((row for row in reversed(rows.rows) if _is_main_response(row)), None)
        is_told = old is None or datetime.fromisoformat(old["timestamp"]) < rows.now
        self._compact(size, ABSENT if old is None or is_told else [old["uuid"]])
        if old is not None:
            rows.loose({**old, "parentUuid": rows.leaf})
            rows.leaf = old["uuid"]
            self._standing[old["uuid"]] = self._compacted
            self._emit()

    def set_clock_back(self, size: int) -> None:
        """Set the machine's clock back by some seconds.

        A response that is dated before the compaction that it follows is taken for a preserved one
        from then on: nothing but its time tells the two apart.
        """
        self.rows.clock -= timedelta(seconds=3 * size)
        self.chain(0)

    def rewind(self, size: int) -> None:
        """Go back to a row since the last compaction and ask something else."""
        rows = list(self._standing)
        self.rows.leaf = rows[-1 - 3 * size % len(rows)]
        self.prompt(0)

    def fork(self, size: int) -> None:
        """Go on in the file of another session, which begins with rows of this one."""
        rows, forked = self.rows, {"sessionId": self.rows.session_id}
        session_id = f"f0{self.number:06x}-0000-4000-8000-000000000001"
        self._open(TranscriptRows(session_id=session_id, clock=rows.now, version=rows.version))
        self.rows.prompt("x" * size, forkedFrom=forked)
        self._stay(None)
        self._standing[self.rows.response(self.fresh(), forkedFrom=forked)] = _CARRIED_OVER
        self._newest = _CARRIED_OVER
        self._emit()

    def strangers(self) -> Iterable[Row]:
        """Return rows of another session, of sidechains and of another sub-agent."""
        others: tuple[dict[str, Any], ...] = (
            {"sessionId": _STRANGER},
            {"isSidechain": True},
            {"agentId": "a0ther0a0ther0000"},
            {"teamName": "another"},
        )
        for number, stranger in enumerate(others):
            theirs = TranscriptRows(session_id=self.rows.session_id, clock=self.rows.now)
            theirs.prompt()
            theirs.response(777_000 + number)
            theirs.compaction()
            for row in theirs.rows:
                ids = {key: f"{number}-{row[key]}" for key in ("uuid", "parentUuid") if row[key]}
                yield {**row, **ids, **stranger}


def _is_main_response(row: Row) -> bool:
    return row["type"] == "assistant" and not (row["isSidechain"] or "isApiErrorMessage" in row)


def _truth(used: int, window: int | None, at: datetime) -> Truth:
    if window is None:
        return Truth.missing("model_unknown", used_tokens=used)
    if used > window:
        return Truth.missing("limit_contradicted", used_tokens=used)
    return Truth.tokens(used, window, at)
