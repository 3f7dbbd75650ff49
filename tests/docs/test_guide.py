"""The source and the writer that the contributor's guide shows are ones, and pass the suite."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import settings

from ctxmeasure import Missing, MissingReason, observe, registry
from ctxmeasure.testing import (
    Answer,
    Check,
    Statement,
    StoreWriter,
    Truth,
    conformance,
    databases,
)
from ctxmeasure.testing.planting import MARK
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


_SessionWriter: Any = SHOWN["SessionWriter"]


class StreamWriter(_SessionWriter):  # type: ignore[misc] # it has no type before the page has run
    """Prints what the page's agent appends to its file, of one session that nobody asks for."""

    def answers(self) -> Iterator[Answer]:
        """Return what is seen."""
        yield Answer(self.shows)

    def strangers(self) -> Iterator[dict[str, object]]:
        """Return a sub-agent's rows."""
        yield from (row for row in super().strangers() if "agent" in row)


class DatabaseWriter(StoreWriter):
    """Writes the database that the page describes."""

    tables: ClassVar[tuple[str, ...]] = ("CREATE TABLE sessions(id TEXT PRIMARY KEY, usage TEXT)",)
    steps: ClassVar[tuple[str, ...]] = ("count", "break_off", "empty")

    def __init__(self) -> None:
        super().__init__()
        self.shows = Truth.missing("session_not_found")

    def answers(self) -> Iterator[Answer]:
        """Return what is seen of the session, of another, and of none in particular."""
        yield Answer(self.shows, session_id=MARK)
        yield Answer(Truth.missing("session_not_found"), session_id="another")
        yield Answer(Truth.missing("session_ambiguous"))

    def keep(self, usage: str | None) -> None:
        """Write what is known of the session."""
        self.execute("INSERT OR REPLACE INTO sessions VALUES (?, ?)", MARK, usage)

    def count(self, size: int) -> None:
        """Write a count, with a limit or without one."""
        used, limit = self.fresh(), 200_000 if size % 2 else None
        counted = Truth.tokens(used, 200_000, self.now)
        self.shows = counted if limit else Truth.missing("limit_invalid", used_tokens=used)
        row = {"kind": "usage", "session": MARK, "at": self.now.isoformat(), "used": used}
        self.keep(json.dumps({**row, "window": limit}))

    def break_off(self, size: int) -> None:
        """Write a part of a row."""
        self.shows = Truth.missing("source_malformed")
        self.keep('{"kind": "usage"'[: 1 + size])

    def empty(self, _: int) -> None:
        """Write that nothing is known."""
        self.shows = Truth.missing("session_not_found")
        self.keep(None)


SKELETONS = {
    f"{source_id}-{check}": check
    for source_id, writer in (("STREAM", StreamWriter), ("STORE", DatabaseWriter))
    for check in conformance(SHOWN[source_id], writer, settings=FEW)
}


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_the_guides_source_conforms(check: Check) -> None:
    check()


@pytest.mark.parametrize("name", SKELETONS)
def test_the_guides_other_sources_conform(name: str) -> None:
    SKELETONS[name]()


def test_the_guides_store_tells_a_database_that_is_none_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    databases.build(path, [Statement("CREATE TABLE other(a)")])
    seen = observe(SHOWN["STORE"], path, session_id="s-1")
    assert isinstance(seen, Missing)
    assert seen.reason is MissingReason.SCHEMA_UNKNOWN


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
