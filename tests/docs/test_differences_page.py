"""The page on differences shows what the tests show: each reader, its relation, and our answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from published_readers import PEERS, Peer
from relations import RELATIONS, Relation
from test_cases import ALL, AT, CASES
from tongues import Said

import ctxmeasure as cm

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8")
HEAD = "| Reported in | What is read there | What it says | ctxmeasure |"


def section(title: str) -> str:
    """Return the text under a heading, up to the next one."""
    _, _, text = PAGE.partition(f"# {title[0].upper()}{title[1:]}\n")
    return re.split(r"^#+ ", text, maxsplit=1, flags=re.MULTILINE)[0]


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: f"{peer.report}: {peer.of}")
def test_a_reader_stands_under_the_relation_that_it_breaks(peer: Peer) -> None:
    row = f"| {peer.link} | {peer.of} | {peer.theirs} | {peer.ours} |\n"
    assert section(peer.breaks).count(row) == 1


def test_no_other_reader_stands_there() -> None:
    tables = PAGE.split(f"{HEAD}\n| --- | --- | --- | --- |\n")[1:]
    rows = [line for table in tables for line in table.partition("\n\n")[0].splitlines()]
    assert len(rows) == len(PEERS)


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.name)
def test_a_relation_is_named(relation: Relation) -> None:
    assert section(relation.name) or relation.name in " ".join(PAGE.split())


# -- the published cases --------------------------------------------------------------------------


def accepted(expect: dict[str, Any]) -> Iterator[str]:
    """Yield the answers that a case accepts, in the page's words."""
    for alternative in expect.get("any_of", [expect]):
        if "missing" in alternative:
            yield from (f"`{reason}`" for reason in alternative["missing"])
        elif "used_percent" in alternative:
            yield f"{alternative['used_percent']:g} %"
        else:
            limit = alternative.get("limit_tokens")
            yield str(Said(alternative["used_tokens"], limit))


def leaves_a_choice(expect: dict[str, Any]) -> bool:
    is_count_alone = "used_tokens" in expect and "limit_tokens" not in expect
    return is_count_alone or len([*accepted(expect)]) > 1


def our_answer(case: dict[str, Any]) -> Said:
    data = CASES / case["file"] if "file" in case else json.dumps(case["payload"]).encode()
    return Said.of(cm.observe(case["source"], data, at=AT))


CHOICES = [case for case in ALL if leaves_a_choice(case["expect"])]


@pytest.mark.parametrize("case", CHOICES, ids=lambda case: case["id"])
def test_a_case_that_leaves_a_choice_has_our_answer(case: dict[str, Any]) -> None:
    row = f"| `{case['id']}` | {' or '.join(accepted(case['expect']))} | {our_answer(case)} |"
    assert section("The published cases").splitlines().count(row) == 1


def test_the_page_has_no_other_case() -> None:
    assert section("The published cases").count("\n| `") == len(CHOICES)


def test_every_transcript_is_one_of_a_case() -> None:
    named = {case["file"] for case in ALL if "file" in case}
    assert named == {f"transcripts/{path.name}" for path in (CASES / "transcripts").iterdir()}
