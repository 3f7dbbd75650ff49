from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from claude_frames import AT, STREAMED, Feed, lines_of
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.adapters.claude.stream import STREAM
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import Gap, Phase, Query, TokenPair, UsedTokens
from ctxmeasure.observation import LimitBasis, MissingReason, Partial, UsedBasis
from ctxmeasure.testing.claude.frames import (
    SESSION,
    assistant,
    boundary,
    init,
    message_delta,
    message_start,
    result,
    status,
    usage,
)
from ctxmeasure.testing.claude.rows import MODEL
from ctxmeasure.testing.hostile import any_json, spoilt

ROOT = Path(__file__).parents[2] / "recordings"
TRUTH = {name: json.loads((ROOT / name / "truth.json").read_bytes()) for name in STREAMED}
OTHER = "claude-opus-4-6"


# -- recordings ---------------------------------------------------------------------------------


def calls_of(recording: str, role: str) -> dict[str, dict[str, Any]]:
    return {
        f"msg_mock{call['n']:04}": call
        for call in TRUTH[recording]["calls"]
        if call["role"] == role and call["outcome"] != "error"
    }


def main_message(frame: dict[str, Any]) -> str | None:
    """Return the id of the main response that *frame* reports, or None."""
    if frame.get("parent_tool_use_id") is not None:
        return None
    message = frame.get("message") or frame.get("event", {}).get("message") or {}
    return message.get("id") if frame["type"] in {"assistant", "stream_event"} else None


@pytest.mark.parametrize("recording", STREAMED)
def test_after_every_line_the_count_is_that_of_the_last_main_call(recording: str) -> None:
    calls, feed, expected = calls_of(recording, "main"), Feed(), None
    for line in lines_of(recording):
        feed.take(line)
        frame = json.loads(line)
        if (message_id := main_message(frame)) in calls:
            expected = calls[message_id]["prompt_tokens"]
        if frame.get("subtype") == "compact_boundary" or frame.get("compact_result") == "success":
            expected = None
        assert feed.used == expected
    truth = {entry["used_tokens"] for entry in TRUTH[recording]["expected_after"]}
    assert {call["prompt_tokens"] for call in calls.values()} == truth - {None}


@pytest.mark.parametrize("recording", STREAMED)
def test_a_finished_recording_shows_the_pair_that_the_agent_states(recording: str) -> None:
    feed = Feed()
    for line in lines_of(recording):
        feed.take(line)
    seen, final = feed.evidence(), TRUTH[recording]["final"]
    assert isinstance(seen, UsedTokens)
    assert feed.used == final["used_tokens"]
    if recording.startswith("claude-1.0.60"):  # its results state no window
        assert not isinstance(seen, TokenPair)
        assert seen.runtime_version is None
        return
    assert isinstance(seen, TokenPair)
    assert seen.limit_tokens == final["limit_tokens"]
    assert seen.limit_basis is LimitBasis.WINDOW
    assert seen.default_limits == {200_000, 1_000_000}
    assert not seen.overflows
    assert seen.used_basis is UsedBasis.PROMPT
    assert seen.runtime_version == ("2.0.76" if "2.0.76" in recording else "2.1.332")


@pytest.mark.parametrize("recording", STREAMED)
def test_the_peak_of_a_recording_is_its_fullest_main_call(recording: str) -> None:
    feed = Feed()
    for line in lines_of(recording):
        feed.take(line)
    peak = feed.peak()
    assert isinstance(peak, UsedTokens)
    assert peak.usage is not None
    assert peak.usage.prompt_tokens == max(
        call["prompt_tokens"] for call in calls_of(recording, "main").values()
    )


@pytest.mark.parametrize("recording", STREAMED)
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (" ,\t", " :  ")])
def test_a_line_that_is_called_irrelevant_changes_nothing(
    recording: str, separators: tuple[str, str]
) -> None:
    state, query = STREAM.initial, Query(at=AT)
    skipped = 0
    for line in lines_of(recording):
        frame = json.loads(line)
        after = STREAM.step(state, frame, query)
        if not STREAM.relevant(b" " + json.dumps(frame, separators=separators).encode()):
            assert after is state
            skipped += 1
        state = after
    assert skipped


@pytest.mark.parametrize("recording", STREAMED)
def test_a_line_with_its_keys_in_any_order_is_taken(recording: str) -> None:
    feed = Feed()
    for line in lines_of(recording):
        feed.take(json.dumps(json.loads(line), sort_keys=True).encode())
    assert feed.used == TRUTH[recording]["final"]["used_tokens"]


@pytest.mark.parametrize("recording", STREAMED)
def test_the_markers_of_a_recording_are_those_of_its_init(recording: str) -> None:
    feed = Feed()
    for line in lines_of(recording):
        feed.take(line)
    assert feed.marker is ("g-1m" in recording)


def test_the_time_of_a_response_is_the_frames_own_clock() -> None:
    feed = Feed()
    for line in lines_of("claude/a-simple"):
        feed.take(line)
    seen = feed.evidence()
    assert isinstance(seen, UsedTokens)
    stamp = next(
        frame["timestamp"]
        for frame in map(json.loads, lines_of("claude/a-simple"))
        if frame["type"] == "assistant"
    )
    assert seen.measured_at == datetime.fromisoformat(stamp)


def test_a_delta_has_no_clock_to_set_the_frames_by() -> None:
    written = AT - timedelta(days=1)
    block = assistant(30_000, timestamp=written.isoformat())
    feed = Feed()(init(), message_start(30_000), block, message_delta({"output_tokens": 120}))
    seen = feed.evidence()
    assert isinstance(seen, UsedTokens)
    assert seen.measured_at == written


