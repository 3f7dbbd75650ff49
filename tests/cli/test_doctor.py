"""``ctxmeasure doctor``: where was looked, what was found, and what would make it better."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run
from homes import Home

from ctxmeasure.cli import doctor
from ctxmeasure.discover import Machine, System


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    home = Home(tmp_path / "home")
    machine = Machine(system=System.LINUX, home=str(home.path))
    monkeypatch.setattr(doctor, "this_machine", lambda: machine)
    return home


def section(agent: str) -> list[str]:
    _, *sections = run("doctor").stdout.split("\n\n")
    (found,) = (part.splitlines() for part in sections if part.startswith(f"{agent}\n"))
    return [line.strip() for line in found[1:]]


def test_every_agent_has_its_places_counts_grades_and_versions(home: Home) -> None:
    home.codex()
    home.codex("g-unknown-model")
    told = section("Codex")
    assert told[:2] == [
        "~/.codex/sessions: 2 found",
        "~/.codex/archived_sessions: there is no such folder",
    ]
    assert told[2].startswith("sessions: 2, the newest of age ")
    assert told[3:] == ["of the newest 2: 1 exact, 1 derived (medium)", "versions: 0.171.0"]


@pytest.mark.parametrize(
    ("subagents", "said"),
    [
        (0, "sessions: 1, "),
        (1, "sessions: 1 (and 1 of a sub-agent), "),
        (3, "sessions: 1 (and 3 of sub-agents), "),
    ],
)
def test_files_of_subagents_are_told_beside_the_sessions(
    home: Home, subagents: int, said: str
) -> None:
    home.claude()
    for number in range(subagents):
        home.claude(name=f"agent-{number}")
    places, sessions, *_ = section("Claude Code")
    assert places == f"~/.claude/projects: {1 + subagents} found"
    assert sessions.startswith(f"{said}the newest of age ")
    claude, *_ = json.loads(run("doctor", "--json").stdout)["agents"]
    assert (claude["sessions"], claude["subagents"]) == (1, subagents)


def test_claude_is_told_how_to_get_the_exact_window(home: Home) -> None:
    home.claude()
    assert any("status line does" in line for line in section("Claude Code"))
    home.claude("g-unknown-model", "u")
    (reason,) = (
        line for line in section("Claude Code") if "model_unknown" in line and "- " in line
    )
    assert reason.startswith("- model_unknown: The model id is not in the table.")


def test_pi_is_told_that_its_rpc_mode_states_the_window(home: Home) -> None:
    home.pi()
    assert any("pi --mode rpc" in line for line in section("Pi"))


@pytest.mark.usefixtures("home")
def test_nothing_is_advised_where_nothing_was_found() -> None:
    result = run("doctor")
    assert result.exit_code == 3
    assert "- " not in result.stdout
    assert result.stdout.count("there is no such folder") == 10
    assert result.stderr.startswith("ctxmeasure: no session was found. If they are kept elsewhere,")


def test_links_unreadable_folders_and_budgets_are_told(home: Home, tmp_path: Path) -> None:
    home.claude()
    (home.path / ".claude/projects/linked").symlink_to(tmp_path)
    (home.path / ".codex").mkdir()
    (home.path / ".codex/sessions").write_text("no folder")
    assert (
        "- Links in ~/.claude/projects are not followed: 1. Sessions behind them are not seen."
        in section("Claude Code")
    )
    assert section("Codex")[0] == "~/.codex/sessions: it cannot be listed"
    assert (
        section("Codex")[-1]
        == "- Some of ~/.codex/sessions cannot be listed: mend its permissions."
    )


def test_inside_windows_cursors_ide_is_said_to_be_elsewhere(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(system=System.WSL, home=str(home.path))
    monkeypatch.setattr(doctor, "this_machine", lambda: machine)
    assert section("Cursor")[-1].startswith("- Cursor's IDE runs on Windows")
    assert not any("Windows" in line for line in section("Pi"))


def test_json_says_the_same(home: Home) -> None:
    home.claude()
    home.codex()
    told = json.loads(run("doctor", "--json").stdout)
    assert (told["system"], [one["agent"] for one in told["agents"]]) == (
        "linux",
        ["claude", "codex", "cursor", "pi"],
    )
    claude, codex, *_ = told["agents"]
    assert claude["grades"] == {"inferred": 1}
    assert claude["places"][0] == {
        "place": "~/.claude/projects",
        "end": "complete",
        "files": 1,
        "folders_unreadable": 0,
        "links_passed_over": 0,
    }
    assert (codex["versions"], codex["advice"]) == (["0.171.0"], [])


def test_no_path_project_or_id_is_told(home: Home) -> None:
    home.claude(name="secret-session", project="-home-dev-secret")
    home.cursor_chat()
    said = run("doctor").output + run("doctor", "--json").output
    assert not any(
        word in said for word in ("secret", "project\n", "shop", str(home.path), "native")
    )
