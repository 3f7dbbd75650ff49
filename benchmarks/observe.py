"""What a whole reading of a Claude transcript costs, by the size of the file.

The transcripts are real rows: a recording repeated until the size is reached, all of it written,
none of it sparse. The question is a runner's, ``observe(claude.TRANSCRIPT, path)``, on files that
lie in the page cache. Candidates take turns in random order; printed are medians, the ratio to the
smallest file and the bytes that the reading says it asked for.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

from ctxmeasure import Observed, claude, observe

RECORDING = Path(__file__).parents[1] / "tests/recordings/claude/b-tools/session"
MIB = 1024 * 1024


def write(path: Path, size: int) -> Path:
    """Write a transcript of about *size* bytes that ends as the recording ends."""
    (session,) = RECORDING.glob("*.jsonl")
    rows = session.read_bytes()
    with path.open("wb") as file:
        for _ in range(max(1, size // len(rows))):
            file.write(rows)
    return path


def reading(path: Path) -> Observed:
    """Return the reading that is timed."""
    observation = observe(claude.TRANSCRIPT, path)
    assert isinstance(observation, Observed)
    return observation


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds, at most 100 MiB")
    quick = parser.parse_args().quick
    sizes, rounds = ([1, 10, 100], 50) if quick else ([1, 10, 100, 1024], 500)
    with tempfile.TemporaryDirectory() as scratch:
        paths = {size: write(Path(scratch) / f"{size}.jsonl", size * MIB) for size in sizes}
        taken: dict[int, list[float]] = {size: [] for size in sizes}
        for size in sizes:  # imports, table and page cache
            reading(paths[size])
        for _ in range(rounds):
            for size in random.sample(sizes, len(sizes)):
                start = time.perf_counter()
                reading(paths[size])
                taken[size].append(time.perf_counter() - start)
        smallest = statistics.median(taken[sizes[0]])
        for size in sizes:
            median = statistics.median(taken[size])
            asked = reading(paths[size]).provenance.stats.bytes_read
            print(
                f"{size:5} MiB  {median * 1e6:7.0f} us  {median / smallest:5.2f} x  {asked:7} bytes"
            )


if __name__ == "__main__":
    main()
