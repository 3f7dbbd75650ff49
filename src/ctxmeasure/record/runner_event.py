"""The fields that a runner adds to its own event of an iteration.

The two names that Ralph's specification gives are kept (formats/pi_ralph.md §7); all other keys
begin with ``context_`` and say how the numbers are known. A key whose value is not known is
absent: never null, and never 0.
"""

from __future__ import annotations

from typing import TypeAlias

from ..measurement import TokenMeasurement
from ..observation import Missing, Observation, Observed, Provenance, UsedBasis

__all__ = ["RunnerEventFields", "runner_event_fields"]

RunnerEventFields: TypeAlias = dict[str, int | float | str]
"""A flat object of JSON, to be merged into a runner's own event."""


def runner_event_fields(observation: Observation) -> RunnerEventFields:
    """Return what a runner's event says of the context.

    - ``input_tokens``: the prompt of the request, in tokens: input, cache reads and cache writes,
      and no output. Where the count has output in it, the prompt is taken from the request's
      usage, and left out where that is not known.
    - ``context_utilization_pct``: the share in use in percent, neither rounded nor clamped. It is
      the observation's own: with output where its agent counts output.
    - ``context_tokens``, ``context_used_basis``: the count behind that share, and what is in it.
    - ``context_window``, ``context_limit_basis``: the limit in tokens, and which limit it is:
      ``assumed_default`` is one that the caller chose to assume.
    - ``context_method``, ``context_attestation``, ``context_confidence``: how it is known.
    - ``context_missing_reason``: why there is no measurement. Of the numbers, only a count stays
      that stands although its limit is missing.

    Raises:
        TypeError: *observation* is not an observation.
    """
    match observation:
        case Observed():
            return _of_observed(observation)
        case Missing():
            standing = observation.standing_tokens
            counted = {} if standing is None else _counted(standing, observation.provenance)
            return {**counted, "context_missing_reason": observation.reason.value}
        case _:
            raise TypeError("observation: expected an Observed or a Missing")


def _of_observed(observation: Observed) -> RunnerEventFields:
    value, provenance = observation.value, observation.provenance
    fields: RunnerEventFields = {"context_utilization_pct": value.used_percent}
    if isinstance(value, TokenMeasurement):
        fields |= _counted(value.used_tokens, provenance)
        fields["context_window"] = value.limit_tokens
        if provenance.limit_basis is not None:
            fields["context_limit_basis"] = provenance.limit_basis.value
    return {
        **fields,
        "context_method": value.method,
        "context_attestation": observation.attestation.value,
        "context_confidence": observation.confidence.value,
    }


def _counted(tokens: int, provenance: Provenance) -> RunnerEventFields:
    fields: RunnerEventFields = {"context_tokens": tokens}
    if provenance.used_basis is not None:
        fields["context_used_basis"] = provenance.used_basis.value
    if provenance.used_basis is UsedBasis.PROMPT:
        fields["input_tokens"] = tokens
    elif provenance.usage is not None:
        fields["input_tokens"] = provenance.usage.prompt_tokens
    return fields
