from __future__ import annotations

import errno
import io
import mmap
import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.bounded.budget import ReadFault
from ctxmeasure.bounded.extent import Extent, file_time, open_extent, read_fully


def opened(source: Any) -> Extent:
    extent = open_extent(source)
    assert isinstance(extent, Extent)
    return extent


class OnlySeekAndRead:
    """What an object-store file has to offer, with reads that may be short."""

    def __init__(self, content: bytes, longest: int) -> None:
        self._file = io.BytesIO(content)
        self._longest = longest

    def seek(self, position: int, whence: int = 0) -> int:
        return self._file.seek(position, whence)

    def read(self, count: int) -> bytes:
        return self._file.read(min(count, self._longest))


class Failing(io.BytesIO):
    """A file object whose *call* raises *error*."""

    def __init__(self, call: str, error: Exception) -> None:
        super().__init__(b'{"a":1}')
        self._error = error
        setattr(self, call, self._fail)

    def _fail(self, *_: object) -> Any:
        raise self._error


@given(st.binary(max_size=50), st.integers(1, 60), st.integers(0, 60), st.integers(0, 60))
def test_every_kind_of_source_gives_the_same_bytes(
    content: bytes, longest: int, start: int, count: int
) -> None:
    kinds: list[Any] = [
        content,
        bytearray(content),
        memoryview(content),
        io.BytesIO(content),
        OnlySeekAndRead(content, longest),
    ]
    for kind in kinds:
        extent = opened(kind)
        assert extent.size == len(content)
        assert extent.read(start, count) == content[start : start + count]
        extent.close()


class TellsOnly(io.BytesIO):
    """A file whose seek returns nothing, as that of mmap before Python 3.13."""

    def seek(self, *where: int) -> Any:
        super().seek(*where)


def test_a_file_that_only_tells_its_place_gives_its_bytes() -> None:
    extent = opened(TellsOnly(b"0123456789"))
    assert (extent.size, extent.read(3, 4)) == (10, b"3456")


@pytest.mark.parametrize("spelling", [str, Path, lambda path: Path(os.fsencode(path).decode())])
def test_a_path_gives_its_bytes(tmp_path: Path, spelling: Any) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"0123456789")
    extent = opened(spelling(path))
    assert (extent.size, extent.read(3, 4)) == (10, b"3456")
    extent.close()


def test_reading_a_file_changes_nothing_about_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"0123456789")
    path.chmod(0o444)
    before = path.stat()
    extent = opened(path)
    extent.read(0, 10)
    extent.close()
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_mode) == (
        before.st_size,
        before.st_mtime_ns,
        before.st_mode,
    )
    assert list(tmp_path.iterdir()) == [path]


def test_a_symbolic_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"0123")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    extent = opened(tmp_path / "b")
    assert extent.read(0, 4) == b"0123"
    extent.close()


def missing(folder: Path) -> Any:
    return folder / "none"


def below_a_file(folder: Path) -> Any:
    (folder / "file").touch()
    return folder / "file" / "none"


def dangling(folder: Path) -> Any:
    (folder / "link").symlink_to(folder / "none")
    return folder / "link"


@pytest.mark.parametrize(
    "build",
    [
        missing,
        below_a_file,
        dangling,
        lambda _: "a\0b",
        lambda _: "a\ud800b",
        lambda _: "",
    ],
)
def test_what_does_not_exist_is_absent(tmp_path: Path, build: Any) -> None:
    assert open_extent(build(tmp_path)) is ReadFault.ABSENT


def fifo(folder: Path) -> Any:
    os.mkfifo(folder / "fifo")
    return folder / "fifo"


def link_loop(folder: Path) -> Any:
    (folder / "link").symlink_to(folder / "link")
    return folder / "link"


