"""What ``ctxmeasure watch`` knows: the sessions it follows, and which of them crossed a line.

A board is told which files were written to and says which sessions have changed. It looks for
sessions anew only when a file is written to that it has not seen, or that holds many sessions, and
when a session without a project has got its first answer: by then its file names the folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from attrs import define, evolve, field

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
    found: Discovery | None = field(default=None, init=False)
    seen: dict[Handle, Seen] = field(factory=dict, init=False)
    _by_path: dict[str, Handle] = field(factory=dict, init=False)
    _passed_over: set[str] = field(factory=set, init=False)

    def folders(self) -> list[str]:
        """Return the folders in which sessions lie, or would."""
        return [] if self.found is None else [looked.folder for looked in self.found.looked]

    def look_anew(self, at: datetime) -> list[Seen]:
        """Look for sessions; return those that are new or were written to in between."""
        self.found = self._look(at)
        before, self.seen = self.seen, {}
        changed = []
        for session in self._wanted(self.found):
            handle = session.handle
            known = before.get(handle)
            if known is not None and known.session.modified_at >= session.modified_at:
                told = evolve(session, modified_at=known.session.modified_at)
                self.seen[handle] = evolve(known, session=told)
            else:
                self.seen[handle] = seen = Seen(session, handle.observe(at=at))
                changed += [] if _says_the_same(known, seen) else [seen]
        self._by_path = {h.path: h for h in self.seen if not h.is_listed}
        return changed

    def touched(self, paths: Iterable[str], at: datetime) -> list[Seen]:
        """Take note of the files that were written to; return the sessions that changed."""
        files = {_database(path) for path in paths}
        changed = []
        is_answered = False
        for path in sorted(files & self._by_path.keys()):
            handle = self._by_path[path]
            known = self.seen[handle]
            session = evolve(known.session, modified_at=max(known.session.modified_at, at))
            self.seen[handle] = seen = Seen(session, handle.observe(at=at))
            changed += [] if _says_the_same(known, seen) else [seen]
            is_answered |= session.project is None and _has_first_answer(known, seen)
        unknown = files - self._by_path.keys() - self._passed_over
        if not unknown and not is_answered:
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


def _has_first_answer(known: Seen, seen: Seen) -> bool:
    """Whether a model has answered for the first time, as far as is seen."""
    before, after = known.observation.provenance.model, seen.observation.provenance.model
    return before is None and after is not None


def _says_the_same(known: Seen | None, seen: Seen) -> bool:
    """Whether nothing has changed but what the reading cost."""
    if known is None:
        return False
    one, other = known.observation, seen.observation
    return one == evolve(other, provenance=evolve(other.provenance, stats=one.provenance.stats))
