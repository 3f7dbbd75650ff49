"""The live stream of ``claude -p --output-format stream-json --verbose``: one JSON object per line.

An ``assistant`` frame of the main chain carries its response's usage: the input side is exact, the
output a placeholder. With ``--include-partial-messages`` the API's own events come too, and
``message_delta`` completes it. ``result.modelUsage`` states the window that Claude Code believes
in, per requested model string, at the end of a turn (2.1.332; formats/claude.md §2).
Decoys: ``result.usage`` is a sum over the turn's calls and ``modelUsage`` one over the session;
frames with a ``parent_tool_use_id`` are a sub-agent's; ``<synthetic>`` frames are no responses
(errors, ``/context``); the compaction's own call reports the context that it is about to replace.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from ...bounded.fields import instant, is_limit, text
from ...capability.model import ModelRef
from ...evidence import Channel, Evidence, Gap, Origin, Phase, Query, TokenPair, UsedTokens
from ...observation import LimitBasis, MissingReason, Partial, UsedBasis
from ...source import StreamSource
from ...usage import TokenUsage, Usage, UsageFault, anthropic
from .dialect import misstates_window
from .rows import (
    DEFAULT_WINDOWS,
    SYNTHETIC_MODEL,
    model_ref,
    same_model,
)
from .run import tally

__all__ = ["STREAM", "Response", "StreamState", "Window"]

# Frames that cannot matter and are long or many, by how Claude Code begins their lines. A line that
# begins otherwise is decoded: `result` lines, and all lines if another program wrote them anew.
_IRRELEVANT = re.compile(
    rb'\s*\{\s*"type"\s*:\s*"(?:user"|rate_limit_event"'
    rb'|system"\s*,\s*"subtype"\s*:\s*"(?:hook_|task_|thinking_tokens"|api_retry")'
    rb'|stream_event"\s*,\s*"event"\s*:\s*\{\s*"type"\s*:\s*"(?:content_block_|message_stop"|ping"))'
)

# The bulk of a stream, as Claude Code itself writes it: told in half the time of a pattern.
_BULK = (
    b'{"type":"user"',
    b'{"type":"stream_event","event":{"type":"content_block_',
)

_TRANSCRIPT_KEYS = frozenset({"isSidechain", "parentUuid"})

_LONG_CONTEXT_BETA = "context-1m"

_PROMPT_KEYS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")

# The compaction's own call sends the whole context and an instruction on top; what can be left out
# (thinking) is a small part of it. No response to a summary comes near.
_WHOLE_CONTEXT_PERCENT = 90

_NOTHING_YET = Gap(reason=MissingReason.NOT_MEASURED_YET)


@frozen
class Window:
    """A window that the runtime states.

    Attributes:
        key: The model string that it is stated for, as it was requested, with its marker.
        canonical: The canonical id beside it (since 2.1.223), or None.
        tokens: The window in tokens, at least 1.
        turn: The turn at whose end it is stated, as counted in this stream.
    """

    key: str
    canonical: str | None
    tokens: int
    turn: int


@frozen(kw_only=True)
class Response:
    """A response of the main chain.

    Attributes:
        message_id: The API's id of the message, or None.
        model: The model that answered, as the API echoes it, or None.
        requested: The session's own model string in force (`system/init`), or None.
        reported: The usage object as reported so far; later events complete it.
        is_final: The API has reported the usage as final.
        measured_at: The frame's own clock, or when it was received; aware.
        turn: The turn that it belongs to, as counted in this stream.
        usage: What the usage object says.
    """

    message_id: str | None = field(repr=False)
    model: str | None
    requested: str | None
    reported: Any = field(repr=False)
    is_final: bool = False
    measured_at: datetime
    turn: int
    usage: Usage = field(init=False)

    @usage.default
    def _usage(self) -> Usage:
        return anthropic(self.reported)

    @property
    def prompt_tokens(self) -> int:
        """The prompt in tokens; 0 when the usage is faulty."""
        return self.usage.prompt_tokens if isinstance(self.usage, TokenUsage) else 0

    @property
    def named(self) -> str:
        """The model string in force: as requested, else as the API echoes it, else empty."""
        return self.requested or self.model or ""


@frozen(kw_only=True)
class StreamState:
    """What the lines so far have shown.

    Attributes:
        session_id: The session, or None before it is named.
        version: The agent's version, or None.
        requested: The session's own model string, or None.
        asks_by_beta: The session asks for the long window by a beta header, not by the marker.
        turn: How many turns have begun.
        response: The last response of the main chain, or None where *gap* stands.
        gap: Why there is no response to measure.
        peaks: The fullest response so far, for every model string that was in force.
        windows: The windows that the runtime has stated.
        is_streaming: The API's events that come in are those of *response*.
        compacting: A compaction is running: what is reported meanwhile is its own call.
        compacted_from: The count before the compaction, for as long as its own call may still be
            reported; else None.
        compaction_id: The message that was taken for the compaction's own call, or None.
    """

    session_id: str | None = field(default=None, repr=False)
    version: str | None = None
    requested: str | None = None
    asks_by_beta: bool = False
    turn: int = 0
    response: Response | None = None
    gap: Gap = _NOTHING_YET
    peaks: tuple[Response, ...] = ()
    windows: tuple[Window, ...] = ()
    is_streaming: bool = False
    compacting: bool = False
    compacted_from: int | None = None
    compaction_id: str | None = field(default=None, repr=False)

    def without_response(self, reason: MissingReason, known: Partial | None = None) -> StreamState:
        """Return the state in which nothing is measured, for *reason*."""
        return evolve(self, response=None, gap=Gap(reason=reason, partial=known))


def _in_session(state: StreamState, frame: Mapping[str, Any]) -> StreamState:
    """Return *state* in the session that *frame* names; another session begins with nothing."""
    named = text(frame, "session_id")
    if named is None or named == state.session_id:
        return state
    return evolve(state if state.session_id is None else StreamState(), session_id=named)


# -- frames of the session ----------------------------------------------------------------------


def _take_init(state: StreamState, frame: Mapping[str, Any], _at: datetime) -> StreamState:
    """Begin a turn: the frame is repeated at the start of each, and names the model in force."""
    requested = text(frame, "model")
    state = evolve(
        _compaction_over(state),
        version=text(frame, "claude_code_version"),
        requested=requested,
        asks_by_beta=_LONG_CONTEXT_BETA in str(frame.get("betas")),
        turn=state.turn + 1,
    )
    last = state.response
    if last is None or requested is None or not last.named:
        return state
    if same_model(_bare(last.named), _bare(requested)):
        return evolve(state, response=evolve(last, requested=requested))
    # Another model counts by another tokenizer, against another window.
    known = Partial(used_tokens=last.prompt_tokens or None, measured_at=last.measured_at)
    return state.without_response(MissingReason.NOT_MEASURED_YET, known)


def _take_reset(state: StreamState, _frame: Mapping[str, Any], _at: datetime) -> StreamState:
    return _compaction_over(state).without_response(MissingReason.NOT_MEASURED_YET)


# -- responses ----------------------------------------------------------------------------------


def _take_assistant(state: StreamState, frame: Mapping[str, Any], at: datetime) -> StreamState:
    message = frame.get("message")
    if not isinstance(message, Mapping) or _is_notice(message, frame):
        return state
    return _respond(state, message, instant(frame.get("timestamp")) or at)


def _is_notice(message: Mapping[str, Any], frame: Mapping[str, Any]) -> bool:
    """Tell whether Claude Code wrote the message itself: an error, or what a command printed.

    A response that was cut short can be marked as an error too, and has its usage.
    """
    if message.get("model") == SYNTHETIC_MODEL:
        return True
    is_error = frame.get("error") is not None or frame.get("is_api_error_message") is True
    return is_error and isinstance(anthropic(message.get("usage")), UsageFault)


def _take_event(state: StreamState, frame: Mapping[str, Any], at: datetime) -> StreamState:
    event = frame.get("event")
    if not isinstance(event, Mapping):
        return state
    message, usage = event.get("message"), event.get("usage")
    if event.get("type") == "message_start" and isinstance(message, Mapping):
        begun = _respond(state, message, at, begins=True)
        return evolve(begun, is_streaming=begun.response is not state.response)
    if event.get("type") == "message_delta" and isinstance(usage, Mapping):
        return _complete(state, usage, text(frame, "api_message_id"))
    return state


def _respond(
    state: StreamState, message: Mapping[str, Any], measured_at: datetime, *, begins: bool = False
) -> StreamState:
    """Take one report of a response, unless the response is the compaction's own call."""
    message_id = text(message, "id")
    if state.compacting or (message_id is not None and message_id == state.compaction_id):
        return state
    response = Response(
        message_id=message_id,
        model=text(message, "model"),
        requested=state.requested,
        reported=message.get("usage"),
        measured_at=measured_at,
        turn=state.turn,
    )
    last = state.response
    if last is not None and not begins and _adds_nothing(response, last):
        return state
    before = state.compacted_from
    if before is not None:
        state = evolve(state, compacted_from=None)
        if 100 * response.prompt_tokens >= _WHOLE_CONTEXT_PERCENT * before:
            return evolve(state, compaction_id=message_id)
    return _with_response(state, response)


