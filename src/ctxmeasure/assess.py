"""The judge: evidence and a policy to one observation.

This is the only room that assigns attestation, confidence and completeness. It knows no file
format: what it needs of a source is in the evidence and its origin. The grades are a table,
`RULES`, from which the docs page is generated. Refusals come in a fixed order, and the first that
fails is the reason: identity, evidence, model, plausibility, time. Pure: the moment of the
question is in the query.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from .bounded.budget import ReadStats
from .capability.model import Capability, Certainty, ModelRef, Resolution, Unresolved
from .evidence import (
    Channel,
    Claim,
    Evidence,
    Gap,
    Origin,
    Phase,
    Quantity,
    Query,
    Sample,
    TokenPair,
    UsedPercent,
    UsedTokens,
)
from .measurement import Measurement, PercentMeasurement, TokenMeasurement
from .observation import (
    Attestation,
    Completeness,
    Confidence,
    LimitBasis,
    Missing,
    MissingReason,
    Observation,
    Observed,
    Partial,
    Provenance,
    UsedBasis,
    Witness,
)

__all__ = [
    "DEFAULT_POLICY",
    "RULES",
    "Ceiling",
    "Counts",
    "Grade",
    "Policy",
    "Refusal",
    "Rule",
    "assess",
]

_CLOCK_SKEW = timedelta(seconds=5)  # clocks of a runtime and its reader differ by this much
_ACTIVE_MAX_AGE = timedelta(seconds=30)  # a running turn's sample older than this says little
_TURN_END_LAG = timedelta(seconds=30)  # a turn's last sample lies at most this far before its end


class Counts(StrEnum):
    """Which tokens to count."""

    OWN = "own"
    """What each agent's own meter counts."""
    PROMPT = "prompt"
    """The prompt of the last request, for all agents alike."""


def _positive_limits(_: object, __: Any, limits: Mapping[str, int]) -> None:
    for limit in limits.values():
        if type(limit) is not int:
            raise TypeError("assume_limits: expected ints")
        if limit < 1:
            raise ValueError("assume_limits: expected at least 1 token")


def _no_negative_age(_: object, __: Any, age: timedelta | None) -> None:
    if age is not None and not isinstance(age, timedelta):
        raise TypeError("max_age: expected a timedelta")
    if age is not None and age < timedelta(0):
        raise ValueError("max_age: expected no negative duration")


def _frozen_limits(limits: Mapping[str, int]) -> Mapping[str, int]:
    return MappingProxyType(dict(limits))


@frozen(kw_only=True)
class Policy:
    """What the caller accepts.

    Attributes:
        counts: Which tokens to count.
        max_age: How old a sample may be; None leaves it to the phase (30 s while a turn is active,
            any age otherwise).
        accept_estimates: Accept counts that the runtime estimated (graded inferred and low).
        assume_limits: A default limit in tokens per adapter, used when nothing better is known
            (graded inferred and low, and visible as assumed in every rendering). Empty: never.
        resolver: Asked for the window of a model that the table does not decide; returns tokens,
            or None. Graded inferred and medium.

    Raises:
        TypeError: An argument has the wrong type (the message names it).
        ValueError: A limit is below 1, or *max_age* is negative.
    """

    counts: Counts = field(default=Counts.OWN, converter=Counts)
    max_age: timedelta | None = field(default=None, validator=_no_negative_age)
    accept_estimates: bool = False
    assume_limits: Mapping[str, int] = field(
        factory=dict,
        converter=_frozen_limits,
        validator=_positive_limits,
    )
    resolver: Callable[[ModelRef], int | None] | None = None


DEFAULT_POLICY = Policy()


@frozen
class Rule:
    """One row of the judge's table.

    Attributes:
        name: The row's name.
        when: The evidence that the row is about.
    """

    name: str
    when: str


@frozen
class Grade(Rule):
    """A row that measures.

    Attributes:
        attestation: Who states the value.
        confidence: How far it can be trusted.
        completeness: How much of it was measured.
    """

    attestation: Attestation
    confidence: Confidence
    completeness: Completeness


@frozen
class Ceiling(Rule):
    """A row that lowers another row's confidence.

    Attributes:
        confidence: The most that the other row's confidence can be.
    """

    confidence: Confidence


@frozen
class Refusal(Rule):
    """A row that measures nothing.

    Attributes:
        reason: The missing reason.
    """

    reason: MissingReason


