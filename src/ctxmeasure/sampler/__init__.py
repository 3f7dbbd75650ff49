"""From an agent's hook to the events of a ledger: when to look, what to say, and only once.

`Sampler` is a pure composition of `observe` with the values of `track`: state and payload in, state
and events out. It reads what the agent left behind, and nothing else: no clock, no sleep, no file
of its own. Stands above `newest`; may import all rooms but `cli` and `testing`.
"""

from __future__ import annotations

from .boundary import Boundary, boundary_of
from .sampling import Attempt, Event, Sampler
from .state import OpenTurn, SamplerState

__all__ = [
    "Attempt",
    "Boundary",
    "Event",
    "OpenTurn",
    "Sampler",
    "SamplerState",
    "boundary_of",
]
