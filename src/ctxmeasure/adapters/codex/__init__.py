"""Codex's sources: rollout, app-server, ``exec --json`` and hooks.

Every source lives in a module of its own that says where its data come from and which decoys look
like the truth. A module is imported when one of its names is asked for: a hook runs in a fresh
process each time and pays for its one source only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .rollout import ROLLOUT as ROLLOUT

__all__ = ["ROLLOUT"]


def __getattr__(name: str) -> object:
    found = _imported(name)
    globals()[name] = found  # the next look-up costs nothing
    return found


def _imported(name: str) -> object:
    match name:
        case "ROLLOUT":
            from .rollout import ROLLOUT  # noqa: PLC0415 - imported when asked for

            return ROLLOUT
        case _:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
