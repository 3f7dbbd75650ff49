"""What Harnery's readers and recorder are tested for, line by line, under our names.

The lines are those of formats/harnery.md §5.2 (readers), §5.3 (recorder) and §8 (problems found),
as far as they are about context. Where we answer otherwise the sentence says so.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hooked import KEY, ClaudeSession, CodexSession, Session, measured

import ctxmeasure as cm
from ctxmeasure import (
    Missing,
    MissingReason,
    Observed,
    Phase,
    ReadBudget,
    TokenMeasurement,
    observe,
    testing,
)
from ctxmeasure.sampler import Boundary, Sampler
from ctxmeasure.testing import databases
from ctxmeasure.testing.claude import rows as claude_rows
from ctxmeasure.testing.codex import rows as codex_rows
from ctxmeasure.testing.cursor import payloads as cursor_payloads
from ctxmeasure.testing.session import joined
from ctxmeasure.track import End

SECOND = timedelta(seconds=1)
START = testing.START

BEHAVIOURS: dict[str, tuple[str, Callable[[Path], None]]] = {}

# Lines that are about finding files, which is asked of `discover` and not of a hook: it names its
# file. And one about a terminal's own telemetry of tuning, which is no context.
ELSEWHERE = {"5.2.9", "5.2.11"}


def behaviour(line: str, sentence: str) -> Callable[[Callable[[Path], None]], None]:
    def register(test: Callable[[Path], None]) -> None:
        assert line not in BEHAVIOURS
        BEHAVIOURS[line] = (sentence, test)

    return register


def codex(folder: Path, **changes: Any) -> CodexSession:
    return CodexSession(folder=folder, session=Session(Sampler(agent="codex", key=KEY, **changes)))


def claude(folder: Path, **changes: Any) -> ClaudeSession:
    return ClaudeSession(
        folder=folder, session=Session(Sampler(agent="claude", key=KEY, **changes))
    )


def said(observation: cm.Observation) -> int | str:
    """Return the used tokens, or the reason why there are none."""
    if isinstance(observation, Missing):
        return observation.reason.value
    assert isinstance(observation.value, TokenMeasurement)
    return observation.value.used_tokens


def asked_of_codex(writer: codex_rows.RolloutRows, **asked: Any) -> cm.Observation:
    question = {
        "session_id": writer.thread_id,
        "turn_id": writer.turn_id,
        "phase": Phase.TERMINAL,
        "at": writer.now,
    }
    return observe("codex.rollout", writer.content, **{**question, **asked})


def asked_of_claude(writer: claude_rows.TranscriptRows, **asked: Any) -> cm.Observation:
    question = {
        "session_id": writer.session_id,
        "turn_id": writer.prompt_id,
        "phase": Phase.TERMINAL,
        "at": writer.now,
    }
    return observe("claude.transcript", writer.content, **{**question, **asked})


# -- 5.2: the readers -----------------------------------------------------------------------------


def one_codex_turn(*used: int) -> codex_rows.RolloutRows:
    writer = codex_rows.RolloutRows()
    writer.begin()
    writer.start()
    for count in used:
        writer.respond(count)
    return writer


@behaviour("5.2.1", "a count between a turn's start and end is measured when its row says")
def _(_: Path) -> None:
    writer = one_codex_turn(10_000)
    counted_at = writer.now - SECOND
    writer.end()
    observation = asked_of_codex(writer)
    assert isinstance(observation, Observed)
    assert said(observation) == 10_000
    assert counted_at - 2 * SECOND <= observation.value.measured_at <= counted_at


@behaviour("5.2.2", "no word of a message is in what is observed")
def _(folder: Path) -> None:
    session = codex(folder)
    session.turn()
    session.rows.row("response_item", {"type": "message", "content": "SENTINEL"})
    session.respond(10_000)
    session.hook("Stop", last_assistant_message="SENTINEL")
    assert session.session.said == [10_000]
    assert "SENTINEL" not in repr(session.session)


@behaviour("5.2.3", "what lies before the window is not read")
def _(_: Path) -> None:
    writer = codex_rows.RolloutRows()
    writer.begin()
    for _row in range(512):
        writer.row("response_item", {"type": "message", "content": "x" * 1024})
    writer.start()
    writer.respond(10_000)
    writer.end()
    observation = asked_of_codex(writer)
    assert said(observation) == 10_000
    assert observation.provenance.stats.bytes_read <= 64 * 1024 + 64 * 1024  # and the first row


@behaviour("5.2.4", "a turn without its end is not finished, another turn is not found")
def _(_: Path) -> None:
    writer = one_codex_turn(10_000)
    assert said(asked_of_codex(writer)) == "turn_not_finished"
    assert said(asked_of_codex(writer, turn_id=codex_rows.turn(99))) == "turn_not_found"


@behaviour("5.2.5", "an active turn takes its own count and not the turn's before")
def _(_: Path) -> None:
    writer = one_codex_turn(10_000)
    writer.end()
    writer.start()
    assert said(asked_of_codex(writer, phase=Phase.ACTIVE)) == "turn_not_found"
    writer.respond(20_000)
    assert said(asked_of_codex(writer, phase=Phase.ACTIVE)) == 20_000


@behaviour("5.2.6", "with the turn's start out of reach, a count of before the turn is not of it")
def _(_: Path) -> None:
    writer = one_codex_turn()
    began = writer.now
    for _row in range(50):
        writer.row("response_item", {"type": "message", "content": "x" * 2048})
    writer.respond(30_000)
    active = {"phase": Phase.ACTIVE, "budget": ReadBudget(initial=8192, maximum=80_000)}
    assert said(asked_of_codex(writer, turn_started_at=began, **active)) == 30_000
    # Harnery: turn_not_found. The row names its turn, so it is known to be an earlier count.
    later = writer.now + SECOND
    assert said(asked_of_codex(writer, turn_started_at=later, **active)) == "carried_over"


@behaviour("5.2.7", "no count of the turn, no such turn, an old count: each has its name")
def _(_: Path) -> None:
    writer = one_codex_turn(10_000)
    active = {"phase": Phase.ACTIVE}
    old = writer.now + 40 * SECOND
    assert said(asked_of_codex(writer, at=old, **active)) == "sample_stale"
    writer.end()
    writer.start()
    assert said(asked_of_codex(writer, **active)) == "turn_not_found"
    assert said(asked_of_codex(writer, turn_id=codex_rows.turn(99), **active)) == ("turn_not_found")


@behaviour("5.2.8", "a count long before the turn's end is stale, the turn's before is not taken")
def _(_: Path) -> None:
    writer = one_codex_turn(10_000)
    for _row in range(40):  # a second each
        writer.row("response_item", {"type": "message", "content": []})
    writer.end()
    assert said(asked_of_codex(writer)) == "sample_stale"
    writer.start()
    writer.end()
    assert said(asked_of_codex(writer)) == "turn_not_found"


@behaviour("5.2.10", "a hook without a path asks the file that an earlier one named")
def _(folder: Path) -> None:
    session = codex(folder)
    session.turn()
    session.respond(10_000)
    (folder / f"rollout-2026-11-30T18-00-00-{session.rows.thread_id}.jsonl").write_bytes(b"")
    assert session.hook("Stop", transcript_path=None) == [10_000]


@behaviour("5.2.12", "a file of another session is a mismatch, whatever its name")
def _(_: Path) -> None:
    writer = one_codex_turn(10_000)
    writer.end()
    other = "01a22891-0000-7000-8000-0000000000ff"
    assert said(asked_of_codex(writer, session_id=other)) == "session_mismatch"


def one_claude_turn(used: int, **message: Any) -> claude_rows.TranscriptRows:
    writer = claude_rows.TranscriptRows()
    writer.prompt()
    writer.response(used, message=message)
    return writer


@behaviour("5.2.13", "an unknown model leaves the count, in private")
def _(_: Path) -> None:
    observation = asked_of_claude(one_claude_turn(60, model="claude-opus-fixture"))
    assert isinstance(observation, Missing)
    assert observation.reason is MissingReason.MODEL_UNKNOWN
    assert observation.partial is not None
    assert observation.partial.used_tokens == 60
    event = cm.record.context_observed(observation, session_key="s", key=KEY)
    assert "60" not in json.dumps(event["payload"])


@behaviour("5.2.14", "a model that decides its window by itself is inferred and high")
def _(_: Path) -> None:
    for model in ("claude-opus-5", "claude-opus-4-8"):
        observation = asked_of_claude(one_claude_turn(60, model=model))
        assert isinstance(observation, Observed)
        assert isinstance(observation.value, TokenMeasurement)
        assert observation.value.limit_tokens == 1_000_000
        assert (observation.attestation, observation.confidence) == ("inferred", "high")
    # Harnery: 1,000,000. A setting decides this one's window, and we do not guess.
    observation = asked_of_claude(one_claude_turn(60, model="claude-sonnet-4-6"))
    assert said(observation) == "window_ambiguous"


@behaviour("5.2.15", "an active turn's count is the sum of its prompt, and fresh, and its own")
def _(_: Path) -> None:
    usage = {
        "input_tokens": 300,
        "cache_creation_input_tokens": 320,
        "cache_read_input_tokens": 68_000,
        "output_tokens": 9,
    }
    writer = one_claude_turn(0, usage=usage)
    active = {"phase": Phase.ACTIVE}
    assert said(asked_of_claude(writer, **active)) == 68_620
    assert said(asked_of_claude(writer, at=writer.now + 360 * SECOND, **active)) == "sample_stale"
    assert said(asked_of_claude(writer, turn_id="other", **active)) == "turn_not_found"


def composer(path: Path, percent: float, *, seconds: int = 0) -> Path:
    """Write a database of Cursor's IDE with a chat that was updated *seconds* after the start."""
    updated = int((START + seconds * SECOND).timestamp())
    chat = {
        "composerId": cursor_payloads.SESSION,
        "lastUpdatedAt": updated * 1000,
        "contextUsagePercent": percent,
    }
    key = f"composerData:{cursor_payloads.SESSION}"
    databases.write(path, {"cursorDiskKV": {key: json.dumps(chat)}})
    os.utime(path, (updated, updated))
    return path


