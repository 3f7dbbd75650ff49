"""Where Cursor keeps its databases: strings in, paths and patterns out; no disk is looked at.

The IDE has one global and many workspace databases (``cursor.composer``); the CLI, ACP and the SDK
have one database for each chat (``cursor.chat_store``). With a devcontainer or over SSH they lie on
the remote machine. From formats/cursor.md §2.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath, PureWindowsPath

from ...whereabouts import Folder, Place, System

__all__ = ["places"]


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
    ide = _ide_folder(system, home, windows_home, environment or {})
    cli = Folder(_spelled(system, home) / ".cursor", "~/.cursor")
    if ide_folder:
        ide = Folder(_spelled(system, ide_folder), "the IDE's folder")
    if cli_folder:
        cli = Folder(_spelled(system, cli_folder), "the CLI's folder")
    in_ide = (
        () if ide is None else tuple(ide.place("cursor.composer", *at) for at in _IN_IDE_FOLDER)
    )
    return (*in_ide, *(cli.place("cursor.chat_store", *at) for at in _IN_CLI_FOLDER))


def _spelled(system: System, folder: str) -> PureWindowsPath | PurePosixPath:
    return PureWindowsPath(folder) if system is System.WINDOWS else PurePosixPath(folder)


def _ide_folder(
    system: System, home: str, windows_home: str | None, environment: Mapping[str, str]
) -> Folder | None:
    below_home, variable = _IDE_FOLDERS[system]
    parent = environment.get(variable) if variable else None
    if parent:
        return Folder(_spelled(system, parent) / "Cursor", f"${variable}/Cursor")
    base = windows_home if system is System.WSL else home
    return None if base is None else Folder(_spelled(system, base) / below_home, f"~/{below_home}")
