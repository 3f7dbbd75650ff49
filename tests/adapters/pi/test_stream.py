from __future__ import annotations

import json
import tracemalloc
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pi_rows import AT, ROOT, RUNS, Feed, read, shown

import ctxmeasure as cm
from ctxmeasure.adapters.pi.stream import STREAM
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import Gap, Phase, Query, TokenPair, UsedTokens
from ctxmeasure.observation import Confidence, LimitBasis, MissingReason, Partial, UsedBasis
from ctxmeasure.testing import ABSENT
from ctxmeasure.testing.hostile import any_json, spoilt
from ctxmeasure.testing.pi.events import answer, edit, message_end, turn_end
from ctxmeasure.testing.pi.rows import MODEL, PROVIDER, SESSION_ID, SessionRows, reply, said, usage

SECOND = timedelta(seconds=1)
HEADER = {"type": "session", "version": 3, "id": SESSION_ID, "cwd": "/home/dev"}
BEGUN = {"type": "agent_start"}
MOCK = {"id": "mock-model", "provider": "mock", "contextWindow": 40_000, "maxTokens": 4_096}
SELECTED = {"id": MODEL, "provider": PROVIDER, "contextWindow": 40_000}
LINES = [line for run in RUNS for line in run.lines] + [
    line
    for path in sorted((ROOT / "pi-versions").glob("stream*.jsonl"))
    for line in path.read_bytes().splitlines()
]


def compacting(reason: str = "threshold", prefix: str = "") -> dict[str, Any]:
    """Return the event that a compaction has begun."""
    return {"type": f"{prefix}compaction_start", "reason": reason}


def compacted(prefix: str = "", **fields: Any) -> dict[str, Any]:
    """Return the event that a compaction has ended well, unless *fields* say otherwise."""
    result = {"summary": "words", "tokensBefore": 190_000, "usage": usage(14_700)}
    event = {"type": f"{prefix}compaction_end", "result": result, "aborted": False, **fields}
    return {key: value for key, value in event.items() if value is not ABSENT}


def stats(used: Any = 50_000, window: Any = 40_000, **fields: Any) -> dict[str, Any]:
    """Return an answer to ``get_session_stats``."""
    context = {"tokens": used, "contextWindow": window}
    return answer("get_session_stats", {"contextUsage": context, "tokens": {}, **fields})


def pair(feed: Feed, **asked: Any) -> TokenPair:
    """Return the pair that *feed* shows."""
    seen = feed.evidence(**asked)
    assert isinstance(seen, TokenPair)
    return seen


# -- replies ------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", [message_end(reply(50_000)), turn_end(reply(50_000))])
def test_one_event_with_a_reply_is_measured(event: dict[str, Any]) -> None:
    seen = Feed()(event).evidence()
    assert type(seen) is UsedTokens
    assert seen.used_tokens == 50_000
    assert seen.used_basis is UsedBasis.PROMPT_AND_OUTPUT
    assert seen.usage is not None
    assert seen.usage.prompt_tokens == 49_990
    assert seen.model == ModelRef(id=MODEL, provider=PROVIDER)
    assert not seen.lower_bound


def test_a_reply_is_one_reply_however_often_it_is_told() -> None:
    message = reply(50_000, stopReason="toolUse")
    feed = Feed()(message_end(message), message_end(said("toolResult")))
    assert feed.shows() == "50000+"
    feed(turn_end(message, said("toolResult")))
    assert feed.shows() == "50000+"
    feed(message_end(reply(60_000)), turn_end(reply(60_000)))
    assert feed.shows() == 60_000
    feed({"type": "agent_end", "messages": [message, reply(60_000), reply(10)]})
    assert feed.shows() == 60_000


def test_a_turns_end_alone_tells_of_the_results_that_were_added() -> None:
    message = reply(50_000, stopReason="toolUse")
    assert Feed()(turn_end(message, said("toolResult"))).shows() == "50000+"
    assert Feed()(turn_end(message)).shows() == 50_000


