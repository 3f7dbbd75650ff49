from __future__ import annotations

import json
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from acp_messages import AT, Feed, short
from hypothesis import given
from hypothesis import strategies as st

import ctxmeasure as cm
from ctxmeasure import Missing, MissingReason, Observed, Policy, Stream
from ctxmeasure.adapters.acp.session import SESSION
from ctxmeasure.evidence import Gap, Phase, Query, TokenPair, UsedPercent, UsedTokens
from ctxmeasure.identify import claimant
from ctxmeasure.observation import Attestation, Confidence, LimitBasis, Partial, UsedBasis
from ctxmeasure.testing.acp.messages import (
    CLAUDE,
    A,
    B,
    answer,
    answered,
    compaction,
    initialized,
    kiro,
    metadata,
    notification,
    opened,
    request,
    update,
    usage,
)
from ctxmeasure.testing.hostile import any_json, spoilt
from ctxmeasure.testing.session import line

SECOND = timedelta(seconds=1)


def heard(*rows: dict[str, Any], **asked: Any) -> Stream:
    stream = Stream("acp.session", **asked)
    for row in rows:
        stream.feed(line(row), at=AT)
    return stream


# -- a report of use ----------------------------------------------------------------------------


def test_a_report_is_the_agents_own_pair_as_of_its_receipt() -> None:
    assert Feed()(usage(53_000)).evidence() == TokenPair(
        measured_at=AT + SECOND,
        identity=(A,),
        used_tokens=53_000,
        used_basis=UsedBasis.PROMPT_AND_OUTPUT,
        limit_tokens=200_000,
        limit_basis=LimitBasis.WINDOW,
        default_limits=frozenset({200_000}),
        overflows=True,
    )


def test_a_report_is_native_and_exact() -> None:
    latest = heard(initialized("agent"), usage(53_000)).latest
    assert isinstance(latest, Observed)
    assert (latest.attestation, latest.confidence) == (Attestation.NATIVE, Confidence.EXACT)
    assert latest.value.method == "acp_usage_update"


def test_a_report_replaces_the_one_before_it_down_as_well_as_up() -> None:
    feed = Feed()(usage(53_000), usage(80_000, 1_000_000))
    assert feed.said() == (80_000, 1_000_000)
    assert feed(usage(9_000)).said() == (9_000, 200_000)


def test_the_same_report_again_is_no_change_and_still_of_now() -> None:
    stream = Stream("acp.session")
    assert stream.feed(line(usage(53_000)), at=AT) is not None
    assert stream.feed(line(usage(53_000)), at=AT + SECOND) is None
    assert isinstance(stream.latest, Observed)
    assert stream.latest.value.measured_at == AT + SECOND


def test_more_used_than_the_window_is_an_overflow_and_not_clamped() -> None:
    latest = heard(usage(297_047, 272_000)).latest
    assert isinstance(latest, Observed)
    assert isinstance(latest.value, cm.TokenMeasurement)
    assert (latest.value.used_tokens, latest.value.limit_tokens) == (297_047, 272_000)


@pytest.mark.parametrize(
    "cost",
    [{"amount": 0.045, "currency": "USD"}, {"amount": "x"}, None, -1, True, "free", [], {}],
)
def test_a_cost_is_ignored_whatever_it_is(cost: Any) -> None:
    assert Feed()(usage(53_000, cost=cost)).said() == (53_000, 200_000)


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        (0, MissingReason.LIMIT_NOT_REPORTED),
        (None, MissingReason.LIMIT_NOT_REPORTED),
        (-1, MissingReason.LIMIT_INVALID),
        (False, MissingReason.LIMIT_INVALID),
        (True, MissingReason.LIMIT_INVALID),
        (200_000.0, MissingReason.LIMIT_INVALID),
        ("200000", MissingReason.LIMIT_INVALID),
        ([200_000], MissingReason.LIMIT_INVALID),
    ],
)
def test_a_size_that_is_none_is_named_and_leaves_the_count(
    size: Any, reason: MissingReason
) -> None:
    assert Feed()(usage(53_000, size)).said() == (53_000, reason)
    declared = heard(usage(53_000, size), limit_tokens=100_000).latest
    assert isinstance(declared, Observed)
    assert declared.attestation is Attestation.OPERATOR


