"""The ideal functionality: somebody whom everybody trusts gets all parts and returns what is computed of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from protocols.arithmetic.rng import Stream
from smc_dp.aggregation.functionality import Functionality
from smc_dp.aggregation.outcome import Outcome


def ideal(functionality: Functionality, parts: Sequence[Any], rng: Stream | None = None) -> Outcome:
    """The functionality of these parts; coins from `rng`, else the system's. Raises ValueError if they do not fit."""
    functionality.check(parts)
    return Outcome(functionality.compute(parts, Stream.from_system() if rng is None else rng))
