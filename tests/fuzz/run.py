"""Fuzz the sources for a given time each: ``python tests/fuzz/run.py --seconds N [SOURCE ...]``.

Needs atheris, which has wheels for some interpreters only. Each source is fuzzed in a process of
its own, from a corpus that is made anew of the recordings and the session writers. An input that
crashes it, hangs it or takes too much memory is kept in ``crashes/SOURCE/``, where `test_fuzz`
replays it from then on.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
CRASHES = HERE / "crashes"

_LONGEST_INPUT = 256 * 1024
_HANG_SECONDS = 10  # no input of that length takes a hundredth of it
_MOST_MEGABYTES = 1_024

_RSS = re.compile(r"(INITED|DONE|RELOAD|pulse|NEW|REDUCE).*rss: (\d+)Mb")
_EXECUTIONS = re.compile(r"stat::number_of_executed_units:\s+(\d+)")
_SLOWEST = re.compile(r"^slowest: ([\d.]+) s, (\d+) bytes", re.MULTILINE)


@dataclass
class Report:
    """What fuzzing one source came to.

    Attributes:
        source: Its id.
        executions: How many inputs were tried.
        crashes: The inputs that crashed, hung or took too much memory, by file name.
        slowest: Seconds of the slowest input.
        slowest_bytes: Its length in bytes.
        grown: By how many MiB memory grew once the corpus was loaded.
        output: All that was printed.
    """

    source: str
    executions: int
    crashes: list[str]
    slowest: float
    slowest_bytes: int
    grown: int
    output: str = field(repr=False)

    def __str__(self) -> str:
        return (
            f"{self.source:22} {self.executions:>9,} executions  {len(self.crashes)} crashes  "
            f"slowest {self.slowest:.4f} s ({self.slowest_bytes:,} bytes)  "
            f"memory +{self.grown} MiB"
        )


def read_report(source: str, output: str, crashes: Sequence[str] = ()) -> Report:
    """Return what libFuzzer's *output* says of a run."""
    executed, slowest = _EXECUTIONS.search(output), _SLOWEST.findall(output)
    sizes = [int(size) for _, size in _RSS.findall(output)]
    seconds, length = slowest[-1] if slowest else ("0", "0")
    return Report(
        source=source,
        executions=int(executed[1]) if executed else 0,
        crashes=[*crashes],
        slowest=float(seconds),
        slowest_bytes=int(length),
        grown=sizes[-1] - sizes[0] if sizes else 0,
        output=output,
    )


def words(seeds: Sequence[bytes]) -> list[str]:
    """Return the texts and keys in *seeds* as lines of a libFuzzer dictionary."""
    found = {word for seed in seeds for word in re.findall(rb'"[\w./-]{1,40}"', seed)}
    escaped = (word.decode().replace('"', '\\"') for word in sorted(found)[:2_000])
    return [f'"{word}"' for word in escaped]


def fuzz(source: str, seconds: int) -> Report:
    """Fuzz *source* in a process of its own."""
    from targets import corpus  # noqa: PLC0415 - the child imports it instrumented

    with TemporaryDirectory() as folder:
        seeds, found = Path(folder) / "corpus", Path(folder) / "found"
        seeds.mkdir()
        found.mkdir()
        contents = [*corpus(source)]
        for number, content in enumerate(contents):
            (seeds / str(number)).write_bytes(content)
        dictionary = Path(folder) / "words"
        # libFuzzer takes no dictionary without a word.
        dictionary.write_text("\n".join(words(contents) or ['"null"']), encoding="utf-8")
        options = {
            "max_total_time": seconds,
            "max_len": _LONGEST_INPUT,
            "timeout": _HANG_SECONDS,
            "rss_limit_mb": _MOST_MEGABYTES,
            "print_final_stats": 1,
            "dict": dictionary,
            "artifact_prefix": f"{found}/",
        }
        flags = [f"-{name}={value}" for name, value in options.items()]
        child = subprocess.run(  # noqa: S603 - this file
            [sys.executable, str(HERE / "run.py"), "--child", source, *flags, str(seeds)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        crashes = [*_kept(source, found)]
        report = read_report(source, child.stdout, crashes)
        if child.returncode and not crashes:
            report.crashes.append(f"exit status {child.returncode}")
        return report


def _kept(source: str, found: Path) -> Iterator[str]:
    """Keep the inputs in *found* for `test_fuzz`."""
    for path in sorted(found.iterdir()):
        folder = CRASHES / source
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / path.name)
        yield path.name


def run_child(source: str, flags: Sequence[str]) -> None:
    """Fuzz *source* in this process, which ends with it."""
    import atheris  # noqa: PLC0415 - only here it has to be there

    with atheris.instrument_imports(include=["ctxmeasure"], exclude=["ctxmeasure.testing"]):
        from targets import target  # noqa: PLC0415 - see above

    attempt, slowest = target(source), 0.0

    def timed(content: bytes) -> None:
        nonlocal slowest
        start = time.perf_counter()
        attempt(content)
        took = time.perf_counter() - start
        if took > slowest:
            slowest = took
            print(f"slowest: {took:.6f} s, {len(content)} bytes", file=sys.stderr, flush=True)

    atheris.Setup([sys.argv[0], *flags], timed)
    atheris.Fuzz()


def main(arguments: Sequence[str]) -> int:
    """Fuzz the sources that are named, or all; return 1 if an input was found, else 0."""
    from ctxmeasure.testing.writers import WRITERS  # noqa: PLC0415 - the child needs it later

    parser = argparse.ArgumentParser(description="Fuzz the sources of ctxmeasure.")
    parser.add_argument("--seconds", type=int, default=60, help="for each source")
    parser.add_argument("--jobs", type=int, default=1, help="sources at a time")
    parser.add_argument("sources", nargs="*", metavar="SOURCE", help="default: all")
    asked = parser.parse_args(arguments)
    unknown = {*asked.sources} - {*WRITERS}
    if unknown:
        parser.error(f"no such source: {', '.join(sorted(unknown))}")
    if find_spec("atheris") is None:
        print("fuzzing: SKIPPED, atheris is not installed for this interpreter")
        return 0
    failed = False
    with ThreadPoolExecutor(asked.jobs) as pool:
        for report in pool.map(lambda s: fuzz(s, asked.seconds), asked.sources or WRITERS):
            print(report, flush=True)
            if report.crashes:
                failed = True
                print(report.output[-4_000:], *report.crashes, sep="\n", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    if sys.argv[1:2] == ["--child"]:
        run_child(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(main(sys.argv[1:]))
