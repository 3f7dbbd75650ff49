"""Every decoy of a rollout has a name, and every count its limit, its time and its turn."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from codex_sessions import Seen, read, shown

from ctxmeasure.adapters import codex
from ctxmeasure.adapters.codex import ROLLOUT
from ctxmeasure.adapters.codex import replay as played
from ctxmeasure.bounded.budget import KIB, MIB, ReadBudget
from ctxmeasure.bounded.jsonl import Row, TailReader
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import Evidence, Gap, NeedMore, Phase, Query, TokenPair, UsedTokens
from ctxmeasure.observation import LimitBasis, MissingReason, Partial, UsedBasis
from ctxmeasure.testing import ABSENT, START
from ctxmeasure.testing.codex.rows import (
    PARENT,
    PARENTS_TURN,
    THREAD,
    WINDOW,
    RolloutRows,
    turn,
    usage,
)
from ctxmeasure.usage import TokenUsage

each_age = pytest.mark.parametrize("version", ["0.36.0", "0.77.0", "0.115.0", "0.145.0", "0.171.0"])
each_age_with_turn_ids = pytest.mark.parametrize("version", ["0.115.0", "0.145.0", "0.171.0"])


def session(version: str = "0.171.0", **begun: Any) -> RolloutRows:
    """Return a session that is about to get its first response."""
    writer = RolloutRows(version)
    writer.begin(**begun)
    writer.start()
    return writer


def answered(version: str = "0.171.0", used: int = 14_100) -> RolloutRows:
    """Return a session with one response in a running turn."""
    writer = session(version)
    writer.respond(used)
    return writer


def pair(evidence: Evidence) -> TokenPair:
    assert isinstance(evidence, TokenPair), evidence
    return evidence


def gap(evidence: Evidence) -> Gap:
    assert isinstance(evidence, Gap), evidence
    return evidence


def at(row: int) -> datetime:
    """Return when the row with this index was written."""
    return START + timedelta(seconds=row)


def seen(writer: RolloutRows, **asked: Any) -> Seen:
    return shown(read(writer.content, **asked))


# -- a count ------------------------------------------------------------------------------------


@each_age
def test_a_request_is_measured_by_its_own_count_and_never_by_the_sum(version: str) -> None:
    writer = answered(version)
    writer.respond(15_600)
    found = pair(read(writer.content))
    assert (found.used_tokens, found.limit_tokens) == (15_600, WINDOW)
    assert found.usage == TokenUsage(
        input_tokens=7_780,
        cache_read_tokens=7_780,
        cache_write_tokens=0,
        output_tokens=40,
        reasoning_tokens=7,
    )
    assert found.used_basis is UsedBasis.PROMPT_AND_OUTPUT
    assert found.model == ModelRef(id="gpt-5.5", provider="openai")
    assert found.runtime_version == version
    assert not found.overflows
    assert not found.misstates_limit
    assert not found.estimated


@pytest.mark.parametrize(
    ("version", "basis", "defaults"),
    [
        ("0.36.0", LimitBasis.WINDOW, frozenset()),
        ("0.58", LimitBasis.EFFECTIVE_WINDOW, frozenset()),
        ("0.58.0", LimitBasis.EFFECTIVE_WINDOW, frozenset()),
        ("0.98.0", LimitBasis.EFFECTIVE_WINDOW, frozenset()),
        ("0.115.0", LimitBasis.EFFECTIVE_WINDOW, frozenset({WINDOW})),
        ("0.171.0-alpha.3", LimitBasis.EFFECTIVE_WINDOW, frozenset({WINDOW})),
    ],
)
def test_a_version_decides_what_its_window_is(
    version: str, basis: LimitBasis, defaults: frozenset[int]
) -> None:
    found = pair(read(answered(version).content))
    assert (found.limit_basis, found.default_limits) == (basis, defaults)


@pytest.mark.parametrize("version", ["", None, 171, "codex", ABSENT])
def test_a_version_that_is_none_is_not_known(version: object) -> None:
    found = pair(read(_with_meta(answered(), cli_version=version)))
    assert found.runtime_version is None
    assert found.limit_basis is LimitBasis.EFFECTIVE_WINDOW
    assert found.default_limits == frozenset({WINDOW})


def _with_meta(writer: RolloutRows, **meta: Any) -> bytes:
    payload = {**writer.rows[0]["payload"], **meta}
    writer.rows[0]["payload"] = {k: v for k, v in payload.items() if v is not ABSENT}
    return writer.content


@pytest.mark.parametrize(
    ("began", "resumed"), [("0.36.0", "0.115.0"), ("0.145.0", "0.150.0"), ("0.150.0", "0.171.0")]
)
def test_a_resumed_session_is_of_the_version_that_wrote_the_row(began: str, resumed: str) -> None:
    writer = answered(began)
    assert pair(read(writer.content)).runtime_version == began
    writer.version = resumed
    writer.start()
    writer.respond(15_600)
    writer.count()
    found = pair(read(writer.content))
    assert found.used_tokens == 15_600
    assert found.runtime_version is None  # later than the one that the file's first row states
    assert found.limit_basis is LimitBasis.EFFECTIVE_WINDOW


def test_a_gap_is_of_the_version_that_wrote_its_row() -> None:
    writer = answered("0.36.0")
    writer.version = "0.115.0"
    writer.start()
    writer.exceed()
    assert gap(read(writer.content)).runtime_version is None


def test_a_gap_says_which_window_its_version_states() -> None:
    old, new = session("0.36.0"), session("0.171.0")
    for writer, basis in ((old, LimitBasis.WINDOW), (new, LimitBasis.EFFECTIVE_WINDOW)):
        writer.exceed()
        assert gap(read(writer.content)).limit_basis is basis


@pytest.mark.parametrize("stated", [None, ABSENT])
def test_a_window_that_is_not_stated_is_not_looked_up(stated: object) -> None:
    writer = RolloutRows("0.98.0", window=stated)
    writer.begin()
    writer.start()
    writer.respond(14_100)
    found = read(writer.content)
    assert isinstance(found, UsedTokens)
    assert not isinstance(found, TokenPair)
    assert found.used_tokens == 14_100
    assert found.limit_missing is MissingReason.LIMIT_NOT_REPORTED


@each_age
@pytest.mark.parametrize("stated", [0, -1, "258400", 258_400.0, True, [1]])
def test_a_window_that_is_no_limit_is_invalid(version: str, stated: object) -> None:
    writer = RolloutRows(version, window=stated)
    writer.begin()
    writer.start()
    writer.respond(14_100)
    assert seen(writer) == "limit_invalid"


FAULTS = [
    ({"output_tokens": ABSENT}, "usage_incomplete"),
    ({"input_tokens": None}, "usage_incomplete"),
    ({"input_tokens": True}, "usage_invalid"),
    ({"input_tokens": -1}, "usage_invalid"),
    ({"total_tokens": 14_101}, "usage_invalid"),
    ({"cached_input_tokens": 99_999}, "usage_invalid"),
    (dict.fromkeys(usage(1), 0), "usage_not_reported"),
]


@each_age
@pytest.mark.parametrize(("wrong", "reason"), FAULTS)
def test_a_usage_with_a_fault_is_named_and_not_passed_over(
    version: str, wrong: dict[str, Any], reason: str
) -> None:
    writer = answered(version, used=9_000)
    writer.message()
    writer.last = {k: v for k, v in {**usage(14_100), **wrong}.items() if v is not ABSENT}
    if writer.minor >= 155:
        writer.record()
        assert seen(writer) == seen(writer, turn_id=writer.turn_id) == reason
    writer.count()
    assert seen(writer) == reason
    writer.respond(15_600)
    assert seen(writer) == 15_600


@pytest.mark.parametrize("last", [ABSENT, "x", [1], 7])
def test_a_last_request_that_is_no_usage_is_named(last: Any) -> None:
    writer = answered("0.115.0")
    writer.message()
    writer.count(last_token_usage=last)
    found = gap(read(writer.content))
    assert shown(found) == ("usage_not_reported" if last is ABSENT else "usage_invalid")
    last_row = at(len(writer.rows) - 1)
    assert found.partial == Partial(limit_tokens=WINDOW, measured_at=last_row)


@pytest.mark.parametrize("info", [[], "x", 7, True])
def test_an_info_that_is_no_object_is_invalid(info: object) -> None:
    writer = answered("0.115.0")
    writer.event("token_count", info=info)
    assert seen(writer) == "usage_invalid"


@pytest.mark.parametrize("timestamp", [ABSENT, None, "", "yesterday", "2026-11-29T18:00:00", 7])
def test_a_count_without_a_time_has_none(timestamp: object) -> None:
    writer = session()
    writer.message()
    writer.take(14_100)
    writer.record()
    writer.rows[-1]["timestamp"] = timestamp
    if timestamp is ABSENT:
        del writer.rows[-1]["timestamp"]
    writer.count()
    assert pair(read(writer.content)).measured_at is None
    assert seen(writer, turn_started_at=START) == 14_100


@pytest.mark.parametrize("version", ["0.115.0", "0.171.0"])
def test_a_row_that_names_a_key_twice_is_malformed(version: str) -> None:
    writer = answered(version, used=9_000)
    writer.message()
    writer.take(14_100)
    writer.record() if version == "0.171.0" else writer.count()
    twice = writer.content[:-1].rpartition(b'"total_tokens"')
    content = twice[0] + b'"total_tokens":14100,' + twice[1] + twice[2] + b"\n"
    model = ModelRef(id="gpt-5.5", provider="openai")
    assert gap(read(content)).model == model
    assert shown(read(content)) == "source_malformed"
    writer.exceed()
    marked = gap(read(writer.content.replace(b'"info":{', b'"info":null,"info":{')))
    assert (shown(marked), marked.model) == ("source_malformed", model)


@each_age_with_turn_ids
def test_the_model_is_the_one_of_the_turn(version: str) -> None:
    writer = answered(version)
    writer.end()
    writer.model = "gpt-6-sol"
    writer.start()
    writer.respond(15_600)
    found = pair(read(writer.content))
    assert found.model == ModelRef(id="gpt-6-sol", provider="openai")
    writer.end()
    writer.context(turn_id=turn(0xFFFF), model="gpt-5")  # of no turn that has a response
    assert pair(read(writer.content)).model == found.model


@pytest.mark.parametrize("model", [None, "", 5, ABSENT])
def test_a_model_that_is_none_is_not_known(model: object) -> None:
    writer = RolloutRows(model=model)
    writer.begin()
    writer.start()
    writer.respond(14_100)
    assert pair(read(writer.content)).model is None


# -- repetitions --------------------------------------------------------------------------------


@each_age_with_turn_ids
def test_a_repeated_info_is_the_older_turns(version: str) -> None:
    writer = answered(version)
    original = pair(read(writer.content)).measured_at
    writer.end()
    asked = writer.start()
    assert seen(writer, turn_id=asked) == "turn_not_found"
    writer.count()
    found = pair(read(writer.content))
    assert (found.used_tokens, found.measured_at) == (14_100, original)
    for phase in (Phase.ACTIVE, Phase.LATEST):
        assert seen(writer, turn_id=asked, phase=phase) == "carried_over"
    assert seen(writer, turn_id=asked, phase=Phase.TERMINAL) == "turn_not_finished"
    writer.abort()
    assert seen(writer, turn_id=asked, phase=Phase.TERMINAL) == "carried_over"
    assert pair(read(writer.content)).measured_at == original


@each_age
def test_a_repeated_info_changes_nothing_in_its_own_turn(version: str) -> None:
    writer = answered(version)
    before = pair(read(writer.content))
    for _ in range(3):
        writer.count()
        assert read(writer.content) == before
    writer.end()
    over = pair(read(writer.content))
    writer.count()
    assert read(writer.content) == over


def test_a_repetition_states_the_window_that_is_in_force_now() -> None:
    # A file resumed with another account: 258,400 became 353,400 between two turns.
    writer = answered("0.115.0")
    before = pair(read(writer.content))
    first = writer.turn_id
    writer.end()
    writer.window = 353_400
    second = writer.start()
    writer.count()
    found = pair(read(writer.content))
    assert (found.used_tokens, found.limit_tokens) == (14_100, 353_400)
    assert (found.measured_at, found.model) == (before.measured_at, before.model)
    assert pair(read(writer.content, turn_id=first)).limit_tokens == WINDOW
    assert seen(writer, turn_id=second) == "carried_over"
    writer.respond(15_600)
    writer.window = 353_401
    writer.count()
    assert pair(read(writer.content, turn_id=second)).limit_tokens == 353_401


def test_a_repetition_with_another_models_window_is_held_against_that_model() -> None:
    writer = answered("0.171.0")
    writer.end()
    before = pair(read(writer.content))
    writer.model, writer.window = "gpt-6.2-sol", 475_000
    writer.start()
    writer.count(model_context_window=WINDOW)  # as recorded: the old window stays with the count
    assert read(writer.content) == before
    writer.count()
    found = pair(read(writer.content))
    assert (found.used_tokens, found.limit_tokens) == (before.used_tokens, 475_000)
    assert found.model == ModelRef(id="gpt-6.2-sol", provider="openai")


def test_a_repetition_whose_original_lies_before_the_window_asks_for_more() -> None:
    writer = answered("0.115.0")
    original = pair(read(writer.content))
    padding = "x" * 100_000
    writer.row("response_item", {"type": "message", "role": "user", "content": padding})
    writer.count()
    writer.message()
    assert read(writer.content, window=2_000) == original
    short = gap(read(writer.content, window=2_000, budget=3_000))
    assert short.reason is MissingReason.BUDGET_EXHAUSTED
    assert short.partial == Partial(used_tokens=14_100, limit_tokens=WINDOW)


def test_a_turn_that_may_show_an_older_info_asks_for_more() -> None:
    writer = answered("0.115.0")
    writer.end()
    writer.row("response_item", {"type": "message", "role": "user", "content": "x" * 100_000})
    asked = writer.start()
    writer.count()
    writer.abort()
    assert shown(read(writer.content, window=2_000, turn_id=asked)) == "carried_over"
    short = read(writer.content, window=2_000, budget=2_000, turn_id=asked)
    assert shown(short) == "budget_exhausted"


def test_a_turn_that_holds_back_what_may_be_an_older_info_asks_for_more() -> None:
    writer = answered()
    for _ in range(100):
        writer.item("AgentMessage", text="x" * KIB)
    writer.end()
    begun = writer.start()
    writer.repeat()
    assert seen(writer, turn_id=begun, window=4 * KIB) == "carried_over"


def test_an_empty_meter_measures_nothing_and_voids_nothing() -> None:
    writer = session("0.77.0")
    writer.count()
    assert seen(writer) == "not_measured_yet"
    writer.respond(14_100)
    writer.event("token_count", info=None)  # resumed
    assert seen(writer) == 14_100
    writer.start()
    writer.total = dict.fromkeys(writer.total, 0)
    first = writer.rows[:]
    writer.message()
    writer.take(14_100)  # the same numbers as before the resume are no repetition of them
    writer.count()
    assert pair(read(writer.content)).measured_at == at(len(first) + 2)


# -- records ------------------------------------------------------------------------------------


def test_a_record_counts_before_its_tools_have_run() -> None:
    writer = answered()
    writer.call()
    writer.take(15_600)
    writer.record()
    recorded = pair(read(writer.content, turn_id=writer.turn_id, phase=Phase.ACTIVE))
    assert (recorded.used_tokens, recorded.limit_tokens) == (15_600, WINDOW)
    assert recorded.measured_at == at(len(writer.rows) - 1)
    writer.output()
    writer.count()
    writer.end()
    finished = pair(read(writer.content, turn_id=writer.turn_id, phase=Phase.TERMINAL))
    assert recorded.identity == finished.identity != ()
    assert (recorded.used_tokens, recorded.limit_tokens, recorded.model) == (
        finished.used_tokens,
        finished.limit_tokens,
        finished.model,
    )
    assert recorded.measured_at == finished.measured_at


@pytest.mark.parametrize("version", ["0.77.0", "0.115.0"])
def test_a_count_is_known_by_its_thread_turn_clock_and_sum(version: str) -> None:
    writer = answered(version)
    writer.respond(15_600)
    clock, own = writer.rows[-1]["timestamp"], writer.turn_id or ""
    assert pair(read(writer.content)).identity == (THREAD, own, clock, "29700")
    del writer.rows[-1]["timestamp"]
    assert pair(read(writer.content)).identity == (THREAD, own, "", "29700")
    del writer.rows[0]
    assert pair(read(writer.content)).identity == ("", own, "", "29700")


def test_two_responses_are_two_samples() -> None:
    writer = answered()
    first = pair(read(writer.content)).identity
    writer.respond(14_100)
    assert pair(read(writer.content)).identity != first
    old = answered("0.115.0")
    first = pair(read(old.content)).identity
    old.respond(14_100)
    assert pair(read(old.content)).identity != first


def test_a_count_that_is_written_in_another_way_is_still_the_records() -> None:
    writer = session()
    writer.message()
    writer.take(14_100)
    writer.record(usage={**usage(14_100), "since": "0.200"})
    recorded = pair(read(writer.content))
    writer.count()
    writer.message()
    counted = pair(read(writer.content))
    assert (counted.identity, counted.measured_at) == (recorded.identity, recorded.measured_at)


def test_a_record_takes_the_window_of_its_own_row() -> None:
    writer = session()
    writer.window = 353_400
    writer.respond(14_100)
    assert pair(read(writer.content)).limit_tokens == 353_400
    writer.call()
    writer.take(15_600)
    writer.record()
    assert pair(read(writer.content)).limit_tokens == 353_400  # not the turn's own, which is older


def test_a_record_in_a_turn_that_states_no_window_has_none() -> None:
    writer = RolloutRows()
    writer.begin()
    writer.start(model_context_window=None)
    writer.message()
    writer.take(14_100)
    writer.record()
    assert seen(writer) == "limit_not_reported"
    writer.count()
    assert seen(writer) == 14_100


def test_a_record_in_no_known_turn_has_no_window() -> None:
    writer = session()
    writer.message()
    writer.take(14_100)
    writer.record(turn_id=turn(0xFFFF))
    assert seen(writer) == "limit_not_reported"


def test_a_record_whose_turn_began_before_the_window_asks_for_more() -> None:
    writer = session()
    writer.row("response_item", {"type": "message", "role": "user", "content": "x" * 100_000})
    writer.call()
    writer.take(14_100)
    writer.record()
    assert pair(read(writer.content, window=2_000)).limit_tokens == WINDOW
    short = gap(read(writer.content, window=2_000, budget=3_000))
    assert short.reason is MissingReason.BUDGET_EXHAUSTED
    assert short.partial == Partial(used_tokens=14_100)


def test_a_model_named_before_the_window_is_sought_and_can_be_done_without() -> None:
    writer = session()
    writer.row("response_item", {"type": "message", "role": "user", "content": "x" * 100_000})
    writer.respond(14_100)
    assert pair(read(writer.content, window=2_000)).model is not None
    short = pair(read(writer.content, window=2_000, budget=3_000))
    assert (short.used_tokens, short.model) == (14_100, None)


def test_an_interruption_repeats_the_info_of_before_the_record() -> None:
    writer = answered()
    stale = writer.last
    writer.call()
    writer.take(15_600)
    writer.record()
    writer.last = stale
    writer.total = {key: writer.total[key] - usage(15_600)[key] for key in writer.total}
    writer.count()
    writer.abort()
    assert seen(writer) == 15_600


@pytest.mark.parametrize(
    "foreign", [{"thread_id": PARENT}, {"thread_id": ABSENT}, {"turn_id": PARENTS_TURN}]
)
def test_a_record_of_another_thread_is_not_this_ones(foreign: dict[str, Any]) -> None:
    writer = answered()
    before = read(writer.content)
    writer.call()
    writer.last = usage(15_600)
    writer.record(**foreign)
    assert read(writer.content) == before


def test_a_record_is_known_by_its_thread_turn_and_response() -> None:
    writer = session()
    writer.message()
    writer.take(14_100)
    writer.record(response_id="resp_a")
    found = read(writer.content)
    assert isinstance(found, TokenPair | UsedTokens)
    assert found.identity == (THREAD, writer.turn_id, "resp_a")


def test_a_record_with_a_fault_is_that_of_the_turn_it_names() -> None:
    writer = answered()
    first = writer.turn_id
    writer.end()
    writer.start()
    writer.record(turn_id=first, usage={**usage(15_000), "input_tokens": True})
    assert seen(writer, turn_id=first) == "usage_invalid"


def test_a_record_of_another_turn_than_the_models_has_no_known_model() -> None:
    writer = session()
    writer.message()
    writer.take(14_100)
    writer.record(turn_id=turn(1))
    writer.count()
    assert pair(read(writer.content)).model is None


def test_what_happens_in_another_turn_than_the_models_has_no_known_model() -> None:
    def in_another() -> RolloutRows:
        writer = answered("0.115.0")
        writer.event("task_started", turn_id=turn(9), model_context_window=WINDOW)
        return writer

    counted, repeated, voided = in_another(), in_another(), in_another()
    counted.message()
    counted.take(15_600)
    counted.count()
    repeated.count(model_context_window=475_000)
    voided.event("thread_rolled_back", num_turns=1)
    assert shown(read(voided.content)) == "rewound"
    for writer in (counted, repeated, voided):
        assert read(writer.content).model is None


def test_a_count_of_another_usage_is_not_the_records_before_it() -> None:
    writer = answered()
    writer.message()
    writer.take(15_600)
    writer.record()
    writer.message()
    writer.take(16_700)
    writer.count()
    assert seen(writer) == 16_700


def test_a_record_has_the_window_that_was_counted_before_it_in_its_turn() -> None:
    writer = answered()
    writer.message()
    writer.take(15_600)
    writer.count(model_context_window=475_000)
    writer.message()
    writer.take(16_700)
    writer.record()
    found = pair(read(writer.content))
    assert (found.used_tokens, found.limit_tokens) == (16_700, 475_000)


def test_a_record_without_a_response_id_is_known_by_its_clock() -> None:
    writer = session()
    writer.message()
    writer.take(14_100)
    writer.record(response_id=ABSENT)
    first = pair(read(writer.content)).identity
    writer.message()
    writer.record(response_id=ABSENT)
    assert pair(read(writer.content)).identity != first
    writer.rows[-1].pop("timestamp")
    assert pair(read(writer.content)).identity == (THREAD, writer.turn_id, "")


# -- compactions --------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["0.77.0", "0.115.0", "0.145.0", "0.171.0"])
def test_a_compactions_own_request_is_never_the_context(version: str) -> None:
    writer = answered(version, used=150_500)
    writer.start()
    before = len(writer.rows)
    writer.summarise(151_600)
    while len(writer.rows) > before:  # cut after every row of it
        assert seen(writer) == 150_500
        writer.rows.pop()


@each_age
@pytest.mark.parametrize("calls", [True, False])
def test_a_response_before_a_compaction_makes_its_request_none_of_the_conversation(
    version: str, calls: bool
) -> None:
    writer = session(version)
    writer.respond(150_500, calls=calls)
    writer.take(151_600)
    writer.count()  # without a repetition before it: no rate limits had arrived
    assert seen(writer) == 150_500
    writer.replace(6_866)
    assert seen(writer) == "compacted"


@pytest.mark.parametrize("version", ["0.77.0", "0.115.0", "0.145.0", "0.171.0"])
def test_a_compaction_leaves_an_estimate_until_the_next_response(version: str) -> None:
    writer = answered(version, used=150_500)
    writer.summarise(151_600)
    writer.row("compacted", {"message": "x"})
    assert gap(read(writer.content)).partial == Partial(measured_at=at(len(writer.rows) - 1))
    writer.context()
    writer.estimate(6_866)
    estimated = gap(read(writer.content))
    assert estimated.reason is MissingReason.COMPACTED
    assert estimated.partial == Partial(
        used_tokens=6_866,
        limit_tokens=WINDOW,
        measured_at=at(len(writer.rows) - 1),
        estimated=True,
    )
    assert estimated.model == ModelRef(id="gpt-5.5", provider="openai")
    writer.event("context_compacted")
    writer.count()  # 0.120 writes the estimate twice
    writer.end()
    writer.start()
    assert gap(read(writer.content)) == estimated
    writer.respond(9_133)
    assert seen(writer) == 9_133


def test_in_2025_the_estimate_was_written_before_the_compaction() -> None:
    writer = answered("0.77.0", used=150_500)
    writer.context()
    writer.take(151_600)
    writer.count()
    writer.estimate(6_866)
    assert seen(writer) == "estimate_only"
    estimate = gap(read(writer.content)).partial
    assert estimate is not None
    assert (estimate.used_tokens, estimate.estimated) == (6_866, True)
    writer.row("compacted", {"message": "x"})
    writer.event("context_compacted")
    assert seen(writer) == "compacted"
    assert gap(read(writer.content)).partial == estimate


def test_an_estimate_of_the_turn_before_is_that_of_the_compaction_after_it() -> None:
    writer = answered("0.115.0", used=150_500)
    writer.estimate(6_866)
    writer.end()
    begun = writer.start()
    writer.row("compacted", {"message": "x"})
    assert seen(writer) == seen(writer, turn_id=begun) == "compacted"


def test_a_compaction_tells_when_it_was_unless_an_older_one_may_be_meant() -> None:
    def moment(writer: RolloutRows) -> datetime | None:
        found = gap(read(writer.content, window=4 * KIB, budget=32 * KIB))
        assert found.reason is MissingReason.COMPACTED
        assert found.partial is not None
        return found.partial.measured_at

    first = session()
    first.row("compacted", {"message": "x"})
    assert moment(first) == at(len(first.rows) - 1)
    later = answered()
    for _ in range(100):
        later.item("AgentMessage", text="x" * KIB)
    alone = RolloutRows(rows=[*later.rows], turn_id=later.turn_id)
    alone.context()
    alone.row("compacted", {"message": "x"})
    assert moment(alone) is None
    undated = gap(read(alone.content, window=4 * KIB, budget=32 * KIB))
    assert undated.model == ModelRef(id="gpt-5.5", provider="openai")
    later.respond(150_500)
    later.row("compacted", {"message": "x"})
    assert moment(later) == at(len(later.rows) - 1)


def test_an_output_before_a_compaction_answers_nothing_after_it() -> None:
    writer = answered()
    writer.message()
    writer.row("compacted", {"message": "x"})
    writer.take(90_000)
    writer.count()
    assert seen(writer) == "compacted"


def test_an_estimate_is_not_that_of_the_compaction_after_it() -> None:
    writer = answered(used=150_500)
    writer.compact(151_600, 6_866)
    writer.summarise(9_000)
    writer.row("compacted", {"message": "x"})
    found = gap(read(writer.content)).partial
    assert found is not None
    assert found.used_tokens is None


def test_a_compaction_whose_row_lies_before_the_window_is_told_by_its_item() -> None:
    writer = answered(used=150_500)
    writer.summarise(151_600)
    writer.row("compacted", {"message": "x" * 100_000})
    writer.estimate(6_866)
    writer.item("ContextCompaction")
    short = gap(read(writer.content, window=1_500, budget=2_500))
    assert short.reason is MissingReason.COMPACTED
    assert short.partial is not None
    assert short.partial.used_tokens == 6_866


def test_a_compaction_whose_estimate_lies_before_the_window_asks_for_more() -> None:
    writer = answered(used=150_500)
    writer.compact(151_600, 6_866)
    item = len(writer.content) - writer.content[:-1].rindex(b"\n")
    found = gap(read(writer.content, window=item)).partial
    assert found is not None
    assert found.used_tokens == 6_866
    short = gap(read(writer.content, window=item, budget=item + 1_000))
    assert short.reason is MissingReason.COMPACTED
    assert short.partial is not None
    assert short.partial.used_tokens is None


def test_a_compaction_of_another_thread_is_not_this_ones() -> None:
    writer = answered()
    writer.item("ContextCompaction", thread_id=PARENT)
    assert seen(writer) == 14_100
    writer.item("UserMessage")
    writer.event("item_completed", thread_id=THREAD, item=None)
    assert seen(writer) == 14_100


def test_an_estimate_alone_is_an_estimate() -> None:
    writer = answered()
    writer.estimate(6_743)
    assert seen(writer) == "estimate_only"
    found = gap(read(writer.content)).partial
    assert found is not None
    assert (found.used_tokens, found.estimated) == (6_743, True)


def test_what_follows_a_compaction_in_its_turn_is_measured_there() -> None:
    writer = answered(used=150_500)
    writer.compact(151_600, 6_866)
    asked = writer.turn_id
    assert seen(writer, turn_id=asked) == "compacted"
    writer.respond(9_133)
    writer.end()
    assert seen(writer, turn_id=asked, phase=Phase.TERMINAL) == 9_133


def test_after_a_switch_of_models_a_compaction_is_counted_by_the_old_models_window() -> None:
    writer = answered(used=15_600)
    writer.end()
    writer.turn_id = turn(0x80)
    writer.event("task_started", turn_id=writer.turn_id, model_context_window=475_000)
    writer.summarise(17_100)  # by the old model, 258,400
    writer.window, writer.model = 475_000, "gpt-6.2-sol"
    writer.row("compacted", {"message": "x"})
    writer.context()
    writer.call()
    writer.take(15_850)
    writer.record()
    found = pair(read(writer.content))
    assert (found.used_tokens, found.limit_tokens) == (15_850, 475_000)
    assert found.model == ModelRef(id="gpt-6.2-sol", provider="openai")


def test_a_response_of_thoughts_alone_is_held_back_until_its_turn_ends() -> None:
    writer = answered()
    writer.row("response_item", {"type": "reasoning", "summary": []})
    writer.take(15_600)
    writer.record()
    assert seen(writer) == 14_100
    aborted = RolloutRows(turn_id=writer.turn_id, rows=writer.rows[:])
    aborted.abort()
    aborted.call()
    assert seen(aborted) == 14_100
    writer.end()
    assert seen(writer) == 15_600


def test_a_count_that_was_held_back_into_the_next_request_is_dropped() -> None:
    writer = answered()
    writer.take(15_600)
    writer.record()
    writer.context()
    writer.count()
    writer.call()
    assert seen(writer) == 14_100


def test_only_a_call_is_a_call() -> None:
    writer = answered()
    writer.take(15_600)
    writer.record()
    writer.row("response_item", {"type": "message", "role": "user", "name": "no_call"})
    writer.event("no_call")
    writer.row("world_state", {"full": True, "kind": "no_call"})
    writer.row("no_call", None)
    assert seen(writer) == 14_100


def test_a_count_before_any_output_waits_for_one() -> None:
    # Up to 0.44 the row came before the calls that the response had made.
    writer = session("0.36.0")
    writer.take(14_120)
    writer.count()
    assert seen(writer) == "not_measured_yet"
    writer.call()
    assert seen(writer) == 14_120


# -- rollbacks ----------------------------------------------------------------------------------


def test_an_output_of_the_turn_before_answers_nothing() -> None:
    writer = answered()
    writer.message()
    writer.event("task_started", turn_id=turn(9), model_context_window=WINDOW)
    writer.take(90_000)
    writer.count()
    assert seen(writer) == 14_100


def test_an_output_of_an_interrupted_turn_answers_nothing() -> None:
    writer = answered()
    writer.message()
    writer.abort()
    writer.take(90_000)
    writer.count()
    assert seen(writer) == 14_100


def test_a_rollback_voids_the_count_and_leaves_an_estimate() -> None:
    writer = answered("0.130.0", used=61_840)
    asked = writer.turn_id
    writer.end()
    writer.estimate(6_743)
    estimated = gap(read(writer.content)).partial
    writer.event("thread_rolled_back", num_turns=1)
    rewound = gap(read(writer.content))
    assert (rewound.reason, rewound.partial) == (MissingReason.REWOUND, estimated)
    assert seen(writer, turn_id=asked) == 61_840  # what that turn came to is not void
    writer.start()
    writer.count()
    assert gap(read(writer.content)).reason is MissingReason.REWOUND
    writer.respond(60_540)
    assert seen(writer) == 60_540


def test_a_rollback_without_an_estimate_still_voids_the_count() -> None:
    writer = answered("0.130.0")
    writer.event("thread_rolled_back", num_turns=1)
    assert seen(writer) == "rewound"


# -- an exceeded window -------------------------------------------------------------------------


def test_a_meter_that_is_marked_as_full_counts_nothing() -> None:
    writer = answered(used=12_025)
    asked = writer.turn_id
    writer.count()
    writer.exceed()
    writer.end(error={"codex_error_info": "context_window_exceeded"})
    full = gap(read(writer.content, turn_id=asked, phase=Phase.TERMINAL))
    assert full.reason is MissingReason.WINDOW_EXCEEDED
    assert full.partial is not None
    assert (full.partial.used_tokens, full.partial.limit_tokens) == (None, WINDOW)
    writer.start()
    writer.exceed()  # again: nothing is left of the window
    assert seen(writer) == "window_exceeded"
    writer.respond(18_100)  # from now on the sum is more than its parts
    assert seen(writer) == 18_100


def test_an_estimate_after_a_full_meter_keeps_its_sum_and_is_none() -> None:
    writer = answered()
    writer.exceed()
    writer.row("compacted", {"message": "x"})
    writer.estimate(6_851)
    found = gap(read(writer.content))
    assert found.reason is MissingReason.COMPACTED
    assert found.partial is not None
    assert found.partial.used_tokens == 6_851
    writer.exceed()
    assert seen(writer) == "window_exceeded"


def test_a_full_meter_after_a_compaction_is_no_estimate() -> None:
    writer = answered(used=150_500)
    writer.compact(151_600, 6_866)
    writer.total = usage(200_000)
    writer.exceed()  # "leaves" 58,400 tokens, which say nothing
    found = gap(read(writer.content))
    assert found.reason is MissingReason.WINDOW_EXCEEDED
    assert found.partial is not None
    assert found.partial.used_tokens is None


# -- turns --------------------------------------------------------------------------------------


@each_age_with_turn_ids
def test_a_turn_that_has_not_ended_is_not_terminal(version: str) -> None:
    writer = answered(version)
    unfinished = gap(read(writer.content, turn_id=writer.turn_id, phase=Phase.TERMINAL))
    assert unfinished.reason is MissingReason.TURN_NOT_FINISHED
    assert unfinished.limit_basis is LimitBasis.EFFECTIVE_WINDOW
    active = pair(read(writer.content, turn_id=writer.turn_id, phase=Phase.ACTIVE))
    assert unfinished.partial == Partial(
        used_tokens=active.used_tokens,
        limit_tokens=active.limit_tokens,
        measured_at=active.measured_at,
    )
    assert active.turn_ended_at is None
    writer.end()
    over = pair(read(writer.content, turn_id=writer.turn_id, phase=Phase.TERMINAL))
    assert over.turn_ended_at == at(len(writer.rows) - 1)
    assert over.identity == active.identity


def test_an_unfinished_turn_says_what_else_it_knows() -> None:
    asked: dict[str, Any] = {"phase": Phase.TERMINAL}
    writer = session()
    assert gap(read(writer.content, **asked)) == Gap(
        reason=MissingReason.TURN_NOT_FINISHED,
        limit_basis=LimitBasis.EFFECTIVE_WINDOW,
        runtime_version="0.171.0",
    )
    writer.respond(150_500)
    writer.compact(151_600, 6_866)
    compacted = gap(read(writer.content, **asked))
    assert compacted.partial == gap(read(writer.content)).partial
    unlimited = RolloutRows("0.115.0", window=None)
    unlimited.begin()
    unlimited.start()
    unlimited.respond(14_100)
    assert gap(read(unlimited.content, **asked)).partial == Partial(
        used_tokens=14_100, measured_at=pair_time(unlimited)
    )


def pair_time(writer: RolloutRows) -> datetime | None:
    found = read(writer.content)
    assert isinstance(found, UsedTokens)
    return found.measured_at


def test_an_unfinished_turn_whose_count_may_be_older_or_lacks_its_window_asks_for_more() -> None:
    asked: dict[str, Any] = {"phase": Phase.TERMINAL, "turn_id": turn(0x7F)}
    writer = answered("0.115.0")
    writer.end()
    writer.row("response_item", {"type": "message", "role": "user", "content": "x" * 100_000})
    writer.start(turn(0x7F))
    writer.count()
    writer.message()  # the row before it may be of this turn, for all that is in the window
    assert gap(read(writer.content, window=2_000, **asked)).partial is None
    assert gap(read(writer.content, window=2_000, budget=3_000, **asked)).partial is None
    writer = session()
    writer.turn_id = turn(0x7F)
    writer.event("task_started", turn_id=turn(0x7F), model_context_window=WINDOW)
    writer.row("response_item", {"type": "message", "role": "user", "content": "x" * 100_000})
    writer.call()
    writer.take(14_100)
    writer.record()
    whole = gap(read(writer.content, window=2_000, **asked)).partial
    assert whole is not None
    assert (whole.used_tokens, whole.limit_tokens) == (14_100, WINDOW)
    short = gap(read(writer.content, window=2_000, budget=3_000, **asked)).partial
    assert short is not None
    assert (short.used_tokens, short.limit_tokens) == (14_100, None)


def test_an_unfinished_turn_that_began_before_the_window_asks_for_more() -> None:
    writer = session("0.115.0")
    writer.respond(14_100)
    writer.row("response_item", {"type": "message", "role": "user", "content": "x" * 100_000})
    asked: dict[str, Any] = {"turn_id": writer.turn_id, "phase": Phase.TERMINAL}
    writer.context()
    assert shown(read(writer.content, window=2_000, budget=3_000, **asked)) == "turn_not_finished"
    found = gap(read(writer.content, window=2_000, **asked))
    assert found.partial is not None
    assert found.partial.used_tokens == 14_100


def test_a_turn_that_was_killed_ends_where_the_next_begins() -> None:
    writer = answered()
    killed = writer.turn_id
    writer.start()
    found = pair(read(writer.content, turn_id=killed, phase=Phase.TERMINAL))
    assert (found.used_tokens, found.turn_ended_at) == (14_100, None)


@pytest.mark.parametrize("shows", [True, False])
def test_of_many_turns_the_newest_are_kept_and_the_one_that_is_shown(
    monkeypatch: pytest.MonkeyPatch, shows: bool
) -> None:
    monkeypatch.setattr(played, "_KEPT_TURNS", 6)
    writer = RolloutRows()
    writer.begin()
    turns = [writer.start()]
    if shows:
        writer.respond(14_100)
    turns += [writer.start() for _ in range(6)]
    rows = [Row.alone(0, line) for line in writer.content.splitlines()]
    state = played.Replay.from_the_first_row(rows[0])
    kept = []
    for row in filter(None, rows):
        state.play(row)
        state.forget_old_turns()
        kept.append([*state.turns])
    assert turns[:6] in kept
    assert kept[-1] == [*turns[:shows], *turns[-3:]]


def test_the_newer_names_of_a_turns_rows_mean_the_same() -> None:
    writer = RolloutRows()
    writer.begin()
    writer.turn_id = turn(1)
    writer.event("turn_started", turn_id=turn(1), model_context_window=WINDOW)
    writer.context()
    writer.respond(14_100)
    assert seen(writer, turn_id=turn(1), phase=Phase.TERMINAL) == "turn_not_finished"
    writer.event("turn_complete", turn_id=turn(1))
    assert seen(writer, turn_id=turn(1), phase=Phase.TERMINAL) == 14_100


def test_a_turn_that_begins_in_the_window_is_seen_whole() -> None:
    writer = answered()
    for _ in range(100):
        writer.item("AgentMessage", text="x" * KIB)
    writer.end()
    begun = writer.start()
    assert seen(writer, turn_id=begun, window=4 * KIB, budget=32 * KIB) == "turn_not_found"


def test_a_turn_may_be_aborted_without_a_name() -> None:
    writer = answered()
    asked = writer.turn_id
    writer.event("turn_aborted", turn_id=turn(0xFFFF), reason="replaced")  # another's
    assert seen(writer, phase=Phase.ACTIVE) == 14_100
    writer.event("turn_aborted", reason="replaced")
    assert seen(writer, phase=Phase.ACTIVE) == "turn_not_found"
    assert seen(writer, turn_id=asked, phase=Phase.TERMINAL) == 14_100


def test_a_turn_without_a_name_is_no_turn() -> None:
    writer = answered()
    writer.event("task_started", model_context_window=WINDOW)
    assert seen(writer, phase=Phase.ACTIVE) == "turn_not_found"
    assert seen(writer) == 14_100


@each_age_with_turn_ids
def test_the_running_turn_is_the_one_that_is_active(version: str) -> None:
    writer = answered(version)
    assert seen(writer, phase=Phase.ACTIVE) == 14_100
    writer.end()
    assert seen(writer, phase=Phase.ACTIVE) == "turn_not_found"
    assert seen(writer, phase=Phase.TERMINAL) == 14_100
    writer.start()
    assert seen(writer, phase=Phase.ACTIVE) == "turn_not_found"
    assert seen(writer, phase=Phase.TERMINAL) == "turn_not_finished"
    writer.respond(15_600)
    assert seen(writer, phase=Phase.ACTIVE) == 15_600


def test_a_turn_that_no_row_names_is_not_found() -> None:
    writer = answered()
    assert seen(writer, turn_id=turn(0xFFFF)) == "turn_not_found"
    assert seen(writer, turn_id="4") == "turn_not_found"
    assert seen(writer, turn_id=PARENTS_TURN) == "carried_over"
    writer.row("response_item", {"type": "message", "role": "user", "content": "x" * 100_000})
    short = read(writer.content, window=2_000, budget=2_000, turn_id=turn(0xFFFF))
    assert shown(short) == "budget_exhausted"


def test_a_file_without_a_turn_has_none_running() -> None:
    writer = RolloutRows()
    writer.begin()
    assert seen(writer, phase=Phase.ACTIVE) == "turn_not_found"
    assert seen(writer, phase=Phase.TERMINAL) == "not_measured_yet"
    assert seen(writer) == "not_measured_yet"


@pytest.mark.parametrize("phase", [Phase.ACTIVE, Phase.TERMINAL])
def test_a_window_without_a_turns_row_asks_for_more(phase: Phase) -> None:
    writer = answered()
    writer.row("response_item", {"type": "message", "role": "user", "content": "x" * 100_000})
    short = {"window": 2_000, "budget": 4_000}
    assert shown(read(writer.content, **short, phase=phase)) == "budget_exhausted"
    whole = read(writer.content, window=2_000, phase=phase)
    assert shown(whole) == (14_100 if phase is Phase.ACTIVE else "turn_not_finished")


@pytest.mark.parametrize("version", ["0.36.0", "0.77.0", "0.98.0"])
def test_turns_without_ids_are_told_by_time(version: str) -> None:
    writer = answered(version)
    measured_at = pair(read(writer.content)).measured_at
    assert measured_at is not None
    later = measured_at + timedelta(milliseconds=1)
    for asked in ({"turn_id": turn(1)}, {"phase": Phase.ACTIVE}):
        assert seen(writer, **asked) == "turn_ids_not_recorded"
        assert seen(writer, **asked, turn_started_at=measured_at) == 14_100
        assert seen(writer, **asked, turn_started_at=later) == "turn_not_found"
    assert seen(writer, phase=Phase.TERMINAL) == 14_100
    assert seen(writer, turn_started_at=later) == "turn_not_found"


def test_time_tells_the_running_turn_too() -> None:
    writer = answered()
    writer.end()
    assert seen(writer, phase=Phase.ACTIVE, turn_started_at=START) == 14_100
    late = at(len(writer.rows))
    assert seen(writer, phase=Phase.ACTIVE, turn_started_at=late) == "turn_not_found"


def test_a_count_from_before_its_turn_is_carried_over() -> None:
    writer = answered()
    late = at(len(writer.rows))
    assert seen(writer, turn_id=writer.turn_id, turn_started_at=late) == "carried_over"


NAMING: dict[str, Any] = {
    "its end": lambda writer: writer.end(),
    "its context": lambda writer: writer.context(),
    "an item": lambda writer: writer.item("CommandExecution"),
}


@pytest.mark.parametrize("name", NAMING)
def test_a_turn_that_began_before_the_window_is_named_by_a_later_row(name: str) -> None:
    writer = session("0.145.0")
    writer.respond(9_000)
    writer.row("response_item", {"type": "message", "role": "user", "content": "x" * 100_000})
    writer.respond(12_000)
    writer.respond(14_100)
    writer.item("AgentMessage", thread_id=PARENT, turn_id=turn(0xFFFF))
    NAMING[name](writer)
    asked = {"turn_id": writer.turn_id, "phase": Phase.ACTIVE}
    found = pair(read(writer.content, window=3_000, budget=4_000, **asked))
    assert found.used_tokens == 14_100
    writer.start()
    assert shown(read(writer.content, window=3_500, budget=4_500, **asked)) == 14_100


# -- the thread ---------------------------------------------------------------------------------


def cut_off() -> RolloutRows:
    """Return a session in a turn that long rows without its name have followed."""
    writer = answered("0.115.0")
    for _ in range(100):
        writer.row("response_item", {"type": "message", "role": "user", "content": "x" * KIB})
    return writer


def asks_for_more(writer: RolloutRows, **asked: Any) -> bool:
    """Tell whether the end of the file leaves open what is asked."""
    budget = ReadBudget(initial=4 * KIB, maximum=MIB)
    reader = TailReader.open(writer.content, budget, head=ROLLOUT.head)
    assert isinstance(reader, TailReader)
    with reader:
        seen = ROLLOUT.extract(reader.tail, Query(**{"at": START, **asked}))
    return isinstance(seen, NeedMore)


def count_twice(writer: RolloutRows) -> None:
    """Write two counts: of the first, it is not known whether it repeats an older one."""
    for used in (15_600, 16_700):
        writer.message()
        writer.take(used)
        writer.count()


def test_a_count_asks_for_more_while_its_model_may_lie_before_the_window() -> None:
    writer = cut_off()
    count_twice(writer)
    assert asks_for_more(writer)
    writer = cut_off()
    writer.context()
    count_twice(writer)
    assert not asks_for_more(writer)
    writer = cut_off()
    writer.event("task_started", turn_id=turn(0x50), model_context_window=WINDOW)
    writer.event("token_count", info=None)
    count_twice(writer)
    assert not asks_for_more(writer)


@pytest.mark.parametrize("phase", [Phase.LATEST, Phase.TERMINAL])
def test_a_turn_asks_for_more_while_its_beginning_may_lie_before_the_window(phase: Phase) -> None:
    writer = cut_off()
    writer.context()
    asked = {"turn_id": writer.turn_id, "phase": phase}
    assert asks_for_more(writer, **asked)
    count_twice(writer)
    assert not asks_for_more(writer, **asked)
    writer = cut_off()
    begun = writer.start()
    assert not asks_for_more(writer, turn_id=begun, phase=phase)


def test_a_record_asks_for_more_while_its_window_may_lie_before_the_window() -> None:
    writer = cut_off()
    writer.version = "0.171.0"
    writer.context()
    writer.call()
    writer.take(15_600)
    writer.record()
    assert asks_for_more(writer, turn_id=writer.turn_id, phase=Phase.TERMINAL)


def test_the_last_turn_asks_for_more_only_where_there_is_none() -> None:
    writer = cut_off()
    assert asks_for_more(writer, phase=Phase.TERMINAL)
    writer.start()
    writer.context()
    count_twice(writer)
    writer.end()
    assert not asks_for_more(writer, phase=Phase.TERMINAL)


def test_an_unfinished_turn_names_its_model() -> None:
    unfinished = gap(read(answered().content, phase=Phase.TERMINAL))
    assert unfinished.reason is MissingReason.TURN_NOT_FINISHED
    assert unfinished.model == ModelRef(id="gpt-5.5", provider="openai")


def test_a_compaction_makes_the_estimate_before_it_its_own() -> None:
    writer = cut_off()
    writer.estimate(6_866)  # which may repeat one that lies before the window
    writer.row("compacted", {"message": "x"})
    assert not asks_for_more(writer)
    found = gap(read(writer.content, window=4 * KIB, budget=32 * KIB)).partial
    assert found is not None
    assert (found.used_tokens, found.measured_at) == (6_866, at(len(writer.rows) - 2))


def test_a_count_before_a_turns_first_row_is_not_that_turns() -> None:
    writer = cut_off()
    count_twice(writer)
    writer.start()
    assert read(writer.content, window=4 * KIB) == read(writer.content)


def test_another_threads_row_does_not_name_the_turn_that_was_cut_off() -> None:
    writer = cut_off()
    writer.item("AgentMessage", thread_id=PARENT, turn_id=turn(0x50))
    count_twice(writer)
    writer.end()
    asked = {"turn_id": writer.turn_id, "window": 4 * KIB, "budget": 32 * KIB}
    assert seen(writer, **asked) == 16_700


def test_a_window_of_a_file_that_begins_without_a_thread_is_of_that_file() -> None:
    writer = cut_off()
    del writer.rows[0]
    count_twice(writer)
    writer.end()
    assert seen(writer, window=4 * KIB, budget=32 * KIB) == 16_700


def test_a_window_that_is_stated_twice_in_one_row_is_none() -> None:
    stated = f'"model_context_window":{WINDOW}'.encode()
    twice = stated + b',"model_context_window":999000'

    def doubled(writer: RolloutRows, row: int) -> bytes:
        lines = writer.content.splitlines(keepends=True)
        assert stated in lines[row]
        lines[row] = lines[row].replace(stated, twice)
        return b"".join(lines)

    writer = session()
    writer.call()
    writer.take(14_100)
    writer.record()
    assert shown(read(doubled(writer, 1))) == "limit_invalid"  # the turn's
    writer.count()
    assert shown(read(doubled(writer, 1))) == 14_100
    assert shown(read(doubled(writer, -1))) == "source_malformed"
    writer.count()  # again
    assert shown(read(doubled(writer, -1))) == "source_malformed"


@each_age
def test_a_file_is_of_one_thread(version: str) -> None:
    writer = answered(version)
    assert seen(writer, session_id=THREAD) == 14_100
    assert seen(writer, session_id=PARENT) == "session_mismatch"
    assert seen(writer, agent_id=THREAD) == 14_100
    assert seen(writer, agent_id=PARENT) == "session_mismatch"


@pytest.mark.parametrize(
    "meta",
    [
        {"session_id": PARENT},
        {"parent_thread_id": PARENT},
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": PARENT}}}},
    ],
)
def test_a_sub_agents_file_is_not_its_roots(meta: dict[str, Any]) -> None:
    writer = RolloutRows()
    writer.begin(**meta)
    writer.start()
    writer.respond(14_100)
    assert seen(writer, session_id=PARENT) == "session_mismatch"
    assert seen(writer, session_id=PARENT, agent_id=THREAD) == 14_100
    assert seen(writer, session_id=THREAD, agent_id=THREAD) == 14_100
    assert seen(writer, session_id=turn(1), agent_id=THREAD) == "session_mismatch"
    assert seen(writer) == 14_100


def test_a_thread_whose_first_row_is_too_long_is_told_by_its_records() -> None:
    writer = session(base_instructions={"text": "x" * 70 * KIB})
    writer.row("response_item", {"type": "message", "role": "user", "content": "x" * 100_000})
    writer.respond(14_100)
    short = {"window": 2_000, "budget": 70 * KIB}
    found = pair(read(writer.content, **short, session_id=THREAD))
    assert (found.used_tokens, found.runtime_version) == (14_100, None)
    assert shown(read(writer.content, **short, session_id=PARENT)) == "session_mismatch"
    writer.row("response_item", {"type": "message", "role": "user", "content": "x" * 100_000})
    assert shown(read(writer.content, **short, session_id=THREAD)) == "budget_exhausted"
    assert shown(read(writer.content, window=2_000, session_id=THREAD)) == 14_100


def test_a_file_without_its_first_row_is_of_no_known_thread() -> None:
    writer = answered("0.115.0")
    rest = writer.content.partition(b"\n")[2]
    assert shown(read(rest)) == 14_100
    assert shown(read(rest, session_id=THREAD)) == "session_not_found"
    nameless = _with_meta(writer, id=ABSENT)
    assert shown(read(nameless, session_id=THREAD)) == "session_not_found"


def test_rows_of_no_codex_hold_no_session() -> None:
    assert shown(read(b'{"level":"info"}\n' * 3)) == "session_not_found"
    assert shown(read(b"")) == "session_not_found"


def test_a_rollout_of_0_20_has_no_usage_at_all() -> None:
    bare = b'{"id":"%s","timestamp":"2025-08-10T18:00:00Z","instructions":null}\n' % THREAD.encode()
    assert shown(read(bare + b'{"record_type":"state"}\n')) == "usage_not_reported"
    assert shown(read(bare, session_id=THREAD)) == "usage_not_reported"
    assert shown(read(bare, session_id=PARENT)) == "session_mismatch"
    assert shown(read(b'{"id":7,"instructions":null}\n')) == "session_not_found"


# -- forks, sub-agents, reverts -----------------------------------------------------------------


def forked(version: str, *, meta_of_parent: bool = True) -> RolloutRows:
    """Return a fork up to 0.145, whose file begins with its parent's rows."""
    writer = RolloutRows(version)
    writer.begin(forked_from_id=PARENT)
    if meta_of_parent:
        writer.begin(id=PARENT)
    writer.start(PARENTS_TURN)
    writer.respond(61_840)
    return writer


