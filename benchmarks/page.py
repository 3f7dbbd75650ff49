"""What the page on a session of 200 MB weighs, and how soon it can be used in a browser.

The session is written by `session_files`; `--quick` writes one of 5 MB. Printed are the size of
the page, and the times to scan the session, to make the page, and in Chromium (where there is one)
from the address to a first key that is answered: the median of several openings.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import session_files

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from chromium import BINARY, Chromium

from ctxmeasure import history
from ctxmeasure.report import Curve, page

_MOST_BYTES = 2_000_000
_MOST_SECONDS = 1.0


def opened(path: Path, folder: Path, rounds: int) -> float:
    """Return in how many seconds the page at *path* answers a first key."""
    taken = []
    with Chromium(folder / "profile") as browser:
        for _ in range(rounds + 1):  # the first one finds the browser cold
            begun = time.perf_counter()
            shown = browser.open(path)
            shown.ask("document.getElementById('at').focus()")
            shown.press("Home")
            shown.wait_for("document.getElementById('reading').textContent.includes('oment 1')")
            taken.append(time.perf_counter() - begun)
            shown.close()
    return statistics.median(taken[1:])


def main() -> None:
    """Write the session, make its page, and open it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="5 MB, one round")
    is_quick = parser.parse_args().quick
    size, rounds = (5, 1) if is_quick else (200, 7)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        session, path = folder / "session.jsonl", folder / "page.html"
        session_files.transcript(session, size * session_files.MIB)
        begun = time.perf_counter()
        curve = Curve.of(history.scan("claude.transcript", session))
        scanned = time.perf_counter()
        path.write_text(page(curve, at=datetime.now(UTC)), encoding="utf-8")
        made = time.perf_counter()
        length = path.stat().st_size
        print(f"{size} MiB, {len(curve.points):,} moments")
        print(f"the page            {length:12,} bytes")
        print(f"scanned in          {scanned - begun:12.2f} s")
        print(f"made in             {made - scanned:12.2f} s")
        if BINARY is None:
            print("no chromium on this machine: the page was not opened")
            return
        seconds = opened(path, folder, rounds)
        print(f"answers a key after {seconds:12.2f} s")
    if not is_quick and (length > _MOST_BYTES or seconds > _MOST_SECONDS):
        sys.exit("the page is too large or too slow")


if __name__ == "__main__":
    main()