@pytest.mark.parametrize(
    ("used", "reason"),
    [
        (None, MissingReason.USAGE_NOT_REPORTED),
        (0, MissingReason.NOT_MEASURED_YET),
        (-1, MissingReason.USAGE_INVALID),
        (False, MissingReason.USAGE_INVALID),
        (53_000.0, MissingReason.USAGE_INVALID),
        ("not-a-number", MissingReason.USAGE_INVALID),
        ({}, MissingReason.USAGE_INVALID),
    ],
)
def test_a_use_that_is_none_is_named_hides_no_older_one_and_leaves_the_size(
    used: Any, reason: MissingReason
) -> None:
    feed = Feed()(usage(80_000), usage(used))
    assert feed.evidence() == Gap(reason=reason, partial=Partial(limit_tokens=200_000))
    assert short(feed.peak()) == (80_000, 200_000)
    assert Feed()(usage(used, 0)).evidence() == Gap(reason=reason)
    assert feed(usage(81_000)).said() == (81_000, 200_000)


def test_a_report_without_its_fields_reports_nothing() -> None:
    assert Feed()(update("usage_update")).said() is MissingReason.USAGE_NOT_REPORTED


def test_a_count_that_the_agent_calls_approximate_is_an_estimate() -> None:
    row = usage(53_000, _meta={"source": "gateway-session-store", "approximate": True})
    latest = heard(row).latest
    assert isinstance(latest, Missing)
    assert latest.reason is MissingReason.ESTIMATE_ONLY
    assert latest.partial is not None
    assert latest.partial.used_tokens == 53_000
    accepted = heard(row, policy=Policy(accept_estimates=True)).latest
    assert isinstance(accepted, Observed)
    assert accepted.confidence is Confidence.LOW


@pytest.mark.parametrize("meta", [None, {}, [], {"approximate": False}, {"approximate": 1}])
def test_other_remarks_do_not_make_an_estimate(meta: Any) -> None:
    seen = Feed()(usage(53_000, _meta=meta)).evidence()
    assert isinstance(seen, TokenPair)
    assert not seen.estimated


def test_a_count_holds_prompt_and_output_so_that_the_prompt_alone_cannot_be_told() -> None:
    latest = heard(usage(53_000), policy=Policy(counts=cm.Counts.PROMPT)).latest
    assert isinstance(latest, Missing)
    assert latest.reason is MissingReason.USAGE_INCOMPLETE


# -- the fullest --------------------------------------------------------------------------------


def test_the_peak_is_the_largest_share_of_a_window_and_outlives_a_fall() -> None:
    feed = Feed()(usage(150_000), usage(300_000, 1_000_000), usage(9_000), usage(None))
    assert short(feed.peak()) == (150_000, 200_000)


def test_the_peak_without_windows_is_the_largest_count() -> None:
    feed = Feed()(usage(9_000, 0), usage(80_000, 0), usage(70_000, 0))
    assert short(feed.peak()) == (80_000, MissingReason.LIMIT_NOT_REPORTED)


def test_the_peak_of_shares_is_the_largest_and_no_estimate_is_one() -> None:
    assert short(Feed()(metadata(12.5), metadata(40), metadata(2.05)).peak()) == 40.0
    estimate = usage(199_000, _meta={"approximate": True})
    assert short(Feed()(usage(53_000), estimate).peak()) == (53_000, 200_000)
    assert short(Feed()(estimate).peak()) == (199_000, 200_000)


@pytest.mark.parametrize(
    ("row", "peak"),
    [
        (usage(119_500), 60.0),
        (usage(120_500), (120_500, 200_000)),
        (usage(199_000, 0), 60.0),  # of what, is not known
    ],
)
def test_the_peak_of_pairs_and_shares_is_the_largest_share(row: dict[str, Any], peak: Any) -> None:
    assert short(Feed()(metadata(60), row).peak()) == peak
    assert short(Feed()(row, metadata(60)).peak()) == peak


def test_the_peak_before_any_report_is_what_is_shown() -> None:
    assert short(Feed().peak()) is MissingReason.NOT_MEASURED_YET
    assert short(Feed()(usage(1), usage(2, session=B)).peak()) is MissingReason.SESSION_AMBIGUOUS


# -- sessions -----------------------------------------------------------------------------------


def test_the_session_that_is_named_is_measured_and_no_other() -> None:
    feed = Feed()(usage(53_000), usage(180_000, session=B))
    assert feed.said(session_id=A) == (53_000, 200_000)
    assert feed.said(session_id=B) == (180_000, 200_000)
    assert feed.said(agent_id=B, session_id=A) == (180_000, 200_000)
    assert feed.said(session_id="other") is MissingReason.SESSION_MISMATCH


def test_two_sessions_that_report_are_ambiguous_until_one_is_named() -> None:
    feed = Feed()(usage(53_000))
    assert feed.said() == (53_000, 200_000)
    assert feed(usage(180_000, session=B)).said() is MissingReason.SESSION_AMBIGUOUS


