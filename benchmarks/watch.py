"""What `ctxmeasure watch` takes of a core while 50 sessions are written to at once.

The sessions are recordings of Claude Code and Codex, and each gets some rows a second, among them
the rows that a reading looks for. The watcher is a process of its own, once with lines on a pipe
and once with its table on a terminal. Printed is the time that it takes of the processor, all of
its threads, as a share of the time that passes, and how many changes it showed.
"""

from __future__ import annotations

import argparse
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

RECORDINGS = Path(__file__).parents[1] / "tests/recordings"
SESSIONS = 50
WATCH = [sys.executable, "-m", "ctxmeasure", "watch", "--all", "--notify-at", "80"]


def sessions(home: Path) -> list[Path]:
    """Write the sessions' files; return their paths."""
    (claude,) = (RECORDINGS / "claude/b-tools/session").rglob("*.jsonl")
    (codex,) = (RECORDINGS / "codex/h-tui/session").rglob("*.jsonl")
    paths = []
    for n in range(SESSIONS // 2):
        paths.append(home / f".claude/projects/p{n % 5}/00000000-0000-4000-8000-{n:012}.jsonl")
        name = f"rollout-2026-11-29T18-00-00-01a22898-466f-7f00-acf8-{n:012x}.jsonl"
        paths.append(home / ".codex/sessions/2026/11/29" / name)
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(claude if ".claude" in path.parts else codex, path)
    return paths


def rows(path: Path) -> Iterator[bytes]:
    """Yield the file's own rows for ever."""
    lines = path.read_bytes().splitlines(keepends=True)
    while True:
        yield from lines[len(lines) // 2 :]


def processor_time(process: int) -> float:
    """Return the seconds of processor that a process has taken (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def drained(descriptor: int) -> list[bytes]:
    """Read all that comes on *descriptor*, in the background; return the growing list of it."""
    pieces: list[bytes] = []

    def drain() -> None:
        try:
            while piece := os.read(descriptor, 65536):
                pieces.append(piece)
        except OSError:  # the terminal's other end is closed
            pass

    threading.Thread(target=drain, daemon=True).start()
    return pieces


def measure(home: Path, paths: list[Path], *, terminal: bool, rate: float, seconds: float) -> None:
    """Print what the watcher takes while every file gets *rate* rows a second."""
    ours, theirs = pty.openpty() if terminal else os.pipe()
    environment = {**os.environ, "HOME": str(home), "COLUMNS": "120", "LINES": "60"}
    with subprocess.Popen(WATCH, stdout=theirs, env=environment, cwd=home) as watcher:
        os.close(theirs)
        pieces = drained(ours)
        while not pieces:
            time.sleep(0.1)
        time.sleep(1)
        before, begun, written = processor_time(watcher.pid), time.perf_counter(), 0
        feeds = [(path.open("ab", buffering=0), rows(path)) for path in paths]
        while (passed := time.perf_counter() - begun) < seconds:
            while written < passed * rate * len(paths):
                file, lines = feeds[written % len(feeds)]
                file.write(next(lines))
                written += 1
            time.sleep(0.02)
        taken = processor_time(watcher.pid) - before
        watcher.send_signal(signal.SIGINT)
    assert watcher.returncode == 0
    shown = b"".join(pieces).count(b"claude-sonnet" if terminal else b"\n")
    form = "table" if terminal else "lines"
    print(
        f"{form:6} {len(paths)} sessions, {written / passed:5.0f} rows/s"
        f"  {100 * taken / passed:5.2f} % of a core  {shown:6} rows shown"
    )


def main() -> None:
    """Measure lines and table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few seconds")
    seconds = 5 if parser.parse_args().quick else 60
    for terminal in (False, True):
        for rate in (0.2, 4):
            with tempfile.TemporaryDirectory() as scratch:
                home = Path(scratch)
                measure(home, sessions(home), terminal=terminal, rate=rate, seconds=seconds)


if __name__ == "__main__":
    main()
