"""Codex's sources: rollout, app-server, ``exec --json`` and hooks.

Every source lives in a module of its own that says where its data come from and which decoys look
like the truth. A module is imported when one of its names is asked for: a hook runs in a fresh
process each time and pays for its one source only.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own, without importing it
if TYPE_CHECKING:
    from .app_server import APP_SERVER as APP_SERVER
    from .exec import EXEC as EXEC
    from .exec import query_from_exec as query_from_exec
    from .hook import HOOK as HOOK
    from .hook import query_from_hook as query_from_hook
    from .hook import transcript_path as transcript_path
    from .rollout import ROLLOUT as ROLLOUT
    from .rollout_files import rollouts_in_force as rollouts_in_force
    from .rollout_files import thread_of_rollout as thread_of_rollout

__all__ = [
    "APP_SERVER",
    "EXEC",
    "HOOK",
    "ROLLOUT",
    "query_from_exec",
    "query_from_hook",
    "rollouts_in_force",
    "thread_of_rollout",
    "transcript_path",
]


def __getattr__(name: str) -> object:
    found = _imported(name)
    globals()[name] = found  # the next look-up costs nothing
    return found


def _imported(name: str) -> object:
    match name:
        case "ROLLOUT":
            from .rollout import ROLLOUT  # noqa: PLC0415 - imported when asked for

            return ROLLOUT
        case "APP_SERVER":
            from .app_server import APP_SERVER  # noqa: PLC0415 - imported when asked for

            return APP_SERVER
        case "EXEC" | "query_from_exec":
            from . import exec as exec_  # noqa: PLC0415 - imported when asked for

            return getattr(exec_, name)
        case "HOOK" | "query_from_hook" | "transcript_path":
            from . import hook  # noqa: PLC0415 - imported when asked for

            return getattr(hook, name)
        case "rollouts_in_force" | "thread_of_rollout":
            from . import rollout_files  # noqa: PLC0415 - imported when asked for

            return getattr(rollout_files, name)
        case _:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
