"""Measures the same questions on the same files against other tools, and prints a table.

The tools come from the public registries into a temporary folder: ``ccusage`` and ``ccstatusline``
(npm), ``cc-context-stats`` and ``ccstatusline-py`` (PyPI). One that cannot be installed is named
and left out, so nothing fails without a network. Every tool runs with a home of its own that holds
one session (or many, for the sweep), and candidates take turns; printed are the least wall time of
the rounds and the peak of resident memory, of whole processes. ``--quick`` takes small files.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import define, field, frozen
from session_files import KIB, MIB, transcript

SESSION = "11111111-0000-4000-8000-{:012}"
PROJECT = "-home-dev-project"
# The newest release whose native package the registries served; a later one is tried first.
CCUSAGE_FALLBACK = "20.0.24"
PYTHON_PEERS = ("cc-context-stats", "ccstatusline-py")


@frozen
class Tool:
    """A command of a tool.

    Attributes:
        name: As the table names it.
        argv: The command.
        reads_payload: It gets the status line's payload on its standard input.
    """

    name: str
    argv: tuple[str, ...]
    reads_payload: bool = False


@define
class Cost:
    """What runs of one tool cost.

    Attributes:
        seconds: The least wall time.
        resident: The most resident memory, in bytes.
    """

    seconds: float = float("inf")
    resident: int = 0


# -- installing -----------------------------------------------------------------------------------


def run_quietly(*argv: str, cwd: Path) -> bool:
    """Run a command and tell whether it succeeded."""
    try:
        done = subprocess.run(argv, cwd=cwd, capture_output=True, check=False, timeout=300)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def npm_tools(folder: Path) -> list[Tool]:
    """Install the npm tools into *folder*; return those that run."""
    folder.mkdir()
    (folder / "package.json").write_text("{}", encoding="ascii")
    modules = folder / "node_modules"
    tools: list[Tool] = []
    if run_quietly("npm", "install", "ccstatusline", cwd=folder):
        script = modules / "ccstatusline/dist/ccstatusline.js"
        tools.append(Tool("ccstatusline (npm)", ("node", str(script)), reads_payload=True))
    for version in ("latest", CCUSAGE_FALLBACK):
        run_quietly("npm", "install", f"ccusage@{version}", cwd=folder)
        natives = [*modules.glob("@ccusage/*/bin/ccusage")]
        if natives:  # the binary itself: without the start of node around it
            natives[0].chmod(0o755)  # as ccusage's own launcher does
            ccusage = str(natives[0])
            tools += [
                Tool(
                    "ccusage statusline",
                    (ccusage, "statusline", "--offline", "--no-cache"),
                    reads_payload=True,
                ),
                Tool("ccusage session", (ccusage, "session", "--json", "--offline")),
                Tool(
                    "ccusage claude session", (ccusage, "claude", "session", "--json", "--offline")
                ),
            ]
            break
    return tools


def python_tools(folder: Path) -> list[Tool]:
    """Install the Python tools into *folder*; return those that run."""
    programs = folder / "bin"
    if not run_quietly(sys.executable, "-m", "venv", str(folder), cwd=folder.parent):
        return []
    for package in PYTHON_PEERS:
        run_quietly(str(programs / "pip"), "install", "-q", package, cwd=folder)
    named = {"claude-statusline": "cc-context-stats", "ccstatusline": "ccstatusline-py"}
    return [
        Tool(f"{package} (PyPI)", (str(programs / program),), reads_payload=True)
        for program, package in named.items()
        if (programs / program).exists()
    ]


def own_tools() -> list[Tool]:
    """Return our own commands; the status line's is the general one until there is a special."""
    module = (sys.executable, "-m", "ctxmeasure")
    has_own = subprocess.run([*module, "statusline", "--help"], capture_output=True, check=False)
    line = ("statusline",) if has_own.returncode == 0 else ("observe", "claude.status_line", "-")
    scan = (
        "import sys; from ctxmeasure import history;"
        "print(sum(1 for _ in history.scan('claude.transcript', sys.argv[1])))"
    )
    sweep = (
        "import sys; from pathlib import Path; from ctxmeasure import observe;"
        "print(len([observe('claude.transcript', p) for p in Path(sys.argv[1]).glob('*.jsonl')]))"
    )
    return [
        Tool(f"ctxmeasure {line[0]}", (*module, *line), reads_payload=True),
        Tool("history.scan", (sys.executable, "-c", scan, "FILE")),
        Tool("observe, each file", (sys.executable, "-c", sweep, "FOLDER")),
    ]


# -- homes and payloads ---------------------------------------------------------------------------