def test_a_turns_end_does_not_bring_back_what_a_compaction_voided() -> None:
    message = reply(50_000, stopReason="toolUse")
    feed = Feed()(message_end(message), compacted(), turn_end(message, said("toolResult")))
    assert feed.shows() == "compacted"


@pytest.mark.parametrize("tell", [message_end, turn_end])
def test_a_reply_that_is_told_once_more_is_as_void_as_it_was(tell: Any) -> None:
    message = reply(50_000, stopReason="toolUse")
    feed = Feed()(message_end(message), turn_end(message, said("toolResult")))
    assert feed(tell(message)).shows() == "50000+"
    assert feed(compacted(), tell(message)).shows() == "compacted"
    assert feed(message_end(reply(9_000))).shows() == 9_000


def test_a_reply_is_one_sample_in_the_stream_and_in_the_session_file() -> None:
    session = SessionRows()
    session.reply(50_000)
    in_file = read(session.content)
    assert isinstance(in_file, UsedTokens)
    message = json.loads(session.content.splitlines()[-1])["message"]
    in_stream = Feed()(HEADER, message_end(message)).evidence()
    assert isinstance(in_stream, UsedTokens)
    assert in_stream.identity == in_file.identity != ()


def test_two_replies_alike_are_two() -> None:
    message = reply(50_000, timestamp=ABSENT)
    feed = Feed()(message_end(message), turn_end(message), compacted(), turn_end(message))
    assert feed.shows() == 50_000


def test_a_reply_with_the_same_counts_and_another_clock_is_another() -> None:
    feed = Feed()(message_end(reply(50_000)), message_end(said("user")))
    assert feed(message_end(reply(50_000))).shows() == "50000+"
    assert feed(message_end(reply(50_000, timestamp=1_795_975_260_000))).shows() == 50_000


@pytest.mark.parametrize("message", [None, {}, ABSENT])
def test_a_turns_end_without_a_reply_says_nothing(message: Any) -> None:
    event = {k: v for k, v in turn_end(message).items() if v is not ABSENT}
    assert Feed()(message_end(reply(50_000)), event).shows() == 50_000
    assert Feed()(event).shows() == "not_measured_yet"


@pytest.mark.parametrize("role", ["user", "toolResult", "custom", "system", "bashExecution"])
def test_what_was_added_since_makes_it_a_lower_bound(role: str) -> None:
    feed = Feed()(message_end(said(role)))
    assert feed.shows() == "not_measured_yet"
    feed(message_end(reply(50_000)), message_end(said(role, usage=usage(90_000))))
    assert feed.shows() == "50000+"
    before = feed.state
    assert feed(message_end(said(role))).state is before


def test_a_reply_is_dated_by_its_end_as_far_as_its_message_tells() -> None:
    began = datetime(2026, 11, 29, 18, 0, tzinfo=UTC)
    clock = int(began.timestamp() * 1_000)
    timed = message_end(reply(1_000, timestamp=clock, durationMs=2_500))
    untimed = message_end(reply(1_000, timestamp=clock))
    undated = message_end(reply(1_000, timestamp=None, durationMs=2_500))
    for event, expected in ((timed, began + 2.5 * SECOND), (untimed, began), (undated, AT)):
        seen = Feed()(event).evidence()
        assert isinstance(seen, UsedTokens)
        assert seen.measured_at == expected
    alone = Feed()(turn_end(reply(1_000, timestamp=None))).evidence()
    assert isinstance(alone, UsedTokens)
    assert alone.measured_at == AT


@pytest.mark.parametrize("stopped", ["aborted", "error"])
def test_a_reply_that_came_to_nothing_is_passed_over(stopped: str) -> None:
    failed = reply(50_961, stopReason=stopped)
    feed = Feed()(message_end(failed), turn_end(failed))
    assert feed.shows() == "not_measured_yet"
    feed(message_end(reply(40_000)), message_end(failed), turn_end(failed))
    assert feed.shows() == "40000+"


