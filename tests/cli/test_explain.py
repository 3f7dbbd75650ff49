"""``ctxmeasure explain``: why this number, in sentences."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CLAUDE, run

from ctxmeasure.testing import databases

TRANSCRIPT = next((CLAUDE / "b-tools/session").glob("*.jsonl"))
UNKNOWN = next((CLAUDE / "g-unknown-model/session").glob("*.jsonl"))


def said(*arguments: str | Path, stdin: bytes | None = None) -> list[str]:
    return run("explain", *arguments, stdin=stdin).stdout.splitlines()


def test_the_source_is_told_by_its_looks_and_the_rest_follows() -> None:
    first, *_, parts, version, cost = said(TRANSCRIPT)
    assert first.startswith("16,108 tokens are in use against a limit of 200,000: that is 8%")
    assert parts.startswith("The request's parts: input ")
    assert version == "The agent's version is 2.1.332."
    assert cost == "To tell this, 65,536 bytes were read, and 2 rows or values decoded."


def test_what_is_missing_is_explained_with_its_own_status() -> None:
    result = run("explain", UNKNOWN)
    assert result.exit_code == 3
    assert result.stdout.startswith("There is no measurement: model unknown.\n")
    assert "which is all there is" in result.stdout
    assert run("explain", UNKNOWN, "--limit", "200000").exit_code == 0


def test_rows_that_could_not_be_decoded_are_told(tmp_path: Path) -> None:
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(TRANSCRIPT.read_bytes() + b'{"type":"assistant","usage"')
    assert said(torn, "--source", "claude.transcript")[-1].endswith("decoded, 1 could not be.")


def test_a_payload_is_no_file_and_costs_no_more_to_tell() -> None:
    *_, payload = (CLAUDE / "h-tui/statusline.jsonl").read_bytes().splitlines()
    assert any("claude.status_line" in line for line in said(stdin=payload))


def test_a_file_that_is_not_there_has_no_cost() -> None:
    assert not any("bytes" in line for line in said("absent.jsonl", "--source", "pi.session"))
    assert "The source is pi.session." in said("absent.jsonl", "--source", "pi.session")
    assert not any("The source is" in line for line in said("absent.jsonl"))


def test_a_database_needs_its_source_named(tmp_path: Path) -> None:
    path = databases.write(tmp_path / "store.db", {}, tables=databases.CHAT_TABLES)
    assert run("explain", path).exit_code == 2
    assert (
        said(path, "--source", "cursor.chat_store")[0]
        == "There is no measurement: not measured yet."
    )


@pytest.mark.parametrize("arguments", [["--source", "no.source"], ["--agent", ""]])
def test_wrong_arguments_are_told(arguments: list[str]) -> None:
    assert run("explain", TRANSCRIPT, *arguments).exit_code == 2
