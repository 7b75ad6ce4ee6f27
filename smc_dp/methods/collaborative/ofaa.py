"""`ofaa`: logistic regression on a noisy polynomial (Algorithm 3, the output function approximation approach).

Each party's log-likelihood is replaced by its Taylor polynomial of degree 2 at zero, and Laplace noise goes on the
coefficients (`smc_dp.privacy.functional`). As published (`paper`) every party draws it anew in every round, so T rounds
cost T times the epsilon of one; and a noisy matrix is mostly not positive definite, so that the minimum which line 12
asks for does not exist. In the form with a proof (`proven`) noise is drawn once: the polynomials of all parties are
added up, the sum is perturbed, and whatever is done with it afterwards, in however many rounds, costs nothing. Making
the matrix positive definite is such an afterwards: `project` lifts every eigenvalue to 4 standard deviations of the
noise at least; `trim` adds that much to all and drops those still not positive (Zhang, Zhang, Xiao, Yang and Winslett
2012, section 6), which keeps eigenvalues that are positive by a hair, and large errors with them. By a secure sum the
one noise is nobody's: the parties add up their coefficients and shares of one noise; every round minimises the same
sum, so there is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any, ClassVar, Literal

import numpy as np
from typing_extensions import override

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError, check_one_of
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.collaborative.quadratics import (
    descend_quadratic,
    minimise_projected,
    minimise_quadratic,
    minimise_trimmed,
)
from smc_dp.methods.collaborative.rounds import (
    AGAINST_SERVER,
    Answer,
    BiasedModel,
    RoundsRelease,
    Upload,
    append_one,
    check_round_settings,
    download,
    for_plain_rows,
    pure_statement,
    release_of_rounds,
    scale_into_ball,
)
from smc_dp.methods.functionality import EachPublishes, Functionality, Rounds, Sum, Vector, add_vectors
from smc_dp.methods.method import (
    AGAINST_ALL_BUT_AGGREGATOR,
    TrainedParts,
    Trust,
    check_own_rows,
    check_rows_of_parties,
    require_two_classes,
)
from smc_dp.methods.neighbours import NeighbourPair, single_record_pair
from smc_dp.methods.pathak2010.models import SIZES_CAVEAT
from smc_dp.methods.sums.noisy_sum import NoisySum, Summed, SumReach, require_hidden_sizes
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.privacy.functional import (
    L2_SENSITIVITY,
    UNIT_BITS,
    coefficient_count,
    coefficients,
    l1_sensitivities,
    quadratic,
    scales_as_published,
)
from smc_dp.privacy.noise import DiscreteGaussian, DiscreteLaplace, KNorm
from smc_dp.privacy.output import (
    NO_NOISE,
    Calibrated,
    NoiseDistribution,
    calibrate_gaussian,
    no_guarantee,
    noise_statement,
    with_noise,
)
from smc_dp.privacy.statement import PrivacyStatement, Unit
from smc_dp.privacy.target import Calibration, NoiseName, Target

_LONGEST_RECORD = Fraction(531, 1000)
_RIDGE = 4.0  # standard deviations of a coefficient's noise


@dataclass(frozen=True)
class Ofaa(Summed):
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
    binary: ClassVar[bool] = True
    own_bias: ClassVar[bool] = True
    protects: ClassVar[Unit] = "record"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven", "paper")
    noises_as_published: ClassVar[tuple[NoiseName, ...]] = ("laplace",)
    colour: ClassVar[str] = "#d62728"

    @override
    def __post_init__(self) -> None:
        check_round_settings(self.rounds, self.epochs, self.reading)
        check_one_of("trust", self.trust, ("central", "local"))
        check_one_of("repair", self.repair, ("project", "trim"))

    @classmethod
    @override
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        return single_record_pair(cls())

    def shared(
        self, public: Public, target: Target, threat_model: ThreatModel, announced: AnnouncedRows
    ) -> SharedPolynomial:
        """Return the specification with one noise on the sum; InputError for `trust` local or released row counts."""
        if self.trust != "central":
            wanted = "central, because it has one noise"
            raise InputError("secure_sum.other_setting", name="trust", method=self.name, wanted=wanted, got=self.trust)
        require_hidden_sizes(self, announced, "has no use for the number of rows")
        return SharedPolynomial(self, public, target, threat_model, announced)

    @override
    def prepare(self, rows: Rows, public: Public) -> Vector:
        require_two_classes(public.classes, self)
        check_own_rows(rows)
        return ball_coefficients(rows)

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        if target.calibration == "paper":
            return statement_as_published(target, public.dimension, self.rounds)
        adversary = AGAINST_SERVER if self.trust == "local" else AGAINST_ALL_BUT_AGGREGATOR
        return noise_statement(self._noise(public, target), target, "record", "replace", adversary, (SIZES_CAVEAT,))

    @override
    def functionality(self, public: Public, target: Target) -> Functionality:
        if target.calibration == "paper":
            return Rounds((EachPublishes(),) * self.rounds)
        if self.trust == "local":
            return EachPublishes()
        noise = self._noise(public, target)
        return Sum(None if noise is None else noise.distribution)

    @override
    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Answer | Vector:
        require_two_classes(public.classes, self)
        check_own_rows(rows)
        if target.calibration == "paper":
            return self.answer(plain_coefficients(rows), public, target, rng)
        return self.sent(ball_coefficients(rows), public, target, rng)

    @override
    def finish(self, value: Any, public: Public, target: Target) -> RoundsRelease:
        if target.calibration == "paper":
            return release_of_rounds(value, public, self, target)
        local, noise = self.trust == "local", self._noise(public, target)
        total: Vector = add_vectors(value) if local else value
        noisy = 0.0 if noise is None else noise_deviation(noise.distribution) * sqrt(public.parties if local else 1)
        model = self.model_of_polynomial(_reals(total), public.dimension + 1, noisy)
        # Every round minimises the same polynomial, so every round is the same.
        uploads = np.tile(model.theta, (self.rounds, 1, 1))
        return RoundsRelease(model, self.statement(public, target), uploads, 0)

    def model_of_polynomial(self, values: Array, D: int, noise_deviation: float) -> BiasedModel:
        """Return the model of p real coefficients for rows of width D, repaired for noise of this deviation."""
        ridge = _RIDGE * noise_deviation
        repaired = minimise_projected if ridge and self.repair == "project" else minimise_trimmed
        return BiasedModel(for_plain_rows(repaired(*quadratic(values, D), ridge)))

    def answer(self, c: Vector, public: Public, target: Target, rng: Stream) -> Answer:
        """Return a party's answers to rounds: an upload for each, after all uploads of the rounds before."""

        def upload(history: Sequence[Sequence[Upload]]) -> Upload:
            noisy = _reals(with_noise_as_published(c, public.dimension, target, rng))
            return self._minimise(noisy, download(history, public, self))

        return upload

    def sent(self, c: Vector, public: Public, target: Target, rng: Stream) -> Vector:
        """Return a party's coefficients as they leave it: with its own noise where nobody is trusted."""
        return with_noise(c, self._noise(public, target) if self.trust == "local" else None, rng)

    @override
    def train(self, federation: Federation) -> TrainedParts[RoundsRelease]:
        require_two_classes(federation.classes, self)
        check_rows_of_parties(federation)
        public = federation.public
        as_published, in_ball = (
            [of(rows) for rows in federation.parties] for of in (plain_coefficients, ball_coefficients)
        )
        total = add_vectors(in_ball)

        def parts(target: Target, rng: Stream) -> Sequence[Answer | Vector]:
            if target.calibration == "paper":
                return [self.answer(c, public, target, rng) for c in as_published]
            return [total] if self.trust == "central" else [self.sent(c, public, target, rng) for c in in_ball]

        return TrainedParts(self, public, (as_published, in_ball), parts)

    def _noise(self, public: Public, target: Target) -> Calibrated | None:
        return None if target.epsilon is None else polynomial_noise(target, public.dimension + 1)

    def _minimise(self, values: Array, start: Array) -> Upload:
        """Return a party's upload, and whether its polynomial has a minimum."""
        b, M = quadratic(values, len(start))
        lowest = minimise_quadratic(b, M)
        if self.reading == "truncated":
            return descend_quadratic(b, M, start, self.epochs), lowest is not None
        return (start, False) if lowest is None else (lowest, True)


