"""The properties of a session's history: it is what the file showed, moment for moment."""

from __future__ import annotations

from hypothesis import strategies as st

from ..assess import Policy
from ..bounded.budget import MIB, ReadBudget
from ..history import Moment, scan
from ..observation import Missing, Observation
from ..reading import observe
from .properties import content_of, drawn, ends_of, said
from .session import Truth, Writer
from .subject import Subject

__all__ = ["is_what_the_file_showed", "misses_no_sample"]

# A history knows all that was written before a moment, which a window need not reach back to.
_WHOLE = ReadBudget(initial=MIB, maximum=MIB)
_FOR_EVER = Policy(max_age=None)


def is_what_the_file_showed(subject: Subject, data: st.DataObject) -> None:
    """Each moment of a history is what the file says when it is cut there, the last one too."""
    session = drawn(subject, data)
    content, moments = content_of(session), _moments(subject, session)
    for moment in moments:
        shown = _shown(subject, session, content[: moment.offset])
        assert said(moment.observation) == said(shown), moment
    assert said(moments[-1].observation) == said(_shown(subject, session, content))
    offsets = [moment.offset for moment in moments]
    assert offsets == sorted({*offsets}), offsets


def misses_no_sample(subject: Subject, data: st.DataObject) -> None:
    """What a reader saw after any row is a moment of the history."""
    session = drawn(subject, data)
    content = content_of(session)
    told = {Truth.told_by(moment.observation).numbers for moment in _moments(subject, session)}
    for end in ends_of(session)[1:]:
        shown = _shown(subject, session, content[:end])
        assert isinstance(shown, Missing) or Truth.told_by(shown).numbers in told, shown


def _moments(subject: Subject, session: Writer) -> list[Moment]:
    at = session.written[-1].at
    return [*scan(subject.source, content_of(session), at=at, policy=_FOR_EVER)]


def _shown(subject: Subject, session: Writer, content: bytes) -> Observation:
    at = session.written[-1].at
    return observe(subject.source, content, at=at, budget=_WHOLE, policy=_FOR_EVER)
