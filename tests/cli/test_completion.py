"""Shells complete commands, options, sources and agents."""

from __future__ import annotations

import os
import subprocess

import pytest
from click.shell_completion import CompletionItem, ShellComplete
from command_line import COMMAND

from ctxmeasure.cli.commands import ctxmeasure


def completed(words: str, typed: str = "") -> set[str]:
    """Return what a shell is offered behind *words* for what is *typed* of the next one."""
    return {offer.value for offer in offered(words, typed)}


def offered(words: str, typed: str) -> list[CompletionItem]:
    shell = ShellComplete(ctxmeasure, {}, "ctxmeasure", "_CTXMEASURE_COMPLETE")
    return shell.get_completions(words.split()[1:], typed)


@pytest.mark.parametrize(
    ("words", "typed", "expected"),
    [
        ("ctxmeasure", "s", {"sessions", "sources", "statusline", "stream"}),
        ("ctxmeasure sessions", "--no", {"--no-names"}),
        ("ctxmeasure sessions --agent", "c", {"claude", "codex", "cursor"}),
        ("ctxmeasure observe", "claude.s", {"claude.status_line", "claude.stream"}),
        ("ctxmeasure check", "au", {"auto"}),
        ("ctxmeasure explain --source", "text", {"text"}),
        ("ctxmeasure stream", "c", {"claude.stream", "codex.app_server", "codex.exec"}),
        ("ctxmeasure sessions --sort", "", {"newest", "pressure", "agent"}),
        ("ctxmeasure observe --phase", "l", {"latest"}),
        ("ctxmeasure observe --counts", "", {"own", "prompt"}),
        ("ctxmeasure models --client", "c", {"claude", "codex"}),
        ("ctxmeasure run --adapter", "p", {"pi"}),
        ("ctxmeasure hook --agent", "c", {"claude", "codex", "cursor"}),
        ("ctxmeasure statusline --format", "b", {"bar"}),
        ("ctxmeasure explain", "@p", {"@pi"}),
        ("ctxmeasure history", "@cl", {"@claude"}),
        ("ctxmeasure observe auto", "@co", {"@codex"}),
        ("ctxmeasure check auto", "@cu", {"@cursor"}),
    ],
)
def test_a_shell_is_offered_what_fits(words: str, typed: str, expected: set[str]) -> None:
    assert completed(words, typed) == expected


@pytest.mark.parametrize(
    "words",
    [
        "ctxmeasure history",
        "ctxmeasure history s.jsonl --html",
        "ctxmeasure explain",
        "ctxmeasure observe auto",
        "ctxmeasure check auto",
        "ctxmeasure run --log",
        "ctxmeasure hook --state",
        "ctxmeasure statusline --wrap",
    ],
)
def test_where_a_file_belongs_a_shell_offers_its_files(words: str) -> None:
    assert [(offer.type, offer.value) for offer in offered(words, "~/.cl")] == [("file", "~/.cl")]


def test_a_script_for_the_shell_is_printed() -> None:
    result = subprocess.run(  # noqa: S603 - our own code
        COMMAND,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "_CTXMEASURE_COMPLETE": "zsh_source"},
    )
    assert "compdef _ctxmeasure_completion ctxmeasure" in result.stdout
