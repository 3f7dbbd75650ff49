"""Samples of ended turns that were not on disk yet when the turn's last hook ran.

Codex writes a turn's end after its ``Stop`` hook, Claude Code may write the last response after it.
So the turn is asked for again at the session's later hooks: a bounded number of turns, a bounded
number of times, and every target comes to a named end. For owner-only state: a target has to hold
the native ids and the path that the question needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from attrs import asdict, evolve, field, frozen
from attrs.validators import optional

from ..measurement import count, utc_milliseconds
from .state import a_str, restored

__all__ = ["End", "Ended", "Pending", "Target", "Tried"]

_MOST_TARGETS = 4
_MOST_RETRIES = 2
# Hooks come in bursts. Codex wrote its end 0.7 to 1.5 s after the last count in 12 of 12 turns
# (formats/harnery.md §2.3), so two retries in the same second would be one.
_SPACING = timedelta(seconds=1)


class Tried(StrEnum):
    """What a retry came to."""

    FOUND = "found"
    """The sample is there: it is published, or was before."""
    NOT_YET = "not_yet"
    """It is still not there, and may come."""
    REFUSED = "refused"
    """It will not come: the data say something else."""


class End(StrEnum):
    """How a target ended."""

    FOUND = "found"
    """Its sample was found."""
    REFUSED = "refused"
    """A retry met a reason that waiting does not mend."""
    RETRIES_EXHAUSTED = "retries_exhausted"
    """It was not there at the last retry."""
    SESSION_ENDED = "session_ended"
    """It was not there when the session ended."""
    CROWDED_OUT = "crowded_out"
    """More turns than are kept ended after it."""
    REPLACED = "replaced"
    """Its turn went on and ended anew."""


def _tried_at(moment: datetime) -> datetime:
    return utc_milliseconds(moment, "tried_at")


@frozen(kw_only=True)
class Target:
    """An ended turn whose last sample is still to be found. Native ids: hidden from repr.

    Attributes:
        path: The file to ask.
        session_id: The agent's own session id.
        turn_id: The agent's own turn id.
        agent_id: A sub-agent's id, or None for the main chain.
        tried_at: When it was last asked for; aware.
        retries: How often it has been asked for since the turn's end.
    """

    path: str = field(repr=False, validator=a_str)
    session_id: str = field(repr=False, validator=a_str)
    turn_id: str = field(repr=False, validator=a_str)
    agent_id: str | None = field(default=None, repr=False, validator=optional(a_str))
    tried_at: datetime = field(converter=_tried_at)
    retries: int = field(default=0, validator=count(0))

    def is_of_turn(self, other: Target) -> bool:
        """Tell whether *other* waits for the same turn."""
        return self._turn() == other._turn()

    def _turn(self) -> tuple[str | None, ...]:
        return (self.session_id, self.turn_id, self.agent_id)


@frozen
class Ended:
    """A target that is no longer waited for.

    Attributes:
        target: What was waited for.
        end: How it ended.
    """

    target: Target
    end: End


@frozen
class Pending:
    """The ended turns that are waited for, the oldest first; at most four."""

    targets: tuple[Target, ...] = ()

    def add(self, target: Target) -> tuple[Pending, tuple[Ended, ...]]:
        """Wait for *target*.

        Returns:
            The queue with *target* at its end, and what it put out: the same turn's earlier end, or
            the oldest turn when there are too many.

        Raises:
            TypeError: *target* is not a Target.
        """
        if not isinstance(target, Target):
            raise TypeError("target: expected a Target")
        others = tuple(each for each in self.targets if not each.is_of_turn(target))
        replaced = tuple(Ended(each, End.REPLACED) for each in self.targets if each not in others)
        crowded = others[: max(0, len(others) + 1 - _MOST_TARGETS)]
        kept = others[len(crowded) :]
        return Pending((*kept, target)), (
            *replaced,
            *(Ended(each, End.CROWDED_OUT) for each in crowded),
        )

    def due(self, *, now: datetime, ending_session: str | None = None) -> tuple[Target, ...]:
        """Return the targets that are to be asked for now.

        Args:
            now: The moment; aware. A target is due a second after it was last asked for, and at
                once when the clock has gone back.
            ending_session: A session that ends now: all of its targets are due, for the last time.

        Raises:
            TypeError: *now* is not a datetime.
            ValueError: *now* has no time zone.
        """
        at = utc_milliseconds(now, "now")
        return tuple(
            target
            for target in self.targets
            if target.session_id == ending_session
            or not timedelta(0) <= at - target.tried_at < _SPACING
        )

    def tried(
        self, target: Target, result: Tried, *, now: datetime, ending_session: str | None = None
    ) -> tuple[Pending, Ended | None]:
        """Note what asking for *target* came to.

        Args:
            target: One of `due`.
            result: What it came to.
            now: The moment; aware.
            ending_session: As for `due`.

        Returns:
            The queue, and how the target ended if it did.

        Raises:
            TypeError: An argument has the wrong type (the message names it).
            ValueError: *target* is not waited for, or *now* has no time zone.
        """
        if target not in self.targets:
            raise ValueError("target: expected one of the targets")
        if not isinstance(result, Tried):
            raise TypeError("result: expected a Tried")
        at = utc_milliseconds(now, "now")
        asked = evolve(target, tried_at=at, retries=target.retries + 1)
        end = _end(asked, result, is_last=target.session_id == ending_session)
        after = () if end is not None else (asked,)
        place = self.targets.index(target)
        queue = Pending((*self.targets[:place], *after, *self.targets[place + 1 :]))
        return queue, None if end is None else Ended(asked, end)

    def to_dict(self) -> dict[str, Any]:
        """Return the state as JSON data; it holds native ids and paths: for its owner only."""
        return {"targets": [_written(target) for target in self.targets]}

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Pending:
        """Return the queue whose state is *state*.

        Raises:
            ValueError: *state* is not what `to_dict` returns; the message carries no part of it.
        """
        return restored(state, cls._structured)

    @classmethod
    def _structured(cls, state: Mapping[str, Any]) -> Pending:
        return cls(tuple(map(_read, state["targets"][-_MOST_TARGETS:])))


def _end(asked: Target, result: Tried, *, is_last: bool) -> End | None:
    match result:
        case Tried.FOUND:
            return End.FOUND
        case Tried.REFUSED:
            return End.REFUSED
    if is_last:
        return End.SESSION_ENDED
    return End.RETRIES_EXHAUSTED if asked.retries >= _MOST_RETRIES else None


def _written(target: Target) -> dict[str, Any]:
    return {**asdict(target), "tried_at": target.tried_at.isoformat()}


def _read(state: Mapping[str, Any]) -> Target:
    return Target(**{**state, "tried_at": datetime.fromisoformat(state["tried_at"])})
