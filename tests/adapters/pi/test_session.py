from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from pi_rows import AT, read, shown

import ctxmeasure as cm
from ctxmeasure.adapters.pi.session import SESSION
from ctxmeasure.bounded.budget import KIB
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import Gap, Phase, UsedTokens
from ctxmeasure.observation import MissingReason, Partial, UsedBasis
from ctxmeasure.testing import ABSENT, START
from ctxmeasure.testing.hostile import any_json, spoilt
from ctxmeasure.testing.pi.rows import MODEL, PROVIDER, SESSION_ID, SessionRows, reply, said, usage
from ctxmeasure.testing.session import without_absent

SECOND = timedelta(seconds=1)


def replied(used: int = 50_000, version: int = 3) -> SessionRows:
    """Return a file whose first question has a reply."""
    writer = SessionRows(version)
    writer.select(MODEL)
    writer.say()
    writer.reply(used)
    return writer


# -- the reply in force -------------------------------------------------------------------------


@pytest.mark.parametrize("version", [1, 2, 3])
def test_the_last_reply_is_measured(version: int) -> None:
    seen = read(replied(version=version).content)
    assert isinstance(seen, UsedTokens)
    assert seen.used_tokens == 50_000
    assert seen.used_basis is UsedBasis.PROMPT_AND_OUTPUT
    assert seen.usage is not None
    assert seen.usage.prompt_tokens == 49_990
    assert seen.model == ModelRef(id=MODEL, provider=PROVIDER)
    assert seen.measured_at == START + 3 * SECOND
    assert seen.identity == (SESSION_ID, str(reply(50_000)["timestamp"]))
    assert not seen.lower_bound


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize(
    ("role", "kind"),
    [
        *[(role, "message") for role in ("user", "toolResult", "bashExecution", "custom")],
        *[(role, "message") for role in ("system", "hookMessage", "compactionSummary")],
        ("custom", "custom_message"),
    ],
)
def test_what_was_added_since_makes_it_a_lower_bound(version: int, role: str, kind: str) -> None:
    writer = replied(version=version)
    if kind == "message":
        writer.say(role, usage=usage(90_000))  # of nested model work (0.81.0)
    else:
        writer.row(kind, content="words", customType="x", display=True)
    assert shown(read(writer.content)) == "50000+"


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("thinking_level_change", {"thinkingLevel": "high"}),
        ("label", {"targetId": "00000001", "label": "here"}),
        ("session_info", {"name": "words"}),
        ("custom", {"customType": "pi.virtual-model-state", "data": {"usage": usage(7_000)}}),
        ("usage", {"kind": "cache_warm", "provider": "p", "model": "m", "usage": usage(90_000)}),
        ("branch_summary", {"fromId": "root", "summary": "", "usage": usage(90_000)}),
        ("of_tomorrow", {"usage": usage(90_000), "message": reply(90_000)}),
    ],
)
def test_a_node_that_carries_nothing_changes_nothing(kind: str, fields: dict[str, Any]) -> None:
    writer = replied()
    writer.row(kind, **fields)
    assert shown(read(writer.content)) == 50_000


def test_the_summary_of_a_branch_is_added_and_its_usage_is_not() -> None:
    writer = replied()
    fork = writer.leaf
    writer.say()
    writer.reply(90_000)
    writer.back_to(fork)
    writer.row("branch_summary", fromId="x", summary="words", usage=usage(90_500))
    assert shown(read(writer.content)) == "50000+"


@pytest.mark.parametrize("stopped", ["aborted", "error"])
def test_a_reply_that_came_to_nothing_is_passed_over(stopped: str) -> None:
    writer = replied()
    writer.say()
    writer.reply(50_961, stopReason=stopped)
    assert shown(read(writer.content)) == "50000+"


@pytest.mark.parametrize("fields", [{"stopReason": "aborted"}, {"usage": None}])
def test_what_a_reply_that_is_passed_over_has_said_is_added(fields: dict[str, Any]) -> None:
    writer = replied()
    writer.reply(50_961, **fields)
    assert shown(read(writer.content)) == "50000+"