_STATED_PAIR = {
    Channel.HANDED_OVER: Grade(
        "stated pair, handed over",
        "A pair in a payload that the runtime hands over (hook, status line, RPC, stream)",
        Attestation.NATIVE,
        Confidence.EXACT,
        Completeness.EXACT,
    ),
    Channel.PERSISTED: Grade(
        "stated pair, persisted",
        "A pair in the runtime's persisted rows, session (and, where asked, turn) matched",
        Attestation.DERIVED,
        Confidence.EXACT,
        Completeness.EXACT,
    ),
    Channel.LAGGING: Grade(
        "stated pair, lagging store",
        "A pair in a persisted store that can lag or be refilled by the runtime",
        Attestation.DERIVED,
        Confidence.HIGH,
        Completeness.EXACT,
    ),
}
_STATED_PERCENT = {
    Channel.HANDED_OVER: Grade(
        "stated percentage, handed over",
        "A percentage in a payload that the runtime hands over",
        Attestation.NATIVE,
        Confidence.EXACT,
        Completeness.PERCENTAGE_ONLY,
    ),
    Channel.PERSISTED: Grade(
        "stated percentage, persisted",
        "A percentage in the runtime's persisted rows, session matched",
        Attestation.DERIVED,
        Confidence.EXACT,
        Completeness.PERCENTAGE_ONLY,
    ),
    Channel.LAGGING: Grade(
        "stated percentage, lagging store",
        "A percentage in a persisted store that can lag or be refilled by the runtime",
        Attestation.DERIVED,
        Confidence.HIGH,
        Completeness.PERCENTAGE_ONLY,
    ),
}
_DEFAULT_LIMIT = Ceiling(
    "the runtime's own default limit",
    "A pair whose limit the runtime assumes for a model it does not know, or that a setting or an "
    "unserved long-context marker puts in doubt",
    Confidence.MEDIUM,
)
_WINDOW_IN_FORCE = Grade(
    "window in force",
    "Used tokens, evidence of the window in force, and a table row for it",
    Attestation.INFERRED,
    Confidence.HIGH,
    Completeness.INFERRED,
)
_DECIDED_BY_ID = Grade(
    "window decided by the id",
    "Used tokens and a model id that decides its window by itself at the time of measurement",
    Attestation.INFERRED,
    Confidence.HIGH,
    Completeness.INFERRED,
)
_DOCUMENTED_DEFAULT = Grade(
    "documented default window",
    "Used tokens and an id with a documented default and another possible window; the count fits "
    "the default",
    Attestation.INFERRED,
    Confidence.MEDIUM,
    Completeness.INFERRED,
)
_ONLY_LARGER_WINDOW = Grade(
    "the only larger window",
    "Used tokens above an id's smaller window, where only one larger window exists",
    Attestation.INFERRED,
    Confidence.HIGH,
    Completeness.INFERRED,
)
_RESOLVED_BY_CALLER = Grade(
    "caller's resolver",
    "Used tokens and a window from the caller's own resolver",
    Attestation.INFERRED,
    Confidence.MEDIUM,
    Completeness.INFERRED,
)
_DECLARED_LIMIT = Grade(
    "declared limit",
    "Used tokens and a limit that the caller declares",
    Attestation.OPERATOR,
    Confidence.HIGH,
    Completeness.EXACT,
)
_ASSUMED_LIMIT = Grade(
    "assumed limit",
    "Used tokens and a runner's hard default (opt-in)",
    Attestation.INFERRED,
    Confidence.LOW,
    Completeness.INFERRED,
)
_ACCEPTED_ESTIMATE = Grade(
    "accepted estimate",
    "A count that the runtime estimated, where the policy accepts estimates",
    Attestation.INFERRED,
    Confidence.LOW,
    Completeness.INFERRED,
)


def _refusal(when: str, reason: MissingReason) -> Refusal:
    return Refusal(reason.value.replace("_", " "), when, reason)


