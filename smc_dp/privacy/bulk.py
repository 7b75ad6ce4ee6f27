"""Many discrete Gaussians at once: the distribution of `discrete.discrete_gaussian` exactly, by other uniform bits.

For a variance parameter v let t = isqrt(v) + 1 > sqrt(v). Proposed are a sign, k >= 0 with probability 2^-(k+1) and j
uniform in [0, t), so |y| = k t + j has a probability in proportion to 2^-k; it is kept with probability
p = 13/16 2^k e^(-y^2/(2 v)), which leaves e^(-y^2/(2 v)). As |y| >= k sqrt(v), p is at most 13/16 times the largest
2^k e^(-k^2/2), which is 2 e^(-1/2) < 16/13; and minus zero is not kept.

A uniform number of which 53 bits are read is compared with p in float64. Only +, -, * and / are used, which IEEE 754
rounds correctly, so on every machine the same comes out, and the error is known: of y^2/(2 v) < 64 it is below 2^-44.
The series of e^(-g/4096) up to the sixth power misses 2^-54, and 2^-52 with all roundings; twelve squarings make that
2^-39 of p; where y^2/(2 v) >= 64, p is below 2^-80. So wherever both are more than 2^-36 apart, all further bits of the
uniform number would decide alike. Elsewhere they are read, and balls decide.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import compress
from math import isqrt

import numpy as np
from flint import arb, ctx

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.privacy.discrete import discrete_gaussian
from smc_dp.privacy.lazy import WORD, exact_ball

FEWEST_AT_ONCE = 8
"""So many and more are drawn at once: fewer are drawn faster one by one, as are those of a variance below 1."""
LARGEST_VARIANCE = 1 << 108
"""Up to here all y with k < 64 are below 2^63."""
ACCEPTANCE_MARGIN = 2.0**-36
"""Distance from the acceptance probability within which ball arithmetic decides; floats err by less."""

_READ, _MOST_ONES = 53, 63
_KEPT = Fraction(13, 16)
_MOST = 1 << 12  # proposals that are held in memory
_SQUARINGS, _TERMS = 12, 6


def discrete_gaussians(variance: Fraction, count: int, rng: Stream) -> list[int]:
    """Draw independent integers, each y with probability proportional to e^(-y^2/(2 variance)), variance > 0."""
    if count < FEWEST_AT_ONCE or not 1 <= variance <= LARGEST_VARIANCE:
        return [discrete_gaussian(variance, rng) for _ in range(count)]
    found = list[int]()
    while len(found) < count:
        found += _kept(variance, count - len(found), rng)
    return found[:count]


def _kept(variance: Fraction, wanted: int, rng: Stream) -> list[int]:
    """Return the accepted ones of enough proposals for about as many as wanted, in the order in which they came."""
    t = isqrt(int(variance)) + 1
    bits = max(1, (t - 1).bit_length())
    proposals = min(_MOST, (2 * wanted << bits) // t + WORD)
    first, second, third = np.frombuffer(rng.bytes(3 * WORD // 8 * proposals), dtype="<u8").reshape(3, -1)
    negative, ones = (first & 1).astype(bool), first >> 1
    power = (~ones & (ones + 1)).astype(float)  # 2^k for k trailing ones, of which there may be more than 63
    k, j = np.frexp(power)[1].astype(np.int64) - 1, (second >> (WORD - bits)).astype(np.int64)
    y = k * t + j
    apart = (third >> (WORD - _READ)).astype(float) * 2.0**-_READ - acceptance_probability(y, power, variance)
    proposed = (j < t) & ~(negative & (y == 0))
    kept, values = proposed & (apart < 0), np.where(negative, -y, y).tolist()
    for i in np.flatnonzero(proposed & (np.abs(apart) <= ACCEPTANCE_MARGIN)).tolist():
        more = _further_ones(rng) if k[i] == _MOST_ONES else 0
        size = abs(values[i]) + more * t
        kept[i] = decide_acceptance(int(third[i]) >> (WORD - _READ), size, int(k[i]) + more, variance, rng)
        values[i] = -size if negative[i] else size
    return list(compress(values, kept.tolist()))


def acceptance_probability(y: Array, power: Array, variance: Fraction) -> Array:
    """Return the acceptance probability p for each |y| and 2^k, to 2^-38."""
    g = y.astype(float)
    g = g * g / float(2 * variance)
    small = np.minimum(g, 64.0) / (1 << _SQUARINGS)
    found = np.ones_like(small)
    for i in range(_TERMS, 0, -1):
        found = 1 - small / i * found
    for _ in range(_SQUARINGS):
        found = found * found
    return np.where(g < 64, float(_KEPT) * power * found, 0.0)


def decide_acceptance(read: int, y: int, k: int, variance: Fraction, rng: Stream) -> bool:
    """Decide whether a uniform number that begins with these 53 bits is below p; the stream has its further bits."""
    known, g = _READ, Fraction(y * y) / (2 * variance)
    while True:
        read, known = read << WORD | rng.bits(WORD), known + WORD
        with ctx.workprec(known + WORD):
            p = exact_ball(_KEPT) * arb((1, k)) * (-exact_ball(g)).exp() * arb((1, known))
            if p >= read + 1:
                return True
            if p <= read:
                return False


def _further_ones(rng: Stream) -> int:
    ones = 0
    while rng.bits(1):
        ones += 1
    return ones
