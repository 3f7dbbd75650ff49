"""A glance says what the judge says, or nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from command_line import CLAUDE
from hypothesis import example, given
from hypothesis import strategies as st

from ctxmeasure.cli.swift import glance, judged
from ctxmeasure.testing.cursor.payloads import status_line

AT = datetime(2026, 11, 29, 18, 0, tzinfo=UTC)
FORMS = ("full", "summary", "bar")
AGENTS = (None, "claude", "cursor")
RECORDED = [
    line
    for path in sorted(CLAUDE.parent.glob("*/h-tui*/statusline.jsonl"))
    for line in path.read_bytes().splitlines()
]
REAL: dict[str, Any] = json.loads(
    (CLAUDE / "h-tui" / "statusline.jsonl").read_bytes().splitlines()[-1]
)


def claudes(window: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """Return the recorded payload, changed; ... drops a key."""
    numbers = {**REAL["context_window"], **(window or {})}
    payload = {
        **REAL,
        "context_window": {key: value for key, value in numbers.items() if value is not ...},
        **fields,
    }
    return {key: value for key, value in payload.items() if value is not ...}


def encoded(payload: Any) -> bytes:
    return json.dumps(payload).encode()


def agrees(raw: bytes) -> bool:
    """See that whatever a glance says is what the judge says; return whether it said anything."""
    told = False
    for agent in AGENTS:
        for form in FORMS:
            seen = glance.text(raw, agent, form)
            if seen is not None:
                assert seen == judged.text(raw, agent, form, at=AT)
                told = True
    return told


@pytest.mark.parametrize("raw", RECORDED)
def test_a_glance_at_a_recorded_line_says_what_the_judge_says(raw: bytes) -> None:
    measured = json.loads(raw)["context_window"]["current_usage"]
    assert agrees(raw) == bool(measured and sum(measured.values()))


def test_most_recorded_lines_with_a_usage_are_settled_at_a_glance() -> None:
    assert sum(map(agrees, RECORDED)) > 3


def test_a_glance_spells_what_the_issue_shows() -> None:
    usage = {
        "input_tokens": 10,
        "cache_creation_input_tokens": 990,
        "cache_read_input_tokens": 89_000,
        "output_tokens": 5,
    }
    raw = encoded(
        claudes(
            {
                "current_usage": usage,
                "total_input_tokens": 90_000,
                "used_percentage": 45,
                "remaining_percentage": 55,
            }
        )
    )
    assert glance.text(raw, None, "full") == "[####------] Context: 45% (90K/200K)"
    assert glance.text(raw, "claude", "summary") == "Context: 45% (90K/200K)"
    assert glance.text(raw, "claude", "bar") == "[####------]"
    assert glance.text(encoded(status_line()), None, "full") == "[#---------] Context: 16.7%"


# -- everything around the real shapes ------------------------------------------------------------

counts = st.one_of(
    st.integers(0, 2_000_000),
    st.sampled_from([0, 1, 199_999, 200_000, 200_001, 1_000_000, 2**53, 2**53 + 1, 2**64, 2**70]),
)
oddities = st.one_of(
    st.none(),
    st.booleans(),
    st.text(max_size=3),
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)
sizes = st.sampled_from([200_000, 1_000_000, 256_000, 1, 0, 128_000])


@st.composite
def windows(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a window whose statements agree, or nearly, with one of them replaced now and then."""
    size = draw(st.one_of(sizes, counts))
    used = draw(st.integers(0, max(1, size) + 10))
    written, read = draw(st.integers(0, used)), draw(st.integers(0, 10))
    share = 100 * used / size if size else 0.0
    off = draw(
        st.sampled_from([0, 0, 0, 0.05, 0.1, 0.125, 0.15, 0.2, 1, 1.25, 1.3, 1.5, 1.6, -1.5])
    )
    percent = draw(st.sampled_from([round(share), round(share, 1), share, round(share) + off]))
    window: dict[str, Any] = {
        "context_window_size": size,
        "used_percentage": percent,
        "remaining_percentage": draw(
            st.sampled_from([100 - percent, 100 - share, 100 - share + off])
        ),
        "total_input_tokens": draw(st.sampled_from([used, used, used, used + 1, float(used)])),
        "total_output_tokens": 12,
        "current_usage": {
            "input_tokens": used - written,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": 0,
            "output_tokens": read,
        },
    }
    window["current_usage"].update(
        draw(
            st.dictionaries(
                st.sampled_from(["output_tokens", "input_tokens", "iterations", "other"]),
                oddities,
                max_size=1,
            )
            if draw(st.integers(0, 3)) == 0
            else st.just({})
        )
    )
    changed = draw(
        st.dictionaries(
            st.sampled_from([*window, "context_tokens", "anything"]),
            st.one_of(oddities, counts, st.just(...)),
            max_size=draw(st.sampled_from([0, 0, 0, 1])),
        )
    )
    return {**window, **changed}


