"""What the judge makes of each kind of evidence, row by row of its table."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta, timezone
from hashlib import sha256
from typing import Any, TypeVar

import pytest
from attrs import evolve
from judging import (
    AT,
    SECOND,
    UNKNOWN,
    Table,
    capability,
    judge,
    known,
    measured,
    missing,
    model,
    origin,
    pair,
    percent,
    usage,
    used,
)

from ctxmeasure.assess import RULES, Ceiling, Counts, Grade, Policy, Refusal, assess
from ctxmeasure.bounded.budget import ReadStats
from ctxmeasure.capability.model import Certainty, ModelRef, Unresolved
from ctxmeasure.evidence import (
    Channel,
    Claim,
    Evidence,
    Gap,
    NeedMore,
    Phase,
    Quantity,
    Query,
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
    Observed,
    Partial,
    UsedBasis,
    Witness,
)

pytestmark = pytest.mark.usefixtures("table")

Test = TypeVar("Test", bound=Callable[..., None])
ROWS = {rule.name: rule for rule in RULES}
shown: set[str] = set()


def shows(*names: str) -> Callable[[Test], Test]:
    """Mark a test as the one that shows what the rows called *names* of the judge's table say."""
    assert ROWS.keys() >= set(names)
    shown.update(names)
    return lambda test: test


def test_every_row_of_the_table_is_shown_by_a_test() -> None:
    assert shown == ROWS.keys()


def assert_graded(observation: Observed, name: str) -> None:
    row = ROWS[name]
    assert isinstance(row, Grade)
    assert observation.attestation is row.attestation
    assert observation.confidence is row.confidence
    assert observation.completeness is row.completeness


def assert_capped(observation: Observed, name: str) -> None:
    row = ROWS[name]
    assert isinstance(row, Ceiling)
    assert observation.confidence is row.confidence


def tokens(observation: Observed) -> tuple[int, int]:
    assert isinstance(observation.value, TokenMeasurement)
    return observation.value.used_tokens, observation.value.limit_tokens


def share(observation: Observed) -> float:
    assert isinstance(observation.value, PercentMeasurement)
    return observation.value.used_percent


ACCEPTING = Policy(accept_estimates=True)
BY_PROMPT = Policy(counts=Counts.PROMPT)


# -- stated pairs and percentages -------------------------------------------------------------


@shows("stated pair, handed over")
def test_a_pair_that_the_runtime_hands_over_is_native_and_exact() -> None:
    observation = measured(pair(), channel=Channel.HANDED_OVER)
    assert_graded(observation, "stated pair, handed over")
    assert tokens(observation) == (41_500, 200_000)


@shows("stated pair, persisted")
def test_a_pair_that_the_runtime_persists_is_derived_and_exact() -> None:
    assert_graded(measured(pair(), channel=Channel.PERSISTED), "stated pair, persisted")


@shows("stated pair, lagging store")
def test_a_pair_in_a_store_that_can_lag_is_derived_and_high() -> None:
    assert_graded(measured(pair(), channel=Channel.LAGGING), "stated pair, lagging store")


@shows(
    "stated percentage, handed over",
    "stated percentage, persisted",
    "stated percentage, lagging store",
)
@pytest.mark.parametrize(
    ("channel", "row"),
    [
        (Channel.HANDED_OVER, "stated percentage, handed over"),
        (Channel.PERSISTED, "stated percentage, persisted"),
        (Channel.LAGGING, "stated percentage, lagging store"),
    ],
)
def test_a_percentage_is_graded_as_a_pair_of_its_channel_and_stays_one(
    channel: Channel, row: str
) -> None:
    observation = measured(percent(63.5), channel=channel)
    assert_graded(observation, row)
    assert share(observation) == 63.5


def test_a_declared_limit_makes_no_tokens_of_a_percentage() -> None:
    assert share(measured(percent(63.5), limit_tokens=200_000)) == 63.5


def test_a_sample_that_more_has_followed_is_a_lower_bound() -> None:
    for evidence in (pair(lower_bound=True), used(lower_bound=True), percent(lower_bound=True)):
        assert measured(evidence).completeness is Completeness.LOWER_BOUND


def test_an_observation_carries_where_it_comes_from() -> None:
    stats = ReadStats(bytes_read=7)
    seen = used(runtime_version="2.1.332")
    provenance = measured(seen, stats=stats).provenance
    assert (provenance.adapter, provenance.source) == ("agent", "agent.source")
    assert provenance.runtime_version == "2.1.332"
    assert provenance.used_basis is UsedBasis.PROMPT
    assert provenance.limit_basis is LimitBasis.WINDOW
    assert provenance.usage == seen.usage
    assert provenance.model == seen.model
    assert provenance.stats is stats


def test_a_percentage_carries_where_it_comes_from() -> None:
    provenance = measured(percent(runtime_version="2.1.332", model=model())).provenance
    assert (provenance.adapter, provenance.source) == ("agent", "agent.source")
    assert (provenance.runtime_version, provenance.model) == ("2.1.332", model())
    assert provenance.usage is None


REFUSED: list[UsedTokens] = [
    used(usage=None),
    used(used_tokens=-1),
    used(usage=None, used_tokens=42_000, used_basis=UsedBasis.PROMPT_AND_OUTPUT),
    pair(limit_tokens=0),
    used(measured_at=None),
    used(estimated=True),
    used(model=model("unknown")),
    used(claims=(Claim(Quantity.USED_TOKENS, 1),)),
]


@pytest.mark.parametrize("seen", REFUSED)
def test_a_refused_count_carries_where_it_comes_from(seen: UsedTokens) -> None:
    seen = evolve(seen, runtime_version="2.1.332")
    provenance = missing(seen, policy=BY_PROMPT).provenance
    assert (provenance.adapter, provenance.source) == ("agent", "agent.source")
    assert provenance.runtime_version == "2.1.332"
    assert provenance.model == seen.model
    assert provenance.usage == seen.usage


def test_a_refused_percentage_carries_where_it_comes_from() -> None:
    provenance = missing(percent(101, runtime_version="2.1.332", model=model())).provenance
    assert (provenance.adapter, provenance.source) == ("agent", "agent.source")
    assert (provenance.runtime_version, provenance.model) == ("2.1.332", model())


def test_a_reading_without_statistics_cost_nothing() -> None:
    assert judge(used()).provenance.stats == ReadStats()


