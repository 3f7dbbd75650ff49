"""The types of the capability room: what is asked about a model and what is answered."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import TypeAlias

from attrs import field, frozen

__all__ = ["Capability", "Certainty", "ModelRef", "Resolution", "Unresolved"]


@frozen(kw_only=True)
class ModelRef:
    """A model as a runtime named it.

    Attributes:
        id: The id without a long-context marker, as written (``claude-opus-4-8``,
            ``us.anthropic.claude-opus-4-6-v1``).
        provider: Whose table the id belongs to (``anthropic``, ``openai``, ``google``, or a
            provider name of Pi); None when the runtime does not say.
        long_context_marker: True when the session's own evidence asks for the long window
            (``[1m]``), False when that evidence is there and does not ask, None when there is no
            evidence either way.
        platform: Where the call went when the session tells: ``first_party``, ``bedrock``,
            ``vertex``; None when it does not.
    """

    id: str
    provider: str | None = None
    long_context_marker: bool | None = None
    platform: str | None = None

    @classmethod
    def as_started(cls, text: str) -> ModelRef:
        """Return the model that an agent was started with, as *text* names it.

        A trailing ``[1m]`` asks for the long window; its absence says that nobody asked.

        Raises:
            ValueError: *text* is empty.
        """
        if not text:
            raise ValueError("model: expected at least one character")
        marked = text[-4:].lower() == "[1m]"
        return cls(id=text[:-4] if marked else text, long_context_marker=marked)


class Certainty(StrEnum):
    """How far a model id decides its window."""

    DECIDED = "decided"
    """The id (and marker) alone decides the window at the time asked."""
    DEFAULTED = "defaulted"
    """A documented default applies unless someone opted into the larger window."""
    UNDECIDED = "undecided"
    """A plan, a setting or a platform decides between the windows."""


@frozen(kw_only=True)
class Capability:
    """A row of the model table, resolved for one moment and one client.

    Attributes:
        canonical: The canonical model id of the row.
        provider: The provider whose platform the row describes.
        window_tokens: The window in force (for `Certainty.UNDECIDED`: the smaller candidate).
        larger_window_tokens: The only larger window this id can have, or None.
        reduced_window_tokens: A smaller window to which a setting of the client can hold this
            model (``CLAUDE_CODE_DISABLE_1M_CONTEXT``), or None.
        certainty: How far the id decides the window.
        marker_unsupported: The long-context marker was given although the provider no longer (or
            never) serves the long window for this id, so the client's own figure is in doubt.
        is_version_assumed: Only some versions of the client list the model, and its version is not
            known: others state a guess for it.
        max_input_tokens: The provider's input cap when it is not the window; None if unknown.
        max_output_tokens: The provider's output cap; None if unknown.
        source: Name of the source the window was taken from.
        as_of: Date of that source.
    """

    canonical: str
    provider: str
    window_tokens: int
    larger_window_tokens: int | None = None
    reduced_window_tokens: int | None = None
    certainty: Certainty = Certainty.DECIDED
    marker_unsupported: bool = False
    is_version_assumed: bool = False
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    source: str = ""
    as_of: date = field(default=date.min)


@frozen(kw_only=True)
class Unresolved:
    """No window can be told for this model.

    Attributes:
        ambiguous: The id is in the table but sources or settings give it different windows; False
            when the id is not in the table at all.
        why: A constant of the table (``unknown-model``, ``moving-alias``, ``unknown-marker``, ...);
            never a value from the data.
    """

    ambiguous: bool
    why: str


Resolution: TypeAlias = Capability | Unresolved
