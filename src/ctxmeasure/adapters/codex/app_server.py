"""The notifications of ``codex app-server`` (JSON-RPC, one object per line), and their old forms.

``thread/tokenUsage/updated`` (since 2025-11-25) names its thread and turn and states the usage of
the last request, the lifetime sum and the window. ``codex/event`` notifications (the app-server's
until 2026-03-11, the MCP server's still) wrap the same as a ``token_count`` message.
Decoys: the last report is sent again, unchanged, under a *new* turn's id when that turn is
interrupted, fails or compacts, and by 0.44 to 0.130 at every request; ``thread/resume`` and
``thread/fork`` repeat one of an older turn, or of the parent; a compaction reports its own request
first and then an estimate; sub-agents report on the same connection under threads of their own;
``turn/completed`` has no usage (formats/codex.md §3).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from ...bounded.fields import is_limit, nested, text
from ...capability.model import ModelRef
from ...evidence import Channel, Evidence, Gap, Origin, Phase, Query, TokenPair, UsedTokens
from ...observation import LimitBasis, MissingReason, Partial, UsedBasis
from ...source import StreamSource
from ...usage import TokenUsage
from .usage_info import (
    DEFAULT_WINDOWS,
    Estimate,
    LastRequest,
    WindowExceeded,
    last_request,
    model_ref,
    stated_window,
)

__all__ = ["APP_SERVER", "AppServerState", "Reading", "Thread", "Turn"]

# Notifications that cannot matter and are many or long, by how their lines begin: deltas, items and
# their outputs, quotas. A compaction is an item too: it starts, completes, and is told by its type.
_METHOD = rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"method"\s*:\s*"'
_IRRELEVANT = re.compile(
    _METHOD + rb"(?:item/(?!started\"|completed\")|account/|thread/status/"
    rb"|codex/event/(?!token_count|task_|turn_|context_compacted|thread_rolled_back|error"
    rb"|session_configured))"
)
_ITEM = re.compile(_METHOD + rb"item/")
# The bulk of them, as Codex itself writes them: told in half the time of a pattern.
_BULK = (
    b'{"method":"item/completed","params":{"item":{"type":"commandExecution"',
    b'{"method":"item/completed","params":{"item":{"type":"mcpToolCall"',
    b'{"method":"item/commandExecution/',
    b'{"method":"item/agentMessage/',
)
_COMPACTION = "contextCompaction"
_COMPACTION_TYPE = _COMPACTION.encode()

_UNNAMED = ""  # the thread of an MCP server's events, which may not name one

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MILLISECOND = 253_402_300_799_999  # of the year 9999

_WINDOW_EXCEEDED = frozenset({"contextWindowExceeded", "context_window_exceeded"})


@frozen(kw_only=True)
class Reading:
    """What the meter reported of one request.

    Attributes:
        usage: The request's usage.
        lifetime: The thread's sum after it, which no two requests share.
        window: The window that is stated beside it, in tokens, or what is wrong with it.
        turn_id: The turn that it was reported under, or None.
        measured_at: The notification's own clock (since 0.145), or when it was received; aware.
        model: The model in force, where one was named.
        is_replayed: It may be an older turn's or a parent's, sent again when a thread was loaded:
            no turn had begun on this connection.
    """

    usage: TokenUsage
    lifetime: object = field(repr=False)
    window: int | MissingReason
    turn_id: str | None = field(repr=False)
    measured_at: datetime
    model: ModelRef | None
    is_replayed: bool = False

    @property
    def known(self) -> Partial:
        """What stays known of it where it measures nothing."""
        return Partial(
            used_tokens=self.usage.total_tokens,
            limit_tokens=self.window if type(self.window) is int else None,
            measured_at=None if self.is_replayed else self.measured_at,
        )

    @property
    def fullness(self) -> tuple[float, int]:
        """What to compare readings by: the share of the window where one is stated."""
        used = self.usage.total_tokens
        return (used / self.window if type(self.window) is int else 0.0), used


@frozen(kw_only=True)
class Turn:
    """A turn that was seen on this connection.

    Attributes:
        has_begun: Its beginning was seen.
        shows: The last that was reported of it, or None before that.
        repeats: The older reading that was sent again under its id, or None.
        ended_at: When it ended; aware. None before that was seen.
    """

    has_begun: bool = False
    shows: Reading | Gap | None = None
    repeats: Reading | None = None
    ended_at: datetime | None = None


def _gap(reason: MissingReason, known: Partial | None = None) -> Gap:
    return Gap(reason=reason, partial=known, limit_basis=LimitBasis.EFFECTIVE_WINDOW)


_NOTHING_YET = _gap(MissingReason.NOT_MEASURED_YET)


@frozen(kw_only=True)
class Thread:
    """A thread: a conversation, a fork of one, or a sub-agent's.

    Attributes:
        is_agent: It is a sub-agent's.
        is_loaded: It was seen how it was begun or loaded, which repeats its last report at once.
        version: The version of Codex that began it, as stated, or None.
        model: The model in force, or None where none was named.
        next_model: The model that the next turn begins with, or None.
        turn_id: The turn that was seen last, or None.
        turns: The turns that were seen, by id.
        shows: What is shown of the present.
        reported: The last report: its request and both totals, to know it again.
        held: A reading that may be a compaction's own, or a repeat, until what follows tells.
        awaits_compaction: The last report was sent again as it is sent before a compaction.
        is_compacting: A compaction runs: what is reported meanwhile is its own request.
        peak: The fullest reading, or None.
    """

    is_agent: bool = False
    is_loaded: bool = False
    version: str | None = None
    model: ModelRef | None = None
    next_model: ModelRef | None = None
    turn_id: str | None = field(default=None, repr=False)
    turns: Mapping[str, Turn] = field(factory=dict, repr=False)
    shows: Reading | Gap = _NOTHING_YET
    reported: tuple[LastRequest, object, object] | None = field(default=None, repr=False)
    held: Reading | None = None
    awaits_compaction: bool = False
    is_compacting: bool = False
    peak: Reading | None = None

    @property
    def running(self) -> str | None:
        """The turn that runs, or None."""
        turn = self.turns.get(self.turn_id or "")
        return None if turn is None or turn.ended_at is not None else self.turn_id

    def showing(self, shown: Reading | Gap, turn_id: str | None) -> Thread:
        """Return the thread that shows *shown*, of the turn *turn_id* or of none."""
        turns = self.turns
        if turn_id is not None:
            turns = {**turns, turn_id: evolve(turns.get(turn_id, Turn()), shows=shown)}
        peak = self.peak
        if isinstance(shown, Reading) and (peak is None or shown.fullness >= peak.fullness):
            peak = shown
        return evolve(
            self.settled(), shows=shown, turns=turns, turn_id=turn_id or self.turn_id, peak=peak
        )

    def void(
        self, reason: MissingReason, turn_id: str | None, known: Partial | None = None
    ) -> Thread:
        """Return the thread in which nothing is measured, for *reason*."""
        return self.showing(_gap(reason, known), turn_id)

    def settled(self) -> Thread:
        """Return the thread in which no compaction runs or is awaited."""
        return evolve(self, held=None, awaits_compaction=False, is_compacting=False)

    def shows_reason(self, reason: MissingReason) -> bool:
        """Tell whether nothing is measured for *reason*."""
        return isinstance(self.shows, Gap) and self.shows.reason is reason


@frozen
class AppServerState:
    """What the notifications so far have shown.

    Attributes:
        threads: The threads, by id.
        main: The first thread that is no sub-agent's, or None before one is seen.
    """

    threads: Mapping[str, Thread] = field(factory=dict, repr=False)
    main: str | None = field(default=None, repr=False)


@frozen
class _Notice:
    """One notification about a thread.

    Attributes:
        body: Its parameters.
        turn_id: The turn that it is about, or None.
        at: Its own clock, or when it was received; aware.
        has_clock: It has a clock of its own (since 0.145).
    """

    body: Mapping[str, Any]
    turn_id: str | None
    at: datetime
    has_clock: bool


# -- what is reported of usage ------------------------------------------------------------------


def _take_usage(thread: Thread, notice: _Notice) -> Thread:
    info = nested(notice.body, "tokenUsage") or nested(notice.body, "info")
    if not info:  # null: nothing but rate limits
        return thread
    request, window = last_request(info), stated_window(info)
    last, lifetime = _total(info, "last"), _total(info, "total")
    reported = (request, last, lifetime)
    if reported == thread.reported:
        return _take_repeat(_restated(thread, notice, window), notice)
    is_known = notice.has_clock and thread.is_loaded
    is_own = notice.turn_id in thread.turns and (is_known or last == lifetime)
    # The first report of a thread can be an older one: loaded with it, or repeated where we join
    # in. Without a clock it may be of a version that repeats the last one before every request.
    is_replayed = thread.reported is None and not is_own
    turn_id = None if is_replayed else notice.turn_id
    measured_at = None if is_replayed else notice.at
    limit = window if type(window) is int else None
    thread = evolve(thread, reported=reported)
    match request:
        case TokenUsage():
            reading = Reading(
                usage=request,
                lifetime=lifetime,
                window=window,
                turn_id=notice.turn_id,
                measured_at=notice.at,
                model=thread.model,
                is_replayed=is_replayed,
            )
            return _take_reading(thread, reading, has_clock=notice.has_clock)
        case Estimate(used):
            known = Partial(
                used_tokens=used, limit_tokens=limit, measured_at=measured_at, estimated=True
            )
            return thread.void(_why_estimated(thread), turn_id, known)
        case WindowExceeded() if thread.is_compacting:  # an estimate that keeps the marker's sum
            return thread.void(MissingReason.COMPACTED, turn_id)
        case WindowExceeded():
            known = Partial(limit_tokens=limit, measured_at=measured_at)
            return thread.void(MissingReason.WINDOW_EXCEEDED, turn_id, known)
        case _:
            return thread.showing(Gap.of_usage(request), turn_id)


def _restated(thread: Thread, notice: _Notice, window: int | MissingReason) -> Thread:
    """Hold the last report against the *window* that it is repeated with, if that is another."""
    shown = thread.shows
    if not isinstance(shown, Reading) or shown.window == window:
        return thread
    restated = evolve(shown, window=window, model=thread.model)
    turns, turn_id = thread.turns, shown.turn_id
    if turn_id is not None and turn_id == notice.turn_id and turn_id in turns:
        turns = {**turns, turn_id: evolve(turns[turn_id], shows=restated)}
    return evolve(thread, shows=restated, turns=turns)


def _take_repeat(thread: Thread, notice: _Notice) -> Thread:
    """Know the last report again: it keeps its time and its turn, whatever turn it comes under."""
    turn = thread.turns.get(notice.turn_id or "")
    if turn is None or notice.turn_id is None:
        return thread
    if turn.shows is None and isinstance(thread.shows, Reading):
        turns = {**thread.turns, notice.turn_id: evolve(turn, repeats=thread.shows)}
        thread = evolve(thread, turns=turns)
    # Without a clock it may be of a version that sends a repeat before every request.
    if notice.has_clock and turn.ended_at is None:
        thread = evolve(thread, awaits_compaction=True)
    return thread


def _take_reading(thread: Thread, reading: Reading, *, has_clock: bool) -> Thread:
    if reading.is_replayed:
        held = reading if has_clock else None
        return evolve(thread, shows=reading, held=held, awaits_compaction=has_clock)
    if thread.is_compacting:
        return thread
    if thread.awaits_compaction and (thread.held is None or thread.held.is_replayed):
        return evolve(thread, held=reading)
    return thread.showing(reading, reading.turn_id)


def _why_estimated(thread: Thread) -> MissingReason:
    """Return why Codex estimates: a compaction runs in a turn, other estimates between turns."""
    is_between_turns = thread.turn_id is not None and thread.running is None
    return MissingReason.ESTIMATE_ONLY if is_between_turns else MissingReason.COMPACTED


def _total(info: Mapping[str, Any], which: str) -> object:
    usage = nested(info, which) or nested(info, f"{which}_token_usage")
    return usage.get("totalTokens", usage.get("total_tokens"))


# -- turns, compactions, models -----------------------------------------------------------------


def _take_turn_started(thread: Thread, notice: _Notice) -> Thread:
    if notice.turn_id is None or notice.turn_id in thread.turns:
        return thread
    root = text(nested(notice.body, "turn"), "rootTurnId")
    return evolve(
        thread.settled(),
        # A sub-agent's turn belongs to a turn of its root (0.171).
        is_agent=thread.is_agent or root not in {None, notice.turn_id},
        turn_id=notice.turn_id,
        turns={**thread.turns, notice.turn_id: Turn(has_begun=True)},
        model=thread.next_model,
    )


def _take_turn_ended(thread: Thread, notice: _Notice) -> Thread:
    """End a turn. A reading that was held and that no compaction followed was a response's."""
    turn, held = nested(notice.body, "turn"), thread.held
    is_its = held is not None and held.turn_id == notice.turn_id
    if held is not None and is_its and text(turn, "status") == "completed":
        thread = thread.showing(evolve(held, is_replayed=False), held.turn_id)
    thread = _take_error(thread, evolve(notice, body=turn)).settled()
    if notice.turn_id is None:
        return thread
    ended = evolve(thread.turns.get(notice.turn_id, Turn()), ended_at=notice.at)
    return evolve(thread, turns={**thread.turns, notice.turn_id: ended})


