"""The database of one chat of Cursor's CLI, ACP or SDK: ``store.db``.

``meta['0']`` is the hex of a JSON object that names the newest root; the root, ``blobs[id]``, is a
protocol buffer whose field 5 holds used and maximum tokens: what the CLI's footer shows
(formats/cursor.md §2.6, SDK 1.0.32). Decoys: roots of abandoned branches, which only the pointer
tells from the newest; sub-agents' counts in field 16; the billed sums of hooks and streams. Fields
have no presence, so 0 says "not set". The meta object also holds the chat's key: nothing of it but
the chat's id, its root and its model is ever looked at. The file has no clock but its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from ...bounded.fields import text
from ...bounded.keys import Key, KeyValues, Lack
from ...evidence import Channel, Evidence, Gap, NeedKeys, Origin, Query, TokenPair, UsedTokens
from ...observation import LimitBasis, MissingReason, UsedBasis
from ...source import StoreSource
from .payload import model_ref
from .protobuf import Message, fields
from .stores import document, scope_gap, turn_gap

__all__ = ["CHAT_STORE"]

_META = Key("meta", "0")

_TURNS, _TOKEN_DETAILS = 8, 5  # of agent.v1.ConversationStateStructure
_USED_TOKENS, _MAX_TOKENS = 1, 2  # of agent.v1.ConversationTokenDetails
_MOST = 2**32 - 1  # they are uint32

_OUT_OF_READS = Gap(reason=MissingReason.BUDGET_EXHAUSTED)


def _extract(values: KeyValues, query: Query) -> Evidence | NeedKeys:
    gap = scope_gap(query)
    if gap is not None:
        return gap
    match values.get(_META):
        case None:
            return NeedKeys((_META,), _OUT_OF_READS)
        case Lack.NO_COLUMN:
            return Gap(reason=MissingReason.SCHEMA_UNKNOWN)
        case Lack.NO_ROW:  # nothing was ever said in this chat
            return Gap(reason=MissingReason.NOT_MEASURED_YET)
        case bytes() as raw:
            meta = _unhexed(raw)
        case _:
            meta = None
    if meta is None:
        return Gap(reason=MissingReason.SOURCE_MALFORMED)
    if query.session_id is not None and meta.get("agentId") != query.session_id:
        return Gap(reason=MissingReason.SESSION_MISMATCH)
    return _of_root(meta, values, query)


def _unhexed(raw: bytes) -> Mapping[str, Any] | None:
    try:
        return document(bytes.fromhex(raw.decode("ascii")))
    except ValueError:
        return None


def _of_root(meta: Mapping[str, Any], values: KeyValues, query: Query) -> Evidence | NeedKeys:
    named = meta.get("latestRootBlobId")
    if named == "":
        return Gap(reason=MissingReason.NOT_MEASURED_YET)
    if not isinstance(named, str):
        return Gap(reason=MissingReason.SOURCE_MALFORMED)
    root = Key("blobs", named, column="data", key_column="id")
    match values.get(root):
        case None:
            return NeedKeys((root,), _OUT_OF_READS)
        case Lack.NO_COLUMN:
            return Gap(reason=MissingReason.SCHEMA_UNKNOWN)
        case bytes() as message:
            seen = turn_gap(values.modified_at, query) or _counted(
                message,
                measured_at=values.modified_at,
                identity=(text(meta, "agentId") or "", named),
            )
            return evolve(seen, model=model_ref(meta.get("lastUsedModel")))
        case _:  # the pointer leads nowhere
            return Gap(reason=MissingReason.CHAIN_BROKEN)


def _counted(message: bytes, **sample: Any) -> Evidence:
    """Return what the root *message* says of the tokens in use."""
    root = fields(message)
    if root is None:
        return Gap(reason=MissingReason.SOURCE_MALFORMED)
    if _TOKEN_DETAILS not in root:
        has_turns = _TURNS in root
        reason = MissingReason.USAGE_NOT_REPORTED if has_turns else MissingReason.NOT_MEASURED_YET
        return Gap(reason=reason)
    details = _submessage(root, _TOKEN_DETAILS)
    used, limit = _count(details, _USED_TOKENS), _count(details, _MAX_TOKENS)
    if used is None or limit is None:
        return Gap(reason=MissingReason.SCHEMA_UNKNOWN)
    if used == 0:
        return Gap(reason=MissingReason.NOT_MEASURED_YET)
    # The live context that the next request builds on, the last answer included.
    sample |= {"used_tokens": used, "used_basis": UsedBasis.PROMPT_AND_OUTPUT}
    if limit == 0:
        return UsedTokens(**sample, limit_missing=MissingReason.LIMIT_NOT_REPORTED)
    # The server states the maximum for each chat, whatever catalogues say of the model (§2.6).
    return TokenPair(**sample, limit_tokens=limit, limit_basis=LimitBasis.WINDOW)


def _submessage(message: Message, number: int) -> Message | None:
    """Return the message in the field *number*; what is written in parts belongs together."""
    parts = [part for part in message[number] if isinstance(part, bytes)]
    return fields(b"".join(parts)) if len(parts) == len(message[number]) else None


def _count(message: Message | None, number: int) -> int | None:
    """Return the uint32 in the field *number*, 0 when it is not set, None when it is no uint32."""
    if message is None:
        return None
    last = message.get(number, [0])[-1]
    return last if isinstance(last, int) and last <= _MOST else None


CHAT_STORE = StoreSource(
    origin=Origin(
        adapter="cursor",
        source="cursor.chat_store",
        method="cursor_chat_store_token_details",
        channel=Channel.LAGGING,
        client="cursor",
    ),
    about="The database of a chat of Cursor's CLI, ACP or SDK: used and maximum tokens",
    extract=_extract,
)
