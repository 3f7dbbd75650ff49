"""Plays a recorded stream as an agent that a runner starts; a script, run in a process of its own.

``python replayer.py RECORDING [OPTION...]`` writes the recording's lines to standard output, at
full speed and whole, unless an option says otherwise. Like an agent it writes to descriptor 1
unbuffered, and takes the signals that it is sent.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

MIB = 1024 * 1024
GARBAGE = b'\x00\xff\xfe not json {"type":\n\n[1, 2\n"text"\n' + bytes(range(256)) + b"\n"


def parser() -> argparse.ArgumentParser:
    """Return what understands the options."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("recording", type=Path)
    options.add_argument("--until", type=int, metavar="LINES", help="play so many lines only")
    options.add_argument("--unfinished", action="store_true", help="cut the last line in half")
    options.add_argument("--halves", action="store_true", help="write each line in two pieces")
    options.add_argument("--pace", type=float, default=0, metavar="SECONDS", help="between pieces")
    options.add_argument("--stepped", action="store_true", help="a piece for each line of input")
    options.add_argument("--garbage", action="store_true", help="print what is no line in between")
    options.add_argument("--long", type=int, metavar="MIB", help="begin with so long a line")
    options.add_argument("--exit", type=int, default=0, metavar="STATUS", help="end with it")
    options.add_argument("--die", metavar="SIGNAL", help="kill itself at the end")
    options.add_argument("--wait", action="store_true", help="wait for a signal at the end")
    options.add_argument("--survive", action="store_true", help="end with 5 when interrupted")
    options.add_argument("--stderr", default="", help="what to say on standard error")
    return options


def lines(asked: argparse.Namespace) -> Iterator[bytes]:
    """Yield what is printed, line by line."""
    recorded = asked.recording.read_bytes().splitlines(keepends=True)[: asked.until]
    if asked.unfinished:
        recorded[-1] = recorded[-1][: len(recorded[-1]) // 2]
    if asked.long:
        yield b'{"type":"user","text":"' + b"x" * (asked.long * MIB) + b'"}\n'
    for line in recorded:
        if asked.garbage:
            yield GARBAGE
        yield line


def pieces(asked: argparse.Namespace) -> Iterator[bytes]:
    """Yield what is written at once."""
    for line in lines(asked):
        middle = len(line) // 2 if asked.halves else 0
        yield from filter(None, (line[:middle], line[middle:]))


def write(piece: bytes) -> None:
    """Write all of *piece*, whatever the pipe takes at once."""
    while piece:
        piece = piece[os.write(1, piece) :]


def main() -> None:
    """Play."""
    asked = parser().parse_args()
    if asked.survive:
        signal.signal(signal.SIGINT, lambda *_: sys.exit(5))
    else:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if asked.stderr:
        sys.stderr.write(asked.stderr)
    for piece in pieces(asked):
        if asked.stepped and not sys.stdin.readline():
            break
        write(piece)
        time.sleep(asked.pace)
    if asked.wait:
        signal.pause()
    if asked.die:
        signal.raise_signal(signal.Signals[asked.die])
    sys.exit(asked.exit)


if __name__ == "__main__":
    main()
