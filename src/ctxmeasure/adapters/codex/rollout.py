"""The rollout that Codex appends to: ``sessions/YYYY/MM/DD/rollout-<time>-<thread id>.jsonl``.

Used tokens are prompt and output of the last request (``last_token_usage.total_tokens``), as
Codex's own meter counts; never the lifetime sum beside it. The limit is the one that the row itself
states: 95 % of the model's window, the whole window before 0.58. Since 0.155 a
``token_usage_record`` has the count before the response's tools run; it states no window.
`replay` says which rows look like a count and are none, `thread` whose rows a file holds. Versions
up to 0.98 record no turn ids, 0.20 no usage at all (formats/codex.md §1).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from attrs import evolve, frozen

from ...bounded.budget import KIB
from ...bounded.fields import text
from ...bounded.jsonl import Row, Tail
from ...bounded.scan import RowScan
from ...capability.rows import Version, version_of
from ...evidence import (
    Channel,
    Evidence,
    Gap,
    NeedMore,
    Origin,
    Phase,
    Query,
    TokenPair,
    UsedTokens,
)
from ...observation import LimitBasis, MissingReason, Partial, UsedBasis
from ...source import History, Mark, Player, Shown, TailSource
from .replay import Replay, Reported, Turn, Void, is_bulk, replay, replay_last_request
from .usage_info import DEFAULT_WINDOWS

__all__ = ["ROLLOUT"]

# The newest version that was seen without a thing: a row with it is of a later one, whatever the
# file's first row says, which a resumed session keeps (formats/codex.md §1.3).
_LAST_WITHOUT_RECORDS: Version = (0, 150)
_LAST_WITHOUT_ORDINALS: Version = (0, 145)
_LAST_WITHOUT_TURN_IDS: Version = (0, 98)

_LAST_WITHOUT_FALLBACK: Version = (0, 98)  # it stated null for a model that it did not know
_FIRST_WITH_EFFECTIVE_WINDOW: Version = (0, 58)

_MARKS = {
    MissingReason.COMPACTED: Mark.COMPACTED,
    MissingReason.REWOUND: Mark.REWOUND,
}

_ROW_KEYS = frozenset({"timestamp", "type", "payload"})
_ROW_TYPES = frozenset({"session_meta", "turn_context", "event_msg", "response_item", "compacted"})


def _extract(tail: Tail, query: Query) -> Evidence | NeedMore:
    played = replay_last_request(tail)
    if played is None or not _is_told_by_last_turn(played, query):
        played = replay(tail)
    return _thread_gap(played, query) or _answer(played, query)


def _is_told_by_last_turn(played: Replay, query: Query) -> bool:
    """Tell whether *query* asks for nothing that only an earlier turn could tell."""
    if query.turn_id is not None:
        return query.turn_id in played.turns
    return query.phase is not Phase.ACTIVE or played.turn is not None


# -- the thread -------------------------------------------------------------------------------


def _thread_gap(played: Replay, query: Query) -> Gap | NeedMore | None:
    """Return the gap if the file is not known to be of the thread that *query* asks for."""
    thread = played.thread
    if query.session_id is None and query.agent_id is None:
        return None
    if thread.id is None:
        return _missing(played, MissingReason.SESSION_NOT_FOUND)
    if thread.is_asked_for(query.session_id, query.agent_id):
        return None
    return _gap(played, MissingReason.SESSION_MISMATCH)


# -- the turn ---------------------------------------------------------------------------------


def _answer(played: Replay, query: Query) -> Evidence | NeedMore:
    if played.thread.predates_usage:
        return _gap(played, MissingReason.USAGE_NOT_REPORTED)
    turn = _asked_turn(played, query)
    if isinstance(turn, Gap | NeedMore):
        return turn
    if turn is None:
        return _shown(played, query, played.shows)
    if query.phase is Phase.TERMINAL and not turn.is_over:
        return _unfinished(played, turn)
    return _shown(played, query, turn.shows, turn)


def _asked_turn(played: Replay, query: Query) -> Turn | Gap | NeedMore | None:
    """Return the turn that *query* asks for, or None if any turn's sample will do."""
    if query.turn_id is not None:
        return _turn_by_id(played, query.turn_id, query)
    match query.phase:
        case Phase.ACTIVE:
            return played.turn or _no_running_turn(played, query)
        case Phase.TERMINAL:
            return _last_turn(played)
        case _:
            return None


def _turn_by_id(played: Replay, turn_id: str, query: Query) -> Turn | Gap | NeedMore | None:
    turn = played.turns.get(turn_id)
    if turn is not None:
        return turn
    if played.thread.owns(turn_id) is False:  # a parent's
        return _gap(played, MissingReason.CARRIED_OVER)
    if played.lacks_turn_ids:
        return _unnamed_turn(played, query)
    return _missing(played, MissingReason.TURN_NOT_FOUND)


