from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ctxmeasure.bounded import scan as scans
from ctxmeasure.bounded.budget import ReadFault, ReadStats
from ctxmeasure.bounded.decode import decode_object
from ctxmeasure.bounded.jsonl import is_compressed
from ctxmeasure.bounded.scan import RowScan


def opened(source: Any) -> RowScan:
    found = RowScan.open(source)
    assert isinstance(found, RowScan)
    return found


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scans, "_BLOCK", 16)
    monkeypatch.setattr(scans, "_LONGEST_LINE", 64)


# Lines as they occur: rows with a needle or without, and what a crash or a foreign tool leaves.
objects = st.fixed_dictionaries(
    {}, optional={"usage": st.integers(0, 9), "id": st.text(max_size=20), "é": st.just("ß😀")}
)
lines = st.one_of(
    objects.map(lambda value: json.dumps(value, ensure_ascii=False).encode()),
    objects.map(lambda value: json.dumps(value).encode() + b"\r"),
    objects.map(lambda value: json.dumps(value).encode()[:-2]),
    st.sampled_from([b"", b" ", b"[1]", b"\0\0"]),
    st.integers(1, 12).map(lambda times: b'{"usage":"%b"}' % (b"long " * times)),
)
contents = st.builds(
    lambda bom, parts, end: bom + b"\n".join(parts) + end,
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.lists(lines, max_size=12),
    st.sampled_from([b"", b"\n", b"\r\n"]),
)
needles = st.lists(
    st.sampled_from([b'"usage"', b'"id"', b"{", b"\xc3", b"never", b"1"]), max_size=4, unique=True
)


def expected(content: bytes, wanted: list[bytes]) -> list[tuple[int, int, dict[str, Any]]]:
    """The rows with a needle, by splitting the file the plain way."""
    rows, offset = [], 0
    for line in content.split(b"\n"):
        value = decode_object(line.removeprefix(b"\xef\xbb\xbf") if offset == 0 else line)
        if value is not None and (not wanted or any(needle in line for needle in wanted)):
            rows.append((offset, offset + len(line), value))
        offset += len(line) + 1
    return rows


@given(contents, needles)
def test_rows_are_the_lines_that_hold_a_needle_in_the_files_order(
    content: bytes, wanted: list[bytes]
) -> None:
    found = [(row.offset, row.stop, row.value) for row in opened(content).rows(*wanted)]
    assert found == expected(content, wanted)


@pytest.mark.usefixtures("small_blocks")
class TestInSmallBlocks:
    def test_rows_do_not_depend_on_where_blocks_end(self) -> None:
        @given(contents, needles)
        @example(b'{"usage":1}\n' * 9, [b'"usage"'])
        def check(content: bytes, wanted: list[bytes]) -> None:
            assume(all(len(line) <= 64 for line in content.split(b"\n")))
            found = [(row.offset, row.stop, row.value) for row in opened(content).rows(*wanted)]
            assert found == expected(content, wanted)

        check()

    @pytest.mark.parametrize("length", [81, 96, 97, 500])
    @pytest.mark.parametrize("end", [b"", b"\n"])
    def test_a_line_beyond_the_kept_memory_is_skipped_and_counted(
        self, length: int, end: bytes
    ) -> None:
        content = b'{"a":1}\n' + b'{"a":"' + b"x" * length + b'"}\n{"a":2}' + end
        reader = opened(content)
        assert [row.value for row in reader.rows(b'"a"')] == [{"a": 1}, {"a": 2}]
        assert reader.stats == ReadStats(bytes_read=len(content), rows_decoded=2, rows_skipped=1)

    def test_a_line_beyond_the_kept_memory_can_be_the_last(self) -> None:
        reader = opened(b'{"a":1}\n' + b"x" * 500)
        assert [row.value for row in reader.rows(b'"a"')] == [{"a": 1}]
        assert reader.stats.rows_skipped == 1
        assert list(opened(b"x" * 500).rows(b"x")) == []

    def test_what_lies_between_is_held_for_some_blocks(self) -> None:
        content = b"".join(b'{"n":%d}\n' % number for number in range(10, 40))
        reader = opened(content)
        *_, last = reader.rows(b'"n"')
        held = reader.held_from
        assert 0 < held < last.offset
        assert reader.between(held, last.offset) == content[held : last.offset]
        assert reader.between(held - 1, last.offset) is None
        assert reader.between(last.offset, last.offset) == b""

    def test_a_row_outlives_its_block(self) -> None:
        content = b'\xef\xbb\xbf{"n":0,"n":1}\n' + b'{"n":2}\n' * 20
        first, *_ = opened(content).rows(b'"n"')
        assert first.has_duplicate_keys()
        assert opened(content).first_row() == first