def _adds_nothing(report: Response, last: Response) -> bool:
    """Tell whether *report* is of the response that *last* is, and *last* knows better.

    A gateway may give one id to every message, so an id alone does not make two turns one.
    """
    if report.message_id is None or report.message_id != last.message_id:
        return False
    if report.turn != last.turn:
        return False
    return last.is_final or (last.prompt_tokens > 0 and isinstance(report.usage, UsageFault))


def _complete(state: StreamState, usage: Mapping[str, Any], message_id: str | None) -> StreamState:
    """Complete the last response with a cumulative *usage*, whose nulls say nothing.

    Nor do the zeros of a prompt that is all zero: a gateway that counts the output only sends them.
    A gateway may send several of them: the last one counts. The event has no clock; the frames
    before it do (2.1.332), and the time stays theirs.
    """
    last = state.response
    if last is None or not state.is_streaming or message_id not in {None, last.message_id}:
        return state
    begun = last.reported if isinstance(last.reported, Mapping) else {}
    stated = {key: value for key, value in usage.items() if value is not None}
    prompt = {key: stated[key] for key in _PROMPT_KEYS if key in stated}
    if all(type(count) is int and count == 0 for count in prompt.values()):
        stated = {key: value for key, value in stated.items() if key not in prompt}
    return _with_response(state, evolve(last, reported={**begun, **stated}, is_final=True))


