"""The verb that finds the sessions on this machine, newest first, within a budget.

The agents' rooms say where to look and `bounded` looks; this room puts together what was found. A
session's own words stay where they are: of each file one beginning is read, for the folder that
the agent works in and for whether it is a sub-agent's. What is handed on repr()s without a path.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TypeAlias

from attrs import evolve, field, frozen

from .assess import DEFAULT_POLICY, Policy
from .bounded.budget import KIB, MIB, ReadBudget, ReadFault
from .bounded.extent import beginning
from .bounded.jsonl import Tail, TailReader
from .bounded.keys import KeyValues
from .bounded.listing import FoundFile, ListingBudget, ListingEnd, list_files
from .bounded.payload import Payload, read_object
from .capability.model import ModelRef
from .evidence import Phase, Query
from .measurement import utc_milliseconds
from .newest import KnownDatabases, observe_newest
from .observation import Observation
from .reading import observe
from .registry import AGENTS_ON_DISK, find, whereabouts
from .source import StoreSource
from .whereabouts import Label, ListedChat, Machine, Place, System, Whereabouts

__all__ = [
    "Discovery",
    "Handle",
    "ListingBudget",
    "ListingEnd",
    "Looked",
    "Machine",
    "Session",
    "System",
    "find_sessions",
    "this_machine",
]

# Holds the first row of a Codex rollout (9 to 24 KiB in recordings) and a Claude Code session's
# first prompt, unless something long was pasted.
_BEGINNING = 64 * KIB
_BESIDE = ReadBudget(maximum=64 * KIB)
_CHAT_LISTS = ReadBudget(maximum=16 * MIB)  # as for reading a chat
_DATABASES = 8  # as `observe_newest` opens
_ID_DIGITS = 12  # among a million sessions two of one id are a chance of one in 500
_SYSTEMS = {"darwin": System.MACOS, "win32": System.WINDOWS}


def this_machine(*, windows_home: str | None = None) -> Machine:
    """Return the facts about this machine that say where to look.

    Args:
        windows_home: For Linux inside Windows (WSL), the home on Windows as Linux sees it, such as
            ``/mnt/c/Users/u``: Cursor's IDE is looked for below it.
    """
    system = _SYSTEMS.get(sys.platform, System.LINUX)
    if system is System.LINUX and "WSL_DISTRO_NAME" in os.environ:
        system = System.WSL
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home() raises where there is none
    return Machine(
        system=system, home=home, environment=dict(os.environ), windows_home=windows_home
    )


# -- what is found --------------------------------------------------------------------------------


@frozen(kw_only=True)
class Handle:
    """A session on this machine: opaque, hashable, and equal for the same session.

    Attributes:
        source: The source that reads it.
        path: The file, or the database that was written to last; for opening it, never for showing.
        agent_id: The sub-agent's id that the file's name states, or None; never for showing.
    """

    source: str
    path: str = field(repr=False, eq=False)
    _key: str = field(repr=False)
    _session_id: str | None = field(default=None, repr=False)
    agent_id: str | None = field(default=None, repr=False)
    _databases: tuple[str, ...] = field(default=(), repr=False, eq=False)

    @property
    def id(self) -> str:
        """The session's id, 12 hexadecimal digits: what a person calls it by on this machine.

        A digest of the source and of the file's path, or of the agent's own id where a database
        lists the session: neither can be read from it. It stays the same as long as the file stays
        where it is. It is not keyed, so it is for this machine and its person, not for publishing:
        who knows a path can tell its id.
        """
        from hashlib import sha256  # noqa: PLC0415 - only who shows or asks for ids pays for it

        facts = "\0".join((self.source, self._key, self._session_id or ""))
        return sha256(facts.encode("utf-8", "surrogatepass")).hexdigest()[:_ID_DIGITS]

    @property
    def is_listed(self) -> bool:
        """Whether it is one of many sessions in the file, which changes with each of them."""
        return bool(self._databases)

    def observe(
        self,
        *,
        at: datetime,
        turn_id: str | None = None,
        turn_started_at: datetime | None = None,
        agent_id: str | None = None,
        phase: Phase = Phase.LATEST,
        model: str | ModelRef | None = None,
        limit_tokens: int | None = None,
        policy: Policy = DEFAULT_POLICY,
        budget: ReadBudget | None = None,
    ) -> Observation:
        """Return how full the context window of this session is.

        Args:
            at: The moment of the question (aware).
            turn_id: The agent's own id of the sample's turn.
            turn_started_at: When the turn began (aware).
            agent_id: A sub-agent's id, to measure it instead of the main chain; None: the one whose
                file it is.
            phase: When in the life of the turn the question is asked.
            model: The model as the agent was started with it.
            limit_tokens: A limit the caller declares, in tokens.
            policy: What the caller accepts.
            budget: How much may be read; None: as for `reading.observe`.

        Raises:
            TypeError: An argument has the wrong type (the message names it).
            ValueError: An argument has an impossible value (the message names it).
        """
        query = Query(
            at=at,
            session_id=self._session_id,
            turn_id=turn_id,
            turn_started_at=turn_started_at,
            agent_id=self.agent_id if agent_id is None else agent_id,
            phase=phase,
            model=model,
            limit_tokens=limit_tokens,
        )
        source = find(self.source)
        if not isinstance(source, StoreSource) or not self.is_listed:
            return observe(source, self.path, query=query, policy=policy, budget=budget)
        # Documents lie in the IDE's global database, the first that is looked for (cursor.md §2.2).
        known = KnownDatabases().with_found(source, query, self._databases[0])
        observation, _ = observe_newest(
            source, self._databases, query=query, known=known, policy=policy, budget=budget
        )
        return observation


@frozen(kw_only=True)
class Session:
    """A session that was found.

    Attributes:
        agent: The agent's room, such as ``claude``.
        source: The source that reads it.
        modified_at: When it was last written to (UTC).
        is_subagent: It is a sub-agent's, which has a window of its own.
        project: The last part of the folder that the agent works in, ``~`` for the home; None: it
            is not stated. A person's own word, so hidden from repr.
        handle: What `Handle.observe` is asked of.
    """

    agent: str
    source: str
    modified_at: datetime
    is_subagent: bool = False
    project: str | None = field(default=None, repr=False)
    handle: Handle = field(repr=False)


@frozen(kw_only=True)
class Looked:
    """One place that was looked at.

    Attributes:
        agent: Whose place it is.
        source: The source that reads what lies there.
        place: The folder by its variable or from the home on, such as ``~/.claude/projects``.
        folder: The folder itself; for watching it, never for showing.
        end: Whether all of it was looked at, and if not, why.
        files: How many files were found in it.
        folders_unreadable: How many folders in it could not be listed.
        links_passed_over: How many links in it were not followed.
    """

    agent: str
    source: str
    place: str
    folder: str = field(repr=False)
    end: ListingEnd
    files: int
    folders_unreadable: int
    links_passed_over: int

    @property
    def lacks_permission(self) -> bool:
        """Whether permissions are in the way of some of it, or of all."""
        return bool(self.folders_unreadable) or self.end is ListingEnd.UNREADABLE


@frozen(kw_only=True)
class Discovery:
    """What was found on a machine.

    Attributes:
        sessions: The sessions, the most recently written first.
        subagents: Sub-agents' own, likewise; only those that share a folder with sessions unless
            they were asked for.
        looked: The places that were looked at.
        left_out: How many older ones a limit left out; sub-agents among them are not told apart.
    """

    sessions: tuple[Session, ...]
    subagents: tuple[Session, ...]
    looked: tuple[Looked, ...]
    left_out: int = 0

    @property
    def is_cut_short(self) -> bool:
        """Whether the budget ended before all was looked at."""
        return any(looked.end is ListingEnd.CUT_SHORT for looked in self.looked)


# -- the verb -------------------------------------------------------------------------------------


def find_sessions(
    machine: Machine | None = None,
    *,
    agents: Collection[str] = AGENTS_ON_DISK,
    since: datetime | None = None,
    id_prefix: str = "",
    limit: int | None = None,
    subagents: bool = False,
    budget: ListingBudget | None = None,
) -> Discovery:
    """Return the sessions of the *agents* on *machine*, the most recently written first.

    Rollouts that a revert superseded are left out. Links below the agents' folders are not
    followed. No file is written, and of each session's file at most 64 KiB are read, unless
    Cursor's IDE lists its chats in one that is longer.

    Args:
        machine: Where to look; None: `this_machine`.
        agents: Whose sessions to look for.
        since: Only sessions that were written to since then (aware).
        id_prefix: Only sessions whose `Handle.id` begins with it; no other file is read from.
        limit: How many sessions to return at most; the others are counted.
        subagents: Look into the folders that hold nothing but sub-agents' files, too.
        budget: How much of each place may be looked at; None: 10,000 folders, 200,000 names.

    Raises:
        TypeError: An argument has the wrong type (the message names it).
        ValueError: An agent is none whose sessions lie on a disk, *limit* is below 1, or *since*
            has no time zone.
    """
    machine = this_machine() if machine is None else machine
    _check(machine, id_prefix, limit, budget)
    oldest = None if since is None else utc_milliseconds(since, "since")
    found: list[_Found] = []
    looked: list[Looked] = []
    for agent in agents:
        where = whereabouts(agent)
        seen = [
            _look(where, place, budget or ListingBudget())
            for place in where.places(machine)
            if subagents or not place.subagents
        ]
        looked += [look for look, _ in seen]
        found += _found(where, [file for _, files in seen for file in files])
    if oldest is not None:
        found = [one for one in found if one.modified_at >= oldest]
    if id_prefix:
        found = [one for one in found if one.handle.id.startswith(id_prefix)]
    found.sort(key=lambda one: one.modified_at, reverse=True)
    remaining = iter(found)
    mains, subs = _told_apart(remaining, machine.home, limit)
    return Discovery(
        sessions=tuple(mains),
        subagents=tuple(subs),
        looked=tuple(looked),
        left_out=sum(1 for _ in remaining),
    )


def _check(machine: object, id_prefix: object, limit: object, budget: object) -> None:
    if not isinstance(machine, Machine):
        raise TypeError("machine: expected a Machine")
    if not isinstance(id_prefix, str):
        raise TypeError("id_prefix: expected a str")
    if budget is not None and not isinstance(budget, ListingBudget):
        raise TypeError("budget: expected a ListingBudget")
    if limit is None:
        return
    if type(limit) is not int:
        raise TypeError("limit: expected an int")
    if limit < 1:
        raise ValueError("limit: expected at least 1 session")


@frozen(kw_only=True)
class _Found:
    """A file or a listed chat, before anything of it was read."""

    where: Whereabouts
    handle: Handle
    modified_at: datetime
    is_subagent: bool
    label: Label | None = None  # where a list has it


_Files: TypeAlias = "list[tuple[Place, FoundFile]]"


def _look(where: Whereabouts, place: Place, budget: ListingBudget) -> tuple[Looked, _Files]:
    listing = list_files(str(place.folder), place.pattern, budget)
    looked = Looked(
        agent=where.agent,
        source=place.source,
        place=place.shown,
        folder=str(place.folder),
        end=listing.end,
        files=len(listing.files),
        folders_unreadable=listing.folders_unreadable,
        links_passed_over=listing.links_passed_over,
    )
    return looked, [(place, file) for file in listing.files]


def _found(where: Whereabouts, files: _Files) -> Iterator[_Found]:
    """Yield what the *files* of one agent are of, without reading any but lists of chats."""
    in_force = set(where.in_force(file.path for _, file in files))
    stores = {source for source in {place.source for place, _ in files} if _is_store(source)}
    databases: dict[str, list[FoundFile]] = {}
    for place, file in files:
        if place.source in where.chats:
            databases.setdefault(place.source, []).append(file)
        elif file.path in in_force:
            yield _of_file(where, place, _dated(file) if place.source in stores else file)
    for source, found in databases.items():
        yield from _listed(where, source, [_dated(file) for file in found])


def _is_store(source: str) -> bool:
    return isinstance(find(source), StoreSource)


def _of_file(where: Whereabouts, place: Place, file: FoundFile) -> _Found:
    agent_id = where.subagent_of(os.path.basename(file.path))  # noqa: PTH119 - for a thousand names
    handle = Handle(source=place.source, path=file.path, key=file.path, agent_id=agent_id)
    return _Found(
        where=where,
        handle=handle,
        modified_at=file.modified_at,
        is_subagent=place.subagents or agent_id is not None,
    )


def _dated(file: FoundFile) -> FoundFile:
    """Return the database *file* with the time of its journal, which is written to first."""
    from .bounded.sqlite import modified_at  # noqa: PLC0415 - only where there is a database

    written_at = modified_at(file.path)
    return file if isinstance(written_at, ReadFault) else evolve(file, modified_at=written_at)


# -- chats of one database ------------------------------------------------------------------------


def _listed(where: Whereabouts, source: str, files: Sequence[FoundFile]) -> Iterator[_Found]:
    """Yield the chats that the most recently written of the database *files* list."""
    newest = sorted(files, key=lambda file: file.modified_at, reverse=True)[:_DATABASES]
    chats: dict[str, tuple[datetime, ListedChat, FoundFile]] = {}
    for file in newest:
        for chat in _chats(where, source, file):
            written_at = chat.updated_at or file.modified_at
            held = chats.get(chat.session_id)
            if held is None or held[0] < written_at:
                chats[chat.session_id] = (written_at, chat, file)
    paths = tuple(file.path for file in files)
    for written_at, chat, file in chats.values():
        handle = Handle(
            source=source,
            path=file.path,
            key=source,
            session_id=chat.session_id,
            databases=paths,
        )
        yield _Found(
            where=where,
            handle=handle,
            modified_at=written_at,
            is_subagent=False,
            label=Label(folder=chat.folder),
        )


def _chats(where: Whereabouts, source: str, file: FoundFile) -> Sequence[ListedChat]:
    """Return the chats that one database lists; none where it cannot be read."""
    from .bounded.sqlite import SqliteReader  # noqa: PLC0415 - only where there is a database

    reader = SqliteReader.open(file.path, _CHAT_LISTS)
    if isinstance(reader, ReadFault):
        return ()
    keys, listed = where.chats[source]
    with reader:
        read = {key: value for key in keys if not isinstance(value := reader.read(key), ReadFault)}
        return listed(KeyValues(reader.modified_at, read))


# -- what it is called ----------------------------------------------------------------------------


def _told_apart(
    found: Iterator[_Found], home: str, limit: int | None
) -> tuple[list[Session], list[Session]]:
    """Return the first *limit* sessions, and the sub-agents' among them; leave the rest."""
    mains: list[Session] = []
    subs: list[Session] = []
    while limit is None or len(mains) < limit:
        one = next(found, None)
        if one is None:
            break
        session = _labelled(one, home)
        (subs if session.is_subagent else mains).append(session)
    return mains, subs


