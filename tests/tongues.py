"""One conversation in the words of every source, for tests of what must not depend on the words.

A `Conversation` says what happened: responses, sub-agents, failures, compactions. A `Tongue` tells
it as one agent leaves it behind, as decoded rows, so that a reader of another tool can be tried on
the same rows; `Tongue.said` is what ctxmeasure says of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from attrs import evolve, frozen

import ctxmeasure as cm
from ctxmeasure.assess import DEFAULT_POLICY, Policy
from ctxmeasure.testing import START, databases
from ctxmeasure.testing.acp import messages as acp
from ctxmeasure.testing.claude import frames
from ctxmeasure.testing.claude import rows as claude
from ctxmeasure.testing.codex import notifications
from ctxmeasure.testing.codex import rows as codex
from ctxmeasure.testing.cursor import payloads as cursor
from ctxmeasure.testing.cursor.stores import message
from ctxmeasure.testing.pi import events as pi_events
from ctxmeasure.testing.pi import rows as pi
from ctxmeasure.testing.session import joined

__all__ = [
    "TONGUES",
    "Again",
    "Compaction",
    "Conversation",
    "Detour",
    "Failure",
    "Response",
    "Row",
    "Rows",
    "Said",
    "Step",
    "SubAgent",
    "Text",
    "Tongue",
]

Row: TypeAlias = dict[str, Any]
Rows: TypeAlias = list[Row]

AT = START + timedelta(hours=1)
CHAT = "0b3a5d4e-0000-4000-8000-0000000000c1"
PARENT = "0123abcd-0000-4000-8000-00000000000e"


# -- what happened --------------------------------------------------------------------------------


@frozen(kw_only=True)
class Response:
    """A response of the model, in tokens.

    Attributes:
        fresh: What of the prompt was neither read from a cache nor written to one.
        read: What of the prompt was read from a cache.
        written: What of the prompt was written to a cache.
        output: What came back.
        reasoning: What of the output was reasoning.
        inner: The calls of a loop of the server's own tools, which this one ended.
    """

    fresh: int
    read: int = 0
    written: int = 0
    output: int = 1
    reasoning: int = 0
    inner: tuple[Response, ...] = ()

    @property
    def prompt(self) -> int:
        """What was sent to the model."""
        return self.fresh + self.read + self.written

    @property
    def total(self) -> int:
        """What was sent and what came back."""
        return self.prompt + self.output

    def __add__(self, other: Response) -> Response:
        return Response(
            fresh=self.fresh + other.fresh,
            read=self.read + other.read,
            written=self.written + other.written,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
        )


@frozen
class Again:
    """The last response is written down once more."""


@frozen
class SubAgent:
    """A sub-agent responds, whose context is one of its own."""

    used: int


@frozen
class Failure:
    """A call of the model counts nothing: it fails, or *silently* reports zeros."""

    silently: bool = False


@frozen
class Compaction:
    """The context is compacted; *left* is what the agent estimates that is left of it."""

    left: int = 18_000


@frozen
class Detour:
    """A response is gone back from: something else is asked in its place."""

    response: Response


@frozen
class Text:
    """Somebody says something of this length."""

    length: int


Step: TypeAlias = Response | Again | SubAgent | Failure | Compaction | Detour | Text


@frozen
class Conversation:
    """What happened, and under which circumstances.

    Attributes:
        steps: What happened.
        model: The model that was asked for; None: one of the table, with 200,000 tokens.
        window: The window that the agent states, in tokens, if it states one.
        billed: The cached tokens that were billed before: the agent's sums hold them too.
        parent: The responses of the conversation that this one is a fork of.
        share: The share of the window that the agent states, where it states no counts.
    """

    steps: tuple[Step, ...] = ()
    model: str | None = None
    window: int = 200_000
    billed: int = 0
    parent: tuple[Response, ...] = ()
    share: float | None = None

    @property
    def last(self) -> Response | None:
        """The last response, None if there was none since the last compaction."""
        last: Response | None = None
        for step in self.steps:
            match step:
                case Response():
                    last = step
                case Compaction():
                    last = None
        return last

    @property
    def lifetime(self) -> Response:
        """The sum over all responses, and what was billed before."""
        responses = [step for step in self.steps if isinstance(step, Response)]
        return sum(responses, Response(fresh=0, read=self.billed, output=0))

    def then(self, *steps: Step) -> Conversation:
        """Return the conversation that goes on with *steps*."""
        return evolve(self, steps=(*self.steps, *steps))


# -- what is said of it ---------------------------------------------------------------------------


@frozen
class Said:
    """What a reader says.

    Attributes:
        used: The used tokens; with a *reason*, those that are still known.
        limit: The limit in tokens.
        share: The share in percent.
        reason: Why it is no measurement; empty if it is one.
    """

    used: int | None = None
    limit: int | None = None
    share: float | None = None
    reason: str = ""

    @classmethod
    def pair(cls, used: int, limit: int) -> Said:
        """Return a count against a limit."""
        return cls(used, limit, 100 * used / limit)

    @classmethod
    def of(cls, observation: cm.Observation) -> Said:
        """Return what *observation* says; an estimate is not counted as known."""
        match observation:
            case cm.Observed(value=cm.TokenMeasurement() as value):
                return cls.pair(value.used_tokens, value.limit_tokens)
            case cm.Observed(value=value):
                return cls(share=value.used_percent)
            case cm.Missing(reason=reason, partial=partial):
                is_known = partial is not None and not partial.estimated
                return cls(partial.used_tokens if is_known and partial else None, reason=reason)

    @property
    def is_number(self) -> bool:
        return not self.reason

    def __str__(self) -> str:
        if self.reason:
            return f"`{self.reason}`" + ("" if self.used is None else f" ({self.used:,})")
        if self.used is None:
            return f"{self.share:g} %"
        return f"{self.used:,}" + ("" if self.limit is None else f" of {self.limit:,}")


# -- Claude Code ----------------------------------------------------------------------------------


def _anthropic(response: Response) -> Row:
    if response.inner:
        calls = [*response.inner, evolve(response, inner=())]
        each = [{"type": "message", **_anthropic(call)} for call in calls]
        return {**_anthropic(sum(calls, Response(fresh=0, output=0))), "iterations": each}
    return {
        "input_tokens": response.fresh,
        "cache_creation_input_tokens": response.written,
        "cache_read_input_tokens": response.read,
        "output_tokens": response.output,
    }


def _answering(model: str | None) -> str:
    """Return the model's name in a response, where it is without the marker."""
    return (model or claude.MODEL).removesuffix("[1m]")


