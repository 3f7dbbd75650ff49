"""What a caller can accept, and what cannot be meant."""

from __future__ import annotations

import pickle
from datetime import timedelta
from typing import Any

import pytest
from judging import model

from ctxmeasure.assess import DEFAULT_POLICY, RUNNER_DEFAULTS, Counts, Policy


def test_the_default_accepts_no_guess() -> None:
    assert Policy() == DEFAULT_POLICY
    assert DEFAULT_POLICY.counts is Counts.OWN
    assert DEFAULT_POLICY.max_age is None
    assert DEFAULT_POLICY.accept_estimates is False
    assert DEFAULT_POLICY.assume_limits == {}
    assert DEFAULT_POLICY.resolved(model()) is None


def test_what_to_count_can_be_said_in_a_word() -> None:
    assert Policy(counts="prompt").counts is Counts.PROMPT


def test_assumed_limits_do_not_change_with_the_mapping_they_came_from() -> None:
    limits = {"agent": 128_000}
    policy = Policy(assume_limits=limits)
    limits["agent"] = 1
    assert policy.assume_limits == {"agent": 128_000}
    with pytest.raises(TypeError):
        policy.assume_limits["agent"] = 1  # type: ignore[index]


@pytest.mark.parametrize(
    ("argument", "wrong", "error"),
    [
        ("counts", "secret", ValueError),
        ("counts", 5, ValueError),
        ("max_age", 30, TypeError),
        ("max_age", timedelta(microseconds=-1), ValueError),
        ("accept_estimates", "secret", TypeError),
        ("accept_estimates", 1, TypeError),
        ("assume_limits", 128_000, TypeError),
        ("assume_limits", [("secret", 128_000)], TypeError),
        ("assume_limits", {"secret": "128000"}, TypeError),
        ("assume_limits", {"secret": True}, TypeError),
        ("assume_limits", {5: 128_000}, TypeError),
        ("assume_limits", {"secret": 0}, ValueError),
        ("resolver", "secret", TypeError),
    ],
)
def test_a_wrong_argument_is_named_and_not_repeated(
    argument: str, wrong: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match=f"^{argument}: ") as raised:
        Policy(**{argument: wrong})
    assert type(raised.value) is error
    assert "secret" not in str(raised.value)


def test_a_resolver_is_asked_with_the_model() -> None:
    windows = {"model": 262_144, "smallest": 1}
    policy = Policy(resolver=lambda named: windows.get(named.id))
    assert policy.resolved(model()) == 262_144
    assert policy.resolved(model("smallest")) == 1
    assert policy.resolved(model("other")) is None


@pytest.mark.parametrize(
    ("returned", "error"),
    [("secret", TypeError), (1.0, TypeError), (True, TypeError), (0, ValueError)],
)
def test_a_resolver_that_returns_no_window_is_a_wrong_argument(
    returned: Any, error: type[Exception]
) -> None:
    policy = Policy(resolver=lambda _: returned)
    with pytest.raises(error, match=r"^resolver: ") as raised:
        policy.resolved(model())
    assert "secret" not in str(raised.value)


def test_what_a_resolver_raises_is_raised() -> None:
    def resolver(_: object) -> int:
        raise LookupError

    with pytest.raises(LookupError):
        Policy(resolver=resolver).resolved(model())


def test_nobody_assumes_a_runners_defaults_by_himself() -> None:
    assert RUNNER_DEFAULTS == {"claude": 200_000, "pi": 200_000}
    assert DEFAULT_POLICY.assume_limits == {}
    assert Policy(assume_limits=RUNNER_DEFAULTS).assume_limits == RUNNER_DEFAULTS
    with pytest.raises(TypeError):
        RUNNER_DEFAULTS["codex"] = 1  # type: ignore[index]


def test_a_policy_goes_to_another_process_whole() -> None:
    policy = Policy(
        counts=Counts.PROMPT,
        max_age=timedelta(seconds=7),
        accept_estimates=True,
        assume_limits={"claude": 200_000},
        resolver=len,  # type: ignore[arg-type] # any callable that has a name
    )
    assert pickle.loads(pickle.dumps(policy)) == policy  # noqa: S301 - our own
