"""Claude Code's sources: transcript, live stream, status line, context usage and hooks.

Every source lives in a module of its own that says where its data come from and which decoys look
like the truth. A module is imported when one of its names is asked for: a hook or a status line
runs in a fresh process each time and pays for its one source only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .context_usage import CONTEXT_USAGE as CONTEXT_USAGE
    from .hook import HOOK as HOOK
    from .hook import query_from_hook as query_from_hook
    from .hook import transcript_path as transcript_path
    from .status_line import STATUS_LINE as STATUS_LINE
    from .stream import STREAM as STREAM
    from .transcript import TRANSCRIPT as TRANSCRIPT

__all__ = [
    "CONTEXT_USAGE",
    "HOOK",
    "STATUS_LINE",
    "STREAM",
    "TRANSCRIPT",
    "query_from_hook",
    "transcript_path",
]


def __getattr__(name: str) -> object:
    found: object
    match name:
        case "TRANSCRIPT":
            from .transcript import TRANSCRIPT as found  # noqa: PLC0415 - imported when asked for
        case "STREAM":
            from .stream import STREAM as found  # noqa: PLC0415 - imported when asked for
        case "STATUS_LINE":
            from .status_line import STATUS_LINE as found  # noqa: PLC0415 - imported when asked for
        case "CONTEXT_USAGE":
            from .context_usage import CONTEXT_USAGE as found  # noqa: PLC0415 - see above
        case "HOOK":
            from .hook import HOOK as found  # noqa: PLC0415 - imported when asked for
        case "query_from_hook":
            from .hook import query_from_hook as found  # noqa: PLC0415 - imported when asked for
        case "transcript_path":
            from .hook import transcript_path as found  # noqa: PLC0415 - imported when asked for
        case _:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found  # the next look-up costs nothing
    return found
