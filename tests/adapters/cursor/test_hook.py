from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxmeasure as cm
from ctxmeasure.adapters import claude
from ctxmeasure.adapters.cursor.hook import HOOK, query_from_hook
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import (
    Claim,
    Evidence,
    Gap,
    Phase,
    Quantity,
    Query,
    TokenPair,
    UsedPercent,
    UsedTokens,
)
from ctxmeasure.identify import identify
from ctxmeasure.observation import LimitBasis, MissingReason, Partial, UsedBasis
from ctxmeasure.testing.cursor.payloads import PRE_COMPACT, SESSION, hook
from ctxmeasure.testing.hostile import any_json, spoilt

AT = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)

SUMS = {
    "input_tokens": 23_666,
    "output_tokens": 5,
    "cache_read_tokens": 23_617,
    "cache_write_tokens": 47,
}
WITHOUT_USAGE: dict[str, dict[str, Any]] = {
    "sessionStart": {"is_background_agent": False, "composer_mode": "agent"},
    "sessionEnd": {"reason": "completed", "duration_ms": 5505, "final_status": "completed"},
    "beforeSubmitPrompt": {"prompt": "a prompt", "attachments": []},
    "preToolUse": {"tool_name": "Write", "tool_use_id": "call_x\nctc_x"},
    "postToolUse": {"tool_name": "Write", "duration": 36.841},
    "postToolUseFailure": {"failure_type": "timeout", "duration": 30_000},
    "afterShellExecution": {"command": "ls", "output": "", "duration": 150},
    "afterFileEdit": {"file_path": "/home/dev/project/a.ts", "edits": []},
    "afterAgentThought": {"text": "a thought", "duration_ms": 3200},
    "afterAgentResponse": {"text": "an answer"},
    "subagentStart": {"subagent_id": "sub_1", "subagent_model": "composer-2.5"},
    "subagentStop": {"subagent_id": "sub_1", "message_count": 10, "tool_call_count": 3},
    "stop": {"status": "completed", "loop_count": 0},
    "workspaceOpen": {"session_id": ..., "conversation_id": ""},
    "anEventOfTomorrow": {"context_tokens": 7, "context_window_size": 200_000},
}


def read(payload: dict[str, Any], **asked: Any) -> Evidence:
    return HOOK.extract(payload, Query(**{"at": AT, **asked}))


def gap(payload: dict[str, Any], **asked: Any) -> MissingReason:
    seen = read(payload, **asked)
    assert isinstance(seen, Gap)
    return seen.reason


def pre_compact(**fields: Any) -> dict[str, Any]:
    """Return the payload before a compaction with other *fields*; ... drops one."""
    return {key: value for key, value in {**PRE_COMPACT, **fields}.items() if value is not ...}


def observed(payload: dict[str, Any], **asked: Any) -> cm.Measurement:
    observation = cm.observe(HOOK, payload, at=AT, **asked)
    assert isinstance(observation, cm.Observed), observation
    return observation.value


def refused(payload: dict[str, Any], **asked: Any) -> tuple[MissingReason, Partial | None]:
    observation = cm.observe(HOOK, payload, at=AT, **asked)
    assert isinstance(observation, cm.Missing), observation
    return observation.reason, observation.partial


# -- before a compaction ------------------------------------------------------------------------


def test_the_pair_says_all_that_the_judge_needs() -> None:
    assert read(PRE_COMPACT) == TokenPair(
        measured_at=AT,
        identity=(SESSION, "9c1f", "preCompact"),
        runtime_version="3.13.25",
        model=ModelRef(id="claude-opus-5"),
        claims=(Claim(Quantity.USED_PERCENT, 92.5, 0.15),),
        used_tokens=185_000,
        used_basis=UsedBasis.PROMPT_AND_OUTPUT,
        limit_tokens=200_000,
        limit_basis=LimitBasis.WINDOW,
    )


