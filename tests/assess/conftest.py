from __future__ import annotations

import pytest
from judging import Table, capability


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Table:
    """A table that knows ``model`` only: 200,000 tokens, decided by the id."""
    table = Table({"model": capability()})
    monkeypatch.setattr("ctxmeasure.capability.table.resolve", table.resolve)
    return table