@pytest.mark.parametrize("nothing", [None, usage(0, input=0, output=0, cacheRead=0, cacheWrite=0)])
def test_a_reply_without_usage_is_passed_over_unless_there_is_no_other(nothing: Any) -> None:
    first, later = SessionRows(), replied()
    for writer in (first, later):
        writer.say()
        writer.reply(usage=nothing)
        writer.say()
    assert shown(read(first.content)) == "usage_not_reported"
    assert shown(read(later.content)) == "50000+"


@pytest.mark.parametrize(
    ("faulty", "reason"),
    [
        (usage(60_000, input="4"), "usage_invalid"),
        (usage(60_000, totalTokens=-1), "usage_invalid"),
        (usage(60_000, cacheRead=ABSENT), "usage_incomplete"),
    ],
)
def test_a_faulty_usage_decides(faulty: dict[str, Any], reason: str) -> None:
    writer = replied()
    writer.reply(60_000, usage=faulty)
    writer.say("toolResult")
    assert shown(read(writer.content)) == reason


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_conversation_without_a_reply_is_not_measured_yet(version: int) -> None:
    writer = SessionRows(version)
    assert shown(read(writer.content)) == "not_measured_yet"
    writer.say()
    assert shown(read(writer.content)) == "not_measured_yet"
    writer.reply(9_000, stopReason="aborted")
    assert shown(read(writer.content)) == "not_measured_yet"


def test_a_prompt_that_was_too_long_exceeds_the_window_until_a_reply_or_a_compaction() -> None:
    writer = replied()
    writer.say()
    failed = writer.reply(0, stopReason="error", errorMessage="prompt is too long: 9 > 8 maximum")
    assert shown(read(writer.content)) == "window_exceeded"
    writer.row("context_edit", targetId=failed, replacement=None)
    writer.reply(0, stopReason="error", errorMessage="500")
    assert shown(read(writer.content)) == "window_exceeded"
    compacted = evolve(writer, rows=[*writer.rows])
    compacted.compact()
    assert shown(read(compacted.content)) == "compacted"
    writer.reply(20_000)
    assert shown(read(writer.content)) == 20_000


# -- compactions and edits ----------------------------------------------------------------------


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize(
    "kept",
    [
        {},
        {"firstKeptEntryId": "00000004", "firstKeptEntryIndex": ABSENT},  # itself: retains none
        {"firstKeptEntryId": ABSENT, "firstKeptEntryIndex": 1},
        {"firstKeptEntryId": ABSENT, "firstKeptEntryIndex": ABSENT},
    ],
)
def test_a_compaction_voids_what_was_measured_until_a_good_reply(
    version: int, kept: dict[str, Any]
) -> None:
    writer = replied(190_000, version)
    writer.compact(**kept)
    assert shown(read(writer.content)) == "compacted"
    writer.say()
    writer.reply(50_000, stopReason="aborted")
    writer.reply(usage=None)
    assert shown(read(writer.content)) == "compacted"
    writer.reply(9_038)
    assert shown(read(writer.content)) == 9_038


def test_a_compaction_tells_when_and_of_which_model() -> None:
    writer = replied()
    writer.compact()
    writer.select("claude-opus-4-6")
    known = Partial(measured_at=START + 4 * SECOND)
    model = ModelRef(id="claude-opus-4-6", provider=PROVIDER)
    assert read(writer.content) == Gap(reason=MissingReason.COMPACTED, partial=known, model=model)


def test_a_compaction_on_another_branch_does_not_count() -> None:
    writer = replied()
    fork = writer.leaf
    writer.compact()
    writer.back_to(fork)
    writer.say()
    assert shown(read(writer.content)) == "50000+"


