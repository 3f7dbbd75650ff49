"""What a sampler remembers of one session from one hook to the next."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from attrs import asdict, evolve, field, frozen
from attrs.validators import optional

from ..bounded.budget import ReadFault
from ..bounded.decode import decode_object
from ..bounded.encode import encode_object
from ..bounded.owner_file import read_owner_file, write_owner_file
from ..measurement import utc_milliseconds
from ..track.cadence import Cadence
from ..track.pending import Ended, Pending
from ..track.state import a_bool, a_str, restored
from ..track.witness_log import WitnessLog

__all__ = ["OpenTurn", "SamplerState"]


def _started_at(moment: datetime | None) -> datetime | None:
    return None if moment is None else utc_milliseconds(moment, "started_at")


@frozen(kw_only=True)
class OpenTurn:
    """The turn that the last hook of the main chain was of, for hooks that do not say it.

    Attributes:
        session_id: The agent's own session id.
        turn_id: The agent's own turn id, or None where it states none.
        started_at: When the turn's prompt was submitted (aware), or None if that was not seen.
        path: The path of the session's transcript, or None.
        is_over: Its stop was seen.

    Raises:
        TypeError: An argument has the wrong type (the message names it).
        ValueError: *started_at* has no time zone.
    """

    session_id: str = field(repr=False, validator=a_str)
    turn_id: str | None = field(default=None, repr=False, validator=optional(a_str))
    started_at: datetime | None = field(default=None, converter=_started_at)
    path: str | None = field(default=None, repr=False, validator=optional(a_str))
    is_over: bool = field(default=False, validator=a_bool)


@frozen(kw_only=True)
class SamplerState:
    """What is remembered of one session; an immutable value.

    Keep one for each session. It holds native ids and paths, so its written form is for its owner
    only: `save` writes it with mode 0600.

    Attributes:
        cadence: When which turn was last looked at.
        published: Which samples have been published.
        pending: The ended turns that are waited for.
        turn: The turn of the last hook, or None.
        database: The database that holds the session, or None while it is not known.
        before: The measurement with which a compaction began (its event's ``before``, as JSON), or
            None when none is under way.
        ended: What the last step no longer waits for, and why. Not written.
    """

    cadence: Cadence = field(factory=Cadence)
    published: WitnessLog = field(factory=WitnessLog)
    pending: Pending = field(factory=Pending)
    turn: OpenTurn | None = None
    database: str | None = field(default=None, repr=False, validator=optional(a_str))
    before: str | None = field(default=None, validator=optional(a_str))
    ended: tuple[Ended, ...] = field(default=(), eq=False)

    def with_published(self, record_ids: Iterable[str]) -> SamplerState:
        """Return the state, knowing that the samples with these record ids are published.

        For a ledger whose last lines were written by a process that did not live to save the state
        that knows of them: their ``source_record_id``.

        Raises:
            TypeError: A record id is not a str.
        """
        return evolve(self, published=self.published.with_published(record_ids))

    def to_dict(self) -> dict[str, Any]:
        """Return the state as JSON data; it holds native ids and paths: for its owner only."""
        return {
            "cadence": self.cadence.to_dict(),
            "published": self.published.to_dict(),
            "pending": self.pending.to_dict(),
            "turn": None if self.turn is None else _written(self.turn),
            "database": self.database,
            "before": self.before,
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> SamplerState:
        """Return the state that is written as *state*.

        Raises:
            ValueError: *state* is not what `to_dict` returns; the message carries no part of it.
        """
        return restored(state, cls._structured)

    @classmethod
    def _structured(cls, state: Mapping[str, Any]) -> SamplerState:
        return cls(
            cadence=Cadence.from_dict(state["cadence"]),
            published=WitnessLog.from_dict(state["published"]),
            pending=Pending.from_dict(state["pending"]),
            turn=None if state["turn"] is None else _read(state["turn"]),
            database=state["database"],
            before=state["before"],
        )

    def save(self, path: str | os.PathLike[str]) -> bool:
        """Put the state in the place of the file at *path*, whole, with mode 0600.

        Returns:
            Whether it was written. If not, the file is as it was.
        """
        return write_owner_file(path, encode_object(self.to_dict()).encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SamplerState | ReadFault:
        """Return the state that was saved at *path*, or why there is none.

        ``source_absent`` is how every session begins; a damaged file is ``source_malformed``.
        """
        content = read_owner_file(path)
        if isinstance(content, ReadFault):
            return content
        try:
            return cls.from_dict(decode_object(content) or {})
        except ValueError:
            return ReadFault.MALFORMED


def _written(turn: OpenTurn) -> dict[str, Any]:
    started_at = turn.started_at
    return {**asdict(turn), "started_at": None if started_at is None else started_at.isoformat()}


def _read(state: Mapping[str, Any]) -> OpenTurn:
    started_at = state["started_at"]
    moment = None if started_at is None else datetime.fromisoformat(started_at)
    return OpenTurn(**{**state, "started_at": moment})
