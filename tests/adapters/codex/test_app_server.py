from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from attrs import evolve
from codex_notifications import AT, NOTIFICATIONS, Feed
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.adapters.codex.app_server import APP_SERVER
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import Gap, Phase, Query, TokenPair, UsedTokens
from ctxmeasure.observation import LimitBasis, MissingReason, Partial, UsedBasis
from ctxmeasure.stream import Stream
from ctxmeasure.testing.codex.notifications import (
    CHILD,
    THREAD,
    compaction,
    ended,
    estimated,
    event,
    exceeded,
    notification,
    started,
    updated,
)
from ctxmeasure.testing.codex.rows import WINDOW
from ctxmeasure.testing.hostile import any_json, spoilt
from ctxmeasure.usage import TokenUsage

FORK = "01a22891-5b88-7b72-b4f5-9def3d359107"
COMPACTION_REQUESTS = {121_400, 17_100, 18_600}  # of the recording
SECOND = timedelta(seconds=1)


def total(row: dict[str, Any]) -> int | None:
    usage = row["params"].get("tokenUsage")
    return None if usage is None else int(usage["last"]["totalTokens"])


def gap(feed: Feed, **asked: Any) -> Gap:
    seen = feed.evidence(**asked)
    assert isinstance(seen, Gap)
    return seen


def pair(feed: Feed, **asked: Any) -> TokenPair:
    seen = feed.evidence(**asked)
    assert isinstance(seen, TokenPair)
    return seen


# -- the recording ------------------------------------------------------------------------------


def shown() -> Iterator[tuple[dict[str, Any], Feed]]:
    feed = Feed()
    for row in NOTIFICATIONS:
        yield row, feed(row)


def test_the_recorded_thread_shows_each_response_once_and_no_compactions_request() -> None:
    said: list[int | MissingReason] = []
    for _, feed in shown():
        now = feed.used(session_id=THREAD) or gap(feed, session_id=THREAD).reason
        if not said or said[-1] != now:
            said.append(now)
    assert said == [
        MissingReason.NOT_MEASURED_YET,
        14_100,
        40_100,
        120_100,
        MissingReason.COMPACTED,
        15_600,
        MissingReason.COMPACTED,
        15_850,
        MissingReason.WINDOW_EXCEEDED,
        18_100,
    ]


def test_the_recorded_fork_shows_nothing_of_its_own_before_its_own_response() -> None:
    said = []
    for row, feed in shown():
        if row["params"]["threadId"] == FORK:
            said.append(feed.used(session_id=FORK) or gap(feed, session_id=FORK).reason)
    assert said == [
        *4 * [MissingReason.CARRIED_OVER],  # replayed, begun, repeated, the compaction's request
        *2 * [MissingReason.COMPACTED],
        *2 * [16_250],
    ]


def test_what_the_recorded_fork_carried_over_is_kept_without_a_time() -> None:
    feed = Feed()
    for row in NOTIFICATIONS:
        feed(row)
        if row["params"]["threadId"] == FORK:
            break
    seen = gap(feed, session_id=FORK)
    assert seen.partial == Partial(used_tokens=18_100, limit_tokens=475_000)
    assert seen.limit_basis is LimitBasis.EFFECTIVE_WINDOW


def test_a_recorded_response_has_its_own_clock_usage_and_window() -> None:
    feed = Feed()(*NOTIFICATIONS[:6])
    assert feed.evidence() == TokenPair(
        measured_at=datetime(2026, 11, 29, 18, 29, 1, 877_000, tzinfo=UTC),
        identity=(THREAD, "01a22891-50ae-7083-8dda-f1e60dc2c783", "174300"),
        usage=TokenUsage(
            input_tokens=80_000, cache_read_tokens=40_000, output_tokens=100, reasoning_tokens=30
        ),
        used_basis=UsedBasis.PROMPT_AND_OUTPUT,
        limit_tokens=WINDOW,
        limit_basis=LimitBasis.EFFECTIVE_WINDOW,
        default_limits=frozenset({258_400}),
    )


def test_every_recorded_turn_can_be_asked_for_after_all_of_them() -> None:
    feed = Feed()(*NOTIFICATIONS)
    turns = {
        row["params"]["turn"]["id"]: row["params"]["threadId"]
        for row in NOTIFICATIONS
        if row["method"] == "turn/started"
    }
    said = [
        feed.used(session_id=thread, turn_id=turn, phase=Phase.TERMINAL)
        or gap(feed, session_id=thread, turn_id=turn, phase=Phase.TERMINAL).reason
        for turn, thread in turns.items()
    ]
    assert said == [
        14_100,
        120_100,
        MissingReason.COMPACTED,  # the turn of a manual compaction
        15_600,
        MissingReason.CARRIED_OVER,  # interrupted before its response
        15_850,
        MissingReason.WINDOW_EXCEEDED,
        18_100,
        16_250,
        MissingReason.TURN_NOT_FOUND,  # failed, and reported nothing
    ]


def test_the_end_of_a_recorded_turn_is_the_notifications_own_clock() -> None:
    seen = pair(Feed()(*NOTIFICATIONS[:3]))
    assert seen.turn_ended_at == datetime(2026, 11, 29, 18, 29, 1, 741_000, tzinfo=UTC)
    assert seen.measured_at == datetime(2026, 11, 29, 18, 29, 1, 732_000, tzinfo=UTC)


def test_the_recordings_peak_is_its_fullest_response() -> None:
    peak = Feed()(*NOTIFICATIONS).peak()
    assert isinstance(peak, TokenPair)
    assert peak.usage is not None
    assert (peak.usage.total_tokens, peak.limit_tokens) == (120_100, WINDOW)


def test_the_recording_without_its_clocks_is_read_at_the_time_of_receipt() -> None:
    bare = [{key: row[key] for key in ("method", "params")} for row in NOTIFICATIONS[:6]]
    feed = Feed()(*bare)
    assert pair(feed).measured_at == AT + 6 * SECOND


