"""What a reading is: `Observed` or `Missing`, with how it is known.

The vocabularies here are closed: attestation, confidence, completeness, the bases of the two
counts, and the reasons for a missing reading. An observation holds numbers, times, methods and
opaque provenance: no transcript text, no path and no native id. Its text in an f-string, or on a
`rich` console, is its summary, and its repr is short. May import `spelling` and the ground floor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any, Self, TypeAlias

from attrs import converters, field, frozen, validators

from .bounded.budget import ReadStats
from .capability.model import ModelRef
from .figures import short
from .measurement import (
    Measurement,
    PercentMeasurement,
    as_percentage,
    count,
    percentage,
    utc_milliseconds,
)
from .spelling import context_line
from .usage import TokenUsage

__all__ = [
    "Attestation",
    "Completeness",
    "Confidence",
    "LimitBasis",
    "Missing",
    "MissingReason",
    "Observation",
    "Observed",
    "Partial",
    "Provenance",
    "UsedBasis",
    "Witness",
    "pressure",
]


class _Described(StrEnum):
    """A string enum whose members carry their own docstring."""

    # The default is for type checkers: it lets them read MissingReason("x") as a look-up by value.
    def __new__(cls, value: str, description: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.__doc__ = description
        return member


class Attestation(_Described):
    """Who states the value."""

    NATIVE = (
        "native",
        "The runtime itself states the value as context use, in a payload it hands over.",
    )
    DERIVED = (
        "derived",
        "Computed from the runtime's own persisted rows, matched to session and turn.",
    )
    INFERRED = (
        "inferred",
        "Needs knowledge from outside the session (the model table), or is the runtime's estimate.",
    )
    OPERATOR = ("operator", "A person declared the limit.")


class Confidence(_Described):
    """How far the value can be trusted."""

    EXACT = ("exact", "The runtime's own numbers, nothing added.")
    HIGH = ("high", "One documented step away from the runtime's own numbers.")
    MEDIUM = (
        "medium",
        (
            "Rests on a documented default that a setting could have changed, or on the caller's "
            "word."
        ),
    )
    LOW = ("low", "Rests on an assumption or an estimate that the caller asked for.")


class Completeness(_Described):
    """How much of the value was measured."""

    EXACT = ("exact", "Both counts were measured.")
    INFERRED = ("inferred", "The count was measured, the limit was looked up or assumed.")
    PERCENTAGE_ONLY = ("percentage_only", "Only a share is known, no counts.")
    LOWER_BOUND = ("lower_bound", "The count was measured, and more has entered the context since.")
    UNKNOWN = ("unknown", "The source does not say.")


class UsedBasis(_Described):
    """What the used count contains."""

    PROMPT = ("prompt", "Input, cache read and cache write of the last request.")
    PROMPT_AND_OUTPUT = ("prompt_and_output", "The last request's prompt and what it generated.")


class LimitBasis(_Described):
    """Which limit the used count is measured against."""

    WINDOW = ("window", "The model's context window.")
    EFFECTIVE_WINDOW = (
        "effective_window",
        "The part the runtime uses (Codex: 95 % of the window).",
    )
    INPUT_BUDGET = ("input_budget", "The window less what is reserved for output.")
    DECLARED = ("declared", "A limit that the caller declared.")
    ASSUMED_DEFAULT = ("assumed_default", "A runner's default that the caller opted into.")


class MissingReason(_Described):
    """Why there is no measurement; each reason's docstring says what a user should do."""

    # read
    SOURCE_ABSENT = (
        "source_absent",
        (
            "The file does not exist. Check the path; a new session writes its file only after the "
            "first prompt."
        ),
    )
    SOURCE_UNREADABLE = (
        "source_unreadable",
        (
            "The source exists but cannot be read as a file (no permission, a directory, an I/O "
            "error). Mend the permissions or the path."
        ),
    )
    SOURCE_BUSY = (
        "source_busy",
        "Another process holds the source. Try again in a moment.",
    )
    SOURCE_MALFORMED = (
        "source_malformed",
        "The bytes are not what this source writes. Check that the right source was named.",
    )
    SCHEMA_UNKNOWN = (
        "schema_unknown",
        "The store has a layout this version does not know. Look for a newer ctxmeasure.",
    )
    BUDGET_EXHAUSTED = (
        "budget_exhausted",
        "The answer was not found within the read budget. Pass a larger budget (--max-bytes).",
    )
    # identity
    SESSION_NOT_FOUND = (
        "session_not_found",
        "No row of the session was found. Check the session id and the file.",
    )
    SESSION_MISMATCH = (
        "session_mismatch",
        "The rows belong to another session or to a sub-agent. Name the right file or session.",
    )
    SESSION_AMBIGUOUS = (
        "session_ambiguous",
        "Several sessions fit equally well. Name the session.",
    )
    TURN_NOT_FOUND = (
        "turn_not_found",
        "No measurement of the asked turn is on disk yet. Ask again after the next response.",
    )
    TURN_NOT_FINISHED = (
        "turn_not_finished",
        "The turn has not ended. Ask in the active phase, or again after its end.",
    )
    TURN_IDS_NOT_RECORDED = (
        "turn_ids_not_recorded",
        (
            "This version of the agent records no turn ids. Pass turn_started_at "
            "(--turn-started-at), or ask for the latest sample."
        ),
    )
    CHAIN_TRUNCATED = (
        "chain_truncated",
        "The row's ancestry leaves the bytes that were read. Pass a larger budget (--max-bytes).",
    )
    CHAIN_BROKEN = (
        "chain_broken",
        "The row's ancestry has a gap or a cycle in the file. Ask again after the next response.",
    )
    # evidence
    NOT_MEASURED_YET = (
        "not_measured_yet",
        (
            "The runtime has no usage yet: before the first response, after a clear, or right "
            "after a compaction. Ask again after the next response."
        ),
    )
    USAGE_NOT_REPORTED = (
        "usage_not_reported",
        "The source carries no token usage here. Use another source of this agent.",
    )
    USAGE_INVALID = (
        "usage_invalid",
        "The usage holds a wrong type or an impossible value. Report it; do not average over it.",
    )
    USAGE_INCOMPLETE = (
        "usage_incomplete",
        "A count that the sum needs is absent. A gateway in between may leave it out.",
    )
    PERCENT_NOT_REPORTED = (
        "percent_not_reported",
        "The payload carries no percentage. Use another source of this agent.",
    )
    PERCENT_INVALID = (
        "percent_invalid",
        "The percentage is not a number between 0 and 100. Report it.",
    )
    LIMIT_NOT_REPORTED = (
        "limit_not_reported",
        "The used count is known but no limit is. Declare one with limit_tokens (--limit).",
    )
    LIMIT_INVALID = (
        "limit_invalid",
        "The stated limit is not a positive whole number. Declare one with limit_tokens (--limit).",
    )
    TIME_NOT_REPORTED = (
        "time_not_reported",
        "The sample has no usable time, so its age cannot be told.",
    )
    # model
    MODEL_NOT_REPORTED = (
        "model_not_reported",
        "The used count is known but not the model. Pass model, or declare limit_tokens (--limit).",
    )
    MODEL_UNKNOWN = (
        "model_unknown",
        (
            "The model id is not in the table. Declare limit_tokens (--limit), or pass a resolver "
            "(--window)."
        ),
    )
    WINDOW_AMBIGUOUS = (
        "window_ambiguous",
        (
            "A plan, setting or platform decides this model's window. Use the status line, pass "
            "the model as the agent was started with it, or declare limit_tokens (--limit)."
        ),
    )
    LIMIT_CONTRADICTED = (
        "limit_contradicted",
        (
            "The limit is refuted by the session itself (more was used than it allows). Declare "
            "the real limit with limit_tokens (--limit)."
        ),
    )
    # time
    SAMPLE_STALE = (
        "sample_stale",
        "The newest sample is older than the question allows. Ask again after the next response.",
    )
    SAMPLE_FROM_FUTURE = (
        "sample_from_future",
        "The sample is dated after the moment asked about. Check the clocks.",
    )
    COMPACTED = (
        "compacted",
        "The context was compacted and no response has followed. Ask again after the next one.",
    )
    REWOUND = (
        "rewound",
        (
            "A rewind, revert or context edit made the last usage void. Ask again after the next "
            "response."
        ),
    )
    CARRIED_OVER = (
        "carried_over",
        (
            "The runtime repeated an older turn's or a parent's numbers. Ask again after the next "
            "response."
        ),
    )
    WINDOW_EXCEEDED = (
        "window_exceeded",
        "The runtime says that the window overflowed and gives no count. Compact or start anew.",
    )
    SUPERSEDED = (
        "superseded",
        "A newer file of the same session exists. Read that one.",
    )
    # conflict
    SOURCES_DISAGREE = (
        "sources_disagree",
        "Parts of the evidence contradict each other beyond their rounding. Trust neither.",
    )
    # refusal
    CUMULATIVE_ONLY = (
        "cumulative_only",
        (
            "Only sums over several calls are given, which say nothing about the window. Use "
            "another source of this agent."
        ),
    )
    ESTIMATE_ONLY = (
        "estimate_only",
        (
            "Only the runtime's own estimate is given. Accept estimates by policy "
            "(--accept-estimates), or wait."
        ),
    )
    REMOTE_SESSION = (
        "remote_session",
        "The session runs on another machine, so local files do not describe it.",
    )
    SOURCE_UNSUPPORTED = (
        "source_unsupported",
        "This agent reports nothing that could be measured.",
    )

    @property
    def is_about_limit(self) -> bool:
        """Whether the limit alone is at fault, so that a count that was measured stands.

        Under any other reason (stale, rewound, sources disagree, ...) a count may have been seen,
        but it is not the context's.
        """
        return self in _ABOUT_LIMIT


