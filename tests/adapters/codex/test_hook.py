from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxmeasure as cm
from ctxmeasure.adapters.codex.hook import HOOK, query_from_hook, transcript_path
from ctxmeasure.adapters.codex.rollout import ROLLOUT
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import Gap, Phase, Query
from ctxmeasure.observation import MissingReason
from ctxmeasure.testing.hostile import any_json, spoilt

AT = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)
ROOT = Path(__file__).parents[2] / "recordings"
HOOKS = sorted([*ROOT.glob("codex*/*/hooks.jsonl"), *ROOT.glob("codex*/hooks_*.jsonl")])
NOTIFIED = sorted([*ROOT.glob("codex*/*/notify.jsonl"), *ROOT.glob("codex*/notify_*.jsonl")])
WITH_ROLLOUT = sorted(path.parent for path in ROOT.glob("codex/*/hooks.jsonl"))

SESSION = "01a22895-a0b6-75c3-8041-8e922e1c7c1e"
STOP = {
    "session_id": SESSION,
    "turn_id": "01a22895-a0d6-7fe1-891b-b222f489ea25",
    "transcript_path": f"/home/dev/.codex/sessions/2026/11/29/rollout-2026-{SESSION}.jsonl",
    "cwd": "/home/dev/project",
    "hook_event_name": "Stop",
    "model": "gpt-5.5",
    "permission_mode": "default",
}
NOTIFY = {
    "type": "agent-turn-complete",
    "thread-id": SESSION,
    "turn-id": "01a22895-a0d6-7fe1-891b-b222f489ea25",
    "input-messages": ["Say hello"],
}


def payloads(path: Path) -> list[dict[str, Any]]:
    return list(map(json.loads, path.read_bytes().splitlines()))


def gap(payload: dict[str, Any], **asked: Any) -> Gap:
    seen = HOOK.extract(payload, Query(**{"at": AT, **asked}))
    assert isinstance(seen, Gap)
    return seen


def short(path: Path) -> str:
    return "/".join(path.relative_to(ROOT).parts[:2])


# -- recordings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*HOOKS, *NOTIFIED], ids=short)
def test_no_recorded_payload_reports_usage(path: Path) -> None:
    assert HOOK.recognise is not None
    for payload in payloads(path):
        seen = gap(payload)
        assert seen.reason is MissingReason.USAGE_NOT_REPORTED
        named = payload.get("model")
        assert seen.model == (named and ModelRef(id=named, provider="openai"))
        assert HOOK.recognise(payload)


@pytest.mark.parametrize("path", HOOKS, ids=short)
def test_a_recorded_hook_asks_for_its_session_turn_and_agent(path: Path) -> None:
    for payload in payloads(path):
        query = query_from_hook(payload, at=AT)
        assert query.at == AT
        assert query.session_id == payload["session_id"]
        assert query.agent_id == payload.get("agent_id")
        if payload["hook_event_name"] == "UserPromptSubmit":
            assert query.turn_id is None
        else:
            assert query.turn_id == payload.get("turn_id")


@pytest.mark.parametrize("path", NOTIFIED, ids=short)
def test_a_recorded_notification_asks_for_its_thread_and_turn(path: Path) -> None:
    for payload in payloads(path):
        assert query_from_hook(payload, at=AT) == Query(
            at=AT, session_id=payload["thread-id"], turn_id=payload["turn-id"]
        )
        assert transcript_path(payload) is None


def rows_at(folder: Path, path: str, rows: int) -> bytes:
    """Return what a rollout held when it had so many rows."""
    (rollout,) = folder.glob(f"session/**/{Path(path).name}")
    return b"".join(rollout.read_bytes().splitlines(keepends=True)[:rows])


def moments(folder: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any], datetime]]:
    """Yield each hook's payload, what it found on disk, and when it ran."""
    timings = payloads(folder / "hooks-timing.jsonl")
    for payload, timing in zip(payloads(folder / "hooks.jsonl"), timings, strict=True):
        yield payload, timing, datetime.fromtimestamp(timing["t"], UTC)


def outcome(observation: cm.Observation) -> int | MissingReason:
    if isinstance(observation, cm.Missing):
        return observation.reason
    assert isinstance(observation.value, cm.TokenMeasurement)
    return observation.value.used_tokens


