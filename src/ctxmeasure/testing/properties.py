"""The properties that every source has to have, each a function of a source and of drawn data.

``docs/testing.md`` says in words what each of them means; the names are the ones a failing test
shows. `conformance` says which of them are asked of which kind of source, `streams` and `machines`
hold those that need a live stream or a writer at work.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import accumulate
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from attrs import evolve
from hypothesis import strategies as st

from ..assess import Policy
from ..bounded.budget import ReadBudget, ReadStats
from ..measurement import PercentMeasurement
from ..observation import LimitBasis, Missing, MissingReason, Observation, Observed, Witness
from ..record import dumps, loads
from ..source import StoreSource, TailSource
from . import databases, hostile
from .planting import MARK, Planter, holds_mark, told
from .session import Answer, Content, Statement, StoreWriter, Truth, Writer, Written, line
from .subject import Subject, session_of, sessions

__all__ = ["Property", "assert_safe"]

Property: TypeAlias = Callable[[Subject, st.DataObject], None]
"""A property: it draws what it needs, and fails by an `AssertionError`."""


def drawn(subject: Subject, data: st.DataObject) -> Writer:
    """Draw a session in which something was written."""
    return data.draw(sessions(subject.writer).filter(lambda session: session.written))


def content_of(session: Writer) -> bytes:
    """Return the whole file or stream that *session* wrote."""
    return b"".join(written.content for written in session.written)


def ends_of(session: Writer) -> list[int]:
    """Return how many bytes the first 0, 1, 2, ... things written take."""
    return [0, *accumulate(len(written.content) for written in session.written)]


def answered(subject: Subject, session: Writer) -> Iterator[tuple[Answer, Observation]]:
    """Yield the last answers of *session*, and what the source says."""
    last = session.written[-1]
    with subject.laid_first(session, len(session.written)) as laid:
        for answer in last.answers:
            yield answer, subject.observe(laid, last.at, answer)


def said(observation: Observation) -> tuple[Observation, Witness | None]:
    """Return all that *observation* says, its fingerprint too, and not what it cost."""
    provenance = evolve(observation.provenance, stats=ReadStats())
    return evolve(observation, provenance=provenance), provenance.witness


# -- the truth ------------------------------------------------------------------------------------


def shows_the_truth_at_every_step(subject: Subject) -> None:
    """Each step and each row of it shows the truth; then many short sessions, always the same."""
    steps = subject.writer.steps
    for size, order in enumerate((steps, steps[::-1], steps)):
        _assert_shown(subject, [(step, size) for step in order])
    for taken in _rehearsed(subject, sessions=16):
        _assert_shown(subject, taken, only_last=True)


def _assert_shown(
    subject: Subject, taken: list[tuple[str, int]], *, only_last: bool = False
) -> None:
    """Assert that the truth is shown of the session that *taken* makes; else say which that is."""
    session = session_of(subject.writer, taken)
    count = len(session.written)
    for number in range(max(1, count) if only_last else 1, count + 1):
        try:
            with subject.laid_first(session, number) as laid:
                subject.assert_true(laid, session.written[number - 1])
        except Exception as error:
            error.add_note(f"after {number} of the {count} written by session_of(writer, {taken})")
            raise


def _rehearsed(subject: Subject, *, sessions: int) -> Iterator[list[tuple[str, int]]]:
    """Yield the steps of sessions that are the same in each run, and all their beginnings."""
    for seed in range(sessions):
        chance = Random(seed)  # noqa: S311 - nothing is secret here
        steps = [(chance.choice(subject.writer.steps), chance.randrange(10)) for _ in range(8)]
        yield from (steps[:count] for count in (4, 6, 8))


def shows_the_truth(subject: Subject, data: st.DataObject) -> None:
    """After each thing that is written the reading is the truth: the number, or the reason."""
    session = drawn(subject, data)
    count = len(session.written)
    for number in {count, data.draw(st.integers(1, count))}:
        with subject.laid_first(session, number) as laid:
            subject.assert_true(laid, session.written[number - 1])


# -- prefix safety --------------------------------------------------------------------------------


def is_safe_after_every_byte(subject: Subject, data: st.DataObject) -> None:
    """A file cut at any byte shows the newest truth that is fully written, or a `Missing`."""
    session = drawn(subject, data)
    content, ends = content_of(session), ends_of(session)
    near = {end - back for end in ends[-2:] for back in (1, 2, 4, 8) if end >= back}
    for cut in near | {data.draw(st.integers(0, len(content)))}:
        assert_safe(subject, session.written, content[:cut])


def is_safe_at_the_end_of_every_row(subject: Subject) -> None:
    """As `is_safe_after_every_byte`, where a cut row is most easily taken for a whole one."""
    *_, taken = _rehearsed(subject, sessions=1)
    session = session_of(subject.writer, [*taken, *((step, 1) for step in subject.writer.steps)])
    content = content_of(session)
    plain = [evolve(written, answers=written.answers[:1]) for written in session.written]
    for end in ends_of(session)[1:]:
        for back in (1, 2, 3, 4, 6):
            assert_safe(subject, plain, content[: end - back])


def assert_safe(subject: Subject, written: Sequence[Written], content: bytes) -> None:
    """Assert that *content*, a beginning of what was *written*, shows no untruth."""
    ends = list(accumulate(len(w.content) for w in written))
    complete = sum(end <= len(content) for end in ends)
    asked = written[max(complete - 1, 0)]
    # Without its line break a row is whole and is not known to be.
    following = written[complete : complete + 1] if len(content) + 1 in ends else []
    for answer in asked.answers:
        truths = [answer.truth] if complete else []
        truths += [a.truth for w in following for a in w.answers if a.question == answer.question]
        observation = subject.observe(content, asked.at, answer)
        is_true = Truth.told_by(observation).numbers in {truth.numbers for truth in truths}
        assert isinstance(observation, Missing) or is_true, (answer, observation)


def shows_nothing_of_a_cut_payload(subject: Subject, data: st.DataObject) -> None:
    """A payload of which a byte is missing is a `Missing`."""
    written = data.draw(st.sampled_from(drawn(subject, data).written))
    content = written.content.rstrip()
    near = {len(content) - back for back in (1, 2, 4, 8)}
    for cut in near | {data.draw(st.integers(0, len(content) - 1))}:
        for answer in written.answers:
            observation = subject.observe(content[:cut], written.at, answer)
            assert isinstance(observation, Missing), observation


# -- locality -------------------------------------------------------------------------------------


def knows_nothing_before_its_window(subject: Subject, data: st.DataObject) -> None:
    """What lies before the first complete line of the window changes nothing."""
    session = drawn(subject, data)
    content, head, last = content_of(session), _head(subject, session), session.written[-1]
    window = data.draw(st.integers(1, len(content)) | st.sampled_from(_windows(session)))
    start = len(content) - window
    if start <= head:
        return
    first = content.index(b"\n", start)
    noise = data.draw(st.sampled_from([b"x", b'"', b"{", b" ", b"\0"]))
    other = content[:head] + noise * (first - head) + content[first:]
    budget = ReadBudget(initial=window, maximum=window + head)
    for answer in last.answers:
        told = [subject.observe(laid, last.at, answer, budget=budget) for laid in (content, other)]
        assert said(told[0]) == said(told[1]), answer


def takes_no_end_of_a_line_for_a_row(subject: Subject, data: st.DataObject) -> None:
    """A line that begins before the window is no row, whatever its end looks like."""
    session = drawn(subject, data)
    content, head, last = content_of(session), _head(subject, session), session.written[-1]
    starts = [start for start in ends_of(session)[1:-1] if start > head]
    if not starts:
        return
    start = data.draw(st.sampled_from(starts) | st.just(starts[-1]))
    longer = content[: start - 1] + b" " + content[start:]  # the two lines are one now
    for answer in last.answers:
        told = [
            subject.observe(longer, last.at, answer, budget=budget)
            # From where the row seemed to begin, and from within it.
            for window in (len(content) - start, len(content) - start - 1)
            for budget in (ReadBudget(initial=window, maximum=window + head),)
        ]
        assert said(told[0]) == said(told[1]), answer


def loses_no_line_at_its_edge(subject: Subject, data: st.DataObject) -> None:
    """A line that begins just behind the window's first byte, a line break, is whole."""
    session = drawn(subject, data)
    content, head, last = content_of(session), _head(subject, session), session.written[-1]
    starts = [start for start in ends_of(session)[1:-1] if start - 2 > head]
    if not starts:
        return
    start = data.draw(st.sampled_from(starts) | st.just(starts[-1]))
    for answer in last.answers:
        told = [
            subject.observe(content, last.at, answer, budget=budget)
            for window in (len(content) - start + 1, len(content) - start + 2)
            for budget in (ReadBudget(initial=window, maximum=window + head),)
        ]
        assert said(told[0]) == said(told[1]), answer


