"""The rows of ``models.json`` as types, and the indexes that look-ups need.

A row says how large a model's window is on its vendor's own platform or, with a client, what that
client makes of it: Claude Code, Codex and Pi size windows by tables of their own. The file is
package data, written by ``scripts/build_models.py``; it is read once, on the first look-up. May
import `model`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from typing import Any, TypeAlias

from attrs import field, frozen

from .model import Certainty

__all__ = [
    "Edition",
    "Gate",
    "ModelRow",
    "Source",
    "Span",
    "Table",
    "Version",
    "table",
    "version_of",
]

Version: TypeAlias = tuple[int, ...]
"""A client's version as numbers that compare."""


@frozen(kw_only=True)
class Source:
    """Where a window was read.

    Attributes:
        name: The source and its version.
        as_of: The date of what was read.
    """

    name: str
    as_of: date


@frozen(kw_only=True)
class Span:
    """The windows an id could have in a span of days.

    Attributes:
        windows: One window, or the smaller and the larger of two, in tokens.
        certainty: How far the id decides between them.
        first_day: The first day of the span, UTC.
        end_day: The day after its last, UTC.
    """

    windows: tuple[int, ...]
    certainty: Certainty = Certainty.DECIDED
    first_day: date = date.min
    end_day: date = date.max


@frozen(kw_only=True)
class Gate:
    """How versions of a client came to size a model at its long window without being asked.

    Attributes:
        held_window_tokens: The window that versions before and behind the gate hold the model to.
        known_since: The first version known to size the model at its own window at all.
        gone_in: The first version that does so on every platform.
        spares_clouds: Versions in between do so on other clouds too.
    """

    held_window_tokens: int
    known_since: Version
    gone_in: Version
    spares_clouds: bool


@frozen(kw_only=True)
class ModelRow:
    """One model on one platform, or in one client.

    Attributes:
        client: The client whose own window this is (``claude``, ``codex``, ``pi``); None for the
            vendor's platform.
        provider: Whose platform or table the row describes.
        id: The canonical id.
        ids: Every listed spelling of it, each pinned to this model.
        pattern: An anchored regular expression for spellings that cannot be listed (snapshot
            dates), or None.
        window_tokens: The published window, in tokens; None if no source states one.
        max_input_tokens: The published input cap, if it is not the window.
        max_output_tokens: The published output cap.
        spans: The windows by day, oldest first, without gaps.
        why: Why the id gives no window (``moving-alias``, ``client-decides``, ``one-source``,
            ``sources-disagree``), or None.
        since: The first version of the client known to list it; None if always.
        before: The first version of the client known not to list it any more.
        gate: How versions of the client came to size its long window, or None.
        sources: The sources that state the window (or list the id, if none does), best first.
    """

    client: str | None
    provider: str
    id: str
    ids: tuple[str, ...]
    pattern: str | None
    window_tokens: int | None
    max_input_tokens: int | None
    max_output_tokens: int | None
    spans: tuple[Span, ...]
    why: str | None
    since: Version | None
    before: Version | None
    gate: Gate | None
    sources: tuple[Source, ...]

    def span(self, day: date) -> Span:
        """Return the span that *day* lies in; the newest when it lies in none."""
        for span in self.spans:
            if span.first_day <= day < span.end_day:
                return span
        return self.spans[-1]

    def listed_in(self, version: Version) -> bool:
        """Return whether *version* of the client lists the model, as far as is known."""
        return (self.since is None or version >= self.since) and (
            self.before is None or version < self.before
        )


@frozen(kw_only=True)
class Edition:
    """Which table this is.

    Attributes:
        version: The table's own version.
        as_of: The day on which its sources were gathered.
    """

    version: str
    as_of: date


_Line: TypeAlias = Mapping[str, Any]
"""One line of ``models.json``: one row, or one for each model of a client's group."""


