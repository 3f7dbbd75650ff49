"""SQLite databases in the states in which a reader can meet them, and their writers.

A writer that has to be seen from outside is another process (`Owner`, `writing`): SQLite's locks do
not hold between two connections of one process as they do between an agent and us.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from .session import Statement

__all__ = [
    "CHAT_TABLES",
    "JOURNALS",
    "STATE_TABLES",
    "Owner",
    "Rows",
    "build",
    "date",
    "folder",
    "write",
    "writing",
]

Rows = Mapping[str, object]

STATE_TABLES = (
    "CREATE TABLE ItemTable(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
    "CREATE TABLE cursorDiskKV(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
)
"""The tables of a state database of Cursor's IDE."""

CHAT_TABLES = (
    "CREATE TABLE blobs(id TEXT PRIMARY KEY, data BLOB)",
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT)",
)
"""The tables of a chat's database of Cursor's CLI."""

JOURNALS = ("delete", "truncate", "persist", "memory", "wal")
"""The modes of SQLite's journal that an agent can have chosen."""


def write(
    path: Path,
    rows: Mapping[str, Rows],
    *,
    tables: tuple[str, ...] = STATE_TABLES,
    journal: str = "delete",
) -> Path:
    """Write a database with *tables* and, for each table, key and value of its rows."""
    inserts = [
        Statement(f"INSERT INTO {table} VALUES (?, ?)", row)  # noqa: S608 - a test's own tables
        for table, values in rows.items()
        for row in values.items()
    ]
    return build(path, [*map(Statement, tables), *inserts], journal=journal)


def build(path: Path, statements: Iterable[Statement], *, journal: str = "delete") -> Path:
    """Write a database by executing *statements* in one transaction."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute(f"PRAGMA journal_mode={journal}")
        connection.execute("PRAGMA synchronous=off")
        connection.execute("BEGIN")
        for statement in statements:
            connection.execute(statement.sql, statement.parameters)
        connection.execute("COMMIT")
    finally:
        connection.close()
    return path


def date(path: Path, moment: datetime) -> None:
    """Let the database at *path*, and all that lies beside it, be written to last at *moment*."""
    for file in path.parent.iterdir():
        os.utime(file, (moment.timestamp(), moment.timestamp()))


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


_EXECUTE_LINES = """
from ast import literal_eval
print("ready", flush=True)
for line in sys.stdin:
    connection.execute(*literal_eval(line))
    print("done", flush=True)
"""


class Owner:
    """Another process that has a database open and writes to it; a context manager."""

    def __init__(self, path: Path) -> None:
        self._running = writing(path, _EXECUTE_LINES)
        self._process: subprocess.Popen[str] | None = None

    def execute(self, sql: str, *parameters: Any) -> None:
        """Let it execute one statement, and wait until that is done."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{(sql, parameters)!r}\n")
        process.stdin.flush()
        assert process.stdout.readline() == "done\n", sql

    def __enter__(self) -> Self:
        self._process = self._running.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Kill it, in whatever it is doing."""
        self._running.__exit__(None, None, None)
