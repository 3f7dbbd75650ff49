"""``ctxmeasure watch``: changes as lines, as JSON and as a table, alerts, and a clean end."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import Result
from command_line import COMMAND, run
from homes import Home

from ctxmeasure.cli import watch as module
from ctxmeasure.cli.commands import ctxmeasure
from ctxmeasure.cli.file_events import LOOK_ANEW

NOW = datetime.now(UTC).replace(microsecond=0)

Step = Callable[[], "set[str] | None"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    path = tmp_path / "home"
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(path))
    return Home(path, at=NOW)


@pytest.fixture
def rests(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was rested; nobody waits."""
    rested: list[float] = []
    monkeypatch.setattr("time.sleep", rested.append)
    return rested


@pytest.fixture
def happening(monkeypatch: pytest.MonkeyPatch, rests: list[float]) -> Callable[..., None]:
    """Return what makes things happen, one after the other, and then Ctrl-C."""
    assert rests == []

    def happen(*steps: Step) -> None:
        def events(_: Callable[[], list[str]]) -> Iterator[set[str] | None]:
            for step in steps:
                yield step()
            raise KeyboardInterrupt

        monkeypatch.setattr(module, "file_events", events)

    return happen


def nothing() -> set[str]:
    return set()


def turning_into(path: Path, home: Home, run_name: str) -> Step:
    """Return the step in which the session at *path* is written to by another recording."""

    def step() -> set[str]:
        other = home.claude(run_name, "other")
        with path.open("ab") as file:
            file.write(other.read_bytes())
        other.unlink()
        return {str(path)}

    return step


def rows(result: Result) -> list[list[str]]:
    return [line.split("\t") for line in result.stdout.splitlines()]


# -- lines ----------------------------------------------------------------------------------------


def test_every_session_is_a_line_and_then_every_change(
    home: Home, happening: Callable[..., None], rests: list[float]
) -> None:
    path = home.claude(minutes=1)
    home.codex(minutes=2)
    happening(nothing, turning_into(path, home, "h-tui-1m"), nothing)
    result = run("watch")
    assert [row[4] for row in rows(result)] == [
        "context",
        "8% (16K/200K)",
        "5% (13K/258K)",
        "25% (250K/1M)",
    ]
    assert (result.exit_code, result.stderr, len(rests)) == (0, "", 3)


def test_a_session_that_appears_is_a_line(home: Home, happening: Callable[..., None]) -> None:
    def appears() -> set[str] | None:
        home.claude()
        return LOOK_ANEW

    happening(nothing, appears)
    assert len(rows(run("watch"))) == 2


def test_changes_can_be_lines_of_json(home: Home, happening: Callable[..., None]) -> None:
    path = home.claude()
    happening(turning_into(path, home, "h-tui-1m"))
    told = [
        json.loads(line) for line in run("watch", "--json", "--notify-at", "20").stdout.splitlines()
    ]
    assert [one["observation"]["value"]["used_tokens"] for one in told] == [
        16_108,
        250_010,
        250_010,
    ]
    assert [one.get("alert") for one in told] == [None, None, 20.0]


