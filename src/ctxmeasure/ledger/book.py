"""The book of one state folder: sessions' states, and events that are appended exactly once.

Hooks of many sessions run at the same time and any of them can be killed at any moment. So what a
hook changes, the lines it appends and the state that knows of them, is written down first, as one
file that appears whole or not at all; whoever comes next carries out what a killed one could not.
Locks are the kernel's, which takes them back from the dead.

The folder holds ``key`` (of all ids that are published), ``locks``, ``journal`` (only while it is
written) and ``sessions``, everything for its owner alone. One file of events belongs to one folder.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..bounded.budget import ReadFault
from ..bounded.decode import decode_object
from ..bounded.encode import encode_object
from ..bounded.owner_file import read_owner_file, write_owner_file

__all__ = ["Book", "BookFault"]

_KEY_BYTES = 32  # as many as SHA-256 has
_FOLDER_MODE = 0o700
_FILE_MODE = 0o600

# Bytes of the file `locks`: the first is everybody's, the others are the sessions'.
_SHARED = 0
_FIRST_SESSION = 1
_MOST_SESSIONS = 2**62  # two sessions that share a byte only wait for each other

_LARGEST_FILE = 2**63  # bytes; what the system counts with

_KEPT_SECONDS = 90 * 24 * 3600  # a session that rested longer than this begins anew
_DRAFT_SECONDS = 3600  # a file that is being written is in its place at once, or its writer is dead


class BookFault(Exception):  # noqa: N818 - a fault of the folder, named by what could not be done
    """The folder or the file of events does not do what it must; says what, and nothing else."""


class Book:
    """The book of a folder, opened to publish into one file.

    Args:
        path: The folder; made if need be.
        out: The file of events; made if need be, for its owner alone.

    Raises:
        BookFault: The folder cannot be made or written in.
    """

    def __init__(self, path: str | os.PathLike[str], out: str | os.PathLike[str]) -> None:
        self._folder = Path(path)
        self._out = str(Path(out).absolute())
        try:
            self._folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            self._sessions.mkdir(mode=_FOLDER_MODE, exist_ok=True)
            self._locks = os.open(self._folder / "locks", os.O_RDWR | os.O_CREAT, _FILE_MODE)
        except (OSError, ValueError):
            raise BookFault("the state folder cannot be written in") from None

    @property
    def _sessions(self) -> Path:
        return self._folder / "sessions"

    @property
    def _journal(self) -> Path:
        return self._folder / "journal"

    def close(self) -> None:
        """Give back what is held, locks included."""
        os.close(self._locks)

    def key(self) -> bytes:
        """Return the key of the ids that are published, made when it is first asked for.

        Raises:
            BookFault: It cannot be read or made, or is not what was made here. It is never replaced
                then: with another key, known sessions would get other names.
        """
        path = self._folder / "key"
        with self._lock(_SHARED):
            key = read_owner_file(path)
            if key is ReadFault.ABSENT:
                key = os.urandom(_KEY_BYTES)
                if not (write_owner_file(path, key) and _is_on_disk(path)):
                    raise BookFault("the key cannot be written")
        if not isinstance(key, bytes) or len(key) != _KEY_BYTES:
            raise BookFault("the key cannot be read")
        return key

    @contextmanager
    def session(self, name: str, *, now: float) -> Iterator[Path]:
        """Hold the session *name* (an opaque id), and give the path of its state.

        What killed hooks left undone has been carried out before anything is given.

        Args:
            name: What the session is called in this folder; a file's name.
            now: The moment, in seconds after 1970.

        Raises:
            BookFault: What was left undone cannot be carried out.
        """
        place = _FIRST_SESSION + int.from_bytes(name.encode()[-32:]) % _MOST_SESSIONS
        with self._lock(place):
            with self._lock(_SHARED):
                self._settle()
            path = self._sessions / f"{name}.json"
            if not path.exists():
                self._forget_rested(now)
            yield path

    def save(self, state: Path, content: bytes) -> None:
        """Put *content* in the place of a session's *state*.

        Raises:
            BookFault: It cannot be written.
        """
        if not write_owner_file(state, content):
            raise BookFault("the state cannot be written")

    def publish(self, lines: bytes, state: Path, content: bytes) -> None:
        """Append *lines* to the file of events and save a session's state: both, and both once.

        Args:
            lines: Whole lines, the last one ended.
            state: The path of the state, as `session` gave it.
            content: The state that knows that *lines* are published.

        Raises:
            BookFault: Something cannot be written. What is in the journal by then will be.
        """
        with self._lock(_SHARED):
            self._settle()
            self._carry_out(self._written(self._out, lines, state.name, content))

    # -- what is written down and carried out ---------------------------------------------------

    def _settle(self) -> None:
        """Carry out what the journal still holds; needs the shared lock, as all below do."""
        noted = read_owner_file(self._journal)
        if noted is ReadFault.ABSENT:
            return
        if noted is ReadFault.UNREADABLE:  # for now it may be: too many files are open
            raise BookFault("the journal cannot be read")
        intent = None if isinstance(noted, ReadFault) else _intent(noted)
        if intent is None:  # a disk lost it, or another version wrote it
            self._journal.replace(self._folder / "journal.damaged")
            return
        try:
            self._carry_out(self._continued(intent))
        except BookFault:
            if intent["out"] == self._out:
                raise
            # That file is no longer published into. Its session does not know of these lines, so
            # what they say will be said here.
            self._journal.unlink()

    def _continued(self, intent: dict[str, Any]) -> dict[str, Any]:
        out, lines = intent["out"], intent["lines"].encode()
        if _can_be_continued(out, lines, intent["at"]):
            return intent
        # Someone else wrote there since, or began the file anew: nothing of ours is in it.
        return self._written(out, lines, intent["state"], intent["content"].encode())

    def _written(self, out: str, lines: bytes, state: str, content: bytes) -> dict[str, Any]:
        """Write down what is to be done, and return it."""
        size, is_at_line_start = _end_of(out)
        intent = {
            "out": out,
            "at": size,
            "lines": ("" if is_at_line_start else "\n") + lines.decode(),
            "state": state,
            "content": content.decode(),
        }
        if not write_owner_file(self._journal, encode_object(intent).encode()):
            raise BookFault("the journal cannot be written")
        return intent

    def _carry_out(self, intent: dict[str, Any]) -> None:
        try:
            _append(intent["out"], intent["lines"].encode(), intent["at"])
            self.save(self._sessions / intent["state"], intent["content"].encode())
            self._journal.unlink()
        except OSError:
            raise BookFault("the events cannot be written") from None

    def _forget_rested(self, now: float) -> None:
        """Remove what nobody needs any more, when a new session begins."""
        for path in (*self._sessions.iterdir(), *self._folder.iterdir()):
            kept = _KEPT_SECONDS if path.suffix == ".json" else _DRAFT_SECONDS
            if path.suffix == ".json" or _is_draft(path):
                with suppress(FileNotFoundError):  # another new session's hook was faster
                    if now - path.stat().st_mtime > kept:
                        path.unlink()

    @contextmanager
    def _lock(self, place: int) -> Iterator[None]:
        fcntl.lockf(self._locks, fcntl.LOCK_EX, 1, place)
        try:
            yield
        finally:
            fcntl.lockf(self._locks, fcntl.LOCK_UN, 1, place)


def _intent(noted: bytes) -> dict[str, Any] | None:
    """Return what a journal holds, or None if it is nothing that can be carried out."""
    intent = decode_object(noted)
    match intent:
        case {"out": str(), "at": int(at), "lines": str(), "state": str(name), "content": str()}:
            is_plain = name.replace("_", "").replace(".", "").isalnum()
            return intent if is_plain and 0 <= at < _LARGEST_FILE else None
    return None


def _is_draft(path: Path) -> bool:
    """Tell whether this is what a killed writer left: a name, its process's id, and chance."""
    *named, chance = path.name.split(".")
    return len(named) > 1 and named[-1].isdecimal() and len(chance) == 8