RULES: tuple[Rule, ...] = (
    *_STATED_PAIR.values(),
    *_STATED_PERCENT.values(),
    _DEFAULT_LIMIT,
    _WINDOW_IN_FORCE,
    _DECIDED_BY_ID,
    _DOCUMENTED_DEFAULT,
    _ONLY_LARGER_WINDOW,
    _RESOLVED_BY_CALLER,
    _DECLARED_LIMIT,
    _ASSUMED_LIMIT,
    _ACCEPTED_ESTIMATE,
    _refusal("Used tokens and no model at all", MissingReason.MODEL_NOT_REPORTED),
    _refusal("Used tokens and an unknown id", MissingReason.MODEL_UNKNOWN),
    _refusal(
        "Used tokens and an id whose window a plan, setting or platform decides",
        MissingReason.WINDOW_AMBIGUOUS,
    ),
    _refusal("An estimate of a quantity that was not measured", MissingReason.ESTIMATE_ONLY),
    _refusal(
        "Statements in the same data that contradict each other beyond their rounding",
        MissingReason.SOURCES_DISAGREE,
    ),
    _refusal(
        "Used tokens above a limit that is inferred, declared, assumed, or stated by a runtime "
        "that is known to state wrong limits; or a stated limit that the model cannot have",
        MissingReason.LIMIT_CONTRADICTED,
    ),
    _refusal("A sample without a time", MissingReason.TIME_NOT_REPORTED),
    _refusal("A sample more than 5 s after the question", MissingReason.SAMPLE_FROM_FUTURE),
    _refusal(
        "A sample older than the policy or the phase allows, or too far before its turn's end",
        MissingReason.SAMPLE_STALE,
    ),
)
"""The judge's table: what is graded how, and what is refused."""


def assess(
    evidence: Evidence,
    *,
    origin: Origin,
    query: Query,
    policy: Policy = DEFAULT_POLICY,
    stats: ReadStats | None = None,
) -> Observation:
    """Judge *evidence* and return the one observation it supports.

    Args:
        evidence: What the adapter saw.
        origin: The facts about the source.
        query: What was asked, and when.
        policy: What the caller accepts.
        stats: What the reading cost.
    """
    case = _Case(origin, query, policy, stats if stats is not None else ReadStats())
    match evidence:
        case Gap():
            return case.of_gap(evidence)
        case UsedPercent():
            return case.of_percent(evidence)
        case TokenPair():
            return case.of_tokens(evidence, case.limit_beside)
        case UsedTokens():
            return case.of_tokens(evidence, case.limit_for)


@frozen(kw_only=True)
class _Limit:
    """A limit, which one it is, and how good it makes the measurement."""

    tokens: int
    basis: LimitBasis
    grade: Grade
    ceiling: Ceiling | None = None
    overflows: bool = False


_LimitFinder: TypeAlias = Callable[[Any, int], _Limit | MissingReason]


