"""Numbers that other tools got wrong about Codex's rollouts in public, and the right ones.

The cases are those of formats/codex.md §7 that a rollout comes into, by their number there: those
about ``exec --json`` (2 to 6, 8), the app-server (6, 7, 8), the SQLite index (9) and Codex's own
percentage (17, 19) belong to other sources, and no rows were reported with 36.

``right`` is what must be said: used and limit, or the reason why there is no number, followed by
the used tokens that are still known (with a tilde where Codex only estimated them).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeAlias

import pytest
from attrs import field, frozen

import ctxmeasure as cm
from ctxmeasure.testing import START
from ctxmeasure.testing.codex.rows import PARENT, PARENTS_TURN, THREAD, RolloutRows, usage

AT = START + timedelta(hours=1)

Step: TypeAlias = Callable[[RolloutRows], object]


@frozen
class Case:
    """One rollout and what must be said of it.

    Attributes:
        issue: The number, and where it was reported.
        right: What must be said.
        content: The rollout.
        asked: What is asked for.
    """

    issue: str
    right: str
    content: bytes = field(repr=False)
    asked: dict[str, Any] = field(factory=dict)


def case(issue: str, right: str, *steps: Step, **asked: Any) -> Case:
    """Return the case of a thread that goes on with *steps*."""
    asked = {"version": "0.171.0", "window": 258_400, "model": "gpt-5.5", **asked}
    session = RolloutRows(**{key: asked.pop(key) for key in ("version", "window", "model")})
    for step in steps:
        step(session)
    return Case(issue, right, session.content, asked)


def begin(**meta: Any) -> Step:
    return lambda session: session.begin(**meta)


def start(turn_id: str | None = None) -> Step:
    return lambda session: session.start(turn_id)


def respond(*used: int) -> Step:
    def write(session: RolloutRows) -> None:
        for tokens in used:
            session.respond(tokens)

    return write


def end(session: RolloutRows) -> None:
    session.end()


def compact(request: int, estimate: int) -> Step:
    return lambda session: session.compact(request, estimate)


def sized(window: int) -> Step:
    """Let Codex state another window from now on."""

    def resize(session: RolloutRows) -> None:
        session.window = window

    return resize


def reported(**counts: Any) -> Step:
    """Write a response with these counts."""

    def write(session: RolloutRows) -> None:
        session.message()
        session.last = session.total = {**usage(0, 0), "reasoning_output_tokens": 0, **counts}
        session.record() if session.minor >= 155 else None
        session.count()

    return write


def with_keys(**keys: Any) -> Step:
    """Write a response whose ``info`` has keys of a modified client."""

    def write(session: RolloutRows) -> None:
        session.message()
        session.take(14_580)
        session.count(**keys)

    return write


def summed(session: RolloutRows) -> None:
    """Write a record with the running sums that stand beside its usage."""
    session.message()
    session.take(15_160)
    session.record(turn_token_usage=usage(43_860), thread_token_usage=usage(300_000))


def tool_output(session: RolloutRows) -> None:
    session.row("response_item", {"type": "function_call_output", "output": "x" * 100_000})


def copied(*used: int) -> Step:
    """Write a parent's turn into a fork's file, with the fork's time."""

    def write(session: RolloutRows) -> None:
        session.start(PARENTS_TURN)
        for tokens in used:
            session.respond(tokens)
        session.end()

    return write


MAIN = (begin(), start())
FORK = begin(forked_from_id=PARENT)
SPAWN = begin(source={"subagent": {"thread_spawn": {"parent_thread_id": PARENT}}})

