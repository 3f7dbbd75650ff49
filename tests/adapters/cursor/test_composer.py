"""The IDE's state databases: the document of a chat, its head in lists and tables, and neither.

The numbers in brackets are those of the public issues in formats/cursor.md §5.
"""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxmeasure as cm
from ctxmeasure.adapters.cursor.composer import COMPOSER
from ctxmeasure.bounded.keys import Key, KeyValues, Lack, Value
from ctxmeasure.evidence import Evidence, Gap, NeedKeys, Query, TokenPair, UsedPercent, UsedTokens
from ctxmeasure.testing import databases

C1 = "00000000-0000-4000-8000-0000000000c1"
C2 = "00000000-0000-4000-8000-0000000000c2"
UPDATED = datetime(2026, 7, 20, 12, 0, 46, tzinfo=UTC)
UPDATED_MS = 1784548846000
AT = UPDATED + timedelta(seconds=10)

HEADERS, LEGACY = "composer.composerHeaders", "composer.composerData"


def composer(**fields: Any) -> dict[str, Any]:
    """Return a chat's document without any count."""
    stated = {"_v": 10, "composerId": C1, "createdAt": 1784548800000, "lastUpdatedAt": UPDATED_MS}
    return {**stated, "fullConversationHeadersOnly": [{"bubbleId": "b1", "type": 1}], **fields}


def head(composer_id: str = C1, **fields: Any) -> dict[str, Any]:
    stated = {"type": "head", "composerId": composer_id, "lastUpdatedAt": UPDATED_MS}
    return {**stated, "unifiedMode": "agent", **fields}


def heads(*listed: object, **state: Any) -> str:
    return json.dumps({"allComposers": list(listed), **state})


def database(
    path: Path,
    document: object = None,
    items: databases.Rows | None = None,
    row: dict[str, Any] | None = None,
) -> Path:
    """Write a state database with a chat's document, items, and a row in the table of heads."""
    stored = {} if document is None else {f"composerData:{C1}": document}
    secrets = {"cursorAuth/accessToken": "never-read"}
    databases.write(path, {"cursorDiskKV": stored, "ItemTable": {**(items or {}), **secrets}})
    if row is not None:
        connection = sqlite3.connect(path)
        connection.execute(f"CREATE TABLE composerHeaders({', '.join(row)})")
        marks = ", ".join("?" * len(row))
        connection.execute(
            f"INSERT INTO composerHeaders VALUES ({marks})",  # noqa: S608
            list(row.values()),
        )
        connection.commit()
        connection.close()
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.vscdb"


def observed(path: Path, **asked: Any) -> cm.Observed:
    before = databases.folder(path)
    observation = cm.observe(COMPOSER, path, **{"session_id": C1, "at": AT, **asked})
    assert isinstance(observation, cm.Observed)
    assert databases.folder(path) == before
    return observation


def missing(path: Path, **asked: Any) -> cm.Missing:
    observation = cm.observe(COMPOSER, path, **{"session_id": C1, "at": AT, **asked})
    assert isinstance(observation, cm.Missing)
    return observation


def reason(path: Path, **asked: Any) -> str:
    return missing(path, **asked).reason.value


def tokens(observation: cm.Observed) -> tuple[int, int]:
    assert isinstance(observation.value, cm.TokenMeasurement)
    return observation.value.used_tokens, observation.value.limit_tokens


def percent(observation: cm.Observed) -> float:
    assert isinstance(observation.value, cm.PercentMeasurement)
    return observation.value.used_percent


# -- the document ---------------------------------------------------------------------------------

PAIR = {"contextTokensUsed": 80_448, "contextTokenLimit": 200_000}


def test_a_pair_is_a_token_measurement_with_the_document_as_its_clock(path: Path) -> None:
    database(path, json.dumps(composer(**PAIR, contextUsagePercent=40.224)))
    observation = observed(path)
    assert tokens(observation) == (80_448, 200_000)
    assert observation.value.method == "cursor_composer_token_pair"
    assert observation.value.measured_at == UPDATED
    assert observation.attestation is cm.Attestation.DERIVED
    assert observation.confidence is cm.Confidence.HIGH
    assert observation.completeness is cm.Completeness.EXACT
    assert observation.provenance.used_basis is cm.UsedBasis.PROMPT_AND_OUTPUT
    assert observation.provenance.limit_basis is cm.LimitBasis.WINDOW
    assert C1 not in repr(observation)


