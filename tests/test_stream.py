"""The verb for live streams: fed in any way, asked at any moment, it says the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st
from judging import SECOND

import ctxmeasure as cm
from ctxmeasure import Missing, MissingReason, Observed, Policy, ReadStats, Stream, stream
from ctxmeasure.evidence import Channel, Evidence, Gap, Origin, Query, TokenPair, UsedTokens
from ctxmeasure.observation import LimitBasis, UsedBasis
from ctxmeasure.source import StreamSource, Tally

RECORDING = Path(__file__).parent / "recordings" / "claude" / "b-tools-partial" / "stream.jsonl"
CONTENT = RECORDING.read_bytes()
LINES = CONTENT.splitlines(keepends=True)
AT = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)  # half an hour after the recording was made


# -- a runtime of the simplest kind -------------------------------------------------------------


@frozen
class Heard:
    """What the simplest runtime has said: counts, and at last the limit."""

    used: int | None = None
    heard_at: datetime | None = None
    fullest: int = 0
    fullest_at: datetime | None = None
    limit: int | None = None


def step(heard: Heard, row: Mapping[str, Any], query: Query) -> Heard:
    if "compacted" in row:
        return evolve(heard, used=None)
    if "limit" in row:
        return evolve(heard, limit=row["limit"])
    if "used" not in row:
        return heard
    count = row["used"]
    heard = evolve(heard, used=count, heard_at=query.at)
    return evolve(heard, fullest=count, fullest_at=query.at) if count > heard.fullest else heard


def counted(heard: Heard, used: int, at: datetime | None) -> Evidence:
    sample: dict[str, Any] = {
        "used_tokens": used,
        "used_basis": UsedBasis.PROMPT,
        "measured_at": at,
    }
    if heard.limit is None:
        return UsedTokens(**sample)
    return TokenPair(**sample, limit_tokens=heard.limit, limit_basis=LimitBasis.WINDOW)


def evidence(heard: Heard, query: Query) -> Evidence:
    if query.session_id not in (None, "session"):
        return Gap(reason=MissingReason.SESSION_MISMATCH)
    if heard.used is None:
        return Gap(reason=MissingReason.NOT_MEASURED_YET)
    return counted(heard, heard.used, heard.heard_at)


def peak(heard: Heard, _: Query) -> Evidence:
    return counted(heard, heard.fullest, heard.fullest_at)


SOURCE = StreamSource(
    origin=Origin(
        adapter="agent", source="agent.stream", method="method", channel=Channel.HANDED_OVER
    ),
    about="The simplest stream",
    initial=Heard(),
    relevant=lambda line: b"noise" not in line,
    step=step,
    evidence=evidence,
    peak=peak,
)


def line(**row: Any) -> bytes:
    return json.dumps(row).encode() + b"\n"


def tokens(observation: cm.Observation | None) -> tuple[int, int]:
    assert isinstance(observation, Observed), observation
    assert isinstance(observation.value, cm.TokenMeasurement)
    return observation.value.used_tokens, observation.value.limit_tokens


def reason(observation: cm.Observation | None) -> MissingReason:
    assert isinstance(observation, Missing), observation
    return observation.reason


# -- one line -----------------------------------------------------------------------------------


def test_a_stream_that_has_heard_nothing_has_not_measured_yet() -> None:
    heard = Stream(SOURCE)
    assert reason(heard.latest) is MissingReason.NOT_MEASURED_YET
    assert heard.stats == ReadStats()


def test_a_line_gives_what_it_changed_and_nothing_when_it_changed_nothing() -> None:
    heard = Stream(SOURCE, limit_tokens=100)
    assert tokens(heard.feed(line(used=10), at=AT)) == (10, 100)
    assert heard.feed(line(other=1), at=AT) is None
    assert heard.feed(line(used=10), at=AT) is None
    assert tokens(heard.feed(line(used=11), at=AT)) == (11, 100)
    assert tokens(heard.latest) == (11, 100)


def test_a_line_that_changes_the_state_but_not_what_is_said_changes_nothing() -> None:
    heard = Stream(SOURCE)
    assert heard.feed(line(compacted=True), at=AT) is None
    assert heard.feed(line(limit=100), at=AT) is None
    assert heard.feed(line(used=10), at=AT) is not None


@pytest.mark.parametrize("looked", [True, False])
def test_looking_at_a_stream_does_not_change_what_it_says(looked: bool) -> None:
    heard = Stream(SOURCE, limit_tokens=100)
    said = []
    for count in (10, 10, 11):
        if looked:
            assert heard.latest is not heard.peak
        said.append(heard.feed(line(used=count), at=AT) is not None)
    assert said == [True, False, True]


def test_an_observation_says_what_the_reading_has_cost_so_far() -> None:
    heard = Stream(SOURCE, limit_tokens=100)
    heard.feed(line(used=10), at=AT)
    heard.feed(b"{", at=AT)
    heard.feed(line(other=1), at=AT)
    assert heard.stats == ReadStats(rows_decoded=2, rows_skipped=1)
    assert heard.latest.provenance.stats == heard.stats
    assert heard.peak.provenance.stats == heard.stats


@pytest.mark.parametrize(
    "said",
    [
        line(used=10),
        line(used=10).rstrip(),
        line(used=10).decode(),
        b'{"used": 10}\r\n',
        b'  {"used": 10}  ',
        bytearray(line(used=10)),
        memoryview(line(used=10)),
        '{"used": 10, "text": "\ud800"}',
        '{"used": 10, "text": "\udcc3\udca9"}',
        '{"used": 10, "text": "\u00e9"}',
    ],
    ids=[
        "bytes",
        "without an end",
        "str",
        "crlf",
        "blanks",
        "bytearray",
        "memoryview",
        "lone surrogate",
        "surrogate escapes",
        "not ascii",
    ],
)
def test_a_line_may_come_in_any_form(said: Any) -> None:
    heard = Stream(SOURCE, limit_tokens=100)
    assert tokens(heard.feed(said, at=AT)) == (10, 100)


@pytest.mark.parametrize(
    "said",
    [
        b"{",
        b"null",
        b"[1]",
        b'"secret"',
        b"secret",
        b"\x00\xff\xfe",
        b'{"used": NaN}',
        b'{"used": 10}{"used": 10}',
        b'{"text": "\xc3"}',
        "\udcff{}",
        b"[" * 100_000,
    ],
)
def test_a_line_that_is_no_object_is_counted_and_otherwise_ignored(said: Any) -> None:
    heard = Stream(SOURCE, limit_tokens=100)
    heard.feed(line(used=10), at=AT)
    assert heard.feed(said, at=AT) is None
    assert tokens(heard.latest) == (10, 100)
    assert heard.stats == ReadStats(rows_decoded=1, rows_skipped=1)


@pytest.mark.parametrize("said", [b"", b"\n", b"\r\n", "  ", b"noise {"])
def test_a_blank_line_and_one_that_cannot_matter_are_not_even_counted(said: Any) -> None:
    heard = Stream(SOURCE)
    assert heard.feed(said, at=AT) is None
    assert heard.stats == ReadStats()


@pytest.mark.parametrize("wrong", [None, 5, {"used": 10}, [b"secret"]])
def test_what_is_no_line_is_a_wrong_argument(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"^line: ") as raised:
        Stream(SOURCE).feed(wrong, at=AT)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("wrong", [None, 5, "secret", [b"secret"]])
def test_what_is_no_piece_of_a_stream_is_a_wrong_argument(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"^chunk: ") as raised:
        Stream(SOURCE).feed_bytes(wrong, at=AT)
    assert "secret" not in str(raised.value)


NAIVE = AT.replace(tzinfo=None)


@pytest.mark.parametrize(("wrong", "error"), [("secret", TypeError), (NAIVE, ValueError)])
def test_a_moment_that_is_none_is_a_wrong_argument_of_every_verb(
    wrong: Any, error: type[Exception]
) -> None:
    heard = Stream(SOURCE)
    with pytest.raises(error, match=r"^at: "):
        heard.feed(line(used=10), at=wrong)
    with pytest.raises(error, match=r"^at: "):
        heard.feed(b"noise", at=wrong)
    with pytest.raises(error, match=r"^at: "):
        heard.feed_bytes(line(used=10), at=wrong)
    with pytest.raises(error, match=r"^at: "):
        heard.finish(at=wrong)
    assert heard.stats == ReadStats()


def test_the_clock_is_read_where_no_moment_is_given() -> None:
    heard = Stream(SOURCE, limit_tokens=100)
    before = datetime.now(AT.tzinfo)
    said = heard.feed(line(used=10))
    assert isinstance(said, Observed)
    assert before - SECOND < said.value.measured_at <= datetime.now(AT.tzinfo)
    assert heard.feed_bytes(line(used=11)) is not None
    assert tokens(heard.finish()) == (11, 100)


# -- pieces of lines ----------------------------------------------------------------------------


def heard_in(pieces: list[bytes], **asked: Any) -> Stream:
    heard = Stream("claude.stream", **asked)
    for piece in pieces:
        heard.feed_bytes(piece, at=AT)
    return heard


def test_the_frames_of_one_response_are_one_change() -> None:
    heard = Stream("claude.stream", limit_tokens=200_000)
    changes = [change for each in LINES if (change := heard.feed(each, at=AT)) is not None]
    counts = [tokens(change)[0] for change in changes if isinstance(change, Observed)]
    # Each prompt is told twice: when it is sent, and with the final output.
    assert counts == [15_004, 15_004, 15_806, 15_806, 16_108, 16_108]


def test_a_count_without_a_limit_is_told_once_however_often_it_is_said() -> None:
    heard = Stream(SOURCE)
    assert heard.feed(line(used=10), at=AT) is not None
    assert heard.feed(line(used=10), at=AT + SECOND) is None


def test_a_stream_of_nothing_but_garbage_is_no_such_stream() -> None:
    heard = Stream("claude.stream")
    heard.feed(b"\x7fELF", at=AT)
    assert reason(heard.finish(at=AT)) is MissingReason.SOURCE_MALFORMED
    for each in LINES:
        heard.feed(each, at=AT)
    assert tokens(heard.latest) == (16_108, 200_000)


def by_lines() -> Stream:
    heard = Stream("claude.stream")
    for each in LINES:
        heard.feed(each, at=AT)
    return heard


WHOLE = by_lines()


@given(st.lists(st.integers(0, len(CONTENT)), max_size=40))
def test_a_stream_says_the_same_however_it_is_cut_into_pieces(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(CONTENT)]
    heard = heard_in([CONTENT[a:b] for a, b in pairwise(edges)])
    assert heard.finish(at=AT) == WHOLE.finish(at=AT)
    assert heard.peak == WHOLE.peak
    assert heard.stats == WHOLE.stats


def test_a_stream_says_the_same_byte_by_byte() -> None:
    content = b"".join(LINES[-3:])
    pieces = [content[i : i + 1] for i in range(len(content))]
    assert heard_in(pieces).finish(at=AT) == heard_in([content]).finish(at=AT)


@given(st.integers(0, len(CONTENT)))
def test_a_stream_that_breaks_off_says_what_its_whole_lines_said(cut: int) -> None:
    whole = CONTENT[:cut].count(b"\n")
    heard = heard_in([CONTENT[:cut]])
    expected = heard_in(LINES[:whole])
    assert heard.latest.provenance.usage == expected.latest.provenance.usage
    finished = heard.finish(at=AT)
    torn = CONTENT[:cut].rpartition(b"\n")[2]
    if torn + b"\n" not in LINES:  # a line that lacks only its end is whole
        assert finished.provenance.usage == expected.latest.provenance.usage


def test_a_piece_gives_the_last_change_in_it() -> None:
    heard = Stream(SOURCE, limit_tokens=100)
    said = heard.feed_bytes(line(used=10) + line(used=11) + line(other=1), at=AT)
    assert tokens(said) == (11, 100)
    assert heard.feed_bytes(line(used=11)[:5], at=AT) is None
    assert heard.feed_bytes(line(used=11)[5:], at=AT) is None


def test_the_half_line_at_the_end_waits_for_its_other_half() -> None:
    heard = Stream(SOURCE, limit_tokens=100)
    assert heard.feed_bytes(b'{"used"', at=AT) is None
    assert reason(heard.latest) is MissingReason.NOT_MEASURED_YET
    assert tokens(heard.feed_bytes(b": 10}\n", at=AT)) == (10, 100)


def test_a_last_line_without_an_end_is_taken_when_the_stream_is_over() -> None:
    heard = Stream(SOURCE, limit_tokens=100)
    heard.feed_bytes(b'{"used": 10}', at=AT)
    assert tokens(heard.finish(at=AT)) == (10, 100)
    assert tokens(heard.finish(at=AT)) == (10, 100)
    assert heard.stats == ReadStats(rows_decoded=1)


def test_a_torn_last_line_is_counted_when_the_stream_is_over() -> None:
    heard = Stream(SOURCE, limit_tokens=100)
    heard.feed_bytes(line(used=10) + b'{"used": 9', at=AT)
    assert tokens(heard.finish(at=AT)) == (10, 100)
    assert heard.stats == ReadStats(rows_decoded=1, rows_skipped=1)


def test_a_line_that_names_a_key_twice_changes_nothing_and_is_counted() -> None:
    heard = Stream(SOURCE, limit_tokens=100)
    heard.feed(line(used=10), at=AT)
    assert heard.feed(b'{"used": 11, "used": 99}\n', at=AT) is None
    assert heard.feed(b'{"used": 11, "more": {"a": 1, "a": 1}}\n', at=AT) is None
    assert tokens(heard.latest) == (10, 100)
    assert heard.stats == ReadStats(rows_decoded=1, rows_skipped=2)


def test_a_key_that_is_named_twice_where_nothing_is_read_does_no_harm() -> None:
    heard = Stream(SOURCE)
    assert heard.feed(b'{"other": 1, "other": 2}', at=AT) is None
    assert heard.stats == ReadStats(rows_decoded=1)


def test_a_stream_can_be_fed_on_after_it_was_over() -> None:
    heard = Stream(SOURCE, limit_tokens=100)
    heard.feed_bytes(b'{"used": 10}', at=AT)
    heard.finish(at=AT)
    assert heard.feed(line(used=10), at=AT) is None
    assert tokens(heard.feed_bytes(line(used=12), at=AT)) == (12, 100)
    assert tokens(heard.finish(at=AT)) == (12, 100)


@pytest.fixture
def short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_LONGEST_LINE", 64)


@pytest.mark.usefixtures("short_lines")
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_line_that_grows_too_long_is_dropped_and_the_next_one_heard(size: int) -> None:
    heard = Stream(SOURCE, limit_tokens=100)
    content = line(used=10) + line(used=11, text="x" * 100) + line(used=12)
    for start in range(0, len(content), size):
        heard.feed_bytes(content[start : start + size], at=AT)
        assert len(heard._pending) <= 64
    assert tokens(heard.latest) == (12, 100)
    assert heard.stats == ReadStats(rows_decoded=2, rows_skipped=1)


@pytest.mark.usefixtures("short_lines")
def test_a_line_of_just_the_longest_length_is_heard() -> None:
    heard = Stream(SOURCE, limit_tokens=100)
    longest = line(used=10, text="")[:-1]
    longest = line(used=10, text="x" * (64 - len(longest)))[:-1]
    assert len(longest) == 64
    heard.feed_bytes(longest, at=AT)
    assert tokens(heard.finish(at=AT)) == (10, 100)


@pytest.mark.usefixtures("short_lines")
def test_an_overlong_last_line_is_counted_when_the_stream_is_over() -> None:
    heard = Stream(SOURCE, limit_tokens=100)
    heard.feed_bytes(b"x" * 65, at=AT)
    assert reason(heard.finish(at=AT)) is MissingReason.SOURCE_MALFORMED
    assert heard.stats == ReadStats(rows_skipped=1)


# -- the peak -----------------------------------------------------------------------------------


def test_a_peak_outlives_the_compaction_that_voids_the_present() -> None:
    heard = Stream(SOURCE, limit_tokens=100)
    for each in (line(used=90), line(compacted=True), line(used=20)):
        heard.feed(each, at=AT)
    assert tokens(heard.latest) == (20, 100)
    assert tokens(heard.peak) == (90, 100)


def test_a_peak_is_measured_against_the_limit_that_comes_only_at_the_end() -> None:
    heard = Stream(SOURCE)
    heard.feed(line(used=90), at=AT)
    heard.feed(line(used=20), at=AT + SECOND)
    assert reason(heard.peak) is MissingReason.MODEL_NOT_REPORTED
    heard.feed(line(limit=100), at=AT + 2 * SECOND)
    assert tokens(heard.peak) == (90, 100)
    assert isinstance(heard.peak, Observed)
    assert heard.peak.value.measured_at == AT
    assert heard.peak.attestation is cm.Attestation.NATIVE


def test_the_present_grows_stale_with_what_is_heard_later_and_the_peak_does_not() -> None:
    heard = Stream(SOURCE, limit_tokens=100, policy=Policy(max_age=30 * SECOND))
    heard.feed(line(used=90), at=AT)
    heard.feed(line(other=1), at=AT + 30 * SECOND)
    assert tokens(heard.latest) == (90, 100)
    heard.feed(b"noise", at=AT + 31 * SECOND)
    assert reason(heard.latest) is MissingReason.SAMPLE_STALE
    assert tokens(heard.peak) == (90, 100)
    assert reason(heard.finish(at=AT + timedelta(days=1))) is MissingReason.SAMPLE_STALE


# -- what is asked ------------------------------------------------------------------------------


def test_a_stream_is_named_by_its_source_or_its_id() -> None:
    named, given_ = Stream("claude.stream"), Stream(cm.claude.STREAM)
    for heard in (named, given_):
        heard.feed_bytes(CONTENT, at=AT)
    assert named.latest == given_.latest
    assert tokens(named.latest) == (16_108, 200_000)


def test_another_session_than_the_one_asked_for_is_not_measured() -> None:
    heard = Stream(SOURCE, session_id="other", limit_tokens=100)
    heard.feed(line(used=10), at=AT)
    assert reason(heard.latest) is MissingReason.SESSION_MISMATCH


def test_the_callers_limit_and_policy_go_for_the_whole_stream() -> None:
    heard = heard_in(LINES, limit_tokens=128_000)
    assert tokens(heard.latest) == (16_108, 128_000)
    assert tokens(heard.peak) == (16_108, 128_000)
    assuming = Stream(SOURCE, policy=Policy(assume_limits={"agent": 100}))
    assert tokens(assuming.feed(line(used=10), at=AT)) == (10, 100)


def test_the_callers_model_settles_what_the_stream_leaves_open() -> None:
    heard = Stream(SOURCE, model="claude-haiku-4-5")
    assert tokens(heard.feed(line(used=10), at=AT)) == (10, 200_000)


@pytest.mark.parametrize(
    ("argument", "wrong", "error"),
    [
        ("source", "secret.stream", ValueError),
        ("source", "claude.transcript", TypeError),
        ("source", None, TypeError),
        ("source", SOURCE.origin, TypeError),
        ("session_id", 5, TypeError),
        ("session_id", "", ValueError),
        ("model", 5, TypeError),
        ("limit_tokens", "secret", TypeError),
        ("limit_tokens", 0, ValueError),
        ("policy", None, TypeError),
        ("policy", {"secret": 1}, TypeError),
    ],
)
def test_a_wrong_argument_is_named_and_not_repeated(
    argument: str, wrong: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match=f"^{argument}: ") as raised:
        Stream(**{"source": SOURCE, argument: wrong})
    assert "secret" not in str(raised.value)


# -- the run ------------------------------------------------------------------------------------


def count(so_far: Tally, row: Mapping[str, Any]) -> Tally:
    return evolve(so_far, turns=row["turns"]) if "turns" in row else so_far


COUNTING = evolve(SOURCE, tally=count)


def test_a_stream_tells_what_its_source_tallies_and_nothing_without_that() -> None:
    heard = Stream(COUNTING)
    assert heard.tally == Tally()
    heard.feed(line(turns=3), at=AT)
    heard.feed(line(used=10), at=AT)
    assert heard.tally == Tally(turns=3)
    silent = Stream(SOURCE)
    silent.feed(line(turns=3), at=AT)
    assert silent.tally == Tally()


def test_a_line_that_names_a_key_twice_tallies_nothing() -> None:
    heard = Stream(COUNTING)
    heard.feed(b'{"turns": 3, "turns": 4}', at=AT)
    assert heard.tally == Tally()
    assert heard.stats == ReadStats(rows_skipped=1)


def test_a_tally_is_no_change_of_the_context() -> None:
    assert Stream(COUNTING).feed(line(turns=3), at=AT) is None
