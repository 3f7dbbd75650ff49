"""A connection of the Agent Client Protocol to feed messages to, for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from attrs import define

from ctxmeasure.adapters.acp.session import SESSION, AcpState
from ctxmeasure.evidence import Evidence, Gap, Query, TokenPair, UsedPercent, UsedTokens
from ctxmeasure.observation import MissingReason
from ctxmeasure.testing.session import line

__all__ = ["AT", "Feed", "short"]

AT = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)


@define
class Feed:
    """A connection that is fed message by message, as the verb does it.

    Attributes:
        state: What has been shown so far.
        now: When the last message was received; each comes a second after the one before.
    """

    state: AcpState = SESSION.initial
    now: datetime = AT

    def __call__(self, *rows: dict[str, Any]) -> Feed:
        """Take *rows*; return itself."""
        for row in rows:
            self.now += timedelta(seconds=1)
            if SESSION.relevant(line(row)):
                self.state = SESSION.step(self.state, row, Query(at=self.now))
        return self

    def evidence(self, **asked: Any) -> Evidence:
        """Return what the connection shows."""
        return SESSION.evidence(self.state, Query(**{"at": self.now, **asked}))

    def peak(self, **asked: Any) -> Evidence:
        """Return the fullest that it has shown."""
        return SESSION.peak(self.state, Query(**{"at": self.now, **asked}))

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
