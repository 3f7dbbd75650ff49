"""The rows of a rollout's window, played forward: where the meter stood, and what each turn added.

A ``token_count`` names no turn: it belongs to the turn by position. Since 0.155 every response
also leaves a ``token_usage_record``, which names thread, turn and response, before its tools run;
its ``token_count`` follows after them. The traps, all of which look like a fresh row:

- the last ``info`` written again, in the next turn too: at every request up to 0.130, since then at
  an interruption, a failure and the start of a compaction;
- the request that a compaction itself makes, just before ``compacted``. No output of the
  conversation stands beside it: no ``agent_message`` (up to 0.130), no completed ``AgentMessage``,
  no tool call. It is held back until there is one;
- Codex's own estimate, after (2025: just before) ``compacted``, and before ``thread_rolled_back``;
- the marker of an exceeded window; rows copied from a parent (formats/codex.md §1.5-1.8).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from attrs import define, evolve, field, frozen

from ...bounded.fields import instant, is_limit, nested, text
from ...bounded.jsonl import Row, Tail
from ...capability.model import ModelRef
from ...observation import MissingReason
from ...usage import TokenUsage, UsageFault, codex
from .thread import Thread
from .usage_info import Estimate, WindowExceeded, last_request, model_ref, stated_window

__all__ = [
    "Limit",
    "Replay",
    "Reported",
    "Turn",
    "Void",
    "is_bulk",
    "replay",
    "replay_last_request",
]

Limit: TypeAlias = int | MissingReason | None
"""A window in tokens, what a row lacks in its place, or None where no row of it was seen."""

# How Codex has begun its rows since 0.36: up to the type of the payload it is about 110 bytes.
_BEGINNING = b'{"timestamp":"'
_ENVELOPE = 160
# Of completed items, only these two matter; the others hold what tools printed, half of all bytes.
_ITEMS = (b'"AgentMessage"', b'"ContextCompaction"')
# Behind the ids of thread and turn, as all versions write it.
_ITEM = b'"item":{"type":'
_ITEM_WITHIN = 320

# What an earlier request of the same turn leaves, which the last one replaces.
_REPLACED = re.compile(
    rb'\{"timestamp":"[^"]*",(?:"ordinal":[0-9]+,)?"type":"(?:response_item"|token_usage_record"'
    rb'|event_msg","payload":\{"type":"(?:token_count|agent_message|item_completed)")'
)

_RECORD = "token_usage_record"
_KEPT_TURNS = 64  # one runs at a time; a row names its own turn or the last one
_CONTEXT_REPLACED = (MissingReason.COMPACTED, MissingReason.REWOUND)


@frozen(kw_only=True)
class Reported:
    """The usage of one request of the conversation, as the server reported it.

    Attributes:
        usage: The usage.
        limit: The window of its own row; of its turn while that row is not written.
        measured_at: When the row was first written, never when it was repeated.
        turn_id: Its turn, or None.
        model: The model of its turn, or None.
        identity: What its record and its ``token_count`` share, or the row's own clock.
        row: The row that states it.
        limit_row: A later row that states the limit, or None.
        is_original: It is known to be no repetition.
    """

    usage: TokenUsage
    limit: Limit
    measured_at: datetime | None
    turn_id: str | None = field(repr=False)
    model: ModelRef | None
    identity: tuple[str, ...] = field(repr=False)
    row: Row = field(repr=False)
    limit_row: Row | None = field(default=None, repr=False)
    is_original: bool = True

    def has_duplicate_keys(self) -> bool:
        """Tell whether a row that it rests on names a key twice."""
        rows = (self.row, self.limit_row)
        return any(row is not None and row.has_duplicate_keys() for row in rows)


@frozen(kw_only=True)
class Void:
    """The context has no reported count at present.

    Attributes:
        reason: Why.
        estimated_tokens: Codex's own estimate of it, or None.
        limit: The window of the row.
        measured_at: When the row was written.
        turn_id: The turn in which it happened, or None.
        model: The model of the turn, or None.
        row: The row that says so.
        is_original: It is known to be no repetition.
    """

    reason: MissingReason
    estimated_tokens: int | None = None
    limit: Limit
    measured_at: datetime | None
    turn_id: str | None = field(repr=False)
    model: ModelRef | None
    row: Row = field(repr=False)
    is_original: bool = True


@define
class Turn:
    """A turn of the thread's own, as far as the window shows it.

    Attributes:
        id: Its id.
        begins_here: Its first row is in the window.
        stated_window: The window that its first row states.
        window: The window that is in force by now.
        shows: The last that happened to the meter in it.
        repeats: It shows an older turn's ``info``.
        may_repeat: It shows an ``info`` that may be older than the window.
        is_over: It has ended, with or without a row that says so.
        ended_at: When, by that row.
    """

    id: str = field(repr=False)
    begins_here: bool = False
    stated_window: Limit = None
    window: Limit = None
    shows: Reported | Void | None = None
    repeats: bool = False
    may_repeat: bool = False
    is_over: bool = False
    ended_at: datetime | None = None


@define
class Replay:
    """Where the meter stands after the rows that were played.

    Attributes:
        thread: The file's thread.
        is_whole: The window holds the file's beginning.
        shows: The last that happened to the meter.
        turn: The turn that is running, or None.
        turns: The thread's own turns by id, in order.
        lacks_turn_ids: A ``turn_context`` names no turn (up to 0.98).
        carries_over: Numbers of a parent or of an earlier state were seen.
    """

    thread: Thread
    is_whole: bool
    shows: Reported | Void | None = None
    turn: Turn | None = None
    turns: dict[str, Turn] = field(factory=dict, repr=False)
    lacks_turn_ids: bool = False
    carries_over: bool = False
    # Between rows: what waits for an output or for its token_count, and what the next row repeats.
    _held_back: Reported | None = None
    _unmatched: Reported | None = None
    _is_answered: bool = False
    _last_sums: tuple[object, object] | None = field(default=None, repr=False)
    _knows_last_sums: bool = False
    _context: Mapping[str, Any] = field(factory=dict, repr=False)
    _is_inherited: bool = False
    _is_over: bool = False

    def __attrs_post_init__(self) -> None:
        self._is_inherited = self.thread.is_offspring
        self._knows_last_sums = self.is_whole and not self.thread.is_offspring

    @classmethod
    def from_the_first_row(cls, first: Row | None) -> Replay:
        """Return the state before any row of a file that begins with the row *first*."""
        return cls(Thread.begun_by(None if first is None else first.value), is_whole=True)

    def forget_old_turns(self) -> None:
        """Let go of turns that nothing can come back to, so that a long file costs no memory."""
        if len(self.turns) <= _KEPT_TURNS:
            return
        shown = None if self.shows is None else self.shows.turn_id
        for turn_id in [*self.turns][: -_KEPT_TURNS // 2]:
            if turn_id != shown:
                del self.turns[turn_id]

    def begin_within(self, turn_id: str | None) -> None:
        """Begin in the middle of a turn: the window has cut off its first row."""
        if turn_id is not None and self._claims(turn_id):
            self.turn = self.turns[turn_id] = Turn(turn_id)

    def play(self, row: Row) -> None:
        """Take the next row into account."""
        ordinal = row.value.get("ordinal")
        if self._is_over or (type(ordinal) is int and ordinal < self.thread.first_own_ordinal):
            return
        step = _step_of(row)
        if step is not None:
            step(self, row, nested(row.value, "payload"))

    # -- turns --------------------------------------------------------------------------------

    def _claims(self, turn_id: str | None) -> bool:
        """Tell whether what follows is the thread's own, now that a row names its turn."""
        owned = self.thread.owns(turn_id)
        if owned is not None:
            self._is_inherited = not owned
        return not self._is_inherited

    def on_session_meta(self, _: Row, payload: Mapping[str, Any]) -> None:
        """A second one is a parent's, whose rows follow; a later thread's ends the file for us."""
        named = text(payload, "id")
        if named is None or named == self.thread.id:
            return
        self._is_inherited = True
        # Appended behind: no ancestor's, so nothing that follows is this thread's.
        self._is_over = self.thread.is_older_than(named)

    def on_turn_started(self, row: Row, payload: Mapping[str, Any]) -> None:
        """A turn begins, the thread's own or one that was copied."""
        if self.turn is not None:
            self.turn.is_over = True  # its process was killed: it wrote no end
        self._held_back, self._is_answered, self.turn = None, False, None
        turn_id = text(payload, "turn_id")
        if turn_id is not None and self._claims(turn_id):
            is_clear = not row.has_duplicate_keys()
            window = stated_window(payload) if is_clear else MissingReason.LIMIT_INVALID
            self.turn = self.turns[turn_id] = Turn(
                turn_id, begins_here=True, stated_window=window, window=window
            )

    def on_turn_context(self, _: Row, payload: Mapping[str, Any]) -> None:
        """A turn (up to 0.98: a request) states its model."""
        self._context = payload
        self._held_back, self._is_answered = None, False
        self.lacks_turn_ids = self.lacks_turn_ids or text(payload, "turn_id") is None

    def on_turn_completed(self, row: Row, payload: Mapping[str, Any]) -> None:
        """A turn ends by itself; a compaction would have written ``compacted`` before."""
        self._settle()
        self.on_turn_aborted(row, payload)

    def on_turn_aborted(self, row: Row, payload: Mapping[str, Any]) -> None:
        """A turn ends."""
        self._held_back, self._is_answered = None, False
        turn_id = text(payload, "turn_id")
        turn = self.turn if turn_id is None else self.turns.get(turn_id)
        if turn is not None:
            turn.is_over, turn.ended_at = True, _time(row)
        if turn is self.turn:
            self.turn = None

    # -- outputs ------------------------------------------------------------------------------

    def on_output(self, _: Row, __: Mapping[str, Any]) -> None:
        """The model has said something in the conversation."""
        self._settle()
        self._is_answered = True

    def on_response_item(self, row: Row, payload: Mapping[str, Any]) -> None:
        """A call of a tool is an output; a message alone may be a compaction's summary."""
        if (text(payload, "type") or "").endswith("_call"):
            self.on_output(row, payload)

    def on_item_completed(self, row: Row, payload: Mapping[str, Any]) -> None:
        """An item of the conversation is complete (since 0.138)."""
        if text(payload, "thread_id") != self.thread.id and self.thread.id is not None:
            return
        match nested(payload, "item").get("type"):
            case "AgentMessage":
                self.on_output(row, payload)
            case "ContextCompaction":
                self.on_compacted(row, payload)

    # -- the meter ----------------------------------------------------------------------------

    def on_record(self, row: Row, payload: Mapping[str, Any]) -> None:
        """A response has ended (since 0.155), and its tools have not run yet."""
        thread_id, turn_id = text(payload, "thread_id"), text(payload, "turn_id")
        if self.thread.id is not None and thread_id != self.thread.id:
            return
        if not self._claims(turn_id):
            return
        usage = codex(payload.get("usage"))
        if isinstance(usage, UsageFault):
            self._unmatched = None
            self._stand(self._void(row, MissingReason(usage.kind.value), turn_id=turn_id))
            return
        turn = self.turns.get(turn_id or "")
        response = text(payload, "response_id") or text(row.value, "timestamp") or ""
        self._unmatched = Reported(
            usage=usage,
            limit=None if turn is None else turn.window,
            measured_at=_time(row),
            turn_id=turn_id,
            model=self._model_of(turn_id),
            identity=(thread_id or "", turn_id or "", response),
            row=row,
        )
        self._offer(self._unmatched)

    def on_token_count(self, row: Row, payload: Mapping[str, Any]) -> None:
        """The meter is written down: anew, again, emptied, estimated or marked as full."""
        info = payload.get("info")
        if not isinstance(info, dict):
            self._on_no_info(row, info)
            return
        sums = (info.get("last_token_usage"), info.get("total_token_usage"))
        is_known, before = self._knows_last_sums, self._last_sums
        self._last_sums, self._knows_last_sums = sums, True
        record = self._record_of(sums[0])
        if self._is_inherited:
            self.carries_over = True
        elif record is not None:
            self._complete(record, stated_window(info), row)
        elif is_known and sums == before:
            self._on_repetition(sums[0], stated_window(info), row)
        elif not is_known and self.is_whole:  # a fork may write its parent's info first
            self._carry_over()
        else:
            keeps_total = is_known and before is not None and sums[1] == before[1]
            self._on_fresh_info(row, info, is_original=is_known, keeps_total=keeps_total)

    def _on_no_info(self, row: Row, info: object) -> None:
        """Take ``info: null`` into account: Codex's meter is empty (0.77: after a resume too)."""
        if info is None:
            self._last_sums, self._knows_last_sums = None, True
        elif not self._is_inherited:
            self._stand(self._void(row, MissingReason.USAGE_INVALID))

    def _record_of(self, last: object) -> Reported | None:
        """Return the record that waits for its ``token_count``, if *last* is its usage."""
        record = self._unmatched
        if record is None:
            return None
        is_its = last == nested(record.row.value, "payload").get("usage")  # as it is written
        return record if is_its or codex(last) == record.usage else None

    def _complete(self, record: Reported, limit: Limit, row: Row) -> None:
        """Give *record* the window of its ``token_count``, which wins over the turn's."""
        self._unmatched = None
        self._update_window(limit)
        completed = evolve(record, limit=limit, limit_row=row)
        if self._held_back is record:
            self._held_back = completed
        elif self.shows is record:
            self._stand(completed)

    def _on_repetition(self, last: object, limit: Limit, row: Row) -> None:
        """Take a repeated ``info`` into account: it says nothing new but the window, if that."""
        self._is_answered = False
        shown = self.shows
        turn_id = None if self.turn is None else self.turn.id
        if self.turn is not None and (shown is None or shown.turn_id != turn_id):
            self.turn.repeats = True
        if isinstance(shown, Reported) and shown.usage == codex(last):
            is_same = limit == shown.limit
            model = shown.model if is_same else self._model_of(turn_id)
            self.shows = evolve(shown, limit=limit, limit_row=row, model=model)
            if self.turn is not None and shown.turn_id == turn_id:
                self.turn.shows = self.shows

    def _carry_over(self) -> None:
        self._is_answered, self.carries_over = False, True
        if self.turn is not None:
            self.turn.repeats = True

    def _on_fresh_info(
        self, row: Row, info: Mapping[str, Any], *, is_original: bool, keeps_total: bool
    ) -> None:
        self._unmatched = None
        limit = stated_window(info)
        if is_original:
            self._update_window(limit)
        elif self.turn is not None:
            self.turn.may_repeat = True
        seen: dict[str, Any] = {"limit": limit, "is_original": is_original}
        match last_request(info):
            case TokenUsage() as usage:
                self._offer(self._reported(row, usage, info, **seen))
            case Estimate(tokens):
                self._estimate(self._void(row, MissingReason.ESTIMATE_ONLY, **seen), tokens)
            case WindowExceeded():
                void = self._void(row, MissingReason.WINDOW_EXCEEDED, **seen)
                left = nested(info, "last_token_usage").get("total_tokens")
                # An estimate leaves the total as it was, the marker's too; the marker sets it.
                if keeps_total and is_limit(left):
                    self._estimate(void, left)
                else:
                    self._stand(void)
            case fault:
                self._stand(self._void(row, MissingReason(fault.kind.value), **seen))

    def _estimate(self, void: Void, tokens: int) -> None:
        shown, reason = self.shows, MissingReason.ESTIMATE_ONLY
        if isinstance(shown, Void) and shown.reason in _CONTEXT_REPLACED:
            reason = shown.reason
        self._stand(evolve(void, reason=reason, estimated_tokens=tokens))

    def on_compacted(self, row: Row, _: Mapping[str, Any]) -> None:
        """The context was replaced by a summary."""
        self._replace_context(row, MissingReason.COMPACTED)
        if self.turn is not None:
            self.turn.window = self.turn.stated_window

    def on_rolled_back(self, row: Row, _: Mapping[str, Any]) -> None:
        """The context was cut back by some turns (up to 0.145)."""
        self._replace_context(row, MissingReason.REWOUND)

    def _replace_context(self, row: Row, reason: MissingReason) -> None:
        """Void what was counted; an estimate that stands is already one of the new context."""
        if self._is_inherited:
            return
        shown, is_superseded = self.shows, self._held_back is not None
        self._is_answered = False
        # An estimate may lie before the window.
        is_all = self.is_whole or shown is not None or is_superseded
        void = self._void(row, reason, is_original=is_all)
        if isinstance(shown, Void) and shown.estimated_tokens is not None and not is_superseded:
            void = evolve(shown, reason=reason, turn_id=void.turn_id, is_original=True)
        self._stand(void)

    # -- what stands --------------------------------------------------------------------------

    def _offer(self, reported: Reported) -> None:
        """Let *reported* stand if the conversation has an output of it, else hold it back."""
        is_answered, self._is_answered = self._is_answered, False
        self._held_back = reported
        if is_answered:
            self._settle()

    def _settle(self) -> None:
        if self._held_back is not None:
            self._stand(self._held_back)

    def _stand(self, state: Reported | Void) -> None:
        self._held_back = None
        self.shows = state
        turn = self.turns.get(state.turn_id or "")
        if turn is not None:
            turn.shows = state

    def _update_window(self, limit: Limit) -> None:
        if self.turn is not None:
            self.turn.window = limit

    def _reported(
        self, row: Row, usage: TokenUsage, info: Mapping[str, Any], **seen: Any
    ) -> Reported:
        turn_id = None if self.turn is None else self.turn.id
        total = nested(info, "total_token_usage").get("total_tokens")
        clock = text(row.value, "timestamp") or ""
        return Reported(
            usage=usage,
            measured_at=_time(row),
            turn_id=turn_id,
            model=self._model_of(turn_id),
            identity=(self.thread.id or "", turn_id or "", clock, str(total)),
            row=row,
            **seen,
        )

    def _void(self, row: Row, reason: MissingReason, **seen: Any) -> Void:
        turn_id = None if self.turn is None else self.turn.id
        known = {"limit": None, "turn_id": turn_id, **seen}
        return Void(
            reason=reason,
            measured_at=_time(row),
            model=self._model_of(known["turn_id"]),
            row=row,
            **known,
        )

    def _model_of(self, turn_id: str | None) -> ModelRef | None:
        """Return the model of the last ``turn_context``, unless it is another turn's."""
        named = text(self._context, "turn_id")
        is_other = None not in (named, turn_id) and named != turn_id
        return None if is_other else model_ref(self._context.get("model"))