_ABOUT_LIMIT = frozenset(
    {
        MissingReason.PERCENT_NOT_REPORTED,
        MissingReason.PERCENT_INVALID,
        MissingReason.LIMIT_NOT_REPORTED,
        MissingReason.LIMIT_INVALID,
        MissingReason.MODEL_NOT_REPORTED,
        MissingReason.MODEL_UNKNOWN,
        MissingReason.WINDOW_AMBIGUOUS,
        MissingReason.LIMIT_CONTRADICTED,
    }
)


@frozen
class Witness:
    """An opaque fingerprint of one sample: equal for two readings of the same sample.

    SHA-256 over the sample's identifying facts. It is made from native ids, so it never leaves by
    itself: publish `public_id`, which needs a key.
    """

    digest: bytes = field(repr=False)

    def public_id(self, key: bytes) -> str:
        """Return the digest keyed with *key* (HMAC-SHA-256), as 64 hexadecimal digits.

        Raises:
            TypeError: *key* is not bytes.
            ValueError: *key* is empty.
        """
        if not isinstance(key, bytes):
            raise TypeError("key: expected bytes")
        if not key:
            raise ValueError("key: expected at least one byte")
        import hmac  # noqa: PLC0415 - only publishers pay for it

        return hmac.digest(key, self.digest, "sha256").hex()

    def source_record_id(self, key: bytes) -> str:
        """Return `public_id` as events carry it: ``hid_`` and 64 hexadecimal digits.

        Raises:
            TypeError: *key* is not bytes.
            ValueError: *key* is empty.
        """
        return f"hid_{self.public_id(key)}"