def test_the_default_policy_takes_each_agents_own_meter_and_no_guess() -> None:
    asked = Query(at=AT)
    observation = assess(pair(used_basis=UsedBasis.PROMPT_AND_OUTPUT), origin=origin(), query=asked)
    assert isinstance(observation, Observed)
    assert tokens(observation) == (42_000, 200_000)
    assert isinstance(assess(used(model=model("other")), origin=origin(), query=asked), Missing)


# -- limits that a runtime falls back to --------------------------------------------------------

FALLBACKS = frozenset({200_000, 1_000_000})


def fallback(limit_tokens: int = 200_000, **sample: Any) -> Evidence:
    return pair(limit_tokens=limit_tokens, default_limits=FALLBACKS, **sample)


@shows("the runtime's own default limit")
def test_a_fallback_limit_for_an_unknown_model_is_medium() -> None:
    observation = measured(fallback(model=model("mystery-9")))
    assert_capped(observation, "the runtime's own default limit")
    assert observation.completeness is Completeness.EXACT


def test_a_fallback_limit_without_a_model_is_medium() -> None:
    assert_capped(measured(fallback(model=None)), "the runtime's own default limit")


def test_a_fallback_limit_that_is_the_models_own_window_is_exact() -> None:
    assert measured(fallback()).confidence is Confidence.EXACT


@pytest.mark.parametrize("limit_tokens", [200_000, 1_000_000])
def test_a_fallback_limit_that_is_either_window_of_a_model_is_exact(
    table: Table, limit_tokens: int
) -> None:
    table.rows["model"] = capability(larger_window_tokens=1_000_000, certainty=Certainty.UNDECIDED)
    assert measured(fallback(limit_tokens)).confidence is Confidence.EXACT


def test_a_fallback_limit_that_the_table_cannot_vouch_for_is_medium(table: Table) -> None:
    # A provider that is not stated leaves it open which model that is, or whether it is known.
    table.rows["model"] = Unresolved(ambiguous=True, why="provider-not-stated")
    assert_capped(measured(fallback()), "the runtime's own default limit")


def test_a_fallback_limit_is_medium_where_only_some_versions_know_the_model(table: Table) -> None:
    table.rows["model"] = capability(is_version_assumed=True)
    assert_capped(measured(fallback()), "the runtime's own default limit")


def test_a_window_to_which_a_setting_can_reduce_the_model_is_medium(table: Table) -> None:
    table.rows["model"] = capability(1_000_000, reduced_window_tokens=200_000)
    observation = measured(fallback())
    assert_capped(observation, "the runtime's own default limit")
    assert tokens(observation) == (41_500, 200_000)


def test_a_limit_that_a_faulty_version_states_and_the_model_cannot_have_is_contradicted() -> None:
    observation = missing(fallback(1_000_000, misstates_limit=True))
    assert observation.reason is MissingReason.LIMIT_CONTRADICTED
    assert known(observation) == Partial(
        used_tokens=41_500, limit_tokens=1_000_000, measured_at=AT - SECOND
    )
    assert observation.provenance.limit_basis is LimitBasis.WINDOW


def test_a_limit_that_the_table_does_not_know_of_the_model_is_medium() -> None:
    assert_capped(measured(fallback(1_000_000)), "the runtime's own default limit")


def test_the_smaller_window_is_medium_where_a_faulty_version_states_it(table: Table) -> None:
    table.rows["model"] = capability(larger_window_tokens=1_000_000, certainty=Certainty.UNDECIDED)
    assert_capped(measured(fallback(misstates_limit=True)), "the runtime's own default limit")
    assert measured(fallback(1_000_000, misstates_limit=True)).confidence is Confidence.EXACT


def test_a_limit_that_is_no_fallback_is_knowledge_that_the_table_cannot_have(table: Table) -> None:
    observation = measured(fallback(400_000))
    assert observation.confidence is Confidence.EXACT
    assert table.asked == []


def test_a_long_window_that_the_provider_does_not_serve_is_medium_until_it_is_used(
    table: Table,
) -> None:
    table.rows["model"] = capability(larger_window_tokens=1_000_000, marker_unsupported=True)
    for full in (usage(41_500), usage(200_000, 0)):
        unproven = measured(fallback(1_000_000, usage=full))
        assert_capped(unproven, "the runtime's own default limit")
    more = measured(fallback(1_000_000, usage=usage(200_000, 1)))
    assert more.confidence is Confidence.EXACT


def test_a_ceiling_does_not_lift_what_is_lower() -> None:
    lagging = measured(fallback(model=None), channel=Channel.LAGGING)
    assert lagging.confidence is Confidence.MEDIUM
    assert lagging.attestation is Attestation.DERIVED


def test_that_nobody_asked_for_the_long_window_does_not_refute_that_it_was_given(
    table: Table,
) -> None:
    measured(fallback(model=model(marker=False)))
    measured(fallback(model=model(marker=True)))
    assert [marker for _, marker, *_ in table.asked] == [None, True]


# -- limits from the table ----------------------------------------------------------------------


def test_the_table_is_asked_for_the_runtime_its_version_and_the_moment_of_the_sample(
    table: Table,
) -> None:
    measured(used(runtime_version="1.2.3"))
    assert table.asked == [("model", None, "client", "1.2.3", AT - SECOND)]


@shows("window in force")
@pytest.mark.parametrize("marker", [True, False])
def test_evidence_of_the_window_in_force_makes_a_look_up_high(marker: bool) -> None:
    observation = measured(used(model=model(marker=marker)))
    assert_graded(observation, "window in force")
    assert tokens(observation) == (41_500, 200_000)


@shows("window decided by the id")
def test_an_id_that_decides_its_window_makes_a_look_up_high() -> None:
    assert_graded(measured(used()), "window decided by the id")


@shows("documented default window")
def test_a_documented_default_is_medium(table: Table) -> None:
    table.rows["model"] = capability(larger_window_tokens=1_000_000, certainty=Certainty.DEFAULTED)
    observation = measured(used())
    assert_graded(observation, "documented default window")
    assert tokens(observation) == (41_500, 200_000)


@shows("the only larger window")
@pytest.mark.parametrize("certainty", Certainty)
def test_a_count_above_the_smaller_window_proves_the_only_larger_one(
    table: Table, certainty: Certainty
) -> None:
    table.rows["model"] = capability(larger_window_tokens=1_000_000, certainty=certainty)
    observation = measured(used(usage=usage(200_001, 0)))
    assert_graded(observation, "the only larger window")
    assert tokens(observation) == (200_001, 1_000_000)
    assert observation.provenance.limit_basis is LimitBasis.WINDOW


