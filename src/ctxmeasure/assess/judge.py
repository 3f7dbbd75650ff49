"""The decision: which row of the table a piece of evidence falls under.

Refusals come in a fixed order, and the first that fits is the reason: identity (the adapter's
`Gap`), evidence, model, plausibility, time.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import define, evolve, fields

from ..bounded.budget import ReadStats
from ..capability.model import Capability, Certainty, ModelRef, Resolution, Unresolved
from ..evidence import (
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
from ..measurement import Measurement, PercentMeasurement, TokenMeasurement
from ..observation import (
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
from ..usage import TokenUsage
from . import rules
from .disclosure import public_model, public_version
from .policy import DEFAULT_POLICY, Counts, Policy
from .rules import Ceiling, Grade

if TYPE_CHECKING:
    from hashlib import _Hash
    from types import ModuleType

__all__ = ["assess", "is_repeated"]

_CLOCK_SKEW = timedelta(seconds=5)  # clocks of a runtime and its reader differ by this much
_ACTIVE_MAX_AGE = timedelta(seconds=30)  # a running turn's sample older than this says little
_TURN_END_LAG = timedelta(seconds=30)  # a turn's last sample lies at most this far before its end
_MOST_TOKENS = 2**53  # the largest whole number up to which JavaScript counts exactly

# What a runtime gives an estimate instead of. Any other gap has nothing to do with its estimate.
_ESTIMATED_INSTEAD = (
    MissingReason.COMPACTED,
    MissingReason.ESTIMATE_ONLY,
    MissingReason.REWOUND,
)
_UNKNOWN_WINDOW = (
    MissingReason.LIMIT_NOT_REPORTED,
    MissingReason.MODEL_NOT_REPORTED,
    MissingReason.MODEL_UNKNOWN,
    MissingReason.WINDOW_AMBIGUOUS,
)
_METHOD_SUFFIX = {
    LimitBasis.DECLARED: "_declared_limit",
    LimitBasis.ASSUMED_DEFAULT: "_assumed_limit",
}
_FALLING_CONFIDENCE = tuple(Confidence)


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

    Raises:
        TypeError: *evidence* is none: the source returned what its kind may not return.
    """
    return _Case(origin, query, policy, stats if stats is not None else ReadStats()).of(evidence)


def is_repeated(evidence: Evidence, before: Sample, *, query: Query, policy: Policy) -> bool:
    """Tell whether *evidence* says of the sample *before* nothing but another time of day.

    `assess` then says of it what it said of *before*, which it measured: the two are one sample,
    and no window changes within a day. Where an age could tell them apart they count as different.

    Args:
        evidence: What the adapter saw now.
        before: What it saw then.
        query: What was asked, and when, of both alike.
        policy: What the caller accepts.
    """
    if isinstance(evidence, Gap) or type(evidence) is not type(before) or not before.identity:
        return False
    kind: Any = type(before)
    facts = _facts_of(kind)
    return facts(evidence) == facts(before) and _is_as_timely(
        evidence.measured_at, before.measured_at, query, policy
    )


@cache
def _facts_of(kind: type[Any]) -> Callable[[Sample], tuple[object, ...]]:
    """Return what tells all but the time of a sample of that *kind*."""
    names = [attribute.name for attribute in fields(kind) if attribute.name != "measured_at"]
    return attrgetter(*names)


def _is_as_timely(
    now: datetime | None, before: datetime | None, query: Query, policy: Policy
) -> bool:
    if now is None or before is None or now.tzinfo is not UTC or before.tzinfo is not UTC:
        return False
    is_ageless = policy.max_age is None and query.phase is Phase.LATEST
    return is_ageless and now.date() == before.date() and query.at - now >= -_CLOCK_SKEW


# These three are made anew for every judgement and never handed out. They are not frozen, because
# setting a field of a frozen class costs three times as much, which is felt in a stream and a scan.


@define(eq=False)
class _Count:
    """A used count and what it contains."""

    tokens: int
    basis: UsedBasis


@define(kw_only=True, eq=False)
class _Limit:
    """A limit, which one it is, and how good it makes the measurement."""

    tokens: int
    basis: LimitBasis
    grade: Grade
    ceiling: Ceiling | None = None
    overflows: bool = False


_LimitFinder: TypeAlias = Callable[[Any, "ModelRef | None", int], "_Limit | MissingReason"]