def test_a_percentage_alone_stays_a_percentage(path: Path) -> None:
    database(path, json.dumps(composer(contextUsagePercent=57.731998443603516)))
    observation = observed(path)
    assert percent(observation) == 57.731998443603516
    assert observation.value.method == "cursor_composer_context_percent"
    assert observation.confidence is cm.Confidence.HIGH
    assert observation.completeness is cm.Completeness.PERCENTAGE_ONLY


def test_one_is_one_percent(path: Path) -> None:
    assert percent(observed(database(path, json.dumps(composer(contextUsagePercent=1.0))))) == 1.0


@pytest.mark.parametrize("as_blob", [False, True])
def test_a_document_is_text_or_a_blob(path: Path, as_blob: bool) -> None:
    text = json.dumps(composer(**PAIR))
    assert tokens(observed(database(path, text.encode() if as_blob else text))) == (80_448, 200_000)


@pytest.mark.parametrize(
    ("used", "limit", "stated"),
    [
        (46_427, 272_000, 18),  # 17.07, rounded up
        (115_464, 200_000, 57.731998443603516),  # 57.732 as a float32
        (115_464, 200_000, None),
        (52_554, 272_000, 19.32132720947266),
        (100_000, 200_000, 50.0),
    ],
)
def test_a_percentage_within_its_rounding_agrees_with_the_pair(
    path: Path, used: int, limit: int, stated: float | None
) -> None:
    document = composer(contextTokensUsed=used, contextTokenLimit=limit, contextUsagePercent=stated)
    assert tokens(observed(database(path, json.dumps(document)))) == (used, limit)


@pytest.mark.parametrize(
    ("used", "limit", "stated"),
    [(111_068, 272_000, 55), (46_427, 272_000, 19), (115_464, 200_000, 57.733)],
)
def test_a_percentage_beyond_its_rounding_disagrees_with_the_pair(
    path: Path, used: int, limit: int, stated: float
) -> None:
    """[26]: 40.8 % by the tokens, 55 by the percentage."""
    document = composer(contextTokensUsed=used, contextTokenLimit=limit, contextUsagePercent=stated)
    refused = missing(database(path, json.dumps(document)))
    assert refused.reason is cm.MissingReason.SOURCES_DISAGREE
    assert refused.partial is not None
    assert refused.partial.used_tokens == used


def test_the_breakdown_and_the_bubbles_are_no_measurement(path: Path) -> None:
    """[19]: neither is read, whatever it says."""
    breakdown = {"totalUsedTokens": 80_448, "maxTokens": 200_000}
    document = composer(promptTokenBreakdown=breakdown, tokenCount={"inputTokens": 131_373})
    assert reason(database(path, json.dumps(document))) == "usage_not_reported"


def test_more_than_the_limit_shows_that_the_limit_is_stale(path: Path) -> None:
    document = composer(contextTokensUsed=300_000, contextTokenLimit=200_000)
    assert reason(database(path, json.dumps(document))) == "limit_contradicted"


@pytest.mark.parametrize("messages", [{}, {"fullConversationHeadersOnly": []}])
def test_a_chat_without_messages_is_not_measured_yet(path: Path, messages: Any) -> None:
    document = composer(**{"fullConversationHeadersOnly": None, **messages})
    assert reason(database(path, json.dumps(document))) == "not_measured_yet"


@pytest.mark.parametrize("key", ["fullConversationHeadersOnly", "conversation"])
def test_a_chat_with_messages_and_no_meter_reports_nothing(path: Path, key: str) -> None:
    document = {**composer(fullConversationHeadersOnly=[]), key: [{"bubbleId": "b1"}]}
    assert reason(database(path, json.dumps(document))) == "usage_not_reported"


def test_zeros_are_not_set(path: Path) -> None:
    zeros = {"contextTokensUsed": 0, "contextTokenLimit": 0, "contextUsagePercent": 0}
    assert reason(database(path, json.dumps(composer(**zeros)))) == "usage_not_reported"


