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
from itertools import takewhile
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from ...bounded.budget import KIB
from ...bounded.fields import instant, is_count, text
from ...bounded.jsonl import Row, Tail
from ...capability.model import ModelRef
from ...evidence import Channel, Evidence, Gap, NeedMore, Origin, Phase, Query, UsedTokens
from ...observation import MissingReason, Partial, UsedBasis
from ...source import TailSource
from ...usage import UsageFault, anthropic
from .dialect import release
from .rows import SYNTHETIC_MODEL, model_ref, same_model

__all__ = ["TRANSCRIPT"]

_Test: TypeAlias = Callable[[Mapping[str, Any]], bool]

# On every row of the conversation in 1.0.17 to 2.1.332, and in no other agent's rows.
_CONVERSATION_KEYS = frozenset(
    {"isSidechain", "parentUuid", "sessionId", "timestamp", "type", "userType", "uuid", "version"}
)


class _End(Enum):
    """Why a walk up the ancestry ended without the row it was looking for."""

    ROOT = "the conversation begins here"
    LOST = "the parent is not among the rows before its child"


def _extract(tail: Tail, query: Query) -> Evidence | NeedMore:
    thread = _Thread.asked_for(tail, query)
    response = _standing_response(thread, query)
    if not isinstance(response, Row):
        return response
    if "parent_tool_use_id" in response.value and "parentUuid" not in response.value:
        # A frame of the live stream: its sub-agents could not be told from the rest.
        return Gap(reason=MissingReason.SOURCE_MALFORMED)
    gap = _turn_gap(thread, response, query)
    if gap is None:
        return _measured(thread, response)
    if gap == _OTHER_TURN and query.phase is Phase.TERMINAL:
        return _ended_turn(thread, response, query)
    return gap


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
    def asked_for(cls, tail: Tail, query: Query) -> _Thread:
        """Return the conversation that *query* asks for: by default that of the newest row.

        A file can hold several sessions: 1.0.x copied the resumed session's rows into a new file.
        """
        asked = cls(tail, query.agent_id, query.session_id, anonymous=query.session_id is None)
        if query.session_id is not None:
            return asked
        newest = asked.newest(lambda row: _session(row) is not None, b'"user"', b'"assistant"')
        return asked if newest is None else evolve(asked, session_id=_session(newest.value))

    def holds(self, row: Row) -> bool:
        """Tell whether *row* belongs to this conversation."""
        session_id = _session(row.value)
        if self.session_id is None or session_id == self.session_id:
            return self._is_abreast(row.value)
        return session_id is None and self.anonymous and self._is_abreast(row.value)

    def _is_abreast(self, row: Mapping[str, Any]) -> bool:
        if self.agent_id is not None:
            return row.get("agentId") == self.agent_id
        # Anthropic's own reader skips the same rows (formats/claude.md §1.5).
        return not (row.get("isSidechain") or row.get("agentId") or row.get("teamName"))

    def newest(self, test: _Test, *needles: bytes, before: int | None = None) -> Row | None:
        """Return the newest row of the conversation that passes *test*."""
        rows = self.tail.rows(*needles, before=before)
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


def _session(row: Mapping[str, Any]) -> str | None:
    # Rows of 2.1.229 and later can carry both spellings.
    return text(row, "sessionId") or text(row, "session_id")


def _message(row: Mapping[str, Any]) -> Mapping[str, Any]:
    message = row.get("message")
    return message if isinstance(message, dict) else {}


def _time(row: Row) -> datetime | None:
    return instant(row.value.get("timestamp"))


def _is_response(row: Mapping[str, Any]) -> bool:
    """Tell whether *row* is a block of a model's response; interrupted ones count.

    Claude Code's own meter counts an interrupted response too (observed_runs.md).
    """
    return (
        row.get("type") == "assistant"
        and _message(row).get("model") != SYNTHETIC_MODEL
        and not row.get("isApiErrorMessage")
    )


