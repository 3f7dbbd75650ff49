"""The generated tables say all that the code says."""

from __future__ import annotations

import pkgutil
import re
from enum import StrEnum
from pathlib import Path

import generate
import house_rules
import pytest

import ctxmeasure
from ctxmeasure import assess
from ctxmeasure.evidence import Phase
from ctxmeasure.observation import (
    Attestation,
    Completeness,
    Confidence,
    LimitBasis,
    MissingReason,
    UsedBasis,
)


class Marked(StrEnum):
    A = "a|b"
    """Kept."""


def rows(markdown: str) -> list[list[str]]:
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@pytest.mark.parametrize("reason", MissingReason)
def test_every_missing_reason_is_listed_with_what_to_do(reason: MissingReason) -> None:
    assert [f"`{reason}`", reason.__doc__] in rows(generate.reasons())


@pytest.mark.parametrize("rule", assess.RULES, ids=lambda rule: rule.name)
def test_every_rule_of_the_judge_is_listed_with_its_outcome(rule: assess.Rule) -> None:
    match rule:
        case assess.Grade(
            attestation=attestation, confidence=confidence, completeness=completeness
        ):
            outcome = [f"`{attestation}`", f"`{confidence}`", f"`{completeness}`"]
        case assess.Ceiling(confidence=confidence):
            outcome = [f"`{confidence}`"]
        case assess.Refusal(reason=reason):
            outcome = [f"`{reason}`"]
        case _:
            pytest.fail("a kind of rule that the docs do not show")
    assert [rule.when, *outcome] in rows(generate.judge())


@pytest.mark.parametrize(
    "enum", [Attestation, Confidence, Completeness, UsedBasis, LimitBasis], ids=lambda e: e.__name__
)
def test_every_word_of_a_vocabulary_is_listed_with_its_meaning(enum: type[StrEnum]) -> None:
    listed = rows(generate.vocabulary(enum))
    for member in enum:
        assert member.__doc__
        assert [f"`{member}`", member.__doc__] in listed


@pytest.mark.parametrize("phase", Phase)
def test_a_docstring_below_a_member_is_its_meaning(phase: Phase) -> None:
    (meaning,) = (row[1] for row in rows(generate.vocabulary(Phase)) if row[0] == f"`{phase}`")
    assert meaning
    assert meaning != Phase.__doc__


def test_a_table_cell_may_hold_the_column_mark() -> None:
    assert "| `a\\|b` | Kept. |" in generate.vocabulary(Marked)


def test_all_pages_are_written_anew_into_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "_generated"
    generate.write(folder)
    generate.write(folder)
    written = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert written == {f"{name}.md": page() for name, page in generate.PAGES.items()}


def test_every_name_of_the_front_door_leads_to_where_it_is_described() -> None:
    listed = dict(rows(generate.front_door())[2:])
    targets = {name: re.fullmatch(r"\{py:obj\}`(\w+) <(\S+)>`", name) for name in listed}
    described = {found[1]: found[2] for found in targets.values() if found is not None}
    assert {*described, *(name.strip("`") for name in listed if targets[name] is None)} == {
        *ctxmeasure.__all__
    }
    for name, target in described.items():
        assert pkgutil.resolve_name(target) is getattr(ctxmeasure, name)


def test_a_name_of_the_front_door_has_the_first_sentence_of_its_docstring() -> None:
    listed = dict(rows(generate.front_door())[2:])
    assert listed["{py:obj}`observe <ctxmeasure.reading.observe>`"].startswith("Return how full")
    assert listed["{py:obj}`Source <ctxmeasure.source.Source>`"] == "A source of readings."


def test_every_public_module_is_in_the_reference() -> None:
    listed = re.findall(r"automodule:: ctxmeasure\.(\S+)", generate.api())
    package = Path(__file__).resolve().parents[2] / "src" / "ctxmeasure"
    public = {
        module.name
        for module in house_rules.source_modules(package)
        if module.name and module.room not in {"cli", "__main__"} and "._" not in module.name
    }
    assert sorted(listed) == sorted(public)
