"""Sessions on a machine: which are found, in which order, and what is not told of them."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from homes import AT, RECORDINGS, Home
from hypothesis import given
from hypothesis import strategies as st

import ctxmeasure as cm
from ctxmeasure import discover
from ctxmeasure.bounded.budget import ReadFault
from ctxmeasure.bounded.extent import beginning
from ctxmeasure.bounded.listing import list_files
from ctxmeasure.discover import (
    Handle,
    ListingBudget,
    ListingEnd,
    Machine,
    System,
    find_sessions,
)
from ctxmeasure.testing import databases

MS = 1_795_953_600_000  # milliseconds since 1970, two days before AT


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def observed(session: discover.Session) -> str:
    return str(session.handle.observe(at=AT))


def test_the_sessions_of_all_agents_are_found_newest_first(home: Home) -> None:
    home.claude(minutes=3)
    home.codex(minutes=1)
    home.pi(minutes=4)
    home.cursor_chat(minutes=2)
    found = find_sessions(home.machine())
    assert [session.agent for session in found.sessions] == ["codex", "cursor", "claude", "pi"]
    assert [AT - session.modified_at for session in found.sessions] == [
        timedelta(minutes=minutes) for minutes in (1, 2, 3, 4)
    ]
    assert [session.project for session in found.sessions] == [
        "project",
        "shop",
        "project",
        "project",
    ]
    assert (found.subagents, found.left_out, found.is_cut_short) == ((), 0, False)


def test_each_can_be_asked_how_full_it_is(home: Home) -> None:
    home.claude(minutes=1)
    home.codex(minutes=2)
    home.pi(minutes=3)  # of a model that no table knows
    home.cursor_chat(minutes=4)
    sessions = find_sessions(home.machine()).sessions
    assert [(session.source, observed(session)) for session in sessions] == [
        ("claude.transcript", "Context: 8% (16K/200K)"),
        ("codex.rollout", "Context: 5% (13K/258K)"),
        ("pi.session", "Tokens: 16K (model_unknown)"),
        ("cursor.chat_store", "Context: 8% (21K/256K)"),
    ]


def test_the_same_file_is_read_by_the_verb_and_by_a_handle(home: Home) -> None:
    path = home.claude()
    (session,) = find_sessions(home.machine()).sessions
    assert session.handle.observe(at=AT) == cm.observe("claude.transcript", path, at=AT)
    declared = session.handle.observe(
        at=AT, limit_tokens=100_000, policy=cm.Policy(counts="prompt"), budget=cm.ReadBudget()
    )
    assert declared == cm.observe(
        "claude.transcript", path, at=AT, limit_tokens=100_000, policy=cm.Policy(counts="prompt")
    )


def test_a_handle_is_asked_the_whole_question(home: Home) -> None:
    path = home.claude()
    handle = find_sessions(home.machine()).sessions[0].handle
    for asked in (
        {"turn_id": "another", "phase": "active"},
        {"turn_started_at": AT, "phase": cm.Phase.TERMINAL},
        {"agent_id": "another"},
        {"model": "claude-opus-4-6[1m]"},
    ):
        question: dict[str, Any] = {"at": AT, **asked}
        assert handle.observe(**question) == cm.observe("claude.transcript", path, **question)


# -- sub-agents, and files that are not in force --------------------------------------------------


def test_claudes_subagents_beside_a_session_are_told_by_their_names(home: Home) -> None:
    for path in (RECORDINGS / "claude-2.0.76/f-subagent/session").iterdir():
        home.copy(
            f"claude-2.0.76/f-subagent/session/{path.name}", f".claude/projects/p/{path.name}"
        )
    found = find_sessions(home.machine())
    assert (len(found.sessions), len(found.subagents)) == (1, 3)
    used = {session.handle.observe(at=AT).value.used_tokens for session in found.subagents}  # type: ignore[union-attr]
    assert 7 in used  # as the CLI's page shows for one of them


def test_claudes_subagents_in_folders_of_their_own_are_found_when_asked_for(home: Home) -> None:
    folder = RECORDINGS / "claude/f-subagent/session"
    for path in folder.rglob("*.jsonl"):
        below = path.relative_to(folder).as_posix()
        home.copy(f"claude/f-subagent/session/{below}", f".claude/projects/p/{below}")
    assert find_sessions(home.machine()).subagents == ()
    found = find_sessions(home.machine(), subagents=True)
    assert (len(found.sessions), len(found.subagents)) == (1, 1)
    assert isinstance(found.subagents[0].handle.observe(at=AT), cm.Observed)


def test_codexs_subagents_are_told_by_their_first_row(home: Home) -> None:
    home.codex("f-subagent")
    found = find_sessions(home.machine())
    assert (len(found.sessions), len(found.subagents)) == (1, 1)


@pytest.mark.parametrize(
    ("stated", "is_subagent"),
    [
        ({"source": "cli"}, False),
        ({"source": {"subagent": "review"}}, True),  # states no parent
        ({"source": "cli", "parent_thread_id": "01a22895-0000-7000-8000-000000000000"}, True),
    ],
)
def test_a_codex_subagent_is_told_by_its_source_or_its_parent(
    home: Home, stated: dict[str, Any], *, is_subagent: bool
) -> None:
    path = home.codex()
    first, _, rest = path.read_bytes().partition(b"\n")
    row = json.loads(first)
    row["payload"] |= stated
    path.write_bytes(json.dumps(row).encode() + b"\n" + rest)
    found = find_sessions(home.machine())
    assert (len(found.sessions), len(found.subagents)) == ((0, 1) if is_subagent else (1, 0))


def test_a_rollout_that_a_revert_superseded_is_left_out(home: Home) -> None:
    path = home.codex()
    reverted = path.with_name(f"{path.stem}_01a22895-ffff-7000-8000-000000000000.jsonl")
    shutil.copyfile(path, reverted)
    (session,) = find_sessions(home.machine()).sessions
    assert session.handle.path == str(reverted)


def test_an_archived_rollout_is_a_session_and_other_files_are_none(home: Home) -> None:
    path = home.codex()
    archive = home.path / ".codex/archived_sessions"
    archive.mkdir()
    (archive / "rollout-notes.jsonl").touch()
    path.rename(archive / path.name)
    (session,) = find_sessions(home.machine()).sessions
    assert Path(session.handle.path).parent == archive


# -- Cursor's IDE ---------------------------------------------------------------------------------


def head(name: str, updated: int = MS, **fields: Any) -> dict[str, Any]:
    return {"type": "head", "composerId": name, "lastUpdatedAt": updated, **fields}


def in_folder(folder: str) -> dict[str, Any]:
    return {"workspaceIdentifier": {"id": "w", "uri": {"fsPath": folder}}}


def document(name: str, used: int) -> dict[str, Any]:
    return {
        "composerId": name,
        "lastUpdatedAt": MS,
        "contextTokensUsed": used,
        "contextTokenLimit": 200_000,
        "fullConversationHeadersOnly": [{"bubbleId": "b", "type": 1}],
    }


def test_the_chats_that_cursors_ide_lists_are_sessions_of_their_own(home: Home) -> None:
    home.cursor_ide(
        head("one", MS, **in_folder("/home/dev/shop")),
        head("two", MS + 1000),
        head("task-call\nfc_1"),
        {"type": "head"},
        documents={"one": document("one", 50_000), "two": document("two", 100_000)},
    )
    found = find_sessions(home.machine(), agents=["cursor"])
    assert [observed(session) for session in found.sessions] == [
        "Context: 50% (100K/200K)",
        "Context: 25% (50K/200K)",
    ]
    assert [session.project for session in found.sessions] == [None, "shop"]


def test_a_chat_that_two_databases_list_is_one_session_with_the_later_time(home: Home) -> None:
    home.cursor_ide(head("one", MS), documents={"one": document("one", 50_000)}, minutes=0)
    for minutes, folder, updated in ((1, "w1", MS + 5000), (2, "w2", MS + 1000)):
        path = home.path / f".config/Cursor/User/workspaceStorage/{folder}"
        path.mkdir(parents=True)
        listed = f'{{"allComposers": [{{"composerId": "one", "lastUpdatedAt": {updated}}}]}}'
        rows = {"ItemTable": {"composer.composerData": listed}}
        home.stamp(databases.write(path / "state.vscdb", rows), age=timedelta(minutes=minutes))
    (session,) = find_sessions(home.machine()).sessions
    assert session.modified_at.timestamp() * 1000 == MS + 5000
    assert observed(session) == "Context: 25% (50K/200K)"


def test_a_chat_without_a_time_is_as_old_as_its_database(home: Home) -> None:
    home.cursor_ide({"composerId": "one"}, minutes=7)
    (session,) = find_sessions(home.machine()).sessions
    assert AT - session.modified_at == timedelta(minutes=7)


def test_a_database_that_lists_nothing_or_is_none_gives_no_session(home: Home) -> None:
    path = home.cursor_ide()
    assert find_sessions(home.machine()).sessions == ()
    path.write_bytes(b"no database at all, and that for more than a hundred bytes " * 9)
    found = find_sessions(home.machine())
    assert found.sessions == ()
    assert [looked.files for looked in found.looked if looked.source == "cursor.composer"] == [1, 0]


def test_a_list_that_is_too_long_to_read_is_not_known(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.cursor_ide(head("one", note="long" * 2000))
    monkeypatch.setattr(discover, "_CHAT_LISTS", cm.ReadBudget(maximum=5000))
    assert find_sessions(home.machine()).sessions == ()


def test_a_chat_store_is_as_new_as_its_journal(home: Home) -> None:
    path = home.cursor_chat(minutes=60)
    journal = path.with_name("store.db-wal")
    journal.write_bytes(b"")
    os.utime(journal, (AT.timestamp(), AT.timestamp()))
    (session,) = find_sessions(home.machine()).sessions
    assert session.modified_at == AT


def test_a_chat_store_that_vanished_keeps_the_time_of_its_listing(home: Home) -> None:
    path = home.cursor_chat(minutes=5)
    files = list_files(str(path.parent), "store.db", ListingBudget()).files
    path.unlink()
    assert discover._dated(files[0]) == files[0]


def test_a_chat_store_without_meta_json_has_no_project(home: Home) -> None:
    path = home.cursor_chat()
    path.with_name("meta.json").unlink()
    (session,) = find_sessions(home.machine()).sessions
    assert session.project is None


# -- where to look --------------------------------------------------------------------------------


def moved(home: Home, old: str, new: str) -> Path:
    """Move a folder of the home; return where it is now."""
    target = home.path / new
    target.parent.mkdir(parents=True, exist_ok=True)
    (home.path / old).rename(target)
    return target


@pytest.mark.parametrize(
    ("agent", "folder", "variable"),
    [
        ("claude", ".claude", "CLAUDE_CONFIG_DIR"),
        ("codex", ".codex", "CODEX_HOME"),
        ("pi", ".pi/agent", "PI_CODING_AGENT_DIR"),
        ("pi", ".pi/agent/sessions", "PI_CODING_AGENT_SESSION_DIR"),
        ("pi", ".pi/agent/sessions/--home-dev-project--", "PI_CODING_AGENT_SESSION_DIR"),
        ("pi", ".pi/agent/sessions/--home-dev-project--", "PI_CODING_AGENT_DIR"),  # 0.30.0
    ],
)
def test_an_agents_own_variable_moves_its_folder(
    home: Home, agent: str, folder: str, variable: str
) -> None:
    getattr(home, agent)()
    elsewhere = moved(home, folder, "else/where")
    assert find_sessions(home.machine()).sessions == ()
    assert find_sessions(home.machine(environment={variable: ""})).sessions == ()
    found = find_sessions(home.machine(environment={variable: str(elsewhere)}))
    assert [session.agent for session in found.sessions] == [agent]
    assert (
        f"${variable}" in found.looked[["claude", "codex", "", "pi"].index(agent)].place
        or agent == "pi"
    )


def test_under_wsl_the_ide_is_looked_for_on_windows() -> None:
    there, elsewhere = (
        [looked.place for looked in find_sessions(machine).looked]
        for machine in (
            Machine(system=System.WSL, home="/nowhere", windows_home="/mnt/c/Users/secret"),
            Machine(system=System.WSL, home="/nowhere"),
        )
    )
    assert sorted({*there} - {*elsewhere}) == [
        "~/AppData/Roaming/Cursor/User/globalStorage",
        "~/AppData/Roaming/Cursor/User/workspaceStorage",
    ]


@pytest.mark.parametrize("system", list(System))
def test_every_place_is_named_without_the_home(system: System) -> None:
    user = "C:\\Users\\secret" if system is System.WINDOWS else "/home/secret"
    machine = Machine(system=system, home=user, windows_home="/mnt/c/Users/secret")
    found = find_sessions(machine, subagents=True)
    assert found.sessions == ()
    assert {looked.end for looked in found.looked} == {ListingEnd.ABSENT}
    assert all(
        looked.place.startswith("~/.") or "Cursor" in looked.place for looked in found.looked
    )
    assert "secret" not in repr((machine, found))


def test_windows_is_looked_at_in_its_own_spelling() -> None:
    machine = Machine(
        system=System.WINDOWS, home=r"C:\Users\u", environment={"APPDATA": r"D:\Roaming"}
    )
    folders = {looked.place: looked.folder for looked in find_sessions(machine).looked}
    assert folders["~/.claude/projects"] == r"C:\Users\u\.claude\projects"
    assert folders["$APPDATA/Cursor/User/globalStorage"] == r"D:\Roaming\Cursor\User\globalStorage"


@pytest.mark.parametrize(
    ("platform", "environment", "system"),
    [
        ("linux", {}, System.LINUX),
        ("freebsd14", {}, System.LINUX),
        ("darwin", {"WSL_DISTRO_NAME": "x"}, System.MACOS),
        ("win32", {}, System.WINDOWS),
        ("linux", {"WSL_DISTRO_NAME": "Debian"}, System.WSL),
    ],
)
def test_this_machine_is_told_by_its_platform_and_variables(
    monkeypatch: pytest.MonkeyPatch, platform: str, environment: dict[str, str], system: System
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(os, "environ", {"HOME": "/home/u", **environment})
    machine = discover.this_machine(windows_home="/mnt/c/Users/u")
    assert (machine.system, machine.home) == (system, "/home/u")
    assert machine.environment == {"HOME": "/home/u", **environment}
    assert machine.windows_home == "/mnt/c/Users/u"


def test_without_a_machine_this_one_is_looked_at(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.claude()
    monkeypatch.setattr(os, "environ", {"HOME": str(home.path)})
    assert len(find_sessions().sessions) == 1


# -- bounds ---------------------------------------------------------------------------------------


def test_only_the_agents_asked_for_are_looked_for(home: Home) -> None:
    home.claude()
    home.codex()
    found = find_sessions(home.machine(), agents=["codex"])
    assert {looked.agent for looked in found.looked} == {"codex"}
    assert [session.agent for session in found.sessions] == ["codex"]


def test_since_leaves_out_what_was_not_written_to_since_then(home: Home) -> None:
    home.claude(name="old", minutes=121)
    home.claude(name="edge", minutes=120)
    found = find_sessions(home.machine(), since=AT - timedelta(hours=2))
    assert [Path(session.handle.path).stem for session in found.sessions] == ["edge"]


def test_a_limit_counts_what_it_leaves_out_and_reads_none_of_it(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(5):
        home.claude(name=f"s{n}", minutes=n)
    opened: list[str] = []

    def noting(path: str, count: int) -> bytes | ReadFault:
        opened.append(path)
        return beginning(path, count)

    monkeypatch.setattr(discover, "beginning", noting)
    found = find_sessions(home.machine(), limit=2)
    assert [Path(session.handle.path).stem for session in found.sessions] == ["s0", "s1"]
    assert (found.left_out, len(opened)) == (3, 2)


def test_a_session_of_the_future_is_the_newest(home: Home) -> None:
    home.claude(name="now", minutes=0)
    home.claude(name="future", minutes=-600)
    found = find_sessions(home.machine())
    assert [Path(session.handle.path).stem for session in found.sessions] == ["future", "now"]


def test_a_budget_that_ends_early_is_told(home: Home) -> None:
    for n in range(5):
        home.claude(name=f"s{n}")
    found = find_sessions(home.machine(), budget=ListingBudget(names=3))
    assert (len(found.sessions), found.is_cut_short) == (2, True)
    assert {looked.end for looked in found.looked if looked.agent == "claude"} == {"cut_short"}


def test_links_out_of_the_folders_are_not_followed(home: Home, tmp_path: Path) -> None:
    other = Home(tmp_path / "other")
    other.claude()
    home.claude()
    projects = home.path / ".claude/projects"
    (projects / "linked").symlink_to(other.path / ".claude/projects/-home-dev-project")
    (projects / "circle").symlink_to(projects)
    found = find_sessions(home.machine(), agents=["claude"])
    assert len(found.sessions) == 1
    assert found.looked[0].links_passed_over == 2


# -- what it is called ----------------------------------------------------------------------------


def renamed(path: Path, folder: str) -> None:
    path.write_bytes(path.read_bytes().replace(b"/home/dev/project", folder.encode()))


@pytest.mark.parametrize(
    ("folder", "project"),
    [
        ("/home/dev/my.app", "my.app"),
        ("/home/dev/my.app/", "my.app"),
        ("C:\\\\code\\\\shop", "shop"),
        ("/", None),
        ("/home/a\\u001b[31m", "a\x1b[31m"),
    ],
)
def test_a_project_is_the_last_part_of_the_working_folder(
    home: Home, folder: str, project: str | None
) -> None:
    renamed(home.claude(), folder)
    (session,) = find_sessions(home.machine()).sessions
    assert session.project == project


def test_the_home_is_not_called_by_the_users_name(home: Home) -> None:
    renamed(home.codex(), str(home.path))
    (session,) = find_sessions(home.machine()).sessions
    assert session.project == "~"


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"no json\n", b'{"cwd":1}\n', b"\x28\xb5\x2f\xfd\n"]
)
def test_a_file_that_says_nothing_has_no_project_and_is_a_session(
    home: Home, content: bytes
) -> None:
    for path in (home.claude(), home.codex(), home.pi()):
        path.write_bytes(content)
    found = find_sessions(home.machine())
    assert [session.project for session in found.sessions] == [None] * 3
    assert all(isinstance(s.handle.observe(at=AT), cm.Missing) for s in found.sessions)


def test_a_file_that_cannot_be_read_is_a_session_with_a_reason(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home.claude()
    monkeypatch.setattr(discover, "beginning", lambda *_: ReadFault.UNREADABLE)
    (session,) = find_sessions(home.machine()).sessions
    assert session.project is None
    path.unlink()
    assert observed(session) == "Context: not known (source_absent)"


# -- privacy, and wrong arguments -----------------------------------------------------------------


def test_no_repr_shows_a_path_a_project_or_a_native_id(home: Home) -> None:
    home.claude(name="secret-session")
    home.cursor_ide(head("secret-chat", **in_folder("/home/secret-project")))
    home.cursor_chat()
    said = repr(find_sessions(home.machine(environment={"KEY": "secret"}), subagents=True))
    assert not any(
        word in said for word in ("secret", "project\\", str(home.path), "native-chat", "shop")
    )


def test_handles_are_equal_for_the_same_session_only(home: Home) -> None:
    home.claude(name="a")
    home.claude(name="b")
    home.cursor_ide(head("one"), head("two"))
    twice = [{s.handle for s in find_sessions(home.machine()).sessions} for _ in range(2)]
    assert twice[0] == twice[1]
    assert len(twice[0]) == 4


# -- ids ------------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(), max_size=20)  # lone surrogates too, as file systems have them
PATHS = st.builds("/{}/{}.jsonl".format, TEXTS, st.uuids())
CHATS = st.builds(str, st.uuids()) | TEXTS


def of_file(path: str) -> Handle:
    return Handle(source="claude.transcript", path=path, key=path)


def of_chat(chat: str, path: str = "") -> Handle:
    key = "cursor.composer"
    return Handle(source=key, path=path, key=key, session_id=chat, databases=(path,))


@given(st.sets(st.builds(of_file, PATHS) | st.builds(of_chat, CHATS), min_size=2))
def test_two_sessions_have_two_ids(handles: set[Handle]) -> None:
    assert len({handle.id for handle in handles}) == len(handles)


@given(PATHS, CHATS)
def test_an_id_is_no_part_of_the_path_or_the_native_id(path: str, chat: str) -> None:
    for handle in (of_file(path), of_chat(chat, path)):
        assert re.fullmatch("[0-9a-f]{12}", handle.id)
        assert handle.id not in path.replace("-", "")
        assert handle.id not in chat.replace("-", "")
        assert handle.id not in repr(handle)


def test_an_id_stays_when_the_session_is_written_to_and_changes_when_it_is_moved(
    home: Home,
) -> None:
    path = home.claude(minutes=9)
    (before,) = find_sessions(home.machine()).sessions
    home.stamp(path, age=timedelta(0))
    (after,) = find_sessions(home.machine()).sessions
    assert (after.handle.id, after.modified_at) == (before.handle.id, AT)
    path.rename(path.with_name("moved.jsonl"))
    (moved,) = find_sessions(home.machine()).sessions
    assert moved.handle.id != before.handle.id


@given(CHATS, PATHS, PATHS)
def test_a_chat_keeps_its_id_when_another_database_has_it_newer(
    chat: str, one: str, other: str
) -> None:
    assert of_chat(chat, one) == of_chat(chat, other)
    assert of_chat(chat, one).id == of_chat(chat, other).id


def test_of_an_id_its_session_is_found_and_no_other_is_read(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        home.claude(name=name)
    home.cursor_ide(head("one"), head("two"))
    everything = find_sessions(home.machine()).sessions
    read: list[str] = []

    def noted(path: str, _: int) -> bytes:
        read.append(path)
        return b""

    monkeypatch.setattr(discover, "beginning", noted)
    for session in everything:
        found = find_sessions(home.machine(), id_prefix=session.handle.id)
        assert [one.handle for one in found.sessions] == [session.handle]
        assert found.left_out == 0
    assert sorted(Path(path).stem for path in read) == ["a", "b", "c"]
    assert find_sessions(home.machine(), id_prefix="g").sessions == ()


@pytest.mark.parametrize(
    ("argument", "value", "error"),
    [
        ("machine", "here", TypeError),
        ("budget", 5, TypeError),
        ("limit", 2.0, TypeError),
        ("limit", 0, ValueError),
        ("id_prefix", None, TypeError),
        ("since", "yesterday", TypeError),
        ("since", AT.replace(tzinfo=None), ValueError),
        ("agent", ["text"], ValueError),
    ],
)
def test_a_wrong_argument_is_named(argument: str, value: Any, error: type[Exception]) -> None:
    given = {"agents" if argument == "agent" else argument: value}
    with pytest.raises(error, match=f"^{argument}: "):
        find_sessions(**given)