@pytest.mark.parametrize("absent", ["conversation_id", "session_id"])
def test_either_name_of_the_session_will_do(absent: str) -> None:
    seen = read(pre_compact(**{absent: ...}))
    assert isinstance(seen, TokenPair)
    assert seen.identity[0] == SESSION


@pytest.mark.parametrize("absent", ["conversation_id", "cursor_version"])
def test_either_mark_of_cursor_will_do(absent: str) -> None:
    assert isinstance(read(pre_compact(**{absent: ...})), TokenPair)
    assert gap(pre_compact(conversation_id=..., cursor_version=...)) is (
        MissingReason.SOURCE_MALFORMED
    )


def test_the_pair_is_the_runtimes_own_word() -> None:
    observation = cm.observe("cursor.hook", PRE_COMPACT, at=AT)
    assert isinstance(observation, cm.Observed)
    assert observation.value == cm.TokenMeasurement(
        used_tokens=185_000, limit_tokens=200_000, measured_at=AT, method="cursor_hook"
    )
    assert observation.attestation is cm.Attestation.NATIVE
    assert observation.confidence is cm.Confidence.EXACT
    assert observation.completeness is cm.Completeness.EXACT
    assert observation.provenance.witness is not None


def test_a_manual_compaction_states_a_whole_percentage() -> None:
    manual = pre_compact(trigger="manual", context_usage_percent=41, context_tokens=82_000)
    seen = read(manual)
    assert isinstance(seen, TokenPair)
    assert seen.claims == (Claim(Quantity.USED_PERCENT, 41, 1.0),)
    assert isinstance(observed(manual), cm.TokenMeasurement)


def test_a_noisy_percentage_agrees_with_its_pair() -> None:
    noisy = pre_compact(
        context_usage_percent=90.00045, context_tokens=230_401, context_window_size=256_000
    )
    assert isinstance(observed(noisy), cm.TokenMeasurement)


@pytest.mark.parametrize(("stated", "used"), [(18, 34_134), (17, 34_999), (17.1, 34_134)])
def test_a_rounded_percentage_agrees_with_its_pair(stated: float, used: int) -> None:
    value = observed(pre_compact(context_usage_percent=stated, context_tokens=used))
    assert isinstance(value, cm.TokenMeasurement)


def test_a_pair_alone_and_without_the_events_name_is_read() -> None:
    alone = {"conversation_id": "c", "context_tokens": 8500, "context_window_size": 16_000}
    seen = read(alone)
    assert isinstance(seen, TokenPair)
    assert (seen.used_tokens, seen.limit_tokens, seen.claims) == (8500, 16_000, ())
    assert seen.identity == ("c", "", "preCompact")


def test_a_percentage_of_zero_beside_a_pair_is_not_set() -> None:
    seen = read(pre_compact(context_usage_percent=0))
    assert isinstance(seen, TokenPair)
    assert seen.claims == ()


@pytest.mark.parametrize("unset", [0, None, ...])
def test_a_percentage_without_a_pair_is_a_percentage(unset: Any) -> None:
    for keys in (("context_tokens",), ("context_window_size",), tuple(PAIR)):
        seen = read(pre_compact(**dict.fromkeys(keys, unset)))
        assert isinstance(seen, UsedPercent)
        assert seen.used_percent == 92.5


PAIR = {"context_tokens": 0, "context_window_size": 0}


@pytest.mark.parametrize(
    ("stated", "right"), [(1.0, 1.0), (1, 1.0), (0.4, 0.4), (100, 100.0), (99.99, 99.99)]
)
def test_a_percentage_is_never_rescaled(stated: float, right: float) -> None:
    value = observed(pre_compact(**PAIR, context_usage_percent=stated))
    assert isinstance(value, cm.PercentMeasurement)
    assert value.used_percent == right


