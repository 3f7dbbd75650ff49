"""A session by its name in the place of FILE: ``@ID``, ``@AGENT`` and ``@`` alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import lines, run
from homes import Home

from ctxmeasure.cli import named, options
from ctxmeasure.discover import Session, find_sessions

MS = 1_795_953_600_000  # a moment, in milliseconds since 1970
DOCUMENT = {
    "composerId": "chat-1",
    "lastUpdatedAt": MS,
    "contextTokensUsed": 9,
    "contextTokenLimit": 10,
    "fullConversationHeadersOnly": [{"bubbleId": "b", "type": 1}],
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Home(tmp_path / "home")


def id_of(path: Path) -> str:
    """Return the id of the session at *path*."""
    (found,) = (one for one in every() if Path(one.handle.path) == path)
    return found.handle.id


def every() -> tuple[Session, ...]:
    found = find_sessions(subagents=True)
    return found.sessions + found.subagents


def commands(name: str) -> Iterator[tuple[str, ...]]:
    yield "explain", name
    yield "check", "auto", name, "--max", "85"
    yield "observe", "auto", name
    yield "history", name


def refused(*arguments: str) -> str:
    """Return what is said of a command that was called wrongly."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    return " ".join(result.stderr.partition("Error: ")[2].split())


# -- which session --------------------------------------------------------------------------------


def test_an_id_means_its_session_in_every_command_that_takes_a_file(home: Home) -> None:
    paths = [home.claude(), home.claude("h-tui-1m", "other"), home.codex(), home.pi()]
    for path in paths:
        for typed in (id_of(path), id_of(path)[: named.ID_SHOWN]):
            for by_path, by_name in zip(commands(str(path)), commands(f"@{typed}"), strict=True):
                expected, told = run(*by_path), run(*by_name)
                assert told.exit_code == expected.exit_code
                if "explain" not in by_path:  # it tells how old a sample is
                    assert told.output == expected.output
                else:
                    assert told.stdout.partition("\n")[0] == expected.stdout.partition("\n")[0]


def test_what_is_listed_can_be_asked_for(home: Home) -> None:
    home.claude(minutes=2)
    home.codex("f-subagent", minutes=1)
    _, *rows = (line.split("\t") for line in run("sessions", "--subagents").stdout.splitlines())
    assert len(rows) == 3
    for shown, *_, context, _, _ in rows:
        assert run("check", "auto", f"@{shown}", "--max", "85").stdout == f"Context: {context}\n"


def test_an_agents_name_means_its_newest_session_and_none_the_newest_of_all(home: Home) -> None:
    home.claude("h-tui-1m", "old", minutes=9)
    claude, codex = home.claude(minutes=3), home.codex(minutes=2)
    assert run("observe", "auto", "@claude").stdout == run("observe", "auto", claude).stdout
    for name in ("@codex", "@"):
        assert run("observe", "auto", name).stdout == run("observe", "auto", codex).stdout


def test_the_newest_session_of_an_agent_is_no_subagents(home: Home) -> None:
    main = home.claude(minutes=5)
    home.claude(name="agent-1", minutes=1)
    assert run("observe", "auto", "@claude").stdout == run("observe", "auto", main).stdout


def test_a_subagents_file_is_asked_for_its_subagent(home: Home) -> None:
    name = "agent-ad1c511.jsonl"
    path = home.copy(f"claude-2.0.76/f-subagent/session/{name}", f".claude/projects/p/{name}")
    asked = f"@{id_of(path)}"
    assert run("observe", "auto", asked, "--summary").stdout == "Context: 0% (7/200K)\n"
    assert "Context" in run("check", "auto", asked, "--max", "85").stdout
    by_path = run("history", path, "--agent", "ad1c511", "--json")
    assert by_path.exit_code == 0
    assert run("history", asked, "--json").stdout == by_path.stdout
    assert run("history", asked, "--agent", "another").exit_code == 3
    assert run("observe", "auto", asked, "--agent", "another").exit_code == 3


def test_a_chat_in_a_database_of_many_is_asked_for_by_its_id(home: Home) -> None:
    home.cursor_ide(
        {"type": "head", "composerId": "chat-0", "lastUpdatedAt": MS - 9},
        {"type": "head", "composerId": "chat-1", "lastUpdatedAt": MS},
        documents={"chat-1": DOCUMENT},
    )
    newest, _ = (session.handle.id for session in every())
    for name in (newest, "cursor"):
        (seen,) = lines(run("observe", "cursor.composer", f"@{name}").stdout)
        assert seen["value"]["used_tokens"] == 9
        assert run("check", "auto", f"@{name}", "--max", "80").exit_code == 1
        assert run("explain", f"@{name}").stdout.startswith("9 tokens are in use")
    assert "no session file" in refused("history", f"@{newest}")


