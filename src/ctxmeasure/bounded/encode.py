"""From a dict to one line of JSON: the one encoder of the house.

Imports nothing of ours; orjson and json are imported on first use.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["encode_object"]


def encode_object(wire: Mapping[str, Any]) -> str:
    """Return *wire* (dicts, lists, strings, numbers, bools) as compact JSON without a newline."""
    import orjson  # noqa: PLC0415 - costs an import of json; only writers pay for it

    try:
        return orjson.dumps(wire).decode()
    except orjson.JSONEncodeError:
        import json  # noqa: PLC0415 - rare

        # Integers over 64 bits and lone surrogates: JSON can carry them, orjson does not.
        return json.dumps(wire, separators=(",", ":"))
