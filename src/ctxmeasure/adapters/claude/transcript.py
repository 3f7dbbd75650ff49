"""The session file that Claude Code appends to: ``<project>/<session id>.jsonl``.

Used tokens are the prompt of the last response (``assistant`` row) that the conversation still
stands on, found by walking ``parentUuid`` from the newest row through rows of every type. One
response is one row per content block with the same ``message.id``; its prompt counts are the same
in all of them and its output is final in the last (formats/claude.md §1.3, §1.4). ``promptId``, on
``user`` rows only, is the turn; versions up to 2.1.71 do not record it.
Decoys: sidechains (inline in 1.0.x), ``<synthetic>`` and API-error rows, usage nested in
``progress`` rows, ``api-request-blob`` rows with an assistant's message, usage of before a
compaction, a rewind or a fork. Rows can be 110 KB long, so a window may hold no usage at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from enum import Enum
from functools import partial
from itertools import takewhile
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from ...bounded.budget import KIB
from ...bounded.fields import text
from ...bounded.jsonl import Row, Tail
from ...bounded.scan import RowScan
from ...capability.model import ModelRef
from ...evidence import Channel, Evidence, Gap, NeedMore, Origin, Phase, Query, UsedTokens
from ...observation import MissingReason
from ...source import History, Player, TailSource
from .conversation import (
    Compaction,
    attached_model,
    compacted,
    is_abreast,
    is_boundary,
    is_frame,
    is_progress,
    is_response,
    is_summary,
    measured,
    message_of,
    names_itself,
    names_model,
    session_of,
    stated_parent,
    time_of,
)
from .rows import model_ref, same_model

__all__ = ["TRANSCRIPT"]

_Test: TypeAlias = Callable[[Mapping[str, Any]], bool]

# The bytes of the rows that a conversation can end with.
_LEAVES = (b'"user"', b'"assistant"', b'"compact_boundary"')

# On every row of the conversation in 1.0.17 to 2.1.332, and in no other agent's rows.
_CONVERSATION_KEYS = frozenset(
    {"isSidechain", "parentUuid", "sessionId", "timestamp", "type", "userType", "uuid", "version"}
)


class _End(Enum):
    """Why a walk up the ancestry ended without the row it was looking for."""

    ROOT = "the conversation begins here"
    LOST = "the parent is not among the rows before its child"


def _extract(tail: Tail, query: Query) -> Evidence | NeedMore:
    newest = next(tail.rows(*_LEAVES, unless=is_progress), None)
    if newest is None and tail.truncated:  # there is nothing yet to look for more than once
        return NeedMore(partial(_nothing_asked_for, tail, query))
    closing = newest if newest is not None and is_response(newest.value) else None
    thread = _Thread.asked_for(tail, query, closing)
    response = _standing_response(thread, query, closing)
    if not isinstance(response, Row):
        return response
    if is_frame(response.value):
        return Gap(reason=MissingReason.SOURCE_MALFORMED)
    gap = _turn_gap(thread, response, query)
    if gap is None:
        return _measured(thread, response)
    if gap == _OTHER_TURN and query.phase is Phase.TERMINAL:
        return _ended_turn(thread, response, query)
    return gap


def _nothing_asked_for(tail: Tail, query: Query) -> Gap:
    return _nothing_seen(_Thread.asked_for(tail, query, None), query)


# -- the rows of one conversation -------------------------------------------------------------


@frozen
class _Thread:
    """One conversation in a file: the main chain of a session, or one sub-agent's.

    Attributes:
        tail: The rows.
        agent_id: The sub-agent, or None for the main chain.
        session_id: The session; None when no row of the conversation names one.
        anonymous: Rows that name no session belong to it, because the caller named none either.
    """

    tail: Tail = field(repr=False)
    agent_id: str | None = field(repr=False)
    session_id: str | None = field(repr=False)
    anonymous: bool

    @classmethod
    def asked_for(cls, tail: Tail, query: Query, closing: Row | None) -> _Thread:
        """Return the conversation that *query* asks for: by default that of the newest row.

        A file can hold several sessions: 1.0.x copied the resumed session's rows into a new file.

        Args:
            tail: The rows.
            query: The question.
            closing: The newest row, where it is known (see `_closing_response`).
        """
        session_id = query.session_id
        if session_id is None and closing is not None and is_abreast(closing.value, query.agent_id):
            session_id = session_of(closing.value)
        asked = cls(tail, query.agent_id, session_id, anonymous=query.session_id is None)
        if session_id is not None:
            return asked
        newest = asked.newest(lambda row: session_of(row) is not None, *_LEAVES)
        return asked if newest is None else evolve(asked, session_id=session_of(newest.value))

    def holds(self, row: Row) -> bool:
        """Tell whether *row* belongs to this conversation."""
        session_id = session_of(row.value)
        if self.session_id is None or session_id == self.session_id:
            return is_abreast(row.value, self.agent_id)
        return session_id is None and self.anonymous and is_abreast(row.value, self.agent_id)

    def newest(self, test: _Test, *needles: bytes, before: int | None = None) -> Row | None:
        """Return the newest row of the conversation that passes *test*."""
        rows = self.tail.rows(*needles, before=before, unless=is_progress)
        return next((row for row in rows if self.holds(row) and test(row.value)), None)

    def climb(self, row: Row, test: _Test) -> Row | _End:
        """Return the first of *row* and its ancestors that passes *test*, or why there is none."""
        while not test(row.value):
            parent = self.parent(row)
            if isinstance(parent, _End):
                return parent
            row = parent
        return row

    def parent(self, row: Row) -> Row | _End:
        """Return the row that *row* hangs off, of whatever type and conversation.

        A parent is written before its child (1,188 of 1,188 links in recordings and public files),
        so a cycle cannot be walked in and ends like any other broken link.
        """
        uuid = row.value.get("parentUuid")
        if uuid is None:
            return _End.ROOT
        if not isinstance(uuid, str) or not uuid or "\n" in uuid:
            return _End.LOST
        older = self.tail.rows(uuid.encode(), before=row.offset)
        return next((found for found in older if found.value.get("uuid") == uuid), _End.LOST)

    def gap(self, reason: MissingReason, *, unless_truncated: MissingReason) -> Gap | NeedMore:
        """Return the gap for *reason*, or ask for more if rows before the window could decide."""
        if self.tail.truncated:
            return NeedMore(Gap(reason=unless_truncated))
        return Gap(reason=reason)

    def lost(self) -> Gap | NeedMore:
        """Return what a broken walk comes to."""
        return self.gap(MissingReason.CHAIN_BROKEN, unless_truncated=MissingReason.CHAIN_TRUNCATED)


def _is_leaf(row: Mapping[str, Any]) -> bool:
    is_message = row.get("type") == "user" or is_response(row)
    return is_boundary(row) or (is_message and not row.get("isMeta"))


# -- the response that the conversation stands on ---------------------------------------------


def _standing_response(thread: _Thread, query: Query, closing: Row | None) -> Row | Gap | NeedMore:
    """Return the last row of the response that the next request would build on."""
    if closing is not None and thread.holds(closing) and not closing.value.get("isMeta"):
        return _unless_voided(thread, closing)
    leaf = thread.newest(_is_leaf, *_LEAVES)
    if leaf is None and thread.tail.truncated:
        return NeedMore(partial(_nothing_seen, thread, query))
    if leaf is None:
        return _nothing_seen(thread, query)
    latest = thread.newest(is_response, b'"assistant"')
    found = thread.climb(leaf, lambda row: is_boundary(row) or is_response(row))
    if found is _End.LOST:
        return thread.lost()
    if found is _End.ROOT:
        return _unanswered(thread, latest)
    if is_boundary(found.value):
        return _compacted(thread, found)
    if latest is None or not thread.holds(found):
        return Gap(reason=MissingReason.CARRIED_OVER)
    compacted = _voiding_compaction(thread, found)
    if compacted is not None:
        return compacted
    if not _is_block_of(thread, found, latest):
        return Gap(reason=MissingReason.REWOUND)
    return _if_its_own(thread, latest)


def _unless_voided(thread: _Thread, response: Row) -> Row | Gap | NeedMore:
    compacted = _voiding_compaction(thread, response)
    return _if_its_own(thread, response) if compacted is None else compacted


def _if_its_own(thread: _Thread, response: Row) -> Row | Gap | NeedMore:
    """Return *response* unless it was copied here; ask for more rows where they have to tell."""
    if "forkedFrom" in response.value:
        # The SDK's fork_session copies rows and dates the last one anew.
        return Gap(reason=MissingReason.CARRIED_OVER)
    return NeedMore(_CUT_OFF) if _may_be_preserved(thread, response) else response


def _is_block_of(thread: _Thread, block: Row, response: Row) -> bool:
    """Tell whether *block* is a row of the response whose last row is *response*.

    Parallel tools leave the leaf's chain without some of its rows, and results of tools can stand
    between them (2.1.37). A prompt cannot: a gateway may give every message the same id.
    """
    if block.offset == response.offset:
        return True
    message_id = message_of(block.value).get("id")
    if message_id is None or message_id != message_of(response.value).get("id"):
        return False
    met = thread.climb(response, lambda row: row is block.value or _asks(row))
    return isinstance(met, Row) and met.offset == block.offset


def _nothing_seen(thread: _Thread, query: Query) -> Gap:
    """Name the gap of a window without a single message of the conversation: all rows tell."""
    rows = list(thread.tail.rows(b'"sessionId"', b'"session_id"'))
    sessions = {session_of(row.value) for row in rows} - {None}
    if query.session_id is not None and sessions and query.session_id not in sessions:
        return Gap(reason=MissingReason.SESSION_MISMATCH)
    if thread.tail.truncated:
        reason = MissingReason.BUDGET_EXHAUSTED
    elif any(map(thread.holds, rows)):
        reason = MissingReason.NOT_MEASURED_YET
    elif sessions:  # sub-agents only
        reason = MissingReason.SESSION_MISMATCH
    else:
        reason = MissingReason.SESSION_NOT_FOUND
    return Gap(reason=reason)


def _unanswered(thread: _Thread, latest: Row | None) -> Gap | NeedMore:
    """Name the gap of a conversation that goes back to its beginning without a response."""
    compacted = _voiding_compaction(thread, latest)
    if compacted is not None:
        return compacted
    if latest is not None:  # a rewind to the very first prompt begins anew
        return Gap(reason=MissingReason.REWOUND)
    return thread.gap(
        MissingReason.NOT_MEASURED_YET, unless_truncated=MissingReason.NOT_MEASURED_YET
    )


# -- compaction -------------------------------------------------------------------------------


_CUT_OFF = Gap(reason=MissingReason.CHAIN_TRUNCATED)

# No summary is as long as that: it is one response. An image or a tool's output can be, and a
# response to it would else be missing until the next one.
_LONGER_THAN_A_SUMMARY = 128 * KIB


def _may_be_preserved(thread: _Thread, response: Row) -> bool:
    """Tell whether *response* could be one that a compaction before the window preserved.

    Written again behind a compaction, it hangs off the summary. A row that hangs off another
    preserved one is not told where the window has cut the summary off: nothing in it could.
    """
    if not thread.tail.truncated:
        return False
    if _follows_its_request(thread.tail, response):
        return False
    message_id = message_of(response.value).get("id")
    first = response
    while isinstance(before := thread.parent(first), Row):
        if message_of(before.value).get("id") != message_id:
            return False
        first = before
    return before is _End.LOST and not _is_behind_a_long_row(thread.tail, first)


def _follows_its_request(tail: Tail, response: Row) -> bool:
    """Tell whether the bytes show that *response* stands right behind what it answers, as a rule.

    That can be long, and to decode it would cost as much as the rest of a reading.
    """
    message_id = text(message_of(response.value), "id")
    own = None if message_id is None else f'"{message_id}"'.encode()
    parent, offset = text(response.value, "parentUuid"), response.offset
    while parent is not None and (before := tail.line_before(offset)) is not None:
        offset, line = before
        if not names_itself(line, parent):
            return False
        if own is None or own not in line:
            return True
        parent = stated_parent(line)  # another block of the response
    return False


def _is_behind_a_long_row(tail: Tail, row: Row) -> bool:
    """Tell whether *row* directly follows a row that the window cuts and that is no summary."""
    is_first = next(tail.rows(before=row.offset), None) is None
    return is_first and tail.cut_off > _LONGER_THAN_A_SUMMARY


def _voiding_compaction(thread: _Thread, response: Row | None) -> Gap | NeedMore | None:
    """Return the gap if a compaction in the window made *response* void, or there is none.

    Its summary stands in for a boundary that the window has cut off.
    """
    boundary = thread.newest(is_boundary, b'"compact_boundary"')
    compaction = Compaction(boundary, thread.newest(is_summary, b'"isCompactSummary"'))
    mark = compaction.mark
    if mark is None:
        return None
    is_cut_off = boundary is None and thread.tail.truncated
    is_cut_off = is_cut_off and thread.parent(mark) is _End.LOST
    if response is None or compaction.voids(response) or _stood_before(thread, response, mark):
        gap = _compacted(thread, mark)
        return NeedMore(gap) if is_cut_off else gap
    return NeedMore(_CUT_OFF) if is_cut_off else None


def _stood_before(thread: _Thread, response: Row, mark: Row) -> bool:
    """Tell whether *response* stands before a compaction's *mark*, too: clocks can be set back."""
    uuid = text(response.value, "uuid")
    if uuid is None or "\n" in uuid:
        return False
    message_id = message_of(response.value).get("id")
    return any(
        row.value.get("uuid") == uuid and message_of(row.value).get("id") == message_id
        for row in thread.tail.rows(uuid.encode(), before=mark.offset)
    )


