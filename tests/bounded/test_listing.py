"""Files below a folder: which match, in which order, and what a listing never does."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from ctxmeasure.bounded import listing
from ctxmeasure.bounded.extent import file_time
from ctxmeasure.bounded.listing import FoundFile, Listing, ListingBudget, ListingEnd, list_files

BUDGET = ListingBudget()


def touch(path: Path, second: int = 0, content: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (second, second))
    return path


def names(found: Listing, folder: Path) -> list[str]:
    return [Path(file.path).relative_to(folder).as_posix() for file in found.files]


def matching(folder: Path, pattern: str) -> list[str]:
    return names(list_files(str(folder), pattern, BUDGET), folder)


def test_the_most_recently_written_file_comes_first_with_its_size_and_time(tmp_path: Path) -> None:
    touch(tmp_path / "a/old.jsonl", 10, b"123")
    touch(tmp_path / "b/new.jsonl", 20)
    touch(tmp_path / "a/middle.jsonl", 15)
    found = list_files(str(tmp_path), "*/*.jsonl", BUDGET)
    assert names(found, tmp_path) == ["b/new.jsonl", "a/middle.jsonl", "a/old.jsonl"]
    assert found.files[-1].size == 3
    assert found.files[-1].modified_at == datetime(1970, 1, 1, 0, 0, 10, tzinfo=UTC)
    assert (found.end, found.folders_entered, found.names_seen) == (ListingEnd.COMPLETE, 3, 5)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.jsonl", ["top.jsonl"]),
        ("*/*.jsonl", ["p/agent-1.jsonl", "p/s.jsonl"]),
        ("*/[!a]*.jsonl", ["p/s.jsonl"]),
        (
            "*/*/subagents/**/agent-*.jsonl",
            ["p/s/subagents/agent-2.jsonl", DEEP := "p/s/subagents/workflows/r/agent-3.jsonl"],
        ),
        ("**/agent-3.jsonl", [DEEP]),
        ("**/**/agent-3.jsonl", [DEEP]),
        ("**", ["p/agent-1.jsonl", "p/s.jsonl", "p/s/subagents/agent-2.jsonl", DEEP, "top.jsonl"]),
        ("P/*.jsonl", []),
        ("*/*/*/*/*/*/*", []),
    ],
)
def test_a_pattern_says_how_deep_a_file_lies(
    tmp_path: Path, pattern: str, expected: list[str]
) -> None:
    for name in ("top.jsonl", "p/s.jsonl", "p/agent-1.jsonl", "p/s/subagents/agent-2.jsonl", DEEP):
        touch(tmp_path / name)
    assert sorted(matching(tmp_path, pattern)) == expected


def test_a_folder_that_is_named_like_a_file_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").mkdir()
    assert matching(tmp_path, "*.jsonl") == []
    touch(tmp_path / "a.jsonl" / "b.jsonl")
    assert matching(tmp_path, "*.jsonl/*.jsonl") == ["a.jsonl/b.jsonl"]


def test_only_regular_files_are_found(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    assert matching(tmp_path, "*.jsonl") == []


def test_links_below_the_folder_are_not_followed_and_are_counted(tmp_path: Path) -> None:
    touch(tmp_path / "outside/secret.jsonl")
    root = tmp_path / "root"
    touch(root / "p/own.jsonl")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "p/linked.jsonl").symlink_to(tmp_path / "outside/secret.jsonl")
    (root / "p/dangling.jsonl").symlink_to(tmp_path / "nowhere")
    found = list_files(str(root), "*/*.jsonl", BUDGET)
    assert names(found, root) == ["p/own.jsonl"]
    assert (found.links_passed_over, found.end) == (3, ListingEnd.COMPLETE)


def test_a_circle_of_links_ends(tmp_path: Path) -> None:
    touch(tmp_path / "a/one.jsonl")
    (tmp_path / "a/loop").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to("self")
    assert matching(tmp_path, "**/*.jsonl") == ["a/one.jsonl"]


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    touch(tmp_path / "real/one.jsonl")
    (tmp_path / "root").symlink_to("real")
    assert matching(tmp_path / "root", "*.jsonl") == ["one.jsonl"]


def test_a_junction_is_a_link_although_its_mode_says_folder() -> None:
    status = mock.Mock(st_mode=0o040777, st_reparse_tag=0xA000_0003)
    assert listing._is_link(status)
    assert not listing._is_link(mock.Mock(st_mode=0o040777, st_reparse_tag=0))


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("absent", "absent"),
        ("a\0b", "absent"),
        ("file", "unreadable"),
        ("file/below", "unreadable"),
    ],
)
def test_a_folder_that_cannot_be_listed_says_why(tmp_path: Path, name: str, end: str) -> None:
    touch(tmp_path / "file")
    assert list_files(f"{tmp_path}/{name}", "*", BUDGET) == Listing(end=ListingEnd(end))


def refusing(refused: str, error: OSError) -> Any:
    """Return a scandir that raises *error* for the folder named *refused*."""
    scandir = os.scandir

    def scan(path: str) -> Any:
        if path.endswith(refused):
            raise error
        return scandir(path)

    return mock.patch("os.scandir", scan)


def test_a_folder_without_permission_is_counted_and_the_rest_is_found(tmp_path: Path) -> None:
    touch(tmp_path / "closed/a.jsonl")
    touch(tmp_path / "open/b.jsonl")
    with refusing("closed", PermissionError(13, "denied")):
        found = list_files(str(tmp_path), "*/*.jsonl", BUDGET)
    assert names(found, tmp_path) == ["open/b.jsonl"]
    assert (found.folders_unreadable, found.end) == (1, ListingEnd.COMPLETE)


def test_the_first_folder_without_permission_is_unreadable(tmp_path: Path) -> None:
    with refusing(tmp_path.name, PermissionError(13, "denied")):
        assert list_files(str(tmp_path), "*", BUDGET).end is ListingEnd.UNREADABLE


def test_what_is_removed_in_between_is_no_fault(tmp_path: Path) -> None:
    touch(tmp_path / "gone/a.jsonl")
    with refusing("gone", FileNotFoundError(2, "gone")):
        found = list_files(str(tmp_path), "*/*.jsonl", BUDGET)
    assert (found.folders_unreadable, found.end) == (0, ListingEnd.COMPLETE)

    class Gone:
        def stat(self, *, follow_symlinks: bool) -> os.stat_result:
            raise FileNotFoundError(2, "gone", follow_symlinks)

    walk = listing._Walk(["*"], BUDGET)
    assert walk._status(Gone()) is None  # type: ignore[arg-type]


def test_more_files_than_the_budget_allows_are_cut_off(tmp_path: Path) -> None:
    for n in range(1_000):
        (tmp_path / f"{n}.jsonl").touch()
    cut = list_files(str(tmp_path), "*.jsonl", ListingBudget(names=100))
    assert (len(cut.files), cut.names_seen, cut.end) == (100, 100, ListingEnd.CUT_SHORT)
    whole = list_files(str(tmp_path), "*.jsonl", ListingBudget(names=1_000))
    assert (len(whole.files), whole.end) == (1_000, ListingEnd.COMPLETE)


def test_names_that_do_not_match_are_paid_for_too(tmp_path: Path) -> None:
    for n in range(5):
        (tmp_path / f"{n}.txt").touch()
    assert list_files(str(tmp_path), "*.jsonl", ListingBudget(names=4)).end is ListingEnd.CUT_SHORT


def test_what_was_changed_last_is_entered_first(tmp_path: Path) -> None:
    for second, name in ((30, "old"), (90, "new"), (60, "middle")):
        touch(tmp_path / name / "a.jsonl")
        os.utime(tmp_path / name, (second, second))
    cut = list_files(str(tmp_path), "*/*.jsonl", ListingBudget(folders=3))
    assert sorted(names(cut, tmp_path)) == ["middle/a.jsonl", "new/a.jsonl"]
    assert (cut.folders_entered, cut.end) == (3, ListingEnd.CUT_SHORT)


@pytest.mark.parametrize("argument", ["folders", "names"])
def test_a_budget_names_the_argument_that_is_wrong(argument: str) -> None:
    with pytest.raises(TypeError, match=f"^{argument}: expected an int$"):
        ListingBudget(**{argument: True})
    with pytest.raises(ValueError, match=f"^{argument}: expected at least 1$"):
        ListingBudget(**{argument: 0})


def test_no_repr_shows_a_path() -> None:
    assert "secret" not in repr(FoundFile("secret", 1, file_time(0)))
