"""What real rollouts show at every moment of their writing, held against what the server said.

A rollout grows by whole rows, but a reader can come at any byte, and see as little of the file as
its window holds. So the recordings are cut at every row and at two thousand bytes, and are read
through windows of every size.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from functools import cache
from itertools import groupby
from typing import Any

import pytest
from codex_sessions import ROLLOUTS, Rollout, Seen, read, shown

from ctxmeasure.evidence import Gap, Phase, TokenPair, UsedTokens

BY_NAME = {rollout.name: rollout for rollout in ROLLOUTS}

# What a reader sees while the rows are written, one after the other; repetitions are left out.
SHOWN: dict[str, list[Seen]] = {
    "codex/a-simple": ["not_measured_yet", 12_025],
    "codex/b-tools": ["not_measured_yet", 12_120, 12_760, 13_040],
    "codex/c-resume": ["not_measured_yet", 12_025, 12_530, 12_621],
    "codex/d-compact-auto": ["not_measured_yet", 150_500, "compacted", 9_133],
    "codex/e-context-exceeded": ["not_measured_yet", 12_025, "window_exceeded"],
    "codex/e-error-500": ["not_measured_yet", 12_025],
    "codex/f-subagent": ["not_measured_yet", 15_120, 15_329, 15_731],
    "codex/f-subagent/sub-agent": ["not_measured_yet", 2_121],
    "codex/g-unknown-model": ["not_measured_yet", 15_025],
    "codex/h-tui": ["not_measured_yet", 40_120, 103_006, "compacted", 21_033],
    "codex-0.120.0/a-simple": ["not_measured_yet", 12_025],
    "codex-0.120.0/b-tools": ["not_measured_yet", 12_120, 12_760, 13_040],
    # No envelope and no usage.
    "v0.20.0_bare_items_no_usage": ["usage_not_reported"],
    # No turn ids; the window is the whole one, 272,000, in these two.
    "v0.36.0_no_turn_ids_raw_window": ["not_measured_yet", 14_120, 14_580],
    "v0.44.0_info_null_stale_repeat_272000": ["not_measured_yet", 14_120, 14_580],
    # The sum begins anew, and `info` is null again, when the session is resumed.
    "v0.77.0_resume_resets_total": ["not_measured_yet", 14_120, 14_580, 15_160],
    # The last info of the first turn is the first row of the second.
    "v0.98.0_resume_keeps_total_no_brackets": ["not_measured_yet", 14_120, 14_580, 15_160],
    "v0.115.0_two_turns_stale_repeat": ["not_measured_yet", 14_120, 14_580, 15_160],
    # 40 rows are the parent's, with the fork's timestamps.
    "v0.130.0_fork_replays_parent": ["not_measured_yet", "carried_over", 62_540],
    "v0.130.0_parent_spawn_rollback": [
        "not_measured_yet",
        14_100,
        60_100,
        61_100,
        61_540,
        61_840,
        "estimate_only",
        "rewound",
        60_540,
    ],
    # A compaction, an interruption, a compaction by the old model at a switch of models, an
    # exceeded window, and a recovery; then a turn that failed.
    "v0.171.0_compact_abort_modelswitch_exceeded": [
        "not_measured_yet",
        14_100,
        40_100,
        120_100,
        "compacted",
        15_600,
        "compacted",
        15_850,
        "window_exceeded",
        18_100,
    ],
    "v0.171.0_fork_paginated_no_replay": ["not_measured_yet", 62_540],
    "v0.171.0_parent_of_subagent_v2": [
        "not_measured_yet",
        14_100,
        60_100,
        61_100,
        61_540,
        61_840,
        60_540,
    ],
    # 24 rows are the parent's, without a count.
    "v0.171.0_subagent_v2_history_start": ["not_measured_yet", 62_040],
    "v0.171.0_two_turns": ["not_measured_yet", 14_120, 14_580, 15_160],
}

# What each turn has come to when it is over.
TURNS: dict[str, list[Seen]] = {
    "codex/a-simple": [12_025],
    "codex/b-tools": [13_040],
    "codex/c-resume": [12_025, 12_621],
    "codex/d-compact-auto": [9_133],
    "codex/e-context-exceeded": ["window_exceeded"],
    "codex/e-error-500": [12_025],
    "codex/f-subagent": [15_731],
    "codex/f-subagent/sub-agent": [2_121],
    "codex/g-unknown-model": [15_025],
    "codex/h-tui": [103_006, "carried_over", "compacted", 21_033],
    "codex-0.120.0/a-simple": [12_025],
    "codex-0.120.0/b-tools": [13_040],
    "v0.115.0_two_turns_stale_repeat": [14_580, 15_160],
    "v0.130.0_fork_replays_parent": ["carried_over", "carried_over", "carried_over", 62_540],
    "v0.130.0_parent_spawn_rollback": [14_100, 60_100, 61_840, 60_540],
    "v0.171.0_compact_abort_modelswitch_exceeded": [
        14_100,
        120_100,
        "compacted",
        15_600,
        "carried_over",
        15_850,
        "window_exceeded",
        18_100,
        "turn_not_found",
    ],
    "v0.171.0_fork_paginated_no_replay": [62_540],
    "v0.171.0_parent_of_subagent_v2": [14_100, 60_100, 61_840, 60_540],
    "v0.171.0_subagent_v2_history_start": ["carried_over", "carried_over", "carried_over", 62_040],
    "v0.171.0_two_turns": [14_580, 15_160],
}

WINDOWS = {
    "v0.36.0_no_turn_ids_raw_window": 272_000,
    "v0.44.0_info_null_stale_repeat_272000": 272_000,
    "v0.171.0_compact_abort_modelswitch_exceeded": 475_000,  # the last model's
}

each_rollout = pytest.mark.parametrize("rollout", ROLLOUTS, ids=lambda rollout: rollout.name)
each_with_turns = pytest.mark.parametrize(
    "rollout", [BY_NAME[name] for name in TURNS], ids=lambda rollout: rollout.name
)


def test_every_recorded_rollout_is_expected_to_show_something() -> None:
    assert SHOWN.keys() == BY_NAME.keys()
    assert TURNS.keys() == {rollout.name for rollout in ROLLOUTS if rollout.turns}


@cache
def shown_after(name: str) -> tuple[Seen, ...]:
    """Return what is shown when the first 0, 1, 2, ... rows are written."""
    rollout = BY_NAME[name]
    return tuple(shown(read(rollout.first(count))) for count in range(len(rollout.rows) + 1))


@each_rollout
def test_every_row_shows_the_truth_or_the_older_one_or_a_reason(rollout: Rollout) -> None:
    seen = [value for value, _ in groupby(shown_after(rollout.name))]
    assert seen == ["session_not_found", *SHOWN[rollout.name]]


@pytest.mark.parametrize("name", [name for name in SHOWN if name.startswith("codex")])
def test_what_is_shown_is_what_the_server_said(name: str) -> None:
    if name.endswith("/sub-agent"):
        calls = BY_NAME[name].truth["calls"]
        said = [call["total_tokens"] for call in calls if call["role"] == "subagent"]
    else:
        after = BY_NAME[name].truth["expected_after"]
        said = [
            "compacted" if call["used_tokens"] is None else call["used_tokens"] for call in after
        ]
    counted = [
        value for value in SHOWN[name] if value not in {"not_measured_yet", "window_exceeded"}
    ]
    assert counted == said


@each_rollout
def test_every_count_is_one_that_the_file_states(rollout: Rollout) -> None:
    found = read(rollout.content)
    if isinstance(found, Gap):
        assert rollout.name in {"codex/e-context-exceeded", "v0.20.0_bare_items_no_usage"}
        return
    assert isinstance(found, TokenPair)
    assert found.limit_tokens == WINDOWS.get(rollout.name, 258_400)
    assert found.runtime_version == rollout.rows[0]["payload"]["cli_version"]
    models = [row["payload"]["model"] for row in rollout.rows if row["type"] == "turn_context"]
    assert found.model is not None
    assert found.model.id == models[-1]


@each_with_turns
def test_every_turn_shows_what_it_came_to_and_not_before_it_is_over(rollout: Rollout) -> None:
    for turn_id, came_to in zip(rollout.turns, TURNS[rollout.name], strict=True):
        seen = [
            shown(read(rollout.first(count), turn_id=turn_id, phase=Phase.TERMINAL))
            for count in range(1, len(rollout.rows) + 1)
        ]
        steps = [value for value, _ in groupby(seen)]
        if came_to == "carried_over" and rollout.rows[0]["payload"].get("forked_from_id"):
            assert steps == ["carried_over"]  # a parent's: its id tells
        else:
            assert steps == ["turn_not_found", "turn_not_finished", came_to]
        assert shown(read(rollout.content, turn_id=turn_id)) == came_to


@each_with_turns
def test_a_turn_shows_the_same_sample_while_it_runs_and_when_it_is_over(rollout: Rollout) -> None:
    for turn_id in rollout.turns:
        over = read(rollout.content, turn_id=turn_id, phase=Phase.TERMINAL)
        if not isinstance(over, TokenPair):
            continue
        running = [
            found
            for count in range(1, len(rollout.rows) + 1)
            if isinstance(
                found := read(rollout.first(count), turn_id=turn_id, phase=Phase.ACTIVE), TokenPair
            )
            and found.used_tokens == over.used_tokens
        ]
        assert len(running) > 1
        facts = {(f.identity, f.measured_at, f.limit_tokens, f.model) for f in running}
        assert facts == {(over.identity, over.measured_at, over.limit_tokens, over.model)}
        assert over.identity
        assert over.turn_ended_at is not None


# -- cuts and windows -----------------------------------------------------------------------------

CUTS = 2_000


def test_a_rollout_cut_at_any_byte_shows_what_its_whole_rows_show() -> None:
    generator = random.Random(171)  # noqa: S311 - cuts, the same each time
    weights = [len(rollout.content) for rollout in ROLLOUTS]
    for rollout in generator.choices(ROLLOUTS, weights, k=CUTS):
        cut = generator.randrange(len(rollout.content) + 1)
        # The last row is whole as soon as its brace is there, line break or not.
        rows = bisect_right(rollout.ends, cut + 1) - 1
        window = 2 ** generator.randrange(9, 17)
        seen = shown(read(rollout.content[:cut], window=window))
        assert seen == shown_after(rollout.name)[rows], (rollout.name, cut, window)


@each_rollout
@pytest.mark.parametrize("window", [300, 900, 2_700, 8_100])
def test_no_window_shows_a_count_that_the_whole_file_does_not(
    rollout: Rollout, window: int
) -> None:
    for count, whole in enumerate(shown_after(rollout.name)):
        content = rollout.first(count)
        found = read(content, window=window, budget=window + 24_576)  # with the first row
        if isinstance(found, UsedTokens):
            assert shown(found) == whole
            assert found.measured_at == _time_of(read(content))
        assert shown(read(content, window=window)) == whole


def _time_of(found: object) -> object:
    assert isinstance(found, UsedTokens)
    return found.measured_at


@each_with_turns
def test_no_window_shows_a_turn_another_count(rollout: Rollout) -> None:
    for turn_id, came_to in zip(rollout.turns, TURNS[rollout.name], strict=True):
        for window in (300, 900, 2_700, 8_100):
            asked: dict[str, Any] = {"turn_id": turn_id, "phase": Phase.TERMINAL}
            short = read(rollout.content, window=window, budget=window + 24_576, **asked)
            assert shown(short) in {came_to, "budget_exhausted", "turn_not_finished"}
            assert shown(read(rollout.content, window=window, **asked)) == came_to