def test_a_recorded_line_is_recognised_unless_it_only_tells_of_an_item_or_an_error() -> None:
    assert APP_SERVER.recognise is not None
    for row in NOTIFICATIONS:
        is_told = row["method"] not in {"item/completed", "error"}
        assert APP_SERVER.recognise(row) is is_told


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (" ,\t", " :  ")])
def test_every_recorded_line_is_relevant(separators: tuple[str, str]) -> None:
    for row in NOTIFICATIONS:
        assert APP_SERVER.relevant(json.dumps(row, separators=separators).encode())


# -- public issues (formats/codex.md §7) --------------------------------------------------------


def test_issue_neosh_115_the_lifetime_sum_is_not_the_context() -> None:
    feed = Feed()(answer(), started(), updated(180_000, 950_000, clock=AT))
    assert feed.used() == 180_000
    assert feed(compaction(), updated(12_000, 962_000)).used() == 12_000


def test_issue_agent_cockpit_233_ten_turns_do_not_make_1063_percent() -> None:
    feed = Feed()
    for n in range(10):
        turn = f"turn-{n}"
        feed(started(turn), updated(270_000 + n, 270_000 * (n + 1), turn=turn), ended(turn))
    assert feed.used() == 270_009


def test_issue_vm0_30319_a_turns_end_has_no_usage_and_is_not_asked_for_one() -> None:
    feed = Feed()(started(), updated(41_000), ended(usage={"totalTokens": 900_000}))
    assert feed.used(session_id=THREAD, turn_id="turn-1", phase=Phase.TERMINAL) == 41_000


def test_issue_openclaw_139285_after_a_compaction_nothing_is_known_until_the_next_response() -> (
    None
):
    feed = Feed()(started(), updated(200_000), compaction())
    assert feed.reason() is MissingReason.COMPACTED
    assert gap(feed).partial is None
    assert feed(updated(21_000, 221_000)).used() == 21_000


def test_issue_codex_9416_what_is_said_right_after_a_compaction_is_an_estimate() -> None:
    feed = Feed()(started(), updated(200_000, clock=AT), estimated(258_000, 200_000, clock=AT))
    known = Partial(used_tokens=258_000, limit_tokens=WINDOW, measured_at=AT, estimated=True)
    assert gap(feed) == Gap(
        reason=MissingReason.COMPACTED, partial=known, limit_basis=LimitBasis.EFFECTIVE_WINDOW
    )


def test_issue_codex_40856_no_count_from_before_a_compaction_comes_back() -> None:
    compacted = [updated(170_000), compaction("item/started"), updated(171_000, 341_000)]
    feed = Feed()(started(), *compacted, estimated(9_000, 341_000), compaction())
    assert feed.reason() is MissingReason.COMPACTED
    assert feed(estimated(9_000, 341_000)).reason() is MissingReason.COMPACTED
    assert feed(ended(), started("turn-2")).reason() is MissingReason.COMPACTED


def test_issue_codex_24089_more_than_the_window_is_handed_on_and_refutes_the_window() -> None:
    seen = pair(Feed()(started(), updated(777_000)))
    assert seen.usage is not None
    assert (seen.usage.total_tokens, seen.limit_tokens) == (777_000, WINDOW)
    assert not seen.overflows


def test_issue_codex_29426_and_30875_the_window_is_each_reports_own() -> None:
    feed = Feed()(started(), updated(20_000, window=258_400), ended())
    feed(started("turn-2"), updated(21_000, 41_000, turn="turn-2", window=353_400))
    assert feed.limit() == 353_400
    assert feed.limit(turn_id="turn-1") == 258_400


def test_issue_codex_acp_509_cache_reads_and_writes_lie_inside_the_input() -> None:
    row = updated(41_000)
    row["params"]["tokenUsage"]["last"] |= {"cachedInputTokens": 900, "cacheWriteInputTokens": 90}
    usage = pair(Feed()(started(), row)).usage
    assert usage == TokenUsage(
        input_tokens=39_910,
        cache_read_tokens=900,
        cache_write_tokens=90,
        output_tokens=100,
        reasoning_tokens=0,
    )


def test_issue_codex_trace_154_unknown_keys_are_passed_over() -> None:
    row = updated(41_000, window=190_000)
    row["params"]["tokenUsage"] |= {"autoCompactTokenLimit": 1}
    row["params"]["tokenUsage"]["last"] |= {"cacheCreationInputTokens": 7}
    feed = Feed()(started(), row)
    assert (feed.used(), feed.limit()) == (41_000, 190_000)


def test_issue_opencodex_2574_a_sub_agents_window_is_its_own() -> None:
    feed = Feed()(started(), updated(41_000, window=876_000))
    feed(started("sub", root="turn-1", threadId=CHILD))
    feed(updated(9_000, turn="sub", threadId=CHILD))
    assert feed.limit() == 876_000
    assert feed.limit(agent_id=CHILD) == WINDOW


# -- windows ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stated", "reason"),
    [
        (None, MissingReason.LIMIT_NOT_REPORTED),
        (0, MissingReason.LIMIT_INVALID),
        ("258400", MissingReason.LIMIT_INVALID),
    ],
)
def test_a_window_that_is_not_stated_leaves_the_count(stated: Any, reason: MissingReason) -> None:
    feed = Feed()(started(), updated(41_000, window=stated))
    seen = feed.evidence()
    assert isinstance(seen, UsedTokens)
    assert not isinstance(seen, TokenPair)
    assert seen.limit_missing is reason
    assert feed.used() == 41_000


def test_a_usage_that_is_none_is_named_and_hides_no_older_one() -> None:
    row = updated(50_000, 91_000)
    row["params"]["tokenUsage"]["last"]["inputTokens"] = True
    feed = Feed()(started(), updated(41_000), row)
    assert feed.reason() is feed.reason(turn_id="turn-1") is MissingReason.USAGE_INVALID


def test_a_report_of_rate_limits_alone_says_nothing() -> None:
    feed = Feed()(started(), updated(41_000), updated(1, tokenUsage=None))
    assert feed.used() == 41_000


# -- reports that are sent again ----------------------------------------------------------------


