"""``import ctxmeasure``: every name is there, and none before it is asked for."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ctxmeasure as cm

SOURCE = Path(cm.__file__)


@pytest.mark.parametrize("name", cm.__all__)
def test_every_name_of_the_front_door_resolves(name: str) -> None:
    assert getattr(cm, name) is not None
    assert name in dir(cm)


def test_no_name_is_listed_twice() -> None:
    assert len(cm.__all__) == len(set(cm.__all__))


def test_type_checkers_see_the_names_that_are_there_and_no_others() -> None:
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    (checked,) = (
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    seen = [
        alias.asname
        for node in checked.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert sorted(filter(None, seen)) == sorted(cm.__all__)


def test_a_name_that_is_not_there_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="'ctxmeasure' has no attribute 'nothing'"):
        cm.nothing  # noqa: B018


def run(code: str) -> str:
    """Return what *code* prints in a new process."""
    done = subprocess.run(  # noqa: S603 - our own interpreter, our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_rooms_sources_come_by_the_front_door() -> None:
    assert run("from ctxmeasure import claude; print(claude.STREAM.id)") == "claude.stream"


@pytest.mark.parametrize(
    "first",
    [
        "import ctxmeasure.reading",
        "import ctxmeasure.stream",
        "import ctxmeasure.assess",
        "import ctxmeasure.observation",
        "import ctxmeasure.adapters.claude",
        "import ctxmeasure.registry",
        "from ctxmeasure import claude",
        "from ctxmeasure import *",
    ],
)
def test_the_verbs_are_the_verbs_whatever_was_imported_first(first: str) -> None:
    asked = "callable(cm.observe), isinstance(cm.Stream, type), cm.claude.__name__"
    said = run(f"{first}; import ctxmeasure as cm; print({asked})")
    assert said == "True True ctxmeasure.adapters.claude"


def test_nothing_of_ours_is_imported_before_it_is_asked_for() -> None:
    said = run("import sys, ctxmeasure; print(*(m for m in sys.modules if 'ctxmeasure' in m))")
    assert said == "ctxmeasure"


def test_a_name_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(vars(cm), "observe", raising=False)
    found = cm.observe
    assert vars(cm)["observe"] is found


@pytest.mark.parametrize("room", ["record", "render", "track"])
def test_a_room_of_the_front_door_is_its_module(room: str) -> None:
    # Asked of the hook itself, because an import elsewhere has set the attribute by now.
    assert cm.__getattr__(room) is sys.modules[f"ctxmeasure.{room}"]
