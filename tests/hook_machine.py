"""Sessions whose hooks overlap, are killed, fail, come twice and lose what they remember.

A rule-based machine of Hypothesis: writers of `ctxmeasure.testing` write transcripts, hooks run as
`processes`, and after every call that one of them makes the file of events is read. It only ever
grows, by whole and true events; each sample is in it once; and what a turn ended on is in it as
soon as a hook that had to find it has come to its end.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from attrs import define, field, frozen
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from jsonschema import Draft202012Validator
from processes import Kernel, Order, Process

from ctxmeasure import record
from ctxmeasure.cli.swift import recording
from ctxmeasure.evidence import Phase
from ctxmeasure.measurement import utc_milliseconds
from ctxmeasure.record import opaque
from ctxmeasure.testing import START, Answer, Truth
from ctxmeasure.testing.claude import rows as claude_rows
from ctxmeasure.testing.claude.transcript import AGENT, TranscriptWriter
from ctxmeasure.testing.codex import rows as codex_rows
from ctxmeasure.testing.codex.rollout import RolloutWriter

__all__ = ["HookMachine"]

VALIDATOR = Draft202012Validator(record.schema("context_observed"))

PLACE, WORDS = "SENTINEL-place", "SENTINEL-words"
"""What all paths, and all texts, of the sessions hold. All ids hold one of `NATIVE`."""
NATIVE = ("SENTINEL", "turn-", AGENT, "5e4714e15e47", "-8000-00000000000d")

SECOND = timedelta(seconds=1)
SPACING, CADENCE = SECOND, timedelta(seconds=15)  # docs/ledger.md, "What is remembered"
MOST_TRIES, MOST_WAITING = 2, 4  # the same

# What waiting can mend, see docs/ledger.md: the last rows of a turn are on their way to the disk.
MENDED = {"turn_not_found", "not_measured_yet", "turn_not_finished", "carried_over", "compacted"}

_AGAIN = "the last hook, which its agent calls again"

Sample: TypeAlias = tuple[int | None, int | None, str]
"""Used tokens, their limit, and when they were measured."""


# -- the sessions ---------------------------------------------------------------------------------


class _Claude(TranscriptWriter):
    """Writes a session of Claude Code; also answers who asks for the turn that it stands on."""

    agent = "claude"
    delegated: str | None = None  # the turn whose sub-agent spoke last
    works = (
        *("respond", "use_tools", "respond", "delegate", "respond", "chain", "respond", "fail"),
        *("respond", "compact", "respond", "rewind", "respond", "switch_model", "overflow"),
    )
    events = (
        *("UserPromptSubmit", "PostToolUse", "Stop", _AGAIN, "Stop", "SubagentStop"),
        *("PreCompact", "PostCompact", "SessionStart", "SessionEnd", "Notification"),
    )

    def __init__(self, number: int) -> None:
        super().__init__()
        self._open(claude_rows.TranscriptRows(session_id=f"SENTINEL-{number}"))
        self.begin()

    def answers(self) -> Iterator[Answer]:
        yield from super().answers()
        turn = self._seen.turn
        if turn is not None:
            own: dict[str, Any] = {"session_id": self.native, "turn_id": turn}
            yield Answer(self._seen.truth, **own, phase=Phase.TERMINAL)

    @property
    def native(self) -> str:
        return self.rows.session_id

    @property
    def turn(self) -> str | None:
        return self.rows.prompt_id

    def delegate(self, size: int) -> None:
        super().delegate(size)
        self.delegated = self.turn

    def prompts(self) -> None:
        self.take("prompt", 1)

    def ends(self) -> None:
        """Write nothing: a turn's last row is its last response."""

    def payload(self, event: str, path: Path) -> dict[str, Any]:
        payload = {
            "session_id": self.native,
            "transcript_path": str(path),
            "prompt_id": self.turn,
            "hook_event_name": event,
            "cwd": PLACE,
            "prompt": WORDS,
        }
        match event:
            case "SubagentStop":
                return {**payload, "agent_id": AGENT, "agent_transcript_path": str(path)}
            case "SessionStart":
                count = self.fresh()
                resumed = {"source": "resume", "model": claude_rows.MODEL}
                return {**payload, **resumed, "context_tokens": count}
        return payload