def test_a_repeated_report_keeps_its_time_and_its_turn() -> None:
    feed = Feed()(started(), updated(41_000), ended(), started("turn-2"))
    before = feed.evidence()
    feed(updated(41_000, turn="turn-2"))
    assert feed.evidence() == before
    assert feed.reason(turn_id="turn-2") is MissingReason.CARRIED_OVER
    known = gap(feed, turn_id="turn-2").partial
    assert known == Partial(used_tokens=41_000, limit_tokens=WINDOW, measured_at=AT + 2 * SECOND)


def test_a_report_that_is_repeated_in_its_own_turn_stays_that_turns() -> None:
    feed = Feed()(started(), updated(41_000), updated(41_000))
    assert feed.used(turn_id="turn-1") == 41_000


def test_a_repeat_after_a_compaction_carries_nothing_over() -> None:
    feed = Feed()(started(), updated(41_000), estimated(9_000, 41_000), ended())
    feed(started("turn-2"), estimated(9_000, 41_000, turn="turn-2"))
    assert feed.reason(turn_id="turn-2") is MissingReason.TURN_NOT_FOUND
    assert feed.reason() is MissingReason.COMPACTED


def test_two_requests_of_the_same_size_are_two() -> None:
    feed = Feed()(started(), updated(41_000, 41_000), updated(41_000, 82_000))
    assert pair(feed).measured_at == AT + 3 * SECOND


def test_versions_that_repeat_before_every_request_are_read_at_once() -> None:
    feed = Feed()(started(), updated(41_000), ended(), started("turn-2"))
    feed(updated(41_000, turn="turn-2"), updated(42_000, 83_000, turn="turn-2"))
    assert feed.used(turn_id="turn-2", phase=Phase.ACTIVE) == 42_000


# -- threads that are loaded --------------------------------------------------------------------


def test_a_report_before_any_turn_of_the_connection_is_carried_over() -> None:
    feed = Feed()(updated(41_000, 90_000, turn="old", clock=AT))
    assert gap(feed) == Gap(
        reason=MissingReason.CARRIED_OVER,
        partial=Partial(used_tokens=41_000, limit_tokens=WINDOW),
        limit_basis=LimitBasis.EFFECTIVE_WINDOW,
    )
    assert isinstance(feed.peak(), Gap)
    unlimited = Feed()(updated(41_000, 90_000, turn="old", window=None, clock=AT))
    assert gap(unlimited).partial == Partial(used_tokens=41_000)


def test_what_was_loaded_is_carried_over_until_the_first_own_report() -> None:
    feed = Feed()(updated(41_000, 90_000, turn="old", clock=AT), started())
    assert feed.reason() is MissingReason.CARRIED_OVER
    assert feed(updated(42_000, 132_000, clock=AT)).used() == 42_000


def test_a_lone_report_is_believed_by_who_knows_its_turn() -> None:
    feed = Feed()(updated(41_000, 90_000, clock=AT))
    for phase in Phase:
        assert feed.used(session_id=THREAD, turn_id="turn-1", phase=phase) == 41_000
        assert feed.reason(turn_id="turn-2", phase=phase) is MissingReason.TURN_NOT_FOUND
    assert pair(feed, turn_id="turn-1").measured_at == AT


def test_a_second_report_that_is_another_is_of_now_whatever_was_not_seen() -> None:
    feed = Feed()(updated(41_000, 90_000), updated(42_000, 132_000))
    assert feed.used(turn_id="turn-1", phase=Phase.ACTIVE) == 42_000
    assert feed.used(turn_id="turn-1", phase=Phase.TERMINAL) == 42_000


def test_a_report_that_names_no_turn_is_of_none() -> None:
    feed = Feed()(updated(41_000, 90_000, turn=None), updated(42_000, 132_000, turn=None))
    assert pair(feed).identity == (THREAD, "", "132000")


def test_without_a_clock_the_first_report_of_an_older_thread_may_be_a_repeat() -> None:
    resumed = updated(41_000, 90_000)
    assert Feed()(started(), resumed).reason() is MissingReason.CARRIED_OVER
    with_clock = updated(41_000, 90_000, clock=AT)
    assert Feed()(answer(), started(), with_clock).used() == 41_000
    assert Feed()(begun(), started(), with_clock).used() == 41_000
    assert Feed()(started(), updated(41_000, 41_000)).used() == 41_000


@pytest.mark.parametrize("start", range(len(NOTIFICATIONS)))
def test_who_joins_in_anywhere_sees_what_the_others_see_or_nothing(start: int) -> None:
    joined = Feed()
    for position, (row, whole) in enumerate(shown()):
        if position >= start:
            joined(row)
        for phase in (Phase.ACTIVE, Phase.LATEST):
            for thread_id in (THREAD, FORK):
                seen = joined.evidence(session_id=thread_id, phase=phase)
                if isinstance(seen, TokenPair):
                    expected = pair(whole, session_id=thread_id, phase=phase)
                    assert (seen.usage, seen.limit_tokens) == (
                        expected.usage,
                        expected.limit_tokens,
                    )
                    assert seen.measured_at == expected.measured_at


def test_who_joins_in_knows_a_turns_only_report_when_the_turn_is_complete() -> None:
    first = updated(41_000, 90_000, clock=AT)
    for rows in ([started(), first], [first]):
        assert Feed()(*rows).reason() is MissingReason.CARRIED_OVER
        assert Feed()(*rows, ended()).used(turn_id="turn-1", phase=Phase.TERMINAL) == 41_000
        for other in (ended(status="interrupted"), ended("turn-2")):
            assert Feed()(*rows, other).reason() is MissingReason.CARRIED_OVER
    without_clock = Feed()(started(), updated(41_000, 90_000), ended())
    assert without_clock.reason() is MissingReason.CARRIED_OVER


