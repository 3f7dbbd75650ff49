"""Hooks by the thousand, in many processes, and killed at random: is every sample published once?

``python benchmarks/hooks.py`` runs 10,000 hooks of 50 interleaved sessions in 8 processes, and then
again with every third process killed with SIGKILL at a random moment; ``--quick`` runs 400. A hook
is run as its command runs it, in a process of its own, but forked from one that has imported the
house already: what is tested is what hooks do to each other, not the interpreter. Printed are hooks
per second and what was found: lines, samples, repeated, lost, torn and locked.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ctxmeasure.cli.swift import recording

BEGIN = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
STEP = timedelta(seconds=20)
SESSIONS, WORKERS = 50, 8
LONGEST = 0.02  # seconds; a hook takes some 8 ms here, so the kill comes at any of its steps


def main() -> None:
    """Run both, and exit with 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few hooks: a smoke test")
    parser.add_argument("--hooks", type=int, help="how many; default 10,000")
    parser.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.worker:
        folder, number, turns, kills = asked.worker
        work(Path(folder), int(number), int(turns), kills=kills == "True")
        return
    turns = max(1, (asked.hooks or (400 if asked.quick else 10_000)) // SESSIONS)
    is_wrong = [run(turns, kills=kills) for kills in (False, True)]
    sys.exit(any(is_wrong))


def run(turns: int, *, kills: bool) -> bool:
    """Run *turns* hooks of every session, print what came of it, and return whether it is wrong."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = time.perf_counter()
        workers = [
            subprocess.Popen(
                [sys.executable, __file__, "--worker", name, str(number), str(turns), str(kills)]
            )
            for number in range(WORKERS)
        ]
        statuses = [worker.wait() for worker in workers]
        taken = time.perf_counter() - start
        found = findings(folder, turns)
    hooks = turns * SESSIONS
    title = "killed at random" if kills else "undisturbed"
    counts = "  ".join(f"{what} {count}" for what, count in found.items())
    print(f"{title:18} {hooks} hooks  {hooks / taken:6.0f} a second  {counts}")
    wrong = ("repeated", "lost", "torn", "locked", "noted")
    return any(statuses) or any(found[what] for what in wrong) or found["samples"] != hooks


def work(folder: Path, number: int, turns: int, *, kills: bool) -> None:
    """Be one of the processes: take every turn whose number is this one's, of all sessions.

    A turn's hook is called until one lives to its end; several processes call hooks of one session
    at the same time.
    """
    dice = random.Random(number)
    with tempfile.TemporaryDirectory() as elsewhere:  # import all that is imported when it is used
        sample(Path(elsewhere), turn_of(Path(elsewhere), 0, 0), BEGIN)
    for turn in range(turns):
        for session in range(SESSIONS):
            if (turn * SESSIONS + session) % WORKERS != number:
                continue
            payload = turn_of(folder, session, turn)
            at = BEGIN + turn * STEP
            while not hook(folder, payload, at, dice if kills else None):
                pass


def turn_of(folder: Path, session: int, turn: int) -> bytes:
    """Write what one turn of a session leaves on disk, and return its hook's payload.

    Each turn has a file of its own, so that processes do not have to wait for each other's turns.
    """
    session_id, prompt_id = f"session-{session}", f"prompt-{turn}"
    path = folder / f"{session_id}-{turn}.jsonl"
    written_at = (BEGIN + turn * STEP).isoformat().replace("+00:00", "Z")
    common = {"sessionId": session_id, "timestamp": written_at, "version": "2.1.332"}
    usage = {
        "input_tokens": 1_000 + turn,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 10 * session,
        "output_tokens": 1,
    }
    message = {"id": f"msg_01{turn}", "role": "assistant", "model": "claude-opus-4-5"}
    rows = [
        {**common, "type": "user", "uuid": "u", "parentUuid": None, "promptId": prompt_id}
        | {"message": {"role": "user", "content": "x"}},
        {**common, "type": "assistant", "uuid": "a", "parentUuid": "u"}
        | {"message": {**message, "content": [], "stop_reason": "end_turn", "usage": usage}},
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    hook = {"hook_event_name": "Stop", "session_id": session_id, "prompt_id": prompt_id}
    return json.dumps({**hook, "transcript_path": str(path)}).encode()


def hook(folder: Path, payload: bytes, at: datetime, dice: random.Random | None) -> bool:
    """Run a hook in a process of its own, and return whether it came to its end."""
    child = os.fork()
    if not child:
        try:
            sample(folder, payload, at)
        finally:
            os._exit(0)
    if dice is not None and dice.random() < 1 / 3:
        time.sleep(dice.random() * LONGEST)
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1] == 0


def sample(folder: Path, payload: bytes, at: datetime) -> None:
    """Do what the process of a hook does when its agent has gone on."""
    options = {
        "--agent": "claude",
        "--state": str(folder / "state"),
        "--out": str(folder / "events.jsonl"),
    }
    recording.of_hook(payload, int(at.timestamp()) * 1_000_000_000, options)


def findings(folder: Path, turns: int) -> dict[str, int]:
    """Return what was found, in numbers."""
    raw = (folder / "events.jsonl").read_bytes()
    events = [*decoded(raw)]
    samples = Counter(
        event["provenance"]["source_record_id"]
        for event in events
        if event is not None and event["payload"]["measurement"]["state"] == "observed"
    )
    used = Counter(
        event["payload"]["measurement"]["value"]["used_tokens"]
        for event in events
        if event is not None
    )
    expected = Counter(
        1_000 + turn + 10 * session for turn in range(turns) for session in range(SESSIONS)
    )
    notes = folder / "state" / "errors.log"
    if notes.exists():
        print(notes.read_text())
    return {
        "lines": len(events),
        "samples": len(samples),
        "repeated": sum(count - 1 for count in samples.values()),
        "lost": sum((expected - used).values()),
        "torn": events.count(None) + (not raw.endswith(b"\n")),
        "locked": int(is_locked(folder / "state" / "locks")),
        "noted": len(notes.read_text().splitlines()) if notes.exists() else 0,
    }


def decoded(raw: bytes) -> Iterator[Any]:
    """Yield the event on each line, None for a line that holds none."""
    for line in raw.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            yield None


def is_locked(path: Path) -> bool:
    """Tell whether anyone holds any lock of the file."""
    with path.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


if __name__ == "__main__":
    main()
