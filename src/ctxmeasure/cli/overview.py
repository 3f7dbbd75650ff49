"""Many sessions at a glance: the cells of a row, a table for terminals, lines and JSON for others.

Names of projects are a person's own words: they are shown to that person, and `Look.names` hides
them. Whatever a session says of itself is made printable before it reaches a terminal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from attrs import frozen

from ..discover import Session
from ..figures import plain
from ..observation import Missing, Observation, Observed, pressure
from ..record import to_dict
from ..render import gauge, grade
from .named import ID_SHOWN
from .output import add_column, minimum_width

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = [
    "COLUMNS",
    "HEADER",
    "Look",
    "Order",
    "Seen",
    "cells",
    "ordered",
    "share",
    "table",
    "wire",
]

COLUMNS = ("id", "agent", "project", "model", "context", "age", "grade")
"""The columns of a line; a table on a terminal has a gauge too."""

HEADER = {column: column for column in COLUMNS}
"""The first line, where there are lines."""

_GAUGE = "gauge"
_WIDE = ("id", "agent", "project", "model", _GAUGE, "context", "age", "grade")
# What a narrower terminal does without, in this order; the rest may be folded, except for the id,
# which is there to be copied.
_SPARED = ("model", _GAUGE, "project", "age")
# A single name that is longer would cost every session these columns.
_CUT = dict.fromkeys(("project", "model"), 40)  # characters
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


class Order(StrEnum):
    """How sessions are sorted."""

    NEWEST = "newest"
    PRESSURE = "pressure"
    AGENT = "agent"


@frozen
class Seen:
    """A session and what was seen of it.

    Attributes:
        session: The session.
        observation: How full its context window is.
    """

    session: Session
    observation: Observation

    @property
    def dated(self) -> datetime:
        """When its sample was taken, or without one, when the session was last written to."""
        if isinstance(self.observation, Observed):
            return self.observation.value.measured_at
        return self.session.modified_at


@frozen(kw_only=True)
class Look:
    """How sessions are shown.

    Attributes:
        names: Show the projects' names.
        order: How they are sorted.
        yellow: From which percentage on a session is yellow.
        red: From which percentage on it is red.
    """

    names: bool
    order: Order
    yellow: float
    red: float

    def colour(self, observation: Observation) -> str:
        """Return the style of an observation's share."""
        percent = share(observation)
        if percent is None:
            return "dim"
        return "red" if percent >= self.red else "yellow" if percent >= self.yellow else "green"


def share(observation: Observation) -> float | None:
    """Return the share in use as a percentage, over 100 where the limit is overrun, or None."""
    return None if isinstance(observation, Missing) else observation.value.used_percent


def ordered(seen: Sequence[Seen], order: Order) -> list[Seen]:
    """Return *seen* in an order; what is equal in it has the newest first."""
    newest = sorted(seen, key=lambda one: one.session.modified_at, reverse=True)
    match order:
        case Order.PRESSURE:
            return sorted(newest, key=lambda one: pressure(one.observation))
        case Order.AGENT:
            return sorted(newest, key=lambda one: one.session.agent)
        case _:
            return newest


# -- cells ----------------------------------------------------------------------------------------


def cells(seen: Seen, look: Look, *, at: datetime) -> dict[str, str]:
    """Return the texts of a row, by the names of the `COLUMNS` and the gauge's."""
    session, observation = seen.session, seen.observation
    model = observation.provenance.model
    project = session.project if look.names else None
    return {
        "id": session.handle.id[:ID_SHOWN],
        "agent": f"{session.agent} sub-agent" if session.is_subagent else session.agent,
        "project": plain(project or "-"),
        "model": "-" if model is None else plain(model.id),
        _GAUGE: gauge(observation),
        "context": _context(observation),
        "age": age(at - seen.dated),
        "grade": grade(observation),
    }


def _context(observation: Observation) -> str:
    """Return the numbers of an observation's text, or a dash."""
    if isinstance(observation, Missing) and observation.standing_tokens is None:
        return "-"
    numbers = str(observation).partition(": ")[2]
    return numbers.partition(" (")[0] if isinstance(observation, Missing) else numbers


def age(passed: timedelta) -> str:
    """Return the time that has *passed* in one unit: ``12s``, ``3m``, ``5h``, ``2d``."""
    seconds = passed // timedelta(seconds=1)
    if seconds < -1:  # a clock that was set, or a file from another machine
        return "future"
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{seconds // length}{unit}"
    return "now"


def wire(seen: Seen, look: Look) -> dict[str, Any]:
    """Return what JSON says of a session; what is not known or not shown is absent."""
    session = seen.session
    written_at = session.modified_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    facts = {
        "id": session.handle.id,
        "agent": session.agent,
        "subagent": session.is_subagent or None,
        "project": session.project if look.names else None,
        "written_at": written_at,
        "grade": grade(seen.observation),
        "observation": to_dict(seen.observation),
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


# -- on a terminal --------------------------------------------------------------------------------


def table(
    seen: Sequence[Seen], look: Look, console: Console, *, at: datetime, width: int | None = None
) -> Table:
    """Return the table of *seen*, with as many columns as there is room for.

    Args:
        seen: The sessions, in their order.
        look: How they are shown.
        console: Where they are shown.
        at: The moment that ages are told at.
        width: How much of the console's width there is; None: all of it.
    """
    room = console.width if width is None else width
    rows = [(cells(one, look, at=at), look.colour(one.observation)) for one in seen]
    columns = [name for name in _WIDE if look.names or name != "project"]
    for spared in _SPARED:
        whole = _drawn(rows, columns, folded=("grade",))
        if minimum_width(whole, console) <= room:
            return whole
        columns = [name for name in columns if name != spared]
    return _drawn(rows, columns, folded=[name for name in columns if name != "id"])


def _drawn(
    rows: Sequence[tuple[Mapping[str, str], str]],
    columns: Sequence[str],
    *,
    folded: Sequence[str],
) -> Table:
    """Return the table of *rows*; what stands in the columns *folded* may be broken."""
    from rich.table import Table  # noqa: PLC0415 - 0.1 s, for terminals only
    from rich.text import Text  # noqa: PLC0415 - as above

    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        title = "" if name == _GAUGE else name
        texts = [row[name] for row, _ in rows]
        whole = name not in folded
        add_column(drawn, title, texts, is_whole=whole, widest=_CUT.get(name))
    for row, colour in rows:
        styles = {_GAUGE: colour, "context": colour, "grade": "dim" if colour == "dim" else ""}
        drawn.add_row(*(Text(row[name], style=styles.get(name, "")) for name in columns))
    return drawn
