"""No word of the data leaves: not by an observation, its wire form, an explanation or an event.

Every text, path and id of every recording gets a sentinel in its place, the same one for the same
text, and then everything that can be made to speak is made to.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import ctxmeasure as cm
from ctxmeasure import MissingReason, Observed, Phase, observe, registry
from ctxmeasure.testing import databases
from ctxmeasure.testing.acp import messages as acp_messages
from ctxmeasure.testing.claude.rows import usage
from ctxmeasure.testing.cursor.payloads import PRE_COMPACT, hook
from ctxmeasure.testing.cursor.payloads import status_line as cursor_status_line
from ctxmeasure.testing.planting import MARK, Planter, holds_mark, sentinel_for, told

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
    "method",
    "cli_version",
    "cliVersion",
    "codexErrorInfo",
    "cursor_version",
    "sessionUpdate",
    "provider",
    "command",
    "reason",
    "stopReason",
}


def outcome(observation: cm.Observation) -> Any:
    return observation.value if isinstance(observation, Observed) else observation.reason


def said_by(source_id: str, data: Any, **asked: Any) -> cm.Observation:
    """Return an observation that says no sentinel in any way."""
    observation = observe(source_id, data, at=LATER, **asked)
    assert not holds_mark(told(observation, at=LATER))
    return observation


ROOT = Path(__file__).parent / "recordings"
TRANSCRIPTS = [
    *(("claude.transcript", path) for path in sorted(ROOT.glob("claude*/*/session/**/*.jsonl"))),
    *(("codex.rollout", path) for path in sorted(ROOT.glob("codex*/**/rollout*.jsonl"))),
    *(("pi.session", path) for path in sorted(ROOT.glob("pi*/*/session/*.jsonl"))),
    *(("pi.session", path) for path in sorted(ROOT.glob("pi-versions/session*.jsonl"))),
]
STREAMS: list[tuple[str, Path | list[dict[str, Any]]]] = [
    *(("claude.stream", path) for path in sorted(ROOT.glob("claude*/*/stream*.jsonl"))),
    *(("codex.exec", path) for path in sorted(ROOT.glob("codex*/*/stream*.jsonl"))),
    *(("codex.exec", path) for path in sorted(ROOT.glob("codex*/exec*.jsonl"))),
    *(("codex.app_server", path) for path in sorted(ROOT.glob("codex*/appserver*.jsonl"))),
    *(("pi.stream", path) for path in sorted(ROOT.glob("pi*/**/stream*.jsonl"))),
    *(("pi.stream", path) for path in sorted(ROOT.glob("pi*/*/rpc.jsonl"))),
]
# No recording holds one: messages as the protocol describes them, and text that is no message.
STREAMS += [
    (
        "acp.session",
        [acp_messages.initialized(), acp_messages.opened(), acp_messages.usage(53_000)],
    ),
    ("acp.session", [acp_messages.metadata(2.05), acp_messages.answered(usage={"totalTokens": 9})]),
    ("text", [{"type": "text", "text": "Context: 45% (90K/200K)"}]),
]

# The keys of the ids that can be asked for, wherever in a row they stand.
SESSIONS = {"sessionId", "session_id", "thread_id"}
AGENTS = {"agentId", "parent_thread_id"}
TURNS = {"promptId", "turn_id"}


def named(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)}-rows"
    return f"{value.parts[-2]}-{value.stem[:12]}" if isinstance(value, Path) else str(value)


def decoded(rows: Path | list[dict[str, Any]]) -> list[dict[str, Any]]:
    if isinstance(rows, list):
        return rows
    return [json.loads(raw) for raw in rows.read_bytes().splitlines()]


def written(rows_: list[Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows_)


def under(value: Any, keys: set[str]) -> Iterator[str]:
    match value:
        case dict():
            for name, inner in value.items():
                if name in keys and isinstance(inner, str) and inner:
                    yield inner
                yield from under(inner, keys)
        case list():
            for inner in value:
                yield from under(inner, keys)


def ids_in(rows: list[dict[str, Any]], keys: set[str]) -> list[str | None]:
    """Return some ids under *keys*, no id, and one that is not there."""
    return [None, MARK, *sorted({id_ for row in rows for id_ in under(row, keys)})[:8]]


@pytest.mark.parametrize(("source_id", "path"), TRANSCRIPTS, ids=named)
def test_no_word_of_a_transcript_leaves(source_id: str, path: Path, tmp_path: Path) -> None:
    rows = decoded(path)
    planter = Planter(KEPT)
    planted = tmp_path / f"{MARK}.jsonl"
    planted.write_bytes(written(planter.plant(rows)))
    for session in ids_in(rows, SESSIONS) + ids_in(rows[:1], {"id"})[2:]:
        for agent in ids_in(rows, AGENTS):
            for turn in ids_in(rows, TURNS):
                ids: dict[str, Any] = {"session_id": session, "agent_id": agent, "turn_id": turn}
                own = {key: id_ and planter.sentinels.get(id_, id_) for key, id_ in ids.items()}
                said = said_by(source_id, planted, **own)
                for phase in (Phase.ACTIVE, Phase.TERMINAL):
                    said_by(source_id, planted, phase=phase, **own)
                if turn is None:  # with a turn, the words of a notice of interruption matter
                    plain = observe(source_id, path, at=LATER, **ids)
                    assert outcome(said) == outcome(plain)


@pytest.mark.parametrize(("source_id", "rows"), STREAMS, ids=named)
def test_no_word_of_a_stream_leaves(source_id: str, rows: Path | list[dict[str, Any]]) -> None:
    planted = Planter(KEPT).plant(decoded(rows))
    for session in (None, MARK):
        heard = cm.Stream(source_id, session_id=session)
        for row in planted:
            heard.feed(json.dumps(row), at=LATER)
            assert not holds_mark(told(heard.latest, at=LATER) + told(heard.peak, at=LATER))
        assert not holds_mark(repr((heard, heard.stats)) + told(heard.finish(at=LATER), at=LATER))
    recorded = said_by(source_id, written(planted))
    assert outcome(recorded) == outcome(observe(source_id, written(decoded(rows)), at=LATER))


PAYLOADS = [
    (source_id, payload)
    for source_id, pattern in [
        ("claude.status_line", "claude*/*/statusline.jsonl"),
        ("claude.hook", "claude*/*/hooks.jsonl"),
        ("codex.hook", "codex*/*/hooks.jsonl"),
        ("codex.hook", "codex*/hooks_*.jsonl"),
        ("codex.hook", "codex*/*/notify.jsonl"),
        ("codex.hook", "codex*/notify_*.jsonl"),
    ]
    for path in sorted(ROOT.glob(pattern))
    for payload in decoded(path)
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
PAYLOADS += [
    ("claude.context_usage", CONTEXT_USAGE),
    ("cursor.hook", PRE_COMPACT),
    ("cursor.hook", hook("beforeSubmitPrompt", prompt="text", attachments=[{"file_path": "/p"}])),
    ("cursor.status_line", cursor_status_line()),
]
PAYLOADS += [
    ("pi.rpc", row)
    for path in sorted([*ROOT.glob("pi*/*/rpc.jsonl"), *ROOT.glob("pi-versions/stream_rpc*.jsonl")])
    for row in decoded(path)
    if row["type"] == "response"
]


def test_no_word_of_a_payload_leaves() -> None:
    for source_id, payload in PAYLOADS:
        planted = Planter(KEPT).plant(payload)
        plain = observe(source_id, payload, at=LATER)
        for data in (planted, json.dumps(planted).encode()):
            said_by(source_id, data, session_id=MARK)
            assert outcome(said_by(source_id, data)) == outcome(plain)


def composer_database(path: Path) -> Path:
    """Write a state database whose every text is a sentinel, the chat's id and name too."""
    document = {
        "composerId": MARK,
        "name": MARK,
        "text": MARK,
        "lastUpdatedAt": 1_795_900_000_000,
        "contextTokensUsed": 50_000,
        "contextTokenLimit": 200_000,
        "contextUsagePercent": 25,
        "modelConfig": {"modelName": f"/home/{MARK}"},
    }
    stored = {f"composerData:{MARK}": json.dumps(document)}
    secrets = {"cursorAuth/accessToken": MARK}
    return databases.write(path, {"cursorDiskKV": stored, "ItemTable": secrets})


