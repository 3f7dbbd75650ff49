"""Real Codex sessions end to end: what the rollout says, held against what the server had said.

``truth.json`` knows each call's counts, ``hooks-timing.jsonl`` how many rows were on disk at each
hook. The rollouts of other versions have their truths in `test_rollout_recordings`.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

import pytest
from attrs import define, field
from codex_sessions import ROLLOUTS, Rollout

import ctxmeasure as cm
from ctxmeasure import (
    Attestation,
    Completeness,
    Confidence,
    LimitBasis,
    Missing,
    MissingReason,
    Observed,
    Phase,
)
from ctxmeasure.bounded.budget import KIB, MIB

AT = datetime(2026, 11, 29, 20, 0, tzinfo=UTC)
"""After every recording."""

BY_NAME = {rollout.name: rollout for rollout in ROLLOUTS}
VERSIONS = [r for r in ROLLOUTS if r.name.startswith("v")]
CHILD = BY_NAME["codex/f-subagent/sub-agent"]
SCENARIOS = [r for r in ROLLOUTS if r.name.startswith("codex") and r is not CHILD]

each_scenario = pytest.mark.parametrize("rollout", SCENARIOS, ids=lambda rollout: rollout.name)
each_rollout = pytest.mark.parametrize("rollout", ROLLOUTS, ids=lambda rollout: rollout.name)


def observe(data: Any, **asked: Any) -> cm.Observation:
    return cm.observe("codex.rollout", data, **{"at": AT, **asked})


def tokens(observation: cm.Observation) -> tuple[int, int]:
    assert isinstance(observation, Observed), observation
    assert isinstance(observation.value, cm.TokenMeasurement)
    return observation.value.used_tokens, observation.value.limit_tokens


def reason(observation: cm.Observation) -> MissingReason:
    assert isinstance(observation, Missing), observation
    return observation.reason


def final(rollout: Rollout) -> tuple[int, int]:
    truth = rollout.truth["final"]
    return truth["used_tokens"], truth["limit_tokens"]


# -- what the server said -------------------------------------------------------------------------


@each_scenario
def test_a_rollout_says_what_the_server_said_last(rollout: Rollout) -> None:
    observation = observe(rollout.path, session_id=rollout.thread_id)
    if rollout.name == "codex/e-context-exceeded":  # then it refused a request as too long
        assert reason(observation) is MissingReason.WINDOW_EXCEEDED
        return
    assert tokens(observation) == final(rollout)
    assert isinstance(observation, Observed)
    assert observation.value.method == "codex_transcript_token_count"
    assert observation.attestation is Attestation.DERIVED
    assert observation.completeness is Completeness.EXACT
    is_unknown = rollout.name == "codex/g-unknown-model"
    assert observation.confidence is (Confidence.MEDIUM if is_unknown else Confidence.EXACT)
    provenance = observation.provenance
    assert provenance.runtime_version == rollout.truth["agent"].split()[-1]
    assert provenance.used_basis is cm.UsedBasis.PROMPT_AND_OUTPUT
    assert provenance.limit_basis is LimitBasis.EFFECTIVE_WINDOW
    assert provenance.usage is not None
    assert provenance.usage.total_tokens == final(rollout)[0]


@each_scenario
def test_the_buckets_are_those_that_the_server_counted(rollout: Rollout) -> None:
    if rollout.name == "codex/e-context-exceeded":
        return
    observation = observe(rollout.path)
    calls = rollout.truth["calls"]
    (call,) = [c for c in calls if c["total_tokens"] == final(rollout)[0]]
    assert observation.provenance.usage == cm.TokenUsage(
        input_tokens=call["uncached_input"],
        cache_read_tokens=call["cache_read"],
        cache_write_tokens=call["cache_write"],
        output_tokens=call["output"],
        reasoning_tokens=call["reasoning_in_output"],
    )
    prompt = observe(rollout.path, policy=cm.Policy(counts=cm.Counts.PROMPT))
    assert tokens(prompt)[0] == call["prompt_tokens"]


@each_scenario
def test_a_rollout_says_what_the_server_said_after_each_call(rollout: Rollout) -> None:
    said: list[int] = []
    for count in range(1, len(rollout.rows) + 1):
        observation = observe(rollout.first(count))
        if isinstance(observation, Observed):
            said.append(tokens(observation)[0])
    after = [call["used_tokens"] for call in rollout.truth["expected_after"]]
    assert [used for used, _ in groupby(said)] == [used for used in after if used is not None]


@pytest.mark.parametrize(
    ("name", "estimates"),
    [("codex/d-compact-auto", [6_866]), ("codex/h-tui", [12_727])],
)
def test_a_compaction_leaves_an_estimate_that_is_low_where_it_is_accepted(
    name: str, estimates: list[int]
) -> None:
    rollout = BY_NAME[name]
    accepting = cm.Policy(accept_estimates=True)
    taken = []
    for count in range(1, len(rollout.rows) + 1):
        observation = observe(rollout.first(count))
        if isinstance(observation, Missing) and observation.reason is MissingReason.COMPACTED:
            estimated = observe(rollout.first(count), policy=accepting)
            if isinstance(estimated, Observed):
                assert estimated.confidence is Confidence.LOW
                assert estimated.attestation is Attestation.INFERRED
                taken.append(tokens(estimated))
    assert [pair for pair, _ in groupby(taken)] == [(used, 258_400) for used in estimates]


@pytest.mark.parametrize("rollout", VERSIONS, ids=lambda rollout: rollout.name)
def test_a_version_that_may_not_know_the_model_is_believed_less(rollout: Rollout) -> None:
    observation = observe(rollout.path)
    if isinstance(observation, Missing):
        assert rollout.name == "v0.20.0_bare_items_no_usage"
        return
    # gpt-5.5 came after 0.115, which therefore took its fallback for the model's window.
    believed_less = {"v0.115.0_two_turns_stale_repeat": Confidence.MEDIUM}
    assert observation.confidence is believed_less.get(rollout.name, Confidence.EXACT)
    has_whole_window = rollout.name.startswith(("v0.36", "v0.44"))
    basis = LimitBasis.WINDOW if has_whole_window else LimitBasis.EFFECTIVE_WINDOW
    assert observation.provenance.limit_basis is basis


# -- who and when ---------------------------------------------------------------------------------


def test_a_sub_agents_file_is_found_by_its_agent_and_not_by_its_parents_session() -> None:
    parent = BY_NAME["codex/f-subagent"]
    for session_id in (None, parent.thread_id, CHILD.thread_id):
        found = observe(CHILD.path, session_id=session_id, agent_id=CHILD.thread_id)
        assert tokens(found) == (2_121, 258_400)
    assert tokens(observe(CHILD.path, session_id=CHILD.thread_id)) == (2_121, 258_400)
    for data, asked in (
        (CHILD.path, {"session_id": parent.thread_id}),
        (parent.path, {"session_id": CHILD.thread_id}),
        (parent.path, {"session_id": parent.thread_id, "agent_id": CHILD.thread_id}),
    ):
        assert reason(observe(data, **asked)) is MissingReason.SESSION_MISMATCH


@each_rollout
def test_a_turn_is_the_same_sample_while_it_runs_and_later(rollout: Rollout) -> None:
    for turn_id in rollout.turns:
        over = observe(rollout.path, turn_id=turn_id, phase=Phase.TERMINAL)
        if isinstance(over, Missing):
            continue
        measured_at = over.value.measured_at
        assert over.provenance.witness is not None
        for age, is_fresh in ((0, True), (30, True), (31, False)):
            at = measured_at + timedelta(seconds=age)
            running = observe(rollout.path, turn_id=turn_id, phase=Phase.ACTIVE, at=at)
            if is_fresh:
                assert isinstance(running, Observed)
                assert running.value == over.value
                assert running.provenance.witness == over.provenance.witness
            else:
                assert reason(running) is MissingReason.SAMPLE_STALE


HOOKED = [r for r in SCENARIOS if (r.path.parents[5] / "hooks-timing.jsonl").exists()]

# What each hook's own question finds, in order; the latest count where it asks for no turn.
AT_HOOKS: dict[str, list[int | str]] = {
    "codex/a-simple": ["not_measured_yet", "not_measured_yet", 12_025],
    "codex/b-tools": [
        *["not_measured_yet"] * 2,
        *[12_120] * 4,
        *[12_760] * 2,
        13_040,
    ],
    "codex/c-resume": [*["not_measured_yet"] * 2, *[12_025] * 3, *[12_530] * 2, 12_621],
    "codex/d-compact-auto": [
        *["not_measured_yet"] * 2,
        *[150_500] * 3,
        *["compacted"] * 2,
        9_133,
    ],
    "codex/e-context-exceeded": [*["not_measured_yet"] * 2, *[12_025] * 2],
    "codex/e-error-500": [*["not_measured_yet"] * 2, *[12_025] * 2],
    "codex/f-subagent": [
        *["not_measured_yet"] * 2,
        *[15_120] * 2,
        "turn_not_found",  # the sub-agent starts
        15_329,
        2_121,  # the sub-agent stops
        15_329,
        15_731,
    ],
    "codex/g-unknown-model": [*["not_measured_yet"] * 2, 15_025],
    "codex/h-tui": [
        *["not_measured_yet"] * 2,
        *[40_120] * 2,
        *[103_006] * 2,
        "turn_not_found",  # a manual compaction is a turn of its own
        *["compacted"] * 3,
        21_033,
    ],
}


@pytest.mark.parametrize("rollout", HOOKED, ids=lambda rollout: rollout.name)
def test_a_hook_finds_the_count_of_its_moment_on_disk(rollout: Rollout) -> None:
    found: list[int | str] = []
    hooks, moments = rollout.beside("hooks.jsonl"), rollout.beside("hooks-timing.jsonl")
    for payload, moment in zip(hooks, moments, strict=True):
        at = datetime.fromtimestamp(moment["t"], tz=UTC)
        file = CHILD if payload["hook_event_name"].startswith("Subagent") else rollout
        written = file.first(moment["rows"])
        observation = cm.observe(
            "codex.rollout", written, query=cm.codex.query_from_hook(payload, at=at)
        )
        if isinstance(observation, Observed):
            found.append(tokens(observation)[0])
        else:
            found.append(observation.reason.value)
    assert found == AT_HOOKS[rollout.name]


# -- what a reading costs -------------------------------------------------------------------------


@define
class Pieces:
    """A file object over pieces of bytes, each repeated, that counts what it is asked for.

    Attributes:
        pieces: The bytes and how often they come.
        asked: How many bytes were asked for.
        position: Where the next read begins.
    """

    pieces: list[tuple[bytes, int]] = field(repr=False)
    asked: int = 0
    position: int = 0

    @property
    def size(self) -> int:
        return sum(len(piece) * times for piece, times in self.pieces)

    def seek(self, offset: int, whence: int = 0) -> int:
        self.position = offset + (self.size if whence == 2 else 0)
        return self.position

    def read(self, count: int) -> bytes:
        self.asked += count
        found, start = bytearray(), self.position
        for piece, times in self.pieces:
            length = len(piece) * times
            if start < length and len(found) < count:
                missing = count - len(found)
                skip = start // len(piece)
                wanted = (start % len(piece) + missing) // len(piece) + 1
                run = piece * min(times - skip, wanted)
                found += run[start % len(piece) :][:missing]
            start = max(0, start - length)
        self.position += len(found)
        return bytes(found)


def long_rollout(turn_bytes: int) -> tuple[Pieces, str]:
    """Return a rollout of 44 MB, whose last turn runs and is *turn_bytes* long, and the turn."""
    session = BY_NAME["codex/b-tools"]
    first, *rest = session.content.splitlines(keepends=True)
    older = BY_NAME["v0.171.0_two_turns"].content.splitlines(keepends=True)[1:]
    output = next(line for line in rest if b"function_call_output" in line)
    begun = b"".join(rest[:13])  # up to the calls of the first response
    last = b"".join(rest[18:23])  # the second response and its tool's output
    older_rows = b"".join(older)
    fillers = turn_bytes // len(output)
    times = (44 * MIB - turn_bytes) // len(older_rows)
    pieces = Pieces([(first, 1), (older_rows, times), (begun, 1), (output, fillers), (last, 1)])
    return pieces, session.turns[0]


def test_the_pieces_are_the_file_that_they_make() -> None:
    pieces = Pieces([(b"ab", 3), (b"c", 0), (b"def", 2)])
    whole = b"abababdefdef"
    assert pieces.seek(0, 2) == pieces.size == len(whole)
    for start in range(len(whole) + 1):
        for count in range(len(whole) + 2):
            pieces.seek(start)
            assert pieces.read(count) == whole[start:][:count]


@pytest.mark.parametrize("phase", [Phase.LATEST, Phase.TERMINAL])
def test_the_end_of_44_megabytes_costs_256_kibibytes_at_most(phase: Phase) -> None:
    file, turn_id = long_rollout(100 * KIB)
    assert file.size > 43 * MIB
    observation = observe(file, phase=phase, turn_id=turn_id)
    assert file.asked == observation.provenance.stats.bytes_read <= 256 * KIB
    known = observation.partial if isinstance(observation, Missing) else observation.value
    assert getattr(known, "used_tokens", None) == 12_760
    assert isinstance(observation, Missing) is (phase is Phase.TERMINAL)


def test_a_turn_that_began_far_back_is_found_within_4_mebibytes() -> None:
    file, turn_id = long_rollout(3 * MIB)
    rows = [json.loads(line) for line in file.pieces[-1][0].splitlines()]
    at = datetime.fromisoformat(rows[-1]["timestamp"])
    observation = observe(file, phase=Phase.ACTIVE, turn_id=turn_id, at=at)
    assert tokens(observation) == (12_760, 258_400)
    assert isinstance(observation, Observed)
    assert observation.confidence is Confidence.EXACT
    assert file.asked == observation.provenance.stats.bytes_read <= 4 * MIB
    # Its model is named at its beginning. Within less, the limit might be a fallback.
    budget = cm.ReadBudget(maximum=256 * KIB)
    short, _ = long_rollout(3 * MIB)
    within = observe(short, phase=Phase.ACTIVE, turn_id=turn_id, at=at, budget=budget)
    assert tokens(within) == (12_760, 258_400)
    assert isinstance(within, Observed)
    assert within.confidence is Confidence.MEDIUM
    assert short.asked <= 256 * KIB


def test_a_compressed_rollout_is_of_an_unknown_schema() -> None:
    compressed = b"\x28\xb5\x2f\xfd" + BY_NAME["codex/a-simple"].content[:1_000]
    assert reason(observe(compressed)) is MissingReason.SCHEMA_UNKNOWN
