"""Where Claude Code's session files lie: ``projects/<project>/<session id>.jsonl``.

Sub-agents have files of their own: ``<session id>/subagents/agent-<id>.jsonl``, which may nest, and
in 2.0.x ``agent-<id>.jsonl`` beside the session's. The project's folder name is the working
directory with every other character replaced, so only a row tells it (formats/claude.md §1.1).
"""

from __future__ import annotations

from ...bounded.fields import text
from ...bounded.jsonl import Tail
from ...whereabouts import Label, Machine, Place, Whereabouts

__all__ = ["WHEREABOUTS"]

_SOURCE = "claude.transcript"
_SUBAGENT, _ENDING = "agent-", ".jsonl"


def _places(machine: Machine) -> tuple[Place, ...]:
    folder = machine.folder("CLAUDE_CONFIG_DIR", ".claude")
    return (
        folder.place(_SOURCE, "projects", f"*/*{_ENDING}"),
        folder.place(
            _SOURCE, "projects", f"*/*/subagents/**/{_SUBAGENT}*{_ENDING}", subagents=True
        ),
    )


def _subagent_of(name: str) -> str | None:
    is_subagents = name.startswith(_SUBAGENT) and name.endswith(_ENDING)
    return name[len(_SUBAGENT) : -len(_ENDING)] or None if is_subagents else None


def _label(tail: Tail) -> Label:
    # The rows before the first prompt (queue-operation, mode, ...) state no folder.
    for row in tail.rows(b'"cwd"'):
        folder = text(row.value, "cwd")
        if folder is not None:
            return Label(folder=folder)
    return Label()


WHEREABOUTS = Whereabouts(agent="claude", places=_places, subagent_of=_subagent_of, label=_label)