def of_composers(*paths: Path, **asked: Any) -> cm.Observation:
    question = {"at": START + 10 * SECOND, "session_id": cursor_payloads.SESSION}
    source = cm.cursor.COMPOSER
    return cm.observe_newest(source, paths, query=cm.Query(**{**question, **asked}))[0]


def cursor(*paths: Path, **changes: Any) -> Session:
    found = {"cursor.composer": [str(path) for path in paths]}
    return Session(Sampler(agent="cursor", key=KEY, databases=found, **changes))


@behaviour("5.2.16", "a percentage is measured without a limit, also while a turn runs")
def _(folder: Path) -> None:
    path = composer(folder / "state.vscdb", 63.5)
    for phase in Phase:
        observation = of_composers(path, phase=phase)
        assert isinstance(observation, Observed)
        assert observation.value.used_percent == 63.5
        assert "limit_tokens" not in cm.record.dumps(observation)


@behaviour("5.2.17", "the database that held the session is asked first from then on")
def _(folder: Path) -> None:
    session = cursor(composer(folder / "a", 63.5), folder / "b")
    session.take(cursor_payloads.hook("stop"), now=START + SECOND)
    composer(folder / "b", 90, seconds=2)
    session.take(cursor_payloads.hook("stop"), now=START + 3 * SECOND)
    assert session.said == [63.5]


