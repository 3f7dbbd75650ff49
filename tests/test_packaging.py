"""What is shipped says the same thing everywhere."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import ctxmeasure

ROOT = Path(__file__).resolve().parents[1]


def project() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project: dict[str, Any] = table["project"]
    return project


def test_the_package_says_that_it_is_typed() -> None:
    assert resources.files("ctxmeasure").joinpath("py.typed").is_file()


def test_the_version_is_the_same_wherever_it_is_stated() -> None:
    version = project()["version"]
    assert metadata.version("ctxmeasure") == version
    assert ctxmeasure.__version__ == version


def test_the_changelog_knows_the_version_and_what_is_unreleased() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## \[?([^\]\s]+)", changelog, flags=re.MULTILINE)
    version = project()["version"]
    assert sections[0] == "Unreleased"
    assert ".dev" in version or version in sections


def test_every_supported_python_is_declared() -> None:
    prefix = "Programming Language :: Python :: 3."
    minors = [int(c.removeprefix(prefix)) for c in project()["classifiers"] if c.startswith(prefix)]
    assert minors == list(range(min(minors), max(minors) + 1))
    assert project()["requires-python"] == f">=3.{min(minors)}"


def test_the_core_needs_only_three_packages() -> None:
    names = {re.split(r"[<>=]", need)[0] for need in project()["dependencies"]}
    assert names == {"attrs", "cattrs", "orjson"}
