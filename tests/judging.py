"""Evidence for the judge, built with one word changed at a time, and a table that says as told.

The real model table is one of the judge's inputs: where a test is about a rule and not about a
model, `Table` stands in for it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from attrs import define, field

from ctxmeasure.assess import DEFAULT_POLICY, Policy, assess
from ctxmeasure.bounded.budget import ReadStats
from ctxmeasure.capability.model import Capability, Certainty, ModelRef, Resolution, Unresolved
from ctxmeasure.evidence import (
    Channel,
    Evidence,
    Origin,
    Phase,
    Query,
    TokenPair,
    UsedPercent,
    UsedTokens,
)
from ctxmeasure.observation import LimitBasis, Missing, Observation, Observed, Partial, UsedBasis
from ctxmeasure.usage import TokenUsage

__all__ = [
    "AT",
    "SECOND",
    "UNKNOWN",
    "Table",
    "capability",
    "judge",
    "known",
    "measured",
    "missing",
    "model",
    "origin",
    "pair",
    "percent",
    "usage",
    "used",
]

AT = datetime(2026, 11, 29, 18, 0, tzinfo=UTC)
"""The moment of every question."""

SECOND = timedelta(seconds=1)

UNKNOWN = Unresolved(ambiguous=False, why="unknown-model")


@define
class Table:
    """A model table of the test's own.

    Attributes:
        rows: The answer by model id; every other id is unknown.
        asked: What was asked for: id, marker, client, client version and moment.
    """

    rows: dict[str, Resolution] = field(factory=dict)
    asked: list[tuple[str, bool | None, str | None, str | None, datetime | None]] = field(
        factory=list
    )

    def resolve(
        self,
        model: ModelRef,
        *,
        client: str | None = None,
        client_version: str | None = None,
        at: datetime | None = None,
    ) -> Resolution:
        """Answer as `ctxmeasure.capability.table.resolve` does."""
        self.asked.append((model.id, model.long_context_marker, client, client_version, at))
        return self.rows.get(model.id, UNKNOWN)


def capability(window_tokens: int = 200_000, **row: Any) -> Capability:
    """Return a row whose id decides a window of *window_tokens*."""
    return Capability(
        **{
            "canonical": "model",
            "provider": "anthropic",
            "window_tokens": window_tokens,
            "certainty": Certainty.DECIDED,
            **row,
        }
    )


def origin(channel: Channel = Channel.PERSISTED) -> Origin:
    """Return the facts of a source whose data come by *channel*."""
    return Origin(
        adapter="agent", source="agent.source", method="method", channel=channel, client="client"
    )


def model(id_: str = "model", marker: bool | None = None, **named: Any) -> ModelRef:
    """Return a model as a session names it."""
    return ModelRef(id=id_, long_context_marker=marker, **named)


def usage(prompt: int = 41_500, output: int = 500) -> TokenUsage:
    """Return the usage of one request."""
    return TokenUsage(input_tokens=prompt, output_tokens=output)


def _sample(**sample: Any) -> dict[str, Any]:
    return {"measured_at": AT - SECOND, "identity": ("session", "row"), **sample}


def used(**sample: Any) -> UsedTokens:
    """Return a count of 41,500 prompt tokens and 500 of output, by a model ``model``."""
    counted = {"usage": usage(), "used_basis": UsedBasis.PROMPT, "model": model()}
    return UsedTokens(**_sample(**{**counted, **sample}))


def pair(**sample: Any) -> TokenPair:
    """Return the same count beside a stated limit of 200,000."""
    counted = {"usage": usage(), "used_basis": UsedBasis.PROMPT, "model": model()}
    limit = {"limit_tokens": 200_000, "limit_basis": LimitBasis.WINDOW}
    return TokenPair(**_sample(**{**counted, **limit, **sample}))


def percent(used_percent: float = 20.75, **sample: Any) -> UsedPercent:
    """Return a percentage."""
    return UsedPercent(**_sample(used_percent=used_percent, **sample))


def judge(
    evidence: Evidence,
    *,
    channel: Channel = Channel.PERSISTED,
    phase: Phase = Phase.LATEST,
    policy: Policy = DEFAULT_POLICY,
    stats: ReadStats | None = None,
    at: datetime = AT,
    **asked: Any,
) -> Observation:
    """Return the judgement."""
    return assess(
        evidence,
        origin=origin(channel),
        query=Query(at=at, phase=phase, **asked),
        policy=policy,
        stats=stats,
    )


def measured(evidence: Evidence, **asked: Any) -> Observed:
    """Return the judgement, which must be a measurement."""
    observation = judge(evidence, **asked)
    assert isinstance(observation, Observed), observation
    return observation


def missing(evidence: Evidence, **asked: Any) -> Missing:
    """Return the judgement, which must be none."""
    observation = judge(evidence, **asked)
    assert isinstance(observation, Missing), observation
    return observation


def known(observation: Missing) -> Partial:
    """Return what a missing reading still knows, which must be something."""
    assert observation.partial is not None
    return observation.partial
