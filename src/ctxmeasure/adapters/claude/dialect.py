"""What tells Claude Code's payloads from those of the agents that copy them, and their versions.

Without an import of ours: the status line is drawn by a new process several times a minute, which
asks this before it asks anything else.
"""

from __future__ import annotations

__all__ = [
    "FIRST_CALENDAR_VERSION",
    "FOREIGN_KEYS",
    "FOREIGN_WINDOW_KEYS",
    "misstates_window",
    "release",
]

FOREIGN_KEYS = frozenset(
    {
        *("cursor_version", "autorun", "render_width_chars", "conversation_id"),  # Cursor
        *("product", "agent_state"),  # Antigravity
        *("schema_version", "trigger"),  # Grok Build
        *("metrics",),  # Qwen Code
        *("ai_used", "allow_all_enabled"),  # Copilot CLI
        *("contextTokens", "maxContextTokens", "sessionId"),  # Kimi Code
    }
)
"""Keys of a status line that Claude Code never writes, by the agent that does
(formats/other_agents.md, cursor.md)."""

FOREIGN_WINDOW_KEYS = frozenset(
    {
        *("current_context_tokens", "displayed_context_limit", "last_call_input_tokens"),  # Copilot
        *("context_tokens", "session_usage"),  # Grok Build
    }
)
"""The same of its ``context_window``."""

FIRST_CALENDAR_VERSION = (1000, 0, 0)
"""Cursor's CLI counts its versions by date."""

# Since 2.1.290 the window no longer depends on where the call goes. Before, 200,000 was stated for
# many a model that had 1,000,000 (formats/models.md §2.1, §5).
_STATES_WINDOWS_RIGHT = (2, 1, 290)


def release(version: object) -> tuple[int, int, int] | None:
    """Return the three numbers of a *version* such as ``2.1.332``, or None."""
    if not isinstance(version, str):
        return None
    numbers = version.partition("-")[0].split(".")
    if len(numbers) != 3 or not all(n.isascii() and n.isdigit() and len(n) < 9 for n in numbers):
        return None
    major, minor, patch = map(int, numbers)
    return major, minor, patch


def misstates_window(version: object) -> bool:
    """Tell whether this *version* is known to state wrong windows; an unknown one may be."""
    numbers = release(version)
    return numbers is None or numbers < _STATES_WINDOWS_RIGHT
