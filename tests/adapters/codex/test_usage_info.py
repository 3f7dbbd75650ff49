"""The last request of an ``info`` is a usage, an estimate, a marker, or a named fault."""

from __future__ import annotations

from typing import Any

import pytest

from ctxmeasure.adapters.codex.usage_info import (
    Estimate,
    WindowExceeded,
    last_request,
    model_ref,
    stated_window,
)
from ctxmeasure.observation import MissingReason
from ctxmeasure.usage import TokenUsage, UsageFault, UsageFaultKind

ROLLOUT = ("last_token_usage", "total_token_usage", "model_context_window")
APP_SERVER = ("last", "total", "modelContextWindow")
SNAKE = ("input_tokens", "output_tokens", "total_tokens")
CAMEL = ("inputTokens", "outputTokens", "totalTokens")

each_spelling = pytest.mark.parametrize(
    ("outer", "inner"), [(ROLLOUT, SNAKE), (APP_SERVER, CAMEL)], ids=["rollout", "app-server"]
)
Keys = tuple[str, str, str]


def info(
    outer: Keys, inner: Keys, last: tuple[int, int, int], total: tuple[int, int, int]
) -> dict[str, Any]:
    usages = (dict(zip(inner, counts, strict=True)) for counts in (last, total))
    return dict(zip(outer, (*usages, 258_400), strict=True))


@each_spelling
def test_a_request_is_measured_by_its_own_usage_and_never_by_the_sum(
    outer: Keys, inner: Keys
) -> None:
    reported = last_request(info(outer, inner, (14_500, 80, 14_580), (28_500, 200, 28_700)))
    assert reported == TokenUsage(input_tokens=14_500, output_tokens=80)


@each_spelling
def test_a_total_without_parts_is_an_estimate(outer: Keys, inner: Keys) -> None:
    estimated = last_request(info(outer, inner, (0, 0, 6_851), (295_000, 700, 295_700)))
    assert estimated == Estimate(6_851)


@each_spelling
@pytest.mark.parametrize("left", [246_375, 0])
def test_a_sum_that_is_the_window_marks_it_as_exceeded(outer: Keys, inner: Keys, left: int) -> None:
    marked = info(outer, inner, (0, 0, left), (0, 0, 258_400))
    assert last_request(marked) == WindowExceeded()


@each_spelling
def test_zeros_alone_are_no_usage(outer: Keys, inner: Keys) -> None:
    zeros = last_request(info(outer, inner, (0, 0, 0), (0, 0, 0)))
    assert zeros == UsageFault(UsageFaultKind.NOT_REPORTED, "usage")


@each_spelling
def test_output_without_a_prompt_is_no_estimate(outer: Keys, inner: Keys) -> None:
    assert isinstance(last_request(info(outer, inner, (0, 80, 80), (0, 80, 80))), UsageFault)


@pytest.mark.parametrize("last", [None, [], "x", 7])
def test_a_last_request_that_is_no_object_is_a_fault(last: object) -> None:
    assert isinstance(last_request({"last_token_usage": last}), UsageFault)
    assert isinstance(last_request({}), UsageFault)


@pytest.mark.parametrize("key", ["model_context_window", "modelContextWindow"])
def test_a_window_is_a_limit_or_the_reason_why_it_is_none(key: str) -> None:
    assert stated_window({key: 258_400}) == 258_400
    assert stated_window({key: None}) is MissingReason.LIMIT_NOT_REPORTED
    assert stated_window({}) is MissingReason.LIMIT_NOT_REPORTED
    for wrong in (0, -1, "258400", 258_400.0, True):
        assert stated_window({key: wrong}) is MissingReason.LIMIT_INVALID


def test_a_slug_is_a_model_of_openai() -> None:
    found = model_ref("gpt-5.5")
    assert found is not None
    assert (found.id, found.provider) == ("gpt-5.5", "openai")
    for wrong in ("", None, 5):
        assert model_ref(wrong) is None
