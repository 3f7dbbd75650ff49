"""The verb of this room: which window does this model have, in this client, at this moment?

Pure look-ups in ``models.json``: no network, no clock, no file but the package's own. Every answer
is a row's, with its source and date; an id that is not a whole match of a row stays unresolved, and
so does one whose window something outside the id decides. The rules are those of formats/models.md
§4 (what an id can decide) and §2 (how Claude Code sizes windows). May import `model`, `ids` and
`rows`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import date, datetime
from functools import lru_cache

from attrs import evolve, frozen

from .ids import MAX_ID_CHARS, IdRefusal, parse
from .model import Capability, Certainty, ModelRef, Resolution, Unresolved
from .rows import Edition, Gate, ModelRow, Version, table, version_of

__all__ = ["Edition", "Identity", "ModelRow", "edition", "identify", "models", "resolve"]

_LONG_WINDOW = 1_000_000  # what the marker asks for, in every version of Claude Code
# What Claude Code holds every model to that could have more, once CLAUDE_CODE_DISABLE_1M_CONTEXT is
# set or an account is out of long-context credits (formats/models.md §2).
_REDUCED_WINDOW = 200_000
_CLOUDS = frozenset({"bedrock", "vertex", "foundry"})
# Clients that keep windows of their own under the vendors' ids and publish no table of them.
_PRIVATE_WINDOWS = frozenset({"cursor", "copilot"})
# The provider of a client's own table when the runtime names none.
_HOME_PROVIDER = {"codex": "openai", "pi": None}
# Distinct (model, client, version) of a process: a handful per session, some dozens in a whole
# machine's history. An entry is below 1 KiB.
_CACHE_ENTRIES = 512


@frozen(kw_only=True)
class Identity:
    """The model that an id names.

    Attributes:
        row: The vendor's row.
        marker: ``"[1m]"`` when the id carries the long-context marker, else None.
        platform: ``bedrock`` or ``vertex`` when the id's form is that cloud's, else None.
    """

    row: ModelRow
    marker: str | None
    platform: str | None

    @property
    def canonical(self) -> str:
        """The canonical id."""
        return self.row.id


def resolve(
    model: ModelRef,
    *,
    client: str | None = None,
    client_version: str | None = None,
    at: datetime | None = None,
) -> Resolution:
    """Return the window of *model*, or why it cannot be told.

    Args:
        model: The model as the runtime named it. A ``[1m]`` in the id counts as the marker.
        client: Whose window is asked for: ``claude`` (Claude Code), ``codex`` or ``pi``, which
            size windows by tables of their own; None, or another name, asks for the window on the
            vendor's own platform.
        client_version: The client's version as it states it.
        at: The moment of the measurement; aware. None takes the newest rows.

    Returns:
        A `Capability` with the window in tokens, its certainty, its source and that source's date;
        or an `Unresolved`: ambiguous when the model is known and its window is not decided, not
        ambiguous when the id is unknown, names no one model, or is unknown to the client (or to
        that version of it), so that any window the client states for it is the client's guess.

    Raises:
        TypeError: An argument has the wrong type.
        ValueError: *at* has no time zone.
    """
    if not isinstance(model, ModelRef):
        raise TypeError("model: expected a ModelRef")
    if client is not None and not isinstance(client, str):
        raise TypeError("client: expected a str or None")
    if client_version is not None and not isinstance(client_version, str):
        raise TypeError("client_version: expected a str or None")
    day = _turning_day(at)
    if max(len(model.id), len(model.provider or ""), len(model.platform or "")) > MAX_ID_CHARS:
        return Unresolved(ambiguous=False, why=IdRefusal.UNPARSEABLE.value)
    return _resolve(model, client, version_of(client_version), day)


def identify(model_id: str, *, provider: str | None = None) -> Identity | Unresolved:
    """Return the model of the vendors' tables that *model_id* names.

    Args:
        model_id: The id as the runtime wrote it, with or without a marker.
        provider: Whose id it is; None takes the only provider that lists it.

    Returns:
        The identity, or an `Unresolved` whose ``why`` is an `IdRefusal`, ``unknown-model`` or
        ``provider-not-stated``.
    """
    parsed = parse(model_id, provider=provider)
    if isinstance(parsed, IdRefusal):
        return Unresolved(ambiguous=False, why=parsed.value)
    rows = table().vendors_rows(parsed.candidate)
    found = [row for row in rows if provider in (None, row.provider)]
    if not found:
        return Unresolved(ambiguous=False, why="unknown-model")
    if len(found) > 1:
        return Unresolved(ambiguous=True, why="provider-not-stated")
    if parsed.marker and found[0].provider != "anthropic":
        return Unresolved(ambiguous=False, why=IdRefusal.UNKNOWN_MARKER.value)
    return Identity(row=found[0], marker=parsed.marker, platform=parsed.platform)


def models() -> Iterator[ModelRow]:
    """Iterate over every row of the table: the vendors', then each client's."""
    return iter(table())


def edition() -> Edition:
    """Return the table's version and the day on which its sources were gathered."""
    return table().edition


def _turning_day(at: datetime | None) -> date:
    """Return the last day, up to *at*, on which any window changed: one answer for each span."""
    if at is not None and not isinstance(at, datetime):
        raise TypeError("at: expected a datetime or None")
    if at is not None and at.utcoffset() is None:
        raise ValueError("at: expected an aware datetime (with a time zone)")
    points = table().turning_points
    passed = len(points) if at is None else bisect_right(points, at)
    return points[passed - 1].date() if passed else date.min