def test_an_error_without_a_response_before_it_says_that_the_window_is_exceeded() -> None:
    feed = Feed()
    for line in (ROOT / "claude/e-error-400/stream-2.jsonl").read_bytes().splitlines():
        feed.take(line)
    assert feed.reason() is MissingReason.WINDOW_EXCEEDED


def test_a_compaction_leaves_the_runtimes_estimate_as_a_partial() -> None:
    feed = Feed()
    for file in ("stream-1.jsonl", "stream-2.jsonl"):
        for line in (ROOT / "claude/d-compact-manual" / file).read_bytes().splitlines():
            feed.take(line)
    seen = feed.evidence()
    assert isinstance(seen, Gap)
    assert seen.reason is MissingReason.COMPACTED
    assert seen.partial == Partial(used_tokens=930, measured_at=AT, estimated=True)
    assert seen.model == ModelRef(id=MODEL, long_context_marker=False)
    assert seen.runtime_version == "2.1.332"


# -- public issues (formats/claude.md §7) -------------------------------------------------------


def test_issue_claude_code_87602_post_tokens_are_not_the_context() -> None:
    feed = Feed()(init(), assistant(61_303), boundary(pre_tokens=61_895, post_tokens=5_706))
    assert feed.reason() is MissingReason.COMPACTED


def test_issue_claude_code_44723_model_usage_is_no_numerator() -> None:
    feed = Feed()(init(), assistant(30_000), result({MODEL: 200_000, "claude-haiku-4-5": 200_000}))
    assert (feed.used, feed.limit()) == (30_000, 200_000)


def test_issue_agent_sdk_66_result_usage_is_a_sum() -> None:
    assert Feed()(init(), assistant(44_000), result()).used == 44_000


def test_issue_agent_portal_1528_a_tool_loop_does_not_peg_the_meter() -> None:
    frames = [assistant(90_000 + n, f"msg_01{n}") for n in range(9)]
    feed = Feed()(init(), *frames, result(usage=usage(sum(90_000 + n for n in range(9)))))
    assert feed.used == 90_008


def test_issue_agentrove_298_a_result_message_says_nothing_of_the_window() -> None:
    assert (
        Feed()(init(), result(usage=usage(14_800_000))).reason() is MissingReason.NOT_MEASURED_YET
    )


def test_issue_agentrove_231_a_subagents_frames_are_not_the_main_context() -> None:
    feed = Feed()(init(), assistant(30_000), assistant(7_702, "msg_01b", parent_tool_use_id="t"))
    assert feed.used == 30_000


def test_issue_helmor_218_a_trailing_compaction_iteration_is_skipped() -> None:
    iterations = [
        {**usage(78_000, 321), "type": "message"},
        {**usage(900_000), "type": "compaction"},
    ]
    summed = {**usage(1_100_000), "iterations": iterations}
    assert Feed()(init(), result(usage=summed)).used == 78_000
    feed = Feed()(init(), assistant(78_000), result(usage=summed))
    assert (feed.used, feed.output) == (78_000, 321)


def test_issue_synara_830_the_compactions_own_call_is_no_response() -> None:
    compacted = [
        init(),
        assistant(170_000),
        status("compacting"),
        boundary(pre_tokens=170_500),
        assistant(171_100, "msg_01b"),
        assistant(171_100, "msg_01b"),
    ]
    assert Feed()(*compacted).reason() is MissingReason.COMPACTED
    assert Feed()(*compacted, result()).reason() is MissingReason.COMPACTED
    assert Feed()(*compacted, assistant(31_000, "msg_01c")).used == 31_000


def test_issue_ccstatusline_98_a_synthetic_frame_is_no_response() -> None:
    synthetic = assistant(3, "a1796b10", message={"model": "<synthetic>", "usage": usage(3)})
    assert Feed()(init(), assistant(30_000), synthetic).used == 30_000


def test_issue_agor_2167_the_runtimes_window_beats_a_default() -> None:
    marked = f"{MODEL}[1m]"
    feed = Feed()(init(marked), assistant(250_010), result({marked: 1_000_000}))
    assert (feed.used, feed.limit()) == (250_010, 1_000_000)


def test_issue_t3code_2034_the_last_main_usage_meets_its_models_window() -> None:
    windows = {"claude-haiku-4-5-20251001": 200_000, "claude-opus-4-8": 1_000_000}
    opus = assistant(150_000, message={"model": "claude-opus-4-8"})
    feed = Feed()(init("claude-opus-4-8"), opus, result(windows))
    assert (feed.used, feed.limit()) == (150_000, 1_000_000)


def test_issue_t3code_4650_task_counters_do_not_ratchet_the_meter() -> None:
    progress = {
        "type": "system",
        "subtype": "task_progress",
        "session_id": SESSION,
        "usage": {"total_tokens": 900_000},
    }
    assert Feed()(init(), assistant(30_000), progress).used == 30_000


# -- responses ----------------------------------------------------------------------------------


def test_before_the_first_response_nothing_is_measured() -> None:
    assert Feed().reason() is MissingReason.NOT_MEASURED_YET
    assert Feed()(init()).reason() is MissingReason.NOT_MEASURED_YET
    assert isinstance(Feed()(init()).peak(), Gap)


def test_the_frames_of_one_response_are_one_response() -> None:
    assert Feed()(init(), assistant(30_000), assistant(30_000), assistant(30_000)).used == 30_000


def test_a_delta_completes_the_output_and_its_nulls_say_nothing() -> None:
    delta = {"input_tokens": None, "cache_read_input_tokens": None, "output_tokens": 120}
    feed = Feed()(init(), message_start(30_000), assistant(30_000), message_delta(delta))
    assert (feed.used, feed.output) == (30_000, 120)


def test_the_last_of_several_deltas_counts() -> None:
    feed = Feed()(init(), message_start(30_000))
    feed(message_delta({"output_tokens": 5}), message_delta({"output_tokens": 120}))
    assert (feed.used, feed.output) == (30_000, 120)


