"""``ctxmeasure sources``: what can be read."""

from __future__ import annotations

from typing import Any

import click

from .. import registry
from ..source import PayloadSource, Source, StoreSource, StreamSource, TailSource
from .output import say_json, say_table
from .quiet import QuietCommand, examples

__all__ = ["sources"]

_KINDS = {
    TailSource: "tail",
    PayloadSource: "payload",
    StreamSource: "stream",
    StoreSource: "store",
}
_COLUMNS = ("id", "kind", "method", "channel", "about")


@click.command(
    cls=QuietCommand,
    epilog=examples(
        "ctxmeasure sources",
        "ctxmeasure sources --json | jq -r '.[].id'",
    ),
)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON: a list.")
def sources(as_json: bool) -> None:
    """Print the sources that can be read.

    A `tail` is a file of rows that is read from its end, a `payload` one JSON object that the agent
    hands over, a `stream` the lines that it prints, a `store` an SQLite database.
    """
    rows = [_facts(source) for source in registry.sources()]
    if as_json:
        say_json(rows)
    else:
        say_table(rows, _COLUMNS, spared=("channel", "method"))


def _facts(source: Source) -> dict[str, Any]:
    return {
        "id": source.id,
        "kind": next(kind for cls, kind in _KINDS.items() if isinstance(source, cls)),
        "method": source.origin.method,
        "channel": source.origin.channel.value,
        "about": source.about,
    }
