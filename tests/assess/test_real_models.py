"""The judge with the real model table: what Claude Code's counts come to, model by model."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from attrs import evolve
from judging import AT, SECOND, origin, pair, usage, used

from ctxmeasure.assess import assess
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import Channel, Evidence, Query
from ctxmeasure.measurement import TokenMeasurement
from ctxmeasure.observation import Confidence, Missing, MissingReason, Observed

FALLBACKS = frozenset({200_000, 1_000_000})
TODAY = AT - SECOND
WITH_THE_BETA = datetime(2026, 3, 1, tzinfo=UTC)
"""Until 2026-04-30 a header opened 1,000,000 tokens for Sonnet 4 and 4.5."""

Answer = tuple[int, Confidence] | MissingReason


def answer(evidence: Evidence, **asked: Any) -> Answer:
    """Return the limit and how sure it is, or the reason why there is none."""
    facts = evolve(origin(Channel.HANDED_OVER), client="claude")
    observation = assess(evidence, origin=facts, query=Query(at=AT, **asked))
    if isinstance(observation, Missing):
        return observation.reason
    assert isinstance(observation, Observed)
    assert isinstance(observation.value, TokenMeasurement)
    return observation.value.limit_tokens, observation.confidence


HIGH_200K = (200_000, Confidence.HIGH)
HIGH_1M = (1_000_000, Confidence.HIGH)
MEDIUM_200K = (200_000, Confidence.MEDIUM)
MEDIUM_1M = (1_000_000, Confidence.MEDIUM)


@pytest.mark.parametrize(
    ("named", "marker", "prompt", "at", "expected"),
    [
        ("claude-haiku-4-5-20251001", None, 41_500, TODAY, HIGH_200K),
        ("claude-haiku-4-5-20251001", None, 200_001, TODAY, MissingReason.LIMIT_CONTRADICTED),
        ("claude-sonnet-4-5-20250929", None, 41_500, TODAY, HIGH_200K),
        ("claude-sonnet-4-5-20250929", None, 250_010, TODAY, MissingReason.LIMIT_CONTRADICTED),
        ("claude-sonnet-4-5-20250929", True, 41_500, TODAY, MissingReason.LIMIT_CONTRADICTED),
        ("claude-sonnet-4-5-20250929", True, 250_010, TODAY, HIGH_1M),
        ("claude-sonnet-4-5-20250929", None, 41_500, WITH_THE_BETA, MEDIUM_200K),
        ("claude-sonnet-4-5-20250929", None, 250_010, WITH_THE_BETA, HIGH_1M),
        ("claude-opus-4-6", None, 41_500, TODAY, MissingReason.WINDOW_AMBIGUOUS),
        ("claude-opus-4-6", None, 250_010, TODAY, HIGH_1M),
        ("claude-opus-4-6", True, 41_500, TODAY, HIGH_1M),
        ("claude-opus-4-6", False, 41_500, TODAY, HIGH_200K),
        ("claude-opus-4-8", None, 41_500, TODAY, HIGH_1M),
        ("claude-opus-4-8", None, 1_000_001, TODAY, MissingReason.LIMIT_CONTRADICTED),
        ("claude-opus-4-19-20270101", None, 41_500, TODAY, MissingReason.MODEL_UNKNOWN),
        ("mystery-model-9", None, 41_500, TODAY, MissingReason.MODEL_UNKNOWN),
        ("opus", None, 41_500, TODAY, MissingReason.MODEL_UNKNOWN),
    ],
)
def test_a_count_of_claude_code_gets_the_window_that_its_model_had(
    named: str, marker: bool | None, prompt: int, at: datetime, expected: Answer
) -> None:
    seen = used(
        usage=usage(prompt, 0),
        model=ModelRef(id=named, long_context_marker=marker),
        measured_at=at,
        runtime_version="2.1.332",
    )
    assert answer(seen) == expected


@pytest.mark.parametrize(
    ("vouched", "expected"),
    [("claude-opus-4-6", MEDIUM_200K), ("claude-opus-4-6[1m]", HIGH_1M)],
)
def test_the_callers_word_settles_an_ambiguous_window(vouched: str, expected: Answer) -> None:
    for named in (ModelRef(id="claude-opus-4-6"), None):
        assert answer(used(model=named), model=vouched) == expected


def test_the_callers_word_against_an_unknown_model_is_medium() -> None:
    seen = used(model=ModelRef(id="claude-opus-9"), runtime_version="2.1.332")
    assert answer(seen, model="claude-opus-4-8") == MEDIUM_1M


@pytest.mark.parametrize(
    ("named", "limit", "version", "expected"),
    [
        ("claude-sonnet-4-5-20250929", 200_000, "2.1.332", (200_000, Confidence.EXACT)),
        ("claude-opus-4-8", 1_000_000, "2.1.332", (1_000_000, Confidence.EXACT)),
        # CLAUDE_CODE_DISABLE_1M_CONTEXT, or an account out of credits
        ("claude-opus-4-8", 200_000, "2.1.332", MEDIUM_200K),
        # a server-side setting, which no table can know
        ("claude-opus-4-6", 400_000, "2.1.332", (400_000, Confidence.EXACT)),
        # what Claude Code assumes for a model that it does not know
        ("mystery-model-9", 1_000_000, "2.1.332", MEDIUM_1M),
        ("mystery-model-9", 200_000, "2.1.200", MEDIUM_200K),
    ],
)
def test_a_limit_that_claude_code_states_is_doubted_where_it_may_be_a_fallback(
    named: str, limit: int, version: str, expected: Answer
) -> None:
    seen = pair(
        limit_tokens=limit,
        default_limits=FALLBACKS,
        model=ModelRef(id=named),
        runtime_version=version,
    )
    assert answer(seen) == expected