versions = st.sampled_from(
    [
        "2.1.332",
        "2.1.290",
        "2.1.289",
        "2.1.131",
        "999.0.0",
        "1000.0.0",
        "2.1.332-beta",
        "2026.08.11",
    ]
)
models = st.sampled_from(
    [
        {"id": "claude-sonnet-4-5-20250929"},
        {"id": "claude-opus-4-6[1m]"},
        {"id": "claude-opus-5"},
        {"id": "no-such-model"},
        {"id": "<synthetic>"},
        {},
        None,
    ]
)
keys = st.sampled_from(
    [
        *("cost", "exceeds_200k_tokens", "autorun", "render_width_chars", "trigger", "product"),
        *("hook_event_name", "tasks", "session_id", "prompt_id", "version", "agent_id", "x"),
    ]
)


@st.composite
def payloads(draw: st.DrawFn) -> Any:
    """Draw a payload of either agent, or one that could be taken for it."""
    window = draw(oddities if draw(st.integers(0, 9)) == 0 else windows())
    fields = {
        **draw(
            st.dictionaries(
                keys, st.one_of(oddities, st.just(...)), max_size=draw(st.sampled_from([0, 0, 1]))
            )
        ),
        "version": draw(versions),
        "model": draw(models),
    }
    made = draw(st.sampled_from([claudes, status_line]))(None, **fields)
    if isinstance(window, dict):
        window = {key: value for key, value in window.items() if value is not ...}
    return {**made, "context_window": window}


@given(payloads())
@example(status_line({"used_percentage": 0.0}))
@example(
    status_line({"used_percentage": 100, "remaining_percentage": 0, "total_input_tokens": 256000})
)
@example(claudes({"total_input_tokens": True}))
@example(claudes({"used_percentage": None, "remaining_percentage": ...}))
def test_whatever_a_glance_says_is_what_the_judge_says(payload: Any) -> None:
    agrees(encoded(payload))


@given(st.integers(1, 1_000_000), st.sampled_from([200_000, 1_000_000]), st.booleans())
def test_every_consistent_line_of_a_good_version_is_settled_at_a_glance(
    used: int, size: int, has_total: bool
) -> None:
    used = min(used, size)
    percent = round(100 * used / size)
    window = {
        "context_window_size": size,
        "used_percentage": percent,
        "remaining_percentage": 100 - percent,
        "total_input_tokens": used if has_total else None,
        "current_usage": {
            "input_tokens": used,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 7,
        },
    }
    assert agrees(encoded(claudes(window)))


@given(st.integers(1, 1000))
def test_every_consistent_line_of_cursor_is_settled_at_a_glance(tenths: int) -> None:
    window = {
        "used_percentage": tenths / 10,
        "remaining_percentage": round(100 - tenths / 10, 1),
        "total_input_tokens": round(tenths / 1000 * 256_000),
    }
    assert agrees(encoded(status_line(window)))


@given(st.data())
def test_bytes_that_decoders_could_read_differently_are_left_to_the_judge(
    data: st.DataObject,
) -> None:
    raw = encoded(claudes())
    place = data.draw(st.integers(0, len(raw)))
    piece = data.draw(
        st.binary(max_size=3) | st.sampled_from([b'"', b"{", b"\\", b"NaN", b"1e999"])
    )
    agrees(raw[:place] + piece + raw[place + data.draw(st.integers(0, 3)) :])


NAMED_TWICE = encoded(claudes())[:-1] + b',"version":"2.1.332"}'


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"{",
        NAMED_TWICE,
        encoded(claudes())[:-1] + b',"x":NaN}',
        encoded(claudes())[:-1] + b',"x":1e999}',
        encoded(claudes())[:-1] + b',"x":' + b"9" * 5000 + b"}",
        encoded(claudes())[:-1] + b',"x":"\xed\xa0\x80"}',
        encoded(claudes())[:-1] + b',"x":' + b"[" * 300 + b"]" * 300 + b"}",
        encoded(claudes(x="y" * 300_000)),
        encoded(claudes()).decode().encode("utf-16"),
        encoded({**REAL, "context_window": [1]}),
        encoded(claudes({"current_usage": None})),
        encoded(claudes({"used_percentage": "5"})),
        encoded(claudes({"used_percentage": 101})),
        encoded(claudes(version="2.1.200")),
        encoded(status_line({"used_percentage": 16.75})),
        encoded(status_line({"used_percentage": None})),
        encoded(status_line({"remaining_percentage": 80})),
        encoded(status_line({"context_window_size": 0})),
        encoded(status_line({"total_input_tokens": 90_000})),
    ],
)
def test_what_is_not_plain_is_left_to_the_judge(raw: bytes) -> None:
    assert {glance.text(raw, agent, "full") for agent in AGENTS} == {None}


def test_the_agent_that_is_named_is_the_one_that_is_read() -> None:
    assert glance.text(encoded(claudes()), "cursor", "full") is None
    assert glance.text(encoded(status_line()), "claude", "full") is None


def test_the_recordings_were_found() -> None:
    assert len(RECORDED) > 3
    assert Path(CLAUDE).is_dir()
