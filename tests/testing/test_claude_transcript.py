"""What is true of a Claude Code session whose clock was set back behind a compaction."""

from __future__ import annotations

from ctxmeasure.testing import Truth, session_of
from ctxmeasure.testing.claude.transcript import TranscriptWriter


def test_a_response_dated_before_its_compaction_is_refused() -> None:
    taken = [("compact", 0), ("set_clock_back", 1), ("overflow", 0)]
    session = session_of(TranscriptWriter, taken)
    assert next(iter(session.answers())).truth == Truth.missing("compacted")
