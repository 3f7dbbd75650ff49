"""What a user's checker knows of the verbs; executed by type-checkers only."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path
from typing import assert_type

import ctxmeasure as cm
from ctxmeasure import acp, claude, codex, pi, render, text


def everything_that_can_be_read_is_accepted() -> None:
    assert_type(cm.observe(claude.TRANSCRIPT, "session.jsonl"), cm.Observed | cm.Missing)
    cm.observe("claude.transcript", Path("session.jsonl"))
    cm.observe(claude.TRANSCRIPT, io.BytesIO(b""))
    cm.observe(claude.STATUS_LINE, b"{}")
    cm.observe(claude.STATUS_LINE, {"context_window": {}})


def a_question_is_asked_by_keywords() -> None:
    cm.observe(
        claude.TRANSCRIPT,
        "session.jsonl",
        session_id="…",
        turn_id="…",
        turn_started_at=datetime.now(UTC),
        agent_id="…",
        phase=cm.Phase.ACTIVE,
        at=datetime.now(UTC),
        model="claude-opus-4-6[1m]",
        limit_tokens=200_000,
        policy=cm.Policy(counts=cm.Counts.PROMPT),
        budget=cm.ReadBudget(maximum=1 << 20),
    )


def a_wrong_argument_is_a_mistake() -> None:
    cm.observe(claude.TRANSCRIPT, 3)  # type: ignore[arg-type]
    cm.observe(claude.TRANSCRIPT, "f", limit_tokens="200000")  # type: ignore[arg-type]
    cm.observe(claude.TRANSCRIPT, "f", "session")  # type: ignore[call-arg]
    cm.observe(claude.TRANSCRIPT, "f", at="now")  # type: ignore[arg-type]
    cm.observe()  # type: ignore[call-arg]


def a_stream_is_fed_and_asked(lines: list[bytes]) -> None:
    stream = cm.Stream(claude.STREAM)
    for line in lines:
        assert_type(stream.feed(line, at=datetime.now(UTC)), cm.Observed | cm.Missing | None)
    assert_type(stream.latest, cm.Observed | cm.Missing)
    assert_type(stream.peak, cm.Observed | cm.Missing)
    assert_type(stream.finish(), cm.Observed | cm.Missing)
    cm.Stream("claude.stream", model="claude-opus-4-6[1m]", limit_tokens=200_000)


def a_notification_is_observed_alone_or_in_its_stream(line: bytes) -> None:
    cm.observe(codex.APP_SERVER, {"method": "turn/started"}, turn_id="…")
    cm.observe(codex.APP_SERVER, line, turn_id="…")
    cm.Stream(codex.APP_SERVER).feed(line)
    cm.Stream(codex.EXEC).feed(line)
    cm.Stream(codex.HOOK)  # type: ignore[arg-type]


def a_pointer_asks_the_rollout(payload: dict[str, object], lines: list[bytes]) -> None:
    at = datetime.now(UTC)
    assert_type(codex.query_from_hook(payload, at=at), cm.Query)
    assert_type(codex.query_from_exec(lines, at=at), cm.Query)
    path = assert_type(codex.transcript_path(payload), str | None)
    if path is not None:
        cm.observe(codex.ROLLOUT, path, query=codex.query_from_hook(payload, at=at))
    codex.query_from_hook(payload)  # type: ignore[call-arg]
    codex.query_from_exec("lines", at="now")  # type: ignore[arg-type]


def an_answer_of_pi_is_observed_alone_or_in_its_stream(line: bytes) -> None:
    cm.observe(pi.RPC, line)
    cm.observe(pi.RPC, {"contextUsage": {"tokens": 1, "contextWindow": 2}})
    cm.observe(pi.SESSION, "session.jsonl")
    cm.Stream(pi.STREAM).feed(line)
    cm.Stream(pi.RPC)  # type: ignore[arg-type]
    cm.Stream(pi.SESSION)  # type: ignore[arg-type]


def any_agent_over_acp_or_without_a_report_is_a_stream(line: bytes) -> None:
    cm.observe(acp.SESSION, line, session_id="…")
    cm.observe(acp.SESSION, {"method": "session/update"})
    cm.Stream(acp.SESSION).feed(line)
    cm.observe(text.TEXT, line)
    cm.Stream(text.TEXT, limit_tokens=200_000).feed(line)
    cm.Stream(acp)  # type: ignore[arg-type]
    cm.Stream(text)  # type: ignore[arg-type]


def codexs_own_percentage_may_be_none(observation: cm.Observation) -> None:
    assert_type(render.codex_left_percent(observation), int | None)


def a_file_is_no_stream() -> None:
    cm.Stream(claude.TRANSCRIPT)  # type: ignore[arg-type]
    cm.Stream(claude.STREAM).feed(3)  # type: ignore[arg-type]
