"""The sampler itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import field, frozen

from ..assess import DEFAULT_POLICY, Policy
from ..evidence import Query
from ..observation import Observation
from .boundary import Boundary
from .state import SamplerState

__all__ = ["Attempt", "Event", "Sampler"]


@frozen
class Event:
    """One line for a ledger.

    Attributes:
        body: The event, as `record.context_observed` and its siblings make it: JSON data.
    """

    body: dict[str, Any]

    @property
    def record_id(self) -> str:
        """The event's own id, ``hid_...``: the same when the same step is taken again."""
        return str(self.body["record_id"])

    @property
    def source_record_id(self) -> str | None:
        """The id of the sample that a ``context.observed`` publishes; None for a missing one."""
        raise NotImplementedError

    def line(self) -> str:
        """Return the event as one line of JSON, without a newline."""
        raise NotImplementedError


@frozen(kw_only=True)
class Attempt:
    """What one hook is to be sampled for: what `Sampler.begin` decided.

    Attributes:
        boundary: The moment in the turn.
        payload: The hook's payload.
        at: When it was handed over.
        is_due: Whether the context is looked at; otherwise only what is pending is.
    """

    boundary: Boundary
    payload: Mapping[str, Any] = field(repr=False)
    at: datetime
    is_due: bool


@frozen(kw_only=True)
class Sampler:
    """Samples at the hooks of one agent.

    Attributes:
        agent: ``claude``, ``codex`` or ``cursor``.
        key: The key of all ids that are published.
        databases: For Cursor, the databases that may hold the session, by source id
            (``cursor.chat_store``, ``cursor.composer``).
        policy: What is accepted as a measurement.
        model: The model as the agent was started with it.
        limit_tokens: A limit that the caller declares, in tokens.
    """

    agent: str
    key: bytes = field(repr=False)
    databases: Mapping[str, Sequence[str]] = field(factory=dict, repr=False)
    policy: Policy = DEFAULT_POLICY
    model: str | None = None
    limit_tokens: int | None = None

    def step(
        self,
        state: SamplerState,
        boundary: Boundary,
        payload: Mapping[str, Any],
        *,
        now: datetime,
    ) -> tuple[SamplerState, tuple[Event, ...]]:
        """Sample at one hook: `begin` and `complete` in one.

        Returns:
            The state to keep, and the events to append, in their order.
        """
        raise NotImplementedError

    def begin(
        self,
        state: SamplerState,
        boundary: Boundary,
        payload: Mapping[str, Any],
        *,
        now: datetime,
    ) -> tuple[SamplerState, Attempt | None]:
        """Decide what is to be done at a hook, and stamp it; nothing is read.

        Save the state before `complete` if the process can be killed while it reads.

        Returns:
            The stamped state, and what is to be done; None when it is nothing.
        """
        raise NotImplementedError

    def complete(
        self, state: SamplerState, attempt: Attempt
    ) -> tuple[SamplerState, tuple[Event, ...]]:
        """Read what *attempt* asks for, and return the state to keep and the events to append."""
        raise NotImplementedError

    def publish(
        self,
        state: SamplerState,
        observation: Observation,
        *,
        session_id: str,
        turn_id: str | None = None,
        agent_id: str | None = None,
        now: datetime,
    ) -> tuple[SamplerState, tuple[Event, ...]]:
        """Return the event of an *observation* that the caller made, if it is new.

        For payloads that are no hook's, such as a status line's.
        """
        raise NotImplementedError
