"""The status line's text at a glance, for payloads in which there is nothing to weigh.

A second reader beside the judge, with half of its duty: what it accepts it must tell in the judge's
very words, and it may leave anything to the judge. It takes what an agent sends all day (a measured
count, a window, and statements beside them that agree) and imports `json` alone, because the whole
house takes longer to import than an interpreter to start. A test holds it to the judge.
"""

from __future__ import annotations

import json

from ...adapters.claude import dialect as claude
from ...adapters.cursor import dialect as cursor
from ...figures import bar, context, counts, whole_percent
from .forms import WIDTH, lay_out

TYPE_CHECKING = False  # typing's own, without importing it
if TYPE_CHECKING:
    from typing import Any, TypeGuard

__all__ = ["text"]

_LARGEST = 256 * 1024  # bytes; a real payload has a few thousand
_MOST_BRACKETS = 256  # decoders differ in how deep they go; none gives up below this
_MOST_TOKENS = 2**53

# The judge's tolerances (one and a half points, and 0.15 for Cursor's tenths) with room to spare:
# what lies in between is the judge's to weigh.
_CLAUDE_ROUNDING = 1.25
_CURSOR_ROUNDING = 0.125

_PROMPT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_USAGE = frozenset({*_PROMPT, "output_tokens"})


class _Doubt(Exception):  # noqa: N818 - internal control flow
    pass


def text(raw: bytes, agent: str | None, form: str) -> str | None:
    """Return the text of the status line for the payload *raw*, or None to leave it to the judge.

    Args:
        raw: The payload as the agent handed it over.
        agent: Whose status line it is; None: as the payload shows.
        form: The form of the text.
    """
    payload = _decoded(raw)
    if payload is None:
        return None
    window = payload.get("context_window")
    if type(window) is not dict:
        return None
    is_cursors = not cursor.OWN_KEYS.isdisjoint(payload) and cursor.FOREIGN_KEYS.isdisjoint(payload)
    if is_cursors and agent != "claude":
        return _of_cursor(window, form)
    return _of_claude(payload, window, form) if agent != "cursor" else None


# -- decoding -------------------------------------------------------------------------------------


def _decoded(raw: bytes) -> dict[str, Any] | None:
    """Return the object in *raw* if no decoder could see another one in it, or refuse it."""
    if len(raw) > _LARGEST or raw.count(b"{") + raw.count(b"[") > _MOST_BRACKETS:
        return None
    try:
        payload = json.loads(
            raw.decode(),
            object_pairs_hook=_without_repeats,
            parse_constant=_refuse,
            parse_float=_finite,
        )
    except (ValueError, _Doubt):  # no JSON, no UTF-8, or digits without end
        return None
    return payload if type(payload) is dict else None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    decoded = dict(pairs)
    if len(decoded) < len(pairs):
        raise _Doubt
    return decoded


def _refuse(_: str) -> None:
    raise _Doubt


def _finite(digits: str) -> float:
    number = float(digits)
    if not -1e300 < number < 1e300:
        raise _Doubt
    return number


# -- Claude Code ----------------------------------------------------------------------------------


def _of_claude(payload: dict[str, Any], window: dict[str, Any], form: str) -> str | None:
    if not _is_clearly_claudes(payload, window):
        return None
    used, limit = _prompt(window.get("current_usage")), window.get("context_window_size")
    if not used or not _is_count(limit) or used > limit or not _agrees(window, used, limit):
        return None
    filled = bar(WIDTH * used // limit, WIDTH)
    return lay_out(form, filled, context(whole_percent(used, limit), counts(used, limit)))


def _is_clearly_claudes(payload: dict[str, Any], window: dict[str, Any]) -> bool:
    """Tell whether this is the status line of a version that states windows right."""
    version = payload.get("version")
    numbers = claude.release(version)
    return (
        numbers is not None
        and numbers < claude.FIRST_CALENDAR_VERSION
        and not claude.misstates_window(version)
        and claude.FOREIGN_KEYS.isdisjoint(payload)
        and claude.FOREIGN_WINDOW_KEYS.isdisjoint(window)
        and payload.get("hook_event_name", "Status") == "Status"
    )


def _prompt(usage: Any) -> int:
    """Return the tokens of the prompt, or 0 for a usage that is not its four counts and no more."""
    if type(usage) is not dict or usage.keys() != _USAGE or not all(map(_is_count, usage.values())):
        return 0
    return sum(usage[key] for key in _PROMPT)


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value <= _MOST_TOKENS


def _agrees(window: dict[str, Any], used: int, limit: int) -> bool:
    """Tell whether all that is stated beside the counts agrees with them."""
    percent, total = 100 * used / limit, window.get("total_input_tokens")
    return (
        (total is None or (type(total) is int and total == used))
        and _is_near(window.get("used_percentage"), percent, _CLAUDE_ROUNDING)
        and _is_near(window.get("remaining_percentage"), 100 - percent, _CLAUDE_ROUNDING)
    )


def _is_near(stated: object, expected: float, rounding: float) -> bool:
    if stated is None:
        return True
    return _is_share(stated) and expected - rounding <= stated <= expected + rounding


def _is_share(value: object) -> TypeGuard[float]:
    return type(value) in (int, float) and 0 <= value <= 100  # type: ignore[operator] # a number


# -- Cursor ---------------------------------------------------------------------------------------


def _of_cursor(window: dict[str, Any], form: str) -> str | None:
    percent = window.get("used_percentage")
    if not _is_share(percent) or not percent:
        return None
    digits = repr(float(percent))
    if len(digits.partition(".")[2]) != 1:  # more than the tenth that Cursor rounds to
        return None
    if not _is_near(window.get("remaining_percentage"), 100 - percent, _CURSOR_ROUNDING):
        return None
    size, total = window.get("context_window_size"), window.get("total_input_tokens")
    if not (_is_count(size) and _is_count(total) and size):
        return None
    if not _is_near(percent, 100 * total / size, _CURSOR_ROUNDING):
        return None
    share = context(f"{digits.removesuffix('.0')}%")
    return lay_out(form, bar(int(WIDTH * float(percent) / 100), WIDTH), share)
