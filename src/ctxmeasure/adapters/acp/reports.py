"""What one message of an agent reports of its context: a pair, a share, or why there is none.

A ``usage_update`` states ``used`` and ``size``, both required and whole; ``cost`` beside them is
ignored whatever it is. Agents that do not know send 0 or null, against the protocol: the bridge to
Claude Code a use of 0 after a compaction, others a size of 0 before they know the model. OpenClaw's
bridge marks its counts as approximate in ``_meta``. Kiro states a percentage instead, in a message
of its own, 0..100 and never a share of one: 0.0285 was 57 tokens of 200,000 (2.3.0). Knows no
session and no order.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeAlias

from attrs import frozen

from ...bounded.fields import is_count, is_limit, nested
from ...evidence import Gap
from ...observation import MissingReason, Partial

__all__ = ["Reading", "Report", "Share", "metadata_report", "usage_report"]


@frozen(kw_only=True)
class Reading:
    """A use that an agent states.

    Attributes:
        used_tokens: Tokens in the context, at least 1.
        size: The window in tokens, or what is wrong with it.
        measured_at: When it was received; aware.
        is_approximate: The agent says that the use is no exact count.
        follows_compaction: It is what is said of a context that was just compacted, which no
            response has measured yet.
    """

    used_tokens: int
    size: int | MissingReason
    measured_at: datetime
    is_approximate: bool = False
    follows_compaction: bool = False

    @property
    def is_measured(self) -> bool:
        """Whether it is a count and no estimate."""
        return not (self.is_approximate or self.follows_compaction)

    @property
    def known(self) -> Partial:
        """What stays known of it where it measures nothing."""
        return Partial(
            used_tokens=self.used_tokens,
            limit_tokens=self.size if isinstance(self.size, int) else None,
            measured_at=self.measured_at,
            estimated=not self.is_measured,
        )

    @property
    def fullness(self) -> tuple[float, int]:
        """What to compare reports by: the share of the window where one is stated."""
        share = self.used_tokens / self.size if isinstance(self.size, int) else 0.0
        return share, self.used_tokens


@frozen(kw_only=True)
class Share:
    """A share of the window that an agent states.

    Attributes:
        used_percent: The percentage in use, above 0 and at most 100.
        measured_at: When it was received; aware.
    """

    used_percent: float
    measured_at: datetime

    @property
    def fullness(self) -> tuple[float, int]:
        """What to compare reports by: the share of the window."""
        return self.used_percent / 100, 0


Report: TypeAlias = Reading | Share | Gap
"""What a message comes to."""


def usage_report(update: Mapping[str, Any], at: datetime) -> Report:
    """Return what the ``usage_update`` *update*, received at the moment *at*, says.

    Bad data give a `Gap`: a use that is absent, null or no count, and a use of 0, which no context
    has that a request was sent with.
    """
    used, size = update.get("used"), _size(update)
    known = Partial(limit_tokens=size) if isinstance(size, int) else None
    if used is None:
        return Gap(reason=MissingReason.USAGE_NOT_REPORTED, partial=known)
    if not is_count(used):
        return Gap(reason=MissingReason.USAGE_INVALID, partial=known)
    if used == 0:
        return Gap(reason=MissingReason.NOT_MEASURED_YET, partial=known)
    return Reading(
        used_tokens=used,
        size=size,
        measured_at=at,
        is_approximate=nested(update, "_meta").get("approximate") is True,
    )


def _size(update: Mapping[str, Any]) -> int | MissingReason:
    size = update.get("size")
    if size is None or (is_count(size) and size == 0):
        return MissingReason.LIMIT_NOT_REPORTED
    return size if is_limit(size) else MissingReason.LIMIT_INVALID


def metadata_report(params: Mapping[str, Any], at: datetime) -> Report | None:
    """Return what Kiro's metadata *params*, received at the moment *at*, say of the context.

    None when they say nothing of it: some only tell what a turn cost.
    """
    percent = params.get("contextUsagePercentage")
    if percent is None:
        return None
    if type(percent) not in {int, float} or not 0 <= percent <= 100:
        return Gap(reason=MissingReason.PERCENT_INVALID)
    if percent == 0:
        return Gap(reason=MissingReason.NOT_MEASURED_YET)
    return Share(used_percent=float(percent), measured_at=at)