def _transcript(conversation: Conversation, version: str = "2.1.332") -> Rows:
    rows = claude.TranscriptRows(model=_answering(conversation.model), version=version)
    asked: Row = {"requestedModel": conversation.model} if conversation.model else {}
    forked: Row = {"forkedFrom": {"sessionId": PARENT}}
    for response in conversation.parent:
        rows.prompt(**forked)
        rows.response(0, message={"usage": _anthropic(response)}, **forked)
    rows.prompt()
    last = ("", Response(fresh=1))
    for number, step in enumerate(conversation.steps):
        match step:
            case Response():
                last = (f"msg_01{number:04}", step)
                _block(rows, *last, **asked)
            case Again():
                _block(rows, *last, **asked)
            case SubAgent(used):
                leaf = rows.leaf
                rows.response(used, isSidechain=True, parentUuid=None)
                rows.leaf = leaf
            case Failure(silently):
                rows.error(isApiErrorMessage=not silently)
            case Compaction(left):
                rows.compaction(post=left)
            case Detour(response):
                leaf = rows.leaf
                _block(rows, f"msg_03{number:04}", response, **asked)
                rows.leaf = leaf
                rows.prompt()
            case Text(length):
                rows.prompt("x" * length)
    return rows.rows


def _resumed_transcript(conversation: Conversation) -> Rows:
    """Tell a session in a version that copied what it resumed, as it was, into a new file."""
    rows = _transcript(conversation, "1.0.60")
    for row in rows:
        if row.pop("forkedFrom", None) is not None:
            row["sessionId"] = PARENT
    return rows


def _block(rows: claude.TranscriptRows, message_id: str, response: Response, **fields: Any) -> None:
    rows.response(0, message_id=message_id, message={"usage": _anthropic(response)}, **fields)