def test_a_block_of_a_completed_response_does_not_undo_its_output() -> None:
    feed = Feed()(init(), message_start(30_000), message_delta({"output_tokens": 120}))
    assert feed(assistant(30_000)).output == 120


def test_a_gateway_that_gives_every_message_one_id_hides_no_response() -> None:
    completed = message_delta({"output_tokens": 120})
    feed = Feed()(init(), message_start(30_000), assistant(30_000), completed)
    assert feed(message_start(40_000)).used == 40_000
    assert feed(assistant(40_000), completed).used == 40_000


def test_one_id_in_two_turns_is_two_responses() -> None:
    feed = Feed()(init(), assistant(30_000), result(usage=usage(30_000, 120)))
    assert (feed.used, feed.output) == (30_000, 120)
    assert feed(init(), assistant(40_000)).used == 40_000


def test_a_server_side_tool_loop_is_measured_by_its_last_iteration() -> None:
    delta = {
        **usage(160_030, 900),
        "iterations": [
            {**usage(52_000), "type": "message"},
            {**usage(54_010, 300), "type": "message"},
            {**usage(160_000), "type": "advisor_message"},
        ],
    }
    feed = Feed()(init(), message_start(52_000), message_delta(delta))
    assert (feed.used, feed.output) == (54_010, 300)


def test_a_delta_of_another_message_is_not_taken() -> None:
    feed = Feed()(init(), message_start(30_000))
    assert feed(message_delta(usage(99_000), api_message_id="msg_01z")).used == 30_000
    assert feed(message_delta(usage(31_000), api_message_id="msg_01a")).used == 31_000


def test_a_delta_without_its_beginning_is_not_taken() -> None:
    assert Feed()(init(), message_delta(usage(30_000))).reason() is MissingReason.NOT_MEASURED_YET


def test_a_gateways_zeros_at_the_beginning_wait_for_the_delta() -> None:
    zeros = dict.fromkeys(usage(0), 0)
    feed = Feed()(
        init(), message_start(30_000, usage=zeros), assistant(3, message={"usage": zeros})
    )
    assert feed.reason() is MissingReason.USAGE_NOT_REPORTED
    assert feed(message_delta(usage(30_000, 120))).used == 30_000


@pytest.mark.parametrize("zeros", [{"input_tokens": 0}, dict.fromkeys(usage(3), 0)])
def test_a_gateways_zeros_at_the_end_do_not_undo_the_prompt(zeros: dict[str, int]) -> None:
    feed = Feed()(init(), message_start(30_000), message_delta({**zeros, "output_tokens": 120}))
    assert (feed.used, feed.output) == (30_000, 120)


def test_a_delta_with_a_prompt_corrects_the_beginning_zeros_and_all() -> None:
    estimate = {**dict.fromkeys(usage(3), 0), "input_tokens": 33_000}
    final = {**dict.fromkeys(usage(3), 0), "cache_read_input_tokens": 30_000}
    feed = Feed()(init(), message_start(3, usage=estimate), message_delta(final))
    assert feed.used == 30_000


def test_a_delta_whose_prompt_is_no_count_is_not_covered_up() -> None:
    feed = Feed()(init(), message_start(30_000), message_delta({"input_tokens": False}))
    assert feed.reason() is MissingReason.USAGE_INVALID


def test_a_delta_can_bring_the_only_usage() -> None:
    feed = Feed()(init(), message_start(30_000, usage=None), message_delta(usage(30_000)))
    assert feed.used == 30_000


def test_a_single_token_is_a_prompt() -> None:
    smallest = assistant(
        1,
        message={
            "usage": {**usage(3), "input_tokens": 1}
            | dict.fromkeys(("cache_creation_input_tokens", "cache_read_input_tokens"), 0)
        },
    )
    feed = Feed()(smallest, assistant(1, message={"usage": None}))
    assert feed.used == 1
    assert feed(result(usage={**smallest["message"]["usage"], "output_tokens": 9})).output == 9
    assert isinstance(feed.peak(), UsedTokens)


def test_a_block_without_usage_does_not_void_its_response() -> None:
    feed = Feed()(init(), message_start(30_000), assistant(3, message={"usage": None}))
    assert feed.used == 30_000


def test_absent_cache_counts_are_not_zero() -> None:
    bare = {"input_tokens": 30_000, "output_tokens": 5}
    feed = Feed()(init(), assistant(3, message={"usage": bare}))
    assert feed.reason() is MissingReason.USAGE_INCOMPLETE
    gap = feed.evidence()
    assert gap.model == ModelRef(id=MODEL, long_context_marker=False, platform="first_party")
    assert gap.runtime_version == "2.1.332"


def test_a_newer_response_without_usage_is_not_covered_by_an_older_one() -> None:
    feed = Feed()(init(), assistant(30_000), assistant(3, "msg_01b", message={"usage": None}))
    assert feed.reason() is MissingReason.USAGE_NOT_REPORTED


@pytest.mark.parametrize("mark", [{"error": "server_error"}, {"is_api_error_message": True}])
def test_an_error_frame_is_no_response_unless_it_has_a_usage(mark: dict[str, Any]) -> None:
    failed = assistant(3, "msg_01b", message={"usage": dict.fromkeys(usage(0), 0)}, **mark)
    assert Feed()(init(), assistant(30_000), failed).used == 30_000
    assert Feed()(init(), assistant(30_000), assistant(31_000, "msg_01b", **mark)).used == 31_000


def test_an_interrupted_response_counts() -> None:
    feed = Feed()(init(), assistant(30_000), assistant(31_000, "msg_01b", aborted=True))
    assert feed.used == 31_000


