"""Mutate the rooms that decide: ``python tests/mutation/run.py [ROOM ...]``.

mutmut changes the code: beside every function stand its mutants, of which one at a time can be
switched on. What runs them is ours, so that all that takes long is done once: the tests are
collected, each is run to see which functions it calls, and a mutant is then a fork that runs those
that call its function, the quickest first, until one fails.

Fails when too many mutants survive, or one that `survivors.toml` does not give a reason for.
"""

from __future__ import annotations

import argparse
import difflib
import gc
import json
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import _lru_cache_wrapper
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import libcst as cst
import pytest
from _pytest.runner import runtestprotocol
from mutmut.mutation import file_mutation
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state
from mutmut.utils.format_utils import mangled_name_from_mutant_name

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SURVIVORS = HERE / "survivors.toml"

MOST_SURVIVORS = 0.05
"""The share of a room's mutants from which on its tests are too weak, reasons or not."""

_PYTEST = (
    "--quiet",
    "--tb=no",
    "-pno:cacheprovider",
    "--hypothesis-profile=mutation",
    # They try every byte and row, which takes long, and see what the tests beside them see.
    "--ignore-glob=*_recordings.py",
    "-knot loads_the_decoder",  # it would see what mutmut imports
)
_SECONDS = 2  # of the processor, beyond three times what a test takes without a mutant
_BYTES = 4 << 30  # one that never ends can also fill the memory


@dataclass(frozen=True)
class Room:
    """What is mutated together, and the tests that have to notice.

    Attributes:
        code: A glob pattern below ``src/ctxmeasure``.
        tests: Files and folders below ``tests``.
    """

    code: str
    tests: tuple[str, ...]


def _adapter(agent: str, *tests: str) -> Room:
    tests = (f"adapters/{agent}", "test_identify.py", *tests)
    return Room(f"adapters/{agent}/[!_]*.py", tests)


_OF_SESSION_FILES = ("test_discover.py", "test_history.py")


ROOMS: Mapping[str, Room] = {
    "usage": Room("usage.py", ("test_usage.py",)),
    "assess": Room("assess/[!_]*.py", ("assess", "test_cases.py")),
    "capability": Room(
        "capability/[!_]*.py",
        tuple(f"capability/test_{name}.py" for name in ("ids", "model", "models_json", "table")),
    ),
    "acp": _adapter("acp"),
    "claude": _adapter("claude", *_OF_SESSION_FILES),
    "codex": _adapter("codex", *_OF_SESSION_FILES),
    "cursor": _adapter("cursor", "test_discover.py"),
    "pi": _adapter("pi", *_OF_SESSION_FILES),
    "text": Room("adapters/text/__init__.py", ("adapters/text",)),
}


@dataclass(frozen=True)
class Mutant:
    """One change of one function.

    Attributes:
        name: What mutmut calls it; it counts through the function.
        function: The function as a reader knows it, below the package.
        change: The changed lines before and after, without their indentation.
    """

    name: str
    function: str
    change: str

    def __str__(self) -> str:
        return f"{self.function}\n{self.change}"


# -- what mutmut does -----------------------------------------------------------------------------


def mutate(package: Path, pattern: str) -> Iterator[Mutant]:
    """Rewrite the modules of *package* that fit *pattern*, and yield their mutants."""
    for path in sorted(package.glob(pattern)):
        mutated = file_mutation.mutate_file_contents(str(path), path.read_text(encoding="utf-8"))
        path.write_text(mutated.code, encoding="utf-8")
        parts = path.relative_to(package).with_suffix("").parts
        module = ".".join(part for part in parts if part != "__init__")
        lines, spans = mutated.code.splitlines(), mutated.line_span_by_function_name
        for name in mutated.mutant_names:
            whole = name.rpartition("_")[0]
            before, after = (spans[key] for key in (f"{whole}_orig", name))
            yield Mutant(
                name=f"ctxmeasure.{module}.{name}",
                function=f"{module}.{_as_written(whole)}",
                change=_change(
                    lines[before.start - 1 : before.end], lines[after.start - 1 : after.end]
                ),
            )


