from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from pi_rows import AT

import ctxmeasure as cm
from ctxmeasure.adapters.pi.rpc import RPC
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import Gap, Phase, Quantity, Query, TokenPair, UsedTokens
from ctxmeasure.observation import Confidence, LimitBasis, MissingReason, Partial, UsedBasis
from ctxmeasure.testing import ABSENT
from ctxmeasure.testing.hostile import any_json, spoilt
from ctxmeasure.testing.pi.events import answer
from ctxmeasure.testing.pi.rows import usage

SESSION = "01a22899-0000-7000-8000-00000000000a"
MODEL = {"id": "mock-model", "provider": "mock", "contextWindow": 40_000, "maxTokens": 4_096}


def stats(used: Any = 81_411, window: Any = 200_000, **fields: Any) -> dict[str, Any]:
    """Return an answer to ``get_session_stats``."""
    counts = {"tokens": used, "contextWindow": window}
    if isinstance(used, int) and isinstance(window, int) and window:
        counts["percent"] = used / window * 100
    known = {key: value for key, value in counts.items() if value is not ABSENT}
    data = {"sessionId": SESSION, "tokens": {"total": 161_921}, "contextUsage": known, **fields}
    return answer("get_session_stats", {k: v for k, v in data.items() if v is not ABSENT})


def extract(payload: dict[str, Any], **asked: Any) -> Any:
    return RPC.extract(payload, Query(**{"at": AT, **asked}))


def test_the_pair_is_pis_own_as_of_now() -> None:
    seen = extract(stats())
    assert isinstance(seen, TokenPair)
    assert (seen.used_tokens, seen.limit_tokens) == (81_411, 200_000)
    assert seen.used_basis is UsedBasis.PROMPT_AND_OUTPUT
    assert seen.limit_basis is LimitBasis.WINDOW
    assert seen.measured_at == AT
    assert seen.usage is None


def test_the_data_of_an_answer_will_do() -> None:
    assert extract(stats()["data"]) == extract(stats())
    assert extract({"contextUsage": stats()["data"]["contextUsage"]}) == extract(stats())


def test_a_fork_that_states_the_pair_with_the_model_is_read() -> None:
    seen = extract(answer("get_state", {**stats()["data"], "model": MODEL}))
    assert isinstance(seen, TokenPair)
    assert seen.model == ModelRef(id="mock-model", provider="mock")


def test_more_than_the_window_is_what_pi_says_it_is() -> None:
    observation = cm.observe(RPC, stats(297_047, 272_000), at=AT)
    assert isinstance(observation, cm.Observed)
    assert round(observation.value.used_percent) == 109


@pytest.mark.parametrize(
    ("window", "confidence"), [(200_000, Confidence.EXACT), (128_000, Confidence.MEDIUM)]
)
def test_a_window_that_pi_may_only_assume_is_believed_less(
    window: int, confidence: Confidence
) -> None:
    observation = cm.observe(RPC, stats(15_025, window), at=AT)
    assert isinstance(observation, cm.Observed)
    assert observation.confidence is confidence


def test_a_percentage_that_contradicts_the_counts_is_a_disagreement() -> None:
    payload = stats()
    assert isinstance(cm.observe(RPC, payload, at=AT), cm.Observed)
    for wrong in (40.0, -40, 10**400, float("inf"), float("nan")):
        payload["data"]["contextUsage"]["percent"] = wrong
        observation = cm.observe(RPC, payload, at=AT)
        assert isinstance(observation, cm.Missing)
        assert observation.reason is MissingReason.SOURCES_DISAGREE
    for other in (None, "40", True):
        payload["data"]["contextUsage"]["percent"] = other
        assert isinstance(cm.observe(RPC, payload, at=AT), cm.Observed)


@pytest.mark.parametrize(("percent", "tolerance"), [(40.7055, 40.7055e-9), (-40, 0), (10**400, 0)])
def test_a_percentage_is_held_against_the_counts_unrounded(percent: Any, tolerance: float) -> None:
    payload = stats()
    payload["data"]["contextUsage"]["percent"] = percent
    (claim,) = extract(payload).claims
    assert (claim.quantity, claim.value) == (Quantity.USED_PERCENT, percent)
    assert claim.tolerance == pytest.approx(tolerance)


@pytest.mark.parametrize("payload", [stats(0), stats(None), stats(339, tokens={"total": 0})])
def test_what_measures_nothing_names_the_model(payload: dict[str, Any]) -> None:
    payload["data"]["model"] = MODEL
    assert extract(payload).model == ModelRef(id="mock-model", provider="mock")


def test_null_tells_of_a_compaction() -> None:
    known = Partial(limit_tokens=200_000, measured_at=AT)
    assert extract(stats(None)) == Gap(reason=MissingReason.COMPACTED, partial=known)
    assert extract(stats(None, None)) == Gap(reason=MissingReason.COMPACTED)


@pytest.mark.parametrize(
    ("used", "reason"),
    [
        (0, MissingReason.NOT_MEASURED_YET),
        (ABSENT, MissingReason.USAGE_NOT_REPORTED),
        (-1, MissingReason.USAGE_INVALID),
        ("7", MissingReason.USAGE_INVALID),
        (True, MissingReason.USAGE_INVALID),
        (1.5, MissingReason.USAGE_INVALID),
    ],
)
def test_what_is_no_count_is_named(used: Any, reason: MissingReason) -> None:
    assert extract(stats(used)).reason is reason