_Step: TypeAlias = Callable[[Replay, Row, Mapping[str, Any]], None]

_ROWS: dict[str, _Step] = {
    "session_meta": Replay.on_session_meta,
    "turn_context": Replay.on_turn_context,
    "response_item": Replay.on_response_item,
    _RECORD: Replay.on_record,
    "compacted": Replay.on_compacted,
}
_EVENTS: dict[str, _Step] = {
    "task_started": Replay.on_turn_started,
    "turn_started": Replay.on_turn_started,
    "task_complete": Replay.on_turn_completed,
    "turn_complete": Replay.on_turn_completed,
    "turn_aborted": Replay.on_turn_aborted,
    "agent_message": Replay.on_output,
    "item_completed": Replay.on_item_completed,
    "token_count": Replay.on_token_count,
    "context_compacted": Replay.on_compacted,
    "thread_rolled_back": Replay.on_rolled_back,
}


# What can lie before a request in its turn, and is over with it.
_LEFT_BEHIND = (
    None,
    Replay.on_turn_started,
    Replay.on_turn_context,
    Replay.on_compacted,
    Replay.on_rolled_back,
)


def _step_of(row: Row) -> _Step | None:
    """Return what *row* does to the meter, or None if nothing."""
    is_event = row.value.get("type") == "event_msg"
    steps, named = (_EVENTS, nested(row.value, "payload")) if is_event else (_ROWS, row.value)
    return steps.get(text(named, "type") or "")


