from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxmeasure as cm
from ctxmeasure.adapters import claude
from ctxmeasure.adapters.cursor import status_line as room
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import Claim, Gap, Phase, Quantity, Query, UsedPercent
from ctxmeasure.identify import identify
from ctxmeasure.observation import MissingReason, Partial
from ctxmeasure.testing.cursor.payloads import PRE_COMPACT, SESSION, STATUS_LINE, status_line
from ctxmeasure.testing.hostile import any_json, spoilt

SOURCE = room.STATUS_LINE
AT = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)


def read(payload: dict[str, Any], **asked: Any) -> UsedPercent | Gap:
    seen = SOURCE.extract(payload, Query(**{"at": AT, **asked}))
    assert isinstance(seen, UsedPercent | Gap)
    return seen


def gap(payload: dict[str, Any], **asked: Any) -> MissingReason:
    seen = read(payload, **asked)
    assert isinstance(seen, Gap)
    return seen.reason


def percent(payload: dict[str, Any], **asked: Any) -> float:
    observation = cm.observe(SOURCE, payload, at=AT, **asked)
    assert isinstance(observation, cm.Observed), observation
    assert isinstance(observation.value, cm.PercentMeasurement)
    return observation.value.used_percent


def refused(payload: dict[str, Any]) -> tuple[MissingReason, Partial | None]:
    observation = cm.observe(SOURCE, payload, at=AT)
    assert isinstance(observation, cm.Missing), observation
    return observation.reason, observation.partial


# -- the percentage -----------------------------------------------------------------------------


def test_a_percentage_says_all_that_the_judge_needs() -> None:
    assert read(STATUS_LINE) == UsedPercent(
        measured_at=AT,
        identity=(SESSION, "141"),
        runtime_version="2026.08.11-e8db854",
        used_percent=16.7,
        claims=(
            Claim(Quantity.REMAINING_PERCENT, 83.3, 0.15),
            Claim(Quantity.USED_PERCENT, 16.7, 0.15),
        ),
    )


def test_the_percentage_is_the_runtimes_own_word() -> None:
    observation = cm.observe("cursor.status_line", json.dumps(STATUS_LINE).encode(), at=AT)
    assert isinstance(observation, cm.Observed)
    assert observation.value == cm.PercentMeasurement(
        used_percent=16.7, measured_at=AT, method="cursor_status_line"
    )
    assert observation.attestation is cm.Attestation.NATIVE
    assert observation.confidence is cm.Confidence.EXACT
    assert observation.completeness is cm.Completeness.PERCENTAGE_ONLY


@pytest.mark.parametrize(("stated", "right"), [(1, 1.0), (1.0, 1.0), (0.1, 0.1), (100, 100.0)])
def test_a_percentage_is_never_rescaled(stated: float, right: float) -> None:
    window = {"used_percentage": stated, "remaining_percentage": ..., "total_input_tokens": ...}
    assert percent(status_line(window)) == right


def test_a_declared_limit_makes_no_tokens_of_it() -> None:
    assert percent(STATUS_LINE, limit_tokens=256_000) == 16.7


def test_what_stands_beside_the_percentage_may_be_absent() -> None:
    for absent in (None, ...):
        window = dict.fromkeys(
            ("remaining_percentage", "total_input_tokens", "context_window_size"), absent
        )
        seen = read(status_line(window))
        assert isinstance(seen, UsedPercent)
        assert seen.claims == ()


def test_a_window_of_zero_is_not_known() -> None:
    seen = read(status_line({"context_window_size": 0}))
    assert isinstance(seen, UsedPercent)
    assert [claim.quantity for claim in seen.claims] == [Quantity.REMAINING_PERCENT]


def test_early_nulls_are_not_measured_yet() -> None:
    early = {
        "total_input_tokens": 0,
        "total_output_tokens": None,
        "used_percentage": None,
        "remaining_percentage": None,
        "current_usage": None,
    }
    assert refused(status_line(early)) == (
        MissingReason.NOT_MEASURED_YET,
        Partial(limit_tokens=256_000),
    )
    nothing = {**early, "context_window_size": None}
    assert refused(status_line(nothing)) == (MissingReason.NOT_MEASURED_YET, None)


def test_zero_use_is_no_measurement() -> None:
    zero = {"used_percentage": 0, "remaining_percentage": 100, "total_input_tokens": 0}
    assert refused(status_line(zero))[0] is MissingReason.NOT_MEASURED_YET


@pytest.mark.parametrize("window", [None, ..., {}, {"context_window_size": 256_000}])
def test_without_a_percentage_there_is_none(window: Any) -> None:
    payload = status_line()
    payload["context_window"] = window
    if window is ...:
        del payload["context_window"]
    assert gap(payload) is MissingReason.PERCENT_NOT_REPORTED


@pytest.mark.parametrize("key", ["used_percentage", "remaining_percentage"])
@pytest.mark.parametrize("wrong", [-0.1, 100.1, True, "16.7", float("nan"), [16.7]])
def test_a_percentage_outside_0_to_100_is_refused(key: str, wrong: Any) -> None:
    reason, partial = refused(status_line({key: wrong}))
    assert reason is MissingReason.PERCENT_INVALID
    assert partial is not None
    assert partial.limit_tokens == 256_000


