"""How often a running turn is looked at: one attempt per turn in every interval.

An attempt is stamped before the read, so that one that fails or hangs uses the interval up like any
other. A new turn may be looked at at once, and so may every turn when the clock has gone back.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from attrs import Attribute, evolve, field, frozen

from ..measurement import utc_milliseconds
from .state import restored

__all__ = ["Cadence"]

_INTERVAL = timedelta(seconds=15)  # Harnery's (formats/harnery.md §2.0)


def _no_negative(_: object, __: Attribute[timedelta], interval: timedelta) -> None:
    if not isinstance(interval, timedelta):
        raise TypeError("interval: expected a timedelta")
    if interval < timedelta(0):
        raise ValueError("interval: expected no negative duration")


@frozen
class Cadence:
    """When which turn was last looked at; only what an interval ago still matters is kept.

    Attributes:
        interval: The least time between two attempts of one turn.

    Raises:
        TypeError: *interval* is not a timedelta.
        ValueError: *interval* is negative.
    """

    interval: timedelta = field(default=_INTERVAL, validator=_no_negative)
    _attempts: tuple[tuple[str, datetime], ...] = field(default=(), repr=False)

    def attempt(self, turn: str, *, now: datetime) -> tuple[Cadence, bool]:
        """Ask for an attempt of *turn*.

        Args:
            turn: Any name of the turn. It is kept as it is: give an opaque one (``tid_...``) if the
                cadence is written down.
            now: The moment; aware.

        Returns:
            The cadence with the attempt stamped, and True; or a cadence in which nothing new is
            stamped, and False: the turn was looked at less than an interval ago.

        Raises:
            TypeError: *turn* is not a str, or *now* not a datetime.
            ValueError: *now* has no time zone.
        """
        if not isinstance(turn, str):
            raise TypeError("turn: expected a str")
        at = utc_milliseconds(now, "now")
        recent = tuple(
            (name, stamped)
            for name, stamped in self._attempts
            if timedelta(0) <= at - stamped < self.interval
        )
        if any(name == turn for name, _ in recent):
            return evolve(self, attempts=recent), False
        return evolve(self, attempts=(*recent, (turn, at))), True

    def to_dict(self) -> dict[str, Any]:
        """Return the state as JSON data: the turns as they were named, and moments."""
        return {
            "interval_s": self.interval.total_seconds(),
            "attempts": [
                {"turn": turn, "at": stamped.isoformat()} for turn, stamped in self._attempts
            ],
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Cadence:
        """Return the cadence whose state is *state*.

        Raises:
            ValueError: *state* is not what `to_dict` returns; the message carries no part of it.
        """
        return restored(state, cls._structured)

    @classmethod
    def _structured(cls, state: Mapping[str, Any]) -> Cadence:
        attempts = tuple(
            (each["turn"], utc_milliseconds(datetime.fromisoformat(each["at"])))
            for each in state["attempts"]
        )
        return cls(timedelta(seconds=state["interval_s"]), attempts)
