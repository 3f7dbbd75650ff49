"""Events for a ledger: Harnery's shapes, and no word of the session in them."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ctxmeasure import record
from ctxmeasure.measurement import PercentMeasurement, TokenMeasurement
from ctxmeasure.observation import (
    Attestation,
    Completeness,
    Confidence,
    LimitBasis,
    Missing,
    MissingReason,
    Observed,
    Partial,
    Provenance,
    UsedBasis,
    Witness,
)
from ctxmeasure.testing.strategies import observations

AT = datetime(2026, 8, 21, 20, 24, 14, 100_000, tzinfo=UTC)
WITNESS = Witness(hashlib.sha256(b"sample").digest())
KEY = b"key"
VALIDATOR = Draft202012Validator(record.schema("context_observed"))

CODEX = Observed(
    value=TokenMeasurement(
        used_tokens=120_000,
        limit_tokens=258_400,
        measured_at=AT,
        method="codex_transcript_token_count",
    ),
    attestation=Attestation.DERIVED,
    confidence=Confidence.EXACT,
    completeness=Completeness.EXACT,
    provenance=Provenance(
        adapter="codex",
        source="codex.rollout",
        runtime_version="0.149.0-alpha.4.1",
        used_basis=UsedBasis.PROMPT_AND_OUTPUT,
        limit_basis=LimitBasis.EFFECTIVE_WINDOW,
        witness=WITNESS,
    ),
)
CLAUDE = Observed(
    value=TokenMeasurement(
        used_tokens=60,
        limit_tokens=1_000_000,
        measured_at=AT,
        method="claude_transcript_usage_model_capability",
    ),
    attestation=Attestation.INFERRED,
    confidence=Confidence.HIGH,
    completeness=Completeness.INFERRED,
    provenance=Provenance(
        adapter="claude", source="claude.transcript", runtime_version="1.0.0", witness=WITNESS
    ),
)
CURSOR = Observed(
    value=PercentMeasurement(
        used_percent=41.25, measured_at=AT, method="cursor_composer_context_percent"
    ),
    attestation=Attestation.DERIVED,
    confidence=Confidence.HIGH,
    completeness=Completeness.PERCENTAGE_ONLY,
    provenance=Provenance(adapter="cursor", source="cursor.composer", witness=WITNESS),
)


def missing(reason: MissingReason, **facts: Any) -> Missing:
    provenance = Provenance(adapter="claude", source="claude.transcript", runtime_version="2.1.233")
    return Missing(reason=reason, provenance=provenance, **facts)


def event(observation: Any, **facts: Any) -> dict[str, Any]:
    """Return the event of *observation*, which its schema describes."""
    made = record.context_observed(
        observation, **{"session_key": "session", "turn_key": "turn", "key": KEY, **facts}
    )
    VALIDATOR.validate(made)
    assert json.loads(json.dumps(made)) == made
    return made


# -- the samples of formats/harnery.md §1.8 -------------------------------------------------------


def test_a_codex_rollout_is_derived_and_exact() -> None:
    made = event(CODEX)
    assert made["payload"]["measurement"] == {
        "state": "observed",
        "attestation": "derived",
        "confidence": "exact",
        "value": {
            "used_tokens": 120_000,
            "limit_tokens": 258_400,
            "remaining_tokens": 138_400,
            "measured_at": "2026-08-21T20:24:14.100Z",
            "method": "codex_transcript_token_count",
        },
    }
    assert made["provenance"] == {
        "source_event": "codex.rollout_token_count.0.149.0-alpha.4.1",
        "attestation": "derived",
        "confidence": "exact",
        "source_record_id": f"hid_{WITNESS.public_id(KEY)}",
    }
    assert made["adapter"] == "codex"
    assert made["basis"] == {"used": "prompt_and_output", "limit": "effective_window"}


def test_a_claude_transcript_is_inferred_and_high() -> None:
    made = event(CLAUDE)
    assert made["payload"]["measurement"]["value"]["remaining_tokens"] == 999_940
    assert made["payload"]["measurement"]["attestation"] == "inferred"
    assert made["provenance"]["source_event"] == "claude.transcript_usage_model_capability.1.0.0"
    assert made["adapter"] == "claude-code"
    assert "basis" not in made


def test_a_percentage_never_grows_tokens() -> None:
    made = event(CURSOR)
    assert made["payload"]["measurement"]["value"] == {
        "used_percent": 41.25,
        "remaining_percent": 58.75,
        "measured_at": "2026-08-21T20:24:14.100Z",
        "method": "cursor_composer_context_percent",
    }
    assert "tokens" not in json.dumps(made)
    assert made["provenance"]["source_event"] == "cursor.composer_context_percent"


def test_a_missing_one_keeps_its_reason_and_nothing_of_its_partial() -> None:
    partial = Partial(used_tokens=123_456, limit_tokens=654_321, measured_at=AT)
    made = event(missing(MissingReason.TURN_NOT_FINISHED, partial=partial))
    assert made["payload"]["measurement"] == {
        "state": "expected_but_missing",
        "capability": "context_usage",
        "reason": "turn_not_finished",
    }
    assert made["provenance"] == {
        "source_event": "claude-code.runtime_context.2.1.233",
        "attestation": "derived",
        "confidence": "high",
    }
    assert "123456" not in json.dumps(made)


@pytest.mark.parametrize("reason", [MissingReason.SOURCE_UNSUPPORTED, MissingReason.REMOTE_SESSION])
def test_what_nothing_here_can_measure_is_unsupported(reason: MissingReason) -> None:
    made = event(missing(reason))
    unsupported = {"state": "unsupported", "capability": "context_usage"}
    assert made["payload"]["measurement"] == unsupported
    assert made["runtime_attestation"]["telemetry"]["context_usage"] == unsupported
    assert made["provenance"] == {
        "source_event": "claude-code.turn-context.2.1.233",
        "attestation": "native",
        "confidence": "exact",
    }


@pytest.mark.parametrize("reason", MissingReason)
def test_every_reason_is_a_reason_code(reason: MissingReason) -> None:
    event(missing(reason))


# -- what the session's telemetry can tell --------------------------------------------------------


def capability(observation: Any) -> Any:
    return event(observation)["runtime_attestation"]["telemetry"]["context_usage"]


@pytest.mark.parametrize(
    ("observation", "support", "source", "completeness"),
    [
        (CODEX, "derived", "codex.rollout_token_count", "exact"),
        (CLAUDE, "derived", "claude.transcript_usage_model_capability", "inferred"),
        (CURSOR, "derived", "cursor.composer_context_percent", "percentage_only"),
        (
            evolve(
                CURSOR,
                attestation=Attestation.NATIVE,
                confidence=Confidence.EXACT,
                value=evolve(CURSOR.value, method="cursor_hook"),
                provenance=evolve(CURSOR.provenance, source="cursor.hook"),
            ),
            "native",
            "cursor.native_context",
            "percentage_only",
        ),
        (
            evolve(CODEX, completeness=Completeness.LOWER_BOUND),
            "derived",
            "codex.rollout_token_count",
            "lower_bound",
        ),
    ],
)
def test_the_telemetry_is_attested_without_a_version(
    observation: Observed, support: str, source: str, completeness: str
) -> None:
    assert capability(observation) == {
        "state": "observed",
        "value": {"support": support, "source": source, "completeness": completeness},
        "attestation": observation.attestation.value,
        "confidence": observation.confidence.value,
    }


def test_the_telemetry_of_a_missing_one_has_the_same_reason() -> None:
    assert capability(missing(MissingReason.SAMPLE_STALE)) == {
        "state": "expected_but_missing",
        "capability": "context_usage",
        "reason": "sample_stale",
    }


def test_a_declared_limit_is_inferred_where_the_ledger_has_no_word_for_a_person() -> None:
    declared = evolve(
        CODEX,
        attestation=Attestation.OPERATOR,
        confidence=Confidence.HIGH,
        value=evolve(CODEX.value, method="codex_transcript_token_count_declared_limit"),
        provenance=evolve(CODEX.provenance, limit_basis=LimitBasis.DECLARED),
    )
    made = event(declared)
    assert made["payload"]["measurement"]["attestation"] == "inferred"
    assert made["provenance"]["attestation"] == "operator"
    assert made["payload"]["measurement"]["value"]["method"].endswith("_declared_limit")
    assert made["provenance"]["source_event"].startswith("codex.rollout_token_count.")
    assert capability(declared)["value"]["completeness"] == "inferred"
    assert made["basis"]["limit"] == "declared"
    lower = evolve(declared, completeness=Completeness.LOWER_BOUND)
    assert capability(lower)["value"]["completeness"] == "lower_bound"


# -- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "method", "version", "source_event"),
    [
        ("claude.stream", "claude_stream_usage", "2.1.332", "claude-code.stream.2.1.332"),
        ("claude.status_line", "claude_status_line", None, "claude-code.native_context"),
        ("claude.hook", "claude_hook", "2.1 (Claude)", "claude-code.hook.2.1__Claude_"),
        ("claude.hook", "claude_hook", "9" * 200, "claude-code.hook." + "9" * 111),
        ("", "", None, "claude-code"),
        ("x.\u00e9/y", "\u00e9", None, "claude-code._/y"),
    ],
)
def test_a_method_that_harnery_has_no_name_for_keeps_its_own(
    source: str, method: str, version: str | None, source_event: str
) -> None:
    value = evolve(CLAUDE.value, method=method or "?")
    provenance = evolve(CLAUDE.provenance, source=source, runtime_version=version)
    made = event(evolve(CLAUDE, value=value, provenance=provenance))
    assert made["provenance"]["source_event"] == source_event
    assert made["payload"]["measurement"]["value"]["method"] == (
        "agent" if method in ("", "\u00e9") else method
    )


# -- ids ------------------------------------------------------------------------------------------


def ids(made: dict[str, Any]) -> list[str]:
    found = [*made["scope"].values(), made["record_id"], made["provenance"]["source_record_id"]]
    assert len({*found}) == len(found)
    return found


def test_ids_are_the_same_under_one_key_and_others_under_another() -> None:
    whose = {"session_key": "same", "turn_key": "same", "agent_key": "same"}
    once = ids(event(CODEX, **whose))
    assert ids(event(CODEX, **whose)) == once
    assert not {*ids(event(CODEX, **whose, key=b"other"))} & {*once}
    assert [found[:4] for found in once] == ["sid_", "tid_", "hid_", "hid_", "hid_"]


def test_an_id_is_the_keyed_digest_of_its_kind_the_agent_and_the_native_id() -> None:
    message = b"ctxmeasure:v1:native-session-id\0codex\0session"
    digest = hmac.new(KEY, message, "sha256").hexdigest()
    assert event(CODEX)["scope"]["session_id"] == f"sid_{digest}"


def test_a_turn_is_its_sessions_and_a_session_its_agents() -> None:
    here, there = event(CODEX), event(CODEX, session_key="other")
    assert here["scope"]["turn_id"] != there["scope"]["turn_id"]
    assert here["scope"]["session_id"] != event(CLAUDE)["scope"]["session_id"]
    assert "turn_id" not in event(CODEX, turn_key=None)["scope"]


def test_a_sample_is_one_event_whenever_and_wherever_it_is_read() -> None:
    read_again = evolve(CODEX, provenance=evolve(CODEX.provenance, runtime_version=None))
    first = event(CODEX, observed_at=AT)["record_id"]
    assert event(read_again, turn_key=None)["record_id"] == first


def test_what_no_sample_singles_out_is_told_by_all_that_it_says() -> None:
    unnamed = evolve(CODEX, provenance=evolve(CODEX.provenance, witness=None))
    made = [
        event(unnamed),
        event(unnamed, observed_at=AT),
        event(evolve(unnamed, value=CLAUDE.value)),
        event(missing(MissingReason.SAMPLE_STALE)),
        event(missing(MissingReason.SOURCE_BUSY)),
        event(missing(MissingReason.SOURCE_BUSY), turn_key="other"),
    ]
    assert len({each["record_id"] for each in made}) == len(made)
    assert "source_record_id" not in made[0]["provenance"]
    assert event(unnamed)["record_id"] == made[0]["record_id"]


def test_the_moment_is_the_callers_and_absent_when_unknown() -> None:
    assert event(CODEX, observed_at=AT)["time"] == {"observed_at": "2026-08-21T20:24:14.100Z"}
    assert "time" not in event(CODEX)


@given(observations(), st.text(min_size=1), st.text(min_size=1), st.binary(min_size=1))
def test_whatever_is_observed_is_an_event_without_a_native_id(
    observation: Any, session: str, turn: str, key: bytes
) -> None:
    whose: dict[str, Any] = {"session_key": session, "turn_key": turn, "key": key}
    made = event(observation, **whose)
    started = record.compaction_started(observation, **whose)
    ended = record.compaction_completed(
        started["payload"]["before"], observation, "failed", **whose
    )
    for each in (started, ended):
        VALIDATOR.validate(each)
    assert started["payload"]["before"] == ended["payload"]["before"]
    assert len({each["record_id"] for each in (made, started, ended)}) == 3


# -- compaction -----------------------------------------------------------------------------------


def completed(before: Any, after: Any, outcome: str = "succeeded") -> dict[str, Any]:
    made = record.compaction_completed(before, after, outcome, session_key="s", key=KEY)
    VALIDATOR.validate(made)
    return made


def test_a_compaction_starts_with_what_is_about_to_be_replaced() -> None:
    made = record.compaction_started(CURSOR, session_key="s", key=KEY, observed_at=AT)
    VALIDATOR.validate(made)
    assert made["event_type"] == "context.compaction_started"
    assert made["payload"]["before"] == event(CURSOR)["payload"]["measurement"]
    assert made["payload"]["method"] == "cursor_hook"
    assert made["time"] == {"observed_at": "2026-08-21T20:24:14.100Z"}


@pytest.mark.parametrize(
    ("observation", "method"), [(CODEX, "codex_hook"), (CLAUDE, "claude_code_hook")]
)
def test_a_compaction_is_known_by_the_agents_hook_unless_the_caller_says_otherwise(
    observation: Observed, method: str
) -> None:
    made = record.compaction_started(observation, session_key="s", key=KEY)
    assert made["payload"]["method"] == method
    made = record.compaction_started(observation, session_key="s", key=KEY, method="a row")
    assert made["payload"]["method"] == "a_row"


def test_a_compaction_ends_with_both_sides_each_under_its_own_capability() -> None:
    after = missing(MissingReason.COMPACTED, partial=Partial(used_tokens=930, estimated=True))
    made = completed(CLAUDE, after)
    assert made["payload"] == {
        "outcome": "succeeded",
        "before": event(CLAUDE)["payload"]["measurement"],
        "after": {
            "state": "expected_but_missing",
            "capability": "post_compaction",
            "reason": "compacted",
        },
    }
    assert completed(missing(MissingReason.SOURCE_ABSENT), after)["payload"]["before"] == {
        "state": "expected_but_missing",
        "capability": "pre_compaction",
        "reason": "source_absent",
    }
    assert completed(None, CLAUDE)["payload"]["before"] == {
        "state": "expected_but_missing",
        "capability": "pre_compaction",
        "reason": "context_measurement_incomplete",
    }


@pytest.mark.parametrize("outcome", record.OUTCOMES)
def test_every_outcome_is_one(outcome: str) -> None:
    assert completed(None, CODEX, outcome)["payload"]["outcome"] == outcome


# -- the schema -----------------------------------------------------------------------------------


def test_the_schema_is_valid_and_refuses_whatever_is_more() -> None:
    Draft202012Validator.check_schema(record.schema("context_observed"))
    made = event(CODEX, observed_at=AT)
    value = made["payload"]["measurement"]["value"]
    for inner in (made, made["scope"], made["time"], made["provenance"], value, made["basis"]):
        inner["more"] = 1
        assert not VALIDATOR.is_valid(made)
        del inner["more"]
    value["used_percent"] = 1
    assert not VALIDATOR.is_valid(made)


@pytest.mark.parametrize(
    "state",
    [
        {"state": "redacted", "reason": "by_policy"},
        {"state": "unknown", "reason": "never_asked"},
        {"state": "not_applicable"},
        {"state": "unsupported", "capability": "context_usage"},
    ],
)
def test_the_schema_knows_the_states_that_are_others_to_say(state: dict[str, str]) -> None:
    made = event(CODEX)
    VALIDATOR.validate({**made, "payload": {"measurement": state}})
    assert not VALIDATOR.is_valid({**made, "payload": {"measurement": {**state, "value": 1}}})


# -- wrong arguments ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "message", "facts"),
    [
        (TypeError, "^observation: ", {"observation": None}),
        (TypeError, "^session_key: ", {"session_key": b"s"}),
        (ValueError, "^session_key: ", {"session_key": ""}),
        (TypeError, "^turn_key: ", {"turn_key": 1}),
        (ValueError, "^agent_key: ", {"agent_key": ""}),
        (TypeError, "^key: ", {"key": "key"}),
        (ValueError, "^key: ", {"key": b""}),
        (TypeError, "^observed_at: ", {"observed_at": 0}),
        (ValueError, "^observed_at: ", {"observed_at": AT.replace(tzinfo=None)}),
    ],
)
def test_wrong_arguments_are_named(error: type[Exception], message: str, facts: Any) -> None:
    with pytest.raises(error, match=message):
        event(facts.pop("observation", CODEX), **facts)


def test_wrong_arguments_of_a_compaction_are_named() -> None:
    with pytest.raises(TypeError, match=r"^before: "):
        record.compaction_started(None, session_key="s", key=KEY)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^before: "):
        completed(1, CODEX)
    with pytest.raises(TypeError, match=r"^after: "):
        completed(CODEX, None)
    with pytest.raises(ValueError, match=r"^outcome: expected one of succeeded, "):
        completed(CODEX, CODEX, "done")