def _is_boundary(row: Mapping[str, Any]) -> bool:
    """Tell whether *row* marks a compaction; a microcompaction keeps the conversation."""
    return row.get("type") == "system" and row.get("subtype") == "compact_boundary"


def _is_summary(row: Mapping[str, Any]) -> bool:
    return row.get("type") == "user" and row.get("isCompactSummary") is True


def _is_leaf(row: Mapping[str, Any]) -> bool:
    is_message = row.get("type") == "user" or _is_response(row)
    return _is_boundary(row) or (is_message and not row.get("isMeta"))


# -- the response that the conversation stands on ---------------------------------------------


def _standing_response(thread: _Thread, query: Query) -> Row | Gap | NeedMore:
    """Return the last row of the response that the next request would build on."""
    leaf = thread.newest(_is_leaf, b'"user"', b'"assistant"', b'"compact_boundary"')
    if leaf is None:
        return _nothing_seen(thread, query)
    latest = thread.newest(_is_response, b'"assistant"')
    found = thread.climb(leaf, lambda row: _is_boundary(row) or _is_response(row))
    if found is _End.LOST:
        return thread.lost()
    if found is _End.ROOT:
        return _unanswered(thread, latest)
    if _is_boundary(found.value):
        return _compacted(thread, found)
    if latest is None or not thread.holds(found):
        return Gap(reason=MissingReason.CARRIED_OVER)
    compacted = _voiding_compaction(thread, found)
    if compacted is not None:
        return compacted
    if not _is_block_of(thread, found, latest):
        return Gap(reason=MissingReason.REWOUND)
    if "forkedFrom" in latest.value:
        # The SDK's fork_session copies rows and dates the last one anew.
        return Gap(reason=MissingReason.CARRIED_OVER)
    return _if_its_own(thread, latest)


def _is_block_of(thread: _Thread, block: Row, response: Row) -> bool:
    """Tell whether *block* is a row of the response whose last row is *response*.

    Parallel tools leave the leaf's chain without some of its rows, and results of tools can stand
    between them (2.1.37). A prompt cannot: a gateway may give every message the same id.
    """
    if block.offset == response.offset:
        return True
    message_id = _message(block.value).get("id")
    if message_id is None or message_id != _message(response.value).get("id"):
        return False
    met = thread.climb(response, lambda row: row is block.value or _asks(row))
    return isinstance(met, Row) and met.offset == block.offset


def _nothing_seen(thread: _Thread, query: Query) -> Gap | NeedMore:
    """Name the gap of a window without a single message of the conversation."""
    rows = list(thread.tail.rows(b'"sessionId"', b'"session_id"'))
    sessions = {_session(row.value) for row in rows} - {None}
    if query.session_id is not None and sessions and query.session_id not in sessions:
        return thread.gap(
            MissingReason.SESSION_MISMATCH, unless_truncated=MissingReason.SESSION_MISMATCH
        )
    if any(map(thread.holds, rows)):
        reason = MissingReason.NOT_MEASURED_YET
    elif sessions:  # sub-agents only
        reason = MissingReason.SESSION_MISMATCH
    else:
        reason = MissingReason.SESSION_NOT_FOUND
    return thread.gap(reason, unless_truncated=MissingReason.BUDGET_EXHAUSTED)


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


def _if_its_own(thread: _Thread, response: Row) -> Row | NeedMore:
    """Return *response*, or ask for the row before it, by which a preserved one is told.

    Written again behind a compaction, it hangs off the summary. A row that hangs off another
    preserved one is not told where the window has cut the summary off: nothing in it could.
    """
    if not thread.tail.truncated:
        return response
    message_id = _message(response.value).get("id")
    first = response
    while isinstance(before := thread.parent(first), Row):
        if _message(before.value).get("id") != message_id:
            return response
        first = before
    if before is _End.ROOT or _is_behind_a_long_row(thread.tail, first):
        return response
    return NeedMore(_CUT_OFF)


