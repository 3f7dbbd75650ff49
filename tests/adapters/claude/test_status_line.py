from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxmeasure as cm
from ctxmeasure.adapters.claude.status_line import STATUS_LINE
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import (
    Claim,
    Evidence,
    Gap,
    Phase,
    Quantity,
    Query,
    TokenPair,
    UsedPercent,
    UsedTokens,
)
from ctxmeasure.observation import LimitBasis, MissingReason, Partial, UsedBasis
from ctxmeasure.testing.hostile import any_json, spoilt
from ctxmeasure.usage import TokenUsage

AT = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)
TESTS = Path(__file__).parents[2]
CASES = {
    case["id"]: case
    for case in json.loads((TESTS / "cases" / "cases.json").read_bytes())["cases"]
    if case["source"] == "claude.status_line"
}
RECORDED = ["h-tui", "h-tui-1m"]


def read(payload: dict[str, Any], **asked: Any) -> Evidence:
    return STATUS_LINE.extract(payload, Query(**{"at": AT, **asked}))


def gap(payload: dict[str, Any], **asked: Any) -> MissingReason:
    seen = read(payload, **asked)
    assert isinstance(seen, Gap)
    return seen.reason


def pair(payload: dict[str, Any], **asked: Any) -> tuple[int | None, int]:
    seen = read(payload, **asked)
    assert isinstance(seen, TokenPair)
    return seen.used_tokens, seen.limit_tokens


def payloads(recording: str) -> list[dict[str, Any]]:
    path = TESTS / "recordings" / "claude" / recording / "statusline.jsonl"
    return list(map(json.loads, path.read_bytes().splitlines()))


def truth(recording: str) -> dict[str, Any]:
    path = TESTS / "recordings" / "claude" / recording / "truth.json"
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


def line(used: int, size: int = 200_000, *, window: Any = None, **fields: Any) -> dict[str, Any]:
    """Return a payload as 2.1.332 sends it; *window* overrides its numbers, ... drops one."""
    percent = min(100, round(100 * used / size))
    numbers = {
        "total_input_tokens": used,
        "total_output_tokens": 7,
        "context_window_size": size,
        "current_usage": {
            "input_tokens": 2,
            "output_tokens": 7,
            "cache_creation_input_tokens": 1,
            "cache_read_input_tokens": used - 3,
        },
        "used_percentage": percent,
        "remaining_percentage": 100 - percent,
        **(window or {}),
    }
    return {
        "session_id": "643cce8b",
        "prompt_id": "9b50f700",
        "model": {"id": "claude-sonnet-4-5-20250929", "display_name": "Sonnet 4.5"},
        "version": "2.1.332",
        "context_window": {key: value for key, value in numbers.items() if value is not ...},
        "exceeds_200k_tokens": used > 200_000,
        **fields,
    }


# -- recordings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("recording", RECORDED)
def test_every_recorded_payload_shows_what_the_agent_showed(recording: str) -> None:
    shown = truth(recording)["status_line"]
    assert len(shown) == len(payloads(recording))
    for payload, stated in zip(payloads(recording), shown, strict=True):
        seen = read(payload)
        assert seen.runtime_version == "2.1.332"
        assert seen.model is not None
        assert seen.model.id == "claude-sonnet-4-5-20250929"
        if stated["total_input_tokens"] == 0:  # before the first call, and after /compact
            assert isinstance(seen, Gap)
            assert seen.reason is MissingReason.NOT_MEASURED_YET
            assert seen.partial == Partial(limit_tokens=stated["context_window_size"])
            continue
        assert isinstance(seen, TokenPair)
        assert seen.used_tokens is not None
        assert seen.used_tokens == stated["total_input_tokens"]
        assert seen.limit_tokens == stated["context_window_size"]
        assert round(100 * seen.used_tokens / seen.limit_tokens) == stated["used_percentage"]


@pytest.mark.parametrize("recording", RECORDED)
def test_the_percentages_on_screen_are_those_of_the_pairs(recording: str) -> None:
    measured = {
        str(round(100 * seen.used_tokens / seen.limit_tokens))
        for seen in map(read, payloads(recording))
        if isinstance(seen, TokenPair) and seen.used_tokens is not None
    }
    on_screen = set(truth(recording)["displayed_on_screen"].values())
    assert on_screen - {"None", "0"} == measured


