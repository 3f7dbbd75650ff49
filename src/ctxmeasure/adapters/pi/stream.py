"""The event lines of ``pi --mode json`` and ``pi --mode rpc``, and the answers among the latter.

``message_end`` and ``turn_end`` carry the same reply with its request's own usage. No event states
a window: ``get_state``, ``get_session_stats`` and ``set_model`` do, if their answers are fed too.
``(auto_)compaction_end`` comes behind ``agent_end``, or between two turns since 0.84.4, and voids
what was measured, if it succeeded (formats/pi_ralph.md §2, §3).
Decoys: ``message_start`` and ``message_update`` hold a reply that is not complete, ``agent_end``
repeats all messages of the run, failed and aborted replies carry a usage that Pi ignores, the
``tokens`` of ``get_session_stats`` are sums, the usage of a compaction is its own request's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from ...bounded.fields import epoch_milliseconds, is_count, is_limit, nested, text
from ...capability.model import ModelRef
from ...evidence import Channel, Evidence, Gap, Origin, Phase, Query, TokenPair, UsedTokens
from ...observation import LimitBasis, MissingReason, Partial
from ...source import StreamSource
from .messages import (
    DEFAULT_WINDOWS,
    PASSED_OVER,
    Counted,
    Model,
    counted,
    measured,
    model_of,
    session_gap,
    turn_gap,
)
from .run import tally

__all__ = ["STREAM", "Reply", "StreamState"]

# The bulk of a stream, as Pi itself writes it: told in half the time of a pattern.
_BULK = (b'{"type":"message_update"', b'{"type":"tool_execution_')

# Lines that cannot matter and are many or long, by how Pi begins them: what is not complete yet,
# tools and their output, repetitions; and the answers to requests that change and state nothing.
# The repeated group is bounded: each of its rounds is kept in memory, which a long line would fill.
_IRRELEVANT = re.compile(
    rb'\s*\{\s*(?:"id"\s*:\s*"[^"\\]*(?:\\.[^"\\]*){0,32}"\s*,\s*)?"type"\s*:\s*"'
    rb'(?:message_update"|message_start"|tool_execution_|agent_end"|bash_execution_update"'
    rb'|queue_update"|response"\s*,\s*"command"\s*:\s*"'
    rb'(?!bash"|clone"|compact"|cycle_model"|fork"|get_session_stats"|get_state"|new_session"'
    rb'|set_model"|switch_session"))'
)

_NOTHING_YET = Gap(reason=MissingReason.NOT_MEASURED_YET)


@frozen(kw_only=True)
class Reply:
    """A good reply of the model.

    Attributes:
        count: What it used.
        model: The model that it is of, where its message names one.
        written_at: Its message's own clock as written.
        measured_at: When it ended as far as its message says, or when it was received; aware.
        turn: The user's turn that it belongs to, as counted in this stream.
    """

    count: Counted
    model: ModelRef | None
    written_at: object = field(repr=False)
    measured_at: datetime
    turn: int

    @property
    def known(self) -> Partial:
        """What stays known of it where it measures nothing."""
        return Partial(used_tokens=self.count.used_tokens, measured_at=self.measured_at)


_Said: TypeAlias = tuple[object, Counted | MissingReason]
"""A reply as one event has it: clock, and what it counts."""


@frozen(kw_only=True)
class StreamState:
    """What the lines so far have shown.

    Attributes:
        session_id: The session; None before it is named, and empty for one that is not named yet
            and is another than the first.
        turn: How many of the user's turns have begun.
        retries: The next run of the agent belongs to the turn of the last one.
        model: The model in force, or None before it is named.
        window: Its window as Pi states it, in tokens, or None.
        reply: The last good reply, or None where *gap* stands.
        gap: Why there is no reply to measure.
        has_grown: More has entered the context since *reply*.
        said: The last reply, which ``turn_end`` repeats, as does who tells the stream again.
        compacting: A compaction runs that may yet void *reply*.
        reports_compactions: Compactions have events of their own here.
        peak: The fullest reply, or None.
    """

    session_id: str | None = field(default=None, repr=False)
    turn: int = 0
    retries: bool = False
    model: ModelRef | None = None
    window: int | None = None
    reply: Reply | None = None
    gap: Gap = _NOTHING_YET
    has_grown: bool = False
    said: _Said | None = field(default=None, repr=False)
    compacting: bool = False
    reports_compactions: bool = False
    peak: Reply | None = None

    def void(self, reason: MissingReason, known: Partial | None = None) -> StreamState:
        """Return the state in which nothing is measured, for *reason*."""
        gap = Gap(reason=reason, partial=known)
        return evolve(self, reply=None, gap=gap)

    def grown(self) -> StreamState:
        """Return the state in which more has entered the context since the reply."""
        is_known = self.reply is None or self.has_grown
        return self if is_known else evolve(self, has_grown=True)

    def shows_reason(self, reason: MissingReason) -> bool:
        """Tell whether nothing is measured for *reason*."""
        return self.reply is None and self.gap.reason is reason


def _in_session(state: StreamState, named: str | None) -> StreamState:
    """Return *state* in the session that is *named*; another session begins with nothing."""
    if named is None or named == state.session_id:
        return state
    return evolve(_elsewhere(state) if state.session_id else state, session_id=named)


def _elsewhere(state: StreamState) -> StreamState:
    """Return the state of another conversation in the same process, which may keep the model."""
    return StreamState(
        session_id="",
        model=state.model,
        window=state.window,
    )


# -- replies ------------------------------------------------------------------------------------


def _take_message(state: StreamState, event: Mapping[str, Any], at: datetime) -> StreamState:
    message = nested(event, "message")
    if message.get("role") != "assistant":
        return state.grown()
    return _replied(state, message, at)


def _take_turn(state: StreamState, event: Mapping[str, Any], at: datetime) -> StreamState:
    """Take a reply, and the results of its tools."""
    message = nested(event, "message")
    if message:
        state = _replied(state, message, at)
    if message.get("timestamp") is None:  # nothing tells it from another one that is just like it
        state = evolve(state, said=None)
    return state.grown() if event.get("toolResults") else state


def _said(message: Mapping[str, Any]) -> _Said:
    return message.get("timestamp"), counted(message)


def _replied(state: StreamState, message: Mapping[str, Any], at: datetime) -> StreamState:
    """Take a reply, unless it was taken already: it may be void by now."""
    said = _said(message)
    if said == state.said:
        return state
    _, count = said
    model = model_of(message)
    state = evolve(_with_model(state, model), said=said)
    if not isinstance(count, Counted):
        return _uncounted(state, count)
    reply = Reply(
        count=count,
        model=model,
        written_at=message.get("timestamp"),
        measured_at=_ended_at(message) or at,
        turn=state.turn,
    )
    peak = state.peak
    if peak is None or count.used_tokens >= peak.count.used_tokens:
        peak = reply
    return evolve(state, reply=reply, has_grown=False, compacting=False, peak=peak)


def _uncounted(state: StreamState, reason: MissingReason) -> StreamState:
    """Pass over a reply that Pi's meter ignores; any other fault decides."""
    if reason not in PASSED_OVER:
        return state.void(reason)
    if reason is MissingReason.USAGE_NOT_REPORTED and state.shows_reason(_NOTHING_YET.reason):
        return state.void(reason)
    return state.grown()


