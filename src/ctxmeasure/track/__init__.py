"""What is remembered from one observation to the next: immutable values with step functions.

How full the context is and has been (`Peaks`), when to look again (`Cadence`), what has been said
already (`WitnessLog`), and what is not on disk yet (`Pending`). No clock and no sleep here: time
comes in as an argument. A module is imported when one of its names is asked for. May import
`record` and what lies below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cadence import Cadence as Cadence
    from .peaks import Highest as Highest
    from .peaks import Peaks as Peaks
    from .pending import End as End
    from .pending import Ended as Ended
    from .pending import Pending as Pending
    from .pending import Target as Target
    from .pending import Tried as Tried
    from .witness_log import WitnessLog as WitnessLog

__all__ = [
    "Cadence",
    "End",
    "Ended",
    "Highest",
    "Peaks",
    "Pending",
    "Target",
    "Tried",
    "WitnessLog",
]


def __getattr__(name: str) -> object:
    found = _imported(name)
    globals()[name] = found  # the next look-up costs nothing
    return found


def _imported(name: str) -> object:
    match name:
        case "Cadence":
            from .cadence import Cadence  # noqa: PLC0415 - imported when asked for

            return Cadence
        case "Highest" | "Peaks":
            from . import peaks  # noqa: PLC0415 - imported when asked for

            return getattr(peaks, name)
        case "End" | "Ended" | "Pending" | "Target" | "Tried":
            from . import pending  # noqa: PLC0415 - imported when asked for

            return getattr(pending, name)
        case "WitnessLog":
            from .witness_log import WitnessLog  # noqa: PLC0415 - imported when asked for

            return WitnessLog
        case _:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
