"""How Harnery's event ledger names what we measure: agents, methods and sources of an event.

Its own name is used where our method is the same measurement; our names are used for all else. From
formats/harnery.md §1.7.
"""

from __future__ import annotations

from attrs import frozen

__all__ = [
    "MISSING",
    "NAMES",
    "UNSUPPORTED",
    "SourceName",
    "adapter_id",
    "safe_token",
    "source_name",
]

_TOKEN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/+-")
_LONGEST_TOKEN = 128
_FALLBACK = "agent"

_ADAPTERS = {"claude": "claude-code"}


@frozen
class SourceName:
    """How the ledger names a method.

    Attributes:
        method: The name of the method.
        source_event: The name of the event that it comes from, without the agent's version.
    """

    method: str
    source_event: str


# By our method. A payload that the runtime hands over is the agent's native context.
NAMES = {
    "claude_transcript_usage_model_capability": SourceName(
        "claude_transcript_usage_model_capability", "claude.transcript_usage_model_capability"
    ),
    "codex_transcript_token_count": SourceName(
        "codex_transcript_token_count", "codex.rollout_token_count"
    ),
    "cursor_composer_context_percent": SourceName(
        "cursor_composer_context_percent", "cursor.composer_context_percent"
    ),
    "cursor_hook": SourceName("cursor_hook", "cursor.native_context"),
    "claude_status_line": SourceName("claude_status_line", "claude-code.native_context"),
    "cursor_status_line": SourceName("cursor_status_line", "cursor.native_context"),
}

MISSING = "runtime_context"
"""What a named missing state comes from, after the agent's name."""
UNSUPPORTED = "turn-context"
"""What an unsupported one comes from, after the agent's name."""


def adapter_id(adapter: str) -> str:
    """Return the ledger's name of the agent whose room is *adapter*."""
    return safe_token(_ADAPTERS.get(adapter, adapter))


def source_name(adapter: str, source: str, method: str) -> SourceName:
    """Return how the ledger names *method*; a method that it has no name for keeps its own.

    Its event is then named after our source: ``codex.app_server``, ``claude-code.stream``.
    """
    known = NAMES.get(method)
    if known is not None:
        return known
    base = next((name for name in NAMES if method.startswith(f"{name}_")), None)
    if base is not None:  # a declared or assumed limit: the same rows, and another limit
        return SourceName(method, NAMES[base].source_event)
    own = source.partition(".")[2]
    return SourceName(safe_token(method), safe_token(adapter_id(adapter), own))


def safe_token(*parts: str | None) -> str:
    """Return *parts*, joined by dots, as the ledger writes a name: nothing else can stand there."""
    joined = ".".join(part for part in parts if part)
    token = "".join(letter if letter in _TOKEN else "_" for letter in joined)[:_LONGEST_TOKEN]
    return token if token[:1].isalnum() else _FALLBACK
