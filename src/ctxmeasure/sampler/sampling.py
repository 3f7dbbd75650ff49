"""The sampler itself: what is done at which boundary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from attrs import Attribute, evolve, field, frozen

from ..assess import DEFAULT_POLICY, Policy
from ..bounded.decode import decode_object
from ..bounded.encode import encode_object
from ..capability.model import ModelRef
from ..evidence import Phase, Query
from ..measurement import utc_milliseconds
from ..observation import Missing, MissingReason, Observation, Observed
from ..record import compaction_completed, compaction_started, context_observed
from ..record.opaque import event_id
from ..registry import HOOKED_AGENTS, hooks
from ..track.pending import Target, Tried
from .boundary import Boundary
from .question import Databases, Question, Reader
from .state import OpenTurn, SamplerState

__all__ = ["Attempt", "Event", "Sampler"]

# What the next moments can mend: the last rows of a turn are on their way to the disk.
_NOT_YET = frozenset(
    {
        MissingReason.CARRIED_OVER,
        MissingReason.CHAIN_BROKEN,
        MissingReason.COMPACTED,
        MissingReason.NOT_MEASURED_YET,
        MissingReason.SESSION_NOT_FOUND,
        MissingReason.SOURCE_ABSENT,
        MissingReason.SOURCE_BUSY,
        MissingReason.TURN_NOT_FINISHED,
        MissingReason.TURN_NOT_FOUND,
    }
)
# Where the sample has to be of the running turn.
_OF_A_TURN = frozenset({Boundary.TOOL_COMPLETED, Boundary.PRE_COMPACTION, Boundary.STOP})


@frozen
class Event:
    """One line for a ledger.

    Attributes:
        body: The event as JSON data, as `record.context_observed` and its siblings make it.
    """

    body: dict[str, Any]

    @property
    def record_id(self) -> str:
        """The event's own id: the same when the same step is taken again."""
        return str(self.body["record_id"])

    @property
    def source_record_id(self) -> str | None:
        """The id of the event's sample, or None when it has none."""
        found: str | None = self.body["provenance"].get("source_record_id")
        return found

    def line(self) -> str:
        """Return the event as one line of JSON, without a newline at its end."""
        return encode_object(self.body)


_Step: TypeAlias = tuple[SamplerState, tuple[Event, ...]]


@frozen(kw_only=True)
class Attempt:
    """What is to be done at one hook, as `Sampler.begin` decided it.

    Attributes:
        boundary: The moment in the turn.
        question: What the hook asks.
        is_due: Whether the context is looked at; if not, only what is pending is.
    """

    boundary: Boundary
    question: Question
    is_due: bool


def _agent(_: object, __: Attribute[str], agent: object) -> None:
    if not isinstance(agent, str):
        raise TypeError("agent: expected a str")
    if agent not in HOOKED_AGENTS:
        raise ValueError(f"agent: expected one of {', '.join(HOOKED_AGENTS)}")


def _secret(_: object, __: Attribute[bytes], key: object) -> None:
    if not isinstance(key, bytes):
        raise TypeError("key: expected bytes")
    if not key:
        raise ValueError("key: expected at least one byte")


