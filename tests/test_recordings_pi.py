"""Real Pi sessions end to end: what file, stream and answers say, held against Pi's own meter.

``truth.json`` knows each call's counts, ``own-context-usage.jsonl`` what Pi's own meter said at
each of its events, ``expected_pi_context_usage.json`` what Pi 1.6.0 makes of each file of other
versions.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from typing import Any

import pytest
from pi_rows import AT, ROOT, RUNS, VERSION_SESSIONS, Feed, Run, Seen, read, shown

import ctxmeasure as cm
from ctxmeasure import (
    Attestation,
    Completeness,
    Confidence,
    LimitBasis,
    Missing,
    MissingReason,
    Observed,
)

BY_NAME = {run.name: run for run in RUNS}
VERSIONS = sorted((ROOT / "pi-versions").glob("stream*.jsonl"))
EXPECTED = json.loads((ROOT / "pi-versions" / "expected_pi_context_usage.json").read_bytes())

each_run = pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
each_streamed = pytest.mark.parametrize(
    "run", [run for run in RUNS if run.streams], ids=lambda run: run.name
)
each_version = pytest.mark.parametrize("path", VERSION_SESSIONS, ids=lambda path: path.stem)


def observe(source: str, data: Any, **asked: Any) -> cm.Observation:
    return cm.observe(source, data, **{"at": AT, **asked})


def tokens(observation: cm.Observation) -> tuple[int, int]:
    assert isinstance(observation, Observed), observation
    assert isinstance(observation.value, cm.TokenMeasurement)
    return observation.value.used_tokens, observation.value.limit_tokens


def final(run: Run) -> tuple[int, int]:
    truth = run.truth["final"]
    return truth["used_tokens"], truth["limit_tokens"]


def prefixes(rows: list[bytes]) -> list[bytes]:
    return list(accumulate(rows))


# -- the session file -----------------------------------------------------------------------------


@each_run
def test_a_file_says_what_the_server_said_last(run: Run) -> None:
    used, limit = final(run)
    observation = observe("pi.session", run.session, limit_tokens=limit)
    if run.name == "pi/e-error-500":  # Pi then dropped a failed request, and estimates
        assert isinstance(observation, Missing)
        assert observation.reason is MissingReason.REWOUND
        assert observation.partial is not None
        assert (observation.partial.used_tokens, observation.partial.estimated) == (used, False)
        return
    assert tokens(observation) == (used, limit)
    assert isinstance(observation, Observed)
    assert observation.value.method == "pi_session_usage_model_capability_declared_limit"
    assert observation.attestation is Attestation.OPERATOR
    assert observation.completeness is Completeness.EXACT
    assert observation.provenance.used_basis is cm.UsedBasis.PROMPT_AND_OUTPUT


@each_run
def test_the_buckets_are_those_that_the_server_counted(run: Run) -> None:
    used, limit = final(run)
    if run.name == "pi/e-error-500":
        return
    observation = observe("pi.session", run.session, limit_tokens=limit)
    (call,) = [c for c in run.truth["calls"] if c["total_tokens"] == used]
    usage = observation.provenance.usage
    assert usage is not None
    written = 0 if run.name == "pi/b-tools-responses" else call["cache_write"]  # it tells no writes
    assert usage.cache_write_tokens == written
    assert usage.input_tokens == call["uncached_input"] + call["cache_write"] - written
    assert usage.cache_read_tokens == call["cache_read"]
    assert usage.output_tokens == call["output"]
    assert usage.reasoning_tokens in {None, call["reasoning_in_output"]}
    by_prompt = cm.Policy(counts=cm.Counts.PROMPT)
    prompt = observe("pi.session", run.session, limit_tokens=limit, policy=by_prompt)
    assert tokens(prompt)[0] == call["prompt_tokens"]


@each_run
def test_a_model_of_the_users_own_has_no_window_without_one_that_is_declared(run: Run) -> None:
    observation = observe("pi.session", run.session)
    assert isinstance(observation, Missing)
    is_void = run.name == "pi/e-error-500"
    reason = MissingReason.REWOUND if is_void else MissingReason.MODEL_UNKNOWN
    assert observation.reason is reason
    assert observation.partial is not None
    assert observation.partial.used_tokens == final(run)[0]
    assert observation.partial.limit_tokens is None


# What a file says after each of its rows, where it changes.
STORIES: dict[str, list[Seen]] = {
    "pi/a-simple": ["not_measured_yet", 15_035],
    "pi/b-tools": ["not_measured_yet", 15_124, "15124+", 15_866, "15866+", 16_148],
    "pi/b-tools-responses": ["not_measured_yet", 15_124, "15124+", 15_866, "15866+", 16_148],
    # The third question hangs off the first reply again.
    "pi/c-branch": ["not_measured_yet", 15_035, "15035+", 55_042, "15035+", 15_644],
    "pi/d-compact-rpc": ["not_measured_yet", 80_510, "80510+", 81_411, "compacted", 9_038],
    "pi/e-error-500": ["not_measured_yet", 15_035, "15035+", "rewound"],
    "pi/e-overflow": ["not_measured_yet", 150_035, "150035+", "rewound", "compacted", 9_138],
    "pi/g-nowindow": ["not_measured_yet", 15_025],
    "pi/h-tui": [  # the aborted reply of 106,009 is none
        "not_measured_yet",
        *(40_124, "40124+", 103_006, "103006+"),
        *("compacted", 9_038),
    ],
    "pi-0.73.1/b-tools": ["not_measured_yet", 15_124, "15124+", 15_866, "15866+", 16_148],
    "pi-0.73.1/d-compact-rpc": ["not_measured_yet", 80_510, "80510+", 81_411, "compacted", 9_038],
}


@each_run
def test_a_file_tells_its_story_row_by_row(run: Run) -> None:
    seen = [shown(read(content)) for content in prefixes(run.rows)]
    assert [one for one, _ in groupby(seen)] == STORIES[run.name]
    counts = [one for one in STORIES[run.name] if isinstance(one, int)]
    after = [call["used_tokens"] for call in run.truth["expected_after"]]
    assert counts == [one for one, _ in groupby(after) if one is not None]


# Before these, what they tell of is written.
SETTLED = {"agent_end", "agent_settled", "session_compact", "session_shutdown", "turn_end"}


@each_run
def test_a_file_agrees_with_pis_own_meter_at_each_of_its_events(run: Run) -> None:
    written = [_written_at(row) for row in run.rows]
    compared = 0
    for said in run.own:
        if said["event"] not in SETTLED:
            continue
        at = datetime.fromtimestamp(said["t"] / 1000, tz=UTC)
        seen = shown(read(b"".join(run.rows[: sum(moment <= at for moment in written)])))
        own = said["contextUsage"]["tokens"]
        compared += 1
        if own is None:
            assert seen == "compacted"
        elif seen == "rewound":
            assert own < 1_000  # Pi's estimate of a context of 15,036
        elif isinstance(seen, int):
            assert seen == own
        else:  # an estimate of what was added lies on top
            assert 0 < own - int(seen.removesuffix("+")) < 10
    assert compared > 2


def _written_at(row: bytes) -> datetime:
    return datetime.fromisoformat(json.loads(row)["timestamp"])


def test_after_going_back_a_file_ends_with_the_old_branch_until_the_next_row() -> None:
    run = BY_NAME["pi/c-branch"]
    at = [said["t"] for said in run.own if said["event"] == "turn_start"][-1]
    own = [said["contextUsage"]["tokens"] for said in run.own if said["t"] == at]
    written = [_written_at(row).timestamp() * 1000 <= at for row in run.rows]
    assert own == [15_035]
    assert shown(read(b"".join(run.rows[: sum(written)]))) == 55_042


# -- the stream -----------------------------------------------------------------------------------

STREAM_STORIES: dict[str, list[Seen]] = {
    **{name: STORIES[name] for name in ("pi/a-simple", "pi/b-tools", "pi/b-tools-responses")},
    **{name: STORIES[name] for name in ("pi/d-compact-rpc", "pi/e-error-500", "pi/g-nowindow")},
    **{name: STORIES[name] for name in STORIES if name.startswith("pi-0.73.1")},
    # Only the compaction that follows says that the request was too long: the error is not legible.
    "pi/e-overflow": [
        *("not_measured_yet", 150_035, "150035+"),
        *("rewound", "window_exceeded", "compacted", 9_138),
    ],
}


@each_streamed
def test_a_stream_tells_the_story_of_its_file(run: Run) -> None:
    feed, seen = Feed(), []
    for line in run.lines:
        feed.take(line)
        seen.append(feed.shows())
    assert [one for one, _ in groupby(seen)] == STREAM_STORIES[run.name]


@each_streamed
def test_a_stream_and_the_file_of_its_run_agree(run: Run) -> None:
    used, limit = final(run)
    stream = cm.Stream("pi.stream", limit_tokens=limit)
    for line in run.lines:
        stream.feed(line, at=AT)
    heard = stream.finish(at=AT)
    filed = observe("pi.session", run.session, limit_tokens=limit)
    assert heard.provenance.usage == filed.provenance.usage
    assert heard.provenance.model == filed.provenance.model
    if run.name == "pi/e-error-500":
        assert isinstance(heard, Missing)
        assert heard.reason is MissingReason.REWOUND
        return
    assert tokens(heard) == tokens(filed) == (used, limit)
    if run.name.endswith("rpc"):  # its answers name the session only once they are asked
        assert heard.provenance.witness is not None
    assert heard.provenance.witness == filed.provenance.witness
    distance = abs((_measured_at(heard) - _measured_at(filed)).total_seconds())
    assert distance < (0.01 if run.name.startswith("pi/") else 0.1)


def _measured_at(observation: cm.Observation) -> datetime:
    assert isinstance(observation, Observed)
    return observation.value.measured_at


@each_streamed
def test_the_peak_is_the_fullest_reply(run: Run) -> None:
    stream = cm.Stream("pi.stream", limit_tokens=final(run)[1])
    for line in run.lines:
        stream.feed(line, at=AT)
    replies = [c["total_tokens"] for c in run.truth["calls"] if c["role"] == "main"]
    assert tokens(stream.peak)[0] == max(replies)


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("stream_json_0.58.3", ["not_measured_yet", 1_240, "1240+", 1_312]),  # reasoning twice
        ("stream_json_0.73.1", ["not_measured_yet", 1_230, "1230+", 1_312]),
        ("stream_json_1.6.0", ["not_measured_yet", 1_230, "1230+", 1_312]),
        ("stream_json_0.58.3_overflow_error", ["not_measured_yet", "window_exceeded"]),
        ("stream_json_0.73.1_overflow_error", ["not_measured_yet", "window_exceeded"]),
        ("stream_json_1.6.0_overflow_error", ["not_measured_yet", "window_exceeded"]),
        *[
            (
                f"stream_rpc_{version}",
                ["not_measured_yet", 1_312, "1312+", 30_012, "compacted", 1_312],
            )
            for version in ("0.58.3", "0.73.1", "1.6.0")
        ],
    ],
)
def test_the_streams_of_each_version_tell_the_same(name: str, seen: list[Seen]) -> None:
    feed, told = Feed(), []
    for line in (ROOT / "pi-versions" / f"{name}.jsonl").read_bytes().splitlines():
        feed.take(line)
        told.append(feed.shows())
    assert [one for one, _ in groupby(told)] == seen


def test_every_stream_of_each_version_is_looked_at() -> None:
    assert len(VERSIONS) == 9


@pytest.mark.parametrize("version", ["0.58.3", "0.73.1", "1.6.0"])
def test_a_window_that_an_answer_states_makes_the_pair_native(version: str) -> None:
    stream = cm.Stream("pi.stream")
    path = ROOT / "pi-versions" / f"stream_rpc_{version}.jsonl"
    for line in path.read_bytes().splitlines():
        stream.feed(line, at=AT)
    for observation, used in ((stream.latest, 1_312), (stream.peak, 30_012)):
        assert tokens(observation) == (used, 40_000)
        assert isinstance(observation, Observed)
        assert observation.attestation is Attestation.NATIVE
        assert observation.confidence is Confidence.EXACT
        assert observation.provenance.limit_basis is LimitBasis.WINDOW


# -- answers --------------------------------------------------------------------------------------

RPC_LOGS = sorted([*ROOT.glob("pi*/*/rpc.jsonl"), *ROOT.glob("pi-versions/stream_rpc*.jsonl")])


@pytest.mark.parametrize("path", RPC_LOGS, ids=lambda path: f"{path.parts[-2]}-{path.stem}")
def test_an_answer_says_what_pi_says_in_it(path: Path) -> None:
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    answers = [row for row in rows if row.get("command") == "get_session_stats"]
    assert answers
    for row in answers:
        observation = observe("pi.rpc", row)
        stated = row["data"].get("contextUsage")
        if stated is None:
            assert path.stem == "stream_rpc_0.58.3"
            assert isinstance(observation, Missing)
            assert observation.reason is MissingReason.CUMULATIVE_ONLY
        elif stated["tokens"]:
            assert tokens(observation) == (stated["tokens"], stated["contextWindow"])
            assert isinstance(observation, Observed)
            assert observation.attestation is Attestation.NATIVE
            assert observation.confidence is Confidence.EXACT
        else:
            assert isinstance(observation, Missing)
            is_null = stated["tokens"] is None
            expected = MissingReason.COMPACTED if is_null else MissingReason.NOT_MEASURED_YET
            assert observation.reason is expected


# -- the files of each version --------------------------------------------------------------------


@each_version
def test_a_file_of_each_version_says_what_pi_makes_of_it(path: Path) -> None:
    expected = EXPECTED[path.name]
    limit = expected["contextWindow"]
    is_listed = expected["model"]["provider"] == "anthropic"
    asked = {} if is_listed else {"limit_tokens": limit}
    observation = observe("pi.session", path, **asked)
    assert tokens(observation) == (expected["detail"]["usageTokens"], limit)
    assert isinstance(observation, Observed)
    if expected["detail"]["trailingTokens"]:
        assert observation.completeness is Completeness.LOWER_BOUND
        assert tokens(observation)[0] < expected["tokens"]
    else:
        is_exact = Completeness.INFERRED if is_listed else Completeness.EXACT
        assert observation.completeness is is_exact
        assert tokens(observation)[0] == expected["tokens"]
    model = observation.provenance.model
    assert model is not None
    assert (model.provider, model.id) == tuple(expected["model"].values())


def test_each_file_of_each_version_has_its_oracle() -> None:
    assert {path.name for path in VERSION_SESSIONS} == set(EXPECTED)


# -- cuts -----------------------------------------------------------------------------------------

FILES = [*[run.session for run in RUNS], *VERSION_SESSIONS]
SHORTEST = min(FILES, key=lambda path: path.stat().st_size)


def cut(content: bytes, at: int) -> Seen:
    """Return what the rows say that are complete in the first *at* bytes."""
    head = content[:at]
    if content[at : at + 1] != b"\n":  # the last row is complete without its end
        head = head[: head.rfind(b"\n") + 1]
    return shown(read(head))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[-40:])
def test_a_file_cut_around_any_row_tells_the_older_truth(path: Path) -> None:
    content = path.read_bytes()
    ends = list(accumulate(map(len, content.splitlines(keepends=True))))
    for start, end in pairwise([0, *ends]):
        for at in (start + 1, (start + end) // 2, end - 2, end - 1, end):
            assert shown(read(content[:at])) == cut(content, at)


def test_a_file_cut_at_any_byte_tells_the_older_truth() -> None:
    content = SHORTEST.read_bytes()
    for at in range(len(content) + 1):
        assert shown(read(content[:at])) == cut(content, at)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[-40:])
@pytest.mark.parametrize("window", [1, 200, 1_000])
def test_a_small_window_grows_to_the_same_truth(path: Path, window: int) -> None:
    content = path.read_bytes()
    assert shown(read(content, window=window)) == shown(read(content))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[-40:])
def test_a_budget_gives_the_truth_or_says_that_it_was_too_small(path: Path) -> None:
    content = path.read_bytes()
    whole = shown(read(content))
    too_small = {"budget_exhausted", "chain_truncated"}
    for budget in range(1, len(content), 97):
        assert shown(read(content, window=64, budget=budget)) in {whole, *too_small}


@each_streamed
def test_a_stream_cut_around_any_line_tells_the_older_truth(run: Run) -> None:
    path = run.streams[-1]
    content = path.read_bytes()
    ends = list(accumulate(map(len, content.splitlines(keepends=True))))
    feed = Feed()
    stories = [feed.shows()]
    for line in content.splitlines():
        feed.take(line)
        stories.append(feed.shows())
    for number, (start, end) in enumerate(pairwise([0, *ends])):
        for at, lines in ((start + 1, 0), (end - 2, 0), (end - 1, 1), (end, 1)):
            stream = cm.Stream("pi.stream", limit_tokens=final(run)[1])
            stream.feed_bytes(content[: at // 2], at=AT)
            stream.feed_bytes(content[at // 2 : at], at=AT)
            heard = stream.finish(at=AT)
            seen = stories[number + lines]
            if isinstance(heard, Observed):
                is_more = heard.completeness is Completeness.LOWER_BOUND
                assert seen == (f"{tokens(heard)[0]}+" if is_more else tokens(heard)[0])
            elif heard.reason is MissingReason.SOURCE_MALFORMED:
                assert seen == "not_measured_yet"  # half a line is all there is
            else:
                assert heard.reason == seen


@each_streamed
def test_garbage_between_the_lines_is_counted_and_changes_nothing(run: Run) -> None:
    clean, noisy = Feed(), cm.Stream("pi.stream", limit_tokens=final(run)[1])
    for line in run.lines:
        clean.take(line)
        noisy.feed(b"\x00\xff not json", at=AT)
        noisy.feed(b'{"level":"info","usage":{"input":1}}', at=AT)
        noisy.feed(line, at=AT)
    assert noisy.stats.rows_skipped == len(run.lines)
    if isinstance(noisy.latest, Observed):
        assert tokens(noisy.latest)[0] == clean.shows()
    else:
        assert noisy.latest.reason == clean.shows()