def test_who_joins_in_before_a_compaction_sees_no_request_of_its_own() -> None:
    feed = Feed()(started(), updated(41_000, 90_000, clock=AT))
    feed(updated(42_000, 132_000, clock=AT))
    assert feed.reason() is MissingReason.CARRIED_OVER
    assert Feed(feed.state, feed.now)(ended()).used() == 42_000
    assert Feed(feed.state, feed.now)(updated(43_000, 175_000, clock=AT)).used() == 43_000
    assert feed(estimated(9_000, 132_000, clock=AT)).reason() is MissingReason.COMPACTED


def test_an_answer_that_names_no_model_loads_no_thread() -> None:
    feed = Feed()(answer(None), started(), updated(41_000, 90_000, clock=AT))
    assert feed.reason() is MissingReason.CARRIED_OVER


def test_an_estimate_that_was_loaded_has_no_time() -> None:
    feed = Feed()(estimated(9_000, 90_000, turn="old", clock=AT))
    assert feed.reason() is MissingReason.COMPACTED
    assert gap(feed).partial == Partial(used_tokens=9_000, limit_tokens=WINDOW, estimated=True)
    assert feed.reason(turn_id="old") is MissingReason.TURN_NOT_FOUND


# -- compactions --------------------------------------------------------------------------------


def test_an_estimate_between_turns_is_no_compactions() -> None:
    feed = Feed()(started(), updated(90_000), ended(), estimated(6_743, 90_000))
    assert feed.reason() is MissingReason.ESTIMATE_ONLY
    partial = gap(feed).partial
    assert partial is not None
    assert (partial.used_tokens, partial.estimated) == (6_743, True)


def test_a_turn_whose_beginning_was_not_seen_ends_all_the_same() -> None:
    feed = Feed()(updated(41_000, 90_000), updated(42_000, 132_000), ended())
    assert feed(estimated(6_743, 132_000)).reason() is MissingReason.ESTIMATE_ONLY


def repeated(turn: str = "turn-1") -> dict[str, Any]:
    return updated(170_000, turn=turn, clock=AT)


def test_a_compactions_own_request_is_told_by_the_repeat_before_it() -> None:
    feed = Feed()(started(), updated(170_000, clock=AT), repeated())
    assert feed(updated(171_000, 341_000, clock=AT)).used() == 170_000
    assert feed(estimated(9_000, 341_000, clock=AT)).reason() is MissingReason.COMPACTED


def test_a_report_after_a_repeat_that_no_compaction_followed_was_a_responses() -> None:
    held = [started(), updated(170_000, clock=AT), repeated(), updated(171_000, 341_000, clock=AT)]
    assert Feed()(*held, ended()).used() == 171_000
    assert Feed()(*held, updated(172_000, 513_000, clock=AT)).used() == 172_000


@pytest.mark.parametrize("status", ["interrupted", "failed"])
def test_a_compaction_that_was_cut_off_shows_no_request_of_its_own(status: str) -> None:
    held = [started(), updated(170_000, clock=AT), repeated(), updated(171_000, 341_000, clock=AT)]
    assert Feed()(*held, ended(status=status)).used() == 170_000
    assert Feed()(*held, started("turn-2")).used() == 170_000


def test_a_compactions_own_request_is_told_by_the_item_before_it() -> None:
    feed = Feed()(started(), updated(170_000), compaction("item/started"))
    assert feed(updated(171_000, 341_000)).used() == 170_000
    assert feed(ended(status="interrupted")).used() == 170_000
    assert feed(started("turn-2"), updated(172_000, 513_000, turn="turn-2")).used() == 172_000


@pytest.mark.parametrize("done", [compaction(), notification("thread/compacted", turnId="turn-1")])
def test_a_compaction_voids_the_count_and_keeps_the_estimate(done: dict[str, Any]) -> None:
    assert Feed()(started(), updated(170_000), done).reason() is MissingReason.COMPACTED
    feed = Feed()(started(), updated(170_000), estimated(9_000, 341_000), done)
    partial = gap(feed).partial
    assert partial is not None
    assert (partial.used_tokens, partial.estimated) == (9_000, True)
    assert feed.reason(turn_id="turn-1") is MissingReason.COMPACTED


def test_another_item_is_no_compaction() -> None:
    item = {"type": "agentMessage", "text": "contextCompaction"}
    for method in ("item/started", "item/completed"):
        feed = Feed()(started(), updated(41_000), notification(method, item=item))
        assert feed.used() == 41_000
        assert feed(updated(42_000, 83_000)).used() == 42_000


def test_the_peak_survives_a_compaction() -> None:
    feed = Feed()(started(), updated(170_000), compaction(), updated(20_000, 190_000))
    peak = feed.peak()
    assert isinstance(peak, TokenPair)
    assert peak.usage is not None
    assert peak.usage.total_tokens == 170_000


def test_the_peak_is_the_fullest_share_and_not_the_highest_count() -> None:
    feed = Feed()(started(), updated(200_000, window=475_000))
    feed(updated(150_000, 350_000, window=258_400))
    peak = feed.peak()
    assert isinstance(peak, TokenPair)
    assert (peak.limit_tokens, feed(updated(200, 350_200)).used()) == (258_400, 200)
    assert feed.peak() == peak


def test_a_report_without_a_window_is_no_peak_beside_one_with_it() -> None:
    feed = Feed()(started(), updated(41_000, window=None))
    assert isinstance(feed.peak(), UsedTokens)
    feed(updated(20_000, 61_000), updated(90_000, 151_000, window=None))
    peak = feed.peak()
    assert isinstance(peak, TokenPair)
    assert peak.measured_at == AT + 3 * SECOND
    assert peak.identity == (THREAD, "turn-1", "61000")


def test_of_two_reports_as_full_the_later_is_the_peak() -> None:
    peak = Feed()(started(), updated(41_000), updated(41_000, 82_000)).peak()
    assert isinstance(peak, TokenPair)
    assert peak.measured_at == AT + 3 * SECOND


# -- windows that are exceeded ------------------------------------------------------------------

EXCEEDED = {"message": "too long", "codexErrorInfo": "contextWindowExceeded"}


