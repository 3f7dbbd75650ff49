from __future__ import annotations

import gc
import io
import json
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ctxmeasure.bounded import jsonl
from ctxmeasure.bounded.budget import KIB, MIB, ReadBudget, ReadFault, ReadStats
from ctxmeasure.bounded.decode import decode_object
from ctxmeasure.bounded.extent import open_extent
from ctxmeasure.bounded.jsonl import Row, Tail, TailReader, is_compressed

WHOLE = ReadBudget(initial=MIB, maximum=MIB)


def opened(source: Any, budget: ReadBudget = WHOLE) -> TailReader:
    reader = TailReader.open(source, budget)
    assert isinstance(reader, TailReader)
    return reader


def tail_of(content: bytes, window: int = MIB) -> Tail:
    return opened(content, ReadBudget(initial=window, maximum=window)).tail


def grown(content: bytes, initial: int, maximum: int) -> TailReader:
    reader = opened(content, ReadBudget(initial=initial, maximum=maximum))
    while reader.grow():
        pass
    return reader


def values(rows: Iterator[Row]) -> list[Any]:
    return [row.value for row in rows]


class CountingFile(io.BytesIO):
    """A file that records every read as (position, count)."""

    def __init__(self, content: bytes, longest: int = MIB) -> None:
        super().__init__(content)
        self.asked: list[tuple[int, int]] = []
        self._longest = longest

    def read(self, count: int | None = -1) -> bytes:
        assert count is not None
        self.asked.append((self.tell(), count))
        return super().read(min(count, self._longest))

    @property
    def total(self) -> int:
        return sum(count for _, count in self.asked)


# Lines as they occur: rows with a needle or without, and what a crash or a foreign tool leaves.
objects = st.fixed_dictionaries(
    {}, optional={"usage": st.integers(0, 9), "id": st.text(max_size=3), "é": st.just("ß😀")}
)
lines = st.one_of(
    objects.map(lambda value: json.dumps(value, ensure_ascii=False).encode()),
    objects.map(lambda value: json.dumps(value).encode() + b"\r"),
    objects.map(lambda value: json.dumps(value).encode()[:-2]),
    st.sampled_from([b"", b" ", b"\r", b"[1]", b'{"usage":"\\ud83d"}', b"\0\0", b'{"usage":1}\0']),
    st.binary(max_size=12).map(lambda raw: raw.replace(b"\n", b"")),
)
contents = st.builds(
    lambda bom, parts, end: bom + b"\n".join(parts) + end,
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.lists(lines, max_size=8),
    st.sampled_from([b"", b"\n", b"\r\n"]),
)
needles = st.lists(
    st.sampled_from([b'"usage"', b'"id"', b"{", b"\xc3", b"never", b"1"]), max_size=4, unique=True
)


def expected(
    content: bytes, window: int, wanted: list[bytes], before: int | None = None
) -> list[tuple[int, dict[str, Any]]]:
    """The rows of the last *window* bytes, newest first, by splitting them the plain way."""
    base = max(0, len(content) - window)
    rows = []
    offset = base
    for number, line in enumerate(content[base:].split(b"\n")):
        value = decode_object(line.removeprefix(b"\xef\xbb\xbf") if offset == 0 else line)
        complete = number > 0 or base == 0
        matches = not wanted or any(needle in line for needle in wanted)
        earlier = before is None or offset < before
        if complete and matches and earlier and value is not None:
            rows.append((offset, value))
        offset += len(line) + 1
    return rows[::-1]


@given(contents, st.integers(1, 120), needles, st.none() | st.integers(-2, 130))
@example(b'{"usage":1}\n', 12, [b'"usage"'], None)
@example(b'{"usage":1}\n{"id":2}\n{"usage":3}\n', 99, [b'"id"', b'"usage"'], 13)
def test_rows_are_the_complete_lines_that_hold_a_needle_newest_first(
    content: bytes, window: int, wanted: list[bytes], before: int | None
) -> None:
    found = tail_of(content, window).rows(*wanted, before=before)
    assert [(row.offset, row.value) for row in found] == expected(content, window, wanted, before)


