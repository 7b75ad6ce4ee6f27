"""The exact (epsilon, delta) curve of Gaussian noise, applied to the discrete Gaussian that is really drawn.

delta(epsilon; mu) = Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2) is the curve of continuous Gaussian
noise of deviation s on what moves by D = mu s (Balle and Wang 2018; Dong, Roth and Su 2022), and releases, chosen in
view of earlier ones, compose to mu^2 = the sum of theirs. The discrete Gaussian of variance parameter s^2 is *not*
below the curve of mu = D/s: with s = 8 and D = 8 it is above it by 3.5 % at a delta of 1e-12. It is below, but for
errors that are charged, with s^2 - 9 in place of s^2:

Lemma. Let P be the discrete Gaussian on Z of variance parameter v >= 18, and Q this: draw Y ~ N(0, v - 9), then Z from
the discrete Gaussian on Z of variance parameter 9, centred at Y. Then |log P(z)/Q(z)| <= eta = 2.01 e^(-18 pi^2) <
2^-255 for every integer z, and for integers q the distribution of q + Z(Y) is that of Z(q + Y): noise Q is
post-processing of a continuous Gaussian of variance v - 9. Proof. By Poisson's formula the sum over k of
e^(-(k - y)^2/(2t)) is sqrt(2 pi t) (1 +- kappa) for every real y, kappa = 2.001 e^(-2 pi^2 t). So P(z) is the normal
density of variance v up to 1 +- kappa(v), and Q(z), the integral over y of the densities of variance v - 9 at y and 9
at z - y, over a sum with t = 9, is it up to 1/(1 +- kappa(9)).

Theorem. Let all releases together be p integers with independent noise of variance parameters s^2 >= 18, on integer
queries chosen in view of earlier answers, and mu^2 the sum over releases of D^2/(s^2 - 9), D in L2. They are (epsilon,
e^(p eta) delta(epsilon - 2 p eta; mu))-private for every epsilon: P is exchanged for Q coordinate by coordinate. With
p <= 2^66, as here, 2 p eta <= 2^-188, so that releases within the curve at (epsilon - 2^-180, delta (1 - 2^-180)) may
state (epsilon, delta). All that is claimed here is.

Everything is decided in ball arithmetic: a comparison counts when the balls are apart, and not otherwise.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a command that only helps need not wait for it
    from flint import arb

VARIANCE_LOST = 9
"""Variance that the lemma takes off the variance parameter, in grid units squared."""
LEAST_VARIANCE = 2 * VARIANCE_LOST
MOST_INTEGERS, MOST_RELEASES = 1 << 50, 1 << 16
"""Most integers of a release, and most releases that add up: with 2^66 integers the theorem's error is charged."""
LEAST_MU, MOST_MU = 2.0**-64, 2.0**12
"""Least and largest mu for which the curve claims anything."""

_ERROR = Fraction(1, 1 << 180)
_LEAST_EPSILON, _MOST_EPSILON = 2.0**-128, 2.0**24
_BITS, _MOST_BITS = 128, 1 << 13
_STEPS, _CLOSE = 30, 2.0**-60
_LEAST_TAIL = Fraction(1, 1 << 1000)


@lru_cache(maxsize=1024)
def mu_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest float mu whose curve keeps (epsilon, delta), errors of the theorem charged.

    epsilon in [1e-9, 1e6], delta in (0, 1). A float, so that a statement can hold it with nothing rounded. ValueError
    when there is none from 2^-64 to 2^12.
    """
    return largest_mu(lambda mu: mu_keeps(mu**2, epsilon, delta))


def largest_mu(holds: Callable[[Fraction], bool]) -> Fraction:
    """Return the largest float mu at which `holds`, given that it does at every smaller one.

    ValueError as in `mu_for`.
    """
    if not holds(Fraction(LEAST_MU)):
        raise ValueError(f"no mu of at least {LEAST_MU} keeps epsilon and delta")
    return Fraction(_last(LEAST_MU, MOST_MU, lambda mu: holds(Fraction(mu)), 1.0))


def epsilon_of(mu_squared: Fraction, delta: Fraction) -> Fraction | None:
    """Return the smallest float epsilon >= 2^-128 that the curve of mu keeps at delta, errors of the theorem charged.

    None for mu beyond 2^-64 to 2^12, and when there is none up to 2^24. A delta beyond 1/2 is read as 1/2: near 1
    a stranger's ledger would cost many times as much.
    """
    delta = min(delta, Fraction(1, 2))
    if not (in_reach(mu_squared) and mu_keeps(mu_squared, Fraction(_MOST_EPSILON), delta)):
        return None
    if mu_keeps(mu_squared, Fraction(_LEAST_EPSILON), delta):
        return Fraction(_LEAST_EPSILON)
    last = _last(
        _LEAST_EPSILON,
        _MOST_EPSILON,
        lambda epsilon: not mu_keeps(mu_squared, Fraction(epsilon), delta),
        _near(mu_squared, delta),
    )
    return Fraction(math.nextafter(last, math.inf))


def mu_keeps(mu_squared: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Tell whether releases of this mu^2 are (epsilon, delta)-private, for certain; False where balls cannot tell."""
    return curve_keeps(lambda epsilon: curve(epsilon, _ball(mu_squared).sqrt()), epsilon, delta)


