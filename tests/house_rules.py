"""The import rules of the house, as functions from a parsed module to the breaches found in it.

`test_architecture` runs them over ``src`` and proves with bad snippets that each one can fail.
Only the standard library's `ast` is used: a rule sees what is written, whatever is installed.
"""

from __future__ import annotations

import ast
import fnmatch
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "FLOORS",
    "Module",
    "circles",
    "clock_reads",
    "dynamic_imports",
    "floor_breaches",
    "foreign_adapters",
    "machine_paths",
    "oversize",
    "parse",
    "project_files",
    "source_modules",
    "undocumented",
    "unlawful_opens",
]

PACKAGE = "ctxmeasure"

FLOORS: tuple[frozenset[str], ...] = (
    frozenset({"figures", "measurement", "usage", "capability", "bounded", "immutable"}),
    frozenset({"spelling"}),
    frozenset({"observation"}),
    frozenset({"record"}),
    frozenset({"evidence", "track", "render", "ledger"}),
    frozenset({"source", "assess", "whereabouts"}),
    frozenset({"adapters"}),
    frozenset({"registry"}),
    frozenset({"reading", "stream", "identify"}),
    frozenset({"newest", "history"}),
    frozenset({"discover", "report"}),
    frozenset({"sampler"}),
    frozenset({"cli", "testing"}),
    frozenset({"__main__"}),
)
"""From the ground up; a room imports only from lower floors."""

CLOCK_READERS = frozenset({"reading", "stream", "history", "cli"})
"""The edge: where the caller gave no moment, and nowhere else."""

DYNAMIC_IMPORTERS = frozenset({"", "registry", "cli.commands"})
"""The three tables that name modules; elsewhere an import has to be seen by these rules."""

OPENING_CALLS = frozenset({"open", "read_bytes", "read_text", "connect", "fdopen"})
PACKAGED_CALLS = frozenset({"read_bytes", "read_text"})

LAWFUL_OPENS: Mapping[str, frozenset[str]] = {
    "bounded": OPENING_CALLS,
    # Events, locks and notes of its own; what it reads of them goes through bounded.
    "ledger": frozenset({"open"}),
    # Their own packaged resources: models.json, the JSON Schemas, the page.
    "capability": PACKAGED_CALLS,
    "record": PACKAGED_CALLS,
    "report": PACKAGED_CALLS,
    # It plays the agents, who write.
    "testing": OPENING_CALLS,
    # The terminal, to ask who is in its foreground; nothing is read from it.
    "cli.child": frozenset({"open"}),
    # The log that the user names.
    "cli.event_log": frozenset({"open"}),
    # A page or picture, under the name that the user gives it.
    "cli.written_file": frozenset({"open"}),
}

MODULE_LINES = 800
"""More than this is more than one reader holds in mind: the room wants a split."""

FUNCTION_LINES = 60
"""A function that does not fit on one screen does more than one thing."""

# A lookbehind keeps `~/.gemini/tmp/...` (an agent's own folder) and URLs out.
_MACHINE_PATH = re.compile(rb"(?<![\w.~}])/(?:tmp|work|root|farm)/")


@dataclass(frozen=True)
class Module:
    """One parsed module of the package.

    Attributes:
        name: Dotted, relative to the package: ``adapters.claude.transcript``; empty for the front
            door.
        is_package: The module is an ``__init__``.
        text: Its source.
        tree: Its parsed source.
    """

    name: str
    is_package: bool
    text: str
    tree: ast.Module

    @property
    def room(self) -> str:
        """The first part of the name: the room the module lies in."""
        return self.name.partition(".")[0]

    @property
    def adapter(self) -> str:
        """The second part of an adapter module's name, empty for the room itself."""
        return self.name.split(".")[1] if self.name.startswith("adapters.") else ""


def parse(name: str, text: str, *, is_package: bool = False) -> Module:
    """Return the module *name* with the source *text*."""
    return Module(name=name, is_package=is_package, text=text, tree=ast.parse(text))


def source_modules(package: Path) -> list[Module]:
    """Return all modules below the package folder *package*."""
    modules = []
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        modules.append(parse(name, path.read_text(encoding="utf-8"), is_package=is_package))
    return modules


def imported(module: Module, known: Iterable[str] = ()) -> Iterator[str]:
    """Yield what *module* imports of ours, relative to the package, lazy imports included.

    ``from .x import y`` is the module ``x.y`` when *known* lists it, else ``x``.
    """
    known = frozenset(known)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top, _, rest = alias.name.partition(".")
                if top == PACKAGE:
                    yield rest
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(module, node)
            if origin is not None:
                for alias in node.names:
                    submodule = f"{origin}.{alias.name}".lstrip(".")
                    yield submodule if submodule in known or not origin else origin


def _origin(module: Module, node: ast.ImportFrom) -> str | None:
    """Return the module that *node* imports from, or None when it is not ours."""
    if not node.level:
        top, _, rest = (node.module or "").partition(".")
        return rest if top == PACKAGE else None
    here = module.name.split(".") if module.name else []
    levels_up = node.level - module.is_package
    base = here[: len(here) - levels_up]
    return ".".join([*base, *([node.module] if node.module else [])])


