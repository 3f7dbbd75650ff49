"""What all tests share: no test is a stopwatch."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A first import or a busy machine is no failure of the property.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")
