"""``ctxmeasure stream``: how full the context is while an agent runs, from the lines it prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import click

from ..assess import Policy
from ..observation import Missing, Observation
from ..source import StreamSource
from ..stream import Stream
from . import standard_input
from .options import completed_by, limit_option, model_option, session_option, window_option
from .output import MISSING, say_observation, say_peak, say_summary
from .quiet import QuietCommand, examples, stream_ids, stream_source
from .windows import Windows

__all__ = ["stream"]


@click.command(
    cls=QuietCommand,
    epilog=examples(
        'claude -p "..." --output-format stream-json --verbose | ctxmeasure stream claude.stream',
        "ctxmeasure stream claude.stream --summary < RECORDED.jsonl",
    ),
)
@click.argument("source", type=stream_source, shell_complete=completed_by(stream_ids))
@session_option
@model_option
@limit_option
@window_option
@click.option(
    "--summary",
    is_flag=True,
    help="Print a summary and the peak for people at the end, and no JSON.",
)
@click.pass_context
def stream(
    ctx: click.Context,
    /,
    *,
    source: StreamSource[Any],
    summary: bool,
    windows: Windows,
    **question: Any,
) -> None:
    """Print how full the context window is while an agent runs.

    Follows the lines that the agent prints, on standard input, and prints each change at once, as a
    line of JSON. The last line is what is known at the end; there is always one. The end comes with
    the end of the agent's output, with Ctrl-C, or when nobody reads on.

    Exit status: 0 observed at the end, 3 missing, 2 wrong arguments.
    """
    followed = Stream(source, policy=Policy(resolver=windows), **question)
    tell = _keep_silent if summary else say_observation
    told = False
    received_at = _received_at()
    with suppress(KeyboardInterrupt):
        for change in _changes(followed, standard_input.pieces(), received_at):
            told = True
            if not tell(change):
                break
    for change in _changes(followed, [b"\n"], received_at):  # the last line may lack its end
        told = tell(change)
    final = followed.finish(at=received_at)
    if summary:
        say_summary(final)
        say_peak(followed.peak)
    elif not told:
        say_observation(final)
    if isinstance(final, Missing):
        ctx.exit(MISSING)


def _received_at() -> datetime | None:
    """Return when a recording was received: when it was written; None: now, as its pieces come."""
    written_at = standard_input.written_at()
    return None if written_at is None else min(written_at, datetime.now(UTC))


def _changes(
    followed: Stream, pieces: Iterable[bytes], received_at: datetime | None
) -> Iterator[Observation]:
    for piece in pieces:
        change = followed.feed_bytes(piece, at=received_at)
        if change is not None:
            yield change


def _keep_silent(_: Observation) -> bool:
    return True
