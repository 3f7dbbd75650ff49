"""What a session writer is: it models an agent, and knows the truth after each thing it writes.

A writer is a class with one method per step that an agent can take. A step writes rows (payloads,
statements) and says before each what a reader must see once that row is there. Whoever runs the
steps, in whatever order, gets a session with its truths: that is all the properties need.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Self, TypeAlias

from attrs import evolve, frozen

from ..assess import DEFAULT_POLICY, Policy
from ..evidence import Phase
from ..measurement import PercentMeasurement, TokenMeasurement
from ..observation import Missing, MissingReason, Observation, Partial
from .planting import Planter

__all__ = [
    "ABSENT",
    "SECOND",
    "START",
    "Answer",
    "Content",
    "Row",
    "Statement",
    "StoreWriter",
    "Truth",
    "Writer",
    "Written",
    "joined",
    "line",
    "without_absent",
]

START = datetime(2026, 11, 29, 18, 0, tzinfo=UTC)
"""The moment at which a written session begins."""

SECOND = timedelta(seconds=1)

ABSENT: Any = object()
"""As a field's value: leave the key out."""

Row: TypeAlias = Mapping[str, Any]
"""A row, frame or payload before it is encoded."""

# The judge's own tolerances (DESIGN: "Freshness").
_CLOCK_SKEW = timedelta(seconds=5)
_ACTIVE_MAX_AGE = timedelta(seconds=30)


def line(row: Any) -> bytes:
    """Return *row*, or any other value, as a line of compact JSON, which is how agents write."""
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"


def joined(rows: Iterable[Row]) -> bytes:
    """Return *rows* as a JSON-lines file."""
    return b"".join(map(line, rows))


def without_absent(fields: Any) -> Any:
    """Return the object *fields* without those that are `ABSENT`, anything else as it is."""
    if not isinstance(fields, Mapping):
        return fields
    return {key: value for key, value in fields.items() if value is not ABSENT}


@frozen(kw_only=True)
class Truth:
    """What a reader must see: a pair of tokens, a percentage, or a named missing state.

    Attributes:
        used_tokens: Tokens in use, or None. Beside a reason: the count that is still known, which
            a reader has to state beside it too; None: whatever it states.
        limit_tokens: The limit they are measured against, or None.
        used_percent: Percentage in use, or None; beside a reason likewise.
        measured_at: When the runtime took the sample; None: when the reader received it.
        reason: Why nothing can be measured, or None.
    """

    used_tokens: int | None = None
    limit_tokens: int | None = None
    used_percent: float | None = None
    measured_at: datetime | None = None
    reason: MissingReason | None = None

    @classmethod
    def tokens(cls, used: int, limit: int, at: datetime | None = None) -> Self:
        """Return the truth of *used* tokens of *limit*, measured *at* that moment."""
        return cls(used_tokens=used, limit_tokens=limit, measured_at=at)

    @classmethod
    def percent(cls, used: float, at: datetime | None = None) -> Self:
        """Return the truth of *used* percent, measured *at* that moment."""
        return cls(used_percent=used, measured_at=at)

    @classmethod
    def missing(
        cls,
        reason: MissingReason | str,
        *,
        used_tokens: int | None = None,
        used_percent: float | None = None,
    ) -> Self:
        """Return the truth that nothing can be measured, for *reason*.

        Args:
            reason: Why.
            used_tokens: The count that is still known: of a sample without a limit, or estimated.
            used_percent: The percentage that is still known.
        """
        return cls(reason=MissingReason(reason), used_tokens=used_tokens, used_percent=used_percent)

    @classmethod
    def told_by(cls, observation: Observation) -> Self:
        """Return what *observation* says, as a truth."""
        match observation:
            case Missing(reason=reason, partial=partial):
                known = partial or Partial()
                return cls.missing(
                    reason, used_tokens=known.used_tokens, used_percent=known.used_percent
                )
            case _ if isinstance(observation.value, PercentMeasurement):
                return cls.percent(observation.value.used_percent, observation.value.measured_at)
            case _:
                value = observation.value
                assert isinstance(value, TokenMeasurement)
                return cls.tokens(value.used_tokens, value.limit_tokens, value.measured_at)

    @property
    def numbers(self) -> tuple[int | None, int | None, float | None]:
        """What is measured, whenever that was."""
        if self.reason is not None:
            return None, None, None
        return self.used_tokens, self.limit_tokens, self.used_percent

    def asked(self, at: datetime, phase: Phase, max_age: timedelta | None = None) -> Truth:
        """Return what the truth is for a question *at* that moment: samples age."""
        if self.reason is not None or self.measured_at is None:
            return self
        age = at - self.measured_at
        if age < -_CLOCK_SKEW:
            return self._refused(MissingReason.SAMPLE_FROM_FUTURE)
        if max_age is None and phase is Phase.ACTIVE:
            max_age = _ACTIVE_MAX_AGE
        if max_age is not None and age > max_age:
            return self._refused(MissingReason.SAMPLE_STALE)
        return self

    def _refused(self, reason: MissingReason) -> Truth:
        return Truth.missing(reason, used_tokens=self.used_tokens, used_percent=self.used_percent)

    def is_told_by(self, observation: Observation) -> bool:
        """Tell whether *observation* says exactly this, and what is still known if this says it."""
        told = Truth.told_by(observation)
        if self.measured_at is None:
            told = evolve(told, measured_at=None)
        if self.reason is not None and self.used_tokens is None:
            told = evolve(told, used_tokens=None)
        if self.reason is not None and self.used_percent is None:
            told = evolve(told, used_percent=None)
        return self == told


