"""Public faults of agents and clients of the Agent Client Protocol, with the right answer.

Each case is what was sent, one message per line, and what it measures: the agents are quoted from
the issues and pull requests that the names point to.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import pytest
from acp_messages import AT

import ctxmeasure as cm
from ctxmeasure import Missing, MissingReason, Observed, Stream
from ctxmeasure.testing.acp.messages import (
    CLAUDE,
    A,
    B,
    answered,
    compaction,
    initialized,
    kiro,
    metadata,
    opened,
    request,
    update,
    usage,
)
from ctxmeasure.testing.session import line

SUMS = {"totalTokens": 5_200_000, "inputTokens": 5_160_000, "outputTokens": 40_000}
PROMPT = request("session/prompt", 3, sessionId=A, prompt=[{"type": "text", "text": "usage"}])
CHUNK = update("agent_message_chunk", content={"type": "text", "text": "Done."})

CASES: dict[str, tuple[list[dict[str, Any]], Any]] = {
    # A client divided the sum by the window: 521 %.
    "NousResearch/hermes-agent#101817": (
        [opened(), PROMPT, answered(usage=SUMS)],
        MissingReason.CUMULATIVE_ONLY,
    ),
    # The client dropped what the agent stated, and showed no meter.
    "getpaseo/paseo#1390": ([opened(), PROMPT, usage(27_996), answered()], (27_996, 200_000)),
    # cursor-agent 2026.07.23 and copilot 1.0.75: a whole turn without a word on use.
    "kurrent-io/kcap-cli#370": (
        [opened(), PROMPT, update("available_commands_update"), CHUNK, answered()],
        MissingReason.USAGE_NOT_REPORTED,
    ),
    # The count of a turn's last call, not the sum, beside the window that Pi states.
    "svkozak/pi-acp#87": ([opened(), usage(4_184, 272_000)], (4_184, 272_000)),
    "svkozak/pi-acp#97": (
        [opened(), PROMPT, usage(60_000), answered(usage=SUMS)],
        (60_000, 200_000),
    ),
    # "We don't get the exact new usage after compaction, so I set it to zero."
    "agentclientprotocol/claude-agent-acp#345": (
        [initialized(), opened(), usage(171_000), usage(0)],
        MissingReason.NOT_MEASURED_YET,
    ),
    # 332K of a window of 1,000,000, stated as 200,000.
    "agentclientprotocol/claude-agent-acp#596": (
        [initialized(CLAUDE, "0.31.0"), opened(), usage(332_000)],
        MissingReason.LIMIT_CONTRADICTED,
    ),
    # The client took the count after a compaction for zero until the next report.
    "pingdotgg/t3code#6461": (
        [opened(), usage(171_000), compaction("in_progress"), compaction()],
        MissingReason.COMPACTED,
    ),
    # null for what is not known, which the protocol does not allow.
    "xintaofei/codeg": (
        [opened(), usage(53_000), usage(None)],
        MissingReason.USAGE_NOT_REPORTED,
    ),
    # Kiro CLI gives a share and no counts.
    "daronyondem/agent-cockpit#96": (
        [opened(), metadata(1.9138001203536987), PROMPT, metadata(2.05, credits=0.06), answered()],
        2.05,
    ),
    # Sub-agents send their own shares on the same connection.
    "kiro-cli 2.4.1, five sessions": (
        [opened(), PROMPT, metadata(42.0), metadata(77.7, B), CHUNK],
        42.0,
    ),
    # The share is reported again about a second after the compaction.
    "kirodotdev/KiroCrew#1090": (
        [opened(), metadata(81.5), kiro("compaction/status", status={"type": "completed"})],
        MissingReason.COMPACTED,
    ),
    # Bare objects without the envelope: whose they are cannot be told.
    "kirodotdev/Kiro#6131": (
        [{"sessionUpdate": "usage_update", "used": 53_000, "size": 200_000}],
        MissingReason.NOT_MEASURED_YET,
    ),
    # A meter that is stuck at nothing.
    "kirodotdev/Kiro#5457": (
        [opened(), metadata(0), PROMPT, metadata(0.0)],
        MissingReason.NOT_MEASURED_YET,
    ),
}


def said(content: bytes) -> Any:
    """Return the pair, the percentage or the reason that the lines of *content* come to."""
    stream = Stream("acp.session")
    stream.feed_bytes(content, at=AT)
    match stream.finish(at=AT):
        case Observed(value=cm.TokenMeasurement() as pair):
            return pair.used_tokens, pair.limit_tokens
        case Observed(value=cm.PercentMeasurement() as share):
            return share.used_percent
        case Missing(reason=reason):
            return reason


@pytest.mark.parametrize("issue", CASES)
def test_an_issues_messages_measure_what_is_right(issue: str) -> None:
    rows, right = CASES[issue]
    assert said(b"".join(map(line, rows))) == right


@pytest.mark.parametrize("issue", CASES)
def test_an_issues_messages_cut_anywhere_say_an_older_truth(issue: str) -> None:
    whole = list(accumulate((line(row) for row in CASES[issue][0]), initial=b""))
    older = [said(content) for content in whole]
    for n, (before, after) in enumerate(pairwise(whole)):
        for cut in range(len(before), len(after)):
            torn = MissingReason.SOURCE_MALFORMED if n == 0 else older[n]  # then it is all there is
            assert said(after[:cut]) in (older[n], older[n + 1], torn)
