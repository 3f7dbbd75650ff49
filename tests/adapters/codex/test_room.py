from __future__ import annotations

import pytest

import ctxmeasure
from ctxmeasure.adapters import codex
from ctxmeasure.registry import find


@pytest.mark.parametrize("name", ["ROLLOUT", "APP_SERVER", "EXEC", "HOOK"])
def test_the_room_gives_what_the_registry_finds(name: str) -> None:
    source = getattr(codex, name)
    assert source is find(f"codex.{name.lower()}")
    assert source is getattr(ctxmeasure.codex, name)


def test_the_room_gives_what_it_lists_and_nothing_else() -> None:
    assert all(getattr(codex, name) is not None for name in codex.__all__)
    assert callable(codex.query_from_hook)
    with pytest.raises(AttributeError, match="NOTHING"):
        codex.NOTHING  # noqa: B018
