"""The command line for tests: in this process, where coverage sees it, or in one of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, BinaryIO, Final

from click.testing import CliRunner, Result

from ctxmeasure.cli.commands import ctxmeasure

__all__ = ["CLAUDE", "COMMAND", "REPLAYER", "lines", "run", "run_process"]

CLAUDE: Final = Path(__file__).parent / "recordings" / "claude"
"""The recordings of the newest Claude Code."""

COMMAND: Final = (sys.executable, "-c", "from ctxmeasure.cli import main; main()")
"""What the installed script does."""

REPLAYER: Final = (sys.executable, str(Path(__file__).with_name("replayer.py")))
"""An agent that plays a recording."""


def run(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    """Run a command line in this process; an exception that escapes it fails the test."""
    runner = CliRunner()
    return runner.invoke(ctxmeasure, [*map(str, arguments)], input=stdin, catch_exceptions=False)


def run_process(
    *arguments: str | Path, stdin: bytes | BinaryIO = b"", command: tuple[str, ...] = COMMAND
) -> subprocess.CompletedProcess[bytes]:
    """Run a command line in a process of its own, with a pipe or an open file as its input."""
    given: dict[str, Any] = {"input" if isinstance(stdin, bytes) else "stdin": stdin}
    return subprocess.run(  # noqa: S603 - our own code
        [*command, *map(str, arguments)], capture_output=True, check=False, timeout=60, **given
    )


def lines(output: str | bytes) -> list[Any]:
    """Return what each line of *output* holds as JSON."""
    return [json.loads(line) for line in output.splitlines()]
