"""The options that mean the same in every command that asks a question."""

from __future__ import annotations

import click

from ..registry import ids
from .quiet import AUTO, positive, source_or_auto, text

__all__ = ["limit_option", "model_option", "session_option", "source_argument"]


def _completed(_: click.Context, __: click.Parameter, typed: str) -> list[str]:
    return [source_id for source_id in (AUTO, *ids()) if source_id.startswith(typed)]


source_argument = click.argument("source", type=source_or_auto, shell_complete=_completed)

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
