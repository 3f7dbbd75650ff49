"""What tells the Cursor CLI's status line from Claude Code's, whose field names it took.

Without an import of ours: the status line is drawn by a new process several times a minute, which
asks this before it asks anything else.
"""

from __future__ import annotations

__all__ = ["FOREIGN_KEYS", "OWN_KEYS"]

OWN_KEYS = frozenset({"autorun", "render_width_chars"})
"""Keys that only Cursor writes."""

FOREIGN_KEYS = frozenset({"cost", "exceeds_200k_tokens"})
"""Claude Code's, which has them in every status line (formats/claude.md §3)."""
