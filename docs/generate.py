"""The documentation's tables, generated from the code they describe.

`conf.py` writes them into ``_generated`` at the start of every build, so that a page cannot say
something else than the library does. Each page is a function from nothing to Markdown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path

from ctxmeasure import assess, observation

__all__ = ["PAGES", "judge", "reasons", "vocabulary", "write"]


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table; a cell may hold anything but a line break."""
    lines = [[cell.replace("|", "\\|") for cell in row] for row in (head, *rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def vocabulary(enum: type[StrEnum]) -> str:
    """Return the table of an enum's members with their docstrings."""
    return _table(
        ("Value", "Meaning"), ((f"`{member.value}`", member.__doc__ or "") for member in enum)
    )


def reasons() -> str:
    """Return the table of all missing reasons and what to do about each."""
    return _table(
        ("Reason", "What it says, and what to do"),
        ((f"`{reason.value}`", reason.__doc__ or "") for reason in observation.MissingReason),
    )


def judge() -> str:
    """Return the judge's table: what is measured, what is lowered and what is refused."""
    grades = [rule for rule in assess.RULES if isinstance(rule, assess.Grade)]
    ceilings = [rule for rule in assess.RULES if isinstance(rule, assess.Ceiling)]
    refusals = [rule for rule in assess.RULES if isinstance(rule, assess.Refusal)]
    measured = _table(
        ("Evidence", "Attestation", "Confidence", "Completeness"),
        (
            (rule.when, f"`{rule.attestation}`", f"`{rule.confidence}`", f"`{rule.completeness}`")
            for rule in grades
        ),
    )
    lowered = _table(
        ("Evidence", "Confidence at most"),
        ((rule.when, f"`{rule.confidence}`") for rule in ceilings),
    )
    refused = _table(
        ("Evidence", "Missing reason"), ((rule.when, f"`{rule.reason}`") for rule in refusals)
    )
    return (
        f"## What is measured\n\n{measured}\n"
        f"## What lowers confidence\n\n{lowered}\n"
        f"## What is refused\n\n{refused}"
    )


PAGES: Mapping[str, Callable[[], str]] = {
    "attestation": lambda: vocabulary(observation.Attestation),
    "confidence": lambda: vocabulary(observation.Confidence),
    "completeness": lambda: vocabulary(observation.Completeness),
    "used_basis": lambda: vocabulary(observation.UsedBasis),
    "limit_basis": lambda: vocabulary(observation.LimitBasis),
    "reasons": reasons,
    "judge": judge,
}
"""The generated fragments by file name, without the suffix."""


def write(folder: Path) -> None:
    """Write every fragment into *folder*, which is made if need be."""
    folder.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (folder / f"{name}.md").write_text(page(), encoding="utf-8")
