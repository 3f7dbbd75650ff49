"""Real sessions end to end: what every source says, held against what the model server had said.

``truth.json`` knows each call's counts. Every source of one session has to say them too, or a named
reason why it cannot, and two sources of one session must not say two things.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from claude_sessions import RECORDINGS, Recording

import ctxmeasure as cm
from ctxmeasure import Attestation, Completeness, Confidence, Missing, MissingReason, Observed

AT = datetime(2026, 11, 29, 20, 0, tzinfo=UTC)
"""After every recording."""

BY_NAME = {recording.name: recording for recording in RECORDINGS}


@frozen
class Streams:
    """The processes of one recording, each a live stream of its own."""

    recording: Recording
    processes: tuple[Path, ...]


STREAMS = [
    Streams(recording, tuple(sorted(recording.folder.glob("stream*.jsonl"))))
    for recording in RECORDINGS
    if list(recording.folder.glob("stream*.jsonl"))
]
STATUS_LINES = [r for r in RECORDINGS if (r.folder / "statusline.jsonl").exists()]

each_recording = pytest.mark.parametrize("recording", RECORDINGS, ids=lambda r: r.name)
each_stream = pytest.mark.parametrize("streams", STREAMS, ids=lambda s: s.recording.name)
each_status_line = pytest.mark.parametrize("recording", STATUS_LINES, ids=lambda r: r.name)

# What a transcript cannot tell, by what the session was about.
UNTOLD = {
    # "mystery-model-9" is in no table; 1,000,000 is what Claude Code assumes.
    "claude/g-unknown-model": MissingReason.MODEL_UNKNOWN,
    # 2.0.76 leaves no trace of the "[1m]" that it was started with.
    "claude-2.0.76/g-1m": MissingReason.LIMIT_CONTRADICTED,
}


def tokens(observation: cm.Observation) -> tuple[int, int]:
    assert isinstance(observation, Observed), observation
    assert isinstance(observation.value, cm.TokenMeasurement)
    return observation.value.used_tokens, observation.value.limit_tokens


def used(observation: cm.Observation) -> int | None:
    """Return the used tokens that an observation knows, measured or not."""
    if isinstance(observation, Observed):
        return tokens(observation)[0]
    return None if observation.partial is None else observation.partial.used_tokens


def truth(recording: Recording) -> tuple[int, int]:
    final = recording.truth["final"]
    return final["used_tokens"], final["limit_tokens"]


def counts(recording: Recording) -> list[int]:
    """Return the context after each main call that a response came back for."""
    after = recording.truth["expected_after"]
    return [call["used_tokens"] for call in after if call["used_tokens"] is not None]


# -- transcripts --------------------------------------------------------------------------------


@each_recording
def test_a_transcript_says_what_the_server_said_last(recording: Recording) -> None:
    observation = cm.observe(
        "claude.transcript", recording.path, session_id=recording.session_id, at=AT
    )
    if recording.name in UNTOLD:
        assert isinstance(observation, Missing)
        assert observation.reason is UNTOLD[recording.name]
        assert used(observation) == truth(recording)[0]
    else:
        assert tokens(observation) == truth(recording)
        assert isinstance(observation, Observed)
        assert observation.attestation is Attestation.INFERRED
        assert observation.confidence is Confidence.HIGH
        assert observation.completeness is Completeness.INFERRED
    assert observation.provenance.runtime_version == recording.truth["agent"].split()[-1]
    assert observation.provenance.used_basis is cm.UsedBasis.PROMPT


@each_recording
def test_a_transcript_says_what_the_server_said_after_each_call(recording: Recording) -> None:
    said = []
    for line in recording.lines:
        if recording.call_of(line) is not None:
            written = recording.content[: line.stop + 1]
            said.append(used(cm.observe("claude.transcript", written, at=AT)))
    assert [count for count, _ in groupby(said)] == counts(recording)


@each_recording
def test_a_transcript_right_after_a_compaction_says_so(recording: Recording) -> None:
    unknown = sum(call["used_tokens"] is None for call in recording.truth["expected_after"])
    compacted = [
        cm.observe("claude.transcript", recording.content[: line.stop + 1], at=AT)
        for line in recording.lines
        if line.row.get("subtype") == "compact_boundary"
    ]
    assert len(compacted) == unknown
    for observation in compacted:
        assert isinstance(observation, Missing)
        assert observation.reason is MissingReason.COMPACTED


@each_recording
def test_the_callers_limit_makes_a_measurement_of_every_transcript(recording: Recording) -> None:
    count, limit = truth(recording)
    observation = cm.observe("claude.transcript", recording.path, limit_tokens=limit, at=AT)
    assert tokens(observation) == (count, limit)
    assert isinstance(observation, Observed)
    assert observation.attestation is Attestation.OPERATOR


def test_the_callers_word_settles_the_window_that_an_old_transcript_does_not_name() -> None:
    recording = BY_NAME["claude-2.0.76/g-1m"]
    observation = cm.observe(
        "claude.transcript", recording.path, model="claude-sonnet-4-5-20250929[1m]", at=AT
    )
    assert tokens(observation) == (250_010, 1_000_000)


def turns(recording: Recording) -> list[str]:
    """Return the turns that rows of the main conversation name, in order."""
    named = [line.row.get("promptId") for line in recording.lines]
    return [turn for turn, _ in groupby(filter(None, named))]


def answered_turn(recording: Recording) -> str:
    """Return the turn of the last response; later ones were local commands or failed."""
    answers = [i for i, line in enumerate(recording.lines) if recording.call_of(line) is not None]
    *_, turn = filter(None, (line.row.get("promptId") for line in recording.lines[: answers[-1]]))
    return str(turn)


@pytest.mark.parametrize("recording", [r for r in RECORDINGS if turns(r)], ids=lambda r: r.name)
def test_a_running_turn_is_matched_and_its_sample_grows_stale(recording: Recording) -> None:
    def ask(at: datetime, phase: cm.Phase) -> cm.Observation:
        return cm.observe(
            "claude.transcript",
            recording.path,
            turn_id=answered_turn(recording),
            phase=phase,
            at=at,
            limit_tokens=truth(recording)[1],
        )

    over = ask(AT, cm.Phase.TERMINAL)
    assert tokens(over) == truth(recording)
    assert isinstance(over, Observed)
    running = ask(over.value.measured_at + timedelta(seconds=30), cm.Phase.ACTIVE)
    assert isinstance(running, Observed)
    assert running.value == over.value
    assert running.provenance.witness == over.provenance.witness is not None
    stale = ask(over.value.measured_at + timedelta(seconds=31), cm.Phase.ACTIVE)
    assert isinstance(stale, Missing)
    assert stale.reason is MissingReason.SAMPLE_STALE


def test_a_turn_that_got_only_errors_has_no_sample() -> None:
    recording = BY_NAME["claude/e-error-400"]
    for turn in turns(recording)[1:]:
        observation = cm.observe("claude.transcript", recording.path, turn_id=turn, at=AT)
        assert isinstance(observation, Missing)
        assert observation.reason is MissingReason.TURN_NOT_FOUND


# -- live streams -------------------------------------------------------------------------------


def lines(process: Path) -> Iterator[bytes]:
    return iter(process.read_bytes().splitlines(keepends=True))


def fed(process: Path) -> tuple[cm.Stream, list[cm.Observation]]:
    """Return a stream that has heard all of *process*, and what it said at each change."""
    stream = cm.Stream("claude.stream")
    said = [stream.feed(line, at=AT) for line in lines(process)]
    return stream, [observation for observation in said if observation is not None]


@each_stream
def test_a_stream_says_what_the_server_said_after_each_call(streams: Streams) -> None:
    said = [
        tokens(observation)[0]
        for process in streams.processes
        for observation in fed(process)[1]
        if isinstance(observation, Observed)
    ]
    assert [count for count, _ in groupby(said)] == counts(streams.recording)


@each_stream
def test_a_stream_ends_with_what_the_server_said_last(streams: Streams) -> None:
    *_, last = (
        observation
        for process in streams.processes
        if isinstance(observation := fed(process)[0].finish(at=AT), Observed)
    )
    assert tokens(last) == truth(streams.recording)
    if streams.recording.name == "claude/g-unknown-model":
        assert (last.attestation, last.confidence) == (Attestation.NATIVE, Confidence.MEDIUM)
    elif streams.recording.name.startswith("claude-1.0.60"):  # it stated no window yet
        assert (last.attestation, last.confidence) == (Attestation.INFERRED, Confidence.HIGH)
    else:
        assert (last.attestation, last.confidence) == (Attestation.NATIVE, Confidence.EXACT)


@each_stream
def test_a_streams_peak_is_its_fullest_call(streams: Streams) -> None:
    fullest = [
        used(stream.peak)
        for process in streams.processes
        if isinstance((stream := fed(process)[0]).peak, Observed)
    ]
    assert max(filter(None, fullest)) == max(counts(streams.recording))


@pytest.mark.parametrize("name", ["claude/d-compact-manual", "claude-2.0.76/d-compact-manual"])
def test_a_process_that_only_compacts_has_nothing_measured(name: str) -> None:
    observation = fed(BY_NAME[name].folder / "stream-2.jsonl")[0].finish(at=AT)
    assert isinstance(observation, Missing)
    assert observation.reason is MissingReason.COMPACTED


def test_a_process_whose_prompt_is_too_long_says_so() -> None:
    observation = fed(BY_NAME["claude/e-error-400"].folder / "stream-2.jsonl")[0].finish(at=AT)
    assert isinstance(observation, Missing)
    assert observation.reason is MissingReason.WINDOW_EXCEEDED


@each_stream
def test_a_recorded_stream_says_what_it_said_live(streams: Streams) -> None:
    for process in streams.processes:
        live = fed(process)[0].finish(at=AT)
        recorded = cm.observe("claude.stream", process.read_bytes(), at=AT)
        if isinstance(live, Observed):
            assert isinstance(recorded, Observed)
            assert recorded.value == live.value
            assert recorded.confidence is live.confidence
            assert recorded.provenance.witness == live.provenance.witness
        else:
            assert isinstance(recorded, Missing)
            assert recorded.reason is live.reason


@each_stream
def test_a_stream_and_the_transcript_of_its_session_do_not_say_two_things(
    streams: Streams,
) -> None:
    *_, last = (cm.observe("claude.stream", process, at=AT) for process in streams.processes)
    session = cm.observe("claude.transcript", streams.recording.path, at=AT)
    if isinstance(last, Missing):  # its last process got only errors
        assert streams.recording.name == "claude/e-error-400"
        return
    assert used(session) == used(last)
    assert session.provenance.usage is not None
    assert last.provenance.usage is not None
    assert session.provenance.usage.prompt_tokens == last.provenance.usage.prompt_tokens
    assert session.provenance.model is not None
    assert last.provenance.model is not None
    assert session.provenance.model.id == last.provenance.model.id
    if isinstance(session, Observed):
        assert tokens(session) == tokens(last)
        assert session.confidence is not Confidence.EXACT


# -- status lines -------------------------------------------------------------------------------


def renders(recording: Recording) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the payload of each render beside what was on the screen."""
    rows = (recording.folder / "statusline.jsonl").read_bytes().splitlines()
    return list(zip(map(json.loads, rows), recording.truth["status_line"], strict=True))


