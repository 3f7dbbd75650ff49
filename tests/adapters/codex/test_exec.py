from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import define
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.adapters.codex.exec import EXEC, ExecState, query_from_exec
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import Evidence, Gap, Phase, Query, TokenPair, UsedTokens
from ctxmeasure.observation import LimitBasis, MissingReason, Partial, UsedBasis
from ctxmeasure.testing.hostile import any_json, spoilt
from ctxmeasure.usage import TokenUsage

AT = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
ROOT = Path(__file__).parents[2] / "recordings"
STREAMS = sorted(ROOT.glob("codex*/*/stream*.jsonl"))
VERSIONS = ROOT / "codex-versions"
TWO_RUNS = VERSIONS / "exec_json_v0.171.0_two_runs_cumulative.jsonl"
FLAT = VERSIONS / "exec_json_v0.20.0_flat_token_count.jsonl"
WITH_INFO = VERSIONS / "exec_json_v0.36.0_proto_token_count.jsonl"
THREAD = "01a22899-c906-75d1-948b-01379881aafd"


@define
class Feed:
    """A stream that is fed line by line, as the verb does it; each comes a second later."""

    state: ExecState = EXEC.initial
    now: datetime = AT

    def __call__(self, *lines: dict[str, Any]) -> Feed:
        for line in lines:
            self.now += SECOND
            if EXEC.relevant(json.dumps(line).encode()):
                self.state = EXEC.step(self.state, line, Query(at=self.now))
        return self

    def evidence(self, **asked: Any) -> Evidence:
        return EXEC.evidence(self.state, Query(**{"at": self.now, **asked}))

    def peak(self, **asked: Any) -> Evidence:
        return EXEC.peak(self.state, Query(**{"at": self.now, **asked}))

    def gap(self, **asked: Any) -> Gap:
        seen = self.evidence(**asked)
        assert isinstance(seen, Gap)
        return seen

    def used(self, **asked: Any) -> int | None:
        seen = self.evidence(**asked)
        return seen.usage.total_tokens if isinstance(seen, UsedTokens) and seen.usage else None


def lines_of(path: Path) -> list[dict[str, Any]]:
    return list(map(json.loads, path.read_bytes().splitlines()))


def short(path: Path) -> str:
    return "/".join(path.relative_to(ROOT).parts[:2]) + "/" + path.stem


# -- recordings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*STREAMS, TWO_RUNS], ids=short)
def test_the_present_form_is_cumulative_whatever_it_says(path: Path) -> None:
    feed = Feed()
    for line in lines_of(path):
        feed(line)
        assert feed.gap().reason is MissingReason.CUMULATIVE_ONLY
        assert feed.gap().partial is None
        assert isinstance(feed.peak(), Gap)


@pytest.mark.parametrize("path", [*STREAMS, TWO_RUNS], ids=short)
def test_a_recorded_stream_asks_for_its_thread(path: Path) -> None:
    raw = path.read_bytes().splitlines(keepends=True)
    first = json.loads(raw[0])["thread_id"]
    assert query_from_exec(raw, at=AT) == Query(at=AT, session_id=first)
    assert Feed()(*lines_of(path)).gap(session_id=first).reason is MissingReason.CUMULATIVE_ONLY


@pytest.mark.parametrize("path", STREAMS, ids=short)
def test_a_recorded_stream_asks_for_a_thread_that_has_a_rollout(path: Path) -> None:
    asked = query_from_exec(path.read_bytes().splitlines(), at=AT).session_id
    rollouts = path.parent.glob("session/**/rollout-*.jsonl")
    assert f"{asked}.jsonl" in {rollout.name[-42:] for rollout in rollouts}


def test_0_36_shows_the_last_request_against_the_whole_window() -> None:
    feed = Feed()(*lines_of(WITH_INFO))
    assert feed.evidence() == TokenPair(
        measured_at=AT + 9 * SECOND,
        model=ModelRef(id="gpt-5", provider="openai"),
        usage=TokenUsage(
            input_tokens=600, cache_read_tokens=13_900, output_tokens=80, reasoning_tokens=10
        ),
        used_basis=UsedBasis.PROMPT_AND_OUTPUT,
        limit_tokens=272_000,
        limit_basis=LimitBasis.WINDOW,
    )
    assert feed.used(turn_id="0", phase=Phase.ACTIVE) == 14_580


