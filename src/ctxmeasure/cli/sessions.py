"""``ctxmeasure sessions``: every session on this machine, and how full each is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Any, TypeVar

import click
from attrs import frozen

from ..assess import Policy
from ..discover import Discovery, Session, find_sessions
from ..registry import AGENTS_ON_DISK
from .options import completed_by, window_option
from .output import MISSING, say_aside, say_drawn, say_json, say_lines, terminal
from .overview import COLUMNS, HEADER, Look, Order, Seen, cells, ordered, table, wire
from .quiet import QuietCommand, agent, examples, one_of, percentage, positive, span
from .windows import Windows

__all__ = ["Wanted", "finding_options", "sessions", "wanted_and_look"]

_NEWEST = 30  # more than one screen of them nobody reads
_MANY = 200  # sessions; they take a tenth of a second
CommandT = TypeVar("CommandT", bound=Callable[..., Any])


@frozen(kw_only=True)
class Wanted:
    """Which sessions are wanted.

    Attributes:
        agents: Of which agents.
        since: How long ago they may have been written to last; None: any time.
        newest: How many at most; None: all.
        subagents: Sub-agents' own, too.
    """

    agents: tuple[str, ...]
    since: timedelta | None
    newest: int | None
    subagents: bool

    def found(self, at: datetime) -> Discovery:
        """Return what is found of them at a moment."""
        return find_sessions(
            agents=self.agents,
            since=self._oldest(at),
            limit=self.newest,
            subagents=self.subagents,
        )

    def _oldest(self, at: datetime) -> datetime | None:
        with suppress(OverflowError):  # before there were years
            return None if self.since is None else at - self.since
        return None

    def among(self, found: Discovery) -> tuple[Session, ...]:
        """Return the sessions of *found* that are wanted."""
        return found.sessions + (found.subagents if self.subagents else ())


_OPTIONS = (
    click.option(
        "--agent",
        "agents",
        type=agent,
        multiple=True,
        metavar="NAME",
        shell_complete=completed_by(lambda: AGENTS_ON_DISK),
        help="Only the sessions of this agent; may be given several times.",
    ),
    click.option(
        "--since",
        type=span,
        metavar="DURATION",
        help="Only sessions that were written to in the last 90s, 15m, 2h, 7d, or so many seconds.",
    ),
    click.option(
        "--newest",
        type=positive,
        default=str(_NEWEST),
        metavar="N",
        help=f"Only the N sessions that were written to last. Default: {_NEWEST}.",
    ),
    click.option("--all", "every", is_flag=True, help="All sessions, however many."),
    click.option("--subagents", is_flag=True, help="Sub-agents too: each has its own window."),
    click.option("--no-names", is_flag=True, help="Do not show the names of projects."),
    click.option(
        "--sort",
        "order",
        type=one_of(Order),
        shell_complete=completed_by(lambda: Order),
        default=Order.NEWEST.value,
        metavar="ORDER",
        help="newest (the default); pressure: the fullest first; agent.",
    ),
    click.option(
        "--yellow-at",
        "yellow",
        type=percentage,
        default="70",
        metavar="PERCENT",
        help="From here on a session is shown in yellow. Default: 70.",
    ),
    click.option(
        "--red-at",
        "red",
        type=percentage,
        default="85",
        metavar="PERCENT",
        help="From here on a session is shown in red. Default: 85.",
    ),
    window_option,
)


def finding_options(command: CommandT) -> CommandT:
    """Give *command* the options that say which sessions are shown, and how."""
    return reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), command)


def wanted_and_look(
    *,
    agents: tuple[str, ...],
    since: timedelta | None,
    newest: int,
    every: bool,
    subagents: bool,
    no_names: bool,
    order: Order,
    yellow: float,
    red: float,
) -> tuple[Wanted, Look]:
    """Return which sessions the options ask for, and how they are to be shown."""
    wanted = Wanted(
        agents=agents or AGENTS_ON_DISK,
        since=since,
        newest=None if every else newest,
        subagents=subagents,
    )
    return wanted, Look(names=not no_names, order=order, yellow=yellow, red=red)


@click.command(
    cls=QuietCommand,
    epilog=examples(
        "ctxmeasure sessions",
        "ctxmeasure sessions --since 2h --sort pressure",
        "ctxmeasure sessions --json | jq -r '.[] | [.agent, .grade] | @tsv'",
    ),
)
@finding_options
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON: a list.")
@click.pass_context
def sessions(ctx: click.Context, /, *, as_json: bool, windows: Windows, **options: Any) -> None:
    """Print the sessions on this machine, and how full each context window is.

    Looks where Claude Code, Codex, Cursor and Pi keep their sessions, also where their own
    environment variables say so. Of each session a bounded part is read, and nothing is written.

    The GRADE says how far to believe a number: exact, derived, inferred, declared, assumed,
    estimated, or missing and why. `ctxmeasure explain @ID` says more of a session by its ID, and
    so do history, check and observe; `ctxmeasure doctor` says where was looked.

    Exit status: 0 some session was found, 3 none was, 2 wrong arguments.
    """
    at = datetime.now(UTC)
    wanted, look = wanted_and_look(**options)
    found = wanted.found(at)
    policy = Policy(resolver=windows)
    seen = ordered(_observed(wanted.among(found), at, policy), look.order)
    if as_json:
        say_json([wire(one, look) for one in seen])
    elif seen:
        _show(seen, look, at=at)
    _say_what_is_not_shown(found, wanted, anything=bool(seen))
    if not seen:
        ctx.exit(MISSING)


def _show(seen: Sequence[Seen], look: Look, *, at: datetime) -> None:
    """Print a table on a terminal, and lines with tabs elsewhere."""
    console = terminal()
    if console is None:
        say_lines([HEADER, *(cells(one, look, at=at) for one in seen)], COLUMNS)
    else:
        say_drawn(console, table(seen, look, console, at=at))


def _observed(found: Sequence[Session], at: datetime, policy: Policy) -> list[Seen]:
    with _progress(found) as remaining:
        return [Seen(one, one.handle.observe(at=at, policy=policy)) for one in remaining]


@contextmanager
def _progress(found: Sequence[Session]) -> Iterator[Iterable[Session]]:
    """Show on a person's standard error how far a long scan has come."""
    if len(found) < _MANY or sys.stderr is None or not sys.stderr.isatty():
        yield found
    else:
        with click.progressbar(found, label="Reading sessions", file=sys.stderr) as bar:
            yield bar


def _say_what_is_not_shown(found: Discovery, wanted: Wanted, *, anything: bool) -> None:
    if not anything and wanted.since is not None:
        say_aside("ctxmeasure: no session was written to in that time; see --since.")
    elif not anything:
        say_aside("ctxmeasure: no session was found; `ctxmeasure doctor` says where was looked.")
    if found.left_out:
        older = "1 older one is" if found.left_out == 1 else f"{found.left_out} older ones are"
        say_aside(f"ctxmeasure: {older} not shown; see --newest and --all.")
    if found.is_cut_short:
        say_aside("ctxmeasure: there is more than was looked at; `ctxmeasure doctor` says where.")
    if any(looked.lacks_permission for looked in found.looked):
        say_aside("ctxmeasure: some folders cannot be listed; `ctxmeasure doctor` says where.")
