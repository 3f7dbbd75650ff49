"""What a sampler does at which boundary; see also ``test_harnery_behaviours``."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hooked import KEY, ClaudeSession, CodexSession, Session, measured, seen
from hypothesis import given
from hypothesis import strategies as st
from test_harnery_behaviours import composer

import ctxmeasure as cm
from ctxmeasure import testing
from ctxmeasure.registry import HOOKED_AGENTS, find, hooks
from ctxmeasure.sampler import Boundary, Sampler, SamplerState
from ctxmeasure.testing.claude import rows as claude_rows
from ctxmeasure.testing.cursor import payloads as cursor_payloads
from ctxmeasure.testing.hostile import any_json
from ctxmeasure.track import End

AT = testing.START
SECOND = timedelta(seconds=1)
ROOT = Path(__file__).parents[1] / "recordings"


def claude(folder: Path, **changes: Any) -> ClaudeSession:
    return ClaudeSession(
        folder=folder, session=Session(Sampler(agent="claude", key=KEY, **changes))
    )


def codex(folder: Path, **changes: Any) -> CodexSession:
    return CodexSession(folder=folder, session=Session(Sampler(agent="codex", key=KEY, **changes)))


def bodies(session: Session) -> list[dict[str, Any]]:
    return [event.body for event in session.events]


# -- recordings: what the agents left at each of their hooks --------------------------------------


def replayed(agent: str, recording: Path, folder: Path) -> dict[str, Session]:
    """Sample at every hook of *recording*, with the rows that were on disk when it ran."""
    files = {path.name: path for path in recording.glob("session/**/*.jsonl")}
    sessions: dict[str, Session] = {}
    hooked = zip(
        (recording / "hooks.jsonl").read_bytes().splitlines(),
        (recording / "hooks-timing.jsonl").read_bytes().splitlines(),
        strict=True,
    )
    for payload, timing in ((json.loads(each), json.loads(at)) for each, at in hooked):
        for key in ("transcript_path", "agent_transcript_path"):
            name = Path(payload.get(key) or "").name
            if name in files and (key != "transcript_path" or "rows" in timing):
                rows = files[name].read_bytes().splitlines(keepends=True)
                shown = timing["rows"] if key == "transcript_path" else len(rows)
                (folder / name).write_bytes(b"".join(rows[:shown]))
            if name:
                payload[key] = str(folder / name)
        session = sessions.setdefault(payload["session_id"], Session(Sampler(agent=agent, key=KEY)))
        session.take(payload, now=datetime.fromtimestamp(timing["t"], UTC))
    return sessions


RECORDED = [
    (path.parent.parent.name.partition("-")[0], path.parent)
    for path in sorted(ROOT.glob("*/*/hooks-timing.jsonl"))
]


@pytest.mark.parametrize(
    ("agent", "recording"), RECORDED, ids=[f"{agent}-{path.name}" for agent, path in RECORDED]
)
def test_every_count_at_a_hook_is_one_that_the_model_server_reported_and_comes_once(
    agent: str, recording: Path, tmp_path: Path
) -> None:
    calls = json.loads((recording / "truth.json").read_bytes())["calls"]
    key = "prompt_tokens" if agent == "claude" else "total_tokens"
    reported = {call[key] for call in calls}
    for session in replayed(agent, recording, tmp_path).values():
        counts = [amount for amount in session.said if not isinstance(amount, str)]
        assert {*counts} <= reported
        samples = [event.source_record_id for event in session.events if event.source_record_id]
        observed = [
            event.source_record_id
            for event in session.events
            if event.body["event_type"] == "context.observed" and event.source_record_id
        ]
        assert len(observed) == len({*observed})
        assert {*samples} == {*observed}  # also a compaction's were published on their own
        ids = [event.record_id for event in session.events]
        assert len(ids) == len({*ids})


def test_a_recorded_turn_is_sampled_at_its_first_tool_and_at_its_stop(tmp_path: Path) -> None:
    (session,) = replayed("claude", ROOT / "claude" / "b-tools", tmp_path).values()
    assert session.said == [15_004, 16_108]


def test_a_recorded_compaction_is_told_with_both_of_its_sides(tmp_path: Path) -> None:
    (session,) = replayed("codex", ROOT / "codex" / "d-compact-auto", tmp_path).values()
    kinds = [body["event_type"].partition(".")[2] for body in bodies(session)]
    assert kinds == ["observed", "compaction_started", "compaction_completed", "observed"]
    completed = bodies(session)[2]["payload"]
    assert (seen(completed["before"]), seen(completed["after"])) == (150_500, "compacted")
    assert completed["outcome"] == "succeeded"


def test_a_recorded_manual_compaction_replaces_what_an_earlier_turn_left(tmp_path: Path) -> None:
    (session,) = replayed("claude", ROOT / "claude" / "d-compact-manual", tmp_path).values()
    started, completed = (
        body for body in bodies(session) if body["event_type"].startswith("context.compaction")
    )
    assert started["payload"]["before"] == completed["payload"]["before"]
    assert seen(started["payload"]["before"]) == 80_010
    assert completed["payload"]["outcome"] == "succeeded"
    assert session.said == [80_010, 9_005]


def test_a_version_without_prompt_ids_is_told_by_when_the_prompt_came(tmp_path: Path) -> None:
    (session,) = replayed("claude", ROOT / "claude-2.0.76" / "b-tools", tmp_path).values()
    main = [body for body in bodies(session) if "agent_id" not in body["scope"]]
    assert [seen(body["payload"]["measurement"]) for body in main] == [15_004, 16_108]
    assert not any("turn_id" in body["scope"] for body in main)


# -- sub-agents -----------------------------------------------------------------------------------


def test_a_sub_agents_context_is_never_the_sessions(tmp_path: Path) -> None:
    (session,) = replayed("codex", ROOT / "codex" / "f-subagent", tmp_path).values()
    by_agent = {body["scope"].get("agent_id", "")[:4]: body for body in bodies(session)}
    assert by_agent.keys() == {"", "hid_"}
    assert seen(by_agent["hid_"]["payload"]["measurement"]) == 2_121
    main, sub = by_agent[""]["scope"], by_agent["hid_"]["scope"]
    assert main["session_id"] == sub["session_id"]
    assert main["turn_id"] != sub["turn_id"]


def test_a_sub_agent_that_leaves_no_file_is_no_missing_turn(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.turn("prompt-1")
    for path in (..., str(tmp_path / "agent-a.jsonl")):
        assert session.hook("SubagentStop", agent_id="a", agent_transcript_path=path) == []
    assert session.session.state.pending.targets == ()


def test_a_sub_agents_late_row_is_waited_for_like_any_other(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.turn("prompt-1")
    path = tmp_path / "agent-a.jsonl"
    rows = claude_rows.TranscriptRows(prompt_id="prompt-1", agent_id="a")
    rows.prompt()
    path.write_bytes(rows.content)
    assert session.hook("SubagentStop", agent_id="a", agent_transcript_path=str(path)) == []
    rows.response(500)
    path.write_bytes(rows.content)
    assert session.hook("PreToolUse", later=1) == [500]
    (body,) = bodies(session.session)
    assert "agent_id" in body["scope"]


def test_a_sub_agents_hooks_do_not_change_the_sessions_turn(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.turn("prompt-1")
    before = session.session.state.turn
    session.hook("PostToolUse", agent_id="a", prompt_id="prompt-of-a", transcript_path="/other")
    assert session.session.state.turn == before


def test_a_sub_agents_tools_have_a_cadence_of_their_own(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.turn("prompt-1")
    session.respond(10_000)
    for agent_id, expected in (("a", []), (..., [10_000])):
        assert session.hook("PostToolUse", agent_id=agent_id) == expected


# -- the turn -------------------------------------------------------------------------------------


def test_a_hook_of_another_session_knows_nothing_of_this_ones_turn(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.turn("prompt-1")
    session.hook("Stop", session_id="another", transcript_path=..., prompt_id=...)
    assert session.session.said == ["usage_not_reported"]
    turn = session.session.state.turn
    assert turn is not None
    assert (turn.session_id, turn.turn_id, turn.path) == ("another", None, None)


def test_the_end_of_a_session_is_of_no_turn_but_an_unfinished_one_is_its_last(
    tmp_path: Path,
) -> None:
    session = claude(tmp_path)
    session.turn("prompt-1")
    session.respond(10_000)
    session.hook("PreCompact")
    session.respond(20_000)
    assert session.hook("SessionEnd", prompt_id="of the exit command") == [20_000]
    before, _, at_end = bodies(session.session)
    assert at_end["scope"] == before["scope"]
    turn = session.session.state.turn
    assert turn is not None
    assert turn.turn_id == "prompt-1"
    # The first hook that is seen of a session can be its last.
    first = claude(tmp_path)
    assert first.hook("SessionEnd") == [20_000]
    assert "turn_id" not in bodies(first.session)[0]["scope"]


def test_a_turn_that_is_first_heard_of_in_its_middle_began_nobody_knows_when(
    tmp_path: Path,
) -> None:
    session = claude(tmp_path)
    session.turn("prompt-1")
    session.hook("PreToolUse", prompt_id="prompt-2")
    turn = session.session.state.turn
    assert turn is not None
    assert (turn.turn_id, turn.started_at) == ("prompt-2", None)


# -- native payloads ------------------------------------------------------------------------------


def test_what_a_hook_itself_states_is_published_at_once_and_once(tmp_path: Path) -> None:
    session = claude(tmp_path)
    resumed: dict[str, Any] = {
        "source": "resume",
        "model": "claude-opus-5",
        "context_tokens": 186_432,
        "prompt_id": ...,
    }
    for _ in range(2):
        session.hook("SessionStart", **resumed)
    assert session.session.said == [186_432]
    (body,) = bodies(session.session)
    assert body["payload"]["measurement"]["value"]["method"] == "claude_hook"
    assert body["payload"]["measurement"]["attestation"] == "inferred"


def test_a_pre_compaction_payload_is_published_and_starts_the_compaction() -> None:
    session = Session(Sampler(agent="cursor", key=KEY))
    session.take(cursor_payloads.PRE_COMPACT, now=AT)
    observed, started = bodies(session)
    assert seen(observed["payload"]["measurement"]) == seen(started["payload"]["before"]) == 185_000
    assert observed["provenance"]["source_event"] == "cursor.native_context.3.13.25"
    assert observed["scope"] == started["scope"]
    assert started["payload"]["method"] == "cursor_hook"


def test_a_compaction_of_an_unmeasured_context_says_why() -> None:
    session = Session(Sampler(agent="cursor", key=KEY))
    session.take(cursor_payloads.hook("preCompact"), now=AT)
    (started,) = bodies(session)
    assert seen(started["payload"]["before"]) == "source_absent"
    session.take(cursor_payloads.hook("preCompact", is_background_agent=True), now=AT)
    assert seen(bodies(session)[-1]["payload"]["before"]) == "unsupported"


def test_a_compaction_whose_start_nobody_saw_is_completed_all_the_same(tmp_path: Path) -> None:
    session = codex(tmp_path)
    session.turn()
    session.respond(10_000)
    session.hook("PostCompact")
    session.rows.compact(9_000, 900)
    session.flush()
    session.hook("PostCompact")
    early, late = (
        body for body in bodies(session.session) if body["event_type"].endswith("completed")
    )
    assert seen(early["payload"]["before"]) == "context_measurement_incomplete"
    assert early["payload"]["outcome"] == "unknown"
    assert seen(early["payload"]["after"]) == 10_000
    assert seen(late["payload"]["after"]) == "compacted"
    assert late["payload"]["outcome"] == "succeeded"


def test_an_estimate_that_is_accepted_is_what_a_compaction_left(tmp_path: Path) -> None:
    session = codex(tmp_path, policy=cm.Policy(accept_estimates=True))
    session.turn()
    session.rows.compact(9_000, 900)
    session.flush()
    assert session.hook("PostCompact") == [900]


def test_a_stop_ends_a_compaction_that_never_completed(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.turn("prompt-1")
    session.respond(10_000)
    session.hook("PreCompact")
    assert session.session.state.before is not None
    session.hook("SubagentStop", agent_id="a")
    assert session.session.state.before is not None
    session.hook("Stop")
    assert session.session.state.before is None


# -- stores ---------------------------------------------------------------------------------------


def stop(session: Session, seconds: float) -> None:
    session.take(cursor_payloads.hook("stop"), now=AT + seconds * SECOND)


def test_a_stores_sample_is_of_the_turn_only_if_it_was_taken_since_that_began(
    tmp_path: Path,
) -> None:
    path = composer(tmp_path / "state.vscdb", 41.25)
    session = Session(
        Sampler(agent="cursor", key=KEY, databases={"cursor.composer": [os.fspath(path)]})
    )
    stop(session, 1)
    path.unlink()
    composer(path, 42, seconds=5)
    session.take(cursor_payloads.hook("beforeSubmitPrompt"), now=AT + 6 * SECOND)
    stop(session, 7)
    path.unlink()
    composer(path, 43, seconds=8)
    stop(session, 9)
    assert session.said == [41.25, 42, 43]
    assert ["turn_id" in body["scope"] for body in bodies(session)] == [False, False, True]


def test_the_store_that_knows_the_session_has_the_word(tmp_path: Path) -> None:
    path = composer(tmp_path / "state.vscdb", 140)
    session = Session(Sampler(agent="cursor", key=KEY, databases={"cursor.composer": [path]}))
    stop(session, 1)
    assert session.said == ["percent_invalid"]
    assert session.state.database is None


# -- what is pending ------------------------------------------------------------------------------


def test_a_count_that_is_stale_at_a_stop_is_asked_for_again_as_of_the_turns_end(
    tmp_path: Path,
) -> None:
    session = codex(tmp_path)
    session.turn()
    session.respond(10_000)
    session.end()
    assert session.hook("Stop", later=40) == ["sample_stale"]
    assert session.hook("UserPromptSubmit", later=42) == [10_000]


def test_what_waiting_does_not_mend_is_not_waited_for(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.turn("prompt-1")
    session.respond(10_000, message={"model": "unknown"})
    assert session.hook("Stop") == ["model_unknown"]
    assert session.session.state.pending.targets == ()
    session.turn("prompt-2")
    assert session.hook("Stop") == ["turn_not_found"]
    session.respond(10_000, message={"model": "unknown"})
    assert session.hook("Notification", later=1) == []
    assert [each.end for each in session.session.state.ended] == [End.REFUSED]


def test_a_turn_without_an_id_is_not_waited_for(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.rows.prompt_id = None
    assert session.hook("Stop") == ["source_absent"]
    assert session.session.state.pending.targets == ()


def test_a_turn_that_stops_again_is_waited_for_anew(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.turn("prompt-1")
    for _ in range(2):
        session.hook("Stop")
    assert len(session.session.state.pending.targets) == 1
    assert [each.end for each in session.session.state.ended] == [End.REPLACED]


def test_a_tool_within_the_interval_still_asks_for_what_is_pending(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.turn("prompt-1")
    session.hook("Stop")
    session.rows.prompt_id = "prompt-2"
    session.hook("PostToolUse", later=0.1)
    session.rows.prompt_id = "prompt-1"
    session.respond(10_000)
    session.rows.prompt_id = "prompt-2"
    assert session.hook("PostToolUse", later=2) == [10_000]


def test_an_ended_turns_sample_that_lands_behind_the_next_turns_is_found_by_its_own_turn(
    tmp_path: Path,
) -> None:
    session = claude(tmp_path)
    session.turn("prompt-1")
    assert session.hook("Stop") == ["not_measured_yet"]
    session.rows.response(10_000)  # still on its way to the disk
    session.rows.prompt_id = "prompt-2"
    assert session.hook("UserPromptSubmit") == []
    session.rows.prompt()
    session.respond(20_000)
    assert session.hook("PostToolUse", later=2) == [10_000, 20_000]
    late, running = bodies(session.session)[1:]
    assert late["scope"] == bodies(session.session)[0]["scope"]
    assert late["scope"]["turn_id"] != running["scope"]["turn_id"]
    assert [each.end for each in session.session.state.ended] == [End.FOUND]
    assert session.hook("Stop", later=3) == []


def test_a_stop_that_sees_an_earlier_response_of_its_turn_is_asked_again_for_the_last(
    tmp_path: Path,
) -> None:
    for session in (claude(tmp_path), codex(tmp_path)):
        session.turn("prompt-1") if isinstance(session, ClaudeSession) else session.turn()
        session.respond(10_000)
        assert session.hook("PostToolUse") == [10_000]
        assert session.hook("Stop") == []
        session.respond(20_000)  # the last row comes after the stop
        session.end() if isinstance(session, CodexSession) else None
        assert session.hook("Notification", later=1) == [20_000]
        assert [each.end for each in session.session.state.ended] == [End.FOUND]
        first, last = bodies(session.session)
        assert first["scope"] == last["scope"]


@pytest.mark.parametrize("boundary", [Boundary.STOP, Boundary.TOOL_COMPLETED])
def test_a_turn_whose_end_was_not_sampled_is_sampled_when_others_hooks_show_that_it_ended(
    tmp_path: Path, boundary: Boundary
) -> None:
    session = claude(tmp_path)
    session.turn("prompt-1")
    session.respond(10_000)
    # Killed while it read (a stop), or interrupted by the user behind a tool.
    payload = {
        "session_id": session.rows.session_id,
        "transcript_path": str(session._path()),
        "prompt_id": "prompt-1",
        "hook_event_name": "Stop",
    }
    session.session.state, _ = session.session.sampler.begin(
        session.session.state, boundary, payload, now=session.rows.now
    )
    session.turn("prompt-2")
    assert session.hook("PreToolUse", later=2) in ([10_000], [])
    session.respond(20_000)
    assert session.hook("Stop", later=2) == [20_000]
    assert session.session.said == [10_000, 20_000]
    of = [body["scope"]["turn_id"] for body in bodies(session.session)]
    assert of[0] != of[1]
    assert session.session.state.pending.targets[0].turn_id == "prompt-2"


def test_a_turn_that_goes_on_behind_its_stop_is_not_over(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.turn("prompt-1")
    session.respond(10_000)
    assert session.hook("Stop") == [10_000]  # another hook of the user's lets the agent go on
    session.respond(11_000)
    assert session.hook("PostToolUse", later=2) == [11_000]
    session.respond(12_000)  # and the process of the second stop is killed before it saves
    session.turn("prompt-2")
    assert session.hook("Notification", later=2) == [12_000]


@pytest.mark.parametrize("void", ["compacted", "carried_over"])
def test_a_turn_that_ends_on_what_is_void_may_still_get_its_last_response(
    tmp_path: Path, void: str
) -> None:
    session = claude(tmp_path)
    session.turn("prompt-1")
    session.respond(10_000)
    if void == "compacted":
        session.rows.compaction()
    else:
        session.rows.prompt()  # a fork gives the rows that it copies its own first turn's id
    session.flush()
    assert session.hook("Stop") == [void]
    session.respond(9_000)
    assert session.hook("Notification", later=1) == [9_000]


# -- steps ----------------------------------------------------------------------------------------


def test_an_attempt_is_stamped_before_anything_is_read(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.turn("prompt-1")
    session.respond(10_000)
    sampler, state, now = session.session.sampler, session.session.state, session.rows.now
    payload = {
        "session_id": session.rows.session_id,
        "transcript_path": str(session._path()),
        "prompt_id": "prompt-1",
        "hook_event_name": "PostToolUse",
    }
    stamped, attempt = sampler.begin(state, Boundary.TOOL_COMPLETED, payload, now=now)
    assert attempt is not None
    assert "prompt-1" not in repr(attempt)
    # Killed while it read: the next hook waits for its turn.
    again, nothing = sampler.begin(stamped, Boundary.TOOL_COMPLETED, payload, now=now + SECOND)
    assert (again, nothing) == (stamped, None)
    # Not killed: as in one step.
    done = sampler.complete(stamped, attempt)
    assert done == sampler.step(state, Boundary.TOOL_COMPLETED, payload, now=now)
    assert measured(done[1]) == [10_000]


def test_a_step_that_is_taken_again_makes_the_same_events(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.turn("prompt-1")
    state = session.session.state
    for _ in range(2):
        session.session.state = state
        session.hook("Stop")
        session.hook("PreCompact")
    ids = [event.record_id for event in session.session.events]
    assert ids[: len(ids) // 2] == ids[len(ids) // 2 :]


def test_a_sample_whose_line_outlived_its_state_is_not_published_again(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.turn("prompt-1")
    session.respond(10_000)
    lost = session.session.state
    session.hook("Stop")
    (event,) = session.session.events
    assert event.source_record_id is not None
    session.session.state = lost.with_published([event.source_record_id])
    assert session.hook("Stop") == []


def test_an_observation_of_the_callers_own_is_published_once() -> None:
    sampler, state = Sampler(agent="cursor", key=KEY), SamplerState()
    observation = cm.observe("cursor.status_line", cursor_payloads.STATUS_LINE, at=AT)
    published: list[Any] = []
    for _ in range(2):
        state, events = sampler.publish(
            state, observation, session_id=cursor_payloads.SESSION, turn_id="t", now=AT
        )
        published += events
    (event,) = published
    assert seen(event.body["payload"]["measurement"]) == 16.7
    assert event.body["provenance"]["source_event"].startswith("cursor.native_context.")
    assert "turn_id" in event.body["scope"]


def test_what_the_caller_vouches_for_goes_into_every_question(tmp_path: Path) -> None:
    session = claude(tmp_path, limit_tokens=123_456)
    session.turn("prompt-1")
    session.hook("Stop")
    session.respond(10_000)
    session.hook("Notification", later=1)
    value = bodies(session.session)[-1]["payload"]["measurement"]["value"]
    assert value["limit_tokens"] == 123_456
    assert value["method"].endswith("_declared_limit")
    session = claude(tmp_path, model="claude-sonnet-4-6[1m]")
    session.turn("prompt-2")
    session.respond(10_001, message={"model": "claude-sonnet-4-6"})
    session.hook("PostToolUse")
    value = bodies(session.session)[-1]["payload"]["measurement"]["value"]
    assert value["limit_tokens"] == 1_000_000


@given(
    st.lists(
        st.sampled_from(["PostToolUse", "Stop", "PreCompact", "Notification", "SessionEnd", "row"]),
        max_size=12,
    ),
    st.lists(st.integers(0, 20), min_size=12, max_size=12),
)
def test_each_sample_is_published_at_most_once_in_any_order_of_hooks(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], delays: list[int]
) -> None:
    session = claude(tmp_path_factory.mktemp("any"))
    session.turn("prompt-1")
    for step, (number, delay) in zip(steps, enumerate(delays), strict=False):
        if step == "row":
            session.respond(10_000 + number)
        else:
            session.hook(step, later=delay)
    counts = [count for count in session.session.said if isinstance(count, int)]
    assert len(counts) == len({*counts})


# -- payloads that are none -----------------------------------------------------------------------


@pytest.mark.parametrize("agent", HOOKED_AGENTS)
def test_a_payload_of_another_agent_or_of_no_session_does_nothing(agent: str) -> None:
    own = {
        "claude": {"session_id": "s", "hook_event_name": "Stop", "prompt_id": "p"},
        "codex": {"session_id": "s", "hook_event_name": "Stop", "turn_id": "t"},
        "cursor": cursor_payloads.hook("stop"),
    }
    others = [payload for name, payload in own.items() if name != agent]
    for payload in ({}, {"session_id": ""}, {"hook_event_name": "Stop"}, *others):
        session = Session(Sampler(agent=agent, key=KEY))
        assert session.take(payload, now=AT) == ()
        assert session.state == SamplerState()


STOPPED = {"session_id": "s", "hook_event_name": "Stop"}
KEYS = ("session_id", "hook_event_name", "transcript_path", "prompt_id", "turn_id", "agent_id")


@given(
    st.sampled_from(HOOKED_AGENTS),
    st.sampled_from(Boundary),
    any_json(*KEYS).filter(lambda value: isinstance(value, dict)),
    st.sampled_from([{}, STOPPED, cursor_payloads.hook("stop")]),
)
def test_no_payload_raises(agent: str, boundary: Boundary, payload: Any, base: Any) -> None:
    session = Session(Sampler(agent=agent, key=KEY))
    session.take({**base, **payload}, now=AT, boundary=boundary)


def test_the_hooks_of_an_agent_are_declared_where_its_sources_are() -> None:
    for agent in HOOKED_AGENTS:
        declared = hooks(agent)
        assert declared.source.id == f"{agent}.hook"
        assert all(find(store) for store in declared.stores)
    assert hooks("cursor").path({"transcript_path": "/p"}) is None
    assert not hooks("codex").is_compacted({"compact_summary": "x"})
    with pytest.raises(ValueError, match=r"^agent: expected one of claude, codex, cursor"):
        hooks("pi")


# -- wrong arguments ------------------------------------------------------------------------------

WRONG: Any = object()
"""Of no type that is expected."""
SAMPLER = Sampler(agent="claude", key=KEY)


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (TypeError, r"^agent: ", lambda: Sampler(agent=WRONG, key=KEY)),
        (ValueError, r"^agent: expected one of ", lambda: Sampler(agent="pi", key=KEY)),
        (TypeError, r"^key: ", lambda: Sampler(agent="claude", key=WRONG)),
        (ValueError, r"^key: ", lambda: Sampler(agent="claude", key=b"")),
        (TypeError, r"^state: ", lambda: SAMPLER.step(WRONG, Boundary.STOP, {}, now=AT)),
        (TypeError, r"^boundary: ", lambda: SAMPLER.step(SamplerState(), WRONG, {}, now=AT)),
        (
            TypeError,
            r"^payload: ",
            lambda: SAMPLER.step(SamplerState(), Boundary.STOP, WRONG, now=AT),
        ),
        (
            ValueError,
            r"^now: ",
            lambda: SAMPLER.step(
                SamplerState(), Boundary.STOP, {"session_id": "s"}, now=AT.replace(tzinfo=None)
            ),
        ),
        (TypeError, r"^state: ", lambda: SAMPLER.complete(WRONG, WRONG)),
        (
            TypeError,
            r"^state: ",
            lambda: SAMPLER.publish(WRONG, WRONG, session_id="s", now=AT),
        ),
        (
            TypeError,
            r"^now: ",
            lambda: SAMPLER.publish(SamplerState(), WRONG, session_id="s", now=WRONG),
        ),
        (TypeError, r"^attempt: ", lambda: SAMPLER.complete(SamplerState(), WRONG)),
    ],
)
def test_wrong_arguments_are_named(error: type[Exception], message: str, call: Any) -> None:
    with pytest.raises(error, match=message):
        call()
