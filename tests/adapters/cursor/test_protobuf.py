"""The wire format: what is encoded is decoded, and bytes that are no message are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.adapters.cursor.protobuf import Message, fields

U64 = st.integers(0, 2**64 - 1)
NUMBERS = st.integers(1, 2**29 - 1)
FIELDS = st.lists(
    st.tuples(
        NUMBERS,
        st.one_of(
            st.tuples(st.just(0), U64),
            st.tuples(st.just(1), st.binary(min_size=8, max_size=8)),
            st.tuples(st.just(2), st.binary(max_size=300)),
            st.tuples(st.just(5), st.binary(min_size=4, max_size=4)),
        ),
    )
)


def varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])


def encoded(number: int, wire_type: int, value: int | bytes) -> bytes:
    key = varint(number << 3 | wire_type)
    if isinstance(value, int):
        return key + varint(value)
    return key + (varint(len(value)) if wire_type == 2 else b"") + value


@given(FIELDS)
def test_every_field_of_a_message_is_found_in_its_order(
    written: list[tuple[int, tuple[int, int | bytes]]],
) -> None:
    expected: Message = {}
    for number, (_, value) in written:
        expected.setdefault(number, []).append(value)
    message = b"".join(encoded(number, *field) for number, field in written)
    assert fields(message) == expected


@given(NUMBERS, st.sampled_from([0, 1, 2, 5]), st.binary(min_size=8, max_size=200), st.data())
def test_a_message_that_is_cut_inside_a_field_is_none(
    number: int, wire_type: int, content: bytes, data: st.DataObject
) -> None:
    values: dict[int, int | bytes] = {0: len(content), 1: content[:8], 2: content, 5: content[:4]}
    value = values[wire_type]
    message = encoded(number, wire_type, value)
    assert fields(message[: data.draw(st.integers(1, len(message) - 1))]) is None


@given(st.binary(max_size=400))
def test_no_bytes_raise_and_what_is_found_was_there(message: bytes) -> None:
    found = fields(message)
    assert found is None or all(
        0 <= value < 2**64 if isinstance(value, int) else value in message
        for values in found.values()
        for value in values
    )


@given(FIELDS, st.sampled_from([3, 4, 6, 7]), NUMBERS)
def test_groups_and_unknown_wire_types_are_no_message(
    written: list[tuple[int, tuple[int, int | bytes]]], wire_type: int, number: int
) -> None:
    message = b"".join(encoded(number, *field) for number, field in written)
    for following in (b"", b"\0", b"\0" * 16):
        assert fields(message + varint(number << 3 | wire_type) + following) is None


@pytest.mark.parametrize(
    "message",
    [
        b"\x00\x01",  # field 0
        b"\x08" + b"\x80" * 9 + b"\x02",  # 65 bits
        b"\x08" + b"\xff" * 9 + b"\x02",
        b"\x08" + b"\x80" * 10 + b"\x00",  # 11 bytes
        varint(1 << 32) + b"\x01",  # a field number of 30 bits
        b"\x0a\xff\xff\xff\xff\x0f",  # a length beyond the end
        b"\x80",
    ],
)
def test_impossible_numbers_are_no_message(message: bytes) -> None:
    assert fields(message) is None


def test_an_empty_message_has_no_fields() -> None:
    assert fields(b"") == {}


def test_a_number_may_be_written_longer_than_need_be() -> None:
    assert fields(b"\x08\x81\x80\x00") == {1: [1]}
