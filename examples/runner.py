"""A loop that drives coding agents, as Ralph does, and knows how full each one's context gets.

``python examples/runner.py LOOP.json [--continue]``. LOOP.json names the hats in the order in which
they are worn, and how often: ``{"rounds": 2, "hats": [{"name": "builder", "backend": "claude",
"command": ["claude", "-p", "...", "--output-format", "stream-json", "--verbose"]}]}``. Beside it
stand ``events.jsonl``, a line for each iteration, and ``peaks.json``, which ``--continue`` reads.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ctxmeasure import RUNNER_DEFAULTS, Peaks, Policy, Stream, acp, claude, codex, pi, record, text
from ctxmeasure.render import iteration_line
from ctxmeasure.source import StreamSource

# What each backend prints. One loop mixes backends, so each iteration has a stream of its own.
STREAMS: dict[str, StreamSource[Any]] = {
    "acp": acp.SESSION,
    "claude": claude.STREAM,
    "codex": codex.EXEC,
    "pi": pi.STREAM,
}
POLICY = Policy(assume_limits=RUNNER_DEFAULTS)  # marked as assumed wherever it shows


def iterate(hat: dict[str, Any], peaks: Peaks) -> tuple[dict[str, Any], Peaks]:
    """Run the agent of *hat* once; return the event of the iteration, and the peaks after it."""
    source = STREAMS.get(hat["backend"], text.TEXT)
    stream = Stream(source, limit_tokens=hat.get("window"), policy=POLICY)
    began = time.monotonic()
    with subprocess.Popen(hat["command"], stdout=subprocess.PIPE) as agent:
        for line in agent.stdout or ():
            sys.stdout.buffer.write(line)
            sys.stdout.flush()
            stream.feed(line)
    duration_ms = round(1000 * (time.monotonic() - began))
    current, peak, tally = stream.finish(), stream.peak, stream.tally  # also after a crash
    print(iteration_line(duration_ms, tally.cost_usd, tally.turns, peak), file=sys.stderr)
    stated = {"turns": tally.turns, "cost_usd": tally.cost_usd}
    event = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "hat": hat["name"],
        "duration_ms": duration_ms,
        "exit_status": agent.returncode,
        **{key: number for key, number in stated.items() if number is not None},
        "current": record.runner_event_fields(current),
        "peak": record.runner_event_fields(peak),
    }
    return event, peaks.updated(current, peak=peak, hat=hat["name"])


def kept_peaks(path: Path) -> Peaks:
    """Return the peaks that an earlier loop left at *path*, if any did."""
    try:
        return Peaks.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Peaks()


def keep(path: Path, peaks: Peaks) -> None:
    """Leave *peaks* at *path*, whole or not at all: loops get killed, and disks fill up."""
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(peaks.to_dict()), encoding="utf-8")
    fresh.replace(path)


def main() -> None:
    """Run the loop that the command line names."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader may leave, as in `| head -1`
    parser = argparse.ArgumentParser()
    parser.add_argument("loop", type=Path)
    parser.add_argument("--continue", action="store_true", dest="goes_on")
    asked = parser.parse_args()
    loop = json.loads(asked.loop.read_text(encoding="utf-8"))
    events, kept = asked.loop.with_name("events.jsonl"), asked.loop.with_name("peaks.json")
    try:
        peaks = kept_peaks(kept) if asked.goes_on else Peaks()
    except (TypeError, ValueError):
        parser.error("peaks.json is damaged: remove it, or begin anew without --continue")
    for hat in loop["hats"] * loop["rounds"]:
        event, peaks = iterate(hat, peaks)
        with events.open("a", encoding="utf-8") as log:
            log.write(json.dumps(event) + "\n")
        keep(kept, peaks)
    for name, highest in peaks.by_hat.items():  # a hat that was never measured is not there
        print(f"{name}, at its fullest: {highest.used_tokens} tokens", file=sys.stderr)


if __name__ == "__main__":
    main()
