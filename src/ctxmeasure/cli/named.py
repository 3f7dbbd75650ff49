"""A session by its name, wherever a command takes FILE: ``@ID``, ``@AGENT``, or ``@`` alone.

No path is printed, so this is the way from a row of ``ctxmeasure sessions`` to what says more of
it. A file that is really named so is reached as ``./@...``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.shell_completion import CompletionItem

from ..registry import AGENTS_ON_DISK
from ..source import Source
from .output import INTERRUPTED

if TYPE_CHECKING:
    from ..discover import Discovery, Handle

__all__ = ["ID_SHOWN", "file_or_session", "names_completed", "refuse_others"]

ID_SHOWN = 6
"""How many digits of an id people see: among 30 rows two are the same once in 30,000 times."""

_SIGN = "@"
_OFFERED = 30  # sessions, as `ctxmeasure sessions` shows
_ID = re.compile(r"[0-9a-f]+")


def file_or_session(typed: str) -> str | Handle:
    """Return the session that *typed* names, or the path *typed* as it is.

    Raises:
        click.BadParameter: There is no such session, or more than one.
    """
    if not typed.startswith(_SIGN):
        return typed
    name = typed.removeprefix(_SIGN)
    if not name or name in AGENTS_ON_DISK:
        return _newest(name)
    if _ID.fullmatch(name):
        return _of_id(name)
    raise click.BadParameter(
        f"behind @ comes an ID that `ctxmeasure sessions` shows, one of"
        f" {', '.join(AGENTS_ON_DISK)}, or nothing; a file whose name begins with @ is ./@..."
    )


def _found(**wanted: Any) -> Discovery:
    from ..discover import find_sessions  # noqa: PLC0415 - most FILEs are files

    try:
        return find_sessions(**wanted)
    except KeyboardInterrupt:  # click's status would be that of `check` for a context too full
        raise click.exceptions.Exit(INTERRUPTED) from None


def _newest(agent: str) -> Handle:
    found = _found(agents=[agent] if agent else AGENTS_ON_DISK, limit=1).sessions
    if not found:
        raise click.BadParameter("no session was found; `ctxmeasure doctor` says where was looked.")
    return found[0].handle


def _of_id(prefix: str) -> Handle:
    found = _found(id_prefix=prefix, subagents=True)
    match found.sessions + found.subagents:
        case (session,):
            return session.handle
        case ():
            raise click.BadParameter(
                "no session has an ID that begins so; `ctxmeasure sessions --all --subagents` shows"
                " every one. A file whose name begins with @ is ./@..."
            )
        case _:
            raise click.BadParameter(
                "the IDs of several sessions begin so: type more digits;"
                " `ctxmeasure sessions --json` prints all of them."
            )


def names_completed(typed: str) -> list[CompletionItem]:
    """Return what a shell is offered for *typed*: agents, and the ids of the newest sessions."""
    names = [(name, "the newest session") for name in AGENTS_ON_DISK]
    names += [
        (session.handle.id[:ID_SHOWN], f"a session of {session.agent}")
        for session in _found(limit=_OFFERED).sessions
    ]
    offers = [CompletionItem(f"{_SIGN}{name}", help=about) for name, about in names]
    return [offer for offer in offers if offer.value.startswith(typed)]


def refuse_others(session: Handle, source: Source | str, session_id: str | None) -> None:
    """Refuse a source and an agent's own id that were named beside a *session*.

    Raises:
        click.BadParameter: The source is another one than the session's, or there is an id.
    """
    if not isinstance(source, str) and source.id != session.source:
        _refuse("source", "the session that FILE names is of another source; `auto` takes its own.")
    if session_id is not None:
        _refuse("session_id", "leave it out: FILE names the session.")


def _refuse(parameter: str, message: str) -> NoReturn:
    ctx = click.get_current_context()
    (refused,) = (param for param in ctx.command.params if param.name == parameter)
    raise click.BadParameter(message, ctx=ctx, param=refused)
