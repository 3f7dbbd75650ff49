"""``ctxmeasure run``: run an agent, pass on what it prints, and say at the end how full it got.

The command comes first: whatever goes wrong with measuring it, its output passes through and its
exit status is kept. So our own line goes to standard error, and the event to a file.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias, TypeVar

import click

from ..assess import RUNNER_DEFAULTS, Policy
from ..observation import Observed
from ..record import runner_event_fields
from ..render import iteration_line, summary
from ..source import StreamSource
from ..stream import Stream
from . import event_log
from .child import Child
from .options import completed_by, completed_by_files, limit_option, model_option, window_option
from .output import say_aside
from .quiet import QuietCommand, examples, stream_source, text
from .windows import Windows

__all__ = ["run"]

T = TypeVar("T")

_Report: TypeAlias = tuple[str, dict[str, Any]]
"""The line for people, and what the event says of the context and the run."""

_UNMEASURED: _Report = ("ctxmeasure: what the command printed could not be measured", {})

_PRINTED = {
    "acp": "acp.session",
    "claude": "claude.stream",
    "codex": "codex.exec",
    "pi": "pi.stream",
    "text": "text",
}
"""The stream that each agent prints where a runner starts it."""


def _adapter(typed: str) -> StreamSource[Any]:
    """Return the source of streams that *typed* names by its agent or by its id."""
    return stream_source(_PRINTED.get(typed, typed))


class _Meter:
    """Measures a stream for as long as nothing goes wrong with that."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._works = True

    def hear(self, piece: bytes) -> None:
        """Take a piece of the stream; never raises."""
        self._try(lambda: self._stream.feed_bytes(piece))

    def report(self, duration_ms: int) -> _Report | None:
        """Return what the stream has shown, or None if it could not be measured; never raises."""
        return self._try(lambda: _report(self._stream, duration_ms))

    def _try(self, step: Callable[[], T]) -> T | None:
        if self._works:
            try:
                return step()
            except Exception:  # noqa: BLE001 - a fault of ours must not become the command's
                self._works = False
        return None


@click.command(
    cls=QuietCommand,
    context_settings={"allow_interspersed_args": False},  # what follows COMMAND is the command's
    epilog=examples(
        'ctxmeasure run --adapter claude -- claude -p "..." --output-format stream-json --verbose',
        'ctxmeasure run --adapter pi --hat builder --log events.jsonl -- pi -p --mode json "..."',
    ),
)
@click.option(
    "--adapter",
    "source",
    type=_adapter,
    required=True,
    shell_complete=completed_by(lambda: _PRINTED),
    metavar="AGENT",
    help="What COMMAND prints: claude, codex, pi, acp, text, or the id of a source of streams.",
)
@click.option("--hat", type=text, metavar="NAME", help="A name of yours for the event.")
@model_option
@limit_option
@window_option
@click.option(
    "--assume-defaults",
    is_flag=True,
    help="Where no limit is known, assume Ralph's: 200,000 for Claude Code and Pi.",
)
@click.option(
    "--log",
    metavar="FILE",
    shell_complete=completed_by_files,
    help="Append one line of JSON on the run to FILE.",
)
@click.argument("command", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def run(
    ctx: click.Context,
    /,
    *,
    source: StreamSource[Any],
    hat: str | None,
    log: str | None,
    assume_defaults: bool,
    windows: Windows,
    command: Sequence[str],
    **question: Any,
) -> None:
    """Run COMMAND and say at the end how full its context window is.

    What COMMAND prints passes through at once and unchanged; its standard input, standard error,
    signals and exit status are its own. The line at the end goes to standard error. Whatever goes
    wrong with measuring, COMMAND is not harmed.

    Exit status: that of COMMAND, 128 and the signal's number if it was killed, 127 if it was not
    found, 126 if it cannot be run; 2 wrong arguments.
    """
    assumed = RUNNER_DEFAULTS if assume_defaults else {}
    policy = Policy(assume_limits=assumed, resolver=windows)
    meter = _Meter(Stream(source, policy=policy, **question))
    began = time.monotonic()
    with Child(command, meter.hear) as child:
        status = child.run()
        duration_ms = round(1000 * (time.monotonic() - began))
        if child.trouble is not None:
            say_aside(f"ctxmeasure: {child.trouble}")
        line, shown = meter.report(duration_ms) or _UNMEASURED
        say_aside(line)
        event = {"time": _now(), "hat": hat, "duration_ms": duration_ms, "exit_status": status}
        if log is not None and not event_log.append(log, _known(event | shown)):
            say_aside("ctxmeasure: the event could not be logged")
        ctx.exit(status)


def _report(stream: Stream, duration_ms: int) -> _Report:
    """Return the line that ends an iteration, with the peak where it was another; and the event."""
    current, peak, tally = stream.finish(), stream.peak, stream.tally
    line = iteration_line(duration_ms, tally.cost_usd, tally.turns, current)
    fullest = summary(peak, style="ralph") if isinstance(peak, Observed) else ""
    if fullest and fullest != summary(current, style="ralph"):
        line += f" | {fullest.replace('Context', 'Peak', 1)}"
    return line, {
        "turns": tally.turns,
        "cost_usd": tally.cost_usd,
        "current": runner_event_fields(current),
        "peak": runner_event_fields(peak),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _known(event: Mapping[str, Any]) -> dict[str, Any]:
    return {key: known for key, known in event.items() if known is not None}
