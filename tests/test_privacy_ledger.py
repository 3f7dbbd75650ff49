"""No word of a session leaves by a sampler: not by its events, reprs or logs, at any hook.

Every text, path and id of the recorded hooks and transcripts gets a sentinel in its place; see
``test_privacy``. What is remembered for the next hook has to hold native ids, and says none.
"""

from __future__ import annotations

import json
import logging
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hooked import Session
from test_privacy import KEPT, LATER, chat_database, composer_database, decoded, written

from ctxmeasure.sampler import Boundary, Sampler, SamplerState, boundary_of
from ctxmeasure.testing.cursor import payloads as cursor_payloads
from ctxmeasure.testing.planting import MARK, Planter, holds_mark

ROOT = Path(__file__).parent / "recordings"
RECORDED = [
    (path.parent.parent.name.partition("-")[0], path.parent)
    for path in sorted(ROOT.glob("*/*/hooks-timing.jsonl"))
]
KEYS = (b"one key", b"another key")


def replayed(agent: str, recording: Path, folder: Path, *, key: bytes, plants: bool) -> Session:
    """Sample at every hook of *recording*, with sentinels in it if asked."""
    planter = Planter(KEPT)

    def plant(value: Any) -> Any:
        return planter.plant(value) if plants else value

    transcripts = {path.name: decoded(path) for path in recording.glob("session/**/*.jsonl")}
    files = {name: plant(rows) for name, rows in transcripts.items()}
    # A session's files and hooks share one state, whatever session they are of: none may leak.
    session = Session(Sampler(agent=agent, key=key))
    for payload, timing in zip(
        decoded(recording / "hooks.jsonl"), decoded(recording / "hooks-timing.jsonl"), strict=True
    ):
        handed_over = plant(payload)
        for path_key in ("transcript_path", "agent_transcript_path"):
            name = Path(payload.get(path_key) or "").name
            if name in files and (path_key != "transcript_path" or "rows" in timing):
                rows = files[name]
                shown = timing["rows"] if path_key == "transcript_path" else len(rows)
                (folder / name).write_bytes(written(rows[:shown]))
            if name:
                handed_over[path_key] = str(folder / name)
        session.take(handed_over, now=datetime.fromtimestamp(timing["t"], UTC))
        assert not plants or not holds_mark(repr((session, session.state.ended)))
    return session


def lines(session: Session) -> str:
    return "\n".join(event.line() for event in session.events)


def without_ids(said: str) -> str:
    return re.sub("(sid|tid|hid)_[0-9a-f]{64}", r"\1", said)


def ids(said: str) -> set[str]:
    return {*re.findall("(?:sid|tid|hid)_[0-9a-f]{64}", said)}


@pytest.mark.parametrize(
    ("agent", "recording"), RECORDED, ids=[f"{agent}-{path.name}" for agent, path in RECORDED]
)
def test_no_word_of_a_session_leaves_at_its_hooks(
    agent: str, recording: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    folder = tmp_path / MARK
    folder.mkdir()
    said = [
        lines(replayed(agent, recording, folder, key=key, plants=True)) for key in (*KEYS, KEYS[0])
    ]
    assert not holds_mark("".join(said) + caplog.text)
    plain = lines(replayed(agent, recording, tmp_path, key=KEYS[0], plants=False))
    assert without_ids(said[0]) == without_ids(said[1]) == without_ids(plain)
    # Under one key an id is stable, under another it is another.
    assert said[0] == said[2]
    assert not ids(said[0]) & ids(said[1])


def test_the_recordings_make_events() -> None:
    assert len(RECORDED) > 20


def test_no_word_of_a_store_leaves_at_a_hook(tmp_path: Path) -> None:
    folder = tmp_path / MARK
    folder.mkdir()
    databases = {
        "cursor.composer": [composer_database(folder / "state.vscdb")],
        "cursor.chat_store": [chat_database(folder / "store.db")],
    }
    for used in databases, {"cursor.composer": databases["cursor.composer"]}, {}:
        session = Session(Sampler(agent="cursor", key=KEYS[0], databases=used))
        for event in ("beforeSubmitPrompt", "postToolUse", "preCompact", "stop", "sessionEnd"):
            planted: dict[str, Any] = {
                **Planter(KEPT).plant(cursor_payloads.hook(event, prompt="text")),
                "conversation_id": MARK,
                "session_id": MARK,
            }
            session.take(planted, now=LATER)
        assert session.said
        assert not holds_mark(lines(session) + repr(session))


def test_no_word_of_a_native_payload_leaves() -> None:
    planted = Planter(KEPT).plant(cursor_payloads.PRE_COMPACT)
    session = Session(Sampler(agent="cursor", key=KEYS[0]))
    session.take(planted, now=LATER)
    assert session.said == [185_000]
    assert not holds_mark(lines(session) + repr(session))


def test_no_refusal_repeats_a_word_of_what_is_remembered() -> None:
    payload = {"session_id": MARK, "hook_event_name": "Stop", "prompt_id": MARK}
    sampler = Sampler(agent="claude", key=KEYS[0])
    state, _ = sampler.step(SamplerState(), boundary_of(payload), payload, now=LATER)
    remembered = state.to_dict()
    assert MARK in json.dumps(remembered)
    with pytest.raises(ValueError, match=r"^state: ") as raised:
        SamplerState.from_dict({**remembered, MARK: MARK})
    assert MARK not in repr(raised.value)
    with pytest.raises(TypeError) as wrong:
        sampler.step(state, Boundary.STOP, payload, now=MARK)  # type: ignore[arg-type]
    assert MARK not in repr(wrong.value)
