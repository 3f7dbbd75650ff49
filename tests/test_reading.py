"""The verb: anything readable in, one observation out; no bad data raises, none is repeated."""

from __future__ import annotations

import errno
import io
import json
import os
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from attrs import define, evolve, field
from claude_sessions import RECORDINGS, Recording
from hypothesis import given
from hypothesis import strategies as st
from judging import AT, SECOND, pair, used

import ctxmeasure as cm
from ctxmeasure import (
    Missing,
    MissingReason,
    ModelRef,
    Observed,
    Phase,
    Policy,
    ReadBudget,
    claude,
    observe,
    record,
    render,
)
from ctxmeasure.bounded.budget import KIB, MIB
from ctxmeasure.bounded.jsonl import Tail
from ctxmeasure.evidence import Channel, Evidence, Gap, NeedKeys, NeedMore, Origin, Query
from ctxmeasure.source import PayloadSource, StoreSource, StreamSource, TailSource
from ctxmeasure.testing import databases
from ctxmeasure.testing.claude.frames import assistant
from ctxmeasure.testing.claude.rows import TranscriptRows, usage
from ctxmeasure.testing.codex.notifications import THREAD, updated
from ctxmeasure.testing.codex.rows import WINDOW
from ctxmeasure.testing.hostile import WRONG
from ctxmeasure.testing.session import Statement, joined

GIB = 1024 * MIB
BY_NAME = {recording.name: recording for recording in RECORDINGS}
SESSION = BY_NAME["claude/b-tools"]
LATER = datetime(2026, 11, 29, 20, 0, tzinfo=UTC)
"""After every recording."""


def tokens(observation: cm.Observation) -> tuple[int, int]:
    assert isinstance(observation, Observed), observation
    assert isinstance(observation.value, cm.TokenMeasurement)
    return observation.value.used_tokens, observation.value.limit_tokens


def reason(observation: cm.Observation) -> MissingReason:
    assert isinstance(observation, Missing), observation
    return observation.reason


# -- what can be read ---------------------------------------------------------------------------

STREAM = SESSION.folder / "stream.jsonl"
STATUS_LINE: dict[str, Any] = {
    "session_id": "session",
    "version": "2.1.332",
    "model": {"id": "claude-sonnet-4-5-20250929"},
    "context_window": {
        "context_window_size": 200_000,
        "current_usage": {
            "input_tokens": 108,
            "cache_creation_input_tokens": 1_000,
            "cache_read_input_tokens": 15_000,
            "output_tokens": 40,
        },
    },
}
CONTENTS = {
    "claude.transcript": SESSION.content,
    "claude.stream": STREAM.read_bytes(),
    "claude.status_line": json.dumps(STATUS_LINE).encode(),
}


