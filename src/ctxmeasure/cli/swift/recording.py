"""What a hook or a status line leaves behind: events, and the state that knows of them.

Runs in a process that nobody waits for, with the whole house. What goes wrong here is noted in
``errors.log`` of the state folder, as a kind of fault and a place in this package: never a message,
which could repeat what a session holds.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from ...bounded.budget import KIB, ReadBudget, ReadFault
from ...bounded.encode import encode_object
from ...bounded.fields import nested, text
from ...bounded.jsonl import TailReader
from ...bounded.payload import read_object
from ...ledger.book import Book, BookFault
from ...ledger.notes import note
from ...observation import Observed
from ...reading import observe
from ...record import opaque
from ...registry import hooks
from ...sampler import Event, Sampler, SamplerState, boundary_of
from . import cursor_stores, judged, moments
from .payload import HELD

__all__ = ["of_hook", "of_status_line"]

_BUDGET = ReadBudget(maximum=HELD)
_RECENT = ReadBudget(maximum=256 * KIB)  # some 400 events


def of_hook(raw: bytes, received_at: int, given: Mapping[str, str]) -> None:
    """Sample for the hook payload *raw*, received at nanoseconds after 1970; never raises."""
    at = moments.of(received_at)
    _noted("hook", given, at, lambda book: _sample(book, raw, at, given))


def of_status_line(raw: bytes, received_at: int, given: Mapping[str, str]) -> None:
    """Record what the status-line payload *raw* measures, if it does; never raises."""
    at = moments.of(received_at)
    _noted("statusline", given, at, lambda book: _record(book, raw, at, given))


def _noted(
    command: str, given: Mapping[str, str], at: datetime, work: Callable[[Book], str | None]
) -> None:
    """Do *work* on the book, and note in its folder why it could not be done."""
    folder = given["--state"]
    try:
        book = Book(folder, given["--out"])
        try:
            fault = work(book)
        finally:
            book.close()
    except BookFault as found:
        fault = str(found)
    except Exception as found:  # noqa: BLE001 - whatever it is, nobody is there to see it raised
        fault = f"{type(found).__name__} at {_place(found)}"
    if fault is not None:
        note(folder, command, fault, at=at)


def _place(found: Exception) -> str:
    """Return the last line of this package that *found* came through."""
    package = Path(__file__).parents[2]
    frames = [
        f"{Path(frame.filename).relative_to(package)}:{frame.lineno}"
        for frame in traceback.extract_tb(found.__traceback__)
        if Path(frame.filename).is_relative_to(package)
    ]
    return frames[-1] if frames else "a place outside"


# -- hooks ----------------------------------------------------------------------------------------


def _sample(book: Book, raw: bytes, at: datetime, given: Mapping[str, str]) -> str | None:
    """Sample at a hook; return why it cannot be done, or None."""
    read = read_object(raw, _BUDGET)
    if isinstance(read, ReadFault):
        return read.value
    payload = read.value
    agent = _agent(payload, given["--agent"])
    session = hooks(agent).session(payload)
    if session is None:
        return "the payload names no session"
    key = book.key()
    stores = cursor_stores.databases(session) if agent == "cursor" else {}
    sampler = Sampler(agent=agent, key=key, databases=stores)
    name = opaque.session_id(agent, session, key)
    with book.session(name, now=at.timestamp()) as path:
        state, attempt = sampler.begin(
            _remembered(path, given["--out"]), boundary_of(payload), payload, now=at
        )
        book.save(path, _written(state))  # before the read: one that hangs counts as an attempt
        if attempt is not None:
            _keep(book, path, *sampler.complete(state, attempt))
    return None


def _agent(payload: Mapping[str, Any], configured: str) -> str:
    """Return whose hook this is: Cursor runs Claude Code's hook commands with its own payloads."""
    return "cursor" if judged.recognises(hooks("cursor").source, payload) else configured


# -- status lines ---------------------------------------------------------------------------------


def _record(book: Book, raw: bytes, at: datetime, given: Mapping[str, str]) -> str | None:
    """Record what a status line measures, if it is new; return why it cannot be done, or None."""
    source = judged.source_of(raw, given.get("--agent"))
    observation = observe(source, raw, at=at, budget=_BUDGET)
    read = read_object(raw, _BUDGET)
    if isinstance(read, ReadFault):
        return read.value
    session = text(read.value, "session_id")
    if session is None or not isinstance(observation, Observed):
        return None  # nothing is measured yet: that is how every session begins
    agent, key = source.origin.adapter, book.key()
    name = opaque.session_id(agent, session, key)
    with book.session(name, now=at.timestamp()) as path:
        changed = Sampler(agent=agent, key=key).publish(
            _remembered(path, given["--out"]),
            observation,
            session_id=session,
            turn_id=text(read.value, "prompt_id"),
            now=at,
        )
        _keep(book, path, *changed)
    return None


# -- what both keep -------------------------------------------------------------------------------


def _keep(book: Book, path: Path, state: SamplerState, events: tuple[Event, ...]) -> None:
    if events:
        lines = "".join(f"{event.line()}\n" for event in events)
        book.publish(lines.encode(), path, _written(state))
    else:
        book.save(path, _written(state))


def _written(state: SamplerState) -> bytes:
    return encode_object(state.to_dict()).encode()


def _remembered(path: Path, out: str) -> SamplerState:
    """Return the state at *path*; where there is none, what the session's last events tell."""
    state = SamplerState.load(path)
    if isinstance(state, SamplerState):
        return state
    return SamplerState().with_published(_published(out, path.stem))


def _published(out: str, session: str) -> list[str]:
    """Return the ids of the samples in the last events of a *session* in *out*, the last one last.

    Args:
        out: The path of the file of events.
        session: What the session is called in them, which is what it is called in the folder.
    """
    reader = TailReader.open(out, _RECENT)
    if isinstance(reader, ReadFault):
        return []
    with reader:
        while reader.grow():
            pass
        events = [row.value for row in reader.tail.rows(session.encode())]
    ids = [
        text(nested(event, "provenance"), "source_record_id")
        for event in reversed(events)
        if text(nested(event, "scope"), "session_id") == session
    ]
    return [named for named in ids if named is not None]
