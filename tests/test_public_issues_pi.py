"""Numbers that Pi or its clients got wrong in public, and the right ones.

The cases are those of formats/pi_ralph.md §10 that data of Pi's come into, by their number there.
Those about Ralph and other runners (1 to 3, 33), about what a provider's answer is mapped to before
Pi writes it (17), and about windows of OpenRouter (22) are not told by them.

``right`` is what must be said: used and limit, with ``at least`` where more was added since, or the
reason why there is no number, followed by the used tokens that are still known (with a tilde where
Pi only estimated them).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from attrs import field, frozen
from pi_rows import AT

import ctxmeasure as cm
from ctxmeasure.testing import ABSENT
from ctxmeasure.testing.pi.events import answer, edit, message_end, turn_end
from ctxmeasure.testing.pi.rows import SessionRows, reply, usage
from ctxmeasure.testing.pi.rows import said as message


@frozen
class Case:
    """What one source was given and must be said of it.

    Attributes:
        issue: The number, and where it was reported.
        right: What must be said.
        observe: Observes what was given.
    """

    issue: str
    right: str
    observe: Callable[[], cm.Observation] = field(repr=False)


Step = Callable[[SessionRows], object]


def session(issue: str, right: str, *steps: Step, **asked: Any) -> Case:
    """Return the case of a session file that goes on with *steps*."""
    writer = SessionRows(asked.pop("version", 3))
    for step in steps:
        step(writer)
    return Case(
        issue, right, lambda: cm.observe("pi.session", writer.content, **{"at": AT, **asked})
    )


def stream(issue: str, right: str, *events: dict[str, Any], **asked: Any) -> Case:
    """Return the case of the event lines *events*."""

    def observe() -> cm.Observation:
        heard = cm.Stream("pi.stream", **asked)
        for event in events:
            heard.feed(json.dumps(event), at=AT)
        return heard.finish(at=AT)

    return Case(issue, right, observe)


def stats(issue: str, right: str, **answered: Any) -> Case:
    """Return the case of an answer to ``get_session_stats``."""
    sums = {"input": 21_000, "output": 900, "total": 161_921}
    payload = answer("get_session_stats", {"tokens": sums, **answered})
    return Case(issue, right, lambda: cm.observe("pi.rpc", payload, at=AT))


def respond(*used: int, **fields: Any) -> Step:
    def write(writer: SessionRows) -> None:
        for tokens in used:
            writer.say()
            writer.reply(tokens, **fields)

    return write


def prompt(writer: SessionRows) -> None:
    writer.say()


def tool(writer: SessionRows) -> None:
    writer.say("toolResult", content="x" * 100_000)


def compact(writer: SessionRows) -> None:
    writer.compact()


def fail(writer: SessionRows) -> None:
    writer.reply(0, stopReason="error", usage=NOTHING, errorMessage="529 overloaded")


def dropped(writer: SessionRows) -> None:
    writer.row("context_edit", targetId=writer.leaf, replacement=None)


def back(writer: SessionRows) -> None:
    """Go back to the first reply and ask something else."""
    writer.back_to("00000002")
    writer.say()


NOTHING = usage(0, input=0, output=0, cacheRead=0, cacheWrite=0)
OUTPUT_ONLY = usage(300, input=0, output=300, cacheRead=0, cacheWrite=0)
RESULT = {"summary": "words", "tokensBefore": 186_000}
COMPACTED = {"type": "compaction_end", "reason": "threshold", "aborted": False, "result": RESULT}
ESTIMATED = {**COMPACTED, "result": {**RESULT, "estimatedTokensAfter": 12_000}}
BEGUN = {"type": "compaction_start", "reason": "threshold"}


def selected(window: Any) -> dict[str, Any]:
    """Return the answer that a model of the user's own has a window."""
    model = {"id": "local", "provider": "llama", "contextWindow": window}
    return answer("get_state", {"model": model})


def local(used: int, **fields: Any) -> dict[str, Any]:
    """Return the event of a reply of that model."""
    return message_end(reply(used, model="local", provider="llama", **fields))


def of(provider: str, model: str) -> dict[str, str]:
    return {"provider": provider, "model": model}


