"""The JSON Schemas of the wire forms, as data."""

from __future__ import annotations

from typing import Any

__all__ = ["schema"]


_FORMS = ("observation", "context_observed")


def schema(form: str = "observation") -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a wire form.

    Every call returns a new dict.

    Args:
        form: ``observation``, or ``context_observed`` for the events of a ledger.

    Raises:
        ValueError: There is no such form.
    """
    if form not in _FORMS:
        raise ValueError(f"form: expected one of {', '.join(_FORMS)}")
    import json  # noqa: PLC0415 - only who asks pays for it
    from importlib.resources import files  # noqa: PLC0415 - as above

    text = files("ctxmeasure").joinpath("schemas", f"{form}.schema.json").read_bytes()
    document: dict[str, Any] = json.loads(text)
    return document