@define(eq=False)
class _Case:
    """One question before the judge."""

    origin: Origin
    query: Query
    policy: Policy
    stats: ReadStats

    # -- the kinds of evidence ----------------------------------------------------------------

    def of(self, evidence: Evidence) -> Observation:
        match evidence:
            case Gap():
                return self.of_gap(evidence)
            case UsedPercent():
                return self.of_percent(evidence)
            case TokenPair():
                return self.of_tokens(evidence, self.limit_beside)
            case UsedTokens():
                return self.of_tokens(evidence, self.limit_for)
            case _:
                raise TypeError(
                    "evidence: expected a TokenPair, UsedTokens, UsedPercent or Gap of "
                    f"{self.origin.source} "
                    "(NeedMore is for a TailSource, NeedKeys for a StoreSource)"
                )

    def of_gap(self, gap: Gap) -> Observation:
        estimate = self._accepted_estimate(gap)
        if estimate is not None:
            return self.of(estimate)
        return Missing(
            reason=gap.reason,
            partial=gap.partial,
            provenance=self._provenance(gap.runtime_version, gap.model),
        )

    def of_percent(self, seen: UsedPercent) -> Observation:
        percent, measured_at = seen.used_percent, seen.measured_at
        if not 0 <= percent <= 100:  # NaN too
            return self._percent_refused(MissingReason.PERCENT_INVALID, seen)
        if measured_at is None:
            return self._percent_refused(MissingReason.TIME_NOT_REPORTED, seen, percent)
        if self._is_unaccepted_estimate(seen):
            return self._percent_refused(MissingReason.ESTIMATE_ONLY, seen, percent)
        reason = _disagreement(seen.claims, used_percent=percent) or self._untimely(
            seen, measured_at
        )
        if reason is not None:
            return self._percent_refused(reason, seen, percent)
        stated = rules.STATED_PERCENT[self.origin.channel]
        value = PercentMeasurement(
            used_percent=percent,
            measured_at=measured_at,
            method=self.origin.percent_method or self.origin.method,
        )
        provenance = self._provenance(
            seen.runtime_version, seen.model, witness=_witness(seen, repr(value.used_percent))
        )
        return _observed(
            value, rules.ESTIMATED_PERCENT if seen.estimated else stated, seen, provenance
        )

    def of_tokens(self, seen: UsedTokens, find_limit: _LimitFinder) -> Observation:
        model = self._model(seen)
        own = _own_count(seen)
        if own is None:
            return self._refused(MissingReason.USAGE_NOT_REPORTED, seen, model)
        used = self._as_asked(own, seen)
        if not (_is_possible(own) and _is_possible(used or own)):
            return self._refused(MissingReason.USAGE_INVALID, seen, model)
        if used is None:
            return self._refused(MissingReason.USAGE_INCOMPLETE, seen, model, own)
        if self._lacks_a_possible_limit(seen):
            return self._refused(MissingReason.LIMIT_INVALID, seen, model, used)
        measured_at = seen.measured_at
        if measured_at is None:
            return self._refused(MissingReason.TIME_NOT_REPORTED, seen, model, used)
        if self._is_unaccepted_estimate(seen):
            return self._refused(MissingReason.ESTIMATE_ONLY, seen, model, used)
        limit = find_limit(seen, model, _fullest(seen, own))
        if isinstance(limit, MissingReason):
            return self._refused(limit, seen, model, used)
        reason = (
            _contradiction(limit, own, used)
            or _disagreement_about_tokens(seen, own)
            or self._untimely(seen, measured_at)
        )
        if reason is not None:
            return self._refused(reason, seen, model, used, limit)
        return self._measured(seen, model, used, limit, measured_at)

    def _measured(
        self,
        seen: UsedTokens,
        model: ModelRef | None,
        used: _Count,
        limit: _Limit,
        measured_at: datetime,
    ) -> Observed:
        value = TokenMeasurement(
            used_tokens=used.tokens,
            limit_tokens=limit.tokens,
            measured_at=measured_at,
            method=self.origin.method + _METHOD_SUFFIX.get(limit.basis, ""),
        )
        provenance = self._provenance(
            seen.runtime_version,
            model,
            used_basis=used.basis,
            limit_basis=limit.basis,
            usage=seen.usage,
            witness=_witness(seen, str(used.tokens), str(limit.tokens)),
        )
        if seen.estimated:
            return _observed(value, rules.ESTIMATED_COUNT, seen, provenance)
        return _observed(value, limit.grade, seen, provenance, limit.ceiling)

    def _percent_refused(
        self, reason: MissingReason, seen: UsedPercent, percent: float | None = None
    ) -> Missing:
        return Missing(
            reason=reason,
            partial=Partial(
                used_percent=percent, measured_at=seen.measured_at, estimated=seen.estimated
            ),
            provenance=self._provenance(seen.runtime_version, seen.model),
        )

    def _refused(
        self,
        reason: MissingReason,
        seen: UsedTokens,
        model: ModelRef | None,
        used: _Count | None = None,
        limit: _Limit | None = None,
    ) -> Missing:
        limit_tokens, limit_basis = _stated(seen) if limit is None else (limit.tokens, limit.basis)
        return Missing(
            reason=reason,
            partial=Partial(
                used_tokens=None if used is None else used.tokens,
                limit_tokens=limit_tokens,
                measured_at=seen.measured_at,
                estimated=seen.estimated,
            ),
            provenance=self._provenance(
                seen.runtime_version,
                model,
                used_basis=None if used is None else used.basis,
                limit_basis=limit_basis,
                usage=seen.usage,
            ),
        )

    def _as_asked(self, own: _Count, seen: UsedTokens) -> _Count | None:
        """Return the count on the basis that the policy asks for, or None if it cannot be told."""
        if self.policy.counts is Counts.OWN or own.basis is UsedBasis.PROMPT:
            return own
        if seen.usage is None:
            return None
        return _Count(seen.usage.prompt_tokens, UsedBasis.PROMPT)

    # -- limits -------------------------------------------------------------------------------

    def _lacks_a_possible_limit(self, seen: UsedTokens) -> bool:
        is_stated = isinstance(seen, TokenPair) and self.query.limit_tokens is None
        return is_stated and _stated(seen) == (None, None)

    def limit_beside(
        self, seen: TokenPair, model: ModelRef | None, fullest: int
    ) -> _Limit | MissingReason:
        """Return the limit that the runtime states, or say that the model cannot have it.

        Only limits that the runtime is known to fall back to are held against the table: any other
        number is knowledge (a server setting, a plan) that no table can have.
        """
        if self.query.limit_tokens is not None:
            return _declared(self.query.limit_tokens)
        limit = _Limit(
            tokens=seen.limit_tokens,
            basis=seen.limit_basis,
            grade=rules.STATED_PAIR[self.origin.channel],
            overflows=seen.overflows,
        )
        if seen.limit_tokens not in seen.default_limits:
            return limit
        if model is None:
            return evolve(limit, ceiling=rules.DEFAULT_LIMIT)
        if model.long_context_marker is False:
            # The absence of a marker tells what a session asked for, not what it was given.
            model = evolve(model, long_context_marker=None)
        match self._resolve(model, seen):
            case Unresolved():  # unknown, or not known well enough to vouch for the number
                return evolve(limit, ceiling=rules.DEFAULT_LIMIT)
            case row:
                held = _held_against(row, limit, fullest, misstates=seen.misstates_limit)
                return self._capped(held, model, seen)

    def limit_for(
        self, seen: UsedTokens, model: ModelRef | None, fullest: int
    ) -> _Limit | MissingReason:
        """Return the limit of a count that has none: declared, looked up, or assumed."""
        if self.query.limit_tokens is not None:
            return _declared(self.query.limit_tokens)
        limit = (
            seen.limit_missing or MissingReason.MODEL_NOT_REPORTED
            if model is None
            else self._looked_up(model, seen, fullest)
        )
        if _is_unknown(limit):
            assumed = self.policy.assume_limits.get(self.origin.adapter)
            if assumed is not None:
                return _Limit(
                    tokens=assumed, basis=LimitBasis.ASSUMED_DEFAULT, grade=rules.ASSUMED_LIMIT
                )
        return limit

    def _looked_up(self, model: ModelRef, seen: UsedTokens, fullest: int) -> _Limit | MissingReason:
        limit = seen.limit_missing or self._tabled(model, seen, fullest)
        if _is_unknown(limit):
            window = self.policy.resolved(model)
            if window is not None:
                return _Limit(
                    tokens=window, basis=LimitBasis.WINDOW, grade=rules.RESOLVED_BY_CALLER
                )
        return limit

    def _tabled(self, model: ModelRef, seen: UsedTokens, fullest: int) -> _Limit | MissingReason:
        is_bare = self._is_bare_by_word(model, seen)
        asked = evolve(model, long_context_marker=None) if is_bare else model
        match self._resolve(asked, seen):
            case Capability() as row:
                if is_bare and row.certainty is Certainty.UNDECIDED:
                    row = evolve(row, certainty=Certainty.DEFAULTED)
                in_force = asked.long_context_marker is not None
                return self._capped(_chosen(row, fullest, in_force=in_force), model, seen)
            case Unresolved(ambiguous=True):
                return MissingReason.WINDOW_AMBIGUOUS
            case _:
                return MissingReason.MODEL_UNKNOWN

    def _capped(
        self, limit: _Limit | MissingReason, model: ModelRef, seen: UsedTokens
    ) -> _Limit | MissingReason:
        """Lower a limit that rests on the caller's word against an id that nobody knows."""
        is_session_model = seen.model is None or model.id == seen.model.id
        if is_session_model or isinstance(limit, MissingReason):
            return limit
        return evolve(limit, ceiling=rules.VOUCHED_FOR)

    # -- the model ----------------------------------------------------------------------------

    def _resolve(self, model: ModelRef, seen: Sample) -> Resolution:
        found: Resolution = _capability_table().resolve(
            model,
            client=self.origin.client,
            client_version=seen.runtime_version,
            at=seen.measured_at,
        )
        return found

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

    def _is_bare_by_word(self, model: ModelRef, seen: Sample) -> bool:
        """Tell whether it is only the caller who says that nobody asked for the long window.

        That is less than the session's own word: Claude Code adds the marker by itself on some
        plans (since 2.1.75 for claude-opus-4-6), and a use above the smaller window proves it did.
        """
        own = None if seen.model is None else seen.model.long_context_marker
        return own is None and model.long_context_marker is False

    # -- estimates and time -------------------------------------------------------------------

    def _is_unaccepted_estimate(self, seen: Sample) -> bool:
        return seen.estimated and not self.policy.accept_estimates

    def _accepted_estimate(self, gap: Gap) -> UsedTokens | UsedPercent | None:
        """Turn the runtime's estimate into a sample that is marked as one, if it is wanted.

        An estimate of the whole context holds the answers that are already in it, so it cannot be
        put on the basis of the prompt alone.
        """
        known = gap.partial
        if known is None or not known.estimated or not self.policy.accept_estimates:
            return None
        if gap.reason not in _ESTIMATED_INSTEAD or self.policy.counts is Counts.PROMPT:
            return None
        sample: dict[str, Any] = {
            "measured_at": known.measured_at,
            "runtime_version": gap.runtime_version,
            "model": gap.model,
            "estimated": True,
        }
        if known.used_tokens is None:
            percent = known.used_percent
            return None if percent is None else UsedPercent(**sample, used_percent=percent)
        sample |= {
            "used_tokens": known.used_tokens,
            "used_basis": UsedBasis.PROMPT_AND_OUTPUT,
        }
        if known.limit_tokens is None:
            return UsedTokens(**sample)
        return TokenPair(**sample, limit_tokens=known.limit_tokens, limit_basis=gap.limit_basis)

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
        self,
        runtime_version: str | None,
        model: ModelRef | None,
        *,
        used_basis: UsedBasis | None = None,
        limit_basis: LimitBasis | None = None,
        usage: TokenUsage | None = None,
        witness: Witness | None = None,
    ) -> Provenance:
        return Provenance(
            adapter=self.origin.adapter,
            source=self.origin.source,
            runtime_version=public_version(runtime_version),
            used_basis=used_basis,
            limit_basis=limit_basis,
            usage=usage,
            model=public_model(model),
            witness=witness,
            stats=self.stats,
        )