def test_the_session_that_the_client_opened_is_meant_and_no_sub_agents() -> None:
    feed = Feed()(opened(), metadata(42.0), metadata(77.7, B), usage(9, session=B))
    assert feed.said() == 42.0
    assert feed.said(agent_id=B) == (9, 200_000)


@pytest.mark.parametrize("method", ["session/load", "session/resume", "session/prompt"])
def test_a_session_that_the_client_asks_for_is_one_that_it_opened(method: str) -> None:
    feed = Feed()(request(method, sessionId=A), usage(53_000), usage(180_000, session=B))
    assert feed.said() == (53_000, 200_000)


def test_an_opened_session_is_not_measured_by_another_ones_report() -> None:
    feed = Feed()(opened(), usage(180_000, session=B))
    assert feed.said() is MissingReason.NOT_MEASURED_YET
    assert feed.said(session_id=A) is MissingReason.NOT_MEASURED_YET


def test_two_opened_sessions_are_ambiguous_although_one_has_not_reported() -> None:
    feed = Feed()(opened(), usage(53_000), opened(B))
    assert feed.said() is MissingReason.SESSION_AMBIGUOUS
    assert feed.said(session_id=A) == (53_000, 200_000)
    assert feed.said(session_id=B) is MissingReason.NOT_MEASURED_YET


@pytest.mark.parametrize(
    "row",
    [
        opened(),
        opened(B),
        request("session/load", sessionId=B),
        request("session/prompt", 3, sessionId=A),
    ],
)
def test_to_open_a_session_voids_nothing(row: dict[str, Any]) -> None:
    feed = Feed()(usage(53_000), row)
    assert feed.said(session_id=A) == (53_000, 200_000)


def test_to_open_a_session_again_changes_nothing() -> None:
    feed = Feed()(opened())
    before = feed.state
    assert feed(opened(), request("session/load", sessionId=A)).state is before


def test_before_anything_is_known_no_session_is_another() -> None:
    assert Feed().said() is MissingReason.NOT_MEASURED_YET
    assert Feed().said(session_id=A) is MissingReason.NOT_MEASURED_YET


@pytest.mark.parametrize("session", [None, "", 7])
def test_a_report_that_names_no_session_is_the_only_ones(session: Any) -> None:
    feed = Feed()(usage(53_000, session=session))
    assert feed.said() == feed.said(session_id=A) == (53_000, 200_000)
    seen = feed.evidence()
    assert isinstance(seen, TokenPair)
    assert seen.identity == ()
    feed = Feed()(opened(), metadata(13.5, None))
    assert feed.said(session_id=A) == 13.5
    feed = Feed()(opened(), opened(B), usage(53_000, session=session))
    assert feed.said(session_id=A) is MissingReason.NOT_MEASURED_YET


# -- turns --------------------------------------------------------------------------------------


def test_no_message_names_a_turn() -> None:
    feed = Feed()(usage(53_000))
    assert feed.said(turn_id="turn") is MissingReason.TURN_IDS_NOT_RECORDED
    assert feed.said(turn_id="turn", turn_started_at=AT) == (53_000, 200_000)
    assert feed.said(turn_started_at=AT + SECOND) == (53_000, 200_000)
    assert feed.said(turn_started_at=AT + 2 * SECOND) is MissingReason.TURN_NOT_FOUND
    assert Feed()(usage(0)).said(turn_started_at=AT) is MissingReason.NOT_MEASURED_YET


def test_while_a_turn_runs_a_report_has_to_be_fresh() -> None:
    content = line(usage(53_000))
    fresh = cm.observe("acp.session", content, phase=Phase.ACTIVE, at=AT)
    assert isinstance(fresh, Observed)
    stream = heard(usage(53_000), policy=Policy(max_age=30 * SECOND))
    stream.feed(line(update("plan", entries=[])), at=AT + 31 * SECOND)
    assert isinstance(stream.latest, Missing)
    assert stream.latest.reason is MissingReason.SAMPLE_STALE


# -- compactions --------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["in_progress", "failed", "cancelled", None, 1])
def test_a_compaction_that_is_not_completed_voids_nothing(status: Any) -> None:
    assert Feed()(usage(180_000), compaction(status)).said() == (180_000, 200_000)


def test_a_compaction_voids_its_own_session_only() -> None:
    feed = Feed()(usage(180_000), usage(53_000, session=B), compaction())
    assert feed.said(session_id=A) is MissingReason.COMPACTED
    assert feed.said(session_id=B) == (53_000, 200_000)
    assert short(feed.peak(session_id=A)) == (180_000, 200_000)


