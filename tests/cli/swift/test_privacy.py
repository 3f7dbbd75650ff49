"""What the commands that agents run print and write tells nothing of a session."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from command_line import CLAUDE, lines

from ctxmeasure.cli.swift import cursor_stores, glance, judged, recording
from ctxmeasure.testing.cursor.payloads import PRE_COMPACT, hook, status_line
from ctxmeasure.testing.planting import MARK, holds_mark, sentinel_for

AT = datetime(2026, 11, 29, 19, 4, 30, tzinfo=UTC)

# What a payload means by its words; every other text is a session's own.
WORDS = frozenset({"hook_event_name", "version", "cursor_version", "source", "trigger", "type"})
RECORDED = sorted(
    path
    for folder in CLAUDE.parent.iterdir()
    for path in folder.rglob("*.jsonl")
    if path.name in {"hooks.jsonl", "statusline.jsonl"}
)


def planted(value: Any, key: str = "") -> Any:
    """Return *value* with a sentinel in the place of every text that is a session's own."""
    match value:
        case dict():
            return {named: planted(each, named) for named, each in value.items()}
        case list():
            return [planted(each, key) for each in value]
        case str() if key not in WORDS and value:
            return sentinel_for(value, sum(value.encode()))
        case _:
            return value


def payloads(path: Path) -> list[Any]:
    return [planted(json.loads(line)) for line in path.read_bytes().splitlines()]


def agent_of(path: Path) -> str:
    return path.relative_to(CLAUDE.parent).parts[0].partition("-")[0]


def written(folder: Path) -> Iterator[str]:
    """Yield all that leaves: the events, the notes, and the names of all files."""
    for path in folder.rglob("*"):
        yield path.name
        if path.name in {"events", "errors.log"}:
            yield path.read_text()


@pytest.mark.parametrize("path", RECORDED, ids=lambda p: str(p.relative_to(CLAUDE.parent)))
def test_no_event_note_or_name_holds_a_part_of_a_payload(path: Path, tmp_path: Path) -> None:
    given = {"--agent": agent_of(path), "--state": str(tmp_path / "s")}
    given["--out"] = str(tmp_path / "events")
    record = recording.of_hook if path.name == "hooks.jsonl" else recording.of_status_line
    for number, payload in enumerate(payloads(path)):
        at = AT + timedelta(seconds=20 * number)
        raw = json.dumps(payload).encode()
        record(raw, int(at.timestamp()) * 1_000_000_000, given)
        record(raw[:-20], int(at.timestamp()) * 1_000_000_000, given)
    assert not any(map(holds_mark, written(tmp_path)))
    assert (tmp_path / "s" / "errors.log").exists()


@pytest.mark.parametrize(
    "payload", [PRE_COMPACT, hook("stop"), hook("postToolUse", prompt="p")], ids=["1", "2", "3"]
)
def test_cursors_hooks_leave_no_part_of_theirs(
    payload: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cursor_stores, "databases", lambda _: {})
    given = {"--agent": "cursor", "--state": str(tmp_path / "s"), "--out": str(tmp_path / "events")}
    raw = json.dumps(planted(payload)).encode()
    recording.of_hook(raw, int(AT.timestamp()) * 1_000_000_000, given)
    assert not any(map(holds_mark, written(tmp_path)))


def test_what_the_transcript_says_stays_there(tmp_path: Path) -> None:
    (transcript,) = (CLAUDE / "h-tui" / "session").glob("*.jsonl")
    own = tmp_path / MARK / f"{MARK}.jsonl"
    own.parent.mkdir()
    own.write_bytes(transcript.read_bytes().replace(b'"text":"', b'"text":"' + MARK.encode()))
    assert MARK.encode() in own.read_bytes()
    given = {"--agent": "claude", "--state": str(tmp_path / "s"), "--out": str(tmp_path / "events")}
    payload = {
        "hook_event_name": "SessionEnd",
        "session_id": transcript.stem,
        "transcript_path": str(own),
    }
    recording.of_hook(json.dumps(payload).encode(), int(AT.timestamp()) * 1_000_000_000, given)
    (event,) = lines((tmp_path / "events").read_bytes())
    assert event["payload"]["measurement"]["state"] == "observed"
    assert not holds_mark((tmp_path / "events").read_text())
    assert transcript.stem not in (tmp_path / "events").read_text()


@pytest.mark.parametrize("form", ["full", "summary", "bar"])
def test_no_status_line_shows_a_part_of_its_payload(form: str) -> None:
    shown = [path for path in RECORDED if path.name == "statusline.jsonl"]
    all_lines = [payload for path in shown for payload in payloads(path)]
    assert len(all_lines) > 3
    for payload in [*all_lines, planted(status_line())]:
        for raw in (json.dumps(payload).encode(), json.dumps(payload).encode()[:-9]):
            for agent in (None, "claude", "cursor"):
                assert not holds_mark(glance.text(raw, agent, form) or "")
                assert not holds_mark(judged.text(raw, agent, form, at=AT))


def test_sessions_have_other_names_under_other_keys(tmp_path: Path) -> None:
    names = []
    for folder in ("a", "b", "a"):
        place = tmp_path / folder
        given = {"--agent": "claude", "--state": str(place), "--out": str(place / "events")}
        raw = json.dumps({"hook_event_name": "Stop", "session_id": "s", "prompt_id": "p"}).encode()
        recording.of_hook(raw, int(AT.timestamp()) * 1_000_000_000, given)
        (state,) = (place / "sessions").iterdir()
        names.append(state.name)
    assert names[0] == names[2] != names[1]