@pytest.mark.parametrize(
    "nothing", [None, ABSENT, usage(0, input=0, output=0, cacheRead=0, cacheWrite=0)]
)
def test_a_reply_without_usage_is_passed_over_unless_there_is_no_other(nothing: Any) -> None:
    feed = Feed()(message_end(reply(usage=nothing, used=0)))
    assert feed.shows() == "usage_not_reported"
    feed(message_end(reply(40_000)), message_end(reply(usage=nothing, used=0)))
    assert feed.shows() == "40000+"
    feed(compacted(), message_end(reply(usage=nothing, used=0)))
    assert feed.shows() == "compacted"


def test_a_reply_without_usage_does_not_hide_a_compaction() -> None:
    feed = Feed()(message_end(reply(50_000)), compacted(), message_end(reply(0, usage=None)))
    assert feed.shows() == "compacted"


def test_a_faulty_usage_decides() -> None:
    feed = Feed()(message_end(reply(40_000)), message_end(reply(0, usage={"input": "7"})))
    assert feed.shows() == "usage_invalid"
    feed(message_end(reply(0, usage={"input": 7})))
    assert feed.shows() == "usage_incomplete"


def test_a_reply_that_is_not_complete_says_nothing() -> None:
    partial = reply(90_000, stopReason="pending")
    for kind in ("message_start", "message_update"):
        event = {"type": kind, "message": partial, "usage": partial["usage"]}
        assert STREAM.step(STREAM.initial, event, Query(at=AT)) is STREAM.initial


# -- compactions, overflows, edits --------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["", "auto_"])
def test_a_compaction_that_succeeds_voids_what_was_measured(prefix: str) -> None:
    feed = Feed()(message_end(reply(190_000)), compacting(prefix=prefix), compacted(prefix))
    assert feed.evidence() == Gap(
        reason=MissingReason.COMPACTED, model=ModelRef(id=MODEL, provider=PROVIDER)
    )
    feed(message_end(said("user")), message_end(reply(190_000, stopReason="aborted")))
    assert feed.shows() == "compacted"
    feed(message_end(reply(9_038)))
    assert feed.shows() == 9_038


@pytest.mark.parametrize("prefix", ["", "auto_"])
def test_while_a_compaction_runs_the_count_is_what_is_still_known(prefix: str) -> None:
    feed = Feed()(stats(), message_end(reply(30_000)), compacting(prefix=prefix))
    gap = feed.evidence()
    assert isinstance(gap, Gap)
    assert gap.reason is MissingReason.COMPACTED
    assert gap.partial is not None
    known = (gap.partial.used_tokens, gap.partial.limit_tokens, gap.partial.estimated)
    assert known == (30_000, 40_000, False)
    assert feed(message_end(reply(31_000))).shows() == 31_000


@pytest.mark.parametrize(
    "failed",
    [
        compacted(result=ABSENT, errorMessage="Already compacted"),
        compacted(errorMessage="words"),
        compacted(aborted=True),
        compacted(result=None),
    ],
)
def test_a_compaction_that_fails_voids_nothing(failed: dict[str, Any]) -> None:
    feed = Feed()(message_end(reply(30_000)), message_end(said("user")), compacting(), failed)
    assert feed.shows() == "30000+"


def test_a_compaction_leaves_pis_estimate() -> None:
    result = {"summary": "words", "estimatedTokensAfter": 573}
    feed = Feed()(stats(), message_end(reply(30_000)), compacted(result=result))
    gap = feed.evidence()
    assert isinstance(gap, Gap)
    known = Partial(used_tokens=573, limit_tokens=40_000, measured_at=AT, estimated=True)
    assert gap.partial == known


def test_a_compaction_after_an_overflow_begins_with_a_full_window() -> None:
    feed = Feed()(message_end(reply(30_000)), compacting("overflow"))
    assert feed.shows() == "window_exceeded"
    failed = compacted(result=ABSENT, errorMessage="words")
    assert feed(failed).shows() == "window_exceeded"
    assert feed(compacted()).shows() == "compacted"


