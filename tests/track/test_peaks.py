"""Peaks: what was measured is never forgotten, and what was not measured changes nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure import record, track
from ctxmeasure.measurement import Measurement, PercentMeasurement, TokenMeasurement
from ctxmeasure.observation import (
    Attestation,
    Completeness,
    Confidence,
    Missing,
    MissingReason,
    Observed,
    Partial,
    Provenance,
)
from ctxmeasure.testing.strategies import (
    missing,
    observations,
    observed,
    percent_measurements,
    provenances,
    token_measurements,
)
from ctxmeasure.track import Highest, Peaks

AT = datetime(2026, 11, 29, 18, tzinfo=UTC)
PROVENANCE = Provenance(adapter="claude", source="claude.stream")
CHANGED = {MissingReason.COMPACTED, MissingReason.REWOUND, MissingReason.WINDOW_EXCEEDED}
COMPACTED = Missing(reason=MissingReason.COMPACTED, provenance=PROVENANCE)


def of(value: Measurement) -> Observed:
    return Observed(
        value=value,
        attestation=Attestation.NATIVE,
        confidence=Confidence.EXACT,
        completeness=Completeness.EXACT,
        provenance=PROVENANCE,
    )


def tokens(used: int, limit: int = 200_000) -> Observed:
    return of(
        TokenMeasurement(used_tokens=used, limit_tokens=limit, measured_at=AT, method="method")
    )


def percent(share: float) -> Observed:
    return of(PercentMeasurement(used_percent=share, measured_at=AT, method="method"))


steps = st.fixed_dictionaries(
    {
        "observation": observations(),
        "peak": st.none() | observations(),
        "hat": st.none() | st.sampled_from(["builder", "critic"]),
        "key": st.none() | st.text(st.characters(), min_size=1, max_size=3),
    }
)


def after(*taken: dict[str, Any]) -> Peaks:
    peaks = Peaks()
    for step in taken:
        peaks = peaks.updated(**step)
    return peaks


def peaks_() -> st.SearchStrategy[Peaks]:
    return st.lists(steps, max_size=3).map(lambda taken: after(*taken))


def seen_in(step: dict[str, Any]) -> list[Observed]:
    return [one for one in (step["peak"], step["observation"]) if isinstance(one, Observed)]


def used_tokens(seen: list[Observed]) -> list[int]:
    return [one.value.used_tokens for one in seen if isinstance(one.value, TokenMeasurement)]


def used_percents(seen: list[Observed]) -> list[float]:
    return [one.value.used_percent for one in seen if isinstance(one.value, PercentMeasurement)]


# -- updates --------------------------------------------------------------------------------------


def test_nothing_is_known_at_first() -> None:
    peaks = Peaks()
    assert peaks.current is None
    assert peaks.peak == Highest()
    assert peaks.peak.used_tokens is None
    assert peaks.peak.used_percent is None
    assert peaks.by_hat == {}
    assert peaks.by_key == {}


def test_the_current_and_the_peak_are_two_things() -> None:
    peaks = Peaks().updated(tokens(90_000)).updated(tokens(20_000))
    assert peaks.current == tokens(20_000)
    assert peaks.peak == Highest(tokens=tokens(90_000))


def test_an_iteration_gives_what_is_now_and_the_most_that_was() -> None:
    peaks = Peaks().updated(tokens(20_000), peak=tokens(150_000), hat="builder", key="7")
    assert peaks.current == tokens(20_000)
    assert peaks.peak.used_tokens == 150_000
    assert peaks.by_hat == {"builder": Highest(tokens=tokens(150_000))}
    assert peaks.by_key == {"7": Highest(tokens=tokens(150_000))}


def test_each_hat_and_each_key_has_its_own_peak() -> None:
    peaks = (
        Peaks()
        .updated(tokens(10_000), hat="builder", key="claude")
        .updated(tokens(25_000), hat="critic", key="claude")
        .updated(tokens(5_000), hat="builder", key="pi")
    )
    assert {hat: held.used_tokens for hat, held in peaks.by_hat.items()} == {
        "builder": 10_000,
        "critic": 25_000,
    }
    assert {key: held.used_tokens for key, held in peaks.by_key.items()} == {
        "claude": 25_000,
        "pi": 5_000,
    }


def test_a_measured_zero_is_a_measurement() -> None:
    peaks = Peaks().updated(tokens(0)).updated(percent(0))
    assert (peaks.peak.used_tokens, peaks.peak.used_percent) == (0, 0.0)


def test_a_peak_is_the_most_tokens_whatever_their_limit() -> None:
    nearly_full, nearly_empty = tokens(190_000, 200_000), tokens(200_000, 1_000_000)
    for order in ([nearly_full, nearly_empty], [nearly_empty, nearly_full]):
        peaks = Peaks().updated(order[0]).updated(order[1])
        assert peaks.peak.tokens == nearly_empty


def test_of_two_that_are_equally_full_the_newer_stays() -> None:
    peaks = Peaks().updated(tokens(90_000, 200_000)).updated(tokens(90_000, 1_000_000))
    assert peaks.peak.tokens == tokens(90_000, 1_000_000)
    newer = evolve(percent(45), confidence=Confidence.HIGH)
    assert Peaks().updated(percent(45)).updated(newer).peak.percent == newer


def test_tokens_and_shares_have_peaks_of_their_own() -> None:
    peaks = Peaks().updated(tokens(90_000), hat="h").updated(percent(10), hat="h")
    assert peaks.current == percent(10)
    assert peaks.peak == Highest(tokens=tokens(90_000), percent=percent(10))
    assert peaks.by_hat["h"] == peaks.peak


@pytest.mark.parametrize("reason", sorted(CHANGED))
def test_a_changed_context_ends_the_current_and_lowers_no_peak(reason: MissingReason) -> None:
    before = Peaks().updated(tokens(150_000), hat="builder")
    peaks = before.updated(Missing(reason=reason, provenance=PROVENANCE), hat="builder")
    assert peaks == evolve(before, current=None)
    assert peaks.updated(tokens(18_000)).current == tokens(18_000)


def test_an_iteration_that_ends_in_a_compaction_has_a_peak() -> None:
    peaks = Peaks().updated(COMPACTED, peak=tokens(180_000), hat="builder")
    assert peaks.current is None
    assert peaks.by_hat["builder"].used_tokens == 180_000


@pytest.mark.parametrize("reason", sorted(set(MissingReason) - CHANGED))
def test_a_missing_measurement_changes_nothing(reason: MissingReason) -> None:
    known = Partial(used_tokens=199_000, used_percent=99, limit_tokens=200_000)
    nothing = Missing(reason=reason, partial=known, provenance=PROVENANCE)
    before = Peaks().updated(tokens(90_000), hat="builder")
    assert before.updated(nothing, peak=nothing, hat="critic", key="7") == before


def test_a_missing_peak_leaves_the_current_to_count() -> None:
    assert Peaks().updated(tokens(5), peak=COMPACTED) == Peaks().updated(tokens(5))


@given(st.lists(steps, max_size=4))
def test_the_peak_is_the_most_of_all_that_was_observed(taken: list[dict[str, Any]]) -> None:
    peaks = after(*taken)
    seen = [one for step in taken for one in seen_in(step)]
    assert peaks.peak.used_tokens == max(used_tokens(seen), default=None)
    assert peaks.peak.used_percent == max(used_percents(seen), default=None)


@given(st.lists(steps, max_size=4), st.sampled_from(["hat", "key"]))
def test_a_name_holds_the_most_of_its_own(taken: list[dict[str, Any]], argument: str) -> None:
    peaks = after(*taken)
    by_name: dict[str, list[Observed]] = {}
    for step in taken:
        if step[argument] is not None and seen_in(step):
            by_name.setdefault(step[argument], []).extend(seen_in(step))
    held = peaks.by_hat if argument == "hat" else peaks.by_key
    assert {name: (one.used_tokens, one.used_percent) for name, one in held.items()} == {
        name: (max(used_tokens(seen), default=None), max(used_percents(seen), default=None))
        for name, seen in by_name.items()
    }


@given(st.lists(steps, max_size=4))
def test_the_current_is_the_last_since_the_context_changed(taken: list[dict[str, Any]]) -> None:
    current = None
    for observation in (step["observation"] for step in taken):
        if isinstance(observation, Observed):
            current = observation
        elif observation.reason in CHANGED:
            current = None
    assert after(*taken).current == current


@given(peaks_(), missing(), missing())
def test_no_missing_measurement_moves_a_peak(
    peaks: Peaks, observation: Missing, peak: Missing
) -> None:
    updated = peaks.updated(observation, peak=peak, hat="builder", key="7")
    assert evolve(updated, current=None) == evolve(peaks, current=None)


@given(peaks_(), steps)
def test_an_update_twice_is_an_update_once(peaks: Peaks, step: dict[str, Any]) -> None:
    once = peaks.updated(**step)
    assert once.updated(**step) == once


@given(peaks_(), steps)
def test_an_update_leaves_the_value_before_as_it_was(peaks: Peaks, step: dict[str, Any]) -> None:
    before = peaks.to_dict()
    peaks.updated(**step)
    assert peaks.to_dict() == before


@given(observed(token_measurements()), observed(percent_measurements()))
def test_neither_shape_becomes_the_other(counted: Observed, shared: Observed) -> None:
    assert Peaks().updated(counted).peak.percent is None
    assert Peaks().updated(shared).peak.tokens is None


# -- wrong arguments ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "wrong", "error"),
    [
        ("observation", None, TypeError),
        ("observation", tokens(1).value, TypeError),
        ("peak", tokens(1).value, TypeError),
        ("hat", 7, TypeError),
        ("hat", "", ValueError),
        ("key", 7, TypeError),
        ("key", "", ValueError),
    ],
)
def test_a_wrong_argument_of_an_update_is_named(
    argument: str, wrong: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match=f"^{argument}: "):
        Peaks().updated(**{"observation": tokens(1), argument: wrong})


@pytest.mark.parametrize(
    ("argument", "wrong", "error"),
    [
        ("current", COMPACTED, TypeError),
        ("peak", tokens(1), TypeError),
        ("peak", Highest(), ValueError),
        ("peak", Highest(tokens=tokens(1)), ValueError),
        ("peak", Highest(percent=percent(1)), ValueError),
        ("by_hat", [("secret", Highest(tokens=tokens(1)))], TypeError),
        ("by_hat", {"secret": tokens(1)}, TypeError),
        ("by_hat", {7: Highest(tokens=tokens(1))}, TypeError),
        ("by_hat", {"": Highest(tokens=tokens(1))}, ValueError),
        ("by_key", {"secret": Highest()}, ValueError),
    ],
)
def test_a_wrong_part_is_named_and_not_repeated(
    argument: str, wrong: Any, error: type[Exception]
) -> None:
    whole = Peaks().updated(tokens(5), hat="h").updated(percent(5))
    with pytest.raises(error, match=f"^{argument}") as refusal:
        evolve(whole, **{argument: wrong})
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    "part",
    [
        {"current": tokens(9)},
        {"current": percent(9)},
        {"by_hat": {"h": Highest(tokens=tokens(9))}},
        {"by_key": {"k": Highest(percent=percent(9))}},
    ],
)
def test_no_part_is_fuller_than_the_fullest_of_all(part: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^peak: expected the fullest of all"):
        Peaks(peak=Highest(tokens=tokens(8), percent=percent(8)), **part)


@pytest.mark.parametrize(
    ("argument", "wrong"),
    [
        ("tokens", percent(1)),
        ("percent", tokens(1)),
        ("tokens", COMPACTED),
        ("percent", 45),
    ],
)
def test_a_peak_has_its_own_shape(argument: str, wrong: Any) -> None:
    with pytest.raises(TypeError, match=f"^{argument}: "):
        Highest(**{argument: wrong})


def test_peaks_do_not_change_with_the_mapping_they_came_from() -> None:
    hats = {"h": Highest(tokens=tokens(1))}
    peaks = Peaks(peak=Highest(tokens=tokens(1)), by_hat=hats)
    hats.clear()
    assert peaks.by_hat == {"h": Highest(tokens=tokens(1))}
    with pytest.raises(TypeError):
        peaks.by_hat["h"] = Highest()  # type: ignore[index]


# -- the wire form --------------------------------------------------------------------------------


def test_what_is_not_known_is_not_written() -> None:
    assert Peaks().to_dict() == {}
    assert Peaks.from_dict({}) == Peaks()


def test_peaks_are_written_with_the_observations_that_set_them() -> None:
    peaks = Peaks().updated(percent(45)).updated(COMPACTED, peak=tokens(90_000), hat="builder")
    assert peaks.to_dict() == {
        "peak": {
            "tokens": record.to_dict(tokens(90_000)),
            "percent": record.to_dict(percent(45)),
        },
        "by_hat": {"builder": {"tokens": record.to_dict(tokens(90_000))}},
    }


@given(peaks_())
def test_what_was_written_is_read_back(peaks: Peaks) -> None:
    assert Peaks.from_dict(json.loads(json.dumps(peaks.to_dict()))) == peaks


@given(peaks_(), steps)
def test_a_continued_loop_goes_on_as_if_it_had_not_stopped(
    peaks: Peaks, step: dict[str, Any]
) -> None:
    assert Peaks.from_dict(peaks.to_dict()).updated(**step) == peaks.updated(**step)


@given(provenances())
def test_no_witness_is_written(provenance: Provenance) -> None:
    seen = evolve(tokens(5), provenance=provenance)
    bare = evolve(tokens(5), provenance=evolve(provenance, witness=None))
    assert Peaks().updated(seen).to_dict() == Peaks().updated(bare).to_dict()


def test_any_mapping_is_read() -> None:
    peaks = Peaks().updated(tokens(5), hat="h")
    assert Peaks.from_dict(MappingProxyType(peaks.to_dict())) == peaks


def changed(path: str, value: object) -> dict[str, Any]:
    """Return a wire form with the key at *path* set to *value*, or removed for `...`."""
    wire = Peaks().updated(tokens(5), hat="h", key="k").to_dict()
    *groups, key = path.split(".")
    target = wire
    for group in groups:
        target = target[group]
    if value is ...:
        del target[key]
    else:
        target[key] = value
    return wire


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("secret", 1),
        ("current", None),
        ("current", "secret"),
        ("current", {}),
        ("current", record.to_dict(COMPACTED)),
        ("current", record.to_dict(tokens(6))),
        ("current.provenance", ...),
        ("peak", ...),
        ("peak", None),
        ("peak", {}),
        ("peak", []),
        ("peak.secret", record.to_dict(tokens(5))),
        ("peak.percent", record.to_dict(tokens(5))),
        ("peak.tokens", record.to_dict(tokens(4))),
        ("peak.tokens.value.used_tokens", "secret"),
        ("peak.tokens.value.used_tokens", True),
        ("by_hat", {}),
        ("by_hat", []),
        ("by_hat", "secret"),
        ("by_hat.h", {}),
        ("by_hat.h", None),
        ("by_hat.h.tokens", record.to_dict(COMPACTED)),
        ("by_hat.h.tokens", record.to_dict(percent(5))),
        ("by_hat.h.tokens", None),
        ("by_key.", {"tokens": record.to_dict(tokens(5))}),
    ],
)
def test_a_form_that_is_never_written_is_refused_without_a_word_of_it(
    path: str, value: object
) -> None:
    with pytest.raises(ValueError, match=r"^wire: not the wire form of Peaks$") as refusal:
        Peaks.from_dict(changed(path, value))
    assert refusal.value.__context__ is None


def test_what_is_no_mapping_is_a_wrong_argument() -> None:
    with pytest.raises(TypeError, match=r"^wire: "):
        Peaks.from_dict([])  # type: ignore[arg-type]


# -- the room -------------------------------------------------------------------------------------


def run(code: str) -> str:
    """Return what *code* prints in a new process."""
    done = subprocess.run(  # noqa: S603 - our own interpreter, our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_module_of_the_room_is_imported_when_it_is_asked_for() -> None:
    asked = "'ctxmeasure.track.peaks' in sys.modules"
    said = run(f"import sys, ctxmeasure.track as t; print({asked}); t.Peaks; print({asked})")
    assert said.split() == ["False", "True"]


def test_a_name_that_is_not_there_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match=r"'ctxmeasure\.track' has no attribute 'nothing'"):
        track.nothing  # noqa: B018


def test_a_name_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in track.__all__:
        monkeypatch.delitem(vars(track), name, raising=False)
        found = getattr(track, name)
        assert vars(track)[name] is found