def _is_behind_a_long_row(tail: Tail, row: Row) -> bool:
    """Tell whether *row* directly follows a row that the window cuts and that is no summary."""
    is_first = next(tail.rows(before=row.offset), None) is None
    return is_first and tail.cut_off > _LONGER_THAN_A_SUMMARY


def _voiding_compaction(thread: _Thread, response: Row | None) -> Gap | NeedMore | None:
    """Return the gap if a compaction in the window made *response* void.

    Rows that a compaction preserves can be written again behind it, with their old time and usage
    (formats/claude.md §1.7). The summary stands in for a boundary that the window has cut off.
    """
    boundary = thread.newest(_is_boundary, b'"compact_boundary"')
    summary = thread.newest(_is_summary, b'"isCompactSummary"')
    marks = [mark for mark in (boundary, summary) if mark is not None]
    if not marks:
        return None
    is_valid = (
        response is not None
        and all(_follows(response, mark) for mark in marks)
        and response.value.get("uuid") not in _preserved(boundary)
        and not _is_written_again(thread, response)
    )
    is_cut_off = boundary is None and thread.tail.truncated
    is_cut_off = is_cut_off and thread.parent(marks[0]) is _End.LOST
    if not is_valid:
        gap = _compacted(thread, marks[0])
        return NeedMore(gap) if is_cut_off else gap
    return NeedMore(_CUT_OFF) if is_cut_off else None


def _is_written_again(thread: _Thread, response: Row) -> bool:
    """Tell whether *response* stands in the window before, too: clocks can be set back."""
    uuid = text(response.value, "uuid")
    if uuid is None or "\n" in uuid:
        return False
    message_id = _message(response.value).get("id")
    return any(
        row.value.get("uuid") == uuid and _message(row.value).get("id") == message_id
        for row in thread.tail.rows(uuid.encode(), before=response.offset)
    )


def _follows(response: Row, mark: Row) -> bool:
    """Tell whether *response* was both written and received after *mark*."""
    received, marked = _time(response), _time(mark)
    if received is None or marked is None:
        return False
    return response.offset > mark.offset and received > marked


def _preserved(boundary: Row | None) -> list[object]:
    """Return the ids of the rows that a compaction kept."""
    metadata = {} if boundary is None else _compaction(boundary)
    messages, segment = metadata.get("preservedMessages"), metadata.get("preservedSegment")
    kept: list[object] = []
    if isinstance(messages, dict):
        for key in ("uuids", "allUuids"):
            uuids = messages.get(key)
            kept += uuids if isinstance(uuids, list) else []
    if isinstance(segment, dict):
        kept += (segment.get("headUuid"), segment.get("tailUuid"))
    return [uuid for uuid in kept if uuid is not None]


def _compaction(boundary: Row) -> Mapping[str, Any]:
    metadata = boundary.value.get("compactMetadata")
    return metadata if isinstance(metadata, dict) else {}


def _compacted(thread: _Thread, boundary: Row) -> Gap:
    """Return the gap that a compaction leaves, with Claude Code's estimate of what remains.

    ``postTokens`` (since about 2.1.1xx) counts the conversation only, not the system prompt and the
    tools: 930 where the next request had 9,005 (observed_runs.md).
    """
    estimate = _compaction(boundary).get("postTokens")
    known = is_count(estimate)
    return Gap(
        reason=MissingReason.COMPACTED,
        partial=Partial(
            used_tokens=estimate if known else None,
            measured_at=_time(boundary),
            estimated=known,
        ),
        runtime_version=_version(boundary),
        model=_model_since(thread, boundary),
    )