class _Codex(RolloutWriter):
    """Writes a session of Codex; also answers who asks for its running turn by name."""

    agent = "codex"
    delegated = None
    works = (
        *("respond", "end", "call", "end", "respond", "end", "call", "interrupt"),
        *("respond", "repeat", "compact", "overflow", "switch_model"),
    )
    events = (
        *("UserPromptSubmit", "PostToolUse", "Stop", _AGAIN, "Stop"),
        *("PreCompact", "PostCompact", "SessionStart", "SessionEnd"),
    )

    def __init__(self, number: int) -> None:
        super().__init__()
        thread_id = f"01a2289{number}-0000-7000-8000-5e4714e15e47"
        self._open(codex_rows.RolloutRows(self.version, thread_id=thread_id))
        self.begin()
        self.prompts()

    def answers(self) -> Iterator[Answer]:
        yield from super().answers()
        if self._is_running:
            own = {"session_id": self.native, "turn_id": self.turn}
            yield Answer(self._turn.truth, **own, phase=Phase.ACTIVE)

    @property
    def native(self) -> str:
        return self.rows.thread_id

    @property
    def turn(self) -> str | None:
        return self.rows.turn_id

    def prompts(self) -> None:
        self.take("start", 0)

    def ends(self) -> None:
        """Write the end of the turn, which comes behind its stop."""
        self.take("end", 0)

    def payload(self, event: str, path: Path) -> dict[str, Any]:
        own = {"session_id": self.native, "transcript_path": str(path), "cwd": PLACE}
        turn = {} if event in ("SessionStart", "SessionEnd") else {"turn_id": self.turn}
        return {**own, **turn, "hook_event_name": event, "model": "gpt-5.5", "prompt": WORDS}


@frozen
class _Hook:
    """A payload, and where its session was when it was handed over.

    Attributes:
        payload: The payload.
        at: When it was handed over.
        since: How many of the session's rows were on disk then.
        process: The process that took it.
    """

    payload: Mapping[str, Any]
    at: datetime
    since: int
    process: Process

    @property
    def event(self) -> str:
        name: str = self.payload["hook_event_name"]
        return name

    @property
    def turn(self) -> str | None:
        named: str | None = self.payload.get("prompt_id", self.payload.get("turn_id"))
        return named

    @property
    def is_of_agent(self) -> bool:
        return "agent_id" in self.payload


@define
class _Debt:
    """A turn that has stopped, and whose last sample is not published yet.

    Attributes:
        at: Since when it is waited for, or None: another turn's hook has to show that it is over.
        tries: How many hooks may have asked for it in vain.
        others: How many other turns stopped since.
    """

    at: datetime | None
    tries: int = 0
    others: int = 0


@define(eq=False)
class _Session:
    """A session, its file, and what was promised about it.

    Attributes:
        writer: What the agent writes.
        path: The file.
        flushed: How many bytes have reached it.
        hooks: All that were handed over, by their moment.
        known: The turn that a hook which came to its end has named.
        debts: What is still to be published, by turn.
        looked: When a tool's hook of which turn last measured something.
        turn: The turn of the last hook that was handed over.
        told_at: When the last event was observed.
    """

    writer: _Claude | _Codex
    path: Path
    flushed: int = 0
    hooks: dict[datetime, _Hook] = field(factory=dict)
    known: str | None = None
    debts: dict[str, _Debt] = field(factory=dict)
    looked: dict[str, datetime] = field(factory=dict)
    turn: str | None = None
    told_at: datetime = START

    @property
    def content(self) -> bytes:
        return b"".join(each.content for each in self.writer.written).replace(
            b"Done.", WORDS.encode()
        )

    @property
    def rows(self) -> int:
        """How many whole rows are on disk."""
        ends = accumulate(map(len, self.content.splitlines(keepends=True)))
        return bisect_right([*ends], self.flushed)

    def flush(self, count: int) -> None:
        whole, before = self.content, self.flushed
        self.flushed = min(len(whole), before + count)
        if self.flushed > before:
            self.path.write_bytes(whole[: self.flushed])

    def next_moment(self, later: int) -> datetime:
        """Return when the next hook is handed over, and let the time pass for the agent too."""
        self.writer.rows.clock += later * SECOND
        self.writer.now += later * SECOND
        last = max(self.hooks, default=START)
        return max(self.writer.now, last + timedelta(milliseconds=1))

    def truths(self, since: int, until: int, **asked: Any) -> Iterator[Truth]:
        """Yield what was true of what was *asked*, from one number of rows on disk to another."""
        for written in self.writer.written[max(0, since - 1) : until]:
            for answer in written.answers:
                if answer.question.get("session_id") == self.writer.native and all(
                    answer.question.get(name) == value for name, value in asked.items()
                ):
                    yield answer.truth

    def forget(self) -> None:
        """Expect nothing that only the state could know."""
        self.known = None
        self.debts.clear()
        self.looked.clear()


