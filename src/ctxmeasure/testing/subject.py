"""A source under test, with the writer of its sessions: what can be laid before it and asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attrs import frozen
from hypothesis import strategies as st

from ..observation import Observation
from ..reading import observe
from ..source import PayloadSource, Source, StoreSource, StreamSource, TailSource
from . import databases
from .session import START, Answer, Content, Statement, StoreWriter, Truth, Writer, Written

__all__ = ["Subject", "session_of", "sessions"]

_SIZES = st.integers(0, 9)


def sessions(writer: type[Writer], *, least: int = 0, most: int = 8) -> st.SearchStrategy[Writer]:
    """Return a strategy for sessions of *writer* of *least* to *most* steps, in any order."""
    step = st.tuples(st.sampled_from(writer.steps), _SIZES)
    return st.lists(step, min_size=least, max_size=most).map(
        lambda taken: session_of(writer, taken)
    )


def session_of(writer: type[Writer], taken: Sequence[tuple[str, int]]) -> Writer:
    """Return the session of *writer* in which the steps *taken* follow each other."""
    session = writer()
    session.begin()
    for step, size in taken:
        session.take(step, size)
    return session


@frozen
class Subject:
    """A source under test, with the writer of its sessions.

    Attributes:
        source: The source.
        writer: The class of its writer.
        twin: Another source and writer that tell the same sessions, or None.
    """

    source: Source
    writer: type[Writer]
    twin: tuple[Source, type[Writer]] | None = None

    @property
    def is_lines(self) -> bool:
        """Whether what is written adds up line by line."""
        return isinstance(self.source, TailSource | StreamSource)

    @property
    def is_bytes(self) -> bool:
        """Whether what is written are bytes, and no database."""
        return not isinstance(self.source, StoreSource)

    @property
    def joins_midway(self) -> bool:
        """Whether a reading within a budget is that of another session: a stream's end alone."""
        return isinstance(self.source, StreamSource)

    @contextmanager
    def laid(self, contents: Sequence[Content], at: datetime = START) -> Iterator[Any]:
        """Lay out *contents*, last written to *at* that moment: bytes, or a database's path."""
        if isinstance(self.source, StoreSource):
            with TemporaryDirectory() as folder:
                assert issubclass(self.writer, StoreWriter)
                path = Path(folder) / "store.db"
                made = [*map(Statement, self.writer.tables)]
                databases.build(path, [*made, *(s for content in contents for s in _of(content))])
                databases.date(path, at)
                yield path
        elif isinstance(self.source, PayloadSource):
            yield contents[-1] if contents else b""
        else:
            yield b"".join(content for content in contents if isinstance(content, bytes))

    @contextmanager
    def laid_first(self, session: Writer, count: int) -> Iterator[Any]:
        """Lay out the first *count* things that *session* wrote."""
        written = session.written[:count]
        with self.laid([w.content for w in written], written[-1].at if written else START) as it:
            yield it

    def observe(self, laid: Any, at: datetime, answer: Answer, **further: Any) -> Observation:
        """Ask the source, *at* that moment, what *answer* answers; *further* goes before."""
        return observe(self.source, laid, at=at, **{**answer.question, **further})

    def assert_true(self, laid: Any, written: Written) -> None:
        """Assert that the source sees, in *laid*, what *written* says it must."""
        for answer in written.answers:
            observation = self.observe(laid, written.at, answer)
            truth = answer.as_of(written.at)
            assert truth.is_told_by(observation), _differ(answer, truth, observation)


def _of(content: Content) -> Sequence[Statement]:
    return () if isinstance(content, bytes) else content


def _differ(answer: Answer, truth: Truth, observation: Observation) -> str:
    return f"asked {dict(answer.question)}\n  true: {truth}\n  told: {observation}"
