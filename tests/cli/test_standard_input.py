"""Standard input, whatever it is connected to."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace

import click
import pytest
from command_line import CLAUDE, run_process
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure import Missing, MissingReason, observe
from ctxmeasure.bounded.budget import ReadBudget
from ctxmeasure.bounded.jsonl import TailReader
from ctxmeasure.cli import standard_input
from ctxmeasure.cli.standard_input import PipeEnds, as_file, pieces
from ctxmeasure.registry import sources
from ctxmeasure.source import TailSource

PI_SESSION = next((CLAUDE.parent / "pi" / "b-tools" / "session").glob("*.jsonl"))
SESSION = next((CLAUDE / "b-tools" / "session").glob("*.jsonl"))


class Pipe(io.BytesIO):
    """Bytes that come in order and cannot be sought in."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: int) -> int:
        raise OSError


class Terminal(io.BytesIO):
    """A terminal with somebody at its keyboard."""

    def isatty(self) -> bool:
        return True


class Broken(Pipe):
    """A pipe that breaks."""

    def read(self, _: int | None = -1) -> bytes:
        raise OSError

    read1 = read


def connect(monkeypatch: pytest.MonkeyPatch, source: io.BytesIO | None) -> None:
    """Connect standard input with *source*; None: it was closed before we began."""
    stdin = None if source is None else SimpleNamespace(buffer=source)
    monkeypatch.setattr(sys, "stdin", stdin)


# -- as a file ------------------------------------------------------------------------------------


def test_a_redirected_file_is_handed_on_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO(b"{}")
    connect(monkeypatch, file)
    assert as_file() is file


@given(content=st.binary(max_size=200), held=st.integers(1, 250), data=st.data())
def test_of_a_pipe_the_end_is_held_and_the_size_is_known(
    content: bytes, held: int, data: st.DataObject
) -> None:
    end = PipeEnds(Pipe(content), held)
    assert end.seek(0, os.SEEK_END) == len(content)
    start = data.draw(st.integers(max(0, len(content) - held), len(content)))
    count = data.draw(st.integers(0, 250))
    assert end.seek(start) == start
    assert end.read(count) == content[start : start + count]
    assert end.read(250) == content[start + count :]


def test_the_middle_that_was_let_go_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standard_input, "HEAD_HELD", 2)
    ends = PipeEnds(Pipe(b"0123456789"), 3)
    for offset, there in ((0, b"01"), (1, b"1"), (2, b""), (6, b""), (7, b"78"), (9, b"9")):
        ends.seek(offset)
        assert ends.read(2) == there


def test_of_every_source_the_first_row_is_held() -> None:
    heads = [source.head for source in sources() if isinstance(source, TailSource)]
    assert max(heads) == standard_input.HEAD_HELD


def test_a_long_pipe_is_read_with_its_first_row(monkeypatch: pytest.MonkeyPatch) -> None:
    header, *rows = PI_SESSION.read_bytes().splitlines(keepends=True)
    filler = b'{"type":"custom","data":"' + b"x" * 65_536 + b'"}\n'
    content = header + filler * 80 + b"".join(rows)
    connect(monkeypatch, Pipe(content))
    assert observe("pi.session", as_file()) == observe("pi.session", content)


def test_a_pipe_is_read_as_the_file_would_be(monkeypatch: pytest.MonkeyPatch) -> None:
    content = SESSION.read_bytes()
    for held, budget in ((None, ReadBudget()), (1000, ReadBudget(initial=10, maximum=1000))):
        connect(monkeypatch, Pipe(content))
        windows = []
        for data in (content, as_file(held)):
            reader = TailReader.open(data, budget)
            assert isinstance(reader, TailReader)
            while reader.grow():
                pass
            windows.append(([row.value for row in reader.tail.rows()], reader.stats))
        assert windows[0] == windows[1]


def test_a_large_budget_holds_more_of_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    connect(monkeypatch, Pipe(b"a" * 20))
    monkeypatch.setattr(standard_input, "_HELD", 5)
    file = as_file(10)
    file.seek(10)
    assert file.read(20) == b"a" * 10


@pytest.mark.parametrize("source", [Broken(b"{}"), None], ids=["broken", "closed"])
def test_what_cannot_be_read_has_its_named_missing_state(
    monkeypatch: pytest.MonkeyPatch, source: io.BytesIO | None
) -> None:
    connect(monkeypatch, source)
    for data in (as_file(), as_file(10)):
        observation = observe("claude.hook", data)
        assert isinstance(observation, Missing)
        assert observation.reason is MissingReason.SOURCE_UNREADABLE


# -- as it comes ----------------------------------------------------------------------------------


@given(st.binary(max_size=300))
def test_pieces_are_all_of_it_and_end_at_most_one_line_each(content: bytes) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        connect(monkeypatch, Pipe(content))
        came = list(pieces())
    assert b"".join(came) == content
    assert all(b"\n" not in piece[:-1] for piece in came)


def test_a_long_line_comes_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    connect(monkeypatch, Pipe(b"x" * 1_000_000))
    assert max(map(len, pieces())) <= 64 * 1024


@pytest.mark.parametrize("source", [Broken(b"{}"), None], ids=["broken", "closed"])
def test_what_cannot_be_read_ends(
    monkeypatch: pytest.MonkeyPatch, source: io.BytesIO | None
) -> None:
    connect(monkeypatch, source)
    assert list(pieces()) == []


# -- at a terminal --------------------------------------------------------------------------------


@pytest.mark.parametrize("read", [as_file, lambda: next(pieces())], ids=["as a file", "pieces"])
def test_nobody_is_left_waiting_at_a_terminal(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[], object]
) -> None:
    connect(monkeypatch, Terminal(b"{}"))
    with pytest.raises(click.UsageError, match="pipe or redirect"):
        read()


KEPT = ("--state", "no such folder", "--out", "no such file")


def at_a_terminal(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command whose standard input is a terminal at which nobody types."""
    controller, terminal = os.openpty()
    try:
        with os.fdopen(terminal, "rb", buffering=0) as stdin:
            return run_process(*arguments, stdin=stdin)
    finally:
        os.close(controller)


@pytest.mark.skipif(sys.platform == "win32", reason="has another kind of terminals")
@pytest.mark.parametrize(
    ("arguments", "status", "answer"),
    [
        (["observe", "auto"], 2, b""),
        (["stream", "claude.stream"], 2, b""),
        (["statusline"], 2, b""),
        (["statusline", *KEPT], 2, b""),
        (["hook", "--agent", "claude", *KEPT], 0, b"{}\n"),  # another would block a turn
    ],
)
def test_a_command_without_its_data_says_so_at_a_terminal(
    arguments: list[str], status: int, answer: bytes
) -> None:
    result = at_a_terminal(*arguments)
    assert (result.returncode, result.stdout) == (status, answer)
    assert b"Standard input is a terminal" in result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="has another kind of terminals")
def test_what_else_is_wrong_with_a_status_line_is_said_at_a_terminal_too() -> None:
    assert b"--state and --out go together" in at_a_terminal("statusline", "--state", "s").stderr
    assert at_a_terminal("statusline", "--help").returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="has another kind of terminals")
def test_a_users_own_status_line_has_the_terminal_for_itself() -> None:
    result = at_a_terminal("statusline", "--wrap", "test -t 0 && echo mine")
    assert (result.returncode, result.stdout, result.stderr) == (0, b"mine\n", b"")
