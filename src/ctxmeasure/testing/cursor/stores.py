"""Chats of Cursor as its databases hold them: those of the IDE, and those of the CLI."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from ..databases import CHAT_TABLES, STATE_TABLES
from ..planting import MARK
from ..session import Answer, Statement, StoreWriter, Truth

__all__ = ["ChatStoreWriter", "ComposerWriter", "message"]

_LIMIT = 200_000
_CHAT = f"{MARK}-0000-4000-8000-0000000000c1"


def message(*fields: tuple[int, int | bytes]) -> bytes:
    """Return the protocol buffer with *fields*: of each the number, and an int or bytes."""
    return b"".join(
        _varint(number << 3) + _varint(value)
        if isinstance(value, int)
        else _varint(number << 3 | 2) + _varint(len(value)) + value
        for number, value in fields
    )


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])


class _ChatWriter(StoreWriter):
    """Writes one chat, and knows what its database shows."""

    def __init__(self) -> None:
        super().__init__()
        self._seen = Truth.missing("not_measured_yet")

    def answers(self) -> Iterator[Answer]:
        """Return what is seen of the chat; of a turn or a sub-agent nothing can be."""
        yield Answer(self._seen, session_id=_CHAT)
        yield Answer(self._seen, session_id=_CHAT, phase="active")
        yield Answer(Truth.missing("remote_session"), session_id="bc-in-the-cloud")
        yield Answer(Truth.missing("session_mismatch"), session_id=_CHAT, agent_id="an-agent")


class ComposerWriter(_ChatWriter):
    """Writes the IDE's state database: the document of a chat."""

    tables: ClassVar[tuple[str, ...]] = STATE_TABLES
    steps: ClassVar[tuple[str, ...]] = (
        "open",
        "count",
        "count_in_percent",
        "count_alone",
        "count_and_disagree",
        "empty",
    )

    def answers(self) -> Iterator[Answer]:
        """Return what is seen of the chat, and of one that is not there."""
        yield from super().answers()
        yield Answer(Truth.missing("session_not_found"), session_id="another")

    def begin(self) -> None:
        """Write that there are no heads, and what must never be read."""
        self._seen = Truth.missing("session_not_found")
        insert = "INSERT INTO ItemTable VALUES (?, ?)"
        self.execute(insert, "composer.composerData", json.dumps({"allComposers": []}))
        self.execute(insert, "cursorAuth/accessToken", MARK)

    def _document(self, **fields: Any) -> None:
        clock = int(self.now.timestamp() * 1000)
        stated = {"composerId": _CHAT, "name": MARK, "text": MARK, "lastUpdatedAt": clock}
        model = {"modelConfig": {"modelName": f"/home/{MARK}"}}
        bubbles = {"fullConversationHeadersOnly": [{"bubbleId": MARK}]}
        document = json.dumps({**stated, **model, **bubbles, **fields})
        sql = "INSERT INTO cursorDiskKV VALUES (?, ?)"  # replaces: its key is unique
        self.execute(sql, f"composerData:{_CHAT}", document)

    def open(self, size: int) -> None:  # noqa: ARG002 - every step has a size
        """Open the chat, in which nothing was said."""
        self._seen = Truth.missing("not_measured_yet")
        self._document(fullConversationHeadersOnly=[])

    def _counts(self, used: int, limit: int) -> dict[str, int]:
        return {"contextTokensUsed": used, "contextTokenLimit": limit}

    def count(self, size: int) -> None:
        """Write both counts, with their percentage or without it."""
        used = self.fresh()
        self._seen = Truth.tokens(used, _LIMIT, self.now)
        share = {"contextUsagePercent": 100 * used / _LIMIT} if size % 2 else {}
        self._document(**self._counts(used, _LIMIT), **share)

    def count_in_percent(self, size: int) -> None:
        """Write the percentage alone, with 0 for the counts."""
        self._seen = Truth.percent(30.5 + size, self.now)
        self._document(contextUsagePercent=30.5 + size, **self._counts(0, 0))

    def count_alone(self, size: int) -> None:  # noqa: ARG002 - as above
        """Write the used count and no limit."""
        used = self.fresh()
        self._seen = Truth.missing("limit_not_reported", used_tokens=used)
        self._document(**self._counts(used, 0))

    def count_and_disagree(self, size: int) -> None:
        """Write counts and a percentage that is not theirs."""
        used = self.fresh()
        self._seen = Truth.missing("sources_disagree", used_tokens=used)
        self._document(**self._counts(used, _LIMIT), contextUsagePercent=3 + size)

    def empty(self, size: int) -> None:  # noqa: ARG002 - as above
        """Empty the document, as a chat that is archived."""
        self._seen = Truth.missing("usage_not_reported")
        self.execute("INSERT INTO cursorDiskKV VALUES (?, NULL)", f"composerData:{_CHAT}")

    def foreign(self) -> Iterable[Statement]:
        """Return what is written of another chat."""
        document = json.dumps({"composerId": "c2", **self._counts(77_000, 100_000)})
        sql = "INSERT INTO cursorDiskKV VALUES (?, ?)"
        yield Statement(sql, ("composerData:c2", document))


