"""The configurations that the page on hooks shows are ones that work."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxmeasure.cli.swift.options import HOOK, STATUS_LINE, parse
from ctxmeasure.sampler import Boundary, boundary_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = "".join(
    path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "hooks.md", ROOT / "README.md")
)
FENCE = re.compile(r"^```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = [json.loads(fence) for fence in FENCE.findall(PAGES)]

# Events that measure nothing at their own boundary, and are configured for what they carry.
_CARRIERS = {"SessionStart"}
_OF_PERMISSIONS = {
    *("preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"),
    *("beforeSubmitPrompt", "subagentStart", "PreToolUse"),
}


def commands(shown: Any) -> Iterator[list[str]]:
    match shown:
        case {"command": str(command)}:
            yield shlex.split(command)
        case dict():
            for each in shown.values():
                yield from commands(each)
        case list():
            for each in shown:
                yield from commands(each)


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: next(iter(shown)))
def test_every_command_is_one_that_is_taken_at_once(shown: Any) -> None:
    found = [*commands(shown)]
    assert found
    for program, command, *arguments in found:
        assert program == "ctxmeasure"
        assert parse(arguments, {"hook": HOOK, "statusline": STATUS_LINE}[command]) is not None


@pytest.mark.parametrize(
    "shown", [shown for shown in SHOWN if "hooks" in shown], ids=lambda shown: str(len(shown))
)
def test_every_event_is_one_at_which_there_is_something_to_do(shown: Any) -> None:
    for event in shown["hooks"]:
        boundary = boundary_of({"hook_event_name": event})
        assert boundary is not Boundary.OTHER or event in _CARRIERS
        assert event not in _OF_PERMISSIONS


def test_the_page_shows_every_agent() -> None:
    agents = {
        argument
        for shown in SHOWN
        for command in commands(shown)
        for argument in command
        if argument in {"claude", "codex", "cursor"}
    }
    assert agents == {"claude", "codex", "cursor"}
