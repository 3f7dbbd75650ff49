"""A stream to feed row by row, in tests of a source's reducer."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Self

from attrs import Factory, define

from ctxmeasure.evidence import Evidence, Gap, Query, TokenPair
from ctxmeasure.observation import MissingReason
from ctxmeasure.source import StreamSource

__all__ = ["AT", "StreamFeed"]

AT = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)


def _initial(feed: StreamFeed) -> Any:
    return feed.source.initial


@define
class StreamFeed:
    """A stream that is fed row by row, as the verb does it; a source's own feed derives from it.

    Attributes:
        source: The source under test.
        pace: How much later than the row before each row comes.
        state: What has been shown so far.
        now: When the last row was received, and the moment that is asked about.
    """

    source: ClassVar[StreamSource[Any]]
    pace: ClassVar[timedelta] = timedelta(0)

    state: Any = Factory(_initial, takes_self=True)
    now: datetime = AT

    def __call__(self, *rows: dict[str, Any], at: datetime | None = None) -> Self:
        """Take *rows*, received at *at* if that is given; return itself."""
        for row in rows:
            self.take(json.dumps(row).encode(), at=at)
        return self

    def take(self, line: bytes, *, at: datetime | None = None) -> None:
        """Take one line, received at *at* if that is given."""
        self.now += self.pace
        if self.source.relevant(line):
            self.state = self.source.step(self.state, json.loads(line), Query(at=at or self.now))

    def evidence(self, **asked: Any) -> Evidence:
        """Return what the stream shows."""
        return self.source.evidence(self.state, Query(**{"at": self.now, **asked}))

    def peak(self, **asked: Any) -> Evidence:
        """Return the fullest that it has shown."""
        return self.source.peak(self.state, Query(**{"at": self.now, **asked}))

    def reason(self, **asked: Any) -> MissingReason | None:
        """Return why nothing is measured, None if something is."""
        seen = self.evidence(**asked)
        return seen.reason if isinstance(seen, Gap) else None

    def limit(self, **asked: Any) -> int | None:
        """Return the limit, None where there is none."""
        seen = self.evidence(**asked)
        return seen.limit_tokens if isinstance(seen, TokenPair) else None
