"""A runner's defaults: taken only when asked for, graded low, and visible wherever they show."""

from __future__ import annotations

import json

import pytest
from claude_frames import AT

import ctxmeasure as cm
from ctxmeasure import RUNNER_DEFAULTS, Peaks, Policy, claude, record, render
from ctxmeasure.cli.output import say_explanation, say_observation, say_peak, say_summary
from ctxmeasure.testing.claude.frames import assistant

ASSUMING = Policy(assume_limits=RUNNER_DEFAULTS)


def streamed(policy: Policy, *, model: str = "a-model-of-the-house") -> cm.Stream:
    stream = cm.Stream(claude.STREAM, policy=policy)
    stream.feed(json.dumps(assistant(90_000, message={"model": model})), at=AT)
    return stream


def assumed() -> cm.Observed:
    observation = streamed(ASSUMING).latest
    assert isinstance(observation, cm.Observed)
    return observation


def test_nothing_is_assumed_unless_it_is_asked_for() -> None:
    observation = streamed(Policy()).latest
    assert isinstance(observation, cm.Missing)
    assert observation.reason is cm.MissingReason.MODEL_UNKNOWN


def test_an_assumed_limit_is_graded_low() -> None:
    observation = assumed()
    assert observation.confidence is cm.Confidence.LOW
    assert observation.attestation is cm.Attestation.INFERRED
    assert observation.completeness is cm.Completeness.INFERRED
    assert observation.provenance.limit_basis is cm.LimitBasis.ASSUMED_DEFAULT
    assert observation.value.method.endswith("_assumed_limit")


def test_a_known_window_goes_before_an_assumed_one() -> None:
    observation = streamed(ASSUMING, model="claude-opus-5").latest
    assert render.summary(observation) == "Context: 9% (90K/1M)"


@pytest.mark.parametrize(
    "text",
    [
        render.summary(assumed()),
        render.summary(assumed(), percent="floor"),
        render.summary(assumed(), style="ralph"),
        render.iteration_line(1, None, None, assumed()),
        render.iteration_line(1, 0.1, 2, assumed(), style="default", percent="floor"),
    ],
)
def test_an_assumed_limit_is_visible_in_every_line(text: str) -> None:
    assert text.endswith("Context: ~45% (90K/200K assumed)")


def test_an_assumed_limit_is_visible_in_every_other_form() -> None:
    observation = assumed()
    assert render.gauge(observation) == "[~~~~------]"
    assert "The limit is a default that the caller chose to assume." in render.explain(observation)
    assert record.to_dict(observation)["provenance"]["limit_basis"] == "assumed_default"
    fields = record.runner_event_fields(observation)
    assert fields["context_limit_basis"] == "assumed_default"
    assert fields["context_confidence"] == "low"


def test_an_assumed_limit_is_visible_in_what_the_command_line_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say_summary(assumed())
    say_peak(streamed(ASSUMING).peak)
    say_explanation(assumed(), at=AT)
    say_observation(assumed())
    summary, peak, *explanation, wire = capsys.readouterr().out.splitlines()
    assert summary == "Context: ~45% (90K/200K assumed)"
    assert peak == "Peak: ~45% (90K/200K assumed)"
    assert "The limit is a default that the caller chose to assume." in explanation
    assert '"limit_basis":"assumed_default"' in wire


def test_a_peak_remembers_that_its_limit_was_assumed() -> None:
    peaks = Peaks.from_dict(Peaks().updated(assumed(), hat="builder").to_dict())
    (seen,) = (held.tokens for held in peaks.by_hat.values())
    assert seen is not None
    assert render.summary(seen) == "Context: ~45% (90K/200K assumed)"
