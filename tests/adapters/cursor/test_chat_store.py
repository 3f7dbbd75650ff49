"""Cursor's chat database: the pointer, the root, and two numbers in it.

The numbers in brackets are those of the public issues in formats/cursor.md §5.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxmeasure as cm
from ctxmeasure.adapters.cursor.chat_store import CHAT_STORE
from ctxmeasure.bounded.keys import Key, KeyValues, Lack, Value
from ctxmeasure.evidence import Gap, NeedKeys, Query, TokenPair, UsedTokens
from ctxmeasure.testing import databases

CHAT = "00000000-0000-4000-8000-0000000000c1"
ROOT = "664cb5b82064fe3705f771f4c48f97d1c02c4a5a5922356f10b1dd826e1238db"
WRITTEN = datetime(2026, 8, 13, 6, 0, tzinfo=UTC)
AT = WRITTEN + timedelta(seconds=10)
SECRET = "blob-encryption-key"  # noqa: S105 - a sentinel

META = Key("meta", "0")
BLOB = Key("blobs", ROOT, column="data", key_column="id")


def varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])


def part(number: int, content: bytes | int) -> bytes:
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def root(*details: bytes, turns: int = 1) -> bytes:
    """Return a root as the CLI writes it: prompt blobs, turns, token details, start."""
    message = part(1, bytes(range(32))) + part(8, bytes(32)) * turns
    return message + b"".join(part(5, detail) for detail in details) + part(26, 1786600000000)


def details(used: int = 20_736, limit: int = 256_000) -> bytes:
    """Return token details with a breakdown, whose numbers are decoys."""
    counts = (part(1, used) if used else b"") + (part(2, limit) if limit else b"")
    return counts + part(3, part(1, 999_999) + part(2, 888_888))


def meta(**changed: Any) -> bytes:
    stated = {
        "agentId": CHAT,
        "latestRootBlobId": ROOT,
        "name": "REDACTED",
        "mode": "default",
        "createdAt": 1786600000000,
        "lastUsedModel": "composer-2.5",
        "blobEncryptionKey": SECRET,
    }
    return json.dumps({**stated, **changed}).encode().hex().encode()


def extract(stored: Value | None, blob: Value | None = None, **asked: Any) -> Any:
    read = {key: value for key, value in ((META, stored), (BLOB, blob)) if value is not None}
    values = KeyValues(WRITTEN).with_read(read)
    return CHAT_STORE.extract(values, Query(**{"at": AT, **asked}))


def reason(*stored: Value, **asked: Any) -> str:
    gap = extract(*stored, **asked)
    assert isinstance(gap, Gap)
    return gap.reason.value


def store(path: Path, blob: bytes = root(details()), **changed: Any) -> Path:
    stored = meta(**changed).decode()
    rows: dict[str, databases.Rows] = {"meta": {"0": stored}, "blobs": {ROOT: blob}}
    return databases.write(path, rows, tables=databases.CHAT_TABLES, journal="wal")


def test_the_newest_root_holds_the_pair_that_the_footer_shows(tmp_path: Path) -> None:
    path = store(tmp_path / "store.db")
    before = databases.folder(path)
    observation = cm.observe(CHAT_STORE, path, session_id=CHAT)
    assert isinstance(observation, cm.Observed)
    assert isinstance(observation.value, cm.TokenMeasurement)
    assert observation.value.used_tokens == 20_736
    assert observation.value.limit_tokens == 256_000
    assert observation.value.method == "cursor_chat_store_token_details"
    assert observation.attestation is cm.Attestation.DERIVED
    assert observation.confidence is cm.Confidence.HIGH
    assert observation.completeness is cm.Completeness.EXACT
    assert observation.provenance.used_basis is cm.UsedBasis.PROMPT_AND_OUTPUT
    assert observation.provenance.limit_basis is cm.LimitBasis.WINDOW
    assert observation.provenance.witness is not None
    assert SECRET not in repr(observation)
    assert databases.folder(path) == before


def test_the_chat_need_not_be_named(tmp_path: Path) -> None:
    assert isinstance(cm.observe(CHAT_STORE, store(tmp_path / "store.db")), cm.Observed)


def test_the_meta_object_is_asked_for_first_and_then_its_root() -> None:
    first, second = extract(None), extract(meta())
    assert first == NeedKeys((META,), first.fallback)
    assert second == NeedKeys((BLOB,), second.fallback)
    assert first.fallback.reason is second.fallback.reason is cm.MissingReason.BUDGET_EXHAUSTED


def test_the_sample_is_as_old_as_the_last_write() -> None:
    seen = extract(meta(), root(details()))
    assert isinstance(seen, TokenPair)
    assert seen.measured_at == WRITTEN
    assert seen.model == cm.ModelRef(id="composer-2.5")
    assert not seen.misstates_limit


def test_a_sample_is_told_by_its_chat_and_its_root() -> None:
    assert extract(meta(), root(details())).identity == (CHAT, ROOT)
    assert extract(meta(agentId=None), root(details())).identity == ("", ROOT)


def test_the_secrets_of_the_chat_are_in_no_repr() -> None:
    values = KeyValues(WRITTEN).with_read({META: meta(), BLOB: root(details())})
    seen = extract(meta(), root(details()))
    assert SECRET.encode().hex() not in repr(values)
    assert SECRET not in repr(seen)
    assert CHAT not in repr(seen)


@pytest.mark.parametrize("used", [11_786, 13_968, 150_000])
def test_what_is_used_is_the_checkpoints_count_and_no_billed_sum(used: int) -> None:
    """[8] [9] [11] [12]: after a compaction the count falls, and nothing holds it up."""
    seen = extract(meta(), root(details(used)))
    assert isinstance(seen, TokenPair)
    assert seen.used_tokens == used


def test_the_limit_is_the_servers_and_not_a_catalogues() -> None:
    """[10] [14]: claude-4.6-opus-high has 200,000 here, whatever catalogues say of it."""
    seen = extract(meta(lastUsedModel="claude-4.6-opus-high"), root(details(limit=200_000)))
    assert isinstance(seen, TokenPair)
    assert seen.limit_tokens == 200_000


@pytest.mark.parametrize(
    ("turns", "expected"), [(0, "not_measured_yet"), (2, "usage_not_reported")]
)
def test_a_root_without_token_details_measures_nothing(turns: int, expected: str) -> None:
    """[13]: a turn without a checkpoint is no empty context."""
    assert reason(meta(), root(turns=turns)) == expected


def test_no_tokens_are_not_measured_yet() -> None:
    assert reason(meta(), root(details(used=0))) == "not_measured_yet"
    assert reason(meta(), root(b"")) == "not_measured_yet"


def test_a_count_without_a_maximum_has_no_limit_unless_one_is_declared(tmp_path: Path) -> None:
    path = store(tmp_path / "store.db", root(details(limit=0)))
    missing = cm.observe(CHAT_STORE, path)
    assert isinstance(missing, cm.Missing)
    assert missing.reason is cm.MissingReason.LIMIT_NOT_REPORTED
    assert missing.partial is not None
    assert missing.partial.used_tokens == 20_736
    declared = cm.observe(CHAT_STORE, path, limit_tokens=200_000)
    assert isinstance(declared, cm.Observed)
    assert declared.attestation is cm.Attestation.OPERATOR


def test_more_than_the_maximum_refutes_it(tmp_path: Path) -> None:
    path = store(tmp_path / "store.db", root(details(used=256_001)))
    missing = cm.observe(CHAT_STORE, path)
    assert isinstance(missing, cm.Missing)
    assert missing.reason is cm.MissingReason.LIMIT_CONTRADICTED


def test_a_message_in_parts_is_one_message_and_the_last_number_counts() -> None:
    first, last = part(1, 5) + part(2, 200_000), part(1, 7)
    seen = extract(meta(), root(first, last))
    assert isinstance(seen, TokenPair)
    assert (seen.used_tokens, seen.limit_tokens) == (7, 200_000)


@pytest.mark.parametrize(
    "written",
    [
        part(5, 7),
        part(5, details()) + part(5, 7),
        part(5, part(1, b"20736") + part(2, 256_000)),
        part(5, part(1, 2**32) + part(2, 256_000)),
        part(5, part(1, 20_736) + part(2, 2**32)),
        part(5, b"\x08"),
    ],
)
def test_token_details_of_another_shape_are_an_unknown_schema(written: bytes) -> None:
    assert reason(meta(), written) == "schema_unknown"


def test_the_largest_counts_are_counts() -> None:
    seen = extract(meta(), root(details(2**32 - 1, 2**32 - 1)))
    assert isinstance(seen, TokenPair)
    assert seen.used_tokens == seen.limit_tokens == 2**32 - 1


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (Lack.NO_COLUMN, "schema_unknown"),
        (Lack.NO_ROW, "not_measured_yet"),
        (Lack.NULL, "source_malformed"),
        (b"", "source_malformed"),
        (b"not hex", "source_malformed"),
        (b"\xff\xff", "source_malformed"),
        (b"[1]".hex().encode(), "source_malformed"),
        (b'{"agentId": "a", "agentId": "b"}'.hex().encode(), "source_malformed"),
        (meta(latestRootBlobId=""), "not_measured_yet"),
        (meta(latestRootBlobId=None), "source_malformed"),
        (meta(latestRootBlobId=5), "source_malformed"),
    ],
)
def test_a_meta_object_without_a_root_says_why(stored: Value, expected: str) -> None:
    assert reason(stored) == expected


@pytest.mark.parametrize(
    ("blob", "expected"),
    [
        (Lack.NO_COLUMN, "schema_unknown"),
        (Lack.NO_ROW, "chain_broken"),
        (Lack.NULL, "chain_broken"),
        (b"\x00", "source_malformed"),
        (root(details())[:-1], "source_malformed"),
    ],
)
def test_a_root_that_cannot_be_read_says_why(blob: Value, expected: str) -> None:
    assert reason(meta(), blob) == expected


def test_an_older_root_is_never_taken_for_the_newest(tmp_path: Path) -> None:
    rows: dict[str, databases.Rows] = {
        "meta": {"0": meta(latestRootBlobId="f" * 64).decode()},
        "blobs": {ROOT: root(details(used=190_000)), "f" * 64: root(details(used=7))},
    }
    path = databases.write(tmp_path / "store.db", rows, tables=databases.CHAT_TABLES)
    observation = cm.observe(CHAT_STORE, path)
    assert isinstance(observation, cm.Observed)
    assert isinstance(observation.value, cm.TokenMeasurement)
    assert observation.value.used_tokens == 7


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"session_id": "another"}, "session_mismatch"),
        ({"session_id": CHAT, "agent_id": "sub"}, "session_mismatch"),
        ({"session_id": "bc-0001"}, "remote_session"),
        ({"turn_id": "generation"}, "turn_ids_not_recorded"),
        ({"turn_started_at": WRITTEN + timedelta(seconds=1)}, "turn_not_found"),
    ],
)
def test_what_the_store_does_not_hold_is_not_answered(asked: Any, expected: str) -> None:
    assert reason(meta(), root(details()), **asked) == expected


def test_a_chat_without_an_id_is_not_the_one_asked_for() -> None:
    assert reason(meta(agentId=None), root(details()), session_id=CHAT) == "session_mismatch"
    assert isinstance(extract(meta(agentId=None), root(details())), TokenPair)


@pytest.mark.parametrize("turn", [{}, {"turn_id": "generation"}])
def test_a_turn_is_told_by_when_it_began(turn: Any) -> None:
    assert isinstance(extract(meta(), root(details()), turn_started_at=WRITTEN, **turn), TokenPair)


@pytest.mark.parametrize("named", ["default", "", None, 5])
def test_auto_is_no_model(named: object) -> None:
    assert extract(meta(lastUsedModel=named), root(details())).model is None


@pytest.mark.parametrize("age", [timedelta(seconds=29), timedelta(seconds=31)])
def test_a_running_turn_needs_a_fresh_write(tmp_path: Path, age: timedelta) -> None:
    path = store(tmp_path / "store.db")
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    observation = cm.observe(CHAT_STORE, path, phase=cm.Phase.ACTIVE, at=written + age)
    assert isinstance(observation, cm.Observed) is (age < timedelta(seconds=30))


@given(st.binary(max_size=200))
def test_no_root_raises_and_a_number_is_only_where_the_format_has_one(blob: bytes) -> None:
    seen = extract(meta(), blob)
    assert isinstance(seen, Gap | TokenPair | UsedTokens)


@given(st.binary(max_size=200))
def test_no_meta_object_raises(stored: bytes) -> None:
    assert isinstance(extract(stored), Gap)