@pytest.mark.parametrize(
    "beside", [{}, {"contextTokensUsed": 5}, {"contextTokenLimit": 5}, {"contextTokensUsed": 0}]
)
def test_a_percentage_does_without_half_a_pair(path: Path, beside: dict[str, int]) -> None:
    document = composer(contextUsagePercent=40.224, **beside)
    assert percent(observed(database(path, json.dumps(document)))) == 40.224


def test_a_count_alone_has_no_limit(path: Path) -> None:
    refused = missing(database(path, json.dumps(composer(contextTokensUsed=80_448))))
    assert refused.reason is cm.MissingReason.LIMIT_NOT_REPORTED
    assert refused.partial is not None
    assert refused.partial.used_tokens == 80_448


def test_a_limit_alone_is_no_use(path: Path) -> None:
    document = composer(contextTokenLimit=200_000)
    assert reason(database(path, json.dumps(document))) == "usage_not_reported"


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"contextTokensUsed": "80448"}, "usage_invalid"),
        ({"contextTokensUsed": -1}, "usage_invalid"),
        ({"contextTokensUsed": True}, "usage_invalid"),
        ({"contextTokensUsed": 80_448.5}, "usage_invalid"),
        ({"contextTokenLimit": "200000"}, "limit_invalid"),
        ({"contextTokenLimit": -1}, "limit_invalid"),
        ({"contextUsagePercent": "40"}, "percent_invalid"),
        ({"contextUsagePercent": 100.5}, "percent_invalid"),
        ({"contextUsagePercent": -1}, "percent_invalid"),
    ],
)
def test_what_cursor_cannot_have_meant_is_refused(
    path: Path, wrong: dict[str, Any], expected: str
) -> None:
    document = composer(**{**PAIR, "contextUsagePercent": 40.224, **wrong})
    refused = missing(database(path, json.dumps(document)))
    assert refused.reason.value == expected
    assert refused.partial is not None
    assert refused.partial.measured_at == UPDATED
    is_used_valid = "contextTokensUsed" not in wrong
    assert (refused.partial.used_tokens == 80_448) is is_used_valid
    assert (refused.partial.limit_tokens == 200_000) is ("contextTokenLimit" not in wrong)


def test_of_a_count_and_a_limit_that_are_both_wrong_nothing_is_kept(path: Path) -> None:
    wrong = {"contextTokensUsed": -1, "contextTokenLimit": "200000"}
    refused = missing(database(path, json.dumps(composer(**{**PAIR, **wrong}))))
    assert refused.reason is cm.MissingReason.USAGE_INVALID
    assert refused.partial == cm.Partial(measured_at=UPDATED)


@pytest.mark.parametrize("limit", [-1, "200000", True])
def test_a_limit_that_is_none_can_be_declared_or_done_without(path: Path, limit: object) -> None:
    broken = {"contextTokenLimit": limit}
    counted = database(path, json.dumps(composer(contextTokensUsed=80_448, **broken)))
    assert reason(counted) == "limit_invalid"
    assert tokens(observed(counted, limit_tokens=300_000)) == (80_448, 300_000)
    path.unlink()
    shared = database(path, json.dumps(composer(contextUsagePercent=40.224, **broken)))
    assert percent(observed(shared)) == 40.224
    path.unlink()
    assert reason(database(path, json.dumps(composer(**broken)))) == "usage_not_reported"


@pytest.mark.parametrize(
    ("clocks", "expected"),
    [
        (
            {"conversationCheckpointLastUpdatedAt": UPDATED_MS - 5000},
            UPDATED - timedelta(seconds=5),
        ),
        ({}, UPDATED),
        ({"lastUpdatedAt": None}, UPDATED - timedelta(seconds=46)),
        ({"lastUpdatedAt": "1784548846000"}, UPDATED - timedelta(seconds=46)),
    ],
)
def test_the_count_is_as_old_as_the_last_checkpoint(
    path: Path, clocks: dict[str, Any], expected: datetime
) -> None:
    database(path, json.dumps(composer(**PAIR, **clocks) | clocks))
    assert observed(path).value.measured_at == expected


