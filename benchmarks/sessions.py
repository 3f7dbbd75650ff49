"""What `ctxmeasure sessions` costs with 1,000 sessions on disk.

The sessions are recordings of Claude Code and Codex, copied in full, with long rows among them. The
yardstick is what no answer can do without: the folders listed, every file stat'ed, and one bounded
reading of each with its verdict (`observe`). Printed are medians and their ratios to it: of finding
and asking all sessions in Python, of the newest 30, which is what the command shows by itself, and
of the command as a process, whose start is no part of the yardstick and is printed beside it.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from ctxmeasure import discover, observe

RECORDINGS = Path(__file__).parents[1] / "tests/recordings"
COMMAND = [sys.executable, "-m", "ctxmeasure", "sessions"]


def write(home: Path, count: int) -> None:
    """Write *count* sessions below *home*, in 20 projects and as many days."""
    (claude,) = (RECORDINGS / "claude/b-tools/session").rglob("*.jsonl")
    (codex,) = (RECORDINGS / "codex/h-tui/session").rglob("*.jsonl")
    for n in range(count // 2):
        project = home / f".claude/projects/-home-dev-p{n % 20}"
        day = home / f".codex/sessions/2026/11/{n % 20 + 1:02}"
        for folder in (project, day):
            folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(claude, project / f"00000000-0000-4000-8000-{n:012}.jsonl")
        name = f"rollout-2026-11-29T18-00-00-01a22898-466f-7f00-acf8-{n:012x}.jsonl"
        shutil.copyfile(codex, day / name)


def yardstick(home: Path, at: datetime) -> None:
    """List, stat and read by the shortest way there is."""
    for source, top in (("claude.transcript", ".claude"), ("codex.rollout", ".codex")):
        for folder, _, names in os.walk(home / top):
            for name in names:
                path = Path(folder, name)
                path.stat()
                observe(source, path, at=at)


def asked(machine: discover.Machine, at: datetime, *, limit: int | None = None) -> None:
    """Find the sessions and ask each."""
    for session in discover.find_sessions(machine, limit=limit).sessions:
        session.handle.observe(at=at)


def command(home: Path, *arguments: str) -> None:
    """Run a command line in a process of its own."""
    environment = {**os.environ, "HOME": str(home)}
    subprocess.run([*COMMAND, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True)


def main() -> None:
    """Let the candidates take turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100 sessions, few rounds")
    count, rounds = (100, 3) if parser.parse_args().quick else (1_000, 15)
    at = datetime.now(UTC)
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        write(home, count)
        machine = discover.Machine(system=discover.System.LINUX, home=scratch)
        candidates: dict[str, Callable[[], None]] = {
            "listed, stat'ed, one reading each": lambda: yardstick(home, at),
            "all sessions, in Python": lambda: asked(machine, at),
            "the newest 30, in Python": lambda: asked(machine, at, limit=30),
            "ctxmeasure sessions": lambda: command(home),
            "ctxmeasure sessions --all": lambda: command(home, "--all"),
            "ctxmeasure sessions --help": lambda: command(home, "--help"),
        }
        taken: dict[str, list[float]] = {name: [] for name in candidates}
        for candidate in candidates.values():  # imports, table and page cache
            candidate()
        for _ in range(rounds):
            for name in random.sample(list(candidates), len(candidates)):
                begun = time.perf_counter()
                candidates[name]()
                taken[name].append(time.perf_counter() - begun)
    medians = {name: statistics.median(times) for name, times in taken.items()}
    least = medians["listed, stat'ed, one reading each"]
    for name, median in medians.items():
        print(f"{name:34} {median * 1e3:8.1f} ms  {median / least:5.2f} x")


if __name__ == "__main__":
    main()