def _take_error(thread: Thread, notice: _Notice) -> Thread:
    error = nested(notice.body, "error") or notice.body
    named = text(error, "codexErrorInfo") or text(error, "codex_error_info")
    if named not in _WINDOW_EXCEEDED or notice.body.get("willRetry") is True:
        return thread
    if thread.shows_reason(MissingReason.WINDOW_EXCEEDED):  # the marker came first, with the limit
        return thread
    return thread.void(MissingReason.WINDOW_EXCEEDED, notice.turn_id)


def _take_item_started(thread: Thread, notice: _Notice) -> Thread:
    return evolve(thread, is_compacting=True) if _is_compaction(notice) else thread


def _take_item_completed(thread: Thread, notice: _Notice) -> Thread:
    return _take_compacted(thread, notice) if _is_compaction(notice) else thread


def _is_compaction(notice: _Notice) -> bool:
    return text(nested(notice.body, "item"), "type") == _COMPACTION


def _take_compacted(thread: Thread, notice: _Notice) -> Thread:
    """Void what was measured. The estimate of what is left comes just before (0.171)."""
    if thread.shows_reason(MissingReason.COMPACTED):
        return thread.settled()
    return thread.void(MissingReason.COMPACTED, notice.turn_id)


def _take_reverted(thread: Thread, _notice: _Notice) -> Thread:
    """Void all turns: which of them are left is not told, nor how much the context holds now."""
    thread = thread.void(MissingReason.REWOUND, None)
    turns = {turn_id: evolve(turn, shows=thread.shows) for turn_id, turn in thread.turns.items()}
    return evolve(thread, turns=turns)


