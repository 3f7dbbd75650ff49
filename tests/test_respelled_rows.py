"""How a row is spelled says nothing: the order of its keys, its spaces, keys that came later.

Agents and the tools that copy their files write the same objects differently; a reader that
searches the text for what it knows reads other numbers then, or none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmeasure import registry
from ctxmeasure.source import StoreSource
from ctxmeasure.testing import Writer, session_of, sessions
from ctxmeasure.testing.claude.transcript import TranscriptWriter
from ctxmeasure.testing.subject import Subject
from ctxmeasure.testing.writers import WRITERS

pytestmark = pytest.mark.once

FEW = settings(max_examples=10)
DECOY = {"usage": {"input_tokens": 777_000, "totalTokens": 777_000, "used": 777_000}}
SEPARATORS = [(",", ":"), (", ", ": "), (" ,  ", "\t:\t")]

# Objects whose keys are names that somebody chose: a further key is a further member there.
BY_NAME = {"modelUsage"}


@frozen
class Speller:
    """Spells rows in one way.

    Attributes:
        chance: Shuffles the keys of every object.
        separators: What stands between members, and between a key and its value.
        is_newer: Whether every object has a key more: a row and its copy are of one version.
    """

    chance: Random
    separators: tuple[str, str]
    is_newer: bool

    def spell(self, content: bytes) -> bytes:
        """Return a row of JSON in other letters."""
        row = self._spelled(json.loads(content))
        return json.dumps(row, separators=self.separators).encode() + b"\n"

    def _spelled(self, value: Any, key: str = "") -> Any:
        if isinstance(value, list):
            return [self._spelled(item) for item in value]
        if not isinstance(value, dict):
            return value
        items = [(name, self._spelled(item, name)) for name, item in value.items()]
        if self.is_newer and key not in BY_NAME:
            items.append(("fromTheFuture", DECOY))
        self.chance.shuffle(items)
        return dict(items)


SPELLERS = st.builds(Speller, st.randoms(), st.sampled_from(SEPARATORS), st.booleans())


def written() -> Iterator[Any]:
    for source_id, writers in WRITERS.items():
        if source_id != "text" and not isinstance(registry.find(source_id), StoreSource):
            for writer in writers:
                name = f"{source_id} by {writer.__name__}"
                yield pytest.param(Subject(registry.find(source_id), writer), id=name)


@pytest.mark.parametrize("subject", [*written()])
def test_the_truth_is_read_however_it_is_spelled(subject: Subject) -> None:
    @FEW
    @given(sessions(subject.writer).filter(lambda session: session.written), SPELLERS)
    def check(session: Writer, speller: Speller) -> None:
        contents = [w.content for w in session.written if isinstance(w.content, bytes)]
        told = [speller.spell(content) for content in contents]
        with subject.laid(told) as laid:
            subject.assert_true(laid, session.written[-1])

    check()


def test_a_reader_that_searches_the_text_is_misled() -> None:
    session = session_of(TranscriptWriter, [("respond", 0)])
    known = re.compile(rb'"usage":\{"input_tokens":(\d+)')
    contents = [w.content for w in session.written if isinstance(w.content, bytes)]

    def found(separators: tuple[str, str], *, is_newer: bool) -> list[bytes]:
        speller = Speller(Random(1), separators, is_newer)  # noqa: S311 - nothing is secret here
        return known.findall(b"".join(map(speller.spell, contents)))

    assert known.findall(b"".join(contents)) == [b"2"]
    assert found((",", ":"), is_newer=False) == []
    assert b"777000" in found((",", ":"), is_newer=True)
    assert found((", ", ": "), is_newer=True) == []
