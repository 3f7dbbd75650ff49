"""Monotone honesty: taking evidence away never makes a reading look better known."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from attrs import asdict, evolve, fields
from hypothesis import assume
from hypothesis import strategies as st

from ..bounded.budget import MIB, ReadBudget
from ..evidence import Evidence, Gap, NeedKeys, NeedMore, TokenPair, UsedTokens
from ..observation import Attestation, Confidence, Missing, MissingReason, Observation
from ..source import Source, StreamSource
from .hostile import places, with_value
from .properties import drawn
from .session import line
from .subject import Subject

__all__ = ["grows_no_surer_with_less", "grows_no_surer_without_a_key"]

_Change: TypeAlias = Callable[[Evidence], Evidence]

_CONTRADICTIONS = frozenset({MissingReason.LIMIT_CONTRADICTED, MissingReason.SOURCES_DISAGREE})
"""Refusals that rest on evidence of too much: with less, nothing contradicts."""

# Whoever stops at the first window sees less than there is, so the window has to grow.
_IN_STEPS = ReadBudget(initial=300, maximum=4 * MIB)

_LEAST = (len(Attestation), len(Confidence))


def _rank(observation: Observation) -> tuple[int, int]:
    """Return how little a reading is attested, and how little sure it is."""
    if isinstance(observation, Missing):
        return _LEAST
    attested = list(Attestation).index(observation.attestation)
    return attested, list(Confidence).index(observation.confidence)


def _is_no_surer(after: Observation, before: Observation) -> bool:
    return all(a >= b for a, b in zip(_rank(after), _rank(before), strict=True))


def _is_void(observation: Observation) -> bool:
    """Tell whether what was measured is known to be void: with less, nothing is known to be.

    So it is where an estimate, or an assumption, had to stand in.
    """
    return isinstance(observation, Missing) or observation.confidence is Confidence.LOW


def _without_time(evidence: Evidence) -> Evidence:
    if not isinstance(evidence, Gap):
        return evolve(evidence, measured_at=None)
    known = evidence.partial  # an estimate, which the question may accept
    return evidence if known is None else evolve(evidence, partial=evolve(known, measured_at=None))


def _without_model(evidence: Evidence) -> Evidence:
    return evolve(evidence, model=None)


def _without_limit(evidence: Evidence) -> Evidence:
    """Take the limit away, but one that is doubted because the table knows better."""
    if not isinstance(evidence, TokenPair) or evidence.limit_tokens in evidence.default_limits:
        return evidence
    shared = {field.name for field in fields(UsedTokens)}
    return UsedTokens(**asdict(evidence, recurse=False, filter=lambda f, _: f.name in shared))


_CHANGES: tuple[_Change, ...] = (_without_time, _without_model, _without_limit)


def _seeing(source: Source, change: _Change) -> Any:
    """Return *source* with *change* made to whatever evidence it sees."""

    def changed(seen: Any) -> Any:
        match seen:
            case NeedMore():
                return NeedMore(change(seen.settled()))
            case NeedKeys():
                return seen
            case _:
                return change(seen)

    if isinstance(source, StreamSource):
        seen = source.evidence
        return evolve(source, evidence=lambda state, query: changed(seen(state, query)))
    extract: Any = source.extract
    return evolve(source, extract=lambda read, query: changed(extract(read, query)))


def grows_no_surer_with_less(subject: Subject, data: st.DataObject) -> None:
    """Without the time there is no reading; without model or limit it is no better known."""
    session = drawn(subject, data)
    last = session.written[-1]
    with subject.laid_first(session, len(session.written)) as laid:
        for answer in last.answers:
            before = subject.observe(laid, last.at, answer, budget=_IN_STEPS)
            if isinstance(before, Missing) and before.reason in _CONTRADICTIONS:
                continue
            for change in _CHANGES:
                less = evolve(subject, source=_seeing(subject.source, change))
                after = less.observe(laid, last.at, answer, budget=_IN_STEPS)
                assert _is_no_surer(after, before), (change.__name__, before, after)
                assert change is not _without_time or isinstance(after, Missing), after


def grows_no_surer_without_a_key(subject: Subject, data: st.DataObject) -> None:
    """A row or payload from which a key is taken away is no better known."""
    session = drawn(subject, data)
    last = session.written[-1]
    contents = [written.content for written in session.written]
    index = data.draw(st.integers(0, len(contents) - 1)) if subject.is_lines else -1
    row = json.loads(contents[index])
    ways = places(row)
    assume(ways)
    less = [*contents]
    less[index] = line(with_value(row, data.draw(st.sampled_from(ways))))
    with subject.laid(contents) as whole, subject.laid(less) as laid:
        for answer in last.answers:
            before = subject.observe(whole, last.at, answer)
            after = subject.observe(laid, last.at, answer)
            assert _is_void(before) or _is_no_surer(after, before), (before, after)