def test_what_is_said_right_after_a_compaction_is_an_estimate_however_often() -> None:
    feed = Feed()(usage(180_000), compaction(), usage(930), usage(930, cost={"amount": 0}))
    known = Partial(
        used_tokens=930, limit_tokens=200_000, measured_at=AT + 4 * SECOND, estimated=True
    )
    assert feed.evidence() == Gap(reason=MissingReason.COMPACTED, partial=known)
    assert short(feed.peak()) == (180_000, 200_000)
    assert feed(usage(9_005)).said() == (9_005, 200_000)


def test_an_estimate_after_a_compaction_is_taken_by_who_accepts_estimates() -> None:
    rows = [usage(180_000), compaction(), usage(930, 0)]
    accepted = heard(*rows, limit_tokens=1000, policy=Policy(accept_estimates=True)).latest
    assert isinstance(accepted, Observed)
    assert accepted.confidence is Confidence.LOW


def test_a_zero_after_a_compaction_is_not_the_estimate() -> None:
    feed = Feed()(usage(180_000), compaction(), usage(0))
    assert feed.said() is MissingReason.NOT_MEASURED_YET
    assert feed(usage(9_005)).said() == (9_005, 200_000)


@pytest.mark.parametrize("nothing", [usage(None), usage(-1), usage("9"), update("usage_update")])
def test_what_says_nothing_after_a_compaction_does_not_make_the_estimate_a_count(
    nothing: dict[str, Any],
) -> None:
    feed = Feed()(usage(180_000), compaction(), nothing)
    assert feed.said() is MissingReason.COMPACTED
    assert feed(usage(930), nothing, usage(930)).said() is MissingReason.COMPACTED
    assert feed(usage(0), usage(930)).said() is MissingReason.COMPACTED
    assert feed(usage(9_005), nothing).said() is not MissingReason.COMPACTED


def test_a_compaction_before_any_report_makes_an_estimate_too() -> None:
    load = request("session/load", sessionId=A)
    for before in ([], [opened()], [load, answer()], [request("session/prompt", 3, sessionId=A)]):
        feed = Feed()(*before, compaction(), usage(None), answered())
        assert feed.said() is MissingReason.COMPACTED
        assert feed(usage(930)).said() is MissingReason.COMPACTED
        assert feed(usage(9_005)).said() == (9_005, 200_000)


def test_a_session_that_was_loaded_is_open() -> None:
    feed = Feed()(request("session/load", sessionId=A), answer(), usage(180_000, session=B))
    assert feed.said() is MissingReason.NOT_MEASURED_YET
    assert feed(usage(53_000)).said() == (53_000, 200_000)


def test_a_session_that_could_not_be_loaded_is_not_open() -> None:
    refused = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32_002, "message": "words"}}
    for method in ("session/load", "session/resume"):
        feed = Feed()(request(method, sessionId=B), refused, opened(id_=2), usage(53_000))
        assert feed.said() == (53_000, 200_000)
    feed = Feed()(request("session/load", None, sessionId=B), {**refused, "id": None}, opened())
    assert feed.said() is MissingReason.SESSION_AMBIGUOUS  # which request was refused is unknown


def test_a_compaction_that_is_replayed_before_any_report_makes_no_estimate() -> None:
    feed = Feed()(request("session/load", sessionId=A), compaction(), usage(53_000))
    assert feed.said() == (53_000, 200_000)


# -- Kiro ---------------------------------------------------------------------------------------


def test_kiros_share_stays_a_share() -> None:
    row = metadata(1.9138001203536987, credits=0.06, turnDurationMs=2279)
    assert Feed()(row).evidence() == UsedPercent(
        measured_at=AT + SECOND, identity=(A,), used_percent=1.9138001203536987
    )
    latest = heard(row, limit_tokens=200_000).latest
    assert isinstance(latest, Observed)
    assert latest.value == cm.PercentMeasurement(
        used_percent=1.9138001203536987, measured_at=AT, method="acp_kiro_metadata"
    )
    assert latest.attestation is Attestation.NATIVE


def test_kiros_share_is_of_a_hundred_and_never_of_one() -> None:
    assert Feed()(metadata(0.0285)).said() == 0.0285
    assert Feed()(metadata(1)).said() == 1.0
    assert Feed()(metadata(100)).said() == 100.0


@pytest.mark.parametrize("percent", [-0.1, 100.1, True, "12", [], {}, float("nan"), float("inf")])
def test_a_share_that_is_none_is_named(percent: Any) -> None:
    state = SESSION.step(SESSION.initial, metadata(percent), Query(at=AT))
    assert short(SESSION.evidence(state, Query(at=AT))) is MissingReason.PERCENT_INVALID


