"""What a contributor's checker knows of a source; executed by type-checkers only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never, assert_type

from ctxmeasure.bounded.jsonl import Tail
from ctxmeasure.evidence import (
    Channel,
    Evidence,
    Gap,
    NeedMore,
    Origin,
    Query,
    TokenPair,
    UsedPercent,
    UsedTokens,
)
from ctxmeasure.observation import MissingReason
from ctxmeasure.registry import find
from ctxmeasure.source import PayloadSource, Source, StoreSource, StreamSource, TailSource

ORIGIN = Origin(adapter="mine", source="mine.rows", method="mine_rows", channel=Channel.PERSISTED)


def from_rows(tail: Tail, query: Query) -> Evidence | NeedMore:
    return NeedMore(fallback=Gap(reason=MissingReason.SESSION_NOT_FOUND))


def from_payload(payload: Mapping[str, Any], query: Query) -> Evidence:
    return Gap(reason=MissingReason.NOT_MEASURED_YET)


def a_function_of_the_wrong_shape_is_a_mistake() -> None:
    TailSource(origin=ORIGIN, about="rows", extract=from_rows)
    PayloadSource(origin=ORIGIN, about="a payload", extract=from_payload)
    TailSource(origin=ORIGIN, about="rows", extract=from_payload)  # type: ignore[arg-type]
    PayloadSource(origin=ORIGIN, about="a payload", extract=from_rows)  # type: ignore[arg-type]


def all_evidence_is_one_of_four(evidence: Evidence) -> str:
    match evidence:
        case TokenPair() | UsedTokens():
            return "tokens"
        case UsedPercent():
            return "percent"
        case Gap(reason=reason):
            assert_type(reason, MissingReason)
            return reason.value
        case _:
            assert_never(evidence)


def all_sources_are_one_of_four() -> str:
    source = find("claude.transcript")
    assert_type(source, Source)
    match source:
        case TailSource() | PayloadSource() | StreamSource() | StoreSource():
            return source.id
        case _:
            assert_never(source)
