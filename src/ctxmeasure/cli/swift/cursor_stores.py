"""Which databases of Cursor on this machine may hold a session."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...adapters.cursor.places import places
from ...whereabouts import Place, System

__all__ = ["databases"]

_WINDOWS_USERS = "/mnt/c/Users"  # where WSL shows them
_NOBODYS = frozenset({"All Users", "Default", "Default User", "Public"})


def databases(session_id: str) -> dict[str, tuple[str, ...]]:
    """Return the paths of the databases that may hold a session, by the source that reads them.

    The databases of the CLI lie in folders named by their chat: where there is one of that name,
    the others are left out.
    """
    found: dict[str, list[Path]] = {}
    for place in _places(Path.home(), os.environ):
        found.setdefault(place.source, []).extend(_in(place))
    return {source: _of_session(paths, session_id) for source, paths in found.items()}


def _places(home: Path, environment: Mapping[str, str]) -> Iterable[Place]:
    system = {"darwin": System.MACOS, "win32": System.WINDOWS}.get(sys.platform, System.LINUX)
    yield from places(system, str(home), environment=environment)
    if system is System.LINUX:
        for user in _folders(Path(_WINDOWS_USERS)):
            if user.name not in _NOBODYS:
                wsl = places(System.WSL, str(home), windows_home=str(user))
                yield from (place for place in wsl if place.source == "cursor.composer")


def _folders(path: Path) -> list[Path]:
    try:
        return [entry for entry in path.iterdir() if entry.is_dir()]
    except OSError:  # no WSL
        return []


def _in(place: Place) -> list[Path]:
    try:
        return [*Path(place.folder).glob(place.pattern)]
    except OSError:
        return []


def _of_session(paths: list[Path], session_id: str) -> tuple[str, ...]:
    own = [path for path in paths if path.parent.name == session_id]
    return tuple(map(str, own or paths))
