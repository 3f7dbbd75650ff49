"""Hooks in many processes, undisturbed and killed: the benchmark's smallest size, as a test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

BENCHMARK = Path(__file__).resolve().parents[3] / "benchmarks" / "hooks.py"


def test_every_sample_is_published_once_whoever_is_killed() -> None:
    result = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, str(BENCHMARK), "--hooks", "100"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.count("samples 100  repeated 0  lost 0  torn 0  locked 0") == 2
