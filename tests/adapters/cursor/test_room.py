"""The room of Cursor's sources: imported one by one, and no word of a payload leaves it."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest

import ctxmeasure as cm
from ctxmeasure import record, render
from ctxmeasure.adapters import cursor
from ctxmeasure.adapters.cursor import hook as hook_module
from ctxmeasure.adapters.cursor import status_line as status_line_module
from ctxmeasure.testing.cursor.payloads import PRE_COMPACT, SESSION, STATUS_LINE, hook

AT = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)
MARK = "SENTINEL"


def test_a_name_is_that_of_its_module() -> None:
    # Asked of the hook itself, because an import elsewhere may have set the attribute by now.
    assert cursor.__getattr__("HOOK") is hook_module.HOOK
    assert cursor.__getattr__("query_from_hook") is hook_module.query_from_hook
    assert cursor.__getattr__("STATUS_LINE") is status_line_module.STATUS_LINE


def test_a_name_that_is_not_there_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        cursor.nothing  # noqa: B018


def test_a_status_line_pays_for_itself_only() -> None:
    program = (
        "import sys; from ctxmeasure import cursor; cursor.STATUS_LINE;"
        "print(*(m for m in sys.modules if m.startswith('ctxmeasure.adapters.cursor.')))"
    )
    result = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = {name.rpartition(".")[2] for name in result.stdout.split()}
    assert loaded == {"dialect", "payload", "status_line"}


def planted(value: Any, key: str = "") -> Any:
    """Return *value* with a sentinel in the place of every text but the event's name."""
    match value:
        case str() if value and key != "hook_event_name":
            return f"/home/{MARK}/{key}"
        case dict():
            return {name: planted(inner, name) for name, inner in value.items()}
        case list():
            return [planted(inner, key) for inner in value]
    return value


@pytest.mark.parametrize(
    ("source", "payload"),
    [
        ("cursor.hook", PRE_COMPACT),
        ("cursor.hook", {**PRE_COMPACT, "context_usage_percent": 55}),
        ("cursor.hook", {**PRE_COMPACT, "context_tokens": 0}),
        ("cursor.hook", {**PRE_COMPACT, "context_tokens": f"/home/{MARK}"}),
        ("cursor.hook", hook("stop", input_tokens=7)),
        ("cursor.hook", hook("sessionStart", is_background_agent=True)),
        ("cursor.status_line", STATUS_LINE),
        ("cursor.status_line", {**STATUS_LINE, "context_window": {"used_percentage": None}}),
    ],
)
def test_no_word_of_a_payload_leaves(source: str, payload: dict[str, Any]) -> None:
    for session_id in (None, f"/home/{MARK}/session_id", SESSION):
        observation = cm.observe(source, planted(payload), at=AT, session_id=session_id)
        said = [repr(observation), record.dumps(observation), render.summary(observation)]
        said += [render.gauge(observation), render.explain(observation, at=AT)]
        assert MARK not in "\n".join(said)
        assert SESSION not in "\n".join(said)