def _take_settings(thread: Thread, notice: _Notice) -> Thread:
    """Change the model. A turn that runs may go on with the old one, so it has none.

    What was counted stands until the next response, with the window that it was counted against:
    Codex's own meter shows the same, and repeats it in the next turn (0.171).
    """
    settings = nested(notice.body, "threadSettings") or notice.body
    model = model_ref(settings.get("model"))
    if model is None or model == thread.next_model:
        return thread
    return evolve(thread, model=None if thread.running else model, next_model=model)


def _take_loaded(thread: Thread, notice: _Notice) -> Thread:
    """Take what the answer to ``thread/start``, ``resume`` or ``fork`` says: the model."""
    if model_ref(notice.body.get("model")) is None:  # to another request about the thread
        return thread
    return _take_settings(evolve(thread, is_loaded=True), notice)


def _take_rerouted(thread: Thread, notice: _Notice) -> Thread:
    """Take the model that the running turn's requests are sent to instead."""
    model = model_ref(notice.body.get("toModel"))
    return thread if model is None else evolve(thread, model=model)


def _take_thread(thread: Thread, notice: _Notice) -> Thread:
    begun = nested(notice.body, "thread")
    return evolve(
        thread,
        is_agent=thread.is_agent or text(begun, "parentThreadId") is not None,
        is_loaded=True,
        version=text(begun, "cliVersion"),
    )