def _labelled(found: _Found, home: str) -> Session:
    label = _label(found)
    return Session(
        agent=found.where.agent,
        source=found.handle.source,
        modified_at=found.modified_at,
        is_subagent=found.is_subagent or label.is_subagent,
        project=None if label.folder is None else _project(label.folder, home),
        handle=found.handle,
    )


def _label(found: _Found) -> Label:
    """Return what the session is called: as its database has it, the file beside it, or its own."""
    where, path = found.where, found.handle.path
    if found.label is not None:
        return found.label
    if where.beside is not None:
        name, label_of_object = where.beside
        payload = read_object(Path(path).with_name(name), _BESIDE)
        return label_of_object(payload.value) if isinstance(payload, Payload) else Label()
    return Label() if where.label is None else _label_of_rows(where.label, path)


def _label_of_rows(label: Callable[[Tail], Label], path: str) -> Label:
    first = beginning(path, _BEGINNING)
    if isinstance(first, ReadFault):
        return Label()
    rows = first[: first.rfind(b"\n") + 1]
    reader = TailReader.open(rows, ReadBudget(initial=_BEGINNING, maximum=_BEGINNING))
    if isinstance(reader, ReadFault):  # it is compressed
        return Label()
    with reader:
        return label(reader.tail)


@lru_cache  # many sessions are of few projects
def _project(folder: str, home: str) -> str | None:
    """Return the last part of *folder* in whichever system's spelling it is."""
    spell = PurePosixPath if folder.startswith("/") else PureWindowsPath
    return "~" if spell(folder) == spell(home) else spell(folder).name or None
