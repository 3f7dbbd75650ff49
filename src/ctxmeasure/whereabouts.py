"""How an agent's sessions are found on a machine: what its room declares for `discover`.

Pure facts and functions: from an operating system, a home and its environment variables to folders
and name patterns, and from a file's first rows to what tells a person which session it is. No disk
is looked at here, and an adapter that declares this opens nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Any, TypeAlias

from attrs import field, frozen

from .bounded.jsonl import Tail
from .bounded.keys import Key, KeyValues

__all__ = [
    "Label",
    "ListedChat",
    "Machine",
    "Place",
    "System",
    "Whereabouts",
]


class System(StrEnum):
    """Where an agent runs, seen from where its sessions are looked for."""

    LINUX = "linux"
    MACOS = "macos"
    WINDOWS = "windows"
    WSL = "wsl"
    """Linux inside Windows: Cursor's IDE runs on Windows, all else may run inside."""


@frozen(kw_only=True)
class Machine:
    """Where to look, as plain facts.

    Attributes:
        system: The operating system.
        home: The user's home folder.
        environment: Environment variables; the agents' own move their folders.
        windows_home: For WSL, the home folder on Windows as Linux sees it, such as
            ``/mnt/c/Users/u``; None leaves Cursor's IDE out.
    """

    system: System
    home: str = field(repr=False)
    environment: Mapping[str, str] = field(factory=dict, repr=False)
    windows_home: str | None = field(default=None, repr=False)

    def folder(self, variable: str, below_home: str) -> Folder:
        """Return the folder that an environment *variable* names, or the one *below_home*.

        A variable that is empty names none.
        """
        spell = PureWindowsPath if self.system is System.WINDOWS else PurePosixPath
        named = self.environment.get(variable)
        if named:
            return Folder(spell(named), f"${variable}")
        return Folder(spell(self.home) / below_home, f"~/{below_home}")


@frozen
class Folder:
    """A folder, and how it may be named to anyone.

    Attributes:
        path: The folder, in the spelling of the system.
        shown: The same by its variable or from the home on; holds no name of a user.
    """

    path: PurePath = field(repr=False)
    shown: str

    def place(self, source: str, below: str, pattern: str, *, subagents: bool = False) -> Place:
        """Return the place in the folder *below* this one; an empty text is this one itself."""
        shown = f"{self.shown}/{below}" if below else self.shown
        return Place(source, self.path / below, pattern, shown=shown, subagents=subagents)


@frozen
class Place:
    """A folder and what to look for in it.

    Attributes:
        source: The source that reads what is found, such as ``claude.transcript``.
        folder: The folder, in the spelling of the system that looks.
        pattern: Names for each step down from it, divided by ``/``; ``**`` is any number of steps.
        shown: How the folder may be named to anyone: no name of a user is in it.
        subagents: Nothing but sub-agents' files lies there.
    """

    source: str
    folder: PurePath = field(repr=False)
    pattern: str
    shown: str = ""
    subagents: bool = False


@frozen(kw_only=True)
class Label:
    """What tells a person which session a file is of.

    Attributes:
        folder: The folder that the agent works in, as the file states it; None: it does not.
        is_subagent: The file is a sub-agent's.
    """

    folder: str | None = field(default=None, repr=False)
    is_subagent: bool = False


@frozen(kw_only=True)
class ListedChat:
    """A session that a database lists among others.

    Attributes:
        session_id: The agent's own id of it.
        updated_at: When it was last written to (aware), or None.
        folder: The folder that the agent works in, or None.
    """

    session_id: str = field(repr=False)
    updated_at: datetime | None
    folder: str | None = field(default=None, repr=False)


_Labels: TypeAlias = Callable[[Tail], Label]
_Beside: TypeAlias = tuple[str, Callable[[Mapping[str, Any]], Label]]
_Chats: TypeAlias = tuple[tuple[Key, ...], Callable[[KeyValues], Sequence[ListedChat]]]


def _all(paths: Iterable[str]) -> list[str]:
    return list(paths)


def _no_subagent(_: str) -> None:
    return None


@frozen(kw_only=True)
class Whereabouts:
    """How an agent's sessions are found.

    Attributes:
        agent: The agent's room, such as ``claude``.
        places: Where they lie on a machine.
        subagent_of: The sub-agent's id that a file's name states; None: it states none.
        in_force: Which of the paths of one kind are not superseded by others of them.
        label: From the first rows of a session's file to what it is called.
        beside: The name of a JSON object that lies beside a session's file, and what to read of it.
        chats: By the source of databases that hold many sessions, the keys of their lists, and how
            these are read.
    """

    agent: str
    places: Callable[[Machine], tuple[Place, ...]] = field(repr=False)
    subagent_of: Callable[[str], str | None] = field(default=_no_subagent, repr=False)
    in_force: Callable[[Iterable[str]], list[str]] = field(default=_all, repr=False)
    label: _Labels | None = field(default=None, repr=False)
    beside: _Beside | None = field(default=None, repr=False)
    chats: Mapping[str, _Chats] = field(factory=dict, repr=False)
