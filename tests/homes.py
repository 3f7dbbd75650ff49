"""Homes with sessions of every agent, made of the recordings, for tests of what finds them.

Every session lies where its agent of that version keeps it, and each was last written to at a
second of its own.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from attrs import field, frozen

from ctxmeasure.testing import databases
from ctxmeasure.whereabouts import Machine, System

__all__ = ["AT", "Home"]

RECORDINGS = Path(__file__).parent / "recordings"
AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
"""After all that is recorded."""


@frozen
class Home:
    """A home folder below a test's own folder.

    Attributes:
        path: Where it lies.
        at: The moment that ages are counted from.
        written: The sessions that have been written to it.
    """

    path: Path
    at: datetime = AT
    written: list[Path] = field(factory=list)

    def machine(self, environment: Mapping[str, str] | None = None) -> Machine:
        """Return the machine that this is the home of."""
        return Machine(system=System.LINUX, home=str(self.path), environment=environment or {})

    def stamp(self, path: Path, *, age: timedelta) -> Path:
        """Say that *path* was last written to an *age* ago."""
        moment = (self.at - age).timestamp()
        os.utime(path, (moment, moment))
        self.written.append(path)
        return path

    def copy(self, recorded: str, below: str, *, minutes: float = 1) -> Path:
        """Copy the one recording that *recorded* matches to *below* the home."""
        (original,) = RECORDINGS.glob(recorded)
        path = self.path / below
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(original, path)
        return self.stamp(path, age=timedelta(minutes=minutes))

    def claude(
        self,
        run: str = "b-tools",
        name: str = "s",
        *,
        project: str = "-home-dev-project",
        **age: float,
    ) -> Path:
        """Write a session of the newest Claude Code."""
        below = f".claude/projects/{project}/{name}.jsonl"
        return self.copy(f"claude/{run}/session/*.jsonl", below, **age)

    def codex(self, run: str = "b-tools", **age: float) -> Path:
        """Write a session of the newest Codex, under its own name."""
        folder = RECORDINGS / f"codex/{run}/session"
        below = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.jsonl"))]
        return [self.copy(f"codex/{run}/session/{b}", f".codex/{b}", **age) for b in below][-1]

    def pi(self, run: str = "b-tools", **age: float) -> Path:
        """Write a session of the newest Pi, under its own name."""
        (original,) = RECORDINGS.glob(f"pi/{run}/session/*.jsonl")
        below = f".pi/agent/sessions/--home-dev-project--/{original.name}"
        return self.copy(f"pi/{run}/session/*.jsonl", below, **age)

    def cursor_chat(self, *, used: int = 20_736, limit: int = 256_000, minutes: float = 1) -> Path:
        """Write a chat of Cursor's CLI."""
        folder = self.path / ".cursor/chats/0f" / f"chat-{len(self.written)}"
        folder.mkdir(parents=True)
        (folder / "meta.json").write_text(json.dumps({"schemaVersion": 1, "cwd": "/home/dev/shop"}))
        meta = {"agentId": "native-chat", "latestRootBlobId": "ab", "lastUsedModel": "composer-2.5"}
        rows: dict[str, databases.Rows] = {
            "meta": {"0": json.dumps(meta).encode().hex()},
            "blobs": {"ab": _root(used, limit)},
        }
        path = databases.write(folder / "store.db", rows, tables=databases.CHAT_TABLES)
        return self.stamp(path, age=timedelta(minutes=minutes))

    def cursor_ide(
        self, *chats: dict[str, Any], documents: dict[str, Any] | None = None, minutes: float = 1
    ) -> Path:
        """Write the IDE's global database with a list of *chats* and their *documents*."""
        folder = self.path / ".config/Cursor/User/globalStorage"
        folder.mkdir(parents=True, exist_ok=True)
        listed = json.dumps({"allComposers": list(chats)})
        stored = {f"composerData:{key}": json.dumps(d) for key, d in (documents or {}).items()}
        rows: dict[str, databases.Rows] = {
            "ItemTable": {"composer.composerHeaders": listed},
            "cursorDiskKV": stored,
        }
        path = databases.write(folder / "state.vscdb", rows)
        return self.stamp(path, age=timedelta(minutes=minutes))


def _root(used: int, limit: int) -> bytes:
    details = b"\x08" + _varint(used) + b"\x10" + _varint(limit)
    return b"\x42\x01x" + b"\x2a" + _varint(len(details)) + details


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])
