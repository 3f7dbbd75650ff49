"""What hooks and status lines leave behind, and what they do when that cannot be done."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from command_line import CLAUDE, lines

from ctxmeasure.cli.swift import cursor_stores, recording
from ctxmeasure.testing.cursor.payloads import PRE_COMPACT, status_line

SCENE = CLAUDE / "h-tui"
(TRANSCRIPT,) = (SCENE / "session").glob("*.jsonl")
HOOKS = [json.loads(line) for line in (SCENE / "hooks.jsonl").read_bytes().splitlines()]
LINE = (SCENE / "statusline.jsonl").read_bytes().splitlines()[-1]
AT = datetime(2026, 11, 29, 19, 4, 30, tzinfo=UTC)
NO_STATE = (None, b"", b"{}", b"damaged")


def nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp()) * 1_000_000_000


class Place:
    """A state folder and a file of events."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self.out = folder / "events.jsonl"

    def options(self, agent: str | None = None) -> dict[str, str]:
        agents = {} if agent is None else {"--agent": agent}
        return {**agents, "--state": str(self.state), "--out": str(self.out)}

    def hook(self, payload: Any, at: datetime = AT, agent: str = "claude") -> None:
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        recording.of_hook(raw, nanoseconds(at), self.options(agent))

    def line(self, payload: Any, at: datetime = AT, agent: str | None = None) -> None:
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        recording.of_status_line(raw, nanoseconds(at), self.options(agent))

    @property
    def events(self) -> list[Any]:
        return lines(self.out.read_bytes()) if self.out.exists() else []

    @property
    def notes(self) -> list[str]:
        path = self.state / "errors.log"
        text = path.read_text() if path.exists() else ""
        return [line.partition(" ")[2] for line in text.splitlines()]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def ended() -> dict[str, Any]:
    """Return the payload of the recorded session's end, about its transcript here."""
    (payload,) = [hook for hook in HOOKS if hook["hook_event_name"] == "SessionEnd"]
    return {**payload, "transcript_path": str(TRANSCRIPT)}


def value(event: Any) -> Any:
    return event["payload"]["measurement"]["value"]


def test_a_hook_publishes_what_its_transcript_holds_once(place: Place) -> None:
    place.hook(ended())
    place.hook(ended(), AT + timedelta(seconds=20))
    (event,) = place.events
    assert event["event_type"] == "context.observed"
    assert (value(event)["used_tokens"], value(event)["limit_tokens"]) == (9005, 200_000)
    assert place.notes == []


def test_a_hook_that_has_nothing_to_say_leaves_a_state_and_no_event(place: Place) -> None:
    payload = {**ended(), "hook_event_name": "PostToolUse", "prompt_id": "another"}
    for second in (0, 5):  # the second is too soon to look again
        place.hook(payload, AT + timedelta(seconds=second))
    assert (place.events, place.notes) == ([], [])
    assert len(list((place.state / "sessions").iterdir())) == 1


def test_all_recorded_hooks_of_a_session_are_taken(place: Place) -> None:
    for second, payload in enumerate(HOOKS):
        place.hook(
            {**payload, "transcript_path": str(TRANSCRIPT)}, AT + timedelta(seconds=20 * second)
        )
    assert place.notes == []
    ids = [event["record_id"] for event in place.events]
    assert len(ids) == len({*ids}) > 3


@pytest.mark.parametrize("content", NO_STATE)
def test_a_lost_state_is_made_up_for_by_the_events_themselves(
    place: Place, content: bytes | None
) -> None:
    place.hook(ended())
    long = b'{"event_type":"another"}\n' * 4000
    place.out.write_bytes(long + place.out.read_bytes() + long)
    lose_state(place, content)
    place.hook(ended(), AT + timedelta(seconds=20))
    assert len(place.events) == 8001
    place.out.unlink()
    lose_state(place, content)
    place.hook(ended(), AT + timedelta(seconds=40))
    assert len(place.events) == 1


@pytest.mark.parametrize("session", ["own", "sid_of_another"])
def test_of_a_long_file_of_events_a_sessions_last_ones_tell_what_was_published(
    place: Place, session: str
) -> None:
    place.hook(ended())
    (event,) = place.events
    known = event["scope"]["session_id"] if session == "own" else session
    others = [
        json.dumps({"scope": {"session_id": known}, "provenance": {"source_record_id": f"hid_{n}"}})
        for n in range(400)
    ]
    old, new = (others, []) if session == "own" else ([], others)
    place.out.write_text("".join(f"{line}\n" for line in (*old, json.dumps(event), *new)))
    lose_state(place, b"damaged")
    place.hook(ended(), AT + timedelta(seconds=20))
    assert len(place.events) == 401