def test_0_20_shows_the_last_request_and_that_it_states_no_window() -> None:
    assert Feed()(*lines_of(FLAT)).evidence() == UsedTokens(
        measured_at=AT + 9 * SECOND,
        model=ModelRef(id="gpt-5", provider="openai"),
        usage=TokenUsage(
            input_tokens=600, cache_read_tokens=13_900, output_tokens=80, reasoning_tokens=10
        ),
        used_basis=UsedBasis.PROMPT_AND_OUTPUT,
        limit_missing=MissingReason.LIMIT_NOT_REPORTED,
    )


@pytest.mark.parametrize("path", [FLAT, WITH_INFO], ids=short)
def test_the_old_forms_show_each_request_once(path: Path) -> None:
    feed, said = Feed(), []
    for line in lines_of(path):
        feed(line)
        said.append(feed.used())
    assert list(dict.fromkeys(said)) == [None, 14_120, 14_580]
    assert query_from_exec(path.read_bytes().splitlines(), at=AT) == Query(at=AT)


@pytest.mark.parametrize("path", [*STREAMS, TWO_RUNS, FLAT, WITH_INFO], ids=short)
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (" ,\t", " :  ")])
def test_a_line_that_is_called_irrelevant_changes_nothing(
    path: Path, separators: tuple[str, str]
) -> None:
    state, skipped = EXEC.initial, 0
    for line in lines_of(path):
        after = EXEC.step(state, line, Query(at=AT))
        if not EXEC.relevant(b" " + json.dumps(line, separators=separators).encode()):
            assert after is state
            skipped += 1
        state = after
    assert skipped


@pytest.mark.parametrize("path", [*STREAMS, TWO_RUNS, FLAT, WITH_INFO], ids=short)
def test_a_recorded_stream_is_recognised(path: Path) -> None:
    assert EXEC.recognise is not None
    assert any(map(EXEC.recognise, lines_of(path)))


# -- public issues (formats/codex.md §7) --------------------------------------------------------


def completed(prompt: int, output: int = 200) -> dict[str, Any]:
    usage = {"input_tokens": prompt, "cached_input_tokens": 9, "output_tokens": output}
    return {"type": "turn.completed", "usage": usage}


@pytest.mark.parametrize(
    "prompts",
    [
        pytest.param([2_708_000], id="issue_sandcastle_898"),
        pytest.param([6_900_000], id="issue_codex_17539"),
        pytest.param([16_504, 85_681, 103_779], id="issue_gitmoot_661"),
        pytest.param([28_500, 43_600], id="issue_agor_970"),
    ],
)
def test_the_usage_at_a_turns_end_is_a_sum(prompts: list[int]) -> None:
    feed = Feed()
    for prompt in prompts:
        feed({"type": "thread.started", "thread_id": THREAD}, {"type": "turn.started"})
        feed(completed(prompt))
        assert feed.gap() == Gap(reason=MissingReason.CUMULATIVE_ONLY)


def test_issue_codex_13217_no_turn_can_be_asked_for() -> None:
    feed = Feed()({"type": "thread.started", "thread_id": THREAD}, completed(14_000))
    for phase in Phase:
        asked = feed.gap(turn_id="01a2", phase=phase)
        assert asked.reason is MissingReason.CUMULATIVE_ONLY


# -- the present form ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        {"type": "turn.started"},
        {"type": "turn.failed", "error": {"message": "too long"}},
        completed(9),
        {"type": "thread.started"},
    ],
)
def test_any_line_of_a_turn_tells_the_form(line: dict[str, Any]) -> None:
    assert Feed()(line).gap().reason is MissingReason.CUMULATIVE_ONLY


def test_before_any_line_nothing_is_measured() -> None:
    assert Feed().gap() == Gap(reason=MissingReason.NOT_MEASURED_YET)
    item = {"type": "item.completed", "item": {"type": "error", "message": "Model metadata"}}
    assert Feed()(item, {"type": "error", "message": "x"}).gap().reason is (
        MissingReason.NOT_MEASURED_YET
    )


