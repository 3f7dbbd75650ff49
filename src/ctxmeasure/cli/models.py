"""``ctxmeasure models``: the table of models, or the window that one id decides."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any

import click

from ..capability import table
from ..capability.model import Capability, Certainty, ModelRef, Resolution
from .options import completed_by
from .output import MISSING, say_json, say_table
from .quiet import QuietCommand, examples, moment, one_of, text

__all__ = ["models"]


class Client(StrEnum):
    """The clients that size windows by tables of their own."""

    CLAUDE = "claude"
    CODEX = "codex"
    PI = "pi"


@click.command(
    cls=QuietCommand,
    epilog=examples(
        "ctxmeasure models --client claude",
        "ctxmeasure models claude-opus-4-6 --client claude",
        "ctxmeasure models 'claude-opus-4-6[1m]' --client claude --json",
    ),
)
@click.argument("model_id", metavar="[ID]", type=text, required=False)
@click.option(
    "--client",
    type=one_of(Client),
    shell_complete=completed_by(lambda: Client),
    metavar="CLIENT",
    help="Whose windows: claude, codex or pi. Default: those of the vendors' own platforms.",
)
@click.option("--provider", type=text, metavar="NAME", help="Whose ids, such as anthropic.")
@click.option("--at", type=moment, metavar="TIME", help="The moment of the question. Default: now.")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
@click.pass_context
def models(
    ctx: click.Context,
    /,
    *,
    model_id: str | None,
    client: Client | None,
    provider: str | None,
    at: datetime | None,
    as_json: bool,
) -> None:
    """Print the context windows of all models, or of ID.

    An id is taken as a session's files have it: one without `[1m]` does not say that nobody asked
    for the long window.

    Certainty: `decided` by the id alone; `defaulted`, where a setting can make it smaller (at
    least) or an opt-in larger (at most); `undecided` between two, by a plan, a setting or a
    platform; `unresolved`, for the reason under `why`.

    Exit status: 0 there is a window (or a table), 3 the id alone decides none, 2 wrong arguments.
    """
    if model_id is None:
        rows = [_of_row(*row, client, at) for row in _rows(client, provider)]
        _print(rows, rows, as_json=as_json)
        return
    asked = ModelRef(id=model_id, provider=provider)
    facts = _facts(table.resolve(asked, client=client, at=at))
    _print(facts, [facts], as_json=as_json)
    if "window_tokens" not in facts:
        ctx.exit(MISSING)


def _rows(client: Client | None, provider: str | None) -> Iterable[tuple[str, str]]:
    """Return provider and id of each model once; its client may have rows by version."""
    return dict.fromkeys(
        (row.provider, row.id)
        for row in table.models()
        if row.client == client and provider in (None, row.provider)
    )


def _of_row(
    provider: str, model_id: str, client: Client | None, at: datetime | None
) -> dict[str, Any]:
    asked = ModelRef(id=model_id, provider=provider)
    named = {"provider": provider, "id": model_id}
    return named | _facts(table.resolve(asked, client=client, at=at))


def _facts(resolution: Resolution) -> dict[str, Any]:
    """Return what is known of a model; what is not has no key."""
    if not isinstance(resolution, Capability):
        return {"certainty": "unresolved", "why": resolution.why}
    facts = {
        "provider": resolution.provider,
        "id": resolution.canonical,
        "certainty": resolution.certainty.value,
        **_windows(resolution),
        "max_input_tokens": resolution.max_input_tokens,
        "max_output_tokens": resolution.max_output_tokens,
        "source": resolution.source,
        "as_of": resolution.as_of.isoformat(),
    }
    return {key: known for key, known in facts.items() if known is not None}


def _windows(row: Capability) -> dict[str, Any]:
    """Return the window under its own name only where it can be relied on to be the one."""
    smaller, larger = row.window_tokens, row.larger_window_tokens
    if row.marker_unsupported:
        # What was asked for is not served: the client counts against the one, the vendor the other.
        return {
            "certainty": Certainty.UNDECIDED.value,
            "why": "marker-unsupported",
            "candidate_window_tokens": [smaller, larger],
        }
    if row.certainty is Certainty.UNDECIDED:
        return {"candidate_window_tokens": [smaller, larger]}
    return {
        "window_tokens": smaller,
        "larger_window_tokens": larger,
        "reduced_window_tokens": row.reduced_window_tokens,
    }


def _print(finding: object, rows: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        say_json(finding)
    else:
        shown = [row | {"window": _window(row)} for row in rows]
        columns = ("provider", "id", "window", "certainty", "why", "source", "as_of")
        say_table(shown, columns, spared=("as_of", "source", "provider"))


def _window(facts: dict[str, Any]) -> str:
    if "candidate_window_tokens" in facts:
        return " or ".join(map(str, facts["candidate_window_tokens"]))
    limits = {
        "": "window_tokens",
        ", at most ": "larger_window_tokens",
        ", at least ": "reduced_window_tokens",
    }
    return "".join(f"{word}{facts[key]}" for word, key in limits.items() if key in facts)
