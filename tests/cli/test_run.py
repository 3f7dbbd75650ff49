"""``ctxmeasure run``: an agent's output passes untouched, and what it showed comes at its end."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import Result
from command_line import CLAUDE, COMMAND, REPLAYER, lines
from command_line import run as run_command

from ctxmeasure import Policy, Stream, registry
from ctxmeasure.cli import run as room
from ctxmeasure.record import runner_event_fields, schema
from ctxmeasure.source import StreamSource
from ctxmeasure.testing.planting import MARK

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")

RECORDINGS = CLAUDE.parent
RECORDED = {
    "claude": sorted(RECORDINGS.glob("claude*/*/stream*.jsonl")),
    "codex": sorted(RECORDINGS.glob("codex-versions/exec_*.jsonl")),
    "pi": sorted([*RECORDINGS.glob("pi*/*/stream*.jsonl"), *RECORDINGS.glob("pi*/stream_*.jsonl")]),
}
PLAYED = [(adapter, path) for adapter, paths in RECORDED.items() for path in paths]
SOURCES = {"claude": "claude.stream", "codex": "codex.exec", "pi": "pi.stream"}
TOOLS = CLAUDE / "b-tools" / "stream.jsonl"
PI_TOOLS = RECORDINGS / "pi" / "b-tools" / "stream.jsonl"
OLD_CODEX = RECORDINGS / "codex-versions" / "exec_json_v0.36.0_proto_token_count.jsonl"
LINE = re.compile(r"Duration: \d+ms( \| .*)?\n")


def name(value: object) -> str:
    return value.stem if isinstance(value, Path) else str(value)


def replay(recording: Path, *options: str, adapter: str = "claude") -> list[str]:
    """Return the arguments that run the replayer."""
    return ["run", "--adapter", adapter, "--", *REPLAYER, str(recording), *options]


def process(
    *arguments: str, stdin: int = subprocess.DEVNULL, **more: Any
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own code
        [*COMMAND, *arguments],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **more,
    )


def ended(started: subprocess.Popen[bytes]) -> tuple[bytes, str, int]:
    """Return output, standard error and exit status of a process, once it has ended."""
    out, err = started.communicate(timeout=60)
    return out, err.decode(), started.returncode


def context(said: str) -> str:
    """Return what the line at the end says behind the duration."""
    match = LINE.fullmatch(said)
    assert match is not None, said
    return match[1] or ""


def run(*arguments: str) -> tuple[Result, str]:
    result = run_command(*arguments)
    return result, result.stderr


def logged(log: Path) -> dict[str, Any]:
    (event,) = lines(log.read_bytes())
    assert isinstance(event, dict)
    return event


# -- what passes, and what is said ----------------------------------------------------------------


@pytest.mark.parametrize(("adapter", "recording"), PLAYED, ids=name)
def test_every_recording_passes_and_is_measured_as_a_stream_of_it_is(
    adapter: str, recording: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    log = tmp_path / "log"
    options = ["run", "--adapter", adapter, "--log", str(log), "--"]
    result = run_command(*options, *REPLAYER, str(recording))
    assert capfdbinary.readouterr().out == recording.read_bytes()
    stream = Stream(SOURCES[adapter])
    stream.feed_bytes(recording.read_bytes())
    event = logged(log)
    assert event["current"] == runner_event_fields(stream.finish())
    assert event["peak"] == runner_event_fields(stream.peak)
    assert event.get("turns") == stream.tally.turns
    assert event.get("cost_usd") == stream.tally.cost_usd
    assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.parametrize(
    ("adapter", "recording", "shown"),
    [
        ("claude", TOOLS, " | Est. cost: $0.0730 | Turns: 4 | Context: 8% (16K/200K)"),
        ("codex", OLD_CODEX, " | Context: 5% (15K/272K)"),
        ("codex", RECORDED["codex"][0], ""),
        ("pi", PI_TOOLS, " | Est. cost: $0.0730 | Turns: 3 | Tokens: 16K"),
        ("text", TOOLS, ""),
        ("codex.app_server", TOOLS, ""),
    ],
    ids=name,
)
def test_the_line_says_what_is_known_and_nothing_else(
    adapter: str, recording: Path, shown: str
) -> None:
    result, said = run(*replay(recording, adapter=adapter))
    assert context(said) == shown
    assert result.exit_code == 0


def test_a_peak_that_is_past_is_named_apart() -> None:
    rpc = RECORDINGS / "pi-versions" / "stream_rpc_1.6.0.jsonl"
    _, said = run(*replay(rpc, adapter="pi"))
    assert context(said).endswith(" | Context: 3% (1K/40K) | Peak: 75% (30K/40K)")


def test_a_peak_is_told_where_the_present_is_not_known() -> None:
    _, said = run(*replay(RECORDINGS / "pi" / "e-error-500" / "stream.jsonl", adapter="pi"))
    assert "Context" not in said
    _, said = run("run", "--adapter", "pi", "--assume-defaults", *replay(PI_TOOLS)[3:])
    assert context(said).endswith(" | Context: ~8% (16K/200K assumed)")


def test_limit_and_model_are_part_of_the_question() -> None:
    rest = replay(PI_TOOLS)[3:]
    _, limited = run("run", "--adapter", "pi", "--limit", "100000", *rest)
    assert context(limited).endswith(" | Context: 16% (16K/100K)")
    _, named = run("run", "--adapter", "pi", "--model", "claude-opus-4-5", *rest)
    assert LINE.fullmatch(named)


# -- the event ------------------------------------------------------------------------------------


def test_the_event_has_what_is_known_and_no_other_key(tmp_path: Path) -> None:
    log = tmp_path / "log"
    options = ["run", "--adapter", "claude", "--hat", "builder", "--log", str(log)]
    run(*options, *replay(TOOLS, "--exit", "7")[3:])
    event = logged(log)
    assert list(event) == [
        *("time", "hat", "duration_ms", "exit_status", "turns", "cost_usd", "current", "peak")
    ]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event["time"])
    assert (event["hat"], event["exit_status"], event["turns"]) == ("builder", 7, 4)
    for shown in (event["current"], event["peak"]):
        jsonschema.validate(shown, schema("runner_event"))


def test_an_event_of_what_says_nothing_has_a_reason_and_no_null(tmp_path: Path) -> None:
    log = tmp_path / "log"
    run("run", "--adapter", "text", "--log", str(log), "--", *REPLAYER, str(TOOLS))
    event = logged(log)
    assert event["current"] == event["peak"] == {"context_missing_reason": "source_unsupported"}
    assert list(event) == ["time", "duration_ms", "exit_status", "current", "peak"]


def test_events_of_several_runs_stand_in_one_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    started = [
        process("run", "--adapter", "claude", "--log", str(log), *replay(TOOLS)[3:])
        for _ in range(4)
    ]
    assert {status for _, _, status in map(ended, started)} == {0}
    assert [event["exit_status"] for event in lines(log.read_bytes())] == [0] * 4


def test_no_text_path_or_id_of_the_session_or_the_command_is_told(tmp_path: Path) -> None:
    planted = tmp_path / f"{MARK}.jsonl"
    ids = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}")
    planted.write_bytes(ids.sub(f"{MARK}-id".encode(), TOOLS.read_bytes()))
    log = tmp_path / "log"
    options = ["run", "--adapter", "claude", "--log", str(log)]
    _, said = run(*options, *replay(planted)[3:])
    _, unfound = run(*options, "--", MARK)
    assert "Turns: 4" in said
    assert unfound.startswith("ctxmeasure: the command was not found\n")
    assert MARK not in said + unfound + log.read_text()
    assert str(tmp_path) not in said + unfound + log.read_text()


# -- ends -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("adapter", SOURCES)
@pytest.mark.parametrize(
    ("ending", "status"), [(["--exit", "70"], 70), (["--die", "SIGKILL"], 137)], ids=str
)
def test_a_crash_or_a_kill_midway_keeps_its_status_and_what_was_measured(
    adapter: str, ending: list[str], status: int
) -> None:
    recording = {"claude": TOOLS, "codex": OLD_CODEX, "pi": PI_TOOLS}[adapter]
    recorded = recording.read_bytes().splitlines(keepends=True)
    until = len(recorded) - 2
    options = ["--until", str(until), "--unfinished", *ending]
    out, said, code = ended(process(*replay(recording, *options, adapter=adapter)))
    whole = b"".join(recorded[: until - 1])
    assert out.startswith(whole)
    assert out == whole + recorded[until - 1][: len(recorded[until - 1]) // 2]
    stream = Stream(SOURCES[adapter])
    stream.feed_bytes(out)
    stream.finish()
    assert ("Context" in said or "Tokens" in said) is (
        "context_tokens" in runner_event_fields(stream.latest)
    )
    assert LINE.fullmatch(said)
    assert code == status


@pytest.mark.parametrize(
    ("command", "status", "told"),
    [
        (["no-such-command-of-mine"], 127, "the command was not found"),
        ([str(TOOLS)], 126, "the command cannot be run"),
    ],
)
def test_what_cannot_be_started_has_a_shells_status_and_an_event(
    tmp_path: Path, command: list[str], status: int, told: str
) -> None:
    log = tmp_path / "log"
    result, said = run("run", "--adapter", "claude", "--log", str(log), "--", *command)
    first, rest = said.split("\n", 1)
    assert first == f"ctxmeasure: {told}"
    assert context(rest) == ""
    assert result.exit_code == logged(log)["exit_status"] == status


def test_a_reader_that_goes_away_is_no_fault_of_ours() -> None:
    started = process(*replay(TOOLS, "--long", "4"))
    assert started.stdout is not None
    assert started.stdout.read(10) == b'{"type":"u'
    started.stdout.close()
    assert started.stderr is not None
    assert started.wait(timeout=60) == 128 + signal.SIGPIPE
    assert LINE.fullmatch(started.stderr.read().decode())
    started.stderr.close()


class Terminal:
    """A terminal that controls a process, and on which keys can be pressed."""

    def __init__(self) -> None:
        self._keys, self._end = os.openpty()

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        def take_it() -> None:
            fcntl.ioctl(self._end, termios.TIOCSCTTY, 0)

        return process(*arguments, start_new_session=True, preexec_fn=take_it)

    def press(self, key: bytes) -> None:
        os.write(self._keys, key)

    def close(self) -> None:
        os.close(self._keys)
        os.close(self._end)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    opened = Terminal()
    yield opened
    opened.close()


CTRL_C = b"\x03"


def test_ctrl_c_reaches_the_command_and_the_line_still_comes(terminal: Terminal) -> None:
    with terminal.start(*replay(TOOLS, "--wait")) as started:
        read_all(started, TOOLS.read_bytes())
        terminal.press(CTRL_C)
        out, said, status = ended(started)
    assert (out, status) == (b"", 130)
    assert context(said).endswith(" | Context: 8% (16K/200K)")


def test_ctrl_c_reaches_the_command_once_and_it_may_live_on(terminal: Terminal) -> None:
    with terminal.start(*replay(TOOLS, "--wait", "--survive")) as started:
        read_all(started, TOOLS.read_bytes())
        terminal.press(CTRL_C)
        assert ended(started)[2] == 5


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_whoever_stops_us_stops_the_command(number: int) -> None:
    with process(*replay(TOOLS, "--wait"), start_new_session=True) as started:
        read_all(started, TOOLS.read_bytes())
        started.send_signal(number)
        _, said, status = ended(started)
    assert status == 128 + number
    assert "Turns: 4" in said


def read_all(started: subprocess.Popen[bytes], expected: bytes) -> None:
    """Read what has to come before anything else is done."""
    assert started.stdout is not None
    assert started.stdout.read(len(expected)) == expected


# -- any speed, any bytes -------------------------------------------------------------------------


def test_each_piece_passes_before_the_next_is_printed_and_input_is_the_commands() -> None:
    recorded = RECORDED["pi"][1].read_bytes().splitlines(keepends=True)[:4]
    halves = [
        half for line in recorded for half in (line[: len(line) // 2], line[len(line) // 2 :])
    ]
    arguments = replay(RECORDED["pi"][1], "--halves", "--stepped", adapter="pi")
    with process(*arguments, stdin=subprocess.PIPE, bufsize=0) as started:
        assert started.stdin is not None
        for half in halves:
            started.stdin.write(b"\n")
            read_all(started, half)
        started.stdin.close()
        started.stdin = None
        assert ended(started)[2] == 0


@pytest.mark.parametrize("adapter", SOURCES)
def test_a_slow_stream_says_what_a_fast_one_does(adapter: str) -> None:
    recording = RECORDED[adapter][0]
    fast = ended(process(*replay(recording, adapter=adapter)))
    slow = ended(process(*replay(recording, "--halves", "--pace", "0.001", adapter=adapter)))
    assert fast[0] == slow[0] == recording.read_bytes()
    assert context(fast[1]) == context(slow[1])


def test_what_is_no_line_passes_and_changes_nothing(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    _, said = run(*replay(TOOLS, "--garbage"))
    assert context(said).endswith(" | Turns: 4 | Context: 8% (16K/200K)")
    out = capfdbinary.readouterr().out
    assert bytes(range(256)) in out
    assert len(out) > len(TOOLS.read_bytes())


@pytest.mark.parametrize("size", [50, 70])
def test_a_line_of_many_megabytes_passes_and_the_rest_is_measured(size: int) -> None:
    out, said, status = ended(process(*replay(TOOLS, "--long", str(size))))
    assert len(out) > size * 1024 * 1024
    assert out.endswith(b'x"}\n' + TOOLS.read_bytes())
    assert context(said).endswith(" | Turns: 4 | Context: 8% (16K/200K)")
    assert status == 0


def test_standard_error_is_the_commands_and_ours_comes_last(
    capfd: pytest.CaptureFixture[str],
) -> None:
    _, said = run(*replay(TOOLS, "--stderr", "from the agent"))
    assert capfd.readouterr().err == "from the agent"
    assert LINE.fullmatch(said)


# -- our own faults -------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["feed_bytes", "finish"])
def test_a_fault_of_ours_leaves_output_and_status_alone(
    step: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError(MARK)

    monkeypatch.setattr(Stream, step, fail)
    log = tmp_path / "log"
    options = ["run", "--adapter", "claude", "--log", str(log)]
    result, said = run(*options, *replay(TOOLS, "--halves", "--exit", "7")[3:])
    assert capfdbinary.readouterr().out == TOOLS.read_bytes()
    assert result.exit_code == 7
    assert said == "ctxmeasure: what the command printed could not be measured\n"
    assert list(logged(log)) == ["time", "duration_ms", "exit_status"]


def test_a_log_that_cannot_be_written_is_told_and_nothing_more(tmp_path: Path) -> None:
    options = ["run", "--adapter", "claude", "--log", str(tmp_path / MARK / "log")]
    result, said = run(*options, *replay(TOOLS, "--exit", "7")[3:])
    line, told, rest = said.split("\n")
    assert LINE.fullmatch(f"{line}\n")
    assert (told, rest) == ("ctxmeasure: the event could not be logged", "")
    assert result.exit_code == 7


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_standard_error_that_takes_nothing_leaves_the_status_alone() -> None:
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(  # noqa: S603 - our own code
            [*COMMAND, *replay(TOOLS, "--exit", "7")],
            stdout=subprocess.PIPE,
            stderr=full,
            check=False,
            timeout=60,
        )
    assert (ran.returncode, ran.stdout) == (7, TOOLS.read_bytes())


# -- arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--", "true"], "--adapter"),
        (["--adapter", "claude"], "COMMAND"),
        (["--adapter", MARK, "--", "true"], "claude.stream"),
        (["--adapter", "claude.transcript", "--", "true"], "claude.stream"),
        (["--adapter", "claude", "--limit", "0", "--", "true"], "--limit"),
        (["--adapter", "claude", "--hat", "", "--", "true"], "--hat"),
    ],
)
def test_wrong_arguments_run_nothing(arguments: list[str], told: str) -> None:
    result, said = run("run", *arguments)
    assert result.exit_code == 2
    assert told in said
    assert MARK not in said


def test_options_behind_the_command_are_the_commands_with_and_without_dashes() -> None:
    for dashes in ([], ["--"]):
        command = [*dashes, "sh", "-c", 'test "$1" = --help', "sh", "--help"]
        assert run("run", "--adapter", "text", *command)[0].exit_code == 0


def test_every_agent_that_can_be_named_has_its_stream() -> None:
    for source_id in room._PRINTED.values():
        assert isinstance(registry.find(source_id), StreamSource)


def test_the_defaults_are_assumed_only_where_they_are_asked_for(tmp_path: Path) -> None:
    log = tmp_path / "log"
    run("run", "--adapter", "pi", "--assume-defaults", "--log", str(log), *replay(PI_TOOLS)[3:])
    assert logged(log)["current"]["context_limit_basis"] == "assumed_default"
    stream = Stream("pi.stream", policy=Policy())
    stream.feed_bytes(PI_TOOLS.read_bytes())
    assert "context_window" not in json.loads(json.dumps(runner_event_fields(stream.latest)))