def test_zeros_are_protobufs_way_of_saying_nothing() -> None:
    zeros = pre_compact(**PAIR, context_usage_percent=0)
    assert refused(zeros) == (MissingReason.USAGE_NOT_REPORTED, None)
    only_limit = pre_compact(context_tokens=0, context_usage_percent=0.0)
    assert refused(only_limit) == (
        MissingReason.USAGE_NOT_REPORTED,
        Partial(limit_tokens=200_000, measured_at=AT),
    )


def test_a_count_without_a_window_needs_a_declared_one() -> None:
    payload = pre_compact(context_window_size=0, context_usage_percent=0)
    seen = read(payload)
    assert isinstance(seen, UsedTokens)
    assert not isinstance(seen, TokenPair)
    reason, partial = refused(payload)
    assert reason is MissingReason.LIMIT_NOT_REPORTED  # whatever the table knows of claude-opus-5
    assert partial == Partial(used_tokens=185_000, measured_at=AT)
    value = observed(payload, limit_tokens=200_000)
    assert isinstance(value, cm.TokenMeasurement)
    assert value.method == "cursor_hook_declared_limit"


@pytest.mark.parametrize("count", [-1, True, "185000", 185_000.0, [185_000]])
def test_a_count_that_is_none_is_refused(count: Any) -> None:
    known = Partial(limit_tokens=200_000, used_percent=92.5, measured_at=AT)
    assert refused(pre_compact(context_tokens=count)) == (MissingReason.USAGE_INVALID, known)


@pytest.mark.parametrize("size", [-1, True, False, "", "200000", 2e5, [200_000]])
def test_a_window_that_is_none_is_refused(size: Any) -> None:
    known = Partial(used_tokens=185_000, measured_at=AT)
    payload = pre_compact(context_window_size=size)
    assert refused(payload) == (MissingReason.LIMIT_INVALID, known)
    value = observed(payload, limit_tokens=200_000)
    assert isinstance(value, cm.TokenMeasurement)
    assert value.used_tokens == 185_000


@pytest.mark.parametrize("size", [-1, True, "200000"])
def test_a_percentage_does_without_a_window_that_is_none(size: Any) -> None:
    payload = pre_compact(context_window_size=size, context_tokens=0)
    assert observed(payload) == observed({**payload, "context_window_size": 0})
    nothing = {**payload, "context_usage_percent": 0}
    assert refused(nothing) == (MissingReason.USAGE_NOT_REPORTED, None)


@pytest.mark.parametrize("percent", [-0.1, 100.1, 101, True, "92.5", float("nan"), [92.5]])
def test_a_percentage_outside_0_to_100_is_refused(percent: Any) -> None:
    known = Partial(used_tokens=185_000, limit_tokens=200_000, measured_at=AT)
    stated = pre_compact(context_usage_percent=percent)
    assert refused(stated) == (MissingReason.PERCENT_INVALID, known)
    assert refused({**stated, **PAIR}) == (MissingReason.PERCENT_INVALID, None)


def test_a_use_above_the_window_refutes_the_window() -> None:
    over = pre_compact(context_tokens=210_000, context_usage_percent=100)
    assert refused(over)[0] is MissingReason.LIMIT_CONTRADICTED


def test_a_pair_that_its_percentage_contradicts_is_refused() -> None:
    reason, partial = refused(pre_compact(context_usage_percent=55))
    assert reason is MissingReason.SOURCES_DISAGREE
    assert partial is not None
    assert (partial.used_tokens, partial.limit_tokens) == (185_000, 200_000)


def test_what_a_count_is_made_of_is_not_known() -> None:
    policy = cm.Policy(counts=cm.Counts.PROMPT)
    assert refused(PRE_COMPACT, policy=policy)[0] is MissingReason.USAGE_INCOMPLETE


# -- the other events ---------------------------------------------------------------------------


