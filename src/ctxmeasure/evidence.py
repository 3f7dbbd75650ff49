"""What an adapter saw, with the facts the judge needs and nothing decided.

An adapter returns one of `TokenPair`, `UsedTokens`, `UsedPercent` or `Gap`, or `NeedMore` when the
answer is not in the bytes it was given. Nothing here grades anything: that is `assess`. May import
`observation` and what lies below it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import MAXYEAR, MINYEAR, datetime
from enum import StrEnum
from typing import TypeAlias

from attrs import Attribute, field, frozen
from attrs.validators import optional

from .bounded.keys import Key
from .capability.model import ModelRef
from .measurement import count, utc_milliseconds
from .observation import LimitBasis, MissingReason, Partial, UsedBasis
from .usage import TokenUsage, UsageFault

__all__ = [
    "Channel",
    "Claim",
    "Evidence",
    "Gap",
    "NeedKeys",
    "NeedMore",
    "Origin",
    "Phase",
    "Quantity",
    "Query",
    "Sample",
    "TokenPair",
    "UsedPercent",
    "UsedTokens",
]


class Phase(StrEnum):
    """When, in the life of a turn, the question is asked."""

    ACTIVE = "active"
    """The turn is running: the sample must belong to it and be fresh."""
    TERMINAL = "terminal"
    """The turn has ended: its last sample."""
    LATEST = "latest"
    """The newest trustworthy sample of the session."""


def _some_text(_: object, attribute: Attribute[str | None], text: str | None) -> None:
    if text is None:
        return
    if not isinstance(text, str):
        raise TypeError(f"{attribute.name}: expected a str")
    if not text:
        raise ValueError(f"{attribute.name}: expected at least one character")


def _aware(_: object, attribute: Attribute[datetime], moment: datetime) -> None:
    utc_milliseconds(moment, attribute.name)  # for what it raises: a question keeps its zone


def _phase(phase: Phase | str) -> Phase:
    if isinstance(phase, Phase):
        return phase
    try:
        return Phase(phase)
    except ValueError:
        raise ValueError("phase: expected active, terminal or latest") from None


def _vouched(model: ModelRef | str | None) -> ModelRef | None:
    return ModelRef.as_started(model) if isinstance(model, str) else model


def _model(_: object, __: Attribute[ModelRef | None], model: ModelRef | None) -> None:
    if model is not None and not isinstance(model, ModelRef):
        raise TypeError("model: expected a str or a ModelRef")


@frozen(kw_only=True)
class Query:
    """What is asked of a source.

    Attributes:
        at: The moment of the question; aware. Time enters the library here and nowhere else. A
            payload or a stream's line is asked as of the moment at which it was received, which is
            what it was measured at if it has no clock of its own (see `reading.observe`).
        session_id: The agent's own session id; None takes the file's or stream's session.
        turn_id: The agent's own turn id (Claude Code: ``prompt_id``).
        turn_started_at: When the turn began; aware. For agents that record no turn ids.
        agent_id: A sub-agent's id, to measure that sub-agent and not the main chain.
        phase: When in the life of the turn the question is asked.
        model: A model the caller vouches for, as the agent was started with it.
        limit_tokens: A limit the caller declares, in tokens.

    Raises:
        TypeError: An argument has the wrong type (the message names it).
        ValueError: An argument has an impossible value (the message names it).
    """

    at: datetime = field(validator=_aware)
    session_id: str | None = field(default=None, repr=False, validator=_some_text)
    turn_id: str | None = field(default=None, repr=False, validator=_some_text)
    turn_started_at: datetime | None = field(default=None, validator=optional(_aware))
    agent_id: str | None = field(default=None, repr=False, validator=_some_text)
    phase: Phase = field(default=Phase.LATEST, converter=_phase)
    model: ModelRef | None = field(default=None, converter=_vouched, validator=_model)
    limit_tokens: int | None = field(default=None, validator=optional(count(1)))

    def as_of(self, at: datetime) -> Query:
        """Return the same question, asked at another moment.

        Raises:
            TypeError: *at* is not a datetime.
            ValueError: *at* has no time zone.
        """
        return Query(  # `attrs.evolve` takes three times as long, and a stream asks at every line
            at=at,
            session_id=self.session_id,
            turn_id=self.turn_id,
            turn_started_at=self.turn_started_at,
            agent_id=self.agent_id,
            phase=self.phase,
            model=self.model,
            limit_tokens=self.limit_tokens,
        )


class Channel(StrEnum):
    """How a source's data reach us; a fact about the source that the judge grades by."""

    HANDED_OVER = "handed_over"
    """A payload or stream line that the runtime hands over while it runs."""
    PERSISTED = "persisted"
    """Rows that the runtime persists once per sample and does not rewrite."""
    LAGGING = "lagging"
    """A store that can lag behind the runtime or be refilled by it."""


@frozen(kw_only=True)
class Origin:
    """The facts about a source that go into every observation.

    Attributes:
        adapter: The agent's room, such as ``claude``.
        source: The source's id, such as ``claude.transcript``.
        method: The name of its method.
        channel: How its data reach us.
        client: The key under which the model table keeps this runtime's own windows.
        percent_method: The name of the method of its percentages, where they have one of their own.
    """

    adapter: str
    source: str
    method: str
    channel: Channel
    client: str | None = None
    percent_method: str | None = None


