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
from typing import Any

from attrs import field, frozen

from ...bounded.budget import KIB
from ...bounded.fields import nested, text
from ...bounded.jsonl import Row, Tail
from ...bounded.scan import RowScan
from ...evidence import Channel, Evidence, Gap, NeedMore, Origin, Query
from ...observation import MissingReason
from ...source import History, Player, TailSource
from .conversation import End, Standing, header_gap, is_of_conversation, is_of_list
from .messages import model_of

__all__ = ["SESSION"]


def _extract(tail: Tail, query: Query) -> Evidence | NeedMore:
    header = _header(tail)
    if header is not None:
        gap = header_gap(header, query)
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
    standing = _climbed(conversation, leaf)
    evidence = standing.evidence(conversation.session_id, query)
    return NeedMore(evidence) if standing.end is End.LET_GO else evidence


# -- the header ---------------------------------------------------------------------------------


def _header(tail: Tail) -> Mapping[str, Any] | None:
    """Return the file's first row; None where it is not read, or no row is there yet."""
    first = tail.first_row()
    if first is None and not tail.truncated:
        rows = [*tail.rows()]
        first = rows[-1] if rows else None  # Pi too takes the first line that is a row
    return None if first is None else first.value


def _holds_another(tail: Tail, header: Mapping[str, Any]) -> bool:
    """Tell whether the file of another session was put behind the one with this *header*."""
    headers = (row.value for row in tail.rows(b'"session"') if row.value.get("type") == "session")
    return any(other.get("id") != header.get("id") for other in headers)


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
        return cls(tail, text(header, "id"), is_list=is_of_list(header))

    def leaf(self) -> Row | None:
        """Return the newest row of the conversation."""
        return self._newest(before=None)

    def parent(self, row: Row) -> Row | End:
        """Return the row that *row* hangs off.

        A parent is written before its child, so a cycle ends like any other broken link.
        """
        is_truncated = self.tail.truncated
        if self.is_list:
            end = End.LET_GO if is_truncated else End.ROOT
            return self._newest(before=row.offset) or end
        parent_id = row.value.get("parentId")
        if parent_id is None:
            return End.ROOT
        lost = End.LET_GO if is_truncated else End.LOST
        if not isinstance(parent_id, str) or not parent_id or "\n" in parent_id:
            return lost
        older = self.tail.rows(parent_id.encode(), before=row.offset)
        found = (row for row in older if row.value.get("id") == parent_id and self._holds(row))
        return next(found, lost)

    def _newest(self, before: int | None) -> Row | None:
        return next((row for row in self.tail.rows(before=before) if self._holds(row)), None)

    def _holds(self, row: Row) -> bool:
        return is_of_conversation(row.value, is_list=self.is_list)


# -- from the leaf to the row that decides ------------------------------------------------------


def _climbed(conversation: _Conversation, leaf: Row) -> Standing:
    """Return how the context stands at *leaf*: up the tree, until a row decides."""
    standing, row = Standing.of(leaf), leaf
    while standing.decided is None:
        above = conversation.parent(row)
        if isinstance(above, End):
            return standing.ended(above)
        standing, row = standing.on(Standing.of(above)), above
    return standing


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


def _begin(_: RowScan, query: Query) -> Player:
    from .history import Conversation  # noqa: PLC0415 - who reads the end alone pays nothing

    return Conversation(query)


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
    history=History(begin=_begin),
)
