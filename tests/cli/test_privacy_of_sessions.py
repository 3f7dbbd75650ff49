"""No word of a session comes out of the commands that find sessions, watch, check and explain them.

Every text, path and id of the recordings is a sentinel, the folders that the agents work and keep
their sessions in too, and every command looks at the whole home. The name of a project is the one
thing that is shown, where names are not hidden.
"""

from __future__ import annotations

import io
import json
import logging
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from homes import RECORDINGS, Home

from ctxmeasure.cli import watch
from ctxmeasure.cli.commands import ctxmeasure
from ctxmeasure.cli.named import names_completed
from ctxmeasure.testing.planting import MARK, Planter, holds_mark

pytestmark = pytest.mark.once

# What says how a row is to be read.
KEPT = frozenset(
    {
        *("type", "subtype", "role", "timestamp", "method", "status", "trigger", "source"),
        *("model", "requestedModel", "modelId", "provider", "version", "cli_version"),
        *("stop_reason", "stopReason", "reason", "terminal_reason", "codexErrorInfo"),
    }
)
PROJECT = f"{MARK}-project"
VARIABLES = {
    "CLAUDE_CONFIG_DIR": ".claude",
    "CODEX_HOME": ".codex",
    "PI_CODING_AGENT_DIR": ".pi/agent",
}


def placed(value: Any, *, folder: str) -> Any:
    """Return decoded JSON in which the agent works in *folder*."""
    match value:
        case dict():
            return {
                key: folder if key == "cwd" else placed(inner, folder=folder)
                for key, inner in value.items()
            }
        case list():
            return [placed(inner, folder=folder) for inner in value]
    return value


def plant(path: Path) -> None:
    """Put sentinels into the session file at *path*."""
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    planted = placed(Planter(KEPT).plant(rows), folder=f"/home/{MARK}/{PROJECT}")
    path.write_text("".join(json.dumps(row) + "\n" for row in planted))


@pytest.fixture(params=["their usual folders", "folders of their own"])
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with a session of every recorded run, in folders that are named by a sentinel."""
    home = Home(tmp_path / MARK / "home")
    monkeypatch.setenv("HOME", str(home.path))
    for variable, below in VARIABLES.items():
        if request.param == "folders of their own":
            monkeypatch.setenv(variable, str(home.path / below))
        else:
            monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("PI_CODING_AGENT_SESSION_DIR", raising=False)
    for file in sorted(RECORDINGS.glob("claude/*/session/*.jsonl")):
        home.claude(file.parts[-3], f"{MARK}-{file.parts[-3]}", project=f"-home-{MARK}")
    for run_name in sorted({path.parts[-3] for path in RECORDINGS.glob("codex/*/session/*")}):
        home.codex(run_name)
    for run_name in sorted({path.parts[-3] for path in RECORDINGS.glob("pi/*/session/*.jsonl")}):
        home.pi(run_name)
    for path in home.written:
        plant(path)
    chat = home.cursor_chat()
    (chat.parent / "meta.json").write_text(json.dumps({"cwd": f"/home/{MARK}/{PROJECT}"}))
    home.cursor_ide(
        {"composerId": MARK, "name": MARK, "lastUpdatedAt": 1_795_953_600_000},
        documents={MARK: {"composerId": MARK, "contextTokensUsed": 9, "contextTokenLimit": 10}},
    )
    return home


def told(*arguments: str | Path) -> str:
    """Run a command line and return all that it says."""
    result = run(*arguments)
    assert result.exit_code in {0, 1, 3}
    assert "Traceback" not in result.output
    return result.stdout + result.stderr


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    screen = Screen()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", screen)
        patched.setattr(sys, "stderr", screen)
        patched.setenv("TERM", "xterm-256color")
        patched.setenv("COLUMNS", "200")
        ctxmeasure([*arguments], standalone_mode=False)
    return screen.getvalue()


LISTS = [["sessions"], ["sessions", "--json"], ["doctor"], ["doctor", "--json"]]


@pytest.fixture
def once(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every file of the home be written to, once."""

    def events(_: object) -> Iterator[set[str] | None]:
        for path in home.written:
            with path.open("ab") as file:
                file.write(f'{{"type":"{MARK}"}}\n'.encode())
        home.claude("h-tui-1m", name=f"{MARK}-new", project=f"-home-{MARK}")
        plant(home.written[-1])
        yield {str(path) for path in home.written}
        home.written[0].unlink()
        yield None
        raise KeyboardInterrupt

    monkeypatch.setattr(watch, "file_events", events)
    monkeypatch.setattr("time.sleep", lambda _: None)


