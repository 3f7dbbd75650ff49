"""Nothing of a session but numbers, times, versions and model ids comes out of any command.

Sentinels stand in every text, path and id of every recording, and nothing that is printed holds
one, whatever is asked and however wrongly.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command_line import CLAUDE, lines, run

from ctxmeasure import registry
from ctxmeasure.source import StreamSource
from ctxmeasure.testing.planting import MARK, holds_mark, sentinel_for

# The strings that sources decide by. All others are texts, paths, names or ids.
TELLING = frozenset(
    {
        *("type", "subtype", "role", "operation", "stop_reason", "terminal_reason", "trigger"),
        *("hook_event_name", "source", "entrypoint", "userType"),
        *("timestamp", "version", "claude_code_version"),
        *("model", "modelId", "requestedModel", "canonicalModel", "from_model", "to_model"),
        *("method", "status", "cli_version", "codexErrorInfo"),
    }
)
RECORDED = [
    path
    for agent in ("claude*/*", "codex*")
    for path in sorted(CLAUDE.parent.glob(f"{agent}/**/*.jsonl"))
    if not path.name.endswith("-timing.jsonl")
]


class Planter:
    """Puts a sentinel in the place of every text, the same one for the same text."""

    def __init__(self) -> None:
        self.planted: dict[str, str] = {}

    def row(self, value: Any, key: str = "") -> Any:
        match value:
            case dict():
                return {self.key(name): self.row(inner, name) for name, inner in value.items()}
            case list():
                return [self.row(inner, key) for inner in value]
            case str() if key == "transcript_path" and "/.claude/" in value:
                return f"/home/{MARK}/.claude/projects/{MARK}/{self.text(value)}.jsonl"
            case str() if value and key not in TELLING and not value.startswith("claude-"):
                return self.text(value)
        return value

    def key(self, name: str) -> str:
        """Files and rows are also keys of objects."""
        return self.text(name) if "/" in name or len(name) == 36 else name

    def text(self, value: str) -> str:
        return self.planted.setdefault(value, sentinel_for(value, len(self.planted)))


@cache
def planted(path: Path) -> bytes:
    """Return the recording at *path* with nothing but sentinels in it."""
    planter = Planter()
    rows = [planter.row(row) for row in lines(path.read_bytes())]
    assert len(planter.planted) > 2
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


IDS = {
    **dict.fromkeys(("sessionId", "session_id", "thread_id", "thread-id", "threadId"), "session"),
    **dict.fromkeys(("promptId", "prompt_id", "turn_id", "turn-id", "turnId"), "turn"),
    **dict.fromkeys(("agentId", "agent_id"), "agent"),
}


def questions(rows: bytes) -> Iterator[list[str]]:
    """Yield questions about *rows*, with their own ids and with others."""
    found: dict[str, str] = {}
    for row in lines(rows):
        for part in (row, row.get("payload"), row.get("params")):
            if isinstance(part, dict):
                found |= {IDS[key]: part[key] for key in IDS.keys() & part.keys() if part[key]}
    session, turn, agent = (found.get(kind, MARK) for kind in ("session", "turn", "agent"))
    yield []
    yield ["--session", session, "--turn", turn, "--phase", "active"]
    yield ["--session", session, "--agent", agent, "--phase", "terminal"]
    yield ["--session", f"{MARK}-x", "--turn", f"{MARK}-y", "--agent", f"{MARK}-z"]
    yield ["--limit", "100", "--max-bytes", "5000"]


def name(path: Path) -> str:
    return "/".join(path.relative_to(CLAUDE.parent).parts[:2]) + "/" + path.name[:12]


KINDS = {
    "claude": {"hooks": "hook", "statusline": "status_line", "stream": "stream"},
    "codex": {
        "stream": "exec",
        "exec": "exec",
        "appserver": "app_server",
        "hooks": "hook",
        "notify": "hook",
    },
}
FILES = {"claude": "transcript", "codex": "rollout"}


def source_of(path: Path) -> str:
    agent = path.relative_to(CLAUDE.parent).parts[0].partition("-")[0]
    kind = path.stem.partition("-")[0].partition("_")[0]
    return f"{agent}.{KINDS[agent].get(kind, FILES[agent])}"


def pieces(path: Path, content: bytes) -> list[bytes]:
    """Return what is read at once: a payload is one line of its recording."""
    is_log = source_of(path) in {"claude.hook", "claude.status_line", "codex.hook"}
    return content.splitlines() if is_log else [content]


def check(*arguments: str | Path, stdin: bytes | None = None) -> str:
    """Run a command line, see that it tells nothing, and return its standard output."""
    result = run(*arguments, stdin=stdin)
    assert not holds_mark(result.stdout + result.stderr)
    assert "Traceback" not in result.output
    return result.stdout


def told(stdout: str) -> dict[str, Any]:
    """Return what an observation says, without what its reading cost."""
    observation: dict[str, Any]
    (observation,) = lines(stdout)
    for cost in ("bytes_read", "rows_decoded", "rows_skipped", "window_truncated"):
        observation["provenance"].pop(cost, None)
    return observation


@pytest.mark.once
@pytest.mark.parametrize("path", RECORDED, ids=name)
def test_no_question_about_a_file_is_answered_with_a_part_of_it(path: Path, tmp_path: Path) -> None:
    file = tmp_path / MARK / f"{MARK}.jsonl"
    file.parent.mkdir()
    for content in pieces(path, planted(path)):
        file.write_bytes(content)
        for question in questions(content):
            for form in ("--json", "--summary", "--explain"):
                check("observe", source_of(path), file, form, *question)
        check("observe", "auto", file)
        check("observe", "auto", "--explain", stdin=content)


@pytest.mark.parametrize("path", RECORDED, ids=name)
def test_sentinels_change_no_answer(path: Path) -> None:
    at = ("--at", "2026-11-29T20:00:00Z")
    originals = pieces(path, path.read_bytes())
    for original, content in zip(originals, pieces(path, planted(path)), strict=True):
        asked = ("observe", source_of(path), *at)
        assert told(run(*asked, stdin=content).stdout) == told(run(*asked, stdin=original).stdout)


@pytest.mark.parametrize("path", RECORDED, ids=name)
def test_the_wrong_source_tells_nothing_either(path: Path) -> None:
    for source in registry.ids():
        check("observe", source, "--explain", stdin=planted(path))
        check("observe", source, stdin=planted(path)[: len(planted(path)) // 2])


STREAMS = {source.id for source in registry.sources() if isinstance(source, StreamSource)}


@pytest.mark.parametrize("form", ["--summary", "--session=another"])
@pytest.mark.parametrize(
    "path",
    [path for path in RECORDED if source_of(path) in STREAMS],
    ids=name,
)
def test_no_stream_is_answered_with_a_part_of_it(path: Path, form: str) -> None:
    check("stream", source_of(path), stdin=planted(path))
    check("stream", source_of(path), form, stdin=planted(path))


@pytest.mark.parametrize(
    "path",
    [path for path in RECORDED if source_of(path) in {"claude.transcript", "codex.rollout"}],
    ids=name,
)
def test_no_history_holds_a_part_of_its_file(path: Path, tmp_path: Path) -> None:
    file, page = tmp_path / f"{MARK}.jsonl", tmp_path / "page.html"
    file.write_bytes(planted(path))
    asked = ("history", file, "--source", source_of(path))
    check(*asked)
    check(*asked, "--json")
    check(*asked, "--session", f"{MARK}-x", "--agent", f"{MARK}-y")
    check(*asked, "--html", page)
    assert not holds_mark(page.read_text(encoding="utf-8"))


def test_a_file_that_is_not_there_is_not_named(tmp_path: Path) -> None:
    absent = tmp_path / MARK
    for form in ("--json", "--summary", "--explain"):
        check("observe", "claude.transcript", absent, form)
        check("observe", "auto", absent, form)
        check("observe", "claude.hook", tmp_path / "a" / MARK, form)
    check("history", absent)
    check("history", absent, "--html", tmp_path / MARK / "page.html")


def test_a_model_that_is_not_known_is_not_repeated() -> None:
    for client in ("claude", "codex", "pi"):
        check("models", MARK, "--client", client)
        check("models", f"{MARK}[1m]", "--client", client, "--provider", MARK, "--json")


def test_the_sentinels_would_be_seen() -> None:
    path = next(path for path in RECORDED if source_of(path) == "claude.transcript")
    text = planted(path).decode()
    row = json.loads(path.read_bytes().splitlines()[2])
    for field in ("uuid", "sessionId", "cwd", "gitBranch", "promptId"):
        assert str(row[field]) not in text
    assert "/home/dev" not in text
