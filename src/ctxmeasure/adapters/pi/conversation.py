"""What a row of Pi's session file says of the context, alone and on top of the rows above it.

`session` climbs from the leaf to the row that decides; `history` plays the rows from the first on.
Both put `Standing` upon `Standing`, so that they say the same (formats/pi_ralph.md §4).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any

from attrs import evolve, frozen

from ...bounded.fields import epoch_milliseconds, instant, nested, text
from ...bounded.jsonl import Row
from ...capability.model import ModelRef
from ...evidence import Evidence, Gap, Phase, Query, UsedTokens
from ...observation import MissingReason, Partial
from .messages import (
    PASSED_OVER,
    Counted,
    counted,
    measured,
    model_of,
    model_ref,
    session_gap,
    turn_gap,
)

__all__ = [
    "Decided",
    "End",
    "Standing",
    "header_gap",
    "is_of_conversation",
    "is_of_list",
]

_LATEST_FORMAT = 3  # 0.35.0 to 1.6.0; new types of rows came without a new number


class End(Enum):
    """Why the way up the tree ended without a row that decides."""

    ROOT = "the conversation begins here"
    LOST = "the parent is not among the rows before its child"
    LET_GO = "the parent may be among rows that are no longer held"


# -- the header and the rows --------------------------------------------------------------------


def header_gap(header: Mapping[str, Any], query: Query) -> Gap | None:
    """Return the gap of a file with this first row, if nothing behind it can be measured."""
    session_id = text(header, "id")
    if header.get("type") != "session" or session_id is None:
        return Gap(reason=MissingReason.SOURCE_MALFORMED)
    if _format(header) not in range(1, _LATEST_FORMAT + 1):
        return Gap(reason=MissingReason.SCHEMA_UNKNOWN)
    return session_gap(session_id, query)


def is_of_list(header: Mapping[str, Any]) -> bool:
    """Tell whether the rows behind this header follow each other (format 1) and are no tree."""
    return _format(header) == 1


def is_of_conversation(row: Mapping[str, Any], *, is_list: bool) -> bool:
    """Tell whether *row* is one of a conversation's, not a header or a line of something else."""
    if text(row, "type") in (None, "session"):
        return False
    # Lines of the event stream have no parent, and those of format 1 have no id either.
    return is_list or ("parentId" in row and text(row, "id") is not None)


def _format(header: Mapping[str, Any]) -> object:
    version = header.get("version", 1)
    return version if type(version) is int else None


# -- what they say of the context ---------------------------------------------------------------


@frozen(kw_only=True)
class Decided:
    """What the row that decides says, without the row itself: it may be held for long.

    Attributes:
        offset: Where the row begins.
        said: What it counts, or why nothing is counted.
        measured_at: When it was written.
        message_timestamp: What its message says of its own time.
        is_malformed: It counts, and names a key twice.
    """

    offset: int
    said: Counted | MissingReason
    measured_at: datetime | None
    message_timestamp: object = None
    is_malformed: bool = False

    @classmethod
    def by_reply(cls, row: Row, said: Counted | MissingReason) -> Decided:
        """Return what the reply in *row* decides."""
        return cls(
            offset=row.offset,
            said=said,
            measured_at=_time(row),
            message_timestamp=nested(row.value, "message").get("timestamp"),
            is_malformed=isinstance(said, Counted) and row.has_duplicate_keys(),
        )


