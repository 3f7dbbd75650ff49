"""Readers as other tools have published them, each with what it breaks and what it says.

A reader here is a formula alone, taken from the report or the code that is named. Most are right
about some conversations, which is how they came to be used. ``docs/differences.md`` shows what each
says of its example.
"""

from __future__ import annotations

import published_formulas as formulas
from attrs import field, frozen
from published_formulas import Formula
from tongues import (
    Again,
    Compaction,
    Conversation,
    Detour,
    Failure,
    Response,
    Step,
    SubAgent,
    Text,
)

__all__ = ["PEERS", "Peer"]

# -- the conversations ----------------------------------------------------------------------------

PLAIN = Response(fresh=1_000, read=40_000, written=500, output=700)
FULL = Response(fresh=1_000, read=150_000, written=500, output=700)
LOOPED = Response(
    fresh=1_000,
    read=40_000,
    written=500,
    output=700,
    inner=(Response(fresh=1_000, read=149_500, written=1_000),),
)
SMALL = Response(fresh=200, read=17_000, written=500, output=90)
COLD = Response(fresh=10, written=41_490, output=700)
REASONED = Response(fresh=1_500, read=40_000, output=1_700, reasoning=1_200)
OVER = Response(fresh=2, read=211_129, written=955)
STILL_OVER = Response(fresh=1_002, read=211_129, written=955)
LONG_OUTPUT = Response(fresh=1_000, read=40_000, written=500, output=1_700)
BIG = Response(fresh=2_000, read=116_000, output=2_000)


def talk(*steps: Step) -> Conversation:
    """Return the conversation of these steps."""
    return Conversation(steps)


ONE = talk(PLAIN)
LONE = talk(Response(fresh=41_500, output=0))
FELL = talk(FULL, SMALL)
COMPACTED = talk(FULL, Compaction(18_000))
BILLED = Conversation((PLAIN,), billed=2_000_000)
FORKED = Conversation((PLAIN,), parent=(FULL,))


@frozen(kw_only=True)
class Peer:
    """A reader of another tool, and the pair of conversations in which it is wrong.

    Attributes:
        of: What it does.
        report: Where that was published.
        tongue: Whose rows it reads.
        formula: The reader.
        breaks: The name of the relation that it breaks.
        before: A conversation.
        after: The changed one.
        theirs: What it says of the example.
        ours: What ctxmeasure says of it.
        right: A conversation of which it says what we say; None where there is none, because it
            counts other tokens or takes what no measurement can be made of.
        is_of_before: Whether the example is the conversation before the change.
    """

    of: str
    report: str
    tongue: str
    formula: Formula = field(repr=False)
    breaks: str
    before: Conversation = field(repr=False)
    after: Conversation = field(repr=False)
    theirs: str
    ours: str
    right: Conversation | None = LONE
    is_of_before: bool = False

    @property
    def shown(self) -> Conversation:
        """The one of the two that is the example."""
        return self.before if self.is_of_before else self.after

    @property
    def link(self) -> str:
        """The report as a page links it; a tool without a number is named."""
        name, _, number = self.report.partition("#")
        if not number:
            return self.report
        return f"[{self.report}](https://github.com/{name}/issues/{number})"


# -- what they break -----------------------------------------------------------------------------

SUB_AGENT = "a sub-agent changes nothing"
AGAIN = "a response that is written down again changes nothing"
FAILED = "a failed call changes nothing"
CACHED = "how a prompt is cached changes nothing"
OUTPUT_OUT = "the output does not count where the agent's meter leaves it out"
OUTPUT_IN = "the output counts where the agent's meter counts it"
REASONING = "the reasoning lies inside the output"
SUMS = "a sum beside the usage changes nothing"
LOWERED = "a response of fewer tokens lowers the reading"
ENDED = "a compaction ends the old number"
OF_ITSELF = "what a compaction says of itself changes nothing"
BEHIND = "nothing before a compaction counts behind it"
LENGTH = "the length of a text changes nothing"
FORK = "a fork without a response of its own has no number"
PARENTS = "what a parent's rows say changes nothing"
EMPTY = "before the first response there is no number"
WIDER = "a window of twice the size halves the share and leaves the count"
LOOP = "the calls of a loop before the last one change nothing"
GONE_BACK = "a response that was gone back from does not count"
MODEL = "a model of another window has that one and the same count"
MARKER = "a long window that was asked for is the limit"
UNKNOWN = "a model that nobody knows takes the limit and leaves the count"
TWICE = "twice the tokens are twice the count and twice the share"
OVERFULL = "beyond the window every further token shows"
SHARE = "a share says nothing of counts"