def chat_database(path: Path) -> Path:
    """Write a chat store whose every text is a sentinel, the agent's id and its key too."""
    root = "a" * 64
    stated = {
        "agentId": MARK,
        "latestRootBlobId": root,
        "name": MARK,
        "lastUsedModel": f"/home/{MARK}",
        "blobEncryptionKey": MARK,
    }
    # Field 5 holds field 1, used tokens, and field 2, their maximum: 500 of 1,000.
    blob = b"\x2a\x06\x08\xf4\x03\x10\xe8\x07" + b"\x0a\x08" + MARK.encode()
    meta = json.dumps(stated).encode().hex()
    rows: dict[str, databases.Rows] = {"meta": {"0": meta}, "blobs": {root: blob}}
    return databases.write(path, rows, tables=databases.CHAT_TABLES)


STORES = [
    ("cursor.composer", composer_database, (50_000, 200_000)),
    ("cursor.chat_store", chat_database, (500, 1_000)),
]


@pytest.mark.parametrize(("source_id", "write", "counts"), STORES)
def test_no_word_of_a_store_leaves(
    source_id: str, write: Callable[[Path], Path], counts: tuple[int, int], tmp_path: Path
) -> None:
    path = write(tmp_path / f"{MARK}.db")
    written_at = LATER.timestamp() - 60
    os.utime(path, (written_at, written_at))
    for session in (MARK, "other", None):
        said_by(source_id, path, session_id=session)
    observation = said_by(source_id, path, session_id=MARK)
    assert isinstance(observation, Observed)
    assert isinstance(observation.value, cm.TokenMeasurement)
    assert (observation.value.used_tokens, observation.value.limit_tokens) == counts


