"""The newest measurement of several databases, and what keeps it from being known."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import ctxmeasure as cm
from ctxmeasure.bounded.keys import Key, KeyValues
from ctxmeasure.evidence import Channel, Evidence, Gap, NeedKeys, Origin, Query, UsedPercent
from ctxmeasure.newest import KnownDatabases, observe_newest
from ctxmeasure.source import StoreSource
from ctxmeasure.testing import databases

START = datetime(2026, 11, 29, 18, 0, tzinfo=UTC)
AT = START + timedelta(hours=1)
ASKED = Query(at=AT, session_id="session")

PERCENT, REASON, SECOND = (Key("ItemTable", name) for name in ("percent", "reason", "second"))
KEYS = (PERCENT, REASON, SECOND)


def extract(values: KeyValues, _: Query) -> Evidence | NeedKeys:
    percent, reason, second = (values.get(key) for key in KEYS)
    if percent is None:
        return NeedKeys(KEYS, Gap(reason=cm.MissingReason.BUDGET_EXHAUSTED))
    if isinstance(reason, bytes):
        return Gap(reason=cm.MissingReason(reason.decode()))
    assert isinstance(percent, bytes)
    assert isinstance(second, bytes)
    moment = START + timedelta(seconds=int(second))
    return UsedPercent(used_percent=float(percent), measured_at=moment)


STORE = StoreSource(
    origin=Origin(adapter="test", source="test.store", method="test", channel=Channel.LAGGING),
    about="A store of a test",
    extract=extract,
)


class Folder:
    """Databases that say what they are told to, each written to at a second of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def holding(self, percent: float, *, measured: int, modified: int) -> Path:
        return self._write({"percent": percent, "second": measured}, modified)

    def without(self, reason: str, *, modified: int) -> Path:
        return self._write({"percent": 0, "reason": reason}, modified)

    def _write(self, items: databases.Rows, modified: int) -> Path:
        path = self.path / f"{len(list(self.path.iterdir()))}.db"
        databases.write(path, {"ItemTable": items})
        moment = (START + timedelta(seconds=modified)).timestamp()
        os.utime(path, (moment, moment))
        return path


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def said(*paths: Path, **asked: Any) -> float | str:
    observation, _ = observe_newest(STORE, paths, **{"query": ASKED, **asked})
    if isinstance(observation, cm.Missing):
        return observation.reason.value
    assert isinstance(observation.value, cm.PercentMeasurement)
    return observation.value.used_percent


def test_the_newest_measurement_wins_whatever_the_order(folder: Folder) -> None:
    old = folder.holding(10, measured=1, modified=9)
    new = folder.holding(20, measured=2, modified=8)
    assert said(old, new) == said(new, old) == 20


def test_databases_that_say_nothing_of_the_session_are_passed_over(folder: Folder) -> None:
    reasons = (
        "session_mismatch",
        "session_not_found",
        "schema_unknown",
        "superseded",
        "source_malformed",
    )
    others = [folder.without(reason, modified=50) for reason in reasons]
    assert said(*others, folder.holding(10, measured=1, modified=9)) == 10


def test_two_values_of_one_moment_are_ambiguous(folder: Folder) -> None:
    one = folder.holding(10, measured=1, modified=9)
    other = folder.holding(20, measured=1, modified=8)
    assert said(one, other) == "session_ambiguous"
    assert said(one, other, query=Query(at=AT)) == "session_ambiguous"


def test_two_equal_values_of_one_moment_are_one(folder: Folder) -> None:
    one = folder.holding(10, measured=1, modified=9)
    assert said(one, folder.holding(10, measured=1, modified=8)) == 10


@pytest.mark.parametrize("reason", ["not_measured_yet", "source_busy", "sources_disagree"])
def test_a_database_written_to_since_has_the_last_word(folder: Folder, reason: str) -> None:
    measured = folder.holding(10, measured=5, modified=5)
    assert said(measured, folder.without(reason, modified=6)) == reason
    assert said(measured, folder.without(reason, modified=4)) == 10


def test_the_last_written_database_without_a_measurement_gives_the_reason(folder: Folder) -> None:
    older = folder.without("source_busy", modified=4)
    newer = folder.without("not_measured_yet", modified=5)
    assert said(older, newer, folder.without("session_mismatch", modified=6)) == "not_measured_yet"