def _no_running_turn(played: Replay, query: Query) -> Gap | NeedMore | None:
    if played.lacks_turn_ids or query.turn_started_at is not None:
        return _unnamed_turn(played, query)
    if played.turns:
        return _gap(played, MissingReason.TURN_NOT_FOUND)
    return _missing(played, MissingReason.TURN_NOT_FOUND)


def _unnamed_turn(played: Replay, query: Query) -> Gap | None:
    """Let the time tell the turn, if the caller knows when it began."""
    if query.turn_started_at is not None:
        return None
    return _gap(played, MissingReason.TURN_IDS_NOT_RECORDED)


def _last_turn(played: Replay) -> Turn | NeedMore | None:
    last = next(reversed(played.turns.values()), None)
    if last is None and not (played.is_whole or played.lacks_turn_ids):
        return NeedMore(_gap(played, MissingReason.BUDGET_EXHAUSTED))
    return last


def _unfinished(played: Replay, turn: Turn) -> Gap | NeedMore:
    """Return the gap of a turn that has no end yet, with what it has come to so far."""
    shows = turn.shows
    gap = _gap(played, MissingReason.TURN_NOT_FINISHED, shows)
    if shows is None:
        return NeedMore(gap) if _is_cut_off(played, turn) else gap
    if not shows.is_original:
        return NeedMore(gap)
    gap = evolve(gap, partial=_partial(shows))
    return NeedMore(gap) if shows.limit is None and _is_cut_off(played, turn) else gap


def _is_cut_off(played: Replay, turn: Turn | None) -> bool:
    """Tell whether rows of the turn may lie before the window, or what they repeat."""
    is_seen_whole = turn is not None and turn.begins_here and not turn.may_repeat
    return not (played.is_whole or is_seen_whole)


# -- what the meter shows ---------------------------------------------------------------------


def _shown(
    played: Replay, query: Query, shows: Reported | Void | None, turn: Turn | None = None
) -> Evidence | NeedMore:
    if shows is None:
        return _nothing_shown(played, turn)
    if not shows.is_original:
        # The value stands, but when it was measured is told by the row that it repeats.
        return NeedMore(_undated(played, shows))
    if _is_before(shows.measured_at, query.turn_started_at):
        reason = MissingReason.TURN_NOT_FOUND if turn is None else MissingReason.CARRIED_OVER
        return _gap(played, reason)
    if isinstance(shows, Void):
        return _void_gap(played, shows)
    return _measured(played, shows)


def _is_before(measured_at: datetime | None, started_at: datetime | None) -> bool:
    return measured_at is not None and started_at is not None and measured_at < started_at


def _nothing_shown(played: Replay, turn: Turn | None) -> Gap | NeedMore:
    if turn is None:
        return _missing(played, _why_nothing(played))
    if _is_cut_off(played, turn):
        return _missing(played, MissingReason.TURN_NOT_FOUND)
    is_carried = MissingReason.CARRIED_OVER if turn.repeats else MissingReason.TURN_NOT_FOUND
    return _gap(played, is_carried)


def _why_nothing(played: Replay) -> MissingReason:
    if played.thread.is_reverted:
        return MissingReason.REWOUND
    if played.carries_over:
        return MissingReason.CARRIED_OVER
    if played.thread.id is None:
        return MissingReason.SESSION_NOT_FOUND
    return MissingReason.NOT_MEASURED_YET


def _undated(played: Replay, shows: Reported | Void) -> Gap:
    """Return what a row comes to that may be a repetition of one before the window."""
    reason = shows.reason if isinstance(shows, Void) else MissingReason.BUDGET_EXHAUSTED
    partial = evolve(_partial(shows), measured_at=None)
    return evolve(_gap(played, reason, shows), partial=partial)


def _void_gap(played: Replay, void: Void) -> Gap:
    if void.row.has_duplicate_keys():
        return _gap(played, MissingReason.SOURCE_MALFORMED, void)
    return evolve(_gap(played, void.reason, void), partial=_partial(void))


def _measured(played: Replay, reported: Reported) -> Evidence | NeedMore:
    """Return the count of *reported* with its limit, model and turn's end."""
    if reported.has_duplicate_keys():
        return _gap(played, MissingReason.SOURCE_MALFORMED, reported)
    turn = played.turns.get(reported.turn_id or "")
    version = _version(played, reported)
    sample: dict[str, Any] = {
        "usage": reported.usage,
        "used_tokens": reported.usage.total_tokens,
        "used_basis": UsedBasis.PROMPT_AND_OUTPUT,
        "model": reported.model,
        "measured_at": reported.measured_at,
        "runtime_version": version,
        "identity": reported.identity,
        "turn_ended_at": None if turn is None else turn.ended_at,
    }
    # The beginning of the turn tells the window of a record and the model.
    is_cut_off = _is_cut_off(played, turn)
    if reported.limit is None and is_cut_off:
        return NeedMore(_undated(played, reported))
    seen: Evidence
    if isinstance(reported.limit, int):
        seen = TokenPair(
            **sample,
            limit_tokens=reported.limit,
            limit_basis=_limit_basis(version),
            default_limits=_default_limits(version),
        )
    else:
        lacks = reported.limit or MissingReason.LIMIT_NOT_REPORTED
        seen = UsedTokens(**sample, limit_missing=lacks)
    return NeedMore(seen) if reported.model is None and is_cut_off else seen


