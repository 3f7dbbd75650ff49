"""Fuzz targets: for each source a function of bytes that may not raise, and where it starts.

What must hold of any bytes is `bears_anything` and more: nothing raises, the budget holds, what is
said survives the wire form, and a percentage never becomes tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from ctxmeasure import record, registry, render
from ctxmeasure.assess import assess
from ctxmeasure.bounded.budget import KIB, ReadBudget
from ctxmeasure.bounded.keys import Key, KeyValues, Lack, Value
from ctxmeasure.evidence import NeedKeys, Query
from ctxmeasure.measurement import PercentMeasurement
from ctxmeasure.observation import Observation, Observed
from ctxmeasure.reading import observe
from ctxmeasure.source import PayloadSource, Source, StoreSource, StreamSource
from ctxmeasure.stream import Stream
from ctxmeasure.testing import StoreWriter, Writer, session_of
from ctxmeasure.testing.writers import WRITERS

__all__ = ["corpus", "target"]

AT = datetime(2026, 11, 29, 20, 0, tzinfo=UTC)
RECORDINGS = Path(__file__).parents[1] / "recordings"
CRASHES = Path(__file__).parent / "crashes"

# Which recordings are of which source; those of payloads hold one in each line.
_RECORDED: dict[str, tuple[str, ...]] = {
    "claude.transcript": ("claude*/*/session/**/*.jsonl",),
    "claude.stream": ("claude*/*/stream*.jsonl",),
    "claude.status_line": ("claude*/*/statusline.jsonl",),
    "claude.hook": ("claude*/*/hooks.jsonl",),
    "codex.rollout": ("codex*/**/rollout*.jsonl",),
    "codex.exec": ("codex*/*/stream*.jsonl", "codex*/exec*.jsonl"),
    "codex.app_server": ("codex*/appserver*.jsonl",),
    "pi.session": ("pi*/*/session/*.jsonl", "pi-versions/session*.jsonl"),
    "pi.stream": ("pi*/*/stream*.jsonl", "pi*/*/rpc.jsonl", "pi-versions/stream*.jsonl"),
    "pi.rpc": ("pi*/*/rpc.jsonl", "pi-versions/stream_rpc*.jsonl"),
    "codex.hook": ("codex*/*/hooks.jsonl", "codex*/*/notify.jsonl", "codex*/hooks_*.jsonl"),
}
_LONGEST_SEED = 64 * KIB  # of a file, its end

# What a store gives is the next of these pieces; none is left: there is no such row.
_BETWEEN_VALUES = b"\0\0"
_LACKS: dict[bytes, Lack] = {b"null": Lack.NULL, b"none": Lack.NO_COLUMN}
_MOST_ROUNDS = 4

_BUDGETS = (None, ReadBudget(initial=64, maximum=1_000))
_QUESTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"session_id": "5e551014-0000-4000-8000-000000000001", "phase": "active"},
    {"turn_id": "turn-1", "phase": "terminal"},
    {"agent_id": "a54e51b23b1dadccb", "limit_tokens": 200_000},
)


def target(source_id: str) -> Callable[[bytes], None]:
    """Return the function of bytes that may not raise, for the source *source_id*."""
    match registry.find(source_id):
        case StoreSource() as store:
            return lambda content: _try_values(store, content)
        case StreamSource() as stream:
            return lambda content: _try_stream(stream, content)
        case source:
            return lambda content: _try_bytes(source, content)


def _try_bytes(source: Source, content: bytes) -> None:
    for question in _QUESTIONS:
        for budget in _BUDGETS:
            observation = observe(source, content, at=AT, budget=budget, **question)
            assert budget is None or observation.provenance.stats.bytes_read <= budget.maximum
            _check(observation)


def _try_stream(source: StreamSource[Any], content: bytes) -> None:
    _try_bytes(source, content)
    stream = Stream(source)
    stream.feed_bytes(content[: len(content) // 2], at=AT)
    _check(stream.peak)
    stream.feed_bytes(content[len(content) // 2 :], at=AT)
    _check(stream.finish(at=AT))
    _check(stream.peak)


def _try_values(source: StoreSource, content: bytes) -> None:
    """Answer the adapter's questions with pieces of *content*; no database is in the way."""
    for question in _QUESTIONS:
        pieces = iter(content.split(_BETWEEN_VALUES))
        query, values = Query(at=AT, **question), KeyValues(AT)
        evidence = source.extract(values, query)
        for _ in range(_MOST_ROUNDS):
            if not isinstance(evidence, NeedKeys):
                break
            read: dict[Key, Value] = {}
            for key in evidence.keys:
                piece = next(pieces, None)
                read[key] = Lack.NO_ROW if piece is None else _LACKS.get(piece, piece)
            values = values.with_read(read)
            evidence = source.extract(values, query)
        seen = evidence.fallback if isinstance(evidence, NeedKeys) else evidence
        _check(assess(seen, origin=source.origin, query=query))


def _check(observation: Observation) -> None:
    assert record.loads(record.dumps(observation)) == observation
    render.explain(observation, at=AT)
    if isinstance(observation, Observed) and isinstance(observation.value, PercentMeasurement):
        assert observation.provenance.limit_basis is None


def corpus(source_id: str) -> Iterator[bytes]:
    """Yield what fuzzing *source_id* starts from: recordings, sessions of its writers, crashes."""
    is_payload = isinstance(registry.find(source_id), PayloadSource)
    for pattern in _RECORDED.get(source_id, ()):
        for path in sorted(RECORDINGS.glob(pattern)):
            content = path.read_bytes()
            yield from content.splitlines() if is_payload else [content[-_LONGEST_SEED:]]
    for writer in WRITERS[source_id]:
        for size in range(3):
            session = session_of(writer, [(step, size) for step in writer.steps])
            yield from _seeds(session, is_payload=is_payload)
    for crash in sorted((CRASHES / source_id).glob("*")):
        yield crash.read_bytes()


def _seeds(session: Writer, *, is_payload: bool) -> Iterator[bytes]:
    contents = [written.content for written in session.written]
    if isinstance(session, StoreWriter):
        stored = [statement.parameters[-1] for content in contents for statement in content]
        raw = [value.encode() if isinstance(value, str) else bytes(value) for value in stored]
        yield from raw
        yield from (_BETWEEN_VALUES.join(pair) for pair in pairwise(raw))
    elif is_payload:
        yield from contents
    else:
        yield b"".join(contents)
