"""The forms of a status line: what is put beside what."""

from __future__ import annotations

__all__ = ["FULL", "WIDTH", "lay_out"]

FULL = "full"
"""The form where none is asked for."""

WIDTH = 10
"""Cells of the bar: a tenth of the window each."""


def lay_out(form: str, bar: str, words: str) -> str:
    """Return *bar*, *words*, or both, as *form* has it; a missing bar leaves the words."""
    match form:
        case "summary":
            return words
        case "bar" if bar:
            return bar
        case _:
            return f"{bar} {words}" if bar else words
