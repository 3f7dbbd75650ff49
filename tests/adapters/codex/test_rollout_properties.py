"""What holds for all rollouts, beside the suite of `test_conformance`."""

from __future__ import annotations

import json
from typing import Any

from codex_sessions import ROLLOUTS, Rollout, read, shown
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.evidence import Gap, Phase, TokenPair, UsedTokens
from ctxmeasure.testing.codex.rollout import RolloutWriter
from ctxmeasure.testing.codex.rows import turn, usage
from ctxmeasure.testing.hostile import WRONG
from ctxmeasure.testing.session import joined

# -- rows of others -------------------------------------------------------------------------------


FOREIGN = [dict(row) for row in RolloutWriter().strangers()]


@given(st.sampled_from(ROLLOUTS), st.data())
def test_rows_of_another_thread_change_nothing_wherever_they_stand(
    rollout: Rollout, data: st.DataObject
) -> None:
    rows = list(rollout.rows)
    places = st.tuples(st.integers(1, len(rows)), st.sampled_from(FOREIGN))
    for place, row in sorted(data.draw(st.lists(places, max_size=5)), key=lambda p: -p[0]):
        rows.insert(place, row)
    assert read(joined(rows)) == read(rollout.content)


@given(st.sampled_from(ROLLOUTS), st.integers(1, 5_000), st.binary(max_size=40), st.data())
def test_what_lies_before_the_window_changes_nothing(
    rollout: Rollout, window: int, noise: bytes, data: st.DataObject
) -> None:
    content = rollout.content
    head = rollout.ends[1]
    start = len(content) - window
    if start <= head + 1:
        return
    # Everything between the first row and the window is something else.
    between = (noise or b"\0").ljust(start - head, b"\n")[: start - head - 1] + b"x"
    other = content[:head] + between + content[start:]
    asked: dict[str, Any] = {"window": window, "budget": window + head}
    if rollout.turns:
        asked["turn_id"] = data.draw(st.none() | st.sampled_from(rollout.turns))
    asked["phase"] = data.draw(st.sampled_from(list(Phase)))
    assert read(other, **asked) == read(content, **asked)


# -- garbage --------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
KINDS = st.sampled_from(
    [
        "session_meta",
        "turn_context",
        "event_msg",
        "response_item",
        "token_usage_record",
        "compacted",
    ]
)
EVENTS = st.sampled_from(
    [
        "token_count",
        "task_started",
        "task_complete",
        "turn_aborted",
        "agent_message",
        "item_completed",
        "thread_rolled_back",
        "context_compacted",
        "function_call",
    ]
)
PAYLOADS = st.fixed_dictionaries(
    {},
    optional={
        "type": EVENTS,
        "id": JSON,
        "thread_id": JSON,
        "turn_id": JSON | st.just(turn(1)),
        "model_context_window": JSON,
        "info": JSON
        | st.fixed_dictionaries(
            {},
            optional={
                "last_token_usage": JSON | st.just(usage(5_000)),
                "total_token_usage": JSON | st.just(usage(5_000)),
                "model_context_window": JSON | st.just(258_400),
            },
        ),
        "usage": JSON | st.just(usage(5_000)),
        "item": JSON | st.just({"type": "ContextCompaction"}),
        "source": JSON,
        "history_base": JSON,
        "forked_from_id": JSON,
        "cli_version": JSON,
    },
)
ROWS = st.fixed_dictionaries(
    {},
    optional={
        "type": KINDS | JSON,
        "payload": PAYLOADS | JSON,
        "timestamp": st.just("2026-11-29T18:00:00.000Z") | JSON,
        "ordinal": JSON,
    },
)


@given(st.lists(ROWS, max_size=8), st.integers(1, 600), st.sampled_from(list(Phase)), st.data())
def test_no_rows_raise(
    rows: list[dict[str, Any]], window: int, phase: Phase, data: st.DataObject
) -> None:
    content = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    asked: dict[str, Any] = {"window": window, "phase": phase}
    asked["turn_id"] = data.draw(st.none() | st.just(turn(1)) | st.text(min_size=1, max_size=3))
    asked["session_id"] = data.draw(st.none() | st.text(min_size=1, max_size=3))
    found = read(content, **asked)
    if isinstance(found, UsedTokens):  # the only count that was written
        assert found.used_tokens == 5_000
    else:
        assert isinstance(found, Gap)


@given(st.binary(max_size=300), st.integers(1, 400))
def test_no_bytes_raise(content: bytes, window: int) -> None:
    if content.startswith(b"\x28\xb5\x2f\xfd"):
        return
    assert isinstance(read(content, window=window), Gap)


@st.composite
def spoilt(draw: st.DrawFn) -> tuple[Rollout, bytes]:
    """Draw a recording with one value of one row replaced by one of a wrong type."""
    rollout = draw(st.sampled_from([r for r in ROLLOUTS if len(r.content) < 70_000]))
    index = draw(st.integers(0, len(rollout.rows) - 1))
    row = json.loads(json.dumps(rollout.rows[index]))
    place: Any = row
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = draw(st.sampled_from(keys))
        below = place[key]
        if not isinstance(below, dict | list) or not below or draw(st.booleans()):
            place[key] = draw(st.sampled_from(WRONG))
            break
        place = below
    return rollout, joined([*rollout.rows[:index], row, *rollout.rows[index + 1 :]])


@given(spoilt(), st.sampled_from(list(Phase)))
def test_no_wrong_type_makes_a_number_up(read_of: tuple[Rollout, bytes], phase: Phase) -> None:
    rollout, content = read_of
    found = read(content, phase=phase)
    true = {shown(read(rollout.first(count))) for count in range(len(rollout.rows) + 1)}
    if isinstance(found, UsedTokens):
        assert found.used_tokens in true
    if isinstance(found, TokenPair):
        assert found.limit_tokens in {258_400, 272_000, 475_000}
