"""A session of the star that benchmarks use."""

from __future__ import annotations

from smc_dp.bench.greetings import STAR
from smc_dp.bench.greetings import star as parameters
from support.sessions import Setup, start


def star(K: int) -> Setup:
    """A session of K parties and the curator."""
    p = parameters(K)
    return start(STAR, p, dict.fromkeys(STAR.participants(p), (p,)))
