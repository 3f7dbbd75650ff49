"""Where output goes: findings to standard output, the reasons for having none to standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import click

from ..observation import Missing, Observation, Observed
from ..record import dumps
from ..render import explain, summary

__all__ = [
    "MISSING",
    "say",
    "say_aside",
    "say_explanation",
    "say_json",
    "say_observation",
    "say_peak",
    "say_summary",
    "say_table",
]

_PROSE = frozenset({"about", "why"})  # the columns that may be broken over several lines

_UNBOUNDED = 10_000  # characters; wider than any table

MISSING = 3
"""The exit status when there is no measurement."""


def say(finding: str) -> bool:
    """Write *finding* and a line break to standard output, at once.

    Returns:
        Whether anyone reads on. A closed pipe is no fault: its reader has seen enough.

    Raises:
        click.ClickException: Standard output cannot be written to (a full disk).
    """
    try:
        click.echo(finding)
    except OSError as refused:
        sys.stdout = None  # what is left in its buffer must not fail once more at exit
        if isinstance(refused, BrokenPipeError):
            return False
        raise click.ClickException("standard output cannot be written to") from None
    return True


def say_aside(remark: str) -> None:
    """Write *remark* and a line break to standard error, or to nobody where that cannot be done."""
    try:
        click.echo(remark, err=True)
    except OSError:
        sys.stderr = None  # what is left in its buffer must not fail once more at exit


def say_observation(observation: Observation) -> bool:
    """Write *observation* as one line of JSON; return as `say` does."""
    return say(dumps(observation))


def say_summary(observation: Observation) -> None:
    """Write one short line for people, or none when nothing is known; say why to their terminal."""
    line = summary(observation)
    if line:
        say(line)
    if isinstance(observation, Missing):
        reason = observation.reason
        click.echo(f"ctxmeasure: {reason.value}: {reason.__doc__}", err=True)


def say_peak(peak: Observation) -> None:
    """Write one short line on the *peak*, or none when it is not known."""
    if isinstance(peak, Observed):
        say(summary(peak).replace("Context", "Peak", 1))


def say_explanation(observation: Observation, *, at: datetime) -> None:
    """Write what *observation* is, how it is known, and how old it is *at* a moment."""
    say(explain(observation, at=at))


def say_json(finding: object) -> None:
    """Write *finding* as one line of JSON."""
    import json  # noqa: PLC0415 - only where asked for

    say(json.dumps(finding, separators=(",", ":")))


def say_table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Write *rows* under the names of *columns*; what a row does not have stays empty.

    On a terminal in aligned columns that wrap, elsewhere as lines with tabs, for other programs.
    """
    cells = [[str(row.get(column, "")) for column in columns] for row in rows]
    if sys.stdout is not None and sys.stdout.isatty():
        say(_aligned(cells, columns))
    else:
        say("\n".join("\t".join(line) for line in [list(columns), *cells]))


def _aligned(cells: Iterable[Sequence[str]], columns: Sequence[str]) -> str:
    from rich.console import Console  # noqa: PLC0415 - 0.1 s, for terminals only
    from rich.table import Table  # noqa: PLC0415 - as above

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        # What people copy stays in one piece; only prose is folded.
        table.add_column(column, overflow="fold", no_wrap=column not in _PROSE)
    for line in cells:
        table.add_row(*line)
    console = Console(markup=False, emoji=False, highlight=False)
    # A terminal narrower than what must stay whole breaks the lines itself; nothing is cut off.
    unbounded = console.options.update(width=_UNBOUNDED)
    console.width = max(console.width, console.measure(table, options=unbounded).minimum)
    with console.capture() as captured:
        console.print(table)
    return captured.get().rstrip("\n")
