"""Where Cursor keeps its databases: strings in, paths and patterns out; no disk is looked at.

The IDE has one global and many workspace databases (``cursor.composer``); the CLI, ACP and the SDK
have one database for each chat (``cursor.chat_store``). With a devcontainer or over SSH they lie on
the remote machine. From formats/cursor.md §2.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import PurePath, PurePosixPath, PureWindowsPath

from attrs import frozen

__all__ = ["Place", "System", "places"]


class System(StrEnum):
    """Where Cursor runs, seen from where its databases are looked for."""

    LINUX = "linux"
    MACOS = "macos"
    WINDOWS = "windows"
    WSL = "wsl"
    """The IDE runs on Windows; it is looked for from the Linux inside, where the CLI runs."""


@frozen
class Place:
    """A folder and what to look for in it.

    Attributes:
        source: The source that reads what is found, such as ``cursor.composer``.
        folder: The folder, in the spelling of the system that looks.
        pattern: A pattern for `pathlib.Path.glob` below the folder.
    """

    source: str
    folder: PurePath
    pattern: str


# The IDE's folder below the home, and the variable that names another parent for it.
_IDE_FOLDERS = {
    System.LINUX: (".config/Cursor", "XDG_CONFIG_HOME"),
    System.MACOS: ("Library/Application Support/Cursor", None),
    System.WINDOWS: ("AppData/Roaming/Cursor", "APPDATA"),
    System.WSL: ("AppData/Roaming/Cursor", None),  # Windows' own variables are not seen there
}
_IN_IDE_FOLDER = (
    ("User/globalStorage", "state.vscdb"),  # not state.vscdb.backup
    ("User/workspaceStorage", "*/state.vscdb"),
)
_IN_CLI_FOLDER = (
    ("chats", "*/*/store.db"),
    ("acp-sessions", "*/store.db"),
    ("projects", "*/sdk-agent-store/*/agents/*/store.db"),
)


def places(
    system: System,
    home: str,
    *,
    windows_home: str | None = None,
    environment: Mapping[str, str] | None = None,
    ide_folder: str | None = None,
    cli_folder: str | None = None,
) -> tuple[Place, ...]:
    r"""Return where to look for databases, the IDE's global one first.

    Args:
        system: Where Cursor runs.
        home: The user's home folder.
        windows_home: For WSL, the home folder on Windows as Linux sees it, such as
            ``/mnt/c/Users/u``; None leaves the IDE out.
        environment: The variables ``XDG_CONFIG_HOME`` (Linux) and ``APPDATA`` (Windows) are used.
        ide_folder: The IDE's own folder (``--user-data-dir``), instead of the usual one.
        cli_folder: The CLI's own folder, instead of ``.cursor`` in the home.
    """
    spell = PureWindowsPath if system is System.WINDOWS else PurePosixPath
    ide = ide_folder or _ide_folder(system, home, windows_home, environment or {})
    cli = spell(cli_folder) if cli_folder else spell(home) / ".cursor"
    in_cli = [Place("cursor.chat_store", cli / folder, what) for folder, what in _IN_CLI_FOLDER]
    if ide is None:
        return tuple(in_cli)
    in_ide = [
        Place("cursor.composer", spell(ide) / folder, what) for folder, what in _IN_IDE_FOLDER
    ]
    return (*in_ide, *in_cli)


def _ide_folder(
    system: System, home: str, windows_home: str | None, environment: Mapping[str, str]
) -> str | None:
    below_home, variable = _IDE_FOLDERS[system]
    parent = environment.get(variable) if variable else None
    if parent:
        return f"{parent}/Cursor"
    base = windows_home if system is System.WSL else home
    return None if base is None else f"{base}/{below_home}"
