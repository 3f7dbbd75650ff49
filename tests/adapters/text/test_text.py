from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxmeasure as cm
from ctxmeasure import Missing, MissingReason, ReadStats, Stream

AT = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)


def reason(observation: cm.Observation) -> MissingReason | None:
    return observation.reason if isinstance(observation, Missing) else None


@given(st.lists(st.binary(max_size=60)))
def test_plain_text_measures_nothing_and_is_neither_decoded_nor_counted(
    pieces: list[bytes],
) -> None:
    stream = Stream("text", limit_tokens=200_000, model="claude-opus-4-8")
    for piece in pieces:
        assert stream.feed(piece, at=AT) is None
        assert stream.feed_bytes(piece, at=AT) is None
    assert reason(stream.latest) is MissingReason.SOURCE_UNSUPPORTED
    assert reason(stream.peak) is MissingReason.SOURCE_UNSUPPORTED
    assert reason(stream.finish(at=AT)) is MissingReason.SOURCE_UNSUPPORTED
    assert stream.stats == ReadStats()


def test_a_line_of_another_agents_measures_nothing_either() -> None:
    stream = Stream(cm.text.TEXT)
    assert stream.feed('{"used": 5, "size": 10}', at=AT) is None
    assert reason(stream.latest) is MissingReason.SOURCE_UNSUPPORTED


def test_a_text_without_a_line_break_measures_nothing_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cm.stream, "_LONGEST_LINE", 64)
    stream = Stream("text")
    assert stream.feed_bytes(b"x" * 65, at=AT) is None
    assert reason(stream.finish(at=AT)) is MissingReason.SOURCE_UNSUPPORTED


@given(st.binary(max_size=60))
def test_text_that_was_kept_measures_nothing_and_is_not_decoded(kept: bytes) -> None:
    observation = cm.observe("text", kept, at=AT)
    assert reason(observation) is MissingReason.SOURCE_UNSUPPORTED
    stats = observation.provenance.stats
    assert (stats.rows_decoded, stats.rows_skipped) == (0, 0)


def test_whatever_was_kept_measures_nothing() -> None:
    zstandard = b"\x28\xb5\x2f\xfd"
    for kept in (
        zstandard,
        b"x" * 300_000,
        b"{}\n" * 3,
        b"",
        b"Context: 45% (90K/200K)\n",
        b'{"used": 5}\n',
        {"used": 5},
    ):
        assert reason(cm.observe("text", kept, at=AT)) is MissingReason.SOURCE_UNSUPPORTED
