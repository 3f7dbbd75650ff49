"""The answers of ``pi --mode rpc`` that say something of the context, each by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from ...evidence import Phase
from ..session import ABSENT, Answer, Truth, Writer, without_absent
from .events import answer
from .rows import MODEL, PROVIDER, SESSION_ID, usage
from .session import WORDS

__all__ = ["RpcWriter"]

_WINDOWS = (200_000, 128_000, 1_000_000, 40_000)
_BAD_COUNTS: tuple[tuple[Any, str], ...] = (
    (None, "compacted"),
    (0, "not_measured_yet"),
    (-1, "usage_invalid"),
    (ABSENT, "usage_not_reported"),
)
_BAD_WINDOWS: tuple[tuple[Any, str], ...] = (
    (None, "limit_not_reported"),
    (0, "limit_invalid"),
    (ABSENT, "limit_not_reported"),
)


class RpcWriter(Writer):
    """Writes answers, and knows what each of them shows."""

    steps: ClassVar[tuple[str, ...]] = (
        "state_the_use",
        "overrun",
        "contradict_itself",
        "estimate",
        "report_badly",
        "lack_a_window",
        "lack_the_use",
        "compact",
        "state_the_model",
    )
    words: ClassVar[frozenset[str]] = WORDS

    def __init__(self) -> None:
        super().__init__()
        self._seen = Truth.missing("usage_not_reported")
        self._other = Truth.missing("session_mismatch")

    def answers(self) -> Iterator[Answer]:
        """Return what is seen: an answer knows its session at most, and no turn."""
        unnamed = Truth.missing("turn_ids_not_recorded")
        yield Answer(self._seen)
        yield Answer(self._seen, session_id=SESSION_ID)
        yield Answer(self._other, session_id="another")
        yield Answer(Truth.missing("session_mismatch"), agent_id="an-agent")
        yield Answer(unnamed, turn_id="a-turn")
        yield Answer(unnamed, phase=Phase.ACTIVE)

    def _stats(self, use: Any, total: int = 5_000_000) -> None:
        """Answer ``get_session_stats``, whose ``tokens`` are sums over the session."""
        stats = {"sessionId": SESSION_ID, "tokens": {"total": total}, "contextUsage": use}
        self.write(answer("get_session_stats", without_absent(stats)))

    def _use(self, used: Any, window: Any, percent: Any = ABSENT) -> dict[str, Any]:
        use = {"tokens": used, "contextWindow": window, "percent": percent}
        return dict(without_absent(use))

    # -- steps --------------------------------------------------------------------------------

    def state_the_use(self, size: int) -> None:
        """State the use of the context and the window."""
        used, window = self.fresh() % 40_000 + 1, _WINDOWS[size % len(_WINDOWS)]
        self._seen = Truth.tokens(used, window)
        self._stats(self._use(used, window, used / window * 100))

    def overrun(self, size: int) -> None:
        """State more than the window holds: contexts do overflow."""
        window = _WINDOWS[size % len(_WINDOWS)]
        used = window + 1 + size
        self._seen = Truth.tokens(used, window)
        self._stats(self._use(used, window, used / window * 100))

    def contradict_itself(self, size: int) -> None:
        """State a percentage that is not that of its counts."""
        used = self.fresh()
        self._seen = Truth.missing("sources_disagree", used_tokens=used)
        self._stats(self._use(used, 1_000_000, 50.0 + size))

    def estimate(self, size: int) -> None:  # noqa: ARG002 - every step has a size
        """State a use before any reply, all of which Pi estimates."""
        self._seen = Truth.missing("estimate_only", used_tokens=573)
        self._stats(self._use(573, 200_000), total=0)

    def report_badly(self, size: int) -> None:
        """State a use that is no count, or none, as after a compaction."""
        used, reason = _BAD_COUNTS[size % len(_BAD_COUNTS)]
        self._seen = Truth.missing(reason)
        self._stats(self._use(used, 200_000))

    def lack_a_window(self, size: int) -> None:
        """State a use without a window."""
        window, reason = _BAD_WINDOWS[size % len(_BAD_WINDOWS)]
        used = self.fresh()
        self._seen = Truth.missing(reason, used_tokens=used)
        self._stats(self._use(used, window))

    def lack_the_use(self, size: int) -> None:
        """State nothing but sums, as before 0.63.0 or without a model."""
        self._seen = Truth.missing("usage_invalid" if size % 2 else "cumulative_only")
        self._stats("x" if size % 2 else ABSENT)

    def compact(self, size: int) -> None:
        """Answer ``compact``, which does not name the session."""
        left = self.shrink() if size % 2 else None
        compacted = Truth.missing("compacted", used_tokens=left)
        known, self._seen, self._other = self._other, compacted, compacted
        stated = {} if left is None else {"estimatedTokensAfter": left}
        self.write(answer("compact", {"tokensBefore": 90_000, "usage": usage(14_700), **stated}))
        self._other = known

    def state_the_model(self, size: int) -> None:
        """Answer ``get_state``, which states the window alone."""
        self._seen = Truth.missing("usage_not_reported")
        window = _WINDOWS[size % len(_WINDOWS)]
        model = {"id": MODEL, "provider": PROVIDER, "contextWindow": window}
        self.write(answer("get_state", {"model": model, "sessionId": SESSION_ID}))
