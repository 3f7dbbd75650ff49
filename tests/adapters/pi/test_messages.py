from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pi_rows import AT

from ctxmeasure.adapters.pi.messages import (
    PASSED_OVER,
    Counted,
    Model,
    counted,
    measured,
    model_of,
    session_gap,
    turn_gap,
)
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import Claim, Gap, Quantity, Query
from ctxmeasure.observation import MissingReason
from ctxmeasure.testing import ABSENT
from ctxmeasure.testing.hostile import any_json, spoilt
from ctxmeasure.testing.pi.rows import reply, usage
from ctxmeasure.usage import TokenUsage

USAGE = TokenUsage(input_tokens=4, cache_read_tokens=985, cache_write_tokens=1, output_tokens=10)


def test_a_good_reply_counts_prompt_and_output() -> None:
    assert counted(reply(1_000)) == Counted(USAGE, 1_000)


@pytest.mark.parametrize("total", [0, None, ABSENT])
def test_a_total_that_is_not_there_is_the_sum(total: Any) -> None:
    assert counted(reply(1_000, usage=usage(1_000, totalTokens=total))) == Counted(USAGE, 1_000)


def test_a_total_of_the_servers_own_is_pis_count_and_the_sum_a_claim() -> None:
    count = counted(reply(1_000, usage=usage(1_000, totalTokens=700)))
    assert count == Counted(USAGE, 700)
    assert isinstance(count, Counted)
    assert measured(count, None, None)["claims"] == (Claim(Quantity.USED_TOKENS, 1_000),)


def test_the_snake_case_of_ralphs_specification_is_read() -> None:
    snake = {"input": 4, "output": 10, "cache_read": 985, "cache_write": 1, "total_tokens": 900}
    assert counted(reply(1_000, usage=snake)) == Counted(USAGE, 900)


def test_reasoning_and_the_long_cache_lie_inside_and_are_not_added() -> None:
    count = counted(reply(1_000, usage=usage(1_000, reasoning=7, cacheWrite1h=1)))
    assert isinstance(count, Counted)
    assert count.used_tokens == count.usage.total_tokens == 1_000
    assert count.usage.reasoning_tokens == 7


@pytest.mark.parametrize("stopped", ["aborted", "error", "pending"])
def test_a_reply_that_came_to_nothing_counts_nothing_whatever_its_usage(stopped: str) -> None:
    reason = counted(reply(50_961, stopReason=stopped))
    assert reason is MissingReason.NOT_MEASURED_YET
    assert reason in PASSED_OVER


@pytest.mark.parametrize("stopped", ["stop", "length", "toolUse", "deferred", None, ABSENT])
def test_any_other_end_is_a_good_one(stopped: Any) -> None:
    assert isinstance(counted(reply(1_000, stopReason=stopped)), Counted)


@pytest.mark.parametrize(
    "error",
    [
        "400 This model's maximum context length is 40000 tokens. However, you requested 41000",
        '400: {"message":"words","code":"context_length_exceeded"}',
        "prompt is too long: 213462 tokens > 200000 maximum",
        "Your input exceeds the context window of this model",
        "the request exceeds the available context size, try increasing it",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
        "Input is too long for requested model.",
    ],
)
def test_an_error_that_the_prompt_was_too_long_exceeds_the_window(error: str) -> None:
    refused = reply(0, usage=usage(0, input=0, output=0, cacheRead=0, cacheWrite=0))
    failed = {**refused, "stopReason": "error", "errorMessage": error}
    assert counted(failed) is MissingReason.WINDOW_EXCEEDED
    assert counted({**failed, "stopReason": "aborted"}) is MissingReason.NOT_MEASURED_YET


@pytest.mark.parametrize("error", ["500 overloaded", "rate limit: too many tokens", "", None, 7])
def test_another_error_does_not(error: Any) -> None:
    failed = reply(0, stopReason="error", errorMessage=error)
    assert counted(failed) is MissingReason.NOT_MEASURED_YET


@pytest.mark.parametrize(
    "nothing",
    [None, ABSENT, usage(15, output=0, input=0, cacheRead=0, cacheWrite=0), usage(14, input=0)],
)
def test_a_usage_without_a_prompt_is_none(nothing: Any) -> None:
    if isinstance(nothing, dict):  # a server that counts the output only, or nothing
        nothing = {**nothing, "cacheRead": 0, "cacheWrite": 0}
    reason = counted(reply(1_000, usage=nothing))
    assert reason is MissingReason.USAGE_NOT_REPORTED
    assert reason in PASSED_OVER


