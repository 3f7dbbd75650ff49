"""What a ``result`` frame of the stream says of its run: its turns, and an estimate of its cost.

Decoy: of a resumed session ``total_cost_usd`` goes on from where the session stood (2.1.332: 0.0635
after a first run of 0.0567; in 2.0.76 it did not). What the run itself cost is the sum of
``model_usage_since_last_result`` then, where the frame has it (2.1.332; not in 2.0.76).
``num_turns`` is the run's own in a resumed session too (seen in the same recordings).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...bounded.fields import is_amount, is_count
from ...source import Tally

__all__ = ["tally"]

_NOTHING = Tally()


def tally(so_far: Tally, frame: Mapping[str, Any]) -> Tally:
    """Return what the stream's *frame* makes of the tally *so_far*.

    A session that is fed over standard input has a result for each of its turns. Whether the counts
    of the later ones go on from the earlier is not known, so turns are told of the first alone.
    """
    if frame.get("type") != "result" or frame.get("parent_tool_use_id") is not None:
        return so_far
    turns, total = frame.get("num_turns"), frame.get("total_cost_usd")
    since = _cost_since_last_result(frame)
    if since is not None:
        cost: float | None = since + (so_far.cost_usd or 0)
    else:
        cost = total if is_amount(total) else so_far.cost_usd
    is_first = so_far == _NOTHING
    return Tally(
        turns=turns if is_first and is_count(turns) else None,
        cost_usd=cost if is_amount(cost) else None,
    )


def _cost_since_last_result(frame: Mapping[str, Any]) -> float | None:
    """Return what the models cost since the last result, or None unless all of it is stated."""
    models = frame.get("model_usage_since_last_result")
    if not isinstance(models, Mapping):
        return None
    costs = [used.get("costUSD") if isinstance(used, Mapping) else None for used in models.values()]
    stated = [cost for cost in costs if is_amount(cost)]
    return sum(stated) if len(stated) == len(costs) else None