def _claude_stream(conversation: Conversation) -> Rows:
    model = conversation.model or claude.MODEL
    rows, last = [frames.init(model)], frames.init(model)
    for number, step in enumerate(conversation.steps):
        match step:
            case Response():
                own = {"model": _answering(model), "usage": _anthropic(step)}
                last = frames.assistant(0, f"msg_01{number:04}", message=own)
                rows += [frames.init(model), last]
            case Again():
                rows.append(last)
            case SubAgent(used):
                aside = {"parent_tool_use_id": "toolu_1"}
                rows.append(frames.assistant(used, f"msg_02{number:04}", **aside))
            case Failure(silently):
                notice = {"model": "<synthetic>", "usage": dict.fromkeys(frames.usage(0), 0)}
                error = {} if silently else {"error": "unknown"}
                rows.append(frames.assistant(0, "n", message=notice, **error))
            case Compaction(left):
                rows.append(frames.status("compacting"))
                rows.append(frames.boundary(pre_tokens=150_000, post_tokens=left))
            case Text(length):
                said = {"role": "user", "content": "x" * length}
                rows.append({"type": "user", "message": said, "session_id": frames.SESSION})
    return rows


def _claude_result(conversation: Conversation) -> Rows:
    """Tell a turn to its end, where Claude Code states sums and the window."""
    stated = {conversation.model or claude.MODEL: conversation.window}
    end = frames.result(stated, usage=_anthropic(conversation.lifetime))
    return [*_claude_stream(conversation), end]


def _status_line(conversation: Conversation, version: str = "2.1.332") -> Rows:
    last, limit = conversation.last, conversation.window
    window: Row = {"context_window_size": limit, "current_usage": None, "used_percentage": None}
    if any(isinstance(step, Compaction) for step in conversation.steps) and last is None:
        zeros = dict.fromkeys(_anthropic(Response(fresh=0)), 0)
        window |= {"current_usage": zeros, "used_percentage": 0}
    elif last is not None:
        percent = min(100, round(100 * last.prompt / limit))
        window |= {"current_usage": _anthropic(last), "used_percentage": percent}
    model = {"id": claude.MODEL}
    return [{"session_id": "s", "version": version, "model": model, "context_window": window}]


def _old_status_line(conversation: Conversation) -> Rows:
    """Tell a line of a version that stated no share, and totals that were sums."""
    (row,) = _status_line(conversation, "2.1.2")
    window, sums = row["context_window"], conversation.lifetime
    del window["used_percentage"]
    window |= {"total_input_tokens": sums.prompt, "total_output_tokens": sums.output}
    return [row]


def _context_usage(conversation: Conversation) -> Rows:
    last = conversation.last
    stated = {"model": claude.MODEL, "rawMaxTokens": conversation.window, "totalTokens": 0}
    return [{**stated, "apiUsage": None if last is None else _anthropic(last)}]


def _claude_hook(conversation: Conversation) -> Rows:
    last = conversation.last
    own = {"session_id": "s", "hook_event_name": "SessionStart", "source": "resume"}
    model = conversation.model or claude.MODEL
    return [{**own, "model": model, "context_tokens": 0 if last is None else last.total}]


# -- Codex ----------------------------------------------------------------------------------------


def _openai(response: Response) -> dict[str, int]:
    return {
        "input_tokens": response.prompt,
        "cached_input_tokens": response.read,
        "cache_write_input_tokens": response.written,
        "output_tokens": response.output,
        "reasoning_output_tokens": response.reasoning,
        "total_tokens": response.total,
    }


def _camel(usage: dict[str, int]) -> dict[str, int]:
    words = (key.split("_") for key in usage)
    keys = (first + "".join(map(str.title, rest)) for first, *rest in words)
    return dict(zip(keys, usage.values(), strict=True))


def _take(rows: codex.RolloutRows, response: Response) -> None:
    """Let the meter take *response*, and write it down as that version does."""
    rows.message()
    rows.last, rows.counted_window = _openai(response), rows.window
    rows.total = {key: rows.total[key] + count for key, count in rows.last.items()}
    if rows.minor >= 155:
        rows.record()
    rows.count()