def _sample(truth: Truth) -> Sample | None:
    if truth.used_tokens is None or truth.measured_at is None:
        return None
    return truth.used_tokens, truth.limit_tokens, _written(truth.measured_at)


def _written(moment: datetime) -> str:
    return utc_milliseconds(moment).isoformat(timespec="milliseconds").replace("+00:00", "Z")


# -- what happens ---------------------------------------------------------------------------------

_NUMBER = st.integers(0, 99)
_SESSION = st.sampled_from((0, 0, 0, 1, 1, 2))
_LATER = st.sampled_from((0, 1, 20))
_FLUSHED = st.one_of(st.just(10**9), st.just(10**9), st.integers(0, 400))
_ENDS, _WAITS, _FAILS, _DIES = "ends", "waits", "fails", "dies"
_FATE = st.tuples(
    st.sampled_from((_ENDS, _WAITS, _FAILS, _DIES)), st.integers(0, 32), st.integers(0, 99)
)
"""How a process goes on: so many calls (a hook makes some 30), and then this; of a write that is
cut, so many bytes are made."""
_TO_ITS_END = (_ENDS, 0, 0)
_DAMAGE = st.one_of(st.none(), st.integers(0, 300), st.sampled_from((b"{}", b"[]", b"\0garbage\n")))
"""What becomes of a file: it is removed, cut or replaced."""

Fate: TypeAlias = tuple[str, int, int]


