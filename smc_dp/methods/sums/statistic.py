"""Sum of votes on public rows, integers that each party computes alone, and its sensitivity to one party."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from smc_dp.core.arrays import Array
from smc_dp.methods.sums.whitening import Whitening, largest_square
from smc_dp.methods.training.classes import code, coordinate_count, diameter
from smc_dp.methods.training.softmax import SoftLabelObjective, minimise_soft
from smc_dp.privacy.grid import ceil_sqrt
from smc_dp.privacy.output import GRID

_LIMB = 20  # bits: votes times limbs, added over all rows, stay below 2^63
_ROWS = 4096


def statistic_in_integers(G: Array, counts: npt.NDArray[np.int64]) -> list[int]:
    """Compute N M T on the grid: the sum over rows i and classes k of counts[i, k] E_(k,i), p d integers, exactly.

    E_(k,i) = round(2^f B_k' g_i) are public integers; counts: (N, C), of M parties or of any of them: what each
    party would add is the same sum with its own votes. G: (N, d), entries below 2^20; N M below 2^43.
    """
    p = coordinate_count(counts.shape[1])
    total = np.zeros((p, G.shape[1]), dtype=object)
    for start in range(0, len(G), _ROWS):
        votes = counts[start : start + _ROWS]
        for a, k, E in _integers(G[start : start + _ROWS], counts.shape[1]):
            for shift in range(0, 63, _LIMB):
                limb = E >> shift if shift + _LIMB >= 63 else (E >> shift) & ((1 << _LIMB) - 1)
                total[a] += (votes[:, k] @ limb).astype(object) << shift
    return [int(value) for value in total.ravel()]


def _integers(G: Array, classes: int) -> Iterator[tuple[int, int, npt.NDArray[np.int64]]]:
    """Yield (a, k, E) for each coordinate a and class k, E: (rows, d), round(2^f B[k, a] g)."""
    B = code(classes)
    for k, a in np.ndindex(B.shape):
        if B[k, a]:
            yield a, k, np.rint(np.ldexp(B[k, a] * G, GRID.fraction_bits)).astype(np.int64)


def sensitivity(G: Array, classes: int, whitening: Whitening | None = None) -> Fraction:
    """Bound the L2 sensitivity of N M T, as it stands on the grid, to one party: D sqrt N sigma + N sqrt(p d) 2^-f.

    sigma is `largest_square`'s bound on the largest singular value of G, whitened like this. Proof. The party's votes
    change from k_i to l_i, so the sum of the integers moves by the sum over i of E_(l_i,i) - E_(k_i,i). Unrounded that
    is 2^f R'G, R: (N, p) with rows B_l - B_k no longer than D (`diameter`), and |R'G| <= |R| sigma <= D sqrt N sigma in
    Frobenius norms. Rounding moves each of the p d entries of each of the N differences by at most 1, so that the sum
    moves by N sqrt(p d) more. The floats of B and of its products with g err by less than 2^-40 of the first term.
    """
    N, p = len(G), coordinate_count(classes)
    widened = Fraction(diameter(classes)) * (1 + Fraction(1, 2**40)) * (1 << GRID.fraction_bits)
    pushed = ceil_sqrt(-(-N * widened**2 * Fraction(largest_square(G, whitening)) // 1))
    return Fraction(pushed + ceil_sqrt(N * N * p * G.shape[1]), 1 << GRID.fraction_bits)


def longest(G: Array, classes: int, whitening: Whitening | None = None) -> Fraction:
    """Bound the L2 norm of a party's own part of N M T, in reals as it stands on the grid.

    As for `sensitivity`, with the class vectors B_k in place of their differences: those are D/2 long for two classes
    and shorter than 1, which is below .7072 D, for more; and each of N entries is rounded by 1/2 at most.
    """
    return sensitivity(G, classes, whitening) * (Fraction(1, 2) if classes == 2 else Fraction(7072, 10000))


def minimise_statistic(G: Array, T: Array, classes: int, lam: float) -> Array:
    """Minimise over V: (p, d) for rows G: (N, d) and the statistic T: (p d,), with regulariser (lam/2) |V|^2."""
    return minimise_soft(SoftLabelObjective(G, T.reshape(coordinate_count(classes), -1), classes, lam))