# -- gaps -------------------------------------------------------------------------------------


def _missing(played: Replay, reason: MissingReason) -> Gap | NeedMore:
    """Return the gap for *reason*, or ask for more if rows before the window could decide."""
    if played.is_whole:
        return _gap(played, reason)
    return NeedMore(_gap(played, MissingReason.BUDGET_EXHAUSTED))


def _gap(played: Replay, reason: MissingReason, shows: Reported | Void | None = None) -> Gap:
    version = _version(played, shows)
    return Gap(
        reason=reason,
        limit_basis=_limit_basis(version),
        runtime_version=version,
        model=None if shows is None else shows.model,
    )


def _partial(shows: Reported | Void) -> Partial:
    """Return what is known of the context where nothing is measured."""
    used = shows.estimated_tokens if isinstance(shows, Void) else shows.usage.total_tokens
    return Partial(
        used_tokens=used,
        limit_tokens=shows.limit if isinstance(shows.limit, int) else None,
        measured_at=shows.measured_at,
        estimated=isinstance(shows, Void) and used is not None,
    )


# -- the version ------------------------------------------------------------------------------


def _version(played: Replay, shows: Reported | Void | None) -> str | None:
    """Return the version that began the file, unless a later one has written what *shows*."""
    stated = version_of(played.thread.version)
    if stated is None or (shows is not None and stated[:2] <= _last_without(shows)):
        return None
    return played.thread.version


def _last_without(shows: Reported | Void) -> Version:
    if shows.row.value.get("type") == "token_usage_record":
        return _LAST_WITHOUT_RECORDS
    if "ordinal" in shows.row.value:
        return _LAST_WITHOUT_ORDINALS
    return (0, 0) if shows.turn_id is None else _LAST_WITHOUT_TURN_IDS


def _limit_basis(version: str | None) -> LimitBasis:
    numbers = version_of(version)
    if numbers is not None and numbers < _FIRST_WITH_EFFECTIVE_WINDOW:
        return LimitBasis.WINDOW
    return LimitBasis.EFFECTIVE_WINDOW


def _default_limits(version: str | None) -> frozenset[int]:
    numbers = version_of(version)
    if numbers is not None and numbers[:2] <= _LAST_WITHOUT_FALLBACK:
        return frozenset()
    return DEFAULT_WINDOWS


def _recognise(row: Mapping[str, Any]) -> bool:
    is_row = row.keys() >= _ROW_KEYS and isinstance(row["payload"], dict)
    return is_row and text(row, "type") in _ROW_TYPES


# -- the history ------------------------------------------------------------------------------


@frozen
class _Meter:
    """Plays a rollout from its beginning (`ctxmeasure.source.Player`).

    A file whose first row names no thread is a piece of one. Only a later row can tell whose rows
    it holds, so nothing is shown of them: its end is read instead.
    """

    played: Replay
    query: Query

    def take(self, row: Row) -> Shown | None:
        """Take the next row into account; return what the meter shows now if it has moved."""
        if self.played.thread.id is None:
            return None
        before = self.played.shows
        self.played.play(row)
        self.played.forget_old_turns()
        shows = self.played.shows
        if shows is None or shows is before:
            return None
        if isinstance(shows, Reported):
            return Shown(sample=shows.identity, evidence=partial(self._shown, shows))
        return Shown(
            sample=shows.reason,
            evidence=partial(self._shown, shows),
            mark=_MARKS.get(shows.reason),
        )

    def _shown(self, shows: Reported | Void) -> Evidence:
        gap = _thread_gap(self.played, self.query)
        evidence = gap or _shown(self.played, self.query, shows)
        return evidence.settled() if isinstance(evidence, NeedMore) else evidence


def _begin(scan: RowScan, query: Query) -> Player:
    return _Meter(Replay.from_the_first_row(scan.first_row()), query)


ROLLOUT = TailSource(
    origin=Origin(
        adapter="codex",
        source="codex.rollout",
        method="codex_transcript_token_count",
        channel=Channel.PERSISTED,
        client="codex",
    ),
    about="Codex's session file: prompt and output of the last request, and the row's own window",
    extract=_extract,
    recognise=_recognise,
    # The first row alone names the thread, its parent and the version. It is 9 to 24 KiB long.
    head=64 * KIB,
    # It alone names the model. Playing the rows of each smaller window first took twice as long.
    reaches=(b'"turn_context"',),
    history=History(unless=is_bulk, begin=_begin, is_followed_to_the_end=True),
)