@pytest.mark.parametrize("folder", WITH_ROLLOUT, ids=short)
def test_what_a_hook_asks_is_answered_from_what_was_on_disk_just_then(folder: Path) -> None:
    calls = json.loads((folder / "truth.json").read_bytes())["calls"]
    counts = {call["total_tokens"] for call in calls if call["role"] != "compaction"}
    for payload, timing, at in moments(folder):
        path = transcript_path(payload)
        assert path is not None
        content = rows_at(folder, path, timing["rows"])
        said = outcome(cm.observe(ROLLOUT, content, query=query_from_hook(payload, at=at)))
        event = payload["hook_event_name"]
        if event in {"Stop", "SubagentStop", "PreToolUse", "PostToolUse"}:
            assert said in counts, event
        elif event == "PostCompact" or payload.get("source") == "compact":
            assert said is MissingReason.COMPACTED
        elif payload.get("source") == "startup":
            assert said is MissingReason.NOT_MEASURED_YET


def test_at_a_stop_hook_the_answer_is_the_turns_last_response() -> None:
    said = [
        outcome(
            cm.observe(
                ROLLOUT,
                rows_at(folder, str(transcript_path(payload)), timing["rows"]),
                query=query_from_hook(payload, at=at),
            )
        )
        for folder in WITH_ROLLOUT
        for payload, timing, at in moments(folder)
        if payload["hook_event_name"] in {"Stop", "SubagentStop"}
    ]
    assert said == [12_025, 13_040, 12_025, 12_621, 9_133, 2_121, 15_731, 15_025, 103_006, 21_033]


@pytest.mark.parametrize("path", sorted(ROOT.glob("codex/*/notify.jsonl")), ids=short)
def test_a_notification_finds_its_turn_in_the_rollout_that_its_thread_names(path: Path) -> None:
    for payload in payloads(path):
        found = [*path.parent.glob(f"session/**/rollout-*{payload['thread-id']}.jsonl")]
        for rollout in found:
            query = query_from_hook(payload, at=AT)
            assert isinstance(cm.observe(ROLLOUT, rollout, query=query), cm.Observed)
        assert found or "h-tui" in path.parts  # the thread of a title has no rollout


def test_a_sub_agents_hooks_name_its_file_under_two_keys() -> None:
    by_event = {
        payload["hook_event_name"]: payload
        for payload in payloads(ROOT / "codex/f-subagent/hooks.jsonl")
    }
    begun, ended = by_event["SubagentStart"], by_event["SubagentStop"]
    assert transcript_path(begun) == transcript_path(ended)
    assert transcript_path(begun) != transcript_path(by_event["Stop"])
    assert begun["agent_id"] in str(transcript_path(begun))
    assert query_from_hook(ended, at=AT).session_id == by_event["Stop"]["session_id"]


# -- events -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "phase"),
    [
        ("PreToolUse", Phase.ACTIVE),
        ("PostToolUse", Phase.ACTIVE),
        ("PreCompact", Phase.ACTIVE),
        ("PostCompact", Phase.ACTIVE),
        ("SubagentStart", Phase.ACTIVE),
        ("SubagentStop", Phase.ACTIVE),
        ("Stop", Phase.ACTIVE),
        ("SessionEnd", Phase.TERMINAL),
        ("SessionStart", Phase.LATEST),
        ("UserPromptSubmit", Phase.LATEST),
        ("AnEventOfTomorrow", Phase.LATEST),
    ],
)
def test_an_event_tells_the_phase(event: str, phase: Phase) -> None:
    assert query_from_hook({"hook_event_name": event}, at=AT).phase is phase


@pytest.mark.parametrize("payload", [{}, {"session_id": 7, "turn_id": "", "agent_id": None}])
def test_what_a_payload_does_not_say_is_not_asked_for(payload: dict[str, Any]) -> None:
    assert query_from_hook(payload, at=AT) == Query(at=AT)


def test_an_older_notification_names_no_thread() -> None:
    older = {key: value for key, value in NOTIFY.items() if key != "thread-id"}
    assert query_from_hook(older, at=AT) == Query(at=AT, turn_id=NOTIFY["turn-id"])  # type: ignore[arg-type]
    assert gap(older, session_id="any").reason is MissingReason.USAGE_NOT_REPORTED


def test_a_path_that_is_none_is_none() -> None:
    assert transcript_path({}) is None
    assert transcript_path({"transcript_path": None}) is None
    assert transcript_path({**STOP, "hook_event_name": "SubagentStop"}) is None
    assert gap({**STOP, "transcript_path": None}).reason is MissingReason.USAGE_NOT_REPORTED