def test_a_prompt_that_was_too_long_exceeds_the_window_until_a_good_reply() -> None:
    error = "400 This model's maximum context length is 40000 tokens"
    refused = reply(0, stopReason="error", errorMessage=error)
    feed = Feed()(message_end(reply(30_000)), message_end(refused), turn_end(refused), edit())
    assert feed.shows() == "window_exceeded"
    feed(message_end(reply(0, stopReason="error", errorMessage="500")))
    assert feed.shows() == "window_exceeded"
    assert feed(message_end(reply(20_000))).shows() == 20_000


def test_a_context_edit_voids_a_reply_before_it_and_no_later_one() -> None:
    feed = Feed()(edit())
    assert feed.shows() == "not_measured_yet"
    feed(message_end(reply(50_000, timestamp=1_000)), edit())
    gap = feed.evidence()
    assert isinstance(gap, Gap)
    assert gap.reason is MissingReason.REWOUND
    known = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert gap.partial == Partial(used_tokens=50_000, measured_at=known)
    assert feed(message_end(reply(30_000))).shows() == 30_000


@pytest.mark.parametrize("entry", [None, {"type": "label"}, {"type": "custom_message"}])
def test_another_entry_changes_nothing(entry: Any) -> None:
    feed = Feed()(message_end(reply(50_000)))
    before = feed.state
    assert feed({"type": "entry_appended", "entry": entry}).state is before


# -- the window ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        answer("get_state", {"model": SELECTED, "sessionId": SESSION_ID}),
        answer("set_model", SELECTED),
        answer("cycle_model", {"model": SELECTED, "thinkingLevel": "off"}),
        stats(),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_window_that_an_answer_states_is_the_models(asked: Any, *, is_first: bool) -> None:
    events = [message_end(reply(30_000)), asked]
    seen = pair(Feed()(*(events[::-1] if is_first else events)))
    assert (seen.used_tokens, seen.limit_tokens) == (30_000, 40_000)
    assert seen.limit_basis is LimitBasis.WINDOW
    assert seen.model == ModelRef(id=MODEL, provider=PROVIDER)


@pytest.mark.parametrize(
    "silent",
    [
        answer("get_state", {"model": None}),
        answer("get_state", {"model": {**SELECTED, "id": ""}}),
        answer("cycle_model", None),
        answer("set_model", SELECTED, success=False),
        answer("get_messages", {"model": SELECTED}),
        stats(window=0),
        stats(window=None),
    ],
)
def test_an_answer_that_states_none_changes_none(silent: dict[str, Any]) -> None:
    feed = Feed()(message_end(reply(30_000)), stats())
    assert pair(feed(silent)).limit_tokens == 40_000


def test_a_model_that_is_selected_later_is_held_against_the_same_count() -> None:
    feed = Feed()(message_end(reply(30_000)), stats(), answer("set_model", MOCK))
    seen = pair(feed)
    assert seen.model == ModelRef(id="mock-model", provider="mock")
    assert (seen.used_tokens, seen.limit_tokens) == (30_000, 40_000)
    unsaid = feed(answer("set_model", {})).evidence()
    assert type(unsaid) is UsedTokens
    assert unsaid.model is None


def test_a_reply_of_another_model_has_another_window() -> None:
    feed = Feed()(answer("get_state", {"model": MOCK}), message_end(reply(30_000)))
    seen = feed.evidence()
    assert type(seen) is UsedTokens
    assert seen.model == ModelRef(id=MODEL, provider=PROVIDER)


def test_a_reply_without_a_model_is_of_the_one_in_force() -> None:
    nameless = reply(30_000, model=ABSENT, provider=ABSENT)
    feed = Feed()(answer("get_state", {"model": MOCK}), message_end(nameless))
    assert pair(feed).model == ModelRef(id="mock-model", provider="mock")
    peak = feed.peak()
    assert isinstance(peak, TokenPair)
    assert peak.limit_tokens == 40_000
    alone = Feed()(message_end(nameless)).evidence()
    assert isinstance(alone, UsedTokens)
    assert alone.model is None