@pytest.mark.parametrize("wrong", [None, 0, -5, 10**18, 1784548846000.5, True, "soon"])
def test_a_document_without_a_usable_clock_has_no_time(path: Path, wrong: object) -> None:
    document = composer(**PAIR) | {"createdAt": wrong, "lastUpdatedAt": wrong}
    assert reason(database(path, json.dumps(document))) == "time_not_reported"


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ("", "source_malformed"),
        ("{", "source_malformed"),
        ("[]", "source_malformed"),
        (b"\xff\xfe{", "source_malformed"),
        ('{"contextUsagePercent": 1, "contextUsagePercent": 2}', "source_malformed"),
        (json.dumps(composer(composerId=C2, **PAIR)), "session_mismatch"),
    ],
)
def test_what_is_no_document_of_this_chat_is_refused(
    path: Path, stored: object, expected: str
) -> None:
    assert reason(database(path, stored)) == expected


@pytest.mark.parametrize(("named", "model"), [("composer-2.5", "composer-2.5"), ("default", None)])
def test_the_model_is_the_documents(named: str, model: str | None) -> None:
    document = json.dumps(composer(**PAIR, modelConfig={"modelName": named}))
    seen = evidence({Key("cursorDiskKV", f"composerData:{C1}"): document.encode()})
    assert isinstance(seen, TokenPair)
    assert (seen.model and seen.model.id) == model


def test_a_document_that_names_no_chat_is_the_one_of_its_key(path: Path) -> None:
    unnamed = {key: value for key, value in composer(**PAIR).items() if key != "composerId"}
    assert tokens(observed(database(path, json.dumps(unnamed)))) == (80_448, 200_000)


def test_a_sample_is_told_by_its_chat_and_its_clock() -> None:
    def identity(**clocks: Any) -> tuple[str, ...]:
        document = json.dumps(composer(**PAIR) | clocks)
        seen = evidence({Key("cursorDiskKV", f"composerData:{C1}"): document.encode()})
        assert isinstance(seen, TokenPair)
        return seen.identity

    assert identity() == (C1, UPDATED.isoformat())
    assert identity(createdAt=None, lastUpdatedAt=None) == (C1, "")


def test_a_document_of_megabytes_is_read_and_one_beyond_the_budget_is_not(path: Path) -> None:
    messages = [{"bubbleId": f"{n:036}", "type": 2} for n in range(40_000)]
    database(path, json.dumps(composer(**PAIR, fullConversationHeadersOnly=messages)))
    assert tokens(observed(path)) == (80_448, 200_000)
    assert reason(path, budget=cm.ReadBudget(maximum=1024 * 1024)) == "budget_exhausted"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"session_id": C2}, "session_not_found"),
        ({"session_id": "bc-0001"}, "remote_session"),
        ({"agent_id": "sub"}, "session_mismatch"),
        ({"turn_id": "generation"}, "turn_ids_not_recorded"),
        ({"turn_started_at": UPDATED + timedelta(milliseconds=1)}, "turn_not_found"),
        ({"phase": cm.Phase.ACTIVE, "at": UPDATED + timedelta(seconds=31)}, "sample_stale"),
        ({"at": UPDATED - timedelta(seconds=6)}, "sample_from_future"),
    ],
)
def test_what_the_document_cannot_answer_is_refused(path: Path, asked: Any, expected: str) -> None:
    assert reason(database(path, json.dumps(composer(**PAIR))), **asked) == expected


def test_a_turn_is_told_by_when_it_began(path: Path) -> None:
    database(path, json.dumps(composer(**PAIR)))
    assert tokens(observed(path, turn_started_at=UPDATED)) == (80_448, 200_000)
    undated = composer(**PAIR) | {"createdAt": None, "lastUpdatedAt": None}
    path.unlink()
    database(path, json.dumps(undated))
    assert reason(path, turn_started_at=UPDATED) == "turn_not_found"


# -- the heads ------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [HEADERS, LEGACY])
def test_a_head_gives_its_percentage_and_never_tokens(path: Path, key: str) -> None:
    """[1]: no window of 200,000 is behind it."""
    database(path, items={key: heads(head(C2), head(contextUsagePercent=37.5))})
    observation = observed(path)
    assert percent(observation) == 37.5
    assert observation.value.measured_at == UPDATED
    assert observation.value.method == "cursor_composer_context_percent"


