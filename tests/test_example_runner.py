"""The example of a runner: a loop over several backends, with agents that end in every way."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import CLAUDE, REPLAYER

from ctxmeasure import Peaks

RUNNER = Path(__file__).parents[1] / "examples" / "runner.py"
TOOLS = CLAUDE / "b-tools" / "stream.jsonl"
LONG = CLAUDE / "g-1m" / "stream.jsonl"
PI = CLAUDE.parent / "pi" / "b-tools" / "stream.jsonl"
CODEX = CLAUDE.parent / "codex-versions" / "exec_json_v0.36.0_proto_token_count.jsonl"


def hat(name: str, backend: str, recording: Path, *options: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "backend": backend,
        "command": [*REPLAYER, str(recording), *options],
        **more,
    }


class Loop:
    """A loop in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(
        self,
        *hats: dict[str, Any],
        rounds: int = 1,
        goes_on: bool = False,
        check: bool = True,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run the loop in a process of its own, and *check* that it comes to its end."""
        path = self.folder / "loop.json"
        path.write_text(json.dumps({"rounds": rounds, "hats": hats}))
        ran = subprocess.run(  # noqa: S603 - our own code
            [sys.executable, str(RUNNER), str(path), *(["--continue"] if goes_on else [])],
            capture_output=True,
            check=check,
            timeout=60,
        )
        self.said = ran.stderr.decode()
        return ran

    @property
    def events(self) -> list[dict[str, Any]]:
        lines = (self.folder / "events.jsonl").read_bytes().splitlines()
        return [json.loads(line) for line in lines]

    @property
    def peaks(self) -> Peaks:
        return Peaks.from_dict(json.loads((self.folder / "peaks.json").read_bytes()))


@pytest.fixture
def loop(tmp_path: Path) -> Loop:
    return Loop(tmp_path)


def by_hat(peaks: Peaks) -> dict[str, int | None]:
    return {name: highest.used_tokens for name, highest in peaks.by_hat.items()}


def test_each_iteration_is_measured_by_the_stream_of_its_own_backend(loop: Loop) -> None:
    ran = loop.run(
        hat("builder", "claude", TOOLS),
        hat("critic", "pi", PI),
        hat("writer", "codex", CODEX),
        hat("painter", "gemini", TOOLS),
    )
    assert ran.stdout == b"".join(path.read_bytes() for path in (TOOLS, PI, CODEX, TOOLS))
    contexts = [line.partition("Context: ")[2] for line in loop.said.splitlines()[:4]]
    assert contexts == ["8% (16K/200K)", "~8% (16K/200K assumed)", "5% (15K/272K)", ""]
    assert [event["hat"] for event in loop.events] == ["builder", "critic", "writer", "painter"]
    assert [event.get("turns") for event in loop.events] == [4, 3, None, None]
    assert loop.events[3]["peak"] == {"context_missing_reason": "source_unsupported"}
    assert by_hat(loop.peaks) == {"builder": 16_108, "critic": 16_148, "writer": 14_580}


def test_peaks_go_on_over_a_continued_loop_and_begin_anew_without(loop: Loop) -> None:
    loop.run(hat("builder", "claude", LONG), hat("critic", "claude", TOOLS))
    loop.run(hat("builder", "claude", TOOLS), rounds=2, goes_on=True)
    assert by_hat(loop.peaks) == {"builder": 250_010, "critic": 16_108}
    assert len(loop.events) == 4
    loop.run(hat("builder", "claude", TOOLS))
    assert by_hat(loop.peaks) == {"builder": 16_108}


def test_an_agent_that_crashes_is_an_iteration_like_another(loop: Loop) -> None:
    cut = ["--until", "6", "--unfinished", "--garbage", "--halves"]
    loop.run(
        hat("builder", "claude", TOOLS, *cut, "--exit", "1"),
        hat("critic", "claude", TOOLS, *cut, "--die", "SIGKILL"),
        hat("critic", "claude", TOOLS, "--pace", "0.001", "--long", "50"),
    )
    assert [event["exit_status"] for event in loop.events] == [1, -9, 0]
    used = [event["current"]["context_tokens"] for event in loop.events]
    assert used == [15_004, 15_004, 16_108]


def test_a_limit_that_is_declared_for_a_hat_is_its(loop: Loop) -> None:
    loop.run(hat("builder", "pi", PI, window=100_000), hat("critic", "pi", PI))
    assert [event["peak"]["context_limit_basis"] for event in loop.events] == [
        *("declared", "assumed_default")
    ]


def test_a_loop_that_continues_none_begins_anew_and_leaves_whole_peaks_only(loop: Loop) -> None:
    loop.run(hat("builder", "claude", TOOLS), goes_on=True)
    assert by_hat(loop.peaks) == {"builder": 16_108}
    assert {path.name for path in loop.folder.iterdir()} == {
        *("loop.json", "events.jsonl", "peaks.json")
    }


@pytest.mark.parametrize("content", [b"", b'{"version":', b"[]", b'{"secret": 1}', b"\xff"])
def test_damaged_peaks_are_told_and_nothing_is_run(loop: Loop, content: bytes) -> None:
    damaged = loop.folder / "peaks.json"
    damaged.write_bytes(content)
    ran = loop.run(hat("builder", "claude", TOOLS), goes_on=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert "peaks.json is damaged" in loop.said
    assert "Traceback" not in loop.said
    assert damaged.read_bytes() == content


def test_peaks_that_cannot_be_written_leave_the_old_ones(loop: Loop) -> None:
    loop.run(hat("builder", "claude", TOOLS))
    before = loop.peaks
    (loop.folder / "peaks.new").mkdir()
    loop.run(hat("builder", "claude", LONG), check=False)
    assert loop.peaks == before


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")
def test_a_reader_that_has_enough_ends_the_loop_without_a_word(loop: Loop) -> None:
    path = loop.folder / "loop.json"
    long = hat("builder", "claude", TOOLS, "--long", "1")
    path.write_text(json.dumps({"rounds": 1, "hats": [long]}))
    with subprocess.Popen(  # noqa: S603 - our own code
        [sys.executable, str(RUNNER), str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as started:
        assert started.stdout is not None
        assert started.stderr is not None
        started.stdout.read(10)
        started.stdout.close()
        assert started.stderr.read() == b""
