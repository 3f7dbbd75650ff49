"""Cursor's sources: hooks, status line, and the databases of its chats.

Every source lives in a module of its own that says where its data come from and which decoys look
like the truth. A module is imported when one of its names is asked for: a hook or a status line
runs in a fresh process each time and pays for its one source only.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own, without importing it
if TYPE_CHECKING:
    from .chat_store import CHAT_STORE as CHAT_STORE
    from .composer import COMPOSER as COMPOSER
    from .hook import HOOK as HOOK
    from .hook import query_from_hook as query_from_hook
    from .status_line import STATUS_LINE as STATUS_LINE

__all__ = [
    "CHAT_STORE",
    "COMPOSER",
    "HOOK",
    "STATUS_LINE",
    "query_from_hook",
]


def __getattr__(name: str) -> object:
    found = _imported(name)
    globals()[name] = found  # the next look-up costs nothing
    return found


def _imported(name: str) -> object:
    match name:
        case "HOOK" | "query_from_hook":
            from . import hook  # noqa: PLC0415 - imported when asked for

            return getattr(hook, name)
        case "STATUS_LINE":
            from .status_line import STATUS_LINE  # noqa: PLC0415 - imported when asked for

            return STATUS_LINE
        case "CHAT_STORE":
            from .chat_store import CHAT_STORE  # noqa: PLC0415 - imported when asked for

            return CHAT_STORE
        case "COMPOSER":
            from .composer import COMPOSER  # noqa: PLC0415 - imported when asked for

            return COMPOSER
        case _:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