def test_a_context_edit_voids_what_is_above_it() -> None:
    writer = replied()
    writer.row("context_edit", targetId="00000002", replacement={"content": "words"})
    writer.say()
    gap = read(writer.content)
    known = Partial(used_tokens=50_000, measured_at=START + 3 * SECOND)
    model = ModelRef(id=MODEL, provider=PROVIDER)
    assert gap == Gap(reason=MissingReason.REWOUND, partial=known, model=model)
    writer.reply(30_000)
    assert shown(read(writer.content)) == 30_000


def test_a_context_edit_where_nothing_was_measured_voids_nothing() -> None:
    writer = SessionRows()
    writer.say()
    writer.row("context_edit", targetId="00000001", replacement=None)
    assert shown(read(writer.content)) == "not_measured_yet"


# -- the tree -----------------------------------------------------------------------------------


def test_the_leaf_is_the_last_row_whatever_its_type() -> None:
    writer = replied()
    fork = writer.leaf
    writer.say()
    writer.reply(90_000)
    writer.back_to(fork)
    writer.row("label", targetId=fork, label="back")
    writer.row("session_info", name="words")
    assert shown(read(writer.content)) == 50_000


def test_a_second_root_begins_anew() -> None:
    writer = replied()
    writer.back_to(None)
    writer.say()
    assert shown(read(writer.content)) == "not_measured_yet"
    writer.reply(7_000)
    assert shown(read(writer.content)) == 7_000


@pytest.mark.parametrize("parent", ["ffffffff", "", "a\nb", "\ud800", 7, ["00000003"]])
def test_a_parent_that_is_not_there_breaks_the_chain(parent: Any) -> None:
    writer = replied()
    writer.row("message", parentId=parent, message=said("user"))
    assert shown(read(writer.content)) == "chain_broken"


def test_a_row_that_is_its_own_ancestor_breaks_the_chain() -> None:
    writer = replied()
    writer.row("message", id="a", parentId="b", message=said("user"))
    writer.row("message", id="b", parentId="a", message=said("user"))
    writer.row("message", id="c", parentId="c", message=said("user"))
    assert shown(read(writer.content)) == "chain_broken"


def test_a_break_above_the_reply_does_not_matter() -> None:
    writer = SessionRows()
    writer.row("message", parentId="ffffffff", message=reply(50_000))
    assert shown(read(writer.content)) == 50_000


def test_an_id_is_found_where_others_only_mention_it() -> None:
    writer = replied()
    fork = writer.leaf
    writer.say()
    writer.row("label", targetId=fork, label=fork)
    writer.back_to(fork)
    writer.say(content=fork)
    assert shown(read(writer.content)) == "50000+"


@pytest.mark.parametrize("version", [1, 3])
def test_a_branch_that_leaves_the_bytes_read_says_so(version: int) -> None:
    writer = replied(version=version)
    for _ in range(60):
        writer.say("toolResult", content="x" * 1_000)
    whole = shown(read(writer.content))
    assert whole == "50000+"
    assert shown(read(writer.content, window=KIB)) == whole
    assert shown(read(writer.content, window=4 * KIB, budget=32 * KIB)) == "chain_truncated"


# -- the model ----------------------------------------------------------------------------------


def test_a_branch_that_is_told_within_the_bytes_read_is_followed_no_further() -> None:
    writer = replied(10_000)
    writer.say(content="x" * 40_000)
    writer.reply(50_000)
    near = cm.ReadBudget(initial=KIB, maximum=64 * KIB)
    observation = cm.observe("pi.session", writer.content, at=AT, budget=near)
    assert observation.provenance.stats.window_truncated


def test_the_model_that_is_selected_at_the_leaf_decides() -> None:
    writer = replied()
    writer.select("gpt-5.4", "openai")
    seen = read(writer.content)
    assert isinstance(seen, UsedTokens)
    assert (seen.used_tokens, seen.model) == (50_000, ModelRef(id="gpt-5.4", provider="openai"))
    observation = cm.observe("pi.session", writer.content, at=AT)
    assert isinstance(observation, cm.Observed)
    assert isinstance(observation.value, cm.TokenMeasurement)
    assert observation.value.limit_tokens == 272_000


