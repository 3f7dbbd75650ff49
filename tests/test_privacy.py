"""No word of the data leaves: not by an observation, not by its wire form, not by an explanation.

Every text, path and id of every recording of Claude Code gets a sentinel in its place, the same one
for the same text, and then everything that can be made to speak is made to.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field
from claude_sessions import RECORDINGS, usage

import ctxmeasure as cm
from ctxmeasure import MissingReason, Observed, Phase, observe, record, registry, render

LATER = datetime(2026, 11, 29, 20, 0, tzinfo=UTC)
"""After every recording."""

# What says how a row is to be read. Everything else that is text may be anybody's.
KEPT = {
    "type",
    "subtype",
    "timestamp",
    "role",
    "model",
    "requestedModel",
    "modelId",
    "canonicalModel",
    "from_model",
    "to_model",
    "requested_model",
    "version",
    "claude_code_version",
    "hook_event_name",
    "source",
    "trigger",
    "status",
    "compact_result",
    "terminal_reason",
    "stop_reason",
}
MARK = "SENTINEL"


@define
class Planter:
    """Puts a sentinel of its own in the place of every text: the same one for the same text."""

    sentinels: dict[str, str] = field(factory=dict)
    kept: set[str] = field(factory=lambda: KEPT)

    def plant(self, value: Any, key: str = "") -> Any:
        match value:
            case str() if value and key not in self.kept:
                return self.sentinel(value)
            case dict():
                return {name: self.plant(inner, name) for name, inner in value.items()}
            case list():
                return [self.plant(inner, key) for inner in value]
        return value

    def sentinel(self, text: str) -> str:
        return self.sentinels.setdefault(text, f"/home/{MARK}/{len(self.sentinels):06}")


def told(observation: cm.Observation) -> str:
    """Return everything that an observation can be made to say."""
    said = [repr(observation), str(observation), record.dumps(observation)]
    said += [render.summary(observation), render.gauge(observation)]
    said += [render.explain(observation), render.explain(observation, at=LATER)]
    return "\n".join(said)


def outcome(observation: cm.Observation) -> Any:
    return observation.value if isinstance(observation, Observed) else observation.reason


def said_by(source_id: str, data: Any, **asked: Any) -> cm.Observation:
    """Return an observation that says no sentinel in any way."""
    observation = observe(source_id, data, at=LATER, **asked)
    assert MARK not in told(observation)
    return observation


TRANSCRIPTS = sorted(path for r in RECORDINGS for path in r.folder.glob("session/**/*.jsonl"))
STREAMS = sorted(path for r in RECORDINGS for path in r.folder.glob("stream*.jsonl"))


def decoded(path: Path) -> list[dict[str, Any]]:
    return [json.loads(raw) for raw in path.read_bytes().splitlines()]


def written(rows_: list[Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows_)


def ids_in(rows: list[dict[str, Any]], key: str) -> list[str | None]:
    """Return every id under *key*, no id, and one that is not there."""
    return [None, MARK, *sorted({row[key] for row in rows if row.get(key)})]


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda p: f"{p.parts[-3]}-{p.stem[:10]}")
def test_no_word_of_a_transcript_leaves(path: Path, tmp_path: Path) -> None:
    rows = decoded(path)
    planter = Planter()
    planted = tmp_path / f"{MARK}.jsonl"
    planted.write_bytes(written(planter.plant(rows)))
    for session in ids_in(rows, "sessionId"):
        for agent in ids_in(rows, "agentId"):
            for turn in ids_in(rows, "promptId"):
                ids: dict[str, Any] = {"session_id": session, "agent_id": agent, "turn_id": turn}
                own = {key: id_ and planter.sentinels.get(id_, id_) for key, id_ in ids.items()}
                said = said_by("claude.transcript", planted, **own)
                for phase in (Phase.ACTIVE, Phase.TERMINAL):
                    said_by("claude.transcript", planted, phase=phase, **own)
                if turn is None:  # with a turn, the words of a notice of interruption matter
                    plain = observe("claude.transcript", path, at=LATER, **ids)
                    assert outcome(said) == outcome(plain)


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_word_of_a_stream_leaves(path: Path) -> None:
    planted = Planter().plant(decoded(path))
    for session in (None, MARK):
        heard = cm.Stream("claude.stream", session_id=session)
        for row in planted:
            heard.feed(json.dumps(row), at=LATER)
            assert MARK not in told(heard.latest) + told(heard.peak)
        assert MARK not in repr((heard, heard.stats)) + told(heard.finish(at=LATER))
    recorded = said_by("claude.stream", written(planted))
    assert outcome(recorded) == outcome(observe("claude.stream", path, at=LATER))


PAYLOADS = [
    (source_id, payload)
    for source_id, name in [
        ("claude.status_line", "statusline.jsonl"),
        ("claude.hook", "hooks.jsonl"),
    ]
    for recording in RECORDINGS
    if (recording.folder / name).exists()
    for payload in decoded(recording.folder / name)
]
# No recording holds one: the answer that formats/claude.md §2 describes.
CONTEXT_USAGE = {
    "session_id": "session",
    "model": "claude-sonnet-4-5-20250929",
    "totalTokens": 17_000,
    "maxTokens": 200_000,
    "rawMaxTokens": 200_000,
    "percentage": 8,
    "categories": [{"name": "System prompt", "tokens": 3_000, "color": "promptBorder"}],
    "memoryFiles": [{"path": "/home/someone/CLAUDE.md", "type": "User", "tokens": 9}],
    "apiUsage": usage(16_108),
}
PAYLOADS.append(("claude.context_usage", CONTEXT_USAGE))


def test_no_word_of_a_payload_leaves() -> None:
    for source_id, payload in PAYLOADS:
        planted = Planter().plant(payload)
        plain = observe(source_id, payload, at=LATER)
        for data in (planted, json.dumps(planted).encode()):
            said_by(source_id, data, session_id=MARK)
            assert outcome(said_by(source_id, data)) == outcome(plain)


def test_every_source_of_claude_is_looked_at() -> None:
    looked_at = {"claude.transcript", "claude.stream", *(source_id for source_id, _ in PAYLOADS)}
    assert looked_at == {id_ for id_ in registry.ids() if id_.startswith("claude.")}


def test_no_word_leaves_as_a_version_or_a_model() -> None:
    kept = KEPT - {word for word in KEPT if "odel" in word or "version" in word}
    files = [("claude.transcript", TRANSCRIPTS), ("claude.stream", STREAMS)]
    spoilt = [
        (source_id, written(Planter(kept=kept).plant(decoded(path))))
        for source_id, paths in files
        for path in paths
    ]
    spoilt += [(source_id, Planter(kept=kept).plant(payload)) for source_id, payload in PAYLOADS]
    for source_id, data in spoilt:
        said_by(source_id, data)
        said_by(source_id, data, limit_tokens=1_000_000)


def test_a_planter_finds_what_it_planted() -> None:
    planter = Planter()
    row = {"type": "user", "sessionId": "a", "list": ["a", {"cwd": "/b", "n": 1, "empty": ""}]}
    assert planter.plant(row) == {
        "type": "user",
        "sessionId": f"/home/{MARK}/000000",
        "list": [f"/home/{MARK}/000000", {"cwd": f"/home/{MARK}/000001", "n": 1, "empty": ""}],
    }
    leaking = cm.Missing(
        reason=MissingReason.SOURCE_ABSENT,
        provenance=cm.Provenance(adapter="claude", source=planter.sentinel("a")),
    )
    assert MARK in told(leaking)


def test_no_wrong_argument_repeats_a_word_of_the_data() -> None:
    with pytest.raises(TypeError) as raised:
        observe("claude.transcript", {MARK: MARK}, at=LATER)
    assert MARK not in repr(raised.value)