def test_the_round_and_its_rest_are_a_thirtieth_of_a_core(
    home: Home, happening: Callable[..., None], rests: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    home.claude()
    taken = iter([0.0, 0.02, 1.0, 9.0])
    monkeypatch.setattr("time.thread_time", lambda: next(taken))
    happening(nothing, nothing)
    run("watch")
    assert rests == [pytest.approx(0.6), 5.0]


# -- alerts ---------------------------------------------------------------------------------------


def alerts(result: Result) -> list[str]:
    """Return the alerts, with the ID that every one has replaced by ``@ID``."""
    said = [line for line in result.stdout.splitlines() if line.startswith("ALERT")]
    return [re.sub("@[0-9a-f]{6} ", "@ID ", line) for line in said]


def test_a_session_that_reaches_the_line_is_announced_once(
    home: Home, happening: Callable[..., None]
) -> None:
    path = home.claude()
    fuller = turning_into(path, home, "h-tui-1m")
    happening(nothing, fuller, fuller, nothing)
    assert alerts(run("watch", "--notify-at", "20")) == [
        "ALERT claude project @ID is at 25% (250K/1M), over 20%"
    ]


def test_a_session_that_nobody_writes_to_is_not_announced(
    home: Home, happening: Callable[..., None]
) -> None:
    home.claude("h-tui-1m")
    happening(nothing)
    assert alerts(run("watch", "--notify-at", "20")) == []


def test_a_session_that_is_shown_because_another_is_gone_is_not_announced(
    home: Home, happening: Callable[..., None]
) -> None:
    home.claude("h-tui-1m", "a", minutes=60)
    newer = home.claude(name="b")

    def removing() -> None:
        newer.unlink()

    happening(removing)
    result = run("watch", "--newest", "1", "--notify-at", "20")
    assert "25% (250K/1M)" in result.stdout
    assert alerts(result) == []


def test_without_a_line_nothing_is_announced(home: Home, happening: Callable[..., None]) -> None:
    path = home.claude()
    happening(turning_into(path, home, "h-tui-1m"))
    assert alerts(run("watch")) == []


def test_an_alert_can_leave_out_the_projects_name(
    home: Home, happening: Callable[..., None]
) -> None:
    path = home.claude()
    happening(turning_into(path, home, "h-tui-1m"))
    told = alerts(run("watch", "--notify-at", "20.5", "--no-names"))
    assert told == ["ALERT claude @ID is at 25% (250K/1M), over 20.5%"]


# -- a table --------------------------------------------------------------------------------------


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def table(
    monkeypatch: pytest.MonkeyPatch,
    *arguments: str,
    columns: int = 120,
    terminal: str = "xterm-256color",
) -> str:
    """Return what a terminal is sent."""
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("TERM", terminal)
    monkeypatch.setenv("COLUMNS", str(columns))
    ctxmeasure(["watch", *arguments], standalone_mode=False)
    return screen.getvalue()


def test_a_terminal_has_a_table_that_stays_in_place_and_alerts_above_it(
    home: Home, happening: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home.claude()
    happening(nothing, turning_into(path, home, "h-tui-1m"))
    sent = table(monkeypatch, "--notify-at", "20")
    plain = re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", sent)
    assert "8% (16K/200K)" in plain
    assert "25% (250K/1M)" in plain.rpartition("ALERT")[2]
    assert re.search(r"ALERT claude project @\w{6} is at 25% \(250K/1M\), over 20%", plain)
    assert sent.count("\x1b[?25l") == sent.count("\x1b[?25h") == 1  # the cursor is given back


def test_an_alert_lends_its_colour_to_no_session(
    home: Home, happening: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home.claude()
    happening(turning_into(path, home, "h-tui-1m"))
    _, alert, below = table(monkeypatch, "--notify-at", "20").partition("ALERT")
    assert alert
    assert ";31m" not in below


@pytest.mark.parametrize("columns", [44, 52, 61, 70, 90, 120])
def test_no_line_is_so_full_that_the_interrupt_begins_another(
    home: Home, happening: Callable[..., None], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    home.claude("g-unknown-model")
    happening()
    sent = re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", table(monkeypatch, columns=columns))
    assert "15K" in sent
    assert all(line[columns - len("^C") :].strip() == "" for line in sent.splitlines())


def test_a_low_terminal_shows_that_there_is_more(
    home: Home, happening: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abcdef":
        home.claude(name=name)
    happening(nothing)
    monkeypatch.setenv("LINES", "4")
    assert "..." in table(monkeypatch)


def test_a_terminal_that_can_keep_nothing_in_its_place_has_lines(
    home: Home, happening: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home.claude()
    happening(nothing, turning_into(path, home, "h-tui-1m"))
    header, before, after = table(monkeypatch, terminal="dumb").splitlines()
    assert header.startswith("id\tagent\tproject\t")
    assert "8% (16K/200K)" in before
    assert "25% (250K/1M)" in after


def test_an_empty_table_says_so(
    home: Home, happening: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert home.written == []
    happening()
    assert "No session yet." in table(monkeypatch)


# -- the end --------------------------------------------------------------------------------------


class Gone(io.RawIOBase):
    def writable(self) -> bool:
        return True

    def write(self, _: object) -> int:
        raise BrokenPipeError(errno.EPIPE, "gone")


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_it_ends_when_nobody_reads_on(
    home: Home,
    happening: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
) -> None:
    home.claude()
    happening(lambda: pytest.fail("nobody asks for this"))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(Gone(), write_through=True))  # type: ignore[type-var]
    ctxmeasure(["watch", *arguments], standalone_mode=False)


@contextmanager
def started(home: Home) -> Iterator[subprocess.Popen[str]]:
    """Run the watcher in a process of its own, which is killed if the test does not end it."""
    with subprocess.Popen(  # noqa: S603 - our own code
        [*COMMAND, "watch"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOME": str(home.path)},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def read_until(process: subprocess.Popen[str], text: str) -> None:
    """Read lines up to one with a *text*: a file that is being written shows other states too."""
    assert process.stdout is not None
    assert any(text in line for line in process.stdout)


def test_a_process_follows_real_files_and_ends_cleanly_on_ctrl_c(home: Home) -> None:
    path = home.claude()
    with started(home) as process:
        read_until(process, "agent\t")
        read_until(process, "8% (16K/200K)")
        changing = subprocess.Popen(  # noqa: S603 - until the watcher has seen one of the writes
            [sys.executable, "-c", WRITING, path, next((RECORDED / "h-tui-1m/session").glob("*"))]
        )
        try:
            read_until(process, "25% (250K/1M)")
        finally:
            changing.kill()
            changing.wait()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")


def test_a_folder_that_appears_later_is_followed(home: Home) -> None:
    home.path.mkdir()
    with started(home) as process:
        read_until(process, "agent\t")
        home.codex()
        read_until(process, "5% (13K/258K)")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 0


RECORDED = Path(__file__).parents[1] / "recordings/claude"
WRITING = """
import sys, time
rows = open(sys.argv[2], "rb").read()
while True:
    with open(sys.argv[1], "ab") as file:
        file.write(rows)
    time.sleep(0.5)
"""
