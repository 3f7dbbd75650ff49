"""The source for agents that print plain text and report nothing: it never measures.

A runner that drives several backends gives each a stream and asks all alike; this is the one for
``kiro-cli chat``, ``gemini -p``, ``amp -x``, ``opencode run`` and the like, as runners start them
(formats/pi_ralph.md §9). No line is decoded or kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...evidence import Channel, Evidence, Gap, Origin, Query
from ...observation import MissingReason
from ...source import StreamSource

__all__ = ["TEXT"]


def _relevant(_line: bytes) -> bool:
    return False


def _step(state: None, _row: Mapping[str, Any], _query: Query) -> None:
    return state


def _evidence(_state: None, _query: Query) -> Evidence:
    return Gap(reason=MissingReason.SOURCE_UNSUPPORTED)


TEXT = StreamSource(
    origin=Origin(adapter="text", source="text", method="text", channel=Channel.HANDED_OVER),
    about="The plain text of an agent that reports nothing: never a number",
    initial=None,
    relevant=_relevant,
    step=_step,
    evidence=_evidence,
    peak=_evidence,
)
