"""Notes on what went wrong: short, bounded, for the owner alone, and never a fault themselves."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ctxmeasure.ledger.notes import note

AT = datetime(2026, 11, 29, 18, 0, tzinfo=UTC)


def test_a_note_is_a_line_with_its_moment_for_the_owner_alone(tmp_path: Path) -> None:
    note(tmp_path, "hook", "source_malformed", at=AT)
    note(tmp_path, "hook", "again", at=AT)
    path = tmp_path / "errors.log"
    assert path.read_text().splitlines() == [
        "2026-11-29T18:00:00+00:00 hook source_malformed",
        "2026-11-29T18:00:00+00:00 hook again",
    ]
    assert path.stat().st_mode & 0o777 == 0o600


def test_notes_do_not_grow_without_end(tmp_path: Path) -> None:
    for _ in range(5000):
        note(tmp_path, "hook", "x" * 40, at=AT)
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["errors.log", "errors.log.old"]
    assert sum(file.stat().st_size for file in files) < 3 * 64 * 1024


def test_a_note_that_cannot_be_made_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note(tmp_path / "absent", "hook", "x", at=AT)
    note("\0", "hook", "x", at=AT)
    assert list(tmp_path.iterdir()) == []

    def full(*_: object) -> int:
        raise OSError

    monkeypatch.setattr(os, "write", full)
    note(tmp_path, "hook", "x", at=AT)
    assert (tmp_path / "errors.log").read_bytes() == b""
