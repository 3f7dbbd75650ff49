"""One question about one file or payload, as several commands ask it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from ..assess import DEFAULT_POLICY, Policy
from ..bounded.budget import ReadBudget, ReadFault
from ..identify import identify
from ..observation import Missing, MissingReason, Observation, Provenance
from ..reading import observe
from ..source import Source, StoreSource
from . import standard_input
from .named import refuse_others
from .quiet import AUTO

if TYPE_CHECKING:
    from ..discover import Handle

__all__ = ["answer", "identified", "unread"]


def answer(
    source: Source | str,
    file: str | Handle,
    *,
    at: datetime,
    policy: Policy = DEFAULT_POLICY,
    max_bytes: int | None = None,
    session_id: str | None,
    **question: Any,
) -> Observation:
    """Return what *source* shows in *file*.

    Args:
        source: The source, or `AUTO` to tell it by its looks.
        file: A path, ``-`` for standard input, or a session on this machine.
        at: The moment of the question.
        policy: What the caller accepts.
        max_bytes: How much may be read; None: as for `observe`.
        session_id: The agent's own id of the session; None with a session on this machine.
        **question: The other parts of the question, as for `observe`.

    Raises:
        click.UsageError: The source cannot be told, standard input cannot be what it reads, or the
            session on this machine is of another source.
    """
    budget = None if max_bytes is None else ReadBudget(maximum=max_bytes)
    if not isinstance(file, str):
        refuse_others(file, source, session_id)
        return file.observe(at=at, policy=policy, budget=budget, **question)
    data = _standard_input(source, max_bytes) if file == "-" else file
    found = identified(data) if isinstance(source, str) else source
    if isinstance(found, ReadFault):
        return unread(found)
    return observe(
        found, data, at=at, policy=policy, budget=budget, session_id=session_id, **question
    )


def _standard_input(source: Source | str, max_bytes: int | None) -> BinaryIO:
    if isinstance(source, StoreSource):  # its journal, beside it, is part of what it holds
        raise click.UsageError("This SOURCE is a database: name its FILE.")
    return standard_input.as_file(max_bytes)


def identified(data: str | BinaryIO) -> Source | ReadFault:
    """Return the source that wrote *data*, or why it cannot be read.

    Raises:
        click.UsageError: The source cannot be told.
    """
    found = identify(data)
    if found is None:
        raise click.UsageError(
            "What FILE holds could be more than one agent's, or is none's that is known. Name its "
            "SOURCE; `ctxmeasure sources` lists them."
        )
    return found


def unread(fault: ReadFault) -> Missing:
    """Return the missing state of a file that could not be read to tell its source."""
    return Missing(
        reason=MissingReason(fault.value), provenance=Provenance(adapter=AUTO, source=AUTO)
    )
