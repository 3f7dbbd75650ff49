"""What a user's checker knows of the ledger; executed by type-checkers only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, assert_type

import ctxmeasure as cm
from ctxmeasure import record, track
from ctxmeasure.bounded.budget import ReadFault
from ctxmeasure.sampler import Event

NOW = datetime.now(UTC)


def an_event_is_json_data(observation: cm.Observation) -> None:
    event = record.context_observed(observation, session_key="…", turn_key=None, key=b"key")
    assert_type(event, dict[str, Any])
    record.context_observed(observation, session_key="…", key="…")  # type: ignore[arg-type]
    record.compaction_completed(
        record.compaction_started(observation, session_key="…", key=b"key")["payload"]["before"],
        observation,
        "succeeded",
        session_key="…",
        key=b"key",
    )


def a_step_returns_a_new_value(observation: cm.Observation) -> None:
    assert_type(track.Cadence().attempt("…", now=NOW), tuple[track.Cadence, bool])
    assert_type(track.WitnessLog().publish(observation, key=b"key"), tuple[track.WitnessLog, bool])
    assert_type(track.WitnessLog.load("…"), track.WitnessLog | ReadFault)


def a_sampler_holds_no_state() -> None:
    sampler = cm.Sampler(agent="claude", key=b"key", policy=cm.Policy(counts=cm.Counts.PROMPT))
    payload = {"hook_event_name": "Stop"}
    state, events = sampler.step(cm.SamplerState(), cm.boundary_of(payload), payload, now=NOW)
    assert_type(state, cm.SamplerState)
    assert_type(events, tuple[Event, ...])
    sampler.step(state, "stop", payload, now=NOW)  # type: ignore[arg-type]
