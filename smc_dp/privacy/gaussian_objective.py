"""Objective perturbation with Gaussian noise: (epsilon, delta) for what `objective_perturbation` gives purely.

What is minimised is the same, but b is Gaussian (Kifer, Smith and Thakurta 2012). Its noise is shorter by about the
root of the dimension. The loss is of margins, l(y f.x), and its slope lies in [-1, 0], as of Huber and logistic losses.

Theorem. Let b be N(0, sigma^2) in each coordinate and f* the exact minimiser. To replacing one of n rows f* is
(epsilon, delta)-private, for every epsilon > J = log(1 + c/(n (Lambda + Delta))), with

    delta = delta(epsilon - J; 2/sigma) + 2 delta(epsilon - J; 1/sigma),

delta(epsilon; mu) being the curve of a Gaussian (`smc_dp.privacy.gaussian`). The second term is next to nothing.

Proof. As there, f* and b determine each other, and with p, p' the densities of f* for the two data sets, p'/p at f is
at least e^-J g(b + v)/g(b): g is the density of the noise, b = b(f) that of the first data set, and b + v that of the
second. With u = y x for the row that is replaced and u' for the other, v = s u - s' u' for two slopes, s and s' in
[-1, 0], that depend on f, hence on b. So v lies in the parallelogram with the corners 0, -u, u' and u' - u; |b + v|^2
is convex in v, and g(b + v) is least at a corner. Since p df = g db, the integral over f of (p - e^epsilon p')_+, which
is the delta of f*, is at most that over b of

    max over the corners v of (g(b) - e^(epsilon - J) g(b + v))_+.

For v = 0 this is 0. The maximum is at most the sum over the other three, and the integral of each of those is
delta(epsilon - J; |v|/sigma), which grows with |v|: |u|, |u'| <= 1 and |u' - u| <= 2. q.e.d.

To bound the privacy loss in every point and to integrate is the way of Redberg, Koskela and Wang (2023), for one row
more or less and slopes of either sign. Were v fixed, the curve of mu = 2/sigma would do; as it depends on b, it may be
another corner on the other side of it, which is what the second term is for.

What a computer finds. b is discrete Gaussian on the grid, of variance parameter w. By the lemma of
`smc_dp.privacy.gaussian` its distribution is, up to a factor e^(+-eta) in each coordinate, that of Z: first
Y ~ N(0, w - 9), then Z discrete Gaussian of variance parameter 9 centred at Y. The theorem is used for Y, with sigma^2
= w - 9. A coordinate of Z is further than t = 100 from that of Y with probability below e^(-t^2/18) < 2^-800, whatever
Y is, so with at most 2^50 coordinates any is with probability below 2^-700. Else Z is surely at most beta = 2^-40 t
sqrt(d) away from Y, and the solution f_a for Z within r = (tau + beta/n)/(Lambda + Delta) of f*, the minimiser for Y.
The rows and f* determine Y, so f_a depends on the rows, f* and coins alone, and for neighbours and the same f* both lie
within r of f*, where K-norm noise for 2 r makes epsilon_2 of it. So for any set S of releases and its probabilities
P_f(S), P'_f(S) given that f* is f, whatever f is, P_f(S) <= 2^-700 + e^epsilon_2 P'_f(S)/(1 - 2^-700).
Averaged over f, (epsilon_1, delta) of f* gives (epsilon_1 + epsilon_2 + 2^-699, delta + 2^-700) for the release with Z,
and the discrete distribution adds 2 d eta to epsilon and multiplies delta by e^(d eta). Since delta >= 2^-333 here, all
this is in the errors that `gaussian.curve_keeps` charges: 2^-180 of epsilon, and of delta as a fraction of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from smc_dp.privacy.gaussian import MOST_INTEGERS, curve, curve_keeps, in_reach, largest_mu, variance_for
from smc_dp.privacy.lazy import exact_ball
from smc_dp.privacy.noise import DiscreteGaussian
from smc_dp.privacy.objective_perturbation import (
    LINEAR_TERM_SENSITIVITY,
    SHARE_OF_OUTPUT,
    PerturbedObjective,
    check_figures,
    solution_noise,
    strengthen,
)

ROUNDING_RADIUS = Fraction(100)
"""Bound t on |Z - Y| in a coordinate, in grid units: the noise on the grid against the Gaussian that it rounds."""
_LEAST_DELTA = Fraction(1, 1 << 333)


@dataclass(frozen=True)
class GaussianPerturbation(PerturbedObjective):
    """Perturbation with discrete Gaussian noise."""

    noise: DiscreteGaussian

    def keeps(self, epsilon: Fraction, delta: Fraction) -> bool:
        """Tell whether the release is surely (epsilon, delta)-private to replacing one row; delta at least 2^-333."""
        mu_squared = self.noise.mu_squared(LINEAR_TERM_SENSITIVITY)
        left = epsilon - self.jacobian - self.output.epsilon(self.moved)
        if left <= 0 or delta < _LEAST_DELTA or not in_reach(mu_squared):
            return False
        return curve_keeps(lambda e: _of_minimiser(e, exact_ball(mu_squared).sqrt()), left, delta)


def gaussian_perturbation(
    epsilon: Fraction, delta: Fraction, n: int, modulus: float, curvature: Fraction, dimension: int, tau: float
) -> GaussianPerturbation:
    """Return the perturbation that keeps (epsilon, delta), with as little noise as the theorem allows.

    Delta is chosen as in `objective_perturbation.proven_perturbation`; see there for the other arguments. delta: from
    2^-333 to below 1. ValueError: a figure out of range.
    """
    check_figures(epsilon, n, modulus, curvature, dimension, tau)
    if not _LEAST_DELTA <= delta < 1:
        raise ValueError(f"delta lies from 2^-333 to below 1, got {delta}")
    if dimension > MOST_INTEGERS:
        raise ValueError(f"wanted at most {MOST_INTEGERS} numbers, got {dimension}")
    first = epsilon * (1 - SHARE_OF_OUTPUT)
    total, jacobian = strengthen(first, n, modulus, curvature)
    noise = DiscreteGaussian(dimension, variance_for(LINEAR_TERM_SENSITIVITY, _mu(first - jacobian, delta)))
    output, moved = solution_noise(epsilon, n, total, dimension, tau, ROUNDING_RADIUS)
    return GaussianPerturbation(n, modulus, Fraction(total) - Fraction(modulus), noise, jacobian, output, moved)


@lru_cache(maxsize=1024)
def _mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest float 2/sigma with which the minimiser keeps both, where the determinant costs nothing."""
    return largest_mu(lambda mu: curve_keeps(lambda e: _of_minimiser(e, exact_ball(mu)), epsilon, delta))


def _of_minimiser(epsilon: arb, mu: arb) -> arb:
    """Return the delta of the theorem, as a ball; mu = 2/sigma, epsilon without J."""
    return curve(epsilon, mu) + 2 * curve(epsilon, mu / 2)
