"""What type-checkers see of the sessions on a machine; executed by them only."""

from __future__ import annotations

from datetime import datetime

import ctxmeasure as cm
from ctxmeasure import discover


def a_session_is_asked_by_its_handle(at: datetime) -> list[cm.Observation]:
    found: discover.Discovery = discover.find_sessions(agents=["codex"], limit=5)
    return [session.handle.observe(at=at) for session in found.sessions]


def a_session_is_found_by_its_id(at: datetime) -> list[str]:
    found = discover.find_sessions(id_prefix="3f2a", subagents=True)
    seen = [one.handle.observe(at=at, model="m", phase=cm.Phase.ACTIVE) for one in found.sessions]
    return [one.handle.id for one in found.sessions if seen]


def observations_of_both_kinds_are_sorted(seen: list[cm.Observation]) -> list[cm.Observation]:
    return sorted(seen, key=cm.pressure)


def the_moment_cannot_be_left_out(session: discover.Session) -> cm.Observation:
    return session.handle.observe()  # type: ignore[call-arg]


def an_observation_is_a_text(observation: cm.Observation) -> str:
    return f"{observation:>30}"
