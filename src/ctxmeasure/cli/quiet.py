"""Commands and argument types that never repeat what was typed.

What is typed wrong is often a path or a session id in the wrong place, and error messages end up in
logs. So the messages name the argument and what it expects, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, NoReturn, TypeVar

import click

from ..registry import AGENTS_ON_DISK, find, ids, sources
from ..source import Source, StreamSource

__all__ = [
    "AUTO",
    "QuietCommand",
    "QuietGroup",
    "agent",
    "duration",
    "examples",
    "moment",
    "one_of",
    "percentage",
    "positive",
    "source_before_file",
    "source_or_auto",
    "span",
    "stream_ids",
    "stream_source",
    "text",
]

AUTO = "auto"
"""In the place of a source's id: tell it by its looks."""

EnumT = TypeVar("EnumT", bound=StrEnum)


class QuietCommand(click.Command):
    """A command that does not repeat an argument it has no place for."""

    allow_extra_args = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as any command does, and refuse what is left over."""
        left_over = super().parse_args(ctx, args)
        if left_over and not ctx.resilient_parsing:  # a shell that completes has half a line
            ctx.fail("More arguments than expected.")
        return left_over


class QuietGroup(click.Group):
    """A group that does not repeat the name of a command it does not have."""

    command_class = QuietCommand

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is named first."""
        known = self.list_commands(ctx)
        if args[0] not in known and not ctx.resilient_parsing:
            ctx.fail(f"Unknown command. Commands: {', '.join(known)}.")
        return super().resolve_command(ctx, args)


def examples(*lines: str) -> str:
    """Return the end of a help text: *lines* as they are typed."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def _refuse(expected: str) -> NoReturn:
    raise click.BadParameter(f"expected {expected}")


def moment(typed: str) -> datetime:
    """Return the moment that *typed* names, in UTC."""
    with suppress(ValueError, OverflowError):
        named = datetime.fromisoformat(typed)
        if named.utcoffset() is not None:
            return named.astimezone(UTC)
    _refuse("an ISO 8601 time with a time zone, such as 2026-11-29T18:00:00Z")


def positive(typed: str) -> int:
    """Return the positive whole number *typed*."""
    with suppress(ValueError):
        number = int(typed)
        if number > 0:
            return number
    _refuse("a whole number above 0")


def duration(typed: str) -> timedelta:
    """Return the duration of *typed* seconds."""
    with suppress(ValueError, OverflowError):
        seconds = timedelta(seconds=float(typed))
        if seconds >= timedelta(0):
            return seconds
    _refuse("a number of seconds, 0 or more")


def text(typed: str) -> str:
    """Return *typed* if there is anything in it."""
    return typed or _refuse("at least one character")


def one_of(choices: type[EnumT]) -> Callable[[str], EnumT]:
    """Return the type of an argument that is one of the *choices*."""

    def choose(typed: str) -> EnumT:
        with suppress(ValueError):
            return choices(typed)
        _refuse(f"one of {', '.join(choices)}")

    return choose


def stream_source(typed: str) -> StreamSource[Any]:
    """Return the source of streams whose id is *typed*."""
    with suppress(ValueError):
        found = find(typed)
        if isinstance(found, StreamSource):
            return found
    _refuse(f"one of {', '.join(stream_ids())}")


def stream_ids() -> list[str]:
    """Return the ids of the sources of streams."""
    return [source.id for source in sources() if isinstance(source, StreamSource)]


def source_or_auto(typed: str) -> Source | str:
    """Return the source whose id is *typed*, or ``auto`` as it is."""
    if typed == AUTO:
        return AUTO  # not None: click takes that for an argument that is absent
    with suppress(ValueError):
        return find(typed)
    _refuse(_sources_and_auto())


def _sources_and_auto() -> str:
    return f"{AUTO} or one of {', '.join(ids())}"


def source_before_file(typed: str) -> Source | str:
    """Return as `source_or_auto`, and say where FILE belongs if it was typed in this place."""
    with suppress(click.BadParameter):
        return source_or_auto(typed)
    _refuse(
        f"{_sources_and_auto()}; FILE comes behind it: `{AUTO} FILE` tells the source by its looks"
    )


_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def span(typed: str) -> timedelta:
    """Return the duration that *typed* names: ``90``, ``90s``, ``15m``, ``2h`` or ``7d``."""
    unit = _UNITS.get(typed[-1:], 0)
    with suppress(ValueError, OverflowError):
        length = timedelta(seconds=float(typed[:-1] if unit else typed) * (unit or 1))
        if length >= timedelta(0):
            return length
    _refuse("a duration such as 90s, 15m, 2h or 7d")


def percentage(typed: str) -> float:
    """Return the percentage *typed*, which may lie over 100: a context can be overrun."""
    with suppress(ValueError):
        share = float(typed.removesuffix("%"))
        if 0 < share < float("inf"):
            return share
    _refuse("a percentage above 0")


def agent(typed: str) -> str:
    """Return the name of an agent whose sessions lie on a disk."""
    return typed if typed in AGENTS_ON_DISK else _refuse(f"one of {', '.join(AGENTS_ON_DISK)}")
