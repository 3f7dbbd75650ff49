"""The verb of histories: every moment is what `observe` says of the file when it is cut there."""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any

import pytest
from attrs import evolve
from claude_sessions import RECORDINGS, Recording
from codex_sessions import ROLLOUTS
from hypothesis import given
from hypothesis import strategies as st
from pi_rows import RUNS, VERSION_SESSIONS

import ctxmeasure as cm
from ctxmeasure import Missing, MissingReason, Observation, Observed, Policy, history
from ctxmeasure.adapters.claude import history as claude_history
from ctxmeasure.bounded import scan as scans
from ctxmeasure.history import Mark, Moment
from ctxmeasure.measurement import TokenMeasurement
from ctxmeasure.testing import ABSENT
from ctxmeasure.testing.claude.rows import TranscriptRows
from ctxmeasure.testing.codex.rows import RolloutRows
from ctxmeasure.testing.properties import said
from ctxmeasure.testing.session import joined

AT = datetime(2026, 11, 29, 22, 0, tzinfo=UTC)
"""After every recording."""

WHOLE = cm.ReadBudget(initial=2**24, maximum=2**24)
CLAUDE = "claude.transcript"
CODEX = "codex.rollout"
PI = "pi.session"
AGENT = "a54e51b23b1dadccb"


def told(source: str, data: Any, **asked: Any) -> list[Moment]:
    return list(history.scan(source, data, **{"at": AT, **asked}))


def of(session: TranscriptRows | RolloutRows, **asked: Any) -> list[Moment]:
    source = CLAUDE if isinstance(session, TranscriptRows) else CODEX
    return told(source, session.content, **asked)


def shown(observation: Observation) -> int | str:
    """Return the used tokens, or the reason why there are none."""
    if isinstance(observation, Missing):
        return observation.reason.value
    assert isinstance(observation.value, TokenMeasurement)
    return observation.value.used_tokens


def curve(moments: list[Moment]) -> list[int | str]:
    return [shown(moment.observation) for moment in moments]


def marks(moments: list[Moment]) -> list[set[str]]:
    return [{mark.value for mark in moment.marks} for moment in moments]


def observed(source: str, content: bytes, **asked: Any) -> Observation:
    return cm.observe(source, content, at=AT, budget=WHOLE, **asked)


def assert_is_what_a_cut_file_shows(source: str, content: bytes, moments: list[Moment]) -> None:
    for moment in moments:
        cut = observed(source, content[: moment.offset])
        assert said(moment.observation) == said(cut)
    assert said(moments[-1].observation) == said(observed(source, content))
    offsets = [moment.offset for moment in moments]
    assert offsets == sorted(set(offsets))


# -- recordings -----------------------------------------------------------------------------------

FILES = [(CLAUDE, recording.name, recording.content) for recording in RECORDINGS]
FILES += [(CODEX, rollout.name, rollout.content) for rollout in ROLLOUTS]
FILES += [(PI, run.name, run.session.read_bytes()) for run in RUNS]
FILES += [(PI, path.stem, path.read_bytes()) for path in VERSION_SESSIONS]

each_file = pytest.mark.parametrize(
    ("source", "content"),
    [(source, content) for source, _, content in FILES],
    ids=[f"{source}-{name}" for source, name, _ in FILES],
)


@each_file
def test_every_moment_is_what_observe_says_of_the_file_cut_there(
    source: str, content: bytes
) -> None:
    assert_is_what_a_cut_file_shows(source, content, told(source, content))


@each_file
def test_no_state_of_the_file_is_left_out_once_it_has_shown_something(
    source: str, content: bytes
) -> None:
    moments = curve(told(source, content))
    at_each_row, offset = [], 0
    for line in content.splitlines(keepends=True):
        offset += len(line)
        at_each_row.append(shown(observed(source, content[:offset])))
    seen = [state for state, _ in groupby(at_each_row)]
    first = seen.index(moments[0])
    assert [state for state, _ in groupby(moments)] == seen[first:]
    before = {"not_measured_yet", "session_not_found", "carried_over", "usage_not_reported"}
    assert {*seen[:first]} <= before


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.name)
def test_the_samples_are_what_the_server_reported(recording: Recording) -> None:
    counts = [
        call["used_tokens"]
        for call in recording.truth["expected_after"]
        if call["used_tokens"] is not None
    ]
    used = []
    for moment in told(CLAUDE, recording.content):
        match moment.observation:
            case Observed(value=TokenMeasurement(used_tokens=tokens)):
                used.append(tokens)
            case Missing(partial=cm.Partial(used_tokens=int(tokens), estimated=False)):
                used.append(tokens)
    assert [count for count, _ in groupby(used)] == counts


