"""``ctxmeasure stream``: an agent's lines in, each change out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from command_line import CLAUDE, COMMAND, lines, run, run_process
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure import Observation
from ctxmeasure.cli import standard_input
from ctxmeasure.cli import stream as room
from ctxmeasure.testing.claude.frames import assistant
from ctxmeasure.testing.session import joined

RECORDED = (CLAUDE / "b-tools" / "stream.jsonl").read_bytes()
COMPACTED = (CLAUDE / "d-compact-manual" / "stream-2.jsonl").read_bytes()
UNTIL_A_RESPONSE = b"".join(RECORDED.splitlines(keepends=True)[:5])


def test_each_change_is_a_line_and_the_last_one_is_the_end() -> None:
    result = run("stream", "claude.stream", stdin=RECORDED)
    printed = lines(result.stdout)
    used = [line["value"]["used_tokens"] for line in printed if line["state"] == "observed"]
    assert sorted(set(used)) == [15_004, 15_806, 16_108]
    assert printed[-1]["attestation"] == "native"
    assert (result.exit_code, result.stderr) == (0, "")


def test_what_was_recorded_in_a_file_is_as_old_as_the_file(tmp_path: Path) -> None:
    path = tmp_path / "recorded.jsonl"
    path.write_bytes(joined([assistant(16_108)]))
    for year, shown in ((2020, 2020), (2400, datetime.now(UTC).year)):
        moment = datetime(year, 1, 1, tzinfo=UTC).timestamp()
        os.utime(path, (moment, moment))
        with path.open("rb") as file:
            (told,) = lines(run_process("stream", "claude.stream", stdin=file).stdout)
        assert told["value"]["measured_at"].startswith(f"{shown}-")


CODEX = CLAUDE.parent / "codex-versions"
NOTIFICATIONS = (CODEX / "appserver_v0.171.0_notifications.jsonl").read_bytes()


def test_every_source_of_streams_can_be_followed() -> None:
    followed = run("stream", "codex.app_server", "--summary", stdin=NOTIFICATIONS)
    assert followed.stdout == "Context: 4% (18K/475K)\nPeak: 46% (120K/258K)\n"
    fork = json.loads(NOTIFICATIONS.splitlines()[-4])["params"]["threadId"]
    asked = ("stream", "codex.app_server", "--session", fork, "--summary")
    assert run(*asked, stdin=NOTIFICATIONS).stdout.startswith("Context: 6% (16K/258K)\n")
    sums = (CODEX / "exec_json_v0.171.0_two_runs_cumulative.jsonl").read_bytes()
    result = run("stream", "codex.exec", stdin=sums)
    assert [line["reason"] for line in lines(result.stdout)] == ["cumulative_only"]
    assert result.exit_code == 3


def test_a_summary_is_all_that_is_printed_where_it_is_asked_for() -> None:
    result = run("stream", "claude.stream", "--summary", stdin=RECORDED)
    assert result.stdout == "Context: 8% (16K/200K)\nPeak: 8% (16K/200K)\n"
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_summary_after_a_compaction_has_the_peak_alone() -> None:
    before, boundary = [], b'"compact_boundary"'
    for line in (RECORDED + COMPACTED).splitlines(keepends=True):
        before.append(line)
        if boundary in line:
            break
    result = run("stream", "claude.stream", "--summary", stdin=b"".join(before))
    assert result.exit_code == 3
    assert "Context" not in result.stdout
    assert result.stderr.startswith("ctxmeasure: ")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (b"", "not_measured_yet"),
        (b"\n\n", "not_measured_yet"),
        (b"not json\n", "source_malformed"),
        (b"\xff\x00\n" * 1000, "source_malformed"),
    ],
    ids=["nothing", "blanks", "text", "binary"],
)
def test_there_is_always_a_last_line(said: bytes, reason: str) -> None:
    result = run("stream", "claude.stream", stdin=said)
    assert [line["reason"] for line in lines(result.stdout)] == [reason]
    assert (result.exit_code, result.stderr) == (3, "")


def test_a_summary_of_nothing_is_nothing_and_the_reason_goes_elsewhere() -> None:
    result = run("stream", "claude.stream", "--summary", stdin=b"")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith("ctxmeasure: not_measured_yet: ")


def test_a_last_line_without_its_end_counts() -> None:
    unfinished = run("stream", "claude.stream", stdin=UNTIL_A_RESPONSE.rstrip())
    assert lines(unfinished.stdout)[-1]["value"]["used_tokens"] == 15_004
    assert len(lines(unfinished.stdout)) == len(
        lines(run("stream", "claude.stream", stdin=UNTIL_A_RESPONSE).stdout)
    )


def test_session_model_and_limit_are_part_of_the_question() -> None:
    limited = run("stream", "claude.stream", "--limit", "100000", stdin=UNTIL_A_RESPONSE)
    assert lines(limited.stdout)[-1]["attestation"] == "operator"
    model = ("--model", "claude-opus-4-6[1m]")
    vouched = run("stream", "claude.stream", *model, stdin=UNTIL_A_RESPONSE)
    assert vouched.exit_code == 0
    another = run("stream", "claude.stream", "--session", "another", stdin=UNTIL_A_RESPONSE)
    assert another.exit_code == 3


@given(st.binary(max_size=300), st.integers(0, len(RECORDED)))
def test_garbage_in_between_is_survived(garbage: bytes, cut: int) -> None:
    stdin = RECORDED[:cut] + b"\n" + garbage + b"\n" + RECORDED
    result = run("stream", "claude.stream", stdin=stdin)
    assert lines(result.stdout)[-1]["value"]["used_tokens"] == 16_108


# -- ends -----------------------------------------------------------------------------------------


def test_ctrl_c_ends_it_with_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> Iterator[bytes]:
        yield UNTIL_A_RESPONSE
        raise KeyboardInterrupt

    monkeypatch.setattr(standard_input, "pieces", interrupted)
    result = run("stream", "claude.stream", "--summary")
    assert result.stdout.startswith("Context: 8% (15K/200K)")
    assert result.exit_code == 0


def test_reading_ends_when_nobody_reads_on(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Observation] = []

    def tell(observation: Observation) -> bool:
        told.append(observation)
        return False

    monkeypatch.setattr(room, "say_observation", tell)
    assert run("stream", "claude.stream", stdin=RECORDED).exit_code == 3
    assert len(told) == 1


def start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own code
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_each_change_is_printed_before_the_next_line_comes() -> None:
    with start("stream", "claude.stream") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(UNTIL_A_RESPONSE)
        process.stdin.flush()
        line = b""
        while b'"observed"' not in line:
            line = process.stdout.readline()
            assert line
        assert json.loads(line)["value"]["used_tokens"] == 15_004
        process.stdin.close()
        assert process.wait(timeout=60) == 0


# Standard input that gives its bytes and then, while more are waited for, meets Ctrl-C.
INTERRUPTED = """
import os, signal, sys