def _compacted(thread: _Thread, boundary: Row) -> Gap:
    """Return the gap that a compaction leaves."""
    return compacted(boundary, _model_since(thread, boundary))


def _model_since(thread: _Thread, boundary: Row) -> ModelRef | None:
    """Return the model that 2.1.251 and later name again behind a compaction."""
    attached = thread.newest(names_model, b'"modelId"')
    if attached is None or attached.offset < boundary.offset:
        return None
    named = attached_model(attached.value)
    return model_ref(named, requested=named)


# -- the turn ---------------------------------------------------------------------------------

_OTHER_TURN = Gap(reason=MissingReason.TURN_NOT_FOUND)


def _ended_turn(thread: _Thread, response: Row, query: Query) -> Evidence | NeedMore:
    """Measure the asked turn, which ended before the turn of *response*, by its own last response.

    Only a turn that *response* builds on is found: not one that was rewound or compacted away.
    """
    gap: Gap | NeedMore | None = _OTHER_TURN
    while gap == _OTHER_TURN:
        before = _response_before(thread, response)
        if before is _End.LOST:
            return thread.gap(_OTHER_TURN.reason, unless_truncated=_OTHER_TURN.reason)
        if before is _End.ROOT or not thread.holds(before):
            return _OTHER_TURN
        response = _last_block(thread, before, until=response)
        gap = _turn_gap(thread, response, query)
    return _measured(thread, response) if gap is None else gap


