"""Where Codex's rollouts lie: ``sessions/YYYY/MM/DD``, and ``archived_sessions`` since 2025-09.

A sub-agent's rollout lies among the others under a name of the same form; only its first row says
that it is one (formats/codex.md §1.1, §1.8).
"""

from __future__ import annotations

from ...bounded.fields import nested, text
from ...bounded.jsonl import Tail
from ...whereabouts import Label, Machine, Place, Whereabouts
from .rollout_files import rollouts_in_force
from .thread import Thread

__all__ = ["WHEREABOUTS"]

_SOURCE = "codex.rollout"
_ROLLOUT = "rollout-*"  # .jsonl, or .jsonl.zst for a cold one: `rollouts_in_force` knows the names


def _places(machine: Machine) -> tuple[Place, ...]:
    folder = machine.folder("CODEX_HOME", ".codex")
    return (
        folder.place(_SOURCE, "sessions", f"*/*/*/{_ROLLOUT}"),
        folder.place(_SOURCE, "archived_sessions", _ROLLOUT),
    )


def _label(tail: Tail) -> Label:
    first = tail.first_row()
    if first is None:
        return Label()
    meta = nested(first.value, "payload")
    source = nested(meta, "source")  # {"subagent": "review"} and others state no parent
    is_spawned = Thread.begun_by(first.value).parent_id is not None or "subagent" in source
    return Label(folder=text(meta, "cwd"), is_subagent=is_spawned)


WHEREABOUTS = Whereabouts(agent="codex", places=_places, in_force=rollouts_in_force, label=_label)