def test_the_rest_of_the_question_is_asked_too(home: Home) -> None:
    path = home.claude("g-unknown-model")
    for asked in (
        ("--limit", "100000"),
        ("--model", "claude-opus-4-6[1m]"),
        ("--max-bytes", "9"),
        ("--phase", "active", "--turn", "another"),
        ("--max-age", "1", "--turn-started-at", "2026-11-29T18:00:00Z"),
    ):
        by_path = run("observe", "auto", path, "--at", "2026-11-30T12:00:00Z", *asked)
        by_name = run("observe", "auto", "@", "--at", "2026-11-30T12:00:00Z", *asked)
        assert (by_name.exit_code, by_name.output) == (by_path.exit_code, by_path.output)


def test_a_page_never_takes_the_place_of_a_session_that_was_named(home: Home) -> None:
    path = home.claude()
    before = path.read_bytes()
    assert "take the place of FILE" in refused("history", "@claude", "--html", str(path))
    assert path.read_bytes() == before


def test_a_file_that_is_named_so_is_reached_by_its_folder(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home.claude()
    monkeypatch.chdir(tmp_path)
    for name in ("@x", "@claude", "@"):
        path.rename(tmp_path / name)
        path = tmp_path / name
        assert run("check", "auto", f"./{name}", "--max", "85").exit_code == 0
        assert run("check", "auto", path, "--max", "85").exit_code == 0


# -- no session, or several -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["@", "@pi"])
def test_where_there_is_no_session_it_is_said_where_to_look(home: Home, name: str) -> None:
    if name == "@pi":
        home.claude()
    for arguments in commands(name):
        assert "`ctxmeasure doctor` says where was looked" in refused(*arguments)


@pytest.mark.parametrize("name", ["@00000000000000000", "@0123456789ab"])
def test_an_id_of_no_session_is_refused(home: Home, name: str) -> None:
    home.claude()
    for arguments in commands(name):
        said = refused(*arguments)
        assert "no session has an ID that begins so" in said
        assert "./@..." in said
        assert name[1:] not in said


@pytest.mark.parametrize("name", ["@secret", "@Claude", "@cl", "@\u0661", "@ ", "@@", "@-"])
def test_what_can_be_no_name_is_refused_without_looking(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(named, "_found", None)
    for arguments in commands(name):
        said = refused(*arguments)
        assert "one of claude, codex, cursor, pi, or nothing" in said
        assert "secret" not in said


def test_a_beginning_that_several_have_asks_for_more(home: Home) -> None:
    paths = [home.claude(name=str(number)) for number in range(17)]  # of 16 digits
    ids = [id_of(path) for path in paths]
    shared = next(digit for digit, count in Counter(one[0] for one in ids).items() if count > 1)
    for arguments in commands(f"@{shared}"):
        assert "type more digits" in refused(*arguments)
    for mine in ids:
        alone = next(
            mine[:length]
            for length in range(1, len(mine) + 1)
            if sum(other.startswith(mine[:length]) for other in ids) == 1
        )
        assert run("check", "auto", f"@{alone}", "--max", "85").exit_code == 0


def test_a_search_that_is_interrupted_does_not_say_that_a_context_is_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(**_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ctxmeasure.discover.find_sessions", interrupted)
    for name in ("@", "@0"):
        assert run("check", "auto", name, "--max", "85").exit_code == 130


# -- what is named beside it ----------------------------------------------------------------------


def test_a_source_that_is_named_has_to_be_the_sessions(home: Home) -> None:
    home.claude()
    for source, argument in (("claude.transcript", None), ("codex.rollout", "SOURCE")):
        for command in (("observe", source, "@"), ("check", source, "@", "--max", "85")):
            if argument is None:
                assert run(*command).exit_code == 0
            else:
                assert refused(*command).startswith("Invalid value for 'SOURCE': ")
    for name in ("explain", "history"):
        assert run(name, "@", "--source", "claude.transcript").exit_code == 0
        assert refused(name, "@", "--source", "text").startswith("Invalid value for '--source': ")


def test_an_agents_own_id_beside_it_is_refused(home: Home) -> None:
    home.claude()
    for arguments in commands("@"):
        said = refused(*arguments, "--session", "secret")
        assert said == "Invalid value for '--session': leave it out: FILE names the session."


# -- completion -----------------------------------------------------------------------------------


def offers(typed: str) -> list[tuple[str, str]]:
    unused: Any = None
    found = options.completed_by_files_and_names(unused, unused, typed)
    return [(offer.type, offer.value) for offer in found]


def test_a_shell_is_offered_agents_and_ids_behind_an_at(home: Home) -> None:
    shown = [id_of(home.claude())[: named.ID_SHOWN], id_of(home.codex())[: named.ID_SHOWN]]
    agents = ["claude", "codex", "cursor", "pi"]
    assert {value for _, value in offers("@")} == {f"@{name}" for name in (*agents, *shown)}
    assert offers("@pi") == [("plain", "@pi")]
    assert offers(f"@{shown[0]}") == [("plain", f"@{shown[0]}")]
    assert offers("~/.cl") == [("file", "~/.cl")]
