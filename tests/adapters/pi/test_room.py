from __future__ import annotations

import pytest

import ctxmeasure
from ctxmeasure.adapters import pi
from ctxmeasure.registry import find


@pytest.mark.parametrize("name", ["RPC", "SESSION", "STREAM"])
def test_the_room_gives_what_the_registry_finds(name: str) -> None:
    source = getattr(pi, name)
    assert source is find(f"pi.{name.lower()}")
    assert source is getattr(ctxmeasure.pi, name)


def test_the_room_gives_what_it_lists_and_nothing_else() -> None:
    assert sorted(pi.__all__) == ["RPC", "SESSION", "STREAM"]
    with pytest.raises(AttributeError, match="NOTHING"):
        pi.NOTHING  # noqa: B018
