"""The suite of a source finds faults: each of these is planted alone, and is found.

They are the faults that other tools have, and those that a reader of tails is prone to.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import pytest
from attrs import evolve, field, frozen
from hypothesis import Phase as HypothesisPhase
from hypothesis import settings
from hypothesis.errors import HypothesisException

from ctxmeasure import reading, registry, stream
from ctxmeasure.adapters.acp import session as acp_session
from ctxmeasure.adapters.claude import conversation, transcript
from ctxmeasure.adapters.claude import stream as claude_stream
from ctxmeasure.adapters.claude.context_usage import CONTEXT_USAGE
from ctxmeasure.adapters.claude.status_line import STATUS_LINE
from ctxmeasure.adapters.codex import replay
from ctxmeasure.adapters.codex.usage_info import last_request
from ctxmeasure.adapters.cursor import chat_store
from ctxmeasure.adapters.pi import conversation as pi_conversation
from ctxmeasure.adapters.pi import messages as pi_messages
from ctxmeasure.adapters.pi import session as pi_session
from ctxmeasure.adapters.pi import stream as pi_stream
from ctxmeasure.assess import judge, rules
from ctxmeasure.bounded import jsonl
from ctxmeasure.bounded.decode import decode_object
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.evidence import Gap, UsedPercent, UsedTokens
from ctxmeasure.measurement import PercentMeasurement, TokenMeasurement
from ctxmeasure.observation import (
    LimitBasis,
    MissingReason,
    Observation,
    Observed,
    Partial,
    UsedBasis,
    Witness,
)
from ctxmeasure.record import observation as wire
from ctxmeasure.source import Source, StoreSource, StreamSource
from ctxmeasure.testing import conformance
from ctxmeasure.testing.writers import TWINS, WRITERS

pytestmark = pytest.mark.once

Patch: TypeAlias = pytest.MonkeyPatch

# About the same inputs each time; the first that fails is enough, and is not made smaller.
ENOUGH = settings(
    max_examples=150,
    derandomize=True,
    database=None,
    phases=[HypothesisPhase.explicit, HypothesisPhase.generate],
)


def found(
    source: Source | str, writer: int = 0, by: str = "", chosen: settings = ENOUGH
) -> str | None:
    """Return the first check of the suite, or of those named *by*, that fails; or None."""
    source_id = source if isinstance(source, str) else source.id
    twin = TWINS.get(source_id)
    of_twin = None if twin is None else (twin, WRITERS[twin][0])
    checks = conformance(source, WRITERS[source_id][writer], twin=of_twin, settings=chosen)
    for check in [check for check in checks if by in ("", check.name)]:
        try:
            check()
        except HypothesisException:
            raise
        except Exception:  # noqa: BLE001 - a fault shows itself in any way
            return check.name
    return None


@frozen
class Fault:
    """A fault, where it is looked for, and how it is planted.

    Attributes:
        says: What the faulty code does.
        source: The source that is faulty with it.
        plant: Plants it; returns the faulty source where the fault is not in a function.
        writer: Which of the source's writers writes the sessions.
        by: The check that finds it; the others take their time.
    """

    says: str
    source: str
    plant: Callable[[Patch], Source | None] = field(repr=False)
    writer: int = 0
    by: str = "shows_the_truth_at_every_step"


FAULTS: list[Fault] = []

Plant: TypeAlias = Callable[[Patch], Source | None]


def fault(source: str, writer: int = 0, **found: str) -> Callable[[Plant], Plant]:
    """Add the decorated function to the faults, under what its name says."""

    def add(plant: Plant) -> Plant:
        FAULTS.append(Fault(plant.__name__, source, plant, writer, **found))
        return plant

    return add


# -- Claude Code ------------------------------------------------------------------------------


@fault("claude.transcript")
def counts_the_output_too(patch: Patch) -> None:
    basis = {"PROMPT": UsedBasis.PROMPT_AND_OUTPUT}
    patch.setattr(conversation, "UsedBasis", type("Basis", (), basis))


@fault("claude.transcript")
def accepts_a_sidechain(patch: Patch) -> None:
    patch.setattr(transcript, "is_abreast", lambda row, _: not row.get("agentId"))


@fault("claude.transcript")
def takes_an_error_for_a_response(patch: Patch) -> None:
    patch.setattr(transcript, "is_response", lambda row: row.get("type") == "assistant")


@fault("claude.transcript")
def accepts_a_count_from_before_a_compaction(patch: Patch) -> None:
    patch.setattr(transcript, "is_boundary", lambda _: False)
    patch.setattr(transcript, "is_summary", lambda _: False)


@fault("claude.transcript")
def takes_the_count_before_a_compaction_for_the_estimate(patch: Patch) -> None:
    real = conversation._compaction

    def told(mark: jsonl.Row) -> Any:
        stated = real(mark)
        before = {"postTokens": stated.get("preTokens")} if "postTokens" in stated else {}
        return {**stated, **before}

    patch.setattr(conversation, "_compaction", told)


@fault("claude.context_usage")
def takes_the_window_for_the_estimate(_: Patch) -> Source:
    source = CONTEXT_USAGE

    def extract(payload: Mapping[str, Any], query: Any) -> Any:
        match source.extract(payload, query):
            case Gap(partial=Partial(estimated=True) as known) as gap:
                return evolve(gap, partial=evolve(known, used_tokens=known.limit_tokens))
            case seen:
                return seen

    return evolve(source, extract=extract)


@fault("claude.status_line", by="is_cured_as_its_reason_advises")
def advises_a_limit_and_then_refuses_it(_: Patch) -> Source:
    source = STATUS_LINE

    def extract(payload: Mapping[str, Any], query: Any) -> Any:
        seen = source.extract(payload, query)
        lacks = seen.limit_missing if isinstance(seen, UsedTokens) else None
        return seen if lacks is None else Gap(reason=lacks)

    return evolve(source, extract=extract)


@fault("claude.status_line", by="says_the_same_a_day_later")
def takes_the_moment_of_the_question_for_a_files(patch: Patch) -> None:
    patch.setattr(reading, "_received", lambda asked, _: asked)


@fault("claude.stream", by="says_the_same_a_day_later")
def takes_the_moment_of_the_question_for_a_recordings(patch: Patch) -> None:
    patch.setattr(reading, "_received", lambda asked, _: asked)


@fault("cursor.chat_store", by="says_the_same_a_day_later")
def takes_the_moment_of_the_question_for_a_databases(_: Patch) -> Source:
    source: StoreSource = chat_store.CHAT_STORE

    def extract(values: Any, query: Any) -> Any:
        seen = source.extract(values, query)
        return evolve(seen, measured_at=query.at) if isinstance(seen, UsedTokens) else seen

    return evolve(source, extract=extract)


@fault("claude.transcript")
def takes_the_newest_row_after_a_rewind(patch: Patch) -> None:
    patch.setattr(transcript, "_is_block_of", lambda *_: True)


@fault("claude.transcript")
def accepts_a_row_that_a_fork_has_copied(patch: Patch) -> None:
    def decode(raw: bytes) -> dict[str, Any] | None:
        row = decode_object(raw)
        return row and {key: value for key, value in row.items() if key != "forkedFrom"}

    patch.setattr(jsonl, "decode_object", decode)


@fault("claude.transcript")
def takes_any_turn_for_the_one_asked_for(patch: Patch) -> None:
    patch.setattr(transcript, "_turn_gap", lambda *_: None)


@fault("claude.transcript")
def takes_any_session_for_the_one_asked_for(patch: Patch) -> None:
    def holds(self: Any, row: jsonl.Row) -> bool:
        return conversation.is_abreast(row.value, self.agent_id)

    patch.setattr(transcript._Thread, "holds", holds)


@fault("claude.stream")
def accepts_a_sub_agents_frame(_: Patch) -> Source:
    source = claude_stream.STREAM

    def step(state: Any, frame: Mapping[str, Any], query: Any) -> Any:
        return source.step(state, {**frame, "parent_tool_use_id": None}, query)

    return evolve(source, step=step)


@fault("claude.stream")
def accepts_the_call_of_a_compaction(_: Patch) -> Source:
    source = claude_stream.STREAM

    def step(state: Any, frame: Mapping[str, Any], query: Any) -> Any:
        return state if frame.get("status") else source.step(state, frame, query)

    return evolve(source, step=step)


@fault("claude.stream")
def shows_the_peak_for_the_present(_: Patch) -> Source:
    source: StreamSource[Any] = claude_stream.STREAM
    return evolve(source, evidence=source.peak)


@fault("claude.stream", by="does_not_feel_chunks")
def forgets_the_half_of_a_line(patch: Patch) -> None:
    def keep(self: Any, part: bytes) -> None:
        self._pending = bytearray(part)

    patch.setattr(stream.Stream, "_extend_pending", keep)


# -- Codex ------------------------------------------------------------------------------------


@fault("codex.rollout", 2)
def takes_the_lifetime_sum(patch: Patch) -> None:
    real = last_request

    def summed(info: Mapping[str, Any]) -> Any:
        return real({**info, "last_token_usage": info.get("total_token_usage")})

    patch.setattr(replay, "last_request", summed)


@fault("codex.rollout", 1)
def accepts_a_row_that_is_carried_over(patch: Patch) -> None:
    def accept(self: replay.Replay, _: object, __: object, row: jsonl.Row) -> None:
        self._on_fresh_info(row, row.value["payload"]["info"], is_original=True, keeps_total=False)
        self._settle()

    patch.setattr(replay.Replay, "_on_repetition", accept)


@fault("codex.rollout")
def accepts_the_request_of_a_compaction(patch: Patch) -> None:
    patch.setattr(replay.Replay, "_offer", replay.Replay._stand)


@fault("codex.rollout")
def takes_an_estimate_for_a_count(patch: Patch) -> None:
    real = judge._Case._accepted_estimate

    def accept(self: Any, gap: Gap) -> Any:
        return real(evolve(self, policy=evolve(self.policy, accept_estimates=True)), gap)

    patch.setattr(judge._Case, "_accepted_estimate", accept)


# -- Cursor -----------------------------------------------------------------------------------


@fault("cursor.chat_store")
def takes_what_is_not_set_for_zero(patch: Patch) -> None:
    real = chat_store._count
    patch.setattr(chat_store, "_count", lambda *field: real(*field) or 1)


@fault("cursor.status_line")
def makes_tokens_of_a_percentage(patch: Patch) -> None:
    real = judge._Case.of_percent

    def of_percent(self: Any, seen: UsedPercent) -> Observation:
        observation = real(self, seen)
        if isinstance(observation, Observed) and isinstance(observation.value, PercentMeasurement):
            value = observation.value
            tokens = TokenMeasurement(
                used_tokens=int(value.used_percent * 2_000),
                limit_tokens=200_000,
                measured_at=value.measured_at,
                method=value.method,
            )
            return evolve(observation, value=tokens)
        return observation

    patch.setattr(judge._Case, "of_percent", of_percent)


# -- Pi ---------------------------------------------------------------------------------------


@fault("pi.session")
def takes_the_newest_reply_of_any_branch(patch: Patch) -> None:
    newest = pi_session._Conversation._newest

    def parent(self: Any, row: jsonl.Row) -> Any:
        return newest(self, row.offset) or pi_conversation.End.ROOT

    patch.setattr(pi_session._Conversation, "parent", parent)


@fault("pi.session")
def accepts_a_reply_that_a_compaction_kept(patch: Patch) -> None:
    real = pi_conversation.Standing.of

    def of(row: jsonl.Row) -> Any:
        is_compaction = row.value.get("type") == "compaction"
        return pi_conversation.Standing() if is_compaction else real(row)

    patch.setattr(pi_conversation.Standing, "of", of)


@fault("pi.stream")
def counts_a_reply_that_was_aborted(patch: Patch) -> None:
    def counted(message: Mapping[str, Any]) -> Any:
        stopped = message.get("stopReason")
        return pi_messages.counted(
            {**message, "stopReason": None if stopped == "aborted" else stopped}
        )

    patch.setattr(pi_stream, "counted", counted)


@fault("pi.stream", by="agrees_with_its_twin")
def overlooks_an_edit_of_the_context(patch: Patch) -> None:
    patch.setattr(pi_stream, "_EVENTS", {**pi_stream._EVENTS, "entry_appended": _pass})


def _pass(state: Any, *_: object) -> Any:
    return state


# -- ACP --------------------------------------------------------------------------------------


@fault("acp.session")
def takes_the_first_count_after_a_compaction(patch: Patch) -> None:
    patch.setattr(acp_session.Session, "_tells_of_compaction", lambda *_: False)


@fault("acp.session")
def takes_a_sub_agents_report(patch: Patch) -> None:
    real = acp_session._reported

    def reported(state: Any, params: Mapping[str, Any], report: Any) -> Any:
        return real(state, {**params, "sessionId": state.only}, report)

    patch.setattr(acp_session, "_reported", reported)


@fault("acp.session", 1, by="grows_no_surer_without_a_key")
def believes_an_agent_that_has_not_named_itself(patch: Patch) -> None:
    def defaults(agent: acp_session.Agent) -> frozenset[int]:
        return frozenset({200_000}) if agent.is_claude else frozenset()

    patch.setattr(acp_session.Agent, "default_sizes", property(defaults))


# -- the reader -------------------------------------------------------------------------------


@fault("codex.rollout", 1, by="is_safe_at_the_end_of_every_row")
def parses_a_cut_line(patch: Patch) -> None:
    def mended(raw: bytes) -> dict[str, Any] | None:
        tries = (decode_object(raw + b"}" * missing) for missing in range(5))
        return next((row for row in tries if row is not None), None)

    patch.setattr(jsonl, "decode_object", mended)
    patch.setattr(jsonl, "repeats_keys", lambda *_: False)  # it would tell: it parses them again


@fault("claude.transcript", by="takes_no_end_of_a_line_for_a_row")
def takes_the_end_of_a_line_for_a_row(patch: Patch) -> None:
    real = jsonl.TailReader._view
    patch.setattr(
        jsonl.TailReader, "_view", lambda self: evolve(real(self), first=self._window.base)
    )


@fault("claude.transcript", by="loses_no_line_at_its_edge")
def loses_the_line_at_the_windows_edge(patch: Patch) -> None:
    real = jsonl.TailReader._view

    def view(self: jsonl.TailReader) -> jsonl.Tail:
        tail, window = real(self), self._window
        if window.base > 0 and window.content.startswith(b"\n"):
            first = window.base + window.content.find(b"\n", 1) + 1
            return evolve(tail, first=first)
        return tail

    patch.setattr(jsonl.TailReader, "_view", view)


@fault("claude.transcript", by="stays_within_its_budget")
def reads_on_when_the_budget_is_spent(patch: Patch) -> None:
    real = jsonl.TailReader.grow

    def grow(self: jsonl.TailReader) -> bool:
        self._budget = evolve(self._budget, maximum=2**40)
        return real(self)

    patch.setattr(jsonl.TailReader, "grow", grow)


@fault("claude.hook", by="bears_any_wrong_value")
def raises_on_bad_data(patch: Patch) -> None:
    patch.setattr("ctxmeasure.adapters.claude.hook.is_count", lambda count: count + 0 >= 0)


# -- the judge, and what leaves ---------------------------------------------------------------


@fault("claude.transcript")
def assumes_a_limit(patch: Patch) -> None:
    real = judge._Case.limit_for

    def limit_for(self: Any, seen: UsedTokens, model: ModelRef | None, fullest: int) -> Any:
        limit = real(self, seen, model, fullest)
        if limit is MissingReason.MODEL_UNKNOWN:
            return judge._Limit(
                tokens=200_000, basis=LimitBasis.WINDOW, grade=rules.DOCUMENTED_DEFAULT
            )
        return limit

    patch.setattr(judge._Case, "limit_for", limit_for)


@fault("claude.transcript")
def shows_more_than_the_window_holds(patch: Patch) -> None:
    patch.setattr(judge, "_contradiction", lambda *_: None)


@fault("claude.transcript")
def shows_a_sample_from_the_future(patch: Patch) -> None:
    patch.setattr(judge._Case, "_untimely", lambda *_: None)


@fault("claude.status_line")
def overlooks_a_disagreement(patch: Patch) -> None:
    patch.setattr(judge, "_disagreement", lambda *_, **__: None)


@fault("claude.context_usage", by="says_the_same_twice")
def gives_each_reading_a_witness_of_its_own(patch: Patch) -> None:
    numbers = itertools.count()
    patch.setattr(judge, "_witness", lambda *_: Witness(next(numbers).to_bytes(32, "big")))


@fault("codex.app_server", by="tells_no_word")
def repeats_the_model_as_it_is_named(patch: Patch) -> None:
    patch.setattr(judge, "public_model", lambda model: model)


@fault("codex.rollout", by="grows_no_surer_with_less")
def knows_better_without_a_model(patch: Patch) -> None:
    real = judge._Case.limit_beside

    def limit_beside(self: Any, seen: Any, model: Any, fullest: int) -> Any:
        limit = real(self, seen, model, fullest)
        if isinstance(limit, MissingReason) or model is None:
            return limit
        return evolve(limit, ceiling=rules.VOUCHED_FOR)

    patch.setattr(judge._Case, "limit_beside", limit_beside)


@fault("claude.hook", by="bears_anything")
def loses_the_model_on_the_wire(patch: Patch) -> None:
    real = wire._provenance

    def provenance(told: Any) -> dict[str, Any]:
        return {key: value for key, value in real(told).items() if key != "model"}

    patch.setattr(wire, "_provenance", provenance)


@pytest.mark.parametrize("planted", FAULTS, ids=lambda planted: planted.says)
def test_a_planted_fault_is_found(planted: Fault, monkeypatch: Patch) -> None:
    source = planted.plant(monkeypatch) or planted.source
    assert found(source, planted.writer, planted.by) == planted.by


def test_there_are_twenty_of_them_and_more() -> None:
    assert len(FAULTS) >= 20
    assert {planted.source for planted in FAULTS} <= {*registry.ids()}


def test_without_a_fault_nothing_is_found() -> None:
    few = settings(ENOUGH, max_examples=5)  # `test_conformance` tries more
    assert [source for source in ("claude.hook", "codex.exec") if found(source, chosen=few)] == []