@pytest.mark.parametrize("recording", RECORDED)
def test_the_counts_are_those_that_the_model_server_reported(recording: str) -> None:
    expected = {entry["used_tokens"] for entry in truth(recording)["expected_after"]}
    for seen in map(read, payloads(recording)):
        if isinstance(seen, TokenPair):
            assert seen.used_tokens in expected


@pytest.mark.parametrize("recording", RECORDED)
def test_every_statement_beside_a_recorded_pair_agrees_with_it(recording: str) -> None:
    for seen in map(read, payloads(recording)):
        if isinstance(seen, TokenPair):
            assert seen.used_tokens is not None
            percent = 100 * seen.used_tokens / seen.limit_tokens
            stated = {claim.quantity: claim for claim in seen.claims}
            assert stated[Quantity.USED_TOKENS] == Claim(Quantity.USED_TOKENS, seen.used_tokens)
            assert abs(stated[Quantity.USED_PERCENT].value - percent) <= 0.5
            assert abs(stated[Quantity.REMAINING_PERCENT].value - (100 - percent)) <= 0.5


def test_the_marker_of_the_model_is_kept_and_its_absence_says_nothing() -> None:
    long, short = read(payloads("h-tui-1m")[-1]).model, read(payloads("h-tui")[-1]).model
    assert long == ModelRef(id="claude-sonnet-4-5-20250929", long_context_marker=True)
    assert short == ModelRef(id="claude-sonnet-4-5-20250929", long_context_marker=None)


def test_a_pair_says_all_that_the_judge_needs() -> None:
    assert read(line(41_500)) == TokenPair(
        measured_at=AT,
        identity=("643cce8b", "9b50f700"),
        runtime_version="2.1.332",
        model=ModelRef(id="claude-sonnet-4-5-20250929"),
        claims=(
            Claim(Quantity.USED_PERCENT, 21, 1.5),
            Claim(Quantity.REMAINING_PERCENT, 79, 1.5),
            Claim(Quantity.USED_TOKENS, 41_500),
        ),
        usage=TokenUsage(
            input_tokens=2, cache_read_tokens=41_497, cache_write_tokens=1, output_tokens=7
        ),
        used_tokens=41_500,
        used_basis=UsedBasis.PROMPT,
        limit_tokens=200_000,
        limit_basis=LimitBasis.WINDOW,
        default_limits=frozenset({200_000, 1_000_000}),
        overflows=False,
    )


# -- small cases --------------------------------------------------------------------------------


def case(name: str) -> Evidence:
    return read(CASES[name]["payload"])


def refused(name: str) -> tuple[MissingReason, Partial | None]:
    seen = case(name)
    assert isinstance(seen, Gap)
    return seen.reason, seen.partial


def test_sl_a_consistent() -> None:
    assert pair(CASES["sl-a-consistent"]["payload"]) == (42_500, 200_000)


def test_sl_b_totals_of_an_unknown_version_are_not_held_against_the_usage() -> None:
    seen = case("sl-b-cumulative-totals")
    assert isinstance(seen, TokenPair)
    assert (seen.used_tokens, seen.limit_tokens, seen.claims) == (80_000, 200_000, ())


def test_sl_c_a_session_that_starts_is_not_measured_yet() -> None:
    assert refused("sl-c-session-start") == (
        MissingReason.NOT_MEASURED_YET,
        Partial(limit_tokens=1_000_000),
    )


def test_sl_d_null_usage_is_not_measured_whatever_stands_beside_it() -> None:
    assert refused("sl-d-null-usage-with-percentage")[0] is MissingReason.NOT_MEASURED_YET


def test_sl_e_a_clamped_percentage_does_not_argue_with_a_use_above_the_size() -> None:
    seen = case("sl-e-over-limit-clamped")
    assert isinstance(seen, TokenPair)
    assert (seen.used_tokens, seen.limit_tokens, seen.claims) == (212_086, 200_000, ())
    assert not seen.overflows


def test_sl_f_a_percentage_alone_grows_no_tokens() -> None:
    assert case("sl-f-percentage-alone") == UsedPercent(
        measured_at=AT,
        used_percent=16.7,
        claims=(Claim(Quantity.REMAINING_PERCENT, 83.3, 1.0),),
    )


