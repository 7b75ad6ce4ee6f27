"""The ideal functionality: somebody whom everybody trusts gets all parts and returns what is computed of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from protocols.arithmetic.rng import Stream
from smc_dp.aggregation.functionality import Functionality


def ideal(functionality: Functionality, parts: Sequence[Any], rng: Stream | None = None) -> Any:
    """Return the value of the functionality of these parts; randomness from `rng`, else the system's.

    Raises ValueError if the parts do not fit together.
    """
    functionality.check(parts)
    return functionality.compute(parts, Stream.from_system() if rng is None else rng)
