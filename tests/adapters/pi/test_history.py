"""A Pi session played from its beginning: what each row does to the curve, and what it is marked.

That the recordings' histories are what `observe` says at every row is held in `tests/test_history`.
"""

from __future__ import annotations

from itertools import accumulate, groupby
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pi_rows import AT

import ctxmeasure as cm
from ctxmeasure import Missing, Observation, history
from ctxmeasure.adapters.pi import history as played
from ctxmeasure.history import Moment
from ctxmeasure.measurement import TokenMeasurement
from ctxmeasure.testing import ABSENT
from ctxmeasure.testing.pi.rows import MODEL, SESSION_ID, SessionRows, usage
from ctxmeasure.testing.properties import said

WHOLE = cm.ReadBudget(initial=2**22, maximum=2**22)
OTHER = "claude-opus-4-6"


def observed(content: bytes) -> Observation:
    return cm.observe("pi.session", content, at=AT, budget=WHOLE)


def shown(observation: Observation) -> int | str:
    if isinstance(observation, Missing):
        return observation.reason.value
    assert isinstance(observation.value, TokenMeasurement)
    return observation.value.used_tokens


def told(content: bytes, **asked: Any) -> list[Moment]:
    return list(history.scan("pi.session", content, **{"at": AT, **asked}))


def story(session: SessionRows, **asked: Any) -> list[tuple[int | str, set[str]]]:
    moments = told(session.content, **asked)
    return [(shown(m.observation), {mark.value for mark in m.marks}) for m in moments]


@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_good_reply_is_a_moment_and_a_compaction_is_marked(version: int) -> None:
    session = SessionRows(version)
    session.say()
    session.reply(1_000)
    session.say("toolResult")
    session.reply(2_000)
    session.compact()
    session.say()
    session.reply(500)
    assert story(session) == [
        (1_000, set()),
        (2_000, set()),
        ("compacted", {"compacted"}),
        (500, set()),
    ]


def test_a_compaction_of_what_was_compacted_is_a_moment_of_its_own() -> None:
    session = SessionRows()
    session.reply(1_000)
    session.compact()
    session.compact()
    assert story(session) == [
        (1_000, set()),
        ("compacted", {"compacted"}),
        ("compacted", {"compacted"}),
    ]


def test_a_row_of_a_list_hangs_off_the_one_before_it_whatever_it_names() -> None:
    session = SessionRows(1)
    session.reply(1_000)
    session.say()
    session.rows[-1] |= {"id": "a", "parentId": "lost"}
    session.say()
    assert story(session) == [(1_000, set())]


def test_a_moment_is_the_reply_and_not_what_was_added_to_it() -> None:
    session = SessionRows()
    session.say()
    session.reply(1_000)
    size = len(session.content)
    session.say()
    session.reply(2_000)
    first, _ = told(session.content)
    assert first.offset == size - 1  # its line break is not needed
    assert first.observation.completeness is not cm.Completeness.LOWER_BOUND  # type: ignore[union-attr] # observed


def test_the_last_moment_says_that_more_was_added_since() -> None:
    session = SessionRows()
    session.reply(1_000)
    session.say()
    (last,) = told(session.content)
    assert isinstance(last.observation, cm.Observed)
    assert last.observation.completeness is cm.Completeness.LOWER_BOUND


def test_going_back_is_marked_where_the_other_branch_shows() -> None:
    session = SessionRows()
    session.say()
    early = session.reply(1_000)
    session.say()
    session.reply(2_000)
    session.back_to(early)
    session.say()
    session.reply(1_500)
    assert story(session) == [
        (1_000, set()),
        (2_000, set()),
        (1_000, {"rewound"}),
        (1_500, set()),
    ]


def test_going_back_to_the_beginning_leaves_nothing_measured() -> None:
    session = SessionRows()
    session.say()
    session.reply(1_000)
    session.back_to(None)
    session.say()
    session.reply(900)
    assert story(session) == [(1_000, set()), ("not_measured_yet", {"rewound"}), (900, set())]


def test_a_prompt_that_is_asked_anew_marks_the_reply_to_it() -> None:
    session = SessionRows()
    session.say()
    early = session.reply(1_000)
    session.say()
    session.back_to(early)
    session.say()
    session.reply(2_000)
    assert story(session) == [(1_000, set()), (2_000, {"rewound"})]


def test_what_happened_before_anything_was_measured_is_not_marked() -> None:
    session = SessionRows()
    session.say()
    session.back_to(None)
    session.say()
    session.row("context_edit", targetId="00000001", replacement=None)
    session.reply(1_000)
    assert story(session) == [(1_000, set())]


def test_a_context_edit_takes_a_part_back() -> None:
    session = SessionRows()
    session.say()
    session.reply(1_000)
    session.row("context_edit", targetId="00000001", replacement=None)
    session.say()
    session.reply(800)
    assert story(session) == [(1_000, set()), ("rewound", {"rewound"}), (800, set())]


def test_another_model_holds_the_same_count_against_another_window() -> None:
    session = SessionRows()
    session.select(MODEL)
    session.reply(1_000)
    session.select("claude-sonnet-5", "openrouter")
    moments = told(session.content)
    assert [m.observation.provenance.model.id for m in moments] == [MODEL, "claude-sonnet-5"]  # type: ignore[union-attr] # named
    assert [{mark.value for mark in m.marks} for m in moments] == [set(), {"model_switched"}]


def test_an_aborted_reply_and_what_is_no_message_show_nothing() -> None:
    session = SessionRows()
    session.reply(1_000)
    session.reply(7_000, stopReason="aborted")
    session.row("custom_message", content="words")
    session.row("branch_summary", summary="words")
    session.row("label", label="here")
    session.row("usage", usage=usage(9_000))
    assert story(session) == [(1_000, set())]