@frozen(kw_only=True)
class Sampler:
    """Samples at the hooks of one agent; holds no state itself.

    Attributes:
        agent: ``claude``, ``codex`` or ``cursor``.
        key: The secret under which all ids are digested.
        databases: For Cursor: the databases that may hold the session, by source id
            (``cursor.chat_store``, ``cursor.composer``). Only the most recently written are opened.
        policy: What is accepted as a measurement.
        model: The model as the agent was started with it, or None.
        limit_tokens: A limit that the caller declares, in tokens, or None.

    Raises:
        TypeError: *agent* is not a str, or *key* not bytes.
        ValueError: The hooks of *agent* are not known, or *key* is empty.
    """

    agent: str = field(validator=_agent)
    key: bytes = field(repr=False, validator=_secret)
    databases: Databases = field(factory=dict, repr=False)
    policy: Policy = DEFAULT_POLICY
    model: str | ModelRef | None = None
    limit_tokens: int | None = None

    def step(
        self,
        state: SamplerState,
        boundary: Boundary,
        payload: Mapping[str, Any],
        *,
        now: datetime,
    ) -> _Step:
        """Sample at one hook: `begin` and `complete` in one.

        Args:
            state: What the last step returned; `SamplerState()` for a new session.
            boundary: The moment in the turn, see `boundary_of`.
            payload: The hook's decoded payload. One of another agent, or of no session, does
                nothing.
            now: When it was handed over; aware.

        Returns:
            The state to keep, and the events to append to the ledger, in their order.

        Raises:
            TypeError: An argument has the wrong type (the message names it).
            ValueError: *now* has no time zone.
        """
        state, attempt = self.begin(state, boundary, payload, now=now)
        return (state, ()) if attempt is None else self.complete(state, attempt)

    def begin(
        self,
        state: SamplerState,
        boundary: Boundary,
        payload: Mapping[str, Any],
        *,
        now: datetime,
    ) -> tuple[SamplerState, Attempt | None]:
        """Decide what is to be done at a hook, and stamp it; no file is read.

        Save the state before `complete` where the process may be killed while it reads: then a
        reading that hangs uses its interval up like any other, and the turn that ended here is
        waited for.

        Args:
            state: As for `step`, like all below.
            boundary: The moment in the turn.
            payload: The hook's payload.
            now: When it was handed over.

        Returns:
            The stamped state, and what is to be done; None when that is nothing.

        Raises:
            TypeError: An argument has the wrong type (the message names it).
            ValueError: *now* has no time zone.
        """
        _check(state, now)
        if not isinstance(boundary, Boundary):
            raise TypeError("boundary: expected a Boundary")
        if not isinstance(payload, Mapping):
            raise TypeError("payload: expected a mapping")
        asked = self._reader().asked_by(payload, at=now)
        if asked is None:
            return state, None
        turn = _open_turn(state.turn, boundary, asked)
        asked = _completed(asked, boundary, turn)
        ending = (*_left(state.turn, turn, boundary, asked), *_stopped(boundary, asked))
        state = _waiting(evolve(state, turn=turn, ended=()), ending)
        state, is_due = self._stamped(state, boundary, asked)
        if is_due or state.pending.due(now=now):
            return state, Attempt(boundary=boundary, question=asked, is_due=is_due)
        return state, None

    def complete(self, state: SamplerState, attempt: Attempt) -> _Step:
        """Read what *attempt* asks for.

        Returns:
            The state to keep, and the events to append to the ledger, in their order.

        Raises:
            TypeError: An argument has the wrong type (the message names it).
        """
        if not isinstance(state, SamplerState):
            raise TypeError("state: expected a SamplerState")
        if not isinstance(attempt, Attempt):
            raise TypeError("attempt: expected an Attempt")
        state, late = self._retried(state, attempt)
        if not attempt.is_due:
            return state, late
        state, new = self._sampled(state, attempt)
        return state, (*late, *new)

    def publish(
        self,
        state: SamplerState,
        observation: Observation,
        *,
        session_id: str,
        turn_id: str | None = None,
        agent_id: str | None = None,
        now: datetime,
    ) -> _Step:
        """Return the event of an *observation* that the caller made, if its sample is new.

        For payloads that are no hook's, such as a status line's.

        Args:
            state: As for `step`.
            observation: What was observed; a missing one is always published.
            session_id: The agent's own session id; like the next two, it leaves as a digest.
            turn_id: The agent's own turn id, or None.
            agent_id: A sub-agent's id if its context was measured, or None.
            now: When it was observed; aware.

        Raises:
            TypeError: An argument has the wrong type (the message names it).
            ValueError: An id is empty, or *now* has no time zone.
        """
        _check(state, now)
        published, is_new = state.published.publish(observation, key=self.key)
        state = evolve(state, published=published)
        if not is_new:
            return state, ()
        body = context_observed(
            observation,
            session_key=session_id,
            turn_key=turn_id,
            agent_key=agent_id,
            key=self.key,
            observed_at=now,
        )
        return state, (Event(body),)

    # -- what is stamped --------------------------------------------------------------------------

    def _reader(self) -> Reader:
        return Reader(
            hooks=hooks(self.agent),
            databases=self.databases,
            policy=self.policy,
            vouched={"model": self.model, "limit_tokens": self.limit_tokens},
        )

    def _stamped(
        self, state: SamplerState, boundary: Boundary, asked: Question
    ) -> tuple[SamplerState, bool]:
        """Return the state with the attempt in it, and whether it may be made."""
        if boundary is not Boundary.TOOL_COMPLETED:
            return state, True
        turn = asked.stated_turn if asked.query is None else asked.query.turn_id
        facts = (asked.session_id, turn or asked.stated_turn or "", asked.agent_id or "")
        name = event_id("turn", *facts, key=self.key)
        cadence, is_due = state.cadence.attempt(name, now=asked.at)
        return evolve(state, cadence=cadence), is_due

    # -- what was not there yet -------------------------------------------------------------------

    def _retried(self, state: SamplerState, attempt: Attempt) -> _Step:
        """Ask again for the ended turns whose last sample was not on disk."""
        asked = attempt.question
        ending = asked.session_id if attempt.boundary is Boundary.SESSION_END else None
        events: tuple[Event, ...] = ()
        for target in state.pending.due(now=asked.at, ending_session=ending):
            query = Query(
                at=asked.at,
                session_id=target.session_id,
                turn_id=target.turn_id,
                agent_id=target.agent_id,
                phase=Phase.TERMINAL,
                model=self.model,
                limit_tokens=self.limit_tokens,
            )
            said = self._reader().in_transcript(target.path, query)
            pending, end = state.pending.tried(
                target, _tried(said), now=asked.at, ending_session=ending
            )
            ended = state.ended if end is None else (*state.ended, end)
            state = evolve(state, pending=pending, ended=ended)
            if isinstance(said, Observed):
                state, new = self.publish(
                    state,
                    said,
                    session_id=target.session_id,
                    turn_id=target.turn_id,
                    agent_id=target.agent_id,
                    now=asked.at,
                )
                events = (*events, *new)
        return state, events

    # -- what is there now ------------------------------------------------------------------------

    def _sampled(self, state: SamplerState, attempt: Attempt) -> _Step:
        asked = attempt.question
        match attempt.boundary:
            case Boundary.PROMPT | Boundary.OTHER:
                return self._measured(state, asked.native, asked)
            case Boundary.PRE_COMPACTION:
                return self._before_compaction(state, asked)
            case Boundary.POST_COMPACTION:
                return self._after_compaction(state, asked)
            case Boundary.STOP:
                state, said = self._answer(state, asked)
                return self._at_stop(state, said, asked)
            case _:
                state, said = self._answer(state, asked)
                return self._measured(state, said, asked)

    def _answer(self, state: SamplerState, asked: Question) -> tuple[SamplerState, Observation]:
        said, database = self._reader().answer(asked, state.database)
        return evolve(state, database=database), said

    def _measured(self, state: SamplerState, said: Observation, asked: Question) -> _Step:
        """Publish a measurement; why there is none is not said before the turn's end."""
        return self._published(state, said, asked) if isinstance(said, Observed) else (state, ())

    def _published(self, state: SamplerState, said: Observation, asked: Question) -> _Step:
        return self.publish(
            state,
            said,
            session_id=asked.session_id,
            turn_id=_turn_of(said, asked, state.turn),
            agent_id=asked.agent_id,
            now=asked.at,
        )

    def _at_stop(self, state: SamplerState, said: Observation, asked: Question) -> _Step:
        if asked.agent_id is None:  # no compaction is under way any more
            state = evolve(state, before=None)
        if isinstance(said, Missing) and not _may_come(said, asked):
            state = _given_up(state, asked)
        if isinstance(said, Missing) and asked.agent_id is not None:
            return state, ()  # its end is no turn's end, and some leave no file at all
        return self._published(state, said, asked)

    # -- compaction -------------------------------------------------------------------------------

    def _before_compaction(self, state: SamplerState, asked: Question) -> _Step:
        """Say what is about to be replaced: of a manual compaction, what an earlier turn left."""
        state, before = self._answer(state, asked)
        if isinstance(before, Missing):
            asked = asked.of_any_turn()
            state, before = self._answer(state, asked)
        state, events = self._measured(state, before, asked)
        started = compaction_started(before, **self._whose(asked))
        remembered = encode_object(started["payload"]["before"])
        return evolve(state, before=remembered), (*events, Event(started))

    def _after_compaction(self, state: SamplerState, asked: Question) -> _Step:
        state, after = self._answer(state, asked)
        before = None if state.before is None else decode_object(state.before.encode())
        succeeded = asked.is_compacted or (
            isinstance(after, Missing) and after.reason is MissingReason.COMPACTED
        )
        outcome = "succeeded" if succeeded else "unknown"
        completed = compaction_completed(before, after, outcome, **self._whose(asked))
        state, events = self._measured(evolve(state, before=None), after, asked)
        return state, (Event(completed), *events)

    def _whose(self, asked: Question) -> dict[str, Any]:
        return {
            "session_key": asked.session_id,
            "turn_key": asked.stated_turn,
            "agent_key": asked.agent_id,
            "key": self.key,
            "observed_at": asked.at,
        }


