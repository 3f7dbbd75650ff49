"""Sources are told by their looks, beyond doubt or not at all."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure import identify as room
from ctxmeasure import registry
from ctxmeasure.bounded.budget import ReadFault
from ctxmeasure.identify import claimant, identify
from ctxmeasure.source import Source

RECORDINGS: Final = Path(__file__).parent / "recordings"
CLAUDE: Final = sorted(RECORDINGS.glob("claude*/*"))
SESSIONS: Final = [file for run in CLAUDE for file in sorted(run.glob("session/**/*.jsonl"))]
STREAMS: Final = [file for run in CLAUDE for file in sorted(run.glob("stream*.jsonl"))]
HOOKS: Final = [file for run in CLAUDE for file in sorted(run.glob("hooks.jsonl"))]
STATUS_LINES: Final = [file for run in CLAUDE for file in sorted(run.glob("statusline.jsonl"))]
CODEX: Final = {
    "codex.rollout": sorted(RECORDINGS.glob("codex*/**/rollout*.jsonl")),
    "codex.exec": sorted(
        [*RECORDINGS.glob("codex*/*/stream*.jsonl"), *RECORDINGS.glob("codex*/exec*.jsonl")]
    ),
    "codex.app_server": sorted(RECORDINGS.glob("codex*/appserver*.jsonl")),
    "codex.hook": sorted(
        path
        for kind in ("hooks", "notify")
        for path in RECORDINGS.glob(f"codex*/**/{kind}*.jsonl")
        if not path.stem.endswith("-timing")
    ),
}
PI: Final = {
    "pi.session": sorted(
        [*RECORDINGS.glob("pi*/*/session/*.jsonl"), *RECORDINGS.glob("pi-versions/session*.jsonl")]
    ),
    "pi.stream": sorted([*RECORDINGS.glob("pi*/**/stream*.jsonl"), *RECORDINGS.glob("pi*/*/rpc*")]),
}


def name(data: Any) -> str | ReadFault | None:
    found = identify(data)
    return found if found is None or isinstance(found, ReadFault) else found.id


def short(path: Path) -> str:
    return "/".join(path.relative_to(RECORDINGS).parts[:2]) + "/" + path.name[:12]


# -- recordings -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SESSIONS, ids=short)
def test_every_recorded_session_file_is_claudes(path: Path) -> None:
    assert name(path) == "claude.transcript"


@pytest.mark.parametrize("path", STREAMS, ids=short)
def test_a_recorded_stream_is_claudes_unless_it_does_not_say_so(path: Path) -> None:
    says_nothing = "claude-1.0.60" in path.parts  # its frames are also Cursor's
    assert name(path) == (None if says_nothing else "claude.stream")


@pytest.mark.parametrize("path", HOOKS, ids=short)
def test_every_recorded_hook_payload_is_claudes(path: Path) -> None:
    assert {name(line) for line in path.read_bytes().splitlines()} == {"claude.hook"}


@pytest.mark.parametrize("path", STATUS_LINES, ids=short)
def test_every_recorded_status_line_is_claudes(path: Path) -> None:
    assert {name(line) for line in path.read_bytes().splitlines()} == {"claude.status_line"}


@pytest.mark.parametrize(
    ("source_id", "path"),
    [(id_, path) for id_, paths in CODEX.items() for path in paths if id_ != "codex.hook"],
    ids=lambda part: part if isinstance(part, str) else short(part),
)
def test_every_recording_of_codex_is_codexs_unless_it_does_not_say_so(
    source_id: str, path: Path
) -> None:
    says_nothing = path.stem == "rollout_v0.20.0_bare_items_no_usage"  # bare items of the API
    assert name(path) == (None if says_nothing else source_id)


@pytest.mark.parametrize("path", CODEX["codex.hook"], ids=short)
def test_every_recorded_hook_and_notification_of_codex_is_codexs(path: Path) -> None:
    assert {name(line) for line in path.read_bytes().splitlines()} == {"codex.hook"}


@pytest.mark.parametrize(
    ("source_id", "path"),
    [(id_, path) for id_, paths in PI.items() for path in paths],
    ids=lambda part: part if isinstance(part, str) else short(part),
)
def test_every_recording_of_pi_is_pis(source_id: str, path: Path) -> None:
    assert name(path) == source_id


def test_an_answer_of_pi_about_the_session_is_told_alone_and_no_other() -> None:
    lines = [line for path in PI["pi.stream"] for line in path.read_bytes().split(b"\n")]
    answers = [line for line in lines if b'"command":' in line and b'"success":true' in line]
    told = {json.loads(line)["command"]: name(line) for line in answers}
    assert told == {
        "get_state": "pi.rpc",
        "get_session_stats": "pi.rpc",
        "compact": "pi.rpc",
        "prompt": None,
    }


def test_one_notification_of_an_app_server_is_told_by_its_method() -> None:
    (path,) = CODEX["codex.app_server"]
    told = {json.loads(line)["method"]: name(line) for line in path.read_bytes().splitlines()}
    assert told.pop("item/completed") is told.pop("error") is None  # others have their like
    assert set(told.values()) == {"codex.app_server"}


@pytest.mark.parametrize("path", [*HOOKS, *STATUS_LINES], ids=short)
def test_a_log_of_several_payloads_is_no_payload(path: Path) -> None:
    assert name(path) is None


# -- other agents ---------------------------------------------------------------------------------

UUID = "11111111-1111-4111-8111-111111111111"
LOOKALIKES: Final[dict[str, dict[str, Any]]] = {
    "a row of Qwen Code": {
        "uuid": "u1",
        "parentUuid": None,
        "isSidechain": False,
        "sessionId": UUID,
        "timestamp": "2026-06-15T14:40:22.832Z",
        "type": "user",
        "cwd": "w",
        "version": "0.18.1",
        "message": {"role": "user", "parts": []},
    },
    "the first line of Amp's stream": {
        "type": "system",
        "subtype": "init",
        "cwd": "w",
        "session_id": "T-0",
        "tools": [],
        "mcp_servers": [],
    },
    "the header of a session file or stream of Pi, or of what is built on it": {
        "type": "session",
        "version": 3,
        "id": UUID,
        "timestamp": "2026-11-29T18:38:13.620Z",
        "cwd": "w",
    },
    "an event of Copilot's": {
        "type": "assistant.message",
        "data": {"content": "text", "outputTokens": 3},
        "id": UUID,
        "timestamp": "2026-11-29T18:38:13.620Z",
        "parentId": None,
    },
    "the first line of Cursor's stream": {
        "type": "system",
        "subtype": "init",
        "apiKeySource": "login",
        "cwd": "w",
        "session_id": UUID,
        "model": "Claude 4 Sonnet",
        "permissionMode": "default",
    },
    "a hook of Codex whose folder was moved": {
        "session_id": UUID,
        "transcript_path": f"h/codex/2026/11/29/rollout-{UUID}.jsonl",
        "cwd": "w",
        "hook_event_name": "SessionStart",
        "model": "gpt-5.5",
        "permission_mode": "default",
        "source": "startup",
    },
    "a line of another agent's JSON-RPC": {
        "jsonrpc": "2.0",
        "method": "session/progress",
        "params": {"sessionId": UUID, "update": {"sessionUpdate": "usage_update", "used": 1}},
    },
    "a status line of Cursor": {
        "session_id": UUID,
        "transcript_path": f"h/.cursor/projects/w/agent-transcripts/{UUID}/{UUID}.jsonl",
        "model": {"id": "default", "display_name": "Auto"},
        "workspace": {"current_dir": "w"},
        "version": "2026.08.11-e8db854",
        "context_window": {"context_window_size": 256000, "used_percentage": 16.7},
    },
    "a status line of Grok": {
        "schema_version": 1,
        "session_id": UUID,
        "transcript_path": f"h/.grok/sessions/w/{UUID}/updates.jsonl",
        "model": {"id": "grok-4.5"},
        "workspace": {"current_dir": "w"},
        "version": "0.2.112",
        "cost": {"total_cost_usd": 0.1},
        "context_window": {"context_window_size": 500000, "context_tokens": 40000},
    },
}


@pytest.mark.parametrize("row", LOOKALIKES.values(), ids=LOOKALIKES.keys())
def test_what_only_looks_like_one_agents_is_left_in_doubt(row: dict[str, Any]) -> None:
    raw = json.dumps(row).encode()
    assert name(raw) is None
    assert name(raw + b"\n" + raw) is None


# -- claims ---------------------------------------------------------------------------------------


def claims_all(row: Mapping[str, Any]) -> bool:
    return bool(row)


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> list[Source]:
    """A table of sources to fill; each claims everything."""
    table: list[Source] = []

    def listed() -> Iterator[Source]:
        return iter(table)

    monkeypatch.setattr(room, "sources", listed)
    return table


def test_two_claims_are_a_doubt(sources: list[Source]) -> None:
    row = {"type": "user"}
    transcript = evolve(registry.find("claude.transcript"), recognise=claims_all)
    sources.append(transcript)
    assert claimant([row]) is transcript
    sources.append(evolve(registry.find("claude.stream"), recognise=claims_all))
    assert claimant([row]) is None


def test_a_source_without_a_recogniser_claims_nothing(sources: list[Source]) -> None:
    sources.append(evolve(registry.find("claude.transcript"), recognise=None))
    assert claimant([{"type": "user"}]) is None


def test_a_payload_stands_alone(sources: list[Source]) -> None:
    hook = evolve(registry.find("claude.hook"), recognise=claims_all)
    sources.append(hook)
    assert claimant([{"a": 1}]) is hook
    assert claimant([{"a": 1}, {"a": 2}]) is None


def test_one_recognised_row_among_unknown_ones_is_enough() -> None:
    row = json.loads(SESSIONS[0].read_bytes().splitlines()[4])
    assert claimant([{"type": "of tomorrow"}, row, {}]) is registry.find("claude.transcript")


def test_no_rows_are_nobodys() -> None:
    assert claimant([]) is None
    assert name(b"") is None


# -- reading --------------------------------------------------------------------------------------


def test_a_payload_may_be_printed_over_many_lines() -> None:
    payload = json.loads(STATUS_LINES[0].read_bytes().splitlines()[-1])
    assert name(json.dumps(payload, indent=2).encode()) == "claude.status_line"


def test_a_payload_may_be_longer_than_what_is_looked_at_of_a_file() -> None:
    payload = json.loads(HOOKS[0].read_bytes().splitlines()[-1])
    raw = json.dumps({**payload, "prompt": "x" * 200_000}).encode()
    assert name(raw) == "claude.hook"


def test_the_first_rows_tell_when_the_last_ones_do_not() -> None:
    session = SESSIONS[0].read_bytes()
    row = json.dumps({"type": "of tomorrow", "text": "x" * 1000}).encode() + b"\n"
    assert name(session + 100 * row) == "claude.transcript"


def test_a_last_line_longer_than_what_is_looked_at_is_passed_over() -> None:
    session = SESSIONS[0].read_bytes()
    assert name(session + b'{"text": "' + b"x" * 200_000) == "claude.transcript"


def test_the_last_rows_tell_when_the_first_ones_do_not() -> None:
    row = json.dumps({"type": "of tomorrow", "text": "x" * 1000}).encode() + b"\n"
    assert name(100 * row + SESSIONS[0].read_bytes()) == "claude.transcript"


def test_a_file_object_is_read_and_stays_open() -> None:
    with SESSIONS[0].open("rb") as file:
        assert name(file) == "claude.transcript"
        assert not file.closed


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    assert name(tmp_path / "absent.jsonl") is ReadFault.ABSENT
    assert name(tmp_path) is ReadFault.UNREADABLE


class Flickering(io.BytesIO):
    """A file that can be read *reads* times and not once more, like a lost network share."""

    def __init__(self, content: bytes, reads: int) -> None:
        super().__init__(content)
        self.reads = reads

    def seek(self, offset: int, whence: int = 0) -> int:
        if self.reads < 0:
            raise OSError
        return super().seek(offset, whence)

    def read(self, size: int | None = -1) -> bytes:
        self.reads -= 1
        if self.reads < 0:
            raise OSError
        return super().read(size)


def test_a_file_that_is_lost_between_its_end_and_its_beginning_is_named() -> None:
    rows = b'{"a": 1}\n{"a": 2}\n'
    assert name(Flickering(rows, reads=1)) is ReadFault.UNREADABLE
    assert name(Flickering(rows, reads=2)) is None


def test_a_file_that_cannot_be_opened_again_is_named() -> None:
    gone = Flickering(b'{"a": 1}\n{"a": 2}\n', reads=1)
    read = gone.read

    def read_and_lose(size: int | None = -1) -> bytes:
        try:
            return read(size)
        finally:
            gone.reads = -1

    gone.read = read_and_lose  # type: ignore[method-assign]
    assert name(gone) is ReadFault.UNREADABLE


def test_only_what_can_be_read_is_an_argument() -> None:
    with pytest.raises(TypeError, match="data: expected"):
        identify(42)  # type: ignore[arg-type]


@given(st.binary(max_size=2000))
def test_garbage_is_nobodys_and_raises_nothing(garbage: bytes) -> None:
    assert name(garbage) in {None, ReadFault.SCHEMA_UNKNOWN}  # Zstandard is told by 4 bytes


@given(st.data())
def test_a_session_cut_anywhere_is_claudes_or_in_doubt(data: st.DataObject) -> None:
    session = SESSIONS[0].read_bytes()
    start = data.draw(st.integers(0, len(session)))
    end = data.draw(st.integers(start, len(session)))
    assert name(session[start:end]) in {"claude.transcript", None}
