"""A writer and a reader at work at the same time, as Hypothesis's rule-based machines.

The writer's rows reach the file in pieces, as a buffer is flushed; its statements reach the
database in transactions of another process, which may be killed. The reader looks in between, and
sees the newest truth that is fully written or a `Missing`.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from ..observation import Missing
from . import databases
from .properties import assert_safe, content_of
from .session import START, StoreWriter, Truth, Writer
from .subject import Subject

__all__ = ["FileMachine", "StoreMachine"]

_NUMBERS = st.integers(0, 99)
_SIZES = st.integers(0, 9)
_LOCKS = ("DEFERRED", "IMMEDIATE", "EXCLUSIVE")


class _Machine(RuleBasedStateMachine):
    """A session's writer and its folder; subclasses with a subject can be run."""

    subject: ClassVar[Subject]

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.session = self.subject.writer()

    @classmethod
    def of(cls, subject: Subject) -> type[RuleBasedStateMachine]:
        """Return the machine with *subject*."""
        return type(f"{cls.__name__}[{subject.source.id}]", (cls,), {"subject": subject})

    def take(self, number: int, size: int) -> Writer:
        """Take the step with that *number*, counted around; return the session."""
        steps = self.subject.writer.steps
        self.session.take(steps[number % len(steps)], size)
        return self.session

    def teardown(self) -> None:
        """Remove the folder."""
        self.folder.cleanup()


class FileMachine(_Machine):
    """A file that is flushed in pieces."""

    def __init__(self) -> None:
        super().__init__()
        self.path = Path(self.folder.name) / "session.jsonl"
        self.path.touch()
        self.session.begin()

    @rule(number=_NUMBERS, size=_SIZES)
    def takes_a_step(self, number: int, size: int) -> None:
        """The writer has something to write."""
        if not content_of(self.take(number, size)).startswith(self.path.read_bytes()):
            self.path.write_bytes(b"")  # the session goes on in another file

    @rule(count=st.integers(1, 3_000))
    def flushes(self, count: int) -> None:
        """Some of it reaches the file."""
        flushed = self.path.stat().st_size
        with self.path.open("ab") as file:
            file.write(content_of(self.session)[flushed : flushed + count])

    @precondition(lambda self: self.session.written)
    @rule()
    def is_read(self) -> None:
        """The reader looks."""
        assert_safe(self.subject, self.session.written, self.path.read_bytes())


class StoreMachine(_Machine):
    """A database that another process writes to, with any kind of journal."""

    def __init__(self) -> None:
        super().__init__()
        self.path = Path(self.folder.name) / "store.db"
        self.owner = databases.Owner(self.path)
        self.owner.__enter__()
        self.executed = self.committed = 0
        self.is_open = self.is_killed = False

    @initialize(journal=st.sampled_from(databases.JOURNALS), kind=st.sampled_from(_LOCKS))
    def begins(self, journal: str, kind: str) -> None:
        """The owner makes its tables, and chooses its journal and how it locks."""
        assert isinstance(self.session, StoreWriter)
        self.transaction = f"BEGIN {kind}"
        for sql in (f"PRAGMA journal_mode={journal}", *self.session.tables):
            self.owner.execute(sql)
        databases.date(self.path, START)
        self.session.begin()

    @precondition(lambda self: not self.is_killed)
    @rule(number=_NUMBERS, size=_SIZES)
    def takes_a_step(self, number: int, size: int) -> None:
        """The owner writes in a transaction."""
        for written in self.take(number, size).written[self.executed :]:
            if not self.is_open:
                self.owner.execute(self.transaction)
                self.is_open = True
            for statement in written.content:
                self.owner.execute(statement.sql, *statement.parameters)
        self.executed = len(self.session.written)

    @precondition(lambda self: self.is_open and not self.is_killed)
    @rule()
    def commits(self) -> None:
        """The owner ends its transaction."""
        self.owner.execute("COMMIT")
        self.is_open, self.committed = False, self.executed
        databases.date(self.path, self.session.written[-1].at)

    @precondition(lambda self: not self.is_killed)
    @rule()
    def is_killed_at_work(self) -> None:
        """The owner is killed, in the middle of a transaction perhaps."""
        self.owner.__exit__()
        self.is_killed = True

    @rule()
    def is_read(self) -> None:
        """The reader looks: it sees what was committed, or that the database is in use."""
        if not self.committed:
            return
        last = self.session.written[self.committed - 1]
        for answer in last.answers:
            observation = self.subject.observe(self.path, last.at, answer)
            truth = answer.as_of(last.at)
            is_true = Truth.told_by(observation).numbers == truth.numbers
            may_be_busy = self.is_open and isinstance(observation, Missing)
            assert is_true or may_be_busy, (answer, observation)

    def teardown(self) -> None:
        """Kill the owner, and remove the folder."""
        self.owner.__exit__()
        super().teardown()
