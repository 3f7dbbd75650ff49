"""``ctxmeasure statusline``: the gauge, or the user's own line with the payload recorded beside it.

Nothing of ours stands between the agent and the user's own command: this process becomes it. What
is recorded is recorded by another process, which passes the payload on as it reads it; without one,
or without anything to record, the command has standard input for itself.
"""

from __future__ import annotations

import os
import time

from ...ledger import detached
from . import payload
from .forms import FULL

TYPE_CHECKING = False  # typing's own, without importing it
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn

__all__ = ["hand_over_anyway", "run"]


def run(given: Mapping[str, str]) -> int:
    """Print the status line as the options that are *given* have it, and return the exit status."""
    if "--wrap" in given:
        return _wrapped(given["--wrap"], given)
    received_at = time.time_ns()
    raw = payload.read()
    _say(_text(raw, received_at, given))
    if "--out" in given and detached.SUPPORTED:
        detached.start(lambda: _record(raw, received_at, given))
    return 0


def hand_over_anyway(arguments: Sequence[str]) -> None:
    """Become the user's own command if any can be made out in wrong *arguments*."""
    for place, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        command = value if equals else "".join(arguments[place + 1 : place + 2])
        if name == "--wrap" and command and not command.startswith("-"):
            os.write(2, b"ctxmeasure: wrong arguments; see ctxmeasure statusline --help\n")
            _hand_over(command)


def _text(raw: bytes, received_at: int, given: Mapping[str, str]) -> str:
    from . import glance  # noqa: PLC0415 - a wrapped command does without it

    agent, form = given.get("--agent"), given.get("--format", FULL)
    line = glance.text(raw, agent, form)
    if line is None:
        from . import judged, moments  # noqa: PLC0415 - the whole house; most lines do without it

        line = judged.text(raw, agent, form, at=moments.of(received_at))
    return line


def _say(line: str) -> None:
    try:  # noqa: SIM105 - contextlib costs a quarter of an interpreter
        os.write(1, f"{line}\n".encode())
    except OSError:  # the agent has closed its end: it waits for nothing more
        pass


def _record(raw: bytes, received_at: int, given: Mapping[str, str]) -> None:
    from . import recording  # noqa: PLC0415 - the whole house, in a process nobody waits for

    recording.of_status_line(raw, received_at, given)


# -- the user's own command -----------------------------------------------------------------------


def _wrapped(command: str, given: Mapping[str, str]) -> int:
    if "--out" in given and detached.SUPPORTED:
        _tap(given)
    return _hand_over(command)


def _tap(given: Mapping[str, str]) -> None:
    """Put a process that records what it passes on between standard input and this process."""
    try:
        source, drain = os.pipe()
    except OSError:
        return
    # A pipe in the place of a standard descriptor: the agent closed it, so there is nothing to tap.
    is_apart = min(source, drain) > 2
    if is_apart and detached.start_orphan(lambda: _pass_on(source, drain, given), is_tap=True):
        os.dup2(source, 0)
    os.close(source)
    os.close(drain)


def _pass_on(source: int, drain: int, given: Mapping[str, str]) -> None:
    os.close(source)  # or the command's end would go unnoticed
    received_at = time.time_ns()
    raw = payload.pass_on(drain)
    os.close(drain)
    detached.step_back()
    _record(raw, received_at, given)


def _hand_over(command: str) -> int:
    """Become *command*; where a process cannot, run it, and return its exit status."""
    if not detached.SUPPORTED:
        import subprocess  # noqa: PLC0415 - Windows

        return subprocess.call(command, shell=True)  # noqa: S602 - the user's own command line
    return _become(command)


def _become(command: str) -> NoReturn:
    import signal  # noqa: PLC0415 - for this alone

    # Python ignores it, and a program that inherits that does not end when its reader is gone.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execv("/bin/sh", ["/bin/sh", "-c", command])  # noqa: S606 - as the agent itself would
