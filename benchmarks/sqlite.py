"""What an exact key of a large state database costs, and against the sqlite3 module alone.

The database is filled like an IDE's: many message rows, all of them written, none of it sparse, in
WAL mode without sidecars. Candidates take turns in random order on a file that lies in the page
cache as far as it fits; printed are medians, their ratio and the bytes that the process read from
files. ``--writers`` reads while two processes write, and counts what was seen.
"""

from __future__ import annotations

import argparse
import collections
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from ctxmeasure.bounded.budget import ReadBudget, ReadFault
from ctxmeasure.bounded.keys import Key
from ctxmeasure.bounded.sqlite import SqliteReader

MIB = 1024 * 1024
ROW = 16 * 1024
BUDGET = ReadBudget(maximum=16 * MIB)
TABLE = "CREATE TABLE cursorDiskKV(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"

WRITER = """
import itertools, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
insert = 'INSERT INTO cursorDiskKV VALUES (?, ?)'
for number in itertools.count():
    connection.execute('BEGIN IMMEDIATE')
    connection.execute(insert, ('a', 'uncommitted'))
    connection.execute('ROLLBACK')
    connection.execute('BEGIN IMMEDIATE')
    for key in 'ab':
        connection.execute(insert, (key, str(number)))
    connection.execute('COMMIT')
"""


def fill(path: Path, size: int) -> int:
    """Write a database of about *size* bytes and return how many rows it has."""
    rows = max(100, size // ROW)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=off")
        connection.execute(TABLE)
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO cursorDiskKV VALUES (?, ?)",
            ((f"bubbleId:{number:036}", "x" * ROW) for number in range(rows)),
        )
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode=wal")
    return rows


def by_reader(path: Path, key: str) -> bytes:
    """Return the value as the library reads it, opening included."""
    reader = SqliteReader.open(path, BUDGET)
    assert isinstance(reader, SqliteReader)
    with reader:
        value = reader.read(Key("cursorDiskKV", key))
    assert isinstance(value, bytes)
    return value


def by_module(path: Path, key: str) -> bytes:
    """Return the value by the least that gives it, which leaves a WAL and its index behind."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        select = "SELECT CAST(value AS BLOB) FROM cursorDiskKV WHERE key = ?"
        (value,) = connection.execute(select, (key,)).fetchone()
        assert isinstance(value, bytes)
        return value


def bytes_read() -> int:
    """Return the bytes that this process has read from files, 0 where nobody counts them."""
    try:
        return int(Path("/proc/self/io").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0


def time_reads(path: Path, rows: int, rounds: int) -> None:
    """Print a line for each candidate."""
    candidates = (by_reader, by_module)
    taken: dict[str, list[float]] = {read.__name__: [] for read in candidates}
    asked: dict[str, list[int]] = {read.__name__: [] for read in candidates}
    for _ in range(rounds):
        key = f"bubbleId:{random.randrange(rows):036}"
        for read in random.sample(candidates, len(candidates)):
            for suffix in ("-wal", "-shm"):
                Path(f"{path}{suffix}").unlink(missing_ok=True)
            before, start = bytes_read(), time.perf_counter()
            read(path, key)
            taken[read.__name__].append(time.perf_counter() - start)
            asked[read.__name__].append(bytes_read() - before)
    module = statistics.median(taken["by_module"])
    for name, seconds in taken.items():
        median = statistics.median(seconds)
        most = max(asked[name]) / 1024
        print(
            f"{name:10} {median * 1e6:7.0f} us  {median / module:5.2f} x  at most {most:6.0f} KiB"
        )


def read_while_writing(path: Path, journal: str, reads: int) -> None:
    """Print what *reads* readings saw while two processes wrote."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode={journal}")
        connection.execute(TABLE)
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path)]) for _ in range(2)]
    seen: collections.Counter[str] = collections.Counter()
    while seen.total() < reads:  # the writers leave no pause, so a busy reader is not unusual
        reader = SqliteReader.open(path, BUDGET, busy_timeout_ms=20)
        if isinstance(reader, ReadFault):
            seen[reader.name] += 1
            continue
        with reader:
            a, b = (reader.read(Key("cursorDiskKV", key)) for key in "ab")
        is_committed = a == b and a != b"uncommitted"
        seen["committed" if is_committed else "NOT COMMITTED"] += 1
    for writer in writers:
        writer.kill()
        writer.wait()
    print(f"{journal:7} {dict(seen)}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few rounds, 30 MiB: a smoke test")
    parser.add_argument("--writers", action="store_true", help="read while two processes write")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        if asked.writers:
            for journal in ("wal", "delete"):
                path = Path(scratch) / f"{journal}.db"
                read_while_writing(path, journal, 500 if asked.quick else 5000)
            return
        path = Path(scratch) / "state.vscdb"
        rows = fill(path, 30 * MIB if asked.quick else 3 * 1024 * MIB)
        time_reads(path, rows, rounds=100 if asked.quick else 1000)


if __name__ == "__main__":
    main()
