"""Measures every bar of docs/performance.md and fails when one ratio is worse by a fifth.

``python benchmarks/check.py`` compares with the ratios in ``baseline.json``; ``--update`` writes
them anew; ``--quick`` takes small files and few rounds and compares nothing: it shows that the
script works. ``--huge`` adds files of 4 GiB. Only ratios are stored, so the baseline of one machine
serves another of its kind. Needs no network: peers are measured by ``peers.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import orjson
from attrs import field, frozen
from ratios import Ratio, least_times
from session_files import KIB, MIB, WRITERS

import ctxmeasure as cm
from ctxmeasure import Observed, history, observe

BASELINE = Path(__file__).with_name("baseline.json")
TOLERANCE = 1.2
NOISE = 0.05  # of the bar: a ratio far below it can double by chance
RECORDINGS = Path(__file__).parents[1] / "tests/recordings"
AT = datetime(2027, 1, 1, tzinfo=UTC)  # after every file that is written here
NEEDLES = {"claude.transcript": b'"assistant"', "codex.rollout": b'"token_count"'}
# Recordings of a few rows, to load what a first reading imports.
SMALL = {
    "claude.transcript": tuple((RECORDINGS / "claude/a-simple/session").rglob("*.jsonl")),
    "codex.rollout": tuple((RECORDINGS / "codex/h-tui/session").rglob("*.jsonl")),
}
# Frames of live streams that say something of the context, or of whose it is.
RELEVANT = (b'{"type":"assistant"', b'{"type":"system","subtype":"init"')
# What no reading can do without: whatever made the row void lies anywhere in the window.
VOIDING = {
    "claude.transcript": (b'"compact_boundary"', b'"isCompactSummary"'),
    "codex.rollout": (b'"compacted"',),
}


@frozen(kw_only=True)
class Run:
    """How thoroughly to measure.

    Attributes:
        scratch: A folder for the files.
        large: Bytes of the large files.
        rounds: How often a reading is taken.
        sessions: How many files a sweep goes over.
    """

    scratch: Path
    large: int
    rounds: int
    sessions: int
    huge: int | None = field(default=None)

    def file(self, source: str, size: int, **asked: Any) -> Path:
        """Return a file of *source*, written when it is first asked for."""
        told = "".join(f"-{name}-{value}" for name, value in asked.items())
        path = self.scratch / f"{source}-{size}{told}.jsonl"
        if not path.exists():
            WRITERS[source](path, size, **asked)
        return path


# -- the latest reading ---------------------------------------------------------------------------


def by_hand(path: Path, needle: bytes, *voiding: bytes) -> Any:
    """Return the latest row as the shortest possible program finds it.

    The window is searched for *voiding* too, which a reading cannot do without.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        base = max(0, os.fstat(descriptor).st_size - 64 * KIB)
        window = os.pread(descriptor, 64 * KIB, base)
    finally:
        os.close(descriptor)
    hit = window.rfind(needle)
    for other in voiding:
        window.rfind(other)
    return orjson.loads(window[window.rfind(b"\n", 0, hit) + 1 : window.find(b"\n", hit)])


def latest(source: str, path: Path, **asked: Any) -> Observed:
    """Return the reading that is timed."""
    observation = observe(source, path, at=AT, **asked)
    assert isinstance(observation, Observed), observation
    return observation


def latest_readings(run: Run) -> Iterator[Ratio]:
    """The latest and the terminal reading of a small, a large and a huge file."""
    sizes = [MIB, run.large, *([run.huge] if run.huge else [])]
    for source, needle in NEEDLES.items():
        paths = [run.file(source, size) for size in sizes]
        candidates: dict[str, Callable[[], Any]] = {
            "by hand": partial(by_hand, paths[0], needle),
            "searched": partial(by_hand, paths[0], needle, *VOIDING[source]),
            **{f"latest {path}": partial(latest, source, path) for path in paths},
            "terminal": partial(latest, source, paths[1], phase=cm.Phase.TERMINAL),
        }
        taken = least_times(candidates, run.rounds)
        small = taken[f"latest {paths[0]}"]
        worst = max(taken[f"latest {path}"] for path in paths)
        yield Ratio(f"{source}: latest / by hand", worst / taken["by hand"], 3)
        yield Ratio(f"{source}: terminal / by hand", taken["terminal"] / taken["by hand"], 3)
        yield Ratio(
            f"{source}: by hand and searched / by hand", taken["searched"] / taken["by hand"]
        )
        yield Ratio(f"{source}: latest, largest file / 1 MiB", worst / small, 1.2)
        asked = max(latest(source, path).provenance.stats.bytes_read for path in paths)
        yield Ratio(f"{source}: latest, bytes read / 256 KiB", asked / (256 * KIB), 1)


# -- the active reading ---------------------------------------------------------------------------