def test_the_marker_of_an_exceeded_window_is_no_count() -> None:
    feed = Feed()(started(), updated(130_000), exceeded())
    assert feed.reason() is MissingReason.WINDOW_EXCEEDED
    assert gap(feed).partial == Partial(limit_tokens=WINDOW, measured_at=AT + 3 * SECOND)
    feed(notification("error", turnId="turn-1", error=EXCEEDED), ended(error=EXCEEDED))
    assert gap(feed).partial == Partial(limit_tokens=WINDOW, measured_at=AT + 3 * SECOND)


@pytest.mark.parametrize(
    "row",
    [
        notification("error", turnId="turn-1", error=EXCEEDED, willRetry=False),
        ended(status="failed", error=EXCEEDED),
        event("error", codex_error_info="context_window_exceeded"),
    ],
    ids=["error", "turn", "event"],
)
def test_an_error_says_that_the_window_is_exceeded(row: dict[str, Any]) -> None:
    feed = Feed()(started(), updated(130_000), row)
    assert feed.reason() is MissingReason.WINDOW_EXCEEDED
    assert feed.reason(turn_id="turn-1") is MissingReason.WINDOW_EXCEEDED
    assert feed(updated(18_000, 148_000)).used() == 18_000


@pytest.mark.parametrize(
    "error",
    [
        {"codexErrorInfo": "other"},
        {"codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 500}}},
        {},
        None,
    ],
)
def test_another_error_leaves_the_count(error: Any) -> None:
    feed = Feed()(started(), updated(41_000))
    feed(notification("error", error=error), ended(status="failed", error=error))
    assert feed.used() == 41_000


def test_an_error_that_is_tried_again_is_not_final() -> None:
    row = notification("error", error=EXCEEDED, willRetry=True)
    assert Feed()(started(), updated(41_000), row).used() == 41_000


def test_a_compaction_after_an_exceeded_window_keeps_the_markers_sum() -> None:
    feed = Feed()(started(), updated(130_000), exceeded(), compaction("item/started"))
    assert feed(exceeded(9_000)).reason() is MissingReason.COMPACTED
    assert feed.reason(turn_id="turn-1") is MissingReason.COMPACTED


# -- reverts and models -------------------------------------------------------------------------


@pytest.mark.parametrize("row", [notification("thread/reverted"), event("thread_rolled_back")])
def test_a_revert_voids_what_was_measured_of_every_turn(row: dict[str, Any]) -> None:
    feed = Feed()(started(), updated(90_000), ended(), row)
    assert feed.reason() is MissingReason.REWOUND
    assert feed.reason(turn_id="turn-1") is MissingReason.REWOUND
    feed(started("turn-2"), updated(15_000, 29_000, turn="turn-2"))
    assert feed.used(turn_id="turn-2") == 15_000


def settings(model: Any) -> dict[str, Any]:
    return notification("thread/settings/updated", threadSettings={"model": model})


def answer(model: Any = "gpt-5.5") -> dict[str, Any]:
    return {"id": 3, "result": {"thread": {"id": THREAD}, "model": model}}


def test_the_model_is_the_one_that_the_thread_was_started_with() -> None:
    feed = Feed()(answer(), started(), updated(41_000))
    assert feed.evidence().model == ModelRef(id="gpt-5.5", provider="openai")
    assert Feed()(answer(None), started(), updated(41_000)).evidence().model is None
    assert Feed()(answer()).evidence().model == ModelRef(id="gpt-5.5", provider="openai")
    assert Feed()({"id": 3, "result": {"ok": 1}}).state == APP_SERVER.initial


def test_a_count_stays_with_its_model_and_window_until_the_next_response() -> None:
    # As in Codex's own meter: it repeats the count with the old window (0.171, recorded).
    feed = Feed()(answer(), started(), updated(41_000), ended(), settings("gpt-6.2-sol"))
    before = feed.evidence()
    assert isinstance(before, TokenPair)
    assert (before.limit_tokens, before.model) == (
        WINDOW,
        ModelRef(id="gpt-5.5", provider="openai"),
    )
    feed(started("turn-2"), updated(41_000, turn="turn-2"))
    assert feed.evidence() == before
    feed(updated(42_000, 83_000, turn="turn-2", window=475_000), ended("turn-2"))
    assert feed.evidence().model == ModelRef(id="gpt-6.2-sol", provider="openai")


def test_a_count_that_is_repeated_with_another_window_is_held_against_it() -> None:
    feed = Feed()(answer(), started(), updated(41_000), ended(), settings("gpt-6.2-sol"))
    before = feed.evidence()
    again = updated(41_000, turn="turn-2", window=475_000)
    after = feed(started("turn-2"), again).evidence()
    assert isinstance(before, TokenPair)
    assert after == evolve(
        before, limit_tokens=475_000, model=ModelRef(id="gpt-6.2-sol", provider="openai")
    )
    assert feed.reason(turn_id="turn-2") is MissingReason.CARRIED_OVER
    assert feed.evidence(turn_id="turn-1") == before
    own = Feed()(answer(), started(), updated(41_000), updated(41_000, window=475_000))
    assert own.evidence(turn_id="turn-1") == own.evidence()
    assert own.evidence() == evolve(before, limit_tokens=475_000, turn_ended_at=None)


def test_a_turn_that_runs_while_the_model_changes_has_no_known_model() -> None:
    feed = Feed()(answer(), started(), updated(41_000), settings("gpt-6.2-sol"))
    assert feed.used(turn_id="turn-1") == 41_000
    assert feed(updated(42_000, 83_000)).evidence().model is None
    feed(ended(), started("turn-2"), updated(43_000, 126_000, turn="turn-2"))
    assert feed.evidence().model == ModelRef(id="gpt-6.2-sol", provider="openai")


@pytest.mark.parametrize("model", ["gpt-5.5", None, "", 7])
def test_settings_that_leave_the_model_leave_the_count(model: Any) -> None:
    feed = Feed()(answer(), started(), updated(41_000), ended(), settings(model))
    assert feed.used() == 41_000


def test_settings_that_name_the_model_of_the_turn_that_runs_change_none() -> None:
    feed = Feed()(answer(), started(), settings("gpt-5.5"), updated(41_000))
    assert feed.evidence().model == ModelRef(id="gpt-5.5", provider="openai")


def test_the_first_naming_of_a_model_is_no_change() -> None:
    feed = Feed()(started(), updated(41_000), ended(), settings("gpt-5.5"))
    assert feed.used() == 41_000
    assert feed.evidence().model is None


def test_a_change_of_the_model_after_a_compaction_leaves_it_compacted() -> None:
    feed = Feed()(answer(), started(), updated(41_000), compaction(), settings("gpt-6.2-sol"))
    assert feed.reason() is MissingReason.COMPACTED


def test_a_request_that_is_rerouted_is_another_models() -> None:
    rerouted = notification(
        "model/rerouted", turnId="turn-1", fromModel="gpt-5.5", toModel="gpt-5.2"
    )
    feed = Feed()(answer(), started(), updated(41_000), rerouted)
    assert feed.evidence().model == ModelRef(id="gpt-5.5", provider="openai")
    feed(updated(42_000, 83_000))
    assert feed.evidence().model == ModelRef(id="gpt-5.2", provider="openai")
    assert feed(rerouted).used() == 42_000
    feed(notification("model/rerouted", toModel=None), updated(42_500, 125_500))
    assert feed.used() == 42_500
    assert feed.evidence().model == ModelRef(id="gpt-5.2", provider="openai")
    feed(ended(), started("turn-2"), updated(43_000, 126_000, turn="turn-2"))
    assert feed.evidence().model == ModelRef(id="gpt-5.5", provider="openai")


# -- threads and turns --------------------------------------------------------------------------


def begun(thread: str = THREAD, parent: str | None = None) -> dict[str, Any]:
    thread_ = {"id": thread, "parentThreadId": parent, "cliVersion": "0.171.0"}
    return {"method": "thread/started", "params": {"thread": thread_}}


def test_before_the_first_report_nothing_is_measured() -> None:
    assert Feed().reason() is MissingReason.NOT_MEASURED_YET
    assert Feed().reason(session_id=THREAD) is MissingReason.NOT_MEASURED_YET
    assert Feed()(begun(), started()).reason(session_id=THREAD) is MissingReason.NOT_MEASURED_YET
    assert isinstance(Feed()(begun(), started()).peak(), Gap)


def test_the_version_is_the_one_that_began_the_thread() -> None:
    assert Feed()(begun(), started()).evidence() == Gap(
        reason=MissingReason.NOT_MEASURED_YET,
        limit_basis=LimitBasis.EFFECTIVE_WINDOW,
        runtime_version="0.171.0",
    )
    assert Feed()(begun(), started(), updated(41_000)).evidence() == pair(
        Feed()(begun(), started(), updated(41_000)), session_id=THREAD
    )


def test_without_a_session_the_first_thread_counts() -> None:
    other = [started("b", threadId=FORK), updated(9_000, turn="b", threadId=FORK)]
    feed = Feed()(started(), *other, updated(41_000))
    assert feed.used() == 41_000
    assert feed.used(session_id=FORK) == 9_000


def test_a_sub_agent_is_never_the_first_thread() -> None:
    feed = Feed()(begun(CHILD, parent=THREAD), updated(9_000, turn="sub", threadId=CHILD))
    assert feed.reason() is MissingReason.NOT_MEASURED_YET
    assert feed(started(), updated(41_000)).used() == 41_000
    inside = Feed()(started("sub", root="turn-1", threadId=CHILD))
    assert inside.state.main is None
    assert inside(started("next", threadId=CHILD)).state.main is None


def test_another_thread_is_another_session() -> None:
    feed = Feed()(started(), updated(41_000))
    assert feed.reason(session_id=FORK) is MissingReason.SESSION_MISMATCH
    assert feed.reason(session_id=THREAD, agent_id=CHILD) is MissingReason.SESSION_MISMATCH
    assert isinstance(feed.peak(session_id=FORK), Gap)


def test_while_a_turn_runs_an_older_turns_response_is_not_its_own() -> None:
    feed = Feed()(started(), updated(41_000), ended(), started("turn-2"))
    assert feed.reason(phase=Phase.ACTIVE) is MissingReason.TURN_NOT_FOUND
    assert feed.reason(turn_id="turn-2") is MissingReason.TURN_NOT_FOUND
    assert feed.used(phase=Phase.LATEST) == 41_000
    assert feed(updated(42_000, 83_000, turn="turn-2")).used(phase=Phase.ACTIVE) == 42_000


def test_a_turn_that_has_not_ended_has_no_last_response() -> None:
    feed = Feed()(started(), updated(41_000))
    asked = {"turn_id": "turn-1", "phase": Phase.TERMINAL}
    assert gap(feed, **asked) == Gap(
        reason=MissingReason.TURN_NOT_FINISHED,
        partial=Partial(used_tokens=41_000, limit_tokens=WINDOW, measured_at=AT + 2 * SECOND),
        limit_basis=LimitBasis.EFFECTIVE_WINDOW,
    )
    voided = Feed()(started(), updated(41_000), compaction())
    assert gap(voided, **asked).partial is None
    assert feed(ended()).used(**asked) == 41_000


def test_after_a_turn_without_a_response_an_older_one_is_not_its_last() -> None:
    feed = Feed()(started(), updated(41_000), ended(), started("turn-2"))
    assert feed.reason(phase=Phase.TERMINAL) is MissingReason.TURN_NOT_FINISHED
    feed(updated(41_000, turn="turn-2"), ended("turn-2", "interrupted"))
    assert feed.reason(phase=Phase.TERMINAL) is MissingReason.CARRIED_OVER
    assert feed.used(phase=Phase.LATEST) == 41_000


def test_a_turn_that_began_later_than_its_sample_is_another() -> None:
    feed = Feed()(started(), updated(41_000))
    assert feed.used(turn_started_at=AT) == 41_000
    assert feed.used(turn_started_at=feed.now) == 41_000
    assert feed.reason(turn_started_at=feed.now + SECOND) is MissingReason.TURN_NOT_FOUND


def test_a_turn_that_begins_twice_begins_once() -> None:
    feed = Feed()(started(), updated(41_000))
    before = feed.state
    assert feed(started()).state is before


def test_a_turn_that_only_ended_is_a_turn() -> None:
    feed = Feed()(ended(), started("turn-2"))
    assert feed.reason(turn_id="turn-1", phase=Phase.TERMINAL) is MissingReason.TURN_NOT_FOUND


# -- old notifications --------------------------------------------------------------------------


def info(used: int, lifetime: int, window: int | None = WINDOW) -> dict[str, Any]:
    def usage(total: int) -> dict[str, int]:
        return {
            "input_tokens": total - 100,
            "cached_input_tokens": 0,
            "output_tokens": 100,
            "reasoning_output_tokens": 0,
            "total_tokens": total,
        }

    return {
        "total_token_usage": usage(lifetime),
        "last_token_usage": usage(used),
        "model_context_window": window,
    }


def test_an_old_notification_is_read_as_a_new_one() -> None:
    feed = Feed()(
        event("session_configured", session_id=THREAD, model="gpt-5.2-codex"),
        event("task_started", model_context_window=WINDOW),
        event("token_count", info=None, rate_limits={"primary": {"used_percent": 99.0}}),
        event("token_count", info=info(41_000, 41_000)),
    )
    seen = pair(feed, session_id=THREAD, turn_id="turn-1", phase=Phase.ACTIVE)
    assert seen.usage is not None
    assert (seen.usage.total_tokens, seen.limit_tokens) == (41_000, WINDOW)
    assert seen.model == ModelRef(id="gpt-5.2-codex", provider="openai")
    assert feed(event("task_complete")).used(turn_id="turn-1", phase=Phase.TERMINAL) == 41_000
    feed(event("task_started", turn="turn-2"), event("context_compacted", turn="turn-2"))
    assert feed.reason() is MissingReason.COMPACTED
    assert feed(event("turn_aborted", turn="turn-2")).reason() is MissingReason.COMPACTED


def test_an_old_and_a_new_notification_of_one_report_are_one() -> None:
    feed = Feed()(event("task_started"), started())
    feed(event("token_count", info=info(41_000, 41_000)))
    before = feed.evidence()
    assert feed(updated(41_000, 41_000)).evidence() == before
    again = event("token_count", turn="turn-2", info=info(41_000, 41_000))
    feed(event("task_started", turn="turn-2"), again)
    assert feed.reason(turn_id="turn-2") is MissingReason.CARRIED_OVER
    feed(event("token_count", turn="turn-2", info=info(42_000, 83_000)))
    assert feed.used(turn_id="turn-2") == 42_000  # without a clock nothing is held


def test_an_mcp_servers_event_names_its_thread_or_none() -> None:
    def mcp(kind: str, meta: Any = None, **message: Any) -> dict[str, Any]:
        return event(kind, method="codex/event", meta=meta, **message)

    count = {"info": info(41_000, 41_000)}
    unnamed = Feed()(mcp("task_started"), mcp("token_count", **count))
    assert unnamed.used() == unnamed.used(session_id=THREAD) == 41_000
    meta = {"requestId": 1, "threadId": THREAD}
    named = Feed()(mcp("task_started", meta), mcp("token_count", meta, **count))
    assert named.used(session_id=THREAD) == 41_000
    assert named(mcp("token_count", **count)).reason(session_id=FORK) is (
        MissingReason.SESSION_MISMATCH
    )


@pytest.mark.parametrize("kind", ["agent_message", "exec_command_end", ""])
def test_another_old_event_says_nothing(kind: str) -> None:
    feed = Feed()(event("task_started"))
    before = feed.state
    assert APP_SERVER.step(before, event(kind), Query(at=AT)) is before


# -- lines --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"not json",
        b'{"id":1,"result":{"thread":{"id":"x"},"model":"gpt-5.5"}}',
        b'{"params":{},"method":"item/agentMessage/delta"}',
        b'{"method":"item/started","params":{"item":{"type":"contextCompaction"}}}',
        b'{"jsonrpc":"2.0","method":"thread/tokenUsage/updated"}',
        b'{"method":"codex/event","params":{}}',
        b'{"method":"codex/event/token_count"}',
        b'{"method":"codex/event/session_configured"}',
    ],
)
def test_a_line_that_might_matter_is_relevant(line: bytes) -> None:
    assert APP_SERVER.relevant(line)