@frozen(kw_only=True)
class Partial:
    """What is still known when there is no measurement; never enters a public event.

    Attributes:
        used_tokens: Tokens in use, or None.
        used_percent: Percentage in use, 0..100, or None.
        limit_tokens: The limit that was stated, or None.
        measured_at: When the sample was taken (aware, UTC, whole milliseconds), or None.
        estimated: The numbers are the runtime's own estimate.

    Raises:
        TypeError: An argument has the wrong type (the message names it).
        ValueError: A number is out of range (tokens below 0, a limit below 1, a percentage outside
            0..100) or *measured_at* has no time zone.
    """

    used_tokens: int | None = field(default=None, validator=validators.optional(count(0)))
    used_percent: float | None = field(
        default=None,
        converter=converters.optional(as_percentage),
        validator=validators.optional(percentage),
    )
    limit_tokens: int | None = field(default=None, validator=validators.optional(count(1)))
    measured_at: datetime | None = field(
        default=None, converter=converters.optional(utc_milliseconds)
    )
    estimated: bool = False


@frozen(kw_only=True)
class Provenance:
    """Where an observation comes from.

    Attributes:
        adapter: The agent's room, such as ``claude``.
        source: The source's id, such as ``claude.transcript``.
        runtime_version: The agent's version as it states it, or None.
        used_basis: What the used count contains, or None when nothing was counted.
        limit_basis: Which limit it is measured against, or None.
        usage: The whole token usage of the sample, or None.
        model: The model of the sample, or None.
        witness: The sample's fingerprint; not part of equality, wire form or repr.
        stats: What the reading cost.
    """

    adapter: str
    source: str
    runtime_version: str | None = None
    used_basis: UsedBasis | None = None
    limit_basis: LimitBasis | None = None
    usage: TokenUsage | None = None
    model: ModelRef | None = None
    witness: Witness | None = field(default=None, eq=False, repr=False)
    stats: ReadStats = field(factory=ReadStats)