def test_every_source_is_looked_at() -> None:
    looked_at = [source_id for source_id, *_ in [*TRANSCRIPTS, *STREAMS, *PAYLOADS, *STORES]]
    assert {*looked_at} == {*registry.ids()}


def test_no_word_leaves_as_a_version_or_a_model() -> None:
    kept = KEPT - {word for word in KEPT if "odel" in word or "version" in word}
    kept -= {"provider"}
    spoilt = [
        (source_id, written(Planter(kept).plant(decoded(path))))
        for source_id, path in [*TRANSCRIPTS, *STREAMS]
    ]
    spoilt += [(source_id, Planter(kept).plant(payload)) for source_id, payload in PAYLOADS]
    for source_id, data in spoilt:
        said_by(source_id, data)
        said_by(source_id, data, limit_tokens=1_000_000)


def test_a_planter_finds_what_it_planted() -> None:
    planter = Planter(KEPT)
    timed = "01a22895-a0b6-75c3-8041-8e922e1c7c1e"
    row = {
        "type": "user",
        "sessionId": "a",
        "list": ["a", {"cwd": "/b", "n": 1, "empty": ""}],
        "turn_id": timed,
        "transcript_path": "/c/rollout-d.jsonl",
    }
    assert planter.plant(row) == {
        "type": "user",
        "sessionId": f"/home/{MARK}/000000",
        "list": [f"/home/{MARK}/000000", {"cwd": f"/home/{MARK}/000001", "n": 1, "empty": ""}],
        "turn_id": sentinel_for(timed, 2),
        "transcript_path": sentinel_for("/c/rollout-d.jsonl", 3),
    }
    assert sentinel_for(timed, 2).startswith("01a22895-a0b6-7")
    assert all(map(holds_mark, planter.sentinels.values()))
    leaking = cm.Missing(
        reason=MissingReason.SOURCE_ABSENT,
        provenance=cm.Provenance(adapter="claude", source=planter.sentinel("a")),
    )
    assert MARK in told(leaking, at=LATER)


def test_no_wrong_argument_repeats_a_word_of_the_data() -> None:
    with pytest.raises(TypeError) as raised:
        observe("claude.transcript", {MARK: MARK}, at=LATER)
    assert MARK not in repr(raised.value)