def _with_response(state: StreamState, response: Response) -> StreamState:
    peaks = {peak.named: peak for peak in state.peaks}
    peak = peaks.get(response.named, response)
    if response.prompt_tokens >= max(1, peak.prompt_tokens):
        peaks[response.named] = response
    return evolve(state, response=response, peaks=tuple(peaks.values()))


# -- compactions --------------------------------------------------------------------------------


def _take_status(state: StreamState, frame: Mapping[str, Any], _at: datetime) -> StreamState:
    """Follow a compaction: "compacting", then null with its outcome (none in 2.0.76)."""
    if frame.get("status") == "compacting":
        return evolve(state, compacting=True)
    if not state.compacting or frame.get("status", "absent") is not None:
        return state
    state = evolve(state, compacting=False)
    if frame.get("compact_result") != "success":
        return state
    before = None if state.response is None else state.response.prompt_tokens
    return evolve(state, compacted_from=before or None).without_response(MissingReason.COMPACTED)


def _take_boundary(state: StreamState, frame: Mapping[str, Any], at: datetime) -> StreamState:
    """Void what was measured: the context is a summary now, whose size is only estimated.

    ``post_tokens`` leaves out the system prompt and the tools (2.1.332: 930 before a call of
    9,005).
    """
    stated = frame.get("compact_metadata")
    metadata = stated if isinstance(stated, Mapping) else {}
    before, after = metadata.get("pre_tokens"), metadata.get("post_tokens")
    if not is_limit(before):
        before = None if state.response is None else state.response.prompt_tokens or None
    known = None
    if is_limit(after):
        measured_at = instant(frame.get("timestamp")) or at
        known = Partial(used_tokens=after, measured_at=measured_at, estimated=True)
    state = evolve(state, compacting=False, compacted_from=before)
    return state.without_response(MissingReason.COMPACTED, known)


def _compaction_over(state: StreamState) -> StreamState:
    return evolve(state, compacting=False, compacted_from=None)


# -- results ------------------------------------------------------------------------------------


def _take_result(state: StreamState, frame: Mapping[str, Any], at: datetime) -> StreamState:
    """End a turn. The windows are taken; of the usage only what is no sum."""
    windows = {window.key: window for window in (*state.windows, *_windows(frame, state.turn))}
    state = evolve(_compaction_over(state), windows=tuple(windows.values()))
    usage = frame.get("usage")
    if state.response is not None:
        return _confirmed(state, state.response, usage)
    if state.peaks or state.gap.reason is not MissingReason.NOT_MEASURED_YET:
        return state
    last_call = _last_call(usage)
    if last_call is not None:
        return _with_response(state, _only_response(state, frame, last_call, at))
    if frame.get("terminal_reason") == "prompt_too_long":
        return state.without_response(MissingReason.WINDOW_EXCEEDED)
    return state


