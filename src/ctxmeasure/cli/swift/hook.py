"""``ctxmeasure hook``: take the payload, let the agent go on, and sample in a process of its own.

Whatever happens, the answer is an empty JSON object and the exit status 0. Status 2 would block the
agent's turn, and an empty answer would too: Cursor refuses the tool call, and Codex calls its
``Stop`` hook failed (both read JSON). Claude Code, Codex and Cursor take ``{}`` for no objection.
"""

from __future__ import annotations

import os
import time

from ...ledger import detached
from . import payload

TYPE_CHECKING = False  # typing's own, without importing it
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["answer", "run"]


def run(given: Mapping[str, str]) -> int:
    """Take the payload and sample as the options that are *given* have it; return 0."""
    answer()
    received_at = time.time_ns()
    raw = payload.read()
    if detached.SUPPORTED:
        child = detached.start(lambda: _sample(raw, received_at, given))
        if child is not None and "--wait" in given:
            detached.wait(child)
    return 0


def answer() -> None:
    """Write the agent's answer, which says nothing."""
    try:  # noqa: SIM105 - contextlib costs a quarter of an interpreter
        os.write(1, b"{}\n")
    except OSError:  # the agent has closed its end: it waits for nothing more
        pass


def _sample(raw: bytes, received_at: int, given: Mapping[str, str]) -> None:
    from . import recording  # noqa: PLC0415 - the whole house, in a process nobody waits for

    recording.of_hook(raw, received_at, given)
