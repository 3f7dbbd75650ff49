"""What single rows of a Claude Code session file say, whoever reads them and in whichever order.

A row is a response's block, a compaction's boundary or summary, or names the model; how rows hang
together is for `transcript` (from the newest row back) and `history` (from the first row on). The
facts are those of formats/claude.md §1.2 to §1.7.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from attrs import evolve

from ...bounded.fields import instant, is_count, text
from ...bounded.jsonl import Row
from ...capability.model import ModelRef
from ...evidence import Gap, UsedTokens
from ...observation import MissingReason, Partial, UsedBasis
from ...usage import UsageFault, anthropic
from .dialect import release
from .rows import SYNTHETIC_MODEL, model_ref

__all__ = [
    "Compaction",
    "Requested",
    "attached_model",
    "compacted",
    "is_abreast",
    "is_boundary",
    "is_frame",
    "is_progress",
    "is_response",
    "is_summary",
    "measured",
    "message_of",
    "names_itself",
    "names_model",
    "session_of",
    "stated_parent",
    "time_of",
    "uuid_field",
    "version_of",
]


Requested: TypeAlias = Iterable[object] | Callable[[ModelRef], Iterable[object]]
"""What names a model as it was asked for, the strongest first, or what finds that out."""


def session_of(row: Mapping[str, Any]) -> str | None:
    """Return the session that *row* names: rows of 2.1.229 and later can carry both spellings."""
    return text(row, "sessionId") or text(row, "session_id")


def message_of(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the API's message in *row*, or an empty object."""
    message = row.get("message")
    return message if isinstance(message, dict) else {}


def time_of(row: Row) -> datetime | None:
    """Return when *row* was received, or None."""
    return instant(row.value.get("timestamp"))


def version_of(row: Row) -> str | None:
    """Return the version of the Claude Code that wrote *row*, or None."""
    version = text(row.value, "version")
    return None if release(version) is None else version


def is_abreast(row: Mapping[str, Any], agent_id: str | None) -> bool:
    """Tell whether *row* is of the sub-agent *agent_id*, or of no sub-agent where that is None."""
    if agent_id is not None:
        return row.get("agentId") == agent_id
    # Anthropic's own reader skips the same rows (formats/claude.md §1.5).
    return not (row.get("isSidechain") or row.get("agentId") or row.get("teamName"))


def is_response(row: Mapping[str, Any]) -> bool:
    """Tell whether *row* is a block of a model's response; interrupted ones count.

    Claude Code's own meter counts an interrupted response too (observed_runs.md).
    """
    return (
        row.get("type") == "assistant"
        and message_of(row).get("model") != SYNTHETIC_MODEL
        and not row.get("isApiErrorMessage")
    )


def is_frame(row: Mapping[str, Any]) -> bool:
    """Tell whether *row* is the live stream's, where sub-agents could not be told from the rest."""
    return "parent_tool_use_id" in row and "parentUuid" not in row


# -- by its bytes, because decoding a row costs ten times a look at them -------------------------

_UUID = b'"uuid":'
_ENVELOPE = 1_024  # a type in front of what the row holds comes soon
_BEGINNING = re.compile(rb'\{"parentUuid":"([ !#-\[\]-~]+)"')  # without an escape


def uuid_field(uuid: str) -> bytes:
    """Return the bytes with which the row *uuid* names itself, as Claude Code writes them."""
    return b'%b"%b"' % (_UUID, uuid.encode())


def is_progress(line: bytes) -> bool:
    """Tell whether *line* is what a tool or a sub-agent did meanwhile (2.1.0 to 2.1.71).

    That can be a megabyte behind the last response, of rows that nest another conversation's. A
    ``type`` that stands before any object is the row's own.
    """
    envelope, is_typed, _ = line[:_ENVELOPE].partition(b',"type":"progress"')
    return bool(is_typed) and envelope.count(b"{") == 1


def names_itself(line: bytes, uuid: str) -> bool:
    """Tell whether *line* is the row *uuid*: the only ``uuid`` in a row that has one is its own."""
    return uuid_field(uuid) in line and line.count(_UUID) == 1


def stated_parent(line: bytes) -> str | None:
    """Return the parent of the row in *line* if the row begins with it: a first key is its own."""
    beginning = _BEGINNING.match(line)
    return beginning[1].decode() if beginning else None


# -- compaction -------------------------------------------------------------------------------


def is_boundary(row: Mapping[str, Any]) -> bool:
    """Tell whether *row* marks a compaction; a microcompaction keeps the conversation."""
    return row.get("type") == "system" and row.get("subtype") == "compact_boundary"


def is_summary(row: Mapping[str, Any]) -> bool:
    """Tell whether *row* is the summary that stands in for what was compacted."""
    return row.get("type") == "user" and row.get("isCompactSummary") is True