@pytest.mark.parametrize(
    "line",
    [
        b'{"method":"item/agentMessage/delta","params":{"delta":"thread/tokenUsage/updated"}}',
        b' { "jsonrpc" : "2.0" , "method" : "item/completed" }',
        b'{"method":"account/rateLimits/updated"}',
        b'{"method":"codex/event/agent_message_delta"}',
        b'{"method":"thread/status/changed"}',
        b'{"method":"item/completed","params":{"item":{"type":"commandExecution"}}}',
        b'{"method":"item/completed","params":{"item":{"type":"mcpToolCall"}}}',
    ],
)
def test_deltas_items_and_quotas_are_irrelevant(line: bytes) -> None:
    assert not APP_SERVER.relevant(line)


@pytest.mark.parametrize(
    ("row", "is_told"),
    [
        (event("token_count", info=None), True),
        (event("token_count", method="codex/event"), True),
        ({"method": "codex/event/token_count"}, False),
        ({"method": "thread/tokenUsage/updated", "params": {"tokenUsage": {}}}, False),
        ({"method": "turn/started", "params": {"turn": {"id": "x"}}}, False),
        ({"method": "session/update", "params": {"sessionId": "x", "update": {}}}, False),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, False),
        ({"method": ["turn/started"]}, False),
        ({}, False),
    ],
)
def test_only_codexs_own_notifications_are_recognised(row: dict[str, Any], is_told: bool) -> None:
    assert APP_SERVER.recognise is not None
    assert APP_SERVER.recognise(row) is is_told


