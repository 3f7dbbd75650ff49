"""The session file that Pi appends to: ``sessions/--<cwd>--/<time>_<session id>.jsonl``.

It lies in ``~/.pi/agent``, unless a setting says otherwise. Behind the header, which names session
and format, every row is a node of a tree (``id``, ``parentId``; formats 2 and 3, since 0.31.0) or
the next of a list (format 1). The last row is the leaf whatever its type, and used tokens are those
of the nearest good reply above it. What was added since is in no count: Pi estimates it.
Decoys: replies of other branches, kept by a compaction, failed or aborted; the usage of
compactions, branch summaries, tool results and ``usage`` rows (formats/pi_ralph.md §4). After a
``/tree`` navigation the file shows the new leaf only with the next row.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any

from attrs import evolve, field, frozen

from ...bounded.budget import KIB
from ...bounded.fields import epoch_milliseconds, instant, nested, text
from ...bounded.jsonl import Row, Tail
from ...capability.model import ModelRef
from ...evidence import Channel, Evidence, Gap, NeedMore, Origin, Phase, Query, UsedTokens
from ...observation import MissingReason, Partial
from ...source import TailSource
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

__all__ = ["SESSION"]

_LATEST_FORMAT = 3  # 0.35.0 to 1.6.0; new types of rows came without a new number


class _End(Enum):
    """Why a walk up the tree ended without the row it was looking for."""

    ROOT = "the conversation begins here"
    LOST = "the parent is not among the rows before its child"


def _extract(tail: Tail, query: Query) -> Evidence | NeedMore:
    header = _header(tail)
    if header is not None:
        gap = _header_gap(header, query)
        if gap is not None or _holds_another(tail, header):
            return gap or Gap(reason=MissingReason.SESSION_AMBIGUOUS)
    elif not tail.truncated:
        return Gap(reason=MissingReason.SESSION_NOT_FOUND)
    elif query.agent_id is not None:
        return Gap(reason=MissingReason.SESSION_MISMATCH)  # Pi has none
    elif query.session_id is not None:  # the first row is longer than what is read of it
        return NeedMore(Gap(reason=MissingReason.SESSION_NOT_FOUND))
    conversation = _Conversation.of(tail, header)
    leaf = conversation.leaf()
    if leaf is None:
        return _no_leaf(tail)
    walk = _Walk.from_leaf(conversation, leaf)
    return _shown(conversation, walk, query)


# -- the header ---------------------------------------------------------------------------------


def _header(tail: Tail) -> Mapping[str, Any] | None:
    """Return the file's first row; None where it is not read, or no row is there yet."""
    first = tail.first_row()
    if first is None and not tail.truncated:
        rows = [*tail.rows()]
        first = rows[-1] if rows else None  # Pi too takes the first line that is a row
    return None if first is None else first.value


def _header_gap(header: Mapping[str, Any], query: Query) -> Gap | None:
    session_id = text(header, "id")
    if header.get("type") != "session" or session_id is None:
        return Gap(reason=MissingReason.SOURCE_MALFORMED)
    if _format(header) not in range(1, _LATEST_FORMAT + 1):
        return Gap(reason=MissingReason.SCHEMA_UNKNOWN)
    return session_gap(session_id, query)


def _holds_another(tail: Tail, header: Mapping[str, Any]) -> bool:
    """Tell whether the file of another session was put behind the one with this *header*."""
    headers = (row.value for row in tail.rows(b'"session"') if row.value.get("type") == "session")
    return any(other.get("id") != header.get("id") for other in headers)


def _format(header: Mapping[str, Any]) -> object:
    version = header.get("version", 1)
    return version if type(version) is int else None


def _no_leaf(tail: Tail) -> Gap | NeedMore:
    """Name the gap of a window without a row of the conversation."""
    if tail.truncated:
        return NeedMore(Gap(reason=MissingReason.BUDGET_EXHAUSTED))
    has_others = any(row.value.get("type") != "session" for row in tail.rows())
    reason = MissingReason.SOURCE_MALFORMED if has_others else MissingReason.NOT_MEASURED_YET
    return Gap(reason=reason)


# -- the rows of the conversation ---------------------------------------------------------------


@frozen
class _Conversation:
    """The rows behind the header, and how they hang together.

    Attributes:
        tail: The rows.
        session_id: The session; None where the header was not read.
        is_list: The rows follow each other (format 1) and are no tree.
    """

    tail: Tail = field(repr=False)
    session_id: str | None = field(repr=False)
    is_list: bool

    @classmethod
    def of(cls, tail: Tail, header: Mapping[str, Any] | None) -> _Conversation:
        if header is None:
            return cls(tail, None, is_list=False)
        return cls(tail, text(header, "id"), is_list=_format(header) == 1)

    def leaf(self) -> Row | None:
        """Return the newest row of the conversation."""
        return self._newest(before=None)

    def parent(self, row: Row) -> Row | _End:
        """Return the row that *row* hangs off.

        A parent is written before its child, so a cycle ends like any other broken link.
        """
        if self.is_list:
            end = _End.LOST if self.tail.truncated else _End.ROOT
            return self._newest(before=row.offset) or end
        parent_id = row.value.get("parentId")
        if parent_id is None:
            return _End.ROOT
        if not isinstance(parent_id, str) or not parent_id or "\n" in parent_id:
            return _End.LOST
        older = self.tail.rows(parent_id.encode(), before=row.offset)
        found = (row for row in older if row.value.get("id") == parent_id and self._holds(row))
        return next(found, _End.LOST)

    def _newest(self, before: int | None) -> Row | None:
        return next((row for row in self.tail.rows(before=before) if self._holds(row)), None)

    def _holds(self, row: Row) -> bool:
        if text(row.value, "type") is None:
            return False
        # The header and the lines of the event stream have no parent; format 1 has no id either,
        # and a header among its rows says nothing.
        return self.is_list or ("parentId" in row.value and text(row.value, "id") is not None)