def test_more_than_pis_own_window_is_measured() -> None:
    stream = cm.Stream("pi.stream")
    for event in (stats(window=272_000), message_end(reply(297_047))):
        stream.feed(json.dumps(event), at=AT)
    assert isinstance(stream.latest, cm.Observed)
    assert isinstance(stream.latest.value, cm.TokenMeasurement)
    assert round(stream.latest.value.used_percent) == 109


def test_a_window_that_pi_may_only_assume_is_believed_less() -> None:
    for window, confidence in ((40_000, Confidence.EXACT), (128_000, Confidence.MEDIUM)):
        stream = cm.Stream("pi.stream")
        model = {**MOCK, "contextWindow": window}
        mocked = reply(15_025, model="mock-model", provider="mock")
        for event in (answer("get_state", {"model": model}), message_end(mocked)):
            stream.feed(json.dumps(event), at=AT)
        assert isinstance(stream.latest, cm.Observed)
        assert stream.latest.confidence is confidence


def test_a_gap_tells_the_model_and_the_window_that_are_known() -> None:
    gap = Feed()(answer("get_state", {"model": MOCK})).evidence()
    assert gap == Gap(
        reason=MissingReason.NOT_MEASURED_YET,
        partial=Partial(limit_tokens=40_000),
        model=ModelRef(id="mock-model", provider="mock"),
    )


# -- other answers ------------------------------------------------------------------------------


def test_stats_of_another_session_begin_with_nothing() -> None:
    feed = Feed()(HEADER, message_end(reply(50_000)))
    assert feed(stats(sessionId=SESSION_ID)).shows() == 50_000
    assert feed(stats(sessionId="another")).shows() == "not_measured_yet"


def test_stats_without_a_count_take_nothing_back() -> None:
    silent = answer("get_session_stats", {"contextUsage": {"contextWindow": 40_000}})
    assert pair(Feed()(message_end(reply(50_000)), silent)).used_tokens == 50_000


def test_null_in_the_stats_tells_of_a_compaction_that_was_not_seen() -> None:
    feed = Feed()(message_end(reply(30_000)), stats(None))
    assert feed.shows() == "compacted"
    assert Feed()(stats(None)).shows() == "not_measured_yet"


def test_a_compaction_without_events_is_told_by_its_answer() -> None:
    done = answer("compact", {"summary": "words", "tokensBefore": 30_000})
    feed = Feed()(message_end(reply(30_000)), done)
    assert feed.shows() == "compacted"
    done["data"]["estimatedTokensAfter"] = 573
    seen = Feed()(message_end(reply(30_000)), done).evidence()
    assert isinstance(seen, Gap)
    assert seen.partial == Partial(used_tokens=573, measured_at=AT, estimated=True)
    # With events of its own, its answer may come when a reply has followed.
    feed = Feed()(message_end(reply(30_000)), compacting(), compacted())
    assert feed(message_end(reply(9_000)), done).shows() == 9_000


def test_a_command_of_the_users_own_is_added_without_an_event() -> None:
    ran = answer("bash", {"output": "words", "exitCode": 0})
    assert Feed()(message_end(reply(30_000)), ran).shows() == "30000+"


@pytest.mark.parametrize("command", ["new_session", "switch_session", "fork", "clone"])
def test_another_conversation_begins_with_nothing(command: str) -> None:
    feed = Feed()(HEADER, stats(), message_end(reply(30_000)))
    before = feed.state
    assert feed(answer(command, {"cancelled": True})).state is before
    feed(answer(command, {"cancelled": False}))
    assert feed.shows() == "not_measured_yet"
    assert shown(feed.peak()) == "not_measured_yet"
    feed(answer("get_state", {"sessionId": "other"}), message_end(reply(8_000)))
    assert pair(feed, session_id="other").limit_tokens == 40_000  # of the same model


