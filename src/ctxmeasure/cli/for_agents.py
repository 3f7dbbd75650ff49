"""``ctxmeasure hook`` and ``ctxmeasure statusline`` for people: help, and what was called wrongly.

Agents reach the room `swift` without this one; both read one table of options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from . import swift
from .options import Completion, completed_by, completed_by_files
from .quiet import QuietCommand, examples
from .standard_input import IS_TERMINAL
from .swift.options import HOOK, STATUS_LINE, Option

__all__ = ["hook", "statusline"]

_HOOK = """Sample how full the context is, when an agent calls this as a hook.

    Reads the hook's payload from standard input, lets the agent go on at once, and appends to FILE
    what is new: one `context.observed` event a line. Sessions are named by keyed digests.

    Prints `{}`, which objects to nothing, and its exit status is 0 whatever happens: a hook must
    not break a turn. What went wrong is noted, without anything of the session, in DIR/errors.log.
    """
_STATUS_LINE = """Print the agent's status line, from the payload on standard input.

    With --wrap, COMMAND is your own status-line command: it gets the payload, and its output and
    exit status are what the agent sees. With --state and --out what the payload measures is
    recorded on the way, as by `ctxmeasure hook`.
    """


def _built(name: str, options: Mapping[str, Option], about: str, *shown: str) -> click.Command:
    """Return the command *name* with its *options*, which does what the swift one does."""
    parameters: list[click.Parameter] = [
        click.Option(
            [flag],
            help=option.help,
            metavar=option.metavar or None,
            is_flag=not option.metavar,
            required=option.required,
            type=_one_of(option.choices) if option.choices else None,
            shell_complete=_completion(option),
        )
        for flag, option in options.items()
    ]
    return QuietCommand(
        name, params=parameters, callback=_callback(name), help=about, epilog=examples(*shown)
    )


def _completion(option: Option) -> Completion | None:
    """Return what a shell offers in the place of an option's value."""
    if option.choices:
        return completed_by(lambda: option.choices)
    return completed_by_files if option.metavar else None


def _one_of(choices: tuple[str, ...]) -> Callable[[str], str]:
    def choose(typed: str) -> str:
        if typed in choices:
            return typed
        raise click.BadParameter(f"expected one of {', '.join(choices)}")

    return choose


def _callback(name: str) -> Callable[..., None]:
    @click.pass_context
    def call(ctx: click.Context, /, **given: Any) -> None:
        status = swift.run(name, [*_spelled(given)])
        if status is None:  # what the options alone cannot say
            is_whole = (given["state"] is None) == (given["out"] is None)
            raise click.UsageError(IS_TERMINAL if is_whole else "--state and --out go together.")
        ctx.exit(status)

    return call


def _spelled(given: Mapping[str, Any]) -> list[str]:
    """Return the options that are *given* as they are typed."""
    return [
        f"--{name}" if value is True else f"--{name}={value}"
        for name, value in given.items()
        if value
    ]


hook = _built(
    "hook",
    HOOK,
    _HOOK,
    "ctxmeasure hook --agent claude --state ~/.ctxmeasure --out ~/context.jsonl",
)
statusline = _built(
    "statusline",
    STATUS_LINE,
    _STATUS_LINE,
    "ctxmeasure statusline",
    "ctxmeasure statusline --wrap ~/.claude/my-line.sh --state ~/.ctxmeasure --out ~/context.jsonl",
)
