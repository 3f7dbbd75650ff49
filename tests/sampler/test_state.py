from __future__ import annotations

import json
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.bounded.budget import ReadFault
from ctxmeasure.sampler import OpenTurn, SamplerState
from ctxmeasure.testing.hostile import any_json, spoilt
from ctxmeasure.track import End, Ended, Target

AT = datetime(2026, 11, 29, 18, tzinfo=UTC)
TARGET = Target(path="secret", session_id="secret", turn_id="secret", tried_at=AT)
FULL = SamplerState(
    cadence=SamplerState().cadence.attempt("tid", now=AT)[0],
    published=SamplerState().published.with_published(["hid"]),
    pending=SamplerState().pending.add(TARGET)[0],
    turn=OpenTurn(
        session_id="secret", turn_id="secret", started_at=AT, path="secret", is_over=True
    ),
    database="secret",
    before='{"state":"not_applicable"}',
)


@pytest.mark.parametrize(
    "state", [SamplerState(), FULL, evolve(FULL, turn=OpenTurn(session_id="s"))]
)
def test_a_state_comes_back_as_it_was(state: SamplerState, tmp_path: Path) -> None:
    assert SamplerState.from_dict(json.loads(json.dumps(state.to_dict()))) == state
    path = tmp_path / "state.json"
    assert SamplerState.load(path) is ReadFault.ABSENT
    assert state.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert SamplerState.load(path) == state


def test_what_the_last_step_gave_up_is_not_remembered() -> None:
    state = evolve(FULL, ended=(Ended(TARGET, End.CROWDED_OUT),))
    assert state == FULL
    assert SamplerState.from_dict(state.to_dict()).ended == ()


def test_no_id_and_no_path_is_in_the_repr() -> None:
    assert "secret" not in repr(evolve(FULL, ended=(Ended(TARGET, End.FOUND),)))


def test_what_a_ledger_has_is_published() -> None:
    assert "hid_1" in SamplerState().with_published(["hid_1"]).published


@pytest.mark.parametrize("content", [b"", b"\xff", b"{}", b'{"cadence": {}}'])
def test_a_damaged_state_is_malformed(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(content)
    assert SamplerState.load(path) is ReadFault.MALFORMED


@given(st.sampled_from(sorted(FULL.to_dict())), any_json())
def test_a_state_with_a_wrong_part_is_refused_without_its_words(part: str, value: Any) -> None:
    state = {**FULL.to_dict(), part: value}
    try:
        assert SamplerState.from_dict(state).to_dict() == state
    except ValueError as refusal:
        assert str(refusal) == "state: not what to_dict returns"  # noqa: PT017


@pytest.mark.parametrize("spoilt_state", [*spoilt(FULL.to_dict())], ids=lambda _: "")
def test_every_wrong_value_in_a_state_is_refused_or_harmless(spoilt_state: Any) -> None:
    try:
        state = SamplerState.from_dict(spoilt_state)
    except ValueError:
        return
    assert state.to_dict() == spoilt_state
    repr(state.pending.due(now=AT))


@pytest.mark.parametrize(
    ("message", "call"),
    [
        (r"^session_id: ", lambda: OpenTurn(session_id=1)),  # type: ignore[arg-type]
        (r"^started_at: ", lambda: OpenTurn(session_id="s", started_at=1)),  # type: ignore[arg-type]
        (r"^is_over: ", lambda: OpenTurn(session_id="s", is_over=1)),  # type: ignore[arg-type]
        (r"^database: ", lambda: SamplerState(database=1)),  # type: ignore[arg-type]
        (r"^before: ", lambda: SamplerState(before=1)),  # type: ignore[arg-type]
    ],
)
def test_wrong_arguments_are_named(message: str, call: Any) -> None:
    with pytest.raises(TypeError, match=message):
        call()