@pytest.mark.parametrize("command", ["new_session", "switch_session", "fork", "clone"])
def test_another_conversation_keeps_the_model_that_is_selected(command: str) -> None:
    feed = Feed()(answer("set_model", SELECTED), answer(command, {"cancelled": False}))
    seen = feed.evidence()
    assert isinstance(seen, Gap)
    assert seen.model == ModelRef(id=MODEL, provider=PROVIDER)


@pytest.mark.parametrize("command", ["new_session", "switch_session", "fork", "clone"])
def test_another_conversation_is_not_the_session_asked_for_until_it_is_named(command: str) -> None:
    feed = Feed()(HEADER, answer(command, {"cancelled": False}), message_end(reply(8_000)))
    assert feed.shows(session_id=SESSION_ID) == "session_mismatch"
    assert shown(feed.peak(session_id=SESSION_ID)) == "session_mismatch"
    assert feed.shows() == 8_000
    feed(answer("get_state", {"sessionId": "other"}))
    assert feed.shows(session_id="other") == 8_000
    assert feed.shows(session_id=SESSION_ID) == "session_mismatch"


def test_another_session_begins_with_nothing() -> None:
    feed = Feed()(HEADER, message_end(reply(30_000)), HEADER)
    assert feed.shows() == 30_000
    assert feed({**HEADER, "id": None}).shows() == 30_000
    assert feed({**HEADER, "id": "other"}).shows() == "not_measured_yet"


# -- the fullest reply --------------------------------------------------------------------------


def test_of_two_replies_as_full_the_later_is_the_peak() -> None:
    later = reply(50_000, timestamp=1_795_975_260_000)
    seen = Feed()(message_end(reply(50_000)), message_end(later)).peak()
    assert isinstance(seen, UsedTokens)
    assert seen.measured_at == datetime.fromtimestamp(1_795_975_260, UTC)


def test_the_peak_outlives_a_compaction() -> None:
    feed = Feed()
    assert shown(feed.peak()) == "not_measured_yet"
    feed(stats(), message_end(reply(30_000)), message_end(reply(20_000)), compacted())
    peak = feed.peak()
    assert isinstance(peak, TokenPair)
    assert (peak.used_tokens, peak.limit_tokens) == (30_000, 40_000)
    assert shown(feed.peak(session_id="other")) == 30_000  # the stream names no session
    feed(HEADER)
    assert shown(feed.peak(session_id="other")) == "session_mismatch"


def test_the_peak_of_another_model_has_its_own_window() -> None:
    feed = Feed()(stats(), message_end(reply(30_000)), answer("set_model", MOCK))
    peak = feed.peak()
    assert type(peak) is UsedTokens
    assert peak.model == ModelRef(id=MODEL, provider=PROVIDER)


# -- what is asked ------------------------------------------------------------------------------


def test_another_session_or_a_sub_agent_is_a_mismatch() -> None:
    feed = Feed()(HEADER, message_end(reply(50_000)))
    assert feed.shows(session_id=SESSION_ID) == 50_000
    assert feed.shows(session_id="other") == "session_mismatch"
    assert feed.shows(agent_id="a") == "session_mismatch"


def test_an_active_turn_is_the_last_one_that_began() -> None:
    feed = Feed()(BEGUN, message_end(reply(50_000)))
    assert feed.shows(phase=Phase.ACTIVE) == 50_000
    feed(BEGUN)
    assert feed.shows(phase=Phase.ACTIVE) == "turn_not_found"
    assert feed.shows(phase=Phase.TERMINAL) == 50_000
    assert feed(message_end(reply(60_000))).shows(phase=Phase.ACTIVE) == 60_000


@pytest.mark.parametrize(
    "retried", [{"type": "auto_retry_start", "attempt": 1}, compacted(willRetry=True, result=None)]
)
def test_what_is_tried_again_is_of_the_same_turn(retried: dict[str, Any]) -> None:
    feed = Feed()(BEGUN, message_end(reply(50_000)), retried, BEGUN)
    assert feed.shows(phase=Phase.ACTIVE) == 50_000
    assert feed(BEGUN).shows(phase=Phase.ACTIVE) == "turn_not_found"


