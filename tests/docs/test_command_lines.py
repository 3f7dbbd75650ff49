"""Every command line that a page shows prints what the page shows.

They stand in ``console`` fences and run in a shell at the top of the recordings; those of one fence
share that shell. ``...`` stands for anything, as in a doctest. What a command says on standard
error is part of what a reader sees, and so of what is compared.
"""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import click
import pytest
from command_line import COMMAND, COMMANDS, command_of, run

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]
RECORDINGS = ROOT / "tests" / "recordings"
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
CLI_PAGE = ROOT / "docs" / "cli.md"

FENCE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^\$ (.+\n)((?:(?!\$ ).*\n)*)", re.MULTILINE)


def sessions(page: Path) -> Iterator[tuple[str, str]]:
    """Yield where each fence of a page stands and what it shows."""
    text = page.read_text(encoding="utf-8")
    for fence in FENCE.finditer(text):
        yield f"{page.name}:{text.count(chr(10), 0, fence.start()) + 1}", fence[1]


SESSIONS = dict(chain.from_iterable(map(sessions, PAGES)))

# Between two commands of a session; no output holds a bell.
END = "\a"


def printed(session: str) -> list[str]:
    """Return what each command of a session prints, when they run in one shell."""
    commands = [shown[1] for shown in SHOWN.finditer(session)]
    script = f'ctxmeasure() {{ {shlex.join(COMMAND)} "$@"; }}\n'
    script += "".join(f"{command}printf '{END}'\n" for command in commands)
    shell = subprocess.run(  # noqa: S603 - our own pages
        ["bash", "-c", script],  # noqa: S607 - whichever bash there is
        cwd=RECORDINGS,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return shell.stdout.split(END)[:-1]


def same(shown: str, got: str) -> bool:
    return doctest.OutputChecker().check_output(shown, got, doctest.ELLIPSIS)


def differences(session: str) -> list[tuple[str, str]]:
    """Return what a session shows and what is printed instead."""
    shown = [command[2] for command in SHOWN.finditer(session)]
    got = printed(session)
    assert len(got) == len(shown) > 0
    return [pair for pair in zip(shown, got, strict=True) if not same(*pair)]


@pytest.mark.parametrize("session", SESSIONS.values(), ids=SESSIONS)
def test_a_command_line_prints_what_its_page_shows(session: str) -> None:
    assert differences(session) == []


def test_a_wrong_output_is_found_and_the_variables_of_a_fence_are_shared() -> None:
    right = "$ word=two\n$ echo one $word; echo three >&2\none two\nthree\n$ echo\n\n"
    assert differences(right) == []
    assert differences(right.replace("three\n$", "four\n$")) == [
        ("one two\nfour\n", "one two\nthree\n")
    ]
    assert differences(right.replace("one two\n", "", 1)) != []


def test_the_readmes_command_prints_what_the_readme_shows() -> None:
    shown = re.search(
        r"<!-- ci: install -->\n```sh\n.*/ctxmeasure (.*)\n```\n.*?```text\n(.*?)```",
        README.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    assert shown is not None
    arguments, output = shown.groups()
    absolute = [str(ROOT / word) if "/" in word else word for word in shlex.split(arguments)]
    assert same(output, run(*absolute).stdout)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_on_the_command_line_names_every_command_and_option(name: str) -> None:
    command = command_of(name)
    page = CLI_PAGE.read_text(encoding="utf-8")
    assert f"\n## `{command.name}`\n" in page
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    unnamed = [o.opts[0] for o in options if not re.search(rf"`{o.opts[0]}[ `]", page)]
    assert unnamed == []
