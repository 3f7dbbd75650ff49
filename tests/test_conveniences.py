"""What people expect of values: texts in f-strings and on consoles, pickling, copying, sorting."""

from __future__ import annotations

import copy
import pickle
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from rich.console import Console
from rich.pretty import pretty_repr

import ctxmeasure as cm
from ctxmeasure import discover, record, registry, render
from ctxmeasure.testing import strategies

AT = datetime(2026, 11, 29, 18, tzinfo=UTC)
ROOT = Path(__file__).parent / "recordings"
CLAUDE = next((ROOT / "claude/b-tools/session").glob("*.jsonl"))


def observed(value: cm.Measurement, **changed: Any) -> cm.Observed:
    graded: dict[str, Any] = {
        "attestation": cm.Attestation.DERIVED,
        "confidence": cm.Confidence.EXACT,
        "completeness": cm.Completeness.EXACT,
        "provenance": cm.Provenance(adapter="codex", source="codex.rollout"),
    }
    return cm.Observed(value=value, **{**graded, **changed})


def tokens(used: int, limit: int = 200_000, **changed: Any) -> cm.Observed:
    value = cm.TokenMeasurement(used_tokens=used, limit_tokens=limit, measured_at=AT, method="m")
    return observed(value, **changed)


def percent(share: float) -> cm.Observed:
    return observed(cm.PercentMeasurement(used_percent=share, measured_at=AT, method="m"))


def missing(reason: str, **partial: Any) -> cm.Missing:
    return cm.Missing(
        reason=cm.MissingReason(reason),
        partial=cm.Partial(**partial) if partial else None,
        provenance=cm.Provenance(adapter="codex", source="codex.rollout"),
    )


LOW = cm.Confidence.LOW
ASSUMED = cm.Provenance(
    adapter="pi", source="pi.session", limit_basis=cm.LimitBasis.ASSUMED_DEFAULT
)


GRADED = "attestation='derived', confidence='exact', source='codex.rollout'"
LIMITED = "used_percent=55.0, limit_tokens=272000"


# -- texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("observation", "text"),
    [
        (tokens(90_000), "Context: 45% (90K/200K)"),
        (tokens(90_000, confidence=LOW), "Context: ~45% (90K/200K)"),
        (tokens(90_000, provenance=ASSUMED), "Context: ~45% (90K/200K assumed)"),
        (percent(63.5), "Context: 63.5%"),
        (missing("compacted"), "Context: not known (compacted)"),
        (missing("model_unknown", used_tokens=90_000), "Tokens: 90K (model_unknown)"),
        (missing("sample_stale", used_tokens=90_000), "Context: not known (sample_stale)"),
    ],
)
def test_the_text_of_an_observation_is_its_summary(observation: cm.Observation, text: str) -> None:
    assert (str(observation), f"{observation}", f"{observation:>40}") == (text, text, f"{text:>40}")


@given(strategies.observed())
def test_the_text_of_a_measurement_is_what_render_says(observation: cm.Observed) -> None:
    assert str(observation) == render.summary(observation)


@given(strategies.observations())
def test_the_text_of_an_observation_is_one_printable_line(observation: cm.Observation) -> None:
    assert str(observation).isprintable()


def test_a_rich_console_prints_the_summary() -> None:
    console = Console(file=StringIO(), width=80)
    console.print(tokens(90_000), missing("compacted"))
    assert console.file.getvalue() == "Context: 45% (90K/200K) Context: not known (compacted)\n"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("observation", "told"),
    [
        (
            tokens(90_000),
            f"Observed(used_tokens=90000, limit_tokens=200000, {GRADED})",
        ),
        (
            percent(63.5),
            f"Observed(used_percent=63.5, {GRADED})",
        ),
        (missing("compacted"), "Missing(reason='compacted', source='codex.rollout')"),
        (
            missing("sources_disagree", used_tokens=0, used_percent=55, limit_tokens=272_000),
            f"Missing(reason='sources_disagree', used_tokens=0, {LIMITED}, source='codex.rollout')",
        ),
    ],
)
def test_a_repr_is_short_and_rich_shows_the_same(observation: cm.Observation, told: str) -> None:
    assert repr(observation) == told
    assert pretty_repr(observation, max_width=200) == told