@pytest.mark.parametrize("percent", [0, 0.0])
def test_a_share_of_nothing_is_none(percent: Any) -> None:
    assert Feed()(metadata(percent)).said() is MissingReason.NOT_MEASURED_YET


@pytest.mark.parametrize(
    "params", [{}, {"contextUsagePercentage": None}, {"turnDurationMs": 2000, "credits": 0.2}]
)
def test_metadata_without_a_share_say_nothing_of_it(params: dict[str, Any]) -> None:
    feed = Feed()(metadata(2.05))
    before = feed.state
    assert feed(kiro("metadata", **params)).state is before


def test_the_last_of_a_pair_and_a_share_is_shown() -> None:
    assert Feed()(metadata(2.05), usage(53_000)).said() == (53_000, 200_000)
    assert Feed()(usage(53_000), metadata(2.05)).said() == 2.05


@pytest.mark.parametrize("status", ["completed", {"type": "completed"}])
def test_kiros_compaction_voids_until_kiro_reports_again(status: Any) -> None:
    feed = Feed()(metadata(81.5), kiro("compaction/status", status=status))
    assert feed.said() is MissingReason.COMPACTED
    assert feed(metadata(11.25)).said() == 11.25
    assert short(feed.peak()) == 81.5


@pytest.mark.parametrize("status", ["started", {"type": "started"}, {"type": "failed"}, None, 5])
def test_kiros_compaction_that_is_not_completed_voids_nothing(status: Any) -> None:
    assert Feed()(metadata(81.5), kiro("compaction/status", status=status)).said() == 81.5


def test_a_notice_that_names_no_session_may_be_about_any() -> None:
    feed = Feed()(metadata(81.5), metadata(40, B))
    feed(kiro("compaction/status", None, status={"type": "completed"}))
    assert feed.said(session_id=A) is feed.said(session_id=B) is MissingReason.COMPACTED


def test_a_cleared_history_has_no_measure_yet() -> None:
    feed = Feed()(metadata(81.5), kiro("clear/status", None, message="Clearing"))
    assert feed.said() is MissingReason.NOT_MEASURED_YET
    assert feed(kiro("compaction/status", B, status="completed")).said() is (
        MissingReason.NOT_MEASURED_YET
    )


def test_a_cleared_history_is_that_of_the_session_it_names() -> None:
    feed = Feed()(metadata(81.5), metadata(40, B), kiro("clear/status", A))
    assert feed.said(session_id=A) is MissingReason.NOT_MEASURED_YET
    assert feed.said(session_id=B) == 40.0


@pytest.mark.parametrize("before", [kiro("compaction/status", A, status="completed"), answered()])
def test_a_cleared_history_is_measured_as_a_new_one(before: dict[str, Any]) -> None:
    feed = Feed()(opened(), before)
    assert feed.said() is not MissingReason.NOT_MEASURED_YET
    assert feed(kiro("clear/status", A)).said() is MissingReason.NOT_MEASURED_YET
    assert feed(usage(53_000)).said() == (53_000, 200_000)


# -- ends of turns ------------------------------------------------------------------------------

SUMS = {"totalTokens": 5_200_000, "inputTokens": 5_200_000, "outputTokens": 40_000}


def test_the_usage_of_a_turns_end_is_a_sum_and_no_context() -> None:
    assert Feed()(answered(usage=SUMS)).said() is MissingReason.CUMULATIVE_ONLY
    assert Feed()(usage(53_000), answered(usage=SUMS)).said() == (53_000, 200_000)
    assert Feed()(answered(usage=SUMS), usage(53_000)).said() == (53_000, 200_000)


def test_geminis_quota_is_a_sum_too() -> None:
    quota = {"token_count": {"input_tokens": 90_000, "output_tokens": 100}}
    row = answered(_meta={"quota": quota})
    assert Feed()(opened(), row).said() is MissingReason.CUMULATIVE_ONLY


def test_an_agent_that_ended_a_turn_without_a_word_reports_no_use() -> None:
    feed = Feed()(opened(), request("session/prompt", 3, sessionId=A), answered())
    assert feed.said() is MissingReason.USAGE_NOT_REPORTED
    assert feed(usage(53_000)).said() == (53_000, 200_000)


def test_a_cancelled_turn_may_have_had_no_response() -> None:
    feed = Feed()(opened(), answered(stop="cancelled"))
    assert feed.said() is MissingReason.NOT_MEASURED_YET


def test_that_an_agent_reports_sums_stays_known() -> None:
    feed = Feed()(opened(), answered(usage=SUMS), answered(), answered(stop="cancelled"))
    assert feed.said() is MissingReason.CUMULATIVE_ONLY