def test_what_measures_nothing_names_the_model() -> None:
    def named(writer: SessionRows, **asked: Any) -> str:
        gap = read(writer.content, **asked)
        assert isinstance(gap, Gap)
        assert gap.model == ModelRef(id=MODEL, provider=PROVIDER)
        return gap.reason.value

    writer = SessionRows()
    writer.select(MODEL)
    assert named(writer) == "not_measured_yet"
    writer.reply(usage=None)
    assert named(writer) == "usage_not_reported"
    writer.back_to("ffffffff")
    writer.select(MODEL)
    assert named(writer) == "chain_broken"
    writer = replied()
    for _ in range(60):
        writer.say("toolResult", content="x" * 1_000)
    writer.select(MODEL)
    assert named(writer, window=4 * KIB, budget=32 * KIB) == "chain_truncated"


def test_a_failed_reply_names_the_model_too() -> None:
    writer = replied()
    writer.reply(0, stopReason="error", model="gpt-5.4", provider="openai")
    seen = read(writer.content)
    assert isinstance(seen, UsedTokens)
    assert seen.model == ModelRef(id="gpt-5.4", provider="openai")


def test_a_model_of_another_branch_does_not_count() -> None:
    writer = replied()
    fork = writer.leaf
    writer.select("gpt-5.4", "openai")
    writer.back_to(fork)
    writer.say()
    seen = read(writer.content)
    assert isinstance(seen, UsedTokens)
    assert seen.model == ModelRef(id=MODEL, provider=PROVIDER)


def test_pis_assumed_window_is_never_ours() -> None:
    writer = SessionRows()
    writer.select("my-model", "my-server")
    writer.reply(15_025, model="my-model", provider="my-server")
    observation = cm.observe("pi.session", writer.content, at=AT)
    assert isinstance(observation, cm.Missing)
    assert observation.reason is MissingReason.MODEL_UNKNOWN
    assert observation.partial is not None
    assert observation.partial.used_tokens == 15_025
    assert observation.partial.limit_tokens is None


# -- the header ---------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [4, 0, -1, "3", None, 3.0, True])
def test_a_format_that_is_not_known_is_said_to_be_so(version: Any) -> None:
    writer = replied()
    writer.rows[0]["version"] = version
    assert shown(read(writer.content)) == "schema_unknown"


@pytest.mark.parametrize("header", [{"type": "session"}, {"type": "session", "id": 7}, {"a": 1}])
def test_a_file_without_a_header_is_no_session(header: dict[str, Any]) -> None:
    writer = replied()
    writer.rows[0] = header
    assert shown(read(writer.content)) == "source_malformed"


def test_a_file_without_a_row_holds_no_session_yet() -> None:
    assert shown(read(b"")) == "session_not_found"
    assert shown(read(b'{"type":"sess')) == "session_not_found"


def test_lines_before_the_header_that_are_no_rows_are_passed_over() -> None:
    assert shown(read(b"not json\n" + replied().content)) == 50_000


@pytest.mark.parametrize("version", [1, 2, 3])
def test_the_file_of_another_session_behind_the_first_leaves_open_which_is_meant(
    version: int,
) -> None:
    first, other = SessionRows(version), SessionRows(version)
    first.reply(50_000)
    other.rows[0]["id"] = "other"
    other.reply(60_000)
    assert shown(read(first.content + other.content)) == "session_ambiguous"
    assert shown(read(first.content + other.content, session_id=SESSION_ID)) == "session_ambiguous"
    assert shown(read(first.content + first.content)) == 50_000
    first.row("custom", customType="words", data={"session": {"type": "session", "id": "other"}})
    assert shown(read(first.content)) == 50_000


