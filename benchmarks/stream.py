"""What it costs to feed a line of an agent's stream, against decoding that line.

Most of what agents print cannot matter: tool outputs, deltas. Such a line of 10 KB should cost a
tenth of its decoding at most; one that matters, which is decoded, taken and judged, three times.
Candidates take turns in random order; printed are medians and their ratio to ``orjson.loads`` of
the same line. Then a million lines are fed to each source, one in a hundred of which matters, and
what is held at the end is compared with what was held after the first tenth.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import orjson
from attrs import frozen

from ctxmeasure import Stream

RECORDINGS = Path(__file__).parents[1] / "tests/recordings"
SIZE = 10_000
BATCH = 10  # a single line takes less time than it takes to look at the clock
# What a test runner prints: escapes for the ends of lines and for colours, and a sign that is not
# ASCII in each line, as JavaScript writes them.
TEXT = "  \\u001b[32m✓\\u001b[0m tests/test_module.py: a statement about what is tested\\n".encode()
BARS = {"irrelevant": 0.1, "relevant": 3.0}


def filled(line: bytes) -> bytes:
    """Return *line* with text in the place of its mark, 10 KB in all."""
    return line.replace(b"@", TEXT * ((SIZE - len(line)) // len(TEXT)))


@frozen(kw_only=True)
class Lines:
    """What is fed to one source.

    Attributes:
        source: Its id.
        irrelevant: A tool's output as the agent prints it; the mark is for its text.
        relevant: A line that matters, or one that is found in a recording.
    """

    source: str
    irrelevant: bytes
    relevant: bytes

    @property
    def by_kind(self) -> dict[str, bytes]:
        """Both lines, of 10 KB each."""
        relevant = self.relevant.removesuffix(b"}") + b',"text":"@"}'
        return {"irrelevant": filled(self.irrelevant), "relevant": filled(relevant)}


def recorded(recording: str, needle: bytes) -> bytes:
    """Return the last line of a recording that has *needle* in it."""
    lines = (RECORDINGS / recording).read_bytes().splitlines()
    found = next(line for line in reversed(lines) if needle in line)
    return orjson.dumps(orjson.loads(found))  # numbers as JavaScript writes them: 0.000024


SOURCES = (
    Lines(
        source="claude.stream",
        irrelevant=(
            b'{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":'
            b'"tool_result","content":"@"}]},"parent_tool_use_id":null,"session_id":"s"}'
        ),
        relevant=recorded("claude/b-tools/stream.jsonl", b'"type":"assistant"'),
    ),
    Lines(
        source="codex.exec",
        irrelevant=(
            b'{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":'
            b'"ls","aggregated_output":"@","exit_code":0,"status":"completed"}}'
        ),
        relevant=recorded(
            "codex-versions/exec_json_v0.36.0_proto_token_count.jsonl", b'"token_count"'
        ),
    ),
    Lines(
        source="codex.app_server",
        irrelevant=(
            b'{"method":"item/completed","params":{"item":{"type":"commandExecution","id":"c",'
            b'"aggregatedOutput":"@"},"threadId":"t","turnId":"u"}}'
        ),
        relevant=recorded(
            "codex-versions/appserver_v0.171.0_notifications.jsonl", b'"thread/tokenUsage/updated"'
        ),
    ),
    Lines(
        source="pi.stream",
        irrelevant=(
            b'{"type":"tool_execution_end","toolCallId":"c","toolName":"read","result":{"content":'
            b'[{"type":"text","text":"@"}]},"isError":false}'
        ),
        relevant=recorded(
            "pi/b-tools/stream.jsonl", b'"type":"message_end","message":{"role":"assistant"'
        ),
    ),
    Lines(
        source="acp.session",
        irrelevant=(
            b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
            b'{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"content",'
            b'"content":{"type":"text","text":"@"}}]}}}'
        ),
        relevant=(
            b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
            b'{"sessionUpdate":"usage_update","used":53000,"size":200000}}}'
        ),
    ),
)


def compare(what: Lines, rounds: int) -> None:
    """Print what feeding a line costs against decoding it."""
    candidates: dict[tuple[str, str], Callable[[], object]] = {}
    for kind, line in what.by_kind.items():
        candidates[kind, "fed"] = partial(Stream(what.source).feed, line)
        candidates[kind, "decoded"] = partial(orjson.loads, line)
    taken: dict[tuple[str, str], list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, candidate in random.sample(list(candidates.items()), len(candidates)):
            start = time.perf_counter()
            for _ in range(BATCH):
                candidate()
            taken[name].append((time.perf_counter() - start) / BATCH)
    medians = {name: statistics.median(times) * 1e6 for name, times in taken.items()}
    for kind, bar in BARS.items():
        fed, decoded = medians[kind, "fed"], medians[kind, "decoded"]
        print(
            f"{what.source:17} {kind:11} {fed:7.2f} us, decoded {decoded:6.2f} us"
            f"   ratio {fed / decoded:6.2f}, at most {bar}"
        )


def hold(what: Lines, lines: int) -> None:
    """Print how much more is held after *lines* lines than after a tenth of them."""
    stream, by_kind = Stream(what.source), what.by_kind
    tracemalloc.start()
    early = 0
    for number in range(lines):
        stream.feed(by_kind["irrelevant" if number % 100 else "relevant"])
        if number == lines // 10:
            early, _ = tracemalloc.get_traced_memory()
    late, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"{what.source:17} {lines:,} lines: {late - early:+,} bytes held")


def main() -> None:
    """Print the costs of both kinds of lines, and what many of them leave behind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds and lines: a smoke test")
    rounds, lines = (50, 10_000) if parser.parse_args().quick else (1000, 1_000_000)
    for what in SOURCES:
        compare(what, rounds)
    for what in SOURCES:
        hold(what, lines)


if __name__ == "__main__":
    main()
