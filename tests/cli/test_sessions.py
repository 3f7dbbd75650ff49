"""``ctxmeasure sessions``: what people, pipes and programs see of the sessions on a machine."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

import pytest
from command_line import run, run_process
from homes import Home
from rich.console import Console

import ctxmeasure as cm
from ctxmeasure.cli import sessions
from ctxmeasure.cli.commands import ctxmeasure
from ctxmeasure.cli.overview import Look, Order, Seen, age, cells, ordered, share, table
from ctxmeasure.discover import Handle, Session, find_sessions

NOW = datetime.now(UTC).replace(microsecond=0)
LOOK = Look(names=True, order=Order.NEWEST, yellow=70.0, red=85.0)


class Clock(datetime):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        assert tz is UTC
        return NOW


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    path = tmp_path / "home"
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(path))
    monkeypatch.setattr(sessions, "datetime", Clock)
    return Home(path, at=NOW)


@pytest.fixture
def full(home: Home) -> Home:
    """A home with a session of each agent."""
    home.claude(minutes=3)
    home.codex(minutes=2)
    home.pi(minutes=4)
    home.cursor_chat(used=230_000, minutes=1)
    return home


def rows(output: str) -> list[list[str]]:
    return [line.split("\t") for line in output.splitlines()]


# -- for programs ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("full")
def test_elsewhere_than_on_a_terminal_there_is_a_line_for_each_session() -> None:
    result = run("sessions")
    header, *shown = rows(result.stdout)
    assert header == ["id", "agent", "project", "model", "context", "age", "grade"]
    without_age = [[*row[1:5], row[6]] for row in shown]
    assert without_age == [
        ["cursor", "shop", "composer-2.5", "90% (230K/256K)", "derived"],
        ["codex", "project", "gpt-5.5", "5% (13K/258K)", "exact"],
        ["claude", "project", "claude-sonnet-4-5-20250929", "8% (16K/200K)", "inferred"],
        ["pi", "project", "mock-claude", "16K", "missing: model_unknown"],
    ]
    assert [shown[0][5], shown[3][5]] == ["1m", "4m"]  # the age of a sample, or of the file
    assert all(re.fullmatch("[0-9a-f]{6}", row[0]) for row in shown)
    assert len({row[0] for row in shown}) == 4
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.usefixtures("full")
def test_json_is_one_list_with_each_observation_in_its_wire_form() -> None:
    (line,) = run("sessions", "--json").stdout.splitlines()
    cursor, codex, claude, pi = json.loads(line)
    assert [one["agent"] for one in (cursor, codex, claude, pi)] == [
        "cursor",
        "codex",
        "claude",
        "pi",
    ]
    assert (pi["grade"], pi["observation"]["reason"]) == ("missing: model_unknown", "model_unknown")
    assert cm.record.from_dict(claude["observation"]).value.used_tokens == 16_108  # type: ignore[union-attr]
    written_at = (NOW - timedelta(minutes=3)).isoformat(timespec="milliseconds")
    assert claude["written_at"] == written_at.replace("+00:00", "Z")
    assert claude["project"] == "project"
    assert "subagent" not in claude


@pytest.mark.usefixtures("full")
def test_names_can_be_hidden() -> None:
    assert {row[2] for row in rows(run("sessions", "--no-names").stdout)[1:]} == {"-"}
    assert all(
        "project" not in one for one in json.loads(run("sessions", "--no-names", "--json").stdout)
    )


def test_no_path_native_id_or_prompt_is_shown(full: Home) -> None:
    for arguments in ([], ["--json"], ["--subagents", "--all"]):
        said = run("sessions", *arguments).output
        told = [path.stem for path in full.written] + [
            str(full.path),
            "native-chat",
            "Run the tools",
        ]
        assert not any(word in said for word in told if word not in {"s", "store"})
        assert "/home/dev" not in said


def test_control_characters_in_a_name_do_not_reach_anyone(home: Home) -> None:
    path = home.claude()
    path.write_bytes(
        path.read_bytes().replace(b"/home/dev/project", b"/home/x\\u001b[31m\\n\\u202e\\ty")
    )
    said = run("sessions").stdout
    assert "x\ufffd[31m\ufffd\ufffd\ufffdy" in said
    assert not set("\x1b\u202e") & set(said)
    assert len(rows(said)) == 2


def test_a_name_that_the_output_cannot_spell_is_shown_as_far_as_it_can(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home.claude()
    path.write_bytes(
        path.read_bytes().replace(b"/home/dev/project", "/home/caf\u00e9-\u0436".encode())
    )
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1:strict")
    result = run_process("sessions")
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"\tcaf\xe9-?\t" in result.stdout


# -- which ----------------------------------------------------------------------------------------


def agents(*arguments: str) -> list[str]:
    return [row[1] for row in rows(run("sessions", *arguments).stdout)[1:]]


@pytest.mark.usefixtures("full")
def test_agents_can_be_chosen() -> None:
    assert agents("--agent", "pi") == ["pi"]
    assert agents("--agent", "pi", "--agent", "codex") == ["codex", "pi"]


@pytest.mark.usefixtures("full")
def test_since_is_a_duration() -> None:
    assert agents("--since", "150s") == ["cursor", "codex"]
    assert agents("--since", "2.5m") == ["cursor", "codex"]
    assert len(agents("--since", "1h")) == len(agents("--since", "1d")) == 4
    assert run("sessions", "--since", "0").exit_code == 3
    assert len(agents("--since", "999999d")) == 4  # before there were years


@pytest.mark.usefixtures("full")
def test_only_the_newest_are_shown_and_the_rest_is_counted() -> None:
    result = run("sessions", "--newest", "1")
    assert len(rows(result.stdout)) == 2
    assert result.stderr == "ctxmeasure: 3 older ones are not shown; see --newest and --all.\n"
    assert run("sessions", "--newest", "3").stderr == (
        "ctxmeasure: 1 older one is not shown; see --newest and --all.\n"
    )
    everything = run("sessions", "--newest", "1", "--all")
    assert (len(rows(everything.stdout)), everything.stderr) == (5, "")


@pytest.mark.usefixtures("full")
def test_they_can_be_sorted() -> None:
    assert agents("--sort", "pressure") == ["cursor", "claude", "codex", "pi"]
    assert agents("--sort", "agent") == ["claude", "codex", "cursor", "pi"]
    assert agents("--sort", "newest") == ["cursor", "codex", "claude", "pi"]


def test_subagents_are_apart_unless_they_are_asked_for(home: Home) -> None:
    home.codex("f-subagent")
    assert agents() == ["codex"]
    assert agents("--subagents") == ["codex", "codex sub-agent"]
    found = json.loads(run("sessions", "--subagents", "--json").stdout)
    assert [one.get("subagent") for one in found] == [None, True]


@pytest.mark.usefixtures("home")
def test_a_home_without_sessions_is_told() -> None:
    result = run("sessions")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == (
        "ctxmeasure: no session was found; `ctxmeasure doctor` says where was looked.\n"
    )
    assert run("sessions", "--json").stdout == "[]\n"


@pytest.mark.usefixtures("full")
def test_that_none_is_so_young_is_told_apart_from_there_being_none() -> None:
    result = run("sessions", "--since", "0")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == ("ctxmeasure: no session was written to in that time; see --since.\n")


def test_a_folder_that_cannot_be_listed_is_told(home: Home) -> None:
    home.claude()
    (home.path / ".codex").mkdir()
    (home.path / ".codex/sessions").write_text("no folder")
    result = run("sessions")
    assert result.exit_code == 0
    assert result.stderr == (
        "ctxmeasure: some folders cannot be listed; `ctxmeasure doctor` says where.\n"
    )


@pytest.mark.usefixtures("full")
def test_a_budget_that_ended_early_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = cm.discover.ListingBudget(names=1)
    monkeypatch.setattr(
        sessions, "find_sessions", lambda **asked: find_sessions(**asked, budget=budget)
    )
    assert "there is more than was looked at" in run("sessions").stderr


@pytest.mark.parametrize(
    ("option", "typed", "expected"),
    [
        ("--since", "soon", "a duration such as 90s, 15m, 2h or 7d"),
        ("--since", "-5m", "a duration such as"),
        ("--since", "", "a duration such as"),
        ("--since", "1e99d", "a duration such as"),
        ("--agent", "secret", "one of claude, codex, cursor, pi"),
        ("--newest", "0", "a whole number above 0"),
        ("--sort", "secret", "one of newest, pressure, agent"),
        ("--red-at", "secret", "a percentage above 0"),
        ("--red-at", "inf", "a percentage above 0"),
        ("--yellow-at", "0", "a percentage above 0"),
    ],
)
@pytest.mark.usefixtures("home")
def test_what_is_typed_wrong_is_told_and_not_repeated(
    option: str, typed: str, expected: str
) -> None:
    result = run("sessions", option, typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert expected in result.stderr
    assert "secret" not in result.stderr


# -- on a terminal --------------------------------------------------------------------------------


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Return what a terminal is sent by ``ctxmeasure sessions``."""

    def shown(*arguments: str, **environment: str) -> str:
        written = Screen()
        monkeypatch.setattr(sys, "stdout", written)
        for variable in ("NO_COLOR", "COLUMNS", "FORCE_COLOR"):
            monkeypatch.delenv(variable, raising=False)
        for name, value in {"TERM": "xterm-256color", "COLUMNS": "140", **environment}.items():
            monkeypatch.setenv(name, value)
        ctxmeasure(["sessions", *arguments], standalone_mode=False)
        return written.getvalue()

    return shown


