"""``ctxmeasure check``: an exit status for scripts, by how full the context window is."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from ..assess import Policy
from ..discover import Handle
from ..source import Source
from .options import (
    file_argument,
    limit_option,
    model_option,
    session_option,
    source_argument,
    window_option,
)
from .output import INTERRUPTED, MISSING, say_summary
from .overview import share
from .question import answer
from .quiet import QuietCommand, duration, examples, percentage
from .windows import Windows

__all__ = ["check"]

_REACHED = 1


@click.command(
    cls=QuietCommand,
    epilog=examples(
        "ctxmeasure check auto @claude --max 85 || echo 'compact first'",
        "ctxmeasure check claude.status_line --max 85 < PAYLOAD.json",
    ),
)
@source_argument
@file_argument
@click.option(
    "--max",
    "most",
    type=percentage,
    required=True,
    metavar="PERCENT",
    help="The share of the limit that must not be reached.",
)
@session_option
@model_option
@limit_option
@window_option
@click.option(
    "--max-age",
    type=duration,
    metavar="SECONDS",
    help="How old a sample may be; an older one is missing. Default: any age.",
)
@click.pass_context
def check(
    ctx: click.Context,
    /,
    *,
    source: Source | str,
    file: str | Handle,
    most: float,
    max_age: timedelta | None,
    windows: Windows,
    **question: Any,
) -> None:
    """Exit with a status that says whether the context window is fuller than it may be.

    SOURCE and FILE are those of `ctxmeasure observe`; `auto` tells the source by its looks. The
    summary is printed too, or on standard error why there is none.

    Exit status: 0 below --max, 1 at or over it, 3 missing (not known is neither), 2 wrong arguments
    or a source that `auto` cannot tell.
    """
    policy = Policy(max_age=max_age, resolver=windows)
    try:
        observation = answer(source, file, at=datetime.now(UTC), policy=policy, **question)
    except KeyboardInterrupt:  # click's status for it would be that of a context that is too full
        ctx.exit(INTERRUPTED)
    # Its status would be that of a context that is too full.
    with suppress(click.ClickException):
        say_summary(observation)
    percent = share(observation)
    if percent is None:
        ctx.exit(MISSING)
    ctx.exit(_REACHED if percent >= most else 0)
