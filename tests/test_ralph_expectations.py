"""What Ralph's own tests expect, under our names, and where we differ, with the reason.

The rows are Ralph 2.10.1's tests, and what its code does without one (formats/pi_ralph.md §7, §8).
A row that gives a reason is a difference that we chose; every other row agrees. ``docs/ralph.md``
lists the reasons.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from attrs import frozen
from claude_frames import AT
from judging import usage as usage_of

import ctxmeasure as cm
from ctxmeasure import RUNNER_DEFAULTS, Peaks, Policy, claude
from ctxmeasure.adapters import pi
from ctxmeasure.assess import assess
from ctxmeasure.evidence import Channel, Origin, Query, TokenPair, UsedTokens
from ctxmeasure.observation import (
    LimitBasis,
    Missing,
    MissingReason,
    Observation,
    Provenance,
    UsedBasis,
)
from ctxmeasure.record import runner_event_fields
from ctxmeasure.render import iteration_line
from ctxmeasure.testing.claude import frames as claude_frames
from ctxmeasure.usage import TokenUsage

ASSUMING = Policy(assume_limits=RUNNER_DEFAULTS)
PROMPTS = Policy(counts="prompt")


@frozen(kw_only=True)
class Expectation:
    """One expectation of Ralph's.

    Attributes:
        of: What it is about.
        ask: Gives our answer.
        theirs: What Ralph gives.
        ours: What we give.
        why: Why it differs; empty where it does not.
    """

    of: str
    ask: Callable[[], object]
    theirs: object
    ours: object
    why: str = ""


def same(of: str, ask: Callable[[], object], answer: object) -> Expectation:
    """Return an expectation that we share."""
    return Expectation(of=of, ask=ask, theirs=answer, ours=answer)


# -- what is asked --------------------------------------------------------------------------------


def seen(used: int, model: str | None = None) -> UsedTokens:
    """Return a prompt of *used* tokens, as a runner's backend reports it."""
    return UsedTokens(
        measured_at=AT,
        usage=usage_of(prompt=used, output=0),
        used_basis=UsedBasis.PROMPT,
        model=None if model is None else cm.ModelRef(id=model),
    )


def judged(
    evidence: UsedTokens,
    adapter: str = "claude",
    *,
    limit_tokens: int | None = None,
    policy: Policy = ASSUMING,
) -> Observation:
    return assess(
        evidence,
        origin=Origin(
            adapter=adapter,
            source=f"{adapter}.stream",
            method=f"{adapter}_stream_usage",
            channel=Channel.HANDED_OVER,
            client=adapter,
        ),
        query=Query(at=AT, limit_tokens=limit_tokens),
        policy=policy,
    )


def stated(used: int, limit: int) -> Observation:
    """Return what a runtime states that can overflow its window."""
    pair = TokenPair(
        measured_at=AT,
        usage=usage_of(prompt=used, output=0),
        used_basis=UsedBasis.PROMPT,
        limit_tokens=limit,
        limit_basis=LimitBasis.WINDOW,
        overflows=True,
    )
    return judged(pair)


def nothing(reason: MissingReason = MissingReason.NOT_MEASURED_YET) -> Missing:
    return Missing(reason=reason, provenance=Provenance(adapter="claude", source="claude.stream"))


def line(observation: Observation, **asked: Any) -> Callable[[], str]:
    return lambda: iteration_line(12_345, 0.0526, 3, observation, **asked)


BASE = "Duration: 12345ms | Est. cost: $0.0526 | Turns: 3"

# Ralph's three messages: input, output, cache write, cache read.
CLAUDE_MESSAGES = ((100, 20, 50, 1000), (300, 40, 10, 4000), (10, 5, 1, 200))


def claude_message(
    number: int, counts: tuple[int, int, int, int], *content: dict[str, Any], **frame: Any
) -> dict[str, Any]:
    prompt, output, written, read = counts
    usage = {
        "input_tokens": prompt,
        "output_tokens": output,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
    }
    message = {"usage": usage, "content": list(content)}
    return claude_frames.assistant(0, f"msg_{number}", message=message, **frame)


