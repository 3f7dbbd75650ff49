"""The command line: thin commands over the verbs. Needs the extra ``cli``.

`main` is the entry point. Nothing heavy is imported here: click when a command line is parsed, rich
when a table is printed on a terminal. What a command finds goes to standard output, all else to
standard error; never a path, a native id or a text of a session, not even one that was typed wrong.
The name of a project is shown to the person whose it is, unless they hide it.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper

__all__ = ["main"]

_WRONG_ARGUMENTS = 2


def main() -> None:
    """Run the command line of this process and exit."""
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