def _head(subject: Subject, session: Writer) -> int:
    """Return how many bytes of the file's beginning are read beside the window."""
    has_head = isinstance(subject.source, TailSource) and subject.source.head
    return len(session.written[0].content) if has_head else 0


def _windows(session: Writer) -> list[int]:
    """Return the sizes of windows that begin at or around the beginning of a row."""
    ends = ends_of(session)
    sizes = {ends[-1] - end + more for end in ends[:-1] for more in (-1, 0, 1)}
    return sorted(size for size in sizes if 0 < size <= ends[-1])


def is_deaf_to_strangers(subject: Subject, data: st.DataObject) -> None:
    """Rows that are none of the session's change nothing, behind it or between its own."""
    session = drawn(subject, data)
    last = session.written[-1]
    foreign: list[Content] = [*_foreign(session)]
    contents = [written.content for written in session.written]
    first = 1 if _head(subject, session) else 0
    for _ in range(data.draw(st.integers(0, 2))):
        place = data.draw(st.integers(first, len(contents)))
        contents.insert(place, data.draw(st.sampled_from(foreign)))
    # Who names no session is answered for the newest one, whose ever that is.
    named = tuple(answer for answer in last.answers if "session_id" in answer.question)
    with subject.laid([*contents, *foreign], last.at) as laid:
        subject.assert_true(laid, evolve(last, answers=named or last.answers))