def test_sl_g_a_number_is_no_usage() -> None:
    assert refused("sl-g-usage-is-a-number")[0] is MissingReason.USAGE_INVALID


def test_sl_h_strings_are_no_numbers() -> None:
    assert refused("sl-h-strings")[0] is MissingReason.USAGE_INVALID


def test_sl_i_a_size_of_zero_is_no_limit() -> None:
    seen = case("sl-i-size-zero")
    assert isinstance(seen, UsedTokens)
    assert seen.used_tokens == 1_000
    assert seen.limit_missing is MissingReason.LIMIT_INVALID


def test_sl_j_a_negative_count_is_none() -> None:
    assert refused("sl-j-negative")[0] is MissingReason.USAGE_INVALID


def test_sl_k_zeros_after_a_compaction_are_no_measurement() -> None:
    assert refused("sl-k-zeros-after-compact")[0] is MissingReason.NOT_MEASURED_YET


# -- public issues (formats/claude.md §7) -------------------------------------------------------


def test_issue_claude_code_17183_totals_of_the_session_are_not_the_context() -> None:
    totals = {"total_input_tokens": 223_372, "total_output_tokens": 11_464}
    assert pair(line(60_000, window=totals, version="2.1.2")) == (60_000, 200_000)
    alone = {"context_window_size": 200_000, **totals}
    assert gap({"version": "2.1.2", "context_window": alone}) is MissingReason.CUMULATIVE_ONLY


def test_issue_claude_code_14058_only_totals_are_no_context() -> None:
    window = {
        "context_window_size": 200_000,
        "total_input_tokens": 4_042,
        "total_output_tokens": 9_412,
    }
    assert gap({"version": "2.0.69", "context_window": window}) is MissingReason.CUMULATIVE_ONLY


def test_issue_claude_code_29651_after_a_compaction_nothing_is_measured() -> None:
    void = {"current_usage": None, "used_percentage": None, "remaining_percentage": None}
    assert gap(line(94_000, window=void, version="2.1.140")) is MissingReason.NOT_MEASURED_YET


def test_issue_claude_code_19475_a_null_percentage_is_missing_and_the_usage_counts() -> None:
    null = {"used_percentage": None, "remaining_percentage": None}
    totals = {"total_input_tokens": 70_000}
    assert pair(line(41_500, window={**null, **totals}, version="2.1.12")) == (41_500, 200_000)
    window = {"context_window_size": 200_000, **null, **totals}
    assert gap({"version": "2.1.12", "context_window": window}) is MissingReason.CUMULATIVE_ONLY


def test_issue_claude_code_19724_zero_tokens_are_missing() -> None:
    zeros = dict.fromkeys(
        (
            "input_tokens",
            "output_tokens",
            "cache_creation_input_tokens",
            "cache_read_input_tokens",
        ),
        0,
    )
    assert gap(line(3, window={"current_usage": zeros})) is MissingReason.NOT_MEASURED_YET


@pytest.mark.parametrize(
    ("version", "may_be_wrong"),
    [("2.1.289", True), ("2.1.290", False), ("2.1.99999999", False), ("2.1.100000000", True)],
)
def test_a_version_tells_whether_its_windows_are_right(version: str, may_be_wrong: bool) -> None:
    seen = read(line(41_500, version=version))
    assert isinstance(seen, TokenPair)
    assert seen.misstates_limit is may_be_wrong


def test_issue_claude_code_63447_a_use_above_the_size_refutes_only_the_size() -> None:
    seen = read(line(360_236, version="2.1.154", model={"id": "claude-opus-4-8"}))
    assert isinstance(seen, TokenPair)
    assert (seen.used_tokens, seen.limit_tokens) == (360_236, 200_000)
    assert seen.claims == (Claim(Quantity.USED_TOKENS, 360_236),)


def test_issue_claude_code_76751_the_model_goes_to_the_judge_with_the_stated_size() -> None:
    seen = read(line(160_781, version="2.1.206", model={"id": "claude-fable-5"}))
    assert isinstance(seen, TokenPair)
    assert seen.model == ModelRef(id="claude-fable-5")
    assert seen.limit_tokens in seen.default_limits