def unstyled(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


RED, YELLOW, GREEN, DIM = "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[2m"


@pytest.mark.usefixtures("full")
def test_a_terminal_gets_a_table_with_a_gauge_and_colours(screen: Callable[..., str]) -> None:
    header, cursor, codex, claude, pi = screen().splitlines()
    assert re.findall(r"\w+", unstyled(header)) == [
        "id", "agent", "project", "model", "context", "age", "grade",
    ]  # fmt: skip
    assert f"{RED}[########--]" in cursor
    assert f"{GREEN}[----------]" in codex
    assert GREEN in claude
    assert DIM in pi
    assert "\t" not in cursor


@pytest.mark.parametrize(
    ("thresholds", "colour"),
    [(("95", "99"), GREEN), (("80", "99"), YELLOW), (("10", "80%"), RED)],
)
@pytest.mark.usefixtures("full")
def test_the_user_says_where_colours_change(
    screen: Callable[..., str], thresholds: tuple[str, str], colour: str
) -> None:
    yellow, red = thresholds
    _, cursor, *_ = screen("--yellow-at", yellow, "--red-at", red).splitlines()
    assert f"{colour}[########--]" in cursor


@pytest.mark.usefixtures("full")
def test_no_color_and_dumb_terminals_get_plain_text(screen: Callable[..., str]) -> None:
    assert "\x1b[3" not in screen(NO_COLOR="1")
    assert "\x1b" not in screen(TERM="dumb")


@pytest.mark.parametrize("columns", range(20, 141, 8))
@pytest.mark.usefixtures("full")
def test_no_line_is_wider_than_the_terminal_and_no_number_is_cut(
    screen: Callable[..., str], columns: int
) -> None:
    lines = unstyled(screen(COLUMNS=str(columns))).splitlines()
    assert max(map(len, lines)) <= columns
    if columns >= 52:
        assert any("90% (230K/256K)" in line for line in lines)


def test_a_name_of_several_words_does_not_cut_a_number(
    home: Home, screen: Callable[..., str]
) -> None:
    path = home.claude("h-tui-1m")
    path.write_bytes(
        path.read_bytes().replace(b"/home/dev/project", b"/home/dev/one of many words")
    )
    for columns in range(40, 141):
        shown = unstyled(screen(COLUMNS=str(columns)))
        assert "25% (250K/1M)" in shown, columns
        assert "inferred" in shown, columns


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (140, ["id", "agent", "project", "model", "context", "age", "grade"]),
        (80, ["id", "agent", "project", "context", "age", "grade"]),
        (66, ["id", "agent", "project", "context", "age", "grade"]),
        (54, ["id", "agent", "context", "age", "grade"]),
        (46, ["id", "agent", "context", "grade"]),
    ],
)
@pytest.mark.usefixtures("full")
def test_a_narrower_terminal_does_without_the_columns_that_matter_least(
    screen: Callable[..., str], columns: int, names: list[str]
) -> None:
    header, *body = unstyled(screen(COLUMNS=str(columns))).splitlines()
    assert header.split() == names
    assert ("[########--]" in body[0]) == (columns >= 80)