@frozen(kw_only=True)
class Table:
    """The lines of the file by what they list; a line becomes rows when it is asked for.

    Attributes:
        edition: Which table this is.
        turning_points: The midnights (UTC) at which any window changes, ascending.
    """

    edition: Edition
    turning_points: tuple[datetime, ...]
    _sources: Mapping[str, Source] = field(repr=False)
    _lines: tuple[_Line, ...] = field(repr=False)
    _by_id: Mapping[str, list[_Line]] = field(repr=False)
    _by_pattern: tuple[_Line, ...] = field(repr=False)
    _by_client: Mapping[tuple[str, str, str], list[_Line]] = field(repr=False)

    def __iter__(self) -> Iterator[ModelRow]:
        """Iterate over every row: the vendors', then each client's."""
        return (
            _row(line, model_id, self._sources)
            for line in self._lines
            for model_id in line.get("models") or (line["id"],)
        )

    def vendors_rows(self, model_id: str) -> tuple[ModelRow, ...]:
        """Return the vendors' rows that *model_id* matches whole: listed, else by a pattern."""
        lines = self._by_id.get(model_id) or [
            line
            for line in self._by_pattern
            if model_id.startswith(line["id"]) and re.fullmatch(line["pattern"], model_id)
        ]
        return tuple(_row(line, line["id"], self._sources) for line in lines)

    def clients_rows(self, client: str, provider: str, model_id: str) -> tuple[ModelRow, ...]:
        """Return a client's rows of a model, by versions of the client, oldest first."""
        lines = self._by_client.get((client, provider, model_id), ())
        return tuple(_row(line, model_id, self._sources) for line in lines)


@cache
def table() -> Table:
    """Return the table; the first call reads the package's ``models.json``."""
    # importlib.resources would cost more than all the rest of a first look-up.
    from pkgutil import get_data  # noqa: PLC0415 - paid by the first look-up only

    import orjson  # noqa: PLC0415 - paid by the first look-up only

    raw = orjson.loads(get_data(__name__, "models.json") or b"")
    lines: tuple[_Line, ...] = tuple(raw["rows"])
    by_id: dict[str, list[_Line]] = defaultdict(list)
    by_client: dict[tuple[str, str, str], list[_Line]] = defaultdict(list)
    for line in lines:
        if "client" not in line:
            for model_id in line.get("ids") or (line["id"],):
                by_id[model_id].append(line)
        else:
            for model_id in line.get("models") or (line["id"],):
                by_client[line["client"], line["provider"], model_id].append(line)
    turning_days = {
        span["from"] for line in lines for span in line.get("spans", ()) if "from" in span
    }
    return Table(
        edition=Edition(version=raw["table_version"], as_of=date.fromisoformat(raw["as_of"])),
        turning_points=tuple(
            datetime.fromisoformat(day).replace(tzinfo=UTC) for day in sorted(turning_days)
        ),
        sources={
            key: Source(name=each["name"], as_of=date.fromisoformat(each["as_of"]))
            for key, each in raw["sources"].items()
        },
        lines=lines,
        by_id=by_id,
        by_pattern=tuple(line for line in lines if "pattern" in line),
        by_client=by_client,
    )


_LONGEST_VERSION = 29  # three numbers of nine digits


def version_of(text: str | None) -> Version | None:
    """Return the numbers that *text* (``2.1.332``, ``0.130.0-alpha.1``) begins with.

    Returns:
        None when it does not begin with at least two numbers: the version is then not known.
    """
    return _numbers((text or "")[:_LONGEST_VERSION])


@lru_cache(maxsize=64)  # a session has a handful of versions, and thousands of rows that state them
def _numbers(text: str) -> Version | None:
    match = re.match(r"[0-9]{1,9}(?:\.[0-9]{1,9}){1,2}", text)
    return tuple(map(int, match[0].split("."))) if match else None


def _row(line: _Line, model_id: str, sources: Mapping[str, Source]) -> ModelRow:
    window = line.get("window")
    spans = line.get("spans") or ([{"windows": [window]}] if window is not None else ())
    return ModelRow(
        client=line.get("client"),
        provider=line["provider"],
        id=model_id,
        ids=tuple(line.get("ids", (model_id,))),
        pattern=line.get("pattern"),
        window_tokens=window,
        max_input_tokens=line.get("input"),
        max_output_tokens=line.get("output"),
        spans=tuple(map(_span, spans)),
        why=line.get("why"),
        since=_version(line["since"]) if "since" in line else None,
        before=_version(line["before"]) if "before" in line else None,
        gate=_gate(line["gate"]) if "gate" in line else None,
        sources=tuple(sources[key] for key in line["by"]),
    )


def _gate(raw: Mapping[str, Any]) -> Gate:
    return Gate(
        held_window_tokens=raw["held"],
        known_since=_version(raw["known"]),
        gone_in=_version(raw["gone"]),
        spares_clouds=raw.get("spares_clouds", False),
    )


def _version(text: str) -> Version:
    return tuple(map(int, text.split(".")))


def _span(raw: Mapping[str, Any]) -> Span:
    return Span(
        windows=tuple(raw["windows"]),
        certainty=Certainty(raw.get("certainty", "decided")),
        first_day=date.fromisoformat(raw["from"]) if "from" in raw else date.min,
        end_day=date.fromisoformat(raw["to"]) if "to" in raw else date.max,
    )