@frozen(kw_only=True)
class Standing:
    """How the context stands at a row, as far as the rows down to the one that decides tell.

    Attributes:
        decided: What the row that decides says; None where none was met.
        end: Why none was met, once it is known that there is none.
        model: The model that is selected, or None.
        adds: Rows that are sent to the model lie between.
        is_edited: A context edit lies between, which voids what is above it.
        is_unreported: A reply without usage lies between.
    """

    decided: Decided | None = None
    end: End | None = None
    model: ModelRef | None = None
    adds: bool = False
    is_edited: bool = False
    is_unreported: bool = False

    @classmethod
    def of(cls, row: Row) -> Standing:
        """Return what *row* says by itself."""
        entry = row.value
        match entry.get("type"):
            case "message":
                return cls._of_message(row, nested(entry, "message"))
            case "compaction":
                reason = MissingReason.COMPACTED
                decided = Decided(offset=row.offset, said=reason, measured_at=_time(row))
                return cls(decided=decided)
            case "context_edit":
                return cls(is_edited=True)
            case "model_change":
                return cls(model=model_ref(entry.get("modelId"), entry.get("provider")))
            case "custom_message":
                return cls(adds=True)
            case "branch_summary":
                return cls(adds=text(entry, "summary") is not None)
            case _:  # labels, names, thinking levels, extensions' own, side calls' usage
                return cls()

    @classmethod
    def _of_message(cls, row: Row, message: Mapping[str, Any]) -> Standing:
        if message.get("role") != "assistant":
            return cls(adds=True)
        said, model = counted(message), model_of(message)
        if said not in PASSED_OVER:
            return cls(decided=Decided.by_reply(row, said), model=model)
        is_unreported = said is MissingReason.USAGE_NOT_REPORTED
        return cls(model=model, adds=True, is_unreported=is_unreported)

    def on(self, above: Standing) -> Standing:
        """Return how the context stands where this is put on what stood *above* it."""
        if self.decided is not None:
            return self
        return Standing(
            decided=above.decided,
            end=above.end,
            model=self.model or above.model,
            adds=self.adds or above.adds,
            is_edited=self.is_edited or above.is_edited,
            is_unreported=self.is_unreported or above.is_unreported,
        )

    def ended(self, end: End) -> Standing:
        """Return how it stands where nothing is above, for the reason *end*."""
        return evolve(self, end=end)

    # -- the evidence -----------------------------------------------------------------------------

    def evidence(self, session_id: str | None, query: Query) -> Evidence:
        """Return what it shows of the session, to be asked once it is decided or has ended."""
        match self.decided:
            case Decided(said=Counted() as count) as decided:
                return self._of_reply(decided, count, session_id, query)
            case Decided(said=MissingReason() as reason, measured_at=written_at):
                return Gap(reason=reason, partial=Partial(measured_at=written_at), model=self.model)
            case _:
                return Gap(reason=self._undecided(), model=self.model)

    def _undecided(self) -> MissingReason:
        match self.end:
            case End.LET_GO:
                return MissingReason.CHAIN_TRUNCATED
            case End.LOST:
                return MissingReason.CHAIN_BROKEN
            case _ if self.is_unreported:
                return MissingReason.USAGE_NOT_REPORTED
            case _:
                return MissingReason.NOT_MEASURED_YET

    def _of_reply(
        self, decided: Decided, count: Counted, session_id: str | None, query: Query
    ) -> Evidence:
        if decided.is_malformed:
            return Gap(reason=MissingReason.SOURCE_MALFORMED, model=self.model)
        measured_at = decided.measured_at
        if self.is_edited:
            known = Partial(used_tokens=count.used_tokens, measured_at=measured_at)
            return Gap(reason=MissingReason.REWOUND, partial=known, model=self.model)
        gap = _turn_gap(measured_at, query)
        if gap is not None:
            return gap
        return UsedTokens(
            **measured(count, session_id, decided.message_timestamp),
            measured_at=measured_at,
            # Pi holds the count against the model that is selected now, whoever replied.
            model=self.model,
            lower_bound=self.adds,
        )


def _turn_gap(measured_at: datetime | None, query: Query) -> Gap | None:
    if query.phase is Phase.ACTIVE and query.turn_started_at is None:
        return Gap(reason=MissingReason.TURN_IDS_NOT_RECORDED)
    return turn_gap(measured_at, query)


def _time(row: Row) -> datetime | None:
    """Return when *row* was written: with a reply's end; its message is dated at its beginning."""
    written = instant(row.value.get("timestamp"))
    return written or epoch_milliseconds(nested(row.value, "message").get("timestamp"))