@pytest.mark.parametrize("event", WITHOUT_USAGE)
def test_no_other_event_reports_usage(event: str) -> None:
    seen = read(hook(event, **WITHOUT_USAGE[event]))
    assert seen == Gap(
        reason=MissingReason.USAGE_NOT_REPORTED,
        runtime_version="2026.08.11-e8db854",
        model=ModelRef(id="claude-opus-5"),
    )


@pytest.mark.parametrize("event", ["stop", "afterAgentResponse"])
def test_sums_over_a_turn_are_no_context(event: str) -> None:
    assert gap(hook(event, **SUMS)) is MissingReason.CUMULATIVE_ONLY
    assert gap(hook(event, input_tokens=1)) is MissingReason.CUMULATIVE_ONLY
    assert gap(hook(event, **dict.fromkeys(SUMS))) is MissingReason.USAGE_NOT_REPORTED
    assert refused(hook(event, **SUMS), limit_tokens=200_000)[1] is None


@pytest.mark.parametrize("key", SUMS)
@pytest.mark.parametrize("wrong", [-1, True, "1", 1.0, []])
def test_a_sum_that_is_no_count_is_refused(key: str, wrong: Any) -> None:
    assert gap(hook("stop", **{**SUMS, key: wrong})) is MissingReason.USAGE_INVALID


def test_an_aborted_turn_has_no_sums() -> None:
    assert gap(hook("stop", status="aborted")) is MissingReason.USAGE_NOT_REPORTED


# -- public cases (formats/cursor.md §5) --------------------------------------------------------


def test_case_04_a_turns_input_includes_its_cache_and_nothing_is_added_to_it() -> None:
    turn = {"input_tokens": 46_965, "cache_read_tokens": 42_036, "cache_write_tokens": 4_927}
    assert refused(hook("stop", **turn)) == (MissingReason.CUMULATIVE_ONLY, None)


def test_case_05_a_turn_of_many_calls_is_not_its_context() -> None:
    turn = {"input_tokens": 1_100_000, "output_tokens": 10_147, "cache_read_tokens": 1_000_000}
    assert refused(hook("stop", **turn)) == (MissingReason.CUMULATIVE_ONLY, None)


def test_case_06_nor_is_one_that_would_fit() -> None:
    turn = {"input_tokens": 32_000, "output_tokens": 10}
    assert gap(hook("stop", **turn), limit_tokens=200_000) is MissingReason.CUMULATIVE_ONLY


def test_case_12_after_a_compaction_no_older_value_is_held() -> None:
    before = observed(pre_compact(context_tokens=180_000, context_usage_percent=90))
    after = observed(pre_compact(context_tokens=13_968, context_usage_percent=6.984))
    assert isinstance(before, cm.TokenMeasurement)
    assert isinstance(after, cm.TokenMeasurement)
    assert (before.used_tokens, after.used_tokens) == (180_000, 13_968)


def test_case_15_only_the_hooks_own_names_are_its_sums() -> None:
    bills = {"cacheReadTokens": 2_158_080, "inputTokens": 229_382}  # of stream-json
    assert gap(hook("stop", **bills)) is MissingReason.USAGE_NOT_REPORTED
    assert gap(hook("stop", cache_read_tokens=2_158_080)) is MissingReason.CUMULATIVE_ONLY


@pytest.mark.parametrize(
    "result",
    [
        {"type": "result", "usage": {"inputTokens": 19_270, "cacheReadTokens": 38_208}},
        {"sessionUpdate": "usage_update", "used": 185_000, "size": 200_000},
        {"type": "turn_ended", "status": "success"},
    ],
    ids=["16 stream-json", "25 ACP", "a transcript's row"],
)
def test_cases_16_25_what_is_no_hook_is_refused(result: dict[str, Any]) -> None:
    assert gap(result) is MissingReason.SOURCE_MALFORMED


