"""Processes for tests, which stop before each call of the system that others can notice.

What happens next is the test's choice: the call is made, the call fails, the process is killed
there, or another one goes on. So any interleaving is played, and the same one each time. A process
is a thread here, so the kernel's part, who holds which lock and what is taken back from the dead,
is played too.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import threading
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from enum import Enum, auto
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch

__all__ = ["Kernel", "Order", "Process"]


class Order(Enum):
    """What happens at the call before which a process stands."""

    GO = auto()
    FAIL = auto()
    DIE = auto()


class _Killed(BaseException):
    """The end of a process; what it still does on its way out has no effect."""


class Process:
    """A process that stands before a call of the system, or is over.

    Attributes:
        at: The moment in which it lives.
        is_over: It has come to its end, or was killed.
        is_killed: It was killed.
        can_fail: It stands before a call that a full disk makes fail.
        waits_for: The lock that it could not have so far, as a place in the file of locks.
        left: What it had not given back at its end, of itself.
    """

    def __init__(self, kernel: Kernel, work: Callable[[], object], at: datetime) -> None:
        self._kernel, self._work = kernel, work
        self._may_go, self._has_stopped = threading.Lock(), threading.Lock()
        self._may_go.acquire()
        self._has_stopped.acquire()
        self._order, self._cut = Order.GO, 0
        self._raised: BaseException | None = None
        self.at = at
        self.is_over = self.is_killed = self.can_fail = False
        self.waits_for: int | None = None
        self.descriptors: dict[int, str] = {}
        self.left: list[str] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._has_stopped.acquire()

    def step(self, order: Order = Order.GO, *, cut: int = 0) -> None:
        """Let the call come to what *order* says; of a write that it ends, *cut* bytes are made."""
        self._order, self._cut = order, cut
        self._may_go.release()
        self._has_stopped.acquire()
        if self.is_over:
            self._thread.join()
        if self._raised is not None:
            raise self._raised

    def stop(self, *, can_fail: bool) -> tuple[Order, int]:
        """Stand before a call until the test has chosen; return what it chose."""
        if self.is_killed:
            raise _Killed
        self.can_fail = can_fail
        self._has_stopped.release()
        self._may_go.acquire()
        self.is_killed = self._order is Order.DIE
        return self._order, self._cut

    def _run(self) -> None:
        self._kernel.here.process = self
        try:
            self._work()
        except _Killed:
            pass
        except BaseException as raised:  # noqa: BLE001 - the test raises it
            self._raised = raised
        self._kernel.take_back(self)
        self.is_over = True
        self._has_stopped.release()


class _Draft:
    """A file that is written without a buffer."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def write(self, content: bytes) -> int:
        return os.write(self._descriptor, content)