def _foreign(session: Writer) -> Iterator[Content]:
    if isinstance(session, StoreWriter):
        yield from ((statement,) for statement in session.foreign())
    else:
        yield from map(session.encoded, session.strangers())


# -- budget ---------------------------------------------------------------------------------------


class _CountingFile(io.BytesIO):
    """A file that counts the bytes that it is asked for."""

    asked = 0

    def read(self, size: int | None = -1, /) -> bytes:
        assert size is not None
        assert size >= 0, "asked for all there is"
        self.asked += size
        return super().read(size)


def stays_within_its_budget(subject: Subject, data: st.DataObject) -> None:
    """No more bytes are asked for than the budget allows, and less budget gives no other number."""
    session = drawn(subject, data)
    last = session.written[-1]
    most = max(2, len(content_of(session)) if subject.is_bytes else 2_000)
    budget = ReadBudget(
        initial=data.draw(st.integers(1, most)), maximum=data.draw(st.integers(1, most))
    )
    with subject.laid_first(session, len(session.written)) as laid:
        for answer in last.answers:
            file = _CountingFile(laid) if subject.is_bytes else laid
            observation = subject.observe(file, last.at, answer, budget=budget)
            assert observation.provenance.stats.bytes_read <= budget.maximum
            assert not subject.is_bytes or file.asked <= budget.maximum
            if isinstance(observation, Observed) and not subject.joins_midway:
                truth = answer.as_of(last.at)
                assert truth.numbers == Truth.told_by(observation).numbers, (answer, observation)


# -- idempotence ----------------------------------------------------------------------------------


def says_the_same_twice(subject: Subject, data: st.DataObject) -> None:
    """Reading again gives an equal value and witness; one sample has one witness in every phase."""
    session = drawn(subject, data)
    last = session.written[-1]
    witnesses: dict[Truth, Any] = {}
    with subject.laid_first(session, len(session.written)) as laid:
        for answer in last.answers:
            first = subject.observe(laid, last.at, answer)
            again = subject.observe(io.BytesIO(laid) if subject.is_bytes else laid, last.at, answer)
            assert first == again, answer
            assert first.provenance.witness == again.provenance.witness, answer
            if isinstance(first, Observed):
                witness = first.provenance.witness
                told = evolve(Truth.told_by(first), measured_at=None)
                assert witness == witnesses.setdefault(told, witness), answer