def test_a_count_that_fills_the_smaller_window_does_not_prove_the_larger_one(table: Table) -> None:
    table.rows["model"] = capability(larger_window_tokens=1_000_000, certainty=Certainty.DEFAULTED)
    assert tokens(measured(used(usage=usage(200_000, 0)))) == (200_000, 200_000)


def test_output_that_overflows_the_smaller_window_proves_the_larger_one(table: Table) -> None:
    table.rows["model"] = capability(larger_window_tokens=1_000_000, certainty=Certainty.UNDECIDED)
    assert tokens(measured(used(usage=usage(199_990, 11)))) == (199_990, 1_000_000)


@shows("window ambiguous")
def test_an_id_that_runs_with_either_window_is_ambiguous(table: Table) -> None:
    table.rows["model"] = capability(larger_window_tokens=1_000_000, certainty=Certainty.UNDECIDED)
    observation = missing(used())
    assert observation.reason is MissingReason.WINDOW_AMBIGUOUS
    assert known(observation) == Partial(used_tokens=41_500, measured_at=AT - SECOND)


def test_an_id_whose_sources_disagree_is_ambiguous(table: Table) -> None:
    table.rows["model"] = Unresolved(ambiguous=True, why="sources-disagree")
    assert missing(used()).reason is MissingReason.WINDOW_AMBIGUOUS


@shows("model unknown")
def test_an_unknown_id_keeps_its_count(table: Table) -> None:
    table.rows.clear()
    observation = missing(used())
    assert observation.reason is MissingReason.MODEL_UNKNOWN
    assert known(observation).used_tokens == 41_500
    assert observation.provenance.used_basis is UsedBasis.PROMPT


@shows("model not reported")
def test_a_count_without_a_model_keeps_its_count(table: Table) -> None:
    observation = missing(used(model=None))
    assert observation.reason is MissingReason.MODEL_NOT_REPORTED
    assert known(observation).used_tokens == 41_500
    assert table.asked == []


@shows("limit not reported")
def test_a_limit_that_the_runtime_says_it_has_not_is_not_looked_up(table: Table) -> None:
    count = used(limit_missing=MissingReason.LIMIT_NOT_REPORTED)
    for named in (None, model()):
        count = evolve(count, model=named)
        observation = missing(count)
        assert observation.reason is MissingReason.LIMIT_NOT_REPORTED
        assert known(observation).used_tokens == 41_500
        assert tokens(measured(count, limit_tokens=128_000)) == (41_500, 128_000)
        assumed = measured(count, policy=Policy(assume_limits={"agent": 128_000}))
        assert_graded(assumed, "assumed limit")
    resolved = measured(count, policy=Policy(resolver=lambda _: 262_144))
    assert_graded(resolved, "caller's resolver")
    assert table.asked == []


def test_a_session_that_asked_for_a_window_its_model_has_not_is_contradicted(table: Table) -> None:
    table.rows["model"] = capability(larger_window_tokens=1_000_000, marker_unsupported=True)
    observation = missing(used(model=model(marker=True)))
    assert observation.reason is MissingReason.LIMIT_CONTRADICTED
    assert known(observation).used_tokens == 41_500


# -- limits from the caller ---------------------------------------------------------------------


@shows("declared limit")
@pytest.mark.parametrize("evidence", [used(), used(model=None), pair(), pair(overflows=True)])
def test_a_declared_limit_stands_in_for_any_other(evidence: Evidence) -> None:
    observation = measured(evidence, limit_tokens=128_000)
    assert_graded(observation, "declared limit")
    assert tokens(observation) == (41_500, 128_000)
    assert observation.provenance.limit_basis is LimitBasis.DECLARED
    assert observation.value.method == "method_declared_limit"


def test_a_looked_up_limit_goes_by_the_methods_own_name() -> None:
    assert measured(used()).value.method == "method"


@shows("assumed limit")
def test_an_assumed_limit_is_low_and_says_so() -> None:
    policy = Policy(assume_limits={"agent": 128_000, "other": 1})
    observation = measured(used(model=model("mystery-9")), policy=policy)
    assert_graded(observation, "assumed limit")
    assert tokens(observation) == (41_500, 128_000)
    assert observation.provenance.limit_basis is LimitBasis.ASSUMED_DEFAULT
    assert observation.value.method == "method_assumed_limit"


def test_a_limit_is_assumed_for_every_window_that_is_not_known(table: Table) -> None:
    policy = Policy(assume_limits={"agent": 128_000})
    table.rows["either"] = Unresolved(ambiguous=True, why="client-decides")
    for named in (None, model("mystery-9"), model("either")):
        assert tokens(measured(used(model=named), policy=policy)) == (41_500, 128_000)


def test_a_limit_is_not_assumed_where_one_is_known_or_refuted(table: Table) -> None:
    policy = Policy(assume_limits={"agent": 128_000})
    assert tokens(measured(used(), policy=policy)) == (41_500, 200_000)
    table.rows["model"] = capability(marker_unsupported=True)
    assert missing(used(), policy=policy).reason is MissingReason.LIMIT_CONTRADICTED


def test_a_limit_is_not_assumed_for_another_agent() -> None:
    policy = Policy(assume_limits={"other": 128_000})
    assert missing(used(model=None), policy=policy).reason is MissingReason.MODEL_NOT_REPORTED


@shows("caller's resolver")
@pytest.mark.parametrize("row", [UNKNOWN, Unresolved(ambiguous=True, why="client-decides")])
def test_the_callers_resolver_is_asked_for_what_the_table_leaves_open(
    table: Table, row: Unresolved
) -> None:
    table.rows["model"] = row
    asked: list[ModelRef] = []

    def resolver(named: ModelRef) -> int:
        asked.append(named)
        return 262_144

    observation = measured(used(), policy=Policy(resolver=resolver))
    assert_graded(observation, "caller's resolver")
    assert tokens(observation) == (41_500, 262_144)
    assert asked == [model()]


def test_the_callers_resolver_is_not_asked_for_what_the_table_decides() -> None:
    def resolver(_: ModelRef) -> int:
        raise AssertionError

    assert tokens(measured(used(), policy=Policy(resolver=resolver))) == (41_500, 200_000)