@pytest.mark.parametrize("version", ["0.115.0", "0.130.0", "0.145.0"])
@pytest.mark.parametrize("meta_of_parent", [True, False])
@pytest.mark.parametrize("is_over", [True, False])
def test_a_forks_copied_rows_are_its_parents(
    version: str, meta_of_parent: bool, is_over: bool
) -> None:
    writer = forked(version, meta_of_parent=meta_of_parent)
    if is_over:
        writer.end()
    assert seen(writer) == "carried_over"
    assert seen(writer, turn_id=PARENTS_TURN) == "carried_over"
    own = writer.start()
    assert seen(writer, turn_id=own) == "turn_not_found"
    writer.count()
    assert seen(writer, turn_id=own) == seen(writer) == "carried_over"
    writer.respond(62_540)
    assert seen(writer, turn_id=own) == seen(writer) == 62_540


def test_what_happened_to_a_parents_context_did_not_happen_to_the_forks() -> None:
    writer = forked("0.145.0")
    for event in ("thread_rolled_back", "context_compacted"):
        writer.event(event)
    writer.row("compacted", {"message": "x"})
    writer.event("token_count", info="x")
    assert seen(writer) == "carried_over"


def test_a_forks_window_that_names_no_turn_asks_for_more() -> None:
    writer = forked("0.130.0")
    writer.start()
    writer.respond(62_540)
    writer.row("response_item", {"type": "message", "role": "user", "content": "x" * 100_000})
    writer.respond(63_000)
    writer.respond(63_100)
    short = {"window": 2_000, "budget": 3_000}
    assert shown(read(writer.content, **short)) == "budget_exhausted"
    assert shown(read(writer.content, window=2_000)) == 63_100
    writer.end()  # names the turn as its own
    assert shown(read(writer.content, **short)) == 63_100