class Input:
    rest = sys.stdin.buffer.read()

    def isatty(self):
        return False

    def read1(self, size):
        if not self.rest:
            os.kill(os.getpid(), signal.SIGINT)
        piece, self.rest = self.rest[:size], self.rest[size:]
        return piece

sys.stdin = type("Stdin", (), {"buffer": Input()})
from ctxmeasure.cli import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has another kind of signals")
@pytest.mark.parametrize(
    ("arguments", "status", "last"),
    [
        (["--summary"], 0, b"Peak: 8% (15K/200K)"),
        (["--summary", "--session", "another"], 3, b""),
        (["--session", "another"], 3, b'"state":"missing"'),
        ([], 0, b'"used_tokens":15004'),
    ],
)
def test_an_interrupted_process_says_what_it_knows_and_nothing_of_how_it_ended(
    arguments: list[str], status: int, last: bytes
) -> None:
    command = (sys.executable, "-c", INTERRUPTED, "stream", "claude.stream")
    result = run_process(*arguments, stdin=UNTIL_A_RESPONSE, command=command)
    assert b"Traceback" not in result.stderr
    assert b"Aborted" not in result.stderr
    assert result.returncode == status
    assert last in result.stdout.splitlines()[-1] if last else result.stdout == b""


def test_a_reader_that_goes_away_is_no_fault() -> None:
    with start("stream", "claude.stream") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(RECORDED)
        process.stdin.flush()
        assert process.wait(timeout=60) in {0, 3}
        assert process.stderr.read() == b""


def test_a_long_line_and_binary_noise_leave_the_answer_as_it_is() -> None:
    noise = bytes(range(256)) * 4096 + b"\n"
    stdin = noise + RECORDED + b'{"type": "user", "text": "' + b"x" * 5_000_000 + b'"}\n' + noise
    result = run_process("stream", "claude.stream", "--summary", stdin=stdin)
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout == b"Context: 8% (16K/200K)\nPeak: 8% (16K/200K)\n"