@given(contents, contents, st.integers(1, 60), needles)
def test_the_result_does_not_depend_on_what_lies_before_the_window(
    content: bytes, other: bytes, window: int, wanted: list[bytes]
) -> None:
    content = content.rjust(window, b"x")
    kept = content[len(content) - window :]
    # At least one byte before it in both files, so that both windows are truncated.
    one, two = tail_of(b"x" + content, window), tail_of(b"x" + other + kept, window)
    assert values(one.rows(*wanted)) == values(two.rows(*wanted))
    assert one.no_complete_row == two.no_complete_row
    assert one.stats == two.stats


@given(contents, st.integers(1, 40), st.integers(1, 130), needles)
def test_growth_gives_the_rows_of_one_large_window(
    content: bytes, initial: int, maximum: int, wanted: list[bytes]
) -> None:
    small = grown(content, initial, maximum).tail
    large = tail_of(content, maximum)
    assert list(small.rows(*wanted)) == list(large.rows(*wanted))
    assert small.stats == large.stats


@given(contents, st.integers(1, 40), st.integers(1, 130), st.integers(1, 50))
def test_no_byte_is_asked_for_twice_and_never_more_than_the_budget(
    content: bytes, initial: int, maximum: int, longest: int
) -> None:
    budget = ReadBudget(initial=initial, maximum=maximum)
    file = CountingFile(content)
    reader = opened(file, budget)
    assert file.total == reader.stats.bytes_read == min(initial, maximum, len(content))
    while reader.grow():
        list(reader.tail.rows())
    assert file.total == reader.stats.bytes_read == min(maximum, len(content))
    positions = [at for start, count in file.asked for at in range(start, start + count)]
    assert len(positions) == len(set(positions))

    short = opened(CountingFile(content, longest), budget)
    while short.grow():
        pass
    assert list(short.tail.rows()) == list(reader.tail.rows())
    assert short.stats == reader.stats


def test_a_window_doubles_until_the_budget_ends() -> None:
    file = CountingFile(bytes(1000))
    reader = opened(file, ReadBudget(initial=64, maximum=400))
    while reader.grow():
        pass
    assert file.asked == [(936, 64), (872, 64), (744, 128), (600, 144)]
    assert reader.tail.truncated


def test_the_beginning_of_the_file_ends_growth_without_another_read() -> None:
    file = CountingFile(bytes(100))
    reader = opened(file, ReadBudget(initial=64, maximum=400))
    assert reader.grow()
    assert not reader.tail.truncated
    assert not reader.grow()
    assert reader.fault is None
    assert file.asked == [(36, 64), (0, 36)]


@given(st.lists(objects, min_size=1, max_size=5), st.data())
def test_a_file_cut_at_any_byte_gives_the_older_rows_and_nothing_else(
    written: list[dict[str, Any]], data: st.DataObject
) -> None:
    content = b"".join(json.dumps(value).encode() + b"\n" for value in written)
    cut = data.draw(st.integers(0, len(content)))
    found = values(tail_of(content[:cut]).rows())
    assert found == written[: len(found)][::-1]
    # Every line whose closing brace was kept is there.
    assert len(found) == content[: cut + 1].count(b"\n")


@pytest.mark.parametrize(("window", "kept"), [(13, True), (12, True), (11, False)])
def test_a_line_that_starts_at_the_edge_of_the_window_is_kept(window: int, kept: bool) -> None:
    content = b'{"usage":1}\n{"usage":2}'
    tail = tail_of(content, window)
    assert values(tail.rows()) == ([{"usage": 2}] if kept else [])
    assert tail.no_complete_row is not kept


def test_the_first_line_of_a_truncated_window_is_no_row_even_if_it_looks_like_one() -> None:
    content = b'{"text":"}\n{"usage":1}\n'  # the window begins inside a line
    assert values(tail_of(b"1" + content[11:], 12).rows()) == []
    assert values(tail_of(content[11:], 12).rows()) == [{"usage": 1}]


@pytest.mark.parametrize(
    ("window", "cut_off"), [(7, 7), (8, 1), (9, 2), (17, 10), (18, 0), (100, 0)]
)
def test_how_much_of_a_cut_line_is_seen_is_told(window: int, cut_off: int) -> None:
    assert tail_of(b'{"a":1234}\n{"b":1}', window).cut_off == cut_off


