"""Hypothesis profiles: `--hypothesis-profile=long` searches for hours; without it tests search as long as they say
themselves."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("long", max_examples=100_000, deadline=None, suppress_health_check=list(HealthCheck))
