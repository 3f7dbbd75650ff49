"""Connections of the Agent Client Protocol: of agents that report counts, and of Kiro."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from ...evidence import Phase
from ..session import Answer, Row, Truth, Writer
from . import messages
from .messages import CLAUDE, A, B

__all__ = ["ClaudeBridgeWriter", "KiroWriter", "SessionWriter"]

_WORDS = Writer.words | {"jsonrpc", "method", "name", "sessionUpdate", "status", "stopReason"}
_SIZES = (200_000, 1_000_000, 128_000)
_COMPACTED = Truth.missing("compacted")
_NOTHING_YET = Truth.missing("not_measured_yet")


class _ConnectionWriter(Writer):
    """Writes what client and agent say to each other about one session.

    Attributes:
        agent: The name that the agent gives itself.
    """

    words: ClassVar[frozenset[str]] = _WORDS
    agent: ClassVar[str] = "an-agent"

    def __init__(self) -> None:
        super().__init__()
        self._seen: Truth | None = None  # of what was reported
        self._silence = _NOTHING_YET  # while nothing was
        self._asked = 0
        self._aside: Truth | None = None

    def begin(self) -> None:
        """Shake hands, and open a session."""
        self.write(messages.initialized(self.agent))
        self.write(messages.opened(A))

    def answers(self) -> Iterator[Answer]:
        """Return what is seen of the session and of a sub-agent's; no message names a turn."""
        seen = self._seen or self._silence
        yield Answer(seen)
        yield Answer(seen, phase=Phase.ACTIVE)
        yield Answer(Truth.missing("turn_ids_not_recorded"), turn_id="a-turn")
        if len(self.written) > 0:  # the session is open
            yield Answer(seen, session_id=A)
            yield Answer(Truth.missing("session_mismatch"), session_id="another")
        if self._aside is not None:
            yield Answer(self._aside, agent_id=B)

    def prompt(self, size: int) -> None:
        """Prompt the session; the agent answers with a sum over some turns, or with none."""
        self._asked += 1
        self.write(messages.request("session/prompt", self._asked, sessionId=A, prompt=[]))
        sums = {"usage": {"totalTokens": 5_000_000}} if size % 2 else {}
        if self._silence != _COMPACTED:
            reason = "cumulative_only" if sums else "usage_not_reported"
            keeps = not sums and self._silence == Truth.missing("cumulative_only")
            self._silence = self._silence if keeps else Truth.missing(reason)
        self.write(messages.answered(self._asked, **sums))

    def chatter(self, size: int) -> None:
        """Send what says nothing of the context."""
        said = {"content": {"type": "text", "text": "x" * size}}
        self.write(messages.update("agent_message_chunk", A, **said))

    def delegate(self, size: int) -> None:
        """Let a sub-agent report, as a session of its own."""
        used = self.fresh()
        self._aside = Truth.tokens(used, _SIZES[size % 2])
        self.write(messages.usage(used, _SIZES[size % 2], B))

    def strangers(self) -> Iterable[Row]:
        """Return messages that report nothing of the session."""
        yield messages.usage(77_000, session="a-third-session")
        yield messages.update("plan", A, entries=[])
        yield messages.update("compaction_update", A, status="in_progress")
        yield messages.request("session/cancel", "r-1", sessionId=A)
        yield {"jsonrpc": "2.0", "id": "r-2", "error": {"code": 1, "message": "x"}}
        yield messages.notification("from/the/future", sessionId=A, used=77_000, size=100_000)


