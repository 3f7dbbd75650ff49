from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.adapters.claude.hook import HOOK, HOOKS, query_from_hook, transcript_path
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import Evidence, Gap, Phase, Query, UsedTokens
from ctxmeasure.observation import MissingReason, UsedBasis
from ctxmeasure.testing.hostile import any_json, spoilt

AT = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)
ROOT = Path(__file__).parents[2] / "recordings"
RECORDED = sorted(
    path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("claude*/*/hooks.jsonl")
)
RESUMED = {
    "session_id": "d4385bb6",
    "transcript_path": "/home/dev/.claude/projects/-home-dev-project/d4385bb6.jsonl",
    "hook_event_name": "SessionStart",
    "source": "resume",
    "model": "claude-opus-5",
    "seconds_since_last_response": 5_400,
    "context_tokens": 186_432,
}
SWITCH = {
    **RESUMED,
    "hook_event_name": "PreModelSwitch",
    "from_model": "claude-opus-5",
    "to_model": "claude-haiku-4-5-20251001[1m]",
    "prompt_id": "9b50f700",
}


def payloads(recording: str) -> list[dict[str, Any]]:
    return list(map(json.loads, (ROOT / recording / "hooks.jsonl").read_bytes().splitlines()))


def read(payload: dict[str, Any], **asked: Any) -> Evidence:
    return HOOK.extract(payload, Query(**{"at": AT, **asked}))


def gap(payload: dict[str, Any], **asked: Any) -> MissingReason:
    seen = read(payload, **asked)
    assert isinstance(seen, Gap)
    return seen.reason


# -- recordings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("recording", RECORDED)
def test_only_a_resumed_session_states_its_last_prompt_and_output(recording: str) -> None:
    calls = json.loads((ROOT / recording / "truth.json").read_bytes())["calls"]
    totals = {call["total_tokens"] for call in calls if call["role"] == "main"}
    for payload in payloads(recording):
        seen = read(payload)
        if "context_tokens" not in payload:
            assert isinstance(seen, Gap)
            assert seen.reason is MissingReason.USAGE_NOT_REPORTED
            continue
        assert payload["hook_event_name"] == "SessionStart"
        assert isinstance(seen, UsedTokens)
        assert seen.used_tokens in totals
        assert seen.used_basis is UsedBasis.PROMPT_AND_OUTPUT
        assert seen.model is None  # print mode names none


def test_the_recordings_hold_stated_counts() -> None:
    stated = [
        payload["context_tokens"]
        for recording in RECORDED
        for payload in payloads(recording)
        if "context_tokens" in payload
    ]
    assert 15_035 in stated


@pytest.mark.parametrize("recording", RECORDED)
def test_a_recorded_hook_is_recognised(recording: str) -> None:
    assert HOOK.recognise is not None
    assert all(map(HOOK.recognise, payloads(recording)))


# -- counts -------------------------------------------------------------------------------------


def test_a_stated_count_has_its_model_and_no_limit() -> None:
    assert read(RESUMED) == UsedTokens(
        measured_at=AT,
        identity=("d4385bb6", "", "SessionStart"),
        model=ModelRef(id="claude-opus-5", long_context_marker=False),
        used_tokens=186_432,
        used_basis=UsedBasis.PROMPT_AND_OUTPUT,
    )


def test_a_session_that_was_started_with_the_marker_keeps_it() -> None:
    model = read({**RESUMED, "model": "claude-opus-4-6[1m]"}).model
    assert model == ModelRef(id="claude-opus-4-6", long_context_marker=True)


def test_before_a_switch_the_old_model_is_in_force_and_after_it_the_new_one() -> None:
    before = read(SWITCH).model
    assert before == ModelRef(id="claude-opus-5", long_context_marker=None)
    after = read({**SWITCH, "hook_event_name": "PostModelSwitch"}).model
    assert after == ModelRef(id="claude-haiku-4-5-20251001", long_context_marker=True)


def test_before_the_first_response_nothing_is_measured() -> None:
    seen = read({**SWITCH, "context_tokens": 0})
    assert isinstance(seen, Gap)
    assert seen.reason is MissingReason.NOT_MEASURED_YET
    assert seen.model == ModelRef(id="claude-opus-5")


@pytest.mark.parametrize("count", [-1, True, "186432", 186_432.0, [186_432]])
def test_a_count_that_is_none_is_refused(count: object) -> None:
    seen = read({**RESUMED, "context_tokens": count})
    assert isinstance(seen, Gap)
    assert seen.reason is MissingReason.USAGE_INVALID
    assert seen.model is not None