def test_case_17_auto_has_no_window_to_look_up() -> None:
    turn = {"input_tokens": 20_152, "output_tokens": 15, "cache_read_tokens": 8_704}
    seen = read(hook("stop", model="default", **turn))
    assert isinstance(seen, Gap)
    assert (seen.reason, seen.model) == (MissingReason.CUMULATIVE_ONLY, None)
    count = pre_compact(model="default", context_window_size=0, context_usage_percent=0)
    assert refused(count)[0] is MissingReason.LIMIT_NOT_REPORTED


def test_case_18_the_caches_of_a_turn_are_not_the_context() -> None:
    turn = {"input_tokens": 500_000, "cache_read_tokens": 400_000, "cache_write_tokens": 90_000}
    assert refused(hook("afterAgentResponse", **turn)) == (MissingReason.CUMULATIVE_ONLY, None)


@pytest.mark.parametrize("event", ["preCompact", "stop", "sessionStart", "sessionEnd"])
def test_case_21_a_hook_command_of_claudes_gets_cursors_payload(event: str) -> None:
    payload = pre_compact(hook_event_name=event)
    assert HOOK.recognise is not None
    assert HOOK.recognise(payload)
    assert claude.HOOK.recognise is not None
    assert not claude.HOOK.recognise(payload)
    refusal = claude.HOOK.extract(payload, Query(at=AT))
    assert refusal == Gap(reason=MissingReason.SOURCE_MALFORMED)


def test_case_22_a_percentage_may_be_whole_or_not() -> None:
    for stated in (92, 92.0, 92.4375):
        value = observed(pre_compact(**PAIR, context_usage_percent=stated))
        assert isinstance(value, cm.PercentMeasurement)
        assert value.used_percent == stated


def test_case_23_the_pair_before_a_compaction_is_not_dropped() -> None:
    value = observed(PRE_COMPACT)
    assert isinstance(value, cm.TokenMeasurement)
    assert (value.used_tokens, value.limit_tokens) == (185_000, 200_000)


def test_case_24_a_use_may_fall_again() -> None:
    percents = [12.0, 86.0, 16.0]
    values = [observed(pre_compact(**PAIR, context_usage_percent=p)) for p in percents]
    assert [round(value.used_percent) for value in values] == [12, 86, 16]


def test_case_26_a_pair_and_another_percentage_are_no_answer() -> None:
    stated = pre_compact(
        context_tokens=111_068, context_window_size=272_000, context_usage_percent=55
    )
    reason, partial = refused(stated)
    assert reason is MissingReason.SOURCES_DISAGREE
    assert partial is not None
    assert partial.used_tokens == 111_068


# -- identity -----------------------------------------------------------------------------------


@pytest.mark.parametrize("session", [SESSION, "another name of it"])
def test_the_session_asked_for_must_be_the_hooks(session: str) -> None:
    payload = pre_compact(session_id="another name of it")
    assert isinstance(read(payload, session_id=session), TokenPair)
    assert gap(payload, session_id="another") is MissingReason.SESSION_MISMATCH


def test_a_server_driven_hook_names_nothing_and_is_taken_at_the_callers_word() -> None:
    empty = pre_compact(conversation_id="", generation_id="", session_id="", model="")
    seen = read(empty, session_id=SESSION)
    assert isinstance(seen, TokenPair)
    assert (seen.identity, seen.model) == ((), None)
    assert isinstance(read(empty, phase=Phase.ACTIVE), TokenPair)
    assert gap(empty, turn_id="9c1f") is MissingReason.TURN_IDS_NOT_RECORDED


def test_the_turn_asked_for_must_be_the_hooks() -> None:
    assert isinstance(read(PRE_COMPACT, turn_id="9c1f", phase=Phase.ACTIVE), TokenPair)
    assert gap(PRE_COMPACT, turn_id="another") is MissingReason.TURN_NOT_FOUND


def test_a_subagent_has_a_conversation_of_its_own() -> None:
    assert gap(PRE_COMPACT, agent_id="sub_1") is MissingReason.SESSION_MISMATCH