def _check(state: object, now: datetime) -> None:
    if not isinstance(state, SamplerState):
        raise TypeError("state: expected a SamplerState")
    utc_milliseconds(now, "now")  # for what it raises


# -- the turn -------------------------------------------------------------------------------------


def _open_turn(known: OpenTurn | None, boundary: Boundary, asked: Question) -> OpenTurn | None:
    """Return the session's turn as of this hook; a sub-agent's hooks and the last one say none.

    The prompt id of Claude Code's ``SessionEnd`` is that of the command that ended the session.
    """
    if asked.agent_id is not None or boundary is Boundary.SESSION_END:
        return known
    if known is None or known.session_id != asked.session_id:
        known = OpenTurn(session_id=asked.session_id)
    is_over = boundary is Boundary.STOP
    known = evolve(known, path=asked.path or known.path)
    if boundary is Boundary.PROMPT:
        return evolve(known, turn_id=asked.stated_turn, started_at=asked.at, is_over=False)
    if asked.stated_turn in (None, known.turn_id):
        # A tool shows that the turn went on: another hook of the same stop can demand it.
        may_be_over = known.is_over and boundary is not Boundary.TOOL_COMPLETED
        return evolve(known, is_over=is_over or may_be_over)
    return evolve(known, turn_id=asked.stated_turn, started_at=None, is_over=is_over)


