"""What holds for all evidence, all questions and all policies, with the real model table."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from enum import Enum
from typing import Any

from attrs import asdict, evolve, fields, frozen
from hypothesis import example, given
from hypothesis import strategies as st
from judging import AT, SECOND, origin, pair, used

from ctxmeasure.assess import RULES, Counts, Policy, Refusal, assess
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import (
    Channel,
    Claim,
    Evidence,
    Gap,
    Origin,
    Phase,
    Quantity,
    Query,
    TokenPair,
    UsedPercent,
    UsedTokens,
)
from ctxmeasure.measurement import PercentMeasurement, TokenMeasurement
from ctxmeasure.observation import (
    Attestation,
    Completeness,
    Confidence,
    LimitBasis,
    Missing,
    MissingReason,
    Observation,
    Observed,
    UsedBasis,
)
from ctxmeasure.testing import strategies
from ctxmeasure.usage import TokenUsage

FALLING_CONFIDENCE = list(Confidence)


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


def member(vocabulary: type[Enum]) -> st.SearchStrategy[Any]:
    return st.sampled_from(list(vocabulary))


KNOWN_MODELS = st.builds(
    ModelRef,
    id=st.sampled_from(
        [
            "claude-haiku-4-5",
            "claude-opus-4-6",
            "claude-opus-4-8",
            "claude-sonnet-4-5-20250929",
            "claude-sonnet-5",
            "gpt-5.4",
            "mystery-model-9",
            "opus",
        ]
    ),
    provider=st.sampled_from([None, "anthropic", "openai"]),
    long_context_marker=st.sampled_from([None, True, False]),
    platform=st.sampled_from([None, "first_party", "bedrock"]),
)
MODELS = KNOWN_MODELS | strategies.models()
NEAR = st.timedeltas(timedelta(minutes=-2), timedelta(seconds=10)).map(lambda age: AT + age)
MOMENTS = (
    NEAR
    | strategies.moments()
    | st.datetimes()
    | st.datetimes(timezones=st.just(timezone(timedelta(hours=14))))
)
CLAIMS = st.builds(
    Claim,
    quantity=member(Quantity),
    value=st.integers() | st.floats(),
    tolerance=st.integers(0, 1000) | st.floats(0, 2),
)


@frozen
class Samples:
    """Strategies for samples of the three kinds."""

    used: st.SearchStrategy[UsedTokens]
    pairs: st.SearchStrategy[TokenPair]
    percents: st.SearchStrategy[UsedPercent]

    @classmethod
    def of(
        cls,
        *,
        sample: dict[str, st.SearchStrategy[Any]],
        counted: dict[str, st.SearchStrategy[Any]],
        limits: st.SearchStrategy[int],
        percents: st.SearchStrategy[float],
    ) -> Samples:
        sample = {
            **sample,
            "identity": st.lists(st.text(st.characters()), max_size=3).map(tuple),
            "lower_bound": st.booleans(),
        }
        tokens = {**sample, **counted, "used_basis": member(UsedBasis)}
        return cls(
            st.builds(UsedTokens, **tokens),
            st.builds(
                TokenPair,
                **tokens,
                limit_tokens=limits,
                limit_basis=member(LimitBasis),
                default_limits=st.frozensets(st.sampled_from([200_000, 1_000_000])),
                misstates_limit=st.booleans(),
                overflows=st.booleans(),
            ),
            st.builds(UsedPercent, **sample, used_percent=percents),
        )

    @property
    def tokens(self) -> st.SearchStrategy[UsedTokens]:
        return self.used | self.pairs

    @property
    def all(self) -> st.SearchStrategy[UsedTokens | UsedPercent]:
        return self.used | self.pairs | self.percents


# Adapters are written by others too: numbers and moments that cannot be may come as well.
ANY = Samples.of(
    sample={
        "measured_at": maybe(MOMENTS),
        "runtime_version": st.none() | st.just("2.1.332") | st.text(max_size=10),
        "model": maybe(MODELS),
        "estimated": st.booleans(),
        "turn_ended_at": maybe(MOMENTS),
        "claims": st.lists(CLAIMS, max_size=2).map(tuple),
    },
    counted={
        "usage": maybe(strategies.usages()),
        "used_tokens": maybe(st.integers(0, 300_000) | st.integers()),
    },
    limits=st.sampled_from([200_000, 258_400, 1_000_000]) | st.integers(),
    percents=st.floats(0, 100) | st.floats(),
)
# What real runtimes say, most of which can be measured.
LIKELY = Samples.of(
    sample={
        "measured_at": NEAR,
        "runtime_version": st.sampled_from([None, "2.1.332", "2.1.200"]),
        "model": KNOWN_MODELS,
        "estimated": st.sampled_from([False, False, True]),
        "turn_ended_at": st.just(None),
    },
    counted={
        "usage": st.builds(
            TokenUsage, input_tokens=st.integers(1, 260_000), output_tokens=st.integers(0, 9_000)
        )
    },
    limits=st.sampled_from([200_000, 258_400, 1_000_000]),
    percents=st.floats(0, 100),
)
GAPS = st.builds(
    Gap,
    reason=member(MissingReason),
    partial=maybe(strategies.partials()),
    limit_basis=member(LimitBasis),
    runtime_version=maybe(st.text(max_size=10)),
    model=maybe(MODELS),
)
ORIGINS = st.builds(
    Origin,
    adapter=st.sampled_from(["claude", "codex"]),
    source=st.just("claude.transcript"),
    method=st.just("method"),
    channel=member(Channel),
    client=st.sampled_from([None, "claude", "codex", "pi", "cursor"]),
)


def queries(**asked: st.SearchStrategy[Any]) -> st.SearchStrategy[Query]:
    free: dict[str, st.SearchStrategy[Any]] = {
        "at": st.just(AT) | strategies.moments(),
        "phase": member(Phase),
        "model": maybe(MODELS),
        "limit_tokens": maybe(strategies.limits()),
    }
    return st.builds(Query, **{**free, **asked})


TIMELY = queries(at=st.just(AT))
POLICIES = st.builds(
    Policy,
    counts=member(Counts),
    max_age=maybe(st.timedeltas(min_value=timedelta(0))),
    accept_estimates=st.booleans(),
    assume_limits=st.dictionaries(st.sampled_from(["claude", "codex"]), st.integers(1, 2_000_000)),
    resolver=st.sampled_from([None, lambda _: None, lambda _: 262_144]),
)


def judged(evidence: Evidence, facts: Origin, query: Query, policy: Policy) -> Observation:
    return assess(evidence, origin=facts, query=query, policy=policy)


@given(ANY.all | GAPS, ORIGINS, queries(), POLICIES)
@example(used(measured_at=datetime(1, 1, 1)), origin(), Query(at=AT), Policy())  # noqa: DTZ001
@example(pair(used_tokens=10**400, limit_tokens=1), origin(), Query(at=AT), Policy())
def test_all_evidence_has_a_judgement(
    evidence: Evidence, facts: Origin, query: Query, policy: Policy
) -> None:
    observation = judged(evidence, facts, query, policy)
    assert isinstance(observation, Observed | Missing)
    assert observation.provenance.source == facts.source


@given(ANY.percents | LIKELY.percents, ORIGINS, queries(), POLICIES)
def test_a_percentage_never_yields_tokens(
    evidence: UsedPercent, facts: Origin, query: Query, policy: Policy
) -> None:
    observation = judged(evidence, facts, query, policy)
    assert observation.provenance.used_basis is None
    assert observation.provenance.limit_basis is None
    match observation:
        case Observed(value=value, completeness=completeness):
            assert isinstance(value, PercentMeasurement)
            assert completeness in {Completeness.PERCENTAGE_ONLY, Completeness.LOWER_BOUND}
        case Missing(partial=partial):
            assert partial is not None
            assert partial.used_tokens is None
            assert partial.limit_tokens is None


@given(ANY.tokens | LIKELY.tokens, ORIGINS, queries(), POLICIES)
def test_tokens_are_never_reduced_to_a_percentage(
    evidence: UsedTokens, facts: Origin, query: Query, policy: Policy
) -> None:
    match judged(evidence, facts, query, policy):
        case Observed(value=value):
            assert isinstance(value, TokenMeasurement)
        case Missing(partial=partial):
            assert partial is not None
            assert partial.used_percent is None


@given(LIKELY.tokens, ORIGINS, TIMELY, POLICIES)
def test_every_limit_has_a_source(
    evidence: UsedTokens, facts: Origin, query: Query, policy: Policy
) -> None:
    observation = judged(evidence, facts, query, policy)
    if isinstance(observation, Missing):
        return
    assert isinstance(observation.value, TokenMeasurement)
    limit, method = observation.value.limit_tokens, observation.value.method
    if query.limit_tokens is not None:
        assert (limit, method) == (query.limit_tokens, "method_declared_limit")
        assert observation.provenance.limit_basis is LimitBasis.DECLARED
    elif isinstance(evidence, TokenPair):
        assert limit == evidence.limit_tokens
        assert observation.provenance.limit_basis is evidence.limit_basis
    elif observation.provenance.limit_basis is LimitBasis.ASSUMED_DEFAULT:
        assert (limit, method) == (policy.assume_limits[facts.adapter], "method_assumed_limit")
        assert observation.confidence is Confidence.LOW
    else:
        assert observation.provenance.limit_basis is LimitBasis.WINDOW
        assert evidence.model is not None or query.model is not None
        assert limit in {200_000, 1_000_000, 262_144} or facts.client != "claude"
        assert observation.confidence is not Confidence.EXACT


@given(LIKELY.all, ORIGINS, TIMELY, POLICIES)
def test_exact_is_only_what_the_runtime_itself_states(
    evidence: Evidence, facts: Origin, query: Query, policy: Policy
) -> None:
    observation = judged(evidence, facts, query, policy)
    if isinstance(observation, Missing) or observation.confidence is not Confidence.EXACT:
        return
    assert isinstance(evidence, TokenPair | UsedPercent)
    assert not evidence.estimated
    assert query.limit_tokens is None or isinstance(evidence, UsedPercent)
    assert observation.attestation in {Attestation.NATIVE, Attestation.DERIVED}


@given(ANY.all | LIKELY.all, ORIGINS, queries(), POLICIES)
def test_an_estimate_is_measured_only_as_one(
    evidence: UsedTokens | UsedPercent, facts: Origin, query: Query, policy: Policy
) -> None:
    evidence = evolve(evidence, estimated=True)
    match judged(evidence, facts, query, policy):
        case Observed(confidence=confidence, attestation=attestation):
            assert policy.accept_estimates
            assert confidence is Confidence.LOW
            assert attestation is Attestation.INFERRED
        case Missing(partial=partial):
            assert partial is not None
            assert partial.estimated


@given(ANY.all | LIKELY.all, ORIGINS, queries(), POLICIES)
def test_every_refusal_of_a_sample_is_a_row_of_the_table(
    evidence: Evidence, facts: Origin, query: Query, policy: Policy
) -> None:
    observation = judged(evidence, facts, query, policy)
    if isinstance(observation, Missing):
        assert observation.reason in {r.reason for r in RULES if isinstance(r, Refusal)}


@given(ANY.tokens | LIKELY.tokens, ORIGINS, queries(), POLICIES)
def test_a_missing_reading_keeps_the_count_that_was_measured(
    evidence: UsedTokens, facts: Origin, query: Query, policy: Policy
) -> None:
    observation = judged(evidence, facts, query, policy)
    if isinstance(observation, Observed):
        return
    assert observation.partial is not None
    without = {MissingReason.USAGE_NOT_REPORTED, MissingReason.USAGE_INVALID}
    assert (observation.partial.used_tokens is None) is (observation.reason in without)
    assert (observation.provenance.used_basis is None) is (observation.reason in without)
    if observation.reason is MissingReason.USAGE_NOT_REPORTED:
        assert evidence.used_tokens is None
        assert evidence.usage is None


@given(LIKELY.all, ORIGINS, TIMELY, POLICIES)
def test_a_measurement_is_as_timely_as_was_asked(
    evidence: Evidence, facts: Origin, query: Query, policy: Policy
) -> None:
    observation = judged(evidence, facts, query, policy)
    if isinstance(observation, Missing):
        return
    rounding = timedelta(milliseconds=1)
    age = query.at - observation.value.measured_at
    assert age >= -5 * SECOND
    if policy.max_age is not None:
        assert age - rounding <= policy.max_age
    elif query.phase is Phase.ACTIVE:
        assert age - rounding <= 30 * SECOND


CONTRADICTIONS = {MissingReason.LIMIT_CONTRADICTED, MissingReason.SOURCES_DISAGREE}
"""Refusals that rest on evidence of too much: with less, nothing contradicts."""


def rank(observation: Observation) -> int:
    """Return how little an observation is sure of."""
    if isinstance(observation, Missing):
        return len(FALLING_CONFIDENCE)
    return FALLING_CONFIDENCE.index(observation.confidence)


# A caller who vouches for a model, or assumes one, is believed where the session says nothing.
UNVOUCHED = queries(model=st.none())


@given(ANY.all | LIKELY.all, ORIGINS, UNVOUCHED, POLICIES)
def test_taking_the_model_away_never_raises_confidence(
    evidence: UsedTokens | UsedPercent, facts: Origin, query: Query, policy: Policy
) -> None:
    before = judged(evidence, facts, query, policy)
    after = judged(evolve(evidence, model=None), facts, query, policy)
    if not (isinstance(before, Missing) and before.reason in CONTRADICTIONS):
        assert rank(after) >= rank(before)


@given(ANY.all | LIKELY.all, ORIGINS, queries(), POLICIES)
def test_taking_the_time_away_leaves_no_measurement(
    evidence: UsedTokens | UsedPercent, facts: Origin, query: Query, policy: Policy
) -> None:
    assert isinstance(judged(evolve(evidence, measured_at=None), facts, query, policy), Missing)


@given(ANY.pairs | LIKELY.pairs, ORIGINS, queries(), POLICIES)
def test_taking_the_limit_away_leaves_nothing_exact_and_nothing_native(
    evidence: TokenPair, facts: Origin, query: Query, policy: Policy
) -> None:
    shared = {field.name for field in fields(UsedTokens)}
    counted = asdict(evidence, recurse=False, filter=lambda field, _: field.name in shared)
    before = judged(evidence, facts, query, policy)
    after = judged(UsedTokens(**counted), facts, query, policy)
    if isinstance(after, Observed):
        assert after.attestation in {Attestation.INFERRED, Attestation.OPERATOR}
        assert after.confidence is not Confidence.EXACT
    # A stated limit that may be the runtime's fallback is doubted because the table knows better.
    if isinstance(before, Observed) and evidence.limit_tokens not in evidence.default_limits:
        assert rank(after) >= rank(before)


@given(LIKELY.all, ORIGINS, TIMELY, POLICIES, st.integers(1, 10_000))
def test_a_witness_knows_neither_the_phase_nor_the_moment_of_the_question(
    evidence: Evidence, facts: Origin, query: Query, policy: Policy, seconds: int
) -> None:
    first = judged(evidence, facts, query, policy)
    if isinstance(first, Missing):
        return
    later = evolve(query, at=AT + seconds * SECOND)
    for phase in Phase:
        second = judged(evidence, facts, evolve(later, phase=phase), policy)
        if isinstance(second, Observed):
            assert second.provenance.witness == first.provenance.witness