@pytest.mark.parametrize("phase", Phase)
def test_a_file_whose_first_row_is_not_read_may_be_a_forks(phase: Phase) -> None:
    writer = forked("0.130.0")
    writer.row("response_item", {"type": "message", "role": "user", "content": "x" * 100_000})
    writer.respond(61_900)
    assert shown(read(writer.content, window=2_000, budget=2_000, phase=phase)) == (
        "budget_exhausted"
    )


def test_a_fork_without_turn_ids_cannot_tell_its_own_rows() -> None:
    writer = RolloutRows("0.98.0")
    writer.begin(forked_from_id=PARENT)
    writer.start()
    writer.respond(62_540)
    assert seen(writer) == "carried_over"


def test_a_fork_without_copied_rows_may_write_its_parents_info_first() -> None:
    writer = RolloutRows()
    writer.begin(forked_from_id=PARENT, history_base={"thread_id": PARENT})
    assert seen(writer) == "not_measured_yet"
    own = writer.start()
    writer.take(61_840)
    writer.count()  # before a compaction, with the parent's window
    assert seen(writer) == seen(writer, turn_id=own) == "carried_over"
    writer.take(62_000)
    writer.count()
    assert seen(writer) == "carried_over"
    writer.respond(62_540)
    assert seen(writer) == seen(writer, turn_id=own) == 62_540
    outside = RolloutRows()
    outside.begin(history_base={"thread_id": PARENT})
    outside.start()
    outside.end()
    outside.take(61_840)
    outside.count()
    assert seen(outside) == "carried_over"


