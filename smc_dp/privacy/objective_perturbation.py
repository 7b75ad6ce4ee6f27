"""Objective perturbation: a random linear term in what is minimised, and the noise that pays for inexact minimisers.

A party minimises J(f) = (1/n) sum of l(y f.x) + (Lambda/2) |f|^2 + b.f/n + (Delta/2) |f|^2 over f in R^d, where
|x| <= 1, l is convex, |l'| <= 1, l'' <= c, and b has density proportional to e^(-|b|/scale) (Chaudhuri, Monteleoni and
Sarwate 2011, Algorithm 2). One of the n rows is replaced by another.

The exact minimiser f* is epsilon_1-private, epsilon_1 = 2/scale + log(1 + c/(n (Lambda + Delta))). The map from b to
f* is one to one, so the density of f* at f is that of b at b(f), the only b that makes f the minimiser, times a
Jacobian. b(f) moves by the difference of two gradients of the loss, so by at most 2, and no smaller bound will do: b
may push the minimiser anywhere. The Jacobian is det(A + P), where A, the part of the other rows and the regulariser, is
at least n (Lambda + Delta), and P, the part of the changed row, has rank one and norm at most c. For the neighbour it
is det(A + Q), and det(A + P)/det(A + Q) <= det(A + P)/det A <= 1 + c/(n (Lambda + Delta)). The logarithm is paid once;
the paper pays it twice. Where the slope of l has kinks (Huber), b(f) and its inverse are still Lipschitz, and the
change of variables holds almost everywhere.

What a computer finds is another vector f_a. b is drawn exactly and rounded to the grid, surely at most
beta = 2^-40 sqrt(d)/2 away. f_a has a gradient, with the rounded b, of norm at most tau, surely. Then by strong
convexity |f_a - f*| <= r = (tau + beta/n)/(Lambda + Delta). The rows and f* determine b, hence its rounding, hence f_a:
so f_a is a function of the rows and f*, and for neighbours and the same f* it differs by at most 2r. Rounding f_a to
the grid and adding K-norm noise for that much, at epsilon_2, gives epsilon_1 + epsilon_2 by adaptive composition,
floats and all (the idea is that of Iyengar et al. 2019). Nothing depends on the lengths of b and f*: beta, tau and r
are constants.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.privacy.grid import ceil_sqrt
from smc_dp.privacy.noise import DiscreteGaussian, KNorm
from smc_dp.privacy.output import GRID, Calibrated, perturb

SHARE_OF_OUTPUT = Fraction(1, 100)
"""Part of epsilon for the noise on the solution."""

_UNIT = 1 << GRID.fraction_bits
LINEAR_TERM_SENSITIVITY = 2 * _UNIT
"""L2 sensitivity of the linear term b(f), in grid units."""
_DIGITS = 60
# ln and exp round to nearest, whatever the context: these factors make sure of the side.
_ABOVE, _BELOW = Decimal("1." + "0" * 56 + "1"), Decimal("0." + "9" * 57)
_LARGE = Fraction(100)


@dataclass(frozen=True)
class PerturbedObjective:
    """Perturbation of the objective and the solution, d numbers, of one party with n rows.

    modulus: Lambda. extra: Delta; their sum is a float. noise: the distribution of b, in grid units. jacobian: what the
    determinant costs, log(1 + c/(n (Lambda + Delta))) from above. output: the noise on the solution, and moved: how far
    neighbours move it when they share the exact minimiser, both in grid units.
    """

    n: int
    modulus: float
    extra: Fraction
    noise: KNorm | DiscreteGaussian
    jacobian: Fraction
    output: KNorm
    moved: int

    @property
    def total(self) -> float:
        """Lambda + Delta: the modulus of all that is minimised beside the loss and b."""
        return float(Fraction(self.modulus) + self.extra)

    def linear(self, rng: Stream) -> tuple[Fraction, ...]:
        """Draw b/n for a fresh b, exactly: d numbers, for one minimisation, secret."""
        return tuple(Fraction(b, _UNIT * self.n) for b in self.noise.sample(rng))

    def release(self, solution: Sequence[Fraction], rng: Stream) -> Array:
        """Publish a solution with a gradient of norm at most tau, on the grid and with its noise: (d,)."""
        integers = [math.floor(_UNIT * f + Fraction(1, 2)) for f in solution]
        return perturb(integers, Calibrated(self.output, self.moved), rng)


@dataclass(frozen=True)
class ObjectivePerturbation(PerturbedObjective):
    """Perturbation with K-norm noise, which is pure."""

    noise: KNorm

    @property
    def epsilon(self) -> Fraction:
        """True epsilon of the release, pure, to replacing one row."""
        return self.noise.epsilon(LINEAR_TERM_SENSITIVITY) + self.jacobian + self.output.epsilon(self.moved)


def proven_perturbation(
    epsilon: Fraction, n: int, modulus: float, curvature: Fraction, dimension: int, tau: float
) -> ObjectivePerturbation:
    """Calibrate the perturbation to exactly epsilon; b and Delta both become smaller as epsilon grows.

    Delta is the least that keeps the determinant to half of epsilon_1; b has the rest. n: rows. modulus: Lambda, of
    (Lambda/2) |f|^2, positive and finite. curvature: c. tau: a public cap on the gradient's norm at every solution.
    ValueError: a figure out of range.
    """
    check_figures(epsilon, n, modulus, curvature, dimension, tau)
    first = epsilon * (1 - SHARE_OF_OUTPUT)
    total, jacobian = strengthen(first, n, modulus, curvature)
    noise = KNorm(dimension, LINEAR_TERM_SENSITIVITY / (first - jacobian))
    output, moved = solution_noise(epsilon, n, total, dimension, tau, Fraction(1, 2))
    return ObjectivePerturbation(n, modulus, Fraction(total) - Fraction(modulus), noise, jacobian, output, moved)


def published_perturbation(
    epsilon: Fraction, n: int, modulus: float, curvature: Fraction, dimension: int, tau: float
) -> ObjectivePerturbation:
    """Calibrate as Algorithm 2 of Chaudhuri, Monteleoni and Sarwate (2011), with the same small noise on its solution.

    epsilon' = epsilon - log(1 + 2c/(n Lambda) + (c/(n Lambda))^2) and Delta = 0 as soon as that is positive, however
    little it is: there the noise 2/epsilon' is arbitrarily large, and just below that epsilon it is not. The printed
    proof is for real numbers and exact minimisers; the noise on the solution, an epsilon/100 on top, makes it hold for
    what is computed. The true epsilon counts the determinant once. Arguments as for `proven_perturbation`.
    """
    check_figures(epsilon, n, modulus, curvature, dimension, tau)
    left = epsilon - 2 * _log1p_above(curvature / (n * Fraction(modulus)))
    total = modulus
    if left <= 0:
        total, left = _float_above(curvature / (n * _expm1_below(epsilon / 4))), epsilon / 2
    jacobian = _log1p_above(curvature / (n * Fraction(total)))
    noise = KNorm(dimension, LINEAR_TERM_SENSITIVITY / left)
    output, moved = solution_noise(epsilon, n, total, dimension, tau, Fraction(1, 2))
    return ObjectivePerturbation(n, modulus, Fraction(total) - Fraction(modulus), noise, jacobian, output, moved)


def strengthen(first: Fraction, n: int, modulus: float, curvature: Fraction) -> tuple[float, Fraction]:
    """Return Lambda + Delta for the least Delta that keeps the determinant to half of epsilon_1, and its cost."""
    total = max(modulus, _float_above(curvature / (n * _expm1_below(first / 2))))
    return total, _log1p_above(curvature / (n * Fraction(total)))


def solution_noise(
    epsilon: Fraction, n: int, total: float, dimension: int, tau: float, off: Fraction
) -> tuple[KNorm, int]:
    """Return the noise of the solution for its share of epsilon, and how far the solution moves, in grid units.

    off: how far the b that is used is surely from that of the proof, in each coordinate and in grid units.
    """
    beta = off * ceil_sqrt(dimension) / _UNIT
    moved = GRID.l2_sensitivity(2 * (Fraction(tau) + beta / n) / Fraction(total), dimension)
    return KNorm(dimension, moved / (epsilon * SHARE_OF_OUTPUT)), moved


def check_figures(epsilon: Fraction, n: int, modulus: float, curvature: Fraction, dimension: int, tau: float) -> None:
    """Raise ValueError for a figure that is not positive and finite, by its name."""
    named: dict[str, Fraction | float] = {
        **{"epsilon": epsilon, "n": n, "modulus": modulus},
        **{"curvature": curvature, "dimension": dimension, "tau": tau},
    }
    for name, value in named.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name} is positive and finite, got {value}")


def _log1p_above(x: Fraction) -> Fraction:
    """Return log(1 + x) for x > 0, rounded up."""
    up = Context(prec=_DIGITS, rounding=ROUND_CEILING)
    one_more = up.divide(Decimal(x.numerator + x.denominator), Decimal(x.denominator))
    return Fraction(up.multiply(up.ln(one_more), _ABOVE))


def _expm1_below(x: Fraction) -> Fraction:
    """Return e^x - 1 for x > 0, rounded down; for x beyond 100 at 100, which is below it too."""
    down, x = Context(prec=_DIGITS, rounding=ROUND_FLOOR), min(x, _LARGE)
    power = down.exp(down.divide(Decimal(x.numerator), Decimal(x.denominator)))
    return Fraction(down.multiply(power, _BELOW)) - 1


def _float_above(value: Fraction) -> float:
    nearest = float(value)
    return math.nextafter(nearest, math.inf) if nearest < value else nearest
