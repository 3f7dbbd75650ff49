"""What is true of a Pi session before Pi has stated a window: the table's window, or none."""

from __future__ import annotations

import pytest

from ctxmeasure.testing import Truth, session_of
from ctxmeasure.testing.pi.stream import StreamWriter


@pytest.mark.parametrize(
    ("steps", "truth"),
    [
        ([], Truth.missing("not_measured_yet")),
        (["overrun"], Truth.missing("limit_contradicted", used_tokens=250_001)),
        (["respond", "compact"], Truth.missing("compacted", used_tokens=31_500)),
    ],
)
def test_a_writer_knows_what_is_missing(steps: list[str], truth: Truth) -> None:
    session = session_of(StreamWriter, [(step, 1) for step in steps])
    assert next(iter(session.answers())).truth == truth
