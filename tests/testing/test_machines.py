"""The machines' rules, each taken once in an order that must come out right."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from ctxmeasure import registry
from ctxmeasure.observation import Observed
from ctxmeasure.testing.claude.transcript import TranscriptWriter
from ctxmeasure.testing.cursor.stores import ChatStoreWriter
from ctxmeasure.testing.databases import JOURNALS
from ctxmeasure.testing.machines import FileMachine, StoreMachine
from ctxmeasure.testing.subject import Subject


class StepsInOrder(ChatStoreWriter):
    """Counts, in one step."""

    steps: ClassVar[tuple[str, ...]] = ("count",)


CHAT = Subject(registry.find("cursor.chat_store"), StepsInOrder)
TRANSCRIPT = Subject(registry.find("claude.transcript"), TranscriptWriter)


@pytest.mark.parametrize("journal", JOURNALS)
def test_a_store_shows_what_was_committed_also_when_its_owner_is_killed(journal: str) -> None:
    machine: Any = StoreMachine.of(CHAT)()
    try:
        machine.begins(journal, "DEFERRED")
        machine.is_read()
        machine.takes_a_step(0, 0)
        machine.commits()
        machine.is_read()
        last = machine.session.written[machine.committed - 1]
        observation = CHAT.observe(machine.path, last.at, last.answers[0])
        assert isinstance(observation, Observed)
        machine.takes_a_step(0, 0)
        machine.is_read()
        machine.is_killed_at_work()
        machine.is_read()
    finally:
        machine.teardown()


def test_a_file_shows_nothing_untrue_while_it_is_flushed_and_goes_on_in_another() -> None:
    machine: Any = FileMachine.of(TRANSCRIPT)()
    try:
        for step in ("respond", "fork", "respond"):
            machine.takes_a_step(TranscriptWriter.steps.index(step), 0)
            for _ in range(30):
                machine.flushes(100)
                machine.is_read()
    finally:
        machine.teardown()


def test_a_machine_is_named_by_its_source() -> None:
    assert FileMachine.of(TRANSCRIPT).__name__ == "FileMachine[claude.transcript]"
