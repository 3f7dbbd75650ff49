"""Values that follow a context from observation to observation: each step gives a new value.

`Peaks` keeps how full it is and how full it has been. A module is imported when one of its names
is asked for. May import `record` and what lies below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .peaks import Highest as Highest
    from .peaks import Peaks as Peaks

__all__ = ["Highest", "Peaks"]


def __getattr__(name: str) -> object:
    found = _imported(name)
    globals()[name] = found  # the next look-up costs nothing
    return found


def _imported(name: str) -> object:
    match name:
        case "Highest" | "Peaks":
            from . import peaks  # noqa: PLC0415 - imported when asked for

            return getattr(peaks, name)
        case _:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
