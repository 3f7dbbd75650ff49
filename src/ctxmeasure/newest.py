"""The verb for a session that can be in any of several databases: the newest measurement wins.

An agent has a database for each chat or workspace, so only the most recently written are opened.
What is remembered between two questions is a value in the caller's hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import TypeAlias

from attrs import field, frozen

from .assess import DEFAULT_POLICY, Policy, assess
from .bounded.budget import ReadBudget
from .bounded.sqlite import modified_at
from .evidence import Gap, Query
from .observation import Missing, MissingReason, Observation, Observed
from .reading import observe
from .source import StoreSource

__all__ = ["KnownDatabases", "observe_newest"]

_Path: TypeAlias = str | PathLike[str]

# What a database says of a session that it does not hold.
_ELSEWHERE = frozenset(
    {
        MissingReason.SCHEMA_UNKNOWN,
        MissingReason.SESSION_MISMATCH,
        MissingReason.SESSION_NOT_FOUND,
        MissingReason.SOURCE_ABSENT,
        MissingReason.SUPERSEDED,
    }
)
# What cannot be read at all says nothing of the session, now or later.
_SILENT = _ELSEWHERE | {MissingReason.SOURCE_MALFORMED}


@frozen
class KnownDatabases:
    """Which database was found to hold which session; an immutable value that the caller keeps."""

    _paths: Mapping[tuple[str, str | None], _Path] = field(factory=dict, repr=False)

    def holding(self, source: StoreSource, query: Query) -> _Path | None:
        """Return the database in which the session was last measured, or None."""
        return self._paths.get((source.id, query.session_id))

    def with_found(self, source: StoreSource, query: Query, path: _Path) -> KnownDatabases:
        """Return these and the database at *path*, which holds the session asked for."""
        if query.session_id is None:  # another session may be the newest next time
            return self
        return KnownDatabases({**self._paths, (source.id, query.session_id): path})


NOTHING_KNOWN = KnownDatabases()


@frozen
class _Reading:
    """What one database showed, and when it was last written to."""

    path: _Path
    modified_at: datetime
    observation: Observation


def observe_newest(
    source: StoreSource,
    paths: Iterable[_Path],
    *,
    query: Query,
    known: KnownDatabases = NOTHING_KNOWN,
    limit: int = 8,
    policy: Policy = DEFAULT_POLICY,
    budget: ReadBudget | None = None,
) -> tuple[Observation, KnownDatabases]:
    """Return how full the context window is, as the newest of several databases shows it.

    Args:
        source: The source whose databases they are.
        paths: The databases, in any order; those that do not exist are passed over.
        query: The question; without a session, the newest measurement of any.
        known: What an earlier call returned: the session's database is then asked first.
        limit: How many databases may be opened, the most recently written first.
        policy: What the caller accepts.
        budget: How much may be read of each; None: as for `observe`.

    Returns:
        The observation, and what is known now. ``session_ambiguous`` when two databases differ
        about the same moment; a database that holds the session but gives no measurement, and was
        written to after all that do, has the last word; ``budget_exhausted`` when only a database
        beyond *limit* can hold the session.

    Raises:
        TypeError: An argument has the wrong type (the message names it).
        ValueError: *limit* is below 1.
    """
    _check(source, query, limit)
    candidates = list(paths)
    verified = known.holding(source, query)
    if verified is not None and verified in candidates:
        observation = observe(source, verified, query=query, policy=policy, budget=budget)
        if isinstance(observation, Observed) or observation.reason not in _SILENT:
            return observation, known
    dated = _newest_first(candidates)
    readings = [
        _Reading(path, moment, observe(source, path, query=query, policy=policy, budget=budget))
        for moment, path in dated[:limit]
    ]
    chosen = _newest(readings) or _first_word(readings) or _nowhere(readings, len(dated))
    if isinstance(chosen, MissingReason):
        return assess(Gap(reason=chosen), origin=source.origin, query=query, policy=policy), known
    if isinstance(chosen.observation, Observed):
        known = known.with_found(source, query, chosen.path)
    return chosen.observation, known


def _check(source: object, query: object, limit: object) -> None:
    if not isinstance(source, StoreSource):
        raise TypeError("source: expected a StoreSource")
    if not isinstance(query, Query):
        raise TypeError("query: expected a Query")
    if type(limit) is not int:
        raise TypeError("limit: expected an int")
    if limit < 1:
        raise ValueError("limit: expected at least 1 database")


def _newest_first(paths: Iterable[_Path]) -> list[tuple[datetime, _Path]]:
    dated = [(moment, path) for path in paths if isinstance(moment := modified_at(path), datetime)]
    return sorted(dated, key=lambda entry: entry[0], reverse=True)


def _newest(readings: Iterable[_Reading]) -> _Reading | MissingReason | None:
    """Return the newest measurement, or what stands against it; None when there is none."""
    measured = [
        (reading.observation.value, reading)
        for reading in readings
        if isinstance(reading.observation, Observed)
    ]
    if not measured:
        return None
    value, newest = max(measured, key=lambda entry: entry[0].measured_at)
    if any(other != value for other, _ in measured if other.measured_at == value.measured_at):
        return MissingReason.SESSION_AMBIGUOUS
    unmeasured = _first_word(readings)
    is_newer = unmeasured is not None and unmeasured.modified_at > value.measured_at
    return unmeasured if is_newer else newest


def _first_word(readings: Iterable[_Reading]) -> _Reading | None:
    """Return the last written database that holds the session, or may, without a measurement."""
    for reading in readings:
        seen = reading.observation
        if isinstance(seen, Missing) and seen.reason not in _SILENT:
            return reading
    return None


def _nowhere(readings: Sequence[_Reading], existing: int) -> _Reading | MissingReason:
    """Say why the session was in none of the databases opened; a single one says it itself."""
    if existing > len(readings):
        return MissingReason.BUDGET_EXHAUSTED
    if existing > 1:
        return MissingReason.SESSION_NOT_FOUND
    return readings[0] if readings else MissingReason.SOURCE_ABSENT
