"""Files that a person names: links stay links, pipes stay pipes, and two are never one."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread

import click
import pytest
from command_line import CLAUDE, run

from ctxmeasure.cli.written_file import is_same_file, write_file

(SESSION,) = (CLAUDE / "h-tui" / "session").glob("*.jsonl")


def test_nothing_is_left_beside_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    for content in (b"one", b"two"):
        write_file(str(path), content)
        assert path.read_bytes() == content
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_stays_one_and_its_target_is_written(tmp_path: Path, is_there: bool) -> None:
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere/report.html", tmp_path / "link.html"
    if is_there:
        target.write_text("an older one")
    link.symlink_to(target)
    write_file(str(link), b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_file(str(pipe), b"new")
    reader.join()
    assert read == [b"new"]
    assert pipe.is_fifo()


def test_a_name_can_be_as_long_as_the_file_system_takes(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    write_file(str(path), b"new")
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("name", ["", "no/folder", "nul\0", "n" * 256])
def test_what_cannot_be_written_is_not_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(click.ClickException) as raised:
        write_file(f"{tmp_path}/{name}", b"new")
    assert raised.value.message == "a file that was named cannot be written"
    assert [*tmp_path.iterdir()] == []


def test_names_are_one_files_by_where_they_lead(tmp_path: Path) -> None:
    here, link = tmp_path / "here", tmp_path / "link"
    link.symlink_to(here)
    assert is_same_file(f"{tmp_path}/x/../here", str(here))  # neither is there yet
    here.touch()
    assert is_same_file(str(link), str(here))
    assert not is_same_file(str(here), f"{tmp_path}/other")
    assert not is_same_file("nul\0", str(here))


def test_two_of_the_files_that_are_written_cannot_be_the_same(tmp_path: Path) -> None:
    path = tmp_path / "report"
    result = run("history", SESSION, "--html", path, "--svg", f"{tmp_path}/./report")
    assert result.exit_code == 2
    assert str(path) not in result.output
    assert [*tmp_path.iterdir()] == []