def replay_last_request(tail: Tail) -> Replay | None:
    """Play only the last request of the last turn, where nothing before it can bear on it.

    It cannot where the request's record (since 0.155) has met its ``token_count`` and an output,
    and the window holds the beginning of its turn or nothing but that turn. Everything that is
    asked of the turn is then answered as by `replay`, which decodes every row of the window: 43 for
    7 in the median of what ``benchmarks/session_files.py`` writes. None: play them all.
    """
    first = tail.first_row()
    thread = Thread.begun_by(None if first is None else first.value)
    rows = None if thread.id is None else _rows_of_last_request(tail)
    if first is None or not rows:
        return None
    oldest = rows[-1]
    if tail.contains(b'"session_meta"', after=first.stop, before=oldest.offset):
        return None  # of a later thread it may be, which ends the file for us
    played = Replay(thread, is_whole=not tail.truncated)
    rows.reverse()
    if _step_of(oldest) is not Replay.on_turn_started:
        played.begin_within(_turn_cut_off(rows, thread))
    for row in rows:
        played.play(row)
    return played if _stands_alone(played) else None


def _rows_of_last_request(tail: Tail) -> list[Row] | None:
    """Return the rows behind the meter before the last, and what of the turn's others matters.

    They are the last first. Where the turn has begun before the window, nothing else may lie in it.
    """
    rows: list[Row] = []
    sieve = _Sieve()
    has_record = False
    for row in tail.rows(unless=sieve):
        step = _step_of(row)
        if step is Replay.on_token_count and has_record:
            sieve.has_request = True
        elif sieve.has_request and step not in _LEFT_BEHIND:
            return None
        else:
            has_record = has_record or step is Replay.on_record
            rows.append(row)
        if step is Replay.on_turn_started:
            return rows
    return rows if sieve.has_request and tail.truncated else None