def _end_of(path: str) -> tuple[int, bool]:
    """Return how long the file is, and whether a line can begin there."""
    with _opened(path) as descriptor:
        size = 0 if descriptor is None else os.fstat(descriptor).st_size
        return size, descriptor is None or not size or os.pread(descriptor, 1, size - 1) == b"\n"


def _can_be_continued(path: str, lines: bytes, at: int) -> bool:
    """Tell whether the file, from *at* on, holds *lines*, or a beginning of them and no more."""
    with _opened(path) as descriptor:
        if descriptor is None:
            return at == 0
        present = os.pread(descriptor, len(lines), at)
        size = os.fstat(descriptor).st_size
        return present == lines or (lines.startswith(present) and size == at + len(present))


@contextmanager
def _opened(path: str) -> Iterator[int | None]:
    """Open the file at *path* for reading; None where there is none.

    A pipe would be waited for under a lock that all sessions need, and what a device was given
    cannot be read back.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        yield None
        return
    except (OSError, ValueError):
        raise BookFault("the events cannot be written") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise BookFault("the events cannot be written")
        yield descriptor
    except OSError:
        raise BookFault("the events cannot be written") from None
    finally:
        os.close(descriptor)


def _append(path: str, lines: bytes, at: int) -> None:
    """Append to the file what is not there yet of *lines*, which begin *at* its former end."""
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, _FILE_MODE)
    try:
        left = lines[len(os.pread(descriptor, len(lines), at)) :]
        while left:
            left = left[os.write(descriptor, left) :]
    finally:
        os.close(descriptor)


def _is_on_disk(path: Path) -> bool:
    """See the file onto the disk: it is made once, and an empty one could not be replaced."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError:
        return False
    return True