def test_the_end_of_a_turn_is_its_own_sessions() -> None:
    prompts = [request("session/prompt", 3, sessionId=A), request("session/prompt", 4, sessionId=B)]
    feed = Feed()(*prompts, answered(4, usage=SUMS), answered(3))
    assert feed.said(session_id=A) is MissingReason.USAGE_NOT_REPORTED
    assert feed.said(session_id=B) is MissingReason.CUMULATIVE_ONLY


def test_the_end_of_a_turn_that_may_be_anyones_is_no_ones() -> None:
    feed = Feed()(opened(), opened(B))
    before = feed.state
    assert feed(answered(usage=SUMS)).state is before


def test_the_end_of_a_turn_of_an_unknown_session_is_that_of_the_one_asked_for() -> None:
    feed = Feed()(answered(usage=SUMS))
    assert feed.said(session_id=A) is MissingReason.CUMULATIVE_ONLY
    assert feed(usage(53_000, session=B)).said(session_id=A) is MissingReason.SESSION_MISMATCH
    assert feed.said() == (53_000, 200_000)


@pytest.mark.parametrize("id_", [None, True, 1.5, [], {}])
def test_a_prompt_without_an_id_opens_nothing(id_: Any) -> None:
    feed = Feed()(request("session/prompt", id_, sessionId=A))
    assert feed.state is SESSION.initial
    assert Feed()(request("session/prompt", 3)).state is SESSION.initial


def test_an_error_says_nothing_of_the_context() -> None:
    error = {"code": -32603, "message": "prompt is too long: 208310 tokens > 200000 maximum"}
    feed = Feed()(usage(53_000), {"jsonrpc": "2.0", "id": 3, "error": error})
    assert feed.said() == (53_000, 200_000)


def test_what_the_client_answers_disturbs_nothing() -> None:
    outcome = answer(3, outcome={"outcome": "selected", "optionId": "allow_once"})
    feed = Feed()(request("session/prompt", 3, sessionId=A), usage(53_000), outcome)
    feed(request("fs/read_text_file", 3, sessionId=A, path="file"), answer(3, content="text"))
    assert feed.said() == (53_000, 200_000)


# -- the agent at the other end -----------------------------------------------------------------


def test_the_agents_version_is_the_runtimes() -> None:
    feed = Feed()(initialized("agent", "1.2.3"))
    assert feed.evidence() == Gap(reason=MissingReason.NOT_MEASURED_YET, runtime_version="1.2.3")
    for row in (usage(53_000), usage(53_000, 0), metadata(2.05)):
        seen = feed(row).evidence()
        assert isinstance(seen, UsedTokens | UsedPercent)
        assert seen.runtime_version == "1.2.3"
    compacted = feed(compaction(), usage(930)).evidence()
    assert isinstance(compacted, Gap)
    assert compacted.reason is MissingReason.COMPACTED
    assert compacted.runtime_version == "1.2.3"
    assert feed(opened(), opened(B)).evidence() == Gap(
        reason=MissingReason.SESSION_AMBIGUOUS, runtime_version="1.2.3"
    )


def test_an_agent_that_names_itself_again_changes_nothing() -> None:
    feed = Feed()(initialized())
    before = feed.state
    assert feed(initialized()).state is before


def test_the_bridge_to_claude_code_states_a_default_that_it_may_not_have() -> None:
    latest = heard(initialized(), usage(53_000)).latest
    assert isinstance(latest, Observed)
    assert latest.confidence is Confidence.MEDIUM
    refuted = heard(initialized(CLAUDE), usage(332_000)).latest
    assert isinstance(refuted, Missing)
    assert refuted.reason is MissingReason.LIMIT_CONTRADICTED
    known = heard(initialized(CLAUDE), usage(332_000, 1_000_000)).latest
    assert isinstance(known, Observed)
    assert known.confidence is Confidence.EXACT


@pytest.mark.parametrize("shake", [[], [initialized(None)], [initialized(5)]])
def test_an_agent_that_has_not_named_itself_may_be_the_bridge(shake: list[dict[str, Any]]) -> None:
    latest = heard(*shake, usage(53_000)).latest
    assert isinstance(latest, Observed)
    assert latest.confidence is Confidence.MEDIUM
    over = heard(*shake, usage(210_000)).latest  # or one whose context does overflow
    assert isinstance(over, Observed)
    assert over.confidence is Confidence.MEDIUM
    other = heard(*shake, usage(53_000, 272_000)).latest
    assert isinstance(other, Observed)
    assert other.confidence is Confidence.EXACT