def test_a_resolver_that_does_not_know_leaves_it_to_the_assumed_limit(table: Table) -> None:
    table.rows.clear()
    silent = Policy(resolver=lambda _: None)
    assert missing(used(), policy=silent).reason is MissingReason.MODEL_UNKNOWN
    assuming = Policy(resolver=lambda _: None, assume_limits={"agent": 128_000})
    assert tokens(measured(used(), policy=assuming)) == (41_500, 128_000)


# -- the model that the caller vouches for ------------------------------------------------------


def test_a_vouched_model_stands_in_for_one_that_the_session_does_not_name() -> None:
    observation = measured(used(model=None), model="model")
    assert_graded(observation, "window decided by the id")
    assert observation.provenance.model == model(marker=False)


def test_a_vouched_marker_is_evidence_of_the_window_in_force() -> None:
    for seen in (used(model=None), used()):
        assert_graded(measured(seen, model="model[1m]"), "window in force")


@pytest.mark.parametrize("seen", [used(), used(model=None)], ids=["same model", "no model"])
def test_that_the_agent_was_started_without_a_marker_makes_the_smaller_window_the_default(
    table: Table, seen: UsedTokens
) -> None:
    table.rows["model"] = capability(larger_window_tokens=1_000_000, certainty=Certainty.UNDECIDED)
    observation = measured(seen, model="model")
    assert_graded(observation, "documented default window")
    assert tokens(observation) == (41_500, 200_000)
    # Claude Code adds the marker by itself on some plans.
    more = measured(evolve(seen, usage=usage(300_000)), model="model")
    assert_graded(more, "the only larger window")
    assert tokens(more) == (300_000, 1_000_000)


def test_that_the_session_itself_asks_for_no_marker_is_evidence_of_the_window_in_force() -> None:
    seen = used(model=model(marker=False))
    assert_graded(measured(seen, model="model"), "window in force")


@shows("the caller's word for an unknown id")
def test_a_vouched_model_settles_an_id_that_the_table_does_not_know_at_medium() -> None:
    seen = used(model=model("gateway-name"))
    observation = measured(seen, model="model")
    assert_capped(observation, "the caller's word for an unknown id")
    assert tokens(observation) == (41_500, 200_000)
    assert observation.provenance.model == model(marker=False)


def test_a_vouched_model_settles_a_fallback_limit_at_medium() -> None:
    seen = fallback(model=model("gateway-name"))
    assert_capped(measured(seen, model="model"), "the caller's word for an unknown id")
    fallen = fallback(1_000_000, model=model("gateway-name"), misstates_limit=True)
    refuted = missing(fallen, model="model")
    assert refuted.reason is MissingReason.LIMIT_CONTRADICTED


def test_a_vouched_model_that_the_table_does_not_know_either_settles_nothing() -> None:
    seen = used(model=model("gateway-name"))
    assert missing(seen, model="mystery-9").reason is MissingReason.MODEL_UNKNOWN


def test_a_vouched_model_settles_the_marker_of_the_same_model(table: Table) -> None:
    table.rows["model-20260101"] = capability()
    observation = measured(used(), model="model-20260101[1m]")
    assert observation.provenance.model == model(marker=True)
    assert observation.confidence is Confidence.HIGH


def test_a_vouched_marker_does_not_override_the_sessions_own(table: Table) -> None:
    measured(used(model=model(marker=False)), model="model[1m]")
    assert table.asked[-1][:2] == ("model", False)


@pytest.mark.parametrize("row", [UNKNOWN, capability(128_000, canonical="other")])
def test_another_model_in_the_session_was_switched_to_and_stands(table: Table, row: Any) -> None:
    table.rows["other"] = row
    observation = measured(used(), model="other[1m]")
    assert tokens(observation) == (41_500, 200_000)
    assert observation.provenance.model == model()


# -- counts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("basis", "counted"), [(UsedBasis.PROMPT, 41_500), (UsedBasis.PROMPT_AND_OUTPUT, 42_000)]
)
def test_the_agents_own_meter_says_what_counts(basis: UsedBasis, counted: int) -> None:
    observation = measured(used(used_basis=basis))
    assert tokens(observation) == (counted, 200_000)
    assert observation.provenance.used_basis is basis


def test_a_stated_count_goes_before_the_sum_of_the_usage() -> None:
    assert tokens(measured(used(used_tokens=41_777))) == (41_777, 200_000)


@pytest.mark.parametrize("basis", UsedBasis)
def test_the_prompt_alone_can_be_counted_for_all_agents_alike(basis: UsedBasis) -> None:
    observation = measured(used(used_basis=basis), policy=BY_PROMPT)
    assert tokens(observation) == (41_500, 200_000)
    assert observation.provenance.used_basis is UsedBasis.PROMPT


def test_a_stated_count_of_the_prompt_needs_no_usage_to_be_one() -> None:
    observation = measured(used(usage=None, used_tokens=41_777), policy=BY_PROMPT)
    assert tokens(observation) == (41_777, 200_000)


@shows("usage incomplete")
def test_a_count_whose_prompt_is_not_told_is_incomplete_and_kept_on_its_own_basis() -> None:
    seen = used(usage=None, used_tokens=42_000, used_basis=UsedBasis.PROMPT_AND_OUTPUT)
    observation = missing(seen, policy=BY_PROMPT)
    assert observation.reason is MissingReason.USAGE_INCOMPLETE
    assert known(observation).used_tokens == 42_000
    assert observation.provenance.used_basis is UsedBasis.PROMPT_AND_OUTPUT


@shows("usage not reported")
def test_a_sample_without_any_count_reports_none() -> None:
    observation = missing(used(usage=None))
    assert observation.reason is MissingReason.USAGE_NOT_REPORTED
    assert known(observation).used_tokens is None


@shows("usage invalid")
@pytest.mark.parametrize("count", [-1, 2**53 + 1, 10**400])
def test_a_count_that_no_runtime_can_mean_is_invalid(count: int) -> None:
    observation = missing(pair(used_tokens=count))
    assert observation.reason is MissingReason.USAGE_INVALID
    assert known(observation) == Partial(limit_tokens=200_000, measured_at=AT - SECOND)


@pytest.mark.parametrize("count", [0, 1, 2**53])
def test_any_count_that_a_runtime_can_mean_is_measured(count: int) -> None:
    assert tokens(measured(pair(used_tokens=count, overflows=True))) == (count, 200_000)


