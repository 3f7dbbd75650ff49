"""Work that goes on when the agent has its answer: in a process of its own, and not for long.

Imports nothing that costs anything in the process that the agent waits for.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # typing's own, without importing it
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

__all__ = ["SUPPORTED", "start", "start_orphan", "step_back", "wait"]

SUPPORTED = hasattr(os, "fork")
"""Whether this system has such processes (Windows has none)."""

_PRIORITY = 10  # the agent, and the process that it waits for, come first
_MOST_SECONDS = 20  # a reading takes a tenth of one; a busy store, or a lock, a few


def start(work: Callable[[], object], *, is_tap: bool = False) -> int | None:
    """Do *work* in a new process of a session of its own, and return that process's id.

    It holds none of the descriptors 0 to 2 that it was born with: an agent takes a command for
    unfinished while anyone holds its output. It goes after all others, and its time is limited.

    Args:
        work: What to do. What it raises ends the process and goes nowhere.
        is_tap: It passes on standard input, so it keeps that, and does not `step_back` before it
            says so itself.

    Returns:
        The id, or None when the system has no process left.
    """
    try:
        child = os.fork()
    except OSError:
        return None
    if not child:
        _work_alone(work, is_tap=is_tap)
    return child


def start_orphan(work: Callable[[], object], *, is_tap: bool = False) -> bool:
    """Do *work* as `start` does, in a process that is no child of this one.

    For a process that becomes another program, which would be surprised by a child.

    Returns:
        Whether there is such a process.
    """

    def start_and_leave() -> None:
        if start(work, is_tap=is_tap) is None:
            raise OSError

    between = start(start_and_leave, is_tap=is_tap)
    return between is not None and wait(between)


def wait(child: int) -> bool:
    """Return when the process *child* has ended, and whether it did its work, as far as known."""
    try:
        _, status = os.waitpid(child, 0)
    except ChildProcessError:  # whoever started us has the system forget such processes
        return True
    return status == 0


def step_back() -> None:
    """Let this process go after all others, and end in a while, whatever it does then."""
    import signal  # noqa: PLC0415 - the process that the agent waits for does not pay for it

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_MOST_SECONDS)
    os.nice(_PRIORITY)


def _work_alone(work: Callable[[], object], *, is_tap: bool) -> NoReturn:
    """Do *work* as the new process that this is, and end it."""
    status = 1
    try:
        os.setsid()  # what is sent to the agent's group does not reach it
        if not is_tap:
            step_back()
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (1, 2) if is_tap else (0, 1, 2):
            os.dup2(nothing, descriptor)
        work()
        status = 0
    finally:  # also after an exception: nothing of the process that was left behind runs twice
        os._exit(status)
