"""What an adapter declares: a `Source` record with the pure functions that read its format.

A source is one of four kinds, by what it reads; a file that is read from its end can also be played
from its beginning (`History`). A contributor's adapter imports this room, `evidence` and the floors
below, and nothing else of ours. May not import `assess`: an adapter decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from attrs import field, frozen

from .bounded.jsonl import Row, Tail
from .bounded.keys import KeyValues
from .bounded.scan import RowScan
from .evidence import Evidence, Gap, NeedKeys, NeedMore, Origin, Query
from .observation import MissingReason

__all__ = [
    "History",
    "Hooks",
    "Mark",
    "PayloadSource",
    "Player",
    "QueryFromHook",
    "Recogniser",
    "Shown",
    "Source",
    "StoreSource",
    "StreamSource",
    "TailSource",
    "Tally",
]

StateT = TypeVar("StateT")

Recogniser: TypeAlias = Callable[[Mapping[str, Any]], bool]
"""Whether one decoded row or payload is this source's and can be no other agent's.

Agents copy each other's formats, so a doubt is a no: the caller then has to name the source.
"""


class Mark(StrEnum):
    """What happened to the conversation between one moment of its history and the next."""

    COMPACTED = "compacted"
    """The context was replaced by a summary."""
    REWOUND = "rewound"
    """The conversation went back to an earlier row, or a part of it was taken back."""
    MODEL_SWITCHED = "model_switched"
    """Another model answers than before."""


@frozen(kw_only=True)
class Shown:
    """What a file shows once a row has been taken into account.

    Attributes:
        sample: What rows of one sample have in common: the last of them stands for it.
        evidence: Returns what was seen; called at most once, and before the next sample's.
        mark: What the row says has happened, or None.
    """

    sample: object = field(repr=False)
    evidence: Callable[[], Evidence] = field(repr=False)
    mark: Mark | None = None


class Player(Protocol):
    """Plays a file's rows, from the first on."""

    def take(self, row: Row) -> Shown | None:
        """Take the next row into account; return what the file shows now if that may be new."""
        ...


@frozen(kw_only=True)
class History:
    """How a session file is played from its beginning to its end.

    Attributes:
        needles: Only rows whose bytes contain one of these are given to the player; none of them:
            every row.
        unless: Whether a row cannot matter for all that, by its bytes; None: nothing tells.
        begin: The player of a file, at its beginning.
        is_followed_to_the_end: No row without a needle changes what the file shows. Where one can,
            or where no row has shown anything, the file's end is read by the source's `extract`.
    """

    needles: tuple[bytes, ...] = ()
    unless: Callable[[bytes], bool] | None = field(default=None, repr=False)
    begin: Callable[[RowScan, Query], Player] = field(repr=False)
    is_followed_to_the_end: bool = False


@frozen(kw_only=True)
class TailSource:
    """A file of JSON lines that the runtime appends to, read from its end.

    Attributes:
        origin: Id, method and channel.
        about: One line on what the source is.
        extract: From the rows of a window to evidence; `NeedMore` asks for a larger window.
        recognise: Tells a row of this source by its looks; None: it cannot be told.
        head: How many bytes of the file's beginning may be read for its first row (see
            `Tail.first_row`), within the budget: for files whose first row alone says whose rows
            they hold.
        reaches: What an answer needs, as a rule: a window in which no line contains one of these
            is doubled before its rows are looked at, because `extract` would ask for that. None:
            every window is looked at.
        history: How the whole file is played; None: only its end can be read.
    """

    origin: Origin
    about: str
    extract: Callable[[Tail, Query], Evidence | NeedMore] = field(repr=False)
    recognise: Recogniser | None = field(default=None, repr=False)
    head: int = 0
    reaches: tuple[bytes, ...] = ()
    history: History | None = field(default=None, repr=False)

    @property
    def id(self) -> str:
        """The source's id, such as ``claude.transcript``."""
        return self.origin.source


@frozen(kw_only=True)
class PayloadSource:
    """One JSON object that the runtime hands over.

    Attributes:
        origin: Id, method and channel.
        about: One line on what the source is.
        extract: From the decoded object to evidence. The query's `at` is when it was received.
        recognise: Tells a payload of this source by its looks; None: it cannot be told.
    """

    origin: Origin
    about: str
    extract: Callable[[Mapping[str, Any], Query], Evidence] = field(repr=False)
    recognise: Recogniser | None = field(default=None, repr=False)

    @property
    def id(self) -> str:
        """The source's id, such as ``claude.status_line``."""
        return self.origin.source