def test_another_thread_is_another_session() -> None:
    feed = Feed()({"type": "thread.started", "thread_id": THREAD})
    assert feed.gap(session_id="another").reason is MissingReason.SESSION_MISMATCH
    assert feed.gap(session_id=THREAD).reason is MissingReason.CUMULATIVE_ONLY
    feed({"type": "thread.started", "thread_id": "another"})
    assert feed.gap(session_id="another").reason is MissingReason.CUMULATIVE_ONLY


def test_a_sub_agent_is_not_measured_here() -> None:
    seen = Feed()(*lines_of(WITH_INFO)).gap(agent_id="01a228a8")
    assert seen.reason is MissingReason.USAGE_NOT_REPORTED


# -- the old forms ------------------------------------------------------------------------------

HEADER = {"workdir": "/home/dev/project", "provider": "mock", "model": "gpt-5"}


def message(kind: str, turn: str = "0", **fields: Any) -> dict[str, Any]:
    return {"id": turn, "msg": {"type": kind, **fields}}


def usage(used: int) -> dict[str, int]:
    return {
        "input_tokens": used - 100,
        "cached_input_tokens": 0,
        "output_tokens": 100,
        "total_tokens": used,
    }


def flat(used: int, turn: str = "0") -> dict[str, Any]:
    return message("token_count", turn, **usage(used))


def counted(
    used: int, lifetime: int | None = None, turn: str = "0", window: Any = 272_000
) -> dict[str, Any]:
    info = {
        "last_token_usage": usage(used),
        "total_token_usage": usage(used if lifetime is None else lifetime),
        "model_context_window": window,
    }
    return message("token_count", turn, info=info)


def test_a_window_that_a_turn_states_goes_with_a_flat_count() -> None:
    feed = Feed()(message("task_started", model_context_window=272_000), flat(14_120))
    seen = feed.evidence()
    assert isinstance(seen, TokenPair)
    assert (seen.limit_tokens, seen.limit_basis) == (272_000, LimitBasis.WINDOW)


@pytest.mark.parametrize(
    ("window", "reason"),
    [(None, MissingReason.LIMIT_NOT_REPORTED), (-1, MissingReason.LIMIT_INVALID)],
)
def test_a_window_that_is_not_stated_leaves_the_count(window: Any, reason: MissingReason) -> None:
    feed = Feed()(message("task_started", model_context_window=272_000))
    seen = feed(counted(14_120, window=window)).evidence()
    assert isinstance(seen, UsedTokens)
    assert seen.limit_missing is reason


def test_a_count_that_is_repeated_keeps_its_time() -> None:
    feed = Feed()(counted(14_120))
    before = feed.evidence()
    assert feed(counted(14_120)).evidence() == before
    assert feed(counted(14_120, 28_240)).evidence() != before


def test_a_flat_count_is_a_request_of_its_own() -> None:
    feed = Feed()(flat(14_120), flat(14_120))
    assert feed.evidence().measured_at == AT + 2 * SECOND  # type: ignore[union-attr]


@pytest.mark.parametrize("info", [None, {}, 7])
def test_no_count_says_nothing(info: Any) -> None:
    feed = Feed()(counted(14_120), message("token_count", info=info))
    assert feed.used() == 14_120


def test_an_estimate_is_no_count() -> None:
    row = counted(9_000, 28_240)
    row["msg"]["info"]["last_token_usage"] = dict.fromkeys(usage(0), 0) | {"total_tokens": 9_000}
    known = Partial(
        used_tokens=9_000, limit_tokens=272_000, measured_at=AT + 2 * SECOND, estimated=True
    )
    assert Feed()(counted(28_240), row).gap() == Gap(reason=MissingReason.COMPACTED, partial=known)
    row["msg"]["info"]["model_context_window"] = None
    unlimited = Partial(used_tokens=9_000, measured_at=AT + SECOND, estimated=True)
    assert Feed()(row).gap().partial == unlimited