# -- lines --------------------------------------------------------------------------------------

_Take: TypeAlias = Callable[[Thread, _Notice], Thread]

_NOTIFICATIONS: Mapping[str, _Take] = {
    "error": _take_error,
    "item/completed": _take_item_completed,
    "item/started": _take_item_started,
    "model/rerouted": _take_rerouted,
    "thread/compacted": _take_compacted,
    "thread/reverted": _take_reverted,
    "thread/settings/updated": _take_settings,
    "thread/started": _take_thread,
    "thread/tokenUsage/updated": _take_usage,
    "turn/completed": _take_turn_ended,
    "turn/started": _take_turn_started,
}
_EVENTS: Mapping[str, _Take] = {
    "context_compacted": _take_compacted,
    "error": _take_error,
    "session_configured": _take_settings,
    "task_complete": _take_turn_ended,
    "task_started": _take_turn_started,
    "thread_rolled_back": _take_reverted,
    "token_count": _take_usage,
    "turn_aborted": _take_turn_ended,
    "turn_complete": _take_turn_ended,
    "turn_started": _take_turn_started,
}


def _relevant(line: bytes) -> bool:
    if line.startswith(_BULK):
        return False
    if _IRRELEVANT.match(line) is not None:
        return False
    return _ITEM.match(line) is None or _COMPACTION_TYPE in line