def _ended_at(message: Mapping[str, Any]) -> datetime | None:
    """Return when a reply ended: its clock is its beginning, its duration is told since 1.x."""
    began, took = message.get("timestamp"), message.get("durationMs")
    if is_limit(began) and is_count(took):
        return epoch_milliseconds(began + took)
    return epoch_milliseconds(began)


def _with_model(state: StreamState, model: ModelRef | None) -> StreamState:
    """Put *model* in force; the window of another one is not its."""
    if model is None or model == state.model:
        return state
    return evolve(state, model=model, window=state.window if state.model is None else None)


# -- runs, compactions, edits -------------------------------------------------------------------


def _take_session(state: StreamState, event: Mapping[str, Any], _at: datetime) -> StreamState:
    return _in_session(state, text(event, "id"))


def _take_run(state: StreamState, _event: Mapping[str, Any], _at: datetime) -> StreamState:
    return evolve(state, turn=state.turn + (not state.retries), retries=False)


def _take_retry(state: StreamState, _event: Mapping[str, Any], _at: datetime) -> StreamState:
    return evolve(state, retries=True)


def _take_retried(state: StreamState, _event: Mapping[str, Any], _at: datetime) -> StreamState:
    """Take the end of trying again: the user may have stopped it while it waited to begin."""
    return evolve(state, retries=False)