def test_a_switch_of_the_model_is_marked() -> None:
    (rollout,) = (r for r in ROLLOUTS if "modelswitch" in r.name)
    moments = told(CODEX, rollout.content)
    assert marks(moments) == [
        *([set()] * 3),
        {"compacted"},
        set(),
        {"compacted", "model_switched"},
        *([set()] * 3),
    ]


def test_the_same_model_by_another_name_is_no_switch() -> None:
    session = TranscriptRows()
    for named in ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5", "claude-opus-4-5"):
        session.prompt()
        session.response(1_000, message={"model": named})
    assert marks(of(session)) == [set(), set(), {"model_switched"}]


# -- Claude Code ----------------------------------------------------------------------------------


def test_the_rows_of_one_response_are_one_moment_with_the_last_ones_time() -> None:
    session = TranscriptRows()
    session.prompt()
    for _ in range(3):
        session.response(1_000, message_id="msg_1")
    session.tool_result()
    (moment,) = of(session)
    assert isinstance(moment.observation, Observed)
    assert moment.observation.value.measured_at == session.now - timedelta(seconds=2)


def test_responses_that_a_gateway_gave_one_id_are_moments_of_their_own() -> None:
    session = TranscriptRows()
    for used in (1_000, 2_000):
        session.prompt()
        session.response(used, message_id="msg")
    assert curve(of(session)) == [1_000, 2_000]


def test_responses_without_an_id_are_moments_of_their_own() -> None:
    session = TranscriptRows()
    for _ in range(2):
        session.prompt()
        session.response(1_000, message={"id": ABSENT})
    assert curve(of(session)) == [1_000, 1_000]


def test_a_compaction_is_a_moment_and_marked() -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(100_000)
    session.compaction(post=900)
    session.prompt()
    session.response(9_000)
    moments = of(session)
    assert curve(moments) == [100_000, "compacted", 9_000]
    assert marks(moments) == [set(), {"compacted"}, set()]
    (compacted,) = (m.observation for m in moments if isinstance(m.observation, Missing))
    assert compacted.partial is not None
    assert (compacted.partial.used_tokens, compacted.partial.estimated) == (900, True)


@pytest.mark.parametrize("parent", [None, ABSENT])
def test_a_summary_without_a_boundary_is_a_moment_and_marked(parent: Any) -> None:
    session = TranscriptRows()
    session.prompt()
    kept = session.response(100_000)
    session.summary(parentUuid=kept if parent is ABSENT else None)
    session.response(9_000)
    moments = of(session)
    assert curve(moments) == [100_000, "compacted", 9_000]
    assert marks(moments) == [set(), {"compacted"}, set()]
    assert_is_what_a_cut_file_shows(CLAUDE, session.content, moments)


def test_a_summary_whose_ancestry_is_lost_is_left_to_what_follows() -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(100_000, uuid=ABSENT)
    session.summary(parentUuid="lost")
    (sample, end) = of(session)
    assert shown(sample.observation) == 100_000
    assert shown(end.observation) == "chain_broken"
    assert_is_what_a_cut_file_shows(CLAUDE, session.content, [sample, end])


def test_a_summary_that_hangs_off_an_older_row_is_a_moment() -> None:
    session = TranscriptRows()
    request = session.prompt()
    session.response(100_000)
    session.summary(parentUuid=request)
    session.response(9_000)
    assert curve(of(session)) == [100_000, "compacted", 9_000]


def test_a_summary_whose_ancestry_is_no_longer_held_is_a_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scans, "_BLOCK", 512)
    session = TranscriptRows()
    session.prompt()
    session.response(100_000)
    for _ in range(20):
        session.row("progress", text="x" * 400)
    session.summary()
    session.response(9_000)
    assert curve(of(session)) == [100_000, "compacted", 9_000]


def test_rows_that_a_summary_without_a_boundary_is_followed_by_again_are_no_sample() -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(100_000)
    kept = session.rows[-1]
    session.summary(parentUuid=None)
    session.loose({**kept, "parentUuid": session.leaf})
    session.response(9_000)
    moments = of(session)
    assert curve(moments) == [100_000, "compacted", 9_000]
    assert_is_what_a_cut_file_shows(CLAUDE, session.content, moments)


def test_a_response_that_is_written_twice_behind_a_compaction_counts() -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(100_000)
    session.compaction()
    session.prompt()
    session.response(9_000)
    session.loose(session.rows[-1])
    moments = of(session)
    assert curve(moments) == [100_000, "compacted", 9_000]
    assert_is_what_a_cut_file_shows(CLAUDE, session.content, moments)
    session.boundary()
    session.loose(session.rows[-2])
    assert curve(of(session))[-1] == "compacted"
    assert_is_what_a_cut_file_shows(CLAUDE, session.content, of(session))


