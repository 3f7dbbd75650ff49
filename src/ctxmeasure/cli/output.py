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
    "INTERRUPTED",
    "MISSING",
    "add_column",
    "minimum_width",
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

# The columns that may be broken over several lines, and how narrow each may get before others go.
_PROSE = {"about": 32, "why": 0}

_UNBOUNDED = 10_000  # characters; wider than any table

INTERRUPTED = 130
"""The exit status after Ctrl-C, as a shell says it."""

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


def say_table(
    rows: Iterable[Mapping[str, Any]], columns: Sequence[str], *, spared: Sequence[str] = ()
) -> None:
    """Write *rows* under the names of *columns*; what a row does not have stays empty.

    On a terminal in aligned columns that wrap, elsewhere as lines with tabs, for other programs.
    A narrow terminal does without the columns *spared*, in this order.
    """
    cells = [{column: str(row.get(column, "")) for column in columns} for row in rows]
    console = terminal()
    if console is None:
        say_lines([dict(zip(columns, columns, strict=True)), *cells], columns)
    else:
        say_drawn(console, _aligned(cells, columns, spared, console))


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


def add_column(
    table: Table,
    title: str,
    texts: Iterable[str],
    *,
    is_whole: bool,
    narrowest: int = 0,
    widest: int | None = None,
) -> None:
    """Add a column for *texts* to *table*.

    Args:
        table: The table.
        title: What stands above the column.
        texts: What will stand in it.
        is_whole: It is never broken or cut: without a width of its own, `rich` takes its longest
            word for enough, and cuts what stands behind that.
        narrowest: How narrow a column that is not whole may become.
        widest: How wide it may become at all: what is longer is cut, and shows it.
    """
    from rich.cells import cell_len  # noqa: PLC0415 - 0.1 s, for terminals only

    width = max(map(cell_len, (title, *texts))) if is_whole else narrowest
    table.add_column(
        title,
        overflow="fold" if widest is None else "ellipsis",
        no_wrap=is_whole,
        min_width=(width if widest is None else min(width, widest)) or None,
        max_width=widest,
    )


def minimum_width(table: Table, console: Console) -> int:
    """Return how narrow *table* can be without a column being cut."""
    return console.measure(table, options=console.options.update(width=_UNBOUNDED)).minimum


def _aligned(
    cells: Sequence[Mapping[str, str]],
    columns: Sequence[str],
    spared: Sequence[str],
    console: Console,
) -> Table:
    for count in range(len(spared)):
        table = _drawn(cells, [name for name in columns if name not in spared[:count]], _PROSE)
        if minimum_width(table, console) <= console.width:
            return table
    table = _drawn(cells, [name for name in columns if name not in spared], {})
    # A terminal narrower than what must stay whole breaks the lines itself; nothing is cut off.
    console.width = max(console.width, minimum_width(table, console))
    return table


def _drawn(
    cells: Sequence[Mapping[str, str]], columns: Sequence[str], narrowest: Mapping[str, int]
) -> Table:
    from rich.table import Table  # noqa: PLC0415 - 0.1 s, for terminals only

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        # What people copy stays in one piece; only prose is folded.
        texts = [line[name] for line in cells]
        width = narrowest.get(name, 0)
        add_column(table, name, texts, is_whole=name not in _PROSE, narrowest=width)
    for line in cells:
        table.add_row(*(line[name] for name in columns))
    return table