def _windows(frame: Mapping[str, Any], turn: int) -> Iterator[Window]:
    """Yield the windows that ``modelUsage`` states; its counts are sums over the session."""
    stated = frame.get("modelUsage")
    for key, entry in stated.items() if isinstance(stated, Mapping) else ():
        if isinstance(entry, Mapping) and is_limit(tokens := entry.get("contextWindow")):
            yield Window(key, text(entry, "canonicalModel"), tokens, turn)


def _last_call(usage: object) -> Mapping[str, Any] | None:
    """Return the usage of the turn's last call, which is no sum: its last ``message`` iteration."""
    iterations = usage.get("iterations") if isinstance(usage, Mapping) else None
    if not isinstance(iterations, list):
        return None
    for iteration in reversed(iterations):
        if isinstance(iteration, Mapping) and iteration.get("type") == "message":
            return iteration if isinstance(anthropic(iteration), TokenUsage) else None
    return None


def _confirmed(state: StreamState, response: Response, usage: object) -> StreamState:
    """Take the true output of the last response from the turn's *usage*, where the two agree.

    They agree when the prompts are the same: the usage names its last call, or the turn had only
    one, for a sum over more is larger. A response whose own usage is faulty has nothing to agree
    with, and takes what the usage says of the last call.
    """
    last_call = _last_call(usage)
    confirmed = evolve(response, reported=last_call or usage, is_final=True)
    agrees = confirmed.prompt_tokens == response.prompt_tokens > 0
    is_better = response.prompt_tokens == 0 and last_call is not None
    return _with_response(state, confirmed) if agrees or is_better else state


def _only_response(
    state: StreamState, frame: Mapping[str, Any], last_call: Mapping[str, Any], at: datetime
) -> Response:
    """Return the response of a stream that is a result only (``--output-format json``)."""
    keys = [window.key for window in _windows(frame, state.turn)]
    return Response(
        message_id=text(frame, "uuid"),
        model=None,
        requested=state.requested or (keys[0] if len(keys) == 1 else None),
        reported=last_call,
        measured_at=at,
        turn=state.turn,
    )


# -- lines ----------------------------------------------------------------------------------------

_Take: TypeAlias = Callable[[StreamState, Mapping[str, Any], datetime], StreamState]

_FRAMES: Mapping[str, _Take] = {
    "assistant": _take_assistant,
    "conversation_reset": _take_reset,
    "result": _take_result,
    "stream_event": _take_event,
    "system/compact_boundary": _take_boundary,
    "system/conversation_reset": _take_reset,
    "system/init": _take_init,
    "system/status": _take_status,
}


def _relevant(line: bytes) -> bool:
    return not line.startswith(_BULK) and _IRRELEVANT.match(line) is None


def _step(state: StreamState, frame: Mapping[str, Any], query: Query) -> StreamState:
    if not _TRANSCRIPT_KEYS.isdisjoint(frame):  # its sub-agents could not be told from the rest
        return state.without_response(MissingReason.SOURCE_MALFORMED)
    if frame.get("parent_tool_use_id") is not None:  # a sub-agent's
        return state
    kind = text(frame, "type") or ""
    take = _FRAMES.get(f"system/{text(frame, 'subtype')}" if kind == "system" else kind)
    return state if take is None else take(_in_session(state, frame), frame, query.at)


def _recognise(frame: Mapping[str, Any]) -> bool:
    """Tell the frames that no other agent writes: Cursor and Qwen Code have their like of most."""
    match frame.get("type"), frame.get("subtype"):
        case "system", "init":
            return text(frame, "claude_code_version") is not None
        case "result", _:
            return "total_cost_usd" in frame and any(True for _ in _windows(frame, 0))
        case _:
            return False


# -- what a state shows -------------------------------------------------------------------------


def _evidence(state: StreamState, query: Query) -> Evidence:
    gap = _identity_gap(state, query)
    if gap is not None:
        return gap
    if state.response is None:
        model = _model(state, None, state.requested)
        return evolve(state.gap, runtime_version=state.version, model=model)
    return _turn_gap(state, state.response, query) or _of_response(state, state.response)


