"""What is followed: which files are read again, and when a session crosses a line."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from homes import AT, Home
from hypothesis import given
from hypothesis import strategies as st

import ctxmeasure as cm
from ctxmeasure.cli import board as module
from ctxmeasure.cli.board import REARMED_BELOW, Alerts, Board
from ctxmeasure.cli.overview import share
from ctxmeasure.discover import Discovery, Handle, find_sessions

HANDLE, OTHER = (Handle(source="s", path="", key=key) for key in "ab")


# -- alerts ---------------------------------------------------------------------------------------


def percent(part: float) -> cm.Observed:
    return cm.Observed(
        value=cm.PercentMeasurement(used_percent=part, measured_at=AT, method="m"),
        attestation=cm.Attestation.NATIVE,
        confidence=cm.Confidence.EXACT,
        completeness=cm.Completeness.PERCENTAGE_ONLY,
        provenance=cm.Provenance(adapter="a", source="s"),
    )


def missing(reason: str) -> cm.Missing:
    provenance = cm.Provenance(adapter="a", source="s")
    return cm.Missing(reason=cm.MissingReason(reason), provenance=provenance)


def crossings(*seen: float | str, line: float = 80.0) -> list[bool]:
    alerts = Alerts(line)
    observations = [missing(s) if isinstance(s, str) else percent(s) for s in seen]
    return [alerts.crossed(HANDLE, observation) for observation in observations]


@pytest.mark.parametrize(
    ("seen", "crossed"),
    [
        ([79.9, 80, 81, 99], [False, True, False, False]),
        ([95], [True]),
        ([81, 79, 81, 76, 82], [True, False, False, False, False]),
        ([81, 74.9, 81], [True, False, True]),
        ([81, "compacted", 81], [True, False, True]),
        ([81, "rewound", 20, 81], [True, False, False, True]),
        ([81, "sample_stale", 81], [True, False, False]),
        ([81, "source_busy", 74, 81], [True, False, False, True]),
    ],
)
def test_a_session_crosses_the_line_once_until_it_has_come_well_back(
    seen: list[float | str], crossed: list[bool]
) -> None:
    assert crossings(*seen) == crossed


def test_each_session_has_a_line_of_its_own() -> None:
    alerts = Alerts(80.0)
    assert [alerts.crossed(handle, percent(90)) for handle in (HANDLE, OTHER, HANDLE)] == [
        True,
        True,
        False,
    ]


@given(st.lists(st.floats(0, 100)), st.floats(1, 100))
def test_between_two_alerts_the_share_fell_well_below_the_line(
    shares: list[float], line: float
) -> None:
    crossed = crossings(*shares, line=line)
    at = [n for n, is_crossing in enumerate(crossed) if is_crossing]
    assert all(shares[n] >= line for n in at)
    for one, next_one in pairwise(at):
        assert min(shares[one:next_one]) < line - REARMED_BELOW
    assert bool(at) == any(part >= line for part in shares)


@pytest.mark.parametrize("whole", range(101))
def test_a_share_on_the_line_has_crossed_it(whole: int) -> None:
    tokens = cm.TokenMeasurement(
        used_tokens=2_000 * whole, limit_tokens=200_000, measured_at=AT, method="m"
    )
    assert share(evolve(percent(0), value=tokens)) == whole
    assert share(percent(whole)) == whole


# -- the board ------------------------------------------------------------------------------------


class Watched:
    """A board over a home, which counts how often it looked for sessions."""

    def __init__(self, home: Home, **asked: Any) -> None:
        self.home = home
        self.asked = asked
        self.looks = 0
        self.board = Board(self.look, lambda found: found.sessions)

    def look(self, _: datetime) -> Discovery:
        self.looks += 1
        return find_sessions(self.home.machine(), **self.asked)

    def anew(self, at: datetime = AT) -> list[str]:
        return sorted(str(seen.observation) for seen in self.board.look_anew(at))

    def touched(self, *paths: Path | str, at: datetime = AT) -> list[str]:
        seen = self.board.touched(map(str, paths), at)
        return sorted(str(one.observation) for one in seen)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def append(path: Path, recorded: Path) -> None:
    with path.open("ab") as file:
        file.write(recorded.read_bytes())


def test_at_first_every_session_is_news_and_then_none_is(home: Home) -> None:
    home.claude()
    home.codex()
    watched = Watched(home)
    assert watched.board.folders() == []
    assert watched.anew() == ["Context: 5% (13K/258K)", "Context: 8% (16K/200K)"]
    assert watched.anew() == []
    assert str(home.path / ".claude/projects") in watched.board.folders()


def test_only_the_file_that_was_written_to_is_read_again(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other = home.claude(name="a"), home.claude("h-tui-1m", "b")
    watched = Watched(home)
    watched.anew()
    asked: list[Handle] = []
    observe = Handle.observe

    def noting(handle: Handle, **question: Any) -> cm.Observation:
        asked.append(handle)
        return observe(handle, **question)

    monkeypatch.setattr(Handle, "observe", noting)
    append(path, other)
    assert watched.touched(path) == ["Context: 25% (250K/1M)"]
    assert [handle.path for handle in asked] == [str(path)]
    assert watched.looks == 1


def test_a_write_that_changes_no_number_is_no_news(home: Home) -> None:
    path = home.claude()
    watched = Watched(home)
    watched.anew()
    with path.open("ab") as file:
        file.write(b'{"type":"queue-operation"}\n')
    assert watched.touched(path, at=AT + timedelta(minutes=1)) == []
    (seen,) = watched.board.seen.values()
    assert seen.session.modified_at == AT + timedelta(minutes=1)


def test_a_session_is_called_by_its_project_once_its_file_names_the_folder(home: Home) -> None:
    path = home.claude()
    rows = path.read_bytes().splitlines(keepends=True)
    (named,) = [n for n, row in enumerate(rows) if b'"cwd"' in row][:1]
    path.write_bytes(b"".join(rows[:named]))
    watched = Watched(home)
    watched.anew()
    assert [seen.session.project for seen in watched.board.seen.values()] == [None]
    at = AT + timedelta(minutes=1)
    path.write_bytes(b"".join(rows))
    (changed,) = watched.board.touched([str(path)], at)
    (seen,) = watched.board.seen.values()
    assert changed.session.project == seen.session.project == "project"
    assert watched.touched(path) == []
    assert watched.looks == 2


def test_a_new_file_is_looked_for(home: Home) -> None:
    home.claude()
    watched = Watched(home)
    watched.anew()
    assert watched.touched(home.codex()) == ["Context: 5% (13K/258K)"]
    assert watched.looks == 2


def test_a_file_that_is_no_sessions_is_looked_for_once(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.claude()
    watched = Watched(home)
    watched.anew()
    for _ in range(3):
        assert watched.touched(home.path / "notes.txt") == []
    assert watched.looks == 2
    monkeypatch.setattr(module, "_MOST_PASSED_OVER", 0)
    watched.touched(home.path / "more.txt")
    assert watched.board._passed_over == {str(home.path / "more.txt")}


def test_a_session_that_was_removed_is_forgotten(home: Home) -> None:
    path = home.claude()
    watched = Watched(home)
    watched.anew()
    path.unlink()
    assert watched.anew() == []
    assert watched.board.seen == {}


def test_a_session_that_was_written_to_between_two_looks_is_read_again(home: Home) -> None:
    path, other = home.claude(name="a"), home.claude("h-tui-1m", "b")
    watched = Watched(home)
    watched.anew()
    append(path, other)
    home.stamp(path, age=timedelta(0))
    assert watched.anew() == ["Context: 25% (250K/1M)"]


def test_the_journal_of_a_store_is_the_stores(home: Home) -> None:
    path = home.cursor_chat(used=20_000)
    newer = home.cursor_chat(used=200_000)
    watched = Watched(home)
    watched.anew()
    newer.replace(path)
    assert watched.touched(f"{path}-wal") == ["Context: 78% (200K/256K)"]
    assert watched.looks == 1


def chat(name: str, updated: int) -> dict[str, Any]:
    return {"composerId": name, "lastUpdatedAt": updated}


def document(name: str, used: int) -> dict[str, Any]:
    counts = {"contextTokensUsed": used, "contextTokenLimit": 200_000}
    return {"composerId": name, "lastUpdatedAt": 1_795_953_600_000, **counts}


def test_of_a_database_of_many_chats_each_that_changed_is_news_whatever_time_the_list_says(
    home: Home,
) -> None:
    documents = {"one": document("one", 50_000), "two": document("two", 20_000)}
    path = home.cursor_ide(chat("one", 1000), chat("two", 1000), documents=documents)
    watched = Watched(home)
    assert watched.anew() == ["Context: 10% (20K/200K)", "Context: 25% (50K/200K)"]
    path.unlink()
    documents = {"one": document("one", 150_000), "two": document("two", 40_000)}
    home.cursor_ide(chat("one", 2000), chat("two", 1000), documents=documents)
    changed = ["Context: 20% (40K/200K)", "Context: 75% (150K/200K)"]
    assert watched.touched(f"{path}-journal") == changed
    assert watched.touched(path) == []
    assert watched.looks == 3  # its chats can only be told apart by looking


# -- what a time, a name or a first look does not tell -------------------------------------------


def test_a_session_that_goes_back_in_time_is_read_again(home: Home) -> None:
    path, other = home.claude(name="a"), home.claude("h-tui-1m", "b", minutes=5)
    watched = Watched(home)
    watched.anew()
    other.replace(path)  # an older file, or a clock that was set back
    assert watched.anew() == ["Context: 25% (250K/1M)"]
    assert watched.anew() == []


def test_what_a_session_is_called_is_read_once_it_is_written(home: Home) -> None:
    path = home.claude()
    content = path.read_bytes()
    path.write_bytes(b"")
    watched = Watched(home)
    assert watched.anew() == ["Context: not known (session_not_found)"]
    path.write_bytes(content)
    assert watched.touched(path) == ["Context: 8% (16K/200K)"]
    (seen,) = watched.board.seen.values()
    assert seen.session.project == "project"


def test_a_subagents_file_that_was_empty_at_first_is_not_taken_for_a_session(home: Home) -> None:
    home.codex("f-subagent")
    contents = {path: path.read_bytes() for path in home.written}
    for path in contents:
        path.write_bytes(b"")
    watched = Watched(home)
    watched.anew()
    for path, content in contents.items():
        path.write_bytes(content)
    assert watched.touched(*contents) == ["Context: 6% (16K/258K)"]
    assert len(watched.board.seen) == 1


def test_a_sample_from_the_future_is_read_again_when_its_time_has_come(home: Home) -> None:
    home.claude()
    watched = Watched(home)
    early = AT - timedelta(days=100)
    at = [early, AT]
    observed = [[str(one.observation) for one in watched.board.look_anew(moment)] for moment in at]
    assert observed == [["Context: not known (sample_from_future)"], ["Context: 8% (16K/200K)"]]


def test_files_are_known_by_any_spelling_of_their_path(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home.codex()
    monkeypatch.chdir(home.path)
    machine = home.machine({"CODEX_HOME": "../home/.codex"})
    looks: list[datetime] = []

    def look(at: datetime) -> Discovery:
        looks.append(at)
        return find_sessions(machine, agents=["codex"])

    board = Board(look, lambda found: found.sessions)
    board.look_anew(AT)
    append(path, path)
    for _ in range(2):
        board.touched([str(path)], AT)
    assert len(looks) == 1


def test_a_session_that_is_seen_because_another_is_gone_is_not_written_to(home: Home) -> None:
    home.claude(name="a", minutes=60)
    newer = home.claude(name="b")
    watched = Watched(home, limit=1)
    watched.anew()
    newer.unlink()
    (idle,) = watched.board.look_anew(AT)
    assert not watched.board.is_written_to(idle.session)
    watched.touched(idle.session.handle.path)
    assert watched.board.is_written_to(idle.session)
    home.claude("h-tui-1m", name="c", minutes=0)
    (new,) = watched.board.look_anew(AT)
    assert watched.board.is_written_to(new.session)
