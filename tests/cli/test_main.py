"""The entry point: what it needs, what it imports, and what it says of itself."""

from __future__ import annotations

import runpy
import subprocess
import sys
from importlib.metadata import version

import pytest
from command_line import COMMAND, COMMANDS, run, run_process

from ctxmeasure.cli import main


def test_the_entry_point_runs_the_command_line_of_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["anything", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"ctxmeasure {version('ctxmeasure')}\n"


def test_without_click_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "click", None)
    monkeypatch.delitem(sys.modules, "ctxmeasure.cli.commands")
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "pip install 'ctxmeasure[cli]'" in err


def test_a_process_without_click_says_so_too() -> None:
    blocked = f"import sys; sys.modules['click'] = None; {COMMAND[2]}"
    result = run_process("sources", command=(sys.executable, "-c", blocked))
    assert (result.returncode, result.stdout) == (2, b"")
    assert b"pip install 'ctxmeasure[cli]'" in result.stderr
    assert b"Traceback" not in result.stderr


def test_another_module_that_is_absent_is_not_clicks_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ctxmeasure.cli.commands", None)
    with pytest.raises(ModuleNotFoundError, match=r"ctxmeasure\.cli\.commands"):
        main()


def test_a_process_without_standard_streams_runs_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", ["ctxmeasure", "sources"])
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    with pytest.raises(SystemExit, match=r"^0$"):
        main()


def test_the_package_can_be_run_as_a_module(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["ctxmeasure", "--version"])
    monkeypatch.delitem(sys.modules, "ctxmeasure.__main__", raising=False)  # or runpy warns
    with pytest.raises(SystemExit, match=r"^0$"):
        runpy.run_module("ctxmeasure", run_name="__main__")
    assert capsys.readouterr().out.startswith("ctxmeasure ")


def loaded_by(program: str) -> set[str]:
    listing = f"import sys\ntry:\n    {program}\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    result = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", listing], capture_output=True, text=True, check=True
    )
    return set(result.stderr.split())


def test_the_entry_point_itself_imports_neither_click_nor_rich() -> None:
    assert {"click", "rich"} & loaded_by("import ctxmeasure.cli") == set()


def test_rich_is_imported_for_tables_on_terminals_only() -> None:
    arguments = "import sys; sys.argv = ['ctxmeasure', 'models']; from ctxmeasure.cli import main"
    loaded = loaded_by(f"{arguments}; main()")
    assert "click" in loaded
    assert "rich" not in loaded


def test_a_command_does_not_import_what_another_one_needs() -> None:
    arguments = "import sys; sys.argv = ['ctxmeasure', 'sources']; from ctxmeasure.cli import main"
    loaded = {name for name in loaded_by(f"{arguments}; main()") if "ctxmeasure.cli." in name}
    others = {f"ctxmeasure.cli.{name}" for name in COMMANDS if name != "sources"}
    assert loaded & others == set()
    assert "ctxmeasure.cli.sources" in loaded


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_teaches_with_an_example(command: str) -> None:
    assert f"  {command} " in run("--help").stdout
    result = run(command, "--help")
    *_, examples = result.stdout.partition("Examples:\n")
    assert f"ctxmeasure {command} " in examples.replace("\n", " \n")
    assert (result.exit_code, result.stderr) == (0, "")


def test_every_example_of_a_help_text_stands_on_a_line_of_its_own() -> None:
    for command in ([], *([name] for name in COMMANDS)):
        *_, examples = run(*command, "--help").stdout.partition("Examples:\n")
        assert all("ctxmeasure" in line for line in examples.splitlines())


def test_the_help_says_whole_what_each_command_is_for() -> None:
    _, _, listed = run("--help").stdout.partition("Commands:\n")
    listed, _, _ = listed.partition("\n\n")
    assert [line.split()[0] for line in listed.splitlines()] == [*COMMANDS]
    assert all(line.endswith(".") and not line.endswith("...") for line in listed.splitlines())


def test_without_a_command_the_help_is_shown() -> None:
    assert "Commands:" in run().output