def says_the_same_a_day_later(subject: Subject, data: st.DataObject) -> None:
    """A file that nobody has written to since is a day older, and says the same of the same time.

    What has no clock of its own is as old as its file.
    """
    session = drawn(subject, data)
    last = session.written[-1]
    later = last.at + timedelta(days=1)
    with _filed(subject, session) as path:
        for answer in last.answers:
            before = subject.observe(path, last.at, answer)
            after = subject.observe(path, later, answer)
            told = Answer(Truth.told_by(before), **answer.question).as_of(later)
            if told.reason is MissingReason.SAMPLE_STALE:
                assert told.is_told_by(after), (answer, before, after)
            else:
                was_to_come = told.reason is MissingReason.SAMPLE_FROM_FUTURE
                assert was_to_come or said(after) == said(before), answer


# -- shape ----------------------------------------------------------------------------------------


def keeps_the_shape(subject: Subject, data: st.DataObject) -> None:
    """A percentage never becomes tokens, and no limit is without a source."""
    origin = subject.source.origin
    session = drawn(subject, data)
    for answer, observation in answered(subject, session):
        seen = observation.provenance
        if isinstance(observation, Missing):
            partial = observation.partial
            assert partial is None or None in (partial.used_percent, partial.used_tokens)
        elif isinstance(observation.value, PercentMeasurement):
            assert seen.used_basis is None, answer
            assert seen.limit_basis is None, answer
            assert seen.usage is None, answer
            assert observation.value.method == (origin.percent_method or origin.method)
        else:
            assert seen.used_basis is not None, answer
            assert seen.limit_basis is not None, answer
            is_declared = seen.limit_basis is LimitBasis.DECLARED
            assert is_declared == ("limit_tokens" in answer.question), answer
            is_assumed = seen.limit_basis is LimitBasis.ASSUMED_DEFAULT
            assert not is_assumed or answer.policy.assume_limits, answer
            if not (is_declared or is_assumed):
                assert observation.value.method == origin.method


def marks_a_declared_or_assumed_limit(subject: Subject, data: st.DataObject) -> None:
    """A limit that the caller declares or assumes is said to be one, in basis and method."""
    session = drawn(subject, data)
    last = session.written[-1]
    limit = data.draw(st.integers(500_000, 600_000))  # no agent states one of these
    adapter = subject.source.origin.adapter
    ways: list[tuple[LimitBasis, dict[str, Any]]] = [
        (LimitBasis.DECLARED, {"limit_tokens": limit}),
        (LimitBasis.ASSUMED_DEFAULT, {"policy": Policy(assume_limits={adapter: limit})}),
    ]
    with subject.laid_first(session, len(session.written)) as laid:
        for answer in last.answers:
            for basis, way in ways:
                observation = subject.observe(laid, last.at, answer, **way)
                told = Truth.told_by(observation)
                is_marked = observation.provenance.limit_basis is basis
                assert (told.limit_tokens == limit) == (is_marked and told.reason is None), answer


# -- what a reason advises ------------------------------------------------------------------------

_ADVISES_A_LIMIT = frozenset(
    reason for reason in MissingReason if "limit_tokens" in (reason.__doc__ or "")
)
_AMPLE = 10_000_000  # more than any agent uses

# What can be wrong beside a limit, and is seen only once there is one.
_SEEN_LATER = frozenset(
    {
        MissingReason.SAMPLE_FROM_FUTURE,
        MissingReason.SAMPLE_STALE,
        MissingReason.SOURCES_DISAGREE,
    }
)


def is_cured_as_its_reason_advises(subject: Subject, data: st.DataObject) -> None:
    """Where a reason says to declare a limit, that gives the count which stood beside the reason.

    So it does where values of a wrong type stand in a row or payload. Where a reason says to pass
    the model, it goes when that is done.
    """
    session = drawn(subject, data)
    last = session.written[-1]
    contents = [written.content for written in session.written]
    layouts: list[list[Content]] = [contents]
    if subject.is_bytes:
        layouts += _with_wrong_values(subject, contents, data)
    for layout in layouts:
        with subject.laid(layout, last.at) as laid:
            for answer in last.answers:
                _assert_cured(subject, laid, last.at, answer)


