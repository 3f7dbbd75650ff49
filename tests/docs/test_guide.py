"""The source and the writer that the contributor's guide shows are ones, and pass the suite."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from ctxmeasure import registry
from ctxmeasure.testing import Check, conformance
from ctxmeasure.testing.writers import TWINS, WRITERS

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "adding-a-source.md").read_text(encoding="utf-8")
SUITE = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shown() -> dict[str, Any]:
    """Return the names of what the guide shows, once it has run from top to bottom."""
    names: dict[str, Any] = {"__name__": "guide"}
    for fence in FENCE.finditer(GUIDE):
        exec(fence[1], names)  # noqa: S102 - our own page
    return names


SHOWN = shown()
FEW = settings(max_examples=10)
CHECKS = conformance(SHOWN["SESSION"], SHOWN["SessionWriter"], settings=FEW)


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_the_guides_source_conforms(check: Check) -> None:
    check()


def test_the_guides_test_is_one_for_each_check() -> None:
    (mark,) = SHOWN["test_wren_conforms"].pytestmark
    assert [check.name for check in mark.args[1]] == [check.name for check in CHECKS]
    SHOWN["test_wren_conforms"](CHECKS[0])


def test_the_page_on_the_suite_names_every_check_and_no_others() -> None:
    table = SUITE.partition("| Property |")[2].partition("\n\n")[0]
    checks = {
        check.name
        for source_id in registry.ids()
        for writer in WRITERS.get(source_id, ())[:1]
        for twin in [TWINS.get(source_id)]
        for check in conformance(
            source_id, writer, twin=None if twin is None else (twin, WRITERS[twin][0])
        )
    }
    assert {*re.findall(r"`(\w+_\w+)`", table)} == checks
