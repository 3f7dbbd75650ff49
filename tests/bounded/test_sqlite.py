"""Reading exact keys of real SQLite files in every state, without a trace."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxmeasure.bounded import sqlite
from ctxmeasure.bounded.budget import KIB, MIB, ReadBudget, ReadFault, ReadStats
from ctxmeasure.bounded.keys import Key, Lack, Value
from ctxmeasure.bounded.sqlite import SqliteReader, database_uri, modified_at
from ctxmeasure.testing import databases

BUDGET = ReadBudget(maximum=MIB)
READY_AND_WAIT = "\nprint('ready', flush=True)\nsys.stdin.read()"


def bytes_read_by_this_process() -> int | None:
    """Return the bytes that this process has read from files by now, or None if it cannot tell."""
    try:
        counters = Path("/proc/self/io").read_text(encoding="ascii")
    except OSError:
        return None
    return int(counters.split()[1])


def key(name: str, **named: str) -> Key:
    return Key("ItemTable", name, **named)


A = key("a")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "globalStorage"
    place.mkdir()
    return place / "state.vscdb"


def read(path: Path, *keys: Key, budget: ReadBudget = BUDGET) -> list[Value | ReadFault]:
    """Read *keys*, and check that nothing beside the database has changed."""
    before = databases.folder(path)
    reader = SqliteReader.open(path, budget, busy_timeout_ms=50)
    if isinstance(reader, ReadFault):
        found: list[Value | ReadFault] = [reader]
    else:
        with reader:
            found = [reader.read(key) for key in keys]
    assert databases.folder(path) == before
    return found


def opened(path: Path, budget: ReadBudget = BUDGET) -> SqliteReader:
    reader = SqliteReader.open(path, budget)
    assert isinstance(reader, SqliteReader)
    return reader


# -- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("journal", ["delete", "wal", "truncate", "persist"])
@pytest.mark.parametrize(
    ("stored", "value"),
    [
        ("text", b"text"),
        ("täxt", "täxt".encode()),
        (b"\xff\0blob", b"\xff\0blob"),
        ("", b""),
        (1784548846000, b"1784548846000"),
        (None, Lack.NULL),
    ],
)
def test_a_value_is_what_is_stored(path: Path, journal: str, stored: object, value: Value) -> None:
    databases.write(path, {"ItemTable": {"a": stored}}, journal=journal)
    assert read(path, A) == [value]


def test_text_that_is_no_utf8_is_bytes_like_any_other(path: Path) -> None:
    databases.write(path, {})
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO ItemTable VALUES ('a', CAST(x'e282' AS TEXT))")
    connection.commit()
    connection.close()
    assert read(path, A) == [b"\xe2\x82"]


@pytest.mark.parametrize(
    ("asked", "lack"),
    [
        (key("b"), Lack.NO_ROW),
        (key("A"), Lack.NO_ROW),
        (key("\ud800"), Lack.NO_ROW),
        (Key("cursorDiskKV", "a"), Lack.NO_ROW),
        (Key("composerHeaders", "a"), Lack.NO_COLUMN),
        (key("a", column="data"), Lack.NO_COLUMN),
        (key("a", key_column="id"), Lack.NO_COLUMN),
    ],
)
def test_the_ways_in_which_a_value_can_be_absent_are_told_apart(
    path: Path, asked: Key, lack: Lack
) -> None:
    databases.write(path, {"ItemTable": {"a": "text"}})
    assert read(path, asked) == [lack]


def test_every_column_can_be_read_by_every_key_column(path: Path) -> None:
    databases.write(
        path, {"blobs": {"f00": b"root"}, "meta": {"0": "hex"}}, tables=databases.CHAT_TABLES
    )
    root = Key("blobs", "f00", column="data", key_column="id")
    assert read(path, root, Key("meta", "0")) == [b"root", b"hex"]


def test_a_key_shows_no_native_id() -> None:
    assert "secret" not in repr(Key("cursorDiskKV", "composerData:secret"))


# -- bounds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("stored", ["x" * 3 * MIB, b"x" * 3 * MIB])
def test_a_value_beyond_the_budget_is_not_loaded(path: Path, stored: object) -> None:
    databases.write(path, {"ItemTable": {"a": stored, "b": "small"}})
    with opened(path) as reader:
        before = bytes_read_by_this_process()
        assert reader.read(A) is ReadFault.BUDGET_EXHAUSTED
        after = bytes_read_by_this_process()
        assert before is after is None or after - before < 64 * KIB  # type: ignore[operator]
        assert reader.stats == ReadStats()
        assert reader.read(key("b")) == b"small"


def test_a_value_of_several_megabytes_is_read_when_the_budget_allows(path: Path) -> None:
    databases.write(path, {"ItemTable": {"a": "x" * 3 * MIB}})
    assert read(path, A, budget=ReadBudget(maximum=3 * MIB)) == [b"x" * 3 * MIB]
    assert read(path, A, budget=ReadBudget(maximum=3 * MIB - 1)) == [ReadFault.BUDGET_EXHAUSTED]


@pytest.mark.parametrize("size", [1, 29, 30, 31, 100])
def test_the_budget_is_kept_to_the_byte(path: Path, size: int) -> None:
    databases.write(path, {"ItemTable": {"a": "x" * size}})
    assert read(path, A, budget=ReadBudget(maximum=size)) == [b"x" * size]
    if size > 1:
        budget = ReadBudget(maximum=size - 1)
        assert read(path, A, budget=budget) == [ReadFault.BUDGET_EXHAUSTED]


def test_all_values_of_a_reading_share_its_budget(path: Path) -> None:
    databases.write(path, {"ItemTable": {"a": "x" * 60, "b": "x" * 60, "c": None, "d": "x" * 40}})
    with opened(path, ReadBudget(maximum=100)) as reader:
        assert reader.read(A) == b"x" * 60
        assert reader.read(key("b")) is ReadFault.BUDGET_EXHAUSTED
        assert reader.read(key("c")) is Lack.NULL
        assert reader.stats == ReadStats(bytes_read=60, rows_decoded=1)
        assert reader.read(key("d")) == b"x" * 40
        assert reader.stats == ReadStats(bytes_read=100, rows_decoded=2)


def test_a_budget_beyond_what_sqlite_can_hold_is_none_the_less_a_budget(path: Path) -> None:
    databases.write(path, {"ItemTable": {"a": "text"}})
    assert read(path, A, budget=ReadBudget(maximum=2**40)) == [b"text"]


def test_a_small_table_without_an_index_is_read_and_a_large_one_is_no_store(path: Path) -> None:
    databases.write(
        path,
        {
            "small": {str(number): "x" for number in range(1000)},
            "large": {str(number): "x" for number in range(20_000)},
        },
        tables=("CREATE TABLE small(key, value)", "CREATE TABLE large(key, value)"),
    )
    assert read(path, Key("small", "999")) == [b"x"]
    assert read(path, Key("large", "19999")) == [ReadFault.SCHEMA_UNKNOWN]


def test_a_view_that_never_ends_is_no_store(path: Path) -> None:
    endless = (
        "CREATE VIEW ItemTable(key, value) AS"
        " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, i FROM n"
    )
    databases.write(path, {}, tables=(endless,))
    assert read(path, A) == [ReadFault.SCHEMA_UNKNOWN]


def test_a_key_of_a_file_of_gigabytes_costs_a_few_pages(path: Path) -> None:
    databases.write(path, {"ItemTable": {str(n): "x" * 900 for n in range(20_000)}})
    os.truncate(path, 3 * 1024 * MIB)  # sparse
    before = bytes_read_by_this_process()
    with opened(path) as reader:
        assert reader.read(key("12345")) == b"x" * 900
    after = bytes_read_by_this_process()
    assert before is after is None or after - before < 256 * KIB  # type: ignore[operator]


# -- what is no database --------------------------------------------------------------------------


def test_a_missing_file_is_absent_and_is_not_created(path: Path) -> None:
    assert SqliteReader.open(path, BUDGET) is ReadFault.ABSENT
    assert modified_at(path) is ReadFault.ABSENT
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("name", ["nul\0", "\ud800", "state.vscdb/below"])
def test_a_name_that_no_file_can_have_is_absent(path: Path, name: str) -> None:
    databases.write(path, {})
    assert SqliteReader.open(path.parent / name, BUDGET) is ReadFault.ABSENT


def test_a_folder_is_unreadable(path: Path) -> None:
    assert SqliteReader.open(path.parent, BUDGET) is ReadFault.UNREADABLE
    assert modified_at(path.parent) is ReadFault.UNREADABLE


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no FIFOs")
def test_a_fifo_is_not_waited_for(path: Path) -> None:
    os.mkfifo(path)
    assert SqliteReader.open(path, BUDGET) is ReadFault.UNREADABLE


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="the system has no links")
def test_a_circle_of_links_is_unreadable(path: Path) -> None:
    path.symlink_to(path)
    assert SqliteReader.open(path, BUDGET) is ReadFault.UNREADABLE


def test_a_file_that_vanishes_while_it_is_opened_is_unreadable(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    databases.write(path, {})

    def vanishing(*_: object) -> bool:
        path.unlink()
        return True

    monkeypatch.setattr(sqlite, "_has_rollback_journal", vanishing)
    assert SqliteReader.open(path, BUDGET) is ReadFault.UNREADABLE
    assert list(path.parent.iterdir()) == []


def test_an_empty_file_has_no_table(path: Path) -> None:
    path.write_bytes(b"")
    assert read(path, A) == [Lack.NO_COLUMN]


@pytest.mark.parametrize("content", [b"garbage", b"garbage" * 1000])
def test_what_is_no_database_is_malformed(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert read(path, A) == [ReadFault.MALFORMED]


def test_a_schema_that_is_damaged_within_a_character_is_malformed(path: Path) -> None:
    databases.write(path, {"ItemTable": {"a": "1"}})
    damaged = path.read_bytes().replace(b"CREATE TABLE ItemTable", b"CRE\xc9TE TABLE ItemTable")
    path.write_bytes(damaged)
    assert read(path, A) == [ReadFault.MALFORMED]


def test_a_file_format_of_a_later_sqlite_is_an_unknown_schema(path: Path) -> None:
    databases.write(path, {"ItemTable": {"a": "text"}})
    content = bytearray(path.read_bytes())
    content[44:48] = (99).to_bytes(4, "big")  # the schema format number
    path.write_bytes(content)
    assert read(path, A) == [Lack.NO_COLUMN]


@pytest.mark.parametrize("wrong", [None, 5, b"state.vscdb", {}, ["state.vscdb"]])
def test_what_is_no_path_is_a_wrong_argument(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"^data: expected a path$"):
        SqliteReader.open(wrong, BUDGET)
    with pytest.raises(TypeError, match=r"^data: expected a path$"):
        modified_at(wrong)


def test_a_path_like_object_of_bytes_is_a_wrong_argument() -> None:
    class BytesPath:
        def __fspath__(self) -> bytes:
            return b"state.vscdb"

    with pytest.raises(TypeError, match=r"^data: expected a path$"):
        SqliteReader.open(BytesPath(), BUDGET)  # type: ignore[arg-type]


@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_file_is_a_value_or_a_named_fault(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "damaged.db"
    path.unlink(missing_ok=True)
    databases.write(path, {"ItemTable": {str(n): "x" * (n * 50) for n in range(100)}})
    content = bytearray(path.read_bytes())
    positions = st.integers(0, len(content) - 1)
    for position in data.draw(st.lists(positions, min_size=1, max_size=20)):
        content[position] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(len(content) // 2, len(content)))])
    for found in read(path, *(key(str(n)) for n in range(0, 100, 9))):
        assert isinstance(found, bytes | Lack | ReadFault)


# -- writers --------------------------------------------------------------------------------------

UPDATE = "connection.execute(\"INSERT INTO ItemTable VALUES ('a', 'new')\")\n"
UNCOMMITTED = (
    "connection.execute('BEGIN IMMEDIATE')\n"
    "connection.execute(\"INSERT INTO ItemTable VALUES ('a', 'uncommitted')\")"
)


def test_a_live_wal_shows_what_is_committed_and_no_more(path: Path) -> None:
    databases.write(path, {"ItemTable": {"a": "old"}}, journal="wal")
    with databases.writing(path, UPDATE + UNCOMMITTED + READY_AND_WAIT):
        assert read(path, A) == [b"new"]


def test_a_wal_that_a_crash_left_behind_shows_what_is_committed(path: Path) -> None:
    databases.write(path, {"ItemTable": {"a": "old"}}, journal="wal")
    with databases.writing(path, UPDATE + UNCOMMITTED + READY_AND_WAIT):
        pass
    assert {"state.vscdb-wal", "state.vscdb-shm"} <= databases.folder(path).keys()
    assert read(path, A) == [b"new"]


def test_a_wal_without_its_index_is_not_given_one(path: Path) -> None:
    databases.write(path, {"ItemTable": {"a": "old"}}, journal="wal")
    with databases.writing(path, UPDATE + READY_AND_WAIT):
        pass
    path.with_name("state.vscdb-shm").unlink()
    assert read(path, A) == [ReadFault.UNREADABLE]


def test_an_empty_wal_without_an_index_holds_nothing(path: Path) -> None:
    databases.write(path, {"ItemTable": {"a": "old"}}, journal="wal")
    path.with_name("state.vscdb-wal").touch()
    assert read(path, A) == [b"old"]


def test_an_idle_wal_is_read_in_a_folder_that_cannot_be_written_to(path: Path) -> None:
    databases.write(path, {"ItemTable": {"a": "old"}}, journal="wal")
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        assert read(path, A) == [b"old"]
    finally:
        path.parent.chmod(0o755)


def test_a_copy_without_its_wal_is_as_old_as_the_file(path: Path) -> None:
    databases.write(path, {"ItemTable": {"a": "old"}}, journal="wal")
    copy = path.parent / "copy" / path.name
    copy.parent.mkdir()
    with databases.writing(path, UPDATE + READY_AND_WAIT):
        shutil.copyfile(path, copy)
    assert read(copy, A) == [b"old"]


def test_an_exclusive_lock_is_busy(path: Path) -> None:
    databases.write(path, {"ItemTable": {"a": "old"}})
    lock = UPDATE + "connection.execute('BEGIN EXCLUSIVE')" + READY_AND_WAIT
    with databases.writing(path, lock):
        assert read(path, A) == [ReadFault.BUSY]
    assert read(path, A) == [b"new"]


def test_a_writer_that_has_not_committed_yet_is_read_past(path: Path) -> None:
    databases.write(path, {"ItemTable": {"a": "old"}})
    with databases.writing(path, UNCOMMITTED + READY_AND_WAIT):
        assert path.with_name("state.vscdb-journal").exists()
        assert read(path, A) == [b"old"]


def test_a_hot_journal_is_busy_because_no_reader_can_roll_back(path: Path) -> None:
    databases.write(path, {"ItemTable": {str(n): "x" * 2000 for n in range(500)}})
    spill = (
        "connection.execute('PRAGMA cache_size=1')\n"
        "connection.execute('BEGIN')\n"
        "connection.execute(\"UPDATE ItemTable SET value = 'uncommitted'\")"
    )
    with databases.writing(path, spill + READY_AND_WAIT):
        pass
    assert path.with_name("state.vscdb-journal").stat().st_size > 0
    assert read(path, key("7")) == [ReadFault.BUSY]


def test_a_wal_database_beside_a_journal_is_busy(path: Path) -> None:
    databases.write(path, {"ItemTable": {"a": "old"}}, journal="wal")
    path.with_name("state.vscdb-journal").touch()
    assert read(path, A) == [ReadFault.BUSY]


def test_all_values_of_a_reading_are_of_one_commit(path: Path) -> None:
    databases.write(path, {"ItemTable": {"a": "old", "b": "old"}}, journal="wal")
    with databases.writing(path, UPDATE + READY_AND_WAIT), opened(path) as reader:
        assert reader.read(A) == b"new"
        with databases.writing(path, UPDATE.replace("new", "newer") + READY_AND_WAIT):
            assert read(path, A) == [b"newer"]
        assert reader.read(A) == b"new"
        assert reader.read(key("b")) == b"old"


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_an_idle_wal_that_is_written_to_meanwhile_is_busy(path: Path, journal: str) -> None:
    databases.write(path, {"ItemTable": {"a": "old"}}, journal="wal")
    with opened(path) as reader:
        assert reader.read(A) == b"old"
        with ExitStack() as writers:
            writers.enter_context(
                databases.writing(
                    path,
                    f"connection.execute('PRAGMA journal_mode={journal}')\n"
                    + UPDATE
                    + READY_AND_WAIT,
                )
            )
            assert reader.read(A) is ReadFault.BUSY
        assert reader.read(A) is ReadFault.BUSY


def test_an_idle_wal_that_is_removed_meanwhile_is_busy(path: Path) -> None:
    databases.write(path, {"ItemTable": {"a": "old"}}, journal="wal")
    with opened(path) as reader:
        path.unlink()
        assert reader.read(A) is ReadFault.BUSY


ENDLESS = """
import itertools
connection.execute('PRAGMA busy_timeout=5000')
print('ready', flush=True)
for number in itertools.count({start}, 2):
    connection.execute('BEGIN IMMEDIATE')
    for key in 'ab':
        connection.execute('INSERT INTO ItemTable VALUES (?, ?)', (key, 'uncommitted'))
    connection.execute('ROLLBACK')
    connection.execute('BEGIN IMMEDIATE')
    for key in 'ab':
        connection.execute('INSERT INTO ItemTable VALUES (?, ?)', (key, str(number) * 2000))
    connection.execute('COMMIT')