@each_status_line
def test_a_status_line_says_what_is_on_the_screen(recording: Recording) -> None:
    assert renders(recording)
    for payload, shown in renders(recording):
        observation = cm.observe("claude.status_line", payload, at=AT)
        if shown["total_input_tokens"] == 0:
            assert isinstance(observation, Missing)
            assert observation.reason is MissingReason.NOT_MEASURED_YET
            continue
        assert tokens(observation) == (shown["total_input_tokens"], shown["context_window_size"])
        assert isinstance(observation, Observed)
        assert isinstance(observation.value, cm.TokenMeasurement)
        assert round(observation.value.used_percent) == shown["used_percentage"]
        assert observation.attestation is Attestation.NATIVE
        assert observation.confidence is Confidence.EXACT
        assert observation.value.measured_at == AT


@each_status_line
def test_the_last_status_line_and_the_transcript_agree(recording: Recording) -> None:
    last, _ = renders(recording)[-1]
    line = cm.observe("claude.status_line", last, session_id=recording.session_id, at=AT)
    assert tokens(line) == truth(recording)
    assert tokens(cm.observe("claude.transcript", recording.path, at=AT)) == tokens(line)


# -- hooks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("claude/c-continue", 15_035),
        ("claude/d-compact-manual", 80_510),
        ("claude/e-error-400", 15_035),
    ],
)
def test_a_resume_hook_says_prompt_and_output_of_the_call_before(name: str, count: int) -> None:
    payloads = BY_NAME[name].beside("hooks.jsonl")
    said = [cm.observe("claude.hook", payload, limit_tokens=200_000, at=AT) for payload in payloads]
    measured = [observation for observation in said if isinstance(observation, Observed)]
    assert [tokens(observation) for observation in measured] == [(count, 200_000)]
    assert measured[0].provenance.used_basis is cm.UsedBasis.PROMPT_AND_OUTPUT
    reasons = {observation.reason for observation in said if isinstance(observation, Missing)}
    assert reasons == {MissingReason.USAGE_NOT_REPORTED}


