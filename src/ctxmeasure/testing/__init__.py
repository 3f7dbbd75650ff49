"""The means to trust a source: session writers, strategies, and the suite that a source passes.

Needs the extra ``testing`` (Hypothesis). A contributor writes a source and a `Writer` of its
sessions, and `conformance` makes the whole suite of the two; whoever reads observations draws them
from `strategies`. Stands on the top floor, beside the command line: nothing imports it.
"""

from __future__ import annotations

from .conformance import Check, conformance
from .session import ABSENT, START, Answer, Statement, StoreWriter, Truth, Writer, Written
from .subject import session_of, sessions

__all__ = [
    "ABSENT",
    "START",
    "Answer",
    "Check",
    "Statement",
    "StoreWriter",
    "Truth",
    "Writer",
    "Written",
    "conformance",
    "session_of",
    "sessions",
]
