"""One run instead of thousands: many canaries, each with its own secret bit, and how many bits can be guessed.

Bits are independent and uniform, each decides a record (or party) of its own, and the release is private for a change
of any one of them.

For pure epsilon the number of right guesses among r, whatever is left out, is stochastically at most
Binomial(r, e^epsilon/(e^epsilon + 1)) (Steinke, Nasr and Jagielski, NeurIPS 2023, for delta = 0). Why: given the
output and all bits but one, the odds of that bit are at most e^epsilon, so that whatever is guessed for it from the
output is right with a chance of at most e^epsilon/(e^epsilon + 1), given also the bits before it; and so on along the
bits. For Gaussian noise that does not hold; there the bound of `gaussian.py` does, for a number of guesses that is
fixed beforehand. It allows for a mechanism that, with the chance that a bound may be wrong, gives all bits away at
once: so it comes to about half of mu with thousands of canaries.

All this wants a mechanism in which many records have noise of their own: coordinates of a vector, or parties that
publish each for itself. Where one length is common to all coordinates (K-norm), or one noise to all parties, a single
bit hardly shows, and the test is true but idle.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt
import scipy

from smc_dp.audit.epsilon.gaussian import too_many_right
from smc_dp.core.arrays import Array

_SHARES = (0.5, 0.2, 0.05)  # of the canaries that are guessed: the clearest ones
_STEPS, _ROUNDS, _LARGEST_MU = 65, 3, 20.0


@dataclass(frozen=True)
class Guesses:
    """Number of bits that were guessed, and of these guesses that are right."""

    guessed: int
    right: int

    def epsilon_at_least(self, alpha: float) -> float:
        """Return the smallest epsilon, at least 0, under which so many right guesses have probability alpha."""
        if 2 * self.right <= self.guessed:
            return 0.0
        p = float(scipy.special.betaincinv(self.right, self.guessed - self.right + 1, alpha))
        return max(0.0, log(p / (1 - p)))


@dataclass(frozen=True, eq=False)
class Canaries:
    """Positions of the canaries of one run, in units of their distance, and their secret bits: (m,) each."""

    positions: Array
    bits: npt.NDArray[np.int64]

    def epsilon_at_least(self, alpha: float) -> float:
        """Return a lower bound on a pure epsilon."""
        return guess(self.positions, self.bits).epsilon_at_least(alpha)

    def mu_at_least(self, alpha: float) -> float:
        """Return a lower bound on mu: the best of several numbers of guesses, each wrong with its share of alpha."""
        clear = np.argsort(-np.abs(self.positions - 0.5), kind="stable")
        right = np.cumsum((self.positions > 0.5)[clear] == (self.bits == 1)[clear])
        number = len(self.bits)
        numbers = {max(1, round(share * number)) for share in _SHARES}
        return max(_mu(number, made, int(right[made - 1]), alpha / len(_SHARES)) for made in numbers)


def guess(positions: Array, bits: npt.NDArray[np.int64]) -> Guesses:
    """Guess 0 for positions up to 0, 1 from 1 on, nothing between; positions: (m,) in units of the canaries' distance.

    For Laplace and for K-norm noise in one dimension these outputs are as clear as any.
    """
    low, high = positions <= 0, positions >= 1
    right = np.count_nonzero(low & (bits == 0)) + np.count_nonzero(high & (bits == 1))
    return Guesses(int(np.count_nonzero(low | high)), int(right))


def _mu(canaries: int, made: int, right: int, alpha: float) -> float:
    """Return the largest mu that is refuted, on ever finer steps from below; 0 where none is."""
    low, high = 0.0, _LARGEST_MU
    for _ in range(_ROUNDS):
        steps = np.linspace(low, high, _STEPS)
        refuted = too_many_right(steps, canaries, made, right, alpha)
        if not refuted[0]:
            return 0.0
        last = int(np.flatnonzero(refuted)[-1])
        low, high = float(steps[last]), float(steps[min(last + 1, _STEPS - 1)])
    return low