@dataclass(frozen=True)
class SharedPolynomial(NoisySum[Ofaa]):
    """The sum of all parties' coefficients, p numbers, for rows (x, 1)/sqrt 2; see `NoisySum`.

    One record replaced moves it by at most 1 in L2 (`functional.L2_SENSITIVITY`), exactly, in whichever party and
    however many rows there are: what a record adds is a vector of integers, multiples of 2^-41, and nothing is rounded
    after. No record adds more than sqrt(9/32) < .531: |x~|^2/4 + |x~|^4/32 at most, which is the F of that proof for a
    second row of zeros. Rows of more than the announced number would not wrap round either, but are refused.
    """

    @cached_property
    @override
    def reach(self) -> SumReach:
        moved = Fraction(L2_SENSITIVITY, 1 << UNIT_BITS)
        return SumReach(
            coefficient_count(self.public.dimension + 1), moved, self.announced.most_rows * _LONGEST_RECORD, UNIT_BITS
        )

    @override
    def numbers_of(self, trained: Vector) -> Vector:
        finer = self.grid.fraction_bits - UNIT_BITS
        return (*(value << finer for value in trained), 1)

    @override
    def model(self, value: Vector) -> BiasedModel:
        # The repair is for the noise of all parties that took part, which is more than that of H.
        square = self.noise.distribution.coordinate_variance(self.counted(value)) / (1 << 2 * self.grid.fraction_bits)
        noise_deviation = sqrt(square) if self.noisy else 0.0
        return self.method.model_of_polynomial(np.array(self.reals(value)), self.public.dimension + 1, noise_deviation)

    @override
    def caveats(self) -> Iterator[str]:
        yield SIZES_CAVEAT


