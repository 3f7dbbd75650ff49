"""``ctxmeasure history``: what is printed, what is written, and what neither ever holds."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from command_line import CLAUDE, lines, run
from pi_rows import RUNS

from ctxmeasure import history, record
from ctxmeasure.cli import history as command

(SESSION,) = (CLAUDE / "h-tui" / "session").glob("*.jsonl")
(STREAM,) = (CLAUDE / "b-tools").glob("stream.jsonl")
CODEX = CLAUDE.parent / "codex-versions"
SWITCHED = CODEX / "rollout_v0.171.0_compact_abort_modelswitch_exceeded.jsonl"


class Screen(io.TextIOWrapper):
    """A terminal to write on."""

    def isatty(self) -> bool:
        return True


def screen(encoding: str = "utf-8") -> tuple[Screen, io.BytesIO]:
    shown = io.BytesIO()
    return Screen(shown, encoding=encoding, errors="replace", write_through=True), shown


def on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, *arguments: str | Path, encoding: str = "utf-8"
) -> tuple[str, str]:
    """Return what a person's terminal is sent on its two streams."""
    streams = {name: screen(encoding) for name in ("stdout", "stderr")}
    with monkeypatch.context() as patched:
        patched.setenv("COLUMNS", "60")
        patched.setenv("TERM", "xterm-256color")
        patched.delenv("NO_COLOR", raising=False)
        for name, (stream, _) in streams.items():
            patched.setattr(sys, name, stream)
        command.history.main([*map(str, arguments)], standalone_mode=False)
    out, err = (shown.getvalue().decode(encoding) for _, shown in streams.values())
    return out, err


def test_a_curve_is_printed_with_what_it_says() -> None:
    result = run("history", SESSION)
    assert (result.exit_code, result.stderr) == (0, "")
    plot, _, told = result.stdout.partition("\n\n")
    assert plot.startswith("200K ")
    assert "c 1 compaction" in plot
    assert told.splitlines()[0] == (
        "5 moments of the session. At its end: 5% (9K/200K) (inferred). "
        "The fullest: 53% (106K/200K) (inferred), at moment 3. What happened: 1 compaction."
    )
    assert told.splitlines()[-1] == "No measurement at 4: compacted."
    assert "\x1b" not in result.stdout


def test_a_pi_session_is_told_too() -> None:
    (one,) = (r for r in RUNS if r.name == "pi/c-branch")
    result = run("history", one.session, "--limit", "200000")
    assert result.exit_code == 0
    assert "r 1 rewind" in result.stdout


def test_a_terminal_gets_colours_and_its_own_width(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = on_a_terminal(monkeypatch, SWITCHED)
    assert "\x1b[36m" in out
    assert "█" in out
    assert err == ""


def test_an_encoding_without_blocks_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    out, _ = on_a_terminal(monkeypatch, SWITCHED, encoding="ascii")
    assert "######" in out
    assert "?" in out  # the lane's own, for what is missing
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", None)
        assert not command._has_blocks()


def test_json_is_a_line_for_every_moment() -> None:
    result = run("history", SWITCHED, "--json")
    moments = lines(result.stdout)
    told = list(history.scan("codex.rollout", SWITCHED))
    assert [one["offset"] for one in moments] == [moment.offset for moment in told]
    assert [record.from_dict(one["observation"]) for one in moments] == [
        moment.observation for moment in told
    ]
    assert [one.get("marks", []) for one in moments] == [
        sorted(mark.value for mark in moment.marks) for moment in told
    ]
    assert result.exit_code == 0


def test_a_reader_that_has_seen_enough_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[object] = []
    monkeypatch.setattr(command, "say_json", said.append)
    assert run("history", SWITCHED, "--json").exit_code == 0
    assert len(said) == 1


def test_files_are_written_in_place_of_the_plot(tmp_path: Path) -> None:
    paths = {form: tmp_path / f"report.{form}" for form in ("html", "png", "svg")}
    paths["html"].write_text("an older one")
    arguments = [part for form, path in paths.items() for part in (f"--{form}", path)]
    result = run("history", SESSION, *arguments)
    assert (result.exit_code, result.output) == (0, "")
    assert paths["html"].read_bytes().startswith(b"<!DOCTYPE html>")
    assert paths["png"].read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in paths["svg"].read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "report.html",
        "report.png",
        "report.svg",
    ]


def test_a_file_that_cannot_be_written_is_not_named(tmp_path: Path) -> None:
    for path in (tmp_path / "secret" / "report.html", "nul\0secret", tmp_path):
        result = run("history", SESSION, "--html", path)
        assert result.exit_code == 1
        assert "secret" not in result.output
        assert "cannot be written" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_session_itself_is_not_written_over(tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    session.write_bytes(SESSION.read_bytes())
    link = tmp_path / "link"
    link.symlink_to(session)
    for path in (session, link):
        result = run("history", session, "--svg", path)
        assert result.exit_code == 2
        assert "take the place of FILE" in result.stderr
    assert session.read_bytes() == SESSION.read_bytes()


def test_without_matplotlib_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("history", SESSION, "--png", tmp_path / "x.png")
    assert result.exit_code == 2
    assert "pip install 'ctxmeasure[plot]'" in result.stderr


def test_another_module_that_is_absent_is_not_matplotlibs_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ModuleNotFoundError, match=r"matplotlib\.figure"):
        run("history", SESSION, "--png", tmp_path / "x.png")


def test_a_session_that_nothing_was_measured_in_has_a_reason_and_a_status(tmp_path: Path) -> None:
    path = tmp_path / "begun.jsonl"
    path.write_bytes(b"".join(SESSION.read_bytes().splitlines(keepends=True)[:7]))
    result = run("history", path)
    assert result.exit_code == 3
    assert "│" not in result.stdout
    assert "Nothing was measured: not_measured_yet." in result.stdout
    assert result.stderr.startswith("ctxmeasure: not_measured_yet: ")
    assert run("history", path, "--json").exit_code == 3


@pytest.mark.parametrize("named", [[], ["--source", "claude.transcript"]])
@pytest.mark.parametrize("reason", ["source_absent", "source_unreadable"])
def test_of_a_file_that_cannot_be_read_nothing_is_drawn_or_written(
    tmp_path: Path, named: list[str], reason: str
) -> None:
    file = tmp_path / "none.jsonl" if reason == "source_absent" else tmp_path
    result = run("history", file, "--html", tmp_path / "x.html", *named)
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith(f"ctxmeasure: {reason}: ")
    assert not (tmp_path / "x.html").exists()
    assert run("history", file, *named).stdout == ""
    assert reason in run("history", file, "--json", *named).stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-"], "name the FILE"),
        ([STREAM], "no session file"),
        ([SESSION, "--source", "claude.hook"], "no session file"),
        ([SESSION, "--session", ""], "at least one character"),
        ([SESSION, "one more"], "More arguments"),
        ([Path(__file__)], "is none's that is known"),
    ],
)
def test_what_has_no_history_is_refused(arguments: list[str | Path], said: str) -> None:
    result = run("history", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr.replace("\n", " ")


def test_another_sessions_id_is_a_mismatch() -> None:
    result = run("history", SESSION, "--session", "another")
    assert result.exit_code == 3
    assert "session_mismatch" in result.stdout


def test_a_long_scan_shows_a_person_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_LONG", 1)
    out, err = on_a_terminal(monkeypatch, SWITCHED)
    assert "Reading the session" in err
    assert "100%" in err
    assert "Reading" not in out
    assert run("history", SWITCHED).stderr == ""


def test_a_file_without_a_size_shows_no_progress() -> None:
    assert command._size("nul\0") == 0