class ChatStoreWriter(_ChatWriter):
    """Writes the database of a chat of the CLI: roots, and the pointer to the newest one."""

    tables: ClassVar[tuple[str, ...]] = CHAT_TABLES
    steps: ClassVar[tuple[str, ...]] = (
        "open",
        "count",
        "abandon",
        "count_alone",
        "count_nothing",
        "lose",
    )

    def answers(self) -> Iterator[Answer]:
        """Return what is seen of the chat, and of one that the database is not of."""
        yield from super().answers()
        yield Answer(self._seen)
        yield Answer(Truth.missing("session_mismatch"), session_id="another")

    def begin(self) -> None:
        """Open the chat."""
        self.open(0)

    def _point_to(self, root: str) -> None:
        stated = {"agentId": _CHAT, "latestRootBlobId": root, "name": MARK}
        secret = {"lastUsedModel": f"/home/{MARK}", "blobEncryptionKey": MARK}
        meta = json.dumps({**stated, **secret}).encode().hex()
        self.execute("INSERT OR REPLACE INTO meta VALUES ('0', ?)", meta)

    def _keep(self, used: int, limit: int) -> str:
        """Write a root with these counts; return its id. Nothing points to it yet."""
        counts = [(number, count) for number, count in ((1, used), (2, limit)) if count]
        details = message(*counts, (3, message((1, 999_999))))
        said = message((1, MARK.encode()), (8, bytes(32)), (5, details))
        root = f"{self.number:064x}"
        self.execute("INSERT OR REPLACE INTO blobs VALUES (?, ?)", root, said)
        return root

    def _still(self) -> None:
        """Let what is seen be as old as the file's last write."""
        if self._seen.measured_at is not None:
            self._seen = Truth.tokens(*self._pair, self.now)

    def _show(self, seen: Truth, used: int, limit: int) -> None:
        self._still()
        root = self._keep(used, limit)
        self._pair = (used, limit)
        self._seen = seen if seen.reason else Truth.tokens(used, limit, self.now)
        self._point_to(root)

    def open(self, size: int) -> None:  # noqa: ARG002 - every step has a size
        """Point to no root: nothing was said."""
        self._seen = Truth.missing("not_measured_yet")
        self._point_to("")

    def count(self, size: int) -> None:  # noqa: ARG002 - as above
        """Write a root with both counts, and point to it."""
        self._show(Truth(), self.fresh(), _LIMIT)

    def abandon(self, size: int) -> None:  # noqa: ARG002 - as above
        """Write the root of a branch that is abandoned: the newest row, and not the newest root."""
        self._still()
        self._keep(77_000, _LIMIT)

    def count_alone(self, size: int) -> None:  # noqa: ARG002 - as above
        """Write a root with a used count and no maximum."""
        used = self.fresh()
        self._show(Truth.missing("limit_not_reported", used_tokens=used), used, 0)

    def count_nothing(self, size: int) -> None:  # noqa: ARG002 - as above
        """Write a root whose counts are not set."""
        self._show(Truth.missing("not_measured_yet"), 0, _LIMIT)

    def lose(self, size: int) -> None:
        """Point to a root that is not there."""
        self._seen = Truth.missing("chain_broken")
        self._point_to(f"f{size:063x}")

    def foreign(self) -> Iterable[Statement]:
        """Return what is written that no pointer leads to."""
        stray = message((5, message((1, 77_000), (2, 100_000))))
        yield Statement("INSERT OR REPLACE INTO blobs VALUES ('stray', ?)", (stray,))