def _observed(
    value: Measurement,
    grade: Grade,
    seen: Sample,
    provenance: Provenance,
    ceiling: Ceiling | None = None,
) -> Observed:
    return Observed(
        value=value,
        attestation=grade.attestation,
        confidence=_lowered(grade.confidence, ceiling),
        completeness=Completeness.LOWER_BOUND if seen.lower_bound else grade.completeness,
        provenance=provenance,
    )


def _lowered(confidence: Confidence, ceiling: Ceiling | None) -> Confidence:
    if ceiling is None:
        return confidence
    return max(confidence, ceiling.confidence, key=_FALLING_CONFIDENCE.index)


# -- counts ---------------------------------------------------------------------------------------


def _own_count(seen: UsedTokens) -> _Count | None:
    """Return the count of the runtime's own meter."""
    if seen.used_tokens is not None:
        return _Count(seen.used_tokens, seen.used_basis)
    if seen.usage is None:
        return None
    by_prompt = seen.used_basis is UsedBasis.PROMPT
    tokens = seen.usage.prompt_tokens if by_prompt else seen.usage.total_tokens
    return _Count(tokens, seen.used_basis)


def _is_possible(count: _Count) -> bool:
    return 0 <= count.tokens <= _MOST_TOKENS


def _fullest(seen: UsedTokens, own: _Count) -> int:
    """Return the most tokens that the request is known to have had in the window.

    Output lies inside the windows of the table, so it refutes one whatever the meter counts.
    """
    return own.tokens if seen.usage is None else max(own.tokens, seen.usage.total_tokens)


