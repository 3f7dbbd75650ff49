"""Inputs that once broke a source, and all that fuzzing starts from, break none; reports are read.

The fuzzing itself needs atheris and time: ``python tests/fuzz/run.py``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from ctxmeasure import registry
from ctxmeasure.testing.writers import WRITERS

FUZZ = Path(__file__).parent / "fuzz"

OUTPUT = """
INFO: seed corpus: files: 33 min: 113b max: 65536b total: 700000b rss: 60Mb
#34\tINITED cov: 812 ft: 2215 corp: 30/690Kb exec/s: 0 rss: 66Mb
slowest: 0.001200 s, 800 bytes
slowest: 0.020300 s, 65536 bytes
#512\tpulse  cov: 815 ft: 2230 corp: 31/690Kb lim: 65536 exec/s: 256 rss: 67Mb
#4378\tDONE   cov: 830 ft: 2300 corp: 60/900Kb lim: 65536 exec/s: 486 rss: 69Mb
stat::number_of_executed_units: 4378
stat::slowest_unit_time_sec:    0
"""


def fuzzing(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return a module of the fuzzing, which is no package."""
    monkeypatch.syspath_prepend(str(FUZZ))
    monkeypatch.delitem(sys.modules, name, raising=False)
    return __import__(name)


@pytest.mark.parametrize("source_id", WRITERS)
def test_nothing_that_fuzzing_starts_from_breaks_a_source(
    source_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = fuzzing("targets", monkeypatch)
    attempt, seeds = targets.target(source_id), list(targets.corpus(source_id))
    assert seeds
    for seed in seeds:
        attempt(seed[-20_000:])


def test_a_crash_that_is_kept_is_among_what_fuzzing_starts_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = fuzzing("targets", monkeypatch)
    (tmp_path / "codex.hook").mkdir()
    (tmp_path / "codex.hook" / "crash-1").write_bytes(b"{")
    monkeypatch.setattr(targets, "CRASHES", tmp_path)
    assert b"{" in targets.corpus("codex.hook")


def test_a_report_says_what_was_tried_and_what_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    run = fuzzing("run", monkeypatch)
    report = run.read_report("codex.hook", OUTPUT)
    assert (report.executions, report.grown) == (4_378, 3)
    assert (report.slowest, report.slowest_bytes) == (0.0203, 65_536)
    assert str(report).startswith("codex.hook ")
    assert run.read_report("codex.hook", "killed").executions == 0


def test_a_dictionary_holds_the_words_of_the_corpus_and_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = fuzzing("run", monkeypatch)
    assert run.words([b'{"usage":{"n":1},"text":"two words"}']) == [
        '"\\"n\\""',
        '"\\"text\\""',
        '"\\"usage\\""',
    ]


def test_without_atheris_fuzzing_says_so_and_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = fuzzing("run", monkeypatch)
    monkeypatch.setattr(run, "find_spec", lambda _: None)
    assert run.main(["--seconds=1", "codex.hook"]) == 0
    assert "SKIPPED" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        run.main(["no.source"])


def test_every_source_with_a_writer_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {*WRITERS} <= {*registry.ids()}
    assert {*fuzzing("targets", monkeypatch)._RECORDED} <= {*WRITERS}
