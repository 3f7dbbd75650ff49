"""What all tests share: no test is a stopwatch."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A first import or a busy machine is no failure of the property.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# For a further interpreter, after the first has tried the usual number of inputs.
settings.register_profile("brief", settings.get_profile("house"), max_examples=10)
settings.load_profile("house")