@pytest.mark.parametrize("name", ["agent", "claude-agent-acp-fork"])
def test_an_agent_of_another_name_is_believed(name: Any) -> None:
    latest = heard(initialized(name), usage(53_000)).latest
    assert isinstance(latest, Observed)
    assert latest.confidence is Confidence.EXACT


# -- single messages and recordings -------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (usage(53_000), (53_000, 200_000)),
        (metadata(2.05), 2.05),
        (usage(53_000, 0), MissingReason.LIMIT_NOT_REPORTED),
        (answered(usage=SUMS), MissingReason.CUMULATIVE_ONLY),
        (answered(), MissingReason.USAGE_NOT_REPORTED),
        (update("agent_message_chunk"), MissingReason.NOT_MEASURED_YET),
        ({}, MissingReason.NOT_MEASURED_YET),
    ],
)
def test_one_message_can_be_observed_decoded_or_not(row: dict[str, Any], said: Any) -> None:
    for given_ in (row, line(row), line(row).removesuffix(b"\n")):
        seen = cm.observe("acp.session", given_, at=AT)
        match seen:
            case Observed(value=cm.TokenMeasurement() as value):
                assert (value.used_tokens, value.limit_tokens) == said
            case Observed(value=cm.PercentMeasurement() as share):
                assert share.used_percent == said
            case Missing(reason=reason):
                assert reason is said


def test_one_message_of_another_session_is_not_measured() -> None:
    seen = cm.observe("acp.session", usage(53_000), session_id=B, at=AT)
    assert isinstance(seen, Missing)
    assert seen.reason is MissingReason.SESSION_MISMATCH


def test_a_message_is_recognised_by_what_only_this_protocol_has() -> None:
    assert claimant([usage(53_000)]) is SESSION
    assert claimant([update("agent_message_chunk")]) is SESSION
    assert claimant([metadata(2.05)]) is SESSION
    for row in (
        {**usage(53_000), "jsonrpc": None},
        usage(53_000, session=None),
        update(None),  # type: ignore[arg-type]
        notification("session/update", sessionId=A),
        kiro("clear/status"),
        opened(),
    ):
        assert claimant([row]) is None


# -- lines --------------------------------------------------------------------------------------

CHUNK = {"content": {"type": "text", "text": "usage_update"}}
LONG = [
    update("agent_message_chunk", **CHUNK),
    update("agent_thought_chunk", **CHUNK),
    update("user_message_chunk", **CHUNK),
    update("tool_call", toolCallId="call", rawInput={"command": "cat"}),
    update("tool_call_update", toolCallId="call", rawOutput={"stdout": "x" * 10_000}),
]


def kind_last(row: dict[str, Any]) -> dict[str, Any]:
    """Return *row* in the order in which the Python SDK writes it."""
    body = dict(row["params"]["update"])
    kind = body.pop("sessionUpdate")
    ordered = {**body, "sessionUpdate": kind}
    return {**row, "params": {"sessionId": row["params"]["sessionId"], "update": ordered}}


@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("row", LONG, ids=lambda row: row["params"]["update"]["sessionUpdate"])
def test_long_and_frequent_updates_are_not_decoded(row: dict[str, Any], end: bytes) -> None:
    assert not SESSION.relevant(line(row).removesuffix(b"\n") + end)
    is_rare = row["params"]["update"]["sessionUpdate"] == "user_message_chunk"
    assert SESSION.relevant(line(kind_last(row)).removesuffix(b"\n") + end) is is_rare


MATTERS = [
    usage(53_000),
    kind_last(usage(53_000, _meta={"chunk": {"sessionUpdate": "agent_message_chunk"}})),
    usage(53_000, session='a\\","update":{"sessionUpdate":"agent_message_chunk"}}}'),
    compaction(),
    metadata(2.05),
    kiro("compaction/status", status="completed"),
    kiro("clear/status"),
    initialized(),
    opened(),
    request("session/load", sessionId=A),
    request("session/resume", sessionId=A),
    request("session/prompt", sessionId=A),
    answered(),
]


@pytest.mark.parametrize("row", MATTERS)
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (" ,\t", " :  ")])
def test_every_message_that_matters_is_relevant(
    row: dict[str, Any], separators: tuple[str, str]
) -> None:
    assert SESSION.relevant(json.dumps(row, separators=separators).encode())


def test_an_id_that_looks_like_the_rest_of_the_line_hides_no_report() -> None:
    session = '","update":{"sessionUpdate":"agent_'
    assert Feed()(usage(53_000, session=session)).said(session_id=session) == (53_000, 200_000)


KEYS = (
    *("jsonrpc", "method", "params", "sessionId", "update", "sessionUpdate", "used", "size"),
    *("result", "stopReason", "usage", "agentInfo", "contextUsagePercentage", "status", "id"),
)


