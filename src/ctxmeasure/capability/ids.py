"""Model ids as runtimes write them: what may be normalised, what keeps a marker, what is refused.

An id is matched whole, in ASCII, untrimmed. Only rewrites that cannot change the window are made
(a cloud's prefix and suffix, a snapshot date's spelling); a name that moves, that a user chose or
that a router owns is refused by name instead. The rules are those of formats/models.md §3
(Anthropic's own page on model ids, the catalogue in Claude Code 2.1.332). Knows no table: whether a
candidate is a known model is `table`'s business. Imports nothing of ours.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache, lru_cache

from attrs import frozen

__all__ = ["LONG_CONTEXT_MARKER", "MAX_ID_CHARS", "IdRefusal", "ParsedId", "parse", "same_model"]

LONG_CONTEXT_MARKER = "[1m]"
"""Claude Code's suffix on a model string that asks for the 1,000,000-token window."""

MAX_ID_CHARS = 512
"""No model id is longer: an AWS profile ARN, the longest form, has about 150 characters."""

_MOVING_NAMES = frozenset({"best", "default", "fable", "haiku", "opus", "opusplan", "sonnet"})
# From 4.6 on, dateless Anthropic ids are pinned snapshots; before, they follow the newest date.
_FIRST_PINNED_VERSION = (4, 6)
_BEDROCK = (
    r"(?:(?:us|eu|apac|au|jp|in|us-gov|global)\.)?anthropic\."
    r"(?P<name>claude-[a-z0-9-]+?)(?:-v[0-9](?::[0-9])?)?"
)
_VERTEX = r"(?P<name>claude-[a-z0-9-]+?)(?:-v2)?@(?P<version>[0-9]{8}|default|latest)"
_MODEL_ARN = (
    r"arn:aws[a-z-]*:bedrock:[a-z0-9-]*:[0-9]*:(?:inference-profile|foundation-model)/(?P<tail>.+)"
)
_NUMBERED = r"claude-[a-z]+-(?P<major>[0-9]{1,3})(?:-(?P<minor>[0-9]{1,3}))?"


class IdRefusal(StrEnum):
    """Why an id names no one model whose window could be looked up."""

    UNPARSEABLE = "unparseable"
    """Empty, too long, or holding spaces, control characters or non-ASCII."""
    UNKNOWN_MARKER = "unknown-marker"
    """A bracketed suffix other than exactly one ``[1m]``."""
    SYNTHETIC = "synthetic"
    """``<synthetic>``: Claude Code's own rows, which no model wrote."""
    MOVING_ALIAS = "moving-alias"
    """A name whose target changes with time, plan or provider (``opus``, ``…-latest``)."""
    UNPINNED_ALIAS = "unpinned-alias"
    """``@default`` or ``@latest`` on an id that is not a pinned snapshot."""
    ROUTER_ID = "router-id"
    """A router's or gateway's name (``vendor/model``): the router sets its own window."""
    OPAQUE_ARN = "opaque-arn"
    """An AWS resource that hides its model."""


@frozen(kw_only=True)
class ParsedId:
    """An id in the spelling that the table uses.

    Attributes:
        candidate: The id without marker, cloud prefix and cloud suffix; not yet a known model.
        marker: ``"[1m]"`` when the id carried it (in any case), else None.
        platform: ``bedrock`` or ``vertex`` when the form is that cloud's, else None.
    """

    candidate: str
    marker: str | None = None
    platform: str | None = None


def parse(model_id: str, *, provider: str | None = None) -> ParsedId | IdRefusal:
    """Return *model_id* in the table's spelling, or why it can name no one model.

    Args:
        model_id: The id as the runtime wrote it, with or without a marker.
        provider: Whose id it is; the forms of the clouds that serve Claude are only looked for
            when this is ``anthropic`` or None.

    Returns:
        The parsed id, or an `IdRefusal`; never raises for any text.
    """
    if not model_id or len(model_id) > MAX_ID_CHARS or not _is_visible_ascii(model_id):
        return IdRefusal.UNPARSEABLE
    return _parse(model_id, claude=provider in (None, "anthropic"))


@lru_cache(maxsize=64)  # a stream names the same few models in every line
def _parse(model_id: str, *, claude: bool) -> ParsedId | IdRefusal:
    if model_id == "<synthetic>":
        return IdRefusal.SYNTHETIC
    bare, marker = _split_marker(model_id)
    if "[" in bare or "]" in bare:
        return IdRefusal.UNKNOWN_MARKER
    reading = _read(bare, claude=claude)
    if isinstance(reading, IdRefusal):
        return reading
    candidate, platform = reading
    return ParsedId(candidate=candidate, marker=marker, platform=platform)


def same_model(one: str, other: str) -> bool:
    """Tell whether two ids without markers name the same model.

    A snapshot's date and a cloud's spelling do not change the model (formats/models.md §3), and
    anything else does.
    """
    return _plain(one) == _plain(other)


def _plain(model_id: str) -> str:
    parsed = parse(model_id)
    plain = parsed.candidate if isinstance(parsed, ParsedId) else model_id
    head, _, date = plain.rpartition("-")
    return head if head and len(date) == 8 and date.isdigit() else plain


def _is_visible_ascii(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


def _split_marker(model_id: str) -> tuple[str, str | None]:
    stem = len(model_id) - len(LONG_CONTEXT_MARKER)
    if model_id[stem:].lower() == LONG_CONTEXT_MARKER and stem > 0:
        return model_id[:stem], LONG_CONTEXT_MARKER
    return model_id, None


def _read(bare: str, *, claude: bool) -> tuple[str, str | None] | IdRefusal:
    """Return (candidate, platform) of an id without marker."""
    if bare.startswith("arn:"):
        arn = _fullmatch(_MODEL_ARN, bare)
        profile = _fullmatch(_BEDROCK, arn["tail"]) if arn and claude else None
        return (profile["name"], "bedrock") if profile else IdRefusal.OPAQUE_ARN
    if "/" in bare:
        return IdRefusal.ROUTER_ID
    if bare in _MOVING_NAMES or bare.endswith("-latest"):
        return IdRefusal.MOVING_ALIAS
    if claude and (match := _fullmatch(_BEDROCK, bare)):
        return match["name"], "bedrock"
    if claude and (match := _fullmatch(_VERTEX, bare)):
        return _vertex(match["name"], match["version"])
    return bare, None


def _vertex(name: str, version: str) -> tuple[str, str] | IdRefusal:
    if version.isdigit():
        return f"{name}-{version}", "vertex"
    if version == "default" and _is_pinned(name):
        return name, "vertex"
    return IdRefusal.UNPINNED_ALIAS


def _is_pinned(name: str) -> bool:
    match = _fullmatch(_NUMBERED, name)
    if match is None:
        return False
    return (int(match["major"]), int(match["minor"] or 0)) >= _FIRST_PINNED_VERSION


def _fullmatch(pattern: str, text: str) -> re.Match[str] | None:
    return _compiled(pattern).fullmatch(text)


@cache  # bounded by the four patterns above; compiled on first use to keep imports cheap
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