def test_a_context_report_is_no_response() -> None:
    report = assistant(
        3,
        "a1796b10",
        message={"model": "<synthetic>"},
        context_usage={"total_tokens": 9_100, "raw_max_tokens": 100_000},
    )
    assert Feed()(init(), assistant(30_000), report).used == 30_000


def test_the_beginning_of_a_response_is_dated_when_it_was_received() -> None:
    seen = Feed()(message_start(41_500)).evidence()
    assert isinstance(seen, UsedTokens)
    assert seen.measured_at == AT


def test_a_frame_without_clock_is_dated_when_it_was_received() -> None:
    feed = Feed()(init(), at=AT)(assistant(30_000), at=AT + timedelta(seconds=7))
    seen = feed.evidence()
    assert isinstance(seen, UsedTokens)
    assert seen.measured_at == AT + timedelta(seconds=7)


@pytest.mark.parametrize("stamp", ["yesterday", "2026-11-29T18:28:19", 5, None])
def test_a_clock_that_cannot_be_read_is_none(stamp: object) -> None:
    seen = Feed()(init(), assistant(30_000, timestamp=stamp)).evidence()
    assert isinstance(seen, UsedTokens)
    assert seen.measured_at == AT


def test_a_sample_is_known_by_its_session_and_message() -> None:
    seen = Feed()(init(), assistant(30_000)).evidence()
    assert isinstance(seen, UsedTokens)
    assert seen.identity == (SESSION, "msg_01a")
    nameless = Feed()(init(), assistant(30_000, message={"id": None})).evidence()
    assert isinstance(nameless, UsedTokens)
    assert nameless.identity == ()


@pytest.mark.parametrize(
    ("message_id", "platform"),
    [("msg_01a", "first_party"), ("msg_bdrk_1", "bedrock"), ("msg_vrtx_1", "vertex"), ("x", None)],
)
def test_the_message_id_tells_the_platform(message_id: str, platform: str | None) -> None:
    model = Feed()(init(), assistant(30_000, message_id)).evidence().model
    assert model is not None
    assert model.platform == platform


# -- results ------------------------------------------------------------------------------------


def test_the_only_call_of_a_turn_gets_its_true_output_from_the_result() -> None:
    feed = Feed()(init(), assistant(30_000), result(usage=usage(30_000, 120)))
    assert (feed.used, feed.output) == (30_000, 120)
    assert feed(assistant(30_000)).output == 120  # a late block knows less


def test_a_sum_leaves_the_output_alone() -> None:
    feed = Feed()(init(), assistant(30_000), result(usage=usage(61_000, 120)))
    assert (feed.used, feed.output) == (30_000, 1)


def test_the_last_iteration_stands_in_for_a_faulty_response() -> None:
    summed = {**usage(99_000), "iterations": [{**usage(31_000, 9), "type": "message"}]}
    feed = Feed()(init(), assistant(3, message={"usage": None}))
    assert feed(result(usage=usage(99_000))).reason() is MissingReason.USAGE_NOT_REPORTED
    assert feed(result(usage={"input_tokens": "x"})).reason() is MissingReason.USAGE_NOT_REPORTED
    assert feed(result(usage=summed)).used == 31_000


def test_a_result_alone_is_measured_by_its_last_call() -> None:
    summed = {**usage(99_000), "iterations": [{**usage(31_000, 9), "type": "message"}]}
    feed = Feed()(result(usage=summed))
    assert (feed.used, feed.limit()) == (31_000, 200_000)
    assert feed.marker is False
    seen = feed.evidence()
    assert isinstance(seen, TokenPair)
    assert (seen.measured_at, seen.identity) == (AT, (SESSION, "0e5011"))
    several = Feed()(result({MODEL: 200_000, OTHER: 1_000_000}, usage=summed))
    assert (several.used, several.limit()) == (31_000, None)
    assert several.evidence().model is None


@pytest.mark.parametrize(
    "iterations",
    [
        None,
        "many",
        [],
        [7],
        [{**usage(31_000), "type": "compaction"}],
        [{"type": "message", "input_tokens": 31_000, "output_tokens": 9}],
        [{**usage(31_000), "type": "message"}, {"type": "message", "input_tokens": -1}],
    ],
)
def test_an_iteration_without_all_four_counts_is_none(iterations: object) -> None:
    feed = Feed()(result(usage={**usage(99_000), "iterations": iterations}))
    assert feed.reason() is MissingReason.NOT_MEASURED_YET


def test_a_crash_result_with_zeros_changes_nothing() -> None:
    feed = Feed()(init(), assistant(30_000), result(), init(), assistant(31_000, "msg_01b"))
    crashed = result({}, usage=dict.fromkeys(usage(0), 0), subtype="error_during_execution")
    feed(crashed)
    assert (feed.used, feed.limit()) == (31_000, 200_000)


def test_a_prompt_too_long_leaves_the_last_response_standing() -> None:
    feed = Feed()(init(), assistant(30_000), init(), result(terminal_reason="prompt_too_long"))
    assert feed.used == 30_000


def test_without_a_result_the_limit_is_left_to_the_model() -> None:
    feed = Feed()(init(f"{MODEL}[1m]"), assistant(30_000))
    assert (feed.used, feed.limit(), feed.marker) == (30_000, None, True)


# -- windows ------------------------------------------------------------------------------------


def test_the_long_and_the_short_window_of_one_model_are_told_apart() -> None:
    windows = {MODEL: 200_000, f"{MODEL}[1m]": 1_000_000}
    assert Feed()(init(f"{MODEL}[1m]"), assistant(30_000), result(windows)).limit() == 1_000_000
    assert Feed()(init(MODEL), assistant(30_000), result(windows)).limit() == 200_000


def test_without_an_init_two_windows_of_one_model_are_none() -> None:
    windows = {MODEL: 200_000, f"{MODEL}[1m]": 1_000_000}
    feed = Feed()(assistant(30_000), result(windows))
    assert (feed.used, feed.limit(), feed.marker) == (30_000, None, None)
    assert Feed()(assistant(30_000), result({f"{MODEL}[1m]": 1_000_000})).limit() == 1_000_000