def test_the_marker_of_an_exceeded_window_is_no_count() -> None:
    row = counted(9_000)
    for which, total in (("last_token_usage", 9_000), ("total_token_usage", 272_000)):
        row["msg"]["info"][which] = dict.fromkeys(usage(0), 0) | {"total_tokens": total}
    assert Feed()(counted(28_240), row).gap() == Gap(
        reason=MissingReason.WINDOW_EXCEEDED, partial=Partial(limit_tokens=272_000)
    )


def test_a_usage_that_is_none_is_named() -> None:
    feed = Feed()(HEADER, message("token_count", input_tokens=True, output_tokens=1))
    assert feed.gap() == Gap(
        reason=MissingReason.USAGE_INVALID, model=ModelRef(id="gpt-5", provider="openai")
    )
    assert Feed()(message("token_count")).gap().reason is MissingReason.USAGE_INCOMPLETE


def test_the_turn_asked_for_must_be_the_counts() -> None:
    feed = Feed()(message("task_started"), flat(14_120), message("task_started", "1"))
    assert feed.used(turn_id="0") == 14_120
    assert feed.used() == 14_120
    assert feed.gap(turn_id="1").reason is MissingReason.TURN_NOT_FOUND
    assert feed.gap(phase=Phase.ACTIVE).reason is MissingReason.TURN_NOT_FOUND
    assert feed.used(turn_started_at=AT) == 14_120
    assert feed.used(turn_started_at=AT + 2 * SECOND) == 14_120
    late = feed.gap(turn_started_at=feed.now)
    assert late.reason is MissingReason.TURN_NOT_FOUND
    assert feed(flat(15_000, "1")).used(phase=Phase.ACTIVE) == 15_000


def test_an_old_form_names_no_session_and_is_taken_at_the_callers_word() -> None:
    assert Feed()(flat(14_120)).used(session_id=THREAD) == 14_120


def test_the_peak_is_the_fullest_request() -> None:
    feed = Feed()(counted(90_000), counted(20_000, 110_000))
    peak = feed.peak()
    assert isinstance(peak, TokenPair)
    assert peak.usage is not None
    assert peak.usage.total_tokens == 90_000
    broken = message("token_count", input_tokens=None)
    assert isinstance(Feed()(broken).peak(), Gap)
    smallest = message("token_count", input_tokens=1, output_tokens=0)
    assert isinstance(Feed()(broken, smallest).peak(), UsedTokens)
    assert isinstance(Feed()(smallest, broken).peak(), UsedTokens)
    first = Feed()(counted(90_000), counted(90_000, 180_000)).peak()
    assert isinstance(first, TokenPair)
    assert first.measured_at == AT + SECOND


def test_a_header_is_told_by_its_keys() -> None:
    assert Feed()(HEADER).state.model == ModelRef(id="gpt-5", provider="openai")
    assert Feed()(HEADER).gap().model == ModelRef(id="gpt-5", provider="openai")
    others: list[dict[str, Any]] = [{"model": "x"}, {**HEADER, "msg": {}}]
    others += [{"model": "x", key: "x"} for key in ("workdir", "provider", "prompt")]
    for other in others:
        assert Feed()(other).state.model is None


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"type": "turn.completed", "usage": {}},
        {"type": "thread.started"},
        {"type": "session_meta", "payload": {"id": THREAD}},
        {"msg": {"type": "token_count"}},
        {"id": "0", "msg": {"type": "agent_message"}},
        {"id": "0", "msg": "task_started"},
    ],
)
def test_a_line_that_could_be_anyones_is_not_recognised(line: dict[str, Any]) -> None:
    assert EXEC.recognise is not None
    assert not EXEC.recognise(line)


def test_a_state_shows_no_ids_and_nothing_of_what_was_reported() -> None:
    feed = Feed()(
        {"type": "thread.started", "thread_id": "SENTINEL"},
        message("task_started", "SENTINEL"),
        message("token_count", "SENTINEL", **usage(9_000), text="SENTINEL"),
    )
    assert "SENTINEL" not in repr(feed.state)
    assert "SENTINEL" not in repr(feed.evidence())


# -- the question for the rollout ---------------------------------------------------------------


