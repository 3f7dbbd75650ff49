"""Pi's session file, played from its beginning: how the context stands at each of its rows.

A row hangs off any row before it, so that how it stood there is kept for every row, without the
row; for the newest of them, in a session of very many. Who goes back further than that finds the
chain truncated, until the next good reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from attrs import define, field

from ...bounded.fields import text
from ...bounded.jsonl import Row
from ...evidence import Gap, Query
from ...observation import MissingReason
from ...source import Mark, Shown
from .conversation import End, Standing, header_gap, is_of_conversation, is_of_list

__all__ = ["Conversation"]

_KEPT_ROWS = 16_384  # 8 MB at most; few sessions have as many rows, and none is left that far

_UNKNOWN = (End.LOST, End.LET_GO)
_MARKS: Mapping[object, Mark] = {"compaction": Mark.COMPACTED, "context_edit": Mark.REWOUND}


@define
class Conversation:
    """Plays a session file (`ctxmeasure.source.Player`).

    Attributes:
        query: What is asked.
        session_id: The session, once its header was seen.
        is_list: The rows follow each other (format 1) and are no tree.
        gap: Why nothing in the file can be measured, or None.
        leaf: The id of the newest row; None before the first, and in a list, whose rows have none.
        standings: How the context stands at each row that is held, by its id.
        has_let_go: Rows are no longer held.
        shown: What the newest row that showed something new has shown.
        mark: What has happened since.
    """

    query: Query
    session_id: str | None = None
    is_list: bool = False
    gap: Gap | None = None
    leaf: str | None = None
    standings: dict[str | None, Standing] = field(factory=dict)
    has_let_go: bool = False
    shown: object = None
    mark: Mark | None = None

    def take(self, row: Row) -> Shown | None:
        """Take the next row into account; return what the file shows now if that may be new."""
        if self.gap is not None:
            return None
        if self.session_id is None:
            return self._begin(row.value)
        if row.value.get("type") == "session" and row.value.get("id") != self.session_id:
            return self._refuse(Gap(reason=MissingReason.SESSION_AMBIGUOUS))
        if is_of_conversation(row.value, is_list=self.is_list):
            return self._new(self._stood(row), row)
        return None

    def _begin(self, header: Mapping[str, Any]) -> Shown | None:
        gap = header_gap(header, self.query)
        if gap is not None:
            return self._refuse(gap)
        self.session_id = text(header, "id")
        self.is_list = is_of_list(header)
        return None

    def _refuse(self, gap: Gap) -> Shown:
        self.gap = gap
        return Shown(sample=gap.reason, evidence=lambda: gap)

    # -- the tree -----------------------------------------------------------------------------

    def _stood(self, row: Row) -> Standing:
        """Return how the context stands at *row*, which becomes the leaf."""
        parent = self.leaf if self.is_list else row.value.get("parentId")
        above = self._above(parent)
        if parent != self.leaf and above.end not in _UNKNOWN:
            self.mark = Mark.REWOUND
        standing = Standing.of(row).on(above)
        self.leaf = text(row.value, "id")
        self._hold(standing)
        return standing

    def _above(self, parent: object) -> Standing:
        """Return how the context stands at a row's *parent*."""
        known = self.standings.get(parent) if parent is None or isinstance(parent, str) else None
        if known is not None:
            return known
        if parent is None:
            return Standing(end=End.ROOT)
        return Standing(end=End.LET_GO if self.has_let_go else End.LOST)

    def _hold(self, standing: Standing) -> None:
        self.standings.pop(self.leaf, None)  # the newest row of an id is the one that is meant
        self.standings[self.leaf] = standing
        if len(self.standings) > _KEPT_ROWS:
            del self.standings[next(iter(self.standings))]
            self.has_let_go = True

    # -- what it shows ------------------------------------------------------------------------

    def _new(self, standing: Standing, row: Row) -> Shown | None:
        """Return what *standing* shows, unless the row before has shown it or nothing yet has."""
        self.mark = _MARKS.get(row.value.get("type")) or self.mark
        if self.shown is None and standing.decided is None:
            self.mark = None
            return None
        sample = _sample(standing)
        if sample == self.shown:
            return None
        self.shown, mark, self.mark = sample, self.mark, None
        evidence = partial(standing.evidence, self.session_id, self.query)
        return Shown(sample=sample, evidence=evidence, mark=mark)


def _sample(standing: Standing) -> object:
    """Return what stays as it is while more is only added."""
    decided = standing.decided
    if decided is None:
        return standing.end, standing.model, standing.is_unreported
    return decided.offset, standing.model, standing.is_edited
