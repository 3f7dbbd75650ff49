"""What is typed wrong is told by its name and what it expects, and never repeated."""

from __future__ import annotations

import pytest
from click.shell_completion import ShellComplete
from command_line import run

from ctxmeasure.cli.commands import ctxmeasure

TYPED = "SENTINEL"

WRONG = {
    "a command": [TYPED],
    "an extra argument": ["sources", TYPED],
    "two extra arguments": ["observe", "claude.hook", "-", TYPED, TYPED],
    "a source": ["observe", TYPED],
    "a source of streams": ["stream", TYPED],
    "a source of files as a stream": ["stream", "claude.transcript"],
    "auto as a stream": ["stream", "auto"],
    "a phase": ["observe", "claude.hook", "--phase", TYPED],
    "what counts": ["observe", "claude.hook", "--counts", TYPED],
    "a client": ["models", "--client", TYPED],
    "an empty session": ["observe", "claude.hook", "--session", ""],
    "an empty turn": ["observe", "claude.hook", "--turn", ""],
    "an empty agent": ["observe", "claude.hook", "--agent", ""],
    "an empty model": ["observe", "claude.hook", "--model", ""],
    "an empty id": ["models", ""],
    "no source": ["observe"],
    **{
        f"{option} {typed}": ["observe", "claude.hook", option, typed]
        for option in ("--limit", "--max-bytes")
        for typed in (TYPED, "0", "-1", "1.5", "", "9" * 5000)
    },
    **{
        f"{option} {typed}": ["observe", "claude.hook", option, typed]
        for option in ("--at", "--turn-started-at")
        for typed in (TYPED, "", "2026-11-29", "2026-11-29T18:00:00", "0001-01-01T00:00:00+10:00")
    },
    **{
        f"--max-age {typed}": ["observe", "claude.hook", "--max-age", typed]
        for typed in (TYPED, "", "-1", "nan", "inf")
    },
}


@pytest.mark.parametrize("arguments", WRONG.values(), ids=[name[:40] for name in WRONG])
def test_a_wrong_argument_is_status_2_and_one_message_without_it(arguments: list[str]) -> None:
    result = run(*arguments, stdin=b"{}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Error: " in result.stderr
    assert TYPED not in result.stderr
    assert "9" * 10 not in result.stderr


@pytest.mark.parametrize("command", [["observe"], ["check", "--max", "85"]])
def test_a_file_in_the_place_of_a_source_is_told_its_own(command: list[str]) -> None:
    result = run(*command, f"{TYPED}.jsonl")
    assert result.exit_code == 2
    assert "FILE comes behind it: `auto FILE`" in result.stderr
    assert TYPED not in result.stderr


@pytest.mark.parametrize("option", ["--at", "--limit", "--phase", "--max-age", "--session"])
def test_the_message_names_the_option(option: str) -> None:
    assert option in run("observe", "claude.hook", option, "", stdin=b"{}").stderr


def test_the_message_lists_what_can_be_chosen_from() -> None:
    assert "auto or one of claude.transcript, claude.stream" in run("observe", TYPED).stderr
    streams = "claude.stream, codex.app_server, codex.exec, pi.stream, acp.session, text"
    assert f"expected one of {streams}\n" in run("stream", TYPED).stderr
    assert "stream, run, hook, statusline, sources, models" in run(TYPED).stderr


@pytest.mark.parametrize(
    "typed", ["2026-11-29T18:30:00Z", "2026-11-29T19:30:00+01:00", "20261129T183000.000+00:00"]
)
def test_a_moment_can_be_written_in_any_zone(typed: str) -> None:
    payload = b'{"context_window": {"used_percentage": 5}, "exceeds_200k_tokens": false}'
    result = run("observe", "claude.status_line", "--at", typed, stdin=payload)
    assert '"measured_at":"2026-11-29T18:30:00.000Z"' in result.stdout


def test_completion_goes_on_behind_a_command_it_does_not_know() -> None:
    completer = ShellComplete(ctxmeasure, {}, "ctxmeasure", "_CTXMEASURE_COMPLETE")
    assert [item.value for item in completer.get_completions([], "so")] == ["sources"]
    assert completer.get_completions([TYPED], "st") is not None