def test_a_window_of_the_other_marker_is_not_taken() -> None:
    marked = result({f"{MODEL}[1m]": 1_000_000})
    assert Feed()(init(MODEL), assistant(30_000), marked).limit() is None
    assert Feed()(init(f"{MODEL}[1m]"), assistant(30_000), result()).limit() is None


def test_a_window_is_found_by_its_canonical_id() -> None:
    profile = "arn:aws:bedrock:us-east-1:1:application-inference-profile/x"
    other = {"contextWindow": 200_000, "canonicalModel": "claude-haiku-4-5"}
    own = {"contextWindow": 1_000_000, "canonicalModel": "claude-opus-4-8"}
    feed = Feed()(assistant(30_000, message={"model": "claude-opus-4-8"}))
    feed(result(modelUsage={profile: own, "claude-haiku-4-5": other}))
    assert feed.limit() == 1_000_000


def test_the_only_window_is_the_main_models_also_behind_a_gateway_that_echoes_any_name() -> None:
    echo = assistant(30_000, message={"model": "mcs-5"})
    assert Feed()(init("my-model"), echo, result({"my-model": 128_000})).limit() == 128_000
    windows = {"my-model": 128_000, "claude-haiku-4-5": 200_000}
    assert Feed()(init("my-model"), echo, result(windows)).limit() is None


def test_a_fallback_model_does_not_get_the_window_of_the_model_it_stands_in_for() -> None:
    fallback = assistant(40_000, "msg_01b", message={"model": OTHER})
    feed = Feed()(init(), assistant(30_000), result(), init(), fallback)
    assert (feed.used, feed.limit()) == (40_000, None)
    assert feed(result({MODEL: 200_000, OTHER: 1_000_000})).limit() == 1_000_000


@pytest.mark.parametrize("window", [0, -1, True, "200000", 2e5, None, [200_000]])
def test_a_window_that_is_no_positive_whole_number_is_none(window: object) -> None:
    feed = Feed()(init(), assistant(30_000), result({MODEL: window}))
    assert (feed.used, feed.limit()) == (30_000, None)


def test_a_stated_window_holds_for_the_next_turns_of_its_model() -> None:
    feed = Feed()(init(), assistant(30_000), result(), init(), assistant(40_000, "msg_01b"))
    assert (feed.used, feed.limit()) == (40_000, 200_000)


def test_a_response_without_a_model_is_of_the_sessions() -> None:
    feed = Feed()(init(), assistant(30_000, message={"model": None}), result())
    assert (feed.limit(), feed.marker) == (200_000, False)
    nameless = Feed()(assistant(30_000, message={"model": None}), result())
    assert nameless.limit() is None
    assert nameless.evidence().model is None


# -- models -------------------------------------------------------------------------------------


def test_a_switch_of_the_model_voids_the_count_until_the_new_model_answers() -> None:
    feed = Feed()(init(), assistant(30_000), result(), init(OTHER))
    seen = feed.evidence()
    assert isinstance(seen, Gap)
    assert seen.reason is MissingReason.NOT_MEASURED_YET
    assert seen.partial == Partial(used_tokens=30_000, measured_at=AT)
    feed(assistant(33_000, "msg_01b", message={"model": OTHER}))
    assert (feed.used, feed.limit()) == (33_000, None)
    assert feed(result({MODEL: 200_000, OTHER: 1_000_000})).limit() == 1_000_000


def test_a_switch_after_a_faulty_response_leaves_no_count() -> None:
    seen = Feed()(init(), assistant(3, message={"usage": None}), init(OTHER)).evidence()
    assert isinstance(seen, Gap)
    assert seen.partial == Partial(used_tokens=None, measured_at=AT)


def test_a_switch_to_the_long_window_keeps_the_count_and_drops_the_limit() -> None:
    feed = Feed()(init(), assistant(30_000), result(), init(f"{MODEL}[1m]"))
    assert (feed.used, feed.limit(), feed.marker) == (30_000, None, True)


def test_an_init_after_the_response_tells_its_marker() -> None:
    feed = Feed()(assistant(30_000), init("claude-sonnet-4-5[1m]"))
    assert (feed.used, feed.marker) == (30_000, True)


def test_an_init_without_a_model_changes_nothing() -> None:
    assert Feed()(init(), assistant(30_000), init(None)).used == 30_000
    assert Feed()(assistant(30_000, message={"model": None}), init()).used == 30_000


def test_a_fallback_model_is_no_evidence_of_the_marker() -> None:
    fallback = assistant(30_000, message={"model": OTHER})
    assert Feed()(init(f"{MODEL}[1m]"), fallback).marker is None


def test_a_beta_header_that_asks_for_the_long_window_leaves_the_marker_open() -> None:
    feed = Feed()(init(betas=["context-1m-2025-08-07"]), assistant(30_000))
    assert feed.marker is None
    assert feed(result({MODEL: 1_000_000})).limit() == 1_000_000


# -- compactions --------------------------------------------------------------------------------


def test_while_a_compaction_runs_the_last_response_stands_and_its_own_call_does_not() -> None:
    feed = Feed()(init(), assistant(150_000), status("compacting"), status("requesting"))
    feed(message_start(151_000, "msg_01b"), assistant(151_000, "msg_01b"))
    feed(message_delta(usage(151_000, 700)))
    assert (feed.used, feed.output) == (150_000, 1)


def test_a_compaction_that_succeeded_voids_the_count_before_its_boundary_comes() -> None:
    feed = Feed()(init(), assistant(150_000), status("compacting"))
    feed(status(None, compact_result="success"))
    assert feed.reason() is MissingReason.COMPACTED
    assert feed(assistant(151_000, "msg_01b")).reason() is MissingReason.COMPACTED
    assert feed(assistant(9_000, "msg_01c")).used == 9_000