def test_a_prompt_that_no_runtime_can_mean_is_invalid() -> None:
    seen = used(usage=usage(10**400), used_tokens=1, used_basis=UsedBasis.PROMPT_AND_OUTPUT)
    assert missing(seen, policy=BY_PROMPT).reason is MissingReason.USAGE_INVALID


@shows("limit invalid")
@pytest.mark.parametrize("limit", [0, -200_000, 2**53 + 1, 10**400])
def test_a_limit_that_no_runtime_can_mean_is_invalid(limit: int) -> None:
    observation = missing(pair(limit_tokens=limit))
    assert observation.reason is MissingReason.LIMIT_INVALID
    assert known(observation) == Partial(used_tokens=41_500, measured_at=AT - SECOND)
    assert observation.provenance.limit_basis is None
    declared = measured(pair(limit_tokens=limit), limit_tokens=200_000)
    assert declared.provenance.limit_basis is LimitBasis.DECLARED


@pytest.mark.parametrize("limit", [1, 2**53])
def test_any_limit_that_a_runtime_can_mean_is_taken_and_kept(limit: int) -> None:
    seen = pair(used_tokens=1, limit_tokens=limit)
    assert tokens(measured(seen)) == (1, limit)
    assert known(missing(evolve(seen, measured_at=None))).limit_tokens == limit


@shows("percent invalid")
@pytest.mark.parametrize("share", [-0.1, 100.1, float("nan"), float("inf")])
def test_a_share_outside_0_to_100_is_invalid(share: float) -> None:
    observation = missing(percent(share))
    assert observation.reason is MissingReason.PERCENT_INVALID
    assert known(observation) == Partial(measured_at=AT - SECOND)


@pytest.mark.parametrize("share", [0, 100, 12])
def test_a_share_from_0_to_100_is_measured(share: float) -> None:
    assert measured(percent(share)).value == PercentMeasurement(
        used_percent=float(share), measured_at=AT - SECOND, method="method"
    )


# -- plausibility -------------------------------------------------------------------------------


@shows("limit contradicted")
@pytest.mark.parametrize(
    ("evidence", "asked", "limit"),
    [
        (used(usage=usage(200_001, 0)), {}, 200_000),
        (pair(usage=usage(200_001, 0)), {}, 200_000),
        (used(), {"limit_tokens": 41_499}, 41_499),
        (pair(overflows=True), {"limit_tokens": 41_499}, 41_499),
        (used(model=None), {"policy": Policy(assume_limits={"agent": 41_499})}, 41_499),
        (used(model=model("x")), {"policy": Policy(resolver=lambda _: 41_499)}, 41_499),
    ],
    ids=["inferred", "stated", "declared", "declared over a native one", "assumed", "resolved"],
)
def test_more_in_use_than_the_limit_refutes_the_limit(
    evidence: Evidence, asked: dict[str, Any], limit: int
) -> None:
    observation = missing(evidence, **asked)
    assert observation.reason is MissingReason.LIMIT_CONTRADICTED
    assert known(observation).limit_tokens == limit
    assert known(observation).used_tokens in {41_500, 200_001}


def test_a_native_overflow_is_measured_and_not_clamped() -> None:
    observation = measured(pair(usage=usage(213_000), overflows=True))
    assert tokens(observation) == (213_000, 200_000)
    assert observation.value == TokenMeasurement(
        used_tokens=213_000, limit_tokens=200_000, measured_at=AT - SECOND, method="method"
    )


def test_a_full_window_refutes_nothing() -> None:
    assert tokens(measured(used(), limit_tokens=41_500)) == (41_500, 41_500)


def test_the_runtimes_own_count_refutes_a_limit_also_where_the_prompt_is_counted() -> None:
    seen = used(usage=usage(199_990, 11), used_basis=UsedBasis.PROMPT_AND_OUTPUT)
    observation = missing(seen, policy=BY_PROMPT)
    assert observation.reason is MissingReason.LIMIT_CONTRADICTED
    assert known(observation).used_tokens == 199_990


# 41,500 of 200,000: 20.75 % used, 79.25 % and 158,500 tokens left.
AGREEING = [
    Claim(Quantity.USED_TOKENS, 41_500),
    Claim(Quantity.USED_TOKENS, 41_400, 100),
    Claim(Quantity.USED_PERCENT, 21, 0.5),
    Claim(Quantity.USED_PERCENT, 20.25, 0.5),
    Claim(Quantity.REMAINING_PERCENT, 79, 0.5),
    Claim(Quantity.REMAINING_TOKENS, 158_500),
]
DISAGREEING = [
    Claim(Quantity.USED_TOKENS, 41_501),
    Claim(Quantity.USED_TOKENS, 41_399, 100),
    Claim(Quantity.USED_PERCENT, 22, 0.5),
    Claim(Quantity.USED_PERCENT, 20.2, 0.5),
    Claim(Quantity.USED_PERCENT, float("nan"), 0.5),
    Claim(Quantity.USED_PERCENT, 10**400, 0.5),
    Claim(Quantity.REMAINING_PERCENT, 78, 0.5),
    Claim(Quantity.REMAINING_TOKENS, 158_499),
]


@pytest.mark.parametrize("claim", AGREEING)
def test_statements_that_agree_within_their_rounding_are_measured(claim: Claim) -> None:
    assert tokens(measured(pair(claims=(claim,)))) == (41_500, 200_000)


@shows("sources disagree")
@pytest.mark.parametrize("claim", DISAGREEING)
def test_statements_that_disagree_beyond_their_rounding_are_not_trusted(claim: Claim) -> None:
    observation = missing(pair(claims=(AGREEING[0], claim)))
    assert observation.reason is MissingReason.SOURCES_DISAGREE
    assert known(observation).used_tokens == 41_500
    assert known(observation).limit_tokens == 200_000


def test_what_is_left_of_an_overrun_window_is_nothing() -> None:
    claims = (Claim(Quantity.REMAINING_TOKENS, 0), Claim(Quantity.REMAINING_PERCENT, 0))
    measured(pair(usage=usage(213_000), overflows=True, claims=claims))


def test_claims_are_about_the_runtimes_own_count_and_limit() -> None:
    seen = pair(
        used_basis=UsedBasis.PROMPT_AND_OUTPUT,
        claims=(Claim(Quantity.USED_TOKENS, 42_000), Claim(Quantity.USED_PERCENT, 21)),
    )
    assert tokens(measured(seen, policy=BY_PROMPT, limit_tokens=128_000)) == (41_500, 128_000)