CASES = [
    # used: the last request, as Codex counts it
    case("1 agor#1264", "15,160 of 258,400", *MAIN, respond(200_000, 250_000, 15_160)),
    case(
        "20 codex#3630",
        "14,580 of 272,000",
        *MAIN,
        respond(14_120, 14_580),
        version="0.36.0",
        window=272_000,
    ),
    case(
        "21 codex#32888: what was added since is not in it",
        "120,100 of 258,400",
        *MAIN,
        respond(120_100),
        tool_output,
    ),
    case(
        "32 claude-tap#423: cached tokens lie inside the input",
        "223,483 of 258,400",
        *MAIN,
        reported(
            input_tokens=222_000,
            cached_input_tokens=170_496,
            output_tokens=1_483,
            total_tokens=223_483,
        ),
    ),
    case(
        "33 entireio#1021: reasoning lies inside the output",
        "125,246 of 258,400",
        *MAIN,
        reported(
            input_tokens=123_302,
            cached_input_tokens=110_000,
            output_tokens=1_944,
            reasoning_output_tokens=1_100,
            total_tokens=125_246,
        ),
    ),
    case(
        "34 codex-acp#509: cache writes lie inside the input",
        "20,040 of 258,400",
        *MAIN,
        reported(
            input_tokens=20_000,
            cached_input_tokens=9_000,
            cache_write_input_tokens=8_000,
            output_tokens=40,
            total_tokens=20_040,
        ),
    ),
    case("31 codeburn#1380: sums stand beside a record", "15,160 of 258,400", *MAIN, summed),
    # the window: the row's own
    case(
        "14 codex#29426",
        "15,600 of 353,400",
        *MAIN,
        respond(15_000),
        end,
        sized(353_400),
        start(),
        respond(15_600),
    ),
    case(
        "15 codex#30875",
        "15,600 of 258,400",
        *MAIN,
        sized(353_400),
        respond(15_000),
        sized(258_400),
        respond(15_600),
    ),
    case("16 codex#19319", "15,000 of 258,400", *MAIN, respond(15_000)),
    case(
        "17 codex#13623",
        "15,000 of 950,000",
        *MAIN,
        respond(15_000),
        window=950_000,
        model="gpt-5.4",
    ),
    case(
        "18 codex#10858",
        "14,900 of 38,000",
        *MAIN,
        respond(14_900),
        version="0.98.0",
        window=38_000,
        model="gpt-oss:20b",
    ),
    case("22 humanlayer#1023", "250,000 of 258,400", *MAIN, respond(250_000)),
    case("23 jetbrains-cc-gui#1585", "100,000 of 258,400", *MAIN, respond(198_800, 100_000)),
    case(
        "24 opencodex#2574", "15,000 of 258,400", SPAWN, start(), respond(15_000), agent_id=THREAD
    ),
    case(
        "35 codex-trace#154: keys of a modified client",
        "14,580 of 190,000",
        *MAIN,
        with_keys(cache_creation_input_tokens=0, auto_compact_token_limit=1, model="x"),
        version="0.115.0",
        window=190_000,
    ),
    case(
        "37 oh-my-codex#1752: a model that was switched to",
        "15,600 of 475,000",
        *MAIN,
        respond(15_000),
        end,
        sized(475_000),
        start(),
        respond(15_600),
    ),
    # counts that no window holds
    case(
        "13 codex#24089",
        "limit_contradicted (4,280,000)",
        *MAIN,
        respond(4_280_000),
        version="0.130.0",
        window=570_000,
    ),
    case(
        "13 codex#24089 (2)",
        "limit_contradicted (777,000)",
        *MAIN,
        respond(777_000),
        version="0.130.0",
    ),
    # compactions
    case(
        "10 codex#9416", "compacted (~258,400)", *MAIN, respond(230_000), compact(231_000, 258_400)
    ),
    case(
        "11 openclaw#139285", "compacted (~6,851)", *MAIN, respond(180_000), compact(181_000, 6_851)
    ),
    case(
        "12 codex#40856",
        "9,133 of 258,400",
        *MAIN,
        respond(180_000),
        compact(181_000, 6_851),
        respond(9_133),
    ),
    # rows that were copied from a parent
    case("25 ccusage#950", "carried_over", SPAWN, copied(61_840), start(), version="0.130.0"),
    case(
        "25 ccusage#950 (2)",
        "62,040 of 258,400",
        SPAWN,
        copied(61_840),
        start(),
        respond(62_040),
        version="0.130.0",
    ),
    case(
        "26 ccusage#1370",
        "carried_over",
        FORK,
        begin(id=PARENT),
        copied(14_100, 61_840),
        version="0.145.0",
    ),
    case(
        "27 tokscale#679: no session_meta of the parent",
        "carried_over",
        FORK,
        copied(61_840),
        version="0.130.0",
    ),
    case("28 CodexBar#3524", "carried_over", SPAWN, copied(61_840), version="0.150.0"),
    case(
        "29 PokeTokenBar#128",
        "62,540 of 258,400",
        FORK,
        begin(id=PARENT),
        copied(61_840),
        start(),
        respond(62_540),
        version="0.145.0",
    ),
    case(
        "30 vibe-usage#34",
        "62,540 of 258,400",
        FORK,
        begin(id=PARENT),
        copied(61_840),
        start(),
        respond(62_540),
        version="0.130.0",
        session_id=THREAD,
    ),
    case(
        "30 vibe-usage#34 (2)",
        "session_mismatch",
        FORK,
        begin(id=PARENT),
        copied(61_840),
        start(),
        respond(62_540),
        version="0.130.0",
        session_id=PARENT,
    ),
]


def said(observation: cm.Observation) -> str:
    """Return what *observation* says, in the words of the table."""
    if isinstance(observation, cm.Observed):
        assert isinstance(observation.value, cm.TokenMeasurement)
        return f"{observation.value.used_tokens:,} of {observation.value.limit_tokens:,}"
    known = observation.partial
    if known is None or known.used_tokens is None:
        return observation.reason.value
    tilde = "~" if known.estimated else ""
    return f"{observation.reason.value} ({tilde}{known.used_tokens:,})"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.issue)
def test_what_was_wrong_in_public_is_right_here(case: Case) -> None:
    assert said(cm.observe("codex.rollout", case.content, at=AT, **case.asked)) == case.right