def floor_breaches(module: Module) -> Iterator[str]:
    """Yield imports that do not go down. The front door stands above all floors."""
    if not module.name:
        return
    here = _floor(module.room)
    if here is None:
        yield f"{module.name}: stands on no floor"
        return
    for target in imported(module):
        room = target.partition(".")[0]
        if room == module.room:
            continue
        there = _floor(room)
        if there is None or there >= here:
            yield f"{module.name}: imports {target or 'the front door'}"


def _floor(room: str) -> int | None:
    return next((level for level, rooms in enumerate(FLOORS) if room in rooms), None)


def circles(modules: Iterable[Module]) -> list[str]:
    """Return the import circles between *modules*, each as ``a -> b -> a``."""
    modules = list(modules)
    names = {module.name for module in modules}
    graph = {m.name: {t for t in imported(m, names) if t in names} for m in modules}
    found: list[str] = []
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        if name in trail:
            found.append(" -> ".join([*trail[trail.index(name) :], name]))
            return
        if name in done:
            return
        for target in sorted(graph[name] - {name}):
            visit(target, (*trail, name))
        done.add(name)

    for name in sorted(graph):
        visit(name, ())
    return found


def foreign_adapters(module: Module) -> Iterator[str]:
    """Yield what an adapter must not know: another adapter, and the judge."""
    if not module.adapter:
        return
    for target in imported(module):
        room, _, rest = target.partition(".")
        if room == "assess":
            yield f"{module.name}: imports the judge"
        if room == "adapters" and rest.partition(".")[0] != module.adapter:
            yield f"{module.name}: imports {target}"


def clock_reads(module: Module) -> Iterator[str]:
    """Yield the places where *module* reads the clock although it is not the edge."""
    if module.room in CLOCK_READERS:
        return
    for node in ast.walk(module.tree):
        match node:
            case ast.Import(names=names) if any(alias.name == "time" for alias in names):
                yield f"{module.name}:{node.lineno}: imports time"
            case ast.ImportFrom(module="time"):
                yield f"{module.name}:{node.lineno}: imports time"
            case ast.Attribute(attr="now" | "utcnow" | "today" as name, value=owner) if _last_name(
                owner
            ) in {"datetime", "date"}:
                yield f"{module.name}:{node.lineno}: calls {name}"


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def dynamic_imports(module: Module) -> Iterator[str]:
    """Yield imports by name in modules that are no table of modules."""
    if module.name in DYNAMIC_IMPORTERS:
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and _last_name(node.func) in {"import_module", "__import__"}:
            yield f"{module.name}:{node.lineno}: imports by name"


def unlawful_opens(module: Module) -> Iterator[str]:
    """Yield the calls that open a file in a room that may not.

    Asking a name that comes from `bounded` to open something is how it is meant to be done.
    """
    lawful = LAWFUL_OPENS.get(module.name) or LAWFUL_OPENS.get(module.room, frozenset())
    unlawful = OPENING_CALLS - lawful
    doors = {
        alias.asname or alias.name
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and (_origin(module, node) or "").startswith("bounded")
        for alias in node.names
    }
    for node in ast.walk(module.tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner))) if owner in doors:
                pass
            case ast.Call(func=called) if (name := _last_name(called)) in unlawful:
                yield f"{module.name}:{node.lineno}: calls {name}"


def undocumented(module: Module) -> Iterator[str]:
    """Yield what a public module lacks: a docstring, and ``__all__`` where it has names at all."""
    if any(part.startswith("_") for part in module.name.split(".")):
        return
    if ast.get_docstring(module.tree) is None:
        yield f"{module.name or PACKAGE}: has no docstring"
    if len(module.tree.body) > 1 and "__all__" not in _assigned(module.tree):
        yield f"{module.name or PACKAGE}: has no __all__"


def _assigned(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in tree.body:
        match node:
            case ast.Assign(targets=targets):
                names.update(_last_name(target) for target in targets)
            case ast.AnnAssign(target=target):
                names.add(_last_name(target))
    return names


def oversize(module: Module) -> Iterator[str]:
    """Yield modules and functions that have outgrown one reader."""
    lines = module.text.count("\n")
    if lines > MODULE_LINES:
        yield f"{module.name}: {lines} lines"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                yield f"{module.name}.{node.name}: {length} lines"


def machine_paths(name: str, content: bytes) -> Iterator[str]:
    """Yield the lines of *content* that name a folder of the machine it was written on."""
    for number, line in enumerate(content.splitlines(), start=1):
        if _MACHINE_PATH.search(line):
            yield f"{name}:{number}"


def project_files(root: Path) -> Iterator[Path]:
    """Yield the files below *root* that ``.gitignore`` does not exclude.

    Works without git, so that it sees the same files in a clone and in an unpacked sdist.
    """
    rules = (root / ".gitignore").read_text(encoding="utf-8").split()
    ignored = [".git", *(rule.strip("/").rpartition("/")[2] for rule in rules)]
    for path in sorted(root.iterdir()):
        yield from _walk(path, ignored)


def _walk(path: Path, ignored: list[str]) -> Iterator[Path]:
    if any(fnmatch.fnmatch(path.name, pattern) for pattern in ignored):
        return
    if path.is_dir():
        for child in sorted(path.iterdir()):
            yield from _walk(child, ignored)
    else:
        yield path