def _step(state: AppServerState, row: Mapping[str, Any], query: Query) -> AppServerState:
    method, params = text(row, "method"), nested(row, "params")
    if method is None:
        return _step_response(state, nested(row, "result"), query.at)
    if method.startswith("codex/event"):
        return _step_event(state, params, query.at)
    take = _NOTIFICATIONS.get(method)
    thread_id = text(params, "threadId") or text(nested(params, "thread"), "id")
    if take is None or thread_id is None:
        return state
    clock = _clock(row)
    turn_id = text(params, "turnId") or text(nested(params, "turn"), "id")
    notice = _Notice(params, turn_id, clock or query.at, has_clock=clock is not None)
    return _taken(state, thread_id, take, notice)


def _step_response(
    state: AppServerState, result: Mapping[str, Any], at: datetime
) -> AppServerState:
    thread_id = text(nested(result, "thread"), "id")
    if thread_id is None:
        return state
    return _taken(state, thread_id, _take_loaded, _Notice(result, None, at, has_clock=False))


def _step_event(state: AppServerState, params: Mapping[str, Any], at: datetime) -> AppServerState:
    message = nested(params, "msg")
    take = _EVENTS.get(text(message, "type") or "")
    if take is None:
        return state
    named = text(params, "conversationId") or text(nested(params, "_meta"), "threadId")
    notice = _Notice(message, text(params, "id"), at, has_clock=False)
    return _taken(state, named or _UNNAMED, take, notice)


def _taken(state: AppServerState, thread_id: str, take: _Take, notice: _Notice) -> AppServerState:
    before = state.threads.get(thread_id, Thread())
    thread = take(before, notice)
    if thread is before:
        return state
    main = thread_id if state.main is None and not thread.is_agent else state.main
    return AppServerState({**state.threads, thread_id: thread}, main)


def _clock(row: Mapping[str, Any]) -> datetime | None:
    """Return the moment at which a notification was sent, where it says so."""
    sent = row.get("emittedAtMs")
    if not is_limit(sent) or sent > _LAST_MILLISECOND:
        return None
    return _EPOCH + timedelta(milliseconds=sent)


def _recognise(row: Mapping[str, Any]) -> bool:
    """Tell a notification by its method and what it is about: others speak JSON-RPC too."""
    method, params = text(row, "method") or "", nested(row, "params")
    match method:
        case "thread/tokenUsage/updated":
            return bool(nested(params, "tokenUsage"))
        case "turn/started" | "turn/completed":
            return text(params, "threadId") is not None and bool(nested(params, "turn"))
        case _:
            return method.startswith("codex/event") and bool(nested(params, "msg"))


# -- what a state shows -------------------------------------------------------------------------