@pytest.mark.parametrize("builds_on_it", [True, False])
def test_an_older_response_behind_a_newer_one_is_void_and_no_second_compaction(
    builds_on_it: bool,
) -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(100_000)
    kept = session.rows[-1]
    session.compaction(post=900)
    session.prompt()
    session.attachment("model", identity={"modelId": "claude-sonnet-4-5"})
    session.response(9_000)
    session.loose({**kept, "parentUuid": session.leaf})
    session.leaf = kept["uuid"] if builds_on_it else session.leaf
    session.response(9_500)
    moments = of(session)
    assert curve(moments) == [100_000, "compacted", 9_000, "compacted", 9_500]
    is_rewound = set() if builds_on_it else {"rewound"}
    assert marks(moments)[1:] == [{"compacted"}, set(), set(), is_rewound]
    assert_is_what_a_cut_file_shows(CLAUDE, session.content, moments)


def test_responses_of_two_sessions_are_moments_of_their_own_and_no_rewind() -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(1_000, message_id="msg")
    session.leaf, session.session_id = None, "another"
    session.prompt()
    session.response(1_000, message_id="msg", message={"model": "no-such-model"})
    moments = of(session)
    assert curve(moments) == [1_000, "model_unknown"]
    assert marks(moments) == [set(), {"model_switched"}]
    assert_is_what_a_cut_file_shows(CLAUDE, session.content, moments)


def test_a_compaction_of_another_session_is_that_sessions() -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(1_000)
    session.session_id = "another"
    session.boundary(post=900)
    moments = of(session)
    assert curve(moments) == [1_000, "compacted"]
    assert_is_what_a_cut_file_shows(CLAUDE, session.content, moments)
    session.summary()
    session.leaf = None
    session.session_id = "third"
    session.summary()
    session.response(3_000)
    moments = of(session)
    assert curve(moments)[-2:] == ["compacted", 3_000]
    assert_is_what_a_cut_file_shows(CLAUDE, session.content, moments)


def test_a_compaction_of_another_session_voids_nothing() -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(100_000)
    session.compaction()
    session.session_id = "another"
    session.clock -= timedelta(hours=1)
    session.prompt()
    session.response(9_000)
    session.response(9_500)
    assert curve(of(session)) == [100_000, "compacted", 9_000, 9_500]


def test_a_summary_that_begins_the_file_is_of_nothing_that_has_been_seen() -> None:
    session = TranscriptRows()
    session.summary()
    session.response(9_000)
    assert curve(of(session)) == [9_000]


def test_going_back_to_before_a_compaction_is_a_rewind() -> None:
    session = TranscriptRows()
    session.prompt()
    before = session.response(100_000)
    session.compaction()
    session.leaf = before
    session.prompt()
    session.response(101_000)
    moments = of(session)
    assert curve(moments) == [100_000, "compacted", 101_000]
    assert marks(moments) == [set(), {"compacted"}, {"rewound"}]


def test_what_hangs_off_a_summary_builds_on_the_compaction_whatever_that_hangs_off() -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(100_000)
    session.boundary()
    session.summary(parentUuid=None)
    session.response(9_000)
    assert marks(of(session)) == [set(), {"compacted"}, set()]


def test_what_hangs_off_any_row_of_a_response_builds_on_it() -> None:
    session = TranscriptRows()
    request = session.prompt()
    for _ in range(2):
        session.response(100_000, message_id="msg_1", parentUuid=request)
    session.prompt()
    session.response(101_000)
    assert marks(of(session)) == [set(), set()]


def test_rows_that_a_compaction_wrote_again_are_no_sample() -> None:
    session = TranscriptRows()
    session.prompt()
    kept = session.response(100_000)
    then = session.rows[-1]["timestamp"]
    session.boundary(kept=[kept])
    told_by = len(session.content) - 1
    session.summary()
    session.response(100_000, uuid=kept, timestamp=then)
    session.prompt()
    session.response(9_000)
    moments = of(session)
    assert curve(moments) == [100_000, "compacted", 9_000]
    assert moments[1].offset == told_by


def test_rows_that_are_written_again_are_no_sample_though_the_clock_was_set_back() -> None:
    session = TranscriptRows()
    session.prompt()
    for _ in range(2):
        session.response(100_000, message_id="msg_1")
    kept = session.rows[-2:]
    session.clock -= timedelta(hours=1)
    session.compaction()
    for row in kept:
        session.loose({**row, "parentUuid": session.leaf})
        session.leaf = row["uuid"]
    assert curve(of(session)) == [100_000, "compacted"]
    assert said(of(session)[-1].observation) == said(observed(CLAUDE, session.content))