def _assert_cured(subject: Subject, laid: Any, at: datetime, answer: Answer) -> None:
    before = subject.observe(laid, at, answer)
    if not isinstance(before, Missing) or before.reason not in _ADVISES_A_LIMIT:
        return
    if before.reason is MissingReason.MODEL_NOT_REPORTED:
        named = Truth.told_by(subject.observe(laid, at, answer, model="a-model"))
        assert named.reason is not before.reason, answer
    after = subject.observe(laid, at, answer, limit_tokens=_AMPLE)
    if isinstance(after, Missing):
        assert after.reason in _SEEN_LATER, (answer, before, after)
    assert Truth.told_by(after).used_tokens == Truth.told_by(before).used_tokens is not None


# -- totality -------------------------------------------------------------------------------------

_ANY_QUESTION = st.fixed_dictionaries(
    {},
    optional={
        "session_id": st.sampled_from(["s", "\ud800", "two\nlines"]),
        "turn_id": st.sampled_from(["t", "\ud800", "two\nlines"]),
        "agent_id": st.sampled_from(["a", "\ud800"]),
        "phase": st.sampled_from(["active", "terminal", "latest"]),
    },
)


def bears_anything(subject: Subject, data: st.DataObject) -> None:
    """No bytes at all raise an exception, and whatever is said of them survives the wire form."""
    session = drawn(subject, data)
    last = session.written[-1]
    questions = [answer.question for answer in last.answers]
    with _laid_damaged(subject, session, data) as laid:
        for question in (data.draw(st.sampled_from(questions)), data.draw(_ANY_QUESTION)):
            observation = subject.observe(laid, last.at, Answer(Truth(), **question))
            assert said(loads(dumps(observation)))[0] == said(observation)[0]
            told(observation, at=last.at)


def _laid_damaged(subject: Subject, session: Writer, data: st.DataObject) -> Any:
    contents = [written.content for written in session.written]
    if isinstance(session, StoreWriter):
        index = data.draw(st.integers(0, len(contents) - 1))
        contents[index] = tuple(_damaged(statement, data) for statement in contents[index])
    elif subject.is_lines:
        contents = [data.draw(hostile.damaged(b"".join(contents)))]
    else:
        contents = [data.draw(hostile.damaged(contents[-1]))]
    return subject.laid(contents, session.written[-1].at)


def _damaged(statement: Statement, data: st.DataObject) -> Statement:
    """Put another value in the place of a statement's last one, or damage that."""
    *kept, last = statement.parameters
    values: st.SearchStrategy[Any] = (
        st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text() | st.binary()
    )
    raw = last if isinstance(last, bytes) else str(last).encode()
    values |= hostile.damaged(raw)
    values |= hostile.damaged(raw).map(lambda broken: broken.decode("utf-8", "replace"))
    return Statement(statement.sql, (*kept, data.draw(values)))


def bears_any_wrong_value(subject: Subject, data: st.DataObject) -> None:
    """No value of a wrong type, in whatever place of a row or payload, raises an exception."""
    session = drawn(subject, data)
    last = session.written[-1]
    contents = [written.content for written in session.written]
    answer = data.draw(st.sampled_from(last.answers))
    for spoilt in _with_wrong_values(subject, contents, data):
        with subject.laid(spoilt) as laid:
            assert isinstance(subject.observe(laid, last.at, answer), Observed | Missing)


def _with_wrong_values(
    subject: Subject, contents: Sequence[Content], data: st.DataObject
) -> Iterator[list[Content]]:
    """Yield *contents* with a value of a wrong type in a place of the same drawn row or payload."""
    index = data.draw(st.integers(0, len(contents) - 1)) if subject.is_lines else -1
    written = contents[index]
    assert isinstance(written, bytes)
    wrong = list(hostile.spoilt(json.loads(written)))
    if subject.is_lines:  # of a payload all are tried: there is but one
        wrong = data.draw(st.lists(st.sampled_from(wrong), min_size=5, max_size=10))
    for value in wrong:
        spoilt = [*contents]
        spoilt[index] = line(value)
        yield spoilt


def bears_a_damaged_database(subject: Subject, data: st.DataObject) -> None:
    """No damage to a database file raises an exception; nor do tables that are not there."""
    session = drawn(subject, data)
    last = session.written[-1]
    with subject.laid_first(session, len(session.written)) as path:
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 4))):
            start = data.draw(st.integers(0, len(content)))
            noise = data.draw(st.binary(max_size=40))
            content[start : start + len(noise)] = noise
        path.write_bytes(content)
        for answer in last.answers:
            assert isinstance(subject.observe(path, last.at, answer), Observed | Missing)
        path.unlink()
        databases.build(path, [Statement("CREATE TABLE other(key, value)")])
        assert isinstance(subject.observe(path, last.at, last.answers[0]), Missing)