def _peak(state: StreamState, query: Query) -> Evidence:
    gap = _identity_gap(state, query)
    if gap is not None or not state.peaks:
        return gap or _evidence(state, query)
    fullest = max(state.peaks, key=lambda peak: _fullness(state, peak))
    return _of_response(state, fullest)


def _fullness(state: StreamState, response: Response) -> tuple[float, int]:
    """Return what to compare responses by: the share of the window if every one is known."""
    windows = [_window(state, peak) for peak in state.peaks]
    window = _window(state, response)
    share = 0.0 if window is None or None in windows else response.prompt_tokens / window
    return share, response.prompt_tokens


def _identity_gap(state: StreamState, query: Query) -> Gap | None:
    if query.session_id is not None and state.session_id not in {None, query.session_id}:
        return Gap(reason=MissingReason.SESSION_MISMATCH)
    if query.agent_id is not None:  # a sub-agent's frames are not followed; its transcript is
        return Gap(reason=MissingReason.USAGE_NOT_REPORTED)
    if query.turn_id is not None and query.turn_started_at is None:
        return Gap(reason=MissingReason.TURN_IDS_NOT_RECORDED)
    return None


def _turn_gap(state: StreamState, response: Response, query: Query) -> Gap | None:
    """Return the gap if *response* is not of the turn asked for; frames carry no turn ids."""
    if query.turn_started_at is not None:
        is_of_turn = response.measured_at >= query.turn_started_at
    else:
        is_of_turn = query.phase is not Phase.ACTIVE or response.turn == state.turn
    return None if is_of_turn else Gap(reason=MissingReason.TURN_NOT_FOUND)


def _of_response(state: StreamState, response: Response) -> Evidence:
    model = _model(state, response.model, response.requested, response.message_id)
    if isinstance(response.usage, UsageFault):
        return evolve(Gap.of_usage(response.usage), runtime_version=state.version, model=model)
    counted: dict[str, Any] = {
        "usage": response.usage,
        "used_basis": UsedBasis.PROMPT,
        "measured_at": response.measured_at,
        "identity": _sample_identity(state, response),
        "runtime_version": state.version,
        "model": model,
    }
    window = _window(state, response)
    if window is None:
        return UsedTokens(**counted)
    return TokenPair(
        **counted,
        limit_tokens=window,
        limit_basis=LimitBasis.WINDOW,
        default_limits=DEFAULT_WINDOWS,
        misstates_limit=misstates_window(state.version),
    )


def _sample_identity(state: StreamState, response: Response) -> tuple[str, ...]:
    return () if response.message_id is None else (state.session_id or "", response.message_id)


def _model(
    state: StreamState, answered: str | None, requested: str | None, message_id: str | None = None
) -> ModelRef | None:
    return model_ref(
        answered or requested,
        requested=None if state.asks_by_beta else requested,
        message_id=message_id,
    )


def _window(state: StreamState, response: Response) -> int | None:
    """Return the window that the runtime states for the model of *response*, or None.

    It is stated per requested model string: `X` and `X[1m]` may both be there, with other windows
    (2.0.76). A string that names another model than the answer's is trusted only if a result that
    covers the response states no other: a gateway may echo any name, and a fallback model has its
    own window.
    """
    model = _model(state, response.model, response.requested, response.message_id)
    if model is None:
        return None
    for window in state.windows:
        covers_all_calls = len(state.windows) == 1 and window.turn >= response.turn
        if window.key == response.requested and (
            covers_all_calls or same_model(_bare(window.key), model.id)
        ):
            return window.tokens
    named = {window.tokens for window in state.windows if _is_for(window, model)}
    return named.pop() if len(named) == 1 else None


def _is_for(window: Window, model: ModelRef) -> bool:
    key = ModelRef.as_started(window.key)
    if model.long_context_marker not in {None, key.long_context_marker}:
        return False
    return any(same_model(name, model.id) for name in (key.id, window.canonical) if name)


def _bare(model: str) -> str:
    return ModelRef.as_started(model).id


STREAM = StreamSource(
    origin=Origin(
        adapter="claude",
        source="claude.stream",
        method="claude_stream_usage",
        channel=Channel.HANDED_OVER,
        client="claude",
    ),
    about="The lines of claude --output-format stream-json: each response's prompt, and the window",
    initial=StreamState(),
    relevant=_relevant,
    step=_step,
    evidence=_evidence,
    peak=_peak,
    recognise=_recognise,
    tally=tally,
)