def test_a_late_delta_of_the_compactions_own_call_is_not_taken() -> None:
    feed = Feed()(init(), message_start(150_000), status("compacting"))
    feed(message_start(151_000, "msg_01b"), status(None, compact_result="failed"))
    assert feed(message_delta(usage(151_000, 700))).used == 150_000


def test_a_compaction_that_failed_changes_nothing() -> None:
    feed = Feed()(init(), assistant(150_000), status("compacting"))
    feed(status(None, compact_result="failed"))
    assert feed.used == 150_000
    assert feed(assistant(151_000, "msg_01b")).used == 151_000


@pytest.mark.parametrize("end", [result(), init()], ids=["result", "init"])
def test_a_compaction_whose_end_was_lost_ends_with_its_turn(end: dict[str, Any]) -> None:
    feed = Feed()(init(), assistant(150_000), status("compacting"), end)
    assert feed(assistant(151_000, "msg_01b")).used == 151_000


def test_a_compaction_before_any_response_is_followed_too() -> None:
    feed = Feed()(init(), status("compacting"), status(None, compact_result="success"))
    assert feed.reason() is MissingReason.COMPACTED
    assert feed(boundary()).reason() is MissingReason.COMPACTED
    assert feed(assistant(9_000)).used == 9_000


def test_a_small_sessions_first_response_after_its_compaction_counts() -> None:
    feed = Feed()(init(), assistant(15_000), boundary(pre_tokens=15_035), result(), init())
    assert feed(assistant(16_000, "msg_01b")).used == 16_000


def test_a_boundary_without_a_count_is_held_against_the_last_response() -> None:
    feed = Feed()(init(), assistant(150_000), boundary(pre_tokens="150000"))
    assert feed(assistant(151_000, "msg_01b")).reason() is MissingReason.COMPACTED


def test_the_boundarys_own_count_tells_the_compactions_call_from_a_response() -> None:
    compacted = [init(), assistant(50_000), boundary(pre_tokens=100_000)]
    assert Feed()(*compacted, assistant(89_999, "msg_01b")).used == 89_999
    assert Feed()(*compacted, assistant(90_000, "msg_01b")).used is None
    # After the first response nothing is the compaction's any more.
    feed = Feed()(*compacted, assistant(9_000, "msg_01b"), assistant(99_000, "msg_01c"))
    assert feed.used == 99_000


def test_an_estimate_is_dated_by_its_boundary() -> None:
    stamped = {**boundary(post_tokens=930), "timestamp": "2026-11-29T18:00:00.000Z"}
    seen = Feed()(stamped).evidence()
    assert isinstance(seen, Gap)
    assert seen.partial is not None
    assert seen.partial.measured_at == AT - timedelta(hours=1)


def test_a_status_that_says_nothing_ends_no_compaction() -> None:
    silent = status(None)
    del silent["status"]
    feed = Feed()(init(), assistant(150_000), status("compacting"), silent)
    assert feed(assistant(151_000, "msg_01b")).used == 150_000


def test_the_events_of_the_compactions_own_call_are_not_taken_after_the_boundary() -> None:
    feed = Feed()(init(), assistant(150_000), boundary(pre_tokens=150_001))
    feed(message_start(151_000, "msg_01b"), message_delta(usage(151_000, 700)))
    assert feed(assistant(151_000, "msg_01b")).reason() is MissingReason.COMPACTED


@pytest.mark.parametrize("stated", [None, 0, -5, True, "930", 930.0])
def test_an_estimate_that_is_no_count_is_no_partial(stated: object) -> None:
    seen = Feed()(init(), assistant(150_000), boundary(post_tokens=stated)).evidence()
    assert isinstance(seen, Gap)
    assert seen.partial is None


def test_a_boundary_without_metadata_is_one() -> None:
    feed = Feed()(init(), assistant(150_000), {**boundary(), "compact_metadata": 7})
    assert feed.reason() is MissingReason.COMPACTED


def test_the_peak_survives_a_compaction() -> None:
    feed = Feed()(init(), assistant(150_000), boundary(), assistant(9_000, "msg_01b"), result())
    peak = feed.peak()
    assert isinstance(peak, TokenPair)
    assert peak.usage is not None
    assert (peak.usage.prompt_tokens, peak.limit_tokens) == (150_000, 200_000)


# -- sessions and turns -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reset",
    [
        {"type": "conversation_reset", "new_conversation_id": "x", "session_id": SESSION},
        {"type": "system", "subtype": "conversation_reset"},
    ],
    ids=["own type", "subtype"],
)
def test_a_reset_conversation_is_not_measured_yet(reset: dict[str, Any]) -> None:
    feed = Feed()(init(), assistant(30_000), reset)
    assert feed.reason() is MissingReason.NOT_MEASURED_YET
    summed = {**usage(99_000), "iterations": [{**usage(31_000), "type": "message"}]}
    assert feed(result(usage=summed)).reason() is MissingReason.NOT_MEASURED_YET


def test_a_sample_of_no_named_session_is_known_by_its_message() -> None:
    seen = Feed()(assistant(41_500, session_id=None)).evidence()
    assert isinstance(seen, UsedTokens)
    assert seen.identity == ("", "msg_01a")


def test_a_session_that_is_named_late_is_the_one_that_runs() -> None:
    assert Feed()(assistant(41_500, session_id=None), status("requesting")).used == 41_500


def test_another_session_begins_with_nothing() -> None:
    feed = Feed()(init(), assistant(30_000), result(), init(session_id="another"))
    assert feed.reason() is MissingReason.NOT_MEASURED_YET
    feed(assistant(9_000, "msg_01b", session_id="another"))
    assert (feed.used, feed.limit()) == (9_000, None)
    peak = feed.peak()
    assert isinstance(peak, UsedTokens)
    assert peak.usage is not None
    assert peak.usage.prompt_tokens == 9_000