@pytest.mark.parametrize(
    "build",
    [
        lambda folder: folder,
        fifo,
        link_loop,
        lambda _: os.devnull,
        lambda folder: folder / ("x" * 5000),
    ],
)
def test_what_is_no_regular_file_is_unreadable_without_waiting(tmp_path: Path, build: Any) -> None:
    descriptors = len(list(Path("/dev/fd").iterdir())) if Path("/dev/fd").exists() else 0
    assert open_extent(build(tmp_path)) is ReadFault.UNREADABLE
    if descriptors:
        assert len(list(Path("/dev/fd").iterdir())) == descriptors


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
@pytest.mark.parametrize("locked", ["file", "folder"])
def test_a_file_that_may_not_be_read_is_unreadable(tmp_path: Path, locked: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "file"
    path.touch()
    barred = path if locked == "file" else folder
    mode = barred.stat().st_mode
    barred.chmod(0)
    try:
        assert open_extent(path) is ReadFault.UNREADABLE
    finally:
        barred.chmod(stat.S_IMODE(mode))


@pytest.mark.parametrize(
    ("number", "fault"),
    [
        (errno.EACCES, ReadFault.UNREADABLE),
        (errno.EPERM, ReadFault.UNREADABLE),
        (errno.EIO, ReadFault.UNREADABLE),
        (errno.ENXIO, ReadFault.UNREADABLE),  # a socket
        (errno.EMFILE, ReadFault.UNREADABLE),
        (errno.EWOULDBLOCK, ReadFault.BUSY),  # open(2): another process holds a lease
        (errno.ENOENT, ReadFault.ABSENT),
    ],
)
def test_an_error_of_the_system_at_opening_is_a_named_fault(
    monkeypatch: pytest.MonkeyPatch, number: int, fault: ReadFault
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(number, "refused")

    monkeypatch.setattr(os, "open", refuse)
    assert open_extent("a.jsonl") is fault


def test_a_file_that_goes_stale_once_it_is_open_is_unreadable_and_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").touch()
    closed = []
    close = os.close

    def stale(_: int) -> Any:
        raise OSError(errno.ESTALE, "stale")

    def spy(descriptor: int) -> None:
        closed.append(descriptor)
        close(descriptor)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fstat", stale)
        patched.setattr(os, "close", spy)
        fault = open_extent(tmp_path / "a")
    assert fault is ReadFault.UNREADABLE
    assert len(closed) == 1


@pytest.mark.parametrize("error", [OSError(errno.EIO, "x"), ValueError("x")])
def test_a_file_object_that_fails_is_unreadable(error: Exception) -> None:
    assert open_extent(Failing("seek", error)) is ReadFault.UNREADABLE
    assert opened(Failing("read", error)).read(0, 1) is ReadFault.UNREADABLE


def test_a_pipe_cannot_seek_and_is_unreadable() -> None:
    receiver, sender = os.pipe()
    with os.fdopen(receiver, "rb") as pipe, os.fdopen(sender, "wb"):
        assert open_extent(pipe) is ReadFault.UNREADABLE


def test_a_file_object_without_bytes_at_the_moment_is_unreadable() -> None:
    file = io.BytesIO(b"abc")
    file.read = lambda _=-1: None  # type: ignore[method-assign, assignment, return-value]
    assert opened(file).read(0, 1) is ReadFault.UNREADABLE


def test_a_closed_file_object_is_unreadable() -> None:
    file = io.BytesIO(b"abc")
    file.close()
    assert open_extent(file) is ReadFault.UNREADABLE


def test_a_file_object_stays_open_and_what_was_opened_here_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    with path.open("rb") as file:
        extent = opened(file)
        extent.close()
        assert not file.closed
        assert extent.read(0, 3) == b"abc"
    ours = opened(path)
    ours.close()
    assert ours.read(0, 3) is ReadFault.UNREADABLE


def test_a_view_is_released_when_it_is_closed() -> None:
    content = bytearray(b"abc")
    extent = opened(content)
    extent.close()
    content += b"d"  # a BufferError while a view is held
    assert extent.read(0, 3) is ReadFault.UNREADABLE


def test_a_memory_map_is_a_file_object(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"0123456789")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        extent = opened(mapped)
        assert (extent.size, extent.read(2, 3)) == (10, b"234")


def test_a_file_object_that_gives_more_than_it_was_asked_for_is_cut() -> None:
    file = io.BytesIO(b"abcdef")
    file.read = lambda _=-1: b"abcdef"  # type: ignore[method-assign]
    assert read_fully(file, 4) == b"abcd"


@pytest.mark.parametrize(
    "source",
    [
        1,
        True,
        None,
        {"a": 1},
        io.StringIO("{}"),
        object(),
        memoryview(b"abcd")[::2],
        ["a.jsonl"],
    ],
)
def test_what_cannot_be_read_is_a_wrong_argument(source: Any) -> None:
    with pytest.raises(TypeError, match=r"data: "):
        open_extent(source)


def test_a_file_opened_as_text_is_a_wrong_argument(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("{}")
    with path.open(encoding="utf-8") as file, pytest.raises(TypeError, match=r"^data: "):
        open_extent(file)  # type: ignore[arg-type]


def test_a_file_object_that_gives_text_is_a_wrong_argument() -> None:
    file = io.BytesIO(b"abc")
    file.read = lambda _=-1: "abc"  # type: ignore[method-assign, assignment, return-value]
    with pytest.raises(TypeError, match=r"^data: "):
        opened(file).read(0, 3)


def test_neither_repr_nor_message_shows_the_path_or_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "sentinel"
    path.write_bytes(b"sentinel")
    extent = opened(path)
    assert "sentinel" not in repr(extent)
    extent.close()


# -- when it was written ------------------------------------------------------------------------


def test_a_file_is_dated_however_it_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"{}")
    os.utime(path, ns=(0, 1_700_000_000_123_999_999))
    written = datetime(2023, 11, 14, 22, 13, 20, 123_000, UTC)
    extent = opened(path)
    extent.close()
    assert extent.modified_at == written
    for buffering in (-1, 0):
        with path.open("rb", buffering) as file:
            assert opened(file).modified_at == written


@pytest.mark.parametrize(
    "source",
    [b"{}", bytearray(b"{}"), memoryview(b"{}"), io.BytesIO(b"{}"), OnlySeekAndRead(b"{}", 2)],
)
def test_what_is_no_file_of_a_file_system_has_no_date(source: Any) -> None:
    assert opened(source).modified_at is None


class Numbered(io.BytesIO):
    """A file object with a number of its own choice."""

    def __init__(self, number: Any) -> None:
        super().__init__(b"{}")
        self.fileno = lambda: number  # type: ignore[method-assign]


def test_a_number_that_is_no_files_gives_no_date() -> None:
    receiver, sender = os.pipe()
    for number in (None, "7", -1, receiver):
        assert opened(Numbered(number)).modified_at is None
    os.close(receiver)
    os.close(sender)


@given(st.integers())
def test_every_time_of_a_file_system_is_a_moment(nanoseconds: int) -> None:
    assert 1970 <= file_time(nanoseconds).year <= 9999


@given(st.integers(0, 4 * 10**18))
def test_a_time_is_cut_to_whole_milliseconds(nanoseconds: int) -> None:
    since = file_time(nanoseconds) - datetime(1970, 1, 1, tzinfo=UTC)
    assert abs(since.total_seconds() * 1000 - nanoseconds // 1_000_000) < 1
    assert file_time(nanoseconds).microsecond % 1000 == 0