@lru_cache(maxsize=_CACHE_ENTRIES)
def _resolve(model: ModelRef, client: str | None, version: Version | None, day: date) -> Resolution:
    if client in _HOME_PROVIDER:
        return _listed(model, client, version, day)
    identity = identify(model.id, provider=model.provider)
    if isinstance(identity, Unresolved):
        return identity
    row = identity.row
    marker = True if identity.marker else model.long_context_marker
    if marker and row.provider != "anthropic":
        return Unresolved(ambiguous=False, why=IdRefusal.UNKNOWN_MARKER.value)
    if row.why == IdRefusal.MOVING_ALIAS:
        return Unresolved(ambiguous=False, why=row.why)
    if client in _PRIVATE_WINDOWS:
        return Unresolved(ambiguous=True, why="client-decides")
    if client == "claude":
        return _in_claude_code(row, marker, model.platform or identity.platform, version, day)
    if row.why is not None:
        return Unresolved(ambiguous=True, why=row.why)
    return _marked(row, row, marker, day)


def _listed(model: ModelRef, client: str, version: Version | None, day: date) -> Resolution:
    """Resolve in a client's own table, joined by provider and id exactly as written."""
    provider = model.provider or _HOME_PROVIDER[client]
    if provider is None:
        return Unresolved(ambiguous=True, why="provider-not-stated")
    rows = table().clients_rows(client, provider, model.id)
    if not rows:
        return Unresolved(ambiguous=False, why="unknown-model")
    if model.long_context_marker:
        return Unresolved(ambiguous=False, why=IdRefusal.UNKNOWN_MARKER.value)
    if version is None:
        # No version: the newest row; one that newer versions dropped is only a default.
        span = rows[-1].span(day)
        certainty = Certainty.DEFAULTED if rows[-1].before else span.certainty
        found = _capability(rows[-1], rows[-1], span.windows, certainty)
        is_in_some = rows[0].since is not None or rows[-1].before is not None
        return evolve(found, is_version_assumed=is_in_some)
    for row in rows:
        if row.listed_in(version):
            span = row.span(day)
            return _capability(row, row, span.windows, span.certainty)
    return Unresolved(ambiguous=False, why="client-version")


def _in_claude_code(
    row: ModelRow,
    marker: bool | None,
    platform: str | None,
    version: Version | None,
    day: date,
) -> Resolution:
    own = table().clients_rows("claude", row.provider, row.id)
    if not own:  # another vendor's model, behind a gateway: Claude Code only guesses
        return Unresolved(ambiguous=False, why="unknown-to-client")
    if own[0].gate is not None and not marker:
        windows, certainty = _gated(own[0].gate, own[0].span(day).windows, platform, version)
        found = _capability(row, own[0], windows, certainty)
    else:
        found = _marked(row, own[0], marker, day)
    if found.window_tokens < _LONG_WINDOW:
        return found
    return evolve(found, reduced_window_tokens=_REDUCED_WINDOW)


def _gated(
    gate: Gate, windows: tuple[int, ...], platform: str | None, version: Version | None
) -> tuple[tuple[int, ...], Certainty]:
    """Return the windows that a version behind *gate* may hold a model to, and the certainty.

    Between its two versions, Claude Code held the model to a short window on other clouds, and
    behind a custom base URL, which no row tells. A version that is not known may be one of those.
    """
    either = (gate.held_window_tokens, *windows)
    if version is not None and version < gate.known_since:
        return either, Certainty.UNDECIDED
    if version is not None and version >= gate.gone_in:
        return windows, Certainty.DECIDED
    if platform in _CLOUDS:
        decided = gate.spares_clouds
        return (windows, Certainty.DECIDED) if decided else (either, Certainty.UNDECIDED)
    return windows, Certainty.DEFAULTED


def _marked(row: ModelRow, own: ModelRow, marker: bool | None, day: date) -> Capability:
    """Resolve in *own*, given whether the session asked for the long window."""
    span = own.span(day)
    windows, certainty = span.windows, span.certainty
    if marker and windows[-1] < _LONG_WINDOW:
        # Claude Code counts against the long window for any id with the marker; the API refuses.
        refused = (*windows, _LONG_WINDOW)
        return _capability(row, own, refused, Certainty.DECIDED, marker_unsupported=True)
    if marker is not None and len(windows) == 2:
        return _capability(row, own, windows[1:] if marker else windows[:1], Certainty.DECIDED)
    return _capability(row, own, windows, certainty)


def _capability(
    row: ModelRow,
    own: ModelRow,
    windows: tuple[int, ...],
    certainty: Certainty,
    *,
    marker_unsupported: bool = False,
) -> Capability:
    return Capability(
        canonical=row.id,
        provider=row.provider,
        window_tokens=windows[0],
        larger_window_tokens=windows[1] if len(windows) > 1 else None,
        certainty=certainty,
        marker_unsupported=marker_unsupported,
        max_input_tokens=row.max_input_tokens,
        max_output_tokens=row.max_output_tokens,
        source=own.sources[0].name,
        as_of=own.sources[0].as_of,
    )
