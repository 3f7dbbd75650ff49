"""The lines of ``codex exec --json``, in its present form and in two old ones.

Since 0.44 the lines are ``thread.started``, ``turn.completed`` and the like. The one usage in them,
``turn.completed.usage``, is the lifetime sum of the thread (of two requests of 14,120 and 14,580 it
says 28,500 prompt tokens), so nothing here is occupancy; `query_from_exec` asks the rollout.
0.36 wraps the core's messages: its ``token_count`` has the last request and the whole window. 0.20
has the last request alone, flat, and says no window (formats/codex.md §2).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from ...bounded.decode import decode_object
from ...bounded.fields import nested, text
from ...capability.model import ModelRef
from ...evidence import Channel, Evidence, Gap, Origin, Phase, Query, TokenPair, UsedTokens
from ...observation import LimitBasis, MissingReason, Partial, UsedBasis
from ...source import StreamSource
from ...usage import TokenUsage, codex
from .usage_info import (
    Estimate,
    LastRequest,
    WindowExceeded,
    last_request,
    model_ref,
    stated_window,
)

__all__ = ["EXEC", "ExecState", "Request", "query_from_exec"]

# Items, and what commands and models print: many and long, and never about the context.
_IRRELEVANT = re.compile(
    rb'\s*\{\s*(?:"type"\s*:\s*"item\.'
    rb'|"id"\s*:\s*"[^"\\]*"\s*,\s*"msg"\s*:\s*\{\s*"type"\s*:\s*"(?:agent_|exec_|mcp_|patch_))'
)
# The bulk of a stream, as Codex itself writes it: told in half the time of a pattern.
_BULK = b'{"type":"item.'
_THREAD_STARTED = "thread.started"


@frozen(kw_only=True)
class Request:
    """The last request, as the old forms report it.

    Attributes:
        reported: Its usage, and what marks it off from others: the lifetime sum, where stated.
        window: The window in tokens, or what is wrong with it.
        turn_id: The id of the submission, which is the turn's, or None.
        measured_at: When it was received; aware.
    """

    reported: tuple[LastRequest, object] = field(repr=False)
    window: int | MissingReason
    turn_id: str | None = field(repr=False)
    measured_at: datetime

    @property
    def total_tokens(self) -> int:
        """Its prompt and output in tokens; 0 when its usage is none."""
        usage = self.reported[0]
        return usage.total_tokens if isinstance(usage, TokenUsage) else 0


@frozen(kw_only=True)
class ExecState:
    """What the lines so far have shown.

    Attributes:
        thread_id: The thread, or None before it is named; the old forms never name it.
        is_cumulative: The lines are of the present form.
        model: The model that the header of an old form names, or None.
        window: The window that the running turn of an old form states, or what is wrong with it.
        turn_id: The running turn of an old form, or None.
        request: The last request that was reported, or None.
        peak: The fullest request, or None.
    """

    thread_id: str | None = field(default=None, repr=False)
    is_cumulative: bool = False
    model: ModelRef | None = None
    window: int | MissingReason = MissingReason.LIMIT_NOT_REPORTED
    turn_id: str | None = field(default=None, repr=False)
    request: Request | None = None
    peak: Request | None = None


_Take: TypeAlias = Callable[[ExecState, Mapping[str, Any], datetime], ExecState]


# -- the present form ---------------------------------------------------------------------------


def _take_thread(state: ExecState, line: Mapping[str, Any], _at: datetime) -> ExecState:
    thread_id = text(line, "thread_id") or state.thread_id
    return evolve(state, thread_id=thread_id, is_cumulative=True)


def _take_turn(state: ExecState, _line: Mapping[str, Any], _at: datetime) -> ExecState:
    return evolve(state, is_cumulative=True)


# -- the old forms ------------------------------------------------------------------------------


def _take_task_started(state: ExecState, line: Mapping[str, Any], _at: datetime) -> ExecState:
    return evolve(state, turn_id=text(line, "id"), window=stated_window(nested(line, "msg")))


def _take_token_count(state: ExecState, line: Mapping[str, Any], at: datetime) -> ExecState:
    message = nested(line, "msg")
    if "info" not in message:  # 0.20: the request itself, and no sum to know a repeat by
        request = Request(
            reported=(codex(message), None),
            window=state.window,
            turn_id=text(line, "id"),
            measured_at=at,
        )
        return _with_request(state, request)
    info = nested(message, "info")
    reported = (last_request(info), nested(info, "total_token_usage").get("total_tokens"))
    if not info or (state.request is not None and state.request.reported == reported):
        return state
    request = Request(
        reported=reported, window=stated_window(info), turn_id=text(line, "id"), measured_at=at
    )
    return _with_request(state, request)


def _with_request(state: ExecState, request: Request) -> ExecState:
    peak = state.peak
    if request.total_tokens > (0 if peak is None else peak.total_tokens):
        peak = request
    return evolve(state, request=request, peak=peak)


def _take_header(state: ExecState, line: Mapping[str, Any], _at: datetime) -> ExecState:
    return evolve(state, model=model_ref(line.get("model")))


# -- lines --------------------------------------------------------------------------------------

_LINES: Mapping[str, _Take] = {
    _THREAD_STARTED: _take_thread,
    "turn.completed": _take_turn,
    "turn.failed": _take_turn,
    "turn.started": _take_turn,
}
_MESSAGES: Mapping[str, _Take] = {
    "task_started": _take_task_started,
    "token_count": _take_token_count,
}


def _relevant(line: bytes) -> bool:
    return not line.startswith(_BULK) and _IRRELEVANT.match(line) is None


def _step(state: ExecState, line: Mapping[str, Any], query: Query) -> ExecState:
    take = _LINES.get(text(line, "type") or "")
    if "msg" in line:
        take = _MESSAGES.get(text(nested(line, "msg"), "type") or "")
    elif "workdir" in line and "provider" in line:
        take = _take_header
    return state if take is None else take(state, line, query.at)


def _recognise(line: Mapping[str, Any]) -> bool:
    if "msg" in line:
        kind = text(nested(line, "msg"), "type")
        return text(line, "id") is not None and kind in _MESSAGES
    return line.get("type") == _THREAD_STARTED and text(line, "thread_id") is not None


# -- what a state shows -------------------------------------------------------------------------


def _evidence(state: ExecState, query: Query) -> Evidence:
    return _of_request(state, state.request, query)


def _peak(state: ExecState, query: Query) -> Evidence:
    return _of_request(state, state.peak or state.request, query)


def _of_request(state: ExecState, request: Request | None, query: Query) -> Evidence:
    refusal = _refusal(state, request, query)
    if request is None or refusal is not None:
        return Gap(reason=refusal or MissingReason.NOT_MEASURED_YET, model=state.model)
    evidence = _of_usage(request)
    return evolve(evidence, model=state.model)


def _refusal(state: ExecState, request: Request | None, query: Query) -> MissingReason | None:
    if query.session_id is not None and state.thread_id not in {None, query.session_id}:
        return MissingReason.SESSION_MISMATCH
    if query.agent_id is not None:  # a sub-agent is not followed; its rollout is
        return MissingReason.USAGE_NOT_REPORTED
    if state.is_cumulative:
        return MissingReason.CUMULATIVE_ONLY
    if request is None:
        return MissingReason.NOT_MEASURED_YET
    asked = query.turn_id or (state.turn_id if query.phase is Phase.ACTIVE else None)
    is_older = query.turn_started_at is not None and request.measured_at < query.turn_started_at
    if is_older or asked not in {None, request.turn_id}:
        return MissingReason.TURN_NOT_FOUND
    return None


def _of_usage(request: Request) -> Evidence:
    used, window = request.reported[0], request.window
    limit = window if isinstance(window, int) else None
    match used:
        case TokenUsage():
            return _of_count(used, request)
        case Estimate(tokens):
            known = Partial(
                used_tokens=tokens,
                limit_tokens=limit,
                measured_at=request.measured_at,
                estimated=True,
            )
            return Gap(reason=MissingReason.COMPACTED, partial=known)
        case WindowExceeded():
            return Gap(reason=MissingReason.WINDOW_EXCEEDED, partial=Partial(limit_tokens=limit))
        case _:
            return Gap.of_usage(used)


def _of_count(usage: TokenUsage, request: Request) -> Evidence:
    counted: dict[str, Any] = {
        "usage": usage,
        "used_basis": UsedBasis.PROMPT_AND_OUTPUT,
        "measured_at": request.measured_at,
    }
    if not isinstance(request.window, int):
        return UsedTokens(**counted, limit_missing=request.window)
    # The whole window: 95 % of it is stated since 2025-10-20, when the form was the present one.
    return TokenPair(**counted, limit_tokens=request.window, limit_basis=LimitBasis.WINDOW)


def query_from_exec(lines: Iterable[bytes | str], *, at: datetime) -> Query:
    """Return the question for ``codex.rollout`` that the *lines* of ``codex exec --json`` ask.

    They name the thread and no turn, so the question is for the thread's newest sample. The rollout
    is the file whose name ends with the thread's id.

    Args:
        lines: What was printed, line by line. Where several runs follow each other, the last
            thread is asked for; where none is named (before 0.44), any is.
        at: The moment of the question; aware.

    Raises:
        TypeError: *lines* is one text or holds something else than bytes or str, or *at* is no
            datetime.
        ValueError: *at* has no time zone.
    """
    if isinstance(lines, str):  # its characters would be lines
        raise TypeError("lines: expected several lines")
    thread_id = None
    for line in lines:
        if not isinstance(line, bytes | str):
            raise TypeError("lines: expected bytes or str")
        raw = line.encode("utf-8", "replace") if isinstance(line, str) else line
        row = decode_object(raw) if _THREAD_STARTED.encode() in raw else None
        if row is not None and row.get("type") == _THREAD_STARTED:
            thread_id = text(row, "thread_id")
    return Query(at=at, session_id=thread_id)


EXEC = StreamSource(
    origin=Origin(
        adapter="codex",
        source="codex.exec",
        method="codex_exec_token_count",
        channel=Channel.HANDED_OVER,
        client="codex",
    ),
    about="The lines of codex exec --json: sums that measure nothing; before 0.44 the last request",
    initial=ExecState(),
    relevant=_relevant,
    step=_step,
    evidence=_evidence,
    peak=_peak,
    recognise=_recognise,
)
