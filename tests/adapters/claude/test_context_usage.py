from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxmeasure as cm
from ctxmeasure.adapters.claude.context_usage import CONTEXT_USAGE
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import Evidence, Gap, Phase, Query, TokenPair, UsedTokens
from ctxmeasure.observation import LimitBasis, MissingReason, Partial, UsedBasis
from ctxmeasure.testing.hostile import any_json, spoilt
from ctxmeasure.usage import TokenUsage

AT = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)
USAGE = {
    "input_tokens": 3,
    "output_tokens": 210,
    "cache_creation_input_tokens": 800,
    "cache_read_input_tokens": 53_987,
}


def answer(**fields: Any) -> dict[str, Any]:
    """Return an answer in the shape of SDK 0.3.332; ... drops a field."""
    whole = {
        "categories": [{"name": "Messages", "tokens": 36_100, "kind": "used"}],
        "totalTokens": 55_100,
        "maxTokens": 200_000,
        "rawMaxTokens": 200_000,
        "percentage": 28,
        "model": "claude-sonnet-4-6",
        "isAutoCompactEnabled": True,
        "apiUsage": USAGE,
        **fields,
    }
    return {key: value for key, value in whole.items() if value is not ...}


def wrapped(inner: Any, subtype: str = "success") -> dict[str, Any]:
    response = {"subtype": subtype, "request_id": "req-1", "response": inner}
    return {"type": "control_response", "response": response}


def read(payload: dict[str, Any], **asked: Any) -> Evidence:
    return CONTEXT_USAGE.extract(payload, Query(**{"at": AT, **asked}))


def gap(payload: dict[str, Any], **asked: Any) -> Gap:
    seen = read(payload, **asked)
    assert isinstance(seen, Gap)
    return seen


def test_only_the_last_responses_usage_is_measured() -> None:
    assert read(wrapped(answer())) == TokenPair(
        measured_at=AT,
        model=ModelRef(id="claude-sonnet-4-6"),
        usage=TokenUsage(
            input_tokens=3, cache_read_tokens=53_987, cache_write_tokens=800, output_tokens=210
        ),
        used_basis=UsedBasis.PROMPT,
        limit_tokens=200_000,
        limit_basis=LimitBasis.EFFECTIVE_WINDOW,
        default_limits=frozenset({200_000, 1_000_000}),
    )


def test_the_answer_is_the_same_without_its_wrapping() -> None:
    assert read(answer()) == read(wrapped(answer()))


def test_issue_claude_pace_the_limit_is_the_auto_compact_window_where_one_is_set() -> None:
    seen = read(answer(rawMaxTokens=400_000, maxTokens=400_000))
    assert isinstance(seen, TokenPair)
    assert (seen.limit_tokens, seen.limit_basis) == (400_000, LimitBasis.EFFECTIVE_WINDOW)


def test_the_raw_window_goes_before_the_other() -> None:
    seen = read(answer(rawMaxTokens=200_000, maxTokens=167_000))
    assert isinstance(seen, TokenPair)
    assert seen.limit_tokens == 200_000
    older = read(answer(rawMaxTokens=...))
    assert isinstance(older, TokenPair)
    assert older.limit_tokens == 200_000


def test_without_a_window_the_count_is_left_to_the_model() -> None:
    seen = read(answer(rawMaxTokens=None, maxTokens=None, model="claude-opus-4-6[1m]"))
    assert isinstance(seen, UsedTokens)
    assert not isinstance(seen, TokenPair)
    assert seen.limit_missing is None
    assert seen.model == ModelRef(id="claude-opus-4-6", long_context_marker=True)


@pytest.mark.parametrize("limit", [0, -1, True, "200000", 2e5])
def test_a_window_that_is_no_positive_whole_number_is_refused(limit: object) -> None:
    payload = answer(rawMaxTokens=limit)
    seen = cm.observe(CONTEXT_USAGE, payload, at=AT)
    assert isinstance(seen, cm.Missing)
    assert seen.reason is MissingReason.LIMIT_INVALID
    assert seen.partial == Partial(used_tokens=54_790, measured_at=AT)
    declared = cm.observe(CONTEXT_USAGE, payload, at=AT, limit_tokens=60_000)
    assert isinstance(declared, cm.Observed)


@pytest.mark.parametrize("usage", [None, ..., dict.fromkeys(USAGE, 0)])
def test_without_a_response_the_total_is_an_estimate(usage: object) -> None:
    seen = gap(answer(apiUsage=usage, totalTokens=294_000))
    assert seen.reason is MissingReason.ESTIMATE_ONLY
    assert seen.partial == Partial(
        used_tokens=294_000, limit_tokens=200_000, measured_at=AT, estimated=True
    )
    assert seen.model == ModelRef(id="claude-sonnet-4-6")


