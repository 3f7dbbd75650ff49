"""All of standard input is taken, a bounded part is held, and no wait is endless."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxmeasure.cli.swift import payload


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """Give both ends of a pipe; whoever writes closes the second."""
    ends = os.pipe()
    yield ends
    os.close(ends[0])


def feed(descriptor: int, data: bytes) -> threading.Thread:
    """Write *data* from another thread, as a pipe holds 64 KiB, and close the end."""

    def write() -> None:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)

    thread = threading.Thread(target=write)
    thread.start()
    return thread


def test_what_comes_is_held_to_its_end(pipe: tuple[int, int]) -> None:
    data = os.urandom(300_000)
    writer = feed(pipe[1], data)
    assert payload.read(pipe[0]) == data
    writer.join()


def test_too_much_is_read_and_not_held(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(payload, "HELD", 100_000)
    writer = feed(pipe[1], b"x" * 3_000_000)
    assert payload.read(pipe[0]) == b"x" * 100_001
    writer.join()


def test_an_end_that_does_not_come_is_not_waited_for(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "monotonic", iter([0.0, 0.0, 2.0]).__next__)
    os.write(pipe[1], b"begun")
    assert payload.read(pipe[0]) == b"begun"
    os.close(pipe[1])


def test_a_closed_input_is_empty(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    assert payload.read(descriptor) == b""  # a folder cannot be read
    os.close(descriptor)
    assert payload.read(descriptor) == b""


def test_what_is_passed_on_is_held_too(pipe: tuple[int, int], tmp_path: Path) -> None:
    data = os.urandom(300_000)
    drain = os.open(tmp_path / "drain", os.O_WRONLY | os.O_CREAT)
    writer = feed(pipe[1], data)
    assert payload.pass_on(drain, pipe[0]) == data
    writer.join()
    os.close(drain)
    assert (tmp_path / "drain").read_bytes() == data


def test_a_reader_that_has_seen_enough_stops_nothing(pipe: tuple[int, int]) -> None:
    reading, drain = os.pipe()
    os.close(reading)
    writer = feed(pipe[1], b"x" * 3_000_000)
    assert payload.pass_on(drain, pipe[0]) == b"x" * 3_000_000
    writer.join()
    os.close(drain)


def test_passing_on_has_all_the_patience_that_its_reader_has(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def clock() -> float:
        raise AssertionError

    monkeypatch.setattr(time, "monotonic", clock)
    drain = os.open(tmp_path / "drain", os.O_WRONLY | os.O_CREAT)
    feed(pipe[1], b"late").join()
    assert payload.pass_on(drain, pipe[0]) == b"late"
    os.close(drain)
