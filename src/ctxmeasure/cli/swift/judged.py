"""The status line's text as the judge has it, for payloads that a glance does not settle."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ...bounded.budget import MIB, ReadBudget, ReadFault
from ...bounded.payload import read_object
from ...observation import Missing, Observation
from ...reading import observe
from ...registry import find
from ...render import gauge, summary
from ...source import Source
from .forms import WIDTH, lay_out

__all__ = ["recognises", "source_of", "text", "text_of"]

_BUDGET = ReadBudget(maximum=4 * MIB)  # as for any payload


def source_of(raw: bytes, agent: str | None) -> Source:
    """Return the source for the payload *raw*.

    Where *agent* is None it is Cursor's if that is clear, else Claude Code's, which refuses what is
    another agent's.
    """
    if agent is None:
        cursors, payload = find("cursor.status_line"), read_object(raw, _BUDGET)
        if not isinstance(payload, ReadFault) and recognises(cursors, payload.value):
            return cursors
    return find(f"{agent or 'claude'}.status_line")


def recognises(source: Source, payload: Mapping[str, Any]) -> bool:
    """Tell whether *payload* is the source's beyond doubt."""
    return source.recognise is not None and source.recognise(payload)


def text(raw: bytes, agent: str | None, form: str, *, at: datetime) -> str:
    """Return the text of the status line for the payload *raw*, received *at* a moment."""
    return text_of(observe(source_of(raw, agent), raw, at=at, budget=_BUDGET), form)


def text_of(observation: Observation, form: str) -> str:
    """Return *observation* in a *form*; one that is missing tells its reason.

    An empty line would look like a broken command, and a bar without a cell like an empty context.
    """
    words = summary(observation)
    if isinstance(observation, Missing) and not words:
        words = f"Context: {observation.reason.value.replace('_', ' ')}"
    return lay_out(form, gauge(observation, WIDTH), words)
