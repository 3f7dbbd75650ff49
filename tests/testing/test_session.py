"""Truths, and the rows of a writer."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from ctxmeasure.assess import Policy
from ctxmeasure.evidence import Phase
from ctxmeasure.observation import Missing, MissingReason, Partial, Provenance
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


def test_a_truth_that_has_aged_away_still_knows_its_numbers() -> None:
    later = START + timedelta(days=1)
    stale = OLD.asked(later, Phase.LATEST, timedelta(hours=1))
    assert stale == Truth.missing("sample_stale", used_tokens=1)
    share = Truth.percent(3, START).asked(later, Phase.ACTIVE)
    assert share == Truth.missing("sample_stale", used_percent=3)
    assert OLD.asked(later, Phase.ACTIVE, timedelta(days=2)) is OLD


def missing(**known: Any) -> Missing:
    partial = Partial(**known) if known else None
    provenance = Provenance(adapter="agent", source="agent.rows")
    return Missing(reason=MissingReason.COMPACTED, partial=partial, provenance=provenance)


def test_what_is_still_known_is_held_against_a_truth_that_states_it() -> None:
    unstated, stated = Truth.missing("compacted"), Truth.missing("compacted", used_tokens=7)
    assert unstated.is_told_by(missing())
    assert unstated.is_told_by(missing(used_tokens=9, used_percent=50))
    assert stated.is_told_by(missing(used_tokens=7))
    assert not stated.is_told_by(missing(used_tokens=9))
    assert not stated.is_told_by(missing())
    share = Truth.missing("compacted", used_percent=50)
    assert share.is_told_by(missing(used_percent=50, used_tokens=7))
    assert not share.is_told_by(missing(used_percent=51))


def test_what_is_still_known_is_nothing_that_is_measured() -> None:
    assert Truth.missing("compacted", used_tokens=7).numbers == (None, None, None)
    assert Truth.told_by(missing(used_tokens=7)) == Truth.missing("compacted", used_tokens=7)


def test_an_answer_ages_as_its_question_has_it() -> None:
    later = START + timedelta(seconds=31)
    assert Answer(OLD, phase="active").as_of(later).reason == "sample_stale"
    patient = Policy(max_age=timedelta(minutes=1))
    assert Answer(OLD, phase="active", policy=patient).as_of(later) is OLD
    impatient = Policy(max_age=timedelta(seconds=1))
    assert Answer(OLD, policy=impatient).as_of(later).reason == "sample_stale"


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