@pytest.mark.parametrize(
    "quantity", [Quantity.USED_PERCENT, Quantity.REMAINING_PERCENT, Quantity.REMAINING_TOKENS]
)
def test_a_share_says_nothing_about_a_count_without_its_limit(quantity: Quantity) -> None:
    measured(used(claims=(Claim(quantity, 1),)))


def test_a_claim_that_cannot_be_compared_hides_none_that_can() -> None:
    claims = (Claim(Quantity.USED_PERCENT, 1), Claim(Quantity.USED_TOKENS, 1))
    assert missing(used(claims=claims)).reason is MissingReason.SOURCES_DISAGREE


@pytest.mark.parametrize(
    ("claim", "agrees"),
    [
        (Claim(Quantity.USED_PERCENT, 21, 0.5), True),
        (Claim(Quantity.USED_PERCENT, 22, 0.5), False),
        (Claim(Quantity.REMAINING_PERCENT, 79, 0.5), True),
        (Claim(Quantity.REMAINING_PERCENT, 78, 0.5), False),
        (Claim(Quantity.USED_TOKENS, 1), True),
        (Claim(Quantity.REMAINING_TOKENS, 1), True),
    ],
)
def test_a_percentage_is_held_against_percentages_only(claim: Claim, agrees: bool) -> None:
    observation = judge(percent(20.75, claims=(claim,)))
    assert isinstance(observation, Observed) is agrees
    if isinstance(observation, Missing):
        assert observation.reason is MissingReason.SOURCES_DISAGREE
        assert known(observation).used_percent == 20.75


# -- estimates ----------------------------------------------------------------------------------


@shows("estimate only")
@pytest.mark.parametrize("evidence", [used(estimated=True), pair(estimated=True)])
def test_an_estimated_count_is_refused_and_kept(evidence: Evidence) -> None:
    observation = missing(evidence)
    assert observation.reason is MissingReason.ESTIMATE_ONLY
    assert known(observation).used_tokens == 41_500
    assert known(observation).estimated


def test_an_estimated_percentage_is_refused_and_kept() -> None:
    observation = missing(percent(estimated=True))
    assert observation.reason is MissingReason.ESTIMATE_ONLY
    assert known(observation) == Partial(
        used_percent=20.75, measured_at=AT - SECOND, estimated=True
    )


@shows("accepted estimate of a count")
@pytest.mark.parametrize(
    ("evidence", "asked"),
    [
        (used(estimated=True), {}),
        (pair(estimated=True), {"channel": Channel.HANDED_OVER}),
        (used(estimated=True), {"limit_tokens": 200_000}),
        (fallback(model=None, estimated=True), {}),
    ],
    ids=["looked up", "stated", "declared", "fallback"],
)
def test_an_accepted_estimate_is_low_whatever_its_limit(
    evidence: Evidence, asked: dict[str, Any]
) -> None:
    observation = measured(evidence, policy=ACCEPTING, **asked)
    assert_graded(observation, "accepted estimate of a count")
    assert tokens(observation) == (41_500, 200_000)


@shows("accepted estimate of a percentage")
def test_an_accepted_estimate_of_a_percentage_is_low_and_a_percentage() -> None:
    observation = measured(percent(estimated=True), policy=ACCEPTING, channel=Channel.HANDED_OVER)
    assert_graded(observation, "accepted estimate of a percentage")
    assert share(observation) == 20.75


def gap(
    reason: MissingReason = MissingReason.COMPACTED, *, of: ModelRef | None = None, **partial: Any
) -> Gap:
    known = {"used_tokens": 18_000, "measured_at": AT - SECOND, "estimated": True, **partial}
    return Gap(reason=reason, partial=Partial(**known), model=of, runtime_version="2.1.332")


def test_a_gap_is_missing_for_its_reason_with_all_it_knows() -> None:
    seen = gap(of=model())
    observation = missing(seen)
    assert observation.reason is MissingReason.COMPACTED
    assert observation.partial is seen.partial
    assert observation.provenance.model == model()
    assert observation.provenance.runtime_version == "2.1.332"


def test_a_gap_that_knows_nothing_says_only_its_reason() -> None:
    observation = missing(Gap(reason=MissingReason.SOURCE_ABSENT), policy=ACCEPTING)
    assert observation.reason is MissingReason.SOURCE_ABSENT
    assert observation.partial is None


@pytest.mark.parametrize(
    "reason", [MissingReason.COMPACTED, MissingReason.ESTIMATE_ONLY, MissingReason.REWOUND]
)
def test_an_estimate_in_place_of_a_measurement_is_taken_where_it_is_accepted(
    reason: MissingReason,
) -> None:
    observation = measured(gap(reason, of=model()), policy=ACCEPTING)
    assert_graded(observation, "accepted estimate of a count")
    assert tokens(observation) == (18_000, 200_000)
    assert observation.provenance.used_basis is UsedBasis.PROMPT_AND_OUTPUT
    assert observation.provenance.runtime_version == "2.1.332"


def test_an_estimate_that_has_its_limit_beside_it_needs_no_model() -> None:
    seen = Gap(
        reason=MissingReason.ESTIMATE_ONLY,
        partial=Partial(
            used_tokens=9_100, limit_tokens=100_000, measured_at=AT - SECOND, estimated=True
        ),
        limit_basis=LimitBasis.EFFECTIVE_WINDOW,
    )
    observation = measured(seen, policy=ACCEPTING)
    assert_graded(observation, "accepted estimate of a count")
    assert tokens(observation) == (9_100, 100_000)
    assert observation.provenance.limit_basis is LimitBasis.EFFECTIVE_WINDOW


def test_an_estimated_share_in_place_of_a_measurement_stays_a_share() -> None:
    observation = measured(gap(used_tokens=None, used_percent=12.5), policy=ACCEPTING)
    assert_graded(observation, "accepted estimate of a percentage")
    assert share(observation) == 12.5


@pytest.mark.parametrize(
    "seen",
    [
        gap(MissingReason.SESSION_MISMATCH, of=model()),
        gap(MissingReason.TURN_NOT_FOUND, of=model()),
        gap(of=model(), estimated=False),
        gap(of=model(), used_tokens=None),
    ],
    ids=["another session's", "another turn's", "no estimate", "no number"],
)
def test_a_gap_without_an_estimate_of_what_was_asked_stays_one(seen: Gap) -> None:
    observation = missing(seen, policy=ACCEPTING)
    assert observation.reason is seen.reason
    assert observation.partial is seen.partial


