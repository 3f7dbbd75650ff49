"""The JSON object that Cursor hands to a hook command, on its standard input.

One event measures: ``preCompact`` states count, window and percentage as they are just before a
compaction, so it is the last word on a context that is about to be replaced. Its fields have no
presence on the wire: 0 says "not set" (formats/cursor.md §1.4). Decoy: the tokens of ``stop`` and
``afterAgentResponse`` are sums over the turn's calls and soon exceed any window (§1.5). Cursor runs
the hook commands of Claude Code's settings too, with these same payloads: ``cursor_version`` tells
them (§1.6). Field names are those of SDK 1.0.18 to 1.0.32; the IDE's payload may differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from attrs import evolve

from ...bounded.fields import is_count, is_limit, text
from ...evidence import (
    Channel,
    Claim,
    Evidence,
    Gap,
    Origin,
    Phase,
    Quantity,
    Query,
    TokenPair,
    UsedPercent,
    UsedTokens,
)
from ...observation import LimitBasis, MissingReason, Partial, UsedBasis
from ...source import Hooks, PayloadSource
from .payload import is_cloud_session, is_percent, model_ref, session_gap, session_id

__all__ = ["HOOK", "HOOKS", "query_from_hook"]

_PRE_COMPACT = "preCompact"
_PAIR = ("context_tokens", "context_window_size")

_SUMMED_OVER_THE_TURN = frozenset({"stop", "afterAgentResponse"})
_SUMS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")

# How the payload rounds is not documented. So whole numbers as the IDE's store, which rounds up (18
# for 17.07), and fractions as the status line, to a tenth, with half a step for binary fractions.
_OF_A_WHOLE_NUMBER = 1.0
_OF_A_FRACTION = 0.15

# Gaps that send the user to another source of Cursor's, which a cloud session does not have here.
_ELSEWHERE = frozenset({MissingReason.USAGE_NOT_REPORTED, MissingReason.CUMULATIVE_ONLY})

_WITHIN_A_TURN = (
    *("beforeShellExecution", "afterShellExecution", "beforeMCPExecution", "afterMCPExecution"),
    *("beforeReadFile", "afterFileEdit", "preToolUse", "postToolUse", "postToolUseFailure"),
    *("afterAgentThought", "afterAgentResponse", "subagentStart", "subagentStop", _PRE_COMPACT),
)
_PHASES = {
    **dict.fromkeys(_WITHIN_A_TURN, Phase.ACTIVE),
    **dict.fromkeys(("stop", "sessionEnd"), Phase.TERMINAL),
}


def _extract(payload: Mapping[str, Any], query: Query) -> Evidence:
    event = _event(payload)
    if event is None:
        return Gap(reason=MissingReason.SOURCE_MALFORMED)
    evidence = (
        session_gap(payload, query) or _turn_gap(payload, query) or _of(event, payload, query)
    )
    if not isinstance(evidence, Gap):
        return evidence
    if evidence.reason in _ELSEWHERE and _is_remote(payload):
        evidence = evolve(evidence, reason=MissingReason.REMOTE_SESSION)
    return evolve(
        evidence,
        runtime_version=text(payload, "cursor_version"),
        model=model_ref(payload.get("model")),
    )


def _event(payload: Mapping[str, Any]) -> str | None:
    """Return the event of a hook of Cursor's, or None if *payload* is none.

    A pair without an event's name is ``preCompact``'s: no other event has one.
    """
    if "cursor_version" not in payload and "conversation_id" not in payload:
        return None
    if "hook_event_name" in payload:
        return text(payload, "hook_event_name")
    return _PRE_COMPACT if all(key in payload for key in _PAIR) else None


def _turn_gap(payload: Mapping[str, Any], query: Query) -> Gap | None:
    """Return the gap if *payload* is not known to be of the turn asked for.

    Without one to ask for, an active turn needs no match: the hook is called while it runs.
    """
    generation_id = text(payload, "generation_id")
    if query.turn_id is None or query.turn_id == generation_id:
        return None
    if generation_id is None:  # absent, or "" in server-driven hooks
        return Gap(reason=MissingReason.TURN_IDS_NOT_RECORDED)
    return Gap(reason=MissingReason.TURN_NOT_FOUND)


def _of(event: str, payload: Mapping[str, Any], query: Query) -> Evidence:
    if event == _PRE_COMPACT:
        return _before_compaction(payload, query)
    if event in _SUMMED_OVER_THE_TURN:
        return _of_turn(payload)
    return Gap(reason=MissingReason.USAGE_NOT_REPORTED)


def _of_turn(payload: Mapping[str, Any]) -> Gap:
    """Name the gap of a turn's sums; with one model call they are its prompt, but nobody can tell.

    Cursor states them since SDK 1.0.24 and CLI 2026.06.
    """
    sums = [payload[key] for key in _SUMS if payload.get(key) is not None]
    if not sums:
        return Gap(reason=MissingReason.USAGE_NOT_REPORTED)
    if not all(map(is_count, sums)):
        return Gap(reason=MissingReason.USAGE_INVALID)
    return Gap(reason=MissingReason.CUMULATIVE_ONLY)


def _before_compaction(payload: Mapping[str, Any], query: Query) -> Evidence:
    used, limit = (_stated(payload, key) for key in _PAIR)
    percent = _stated(payload, "context_usage_percent")
    reason = _fault(used, percent)
    if reason is not None:
        return Gap(reason=reason, partial=_known(used, limit, percent, query))
    sample: dict[str, Any] = {
        "measured_at": query.at,
        "identity": _identity(payload),
        "runtime_version": text(payload, "cursor_version"),
        "model": model_ref(payload.get("model")),
    }
    # The whole context that is to be summarised, answers included; Cursor does not split it.
    counted = {"used_tokens": used, "used_basis": UsedBasis.PROMPT_AND_OUTPUT}
    if used and not is_count(limit):  # the caller may know it
        return UsedTokens(**sample, **counted, limit_missing=MissingReason.LIMIT_INVALID)
    if used and is_limit(limit):
        claim = Claim(Quantity.USED_PERCENT, percent, _rounding(percent))
        # No use above the limit has been seen, and limits that are only Cursor's belief have (§4):
        # so a use above one refutes it.
        return TokenPair(
            **sample,
            **counted,
            limit_tokens=limit,
            limit_basis=LimitBasis.WINDOW,
            claims=(claim,) if percent else (),
        )
    if percent:
        return UsedPercent(**sample, used_percent=float(percent))
    if used:  # mode, plan and parameters decide the window: the model's id does not (§4)
        return UsedTokens(**sample, **counted, limit_missing=MissingReason.LIMIT_NOT_REPORTED)
    return Gap(reason=MissingReason.USAGE_NOT_REPORTED, partial=_known(used, limit, percent, query))


def _rounding(percent: float) -> float:
    """Return how far a stated *percent* can be from the true one, in points."""
    return _OF_A_WHOLE_NUMBER if percent == int(percent) else _OF_A_FRACTION


def _stated(payload: Mapping[str, Any], key: str) -> Any:
    """Return the value under *key*; 0, which says "not set", for none (JSON's NaN is null)."""
    value = payload.get(key)
    return 0 if value is None else value


def _fault(used: object, percent: object) -> MissingReason | None:
    if not is_count(used):
        return MissingReason.USAGE_INVALID
    if not is_percent(percent):
        return MissingReason.PERCENT_INVALID
    return None


def _known(used: object, limit: object, percent: object, query: Query) -> Partial | None:
    """Return what is valid of the three statements and set."""
    used_tokens = used if is_limit(used) else None
    limit_tokens = limit if is_limit(limit) else None
    used_percent = float(percent) if is_percent(percent) and percent else None
    if used_tokens is limit_tokens is used_percent is None:
        return None
    return Partial(
        used_tokens=used_tokens,
        limit_tokens=limit_tokens,
        used_percent=used_percent,
        measured_at=query.at,
    )


def _identity(payload: Mapping[str, Any]) -> tuple[str, ...]:
    session = session_id(payload)
    if session is None:
        return ()
    return (session, text(payload, "generation_id") or "", _PRE_COMPACT)


def _is_remote(payload: Mapping[str, Any]) -> bool:
    return payload.get("is_background_agent") is True or is_cloud_session(session_id(payload))


def query_from_hook(payload: Mapping[str, Any], *, at: datetime) -> Query | None:
    """Return the question that a hook's *payload* asks of Cursor's stores on this machine.

    For ``cursor.chat_store`` (CLI, ACP, SDK) and ``cursor.composer`` (IDE): a session is in one of
    the two. Neither records the hook's turn (``generation_id``), so it is not asked for. While a
    turn runs (tool, shell, file, sub-agent and ``preCompact`` events) the phase is active and the
    store's sample must be fresh; at ``stop`` and ``sessionEnd`` it is terminal. At
    ``subagentStart`` and ``subagentStop`` the conversation is the parent's.

    Args:
        payload: The decoded hook payload. Fields that are absent, empty or of a wrong type are left
            out of the question.
        at: When the hook fired; aware.

    Returns:
        The question; None for a session in Cursor's cloud (``is_background_agent``, or an id that
        begins with ``bc-``): no store on this machine holds it, so there is none to ask.

    Raises:
        TypeError: *payload* is no mapping, or *at* no datetime.
        ValueError: *at* has no time zone.
    """
    if not isinstance(payload, Mapping):
        raise TypeError("payload: expected a mapping")
    query = Query(
        at=at,
        session_id=session_id(payload),
        phase=_PHASES.get(text(payload, "hook_event_name") or "", Phase.LATEST),
    )
    return None if _is_remote(payload) else query


def _recognise(payload: Mapping[str, Any]) -> bool:
    """Tell the hook by the version that every one carries and no other agent's does."""
    return text(payload, "cursor_version") is not None and _event(payload) is not None


HOOK = PayloadSource(
    origin=Origin(
        adapter="cursor",
        source="cursor.hook",
        method="cursor_hook",
        channel=Channel.HANDED_OVER,
        client="cursor",
    ),
    about="The payload of a Cursor hook: count, window and percentage just before a compaction",
    extract=_extract,
    recognise=_recognise,
)

HOOKS = Hooks(
    source=HOOK,
    query=query_from_hook,
    session=session_id,
    turn=partial(text, key="generation_id"),
    stores=("cursor.chat_store", "cursor.composer"),
)
