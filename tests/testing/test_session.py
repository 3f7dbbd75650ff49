"""Truths, and the rows of a writer."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from ctxmeasure.evidence import Phase
from ctxmeasure.observation import MissingReason
from ctxmeasure.testing import ABSENT, START, Answer, StoreWriter, Truth, Writer
from ctxmeasure.testing.hostile import places, with_value
from ctxmeasure.testing.session import SECOND, joined, without_absent

OLD = Truth.tokens(1, 2, START)


@pytest.mark.parametrize(
    ("age", "phase", "reason"),
    [
        (0, Phase.ACTIVE, None),
        (30, Phase.ACTIVE, None),
        (31, Phase.ACTIVE, "sample_stale"),
        (31, Phase.LATEST, None),
        (-5, Phase.LATEST, None),
        (-6, Phase.TERMINAL, "sample_from_future"),
    ],
)
def test_a_truth_ages_as_the_judge_has_it(age: int, phase: Phase, reason: str | None) -> None:
    assert OLD.asked(START + age * SECOND, phase).reason == reason


def test_a_truth_without_a_moment_does_not_age() -> None:
    for truth in (Truth.tokens(1, 2), Truth.missing("compacted"), Truth.percent(3)):
        assert truth.asked(START + timedelta(days=1), Phase.ACTIVE) is truth


def test_a_reason_that_there_is_not_is_no_truth() -> None:
    assert Truth.missing("compacted").reason is MissingReason.COMPACTED
    with pytest.raises(ValueError, match="no_such"):
        Truth.missing("no_such")


def test_an_answer_is_to_the_latest_phase_unless_it_says_so() -> None:
    assert Answer(OLD).phase is Phase.LATEST
    assert Answer(OLD, phase="active").phase is Phase.ACTIVE


def test_a_key_that_is_absent_is_left_out() -> None:
    assert without_absent({"a": 1, "b": ABSENT}) == {"a": 1}
    assert without_absent([1]) == [1]
    assert joined([{"a": 1}, {}]) == b'{"a":1}\n{}\n'


def test_a_context_grows_and_shrinks_by_numbers_that_tell_the_step() -> None:
    writer = Writer()
    writer.number = 7
    first, left, second = writer.fresh(), writer.shrink(), writer.fresh()
    assert first % 100 == second % 100 == 7
    assert left < first
    assert left < second < first


def test_by_default_a_writer_knows_no_strangers() -> None:
    assert [*Writer().strangers(), *StoreWriter().foreign()] == []


def test_every_place_of_a_value_can_be_given_another_or_none() -> None:
    value = {"a": [1, {"b": 2}]}
    assert places(value) == [("a",), ("a", 0), ("a", 1), ("a", 1, "b")]
    assert with_value(value, ("a", 1, "b")) == {"a": [1, {}]}
    assert with_value(value, ("a", 0), "x") == {"a": ["x", {"b": 2}]}
    assert json.dumps(value) == '{"a": [1, {"b": 2}]}'
