"""Of a thread's files the one that its last revert began is in force."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxmeasure.adapters.codex import rollouts_in_force, thread_of_rollout

THREAD = "01a22891-5013-7873-a3e8-d65d5b29e7f2"
OTHER = "01a22892-c251-7f72-8905-0593516c78f1"
FIRST_REVERT = "01a22899-0000-7000-8000-000000000000"
SECOND_REVERT = "01a2289a-0000-7000-8000-000000000000"


def name(thread: str = THREAD, revert: str = "", at: str = "2026-11-29T18-29-01") -> str:
    return f"rollout-{at}-{thread}{revert and '_' + revert}.jsonl"


def test_a_revert_supersedes_the_file_before_it_whatever_the_order_and_the_clock() -> None:
    old, new = name(), name(revert=FIRST_REVERT, at="2026-11-29T17-59-59")
    newest = name(revert=SECOND_REVERT)
    assert rollouts_in_force([old, new]) == [new]
    assert rollouts_in_force([new, old]) == [new]
    assert rollouts_in_force([new, newest, old]) == [newest]


def test_of_two_files_without_a_revert_the_later_counts() -> None:
    old, new = name(), name(at="2026-11-29T19-00-00")
    assert rollouts_in_force([old, new]) == rollouts_in_force([new, old]) == [new]


def test_files_of_different_threads_supersede_nothing() -> None:
    paths = [name(), name(OTHER), name(revert=FIRST_REVERT)]
    assert rollouts_in_force(paths) == [name(OTHER), name(revert=FIRST_REVERT)]


def test_of_two_copies_the_first_is_kept() -> None:
    live, archived = Path("sessions") / name(), Path("archived_sessions") / name()
    assert rollouts_in_force([live, archived]) == [live]
    assert rollouts_in_force([archived, live]) == [archived]


@pytest.mark.parametrize("folder", ["", "/home/dev/.codex/sessions/2026/11/29/", "C:\\codex\\"])
@pytest.mark.parametrize("suffix", ["", ".zst"])
def test_a_rollout_is_named_by_its_thread(folder: str, suffix: str) -> None:
    assert thread_of_rollout(folder + name() + suffix) == THREAD
    assert thread_of_rollout(folder + name(revert=FIRST_REVERT) + suffix) == THREAD


@pytest.mark.parametrize(
    "other",
    [
        "",
        "history.jsonl",
        f"rollout-{THREAD}.jsonl",
        name() + ".bak",
        name().replace("2026", "٢٠٢٦"),
        name("not-a-thread"),
        name() + "/notes.txt",
    ],
)
def test_what_is_no_rollout_is_left_out(other: str) -> None:
    assert thread_of_rollout(other) is None
    assert rollouts_in_force([other, name()]) == [name()]
