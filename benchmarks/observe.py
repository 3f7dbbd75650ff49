"""What a whole reading of a session file costs, by the size of the file.

The files are real rows: a recording repeated until the size is reached, all of it written, none of
it sparse. The questions are a runner's: the latest sample of a Claude Code transcript and of a
Codex rollout, both in the page cache. Candidates take turns in random order; printed are medians,
the ratio to the smallest file and the bytes that the reading says it asked for.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

from ctxmeasure import Observed, observe

RECORDINGS = Path(__file__).parents[1] / "tests/recordings"
SESSIONS = {
    "claude.transcript": RECORDINGS / "claude/b-tools/session",
    "codex.rollout": RECORDINGS / "codex/h-tui/session",
}
MIB = 1024 * 1024


def write(path: Path, source: str, size: int) -> Path:
    """Write a session file of about *size* bytes that ends as its recording ends."""
    (session,) = SESSIONS[source].rglob("*.jsonl")
    rows = session.read_bytes()
    with path.open("wb") as file:
        for _ in range(max(1, size // len(rows))):
            file.write(rows)
    return path


def reading(source: str, path: Path) -> Observed:
    """Return the reading that is timed."""
    observation = observe(source, path)
    assert isinstance(observation, Observed)
    return observation


def compare(source: str, scratch: Path, sizes: list[int], rounds: int) -> None:
    """Print a line for each size, in MiB."""
    paths = {size: write(scratch / f"{source}-{size}", source, size * MIB) for size in sizes}
    taken: dict[int, list[float]] = {size: [] for size in sizes}
    for size in sizes:  # imports, table and page cache
        reading(source, paths[size])
    for _ in range(rounds):
        for size in random.sample(sizes, len(sizes)):
            start = time.perf_counter()
            reading(source, paths[size])
            taken[size].append(time.perf_counter() - start)
    smallest = statistics.median(taken[sizes[0]])
    for size in sizes:
        median = statistics.median(taken[size])
        asked = reading(source, paths[size]).provenance.stats.bytes_read
        print(
            f"{source:17} {size:5} MiB  {median * 1e6:7.0f} us  {median / smallest:5.2f} x"
            f"  {asked:7} bytes"
        )


def main() -> None:
    """Compare the sizes for each source."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds, at most 100 MiB")
    quick = parser.parse_args().quick
    sizes, rounds = ([1, 10, 100], 50) if quick else ([1, 44, 1024], 500)
    for source in SESSIONS:
        with tempfile.TemporaryDirectory() as scratch:
            compare(source, Path(scratch), sizes, rounds)


if __name__ == "__main__":
    main()
