"""What the latest row of a transcript costs, by the size of the file and against the bare minimum.

The large transcript is a sparse file, so no gigabyte is written. The yardstick is what nobody can
do without: open, read the last 64 KiB, find the needle, decode the row. Candidates take turns
in random order, because each leaves the caches warm or cold for the next; printed are medians and
their ratio to the yardstick.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from ctxmeasure.bounded.budget import KIB, MIB, ReadBudget
from ctxmeasure.bounded.jsonl import TailReader

NEEDLE = b'"usage"'
ROW = (
    b'{"type":"assistant","message":{"model":"claude-opus-4-6","usage":{"input_tokens":2,'
    b'"cache_creation_input_tokens":40442,"cache_read_input_tokens":36762,"output_tokens":504}}}\n'
)
FILLER = b'{"type":"user","message":{"content":"' + b"lorem ipsum dolor " * 60 + b'"}}\n'
# Half of real transcripts hold their last usage row within 2.4 KB (formats/claude.md §1.5).
END = b"\n" + FILLER * 100 + ROW + FILLER * 2
YARDSTICK = "by hand, 1 GB"


def write(path: Path, size: int) -> Path:
    """Write a transcript of *size* bytes that is sparse but for its end."""
    with path.open("wb") as file:
        file.truncate(size - len(END))
        file.seek(0, os.SEEK_END)
        file.write(END)
    return path


def by_hand(path: Path) -> Any:
    """Return the latest row as the shortest possible program finds it."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        window = os.pread(descriptor, 64 * KIB, os.fstat(descriptor).st_size - 64 * KIB)
    finally:
        os.close(descriptor)
    hit = window.rfind(NEEDLE)
    return orjson.loads(window[window.rfind(b"\n", 0, hit) + 1 : window.find(b"\n", hit)])


def whole(path: Path) -> Any:
    """Return the latest row as a program finds it that reads the file from its beginning."""
    latest = None
    with path.open("rb") as file:
        for line in file:
            if NEEDLE in line:
                latest = orjson.loads(line)
    return latest


def latest(path: Path, *needles: bytes) -> Any:
    """Return the latest row as we find it."""
    reader = TailReader.open(path, ReadBudget())
    assert isinstance(reader, TailReader)
    with reader:
        return next(reader.tail.rows(*needles)).value


def absent(path: Path) -> None:
    """Look for what is not there until a budget of 4 MiB ends."""
    reader = TailReader.open(path, ReadBudget(maximum=4 * MIB))
    assert isinstance(reader, TailReader)
    with reader:
        while next(reader.tail.rows(b"never"), None) is None and reader.grow():
            pass


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few rounds: a smoke test")
    rounds = 20 if parser.parse_args().quick else 2000
    with tempfile.TemporaryDirectory() as folder:
        small = write(Path(folder, "small.jsonl"), MIB)
        large = write(Path(folder, "large.jsonl"), 1024 * MIB)
        assert latest(small, NEEDLE) == latest(large, NEEDLE) == by_hand(large) == whole(small)
        candidates: dict[str, Callable[[], Any]] = {
            YARDSTICK: lambda: by_hand(large),
            "latest row, 1 MB": lambda: latest(small, NEEDLE),
            "latest row, 1 GB": lambda: latest(large, NEEDLE),
            "latest row, 4 rare needles more": lambda: latest(
                large, NEEDLE, b"compact_boundary", b"rewound", b"[1m]", b"never"
            ),
            "absent needle, 4 MiB budget": lambda: absent(large),
            "whole file, 1 MB": lambda: whole(small),
        }
        samples: dict[str, list[float]] = {name: [] for name in candidates}
        for _ in range(rounds):
            for name, candidate in random.sample(list(candidates.items()), len(candidates)):
                start = time.perf_counter()
                candidate()
                samples[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(taken) for name, taken in samples.items()}
    for name, median in medians.items():
        ratio = median / medians[YARDSTICK]
        print(f"{name:32} {median * 1e6:9.1f} µs   ratio {ratio:7.2f}")
    sizes = medians["latest row, 1 GB"] / medians["latest row, 1 MB"]
    print(f"1 GB to 1 MB: ratio {sizes:.2f}")


if __name__ == "__main__":
    main()
