"""Draw docs/images: what the real program shows, on a home that is made of the recordings.

Run it after a change of the table. The picture is text in an SVG without any outside reference;
ages are those of the home, so it is the same on every day.
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

from rich.console import Console

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from homes import Home  # noqa: E402 - after the path to it

from ctxmeasure.cli.overview import Look, Order, Seen, table  # noqa: E402
from ctxmeasure.discover import find_sessions  # noqa: E402

IMAGE = ROOT / "docs/images/sessions.svg"
COLUMNS = 112


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


def main() -> None:
    """Write the picture."""
    console = Console(file=io.StringIO(), record=True, width=COLUMNS, force_terminal=True)
    look = Look(names=True, order=Order.NEWEST, yellow=70, red=85)
    with tempfile.TemporaryDirectory() as scratch:
        seen = sessions(Path(scratch))
        at = max(one.dated for one in seen) + timedelta(minutes=2)
        console.print(table(seen, look, console, at=at))
    drawn = console.export_svg(title="ctxmeasure sessions", unique_id="sessions")
    # No font from elsewhere: a page that is read offline draws it in its own.
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
    drawn = drawn.replace("Fira Code, monospace", "monospace")
    IMAGE.parent.mkdir(exist_ok=True)
    IMAGE.write_text(re.sub(r"[ \t]+$", "", drawn, flags=re.MULTILINE), encoding="utf-8")


if __name__ == "__main__":
    main()
