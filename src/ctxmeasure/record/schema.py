"""The JSON Schemas of the wire forms, as data."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

__all__ = ["WireForm", "schema"]

WireForm: TypeAlias = Literal["observation", "runner_event", "context_observed"]
"""What has a schema: what `dumps` writes, what `runner_event_fields` returns, a ledger's events."""


def schema(form: WireForm = "observation") -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a wire form.

    Every call returns a new dict.

    Raises:
        ValueError: There is no such *form*.
    """
    if form not in get_args(WireForm):
        raise ValueError(f"form: expected one of {', '.join(get_args(WireForm))}")
    import json  # noqa: PLC0415 - only who asks pays for it
    from importlib.resources import files  # noqa: PLC0415 - as above

    text = files("ctxmeasure").joinpath("schemas", f"{form}.schema.json").read_bytes()
    document: dict[str, Any] = json.loads(text)
    return document