def test_a_hook_without_a_count_reports_no_usage() -> None:
    assert gap({**RESUMED, "context_tokens": None}) is MissingReason.USAGE_NOT_REPORTED
    assert gap({**RESUMED, "hook_event_name": "Stop"}) is MissingReason.USAGE_NOT_REPORTED


# -- identity -----------------------------------------------------------------------------------


def test_the_session_asked_for_must_be_the_hooks() -> None:
    assert isinstance(read(RESUMED, session_id="d4385bb6"), UsedTokens)
    assert gap(RESUMED, session_id="another") is MissingReason.SESSION_MISMATCH


def test_the_turn_asked_for_must_be_the_hooks() -> None:
    assert isinstance(read(SWITCH, turn_id="9b50f700"), UsedTokens)
    assert gap(SWITCH, turn_id="another") is MissingReason.TURN_NOT_FOUND
    assert gap(RESUMED, turn_id="9b50f700") is MissingReason.TURN_IDS_NOT_RECORDED


def test_a_subagents_count_is_not_the_main_context() -> None:
    inside = {**SWITCH, "agent_id": "a54e51b23b1dadccb"}
    assert gap(inside) is MissingReason.SESSION_MISMATCH
    assert isinstance(read(inside, agent_id="a54e51b23b1dadccb"), UsedTokens)
    assert gap(SWITCH, agent_id="a54e51b23b1dadccb") is MissingReason.SESSION_MISMATCH


# -- other agents -------------------------------------------------------------------------------

FOREIGN: dict[str, dict[str, Any]] = {
    "cursor": {**RESUMED, "cursor_version": "3.13.25", "hook_event_name": "sessionStart"},
    "cursor before compaction": {
        "conversation_id": "c1",
        "hook_event_name": "preCompact",
        "context_tokens": 185_000,
        "context_window_size": 200_000,
    },
    "codex": {**RESUMED, "turn_id": "01998"},
    "codex without a turn": {
        **RESUMED,
        "transcript_path": r"C:\Users\dev\.codex\sessions\2026\11\29\rollout-2026-01a2.jsonl",
    },
    "a status line": {"session_id": "d4385bb6", "context_window": {}},
    "nothing": {},
}


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("codex*/*/hooks.jsonl")), ids=lambda p: p.parent.name
)
def test_a_recorded_hook_of_codex_is_refused(path: Path) -> None:
    for line in path.read_bytes().splitlines():
        payload = json.loads(line)
        assert gap(payload) is MissingReason.SOURCE_MALFORMED


@pytest.mark.parametrize("agent", FOREIGN)
def test_another_agents_payload_is_refused(agent: str) -> None:
    assert gap(FOREIGN[agent]) is MissingReason.SOURCE_MALFORMED
    assert HOOK.recognise is not None
    assert not HOOK.recognise(FOREIGN[agent])


def test_a_hook_from_elsewhere_is_not_recognised_but_read() -> None:
    moved = {**RESUMED, "transcript_path": "/srv/claude/d4385bb6.jsonl"}
    assert HOOK.recognise is not None
    assert not HOOK.recognise(moved)
    assert HOOK.recognise(
        {**RESUMED, "transcript_path": r"C:\Users\dev\.claude\projects\C--p\d4385bb6.jsonl"}
    )
    assert isinstance(read(moved), UsedTokens)


# -- the question for the transcript ------------------------------------------------------------


@pytest.mark.parametrize("recording", RECORDED)
def test_a_recorded_hook_asks_for_its_session_turn_and_agent(recording: str) -> None:
    for payload in payloads(recording):
        query = query_from_hook(payload, at=AT)
        assert query.at == AT
        assert query.session_id == payload["session_id"]
        assert query.agent_id == payload.get("agent_id")
        if payload["hook_event_name"] not in {"UserPromptSubmit", "SessionEnd"}:
            assert query.turn_id == payload.get("prompt_id")


@pytest.mark.parametrize(
    ("event", "phase"),
    [
        ("PreToolUse", Phase.ACTIVE),
        ("PostToolUse", Phase.ACTIVE),
        ("PostToolBatch", Phase.ACTIVE),
        ("PreCompact", Phase.ACTIVE),
        ("SubagentStart", Phase.ACTIVE),
        ("Stop", Phase.TERMINAL),
        ("StopFailure", Phase.TERMINAL),
        ("SubagentStop", Phase.TERMINAL),
        ("SessionEnd", Phase.TERMINAL),
        ("SessionStart", Phase.LATEST),
        ("PreModelSwitch", Phase.LATEST),
        ("UserPromptSubmit", Phase.LATEST),
        ("AnEventOfTomorrow", Phase.LATEST),
    ],
)
def test_an_event_tells_the_phase(event: str, phase: Phase) -> None:
    assert query_from_hook({"hook_event_name": event}, at=AT).phase is phase


