"""Which files lie below a folder: their names, sizes and times; none of them is opened.

A listing has a budget of folders that are entered and names that are looked at. Links below the
folder are passed over, so a walk neither leaves it nor goes in circles; the folder itself may be a
link. What was changed last is entered first: what a budget cuts off is as a rule the oldest.
"""

from __future__ import annotations

import fnmatch
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import TypeAlias

from attrs import Attribute, define, field, frozen

from .extent import file_time

__all__ = ["FoundFile", "Listing", "ListingBudget", "ListingEnd", "list_files"]

_ANY_DEPTH = "**"
_JUNCTION = 0xA000_0003  # IO_REPARSE_TAG_MOUNT_POINT, which `stat` names on Windows only

_Entry: TypeAlias = "os.DirEntry[str]"


def _positive(_: object, attribute: Attribute[int], value: int) -> None:
    if type(value) is not int:
        raise TypeError(f"{attribute.name}: expected an int")
    if value < 1:
        raise ValueError(f"{attribute.name}: expected at least 1")


@frozen(kw_only=True)
class ListingBudget:
    """How much of a disk a listing may look at.

    Attributes:
        folders: Folders that may be entered. Agents make one for each project or day.
        names: Names that may be looked at, whatever they are of; each costs one look at most.

    Raises:
        TypeError: An argument is not an int.
        ValueError: An argument is below 1.
    """

    folders: int = field(default=10_000, validator=_positive)
    names: int = field(default=200_000, validator=_positive)


class ListingEnd(StrEnum):
    """How a listing ended."""

    COMPLETE = "complete"
    """All that can be read was looked at."""
    CUT_SHORT = "cut_short"
    """The budget ended before the folder did."""
    ABSENT = "absent"
    """There is no such folder."""
    UNREADABLE = "unreadable"
    """The folder is there and cannot be listed (no permission, no folder, an I/O error)."""


@frozen
class FoundFile:
    """A regular file.

    Attributes:
        path: Its path.
        size: Its size in bytes.
        modified_at: When it was last written to (UTC, whole milliseconds).
    """

    path: str = field(repr=False)
    size: int
    modified_at: datetime


@frozen(kw_only=True)
class Listing:
    """What was found below a folder.

    Attributes:
        files: The files that match, the most recently written first.
        end: How it ended.
        folders_entered: Folders that were entered.
        names_seen: Names that were looked at.
        folders_unreadable: Folders below the first that could not be listed.
        links_passed_over: Links that were not followed.
    """

    files: tuple[FoundFile, ...] = ()
    end: ListingEnd
    folders_entered: int = 0
    names_seen: int = 0
    folders_unreadable: int = 0
    links_passed_over: int = 0


def list_files(folder: str, pattern: str, budget: ListingBudget) -> Listing:
    """Return the regular files below *folder* whose path matches *pattern*.

    Args:
        folder: Where to look.
        pattern: Names with ``*``, ``?`` and ``[]`` for each step down, divided by ``/``; ``**``
            stands for any number of folders. Upper and lower case differ on every system.
        budget: How much may be looked at.

    Returns:
        The listing; what goes wrong on the way is counted in it, and nothing is raised.
    """
    return _Walk(pattern.split("/"), budget).listing(folder)


@define(eq=False)
class _Walk:
    """One walk down: where it is in the pattern, and what it has met by now."""

    steps: list[str]
    budget: ListingBudget
    files: list[FoundFile] = field(factory=list)
    entered: int = 0
    seen: int = 0
    unreadable: int = 0
    links: int = 0
    is_cut_short: bool = False

    def listing(self, folder: str) -> Listing:
        end = ListingEnd.COMPLETE
        try:
            self._descend(folder)
        except (FileNotFoundError, ValueError):  # ValueError: a NUL; no folder has such a name
            end = ListingEnd.ABSENT
        except OSError:
            end = ListingEnd.UNREADABLE
        return Listing(
            files=tuple(sorted(self.files, key=lambda file: file.modified_at, reverse=True)),
            end=ListingEnd.CUT_SHORT if self.is_cut_short else end,
            folders_entered=self.entered,
            names_seen=self.seen,
            folders_unreadable=self.unreadable,
            links_passed_over=self.links,
        )

    def _descend(self, folder: str) -> None:
        """Look at *folder* and all below it.

        Raises:
            OSError: *folder* itself cannot be listed.
        """
        below = self._enter(folder, self._positions((0,)))
        while below and not self.is_cut_short:
            path, positions = below.pop()
            try:
                below += self._enter(path, positions)
            except FileNotFoundError:  # removed in between
                pass
            except OSError:
                self.unreadable += 1

    def _enter(self, folder: str, positions: frozenset[int]) -> list[tuple[str, frozenset[int]]]:
        """Take the files of *folder*; return the folders in it, the last to be entered first."""
        if self.entered == self.budget.folders:
            self.is_cut_short = True
            return []
        with os.scandir(folder) as entries:
            self.entered += 1
            found = [
                (status.st_mtime_ns, entry.path, onward)
                for entry in self._within_budget(entries)
                if (onward := self._onward(entry.name, positions)) is not None
                and (status := self._status(entry)) is not None
                and self._goes_on(entry.path, status, onward)
            ]
        return [(path, onward) for _, path, onward in sorted(found, key=lambda item: item[0])]

    def _within_budget(self, entries: Iterator[_Entry]) -> Iterator[_Entry]:
        for entry in entries:
            if self.seen == self.budget.names:
                self.is_cut_short = True
                return
            self.seen += 1
            yield entry

    def _positions(self, positions: Sequence[int]) -> frozenset[int]:
        """Return *positions* in the pattern, and those behind each ``**`` that stands for none."""
        reached = set(positions)
        for position in positions:
            after = position
            while self.steps[after : after + 1] == [_ANY_DEPTH]:
                after += 1
                reached.add(after)
        return frozenset(reached)

    def _onward(self, name: str, positions: frozenset[int]) -> frozenset[int] | None:
        """Return where in the pattern *name* leads; None: nowhere."""
        onward = []
        for position in positions - {len(self.steps)}:
            step = self.steps[position]
            if step == _ANY_DEPTH:
                onward.append(position)
            elif _matcher(step)(name):
                onward.append(position + 1)
        return self._positions(onward) if onward else None

    def _status(self, entry: _Entry) -> os.stat_result | None:
        try:
            return entry.stat(follow_symlinks=False)
        except OSError:  # removed in between, or nothing that can be looked at
            return None

    def _goes_on(self, path: str, status: os.stat_result, onward: frozenset[int]) -> bool:
        """Take *path* if it is a file that matches; tell whether it is a folder to enter."""
        if _is_link(status):
            self.links += 1
            return False
        end = len(self.steps)
        if stat.S_ISREG(status.st_mode) and end in onward:
            self.files.append(FoundFile(path, status.st_size, file_time(status.st_mtime_ns)))
        return stat.S_ISDIR(status.st_mode) and min(onward) < end


def _is_link(status: os.stat_result) -> bool:
    """Tell a symbolic link, and a junction of Windows, which is none by its mode."""
    return stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) == _JUNCTION


@cache
def _matcher(step: str) -> Callable[[str], object]:
    return re.compile(fnmatch.translate(step)).fullmatch