class Quantity(StrEnum):
    """What a `Claim` is about."""

    USED_TOKENS = "used_tokens"
    USED_PERCENT = "used_percent"
    REMAINING_TOKENS = "remaining_tokens"
    REMAINING_PERCENT = "remaining_percent"


@frozen
class Claim:
    """A second statement in the same data that must agree with the first within its rounding.

    Attributes:
        quantity: What it is about.
        value: The stated value, in tokens or percent.
        tolerance: How far rounding alone can move it, in the same unit.
    """

    quantity: Quantity
    value: float
    tolerance: float = 0


def _comparable(moment: datetime | None) -> datetime | None:
    """Return *moment* if it has a time zone and is in the years 1..9999 whatever the zone."""
    if moment is None or moment.utcoffset() is None:
        return None
    return moment if MINYEAR < moment.year < MAXYEAR else None


@frozen(kw_only=True)
class Sample:
    """What every sample carries beside its numbers.

    Attributes:
        measured_at: When the runtime took it (aware); None when the data do not say. A moment
            that nothing can be compared with (no time zone, out of range) becomes None.
        identity: The facts that single the sample out (session, row id or clock, ...), for the
            witness only. Never the phase. Native ids: hidden from repr.
        runtime_version: The agent's version as stated, or None.
        model: The model of the sample, or None.
        estimated: The runtime estimated the numbers.
        lower_bound: More has entered the context since the sample was taken.
        turn_ended_at: The end of the turn where the data state one (aware): the sample must lie
            shortly before it.
        claims: Other statements in the same data that must agree.
    """

    measured_at: datetime | None = field(converter=_comparable)
    identity: tuple[str, ...] = field(default=(), repr=False)
    runtime_version: str | None = None
    model: ModelRef | None = None
    estimated: bool = False
    lower_bound: bool = False
    turn_ended_at: datetime | None = field(default=None, converter=_comparable)
    claims: tuple[Claim, ...] = ()


@frozen(kw_only=True)
class UsedTokens(Sample):
    """A used count without a limit.

    Attributes:
        usage: The whole usage of the sample's request, or None when only a count is stated.
        used_tokens: The count as the runtime states it; None to take it from *usage*.
        used_basis: What the runtime's own meter counts.
        limit_missing: Why there is no limit, where the table must not be asked for one: the
            runtime says that it has none, or is older than the table. None: it may be asked.
    """

    usage: TokenUsage | None = None
    used_tokens: int | None = None
    used_basis: UsedBasis
    limit_missing: MissingReason | None = None


@frozen(kw_only=True)
class TokenPair(UsedTokens):
    """A used count and the limit that the runtime states beside it.

    Attributes:
        limit_tokens: The stated limit, in tokens, at least 1.
        limit_basis: Which limit it is.
        default_limits: Limits that this runtime assumes for a model it does not know.
        misstates_limit: This version of the runtime is known to state a default where the model
            has another window, so a default must be one that the model can have.
        overflows: The runtime can really use more than its limit, so that used > limit is a
            fact. False where the runtime is known to state wrong limits.
    """

    limit_tokens: int
    limit_basis: LimitBasis
    default_limits: frozenset[int] = frozenset()
    misstates_limit: bool = False
    overflows: bool = False


@frozen(kw_only=True)
class UsedPercent(Sample):
    """A share of the window without token counts.

    Attributes:
        used_percent: Percentage in use, 0..100.
    """

    used_percent: float


@frozen(kw_only=True)
class Gap:
    """Nothing can be measured, and why.

    Attributes:
        reason: The named reason.
        partial: What is still known, or None.
        limit_basis: Which limit the partial's is, where it has one.
        runtime_version: The agent's version as stated, or None.
        model: The model, where the data name one.
    """

    reason: MissingReason
    partial: Partial | None = None
    limit_basis: LimitBasis = LimitBasis.WINDOW
    runtime_version: str | None = None
    model: ModelRef | None = None

    @classmethod
    def of_usage(cls, fault: UsageFault) -> Gap:
        """Return the gap that a usage normaliser's *fault* stands for."""
        return cls(reason=MissingReason(fault.kind.value))


Evidence: TypeAlias = TokenPair | UsedTokens | UsedPercent | Gap
"""What the judge judges."""


@frozen
class NeedMore:
    """The answer is not in this window of bytes.

    Attributes:
        fallback: What stands once the budget ends, or what finds that out where it costs something:
            of most windows nobody wants to know.
    """

    fallback: Evidence | Callable[[], Evidence]

    def settled(self) -> Evidence:
        """Return what stands, now that there is no more."""
        return self.fallback() if callable(self.fallback) else self.fallback


@frozen
class NeedKeys:
    """The answer needs more values of the store; *fallback* stands if no more are read.

    Attributes:
        keys: What to read next, at least one key that has not been read yet.
        fallback: What can be said without them.
    """

    keys: tuple[Key, ...]
    fallback: Gap