def _last_block(thread: _Thread, block: Row, *, until: Row) -> Row:
    """Return the last row of the response that *block* is of, written before the row *until*."""
    message_id = message_of(block.value).get("id")
    last = thread.newest(
        lambda row: is_response(row) and message_of(row).get("id") == message_id,
        b'"assistant"',
        before=until.offset,
    )
    return last if last is not None and _is_block_of(thread, block, last) else block


def _response_before(thread: _Thread, response: Row) -> Row | _End:
    """Return the response that the turn of *response* builds on, by its last row on the chain."""
    request = thread.climb(response, _decides_turn)
    if isinstance(request, _End):
        return request
    return thread.climb(request, is_response)


def _turn_gap(thread: _Thread, response: Row, query: Query) -> Gap | NeedMore | None:
    """Return the gap if *response* is not known to be of the turn that *query* asks for."""
    started_at = query.turn_started_at
    if query.turn_id is not None:
        return _turn_id_gap(thread, response, query.turn_id, started_at)
    if started_at is not None:
        return _time_gap(response, started_at)
    if query.phase is Phase.ACTIVE:
        return Gap(reason=MissingReason.TURN_IDS_NOT_RECORDED)
    return None


def _time_gap(response: Row, started_at: datetime) -> Gap | None:
    received = time_of(response)
    if received is not None and received >= started_at:
        return None
    return _OTHER_TURN