def _evidence(state: AppServerState, query: Query) -> Evidence:
    thread_id = _asked_thread(state, query)
    if isinstance(thread_id, Gap):
        return thread_id
    thread = state.threads[thread_id]
    shown = _of_turn(thread, query)
    if isinstance(shown, Reading):
        return _sample(thread_id, thread, shown)
    return evolve(shown, runtime_version=thread.version, model=thread.model)


def _peak(state: AppServerState, query: Query) -> Evidence:
    thread_id = _asked_thread(state, query)
    if isinstance(thread_id, Gap):
        return _evidence(state, query)
    thread = state.threads[thread_id]
    if thread.peak is None:
        return _evidence(state, query)
    return _sample(thread_id, thread, thread.peak)


def _asked_thread(state: AppServerState, query: Query) -> str | Gap:
    """Return the thread asked for: a sub-agent's, the session's, or else the main one."""
    asked = query.agent_id or query.session_id
    if asked is None:
        return _NOTHING_YET if state.main is None else state.main
    if asked in state.threads:
        return asked
    if list(state.threads) == [_UNNAMED]:  # the events of one thread, which they do not name
        return _UNNAMED
    return _gap(MissingReason.SESSION_MISMATCH) if state.threads else _NOTHING_YET


def _of_turn(thread: Thread, query: Query) -> Reading | Gap:
    """Return what *thread* shows of the turn asked for, or of the present."""
    shown = thread.shows
    asked = query.turn_id
    if query.phase is not Phase.LATEST and isinstance(shown, Reading):
        asked = asked or thread.turn_id
    if asked is not None:
        shown = _of_named_turn(thread, asked, query.phase)
    if isinstance(shown, Gap):
        return shown
    if shown.is_replayed:
        return _gap(MissingReason.CARRIED_OVER, shown.known)
    began = query.turn_started_at
    if began is not None and shown.measured_at < began:
        return _gap(MissingReason.TURN_NOT_FOUND)
    return shown


def _of_named_turn(thread: Thread, turn_id: str, phase: Phase) -> Reading | Gap:
    turn, shown = thread.turns.get(turn_id), thread.shows
    if turn is None:
        # Who knows the turn knows that it was not loaded: a lone notification is believed then.
        if isinstance(shown, Reading) and shown.turn_id == turn_id:
            return evolve(shown, is_replayed=False)
        return _gap(MissingReason.TURN_NOT_FOUND)
    if phase is Phase.TERMINAL and turn.has_begun and turn.ended_at is None:
        known = turn.shows.known if isinstance(turn.shows, Reading) else None
        return _gap(MissingReason.TURN_NOT_FINISHED, known)
    if turn.shows is not None:
        return turn.shows
    if turn.repeats is not None:
        return _gap(MissingReason.CARRIED_OVER, turn.repeats.known)
    return _gap(MissingReason.TURN_NOT_FOUND)


def _sample(thread_id: str, thread: Thread, reading: Reading) -> Evidence:
    turn_id = reading.turn_id or ""
    counted: dict[str, Any] = {
        "usage": reading.usage,
        "used_basis": UsedBasis.PROMPT_AND_OUTPUT,
        "measured_at": reading.measured_at,
        "identity": (thread_id, turn_id, str(reading.lifetime)),
        "runtime_version": thread.version,
        "model": reading.model,
        "turn_ended_at": thread.turns.get(turn_id, Turn()).ended_at,
    }
    if not isinstance(reading.window, int):
        return UsedTokens(**counted, limit_missing=reading.window)
    return TokenPair(
        **counted,
        limit_tokens=reading.window,
        limit_basis=LimitBasis.EFFECTIVE_WINDOW,
        default_limits=DEFAULT_WINDOWS,
    )


APP_SERVER = StreamSource(
    origin=Origin(
        adapter="codex",
        source="codex.app_server",
        method="codex_app_server_token_usage",
        channel=Channel.HANDED_OVER,
        client="codex",
    ),
    about="The notifications of codex app-server: the last request and the effective window",
    initial=AppServerState(),
    relevant=_relevant,
    step=_step,
    evidence=_evidence,
    peak=_peak,
    recognise=_recognise,
)