@pytest.mark.parametrize("total", [-1, 1.5, "7", True, [], {}])
def test_a_total_of_a_wrong_type_is_invalid(total: Any) -> None:
    said = counted(reply(1_000, usage=usage(1_000, totalTokens=total)))
    assert said is MissingReason.USAGE_INVALID
    assert said not in PASSED_OVER


@pytest.mark.parametrize("part", ["input", "output", "cacheRead", "cacheWrite"])
def test_a_part_that_is_missing_is_not_taken_for_0(part: str) -> None:
    said = counted(reply(1_000, usage=usage(1_000, **{part: ABSENT})))
    assert said is MissingReason.USAGE_INCOMPLETE


def test_a_spoilt_message_is_counted_or_named() -> None:
    for message in spoilt(reply(1_000)):
        if isinstance(message, dict):
            assert isinstance(counted(message), Counted | MissingReason)
            model_of(message)


@given(
    st.dictionaries(
        st.sampled_from(["usage", "stopReason", "errorMessage", "model", "provider"]),
        any_json("input", "output", "cacheRead", "cacheWrite", "totalTokens"),
    )
)
def test_any_message_is_counted_or_named(message: dict[str, Any]) -> None:
    assert isinstance(counted(message), Counted | MissingReason)
    assert isinstance(model_of(message), ModelRef | None)


# -- models -------------------------------------------------------------------------------------


def test_a_model_is_its_provider_and_its_id() -> None:
    named = model_of({"model": "gpt-5.4", "provider": "openai-codex"})
    assert named == ModelRef(id="gpt-5.4", provider="openai-codex")
    assert model_of({"model": "m", "provider": ""}) == ModelRef(id="m")
    assert model_of({"model": "m"}) == ModelRef(id="m")
    assert model_of({"model": ""}) is model_of({"provider": "openai"}) is None


def test_a_model_object_states_a_model_and_its_window() -> None:
    stated = Model.of({"id": "m", "provider": "p", "contextWindow": 40_000, "maxTokens": 4_096})
    assert stated == Model(ModelRef(id="m", provider="p"), 40_000)
    assert Model.of({"contextWindow": 0}) == Model.of(None) == Model.of("m") == Model()


# -- what is asked ------------------------------------------------------------------------------


def test_a_reply_is_singled_out_by_its_clock() -> None:
    count = Counted(USAGE, 1_000)
    assert measured(count, "s", 7)["identity"] == ("s", "7")
    assert measured(count, None, 7)["identity"] == ("", "7")
    assert measured(count, "s", None)["identity"] == measured(count, "s", "7")["identity"] == ()


@pytest.mark.parametrize(
    ("named", "asked", "is_other"),
    [
        ("s", {}, False),
        (None, {"session_id": "s"}, False),
        ("s", {"session_id": "s"}, False),
        ("s", {"session_id": "t"}, True),
        ("s", {"agent_id": "a"}, True),
        (None, {"agent_id": "a"}, True),
    ],
)
def test_another_session_or_a_sub_agent_is_a_mismatch(
    named: str | None, asked: dict[str, Any], is_other: bool
) -> None:
    gap = session_gap(named, Query(at=AT, **asked))
    assert gap == (Gap(reason=MissingReason.SESSION_MISMATCH) if is_other else None)


@pytest.mark.parametrize(
    ("measured_at", "asked", "reason"),
    [
        (AT, {}, None),
        (AT, {"turn_id": "t"}, MissingReason.TURN_IDS_NOT_RECORDED),
        (AT, {"turn_id": "t", "turn_started_at": AT}, None),
        (AT, {"turn_started_at": AT.replace(hour=23)}, MissingReason.TURN_NOT_FOUND),
        (None, {"turn_started_at": AT}, MissingReason.TURN_NOT_FOUND),
    ],
)
def test_a_turn_is_told_by_time_alone(
    measured_at: Any, asked: dict[str, Any], reason: MissingReason | None
) -> None:
    gap = turn_gap(measured_at, Query(at=AT, **asked))
    assert (None if gap is None else gap.reason) is reason