def test_the_newer_list_comes_first(path: Path) -> None:
    older, newer = heads(head(contextUsagePercent=1.5)), heads(head(contextUsagePercent=2.5))
    assert percent(observed(database(path, items={LEGACY: older, HEADERS: newer}))) == 2.5


def test_the_document_comes_before_any_head(path: Path) -> None:
    listed = heads(head(contextUsagePercent=99.5))
    assert tokens(observed(database(path, json.dumps(composer(**PAIR)), {HEADERS: listed})))


ROW = {
    "composerId": C1,
    "createdAt": 1784548800000,
    "lastUpdatedAt": UPDATED_MS,
    "checkpointAt": UPDATED_MS - 1000,
    "value": json.dumps({"type": "head", "composerId": C1, "contextUsagePercent": 40.224}),
}


def test_the_table_of_heads_has_the_better_clock(path: Path) -> None:
    database(path, items={HEADERS: heads()}, row=ROW)
    observation = observed(path)
    assert percent(observation) == 40.224
    assert observation.value.measured_at == UPDATED - timedelta(seconds=1)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"checkpointAt": None}, UPDATED),
        ({"checkpointAt": "soon"}, UPDATED),
        ({"checkpointAt": None, "lastUpdatedAt": None}, UPDATED - timedelta(seconds=46)),
    ],
)
def test_a_clock_that_the_table_lacks_is_passed_over(
    path: Path, changed: dict[str, Any], expected: datetime
) -> None:
    database(path, row=ROW | changed)
    assert observed(path).value.measured_at == expected


def test_an_empty_table_of_heads_leaves_it_to_the_list(path: Path) -> None:
    database(
        path, items={HEADERS: heads(head(contextUsagePercent=37.5))}, row=ROW | {"composerId": C2}
    )
    assert percent(observed(path)) == 37.5


def test_a_malformed_row_of_the_table_is_refused(path: Path) -> None:
    assert reason(database(path, row=ROW | {"value": "{"})) == "source_malformed"


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (None, "percent_not_reported"),
        (0, "percent_not_reported"),
        ("40", "percent_invalid"),
        (101, "percent_invalid"),
    ],
)
def test_a_head_without_a_percentage_says_so(path: Path, stated: object, expected: str) -> None:
    database(path, items={LEGACY: heads(head(contextUsagePercent=stated))})
    assert reason(path) == expected


def test_a_heads_sample_is_told_by_its_chat_and_its_clock() -> None:
    def identity(**clocks: Any) -> tuple[str, ...]:
        listed = heads(head(contextUsagePercent=37.5, **clocks)).encode()
        seen = evidence({Key("ItemTable", HEADERS): listed})
        assert isinstance(seen, UsedPercent)
        return seen.identity

    assert identity() == (C1, UPDATED.isoformat())
    assert identity(lastUpdatedAt=None) == (C1, "")


def test_a_head_before_the_turn_is_not_of_the_turn(path: Path) -> None:
    database(path, items={LEGACY: heads(head(contextUsagePercent=37.5))})
    assert percent(observed(path, turn_started_at=UPDATED)) == 37.5
    assert reason(path, turn_started_at=AT) == "turn_not_found"


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ({}, "session_not_found"),
        ({LEGACY: heads()}, "session_not_found"),
        ({LEGACY: heads(head(C2), "no head", None)}, "session_not_found"),
        ({LEGACY: None}, "session_not_found"),
        # [20]: the sessions have moved to the global database.
        ({LEGACY: heads(selectedComposerIds=[C1], hasMigratedComposerData=True)}, "superseded"),
        ({LEGACY: json.dumps({"selectedComposerIds": [C1]})}, "superseded"),
        ({LEGACY: json.dumps({"something": "else"})}, "schema_unknown"),
        ({LEGACY: json.dumps({"allComposers": {}})}, "schema_unknown"),
        ({LEGACY: "{"}, "source_malformed"),
        ({LEGACY: heads(head(C2)), HEADERS: b"\xff"}, "source_malformed"),
    ],
)
def test_a_chat_that_is_nowhere_says_why(path: Path, items: Any, expected: str) -> None:
    assert reason(database(path, items=items)) == expected