def _turn_id_gap(
    thread: _Thread, response: Row, turn_id: str, started_at: datetime | None
) -> Gap | NeedMore | None:
    """Match the turn by the ``promptId`` of the request, and by time if it has none.

    A fork rewrites the ``promptId`` of the rows it copies to that of its own first turn, so the id
    alone proves nothing: the prompt must not come after the response.
    """
    request = thread.climb(response, _decides_turn)
    if request is _End.LOST:
        return thread.lost()
    recorded = None if request is _End.ROOT else _prompt_id(request.value)
    if recorded is None:
        if started_at is not None:
            return _time_gap(response, started_at)
        return Gap(reason=MissingReason.TURN_IDS_NOT_RECORDED)
    if recorded != turn_id:
        return _OTHER_TURN
    if _is_before(response, started_at) or _is_asked_after(thread, response, turn_id):
        return Gap(reason=MissingReason.CARRIED_OVER)
    return None


def _decides_turn(row: Mapping[str, Any]) -> bool:
    """Tell whether *row* names the turn or, being a prompt or a tool's result, should have."""
    return row.get("type") == "user" and (not row.get("isMeta") or _prompt_id(row) is not None)


def _prompt_id(row: Mapping[str, Any]) -> str | None:
    return text(row, "promptId")


def _is_before(response: Row, started_at: datetime | None) -> bool:
    received = time_of(response)
    return started_at is not None and received is not None and received < started_at