@pytest.mark.parametrize("sent", [None, 0, -1, True, "1795976941732", 10**15])
def test_a_clock_that_is_none_is_the_time_of_receipt(sent: Any) -> None:
    feed = Feed()(started(), {**updated(41_000), "emittedAtMs": sent})
    assert pair(feed).measured_at == AT + 2 * SECOND


def test_a_state_shows_no_ids_and_nothing_of_what_was_reported() -> None:
    feed = Feed()(
        started("SENTINEL", threadId="SENTINEL"),
        updated(41_000, turn="SENTINEL", threadId="SENTINEL", clock=AT),
        updated(41_000, turn="SENTINEL", threadId="SENTINEL", clock=AT),
        updated(42_000, 83_000, turn="SENTINEL", threadId="SENTINEL", clock=AT),
    )
    for shown_ in (feed.state, feed.evidence(), *feed.state.threads.values()):
        assert "SENTINEL" not in repr(shown_)


# -- for all inputs -----------------------------------------------------------------------------

json_values = any_json(
    "tokenUsage", "last", "total", "turn", "id", "item", "type", "error", "msg", "info", "threadId"
)
methods = st.sampled_from(
    [
        *{row["method"] for row in NOTIFICATIONS},
        "item/started",
        "model/rerouted",
        "thread/compacted",
        "thread/reverted",
        "thread/settings/updated",
        "thread/started",
        "codex/event",
        "codex/event/token_count",
    ]
)
any_rows = st.fixed_dictionaries(
    {},
    optional={
        "method": methods | json_values,
        "params": st.fixed_dictionaries(
            {},
            optional={
                "threadId": st.just(THREAD) | json_values,
                "turnId": st.sampled_from(["turn-1", "turn-2"]) | json_values,
                "turn": st.just({"id": "turn-2"}) | json_values,
                "tokenUsage": json_values,
                "item": st.just({"type": "contextCompaction"}) | json_values,
                "error": json_values,
                "thread": json_values,
                "msg": json_values,
            },
        )
        | json_values,
        "result": json_values,
        "emittedAtMs": json_values,
    },
)
good_rows = st.sampled_from(
    [
        begun(),
        started(),
        started("turn-2"),
        updated(41_000),
        updated(42_000, 83_000, clock=AT),
        updated(42_000, 83_000, turn="turn-2", clock=AT),
        updated(43_000, 126_000, turn="turn-2", clock=AT, window=None),
        estimated(9_000, 126_000, turn="turn-2"),
        exceeded(),
        compaction("item/started"),
        compaction(),
        ended(),
        ended("turn-2", "interrupted"),
        settings("gpt-5.5"),
        settings("gpt-6.2-sol"),
        notification("thread/reverted"),
    ]
)


