"""Hooks that are killed at any call, fail, overlap and come twice; what they remember gets lost.

`hook_machine` plays them, and finds what is planted here: each of these faults alone.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hook_machine import HookMachine
from hypothesis import Phase, settings
from hypothesis.errors import HypothesisException
from hypothesis.stateful import run_state_machine_as_test

from ctxmeasure.bounded.encode import encode_object
from ctxmeasure.cli.swift import recording
from ctxmeasure.ledger import book as ledger
from ctxmeasure.ledger.book import Book
from ctxmeasure.sampler import sampling
from ctxmeasure.track.cadence import Cadence
from ctxmeasure.track.witness_log import WitnessLog

pytestmark = pytest.mark.once

Patch: TypeAlias = pytest.MonkeyPatch

TestHooks = HookMachine.TestCase
TestHooks.settings = settings(
    max_examples=min(25, settings.default.max_examples),  # type: ignore[union-attr] # there is a default
    stateful_step_count=25,
)

# The same inputs each time; the first that fails is enough, and is not made smaller.
ENOUGH = settings(
    TestHooks.settings,
    max_examples=100,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    report_multiple_bugs=False,
)

Plant: TypeAlias = Callable[[Patch], None]

FAULTS: dict[Plant, int] = {}
"""What plants a fault, and how many steps it takes until it shows."""


def fault(steps: int) -> Callable[[Plant], Plant]:
    """Add the decorated function to the faults, under what its name says."""

    def add(plant: Plant) -> Plant:
        FAULTS[plant] = steps
        return plant

    return add


@fault(8)
def saves_the_state_before_the_lines(patch: Patch) -> None:
    def publish(self: Book, lines: bytes, state: Path, content: bytes) -> None:
        with self._lock(ledger._SHARED):
            self.save(state, content)
            ledger._append(self._out, lines, ledger._end_of(self._out)[0])

    patch.setattr(Book, "publish", publish)


@fault(12)
def appends_the_lines_without_a_journal(patch: Patch) -> None:
    def publish(self: Book, lines: bytes, state: Path, content: bytes) -> None:
        with self._lock(ledger._SHARED):
            ledger._append(self._out, lines, ledger._end_of(self._out)[0])
            self.save(state, content)

    patch.setattr(Book, "publish", publish)


@fault(8)
def keeps_the_journal(patch: Patch) -> None:
    unlink = Path.unlink
    patch.setattr(
        Path, "unlink", lambda path, **named: path.name == "journal" or unlink(path, **named)
    )


@fault(8)
def writes_what_was_cut_from_its_beginning(patch: Patch) -> None:
    patch.setattr(ledger, "_can_be_continued", lambda *_: False)


@fault(8)
def writes_on_without_looking_where_it_was_cut(patch: Patch) -> None:
    def append(path: str, lines: bytes, _: int) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, lines)
        os.close(descriptor)

    patch.setattr(ledger, "_append", append)


@fault(30)
def lets_the_hooks_of_a_session_overlap(patch: Patch) -> None:
    real = Book._lock

    @contextmanager
    def lock(self: Book, place: int) -> Iterator[None]:
        if place:
            yield
        else:
            with real(self, place):
                yield

    patch.setattr(Book, "_lock", lock)


@fault(20)
def lets_sessions_publish_at_the_same_time(patch: Patch) -> None:
    real = Book._lock

    @contextmanager
    def lock(self: Book, place: int) -> Iterator[None]:
        if not place:
            yield
        else:
            with real(self, place):
                yield

    patch.setattr(Book, "_lock", lock)


@fault(8)
def keeps_a_lock(patch: Patch) -> None:
    @contextmanager
    def lock(self: Book, place: int) -> Iterator[None]:
        fcntl.lockf(self._locks, fcntl.LOCK_EX, 1, place)
        yield

    patch.setattr(Book, "_lock", lock)


@fault(8)
def keeps_the_folder_open(patch: Patch) -> None:
    patch.setattr(Book, "close", lambda _: None)


@fault(8)
def publishes_a_sample_each_time_it_is_met(patch: Patch) -> None:
    real = WitnessLog.publish

    def publish(self: WitnessLog, observation: Any, *, key: bytes) -> tuple[WitnessLog, bool]:
        return real(self, observation, key=key)[0], True

    patch.setattr(WitnessLog, "publish", publish)


@fault(30)
def forgets_what_it_published_with_its_state(patch: Patch) -> None:
    patch.setattr(recording, "_published", lambda *_: [])


@fault(8)
def does_not_ask_again(patch: Patch) -> None:
    patch.setattr(sampling, "_stopped", lambda *_: iter(()))


@fault(8)
def overlooks_a_turn_whose_stop_was_killed(patch: Patch) -> None:
    patch.setattr(sampling, "_left", lambda *_: iter(()))


@fault(8)
def looks_at_a_running_turn_all_the_time(patch: Patch) -> None:
    patch.setattr(Cadence, "attempt", lambda self, *_, **__: (self, True))


@fault(8)
def writes_an_id_of_the_agents_into_its_events(patch: Patch) -> None:
    patch.setattr("ctxmeasure.record.opaque.turn_id", lambda *facts: f"tid_{facts[2]}")


@fault(8)
def remembers_the_words_of_a_payload(patch: Patch) -> None:
    real = recording._sample

    def sample(book: Book, raw: bytes, *rest: Any) -> str | None:
        (Path(book._folder) / "last").write_bytes(encode_object({"raw": raw.decode()}).encode())
        return real(book, raw, *rest)

    patch.setattr(recording, "_sample", sample)


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
def test_a_planted_fault_is_found(plant: Plant, monkeypatch: Patch) -> None:
    plant(monkeypatch)
    chosen = settings(ENOUGH, stateful_step_count=FAULTS[plant])
    try:
        run_state_machine_as_test(HookMachine, settings=chosen)
    except HypothesisException:
        raise
    except Exception:  # noqa: BLE001 - a fault shows itself in any way
        return
    pytest.fail("it is not found")