def _is_asked_after(thread: _Thread, response: Row, turn_id: str) -> bool:
    """Tell whether the turn's prompt was written after *response*."""
    later = takewhile(lambda row: row.offset > response.offset, thread.tail.rows(b'"promptId"'))
    return any(
        thread.holds(row) and _prompt_id(row.value) == turn_id and _asks(row.value) for row in later
    )


def _asks(row: Mapping[str, Any]) -> bool:
    """Tell whether *row* is what a person asked, and neither a notice nor a tool's result."""
    if row.get("type") != "user" or row.get("isMeta"):
        return False
    if row.get("rowSource") == "harness" or "interruptedMessageId" in row:
        return False
    content = message_of(row).get("content")
    blocks = content if isinstance(content, list) else [{"text": content}]
    return not any(map(_is_machine_made, blocks))


def _is_machine_made(block: object) -> bool:
    if not isinstance(block, dict):
        return False
    # Print mode gives the notice of an interruption no key of its own.
    is_interruption = str(block.get("text")).startswith("[Request interrupted")
    return is_interruption or block.get("type") == "tool_result"


# -- the evidence -----------------------------------------------------------------------------


def _measured(thread: _Thread, response: Row) -> UsedTokens | Gap:
    """Return the usage of *response*, which decides even where it is missing or wrong."""
    return measured(response, thread.agent_id, partial(_requested_models, thread, response))


def _requested_models(thread: _Thread, response: Row, model: ModelRef) -> Iterator[object]:
    """Yield what names the model as it was asked for, the strongest first (models.md §2.2).

    ``requestedModel`` exists since 2.1.295, the other two since 2.1.251. The ledger counts a
    response only if it is written after it, and only one entry for its model can be its own.
    """
    yield response.value.get("requestedModel")
    attached = thread.newest(names_model, b'"modelId"', before=response.offset)
    if attached is not None:
        yield attached_model(attached.value)
    ledger = thread.newest(_is_ledger, b'"cost-state"')
    if ledger is not None and ledger.offset > response.offset:
        entries = [
            name
            for name in ledger.value["modelUsage"]
            if name and same_model(ModelRef.as_started(name).id, model.id)
        ]
        if len(entries) == 1:
            yield entries[0]


def _is_ledger(row: Mapping[str, Any]) -> bool:
    return row.get("type") == "cost-state" and isinstance(row.get("modelUsage"), dict)


def _recognise(row: Mapping[str, Any]) -> bool:
    """Tell a row of the conversation: Qwen Code's have the same tree, but no ``userType``."""
    return row.keys() >= _CONVERSATION_KEYS


def _begin(scan: RowScan, query: Query) -> Player:
    from .history import Conversation  # noqa: PLC0415 - who reads the end alone pays nothing

    return Conversation(scan, query)


TRANSCRIPT = TailSource(
    origin=Origin(
        adapter="claude",
        source="claude.transcript",
        method="claude_transcript_usage_model_capability",
        channel=Channel.PERSISTED,
        client="claude",
    ),
    about="Claude Code's session file: the prompt of the last response the conversation stands on",
    extract=_extract,
    recognise=_recognise,
    # Prompts and tools' results are not decoded: they are most of the bytes (§1.5).
    history=History(
        needles=(b'"assistant"', b'"compact_boundary"', b'"isCompactSummary"'),
        unless=is_progress,
        begin=_begin,
    ),
)