@frozen
class _Case:
    """One question before the judge."""

    origin: Origin
    query: Query
    policy: Policy
    stats: ReadStats

    # -- the kinds of evidence ----------------------------------------------------------------

    def of_gap(self, gap: Gap) -> Observation:
        known = gap.partial
        if known is not None and known.estimated and self.policy.accept_estimates:
            estimate = _estimated_sample(gap, known)
            if isinstance(estimate, TokenPair):
                return self.of_tokens(estimate, self.limit_beside)
            if estimate is not None:
                return self.of_tokens(estimate, self.limit_for)
        return Missing(
            reason=gap.reason,
            partial=known,
            provenance=self._provenance(gap.runtime_version, gap.model),
        )

    def of_percent(self, seen: UsedPercent) -> Observation:
        percent, measured_at = seen.used_percent, seen.measured_at
        provenance = self._provenance(seen.runtime_version, seen.model)

        def refused(reason: MissingReason) -> Missing:
            partial = Partial(
                used_percent=percent, measured_at=measured_at, estimated=seen.estimated
            )
            return Missing(reason=reason, partial=partial, provenance=provenance)

        if measured_at is None:
            return refused(MissingReason.TIME_NOT_REPORTED)
        if self._is_unaccepted_estimate(seen):
            return refused(MissingReason.ESTIMATE_ONLY)
        reason = _disagreement(seen.claims, used_percent=percent) or self._untimely(
            seen, measured_at
        )
        if reason is not None:
            return refused(reason)
        value = PercentMeasurement(
            used_percent=percent, measured_at=measured_at, method=self.origin.method
        )
        witness = _witness(seen, repr(percent))
        return _observed(
            value,
            _STATED_PERCENT[self.origin.channel],
            seen,
            evolve(provenance, witness=witness),
        )

    def of_tokens(self, seen: UsedTokens, find_limit: _LimitFinder) -> Observation:
        counted = self._count(seen)
        if counted is None:
            return self._refused(MissingReason.USAGE_INCOMPLETE, seen)
        used, used_basis = counted
        measured_at = seen.measured_at
        if measured_at is None:
            return self._refused(MissingReason.TIME_NOT_REPORTED, seen, used, used_basis)
        if self._is_unaccepted_estimate(seen):
            return self._refused(MissingReason.ESTIMATE_ONLY, seen, used, used_basis)
        limit = find_limit(seen, used)
        if isinstance(limit, MissingReason):
            return self._refused(limit, seen, used, used_basis)
        reason = _implausible(seen, used, limit) or self._untimely(seen, measured_at)
        if reason is not None:
            return self._refused(reason, seen, used, used_basis, limit)
        value = TokenMeasurement(
            used_tokens=used,
            limit_tokens=limit.tokens,
            measured_at=measured_at,
            method=self.origin.method + _METHOD_SUFFIX.get(limit.basis, ""),
        )
        provenance = self._provenance(
            seen.runtime_version,
            self._model(seen),
            used_basis=used_basis,
            limit_basis=limit.basis,
            usage=seen.usage,
            witness=_witness(seen, str(used), str(limit.tokens)),
        )
        return _observed(value, limit.grade, seen, provenance, limit.ceiling)

    def _count(self, seen: UsedTokens) -> tuple[int, UsedBasis] | None:
        if self.policy.counts is Counts.PROMPT and seen.used_basis is not UsedBasis.PROMPT:
            return None if seen.usage is None else (seen.usage.prompt_tokens, UsedBasis.PROMPT)
        own = _own_count(seen)
        return None if own is None else (own, seen.used_basis)

    def _refused(
        self,
        reason: MissingReason,
        seen: UsedTokens,
        used: int | None = None,
        used_basis: UsedBasis | None = None,
        limit: _Limit | None = None,
    ) -> Missing:
        stated = seen.limit_tokens if isinstance(seen, TokenPair) else None
        return Missing(
            reason=reason,
            partial=Partial(
                used_tokens=used,
                limit_tokens=stated if limit is None else limit.tokens,
                measured_at=seen.measured_at,
                estimated=seen.estimated,
            ),
            provenance=self._provenance(
                seen.runtime_version,
                self._model(seen),
                used_basis=used_basis,
                limit_basis=None if limit is None else limit.basis,
                usage=seen.usage,
            ),
        )

    # -- limits -------------------------------------------------------------------------------

    def limit_beside(self, seen: TokenPair, used: int) -> _Limit | MissingReason:
        """Return the limit that the runtime states, or say that the model cannot have it.

        Only limits that the runtime is known to fall back to are held against the table: any other
        number is knowledge (a server setting, a plan) that no table can have.
        """
        if self.query.limit_tokens is not None:
            return _declared(self.query.limit_tokens)
        limit = _Limit(
            tokens=seen.limit_tokens,
            basis=seen.limit_basis,
            grade=_STATED_PAIR[self.origin.channel],
            overflows=seen.overflows,
        )
        if seen.limit_tokens not in seen.default_limits or seen.model is None:
            return limit
        # The absence of a marker tells what a session asked for, not what it was given.
        asked = evolve(seen.model, long_context_marker=seen.model.long_context_marker or None)
        match self._resolve(asked, seen):
            case Unresolved(ambiguous=True):
                return limit
            case Unresolved():
                return evolve(limit, ceiling=_DEFAULT_LIMIT)
            case row:
                return _held_against(row, limit, used)

    def limit_for(self, seen: UsedTokens, used: int) -> _Limit | MissingReason:
        """Return the limit of a count that has none: declared, looked up, or assumed."""
        if self.query.limit_tokens is not None:
            return _declared(self.query.limit_tokens)
        model = self._model(seen)
        limit = (
            MissingReason.MODEL_NOT_REPORTED
            if model is None
            else self._looked_up(model, seen, used)
        )
        if limit in _UNKNOWN_WINDOW:
            assumed = self.policy.assume_limits.get(self.origin.adapter)
            if assumed is not None:
                return _Limit(
                    tokens=assumed, basis=LimitBasis.ASSUMED_DEFAULT, grade=_ASSUMED_LIMIT
                )
        return limit

    def _looked_up(self, model: ModelRef, seen: Sample, used: int) -> _Limit | MissingReason:
        limit: _Limit | MissingReason
        match self._resolve(model, seen):
            case Capability() as row:
                limit = _chosen(row, used, in_force=model.long_context_marker is not None)
            case Unresolved(ambiguous=True):
                limit = MissingReason.WINDOW_AMBIGUOUS
            case Unresolved():
                limit = MissingReason.MODEL_UNKNOWN
        if limit in _UNKNOWN_WINDOW and self.policy.resolver is not None:
            window = self.policy.resolver(model)
            if window is not None:
                return _Limit(tokens=window, basis=LimitBasis.WINDOW, grade=_RESOLVED_BY_CALLER)
        return limit

    # -- the model ----------------------------------------------------------------------------

    def _resolve(self, model: ModelRef, seen: Sample) -> Resolution:
        from .capability.table import resolve  # noqa: PLC0415 - loads the table on first use

        return resolve(
            model,
            client=self.origin.client,
            client_version=seen.runtime_version,
            at=seen.measured_at,
        )

    def _model(self, seen: Sample) -> ModelRef | None:
        """Merge the session's own model with the one the caller vouches for.

        The caller's word settles an id that the table does not know, and the marker of the same
        model; a different known model in the session means that it was switched, and stands.
        """
        vouched = self.query.model
        if vouched is None or seen.model is None:
            return seen.model or vouched
        own = self._resolve(seen.model, seen)
        if isinstance(own, Unresolved):
            return vouched
        other = self._resolve(vouched, seen)
        same = isinstance(other, Capability) and other.canonical == own.canonical
        if same and seen.model.long_context_marker is None:
            return evolve(seen.model, long_context_marker=vouched.long_context_marker)
        return seen.model

    # -- estimates and time -------------------------------------------------------------------

    def _is_unaccepted_estimate(self, seen: Sample) -> bool:
        return seen.estimated and not self.policy.accept_estimates

    def _untimely(self, seen: Sample, measured_at: datetime) -> MissingReason | None:
        age = self.query.at - measured_at
        if age < -_CLOCK_SKEW:
            return MissingReason.SAMPLE_FROM_FUTURE
        max_age = self.policy.max_age
        if max_age is None and self.query.phase is Phase.ACTIVE:
            max_age = _ACTIVE_MAX_AGE
        if max_age is not None and age > max_age:
            return MissingReason.SAMPLE_STALE
        if self.query.phase is Phase.TERMINAL and seen.turn_ended_at is not None:
            lag = seen.turn_ended_at - measured_at
            if not timedelta(0) <= lag <= _TURN_END_LAG:
                return MissingReason.SAMPLE_STALE
        return None

    def _provenance(
        self, runtime_version: str | None, model: ModelRef | None, **counted: Any
    ) -> Provenance:
        return Provenance(
            adapter=self.origin.adapter,
            source=self.origin.source,
            runtime_version=_public_version(runtime_version),
            model=_public_model(model),
            stats=self.stats,
            **counted,
        )


