"""A command as a child: its output passes, and what it is sent and how it ends is its own."""

from __future__ import annotations

import os
import resource
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from command_line import CLAUDE, REPLAYER

from ctxmeasure.cli import child as room
from ctxmeasure.cli.child import Child

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")

RECORDING = CLAUDE / "b-tools" / "stream.jsonl"
RECORDED = RECORDING.read_bytes()


def replay(*options: str, recording: Path = RECORDING) -> list[str]:
    return [*REPLAYER, str(recording), *options]


def ignore(_: bytes) -> None:
    pass


def run(command: list[str], heard: Callable[[bytes], None] = ignore) -> int:
    with Child(command, heard) as child:
        return child.run()


@contextmanager
def standard_output(descriptor: int) -> Iterator[None]:
    """Put *descriptor* in the place of this process's standard output."""
    kept = os.dup(1)
    os.dup2(descriptor, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


# -- output ---------------------------------------------------------------------------------------


def test_what_is_printed_passes_and_is_heard(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    heard = bytearray()
    assert run(replay("--garbage", "--halves"), heard.extend) == 0
    assert capfdbinary.readouterr().out == bytes(heard)
    assert len(heard) > len(RECORDED)


def test_a_piece_is_passed_on_before_it_is_heard(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    passed, heard = bytearray(), bytearray()

    def hear(piece: bytes) -> None:
        heard.extend(piece)
        passed.extend(capfdbinary.readouterr().out)
        assert passed == heard

    run(replay("--halves"), hear)
    assert heard == RECORDED


def test_without_a_standard_output_it_is_heard_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    heard = bytearray()
    assert run(replay("--exit", "4"), heard.extend) == 4
    assert heard == RECORDED
    assert capfdbinary.readouterr().out == b""


def test_a_reader_that_went_away_is_the_commands_reader() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    heard = bytearray()
    with standard_output(writing), Child(replay("--long", "1"), heard.extend) as child:
        assert child.run() == 128 + signal.SIGPIPE
    os.close(writing)
    assert child.trouble is None
    assert heard.startswith(b'{"type":"user"')


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_told_and_ends_the_output() -> None:
    with (
        Path("/dev/full").open("wb") as full,
        standard_output(full.fileno()),
        Child(replay("--long", "1"), ignore) as child,
    ):
        assert child.run() == 128 + signal.SIGPIPE
    assert child.trouble == "standard output cannot be written to"


@pytest.mark.parametrize("blocks", [True, False])
def test_a_reader_that_stalls_is_waited_for(monkeypatch: pytest.MonkeyPatch, blocks: bool) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, blocks)
    has_stalled, passed = Event(), bytearray()

    def read() -> None:
        has_stalled.wait()
        while piece := os.read(reading, 1 << 20):
            passed.extend(piece)

    replace_select(monkeypatch, lambda _: has_stalled.set())
    reader = Thread(target=read)
    reader.start()
    heard = bytearray()
    with standard_output(writing):
        status = run(replay("--long", "1"), heard.extend)
    os.close(writing)
    has_stalled.set()
    reader.join()
    os.close(reading)
    assert status == 0
    assert passed == heard
    assert passed.endswith(RECORDED)


def test_a_standard_output_that_takes_nothing_at_once_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    write, refusals = os.write, iter([BlockingIOError()])

    def refuse_once(descriptor: int, piece: bytes) -> int:
        for refusal in refusals:
            raise refusal
        return write(descriptor, piece)

    monkeypatch.setattr(os, "write", refuse_once)
    assert run(replay()) == 0
    assert capfdbinary.readouterr().out == RECORDED


def replace_select(monkeypatch: pytest.MonkeyPatch, when_stalled: Callable[[int], object]) -> None:
    """Have *when_stalled* told whenever a reader has taken nothing for a while, for how often."""
    monkeypatch.setattr(room, "_SILENCE", 0.01)
    times = count(1)

    def wait(readable: list[int], writable: list[int], *rest: Any) -> Any:
        found = select.select(readable, writable, *rest)
        if writable and not found[1]:
            when_stalled(next(times))
        return found

    monkeypatch.setattr(room, "select", type("select", (), {"select": staticmethod(wait)}))


@pytest.fixture
def full_pipe() -> Iterator[tuple[int, int]]:
    """A pipe that takes nothing before it was read from: its ends to read and to write."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writing, b"." * select.PIPE_BUF)
    os.set_blocking(writing, True)
    yield reading, writing
    os.close(reading)
    os.close(writing)


def test_a_command_is_stopped_though_its_reader_stalls(
    full_pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop_once(times: int) -> None:
        if times == 1:
            signal.raise_signal(signal.SIGTERM)

    replace_select(monkeypatch, stop_once)
    heard = bytearray()
    with standard_output(full_pipe[1]):
        assert run(replay("--wait"), heard.extend) == 128 + signal.SIGTERM
    assert RECORDED.startswith(heard)
    assert heard


def test_a_stalled_reader_is_waited_for_as_long_as_the_command_lives(
    full_pipe: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    awaited = tmp_path / "awaited"
    os.mkfifo(awaited)
    holder = os.open(awaited, os.O_RDWR)

    def read_at_last(times: int) -> None:
        signal.raise_signal(signal.SIGTERM)
        if times == 5:
            os.read(full_pipe[0], 1 << 20)
            os.write(holder, b"\n")

    replace_select(monkeypatch, read_at_last)
    with standard_output(full_pipe[1]):
        assert run(["sh", "-c", f"trap '' TERM; echo it lives; read line < {awaited}"]) == 0
    os.close(holder)
    assert os.read(full_pipe[0], 100) == b"it lives\n"


def test_a_silence_before_the_end_is_waited_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    awaited = tmp_path / "awaited"
    os.mkfifo(awaited)
    holder = os.open(awaited, os.O_RDWR)
    silences = iter(range(3))

    def wait(*asked: Any) -> Any:
        if next(silences, None) is not None:
            return [], [], []
        os.write(holder, b"at last\n")
        return select.select(*asked)

    monkeypatch.setattr(room, "select", type("select", (), {"select": staticmethod(wait)}))
    assert run(["sh", "-c", f"read line < {awaited}; echo $line; exit 4"]) == 4
    os.close(holder)
    assert capfdbinary.readouterr().out == b"at last\n"


def test_what_a_command_leaves_running_does_not_hold_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(room, "_SILENCE", 0.01)
    held = tmp_path / "held"
    os.mkfifo(held)
    holder = os.open(held, os.O_RDWR)
    assert run(["sh", "-c", f"cat < {held} & echo done; exit 3"]) == 3
    os.close(holder)
    assert capfdbinary.readouterr().out == b"done\n"


def test_what_a_command_leaves_printing_ends_with_the_next_signal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(room, "_SILENCE", 0.01)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with standard_output(nowhere):
        left = "trap '' TERM; yes & exit 3"
        assert run(["sh", "-c", left], sending(signal.SIGTERM)) == 3
    os.close(nowhere)


def test_a_command_that_closes_its_output_is_waited_for() -> None:
    assert run(["sh", "-c", "exec >&-; exit 6"]) == 6


# -- descriptors ----------------------------------------------------------------------------------


def test_other_descriptors_are_inherited() -> None:
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    script = f"import os; os.write({writing}, b'there')"
    assert run([sys.executable, "-c", script]) == 0
    os.close(writing)
    assert os.read(reading, 100) == b"there"
    os.close(reading)


# -- ends -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [0, 1, 3, 127, 255])
def test_the_exit_status_is_the_commands(status: int) -> None:
    assert run(replay("--until", "1", "--exit", str(status))) == status


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT", "SIGSEGV"])
def test_a_kill_is_128_and_the_signal(name: str) -> None:
    assert run(replay("--unfinished", "--die", name)) == 128 + signal.Signals[name]


def test_a_command_that_is_not_there_is_127_and_not_named() -> None:
    with Child(["no-such-command-of-mine"], ignore) as child:
        assert child.run() == 127
    assert child.trouble == "the command was not found"


@pytest.mark.parametrize("content", ["", "no program"])
def test_a_command_that_cannot_be_run_is_126(tmp_path: Path, content: str) -> None:
    path = tmp_path / "command"
    path.write_text(content)
    path.chmod(0o755 if content else 0o644)
    with Child([str(path)], ignore) as child:
        assert child.run() == 126
    assert child.trouble == "the command cannot be run"


# -- signals --------------------------------------------------------------------------------------


def sending(number: int) -> Callable[[bytes], None]:
    """Return what sends this process the signal *number* when it hears something."""
    return lambda _: signal.raise_signal(number)


@pytest.fixture
def no_core() -> Iterator[None]:
    """Keep a command that is told to quit from leaving its memory in a file."""
    limits = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_CORE, limits)


@pytest.mark.usefixtures("no_core")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2"])
def test_a_signal_that_is_sent_to_us_is_the_commands(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "_is_in_foreground", lambda: False)
    number = signal.Signals[name]
    assert run(replay("--until", "1", "--wait"), sending(number)) == 128 + number


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
def test_a_key_at_a_terminal_is_sent_once_and_not_by_us(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "_is_in_foreground", lambda: True)
    sent: list[int] = []
    monkeypatch.setattr(subprocess.Popen, "send_signal", lambda _, number: sent.append(number))
    assert run(replay("--exit", "4"), sending(number)) == 4
    assert sent == []


@pytest.mark.parametrize(("number", "passed"), [(signal.SIGUSR1, b"told"), (signal.SIGTERM, b"")])
def test_a_signal_that_stops_nothing_gives_up_no_reader(
    full_pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch, number: int, passed: bytes
) -> None:
    def read_at_last(times: int) -> None:
        signal.raise_signal(number)
        if times == 100:
            os.read(full_pipe[0], 1 << 20)

    replace_select(monkeypatch, read_at_last)
    command = f"trap '' {number:d}; printf told; exit 4"
    with standard_output(full_pipe[1]):
        assert run(["sh", "-c", command]) == 4
    assert os.read(full_pipe[0], 1 << 20).strip(b".") == passed


def test_a_signal_from_before_the_command_ran_reaches_it() -> None:
    with Child(replay("--wait"), ignore) as child:
        signal.raise_signal(signal.SIGTERM)
        assert child.run() == 128 + signal.SIGTERM


def test_a_signal_after_its_end_stops_nothing() -> None:
    with Child(replay("--exit", "4"), ignore) as child:
        status = child.run()
        signal.raise_signal(signal.SIGTERM)
    assert status == 4


def test_a_signal_that_is_ignored_stays_ignored_by_both_and_all_handlers_come_back() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        assert run(["sh", "-c", "kill -HUP $$; exit 5"], sending(signal.SIGHUP)) == 5
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers


def test_the_foreground_is_asked_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    controller, terminal = os.openpty()
    monkeypatch.setattr(os, "ctermid", lambda: os.ttyname(terminal))
    for group in (os.getpgrp(), os.getpgrp() + 1):
        monkeypatch.setattr(os, "tcgetpgrp", lambda _, group=group: group)
        assert room._is_in_foreground() is (group == os.getpgrp())
    os.close(terminal)
    os.close(controller)


def test_without_a_terminal_nobody_is_in_its_foreground(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "ctermid", lambda: str(tmp_path / "none"))
    assert not room._is_in_foreground()
