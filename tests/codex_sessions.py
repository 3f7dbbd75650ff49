"""Codex's rollouts for tests: the recordings, and a reader.

`read` drives the extraction with a growing window and the file's first row, as `observe` does, and
stops at the evidence.
"""

from __future__ import annotations

import json
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import frozen

from ctxmeasure.adapters.codex.rollout import ROLLOUT
from ctxmeasure.bounded.budget import MIB, ReadBudget
from ctxmeasure.bounded.jsonl import TailReader
from ctxmeasure.evidence import Evidence, Gap, NeedMore, Query, TokenPair, UsedTokens
from ctxmeasure.testing import START

__all__ = [
    "ROLLOUTS",
    "Rollout",
    "Seen",
    "read",
    "shown",
]

Seen = int | str
"""Used tokens, or the reason why there are none."""


def read(content: bytes, *, window: int = MIB, budget: int = 4 * MIB, **asked: Any) -> Evidence:
    """Return the evidence in *content*, reading *window* bytes first and *budget* at most."""
    query = Query(**{"at": START + timedelta(days=1), **asked})
    budgets = ReadBudget(initial=window, maximum=budget)
    reader = TailReader.open(content, budgets, head=ROLLOUT.head)
    assert isinstance(reader, TailReader)
    with reader:
        while isinstance(evidence := ROLLOUT.extract(reader.tail, query), NeedMore):
            if not reader.grow():
                return evidence.settled()
        return evidence


def shown(evidence: Evidence) -> Seen:
    """Return the used tokens, or the reason why there are none."""
    match evidence:
        case Gap(reason=reason):
            return reason.value
        case TokenPair(used_tokens=used) if used is not None:
            return used
        case UsedTokens(limit_missing=reason) if reason is not None:
            return reason.value
    raise AssertionError(evidence)


# -- recordings -------------------------------------------------------------------------------

_RECORDED = Path(__file__).parent / "recordings"


@frozen
class Rollout:
    """A recorded rollout.

    Attributes:
        name: Its scenario, or its file name among those of older versions.
        path: Where it lies.
    """

    name: str
    path: Path

    @cached_property
    def content(self) -> bytes:
        """The file."""
        return self.path.read_bytes()

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Its rows."""
        return [json.loads(line) for line in self.content.splitlines()]

    @cached_property
    def ends(self) -> list[int]:
        """How many bytes the first 0, 1, 2, ... rows take."""
        ends = [0]
        for line in self.content.splitlines(keepends=True):
            ends.append(ends[-1] + len(line))
        return ends

    @cached_property
    def thread_id(self) -> str:
        """The thread's id."""
        return str(self.rows[0].get("payload", self.rows[0])["id"])

    @cached_property
    def turns(self) -> list[str]:
        """The turns that begin in it, a parent's too, in order."""
        payloads = [row.get("payload", {}) for row in self.rows]
        return [p["turn_id"] for p in payloads if p.get("type") == "task_started"]

    @property
    def truth(self) -> dict[str, Any]:
        """What the model server had said, where it is known."""
        folder = self.path.parents[5]
        known: dict[str, Any] = json.loads((folder / "truth.json").read_bytes())
        return known

    def beside(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of another file of the scenario."""
        lines = (self.path.parents[5] / name).read_bytes().splitlines()
        return [json.loads(line) for line in lines]

    def first(self, count: int) -> bytes:
        """Return the first *count* rows."""
        return self.content[: self.ends[count]]


def _scenario(path: Path) -> Rollout:
    name = "/".join(path.relative_to(_RECORDED).parts[:2])
    is_child = b'"thread_source":"subagent"' in path.read_bytes().partition(b"\n")[0]
    return Rollout(f"{name}/sub-agent" if is_child else name, path)


def _recorded() -> list[Rollout]:
    scenarios = [
        _scenario(path)
        for agent in ("codex", "codex-0.120.0")
        for path in sorted((_RECORDED / agent).glob("*/session/**/rollout-*.jsonl"))
    ]
    versions = [
        Rollout(path.stem.removeprefix("rollout_"), path)
        for path in sorted((_RECORDED / "codex-versions").glob("rollout_*.jsonl"))
    ]
    return scenarios + versions


ROLLOUTS = _recorded()