@pytest.mark.parametrize(
    ("content", "window", "none"),
    [
        (b"x" * 100, 10, True),
        (b"x" * 100 + b"\n", 10, True),
        (b"x" * 100 + b'\n{"usage"', 10, True),
        (b"x" * 100 + b'\n{"a":12}', 9, False),
        (b"x" * 100 + b"\n{}\n", 10, False),
        (b"x" * 100 + b"\n[]\n", 10, False),
        (b"x" * 100, 100, False),
        (b"", 10, False),
    ],
)
def test_a_window_without_a_complete_line_is_told(content: bytes, window: int, none: bool) -> None:
    assert tail_of(content, window).no_complete_row is none


def test_a_torn_last_line_is_counted_once_and_disturbs_no_other() -> None:
    tail = tail_of(b'{"usage":1}\n{"usage":2')
    for _ in range(2):
        assert values(tail.rows(b'"usage"')) == [{"usage": 1}]
        assert tail.stats == ReadStats(bytes_read=22, rows_decoded=1, rows_skipped=1)


def test_blank_lines_are_no_rows_and_not_counted_as_skipped() -> None:
    tail = tail_of(b'\n\r\n{"a":1}\r\n \n\n')
    assert values(tail.rows()) == [{"a": 1}]
    assert tail.stats.rows_skipped == 0


