"""What `import ctxmeasure` costs next to importing the packages it stands on.

Each sample is a fresh interpreter; the candidates take turns, so that whatever else the machine
does hits all of them alike. Printed are medians with the cost of a bare interpreter taken off, and
their ratio, which is what can be compared between machines.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

CANDIDATES = {
    "bare interpreter": "pass",
    "import attrs, orjson": "import attrs, orjson",
    "import ctxmeasure": "import ctxmeasure",
    "ctxmeasure.Observed": "from ctxmeasure import Observed",
    "ctxmeasure.observe": "from ctxmeasure import observe",
}
YARDSTICK = "import attrs, orjson"


def sample(program: str) -> float:
    """Return the seconds that a fresh interpreter takes to run *program*."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    return time.perf_counter() - start


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few rounds: a smoke test")
    rounds = 5 if parser.parse_args().quick else 40
    samples: dict[str, list[float]] = {name: [] for name in CANDIDATES}
    for _ in range(rounds):
        for name, program in CANDIDATES.items():
            samples[name].append(sample(program))
    medians = {name: statistics.median(taken) for name, taken in samples.items()}
    bare = medians.pop("bare interpreter")
    yardstick = medians[YARDSTICK] - bare
    print(f"{'bare interpreter':24} {bare * 1000:7.1f} ms")
    for name, median in medians.items():
        cost = median - bare
        print(f"{name:24} {cost * 1000:+7.1f} ms   ratio {cost / yardstick:5.2f}")


if __name__ == "__main__":
    main()