class _Sieve:
    """Tells lines, the last first, of which none is decoded once the last request is known."""

    __slots__ = ("has_request",)

    def __init__(self) -> None:
        self.has_request = False

    def __call__(self, line: bytes) -> bool:
        is_replaced = self.has_request and _REPLACED.match(line) is not None
        return is_replaced or is_bulk(line)


def _stands_alone(played: Replay) -> bool:
    """Tell whether what *played* shows has all that it could have from before its rows."""
    shows = played.shows
    if not isinstance(shows, Reported) or shows.limit_row is None:
        return False
    turn = played.turns.get(shows.turn_id or "")
    if turn is None or (turn.begins_here and shows.model is None):
        return False
    is_record = _step_of(shows.row) is Replay.on_record
    return is_record and played.thread.owns(turn.id) is True


def replay(tail: Tail) -> Replay:
    """Play all rows of the window, the oldest first."""
    rows = [*tail.rows(unless=is_bulk)]
    rows.reverse()
    thread = _thread(tail, rows)
    played = Replay(thread, is_whole=not tail.truncated)
    if tail.truncated:
        played.begin_within(_turn_cut_off(rows, thread))
    for row in rows:
        played.play(row)
    return played


def is_bulk(line: bytes) -> bool:
    """Tell whether *line* has no part in the meter, by how it begins.

    Most bytes of a rollout are messages, reasoning and what tools printed. Whatever begins in
    another way may matter.
    """
    if not line.startswith(_BEGINNING):
        return False
    envelope = line[:_ENVELOPE]
    if b'"type":"response_item"' in envelope:
        return b'_call"' not in envelope
    if b'"item_completed"' in envelope:
        item = line.find(_ITEM, 0, _ITEM_WITHIN) + len(_ITEM)
        if item >= len(_ITEM):  # told where it begins: the rest of it can be 100 KB
            return not line.startswith(_ITEMS, item)
        return not any(named in line for named in _ITEMS)
    return b'"type":"world_state"' in envelope


