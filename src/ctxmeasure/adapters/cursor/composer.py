"""The state databases of Cursor's IDE: ``state.vscdb``, global and of a workspace.

The chat ("composer") is a JSON document under ``composerData:<id>`` of the global database, with
``contextTokensUsed``, ``contextTokenLimit`` and ``contextUsagePercent``: the meter shows the
percentage, and the tokens if both are there (formats/cursor.md §2.3, §2.4). Its head, in the lists
``composer.composerHeaders`` (3.0, global or workspace) and ``composer.composerData`` (up to 2.x,
workspace) or in the table ``composerHeaders`` (3.16), has the percentage alone: no tokens can be
made of it. Decoys: ``promptTokenBreakdown`` and ``tokenCount`` of bubbles. The limit is that of the
last turn, so it can be stale after a change of model. ``cursorAuth/*`` is never read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from attrs import evolve

from ...bounded.fields import epoch_milliseconds, is_limit, nested, text
from ...bounded.keys import Key, KeyValues, Lack, Value
from ...evidence import (
    Channel,
    Claim,
    Evidence,
    Gap,
    NeedKeys,
    Origin,
    Quantity,
    Query,
    TokenPair,
    UsedPercent,
    UsedTokens,
)
from ...observation import LimitBasis, MissingReason, Partial, UsedBasis
from ...source import StoreSource
from ...whereabouts import ListedChat
from .payload import is_percent, model_ref
from .stores import document, scope_gap, turn_gap

__all__ = ["COMPOSER", "LISTS", "listed_chats"]

_Head: TypeAlias = Mapping[str, Any]

# The lists of heads, the newer one first.
LISTS = (
    Key("ItemTable", "composer.composerHeaders"),
    Key("ItemTable", "composer.composerData"),
)
# Why a list cannot tell that a chat is not there, the most telling reason first.
_TELLING = (
    MissingReason.SOURCE_MALFORMED,
    MissingReason.SUPERSEDED,  # the heads were moved to the global database
    MissingReason.SCHEMA_UNKNOWN,
)

# When the context was last counted, the best evidence first. A chat is older than its last count.
_CLOCKS = ("conversationCheckpointLastUpdatedAt", "lastUpdatedAt", "createdAt")
_ROW = ("value", "checkpointAt", "lastUpdatedAt", "createdAt")  # with the same clocks
_MESSAGES = ("fullConversationHeadersOnly", "conversation")

# 46,427 of 272,000 is 17.07 and was stated as 18: whole numbers are rounded up. All others are
# float32: 57.731998443603516 for 57.732 (§2.5).
_OF_A_WHOLE_NUMBER = 1.0
_OF_A_FLOAT32 = 1e-4

_OUT_OF_READS = Gap(reason=MissingReason.BUDGET_EXHAUSTED)


def _extract(values: KeyValues, query: Query) -> Evidence | NeedKeys:
    gap = scope_gap(query)
    if gap is not None:
        return gap
    if query.session_id is not None:
        return _of_session(query.session_id, values, query)
    lists = _read(values, LISTS)
    if lists is None:
        return NeedKeys(LISTS, _OUT_OF_READS)
    listed = {text(head, "composerId") for head in _heads(lists)} - {None}
    if len(listed) > 1:
        return Gap(reason=MissingReason.SESSION_AMBIGUOUS)
    session_id = listed.pop() if listed else None
    return _unlisted(lists) if session_id is None else _of_session(session_id, values, query)


def _of_session(session_id: str, values: KeyValues, query: Query) -> Evidence | NeedKeys:
    key = Key("cursorDiskKV", f"composerData:{session_id}")
    match values.get(key):
        case None:
            return NeedKeys((key,), _OUT_OF_READS)
        case bytes() as raw:
            return _of_document(document(raw), session_id, query)
        case lack:
            return _of_head(session_id, values, query, lack=lack)


def _read(values: KeyValues, keys: Sequence[Key]) -> list[Value] | None:
    """Return the values under *keys*, or None while one of them has not been read."""
    read = [value for key in keys if (value := values.get(key)) is not None]
    return read if len(read) == len(keys) else None


# -- the document ---------------------------------------------------------------------------------


def _of_document(composer: Mapping[str, Any] | None, session_id: str, query: Query) -> Evidence:
    if composer is None:
        return Gap(reason=MissingReason.SOURCE_MALFORMED)
    if composer.get("composerId", session_id) != session_id:
        return Gap(reason=MissingReason.SESSION_MISMATCH)
    measured_at = _last_counted(composer)
    seen = turn_gap(measured_at, query) or _counted(
        composer, measured_at=measured_at, identity=_identity(session_id, measured_at)
    )
    return evolve(seen, model=model_ref(nested(composer, "modelConfig").get("modelName")))


def _counted(composer: Mapping[str, Any], **sample: Any) -> Evidence:
    """Return what the document says: both counts, else the percentage, else the used count."""
    used = composer.get("contextTokensUsed") or None
    limit = composer.get("contextTokenLimit") or None
    percent = composer.get("contextUsagePercent") or None
    reason = _fault(used, percent)
    if reason is not None:
        return Gap(reason=reason, partial=_known(used, limit, sample["measured_at"]))
    if used is None and percent is None:
        return Gap(reason=_unused(composer))
    # What the next request builds on, the last answer included; Cursor does not split it.
    counted = {**sample, "used_tokens": used, "used_basis": UsedBasis.PROMPT_AND_OUTPUT}
    if used is not None and limit is not None:
        if not is_limit(limit):  # the caller may know it
            return UsedTokens(**counted, limit_missing=MissingReason.LIMIT_INVALID)
        return TokenPair(
            **counted,
            limit_tokens=limit,
            limit_basis=LimitBasis.WINDOW,
            claims=() if percent is None else (_claim(percent),),
        )
    if percent is not None:
        return UsedPercent(**sample, used_percent=float(percent))
    return UsedTokens(**counted, limit_missing=MissingReason.LIMIT_NOT_REPORTED)


def _unused(composer: Mapping[str, Any]) -> MissingReason:
    has_messages = any(composer.get(key) for key in _MESSAGES)
    return MissingReason.USAGE_NOT_REPORTED if has_messages else MissingReason.NOT_MEASURED_YET


def _fault(used: Any, percent: Any) -> MissingReason | None:
    """Say which of the two statements is none that Cursor makes; None is not stated."""
    if used is not None and not is_limit(used):
        return MissingReason.USAGE_INVALID
    if percent is not None and not is_percent(percent):
        return MissingReason.PERCENT_INVALID
    return None


def _known(used: Any, limit: Any, measured_at: datetime | None) -> Partial:
    return Partial(
        used_tokens=used if is_limit(used) else None,
        limit_tokens=limit if is_limit(limit) else None,
        measured_at=measured_at,
    )


def _claim(percent: float) -> Claim:
    is_whole = percent == int(percent)
    tolerance = _OF_A_WHOLE_NUMBER if is_whole else _OF_A_FLOAT32
    return Claim(Quantity.USED_PERCENT, percent, tolerance)


def _last_counted(composer: Mapping[str, Any]) -> datetime | None:
    moments = (epoch_milliseconds(composer.get(clock)) for clock in _CLOCKS)
    return next((moment for moment in moments if moment is not None), None)


def _identity(session_id: str, measured_at: datetime | None) -> tuple[str, ...]:
    return (session_id, "" if measured_at is None else measured_at.isoformat())


# -- the heads ------------------------------------------------------------------------------------


def _of_head(
    session_id: str, values: KeyValues, query: Query, *, lack: Lack
) -> Evidence | NeedKeys:
    """Return the percentage in the head of a chat whose document is not here, but *lack*.

    The table of heads can be there and empty while the list is in use, and the reverse (§2.2).
    """
    columns = [Key("composerHeaders", session_id, name, key_column="composerId") for name in _ROW]
    row = _read(values, columns)
    if row is None:
        return NeedKeys(tuple(columns), _OUT_OF_READS)
    if isinstance(row[0], bytes):
        head = document(row[0])
        if head is None:
            return Gap(reason=MissingReason.SOURCE_MALFORMED)
        clocks = dict(zip(_CLOCKS, map(_number, row[1:]), strict=True))
        return _of_percent({**head, **clocks}, session_id, query)
    lists = _read(values, LISTS)
    if lists is None:
        return NeedKeys(LISTS, _OUT_OF_READS)
    for head in _heads(lists):
        if head.get("composerId") == session_id:
            return _of_percent(head, session_id, query)
    if lack is Lack.NULL:  # the chat is known and its document empty
        return Gap(reason=MissingReason.USAGE_NOT_REPORTED)
    return _unlisted(lists)


def _of_percent(head: _Head, session_id: str, query: Query) -> Evidence:
    percent = head.get("contextUsagePercent") or None
    measured_at = _last_counted(head)
    gap = turn_gap(measured_at, query)
    if gap is not None:
        return gap
    if percent is None:
        return Gap(reason=MissingReason.PERCENT_NOT_REPORTED)
    if not is_percent(percent):
        return Gap(reason=MissingReason.PERCENT_INVALID)
    return UsedPercent(
        used_percent=float(percent),
        measured_at=measured_at,
        identity=_identity(session_id, measured_at),
    )


def _number(value: Value) -> int | None:
    return int(value) if isinstance(value, bytes) and value.isdigit() else None


def _heads(lists: Sequence[Value]) -> list[_Head]:
    """Return all heads, those of the newer list first."""
    listed = map(_listed, lists)
    return [head for heads in listed if not isinstance(heads, MissingReason) for head in heads]


def _unlisted(lists: Sequence[Value]) -> Gap:
    """Return the gap of a chat that is in none of *lists*: what a list cannot tell comes first."""
    listed = [_listed(value) for value in lists]
    reason = next((reason for reason in _TELLING if reason in listed), None)
    return Gap(reason=reason or MissingReason.SESSION_NOT_FOUND)


def _listed(value: Value) -> list[_Head] | MissingReason:
    """Return the heads in a list, or why there are none to look through."""
    if not isinstance(value, bytes):
        is_foreign = value is Lack.NO_COLUMN
        return MissingReason.SCHEMA_UNKNOWN if is_foreign else MissingReason.SESSION_NOT_FOUND
    state = document(value)
    if state is None:
        return MissingReason.SOURCE_MALFORMED
    heads = state.get("allComposers")
    if state.get("hasMigratedComposerData"):
        return MissingReason.SUPERSEDED
    if isinstance(heads, list):
        return [head for head in heads if isinstance(head, dict)]
    # 3.1.17 keeps only the selection and says no more (§2.2).
    is_moved = "selectedComposerIds" in state
    return MissingReason.SUPERSEDED if is_moved else MissingReason.SCHEMA_UNKNOWN


def listed_chats(values: KeyValues) -> tuple[ListedChat, ...]:
    """Return the chats that the `LISTS` of a state database name, as far as these were read.

    A database of 3.16 or later that keeps the heads in a table alone lists none: a table is not
    searched. Ids with a line break are of tools' own composers and no chats (§2.2).
    """
    chats: dict[str, ListedChat] = {}
    for head in _heads([value for key in LISTS if (value := values.get(key)) is not None]):
        session_id = text(head, "composerId")
        if session_id is not None and "\n" not in session_id:
            workspace = nested(nested(head, "workspaceIdentifier"), "uri")
            folder = text(workspace, "fsPath")
            chat = ListedChat(session_id=session_id, updated_at=_last_counted(head), folder=folder)
            chats.setdefault(session_id, chat)
    return tuple(chats.values())


COMPOSER = StoreSource(
    origin=Origin(
        adapter="cursor",
        source="cursor.composer",
        method="cursor_composer_token_pair",
        channel=Channel.LAGGING,
        client="cursor",
        percent_method="cursor_composer_context_percent",
    ),
    about="A state database of Cursor's IDE: the counts of a chat, or its percentage alone",
    extract=_extract,
)
