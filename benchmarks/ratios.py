"""Measures candidates against a yardstick within one run: only ratios are left of a machine.

Candidates take turns in random order, because each leaves the caches warm or cold for the next, and
the least time of many rounds counts: whatever else the machine does can only add to it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

__all__ = ["Ratio", "least_times"]


@frozen
class Ratio:
    """A cost relative to a yardstick; lower is better.

    Attributes:
        name: What was done, and the yardstick.
        value: The ratio.
        bar: What it must not exceed, or None.
    """

    name: str
    value: float
    bar: float | None = None

    @property
    def is_met(self) -> bool:
        """Whether it keeps its bar."""
        return self.bar is None or self.value <= self.bar


def least_times(candidates: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the least seconds that each of the *candidates* took in *rounds* rounds."""
    for candidate in candidates.values():  # imports, tables and the page cache
        candidate()
    taken = dict.fromkeys(candidates, float("inf"))
    for _ in range(rounds):
        for name in random.sample(list(candidates), len(candidates)):
            start = time.perf_counter()
            candidates[name]()
            taken[name] = min(taken[name], time.perf_counter() - start)
    return taken