# -- other agents -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "foreign",
    [
        {},
        {"hook_event_name": "PreCompact", "session_id": "s", "trigger": "auto"},
        {"hook_event_name": "SessionStart", "session_id": "s", "context_tokens": 186_432},
        {"hook_event_name": "PreCompact", "session_id": "s", "token_count": 7},  # Kimi Code
        {"conversation_id": "c", "session_id": "s", "product": "antigravity"},
        {"conversation_id": "c", "context_tokens": 7},
        {**PRE_COMPACT, "hook_event_name": 7},
        {**PRE_COMPACT, "hook_event_name": ""},
    ],
)
def test_what_is_not_clearly_cursors_is_refused(foreign: dict[str, Any]) -> None:
    assert gap(foreign) is MissingReason.SOURCE_MALFORMED
    assert HOOK.recognise is not None
    assert not HOOK.recognise(foreign)


@pytest.mark.parametrize("event", WITHOUT_USAGE)
def test_every_event_is_recognised_by_its_version(event: str) -> None:
    payload = hook(event, **WITHOUT_USAGE[event])
    assert HOOK.recognise is not None
    assert HOOK.recognise(payload)
    assert not HOOK.recognise({**payload, "cursor_version": ""})


def test_a_hook_is_told_from_every_other_agents() -> None:
    assert identify(json.dumps(PRE_COMPACT).encode()) is HOOK
    assert identify(json.dumps(hook("stop")).encode()) is HOOK


# -- the cloud ----------------------------------------------------------------------------------

CLOUD: dict[str, dict[str, Any]] = {
    "a background agent": {"is_background_agent": True},
    "a cloud id": {"conversation_id": "bc-0b3a", "session_id": "bc-0b3a"},
}


@pytest.mark.parametrize("mark", CLOUD)
def test_a_cloud_session_has_no_other_source_here(mark: str) -> None:
    for event in WITHOUT_USAGE.keys() - {"workspaceOpen"}:
        assert gap(hook(event, **CLOUD[mark])) is MissingReason.REMOTE_SESSION
    assert gap(hook("stop", **CLOUD[mark], **SUMS)) is MissingReason.REMOTE_SESSION
    zeros = pre_compact(**CLOUD[mark], **PAIR, context_usage_percent=0)
    assert gap(zeros) is MissingReason.REMOTE_SESSION


@pytest.mark.parametrize("mark", CLOUD)
def test_what_a_cloud_session_hands_over_is_measured(mark: str) -> None:
    assert isinstance(read(pre_compact(**CLOUD[mark])), TokenPair)
    invalid = pre_compact(**CLOUD[mark], context_tokens=-1)
    assert gap(invalid) is MissingReason.USAGE_INVALID


@pytest.mark.parametrize("mark", CLOUD)
def test_no_store_is_asked_for_a_cloud_session(mark: str) -> None:
    assert query_from_hook(hook("sessionStart", **CLOUD[mark]), at=AT) is None


def test_a_session_on_this_machine_is_none_of_the_cloud() -> None:
    start = hook("sessionStart", is_background_agent=False)
    assert gap(start) is MissingReason.USAGE_NOT_REPORTED
    assert query_from_hook(start, at=AT) == Query(at=AT, session_id=SESSION)


# -- the question for a store -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "phase"),
    [
        ("preToolUse", Phase.ACTIVE),
        ("postToolUse", Phase.ACTIVE),
        ("afterAgentResponse", Phase.ACTIVE),
        ("subagentStop", Phase.ACTIVE),
        ("preCompact", Phase.ACTIVE),
        ("stop", Phase.TERMINAL),
        ("sessionEnd", Phase.TERMINAL),
        ("sessionStart", Phase.LATEST),
        ("beforeSubmitPrompt", Phase.LATEST),
        ("anEventOfTomorrow", Phase.LATEST),
    ],
)
def test_a_hook_asks_for_its_session_in_the_phase_of_its_event(event: str, phase: Phase) -> None:
    query = query_from_hook(hook(event), at=AT)
    assert query == Query(at=AT, session_id=SESSION, phase=phase)


