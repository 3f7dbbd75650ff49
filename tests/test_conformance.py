"""Every built-in source passes the suite that a contributor's source has to pass."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from ctxmeasure import registry
from ctxmeasure.testing import Check, Writer, conformance
from ctxmeasure.testing.writers import TWINS, WRITERS

# Fewer inputs than a property of its own is given: these are many.
FEW = settings(max_examples=min(10, settings.default.max_examples))  # type: ignore[union-attr] # there is a default


def checks() -> Iterator[tuple[str, Check]]:
    """Yield the checks of all sources and writers, with a name for each."""
    for source_id, writers in WRITERS.items():
        twin = TWINS.get(source_id)
        of_twin = None if twin is None else (twin, WRITERS[twin][0])
        for writer in writers:
            for check in conformance(source_id, writer, twin=of_twin, settings=FEW):
                yield f"{source_id}-{writer.__name__}-{check}", check


CHECKS = dict(checks())


@pytest.mark.parametrize("name", CHECKS)
def test_a_built_in_source_conforms(name: str) -> None:
    CHECKS[name]()


def test_every_built_in_source_has_a_writer() -> None:
    assert {*registry.ids()} == {*WRITERS}


@pytest.mark.parametrize("writer", [w for writers in WRITERS.values() for w in writers])
def test_every_step_says_what_it_is(writer: type[Writer]) -> None:
    assert [step for step in writer.steps if not getattr(writer, step).__doc__] == []
