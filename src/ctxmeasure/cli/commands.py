"""The command ``ctxmeasure`` and its subcommands, put together."""

from __future__ import annotations

import click

from .for_agents import hook, statusline
from .models import models
from .observe import observe
from .quiet import QuietGroup, examples
from .run import run
from .sources import sources
from .stream import stream

__all__ = ["ctxmeasure"]


@click.group(
    cls=QuietGroup,
    epilog=examples(
        "ctxmeasure observe auto SESSION.jsonl --summary",
        'claude -p "..." --output-format stream-json --verbose | ctxmeasure stream claude.stream',
    ),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="ctxmeasure", message="%(prog)s %(version)s")
def ctxmeasure() -> None:
    """Tell how full a coding agent's context window is, and how that is known.

    Exit status: 0 there is a measurement, 3 there is none (its reason has a name), 2 the command
    was called wrongly.
    """


for _command in (observe, stream, run, hook, statusline, sources, models):
    ctxmeasure.add_command(_command)
