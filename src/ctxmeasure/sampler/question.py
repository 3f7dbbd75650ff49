"""What a hook's payload asks, and how the agent's files and stores answer it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias, cast

from attrs import evolve, field, frozen

from ..assess import Policy
from ..evidence import Phase, Query
from ..newest import KnownDatabases, observe_newest
from ..observation import Missing, MissingReason, Observation, Observed
from ..reading import observe
from ..registry import find
from ..source import Hooks, StoreSource

__all__ = ["Databases", "Question", "Reader"]

Databases: TypeAlias = Mapping[str, Sequence[str | os.PathLike[str]]]
"""The databases that may hold a session, by the id of the source that reads them."""

# What says least of a session that is in one of several stores, the least last.
_ELSEWHERE = (
    MissingReason.SESSION_NOT_FOUND,
    MissingReason.SCHEMA_UNKNOWN,
    MissingReason.SOURCE_ABSENT,
)


@frozen(kw_only=True)
class Question:
    """What one payload asks. Native ids and words of the session: hidden from repr.

    Attributes:
        session_id: The agent's own session id.
        stated_turn: The agent's own turn id, as the payload has it.
        at: When the payload was handed over.
        query: What to ask of the files or stores; None: nothing on this machine can answer.
        path: The transcript, or None.
        native: What the payload itself measures.
        has_transcript: The agent's files tell the turn of a sample; its stores do not.
        is_compacted: The payload tells of a compaction that succeeded.
    """

    session_id: str = field(repr=False)
    stated_turn: str | None = field(repr=False)
    at: datetime
    query: Query | None = field(repr=False)
    path: str | None = field(repr=False)
    native: Observation
    has_transcript: bool
    is_compacted: bool

    @property
    def agent_id(self) -> str | None:
        """The sub-agent that is asked for, or None for the main chain."""
        return None if self.query is None else self.query.agent_id

    def of_any_turn(self) -> Question:
        """Return the question for the newest sample of the session, whatever its turn and age."""
        if self.query is None:
            return self
        query = evolve(self.query, turn_id=None, turn_started_at=None, phase=Phase.LATEST)
        return evolve(self, query=query)


@frozen(kw_only=True)
class Reader:
    """Reads what one agent left behind.

    Attributes:
        hooks: What the agent's hooks are good for.
        databases: Its databases.
        policy: What is accepted as a measurement.
        vouched: What the caller vouches for: parts of every query.
    """

    hooks: Hooks
    databases: Databases = field(repr=False)
    policy: Policy
    vouched: Mapping[str, Any] = field(repr=False)

    def asked_by(self, payload: Mapping[str, Any], *, at: datetime) -> Question | None:
        """Return what *payload* asks; None when it is no hook's of this agent, or of no session."""
        session_id = self.hooks.session(payload)
        if session_id is None:
            return None
        query = self.hooks.query(payload, at=at)
        agent_id = None if query is None else query.agent_id
        of_payload = Query(at=at, session_id=session_id, agent_id=agent_id, **self.vouched)
        native = observe(self.hooks.source, payload, query=of_payload, policy=self.policy)
        if isinstance(native, Missing) and native.reason is MissingReason.SOURCE_MALFORMED:
            return None
        return Question(
            session_id=session_id,
            stated_turn=self.hooks.turn(payload),
            at=at,
            query=None if query is None else evolve(query, **self.vouched),
            path=self.hooks.path(payload),
            native=native,
            has_transcript=self.hooks.transcript is not None,
            is_compacted=self.hooks.is_compacted(payload),
        )

    def answer(self, asked: Question, database: str | None) -> tuple[Observation, str | None]:
        """Return what there is to say: by the payload itself, or by what was left behind.

        Args:
            asked: The question.
            database: The database in which the session was last found, or None.

        Returns:
            The observation, and the database in which it was found if it was in one.
        """
        if isinstance(asked.native, Observed) or asked.query is None:
            return asked.native, database
        if self.hooks.stores:
            return self._in_stores(asked.query, database)
        if asked.path is None:
            return asked.native, database
        return self.in_transcript(asked.path, asked.query), database

    def in_transcript(self, path: str, query: Query) -> Observation:
        """Return what the transcript at *path* says."""
        return observe(self.hooks.transcript or "", path, query=query, policy=self.policy)

    def _in_stores(self, query: Query, database: str | None) -> tuple[Observation, str | None]:
        """Ask the agent's stores; a session is in one of them."""
        unmeasured: list[Missing] = []
        for source_id in self.hooks.stores:
            source = cast("StoreSource", find(source_id))
            known = KnownDatabases()
            if database is not None:
                known = known.with_found(source, query, database)
            paths = [os.fspath(path) for path in self.databases.get(source_id, ())]
            said, known = observe_newest(
                source, paths, query=query, known=known, policy=self.policy
            )
            if isinstance(said, Observed):
                found = known.holding(source, query)
                return said, None if found is None else os.fspath(found)
            unmeasured.append(said)
        return min(unmeasured, key=_silence), None


def _silence(missing: Missing) -> int:
    return _ELSEWHERE.index(missing.reason) + 1 if missing.reason in _ELSEWHERE else 0
