"""From the bytes of one JSON object to the object, or None: the one decoder of the house.

Strict where it protects a number (no NaN, no trailing bytes, repeated keys can be told), lenient
in the one place where real agents are sloppy: JavaScript writes lone surrogate escapes when a
tool's output was cut inside an emoji. orjson is imported on first use, because it pulls in json.
"""

from __future__ import annotations

from typing import Any

__all__ = ["decode_object", "repeats_keys"]


def decode_object(raw: bytes) -> dict[str, Any] | None:
    """Return the JSON object in *raw* (UTF-8), or None when it holds anything else.

    The escape of one half of a surrogate pair without its other half becomes U+FFFD, so that every
    string that is handed on can be encoded again. Integers beyond 64 bits become floats.
    """
    import orjson  # noqa: PLC0415 - costs an import of json; only readers pay for it

    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        if b"\\u" not in raw:
            return None
        try:
            value = orjson.loads(_mended(raw))
        except orjson.JSONDecodeError:
            return None
    return value if type(value) is dict else None


def _mended(raw: bytes) -> bytes:
    """Return *raw* with every lone surrogate escape replaced by the escape of U+FFFD."""
    import re  # noqa: PLC0415 - rare

    # The escapes are taken from left to right, so an escaped backslash before a "u" stays one.
    pair_or_escape = (
        rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
        rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
    )
    return re.sub(pair_or_escape, lambda m: b"\\ufffd" if m[1] else m[0], raw)


def repeats_keys(raw: bytes, value: dict[str, Any]) -> bool:
    """Tell whether any object in *raw*, whose decoded form is *value*, names a key twice.

    JSON decoders keep the last of two equal keys without a word. Compact JSON, which is what agents
    write, is recognised by encoding *value* again: equal bytes cannot hold a key twice. Only other
    bytes are parsed a second time. What is nested too deeply to tell counts as repeating.
    """
    import orjson  # noqa: PLC0415 - see decode_object

    try:
        if orjson.dumps(value) == raw.strip():
            return False
    except orjson.JSONEncodeError:  # nested deeper than orjson encodes
        pass
    return _strictly_repeats_keys(raw)


class _RepeatedKey(Exception):  # noqa: N818 - internal control flow
    pass


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) < len(pairs):
        raise _RepeatedKey


def _strictly_repeats_keys(raw: bytes) -> bool:
    import json  # noqa: PLC0415 - rare

    try:
        json.loads(raw.decode(), object_pairs_hook=_refuse_repeated)
    except (_RepeatedKey, RecursionError, ValueError):
        return True
    return False