@pytest.mark.parametrize("stated", ["7", 7, [], True])
def test_a_usage_that_is_no_object_is_invalid(stated: Any) -> None:
    assert extract(stats(contextUsage=stated)) == Gap(reason=MissingReason.USAGE_INVALID)


@pytest.mark.parametrize(
    ("window", "reason"),
    [
        (ABSENT, MissingReason.LIMIT_NOT_REPORTED),
        (None, MissingReason.LIMIT_NOT_REPORTED),
        (0, MissingReason.LIMIT_INVALID),
        ("200000", MissingReason.LIMIT_INVALID),
    ],
)
def test_a_count_without_a_window_is_kept(window: Any, reason: MissingReason) -> None:
    seen = extract(stats(81_411, window))
    assert type(seen) is UsedTokens
    assert (seen.used_tokens, seen.limit_missing) == (81_411, reason)


def test_before_any_reply_all_of_it_is_pis_estimate() -> None:
    known = Partial(used_tokens=339, limit_tokens=200_000, measured_at=AT, estimated=True)
    gap = extract(stats(339, tokens={"input": 0, "total": 0}))
    assert gap == Gap(reason=MissingReason.ESTIMATE_ONLY, partial=known)


@pytest.mark.parametrize("stated", [ABSENT, None])
def test_sums_alone_are_refused(stated: Any) -> None:
    assert extract(stats(contextUsage=stated)) == Gap(reason=MissingReason.CUMULATIVE_ONLY)


def test_the_state_states_the_window_alone() -> None:
    gap = extract(answer("get_state", {"model": MODEL, "sessionId": SESSION}))
    assert gap == Gap(
        reason=MissingReason.USAGE_NOT_REPORTED,
        partial=Partial(limit_tokens=40_000, measured_at=AT),
        model=ModelRef(id="mock-model", provider="mock"),
    )


@pytest.mark.parametrize(
    "payload",
    [
        answer("get_state", {"model": None}),
        answer("prompt", {"disposition": "started"}),
        answer("compact", success=False, error="Already compacted"),
        answer("get_session_stats", None),
        {},
    ],
)
def test_an_answer_that_states_nothing_says_so(payload: dict[str, Any]) -> None:
    assert extract(payload) == Gap(reason=MissingReason.USAGE_NOT_REPORTED)


def test_a_compaction_states_what_it_estimates_to_be_left() -> None:
    result = {"summary": "words", "tokensBefore": 81_411, "usage": usage(29_400)}
    assert extract(answer("compact", result)) == Gap(reason=MissingReason.COMPACTED)
    gap = extract(answer("compact", {**result, "estimatedTokensAfter": 573}))
    known = Partial(used_tokens=573, measured_at=AT, estimated=True)
    assert gap == Gap(reason=MissingReason.COMPACTED, partial=known)


# -- what is asked ------------------------------------------------------------------------------


def test_another_session_is_a_mismatch() -> None:
    assert isinstance(extract(stats(), session_id=SESSION), TokenPair)
    assert extract(stats(), session_id="other").reason is MissingReason.SESSION_MISMATCH
    assert extract(stats(), agent_id="a").reason is MissingReason.SESSION_MISMATCH


@pytest.mark.parametrize(
    "asked", [{"turn_id": "t"}, {"turn_started_at": AT}, {"phase": Phase.ACTIVE}]
)
def test_an_answer_does_not_say_which_turn_it_measured(asked: dict[str, Any]) -> None:
    assert extract(stats(), **asked).reason is MissingReason.TURN_IDS_NOT_RECORDED
    assert isinstance(extract(stats(), phase=Phase.TERMINAL), TokenPair)


@pytest.mark.parametrize(
    ("payload", "is_told"),
    [
        (stats(), True),
        (answer("get_state", {"sessionId": SESSION}), True),
        (answer("compact", {"tokensBefore": 1}), True),
        (answer("compact", {}), False),
        (answer("get_messages", {"sessionId": SESSION}), False),
        ({**stats(), "type": "event"}, False),
        ({"type": "response", "command": ["get_state"]}, False),
        (stats()["data"], False),
    ],
)
def test_an_answer_is_told_by_its_form_and_what_is_in_it(
    payload: dict[str, Any], is_told: bool
) -> None:
    assert RPC.recognise is not None
    assert RPC.recognise(payload) is is_told


# -- bad data -----------------------------------------------------------------------------------


def test_a_spoilt_answer_is_measured_or_named() -> None:
    for payload in spoilt({**stats(), "extra": answer("get_state", {"model": MODEL})}):
        if isinstance(payload, dict):
            observation = cm.observe(RPC, payload, at=AT)
            assert isinstance(observation, cm.Observed | cm.Missing)
            if isinstance(observation, cm.Observed):
                assert isinstance(observation.value, cm.TokenMeasurement)
                assert observation.value.used_tokens in {81_411, 7}


@given(any_json("type", "data", "contextUsage", "tokens", "contextWindow", "percent", "model"))
def test_any_object_is_measured_or_named(payload: Any) -> None:
    if isinstance(payload, dict):
        assert isinstance(cm.observe(RPC, payload, at=AT), cm.Observed | cm.Missing)
