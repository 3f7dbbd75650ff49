"""``--window``: the windows that a person states, for models that no table knows."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from command_line import CLAUDE, COMMANDS, command_of, lines, run, run_process
from homes import Home
from hypothesis import given
from hypothesis import strategies as st

import ctxmeasure as cm
from ctxmeasure import history
from ctxmeasure.capability.ids import same_model
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.cli import watch
from ctxmeasure.cli.commands import ctxmeasure
from ctxmeasure.cli.windows import Windows, stated_window
from ctxmeasure.figures import short

RECORDINGS = CLAUDE.parent
UNKNOWN = next((CLAUDE / "g-unknown-model/session").glob("*.jsonl"))  # mystery-model-9
UNKNOWN_STREAM = CLAUDE / "g-unknown-model/stream.jsonl"  # which states its window
KNOWN = next((CLAUDE / "b-tools/session").glob("*.jsonl"))  # claude-sonnet-4-5-20250929
OLD = next((RECORDINGS / "claude-1.0.60/b-tools/session").glob("*.jsonl"))  # states no marker
STATED = next((RECORDINGS / "codex/g-unknown-model/session").rglob("*.jsonl"))
PI_STREAM = RECORDINGS / "pi/b-tools/stream.jsonl"  # mock-claude
MYSTERY = "mystery-model-9=262144"
MOCK = "mock-claude=250K"
TAKERS = {"sessions", "watch", "observe", "explain", "history", "check", "stream", "run"}
NAMED = (
    *("qwen", "qwen-2", "qwen-20250101", "qwen-20250202", "v/qwen", "v/qwen-20250101"),
    *("claude-x", "claude-x@20250101", "us.anthropic.claude-x-v1:0"),
)


def resolved(*typed: str, model: ModelRef) -> int | None:
    """Return the window of *model* by the windows that were *typed*."""
    return Windows(tuple(map(stated_window, typed)))(model)


def window_of(model_id: str, *typed: str) -> int | None:
    return resolved(*typed, model=ModelRef(id=model_id))


def limit_of(*arguments: str | Path) -> int | None:
    """Return the limit that ``observe auto`` measures a file against; None: it is missing."""
    told = json.loads(run("observe", "auto", *arguments).stdout)
    limit: int | None = told.get("value", {}).get("limit_tokens")
    return limit


# -- which model ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model_id",
    ["qwen3-coder", "qwen3:32b", "ollama/qwen3:32b", "a=b", "=", "gpt-oss:20b=q4", "my model", "é"],
)
def test_an_id_is_met_as_it_is_spelled(model_id: str) -> None:
    assert window_of(model_id, f"{model_id}=32000") == 32_000
    assert window_of(f"{model_id}x", f"{model_id}=32000") is None


@given(st.text(min_size=1).filter(lambda text: text[-4:].lower() != "[1m]"))
def test_whatever_an_id_holds_it_can_be_named(model_id: str) -> None:
    assert window_of(model_id, f"{model_id}=32000") == 32_000


@given(st.sampled_from(NAMED), st.sampled_from(NAMED))
def test_one_window_is_told_of_the_same_model_and_of_no_other(named: str, asked: str) -> None:
    assert (window_of(asked, f"{named}=32K") is not None) == same_model(named, asked)


def test_a_snapshots_date_and_a_clouds_spelling_do_not_matter() -> None:
    assert window_of("claude-new-9-20270101", "claude-new-9=300K") == 300_000
    assert window_of("us.anthropic.claude-new-9-v1:0", "claude-new-9=300K") == 300_000


def test_an_id_as_it_is_goes_before_another_spelling_wherever_it_stands() -> None:
    typed = ("qwen=1K", "qwen-20250101=2K", "qwen-20250202=3K")
    assert window_of("qwen-20250101", *typed) == 2_000
    assert window_of("qwen-20250101", *reversed(typed)) == 2_000
    assert window_of("qwen", *typed) == 1_000


def test_two_snapshots_of_different_windows_say_nothing_of_a_third() -> None:
    assert window_of("qwen-20250303", "qwen-20250101=2K", "qwen-20250202=3K") is None
    assert window_of("qwen-20250303", "qwen-20250101=2K", "qwen-20250202=2000") == 2_000


def test_of_one_id_the_last_window_counts() -> None:
    assert window_of("qwen", "qwen=1K", "other=5K", "qwen=2K") == 2_000
    assert window_of("qwen-20250101", "qwen=1K", "qwen=2K") == 2_000


def test_a_provider_can_be_named_before_the_id() -> None:
    local = ModelRef(id="qwen3:32b", provider="ollama")
    typed = ("ollama/qwen3:32b=32K", "qwen3:32b=64K")
    assert resolved(*typed, model=local) == 32_000
    assert resolved(*typed[::-1], model=local) == 32_000
    assert resolved(*typed, model=ModelRef(id="qwen3:32b", provider="lmstudio")) == 64_000
    assert resolved(typed[0], model=ModelRef(id="qwen3:32b", provider="lmstudio")) is None
    assert resolved("None/qwen3:32b=1K", model=ModelRef(id="qwen3:32b")) is None


def test_a_marker_asks_for_a_session_that_was_started_with_it() -> None:
    def marked(marker: bool | None, *typed: str) -> int | None:
        return resolved(*typed, model=ModelRef(id="qwen", long_context_marker=marker))

    for marker in (None, False):
        assert marked(marker, "qwen[1m]=1M") is None
        assert marked(marker, "qwen[1M]=1M", "qwen=200K") == 200_000
    assert marked(True, "qwen[1m]=1M", "qwen=200K") == 1_000_000
    assert marked(True, "qwen-20250101[1m]=1M", "qwen=200K") == 1_000_000
    assert marked(True, "qwen=200K") == 200_000  # such a model has the window that it has


def test_nothing_stated_resolves_nothing() -> None:
    assert window_of("qwen") is None


# -- how many tokens ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "tokens"),
    [
        ("1", 1),
        ("262144", 262_144),
        ("0032000", 32_000),
        ("200K", 200_000),
        ("200k", 200_000),
        ("262.144K", 262_144),
        ("1M", 1_000_000),
        ("1.05M", 1_050_000),
        ("0.5m", 500_000),
        ("1.000001M", 1_000_001),
        ("9007199254740992", 2**53),
    ],
)
def test_tokens_are_whole_numbers_or_decimal_thousands(count: str, tokens: int) -> None:
    assert stated_window(f"qwen={count}") == (ModelRef.as_started("qwen"), tokens)


@given(st.integers(min_value=1, max_value=10**9))
def test_a_window_is_taken_as_it_is_printed(tokens: int) -> None:
    _, taken = stated_window(f"qwen={short(tokens)}")
    assert short(taken) == short(tokens)


WRONG = (
    "SENTINEL",
    "SENTINEL=",
    "SENTINEL=SENTINEL",
    "=200K",
    "[1m]=200K",
    "",
    "=",
    *(
        f"SENTINEL={count}"
        for count in (
            *("0", "0K", "0.0M", "-1", "+1", "1.5", "1.0", "1.2345K", "1.2345678M", ".5M", "1.K"),
            *("K", "M", "200G", "200KB", "200 K", " 200", "200\n", "1_000", "1,000", "1e6", "nan"),
            *("٣٢", "200\u212a", "9007199254740993", "9007199255M", "9" * 5000),
        )
    ),
)


@pytest.mark.parametrize("typed", WRONG, ids=[ascii(typed)[:30] for typed in WRONG])
def test_what_is_no_window_is_told_by_the_options_name_and_not_repeated(typed: str) -> None:
    result = run("observe", "claude.transcript", UNKNOWN, "--window", typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Invalid value for '--window': expected MODEL=TOKENS" in result.stderr
    assert "SENTINEL" not in result.stderr
    assert "9" * 10 not in result.stderr


# -- what goes before it --------------------------------------------------------------------------


def test_a_stated_window_is_inferred_and_no_more_than_medium() -> None:
    (told,) = lines(run("observe", "claude.transcript", UNKNOWN, "--window", MYSTERY).stdout)
    assert told["value"]["limit_tokens"] == 262_144
    grade = (told["attestation"], told["confidence"], told["completeness"])
    assert grade == ("inferred", "medium", "inferred")
    assert told["provenance"]["limit_basis"] == "window"


def test_what_the_table_knows_stands() -> None:
    for named in ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"):
        assert limit_of(KNOWN, "--window", f"{named}=1M") == 200_000


def test_what_the_session_states_stands() -> None:
    assert limit_of(STATED) == limit_of(STATED, "--window", "mystery-model-9=1M") == 258_400


def test_it_decides_where_a_plan_would(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(OLD.read_bytes().replace(b"claude-sonnet-4-5-20250929", b"claude-opus-4-6"))
    assert json.loads(run("observe", "auto", path).stdout)["reason"] == "window_ambiguous"
    assert limit_of(path, "--window", "claude-opus-4-6=1M") == 1_000_000


def test_a_limit_that_is_declared_goes_before_it() -> None:
    assert limit_of(UNKNOWN, "--window", MYSTERY, "--limit", "32000") == 32_000


def test_more_in_use_than_the_window_refutes_it() -> None:
    told = json.loads(run("observe", "auto", UNKNOWN, "--window", "mystery-model-9=1K").stdout)
    assert (told["reason"], told["partial"]["limit_tokens"]) == ("limit_contradicted", 1_000)


def test_another_models_window_is_none_of_this_one() -> None:
    assert (
        limit_of(UNKNOWN, "--window", "mystery-model=1M", "--window", "mystery-model-8=1M") is None
    )
    assert limit_of(UNKNOWN, "--window", "other=1M", "--window", MYSTERY) == 262_144


# -- every command that asks ----------------------------------------------------------------------


def test_it_is_an_option_of_every_command_that_reads_sessions() -> None:
    takers = {
        name
        for name in COMMANDS
        if any("--window" in parameter.opts for parameter in command_of(name).params)
    }
    assert takers == TAKERS


@pytest.mark.parametrize("command", sorted(TAKERS))
def test_its_help_says_what_it_never_overrides(command: str) -> None:
    told = " ".join(run(command, "--help").stdout.split())
    assert "--window MODEL=TOKENS What the window of a model is that is not known;" in told
    assert "Never overrides what the session or the table states." in told


@pytest.mark.parametrize("command", sorted(TAKERS))
def test_a_shell_completes_its_name_and_nothing_behind_it(command: str) -> None:
    shell = ShellComplete(ctxmeasure, {}, "ctxmeasure", "_CTXMEASURE_COMPLETE")
    assert [offer.value for offer in shell.get_completions([command], "--win")] == ["--window"]
    assert shell.get_completions([command, "--window"], "") == []


def test_explain_says_whose_word_it_is() -> None:
    result = run("explain", UNKNOWN, "--window", MYSTERY)
    assert result.exit_code == 0
    assert result.stdout.startswith("15,010 tokens are in use against a limit of 262,144")
    assert "Confidence is medium: " in result.stdout
    assert "or on the caller's word." in result.stdout


def test_check_measures_by_it() -> None:
    asked = ("check", "claude.transcript", UNKNOWN, "--window", MYSTERY)
    assert run("check", "claude.transcript", UNKNOWN, "--max", "5").exit_code == 3
    assert run(*asked, "--max", "5").exit_code == 1
    result = run(*asked, "--max", "50")
    assert (result.exit_code, result.stdout) == (0, "Context: 6% (15K/262K)\n")


def test_check_of_a_wrong_window_is_not_that_of_a_full_context() -> None:
    asked = ("check", "claude.transcript", UNKNOWN, "--max", "5")
    assert run(*asked, "--window", "mystery-model-9").exit_code == 2


def test_a_history_is_measured_by_it_at_every_moment() -> None:
    told = lines(run("history", UNKNOWN, "--json", "--window", MYSTERY).stdout)
    limits = {one["observation"]["value"]["limit_tokens"] for one in told}
    assert (bool(told), limits) == (True, {262_144})
    assert "6% (15K/262K)" in run("history", UNKNOWN, "--window", MYSTERY).stdout
    assert run("history", UNKNOWN).exit_code == 3


def test_a_stream_is_measured_by_it_until_the_agent_states_another() -> None:
    window = ("--window", MYSTERY)
    result = run("stream", "claude.stream", *window, stdin=UNKNOWN_STREAM.read_bytes())
    limits = [
        one["value"]["limit_tokens"] for one in lines(result.stdout) if one["state"] == "observed"
    ]
    assert (limits[0], limits[-1]) == (262_144, 1_000_000)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")
@pytest.mark.parametrize("assumed", [(), ("--assume-defaults",)])
def test_a_run_is_measured_by_it_and_assumes_nothing_instead(assumed: tuple[str, ...]) -> None:
    options = ("--adapter", "pi", "--window", MOCK, *assumed)
    result = run_process("run", *options, "--", "cat", PI_STREAM)
    assert (result.returncode, result.stdout) == (0, PI_STREAM.read_bytes())
    assert result.stderr.endswith(b" | Context: 6% (16K/250K)\n")


# -- many sessions at once ------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with two sessions that no table knows, and two whose windows are known."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    home = Home(tmp_path / "home", at=datetime.now(UTC))
    home.codex(minutes=1)
    home.claude(minutes=2)
    home.claude("g-unknown-model", "unknown", minutes=3)
    home.pi(minutes=4)
    return home


def columns(output: str, *wanted: int) -> list[list[str]]:
    return [[line.split("\t")[column] for column in wanted] for line in output.splitlines()[1:]]


@pytest.mark.usefixtures("home")
def test_sessions_are_measured_each_by_its_models_window() -> None:
    everything = ("gpt-5.5=1M", "claude-sonnet-4-5=1M", MYSTERY, MOCK)
    asked = [word for window in everything for word in ("--window", window)]
    assert columns(run("sessions", *asked).stdout, 4, 6) == [
        ["5% (13K/258K)", "exact"],
        ["8% (16K/200K)", "inferred"],
        ["6% (15K/262K)", "inferred (medium)"],
        ["6% (16K/250K)", "inferred (medium)"],
    ]
    assert columns(run("sessions", "--window", MOCK).stdout, 4, 6)[2:] == [
        ["15K", "missing: model_unknown"],
        ["6% (16K/250K)", "inferred (medium)"],
    ]


def test_what_is_watched_is_measured_by_it_whenever_it_changes(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home.written[1]

    def events(_: object) -> Iterator[set[str]]:
        with path.open("ab") as file:
            file.write(UNKNOWN.read_bytes())
        yield {str(path)}
        raise KeyboardInterrupt

    monkeypatch.setattr(watch, "file_events", events)
    monkeypatch.setattr("time.sleep", lambda _: None)
    told = columns(run("watch", "--window", MYSTERY, "--agent", "claude").stdout, 3, 4)
    assert told == [
        ["claude-sonnet-4-5-20250929", "8% (16K/200K)"],
        ["mystery-model-9", "6% (15K/262K)"],
        ["mystery-model-9", "6% (15K/262K)"],
    ]


# -- other processes ------------------------------------------------------------------------------


def test_the_windows_can_go_to_another_process() -> None:
    windows = Windows((stated_window(MYSTERY), stated_window("qwen[1m]=1M")))
    assert pickle.loads(pickle.dumps(windows)) == windows  # noqa: S301 - our own bytes
    policy = cm.Policy(resolver=windows)
    (moments,) = history.scan_many("claude.transcript", [UNKNOWN], processes=2, policy=policy)
    assert {str(moment.observation) for moment in moments} == {"Context: 6% (15K/262K)"}