@behaviour("5.2.18", "a percentage can be stale, absent, or ambiguous over two databases")
def _(folder: Path) -> None:
    path = composer(folder / "a", 10)
    assert said(of_composers(path, phase=Phase.ACTIVE, at=START + 60 * SECOND)) == "sample_stale"
    assert said(of_composers(path, session_id="another")) == "session_not_found"
    assert said(of_composers(path, composer(folder / "b", 20))) == "session_ambiguous"


@behaviour("5.2.19", "an older prompt is answered with its own last count, not with a newer one's")
def _(_: Path) -> None:
    writer = one_claude_turn(60)
    older, writer.prompt_id = writer.prompt_id, "9b50f700-0000-4000-8000-000000000002"
    writer.prompt()
    writer.response(600)
    assert said(asked_of_claude(writer)) == 600
    assert said(asked_of_claude(writer, turn_id=older)) == 60
    assert said(asked_of_claude(writer, turn_id="missing")) == "turn_not_found"
    assert said(asked_of_claude(writer, session_id="another")) == "session_mismatch"


@behaviour("5.2.20", "a response behind a compaction is of the prompt before it, if it says so")
def _(_: Path) -> None:
    writer = one_claude_turn(60)
    writer.compaction()
    assert said(asked_of_claude(writer)) == "compacted"
    writer.response(73)
    assert said(asked_of_claude(writer)) == 73


