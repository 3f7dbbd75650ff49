"""The options that mean the same in every command that asks a question."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import click

from ..registry import ids
from .quiet import AUTO, positive, source_or_auto, text

__all__ = [
    "completed_by",
    "limit_option",
    "model_option",
    "session_option",
    "source_argument",
    "sources_and_auto",
]


_Completion: TypeAlias = Callable[[click.Context, click.Parameter, str], list[str]]


def completed_by(words: Callable[[], Iterable[str]]) -> _Completion:
    """Return what offers those of the *words* to a shell that fit what is typed."""
    return lambda _, __, typed: [word for word in words() if word.startswith(typed)]


def sources_and_auto() -> tuple[str, ...]:
    """Return what can stand in the place of a source."""
    return (AUTO, *ids())


source_argument = click.argument(
    "source", type=source_or_auto, shell_complete=completed_by(sources_and_auto)
)
session_option = click.option(
    "--session", "session_id", type=text, metavar="ID", help="The agent's own id of the session."
)
model_option = click.option(
    "--model",
    type=text,
    metavar="ID",
    help="The model as the agent was started with it, such as claude-opus-4-6[1m].",
)
limit_option = click.option(
    "--limit",
    "limit_tokens",
    type=positive,
    metavar="TOKENS",
    help="A limit that you declare; stands in for any other.",
)
