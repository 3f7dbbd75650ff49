"""Numbers that other tools got wrong in public, by the number of their issue, and the right ones.

The cases are the tables "Public issues" of formats/claude.md (§7, ``c1`` to ``c54``: all of them)
and "How others get it wrong" of formats/models.md (§5, ``m1`` to ``m26``). Of the latter, ``m19``
to ``m22`` are about Codex, Pi and OpenCode and ``m24`` is about Copilot: no input of Claude Code's
comes into them. An issue that several sources have to get right has a case for each.

``right`` is what must be said: used and limit, or the reason why there is no number, followed by
the used tokens that are still known (with a tilde where the runtime only estimated them).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeAlias

import pytest
from attrs import field, frozen

import ctxmeasure as cm
from ctxmeasure import Confidence, LimitBasis, UsedBasis
from ctxmeasure.testing import ABSENT, START
from ctxmeasure.testing.claude.frames import assistant, boundary, init, result, status
from ctxmeasure.testing.claude.rows import TranscriptRows, usage

AT = START + timedelta(hours=1)

SONNET = "claude-sonnet-4-5-20250929"
OPUS_46 = "claude-opus-4-6"

Step: TypeAlias = Callable[[TranscriptRows], object]


@frozen
class Case:
    """One input and what must be said of it.

    Attributes:
        issue: The table and the number, and where it was reported.
        source: The source that reads the input.
        data: The input.
        right: What must be said.
        asked: What is asked for.
    """

    issue: str
    source: str
    data: bytes | dict[str, Any] = field(repr=False)
    right: str
    asked: dict[str, Any] = field(factory=dict)


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


# -- transcripts --------------------------------------------------------------------------------


def transcript(
    issue: str, right: str, *steps: Step, version: str = "2.1.332", **asked: Any
) -> Case:
    """Return the case of a session file that begins with a prompt and goes on with *steps*."""
    session = TranscriptRows(version=version)
    session.prompt()
    for step in steps:
        step(session)
    return Case(issue, "claude.transcript", session.content, right, asked)


def response(used: int, model: str = SONNET, output: int = 7, **fields: Any) -> Step:
    message = {"model": model, "usage": usage(used, output)}
    return lambda session: session.response(used, message=message, **fields)


def block(used: int, output: int) -> Step:
    """Write one of several rows of one response, as versions without a request id do."""
    message = {"model": SONNET, "usage": usage(used, output), "stop_reason": None}
    return lambda session: session.response(used, message_id="msg_01abc", message=message)


def sidechain(used: int) -> Step:
    def write(session: TranscriptRows) -> None:
        main = session.leaf
        session.response(used, isSidechain=True, parentUuid=None)
        session.leaf = main

    return write


def identity(model: str) -> Step:
    return lambda session: session.attachment("model", identity={"modelId": model})


def error(text: str) -> Step:
    content = [{"type": "text", "text": text}]
    return lambda session: session.error(error="invalid_request", content=content)


def synthetic(session: TranscriptRows) -> None:
    session.error(isApiErrorMessage=False)


def prompt(session: TranscriptRows) -> None:
    session.prompt()


def compaction(post: Any = ABSENT) -> Step:
    return lambda session: session.compaction(post=post)


def of_agent(used: int) -> bytes:
    """Return a sub-agent's own file."""
    session = TranscriptRows(agent_id="a54e51b23b1dadccb")
    session.prompt()
    session.response(used)
    return session.content


# -- status lines -------------------------------------------------------------------------------


def line(
    issue: str, right: str, model: str = SONNET, version: str = "2.1.332", **window: Any
) -> Case:
    """Return the case of a status line with the *window* that it states."""
    payload = {
        "session_id": TranscriptRows().session_id,
        "model": {"id": model},
        "version": version,
        "context_window": window,
    }
    return Case(issue, "claude.status_line", payload, right)


def meter(used: int, size: int = 200_000, **stated: Any) -> dict[str, Any]:
    """Return what Claude Code states when it counts *used* tokens against *size*."""
    percent = min(100, round(100 * used / size))
    return {
        "context_window_size": size,
        "current_usage": usage(used),
        "used_percentage": percent,
        "remaining_percentage": 100 - percent,
        **stated,
    }


NULLS: dict[str, Any] = {
    "current_usage": None,
    "used_percentage": None,
    "remaining_percentage": None,
}
ZEROS: dict[str, Any] = dict.fromkeys(usage(3), 0)
WINDOW: dict[str, Any] = {"context_window_size": 200_000}