class SessionWriter(_ConnectionWriter):
    """Writes connections to an agent that reports use and size of its context.

    The first count after a compaction is an estimate, however often it is repeated.
    """

    steps: ClassVar[tuple[str, ...]] = (
        "prompt",
        "report",
        "repeat",
        "chatter",
        "delegate",
        "overrun",
        "lack_a_size",
        "report_zero",
        "report_badly",
        "approximate",
        "compact",
    )

    def __init__(self) -> None:
        super().__init__()
        self._last: tuple[int, int] | None = None
        self._is_compacted = False  # and nothing was reported since
        self._estimate: int | None = None  # what was, and is none of a response

    def _report(self, used: int, size: Any, truth: Truth, **fields: Any) -> None:
        """Report a count, of which *truth* is true unless it is a compaction's estimate."""
        if self._is_compacted or used == self._estimate:
            self._seen, self._estimate = Truth.missing("compacted", used_tokens=used), used
        else:
            self._seen, self._estimate = truth, None
        self._is_compacted = False
        self.write(messages.usage(used, size, A, **fields))

    def _report_none(self, truth: Truth, used: Any) -> None:
        """Report no count, which leaves an estimate to be expected or to stand."""
        is_sign = truth == _NOTHING_YET  # the bridges' own, of a compaction: a count comes next
        if self._estimate is None and (is_sign or not self._is_compacted):
            self._seen, self._is_compacted = truth, False
        self.write(messages.usage(used, 200_000, A))

    # -- steps --------------------------------------------------------------------------------

    def report(self, size: int) -> None:
        """Report use and size."""
        used, window = self.fresh(), _SIZES[size % len(_SIZES)]
        self._last = (used, window)
        self._report(used, window, self._pair(used, window))

    def _pair(self, used: int, window: int) -> Truth:
        return Truth.tokens(used, window)

    def repeat(self, size: int) -> None:
        """Report the same again."""
        if self._last is None:
            self.report(size)
        else:
            self._report(*self._last, self._pair(*self._last))

    def overrun(self, size: int) -> None:
        """Report more than the window holds."""
        window = _SIZES[size % len(_SIZES)]
        self._last = (window + self.number, window)
        self._report(*self._last, self._pair(*self._last))

    def lack_a_size(self, size: int) -> None:
        """Report a use without a window."""
        window, reason = ((0, "limit_not_reported"), (-1, "limit_invalid"))[size % 2]
        used = self.fresh()
        self._report(used, window, Truth.missing(reason, used_tokens=used))

    def report_zero(self, size: int) -> None:  # noqa: ARG002 - every step has a size
        """Report a use of 0, which no context has."""
        self._report_none(_NOTHING_YET, 0)

    def report_badly(self, size: int) -> None:
        """Report a use that is no count."""
        bad = ((None, "usage_not_reported"), (-1, "usage_invalid"), (1.5, "usage_invalid"))
        used, reason = bad[size % len(bad)]
        self._report_none(Truth.missing(reason), used)

    def approximate(self, size: int) -> None:  # noqa: ARG002 - as above
        """Report a use and say that it is no exact count."""
        used = self.fresh()
        truth = Truth.missing("estimate_only", used_tokens=used)
        self._report(used, 200_000, truth, _meta={"approximate": True})

    def compact(self, size: int) -> None:  # noqa: ARG002 - as above
        """Compact."""
        self.shrink()
        self._silence, self._is_compacted, self._estimate = _COMPACTED, True, None
        self._seen = self._seen and _COMPACTED
        self.write(messages.compaction(session=A))


class ClaudeBridgeWriter(SessionWriter):
    """Writes connections to the bridge to Claude Code, which states some windows by default."""

    agent: ClassVar[str] = CLAUDE

    def _pair(self, used: int, window: int) -> Truth:
        is_over = used > window
        over = Truth.missing("limit_contradicted", used_tokens=used)
        return over if is_over else super()._pair(used, window)


class KiroWriter(_ConnectionWriter):
    """Writes connections to Kiro, which reports a share of the window."""

    agent: ClassVar[str] = "kiro-cli"
    steps: ClassVar[tuple[str, ...]] = (
        "prompt",
        "report",
        "chatter",
        "bill",
        "report_badly",
        "delegate",
        "compact",
        "clear",
    )

    def report(self, size: int) -> None:
        """Report a share."""
        percent = self.fresh() % 90_000 / 1_000 + size / 10_000 + 0.001
        self._seen = Truth.percent(percent)
        self.write(messages.metadata(percent, A))

    def bill(self, size: int) -> None:
        """Report what a turn cost, and nothing of the context."""
        self.write(messages.kiro("metadata", A, meteringUsage=[{"value": 0.1 * size}]))

    def report_badly(self, size: int) -> None:
        """Report what is no share, or none."""
        percent, reason = ((0, "not_measured_yet"), ("7", "percent_invalid"))[size % 2]
        is_compacted = (self._seen or self._silence) == _COMPACTED
        if percent == 0 or not is_compacted:
            self._seen = Truth.missing(reason)
        self.write(messages.metadata(percent, A))

    def compact(self, size: int) -> None:
        """Compact, and say so in the form of some version."""
        self.shrink()
        self._silence, self._seen = _COMPACTED, self._seen and _COMPACTED
        status: Any = {"type": "completed"} if size % 2 else "completed"
        self.write(messages.kiro("compaction/status", A, status=status))

    def clear(self, size: int) -> None:  # noqa: ARG002 - every step has a size
        """Begin the conversation anew."""
        self._silence, self._seen = _NOTHING_YET, self._seen and _NOTHING_YET
        self.write(messages.kiro("clear/status", A))