@given(st.lists(any_rows | good_rows, max_size=8))
def test_no_object_raises(rows: list[dict[str, Any]]) -> None:
    feed = Feed()
    for row in rows:
        feed.state = APP_SERVER.step(feed.state, row, Query(at=AT))
    assert APP_SERVER.recognise is not None
    assert all(APP_SERVER.recognise(row) in {True, False} for row in rows)
    for phase in Phase:
        for turn in (None, "turn-1", "turn-2"):
            asked = {"phase": phase, "turn_id": turn}
            assert isinstance(feed.evidence(**asked), UsedTokens | Gap)
            assert isinstance(feed.peak(**asked), UsedTokens | Gap)


@given(st.data())
def test_no_line_raises(data: st.DataObject) -> None:
    heard = Stream(APP_SERVER)
    for row in data.draw(st.lists(good_rows | any_rows, max_size=6)):
        line = json.dumps(row).encode()
        end = data.draw(st.integers(0, len(line)))
        heard.feed(line[:end] + data.draw(st.binary(max_size=4)) + line[end:], at=AT)
    assert heard.finish(at=AT) == heard.latest


@given(st.lists(st.tuples(good_rows, good_rows | any_rows, st.booleans()), max_size=10))
def test_foreign_threads_change_nothing(
    rows: list[tuple[dict[str, Any], dict[str, Any], bool]],
) -> None:
    alone, beside = Feed()(started("turn-0")), Feed()(started("turn-0"))
    for row, foreign, is_followed in rows:
        alone(row)
        beside.now = alone.now - SECOND
        beside(row)
        params = foreign.get("params")
        if is_followed and isinstance(params, dict) and "codex" not in str(foreign.get("method")):
            other = {**params, "threadId": CHILD, "thread": {"id": CHILD}}
            beside(foreign | {"params": other, "result": None})
    for turn in (None, "turn-1", "turn-2"):
        for phase in Phase:
            asked = {"turn_id": turn, "phase": phase, "at": AT}
            for session in (None, THREAD):
                asked["session_id"] = session
                assert alone.evidence(**asked) == beside.evidence(**asked)
                assert alone.peak(**asked) == beside.peak(**asked)


@given(st.lists(good_rows, max_size=12))
def test_a_state_is_a_value_that_no_step_changes(rows: list[dict[str, Any]]) -> None:
    state = APP_SERVER.initial
    seen = []
    for row in rows:
        seen.append((state, repr(state.threads)))
        state = APP_SERVER.step(state, row, Query(at=AT))
    assert all(repr(before.threads) == shown_ for before, shown_ in seen)


def test_a_wrong_type_anywhere_gives_a_true_count_or_none() -> None:
    counts = {total(row) for row in NOTIFICATIONS} - COMPACTION_REQUESTS
    feed = Feed()
    for row in NOTIFICATIONS[:13]:
        for wrong in spoilt(row):
            if isinstance(wrong, dict):
                state = APP_SERVER.step(feed.state, wrong, Query(at=AT))
                for asked in ({}, {"session_id": THREAD}):
                    assert Feed(state).used(**asked) in {None, *counts}
                    assert Feed(state).limit(**asked) in {None, WINDOW}
        feed(row)


def test_the_source_is_what_the_registry_says() -> None:
    assert APP_SERVER.id == "codex.app_server"
    assert APP_SERVER.origin.method == "codex_app_server_token_usage"
    assert APP_SERVER.origin.client == "codex"