class _Told:
    """What observations have in common as texts."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __rich__(self) -> str:
        return str(self)

    # What its repr states, for a console of rich too: each kind has its own.
    __rich_repr__: Callable[..., Iterable[tuple[str, Any]]]

    def __repr__(self) -> str:
        stated = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__name__}({stated})"


@frozen(kw_only=True, repr=False)
class Observed(_Told):
    """A measurement, with how it is known.

    Its text is its summary, such as ``Context: 45% (90K/200K)``.

    Attributes:
        value: The measurement: tokens or a percentage.
        attestation: Who states it.
        confidence: How far it can be trusted.
        completeness: How much of it was measured.
        provenance: Where it comes from.
    """

    value: Measurement
    attestation: Attestation
    confidence: Confidence
    completeness: Completeness
    provenance: Provenance

    @property
    def is_assumed(self) -> bool:
        """Whether the limit is a default that the caller chose to assume."""
        return self.provenance.limit_basis is LimitBasis.ASSUMED_DEFAULT

    @property
    def is_rough(self) -> bool:
        """Whether the value rests on an assumption or an estimate, and is shown with a ``~``."""
        return self.confidence is Confidence.LOW or self.is_assumed

    def __str__(self) -> str:
        return context_line(self.value, is_rough=self.is_rough, is_assumed=self.is_assumed)

    def __rich_repr__(self) -> Iterable[tuple[str, Any]]:
        value = self.value
        if isinstance(value, PercentMeasurement):
            yield "used_percent", value.used_percent
        else:
            yield "used_tokens", value.used_tokens
            yield "limit_tokens", value.limit_tokens
        yield "attestation", self.attestation.value
        yield "confidence", self.confidence.value
        yield "source", self.provenance.source


@frozen(kw_only=True, repr=False)
class Missing(_Told):
    """No measurement, and why.

    Its text names the reason: ``Context: not known (compacted)``, or ``Tokens: 90K
    (model_unknown)`` where the count was measured and only its limit is missing.

    Attributes:
        reason: The named reason; its docstring says what to do.
        partial: What is still known, or None.
        provenance: Where it comes from.
    """

    reason: MissingReason
    partial: Partial | None = None
    provenance: Provenance

    @property
    def standing_tokens(self) -> int | None:
        """The count that was measured where only its limit is missing, in tokens; else None."""
        partial = self.partial
        if partial is None or partial.estimated or not self.reason.is_about_limit:
            return None
        return partial.used_tokens

    def __str__(self) -> str:
        standing = self.standing_tokens
        known = "Context: not known" if standing is None else f"Tokens: {short(standing)}"
        return f"{known} ({self.reason})"

    def __rich_repr__(self) -> Iterable[tuple[str, Any]]:
        yield "reason", self.reason.value
        for name in ("used_tokens", "used_percent", "limit_tokens"):
            known = getattr(self.partial, name, None)
            if known is not None:
                yield name, known
        yield "source", self.provenance.source


Observation: TypeAlias = Observed | Missing
"""Exactly one of the two: a measurement, or a named missing state."""

# No float holds every int. What is over these is all the same.
_MOST_TOKENS = 2**63
_MOST_SHARES = 1000


def pressure(observation: Observation) -> tuple[int, float]:
    """Return the key that sorts observations by how near they are to their limit.

    ``sorted(observations, key=pressure)`` has the fullest first. Shares of counts and shares
    without counts are compared as they are, whatever each agent counts. What is missing comes last:
    first the counts that only lack a limit, the largest first, then what is not known at all.

    Raises:
        TypeError: *observation* is not an observation.
    """
    if isinstance(observation, Missing):
        standing = observation.standing_tokens
        return (2, 0.0) if standing is None else (1, -float(min(standing, _MOST_TOKENS)))
    if not isinstance(observation, Observed):
        raise TypeError("observation: expected an Observed or a Missing")
    value = observation.value
    if isinstance(value, PercentMeasurement):
        return 0, -value.used_percent / 100
    return 0, -min(value.used_tokens, _MOST_SHARES * value.limit_tokens) / value.limit_tokens
