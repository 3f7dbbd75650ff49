"""``ctxmeasure models``: the window that an id decides, and the table of them all."""

from __future__ import annotations

from typing import Any

import pytest
from command_line import lines, run

from ctxmeasure.capability import table
from ctxmeasure.capability.model import Capability, Certainty, ModelRef


def facts(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = lines(run("models", *arguments, "--json").stdout)
    return found


def test_an_id_that_decides_its_window_has_one() -> None:
    result = run("models", "claude-haiku-4-5", "--json")
    (found,) = lines(result.stdout)
    assert (found["certainty"], found["window_tokens"]) == ("decided", 200_000)
    assert {"provider", "id", "source", "as_of"} <= found.keys()
    assert (result.exit_code, result.stderr) == (0, "")


def test_where_something_else_decides_there_are_candidates_and_no_window() -> None:
    result = run("models", "claude-opus-4-6", "--client", "claude", "--json")
    (found,) = lines(result.stdout)
    assert found["certainty"] == "undecided"
    assert found["candidate_window_tokens"] == [200_000, 1_000_000]
    assert "window_tokens" not in found
    assert result.exit_code == 3


def test_the_marker_decides_what_the_bare_id_does_not() -> None:
    found = facts("claude-opus-4-6[1m]", "--client", "claude")
    assert (found["window_tokens"], found["reduced_window_tokens"]) == (1_000_000, 200_000)


def test_a_marker_that_is_not_served_leaves_the_window_open() -> None:
    result = run("models", "claude-sonnet-4-5[1m]", "--client", "claude", "--json")
    (found,) = lines(result.stdout)
    assert (found["certainty"], found["why"]) == ("undecided", "marker-unsupported")
    assert found["candidate_window_tokens"] == [200_000, 1_000_000]
    assert result.exit_code == 3


def test_an_id_without_a_row_is_unresolved_and_not_repeated() -> None:
    result = run("models", "a-model-of-tomorrow", "--json")
    assert lines(result.stdout) == [{"certainty": "unresolved", "why": "unknown-model"}]
    assert (result.exit_code, result.stderr) == (3, "")


def test_the_client_and_the_provider_are_part_of_the_question() -> None:
    assert facts("gpt-5.5", "--client", "codex")["window_tokens"] == 258_400
    assert "window_tokens" not in facts("gpt-5.5")
    assert facts("gpt-5.5", "--client", "pi")["why"] == "provider-not-stated"
    assert "window_tokens" in facts("gpt-5.5", "--client", "pi", "--provider", "openai")


def test_the_moment_is_part_of_the_question() -> None:
    changing = next(row for row in table.models() if row.client is None and len(row.spans) > 1)
    asked = ("--provider", changing.provider, changing.id)
    early = facts(*asked, "--at", f"{changing.spans[0].end_day.isoformat()}T00:00:00+02:00")
    assert early != facts(*asked)


@pytest.mark.parametrize("client", [None, "claude", "codex", "pi"])
def test_the_table_says_of_each_model_what_its_id_alone_would(client: str | None) -> None:
    named = [] if client is None else ["--client", client]
    result = run("models", *named, "--json")
    (rows,) = lines(result.stdout)
    keys = [(row["provider"], row["id"]) for row in rows]
    assert len(set(keys)) == len(keys)
    assert set(keys) == {(r.provider, r.id) for r in table.models() if r.client == client}
    for row in rows:
        found = table.resolve(ModelRef(id=row["id"], provider=row["provider"]), client=client)
        decided = isinstance(found, Capability) and found.certainty is not Certainty.UNDECIDED
        assert ("window_tokens" in row) == decided
    assert (result.exit_code, result.stderr) == (0, "")


def test_the_table_can_be_that_of_one_provider() -> None:
    (rows,) = lines(run("models", "--provider", "anthropic", "--json").stdout)
    assert {row["provider"] for row in rows} == {"anthropic"}


@pytest.mark.parametrize(
    ("arguments", "window"),
    [
        (["claude-haiku-4-5"], "200000"),
        (["claude-opus-4-6", "--client", "claude"], "200000 or 1000000"),
        (["claude-opus-5", "--client", "claude"], "1000000, at least 200000"),
        (["a-model-of-tomorrow"], ""),
    ],
)
def test_people_get_the_window_and_what_else_it_can_be(arguments: list[str], window: str) -> None:
    header, row = run("models", *arguments).stdout.split("\n", 1)
    cells = dict(zip(header.split("\t"), row.rstrip("\n").split("\t"), strict=True))
    assert cells["window"] == window
