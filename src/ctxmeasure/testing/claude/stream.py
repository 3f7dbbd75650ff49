"""Sessions of Claude Code as ``--output-format stream-json`` prints them.

Steps of the same name as in `transcript` are the same step, so that both show the same session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from ...evidence import Phase
from ..session import Answer, Row, Truth, Writer, without_absent
from . import frames
from .transcript import BAD_USAGES, MODELS, WORDS

__all__ = ["StreamWriter"]

_UNKNOWN_WINDOW = 1_000_000  # what Claude Code states for a model that it does not know


class StreamWriter(Writer):
    """Writes streams, and knows what each frame shows.

    Attributes:
        model: The model that the session asks for.
    """

    steps: ClassVar[tuple[str, ...]] = (
        "prompt",
        "respond",
        "use_tools",
        "respond_in_events",
        "chain",
        "fail",
        "aside",
        "delegate",
        "overrun",
        "report_badly",
        "compact",
        "clear",
        "ask_another_model",
    )
    words: ClassVar[frozenset[str]] = WORDS

    def __init__(self) -> None:
        super().__init__()
        self.model = next(iter(MODELS))
        self._stated: set[str] = set()  # models whose windows a result has stated
        self._turn = self._response_turn = 0
        self._used: int | None = None  # of the last response
        self._gap = Truth.missing("not_measured_yet")  # where there is none

    def begin(self) -> None:
        """Begin the first turn."""
        self._init()

    # -- what is true -------------------------------------------------------------------------

    @property
    def _seen(self) -> Truth:
        if self._used is None:
            return self._gap
        window = MODELS[self.model]
        if window is None and self.model not in self._stated:
            return Truth.missing("model_unknown", used_tokens=self._used)
        window = window or _UNKNOWN_WINDOW
        if self._used > window:
            return Truth.missing("limit_contradicted", used_tokens=self._used)
        return Truth.tokens(self._used, window)

    def answers(self) -> Iterator[Answer]:
        """Return what is seen of the session and of the running turn."""
        seen = self._seen
        is_older = self._response_turn not in (0, self._turn)
        active = Truth.missing("turn_not_found") if is_older else seen
        yield Answer(seen)
        yield Answer(seen, session_id=frames.SESSION)
        yield Answer(active, phase=Phase.ACTIVE)
        yield Answer(Truth.missing("session_mismatch"), session_id="another")
        yield Answer(Truth.missing("usage_not_reported"), agent_id="an-agent")
        yield Answer(Truth.missing("turn_ids_not_recorded"), turn_id="a-turn")

    def _void(self, reason: str, estimate: int | None = None) -> None:
        self._used, self._response_turn = None, 0
        self._gap = Truth.missing(reason, used_tokens=estimate)

    def _respond(self, used: int, *, blocks: int, events: bool = False) -> None:
        message_id = f"msg_01{used}"
        self._used, self._response_turn = used, self._turn
        if events:
            self.write(frames.message_start(used, message_id, model=self.model))
            self.write(frames.message_delta({"output_tokens": 40}))
        for _ in range(blocks):
            self.write(frames.assistant(used, message_id, message={"model": self.model}))

    def _init(self) -> None:
        self._turn += 1
        self.write(frames.init(self.model))

    # -- steps --------------------------------------------------------------------------------

    def prompt(self, size: int) -> None:  # noqa: ARG002 - every step has a size
        """End the turn with a result, and begin another."""
        self._stated.add(self.model)
        windows = {model: MODELS[model] or _UNKNOWN_WINDOW for model in self._stated}
        self.write(frames.result(windows))
        self._init()

    def ask_another_model(self, size: int) -> None:
        """Begin a turn with another model, which counts by other tokens."""
        before, self.model = self.model, list(MODELS)[size % len(MODELS)]
        if before != self.model and self._response_turn:
            self._void("not_measured_yet")
        self._init()

    def respond(self, size: int) -> None:
        """Write a response in one to three frames."""
        self._respond(self.fresh(), blocks=1 + size % 3)

    def respond_in_events(self, size: int) -> None:
        """Write a response as the API's own events, and in frames."""
        self._respond(self.fresh(), blocks=size % 2, events=True)

    def use_tools(self, size: int) -> None:
        """Write a response that calls tools, and what they say."""
        self._respond(self.fresh(), blocks=3)
        self.chain(size)

    def chain(self, size: int) -> None:
        """Write a frame that says nothing of the context."""
        self.write({"type": "user", "message": {"content": "x" * size}, **_OWN})

    def fail(self, size: int) -> None:
        """Write the frame that stands for a failed call."""
        notice = {"model": "<synthetic>", "usage": dict.fromkeys(frames.usage(0), 0)}
        self.write(frames.assistant(0, f"n{size}", message=notice, error="unknown"))

    def aside(self, size: int) -> None:
        """Write a frame of a sub-agent."""
        self.write(frames.assistant(900_000 + size, "msg_aside", parent_tool_use_id="toolu_1"))

    def delegate(self, size: int) -> None:  # noqa: ARG002 - as above
        """Let a sub-agent respond."""
        self.write(frames.assistant(self.fresh(), "msg_agent", parent_tool_use_id="toolu_2"))

    def overrun(self, size: int) -> None:  # noqa: ARG002 - as above
        """Begin a turn whose response does not fit into the window of a smaller model."""
        self._init()  # right behind a compaction it would be taken for the compaction's own call
        self._respond(250_000 + self.number, blocks=1)

    def report_badly(self, size: int) -> None:
        """Write a response whose usage cannot be counted."""
        used = self.fresh()
        change, reason = BAD_USAGES[size % len(BAD_USAGES)]
        self._void(reason)
        self._response_turn = self._turn
        reported = without_absent({**frames.usage(used), **change})
        message = {"model": self.model, "usage": reported}
        self.write(frames.assistant(used, f"msg_01{used}", message=message))

    def compact(self, size: int) -> None:
        """Compact: its own call reports the context that it is about to replace."""
        before = self.context
        self.write(frames.status("compacting"))
        self.write(frames.assistant(before + 500, "msg_summary", message={"model": self.model}))
        after = self.shrink()
        self._void("compacted", after if size % 2 else None)
        stated: dict[str, Any] = {"post_tokens": after} if size % 2 else {}
        self.write(frames.boundary(pre_tokens=before, **stated))

    def clear(self, size: int) -> None:  # noqa: ARG002 - as above
        """Begin the conversation anew."""
        self._void("not_measured_yet")
        self.write({"type": "system", "subtype": "conversation_reset", **_OWN})

    def strangers(self) -> Iterable[Row]:
        """Return frames of sub-agents, and frames that say nothing of the context."""
        yield frames.assistant(777_000, "msg_other", parent_tool_use_id="toolu_3")
        yield {"type": "rate_limit_event", **_OWN}
        yield {"type": "stream_event", "event": {"type": "content_block_delta"}, **_OWN}
        yield {"type": "from-the-future", "usage": frames.usage(777_000), **_OWN}


_OWN = {"session_id": frames.SESSION}
