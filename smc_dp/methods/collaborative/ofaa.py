"""`ofaa`: logistic regression on a noisy polynomial (Algorithm 3, the output function approximation approach).

Each party's log-likelihood is replaced by its Taylor polynomial of degree 2 at zero, and Laplace noise goes on the
coefficients (`smc_dp.privacy.functional`). As printed (`paper`) every party draws it anew in every round, so T rounds
cost T times the epsilon of one; and a noisy matrix is mostly not positive definite, so that the minimum which line 12
asks for does not exist. In the form with a proof (`proven`) noise is drawn once: the polynomials of all parties are
added up, the sum is perturbed, and whatever is done with it afterwards, in however many rounds, costs nothing. Making
the matrix positive definite is such an afterwards: `project` lifts every eigenvalue to 4 standard deviations of the
noise at least; `trim` adds that much to all and drops those still not positive (Zhang, Zhang, Xiao, Yang and Winslett
2012, section 6), which keeps eigenvalues that are positive by a hair, and large errors with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import ClassVar, Literal

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.arrays import Array
from smc_dp.data.federation import Federation
from smc_dp.errors import InputError, shown
from smc_dp.methods.collaborative.quadratics import descend, minimiser, projected, trimmed
from smc_dp.methods.collaborative.rounds import (
    SERVER,
    SIZES,
    BiasedModel,
    RoundsRelease,
    average,
    check_rounds,
    for_plain_rows,
    pure,
    scaled,
    with_one,
)
from smc_dp.methods.method import TRUSTED, check_sizes, check_target, two_classes
from smc_dp.privacy.functional import (
    L2_SENSITIVITY,
    UNIT_BITS,
    coefficients,
    count,
    l1_sensitivities,
    printed_scales,
    quadratic,
)
from smc_dp.privacy.noise import DiscreteGaussian, DiscreteLaplace, KNorm
from smc_dp.privacy.output import Calibrated, Law, nothing, statement
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.privacy.target import Calibration, NoiseName, Target

_RIDGE = 4.0  # standard deviations of a coefficient's noise


@dataclass(frozen=True)
class Ofaa:
    """OFAA with T `rounds`; `paper` takes Laplace noise, `proven` any.

    `reading` of line 12, for `paper`: `exact` minimises the noisy polynomial, and a party whose polynomial has no
    minimum keeps what it downloaded; `truncated` runs `epochs` steps of gradient descent, in the ball of radius 1000.
    For `proven`, `trust`: `central` is one noise on the sum of all parties, `local` a noise for each party; `repair`.
    """

    rounds: int = 1
    reading: Literal["exact", "truncated"] = "exact"
    epochs: int = 40
    trust: Literal["central", "local"] = "central"
    repair: Literal["project", "trim"] = "project"
    name: ClassVar[str] = "ofaa"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven", "paper")
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm", "laplace", "gauss")

    def __post_init__(self) -> None:
        check_rounds(self.rounds, self.epochs, self.reading)
        if self.trust not in ("central", "local"):
            raise InputError(f"trust: wanted central or local, got {shown(self.trust)}")
        if self.repair not in ("project", "trim"):
            raise InputError(f"repair: wanted project or trim, got {shown(self.repair)}")

    def train(self, federation: Federation) -> TrainedPolynomials:
        """Every party's coefficients, for rows as printed and for rows of the unit ball."""
        two_classes(federation, self)
        check_sizes(federation)
        plain = tuple(tuple(coefficients(with_one(rows.X), rows.y)) for rows in federation.parties)
        inside = tuple(tuple(coefficients(scaled(rows.X), rows.y)) for rows in federation.parties)
        return TrainedPolynomials(self, federation, plain, inside)