def _as_written(mangled: str) -> str:
    name = mangled.removesuffix("__mutmut")
    return name[2:].replace("ǁ", ".") if name.startswith("xǁ") else name.removeprefix("x_")


def _change(before: Sequence[str], after: Sequence[str]) -> str:
    """Return the difference, but for the line that names the function."""
    changed = list(difflib.unified_diff(before, after, n=0, lineterm=""))[2:]
    return "\n".join(
        f"{line[0]} {line[1:].strip()}"
        for line in changed
        if line[0] in "+-" and not line[1:].lstrip().startswith("def x")
    )


def mutate_decorated_functions_too() -> None:
    """Have mutmut mutate properties, cached functions and normalisers, which it leaves alone."""
    skips = file_mutation.MutationVisitor._skip_node_and_children
    arrange = file_mutation.function_trampoline_arrangement

    def skip(self: file_mutation.MutationVisitor, node: cst.CSTNode) -> bool:
        return not (isinstance(node, cst.FunctionDef) and node.decorators) and skips(self, node)

    def arranged(function: cst.FunctionDef, *args: Any, **kwargs: Any) -> Any:
        declared, nodes, assigned, names = arrange(function, *args, **kwargs)
        decorators = {getattr(each.decorator, "value", None) for each in function.decorators}
        if "classmethod" not in decorators:
            # The decorators stay with the switch; what it switches between are plain functions.
            nodes = [nodes[0], *(node.with_changes(decorators=[]) for node in nodes[1:])]
        return declared, nodes, assigned, names

    file_mutation.MutationVisitor._skip_node_and_children = skip
    file_mutation.function_trampoline_arrangement = arranged


# -- what runs the tests --------------------------------------------------------------------------


