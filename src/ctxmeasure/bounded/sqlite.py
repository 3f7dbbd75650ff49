"""Exact keys of an SQLite database that its owner may be writing to at this moment.

Nothing is written and nothing is left beside the database, not even a mark in its shared memory:

=============================  =====================================================================
beside the database            how it is opened
=============================  =====================================================================
``-wal``                       ``mode=ro`` with SQLite's own locks; with ``readonly_shm``, which
                               neither makes nor marks the index of the WAL, as ``mode=ro`` alone
                               does
none; rollback journal         the same, also beside a ``-journal``
none; WAL                      ``immutable``, because ``mode=ro`` would leave a ``-wal`` and a
                               ``-shm``; a change while it is being read is BUSY
=============================  =====================================================================

Beside a ``-wal`` or ``-journal``, ``immutable`` would give old or uncommitted values without an
error. Which kind of journal a database has is told by opening it with ``nolock``, which SQLite
refuses for WAL (formats/cursor.md §2.7; tried with SQLite 3.40). The file is never opened beside
SQLite: closing it would drop the locks that this process holds on it. While a reader is open, no
other connection of its own process can begin to write to a WAL database: they share its index.
"""

from __future__ import annotations

import os
import stat
from datetime import datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from attrs import frozen

from .budget import KIB, ReadBudget, ReadFault, ReadStats
from .extent import file_time
from .keys import Key, Lack, Value

if TYPE_CHECKING:
    from sqlite3 import Connection, Error

__all__ = ["SqliteReader", "database_uri", "modified_at"]

_Path: TypeAlias = str | os.PathLike[str]

_BUSY_TIMEOUT_MS = 250  # as CodexBar has it (formats/cursor.md §2.7); a commit takes less

# An exact key takes about 20 instructions. What takes this many is no look-up, but a large table
# without an index on its key, or a view. A thousand rows without an index are read.
_MOST_INSTRUCTIONS = 10_000
_MOST_BYTES = 2**31 - 1  # of a value, in any SQLite
# SQLite's bound holds for the definition of a table and for the key too, so it cannot be any lower.
_LEAST_BOUND = 4 * KIB

_PRAGMAS = (
    "query_only=1",
    "trusted_schema=0",  # the schema is another program's
    "cell_size_check=1",  # a damaged page is an error, not a guess
    "mmap_size=0",  # a file that is cut off below a mapping kills the process
)

_ERROR = 1  # SQLite's primary result codes, see sqlite.org/rescode.html
_FAULTS = {
    _ERROR: ReadFault.SCHEMA_UNKNOWN,  # an unsupported file format
    5: ReadFault.BUSY,
    6: ReadFault.BUSY,  # LOCKED
    8: ReadFault.BUSY,  # READONLY: a hot journal, which only who may write can roll back
    9: ReadFault.SCHEMA_UNKNOWN,  # INTERRUPT, by our bound of instructions
    11: ReadFault.MALFORMED,  # CORRUPT
    15: ReadFault.BUSY,  # PROTOCOL: a writer is starting up
    18: ReadFault.BUDGET_EXHAUSTED,  # TOOBIG, by our bound of bytes
    26: ReadFault.MALFORMED,  # NOTADB
}


