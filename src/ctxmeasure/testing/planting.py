"""Sentinels: what stands in the place of a session's own words, and is looked for in what is said.

Every text, path and id gets a sentinel of its own, the same one for the same text, and then
everything that can be made to speak is made to (`told`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from datetime import datetime
from typing import Any

from attrs import define, field

from ..observation import Observation
from ..record import (
    compaction_completed,
    compaction_started,
    context_observed,
    dumps,
    runner_event_fields,
)
from ..render import explain, gauge, iteration_line, summary
from ..track import Peaks

__all__ = ["MARK", "Planter", "holds_mark", "sentinel_for", "told"]

MARK = "SENTINEL"
"""What every sentinel holds but those in the place of an id that tells the time."""

# The end of an id in whose place nothing but such an id can stand. Codex tells by the time in its
# ids which turns are older than a thread, and so are a parent's.
_ID_MARK = "5e4714e15e47"
_TIMED_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")

# What Claude Code itself says in the place of a prompt; it is told by how it begins.
_NOTICE = "[Request interrupted"


def sentinel_for(text: str, n: int) -> str:
    """Return the sentinel number *n*, which stands in the place of *text* and is of its kind.

    A path to a rollout is told by its folder and name, and stays one; so does a notice.
    """
    if _TIMED_ID.fullmatch(text):
        return f"{text[:15]}{n % 0x1000:03x}-8000-{_ID_MARK}"
    if text.startswith(_NOTICE):
        return f"{_NOTICE} {MARK} {n:06}]"
    if "/rollout-" in text:
        return f"/home/{MARK}/.codex/sessions/{MARK}/rollout-{n:06}.jsonl"
    return f"/home/{MARK}/{n:06}"


def holds_mark(said: str) -> bool:
    """Tell whether *said* holds a sentinel."""
    return MARK in said or _ID_MARK in said


@define
class Planter:
    """Puts a sentinel of its own in the place of every text: the same one for the same text.

    Attributes:
        kept: Keys whose texts say how a row is to be read, and are kept.
        sentinels: The sentinels by the text in whose place they stand.
    """

    kept: Collection[str]
    sentinels: dict[str, str] = field(factory=dict)

    def plant(self, value: Any, key: str = "") -> Any:
        """Return decoded JSON with a sentinel in the place of every text but the kept ones."""
        match value:
            case str() if value and key not in self.kept:
                return self.sentinel(value)
            case dict():
                return {name: self.plant(inner, name) for name, inner in value.items()}
            case list():
                return [self.plant(inner, key) for inner in value]
        return value

    def sentinel(self, text: str) -> str:
        """Return the sentinel that stands in the place of *text*."""
        return self.sentinels.setdefault(text, sentinel_for(text, len(self.sentinels)))


def told(observation: Observation, *, at: datetime) -> str:
    """Return everything that *observation* can be made to say, of the moment *at* too."""
    said = [repr(observation), str(observation), dumps(observation)]
    said += [summary(observation), gauge(observation)]
    said += [explain(observation), explain(observation, at=at)]
    whose: dict[str, Any] = dict.fromkeys(("session_key", "turn_key", "agent_key"), MARK)
    for event in (
        context_observed(observation, key=b"key", **whose),
        compaction_started(observation, key=b"key", **whose),
        compaction_completed(observation, observation, "unknown", key=b"key", **whose),
    ):
        said.append(json.dumps(event))
    said += [iteration_line(1, None, None, observation)]
    said += [json.dumps(runner_event_fields(observation))]
    said += [json.dumps(Peaks().updated(observation).to_dict())]
    return "\n".join(said)
