"""A Claude Code session file, played from its beginning: every response, and what voids one.

Only responses, and the boundaries and summaries of compactions, are given to the player. What else
can bear on a response lies between it and what the conversation stood on before, and is looked for
there, in the raw bytes, only where it is needed: the row that names the model, where the response
does not say what was asked for; and the response's ancestry, which tells whether the conversation
went back to an earlier row. Every row in recordings of 1.0.17 to 2.1.332 begins with its
``parentUuid``. Prompts and tools' results, most of the bytes, are not decoded: what only they show
(a rewind that no response has followed) is left to the file's end, which `transcript` reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias

from attrs import define, field

from ...bounded.decode import decode_object
from ...bounded.fields import nested, text
from ...bounded.jsonl import Row
from ...bounded.scan import RowScan
from ...capability.model import ModelRef
from ...evidence import Gap, Query
from ...observation import MissingReason
from ...source import Mark, Shown
from .conversation import (
    Compaction,
    attached_model,
    compacted,
    is_abreast,
    is_boundary,
    is_frame,
    is_response,
    is_summary,
    measured,
    message_of,
    names_itself,
    names_model,
    session_of,
    stated_parent,
    uuid_field,
)
from .rows import model_ref

__all__ = ["Conversation"]

_PROMPT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_NEVER = Compaction(None, None)

# Responses that a compaction preserves are the newest before it: seldom more than a few.
_KNOWN_AGAIN = 4_096

_Test: TypeAlias = Callable[[Mapping[str, Any]], bool]


@define
class _Session:
    """What has been seen of one session: a file can hold several (1.0.x copied the resumed one's).

    Attributes:
        compaction: The newest one.
        written: Where the newest responses' rows were first written, by which one that is written
            again is known.
        attached_model: What the newest row that names the model says.
        searched_to: Up to where such a row was looked for.
    """

    compaction: Compaction = _NEVER
    written: dict[tuple[object, object], int] = field(factory=dict)
    attached_model: object = None
    searched_to: int = 0

    def first_offset(self, response: Row) -> int:
        """Remember the row of a *response*; return where it was first written."""
        uuid = text(response.value, "uuid")
        if uuid is None:
            return response.offset
        row = (uuid, text(message_of(response.value), "id"))
        first = self.written.setdefault(row, response.offset)
        if len(self.written) > _KNOWN_AGAIN:
            del self.written[next(iter(self.written))]
        return first

    def voids(self, response: Row, first_offset: int) -> bool:
        """Tell whether the newest compaction made *response* void, or one that it repeats."""
        mark = self.compaction.mark
        if mark is None:
            return False
        return first_offset < mark.offset or self.compaction.voids(response)


@define
class _Standing:
    """What the conversation stands on: a response, or a compaction (no sample).

    Attributes:
        session_id: Whose session it is of.
        sample: What the rows of the response share.
        rows: Their ids; what hangs off one of them builds on it.
        offset: Where its first row begins.
    """

    session_id: str | None
    sample: object
    rows: set[object]
    offset: int


class Conversation:
    """Plays the main chain of a session file, or one sub-agent's; a `ctxmeasure.source.Player`."""

    def __init__(self, scan: RowScan, query: Query) -> None:
        self._scan = scan
        self._agent_id = query.agent_id
        self._asked_session_id = query.session_id
        self._session_id = query.session_id
        self._sessions = {query.session_id: _Session()}
        self._standing: _Standing | None = None
        self._requested: tuple[object, ...] = ()  # for the response that it stands on

    def take(self, row: Row) -> Shown | None:
        """Take the next row into account; return what the file shows now if that may be new."""
        value = row.value
        if not self._holds(value):
            return None
        if is_response(value):
            return None if value.get("isMeta") else self._respond(row)
        if is_boundary(value):
            self._session.compaction = Compaction(row, self._session.compaction.summary)
            return self._compact(row)
        return self._summarise(row) if is_summary(value) else None

    # -- whose row it is ----------------------------------------------------------------------

    def _holds(self, row: Mapping[str, Any]) -> bool:
        """Tell whether *row* is of the conversation, whose session is that of its newest row."""
        if not is_abreast(row, self._agent_id):
            return False
        session_id = session_of(row)
        if self._asked_session_id is not None:
            return session_id == self._asked_session_id
        if session_id is not None:
            self._session_id = session_id
        return True

    @property
    def _session(self) -> _Session:
        return self._sessions.setdefault(self._session_id, _Session())

    # -- a compaction -------------------------------------------------------------------------

    def _compact(self, row: Row) -> Shown:
        self._standing = _Standing(self._session_id, None, {row.value.get("uuid")}, row.offset)
        return self._shows_compaction(row, Mark.COMPACTED)

    def _summarise(self, row: Row) -> Shown | None:
        """Take a summary into account: up to 2.0.75 it is all that was seen of a compaction."""
        self._session.compaction = Compaction(self._session.compaction.boundary, row)
        standing = self._standing
        if standing is None or self._is_of_other(standing):
            return None  # of nothing that has been seen
        if standing.sample is None:
            standing.rows.add(row.value.get("uuid"))
            return None
        return None if self._is_lost(standing, row) else self._compact(row)

    def _shows_compaction(self, row: Row, mark: Mark | None) -> Shown:
        told_by = self._session.compaction.mark or row
        model = self._model_since(told_by, row)
        evidence = partial(compacted, told_by, model)
        return Shown(sample=MissingReason.COMPACTED, evidence=evidence, mark=mark)

    def _model_since(self, compaction: Row, row: Row) -> ModelRef | None:
        """Return the model that is named again behind a *compaction* and before *row*."""
        held = self._scan.between(compaction.offset, row.offset)
        attachment = held and self._newest(held, b'"modelId"', names_model)
        if not attachment:
            return None
        named = attached_model(attachment)
        return model_ref(named, requested=named)

    def _is_of_other(self, standing: _Standing) -> bool:
        return standing.session_id != self._session_id

    # -- a response ---------------------------------------------------------------------------

    def _void(self, row: Row) -> Shown | None:
        """Take a response into account that a compaction has made void."""
        standing = self._standing
        if standing is not None and standing.sample is None and not self._is_of_other(standing):
            return None  # this is what the file shows already
        self._standing = _Standing(self._session_id, None, {row.value.get("uuid")}, row.offset)
        return self._shows_compaction(row, None)

    def _respond(self, row: Row) -> Shown | None:
        sample, session, standing = _sample(row), self._session, self._standing
        first_offset = session.first_offset(row)
        if standing is not None and standing.sample == sample:
            standing.rows.add(text(row.value, "uuid"))
            return self._shown(row, sample, None)
        if session.voids(row, first_offset):
            return self._void(row)
        mark = self._stand(row, sample)
        self._requested = self._requested_models(row, session)
        return self._shown(row, sample, mark)

    def _shown(self, row: Row, sample: object, mark: Mark | None) -> Shown:
        reason = _refusal(row.value)
        if reason is not None:
            return Shown(sample=reason, evidence=partial(Gap, reason=reason), mark=mark)
        evidence = partial(measured, row, self._agent_id, self._requested)
        return Shown(sample=sample, evidence=evidence, mark=mark)

    def _requested_models(self, row: Row, session: _Session) -> tuple[object, ...]:
        """Return what names the model as it was asked for, the strongest first (models.md §2.2).

        The ledger that ends a session comes too late for any response but the last.
        """
        asked = row.value.get("requestedModel")
        named = model_ref(message_of(row.value).get("model"), requested=asked)
        if named is None or named.long_context_marker is not None:
            return (asked,)
        self._look_for_model(row, session)
        return asked, session.attached_model

    def _look_for_model(self, row: Row, session: _Session) -> None:
        skipped = self._scan.between(session.searched_to, row.offset)
        session.searched_to = row.offset
        if skipped is None:  # it may have been named anew where nobody looked
            session.attached_model = None
            return
        attachment = self._newest(skipped, b'"modelId"', names_model)
        if attachment is not None:
            session.attached_model = attached_model(attachment)

    def _newest(self, held: bytes, needle: bytes, test: _Test) -> Mapping[str, Any] | None:
        """Return the conversation's newest row in *held* that holds *needle* and passes *test*."""
        for _, line in _lines(held, needle):
            row = decode_object(line)
            if row is not None and test(row) and self._is_of_session(row):
                return row
        return None

    def _is_of_session(self, row: Mapping[str, Any]) -> bool:
        is_named = session_of(row) in (None, self._session_id)
        return is_named and is_abreast(row, self._agent_id)

    # -- what it builds on --------------------------------------------------------------------

    def _stand(self, row: Row, sample: object) -> Mark | None:
        """Let the conversation stand on *row*; return the mark if it left what it stood on."""
        before = self._standing
        self._standing = _Standing(self._session_id, sample, {text(row.value, "uuid")}, row.offset)
        if before is None or self._is_of_other(before):
            return None
        held = self._scan.between(before.offset, row.offset)
        is_rewound = held is not None and not self._builds_on(before, row, held)
        return Mark.REWOUND if is_rewound else None

    def _builds_on(self, standing: _Standing, row: Row, held: bytes) -> bool:
        """Tell whether *row* descends from what the conversation stood on.

        It does, as far as anyone can tell, if a row of its ancestry is nowhere to be found.
        """
        parent = _oldest_parent(row, standing.rows, held)
        if isinstance(parent, str) and parent not in standing.rows:
            return not self._is_older(parent, standing)
        return parent is not None

    def _is_lost(self, standing: _Standing, row: Row) -> bool:
        """Tell whether a row of the ancestry of *row* is nowhere to be found."""
        held = self._scan.between(standing.offset, row.offset)
        parent = None if held is None else _oldest_parent(row, standing.rows, held)
        if not isinstance(parent, str) or parent in standing.rows:
            return False
        return not self._is_older(parent, standing)

    def _is_older(self, uuid: str, standing: _Standing) -> bool:
        older = self._scan.between(self._scan.held_from, standing.offset)
        return older is not None and _found(older, uuid) is not None


def _refusal(response: Mapping[str, Any]) -> MissingReason | None:
    """Return why *response* is none of this conversation's, if it is not."""
    if is_frame(response):
        return MissingReason.SOURCE_MALFORMED
    # The SDK's fork_session copies rows and dates the last one anew.
    return MissingReason.CARRIED_OVER if "forkedFrom" in response else None


def _sample(response: Row) -> object:
    """Return what the block rows of one response share.

    Their prompt is the same in all of them (21,031 of 21,031 responses, formats/claude.md §0.7),
    and tells two responses apart that a gateway gave the same id.
    """
    message = message_of(response.value)
    usage = nested(message, "usage")
    named = text(message, "id") or response.offset
    return (session_of(response.value), named, *(usage.get(count) for count in _PROMPT))


# -- raw rows -------------------------------------------------------------------------------------


def _oldest_parent(row: Row, known: set[object], held: bytes) -> object:
    """Return the first ancestor of *row* that is *known* or not in *held*; None: there is none."""
    parent, end = row.value.get("parentUuid"), None
    while isinstance(parent, str) and parent not in known:
        found = _found(held, parent, end)
        if found is None:
            break
        parent, end = found
    return parent


def _found(held: bytes, uuid: str, end: int | None = None) -> tuple[object, int] | None:
    """Return the parent of the row *uuid* in ``held[:end]``, and where that row begins."""
    for start, line in _lines(held, uuid_field(uuid), end):
        parent = stated_parent(line)
        if parent is None or not names_itself(line, uuid):
            break
        return parent, start
    for start, line in _lines(held, uuid.encode(), end):
        row = decode_object(line)
        if row is not None and row.get("uuid") == uuid:
            return row.get("parentUuid"), start
    return None


def _lines(held: bytes, needle: bytes, end: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield each line of ``held[:end]`` with *needle* and where it begins, the last one first.

    What is held ends with a line's end, and so does what lies before *end*.
    """
    while (hit := held.rfind(needle, 0, end)) >= 0:
        end = held.rfind(b"\n", 0, hit) + 1
        yield end, held[end : held.find(b"\n", hit)]
