"""``ctxmeasure statusline``: the gauge, or the user's own line whatever happens to us."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import CLAUDE, COMMAND, lines, run

from ctxmeasure.cli.swift import moments, payload, statusline
from ctxmeasure.ledger import detached
from ctxmeasure.testing.cursor.payloads import status_line

LINES = (CLAUDE / "h-tui" / "statusline.jsonl").read_bytes().splitlines()
FIRST, LINE = LINES[0], LINES[-1]
GAUGE = b"[----------] Context: 5% (9K/200K)\n"


def shown(*options: str, stdin: bytes = LINE) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process, and return when all that it started has ended too."""
    heard, told = os.pipe()
    process = subprocess.Popen(  # noqa: S603 - our own code
        [*COMMAND, "statusline", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=[told],
    )
    os.close(told)
    out, err = process.communicate(stdin)
    assert os.read(heard, 1) == b""
    os.close(heard)
    return subprocess.CompletedProcess(options, process.returncode, out, err)


def kept(folder: Path) -> list[str]:
    return ["--state", str(folder / "state"), "--out", str(folder / "events")]


def events(folder: Path) -> list[Any]:
    return lines((folder / "events").read_bytes())


# -- the gauge ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "stdin", "line"),
    [
        ((), LINE, GAUGE),
        (("--agent", "claude", "--format=summary"), LINE, b"Context: 5% (9K/200K)\n"),
        (("--format", "bar"), json.dumps(status_line()).encode(), b"[#---------]\n"),
        ((), FIRST, b"Context: not measured yet\n"),
        (("--format", "bar"), FIRST, b"Context: not measured yet\n"),
        (("--agent", "cursor"), LINE, b"Context: source malformed\n"),
        ((), b"{", b"Context: source malformed\n"),
        ((), b"", b"Context: source malformed\n"),
        ((), b" " * 5_000_000, b"Context: budget exhausted\n"),
    ],
)
def test_a_payload_becomes_a_line(options: tuple[str, ...], stdin: bytes, line: bytes) -> None:
    result = shown(*options, stdin=stdin)
    assert (result.stdout, result.stderr, result.returncode) == (line, b"", 0)


def test_a_count_without_a_limit_is_told_as_one() -> None:
    told = json.loads(LINE)
    told["context_window"] = {"current_usage": told["context_window"]["current_usage"]}
    told["model"] = {"id": "no-such-model"}
    assert shown(stdin=json.dumps(told).encode()).stdout == b"Tokens: 9K\n"


