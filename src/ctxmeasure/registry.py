"""The table of all sources; the only room that imports the adapters.

Built-in sources are named here with the module that declares them and are imported when they are
asked for. Third parties add sources by the entry-point group ``ctxmeasure.sources``: the entry's
name is the source's id and its object a `Source`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module

from .source import Hooks, PayloadSource, Source, StoreSource, StreamSource, TailSource
from .whereabouts import Whereabouts

__all__ = [
    "AGENTS_ON_DISK",
    "ENTRY_POINT_GROUP",
    "HOOKED_AGENTS",
    "find",
    "hooks",
    "ids",
    "sources",
    "whereabouts",
]

ENTRY_POINT_GROUP = "ctxmeasure.sources"

_BUILT_IN = {
    "claude.transcript": ("claude.transcript", "TRANSCRIPT"),
    "claude.stream": ("claude.stream", "STREAM"),
    "claude.status_line": ("claude.status_line", "STATUS_LINE"),
    "claude.context_usage": ("claude.context_usage", "CONTEXT_USAGE"),
    "claude.hook": ("claude.hook", "HOOK"),
    "codex.rollout": ("codex.rollout", "ROLLOUT"),
    "codex.app_server": ("codex.app_server", "APP_SERVER"),
    "codex.exec": ("codex.exec", "EXEC"),
    "codex.hook": ("codex.hook", "HOOK"),
    "cursor.hook": ("cursor.hook", "HOOK"),
    "cursor.status_line": ("cursor.status_line", "STATUS_LINE"),
    "cursor.chat_store": ("cursor.chat_store", "CHAT_STORE"),
    "cursor.composer": ("cursor.composer", "COMPOSER"),
    "pi.session": ("pi.session", "SESSION"),
    "pi.stream": ("pi.stream", "STREAM"),
    "pi.rpc": ("pi.rpc", "RPC"),
    "acp.session": ("acp.session", "SESSION"),
    "text": ("text", "TEXT"),
}

HOOKED_AGENTS = ("claude", "codex", "cursor")
"""The agents whose hooks are known."""


AGENTS_ON_DISK = ("claude", "codex", "cursor", "pi")
"""The agents whose sessions lie on a disk, and whose room says where."""


def whereabouts(agent: str) -> Whereabouts:
    """Return how the sessions of *agent* are found.

    Raises:
        ValueError: The sessions of no agent of this name lie on a disk.
    """
    if agent not in AGENTS_ON_DISK:
        raise ValueError(f"agent: expected one of {', '.join(AGENTS_ON_DISK)}")
    module = import_module(f"{__package__}.adapters.{agent}.whereabouts")
    found: Whereabouts = module.WHEREABOUTS
    return found


def find(source_id: str) -> Source:
    """Return the source with the id *source_id*.

    Raises:
        TypeError: *source_id* is not a str, or a plug-in's object is not a `Source`.
        ValueError: No source has this id, or a plug-in's source has another one.
    """
    if not isinstance(source_id, str):
        raise TypeError("source: expected a Source or a source id")
    found = _built_in(source_id) if source_id in _BUILT_IN else _plugged_in(source_id)
    if not isinstance(found, TailSource | PayloadSource | StreamSource | StoreSource):
        raise TypeError(f"source: the plug-in for this id in {ENTRY_POINT_GROUP!r} is no Source")
    if found.id != source_id:
        raise ValueError(
            f"source: the plug-in in {ENTRY_POINT_GROUP!r} has another id than its entry"
        )
    return found


def hooks(agent: str) -> Hooks:
    """Return what the hooks of *agent* are good for.

    Raises:
        ValueError: No hooks of an agent with this name are known.
    """
    if agent not in HOOKED_AGENTS:
        raise ValueError(f"agent: expected one of {', '.join(HOOKED_AGENTS)}")
    found: Hooks = import_module(f"{__package__}.adapters.{agent}.hook").HOOKS
    return found


def ids() -> tuple[str, ...]:
    """Return the ids of all sources, built-in ones first."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow to import, rarely needed

    plugged_in = {entry.name for entry in entry_points(group=ENTRY_POINT_GROUP)}
    return (*_BUILT_IN, *sorted(plugged_in - _BUILT_IN.keys()))


def sources() -> Iterator[Source]:
    """Yield all sources, built-in ones first."""
    return map(find, ids())


@cache  # every reading asks; what is imported stays imported
def _built_in(source_id: str) -> object:
    module, name = _BUILT_IN[source_id]
    return getattr(import_module(f"{__package__}.adapters.{module}"), name)


def _plugged_in(source_id: str) -> object:
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow to import, rarely needed

    for entry in entry_points(group=ENTRY_POINT_GROUP, name=source_id):
        return entry.load()
    raise ValueError("source: no source has this id; see ctxmeasure.registry.ids()")