def test_an_estimate_of_the_whole_context_is_not_put_on_the_basis_of_the_prompt() -> None:
    policy = Policy(accept_estimates=True, counts=Counts.PROMPT)
    assert missing(gap(of=model()), policy=policy).reason is MissingReason.COMPACTED


def test_an_accepted_estimate_without_a_window_says_what_it_lacks() -> None:
    observation = missing(gap(), policy=ACCEPTING)
    assert observation.reason is MissingReason.MODEL_NOT_REPORTED
    assert known(observation).used_tokens == 18_000
    assert known(observation).estimated


# -- time ---------------------------------------------------------------------------------------

MILLISECOND = timedelta(milliseconds=1)


@shows("time not reported")
@pytest.mark.parametrize("evidence", [used(measured_at=None), pair(measured_at=None)])
def test_a_count_without_a_time_is_refused_and_kept(evidence: Evidence) -> None:
    observation = missing(evidence)
    assert observation.reason is MissingReason.TIME_NOT_REPORTED
    assert known(observation).used_tokens == 41_500


def test_a_percentage_without_a_time_is_refused_and_kept() -> None:
    observation = missing(percent(measured_at=None))
    assert observation.reason is MissingReason.TIME_NOT_REPORTED
    assert known(observation) == Partial(used_percent=20.75)


EVIDENCE: tuple[Callable[..., Evidence], ...] = (used, pair, percent)


@shows("sample from future")
@pytest.mark.parametrize("evidence", EVIDENCE)
@pytest.mark.parametrize("phase", Phase)
def test_clocks_may_differ_by_five_seconds_and_no_more(
    evidence: Callable[..., Evidence], phase: Phase
) -> None:
    measured(evidence(measured_at=AT + 5 * SECOND), phase=phase)
    observation = missing(evidence(measured_at=AT + 5 * SECOND + MILLISECOND), phase=phase)
    assert observation.reason is MissingReason.SAMPLE_FROM_FUTURE


@shows("sample stale")
@pytest.mark.parametrize("evidence", EVIDENCE)
def test_a_running_turns_sample_is_at_most_thirty_seconds_old(
    evidence: Callable[..., Evidence],
) -> None:
    measured(evidence(measured_at=AT - 30 * SECOND), phase=Phase.ACTIVE)
    observation = missing(evidence(measured_at=AT - 30 * SECOND - MILLISECOND), phase=Phase.ACTIVE)
    assert observation.reason is MissingReason.SAMPLE_STALE


@pytest.mark.parametrize("phase", [Phase.TERMINAL, Phase.LATEST])
def test_any_age_will_do_when_the_turn_is_over(phase: Phase) -> None:
    measured(used(measured_at=AT - timedelta(days=4_000)), phase=phase)


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("max_age", [timedelta(0), 90 * SECOND])
def test_the_callers_own_maximum_age_holds_in_every_phase(phase: Phase, max_age: timedelta) -> None:
    policy = Policy(max_age=max_age)
    measured(used(measured_at=AT - max_age), phase=phase, policy=policy)
    observation = missing(used(measured_at=AT - max_age - MILLISECOND), phase=phase, policy=policy)
    assert observation.reason is MissingReason.SAMPLE_STALE


def test_a_sample_taken_at_the_very_moment_of_the_question_has_no_age() -> None:
    moment = AT.replace(microsecond=999_999)
    measured(used(measured_at=moment), at=moment, policy=Policy(max_age=timedelta(0)))


@pytest.mark.parametrize(
    ("ended", "is_measured"),
    [(-MILLISECOND, False), (timedelta(0), True), (30 * SECOND, True), (31 * SECOND, False)],
)
def test_a_finished_turns_sample_lies_in_the_thirty_seconds_before_its_end(
    ended: timedelta, is_measured: bool
) -> None:
    seen = used(measured_at=AT - 90 * SECOND, turn_ended_at=AT - 90 * SECOND + ended)
    observation = judge(seen, phase=Phase.TERMINAL)
    assert isinstance(observation, Observed) is is_measured
    if isinstance(observation, Missing):
        assert observation.reason is MissingReason.SAMPLE_STALE


@pytest.mark.parametrize("phase", [Phase.LATEST, Phase.ACTIVE])
def test_a_turns_end_matters_only_where_the_finished_turn_is_asked_for(phase: Phase) -> None:
    measured(used(turn_ended_at=AT - timedelta(days=1)), phase=phase)


def test_moments_compare_across_time_zones() -> None:
    elsewhere = timezone(timedelta(hours=13, minutes=45))
    measured(used(measured_at=(AT - 30 * SECOND).astimezone(elsewhere)), phase=Phase.ACTIVE)
    stale = used(measured_at=(AT - 31 * SECOND).astimezone(elsewhere))
    assert missing(stale, phase=Phase.ACTIVE).reason is MissingReason.SAMPLE_STALE
    observation = measured(used(), at=AT.astimezone(elsewhere))
    assert observation.value.measured_at == AT - SECOND
    assert observation.value.measured_at.utcoffset() == timedelta(0)


# -- the order of refusals ----------------------------------------------------------------------

STALE = AT - timedelta(days=1)
DISAGREES = (Claim(Quantity.USED_TOKENS, 1),)
UNASKED = model("mystery-9")
FULL = usage(200_001, 0)

