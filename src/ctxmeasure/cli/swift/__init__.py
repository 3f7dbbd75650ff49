"""The commands that agents run: ``hook`` and ``statusline``, each time in a new process.

An agent waits for them, so until it has its answer nothing is imported that costs more than `json`:
not the types, not click. `run` takes what is clearly called as it should be; help and mistakes are
left to the command line proper.
"""

from __future__ import annotations

import os

from .options import HOOK, STATUS_LINE, parse

TYPE_CHECKING = False  # typing's own, without importing it
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["COMMANDS", "answer_anyway", "run"]

COMMANDS = frozenset({"hook", "statusline"})
"""The commands of this room."""


def run(command: str, arguments: Sequence[str]) -> int | None:
    """Run *command* with its *arguments*.

    Returns:
        The exit status; None when the command line proper is needed, and nothing was done: for
        these arguments, or because a person typed the command and no agent hands a payload over.
    """
    given = parse(arguments, HOOK if command == "hook" else STATUS_LINE)
    if given is None or ("--wrap" not in given and os.isatty(0)):
        return None
    if command == "hook":
        from . import hook  # noqa: PLC0415 - one of the two is run

        return hook.run(given)
    from . import statusline  # noqa: PLC0415 - one of the two is run

    return statusline.run(given)


def answer_anyway(command: str, arguments: Sequence[str]) -> None:
    """Give the agent what it waits for although *command* was called wrongly."""
    if command == "hook":
        from . import hook  # noqa: PLC0415 - one of the two is run

        hook.answer()
    else:
        from . import statusline  # noqa: PLC0415 - one of the two is run

        statusline.hand_over_anyway(arguments)