@pytest.mark.parametrize(("newer", "again"), [(1, []), (2, [100_000])])
def test_only_the_newest_responses_are_known_again(
    monkeypatch: pytest.MonkeyPatch, newer: int, again: list[int | str]
) -> None:
    monkeypatch.setattr(claude_history, "_KNOWN_AGAIN", 2)
    session = TranscriptRows()
    session.prompt()
    session.response(100_000)
    kept = session.rows[-1]
    for _ in range(newer):
        session.response(101_000)
    session.clock -= timedelta(hours=1)
    session.compaction()
    session.loose({**kept, "parentUuid": session.leaf})
    session.response(9_000)
    assert curve(of(session))[1 + newer :] == ["compacted", *again, 9_000]


def test_another_response_under_the_uuid_of_one_is_a_sample() -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(100_000, uuid="reused")
    session.compaction()
    session.prompt()
    session.response(9_000, uuid="reused")
    session.response(9_500)
    moments = of(session)
    assert curve(moments) == [100_000, "compacted", 9_000, 9_500]
    assert_is_what_a_cut_file_shows(CLAUDE, session.content, moments)


def test_a_compaction_before_the_last_one_voids_what_is_dated_before_it() -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(100_000)
    session.compaction()
    session.clock -= timedelta(hours=1)
    session.boundary()
    session.response(9_000)
    moments = of(session)
    assert 9_000 not in curve(moments)
    assert_is_what_a_cut_file_shows(CLAUDE, session.content, moments)


def test_rows_without_an_id_are_not_known_again() -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(100_000, uuid=None)
    session.compaction()
    session.prompt()
    session.response(9_000, uuid=None)
    assert curve(of(session)) == [100_000, "compacted", 9_000]


def test_a_rewind_is_marked_on_the_sample_that_does_not_build_on_the_one_before() -> None:
    session = TranscriptRows()
    session.prompt()
    back = session.response(1_000)
    session.prompt()
    session.response(2_000)
    session.leaf = back
    session.prompt()
    session.response(1_500)
    session.prompt()
    session.response(1_600)
    moments = of(session)
    assert curve(moments) == [1_000, 2_000, 1_500, 1_600]
    assert marks(moments) == [set(), set(), {"rewound"}, set()]


def test_a_rewind_to_the_very_beginning_is_marked() -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(1_000)
    session.prompt(parentUuid=None)
    session.response(500)
    assert marks(of(session)) == [set(), {"rewound"}]


def test_a_rewind_that_no_response_has_followed_is_the_last_moment() -> None:
    session = TranscriptRows()
    session.prompt()
    back = session.response(1_000)
    session.prompt()
    session.response(2_000)
    session.leaf = back
    session.prompt()
    moments = of(session)
    assert curve(moments) == [1_000, 2_000, "rewound"]
    assert marks(moments) == [set(), set(), {"rewound"}]
    assert moments[-1].offset == len(session.content)


@pytest.mark.parametrize("parent", ["lost", "two\nlines", 7, "\ud800"])
def test_an_ancestry_that_nobody_can_follow_is_not_called_a_rewind(parent: object) -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(1_000)
    session.prompt(parentUuid=parent)
    session.response(2_000)
    assert marks(of(session)) == [set(), set()]


def test_an_ancestry_is_followed_however_its_rows_are_spelled() -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(1_000)
    session.row("progress", data={"uuid": "another"})
    session.rows[-1] = {"type": "progress", **session.rows[-1]}
    session.prompt(note={"uuid": "another"})
    session.response(2_000)
    assert marks(of(session)) == [set(), set()]
    spaced = session.content.replace(b'":', b'": ').replace(b',"', b', "')
    assert marks(told(CLAUDE, spaced)) == [set(), set()]


@pytest.mark.parametrize(
    ("native_id", "followed"),
    [("\u00e9", True), ("long" * 20, True), ("back\\slash", False), ('quo"te', False)],
)
def test_an_ancestry_is_followed_through_ids_that_are_written_without_escapes(
    native_id: str, followed: bool
) -> None:
    session = TranscriptRows()
    session.prompt()
    session.row("progress", uuid=native_id)
    session.response(1_000)
    session.leaf = native_id
    session.row("progress")
    session.prompt()
    session.response(2_000)
    rows = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in session.rows]
    moments = told(CLAUDE, "\n".join(rows).encode())
    assert marks(moments) == [set(), {"rewound"} if followed else set()]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_row_that_holds_anothers_id_within_is_not_that_row(is_first: bool) -> None:
    session = TranscriptRows()
    session.prompt()
    old = session.response(1_000)
    session.prompt()
    session.response(1_500)
    session.leaf = old
    parent = session.row("progress")
    own, within = {"uuid": "another"}, {"data": {"uuid": parent}}
    decoy = {**own, **within} if is_first else {**within, **own}
    session.loose({"parentUuid": "lost", "sessionId": session.session_id, **decoy})
    session.prompt()
    session.response(2_000)
    assert marks(of(session)) == [set(), set(), {"rewound"}]


