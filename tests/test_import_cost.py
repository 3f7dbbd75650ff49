"""What `import ctxmeasure` brings in: next to nothing, and never what only some readers need."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = frozenset(
    {
        "attrs",
        "cattrs",
        "click",
        "hashlib",
        "hmac",
        "importlib.metadata",
        "importlib.resources",
        "json",
        "jsonschema",
        "orjson",
        "rich",
        "sqlite3",
        "ssl",
    }
)


def loaded_by(program: str) -> set[str]:
    """Return what *program* loads that a bare interpreter does not."""
    script = (
        f"import sys; before = {{*sys.modules}}; {program}; print(*({{*sys.modules}} - before))"
    )
    result = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(result.stdout.split())


def test_importing_the_front_door_loads_no_room_and_nothing_heavy() -> None:
    loaded = loaded_by("import ctxmeasure")
    assert {name for name in loaded if name.startswith("ctxmeasure.")} == set()
    assert loaded & HEAVY == set()


@pytest.mark.parametrize(
    "program",
    ["from ctxmeasure import Observed, Missing", "from ctxmeasure import TokenMeasurement"],
)
def test_a_reader_of_observations_loads_no_judge_table_adapter_or_decoder(program: str) -> None:
    loaded = loaded_by(program)
    rooms = {name.split(".")[1] for name in loaded if name.startswith("ctxmeasure.")}
    below = {"figures", "measurement", "spelling", "usage", "capability", "bounded"}
    assert rooms <= {"observation", *below}
    assert loaded & HEAVY <= {"attrs"}
    assert "ctxmeasure.capability.table" not in loaded


def test_the_verb_loads_no_adapter_codec_store_or_screen_before_it_is_used() -> None:
    loaded = loaded_by("from ctxmeasure import observe")
    assert {name for name in loaded if name.startswith("ctxmeasure.adapters.")} == set()
    assert loaded & {"cattrs", "click", "rich", "sqlite3", "ssl", "importlib.metadata"} == set()
    assert {"ctxmeasure.capability.table", "ctxmeasure.bounded.sqlite"} & loaded == set()


def test_what_is_looked_for_is_seen_when_it_is_loaded() -> None:
    assert {"json", "sqlite3"} <= loaded_by("import json, sqlite3")