# -- limits ---------------------------------------------------------------------------------------


def _is_unknown(limit: _Limit | MissingReason) -> bool:
    return isinstance(limit, MissingReason) and limit in _UNKNOWN_WINDOW


def _stated(seen: UsedTokens) -> tuple[int, LimitBasis] | tuple[None, None]:
    """Return the limit that stands beside a count, and which one it is."""
    if isinstance(seen, TokenPair) and 0 < seen.limit_tokens <= _MOST_TOKENS:
        return seen.limit_tokens, seen.limit_basis
    return None, None


def _declared(limit_tokens: int) -> _Limit:
    return _Limit(tokens=limit_tokens, basis=LimitBasis.DECLARED, grade=rules.DECLARED_LIMIT)


def _held_against(
    row: Capability, limit: _Limit, fullest: int, *, misstates: bool
) -> _Limit | MissingReason:
    """Hold a limit that may be the runtime's fallback against the model's table row."""
    smaller, larger = row.window_tokens, row.larger_window_tokens
    is_possible = limit.tokens in (smaller, larger)
    if misstates and not is_possible:
        return MissingReason.LIMIT_CONTRADICTED
    in_doubt = (
        not is_possible
        or row.is_version_assumed
        or limit.tokens == row.reduced_window_tokens
        or (misstates and larger is not None and limit.tokens == smaller)
        or (row.marker_unsupported and fullest <= smaller)
    )
    return evolve(limit, ceiling=rules.DEFAULT_LIMIT) if in_doubt else limit


