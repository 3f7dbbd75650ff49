"""The smallest file for each trap in Claude Code's session files (formats/claude.md)."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from claude_sessions import read

from ctxmeasure import observe
from ctxmeasure.adapters.claude.transcript import TRANSCRIPT
from ctxmeasure.bounded.budget import KIB, MIB, ReadBudget, ReadStats
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import Channel, Evidence, Gap, Phase, UsedTokens
from ctxmeasure.measurement import TokenMeasurement
from ctxmeasure.observation import MissingReason, Observed, Partial, UsedBasis
from ctxmeasure.testing import ABSENT, START
from ctxmeasure.testing.claude.rows import MODEL, TranscriptRows, usage
from ctxmeasure.testing.session import joined
from ctxmeasure.usage import TokenUsage

TURN = "9b50f700-0000-4000-8000-000000000001"
THIRD_TURN = "9b50f700-0000-4000-8000-000000000003"
OTHER_TURN = "77aa90d9-0000-4000-8000-000000000002"
OTHER_SESSION = "5e551014-0000-4000-8000-00000000000f"

LATER = START + timedelta(hours=1)
CASES = Path(__file__).parents[2] / "cases"


def used(evidence: Evidence) -> int:
    assert isinstance(evidence, UsedTokens), evidence
    assert evidence.usage is not None
    return evidence.usage.prompt_tokens


def reason(evidence: Evidence) -> str:
    assert isinstance(evidence, Gap), evidence
    return evidence.reason.value


def answered(tokens: int = 40_000, **fields: Any) -> TranscriptRows:
    """Return a session of one prompt and its response."""
    session = TranscriptRows()
    session.prompt()
    session.response(tokens, **fields)
    return session


# -- what is measured -------------------------------------------------------------------------


def test_the_last_response_is_measured_with_all_that_the_judge_needs() -> None:
    session = answered(message_id="msg_01abc", requestedModel=MODEL + "[1m]")
    assert read(session.content) == UsedTokens(
        usage=TokenUsage(
            input_tokens=2, cache_write_tokens=1, cache_read_tokens=39_997, output_tokens=7
        ),
        used_basis=UsedBasis.PROMPT,
        model=ModelRef(id=MODEL, long_context_marker=True, platform="first_party"),
        measured_at=START + timedelta(seconds=1),
        runtime_version="2.1.332",
        identity=(session.session_id, "", "msg_01abc"),
    )


def test_the_source_says_what_it_is() -> None:
    assert TRANSCRIPT.id == "claude.transcript"
    assert TRANSCRIPT.origin.channel is Channel.PERSISTED
    assert TRANSCRIPT.origin.method == "claude_transcript_usage_model_capability"


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_spaces_in_the_json_do_not_matter(separators: tuple[str, str]) -> None:
    session = answered()
    session.compaction(post=900)
    session.prompt()
    session.response(9_000)
    rows = (json.dumps(row, separators=separators) + "\n" for row in session.rows)
    assert used(read("".join(rows).encode())) == 9_000


def test_an_interrupted_response_counts_as_in_claude_code_itself() -> None:
    session = answered(message={"stop_reason": None}, isAbortedMidStream=True)
    session.user([{"type": "text", "text": "[Request interrupted by user]"}])
    assert used(read(session.content)) == 40_000


def test_a_version_that_is_none_is_left_out() -> None:
    evidence = read(answered(version="a path").content)
    assert isinstance(evidence, UsedTokens)
    assert evidence.runtime_version is None


@pytest.mark.parametrize("timestamp", [ABSENT, None, 1795979032, "yesterday", "2026-11-29"])
def test_a_response_without_a_usable_time_has_none(timestamp: Any) -> None:
    evidence = read(answered(timestamp=timestamp).content)
    assert isinstance(evidence, UsedTokens)
    assert evidence.measured_at is None


# -- one response, many rows (issues 51 and 52) -----------------------------------------------


def blocks(*outputs: int, **fields: Any) -> TranscriptRows:
    """Return a session whose one response has a row for each of *outputs*."""
    session = TranscriptRows(prompt_id=None, version="2.1.63")
    session.prompt()
    for output in outputs:
        message = {"usage": usage(24_000, output), "stop_reason": None}
        session.response(0, message_id="msg_01abc", message=message, **fields)
    return session


def test_the_rows_of_one_response_are_counted_once_and_the_last_has_the_output() -> None:
    evidence = read(blocks(1, 3, 28).content)
    assert isinstance(evidence, UsedTokens)
    assert evidence.usage == TokenUsage(
        input_tokens=2, cache_write_tokens=1, cache_read_tokens=23_997, output_tokens=28
    )


def test_the_last_row_has_the_output_although_the_leaf_hangs_off_the_first() -> None:
    session = blocks(1, 3, 28)
    session.tool_result(parentUuid=session.rows[1]["uuid"])
    assert read(session.content) == read(blocks(1, 3, 28).content)


def test_a_request_id_is_not_needed() -> None:
    assert read(blocks(1, 28).content) == read(blocks(1, 28, requestId=None).content)


def test_all_block_rows_and_phases_give_one_identity() -> None:
    session = blocks(1, 3, 28)
    identities = set()
    for count in (2, 3, 4):
        for phase in Phase:
            evidence = read(joined(session.rows[:count]), phase=phase, turn_started_at=START)
            assert isinstance(evidence, UsedTokens)
            identities.add(evidence.identity)
    assert identities == {(session.session_id, "", "msg_01abc")}


def test_a_response_without_an_id_is_known_by_its_row() -> None:
    evidence = read(answered(message={"id": ABSENT}, uuid="row-1").content)
    assert isinstance(evidence, UsedTokens)
    assert evidence.identity == (TranscriptRows().session_id, "", "row-1")


def test_a_response_without_any_id_has_no_identity() -> None:
    evidence = read(answered(message={"id": ABSENT}, uuid=ABSENT).content)
    assert isinstance(evidence, UsedTokens)
    assert evidence.identity == ()


def test_parallel_tools_are_no_rewind_although_the_leaf_skips_a_sibling_row() -> None:
    session = TranscriptRows()
    session.prompt()
    first = session.response(15_000, message_id="msg_01abc")
    second = session.response(15_000, message_id="msg_01abc")
    session.tool_result(parentUuid=second)
    session.tool_result(parentUuid=first)
    assert used(read(session.content, phase=Phase.ACTIVE, turn_id=TURN)) == 15_000


# -- decoys -----------------------------------------------------------------------------------


def test_issue_1_a_sidechain_row_is_never_the_main_context() -> None:
    session = answered()
    session.row("user", parentUuid=None, isSidechain=True, message={"content": "Search"})
    session.response(150_000, isSidechain=True)
    assert used(read(session.content)) == 40_000


def test_issue_53_a_sub_agents_file_has_no_main_context() -> None:
    agent = TranscriptRows(agent_id="a54e51b23b1dadccb")
    agent.prompt()
    agent.response(2_000)
    assert reason(read(agent.content)) == "session_mismatch"
    assert reason(read(agent.content, session_id=agent.session_id)) == "session_mismatch"


def test_issue_54_a_session_that_an_agent_spawned_is_told_apart_by_its_id_only() -> None:
    spawned = answered(entrypoint="sdk-py", promptSource="sdk")
    assert used(read(spawned.content)) == 40_000
    assert reason(read(spawned.content, session_id=OTHER_SESSION)) == "session_mismatch"


def test_a_team_mates_row_is_never_the_main_context() -> None:
    session = answered()
    session.response(150_000, teamName="reviewers")
    assert used(read(session.content)) == 40_000


def test_usage_nested_in_a_progress_row_is_a_sub_agents() -> None:
    session = answered()
    nested = {"type": "assistant", "message": {"model": MODEL, "usage": usage(90_000)}}
    session.row("progress", data={"type": "agent_progress", "message": nested})
    assert used(read(session.content)) == 40_000


def test_a_request_blob_with_an_assistants_message_is_no_response() -> None:
    session = answered()
    message = {"role": "assistant", "model": MODEL, "usage": usage(90_000)}
    session.loose({"type": "api-request-blob", "sessionId": session.session_id, "message": message})
    assert used(read(session.content)) == 40_000


def test_the_token_budget_of_a_reminder_is_not_the_context() -> None:
    session = answered()
    session.attachment("total_tokens_reminder", text="15000000 tokens left")
    assert used(read(session.content)) == 40_000


@pytest.mark.parametrize("flag", [ABSENT, False, True])
def test_issue_30_a_synthetic_row_is_passed_over(flag: Any) -> None:
    session = answered()
    session.error(isApiErrorMessage=flag)
    assert used(read(session.content)) == 40_000
    session.prompt()
    assert used(read(session.content)) == 40_000


def test_an_api_error_under_a_real_models_name_is_passed_over() -> None:
    session = answered()
    session.prompt()
    session.response(90_000, isApiErrorMessage=True)
    assert used(read(session.content)) == 40_000


def test_issue_45_the_echoed_model_id_says_nothing_about_the_long_window() -> None:
    evidence = read(answered(344_444).content)
    assert isinstance(evidence, UsedTokens)
    assert evidence.model == ModelRef(id=MODEL, platform="first_party")


def test_a_tools_result_that_quotes_a_transcript_is_no_row_of_it() -> None:
    session = answered()
    quoted = TranscriptRows()
    quoted.compaction(post=900)
    quoted.response(90_000)
    session.tool_result(toolUseResult={"rows": quoted.rows})
    assert used(read(session.content)) == 40_000
    assert used(read(session.content, turn_id=TURN)) == 40_000


def test_a_frame_of_the_live_stream_is_no_row() -> None:
    frame = answered(uuid=ABSENT, parentUuid=ABSENT, parent_tool_use_id=None)
    assert reason(read(frame.content)) == "source_malformed"


def test_a_row_that_hangs_off_another_is_no_frame_whatever_else_it_has() -> None:
    assert used(read(answered(parent_tool_use_id=None).content)) == 40_000


# -- whose conversation -----------------------------------------------------------------------


def test_a_sub_agent_is_measured_when_it_is_asked_for() -> None:
    session = answered()
    agent = TranscriptRows(agent_id="a54e51b")
    agent.prompt()
    agent.response(2_000)
    other = TranscriptRows(agent_id="b00b135")
    other.prompt()
    other.response(3_000)
    content = agent.content + session.content + other.content
    assert used(read(content, agent_id="a54e51b")) == 2_000
    assert used(read(content, agent_id="b00b135", turn_id=TURN, phase=Phase.ACTIVE)) == 3_000
    assert used(read(content)) == 40_000
    assert reason(read(content, agent_id="c0ffee0")) == "session_mismatch"


def test_the_samples_of_two_agents_are_never_one_sample() -> None:
    identities = set()
    for agent_id in (None, "a54e51b", "b00b135"):
        agent = TranscriptRows(agent_id=agent_id)
        agent.prompt()
        agent.response(2_000, message_id="msg_01abc")
        evidence = read(agent.content, agent_id=agent_id)
        assert isinstance(evidence, UsedTokens)
        identities.add(evidence.identity)
    assert len(identities) == 3


@pytest.mark.parametrize(
    "spelling",
    [
        {"session_id": ABSENT},
        {"session_id": OTHER_SESSION},
        {"sessionId": ABSENT, "session_id": TranscriptRows().session_id},
        {"sessionId": 7, "session_id": TranscriptRows().session_id},
    ],
)
def test_a_rows_session_is_spelled_two_ways(spelling: dict[str, Any]) -> None:
    content = answered(**spelling).content
    assert used(read(content, session_id=TranscriptRows().session_id)) == 40_000


def test_a_row_that_names_no_session_counts_only_when_none_is_asked_for() -> None:
    session = answered()
    session.response(41_000, sessionId=ABSENT)
    assert used(read(session.content)) == 41_000
    assert used(read(session.content, session_id=session.session_id)) == 40_000


def test_a_sub_agents_row_that_names_no_session_is_of_the_session_around_it() -> None:
    agent = TranscriptRows(agent_id="a54e51b")
    agent.prompt()
    agent.response(2_000, sessionId=ABSENT)
    assert used(read(agent.content, agent_id="a54e51b")) == 2_000


def test_a_file_whose_rows_name_no_session_is_one_session() -> None:
    session = TranscriptRows()
    session.prompt(sessionId=ABSENT)
    session.response(40_000, sessionId=ABSENT)
    assert used(read(session.content)) == 40_000
    assert reason(read(session.content, session_id=OTHER_SESSION)) == "session_not_found"


def test_without_a_session_the_newest_rows_session_is_taken() -> None:
    old, new = answered(90_000), TranscriptRows(session_id=OTHER_SESSION)
    new.prompt()
    new.response(18_000)
    assert used(read(old.content + new.content)) == 18_000
    assert used(read(old.content + new.content, session_id=old.session_id)) == 90_000


def test_a_sub_agents_session_is_that_of_its_own_newest_row() -> None:
    agent, other = TranscriptRows(agent_id="a54e51b"), TranscriptRows(session_id=OTHER_SESSION)
    agent.prompt()
    agent.response(2_000)
    other.prompt()
    other.response(18_000)
    assert used(read(agent.content + other.content, agent_id="a54e51b")) == 2_000


def test_a_session_that_copies_another_has_no_number_before_its_own_first_response() -> None:
    # 1.0.x --resume wrote a new file with copies of the old session's rows.
    session = answered(90_000)
    session.session_id = OTHER_SESSION
    session.prompt()
    assert reason(read(session.content)) == "carried_over"
    session.response(18_000)
    assert used(read(session.content)) == 18_000


@pytest.mark.parametrize("spelling", ["sessionId", "session_id"])
def test_a_session_with_no_message_yet_is_not_measured_yet(spelling: str) -> None:
    session = TranscriptRows()
    session.loose({"type": "mode", spelling: session.session_id})
    assert reason(read(session.content)) == "not_measured_yet"
    assert reason(read(session.content, session_id=session.session_id)) == "not_measured_yet"
    assert reason(read(session.content, session_id=OTHER_SESSION)) == "session_mismatch"


def test_a_prompt_without_a_response_is_not_measured_yet() -> None:
    session = TranscriptRows()
    session.prompt()
    assert reason(read(session.content)) == "not_measured_yet"


@pytest.mark.parametrize("content", [b"", b"\n", b'{"type":"summary","leafUuid":"x"}\n', b"{"])
def test_a_file_without_a_session_has_none(content: bytes) -> None:
    assert reason(read(content)) == "session_not_found"
    assert reason(read(content, session_id=OTHER_SESSION)) == "session_not_found"


# -- the walk ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["attachment", "system", "progress", "from-the-future"])
def test_the_walk_passes_through_rows_of_every_type(kind: str) -> None:
    session = answered()
    session.row(kind, subtype="api_error")
    session.prompt()
    session.row(kind)
    session.prompt()
    assert used(read(session.content)) == 40_000


def test_a_logical_parent_is_never_followed() -> None:
    session = answered()
    session.prompt(parentUuid=None, logicalParentUuid=session.leaf)
    assert reason(read(session.content)) == "rewound"


def test_a_microcompaction_keeps_the_conversation() -> None:
    session = answered()
    session.row("system", subtype="microcompact_boundary", microcompactMetadata={"preTokens": 1})
    session.prompt()
    assert used(read(session.content)) == 40_000


def test_a_meta_row_is_not_where_the_conversation_ends() -> None:
    session = answered()
    session.prompt(isMeta=True, parentUuid="nowhere")
    assert used(read(session.content)) == 40_000


def test_a_response_that_is_meta_is_not_what_the_conversation_stands_on() -> None:
    assert reason(read(answered(isMeta=True).content)) == "rewound"


def test_a_response_without_uuids_is_still_the_newest() -> None:
    session = answered()
    session.response(41_000, uuid=ABSENT, parentUuid=ABSENT)
    assert used(read(session.content)) == 41_000


@pytest.mark.parametrize("parent", ["nowhere", "", "two\nlines", 7, {}, ["x"], True])
def test_a_parent_that_is_not_in_the_file_breaks_the_chain(parent: Any) -> None:
    session = answered()
    session.prompt(parentUuid=parent)
    assert reason(read(session.content)) == "chain_broken"


def test_a_cycle_of_parents_breaks_the_chain() -> None:
    session = TranscriptRows()
    session.response(40_000)
    session.prompt(uuid="a", parentUuid="c")
    session.row("system", uuid="b", parentUuid="a")
    session.prompt(uuid="c", parentUuid="b")
    assert reason(read(session.content)) == "chain_broken"
    session.prompt(uuid="d", parentUuid="d")
    assert reason(read(session.content)) == "chain_broken"


def test_a_text_that_names_the_parent_is_not_the_parent() -> None:
    session = answered()
    parent = session.leaf
    session.row("system", content=f"see {parent}")
    session.prompt(parentUuid=parent)
    assert used(read(session.content)) == 40_000


def test_of_two_rows_with_one_uuid_the_nearer_is_the_parent() -> None:
    session = answered(40_000, uuid="same")
    session.prompt()
    session.response(50_000, uuid="same")
    session.prompt(parentUuid="same")
    assert used(read(session.content)) == 50_000


def test_a_main_row_that_hangs_off_a_sidechain_carries_its_numbers_over() -> None:
    session = answered()
    session.response(150_000, isSidechain=True)
    session.prompt()
    assert reason(read(session.content)) == "carried_over"


# -- rewinding --------------------------------------------------------------------------------


def test_a_rewind_voids_the_last_usage_until_the_next_response() -> None:
    session = answered(40_000)
    kept = session.leaf
    session.prompt()
    session.response(50_000)
    session.leaf = kept
    session.prompt()
    assert reason(read(session.content)) == "rewound"
    session.error()
    assert reason(read(session.content)) == "rewound"
    session.response(43_000)
    assert used(read(session.content)) == 43_000


def test_a_gateway_that_gives_every_message_one_id_hides_no_rewind() -> None:
    session = answered(40_000, message_id="msg_1")
    kept = session.leaf
    session.prompt()
    session.response(50_000, message_id="msg_1")
    assert used(read(session.content)) == 50_000
    session.leaf = kept
    session.prompt()
    assert reason(read(session.content)) == "rewound"
    session.response(43_000, message_id="msg_1")
    assert used(read(session.content)) == 43_000


def test_responses_without_an_id_are_different_responses() -> None:
    session = answered(40_000, message={"id": ABSENT})
    kept = session.leaf
    session.tool_result()
    session.response(50_000, message={"id": ABSENT})
    session.leaf = kept
    session.prompt()
    assert reason(read(session.content)) == "rewound"


def test_a_tools_result_between_the_rows_of_one_response_is_no_rewind() -> None:
    # 2.1.37 runs a tool while the response goes on, and chains its next row to the result.
    session = answered(40_000, message_id="msg_01abc")
    session.tool_result()
    result = session.leaf
    session.response(40_000, message_id="msg_01abc")
    session.leaf = result
    session.prompt(isMeta=True)
    session.tool_result()
    assert used(read(session.content)) == 40_000


def test_a_rewind_to_the_very_beginning_is_one_though_a_compaction_came_before() -> None:
    session = answered(149_703)
    session.compaction()
    session.prompt()
    session.response(30_000)
    session.leaf = None
    session.prompt()
    assert reason(read(session.content)) == "rewound"


def test_a_rewind_to_the_first_prompt_begins_a_new_root() -> None:
    session = answered(40_000)
    session.leaf = None
    session.prompt()
    assert reason(read(session.content)) == "rewound"
    session.response(20_000)
    assert used(read(session.content)) == 20_000


# -- compaction (issues 23, 31, 32, 33 and 41) ------------------------------------------------


@pytest.mark.parametrize("with_summary", [False, True])
def test_issues_31_and_41_usage_of_before_a_compaction_is_never_reported(
    with_summary: bool,
) -> None:
    session = answered(167_000)
    boundary_at = session.now
    session.boundary()
    if with_summary:
        session.summary()
    assert read(session.content) == Gap(
        reason=MissingReason.COMPACTED,
        partial=Partial(measured_at=boundary_at),
        runtime_version="2.1.332",
    )


def test_issues_23_and_33_the_count_after_a_compaction_is_an_estimate() -> None:
    session = answered(61_303)
    boundary_at = session.now
    session.compaction(post=5_706)
    assert read(session.content) == Gap(
        reason=MissingReason.COMPACTED,
        partial=Partial(used_tokens=5_706, measured_at=boundary_at, estimated=True),
        runtime_version="2.1.332",
    )


@pytest.mark.parametrize("post", [None, True, "930", 930.0, -1, [930]])
def test_an_estimate_that_is_no_count_is_left_out(post: Any) -> None:
    session = answered()
    boundary_at = session.now
    session.compaction(post=post)
    evidence = read(session.content)
    assert isinstance(evidence, Gap)
    assert evidence.partial == Partial(measured_at=boundary_at)


@pytest.mark.parametrize("metadata", [None, 7, "manual", []])
def test_a_boundary_without_metadata_is_a_boundary(metadata: Any) -> None:
    session = answered()
    session.boundary(compactMetadata=metadata)
    assert reason(read(session.content)) == "compacted"


def test_issue_32_the_first_response_after_a_compaction_is_measured_alone() -> None:
    session = answered(167_000)
    session.compaction(post=930)
    session.prompt()
    assert reason(read(session.content)) == "compacted"
    session.response(9_005)
    assert used(read(session.content)) == 9_005


def test_an_error_after_a_compaction_measures_nothing() -> None:
    session = answered(167_000)
    session.compaction()
    session.prompt()
    session.error()
    assert reason(read(session.content)) == "compacted"


def test_a_compaction_in_the_middle_of_a_turn_keeps_the_turn() -> None:
    session = answered(167_000)
    session.compaction()
    session.response(31_000)
    assert used(read(session.content, phase=Phase.ACTIVE, turn_id=TURN)) == 31_000


def preserved(session: TranscriptRows, **fields: Any) -> None:
    """Write the last row of *session* again, behind the compaction that preserved it."""
    session.loose({**session.rows[-3], "parentUuid": session.leaf, **fields})
    session.leaf = session.rows[-1]["uuid"]


def test_a_preserved_row_that_is_written_again_with_its_old_time_is_void() -> None:
    session = answered(149_703)
    session.compaction()
    preserved(session)
    assert reason(read(session.content)) == "compacted"
    session.prompt()
    assert reason(read(session.content)) == "compacted"
    session.response(30_000)
    assert used(read(session.content)) == 30_000


def test_a_preserved_row_is_void_though_the_clock_was_set_back_and_no_list_names_it() -> None:
    session = answered(149_703, timestamp="2026-11-29T19:00:00.000Z")
    session.compaction()
    preserved(session)
    assert reason(read(session.content)) == "compacted"
    session.prompt()
    session.response(30_000)
    assert used(read(session.content)) == 30_000


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_response_whose_request_lies_before_the_window_may_be_a_preserved_one(
    blocks: int,
) -> None:
    session = answered(149_703)
    for _ in range(blocks - 1):
        session.response(149_703, message_id=session.rows[-1]["message"]["id"])
    old = session.rows[-blocks:]
    session.compaction()
    for row in old:
        session.loose({**row, "parentUuid": session.leaf})
        session.leaf = row["uuid"]
    near = len(joined(session.rows[-blocks:])) + 1  # neither boundary nor summary
    session.prompt("x" * 5_000)
    window = near + len(joined(session.rows[-1:]))
    assert reason(read(session.content, window=window)) == "compacted"
    assert reason(read(session.content, window=window, budget=window)) == "chain_truncated"


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_response_to_an_image_that_fills_the_window_is_no_preserved_one(blocks: int) -> None:
    session = TranscriptRows()
    session.prompt("x" * 300 * 1024)
    for _ in range(blocks):
        session.response(40_000, message_id="msg_01abc")
    assert used(read(session.content, budget=256 * 1024)) == 40_000
    assert reason(read(session.content, budget=120 * 1024)) == "chain_truncated"


@pytest.mark.parametrize("message_id", ["msg_01abc", ABSENT])
def test_a_response_right_behind_its_request_is_all_that_is_decoded(message_id: Any) -> None:
    session = answered(20_000)
    session.tool_result()
    blocks = 1 if message_id is ABSENT else 3
    for _ in range(blocks):
        session.response(40_000, message={"id": message_id})
    window = len(joined(session.rows[-blocks - 1 :])) + 1
    observation = observe(TRANSCRIPT, session.content, at=LATER, budget=ReadBudget(initial=window))
    assert isinstance(observation, Observed)
    assert observation.provenance.stats == ReadStats(
        bytes_read=window, rows_decoded=1, window_truncated=True
    )


@pytest.mark.parametrize("aside", [{"data": {"uuid": "other"}}, {"mentions": "msg_01abc"}])
def test_a_request_that_its_bytes_do_not_tell_is_decoded(aside: dict[str, Any]) -> None:
    session = answered(20_000)
    session.row("attachment", **aside)
    session.response(40_000, message_id="msg_01abc")
    window = len(joined(session.rows[-2:])) + 1
    assert used(read(session.content, window=window, budget=window)) == 40_000


def test_a_window_of_asides_alone_tells_whose_session_it_is() -> None:
    session = answered(40_000)
    session.response(7_000, isSidechain=True)
    window = len(joined(session.rows[-1:])) + 1
    asked: dict[str, Any] = {"window": window, "budget": window}
    assert reason(read(session.content, **asked)) == "budget_exhausted"
    assert reason(read(session.content, **asked, session_id=OTHER_SESSION)) == "session_mismatch"
    session.leaf = session.rows[-2]["uuid"]
    assert used(read(session.content, window=window)) == 40_000


def test_progress_behind_the_last_response_is_not_decoded() -> None:
    session = answered(40_000)
    nested = {"type": "assistant", "message": {"role": "user", "usage": usage(7_000)}}
    for _ in range(50):
        session.row("progress", data={"message": nested, "uuid": "other"})
    budget = ReadBudget(initial=2_000)
    observation = observe(TRANSCRIPT, session.content, at=LATER, budget=budget)
    assert isinstance(observation, Observed)
    assert isinstance(observation.value, TokenMeasurement)
    assert observation.value.used_tokens == 40_000
    assert observation.provenance.stats.rows_decoded == 1


@pytest.mark.parametrize(
    "before",
    [
        {"held": {"a": 1, "type": "progress"}},
        {"held": [{"a": 1, "type": "progress"}]},
        {"message": {"a": 1, "type": "progress"}},
        {"said": ',"type":"progress"'},
    ],
)
def test_a_row_that_holds_progress_is_not_progress(before: dict[str, Any]) -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(40_000)
    session.rows[-1] = {**before, **session.rows[-1]}
    assert used(read(session.content)) == 40_000


def test_a_row_of_128_kib_could_be_a_summary_and_a_longer_one_could_not() -> None:
    session = TranscriptRows()
    session.prompt("x" * 200 * 1024)
    session.response(40_000)
    window = len(joined(session.rows[-1:])) + 128 * 1024
    assert reason(read(session.content, window=window, budget=window)) == "chain_truncated"
    assert used(read(session.content, window=window + 1, budget=window + 1)) == 40_000


def test_a_row_between_an_image_and_a_response_leaves_its_request_unknown() -> None:
    session = TranscriptRows()
    session.prompt("x" * 300 * 1024)
    request = session.leaf
    session.prompt()
    session.leaf = request
    session.response(40_000)
    assert reason(read(session.content, budget=256 * 1024)) == "chain_truncated"
    assert used(read(session.content, budget=512 * 1024)) == 40_000


def test_another_response_under_the_same_uuid_is_no_preserved_one() -> None:
    session = answered(149_703, uuid="reused")
    session.compaction()
    session.prompt()
    session.response(30_000, uuid="reused")
    assert used(read(session.content)) == 30_000


def test_a_summary_whose_boundary_lies_before_the_window_may_have_kept_the_response() -> None:
    session = answered(149_703, timestamp="2026-11-29T19:00:00.000Z", uuid="kept")
    session.compaction(kept=["kept"])
    preserved(session)
    window = len(joined(session.rows[3:])) + 1
    assert reason(read(session.content, window=window)) == "compacted"
    assert reason(read(session.content, window=window, budget=window)) == "chain_truncated"


@pytest.mark.parametrize(
    "metadata",
    [
        {"preservedMessages": {"uuids": ["kept"]}},
        {"preservedMessages": {"uuids": 7, "allUuids": ["else", "kept"]}},
        {"preservedSegment": {"headUuid": "kept", "tailUuid": "tail"}},
        {"preservedSegment": {"headUuid": "head"}, "preservedMessages": {"uuids": ["kept"]}},
        {"preservedSegment": {"headUuid": "head", "tailUuid": "kept"}, "preservedMessages": 7},
    ],
)
def test_a_row_that_the_boundary_lists_is_void_though_it_stands_nowhere_before(
    metadata: dict[str, Any],
) -> None:
    session = TranscriptRows()
    session.compaction(compactMetadata=metadata)
    session.response(149_703, uuid="kept")
    assert reason(read(session.content)) == "compacted"


def test_a_row_without_a_uuid_was_not_preserved() -> None:
    session = answered(149_703)
    session.compaction(compactMetadata={"preservedSegment": {"headUuid": "kept"}})
    session.prompt()
    session.response(30_000, uuid=ABSENT)
    assert used(read(session.content)) == 30_000


def test_a_response_of_the_compactions_own_moment_is_void() -> None:
    session = answered(149_703)
    boundary_at = session.now.isoformat()
    session.boundary()
    session.prompt()
    session.response(30_000, timestamp=boundary_at)
    assert reason(read(session.content)) == "compacted"


def test_a_response_that_was_written_before_the_compaction_is_void_whatever_its_time() -> None:
    session = answered(149_703, timestamp="2026-11-29T19:00:00.000Z")
    kept = session.leaf
    session.compaction()
    session.prompt(parentUuid=kept)
    assert reason(read(session.content)) == "compacted"


def test_a_row_that_no_bytes_could_name_was_not_preserved() -> None:
    session = answered(149_703)
    session.compaction()
    session.prompt()
    session.response(30_000, uuid="two\nlines")
    assert used(read(session.content)) == 30_000


@pytest.mark.parametrize("timeless", ["response", "boundary"])
def test_a_response_that_cannot_be_dated_after_the_compaction_is_void(timeless: str) -> None:
    session = answered(149_703)
    session.compaction(timestamp=ABSENT if timeless == "boundary" else START.isoformat())
    session.prompt()
    session.response(30_000, **({"timestamp": ABSENT} if timeless == "response" else {}))
    assert reason(read(session.content)) == "compacted"


def test_a_prompt_that_hangs_off_a_preserved_row_does_not_reach_around_the_compaction() -> None:
    session = answered(149_703)
    kept = session.leaf
    session.compaction(kept=[kept], post=930)
    session.prompt(parentUuid=kept)
    evidence = read(session.content)
    assert isinstance(evidence, Gap)
    assert evidence.reason is MissingReason.COMPACTED
    assert evidence.partial is not None
    assert evidence.partial.used_tokens == 930


def test_a_summary_alone_marks_a_compaction() -> None:
    session = answered(149_703)
    session.leaf = None
    session.summary()
    assert reason(read(session.content)) == "compacted"
    session.prompt()
    session.response(30_000)
    assert used(read(session.content)) == 30_000


def test_a_response_behind_a_summary_counts_though_the_summarys_parent_is_lost() -> None:
    session = answered(149_703)
    session.leaf = "lost"
    session.summary()
    session.prompt()
    session.response(30_000)
    assert used(read(session.content)) == 30_000


def test_a_summary_before_any_response_is_a_compaction_too() -> None:
    session = TranscriptRows()
    session.summary()
    assert reason(read(session.content)) == "compacted"


def test_the_model_that_is_named_again_after_a_compaction_goes_with_the_gap() -> None:
    session = TranscriptRows()
    session.attachment("model", identity={"modelId": "claude-opus-4-6"})
    session.prompt()
    session.response(149_703)
    session.compaction(post=930)
    evidence = read(session.content)
    assert isinstance(evidence, Gap)
    assert evidence.model is None
    for suffix, is_long in (("[1m]", True), ("", False)):
        session.attachment("model", identity={"modelId": f"claude-opus-4-6{suffix}"})
        evidence = read(session.content)
        assert isinstance(evidence, Gap)
        assert evidence.model == ModelRef(id="claude-opus-4-6", long_context_marker=is_long)


# -- the turn ---------------------------------------------------------------------------------


def two_turns() -> TranscriptRows:
    """Return a session whose second turn has a prompt and no response."""
    session = answered(40_000)
    session.prompt_id = OTHER_TURN
    session.prompt()
    return session


@pytest.mark.parametrize("phase", list(Phase))
def test_a_response_of_another_turn_is_never_the_asked_turns(phase: Phase) -> None:
    session = two_turns()
    found = read(session.content, turn_id=OTHER_TURN, phase=phase)
    assert found == Gap(reason=MissingReason.TURN_NOT_FOUND)
    session.response(50_000)
    assert used(read(session.content, turn_id=OTHER_TURN, phase=phase)) == 50_000


@pytest.mark.parametrize("phase", [Phase.ACTIVE, Phase.LATEST])
def test_a_turn_that_others_followed_is_neither_active_nor_the_latest(phase: Phase) -> None:
    session = three_turns()
    assert reason(read(session.content, turn_id=TURN, phase=phase)) == "turn_not_found"


def three_turns() -> TranscriptRows:
    """Return a session of three turns with the responses 40,000, 50,000 and 51,000, and 60,000."""
    session = two_turns()
    session.response(50_000)
    session.tool_result()
    session.response(51_000)
    session.prompt_id = THIRD_TURN
    session.prompt()
    session.response(60_000)
    return session


@pytest.mark.parametrize(
    ("turn_id", "tokens"), [(TURN, 40_000), (OTHER_TURN, 51_000), (THIRD_TURN, 60_000)]
)
def test_an_ended_turn_is_measured_by_its_own_last_response(turn_id: str, tokens: int) -> None:
    content = three_turns().content
    for window in (64, 1_024, 64 * 1_024):
        found = read(content, window=window, turn_id=turn_id, phase=Phase.TERMINAL)
        assert used(found) == tokens


def test_an_ended_turn_that_was_rewound_is_not_found() -> None:
    session = answered(40_000)
    asked = session.leaf
    session.prompt_id = OTHER_TURN
    session.prompt()
    session.response(50_000)
    session.leaf, session.prompt_id = asked, THIRD_TURN
    session.prompt()
    session.response(45_000)
    asked_for: dict[str, Any] = {"phase": Phase.TERMINAL}
    assert reason(read(session.content, turn_id=OTHER_TURN, **asked_for)) == "turn_not_found"
    assert used(read(session.content, turn_id=TURN, **asked_for)) == 40_000


def test_an_ended_turn_out_of_reach_is_not_found_and_no_other_is_taken() -> None:
    rows = three_turns().content.splitlines(keepends=True)
    found = read(b"".join(rows[-4:]), turn_id=TURN, phase=Phase.TERMINAL)
    assert reason(found) == "turn_not_found"
    found = read(b"".join(rows), window=512, budget=1_024, turn_id=TURN, phase=Phase.TERMINAL)
    assert reason(found) == "turn_not_found"


@pytest.mark.parametrize("later_id", ["msg_2", "msg_1"])
def test_an_ended_turn_is_measured_when_its_last_block_was_received(later_id: str) -> None:
    session = TranscriptRows()
    session.prompt()
    first = session.response(40_000, message_id="msg_1")
    session.response(40_000, message_id="msg_1")
    received = session.now - timedelta(seconds=1)
    session.tool_result(parentUuid=first)  # parallel tools: the chain leaves the last block out
    ended = session.leaf
    session.prompt_id = "another-turn"
    session.prompt()
    session.response(45_000)
    session.leaf = ended
    session.prompt()
    session.response(50_000, message_id=later_id)
    found = read(session.content, turn_id=TURN, phase=Phase.TERMINAL)
    assert used(found) == 40_000
    assert isinstance(found, UsedTokens)
    assert found.measured_at == received


def test_an_ended_turn_is_not_measured_by_a_rewound_one_that_a_gateway_gave_its_id() -> None:
    session = TranscriptRows(prompt_id=None)
    session.prompt()
    ended = session.response(40_000, message_id="msg_1")
    session.prompt()
    session.response(45_000, message_id="msg_1")
    session.leaf, session.prompt_id = ended, OTHER_TURN
    session.prompt()
    session.response(50_000, message_id="msg_1")
    found = read(session.content, turn_id=TURN, turn_started_at=START, phase=Phase.TERMINAL)
    assert used(found) == 40_000


def test_an_ended_turn_of_another_conversation_is_not_found() -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(40_000, sessionId="5e551014-0000-4000-8000-000000000002")
    session.prompt_id = OTHER_TURN
    session.prompt()
    session.response(50_000)
    found = read(session.content, turn_id=TURN, phase=Phase.TERMINAL)
    assert reason(found) == "turn_not_found"


def test_an_ended_turn_begins_after_a_response_at_the_root() -> None:
    session = TranscriptRows()
    session.response(40_000)
    asked: dict[str, Any] = {"turn_id": TURN, "phase": Phase.TERMINAL}
    later = START + timedelta(seconds=1)
    assert reason(read(session.content, **asked, turn_started_at=later)) == "turn_not_found"


def test_an_ended_turn_that_names_no_turn_is_told_by_nothing() -> None:
    session = TranscriptRows(prompt_id=None)
    session.prompt()
    session.response(40_000)
    session.prompt_id = OTHER_TURN
    session.prompt()
    session.response(50_000)
    found = read(session.content, turn_id=TURN, phase=Phase.TERMINAL)
    assert reason(found) == "turn_ids_not_recorded"


def test_the_latest_sample_needs_no_turn() -> None:
    assert used(read(two_turns().content)) == 40_000


def test_at_a_stop_hook_the_last_row_may_be_missing_but_not_the_turn() -> None:
    session = answered(40_000)
    session.tool_result()
    assert used(read(session.content, turn_id=TURN, phase=Phase.TERMINAL)) == 40_000


def test_the_request_names_the_turn_through_attachments_and_blocks() -> None:
    session = TranscriptRows()
    session.prompt()
    session.attachment("skill_listing")
    session.row("system", subtype="api_error")
    session.response(40_000, message_id="msg_01abc")
    session.response(40_000, message_id="msg_01abc")
    assert used(read(session.content, turn_id=TURN, phase=Phase.ACTIVE)) == 40_000


def test_a_meta_row_names_a_turn_only_if_it_has_one() -> None:
    session = TranscriptRows()
    session.prompt()
    session.prompt(isMeta=True, promptId=ABSENT)
    session.response(40_000)
    assert used(read(session.content, turn_id=TURN)) == 40_000
    session.prompt(isMeta=True, promptId=OTHER_TURN)
    session.response(41_000)
    assert reason(read(session.content, turn_id=TURN)) == "turn_not_found"


def test_an_active_turn_must_be_named_or_dated() -> None:
    session = answered()
    assert reason(read(session.content, phase=Phase.ACTIVE)) == "turn_ids_not_recorded"


def unnamed_turns() -> TranscriptRows:
    """Return a session of a version that records no turn ids."""
    session = TranscriptRows(prompt_id=None, version="2.1.71")
    session.prompt()
    session.response(40_000)
    return session


@pytest.mark.parametrize("phase", list(Phase))
def test_where_no_turn_ids_are_recorded_only_a_time_can_tell(phase: Phase) -> None:
    content = unnamed_turns().content
    asked: dict[str, Any] = {"turn_id": TURN, "phase": phase}
    second = timedelta(seconds=1)
    assert reason(read(content, **asked)) == "turn_ids_not_recorded"
    assert used(read(content, **asked, turn_started_at=START + second)) == 40_000
    assert reason(read(content, **asked, turn_started_at=START + 2 * second)) == "turn_not_found"
    asked["turn_id"] = None
    assert used(read(content, **asked, turn_started_at=START + second)) == 40_000
    assert reason(read(content, **asked, turn_started_at=START + 2 * second)) == "turn_not_found"


def test_a_time_tells_nothing_about_a_response_without_one() -> None:
    session = TranscriptRows()
    session.prompt()
    session.response(40_000, timestamp=ABSENT)
    assert reason(read(session.content, turn_started_at=START)) == "turn_not_found"


def test_a_prompt_without_a_turn_id_does_not_pass_an_older_turn_on() -> None:
    session = two_turns()
    session.prompt(promptId=ABSENT)
    session.response(50_000)
    assert reason(read(session.content, turn_id=OTHER_TURN)) == "turn_ids_not_recorded"


def test_a_response_at_the_root_belongs_to_no_recorded_turn() -> None:
    session = TranscriptRows()
    session.response(40_000)
    assert reason(read(session.content, turn_id=TURN)) == "turn_ids_not_recorded"


def test_a_response_whose_request_is_missing_belongs_to_no_known_turn() -> None:
    session = TranscriptRows(leaf="nowhere")
    session.response(40_000)
    assert used(read(session.content)) == 40_000
    assert reason(read(session.content, turn_id=TURN)) == "chain_broken"


# -- forks ------------------------------------------------------------------------------------


def test_a_forks_copies_carry_the_new_turns_id_and_are_told_by_their_place() -> None:
    fork = answered(40_000)
    fork.prompt()
    assert reason(read(fork.content, turn_id=TURN)) == "carried_over"
    assert reason(read(fork.content, turn_id=TURN, phase=Phase.ACTIVE)) == "carried_over"
    assert used(read(fork.content)) == 40_000
    fork.response(45_000)
    assert used(read(fork.content, turn_id=TURN, phase=Phase.ACTIVE)) == 45_000


def test_a_forks_copies_are_told_by_their_time_while_its_prompt_is_not_written() -> None:
    later = START + timedelta(minutes=5)
    fork = answered(40_000)
    asked: dict[str, Any] = {"turn_id": TURN, "phase": Phase.ACTIVE}
    assert reason(read(fork.content, **asked, turn_started_at=later)) == "carried_over"
    received = START + timedelta(seconds=1)
    assert used(read(fork.content, **asked, turn_started_at=received)) == 40_000


@pytest.mark.parametrize(
    "fields",
    [
        {"isMeta": True},
        {"interruptedMessageId": "msg_01abc"},
        {"rowSource": "harness"},
        {"message": {"content": [{"type": "text", "text": "[Request interrupted by user]"}]}},
        {"message": {"content": "[Request interrupted by user for tool use]"}},
        {"message": {"content": ["", {"type": "tool_result", "tool_use_id": "toolu_1"}]}},
        {"sessionId": OTHER_SESSION},
        {"promptId": OTHER_TURN},
        {"type": "attachment"},
    ],
)
def test_what_is_no_prompt_does_not_begin_the_turn_again(fields: dict[str, Any]) -> None:
    session = answered(40_000)
    session.prompt(**fields)
    found = read(session.content, session_id=session.session_id, turn_id=TURN)
    assert used(found) == 40_000


@pytest.mark.parametrize(
    "content", ["Go on", [{"type": "text", "text": "Go on"}], ["Go on"], None, 7]
)
def test_a_prompt_begins_the_turn_in_any_form(content: Any) -> None:
    session = answered(40_000)
    session.user(content)
    assert reason(read(session.content, turn_id=TURN)) == "carried_over"


def test_rows_that_the_sdk_forked_are_another_sessions_numbers() -> None:
    # fork_session dates the last copied row with the moment of the fork.
    fork = answered(40_000, forkedFrom={"sessionId": OTHER_SESSION, "messageUuid": "x"})
    assert reason(read(fork.content)) == "carried_over"
    fork.prompt()
    assert reason(read(fork.content)) == "carried_over"
    fork.response(45_000)
    assert used(read(fork.content)) == 45_000


# -- usage that cannot be used ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        (ABSENT, "usage_not_reported"),
        (None, "usage_not_reported"),
        (dict.fromkeys(usage(0), 0), "usage_not_reported"),
        (7, "usage_invalid"),
        ({**usage(9), "input_tokens": -5}, "usage_invalid"),
        ({**usage(9), "input_tokens": "5"}, "usage_invalid"),
        ({**usage(9), "input_tokens": True}, "usage_invalid"),
        ({**usage(9), "input_tokens": 2**64}, "usage_invalid"),
        ({**usage(9), "cache_read_input_tokens": None}, "usage_incomplete"),
    ],
)
def test_the_newest_response_decides_even_if_its_usage_is_unusable(
    reported: Any, expected: str
) -> None:
    session = answered(40_000)
    session.prompt()
    session.response(0, message={"usage": reported})
    evidence = read(session.content)
    assert isinstance(evidence, Gap)
    assert evidence.reason.value == expected
    assert evidence.partial is None
    assert evidence.runtime_version == "2.1.332"
    assert evidence.model == ModelRef(id=MODEL, platform="first_party")


@pytest.mark.parametrize("message", [7, "hello", [], False])
def test_a_response_without_a_message_reports_no_usage(message: Any) -> None:
    assert reason(read(answered(message=message).content)) == "usage_not_reported"


def test_a_key_that_is_written_twice_makes_the_response_worthless() -> None:
    content = answered(40_000).content.replace(b'"input_tokens":2', b'"input_tokens":1,' * 2, 1)
    content = content.replace(b'"input_tokens":1,,', b'"input_tokens":1,')
    assert content.count(b'"input_tokens":1') == 2
    assert read(content) == Gap(reason=MissingReason.SOURCE_MALFORMED, runtime_version="2.1.332")


def test_a_key_that_is_written_twice_elsewhere_does_no_harm() -> None:
    content = answered(40_000).content
    assert used(read(content.replace(b'"type":"user"', b'"type":"user","type":"user"'))) == 40_000


def test_a_server_side_tool_loop_counts_its_last_call_only() -> None:
    calls = [
        {"type": "message", **usage(52_000)},
        {"type": "message", **usage(54_010)},
        {"type": "compaction", **usage(9)},
    ]
    whole = {**usage(160_030), "iterations": calls}
    assert used(read(answered(message={"usage": whole}).content)) == 54_010


# -- the model --------------------------------------------------------------------------------


def marker(session: TranscriptRows) -> bool | None:
    evidence = read(session.content)
    assert isinstance(evidence, UsedTokens)
    assert evidence.model is not None
    assert evidence.model.id == MODEL
    return evidence.model.long_context_marker


def marked(**fields: Any) -> bool | None:
    """Return the marker of a session with a model attachment, a response and a ledger."""
    session = TranscriptRows()
    if "attached" in fields:
        session.attachment("model", identity={"modelId": fields.pop("attached")})
    session.prompt()
    ledger = fields.pop("ledger", None)
    session.response(40_000, **fields)
    if ledger is not None:
        entries = {name: {"inputTokens": 1} for name in ledger}
        session.loose(
            {"type": "cost-state", "sessionId": session.session_id, "modelUsage": entries}
        )
    return marker(session)


@pytest.mark.parametrize(("suffix", "expected"), [("", False), ("[1m]", True), ("[1M]", True)])
def test_each_name_that_keeps_the_marker_is_evidence(suffix: str, expected: bool) -> None:
    asked = MODEL + suffix
    assert marked(requestedModel=asked) is expected
    assert marked(attached=asked) is expected
    assert marked(ledger=[asked]) is expected


def test_the_stronger_evidence_wins() -> None:
    asked = MODEL + "[1m]"
    assert marked(requestedModel=MODEL, attached=asked, ledger=[asked]) is False
    assert marked(attached=MODEL, ledger=[asked]) is False


def test_without_a_name_that_keeps_the_marker_there_is_no_evidence() -> None:
    assert marked() is None


@pytest.mark.parametrize("name", ["claude-opus-4-6[1m]", "sonnet[1m]", "[1m]", "", None, 7, {}])
def test_the_name_of_another_model_is_no_evidence(name: Any) -> None:
    assert marked(requestedModel=name) is None
    assert marked(requestedModel=name, attached=MODEL + "[1m]") is True
    assert marked(attached=name) is None
    assert marked(attached=name, ledger=[MODEL + "[1m]"]) is True


def test_a_date_in_the_id_does_not_make_another_model() -> None:
    assert marked(requestedModel="claude-sonnet-4-5[1m]") is True


def test_a_ledger_with_two_entries_for_the_model_is_no_evidence() -> None:
    assert marked(ledger=[MODEL, MODEL + "[1m]"]) is None
    assert marked(ledger=["", "claude-haiku-4-5", MODEL + "[1m]"]) is True


def test_a_ledger_of_before_the_response_does_not_count_it() -> None:
    session = TranscriptRows()
    entries: dict[str, Any] = {MODEL + "[1m]": {}}
    session.loose({"type": "cost-state", "sessionId": session.session_id, "modelUsage": entries})
    session.prompt()
    session.response(40_000)
    assert marker(session) is None


def test_a_model_that_is_named_after_the_response_is_for_the_next_one() -> None:
    session = answered()
    session.attachment("model", identity={"modelId": MODEL + "[1m]"})
    assert marker(session) is None


@pytest.mark.parametrize(
    "attachment",
    [
        None,
        7,
        {"type": "model"},
        {"type": "model", "identity": 7},
        {"type": "agent", "identity": {"modelId": MODEL + "[1m]"}},
    ],
)
def test_an_attachment_that_names_no_model_is_no_evidence(attachment: Any) -> None:
    session = TranscriptRows()
    session.row("attachment", attachment=attachment, modelId=MODEL)
    session.prompt()
    session.response(40_000)
    session.loose({"type": "cost-state", "sessionId": session.session_id, "modelUsage": 7})
    assert marker(session) is None


@pytest.mark.parametrize(
    ("message_id", "platform"),
    [
        ("msg_01abc", "first_party"),
        ("msg_bdrk_01abc", "bedrock"),
        ("msg_vrtx_01abc", "vertex"),
        ("msg_mock0001", None),
        (7, None),
    ],
)
def test_the_message_id_tells_the_platform(message_id: Any, platform: str | None) -> None:
    evidence = read(answered(message_id=message_id).content)
    assert isinstance(evidence, UsedTokens)
    assert evidence.model == ModelRef(id=MODEL, platform=platform)


@pytest.mark.parametrize("name", [ABSENT, None, "", 7, {}])
def test_a_response_without_a_model_is_measured_without_one(name: Any) -> None:
    evidence = read(answered(message={"model": name}).content)
    assert isinstance(evidence, UsedTokens)
    assert evidence.model is None


# -- the window of bytes ----------------------------------------------------------------------


def padded(session: TranscriptRows) -> None:
    """Write a row that is longer than the windows of these tests."""
    session.attachment("prompt_snapshot", text="x" * 5_000)


def test_more_is_asked_for_until_the_response_is_in_the_window() -> None:
    session = answered()
    padded(session)
    assert used(read(session.content, window=100)) == 40_000
    assert used(read(session.content, window=2_000)) == 40_000


def test_a_window_without_a_message_is_no_answer_when_the_budget_ends() -> None:
    session = answered()
    padded(session)
    session.loose({"type": "mode", "sessionId": session.session_id})
    for asked in ({}, {"session_id": session.session_id}):
        found = read(session.content, window=2_000, budget=2_000, **asked)
        assert reason(found) == "budget_exhausted"
    found = read(session.content, window=2_000, budget=2_000, session_id=OTHER_SESSION)
    assert reason(found) == "session_mismatch"


def test_an_ancestry_that_leaves_the_window_is_cut_off_when_the_budget_ends() -> None:
    session = answered()
    padded(session)
    session.prompt()
    assert used(read(session.content, window=2_000)) == 40_000
    assert reason(read(session.content, window=2_000, budget=2_000)) == "chain_truncated"


def test_a_turn_that_begins_before_the_window_is_cut_off_when_the_budget_ends() -> None:
    session = TranscriptRows()
    session.prompt()
    padded(session)
    session.response(40_000)
    assert used(read(session.content, window=2_000)) == 40_000
    assert used(read(session.content, window=2_000, turn_id=TURN)) == 40_000
    found = read(session.content, window=2_000, budget=2_000, turn_id=TURN)
    assert reason(found) == "chain_truncated"


def test_a_new_root_is_not_measured_yet_unless_something_older_was_rewound() -> None:
    session = answered()
    padded(session)
    session.leaf = None
    session.prompt()
    assert reason(read(session.content, window=2_000)) == "rewound"
    assert reason(read(session.content, window=2_000, budget=2_000)) == "not_measured_yet"


def test_a_boundary_that_the_window_cuts_off_is_stood_in_for_by_its_summary() -> None:
    session = answered(149_703)
    session.compaction(post=930)
    preserved(session)
    window = len(joined(session.rows[3:])) + 1  # a line break shows that the summary is complete
    found = read(session.content, window=window, budget=window)
    assert reason(found) == "compacted"
    found = read(session.content, window=window)
    assert isinstance(found, Gap)
    assert found.partial is not None
    assert found.partial.used_tokens == 930


# -- what it costs ----------------------------------------------------------------------------


def cost(session: TranscriptRows, window: int = 64 * KIB, **asked: Any) -> ReadStats:
    budget = ReadBudget(initial=window, maximum=4 * MIB)
    observation = observe("claude.transcript", session.content, at=START, budget=budget, **asked)
    return observation.provenance.stats


def test_a_compaction_in_the_window_is_told_without_reading_on() -> None:
    session = answered(149_703)
    session.compaction()
    preserved(session)
    window = len(joined(session.rows[2:])) + 1
    assert cost(session, window).bytes_read == window


def asides(session: TranscriptRows) -> None:
    """Write rows that nothing hangs off, and that do not name what others hang off."""
    leaf = session.leaf
    for _ in range(5):
        session.row("attachment", parentUuid=None, attachment={"type": "file"})
    session.leaf = leaf


def test_of_rows_that_cannot_matter_none_is_decoded() -> None:
    session = TranscriptRows()
    session.prompt()
    asides(session)
    session.response(40_000)
    asides(session)
    session.tool_result()
    asides(session)
    assert cost(session).rows_decoded == 2  # the tool's result and the response


def test_of_the_rows_of_before_a_compaction_none_is_decoded() -> None:
    session = answered(149_703)
    asides(session)
    session.compaction()
    session.prompt()
    session.response(30_000)
    asides(session)
    assert cost(session).rows_decoded == 3  # the response, the boundary and the summary


def test_of_the_rows_around_an_ended_turn_none_is_decoded() -> None:
    session = answered(40_000)
    asides(session)
    session.prompt_id = OTHER_TURN
    session.prompt()
    session.response(50_000)
    assert cost(session, turn_id=TURN, phase=Phase.TERMINAL).rows_decoded == 4


def test_the_model_is_looked_for_in_the_rows_that_can_name_it() -> None:
    session = answered(149_703)
    session.compaction()
    asides(session)
    assert cost(session).rows_decoded == 3  # the response, the boundary and the summary


# -- the shared cases -------------------------------------------------------------------------


def _transcript_cases() -> list[Any]:
    cases = json.loads((CASES / "cases.json").read_bytes())["cases"]
    return [
        pytest.param(CASES / case["file"], case["expect"], id=case["id"])
        for case in cases
        if case["source"] == "claude.transcript"
    ]


@pytest.mark.parametrize(("path", "expect"), _transcript_cases())
def test_the_shared_cases_have_their_answer(path: Path, expect: dict[str, Any]) -> None:
    evidence = read(path.read_bytes())
    counted = expect.get("used_tokens", expect.get("partial_used"))
    if counted is not None:
        assert used(evidence) == counted
    else:
        assert reason(evidence) in expect["missing"]
