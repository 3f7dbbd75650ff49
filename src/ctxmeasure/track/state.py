"""How values that are remembered are read back from JSON data: strictly, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from attrs import Attribute

__all__ = ["State", "a_bool", "a_str", "restored"]


class State(Protocol):
    """A value that can be written as JSON data."""

    def to_dict(self) -> dict[str, Any]:
        """Return the value as JSON data."""


StateT = TypeVar("StateT", bound=State)


def a_str(_: object, attribute: Attribute[Any], value: object) -> None:
    """Check, as an attrs validator, that *value* is a str; the message does not repeat it."""
    if not isinstance(value, str):
        raise TypeError(f"{attribute.name}: expected a str")


def a_bool(_: object, attribute: Attribute[Any], value: object) -> None:
    """Check, as an attrs validator, that *value* is a bool."""
    if not isinstance(value, bool):
        raise TypeError(f"{attribute.name}: expected a bool")


def restored(state: Mapping[str, Any], structure: Callable[[Any], StateT]) -> StateT:
    """Return the value that *structure* makes of *state*, if it would be written as *state* again.

    Writing it again and comparing refuses all at once: unknown keys, absent ones, other spellings.

    Raises:
        ValueError: *state* is nothing that was written; the message carries no part of it.
    """
    # Nothing of the refusal is kept: its message can carry a part of the state.
    with suppress(ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
        value = structure(state)
        if value.to_dict() == state:
            return value
    raise ValueError("state: not what to_dict returns")