def test_a_sub_agents_own_rows_begin_at_an_ordinal() -> None:
    writer = RolloutRows()
    writer.begin(parent_thread_id=PARENT, subagent_history_start_ordinal=20)
    writer.start(turn(0x80))  # the copied rows may look like its own
    writer.respond(61_840)
    assert len(writer.rows) < 20
    assert seen(writer) == "not_measured_yet"
    while len(writer.rows) < 20:
        writer.output()
    own = writer.start()
    writer.respond(62_040)
    assert seen(writer, turn_id=own) == 62_040
    assert seen(writer, turn_id=turn(0x80)) == "turn_not_found"


@pytest.mark.parametrize("ordinal", [None, "20", -1, True])
def test_an_ordinal_that_is_none_begins_nothing(ordinal: object) -> None:
    writer = RolloutRows()
    writer.begin(parent_thread_id=PARENT, subagent_history_start_ordinal=ordinal)
    writer.start()
    writer.respond(62_040)
    assert seen(writer) == 62_040


def test_a_reverted_thread_goes_on_in_a_file_without_a_count() -> None:
    writer = RolloutRows()
    writer.begin(history_base={"thread_id": THREAD, "end_ordinal_exclusive": 14})
    assert seen(writer) == "rewound"
    writer.start()
    writer.respond(15_100)
    assert seen(writer) == 15_100


