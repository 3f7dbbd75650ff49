"""Each provider's own prompt count is kept, in disjoint buckets, or the fault is named."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.observation import MissingReason
from ctxmeasure.usage import (
    TokenUsage,
    Usage,
    UsageFault,
    UsageFaultKind,
    anthropic,
    bedrock_converse,
    codex,
    gemini,
    openai_chat,
    openai_responses,
    pi,
)

NOT_REPORTED = UsageFaultKind.NOT_REPORTED
INVALID = UsageFaultKind.INVALID
INCOMPLETE = UsageFaultKind.INCOMPLETE

# One valid object per convention, each with the counts that its sum needs.
ANTHROPIC = {
    "input_tokens": 12,
    "cache_read_input_tokens": 18_200,
    "cache_creation_input_tokens": 1_500,
    "output_tokens": 340,
}
RESPONSES = {
    "input_tokens": 19_712,
    "input_tokens_details": {"cached_tokens": 18_200, "cache_write_tokens": 1_500},
    "output_tokens": 340,
    "output_tokens_details": {"reasoning_tokens": 128},
    "total_tokens": 20_052,
}
CHAT = {
    "prompt_tokens": 2_006,
    "completion_tokens": 300,
    "total_tokens": 2_306,
    "prompt_tokens_details": {"cached_tokens": 1_920, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0},
}
GEMINI = {
    "promptTokenCount": 9_120,
    "cachedContentTokenCount": 8_000,
    "candidatesTokenCount": 45,
    "thoughtsTokenCount": 120,
    "totalTokenCount": 9_285,
}
BEDROCK = {
    "inputTokens": 12,
    "outputTokens": 340,
    "cacheReadInputTokens": 18_200,
    "cacheWriteInputTokens": 1_500,
    "totalTokens": 20_052,
}
CODEX = {
    "input_tokens": 14_500,
    "cached_input_tokens": 13_900,
    "cache_write_input_tokens": 100,
    "output_tokens": 80,
    "reasoning_output_tokens": 10,
    "total_tokens": 14_580,
}
APP_SERVER = {
    "totalTokens": 14_580,
    "inputTokens": 14_500,
    "cachedInputTokens": 13_900,
    "cacheWriteInputTokens": 100,
    "outputTokens": 80,
    "reasoningOutputTokens": 10,
}
PI = {"input": 200, "output": 30, "cacheRead": 1_000, "cacheWrite": 0, "totalTokens": 1_230}

NORMALISERS: list[tuple[Callable[[object], Usage], dict[str, Any], tuple[str, ...]]] = [
    (anthropic, ANTHROPIC, tuple(ANTHROPIC)),
    (openai_responses, RESPONSES, ("input_tokens", "output_tokens")),
    (openai_chat, CHAT, ("prompt_tokens", "completion_tokens")),
    (gemini, GEMINI, ("promptTokenCount",)),
    (bedrock_converse, BEDROCK, ("inputTokens", "outputTokens")),
    (codex, CODEX, ("input_tokens", "output_tokens")),
    (codex, APP_SERVER, ("inputTokens", "outputTokens")),
    (pi, PI, ("input", "output", "cacheRead", "cacheWrite")),
]
each_normaliser = pytest.mark.parametrize(
    ("normalise", "usage"),
    [(normalise, usage) for normalise, usage, _ in NORMALISERS],
    ids=[normalise.__name__ for normalise, _, _ in NORMALISERS],
)
each_required_count = pytest.mark.parametrize(
    ("normalise", "usage", "key"),
    [(normalise, usage, key) for normalise, usage, keys in NORMALISERS for key in keys],
)
each_count = pytest.mark.parametrize(
    ("normalise", "usage", "key"),
    [
        (normalise, usage, key)
        for normalise, usage, _ in NORMALISERS
        for key in usage
        if type(usage[key]) is int and (normalise, key) != (pi, "totalTokens")
    ],
)
each_detail = pytest.mark.parametrize(
    ("normalise", "usage", "group", "key"),
    [
        (openai_responses, RESPONSES, "input_tokens_details", "cached_tokens"),
        (openai_responses, RESPONSES, "input_tokens_details", "cache_write_tokens"),
        (openai_responses, RESPONSES, "output_tokens_details", "reasoning_tokens"),
        (openai_chat, CHAT, "prompt_tokens_details", "cached_tokens"),
        (openai_chat, CHAT, "completion_tokens_details", "reasoning_tokens"),
        (anthropic, ANTHROPIC, "output_tokens_details", "thinking_tokens"),
    ],
)
NO_COUNTS: list[object] = [True, False, 1.0, 1.5, "1", -1, [1], {"count": 1}]


def tokens(n: int = 1) -> st.SearchStrategy[int]:
    return st.integers(n, 10_000_000)


# -- the type -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "field", ["input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"]
)
@pytest.mark.parametrize("count", [True, 1.0, "1", None])
def test_a_bucket_is_an_int_and_nothing_else(field: str, count: Any) -> None:
    with pytest.raises(TypeError, match=f"^{field}: "):
        evolve(TokenUsage(input_tokens=1), **{field: count})


def test_a_bucket_is_never_negative() -> None:
    with pytest.raises(ValueError, match=r"^input_tokens: "):
        TokenUsage(input_tokens=-1)
    with pytest.raises(ValueError, match=r"^reasoning_tokens: "):
        TokenUsage(input_tokens=1, reasoning_tokens=-1)


@given(tokens(0), tokens(0), tokens(0), tokens(0))
def test_the_buckets_are_disjoint(fresh: int, read: int, written: int, output: int) -> None:
    usage = TokenUsage(
        input_tokens=fresh,
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=output,
        reasoning_tokens=output,  # a part of the output, not a bucket
    )
    assert usage.prompt_tokens == fresh + read + written
    assert usage.total_tokens == fresh + read + written + output


def test_every_fault_is_a_missing_reason() -> None:
    assert {kind.value for kind in UsageFaultKind} <= {reason.value for reason in MissingReason}


# -- all conventions ------------------------------------------------------------------------------


@each_normaliser
def test_a_mapping_of_any_kind_is_read(
    normalise: Callable[[object], Usage], usage: dict[str, Any]
) -> None:
    converted = normalise(MappingProxyType(usage))
    assert isinstance(converted, TokenUsage)
    assert converted == normalise({**usage, "service_tier": "standard"})


@each_normaliser
def test_no_usage_is_not_reported(
    normalise: Callable[[object], Usage], usage: dict[str, Any]
) -> None:
    assert normalise(None) == UsageFault(NOT_REPORTED, "usage")
    zeros = {key: 0 for key, count in usage.items() if type(count) is int}
    assert normalise(zeros) == UsageFault(NOT_REPORTED, "usage")


@each_normaliser
@pytest.mark.parametrize("other", [[], "usage", 50_000, True])
def test_what_is_no_object_is_invalid(
    normalise: Callable[[object], Usage],
    usage: dict[str, Any],  # noqa: ARG001 - the table's second column
    other: object,
) -> None:
    assert normalise(other) == UsageFault(INVALID, "usage")


@each_required_count
def test_an_absent_or_null_count_is_not_zero(
    normalise: Callable[[object], Usage], usage: dict[str, Any], key: str
) -> None:
    absent = {name: value for name, value in usage.items() if name != key}
    assert normalise(absent) == UsageFault(INCOMPLETE, key)
    assert normalise({**usage, key: None}) == UsageFault(INCOMPLETE, key)


@each_count
@pytest.mark.parametrize("count", NO_COUNTS)
def test_a_count_of_the_wrong_kind_is_invalid(
    normalise: Callable[[object], Usage], usage: dict[str, Any], key: str, count: object
) -> None:
    assert normalise({**usage, key: count}) == UsageFault(INVALID, key)


@each_detail
@pytest.mark.parametrize("count", NO_COUNTS)
def test_a_detail_of_the_wrong_kind_is_invalid(
    normalise: Callable[[object], Usage], usage: dict[str, Any], group: str, key: str, count: object
) -> None:
    assert normalise({**usage, group: {key: count}}) == UsageFault(INVALID, key)
    assert normalise({**usage, group: [count]}) == UsageFault(INVALID, group)


@each_detail
def test_details_may_be_absent_or_null(
    normalise: Callable[[object], Usage], usage: dict[str, Any], group: str, key: str
) -> None:
    absent = {name: value for name, value in usage.items() if name != group}
    converted = normalise(absent)
    assert isinstance(converted, TokenUsage)
    assert normalise({**usage, group: None}) == converted
    assert normalise({**usage, group: {}}) == converted
    assert normalise({**usage, group: {key: None}}) == converted


@each_normaliser
@given(sentinel=st.text("\u2620", min_size=3))
def test_a_fault_never_carries_data(
    normalise: Callable[[object], Usage], usage: dict[str, Any], sentinel: str
) -> None:
    for key in usage:
        fault = normalise({**usage, sentinel: sentinel, key: sentinel})
        assert sentinel not in repr(fault)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3)
    ),
    max_leaves=5,
)


@each_normaliser
@given(draw=st.data())
def test_no_object_makes_a_normaliser_raise(
    normalise: Callable[[object], Usage], usage: dict[str, Any], draw: st.DataObject
) -> None:
    garbled = draw.draw(st.fixed_dictionaries(dict.fromkeys(usage, _JSON)))
    kept = draw.draw(st.sets(st.sampled_from(sorted(usage))))
    mixed = {key: garbled[key] if key in kept else usage[key] for key in usage}
    assert isinstance(normalise(mixed), TokenUsage | UsageFault)


# -- Anthropic ------------------------------------------------------------------------------------


def _anthropic(fresh: int, read: int, written: int, output: int) -> dict[str, Any]:
    return {
        "input_tokens": fresh,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": output,
    }


@given(tokens(), tokens(0), tokens(0), tokens(0))
def test_anthropics_prompt_is_the_sum_of_three_buckets(
    fresh: int, read: int, written: int, output: int
) -> None:
    usage = _anthropic(fresh, read, written, output)
    assert anthropic(usage) == TokenUsage(
        input_tokens=fresh,
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=output,
    )


def test_anthropics_ttl_split_is_not_added_to_the_cache_writes() -> None:
    split = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 1_500}
    assert anthropic({**ANTHROPIC, "cache_creation": split}) == anthropic(ANTHROPIC)


def test_anthropics_thinking_lies_inside_the_output() -> None:
    converted = anthropic({**ANTHROPIC, "output_tokens_details": {"thinking_tokens": 128}})
    assert isinstance(converted, TokenUsage)
    assert converted.reasoning_tokens == 128
    assert converted.total_tokens == 20_052


@pytest.mark.parametrize("iterations", [None, [], [{"type": "compaction", "input_tokens": 9}]])
def test_without_a_message_iteration_the_top_level_counts(iterations: object) -> None:
    assert anthropic({**ANTHROPIC, "iterations": iterations}) == anthropic(ANTHROPIC)


def test_of_a_server_side_tool_loop_the_last_message_counts_and_not_the_sum() -> None:
    loop = {
        **_anthropic(30, 300, 3, 60),
        "output_tokens_details": {"thinking_tokens": 50},
        "iterations": [
            {"type": "message", **_anthropic(10, 100, 1, 20)},
            {"type": "message", **_anthropic(20, 200, 2, 40)},
            {"type": "compaction", **_anthropic(9_000, 0, 0, 900)},
        ],
    }
    # The top level's thinking belongs to the sum, so the last message's own is not known.
    assert anthropic(loop) == TokenUsage(
        input_tokens=20, cache_read_tokens=200, cache_write_tokens=2, output_tokens=40
    )


def test_a_single_iteration_keeps_the_thinking_of_the_top_level() -> None:
    details = {"output_tokens_details": {"thinking_tokens": 128}}
    single = {**ANTHROPIC, **details, "iterations": [{"type": "message", **ANTHROPIC}]}
    assert anthropic(single) == anthropic({**ANTHROPIC, **details})


def test_an_iteration_keeps_its_own_thinking() -> None:
    details = {"output_tokens_details": {"thinking_tokens": 12}}
    loop = {**_anthropic(30, 0, 0, 60), "iterations": [{"type": "message", **ANTHROPIC, **details}]}
    converted = anthropic(loop)
    assert isinstance(converted, TokenUsage)
    assert converted.reasoning_tokens == 12


@pytest.mark.parametrize("iterations", [{}, "message", 1, [None], [[]], ["message"]])
def test_iterations_of_the_wrong_kind_are_invalid(iterations: object) -> None:
    assert anthropic({**ANTHROPIC, "iterations": iterations}) == UsageFault(INVALID, "iterations")


def test_an_iteration_without_a_count_is_incomplete() -> None:
    torn = {"type": "message", "input_tokens": 1, "output_tokens": 2}
    assert anthropic({**ANTHROPIC, "iterations": [torn]}) == UsageFault(
        INCOMPLETE, "cache_read_input_tokens"
    )


# -- OpenAI ---------------------------------------------------------------------------------------


@given(tokens(0), tokens(0), tokens(), tokens(0), st.booleans())
def test_responses_cached_tokens_lie_inside_the_input(
    cached: int, written: int, fresh: int, output: int, total: bool
) -> None:
    prompt = cached + written + fresh
    usage: dict[str, Any] = {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
        "output_tokens": output,
        **({"total_tokens": prompt + output} if total else {}),
    }
    converted = openai_responses(usage)
    assert isinstance(converted, TokenUsage)
    assert converted.prompt_tokens == prompt
    assert (converted.input_tokens, converted.cache_read_tokens) == (fresh, cached)
    assert converted.cache_write_tokens == written
    assert converted.total_tokens == prompt + output


@given(tokens(0), tokens(), tokens(0), st.none() | tokens(0))
def test_chats_cached_tokens_lie_inside_the_prompt(
    cached: int, fresh: int, output: int, reasoning: int | None
) -> None:
    usage = {
        "prompt_tokens": cached + fresh,
        "completion_tokens": output,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
    assert openai_chat(usage) == TokenUsage(
        input_tokens=fresh,
        cache_read_tokens=cached,
        output_tokens=output,
        reasoning_tokens=reasoning,
    )


def test_more_cached_tokens_than_there_are_is_invalid() -> None:
    too_many = {"cached_tokens": 19_713}
    assert openai_responses({**RESPONSES, "input_tokens_details": too_many}) == UsageFault(
        INVALID, "cached_tokens"
    )
    assert openai_chat({**CHAT, "prompt_tokens_details": too_many}) == UsageFault(
        INVALID, "cached_tokens"
    )


@pytest.mark.parametrize(
    ("normalise", "usage", "key"),
    [
        (openai_responses, RESPONSES, "total_tokens"),
        (openai_chat, CHAT, "total_tokens"),
        (gemini, GEMINI, "totalTokenCount"),
        (bedrock_converse, BEDROCK, "totalTokens"),
        (codex, CODEX, "total_tokens"),
        (codex, APP_SERVER, "totalTokens"),
    ],
)
def test_a_total_that_contradicts_its_parts_is_invalid(
    normalise: Callable[[object], Usage], usage: dict[str, Any], key: str
) -> None:
    assert normalise({**usage, key: usage[key] + 1}) == UsageFault(INVALID, key)
    assert normalise({**usage, key: None}) == normalise(usage)


# -- Codex ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("usage", [CODEX, APP_SERVER], ids=["rollout", "app-server"])
def test_codex_counts_caches_inside_the_input_and_reasoning_inside_the_output(
    usage: dict[str, Any],
) -> None:
    assert codex(usage) == TokenUsage(
        input_tokens=500,
        cache_read_tokens=13_900,
        cache_write_tokens=100,
        output_tokens=80,
        reasoning_tokens=10,
    )


def test_codex_before_0_145_wrote_no_cache_writes() -> None:
    old = {key: count for key, count in CODEX.items() if key != "cache_write_input_tokens"}
    converted = codex(old)
    assert isinstance(converted, TokenUsage)
    assert (converted.prompt_tokens, converted.cache_write_tokens) == (14_500, 0)


@pytest.mark.parametrize("absent", [{}, {"reasoning_output_tokens": None}])
def test_codex_may_report_no_reasoning(absent: dict[str, Any]) -> None:
    usage = {key: count for key, count in CODEX.items() if key != "reasoning_output_tokens"}
    converted = codex({**usage, **absent})
    assert isinstance(converted, TokenUsage)
    assert (converted.output_tokens, converted.reasoning_tokens) == (80, None)


def test_more_cached_tokens_than_codex_sent_is_invalid() -> None:
    fault = UsageFault(INVALID, "cached_input_tokens")
    assert codex({**CODEX, "cached_input_tokens": 14_401}) == fault


def test_a_codex_total_without_parts_is_no_usage() -> None:
    estimate = {**dict.fromkeys(CODEX, 0), "total_tokens": 6_851}
    assert codex(estimate) == UsageFault(NOT_REPORTED, "usage")


# -- Gemini ---------------------------------------------------------------------------------------


@given(tokens(0), tokens(), tokens(0), tokens(0), tokens(0))
def test_geminis_thoughts_lie_outside_the_candidates(
    cached: int, fresh: int, tool: int, candidates: int, thoughts: int
) -> None:
    usage = {
        "promptTokenCount": cached + fresh,
        "cachedContentTokenCount": cached,
        "toolUsePromptTokenCount": tool,
        "candidatesTokenCount": candidates,
        "thoughtsTokenCount": thoughts,
        "totalTokenCount": cached + fresh + tool + candidates + thoughts,
    }
    assert gemini(usage) == TokenUsage(
        input_tokens=fresh + tool,
        cache_read_tokens=cached,
        output_tokens=candidates + thoughts,
        reasoning_tokens=thoughts,
    )


def test_geminis_first_chunk_has_no_candidates() -> None:
    assert gemini({"promptTokenCount": 9_120, "totalTokenCount": 9_120}) == TokenUsage(
        input_tokens=9_120
    )


def test_null_thoughts_are_not_zero_thoughts() -> None:
    converted = gemini({"promptTokenCount": 9_120, "thoughtsTokenCount": None})
    assert converted == TokenUsage(input_tokens=9_120)


def test_more_cached_content_than_prompt_is_invalid() -> None:
    assert gemini({"promptTokenCount": 1, "cachedContentTokenCount": 2}) == UsageFault(
        INVALID, "cachedContentTokenCount"
    )


# -- Bedrock --------------------------------------------------------------------------------------


@given(tokens(), tokens(0), tokens(0), tokens(0))
def test_bedrocks_buckets_are_disjoint(fresh: int, read: int, written: int, output: int) -> None:
    usage = {
        "inputTokens": fresh,
        "outputTokens": output,
        "cacheReadInputTokens": read,
        "cacheWriteInputTokens": written,
        "totalTokens": fresh + read + written + output,
    }
    assert bedrock_converse(usage) == TokenUsage(
        input_tokens=fresh,
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=output,
    )


def test_bedrock_leaves_unused_caches_out() -> None:
    assert bedrock_converse({"inputTokens": 12, "outputTokens": 3}) == TokenUsage(
        input_tokens=12, output_tokens=3
    )


# -- Pi -------------------------------------------------------------------------------------------


@given(tokens(), tokens(0), tokens(0), tokens(0), st.none() | tokens(0))
def test_pis_buckets_are_disjoint_in_both_spellings(
    fresh: int, read: int, written: int, output: int, reasoning: int | None
) -> None:
    shared = {"input": fresh, "output": output, "reasoning": reasoning}
    expected = TokenUsage(
        input_tokens=fresh,
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=output,
        reasoning_tokens=reasoning,
    )
    assert pi({**shared, "cacheRead": read, "cacheWrite": written}) == expected
    assert pi({**shared, "cache_read": read, "cache_write": written}) == expected


def test_pis_own_total_and_its_one_hour_writes_are_not_added() -> None:
    assert pi({**PI, "totalTokens": 0, "cacheWrite1h": 500}) == pi(PI)


@pytest.mark.parametrize(
    ("half", "other"), [("cache_read", "cache_write"), ("cache_write", "cache_read")]
)
def test_half_of_a_spelling_is_incomplete(half: str, other: str) -> None:
    assert pi({"input": 1, "output": 2, half: 3}) == UsageFault(INCOMPLETE, other)


@pytest.mark.parametrize("count", NO_COUNTS)
def test_reasoning_of_the_wrong_kind_is_invalid(count: object) -> None:
    assert pi({**PI, "reasoning": count}) == UsageFault(INVALID, "reasoning")
