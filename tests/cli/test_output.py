"""Findings go to standard output and nothing else does."""

from __future__ import annotations

import errno
import io
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import pytest
from command_line import COMMAND

from ctxmeasure.cli.output import say, say_aside, say_table

ROWS = [{"id": "claude-opus-4-6[1m]", "about": "one"}, {"id": "b"}]


class Screen(io.StringIO):
    """A terminal to write on."""

    def isatty(self) -> bool:
        return True


class Refusing(io.RawIOBase):
    """A file that takes nothing, for the reason *number*."""

    def __init__(self, number: int) -> None:
        self.number = number

    def writable(self) -> bool:
        return True

    def write(self, _: object) -> int:
        raise OSError(self.number, "refused")


def refusing(number: int) -> io.TextIOWrapper:
    return io.TextIOWrapper(Refusing(number), encoding="utf-8", write_through=True)  # type: ignore[arg-type]


def test_elsewhere_a_table_is_lines_with_tabs(capsys: pytest.CaptureFixture[str]) -> None:
    say_table(ROWS, ["id", "about"])
    assert capsys.readouterr().out == "id\tabout\nclaude-opus-4-6[1m]\tone\nb\t\n"


def shown(
    monkeypatch: pytest.MonkeyPatch,
    rows: list[dict[str, str]],
    columns: Sequence[str] = ("id", "about"),
    spared: Sequence[str] = (),
    **environment: str,
) -> str:
    """Return what a terminal is sent of *rows*."""
    screen = Screen()
    # Not in a fixture: pytest puts its own capture back between the two.
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in {"TERM": "xterm-256color", **environment}.items():
        monkeypatch.setenv(name, value)
    say_table(rows, columns, spared=spared)
    return screen.getvalue()


def test_on_a_terminal_a_table_has_aligned_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    table = shown(monkeypatch, ROWS)
    header, first, second = table.splitlines()
    assert "\t" not in table
    assert "\x1b[1m" in header
    assert first.split() == ["claude-opus-4-6[1m]", "one"]
    assert second.split() == ["b"]


def test_a_narrow_terminal_folds_prose_and_leaves_ids_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = {"id": "0123456789abcdef", "about": "five words of prose here"}
    _, *lines = shown(monkeypatch, [row], COLUMNS="14").splitlines()
    assert len(lines) > 1
    assert row["id"] in lines[0]
    assert "".join("".join(lines).split()) == row["id"] + row["about"].replace(" ", "")


def test_a_narrow_terminal_cuts_nothing_that_has_several_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = {"id": "200000 or 1000000", "about": "prose"}
    for columns in range(1, 40):
        assert row["id"] in shown(monkeypatch, [row], COLUMNS=str(columns))


@pytest.mark.parametrize(
    ("columns", "header"),
    [
        (60, ["id", "kind", "method", "about"]),
        (52, ["id", "method", "about"]),
        (44, ["id", "about"]),
        (9, ["id", "about"]),
    ],
)
def test_a_narrow_terminal_does_without_what_may_be_spared(
    monkeypatch: pytest.MonkeyPatch, columns: int, header: list[str]
) -> None:
    row = {"id": "an.id", "kind": "tail", "method": "a_method", "about": "some words " * 9}
    first, *_ = shown(
        monkeypatch, [row], [*row], ("kind", "method"), COLUMNS=str(columns)
    ).splitlines()
    assert re.sub(r"\x1b\[[0-9;]*m", "", first).split() == header


def test_no_color_means_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[3" not in shown(monkeypatch, ROWS, NO_COLOR="1")


def test_a_terminal_that_can_do_nothing_gets_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in shown(monkeypatch, ROWS, TERM="dumb")


def test_a_reader_that_went_away_is_told_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", refusing(errno.EPIPE))
    assert not say("something")
    assert say("something else")  # to nobody


def test_without_a_standard_output_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    say_table(ROWS, ["id"])


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", refusing(errno.ENOSPC))
    with pytest.raises(click.ClickException, match="standard output cannot be written to"):
        say("something")


@pytest.mark.parametrize("number", [errno.EPIPE, errno.ENOSPC])
def test_an_aside_that_nobody_takes_is_let_go(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(sys, "stderr", refusing(number))
    say_aside("something")
    assert sys.stderr is None
    say_aside("something else")  # to nobody


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_told_once_and_is_status_1() -> None:
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(  # noqa: S603 - our own code
            [*COMMAND, "sources"], stdout=full, stderr=subprocess.PIPE, check=False, timeout=60
        )
    assert result.returncode == 1
    assert result.stderr == b"Error: standard output cannot be written to\n"
