"""SQLite databases in every state in which a reader can meet them, and their writers.

Writers that have to be another process are short programs: SQLite's locks do not hold between two
connections of one process in the way that they do between an agent and us.
"""

from __future__ import annotations

import hashlib
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

__all__ = [
    "CHAT_TABLES",
    "STATE_TABLES",
    "Rows",
    "bytes_read_by_this_process",
    "folder",
    "write",
    "writing",
]

Rows = Mapping[str, object]

STATE_TABLES = (
    "CREATE TABLE ItemTable(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
    "CREATE TABLE cursorDiskKV(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
)
CHAT_TABLES = (
    "CREATE TABLE blobs(id TEXT PRIMARY KEY, data BLOB)",
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT)",
)


def write(
    path: Path,
    rows: Mapping[str, Rows],
    *,
    tables: tuple[str, ...] = STATE_TABLES,
    journal: str = "delete",
) -> Path:
    """Write a database with *tables* and, for each table, key and value of its rows."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA journal_mode={journal}")
    connection.execute("PRAGMA synchronous=off")
    connection.execute("BEGIN")
    for table in tables:
        connection.execute(table)
    for table, values in rows.items():
        connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", values.items())  # noqa: S608
    connection.execute("COMMIT")
    connection.close()
    return path


def folder(path: Path) -> dict[str, tuple[int, str]]:
    """Return size and digest of every file beside *path*, and its own."""
    return {
        file.name: (file.stat().st_size, hashlib.sha256(file.read_bytes()).hexdigest())
        for file in path.parent.iterdir()
        if file.is_file()
    }


@contextmanager
def writing(path: Path, program: str) -> Iterator[subprocess.Popen[str]]:
    """Run *program* with an open ``connection`` to *path* in another process.

    It has to print a line when it is ready, and is killed at the end: no connection is closed.
    """
    opened = (
        f"import sqlite3, sys\nconnection = sqlite3.connect({str(path)!r}, isolation_level=None)"
    )
    with subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", f"{opened}\n{program}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def bytes_read_by_this_process() -> int | None:
    """Return the bytes that this process has read from files by now, or None if it cannot tell."""
    try:
        counters = Path("/proc/self/io").read_text(encoding="ascii")
    except OSError:
        return None
    return int(counters.split()[1])