# -- live streams -------------------------------------------------------------------------------


def stream(issue: str, right: str, *frames: dict[str, Any]) -> Case:
    """Return the case of the lines that a process printed."""
    lines = [json.dumps(frame, separators=(",", ":")).encode() for frame in frames]
    return Case(issue, "claude.stream", b"\n".join(lines) + b"\n", right)


def told(used: int, message_id: str, model: str = SONNET, **fields: Any) -> dict[str, Any]:
    return assistant(used, message_id, message={"model": model}, **fields)


COMPACTED = (init(), told(150_000, "msg_01a"), status("compacting"))


# -- answers to get_context_usage ---------------------------------------------------------------


def context(
    issue: str, right: str, model: str = SONNET, *, used: int | None, window: int, total: int
) -> Case:
    """Return the case of an answer whose last response had a prompt of *used* tokens."""
    payload = {
        "totalTokens": total,
        "maxTokens": window,
        "rawMaxTokens": window,
        "percentage": round(100 * total / window),
        "model": model,
        "isAutoCompactEnabled": True,
        "apiUsage": None if used is None else usage(used),
    }
    return Case(issue, "claude.context_usage", payload, right)


def tasks(used: int) -> dict[str, Any]:
    """Return the payload of a status line for sub-agents."""
    task = {"id": "a54e51b2", "model": OPUS_46, "contextWindowSize": 200_000, "tokenCount": used}
    return {"session_id": "s", "tasks": [task]}


# -- the table of formats/claude.md -------------------------------------------------------------

