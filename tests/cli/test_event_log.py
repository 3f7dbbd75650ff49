"""The log of events: lines are added, whole and one at a time, and nobody else can read them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from ctxmeasure.cli import event_log


def test_each_event_is_a_line_that_is_added(tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    assert event_log.append(str(log), {"hat": "a\nb", "cost_usd": 0.5})
    assert event_log.append(str(log), {"hat": "\udcff"})
    first, second = log.read_bytes().splitlines()
    assert first == b'{"hat":"a\\nb","cost_usd":0.5}'
    assert json.loads(second) == {"hat": "\udcff"}


@pytest.mark.skipif(sys.platform == "win32", reason="has other permissions")
def test_a_new_log_is_its_owners_only_and_an_old_one_stays_as_it_is(tmp_path: Path) -> None:
    log, shared = tmp_path / "events.jsonl", tmp_path / "shared.jsonl"
    shared.touch()
    shared.chmod(0o644)
    before = os.umask(0)
    try:
        assert event_log.append(str(log), {})
        assert event_log.append(str(shared), {})
    finally:
        os.umask(before)
    assert log.stat().st_mode & 0o777 == 0o600
    assert shared.stat().st_mode & 0o777 == 0o644


def test_a_line_goes_in_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    write = os.write

    def count(descriptor: int, line: bytes) -> int:
        written.append(line)
        return write(descriptor, line)

    monkeypatch.setattr(os, "write", count)
    assert event_log.append(str(tmp_path / "log"), {"key": "x" * 100_000})
    assert len(written) == 1


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    assert not event_log.append(str(tmp_path), {})
    assert not event_log.append(str(tmp_path / "no" / "log"), {})
    if Path("/dev/full").exists():
        assert not event_log.append("/dev/full", {})


def test_half_a_line_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "write", lambda _descriptor, line: len(line) // 2)
    assert not event_log.append(str(tmp_path / "log"), {"key": 1})


def test_an_event_behind_half_a_line_has_a_line_of_its_own(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b'{"key":1}\n{"ke')
    for number in (2, 3):
        assert event_log.append(str(log), {"key": number})
    assert log.read_bytes() == b'{"key":1}\n{"ke\n{"key":2}\n{"key":3}\n'


def test_a_log_that_can_only_be_written_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    log = tmp_path / "log"
    log.write_bytes(b"{}\n")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refuse)
        assert event_log.append(str(log), {"key": 1})
    assert log.read_bytes() == b'{}\n{"key":1}\n'


def test_a_pipe_without_a_reader_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert not event_log.append(str(pipe), {"key": 1})
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert event_log.append(str(pipe), {"key": 1})
        assert os.read(reader, 100) == b'{"key":1}\n'
    finally:
        os.close(reader)