def test_rows_behind_a_parents_first_row_are_the_parents() -> None:
    writer = answered()
    writer.row("session_meta", {"id": PARENT})
    writer.message()
    writer.take(90_000)
    writer.count()
    assert seen(writer) == 14_100


def test_what_is_made_in_the_threads_own_millisecond_is_no_later_thread_and_no_parents() -> None:
    writer = answered()
    writer.row("session_meta", {"id": THREAD[:-1] + "d"})
    writer.start()
    writer.respond(15_600)
    assert seen(writer) == 15_600
    fork = RolloutRows()
    fork.begin(forked_from_id=PARENT)
    own = fork.start(turn(0))
    fork.respond(14_100)
    assert seen(fork, turn_id=own) == 14_100


def test_rows_of_a_later_thread_are_not_this_ones() -> None:
    writer = answered()
    before = read(writer.content)
    appended = RolloutRows(thread_id=turn(0x90))
    appended.begin()
    appended.start(turn(0xA0))
    appended.respond(99_000)
    appended.end()
    writer.rows += appended.rows
    assert read(writer.content) == before


@pytest.mark.parametrize(
    "odd",
    [
        {"id": THREAD},
        {},
        {"id": None},
        {"id": "not-a-uuid"},
        {"id": "01a22891-0000-4000-8000-00000000000c"},
        {"id": "zza22891-0000-7000-8000-00000000000c"},
    ],
)
def test_a_second_first_row_ends_no_turn(odd: dict[str, Any]) -> None:
    writer = answered()
    before = read(writer.content)
    writer.row("session_meta", odd)
    assert read(writer.content) == before