def test_the_line_stands_although_nothing_can_be_recorded(tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(b"a file where a folder should be")
    result = shown(*kept(tmp_path))
    assert (result.stdout, result.stderr, result.returncode) == (GAUGE, b"", 0)


def test_what_is_shown_is_recorded(tmp_path: Path) -> None:
    for _ in range(2):
        assert shown(*kept(tmp_path)).stdout == GAUGE
    (event,) = events(tmp_path)
    assert event["payload"]["measurement"]["value"]["used_tokens"] == 9005


def test_an_agent_that_has_gone_is_no_fault() -> None:
    process = subprocess.Popen(  # noqa: S603 - our own code
        [*COMMAND, "statusline"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(LINE)
    assert (process.returncode, err) == (0, b"")


# -- the user's own command -----------------------------------------------------------------------

SCRIPTS = {
    "reads": ("cat", LINE, 0),
    "counts": ("wc -c | tr -d ' \\n'", str(len(LINE)).encode(), 0),
    "fails": ("echo mine; exit 7", b"mine\n", 7),
    "prints nothing": ("true", b"", 0),
    "does not end its line": ("printf mine", b"mine", 0),
    "does not read": ("exec 0<&-; echo mine", b"mine\n", 0),
    "prints bytes": ("printf '\\377\\000\\033[1m'", b"\xff\x00\x1b[1m", 0),
    "prints a lot": ("head -c 3000000 /dev/zero", bytes(3_000_000), 0),
}


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_commands_output_and_status_are_its_own(
    tmp_path: Path, name: str, recorded: bool
) -> None:
    command, output, status = SCRIPTS[name]
    result = shown("--wrap", command, *(kept(tmp_path) if recorded else []))
    assert (result.stdout, result.stderr, result.returncode) == (output, b"", status)
    if recorded:
        assert len(events(tmp_path)) == 1


def test_a_missing_command_fails_as_it_does_without_us(tmp_path: Path) -> None:
    alone = subprocess.run(
        ["/bin/sh", "-c", "no-such-command"],
        capture_output=True,
        check=False,
    )
    wrapped = shown("--wrap", "no-such-command", *kept(tmp_path))
    assert (wrapped.returncode, wrapped.stdout) == (alone.returncode, b"") == (127, b"")
    assert len(events(tmp_path)) == 1


def test_what_the_command_says_on_standard_error_is_passed_on() -> None:
    assert shown("--wrap", "echo mine >&2").stderr == b"mine\n"


@pytest.mark.parametrize("command", ["cat", "head -c 10"])
def test_a_payload_larger_than_a_pipe_reaches_the_command(tmp_path: Path, command: str) -> None:
    payload = json.dumps({**json.loads(LINE), "more": "x" * 2_000_000}).encode()
    result = shown("--wrap", command, *kept(tmp_path), stdin=payload)
    assert result.stdout == (payload if command == "cat" else payload[:10])
    assert len(events(tmp_path)) == 1


@pytest.mark.parametrize("stdin", [b"", b"{", b"[1]", b"\xff\xfe", b"x" * 1_000_000])
def test_a_payload_that_is_none_reaches_the_command_unchanged(tmp_path: Path, stdin: bytes) -> None:
    assert shown("--wrap", "cat", *kept(tmp_path), stdin=stdin).stdout == stdin


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: (folder / "state").write_bytes(b"a file"),
        lambda folder: (folder / "events").mkdir(),
        lambda folder: ((folder / "state").mkdir(), (folder / "state" / "key").write_bytes(b"x")),
    ],
    ids=["no state folder", "no file of events", "no key"],
)
def test_the_command_is_run_although_nothing_can_be_recorded(tmp_path: Path, spoil: Any) -> None:
    spoil(tmp_path)
    result = shown("--wrap", "cat; exit 3", *kept(tmp_path))
    assert (result.stdout, result.stderr, result.returncode) == (LINE, b"", 3)


@pytest.mark.parametrize(
    "wrong",
    [
        ("--nothing", "--wrap", "cat; exit 3"),
        ("--wrap=cat; exit 3", "--state", "s"),
        ("--wrap", "--wrap", "cat; exit 3"),
        ("--wrap", "cat; exit 3", "--format", "curly"),
        ("--agent", "--wrap", "cat; exit 3", "more"),
    ],
)
def test_the_command_is_run_although_the_arguments_are_wrong(wrong: tuple[str, ...]) -> None:
    result = shown(*wrong)
    assert (result.stdout, result.returncode) == (LINE, 3)
    assert result.stderr == b"ctxmeasure: wrong arguments; see ctxmeasure statusline --help\n"


def test_wrong_arguments_without_a_command_are_explained() -> None:
    result = shown("--nothing")
    assert (result.stdout, result.returncode) == (b"", 2)
    assert b"No such option" in result.stderr


def test_a_signal_reaches_the_command_and_not_the_recording(tmp_path: Path) -> None:
    heard, told = os.pipe()
    process = subprocess.Popen(  # noqa: S603 - our own code
        [*COMMAND, "statusline", "--wrap", "echo $$; exec sleep 100", *kept(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=[told],
        start_new_session=True,
    )
    os.close(told)
    assert process.stdout is not None
    assert int(process.stdout.readline()) == process.pid
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate(LINE)
    assert process.returncode == -signal.SIGTERM
    assert os.read(heard, 1) == b""
    os.close(heard)
    assert len(events(tmp_path)) == 1


def test_a_command_whose_reader_is_gone_ends_as_it_does_without_us() -> None:
    with subprocess.Popen(  # noqa: S603 - our own code
        [*COMMAND, "statusline", "--wrap", "exec yes 2>&-"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait() == -signal.SIGPIPE


# -- the same in this process, step by step -------------------------------------------------------


class Became(Exception):  # noqa: N818 - what os.execv raises here
    pass


@pytest.fixture
def became(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Have this process become nothing; return what it would have become."""
    done: list[object] = []

    def become(path: str, arguments: list[str]) -> None:
        done.append((path, arguments))
        raise Became

    monkeypatch.setattr(os, "execv", become)
    monkeypatch.setattr(signal, "signal", lambda *given: done.append(given))
    return done


SHELL = ("/bin/sh", ["/bin/sh", "-c", "mine"])
BECAME = [(signal.SIGPIPE, signal.SIG_DFL), SHELL]


def test_without_anything_to_record_the_command_has_standard_input_to_itself(
    became: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detached, "start_orphan", None)
    with pytest.raises(Became):
        statusline.run({"--wrap": "mine"})
    assert became == BECAME


@pytest.mark.parametrize("is_tapped", [True, False])
def test_the_command_gets_its_input_from_the_tap_or_as_it_was(
    became: list[object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_tapped: bool
) -> None:
    piped: list[int] = []

    def start_orphan(work: Any, *, is_tap: bool) -> bool:
        assert is_tap
        assert callable(work)
        return is_tapped

    def dup2(source: int, target: int) -> int:
        piped.extend((source, target))
        return target

    monkeypatch.setattr(detached, "start_orphan", start_orphan)
    monkeypatch.setattr(os, "dup2", dup2)
    given = {"--wrap": "mine", "--state": str(tmp_path), "--out": str(tmp_path / "events")}
    with pytest.raises(Became):
        statusline.run(given)
    assert became == BECAME
    assert piped[1:] == ([0] if is_tapped else [])


def test_without_a_pipe_the_command_is_run_all_the_same(
    became: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise OSError

    monkeypatch.setattr(os, "pipe", refuse)
    with pytest.raises(Became):
        statusline.run({"--wrap": "mine", "--state": "s", "--out": "o"})
    assert became == BECAME


def test_closed_descriptors_are_not_tapped(tmp_path: Path) -> None:
    script = 'exec "$@" <&- >&-'
    wrapped = ["--wrap", f"cat; echo mine > {tmp_path}/mine; exit 3", *kept(tmp_path)]
    result = subprocess.run(  # noqa: S603 - our own code
        ["/bin/sh", "-c", script, "sh", *COMMAND, "statusline", *wrapped],
        capture_output=True,
        check=False,
    )
    assert result.returncode == 3
    assert (tmp_path / "mine").read_bytes() == b"mine\n"


def test_the_tap_passes_on_before_it_steps_back_and_records(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done: list[str] = []
    monkeypatch.setattr(payload, "pass_on", lambda _: LINE)
    monkeypatch.setattr(detached, "step_back", lambda: done.append("stepped back"))
    source, drain = os.pipe()
    given = {"--state": str(tmp_path / "state"), "--out": str(tmp_path / "events")}
    statusline._pass_on(source, drain, given)
    assert len(events(tmp_path)) == 1
    assert done == ["stepped back"]
    for end in (source, drain):
        with pytest.raises(OSError, match="descriptor"):
            os.fstat(end)


def test_a_line_is_printed_before_it_is_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said: list[bytes] = []
    monkeypatch.setattr(payload, "read", lambda: LINE)
    monkeypatch.setattr(os, "write", lambda _, data: said.append(data))

    def start(work: Callable[[], object]) -> None:
        said.append(b"start")
        work()

    monkeypatch.setattr(detached, "start", start)
    monkeypatch.setattr(statusline, "_record", lambda *_: said.append(b"record"))
    given = {"--state": str(tmp_path / "state"), "--out": str(tmp_path / "events")}
    assert statusline.run(given) == 0
    assert said == [GAUGE, b"start", b"record"]


def test_a_line_that_takes_the_judge_is_the_judges(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[bytes] = []
    monkeypatch.setattr(payload, "read", lambda: FIRST)

    def refuse(_: int, data: bytes) -> int:
        said.append(data)
        raise OSError

    monkeypatch.setattr(os, "write", refuse)
    assert statusline.run({}) == 0
    assert said == [b"Context: not measured yet\n"]


def test_where_a_process_cannot_become_another_the_command_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(detached, "SUPPORTED", False)
    called: list[object] = []

    def call(command: str, *, shell: bool) -> int:
        called.append((command, shell))
        return 5

    monkeypatch.setattr(subprocess, "call", call)
    assert statusline.run({"--wrap": "mine", "--state": "s", "--out": "o"}) == 5
    assert called == [("mine", True)]


def test_any_command_in_wrong_arguments_is_found(
    became: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "write", lambda *_: 0)
    for arguments in (["x", "--wrap", "mine"], ["--wrap=mine", "--nothing"]):
        with pytest.raises(Became):
            statusline.hand_over_anyway(arguments)
    assert became == [*BECAME, *BECAME]
    for arguments in (["--wrap"], ["--wrap="], ["--wrapped", "mine"], ["--wrap", "--agent"], []):
        statusline.hand_over_anyway(arguments)
    assert became == [*BECAME, *BECAME]


def test_a_moment_is_that_of_the_nanoseconds() -> None:
    assert moments.of(1_796_000_000_123_456_789).isoformat() == "2026-11-30T00:53:20.123456+00:00"


def test_click_leads_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payload, "read", lambda: LINE)
    said: list[bytes] = []
    monkeypatch.setattr(os, "write", lambda _, data: said.append(data))
    assert run("statusline", "--format", "summary").exit_code == 0
    assert said == [b"Context: 5% (9K/200K)\n"]
    assert "go together" in run("statusline", "--state", "s").stderr
    assert run("statusline", "--format", "curly").exit_code == 2
