"""``ctxmeasure observe``: one file or payload, one answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import CLAUDE, lines, run, run_process

from ctxmeasure import Missing, MissingReason, record

SESSION = next((CLAUDE / "b-tools" / "session").glob("*.jsonl"))
STREAM = CLAUDE / "b-tools" / "stream.jsonl"
STATUS_LINE = (CLAUDE / "h-tui" / "statusline.jsonl").read_bytes().splitlines()[-1]
BEFORE_THE_FIRST_CALL = (CLAUDE / "h-tui" / "statusline.jsonl").read_bytes().splitlines()[0]
CODEX = CLAUDE.parent / "codex" / "b-tools"
ROLLOUT = next(CODEX.glob("session/**/rollout*.jsonl"))
EXEC = CODEX / "stream.jsonl"
CODEX_STOP = (CODEX / "hooks.jsonl").read_bytes().splitlines()[-1]
NOTIFICATIONS = CLAUDE.parent / "codex-versions" / "appserver_v0.171.0_notifications.jsonl"
UPDATED = NOTIFICATIONS.read_bytes().splitlines()[5]
UNKNOWN_MODEL = next((CLAUDE / "g-unknown-model" / "session").glob("*.jsonl"))
PROMPT = next(
    row["promptId"] for row in lines(SESSION.read_bytes()) if row.get("promptId") is not None
)


# -- what is printed ------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_json_is_one_line_and_the_default(form: list[str]) -> None:
    result = run("observe", "claude.transcript", SESSION, *form)
    (observation,) = lines(result.stdout)
    assert observation["value"]["used_tokens"] == 16_108
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_summary_is_one_short_line() -> None:
    result = run("observe", "claude.transcript", SESSION, "--summary")
    assert result.stdout == "Context: 8% (16K/200K)\n"
    assert (result.exit_code, result.stderr) == (0, "")


def test_an_explanation_tells_the_age_at_the_moment_asked_about() -> None:
    asked = ["--at", "2026-11-29T18:30:00Z", "--explain"]
    result = run("observe", "claude.transcript", SESSION, *asked)
    assert "16,108 tokens are in use against a limit of 200,000" in result.stdout
    assert "before the moment asked about" in result.stdout
    assert (result.exit_code, result.stderr) == (0, "")


def test_of_several_forms_the_last_one_counts() -> None:
    result = run("observe", "claude.transcript", SESSION, "--json", "--summary")
    assert result.stdout.startswith("Context")


# -- what is missing ------------------------------------------------------------------------------


def test_a_missing_measurement_has_its_reason_in_the_json_and_status_3(tmp_path: Path) -> None:
    result = run("observe", "claude.transcript", tmp_path / "absent.jsonl")
    (observation,) = lines(result.stdout)
    assert (observation["state"], observation["reason"]) == ("missing", "source_absent")
    assert (result.exit_code, result.stderr) == (3, "")


def test_a_summary_of_nothing_is_nothing_and_the_reason_goes_elsewhere(tmp_path: Path) -> None:
    result = run("observe", "claude.transcript", tmp_path / "absent.jsonl", "--summary")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith("ctxmeasure: source_absent: The file does not exist.")


def test_a_summary_without_a_limit_has_its_count_and_the_reason_elsewhere() -> None:
    result = run("observe", "claude.transcript", UNKNOWN_MODEL, "--summary")
    assert result.stdout.startswith("Tokens: ")
    assert result.stderr.startswith("ctxmeasure: model_unknown: ")
    assert result.exit_code == 3


def test_an_explanation_of_nothing_says_what_to_do() -> None:
    result = run("observe", "claude.status_line", "--explain", stdin=BEFORE_THE_FIRST_CALL)
    assert "Ask again after the next response" in result.stdout
    assert (result.exit_code, result.stderr) == (3, "")


# -- what is asked --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--session", "another"], MissingReason.SESSION_MISMATCH),
        (["--turn", "another"], MissingReason.TURN_NOT_FOUND),
        (["--phase", "active", "--turn", PROMPT], MissingReason.SAMPLE_STALE),
        (["--max-age", "0.5"], MissingReason.SAMPLE_STALE),
        (["--at", "2026-11-29T17:00:00Z"], MissingReason.SAMPLE_FROM_FUTURE),
        (["--limit", "16000"], MissingReason.LIMIT_CONTRADICTED),
        (["--max-bytes", "100"], MissingReason.BUDGET_EXHAUSTED),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_every_part_of_the_question_is_asked(arguments: list[str], reason: MissingReason) -> None:
    result = run("observe", "claude.transcript", SESSION, *arguments)
    (observation,) = lines(result.stdout)
    assert observation.get("reason") == reason.value
    assert result.exit_code == 3


def test_a_running_turn_is_measured_while_its_sample_is_fresh() -> None:
    asked = ["--phase", "active", "--turn", PROMPT, "--at", "2026-11-29T19:28:20+01:00"]
    assert run("observe", "claude.transcript", SESSION, *asked).exit_code == 0


def test_the_turn_can_be_told_by_when_it_began() -> None:
    late = ["--turn-started-at", "2026-11-29T18:29:00Z"]
    assert run("observe", "claude.transcript", SESSION, *late).exit_code == 3
    early = ["--turn-started-at", "2026-11-29T18:28:00Z"]
    assert run("observe", "claude.transcript", SESSION, *early).exit_code == 0


def test_a_sub_agent_is_measured_when_it_is_named() -> None:
    (path,) = (CLAUDE / "f-subagent" / "session").glob("*/subagents/*.jsonl")
    agent = path.stem.removeprefix("agent-")
    assert run("observe", "claude.transcript", path, "--agent", agent).exit_code == 0
    assert run("observe", "claude.transcript", path).exit_code == 3


def test_a_declared_limit_and_a_vouched_model_stand_in_for_what_is_missing() -> None:
    limit = run("observe", "claude.transcript", UNKNOWN_MODEL, "--limit", "1000000")
    assert lines(limit.stdout)[0]["attestation"] == "operator"
    model = run("observe", "claude.transcript", UNKNOWN_MODEL, "--model", "claude-opus-4-6[1m]")
    assert lines(model.stdout)[0]["value"]["limit_tokens"] == 1_000_000


def test_what_counts_can_be_the_prompt_alone() -> None:
    payload = json.dumps(
        {"hook_event_name": "SessionStart", "context_tokens": 100, "model": "claude-opus-4-5"}
    ).encode()
    own = run("observe", "claude.hook", "--limit", "1000", stdin=payload)
    assert lines(own.stdout)[0]["provenance"]["used_basis"] == "prompt_and_output"
    prompt = run("observe", "claude.hook", "--counts", "prompt", stdin=payload)
    assert lines(prompt.stdout)[0]["reason"] == "usage_incomplete"


def test_estimates_are_accepted_only_where_asked_for() -> None:
    estimate = b'{"totalTokens": 90000, "rawMaxTokens": 200000, "apiUsage": null}'
    refused = run("observe", "claude.context_usage", stdin=estimate)
    assert lines(refused.stdout)[0]["reason"] == "estimate_only"
    accepted = run("observe", "claude.context_usage", "--accept-estimates", stdin=estimate)
    assert lines(accepted.stdout)[0]["confidence"] == "low"


# -- where it is read -----------------------------------------------------------------------------


def test_a_recorded_stream_is_replayed() -> None:
    assert lines(run("observe", "claude.stream", STREAM).stdout)[0]["attestation"] == "native"


def test_one_notification_of_an_app_server_is_measured_for_its_turn() -> None:
    turn = json.loads(UPDATED)["params"]["turnId"]
    asked = ("observe", "codex.app_server", "--turn", turn, "--summary")
    assert run(*asked, stdin=UPDATED).stdout == "Context: 46% (120K/258K)\n"
    lone = run("observe", "codex.app_server", stdin=UPDATED)
    assert lines(lone.stdout)[0]["reason"] == "carried_over"
    assert lone.exit_code == 3


@pytest.mark.parametrize(
    ("source", "data", "reason"),
    [
        ("codex.exec", EXEC.read_bytes(), "cumulative_only"),
        ("codex.hook", CODEX_STOP, "usage_not_reported"),
        ("claude.hook", CODEX_STOP, "source_malformed"),
    ],
)
def test_what_measures_nothing_says_why(source: str, data: bytes, reason: str) -> None:
    result = run("observe", source, stdin=data)
    assert lines(result.stdout)[0]["reason"] == reason
    assert result.exit_code == 3


@pytest.mark.parametrize("file", [["-"], []])
def test_standard_input_is_a_file_too(file: list[str]) -> None:
    result = run("observe", "claude.status_line", *file, "--summary", stdin=STATUS_LINE)
    assert result.stdout == "Context: 5% (9K/200K)\n"


def test_a_pipe_a_redirected_file_and_a_path_give_the_same_answer() -> None:
    asked = ("observe", "claude.transcript", "--at", "2026-11-29T19:00:00Z")
    by_path = run(*asked, SESSION).stdout.encode()
    with SESSION.open("rb") as file:
        redirected = run_process(*asked, stdin=file)
    assert redirected.stdout == by_path
    assert run_process(*asked, stdin=SESSION.read_bytes()).stdout == by_path


# -- which source ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "source"),
    [
        (SESSION.read_bytes(), "claude.transcript"),
        (STREAM.read_bytes(), "claude.stream"),
        (STATUS_LINE, "claude.status_line"),
        (ROLLOUT.read_bytes(), "codex.rollout"),
        (NOTIFICATIONS.read_bytes(), "codex.app_server"),
        (UPDATED, "codex.app_server"),
        (EXEC.read_bytes(), "codex.exec"),
        (CODEX_STOP, "codex.hook"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{len(value)} bytes",
)
def test_auto_answers_as_if_the_source_was_named(data: bytes, source: str) -> None:
    at = ("--at", "2026-11-29T19:00:00Z")
    named = run("observe", source, *at, stdin=data)
    assert run("observe", "auto", *at, stdin=data).stdout == named.stdout
    assert lines(named.stdout)[0]["provenance"]["source"] == source


def test_auto_in_doubt_asks_for_the_source() -> None:
    result = run("observe", "auto", stdin=b'{"usage": {"input_tokens": 5}}')
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Name its SOURCE" in result.stderr


def test_auto_of_a_file_that_cannot_be_read_is_a_missing_like_any_other(tmp_path: Path) -> None:
    result = run("observe", "auto", tmp_path / "absent.jsonl")
    observation = record.loads(result.stdout)
    assert isinstance(observation, Missing)
    assert observation.reason is MissingReason.SOURCE_ABSENT
    assert observation.provenance.source == "auto"
    assert result.exit_code == 3


def test_a_database_is_no_standard_input() -> None:
    result = run("observe", "cursor.chat_store", stdin=b"SQLite format 3\0")
    assert result.exit_code == 2
    assert "name its FILE" in result.stderr


def test_a_database_that_is_not_there_is_missing(tmp_path: Path) -> None:
    result = run("observe", "cursor.composer", tmp_path / "state.vscdb")
    assert result.exit_code == 3
    assert '"source_absent"' in result.stdout
