"""How Cursor's sessions are found: `places` says where its databases lie.

A store of the CLI, ACP or the SDK holds one chat; ``meta.json`` beside it names the working folder
of the CLI's (formats/cursor.md §2.6). A state database of the IDE lists many. Nothing tells a
sub-agent's store from a chat's without reading what is never looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...bounded.fields import text
from ...whereabouts import Label, Machine, Place, Whereabouts
from .composer import LISTS, listed_chats
from .places import places

__all__ = ["WHEREABOUTS"]


def _places(machine: Machine) -> tuple[Place, ...]:
    return places(
        machine.system,
        machine.home,
        windows_home=machine.windows_home,
        environment=machine.environment,
    )


def _label(meta: Mapping[str, Any]) -> Label:
    return Label(folder=text(meta, "cwd"))


WHEREABOUTS = Whereabouts(
    agent="cursor",
    places=_places,
    beside=("meta.json", _label),
    chats={"cursor.composer": (LISTS, listed_chats)},
)
