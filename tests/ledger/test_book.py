"""The book: what is appended and what is remembered change together, once, whoever is killed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.bounded.budget import ReadFault
from ctxmeasure.bounded.encode import encode_object
from ctxmeasure.ledger import book as ledger
from ctxmeasure.ledger.book import Book, BookFault

NOW = 1_796_000_000.0
NAME = "sid_" + "a" * 64


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def book(folder: Path, tmp_path: Path) -> Iterator[Book]:
    opened = Book(folder, tmp_path / "events")
    yield opened
    opened.close()


def publish(book: Book, lines: bytes, content: bytes = b"{}") -> None:
    with book.session(NAME, now=NOW) as state:
        book.publish(lines, state, content)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


# -- the folder -----------------------------------------------------------------------------------


def test_all_that_lies_in_the_folder_is_for_its_owner_alone(
    book: Book, folder: Path, tmp_path: Path
) -> None:
    book.key()
    publish(book, b"one\n")
    assert mode(folder) == mode(folder / "sessions") == 0o700
    assert sorted(path.name for path in folder.iterdir()) == ["key", "locks", "sessions"]
    files = [folder / "key", folder / "locks", *(folder / "sessions").iterdir()]
    assert {mode(path) for path in [*files, tmp_path / "events"]} == {0o600}


@pytest.mark.parametrize("place", ["file/state", "nul\0"])
def test_a_folder_that_cannot_be_made_is_a_fault(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(BookFault, match=r"^the state folder cannot be written in$"):
        Book(tmp_path / place, "x")


def test_the_key_is_made_once(book: Book, folder: Path) -> None:
    key = book.key()
    assert len(key) == 32
    another = Book(folder, "x")
    assert another.key() == book.key() == key
    another.close()


def test_a_key_that_is_not_what_was_made_is_not_replaced(book: Book, folder: Path) -> None:
    (folder / "key").write_bytes(b"short")
    with pytest.raises(BookFault, match="the key cannot be read"):
        book.key()
    assert (folder / "key").read_bytes() == b"short"


def test_a_key_that_cannot_be_written_is_a_fault(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "write_owner_file", lambda *_: False)
    with pytest.raises(BookFault, match="the key cannot be written"):
        book.key()


def test_states_of_sessions_that_rested_long_are_removed_when_a_new_one_begins(
    book: Book, folder: Path
) -> None:
    old, recent = folder / "sessions" / "old.json", folder / "sessions" / "recent.json"
    for path, age in ((old, 91), (recent, 89)):
        path.write_bytes(b"{}")
        os.utime(path, (NOW - age * 86_400,) * 2)
    with book.session("recent", now=NOW):
        pass
    assert old.exists()
    with book.session("new", now=NOW):
        pass
    assert (old.exists(), recent.exists()) == (False, True)


def test_what_killed_writers_left_is_removed_and_nothing_else(book: Book, folder: Path) -> None:
    book.key()
    drafts = [folder / "sessions" / "s.json.17.0a1b2c3d", folder / "journal.4711.0a1b2c3d"]
    others = [folder / name for name in ("errors.log", "errors.log.old", "journal.damaged")]
    for path in (*drafts, *others):
        path.write_bytes(b"")
        os.utime(path, (NOW - 86_400,) * 2)
    with book.session("new", now=NOW):
        pass
    assert [path.exists() for path in (*drafts, *others)] == [False, False, True, True, True]
    assert (folder / "key").exists()


def test_what_another_one_removes_at_the_same_time_is_gone_all_the_same(
    book: Book, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "iterdir", lambda _: iter([folder / "sessions" / "gone.json"]))
    with book.session("new", now=NOW):
        pass


def test_a_state_that_cannot_be_saved_is_a_fault(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "write_owner_file", lambda *_: False)
    with book.session(NAME, now=NOW) as state, pytest.raises(BookFault, match="the state cannot"):
        book.save(state, b"{}")


# -- lines ----------------------------------------------------------------------------------------


def test_lines_are_appended_and_the_state_is_saved_with_them(book: Book, tmp_path: Path) -> None:
    out = tmp_path / "events"
    publish(book, b"one\n", b'{"n":1}')
    publish(book, b"two\nthree\n", b'{"n":3}')
    assert out.read_bytes() == b"one\ntwo\nthree\n"
    with book.session(NAME, now=NOW) as state:
        assert state.read_bytes() == b'{"n":3}'


def test_a_line_that_another_program_did_not_end_is_left_and_not_continued(
    book: Book, tmp_path: Path
) -> None:
    out = tmp_path / "events"
    out.write_bytes(b"not ours")
    publish(book, b"one\n")
    assert out.read_bytes() == b"not ours\none\n"


@pytest.mark.parametrize("place", ["folder", "nul\0", "absent/events"])
def test_a_file_that_cannot_be_written_is_a_fault(folder: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    book = Book(folder, tmp_path / place)
    with pytest.raises(BookFault, match="the events cannot be written"):
        publish(book, b"one\n")
    book.close()


@pytest.mark.parametrize("place", ["pipe", "/dev/full", "/dev/null", "folder"])
def test_what_is_no_file_is_refused_and_not_waited_for(
    folder: Path, tmp_path: Path, place: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    book = Book(folder, tmp_path / place)
    with pytest.raises(BookFault, match=r"^the events cannot be written$"):
        publish(book, b"one\n")
    book.close()
    assert sorted(path.name for path in folder.iterdir()) == ["locks", "sessions"]


def test_a_file_that_cannot_be_read_back_is_a_fault(
    book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: int) -> bytes:
        raise OSError

    (tmp_path / "events").write_bytes(b"not ours")
    monkeypatch.setattr(os, "pread", refuse)
    with pytest.raises(BookFault, match=r"^the events cannot be written$"):
        publish(book, b"one\n")


def test_a_journal_that_cannot_be_written_stops_everything(
    book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "write_owner_file", lambda *_: False)
    with pytest.raises(BookFault, match="the journal cannot be written"):
        publish(book, b"one\n")
    assert not (tmp_path / "events").exists()


def test_a_full_disk_leaves_lines_for_the_next_one_to_finish(
    book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "events"
    write = os.write

    def fill(descriptor: int, data: bytes) -> int:
        monkeypatch.setattr(os, "write", refuse)
        return write(descriptor, data[:5])

    def refuse(*_: object) -> int:
        raise OSError

    monkeypatch.setattr(os, "write", fill)
    with pytest.raises(BookFault, match="the events cannot be written"):
        publish(book, b"one and a half\n", b'{"n":1}')
    assert out.read_bytes() == b"one a"
    monkeypatch.setattr(os, "write", write)
    with book.session("another", now=NOW):
        assert out.read_bytes() == b"one and a half\n"
    with book.session(NAME, now=NOW) as state:
        assert state.read_bytes() == b'{"n":1}'


# -- killed at any moment -------------------------------------------------------------------------


class Killed(BaseException):
    """The end of a process that gets no chance to clean up."""


@given(cut=st.integers(0, 12), before=st.sampled_from([b"", b"zero\n", b"torn"]))
def test_what_a_killed_one_wrote_down_is_carried_out_once_wherever_it_stopped(
    tmp_path_factory: pytest.TempPathFactory, cut: int, before: bytes
) -> None:
    place = tmp_path_factory.mktemp("book")
    out, lines, content = place / "events", b"one\ntwo\n", b'{"n":2}'
    guard = b"\n" if before == b"torn" else b""
    out.write_bytes(before + (guard + lines)[:cut])
    book = Book(place / "state", out)
    intent = {
        "out": str(out),
        "at": len(before),
        "lines": (guard + lines).decode(),
        "state": f"{NAME}.json",
        "content": content.decode(),
    }
    (place / "state" / "journal").write_text(encode_object(intent))
    for name in ("another", NAME):
        with book.session(name, now=NOW):
            assert out.read_bytes() == before + guard + lines
            assert not (place / "state" / "journal").exists()
    with book.session(NAME, now=NOW) as state:
        assert state.read_bytes() == content
    book.close()


@pytest.mark.parametrize("step", ["write_owner_file", "_append", "unlink"])
def test_a_writer_killed_at_any_step_publishes_once(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    out = tmp_path / "events"
    book = Book(folder, out)

    def kill(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        if step == "unlink":
            patched.setattr(Path, "unlink", kill)
        else:
            patched.setattr(ledger, step, kill)
        with pytest.raises(Killed):
            publish(book, b"one\n", b'{"n":1}')
    book.close()
    book = Book(folder, out)
    with book.session(NAME, now=NOW) as state:
        is_known = state.exists()
        assert is_known == (step != "write_owner_file")
        if not is_known:
            book.publish(b"one\n", state, b'{"n":1}')
    assert out.read_bytes() == b"one\n"
    book.close()


@pytest.mark.parametrize("now_there", [b"something else that is long\n", b"begun anew", None])
def test_a_file_that_was_begun_anew_since_gets_the_whole_lines(
    book: Book, folder: Path, tmp_path: Path, now_there: bytes | None
) -> None:
    out = tmp_path / "events"
    if now_there is not None:
        out.write_bytes(now_there)
    intent = {"out": str(out), "at": 4, "lines": "one\n", "state": "s.json", "content": "{}"}
    (folder / "journal").write_text(encode_object(intent))
    with book.session(NAME, now=NOW):
        pass
    there = now_there or b""
    assert out.read_bytes() == there + (b"" if there[-1:] in (b"\n", b"") else b"\n") + b"one\n"


INTENT = {"out": "/events", "at": 0, "lines": "x\n", "state": "sid_1.json", "content": "{}"}


def a_journal(**changes: Any) -> bytes:
    return encode_object({**INTENT, **changes}).encode()


@pytest.mark.parametrize(
    "damaged",
    [
        *(b"", b"{", b"[]", b"{}"),
        *(a_journal(**{key: None}) for key in INTENT),
        *(a_journal(at=at) for at in (-1, 2**63, "0", 0.5)),
        *(a_journal(state=name) for name in ("", "..", "../key", "/key", "nul\0")),
    ],
)
def test_a_journal_that_nobody_can_carry_out_is_put_aside(
    book: Book, folder: Path, tmp_path: Path, damaged: bytes
) -> None:
    (folder / "journal").write_bytes(damaged)
    publish(book, b"one\n")
    assert (folder / "journal.damaged").read_bytes() == damaged
    assert (tmp_path / "events").read_bytes() == b"one\n"


def test_a_journal_that_cannot_be_read_for_now_is_carried_out_later(
    book: Book, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "events"
    (folder / "journal").write_bytes(a_journal(out=str(out)))
    with monkeypatch.context() as patched:
        patched.setattr(ledger, "read_owner_file", lambda _: ReadFault.UNREADABLE)
        with pytest.raises(BookFault, match="the journal cannot be read"):
            publish(book, b"one\n")
        assert not out.exists()
    publish(book, b"two\n")
    assert out.read_bytes() == b"x\ntwo\n"
    assert not (folder / "journal.damaged").exists()


@pytest.mark.parametrize("name", ["events", "other"])
def test_a_file_that_cannot_be_written_blocks_its_own_events_only(
    book: Book, folder: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / name
    out.mkdir()
    intent = {"out": str(out), "at": 0, "lines": "x\n", "state": "s", "content": ""}
    (folder / "journal").write_text(encode_object(intent))
    if name == "events":
        with pytest.raises(BookFault, match="the events cannot"), book.session(NAME, now=NOW):
            pass
        assert (folder / "journal").exists()
    else:
        publish(book, b"one\n")
        assert (tmp_path / "events").read_bytes() == b"one\n"
        assert not (folder / "sessions" / "s").exists()


def test_a_key_that_does_not_reach_the_disk_is_a_fault(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: int) -> None:
        raise OSError

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(BookFault, match="the key cannot be written"):
        book.key()