def test_the_last_of_several_threads_is_asked_for() -> None:
    lines: list[bytes | str] = [
        "2026-11-29T19:00:00Z WARN thread.started is no JSON",
        json.dumps({"type": "thread.started", "thread_id": "first"}),
        json.dumps({"type": "item.completed", "item": {"text": "thread.started"}}),
        json.dumps({"type": "thread.started", "thread_id": "second"}).encode() + b"\n",
    ]
    assert query_from_exec(lines, at=AT).session_id == "second"
    assert query_from_exec(iter(lines[:2]), at=AT).session_id == "first"
    assert query_from_exec(["\ud800", *lines], at=AT).session_id == "second"
    assert query_from_exec([], at=AT) == Query(at=AT)


@pytest.mark.parametrize("thread_id", [None, "", 7, ["x"]])
def test_a_thread_that_is_none_is_not_asked_for(thread_id: Any) -> None:
    lines = [json.dumps({"type": "thread.started", "thread_id": thread_id})]
    assert query_from_exec(lines, at=AT).session_id is None


def test_a_wrong_argument_raises_and_names_itself() -> None:
    with pytest.raises(TypeError, match=r"^lines:"):
        query_from_exec([{"type": "thread.started"}], at=AT)  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"^lines:"):
        query_from_exec(b"{}", at=AT)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^lines:"):
        query_from_exec('{"type":"thread.started"}', at=AT)
    with pytest.raises(ValueError, match="at"):
        query_from_exec([], at=AT.replace(tzinfo=None))


# -- for all inputs -----------------------------------------------------------------------------

json_values = any_json("type", "usage", "info", "last_token_usage", "total_tokens", "input_tokens")
good_lines = st.sampled_from(
    [
        HEADER,
        message("task_started", model_context_window=272_000),
        flat(14_120),
        counted(15_000),
        counted(15_000, 30_000, "1", None),
        {"type": "thread.started", "thread_id": THREAD},
        {"type": "turn.started"},
        completed(28_500),
    ]
)
any_lines = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["thread.started", "turn.completed"]) | json_values,
        "thread_id": json_values,
        "usage": json_values,
        "id": json_values,
        "msg": st.fixed_dictionaries(
            {"type": st.sampled_from(["token_count", "task_started"])},
            optional={
                "info": json_values,
                "input_tokens": json_values,
                "model_context_window": json_values,
            },
        )
        | json_values,
        "workdir": json_values,
        "provider": json_values,
        "model": json_values,
    },
)


@given(st.lists(good_lines | any_lines, max_size=8))
def test_no_object_raises(lines: list[dict[str, Any]]) -> None:
    feed = Feed()
    assert EXEC.recognise is not None
    for line in lines:
        feed.state = EXEC.step(feed.state, line, Query(at=AT))
        assert EXEC.recognise(line) in {True, False}
    for phase in Phase:
        assert isinstance(feed.evidence(phase=phase), UsedTokens | Gap)
        assert isinstance(feed.peak(phase=phase), UsedTokens | Gap)


@given(st.lists(st.binary(max_size=60) | st.text(max_size=60), max_size=5))
def test_no_line_raises(lines: list[bytes | str]) -> None:
    assert query_from_exec(lines, at=AT) == Query(at=AT)


@given(st.lists(good_lines, max_size=8))
def test_once_the_present_form_is_seen_no_number_comes(lines: list[dict[str, Any]]) -> None:
    feed = Feed()({"type": "turn.started"}, *lines)
    assert feed.gap().reason is MissingReason.CUMULATIVE_ONLY


@pytest.mark.parametrize("path", [FLAT, WITH_INFO], ids=short)
def test_a_wrong_type_anywhere_gives_a_true_count_or_none(path: Path) -> None:
    feed = Feed()
    for line in lines_of(path):
        for wrong in spoilt(line):
            if isinstance(wrong, dict):
                spoilt_feed = Feed(EXEC.step(feed.state, wrong, Query(at=AT)))
                seen = spoilt_feed.evidence()
                assert spoilt_feed.used() in {None, 14_120, 14_580}
                assert not isinstance(seen, TokenPair) or seen.limit_tokens == 272_000
        feed(line)


def test_the_source_is_what_the_registry_says() -> None:
    assert EXEC.id == "codex.exec"
    assert EXEC.origin.method == "codex_exec_token_count"
    assert EXEC.origin.client == "codex"
