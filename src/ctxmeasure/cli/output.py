"""Where output goes: findings to standard output, the reasons for having none to standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from ..observation import Missing, Observation, Observed
from ..record import dumps
from ..render import explain, summary

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = [
    "MISSING",
    "UNBOUNDED",
    "say",
    "say_aside",
    "say_drawn",
    "say_explanation",
    "say_json",
    "say_lines",
    "say_observation",
    "say_peak",
    "say_reason",
    "say_summary",
    "say_table",
    "terminal",
]

_PROSE = frozenset({"about", "why"})  # the columns that may be broken over several lines

UNBOUNDED = 10_000
"""Characters; wider than any table."""

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
        say_reason(observation)


def say_reason(missing: Missing) -> None:
    """Say on standard error why there is no measurement, and what to do."""
    say_aside(f"ctxmeasure: {missing.reason.value}: {missing.reason.__doc__}")


def say_peak(peak: Observation) -> None:
    """Write one short line on the *peak*, or none when it is not known."""
    if isinstance(peak, Observed):
        say(summary(peak).replace("Context", "Peak", 1))


def say_explanation(observation: Observation, *, at: datetime) -> None:
    """Write what *observation* is, how it is known, and how old it is *at* a moment."""
    say(explain(observation, at=at))


def say_json(finding: object) -> bool:
    """Write *finding* as one line of JSON; return as `say` does."""
    import json  # noqa: PLC0415 - only where asked for

    return say(json.dumps(finding, separators=(",", ":")))


def say_table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Write *rows* under the names of *columns*; what a row does not have stays empty.

    On a terminal in aligned columns that wrap, elsewhere as lines with tabs, for other programs.
    """
    cells = [{column: str(row.get(column, "")) for column in columns} for row in rows]
    console = terminal()
    if console is None:
        say_lines([dict(zip(columns, columns, strict=True)), *cells], columns)
    else:
        say_drawn(console, _aligned(cells, columns, console))


def say_lines(rows: Iterable[Mapping[str, str]], columns: Sequence[str]) -> bool:
    """Write a line for each of *rows*, with tabs between the *columns*; return as `say` does."""
    return say("\n".join("\t".join(row[column] for column in columns) for row in rows))


def terminal() -> Console | None:
    """Return a console on standard output, or None where that is no terminal."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    from rich.console import Console  # noqa: PLC0415 - 0.1 s, for terminals only

    return Console(markup=False, emoji=False, highlight=False)


def say_drawn(console: Console, drawn: object) -> bool:
    """Write what *console* makes of *drawn*; return as `say` does."""
    with console.capture() as captured:
        console.print(drawn)
    return say(captured.get().rstrip("\n"))


def _aligned(cells: Iterable[Mapping[str, str]], columns: Sequence[str], console: Console) -> Table:
    from rich.table import Table  # noqa: PLC0415 - 0.1 s, for terminals only

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        # What people copy stays in one piece; only prose is folded.
        table.add_column(column, overflow="fold", no_wrap=column not in _PROSE)
    for line in cells:
        table.add_row(*line.values())
    # A terminal narrower than what must stay whole breaks the lines itself; nothing is cut off.
    unbounded = console.options.update(width=UNBOUNDED)
    console.width = max(console.width, console.measure(table, options=unbounded).minimum)
    return table
