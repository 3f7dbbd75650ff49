"""The event lines and answers of Pi, with the keys of 1.6.0 that matter.

Every field can be overridden, which is how a test makes its one mistake.
"""

from __future__ import annotations

from typing import Any

from ..session import ABSENT, without_absent

__all__ = ["answer", "edit", "message_end", "turn_end"]


def message_end(message: dict[str, Any]) -> dict[str, Any]:
    """Return the event that a *message* is complete."""
    return {"type": "message_end", "message": message}


def turn_end(message: dict[str, Any], *results: dict[str, Any]) -> dict[str, Any]:
    """Return the event that a turn has ended, with its reply and its tools' results."""
    return {"type": "turn_end", "message": message, "toolResults": list(results)}


def answer(command: str, data: Any = ABSENT, **fields: Any) -> dict[str, Any]:
    """Return an answer of the RPC mode."""
    form = {"id": "r1", "type": "response", "command": command, "success": True, "data": data}
    return dict(without_absent({**form, **fields}))


def edit(**fields: Any) -> dict[str, Any]:
    """Return the event that a context edit was appended."""
    entry = {"type": "context_edit", "id": "b8f11201", "targetId": "9b541235", "replacement": None}
    return {"type": "entry_appended", "entry": {**entry, **fields}}