@behaviour("5.2.21", "a window that begins at the response's row does not lose it, nor its prompt")
def _(_: Path) -> None:
    writer = one_claude_turn(60)
    last = len(joined(writer.rows[-1:]))
    budget = ReadBudget(initial=last, maximum=last + 1)  # and the line break before it
    # Within the budget the prompt is not to be seen: a row that a compaction preserved looks the
    # same without it. By itself the window grows until it is.
    for asked in ({}, {"turn_id": None, "phase": Phase.LATEST}):
        assert said(asked_of_claude(writer, **asked, budget=budget)) == "chain_truncated"
        grows = ReadBudget(initial=last)
        assert said(asked_of_claude(writer, **asked, budget=grows)) == 60  # Harnery: lost


@behaviour("5.2.22", "a prompt alone is no turn yet, and is one after its response")
def _(_: Path) -> None:
    writer = claude_rows.TranscriptRows()
    writer.prompt()
    assert said(asked_of_claude(writer)) == "not_measured_yet"
    writer.response(109)
    assert said(asked_of_claude(writer)) == 109


# -- 5.3: the recorder ----------------------------------------------------------------------------


@behaviour("5.3.1", "a stop with nothing to read says that the payload reports no usage")
def _(folder: Path) -> None:
    for session in (claude(folder), codex(folder)):
        said_at_the_stop = session.hook("Stop", transcript_path=..., turn_id=...)
        assert said_at_the_stop == ["usage_not_reported"]
        assert session.session.state.pending.targets == ()


@behaviour("5.3.2", "a stop without the prompt's id is of the last prompt")
def _(folder: Path) -> None:
    session = claude(folder)
    session.turn("prompt-1")
    session.respond(60, message={"model": "claude-opus-fixture"})
    assert session.hook("Stop", prompt_id=...) == ["model_unknown"]
    session.turn("prompt-2")
    session.respond(61, message={"model": "claude-opus-fixture"})
    assert session.hook("Stop", prompt_id=...) == ["model_unknown"]
    first, second = (event.body for event in session.session.events)
    assert first["scope"]["turn_id"] != second["scope"]["turn_id"]
    assert first["provenance"]["attestation"] == "derived"
    assert first["provenance"]["confidence"] == "high"
    assert first["runtime_attestation"] == second["runtime_attestation"]


@behaviour("5.3.3", "a known model is inferred and high, and what remains is written")
def _(folder: Path) -> None:
    session = claude(folder)
    session.turn("prompt-1")
    session.respond(60, message={"model": "claude-opus-5"})
    session.hook("Stop")
    (event,) = session.session.events
    measurement = event.body["payload"]["measurement"]
    assert measurement["value"]["remaining_tokens"] == 999_940
    assert (measurement["attestation"], measurement["confidence"]) == ("inferred", "high")


@behaviour("5.3.4", "a percentage is one event without a limit, a path or an id")
def _(folder: Path) -> None:
    session = cursor(composer(folder / "state.vscdb", 41.25))
    session.take(cursor_payloads.hook("stop"), now=START + SECOND)
    (event,) = session.events
    assert event.body["payload"]["measurement"]["value"]["remaining_percent"] == 58.75
    for secret in ("limit_tokens", str(folder), cursor_payloads.SESSION):
        assert secret not in event.line()


@behaviour("5.3.5", "a rollout's count is derived and exact, with its sample's id")
def _(folder: Path) -> None:
    session = codex(folder)
    session.turn()
    session.respond(120_000)
    session.hook("Stop")
    (event,) = session.session.events
    assert event.body["provenance"]["attestation"] == "derived"
    assert event.body["provenance"]["confidence"] == "exact"
    assert str(event.source_record_id).startswith("hid_")
    assert event.body["time"]["observed_at"] == (
        session.rows.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    )
    telemetry = event.body["runtime_attestation"]["telemetry"]["context_usage"]
    assert telemetry["value"] == {
        "support": "derived",
        "source": "codex.rollout_token_count",
        "completeness": "exact",
    }
    value = event.body["payload"]["measurement"]["value"]
    assert round(100 * value["used_tokens"] / value["limit_tokens"], 1) == 46.4


@behaviour("5.3.6", "a duplicate that appears later does not break the next turn")
def _(folder: Path) -> None:
    session = codex(folder)
    session.turn()
    session.respond(10_000)
    session.hook("Stop", transcript_path=None)
    (folder / f"copy-of-{session.rows.thread_id}.jsonl").write_bytes(session.rows.content)
    session.end()
    session.turn()
    session.respond(20_000)
    session.hook("Stop", transcript_path=None)
    assert session.session.said == [10_000, 20_000]


