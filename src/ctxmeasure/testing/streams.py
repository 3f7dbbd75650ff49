"""The properties of live streams: chunks, moments, and the file that tells the same session."""

from __future__ import annotations

from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from ..measurement import TokenMeasurement
from ..observation import Observation, Observed
from ..stream import Stream
from . import hostile
from .planting import told
from .properties import content_of, drawn
from .session import Answer, Truth, Writer
from .subject import Subject, session_of

__all__ = ["agrees_with_its_twin", "bears_any_chunk", "does_not_feel_chunks", "shows_it_live"]


def shows_it_live(subject: Subject, data: st.DataObject) -> None:
    """After each line a stream shows the truth, and its peak is nowhere below it."""
    session = drawn(subject, data)
    stream = _stream(subject)
    for written in session.written:
        stream.feed(written.content, at=written.at)
        for answer in written.answers:
            if not answer.question:
                truth = answer.as_of(written.at)
                assert Truth.told_by(stream.latest).numbers == truth.numbers, stream.latest
        _assert_not_above(stream.latest, stream.peak)


def _stream(subject: Subject) -> Stream:
    source: Any = subject.source
    return Stream(source)


def _assert_not_above(latest: Observation, peak: Observation) -> None:
    match latest, peak:
        case (
            Observed(value=TokenMeasurement(limit_tokens=limit) as now),
            Observed(value=TokenMeasurement(limit_tokens=limit_then) as then),
        ) if limit == limit_then:
            assert then.used_tokens >= now.used_tokens


def does_not_feel_chunks(subject: Subject, data: st.DataObject) -> None:
    """However a stream is cut into pieces, it comes to the same."""
    session = drawn(subject, data)
    content, at = content_of(session), session.written[-1].at
    whole, pieces = _stream(subject), _stream(subject)
    for written in session.written:
        whole.feed(written.content, at=at)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=12)))
    for start, stop in zip([0, *cuts], [*cuts, len(content)], strict=True):
        pieces.feed_bytes(content[start:stop], at=at)
    assert pieces.finish(at=at) == whole.latest
    assert pieces.peak == whole.peak
    assert pieces.stats == whole.stats


def bears_any_chunk(subject: Subject, data: st.DataObject) -> None:
    """No bytes raise an exception in a live stream."""
    session = drawn(subject, data)
    content, at = data.draw(hostile.damaged(content_of(session))), session.written[-1].at
    stream = _stream(subject)
    for line in content.splitlines(keepends=True):
        stream.feed(line, at=at)
        told(stream.latest, at=at)
        told(stream.peak, at=at)
    told(stream.finish(at=at), at=at)


def agrees_with_its_twin(subject: Subject, data: st.DataObject) -> None:
    """A stream and the file of the same session show the same count, or none, after each step."""
    assert subject.twin is not None
    source, writer = subject.twin
    shared = [step for step in subject.writer.steps if step in writer.steps]
    taken = data.draw(st.lists(st.tuples(st.sampled_from(shared), st.integers(0, 9)), max_size=8))
    mine, other = session_of(subject.writer, taken), session_of(writer, taken)
    assume(mine.written and other.written)
    used = [_used(subject, mine), _used(Subject(source, writer), other)]
    assert used[0] == used[1], (taken, used)


def _used(subject: Subject, session: Writer) -> int | None:
    """Return the tokens that were measured, whatever is known of the limit."""
    last = session.written[-1]
    answer = Answer(Truth())
    with subject.laid_first(session, len(session.written)) as laid:
        observation = subject.observe(laid, last.at, answer, limit_tokens=10_000_000)
    used, _, _ = Truth.told_by(observation).numbers
    return used