def _take_compacting(state: StreamState, event: Mapping[str, Any], _at: datetime) -> StreamState:
    if event.get("reason") == "overflow":  # a reply before it can have said so, or not
        return state.void(MissingReason.WINDOW_EXCEEDED)
    return evolve(state, compacting=True)


def _take_compacted(state: StreamState, event: Mapping[str, Any], at: datetime) -> StreamState:
    result = nested(event, "result")
    state = evolve(
        state,
        compacting=False,
        reports_compactions=True,
        retries=state.retries or event.get("willRetry") is True,
    )
    is_done = result and event.get("aborted") is not True and event.get("errorMessage") is None
    return _compacted(state, result, at) if is_done else state


def _compacted(state: StreamState, result: Mapping[str, Any], at: datetime) -> StreamState:
    """Void what was measured, and keep Pi's estimate of what is left (0.79.8: characters by 4)."""
    left = result.get("estimatedTokensAfter")
    known = None
    if is_limit(left):
        known = Partial(used_tokens=left, measured_at=at, estimated=True)
    return state.void(MissingReason.COMPACTED, known)


def _take_entry(state: StreamState, event: Mapping[str, Any], _at: datetime) -> StreamState:
    """Void a reply that a context edit follows: what it counted may be gone."""
    if state.reply is None or nested(event, "entry").get("type") != "context_edit":
        return state
    return state.void(MissingReason.REWOUND, state.reply.known)


# -- answers ------------------------------------------------------------------------------------


def _take_response(state: StreamState, event: Mapping[str, Any], at: datetime) -> StreamState:
    take = _ANSWERS.get(text(event, "command") or "")
    if take is None or event.get("success") is not True:
        return state
    return take(state, nested(event, "data"), at)


def _answer_state(state: StreamState, answer: Mapping[str, Any], _at: datetime) -> StreamState:
    state = _in_session(state, text(answer, "sessionId"))
    return _selected(state, answer.get("model"))


def _answer_set(state: StreamState, answer: Mapping[str, Any], _at: datetime) -> StreamState:
    """Take another model; where the answer does not name it, none is known."""
    return _selected(evolve(state, model=None, window=None), answer)


def _answer_cycle(state: StreamState, answer: Mapping[str, Any], _at: datetime) -> StreamState:
    return _selected(state, answer.get("model"))  # null where there is no other


def _selected(state: StreamState, stated: object) -> StreamState:
    model = Model.of(stated)
    if model.ref is None:
        return state
    return evolve(state, model=model.ref, window=model.window_tokens)


def _answer_stats(state: StreamState, answer: Mapping[str, Any], _at: datetime) -> StreamState:
    """Take the window in force. The count is left: its like is measured, or estimated by Pi."""
    state = _in_session(state, text(answer, "sessionId"))
    stated = nested(answer, "contextUsage")
    window = stated.get("contextWindow")
    if is_limit(window) and window != state.window:
        state = evolve(state, window=window)
    if stated.get("tokens", 0) is None and state.reply is not None:
        return state.void(MissingReason.COMPACTED)
    return state


def _answer_compact(state: StreamState, answer: Mapping[str, Any], at: datetime) -> StreamState:
    """Take a compaction that had no event of its own (0.58.3)."""
    return state if state.reports_compactions else _compacted(state, answer, at)


def _answer_elsewhere(state: StreamState, answer: Mapping[str, Any], _at: datetime) -> StreamState:
    return state if answer.get("cancelled") is True else _elsewhere(state)


def _answer_bash(state: StreamState, _answer: Mapping[str, Any], _at: datetime) -> StreamState:
    return state.grown()  # its output goes into the context without an event


_Take: TypeAlias = Callable[[StreamState, Mapping[str, Any], datetime], StreamState]

