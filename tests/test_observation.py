"""The vocabularies are closed and described; an observation shows nothing native."""

from __future__ import annotations

import copy
import hashlib
import hmac
import math
import pickle
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.observation import (
    Attestation,
    Completeness,
    Confidence,
    LimitBasis,
    Missing,
    MissingReason,
    Observation,
    Partial,
    Provenance,
    UsedBasis,
    Witness,
)
from ctxmeasure.testing.strategies import observations, partials, provenances, witnesses

VOCABULARIES = [Attestation, Confidence, Completeness, UsedBasis, LimitBasis, MissingReason]
MEMBERS = [member for vocabulary in VOCABULARIES for member in vocabulary]


# -- vocabularies ---------------------------------------------------------------------------------


@pytest.mark.parametrize("member", MEMBERS)
def test_every_word_is_described_in_sentences_of_its_own(member: StrEnum) -> None:
    words = str(member.__doc__)
    assert words != type(member).__doc__
    assert words[0].isupper()
    assert words.endswith(".")


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_no_two_words_have_one_description(vocabulary: type[StrEnum]) -> None:
    assert len({member.__doc__ for member in vocabulary}) == len(vocabulary)


@pytest.mark.parametrize("member", MEMBERS)
def test_a_word_is_its_value(member: StrEnum) -> None:
    assert member == member.value == member.name.lower()
    assert type(member)(member.value) is member
    assert pickle.loads(pickle.dumps(member)) is member  # noqa: S301 - our own bytes


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_no_other_word_is_in_the_vocabulary(vocabulary: type[StrEnum]) -> None:
    with pytest.raises(ValueError, match="is not a valid"):
        vocabulary("secret")


# -- partial --------------------------------------------------------------------------------------


def test_a_partial_knows_nothing_by_default() -> None:
    assert Partial() == Partial(
        used_tokens=None, used_percent=None, limit_tokens=None, measured_at=None, estimated=False
    )


@pytest.mark.parametrize("field", ["used_tokens", "limit_tokens", "used_percent"])
@pytest.mark.parametrize("number", [True, "1", [1]])
def test_a_number_of_a_partial_has_its_type(field: str, number: Any) -> None:
    with pytest.raises(TypeError, match=f"^{field}: "):
        evolve(Partial(), **{field: number})


@pytest.mark.parametrize(
    ("field", "number"),
    [
        ("used_tokens", -1),
        ("limit_tokens", 0),
        ("used_percent", -0.1),
        ("used_percent", 100.1),
        ("used_percent", math.nan),
    ],
)
def test_a_number_of_a_partial_has_its_range(field: str, number: Any) -> None:
    with pytest.raises(ValueError, match=f"^{field}: "):
        evolve(Partial(), **{field: number})


def test_a_partial_holds_its_moment_as_a_measurement_does() -> None:
    west = timezone(timedelta(hours=-8))
    held = Partial(measured_at=datetime(2026, 11, 29, 10, 0, 0, 999, tzinfo=west)).measured_at
    assert held == datetime(2026, 11, 29, 18, tzinfo=UTC)
    with pytest.raises(ValueError, match=r"^measured_at: "):
        Partial(measured_at=datetime(2026, 11, 29))  # noqa: DTZ001 - the point of the test


@given(partials())
def test_a_partial_is_equal_to_its_copy(partial: Partial) -> None:
    assert copy.deepcopy(partial) == partial


# -- witness --------------------------------------------------------------------------------------


@given(witnesses(), st.binary(min_size=1))
def test_a_public_id_is_the_keyed_digest(witness: Witness, key: bytes) -> None:
    assert witness.public_id(key) == hmac.new(key, witness.digest, hashlib.sha256).hexdigest()


def test_two_keys_give_two_ids() -> None:
    witness = Witness(b"\x07" * 32)
    assert witness.public_id(b"a") != witness.public_id(b"b")


def test_a_public_id_needs_a_key() -> None:
    with pytest.raises(TypeError, match=r"^key: "):
        Witness(b"\x07" * 32).public_id("key")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^key: "):
        Witness(b"\x07" * 32).public_id(b"")


def test_a_witness_does_not_show_its_digest() -> None:
    assert repr(Witness(b"\x07" * 32)) == "Witness()"


# -- observations ---------------------------------------------------------------------------------


@given(provenances(), witnesses())
def test_the_witness_is_no_part_of_equality_or_repr(
    provenance: Provenance, witness: Witness
) -> None:
    seen, unseen = evolve(provenance, witness=witness), evolve(provenance, witness=None)
    assert seen == unseen
    assert hash(seen) == hash(unseen)
    assert repr(seen) == repr(unseen)


@given(observations())
def test_an_observation_can_be_a_key(observation: Observation) -> None:
    assert len({observation, copy.deepcopy(observation)}) == 1


# -- what stands of a missing measurement ---------------------------------------------------------

ABOUT_LIMIT = {
    MissingReason.PERCENT_NOT_REPORTED,
    MissingReason.PERCENT_INVALID,
    MissingReason.LIMIT_NOT_REPORTED,
    MissingReason.LIMIT_INVALID,
    MissingReason.MODEL_NOT_REPORTED,
    MissingReason.MODEL_UNKNOWN,
    MissingReason.WINDOW_AMBIGUOUS,
    MissingReason.LIMIT_CONTRADICTED,
}


@pytest.mark.parametrize("reason", MissingReason)
def test_a_count_stands_only_where_its_limit_alone_is_at_fault(reason: MissingReason) -> None:
    provenance = Provenance(adapter="claude", source="claude.stream")
    missing = Missing(reason=reason, partial=Partial(used_tokens=41_500), provenance=provenance)
    assert reason.is_about_limit is (reason in ABOUT_LIMIT)
    assert missing.standing_tokens == (41_500 if reason in ABOUT_LIMIT else None)


@pytest.mark.parametrize(
    "partial",
    [None, Partial(), Partial(used_percent=20), Partial(used_tokens=41_500, estimated=True)],
)
def test_no_count_stands_that_was_not_measured(partial: Partial | None) -> None:
    provenance = Provenance(adapter="claude", source="claude.stream")
    missing = Missing(reason=MissingReason.MODEL_UNKNOWN, partial=partial, provenance=provenance)
    assert missing.standing_tokens is None
