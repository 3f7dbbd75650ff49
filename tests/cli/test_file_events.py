"""Which files were written to: as the system tells, and what happens where it cannot."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxmeasure.cli import file_events as module
from ctxmeasure.cli.file_events import LOOK_ANEW, TICK, file_events


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was slept; nobody waits."""
    durations: list[float] = []
    monkeypatch.setattr("time.sleep", durations.append)
    return durations


def telling(monkeypatch: pytest.MonkeyPatch, *rounds: Any) -> list[tuple[str, ...]]:
    """Let the system tell *rounds* of paths; return the list of what it was asked to watch."""
    watched: list[tuple[str, ...]] = []
    remaining = iter(rounds)

    def watch(*folders: str, **_: Any) -> Iterator[set[tuple[int, str]]]:
        watched.append(folders)
        told = next(remaining)
        if isinstance(told, OSError):
            raise told
        for paths in told:
            yield {(2, path) for path in paths}

    monkeypatch.setattr(module, "_watcher", lambda: watch)
    return watched


def test_the_files_are_told_and_without_any_everything_is_looked_at_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = telling(monkeypatch, [{"a", "b"}, set(), {"a"}])
    events = file_events(lambda: [str(tmp_path)])
    assert [next(events) for _ in range(3)] == [{"a", "b"}, LOOK_ANEW, {"a"}]
    assert watched == [(str(tmp_path),)]


def test_when_much_happens_everything_is_looked_at_anew_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    telling(monkeypatch, [{"a"}] * 4)
    clock = iter([0.0, 20.0, 31.0, 31.0, 50.0, 61.5, 61.5])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    events = file_events(lambda: [str(tmp_path)])
    told = [next(events) for _ in range(6)]
    assert told == [{"a"}, {"a"}, LOOK_ANEW, {"a"}, {"a"}, LOOK_ANEW]


def test_a_folder_that_appears_is_watched_and_everything_looked_at_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = telling(monkeypatch, [{"a"}], [{"b"}])
    later = tmp_path / "z"
    here = tmp_path / "a"
    here.mkdir()
    events = file_events(lambda: [str(later), str(here)])
    assert next(events) == {"a"}
    later.mkdir()
    assert [next(events), next(events)] == [LOOK_ANEW, {"b"}]
    assert watched == [(str(here),), (str(here), str(later))]


def test_without_any_folder_it_waits_for_one(tmp_path: Path, slept: list[float]) -> None:
    events = file_events(lambda: [str(tmp_path / "absent")])
    assert [next(events), next(events)] == [LOOK_ANEW, LOOK_ANEW]
    assert slept == [TICK, TICK]


def test_what_the_system_cannot_watch_is_looked_at_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slept: list[float]
) -> None:
    telling(monkeypatch, OSError(28, "no space left for watches"), [{"a"}])
    events = file_events(lambda: [str(tmp_path)])
    assert [next(events), next(events)] == [LOOK_ANEW, {"a"}]
    assert slept == [TICK]


def test_without_watchfiles_it_is_looked_at_anew_at_each_tick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slept: list[float]
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    events = file_events(lambda: [str(tmp_path)])
    assert [next(events), next(events)] == [LOOK_ANEW, LOOK_ANEW]
    assert slept == [TICK, TICK]


def test_a_folder_inside_another_is_watched_with_it(tmp_path: Path) -> None:
    inner = tmp_path / "a/b"
    inner.mkdir(parents=True)
    beside = tmp_path / "a-b"
    beside.mkdir()
    folders = [str(inner), str(tmp_path / "a"), str(beside), str(inner), str(tmp_path / "absent")]
    assert module._existing(folders) == [str(tmp_path / "a"), str(beside)]


def test_a_real_write_is_told_by_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TICK", 0.2)
    events = file_events(lambda: [str(tmp_path)])
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"")
    # Written again at every tick: the first write may come before the system watches.
    told = next(events)
    while not told:
        path.write_bytes(b"row\n")
        told = next(events)
    assert told == {str(path)}
