"""The verb for live streams: a pure reducer per source, and a small stateful wrapper.

Feed it every line an agent prints; it keeps the newest state, never raises on a bad line, and can
be asked at any moment, also right after a kill or a crash.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from attrs import evolve

from .assess import DEFAULT_POLICY, Policy, assess
from .bounded.budget import ReadStats
from .bounded.decode import decode_object, repeats_keys
from .capability.model import ModelRef
from .evidence import Evidence, Gap, Query
from .measurement import utc_milliseconds
from .observation import Missing, MissingReason, Observation, Observed, Partial
from .registry import find
from .source import Source, StreamSource, Tally

__all__ = ["Stream"]

# A line longer than this is not kept while its end is awaited: tool outputs reach tens of MB.
_LONGEST_LINE = 64 * 1024 * 1024


class Stream:
    """A live stream of an agent's JSON lines.

    Args:
        source: A stream source, or its id such as ``"claude.stream"``.
        session_id: The agent's own session id; None takes the stream's.
        model: The model as the agent was started with it.
        limit_tokens: A limit the caller declares, in tokens.
        policy: What the caller accepts.

    Raises:
        TypeError: An argument has the wrong type (the message names it).
        ValueError: An argument has an impossible value (the message names it).
    """

    def __init__(
        self,
        source: StreamSource[Any] | str,
        *,
        session_id: str | None = None,
        model: str | ModelRef | None = None,
        limit_tokens: int | None = None,
        policy: Policy = DEFAULT_POLICY,
    ) -> None:
        found: Source = find(source) if isinstance(source, str) else source
        if not isinstance(found, StreamSource):
            raise TypeError("source: expected a stream source")
        if not isinstance(policy, Policy):
            raise TypeError("policy: expected a Policy")
        self._source = found
        self._relevant = found.relevant
        self._policy = policy
        # However long ago it was, the fullest the context has been stays what it was.
        self._peak_policy = evolve(policy, max_age=None)
        self._at = datetime.now(UTC)
        self._query = Query(
            at=self._at, session_id=session_id, model=model, limit_tokens=limit_tokens
        )
        self._state = found.initial
        self._tally = Tally()
        self._pending = bytearray()
        self._overlong = False
        self._rows_decoded = 0
        self._rows_skipped = 0
        self._said = self.latest

    @property
    def latest(self) -> Observation:
        """What the stream shows of the present, as of the last line that was fed.

        Lines that are all malformed are `MissingReason.SOURCE_MALFORMED`: no such stream.
        """
        is_malformed = self._rows_skipped and not self._rows_decoded
        if is_malformed and self._source.refusal(self._asked) is None:
            return self._judge(Gap(reason=MissingReason.SOURCE_MALFORMED), self._policy)
        return self._judge(self._source.evidence(self._state, self._asked), self._policy)

    @property
    def peak(self) -> Observation:
        """The fullest that the context has been, with the limit that is known now."""
        return self._judge(self._source.peak(self._state, self._asked), self._peak_policy)

    @property
    def tally(self) -> Tally:
        """How many turns the run has had and what it cost, where the agent itself says so."""
        return self._tally

    @property
    def stats(self) -> ReadStats:
        """How many lines were decoded, and how many could have mattered but were malformed."""
        return ReadStats(rows_decoded=self._rows_decoded, rows_skipped=self._rows_skipped)

    def feed(self, line: bytes | str, *, at: datetime | None = None) -> Observation | None:
        """Take one line; return the new observation if the line changed it, else None.

        A line that is not a JSON object, or that could change something and names a key twice, is
        counted in `stats` and otherwise ignored.

        Args:
            line: One line, with or without its line end.
            at: When it was received (aware); None: now.

        Raises:
            TypeError: *line* is neither bytes nor str, or *at* is not a datetime.
            ValueError: *at* has no time zone.
        """
        raw = line if type(line) is bytes else _as_bytes(line)
        if at is None:  # as `_hear` does it; most lines end here
            self._at = datetime.now(UTC)
        else:
            self._hear(at)
        return self._take(raw) if self._relevant(raw) else None

    def feed_bytes(self, chunk: bytes, *, at: datetime | None = None) -> Observation | None:
        """Take a piece of the stream that may hold halves of lines; return as `feed` does.

        The half line at the end waits for the next piece or for `finish`.
        """
        if not isinstance(chunk, bytes | bytearray | memoryview):
            raise TypeError("chunk: expected bytes")
        self._hear(at)
        changed: Observation | None = None
        *complete, rest = bytes(chunk).split(b"\n")
        for part in complete:
            self._extend_pending(part)
            changed = self._take_pending() or changed
        self._extend_pending(rest)
        return changed

    def finish(self, *, at: datetime | None = None) -> Observation:
        """Take what is left of an unfinished line and return the final observation.

        Right also after a kill or a crash; the stream can be fed on afterwards.
        """
        self._hear(at)
        self._take_pending()
        return self.latest

    def _hear(self, at: datetime | None) -> None:
        if at is not None:
            utc_milliseconds(at, "at")  # for what it raises
        self._at = at or datetime.now(UTC)

    @property
    def _asked(self) -> Query:
        """The question as of the last line; most lines need none."""
        if self._query.at is not self._at:
            self._query = evolve(self._query, at=self._at)
        return self._query

    def _take(self, raw: bytes) -> Observation | None:
        row = decode_object(raw)
        if row is None:
            self._rows_skipped += bool(raw.strip())
            return None
        state = self._source.step(self._state, row, self._asked)
        count = self._source.tally
        tally = self._tally if count is None else count(self._tally, row)
        changes = state is not self._state or tally is not self._tally
        if changes and repeats_keys(raw, row):
            self._rows_skipped += 1
            return None
        self._rows_decoded += 1
        self._tally = tally
        return self._change(state)

    def _change(self, state: Any) -> Observation | None:
        if state is self._state:
            return None
        self._state = state
        now = self.latest
        if _same(self._said, now):
            return None
        self._said = now
        return now

    def _extend_pending(self, part: bytes) -> None:
        if len(self._pending) + len(part) > _LONGEST_LINE:
            self._overlong = True
            self._pending.clear()
        if not self._overlong:
            self._pending += part

    def _take_pending(self) -> Observation | None:
        line, self._pending = bytes(self._pending), bytearray()
        if self._overlong:
            self._overlong = False
            self._rows_skipped += 1
            return None
        return self._take(line) if self._relevant(line) else None

    def _judge(self, evidence: Evidence, policy: Policy) -> Observation:
        return assess(
            evidence,
            origin=self._source.origin,
            query=self._asked,
            policy=policy,
            stats=self.stats,
        )


def _same(before: Observation, after: Observation) -> bool:
    """Whether two observations say the same, whatever they cost.

    A response comes in several frames, each with a time of its own: they are one sample.
    """
    match before, after:
        case Observed(), Observed() if before.provenance.witness is not None:
            if before.provenance.witness == after.provenance.witness:
                after = evolve(after, value=before.value)
        case Missing(partial=Partial() as known), Missing(partial=Partial() as known_now):
            after = evolve(after, partial=evolve(known_now, measured_at=known.measured_at))
    provenance = evolve(after.provenance, stats=before.provenance.stats)
    return bool(before == evolve(after, provenance=provenance))


def _as_bytes(line: bytes | str) -> bytes:
    if isinstance(line, str):
        try:
            return line.encode("utf-8", "surrogateescape")  # how Python reads a pipe's odd bytes
        except UnicodeEncodeError:
            return line.encode("utf-8", "replace")
    if isinstance(line, bytes | bytearray | memoryview):
        return bytes(line)
    raise TypeError("line: expected bytes or str")
