"""``ctxmeasure hook``: an answer, the status 0, and the agent goes on; the rest comes after."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import CLAUDE, COMMAND, lines, run

from ctxmeasure import cli
from ctxmeasure.cli import swift
from ctxmeasure.cli.swift import hook, payload
from ctxmeasure.ledger import detached

SCENE = CLAUDE / "h-tui"
(TRANSCRIPT,) = (SCENE / "session").glob("*.jsonl")
HOOKS = [json.loads(line) for line in (SCENE / "hooks.jsonl").read_bytes().splitlines()]
(END,) = [payload for payload in HOOKS if payload["hook_event_name"] == "SessionEnd"]
ENDED = json.dumps({**END, "transcript_path": str(TRANSCRIPT)}).encode()


def hooked(
    *options: str, stdin: bytes = ENDED, command: tuple[str, ...] = COMMAND
) -> subprocess.CompletedProcess[bytes]:
    """Run the hook in a process, and return when all that it started has ended too."""
    heard, told = os.pipe()
    process = subprocess.Popen(  # noqa: S603 - our own code
        [*command, "hook", *options],
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


def options(folder: Path, agent: str = "claude") -> list[str]:
    return [
        *("--agent", agent, "--state", str(folder / "state")),
        *("--out", str(folder / "events")),
    ]


@pytest.mark.parametrize("further", [[], ["--wait"]])
def test_a_hook_answers_and_publishes(tmp_path: Path, further: list[str]) -> None:
    result = hooked(*options(tmp_path), *further)
    assert (result.stdout, result.stderr, result.returncode) == (b"{}\n", b"", 0)
    (event,) = lines((tmp_path / "events").read_bytes())
    assert event["payload"]["measurement"]["value"]["used_tokens"] == 9005


def test_when_a_hook_that_waits_returns_its_events_are_there(tmp_path: Path) -> None:
    subprocess.run(  # noqa: S603 - our own code
        [*COMMAND, "hook", "--wait", *options(tmp_path)],
        input=ENDED,
        capture_output=True,
        check=True,
    )
    assert (tmp_path / "events").exists()


def test_a_hook_returns_although_its_sampling_hangs(tmp_path: Path) -> None:
    fifo = tmp_path / "transcript.jsonl"
    os.mkfifo(fifo)
    stuck = json.dumps({**json.loads(ENDED), "transcript_path": str(fifo)}).encode()
    result = subprocess.run(  # noqa: S603 - our own code
        [*COMMAND, "hook", *options(tmp_path)], input=stuck, capture_output=True, check=True
    )
    assert result.stdout == b"{}\n"


@pytest.mark.parametrize("stdin", [b"", b"{", b"[]", b"null", b"\xff" * 100, b"x" * 1_000_000])
def test_a_payload_that_is_none_breaks_nothing(tmp_path: Path, stdin: bytes) -> None:
    result = hooked(*options(tmp_path), stdin=stdin)
    assert (result.stdout, result.stderr, result.returncode) == (b"{}\n", b"", 0)
    assert not (tmp_path / "events").exists()


def test_a_closed_standard_input_and_output_break_nothing(tmp_path: Path) -> None:
    script = 'exec "$@" <&- >&- 2>&-'
    result = subprocess.run(  # noqa: S603 - our own code
        ["/bin/sh", "-c", script, "sh", *COMMAND, "hook", *options(tmp_path)],
        capture_output=True,
        check=False,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: (folder / "state").write_bytes(b"a file"),
        lambda folder: (folder / "events").mkdir(),
        lambda folder: ((folder / "state").mkdir(), (folder / "state" / "key").mkdir()),
        lambda folder: (
            (folder / "state").mkdir(),
            (folder / "state" / "sessions").write_bytes(b"a file"),
        ),
    ],
    ids=["no state folder", "no file of events", "no key", "no sessions"],
)
def test_what_cannot_be_written_breaks_nothing(tmp_path: Path, spoil: Any) -> None:
    spoil(tmp_path)
    result = hooked(*options(tmp_path))
    assert (result.stdout, result.stderr, result.returncode) == (b"{}\n", b"", 0)


@pytest.mark.parametrize(
    "wrong", [[], ["--nothing"], ["--agent", "pi"], ["--agent=claude", "more"], ["--state"]]
)
def test_wrong_arguments_are_explained_and_break_nothing(wrong: list[str]) -> None:
    result = hooked(*wrong)
    assert (result.stdout, result.returncode) == (b"{}\n", 0)
    assert b"Usage: ctxmeasure hook" in result.stderr


@pytest.mark.parametrize("wrong", [[], ["--help"]])
def test_without_click_a_hook_breaks_nothing(wrong: list[str]) -> None:
    blocked = f"import sys; sys.modules['click'] = None; {COMMAND[2]}"
    result = hooked(*wrong, command=(sys.executable, "-c", blocked))
    assert result.returncode == (2 if wrong else 0)
    assert b"needs click" in result.stderr


def test_help_is_help() -> None:
    result = hooked("--help")
    assert result.stdout.startswith(b"Usage: ctxmeasure hook")
    assert (result.stderr, result.returncode) == (b"", 0)


def test_neither_command_needs_click_attrs_or_a_decoder_before_its_agent_has_an_answer(
    tmp_path: Path,
) -> None:
    heavy = {"attrs", "cattrs", "click", "orjson", "rich", "typing", "dataclasses", "subprocess"}
    program = (
        "import os, sys; os._exit = sys.exit; from ctxmeasure.cli import main\n"
        "try: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    )
    command = (sys.executable, "-c", program)
    loaded = {*hooked(*options(tmp_path), command=command).stderr.decode().split()}
    assert "ctxmeasure.cli.swift.hook" in loaded
    assert loaded & {*heavy, "json", "re", "enum", "signal"} == set()
    line = (SCENE / "statusline.jsonl").read_bytes().splitlines()[-1]
    shown = subprocess.run(  # noqa: S603 - our own code
        [*command, "statusline"], input=line, capture_output=True, check=True
    )
    loaded = {*shown.stderr.decode().split()}
    assert "ctxmeasure.cli.swift.glance" in loaded
    assert loaded & heavy == set()


# -- the same in this process, step by step -------------------------------------------------------


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    done: list[bytes] = []
    monkeypatch.setattr(os, "write", lambda _, data: done.append(data))
    monkeypatch.setattr(payload, "read", lambda: ENDED)
    return done


GIVEN = {"--agent": "claude", "--state": "s", "--out": "o"}


def test_the_answer_comes_before_the_payload_is_read(
    said: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read() -> bytes:
        said.append(b"read")
        return ENDED

    monkeypatch.setattr(payload, "read", read)
    monkeypatch.setattr(detached, "start", lambda _: said.append(b"start"))
    assert hook.run(GIVEN) == 0
    assert said == [b"{}\n", b"read", b"start"]


@pytest.mark.parametrize("waits", [True, False])
def test_a_hook_waits_if_it_is_told_to(
    said: list[bytes], monkeypatch: pytest.MonkeyPatch, waits: bool
) -> None:
    monkeypatch.setattr(detached, "start", lambda _: 17)
    monkeypatch.setattr(detached, "wait", lambda child: said.append(str(child).encode()))
    assert hook.run({**GIVEN, **({"--wait": ""} if waits else {})}) == 0
    assert said[1:] == ([b"17"] if waits else [])


def test_what_is_started_samples(
    said: list[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sampled: list[Any] = []
    monkeypatch.setattr(detached, "start", lambda work: work())
    monkeypatch.setattr(hook, "_sample", lambda *asked: sampled.append(asked))
    assert hook.run(GIVEN) == 0
    ((raw, received_at, given),) = sampled
    assert (raw, given) == (ENDED, GIVEN)
    assert said == [b"{}\n"]
    monkeypatch.undo()
    kept = {"--state": str(tmp_path / "s"), "--out": str(tmp_path / "o")}
    hook._sample(raw, received_at, {**given, **kept})
    assert len((tmp_path / "o").read_bytes().splitlines()) == 1


def test_where_there_are_no_such_processes_a_hook_only_answers(
    said: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detached, "SUPPORTED", False)
    monkeypatch.setattr(detached, "start", None)
    assert hook.run(GIVEN) == 0
    assert said == [b"{}\n"]


def test_an_agent_that_has_gone_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise BrokenPipeError

    monkeypatch.setattr(os, "write", refuse)
    hook.answer()


# -- the entry point ------------------------------------------------------------------------------


def called(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Any:
    monkeypatch.setattr(sys, "argv", ["ctxmeasure", *arguments])
    monkeypatch.setattr(os, "_exit", sys.exit)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code


def test_what_is_called_rightly_is_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[object] = []

    def run_hook(given: object) -> int:
        runs.append(given)
        return 0

    monkeypatch.setattr(hook, "run", run_hook)
    typed = [*("--agent", "claude"), "--state=s", "--out=o"]
    assert called(monkeypatch, "hook", *typed) == 0
    assert runs == [GIVEN]
    assert run("hook", *typed, "--wait").exit_code == 0
    assert runs[1] == {**GIVEN, "--wait": ""}


def test_what_is_called_wrongly_is_answered_and_explained(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answered: list[object] = []
    monkeypatch.setattr(hook, "answer", lambda: answered.append("{}"))
    assert called(monkeypatch, "hook", "--nothing") == 0
    assert answered == ["{}"]
    assert called(monkeypatch, "statusline", "--nothing") == 2
    assert called(monkeypatch, "hook", "--help") == 0
    assert "Usage: ctxmeasure statusline" in capsys.readouterr().err


def test_the_commands_of_the_room_are_those_that_click_lists() -> None:
    listed = run("--help").stdout
    assert all(f"  {command} " in listed for command in swift.COMMANDS)