ISSUES = [
    transcript(
        "c1 claude-code#13820",
        "40,000 of 200,000",
        response(40_000),
        sidechain(160_000),
    ),
    line(
        "c2 claude-code#17183",
        "60,000 of 200,000",
        version="2.1.2",
        total_input_tokens=223_372,
        total_output_tokens=11_464,
        current_usage=usage(60_000),
        **WINDOW,
    ),
    line(
        "c3 claude-code#14058",
        "cumulative_only",
        version="2.0.69",
        total_input_tokens=4_042,
        total_output_tokens=9_412,
        **WINDOW,
    ),
    transcript(
        "c4 claude-code#15455",
        "90,000 of 200,000",
        response(144_000),
        compaction(),
        prompt,
        response(90_000),
    ),
    transcript(
        "c5 claude-code#29651 before the response",
        "compacted",
        response(94_000),
        compaction(),
        prompt,
    ),
    line("c5 claude-code#29651 on the status line", "not_measured_yet", **WINDOW, **NULLS),
    transcript(
        "c5 claude-code#29651 after the response",
        "52,000 of 200,000",
        response(94_000),
        compaction(),
        prompt,
        response(52_000),
    ),
    transcript("c6 claude-code#15008", "compacted", response(175_000), compaction()),
    line(
        "c6 claude-code#15008 on the status line",
        "not_measured_yet",
        **{**meter(3), "current_usage": ZEROS, "used_percentage": 0, "remaining_percentage": 100},
    ),
    line(
        "c7 claude-code#19475",
        "not_measured_yet",
        version="2.1.15",
        total_input_tokens=70_000,
        total_output_tokens=8_000,
        **WINDOW,
        **NULLS,
    ),
    line(
        "c7 claude-code#19475 with a usage",
        "50,000 of 200,000",
        version="2.1.15",
        **{**meter(50_000), "used_percentage": None, "remaining_percentage": None},
    ),
    line(
        "c8 claude-code#19724",
        "not_measured_yet",
        model="claude-haiku-4-5-20251001",
        total_input_tokens=0,
        total_output_tokens=0,
        **WINDOW,
    ),
    line(
        "c9 claude-code#32014",
        "limit_contradicted (250,000)",
        model="claude-opus-4-6[1m]",
        version="2.1.72",
        **meter(250_000),
    ),
    line(
        "c9 claude-code#32014 before it is full",
        "limit_contradicted (150,000)",
        model="claude-opus-4-6[1m]",
        version="2.1.72",
        **meter(150_000),
    ),
    transcript(
        "c10 claude-code#35059",
        "window_ambiguous (60,000)",
        response(60_000, OPUS_46),
        version="2.1.76",
    ),
    line(
        "c10 claude-code#35059 on the status line",
        "60,000 of 200,000",
        model=OPUS_46,
        version="2.1.76",
        **meter(60_000),
    ),
    line(
        "c11 claude-code#39467",
        "sources_disagree (77,000)",
        model="claude-opus-4-6[1m]",
        **{**meter(77_000, 1_000_000), "used_percentage": 68, "remaining_percentage": 32},
    ),
    transcript(
        "c11 claude-code#39467 in the transcript",
        "77,000 of 1,000,000",
        response(77_000, OPUS_46, requestedModel="claude-opus-4-6[1m]"),
    ),
    line(
        "c12 claude-code#63447",
        "limit_contradicted (360,236)",
        model="claude-opus-4-8",
        version="2.1.154",
        total_input_tokens=360_236,
        **meter(360_236),
    ),
    transcript(
        "c12 claude-code#63447 in the transcript",
        "360,236 of 1,000,000",
        response(360_236, "claude-opus-4-8"),
        version="2.1.154",
    ),
    line(
        "c13 claude-code#76751",
        "limit_contradicted (160,781)",
        model="claude-fable-5",
        version="2.1.206",
        **meter(160_781),
    ),
    transcript(
        "c13 claude-code#76751 in the transcript",
        "160,781 of 1,000,000",
        response(160_781, "claude-fable-5"),
        version="2.1.206",
    ),
    line(
        "c14 claude-code#73399",
        "limit_contradicted (230,000)",
        model="claude-fable-5-1",
        version="2.1.199",
        **meter(230_000),
    ),
    transcript(
        "c14 claude-code#73399 in the transcript",
        "230,000 of 1,000,000",
        response(230_000, "claude-fable-5-1"),
        version="2.1.199",
    ),
    Case(
        "c15 claude-code#73710 for the main chain",
        "claude.status_line",
        tasks(454_000),
        "usage_not_reported",
    ),
    Case(
        "c15 claude-code#73710 for the sub-agent",
        "claude.status_line",
        tasks(454_000),
        "estimate_only (~454,000)",
        {"agent_id": "a54e51b2"},
    ),
    line(
        "c16 claude-code#68522",
        "limit_contradicted (240,000)",
        model="house-model",
        **meter(240_000),
    ),
    transcript(
        "c16 claude-code#68522 in the transcript",
        "model_unknown (240,000)",
        response(240_000, "house-model"),
    ),
    transcript(
        "c17 claude-code#40753",
        "window_ambiguous (90,000)",
        response(90_000, "us.anthropic.claude-opus-4-6-v1"),
        version="2.1.85",
    ),
    transcript(
        "c18 claude-code#46437 bare",
        "window_ambiguous (90,000)",
        response(90_000, OPUS_46),
    ),
    transcript(
        "c18 claude-code#46437 /model opus",
        "90,000 of 200,000",
        response(90_000, OPUS_46, requestedModel=OPUS_46),
    ),
    transcript(
        "c18 claude-code#46437 default",
        "90,000 of 1,000,000",
        response(90_000, OPUS_46, requestedModel="claude-opus-4-6[1m]"),
    ),
    transcript(
        "c19 claude-code#34158",
        "54,000 of 200,000",
        response(54_000),
        prompt,
        error("Context limit reached"),
    ),
    stream(
        "c19 claude-code#34158 in a stream",
        "54,000 of 200,000",
        init(),
        told(54_000, "msg_01a"),
        assistant(
            3, "e", message={"model": "<synthetic>", "usage": ZEROS}, error="invalid_request"
        ),
    ),
    transcript(
        "c20 claude-code#28167",
        "200,000 of 1,000,000",
        response(200_000, OPUS_46, output=128_000, requestedModel="claude-opus-4-6[1m]"),
    ),
    line("c21 claude-code#34537", "156,000 of 200,000", **meter(156_000)),
    context("c22 claude-code#20760", "not_measured_yet", used=None, window=200_000, total=0),
    transcript(
        "c23 claude-code#87602",
        "compacted (~5,706)",
        response(61_895, "claude-haiku-4-5-20251001"),
        compaction(post=5_706),
    ),
    stream(
        "c23 claude-code#87602 in a stream",
        "compacted (~5,706)",
        init(),
        told(61_895, "msg_01a"),
        boundary(pre_tokens=61_895, post_tokens=5_706),
        result(),
    ),
    stream(
        "c24 claude-code#44723",
        "31,000 of 200,000",
        init("claude-haiku-4-5-20251001"),
        told(31_000, "msg_01a", "claude-haiku-4-5-20251001"),
        result({"claude-haiku-4-5-20251001": 200_000}, usage=usage(500_126)),
    ),
    stream("c24 claude-code#44723 without a response", "not_measured_yet", init(), result()),
    stream(
        "c25 claude-agent-sdk-typescript#66",
        "27,000 of 200,000",
        init(),
        told(26_000, "msg_01a"),
        told(27_000, "msg_01b"),
        result(usage={**usage(2_779_492), "cache_read_input_tokens": 2_779_492}),
    ),
    stream(
        "c26 rust-code-agent-sdks#250",
        "68,108 of 200,000",
        init(),
        told(65_004, "msg_01a"),
        told(66_806, "msg_01b"),
        told(68_108, "msg_01c"),
        result(usage=usage(199_918)),
    ),
    stream(
        "c27 agentrove#298",
        "148,000 of 200,000",
        init(),
        told(148_000, "msg_01a"),
        result(usage=usage(14_800_000)),
    ),
    stream(
        "c28 agentrove#231",
        "48,000 of 200,000",
        init(),
        told(48_000, "msg_01a"),
        told(9_000, "msg_01s", parent_tool_use_id="toolu_1"),
    ),
    stream(
        "c29 helmor#218",
        "78,000 of 200,000",
        init(),
        result(
            usage={
                **usage(1_100_000),
                "iterations": [
                    {"type": "message", **usage(170_000)},
                    {"type": "message", **usage(78_000)},
                    {"type": "compaction", **usage(171_000)},
                ],
            }
        ),
    ),
    transcript("c30 ccstatusline#98", "40,000 of 200,000", response(40_000), prompt, synthetic),
    transcript("c31 ccstatusline#524", "compacted", response(160_000), compaction(), prompt),
    transcript(
        "c32 claude-pulse#4",
        "21,000 of 200,000",
        response(160_000),
        compaction(),
        prompt,
        response(20_000),
        prompt,
        response(21_000),
    ),
    transcript(
        "c33 lich#362",
        "compacted (~18,000)",
        response(236_000, "claude-opus-5"),
        compaction(post=18_000),
    ),
    stream(
        "c34 synara#830 before the boundary",
        "compacted (~930)",
        *COMPACTED,
        told(150_900, "msg_01c"),
        status(None, compact_result="success"),
        boundary(pre_tokens=150_007, post_tokens=930),
        result(),
    ),
    stream(
        "c34 synara#830 behind the boundary",
        "compacted",
        *COMPACTED,
        boundary(pre_tokens=150_007),
        told(150_900, "msg_01c"),
        result(),
    ),
    transcript("c35 PostHog/code#1548", "compacted", response(40_000, output=9_000), compaction()),
    context(
        "c36 ccstatusline#109",
        "131,900 of 200,000",
        used=131_900,
        window=200_000,
        total=146_000,
    ),
    line(
        "c37 ccstatusline#233",
        "130,000 of 1,000,000",
        model="claude-opus-4-6[1m]",
        **meter(130_000, 1_000_000),
    ),
    line("c38 claude-hud#48", "32,000 of 200,000", **meter(32_000)),
    line("c38 claude-hud#43", "56,000 of 200,000", **meter(56_000)),
    line("c39 claude-hud#21", "40,000 of 100,000", model="house-model", **meter(40_000, 100_000)),
    transcript("c40 ccusage#666", "130,000 of 200,000", response(130_000)),
    transcript("c41 ccusage#504", "compacted", response(130_000), compaction()),
    line(
        "c42 oh-my-posh#7286",
        "40,980 of 200,000",
        version="2.1.37",
        total_input_tokens=3_702_900,
        total_output_tokens=540_180,
        **meter(40_980),
    ),
    stream(
        "c43 agor#2167",
        "230,000 of 1,000,000",
        init("claude-opus-4-6[1m]"),
        told(230_000, "msg_01a", OPUS_46),
        result({"claude-opus-4-6[1m]": 1_000_000}),
    ),
    transcript("c44 clawd-on-desk#631", "150,000 of 1,000,000", response(150_000, "claude-opus-5")),
    transcript("c45 abtop#11", "230,000 of 1,000,000", response(230_000, OPUS_46)),
    transcript("c46 cozempic 4.5", "90,000 of 200,000", response(90_000, "claude-opus-4-5")),
    transcript("c46 cozempic 4.6", "window_ambiguous (90,000)", response(90_000, OPUS_46)),
    context("c47 humanlayer#980", "84,000 of 168,000", used=84_000, window=168_000, total=90_000),
    context(
        "c48 claude-pace",
        "200,000 of 400,000",
        "claude-opus-5",
        used=200_000,
        window=400_000,
        total=210_000,
    ),
    line(
        "c48 claude-pace on the status line",
        "200,000 of 1,000,000",
        model="claude-opus-5",
        **meter(200_000, 1_000_000),
    ),
    transcript(
        "c49 cc-connect#1823", "model_unknown (64,000)", response(64_000, "house-model-128k")
    ),
    transcript(
        "c49 cc-connect#1823 declared",
        "64,000 of 128,000",
        response(64_000, "house-model-128k"),
        limit_tokens=128_000,
    ),
    stream(
        "c50 t3code#2034",
        "150,000 of 1,000,000",
        init("claude-opus-5"),
        told(150_000, "msg_01a", "claude-opus-5"),
        told(9_000, "msg_01s", "claude-haiku-4-5-20251001", parent_tool_use_id="toolu_1"),
        result(
            {"claude-opus-5": 1_000_000, "claude-haiku-4-5-20251001": 200_000},
            usage=usage(1_050_000),
        ),
    ),
    stream(
        "c50 t3code#2807", "compacted", *COMPACTED, boundary(pre_tokens=150_007), result(), init()
    ),
    transcript(
        "c51 dms-claudecode#52",
        "24,500 of 200,000",
        block(24_500, 1),
        block(24_500, 3),
        block(24_500, 28),
    ),
    transcript(
        "c52 tokscale#563",
        "24,600 of 200,000",
        block(24_600, 1),
        block(24_600, 30),
        version="2.1.63",
    ),
    Case("c53 akm#829", "claude.transcript", of_agent(20_000), "session_mismatch"),
    transcript(
        "c54 claude-code#78171",
        "session_mismatch",
        response(20_000, entrypoint="sdk-py"),
        session_id="5e551014-0000-4000-8000-00000000000f",
    ),
]