CLAUDE_FRAMES = [claude_message(*numbered) for numbered in enumerate(CLAUDE_MESSAGES)]


def streamed(frames: Iterable[dict[str, Any]]) -> cm.Stream:
    stream = cm.Stream(claude.STREAM, limit_tokens=200_000)
    for frame in frames:
        stream.feed(json.dumps(frame), at=AT)
    return stream


def fallen() -> cm.Stream:
    """Return a stream whose context was compacted on the way."""
    frames = [
        claude_message(1, (150_000, 1, 0, 0)),
        claude_frames.boundary(),
        claude_message(2, (20_000, 1, 0, 0)),
    ]
    return streamed(frames)


def used_tokens(observation: Observation) -> int | None:
    """Return the count that was measured, None if none was."""
    return Peaks().updated(observation).peak.used_tokens


def usage_in(observation: Observation) -> TokenUsage:
    assert observation.provenance.usage is not None
    return observation.provenance.usage


def peaks_so_far() -> list[int | None]:
    return [used_tokens(streamed(CLAUDE_FRAMES[:n]).peak) for n in (1, 2, 3)]


def outputs_so_far() -> list[int]:
    return [usage_in(streamed(CLAUDE_FRAMES[:n]).latest).output_tokens for n in (1, 2, 3)]


def caches_of_the_peak() -> tuple[int, int]:
    usage = usage_in(streamed(CLAUDE_FRAMES).peak)
    return usage.cache_read_tokens, usage.cache_write_tokens


def without_cache_fields() -> object:
    frame = claude_frames.assistant(0, message={"usage": {"input_tokens": 7, "output_tokens": 2}})
    observation = streamed([frame]).latest
    return observation.reason if isinstance(observation, Missing) else used_tokens(observation)


def parsed() -> tuple[int, int, int, int]:
    usage = usage_in(streamed([claude_message(1, (123, 45, 10, 88))]).latest)
    return (
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_write_tokens,
        usage.cache_read_tokens,
    )


def with_a_sub_agent() -> int | None:
    sub_agent = claude_message(2, (5_000, 1, 0, 0), parent_tool_use_id="toolu_1")
    return used_tokens(streamed([claude_message(1, (1_000, 1, 0, 0)), sub_agent]).peak)


def with_a_thinking_block() -> int | None:
    thinking = {"type": "thinking", "thinking": "…"}
    return used_tokens(streamed([claude_message(1, (1_000, 1, 0, 0), thinking)]).latest)


def after_a_kill() -> int | None:
    stream = streamed(CLAUDE_FRAMES)
    stream.finish(at=AT)
    return used_tokens(stream.peak)


# Ralph's three turns of Pi: input, output, cache read, cache write.
PI_TURNS = ((100, 50, 1_000, 20), (500, 60, 4_000, 30), (10, 20, 200, 5))


def pi_turn(number: int, counts: tuple[int, int, int, int]) -> dict[str, Any]:
    usage = dict(zip(("input", "output", "cacheRead", "cacheWrite"), counts, strict=True))
    reply = {
        "role": "assistant",
        "provider": "anthropic",
        "model": "claude-opus-5",
        "stopReason": "stop",
        "timestamp": int(AT.timestamp() * 1_000) + number,
    }
    return {"type": "turn_end", "message": {**reply, "usage": usage}, "toolResults": []}


def turned(turns: Iterable[dict[str, Any]], policy: Policy = PROMPTS) -> cm.Stream:
    stream = cm.Stream(pi.STREAM, limit_tokens=200_000, policy=policy)
    for turn in turns:
        stream.feed(json.dumps(turn), at=AT)
    return stream


def pi_peaks_so_far(policy: Policy) -> Callable[[], list[int | None]]:
    turns = [pi_turn(*numbered) for numbered in enumerate(PI_TURNS)]
    return lambda: [used_tokens(turned(turns[:n], policy).peak) for n in (1, 2, 3)]