@given(any_json(*KEYS) | st.sampled_from([*LONG, *MATTERS]), st.booleans())
def test_no_line_that_matters_is_passed_over(row: Any, spaced: bool) -> None:
    if isinstance(row, dict):
        separators = (", ", ": ") if spaced else (",", ":")
        raw = json.dumps(row, separators=separators).encode()
        state = Feed()(usage(53_000)).state
        changes = SESSION.step(state, row, Query(at=AT)) is not state
        assert SESSION.relevant(raw) or not changes


@pytest.mark.parametrize("row", [*MATTERS, *LONG, answered(usage=SUMS)])
def test_a_message_with_a_wrong_value_anywhere_never_raises(row: dict[str, Any]) -> None:
    for wrong in spoilt(row):
        if not isinstance(wrong, dict):
            continue
        state = SESSION.step(Feed()(opened(), usage(53_000)).state, wrong, Query(at=AT))
        for asked in (Query(at=AT), Query(at=AT, session_id=A), Query(at=AT, agent_id=B)):
            SESSION.evidence(state, asked)
            SESSION.peak(state, asked)


@given(st.lists(st.binary(max_size=40) | st.sampled_from([line(row) for row in MATTERS])))
def test_no_bytes_raise(pieces: list[bytes]) -> None:
    stream = Stream("acp.session")
    for piece in pieces:
        stream.feed_bytes(piece, at=AT)
        stream.feed(piece, at=AT)
    assert isinstance(stream.finish(at=AT), Observed | Missing)
    assert isinstance(stream.peak, Observed | Missing)


# -- any cut, any order -------------------------------------------------------------------------

TALK = [
    request("initialize", 0),
    initialized("agent"),
    opened(),
    usage(12_000),
    request("session/prompt", 3, sessionId=A),
    *LONG,
    usage(150_000, session=A),
    usage(53_000, session=B),
    compaction(),
    usage(930),
    usage(9_005),
    answered(3, usage=SUMS),
    metadata(2.05, B),
]
CONTENT = b"".join(map(line, TALK))


def in_pieces(pieces: list[bytes]) -> Stream:
    stream = Stream("acp.session", session_id=A)
    for piece in pieces:
        stream.feed_bytes(piece, at=AT)
    return stream


@given(st.lists(st.integers(0, len(CONTENT)), max_size=40))
def test_a_connection_says_the_same_however_it_is_cut_into_pieces(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(CONTENT)]
    stream = in_pieces([CONTENT[a:b] for a, b in pairwise(edges)])
    whole = heard(*TALK, session_id=A)
    assert stream.finish(at=AT) == whole.finish(at=AT)
    assert stream.peak == whole.peak
    assert stream.stats == whole.stats


def test_a_connection_that_breaks_off_anywhere_says_an_older_truth_or_none() -> None:
    lines = CONTENT.splitlines(keepends=True)
    said = [in_pieces(lines[:n]).latest for n in range(len(lines) + 1)]
    edge = len(lines[0])  # a torn first line is all there is: no such stream
    for n, each in enumerate(lines[1:], start=1):
        for cut in range(edge, edge + len(each), 1 if len(each) < 400 else 97):
            finished = in_pieces([CONTENT[:cut]]).finish(at=AT)
            assert plain(finished) in (plain(said[n]), plain(said[n + 1]))
        edge += len(each)


def plain(observation: cm.Observation) -> Any:
    if isinstance(observation, Observed):
        return observation.value
    return observation.reason, observation.partial


REPORTS = st.lists(
    st.tuples(
        st.sampled_from([A, B]),
        st.sampled_from(
            [
                *(lambda session, used=used: usage(used, session=session) for used in (0, 9, 99)),
                lambda session: usage(None, session=session),
                lambda session: metadata(2.05, session),
                lambda session: compaction(session=session),
                lambda session: kiro("compaction/status", session, status="completed"),
                lambda session: request("session/load", f"to load {session}", sessionId=session),
                lambda session: answer(f"to load {session}"),
                opened,
            ]
        ),
    ),
    max_size=20,
)


@given(REPORTS)
def test_sessions_on_one_connection_never_mix(reports: list[tuple[str, Any]]) -> None:
    both, alone = Feed(), {A: Feed(), B: Feed()}
    for session, make in reports:
        both(make(session))
        alone[session].now = both.now - SECOND
        alone[session](make(session))
    for session, feed in alone.items():
        if feed.state is not SESSION.initial:
            now = both.now
            assert both.evidence(session_id=session) == feed.evidence(session_id=session, at=now)
            assert both.peak(session_id=session) == feed.peak(session_id=session, at=now)