def test_only_the_most_recently_written_are_opened(folder: Folder) -> None:
    paths = [folder.holding(n, measured=n, modified=100 - n) for n in range(1, 10)]
    assert said(*paths) == 8
    assert said(*paths, limit=9) == 9
    assert said(*paths, limit=1) == 1


def test_a_session_beyond_the_limit_is_not_called_absent(folder: Folder) -> None:
    elsewhere = [folder.without("session_mismatch", modified=n) for n in (7, 8, 9)]
    old = folder.holding(10, measured=1, modified=1)
    assert said(*elsewhere, old, limit=3) == "budget_exhausted"
    assert said(*elsewhere, limit=3) == "session_not_found"


def test_a_single_database_says_itself_what_it_lacks(folder: Folder) -> None:
    assert said(folder.without("superseded", modified=1)) == "superseded"


def test_no_database_is_an_absent_source(tmp_path: Path) -> None:
    assert said() == said(tmp_path / "none.db", tmp_path) == "source_absent"
    observation, known = observe_newest(STORE, [], query=ASKED)
    assert observation.provenance.source == "test.store"
    assert known == KnownDatabases()


# -- what is remembered ---------------------------------------------------------------------------


def test_the_database_of_a_session_is_asked_first_and_alone(folder: Folder) -> None:
    path = folder.holding(10, measured=1, modified=9)
    _, known = observe_newest(STORE, [path], query=ASKED)
    assert known.holding(STORE, ASKED) == path
    newer = folder.holding(20, measured=2, modified=10)
    assert said(newer, path, known=known) == 10
    assert said(newer, path) == 20


def test_what_is_remembered_is_of_one_session_and_among_the_paths(folder: Folder) -> None:
    path = folder.holding(10, measured=1, modified=9)
    _, known = observe_newest(STORE, [path], query=ASKED)
    newer = folder.holding(20, measured=2, modified=10)
    another = Query(at=AT, session_id="another")
    assert known.holding(STORE, another) is None
    assert said(newer, path, known=known, query=another) == 20
    assert said(newer, known=known) == 20


@pytest.mark.parametrize("reason", ["superseded", "session_not_found", "source_malformed"])
def test_a_database_that_lost_its_session_is_searched_past(folder: Folder, reason: str) -> None:
    lost = folder.without(reason, modified=9)
    known = KnownDatabases().with_found(STORE, ASKED, lost)
    found = folder.holding(20, measured=2, modified=1)
    observation, after = observe_newest(STORE, [lost, found], query=ASKED, known=known)
    assert isinstance(observation, cm.Observed)
    assert after.holding(STORE, ASKED) == found
    assert known.holding(STORE, ASKED) == lost


def test_a_remembered_database_that_is_busy_is_not_searched_past(folder: Folder) -> None:
    busy = folder.without("source_busy", modified=1)
    known = KnownDatabases().with_found(STORE, ASKED, busy)
    newer = folder.holding(20, measured=2, modified=10)
    assert said(busy, newer, known=known) == "source_busy"


def test_nothing_is_remembered_of_a_missing_reading_or_of_no_session(folder: Folder) -> None:
    unmeasured = folder.without("not_measured_yet", modified=9)
    _, known = observe_newest(STORE, [unmeasured], query=ASKED)
    assert known == KnownDatabases()
    measured = folder.holding(20, measured=2, modified=10)
    _, known = observe_newest(STORE, [measured], query=Query(at=AT))
    assert known == KnownDatabases()


def test_what_is_remembered_shows_no_path_and_no_session() -> None:
    known = KnownDatabases().with_found(STORE, ASKED, "/home/u/chat.db")
    assert repr(known) == "KnownDatabases()"


@pytest.mark.parametrize(
    ("wrong", "error", "names"),
    [
        ({"source": "test.store"}, TypeError, "source"),
        ({"query": None}, TypeError, "query"),
        ({"limit": 0}, ValueError, "limit"),
        ({"limit": True}, TypeError, "limit"),
        ({"limit": 8.0}, TypeError, "limit"),
        ({"paths": [b"chat.db"]}, TypeError, "data"),
    ],
)
def test_a_wrong_argument_is_named(
    wrong: dict[str, Any], error: type[Exception], names: str
) -> None:
    asked = {"source": STORE, "paths": [], "query": ASKED, **wrong}
    with pytest.raises(error, match=f"^{names}: expected"):
        observe_newest(asked.pop("source"), asked.pop("paths"), **asked)