def test_of_a_percentage_and_a_window_that_are_both_wrong_nothing_is_kept() -> None:
    wrong = {"used_percentage": 100.1, "context_window_size": "256000"}
    assert refused(status_line(wrong)) == (MissingReason.PERCENT_INVALID, None)


@pytest.mark.parametrize("size", [-1, True, "256000", 256_000.0, [256_000]])
def test_a_percentage_does_without_a_window_that_is_no_count(size: Any) -> None:
    seen = read(status_line({"context_window_size": size}))
    assert isinstance(seen, UsedPercent)
    assert seen.used_percent == 16.7
    assert seen.claims == (Claim(Quantity.REMAINING_PERCENT, 83.3, 0.15),)


@pytest.mark.parametrize("total", [-1, True, "42752", 42_752.0, 10**400])
def test_a_total_that_is_no_count_is_refused(total: Any) -> None:
    assert refused(status_line({"total_input_tokens": total})) == (
        MissingReason.USAGE_INVALID,
        Partial(used_percent=16.7, limit_tokens=256_000, measured_at=AT),
    )


@pytest.mark.parametrize(
    "window",
    [
        {"remaining_percentage": 80.0},
        {"remaining_percentage": 83.0},
        {"total_input_tokens": 60_000},
        {"total_input_tokens": 0},
    ],
)
def test_statements_that_do_not_go_with_the_percentage_refute_it(window: dict[str, Any]) -> None:
    assert refused(status_line(window)) == (
        MissingReason.SOURCES_DISAGREE,
        Partial(used_percent=16.7, measured_at=AT),
    )


@pytest.mark.parametrize(
    "window",
    [{"remaining_percentage": 83.4}, {"remaining_percentage": 83.2}, {"total_input_tokens": 42825}],
)
def test_statements_within_a_step_of_rounding_do_not(window: dict[str, Any]) -> None:
    assert percent(status_line(window)) == 16.7


def test_the_last_calls_bill_is_not_looked_at() -> None:
    for usage in (None, 7, {"input_tokens": 1_100_000}, ...):
        assert percent(status_line({"current_usage": usage})) == 16.7


# -- public cases (formats/cursor.md §5) --------------------------------------------------------

# The example in Cursor's own description of its status line.
EXAMPLE = status_line(
    {
        "total_input_tokens": 15_234,
        "total_output_tokens": None,
        "context_window_size": 200_000,
        "used_percentage": 34.5,
        "remaining_percentage": 65.5,
        "current_usage": None,
    },
    model={"id": "claude-4-opus", "display_name": "Claude 4 Opus", "max_mode": True},
    version="1.2.3",
)


def test_case_01_a_percentage_grows_no_tokens_of_an_assumed_window() -> None:
    window = {"used_percentage": 16.7, "remaining_percentage": 83.3}
    payload = {**status_line(), "context_window": window}
    assert percent(payload, policy=cm.Policy(assume_limits={"cursor": 200_000})) == 16.7


def test_case_02_the_documented_example_contradicts_itself() -> None:
    seen = read(EXAMPLE)
    assert seen.model == ModelRef(id="claude-4-opus")
    assert seen.runtime_version == "1.2.3"
    assert refused(EXAMPLE) == (
        MissingReason.SOURCES_DISAGREE,
        Partial(used_percent=34.5, measured_at=AT),
    )


def test_case_02_without_its_derived_count_it_is_a_percentage() -> None:
    window = {key: EXAMPLE["context_window"][key] for key in ("used_percentage",)}
    assert percent({**EXAMPLE, "context_window": window}) == 34.5


def test_case_03_the_status_line_is_a_source() -> None:
    assert percent(STATUS_LINE) == 16.7


def test_case_17_auto_names_no_model_and_needs_none() -> None:
    assert read(STATUS_LINE).model is None
    assert percent(STATUS_LINE) == 16.7


@pytest.mark.parametrize("model", [None, "composer-2.5", {}, {"id": 7}, {"id": ""}])
def test_a_missing_model_is_none(model: Any) -> None:
    assert read(status_line(model=model)).model is None


# -- identity -----------------------------------------------------------------------------------


def test_the_session_asked_for_must_be_the_payloads() -> None:
    assert isinstance(read(STATUS_LINE, session_id=SESSION), UsedPercent)
    assert gap(STATUS_LINE, session_id="another") is MissingReason.SESSION_MISMATCH
    assert gap(STATUS_LINE, agent_id="sub_1") is MissingReason.SESSION_MISMATCH


def test_no_turn_is_named() -> None:
    assert gap(STATUS_LINE, turn_id="9c1f") is MissingReason.TURN_IDS_NOT_RECORDED
    assert gap(STATUS_LINE, phase=Phase.ACTIVE) is MissingReason.TURN_IDS_NOT_RECORDED
    assert isinstance(read(STATUS_LINE, phase=Phase.TERMINAL), UsedPercent)


