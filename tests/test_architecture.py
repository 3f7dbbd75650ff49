"""The house rules hold for the source, and each of them can fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import house_rules
import pytest
from house_rules import Module, parse

ROOT = Path(__file__).resolve().parents[1]
MODULES = house_rules.source_modules(ROOT / "src" / "ctxmeasure")

Rule = Callable[[Module], Iterator[str]]
RULES: tuple[Rule, ...] = (
    house_rules.floor_breaches,
    house_rules.foreign_adapters,
    house_rules.clock_reads,
    house_rules.dynamic_imports,
    house_rules.unlawful_opens,
    house_rules.undocumented,
    house_rules.oversize,
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_module_keeps_the_rule(rule: Rule) -> None:
    assert [breach for module in MODULES for breach in rule(module)] == []


def test_no_module_imports_itself_in_a_circle() -> None:
    assert house_rules.circles(MODULES) == []


def test_the_rules_see_the_whole_package() -> None:
    assert {"", "measurement", "bounded.budget", "adapters"} <= {m.name for m in MODULES}


def test_no_project_file_names_a_folder_of_the_machine_it_was_written_on() -> None:
    breaches = [
        breach
        for path in house_rules.project_files(ROOT)
        for breach in house_rules.machine_paths(str(path.relative_to(ROOT)), path.read_bytes())
    ]
    assert breaches == []


def test_the_files_looked_at_are_the_projects_and_not_the_ignored_ones() -> None:
    names = {path.relative_to(ROOT).as_posix() for path in house_rules.project_files(ROOT)}
    assert {"pyproject.toml", ".ci/run", "tests/test_architecture.py"} <= names
    assert not any(
        part in {".git", "__pycache__", ".venv"} for name in names for part in name.split("/")
    )


def breaches(rule: Rule, name: str, text: str, *, is_package: bool = False) -> list[str]:
    return list(rule(parse(name, text, is_package=is_package)))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("measurement", "from .observation import Observed"),
        ("measurement", "from ctxmeasure.observation import Observed"),
        ("measurement", "import ctxmeasure.observation"),
        ("measurement", "import ctxmeasure"),
        ("measurement", "from . import observation"),
        ("measurement", "def lazily():\n    from .observation import Observed"),
        ("track", "from .render import summary"),
        ("adapters.claude.transcript", "from ...registry import SOURCES"),
        ("capability.table", "from ..observation import Observed"),
        ("reading", "from .stream import Stream"),
        ("utils", "import ast"),
    ],
)
def test_an_import_that_does_not_go_down_is_a_breach(name: str, text: str) -> None:
    assert breaches(house_rules.floor_breaches, name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("observation", "from .measurement import Measurement\nfrom .bounded.budget import X"),
        ("adapters.claude.transcript", "from ...source import TailSource\nfrom .rows import row"),
        ("capability.table", "from .model import Capability"),
        ("", "from .cli import main"),
        ("measurement", "from datetime import datetime\nfrom attrs import frozen"),
    ],
)
def test_an_import_that_goes_down_or_stays_in_its_room_is_none(name: str, text: str) -> None:
    assert breaches(house_rules.floor_breaches, name, text) == []


def test_a_package_resolves_its_relative_imports_from_itself() -> None:
    assert (
        breaches(house_rules.floor_breaches, "capability", "from . import m", is_package=True) == []
    )
    assert breaches(
        house_rules.floor_breaches, "capability", "from .. import observation", is_package=True
    )


def test_a_circle_is_found_wherever_it_closes() -> None:
    modules = [
        parse("a", "from .b import x"),
        parse("b", "def lazily():\n    from . import c"),
        parse("c", "import ctxmeasure.a"),
        parse("d", "from .a import x"),
    ]
    assert house_rules.circles(modules) == ["a -> b -> c -> a"]
    assert house_rules.circles(modules[:2] + modules[3:]) == []


@pytest.mark.parametrize(
    "text",
    [
        "from ..codex import rollout",
        "from ..codex.rollout import ROLLOUT",
        "from ctxmeasure.adapters.codex import rollout",
        "from ...assess import assess",
        "from ... import assess",
    ],
)
def test_an_adapter_that_knows_another_adapter_or_the_judge_is_a_breach(text: str) -> None:
    assert breaches(house_rules.foreign_adapters, "adapters.claude.transcript", text)


def test_an_adapter_may_know_its_own_room_and_the_floors_below() -> None:
    text = "from .rows import row\nfrom ..claude import rows\nfrom ...evidence import Gap"
    assert breaches(house_rules.foreign_adapters, "adapters.claude.transcript", text) == []


@pytest.mark.parametrize(
    "text",
    [
        "import time",
        "from time import monotonic",
        "from datetime import datetime\nat = datetime.now()",
        "import datetime\nat = datetime.datetime.utcnow()",
        "import datetime\nat = datetime.date.today()",
        "from datetime import datetime\nread = datetime.now",
    ],
)
def test_reading_the_clock_below_the_edge_is_a_breach(text: str) -> None:
    assert breaches(house_rules.clock_reads, "assess", text)
    assert breaches(house_rules.clock_reads, "reading", text) == []


@pytest.mark.parametrize(
    "text",
    [
        "open('x')",
        "import os\nos.open('x', 0)",
        "from pathlib import Path\nPath('x').open()",
        "from pathlib import Path\nPath('x').read_text()",
        "from pathlib import Path\nPath('x').read_bytes()",
        "import sqlite3\nsqlite3.connect('x')",
    ],
)
def test_opening_a_file_outside_bounded_is_a_breach(text: str) -> None:
    assert breaches(house_rules.unlawful_opens, "adapters.claude.transcript", text)
    assert breaches(house_rules.unlawful_opens, "reading", text)
    assert breaches(house_rules.unlawful_opens, "bounded.tail", text) == []


def test_asking_bounded_to_open_a_file_is_none() -> None:
    text = "from .bounded.jsonl import TailReader\nTailReader.open('x')"
    assert breaches(house_rules.unlawful_opens, "reading", text) == []
    assert breaches(house_rules.unlawful_opens, "reading", text + "\nreader.open('x')")


def test_importing_by_name_outside_the_tables_of_modules_is_a_breach() -> None:
    text = "from importlib import import_module\nimport_module('ctxmeasure.registry')"
    assert breaches(house_rules.dynamic_imports, "adapters.claude.transcript", text)
    assert breaches(house_rules.dynamic_imports, "track", "__import__('ctxmeasure.registry')")
    assert breaches(house_rules.dynamic_imports, "registry", text) == []


def test_the_rooms_with_packaged_resources_may_read_them_and_nothing_else() -> None:
    resource = "from importlib import resources\nresources.files('x').joinpath('y').read_bytes()"
    for room in ("capability.table", "record"):
        assert breaches(house_rules.unlawful_opens, room, resource) == []
        assert breaches(house_rules.unlawful_opens, room, "open('x')")


def test_what_one_module_of_a_room_may_open_the_rest_of_it_may_not() -> None:
    text = "import os\nos.open('x', 0)"
    for module in ("cli.child", "cli.event_log"):
        assert breaches(house_rules.unlawful_opens, module, text) == []
        assert breaches(house_rules.unlawful_opens, module, "Path('x').read_text()")
    assert breaches(house_rules.unlawful_opens, "cli.run", text)


def test_a_public_module_without_docstring_or_all_is_a_breach() -> None:
    assert breaches(house_rules.undocumented, "track", "__all__ = ['x']\nx = 1")
    assert breaches(house_rules.undocumented, "track", '"""Doc."""\nx = 1')
    assert breaches(house_rules.undocumented, "track", '"""Doc."""\n__all__ = ["x"]\nx = 1') == []
    assert breaches(house_rules.undocumented, "track", '"""Doc."""\n__all__: list[str] = []') == []
    assert breaches(house_rules.undocumented, "adapters", '"""Doc."""') == []
    assert breaches(house_rules.undocumented, "adapters.claude._rows", "x = 1") == []


def test_a_module_or_function_past_its_size_is_a_breach() -> None:
    assert breaches(house_rules.oversize, "track", "x = 1\n" * (house_rules.MODULE_LINES + 1))
    long = "def f():\n" + "    x = 1\n" * house_rules.FUNCTION_LINES
    assert breaches(house_rules.oversize, "track", long)
    assert breaches(house_rules.oversize, "track", "async " + long)
    assert breaches(house_rules.oversize, "track", "def f():\n    return 1\n") == []


@pytest.mark.parametrize("folder", ["tmp", "work", "root", "farm"])
def test_a_machine_path_is_found_and_an_agents_own_folder_is_none(folder: str) -> None:
    path = f"x = '/{folder}/"
    assert list(house_rules.machine_paths("f", f"a\n{path}y'".encode())) == ["f:2"]
    assert list(house_rules.machine_paths("f", f"~/.gemini/{folder}/chats".encode())) == []
    assert list(house_rules.machine_paths("f", f"https://x.example/{folder}/".encode())) == []
