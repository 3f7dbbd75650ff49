"""What the commands that agents run cost, next to starting an interpreter that does nothing.

Each sample is a fresh process; the candidates take turns, so that whatever else the machine does
hits all of them alike. Printed are the medians and their ratio to ``python -c pass``, in wall time
until the process has ended; what a hook does when its agent has gone on is waited for outside of
the measurement. The bar is 2.5.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BAR = 2.5
ENTRY = "import sys; from ctxmeasure.cli import main; sys.exit(main())"  # as the installed script
RECORDINGS = Path(__file__).resolve().parents[1] / "tests" / "recordings" / "claude"
STATUS_LINE = (RECORDINGS / "h-tui" / "statusline.jsonl").read_bytes().splitlines()[-1]
HOOK = b'{"hook_event_name":"PostToolUse","session_id":"s","prompt_id":"p","transcript_path":"/n"}'
YARDSTICK = "python -c pass"


def candidates(folder: str) -> dict[str, tuple[list[str], bytes]]:
    """Return the command line and the payload of each candidate."""
    python = [sys.executable, "-c"]
    kept = ["--state", f"{folder}/state", "--out", f"{folder}/events.jsonl"]
    line = [*python, ENTRY, "statusline"]
    return {
        YARDSTICK: ([*python, "pass"], b""),
        "hook": ([*python, ENTRY, "hook", "--agent", "claude", *kept], HOOK),
        "statusline": (line, STATUS_LINE),
        "statusline, recorded": ([*line, *kept], STATUS_LINE),
        "statusline --wrap true": ([*line, "--wrap", "true"], STATUS_LINE),
        "--wrap true, recorded": ([*line, "--wrap", "true", *kept], STATUS_LINE),
    }


def environment(folder: str) -> dict[str, str]:
    """Return the environment of an installed package: its byte code is written down once."""
    kept = {name: value for name, value in os.environ.items() if "BYTECODE" not in name}
    return {**kept, "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}


def sample(command: list[str], payload: bytes, variables: dict[str, str]) -> float:
    """Return the seconds until *command* has ended; whatever it left behind has ended after that.

    The descriptor that everything it starts inherits tells when the last of it is gone.
    """
    until_all_end, held = os.pipe()
    start = time.perf_counter()
    subprocess.run(
        command,
        input=payload,
        stdout=subprocess.DEVNULL,
        check=True,
        pass_fds=[held],
        env=variables,
    )
    taken = time.perf_counter() - start
    os.close(held)
    os.read(until_all_end, 1)
    os.close(until_all_end)
    return taken


def main() -> None:
    """Print the table; exit with 1 if a command misses the bar."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few rounds: a smoke test")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as folder:
        commands = candidates(folder)
        samples: dict[str, list[float]] = {name: [] for name in commands}
        variables = environment(folder)
        for command, payload in commands.values():
            sample(command, payload, variables)
        for _ in range(7 if quick else 60):
            for name, (command, payload) in commands.items():
                samples[name].append(sample(command, payload, variables))
    medians = {name: statistics.median(taken) for name, taken in samples.items()}
    ratios = {name: median / medians[YARDSTICK] for name, median in medians.items()}
    for name, ratio in ratios.items():
        print(f"{name:24} {medians[name] * 1000:7.1f} ms   ratio {ratio:5.2f}")
    missed = [name for name, ratio in ratios.items() if ratio > BAR]
    if missed and not quick:  # a few rounds on a busy machine say too little
        sys.exit(f"over {BAR}: {', '.join(missed)}")


if __name__ == "__main__":
    main()
