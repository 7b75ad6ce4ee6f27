"""One run instead of thousands: many canaries, each with its own secret bit, and how many bits can be guessed.

Bits are independent and uniform, each decides a record (or party) of its own, and the release is epsilon-DP for a
change of any one of them. Then the number of right guesses among r, whatever is left out, is stochastically at most
Binomial(r, e^epsilon/(e^epsilon + 1)) (Steinke, Nasr and Jagielski, NeurIPS 2023, for delta = 0). Why: given the
output and all bits but one, the odds of that bit are at most e^epsilon, so that whatever is guessed for it from the
output is right with a chance of at most e^epsilon/(e^epsilon + 1), given also the bits before it; and so on along the
bits. It wants a mechanism in which many records have noise of their own: coordinates of a Laplace vector, or parties
that publish each for itself. Where one length is common to all coordinates (K-norm), or one noise to all parties, a
single bit hardly shows, and the test is true but idle; for Gaussian noise, whose delta is not 0, it does not hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt
import scipy.special

from smc_dp.arrays import Array


@dataclass(frozen=True)
class Guesses:
    """How many of the bits were guessed, and how many of these guesses are right."""

    made: int
    right: int

    def epsilon_at_least(self, alpha: float) -> float:
        """The smallest epsilon under which so many right ones have probability alpha; at least 0."""
        if 2 * self.right <= self.made:
            return 0.0
        p = float(scipy.special.betaincinv(self.right, self.made - self.right + 1, alpha))
        return max(0.0, log(p / (1 - p)))


def guess(positions: Array, bits: npt.NDArray[np.int64]) -> Guesses:
    """Guess 0 for positions up to 0, 1 from 1 on, nothing between; positions: (m,) in units of the canaries' distance.

    For Laplace and for K-norm noise in one dimension these are the outputs that speak as clearly as any.
    """
    low, high = positions <= 0, positions >= 1
    right = np.count_nonzero(low & (bits == 0)) + np.count_nonzero(high & (bits == 1))
    return Guesses(int(np.count_nonzero(low | high)), int(right))