@dataclass
class Trial:
    """A pytest plug-in: instead of every test once, for each mutant those that can notice it.

    Attributes:
        mutants: What is tried.
        jobs: How many at a time.
        survivors: Those that no test noticed.
    """

    mutants: Sequence[Mutant]
    jobs: int
    survivors: list[Mutant] = field(default_factory=list)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run everything, as pytest would; True says that nothing is left to run."""
        memories = _memories()
        gc.freeze()
        callers, seconds = _watched(session.items, memories)
        running: dict[int, Mutant] = {}
        for mutant in self.mutants:
            calling = callers[mangled_name_from_mutant_name(mutant.name)]
            quickest_first = sorted(calling, key=seconds.__getitem__)
            if len(running) == self.jobs:
                self._wait(running)
            process = os.fork()
            if not process:
                _restrain()
                set_mutant_under_test(mutant.name)
                survives = False
                try:
                    survives = (
                        _all_pass([(session.items[test], seconds[test]) for test in quickest_first])
                        if calling
                        else _all_pass_afresh(session.config.invocation_params.args)
                    )
                finally:
                    os._exit(not survives)
            running[process] = mutant
        while running:
            self._wait(running)
        return True

    def _wait(self, running: dict[int, Mutant]) -> None:
        process, status = os.wait()
        mutant = running.pop(process)
        if not status:
            self.survivors.append(mutant)
            print(mutant, end="\n\n", flush=True)


def _memories() -> list[Any]:
    """Return the caches of our functions: what they answer is not computed again, mutant or not."""
    return [
        each
        for each in gc.get_objects()
        if isinstance(each, _lru_cache_wrapper) and each.__module__.startswith("ctxmeasure.")
    ]


def _watched(
    items: Sequence[pytest.Item], memories: Sequence[Any]
) -> tuple[Mapping[str, list[int]], list[float]]:
    """Run all *items*, and return which of them call a function, and the seconds of each.

    Leaves the *memories* empty, and is a process of its own, so that none is filled again.
    """
    for memory in memories:
        memory.cache_clear()
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        set_mutant_under_test("stats")
        callers, seconds = defaultdict(list), []
        for number, item in enumerate(items):
            for memory in memories:
                memory.cache_clear()
            start = process_time()
            if not _passes(item, None):
                os.write(2, f"fails without a mutant: {item.nodeid}\n".encode())
                os._exit(1)
            seconds.append(process_time() - start)
            for function in state()._stats:
                callers[function].append(number)
            state()._stats.clear()
        with os.fdopen(writing, "w") as answer:
            json.dump([callers, seconds], answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        told = answer.read()
    if os.waitpid(process, 0)[1]:
        raise SystemExit("the tests fail without a mutant")
    called_by, seconds = json.loads(told)
    return defaultdict(list, called_by), seconds


def _restrain() -> None:
    """Bound what this process takes of the memory, and keep it silent."""
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)


def _all_pass(timed: Sequence[tuple[pytest.Item, float]]) -> bool:
    """Run tests until one fails; one that takes much longer than it did ends this process."""
    following = [item for item, _ in timed[1:]]
    for (item, seconds), then in zip(timed, [*following, None], strict=True):
        signal.setitimer(signal.ITIMER_PROF, 3 * seconds + _SECONDS)
        if not _passes(item, then):
            return False
    return True


def _passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    return not any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))


def _all_pass_afresh(arguments: Sequence[str | os.PathLike[str]]) -> bool:
    """Run all tests in a new interpreter: the function is called when its module is imported."""
    command = [sys.executable, "-m", "pytest", "-x", *arguments]
    seconds = 60 * _SECONDS
    try:
        return not subprocess.run(command, check=False, timeout=seconds).returncode  # noqa: S603
    except subprocess.TimeoutExpired:
        return False


# -- the verdict ----------------------------------------------------------------------------------


def tried(name: str, jobs: int, only: Sequence[str]) -> tuple[list[Mutant], list[Mutant]]:
    """Return the mutants of the room *name* in functions that fit *only*, and the survivors."""
    room = ROOMS[name]
    mutate_decorated_functions_too()
    os.chdir(ROOT)
    with TemporaryDirectory() as folder:
        shutil.copytree("src", folder, dirs_exist_ok=True)
        mutants = [
            mutant
            for mutant in mutate(Path(folder, "ctxmeasure"), room.code)
            if _is_meant(mutant.function, only)
        ]
        sys.path.insert(0, folder)
        os.environ["PYTHONPATH"] = folder
        trial = Trial(mutants, jobs)
        tests = [f"tests/{test}" for test in room.tests]
        if pytest.main([*_PYTEST, *tests], plugins=[trial]) is not pytest.ExitCode.OK:
            raise SystemExit(f"{name}: the tests do not run")
    return mutants, trial.survivors


def _is_meant(function: str, only: Sequence[str]) -> bool:
    return any(fnmatchcase(function, pattern) for pattern in only)


def judged(
    name: str, only: Sequence[str], mutants: Sequence[Mutant], survivors: Sequence[Mutant]
) -> bool:
    """Print what came of the room *name*, and tell whether it is good enough."""
    listed = tomllib.loads(SURVIVORS.read_text(encoding="utf-8")).get(name, [])
    explained = {
        mutant
        for entry in listed
        for mutant in entry["mutants"]
        if _is_meant(mutant.partition("\n")[0], only)
    }
    found = set(map(str, survivors))
    share = len(survivors) / max(1, len(mutants))
    print(
        f"{name:12} {len(mutants):>6,} mutants {len(mutants) - len(survivors):>6,} killed "
        f"{len(survivors):>4} survived ({share:.1%})  {len(found - explained)} without a reason, "
        f"{len(explained - found)} reasons without a survivor"
    )
    return share < MOST_SURVIVORS and found == explained


def main() -> int:
    """Try the rooms that are named, all by default; each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("rooms", nargs="*", choices=[[], *ROOMS], metavar="ROOM")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--only", nargs="*", default=["*"], help="functions, as `*.rows.ModelRow.span`"
    )
    options = parser.parse_args()
    rooms = options.rooms or list(ROOMS)
    good = []
    for name in rooms:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as fresh:
            trial = fresh.submit(tried, name, options.jobs, options.only)
            good.append(judged(name, options.only, *trial.result()))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