@pytest.mark.parametrize("where", ["before it", "behind its child"])
@pytest.mark.parametrize("first_key", ["parentUuid", "type"])
def test_of_two_rows_with_one_id_the_nearer_one_before_its_child_is_meant(
    where: str, first_key: str
) -> None:
    session = TranscriptRows()
    session.prompt()
    old = session.response(1_000)
    session.prompt()
    new = session.response(1_500)
    decoy = {"parentUuid": old, "type": "progress", "uuid": "twice"}
    decoy = {first_key: decoy[first_key], **decoy}
    if where == "before it":
        session.loose(decoy)
    session.row("progress", uuid="twice", parentUuid=new)
    session.rows[-1] = {first_key: session.rows[-1][first_key], **session.rows[-1]}
    session.prompt()
    if where == "behind its child":
        session.loose(decoy)
    session.response(2_000)
    assert marks(of(session)) == [set(), set(), set()]


def test_an_ancestry_that_leaves_the_held_bytes_is_not_called_a_rewind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scans, "_BLOCK", 512)
    session = TranscriptRows()
    session.prompt()
    back = session.response(1_000)
    for _ in range(20):
        session.row("progress", text="x" * 400)
    session.leaf = back
    session.prompt()
    session.response(2_000)
    assert marks(of(session)) == [set(), set()]
    session.leaf = back
    session.prompt()
    session.response(3_000)
    assert marks(of(session)) == [set(), set(), set()]


def test_asides_are_no_moments() -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(1_000)
    session.response(7_000, isSidechain=True)
    session.response(8_000, agentId=AGENT)
    session.response(9_000, isMeta=True)
    session.error()
    session.loose({"type": "api-request-blob", "message": {"role": "assistant"}})
    session.row("system", subtype="note", mentions="compact_boundary")
    assert curve(of(session)) == [1_000, "rewound"]  # only for the row that is meta, as observed
    assert said(of(session)[-1].observation) == said(observed(CLAUDE, session.content))
    assert curve(of(session, agent_id=AGENT)) == [8_000]


def test_a_file_of_two_sessions_is_told_as_it_came_or_one_session_alone() -> None:
    old, new = TranscriptRows(session_id="old"), TranscriptRows(session_id="new")
    old.prompt()
    old.response(1_000)
    new.prompt()
    new.response(2_000)
    content = old.content + new.content
    assert curve(told(CLAUDE, content)) == [1_000, 2_000]
    assert curve(told(CLAUDE, content, session_id="old")) == [1_000]
    assert curve(told(CLAUDE, content, session_id="none")) == ["session_mismatch"]


def test_a_forks_copied_response_is_carried_over() -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(1_000, forkedFrom={"sessionId": "parent"})
    assert curve(of(session)) == ["carried_over"]


def test_what_is_refused_for_two_reasons_is_two_moments_and_marked_like_any() -> None:
    session = TranscriptRows()
    session.response(1_000, uuid=ABSENT, parentUuid=ABSENT, parent_tool_use_id=None)
    session.prompt()
    session.response(2_000, forkedFrom={"sessionId": "parent"})
    session.leaf = None
    session.prompt()
    session.response(3_000, forkedFrom={"sessionId": "parent"})
    session.leaf = None
    session.prompt()
    session.response(4_000)
    moments = of(session)
    assert curve(moments) == ["source_malformed", "carried_over", 4_000]
    assert marks(moments)[1:] == [{"rewound"}, {"rewound"}]


def test_a_response_that_names_no_model_is_told_without_one() -> None:
    session = TranscriptRows()
    for used in (1_000, 2_000):
        session.prompt()
        session.response(used, message={"model": ABSENT})
    moments = of(session)
    assert curve(moments) == ["model_not_reported"] * 2
    assert_is_what_a_cut_file_shows(CLAUDE, session.content, moments)


def test_frames_of_a_live_stream_are_malformed() -> None:
    session = TranscriptRows()
    session.response(1_000, parent_tool_use_id=None, parentUuid=ABSENT)
    assert curve(of(session)) == ["source_malformed"]


def windows(moments: list[Moment]) -> list[int]:
    return [
        moment.observation.value.limit_tokens
        for moment in moments
        if isinstance(moment.observation, Observed)
        and isinstance(moment.observation.value, TokenMeasurement)
    ]