class HookMachine(RuleBasedStateMachine):
    """Three sessions, their hooks, and one file of events."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        place = Path(self.folder.name) / PLACE
        place.mkdir()
        self.state, self.out = place / "state", place / "events.jsonl"
        self.sessions = [
            _Session(_Claude(1), place / "one.jsonl"),
            _Session(_Codex(2), place / "rollout-two.jsonl"),
            _Session(_Claude(3), place / "three.jsonl"),
        ]
        self.kernel = Kernel()
        self.running: list[tuple[_Session, _Hook]] = []
        self.failures = 0
        self.seen = b""
        self.samples: Counter[tuple[Any, ...]] = Counter()
        self.record_ids: Counter[str] = Counter()
        self.lost: list[str] = []  # the lines of journals that were taken away
        self.cut: set[Process] = set()  # killed, or met a failure
        self.crossed: set[Process] = set()  # met another hook of their session
        self.is_sound = True

    # -- rules ------------------------------------------------------------------------------------

    @rule(which=_SESSION, number=_NUMBER, size=st.integers(0, 9), flushed=_FLUSHED)
    def the_agent_works(self, which: int, number: int, size: int, flushed: int) -> None:
        session = self.sessions[which]
        works = session.writer.works
        session.writer.take(works[number % len(works)], size)
        session.flush(flushed)

    @rule(which=_SESSION, number=_NUMBER, later=_LATER, fate=_FATE, flushed=_FLUSHED)
    def a_hook_fires(self, which: int, number: int, later: int, fate: Fate, flushed: int) -> None:
        session = self.sessions[which]
        events = session.writer.events
        self._fire(session, events[number % len(events)], later, fate)
        session.flush(flushed)

    @rule(
        which=_SESSION,
        tools=st.integers(0, 2),
        is_late=st.booleans(),
        times=st.integers(1, 2),
        fate=_FATE,
    )
    def a_turn_passes(self, which: int, tools: int, is_late: bool, times: int, fate: Fate) -> None:
        """A turn is lived through; its last row can reach the disk behind its stop."""
        session = self.sessions[which]
        self._fire(session, "UserPromptSubmit", 0, _TO_ITS_END)
        for _ in range(tools):
            session.writer.take("respond", 0)
            session.flush(10**9)
            self._fire(session, "PostToolUse", 0, _TO_ITS_END)
        session.writer.take("respond", 0)
        session.flush(0 if is_late else 10**9)
        for _ in range(times):
            self._fire(session, "Stop", 0, fate)
        session.writer.ends()
        session.flush(10**9)

    @precondition(lambda self: self.running)
    @rule(number=_NUMBER, fate=_FATE)
    def a_hook_goes_on(self, number: int, fate: Fate) -> None:
        self._go_on(*self.running[number % len(self.running)], fate)

    @precondition(lambda self: self.seen and not self.running)
    @rule(which=st.integers(0, 3), damage=_DAMAGE)
    def a_file_is_lost(self, which: int, damage: int | bytes | None) -> None:
        """The state of a session is lost, or what a killed hook has written down to be done."""
        journal = self.state / "journal"
        if which < len(self.sessions):
            path = self._state_of(self.sessions[which])
            if path.exists():
                _damage(path, damage)
                self.sessions[which].forget()
        elif journal.exists():
            self.lost.append(json.loads(journal.read_bytes())["lines"])
            _damage(journal, damage)

    def teardown(self) -> None:
        """Let everything come to its end, and see what came of it."""
        try:
            if self.is_sound:
                self._close_the_book()
        finally:
            for _, hook in self.running:
                while not hook.process.is_over:
                    hook.process.step(Order.DIE)
            self.kernel.close()
            self.folder.cleanup()

    def _close_the_book(self) -> None:
        for session, hook in [*self.running]:
            self._go_on(session, hook, _TO_ITS_END)
        for session in self.sessions:
            session.flush(10**9)
            self._fire(session, "SessionEnd", 2, _TO_ITS_END)
        assert not (self.state / "journal").exists()
        assert self.seen.endswith(b"\n") or not self.seen

    # -- hooks ------------------------------------------------------------------------------------

    def _public_id(self, session: _Session) -> str:
        path = self.state / "key"
        key = path.read_bytes() if path.exists() else b"none"
        return opaque.session_id(session.writer.agent, session.writer.native, key)

    def _state_of(self, session: _Session) -> Path:
        return self.state / "sessions" / f"{self._public_id(session)}.json"

    def _fire(self, session: _Session, event: str, later: int, fate: Fate) -> None:
        if event == "UserPromptSubmit":
            session.writer.prompts()
        if event == _AGAIN and session.hooks:
            payload = session.hooks[max(session.hooks)].payload
        else:
            payload = session.writer.payload("Stop" if event == _AGAIN else event, session.path)
        at = session.next_moment(later)
        options = {
            "--agent": session.writer.agent,
            "--state": str(self.state),
            "--out": str(self.out),
        }
        raw = json.dumps(payload).encode()
        nanoseconds = round(at.timestamp() * 1000) * 1_000_000
        process = self.kernel.start(lambda: recording.of_hook(raw, nanoseconds, options), at)
        hook = session.hooks[at] = _Hook(payload, at, session.rows, process)
        self._is_handed_over(session, hook)
        self.running.append((session, hook))
        self._go_on(session, hook, fate)

    def _go_on(self, session: _Session, hook: _Hook, fate: Fate) -> None:
        end, calls, cut = fate
        process = hook.process
        while not process.is_over and (calls or end == _ENDS):
            self._step(self.kernel.next_to_run(process))
            calls -= 1
        if end == _FAILS:
            while not (process.is_over or process.can_fail):
                self._step(self.kernel.next_to_run(process))
        if not process.is_over and end in (_FAILS, _DIES):
            self.failures += end == _FAILS
            self._is_cut_short(session, hook)
            self._step(process, Order.DIE if end == _DIES else Order.FAIL, cut)

    def _step(self, process: Process, order: Order = Order.GO, cut: int = 0) -> None:
        self.is_sound = False
        process.step(order, cut=cut)
        self._read_events()
        if process.is_over:
            ((session, hook),) = (each for each in self.running if each[1].process is process)
            self.running.remove((session, hook))
            assert not process.left, process.left
            self._has_ended(session, hook)
            self._look_around()
        self.is_sound = True

    # -- what was promised ------------------------------------------------------------------------

    def _is_handed_over(self, session: _Session, hook: _Hook) -> None:
        others = [each for of, each in self.running if of is session]
        if others:  # whichever is first: nothing is said of the order
            session.forget()
            self.crossed.update(each.process for each in (*others, hook))
        is_new = hook.turn != session.turn
        session.turn = hook.turn or session.turn
        if hook.event in ("Stop", "SubagentStop") or is_new:
            for debt in session.debts.values():
                debt.others += 1
        if hook.event == "Stop":
            session.looked.pop(hook.turn or "", None)  # its last sample comes when it comes

    def _is_cut_short(self, session: _Session, hook: _Hook) -> None:
        """Note that *hook* is killed or fails; what it was for is for others to do."""
        self.cut.add(hook.process)
        if hook.event == "Stop" and hook.turn is not None:
            session.debts.pop(hook.turn, None)
            if session.known == hook.turn:
                session.debts[hook.turn] = _Debt(at=None)

    def _has_ended(self, session: _Session, hook: _Hook) -> None:
        if hook.process in self.cut:
            return
        rows = session.rows
        is_still = hook.since == rows
        if hook.process not in self.crossed:
            for turn, debt in [*session.debts.items()]:
                if self._is_due(debt, turn, hook):
                    self._is_asked_for(session, debt, turn, hook, is_still=is_still)
            self._is_known(session, hook)
        if is_still:
            self._has_answered(session, hook)

    def _is_due(self, debt: _Debt, turn: str, hook: _Hook) -> bool:
        """Tell whether a hook that came to its end had to ask for *turn*, which had stopped."""
        if hook.event == "SessionEnd":
            return True
        if debt.at is not None:
            return hook.at - debt.at >= SPACING
        if hook.turn not in (None, turn) and not hook.is_of_agent:
            debt.at = hook.at  # it has shown that the turn is over
        return False

    def _is_asked_for(
        self, session: _Session, debt: _Debt, turn: str, hook: _Hook, *, is_still: bool
    ) -> None:
        truth = self._truth(session, turn_id=turn, phase=Phase.TERMINAL)
        if _sample(truth) is not None and is_still and debt.others < MOST_WAITING - 1:
            self._must_be_there(session, truth)
            del session.debts[turn]
            return
        debt.tries += 1
        debt.at = hook.at
        is_over = hook.event == "SessionEnd" or debt.tries == MOST_TRIES
        if is_over or truth.reason not in MENDED:
            del session.debts[turn]

    def _is_known(self, session: _Session, hook: _Hook) -> None:
        """Note which turn runs, as far as the hooks say."""
        if hook.is_of_agent or hook.event in ("SessionStart", "SessionEnd"):
            return
        if hook.event in ("UserPromptSubmit", "PostToolUse"):
            session.known = hook.turn
        elif hook.event == "Stop" or hook.turn != session.known:
            session.known = None

    def _has_answered(self, session: _Session, hook: _Hook) -> None:
        """See whether what *hook* had to find is published, if it was there to be found."""
        phase = Phase.ACTIVE if session.writer.agent == "codex" else Phase.TERMINAL
        match hook.event:
            case "Stop":
                truth = self._truth(session, turn_id=hook.turn, phase=phase).asked(hook.at, phase)
                if hook.turn is not None and hook.process not in self.crossed:
                    session.debts.pop(hook.turn, None)
                    if truth.reason is None or truth.reason in MENDED:
                        session.debts[hook.turn] = _Debt(at=hook.at)
            case "SubagentStop" if hook.turn == session.writer.delegated:
                truth = self._truth(session, agent_id=AGENT)
            case "SessionEnd":
                truth = self._truth(session, turn_id=None, agent_id=None, phase=None)
                if session.writer.agent == "codex":  # its last turn counts once it has ended
                    last = {"turn_id": session.writer.turn, "phase": Phase.TERMINAL}
                    ended = self._truth(session, **last)
                    truth = truth if truth == ended else ended
            case _:
                return
        self._must_be_there(session, truth)

    def _truth(self, session: _Session, **asked: Any) -> Truth:
        rows = session.rows
        truths = session.truths(rows, rows, **asked) if rows else ()
        return next(iter(truths), Truth.missing("turn_not_found"))

    def _must_be_there(self, session: _Session, truth: Truth) -> None:
        sample = _sample(truth)
        if sample is not None:
            published = [key for key in self.samples if key[0] is session and key[-1] == sample]
            assert published, ("not published", sample)

    # -- what is there ----------------------------------------------------------------------------

    def _read_events(self) -> None:
        """Read on, as anybody can at any moment."""
        if not self.out.exists() or self.out.stat().st_size == len(self.seen):
            return
        content = self.out.read_bytes()
        assert content.startswith(self.seen), "what was there is there no more"
        begun = self.seen.rfind(b"\n") + 1
        self.seen = content
        for line in content[begun : content.rfind(b"\n") + 1].splitlines():
            assert not any(mark in line.decode() for mark in (*NATIVE, PLACE, WORDS))
            try:
                event = json.loads(line)
            except ValueError:
                assert self._was_lost(line.decode()), "a torn line"
            else:
                VALIDATOR.validate(event)
                self._is_told(event)

    def _was_lost(self, part: str) -> bool:
        return any(part in lines for lines in self.lost)

    def _is_told(self, event: Mapping[str, Any]) -> None:
        """Hold one event against what was written, and against the events before it."""
        (session,) = (
            each for each in self.sessions if self._public_id(each) == event["scope"]["session_id"]
        )
        hook = session.hooks[datetime.fromisoformat(event["time"]["observed_at"])]
        for name, measurement in event["payload"].items():
            if isinstance(measurement, Mapping) and "value" in measurement:
                self._is_true(session, hook, event, name)
        often = 1 + sum(event["record_id"] in lines for lines in self.lost)
        self.record_ids[event["record_id"]] += 1
        assert self.record_ids[event["record_id"]] <= often, "an event that is repeated"
        self._is_in_order(session, hook)
        value = event["payload"].get("measurement", {}).get("value")
        if value is not None:
            key = (session, event["scope"].get("agent_id"), value["method"], _told(value))
            self.samples[key] += 1
            assert self.samples[key] <= often, "a sample that is repeated"
            self._is_in_time(session, hook, event["scope"])

    def _is_true(self, session: _Session, hook: _Hook, event: Mapping[str, Any], name: str) -> None:
        value, scope = event["payload"][name]["value"], event["scope"]
        until, since = session.rows, hook.since
        if value["method"] == "claude_hook":
            count = hook.payload["context_tokens"]
            assert _told(value) == (count, 200_000, _written(hook.at))
            return
        asked: list[dict[str, Any]] = [{"turn_id": None, "agent_id": None}]
        turn = self._turn(session, scope)
        if "agent_id" in scope:
            asked = [{"agent_id": AGENT}]
        elif turn is not None and event["event_type"] == "context.observed":
            asked = [{"turn_id": turn}]
        if name == "before" or turn not in (None, hook.turn):
            since = 0
        told = _told(value)
        truths = (truth for each in asked for truth in session.truths(since, until, **each))
        assert any(_sample(truth) == told for truth in truths), ("untrue", told)

    def _turn(self, session: _Session, scope: Mapping[str, Any]) -> str | None:
        """Return the agent's own id of the turn that an event is of."""
        if "turn_id" not in scope:
            return None
        own = (session.writer.agent, session.writer.native)
        key = (self.state / "key").read_bytes()
        turns = {hook.turn for hook in session.hooks.values()} - {None}
        ids = {opaque.turn_id(*own, turn, key): turn for turn in turns if turn is not None}
        return ids[scope["turn_id"]]

    def _is_in_order(self, session: _Session, hook: _Hook) -> None:
        if hook.process not in self.crossed:
            assert session.told_at <= hook.at, "an event that comes too late"
            session.told_at = hook.at

    def _is_in_time(self, session: _Session, hook: _Hook, scope: Mapping[str, Any]) -> None:
        """See that a running turn is not looked at too often."""
        turn = self._turn(session, scope)
        if hook.event != "PostToolUse" or turn != hook.turn or hook.process in self.crossed:
            return
        looked = session.looked.get(turn or "")
        assert looked is None or looked == hook.at or hook.at - looked >= CADENCE
        session.looked[turn or ""] = hook.at

    def _look_around(self) -> None:
        """See what lies in the folder."""
        notes = self.state / "errors.log"
        said = notes.read_text() if notes.exists() else ""
        assert len(said.splitlines()) <= self.failures, said
        assert {*re.findall(r"(\w+) at ", said)} <= {"OSError"}, said
        assert not any(mark in said for mark in (*NATIVE, PLACE, WORDS))
        for path in self.state.rglob("*"):
            if path.is_file():
                assert path.stat().st_mode & 0o077 == 0
                assert WORDS.encode() not in path.read_bytes()


def _told(value: Mapping[str, Any]) -> Sample:
    return value["used_tokens"], value["limit_tokens"], value["measured_at"]


def _damage(path: Path, damage: int | bytes | None) -> None:
    match damage:
        case None:
            path.unlink()
        case int():
            path.write_bytes(path.read_bytes()[:damage])
        case _:
            path.write_bytes(damage)
