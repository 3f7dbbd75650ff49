"""The messages of the Agent Client Protocol (JSON-RPC, one object per line), either way.

The agent reports ``used`` and ``size`` of a session by a ``session/update`` of the kind
``usage_update`` (stable since 2026-06-05, sent before that too), and that it compacted by a
``compaction_update`` (stable since 2026-10-09, to clients that asked for it). Kiro has messages of
its own instead. Decoys: ``usage`` in the answer to a ``session/prompt``, which is a sum over the
turn or the session; sub-agents, which report on the same connection as sessions of their own; the
first count after a compaction, which bridges estimate (of Claude Code without system prompt and
tools). No message has a clock or names a turn (formats/other_agents.md §2, §9).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any, TypeAlias, TypeGuard

from attrs import evolve, field, frozen

from ...bounded.fields import nested, text
from ...evidence import (
    Channel,
    Evidence,
    Gap,
    Origin,
    Query,
    TokenPair,
    UsedPercent,
    UsedTokens,
)
from ...observation import LimitBasis, MissingReason, UsedBasis
from ...source import StreamSource
from .reports import Reading, Report, Share, metadata_report, usage_report

__all__ = ["SESSION", "AcpState", "Agent", "Session"]

# Updates that are many or long, as the SDKs write them: the kind first (TypeScript, Rust), or after
# the content (Python). All else is decoded.
_UPDATE = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"'
_NEXT = b'","update":{"sessionUpdate":"'
_IRRELEVANT = (_NEXT + b"agent_", _NEXT + b"tool_call", _NEXT + b"user_message_chunk")
_CLOSED = b'"sessionUpdate":"%b"}}}'
_KINDS = (b"agent_message_chunk", b"agent_thought_chunk", b"tool_call_update", b"tool_call")
_IRRELEVANT_ENDS = tuple(_CLOSED % kind + end for end in (b"\n", b"") for kind in _KINDS)

_NOTHING_YET = MissingReason.NOT_MEASURED_YET
_UNNAMED = ""  # the session of messages that name none, before any is known

# The bridges to Claude Code state this for a window they do not know (claude-agent-acp#596).
_CLAUDE_BRIDGES = frozenset(
    {
        "@agentclientprotocol/claude-agent-acp",
        "@zed-industries/claude-agent-acp",
        "@zed-industries/claude-code-acp",
    }
)
_CLAUDE_DEFAULT_SIZES = frozenset({200_000})


@frozen(kw_only=True)
class Agent:
    """The agent at the other end, as its answer to ``initialize`` names it.

    Attributes:
        version: Its version as stated, or None.
        is_claude: It is a bridge to Claude Code; None while it has not named itself.
    """

    version: str | None = None
    is_claude: bool | None = None

    @property
    def default_sizes(self) -> frozenset[int]:
        """The windows that it may state for models it does not know."""
        return frozenset() if self.is_claude is False else _CLAUDE_DEFAULT_SIZES


@frozen(kw_only=True)
class Session:
    """A session of the connection: a conversation, or a sub-agent's.

    Attributes:
        shows: The last that was reported of it, or None before that.
        peak: The fullest that was measured, or None.
        prompt_id: The id of the last request that prompted it, or None.
        silence: Why nothing is known while nothing was reported.
    """

    shows: Report | None = None
    peak: Reading | Share | None = None
    prompt_id: int | str | None = field(default=None, repr=False)
    silence: MissingReason = _NOTHING_YET

    def reported(self, report: Report) -> Session:
        """Return the session after *report*."""
        if isinstance(report, Gap) and self._outlasts(report):
            return self
        if isinstance(report, Reading) and self._tells_of_compaction(report):
            report = evolve(report, follows_compaction=True)
        peak = self.peak
        match report:
            case Reading(is_measured=True) | Share():
                peak = max(report, peak or report, key=lambda each: each.fullness)
        return evolve(self, shows=report, peak=peak)

    def void(self, reason: MissingReason) -> Session:
        """Return the session without what it shows; what never was reported cannot be void."""
        return self if self.shows is None else evolve(self, shows=Gap(reason=reason))

    def cleared(self) -> Session:
        """Return the session without its history."""
        return evolve(self.void(_NOTHING_YET), silence=_NOTHING_YET)

    def _outlasts(self, gap: Gap) -> bool:
        """Whether the next count is no better known after *gap* than it was before."""
        if isinstance(self.shows, Reading):
            return self.shows.follows_compaction
        # A 0 is the bridges' own sign of a compaction, and a count comes next.
        return self._was_compacted and gap.reason is not MissingReason.NOT_MEASURED_YET

    def _tells_of_compaction(self, reading: Reading) -> bool:
        """Whether *reading* is the first since a compaction, or the same again."""
        match self.shows:
            case Reading(follows_compaction=True, used_tokens=estimate):
                return reading.used_tokens == estimate
            case _:
                return self._was_compacted

    @property
    def _was_compacted(self) -> bool:
        """Whether nothing was counted since a compaction."""
        match self.shows:
            case None:
                return self.silence is MissingReason.COMPACTED
            case Gap(reason=reason):
                return reason is MissingReason.COMPACTED
            case _:
                return False


@frozen(kw_only=True)
class AcpState:
    """What the messages of a connection have shown.

    Attributes:
        sessions: Its sessions that something is known of, by id.
        opened: The ids of the sessions that the client opened: a sub-agent's is not among them.
        loading: The ids of those that are being loaded or resumed, by the id of the request. Until
            its answer the agent repeats what happened in them.
        agent: The agent at the other end.
    """

    sessions: Mapping[str, Session] = field(factory=dict, repr=False)
    opened: frozenset[str] = field(default=frozenset(), repr=False)
    loading: Mapping[int | str, str] = field(factory=dict, repr=False)
    agent: Agent = Agent()

    @property
    def candidates(self) -> Collection[str]:
        """The ids of the sessions that can be meant where none is named."""
        reported = [id_ for id_, each in self.sessions.items() if each.shows is not None]
        return self.opened or reported or self.sessions.keys()

    @property
    def only(self) -> str | None:
        """The id of the one session that can be meant where none is named, or None."""
        candidates = self.candidates
        return next(iter(candidates)) if len(candidates) == 1 else None

    def session(self, session_id: str) -> Session:
        """Return the session with the id *session_id*, whether anything is known of it or not."""
        return self.sessions.get(session_id, Session())

    def with_session(self, session_id: str, session: Session) -> AcpState:
        """Return the state with *session* under *session_id*; itself if that changes nothing."""
        if session == self.session(session_id):
            return self
        return evolve(self, sessions={**self.sessions, session_id: session})

    def with_opened(self, session_id: str) -> AcpState:
        """Return the state with *session_id* among the opened; itself if it is already."""
        if session_id in self.opened:
            return self
        return evolve(self, opened=self.opened | {session_id})


# -- notifications ------------------------------------------------------------------------------


def _take_update(state: AcpState, row: Mapping[str, Any], at: datetime) -> AcpState:
    params = nested(row, "params")
    update = nested(params, "update")
    match update.get("sessionUpdate"), update.get("status"):
        case "usage_update", _:
            return _reported(state, params, usage_report(update, at))
        case "compaction_update", "completed":
            return _compacted(state, params)
        case _:
            return state


def _take_metadata(state: AcpState, row: Mapping[str, Any], at: datetime) -> AcpState:
    params = nested(row, "params")
    report = metadata_report(params, at)
    return state if report is None else _reported(state, params, report)


def _take_compaction(state: AcpState, row: Mapping[str, Any], _at: datetime) -> AcpState:
    """Void what was reported once Kiro has compacted; it reports again about a second later.

    The status is a text, or since 1.29.0 an object.
    """
    params = nested(row, "params")
    if "completed" not in (params.get("status"), nested(params, "status").get("type")):
        return state
    return _compacted(state, params)


def _take_clear(state: AcpState, row: Mapping[str, Any], _at: datetime) -> AcpState:
    return _changed(state, nested(row, "params"), Session.cleared)


def _reported(state: AcpState, params: Mapping[str, Any], report: Report) -> AcpState:
    session_id = text(params, "sessionId") or state.only or _UNNAMED
    return state.with_session(session_id, state.session(session_id).reported(report))


def _compacted(state: AcpState, params: Mapping[str, Any]) -> AcpState:
    """Take a compaction, though nothing was reported before it: what is said next estimates."""
    named = text(params, "sessionId")
    if named is not None and named not in state.loading.values():
        session = evolve(state.session(named), silence=MissingReason.COMPACTED)
        state = state.with_session(named, session)
    return _changed(state, params, lambda session: session.void(MissingReason.COMPACTED))


def _changed(
    state: AcpState, params: Mapping[str, Any], change: Callable[[Session], Session]
) -> AcpState:
    """Change a session, or all of them: a notice that names none may be about any."""
    named = text(params, "sessionId")
    for session_id in state.sessions if named is None else (named,):
        state = state.with_session(session_id, change(state.session(session_id)))
    return state


# -- requests and answers -----------------------------------------------------------------------


def _take_opening(state: AcpState, row: Mapping[str, Any], _at: datetime) -> AcpState:
    session_id, loading_id = text(nested(row, "params"), "sessionId"), row.get("id")
    if session_id is None or session_id in state.opened:
        return state
    if _is_id(loading_id):
        state = evolve(state, loading={**state.loading, loading_id: session_id})
    return state.with_opened(session_id)


def _is_id(value: object) -> TypeGuard[int | str]:
    return type(value) in {int, str}


def _take_prompt(state: AcpState, row: Mapping[str, Any], _at: datetime) -> AcpState:
    """Take which session a request prompts: the answer does not say."""
    session_id, prompt_id = text(nested(row, "params"), "sessionId"), row.get("id")
    if session_id is None or not _is_id(prompt_id):
        return state
    session = evolve(state.session(session_id), prompt_id=prompt_id)
    return state.with_opened(session_id).with_session(session_id, session)


def _take_answer(state: AcpState, row: Mapping[str, Any]) -> AcpState:
    """Take an answer to ``initialize``, to what opens a session, or to a prompt."""
    state = _of_loading(state, row)
    result = nested(row, "result")
    if "agentInfo" in result:
        state = _of_agent(state, nested(result, "agentInfo"))
    opened = text(result, "sessionId")
    if opened is not None:
        state = state.with_opened(opened)
    return state if text(result, "stopReason") is None else _of_turn(state, row, result)


def _of_loading(state: AcpState, row: Mapping[str, Any]) -> AcpState:
    """Take the end of a request to load a session, which opened none if it was refused."""
    answered = row.get("id")
    if not _is_id(answered) or answered not in state.loading:
        return state
    loading = {id_: each for id_, each in state.loading.items() if id_ != answered}
    refused = {state.loading[answered]} if "error" in row else set()
    return evolve(state, loading=loading, opened=state.opened - refused)


def _of_agent(state: AcpState, named: Mapping[str, Any]) -> AcpState:
    name = text(named, "name")
    is_claude = None if name is None else name in _CLAUDE_BRIDGES
    agent = Agent(version=text(named, "version"), is_claude=is_claude)
    return state if agent == state.agent else evolve(state, agent=agent)


def _of_turn(state: AcpState, row: Mapping[str, Any], result: Mapping[str, Any]) -> AcpState:
    """Take what the end of a turn says of a session that reports nothing itself."""
    prompted = [id_ for id_, each in state.sessions.items() if each.prompt_id == row.get("id")]
    session_id = prompted[0] if len(prompted) == 1 else state.only
    if session_id is None and not state.candidates:
        session_id = _UNNAMED
    if session_id is None:
        return state
    session = state.session(session_id)
    silence = _silence(session, result)
    return state.with_session(session_id, evolve(session, silence=silence))


def _silence(session: Session, result: Mapping[str, Any]) -> MissingReason:
    """Return why nothing is known of *session* after the turn that ended with *result*.

    What ``usage`` counts is not settled: the protocol's draft says all turns of the session, and
    agents send the session's sum, the turn's or the last request's. Gemini CLI's ``quota`` is the
    turn's sum.
    """
    if session.silence is MissingReason.COMPACTED:
        return session.silence
    if nested(result, "usage") or nested(nested(result, "_meta"), "quota"):
        return MissingReason.CUMULATIVE_ONLY
    if result["stopReason"] == "cancelled" or session.silence is MissingReason.CUMULATIVE_ONLY:
        return session.silence
    return MissingReason.USAGE_NOT_REPORTED


# -- lines --------------------------------------------------------------------------------------

_Take: TypeAlias = Callable[[AcpState, Mapping[str, Any], datetime], AcpState]

_METADATA = "_kiro.dev/metadata"
_METHODS: Mapping[str, _Take] = {
    "session/load": _take_opening,
    "session/prompt": _take_prompt,
    "session/resume": _take_opening,
    "session/update": _take_update,
    "_kiro.dev/clear/status": _take_clear,
    "_kiro.dev/compaction/status": _take_compaction,
    _METADATA: _take_metadata,
}


def _relevant(line: bytes) -> bool:
    if not line.startswith(_UPDATE):
        return True
    after_id = line.find(b'"', len(_UPDATE))
    return not (line.startswith(_IRRELEVANT, after_id) or line.endswith(_IRRELEVANT_ENDS))


def _step(state: AcpState, row: Mapping[str, Any], query: Query) -> AcpState:
    method = text(row, "method")
    if method is None:
        return _take_answer(state, row)
    take = _METHODS.get(method)
    return state if take is None else take(state, row, query.at)


def _recognise(row: Mapping[str, Any]) -> bool:
    """Tell a message by a method that only this protocol has, and by what it is about."""
    params = nested(row, "params")
    if row.get("jsonrpc") != "2.0" or text(params, "sessionId") is None:
        return False
    match row.get("method"):
        case "session/update":
            return text(nested(params, "update"), "sessionUpdate") is not None
        case method:
            return method == _METADATA


# -- what a state shows -------------------------------------------------------------------------


def _evidence(state: AcpState, query: Query) -> Evidence:
    session_id = _asked_session(state, query)
    if isinstance(session_id, Gap):
        return evolve(session_id, runtime_version=state.agent.version)
    session = state.session(session_id)
    shown = session.shows or Gap(reason=session.silence)
    if not isinstance(shown, Gap):
        shown = _turn_gap(shown, query) or shown
    return _of_report(state, session_id, shown)


def _peak(state: AcpState, query: Query) -> Evidence:
    session_id = _asked_session(state, query)
    if isinstance(session_id, Gap):
        return _evidence(state, query)
    peak = state.session(session_id).peak
    return _evidence(state, query) if peak is None else _of_report(state, session_id, peak)


def _asked_session(state: AcpState, query: Query) -> str | Gap:
    """Return the session asked for: a sub-agent's, the one named, or else the only one."""
    if query.turn_id is not None and query.turn_started_at is None:
        return Gap(reason=MissingReason.TURN_IDS_NOT_RECORDED)
    asked = query.agent_id or query.session_id
    if asked is None:
        return _only_session(state)
    if asked in state.sessions or asked in state.opened:
        return asked
    if state.only == _UNNAMED:  # nothing names another one
        return _UNNAMED
    if state.candidates:
        return Gap(reason=MissingReason.SESSION_MISMATCH)
    return Gap(reason=MissingReason.NOT_MEASURED_YET)