@behaviour("5.3.7", "a command may wait for the last row, and ask again from the same state")
def _(folder: Path) -> None:
    session = claude(folder)
    session.turn("prompt-1")
    before = session.session.state
    assert session.hook("Stop") == ["not_measured_yet"]
    assert session.session.state.pending.targets
    session.session.state = before  # the state is a value: what was not saved has not happened
    session.session.events.clear()
    session.respond(10_000)
    assert session.hook("Stop", later=0.05) == [10_000]
    assert session.session.said == [10_000]
    # Harnery: nothing is pending. Here the next hook still asks whether that was the last row.
    assert session.hook("Notification", later=2) == []
    assert session.session.state.pending.targets == ()


@behaviour("5.3.8", "a row that comes after the stop is found by a later hook")
def _(folder: Path) -> None:
    session = claude(folder)
    session.turn("prompt-1")
    session.hook("Stop")
    session.respond(10_000)
    assert session.hook("Notification", later=1) == [10_000]
    assert session.session.said == ["not_measured_yet", 10_000]
    assert [each.end for each in session.session.state.ended] == [End.FOUND]
    missing, found = (event.body for event in session.session.events)
    assert missing["scope"]["turn_id"] == found["scope"]["turn_id"]


@behaviour("5.3.9", "a tool's hooks look every 15 s, publish each sample once, share it with stop")
def _(folder: Path) -> None:
    session = codex(folder)
    session.turn()
    session.respond(120_000, calls=True)
    assert session.hook("PostToolUse") == [120_000]
    session.respond(140_000, calls=True)
    assert session.hook("PostToolUse") == []  # within 15 s
    assert session.hook("PostToolUse", later=11) == [140_000]
    assert session.hook("PostToolUse", later=26) == []  # nothing new
    assert session.hook("Stop", later=27) == []
    session.end()
    assert session.hook("SessionEnd", later=27) == []
    assert session.session.said == [120_000, 140_000]


@behaviour("5.3.10", "a sample of a running Claude turn is not published again at its stop")
def _(folder: Path) -> None:
    session = claude(folder)
    session.turn("prompt-1")
    session.respond(10_000)
    assert session.hook("PostToolUse") == [10_000]
    assert session.hook("Stop") == []
    session.respond(20_000)
    assert session.hook("Stop") == [20_000]


@behaviour("5.3.11", "what is late is found by the next prompt, or when the session ends")
def _(folder: Path) -> None:
    for event in ("UserPromptSubmit", "SessionEnd"):
        session = codex(folder)
        session.turn()
        assert session.hook("Stop") == ["turn_not_found"]
        session.respond(10_000)
        session.end()
        assert session.hook(event, later=1, turn_id=...) == [10_000]
        assert session.session.state.pending.targets == ()
        pending = session.session.state.to_dict()["pending"]
        assert pending == {"targets": []}


@behaviour("5.3.12", "a stop that names neither path nor turn is of the last that were named")
def _(folder: Path) -> None:
    session = codex(folder)
    session.turn()
    assert session.hook("Stop", transcript_path=None, turn_id=...) == ["turn_not_found"]
    (target,) = session.session.state.pending.targets
    assert target.turn_id == session.rows.turn_id
    assert target.retries == 0


@behaviour("5.3.13", "the session's end is the last chance: what is there is found, else given up")
def _(folder: Path) -> None:
    for is_written, said_at_the_end, end in (
        (True, [10_000], End.FOUND),
        (False, [], End.SESSION_ENDED),
    ):
        session = claude(folder)
        session.turn("prompt-1")
        session.hook("Stop")
        if is_written:
            session.respond(10_000)
        assert session.hook("SessionEnd", later=0.01) == said_at_the_end
        assert [each.end for each in session.session.state.ended] == [end]


@behaviour("5.3.14", "two later hooks ask again, and then nobody does")
def _(folder: Path) -> None:
    session = claude(folder)
    session.turn("prompt-1")
    session.hook("Stop")
    session.hook("PreCompact", later=1)
    assert [target.retries for target in session.session.state.pending.targets] == [1]
    session.hook("PostCompact", later=2)
    assert [each.end for each in session.session.state.ended] == [End.RETRIES_EXHAUSTED]
    assert session.session.state.pending.targets == ()


