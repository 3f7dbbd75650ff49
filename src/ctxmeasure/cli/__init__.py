"""The command line: thin commands over the verbs. Needs the extra ``cli``.

`main` is the entry point. Nothing heavy is imported here: click when a command line is parsed, rich
when a table is printed on a terminal. What a command finds goes to standard output, all else to
standard error; never a path, a native id or a text of a session, not even one that was typed wrong.
The name of a project is shown to the person whose it is, unless they hide it.
"""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper

from . import swift

__all__ = ["main"]

_WRONG_ARGUMENTS = 2


def main() -> None:
    """Run the command line of this process and exit."""
    command, arguments = "".join(sys.argv[1:2]), sys.argv[2:]
    if command in swift.COMMANDS and {"-h", "--help"}.isdisjoint(arguments):
        _run_swiftly(command, arguments)
    _explain()


def _run_swiftly(command: str, arguments: list[str]) -> None:
    """Run what an agent calls and exit; return only if it was called wrongly."""
    status = swift.run(command, arguments)
    if status is not None:
        # To take an interpreter apart costs a fifth of one; all has been written, unbuffered.
        os._exit(status)
    swift.answer_anyway(command, arguments)
    if command == "hook":
        try:
            _explain()
        finally:
            sys.exit(0)  # the status of a wrong argument, 2, would block the agent's turn


def _explain() -> None:
    """Run the whole command line, which takes, explains or refuses any argument."""
    try:
        from .commands import ctxmeasure  # noqa: PLC0415 - click is an extra
    except ModuleNotFoundError as absent:
        if absent.name != "click":
            raise
        sys.stderr.write(
            "ctxmeasure: the command line needs click; run: pip install 'ctxmeasure[cli]'\n"
        )
        sys.exit(_WRONG_ARGUMENTS)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what its encoding lacks is no reason to fail
            stream.reconfigure(errors="replace")
    ctxmeasure(prog_name="ctxmeasure")
