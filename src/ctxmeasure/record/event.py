"""Events for a ledger: ``context.observed``, and the two ends of a compaction.

The measurement, the provenance and the attestation block are those of Harnery's event ledger 3
(formats/harnery.md §1); a producer adds its own envelope. Nothing but numbers, moments, names of
methods and keyed digests enters: no partial, no model, no usage, no path, no native id. The JSON
Schema is ``schemas/context_observed.schema.json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from attrs import Attribute, field, frozen
from attrs.validators import optional

from ..bounded.encode import encode_object
from ..measurement import Measurement, TokenMeasurement, utc_milliseconds
from ..observation import (
    Attestation,
    Completeness,
    Confidence,
    Missing,
    MissingReason,
    Observation,
    Observed,
)
from . import names, opaque
from .observation import timestamp

__all__ = ["OUTCOMES", "compaction_completed", "compaction_started", "context_observed"]

OUTCOMES = ("succeeded", "failed", "cancelled", "timed_out", "denied", "interrupted", "unknown")
"""How a compaction can end."""

_CONTEXT_USAGE, _BEFORE, _AFTER = "context_usage", "pre_compaction", "post_compaction"
_UNMEASURED = "context_measurement_incomplete"  # nobody looked, or nothing was remembered
_UNSUPPORTED = frozenset({MissingReason.SOURCE_UNSUPPORTED, MissingReason.REMOTE_SESSION})


def context_observed(
    observation: Observation,
    *,
    session_key: str,
    turn_key: str | None = None,
    agent_key: str | None = None,
    key: bytes,
    observed_at: datetime | None = None,
) -> dict[str, Any]:
    """Return the ``context.observed`` event of *observation*, as JSON data.

    Args:
        observation: What was observed. A partial of a missing one does not enter.
        session_key: The agent's own session id; it leaves as a keyed digest (``sid_...``).
        turn_key: The agent's own id of the turn in which it was observed, or None; it leaves as
            ``tid_...``.
        agent_key: A sub-agent's own id if its context was measured, or None for the main chain; it
            leaves as ``hid_...``.
        key: The secret under which ids are digested.
        observed_at: When it was observed; aware. None leaves it to the envelope.

    Returns:
        The event. ``record_id`` is its own id: the same for the same sample, and for the same
        missing state at the same moment. ``provenance.source_record_id`` is the sample's id, and
        absent when there is no sample or nothing singles it out.

    Raises:
        TypeError: An argument has the wrong type (the message names it).
        ValueError: An argument is empty, or *observed_at* has no time zone.
    """
    frame = _Frame(
        _known(observation, "observation"), session_key, turn_key, agent_key, key, observed_at
    )
    measurement = _measurement(observation, _CONTEXT_USAGE)
    attested = {"runtime_attestation": {"telemetry": {_CONTEXT_USAGE: _capability(observation)}}}
    payload = {"measurement": measurement}
    return {**frame.event("context.observed", payload), **attested, **_basis(observation)}


def compaction_started(
    before: Observation,
    *,
    session_key: str,
    turn_key: str | None = None,
    agent_key: str | None = None,
    key: bytes,
    method: str | None = None,
    observed_at: datetime | None = None,
) -> dict[str, Any]:
    """Return the ``context.compaction_started`` event, as JSON data.

    Args:
        before: What was observed just before the compaction.
        session_key: As for `context_observed`, like all below but *method*.
        turn_key: The turn.
        agent_key: The sub-agent whose context is compacted.
        key: The secret.
        method: How the compaction became known; None: by a hook of the agent.
        observed_at: When it became known; aware.

    Raises:
        TypeError: An argument has the wrong type (the message names it).
        ValueError: An argument is empty, or *observed_at* has no time zone.
    """
    frame = _Frame(_known(before, "before"), session_key, turn_key, agent_key, key, observed_at)
    by_hook = f"{names.adapter_id(frame.adapter).replace('-', '_')}_hook"
    payload = {
        "before": _measurement(before, _BEFORE),
        "method": names.safe_token(by_hook if method is None else method),
    }
    return frame.event("context.compaction_started", payload)


def compaction_completed(
    before: Observation | Mapping[str, Any] | None,
    after: Observation,
    outcome: str,
    *,
    session_key: str,
    turn_key: str | None = None,
    agent_key: str | None = None,
    key: bytes,
    observed_at: datetime | None = None,
) -> dict[str, Any]:
    """Return the ``context.compaction_completed`` event, as JSON data.

    Args:
        before: What was observed just before; or the ``before`` of the event with which it started;
            or None if nobody looked.
        after: What is observed now. Right after a compaction most agents have measured nothing:
            that is a named missing state, and their own estimate stays a partial.
        outcome: One of `OUTCOMES`.
        session_key: As for `context_observed`, like all below.
        turn_key: The turn.
        agent_key: The sub-agent whose context is compacted.
        key: The secret.
        observed_at: When it became known; aware.

    Raises:
        TypeError: An argument has the wrong type (the message names it).
        ValueError: An argument is empty, *outcome* is none, or *observed_at* has no time zone.
    """
    if outcome not in OUTCOMES:
        raise ValueError(f"outcome: expected one of {', '.join(OUTCOMES)}")
    frame = _Frame(_known(after, "after"), session_key, turn_key, agent_key, key, observed_at)
    payload = {
        "outcome": outcome,
        "before": _remembered(before),
        "after": _measurement(after, _AFTER),
    }
    return frame.event("context.compaction_completed", payload)


# -- what all events share ------------------------------------------------------------------------


def _id(_: object, attribute: Attribute[Any], native: object) -> None:
    if not isinstance(native, str):
        raise TypeError(f"{attribute.name}: expected a str")
    if not native:
        raise ValueError(f"{attribute.name}: expected at least one character")


def _secret(_: object, __: Attribute[bytes], key: object) -> None:
    if not isinstance(key, bytes):
        raise TypeError("key: expected bytes")
    if not key:
        raise ValueError("key: expected at least one byte")


def _moment(moment: datetime | None) -> datetime | None:
    return None if moment is None else utc_milliseconds(moment, "observed_at")


@frozen
class _Frame:
    """Whose event it is, of what, and when."""

    observation: Observation
    session_key: str = field(repr=False, validator=_id)
    turn_key: str | None = field(repr=False, validator=optional(_id))
    agent_key: str | None = field(repr=False, validator=optional(_id))
    key: bytes = field(repr=False, validator=_secret)
    observed_at: datetime | None = field(converter=_moment)

    @property
    def adapter(self) -> str:
        return self.observation.provenance.adapter

    def event(self, event_type: str, payload: dict[str, Any]) -> dict[str, Any]:
        time = {} if self.observed_at is None else {"observed_at": timestamp(self.observed_at)}
        scope = self._scope()
        provenance = self._provenance()
        return {
            "event_type": event_type,
            "record_id": self._record_id(event_type, scope, provenance, payload, time),
            "adapter": names.adapter_id(self.adapter),
            **({"time": time} if time else {}),
            "scope": scope,
            "provenance": provenance,
            "payload": payload,
        }

    def _record_id(
        self,
        event_type: str,
        scope: dict[str, str],
        provenance: dict[str, str],
        payload: dict[str, Any],
        time: dict[str, str],
    ) -> str:
        """Return the event's own id: a sample's is told by the sample, all else by all it says."""
        sample = provenance.get("source_record_id")
        if sample is not None and "measurement" in payload:
            return opaque.event_id(event_type, sample, key=self.key)
        said = encode_object({"scope": scope, "payload": payload, "time": time})
        return opaque.event_id(event_type, said, key=self.key)

    def _scope(self) -> dict[str, str]:
        adapter, session, key = self.adapter, self.session_key, self.key
        scope = {"session_id": opaque.session_id(adapter, session, key)}
        if self.turn_key is not None:
            scope["turn_id"] = opaque.turn_id(adapter, session, self.turn_key, key)
        if self.agent_key is not None:
            scope["agent_id"] = opaque.agent_id(adapter, session, self.agent_key, key)
        return scope

    def _provenance(self) -> dict[str, str]:
        said = self.observation
        version = said.provenance.runtime_version
        provenance = {"source_event": names.safe_token(_source_event(said), version)}
        if isinstance(said, Missing):
            return {**provenance, **_graded_missing(said)}
        provenance["attestation"] = said.attestation.value
        provenance["confidence"] = said.confidence.value
        if said.provenance.witness is not None:
            provenance["source_record_id"] = said.provenance.witness.source_record_id(self.key)
        return provenance


def _known(observation: Observation, argument: str) -> Observation:
    if not isinstance(observation, Observed | Missing):
        raise TypeError(f"{argument}: expected an Observed or a Missing")
    return observation


def _source_event(said: Observation) -> str:
    where = said.provenance
    if isinstance(said, Observed):
        return names.source_name(where.adapter, where.source, said.value.method).source_event
    known = names.UNSUPPORTED if said.reason in _UNSUPPORTED else names.MISSING
    return f"{names.adapter_id(where.adapter)}.{known}"


def _graded_missing(missing: Missing) -> dict[str, str]:
    """Grade what there is no value of, as the ledger does: by who was asked."""
    if missing.reason in _UNSUPPORTED:
        return {"attestation": Attestation.NATIVE.value, "confidence": Confidence.EXACT.value}
    return {"attestation": Attestation.DERIVED.value, "confidence": Confidence.HIGH.value}


# -- the measurement ------------------------------------------------------------------------------


def _measurement(said: Observation, capability: str) -> dict[str, Any]:
    """Return one of the ledger's six observation states; three of them are ours to say."""
    if isinstance(said, Observed):
        return {
            "state": "observed",
            "value": _value(said),
            "attestation": _attestation(said).value,
            "confidence": said.confidence.value,
        }
    if said.reason in _UNSUPPORTED:
        return {"state": "unsupported", "capability": capability}
    return _expected(capability, said.reason.value)


