"""Draw docs/images: what the real program shows.

The table of sessions is that of a home made of the recordings, the curve that of a session that
the benchmarks write. Run it after a change of either. The pictures are text in an SVG without any
outside reference, the same on every day.
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from contextlib import chdir
from datetime import timedelta
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

from homes import Home  # noqa: E402 - after the path to it
from session_files import MIB, transcript  # noqa: E402 - as above

from ctxmeasure import history  # noqa: E402 - as above
from ctxmeasure.cli.history import coloured  # noqa: E402 - as above
from ctxmeasure.cli.overview import Look, Order, Seen, table  # noqa: E402
from ctxmeasure.discover import find_sessions  # noqa: E402
from ctxmeasure.report import Curve, plotted, sentences  # noqa: E402

IMAGES = ROOT / "docs/images"
COLUMNS = 120


def sessions(folder: Path) -> list[Seen]:
    """Return what is seen of a home with sessions of every agent."""
    home = Home(folder)
    home.cursor_chat(used=221_000, minutes=2)
    home.claude("h-tui-1m", "a", minutes=7)
    home.codex("h-tui", minutes=19)
    home.claude("g-unknown-model", "b", minutes=45)
    home.pi("h-tui", minutes=180)
    home.claude("b-tools", "c", minutes=300)
    found = find_sessions(home.machine()).sessions
    return [Seen(session, session.handle.observe(at=home.at)) for session in found]


def table_of_sessions(console: Console, folder: Path) -> None:
    """Print the table of a home's sessions."""
    look = Look(names=True, order=Order.NEWEST, yellow=70, red=85)
    seen = sessions(folder)
    at = max(one.dated for one in seen) + timedelta(minutes=2)
    console.print(table(seen, look, console, at=at))


def curve_of_a_session(console: Console, folder: Path) -> None:
    """Print the curve of a session that was compacted."""
    folder.mkdir()
    session = folder / "session.jsonl"
    transcript(session, 2 * MIB, seed=4)
    curve = Curve.of(history.scan("claude.transcript", session))
    console.print(coloured(plotted(curve, width=COLUMNS)))
    console.print(Text("\n".join(sentences(curve))))


def main() -> None:
    """Write the pictures."""
    for name, draw in (("sessions", table_of_sessions), ("history", curve_of_a_session)):
        console = Console(file=io.StringIO(), record=True, width=COLUMNS, force_terminal=True)
        # Ids are made of paths: these have to be the same in every folder.
        with tempfile.TemporaryDirectory() as scratch, chdir(scratch):
            draw(console, Path("home"))
        drawn = console.export_svg(title=f"ctxmeasure {name}", unique_id=name)
        # No font from elsewhere: a page that is read offline draws it in its own.
        drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
        drawn = drawn.replace("Fira Code, monospace", "monospace")
        IMAGES.mkdir(exist_ok=True)
        written = re.sub(r"[ \t]+$", "", drawn, flags=re.MULTILINE)
        (IMAGES / f"{name}.svg").write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