@behaviour("5.3.15", "a local Cursor without a database says that there is none")
def _(_: Path) -> None:
    session = cursor()
    session.take(cursor_payloads.hook("stop"), now=START)
    assert session.said == ["source_absent"]


@behaviour("5.3.16", "a Cursor in the cloud is unsupported, and its databases are not asked")
def _(folder: Path) -> None:
    session = cursor(composer(folder / "state.vscdb", 41.25))
    for cloud in ({"is_background_agent": True}, {"conversation_id": "bc-1", "session_id": "bc-1"}):
        session.take(cursor_payloads.hook("stop", **cloud), now=START)
        session.take(cursor_payloads.hook("postToolUse", **cloud), now=START)
    assert session.said == ["unsupported", "unsupported"]
    # But what the payload itself has is measured.
    events = session.take({**cursor_payloads.PRE_COMPACT, "is_background_agent": True}, now=START)
    assert measured(events) == [185_000]


# -- 8: problems found, done right ----------------------------------------------------------------


@behaviour("8.1", "the agent is named, and not to be told from the beginning of another name")
def _(folder: Path) -> None:
    session = claude(folder)
    session.turn("prompt-1")
    session.respond(10_000)
    session.hook("Stop")
    assert session.session.events[0].body["adapter"] == "claude-code"


@behaviour("8.2", "what a payload states at a stop is published once, as anything else")
def _(_: Path) -> None:
    session = cursor()
    stopped = cursor_payloads.PRE_COMPACT
    for boundary in (Boundary.TOOL_COMPLETED, Boundary.STOP, Boundary.STOP):
        session.take(stopped, now=START, boundary=boundary)
    assert session.said == [185_000]


@behaviour("8.3", "a sample that comes back behind another one is not published again")
def _(folder: Path) -> None:
    session = claude(folder)
    session.turn("prompt-1")
    session.respond(10_000)
    first = session.rows.content
    session.hook("Stop")
    session.respond(20_000)
    session.hook("Stop")
    session._path().write_bytes(first)
    session.hook("Stop")
    assert session.session.said == [10_000, 20_000]


@behaviour("8.4", "a row without a time is no missing limit, and a synthetic row is no sample")
def _(_: Path) -> None:
    writer = claude_rows.TranscriptRows()
    writer.prompt()
    writer.response(60, timestamp=testing.ABSENT)
    assert said(asked_of_claude(writer)) == "time_not_reported"
    writer.response(61)
    writer.error()
    assert said(asked_of_claude(writer)) == 61
    old = evolve(cm.DEFAULT_POLICY, max_age=30 * SECOND)
    late = {"at": writer.now + 60 * SECOND, "policy": old}
    assert said(asked_of_claude(writer, **late)) == "sample_stale"


@behaviour("8.5", "the event says what was counted, and the prompt alone can be asked for")
def _(folder: Path) -> None:
    session = codex(folder)
    session.turn()
    session.respond(10_000)
    session.hook("Stop")
    prompt = codex(folder, policy=cm.Policy(counts="prompt"))
    prompt.rows = session.rows
    prompt.hook("Stop")
    whole, part = session.session.events[0].body, prompt.session.events[0].body
    assert whole["basis"]["used"] == "prompt_and_output"
    assert part["basis"]["used"] == "prompt"
    used = [body["payload"]["measurement"]["value"]["used_tokens"] for body in (whole, part)]
    assert used == [10_000, 9_960]


@behaviour("8.9", "a Codex turn has no end at its stop, and is measured all the same")
def _(folder: Path) -> None:
    session = codex(folder)
    session.turn()
    session.respond(10_000)
    assert session.hook("Stop") == [10_000]
    session.end()
    assert session.hook("SessionEnd") == []


# -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", BEHAVIOURS, ids=lambda line: f"{line} {BEHAVIOURS[line][0]}")
def test_harnerys_behaviours(line: str, tmp_path: Path) -> None:
    BEHAVIOURS[line][1](tmp_path)


def test_every_line_about_context_is_held() -> None:
    readers = {f"5.2.{number}" for number in range(1, 23)}
    recorder = {f"5.3.{number}" for number in range(1, 17)}
    assert readers | recorder <= BEHAVIOURS.keys() | ELSEWHERE