# -- the table of formats/models.md -------------------------------------------------------------

MODELS = [
    line(
        "m1 claude-code#73399",
        "limit_contradicted (240,000)",
        model="claude-opus-4-8[1m]",
        version="2.1.199",
        **meter(240_000),
    ),
    line(
        "m2 claude-code#63447",
        "limit_contradicted (360,236)",
        model="claude-opus-4-8",
        **meter(360_236),
    ),
    line(
        "m3 claude-code#76751",
        "limit_contradicted (160,781)",
        model="claude-fable-5",
        version="2.1.206",
        **meter(160_781),
    ),
    context(
        "m4 claude-code#68061",
        "limit_contradicted (214,000)",
        "us.anthropic.claude-opus-4-8",
        used=214_000,
        window=200_000,
        total=214_000,
    ),
    transcript(
        "m4 claude-code#68061 in the transcript",
        "214,000 of 1,000,000",
        response(214_000, "us.anthropic.claude-opus-4-8"),
        version="2.1.153",
    ),
    line(
        "m5 claude-code#52537",
        "limit_contradicted (150,000)",
        model="claude-opus-4-7",
        version="2.1.117",
        **meter(150_000),
    ),
    line(
        "m6 claude-code#32014",
        "limit_contradicted (150,000)",
        model="claude-opus-4-6[1m]",
        version="2.1.72",
        **meter(150_000),
    ),
    line(
        "m7 claude-code#44514",
        "21,000 of 400,000",
        model="claude-opus-4-6[1m]",
        **meter(21_000, 400_000),
    ),
    transcript("m8 claude-code#46437", "window_ambiguous (90,000)", response(90_000, OPUS_46)),
    transcript(
        "m9 cozempic#6",
        "window_ambiguous (90,000)",
        response(90_000, OPUS_46),
        version="2.1.50",
    ),
    stream(
        "m10 Lobster#1955",
        "84,000 of 200,000",
        init("claude-sonnet-4-6"),
        told(84_000, "msg_01a", "claude-sonnet-4-6"),
    ),
    line(
        "m11 ccstatusline#171",
        "130,000 of 1,000,000",
        model="claude-opus-4-6[1m]",
        **meter(130_000, 1_000_000),
    ),
    transcript(
        "m12 clawd-on-desk#631", "388,000 of 1,000,000", response(388_000, "claude-sonnet-5")
    ),
    transcript("m13 abtop#11 above", "201,000 of 1,000,000", response(201_000, OPUS_46)),
    transcript("m13 abtop#11 below", "window_ambiguous (199,000)", response(199_000, OPUS_46)),
    transcript(
        "m14 squeez#220",
        "90,000 of 1,000,000",
        identity("claude-opus-4-6[1m]"),
        response(90_000, OPUS_46),
        version="2.1.251",
    ),
    transcript(
        "m15 ECC#2497", "model_unknown (90,000)", response(90_000, "my-claude-opus-4-8-build")
    ),
    line("m15 ECC#2290", "90,000 of 400,000", model="house-model", **meter(90_000, 400_000)),
    transcript(
        "m16 agentic-dev-team#792 haiku",
        "90,000 of 1,000,000",
        response(90_000, "claude-haiku-5-5"),
    ),
    transcript(
        "m16 agentic-dev-team#792 opus", "90,000 of 200,000", response(90_000, "claude-opus-4-5")
    ),
    transcript("m17 kiro.rs#61", "90,000 of 1,000,000", response(90_000, "claude-opus-5")),
    transcript(
        "m17 kiro.rs#61 tomorrow", "model_unknown (90,000)", response(90_000, "claude-opus-7")
    ),
    transcript("m18 omnigent#1300", "90,000 of 1,000,000", response(90_000, "claude-opus-4-8")),
    transcript(
        "m18 omnigent#6823", "model_unknown (90,000)", response(90_000, "gateway/claude-opus-4-8")
    ),
    transcript("m23 CLIProxyAPI#4126", "model_unknown (270,000)", response(270_000, "gpt-5.5")),
    line(
        "m23 CLIProxyAPI#4126 on the status line",
        "270,000 of 1,000,000",
        model="gpt-5.5",
        **meter(270_000, 1_000_000),
    ),
    transcript("m25 tracker#572", "150,000 of 1,000,000", response(150_000, "claude-opus-4-8")),
    transcript("m26 batpred#5000", "model_unknown (30,000)", response(30_000, "house-32k")),
]