class Compaction:
    """A conversation's newest compaction: its boundary, its summary, or both, as far as known.

    The summary stands in for a boundary that was not read, and for one that was never written.
    """

    __slots__ = ("_kept", "_times", "boundary", "summary")

    def __init__(self, boundary: Row | None, summary: Row | None) -> None:
        self.boundary = boundary
        self.summary = summary
        self._times = [(mark.offset, time_of(mark)) for mark in (boundary, summary) if mark]
        self._kept = _preserved(boundary)

    @property
    def mark(self) -> Row | None:
        """The row that speaks for it, or None where there was none."""
        return self.boundary or self.summary

    def voids(self, response: Row) -> bool:
        """Tell whether it made *response* void, which was not written and received after it.

        Rows that a compaction preserves can be written again behind it, with their old time and
        usage (formats/claude.md §1.7).
        """
        received = time_of(response)
        for offset, marked in self._times:
            if received is None or marked is None:
                return True
            if not (response.offset > offset and received > marked):
                return True
        return response.value.get("uuid") in self._kept


def compacted(mark: Row, model: ModelRef | None) -> Gap:
    """Return the gap that a compaction leaves, with Claude Code's estimate of what remains.

    ``postTokens`` (since about 2.1.1xx) counts the conversation only, not the system prompt and the
    tools: 930 where the next request had 9,005 (observed_runs.md).

    Args:
        mark: The compaction's boundary, or its summary where that is all there is.
        model: The model that is named behind it, or None.
    """
    estimate = _compaction(mark).get("postTokens")
    known = is_count(estimate)
    return Gap(
        reason=MissingReason.COMPACTED,
        partial=Partial(
            used_tokens=estimate if known else None,
            measured_at=time_of(mark),
            estimated=known,
        ),
        runtime_version=version_of(mark),
        model=model,
    )


def _preserved(boundary: Row | None) -> list[object]:
    """Return the ids of the rows that a compaction kept."""
    metadata = {} if boundary is None else _compaction(boundary)
    messages, segment = metadata.get("preservedMessages"), metadata.get("preservedSegment")
    kept: list[object] = []
    if isinstance(messages, dict):
        for key in ("uuids", "allUuids"):
            uuids = messages.get(key)
            kept += uuids if isinstance(uuids, list) else []
    if isinstance(segment, dict):
        kept += (segment.get("headUuid"), segment.get("tailUuid"))
    return [uuid for uuid in kept if uuid is not None]


def _compaction(boundary: Row) -> Mapping[str, Any]:
    metadata = boundary.value.get("compactMetadata")
    return metadata if isinstance(metadata, dict) else {}


# -- the evidence -----------------------------------------------------------------------------


def measured(
    response: Row,
    agent_id: str | None,
    requested: Requested,
) -> UsedTokens | Gap:
    """Return the usage of *response*, which decides even where it is missing or wrong.

    Passing over it would show the size of the context before a response of unknown size.

    Args:
        response: The last block of the response that is known.
        agent_id: The sub-agent whose it is, or None.
        requested: What names the model as it was asked for.
    """
    if response.has_duplicate_keys():
        return Gap(reason=MissingReason.SOURCE_MALFORMED, runtime_version=version_of(response))
    model = _model(response, requested)
    usage = anthropic(message_of(response.value).get("usage"))
    if isinstance(usage, UsageFault):
        return evolve(Gap.of_usage(usage), runtime_version=version_of(response), model=model)
    return UsedTokens(
        usage=usage,
        used_basis=UsedBasis.PROMPT,
        model=model,
        measured_at=time_of(response),
        runtime_version=version_of(response),
        identity=_identity_of(response, agent_id),
    )


def _identity_of(response: Row, agent_id: str | None) -> tuple[str, ...]:
    """Return what all block rows of *response* share, in every phase; empty where nothing is."""
    named = text(message_of(response.value), "id") or text(response.value, "uuid")
    if named is None:
        return ()
    return (session_of(response.value) or "", agent_id or "", named)


def _model(response: Row, requested: Requested) -> ModelRef | None:
    """Return the model of *response*, with the long-context marker of the best evidence for it."""
    message = message_of(response.value)
    model = model_ref(message.get("model"), message_id=message.get("id"))
    if model is None:
        return None
    for asked in requested(model) if callable(requested) else requested:
        marked = model_ref(message.get("model"), requested=asked, message_id=message.get("id"))
        if marked is not None and marked.long_context_marker is not None:
            return marked
    return model


def names_model(row: Mapping[str, Any]) -> bool:
    """Tell whether *row* is the attachment that names the model (since 2.1.251)."""
    attachment = row.get("attachment")
    return (
        row.get("type") == "attachment"
        and isinstance(attachment, dict)
        and attachment.get("type") == "model"
        and isinstance(attachment.get("identity"), dict)
    )


def attached_model(row: Mapping[str, Any]) -> object:
    """Return what the attachment names; `names_model` tells whether *row* is one."""
    return row["attachment"]["identity"].get("modelId")
