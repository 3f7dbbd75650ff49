"""Where Pi's session files lie: ``sessions/--<cwd>--/<time>_<session id>.jsonl``.

``PI_CODING_AGENT_SESSION_DIR`` (0.71.0) names the sessions' folder itself; files may then lie in it
directly, as they do with ``--session-dir``. 0.30.0 put some into the agent's own folder. The
setting ``sessionDir`` is not looked at (formats/pi_ralph.md §4).
"""

from __future__ import annotations

from ...bounded.fields import text
from ...bounded.jsonl import Tail
from ...whereabouts import Label, Machine, Place, Whereabouts

__all__ = ["WHEREABOUTS"]

_SOURCE = "pi.session"
_SESSION = "*_*.jsonl"
_OWN_FOLDER = "PI_CODING_AGENT_SESSION_DIR"


def _places(machine: Machine) -> tuple[Place, ...]:
    agent = machine.folder("PI_CODING_AGENT_DIR", ".pi/agent")
    usual = (
        agent.place(_SOURCE, "sessions", f"*/{_SESSION}"),
        agent.place(_SOURCE, "", _SESSION),
    )
    if not machine.environment.get(_OWN_FOLDER):
        return usual
    own = machine.folder(_OWN_FOLDER, "")
    return (own.place(_SOURCE, "", _SESSION), own.place(_SOURCE, "", f"*/{_SESSION}"), *usual)


def _label(tail: Tail) -> Label:
    header = tail.first_row()
    return Label(folder=None if header is None else text(header.value, "cwd"))


WHEREABOUTS = Whereabouts(agent="pi", places=_places, label=_label)