def test_a_wrong_argument_raises_and_names_itself() -> None:
    with pytest.raises(TypeError, match=r"^payload:"):
        query_from_hook("{}", at=AT)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at"):
        query_from_hook({}, at=AT.replace(tzinfo=None))
    with pytest.raises(TypeError, match=r"^payload:"):
        transcript_path("{}")  # type: ignore[arg-type]


# -- identity -----------------------------------------------------------------------------------


@pytest.mark.parametrize("payload", [STOP, NOTIFY], ids=["hook", "notify"])
def test_the_session_asked_for_must_be_the_payloads(payload: dict[str, Any]) -> None:
    assert gap(payload, session_id=SESSION).reason is MissingReason.USAGE_NOT_REPORTED
    assert gap(payload, session_id="another").reason is MissingReason.SESSION_MISMATCH


FOREIGN: dict[str, dict[str, Any]] = {
    "claude": {**STOP, "transcript_path": f"/home/dev/.claude/projects/-p/{SESSION}.jsonl"},
    "claude without a transcript": {
        "session_id": SESSION,
        "hook_event_name": "Stop",
        "prompt_id": "9b50f700",
    },
    "cursor": {**STOP, "cursor_version": "3.13.25", "hook_event_name": "stop"},
    "cursor before compaction": {"conversation_id": "c1", "hook_event_name": "preCompact"},
    "an app-server's line": {"method": "turn/completed", "params": {}},
    "another notification": {**NOTIFY, "type": "approval-requested"},
    "a notification without a turn": {"type": "agent-turn-complete", "turn-id": 7},
    "nothing": {},
}


@pytest.mark.parametrize("agent", FOREIGN)
def test_another_agents_payload_is_refused(agent: str) -> None:
    assert gap(FOREIGN[agent]).reason is MissingReason.SOURCE_MALFORMED
    assert HOOK.recognise is not None
    assert not HOOK.recognise(FOREIGN[agent])


@pytest.mark.parametrize("path", sorted(ROOT.glob("claude*/*/hooks.jsonl")), ids=short)
def test_every_recorded_hook_of_claude_is_refused(path: Path) -> None:
    assert {gap(payload).reason for payload in payloads(path)} == {MissingReason.SOURCE_MALFORMED}


def test_a_hook_from_elsewhere_is_not_recognised_but_read() -> None:
    assert HOOK.recognise is not None
    moved = {**STOP, "transcript_path": "/srv/codex/sessions/2026/11/29/rollout-2026-x.jsonl"}
    assert not HOOK.recognise(moved)
    assert gap(moved).reason is MissingReason.USAGE_NOT_REPORTED
    windows = r"C:\Users\dev\.codex\sessions\2026\11\29\rollout-2026-x.jsonl"
    assert HOOK.recognise({**STOP, "transcript_path": windows})


# -- for all inputs -----------------------------------------------------------------------------


@given(
    st.dictionaries(
        st.sampled_from([*STOP, *NOTIFY, "agent_id", "agent_transcript_path"]), any_json()
    )
)
def test_no_object_raises(payload: dict[str, Any]) -> None:
    assert isinstance(gap(payload), Gap)
    assert query_from_hook(payload, at=AT).at == AT
    transcript_path(payload)
    assert HOOK.recognise is not None
    assert HOOK.recognise(payload) in {True, False}


@pytest.mark.parametrize("payload", [STOP, NOTIFY], ids=["hook", "notify"])
def test_a_wrong_type_anywhere_asks_for_less_and_for_nothing_else(payload: dict[str, Any]) -> None:
    asked = query_from_hook(payload, at=AT)
    for wrong in spoilt(payload):
        if isinstance(wrong, dict):
            query = query_from_hook(wrong, at=AT)
            assert query.session_id in {None, asked.session_id, "7"}
            assert query.turn_id in {None, asked.turn_id, "7"}


def test_a_sample_that_a_hook_asks_for_is_fresh() -> None:
    folder = ROOT / "codex/a-simple"
    *_, (payload, timing, at) = moments(folder)
    content = rows_at(folder, str(transcript_path(payload)), timing["rows"])
    late = query_from_hook(payload, at=at + timedelta(seconds=31))
    assert outcome(cm.observe(ROLLOUT, content, query=late)) is MissingReason.SAMPLE_STALE


def test_the_source_is_what_the_registry_says() -> None:
    assert HOOK.id == "codex.hook"
    assert HOOK.origin.method == "codex_hook"
    assert HOOK.origin.client == "codex"
