"""What real sessions show at every moment of their writing, held against what the server said.

A session file grows by whole rows, but a reader can come at any byte. So the recordings are cut at
every row, around every row, and (in the files that are short enough, and in the rows that decide)
at every byte.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from claude_sessions import RECORDINGS, Line, Recording, read

from ctxmeasure.adapters.claude import transcript
from ctxmeasure.adapters.claude.transcript import TRANSCRIPT
from ctxmeasure.bounded.decode import decode_object
from ctxmeasure.evidence import Evidence, Gap, Phase, UsedTokens

each_recording = pytest.mark.parametrize("recording", RECORDINGS, ids=lambda r: r.name)
EARLY_GAPS = {"session_not_found", "not_measured_yet"}


def shown(evidence: Evidence) -> int | str:
    """Return the used tokens, or the reason why there are none."""
    if isinstance(evidence, Gap):
        return evidence.reason.value
    assert isinstance(evidence, UsedTokens)
    assert evidence.usage is not None
    return evidence.usage.prompt_tokens


def truths(recording: Recording) -> list[int | str]:
    """Return what a reader must see when 0, 1, 2, ... rows are written."""
    seen: list[int | str] = ["session_not_found"]
    for line in recording.lines:
        call = recording.call_of(line)
        if call is not None:
            seen.append(call["prompt_tokens"])
        elif line.row.get("subtype") == "compact_boundary":
            seen.append("compacted")
        elif seen[-1] == "session_not_found" and "sessionId" in line.row:
            seen.append("not_measured_yet")
        else:
            seen.append(seen[-1])
    return seen


def ends_of_calls(recording: Recording) -> dict[int, int]:
    """Return the number of rows after which each main call is wholly written."""
    ends = {}
    for count, line in enumerate(recording.lines, start=1):
        call = recording.call_of(line)
        if call is not None:
            ends[call["n"]] = count
    return ends


def first_rows(recording: Recording, count: int) -> bytes:
    return recording.content[: recording.lines[count - 1].stop + 1] if count else b""


def test_there_are_recordings_of_three_ages() -> None:
    assert {recording.name.split("/")[0] for recording in RECORDINGS} == {
        "claude",
        "claude-1.0.60",
        "claude-2.0.76",
    }
    assert len(RECORDINGS) == 18


# -- truth.json -------------------------------------------------------------------------------


@each_recording
def test_after_each_call_its_prompt_is_the_context(recording: Recording) -> None:
    ends = ends_of_calls(recording)
    compactions = [
        count
        for count, line in enumerate(recording.lines, start=1)
        if line.row.get("subtype") == "compact_boundary"
    ]
    for expected in recording.truth["expected_after"]:
        if expected["used_tokens"] is None:  # "not known until the next main call"
            found = shown(read(first_rows(recording, compactions.pop(0))))
            assert found == "compacted"
        else:
            rows = first_rows(recording, ends[expected["after_call"]])
            assert shown(read(rows)) == expected["used_tokens"]


@each_recording
def test_the_whole_file_shows_what_the_agent_itself_ended_with(recording: Recording) -> None:
    evidence = read(recording.content, session_id=recording.session_id)
    assert shown(evidence) == recording.truth["final"]["used_tokens"]
    assert isinstance(evidence, UsedTokens)
    assert evidence.runtime_version == recording.truth["agent"].split()[-1]


@each_recording
def test_every_count_of_the_last_response_is_the_servers(recording: Recording) -> None:
    evidence = read(recording.content)
    assert isinstance(evidence, UsedTokens)
    call = recording.main_calls[evidence.identity[-1]]
    assert evidence.usage is not None
    assert evidence.usage.input_tokens == call["uncached_input"]
    assert evidence.usage.cache_read_tokens == call["cache_read"]
    assert evidence.usage.cache_write_tokens == call["cache_write"]
    if call["outcome"] == "complete":
        assert evidence.usage.output_tokens == call["output"]
    assert evidence.model is not None
    assert evidence.model.id == call["model"]


@each_recording
def test_only_new_versions_tell_whether_the_long_window_was_asked_for(
    recording: Recording,
) -> None:
    evidence = read(recording.content)
    assert isinstance(evidence, UsedTokens)
    assert evidence.model is not None
    is_new = recording.name.startswith("claude/")
    asked_for = recording.name.endswith("1m")
    assert evidence.model.long_context_marker is (asked_for if is_new else None)


@each_recording
def test_the_rows_of_the_conversation_are_recognised_and_no_others(recording: Recording) -> None:
    recognise = TRANSCRIPT.recognise
    assert recognise is not None
    recognised = {line.row["type"] for line in recording.lines if recognise(line.row)}
    assert {"user", "assistant"} <= recognised <= {"user", "assistant", "system", "attachment"}


# -- any moment -------------------------------------------------------------------------------


@each_recording
def test_every_number_of_rows_shows_the_truth_of_the_newest_call(recording: Recording) -> None:
    for count, truth in enumerate(truths(recording)):
        content = first_rows(recording, count)
        assert shown(read(content)) == truth
        if truth not in EARLY_GAPS:
            assert shown(read(content, session_id=recording.session_id)) == truth
            assert shown(read(content, session_id="another")) == "session_mismatch"


@each_recording
def test_a_row_that_is_not_wholly_written_is_never_a_row(recording: Recording) -> None:
    # An object ends in a brace: no other cut needs to be tried.
    for line in recording.lines:
        raw = recording.content[line.start : line.stop]
        end = raw.find(b"}")
        while end < len(raw) - 1:
            assert decode_object(raw[: end + 1]) is None
            end = raw.find(b"}", end + 1)


def cuts(recording: Recording) -> Iterator[int]:
    """Yield the bytes at which a recording is cut: all of them where it is short.

    Elsewhere a torn row is bytes without an object, as the test above shows: every row is cut at
    both ends and inside, and those that decide at every byte.
    """
    if len(recording.content) < 10_000:
        yield from range(len(recording.content) + 1)
        return
    for line in recording.lines:
        if _decides(line) and recording.name in {"claude/h-tui", "claude/f-subagent"}:
            yield from range(line.start, line.stop + 1)
        else:
            yield from (line.start + 1, (line.start + line.stop) // 2, line.stop - 1, line.stop)


def _decides(line: Line) -> bool:
    return line.row["type"] == "assistant" or line.row.get("subtype") == "compact_boundary"


@pytest.mark.once
@each_recording
def test_a_cut_at_any_byte_shows_the_newest_whole_row(recording: Recording) -> None:
    stops = [line.stop for line in recording.lines]
    seen = truths(recording)
    for cut in cuts(recording):
        assert shown(read(recording.content[:cut])) == seen[bisect_right(stops, cut)]


@each_recording
def test_bytes_before_the_window_decide_only_whether_there_is_an_answer(
    recording: Recording,
) -> None:
    whole = read(recording.content)
    size = len(recording.content)
    for line in recording.lines:
        for start in (line.start - 1, line.start, (line.start + line.stop) // 2):
            window = size - max(start, 0)
            found = read(recording.content, window=window, budget=window)
            assert found == whole or shown(found) in {"budget_exhausted", "chain_truncated"}
            assert read(recording.content, window=window, budget=size) == whole


# -- turns ------------------------------------------------------------------------------------


def turns(recording: Recording) -> dict[str, list[int]]:
    """Return the main calls of each turn, by the ``promptId`` above them."""
    rows = {line.row["uuid"]: line.row for line in recording.lines if "uuid" in line.row}
    found: dict[str, list[int]] = {}
    for line in recording.lines:
        call = recording.call_of(line)
        if call is None:
            continue
        row = line.row
        while "promptId" not in row:
            row = rows[row["parentUuid"]]
        calls = found.setdefault(row["promptId"], [])
        if call["n"] not in calls:
            calls.append(call["n"])
    return found


with_turns = pytest.mark.parametrize(
    "recording", [r for r in RECORDINGS if r.name.startswith("claude/")], ids=lambda r: r.name
)


@with_turns
@pytest.mark.parametrize("phase", list(Phase))
def test_every_call_is_its_own_turns_and_an_ended_turn_keeps_its_last(
    recording: Recording, phase: Phase
) -> None:
    ends, prompts = ends_of_calls(recording), turns(recording)
    assert prompts
    for prompt_id, calls in prompts.items():
        for call, count in ends.items():
            content = first_rows(recording, count)
            found = shown(read(content, turn_id=prompt_id, phase=phase))
            made = [of_turn for of_turn in calls if of_turn <= call]
            is_told = call in calls or (
                phase is Phase.TERMINAL and made and not is_compacted(content, ends[made[-1]])
            )
            last = recording.main_calls[f"msg_mock{made[-1]:04}"] if is_told else {}
            assert found == last.get("prompt_tokens", "turn_not_found")


def is_compacted(content: bytes, since: int) -> bool:
    """Tell whether the conversation was compacted after its first *since* rows."""
    return any(b'"compact_boundary"' in row for row in content.splitlines()[since:])


@pytest.mark.parametrize(
    "recording", [r for r in RECORDINGS if not r.name.startswith("claude/")], ids=lambda r: r.name
)
def test_old_versions_record_no_turns_but_times(recording: Recording) -> None:
    evidence = read(recording.content)
    assert isinstance(evidence, UsedTokens)
    assert evidence.measured_at is not None
    active: dict[str, Any] = {"phase": Phase.ACTIVE, "turn_id": "9b50f700"}
    assert shown(read(recording.content, **active)) == "turn_ids_not_recorded"
    found = read(recording.content, **active, turn_started_at=evidence.measured_at)
    assert found == evidence
    later = evidence.measured_at + timedelta(milliseconds=1)
    assert shown(read(recording.content, **active, turn_started_at=later)) == "turn_not_found"


@with_turns
def test_at_every_hook_the_number_is_of_the_hooks_own_turn_or_missing(
    recording: Recording,
) -> None:
    prompts = turns(recording)
    hooks = zip(
        recording.beside("hooks.jsonl"), recording.beside("hooks-timing.jsonl"), strict=True
    )
    measured = 0
    for hook, state in hooks:
        if "prompt_id" not in hook or "agent_id" in hook or "rows" not in state:
            continue
        evidence = read(
            first_rows(recording, state["rows"]),
            session_id=hook["session_id"],
            turn_id=hook["prompt_id"],
            phase=Phase.ACTIVE,
        )
        newest = recording.main_calls.get(state.get("last_usage_id", ""))
        if newest is not None and newest["n"] in prompts.get(hook["prompt_id"], []):
            assert shown(evidence) == newest["prompt_tokens"]
            measured += 1
        else:
            assert isinstance(evidence, Gap)
    assert measured


@pytest.mark.parametrize(
    "recording", [r for r in RECORDINGS if "h-tui" in r.name], ids=lambda r: r.name
)
def test_the_transcript_shows_what_the_status_line_shows(recording: Recording) -> None:
    lines = zip(
        recording.beside("statusline.jsonl"),
        recording.beside("statusline-timing.jsonl"),
        strict=True,
    )
    compared = 0
    for payload, state in lines:
        if "rows" not in state:
            continue
        evidence = read(first_rows(recording, state["rows"]))
        total = payload["context_window"]["total_input_tokens"]
        assert shown(evidence) == (total or "compacted")
        compared += bool(total)
    assert compared


# -- sub-agents -------------------------------------------------------------------------------


def _agent_files() -> list[Any]:
    files = []
    for recording in RECORDINGS:
        for path in sorted((recording.folder / "session").rglob("agent-*.jsonl")):
            name = f"{recording.name}/{path.stem}"
            files.append(pytest.param(recording, path.stem[len("agent-") :], path, id=name))
    return files


@pytest.mark.parametrize(("recording", "agent_id", "path"), _agent_files())
def test_a_sub_agents_file_shows_that_sub_agent_only(
    recording: Recording, agent_id: str, path: Any
) -> None:
    content = path.read_bytes()
    assert shown(read(content)) == "session_mismatch"
    evidence = read(content, agent_id=agent_id)
    assert isinstance(evidence, UsedTokens)
    call = recording.truth["calls"][int(evidence.identity[-1][-4:]) - 1]
    assert call["role"] in {"subagent", "side"}
    assert shown(evidence) == call["prompt_tokens"]
    assert shown(read(content, agent_id="another")) == "session_mismatch"


def test_a_sub_agent_of_a_running_turn_is_of_that_turn() -> None:
    recording = next(r for r in RECORDINGS if r.name == "claude/f-subagent")
    path = next(recording.folder.rglob("agent-*.jsonl"))
    (prompt_id,) = turns(recording)
    asked: dict[str, Any] = {
        "session_id": recording.session_id,
        "agent_id": "a54e51b23b1dadccb",
        "phase": Phase.ACTIVE,
    }
    assert shown(read(path.read_bytes(), **asked, turn_id=prompt_id)) == 2_255
    assert shown(read(path.read_bytes(), **asked, turn_id="another")) == "turn_not_found"


def test_inline_sidechains_of_old_versions_change_nothing() -> None:
    recording = next(r for r in RECORDINGS if r.name == "claude-1.0.60/f-subagent")
    assert sum(line.row["isSidechain"] for line in recording.lines) == 5
    for count in range(1, len(recording.lines) + 1):
        rows = first_rows(recording, count)
        main = [raw for raw in rows.splitlines() if b'"isSidechain":false' in raw]
        assert read(rows) == read(b"\n".join(main))


def test_a_moment_of_the_file_is_in_utc() -> None:
    recording = next(r for r in RECORDINGS if r.name == "claude/a-simple")
    evidence = read(recording.content)
    assert isinstance(evidence, UsedTokens)
    assert evidence.measured_at == datetime(2026, 11, 29, 18, 28, 17, 6_000, tzinfo=UTC)


@each_recording
def test_a_response_that_nothing_follows_is_found_as_any_other(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = [line.stop + 1 for line in recording.lines]
    asked = [{"phase": phase} for phase in Phase] + [{"session_id": "another"}, {"agent_id": "a"}]

    def answers() -> list[Evidence]:
        return [
            read(recording.content[:end], window=16 * 1024, **question)
            for end in ends[:: 1 + len(ends) // 30]
            for question in asked
        ]

    at_once, found = answers(), transcript._standing_response
    monkeypatch.setattr(
        transcript, "_standing_response", lambda thread, query, _: found(thread, query, None)
    )
    assert answers() == at_once