def test_a_byte_order_mark_is_dropped_at_the_beginning_of_the_file_only() -> None:
    bom = b"\xef\xbb\xbf"
    tail = tail_of(bom + b'{"a":1}\n' + bom + b'{"a":2}\n')
    assert [(row.offset, row.value) for row in tail.rows()] == [(0, {"a": 1})]
    assert not next(tail.rows()).has_duplicate_keys()
    assert tail.stats.rows_skipped == 1
    assert tail_of(bom).stats == ReadStats(bytes_read=3)
    assert values(tail_of(bom).rows()) == []


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The lines that were decoded, in order."""
    seen: list[bytes] = []

    def spy(raw: bytes) -> dict[str, Any] | None:
        seen.append(raw)
        return decode_object(raw)

    monkeypatch.setattr(jsonl, "decode_object", spy)
    return seen


def test_only_rows_that_hold_a_needle_are_decoded_and_only_when_they_are_asked_for(
    decoded: list[bytes],
) -> None:
    rows = tail_of(b'{"usage":1}\n{"id":2}\n{"usage":3}\n{"id":4}\n').rows(b'"usage"')
    assert decoded == []
    assert next(rows).value == {"usage": 3}
    assert decoded == [b'{"usage":3}']
    assert next(rows).value == {"usage": 1}
    assert next(rows, None) is None
    assert decoded == [b'{"usage":3}', b'{"usage":1}']


def test_a_row_is_decoded_once_however_often_and_in_whatever_window_it_is_asked_for(
    decoded: list[bytes],
) -> None:
    content = b'{"usage":1}\n{"usage"\n{"usage":3}\n'
    reader = opened(content, ReadBudget(initial=14, maximum=99))
    first = next(reader.tail.rows())
    while reader.grow():
        list(reader.tail.rows(b'"usage"'))
    assert next(reader.tail.rows()) is first
    assert sorted(decoded) == sorted(content.splitlines())
    assert reader.stats == ReadStats(bytes_read=len(content), rows_decoded=2, rows_skipped=1)


def test_an_older_tail_stays_what_it_was_when_the_window_has_grown() -> None:
    content = b'{"usage":1}\n{"id":2}\n{"usage":3}\n'
    reader = opened(content, ReadBudget(initial=14, maximum=99))
    older = reader.tail
    running = older.rows()
    while reader.grow():
        pass
    assert values(running) == values(older.rows()) == [{"usage": 3}]
    assert older.truncated
    assert not older.contains(b'"id"')
    assert not older.no_complete_row
    assert older.stats.bytes_read == 14
    assert len(list(reader.tail.rows())) == 3


def test_rows_before_an_offset_lead_from_a_row_to_the_older_ones() -> None:
    tail = tail_of(b'{"usage":1}\n{"id":2}\n{"usage":3}\n')
    newest = next(tail.rows(b'"usage"'))
    older = next(tail.rows(before=newest.offset))
    assert older.value == {"id": 2}
    assert values(tail.rows(b'"usage"', before=older.offset)) == [{"usage": 1}]
    assert values(tail.rows(before=0)) == []


@given(contents, st.integers(1, 120), st.sampled_from([b'"usage"', b"{", b"never", b"1"]))
def test_contains_looks_at_the_same_lines_as_rows(
    content: bytes, window: int, needle: bytes
) -> None:
    base = max(0, len(content) - window)
    complete = content[base:].split(b"\n")[base > 0 :]
    assert tail_of(content, window).contains(needle) is any(needle in line for line in complete)


def test_contains_looks_only_where_it_is_told() -> None:
    tail = tail_of(b'{"usage":1}\n{"id":2}\n{"usage":3}\n')
    newest, middle, oldest = tail.rows()
    assert tail.contains(b'"usage"', after=middle.stop)
    assert tail.contains(b'"usage"', before=middle.offset)
    assert not tail.contains(b'"usage"', after=newest.stop)
    assert not tail.contains(b'"usage"', after=oldest.stop, before=newest.offset)
    assert not tail.contains(b'"never"', b'"usage"', before=oldest.offset)
    assert tail.contains(b'"never"', b'"id"')


@given(contents, st.integers(1, 60))
def test_the_line_before_a_row_is_given_as_it_is_if_the_window_holds_all_of_it(
    content: bytes, window: int
) -> None:
    base = max(0, len(content) - window)
    lines = content[base:].split(b"\n")
    tail, offset, before = tail_of(content, window), base, None
    for number, line in enumerate(lines):
        if number > 0 or base == 0:
            assert tail.line_before(offset) == before
            before = offset, line
        offset += len(line) + 1


@given(contents, st.integers(1, 60), st.sampled_from([b'"usage"', b"{", b"never", b"1"]))
def test_reaching_grows_the_window_to_the_first_complete_line_with_a_needle(
    content: bytes, window: int, needle: bytes
) -> None:
    budget = ReadBudget(initial=window, maximum=200)
    reached, grown = (TailReader.open(content, budget) for _ in range(2))
    assert isinstance(reached, TailReader)
    assert isinstance(grown, TailReader)
    reached.reach(needle)
    while not grown.tail.contains(needle) and grown.grow():
        pass
    assert reached.stats == grown.stats
    assert values(reached.tail.rows()) == values(grown.tail.rows())


@pytest.mark.parametrize("needle", ["text", b"", b"two\nlines"])
def test_what_no_line_can_hold_is_not_reached_for(needle: Any) -> None:
    reader = TailReader.open(b"{}", ReadBudget())
    assert isinstance(reader, TailReader)
    with pytest.raises((TypeError, ValueError), match="needles: "):
        reader.reach(needle)


class CountingBytes(bytes):
    """Bytes that record which range every search for a needle has looked at."""

    searched: dict[bytes, list[range]]

    def rfind(self, needle: Any, low: Any = 0, high: Any = None) -> int:
        hit = super().rfind(needle, low, high)
        if needle != b"\n":
            self.searched.setdefault(needle, []).append(range(max(low, hit), high))
        return hit


@given(contents, needles.filter(bool))
def test_no_byte_is_searched_twice_for_one_needle(content: bytes, wanted: list[bytes]) -> None:
    counting = CountingBytes(content)
    counting.searched = {}
    list(jsonl._spans_with(counting, tuple(wanted), 0, len(content)))
    for ranges in counting.searched.values():
        positions = [at for looked_at in ranges for at in looked_at]
        assert len(positions) == len(set(positions))


def test_a_rare_needle_after_a_common_one_is_sought_behind_the_hit_only() -> None:
    counting = CountingBytes(b'{"id":1}\n' * 100 + b'{"usage":1}\n{"id":2}\n')
    counting.searched = {}
    next(jsonl._spans_with(counting, (b'"usage"', b"never"), 0, len(counting)))
    assert counting.searched[b"never"] == [range(len(counting) - 9, len(counting))]


@pytest.mark.parametrize("wrong", ["usage", 1, None, bytearray(b"usage")])
def test_a_needle_that_is_not_bytes_is_a_wrong_argument(wrong: Any) -> None:
    for ask in (tail_of(b"{}").rows, tail_of(b"{}").contains):
        with pytest.raises(TypeError, match=r"^needles: "):
            ask(wrong)


@pytest.mark.parametrize("wrong", [b"", b"\n", b'"a"\n'])
def test_a_needle_that_cannot_lie_in_a_line_is_a_wrong_argument(wrong: bytes) -> None:
    for ask in (tail_of(b"{}").rows, tail_of(b"{}").contains):
        with pytest.raises(ValueError, match=r"^needles: "):
            ask(wrong)


@pytest.mark.parametrize("wrong", [True, 1.0, "1"])
def test_an_offset_that_is_not_an_int_is_a_wrong_argument(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"^before: "):
        tail_of(b"{}").rows(before=wrong)


@pytest.mark.parametrize(
    ("line", "repeats"),
    [
        (b'{"a":1,"b":{"a":2}}', False),
        (b'{ "a" : 1 }\r', False),
        (b'{"a":"\\ud83d"}', False),
        (b'{"a":1,"a":2}', True),
        (b'{"b":[{"a":1,"a":1}]}', True),
        (b'{"a":"\\ud83d","a":1}', True),
    ],
)
@pytest.mark.parametrize("window", [30, 8])
def test_a_row_tells_whether_it_names_a_key_twice(line: bytes, repeats: bool, window: int) -> None:
    reader = grown(b'{"older":1}\n' + line + b"\n" + b'{"newer":1}\n', window, 99)
    row = next(reader.tail.rows(b'"a"'))
    assert row.has_duplicate_keys() is repeats


@given(st.binary(max_size=80), st.integers(1, 90), st.integers(1, 90))
def test_no_bytes_raise(content: bytes, initial: int, maximum: int) -> None:
    assume(not is_compressed(content))
    reader = grown(content, initial, maximum)
    for row in reader.tail.rows():
        row.has_duplicate_keys()
    assert reader.fault is None


@pytest.mark.parametrize("line", [b"[" * 100_000, b'{"a":' * 100_000, b"\0" * 100_000])
def test_a_hostile_line_is_skipped(line: bytes) -> None:
    tail = tail_of(b'{"usage":1}\n' + line + b'\n{"usage":2}\n')
    assert values(tail.rows()) == [{"usage": 2}, {"usage": 1}]
    assert tail.stats.rows_skipped == 1


def test_a_single_line_of_300_mb_costs_the_budget_and_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.write(b'{"usage":1}\n{"text":"')
        file.truncate(300 * MIB)  # sparse
    tracemalloc.start()
    with opened(path, ReadBudget(initial=64 * KIB, maximum=4 * MIB)) as reader:
        while reader.grow():
            pass
        assert reader.tail.no_complete_row
        assert reader.tail.truncated
        assert not reader.tail.contains(b"\0")
        assert values(reader.tail.rows()) == []
        assert reader.stats == ReadStats(bytes_read=4 * MIB, window_truncated=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * MIB + 64 * KIB


def test_memory_stays_within_twice_the_budget_while_the_window_grows() -> None:
    line = b'{"text":"' + b"x" * 4000 + b'"}\n'
    file = io.BytesIO(line * (6 * MIB // len(line)))
    tracemalloc.start()
    reader = opened(file, ReadBudget(initial=64 * KIB, maximum=4 * MIB))
    older = [next(reader.tail.rows())]
    while reader.grow():
        older.append(next(reader.tail.rows(before=older[-1].offset)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not older[0].has_duplicate_keys()
    assert peak < 8 * MIB + 256 * KIB


def test_a_reading_is_freed_without_the_garbage_collector() -> None:
    gc.disable()
    try:
        reader = opened(b'{"usage":1}\n')
        row = next(reader.tail.rows())
        window = weakref.ref(row._window)
        del reader, row
        assert window() is None
    finally:
        gc.enable()


def test_a_path_a_file_object_and_bytes_give_the_same(tmp_path: Path) -> None:
    content = b'{"usage":1}\n{"id":2}\n'
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    sources: list[Any] = [str(path), path, content, bytearray(content), memoryview(content)]
    sources.append(io.BytesIO(content))
    for source in sources:
        with opened(source) as reader:
            assert values(reader.tail.rows()) == [{"id": 2}, {"usage": 1}]
            assert reader.stats.bytes_read == reader.tail.size == len(content)


def test_a_tail_can_be_used_when_its_file_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"usage":1}\n{"usage":2}\n')
    with opened(path, ReadBudget(initial=14)) as reader:
        pass
    assert values(reader.tail.rows()) == [{"usage": 2}]
    assert not reader.grow()
    assert reader.fault is ReadFault.UNREADABLE


def test_what_is_appended_after_opening_is_not_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"usage":1}\n{"usage":2}\n')
    with opened(path, ReadBudget(initial=14)) as reader:
        with path.open("ab") as file:
            file.write(b'{"usage":3}\n')
        assert reader.grow()
        assert values(reader.tail.rows()) == [{"usage": 2}, {"usage": 1}]


def test_an_empty_file_has_no_rows_and_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.touch()
    with opened(path) as reader:
        assert values(reader.tail.rows()) == []
        assert not reader.grow()
        assert reader.stats == ReadStats()


class Shrinking(io.BytesIO):
    """A file that its writer cuts to *left* bytes before the read number *at*."""

    def __init__(self, content: bytes, left: int, at: int = 1) -> None:
        super().__init__(content)
        self._left = left
        self._reads_before = at - 1

    def read(self, count: int | None = -1) -> bytes:
        if self._reads_before == 0:
            self.truncate(self._left)
        self._reads_before -= 1
        return super().read(count)


CONTENT = b'{"usage":1}\n{"usage":2}\n{"usage":3}\n'


def test_a_file_that_shrinks_below_its_window_is_busy() -> None:
    assert TailReader.open(Shrinking(CONTENT, 5), ReadBudget(initial=24)) is ReadFault.BUSY


def test_of_a_file_that_shrinks_inside_its_window_the_rows_that_are_left_are_read() -> None:
    reader = opened(Shrinking(CONTENT, 30), ReadBudget(initial=30))
    assert values(reader.tail.rows()) == [{"usage": 2}]
    assert reader.stats.rows_skipped == 1
    assert reader.grow()
    assert values(reader.tail.rows()) == [{"usage": 2}, {"usage": 1}]


@pytest.mark.parametrize("left", [0, 5, len(CONTENT) - 13 - 1])
def test_a_file_that_shrinks_while_the_window_grows_is_busy(left: int) -> None:
    reader = opened(Shrinking(CONTENT, left, at=2), ReadBudget(initial=13))
    assert not reader.grow()
    assert reader.fault is ReadFault.BUSY
    assert values(reader.tail.rows()) == [{"usage": 3}]


def test_a_file_that_was_opened_here_is_closed_when_its_first_window_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(CONTENT)
    held: list[Any] = []

    def open_and_cut(source: Path) -> Any:
        held.append(open_extent(source))
        path.write_bytes(b"")
        return held[0]

    monkeypatch.setattr(jsonl, "open_extent", open_and_cut)
    assert TailReader.open(path, WHOLE) is ReadFault.BUSY
    assert held[0].read(0, 0) is ReadFault.UNREADABLE


def failing_open(_: Path) -> Any:
    class Failing(io.BytesIO):
        def read(self, _: int | None = -1) -> bytes:
            raise OSError

    return Failing(b"{}")


@pytest.mark.parametrize(
    ("build", "fault"),
    [
        (lambda folder: folder / "none", ReadFault.ABSENT),
        (lambda folder: folder, ReadFault.UNREADABLE),
        (failing_open, ReadFault.UNREADABLE),
    ],
)
def test_what_cannot_be_opened_or_read_is_a_named_fault(
    tmp_path: Path, build: Callable[[Path], Any], fault: ReadFault
) -> None:
    assert TailReader.open(build(tmp_path), WHOLE) is fault


def test_a_failed_growth_is_not_tried_again() -> None:
    class FailingOnce(io.BytesIO):
        reads = 0

        def read(self, count: int | None = -1) -> bytes:
            self.reads += 1
            if self.reads == 2:
                raise OSError
            return super().read(count)

    file = FailingOnce(CONTENT)
    reader = opened(file, ReadBudget(initial=13))
    assert not reader.grow()
    assert not reader.grow()
    assert reader.fault is ReadFault.UNREADABLE
    assert file.reads == 2
    assert reader.stats.bytes_read == 26


# -- the first row ------------------------------------------------------------------------------


def headed(content: Any, window: int, maximum: int, head: int) -> TailReader:
    reader = TailReader.open(content, ReadBudget(initial=window, maximum=maximum), head=head)
    assert isinstance(reader, TailReader)
    return reader


LONG = b'{"first":"%s"}\n' % (b"x" * 20_000) + b'{"usage":1}\n' * 10_000


def test_the_first_row_is_read_beside_the_window() -> None:
    file = CountingFile(LONG)
    reader = headed(file, 120, MIB, head=64 * KIB)
    first = reader.tail.first_row()
    assert first is not None
    assert (first.offset, [*first.value]) == (0, ["first"])
    assert not first.has_duplicate_keys()
    assert reader.tail.truncated
    assert len(list(reader.tail.rows())) == 9
    # In steps, and no further than the end of the row.
    assert file.asked == [(len(LONG) - 120, 120), (0, 16 * KIB), (16 * KIB, 16 * KIB)]
    assert reader.stats == ReadStats(
        bytes_read=120 + 32 * KIB, rows_decoded=10, window_truncated=True
    )


def test_the_first_row_needs_no_head_where_the_window_reaches_it() -> None:
    for content in (LONG, LONG[:20_013]):  # also while no line break follows it
        first = tail_of(content).first_row()
        assert first is not None
        assert [*first.value] == ["first"]
    assert tail_of(b"").first_row() is None
    assert tail_of(b"[1]\n{}").first_row() is None


@pytest.mark.parametrize(
    ("maximum", "head"), [(MIB, 0), (MIB, 20_000), (120, 64 * KIB), (20_000, 64 * KIB)]
)
def test_a_first_row_that_is_not_wholly_read_is_not_known(maximum: int, head: int) -> None:
    reader = headed(LONG, 120, maximum, head)
    assert reader.tail.first_row() is None
    assert reader.stats.bytes_read <= maximum


@given(contents, st.integers(1, 40), st.integers(1, 130), st.integers(0, 60), needles)
def test_a_head_changes_no_row_and_costs_no_byte_twice(
    content: bytes, initial: int, maximum: int, head: int, wanted: list[bytes]
) -> None:
    file = CountingFile(content)
    reader = headed(file, initial, maximum, head)
    first = reader.tail.first_row()
    whole = tail_of(content).first_row()
    if first is not None:
        assert whole is not None
        assert (first.offset, first.value) == (whole.offset, whole.value)
    while reader.grow():
        pass
    assert file.total == reader.stats.bytes_read <= min(maximum, len(content))
    positions = [at for start, count in file.asked for at in range(start, start + count)]
    assert len(positions) == len(set(positions))
    if not reader.tail.truncated:
        assert list(reader.tail.rows(*wanted)) == list(tail_of(content).rows(*wanted))
        assert file.total == len(content)
    else:
        found = [(row.offset, row.value) for row in reader.tail.rows(*wanted)]
        assert found == expected(content, len(content), wanted)[: len(found)]


def test_a_window_that_grows_to_the_head_is_the_whole_file() -> None:
    file = CountingFile(LONG)
    reader = headed(file, 50_000, MIB, head=64 * KIB)
    while reader.grow():
        pass
    assert not reader.tail.truncated
    assert file.total == len(LONG)
    assert len(list(reader.tail.rows())) == 10_001
    meeting = headed(LONG, len(LONG) - 16 * KIB, MIB, head=16 * KIB)
    assert not meeting.tail.truncated


@pytest.mark.parametrize(("window", "head"), [(120, 64 * KIB), (MIB, 0), (MIB, 64 * KIB)])
def test_a_compressed_file_is_of_an_unknown_schema(window: int, head: int) -> None:
    compressed = b"\x28\xb5\x2f\xfd" + LONG
    budget = ReadBudget(initial=window, maximum=MIB)
    assert TailReader.open(compressed, budget, head=head) is ReadFault.SCHEMA_UNKNOWN


@pytest.mark.parametrize("left", [0, 5])
def test_a_file_that_shrinks_before_its_head_is_read_is_busy(left: int) -> None:
    shrinking = Shrinking(LONG, left, at=2)
    assert TailReader.open(shrinking, ReadBudget(initial=13), head=99) is ReadFault.BUSY


@pytest.mark.parametrize("source", [1, None, io.StringIO("{}"), {"a": 1}])
def test_what_cannot_be_read_is_a_wrong_argument(source: Any) -> None:
    with pytest.raises(TypeError, match=r"^data: "):
        TailReader.open(source, WHOLE)


def test_no_repr_shows_what_was_read() -> None:
    reader = opened(b'{"sentinel":"sentinel"}\n')
    row = next(reader.tail.rows())
    assert "sentinel" not in f"{reader!r} {reader.tail!r} {row!r} {reader.stats!r}"
    beside = headed(b'{"sentinel":"sentinel"}\n' * 9, 30, MIB, head=30)
    assert beside.tail.first_row() is not None
    assert "sentinel" not in f"{beside!r} {beside.tail!r} {beside.tail.first_row()!r}"