def _estimated_sample(gap: Gap, known: Partial) -> UsedTokens | None:
    """Turn the runtime's estimate into a sample that is marked as one."""
    if known.used_tokens is None:
        return None
    sample: dict[str, Any] = {
        "used_tokens": known.used_tokens,
        # An estimate of the whole context holds the answers that are already in it.
        "used_basis": UsedBasis.PROMPT_AND_OUTPUT,
        "measured_at": known.measured_at,
        "runtime_version": gap.runtime_version,
        "model": gap.model,
        "estimated": True,
    }
    if known.limit_tokens is None:
        return UsedTokens(**sample)
    return TokenPair(**sample, limit_tokens=known.limit_tokens, limit_basis=LimitBasis.WINDOW)


def _observed(
    value: Measurement,
    grade: Grade,
    seen: Sample,
    provenance: Provenance,
    ceiling: Ceiling | None = None,
) -> Observed:
    if seen.estimated:
        grade, ceiling = _ACCEPTED_ESTIMATE, None
    return Observed(
        value=value,
        attestation=grade.attestation,
        confidence=grade.confidence if ceiling is None else ceiling.confidence,
        completeness=Completeness.LOWER_BOUND if seen.lower_bound else grade.completeness,
        provenance=provenance,
    )


def _declared(limit_tokens: int) -> _Limit:
    return _Limit(tokens=limit_tokens, basis=LimitBasis.DECLARED, grade=_DECLARED_LIMIT)


def _held_against(row: Capability, limit: _Limit, used: int) -> _Limit | MissingReason:
    """Hold a limit that may be the runtime's fallback against the model's table row."""
    if limit.tokens == row.reduced_window_tokens:
        return evolve(limit, ceiling=_DEFAULT_LIMIT)
    if limit.tokens not in (row.window_tokens, row.larger_window_tokens):
        return MissingReason.LIMIT_CONTRADICTED
    if row.marker_unsupported and used <= row.window_tokens:
        return evolve(limit, ceiling=_DEFAULT_LIMIT)
    return limit


