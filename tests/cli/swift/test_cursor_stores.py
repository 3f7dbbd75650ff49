"""Where Cursor's databases are looked for, on each system."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ctxmeasure.cli.swift import cursor_stores


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(cursor_stores, "_WINDOWS_USERS", str(tmp_path / "absent"))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


def make(path: Path) -> str:
    path.parent.mkdir(parents=True)
    path.touch()
    return str(path)


def test_nothing_is_found_where_there_is_nothing() -> None:
    assert cursor_stores.databases("s") == {"cursor.composer": (), "cursor.chat_store": ()}


def test_a_chats_own_folder_leaves_the_others_out(home: Path) -> None:
    other = make(home / ".cursor/chats/w/other/store.db")
    assert cursor_stores.databases("s")["cursor.chat_store"] == (other,)
    own = make(home / ".cursor/chats/w/s/store.db")
    assert cursor_stores.databases("s")["cursor.chat_store"] == (own,)


def test_the_ides_databases_are_found(home: Path) -> None:
    everybodys = make(home / ".config/Cursor/User/globalStorage/state.vscdb")
    workspaces = make(home / ".config/Cursor/User/workspaceStorage/w/state.vscdb")
    assert cursor_stores.databases("s")["cursor.composer"] == (everybodys, workspaces)


def test_the_systems_folder_is_the_one_that_is_looked_in(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    found = make(home / "Library/Application Support/Cursor/User/globalStorage/state.vscdb")
    assert cursor_stores.databases("s")["cursor.composer"] == (found,)


def test_in_wsl_the_ide_is_looked_for_on_windows(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = home / "users"
    below = "AppData/Roaming/Cursor/User/globalStorage/state.vscdb"
    found = make(users / "u" / below)
    make(users / "Public" / below)
    (users / "desktop.ini").touch()
    monkeypatch.setattr(cursor_stores, "_WINDOWS_USERS", str(users))
    assert cursor_stores.databases("s")["cursor.composer"] == (found,)


def test_a_folder_that_cannot_be_listed_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "glob", refuse)
    assert cursor_stores.databases("s") == {"cursor.composer": (), "cursor.chat_store": ()}
