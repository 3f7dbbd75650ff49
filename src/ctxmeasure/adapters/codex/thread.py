"""Whose rollout is this? What the first ``session_meta`` row of a file states, and what follows.

Only the first one is the file's identity: forks and sub-agents up to 0.145 copy the parent's rows
behind it, its ``session_meta`` and ``token_count`` rows among them, with new timestamps and old
turn ids. Since 0.150 a fork refers to its parent's file (``history_base``) and a sub-agent marks
where its own rows begin (``subagent_history_start_ordinal``) (formats/codex.md §1.8).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from string import hexdigits
from typing import Any

from attrs import field, frozen

from ...bounded.fields import is_count, nested, text

__all__ = ["Thread"]

_LONGEST_ID = 36


@frozen(kw_only=True)
class Thread:
    """The thread that a rollout file is of.

    Attributes:
        id: The thread's id; None where the file's first row is not known or names none.
        session_id: The id that all threads of one tree share: the root's. The thread's own in
            versions that have no other.
        parent_id: The thread that it was spawned by, or None.
        version: The version of the Codex that began the file, as stated, or None.
        is_offspring: It began with another thread's history, or with an earlier state of its own:
            a fork, a sub-agent, a revert.
        is_reverted: It goes on from an earlier state of the same thread (0.171 ``thread/revert``
            begins a second file).
        first_own_ordinal: Rows of a lower ordinal are copies of the parent's.
        predates_usage: The file is of a Codex that wrote no usage at all (0.20).
    """

    id: str | None = field(default=None, repr=False)
    session_id: str | None = field(default=None, repr=False)
    parent_id: str | None = field(default=None, repr=False)
    version: str | None = None
    is_offspring: bool = False
    is_reverted: bool = False
    first_own_ordinal: int = 0
    predates_usage: bool = False

    @classmethod
    def begun_by(cls, row: Mapping[str, Any] | None) -> Thread:
        """Return the thread of the file that *row* is the first of; None: it was not read."""
        if row is None:
            return cls()
        if row.get("type") != "session_meta":
            bare = "instructions" in row and text(row, "id") is not None
            return cls(id=text(row, "id"), predates_usage=True) if bare else cls()
        meta = nested(row, "payload")
        thread_id = text(meta, "id")
        base = text(nested(meta, "history_base"), "thread_id")
        spawned = nested(nested(nested(meta, "source"), "subagent"), "thread_spawn")
        parent_id = text(meta, "parent_thread_id") or text(spawned, "parent_thread_id")
        start = meta.get("subagent_history_start_ordinal")
        return cls(
            id=thread_id,
            session_id=text(meta, "session_id") or thread_id,
            parent_id=parent_id,
            version=text(meta, "cli_version"),
            is_offspring=any((base, parent_id, text(meta, "forked_from_id"))),
            is_reverted=base is not None and base == thread_id,
            first_own_ordinal=start if is_count(start) else 0,
        )

    def is_asked_for(self, session_id: str | None, agent_id: str | None) -> bool:
        """Tell whether this is the thread that a question names.

        A sub-agent's thread id is its agent id, and its hooks name the root's session
        (observed_runs.md).
        """
        if agent_id is None:
            return session_id in (None, self.id)
        if agent_id != self.id:
            return False
        return session_id in (None, self.id, self.session_id, self.parent_id)

    def owns(self, turn_id: str | None) -> bool | None:
        """Tell whether a turn is this thread's own, or None where the ids do not say.

        Ids are UUIDv7 since 0.44 (threads) and 0.104 (turns): a turn that is older than the thread
        was copied from its parent. That held in every recording.
        """
        own, turn = _made_at(self.id), _made_at(turn_id)
        return None if own is None or turn is None else turn >= own

    def is_older_than(self, thread_id: str) -> bool:
        """Tell whether the thread *thread_id* came later, so that it is no ancestor of this one."""
        own, other = _made_at(self.id), _made_at(thread_id)
        return own is not None and other is not None and own < other


def _made_at(native_id: str | None) -> int | None:
    """Return when a UUIDv7 was made, in milliseconds since 1970, or None for any other id."""
    return _time_in(native_id) if native_id and len(native_id) <= _LONGEST_ID else None


@lru_cache(maxsize=64)  # every row of a turn names it
def _time_in(native_id: str) -> int | None:
    digits = native_id.replace("-", "")
    if len(digits) != 32 or digits[12] != "7" or not set(digits) <= set(hexdigits):
        return None
    return int(digits[:12], 16)
