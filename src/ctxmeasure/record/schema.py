"""The JSON Schema of the wire form, as data."""

from __future__ import annotations

from typing import Any

__all__ = ["schema"]


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of an observation's wire form.

    Every call returns a new dict.
    """
    import json  # noqa: PLC0415 - only who asks pays for it
    from importlib.resources import files  # noqa: PLC0415 - as above

    text = files("ctxmeasure").joinpath("schemas", "observation.schema.json").read_bytes()
    document: dict[str, Any] = json.loads(text)
    return document