@frozen(kw_only=True)
class Tally:
    """What an agent says of its own run, beside its context.

    Attributes:
        turns: How many turns the run had, by the agent's own count; None: it does not say.
        cost_usd: What the run cost, in US dollars by the agent's estimate; None: it does not say.
    """

    turns: int | None = None
    cost_usd: float | None = None


@frozen(kw_only=True)
class StreamSource(Generic[StateT]):
    """A live stream of JSON lines, read by a pure reducer.

    Attributes:
        origin: Id, method and channel.
        about: One line on what the source is.
        initial: The state before the first line; an immutable value.
        relevant: Whether a line's bytes can matter at all; must be far cheaper than decoding and
            never say no to a line that matters.
        step: The state after one decoded line, received at the query's `at`.
        evidence: What a state shows of the present.
        peak: What a state shows of the fullest response so far, with the limit that is known now:
            a stream may state its limit only at the end.
        recognise: Tells a line of this source by its looks; None: it cannot be told.
        tally: What one more decoded line makes of the tally so far: the same one where it says
            nothing of turns or costs. None: no line ever does.
    """

    origin: Origin
    about: str
    initial: StateT
    relevant: Callable[[bytes], bool] = field(repr=False)
    step: Callable[[StateT, Mapping[str, Any], Query], StateT] = field(repr=False)
    evidence: Callable[[StateT, Query], Evidence] = field(repr=False)
    peak: Callable[[StateT, Query], Evidence] = field(repr=False)
    recognise: Recogniser | None = field(default=None, repr=False)
    tally: Callable[[Tally, Mapping[str, Any]], Tally] | None = field(default=None, repr=False)

    @property
    def id(self) -> str:
        """The source's id, such as ``claude.stream``."""
        return self.origin.source

    def refusal(self, query: Query) -> Gap | None:
        """Return the gap of a source that measures nothing, whatever it is fed; None: it may."""
        unheard = self.evidence(self.initial, query)
        if isinstance(unheard, Gap) and unheard.reason is MissingReason.SOURCE_UNSUPPORTED:
            return unheard
        return None


@frozen(kw_only=True)
class StoreSource:
    """An SQLite database, read by exact keys.

    Attributes:
        origin: Id, method and channel.
        about: One line on what the source is.
        extract: From the values read so far to evidence; `NeedKeys` asks for more of them.
        recognise: Tells a decoded value of this source by its looks; None: it cannot be told.
    """

    origin: Origin
    about: str
    extract: Callable[[KeyValues, Query], Evidence | NeedKeys] = field(repr=False)
    recognise: Recogniser | None = field(default=None, repr=False)

    @property
    def id(self) -> str:
        """The source's id, such as ``cursor.chat_store``."""
        return self.origin.source


Source: TypeAlias = TailSource | PayloadSource | StreamSource[Any] | StoreSource
"""A source of readings."""


class QueryFromHook(Protocol):
    """What reads the question out of a hook's payload."""

    def __call__(self, payload: Mapping[str, Any], *, at: datetime) -> Query | None:
        """Return the question that *payload*, handed over at *at*, asks; None if it asks none."""
        ...


@frozen(kw_only=True)
class Hooks:
    """What the payloads of an agent's hooks are good for, beside what they measure themselves.

    Attributes:
        source: The source that reads the payload itself.
        query: The question that a payload asks of the agent's files or stores; None when nothing on
            this machine can answer it.
        session: The agent's own session id in a payload, or None.
        turn: The agent's own id of the turn in a payload, or None; at some events of a turn that
            has only begun.
        transcript: The source that reads the transcript, for agents that have one.
        path: The path of the transcript that a payload is about, or None.
        stores: The sources that read the agent's databases, for agents that have some.
        is_compacted: Whether a payload tells of a compaction that succeeded.
    """

    source: PayloadSource
    query: QueryFromHook = field(repr=False)
    session: Callable[[Mapping[str, Any]], str | None] = field(repr=False)
    turn: Callable[[Mapping[str, Any]], str | None] = field(repr=False)
    transcript: str | None = None
    path: Callable[[Mapping[str, Any]], str | None] = field(repr=False, default=lambda _: None)
    stores: tuple[str, ...] = ()
    is_compacted: Callable[[Mapping[str, Any]], bool] = field(repr=False, default=lambda _: False)