def _expected(capability: str, reason: str) -> dict[str, Any]:
    return {"state": "expected_but_missing", "capability": capability, "reason": reason}


def _remembered(before: Observation | Mapping[str, Any] | None) -> dict[str, Any]:
    match before:
        case None:
            return _expected(_BEFORE, _UNMEASURED)
        case Observed() | Missing():
            return _measurement(before, _BEFORE)
        case Mapping():
            return dict(before)
        case _:
            raise TypeError("before: expected an Observed, a Missing, a mapping or None")


def _attestation(said: Observed) -> Attestation:
    """Return who states the value, where the ledger has no word for a person.

    A declared limit is knowledge from outside the session, which is what inferred means. That it
    was declared is in the provenance, whose vocabulary has the word, and in the method's name.
    """
    is_declared = said.attestation is Attestation.OPERATOR
    return Attestation.INFERRED if is_declared else said.attestation


def _value(said: Observed) -> dict[str, Any]:
    where, value = said.provenance, said.value
    method = names.source_name(where.adapter, where.source, value.method).method
    return {**_amounts(value), "measured_at": timestamp(value.measured_at), "method": method}


def _amounts(value: Measurement) -> dict[str, Any]:
    if isinstance(value, TokenMeasurement):
        return {
            "used_tokens": value.used_tokens,
            "limit_tokens": value.limit_tokens,
            "remaining_tokens": value.remaining_tokens,
        }
    return {"used_percent": value.used_percent, "remaining_percent": value.remaining_percent}


