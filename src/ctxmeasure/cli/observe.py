"""``ctxmeasure observe``: how full the context is, as one file or payload shows it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from ..assess import Counts, Policy
from ..evidence import Phase
from ..observation import Missing
from ..source import Source
from .options import (
    completed_by,
    file_argument,
    limit_option,
    model_option,
    session_option,
    source_argument,
    window_option,
)
from .output import MISSING, say_explanation, say_observation, say_summary
from .question import answer
from .quiet import (
    QuietCommand,
    duration,
    examples,
    moment,
    one_of,
    positive,
    text,
)

if TYPE_CHECKING:
    from ..discover import Handle
    from .windows import Windows

__all__ = ["observe"]


@click.command(
    cls=QuietCommand,
    epilog=examples(
        "ctxmeasure observe auto SESSION.jsonl --summary",
        "ctxmeasure observe claude.transcript SESSION.jsonl --phase active --turn PROMPT_ID",
        "ctxmeasure observe claude.status_line --explain < PAYLOAD.json",
    ),
)
@source_argument
@file_argument
@session_option
@click.option(
    "--turn",
    "turn_id",
    type=text,
    metavar="ID",
    help="The turn the sample must belong to (Claude Code: its prompt_id).",
)
@click.option(
    "--turn-started-at",
    type=moment,
    metavar="TIME",
    help="When the turn began; for agents that record no turn ids.",
)
@click.option(
    "--agent",
    "agent_id",
    type=text,
    metavar="ID",
    help="A sub-agent, to measure it instead of the main chain.",
)
@click.option(
    "--phase",
    type=one_of(Phase),
    shell_complete=completed_by(lambda: Phase),
    default=Phase.LATEST.value,
    metavar="PHASE",
    help="active: the turn is running; terminal: it has ended; latest (the default): any.",
)
@click.option("--at", type=moment, metavar="TIME", help="The moment of the question. Default: now.")
@model_option
@limit_option
@window_option
@click.option(
    "--counts",
    type=one_of(Counts),
    shell_complete=completed_by(lambda: Counts),
    default=Counts.OWN.value,
    metavar="BASIS",
    help="own (the default): what the agent's own meter counts; prompt: the prompt, for all.",
)
@click.option(
    "--max-age",
    type=duration,
    metavar="SECONDS",
    help="How old a sample may be. Default: 30 while a turn is active, else any age.",
)
@click.option("--accept-estimates", is_flag=True, help="Accept counts that the agent estimated.")
@click.option(
    "--max-bytes",
    type=positive,
    metavar="BYTES",
    help="How much may be read. Default: 256 KiB, or 4 MiB for an active turn or a payload.",
)
@click.option("--json", "form", flag_value="json", help="Print one line of JSON. The default.")
@click.option("--summary", "form", flag_value="summary", help="Print one short line for people.")
@click.option("--explain", "form", flag_value="explain", help="Print what it is and how we know.")
@click.pass_context
def observe(
    ctx: click.Context,
    /,
    *,
    source: Source | str,
    file: str | Handle,
    at: datetime | None,
    form: str | None,
    counts: Counts,
    max_age: timedelta | None,
    accept_estimates: bool,
    max_bytes: int | None,
    windows: Windows,
    **question: Any,
) -> None:
    """Print how full the context window is, as SOURCE shows it in FILE.

    SOURCE is an id that `ctxmeasure sources` lists, or `auto` to tell it by its looks: that works
    where the first or last rows can be no other agent's, and asks you for the id where they can.
    FILE is a path; `-`, or nothing, is standard input, which can be no database. A session on this
    machine is `@ID`, by the ID that `ctxmeasure sessions` shows; `@claude` is the newest of that
    agent, and `@` the newest of all.

    Times are ISO 8601 with a time zone, such as 2026-11-29T18:00:00Z. Of --json, --summary and
    --explain the last one counts.

    Exit status: 0 observed, 3 missing, 2 wrong arguments or a source that `auto` cannot tell.
    """
    asked_at = at or datetime.now(UTC)
    policy = Policy(
        counts=counts, max_age=max_age, accept_estimates=accept_estimates, resolver=windows
    )
    observation = answer(source, file, at=asked_at, policy=policy, max_bytes=max_bytes, **question)
    match form:
        case "summary":
            say_summary(observation)
        case "explain":
            say_explanation(observation, at=asked_at)
        case _:
            say_observation(observation)
    if isinstance(observation, Missing):
        ctx.exit(MISSING)