def _rollout(conversation: Conversation, version: str = "0.171.0") -> Rows:
    rows = codex.RolloutRows(version=version, window=conversation.window)
    if conversation.model is not None:
        rows.model = conversation.model
    rows.total = _openai(Conversation(billed=conversation.billed).lifetime)
    if conversation.parent:
        rows.begin(forked_from_id=codex.PARENT)
        rows.start(codex.PARENTS_TURN)
        for response in conversation.parent:
            _take(rows, response)
        rows.end()
    else:
        rows.begin()
    rows.start()
    for step in conversation.steps:
        match step:
            case Response():
                _take(rows, step)
            case Again():
                rows.count()
            case Compaction(left):
                rows.compact(conversation.window // 2, left)
            case Text(length):
                said = {"type": "message", "role": "user", "content": "x" * length}
                rows.row("response_item", said)
    return rows.rows


def _forked_rollout(conversation: Conversation) -> Rows:
    """Tell a fork as a version did that copied the parent's rows."""
    return _rollout(conversation, "0.130.0")


def _app_server(conversation: Conversation) -> Rows:
    sums = Conversation(billed=conversation.billed).lifetime
    thread = {"id": notifications.THREAD, "cliVersion": "0.171.0"}
    rows: Rows = [{"method": "thread/started", "params": {"thread": thread}}]
    if conversation.billed:  # a thread that is loaded reports its last turn once more
        old = min(900, conversation.billed)
        rows.append(notifications.updated(old, conversation.billed, turn="turn-0"))
    rows.append(notifications.started())
    for step in conversation.steps:
        match step:
            case Response():
                sums += step
                row = notifications.updated(0, window=conversation.window)
                row["params"]["tokenUsage"] |= {
                    "last": _camel(_openai(step)),
                    "total": _camel(_openai(sums)),
                }
                rows.append(row)
            case Again():
                rows.append(rows[-1])
            case SubAgent(used):
                child: Row = {"threadId": notifications.CHILD, "turn": "turn-c"}
                rows.append(notifications.updated(used, window=conversation.window, **child))
            case Compaction(left):
                rows.append(notifications.compaction("item/started"))
                rows.append(notifications.estimated(left, sums.total))
                rows.append(notifications.compaction())
            case Text(length):
                item = {"type": "agentMessage", "text": "x" * length}
                rows.append(notifications.notification("item/completed", item=item))
    return rows


def _exec(conversation: Conversation) -> Rows:
    """Tell what ``codex exec --json`` prints, whose one usage is a sum over the thread."""
    usage = _openai(conversation.lifetime)
    begun = {"type": "thread.started", "thread_id": codex.THREAD}
    return [begun, {"type": "turn.started"}, {"type": "turn.completed", "usage": usage}]


# -- Pi -------------------------------------------------------------------------------------------


def _pi_usage(response: Response) -> Row:
    return {
        "input": response.fresh,
        "output": response.output,
        "cacheRead": response.read,
        "cacheWrite": response.written,
        "reasoning": response.reasoning,
        "totalTokens": response.total,
    }


_PI_NOTHING = dict.fromkeys(_pi_usage(Response(fresh=0)), 0)


def _pi_uncounted(silently: bool) -> Row:
    error = {} if silently else {"stopReason": "error", "errorMessage": "overloaded"}
    return {"usage": _PI_NOTHING, **error}


def _pi_session(conversation: Conversation) -> Rows:
    rows, model = pi.SessionRows(), conversation.model or pi.MODEL
    rows.select(model)
    rows.say()
    for number, step in enumerate(conversation.steps):
        match step:
            case Response():
                rows.reply(number, model=model, usage=_pi_usage(step))
            case Failure(silently):
                rows.reply(number, model=model, **_pi_uncounted(silently))
            case Compaction():
                rows.compact()
            case Detour(response):
                leaf = rows.leaf
                rows.reply(number, model=model, usage=_pi_usage(response))
                rows.back_to(leaf)
                rows.say()
            case Text(length):
                rows.say(content="x" * length)
    return rows.rows


def _pi_stream(conversation: Conversation) -> Rows:
    model = conversation.model or pi.MODEL
    rows: Rows = [{"type": "session", "version": 3, "id": pi.SESSION_ID}, {"type": "agent_start"}]
    for number, step in enumerate(conversation.steps):
        match step:
            case Response():
                reply = pi.reply(number, model=model, usage=_pi_usage(step))
                rows += [pi_events.message_end(reply), pi_events.turn_end(reply)]
            case Again():
                rows.append(rows[-1])
            case Failure(silently):
                failed = pi.reply(number, model=model, **_pi_uncounted(silently))
                rows += [pi_events.message_end(failed), pi_events.turn_end(failed)]
            case Compaction(left):
                result = {"summary": "words", "estimatedTokensAfter": left}
                end = {"type": "compaction_end", "reason": "manual", "result": result}
                rows += [{"type": "compaction_start", "reason": "manual"}, end]
            case Text(length):
                rows.append(pi_events.message_end(pi.said("user", content="x" * length)))
    return rows


def _pi_answered_stream(conversation: Conversation) -> Rows:
    """Tell a stream in which a client asked for the state, which has the window."""
    stated = {"id": conversation.model or pi.MODEL, "provider": pi.PROVIDER}
    model = {**stated, "contextWindow": conversation.window}
    state = {"model": model, "sessionId": pi.SESSION_ID}
    first, *rows = _pi_stream(conversation)
    return [first, pi_events.answer("get_state", state), *rows]


def _pi_rpc(conversation: Conversation) -> Rows:
    last, window = conversation.last, conversation.window
    used = None if last is None else last.total
    percent = None if used is None else used / window * 100
    use = {"tokens": used, "contextWindow": window, "percent": percent}
    sums = {"total": conversation.lifetime.total}
    stats = {"sessionId": pi.SESSION_ID, "tokens": sums, "contextUsage": use}
    return [pi_events.answer("get_session_stats", stats)]


# -- the Agent Client Protocol --------------------------------------------------------------------


def _acp(conversation: Conversation) -> Rows:
    rows = [acp.initialized("an-agent"), acp.opened()]
    rows.append(acp.request("session/prompt", 3, sessionId=acp.A, prompt=[]))
    last = acp.usage(None)
    for step in conversation.steps:
        match step:
            case Response():
                last = acp.usage(step.total, conversation.window)
                rows.append(last)
            case Again():
                rows.append(last)
            case SubAgent(used):
                rows.append(acp.usage(used, conversation.window, acp.B))
            case Compaction():
                rows.append(acp.compaction())
            case Text(length):
                said = {"type": "text", "text": "x" * length}
                rows.append(acp.update("agent_message_chunk", content=said))
    return [*rows, acp.answered(usage={"totalTokens": conversation.lifetime.total})]


def _kiro(conversation: Conversation) -> Rows:
    """Tell what Kiro sends: a share, and no counts."""
    return [acp.initialized("kiro-cli"), acp.opened(), acp.metadata(_share(conversation))]


# -- Cursor ---------------------------------------------------------------------------------------


def _share(conversation: Conversation) -> float:
    """Return the share that is stated, in percent with one decimal."""
    if conversation.share is not None:
        return conversation.share
    last = conversation.last
    return 0.0 if last is None else round(100 * last.total / conversation.window, 1)


def _pre_compact(conversation: Conversation) -> Rows:
    last, window = conversation.last, conversation.window
    used = 0 if last is None else last.total
    counts = {"context_tokens": used, "context_window_size": window}
    return [cursor.hook("preCompact", **counts, context_usage_percent=100 * used / window)]


def _stop(conversation: Conversation) -> Rows:
    """Tell the hook at a turn's end, whose counts are sums over its calls."""
    sums = {"input_tokens": conversation.lifetime.prompt, "output_tokens": 7}
    return [cursor.hook("stop", status="completed", **sums)]


def _cursor_line(conversation: Conversation) -> Rows:
    share, window = _share(conversation), conversation.window
    stated: Row = {"used_percentage": None, "remaining_percentage": None}
    if share:
        stated = {"used_percentage": share, "remaining_percentage": round(100 - share, 1)}
    derived = {"total_input_tokens": round(window * share / 100), "current_usage": None}
    return [cursor.status_line({"context_window_size": window, **stated, **derived})]


def _composer(conversation: Conversation) -> Rows:
    last = conversation.last
    document: Row = {"composerId": CHAT, "lastUpdatedAt": int(START.timestamp() * 1000)}
    if conversation.share is not None:
        return [{**document, "contextUsagePercent": conversation.share}]
    if last is None:
        return [{**document, "fullConversationHeadersOnly": []}]
    counts = {"contextTokensUsed": last.total, "contextTokenLimit": conversation.window}
    return [{**document, "fullConversationHeadersOnly": [{"bubbleId": "b"}], **counts}]


def _roots(conversation: Conversation) -> Rows:
    """Tell the roots of a chat's database, of which the last one is pointed to."""
    responses = [step for step in conversation.steps if isinstance(step, Response)]
    return [{"used": response.total, "max": conversation.window} for response in responses]


def _composer_database(path: Path, rows: Rows) -> None:
    documents = {f"composerData:{CHAT}": json.dumps(row) for row in rows}
    databases.write(path, {"cursorDiskKV": documents})


def _chat_database(path: Path, rows: Rows) -> None:
    blobs = {
        f"{number:064x}": message((5, message((1, row["used"]), (2, row["max"]))))
        for number, row in enumerate(rows, start=1)
    }
    meta = {"agentId": CHAT, "latestRootBlobId": list(blobs)[-1] if blobs else ""}
    told: dict[str, databases.Rows] = {
        "blobs": blobs,
        "meta": {"0": json.dumps(meta).encode().hex()},
    }
    databases.write(path, told, tables=databases.CHAT_TABLES)
    databases.date(path, START)


# -- the tongues ----------------------------------------------------------------------------------


@frozen
class Tongue:
    """A source, and how a conversation is told in its words.

    Attributes:
        name: The source's id, with more where it has several tongues.
        tell: Tells a conversation as decoded rows; of a payload, one.
        can: What a relation may ask of it.
        session_id: The session that is asked for; None: the one that the rows show.
        build: Writes the rows into a database, where the source is one.
    """

    name: str
    tell: Callable[[Conversation], Rows]
    can: frozenset[str]
    session_id: str | None = None
    build: Callable[[Path, Rows], None] | None = None

    @property
    def source(self) -> str:
        return self.name.partition(" ")[0]

    def said(self, rows: Rows, policy: Policy = DEFAULT_POLICY) -> Said:
        """Return what ctxmeasure says of *rows*."""
        if self.build is None:
            return self._said_of(joined(rows), policy)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "store.db"
            self.build(path, rows)
            return self._said_of(path, policy)

    def _said_of(self, data: Path | bytes, policy: Policy) -> Said:
        own = self.session_id
        return Said.of(cm.observe(self.source, data, session_id=own, at=AT, policy=policy))


def _tongues() -> Iterator[Tongue]:
    counts = "double"
    session = f"{counts} empty later text"
    prompt = f"{counts} parts outputless"
    total = "parts output reasoning"
    model = "unknown model"
    happened = "again sub_agent failure compaction behind over"
    claude_rows = f"{prompt} {session} {model} {happened} marker loop"
    told: Iterable[tuple[str, Callable[[Conversation], Rows], str]] = (
        ("claude.transcript", _transcript, f"{claude_rows} fork detour"),
        ("claude.stream", _claude_stream, claude_rows),
        ("claude.stream with its result", _claude_result, f"{prompt} billed window"),
        (
            "claude.status_line",
            _status_line,
            f"{prompt} empty later compaction behind window over loop",
        ),
        ("claude.status_line of 2.1.2", _old_status_line, f"{prompt} later billed over"),
        ("claude.context_usage", _context_usage, f"{prompt} empty later window over loop"),
        ("claude.hook", _claude_hook, f"{counts} {model} empty later over"),
        (
            "codex.rollout",
            _rollout,
            f"{session} {total} again compaction behind window billed over",
        ),
        (
            "codex.rollout of 0.130",
            _forked_rollout,
            f"{session} {total} again compaction behind window billed over fork",
        ),
        (
            "codex.app_server",
            _app_server,
            f"{session} {total} again sub_agent compaction behind window billed over",
        ),
        ("codex.exec", _exec, "billed"),
        (
            "pi.session",
            _pi_session,
            f"{session} {total} {model} failure compaction behind over detour",
        ),
        (
            "pi.stream",
            _pi_stream,
            f"{session} {total} {model} again failure compaction behind over",
        ),
        ("pi.stream with answers", _pi_answered_stream, f"{session} {total} again window over"),
        ("pi.rpc", _pi_rpc, f"{counts} empty later compaction window billed over"),
        ("acp.session", _acp, f"{session} again sub_agent compaction window billed over"),
        ("acp.session of Kiro", _kiro, "share"),
        ("cursor.hook", _pre_compact, f"{counts} empty later window over"),
        ("cursor.hook at a stop", _stop, "billed"),
        ("cursor.status_line", _cursor_line, "empty later share"),
    )
    for name, tell, can in told:
        yield Tongue(name, tell, frozenset(can.split()))
    can = f"{counts} empty later window over"
    composer = frozenset(f"{can} share".split())
    yield Tongue("cursor.composer", _composer, composer, CHAT, _composer_database)
    yield Tongue("cursor.chat_store", _roots, frozenset(can.split()), CHAT, _chat_database)
    resumed = frozenset(f"{prompt} {session} {happened} fork".split())
    own = claude.TranscriptRows().session_id
    yield Tongue("claude.transcript of 1.0.60", _resumed_transcript, resumed, own)


TONGUES = {tongue.name: tongue for tongue in _tongues()}
"""All tongues, by name."""