@frozen(init=False)
class Answer:
    """A question and the true answer to it.

    Attributes:
        truth: The answer.
        question: What `ctxmeasure.reading.observe` is given to ask for it, such as ``session_id``,
            ``turn_id``, ``agent_id`` and ``phase``; ``limit_tokens``, ``model`` and ``policy`` too.
    """

    truth: Truth
    question: Mapping[str, Any]

    def __init__(self, truth: Truth, **question: Any) -> None:
        self.__attrs_init__(truth, question)

    @property
    def phase(self) -> Phase:
        """The phase that is asked for."""
        return Phase(self.question.get("phase", Phase.LATEST))

    @property
    def policy(self) -> Policy:
        """What is accepted."""
        accepted: Policy = self.question.get("policy", DEFAULT_POLICY)
        return accepted

    def as_of(self, at: datetime) -> Truth:
        """Return the true answer if the question is asked *at* that moment: samples age."""
        return self.truth.asked(at, self.phase, self.policy.max_age)


@frozen
class Statement:
    """A statement that a runtime executes on its database.

    Attributes:
        sql: The statement, with a ``?`` for each parameter.
        parameters: Their values.
    """

    sql: str
    parameters: tuple[Any, ...] = ()


Content: TypeAlias = bytes | tuple[Statement, ...]
"""What is written at once: a line, a whole payload, or the statements of one transaction."""


@frozen
class Written:
    """One thing that was written, and the truth from then on.

    Attributes:
        content: A line, a whole payload, or the statements of one transaction.
        at: When it was written.
        answers: What a reader must see from then on, for each question worth asking.
    """

    content: Any
    at: datetime
    answers: tuple[Answer, ...]


class Writer:
    """Writes the sessions of one source; subclass it for yours.

    A step is a method that takes a whole number from 0 to 9, its size, to vary by as it likes. It
    sets what `answers` says and calls `write`, once or more often. Rows of a file or stream add up;
    payloads replace each other.

    Attributes:
        steps: The names of the steps, in an order in which each can follow the one before.
        words: Keys whose texts tell a reader how to read a row. All other texts may be anybody's:
            whether a number can be read must not hang on them.
        written: What was written.
        now: When the next row is written.
        number: How many steps were taken.
        context: How many tokens are in the context; see `fresh` and `shrink`.
    """

    steps: ClassVar[tuple[str, ...]] = ()
    words: ClassVar[frozenset[str]] = frozenset({"type", "timestamp", "role", "model", "version"})

    def __init__(self) -> None:
        self.written: list[Written] = []
        self.now = START
        self.number = 0
        self.context = 60_000

    def begin(self) -> None:
        """Write what every session begins with. By default that is nothing."""

    def answers(self) -> Iterable[Answer]:
        """Return what a reader must see now, for each question worth asking."""
        raise NotImplementedError

    def strangers(self) -> Iterable[Row]:
        """Return rows that are none of this session's and change nothing wherever they stand.

        By default there are none.
        """
        return ()

    def take(self, step: str, size: int) -> None:
        """Take the step named *step* with *size*."""
        self.number += 1
        getattr(self, step)(size)

    def fresh(self) -> int:
        """Let the context grow by a twentieth; return its tokens, a number that no other step has.

        A hundred steps can be told apart, which is how a reader of an older one is caught.
        """
        self.context += self.context // 20
        return self.context - self.context % 100 + self.number % 100

    def shrink(self) -> int:
        """Let the context shrink to a half, as by a compaction; return what is left of it."""
        self.context //= 2
        return self.context

    def write(self, row: Row | bytes) -> None:
        """Write *row*; a second later comes the next one."""
        self._put(self.encoded(row))

    @staticmethod
    def encoded(row: Row | bytes) -> bytes:
        """Return *row* as it is written."""
        return row if isinstance(row, bytes) else line(without_absent(row))

    def planted(self, planter: Planter) -> list[Content]:
        """Return what was written with every text replaced that may be anybody's."""
        return [
            joined(planter.plant(json.loads(raw)) for raw in written.content.splitlines())
            for written in self.written
        ]

    def _put(self, content: Content) -> None:
        self.written.append(Written(content, self.now, tuple(self.answers())))
        self.now += SECOND


class StoreWriter(Writer):
    """Writes the sessions of a source that is an SQLite database.

    No text in a database is replaced to see whether it leaks: a writer puts
    `ctxmeasure.testing.planting.MARK` into its ids, names and texts itself.

    Attributes:
        tables: The statements that create the tables.
    """

    tables: ClassVar[tuple[str, ...]] = ()

    def execute(self, sql: str, *parameters: Any) -> None:
        """Execute one statement as a transaction; a second later comes the next one."""
        self._put((Statement(sql, parameters),))

    def foreign(self) -> Iterable[Statement]:
        """Return statements about other sessions, which change nothing.

        By default there are none.
        """
        return ()

    def planted(self, planter: Planter) -> list[Content]:  # noqa: ARG002 - they are marked already
        """Return what was written: it is marked already."""
        return [written.content for written in self.written]