def pi_parts() -> tuple[int, int]:
    usage = usage_in(turned(pi_turn(*numbered) for numbered in enumerate(PI_TURNS)).peak)
    return usage.input_tokens, usage.cache_read_tokens


def pi_with_turns_without_usage() -> tuple[int | None, int | None]:
    silent = pi_turn(2, (0, 0, 0, 0))
    del silent["message"]["usage"]
    empty: dict[str, Any] = {"type": "turn_end", "message": None, "toolResults": []}
    stream = turned([pi_turn(1, (100, 50, 1_000, 0)), silent, empty])
    return used_tokens(stream.latest), used_tokens(stream.peak)


# -- peaks over iterations ------------------------------------------------------------------------

ITERATIONS = (("builder", 10_000), ("builder", 5_000), ("critic", 25_000), ("builder", 0))


def iterated() -> list[Peaks]:
    """Return the peaks after each of Ralph's iterations; its 0 is a backend that reported none."""
    after = [Peaks()]
    for hat, used in ITERATIONS:
        none = nothing(MissingReason.USAGE_NOT_REPORTED)
        after.append(after[-1].updated(judged(seen(used)) if used else none, hat=hat))
    return after[1:]


def tokens_by_hat(peaks: Peaks) -> dict[str, int | None]:
    return {hat: held.used_tokens for hat, held in peaks.by_hat.items()}


def current_tokens(peaks: Peaks) -> int | None:
    return None if peaks.current is None else used_tokens(peaks.current)


def resumed() -> tuple[int | None, int | None, dict[str, int | None]]:
    before = (
        Peaks()
        .updated(judged(seen(30_000)), hat="builder")
        .updated(judged(seen(7_000)), hat="critic")
    )
    peaks = Peaks.from_dict(json.loads(json.dumps(before.to_dict())))
    return peaks.peak.used_tokens, current_tokens(peaks), tokens_by_hat(peaks)


def current_after_a_compaction() -> int | None:
    peaks = Peaks().updated(judged(seen(150_000))).updated(nothing(MissingReason.COMPACTED))
    return current_tokens(peaks)


# -- windows and events ---------------------------------------------------------------------------


def window(
    adapter: str, override: int | None = None, policy: Policy = ASSUMING, **sample: Any
) -> Callable[[], object]:
    return lambda: runner_event_fields(
        judged(seen(5_000, **sample), adapter, limit_tokens=override, policy=policy)
    ).get("context_window")


def field(name: str, observation: Observation) -> Callable[[], object]:
    return lambda: runner_event_fields(observation).get(name)


NO_ZERO = "0 never stands for what is not known: the key is absent, and a reason is beside it."

