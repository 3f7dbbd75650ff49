"""``ctxmeasure watch``: every session on this machine, live.

The operating system says which files were written to, and only these are read again. After each
round the watcher rests thirty times as long as the round took of the processor, so that it takes
about a thirtieth of a core however busy the sessions are.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

import click
from attrs import define, frozen

from ..assess import Policy
from .board import Alerts, Board
from .file_events import LOOK_ANEW, file_events
from .output import say, say_json, say_lines, terminal
from .overview import COLUMNS, HEADER, Look, Seen, cells, ordered, table, wire
from .quiet import QuietCommand, examples, percentage
from .sessions import finding_options, wanted_and_look
from .windows import Windows

if TYPE_CHECKING:
    from rich.console import Group
    from rich.live import Live

__all__ = ["watch"]

_REST = 30  # times the processor time of a round
_LONGEST_REST = 5.0  # seconds
_NEVER = float("inf")  # percent
_NOTHING = "No session yet."


@click.command(
    cls=QuietCommand,
    epilog=examples(
        "ctxmeasure watch",
        "ctxmeasure watch --since 2h --sort pressure --notify-at 80",
        "ctxmeasure watch --json | jq -c '[.agent, .grade]'",
    ),
)
@finding_options
@click.option(
    "--notify-at",
    "line",
    type=percentage,
    metavar="PERCENT",
    help="Print a line when a session that is being written to reaches this, once.",
)
@click.option("--json", "as_json", is_flag=True, help="Print each change as a line of JSON.")
def watch(*, line: float | None, as_json: bool, windows: Windows, **options: Any) -> None:
    """Print the sessions on this machine whenever one of them changes.

    On a terminal it is a table that stays in place; elsewhere a line for each change, behind a line
    for each session. Ctrl-C ends it.

    With --notify-at a session is announced when it reaches the line while it is being written to,
    and again only after it has fallen 5 points below or was compacted.

    Exit status: 0 ended by Ctrl-C or because nobody reads on, 2 wrong arguments.
    """
    wanted, look = wanted_and_look(**options)
    board = Board(wanted.found, wanted.among, Policy(resolver=windows))
    alerts = Alerts(_NEVER if line is None else line)
    with suppress(KeyboardInterrupt), _screen(look, as_json=as_json) as screen:
        _follow(board, screen, alerts)


def _follow(board: Board, screen: _Screen, alerts: Alerts) -> None:
    """Show the board and every change of it, until nobody reads on."""
    at = datetime.now(UTC)
    is_read = screen.show(board.look_anew(at), board, at)
    events = file_events(board.folders)
    while is_read:
        paths = next(events)
        begun, at = time.thread_time(), datetime.now(UTC)
        changed = board.look_anew(at) if paths is LOOK_ANEW else board.touched(paths, at)
        written = [one for one in changed if board.is_written_to(one.session)]
        crossed = [one for one in written if alerts.crossed(one.session.handle, one.observation)]
        is_read = screen.show(changed, board, at) and screen.alert(crossed, alerts.line, at)
        time.sleep(min(_LONGEST_REST, _REST * (time.thread_time() - begun)))


# -- screens: each answer says whether anyone reads on --------------------------------------------


@define
class _Lines:
    """A line with tabs for each change, behind a header."""

    look: Look
    _is_begun: bool = False

    def show(self, changed: Sequence[Seen], _: Board, at: datetime) -> bool:
        rows = [] if self._is_begun else [HEADER]
        rows += [cells(one, self.look, at=at) for one in ordered(changed, self.look.order)]
        self._is_begun = True
        return say_lines(rows, COLUMNS) if rows else True

    def alert(self, crossed: Sequence[Seen], line: float, at: datetime) -> bool:
        return all(say(_alert(one, self.look, line, at)) for one in crossed)


@frozen
class _Json:
    """A line of JSON for each change."""

    look: Look

    def show(self, changed: Sequence[Seen], _: Board, __: datetime) -> bool:
        return all(say_json(wire(one, self.look)) for one in ordered(changed, self.look.order))

    def alert(self, crossed: Sequence[Seen], line: float, _: datetime) -> bool:
        return all(say_json({"alert": line, **wire(one, self.look)}) for one in crossed)


@frozen
class _Table:
    """A table that stays in place, with alerts above it."""

    look: Look
    live: Live

    def show(self, _: Sequence[Seen], board: Board, at: datetime) -> bool:
        seen = ordered([*board.seen.values()], self.look.order)
        self.live.update(self._drawn(seen, at) if seen else _NOTHING, refresh=True)
        return True

    def _drawn(self, seen: Sequence[Seen], at: datetime) -> Group:
        """Return the table, and dots in place of what a low terminal has no room for.

        Beside it is room for the ``^C`` that a terminal shows at the cursor: in a line that is full
        it would begin another one, and the table could not be taken back.
        """
        from rich.console import Group  # noqa: PLC0415 - for terminals only
        from rich.segment import SegmentLines  # noqa: PLC0415 - as above

        console = self.live.console
        width = console.width - len("^C")
        drawn = table(seen, self.look, console, at=at, width=width)
        lines = console.render_lines(drawn, console.options.update(width=width))
        if len(lines) <= console.height:
            return Group(SegmentLines(lines, new_lines=True))
        return Group(SegmentLines(lines[: console.height - 1], new_lines=True), "...")

    def alert(self, crossed: Sequence[Seen], line: float, at: datetime) -> bool:
        from rich.text import Text  # noqa: PLC0415 - for terminals only

        for one in crossed:  # a style of `print` itself would be the table's, too
            self.live.console.print(Text(_alert(one, self.look, line, at), style="bold red"))
        return True


_Screen: TypeAlias = _Lines | _Json | _Table


@contextmanager
def _screen(look: Look, *, as_json: bool) -> Iterator[_Screen]:
    console = None if as_json else terminal()
    if as_json:
        yield _Json(look)
    elif console is None or console.is_dumb_terminal:  # which can keep nothing in its place
        yield _Lines(look)
    else:
        from rich.live import Live  # noqa: PLC0415 - for terminals only

        with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
            yield _Table(look, live)


def _alert(seen: Seen, look: Look, line: float, at: datetime) -> str:
    row = cells(seen, look, at=at)
    named = " ".join(
        part for part in (row["agent"], row["project"], f"@{row['id']}") if part != "-"
    )
    return f"ALERT {named} is at {row['context']}, over {line:g}%"