_METHOD_SUFFIX = {
    LimitBasis.DECLARED: "_declared_limit",
    LimitBasis.ASSUMED_DEFAULT: "_assumed_limit",
}
_UNKNOWN_WINDOW = (
    MissingReason.MODEL_NOT_REPORTED,
    MissingReason.MODEL_UNKNOWN,
    MissingReason.WINDOW_AMBIGUOUS,
)


def _own_count(seen: UsedTokens) -> int | None:
    """Return the count of the runtime's own meter."""
    if seen.used_tokens is not None:
        return seen.used_tokens
    if seen.usage is None:
        return None
    match seen.used_basis:
        case UsedBasis.PROMPT:
            return seen.usage.prompt_tokens
        case UsedBasis.PROMPT_AND_OUTPUT:
            return seen.usage.total_tokens


def _chosen(row: Capability, used: int, *, in_force: bool) -> _Limit | MissingReason:
    """Choose between the windows that a model can have, given what was used."""
    larger = row.larger_window_tokens
    if used > row.window_tokens and larger is not None:
        return _Limit(tokens=larger, basis=LimitBasis.WINDOW, grade=_ONLY_LARGER_WINDOW)
    if row.marker_unsupported:
        # The session asked for a window that the provider does not serve for this model.
        return MissingReason.LIMIT_CONTRADICTED
    if row.certainty is Certainty.UNDECIDED:
        return MissingReason.WINDOW_AMBIGUOUS
    if row.certainty is Certainty.DEFAULTED:
        grade = _DOCUMENTED_DEFAULT
    else:
        grade = _WINDOW_IN_FORCE if in_force else _DECIDED_BY_ID
    return _Limit(tokens=row.window_tokens, basis=LimitBasis.WINDOW, grade=grade)


def _implausible(seen: UsedTokens, used: int, limit: _Limit) -> MissingReason | None:
    if used > limit.tokens and not limit.overflows:
        return MissingReason.LIMIT_CONTRADICTED
    stated = seen.limit_tokens if isinstance(seen, TokenPair) else None
    return _disagreement(seen.claims, used_tokens=_own_count(seen), limit_tokens=stated)


def _disagreement(
    claims: tuple[Claim, ...],
    *,
    used_tokens: int | None = None,
    limit_tokens: int | None = None,
    used_percent: float | None = None,
) -> MissingReason | None:
    """Hold the other statements of the same data against the measured one."""
    if used_tokens is not None and limit_tokens is not None:
        used_percent = 100 * used_tokens / limit_tokens
    for claim in claims:
        match claim.quantity:
            case Quantity.USED_TOKENS:
                measured: float | None = used_tokens
            case Quantity.REMAINING_TOKENS if used_tokens is not None and limit_tokens is not None:
                measured = max(0, limit_tokens - used_tokens)
            case Quantity.USED_PERCENT:
                measured = used_percent
            case Quantity.REMAINING_PERCENT if used_percent is not None:
                measured = max(0.0, 100 - used_percent)
            case _:
                measured = None
        if measured is not None and abs(measured - claim.value) > claim.tolerance:
            return MissingReason.SOURCES_DISAGREE
    return None


def _witness(seen: Sample, *numbers: str) -> Witness | None:
    """Fingerprint a sample, so that two readings of it are known to be one."""
    if not seen.identity:
        return None
    from hashlib import sha256  # noqa: PLC0415 - only a sample with an identity pays for it

    model = "" if seen.model is None else seen.model.id
    facts = "\0".join((*seen.identity, *numbers, model))
    return Witness(sha256(facts.encode("utf-8", "surrogatepass")).digest())


def _public_version(version: str | None) -> str | None:
    """Return *version* if it looks like one: provenance never carries other text."""
    if version is None or len(version) > _LONGEST_VERSION or not version.isascii():
        return None
    plain = version.replace(".", "").replace("-", "").replace("+", "")
    return version if plain.isalnum() and version[0].isdigit() else None


def _public_model(model: ModelRef | None) -> ModelRef | None:
    """Return *model* if its id looks like a model id and not like text or a path."""
    if model is None:
        return None
    named = model.id
    if not 0 < len(named) <= _LONGEST_MODEL_ID or not named.isascii():
        return None
    if not named[0].isalnum() or ".." in named or not _MODEL_ID_CHARACTERS.issuperset(named):
        return None
    return model


_LONGEST_VERSION = 40  # "2.1.332" and pre-releases with a build suffix fit
_LONGEST_MODEL_ID = 200  # the longest real ids are Bedrock ARNs of about 130 characters
_MODEL_ID_CHARACTERS = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:/@[]<>"
)