def plain_coefficients(rows: Rows) -> Vector:
    """Return the coefficients of one party for rows (x, 1)."""
    return tuple(coefficients(append_one(rows.X), rows.y))


def ball_coefficients(rows: Rows) -> Vector:
    """Return the coefficients of one party for rows (x, 1)/sqrt 2 of the unit ball."""
    return tuple(coefficients(scale_into_ball(rows.X), rows.y))


def polynomial_noise(target: Target, D: int) -> Calibrated:
    """Return the noise for the p coefficients of rows of the unit ball, in their units."""
    p = coefficient_count(D)
    if target.noise == "laplace":
        total = sum(l1_sensitivities(D - 1, 1))
        return Calibrated(DiscreteLaplace(p, total / target.wanted), total)
    if target.noise == "gauss":
        return calibrate_gaussian(target, p, L2_SENSITIVITY)
    return Calibrated(KNorm(p, L2_SENSITIVITY / target.wanted), L2_SENSITIVITY)


def noise_deviation(distribution: NoiseDistribution) -> float:
    """Return the standard deviation of a coefficient's noise, in reals."""
    if isinstance(distribution, DiscreteGaussian):
        units = sqrt(distribution.variance)
    elif isinstance(distribution, KNorm):
        units = sqrt(distribution.dimension + 1) * float(distribution.scale)  # E|Y|^2 = p (p + 1) scale^2
    else:
        units = sqrt(2) * float(distribution.scale)
    return units / 2.0**UNIT_BITS


def statement_as_published(target: Target, d: int, rounds: int) -> PrivacyStatement:
    """State the most that the published noise gives: rounds (S_1/scale_1 + S_2/scale_2), over degrees and rounds."""
    if target.epsilon is None:
        return no_guarantee("record", "replace", NO_NOISE)
    degrees = zip(l1_sensitivities(d, 2), scales_as_published(d, target.epsilon), strict=True)
    epsilon = rounds * sum((sensitivity / scale for sensitivity, scale in degrees), Fraction(0))
    redrawn = f"Noise is redrawn in each of {rounds} rounds, and averaging the uploads of a party removes it."
    return pure_statement(epsilon, target, AGAINST_SERVER, (SIZES_CAVEAT, *((redrawn,) if rounds > 1 else ())))


def with_noise_as_published(c: Vector, d: int, target: Target, rng: Stream) -> Vector:
    """Add the published noise to the coefficients, if any is wanted."""
    if target.epsilon is None:
        return c
    first, second = scales_as_published(d, target.epsilon)
    D = d + 1
    noise = DiscreteLaplace(D, first).sample(rng) + DiscreteLaplace(coefficient_count(D) - D, second).sample(rng)
    return add_vectors([c, noise])


def _reals(c: Vector) -> Array:
    return np.array([value / (1 << UNIT_BITS) for value in c])
