"""The verb for what has been: a whole session as a sequence of observations.

A session file is read once from its beginning, in constant memory; only rows that can matter are
decoded. Every moment of it is what `observe` says of the file when it is cut there: nothing is
interpolated, and what was taken back or compacted away is marked, not removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, BinaryIO, cast

from attrs import define, evolve, field, frozen

from .assess import DEFAULT_POLICY, Policy, assess
from .bounded.budget import ReadFault, ReadStats
from .bounded.extent import ReadableSource
from .bounded.scan import RowScan
from .capability.ids import same_model
from .capability.model import ModelRef
from .evidence import Evidence, Gap, Query
from .measurement import TokenMeasurement
from .observation import Missing, MissingReason, Observation, Observed, Partial
from .reading import observe
from .registry import find
from .source import History, Mark, Shown, Source, TailSource

__all__ = ["Mark", "Moment", "scan", "scan_many"]

# What only a larger window could tell at the end of a file says less than the rows before it do.
_CUT_SHORT = frozenset({MissingReason.BUDGET_EXHAUSTED, MissingReason.CHAIN_TRUNCATED})


@frozen(kw_only=True)
class Moment:
    """A moment of a session's history.

    Attributes:
        observation: What the file shows up to here.
        offset: How many bytes of the file show it: cut there, `observe` says the same.
        marks: What has happened since the moment before.
    """

    observation: Observation
    offset: int
    marks: frozenset[Mark] = field(default=frozenset())


def scan(
    source: Source | str,
    data: ReadableSource,
    *,
    session_id: str | None = None,
    agent_id: str | None = None,
    at: datetime | None = None,
    model: str | ModelRef | None = None,
    limit_tokens: int | None = None,
    policy: Policy = DEFAULT_POLICY,
) -> Iterator[Moment]:
    """Return the history of a session, the oldest moment first and lazily.

    A moment is a sample of the main conversation (or of one sub-agent), or a state in which there
    is none, such as after a compaction. The rows of one sample make one moment. The last moment is
    what `observe` says of the file today. The file stays open until the iterator is exhausted or
    closed.

    Args:
        source: A source of session files, or its id such as ``"claude.transcript"``.
        data: A path, a binary file object, or the bytes themselves.
        session_id: The agent's own session id; None takes whatever the file holds.
        agent_id: A sub-agent's id, for its history and not the main conversation's.
        at: The moment of the question (aware); None: now. Nothing is too old for a history.
        model: The model as the agent was started with it.
        limit_tokens: A limit the caller declares, in tokens.
        policy: What the caller accepts; its ``max_age`` has no meaning here.

    Returns:
        The moments: at least one, which is a `Missing` if the file cannot be read.

    Raises:
        TypeError: An argument has the wrong type (the message names it).
        ValueError: An argument has an impossible value, or the source has no history.
    """
    found = find(source) if isinstance(source, str) else source
    if not isinstance(found, TailSource):
        raise TypeError("source: expected a source of session files")
    if found.history is None:
        raise ValueError("source: this one has no history to scan")
    if not isinstance(policy, Policy):
        raise TypeError("policy: expected a Policy")
    query = Query(
        at=datetime.now(UTC) if at is None else at,
        session_id=session_id,
        agent_id=agent_id,
        model=model,
        limit_tokens=limit_tokens,
    )
    reader = RowScan.open(data)
    told = _Narrator(found, query, evolve(policy, max_age=None))
    if isinstance(reader, ReadFault):
        return iter((told.of_fault(reader, 0),))
    return told.moments(found.history, reader)


def scan_many(
    source: Source | str,
    paths: Iterable[Any],
    *,
    processes: int | None = None,
    **asked: Any,
) -> Iterator[tuple[Moment, ...]]:
    """Return the histories of several session files, in the order of *paths*.

    The files are scanned in parallel processes, each in the memory of one scan.

    Args:
        source: As for `scan`.
        paths: The files' paths.
        processes: How many at a time; None: one per processor. One scans in this process.
        **asked: The rest of the question, as for `scan`.

    Raises:
        TypeError: An argument has the wrong type (the message names it).
        ValueError: An argument has an impossible value.
    """
    if processes is not None and type(processes) is not int:
        raise TypeError("processes: expected an int")
    if processes is not None and processes < 1:
        raise ValueError("processes: expected at least 1")
    asked.setdefault("at", datetime.now(UTC))
    scan(source, b"", **asked)  # refuses wrong arguments here, not in another process
    tasks = ((source, path, asked) for path in paths)
    if processes == 1:
        return map(_scanned, tasks)
    return _in_parallel(tasks, processes)


def _scanned(task: tuple[Source | str, Any, dict[str, Any]]) -> tuple[Moment, ...]:
    source, path, asked = task
    return tuple(scan(source, path, **asked))


def _in_parallel(tasks: Iterable[Any], processes: int | None) -> Iterator[tuple[Moment, ...]]:
    # Only who asks for several processes pays for the import.
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415

    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(_scanned, tasks)


@define
class _Pending:
    """What the file shows, until a row shows another sample."""

    shown: Shown
    offset: int
    marks: frozenset[Mark]


@define
class _Narrator:
    """Tells the moments of one file.

    Attributes:
        source: The file's source.
        query: What is asked.
        policy: What the caller accepts.
        model_id: The model of the last moment that names one.
    """

    source: TailSource
    query: Query
    policy: Policy
    model_id: str | None = None

    def moments(self, history: History, reader: RowScan) -> Iterator[Moment]:
        """Yield every moment, and close *reader* in the end."""
        with reader:
            pending: _Pending | None = None
            player = history.begin(reader, self.query)
            for row in reader.rows(*history.needles, unless=history.unless):
                shown = player.take(row)
                if shown is None:
                    continue
                if pending is None or pending.shown.sample != shown.sample:
                    if pending is not None:
                        yield self._told(pending, reader)
                    pending = _Pending(shown, row.stop, frozenset())
                pending.shown, pending.offset = shown, row.stop
                if shown.mark is not None:
                    pending.marks |= {shown.mark}
            last = None if pending is None else self._told(pending, reader)
            if reader.fault is None and not (last is not None and history.is_followed_to_the_end):
                yield from self._end(last, reader)
                return
            if last is not None:
                yield last
            if reader.fault is not None:
                yield self.of_fault(reader.fault, reader.stats.bytes_read)

    def of_fault(self, fault: ReadFault, offset: int) -> Moment:
        """Return the moment at which the file could not be read."""
        gap = Gap(reason=MissingReason(fault.value))
        return Moment(observation=self._judged(gap, ReadStats()), offset=offset)

    def _told(self, pending: _Pending, reader: RowScan) -> Moment:
        observation = self._judged(pending.shown.evidence(), reader.stats)
        return self._moment(observation, pending.offset, pending.marks)

    def _moment(
        self, observation: Observation, offset: int, marks: frozenset[Mark] = frozenset()
    ) -> Moment:
        model = observation.provenance.model
        if model is not None:
            if self.model_id is not None and not same_model(self.model_id, model.id):
                marks |= {Mark.MODEL_SWITCHED}
            self.model_id = model.id
        return Moment(observation=observation, offset=offset, marks=marks)

    def _judged(self, evidence: Evidence, stats: ReadStats) -> Observation:
        return assess(
            evidence,
            origin=self.source.origin,
            query=self.query,
            policy=self.policy,
            stats=stats,
        )

    def _end(self, last: Moment | None, reader: RowScan) -> Iterator[Moment]:
        """Yield the last moment as the file's end shows it, which rows behind it can change."""
        file = cast("BinaryIO", reader.as_file())
        final = observe(self.source, file, query=self.query, policy=self.policy)
        if last is None:
            yield self._moment(final, reader.size)
        elif _is_cut_short(final) or _is_same(last.observation, final):
            yield last
        elif _sample(last.observation) == _sample(final):
            yield evolve(last, observation=final, offset=reader.size)
        else:
            yield last
            yield self._moment(final, reader.size, _marks_of(final))


def _is_cut_short(observation: Observation) -> bool:
    return isinstance(observation, Missing) and observation.reason in _CUT_SHORT


def _is_same(one: Observation, other: Observation) -> bool:
    """Whether two observations say the same, whatever they cost."""
    provenance = evolve(other.provenance, stats=one.provenance.stats)
    return one == evolve(other, provenance=provenance)


def _sample(observation: Observation) -> tuple[int | None, datetime | None]:
    """Return what tells one sample of a file from another."""
    match observation:
        case Observed(value=TokenMeasurement() as value):
            return value.used_tokens, value.measured_at
        case Missing(partial=Partial() as partial):
            return partial.used_tokens, partial.measured_at
        case _:
            return None, None


def _marks_of(observation: Observation) -> frozenset[Mark]:
    """Return what has happened by the end of a file, where only its end shows it."""
    is_rewound = isinstance(observation, Missing) and observation.reason is MissingReason.REWOUND
    return frozenset({Mark.REWOUND}) if is_rewound else frozenset()