def test_the_window_is_that_of_the_model_as_it_was_named_by_then() -> None:
    session = TranscriptRows()
    model = {"model": "claude-sonnet-4-6"}
    for asked in ("claude-sonnet-4-6", "claude-sonnet-4-6[1m]", None):
        session.attachment("other", modelId="claude-sonnet-4-6[1m]")
        others = {"type": "model", "identity": {"modelId": "claude-opus-4-6"}}
        session.row("attachment", attachment=others, sessionId="other")
        if asked is not None:
            session.attachment("model", identity={"modelId": asked})
        session.attachment("other", modelId="claude-opus-4-6")
        session.prompt()
        session.response(1_000, message=model)
    moments = of(session)
    assert windows(moments) == [200_000, 1_000_000, 1_000_000]
    assert windows(of(session, session_id=session.session_id)) == windows(moments)
    assert_is_what_a_cut_file_shows(CLAUDE, session.content, moments)


def test_a_sub_agents_model_is_the_one_that_its_own_rows_name() -> None:
    session = TranscriptRows(agent_id=AGENT)
    session.prompt()
    session.attachment("model", identity={"modelId": "claude-sonnet-4-6[1m]"})
    for used in (1_000, 2_000):
        session.response(used, message={"model": "claude-sonnet-4-6"})
    moments = of(session, agent_id=AGENT)
    assert windows(moments) == [1_000_000] * 2
    cut = observed(CLAUDE, session.content[: moments[0].offset], agent_id=AGENT)
    assert said(moments[0].observation) == said(cut)


def test_a_model_that_may_have_been_named_where_nobody_looked_is_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scans, "_BLOCK", 512)
    session = TranscriptRows()
    model = {"model": "claude-sonnet-4-6"}
    session.attachment("model", identity={"modelId": "claude-sonnet-4-6[1m]"})
    session.response(1_000, message=model)
    for _ in range(20):
        session.row("progress", text="x" * 400)
    session.response(2_000, message=model)
    first, second = of(session)[:2]
    assert windows([first]) == [1_000_000]
    assert windows([second]) != [1_000_000] or second.offset == len(session.content)


def test_the_ledger_at_the_end_tells_the_last_samples_window() -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(1_000, message={"model": "claude-sonnet-4-6"})
    session.loose(
        {
            "type": "cost-state",
            "sessionId": session.session_id,
            "modelUsage": {"claude-sonnet-4-6[1m]": {}},
        }
    )
    (moment,) = of(session)
    assert windows([moment]) == [1_000_000]
    assert moment.offset == len(session.content)


def test_an_end_that_only_a_larger_window_could_tell_leaves_the_last_sample() -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(1_000)
    for _ in range(5):
        session.row("progress", text="x" * 100_000)
    assert curve(of(session)) == [1_000]


# -- stories --------------------------------------------------------------------------------------

STEPS = ["prompt", "respond", "tool", "compact", "rewind", "attach", "aside", "name_model"]


def written(steps: list[tuple[str, int]]) -> TranscriptRows:
    session = TranscriptRows()
    leaves: list[str | None] = [None]
    for name, number in steps:
        tokens = 1_000 + len(session.rows)
        match name:
            case "prompt":
                session.prompt("x" * number)
            case "respond":
                for _ in range(1 + number % 3):
                    session.response(tokens, message_id=f"msg_{tokens}")
            case "tool":
                session.tool_result()
            case "compact":
                session.compaction(post=number)
            case "rewind":
                session.leaf = leaves[number % len(leaves)]
            case "attach":
                session.row(("attachment", "progress", "system")[number % 3], text="x" * number)
            case "aside":
                session.loose({**session.rows[-1], "isSidechain": True} if session.rows else {})
            case _:
                named = ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5")[number % 2]
                session.attachment("model", identity={"modelId": named})
        leaves.append(session.leaf)
    return session


@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 40)), max_size=16))
def test_a_history_has_every_sample_and_nothing_that_a_cut_file_does_not_show(
    steps: list[tuple[str, int]],
) -> None:
    content = written(steps).content
    moments = told(CLAUDE, content)
    for moment in moments:
        assert said(moment.observation) == said(observed(CLAUDE, content[: moment.offset]))
    samples, offset = [], 0
    for line in content.splitlines(keepends=True):
        offset += len(line)
        if b'"type":"assistant"' in line and b'"isSidechain":false' in line:
            state = shown(observed(CLAUDE, content[:offset]))
            if isinstance(state, int):
                samples.append(state)
    used = [state for state in curve(moments) if isinstance(state, int)]
    assert used == [state for state, _ in groupby(samples)]


# -- Codex ----------------------------------------------------------------------------------------


def test_a_rollouts_moment_is_the_count_and_not_what_follows_it() -> None:
    session = RolloutRows()
    session.begin()
    session.start()
    session.respond(10_000)
    told_by = len(session.content) - 1
    session.end()
    session.start()
    session.respond(20_000)
    first, _ = of(session)
    assert first.offset == told_by