class PathLike:
    """A path of somebody else's making."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return str(self.path)


FORMS: dict[str, Callable[[Path], Any]] = {
    "path": lambda path: path,
    "str": str,
    "path-like": PathLike,
    "bytes": Path.read_bytes,
    "bytearray": lambda path: bytearray(path.read_bytes()),
    "memoryview": lambda path: memoryview(path.read_bytes()),
    "file object": lambda path: io.BytesIO(path.read_bytes()),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("source_id", CONTENTS)
def test_every_form_of_the_same_data_is_the_same_measurement(
    form: str, source_id: str, tmp_path: Path
) -> None:
    path = tmp_path / "data"
    path.write_bytes(CONTENTS[source_id])
    assert tokens(observe(source_id, FORMS[form](path), at=LATER)) == (16_108, 200_000)


def test_a_file_object_may_be_an_open_file_and_stays_open(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(SESSION.content)
    with path.open("rb") as file:
        assert tokens(observe("claude.transcript", file, at=LATER)) == (16_108, 200_000)
        assert not file.closed


def test_a_payload_may_be_decoded_already() -> None:
    observation = observe("claude.status_line", STATUS_LINE, at=LATER)
    assert tokens(observation) == (16_108, 200_000)
    assert observation.provenance.stats == cm.ReadStats()


def test_one_line_of_a_stream_may_be_read_decoded_or_not(tmp_path: Path) -> None:
    line = updated(41_000, clock=LATER - SECOND)
    raw = json.dumps(line).encode()
    path = tmp_path / "notification.json"
    path.write_bytes(raw)
    asked: dict[str, Any] = {"session_id": THREAD, "turn_id": "turn-1", "at": LATER}
    for data in (line, raw, raw + b"\n", path, io.BytesIO(raw)):
        observation = observe("codex.app_server", data, **asked)
        assert tokens(observation) == (41_000, WINDOW)
        assert isinstance(observation, Observed)
        assert observation.attestation is cm.Attestation.NATIVE
        # Nobody knows the model, and the window is also the one of models that Codex knows not.
        assert observation.confidence is cm.Confidence.MEDIUM
    named = observe("codex.app_server", line, model="gpt-5.5", **asked)
    assert isinstance(named, Observed)
    # Of a known model, nobody knows whether this version of Codex knows it.
    assert named.confidence is cm.Confidence.MEDIUM
    assert named.provenance.stats == cm.ReadStats()
    assert reason(observe("codex.app_server", line, at=LATER)) is MissingReason.CARRIED_OVER
    assert reason(observe("codex.app_server", {}, at=LATER)) is MissingReason.NOT_MEASURED_YET


@pytest.mark.parametrize(
    ("source_id", "source"),
    [("claude.transcript", claude.TRANSCRIPT), ("claude.stream", claude.STREAM)],
)
def test_a_source_and_its_id_mean_the_same(source_id: str, source: cm.Source) -> None:
    content = CONTENTS[source_id]
    assert observe(source_id, content, at=LATER) == observe(source, content, at=LATER)


def test_the_clock_is_read_where_no_moment_is_given() -> None:
    before = datetime.now(UTC)
    observation = observe("claude.status_line", STATUS_LINE)
    assert isinstance(observation, Observed)
    assert before - SECOND < observation.value.measured_at <= datetime.now(UTC)


def test_an_observation_says_what_the_reading_has_cost() -> None:
    stats = observe("claude.transcript", SESSION.path, at=LATER).provenance.stats
    assert stats.bytes_read == min(64 * KIB, len(SESSION.content))
    assert stats.rows_decoded > 0
    payload = observe("claude.status_line", CONTENTS["claude.status_line"], at=LATER)
    assert payload.provenance.stats.bytes_read == len(CONTENTS["claude.status_line"])


# -- when data were received --------------------------------------------------------------------

CLOCKLESS = {
    "claude.status_line": CONTENTS["claude.status_line"],
    "claude.stream": joined([assistant(16_108)]),
}
HELD_BY = {name: form for name, form in FORMS.items() if "path" in name or name == "str"}
WRITTEN = LATER - timedelta(days=10)


def dated(path: Path, moment: datetime, content: bytes) -> Path:
    path.write_bytes(content)
    os.utime(path, (moment.timestamp(), moment.timestamp()))
    return path


def measured_at(observation: cm.Observation) -> datetime:
    assert isinstance(observation, Observed), observation
    return observation.value.measured_at


@pytest.mark.parametrize("form", HELD_BY)
@pytest.mark.parametrize("source_id", CLOCKLESS)
def test_what_has_no_clock_and_lies_in_a_file_was_received_when_that_was_written(
    form: str, source_id: str, tmp_path: Path
) -> None:
    path = dated(tmp_path / "data", WRITTEN, CLOCKLESS[source_id])
    data = HELD_BY[form](path)
    assert measured_at(observe(source_id, data, at=LATER)) == WRITTEN
    fresh = Policy(max_age=timedelta(days=9))
    assert reason(observe(source_id, data, at=LATER, policy=fresh)) is MissingReason.SAMPLE_STALE


@pytest.mark.parametrize("source_id", CLOCKLESS)
def test_an_open_file_has_the_files_date(source_id: str, tmp_path: Path) -> None:
    path = dated(tmp_path / "data", WRITTEN, CLOCKLESS[source_id])
    with path.open("rb") as file:
        assert measured_at(observe(source_id, file, at=LATER)) == WRITTEN


@pytest.mark.parametrize("source_id", CLOCKLESS)
def test_what_is_handed_over_was_received_at_the_moment_of_the_question(source_id: str) -> None:
    raw = CLOCKLESS[source_id]
    handed: list[Any] = [raw, bytearray(raw), memoryview(raw), io.BytesIO(raw), json.loads(raw)]
    for data in handed:
        assert measured_at(observe(source_id, data, at=LATER)) == LATER


def test_what_comes_through_a_pipe_was_received_at_the_moment_of_the_question() -> None:
    reading, writing = os.pipe()
    os.write(writing, CLOCKLESS["claude.status_line"])
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert measured_at(observe("claude.status_line", pipe, at=LATER)) == LATER


@pytest.mark.parametrize("source_id", CLOCKLESS)
def test_nothing_was_received_after_the_question(source_id: str, tmp_path: Path) -> None:
    path = dated(tmp_path / "data", LATER + SECOND, CLOCKLESS[source_id])
    assert measured_at(observe(source_id, path, at=LATER)) == LATER


def test_a_clock_of_the_datas_own_stands_whatever_the_file_is_dated(tmp_path: Path) -> None:
    line = joined([updated(41_000, clock=LATER - SECOND)])
    asked: dict[str, Any] = {"session_id": THREAD, "turn_id": "turn-1", "at": LATER}
    for moment in (WRITTEN, LATER):
        path = dated(tmp_path / "data", moment, line)
        assert measured_at(observe("codex.app_server", path, **asked)) == LATER - SECOND


def test_a_source_of_rows_is_asked_at_the_moment_of_the_question(tmp_path: Path) -> None:
    def answer(_: Tail, query: Query) -> Evidence:
        return pair(measured_at=query.at)

    path = dated(tmp_path / "data", WRITTEN, b"{}\n")
    assert measured_at(observe(asking(answer), path, at=LATER)) == LATER


# -- what is asked ------------------------------------------------------------------------------

ORIGIN = Origin(adapter="agent", source="agent.rows", method="method", channel=Channel.PERSISTED)


def asking(answer: Callable[[Tail, Query], Evidence | NeedMore]) -> TailSource:
    return TailSource(origin=ORIGIN, about="The rows of a test", extract=answer)


def test_all_that_is_asked_reaches_the_adapter() -> None:
    heard: list[Query] = []

    def answer(_: Tail, query: Query) -> Evidence:
        heard.append(query)
        return pair()

    asked: dict[str, Any] = {
        "session_id": "session",
        "turn_id": "turn",
        "turn_started_at": AT - SECOND,
        "agent_id": "agent",
        "phase": Phase.TERMINAL,
        "at": AT,
        "model": ModelRef(id="model"),
        "limit_tokens": 200_000,
    }
    observe(asking(answer), b"", **asked)
    assert heard == [Query(**asked)]


def test_all_that_is_asked_reaches_the_judge() -> None:
    source = asking(lambda _tail, _query: used(model=None))
    assert reason(observe(source, b"", at=AT)) is MissingReason.MODEL_NOT_REPORTED
    assuming = Policy(assume_limits={"agent": 128_000})
    assert tokens(observe(source, b"", at=AT, policy=assuming)) == (41_500, 128_000)
    assert tokens(observe(source, b"", at=AT, limit_tokens=90_000)) == (41_500, 90_000)
    assert tokens(observe(source, b"", at=AT, model="claude-haiku-4-5")) == (41_500, 200_000)
    stale = observe(source, b"", at=AT + 60 * SECOND, limit_tokens=90_000, phase=Phase.ACTIVE)
    assert reason(stale) is MissingReason.SAMPLE_STALE


@pytest.mark.parametrize(
    ("argument", "wrong", "error"),
    [
        ("source", "secret.source", ValueError),
        ("source", None, TypeError),
        ("source", b"claude.stream", TypeError),
        ("source", ORIGIN, TypeError),
        ("data", None, TypeError),
        ("data", 5, TypeError),
        ("data", ["secret"], TypeError),
        ("data", {"secret": 1}, TypeError),
        ("data", io.StringIO("secret"), TypeError),
        ("data", iter([b"secret"]), TypeError),
        ("session_id", 5, TypeError),
        ("session_id", "", ValueError),
        ("turn_id", [b"secret"], TypeError),
        ("turn_id", "", ValueError),
        ("turn_started_at", "secret", TypeError),
        ("turn_started_at", AT.replace(tzinfo=None), ValueError),
        ("agent_id", 5, TypeError),
        ("agent_id", "", ValueError),
        ("phase", "secret", ValueError),
        ("at", "secret", TypeError),
        ("at", AT.replace(tzinfo=None), ValueError),
        ("model", 5, TypeError),
        ("model", "", ValueError),
        ("limit_tokens", "secret", TypeError),
        ("limit_tokens", 0, ValueError),
        ("policy", None, TypeError),
        ("policy", {"secret": 1}, TypeError),
        ("budget", 256 * KIB, TypeError),
        ("budget", {"secret": 1}, TypeError),
    ],
)
def test_a_wrong_argument_is_named_and_not_repeated(
    argument: str, wrong: Any, error: type[Exception]
) -> None:
    right = {"source": "claude.transcript", "data": b"", "at": AT}
    with pytest.raises(error, match=f"^{argument}: ") as raised:
        observe(**{**right, argument: wrong})
    assert type(raised.value) is error
    assert "secret" not in str(raised.value)


# -- what a source may not return ---------------------------------------------------------------

NOTHING = Gap(reason=MissingReason.NOT_MEASURED_YET)
NOT_OF_THIS_KIND: dict[str, Any] = {
    "NeedMore": NeedMore(NOTHING),
    "NeedKeys": NeedKeys((), NOTHING),
    "None": None,
}


def payload_source(returned: Any) -> PayloadSource:
    return PayloadSource(origin=ORIGIN, about="A payload", extract=lambda *_: returned)


def stream_source(returned: Any) -> StreamSource[Any]:
    return StreamSource(
        origin=ORIGIN,
        about="A stream",
        initial=None,
        relevant=lambda _: True,
        step=lambda _, row, __: row,
        evidence=lambda *_: returned,
        peak=lambda *_: returned,
    )


@pytest.mark.parametrize("returned", NOT_OF_THIS_KIND)
def test_what_a_kind_of_source_may_not_return_names_the_source(returned: str) -> None:
    wrong = NOT_OF_THIS_KIND[returned]
    tries: list[Callable[[], object]] = [
        lambda: observe(payload_source(wrong), b"{}", at=LATER),
        lambda: observe(payload_source(wrong), {}, at=LATER),
        lambda: observe(stream_source(wrong), b"{}\n", at=LATER),
        lambda: observe(stream_source(wrong), {}, at=LATER),
        lambda: cm.Stream(stream_source(wrong)),
    ]
    for attempt in tries:
        with pytest.raises(TypeError, match=r"^evidence: .* of agent\.rows.*NeedMore.*TailSource"):
            attempt()


def test_a_tail_needs_no_keys() -> None:
    with pytest.raises(TypeError, match=r"^evidence: .* of agent\.rows"):
        observe(asking(lambda *_: NeedKeys((), NOTHING)), b"{}\n", at=LATER)  # type: ignore[arg-type]


def test_a_store_needs_no_larger_window(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    databases.build(path, [Statement("CREATE TABLE a(b)")])
    source = StoreSource(origin=ORIGIN, about="A store", extract=lambda *_: NeedMore(NOTHING))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^evidence: .* of agent\.rows"):
        observe(source, path, at=LATER)


def test_a_hooks_question_is_asked_whole() -> None:
    payload = {"hook_event_name": "Stop", "session_id": "other", "prompt_id": "turn"}
    asked = claude.query_from_hook(payload, at=AT)
    (transcript,) = SESSION.folder.glob("session/*.jsonl")
    assert reason(observe(claude.TRANSCRIPT, transcript, query=asked)) is (
        MissingReason.SESSION_MISMATCH
    )


@pytest.mark.parametrize("beside", [{"at": AT}, {"phase": Phase.ACTIVE}, {"limit_tokens": 1}])
def test_nothing_is_asked_beside_a_whole_question(beside: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"^query: "):
        observe(claude.STATUS_LINE, {}, query=Query(at=AT), **beside)


def test_a_question_is_a_query() -> None:
    with pytest.raises(TypeError, match=r"^query: expected a Query$"):
        observe(claude.STATUS_LINE, {}, query="now")  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [None, 5, ["secret"], io.StringIO("secret")])
def test_what_is_no_payload_is_a_wrong_argument(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"^data: "):
        observe("claude.status_line", wrong, at=AT)


def test_a_wrong_argument_is_told_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"^policy: "):
        observe("claude.transcript", tmp_path / "absent", at=AT, policy=None)  # type: ignore[arg-type]


# -- windows and budgets ------------------------------------------------------------------------


@define
class Counting:
    """A binary file object that counts the bytes it is asked for.

    Attributes:
        file: What is read from.
        asked: The start and length of every read.
    """

    file: BinaryIO
    asked: list[tuple[int, int]] = field(factory=list)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self.file.seek(offset, whence)

    def read(self, size: int) -> bytes:
        self.asked.append((self.file.tell(), size))
        return self.file.read(size)

    @property
    def bytes_asked(self) -> int:
        return sum(size for _, size in self.asked)


def rows(count: int) -> bytes:
    return b"".join(b'{"row":"%06d"}\n' % number for number in range(count))  # 17 bytes each


def seeking(number: int, windows: list[int]) -> TailSource:
    """Return a source that asks for more until it sees row *number*, noting the windows."""

    def extract(tail: Tail, _: Query) -> Evidence | NeedMore:
        windows.append(tail.stats.bytes_read)
        if any(tail.rows(b'"%06d"' % number)):
            return pair()
        return NeedMore(Gap(reason=MissingReason.CHAIN_TRUNCATED))

    return asking(extract)


@pytest.mark.parametrize("number", [9_999, 9_000, 5_000, 0])
def test_a_window_doubles_until_it_holds_the_answer(number: int) -> None:
    windows: list[int] = []
    file = Counting(io.BytesIO(rows(10_000)))
    budget = ReadBudget(initial=1_000, maximum=MIB)
    observation = observe(seeking(number, windows), file, at=AT, budget=budget)  # type: ignore[arg-type]
    assert tokens(observation) == (41_500, 200_000)
    needed = 17 * (10_000 - number)
    assert windows[-1] >= needed
    assert [window < needed for window in windows[:-1]] == [True] * (len(windows) - 1)
    doubled = [1_000 * 2**n for n in range(len(windows))]
    assert windows == [min(window, 170_000) for window in doubled]
    assert file.bytes_asked == windows[-1] == observation.provenance.stats.bytes_read


def test_no_byte_is_asked_for_twice() -> None:
    file = Counting(io.BytesIO(rows(10_000)))
    budget = ReadBudget(initial=1_000, maximum=100_000)
    observe(seeking(-1, []), file, at=AT, budget=budget)  # type: ignore[arg-type]
    spans = sorted((start, start + size) for start, size in file.asked)
    assert all(stop <= start for (_, stop), (start, _) in pairwise(spans))
    assert file.bytes_asked == 100_000


def test_the_adapters_own_reason_stands_when_the_budget_ends() -> None:
    budget = ReadBudget(initial=1_000, maximum=5_000)
    observation = observe(seeking(0, []), rows(10_000), at=AT, budget=budget)
    assert reason(observation) is MissingReason.CHAIN_TRUNCATED
    assert observation.provenance.stats.bytes_read == 5_000
    assert observation.provenance.stats.window_truncated


def test_a_measurement_may_stand_when_the_budget_ends() -> None:
    def extract(_: Tail, __: Query) -> NeedMore:
        return NeedMore(pair())

    budget = ReadBudget(initial=1_000, maximum=5_000)
    observation = observe(asking(extract), rows(10_000), at=AT, budget=budget)
    assert tokens(observation) == (41_500, 200_000)
    assert observation.provenance.stats.bytes_read == 5_000


def test_a_source_may_ask_for_the_first_row_within_the_budget() -> None:
    seen: list[object] = []

    def extract(tail: Tail, _: Query) -> Evidence:
        first = tail.first_row()
        seen.append(first and first.value)
        return pair()

    budget = ReadBudget(initial=1_000, maximum=1_016)
    observe(asking(extract), rows(10_000), at=AT, budget=budget)
    headed = evolve(asking(extract), head=17)
    short = observe(headed, rows(10_000), at=AT, budget=budget)
    enough = observe(headed, rows(10_000), at=AT, budget=evolve(budget, maximum=1_017))
    assert seen == [None, None, {"row": "000000"}]
    assert short.provenance.stats.bytes_read == 1_016
    assert enough.provenance.stats.bytes_read == 1_017


def test_the_adapters_own_reason_stands_when_the_file_ends() -> None:
    observation = observe(seeking(-1, []), rows(100), at=AT)
    assert reason(observation) is MissingReason.CHAIN_TRUNCATED
    assert not observation.provenance.stats.window_truncated


@pytest.mark.parametrize(
    ("phase", "maximum"),
    [(Phase.ACTIVE, 4 * MIB), (Phase.TERMINAL, 256 * KIB), (Phase.LATEST, 256 * KIB)],
)
def test_a_running_turn_is_looked_for_further_back(phase: Phase, maximum: int) -> None:
    windows: list[int] = []
    observation = observe(seeking(-1, windows), rows(500_000), at=AT, phase=phase)
    assert observation.provenance.stats.bytes_read == maximum
    assert windows[0] == 64 * KIB


@define
class Shrinking(Counting):
    """A file that its writer cuts off after the first read."""

    def read(self, size: int) -> bytes:
        return super().read(size) if not self.asked else b""


def test_a_file_that_shrinks_meanwhile_is_busy() -> None:
    file = Shrinking(io.BytesIO(rows(100_000)))
    observation = observe(seeking(0, []), file, at=AT)  # type: ignore[arg-type]
    assert reason(observation) is MissingReason.SOURCE_BUSY


@define
class Failing(Counting):
    """A file whose disk fails."""

    def read(self, _: int) -> bytes:
        raise OSError(errno.EIO, "secret")


@pytest.mark.parametrize("source_id", CONTENTS)
def test_a_file_whose_disk_fails_is_unreadable(source_id: str) -> None:
    file = Failing(io.BytesIO(CONTENTS[source_id]))
    observation = observe(source_id, file, at=LATER)  # type: ignore[arg-type]
    assert reason(observation) is MissingReason.SOURCE_UNREADABLE
    assert "secret" not in repr(observation)


def test_a_payload_longer_than_its_budget_is_not_read() -> None:
    for budget, size in [(None, 4 * MIB + 1), (ReadBudget(maximum=1_000), 1_001)]:
        file = Counting(io.BytesIO(b" " * size))
        observation = observe("claude.status_line", file, at=AT, budget=budget)  # type: ignore[arg-type]
        assert reason(observation) is MissingReason.BUDGET_EXHAUSTED
        assert file.asked == []


def test_a_payload_that_fills_its_budget_is_read() -> None:
    content = CONTENTS["claude.status_line"]
    exact = ReadBudget(maximum=len(content))
    assert tokens(observe("claude.status_line", content, at=AT, budget=exact)) == (16_108, 200_000)


@pytest.mark.parametrize("name", ["claude/b-tools", "claude/h-tui", "claude-1.0.60/b-tools"])
def test_the_end_of_a_gibibyte_costs_256_kibibytes_at_most(name: str, tmp_path: Path) -> None:
    recording = BY_NAME[name]
    path = tmp_path / "vast.jsonl"
    with path.open("wb") as file:  # sparse: its first GiB takes no room
        file.seek(GIB)
        file.write(b"\n" + recording.content)
    final = recording.truth["final"]
    with path.open("rb") as file:
        counting = Counting(file)
        for phase in (Phase.LATEST, Phase.TERMINAL):
            counting.asked.clear()
            observation = observe("claude.transcript", counting, at=LATER, phase=phase)  # type: ignore[arg-type]
            assert tokens(observation) == (final["used_tokens"], final["limit_tokens"])
            assert counting.bytes_asked <= 256 * KIB
            assert counting.bytes_asked == observation.provenance.stats.bytes_read
    assert observe("claude.transcript", path, at=LATER).provenance.stats.bytes_read <= 256 * KIB


@define
class OneLine:
    """A file object of one line of *size* bytes, none of which exists before it is read."""

    size: int
    ending: bytes
    position: int = 0
    bytes_asked: int = 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self.position = offset + (self.size if whence == os.SEEK_END else 0)
        return self.position

    def read(self, size: int) -> bytes:
        self.bytes_asked += size
        start, stop = self.position, min(self.position + size, self.size)
        self.position = stop
        content = b'{"type":"assistant","sessionId":"' + b"x" * 64 if start == 0 else b""
        content += b"x" * (stop - start - len(content))
        return content[: -len(self.ending)] + self.ending if stop == self.size else content


@pytest.mark.parametrize("ending", [b'"}\n', b'"}', b"x"])
@pytest.mark.parametrize("source_id", ["claude.transcript", "claude.stream"])
@pytest.mark.parametrize(("phase", "maximum"), [(Phase.LATEST, 256 * KIB), (Phase.ACTIVE, 4 * MIB)])
def test_one_line_of_300_megabytes_exhausts_the_budget(
    source_id: str, ending: bytes, phase: Phase, maximum: int
) -> None:
    file = OneLine(300_000_000, ending)
    observation = observe(source_id, file, at=AT, phase=phase)  # type: ignore[arg-type]
    assert reason(observation) is MissingReason.BUDGET_EXHAUSTED
    assert file.bytes_asked == observation.provenance.stats.bytes_read == maximum


def test_a_payload_of_300_megabytes_exhausts_the_budget_unread() -> None:
    file = OneLine(300_000_000, b'"}')
    observation = observe("claude.status_line", file, at=AT)  # type: ignore[arg-type]
    assert reason(observation) is MissingReason.BUDGET_EXHAUSTED
    assert file.bytes_asked == 0


def test_a_line_of_a_recorded_stream_that_names_a_key_twice_changes_nothing() -> None:
    *before, last, end = CONTENTS["claude.stream"].splitlines(keepends=True)
    twice = last.replace(b'"input_tokens":8', b'"input_tokens":8,"input_tokens":80000')
    assert twice != last
    observation = observe("claude.stream", b"".join((*before, twice, end)), at=LATER)
    assert tokens(observation) == (15_806, 200_000)


def test_a_recorded_stream_whose_end_holds_no_response_exhausts_the_budget() -> None:
    noise = b'{"type":"user","message":{}}\n' * 20_000
    content = CONTENTS["claude.stream"] + noise
    observation = observe("claude.stream", content, at=LATER)
    assert reason(observation) is MissingReason.BUDGET_EXHAUSTED
    larger = ReadBudget(maximum=MIB)
    assert tokens(observe("claude.stream", content, at=LATER, budget=larger)) == (16_108, 200_000)


# -- bad data -----------------------------------------------------------------------------------

RANDOM = random.Random(7)  # noqa: S311 - garbage, the same each time
GARBAGE = {
    "binary garbage": RANDOM.randbytes(100_000),
    "long binary garbage": RANDOM.randbytes(1_000_000),
    "NULs": b"\0" * 1_000,
    "lines of NULs": b"\0\0\0\n" * 1_000,
    "text": b"secret words\nof somebody\n" * 20,
    "JSON, but no objects": b'[1]\n"secret"\nnull\n7\n',
    "a broken row": b'{"type":"assistant","message":{"usage":secret}}\n' * 3,
    "half of a letter": b'{"type":"assistant","text":"\xc3"}\n' * 3,
    "UTF-16": '{"type":"assistant"}\n'.encode("utf-16") * 3,
    "deeply nested": b'{"type":"assistant","a":' + b"[" * 100_000 + b"\n",
    "NaN": b'{"type":"assistant","message":{"usage":{"input_tokens":NaN}}}\n' * 3,
    "an image": b"\x89PNG\r\n\x1a\n" + RANDOM.randbytes(10_000),
}
# Several lines, none of which is a row, are no session; one can be a row that is being written.
NO_SESSION = {
    "claude.transcript": {MissingReason.SOURCE_MALFORMED, MissingReason.SESSION_NOT_FOUND},
    "claude.stream": {MissingReason.SOURCE_MALFORMED, MissingReason.NOT_MEASURED_YET},
    "claude.status_line": {MissingReason.SOURCE_MALFORMED},
    "claude.context_usage": {MissingReason.SOURCE_MALFORMED},
    "claude.hook": {MissingReason.SOURCE_MALFORMED},
    "codex.rollout": {MissingReason.SOURCE_MALFORMED, MissingReason.SESSION_NOT_FOUND},
    "pi.session": {MissingReason.SOURCE_MALFORMED, MissingReason.SESSION_NOT_FOUND},
    "pi.stream": {MissingReason.SOURCE_MALFORMED, MissingReason.NOT_MEASURED_YET},
    "pi.rpc": {MissingReason.SOURCE_MALFORMED},
}


@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.parametrize("source_id", NO_SESSION)
def test_garbage_is_named_as_such(source_id: str, garbage: str) -> None:
    content = GARBAGE[garbage]
    observation = observe(source_id, content, at=AT)
    assert reason(observation) in NO_SESSION[source_id]
    if content.count(b"\n") > 1:
        assert reason(observation) is MissingReason.SOURCE_MALFORMED
    assert observation.partial is None  # type: ignore[union-attr]
    assert "secret" not in repr(observation)


@pytest.mark.parametrize("source_id", NO_SESSION)
def test_an_empty_file_holds_no_session_yet(source_id: str) -> None:
    for content in (b"", b"\n", b"\r\n\r\n", b"\xef\xbb\xbf"):
        assert reason(observe(source_id, content, at=AT)) in NO_SESSION[source_id]
    empty = observe("claude.transcript", b"", at=AT)
    assert reason(empty) is MissingReason.SESSION_NOT_FOUND
    assert reason(observe("claude.stream", b"", at=AT)) is MissingReason.NOT_MEASURED_YET


def test_a_first_row_that_is_being_written_is_no_malformed_file() -> None:
    torn = SESSION.content[:100]
    assert reason(observe("claude.transcript", torn, at=AT)) is MissingReason.SESSION_NOT_FOUND


def test_a_file_of_other_rows_is_not_malformed() -> None:
    others = b'{"level":"info"}\n' * 20
    assert reason(observe("claude.transcript", others, at=AT)) is MissingReason.SESSION_NOT_FOUND


@pytest.mark.parametrize("source_id", NO_SESSION)
def test_a_missing_file_is_absent(source_id: str, tmp_path: Path) -> None:
    for absent in (tmp_path / "secret", tmp_path / "secret" / "secret", "secret\0", ""):
        observation = observe(source_id, absent, at=AT)
        assert reason(observation) is MissingReason.SOURCE_ABSENT
        assert "secret" not in repr(observation)


@pytest.mark.parametrize("source_id", NO_SESSION)
def test_a_directory_is_unreadable(source_id: str, tmp_path: Path) -> None:
    assert reason(observe(source_id, tmp_path, at=AT)) is MissingReason.SOURCE_UNREADABLE


@pytest.mark.parametrize("source_id", NO_SESSION)
def test_a_file_without_permission_is_unreadable(
    source_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "secret.jsonl"
    path.write_bytes(SESSION.content)

    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr("ctxmeasure.bounded.extent.os.open", refuse)  # root may read everything
    observation = observe(source_id, path, at=AT)
    assert reason(observation) is MissingReason.SOURCE_UNREADABLE
    assert "secret" not in repr(observation)


@pytest.mark.parametrize(
    "dressed",
    [
        lambda content: b"\xef\xbb\xbf" + content,
        lambda content: content.replace(b"\n", b"\r\n"),
        lambda content: content.replace(b"\n", b"\n\n"),
        lambda content: content.rstrip(b"\n"),
        lambda content: b"secret\n" + content,
        lambda content: content + b"\0" * 4096,
        lambda content: content + b'{"type":"assistant","message":{"usage":{"input_tok',
        lambda content: content + b'{"type":"assistant","text":"\xe2\x82',
        lambda content: content + b"secret\n",
    ],
    ids=[
        "byte order mark",
        "CRLF",
        "blank lines",
        "no last line end",
        "garbage before",
        "NULs after a crash",
        "half a row",
        "half a letter",
        "garbage after",
    ],
)
@pytest.mark.parametrize("source_id", ["claude.transcript", "claude.stream"])
def test_rows_are_read_whatever_lies_around_them(
    source_id: str, dressed: Callable[[bytes], bytes]
) -> None:
    observation = observe(source_id, dressed(CONTENTS[source_id]), at=LATER)
    assert tokens(observation) == (16_108, 200_000)


@pytest.mark.parametrize(
    "dressed",
    [
        lambda content: b"\xef\xbb\xbf" + content,
        lambda content: b"\r\n " + content + b"\r\n",
        lambda content: content.decode().encode("utf-16"),
    ],
    ids=["byte order mark", "white space", "UTF-16 of a PowerShell pipe"],
)
def test_a_payload_is_read_however_it_was_piped(dressed: Callable[[bytes], bytes]) -> None:
    content = dressed(CONTENTS["claude.status_line"])
    assert tokens(observe("claude.status_line", content, at=AT)) == (16_108, 200_000)


VAST = {"2^63": 2**63, "2^64": 2**64, "10^30": 10**30, "10^400": 10**400}


def status_line(**window: Any) -> dict[str, Any]:
    return {**STATUS_LINE, "context_window": {**STATUS_LINE["context_window"], **window}}


@pytest.mark.parametrize("vast", VAST)
def test_a_count_beyond_64_bits_in_a_row_is_never_a_measurement(vast: str) -> None:
    writer = TranscriptRows()
    writer.prompt()
    writer.response(41_500)
    assert tokens(observe("claude.transcript", writer.content, at=LATER)) == (41_500, 200_000)
    writer.prompt()
    writer.response(0, message={"usage": {**usage(3), "cache_read_input_tokens": VAST[vast]}})
    observation = observe("claude.transcript", writer.content, at=LATER)
    if vast == "10^400":  # no decoder takes it for a number: the row is as good as torn
        assert tokens(observation) == (41_500, 200_000)
        assert observation.provenance.stats.rows_skipped == 1
    else:
        assert reason(observation) in {
            MissingReason.USAGE_INVALID,
            MissingReason.LIMIT_CONTRADICTED,
        }


@pytest.mark.parametrize("vast", VAST)
def test_a_count_beyond_64_bits_in_a_payload_is_never_a_measurement(vast: str) -> None:
    reported = {**usage(3), "cache_read_input_tokens": VAST[vast]}
    payload = status_line(current_usage=reported)
    for data in (payload, json.dumps(payload).encode()):
        assert reason(observe("claude.status_line", data, at=LATER)) in {
            MissingReason.USAGE_INVALID,
            MissingReason.SOURCE_MALFORMED,
        }


@pytest.mark.parametrize("vast", VAST)
def test_a_limit_beyond_64_bits_is_invalid(vast: str) -> None:
    payload = status_line(context_window_size=VAST[vast])
    for data in (payload, json.dumps(payload).encode()):
        assert reason(observe("claude.status_line", data, at=LATER)) in {
            MissingReason.LIMIT_INVALID,
            MissingReason.SOURCE_MALFORMED,
        }


def test_a_payload_that_names_a_key_twice_is_malformed() -> None:
    content = CONTENTS["claude.status_line"]
    twice = content.replace(
        b'"context_window_size"', b'"context_window_size": 1, "context_window_size"'
    )
    assert reason(observe("claude.status_line", twice, at=AT)) is MissingReason.SOURCE_MALFORMED


def test_a_row_that_names_a_key_twice_is_malformed() -> None:
    before, usage_, after = SESSION.content.rpartition(b'"usage":{')
    twice = before + usage_ + b'"input_tokens":1,' + after
    assert reason(observe("claude.transcript", twice, at=LATER)) is MissingReason.SOURCE_MALFORMED


@pytest.mark.parametrize(("depth", "is_read"), [(300, True), (2_000, False), (100_000, False)])
def test_a_payload_nested_deeper_than_any_decoder_follows_is_malformed(
    depth: int, is_read: bool
) -> None:
    nested = b'{"a":' + b"[" * depth + b"]" * depth + b"," + CONTENTS["claude.status_line"][1:]
    observation = observe("claude.status_line", nested, at=AT)
    assert isinstance(observation, Observed) is is_read
    if isinstance(observation, Missing):
        assert observation.reason is MissingReason.SOURCE_MALFORMED


# -- wrong types --------------------------------------------------------------------------------

Keys = tuple[Any, ...]


def places(value: Any, at: Keys = ()) -> Iterator[Keys]:
    """Yield the way to every value in *value*, itself first."""
    yield at
    if isinstance(value, dict | list):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(child, (*at, key))


def replaced(value: Any, place: Keys, wrong: Any) -> Any:
    """Return *value* with *wrong* at *place*."""
    if not place:
        return wrong
    key, *rest = place
    copy = value.copy()
    copy[key] = replaced(value[key], tuple(rest), wrong)
    return copy


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
SPOILABLE = [
    (source_id, recording, path)
    for recording in RECORDINGS
    for source_id, pattern in [
        ("claude.transcript", "session/*.jsonl"),
        ("claude.stream", "stream*.jsonl"),
        ("claude.status_line", "statusline.jsonl"),
        ("claude.hook", "hooks.jsonl"),
    ]
    for path in sorted(recording.folder.glob(pattern))
]


def true_counts(recording: Recording) -> set[int]:
    """Return every count that any call of the session really had."""
    calls = recording.truth["calls"]
    return {call[key] for call in calls for key in ("prompt_tokens", "total_tokens")}


@st.composite
def spoilt(
    draw: st.DrawFn, values: st.SearchStrategy[Any]
) -> tuple[str, Recording, bytes | dict[str, Any]]:
    """Draw a source, a recording, and one of its files with one value at any depth replaced."""
    source_id, recording, path = draw(st.sampled_from(SPOILABLE))
    whole = [json.loads(raw) for raw in path.read_bytes().splitlines()]
    index = draw(st.integers(0, len(whole) - 1))
    place = draw(st.sampled_from(list(places(whole[index]))))
    whole[index] = replaced(whole[index], place, draw(values))
    if source_id in {"claude.transcript", "claude.stream"}:
        return source_id, recording, b"\n".join(json.dumps(row).encode() for row in whole)
    payload = whole[index]
    is_object = isinstance(payload, dict)
    return source_id, recording, payload if is_object else json.dumps(payload).encode()


@given(spoilt(st.sampled_from(WRONG)), st.sampled_from(list(Phase)))
def test_no_wrong_type_in_any_field_makes_a_number_up(
    read: tuple[str, Recording, bytes | dict[str, Any]], phase: Phase
) -> None:
    source_id, recording, data = read
    observation = observe(source_id, data, at=LATER, phase=phase)
    if isinstance(observation, Observed):
        assert tokens(observation)[0] in true_counts(recording)


@given(spoilt(JSON), st.sampled_from(list(Phase)))
def test_no_value_in_any_field_raises(
    read: tuple[str, Recording, bytes | dict[str, Any]], phase: Phase
) -> None:
    source_id, _, data = read
    observation = observe(source_id, data, at=LATER, phase=phase)
    assert record.loads(record.dumps(observation)) == observation
    assert render.explain(observation)
