"""What is known of a model's context window, with a source and a date for every row.

`resolve` answers for one model at one moment: a `Capability`, or an `Unresolved` that says whether
the id is unknown or its window cannot be told from what is given. The table lives in
``models.json`` and is loaded on first use. Imports nothing of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .model import Capability, Certainty, ModelRef, Resolution, Unresolved

if TYPE_CHECKING:
    from .table import resolve

__all__ = ["Capability", "Certainty", "ModelRef", "Resolution", "Unresolved", "resolve"]


def __getattr__(name: str) -> object:
    if name == "resolve":
        from .table import resolve  # noqa: PLC0415 - the look-ups are loaded on first use

        return resolve
    raise AttributeError(name)
