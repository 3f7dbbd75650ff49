"""Where Cursor's databases are looked for, on every system and without a disk."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import pytest

from ctxmeasure.adapters.cursor.places import places
from ctxmeasure.whereabouts import System


def found(system: System, home: str, **others: Any) -> list[str]:
    return [f"{place.folder}|{place.pattern}" for place in places(system, home, **others)]


@pytest.mark.parametrize(
    ("system", "home", "ide"),
    [
        (System.LINUX, "/home/u", "/home/u/.config/Cursor"),
        (System.MACOS, "/Users/u", "/Users/u/Library/Application Support/Cursor"),
    ],
)
def test_a_unix_home_holds_all_databases(system: System, home: str, ide: str) -> None:
    assert found(system, home) == [
        f"{ide}/User/globalStorage|state.vscdb",
        f"{ide}/User/workspaceStorage|*/state.vscdb",
        f"{home}/.cursor/chats|*/*/store.db",
        f"{home}/.cursor/acp-sessions|*/store.db",
        f"{home}/.cursor/projects|*/sdk-agent-store/*/agents/*/store.db",
    ]


def test_windows_spells_its_folders_its_own_way() -> None:
    first, *_, last = found(System.WINDOWS, r"C:\Users\u")
    assert first == r"C:\Users\u\AppData\Roaming\Cursor\User\globalStorage|state.vscdb"
    assert last == r"C:\Users\u\.cursor\projects|*/sdk-agent-store/*/agents/*/store.db"


def test_wsl_has_the_ide_on_windows_and_the_cli_inside() -> None:
    seen = found(System.WSL, "/home/u", windows_home="/mnt/c/Users/u")
    assert seen[0] == ("/mnt/c/Users/u/AppData/Roaming/Cursor/User/globalStorage|state.vscdb")
    assert seen[2] == "/home/u/.cursor/chats|*/*/store.db"


def test_wsl_without_a_windows_home_has_no_ide() -> None:
    sources = {place.source for place in places(System.WSL, "/home/u")}
    assert sources == {"cursor.chat_store"}


@pytest.mark.parametrize(
    ("system", "environment", "ide"),
    [
        (System.LINUX, {"XDG_CONFIG_HOME": "/cfg"}, "/cfg/Cursor"),
        (System.LINUX, {"XDG_CONFIG_HOME": "", "APPDATA": "/no"}, "/home/u/.config/Cursor"),
        (System.WINDOWS, {"APPDATA": r"D:\Roaming"}, r"D:\Roaming\Cursor"),
        (System.MACOS, {"XDG_CONFIG_HOME": "/no"}, "/home/u/Library/Application Support/Cursor"),
    ],
)
def test_a_variable_moves_the_ide_where_the_system_has_one(
    system: System, environment: dict[str, str], ide: str
) -> None:
    separator = "\\" if system is System.WINDOWS else "/"
    first = found(system, "/home/u", environment=environment)[0]
    assert first.startswith(ide + separator + "User")


@pytest.mark.parametrize("system", list(System))
def test_every_folder_can_be_another_one(system: System) -> None:
    seen = places(system, "/home/u", ide_folder="/ide", cli_folder="/cli")
    assert [place.source for place in seen] == ["cursor.composer"] * 2 + ["cursor.chat_store"] * 3
    assert {place.folder.parts[1] for place in seen} == {"ide", "cli"}
    spelled = PureWindowsPath if system is System.WINDOWS else PurePosixPath
    assert {type(place.folder) for place in seen} == {spelled}


def test_a_folder_that_may_hold_a_users_name_is_shown_without_it() -> None:
    usual = [place.shown for place in places(System.LINUX, "/home/u")]
    assert [usual[0], usual[2]] == ["~/.config/Cursor/User/globalStorage", "~/.cursor/chats"]
    others = places(System.LINUX, "/home/u", ide_folder="/u/ide", cli_folder="/u/cli")
    shown = [place.shown for place in others]
    assert shown[0] == "the IDE's folder/User/globalStorage"
    assert shown[2] == "the CLI's folder/chats"