CASES = [
    # compactions
    session("4 pi#1374: after a compaction", "compacted", respond(186_000), compact),
    session(
        "4 pi-mono#1382: the latest compaction counts",
        "compacted",
        *(respond(186_000), compact, respond(150_000), compact, prompt),
    ),
    session("5 pi#635: right after /compact", "compacted", respond(40_000), compact),
    session("5 pi#635 (2): right after /new", "not_measured_yet", prompt),
    stream(
        "6 pi#5483: an estimate is no number",
        "compacted (~12,000)",
        *(message_end(reply(186_000)), BEGUN, ESTIMATED),
    ),
    session(
        "10 pi#1834: errors that go on",
        "at least 150,000 of 200,000",
        *(respond(150_000), prompt, fail, fail, fail),
    ),
    session(
        "10 pi#1860: the first prompt after a compaction",
        "compacted",
        *(respond(186_000), compact, prompt, fail),
    ),
    session(
        "26 pi#6464: usage from before the boundary",
        "9,000 of 200,000",
        *(respond(186_000), compact, respond(9_000)),
    ),
    stream(
        "29 paseo#3726: a compaction comes behind agent_end",
        "compacted",
        message_end(reply(186_000)),
        {"type": "agent_end", "messages": [reply(186_000)]},
        *(BEGUN, COMPACTED),
    ),
    stats(
        "29 pi-agent-desktop#38: null is a state",
        "compacted",
        contextUsage={"tokens": None, "contextWindow": 200_000, "percent": None},
    ),
    # usage that is none
    session(
        "8 pi#5278: a usage of zeros with a good end",
        "at least 50,000 of 200,000",
        *(respond(50_000), respond(0, usage=NOTHING)),
    ),
    stream(
        "9 pi#4746: a server that reports no usage",
        "usage_not_reported",
        *(selected(130_000), local(0, usage=NOTHING)),
    ),
    stream(
        "9 pi#7259: the output alone",
        "usage_not_reported",
        *(selected(130_000), local(0, usage=OUTPUT_ONLY)),
    ),
    session("16 pi#6705", "usage_not_reported", respond(0, usage=ABSENT)),
    stream("16 pi#8192", "usage_not_reported", message_end(reply(0, usage=None))),
    session(
        "24 pi#9337: an aborted turn after a good one",
        "at least 100,000 of 200,000",
        *(respond(100_000), respond(250_000, stopReason="aborted")),
    ),
    # what the sum is made of
    session(
        "14 pi#6353: the input is what was not cached",
        "15,035 of 200,000",
        respond(
            15_035, usage=usage(15_035, input=10, output=25, cacheRead=3_000, cacheWrite=12_000)
        ),
    ),
    session(
        "15 pi-commandcode-provider#30: a provider that counts the cache twice",
        "sources_disagree (1,415)",
        respond(1_415, usage=usage(1_415, input=1_400, output=15, cacheRead=384, cacheWrite=0)),
    ),
    session(
        "15 pi-cursor-sdk#196",
        "sources_disagree (47,000)",
        respond(
            47_000, usage=usage(47_000, input=46_900, output=100, cacheRead=46_900, cacheWrite=0)
        ),
    ),
    session(
        "18 pi#3581: reasoning lies inside the output",
        "1,230 of 200,000",
        respond(
            1_230,
            usage=usage(1_230, input=200, output=30, cacheRead=1_000, cacheWrite=0, reasoning=10),
        ),
    ),
    stream(
        "28 oh-my-pi#306: the prompt alone, where that is asked for",
        "49,990 of 200,000",
        message_end(reply(50_000)),
        policy=cm.Policy(counts=cm.Counts.PROMPT),
    ),
    stream(
        "31 openclaw#70532: the input alone is next to nothing",
        "177,204 of 200,000",
        turn_end(
            reply(
                177_204,
                usage=usage(177_204, input=10, output=168, cacheRead=0, cacheWrite=177_026),
            )
        ),
    ),
    # sums
    stats("7 pi#2550: sums over the session", "cumulative_only"),
    stats(
        "7 pi#2550 (2)",
        "81,411 of 200,000",
        contextUsage={"tokens": 81_411, "contextWindow": 200_000, "percent": 40.7055},
    ),
    stats("28 oh-my-pi#4671: stats without the context", "cumulative_only", contextUsage=None),
    stats(
        "30 hapi#1106: Pi's own number goes before sums and tables",
        "81,411 of 200,000",
        contextUsage={"tokens": 81_411, "contextWindow": 200_000, "percent": 40.7055},
    ),
    # more was added, and more than the window
    session(
        "11 pi#6879: a long loop of tools",
        "at least 180,000 of 200,000",
        *(respond(180_000, stopReason="toolUse"), tool, tool),
    ),
    stats(
        "11 pi#7821: past the window",
        "297,047 of 272,000",
        contextUsage={"tokens": 297_047, "contextWindow": 272_000, "percent": 109.20845588235294},
    ),
    stream(
        "11 pi#7821 (2)",
        "limit_contradicted (297,047)",
        message_end(reply(297_047, **of("openai", "gpt-5.4"))),
    ),
    # the tree
    session(
        "12 pi#3314: /tree to an older message",
        "at least 50,000 of 200,000",
        *(respond(50_000), respond(90_000), back),
    ),
    session(
        "25 pi 0.87.0: a reply after a context edit is valid",
        "30,000 of 200,000",
        *(respond(50_000), dropped, respond(30_000)),
    ),
    session(
        "25 pi 0.87.0 (2): one before it is not",
        "rewound (50,000)",
        *(respond(50_000), prompt, fail, dropped),
    ),
    stream(
        "25 pi 0.87.0 (3)",
        "rewound (50,000)",
        *(message_end(reply(50_000)), message_end(message("user")), edit()),
    ),
    # windows
    session(
        "13 pi#6426: a switch to a smaller window",
        "limit_contradicted (250,000)",
        respond(250_000, **of("anthropic", "claude-opus-4-6")),
        lambda writer: writer.select("claude-sonnet-4-5"),
    ),
    session(
        "13 pi#6426 (2)",
        "150,000 of 200,000",
        respond(150_000, **of("anthropic", "claude-opus-4-6")),
        lambda writer: writer.select("claude-sonnet-4-5"),
    ),
    session(
        "19 pi#3647: gpt-5.x by provider",
        "100,000 of 272,000",
        respond(100_000, **of("openai", "gpt-5.5")),
    ),
    session(
        "20 pi#2135: Claude 4.6",
        "250,000 of 1,000,000",
        respond(250_000, **of("anthropic", "claude-sonnet-4-6")),
    ),
    session(
        "20 pi#2305: Claude 4.6 on Bedrock",
        "250,000 of 1,000,000",
        respond(250_000, **of("amazon-bedrock", "anthropic.claude-opus-4-6-v1")),
    ),
    session(
        "21 pi#7582: a model whose window is disputed",
        "model_unknown (100,000)",
        respond(100_000, **of("github-copilot", "gpt-5.3-codex")),
    ),
    session(
        "23 pi#11742: the same id at Azure",
        "100,000 of 1,050,000",
        respond(100_000, **of("azure", "gpt-5.4")),
    ),
    session(
        "23 pi#10840", "100,000 of 500,000", respond(100_000, **of("openai-codex", "gpt-6.1-sol"))
    ),
    stream(
        "27 pi#10077: the window that the server runs with",
        "20,000 of 32,768",
        *(selected(32_768), local(20_000)),
    ),
    session(
        "32 bobbit#85: not every Claude has 200,000",
        "184,000 of 1,000,000",
        respond(184_000, **of("anthropic", "claude-opus-4-6")),
    ),
    stream(
        "32 dotfiles#795: a window of null",
        "model_unknown (184,000)",
        *(selected(None), local(184_000)),
    ),
    session(
        "34 nimbalyst#825: 265,000 of 200,000",
        "265,000 of 1,000,000",
        respond(265_000, **of("anthropic", "claude-opus-4-6")),
    ),
]


def said(observation: cm.Observation) -> str:
    """Return what *observation* says, in the words of the table."""
    if isinstance(observation, cm.Observed):
        assert isinstance(observation.value, cm.TokenMeasurement)
        is_more = observation.completeness is cm.Completeness.LOWER_BOUND
        pair = f"{observation.value.used_tokens:,} of {observation.value.limit_tokens:,}"
        return f"at least {pair}" if is_more else pair
    known = observation.partial
    if known is None or known.used_tokens is None:
        return observation.reason.value
    tilde = "~" if known.estimated else ""
    return f"{observation.reason.value} ({tilde}{known.used_tokens:,})"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.issue)
def test_what_was_wrong_in_public_is_right_here(case: Case) -> None:
    assert said(case.observe()) == case.right
