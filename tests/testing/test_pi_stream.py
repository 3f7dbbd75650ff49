"""What is true of a Pi session before Pi has stated a window: the table's window, or none."""

from __future__ import annotations

import pytest

from ctxmeasure.testing import Truth, session_of
from ctxmeasure.testing.pi.stream import StreamWriter


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([], "not_measured_yet"),
        (["overrun"], "limit_contradicted"),
        (["respond", "compact"], "compacted"),
    ],
)
def test_a_writer_knows_what_is_missing(steps: list[str], reason: str) -> None:
    session = session_of(StreamWriter, [(step, 1) for step in steps])
    assert next(iter(session.answers())).truth == Truth.missing(reason)