EXPECTATIONS = (
    # format_session_summary
    same("the base of the line", line(nothing()), BASE),
    Expectation(
        of="42,000 tokens of an unknown window",
        ask=line(judged(seen(42_000), "gemini")),
        theirs=BASE,
        ours=f"{BASE} | Tokens: 42K",
        why="Ralph's specification has `Tokens: 42K` here; its code leaves the part out.",
    ),
    same("a window of 200,000 and no count", line(nothing()), BASE),
    same(
        "90,000 of a stated 200,000, cache included",
        line(stated(90_000, 200_000)),
        f"{BASE} | Context: 45% (90K/200K)",
    ),
    Expectation(
        of="90,000 of an assumed 200,000",
        ask=line(judged(seen(90_000))),
        theirs=f"{BASE} | Context: 45% (90K/200K)",
        ours=f"{BASE} | Context: ~45% (90K/200K assumed)",
        why="An assumed limit is visible as one: most current models have a window of 1,000,000.",
    ),
    Expectation(
        of="1,500 of 200,000",
        ask=line(stated(1_500, 200_000)),
        theirs=f"{BASE} | Context: 0% (2K/200K)",
        ours=f"{BASE} | Context: 1% (2K/200K)",
        why="A percentage is rounded half up, as the counts beside it are.",
    ),
    same(
        "1,500 of 200,000, cut off",
        line(stated(1_500, 200_000), percent="floor"),
        f"{BASE} | Context: 0% (2K/200K)",
    ),
    same(
        "250,000 of 200,000 where the runtime states both",
        line(stated(250_000, 200_000)),
        f"{BASE} | Context: 125% (250K/200K)",
    ),
    Expectation(
        of="250,000 of an assumed 200,000",
        ask=line(judged(seen(250_000))),
        theirs=f"{BASE} | Context: 125% (250K/200K)",
        ours=f"{BASE} | Tokens: 250K",
        why="A limit that the session itself refutes is no limit; the count stands alone.",
    ),
    same(
        "123,456 of 1,000,000",
        line(stated(123_456, 1_000_000)),
        f"{BASE} | Context: 12% (123K/1000K)",
    ),
    same(
        "89,700 in thousands, cut off",
        line(stated(89_700, 200_000), percent="floor"),
        f"{BASE} | Context: 44% (90K/200K)",
    ),
    same(
        "89,499 in thousands, cut off",
        line(stated(89_499, 200_000), percent="floor"),
        f"{BASE} | Context: 44% (89K/200K)",
    ),
    same(
        "an iteration that was at 150,000 and ended at 20,000, shown by its peak",
        line(fallen().peak),
        f"{BASE} | Context: 75% (150K/200K)",
    ),
    Expectation(
        of="an iteration that was at 150,000 and ended at 20,000, shown as it is",
        ask=line(fallen().latest),
        theirs=f"{BASE} | Context: 75% (150K/200K)",
        ours=f"{BASE} | Context: 10% (20K/200K)",
        why="Ralph calls an iteration's peak its context; the current and the peak are two things.",
    ),
    # Claude's stream
    same("Claude's peak after each of three messages", peaks_so_far, [1_150, 4_310, 4_310]),
    Expectation(
        of="Claude's output after each of three messages",
        ask=outputs_so_far,
        theirs=[20, 60, 65],
        ours=[20, 40, 5],
        why=(
            "Each request's own usage is kept, and no sum: Claude Code repeats a message's usage "
            "in several lines, so a sum over lines counts it several times."
        ),
    ),
    Expectation(
        of="cache reads and writes of Claude's peak",
        ask=caches_of_the_peak,
        theirs=(4_000, 50),
        ours=(4_000, 10),
        why="A peak is one request, and its parts are that request's: they add up.",
    ),
    Expectation(
        of="a usage of Claude's without cache fields",
        ask=without_cache_fields,
        theirs=7,
        ours=MissingReason.USAGE_INCOMPLETE,
        why="Absent is not 0: a gateway may leave out the cache, which is most of the prompt.",
    ),
    same("Claude's message.usage", parsed, (123, 45, 10, 88)),
    Expectation(
        of="a sub-agent of 5,000 beside a main chain of 1,000",
        ask=with_a_sub_agent,
        theirs=5_000,
        ours=1_000,
        why="A sub-agent has a context window of its own.",
    ),
    Expectation(
        of="a message of 1,000 with a thinking block",
        ask=with_a_thinking_block,
        theirs=0,
        ours=1_000,
        why="A kind of content that is not known does not make a usage unreadable.",
    ),
    Expectation(
        of="Claude's peak without a result, after a kill",
        ask=after_a_kill,
        theirs=0,
        ours=4_310,
        why="What was measured stays measured, however the process ended.",
    ),
    # Pi's stream
    Expectation(
        of="Pi's peak after each of three turns",
        ask=pi_peaks_so_far(PROMPTS),
        theirs=[1_100, 4_500, 4_500],
        ours=[1_120, 4_530, 4_530],
        why="A prompt has three parts: what is written to a cache was sent to the model, too.",
    ),
    Expectation(
        of="Pi's peak after each of three turns, by Pi's own meter",
        ask=pi_peaks_so_far(Policy()),
        theirs=[1_100, 4_500, 4_500],
        ours=[1_170, 4_590, 4_590],
        why='Pi itself counts the output, so we do by default; `counts="prompt"` leaves it out.',
    ),
    Expectation(
        of="a turn of Pi's with a cold cache",
        ask=lambda: used_tokens(turned([pi_turn(1, (10, 168, 0, 177_026))]).peak),
        theirs=10,
        ours=177_036,
        why="A cold cache puts all of the prompt into its writes, which Ralph leaves out.",
    ),
    Expectation(
        of="input and cache reads of three turns of Pi's",
        ask=pi_parts,
        theirs=(610, 5_200),
        ours=(500, 4_000),
        why="A sum over requests says nothing of the window; these are the fullest request's.",
    ),
    same(
        "Pi's turns without usage or without a message", pi_with_turns_without_usage, (1_100,) * 2
    ),
    # record_iteration_tokens and --continue
    same(
        "peaks by hat",
        lambda: tokens_by_hat(iterated()[-1]),
        {"builder": 10_000, "critic": 25_000},
    ),
    same("the peak of all hats", lambda: iterated()[-1].peak.used_tokens, 25_000),
    same(
        "the last count after each iteration, one that reported none included",
        lambda: [current_tokens(peaks) for peaks in iterated()],
        [10_000, 5_000, 25_000, 25_000],
    ),
    same("a resumed loop", resumed, (30_000, 7_000, {"builder": 30_000, "critic": 7_000})),
    Expectation(
        of="the last count after a compaction of 150,000",
        ask=current_after_a_compaction,
        theirs=150_000,
        ours=None,
        why="Nothing is known of a compacted context before its next response.",
    ),
    # resolve_context_window
    same("a window of 1,000,000 from the configuration", window("claude", 1_000_000), 1_000_000),
    same("a window of 128,000 of an unknown backend", window("unknown", 128_000), 128_000),
    same("a window of 1,000,000 of Gemini's", window("gemini", 1_000_000), 1_000_000),
    same("Claude's window, where defaults are assumed", window("claude"), 200_000),
    same("Pi's window, where defaults are assumed", window("pi"), 200_000),
    *(
        Expectation(
            of=f"the window of {backend}, where nothing says it",
            ask=window(backend),
            theirs=0,
            ours=None,
            why=NO_ZERO,
        )
        for backend in ("unknown", "gemini")
    ),
    Expectation(
        of="Claude's window, where nothing is assumed",
        ask=window("claude", policy=Policy()),
        theirs=200_000,
        ours=None,
        why="A default is assumed only for a caller who asks for it: `RUNNER_DEFAULTS`.",
    ),
    Expectation(
        of="the window of Claude's model with 1,000,000",
        ask=window("claude", model="claude-opus-5"),
        theirs=200_000,
        ours=1_000_000,
        why="The model's own window goes before an assumed one.",
    ),
    # iteration.summary and iteration_end
    same(
        "the percentage of 88,000 of 200,000",
        field("context_utilization_pct", stated(88_000, 200_000)),
        44,
    ),
    Expectation(
        of="the percentage of 199,980 of 200,000",
        ask=field("context_utilization_pct", stated(199_980, 200_000)),
        theirs=99,
        ours=99.99,
        why="An event carries the share as it is; whoever shows it rounds it.",
    ),
    Expectation(
        of="the percentage of an unknown window",
        ask=field("context_utilization_pct", judged(seen(88_000), "gemini")),
        theirs=0,
        ours=None,
        why=NO_ZERO,
    ),
    same("the input of an event", field("input_tokens", stated(90_000, 200_000)), 90_000),
    same("the context of an event", field("context_tokens", stated(90_000, 200_000)), 90_000),
    Expectation(
        of="the input of a backend that reports none",
        ask=field("input_tokens", nothing(MissingReason.SOURCE_UNSUPPORTED)),
        theirs=0,
        ours=None,
        why=NO_ZERO,
    ),
)


@pytest.mark.parametrize("row", EXPECTATIONS, ids=lambda row: row.of)
def test_an_expectation_of_ralphs_is_met_or_differed_from_for_a_reason(row: Expectation) -> None:
    assert row.ask() == row.ours
    assert bool(row.why) is (row.ours != row.theirs)


def test_no_two_expectations_are_about_one_thing() -> None:
    assert len({row.of for row in EXPECTATIONS}) == len(EXPECTATIONS)