EVERY = [*ISSUES, *MODELS]
LEFT_OUT = {f"m{number}" for number in (19, 20, 21, 22, 24)}


def test_every_issue_has_a_case() -> None:
    issues = {f"c{number}" for number in range(1, 55)}
    models = {f"m{number}" for number in range(1, 27)}
    assert {case.issue.split()[0] for case in EVERY} == issues | models - LEFT_OUT
    assert len({case.issue for case in EVERY}) == len(EVERY)


@pytest.mark.parametrize("case", EVERY, ids=lambda case: case.issue)
def test_the_issue_has_its_right_answer(case: Case) -> None:
    assert said(cm.observe(case.source, case.data, at=AT, **case.asked)) == case.right


@pytest.mark.parametrize(
    "case",
    [case for case in EVERY if case.source == "claude.stream"],
    ids=lambda case: case.issue,
)
def test_the_issue_has_its_right_answer_while_the_agent_runs(case: Case) -> None:
    running = cm.Stream(case.source)
    assert isinstance(case.data, bytes)
    for printed in case.data.splitlines():
        running.feed(printed, at=AT)
    assert said(running.finish(at=AT)) == case.right


# -- which number it is -------------------------------------------------------------------------


def measured(issue: str) -> cm.Observed:
    """Return the measurement of the case that *issue* names."""
    (case,) = (case for case in EVERY if case.issue == issue)
    observation = cm.observe(case.source, case.data, at=AT, **case.asked)
    assert isinstance(observation, cm.Observed)
    return observation