def test_issue_claude_code_39467_a_percentage_that_ignores_the_window_is_a_contradiction() -> None:
    wrong = {"used_percentage": 68, "remaining_percentage": 32}
    seen = read(line(77_000, 1_000_000, window=wrong, model={"id": "claude-opus-4-6[1m]"}))
    assert isinstance(seen, TokenPair)
    assert seen.claims[0] == Claim(Quantity.USED_PERCENT, 68, 1.5)


def test_issue_claude_code_35059_the_stated_size_of_an_ambiguous_id_is_kept() -> None:
    assert pair(line(60_000, version="2.1.76", model={"id": "claude-opus-4-6"}))[1] == 200_000


def test_issue_claude_hud_21_a_size_that_is_no_default_is_kept() -> None:
    seen = read(line(50_000, 100_000))
    assert isinstance(seen, TokenPair)
    assert seen.limit_tokens == 100_000
    assert seen.limit_tokens not in seen.default_limits


def test_issue_ccstatusline_233_the_marker_and_the_size_go_together() -> None:
    seen = read(line(130_000, 1_000_000, model={"id": "claude-opus-4-6[1m]"}))
    assert isinstance(seen, TokenPair)
    assert seen.limit_tokens == 1_000_000
    assert seen.model == ModelRef(id="claude-opus-4-6", long_context_marker=True)


def test_issue_oh_my_posh_7286_the_usage_beats_the_totals() -> None:
    totals = {"total_input_tokens": 3_702_900, "total_output_tokens": 540_180}
    assert pair(line(40_980, window=totals, version="2.1.37")) == (40_980, 200_000)


def test_issue_claude_code_73710_a_subagents_counter_is_an_estimate_of_its_context() -> None:
    payload = tasks({"id": "a1", "tokenCount": 454_000, "contextWindowSize": 200_000})
    seen = read(payload, agent_id="a1")
    assert isinstance(seen, Gap)
    assert seen.reason is MissingReason.ESTIMATE_ONLY
    assert seen.partial == Partial(
        used_tokens=454_000, limit_tokens=200_000, measured_at=AT, estimated=True
    )


# -- trust order --------------------------------------------------------------------------------


def without_usage(used: int, **window: Any) -> dict[str, Any]:
    return line(used, window={"current_usage": ..., **window})


def test_totals_that_describe_the_context_stand_in_for_an_absent_usage() -> None:
    seen = read(without_usage(41_500))
    assert isinstance(seen, TokenPair)
    assert (seen.used_tokens, seen.usage, seen.limit_tokens) == (41_500, None, 200_000)
    assert seen.claims[0] == Claim(Quantity.USED_PERCENT, 21, 1.5)
    first = {**without_usage(41_500), "version": "2.1.132"}
    assert pair(first) == pair(without_usage(41_500)) == (41_500, 200_000)
    assert pair(without_usage(1, remaining_percentage=...)) == (1, 200_000)


def test_totals_that_were_sums_do_not() -> None:
    for version in ("2.1.131", None, "next"):
        seen = read({**without_usage(41_500), "version": version})
        assert isinstance(seen, UsedPercent)
        assert seen.used_percent == 21


def test_totals_need_a_size_and_a_percentage_beside_them() -> None:
    assert isinstance(read(without_usage(41_500, context_window_size=...)), UsedPercent)
    assert (
        gap(without_usage(41_500, used_percentage=..., remaining_percentage=...))
        is MissingReason.USAGE_NOT_REPORTED
    )


def test_a_percentage_of_zero_is_no_measurement() -> None:
    zero = {"used_percentage": 0, "remaining_percentage": 100}
    assert gap({"context_window": zero}) is MissingReason.NOT_MEASURED_YET
    assert gap(without_usage(3, total_input_tokens=0)) is MissingReason.NOT_MEASURED_YET


def test_a_percentage_without_its_remainder_is_one() -> None:
    seen = read({"context_window": {"used_percentage": 21}})
    assert isinstance(seen, UsedPercent)
    assert seen.claims == ()


def test_a_use_without_a_size_is_left_to_the_model() -> None:
    for size in (..., None):
        seen = read(line(41_500, window={"context_window_size": size}))
        assert isinstance(seen, UsedTokens)
        assert not isinstance(seen, TokenPair)
        assert seen.used_tokens == 41_500
        assert seen.limit_missing is None
        assert seen.model == ModelRef(id="claude-sonnet-4-5-20250929")


