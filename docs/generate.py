"""The documentation's tables, generated from the code they describe.

`conf.py` writes them into ``_generated`` at the start of every build, so that a page cannot say
something else than the library does. Each page is a function from nothing to Markdown.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from types import ModuleType

import ctxmeasure
from ctxmeasure import assess, evidence, observation, sampler
from ctxmeasure.record import names

__all__ = [
    "PAGES",
    "api",
    "front_door",
    "judge",
    "ledger_names",
    "reasons",
    "vocabulary",
    "write",
]


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table; a cell may hold anything but a line break."""
    lines = [[cell.replace("|", "\\|") for cell in row] for row in (head, *rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def vocabulary(enum: type[StrEnum]) -> str:
    """Return the table of an enum's members with their docstrings."""
    (definition,) = ast.parse(inspect.getsource(enum)).body
    assert isinstance(definition, ast.ClassDef)  # noqa: S101 - getsource of a class gives a class
    written = _written_below(definition.body)
    return _table(
        ("Value", "Meaning"),
        ((f"`{member}`", written.get(member.name) or member.__doc__ or "") for member in enum),
    )


def _written_below(body: Sequence[ast.stmt]) -> dict[str, str]:
    """Return the docstrings that stand below assignments, by the name assigned to."""
    found = {}
    for above, below in itertools.pairwise(body):
        match above, below:
            case (
                (ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name))),
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


def ledger_names() -> str:
    """Return the table of the methods that Harnery's ledger has a name for."""
    return _table(
        ("Our method", "`method` in an event", "`source_event`, less the version"),
        (
            (f"`{method}`", f"`{name.method}`", f"`{name.source_event}`")
            for method, name in names.NAMES.items()
        ),
    )


def front_door() -> str:
    """Return the table of all that ``import ctxmeasure`` gives, with a link to each description."""
    return _table(("Name", "What it is"), map(_front_door_row, ctxmeasure.__all__))


def _front_door_row(name: str) -> tuple[str, str]:
    found = getattr(ctxmeasure, name)
    if isinstance(found, ModuleType):
        target, text = found.__name__, found.__doc__
    else:
        home = next(m for m in _modules() if getattr(m, name, None) is found and _is_home(m, name))
        target = f"{home.__name__}.{name}"
        is_described = inspect.isclass(found) or inspect.isroutine(found)
        written = _written_below(ast.parse(inspect.getsource(home)).body)
        text = found.__doc__ if is_described else written.get(name)
    if not text:  # then the reference has no entry to link to
        return f"`{name}`", ""
    summary = " ".join(text.partition("\n\n")[0].split()).replace("``", "`")
    return f"{{py:obj}}`{name} <{target}>`", summary


def _is_home(module: ModuleType, name: str) -> bool:
    """Whether *module* defines *name*; packages only hand on what their modules define."""
    return name in getattr(module, "__all__", ()) and not hasattr(module, "__path__")


def api() -> str:
    """Return the reference of every public module, as directives for autodoc."""
    return "".join(
        f"### `{module.__name__}`\n\n"
        f"```{{eval-rst}}\n.. automodule:: {module.__name__}\n   :members:\n"
        # What a module re-exports is described where it is defined.
        f"{'   :ignore-module-all:' if hasattr(module, '__path__') else _re_exports(module)}\n"
        "```\n\n"
        for module in _modules()
    )


def _re_exports(module: ModuleType) -> str:
    """Return the option that leaves out what *module* exports and another one defines."""
    exported = {name: getattr(module, name) for name in getattr(module, "__all__", ())}
    names = [
        name
        for name, found in exported.items()
        if inspect.isclass(found) and found.__module__ != module.__name__
    ]
    return f"   :exclude-members: {', '.join(names)}" if names else ""


def _modules() -> Iterator[ModuleType]:
    """Yield every module that a user may import from, by name."""
    for found in pkgutil.walk_packages(ctxmeasure.__path__, prefix="ctxmeasure."):
        if not _is_private(found.name):
            yield import_module(found.name)


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
    "ledger_names": ledger_names,
    "boundary": lambda: vocabulary(sampler.boundary.Boundary),
    "front_door": front_door,
    "api": api,
}
"""The generated fragments by file name, without the suffix."""


def write(folder: Path) -> None:
    """Write every fragment into *folder*, which is made if need be."""
    folder.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (folder / f"{name}.md").write_text(page(), encoding="utf-8")
