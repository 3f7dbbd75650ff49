"""Claude Code's sources: transcript, live stream, status line, context usage and hooks.

Every source lives in a module of its own that says where its data come from and which decoys look
like the truth. A module is imported when one of its names is asked for: a hook or a status line
runs in a fresh process each time and pays for its one source only.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own, without importing it
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
    found = _imported(name)
    globals()[name] = found  # the next look-up costs nothing
    return found


def _imported(name: str) -> object:
    match name:
        case "TRANSCRIPT":
            from .transcript import TRANSCRIPT  # noqa: PLC0415 - imported when asked for

            return TRANSCRIPT
        case "STREAM":
            from .stream import STREAM  # noqa: PLC0415 - imported when asked for

            return STREAM
        case "STATUS_LINE":
            from .status_line import STATUS_LINE  # noqa: PLC0415 - imported when asked for

            return STATUS_LINE
        case "CONTEXT_USAGE":
            from .context_usage import CONTEXT_USAGE  # noqa: PLC0415 - imported when asked for

            return CONTEXT_USAGE
        case "HOOK" | "query_from_hook" | "transcript_path":
            from . import hook  # noqa: PLC0415 - imported when asked for

            return getattr(hook, name)
        case _:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
