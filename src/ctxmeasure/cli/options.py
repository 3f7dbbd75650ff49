"""The options that mean the same in every command that asks a question."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import click
from click.shell_completion import CompletionItem

from ..registry import ids
from .named import file_or_session, names_completed
from .quiet import AUTO, positive, source_before_file, source_or_auto, text
from .windows import Windows, stated_window

__all__ = [
    "Completion",
    "completed_by",
    "completed_by_files",
    "completed_by_files_and_names",
    "file_argument",
    "limit_option",
    "model_option",
    "session_file_argument",
    "session_option",
    "source_argument",
    "source_option",
    "sources_and_auto",
    "window_option",
]


Completion: TypeAlias = Callable[
    [click.Context, click.Parameter, str], "list[CompletionItem] | list[str]"
]
"""What offers a shell the words that can stand in a parameter's place."""


def completed_by(words: Callable[[], Iterable[str]]) -> Completion:
    """Return what offers those of the *words* to a shell that fit what is typed."""
    return lambda _, __, typed: [word for word in words() if word.startswith(typed)]


def completed_by_files(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    """Leave it to the shell to offer its files."""
    return [CompletionItem(typed, type="file")]


def completed_by_files_and_names(
    ctx: click.Context, parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Offer the names of sessions behind an @, and leave it to the shell to offer its files."""
    if typed.startswith("@"):
        return names_completed(typed)
    return completed_by_files(ctx, parameter, typed)


def sources_and_auto() -> tuple[str, ...]:
    """Return what can stand in the place of a source."""
    return (AUTO, *ids())


source_option = click.option(
    "--source",
    type=source_or_auto,
    default=AUTO,
    metavar="SOURCE",
    shell_complete=completed_by(sources_and_auto),
    help="The id of the source, where its looks do not tell it. Default: auto.",
)
source_argument = click.argument(
    "source", type=source_before_file, shell_complete=completed_by(sources_and_auto)
)
file_argument = click.argument(
    "file", type=file_or_session, default="-", shell_complete=completed_by_files_and_names
)
session_file_argument = click.argument(
    "file", type=file_or_session, shell_complete=completed_by_files_and_names
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
window_option = click.option(
    "--window",
    "windows",
    type=stated_window,
    multiple=True,
    callback=Windows.of,
    metavar="MODEL=TOKENS",
    help="What the window of a model is that is not known; can be given again. TOKENS: 262144, "
    "200K (200,000) or 1M (1,000,000). Never overrides what the session or the table states.",
)
