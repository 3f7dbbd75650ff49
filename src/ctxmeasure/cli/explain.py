"""``ctxmeasure explain``: why this number, and what it cost to tell."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from .. import render
from ..assess import Policy
from ..figures import plain
from ..observation import Missing, Observation
from ..source import Source
from ..usage import TokenUsage
from .options import (
    file_argument,
    limit_option,
    model_option,
    session_option,
    source_option,
    window_option,
)
from .output import MISSING, say
from .question import answer
from .quiet import QuietCommand, examples, text

if TYPE_CHECKING:
    from ..discover import Handle
    from .windows import Windows

__all__ = ["explain"]


@click.command(
    cls=QuietCommand,
    epilog=examples(
        "ctxmeasure explain @claude",
        "ctxmeasure explain SESSION.jsonl",
        "ctxmeasure explain STORE.db --source cursor.chat_store",
    ),
)
@file_argument
@source_option
@session_option
@click.option(
    "--agent",
    "agent_id",
    type=text,
    metavar="ID",
    help="A sub-agent, to measure it instead of the main chain.",
)
@model_option
@limit_option
@window_option
@click.pass_context
def explain(
    ctx: click.Context,
    /,
    *,
    file: str | Handle,
    source: Source | str,
    windows: Windows,
    **question: Any,
) -> None:
    """Print in sentences how full the context window is, and how that is known.

    FILE is a session's file, a recorded stream or a payload; `-`, or nothing, is standard input. A
    session on this machine is `@ID`, by the ID that `ctxmeasure sessions` shows; `@claude` is the
    newest of that agent, and `@` the newest of all.

    Said are the number and its parts, where each comes from, its age, its grade and why, and what
    the reading cost; for a missing number what is missing, what is still known, and what to do.

    Exit status: 0 observed, 3 missing, 2 wrong arguments or a source that cannot be told.
    """
    at = datetime.now(UTC)
    observation = answer(source, file, at=at, policy=Policy(resolver=windows), **question)
    say("\n".join([render.explain(observation, at=at), *_more(observation)]))
    if isinstance(observation, Missing):
        ctx.exit(MISSING)


def _more(observation: Observation) -> Iterator[str]:
    """Yield what the explanation leaves out: the parts of the count, the version, the cost."""
    provenance = observation.provenance
    if provenance.usage is not None:
        yield f"The request's parts: {_parts(provenance.usage)}."
    if provenance.runtime_version is not None:
        yield f"The agent's version is {plain(provenance.runtime_version)}."
    stats = provenance.stats
    if stats.bytes_read:
        skipped = f", {stats.rows_skipped:,} could not be" if stats.rows_skipped else ""
        whole = "" if stats.window_truncated else ", which is all there is"
        yield (
            f"To tell this, {stats.bytes_read:,} bytes were read{whole}, and"
            f" {stats.rows_decoded:,} rows or values decoded{skipped}."
        )


def _parts(usage: TokenUsage) -> str:
    return (
        f"input {usage.input_tokens:,}, cache reads {usage.cache_read_tokens:,}, "
        f"cache writes {usage.cache_write_tokens:,}, output {usage.output_tokens:,}"
    )