def _chosen(row: Capability, fullest: int, *, in_force: bool) -> _Limit | MissingReason:
    """Choose between the windows that a model can have, given how full it was."""
    larger = row.larger_window_tokens
    if fullest > row.window_tokens and larger is not None:
        return _Limit(tokens=larger, basis=LimitBasis.WINDOW, grade=rules.ONLY_LARGER_WINDOW)
    if row.marker_unsupported:
        # The session asked for a window that the provider does not serve for this model.
        return MissingReason.LIMIT_CONTRADICTED
    if row.certainty is Certainty.UNDECIDED:
        return MissingReason.WINDOW_AMBIGUOUS
    if row.certainty is Certainty.DEFAULTED:
        grade = rules.DOCUMENTED_DEFAULT
    else:
        grade = rules.WINDOW_IN_FORCE if in_force else rules.DECIDED_BY_ID
    return _Limit(tokens=row.window_tokens, basis=LimitBasis.WINDOW, grade=grade)


# -- plausibility ---------------------------------------------------------------------------------


def _contradiction(limit: _Limit, own: _Count, used: _Count) -> MissingReason | None:
    """Say whether more was used than *limit* allows, by any count."""
    if not limit.overflows and max(own.tokens, used.tokens) > limit.tokens:
        return MissingReason.LIMIT_CONTRADICTED
    return None


def _disagreement_about_tokens(seen: UsedTokens, own: _Count) -> MissingReason | None:
    limit_tokens, _ = _stated(seen)
    return _disagreement(seen.claims, used_tokens=own.tokens, limit_tokens=limit_tokens)


def _disagreement(
    claims: tuple[Claim, ...],
    *,
    used_tokens: int | None = None,
    limit_tokens: int | None = None,
    used_percent: float | None = None,
) -> MissingReason | None:
    """Hold the other statements of the same data against the measured one."""
    if not claims:
        return None
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
        if measured is None:
            continue
        if not measured - claim.tolerance <= claim.value <= measured + claim.tolerance:
            return MissingReason.SOURCES_DISAGREE
    return None


# -- the fingerprint ------------------------------------------------------------------------------


def _witness(seen: Sample, *numbers: str) -> Witness | None:
    """Fingerprint a sample, so that two readings of it are known to be one."""
    if not seen.identity:
        return None
    model = "" if seen.model is None else seen.model.id
    facts = "\0".join((*seen.identity, *numbers, model))
    return Witness(_sha256()(facts.encode("utf-8", "surrogatepass")).digest())


# -- what is imported on first use, and looked up once: the statement alone takes 1 us -------------


@cache
def _sha256() -> Callable[[bytes], _Hash]:
    from hashlib import sha256  # noqa: PLC0415 - only a sample with an identity pays for it

    return sha256


@cache
def _capability_table() -> ModuleType:
    from ..capability import table  # noqa: PLC0415 - loads the table on first use

    return table
