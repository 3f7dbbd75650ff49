"""The README's commands are the ones that CI runs."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS: dict[str, str] = dict(
    re.findall(r"^<!-- ci: (\w+) -->\n```sh\n(.+\n)```$", README, flags=re.MULTILINE)
)


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


def test_the_readme_says_how_to_install_and_how_to_test() -> None:
    assert COMMANDS.keys() == {"install", "test"}
    for command in COMMANDS.values():
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install ")


@pytest.mark.parametrize("name", COMMANDS)
def test_ci_runs_the_readmes_command_as_it_is_printed(name: str) -> None:
    assert command_of_ci(ROOT, name).stdout == COMMANDS[name]


def test_ci_follows_a_change_of_the_readme(checkout: Path) -> None:
    changed = COMMANDS["test"].replace("/pytest", "/pytest -x")
    (checkout / "README.md").write_text(README.replace(COMMANDS["test"], changed), encoding="utf-8")
    assert changed != COMMANDS["test"]
    assert command_of_ci(checkout, "test").stdout == changed


@pytest.mark.parametrize("name", COMMANDS)
def test_ci_fails_when_the_readme_loses_a_command(checkout: Path, name: str) -> None:
    (checkout / "README.md").write_text(README.replace(COMMANDS[name], ""), encoding="utf-8")
    result = command_of_ci(checkout, name)
    assert result.returncode != 0
    assert f"ci: {name}" in result.stderr


def test_ci_installs_nothing_that_the_readme_or_the_dev_extra_does_not() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    installs = [line.strip() for line in script.splitlines() if "install" in line and "pip" in line]
    assert installs == [".venv/bin/pip install --quiet -e '.[dev]'"]
