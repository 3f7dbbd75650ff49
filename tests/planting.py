"""Sentinels for tests: what stands in the place of a session's own words, and is looked for."""

from __future__ import annotations

import re

__all__ = ["MARK", "holds_mark", "sentinel_for"]

MARK = "SENTINEL"
"""What every sentinel holds but those in the place of an id that tells the time."""

# The end of an id in whose place nothing but such an id can stand. Codex tells by the time in its
# ids which turns are older than a thread, and so are a parent's.
_ID_MARK = "5e4714e15e47"
_TIMED_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")

# What Claude Code itself says in the place of a prompt; it is told by how it begins.
_NOTICE = "[Request interrupted"


def sentinel_for(text: str, n: int) -> str:
    """Return the sentinel number *n*, which stands in the place of *text* and is of its kind.

    A path to a rollout is told by its folder and name, and stays one; so does a notice.
    """
    if _TIMED_ID.fullmatch(text):
        return f"{text[:15]}{n % 0x1000:03x}-8000-{_ID_MARK}"
    if text.startswith(_NOTICE):
        return f"{_NOTICE} {MARK} {n:06}]"
    if "/rollout-" in text:
        return f"/home/{MARK}/.codex/sessions/{MARK}/rollout-{n:06}.jsonl"
    return f"/home/{MARK}/{n:06}"


def holds_mark(said: str) -> bool:
    """Tell whether *said* holds a sentinel."""
    return MARK in said or _ID_MARK in said
