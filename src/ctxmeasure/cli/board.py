"""What ``ctxmeasure watch`` knows: the sessions it follows, and which of them crossed a line.

A board is told which files were written to and says which sessions have changed. It looks for
sessions anew only when a file is written to that it has not seen, or that holds many sessions, and
when a session without a project has got its first answer: by then its file names the folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from attrs import define, evolve, field

from ..assess import DEFAULT_POLICY, Policy
from ..discover import Discovery, Handle, Session
from ..observation import Missing, MissingReason, Observation
from .overview import Seen, share

__all__ = ["REARMED_BELOW", "Alerts", "Board"]

REARMED_BELOW = 5.0
"""Points below the line to which a share has to fall before it can cross the line again."""

# What says that the context has just been emptied.
_EMPTIED = frozenset({MissingReason.COMPACTED, MissingReason.REWOUND})

_BESIDE = ("-wal", "-shm", "-journal")  # what SQLite writes to before the database
_MOST_PASSED_OVER = 10_000  # files; forgetting them costs one look
_COARSEST = timedelta(seconds=2)  # of the times that file systems keep


@define(eq=False)
class Alerts:
    """Which sessions have crossed a line upwards and not come back.

    A session crosses it once. It can do so again after its share has fallen `REARMED_BELOW` points
    below the line, or after its context was compacted or rewound: a share that swings around the
    line says nothing new.

    Attributes:
        line: The line, in percent.
    """

    line: float
    _over: set[Handle] = field(factory=set, init=False)

    def crossed(self, handle: Handle, observation: Observation) -> bool:
        """Tell whether the session has just crossed the line, and remember it."""
        percent = share(observation)
        if percent is None:
            if isinstance(observation, Missing) and observation.reason in _EMPTIED:
                self._over.discard(handle)
            return False
        if percent < self.line:
            if percent < self.line - REARMED_BELOW:
                self._over.discard(handle)
            return False
        if handle in self._over:
            return False
        self._over.add(handle)
        return True


@define(eq=False)
class Board:
    """The sessions that are followed.

    Attributes:
        found: What was found when it was last looked.
        seen: What was last seen of each session.
    """

    _look: Callable[[datetime], Discovery]
    _wanted: Callable[[Discovery], Iterable[Session]]
    _policy: Policy = DEFAULT_POLICY
    found: Discovery | None = field(default=None, init=False)
    seen: dict[Handle, Seen] = field(factory=dict, init=False)
    _by_path: dict[str, Handle] = field(factory=dict, init=False)
    # What the file said of its time when it was read; nothing where it was written to since.
    _dated: dict[Handle, datetime] = field(factory=dict, init=False)
    _idle: set[Handle] = field(factory=set, init=False)
    _looked_at: datetime | None = field(default=None, init=False)
    _passed_over: set[str] = field(factory=set, init=False)

    def folders(self) -> list[str]:
        """Return the folders in which sessions lie, or would."""
        return [] if self.found is None else [looked.folder for looked in self.found.looked]

    def is_written_to(self, session: Session) -> bool:
        """Whether *session* was written to since the board has been looking."""
        return session.handle not in self._idle

    def look_anew(self, at: datetime) -> list[Seen]:
        """Look for sessions; return those that are new or were written to in between."""
        self.found = self._look(at)
        before, self.seen = self.seen, {}
        changed = []
        for session in self._wanted(self.found):
            handle = session.handle
            known = before.get(handle)
            # Any other time: a clock can be set back, and a file put in place of another.
            is_as_it_was = self._dated.get(handle) == session.modified_at
            if known is not None and is_as_it_was and not _is_due(known):
                self.seen[handle] = Seen(session, known.observation)
                continue
            self.seen[handle] = seen = Seen(session, handle.observe(at=at, policy=self._policy))
            self._note_idle(known, session)
            changed += [] if _says_the_same(known, seen) else [seen]
        self._looked_at = at
        self._dated = {handle: seen.session.modified_at for handle, seen in self.seen.items()}
        self._by_path = {os.path.abspath(h.path): h for h in self.seen if not h.is_listed}  # noqa: PTH100 - a path that is gone, too
        return changed

    def _note_idle(self, known: Seen | None, session: Session) -> None:
        """Note whether *session* is here because others are gone, and nobody writes to it."""
        is_old = self._looked_at is None or session.modified_at < self._looked_at - _COARSEST
        if known is None and is_old:
            self._idle.add(session.handle)
        else:
            self._idle.discard(session.handle)

    def touched(self, paths: Iterable[str], at: datetime) -> list[Seen]:
        """Take note of the files that were written to; return the sessions that changed."""
        files = {_database(os.path.abspath(path)) for path in paths}  # noqa: PTH100 - may be gone
        unknown = files - self._by_path.keys() - self._passed_over
        changed = []
        for path in sorted(files & self._by_path.keys()):
            handle = self._by_path[path]
            known = self.seen[handle]
            self._dated.pop(handle, None)
            self._idle.discard(handle)
            if _was_begun_just_then(known):
                unknown.add(path)
                continue
            session = evolve(known.session, modified_at=max(known.session.modified_at, at))
            self.seen[handle] = seen = Seen(session, handle.observe(at=at, policy=self._policy))
            changed += [] if _says_the_same(known, seen) else [seen]
        if not unknown:
            return changed
        changed += self.look_anew(at)
        shared = {handle.path for handle in self.seen if handle.is_listed}
        if len(self._passed_over) > _MOST_PASSED_OVER:
            self._passed_over.clear()
        self._passed_over |= unknown - self._by_path.keys() - shared
        return [self.seen.get(one.session.handle, one) for one in changed]


def _database(path: str) -> str:
    """Return the database beside which *path* lies, or *path* itself."""
    for suffix in _BESIDE:
        path = path.removesuffix(suffix)
    return path


def _was_begun_just_then(known: Seen) -> bool:
    """Whether the rows that tell what the session is called may not have been written yet."""
    return known.session.project is None and isinstance(known.observation, Missing)


def _is_due(known: Seen) -> bool:
    """Whether what is seen can have changed though its session's time has not."""
    if known.session.handle.is_listed:  # Cursor's count can be newer than the list of chats
        return True
    seen = known.observation
    return isinstance(seen, Missing) and seen.reason is MissingReason.SAMPLE_FROM_FUTURE


def _says_the_same(known: Seen | None, seen: Seen) -> bool:
    """Whether nothing has changed but what the reading cost."""
    if known is None:
        return False
    one, other = known.observation, seen.observation
    return one == evolve(other, provenance=evolve(other.provenance, stats=one.provenance.stats))