def test_a_line_that_cannot_matter_is_not_decoded() -> None:
    reader = opened(b'{"a":1}\n{"a":2}\n[')
    found = reader.rows(b'"a"', unless=lambda line: line.endswith(b"1}"))
    assert [row.value for row in found] == [{"a": 2}]
    assert reader.stats.rows_decoded == 1


@pytest.mark.parametrize("needle", [b"", b"a\nb"])
def test_a_needle_that_no_line_can_hold_is_a_wrong_argument(needle: bytes) -> None:
    with pytest.raises(ValueError, match="needles: "):
        opened(b"{}").rows(needle)


@pytest.mark.parametrize(
    ("content", "first"),
    [
        (b"", None),
        (b"\n{}", None),
        (b"[]\n{}", None),
        (b'{"a":1}', {"a": 1}),
        (b'{"a":1}\n{}', {"a": 1}),
    ],
)
def test_the_first_row_is_the_first_lines(content: bytes, first: object) -> None:
    row = opened(content).first_row()
    assert (None if row is None else row.value) == first


@pytest.mark.usefixtures("small_blocks")
def test_the_first_row_is_gone_when_its_block_is() -> None:
    reader = opened(b'{"n":1}\n' * 40)
    assert len(list(reader.rows(b'"n"'))) == 40
    assert reader.first_row() is None


def test_a_file_that_is_not_there_is_absent(tmp_path: Path) -> None:
    assert RowScan.open(tmp_path / "none") is ReadFault.ABSENT


def test_a_compressed_file_is_of_an_unknown_schema() -> None:
    content = b"\x28\xb5\x2f\xfd\n"
    assert is_compressed(content)
    assert RowScan.open(content) is ReadFault.SCHEMA_UNKNOWN


class Shrinking(io.BytesIO):
    """A file that its writer cuts off after some reads."""

    def __init__(self, content: bytes, reads: int) -> None:
        super().__init__(content)
        self.reads = reads

    def read(self, count: int | None = -1) -> bytes:
        self.reads -= 1
        return super().read(count) if self.reads >= 0 else b""


@pytest.mark.usefixtures("small_blocks")
def test_a_file_that_is_cut_off_meanwhile_is_busy() -> None:
    reader = opened(Shrinking(b'{"n":1}\n' * 40, reads=3))
    assert len(list(reader.rows(b'"n"'))) == 6
    assert reader.fault is ReadFault.BUSY
    assert RowScan.open(Shrinking(b"{}", reads=0)) is ReadFault.BUSY


class Closable(io.BytesIO):
    """A file object whose owner closes it."""


def test_a_file_that_was_opened_here_is_closed_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n")
    with opened(path) as reader:
        whole = reader.as_file()
    with pytest.raises(OSError, match=r"^$"):
        whole.read(1)
    file = Closable(b"{}\n")
    with opened(file):
        pass
    assert not file.closed


def test_as_a_file_it_does_not_grow(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"12345")
    with opened(path) as reader:
        path.write_bytes(b"123456789")
        whole = reader.as_file()
        assert whole.seek(0, io.SEEK_END) == 5
        assert whole.read(3) == b""
        assert whole.seek(2) == 2
        assert (whole.read(2), whole.read(9)) == (b"34", b"5")