# -- the source ---------------------------------------------------------------------------------


def test_the_source_is_lazy_and_says_what_it_is() -> None:
    assert ROLLOUT.id == "codex.rollout"
    assert ROLLOUT.origin.method == "codex_transcript_token_count"
    assert ROLLOUT.head == 64 * KIB
    with pytest.raises(AttributeError, match="no attribute 'NOTHING'"):
        codex.NOTHING  # noqa: B018


@each_age
def test_every_row_of_a_rollout_is_recognised(version: str) -> None:
    assert ROLLOUT.recognise is not None
    writer = answered(version)
    writer.end()
    recorded = {"token_usage_record"}
    assert all(map(ROLLOUT.recognise, (r for r in writer.rows if r["type"] not in recorded)))


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"timestamp": "x", "type": "event_msg"},
        {"timestamp": "x", "type": "event_msg", "payload": None},
        {"timestamp": "x", "type": "user", "payload": {}},
        {"timestamp": "x", "type": ["event_msg"], "payload": {}},
        {"type": "event_msg", "payload": {}},
    ],
)
def test_a_row_of_another_agent_is_not_recognised(other: dict[str, Any]) -> None:
    assert ROLLOUT.recognise is not None
    assert not ROLLOUT.recognise(other)


def test_nothing_that_is_shown_names_an_id() -> None:
    writer = answered()
    shown_of = [read(writer.content), read(writer.content, window=200, budget=200)]
    for evidence in shown_of:
        assert THREAD not in repr(evidence)
        assert str(writer.turn_id) not in repr(evidence)
