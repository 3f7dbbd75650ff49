"""The suite that a source passes: `conformance` makes its checks of a source and its writer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import hypothesis
from attrs import field, frozen
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from ..registry import find
from ..source import PayloadSource, Source, StoreSource, StreamSource, TailSource
from . import histories, honesty, machines, properties, streams
from .properties import Property
from .session import StoreWriter, Writer
from .subject import Subject

__all__ = ["Check", "conformance"]


@frozen
class Check:
    """One check of the suite: call it, and it raises an `AssertionError` or returns.

    Attributes:
        name: What the source must do, as in ``shows_the_truth``.
    """

    name: str
    _run: Callable[[], object] = field(repr=False)

    def __call__(self) -> None:
        """Run the check."""
        self._run()

    def __str__(self) -> str:
        return self.name


_ALL: tuple[Property, ...] = (
    properties.shows_the_truth,
    properties.stays_within_its_budget,
    properties.says_the_same_twice,
    properties.says_the_same_a_day_later,
    properties.keeps_the_shape,
    properties.marks_a_declared_or_assumed_limit,
    properties.is_cured_as_its_reason_advises,
    properties.bears_anything,
    properties.survives_the_wire,
    properties.tells_no_word,
    honesty.grows_no_surer_with_less,
)
_OF_BYTES: tuple[Property, ...] = (
    properties.reads_a_path_as_it_reads_bytes,
    properties.bears_any_wrong_value,
    honesty.grows_no_surer_without_a_key,
)
_OF_KIND: dict[type, tuple[Property, ...]] = {
    TailSource: (
        *_OF_BYTES,
        properties.is_safe_after_every_byte,
        properties.knows_nothing_before_its_window,
        properties.takes_no_end_of_a_line_for_a_row,
        properties.loses_no_line_at_its_edge,
    ),
    StreamSource: (
        *_OF_BYTES,
        properties.is_safe_after_every_byte,
        streams.shows_it_live,
        streams.does_not_feel_chunks,
        streams.bears_any_chunk,
    ),
    PayloadSource: (*_OF_BYTES, properties.shows_nothing_of_a_cut_payload),
    StoreSource: (properties.bears_a_damaged_database, properties.leaves_nothing_behind),
}
_STEPS_OF_A_MACHINE = 12


def conformance(
    source: Source | str,
    writer: type[Writer],
    *,
    twin: tuple[Source | str, type[Writer]] | None = None,
    settings: hypothesis.settings | None = None,
) -> list[Check]:
    """Return the checks that *source* has to pass, to be run by whichever test runner.

    With pytest::

        @pytest.mark.parametrize("check", conformance(SIGNALS, SignalsWriter), ids=str)
        def test_signals_conform(check: Check) -> None:
            check()

    Args:
        source: The source, or its id.
        writer: The class of its session writer.
        twin: The source and the writer of a file that holds the same sessions as a stream: the
            steps of the same name are the same step.
        settings: Hypothesis's settings; None: those in force when a check runs.

    Raises:
        TypeError: *source* is no source, or *writer* no class of writers of its kind.
        ValueError: *source* is an id that nobody has, or *writer* has no steps.
    """
    of_twin = None if twin is None else (_found(twin[0]), twin[1])
    subject = Subject(_found(source), writer, of_twin)
    _check_writer(subject)
    return [*_checks(subject, settings)]


def _found(source: Source | str) -> Source:
    found = find(source) if isinstance(source, str) else source
    if type(found) not in _OF_KIND:
        raise TypeError("source: expected a Source or a source id")
    return found


def _check_writer(subject: Subject) -> None:
    writer: Any = subject.writer
    if not (isinstance(writer, type) and issubclass(writer, Writer)):
        raise TypeError("writer: expected a subclass of Writer")
    if issubclass(writer, StoreWriter) != isinstance(subject.source, StoreSource):
        raise TypeError("writer: expected a StoreWriter for a StoreSource, and for no other source")
    if not writer.steps:
        raise ValueError("writer: expected at least one step")


def _checks(subject: Subject, settings: hypothesis.settings | None) -> Iterator[Check]:
    for rehearsal in _rehearsals(subject):
        yield Check(rehearsal.__name__, partial(rehearsal, subject))
    for property_ in (*_ALL, *_OF_KIND[type(subject.source)], *_where_given(subject)):
        name = property_.__name__
        yield Check(name, partial(_hold, property_, subject, settings))
    machine = _machine(subject)
    if machine is not None:
        name = "stands_a_writer_at_work"
        yield Check(name, partial(_work, machine, settings))


def _rehearsals(subject: Subject) -> Iterator[Callable[[Subject], None]]:
    """Yield the checks that are the same in each run."""
    yield properties.shows_the_truth_at_every_step
    if subject.is_lines:
        yield properties.is_safe_at_the_end_of_every_row


def _where_given(subject: Subject) -> Iterator[Property]:
    """Yield the properties that hang on what source and writer have beside the least."""
    session = subject.writer()
    session.begin()
    has_foreign = isinstance(session, StoreWriter) and any(True for _ in session.foreign())
    if has_foreign or any(True for _ in session.strangers()):
        yield properties.is_deaf_to_strangers
    if subject.twin is not None:
        yield streams.agrees_with_its_twin
    if isinstance(subject.source, TailSource) and subject.source.history is not None:
        yield histories.is_what_the_file_showed
        yield histories.misses_no_sample
    if subject.source.recognise is not None and subject.is_bytes:
        yield properties.is_known_by_its_looks


def _machine(subject: Subject) -> type[RuleBasedStateMachine] | None:
    if subject.is_lines:
        return machines.FileMachine.of(subject)
    return None if subject.is_bytes else machines.StoreMachine.of(subject)


def _hold(property_: Property, subject: Subject, settings: hypothesis.settings | None) -> None:
    """Try *property_* with the inputs that Hypothesis draws."""

    def holds(data: st.DataObject) -> None:
        property_(subject, data)

    # Failures are told apart, and kept, by what is tried.
    holds.__qualname__ = f"{property_.__name__}[{subject.source.id}]"
    tried = hypothesis.given(st.data())(holds)
    (tried if settings is None else settings(tried))()


def _work(machine: type[RuleBasedStateMachine], settings: hypothesis.settings | None) -> None:
    chosen = settings or hypothesis.settings()
    # A machine takes many steps, and that of a store a process.
    few = max(1, chosen.max_examples // 2)
    short = hypothesis.settings(chosen, max_examples=few, stateful_step_count=_STEPS_OF_A_MACHINE)
    run_state_machine_as_test(machine, settings=short)