def _model_since(thread: _Thread, boundary: Row) -> ModelRef | None:
    """Return the model that 2.1.251 and later name again behind a compaction."""
    attached = thread.newest(_names_model, b'"modelId"')
    if attached is None or attached.offset < boundary.offset:
        return None
    named = _attached_model(attached)
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
    message_id = _message(block.value).get("id")
    last = thread.newest(
        lambda row: _is_response(row) and _message(row).get("id") == message_id,
        b'"assistant"',
        before=until.offset,
    )
    return last if last is not None and _is_block_of(thread, block, last) else block


def _response_before(thread: _Thread, response: Row) -> Row | _End:
    """Return the response that the turn of *response* builds on, by its last row on the chain."""
    request = thread.climb(response, _decides_turn)
    if isinstance(request, _End):
        return request
    return thread.climb(request, _is_response)


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
    received = _time(response)
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
    received = _time(response)
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
    content = _message(row).get("content")
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
    """Return the usage of *response*, which decides even where it is missing or wrong.

    Passing over it would show the size of the context before a response of unknown size.
    """
    if response.has_duplicate_keys():
        return Gap(reason=MissingReason.SOURCE_MALFORMED, runtime_version=_version(response))
    model = _model(thread, response)
    usage = anthropic(_message(response.value).get("usage"))
    if isinstance(usage, UsageFault):
        return evolve(Gap.of_usage(usage), runtime_version=_version(response), model=model)
    return UsedTokens(
        usage=usage,
        used_basis=UsedBasis.PROMPT,
        model=model,
        measured_at=_time(response),
        runtime_version=_version(response),
        identity=_identity(thread, response),
    )


def _identity(thread: _Thread, response: Row) -> tuple[str, ...]:
    """Return what all block rows of *response* share, in every phase."""
    named = text(_message(response.value), "id") or text(response.value, "uuid")
    if named is None:
        return ()
    return (_session(response.value) or "", thread.agent_id or "", named)


def _version(row: Row) -> str | None:
    version = text(row.value, "version")
    return None if release(version) is None else version


def _model(thread: _Thread, response: Row) -> ModelRef | None:
    """Return the model of *response*, with the long-context marker of the best evidence for it."""
    message = _message(response.value)
    model = model_ref(message.get("model"), message_id=message.get("id"))
    if model is None:
        return None
    for requested in _requested_models(thread, response, model):
        marked = model_ref(message.get("model"), requested=requested, message_id=message.get("id"))
        if marked is not None and marked.long_context_marker is not None:
            return marked
    return model


def _requested_models(thread: _Thread, response: Row, model: ModelRef) -> Iterator[object]:
    """Yield what names the model as it was asked for, the strongest first (models.md §2.2).

    ``requestedModel`` exists since 2.1.295, the other two since 2.1.251. The ledger counts a
    response only if it is written after it, and only one entry for its model can be its own.
    """
    yield response.value.get("requestedModel")
    attached = thread.newest(_names_model, b'"modelId"', before=response.offset)
    if attached is not None:
        yield _attached_model(attached)
    ledger = thread.newest(_is_ledger, b'"cost-state"')
    if ledger is not None and ledger.offset > response.offset:
        entries = [
            name
            for name in ledger.value["modelUsage"]
            if name and same_model(ModelRef.as_started(name).id, model.id)
        ]
        if len(entries) == 1:
            yield entries[0]


def _names_model(row: Mapping[str, Any]) -> bool:
    attachment = row.get("attachment")
    return (
        row.get("type") == "attachment"
        and isinstance(attachment, dict)
        and attachment.get("type") == "model"
        and isinstance(attachment.get("identity"), dict)
    )


def _attached_model(row: Row) -> object:
    return row.value["attachment"]["identity"].get("modelId")


def _is_ledger(row: Mapping[str, Any]) -> bool:
    return row.get("type") == "cost-state" and isinstance(row.get("modelUsage"), dict)


def _recognise(row: Mapping[str, Any]) -> bool:
    """Tell a row of the conversation: Qwen Code's have the same tree, but no ``userType``."""
    return row.keys() >= _CONVERSATION_KEYS


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
)
