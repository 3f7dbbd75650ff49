"""``ctxmeasure check``: a script learns from the exit status alone."""

from __future__ import annotations

import errno
import io
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from command_line import CLAUDE, run

from ctxmeasure.cli import check as command
from ctxmeasure.cli.commands import ctxmeasure

TRANSCRIPT = next((CLAUDE / "b-tools/session").glob("*.jsonl"))  # 16,108 of 200,000: 8.054 %
UNKNOWN = next((CLAUDE / "g-unknown-model/session").glob("*.jsonl"))


@pytest.mark.parametrize(
    ("most", "status"),
    [("8.1", 0), ("85", 0), ("8.054", 1), ("8", 1), ("8%", 1), ("0.5", 1), ("250", 0)],
)
def test_the_status_says_on_which_side_of_the_line_it_is(most: str, status: int) -> None:
    for source in ("claude.transcript", "auto"):
        result = run("check", source, TRANSCRIPT, "--max", most)
        assert (result.exit_code, result.stdout) == (status, "Context: 8% (16K/200K)\n")


def test_what_is_missing_is_neither_below_nor_over() -> None:
    result = run("check", "auto", UNKNOWN, "--max", "85")
    assert (result.exit_code, result.stdout) == (3, "Tokens: 15K\n")
    assert result.stderr.startswith("ctxmeasure: model_unknown: ")
    assert run("check", "auto", UNKNOWN, "--max", "1", "--limit", "200000").exit_code == 1
    assert run("check", "claude.transcript", "absent.jsonl", "--max", "1").exit_code == 3


def test_an_old_sample_can_be_refused() -> None:
    assert run("check", "auto", TRANSCRIPT, "--max", "85", "--max-age", "0.001").exit_code == 3


def test_a_payload_comes_on_standard_input() -> None:
    *_, payload = (CLAUDE / "h-tui/statusline.jsonl").read_bytes().splitlines()
    assert run("check", "claude.status_line", "--max", "4", stdin=payload).exit_code == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["auto", str(TRANSCRIPT)],
        ["auto", str(TRANSCRIPT), "--max", "none"],
        ["auto", str(TRANSCRIPT), "--max", "nan"],
        ["no.source", str(TRANSCRIPT), "--max", "85"],
        ["auto", str(CLAUDE / "a-simple/truth.json"), "--max", "85"],
    ],
)
def test_wrong_arguments_have_a_status_of_their_own(arguments: list[str]) -> None:
    assert run("check", *arguments).exit_code == 2


class Full(io.RawIOBase):
    def writable(self) -> bool:
        return True

    def write(self, _: object) -> int:
        raise OSError(errno.ENOSPC, "full")


def test_a_full_disk_is_not_taken_for_a_full_context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(Full(), write_through=True))  # type: ignore[type-var]
    with pytest.raises(SystemExit) as ended:
        ctxmeasure(["check", "auto", str(TRANSCRIPT), "--max", "85"])
    assert ended.value.code == 0
    monkeypatch.setattr(sys, "stdout", None)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("check", "auto", UNKNOWN, "--max", "85"), 3),
        (("observe", "auto", UNKNOWN, "--summary"), 3),
        (("history", UNKNOWN.parent / "absent.jsonl"), 3),
    ],
)
def test_what_cannot_say_why_a_number_is_missing_says_by_its_status_that_it_is(
    arguments: tuple[str | Path, ...], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(Full(), write_through=True))  # type: ignore[type-var]
    with pytest.raises(SystemExit) as ended:
        ctxmeasure([*map(str, arguments)])
    assert ended.value.code == status
    monkeypatch.setattr(sys, "stderr", None)


def test_ctrl_c_is_not_taken_for_a_full_context(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "answer", interrupted)
    assert run("check", "auto", TRANSCRIPT, "--max", "85").exit_code == 130


def test_a_path_is_not_repeated(tmp_path: Path) -> None:
    assert "secret" not in run("check", "auto", tmp_path / "secret", "--max", "85").output
