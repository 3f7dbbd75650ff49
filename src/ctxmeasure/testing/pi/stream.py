"""Sessions of Pi as ``pi --mode rpc`` prints them: events, and the answers that state a window.

Steps of the same name as in `session` are the same step, so that both show the same session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from ...evidence import Phase
from ..planting import Planter
from ..session import Answer, Content, Row, Truth, Writer
from .events import answer, edit, message_end, turn_end
from .rows import SESSION_ID, reply, said, usage
from .session import BAD_USAGES, MODELS, NOTHING, TOO_LONG, WORDS, Model

__all__ = ["StreamWriter"]

_DEFAULT_WINDOW = 128_000  # what Pi states for a model whose window it does not know
_NOTHING_YET = Truth.missing("not_measured_yet")


class StreamWriter(Writer):
    """Writes streams, and knows what each line shows.

    Attributes:
        model: The model that is selected.
    """

    steps: ClassVar[tuple[str, ...]] = (
        "prompt",
        "respond",
        "use_tools",
        "chain",
        "ask_for_the_state",
        "ask_for_the_use",
        "edit",
        "fail",
        "retry",
        "abort",
        "refuse",
        "report_nothing",
        "switch_model",
        "overrun",
        "report_badly",
        "compact",
        "compact_in_vain",
        "begin_anew",
    )
    words: ClassVar[frozenset[str]] = WORDS

    def __init__(self) -> None:
        super().__init__()
        self.model = MODELS[0]
        self._window: int | None = None  # as Pi stated it
        self._counted: int | None = None  # by the last good reply
        self._gap = _NOTHING_YET  # where there is none
        self._is_compacting = False
        self._turn = self._reply_turn = 0
        self._session_id: str | None = SESSION_ID

    def begin(self) -> None:
        """Write whose session it is."""
        self.write({"type": "session", "version": 3, "id": SESSION_ID, "cwd": "/home/dev"})

    # -- what is true -------------------------------------------------------------------------

    @property
    def _seen(self) -> Truth:
        if self._counted is None:
            return self._gap
        if self._is_compacting:
            return Truth.missing("compacted")
        # A model without a window is only selected by an answer, and with Pi's default.
        limit = self._window or self.model.window or _DEFAULT_WINDOW
        if self._window is None and self._counted > limit:
            return Truth.missing("limit_contradicted", used_tokens=self._counted)
        return Truth.tokens(self._counted, limit, self._counted_at)

    def answers(self) -> Iterator[Answer]:
        """Return what is seen of the session and of the running turn."""
        seen = self._seen
        is_shown = self._counted is not None and not self._is_compacting
        is_older = is_shown and self._reply_turn != self._turn
        yield Answer(seen)
        yield Answer(Truth.missing("turn_not_found") if is_older else seen, phase=Phase.ACTIVE)
        yield Answer(Truth.missing("turn_ids_not_recorded") if is_shown else seen, turn_id="a-turn")
        yield Answer(Truth.missing("session_mismatch"), agent_id="an-agent")
        if self._session_id is not None:
            yield Answer(seen, session_id=self._session_id)
            yield Answer(Truth.missing("session_mismatch"), session_id="another")

    def _void(self, reason: str, estimate: int | None = None) -> None:
        self._counted, self._is_compacting = None, False
        self._gap = Truth.missing(reason, used_tokens=estimate)

    def _message(self, used: int, **fields: Any) -> dict[str, Any]:
        named = {"model": self.model.id, "provider": self.model.provider}
        return reply(used, **named, timestamp=int(self.now.timestamp() * 1000), **fields)

    def _uncounted(self, **fields: Any) -> None:
        """Write a reply that measures nothing."""
        message = self._message(0, **fields)
        self.write(message_end(message))
        self.write(turn_end(message))

    def _respond(self, used: int, *results: dict[str, Any]) -> None:
        message = self._message(used)
        self._counted, self._counted_at = used, self.now
        self._reply_turn, self._is_compacting = self._turn, False
        self.write(message_end(message))
        for result in results:
            self.write(message_end(result))
        self.write(turn_end(message, *results))

    def planted(self, planter: Planter) -> list[Content]:
        """Return what was written, where a model's id in an answer is that of its replies."""
        if "model" in planter.kept:
            planter.sentinels.update({model.id: model.id for model in MODELS})
        return super().planted(planter)

    # -- steps --------------------------------------------------------------------------------

    def prompt(self, size: int) -> None:
        """Begin a turn."""
        self._turn += 1
        self.write({"type": "agent_start"})
        self.write(message_end(said("user", content="x" * size)))

    def respond(self, size: int) -> None:  # noqa: ARG002 - every step has a size
        """Write a reply."""
        self._respond(self.fresh())

    def use_tools(self, size: int) -> None:
        """Write a reply that calls tools, and what they say."""
        result = said("toolResult", toolCallId="toolu_1", content="x" * size)
        self._respond(self.fresh(), *[result] * (1 + size % 2))

    def overrun(self, size: int) -> None:  # noqa: ARG002 - as above
        """Write a reply that does not fit into the window of a smaller model."""
        self._respond(250_000 + self.number)

    def chain(self, size: int) -> None:
        """Write an event that says nothing of the context, or the output of a command."""
        bash = answer("bash", {"output": "x" * size})
        self.write(bash if size % 2 else {"type": "turn_start"})

    def fail(self, size: int) -> None:
        """Write a reply that failed; Pi's meter passes over it."""
        message = "overloaded " * size
        self._uncounted(usage=NOTHING, stopReason="error", errorMessage=message)

    def retry(self, size: int) -> None:
        """Try again, in the same turn, or be stopped before that."""
        self.write({"type": "auto_retry_start", "attempt": 1})
        if size % 2:
            self.write({"type": "auto_retry_end", "success": False})
        else:
            self.write({"type": "agent_start"})

    def abort(self, size: int) -> None:  # noqa: ARG002 - as above
        """Write a reply that was aborted; Pi's meter ignores its usage."""
        self._uncounted(usage=usage(self.fresh()), stopReason="aborted")

    def refuse(self, size: int) -> None:  # noqa: ARG002 - as above
        """Write that the server refused the prompt as too long."""
        self._void("window_exceeded")
        self._uncounted(usage=NOTHING, stopReason="error", errorMessage=TOO_LONG)

    def report_nothing(self, size: int) -> None:  # noqa: ARG002 - as above
        """Write a reply of a server that reports no usage; the one before it stands."""
        if self._counted is None and self._gap == _NOTHING_YET:
            self._void("usage_not_reported")
        self._uncounted(usage=NOTHING)

    def report_badly(self, size: int) -> None:
        """Write a reply whose usage cannot be counted."""
        change, reason = BAD_USAGES[size % len(BAD_USAGES)]
        self._void(reason)
        self._uncounted(usage=usage(self.fresh(), **change))

    def compact(self, size: int) -> None:
        """Compact the conversation, to a context that newer versions estimate."""
        before = self.context
        left = self.shrink()
        self._is_compacting = True
        self.write({"type": "compaction_start", "reason": "manual"})
        self._void("compacted", left if size % 2 else None)
        result = {"summary": "x" * size, "tokensBefore": before, "usage": usage(14_700)}
        if size % 2:
            result["estimatedTokensAfter"] = left
        self.write({"type": "compaction_end", "reason": "manual", "result": result})
        self.write(answer("compact", result))

    def compact_in_vain(self, size: int) -> None:
        """Begin a compaction that fails or is aborted."""
        self._is_compacting = True
        self.write({"type": "compaction_start", "reason": "threshold"})
        self._is_compacting = False
        failed = {"aborted": True} if size % 2 else {"errorMessage": "overloaded"}
        self.write({"type": "compaction_end", "reason": "threshold", **failed})

    def edit(self, size: int) -> None:  # noqa: ARG002 - as above
        """Take a message out of the context."""
        if self._counted is not None:
            self._void("rewound")
        self.write(edit())

    # -- answers ------------------------------------------------------------------------------

    def _stated(self, model: Model) -> dict[str, Any]:
        """Select *model*; return it as Pi states it, with a window for any."""
        self.model, self._window = model, model.window or _DEFAULT_WINDOW
        return {"id": model.id, "provider": model.provider, "contextWindow": self._window}

    def switch_model(self, size: int) -> None:
        """Select another model, against which Pi holds the count from now on."""
        self.write(answer("set_model", self._stated(MODELS[size % len(MODELS)])))

    def ask_for_the_state(self, size: int) -> None:  # noqa: ARG002 - as above
        """Ask for the state, which names session, model and window."""
        self._session_id = self._session_id or "its-next-session"
        state = {"model": self._stated(self.model), "sessionId": self._session_id}
        self.write(answer("get_state", state))

    def ask_for_the_use(self, size: int) -> None:  # noqa: ARG002 - as above
        """Ask for the use of the context, of which the window alone is new."""
        self._session_id = self._session_id or "its-next-session"
        self._window = self.model.window or _DEFAULT_WINDOW
        use = {"tokens": self.context, "contextWindow": self._window}
        sums = {"total": 5_000_000}
        stats = {"sessionId": self._session_id, "tokens": sums, "contextUsage": use}
        self.write(answer("get_session_stats", stats))

    def begin_anew(self, size: int) -> None:
        """Begin another session in the same process, or be kept from it."""
        if size % 2:
            self._void("not_measured_yet")
            self._session_id, self._turn = None, 0
        self.write(answer("new_session", {"cancelled": not size % 2}))

    def strangers(self) -> Iterable[Row]:
        """Return lines that hold replies, and are no new ones."""
        yield {"type": "agent_end", "messages": [reply(777_000)]}
        yield {"type": "message_update", "message": reply(777_000)}
        yield {"type": "message_start", "message": reply(777_000)}
        yield {"type": "tool_execution_end", "result": {"usage": usage(777_000)}}
        yield answer("prompt", {"disposition": "started"})
        yield answer("set_model", success=False, error="x")
        yield {"type": "from_the_future", "message": reply(777_000)}
