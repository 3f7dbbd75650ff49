"""The swift parser takes what click takes in the same sense, and nothing that click refuses."""

from __future__ import annotations

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.cli import for_agents
from ctxmeasure.cli.swift.options import HOOK, STATUS_LINE, parse

words = st.sampled_from(
    [
        *("--agent", "--agent=claude", "--agent=", "--state", "--out", "--out=o", "--wait"),
        *("--wait=", "--wrap", "--wrap=c d", "--format", "--format=bar", "--format=x", "-h"),
        *("claude", "cursor", "x", "", "--", "--help", "--nothing", "summary"),
    ]
)


def clicked(command: click.Command, arguments: list[str]) -> dict[str, str] | None:
    """Return what click makes of *arguments*, spelled as `parse` spells it."""
    try:
        context = command.make_context("x", list(arguments), resilient_parsing=False)
    except (click.ClickException, click.exceptions.Exit):
        return None
    return {
        f"--{name}": "" if value is True else value
        for name, value in context.params.items()
        if value not in (None, False)
    }


@pytest.mark.parametrize(
    ("command", "options"), [(for_agents.hook, HOOK), (for_agents.statusline, STATUS_LINE)]
)
@given(arguments=st.lists(words, max_size=8))
def test_what_is_taken_is_taken_as_click_takes_it(
    command: click.Command, options: dict[str, object], arguments: list[str]
) -> None:
    given_options = parse(arguments, options)  # type: ignore[arg-type]
    if given_options is not None:
        assert given_options == clicked(command, arguments)


def test_both_spellings_of_a_value_are_taken() -> None:
    asked = ["--agent", "claude", "--state=s=t", "--out", "o", "--wait"]
    assert parse(asked, HOOK) == {
        "--agent": "claude",
        "--state": "s=t",
        "--out": "o",
        "--wait": "",
    }


@pytest.mark.parametrize(
    "arguments",
    [
        ["--agent", "claude", "--state", "s"],
        ["--agent", "pi", "--state", "s", "--out", "o"],
        ["--agent", "claude", "--state", "s", "--out"],
        ["--agent", "claude", "--state", "s", "--out", ""],
        ["--agent", "claude", "--state", "--out", "o"],
        ["--agent", "claude", "--state", "s", "--out", "o", "--wait=1"],
        ["--agent", "claude", "--state", "s", "--out", "o", "more"],
        ["--help"],
    ],
)
def test_what_is_not_clear_is_left_to_click(arguments: list[str]) -> None:
    assert parse(arguments, HOOK) is None


def test_where_to_keep_things_is_given_whole_or_not_at_all() -> None:
    assert parse([], STATUS_LINE) == {}
    assert parse(["--state", "s"], STATUS_LINE) is None
    assert parse(["--out", "o"], STATUS_LINE) is None
    assert parse(["--out", "o", "--state", "s"], STATUS_LINE) == {"--out": "o", "--state": "s"}
