"""The README's commands are the ones that CI runs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

COMMANDS = {
    "install": (
        "python3 -m venv .venv && .venv/bin/pip install '.[cli]' && .venv/bin/ctxmeasure --help"
    ),
    "test": "python3 -m venv .venv && .venv/bin/pip install -e '.[test]' && .venv/bin/pytest",
}


def command_of_ci(root: Path, name: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own script
        [str(root / ".ci" / "run"), "readme", name], capture_output=True, text=True, check=False
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    shutil.copy(ROOT / "README.md", tmp_path / "README.md")
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_ci_runs_the_readmes_command_as_it_is_printed(name: str) -> None:
    assert f"```sh\n{COMMANDS[name]}\n```" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert command_of_ci(ROOT, name).stdout == COMMANDS[name] + "\n"


def test_ci_follows_a_change_of_the_readme(checkout: Path) -> None:
    readme = checkout / "README.md"
    readme.write_text(readme.read_text(encoding="utf-8").replace("/pytest", "/pytest -x"))
    assert command_of_ci(checkout, "test").stdout == COMMANDS["test"] + " -x\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_ci_fails_when_the_readme_loses_a_command(checkout: Path, name: str) -> None:
    readme = checkout / "README.md"
    readme.write_text(readme.read_text(encoding="utf-8").replace(COMMANDS[name] + "\n", ""))
    result = command_of_ci(checkout, name)
    assert result.returncode != 0
    assert f"ci: {name}" in result.stderr


def test_ci_installs_nothing_that_the_readme_or_the_dev_extra_does_not() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    installs = [line.strip() for line in script.splitlines() if "install" in line and "pip" in line]
    assert installs == [".venv/bin/pip install --quiet -e '.[dev]'"]
