from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.bounded.budget import ReadBudget, ReadFault, ReadStats
from ctxmeasure.bounded.extent import file_time
from ctxmeasure.bounded.payload import Payload, read_object

TEXT = '{"model":"ü😀","used":[1,{"a":null}]}'
VALUE = {"model": "ü😀", "used": [1, {"a": None}]}
CONTENT = TEXT.encode()
BUDGET = ReadBudget()


def budget(maximum: int) -> ReadBudget:
    return ReadBudget(maximum=maximum)


class Pipe(io.RawIOBase):
    """A pipe that cannot seek, gives short reads and counts the bytes it gave."""

    def __init__(self, content: bytes, longest: int = 7) -> None:
        self._file = io.BytesIO(content)
        self._longest = longest
        self.given = 0

    def read(self, count: int = -1) -> bytes:
        piece = self._file.read(min(count, self._longest))
        self.given += len(piece)
        return piece


def as_source(pipe: io.RawIOBase) -> BinaryIO:
    return cast("BinaryIO", pipe)


class CountingFile(io.BytesIO):
    """A file that records what was asked of it."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self.asked: list[int | None] = []

    def read(self, count: int | None = -1) -> bytes:
        self.asked.append(count)
        return super().read(count)


@pytest.mark.parametrize(
    "content",
    [
        CONTENT,
        b" \r\n" + CONTENT + b"\r\n",
        b"\xef\xbb\xbf" + CONTENT,
        b"\xff\xfe" + TEXT.encode("utf-16-le"),
        b"\xfe\xff" + TEXT.encode("utf-16-be"),
        TEXT.encode("utf-16-le"),
        f"\r\n{TEXT}\r\n".encode("utf-16-le"),
    ],
    ids=[
        "utf-8",
        "blanks",
        "utf-8-bom",
        "utf-16-le-bom",
        "utf-16-be-bom",
        "utf-16-le",
        "blanks-16",
    ],
)
def test_an_object_is_read_in_every_encoding_that_agents_write(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "payload"
    path.write_bytes(content)
    stats = ReadStats(bytes_read=len(content), rows_decoded=1)
    in_a_file = Payload(VALUE, stats, file_time(path.stat().st_mtime_ns))
    assert read_object(path, BUDGET) == in_a_file
    assert read_object(str(path), BUDGET) == in_a_file
    expected = Payload(VALUE, stats)
    assert read_object(content, BUDGET) == expected
    assert read_object(io.BytesIO(content), BUDGET) == expected
    assert read_object(as_source(Pipe(content)), BUDGET) == expected


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"{",
        CONTENT + CONTENT,
        b'{"a":"\xff"}',
        b"\xff\xfe" + TEXT.encode("utf-16-le")[:-1],
        b"\xff\xfe" + '{"a":"\ud83d"}'.encode("utf-16-le", "surrogatepass"),
        TEXT.encode("utf-32-le"),
        b"\xff\xfe\0\0" + TEXT.encode("utf-32-le"),
        TEXT.encode("utf-16-be"),
        b"{\0",
        b'{"a":1,"a":2}',
        b'{"a":{"b":1,"b":1}}',
        '{"a":1,"a":2}'.encode("utf-16"),
    ],
)
def test_what_is_not_one_object_with_distinct_keys_is_malformed(content: bytes) -> None:
    assert read_object(content, BUDGET) is ReadFault.MALFORMED
    assert read_object(as_source(Pipe(content)), BUDGET) is ReadFault.MALFORMED


def test_a_payload_may_fill_the_budget_but_not_pass_it() -> None:
    assert isinstance(read_object(CONTENT, budget(len(CONTENT))), Payload)
    assert read_object(CONTENT, budget(len(CONTENT) - 1)) is ReadFault.BUDGET_EXHAUSTED


def test_a_file_beyond_the_budget_is_not_read_at_all() -> None:
    file = CountingFile(CONTENT)
    assert read_object(file, budget(len(CONTENT) - 1)) is ReadFault.BUDGET_EXHAUSTED
    assert file.asked == []


def test_no_more_is_asked_of_a_file_than_it_holds() -> None:
    file = CountingFile(CONTENT)
    read_object(file, BUDGET)
    assert file.asked == [len(CONTENT)]


def test_no_more_is_taken_from_a_pipe_than_the_budget_allows() -> None:
    pipe = Pipe(CONTENT)
    assert read_object(as_source(pipe), budget(10)) is ReadFault.BUDGET_EXHAUSTED
    assert pipe.given == 10


@pytest.mark.parametrize(("room", "fits"), [(1, True), (0, False), (-1, False)])
def test_the_last_byte_of_a_pipes_budget_is_a_probe_for_its_end(room: int, fits: bool) -> None:
    result = read_object(as_source(Pipe(CONTENT)), budget(len(CONTENT) + room))
    assert isinstance(result, Payload) is fits
    assert fits or result is ReadFault.BUDGET_EXHAUSTED


def test_the_faults_of_a_source_are_passed_on(tmp_path: Path) -> None:
    assert read_object(tmp_path / "none", BUDGET) is ReadFault.ABSENT
    assert read_object(tmp_path, BUDGET) is ReadFault.UNREADABLE
    closed = io.BytesIO(CONTENT)
    closed.close()
    assert read_object(closed, BUDGET) is ReadFault.UNREADABLE


def test_a_file_that_fails_while_it_is_read_is_unreadable() -> None:
    class Failing(io.BytesIO):
        def read(self, _: int | None = -1) -> bytes:
            raise OSError

    assert read_object(Failing(CONTENT), BUDGET) is ReadFault.UNREADABLE


def test_a_file_that_shrinks_while_it_is_read_is_malformed() -> None:
    class Shrinking(io.BytesIO):
        def read(self, _: int | None = -1) -> bytes:
            self.truncate(5)
            return super().read()

    assert read_object(Shrinking(CONTENT), BUDGET) is ReadFault.MALFORMED


def test_a_real_pipe_is_read_to_its_end() -> None:
    receiver, sender = os.pipe()
    with os.fdopen(receiver, "rb") as pipe:
        with os.fdopen(sender, "wb") as writer:
            writer.write(CONTENT)
        payload = read_object(pipe, BUDGET)
    assert isinstance(payload, Payload)
    assert payload.value == VALUE


@pytest.mark.parametrize("source", [1, None, io.StringIO("{}"), {"a": 1}])
def test_what_cannot_be_read_is_a_wrong_argument(source: Any) -> None:
    with pytest.raises(TypeError, match=r"^data: "):
        read_object(source, BUDGET)


def test_a_pipe_that_breaks_is_unreadable() -> None:
    class Broken(Pipe):
        def read(self, _: int | None = -1) -> bytes:
            raise OSError

    assert read_object(as_source(Broken(CONTENT)), BUDGET) is ReadFault.UNREADABLE


@given(st.binary())
def test_no_bytes_raise(content: bytes) -> None:
    assert isinstance(read_object(content, BUDGET), Payload | ReadFault)


def test_the_files_that_are_opened_here_are_closed(tmp_path: Path) -> None:
    path = tmp_path / "payload"
    path.write_bytes(CONTENT)
    before = sorted(Path("/dev/fd").iterdir())
    read_object(path, BUDGET)
    read_object(path, budget(1))
    assert sorted(Path("/dev/fd").iterdir()) == before


def test_a_repr_shows_nothing_of_the_payload() -> None:
    assert "model" not in repr(read_object(CONTENT, BUDGET))