def find_and_decode(path: Path, span: int, decodes: Callable[[bytes], bool]) -> int:
    """Search the last *span* bytes once and decode the lines of them that *decodes* picks."""
    with path.open("rb", buffering=0) as file:
        file.seek(-span, os.SEEK_END)
        window = file.read(span)
    window.find(b"never to be found")
    lines = [line for line in window.split(b"\n")[1:] if line and decodes(line)]
    for line in lines:
        orjson.loads(line)
    return len(lines)


def is_linked(line: bytes) -> bool:
    """Tell whether *line* is of the chain: here each row hangs off the one before it."""
    return line.startswith(b'{"parentUuid"')


def active_readings(run: Run) -> Iterator[Ratio]:
    """The reading of a running turn whose prompt lies a MiB back."""
    claude, codex = NEEDLES
    turn, behind = "prompt 1 MiB back", "last response 1 MiB back"
    cases = (
        (claude, turn, {"open_turn": MIB}, is_linked, 2),
        (claude, behind, {"trailing": MIB}, is_linked, None),
        (codex, turn, {"open_turn": MIB}, lambda line: NEEDLES[codex] in line, 2),
    )
    for source, case, written, decodes, bar in cases:
        path = run.file(source, 8 * MIB, **written)
        measured_at = latest(source, path, budget=cm.ReadBudget(maximum=4 * MIB)).value.measured_at
        asked: dict[str, Any] = {"phase": cm.Phase.ACTIVE, "at": measured_at + timedelta(seconds=9)}
        if source == claude:
            asked["turn_started_at"] = measured_at - timedelta(minutes=1)
        assert isinstance(observe(source, path, **asked), Observed)
        taken = least_times(
            {
                "ours": partial(observe, source, path, **asked),
                "pass": partial(find_and_decode, path, MIB, decodes),
            },
            max(run.rounds // 10, 3),
        )
        yield Ratio(
            f"{source}: active, {case} / find and decode", taken["ours"] / taken["pass"], bar
        )


# -- whole files ----------------------------------------------------------------------------------


def decode_matching(path: Path, needle: bytes) -> int:
    """Decode every line that holds *needle*, as the simplest scanner does."""
    rows = 0
    with path.open("rb") as file:
        for line in file:
            if needle in line:
                orjson.loads(line)
                rows += 1
    return rows


def count_moments(source: str, path: Path) -> int:
    """Scan a whole file, every moment judged."""
    return sum(1 for _ in history.scan(source, path, at=AT))


def histories(run: Run) -> Iterator[Ratio]:
    """A scan of a whole file."""
    size = min(run.large, 64 * MIB)
    for source, needle in NEEDLES.items():
        path = run.file(source, size)
        taken = least_times(
            {
                "ours": partial(count_moments, source, path),
                "loop": partial(decode_matching, path, needle),
            },
            max(run.rounds // 100, 1),
        )
        yield Ratio(f"{source}: history / decoding loop", taken["ours"] / taken["loop"])


def sweeps(run: Run) -> Iterator[Ratio]:
    """The latest reading of many sessions."""
    source = "claude.transcript"
    paths = [
        run.file(source, (1 + number % 8) * 128 * KIB, seed=number)
        for number in range(run.sessions)
    ]
    needle = NEEDLES[source]
    taken = least_times(
        {
            "ours": lambda: [latest(source, path) for path in paths],
            "by hand": lambda: [by_hand(path, needle) for path in paths],
        },
        3,
    )
    yield Ratio("sweep of sessions / by hand", taken["ours"] / taken["by hand"])


# -- streams --------------------------------------------------------------------------------------


def feed(stream: cm.Stream, lines: list[bytes]) -> None:
    """Feed a stream its lines."""
    for line in lines:
        stream.feed(line)


def decode(lines: list[bytes]) -> None:
    """Decode the same lines."""
    for line in lines:
        orjson.loads(line)


def stream_feeds(run: Run) -> Iterator[Ratio]:
    """Feeding a live stream its lines, against decoding them."""
    recorded = [
        line
        for path in sorted((RECORDINGS / "claude").glob("*/stream.jsonl"))
        for line in path.read_bytes().splitlines()
    ]
    relevant = [line for line in recorded if line.startswith(RELEVANT)]
    response = next(line for line in relevant if b'"timestamp":"' in line)
    cut = response.index(b'"timestamp":"') + len(b'"timestamp":"2026-11-29T18:28:17.')
    repeated = [b"%b%03d%b" % (response[:cut], part, response[cut + 3 :]) for part in range(20)]
    output = b"x = 1\\n" * 2_000
    tool = (
        b'{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":'
        b'"tool_result","content":"%b"}]},"parent_tool_use_id":null,"session_id":"s"}' % output
    )
    for name, lines, bar in (
        ("irrelevant", [tool] * 20, 0.1),
        ("relevant", relevant, 3),
        ("repeated", repeated, None),
    ):
        stream = cm.Stream("claude.stream")
        taken = least_times(
            {
                "ours": partial(feed, stream, lines),
                "orjson": partial(decode, lines),
            },
            run.rounds,
        )
        yield Ratio(f"stream feed, {name} lines / decoding", taken["ours"] / taken["orjson"], bar)


# -- imports and memory ---------------------------------------------------------------------------


def imports(run: Run) -> Iterator[Ratio]:
    """The cost of ``import ctxmeasure`` in a fresh interpreter."""
    programs = {"bare": "pass", "ours": "import ctxmeasure", "theirs": "import attrs, orjson"}
    taken = least_times(
        {
            name: partial(subprocess.run, [sys.executable, "-c", program], check=True)
            for name, program in programs.items()
        },
        max(run.rounds // 25, 2),
    )
    cost = taken["ours"] - taken["bare"]
    yield Ratio(
        "import ctxmeasure / attrs and orjson", cost / (taken["theirs"] - taken["bare"]), 1.5
    )


def memory(run: Run) -> Iterator[Ratio]:
    """The most that a reading keeps, against the bytes that it may read."""
    for source, maximum in (
        ("claude.transcript", 256 * KIB),
        ("claude.transcript", 4 * MIB),
        ("codex.rollout", 256 * KIB),
        ("codex.rollout", 4 * MIB),
    ):
        path = run.file(source, 8 * MIB)
        budget = cm.ReadBudget(initial=maximum, maximum=maximum)
        observe(source, path, at=AT)
        tracemalloc.start()
        observe(source, path, at=AT, budget=budget)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        name = f"budget of {maximum // KIB} KiB"
        yield Ratio(f"{source}: memory asked for / {name}", peak / maximum)
        if Path("/proc/self/clear_refs").exists():
            rises = [resident(source, path, maximum) for _ in range(5)]
            yield Ratio(f"{source}: memory / {name}", median(rises) / maximum, 2)


# In a process of its own: what others have freed would be taken again and not be seen. What is
# imported at a first reading, and kept, is no part of a reading's memory.
_RESIDENT = """
import re, sys
from pathlib import Path
import ctxmeasure as cm
source, path, warm, maximum = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
def kib(name):
    return int(re.search(name + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
cm.observe(source, warm)
Path("/proc/self/clear_refs").write_text("5")  # forget the peak
before = kib("VmRSS")
cm.observe(source, path, budget=cm.ReadBudget(initial=maximum, maximum=maximum))
print(kib("VmHWM") - before)
"""


def resident(source: str, path: Path, maximum: int) -> int:
    """Return by how many bytes a reading raises the peak of a process's resident memory."""
    (warm,) = SMALL[source]
    argv = [sys.executable, "-c", _RESIDENT, source, str(path), str(warm), str(maximum)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return int(done.stdout) * KIB


WORKS = (
    latest_readings,
    active_readings,
    histories,
    sweeps,
    stream_feeds,
    imports,
    memory,
)


# -- the check ------------------------------------------------------------------------------------


def verdict(ratio: Ratio, before: float | None) -> str:
    """Return what is wrong with *ratio*, or an empty text."""
    noise = NOISE * (ratio.bar or 0)
    if before is not None and ratio.value > before * TOLERANCE + noise:
        return f"WORSE than {before:.2f}"
    return "" if ratio.is_met else "misses its bar"


def main() -> int:
    """Print every ratio; return 1 when one is worse than before."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small files, few rounds, no verdict")
    parser.add_argument("--huge", action="store_true", help="a file of 4 GiB too")
    parser.add_argument("--update", action="store_true", help="write the baseline anew")
    asked = parser.parse_args()
    compares = not (asked.quick or asked.update)
    stored = json.loads(BASELINE.read_bytes()) if compares and BASELINE.exists() else {}
    is_worse = False
    measured: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as scratch:
        run = Run(
            scratch=Path(scratch),
            large=(16 if asked.quick else 1024) * MIB,
            rounds=20 if asked.quick else 500,
            sessions=20 if asked.quick else 1000,
            huge=4096 * MIB if asked.huge else None,
        )
        for work in WORKS:
            for ratio in work(run):
                wrong = verdict(ratio, stored.get(ratio.name))
                is_worse = is_worse or wrong.startswith("WORSE")
                measured[ratio.name] = round(ratio.value, 3)
                bar = "" if ratio.bar is None else f"<= {ratio.bar:g}"
                print(f"{ratio.name:62} {ratio.value:8.2f}  {bar:7} {wrong}", flush=True)
    if asked.update:
        BASELINE.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")
    return int(is_worse)


if __name__ == "__main__":
    sys.exit(main())