def test_nothing_but_a_size_reports_no_usage() -> None:
    window = {"context_window_size": 200_000}
    assert gap({"context_window": window}) is MissingReason.USAGE_NOT_REPORTED
    assert gap({"context_window": {}}) is MissingReason.USAGE_NOT_REPORTED


def test_totals_of_zero_are_not_measured_yet() -> None:
    window = {"total_input_tokens": 0, "total_output_tokens": 0}
    assert gap({"context_window": window}) is MissingReason.NOT_MEASURED_YET


def test_an_absent_count_is_not_zero() -> None:
    usage = {"input_tokens": 41_500, "output_tokens": 7}
    assert gap(line(3, window={"current_usage": usage})) is MissingReason.USAGE_INCOMPLETE


def test_versions_before_the_window_report_no_usage() -> None:
    payload = {"hook_event_name": "Status", "session_id": "643cce8b", "version": "1.0.88"}
    assert gap(payload) is MissingReason.USAGE_NOT_REPORTED
    assert gap({**payload, "context_window": None}) is MissingReason.USAGE_NOT_REPORTED


@pytest.mark.parametrize("size", [0, -1, True, "200000", 2e5, [200_000]])
def test_a_size_that_is_no_positive_whole_number_is_refused(size: object) -> None:
    payload = line(41_500, window={"context_window_size": size})
    seen = cm.observe(STATUS_LINE, payload, at=AT)
    assert isinstance(seen, cm.Missing)
    assert seen.reason is MissingReason.LIMIT_INVALID
    assert seen.partial == Partial(used_tokens=41_500, measured_at=AT)
    declared = cm.observe(STATUS_LINE, payload, at=AT, limit_tokens=1_000_000)
    assert isinstance(declared, cm.Observed)
    assert isinstance(declared.value, cm.TokenMeasurement)
    assert (declared.value.used_tokens, declared.value.limit_tokens) == (41_500, 1_000_000)


@pytest.mark.parametrize("key", ["used_percentage", "remaining_percentage"])
@pytest.mark.parametrize("percent", [-1, 101, True, "21", float("nan"), [21]])
def test_a_percentage_outside_0_to_100_is_refused(key: str, percent: object) -> None:
    seen = read(line(41_500, window={key: percent}))
    assert isinstance(seen, Gap)
    assert seen.reason is MissingReason.PERCENT_INVALID
    assert seen.partial == Partial(used_tokens=41_500, limit_tokens=200_000, measured_at=AT)
    assert gap(without_usage(41_500, **{key: percent})) is MissingReason.PERCENT_INVALID
    alone = {"context_window": {"used_percentage": 21, key: percent}}
    assert gap(alone) is MissingReason.PERCENT_INVALID


@pytest.mark.parametrize("total", [-1, True, "41500", 41_500.0])
def test_a_total_that_is_no_count_is_refused_where_it_describes_the_context(total: object) -> None:
    payload = line(41_500, window={"total_input_tokens": total})
    seen = read(payload)
    assert isinstance(seen, Gap)
    assert seen.reason is MissingReason.USAGE_INVALID
    assert seen.partial == Partial(used_tokens=41_500, limit_tokens=200_000, measured_at=AT)
    assert pair({**payload, "version": "2.1.131"}) == (41_500, 200_000)
    for key in ("total_input_tokens", "total_output_tokens"):
        assert gap({"context_window": {key: total}}) is MissingReason.USAGE_INVALID


def test_the_percentages_of_a_full_window_are_held_against_it() -> None:
    seen = read(line(200_000))
    assert isinstance(seen, TokenPair)
    assert seen.claims[:2] == (
        Claim(Quantity.USED_PERCENT, 100, 1.5),
        Claim(Quantity.REMAINING_PERCENT, 0, 1.5),
    )


def test_a_version_by_date_is_another_agents() -> None:
    assert gap(line(41_500, version="1000.0.0")) is MissingReason.SOURCE_MALFORMED


def test_percentages_beside_an_overflow_count_where_they_are_not_clamped() -> None:
    stated = {"used_percentage": 21, "remaining_percentage": 79}
    seen = read(line(212_086, window=stated, version="2.1.37"))
    assert isinstance(seen, TokenPair)
    assert [claim.value for claim in seen.claims] == [21, 79]


