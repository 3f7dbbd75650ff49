from __future__ import annotations

import pytest

from ctxmeasure import track


@pytest.mark.parametrize("name", track.__all__)
def test_every_name_of_the_room_resolves(name: str) -> None:
    assert track.__getattr__(name) is getattr(track, name)


def test_a_name_that_is_not_there_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match=r"'ctxmeasure\.track' has no attribute 'nothing'"):
        track.nothing  # noqa: B018