@pytest.mark.usefixtures("full")
def test_however_narrow_the_terminal_an_id_can_be_copied(screen: Callable[..., str]) -> None:
    ids = [one["id"][:6] for one in json.loads(run("sessions", "--json").stdout)]
    for columns in (20, 46, 140):
        shown = unstyled(screen(COLUMNS=str(columns)))
        assert all(name in shown.split() for name in ids)


def test_a_long_name_costs_no_session_its_columns(full: Home, screen: Callable[..., str]) -> None:
    path = full.claude(name="long")
    content = path.read_bytes()
    for known, long in ((b"/project", b"/" + b"n" * 300), (b"-20250929", b"m" * 300)):
        assert known in content
        content = content.replace(known, long)
    path.write_bytes(content)
    shown = unstyled(screen(COLUMNS="150"))
    header, *body = shown.splitlines()
    assert header.split() == ["id", "agent", "project", "model", "context", "age", "grade"]
    assert len(body) == 5
    assert sum("…" in line for line in body) == 1
    assert "n" * 300 not in shown


@pytest.mark.usefixtures("full")
def test_names_can_be_hidden_on_a_terminal(screen: Callable[..., str]) -> None:
    assert "project" not in screen("--no-names")


def test_markup_in_a_name_is_shown_as_it_is(home: Home, screen: Callable[..., str]) -> None:
    path = home.claude()
    path.write_bytes(path.read_bytes().replace(b"/home/dev/project", b"/home/dev/[red]x"))
    assert "[red]x" in screen()