_ANSWERS: Mapping[str, _Take] = {
    "bash": _answer_bash,
    "clone": _answer_elsewhere,
    "compact": _answer_compact,
    "cycle_model": _answer_cycle,
    "fork": _answer_elsewhere,
    "get_session_stats": _answer_stats,
    "get_state": _answer_state,
    "new_session": _answer_elsewhere,
    "set_model": _answer_set,
    "switch_session": _answer_elsewhere,
}
_EVENTS: Mapping[str, _Take] = {
    "agent_start": _take_run,
    "auto_compaction_end": _take_compacted,
    "auto_compaction_start": _take_compacting,
    "auto_retry_end": _take_retried,
    "auto_retry_start": _take_retry,
    "compaction_end": _take_compacted,
    "compaction_start": _take_compacting,
    "entry_appended": _take_entry,
    "message_end": _take_message,
    "response": _take_response,
    "session": _take_session,
    "turn_end": _take_turn,
}


# -- lines --------------------------------------------------------------------------------------


def _relevant(line: bytes) -> bool:
    return not line.startswith(_BULK) and _IRRELEVANT.match(line) is None


def _step(state: StreamState, event: Mapping[str, Any], query: Query) -> StreamState:
    kind = text(event, "type") or ""
    if kind == "message":  # a row of the session file: its branches could not be told apart
        return state.void(MissingReason.SOURCE_MALFORMED)
    take = _EVENTS.get(kind)
    return state if take is None else take(state, event, query.at)


def _recognise(event: Mapping[str, Any]) -> bool:
    """Tell an event with a reply: header and answers belong to other sources as well."""
    message = nested(event, "message")
    if event.get("type") not in ("message_start", "message_end", "turn_end"):
        return False
    is_reply = message.get("role") == "assistant" and model_of(message) is not None
    return is_reply and text(message, "api") is not None


# -- what a state shows -------------------------------------------------------------------------


def _evidence(state: StreamState, query: Query) -> Evidence:
    gap = session_gap(state.session_id, query)
    if gap is not None:
        return gap
    reply = state.reply
    if reply is None:
        return _with_limit(state, state.gap)
    if state.compacting:
        return _with_limit(state, Gap(reason=MissingReason.COMPACTED, partial=reply.known))
    gap = _turn_gap(state, reply, query)
    if gap is not None:
        return gap
    # Pi holds the count against the model that is selected now, whoever replied.
    return _of_reply(state, reply, state.model, lower_bound=state.has_grown)


def _with_limit(state: StreamState, gap: Gap) -> Gap:
    """Return *gap* with what is known of the model and its window."""
    known = gap.partial
    if state.window is not None:
        known = evolve(known or Partial(), limit_tokens=state.window)
    return evolve(gap, partial=known, model=state.model)


def _turn_gap(state: StreamState, reply: Reply, query: Query) -> Gap | None:
    gap = turn_gap(reply.measured_at, query)
    if gap is None and query.turn_started_at is None and query.phase is Phase.ACTIVE:
        return None if reply.turn == state.turn else Gap(reason=MissingReason.TURN_NOT_FOUND)
    return gap


def _peak(state: StreamState, query: Query) -> Evidence:
    gap = session_gap(state.session_id, query)
    if gap is not None or state.peak is None:
        return gap or _evidence(state, query)
    return _of_reply(state, state.peak, state.peak.model or state.model)


def _of_reply(
    state: StreamState, reply: Reply, model: ModelRef | None, *, lower_bound: bool = False
) -> Evidence:
    seen: dict[str, Any] = {
        **measured(reply.count, state.session_id, reply.written_at),
        "measured_at": reply.measured_at,
        "model": model,
        "lower_bound": lower_bound,
    }
    if state.window is None or model != state.model:
        return UsedTokens(**seen)
    return TokenPair(
        **seen,
        limit_tokens=state.window,
        limit_basis=LimitBasis.WINDOW,
        default_limits=DEFAULT_WINDOWS,
        overflows=True,  # 297,047 of 272,000 in public (issue 6879)
    )


STREAM = StreamSource(
    origin=Origin(
        adapter="pi",
        source="pi.stream",
        method="pi_stream_usage_model_capability",
        channel=Channel.HANDED_OVER,
        client="pi",
    ),
    about="The event lines of pi --mode json or rpc: prompt and output of the last good reply",
    initial=StreamState(),
    relevant=_relevant,
    step=_step,
    evidence=_evidence,
    peak=_peak,
    recognise=_recognise,
    tally=tally,
)