def lose_state(place: Place, content: bytes | None) -> None:
    """Let the only session's state be lost, or *content* be found in its place."""
    (state,) = (place.state / "sessions").iterdir()
    state.unlink() if content is None else state.write_bytes(content)


def test_a_missing_event_has_no_sample_to_remember(place: Place) -> None:
    payload = {**ended(), "hook_event_name": "Stop", "prompt_id": "another"}
    place.hook(payload)
    assert place.events[0]["payload"]["measurement"]["state"] == "expected_but_missing"
    (state,) = (place.state / "sessions").iterdir()
    state.write_bytes(b"damaged")
    place.hook(ended(), AT + timedelta(seconds=20))
    assert len(place.events) == 2


def test_cursors_payload_is_cursors_whoever_configured_the_hook(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cursor_stores, "databases", lambda _: {})
    place.hook(PRE_COMPACT, agent="claude")
    place.hook(PRE_COMPACT, agent="cursor")
    adapters = {event["adapter"] for event in place.events}
    assert adapters == {"cursor"}
    observed = [e for e in place.events if e["event_type"] == "context.observed"]
    assert [value(event)["used_tokens"] for event in observed] == [185_000]


def test_a_codex_hook_reads_the_rollout(place: Place) -> None:
    scene = CLAUDE.parent / "codex" / "b-tools"
    (rollout,) = (scene / "session").rglob("*.jsonl")
    hooks = [json.loads(line) for line in (scene / "hooks.jsonl").read_bytes().splitlines()]
    for second, payload in enumerate(hooks):
        changed = {**payload, "transcript_path": str(rollout)}
        place.hook(changed, AT + timedelta(seconds=20 * second), agent="codex")
    assert {event["adapter"] for event in place.events} == {"codex"}


@pytest.mark.parametrize(
    ("payload", "note"),
    [
        (b"", "hook source_malformed"),
        (b"{", "hook source_malformed"),
        (b"[]", "hook source_malformed"),
        (b" " * (16 * 1024 * 1024 + 1), "hook budget_exhausted"),
        ({"hook_event_name": "Stop"}, "hook the payload names no session"),
    ],
)
def test_a_payload_that_is_none_is_noted(place: Place, payload: Any, note: str) -> None:
    place.hook(payload)
    assert (place.notes, place.events) == ([note], [])


def test_a_folder_that_cannot_be_made_is_nowhere_to_note(tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(b"a file")
    place = Place(tmp_path)
    place.hook(ended())
    place.line(LINE)
    assert place.events == []


def test_events_that_cannot_be_written_are_noted_and_come_later(place: Place) -> None:
    place.out.mkdir()
    place.hook(ended())
    place.line(LINE)
    assert place.notes == [
        "hook the events cannot be written",
        "statusline the events cannot be written",
    ]
    place.out.rmdir()
    place.hook(ended())
    place.line(LINE)
    assert [value(event)["method"] for event in place.events] == [
        "claude_transcript_usage_model_capability",
        "claude_status_line",
    ]


def test_an_exception_is_noted_by_its_kind_and_place_alone(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a prompt")

    monkeypatch.setattr(recording, "read_object", fail)
    place.hook(ended())
    (note,) = place.notes
    assert note.startswith("hook RuntimeError at cli/swift/recording.py:")
    assert "prompt" not in note
    assert recording._place(RuntimeError("x")) == "a place outside"


def test_a_status_line_is_recorded_once_for_each_sample(place: Place) -> None:
    for second in range(3):
        place.line(LINE, AT + timedelta(seconds=second))
    (event,) = place.events
    assert value(event)["method"] == "claude_status_line"
    assert event["provenance"]["attestation"] == "native"
    assert place.notes == []


def test_cursors_status_line_is_told_by_its_looks(place: Place) -> None:
    place.line(status_line())
    place.line(status_line(), agent="cursor")
    (event,) = place.events
    assert (event["adapter"], value(event)["used_percent"]) == ("cursor", 16.7)


def test_a_status_line_that_measures_nothing_leaves_nothing(place: Place) -> None:
    place.line((SCENE / "statusline.jsonl").read_bytes().splitlines()[0])
    place.line({**json.loads(LINE), "session_id": None})
    assert (place.events, place.notes) == ([], [])
    place.line(b"{")
    assert place.notes == ["statusline source_malformed"]