@pytest.mark.parametrize("parent", [ABSENT, None])
def test_a_header_is_no_parent(parent: Any) -> None:
    writer = SessionRows()
    writer.rows[0] = without_absent({**writer.rows[0], "parentId": parent})
    writer.reply(50_000)
    writer.leaf = SESSION_ID
    writer.say()
    assert shown(read(writer.content)) == "chain_broken"


def test_the_stream_is_not_the_file() -> None:
    header = SessionRows().content
    event = json.dumps({"type": "turn_end", "message": reply(7_000)}).encode() + b"\n"
    assert shown(read(header + event)) == "source_malformed"
    assert shown(read(header + event * 2_000, budget=64 * KIB)) == "budget_exhausted"


def test_objects_that_are_no_rows_are_passed_over() -> None:
    garbage = b'{"level":"info"}\n{"type":"message","message":{}}\n{"id":"x","parentId":null}\n'
    garbage += b'{"type":"message","id":"x"}\n{"type":"message","parentId":null}\n'
    assert shown(read(replied().content + garbage)) == 50_000


def test_a_header_that_is_not_read_is_missed_only_where_a_session_is_asked_for() -> None:
    writer = replied()
    writer.rows[0]["cwd"] = "x" * 20_000
    near = {"window": KIB, "budget": 20 * KIB}
    assert shown(read(writer.content, **near)) == 50_000
    asked = read(writer.content, **near, session_id=SESSION_ID)
    assert shown(asked) == "session_not_found"
    assert shown(read(writer.content, window=KIB, session_id=SESSION_ID)) == 50_000
    assert shown(read(writer.content, **near, agent_id="a")) == "session_mismatch"


# -- what is asked ------------------------------------------------------------------------------


def test_another_session_or_a_sub_agent_is_a_mismatch() -> None:
    content = replied().content
    assert shown(read(content, session_id=SESSION_ID)) == 50_000
    assert shown(read(content, session_id="other")) == "session_mismatch"
    assert shown(read(content, agent_id="a")) == "session_mismatch"


@pytest.mark.parametrize("phase", list(Phase))
def test_a_turn_is_told_by_when_it_began(phase: Phase) -> None:
    content = replied().content
    began = START + 3 * SECOND
    assert shown(read(content, phase=phase, turn_started_at=began)) == 50_000
    later = began + SECOND
    assert shown(read(content, phase=phase, turn_started_at=later)) == "turn_not_found"
    is_active = phase is Phase.ACTIVE
    assert shown(read(content, phase=phase)) == ("turn_ids_not_recorded" if is_active else 50_000)
    assert shown(read(content, phase=phase, turn_id="t")) == "turn_ids_not_recorded"


def test_a_row_without_a_time_is_dated_by_its_message() -> None:
    writer = SessionRows()
    writer.row("message", timestamp=ABSENT, message=reply(50_000))
    seen = read(writer.content)
    assert isinstance(seen, UsedTokens)
    assert seen.measured_at is not None
    assert seen.measured_at.timestamp() * 1_000 == reply(50_000)["timestamp"]
    writer.rows[-1]["message"]["timestamp"] = None
    undated = read(writer.content)
    assert isinstance(undated, UsedTokens)
    assert undated.measured_at is None
    assert undated.identity == ()


# -- by its looks -------------------------------------------------------------------------------


def without(row: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in keys}


LINKED = {"type": "message", "id": "a", "parentId": None, "timestamp": "t", "message": reply(1)}
SELECTED = {**without(LINKED, "message"), "type": "model_change", "provider": "p", "modelId": "m"}