"""


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_two_writers_never_show_an_uncommitted_or_a_torn_value(path: Path, journal: str) -> None:
    databases.write(path, {"ItemTable": {"a": "0", "b": "0"}}, journal=journal)
    seen: set[Value | ReadFault] = set()
    with (
        databases.writing(path, ENDLESS.format(start=1)),
        databases.writing(path, ENDLESS.format(start=2)),
    ):
        for _ in range(200):
            reader = SqliteReader.open(path, BUDGET)
            if isinstance(reader, ReadFault):
                assert reader is ReadFault.BUSY
                continue
            with reader:
                values = [reader.read(A), reader.read(key("b"))]
            assert values[0] == values[1]
            seen.update(values)
    assert len(seen) > 1
    for value in seen - {b"0"}:
        assert isinstance(value, bytes)
        assert value == value[: len(value) // 2000] * 2000
        assert value.isdigit()


# -- names and times ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["with space", "100%25", "what?mode=rwc#x", "é", "a;b&c=d", "%00"])
def test_any_name_is_quoted(tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    place.mkdir()
    databases.write(place / f"{name}.db", {"ItemTable": {"a": "text"}}, journal="wal")
    assert read(place / f"{name}.db", A) == [b"text"]


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        (PurePosixPath("/home/u/a b.db"), "file:///home/u/a%20b.db"),
        (PurePosixPath("/home/u/a?b#c%d.db"), "file:///home/u/a%3Fb%23c%25d.db"),
        (PureWindowsPath(r"C:\Users\u\a b.db"), "file:///C:/Users/u/a%20b.db"),
        (PureWindowsPath(r"\\server\share\a.db"), "file:////server/share/a.db"),
    ],
)
def test_a_path_of_any_system_has_its_uri(path: PurePosixPath | PureWindowsPath, uri: str) -> None:
    assert database_uri(path) == uri


def test_a_path_may_be_a_str_or_relative(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    databases.write(path, {"ItemTable": {"a": "text"}})
    monkeypatch.chdir(path.parent)
    with opened(Path(path.name)) as reader:
        assert reader.read(A) == b"text"
    by_name = SqliteReader.open(str(path), BUDGET)
    assert isinstance(by_name, SqliteReader)
    by_name.close()


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="the system has no links")
def test_the_wal_is_looked_for_beside_the_real_file(path: Path, tmp_path: Path) -> None:
    databases.write(path, {"ItemTable": {"a": "old"}}, journal="wal")
    link = tmp_path / "link.db"
    link.symlink_to(path)
    with databases.writing(path, UPDATE + READY_AND_WAIT):
        assert read(link, A) == [b"new"]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["globalStorage", "link.db"]


def test_the_time_is_that_of_the_newest_of_database_and_wal(path: Path) -> None:
    databases.write(path, {"ItemTable": {"a": "old"}}, journal="wal")
    with databases.writing(path, UPDATE + READY_AND_WAIT):
        os.utime(path, ns=(0, 1_700_000_000_123_456_789))
        os.utime(path.with_name("state.vscdb-wal"), ns=(0, 1_600_000_000_000_000_000))
        expected = datetime(2023, 11, 14, 22, 13, 20, 123000, UTC)
        assert modified_at(path) == expected
        with opened(path) as reader:
            assert reader.modified_at == expected
        os.utime(path.with_name("state.vscdb-wal"), ns=(0, 1_800_000_000_000_000_000))
        assert modified_at(path) == datetime(2027, 1, 15, 8, 0, tzinfo=UTC)