@pytest.mark.parametrize("more", [[], ["--all", "--subagents", "--sort", "pressure"]])
def test_no_list_of_sessions_holds_a_word_of_one(
    home: Home, more: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for command, *form in LISTS:
        hidden = ["--no-names", *more] if command == "sessions" else []
        said = told(command, *form, *hidden)
        assert said.count("claude") + said.count("Claude") > 0
        assert not holds_mark(said)
        if "--json" not in form:
            assert not holds_mark(on_a_terminal(monkeypatch, command, *hidden))
    assert not holds_mark(caplog.text)
    assert len(home.written) > 10


@pytest.mark.usefixtures("home")
def test_of_a_project_its_name_alone_is_shown() -> None:
    said = told("sessions", "--all", "--subagents")
    assert said.count(f"\t{PROJECT}\t") > 10
    assert not holds_mark(said.replace(f"\t{PROJECT}\t", ""))
    said = told("sessions", "--all", "--subagents", "--json")
    assert not holds_mark(said.replace(f'"project":"{PROJECT}"', ""))


@pytest.mark.usefixtures("once")
@pytest.mark.parametrize("form", [[], ["--json"], ["--subagents", "--all"]])
def test_nothing_that_is_watched_is_repeated(
    form: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = told("watch", "--no-names", "--notify-at", "0.001", *form)
    assert "ALERT" in said or '"alert"' in said
    assert not holds_mark(said)
    said = on_a_terminal(monkeypatch, "watch", "--no-names", "--notify-at", "0.001")
    assert not holds_mark(said)


def test_no_session_is_explained_or_checked_with_a_word_of_it(home: Home, tmp_path: Path) -> None:
    files = {path: "auto" for path in home.written if path.suffix == ".jsonl"}
    stores = dict.fromkeys(home.path.rglob("store.db"), "cursor.chat_store")
    stores |= dict.fromkeys(home.path.rglob("state.vscdb"), "cursor.composer")
    for path, source in {**files, **stores}.items():
        for asked in ([], ["--session", MARK], ["--limit", "7", "--model", "claude-opus-4-8"]):
            said = told("explain", path, "--source", source, *asked)
            said += told("check", source, path, "--max", "50", *asked)
            assert not holds_mark(said)
    for one in json.loads(told("sessions", "--json", "--no-names", "--all", "--subagents")):
        named = f"@{one['id']}"
        said = told("explain", named) + told("check", "auto", named, "--max", "50")
        assert not holds_mark(said + told("observe", "auto", named))
    for name in (MARK, f"{MARK}\0", f"{'n' * 5_000}{MARK}", str(home.path)):
        path = tmp_path / name
        for source in ("auto", "claude.transcript", "cursor.composer"):
            said = told("explain", path, "--source", source)
            assert not holds_mark(said + told("check", source, path, "--max", "50"))


def test_no_history_no_page_and_no_picture_holds_a_word(home: Home, tmp_path: Path) -> None:
    drawn = [tmp_path / f"report.{form}" for form in ("html", "svg", "png")]
    options = [str(part) for path in drawn for part in (f"--{path.suffix[1:]}", path)]
    files = [path for path in home.written if path.suffix == ".jsonl"]
    for path in files:
        said = told("history", path) + told("history", path, "--json")
        assert not holds_mark(said)
    assert not holds_mark(told("history", "@claude") + told("history", "@pi", "--json"))
    for path in (files[0], home.path / MARK):
        said = told("history", path, *options)
        said += "".join(path.read_bytes().decode("latin-1") for path in drawn)
        assert not holds_mark(said)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("typed", [f"@{MARK}", "@", "@0", "@a", "@cursor"])
def test_no_name_of_a_session_is_refused_or_completed_with_a_word_of_one(typed: str) -> None:
    for arguments in (
        ("history", typed),
        ("explain", typed, "--session", MARK),
        ("observe", "text", typed),
        ("check", "acp.session", typed, "--max", "1"),
    ):
        result = run(*arguments)
        assert result.exit_code in {0, 2, 3}
        assert not holds_mark(result.output)
    offered = names_completed(typed[:1])
    assert len(offered) > 10
    assert not any(holds_mark(f"{offer.value} {offer.help}") for offer in offered)


# -- hostile names --------------------------------------------------------------------------------

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script></title></svg><!--",
    "\x1b]0;evil\x07\x1b[2J",
    "a\nb\tc\rd\x00e",
    "\u202egnp.exe\u2066\u2028",
    "\ud800lone",
    "$policy ${style} {} %s",
    "[red]rich[/red] :boom:",
    "x" * 100_000,
]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_what_a_session_calls_itself_commands_no_terminal_and_no_browser(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path / "home")
    monkeypatch.setenv("HOME", str(home.path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    for number, key in enumerate(("model", "cwd", "version")):
        path = home.claude(name=str(number))
        named = f"/{name.replace('/', chr(92))}" if key == "cwd" else name
        rows = [json.loads(line) for line in path.read_bytes().splitlines()]
        for row in rows:
            for value in (row, row.get("message")):
                if isinstance(value, dict) and key in value:
                    value[key] = named
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = tmp_path / "page.html"
    said = "".join(told(*form) for form in LISTS)
    for path in home.written:
        source = ("--source", "claude.transcript")
        said += told("explain", path, *source) + told("history", path, *source)
        said += told("history", path, *source, "--json")
        said += told("check", "claude.transcript", path, "--max", "50")
        told("history", path, *source, "--html", page)
        written = page.read_text(encoding="utf-8")
        assert all(text not in written for text in ("<script>alert", "<img", "<!--", "\x1b"))
        assert written.count("</script>") == 2
        assert len(written) < 100_000
    assert {char for char in said if not char.isprintable()} <= {"\n", "\t"}
    widths = [len(line.split("\t")) for line in told("sessions").splitlines()]
    assert {*widths} == {7}
    drawn = on_a_terminal(monkeypatch, "sessions")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", drawn)
    assert {char for char in plain if not char.isprintable()} <= {"\n"}