def leaves_nothing_behind(subject: Subject, data: st.DataObject) -> None:
    """Reading a database changes no byte of it and leaves nothing beside it."""
    session = drawn(subject, data)
    last = session.written[-1]
    with subject.laid_first(session, len(session.written)) as path:
        before = databases.folder(path)
        for answer in last.answers:
            subject.observe(path, last.at, answer)
        assert databases.folder(path) == before


# -- the wire, and privacy ------------------------------------------------------------------------


def survives_the_wire(subject: Subject, data: st.DataObject) -> None:
    """Every reading is the same after a round trip over its wire form."""
    for _, observation in answered(subject, drawn(subject, data)):
        assert loads(dumps(observation)) == observation


def tells_no_word(subject: Subject, data: st.DataObject) -> None:
    """No text, path or id of the data is said, and no number hangs on one."""
    session = drawn(subject, data)
    last = session.written[-1]
    planter = Planter(subject.writer.words)
    planted = session.planted(planter)
    if isinstance(subject.source, StoreSource):
        is_marked = any(mark in repr(planted) for mark in (MARK, MARK.encode().hex()))
        assert is_marked, "a database's writer has to put planting.MARK into its texts"
    with subject.laid(planted, last.at) as laid:
        for answer in last.answers:
            own = {key: _planted(asked, planter) for key, asked in answer.question.items()}
            observation = subject.observe(laid, last.at, Answer(answer.truth, **own))
            assert not holds_mark(told(observation, at=last.at + timedelta(seconds=1)))
            is_true = answer.as_of(last.at).is_told_by(observation)
            assert is_true, f"hangs on a text whose key is not in `words`: {answer}, {observation}"
    if subject.is_bytes:
        _assert_silent_on_words(subject, session)


def _planted(asked: Any, planter: Planter) -> Any:
    """Return the sentinel that stands for what is *asked*, if that is an id of the data."""
    return planter.sentinels.get(asked, asked) if isinstance(asked, str) else asked


def _assert_silent_on_words(subject: Subject, session: Writer) -> None:
    """Assert that a version or a model that is none is not repeated either."""
    kept = {word for word in subject.writer.words if "odel" not in word and "ersion" not in word}
    last = session.written[-1]
    with subject.laid(session.planted(Planter(kept)), last.at) as laid:
        for answer in last.answers:
            assert not holds_mark(told(subject.observe(laid, last.at, answer), at=last.at))


def reads_a_path_as_it_reads_bytes(subject: Subject, data: st.DataObject) -> None:
    """A file at a path says what its bytes say, and its path is not told."""
    session = drawn(subject, data)
    last = session.written[-1]
    answer = data.draw(st.sampled_from(last.answers))
    with subject.laid_first(session, len(session.written)) as laid:
        said = subject.observe(laid, last.at, answer)
    with _filed(subject, session) as path:
        observation = subject.observe(path, last.at, answer)
        assert observation == said
        assert MARK not in told(observation, at=last.at)


@contextmanager
def _filed(subject: Subject, session: Writer) -> Iterator[Path]:
    """Lay out what *session* wrote as a file that was last written to when it wrote last."""
    with (
        subject.laid_first(session, len(session.written)) as laid,
        TemporaryDirectory() as folder,
    ):
        path = Path(folder) / f"{MARK}.jsonl"
        if not subject.is_bytes:
            path = laid
        else:
            path.write_bytes(laid)
            databases.date(path, session.written[-1].at)
        yield path


def is_known_by_its_looks(subject: Subject, data: st.DataObject) -> None:
    """What the source recognises by its looks, it does; bytes that are no object raise nothing."""
    recognise = subject.source.recognise
    assert recognise is not None
    session = drawn(subject, data)
    value = data.draw(hostile.any_json("type", "message", "payload"))
    assert recognise(value if isinstance(value, dict) else {}) in (True, False)
    for row in map(json.loads, content_of(session).splitlines()):
        assert recognise(row) in (True, False)
