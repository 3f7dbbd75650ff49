from __future__ import annotations

import json
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.bounded.budget import ReadFault
from ctxmeasure.measurement import TokenMeasurement
from ctxmeasure.observation import (
    Attestation,
    Completeness,
    Confidence,
    Missing,
    MissingReason,
    Observed,
    Provenance,
    Witness,
)
from ctxmeasure.testing.strategies import missing, observed
from ctxmeasure.track import WitnessLog

KEY = b"key"
WRONG: Any = object()
"""Of no type that is expected."""
PROVENANCE = Provenance(adapter="claude", source="claude.transcript")


def sample(name: str | None) -> Observed:
    """Return an observation of the sample called *name*; None has no witness."""
    witness = None if name is None else Witness(name.encode())
    return Observed(
        value=TokenMeasurement(
            used_tokens=1, limit_tokens=2, measured_at=datetime(2026, 1, 1, tzinfo=UTC), method="m"
        ),
        attestation=Attestation.DERIVED,
        confidence=Confidence.EXACT,
        completeness=Completeness.EXACT,
        provenance=evolve(PROVENANCE, witness=witness),
    )


MISSING = Missing(reason=MissingReason.SOURCE_ABSENT, provenance=PROVENANCE)


def published(*names: str | None, log: WitnessLog | None = None) -> list[bool]:
    """Return which of the samples are published, each with a log that was written down."""
    log = WitnessLog() if log is None else log
    answers = []
    for name in names:
        log = WitnessLog.from_dict(json.loads(json.dumps(log.to_dict())))
        log, is_new = log.publish(sample(name), key=KEY)
        answers.append(is_new)
    return answers


def test_a_sample_is_published_once() -> None:
    assert published("a", "a", "b", "b") == [True, False, True, False]


def test_a_sample_that_comes_back_behind_another_is_not_published_again() -> None:
    assert published("a", "b", "a") == [True, True, False]


def test_a_sample_that_nothing_singles_out_is_always_published() -> None:
    assert published(None, None) == [True, True]


def test_a_missing_one_is_published_and_neither_compared_nor_remembered() -> None:
    log, _ = WitnessLog().publish(sample("a"), key=KEY)
    assert log.publish(MISSING, key=KEY) == (log, True)


def test_only_the_last_are_remembered_and_seeing_one_again_makes_it_one_of_them() -> None:
    assert published("a", "b", "c", "a", log=WitnessLog(2)) == [True, True, True, True]
    assert published("a", "b", "a", "c", "a", log=WitnessLog(2)) == [True, True, False, True, False]


def test_under_another_key_nothing_is_known() -> None:
    log, _ = WitnessLog().publish(sample("a"), key=KEY)
    assert log.publish(sample("a"), key=b"other")[1]


def test_what_a_ledger_has_is_known_without_having_been_asked_for() -> None:
    record_id = Witness(b"a").source_record_id(KEY)
    log = WitnessLog().with_published([record_id])
    assert record_id in log
    assert log.publish(sample("a"), key=KEY) == (log, False)


def test_nothing_but_keyed_ids_is_written() -> None:
    log, _ = WitnessLog().publish(sample("a"), key=KEY)
    assert log.to_dict() == {
        "capacity": 256,
        "record_ids": [f"hid_{Witness(b'a').public_id(KEY)}"],
    }


@given(st.lists(st.integers(0, 8)), st.integers(9, 20))
def test_every_sample_is_published_at_most_once_in_any_order(
    names: list[int], capacity: int
) -> None:
    answers = published(*map(str, names), log=WitnessLog(capacity))
    first = [name not in names[:place] for place, name in enumerate(names)]
    assert answers == first


@given(st.lists(observed() | missing()), st.binary(min_size=1))
def test_a_log_of_anything_comes_back_as_it_was(observations: list[Any], key: bytes) -> None:
    log = WitnessLog(3)
    for observation in observations:
        log, _ = log.publish(observation, key=key)
    assert WitnessLog.from_dict(json.loads(json.dumps(log.to_dict()))) == log


def test_a_log_is_saved_for_its_owner_only_and_loaded(tmp_path: Path) -> None:
    log, _ = WitnessLog().publish(sample("a"), key=KEY)
    path = tmp_path / "log.json"
    assert WitnessLog.load(path) is ReadFault.ABSENT
    assert log.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert WitnessLog.load(path) == log
    assert not log.save(tmp_path / "no" / "log.json")


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"capacity": 1, "record_ids": ["a", "b"]}']
)
def test_a_damaged_log_is_no_empty_one(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(content)
    assert WitnessLog.load(path) is ReadFault.MALFORMED


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (TypeError, "^capacity: ", lambda: WitnessLog(WRONG)),
        (ValueError, "^capacity: ", lambda: WitnessLog(0)),
        (TypeError, "^observation: ", lambda: WitnessLog().publish(WRONG, key=KEY)),
        (TypeError, "^key: ", lambda: WitnessLog().publish(sample("a"), key=WRONG)),
        (ValueError, "^key: ", lambda: WitnessLog().publish(sample("a"), key=b"")),
        (TypeError, "^record_ids: ", lambda: WitnessLog().with_published([WRONG])),
    ],
)
def test_wrong_arguments_are_named(error: type[Exception], message: str, call: Any) -> None:
    with pytest.raises(error, match=message):
        call()