def test_a_rollouts_history_of_many_turns_forgets_turns_and_no_sample() -> None:
    session = RolloutRows()
    session.begin()
    used = [10_000 + 10 * number for number in range(150)]
    for tokens in used:
        session.start()
        session.respond(tokens)
        session.end()
    for _ in range(150):  # turns that show nothing
        session.start()
        session.end()
    moments = of(session)
    assert curve(moments) == used
    assert said(moments[-1].observation) == said(observed(CODEX, session.content))


@pytest.mark.parametrize("rollout", ROLLOUTS, ids=lambda rollout: rollout.name)
def test_of_a_rollout_without_its_beginning_only_the_end_is_told(rollout: Any) -> None:
    rows = rollout.content.splitlines(keepends=True)
    for start in (1, len(rows) // 2):
        if b'"session_meta"' in rows[start]:  # a parent's
            continue
        for content in (b"".join(rows[start:]), b"".join([*rows[start:], *rows[:start]])):
            (moment,) = told(CODEX, content)
            assert said(moment.observation) == said(observed(CODEX, content))


def test_a_rollout_of_another_thread_is_a_mismatch() -> None:
    session = RolloutRows()
    session.begin()
    session.start()
    session.respond(10_000)
    assert curve(of(session, session_id="another")) == ["session_mismatch"]
    assert curve(of(session, session_id=session.thread_id)) == [10_000]


@pytest.mark.parametrize("content", [b"", b"\n", b"{}\n", b'{"type":"event_msg"}\n'])
@pytest.mark.parametrize("source", [CLAUDE, CODEX])
def test_a_file_that_shows_nothing_is_told_as_observe_tells_it(source: str, content: bytes) -> None:
    (moment,) = told(source, content)
    assert said(moment.observation) == said(observed(source, content))


# -- the verb -------------------------------------------------------------------------------------


def small() -> TranscriptRows:
    session = TranscriptRows()
    session.prompt()
    session.response(1_000)
    session.prompt()
    session.response(2_000)
    return session


def test_a_file_that_cannot_be_read_is_one_moment(tmp_path: Path) -> None:
    (moment,) = told(CLAUDE, tmp_path / "none.jsonl")
    assert shown(moment.observation) == "source_absent"
    assert moment.offset == 0


class Shrinking:
    """A file that its writer cuts off after the first block."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.position = 0

    def seek(self, offset: int, whence: int = 0) -> int:
        self.position = offset + (len(self.content) if whence else 0)
        return self.position

    def read(self, count: int) -> bytes:
        return self.content[:512][self.position : self.position + count]


def test_a_file_that_is_cut_off_meanwhile_ends_with_the_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scans, "_BLOCK", 512)
    content = small().content
    file: Any = Shrinking(content)
    assert curve(told(CLAUDE, file)) == ["source_busy"]
    file = Shrinking(content)
    file.content = content[:20] + b"\n" + content
    monkeypatch.setattr(scans, "_BLOCK", 511)
    assert curve(told(CLAUDE, file))[-1] == "source_busy"


def test_samples_before_a_fault_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scans, "_BLOCK", 512)
    session = TranscriptRows()
    session.response(1_000, message={"content": []}, version=ABSENT)
    one_row = session.content
    assert len(one_row) < 512
    file: Any = Shrinking(one_row + b"\n" * 600)
    assert curve(told(CLAUDE, file)) == [1_000, "source_busy"]


def test_what_a_sample_is_too_old_for_does_not_matter_to_a_history() -> None:
    moments = of(small(), policy=Policy(max_age=timedelta(0)))
    assert curve(moments) == [1_000, 2_000]


def test_the_question_is_asked_now_unless_it_says_when() -> None:
    assert curve(list(history.scan(CLAUDE, small().content))) != []
    early = of(small(), at=datetime(2020, 1, 1, tzinfo=UTC))
    assert curve(early) == ["sample_from_future"] * 2


def test_a_declared_limit_and_model_count() -> None:
    assert windows(of(small(), limit_tokens=12_345)) == [12_345] * 2
    assert curve(of(small(), model="claude-sonnet-4-5")) == [1_000, 2_000]


@pytest.mark.parametrize(
    ("source", "asked", "wrong"),
    [
        (7, {}, TypeError),
        ("claude.stream", {}, TypeError),
        ("no.such", {}, ValueError),
        (CLAUDE, {"policy": {}}, TypeError),
        (CLAUDE, {"at": datetime(2026, 1, 1)}, ValueError),  # noqa: DTZ001 - on purpose
        (CLAUDE, {"session_id": ""}, ValueError),
        (CLAUDE, {"limit_tokens": 0}, ValueError),
    ],
)
def test_a_wrong_argument_raises_at_once(
    source: Any, asked: dict[str, Any], wrong: type[Exception]
) -> None:
    with pytest.raises(wrong):
        history.scan(source, b"", **asked)
    with pytest.raises(wrong):
        history.scan_many(source, [], **asked)


def test_what_cannot_be_read_from_raises_at_once() -> None:
    with pytest.raises(TypeError, match="data: "):
        history.scan(CLAUDE, 7)  # type: ignore[arg-type] # on purpose


def test_a_source_without_a_history_says_so() -> None:
    bare = evolve(cm.claude.TRANSCRIPT, history=None)
    with pytest.raises(ValueError, match=r"source: .* no history"):
        history.scan(bare, b"")


def test_a_history_is_told_in_constant_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    session = small()
    filler = joined([{"type": "progress", "text": "x" * 10_000}]) * 100
    with path.open("wb") as file:
        for _ in range(30):  # 30 MB
            file.write(filler + session.content)
    gc.collect()
    tracemalloc.start()
    moments: Iterator[Moment] = history.scan(CLAUDE, path, at=AT)
    assert sum(1 for _ in moments) == 60
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 * 2**20


def test_the_cost_is_what_was_read_and_decoded_by_then() -> None:
    session = small()
    last = of(session)[-1]
    stats = last.observation.provenance.stats
    assert (stats.bytes_read, stats.rows_decoded, stats.rows_skipped) == (
        len(session.content),
        2,
        0,
    )


# -- several files --------------------------------------------------------------------------------


@pytest.mark.parametrize("processes", [1, 2, None])
def test_several_files_are_told_in_their_order(tmp_path: Path, processes: int | None) -> None:
    session = small()
    paths = []
    for number in range(3):
        session.prompt()
        session.response(3_000 + number)
        paths.append(tmp_path / f"{number}.jsonl")
        paths[-1].write_bytes(session.content)
    paths.insert(1, tmp_path / "none.jsonl")
    policy = Policy(assume_limits={"claude": 100})
    many = history.scan_many(CLAUDE, paths, processes=processes, at=AT, policy=policy)
    assert [curve(list(moments))[-1] for moments in many] == [
        3_000,
        "source_absent",
        3_001,
        3_002,
    ]


@pytest.mark.parametrize(("processes", "wrong"), [(0, ValueError), ("2", TypeError)])
def test_a_wrong_number_of_processes_raises(processes: Any, wrong: type[Exception]) -> None:
    with pytest.raises(wrong, match="processes: "):
        history.scan_many(CLAUDE, [], processes=processes)


def test_marks_have_the_names_of_what_happened() -> None:
    assert [mark.value for mark in Mark] == ["compacted", "rewound", "model_switched"]
    assert MissingReason.COMPACTED.value == Mark.COMPACTED.value


# -- damaged files --------------------------------------------------------------------------------


def damaged(chance: Random, files: list[bytes]) -> bytes:
    """Return a recording with lines lost, repeated, moved, or mixed with another session's."""
    rows = chance.choice(files).splitlines(keepends=True)
    for _ in range(chance.randint(1, 3)):
        at, other = chance.randrange(len(rows)), chance.randrange(len(rows))
        first, last = sorted((at, other))
        match chance.choice(["lose", "repeat", "swap", "turn", "mix", "append", "junk", "cut"]):
            case "lose":
                del rows[at : at + chance.randint(1, 5)]
            case "repeat":
                rows[other:other] = rows[at : at + chance.randint(1, 20)]
            case "swap":
                rows[at], rows[other] = rows[other], rows[at]
            case "turn":
                rows[first:last] = rows[first:last][::-1]
            case "mix":
                for row in chance.choice(files).splitlines(keepends=True):
                    rows.insert(chance.randint(first, len(rows)), row)
            case "append":
                rows += chance.choice(files).splitlines(keepends=True)
            case "junk":
                rows.insert(at, chance.choice([b"\n", b"{}\n", b"[]\n", rows[at][:50] + b"\n"]))
            case _:
                rows = rows[at:] if chance.random() < 0.5 else rows[: at + 1]
        rows = rows or [b"\n"]
    return b"".join(rows)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("source", [CLAUDE, CODEX, PI])
def test_every_moment_of_a_damaged_file_is_what_it_shows_cut_there(source: str, seed: int) -> None:
    chance = Random(f"{source} {seed}")  # noqa: S311 - nothing is secret here
    content = damaged(chance, [c for of, _, c in FILES if of == source and len(c) < 150_000])
    moments = told(source, content)
    for moment in moments:
        states = [said(observed(source, content[: moment.offset]))]
        if moment.offset == len(content):  # a window may tell less of it than a history
            states.append(said(cm.observe(source, content, at=AT)))
        assert said(moment.observation) in states
    offsets = [moment.offset for moment in moments]
    assert offsets == sorted(set(offsets))