@pytest.mark.parametrize("payload", [{}, {"conversation_id": "", "session_id": 7}])
def test_what_a_payload_does_not_say_is_not_asked_for(payload: dict[str, Any]) -> None:
    assert query_from_hook(payload, at=AT) == Query(at=AT)


def test_a_wrong_argument_raises_and_names_itself() -> None:
    with pytest.raises(TypeError, match=r"^payload:"):
        query_from_hook("{}", at=AT)  # type: ignore[arg-type]
    for payload in (hook("stop"), hook("stop", is_background_agent=True)):
        with pytest.raises(ValueError, match="at"):
            query_from_hook(payload, at=AT.replace(tzinfo=None))


# -- Windows ------------------------------------------------------------------------------------

ENCODINGS = {
    "a byte order mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "UTF-16 with a mark": lambda text: text.encode("utf-16"),
    "UTF-16 without one": lambda text: text.encode("utf-16-le"),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("path", ["C:\\p", "C:\\プロジェクト\\源"])
def test_standard_input_of_windows_is_read(encoding: str, path: str) -> None:
    text = json.dumps(pre_compact(workspace_roots=[path]), ensure_ascii=False)
    raw = ENCODINGS[encoding](text)
    for source in ("cursor.hook", HOOK):
        observation = cm.observe(source, raw, at=AT)
        assert isinstance(observation, cm.Observed)
        assert observation.value == observed(PRE_COMPACT)


# -- for all inputs -----------------------------------------------------------------------------

KEYS = [*PRE_COMPACT, *SUMS, "is_background_agent"]
events = st.sampled_from(["preCompact", "stop", "afterAgentResponse", "preToolUse"])
numbers = st.integers() | st.floats() | st.sampled_from([0, 1, 1.0, 50, 185_000, 200_000, 10**400])


@given(st.dictionaries(st.sampled_from(KEYS), any_json()), events | any_json())
def test_no_object_raises(payload: dict[str, Any], event: Any) -> None:
    payload = {**payload, "hook_event_name": event}
    cm.observe(HOOK, payload, at=AT)
    query_from_hook(payload, at=AT)
    assert HOOK.recognise is not None
    HOOK.recognise(payload)


@given(st.dictionaries(st.sampled_from(KEYS), numbers), events)
def test_no_number_is_made_up(fields: dict[str, Any], event: str) -> None:
    payload = hook(event, **{**fields, "session_id": SESSION, "cursor_version": "2.0.77"})
    match cm.observe(HOOK, {**payload, "hook_event_name": event}, at=AT):
        case cm.Observed(value=cm.TokenMeasurement() as value):
            assert event == "preCompact"
            assert value.used_tokens == fields["context_tokens"]
            assert value.limit_tokens == fields["context_window_size"]
        case cm.Observed(value=value):
            assert event == "preCompact"
            assert value.used_percent == fields["context_usage_percent"]
            assert not (fields.get("context_tokens") and fields.get("context_window_size"))
        case cm.Missing(partial=partial):
            if partial is not None:
                assert partial.used_tokens in {None, fields.get("context_tokens")}
                assert partial.limit_tokens in {None, fields.get("context_window_size")}


def test_a_wrong_type_anywhere_gives_the_true_numbers_or_none() -> None:
    for wrong in spoilt(PRE_COMPACT):
        if not isinstance(wrong, dict):
            continue
        match cm.observe(HOOK, wrong, at=AT):
            case cm.Observed(value=cm.TokenMeasurement() as value):
                assert (value.used_tokens, value.limit_tokens) == (185_000, 200_000)
            case cm.Observed(value=value):
                assert value.used_percent == 92.5