@given(strategies.observations())
def test_every_repr_is_printable(observation: cm.Observation) -> None:
    assert repr(observation).isprintable()


# -- pickling and copying -------------------------------------------------------------------------


def doubled(value: Any) -> list[Any]:
    return [pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)]  # noqa: S301 - our own


@given(strategies.observations())
def test_every_observation_survives_pickling_and_copying(observation: cm.Observation) -> None:
    assert doubled(observation) == [observation] * 3
    witnesses = {again.provenance.witness for again in doubled(observation)}
    assert witnesses == {observation.provenance.witness}


def peaks() -> cm.Peaks:
    return (
        cm.Peaks().updated(tokens(90_000), hat="builder", key="1").updated(percent(50.0), hat="x")
    )


def resolver(_: cm.ModelRef) -> int:
    return 200_000


VALUES = [
    cm.Policy(),
    cm.Policy(assume_limits=cm.RUNNER_DEFAULTS, max_age=timedelta(1), resolver=resolver),
    cm.RUNNER_DEFAULTS,
    peaks(),
    cm.KnownDatabases(),
    cm.Query(at=AT, session_id="s", model="claude-opus-4-6[1m]"),
    cm.ReadBudget(),
    cm.ReadStats(bytes_read=1),
    cm.Witness(b"\x07" * 32),
    discover.Machine(system=discover.System.LINUX, home="/home/u", environment={"A": "b"}),
    discover.ListingBudget(),
    discover.find_sessions(discover.Machine(system=discover.System.LINUX, home="/nowhere")),
    *cm.MissingReason,
    *cm.Phase,
    *registry.sources(),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_every_public_value_survives_pickling_and_copying(value: Any) -> None:
    assert doubled(value) == [value] * 3


def test_a_handle_can_be_asked_in_another_process(tmp_path: Path) -> None:
    project = tmp_path / ".claude/projects/p"
    project.mkdir(parents=True)
    (project / "s.jsonl").write_bytes(CLAUDE.read_bytes())
    machine = discover.Machine(system=discover.System.LINUX, home=str(tmp_path))
    (session,) = discover.find_sessions(machine).sessions
    for again in doubled(session.handle):
        assert again.observe(at=AT + timedelta(hours=2)) == cm.observe(
            "claude.transcript", CLAUDE, at=AT + timedelta(hours=2)
        )


# -- sorting --------------------------------------------------------------------------------------


def test_the_fullest_comes_first_and_what_is_missing_last() -> None:
    ordered: list[cm.Observation] = [
        tokens(250_000),
        percent(99.0),
        tokens(400_000, 1_000_000),
        percent(12.5),
        tokens(0),
        missing("model_unknown", used_tokens=180_000),
        missing("window_ambiguous", used_tokens=90_000),
        missing("compacted"),
    ]
    backwards = ordered[::-1]
    assert sorted(backwards, key=cm.pressure) == ordered


@given(strategies.observations(), strategies.observations())
def test_any_two_observations_can_be_compared(one: cm.Observation, other: cm.Observation) -> None:
    assert (cm.pressure(one) <= cm.pressure(other)) or (cm.pressure(other) <= cm.pressure(one))
    if isinstance(one, cm.Observed) and isinstance(other, cm.Missing):
        assert cm.pressure(one) < cm.pressure(other)


def test_a_wire_form_has_the_pressure_of_what_it_was_made_of() -> None:
    observation = tokens(90_000)
    assert cm.pressure(record.loads(record.dumps(observation))) == cm.pressure(observation)


def test_what_is_no_observation_has_no_pressure() -> None:
    with pytest.raises(TypeError, match=r"^observation: expected an Observed or a Missing$"):
        cm.pressure("45%")  # type: ignore[arg-type]
