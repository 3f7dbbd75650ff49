"""``ctxmeasure history``: a whole session as a curve, on the terminal, as a page, as a picture."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..assess import Policy
from ..bounded.budget import MIB, ReadFault
from ..history import Moment, scan
from ..observation import Missing, MissingReason
from ..record import to_dict
from ..registry import find
from ..report import Curve, page, plotted, sentences
from ..report.plot import NARROWEST, Part, Row
from ..source import Source, TailSource
from .named import refuse_others
from .options import (
    completed_by_files,
    limit_option,
    model_option,
    session_file_argument,
    session_option,
    source_option,
    window_option,
)
from .output import MISSING, say, say_drawn, say_json, say_reason, terminal
from .question import identified, unread
from .quiet import QuietCommand, examples, text
from .written_file import is_same_file, write_file

if TYPE_CHECKING:
    from ..discover import Handle
    from .windows import Windows

__all__ = ["coloured", "history"]

CommandT = TypeVar("CommandT", bound=Callable[..., Any])
_WIDTH = 80  # of a plot that no terminal shows
_LONG = 16 * MIB  # takes a tenth of a second
_STYLES = {
    Part.CURVE: "cyan",
    Part.MARKS: "bold yellow",
    Part.LANE: "magenta",
    Part.AXIS: "",
    Part.LEGEND: "dim",
}
_BLOCKS = "▁█░│─"
_UNREAD = frozenset({MissingReason.SOURCE_ABSENT, MissingReason.SOURCE_UNREADABLE})


def _written(flag: str, about: str) -> Callable[[CommandT], CommandT]:
    """Return what gives a command the option *flag* for a file that it writes."""
    return click.option(
        flag, type=text, metavar="PATH", shell_complete=completed_by_files, help=about
    )


@click.command(
    cls=QuietCommand,
    epilog=examples(
        "ctxmeasure history SESSION.jsonl",
        "ctxmeasure history @claude --html report.html",
        "ctxmeasure history SESSION.jsonl --json | jq -r '.observation.value.used_tokens'",
    ),
)
@session_file_argument
@source_option
@session_option
@click.option(
    "--agent",
    "agent_id",
    type=text,
    metavar="ID",
    help="A sub-agent, to follow it instead of the main chain.",
)
@model_option
@limit_option
@window_option
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for every moment.")
@_written("--html", "Write a page that stands alone.")
@_written("--png", "Write a picture (the extra `plot`).")
@_written("--svg", "The same as an SVG.")
@click.pass_context
def history(
    ctx: click.Context,
    /,
    *,
    file: str | Handle,
    source: Source | str,
    as_json: bool,
    html: str | None,
    png: str | None,
    svg: str | None,
    windows: Windows,
    **question: Any,
) -> None:
    """Print a whole session as a curve: every response, compaction, rewind and switch of the model.

    FILE is the session file of Claude Code, Codex or Pi; it is read once, from its beginning.
    One on this machine is `@ID`, by the ID that `ctxmeasure sessions` shows; `@claude` is the
    newest of that agent, and `@` the newest of all.

    Where nothing was measured nothing is drawn, and it is said why. With --html, --png or --svg
    that file is written instead. No text, path, project or id of the session is in any of them.

    Exit status: 0 something was measured, 3 nothing was or FILE cannot be read, 2 wrong arguments
    or no session file.
    """
    at = datetime.now(UTC)
    source, file = _settled(source, file, question)
    written = {form: path for form, path in (("html", html), ("png", png), ("svg", svg)) if path}
    if any(is_same_file(file, path) for path in written.values()):
        raise click.UsageError("What is written would take the place of FILE.")
    if any(is_same_file(one, other) for one, other in combinations(written.values(), 2)):
        raise click.UsageError("Two of the files to be written are the same.")
    moments = _moments(source, file, at, {**question, "policy": Policy(resolver=windows)})
    with _progress(moments, file) as told:
        curve = None if as_json else Curve.of(told)
        is_measured = _say_moments(told) if curve is None else curve.peak is not None
    if curve is not None and not _is_unread(curve):
        _show(curve, written, at)
    if curve is not None and curve.peak is None and isinstance(curve.last, Missing):
        say_reason(curve.last)
    if not is_measured:
        ctx.exit(MISSING)


# -- what is read ---------------------------------------------------------------------------------


def _settled(
    source: Source | str, file: str | Handle, question: dict[str, Any]
) -> tuple[Source | str, str]:
    """Return the source and the path of FILE; of a session, *question* gets its sub-agent."""
    if isinstance(file, str):
        return source, file
    refuse_others(file, source, question["session_id"])
    question["agent_id"] = question["agent_id"] or file.agent_id
    return find(file.source), file.path


def _moments(named: Source | str, file: str, at: datetime, question: Any) -> Iterator[Moment]:
    if file == "-":
        raise click.UsageError("A history is read from a file's beginning: name the FILE.")
    found = identified(file) if isinstance(named, str) else named
    if isinstance(found, ReadFault):
        return iter([Moment(observation=unread(found), offset=0)])
    if not isinstance(found, TailSource) or found.history is None:
        raise click.UsageError("What FILE holds is no session file: only those have a history.")
    return scan(found, file, at=at, **question)


@contextmanager
def _progress(moments: Iterator[Moment], file: str) -> Iterator[Iterable[Moment]]:
    """Show on a person's standard error how far the scan of a long file has come."""
    size = _size(file)
    if size < _LONG or sys.stderr is None or not sys.stderr.isatty():
        yield moments
        return
    with click.progressbar(length=size, label="Reading the session", file=sys.stderr) as bar:
        yield _advancing(moments, bar, size)