def _completed(asked: Question, boundary: Boundary, turn: OpenTurn | None) -> Question:
    """Return *asked* with what earlier hooks of the session said and this one does not."""
    query = asked.query
    if turn is None or turn.session_id != asked.session_id:
        return asked
    if query is None or query.agent_id is not None:
        return asked
    asked = evolve(asked, path=asked.path or turn.path)
    if boundary not in _OF_A_TURN or not asked.has_transcript or query.turn_id is not None:
        return asked
    if turn.turn_id is not None:
        return evolve(asked, stated_turn=turn.turn_id, query=evolve(query, turn_id=turn.turn_id))
    return evolve(asked, query=evolve(query, turn_started_at=turn.started_at))


def _turn_of(said: Observation, asked: Question, turn: OpenTurn | None) -> str | None:
    """Return the turn that *said* is of, or None if that is not known.

    A transcript's sample was matched with the turn that was asked for. A store's was not: it is of
    the running turn if it was taken since that began.
    """
    if said is asked.native or isinstance(said, Missing):
        return asked.stated_turn
    if asked.has_transcript:
        return None if asked.query is None else asked.query.turn_id
    began = None if turn is None else turn.started_at
    is_since = began is not None and said.value.measured_at >= began
    return asked.stated_turn if is_since else None


# -- what is pending ------------------------------------------------------------------------------


def _tried(said: Observation) -> Tried:
    if isinstance(said, Observed):
        return Tried.FOUND
    return Tried.NOT_YET if said.reason in _NOT_YET else Tried.REFUSED


def _stopped(boundary: Boundary, asked: Question) -> Iterator[Target]:
    """Yield the turn that stops here, also where its sample is there.

    It may be of an earlier response of the turn, whose last is still on its way to the disk, and
    nothing in the file tells.
    """
    query, path = asked.query, asked.path
    if boundary is not Boundary.STOP or query is None or path is None or not asked.has_transcript:
        return
    if query.turn_id is not None and isinstance(asked.native, Missing):
        yield _target(path, query.turn_id, query.agent_id, asked)


def _left(
    known: OpenTurn | None, turn: OpenTurn | None, boundary: Boundary, asked: Question
) -> Iterator[Target]:
    """Yield the turn that was *known* and is over without a stop, as this hook shows.

    It was interrupted, or the process of its stop was killed.
    """
    if known is None or turn is None or known.is_over or not asked.has_transcript:
        return
    if known.turn_id is None or known.path is None or known.session_id != asked.session_id:
        return
    if boundary is Boundary.SESSION_END or turn.turn_id != known.turn_id:
        yield _target(known.path, known.turn_id, None, asked)


def _target(path: str, turn_id: str, agent_id: str | None, asked: Question) -> Target:
    return Target(
        path=path,
        session_id=asked.session_id,
        turn_id=turn_id,
        agent_id=agent_id,
        tried_at=asked.at,
    )


def _waiting(state: SamplerState, targets: Iterable[Target]) -> SamplerState:
    for target in targets:
        pending, ended = state.pending.add(target)
        state = evolve(state, pending=pending, ended=(*state.ended, *ended))
    return state


def _may_come(said: Missing, asked: Question) -> bool:
    """Tell whether waiting can mend what a turn's end lacks."""
    if asked.query is None:
        return False
    # Asked for as a running turn (Codex), its sample must be fresh; as an ended one, only as of the
    # turn's end. A sub-agent without a file never gets one (Claude Code's own, that compacts).
    is_late = asked.query.phase is Phase.ACTIVE and said.reason is MissingReason.SAMPLE_STALE
    is_void = asked.agent_id is not None and said.reason is MissingReason.SOURCE_ABSENT
    return not is_void and (is_late or said.reason in _NOT_YET)


def _given_up(state: SamplerState, asked: Question) -> SamplerState:
    """Return the state without what `begin` has it wait for at this stop."""
    for target in {*_stopped(Boundary.STOP, asked)} & {*state.pending.targets}:
        pending, end = state.pending.tried(target, Tried.REFUSED, now=asked.at)
        state = evolve(state, pending=pending, ended=(*state.ended, *filter(None, (end,))))
    return state
