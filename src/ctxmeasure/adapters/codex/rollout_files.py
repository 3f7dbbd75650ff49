"""Which of a thread's files is in force? Told by their names: nothing is opened.

A revert (0.171) leaves the thread's rollout as it is, with its larger last count, and goes on in a
second file: ``rollout-<local time>-<thread id>_<new id>.jsonl`` (formats/codex.md §1.7). Neither
file tells of the other. Archived rollouts keep their names; cold ones may be compressed (``.zst``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TypeAlias, TypeVar

__all__ = ["rollouts_in_force", "thread_of_rollout"]

PathT = TypeVar("PathT", bound="str | os.PathLike[str]")

_Key: TypeAlias = tuple[str, str]

_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_NAME = re.compile(
    rf"rollout-(\d{{4}}-\d\d-\d\dT\d\d-\d\d-\d\d)-({_ID})(?:_({_ID}))?\.jsonl(?:\.zst)?",
    re.ASCII,
)


def thread_of_rollout(path: str | os.PathLike[str]) -> str | None:
    """Return the thread id that the name of a rollout states, or None for any other name."""
    match = _match(path)
    return None if match is None else match[2]


def rollouts_in_force(paths: Iterable[PathT]) -> list[PathT]:
    """Return the rollouts among *paths* that no other of them supersedes, in their order.

    Args:
        paths: Paths or names; those that are no rollout's are left out. Of two copies of one file
            (live and archived) the first is kept.
    """
    newest: dict[str, tuple[_Key, PathT]] = {}
    for path in paths:
        match = _match(path)
        if match is None:
            continue
        # The ids that reverts make are UUIDv7, which sort by time; local times repeat in autumn.
        key = (match[3] or "", match[1])
        held = newest.setdefault(match[2], (key, path))
        if held[0] < key:
            del newest[match[2]]
            newest[match[2]] = (key, path)
    return [path for _, path in newest.values()]


def _match(path: str | os.PathLike[str]) -> re.Match[str] | None:
    return _NAME.fullmatch(os.fspath(path).replace("\\", "/").rpartition("/")[2])