def test_what_was_to_be_tried_again_and_was_stopped_is_over() -> None:
    trying = {"type": "auto_retry_start", "attempt": 1}
    stopped = {"type": "auto_retry_end", "success": False, "attempt": 1}
    feed = Feed()(BEGUN, message_end(reply(50_000)), trying, stopped, BEGUN)
    assert feed.shows(phase=Phase.ACTIVE) == "turn_not_found"
    feed(message_end(reply(60_000)), trying, BEGUN, {**stopped, "success": True})
    assert feed.shows(phase=Phase.ACTIVE) == 60_000


def test_a_turn_is_told_by_when_it_began() -> None:
    clock = int(AT.timestamp() * 1_000)
    feed = Feed()(message_end(reply(50_000, timestamp=clock)))
    assert feed.shows(turn_started_at=AT, phase=Phase.ACTIVE) == 50_000
    assert feed.shows(turn_started_at=AT + SECOND) == "turn_not_found"
    assert feed.shows(turn_id="t") == "turn_ids_not_recorded"
    assert feed.shows(turn_id="t", turn_started_at=AT) == 50_000


# -- lines --------------------------------------------------------------------------------------


@pytest.mark.parametrize("beginning", [b'{"id":"', b'{"id":"\\"', b'{"type":"', b" ", b'{"id":'])
def test_to_tell_a_long_line_takes_no_memory(beginning: bytes) -> None:
    line = beginning + (b"x" if beginning.endswith(b':"') else beginning[-2:]) * 500_000
    tracemalloc.start()
    try:
        assert STREAM.relevant(line)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100_000


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (" ,\t", " :  ")])
def test_a_line_that_is_called_irrelevant_changes_nothing(separators: tuple[str, str]) -> None:
    state, query = STREAM.initial, Query(at=AT)
    skipped = 0
    for line in LINES:
        event = json.loads(line)
        after = STREAM.step(state, event, query)
        if not STREAM.relevant(b" " + json.dumps(event, separators=separators).encode()):
            assert after is state
            skipped += 1
        state = after
    assert skipped > len(LINES) / 2


def test_a_line_with_its_keys_in_any_order_is_taken() -> None:
    for run in RUNS:
        feed, other = Feed(), Feed()
        for line in run.lines:
            feed.take(line)
            other.take(json.dumps(json.loads(line), sort_keys=True).encode())
            assert feed.state == other.state


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"not json",
        b'{"message":{},"type":"message_update"}',
        b'{"type":"message_end","message":{"content":"message_update"}}',
        b'{"type":"turn_end"}',
        b'{"type":"auto_compaction_end"}',
        b'{"id":"r\\"1","type":"response","command":"get_state","success":true}',
        b'{"type":"response","command":"bash","success":true}',
        b'{"type":"response","success":true,"command":"get_messages"}',
    ],
)
def test_a_line_that_might_matter_is_relevant(line: bytes) -> None:
    assert STREAM.relevant(line)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"message_update","usage":{"input":1}}',
        b' { "type" : "message_start" , "message" : {} }',
        b'{"type":"tool_execution_update","partialResult":"turn_end"}',
        b'{"type":"agent_end","messages":[]}',
        b'{"id":"r\\"1","type":"response","command":"get_messages","data":{}}',
        b'{"type":"response","command":"get_available_models"}',
        b'{"id":"x","type":"bash_execution_update","output":"words"}',
    ],
)
def test_deltas_tools_and_repetitions_are_irrelevant(line: bytes) -> None:
    assert not STREAM.relevant(line)


