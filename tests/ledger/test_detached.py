"""Work in a process of its own: born without the agent's output, limited in time, alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

import pytest

from ctxmeasure.ledger import detached


class Ended(Exception):  # noqa: N818 - what os._exit raises here
    pass


@contextmanager
def born() -> Iterator[list[object]]:
    """Make this process the new one, which every fork gives, and list what is done to it.

    Only for the time of one call: pytest itself moves descriptors about.
    """
    done: list[object] = []

    def end(status: int) -> NoReturn:
        done.append(("exit", status))
        raise Ended

    def note(name: str) -> Callable[..., None]:
        return lambda *given: done.append((name, *given))

    with suppress(Ended), pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fork", lambda: 0)
        patched.setattr(os, "_exit", end)
        patched.setattr(os, "setsid", note("setsid"))
        patched.setattr(os, "open", lambda *_: 99)
        patched.setattr(os, "dup2", note("dup2"))
        patched.setattr(signal, "signal", note("signal"))
        patched.setattr(signal, "alarm", note("alarm"))
        patched.setattr(os, "nice", note("nice"))
        yield done


def test_the_new_process_steps_back_gives_up_its_output_and_ends_itself() -> None:
    with born() as done:
        detached.start(lambda: done.append("work"))
    assert done == [
        ("setsid",),
        ("signal", signal.SIGALRM, signal.SIG_DFL),
        ("alarm", 20),
        ("nice", 10),
        *(("dup2", 99, descriptor) for descriptor in (0, 1, 2)),
        "work",
        ("exit", 0),
    ]


def test_a_tap_keeps_its_input_and_takes_its_time() -> None:
    with born() as done:
        detached.start(lambda: None, is_tap=True)
    assert done == [("setsid",), ("dup2", 99, 1), ("dup2", 99, 2), ("exit", 0)]


def test_what_work_raises_ends_the_process_and_goes_nowhere() -> None:
    def work() -> None:
        raise RuntimeError

    with born() as done:
        detached.start(work)
    assert done[-1] == ("exit", 1)


def test_without_a_process_there_is_no_id(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", refuse)
    assert detached.start(lambda: None) is None
    assert not detached.start_orphan(lambda: None)


def test_an_orphan_whose_process_could_not_be_had_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detached, "start", lambda *_, **__: None)
    assert not detached.start_orphan(lambda: None)


def test_the_process_between_fails_when_the_second_cannot_be_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    between: list[Callable[[], object]] = []

    def start(work: Callable[[], object], *, is_tap: bool = False) -> int | None:  # noqa: ARG001
        between.append(work)
        return 17 if len(between) == 1 else None

    monkeypatch.setattr(detached, "start", start)
    monkeypatch.setattr(os, "waitpid", lambda *_: (17, 256))
    assert not detached.start_orphan(lambda: None)
    with pytest.raises(OSError):  # noqa: PT011 - it carries nothing
        between[0]()
    monkeypatch.setattr(detached, "start", lambda *_, **__: 18)
    between[0]()


def test_whoever_starts_work_goes_on_with_its_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fork", lambda: 17)
    assert detached.start(lambda: None) == 17


def test_a_child_that_the_system_forgets_is_taken_for_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgotten(*_: int) -> tuple[int, int]:
        raise ChildProcessError

    monkeypatch.setattr(os, "waitpid", forgotten)
    assert detached.wait(17)
    monkeypatch.setattr(os, "waitpid", lambda *_: (17, 0))
    assert detached.wait(17)


REAL = """
import os, sys
from ctxmeasure.ledger import detached

def work():
    os.write(1, b"lost"); os.write(2, b"lost")
    facts = (os.getsid(0) == os.getpid(), os.getppid() != parent)
    os.write(told, repr(facts).encode())

parent, told = os.getpid(), int(sys.argv[1])
print(detached.start_orphan(work), flush=True)
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    print("no child", flush=True)
"""


def test_a_real_orphan_is_nobodys_child_in_a_session_of_its_own_and_silent() -> None:
    heard, told = os.pipe()
    result = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", REAL, str(told)],
        pass_fds=[told],
        capture_output=True,
        check=True,
    )
    os.close(told)
    assert os.read(heard, 100) == b"(True, True)"
    assert os.read(heard, 100) == b""
    os.close(heard)
    assert (result.stdout, result.stderr) == (b"True\nno child\n", b"")
