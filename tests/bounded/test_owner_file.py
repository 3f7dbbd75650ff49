from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ctxmeasure.bounded import owner_file
from ctxmeasure.bounded.budget import ReadFault
from ctxmeasure.bounded.owner_file import read_owner_file, write_owner_file


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "state"
    assert write_owner_file(path, b"old and long")
    assert write_owner_file(str(path), b"new")
    assert read_owner_file(path) == b"new"


def test_only_the_owner_may_read_it_whatever_lay_there(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_bytes(b"")
    path.chmod(0o666)
    assert write_owner_file(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nothing_else_is_left_behind(tmp_path: Path) -> None:
    assert write_owner_file(tmp_path / "state", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


@pytest.mark.parametrize("name", ["no/state", "sta\0te"])
def test_a_file_that_cannot_be_made_is_not_written(name: str, tmp_path: Path) -> None:
    assert not write_owner_file(tmp_path / name, b"new")


def test_what_cannot_be_replaced_stays_and_so_does_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "state" / "held").mkdir(parents=True)
    assert not write_owner_file(tmp_path / "state", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_what_is_not_there_or_no_file_has_a_name(tmp_path: Path) -> None:
    assert read_owner_file(tmp_path / "state") is ReadFault.ABSENT
    assert read_owner_file(tmp_path) is ReadFault.UNREADABLE
    assert read_owner_file("sta\0te") is ReadFault.UNREADABLE


def test_a_file_that_was_never_written_here_is_not_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner_file, "_LONGEST", 3)
    path = tmp_path / "state"
    assert write_owner_file(path, b"four")
    assert read_owner_file(path) is ReadFault.BUDGET_EXHAUSTED
    assert write_owner_file(path, b"six")
    assert read_owner_file(path) == b"six"