def test_the_session_asked_for_must_be_the_streams() -> None:
    feed = Feed()(init(), assistant(30_000))
    assert isinstance(feed.evidence(session_id=SESSION), UsedTokens)
    for seen in (feed.evidence(session_id="another"), feed.peak(session_id="another")):
        assert isinstance(seen, Gap)
        assert seen.reason is MissingReason.SESSION_MISMATCH
    nothing = Feed().evidence(session_id="another")
    assert isinstance(nothing, Gap)
    assert nothing.reason is MissingReason.NOT_MEASURED_YET


def test_a_frame_without_a_session_is_of_the_one_that_runs() -> None:
    assert Feed()(init(), assistant(30_000, session_id=None)).used == 30_000


def test_a_subagent_is_not_measured_here() -> None:
    seen = Feed()(init(), assistant(30_000)).evidence(agent_id="a54e51b23b1dadccb")
    assert isinstance(seen, Gap)
    assert seen.reason is MissingReason.USAGE_NOT_REPORTED


def test_frames_carry_no_turn_ids() -> None:
    seen = Feed()(init(), assistant(30_000)).evidence(turn_id="9b50f700")
    assert isinstance(seen, Gap)
    assert seen.reason is MissingReason.TURN_IDS_NOT_RECORDED


def test_a_turns_beginning_tells_its_responses() -> None:
    feed = Feed()(init(), assistant(30_000))
    own = feed.evidence(turn_id="9b50f700", turn_started_at=AT)
    assert isinstance(own, UsedTokens)
    older = feed.evidence(turn_id="9b50f700", turn_started_at=AT + timedelta(seconds=1))
    assert isinstance(older, Gap)
    assert older.reason is MissingReason.TURN_NOT_FOUND


def test_while_a_turn_runs_an_older_turns_response_is_not_its_own() -> None:
    feed = Feed()(init(), assistant(30_000), result(), init())
    seen = feed.evidence(phase=Phase.ACTIVE)
    assert isinstance(seen, Gap)
    assert seen.reason is MissingReason.TURN_NOT_FOUND
    assert isinstance(feed.evidence(phase=Phase.LATEST), UsedTokens)
    feed(assistant(31_000, "msg_01b"))
    assert isinstance(feed.evidence(phase=Phase.ACTIVE), UsedTokens)


# -- peaks --------------------------------------------------------------------------------------


def test_the_peak_is_the_fullest_share_where_the_windows_are_known() -> None:
    big = [assistant(300_000, "msg_01b", message={"model": OTHER})]
    feed = Feed()(init(), assistant(150_000), init(OTHER), *big)
    unknown = feed.peak()
    assert isinstance(unknown, UsedTokens)
    assert unknown.usage is not None
    assert unknown.usage.prompt_tokens == 300_000
    half = feed(result({MODEL: 200_000, "claude-haiku-4-5": 200_000})).peak()
    assert isinstance(half, UsedTokens)
    assert half.usage == unknown.usage
    known = feed(result({MODEL: 200_000, OTHER: 1_000_000})).peak()
    assert isinstance(known, TokenPair)
    assert known.usage is not None
    assert (known.usage.prompt_tokens, known.limit_tokens) == (150_000, 200_000)


@pytest.mark.parametrize(("version", "may_be_wrong"), [("2.1.289", True), ("2.1.290", False)])
def test_a_version_tells_whether_its_windows_are_right(version: str, may_be_wrong: bool) -> None:
    seen = Feed()(init(claude_code_version=version), assistant(30_000), result()).evidence()
    assert isinstance(seen, TokenPair)
    assert seen.misstates_limit is may_be_wrong


def test_a_lower_response_is_no_peak() -> None:
    feed = Feed()(init(), assistant(30_000), assistant(20_000, "msg_01b"))
    peak = feed.peak()
    assert isinstance(peak, UsedTokens)
    assert peak.usage is not None
    assert peak.usage.prompt_tokens == 30_000


# -- lines --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"not json",
        b"[]",
        b'{"session_id":"x","type":"result"}',
        b'{"message":{"type":"user"},"type":"assistant"}',
        b'\xef\xbb\xbf{"type":"user"}',
        b'{"type":"system","subtype":"init"}',
        b'{ "type" : "system" , "subtype" : "compact_boundary" }',
        b'{"type":"stream_event","event":{"type":"message_delta"}}',
        b'{"type":"conversation_reset"}',
    ],
)
def test_a_line_that_might_matter_is_relevant(line: bytes) -> None:
    assert STREAM.relevant(line)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"user","message":{"content":"\\"type\\":\\"assistant\\""}}',
        b' {\t"type" : "user" }',
        b'{"type":"rate_limit_event"}',
        b'{"type":"system","subtype":"hook_response","stdout":"x"}',
        b'{"type": "system", "subtype": "task_progress"}',
        b'{"type":"system","subtype":"thinking_tokens"}',
        b'{"type":"stream_event","event":{"type":"content_block_delta"}}',
        b'{"type":"stream_event","event":{"type":"message_stop"}}',
    ],
)
def test_tool_output_and_telemetry_are_irrelevant(line: bytes) -> None:
    assert not STREAM.relevant(line)


@pytest.mark.parametrize("recording", STREAMED)
def test_a_stream_is_recognised_by_its_frames(recording: str) -> None:
    frames = list(map(json.loads, lines_of(recording)))
    recognised = [frame for frame in frames if STREAM.recognise and STREAM.recognise(frame)]
    assert bool(recognised) is not recording.startswith("claude-1.0.60")


