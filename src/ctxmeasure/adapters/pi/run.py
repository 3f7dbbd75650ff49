"""What the ``turn_end`` events of a run say of it: how many turns it had, and what they cost.

A turn is one reply with its tools, and its cost is that reply's own, by Pi's price table. A cost of
0 is what Pi writes for a model that it has no price of, so it says nothing. Left out is what is no
turn: compactions and their cost. Decoy: ``agent_end`` repeats all replies of the run
(formats/pi_ralph.md §2; a model without a price: seen in 1.6.0).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...bounded.fields import is_amount, nested
from ...source import Tally

__all__ = ["tally"]


def tally(so_far: Tally, event: Mapping[str, Any]) -> Tally:
    """Return what one more *event* makes of the tally *so_far*; a turn may state no cost."""
    if event.get("type") != "turn_end":
        return so_far
    stated = nested(nested(nested(event, "message"), "usage"), "cost").get("total")
    cost = so_far.cost_usd
    if is_amount(stated) and stated > 0:
        cost = stated + (cost or 0)
    return Tally(turns=1 + (so_far.turns or 0), cost_usd=cost if is_amount(cost) else None)
