"""How counts and shares are spelled for people: the digits, and nothing of what they mean.

On the ground floor and without an import, so that a status line, which is a new process several
times a minute, spells its numbers exactly as `render` does without paying for the types.
"""

from __future__ import annotations

__all__ = ["bar", "context", "counts", "decimal", "plain", "short", "thousands", "whole_percent"]


def short(tokens: int) -> str:
    """Return *tokens* as a short count: ``999``, ``90K``, ``1.05M``; rounded half up."""
    if tokens < 1_000:
        return str(tokens)
    if tokens < 999_500:
        return thousands(tokens)
    hundredths = (tokens + 5_000) // 10_000
    fraction = f".{hundredths % 100:02}".rstrip("0").rstrip(".")
    return f"{hundredths // 100}{fraction}M"


def thousands(tokens: int) -> str:
    """Return *tokens* in thousands, however many: ``0K``, ``1050K``; rounded half up."""
    return f"{(tokens + 500) // 1_000}K"


def counts(used_tokens: int, limit_tokens: int) -> str:
    """Return two short counts: ``90K/200K``."""
    return f"{short(used_tokens)}/{short(limit_tokens)}"


def whole_percent(used_tokens: int, limit_tokens: int, *, floor: bool = False) -> str:
    """Return the share that is used as a whole percentage, not clamped.

    Args:
        used_tokens: The tokens in use.
        limit_tokens: What they are a share of.
        floor: Cut further digits off; else the share is rounded half up.
    """
    halves = 0 if floor else limit_tokens
    return f"{(200 * used_tokens + halves) // (2 * limit_tokens)}%"


def decimal(share: float, *, decimals: int = 1, floor: bool = False) -> str:
    """Return a percentage with at most *decimals* digits behind the point, rounded half up.

    Args:
        share: The percentage.
        decimals: How many digits there may be; a single 0 is left out.
        floor: Cut further digits off instead.
    """
    from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal  # noqa: PLC0415 - for percentages only

    # People read the decimal digits: as binary fractions, some halves lie below the half.
    last_digit = Decimal(1).scaleb(-decimals)
    rounded = Decimal(repr(share)).quantize(last_digit, ROUND_FLOOR if floor else ROUND_HALF_UP)
    return f"{str(rounded).removesuffix('.0')}%"


def context(percent: str, detail: str = "") -> str:
    """Return the line on a context: ``Context: 45%``, with *detail* in parentheses."""
    return f"Context: {percent} ({detail})" if detail else f"Context: {percent}"


def bar(filled: int, width: int, cell: str = "#") -> str:
    """Return a bar of *width* cells of which at most *filled* are: ``[####------]``."""
    filled = min(width, filled)
    return f"[{cell * filled}{'-' * (width - filled)}]"


def plain(text: str) -> str:
    """Return *text* with all that could command a terminal or break the line replaced."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else "\ufffd" for character in text)