def _thread(tail: Tail, rows: list[Row]) -> Thread:
    """Return the file's thread; where its first row does not tell the id, a record may.

    While the first row is unread it can be a fork's, so no row is taken for the thread's own before
    one names a turn that is.
    """
    first = tail.first_row()
    thread = Thread.begun_by(None if first is None else first.value)
    if thread.id is not None:
        return thread
    is_unread = first is None and tail.truncated
    return evolve(thread, id=_recorded_thread_id(rows), is_offspring=is_unread)


def _recorded_thread_id(rows: list[Row]) -> str | None:
    for row in reversed(rows):
        if row.value.get("type") == _RECORD:
            return text(nested(row.value, "payload"), "thread_id")
    return None


def _turn_cut_off(rows: Iterable[Row], thread: Thread) -> str | None:
    """Return the turn in which the window begins: the first that a row names without starting it.

    A row that names a turn is written within it.
    """
    for row in rows:
        payload = nested(row.value, "payload")
        if _EVENTS.get(text(payload, "type") or "") is Replay.on_turn_started:
            return None
        is_others = text(payload, "thread_id") not in (None, thread.id)
        if not is_others and text(payload, "turn_id") is not None:
            return text(payload, "turn_id")
    return None


def _time(row: Row) -> datetime | None:
    return instant(row.value.get("timestamp"))