@pytest.mark.parametrize("parent", ["lost", "two\nlines", "", 7, ["lost"]])
def test_an_ancestry_that_nobody_can_follow_is_broken_and_not_called_a_rewind(
    parent: object,
) -> None:
    session = SessionRows()
    session.reply(1_000)
    session.row("message", parentId=parent, message={"role": "user", "content": "words"})
    session.reply(2_000)
    assert story(session) == [(1_000, set()), ("chain_broken", set()), (2_000, set())]


def test_going_back_further_than_rows_are_held_is_truncated_until_the_next_reply(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(played, "_KEPT_ROWS", 4)
    session = SessionRows()
    early = session.reply(1_000)
    for _ in range(6):
        session.say()
    session.back_to(early)
    session.say()
    session.reply(1_500)
    assert story(session) == [(1_000, set()), ("chain_truncated", set()), (1_500, set())]


def test_of_the_rows_that_are_held_the_oldest_is_let_go_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(played, "_KEPT_ROWS", 2)
    session = SessionRows()
    early = session.reply(1_000)
    session.reply(2_000)
    session.back_to(early)
    session.say()
    assert story(session) == [(1_000, set()), (2_000, set()), (1_000, {"rewound"})]


def test_a_row_that_is_written_again_is_held_as_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(played, "_KEPT_ROWS", 2)
    session = SessionRows()
    again = session.reply(1_000)
    session.reply(2_000)
    session.reply(1_000, timestamp=0)
    session.rows[-1] |= {"id": again, "parentId": None}
    session.back_to(again)
    session.reply(3_000)
    session.back_to(again)
    session.say()
    assert story(session)[-1] == (1_000, {"rewound"})


def test_a_server_that_reports_nothing_is_told_at_the_end() -> None:
    session = SessionRows()
    session.say()
    session.reply(usage=usage(0, input=0, output=0, cacheRead=0, cacheWrite=0))
    assert story(session) == [("usage_not_reported", set())]


def test_a_reply_that_names_a_key_twice_is_malformed() -> None:
    session = SessionRows()
    session.reply(1_000)
    content = session.content.replace(b'"output":10', b'"output":10,"output":10')
    (moment,) = told(content)
    assert shown(moment.observation) == "source_malformed"


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ({"type": "message"}, "source_malformed"),
        ({"id": ABSENT}, "source_malformed"),
        ({"version": 9}, "schema_unknown"),
        ({"version": "3"}, "schema_unknown"),
        ({"id": "other"}, "session_mismatch"),
    ],
)
def test_a_file_that_its_header_rules_out_is_one_moment(
    header: dict[str, Any], reason: str
) -> None:
    session = SessionRows()
    session.reply(1_000)
    row = {**session.rows[0], **header}
    session.rows[0] = {key: value for key, value in row.items() if value is not ABSENT}
    assert story(session, session_id=SESSION_ID) == [(reason, set())]


def test_the_file_of_another_session_behind_it_makes_it_ambiguous() -> None:
    session = SessionRows()
    session.reply(1_000)
    session.row("session", id=SESSION_ID)
    session.rows.append({**session.rows[0], "id": "other"})
    told_by = len(session.content) - 1
    session.reply(2_000)
    assert story(session) == [(1_000, set()), ("session_ambiguous", set())]
    assert told(session.content)[-1].offset == told_by


def test_lines_of_something_else_are_no_rows_of_the_conversation() -> None:
    session = SessionRows()
    session.rows.append({"type": "agent_start"})
    session.reply(1_000)
    session.rows.append({"type": "turn_end", "message": {}})
    assert story(session) == [(1_000, set())]


STEPS = ["say", "reply", "empty", "abort", "compact", "edit", "select", "back", "label", "lost"]


def written(version: int, steps: list[tuple[str, int]]) -> SessionRows:
    session = SessionRows(version)
    leaves: list[str | None] = [None]
    for name, number in steps:
        match name:
            case "say":
                session.say()
            case "reply":
                session.reply(1_000 + len(session.rows))
            case "empty":
                nothing = usage(0, input=0, output=0, cacheRead=0, cacheWrite=0)
                session.reply(usage=nothing)
            case "abort":
                session.reply(9_000, stopReason="aborted")
            case "compact":
                session.compact()
            case "edit":
                session.row("context_edit", targetId="00000001", replacement=None)
            case "select":
                session.select((MODEL, OTHER)[number % 2])
            case "back":
                session.back_to(leaves[number % len(leaves)])
            case "label":
                session.row("label", label="here")
            case _:
                session.back_to("lost")
        leaves.append(session.leaf)
    return session


@given(
    st.sampled_from([1, 2, 3]),
    st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 40)), max_size=20),
)
def test_a_history_leaves_out_no_state_and_has_none_that_a_cut_file_does_not_show(
    version: int, steps: list[tuple[str, int]]
) -> None:
    content = written(version, steps).content
    moments = told(content)
    for moment in moments:
        assert said(moment.observation) == said(observed(content[: moment.offset]))
    assert said(moments[-1].observation) == said(observed(content))
    states = [shown(observed(cut)) for cut in accumulate(content.splitlines(keepends=True))]
    seen = [state for state, _ in groupby(states)]
    curve = [state for state, _ in groupby(shown(m.observation) for m in moments)]
    first = next((i for i, s in enumerate(seen) if s == curve[0]), len(seen))
    assert curve == seen[first:]
    assert {*seen[:first]} <= {"not_measured_yet", "usage_not_reported", "chain_broken"}
