"""What the hand-written pages name is what the code has."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import ctxmeasure
from ctxmeasure import registry
from ctxmeasure.observation import MissingReason

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
AGENTS = sorted({source_id.partition(".")[0] for source_id in registry.ids()})


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agents_page_lists_its_sources(agent: str) -> None:
    page = (DOCS / f"{agent}.md").read_text(encoding="utf-8")
    listed = re.findall(rf"^\| `({agent}(?:\.\w+)?)`", page, flags=re.MULTILINE)
    assert sorted(listed) == sorted(i for i in registry.ids() if i.partition(".")[0] == agent)


@pytest.mark.parametrize("agent", AGENTS)
def test_the_reasons_on_an_agents_page_exist(agent: str) -> None:
    page = (DOCS / f"{agent}.md").read_text(encoding="utf-8")
    refused = page.partition("## What is refused, and why")[2].partition("\n## ")[0]
    reasons = re.findall(r"^\| [^|]+ \| `(\w+)` \|", refused, flags=re.MULTILINE)
    assert reasons
    assert set(reasons) <= set(MissingReason)


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agents_page_is_in_the_table_of_contents(agent: str) -> None:
    contents = (DOCS / "index.md").read_text(encoding="utf-8")
    assert f"\n{agent}\n" in contents


@pytest.mark.parametrize("source_id", registry.ids())
def test_a_source_is_the_constant_that_its_id_names(source_id: str) -> None:
    agent, _, name = source_id.partition(".")
    constant = (name or agent).upper()  # an agent of one source may give it its own name
    assert getattr(getattr(ctxmeasure, agent), constant) is registry.find(source_id)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_is_shown_as_python_is_python(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for fence in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        ast.parse(fence[1])