@frozen
class Home:
    """A home folder with sessions in it.

    Attributes:
        path: The folder.
        sessions: The sessions' files.
    """

    path: Path
    sessions: tuple[Path, ...] = field(repr=False)

    @classmethod
    def with_sessions(cls, path: Path, sizes: list[int]) -> Home:
        """Write sessions of *sizes* bytes into a home at *path*."""
        folder = path / ".claude/projects" / PROJECT
        folder.mkdir(parents=True)
        files = [folder / f"{SESSION.format(number)}.jsonl" for number in range(len(sizes))]
        for seed, (file, size) in enumerate(zip(files, sizes, strict=True)):
            transcript(file, size, seed=seed + 1)
        return cls(path, tuple(files))

    @property
    def environment(self) -> Mapping[str, str]:
        """An environment in which every tool finds this home and nothing else of the user's."""
        kept = {key: os.environ[key] for key in ("PATH", "PYTHONPATH") if key in os.environ}
        return {
            **kept,
            "HOME": str(self.path),
            "CLAUDE_CONFIG_DIR": str(self.path / ".claude"),
            "XDG_CONFIG_HOME": str(self.path / ".config"),
            "XDG_CACHE_HOME": str(self.path / ".cache"),
        }

    def payload(self) -> bytes:
        """Return what Claude Code 2.1.332 hands a status line for the first session."""
        path = self.sessions[0]
        usage = {
            "input_tokens": 4,
            "output_tokens": 10,
            "cache_creation_input_tokens": 100,
            "cache_read_input_tokens": 30_000,
        }
        folder = "/home/dev/project"
        payload = {
            "hook_event_name": "Status",
            "session_id": path.stem,
            "transcript_path": str(path),
            "cwd": folder,
            "model": {"id": "claude-sonnet-4-5-20250929", "display_name": "Sonnet 4.5"},
            "workspace": {"current_dir": folder, "project_dir": folder},
            "version": "2.1.332",
            "output_style": {"name": "default"},
            "cost": {
                "total_cost_usd": 0.1,
                "total_duration_ms": 1,
                "total_api_duration_ms": 1,
                "total_lines_added": 0,
                "total_lines_removed": 0,
            },
            "context_window": {
                "context_window_size": 200_000,
                "current_usage": usage,
                "used_percentage": 15,
                "remaining_percentage": 85,
                "total_input_tokens": 30_104,
                "total_output_tokens": 10,
            },
            "exceeds_200k_tokens": False,
        }
        return json.dumps(payload).encode()


# -- measuring ------------------------------------------------------------------------------------


# A process inherits the peak of the one that it was forked from, so a small one has to start it.
_LAUNCHER = """
import os, sys, time
payload, *argv = sys.argv[1:]
nothing = os.open(os.devnull, os.O_WRONLY)
files = [(os.POSIX_SPAWN_OPEN, 0, payload, os.O_RDONLY, 0)]
files += [(os.POSIX_SPAWN_DUP2, nothing, number) for number in (1, 2)]
start = time.perf_counter()
_, _, used = os.wait4(os.posix_spawnp(argv[0], argv, os.environ, file_actions=files), 0)
print(time.perf_counter() - start, used.ru_maxrss)
"""


def once(tool: Tool, home: Home) -> tuple[float, int]:
    """Run *tool* once; return its wall time in seconds and its peak of resident memory in bytes."""
    places = {"FILE": str(home.sessions[0]), "FOLDER": str(home.sessions[0].parent)}
    payload = home.path / "payload.json"
    payload.write_bytes(home.payload() if tool.reads_payload else b"")
    done = subprocess.run(
        [
            *(sys.executable, "-I", "-S", "-c", _LAUNCHER, str(payload)),
            *(places.get(word, word) for word in tool.argv),
        ],
        env=home.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, resident = done.stdout.split()
    kib = 1 if sys.platform == "darwin" else KIB  # macOS counts bytes
    return float(seconds), int(resident) * kib


def costs(tools: list[Tool], home: Home, rounds: int) -> dict[str, Cost]:
    """Run every tool in turns; return what each cost."""
    found = {tool.name: Cost() for tool in tools}
    for _ in range(rounds):
        for tool in random.sample(tools, len(tools)):
            seconds, resident = once(tool, home)
            cost = found[tool.name]
            cost.seconds = min(cost.seconds, seconds)
            cost.resident = max(cost.resident, resident)
    return found


def print_table(title: str, found: Mapping[str, Cost]) -> None:
    """Print what *title* cost, as rows of a Markdown table; our own tool is the yardstick."""
    ours = next(iter(found.values())).seconds
    for name, cost in sorted(found.items(), key=lambda entry: entry[1].seconds):
        print(
            f"| {title} | {name} | {cost.seconds * 1000:,.0f} ms | {cost.seconds / ours:.2f}"
            f" | {cost.resident / MIB:,.0f} MiB |",
            flush=True,
        )


def measure(scratch: Path, tools: list[Tool], *, quick: bool) -> None:
    """Print the whole table."""
    line, scan, sweep = own_tools()
    readers = [line, *(tool for tool in tools if tool.reads_payload)]
    scanners = [tool for tool in tools if not tool.reads_payload]
    rounds = 1 if quick else 5
    print("| question | tool | least wall time | to ours | peak memory |")
    print("|---|---|---|---|---|")
    for mebibytes in (1, 8) if quick else (1, 200, 1024):
        home = Home.with_sessions(scratch / f"home-{mebibytes}", [mebibytes * MIB])
        print_table(f"status line, {mebibytes} MiB", costs(readers, home, rounds))
        if mebibytes > 1:
            print_table(f"scan, {mebibytes} MiB", costs([scan, *scanners], home, rounds))
        shutil.rmtree(home.path)
    sessions = 20 if quick else 1000
    sizes = [(1 + number % 8) * 128 * KIB for number in range(sessions)]
    home = Home.with_sessions(scratch / "home-many", sizes)
    print_table(f"sweep of {sessions:,} sessions", costs([sweep, *scanners], home, rounds))


def main() -> None:
    """Install what can be had, and measure it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small files, one round")
    asked = parser.parse_args()
    installers: dict[str, Callable[[Path], list[Tool]]] = {"npm": npm_tools, "PyPI": python_tools}
    with tempfile.TemporaryDirectory() as scratch:
        tools: list[Tool] = []
        for registry, install in installers.items():
            found = install(Path(scratch) / registry)
            if not found:
                print(f"nothing could be installed from {registry}: its tools are left out")
            tools += found
        measure(Path(scratch), tools, quick=asked.quick)


if __name__ == "__main__":
    main()