def test_a_null_document_leaves_it_to_the_head(path: Path) -> None:
    databases.write(
        path,
        {
            "cursorDiskKV": {f"composerData:{C1}": None},
            "ItemTable": {HEADERS: heads(head(contextUsagePercent=37.5))},
        },
    )
    assert percent(observed(path)) == 37.5


def test_a_null_document_without_a_head_reports_nothing(path: Path) -> None:
    databases.write(path, {"cursorDiskKV": {f"composerData:{C1}": None}})
    assert reason(path) == "usage_not_reported"


def test_a_database_with_other_tables_is_an_unknown_schema(path: Path) -> None:
    databases.write(path, {}, tables=databases.CHAT_TABLES)
    assert reason(path) == reason(path, session_id=None) == "schema_unknown"


# -- which session --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ({}, "session_not_found"),
        ({HEADERS: heads()}, "session_not_found"),
        ({HEADERS: heads(head(), head(C2))}, "session_ambiguous"),
        ({HEADERS: heads(head()), LEGACY: heads(head(C2))}, "session_ambiguous"),
        ({LEGACY: heads(hasMigratedComposerData=True)}, "superseded"),
    ],
)
def test_without_a_session_there_has_to_be_only_one(path: Path, items: Any, expected: str) -> None:
    assert reason(database(path, items=items), session_id=None) == expected


def test_the_only_session_is_the_one_meant(path: Path) -> None:
    listed = {HEADERS: heads(head(contextUsagePercent=37.5), head(""))}
    assert percent(observed(database(path, items=listed), session_id=None)) == 37.5
    path.unlink()
    database(path, json.dumps(composer(**PAIR)), listed)
    assert tokens(observed(path, session_id=None)) == (80_448, 200_000)
    path.unlink()
    database(path, items=listed, row=ROW)
    assert percent(observed(path, session_id=None)) == 40.224


# -- what is asked for ----------------------------------------------------------------------------


def evidence(stored: dict[Key, Value], **asked: Any) -> Evidence:
    """Return the evidence in *stored*, which holds what it holds and nothing else."""
    values = KeyValues(UPDATED)
    while isinstance(
        seen := COMPOSER.extract(values, Query(**{"at": AT, "session_id": C1, **asked})), NeedKeys
    ):
        assert seen.fallback.reason is cm.MissingReason.BUDGET_EXHAUSTED
        assert not any(values.get(key) for key in seen.keys)
        assert not any("cursorAuth" in key.key for key in seen.keys)
        values = values.with_read({key: stored.get(key, Lack.NO_ROW) for key in seen.keys})
    return seen


@pytest.mark.parametrize("session_id", [C1, None])
def test_no_key_is_asked_for_twice_and_no_secret_ever(session_id: str | None) -> None:
    assert isinstance(evidence({}, session_id=session_id), Gap)
    listed = {Key("ItemTable", HEADERS): heads(head(contextUsagePercent=1.5)).encode()}
    assert isinstance(evidence(listed, session_id=session_id), UsedPercent)  # type: ignore[arg-type]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 300_000) | st.floats(-5, 200) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)
NAMES = (
    "composerId",
    "contextTokensUsed",
    "contextTokenLimit",
    "contextUsagePercent",
    "lastUpdatedAt",
    "modelConfig",
    "conversation",
)
FIELDS = st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, JSON))


@given(FIELDS)
def test_tokens_are_only_what_the_document_states(fields: dict[str, Any]) -> None:
    key = Key("cursorDiskKV", f"composerData:{C1}")
    seen = evidence({key: json.dumps(fields).encode()})
    match seen:
        case TokenPair():
            assert seen.used_tokens == fields["contextTokensUsed"]
            assert seen.limit_tokens == fields["contextTokenLimit"]
        case UsedTokens():
            assert seen.used_tokens == fields["contextTokensUsed"]
        case UsedPercent():
            assert seen.used_percent == fields["contextUsagePercent"]
        case _:
            assert isinstance(seen, Gap)


@given(FIELDS, st.sampled_from([HEADERS, LEGACY]))
def test_no_head_ever_becomes_tokens(fields: dict[str, Any], name: str) -> None:
    listed = heads({**fields, "composerId": C1}).encode()
    assert isinstance(evidence({Key("ItemTable", name): listed}), Gap | UsedPercent)
