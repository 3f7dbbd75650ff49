"""Pi's session files and event lines for tests: the recordings, a reader, a stream to feed."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from attrs import define, frozen
from feeding import StreamFeed

from ctxmeasure.adapters.pi.session import SESSION
from ctxmeasure.adapters.pi.stream import STREAM
from ctxmeasure.bounded.budget import MIB, ReadBudget
from ctxmeasure.bounded.jsonl import TailReader
from ctxmeasure.evidence import Evidence, Gap, NeedMore, Query, UsedTokens
from ctxmeasure.source import StreamSource
from ctxmeasure.testing import START

__all__ = ["AT", "ROOT", "RUNS", "VERSION_SESSIONS", "Feed", "Run", "Seen", "read", "shown"]

ROOT = Path(__file__).parent / "recordings"
AT = START + timedelta(hours=2)
"""After all that is written and recorded."""

Seen = int | str
"""Used tokens, or the reason why there are none; a trailing ``+`` says that more was added."""


def read(content: bytes, *, window: int = MIB, budget: int = 4 * MIB, **asked: Any) -> Evidence:
    """Return the evidence in *content*, reading *window* bytes first and *budget* at most."""
    query = Query(**{"at": AT, **asked})
    budgets = ReadBudget(initial=window, maximum=budget)
    reader = TailReader.open(content, budgets, head=SESSION.head)
    assert isinstance(reader, TailReader)
    with reader:
        while isinstance(evidence := SESSION.extract(reader.tail, query), NeedMore):
            if not reader.grow():
                return evidence.settled()
        return evidence


def shown(evidence: Evidence) -> Seen:
    """Return the used tokens, with a ``+`` where more was added, or the reason."""
    match evidence:
        case Gap(reason=reason):
            return reason.value
        case UsedTokens(used_tokens=int(used), lower_bound=lower_bound):
            return f"{used}+" if lower_bound else used
    raise AssertionError(evidence)


@define
class Feed(StreamFeed):
    """A stream of Pi's events."""

    source: ClassVar[StreamSource[Any]] = STREAM

    now: datetime = AT

    def shows(self, **asked: Any) -> Seen:
        """Return what the stream shows, in short."""
        return shown(self.evidence(**asked))


# -- recordings ---------------------------------------------------------------------------------


@frozen
class Run:
    """A recorded run of Pi against a server that knew every count.

    Attributes:
        folder: Where it lies.
    """

    folder: Path

    @property
    def name(self) -> str:
        """Such as ``pi/b-tools``."""
        return self.folder.relative_to(ROOT).as_posix()

    @property
    def session(self) -> Path:
        """The session's file."""
        (path,) = (self.folder / "session").iterdir()
        return path

    @cached_property
    def rows(self) -> list[bytes]:
        """The lines of the session's file, with their ends."""
        return self.session.read_bytes().splitlines(keepends=True)

    @property
    def streams(self) -> list[Path]:
        """What each process printed, in order; none on the terminal."""
        return sorted([*self.folder.glob("stream*.jsonl"), *self.folder.glob("rpc.jsonl")])

    @property
    def lines(self) -> list[bytes]:
        """The lines that were printed, one process after the other."""
        return [line for path in self.streams for line in path.read_bytes().split(b"\n") if line]

    @cached_property
    def truth(self) -> dict[str, Any]:
        """What the server and Pi itself said."""
        return dict(json.loads((self.folder / "truth.json").read_bytes()))

    @cached_property
    def own(self) -> list[dict[str, Any]]:
        """What Pi's own meter said at each of its events."""
        lines = (self.folder / "own-context-usage.jsonl").read_bytes().splitlines()
        return [json.loads(line) for line in lines]


RUNS = [
    Run(truth.parent) for truth in sorted(ROOT.glob("pi*/*/truth.json")) if "pi" in truth.parts[-3]
]
VERSION_SESSIONS = sorted((ROOT / "pi-versions").glob("session*.jsonl"))
