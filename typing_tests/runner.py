"""What a user's checker knows of a runner's rooms; executed by type-checkers only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_type

import ctxmeasure as cm
from ctxmeasure import claude, record, render, track


def peaks_are_replaced_after_each_iteration(stream: cm.Stream, peaks: cm.Peaks) -> cm.Peaks:
    peaks.updated(stream.latest)
    return peaks.updated(stream.finish(), peak=stream.peak, hat="builder", key="7")


def what_a_peak_holds_is_known(peaks: cm.Peaks) -> None:
    assert_type(peaks.current, cm.Observed | None)
    assert_type(peaks.peak, track.Highest)
    assert_type(peaks.peak.tokens, cm.Observed | None)
    assert_type(peaks.by_hat["builder"].used_tokens, int | None)
    assert_type(peaks.by_key["7"].used_percent, float | None)
    assert_type(peaks.to_dict(), dict[str, Any])
    assert_type(cm.Peaks.from_dict({}), cm.Peaks)


def peaks_are_a_value(peaks: cm.Peaks, observation: cm.Observation) -> None:
    peaks.current = None  # type: ignore[misc]
    peaks.by_hat["builder"] = track.Highest()  # type: ignore[index]
    peaks.updated(observation, "builder")  # type: ignore[call-arg]
    peaks.updated(None)  # type: ignore[arg-type]


def a_style_is_one_of_its_words(observation: cm.Observation) -> None:
    assert_type(render.summary(observation, style="ralph", percent="floor"), str)
    render.summary(observation, style="Ralph")  # type: ignore[arg-type]
    render.summary(observation, percent="ceil")  # type: ignore[arg-type]
    render.iteration_line(12_345, None, None, observation, style="default")
    render.iteration_line(None, 0.05, 3, observation)  # type: ignore[arg-type]


def an_event_takes_the_fields_in(observation: cm.Observation) -> dict[str, int | float | str]:
    return {"topic": "iteration.summary", **record.runner_event_fields(observation)}


def a_default_is_assumed_by_policy() -> None:
    assert_type(cm.RUNNER_DEFAULTS, Mapping[str, int])
    cm.Stream(claude.STREAM, policy=cm.Policy(assume_limits=cm.RUNNER_DEFAULTS))


def a_standing_count_is_asked_of_what_is_missing(missing: cm.Missing) -> None:
    assert_type(missing.standing_tokens, int | None)
    assert_type(missing.reason.is_about_limit, bool)
