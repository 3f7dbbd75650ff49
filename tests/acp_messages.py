"""A connection of the Agent Client Protocol to feed messages to, for tests."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar

from feeding import AT, StreamFeed

from ctxmeasure.adapters.acp.session import SESSION
from ctxmeasure.evidence import Evidence, Gap, TokenPair, UsedPercent, UsedTokens
from ctxmeasure.observation import MissingReason
from ctxmeasure.source import StreamSource

__all__ = ["AT", "Feed", "short"]


class Feed(StreamFeed):
    """A connection; each message comes a second after the last."""

    source: ClassVar[StreamSource[Any]] = SESSION
    pace: ClassVar[timedelta] = timedelta(seconds=1)

    def said(self, **asked: Any) -> Any:
        """Return what is shown, in short."""
        return short(self.evidence(**asked))


def short(seen: Evidence) -> tuple[int, int] | tuple[int, MissingReason | None] | float | str:
    """Return the pair, the count and why it has no limit, the percentage, or the reason."""
    match seen:
        case TokenPair(used_tokens=int(used), limit_tokens=limit):
            return used, limit
        case UsedTokens(used_tokens=int(used), limit_missing=missing):
            return used, missing
        case UsedPercent(used_percent=percent):
            return percent
        case Gap(reason=reason):
            return reason
    raise AssertionError(seen)