def curve_keeps(curve: Callable[[arb], arb], epsilon: Fraction, delta: Fraction) -> bool:
    """Tell whether a curve, delta of epsilon in balls, keeps both, errors of the theorem charged, for certain."""
    from flint import ctx

    bits = _BITS
    while bits <= _MOST_BITS:
        with ctx.workprec(bits):
            limit, found = _ball(delta * (1 - _ERROR)), curve(_ball(epsilon - _ERROR))
            if found <= limit:
                return True
            if found > limit:
                return False
        bits *= 2
    return False


def curve(epsilon: arb, mu: arb) -> arb:
    """Return delta(epsilon; mu), as a ball at the precision that is set."""
    from flint import arb

    root = arb(2).sqrt()
    steps, half = epsilon / mu, mu / 2
    return (((steps - half) / root).erfc() - epsilon.exp() * ((steps + half) / root).erfc()) / 2


def loss_tail(mu: Fraction, epsilon: Fraction) -> Fraction:
    """Bound the probability that the privacy loss of releases of this mu exceeds epsilon, for either order.

    Let Z = log P(o)/Q(o) for o drawn from P. delta(e) is at least the mean of (1 - e^(e - Z))_+, hence for every
    e < epsilon: Pr[Z > epsilon] <= delta(e; mu)/(1 - e^(e - epsilon)). Of continuous noise alone, the probability is
    Phi(-epsilon/mu + mu/2), which is smaller. It does not bound what follows from the curve: a function of the release,
    or a release whose last answers depend on the first, keeps the curve and can exceed it. The least bound over e is
    reached by the function that tells whether a Gaussian exceeds a threshold; here e is near the best one.

    mu from 2^-64 to 2^12, epsilon from 0 to 2^24. At most 1, and at least 2^-1000; errors of the theorem are charged.
    """
    from flint import ctx

    steps = float(epsilon / mu - mu / 2)
    gap = Fraction(math.log1p(2 * float(mu) / (steps + math.hypot(steps, 2))))
    with ctx.workprec(_BITS):
        delta = curve(_ball(epsilon - gap - _ERROR), _ball(mu)) / _ball(1 - _ERROR)
        found = (delta / -(-_ball(gap)).expm1()).upper()
        return _LEAST_TAIL if found <= _ball(_LEAST_TAIL) else min(Fraction(1), _exact(found))


def variance_for(sensitivity: int, mu: Fraction) -> Fraction:
    """Return the least whole variance parameter s^2 >= 18 with sensitivity^2/(s^2 - 9) <= mu^2."""
    return Fraction(max(LEAST_VARIANCE, VARIANCE_LOST + math.ceil(sensitivity**2 / mu**2)))


def mu_above(mu_squared: Fraction) -> float | None:
    """Return the smallest float not below mu; None for mu beyond 2^-64 to 2^12."""
    if not in_reach(mu_squared):
        return None
    if Fraction(LEAST_MU) ** 2 == mu_squared:
        return LEAST_MU
    below = _last(LEAST_MU, MOST_MU, lambda mu: Fraction(mu) ** 2 < mu_squared, math.sqrt(mu_squared))
    return math.nextafter(below, math.inf)


def in_reach(mu_squared: Fraction) -> bool:
    """Tell whether the curve claims anything for this mu^2."""
    return Fraction(LEAST_MU) ** 2 <= mu_squared <= Fraction(MOST_MU) ** 2


def _near(mu_squared: Fraction, delta: Fraction) -> float:
    """Return an epsilon near that of the curve at delta, by Newton's method on the logarithm; it is no claim."""
    from flint import arb, ctx

    with ctx.workprec(_BITS):
        mu, wanted = _ball(mu_squared).sqrt(), _ball(delta).log()
        epsilon = mu * (mu / 2 + (-2 * wanted).sqrt())  # what zCDP gives; from above, every step stays above
        for _ in range(_STEPS):
            found = curve(epsilon, mu)
            slope = epsilon.exp() * ((epsilon / mu + mu / 2) / arb(2).sqrt()).erfc() / 2
            step = (found.log() - wanted) * found / slope
            epsilon = (epsilon + step).mid()
            if not abs(step) > abs(epsilon) * _CLOSE:
                break
        return float(epsilon)


def _last(low: float, high: float, holds: Callable[[float], bool], near: float) -> float:
    """Return the last float from low to high at which it holds, where it holds at low and from somewhere on no more.

    Steps away from `near` grow twofold until they enclose it.
    """
    first, after = _place(low), _place(high) + 1
    middle, step = _place(near) if low < near < high else (first + after) // 2, 1
    while after - first > 1:
        if holds(_float(middle)):
            first, middle = middle, middle + step
        else:
            after, middle = middle, middle - step
        step *= 2
        if not first < middle < after or step > after - first:
            middle = (first + after) // 2
    return _float(first)


def _place(value: float) -> int:
    """Return the place of a positive float among all: neighbours are neighbours."""
    return int(struct.unpack(">q", struct.pack(">d", value))[0])


def _float(place: int) -> float:
    return float(struct.unpack(">d", struct.pack(">q", place))[0])


def _exact(value: arb) -> Fraction:
    """Return the middle of a ball, none of which is infinite."""
    mantissa, exponent = (int(part) for part in value.mid().man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


def _ball(value: Fraction) -> arb:
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))