COMPACTED = ["claude/d-compact-manual", "claude/h-tui", "claude-2.0.76/d-compact-manual"]


@pytest.mark.parametrize("name", COMPACTED)
def test_behind_a_compaction_a_hook_reads_no_count_of_before_it(name: str) -> None:
    recording = BY_NAME[name]
    moments = recording.beside("hooks-timing.jsonl")
    asked = 0
    for payload, moment in zip(recording.beside("hooks.jsonl"), moments, strict=True):
        if payload["hook_event_name"] != "PostCompact" and payload.get("source") != "compact":
            continue
        rows = recording.lines[: moment["rows"]]
        assert not any(line.row.get("subtype") == "compact_boundary" for line in rows)  # too early
        at = datetime.fromtimestamp(moment["t"], tz=UTC)
        prompts = [line.row["promptId"] for line in rows if "promptId" in line.row]
        # These were asked for; an automatic one has the prompt of the turn that it interrupts.
        for prompt_id in (payload.get("prompt_id"), *prompts[-1:]):
            query = cm.claude.query_from_hook({**payload, "prompt_id": prompt_id}, at=at)
            observation = cm.observe(
                "claude.transcript",
                recording.content[: rows[-1].stop],
                session_id=query.session_id,
                turn_id=query.turn_id,
                turn_started_at=query.turn_started_at,
                phase=query.phase,
                at=at,
            )
            assert isinstance(observation, Missing)
            asked += 1
    assert asked


# -- the wrong source --------------------------------------------------------------------------


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.name)
def test_a_transcript_is_never_measured_as_a_stream(recording: Recording) -> None:
    for transcript in recording.folder.glob("session/*.jsonl"):
        heard = cm.Stream("claude.stream")
        for row in transcript.read_bytes().splitlines(keepends=True):
            heard.feed(row, at=AT)
            assert isinstance(heard.latest, Missing)
            assert isinstance(heard.peak, Missing)


@each_stream
def test_a_stream_is_never_measured_as_a_transcript(streams: Streams) -> None:
    for stream in streams.processes:
        frames = stream.read_bytes().splitlines(keepends=True)
        for end in range(len(frames) + 1):
            observation = cm.observe("claude.transcript", b"".join(frames[:end]), at=AT)
            assert isinstance(observation, Missing)