@pytest.mark.parametrize(
    ("output", "fact"),
    [(141, "141"), (None, ""), ("141", ""), (2**53, str(2**53)), (2**53 + 1, "")],
)
def test_the_growing_output_tells_two_samples_apart(output: Any, fact: str) -> None:
    seen = read(status_line({"total_output_tokens": output}))
    assert isinstance(seen, UsedPercent)
    assert seen.identity == (SESSION, fact)


def test_a_payload_without_a_session_has_no_identity() -> None:
    seen = read(status_line(session_id=...))
    assert isinstance(seen, UsedPercent)
    assert seen.identity == ()


# -- other agents -------------------------------------------------------------------------------

WINDOW = STATUS_LINE["context_window"]
FOREIGN: dict[str, dict[str, Any]] = {
    "Claude Code": {
        "session_id": "s",
        "version": "2.1.332",
        "cost": {"total_cost_usd": 0.1},
        "context_window": WINDOW,
        "exceeds_200k_tokens": False,
    },
    "Claude Code with a key of tomorrow": status_line(cost={"total_cost_usd": 0.1}),
    "Grok Build": {"schema_version": 1, "version": "0.2.112", "context_window": WINDOW},
    "Antigravity": {"product": "antigravity", "conversation_id": "c", "context_window": WINDOW},
    "no version": {"session_id": "s", "context_window": WINDOW},
    "a version that is none": {"version": "next", "context_window": WINDOW},
    "a version in other digits": {"version": "٢٠٢٦.1.1", "context_window": WINDOW},
    "a window that is none": {**STATUS_LINE, "context_window": 7},
    "a hook": PRE_COMPACT,
    "nothing": {},
}


@pytest.mark.parametrize("agent", FOREIGN)
def test_another_agents_payload_is_refused(agent: str) -> None:
    assert gap(FOREIGN[agent]) is MissingReason.SOURCE_MALFORMED
    assert SOURCE.recognise is not None
    assert not SOURCE.recognise(FOREIGN[agent])


@pytest.mark.parametrize("mark", ["autorun", "render_width_chars", "version"])
def test_one_mark_of_cursors_is_enough_to_be_read(mark: str) -> None:
    marks: dict[str, Any] = {"autorun": ..., "render_width_chars": ..., "version": "1.2.3"}
    payload = status_line(**{**marks, mark: STATUS_LINE[mark]})
    assert percent(payload) == 16.7
    assert SOURCE.recognise is not None
    assert SOURCE.recognise(payload) is (mark != "version")


@pytest.mark.parametrize("payload", [STATUS_LINE, EXAMPLE])
def test_it_is_recognised_and_is_not_claudes(payload: dict[str, Any]) -> None:
    assert SOURCE.recognise is not None
    assert SOURCE.recognise(payload)
    assert claude.STATUS_LINE.recognise is not None
    assert not claude.STATUS_LINE.recognise(payload)
    assert identify(json.dumps(payload).encode()) is SOURCE
    refusal = claude.STATUS_LINE.extract(payload, Query(at=AT))
    assert refusal == Gap(reason=MissingReason.SOURCE_MALFORMED)


# -- for all inputs -----------------------------------------------------------------------------

numbers = (
    st.none()
    | st.integers()
    | st.floats()
    | st.sampled_from([0, 1, 1.0, 16.7, 83.3, 42_752, 256_000, 10**400])
)


@given(
    st.dictionaries(st.sampled_from([*STATUS_LINE]), any_json(*WINDOW)),
    st.dictionaries(st.sampled_from([*WINDOW]), any_json()) | any_json(),
)
def test_no_object_raises(payload: dict[str, Any], window: Any) -> None:
    for fields in (payload, {**payload, "context_window": window}):
        cm.observe(SOURCE, fields, at=AT)
        cm.observe(SOURCE, {**fields, "autorun": True}, at=AT)
        assert SOURCE.recognise is not None
        SOURCE.recognise(fields)


@given(
    st.dictionaries(st.sampled_from([*WINDOW]), numbers),
    st.none() | st.sampled_from([200_000, 256_000]),
)
def test_no_token_ever_comes_of_a_status_line(
    window: dict[str, Any], limit_tokens: int | None
) -> None:
    payload = {**STATUS_LINE, "context_window": {**WINDOW, **window}}
    policy = cm.Policy(assume_limits={"cursor": 200_000}, accept_estimates=True)
    match cm.observe(SOURCE, payload, at=AT, limit_tokens=limit_tokens, policy=policy):
        case cm.Observed(value=value):
            assert isinstance(value, cm.PercentMeasurement)
            assert value.used_percent == payload["context_window"]["used_percentage"]
        case cm.Missing(partial=partial):
            assert partial is None or partial.used_tokens is None


def test_a_wrong_type_anywhere_gives_the_true_percentage_or_none() -> None:
    for wrong in spoilt(STATUS_LINE):
        if isinstance(wrong, dict):
            match cm.observe(SOURCE, wrong, at=AT):
                case cm.Observed(value=value):
                    true = wrong["context_window"]["used_percentage"]
                    assert value.used_percent == true
