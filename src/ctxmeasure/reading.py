"""The verb: read within a budget, extract, judge.

Ties the floors below together for one question: `bounded` reads, the source's adapter extracts,
`assess` judges. Wrong arguments raise; bad data becomes a `Missing`. The clock is read here, and
only when the caller gives no ``at``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from os import PathLike
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from .assess import DEFAULT_POLICY, Policy, assess
from .bounded.budget import KIB, MIB, ReadBudget, ReadFault, ReadStats
from .bounded.extent import ReadableSource
from .bounded.jsonl import TailReader
from .bounded.keys import Key, KeyValues, Value
from .bounded.payload import read_object
from .capability.model import ModelRef
from .evidence import Evidence, Gap, NeedKeys, NeedMore, Phase, Query
from .observation import MissingReason, Observation
from .registry import find
from .source import PayloadSource, Source, StoreSource, StreamSource, TailSource

if TYPE_CHECKING:
    from .bounded.sqlite import SqliteReader

__all__ = ["Readable", "observe"]

Readable: TypeAlias = str | PathLike[str] | BinaryIO | bytes | Mapping[str, Any]
"""What can be read: a path, a binary file object, the bytes themselves, or a decoded object."""

# An active turn's prompt can lie far back: 99 % of real ones lie within 2 MB (formats/claude.md
# §1.5). The last sample of a session lies within 256 KiB in 97 %.
_ACTIVE_BUDGET = ReadBudget(maximum=4 * MIB)
_BUDGET = ReadBudget(maximum=256 * KIB)
_PAYLOAD_BUDGET = ReadBudget(maximum=4 * MIB)  # a full get_context_usage answer lists every tool
# A chat's document names each of its messages: several MB at 8,799 (formats/cursor.md §2.1).
_STORE_BUDGET = ReadBudget(maximum=16 * MIB)
_STORE_ROUNDS = 4  # which session, its document, the lists of sessions, the rows they point to


def observe(
    source: Source | str,
    data: Readable,
    *,
    session_id: str | None = None,
    turn_id: str | None = None,
    turn_started_at: datetime | None = None,
    agent_id: str | None = None,
    phase: Phase = Phase.LATEST,
    at: datetime | None = None,
    model: str | ModelRef | None = None,
    limit_tokens: int | None = None,
    query: Query | None = None,
    policy: Policy = DEFAULT_POLICY,
    budget: ReadBudget | None = None,
) -> Observation:
    """Return how full the context window is, as *source* shows it in *data*.

    Args:
        source: A `Source`, or its id such as ``"claude.transcript"``.
        data: A path (str or path-like), a binary file object, the bytes themselves, or a mapping
            that is already decoded: a payload, or one line of a stream.
        session_id: The agent's own session id; None takes the session that the data show.
        turn_id: The agent's own id of the sample's turn (Claude Code: ``prompt_id``).
        turn_started_at: When the turn began (aware): a sample from before is not of this turn.
        agent_id: A sub-agent's id, to measure it instead of the main chain.
        phase: When in the life of the turn the question is asked.
        at: The moment of the question (aware); None: now. A payload or stream line without a clock
            of its own counts as measured when it was received: at this moment, or when the file
            that it lies in was last written, if that is earlier.
        model: The model as the agent was started with it (``claude-opus-4-6[1m]``): settles what
            the data leave open, never overrides them.
        limit_tokens: A limit the caller declares, in tokens; stands in for any other limit.
        query: The whole question, as `claude.query_from_hook` makes it; instead of all above.
        policy: What the caller accepts.
        budget: How much may be read; None: 256 KiB, 4 MiB (active turn, payload), 16 MiB (store).

    Returns:
        `Observed`, or `Missing` with a named reason; also for unreadable or malformed data.

    Raises:
        TypeError: An argument has the wrong type (the message names it).
        ValueError: An argument has an impossible value (the message names it).
    """
    if not isinstance(source, TailSource | PayloadSource | StreamSource | StoreSource):
        source = find(source)
    parts = {
        "at": at,
        "session_id": session_id,
        "turn_id": turn_id,
        "turn_started_at": turn_started_at,
        "agent_id": agent_id,
        "model": model,
        "limit_tokens": limit_tokens,
    }
    asked = _asked(query, phase, parts)
    _check(policy, budget)
    evidence, stats = _read(source, data, asked, budget)
    return assess(evidence, origin=source.origin, query=asked, policy=policy, stats=stats)


def _asked(query: Query | None, phase: Phase, parts: dict[str, Any]) -> Query:
    """Return the whole question: *query*, or one of its *parts*; the clock is read if none is."""
    if query is None:
        at = datetime.now(UTC) if parts["at"] is None else parts["at"]
        return Query(**{**parts, "phase": phase, "at": at})
    if not isinstance(query, Query):
        raise TypeError("query: expected a Query")
    if phase is not Phase.LATEST or any(part is not None for part in parts.values()):
        raise TypeError("query: expected no other part of the question beside it")
    return query


def _check(policy: object, budget: object) -> None:
    if not isinstance(policy, Policy):
        raise TypeError("policy: expected a Policy")
    if budget is not None and not isinstance(budget, ReadBudget):
        raise TypeError("budget: expected a ReadBudget")


def _read(
    source: Source, data: Readable, asked: Query, budget: ReadBudget | None
) -> tuple[Evidence, ReadStats]:
    if isinstance(source, StoreSource):
        return _read_store(source, data, asked, budget or _STORE_BUDGET)
    if isinstance(data, Mapping):
        return _of_object(source, data, asked), ReadStats()
    if isinstance(source, PayloadSource):
        return _read_payload(source, data, asked, budget or _PAYLOAD_BUDGET)
    if budget is None:
        budget = _ACTIVE_BUDGET if asked.phase is Phase.ACTIVE else _BUDGET
    head = source.head if isinstance(source, TailSource) else 0
    reader = TailReader.open(data, budget, head=head)
    refusal = source.refusal(asked) if isinstance(source, StreamSource) else None
    if isinstance(reader, ReadFault):
        return refusal or _fault(reader), ReadStats()
    with reader:
        if refusal is not None:
            evidence: Evidence = refusal
        elif isinstance(source, TailSource):
            evidence = _read_tail(source, reader, asked)
        else:
            evidence = _read_stream(source, reader, asked)
        return evidence, reader.stats


def _of_object(source: Source, decoded: Mapping[str, Any], asked: Query) -> Evidence:
    """Return what one decoded object shows: a payload, or a line that is all of a stream."""
    match source:
        case PayloadSource():
            return source.extract(decoded, asked)
        case StreamSource():
            return source.evidence(source.step(source.initial, decoded, asked), asked)
        case _:
            raise TypeError("data: expected a path, a binary file object or bytes")


def _read_payload(
    source: PayloadSource, data: ReadableSource, asked: Query, budget: ReadBudget
) -> tuple[Evidence, ReadStats]:
    payload = read_object(data, budget)
    if isinstance(payload, ReadFault):
        return _fault(payload), ReadStats()
    return source.extract(payload.value, _received(asked, payload.modified_at)), payload.stats


def _read_store(
    source: StoreSource, data: Readable, asked: Query, budget: ReadBudget
) -> tuple[Evidence, ReadStats]:
    from .bounded.sqlite import SqliteReader  # noqa: PLC0415 - only readers of stores pay for it

    if not isinstance(data, str | PathLike):
        raise TypeError("data: expected a path")
    reader = SqliteReader.open(data, budget)
    if isinstance(reader, ReadFault):
        return _fault(reader), ReadStats()
    with reader:
        return _read_keys(source, reader, asked), reader.stats


def _read_keys(source: StoreSource, reader: SqliteReader, asked: Query) -> Evidence:
    """Ask the adapter for evidence, with the keys it needs more in each round."""
    values = KeyValues(reader.modified_at)
    needed = source.extract(values, asked)
    for _ in range(_STORE_ROUNDS):
        if not isinstance(needed, NeedKeys):
            return needed
        read: dict[Key, Value] = {}
        for key in needed.keys:
            value = reader.read(key)
            if isinstance(value, ReadFault):
                return _fault(value)
            read[key] = value
        values = values.with_read(read)
        needed = source.extract(values, asked)
    return needed.fallback if isinstance(needed, NeedKeys) else needed


def _read_tail(source: TailSource, reader: TailReader, asked: Query) -> Evidence:
    """Ask the adapter for evidence, with twice the window for as long as it needs more."""
    if source.reaches:
        reader.reach(*source.reaches)
    while True:
        match source.extract(reader.tail, asked):
            case NeedMore() as need:
                if not reader.grow():
                    return _stopped(reader) or _malformed(reader) or need.settled()
            case Gap() as gap:
                return _malformed(reader) or gap
            case evidence:
                return evidence


def _read_stream(source: StreamSource[Any], reader: TailReader, asked: Query) -> Evidence:
    """Replay what the window holds of a recorded stream."""
    while reader.grow():
        pass
    asked = _received(asked, reader.modified_at)
    state = source.initial
    for row in reversed(list(reader.tail.rows())):
        after = source.step(state, row.value, asked)
        if after is not state and not row.has_duplicate_keys():  # as the live stream has it
            state = after
    evidence = source.evidence(state, asked)
    if isinstance(evidence, Gap) and evidence.reason is MissingReason.NOT_MEASURED_YET:
        unseen = Gap(reason=MissingReason.BUDGET_EXHAUSTED) if reader.tail.truncated else None
        return _stopped(reader) or _malformed(reader) or unseen or evidence
    return evidence


def _stopped(reader: TailReader) -> Gap | None:
    """Return what kept the window from growing, where that says more than the adapter can."""
    if reader.fault is not None:
        return _fault(reader.fault)
    if reader.tail.no_complete_row:
        return Gap(reason=MissingReason.BUDGET_EXHAUSTED)
    return None


def _malformed(reader: TailReader) -> Gap | None:
    """Return the gap of a window without a row, where a torn last line cannot be all there is."""
    if reader.stats.rows_decoded or next(reader.tail.rows(), None) is not None:
        return None
    return Gap(reason=MissingReason.SOURCE_MALFORMED) if reader.stats.rows_skipped > 1 else None


def _received(asked: Query, modified_at: datetime | None) -> Query:
    """Return the question as of when its data were received: a file's, when that was written.

    That is the latest they can have been. A file that is dated later than the question (another
    machine's clock, a copy that is asked about as of then) tells nothing: the question's own moment
    is the latest then.
    """
    if modified_at is None or modified_at >= asked.at:
        return asked
    return asked.as_of(modified_at)


def _fault(fault: ReadFault) -> Gap:
    return Gap(reason=MissingReason(fault.value))
