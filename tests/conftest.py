"""What all tests share: no test is a stopwatch, and signals arrive."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

# A first import or a busy machine is no failure of the property. The inputs are the same in every
# run, so that a change is judged by itself; `--hypothesis-profile=explore` draws more and new ones.
settings.register_profile(
    "house",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "explore", settings.get_profile("house"), derandomize=False, max_examples=200
)
# For a further interpreter, after the first has tried the usual number of inputs.
settings.register_profile("brief", settings.get_profile("house"), max_examples=10)
# For mutants: that one fails is enough, its smallest input is not looked for.
settings.register_profile(
    "mutation", settings.get_profile("brief"), phases=[Phase.explicit, Phase.generate]
)
settings.load_profile("house")

_DEFAULTS: Mapping[str, Any] = {
    "SIGINT": signal.default_int_handler,
    "SIGQUIT": signal.SIG_DFL,
    "SIGHUP": signal.SIG_DFL,
}


@pytest.fixture(autouse=True, scope="session")
def signals_as_in_a_foreground() -> Iterator[None]:
    """Hear what a shell that runs the tests in its background, or nohup, has them ignore."""
    ignored = [
        (getattr(signal, name), default)
        for name, default in _DEFAULTS.items()
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_IGN
    ]
    for number, default in ignored:
        signal.signal(number, default)
    yield
    for number, _ in ignored:
        signal.signal(number, signal.SIG_IGN)
