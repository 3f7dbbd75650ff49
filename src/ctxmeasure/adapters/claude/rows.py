"""What all sources of Claude Code share: how it writes model names.

The session's own model string (``requestedModel`` of a row, ``model`` of ``system/init``) keeps the
long-context marker ``[1m]``; the API's echo in ``message.model`` never has it. The prefix of a
``message.id`` tells where the call went (formats/claude.md §1.4).
"""

from __future__ import annotations

from functools import lru_cache

from ...capability.ids import MAX_ID_CHARS, same_model
from ...capability.model import ModelRef

__all__ = [
    "DEFAULT_WINDOWS",
    "SYNTHETIC_MODEL",
    "model_ref",
    "same_model",
]

SYNTHETIC_MODEL = "<synthetic>"
"""The model of rows that Claude Code writes itself (errors, local commands); no call was made."""

DEFAULT_WINDOWS = frozenset({200_000, 1_000_000})
"""What Claude Code states for a model it does not know: 200,000 up to 2.1.316, 1,000,000 since, and
200,000 again with ``CLAUDE_CODE_DISABLE_1M_CONTEXT`` (formats/models.md §2)."""

# A session has a handful of models and versions, and thousands of rows that name them.
_CACHE_ENTRIES = 64

_PLATFORMS = {"msg_01": "first_party", "msg_bdrk_": "bedrock", "msg_vrtx_": "vertex"}


def model_ref(
    named: object, *, requested: object = None, message_id: object = None
) -> ModelRef | None:
    """Return the model that Claude Code names as *named*, or None when that is no model.

    Args:
        named: The id as written, with or without a long-context marker.
        requested: The session's own model string, which keeps the marker. It is evidence about
            the marker, present or absent, only if it names the same model as *named*.
        message_id: The ``message.id`` of the response.
    """
    if not isinstance(named, str) or not named or named == SYNTHETIC_MODEL:
        return None
    wish = requested if isinstance(requested, str) else ""
    if max(len(named), len(wish)) > MAX_ID_CHARS:  # no model's: not worth keeping
        return _model_ref.__wrapped__(named, wish, _platform(message_id))
    return _model_ref(named, wish, _platform(message_id))


@lru_cache(_CACHE_ENTRIES)
def _model_ref(named: str, requested: str, platform: str | None) -> ModelRef:
    model = ModelRef.as_started(named)
    marker: bool | None = model.long_context_marker or None
    if marker is None and requested:
        asked = ModelRef.as_started(requested)
        if same_model(asked.id, model.id):
            marker = asked.long_context_marker
    return ModelRef(id=model.id, long_context_marker=marker, platform=platform)


def _platform(message_id: object) -> str | None:
    if not isinstance(message_id, str):
        return None
    for prefix, platform in _PLATFORMS.items():
        if message_id.startswith(prefix):
            return platform
    return None
