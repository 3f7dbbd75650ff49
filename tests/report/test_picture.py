"""Pictures, drawn by matplotlib."""

from __future__ import annotations

import subprocess
import sys

import pytest
from moments import COMPACTED, curve_of, moment, observed, shared

from ctxmeasure.history import Mark
from ctxmeasure.report import Curve
from ctxmeasure.report.picture import picture

CURVE = curve_of(
    observed(100_000),
    moment(COMPACTED, *Mark),
    observed(9_000),
    COMPACTED,
    observed(10_000, 1_000_000),
)


def test_a_picture_is_what_it_is_to_be() -> None:
    assert picture(CURVE, "png").startswith(b"\x89PNG\r\n")
    svg = picture(CURVE, "svg").decode()
    assert "<svg" in svg
    words = ("in use", "missing", "limit", "compaction", "rewind", "model switch", "tokens in use")
    assert all(f">{word}<" in svg for word in words)
    assert svg.count(">limit<") == svg.count(">in use<") == svg.count(">missing<") == 1


def test_a_picture_is_the_same_twice_and_names_no_day_or_program() -> None:
    svg = picture(CURVE, "svg")
    assert svg == picture(CURVE, "svg")
    assert b"<dc:date>" not in svg
    assert b"Matplotlib v" not in svg
    assert b"Matplotlib" not in picture(CURVE, "png")


@pytest.mark.parametrize(
    ("curve", "measure"),
    [
        (curve_of(COMPACTED), "tokens"),
        (curve_of(shared(50)), "percent"),
        (curve_of(observed(0)), "tokens"),
    ],
)
def test_the_smallest_sessions_have_a_picture(curve: Curve, measure: str) -> None:
    assert f">{measure} in use<" in picture(curve, "svg").decode()


def test_the_rest_of_the_room_does_without_matplotlib() -> None:
    program = "import sys, ctxmeasure.report; print('matplotlib' in sys.modules)"
    told = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert told.stdout == "False\n"
