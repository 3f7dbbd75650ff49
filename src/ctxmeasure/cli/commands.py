"""The command ``ctxmeasure`` and its subcommands, put together."""

from __future__ import annotations

import click

from .check import check
from .doctor import doctor
from .explain import explain
from .models import models
from .observe import observe
from .quiet import QuietGroup, examples
from .run import run
from .sessions import sessions
from .sources import sources
from .stream import stream
from .watch import watch

__all__ = ["ctxmeasure"]


@click.group(
    cls=QuietGroup,
    epilog=examples(
        "ctxmeasure sessions --since 2h --sort pressure",
        "ctxmeasure explain SESSION.jsonl",
        'claude -p "..." --output-format stream-json --verbose | ctxmeasure stream claude.stream',
    ),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="ctxmeasure", message="%(prog)s %(version)s")
def ctxmeasure() -> None:
    """Tell how full a coding agent's context window is, and how that is known.

    Begin with `ctxmeasure sessions`: it finds the sessions of Claude Code, Codex, Cursor and Pi on
    this machine.

    Exit status: 0 there is a measurement, 3 there is none (its reason has a name), 2 the command
    was called wrongly.
    """


for _command in (sessions, watch, observe, explain, check, stream, run, sources, models, doctor):
    ctxmeasure.add_command(_command)
