"""The documentation's tables, generated from the code they describe.

`conf.py` writes them into ``_generated`` at the start of every build, so that a page cannot say
something else than the library does. Each page is a function from nothing to Markdown.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path

import ctxmeasure
from ctxmeasure import assess, evidence, observation

__all__ = ["PAGES", "api", "judge", "reasons", "vocabulary", "write"]


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table; a cell may hold anything but a line break."""
    lines = [[cell.replace("|", "\\|") for cell in row] for row in (head, *rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def vocabulary(enum: type[StrEnum]) -> str:
    """Return the table of an enum's members with their docstrings."""
    written = _written_below(enum)
    return _table(
        ("Value", "Meaning"),
        ((f"`{member}`", written.get(member.name) or member.__doc__ or "") for member in enum),
    )


def _written_below(enum: type[StrEnum]) -> dict[str, str]:
    """Return the docstrings that stand below the members, by member name."""
    (definition,) = ast.parse(inspect.getsource(enum)).body
    assert isinstance(definition, ast.ClassDef)  # noqa: S101 - getsource of a class gives a class
    found = {}
    for above, below in itertools.pairwise(definition.body):
        match above, below:
            case (
                ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = inspect.cleandoc(text)
    return found


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


def api() -> str:
    """Return the reference of every public module, as directives for autodoc."""
    found = pkgutil.walk_packages(ctxmeasure.__path__, prefix="ctxmeasure.")
    public = (module for module in found if not _is_private(module.name))
    return "".join(
        f"## `{module.name}`\n\n"
        f"```{{eval-rst}}\n.. automodule:: {module.name}\n   :members:\n"
        # What a package re-exports is described where it is defined.
        f"{'   :ignore-module-all:' if module.ispkg else ''}\n```\n\n"
        for module in public
    )


def _is_private(module: str) -> bool:
    """Whether no user imports from *module*: marked by underscore, or behind the command line."""
    return any(part.startswith("_") for part in module.split(".")) or ".cli" in module


PAGES: Mapping[str, Callable[[], str]] = {
    "attestation": lambda: vocabulary(observation.Attestation),
    "confidence": lambda: vocabulary(observation.Confidence),
    "completeness": lambda: vocabulary(observation.Completeness),
    "used_basis": lambda: vocabulary(observation.UsedBasis),
    "phase": lambda: vocabulary(evidence.Phase),
    "limit_basis": lambda: vocabulary(observation.LimitBasis),
    "reasons": reasons,
    "judge": judge,
    "api": api,
}
"""The generated fragments by file name, without the suffix."""


def write(folder: Path) -> None:
    """Write every fragment into *folder*, which is made if need be."""
    folder.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (folder / f"{name}.md").write_text(page(), encoding="utf-8")
