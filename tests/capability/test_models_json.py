"""The table itself: every row says where it is from, and no two rows answer for one id."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from datetime import date, timedelta
from importlib import resources
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from attrs import evolve

from ctxmeasure.capability.model import Certainty
from ctxmeasure.capability.rows import ModelRow, table, version_of
from ctxmeasure.capability.table import models

ROOT = Path(__file__).parents[2]
TEXT = resources.files("ctxmeasure.capability").joinpath("models.json").read_text("ascii")
ROWS = tuple(models())
VENDOR = [row for row in ROWS if row.client is None]
PATTERNS = [row for row in ROWS if row.pattern is not None]
WHYS = {None, "client-decides", "moving-alias", "one-source", "sources-disagree"}


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def named(row: ModelRow) -> str:
    return f"{row.client or 'vendor'}:{row.provider}/{row.id}"


def test_the_table_is_as_the_build_script_writes_it() -> None:
    assert script("build_models").written(json.loads(TEXT)["rows"]) == TEXT


def test_the_table_says_the_same_whenever_it_is_asked() -> None:
    assert tuple(models()) == ROWS


def test_every_row_has_a_source_and_its_date() -> None:
    for row in ROWS:
        assert row.sources, named(row)
        for source in row.sources:
            assert source.name
            assert date(2025, 1, 1) < source.as_of <= table().edition.as_of


def test_every_row_either_has_windows_or_says_why_it_has_none() -> None:
    for row in ROWS:
        assert row.why in WHYS
        assert row.why or row.spans, named(row)
        assert row.client is None or row.spans, named(row)


def test_a_row_that_decides_was_stated_by_two_lineages_or_by_the_vendor() -> None:
    vendors_own = ("claude-code", "anthropic-docs", "codex")
    lineage = {"models.dev": "models.dev", "pi-ai": "models.dev"}
    for row in VENDOR:
        names = [source.name for source in row.sources]
        families = {
            next((f for prefix, f in lineage.items() if n.startswith(prefix)), n) for n in names
        }
        assert row.why or len(families) > 1 or names[0].startswith(vendors_own), named(row)


def test_the_spans_of_a_row_follow_each_other_without_a_gap() -> None:
    for row in ROWS:
        if not row.spans:
            continue
        assert row.spans[0].first_day == date.min
        assert row.spans[-1].end_day == date.max
        assert all(a.end_day == b.first_day for a, b in pairwise(row.spans))
        assert all(a.first_day < a.end_day for a in row.spans)
        for span in row.spans:
            assert list(span.windows) == sorted(set(span.windows))
            assert len(span.windows) in (1, 2)
            assert (span.certainty is Certainty.UNDECIDED) <= (len(span.windows) == 2)


def test_a_day_outside_every_span_has_the_newest_windows() -> None:
    row = next(row for row in VENDOR if row.id == "claude-sonnet-4-5")
    assert row.span(date.max) == row.spans[-1]
    assert row.span(date(2026, 4, 30) - timedelta(days=1)) == row.spans[0]
    always = next(row for row in VENDOR if row.id == "claude-haiku-4-5")
    assert (always.span(date.max),) == always.spans


def test_a_spans_first_day_is_its_own() -> None:
    for row in ROWS:
        for span in row.spans:
            assert row.span(span.first_day) == span, named(row)


def test_a_row_is_listed_from_its_first_version_until_the_first_without_it() -> None:
    row = evolve(ROWS[0], since=(0, 130, 0), before=(0, 151, 0))
    listed = [row.listed_in((0, minor, 0)) for minor in (129, 130, 150, 151)]
    assert listed == [False, True, True, False]


@pytest.mark.parametrize("row", PATTERNS, ids=named)
def test_every_pattern_is_anchored_and_begins_with_its_id(row: ModelRow) -> None:
    pattern = row.pattern
    assert pattern is not None
    assert pattern.startswith(f"^{row.id}")
    assert pattern.endswith("$")
    assert "|" not in pattern
    assert ".*" not in pattern
    assert re.fullmatch(pattern, row.id)
    assert re.fullmatch(pattern, f"{row.id}-20261129")
    assert not re.search(pattern, f"x{row.id}")
    assert not re.fullmatch(pattern, f"{row.id}\n")


def test_a_row_answers_for_its_own_id() -> None:
    assert all(row.id in row.ids for row in ROWS)


def test_no_two_rows_answer_for_one_id_of_one_provider() -> None:
    listed = [(row.provider, each) for row in VENDOR for each in row.ids]
    assert len(listed) == len(set(listed))
    for row in PATTERNS:
        assert row.pattern is not None
        for other in VENDOR:
            for each in other.ids:
                dated = (each, f"{each}-20261129")
                assert other is row or not any(re.fullmatch(row.pattern, d) for d in dated)


def test_a_clients_versions_of_one_model_do_not_overlap() -> None:
    for row in ROWS:
        if row.client is not None:
            rows = table().clients_rows(row.client, row.provider, row.id)
            assert row in rows
            for version in filter(None, (row.since, row.before)):
                assert sum(other.listed_in(version) for other in rows) <= 1, named(row)


def test_a_row_that_later_versions_dropped_comes_before_the_newer_one() -> None:
    for row in ROWS:
        if row.client is not None:
            *older, _ = table().clients_rows(row.client, row.provider, row.id)
            assert all(other.before for other in older)


def test_every_anthropic_model_has_a_row_for_claude_code() -> None:
    anthropic = {row.id for row in VENDOR if row.provider == "anthropic"}
    assert {row.id for row in ROWS if row.client == "claude"} == anthropic
    assert len(anthropic) == 27


def test_a_version_without_two_numbers_is_not_known() -> None:
    assert version_of("2.1.332") == (2, 1, 332)
    assert version_of("0.130") == (0, 130)
    assert version_of(None) is None
    assert version_of("2") is None
    assert version_of("\N{ARABIC-INDIC DIGIT TWO}.1") is None


def test_only_a_look_up_reads_the_table_and_loads_the_decoder() -> None:
    program = (
        "import sys; from ctxmeasure.capability import table, rows; "
        "print(rows.table.cache_info().currsize, 'orjson' in sys.modules, end=' '); "
        "table.edition(); print('importlib.resources' in sys.modules)"
    )
    printed = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert printed.split() == ["0", "False", "False"]


def test_the_front_door_loads_the_look_ups_only_when_asked() -> None:
    program = (
        "import sys; import ctxmeasure.capability as c; "
        "before = 'ctxmeasure.capability.table' in sys.modules; "
        "c.resolve; print(before, 'ctxmeasure.capability.table' in sys.modules)"
    )
    printed = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert printed.split() == ["False", "True"]