def test_a_missing_model_is_none() -> None:
    for model in (None, "claude-opus-5", {}, {"id": 7}, {"id": ""}):
        assert read(line(41_500, model=model)).model is None


# -- identity -----------------------------------------------------------------------------------


def test_the_session_asked_for_must_be_the_payloads() -> None:
    assert pair(line(41_500), session_id="643cce8b") == (41_500, 200_000)
    assert gap(line(41_500), session_id="another") is MissingReason.SESSION_MISMATCH
    assert gap(line(41_500, session_id=7), session_id="7") is MissingReason.SESSION_MISMATCH


def test_a_payload_that_names_no_session_is_taken_at_the_callers_word() -> None:
    payload = {"context_window": line(41_500)["context_window"]}
    seen = read(payload, session_id="643cce8b")
    assert isinstance(seen, TokenPair)
    assert seen.identity == ()


def test_the_turn_asked_for_must_be_the_payloads() -> None:
    assert pair(line(41_500), turn_id="9b50f700") == (41_500, 200_000)
    assert gap(line(41_500), turn_id="another") is MissingReason.TURN_NOT_FOUND


def test_without_a_prompt_id_no_turn_can_be_matched() -> None:
    payload = line(41_500, prompt_id=None)
    assert gap(payload, turn_id="9b50f700") is MissingReason.TURN_IDS_NOT_RECORDED
    assert gap(payload, phase=Phase.ACTIVE) is MissingReason.TURN_IDS_NOT_RECORDED
    assert pair(payload, phase=Phase.TERMINAL) == (41_500, 200_000)
    assert pair(line(41_500), phase=Phase.ACTIVE) == (41_500, 200_000)


# -- sub-agents ---------------------------------------------------------------------------------


def tasks(*rows: Any, **fields: Any) -> dict[str, Any]:
    return {"session_id": "643cce8b", "columns": 120, "tasks": list(rows), **fields}


def test_the_main_line_says_nothing_of_a_subagent() -> None:
    assert gap(line(41_500), agent_id="a1") is MissingReason.SESSION_MISMATCH


def test_the_subagents_lines_say_nothing_of_the_main_context() -> None:
    assert gap(tasks({"id": "a1", "tokenCount": 7_834})) is MissingReason.USAGE_NOT_REPORTED


def test_tasks_beside_a_window_do_not_hide_it() -> None:
    assert pair(line(41_500, tasks=[{"id": "a1", "tokenCount": 7_834}])) == (41_500, 200_000)


def test_a_subagent_that_has_no_line_is_not_found() -> None:
    assert gap(tasks({"id": "b1"}, 7), agent_id="a1") is MissingReason.SESSION_NOT_FOUND


def test_a_subagent_is_matched_to_session_and_turn() -> None:
    payload = tasks({"id": "a1", "tokenCount": 7_834})
    assert gap(payload, agent_id="a1", session_id="x") is MissingReason.SESSION_MISMATCH
    assert gap(payload, agent_id="a1", turn_id="x") is MissingReason.TURN_IDS_NOT_RECORDED


@pytest.mark.parametrize(
    ("count", "reason"),
    [
        (None, MissingReason.USAGE_NOT_REPORTED),
        (0, MissingReason.NOT_MEASURED_YET),
        (-1, MissingReason.USAGE_INVALID),
        ("7834", MissingReason.USAGE_INVALID),
        (True, MissingReason.USAGE_INVALID),
    ],
)
def test_a_subagents_counter_that_is_no_count_is_named(count: Any, reason: MissingReason) -> None:
    assert gap(tasks({"id": "a1", "tokenCount": count}), agent_id="a1") is reason


def test_a_subagents_estimate_keeps_its_model_and_only_a_true_window() -> None:
    task = {"id": "a1", "tokenCount": 7_834, "contextWindowSize": 0, "model": "claude-haiku-4-5"}
    seen = read(tasks(task), agent_id="a1")
    assert isinstance(seen, Gap)
    assert seen.partial == Partial(used_tokens=7_834, measured_at=AT, estimated=True)
    assert seen.model == ModelRef(id="claude-haiku-4-5")


# -- other agents -------------------------------------------------------------------------------