def _advancing(moments: Iterator[Moment], bar: Any, size: int) -> Iterator[Moment]:
    done = 0
    for moment in moments:
        bar.update(moment.offset - done)
        done = moment.offset
        yield moment
    bar.update(size - done)


def _size(file: str) -> int:
    try:
        return Path(file).stat().st_size
    except (OSError, ValueError):
        return 0


# -- what is shown --------------------------------------------------------------------------------


def _say_moments(moments: Iterable[Moment]) -> bool:
    """Print a line of JSON for every moment; tell whether anything was measured."""
    is_measured = False
    for moment in moments:
        is_measured |= not isinstance(moment.observation, Missing)
        marks = sorted(mark.value for mark in moment.marks)
        told = {"marks": marks} if marks else {}
        line = {"offset": moment.offset, **told, "observation": to_dict(moment.observation)}
        if not say_json(line):
            break
    return is_measured


def _show(curve: Curve, written: dict[str, str], at: datetime) -> None:
    """Write the files that are asked for, or print the plot where none is."""
    for form, path in written.items():
        write_file(path, page(curve, at=at).encode() if form == "html" else _picture(curve, form))
    if not written:
        _say_plot(curve)


def _is_unread(curve: Curve) -> bool:
    """Whether there was no file that could be read: a page or a plot on it would say nothing."""
    last = curve.last
    return isinstance(last, Missing) and len(curve.points) == 1 and last.reason in _UNREAD


def _picture(curve: Curve, form: Any) -> bytes:
    from ..report.picture import picture  # noqa: PLC0415 - matplotlib is an extra

    try:
        return picture(curve, form)
    except ModuleNotFoundError as absent:
        if absent.name != "matplotlib":
            raise
        raise click.UsageError(
            "A picture needs matplotlib; run: pip install 'ctxmeasure[plot]'"
        ) from None


def _say_plot(curve: Curve) -> None:
    if all(point.height(curve.unit) is None for point in curve.points):  # there is none
        say("\n".join(sentences(curve)))
        return
    console = terminal()
    width = _WIDTH if console is None else max(NARROWEST, console.width)
    rows = plotted(curve, width=width, blocks=_has_blocks())
    if console is None:
        say("\n".join([*(row.label + row.text for row in rows), "", *sentences(curve)]))
        return
    say_drawn(console, coloured(rows))
    say("\n".join(["", *sentences(curve)]))


def coloured(rows: Iterable[Row]) -> Any:
    """Return the rows of a plot as `rich` prints them."""
    from rich.text import Text  # noqa: PLC0415 - 0.1 s, for terminals only

    drawn = Text(no_wrap=True, overflow="crop", end="")
    for row in rows:
        drawn.append(row.label, style="dim")
        drawn.append(row.text + "\n", style=_STYLES[row.part])
    return drawn


def _has_blocks() -> bool:
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        _BLOCKS.encode(encoding)
    except (UnicodeError, LookupError):
        return False
    return True