def _only_session(state: AcpState) -> str | Gap:
    if len(state.candidates) > 1:
        return Gap(reason=MissingReason.SESSION_AMBIGUOUS)
    return state.only or _UNNAMED


def _turn_gap(shown: Reading | Share, query: Query) -> Gap | None:
    began = query.turn_started_at
    if began is None or shown.measured_at >= began:
        return None
    return Gap(reason=MissingReason.TURN_NOT_FOUND)


def _of_report(state: AcpState, session_id: str, report: Report) -> Evidence:
    version = state.agent.version
    match report:
        case Gap():
            return evolve(report, runtime_version=version)
        case Share():
            return UsedPercent(
                measured_at=report.measured_at,
                identity=_identity(session_id),
                runtime_version=version,
                used_percent=report.used_percent,
            )
        case Reading(follows_compaction=True):
            return Gap(
                reason=MissingReason.COMPACTED, partial=report.known, runtime_version=version
            )
        case _:
            return _of_reading(state, session_id, report)


def _of_reading(state: AcpState, session_id: str, reading: Reading) -> Evidence:
    counted: dict[str, Any] = {
        "used_tokens": reading.used_tokens,
        "used_basis": UsedBasis.PROMPT_AND_OUTPUT,  # "all tokens currently in context"
        "measured_at": reading.measured_at,
        "identity": _identity(session_id),
        "runtime_version": state.agent.version,
        "estimated": reading.is_approximate,
    }
    if not isinstance(reading.size, int):
        return UsedTokens(**counted, limit_missing=reading.size)
    return TokenPair(
        **counted,
        limit_tokens=reading.size,
        limit_basis=LimitBasis.WINDOW,
        default_limits=state.agent.default_sizes,
        # Agents do exceed their windows before they compact (Pi: 109 %), but for those that are
        # known to state a wrong one.
        overflows=not state.agent.is_claude,
    )


def _identity(session_id: str) -> tuple[str, ...]:
    """Return what singles a report out beside its numbers: its session, and nothing else."""
    return (session_id,) if session_id != _UNNAMED else ()


SESSION = StreamSource(
    origin=Origin(
        adapter="acp",
        source="acp.session",
        method="acp_usage_update",
        percent_method="acp_kiro_metadata",
        channel=Channel.HANDED_OVER,
    ),
    about="The messages of the Agent Client Protocol: use and window, or Kiro's percentage",
    initial=AcpState(),
    relevant=_relevant,
    step=_step,
    evidence=_evidence,
    peak=_peak,
    recognise=_recognise,
)