@pytest.mark.parametrize(
    "frame",
    [
        {},
        {"type": "assistant", "parent_tool_use_id": None},
        {"type": "system", "subtype": "init", "session_id": "x", "model": "composer-2"},
        {"type": "result", "subtype": "success", "usage": {}},
        {"type": "result", "total_cost_usd": 1, "modelUsage": {"x": {}}},
    ],
)
def test_frames_that_other_agents_write_too_are_not_recognised(frame: dict[str, Any]) -> None:
    assert STREAM.recognise is not None
    assert not STREAM.recognise(frame)


def test_a_result_is_told_by_its_cost_and_its_windows() -> None:
    assert STREAM.recognise is not None
    told = result(total_cost_usd=1.5)
    assert STREAM.recognise(told) is True
    assert STREAM.recognise(result()) is False
    assert STREAM.recognise({**told, "modelUsage": {}}) is False
    assert STREAM.recognise({**told, "type": "final"}) is False


@pytest.mark.parametrize("key", ["isSidechain", "parentUuid"])
def test_a_row_of_the_transcript_is_no_frame(key: str) -> None:
    assert Feed()({**assistant(30_000), key: None}).reason() is MissingReason.SOURCE_MALFORMED


def test_a_state_shows_no_ids_and_nothing_of_what_was_reported() -> None:
    feed = Feed()(
        init(session_id="SENTINEL"),
        assistant(30_000, "SENTINEL", session_id="SENTINEL", message={"usage": {"x": "SENTINEL"}}),
        assistant(30_000, "SENTINEL-2", session_id="SENTINEL"),
        boundary(pre_tokens=30_000) | {"session_id": "SENTINEL"},
        assistant(31_000, "SENTINEL-3", session_id="SENTINEL"),
    )
    assert "SENTINEL" not in repr(feed.state)
    assert "SENTINEL" not in repr(feed.evidence())


# -- for all inputs -----------------------------------------------------------------------------

json_values = any_json(
    "type", "subtype", "message", "usage", "event", "id", "model", "iterations", "status"
)
kinds = st.sampled_from(
    ["assistant", "stream_event", "result", "system", "user", "conversation_reset"]
)
subtypes = st.sampled_from(["init", "status", "compact_boundary", "conversation_reset"])
any_frames = st.fixed_dictionaries(
    {},
    optional={
        "type": kinds | json_values,
        "subtype": subtypes | json_values,
        "message": json_values,
        "event": json_values,
        "usage": json_values,
        "modelUsage": json_values,
        "status": st.just("compacting") | json_values,
        "compact_metadata": json_values,
        "betas": json_values,
        "model": json_values,
        "session_id": json_values,
        "timestamp": json_values,
        "parent_tool_use_id": json_values,
    },
)
good_frames = st.sampled_from(
    [
        init(),
        init(f"{MODEL}[1m]"),
        init(OTHER),
        assistant(30_000),
        assistant(31_000, "msg_01b"),
        message_start(32_000, "msg_01c"),
        message_delta(usage(32_000, 120)),
        status("compacting"),
        status(None, compact_result="success"),
        boundary(pre_tokens=32_000, post_tokens=900),
        result(),
        {"type": "conversation_reset"},
    ]
)


@given(st.lists(any_frames | good_frames, max_size=8))
def test_no_object_raises(frames: list[dict[str, Any]]) -> None:
    feed = Feed()(*frames)
    for phase in Phase:
        assert isinstance(feed.evidence(phase=phase), UsedTokens | Gap)
        assert isinstance(feed.peak(phase=phase), UsedTokens | Gap)


@given(
    st.lists(st.tuples(good_frames, st.booleans()), max_size=12),
    st.integers(min_value=4, max_value=10**7),
)
def test_a_subagents_frames_never_change_the_answer(
    frames: list[tuple[dict[str, Any], bool]], used: int
) -> None:
    alone, beside = Feed(), Feed()
    for frame, is_followed in frames:
        alone(frame)
        beside(frame)
        if is_followed:
            beside(assistant(used, "msg_01sub", parent_tool_use_id="toolu_1"))
    assert alone.state == beside.state


@given(st.lists(good_frames, max_size=12))
def test_a_state_is_a_value_that_no_step_changes(frames: list[dict[str, Any]]) -> None:
    state, query = STREAM.initial, Query(at=AT)
    seen = []
    for frame in frames:
        seen.append((state, repr(state)))
        state = STREAM.step(state, frame, query)
    assert all(repr(before) == shown for before, shown in seen)


# Fields that are read at all; the others of real frames are long.
READ = frozenset(
    {
        *("type", "subtype", "session_id", "timestamp", "parent_tool_use_id"),
        *("message", "event", "api_message_id"),
        *("usage", "modelUsage", "terminal_reason"),
        *("status", "compact_result", "compact_metadata"),
        *("model", "claude_code_version", "betas"),
    }
)


@pytest.mark.parametrize("recording", ["claude/b-tools-partial", "claude-2.0.76/d-compact-manual"])
def test_a_wrong_type_anywhere_gives_a_true_count_or_none(recording: str) -> None:
    counts = {call["prompt_tokens"] for call in TRUTH[recording]["calls"]}
    feed = Feed()
    for line in filter(STREAM.relevant, lines_of(recording)):
        frame = {key: value for key, value in json.loads(line).items() if key in READ}
        for wrong in spoilt(frame):
            if isinstance(wrong, dict):
                spoilt_feed = Feed(STREAM.step(feed.state, wrong, Query(at=AT)))
                assert spoilt_feed.used in {None, *counts}
                assert spoilt_feed.limit() in {None, 200_000}
        feed(frame)


def test_the_source_is_what_the_registry_says() -> None:
    assert STREAM.id == "claude.stream"
    assert STREAM.origin.method == "claude_stream_usage"
    assert STREAM.origin.client == "claude"
