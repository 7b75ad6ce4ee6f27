"""One profile for all property tests: machines are shared, so a slow example is no failure."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")