@dataclass(frozen=True, eq=False, repr=False)
class TrainedPolynomials:
    """plain, inside: K times p integers, for rows (x, 1) and (x, 1)/sqrt 2."""

    method: Ofaa
    federation: Federation
    plain: tuple[tuple[int, ...], ...]
    inside: tuple[tuple[int, ...], ...]

    def release(self, target: Target, rng: Stream) -> RoundsRelease:
        """Perturb, minimise, average."""
        check_target(target, self.method)
        return self._as_printed(target, rng) if target.calibration == "paper" else self._once(target, rng)

    def _as_printed(self, target: Target, rng: Stream) -> RoundsRelease:
        d, rounds = self.federation.dimension, self.method.rounds
        theta, uploads, unsolved = np.zeros(d + 1), [], 0
        for _ in range(rounds):
            found = [self._minimise(_reals(_printed(c, d, target, rng)), theta) for c in self.plain]
            uploads.append([w for w, _ in found])
            unsolved += sum(not solved for _, solved in found)
            theta = average(np.array(uploads[-1]), self.federation)
        return RoundsRelease(BiasedModel(theta), printed_statement(target, d, rounds, rng), np.array(uploads), unsolved)

    def _minimise(self, values: Array, start: Array) -> tuple[Array, bool]:
        """What a party uploads, and whether its polynomial has a minimum."""
        b, M = quadratic(values, len(start))
        lowest = minimiser(b, M)
        if self.method.reading == "truncated":
            return descend(b, M, start, self.method.epochs), lowest is not None
        return (start, False) if lowest is None else (lowest, True)

    def _once(self, target: Target, rng: Stream) -> RoundsRelease:
        D, local = self.federation.dimension + 1, self.method.trust == "local"
        noise = None if target.epsilon is None else polynomial_noise(target, D)
        sent = self.inside if local else (_added(self.inside),)
        sent = tuple(_added((c, noise.law.sample(rng))) if noise else c for c in sent)
        ridge = 0.0 if noise is None else _RIDGE * deviation(noise.law) * sqrt(len(sent))
        repaired = projected if ridge and self.method.repair == "project" else trimmed
        theta = for_plain_rows(repaired(*quadratic(_reals(_added(sent)), D), ridge))
        privacy = statement(noise, target, "record", "replace", SERVER if local else TRUSTED, (SIZES,), rng=rng)
        # Every round minimises the same polynomial, so every round is the same.
        uploads = np.tile(theta, (self.method.rounds, 1, 1))
        return RoundsRelease(BiasedModel(theta), privacy, uploads, 0)


def polynomial_noise(target: Target, D: int) -> Calibrated:
    """What is wanted for the p coefficients of rows of the unit ball, in their units."""
    p = count(D)
    if target.noise == "laplace":
        total = sum(l1_sensitivities(D - 1, 1))
        return Calibrated(DiscreteLaplace(p, total / target.wanted), total)
    if target.noise == "gauss":
        return Calibrated(DiscreteGaussian(p, Fraction(L2_SENSITIVITY**2) / (2 * target.rho)), L2_SENSITIVITY)
    return Calibrated(KNorm(p, L2_SENSITIVITY / target.wanted), L2_SENSITIVITY)


def deviation(law: Law) -> float:
    """The standard deviation of a coefficient's noise, in reals."""
    if isinstance(law, DiscreteGaussian):
        units = sqrt(law.variance)
    elif isinstance(law, KNorm):
        units = sqrt(law.dimension + 1) * float(law.scale)  # E|Y|^2 = p (p + 1) scale^2
    else:
        units = sqrt(2) * float(law.scale)
    return units / 2.0**UNIT_BITS


def printed_statement(target: Target, d: int, rounds: int, rng: Stream) -> PrivacyStatement:
    """What the printed noise gives at most: rounds (S_1/scale_1 + S_2/scale_2), the degrees and the rounds added up."""
    if target.epsilon is None:
        return nothing("record", "replace", "No noise was asked for (epsilon = inf).")
    degrees = zip(l1_sensitivities(d, 2), printed_scales(d, target.epsilon), strict=True)
    epsilon = rounds * sum((sensitivity / scale for sensitivity, scale in degrees), Fraction(0))
    redrawn = f"Noise is redrawn in each of {rounds} rounds, and averaging the uploads of a party removes it."
    return pure(epsilon, target, SERVER, (SIZES, *((redrawn,) if rounds > 1 else ())), rng)


def _printed(c: tuple[int, ...], d: int, target: Target, rng: Stream) -> tuple[int, ...]:
    """The coefficients with the printed noise, if any."""
    if target.epsilon is None:
        return c
    first, second = printed_scales(d, target.epsilon)
    D = d + 1
    noise = DiscreteLaplace(D, first).sample(rng) + DiscreteLaplace(count(D) - D, second).sample(rng)
    return _added((c, noise))


def _added(vectors: tuple[tuple[int, ...] | list[int], ...]) -> tuple[int, ...]:
    return tuple(sum(column) for column in zip(*vectors, strict=True))


def _reals(c: tuple[int, ...]) -> Array:
    return np.array([value / (1 << UNIT_BITS) for value in c])