# -- from the leaf to the reply in force --------------------------------------------------------


@frozen(kw_only=True)
class _Walk:
    """What lies between the leaf and the row that decides.

    Attributes:
        row: The row that decides, or why the walk ended without one.
        decides: What it says: a count, or why there is none.
        model: The model in force at the leaf, or None.
        adds: Rows that are sent to the model lie between.
        is_edited: A context edit lies between, which voids what is above it.
        is_unreported: A reply without usage lies between.
    """

    row: Row | _End
    decides: Counted | MissingReason | None = None
    model: ModelRef | None = None
    adds: bool = False
    is_edited: bool = False
    is_unreported: bool = False

    @classmethod
    def from_leaf(cls, conversation: _Conversation, leaf: Row) -> _Walk:
        walk = cls(row=leaf).seeing(leaf)
        while walk.decides is None and isinstance(walk.row, Row):
            above = conversation.parent(walk.row)
            walk = evolve(walk, row=above)
            if isinstance(above, Row):
                walk = walk.seeing(above)
        return walk

    def seeing(self, row: Row) -> _Walk:
        """Return the walk that has come to *row*."""
        entry = row.value
        match entry.get("type"):
            case "message":
                return self._seeing_message(nested(entry, "message"))
            case "compaction":
                return evolve(self, decides=MissingReason.COMPACTED)
            case "context_edit":
                return evolve(self, is_edited=True)
            case "model_change":
                named = model_ref(entry.get("modelId"), entry.get("provider"))
                return evolve(self, model=self.model or named)
            case "custom_message":
                return evolve(self, adds=True)
            case "branch_summary":
                return evolve(self, adds=self.adds or text(entry, "summary") is not None)
            case _:  # labels, names, thinking levels, extensions' own, side calls' usage
                return self

    def _seeing_message(self, message: Mapping[str, Any]) -> _Walk:
        if message.get("role") != "assistant":
            return evolve(self, adds=True)
        said = counted(message)
        walk = evolve(self, model=self.model or model_of(message))
        if said not in PASSED_OVER:
            return evolve(walk, decides=said)
        is_unreported = self.is_unreported or said is MissingReason.USAGE_NOT_REPORTED
        return evolve(walk, adds=True, is_unreported=is_unreported)


# -- the evidence -------------------------------------------------------------------------------


def _shown(conversation: _Conversation, walk: _Walk, query: Query) -> Evidence | NeedMore:
    match walk.row, walk.decides:
        case Row() as row, Counted() as count:
            return _of_reply(conversation, walk, row, count, query)
        case Row() as row, MissingReason() as reason:
            return Gap(reason=reason, partial=Partial(measured_at=_time(row)), model=walk.model)
        case _End.LOST, _ if conversation.tail.truncated:
            return NeedMore(Gap(reason=MissingReason.CHAIN_TRUNCATED, model=walk.model))
        case _End.LOST, _:
            return Gap(reason=MissingReason.CHAIN_BROKEN, model=walk.model)
        case _ if walk.is_unreported:
            return Gap(reason=MissingReason.USAGE_NOT_REPORTED, model=walk.model)
        case _:
            return Gap(reason=MissingReason.NOT_MEASURED_YET, model=walk.model)


def _of_reply(
    conversation: _Conversation, walk: _Walk, row: Row, count: Counted, query: Query
) -> Evidence:
    if row.has_duplicate_keys():
        return Gap(reason=MissingReason.SOURCE_MALFORMED, model=walk.model)
    measured_at = _time(row)
    if walk.is_edited:
        known = Partial(used_tokens=count.used_tokens, measured_at=measured_at)
        return Gap(reason=MissingReason.REWOUND, partial=known, model=walk.model)
    gap = _turn_gap(measured_at, query)
    if gap is not None:
        return gap
    message = nested(row.value, "message")
    return UsedTokens(
        **measured(count, conversation.session_id, message.get("timestamp")),
        measured_at=measured_at,
        # Pi holds the count against the model that is selected now, whoever replied.
        model=walk.model,
        lower_bound=walk.adds,
    )


def _turn_gap(measured_at: datetime | None, query: Query) -> Gap | None:
    if query.phase is Phase.ACTIVE and query.turn_started_at is None:
        return Gap(reason=MissingReason.TURN_IDS_NOT_RECORDED)
    return turn_gap(measured_at, query)


def _time(row: Row) -> datetime | None:
    """Return when *row* was written: with a reply's end; its message is dated at its beginning."""
    written = instant(row.value.get("timestamp"))
    return written or epoch_milliseconds(nested(row.value, "message").get("timestamp"))


def _recognise(row: Mapping[str, Any]) -> bool:
    """Tell a row that names the model or holds a reply; of the others, agents have their like."""
    has_links = row.keys() >= {"id", "parentId", "timestamp"}
    match row.get("type"):
        case "message" if has_links or row.keys() == {"type", "timestamp", "message"}:
            message = nested(row, "message")
            is_reply = message.get("role") == "assistant" and model_of(message) is not None
            return is_reply and text(message, "api") is not None
        case "model_change":
            return has_links and None not in (text(row, "modelId"), text(row, "provider"))
        case _:
            return False


SESSION = TailSource(
    origin=Origin(
        adapter="pi",
        source="pi.session",
        method="pi_session_usage_model_capability",
        channel=Channel.PERSISTED,
        client="pi",
    ),
    about="Pi's session file: prompt and output of the last good reply above the leaf",
    extract=_extract,
    recognise=_recognise,
    # Its first row alone names session and format. It is 140 bytes long, and two paths.
    head=16 * KIB,
)
