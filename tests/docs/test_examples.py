"""Every example of the README, the pages and the docstrings does what it shows.

Examples stand in ``pycon`` fences; those of one page run in order and share their names. They run
at the top of the recordings, so that a page can open one by a short path.
"""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import ctxmeasure

ROOT = Path(__file__).resolve().parents[2]
RECORDINGS = ROOT / "tests" / "recordings"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MODULES = [module.name for module in pkgutil.walk_packages(ctxmeasure.__path__, "ctxmeasure.")]


def page_examples(name: str, markdown: str) -> doctest.DocTest:
    parser = doctest.DocTestParser()
    examples = []
    for fence in FENCE.finditer(markdown):
        line = markdown.count("\n", 0, fence.start(1))
        for example in parser.get_examples(fence[1], name):
            example.lineno += line
            examples.append(example)
    return doctest.DocTest(examples, {}, name, name, 0, markdown)


def run(test: doctest.DocTest) -> doctest.TestResults:
    return doctest.DocTestRunner(verbose=False).run(test)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_pages_examples_show_what_they_give(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(RECORDINGS)
    test = page_examples(page.name, page.read_text(encoding="utf-8"))
    assert run(test).failed == 0


@pytest.mark.parametrize("module", MODULES)
def test_a_docstrings_examples_show_what_they_give(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(RECORDINGS)
    tests = doctest.DocTestFinder().find(importlib.import_module(module))
    assert sum(run(test).failed for test in tests) == 0


def test_a_wrong_example_is_found_and_the_names_of_a_page_are_shared() -> None:
    right = "```pycon\n>>> x = 1\n\n```\ntext\n```pycon\n>>> x\n1\n```\n"
    assert run(page_examples("page", right)) == (0, 2)
    wrong = right.replace("\n1\n", "\n2\n")
    assert run(page_examples("page", wrong)) == (1, 2)