FOREIGN: dict[str, dict[str, Any]] = {
    "cursor": {**line(42_825, 256_000), "version": "2026.08.11-e8db854", "prompt_id": None},
    "cursor autorun": {**line(42_825, 256_000), "autorun": False},
    "copilot": line(21_177, window={"current_context_tokens": 22_521}),
    "qwen": {**line(34_000, window={"current_usage": 34_000}), "metrics": {"models": {}}},
    "grok": {**line(40_000, 500_000), "schema_version": 1, "trigger": "poll"},
    "grok window": line(40_000, 500_000, window={"context_tokens": 40_000}),
    "antigravity": {**line(2_600, 1_048_576), "product": "antigravity"},
    "kimi code": {"contextTokens": 31_457, "maxContextTokens": 262_144, "sessionId": "s"},
    "a hook": {"session_id": "643cce8b", "hook_event_name": "Stop"},
    "nothing": {},
    "no window object": {"session_id": "643cce8b", "context_window": 200_000},
}


@pytest.mark.parametrize("agent", FOREIGN)
def test_another_agents_payload_is_refused(agent: str) -> None:
    assert gap(FOREIGN[agent]) is MissingReason.SOURCE_MALFORMED
    assert STATUS_LINE.recognise is not None
    assert not STATUS_LINE.recognise(FOREIGN[agent])


@pytest.mark.parametrize("recording", RECORDED)
def test_a_recorded_payload_is_recognised(recording: str) -> None:
    assert STATUS_LINE.recognise is not None
    assert all(map(STATUS_LINE.recognise, payloads(recording)))


def test_a_bare_window_is_read_and_not_recognised() -> None:
    assert STATUS_LINE.recognise is not None
    assert not STATUS_LINE.recognise(CASES["sl-a-consistent"]["payload"])


# -- for all inputs -----------------------------------------------------------------------------

json_values = any_json()
counts = st.integers(min_value=-5, max_value=10**6) | json_values
windows = st.fixed_dictionaries(
    {},
    optional={
        "context_window_size": counts,
        "used_percentage": counts,
        "remaining_percentage": counts,
        "total_input_tokens": counts,
        "total_output_tokens": counts,
        "current_usage": json_values
        | st.fixed_dictionaries(dict.fromkeys(line(3)["context_window"]["current_usage"], counts)),
    },
)
any_payloads = st.fixed_dictionaries(
    {},
    optional={
        "context_window": windows | json_values,
        "tasks": st.lists(st.fixed_dictionaries({"id": st.just("a1")}), max_size=1) | json_values,
        "version": st.sampled_from(["2.1.332", "2.1.2"]) | json_values,
        "model": json_values,
        "session_id": json_values,
        "prompt_id": json_values,
    },
)


@given(any_payloads, st.sampled_from([{}, {"agent_id": "a1"}, {"turn_id": "t"}]))
def test_no_object_raises(payload: dict[str, Any], asked: dict[str, str]) -> None:
    seen = read(payload, **asked)
    if isinstance(seen, TokenPair):
        assert seen.used_tokens is not None
        assert seen.used_tokens > 0
        assert seen.limit_tokens > 0
    if isinstance(seen, UsedPercent):
        assert 0 < seen.used_percent <= 100


@pytest.mark.parametrize("recording", RECORDED)
def test_a_wrong_type_anywhere_gives_the_true_numbers_or_none(recording: str) -> None:
    size = truth(recording)["limit_tokens_stated_by_agent"]
    for payload in payloads(recording):
        true = payload["context_window"]["total_input_tokens"]
        for wrong in spoilt(payload):
            if isinstance(wrong, dict):
                seen = read(wrong)
                assert isinstance(seen, UsedTokens | Gap)
                if isinstance(seen, UsedTokens):
                    assert seen.used_tokens == true
                if isinstance(seen, TokenPair):
                    assert seen.limit_tokens == size


@given(st.integers(min_value=3, max_value=10**6), st.integers(min_value=1, max_value=10**6))
def test_a_true_payload_never_contradicts_itself(used: int, size: int) -> None:
    seen = read(line(used, size))
    assert isinstance(seen, TokenPair)
    percent = 100 * used / size
    measured = {
        Quantity.USED_TOKENS: float(used),
        Quantity.USED_PERCENT: percent,
        Quantity.REMAINING_PERCENT: max(0.0, 100 - percent),
    }
    for claim in seen.claims:
        assert abs(measured[claim.quantity] - claim.value) <= claim.tolerance