def test_a_line_that_is_longer_than_what_is_kept_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ctxmeasure.stream._LONGEST_LINE", 100_000)
    long = json.dumps(message_end(said("toolResult", content="x" * 200_000))).encode()
    stream = cm.Stream("pi.stream", limit_tokens=200_000)
    stream.feed(json.dumps(message_end(reply(50_000))), at=AT)
    for start in range(0, len(long), 30_000):
        stream.feed_bytes(long[start : start + 30_000], at=AT)
    stream.feed_bytes(b"\n", at=AT)
    assert stream.stats.rows_skipped == 1
    assert isinstance(stream.latest, cm.Observed)
    stream.feed_bytes(json.dumps(message_end(reply(60_000))).encode() + b"\n", at=AT)
    assert isinstance(stream.latest, cm.Observed)
    assert isinstance(stream.latest.value, cm.TokenMeasurement)
    assert stream.latest.value.used_tokens == 60_000


def test_separators_of_unicode_do_not_end_a_line() -> None:
    event = message_end(reply(50_000, content="a\u2028b\u2029c"))
    stream = cm.Stream("pi.stream", limit_tokens=200_000)
    stream.feed_bytes(json.dumps(event, ensure_ascii=False).encode() + b"\r\n", at=AT)
    assert isinstance(stream.latest, cm.Observed)


def test_a_row_of_the_session_file_is_no_event() -> None:
    row = {"type": "message", "id": "a", "parentId": None, "message": reply(50_000)}
    assert Feed()(HEADER, row).shows() == "source_malformed"


@pytest.mark.parametrize(
    ("event", "is_told"),
    [
        (message_end(reply(1_000)), True),
        (turn_end(reply(1_000)), True),
        ({"type": "message_start", "message": reply(1_000)}, True),
        (message_end(reply(1_000, api=ABSENT)), False),
        (message_end(reply(1_000, model=ABSENT)), False),
        (message_end(said("user")), False),
        ({"type": "message", "message": reply(1_000)}, False),
        ({"type": ["turn_end"], "message": reply(1_000)}, False),
        (HEADER, False),
        (stats(), False),
    ],
)
def test_an_event_is_told_by_its_reply(event: dict[str, Any], *, is_told: bool) -> None:
    assert STREAM.recognise is not None
    assert STREAM.recognise(event) is is_told


# -- bad data -----------------------------------------------------------------------------------

SPOILT = [
    message_end(reply(50_000, durationMs=5)),
    turn_end(reply(50_000), said("toolResult")),
    compacted(result={"summary": "words", "estimatedTokensAfter": 573}),
    edit(),
    answer("get_state", {"model": MOCK, "sessionId": SESSION_ID}),
    answer("set_model", MOCK),
    answer("cycle_model", {"model": MOCK}),
    stats(),
]


@pytest.mark.parametrize("event", SPOILT, ids=lambda event: str(event["type"]))
def test_a_spoilt_event_is_measured_or_named(event: dict[str, Any]) -> None:
    for row in spoilt(event):
        if isinstance(row, dict):
            feed = Feed()(message_end(reply(40_000)), row)
            assert shown(feed.evidence()) is not None
            assert shown(feed.peak()) is not None


EVENTS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from([*"xy", "response", "message_end", "turn_end", "session"])
        | st.sampled_from(["compaction_start", "compaction_end", "entry_appended", "agent_start"])
        | any_json(),
        "command": st.sampled_from(["get_state", "set_model", "compact", "bash"]) | any_json(),
        "success": st.just(value=True) | any_json(),
        "data": any_json("model", "contextUsage", "sessionId", "id", "contextWindow", "tokens"),
        "message": any_json("role", "usage", "timestamp", "durationMs", "model", "stopReason"),
        "result": any_json("estimatedTokensAfter"),
        "entry": any_json("type"),
        "reason": any_json(),
        "id": any_json(),
        "toolResults": any_json(),
    },
)


@given(st.lists(EVENTS, max_size=6))
def test_any_events_are_measured_or_named(events: list[dict[str, Any]]) -> None:
    state, query = STREAM.initial, Query(at=AT)
    for event in events:
        state = STREAM.step(state, event, query)
        assert STREAM.recognise is not None
        STREAM.recognise(event)
        for phase in Phase:
            asked = Query(at=AT, phase=phase)
            assert shown(STREAM.evidence(state, asked)) is not None
            assert shown(STREAM.peak(state, asked)) is not None
