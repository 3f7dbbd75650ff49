"""The Agent Client Protocol's source: the messages between a client and any agent that speaks it.

The module is imported when its name is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .session import SESSION as SESSION

__all__ = ["SESSION"]


def __getattr__(name: str) -> object:
    if name != "SESSION":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .session import SESSION  # noqa: PLC0415 - imported when asked for

    globals()[name] = SESSION  # the next look-up costs nothing
    return SESSION