@pytest.mark.parametrize("event", ["UserPromptSubmit", "SessionEnd"])
def test_a_prompt_id_that_names_no_turn_on_disk_is_not_asked_for(event: str) -> None:
    query = query_from_hook({**SWITCH, "hook_event_name": event}, at=AT)
    assert query.turn_id is None


@pytest.mark.parametrize(
    ("event", "fields", "started_at"),
    [
        ("PostCompact", {}, AT),
        ("SessionStart", {"source": "compact"}, AT),
        ("SessionStart", {"source": "resume"}, None),
        ("SessionStart", {}, None),
        ("PreCompact", {"source": "compact"}, None),
    ],
)
def test_after_a_compaction_only_a_newer_response_is_asked_for(
    event: str, fields: dict[str, Any], started_at: datetime | None
) -> None:
    query = query_from_hook({"hook_event_name": event, **fields}, at=AT)
    assert query.turn_started_at == started_at


def test_the_session_end_of_a_recording_names_the_command_that_ended_it() -> None:
    by_event = {
        payload["hook_event_name"]: payload.get("prompt_id")
        for payload in payloads("claude/h-tui-1m")
    }
    assert by_event["SessionEnd"] != by_event["Stop"]


@pytest.mark.parametrize("payload", [{}, {"session_id": 7, "prompt_id": "", "agent_id": None}])
def test_what_a_payload_does_not_say_is_not_asked_for(payload: dict[str, Any]) -> None:
    assert query_from_hook(payload, at=AT) == Query(at=AT)


def test_a_wrong_argument_raises_and_names_itself() -> None:
    with pytest.raises(TypeError, match=r"^payload:"):
        query_from_hook("{}", at=AT)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at"):
        query_from_hook({}, at=AT.replace(tzinfo=None))
    with pytest.raises(TypeError, match=r"^payload:"):
        transcript_path("{}")  # type: ignore[arg-type]


@pytest.mark.parametrize(("summary", "is_compacted"), [("words", True), ("", False), (None, False)])
def test_a_compaction_is_done_where_there_is_a_summary(summary: Any, *, is_compacted: bool) -> None:
    assert HOOKS.is_compacted is not None
    assert HOOKS.is_compacted({"compact_summary": summary}) is is_compacted
    assert not HOOKS.is_compacted({"summary": "words"})


def test_the_status_line_of_1_0_is_no_hook() -> None:
    assert HOOK.recognise is not None
    named = {"transcript_path": "/home/dev/.claude/projects/p/s.jsonl", "session_id": "s"}
    assert HOOK.recognise({**named, "hook_event_name": "Stop"})
    assert not HOOK.recognise({**named, "hook_event_name": "Status"})


def test_the_transcript_is_the_sessions_and_at_a_subagents_end_the_subagents() -> None:
    for payload in payloads("claude/f-subagent"):
        ended = payload["hook_event_name"] == "SubagentStop"
        expected = payload["agent_transcript_path" if ended else "transcript_path"]
        assert transcript_path(payload) == expected


def test_a_path_that_is_none_is_none() -> None:
    assert transcript_path({}) is None
    assert transcript_path({"transcript_path": 7}) is None
    stopped = {"hook_event_name": "SubagentStop", "transcript_path": "/p/s.jsonl"}
    assert transcript_path(stopped) is None


# -- for all inputs -----------------------------------------------------------------------------

json_values = any_json()
events = st.sampled_from(["SessionStart", "PreModelSwitch", "PostModelSwitch", "Stop"])


@given(
    st.dictionaries(st.sampled_from([*SWITCH, "agent_id", "cursor_version"]), json_values),
    events | json_values,
)
def test_no_object_raises(payload: dict[str, Any], event: Any) -> None:
    payload = {**payload, "hook_event_name": event}
    assert isinstance(read(payload), UsedTokens | Gap)
    assert query_from_hook(payload, at=AT).at == AT
    transcript_path(payload)


def test_a_wrong_type_anywhere_gives_the_true_count_or_none() -> None:
    for wrong in spoilt(RESUMED):
        if isinstance(wrong, dict):
            seen = read(wrong)
            assert isinstance(seen, UsedTokens | Gap)
            if isinstance(seen, UsedTokens):
                assert seen.used_tokens == 186_432