@pytest.mark.usefixtures("full")
def test_a_long_scan_shows_its_progress_to_people_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_MANY", 3)
    assert run("sessions").stderr == ""
    told = Screen()
    monkeypatch.setattr(sys, "stderr", told)
    found = find_sessions().sessions
    assert len(sessions._observed(found, NOW, cm.Policy())) == 4
    assert "Reading sessions" in told.getvalue()
    monkeypatch.setattr(sys, "stderr", None)
    assert len(sessions._observed(found, NOW, cm.Policy())) == 4


# -- rows -----------------------------------------------------------------------------------------


def seen(observation: cm.Observation, *, minutes: int = 0, **session: Any) -> Seen:
    facts: dict[str, Any] = {
        "agent": "claude",
        "source": "claude.transcript",
        "modified_at": NOW - timedelta(minutes=minutes),
        "handle": Handle(source="claude.transcript", path="", key=str(minutes)),
    }
    return Seen(Session(**{**facts, **session}), observation)


def missing(reason: str = "compacted") -> cm.Missing:
    provenance = cm.Provenance(adapter="claude", source="claude.transcript")
    return cm.Missing(reason=cm.MissingReason(reason), provenance=provenance)


@pytest.mark.parametrize(
    ("passed", "said"),
    [
        (timedelta(0), "now"),
        (timedelta(seconds=-1), "now"),  # rounding of clocks
        (timedelta(seconds=-5), "future"),
        (timedelta(seconds=59), "59s"),
        (timedelta(seconds=60), "1m"),
        (timedelta(hours=23, minutes=59), "23h"),
        (timedelta(days=400), "400d"),
    ],
)
def test_an_age_is_said_in_one_unit(passed: timedelta, said: str) -> None:
    assert age(passed) == said


def test_what_is_not_known_is_a_dash() -> None:
    row = cells(seen(missing()), LOOK, at=NOW)
    assert [row[name] for name in ("project", "model", "gauge", "context")] == ["-", "-", "", "-"]
    assert share(missing()) is None


def test_of_equally_full_sessions_the_newer_comes_first() -> None:
    one, other = seen(missing(), minutes=5), seen(missing(), minutes=1)
    assert ordered([one, other], Order.PRESSURE) == [other, one]


def test_a_table_without_rows_has_its_header() -> None:
    console = Console(file=io.StringIO(), width=80)
    console.print(table([], LOOK, console, at=NOW))
    assert "agent" in console.file.getvalue()  # type: ignore[attr-defined]