class SqliteReader:
    """Reads single values of one state of a database; a context manager.

    Attributes:
        modified_at: When the database or its WAL was last written to before it was opened (aware,
            UTC).
    """

    __slots__ = ("_budget", "_bytes_read", "_connection", "_path", "_state", "_values", "_vouched")

    def __init__(
        self, connection: Connection, budget: ReadBudget, path: str, state: _State, *, vouched: bool
    ) -> None:
        self._connection = connection
        self._budget = budget
        self._path = path
        self._state = state
        self._vouched = vouched  # SQLite's locks hold the state; else only the file system tells
        self._bytes_read = 0
        self._values = 0

    @classmethod
    def open(
        cls, path: _Path, budget: ReadBudget, *, busy_timeout_ms: int = _BUSY_TIMEOUT_MS
    ) -> Self | ReadFault:
        """Open the database at *path* and hold on to its present state.

        Args:
            path: The database file; its folder need not be writable.
            budget: How many bytes of values may be read.
            busy_timeout_ms: How long to wait for a writer's exclusive lock.

        Returns:
            The reader, or why there is none: absent; unreadable (no permission, no regular file, or
            a ``-wal`` without its ``-shm``, as a copy can have it); busy (locked exclusively, or
            left in the middle of a transaction: a hot journal); malformed (no database).

        Raises:
            TypeError: *path* is no path.
        """
        real = _real(path)
        state = _State.of(real)
        if isinstance(state, ReadFault):
            return state
        uri, timeout = database_uri(Path(real)), busy_timeout_ms / 1000
        vouched = state.has_wal or _has_rollback_journal(uri, timeout)
        if not vouched and state.has_journal:
            return ReadFault.BUSY  # between two kinds of journal
        way = "readonly_shm=1" if vouched else "immutable=1"
        connection = _connected(f"{uri}?mode=ro&{way}", timeout)
        if isinstance(connection, ReadFault):
            return connection
        return cls(connection, budget, real, state, vouched=vouched)

    @property
    def modified_at(self) -> datetime:
        """When the database or its WAL was last written to (aware, UTC), as of opening."""
        return self._state.modified_at

    @property
    def stats(self) -> ReadStats:
        """What the reading has cost by now: the bytes of the values, and how many there were.

        On its way to each, SQLite reads some pages of 4 KiB more (about ten in 3 GB).
        """
        return ReadStats(bytes_read=self._bytes_read, rows_decoded=self._values)

    def read(self, key: Key) -> Value | ReadFault:
        """Return the value under *key* as it is stored, text or blob; numbers as their digits.

        Returns:
            The value's bytes, why there is none, or what keeps it from being read: a value larger
            than what is left of the budget is not loaded.
        """
        left = self._budget.maximum - self._bytes_read
        value = _selected(self._connection, key, left)
        if not self._vouched and _State.of(self._path) != self._state:
            return ReadFault.BUSY
        if isinstance(value, bytes):
            if len(value) > left:
                return ReadFault.BUDGET_EXHAUSTED
            self._bytes_read += len(value)
            self._values += 1
        return value

    def close(self) -> None:
        """Let go of the database."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def modified_at(path: _Path) -> datetime | ReadFault:
    """Return when the database at *path* or its WAL was last written to, without opening it.

    Raises:
        TypeError: *path* is no path.
    """
    state = _State.of(_real(path))
    return state if isinstance(state, ReadFault) else state.modified_at


def database_uri(path: PurePath) -> str:
    """Return the URI under which SQLite opens the absolute *path*, without parameters.

    A Windows drive stands behind a slash, and a share's server in the path: SQLite takes no
    authority but localhost.
    """
    from urllib.parse import quote  # noqa: PLC0415 - only who opens a database pays for it

    plain = path.as_posix()
    rooted = plain if plain.startswith("/") else f"/{plain}"
    return "file://" + quote(os.fsencode(rooted), safe="/:")


# -- what the file system says --------------------------------------------------------------------


@frozen
class _File:
    """A file as it was at one moment."""

    number: int
    size: int
    modified_ns: int

    @classmethod
    def of(cls, found: os.stat_result) -> Self:
        return cls(found.st_ino, found.st_size, found.st_mtime_ns)

    @classmethod
    def at(cls, path: str) -> Self | None:
        try:
            return cls.of(os.stat(path))  # noqa: PTH116 - a str all the way
        except OSError:
            return None


@frozen
class _State:
    """The files of a database; equal states have nothing committed in between."""

    database: _File
    wal: _File | None
    index: _File | None
    journal: _File | None

    @classmethod
    def of(cls, path: str) -> Self | ReadFault:
        try:
            found = os.stat(path)  # noqa: PTH116 - a str all the way
        # ValueError: a NUL or a lone surrogate; no file has such a name.
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return ReadFault.ABSENT
        except OSError:
            return ReadFault.UNREADABLE
        if not stat.S_ISREG(found.st_mode):
            return ReadFault.UNREADABLE
        beside = (_File.at(path + suffix) for suffix in ("-wal", "-shm", "-journal"))
        return cls(_File.of(found), *beside)

    @property
    def has_wal(self) -> bool:
        """Whether a WAL can hold what the database does not: an empty one without index cannot."""
        return self.wal is not None and (self.wal.size > 0 or self.index is not None)

    @property
    def has_journal(self) -> bool:
        return self.journal is not None

    @property
    def modified_at(self) -> datetime:
        newest = max(file.modified_ns for file in (self.database, self.wal) if file is not None)
        return file_time(newest)


def _real(path: Any) -> str:
    """Return *path* without links: SQLite has a WAL beside the real file."""
    named = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(named, str):
        raise TypeError("data: expected a path")
    try:
        return os.path.realpath(named)
    except (OSError, ValueError):  # what is wrong with it, `_State` says
        return named


# -- what SQLite says -----------------------------------------------------------------------------


def _has_rollback_journal(uri: str, timeout: float) -> bool:
    """Tell whether SQLite would open the database without locks: it refuses WAL, unread."""
    connection = _connected(f"{uri}?mode=ro&nolock=1", timeout)
    if connection is ReadFault.UNREADABLE:
        return False
    if not isinstance(connection, ReadFault):
        connection.close()
    return True


def _connected(uri: str, timeout: float) -> Connection | ReadFault:
    """Return a connection that has begun to read."""
    import sqlite3  # noqa: PLC0415 - only who opens a database pays for it

    connection = None
    try:
        connection = sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None)
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        connection.set_progress_handler(lambda: True, _MOST_INSTRUCTIONS)
        connection.execute("BEGIN")
        connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.Error as error:
        if connection is not None:
            connection.close()
        return _fault(error)
    return connection


def _selected(connection: Connection, key: Key, most: int) -> Value | ReadFault:
    """Return the value under *key*, not loaded if it has more than *most* bytes (or 4 KiB).

    SQLite holds a value's stored length against its bound before it loads the value.
    """
    import sqlite3  # noqa: PLC0415 - only who opens a database pays for it

    bound = min(max(most, _LEAST_BOUND), _MOST_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, bound)
    # In brackets: SQLite takes a name in double quotes that is no column's for a text.
    select = (
        f"SELECT CAST([{key.column}] AS BLOB) FROM [{key.table}]"  # noqa: S608 - an adapter's names
        f" WHERE [{key.key_column}] = ?"
    )
    try:
        row: tuple[Any, ...] | None = connection.execute(select, (key.key,)).fetchone()
    except UnicodeEncodeError:  # half a surrogate pair: no text in a database has one
        return Lack.NO_ROW
    except UnicodeDecodeError:  # SQLite's message quotes a damaged schema, byte by byte
        return ReadFault.MALFORMED
    except sqlite3.Error as error:
        return Lack.NO_COLUMN if _code(error) == _ERROR else _fault(error)
    if row is None:
        return Lack.NO_ROW
    (value,) = row
    return value if isinstance(value, bytes) else Lack.NULL


def _fault(error: Error) -> ReadFault:
    return _FAULTS.get(_code(error), ReadFault.UNREADABLE)


def _code(error: Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
