"""The status line's text as the judge has it, for payloads that a glance does not settle."""

from __future__ import annotations

from datetime import datetime

from ...adapters.claude.status_line import STATUS_LINE as CLAUDE
from ...adapters.cursor.status_line import STATUS_LINE as CURSOR
from ...adapters.cursor.status_line import is_status_line as is_cursors
from ...bounded.budget import MIB, ReadBudget, ReadFault
from ...bounded.payload import read_object
from ...observation import Missing, Observation
from ...reading import observe
from ...render import gauge, summary
from ...source import PayloadSource
from .forms import WIDTH, lay_out

__all__ = ["source_of", "text", "text_of"]

_BUDGET = ReadBudget(maximum=4 * MIB)  # as for any payload


def source_of(raw: bytes, agent: str | None) -> PayloadSource:
    """Return the source for the payload *raw*.

    Where *agent* is None it is Cursor's if that is clear, else Claude Code's, which refuses what is
    another agent's.
    """
    if agent is not None:
        return CURSOR if agent == "cursor" else CLAUDE
    payload = read_object(raw, _BUDGET)
    return CURSOR if not isinstance(payload, ReadFault) and is_cursors(payload.value) else CLAUDE


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
