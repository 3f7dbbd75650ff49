"""The options that mean the same in every command that asks a question."""

from __future__ import annotations

import click

from .quiet import positive, text

__all__ = ["limit_option", "model_option", "session_option"]

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
