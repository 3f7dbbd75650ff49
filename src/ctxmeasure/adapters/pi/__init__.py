"""Pi's sources: session file, event stream and RPC answers.

Every source lives in a module of its own that says where its data come from and which decoys look
like the truth. A module is imported when its source is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .rpc import RPC as RPC
    from .session import SESSION as SESSION
    from .stream import STREAM as STREAM

__all__ = ["RPC", "SESSION", "STREAM"]


def __getattr__(name: str) -> object:
    found = _imported(name)
    globals()[name] = found  # the next look-up costs nothing
    return found


def _imported(name: str) -> object:
    match name:
        case "STREAM":
            from .stream import STREAM  # noqa: PLC0415 - imported when asked for

            return STREAM
        case "RPC":
            from .rpc import RPC  # noqa: PLC0415 - imported when asked for

            return RPC
        case "SESSION":
            from .session import SESSION  # noqa: PLC0415 - imported when asked for

            return SESSION
        case _:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