def _capability(said: Observation) -> dict[str, Any]:
    """Return what the session's telemetry can tell of its context, as of this observation."""
    if isinstance(said, Missing):
        return _measurement(said, _CONTEXT_USAGE)
    attestation = _attestation(said)
    is_native = attestation is Attestation.NATIVE
    return {
        "state": "observed",
        "value": {
            "support": (Attestation.NATIVE if is_native else Attestation.DERIVED).value,
            "source": _source_event(said),
            "completeness": _completeness(said).value,
        },
        "attestation": attestation.value,
        "confidence": said.confidence.value,
    }


def _completeness(said: Observed) -> Completeness:
    """Return how much was measured, where the ledger counts a declared limit as not measured."""
    if said.attestation is Attestation.OPERATOR and said.completeness is Completeness.EXACT:
        return Completeness.INFERRED
    return said.completeness


def _basis(said: Observation) -> dict[str, Any]:
    """Return which tokens were counted against which limit; the ledger's value has no place."""
    if not (isinstance(said, Observed) and isinstance(said.value, TokenMeasurement)):
        return {}
    bases = {"used": said.provenance.used_basis, "limit": said.provenance.limit_basis}
    known = {side: basis.value for side, basis in bases.items() if basis is not None}
    return {"basis": known} if known else {}
