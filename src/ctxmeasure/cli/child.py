"""A command as our child: what it prints is passed on, and its signals and status stay its own.

Standard input and standard error are inherited, with every other descriptor. Only standard output
comes through here: each piece is written on as it came before anything looks at it. Needs POSIX.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any, Self

__all__ = ["Child"]

_OUTPUT = 1

# The exit statuses that shells give to what has none.
_NOT_FOUND = 127
_NOT_RUN = 126
_KILLED = 128  # and the signal's number on top

_TAKEN = select.PIPE_BUF  # what a pipe takes without a wait where it takes anything
_READY = 64 * 1024  # the size of a pipe on Linux: what a writer can have ready

# Agents leave servers running that hold on to the pipe. Once the command has ended, so much silence
# is the end of its output; where it was told to stop, so much time is.
_SILENCE = 1.0  # seconds

# What stops a command, and is sent to us where our user takes us for it.
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_RELAYED = (*_STOPPING, signal.SIGUSR1, signal.SIGUSR2)
_OF_KEYS = (signal.SIGINT, signal.SIGQUIT)  # Ctrl-C and Ctrl-\


class Child:
    """A command to run once; a context manager, in which no signal stops us before the end.

    Args:
        command: The program and its arguments.
        heard: Takes each piece of the command's output, after it was passed on; must not raise.

    Attributes:
        trouble: What could not be done for the command, in a few words, or None.
    """

    def __init__(self, command: Sequence[str], heard: Callable[[bytes], None]) -> None:
        self._command = command
        self._heard = heard
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        self._handlers: dict[signal.Signals, Any] = {}
        self._is_told_to_stop = False
        self._stopped_at: float | None = None
        self.trouble: str | None = None

    def __enter__(self) -> Self:
        for number in _RELAYED:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup: so it stays
                self._handlers[number] = signal.signal(number, self._relay)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def run(self) -> int:
        """Run the command to its end and return its exit status, as a shell gives it."""
        try:
            self._process = subprocess.Popen(  # noqa: S603 - what our user asked for
                self._command, bufsize=0, stdout=subprocess.PIPE, close_fds=False
            )
        except FileNotFoundError:
            self.trouble = "the command was not found"
            return _NOT_FOUND
        except OSError:
            self.trouble = "the command cannot be run"
            return _NOT_RUN
        return self._follow(self._process)

    def _follow(self, process: subprocess.Popen[bytes]) -> int:
        for number in self._early:
            process.send_signal(number)
        with process:  # where nobody reads on, its pipe is closed: it learns that as without us
            self._pass_on(process)
        code = process.returncode
        return _KILLED - code if code < 0 else code

    def _pass_on(self, process: subprocess.Popen[bytes]) -> None:
        has_reader = sys.stdout is not None  # None: it was closed before we began
        for piece in self._pieces(process):
            is_taken = not has_reader or self._write(process, piece)
            self._heard(piece)
            if not is_taken:
                return

    def _pieces(self, process: subprocess.Popen[bytes]) -> Iterator[bytes]:
        """Yield the output as it comes, to its end."""
        assert process.stdout is not None  # noqa: S101 - for the checker: a pipe was asked for
        pipe = process.stdout.fileno()
        while not self._is_over(process):
            has_ended = process.poll() is not None
            ready, _, _ = select.select([pipe], [], [], _SILENCE)
            if not ready:
                if has_ended:
                    return
                continue
            piece = os.read(pipe, _READY)
            if not piece:
                return
            yield piece

    def _write(self, process: subprocess.Popen[bytes], piece: bytes) -> bool:
        """Write all of *piece* to our standard output; return whether that could be done."""
        rest = memoryview(piece)
        while rest:
            try:
                if not self._waits_for_reader(process):
                    return False
                # More would not come back before a reader takes it, whatever we are sent meanwhile.
                rest = rest[os.write(_OUTPUT, rest[:_TAKEN]) :]
            except BlockingIOError:  # Node.js makes the terminal that it shares with us like that
                continue
            except BrokenPipeError:
                return False
            except OSError:
                self.trouble = "standard output cannot be written to"
                return False
        return True

    def _waits_for_reader(self, process: subprocess.Popen[bytes]) -> bool:
        """Wait until our standard output takes something, or nothing is to be waited for."""
        while not select.select([], [_OUTPUT], [], _SILENCE)[1]:
            if self._is_over(process):
                return False
        return True

    def _is_over(self, process: subprocess.Popen[bytes]) -> bool:
        """Tell whether the command was told to stop and ended a while ago.

        We have to end too then, though a reader stalls or what the command left running prints on.
        """
        if not self._is_told_to_stop or process.poll() is None:
            return False
        if self._stopped_at is None:
            self._stopped_at = time.monotonic()
        return time.monotonic() - self._stopped_at >= _SILENCE

    def _relay(self, number: int, _: FrameType | None) -> None:
        """Hand on a signal that the command does not get by itself."""
        self._is_told_to_stop |= number in _STOPPING
        if number in _OF_KEYS and _is_in_foreground():
            return  # a key's goes to all that run there, and agents take a second Ctrl-C for more
        if self._process is None:
            self._early.append(number)
        else:
            self._process.send_signal(number)


def _is_in_foreground() -> bool:
    """Tell whether the terminal's keys go to our group of processes, whatever our descriptors."""
    try:
        terminal = os.open(os.ctermid(), os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    finally:
        os.close(terminal)