PEERS = (
    Peer(
        of="the newest usage, a sub-agent's too",
        report="anthropics/claude-code#13820",
        tongue="claude.transcript",
        formula=formulas.last_usage,
        breaks=SUB_AGENT,
        before=ONE,
        after=talk(PLAIN, SubAgent(160_000)),
        theirs="160,000 of 200,000",
        ours="41,500 of 200,000",
    ),
    Peer(
        of="the newest frame, with or without `parent_tool_use_id`",
        report="Mng-dev-ai/agentrove#231",
        tongue="claude.stream",
        formula=formulas.last_usage,
        breaks=SUB_AGENT,
        before=ONE,
        after=talk(PLAIN, SubAgent(160_000)),
        theirs="160,000 of 200,000",
        ours="41,500 of 200,000",
    ),
    Peer(
        of="the sum over all rows",
        report="titeya/dms-claudecode#52",
        tongue="claude.transcript",
        formula=formulas.sum_of_usages,
        breaks=AGAIN,
        before=ONE,
        after=talk(PLAIN, Again(), Again()),
        theirs="124,500",
        ours="41,500 of 200,000",
    ),
    Peer(
        of="a row counted once, if it has a `requestId`",
        report="junhoyeo/tokscale#563",
        tongue="claude.transcript",
        formula=formulas.sum_by_request_id,
        breaks=AGAIN,
        before=ONE,
        after=talk(PLAIN, Again()),
        theirs="83,000",
        ours="41,500 of 200,000",
    ),
    Peer(
        of="the newest usage, an error's too",
        report="sirmalloc/ccstatusline#98",
        tongue="claude.transcript",
        formula=formulas.last_usage,
        breaks=FAILED,
        before=ONE,
        after=talk(PLAIN, Failure()),
        theirs="0 of 200,000",
        ours="41,500 of 200,000",
    ),
    Peer(
        of="the newest usage, one of zeros too",
        report="earendil-works/pi#5278",
        tongue="pi.session",
        formula=formulas.pi_last,
        breaks=FAILED,
        before=ONE,
        after=talk(PLAIN, Failure(silently=True)),
        theirs="0 of 200,000",
        ours="42,200 of 200,000",
    ),
    Peer(
        of="`input` alone",
        report="openclaw/openclaw#70532",
        tongue="pi.session",
        formula=formulas.pi_input,
        breaks=CACHED,
        before=talk(Response(fresh=41_500, output=700)),
        after=ONE,
        theirs="1,000 of 200,000",
        ours="42,200 of 200,000",
    ),
    Peer(
        of="`input` and `cacheRead`, without `cacheWrite`",
        report="Ralph 2.10.1",
        tongue="pi.stream",
        formula=formulas.pi_without_writes,
        breaks=CACHED,
        before=ONE,
        after=talk(COLD),
        theirs="10 of 200,000",
        ours="42,200 of 200,000",
    ),
    Peer(
        of="cached tokens added to the input that holds them",
        report="liaohch3/claude-tap#423",
        tongue="codex.rollout",
        formula=formulas.codex_adding("cached_input_tokens"),
        breaks=CACHED,
        before=talk(Response(fresh=41_500, output=700)),
        after=ONE,
        theirs="82,200 of 200,000",
        ours="42,200 of 200,000",
    ),
    Peer(
        of="cached and reasoning tokens added to the total that holds them",
        report="entireio/cli#1021",
        tongue="codex.rollout",
        formula=formulas.codex_adding("cached_input_tokens", "reasoning_output_tokens"),
        breaks=REASONING,
        before=talk(Response(fresh=1_500, read=40_000, output=1_700)),
        after=talk(REASONED),
        theirs="84,400 of 200,000",
        ours="43,200 of 200,000",
    ),
    Peer(
        of="prompt and output",
        report="agentclientprotocol/claude-agent-acp",
        tongue="claude.stream",
        formula=formulas.prompt_and_output,
        breaks=OUTPUT_OUT,
        before=ONE,
        after=talk(LONG_OUTPUT),
        theirs="43,200 of 200,000",
        ours="41,500 of 200,000",
    ),
    Peer(
        of="the input alone",
        report="ryanjkelly/harnery",
        tongue="codex.rollout",
        formula=formulas.codex_input,
        breaks=OUTPUT_IN,
        before=ONE,
        after=talk(LONG_OUTPUT),
        theirs="41,500 of 200,000",
        ours="43,200 of 200,000",
    ),
    Peer(
        of="`result.usage`",
        report="Mng-dev-ai/agentrove#298",
        tongue="claude.stream with its result",
        formula=formulas.result_usage,
        breaks=SUMS,
        before=ONE,
        after=BILLED,
        theirs="2,041,500 of 200,000",
        ours="41,500 of 200,000",
    ),
    Peer(
        of="`total_input_tokens` and `total_output_tokens`",
        report="anthropics/claude-code#17183",
        tongue="claude.status_line of 2.1.2",
        formula=formulas.totals,
        breaks=SUMS,
        before=ONE,
        after=BILLED,
        theirs="2,042,200 of 200,000",
        ours="41,500 of 200,000",
    ),
    Peer(
        of="`turn.completed.usage`",
        report="mattpocock/sandcastle#898",
        tongue="codex.exec",
        formula=formulas.exec_usage,
        breaks=SUMS,
        before=ONE,
        after=BILLED,
        theirs="2,041,500",
        ours="`cumulative_only`",
        right=None,
    ),
    Peer(
        of="`tokens.total`",
        report="earendil-works/pi#2550",
        tongue="pi.rpc",
        formula=formulas.pi_sums,
        breaks=SUMS,
        before=ONE,
        after=BILLED,
        theirs="2,042,200 of 200,000",
        ours="42,200 of 200,000",
    ),
    Peer(
        of="the usage of the answer to `session/prompt`",
        report="NousResearch/hermes-agent#101817",
        tongue="acp.session",
        formula=formulas.prompt_answer,
        breaks=SUMS,
        before=ONE,
        after=BILLED,
        theirs="2,042,200 of 200,000",
        ours="42,200 of 200,000",
    ),
    Peer(
        of="the counts at a turn's end",
        report="zhcsyncer/pi-extensions#114",
        tongue="cursor.hook at a stop",
        formula=formulas.stop_usage,
        breaks=SUMS,
        before=ONE,
        after=BILLED,
        theirs="2,041,500",
        ours="`cumulative_only`",
        right=None,
    ),
    Peer(
        of="`total_token_usage`",
        report="preset-io/agor#1264",
        tongue="codex.rollout",
        formula=formulas.codex_total,
        breaks=LOWERED,
        before=talk(FULL),
        after=FELL,
        theirs="169,990 of 200,000",
        ours="17,790 of 200,000",
    ),
    Peer(
        of="`tokenUsage.total`",
        report="neoswarm/neosh#115",
        tongue="codex.app_server",
        formula=formulas.app_server_total,
        breaks=LOWERED,
        before=talk(FULL),
        after=FELL,
        theirs="169,990 of 200,000",
        ours="17,790 of 200,000",
    ),
    Peer(
        of="the higher one of an old count and the new one",
        report="sbluemin/fleet-harness#472",
        tongue="cursor.chat_store",
        formula=formulas.high_water,
        breaks=LOWERED,
        before=talk(FULL),
        after=FELL,
        theirs="152,200 of 200,000",
        ours="17,790 of 200,000",
    ),
    Peer(
        of="the newest usage, whatever came after it",
        report="sirmalloc/ccstatusline#524",
        tongue="claude.transcript",
        formula=formulas.last_usage,
        breaks=ENDED,
        before=talk(FULL),
        after=COMPACTED,
        theirs="151,500 of 200,000",
        ours="`compacted`",
    ),
    Peer(
        of="0 when a compaction is over",
        report="PostHog/code#1548",
        tongue="claude.stream",
        formula=formulas.zero_at_boundary,
        breaks=ENDED,
        before=talk(FULL),
        after=COMPACTED,
        theirs="0 of 200,000",
        ours="`compacted`",
    ),
    Peer(
        of="0 until something is reported again",
        report="pingdotgg/t3code#6461",
        tongue="acp.session",
        formula=formulas.acp_zero_after,
        breaks=ENDED,
        before=talk(FULL),
        after=COMPACTED,
        theirs="0 of 200,000",
        ours="`compacted`",
    ),
    Peer(
        of="the usage of the run's last turn",
        report="getpaseo/paseo#3726",
        tongue="pi.stream",
        formula=formulas.pi_last,
        breaks=ENDED,
        before=talk(FULL),
        after=COMPACTED,
        theirs="152,200 of 200,000",
        ours="`compacted`",
    ),
    Peer(
        of="`postTokens` of the boundary",
        report="anthropics/claude-code#87602",
        tongue="claude.transcript",
        formula=formulas.post_tokens,
        breaks=OF_ITSELF,
        before=COMPACTED,
        after=talk(FULL, Compaction(930)),
        theirs="930 of 200,000",
        ours="`compacted`",
    ),
    Peer(
        of="the newest count, an estimate too",
        report="openai/codex#9416",
        tongue="codex.rollout",
        formula=formulas.codex_last,
        breaks=OF_ITSELF,
        before=COMPACTED,
        after=talk(FULL, Compaction(200_000)),
        theirs="200,000 of 200,000",
        ours="`compacted`",
    ),
    Peer(
        of="the sum over all rows",
        report="omriariav/claude-pulse#4",
        tongue="claude.transcript",
        formula=formulas.sum_of_usages,
        breaks=BEHIND,
        before=talk(SMALL),
        after=talk(FULL, Compaction(18_000), SMALL),
        theirs="169,200",
        ours="17,700 of 200,000",
    ),
    Peer(
        of="all counts of the file",
        report="ccusage/ccusage#950",
        tongue="codex.rollout of 0.130",
        formula=formulas.codex_no_boundary,
        breaks=PARENTS,
        before=ONE,
        after=FORKED,
        theirs="194,400",
        ours="42,200 of 200,000",
    ),
    Peer(
        of="0 where the usage is null",
        report="anthropics/claude-code#19724",
        tongue="claude.status_line",
        formula=formulas.null_is_zero,
        breaks=EMPTY,
        before=Conversation(),
        after=ONE,
        is_of_before=True,
        theirs="0 of 200,000",
        ours="`not_measured_yet`",
    ),
    Peer(
        of="a window of 200,000 for every agent",
        report="chenhg5/cc-connect#1672",
        tongue="acp.session",
        formula=formulas.acp_fixed_window,
        breaks=WIDER,
        before=ONE,
        after=Conversation((PLAIN,), window=400_000),
        theirs="42,200 of 200,000",
        ours="42,200 of 400,000",
    ),
    Peer(
        of="the window that the model has elsewhere",
        report="humanlayer/humanlayer#1023",
        tongue="codex.rollout",
        formula=formulas.codex_static,
        breaks=WIDER,
        before=Conversation((BIG,), window=129_200),
        after=Conversation((BIG,), window=258_400),
        theirs="120,000 of 1,050,000",
        ours="120,000 of 258,400",
        right=Conversation((BIG,), window=1_050_000),
    ),
    Peer(
        of="the window of a catalogue",
        report="code-yeongyu/senpi#1603",
        tongue="cursor.chat_store",
        formula=formulas.catalogue_window,
        breaks=WIDER,
        before=Conversation((PLAIN,), window=100_000),
        after=ONE,
        theirs="42,200 of 1,000,000",
        ours="42,200 of 200,000",
        right=Conversation((PLAIN,), window=1_000_000),
    ),
    Peer(
        of="200,000 for a model that is not known",
        report="chenhg5/cc-connect#1823",
        tongue="claude.transcript",
        formula=formulas.last_usage,
        breaks=UNKNOWN,
        before=ONE,
        after=Conversation((PLAIN,), model="house-128k"),
        theirs="41,500 of 200,000",
        ours="`model_unknown` (41,500)",
    ),
    Peer(
        of="the window by a part of the name",
        report="affaan-m/ECC#2497",
        tongue="claude.transcript",
        formula=formulas.by_name(opus_4_8=1_000_000),
        breaks=UNKNOWN,
        before=ONE,
        after=Conversation((PLAIN,), model="my-claude-opus-4-8-build"),
        theirs="41,500 of 1,000,000",
        ours="`model_unknown` (41,500)",
    ),
    Peer(
        of="45,000 added for what is kept free",
        report="jarrodwatts/claude-hud#48",
        tongue="claude.transcript",
        formula=formulas.with_buffer,
        breaks=TWICE,
        before=ONE,
        after=talk(PLAIN + PLAIN),
        theirs="128,000 of 200,000",
        ours="83,000 of 200,000",
        right=None,
    ),
    Peer(
        of="a share without the first 12,000 tokens",
        report="openai/codex#40756",
        tongue="codex.rollout",
        formula=formulas.codex_baseline,
        breaks=TWICE,
        before=talk(Response(fresh=11_900, output=100)),
        after=talk(Response(fresh=23_800, output=200)),
        theirs="6 %",
        ours="24,000 of 200,000",
        right=None,
    ),
    Peer(
        of="the percentage that is stated, which ends at 100",
        report="anthropics/claude-code#63447",
        tongue="claude.status_line",
        formula=formulas.clamped,
        breaks=OVERFULL,
        before=talk(OVER),
        after=talk(STILL_OVER),
        theirs="100 %",
        ours="`limit_contradicted` (213,086)",
        right=None,
    ),
    Peer(
        of="a percentage of 200,000",
        report="ryanjkelly/harnery",
        tongue="cursor.composer",
        formula=formulas.percent_of_fixed_window,
        breaks=SHARE,
        before=Conversation(share=63.5),
        after=Conversation(share=63.5, window=400_000),
        theirs="127,000 of 200,000",
        ours="63.5 %",
        right=None,
    ),
    Peer(
        of="the count that Cursor makes of its percentage",
        report="senna-lang/herdr-agent-usage#72",
        tongue="cursor.status_line",
        formula=formulas.derived_tokens,
        breaks=SHARE,
        before=Conversation(share=34.5),
        after=Conversation(share=34.5, window=400_000),
        theirs="138,000 of 400,000",
        ours="34.5 %",
        right=None,
    ),
    Peer(
        of="a count of its own, by the length of the texts",
        report="Strus/pi-cursor-cli-provider#6",
        tongue="pi.session",
        formula=formulas.by_length,
        breaks=LENGTH,
        before=talk(PLAIN, Text(400)),
        after=talk(PLAIN, Text(4_000)),
        theirs="1,002",
        ours="42,200 of 200,000",
        right=None,
    ),
    Peer(
        of="all counts of the file",
        report="steipete/CodexBar#3524",
        tongue="codex.rollout of 0.130",
        formula=formulas.codex_no_boundary,
        breaks=FORK,
        before=ONE,
        after=Conversation(parent=(FULL,)),
        theirs="152,200",
        ours="`carried_over`",
    ),
    Peer(
        of="the usage as it stands, a sum over the loop",
        report="dohooo/helmor#218",
        tongue="claude.stream",
        formula=formulas.last_usage,
        breaks=LOOP,
        before=ONE,
        after=talk(LOOPED),
        theirs="193,000 of 200,000",
        ours="41,500 of 200,000",
    ),
    Peer(
        of="the newest reply, on whichever branch",
        report="earendil-works/pi#3314",
        tongue="pi.session",
        formula=formulas.pi_last,
        breaks=GONE_BACK,
        before=ONE,
        after=talk(PLAIN, Detour(FULL)),
        theirs="152,200 of 200,000",
        ours="42,200 of 200,000",
    ),
    Peer(
        of="200,000 for every model",
        report="2389-research/tracker#572",
        tongue="claude.transcript",
        formula=formulas.last_usage,
        breaks=MODEL,
        before=ONE,
        after=Conversation((PLAIN,), model="claude-opus-4-8"),
        theirs="41,500 of 200,000",
        ours="41,500 of 1,000,000",
    ),
    Peer(
        of="a window for each family: 200,000 for Haiku, 1,000,000 for the others",
        report="bdfinst/agentic-dev-team#792",
        tongue="claude.transcript",
        formula=formulas.by_name(haiku=200_000, opus=1_000_000, sonnet=1_000_000, fable=1_000_000),
        breaks=MODEL,
        before=Conversation((PLAIN,), model="claude-opus-4-5"),
        after=Conversation((PLAIN,), model="claude-opus-4-8"),
        is_of_before=True,
        theirs="41,500 of 1,000,000",
        ours="41,500 of 200,000",
        right=Conversation((PLAIN,), model="claude-opus-4-8"),
    ),
    Peer(
        of="a price list's window: 1,000,000 for Sonnet 4.5",
        report="ccusage/ccusage#666",
        tongue="claude.transcript",
        formula=formulas.by_name(sonnet_4_5=1_000_000, sonnet_5=1_000_000, opus_4_8=1_000_000),
        breaks=MODEL,
        before=ONE,
        after=Conversation((PLAIN,), model="claude-opus-4-8"),
        is_of_before=True,
        theirs="41,500 of 1,000,000",
        ours="41,500 of 200,000",
        right=Conversation((PLAIN,), model="claude-opus-4-8"),
    ),
    Peer(
        of="the model's name in the response, which has no `[1m]`",
        report="graykode/abtop#11",
        tongue="claude.transcript",
        formula=formulas.last_usage,
        breaks=MARKER,
        before=Conversation((PLAIN,), model="claude-opus-4-6"),
        after=Conversation((PLAIN,), model="claude-opus-4-6[1m]"),
        theirs="41,500 of 200,000",
        ours="41,500 of 1,000,000",
    ),
    Peer(
        of="the model's name in the frame, which has no `[1m]`",
        report="preset-io/agor#2167",
        tongue="claude.stream",
        formula=formulas.last_usage,
        breaks=MARKER,
        before=Conversation((PLAIN,), model="claude-opus-4-6"),
        after=Conversation((PLAIN,), model="claude-opus-4-6[1m]"),
        theirs="41,500 of 200,000",
        ours="41,500 of 1,000,000",
    ),
)
