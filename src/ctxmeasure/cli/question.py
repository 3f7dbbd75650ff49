"""One question about one file or payload, as several commands ask it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, BinaryIO

import click

from ..assess import DEFAULT_POLICY, Policy
from ..bounded.budget import ReadBudget, ReadFault
from ..identify import identify
from ..observation import Missing, MissingReason, Observation, Provenance
from ..reading import observe
from ..source import Source, StoreSource
from . import standard_input
from .quiet import AUTO

__all__ = ["answer", "identified", "unread"]


def answer(
    source: Source | str,
    file: str,
    *,
    at: datetime,
    policy: Policy = DEFAULT_POLICY,
    max_bytes: int | None = None,
    **question: Any,
) -> Observation:
    """Return what *source* shows in *file*.

    Args:
        source: The source, or `AUTO` to tell it by its looks.
        file: A path, or ``-`` for standard input.
        at: The moment of the question.
        policy: What the caller accepts.
        max_bytes: How much may be read; None: as for `observe`.
        **question: The other parts of the question, as for `observe`.

    Raises:
        click.UsageError: The source cannot be told, or standard input cannot be what it reads.
    """
    data = _standard_input(source, max_bytes) if file == "-" else file
    found = identified(data) if isinstance(source, str) else source
    if isinstance(found, ReadFault):
        return unread(found)
    budget = None if max_bytes is None else ReadBudget(maximum=max_bytes)
    return observe(found, data, at=at, policy=policy, budget=budget, **question)


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