@pytest.mark.parametrize(
    ("row", "is_told"),
    [
        (LINKED, True),
        ({**LINKED, "more": 1}, True),
        (without(LINKED, "id", "parentId"), True),  # format 1
        ({**without(LINKED, "id", "parentId"), "more": 1}, False),
        (without(LINKED, "id"), False),
        (without(LINKED, "parentId"), False),
        (without(LINKED, "timestamp"), False),
        ({**LINKED, "message": said("user")}, False),
        ({**LINKED, "message": reply(1, role="user")}, False),
        ({**LINKED, "message": reply(1, model=None)}, False),
        ({**LINKED, "message": reply(1, api=None)}, False),
        (SELECTED, True),
        (without(SELECTED, "provider"), False),
        (without(SELECTED, "modelId"), False),
        (without(SELECTED, "id"), False),
        ({**LINKED, "type": "turn_end"}, False),
        ({**SELECTED, "type": "label"}, False),
    ],
)
def test_a_row_that_names_the_model_or_holds_a_reply_is_told(
    row: dict[str, Any], is_told: bool
) -> None:
    assert SESSION.recognise is not None
    assert SESSION.recognise(row) is is_told


# -- bad data -----------------------------------------------------------------------------------


def test_a_reply_that_names_a_key_twice_is_malformed() -> None:
    writer = replied()
    head, _, last = writer.content.rstrip(b"\n").rpartition(b"\n")
    doubled = last.replace(b'"input":4', b'"input":4,"input":5')
    assert doubled != last
    gap = read(head + b"\n" + doubled + b"\n")
    model = ModelRef(id=MODEL, provider=PROVIDER)
    assert gap == Gap(reason=MissingReason.SOURCE_MALFORMED, model=model)


def test_a_spoilt_row_is_measured_or_named() -> None:
    writer = replied()
    whole = writer.rows[-1]
    for row in spoilt(whole):
        writer.rows[-1] = row
        assert shown(read(writer.content)) is not None


@st.composite
def _rows(draw: st.DrawFn) -> dict[str, Any]:
    kinds = ["message", "compaction", "context_edit", "model_change", "branch_summary", "session"]
    row = draw(st.dictionaries(st.sampled_from(["timestamp", "message", "summary"]), any_json()))
    row["type"] = draw(st.sampled_from(kinds) | any_json())
    row["id"] = draw(st.sampled_from(["a", "b", "c"]) | any_json())
    row["parentId"] = draw(st.sampled_from(["a", "b", "c", None]) | any_json())
    return dict(row)


@given(st.lists(_rows(), max_size=6), st.sampled_from([1, 2, 3]))
def test_any_rows_are_measured_or_named(rows: list[dict[str, Any]], version: int) -> None:
    writer = SessionRows(version)
    writer.rows += rows
    assert shown(read(writer.content)) is not None
    for row in rows:
        assert SESSION.recognise is not None
        SESSION.recognise(row)


@st.composite
def _stories(draw: st.DrawFn) -> tuple[SessionRows, int | str]:
    """Draw a file that is written by small steps, and what a reader must see of it."""
    writer = SessionRows(draw(st.sampled_from([2, 3])))
    seen: dict[str | None, int | str] = {None: "not_measured_yet"}
    for number in range(draw(st.integers(0, 12))):
        at = draw(st.sampled_from(list(seen)))
        writer.back_to(at)
        shown_there, used = seen[at], 1_000 + number
        grown = f"{shown_there}+" if isinstance(shown_there, int) else shown_there
        match draw(st.sampled_from(["say", "reply", "fail", "compact", "label", "edit"])):
            case "say":
                words = "x" * draw(st.integers(0, 12_000))  # beyond what is read of the beginning
                seen[writer.say(content=words)] = grown
            case "reply":
                seen[writer.reply(used)] = used
            case "fail":
                seen[writer.reply(used, stopReason="aborted")] = grown
            case "compact":
                seen[writer.compact()] = "compacted"
            case "label":
                seen[writer.row("label", targetId=at)] = shown_there
            case _:
                is_void = isinstance(shown_there, int) or shown_there.endswith("+")
                seen[writer.row("context_edit", targetId=at)] = "rewound" if is_void else grown
    return writer, list(seen.values())[-1]


@given(_stories(), st.integers(1, 8_000))
def test_every_tree_is_read_as_it_was_written(
    story: tuple[SessionRows, int | str], window: int
) -> None:
    writer, seen = story
    assert shown(read(writer.content, window=window)) == seen
