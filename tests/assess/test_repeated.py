"""A sample that is seen again is judged as it was, so that it need not be judged again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from judging import AT, judge, pair, percent, used

import ctxmeasure as cm
from ctxmeasure.assess import DEFAULT_POLICY, Policy, is_repeated
from ctxmeasure.evidence import Gap, Phase, Query, Sample

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
SAMPLES: list[Any] = [
    build(identity=("session", "message"), measured_at=NOON) for build in (pair, used, percent)
]


def again(after: Any, before: Sample, policy: Policy = DEFAULT_POLICY, **asked: Any) -> bool:
    return is_repeated(after, before, query=Query(**{"at": AT, **asked}), policy=policy)


@pytest.mark.parametrize("before", SAMPLES)
@given(st.timedeltas(timedelta(hours=-11), timedelta(hours=8)))
def test_a_sample_that_is_repeated_is_judged_alike_but_for_its_time(
    before: Any, later: timedelta
) -> None:
    after = evolve(before, measured_at=NOON + later)
    if not again(after, before):
        assert NOON + later > AT + timedelta(seconds=5)
        return
    one, other = (judge(seen, limit_tokens=200_000) for seen in (before, after))
    assert isinstance(one, cm.Observed)
    assert isinstance(other, cm.Observed)
    assert other == evolve(one, value=evolve(one.value, measured_at=NOON + later))
    assert other.provenance.witness == one.provenance.witness


@pytest.mark.parametrize("before", SAMPLES)
def test_a_sample_that_says_anything_else_is_another(before: Any) -> None:
    assert again(before, before)
    for other in (
        evolve(before, identity=("session", "other")),
        evolve(before, runtime_version="2.1.0"),
        evolve(before, lower_bound=True),
        Gap(reason=cm.MissingReason.COMPACTED),
        *(seen for seen in SAMPLES if seen is not before),
    ):
        assert not again(other, before)
    nameless = evolve(before, identity=())
    assert not again(nameless, nameless)


@pytest.mark.parametrize(
    "moment",
    [
        None,
        NOON - timedelta(days=1),
        NOON.astimezone(timezone(timedelta(hours=1))),
        AT + timedelta(seconds=6),
    ],
)
def test_a_time_that_could_be_judged_otherwise_makes_another_sample(
    moment: datetime | None,
) -> None:
    before = SAMPLES[0]
    assert not again(evolve(before, measured_at=moment), before)


@pytest.mark.parametrize("seconds", [-5, 0, 5])
def test_clocks_that_differ_a_little_make_no_other_sample(seconds: int) -> None:
    before = SAMPLES[0]
    assert again(evolve(before, measured_at=AT + timedelta(seconds=seconds)), before)


def test_where_age_matters_nothing_is_repeated() -> None:
    before = SAMPLES[0]
    assert not again(before, before, Policy(max_age=timedelta(days=9)))
    assert not again(before, before, phase=Phase.ACTIVE)