def test_the_structured_twin_of_context_holds_estimates_only() -> None:
    twin = {
        "model": "claude-sonnet-4-6",
        "total_tokens": 9_100,
        "raw_max_tokens": 100_000,
        "percentage": 9,
    }
    frame = {"type": "assistant", "message": {"model": "<synthetic>"}, "context_usage": twin}
    for payload in (twin, frame):
        seen = gap(payload)
        assert seen.reason is MissingReason.ESTIMATE_ONLY
        assert seen.partial == Partial(
            used_tokens=9_100, limit_tokens=100_000, measured_at=AT, estimated=True
        )


@pytest.mark.parametrize(
    ("total", "reason"),
    [
        (0, MissingReason.NOT_MEASURED_YET),
        (None, MissingReason.USAGE_NOT_REPORTED),
        (-1, MissingReason.USAGE_INVALID),
        ("9100", MissingReason.USAGE_INVALID),
        (9_100.0, MissingReason.USAGE_INVALID),
    ],
)
def test_an_estimate_that_is_no_count_is_named(total: object, reason: MissingReason) -> None:
    assert gap(answer(apiUsage=None, totalTokens=total)).reason is reason


def test_an_estimate_keeps_only_a_true_window() -> None:
    seen = gap(answer(apiUsage=None, rawMaxTokens="200000"))
    assert seen.partial == Partial(used_tokens=55_100, measured_at=AT, estimated=True)


def test_a_faulty_usage_is_not_covered_by_the_estimate() -> None:
    wrong = gap(answer(apiUsage={**USAGE, "input_tokens": "3"}))
    assert wrong.reason is MissingReason.USAGE_INVALID
    assert wrong.model == ModelRef(id="claude-sonnet-4-6")
    bare = {"input_tokens": 3, "output_tokens": 210}
    assert gap(answer(apiUsage=bare)).reason is MissingReason.USAGE_INCOMPLETE


def test_a_version_that_refuses_the_request_reports_no_usage() -> None:
    refused = {"type": "control_response", "response": {"subtype": "error", "error": "unknown"}}
    assert gap(refused).reason is MissingReason.USAGE_NOT_REPORTED


@pytest.mark.parametrize("payload", [{}, {"type": "control_response"}, wrapped({"pid": 7})])
def test_another_answer_is_refused(payload: dict[str, Any]) -> None:
    assert gap(payload).reason is MissingReason.SOURCE_MALFORMED


def test_the_session_asked_for_must_be_the_frames() -> None:
    frame = {"session_id": "643cce8b", "context_usage": answer()}
    assert gap(frame, session_id="another").reason is MissingReason.SESSION_MISMATCH
    seen = read(frame, session_id="643cce8b")
    assert isinstance(seen, TokenPair)
    assert seen.identity == ("643cce8b", "")
    assert isinstance(read(wrapped(answer()), session_id="643cce8b"), TokenPair)


def test_an_answer_is_about_the_main_context_and_about_no_turn() -> None:
    assert gap(answer(), agent_id="a1").reason is MissingReason.SESSION_MISMATCH
    assert gap(answer(), turn_id="t").reason is MissingReason.TURN_IDS_NOT_RECORDED
    assert gap(answer(), phase=Phase.ACTIVE).reason is MissingReason.TURN_IDS_NOT_RECORDED


def test_an_answer_is_recognised_in_any_wrapping() -> None:
    assert CONTEXT_USAGE.recognise is not None
    assert CONTEXT_USAGE.recognise(answer())
    assert CONTEXT_USAGE.recognise(wrapped(answer()))
    bare = {"rawMaxTokens": 200_000, "apiUsage": None, "isAutoCompactEnabled": False}
    assert CONTEXT_USAGE.recognise(bare)
    for key in bare:
        assert not CONTEXT_USAGE.recognise(answer(**{key: ...}))
    assert not CONTEXT_USAGE.recognise({"totalTokens": 1, "maxTokens": 2})
    assert not CONTEXT_USAGE.recognise({})


json_values = any_json(*answer(), *USAGE, "response", "context_usage")


@given(st.dictionaries(st.sampled_from([*answer(), "response", "context_usage"]), json_values))
def test_no_object_raises(payload: dict[str, Any]) -> None:
    seen = read(payload)
    if isinstance(seen, TokenPair):
        assert seen.limit_tokens > 0


def test_a_wrong_type_anywhere_gives_the_true_numbers_or_none() -> None:
    for wrong in spoilt(wrapped(answer())):
        if isinstance(wrong, dict):
            seen = read(wrong)
            assert isinstance(seen, UsedTokens | Gap)
            if isinstance(seen, UsedTokens):
                assert seen.usage is not None
                assert seen.usage.prompt_tokens == 54_790
            if isinstance(seen, TokenPair):
                assert seen.limit_tokens == 200_000