def test_c20_and_c35_the_prompt_is_named_and_the_output_kept() -> None:
    provenance = measured("c20 claude-code#28167").provenance
    assert provenance.used_basis is UsedBasis.PROMPT
    assert provenance.usage is not None
    assert provenance.usage.output_tokens == 128_000
    assert provenance.usage.total_tokens == 328_000


@pytest.mark.parametrize(
    ("issue", "basis"),
    [
        ("c21 claude-code#34537", LimitBasis.WINDOW),
        ("c47 humanlayer#980", LimitBasis.EFFECTIVE_WINDOW),
        ("c48 claude-pace", LimitBasis.EFFECTIVE_WINDOW),
        ("c48 claude-pace on the status line", LimitBasis.WINDOW),
        ("c49 cc-connect#1823 declared", LimitBasis.DECLARED),
    ],
)
def test_the_limit_is_named_for_what_it_is(issue: str, basis: LimitBasis) -> None:
    assert measured(issue).provenance.limit_basis is basis


@pytest.mark.parametrize(
    "issue",
    ["c10 claude-code#35059 on the status line", "m23 CLIProxyAPI#4126 on the status line"],
)
def test_a_stated_window_that_may_be_a_default_is_no_exact_one(issue: str) -> None:
    assert measured(issue).confidence is Confidence.MEDIUM