TWO_FAULTS: list[tuple[Evidence, MissingReason]] = [
    # identity before everything: the adapter's gap stands
    (gap(MissingReason.SESSION_MISMATCH, measured_at=None), MissingReason.SESSION_MISMATCH),
    # evidence before model
    (used(usage=None, model=None), MissingReason.USAGE_NOT_REPORTED),
    (used(used_tokens=-1, model=None), MissingReason.USAGE_INVALID),
    (used(measured_at=None, model=UNASKED), MissingReason.TIME_NOT_REPORTED),
    (used(estimated=True, model=UNASKED), MissingReason.ESTIMATE_ONLY),
    # evidence before plausibility
    (pair(limit_tokens=0, claims=DISAGREES), MissingReason.LIMIT_INVALID),
    (used(measured_at=None, usage=FULL), MissingReason.TIME_NOT_REPORTED),
    (percent(101, claims=DISAGREES), MissingReason.PERCENT_INVALID),
    (
        percent(measured_at=None, claims=(Claim(Quantity.USED_PERCENT, 1),)),
        MissingReason.TIME_NOT_REPORTED,
    ),
    # evidence before time
    (used(usage=None, measured_at=STALE), MissingReason.USAGE_NOT_REPORTED),
    (used(estimated=True, measured_at=STALE), MissingReason.ESTIMATE_ONLY),
    (percent(estimated=True, measured_at=STALE), MissingReason.ESTIMATE_ONLY),
    # within evidence: the count, then its time, then that it is an estimate
    (used(usage=None, measured_at=None), MissingReason.USAGE_NOT_REPORTED),
    (used(used_tokens=-1, measured_at=None), MissingReason.USAGE_INVALID),
    (pair(used_tokens=-1, limit_tokens=0), MissingReason.USAGE_INVALID),
    (pair(limit_tokens=0, measured_at=None), MissingReason.LIMIT_INVALID),
    (used(measured_at=None, estimated=True), MissingReason.TIME_NOT_REPORTED),
    # model before plausibility
    (used(model=None, claims=DISAGREES), MissingReason.MODEL_NOT_REPORTED),
    (used(model=UNASKED, claims=DISAGREES), MissingReason.MODEL_UNKNOWN),
    # model before time
    (used(model=None, measured_at=STALE), MissingReason.MODEL_NOT_REPORTED),
    (used(model=UNASKED, measured_at=STALE), MissingReason.MODEL_UNKNOWN),
    # plausibility before time
    (used(usage=FULL, measured_at=STALE), MissingReason.LIMIT_CONTRADICTED),
    (used(claims=DISAGREES, measured_at=STALE), MissingReason.SOURCES_DISAGREE),
    (
        percent(claims=(Claim(Quantity.USED_PERCENT, 1),), measured_at=STALE),
        MissingReason.SOURCES_DISAGREE,
    ),
    # within plausibility: the limit first
    (used(usage=FULL, claims=DISAGREES), MissingReason.LIMIT_CONTRADICTED),
]


@pytest.mark.parametrize(("evidence", "first"), TWO_FAULTS)
def test_of_two_faults_the_first_in_the_order_is_the_reason(
    evidence: Evidence, first: MissingReason
) -> None:
    assert missing(evidence, phase=Phase.ACTIVE).reason is first


@pytest.mark.parametrize("no_evidence", [None, 42, NeedMore(Gap(reason=MissingReason.COMPACTED))])
def test_what_is_no_evidence_is_a_mistake_of_the_source(no_evidence: Any) -> None:
    with pytest.raises(TypeError) as raised:
        judge(no_evidence)
    assert str(raised.value) == (
        "evidence: expected a TokenPair, UsedTokens, UsedPercent or Gap of agent.source "
        "(NeedMore is for a TailSource, NeedKeys for a StoreSource)"
    )


def test_every_row_of_the_table_says_what_it_is_about() -> None:
    assert all(rule.when for rule in RULES)


def test_the_tables_refusals_are_listed_in_their_order() -> None:
    order = [rule.reason for rule in RULES if isinstance(rule, Refusal)]
    groups = {
        "evidence": {
            MissingReason.USAGE_NOT_REPORTED,
            MissingReason.USAGE_INVALID,
            MissingReason.USAGE_INCOMPLETE,
            MissingReason.PERCENT_INVALID,
            MissingReason.LIMIT_INVALID,
            MissingReason.TIME_NOT_REPORTED,
            MissingReason.ESTIMATE_ONLY,
            MissingReason.LIMIT_NOT_REPORTED,
        },
        "model": {
            MissingReason.MODEL_NOT_REPORTED,
            MissingReason.MODEL_UNKNOWN,
            MissingReason.WINDOW_AMBIGUOUS,
        },
        "plausibility": {MissingReason.LIMIT_CONTRADICTED, MissingReason.SOURCES_DISAGREE},
        "time": {MissingReason.SAMPLE_FROM_FUTURE, MissingReason.SAMPLE_STALE},
    }
    listed = [next(name for name, group in groups.items() if reason in group) for reason in order]
    assert listed == sorted(listed, key=list(groups).index)


# -- the witness --------------------------------------------------------------------------------


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_two_readings_of_one_sample_have_one_witness(evidence: Callable[..., Evidence]) -> None:
    readings = [
        measured(evidence(), phase=phase, at=AT + age).provenance.witness
        for phase in Phase
        for age in (timedelta(0), 7 * SECOND)
    ]
    assert readings[0] is not None
    assert set(readings) == {readings[0]}


@pytest.mark.parametrize(
    "other",
    [
        pair(identity=("other", "row")),
        pair(identity=("session", "other")),
        pair(identity=("sessionrow", "")),
        pair(used_tokens=41_501),
        pair(limit_tokens=200_001),
        pair(model=model("other")),
    ],
    ids=["session", "row", "another split", "used", "limit", "model"],
)
def test_another_sample_has_another_witness(other: Evidence) -> None:
    assert measured(other).provenance.witness != measured(pair()).provenance.witness


def test_another_percentage_has_another_witness() -> None:
    witness = measured(percent(20)).provenance.witness
    assert witness != measured(percent(21)).provenance.witness
    assert witness == measured(percent(20.0)).provenance.witness


def test_a_sample_that_cannot_be_told_from_others_has_no_witness() -> None:
    assert measured(pair(identity=())).provenance.witness is None
    assert measured(pair(model=None)).provenance.witness is not None


def test_a_witness_is_the_digest_of_its_facts_with_nothing_but_a_nul_between() -> None:
    # Ledgers keep it: a later version must find the same one.
    facts = b"session\0row\x0041500\x00200000\0"
    witness = measured(pair(model=None)).provenance.witness
    assert witness == Witness(sha256(facts).digest())
    witness = measured(pair()).provenance.witness
    assert witness == Witness(sha256(facts + b"model").digest())


def test_a_witness_is_published_only_under_a_key() -> None:
    witness = measured(pair()).provenance.witness
    assert witness is not None
    assert witness.public_id(b"key") == witness.public_id(b"key")
    assert witness.public_id(b"key") != witness.public_id(b"another key")
    assert witness.digest.hex() not in {witness.public_id(b"key"), repr(witness)}


def test_identity_of_any_text_has_a_witness() -> None:
    assert measured(pair(identity=("\ud800", "\0"))).provenance.witness is not None
