"""Keys and the values read under them."""

from __future__ import annotations

from datetime import UTC, datetime

from ctxmeasure.bounded.keys import Key, KeyValues, Lack

A, B = Key("meta", "a"), Key("meta", "b")


def test_what_has_not_been_read_is_not_the_same_as_what_is_not_there() -> None:
    values = KeyValues(datetime(2026, 1, 1, tzinfo=UTC)).with_read({A: Lack.NO_ROW})
    assert values.get(A) is Lack.NO_ROW
    assert values.get(B) is None


def test_reading_more_keeps_what_was_read_and_changes_no_older_value() -> None:
    first = KeyValues(datetime(2026, 1, 1, tzinfo=UTC)).with_read({A: b"1"})
    second = first.with_read({B: b"2"})
    assert (second.get(A), second.get(B)) == (b"1", b"2")
    assert first.get(B) is None
    assert second.modified_at == first.modified_at


def test_values_and_keys_show_neither_content_nor_ids() -> None:
    key = Key("cursorDiskKV", "composerData:native-id")
    values = KeyValues(datetime(2026, 1, 1, tzinfo=UTC)).with_read({key: b"content"})
    assert "native-id" not in repr((key, values))
    assert "content" not in repr(values)
