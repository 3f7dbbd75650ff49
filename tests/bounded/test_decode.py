from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxmeasure.bounded.decode import decode_object, repeats_keys

# What a JavaScript string can hold: any code point, and halves of surrogate pairs in any order.
javascript_text = st.text(
    st.characters(codec=None) | st.sampled_from("\ud800\udbff\udc00\udfff\\u"), max_size=8
)
# Integers as wide as JSON.stringify and serde write them; floats that every JSON library agrees on.
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | javascript_text
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(javascript_text, inner), max_leaves=8
)
objects = st.dictionaries(javascript_text, values, max_size=4)


def well_formed(value: Any) -> Any:
    """Return *value* with every lone surrogate replaced by U+FFFD, JavaScript's toWellFormed."""
    match value:
        case str():
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case list():
            return [well_formed(item) for item in value]
        case dict():
            return {well_formed(key): well_formed(item) for key, item in value.items()}
        case _:
            return value


@given(objects)
@example({"\\ud83d": "\\\\\ud83d\\"})
@example({"a": "\ude00\ude00"})
@example({"a": "\ud83d\\ude00", "b": "\ude00\ud83d", "c": "\ud83d\ud83d\ude00"})
def test_an_object_is_decoded_as_it_was_written_with_lone_surrogates_made_well_formed(
    value: dict[str, Any],
) -> None:
    assert decode_object(json.dumps(value).encode()) == well_formed(value)


@given(objects)
def test_every_string_that_is_handed_on_can_be_encoded(value: dict[str, Any]) -> None:
    repr(decode_object(json.dumps(value).encode())).encode()


@given(st.binary() | st.binary().map(lambda tail: b'{"a":"\\ud83d' + tail))
def test_no_bytes_raise(raw: bytes) -> None:
    value = decode_object(raw)
    assert value is None or isinstance(repeats_keys(raw, value), bool)


@given(objects, st.data())
def test_a_proper_prefix_of_an_object_is_never_an_object(
    value: dict[str, Any], data: st.DataObject
) -> None:
    raw = json.dumps(value).encode()
    assert decode_object(raw[: data.draw(st.integers(0, len(raw) - 1))]) is None


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" \r",
        b"null",
        b"1",
        b'"{}"',
        b'[{"a":1}]',
        b'{"a":1}{"b":2}',
        b'{"a":1,}',
        b'{"a":NaN}',
        b'{"a":Infinity,"b":"\\ud83d"}',
        b'{"a":1e999}',
        b'{"a":"\xff"}',
        b'{"a":"\xff\\ud83d"}',
        b'{"a":"\xed\xa0\xbd"}',
        b'{"a":"\0"}',
        b'\0\0\0{"a":1}',
        b'{"a":"\\ud83',
        b'{"a":"\\ud83d","b":',
        '{"a":"\\ud83d"}'.encode("utf-16-le"),
        b'{"a":' + b"9" * 5000 + b"}",
    ],
)
def test_what_is_not_one_json_object_in_utf8_is_none(raw: bytes) -> None:
    assert decode_object(raw) is None


@pytest.mark.parametrize("open_bracket", [b"[", b'{"a":', b'{"\\ud83d":'])
def test_deep_nesting_is_none_and_no_crash(open_bracket: bytes) -> None:
    assert decode_object(b'{"a":' + open_bracket * 100_000) is None


def test_an_integer_beyond_64_bits_is_a_float() -> None:
    value = decode_object(b'{"tokens":1234567890123456789012}')
    assert value == {"tokens": 1.2345678901234568e21}
    assert type(value["tokens"]) is float


@given(objects, st.booleans())
def test_distinct_keys_are_told_from_compact_and_from_spaced_json(
    value: dict[str, Any], compact: bool
) -> None:
    raw = json.dumps(value, separators=(",", ":") if compact else None, ensure_ascii=True).encode()
    decoded = decode_object(raw)
    assert decoded is not None
    assert not repeats_keys(raw, decoded)


@given(
    objects.filter(bool),
    values,
    st.booleans(),
    st.sampled_from([b"%s", b'{"usage":%s}', b'{"a":[1,%s],"b":"\\ud83d"}', b' {"x" : %s }\r']),
)
def test_a_repeated_key_is_told_wherever_it_lies(
    value: dict[str, Any], again: Any, first: bool, frame: bytes
) -> None:
    key = json.dumps(next(iter(value)))
    body, pair = json.dumps(value)[1:-1], f"{key}:{json.dumps(again)}"
    raw = frame % f"{{{pair},{body}}}".encode() if first else frame % f"{{{body},{pair}}}".encode()
    decoded = decode_object(raw)
    assert decoded is not None
    assert repeats_keys(raw, decoded)


def test_lengths_that_match_by_accident_do_not_hide_a_repeated_key() -> None:
    raw = b'{"a":1,"a":1,"b":1e7}'
    decoded = decode_object(raw)
    assert decoded is not None
    assert repeats_keys(raw, decoded)


def test_keys_written_differently_are_the_same_key() -> None:
    raw = b'{"usage":1,"us\\u0061ge":2}'
    assert repeats_keys(raw, {"usage": 2})


@pytest.mark.parametrize("depth", [300, 1000])
def test_a_key_that_repeats_far_down_is_told(depth: int) -> None:
    raw = b'{"a":' * depth + b'{"b":1,"b":2}' + b"}" * depth
    decoded = decode_object(raw)
    assert decoded is not None
    assert repeats_keys(raw, decoded)


def test_what_is_nested_too_deeply_to_tell_counts_as_repeating(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # How deep that is differs between versions of Python: 3.11 gives up before 1,000 levels, 3.12
    # does not below the depth that our own decoder refuses.
    def give_up(*_: object, **__: object) -> None:
        raise RecursionError

    raw = b'{"a":' * 300 + b"1e0" + b"}" * 300
    decoded = decode_object(raw)
    assert decoded is not None
    assert not repeats_keys(raw, decoded)
    monkeypatch.setattr(json, "loads", give_up)
    assert repeats_keys(raw, decoded)


def test_importing_the_room_imports_no_json_library() -> None:
    script = (
        "import sys, ctxmeasure.bounded.jsonl, ctxmeasure.bounded.payload;"
        "print({'json', 'orjson', 'sqlite3'} & set(sys.modules))"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", script], capture_output=True, check=True
    )
    assert done.stdout.strip() == b"set()"