class Kernel:
    """What the processes share: their locks, and the calls through which they reach the disk."""

    def __init__(self) -> None:
        self.here = threading.local()
        self.holders: dict[int, Process] = {}
        self._patches = ExitStack()
        self._close, self._write, self._open = os.close, os.write, os.open
        for where, name, can_fail in (
            (os, "mkdir", True),
            (os, "replace", True),
            (os, "unlink", True),
            (os, "fsync", True),
            (io, "open", False),
        ):
            self._patch(where, name, self._stopping(getattr(where, name), can_fail=can_fail))
        self._patch(os, "open", self._opened(os.open))
        self._patch(os, "write", self._written(os.write))
        self._patch(os, "close", self._closed(os.close))
        self._patch(os, "fdopen", self._buffered(os.fdopen))
        self._patch(fcntl, "lockf", self._locked(fcntl.lockf))

    def start(self, work: Callable[[], object], at: datetime) -> Process:
        """Return a new process that stands before the first call of *work*."""
        return Process(self, work, at)

    def next_to_run(self, process: Process) -> Process:
        """Return *process*, or if it waits for a lock, who has to go on first."""
        waiting = {process}
        while process.waits_for is not None and process.waits_for in self.holders:
            process = self.holders[process.waits_for]
            assert not process.is_over, "a lock is held by nobody"
            assert process not in waiting, "they wait for each other"
            waiting.add(process)
        return process

    def take_back(self, process: Process) -> None:
        """Take back what a process holds that is over; it should hold nothing by then."""
        if not process.is_killed:
            process.left += process.descriptors.values()
        for descriptor in [*process.descriptors]:
            self._give_back(process, descriptor)

    def close(self) -> None:
        """Give the calls back to the system."""
        self._patches.close()

    # -- the calls --------------------------------------------------------------------------------

    def _patch(self, where: Any, name: str, new: Callable[..., Any]) -> None:
        self._patches.enter_context(patch.object(where, name, new))

    @property
    def _process(self) -> Process | None:
        return getattr(self.here, "process", None)

    def _stopping(self, real: Callable[..., Any], *, can_fail: bool) -> Callable[..., Any]:
        def called(*arguments: Any, **named: Any) -> Any:
            process = self._process
            if process is not None:
                _obey(*process.stop(can_fail=can_fail))
            made = real(*arguments, **named)
            if process is not None and real.__name__ == "replace":
                _date(arguments[1], process.at)
            return made

        return called

    def _opened(self, real: Callable[..., int]) -> Callable[..., int]:
        def called(path: Any, flags: int, *rest: Any, **named: Any) -> int:
            process = self._process
            if process is None:
                return real(path, flags, *rest, **named)
            makes = bool(flags & os.O_CREAT)
            _obey(*process.stop(can_fail=makes))
            descriptor = real(path, flags, *rest, **named)
            if flags & os.O_ACCMODE != os.O_RDONLY:  # others are closed behind our back, by `io`
                process.descriptors[descriptor] = Path(path).name
            if makes:
                _date(path, process.at)
            return descriptor

        return called

    def _written(self, real: Callable[[int, bytes], int]) -> Callable[[int, bytes], int]:
        def called(descriptor: int, content: bytes) -> int:
            process = self._process
            if process is None:
                return real(descriptor, content)
            order, cut = process.stop(can_fail=True)
            if order is not Order.GO:
                real(descriptor, content[: min(cut, len(content) - 1)])
            _obey(order)
            return real(descriptor, content)

        return called

    def _closed(self, real: Callable[[int], None]) -> Callable[[int], None]:
        def called(descriptor: int) -> None:
            process = self._process
            if process is None:
                real(descriptor)
            else:
                self._give_back(process, descriptor)

        return called

    def _buffered(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def called(descriptor: int, *rest: Any, **named: Any) -> Any:
            is_ours = self._process is not None
            return _Draft(descriptor) if is_ours else real(descriptor, *rest, **named)

        return called

    def _locked(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def called(file: Any, operation: int, length: int = 0, start: int = 0) -> Any:
            process = self._process
            if process is None:
                return real(file, operation, length, start)
            _obey(*process.stop(can_fail=False))
            if operation == fcntl.LOCK_UN:
                if self.holders.get(start) is process:
                    del self.holders[start]
                return None
            while self.holders.get(start, process) is not process:
                process.waits_for = start
                _obey(*process.stop(can_fail=False))
            process.waits_for = None
            self.holders[start] = process
            return None

        return called

    def _give_back(self, process: Process, descriptor: int) -> None:
        """Close *descriptor*; with one of the file of locks go all locks, as POSIX has it."""
        if process.descriptors.pop(descriptor, "") == "locks":
            held = [place for place, holder in self.holders.items() if holder is process]
            if held and not process.is_killed:
                process.left.append("a lock")
            for place in held:
                del self.holders[place]
        self._close(descriptor)


def _obey(order: Order, _: int = 0) -> None:
    if order is Order.DIE:
        raise _Killed
    if order is Order.FAIL:
        raise OSError(errno.ENOSPC, "the disk is full")


def _date(path: Any, at: datetime) -> None:
    """Let the file at *path* be of the moment in which its writer lives."""
    os.utime(path, (at.timestamp(),) * 2)
