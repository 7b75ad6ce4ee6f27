"""`soft_ss`: soft labels released as a sufficient statistic, from which any global model can be trained.

The soft-label objective of Hamm, Cao and Belkin (2016, equations 19 and 55) sees the votes only through
T = (1/N) sum of (B' alpha_i) g_i'. With noise on T everything after it is post-processing: the regulariser is chosen
freely, nothing has to be minimised to a tolerance, and no sensitivity has a lam in its denominator. The rows g are
the public auxiliary rows x whitened: then votes can push T about equally far in every direction, and noise of equal
size in all directions costs the directions in which the x hardly vary as little as the others.

T is a sum over parties of integers that each party computes alone, so a secure sum of them needs no trusted
aggregator. Here it is computed in the clear.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from protocols.arithmetic.rng import Stream
from smc_dp.aggregation.functionality import Sum, Vector
from smc_dp.arrays import Array
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.errors import InputError, shown
from smc_dp.learning.classes import code, coordinates, diameter
from smc_dp.learning.softmax import SoftLabels, minimise
from smc_dp.methods.hamm2016.ensemble import (
    Ensemble,
    Learner,
    auxiliary,
    caveats,
    counted,
    ensemble,
    own_votes,
)
from smc_dp.methods.hamm2016.votes import PUBLIC_ROWS
from smc_dp.methods.method import TRUSTED, Trust, check_modulus, check_target, released
from smc_dp.methods.model import LinearModel, Release
from smc_dp.methods.neighbours import STRONG, NeighbourPair, one_party
from smc_dp.methods.sums.whitening import Whitening, largest_square
from smc_dp.privacy.grid import ceil_sqrt
from smc_dp.privacy.output import GRID, proven, stated
from smc_dp.privacy.statement import PrivacyStatement, Unit
from smc_dp.privacy.target import Calibration, NoiseName, Target

CAVEATS = (
    PUBLIC_ROWS,
    "The parties' integers are only added up: with a secure sum no trusted aggregator would be needed.",
)
_LIMB = 20  # bits: votes times limbs, added over all rows, stay below 2^63
_ROWS = 4096


@dataclass(frozen=True)
class SoftStatistic:
    """lam and lam_global in [2^-29, 1e6]: of local logistic models, and of the global model on whitened rows.

    lam_global is public and costs nothing: about 1 where noise is large (the whitened rows are about sqrt d long),
    less where it is small. gamma, public, in [1e-9, 1]: what whitening adds to the mean squares of all directions.
    learner: what parties train, see `ensemble.Learner`.
    """

    lam: float = 1e-4
    learner: Learner = None
    lam_global: float = 1.0
    gamma: float = 1e-3
    name: ClassVar[str] = "soft_ss"
    protects: ClassVar[Unit] = "party"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven",)
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm", "gauss")
    printed_noises: ClassVar[tuple[NoiseName, ...]] = ()
    lambda_multiplies: ClassVar[str] = "|V|²/2"
    colour: ClassVar[str] = "#9467bd"

    def __post_init__(self) -> None:
        check_modulus(self.lam)
        check_modulus(self.lam_global, "lam_global")
        if not isinstance(self.gamma, int | float) or not 1e-9 <= self.gamma <= 1:
            raise InputError(f"gamma: wanted a number from 1e-9 to 1, got {shown(self.gamma)}")

    @classmethod
    def neighbours(cls, calibration: Calibration) -> NeighbourPair:
        """The only party, which decides every label."""
        return one_party(cls(STRONG))

    def whitened(self, public: Public) -> tuple[Whitening, Array]:
        """How the public rows are whitened, and G: (N, d)."""
        X = auxiliary(public, self)
        whitening = Whitening.of(X, self.gamma)
        return whitening, whitening.rows(X)

    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        """Whatever the public rows are, their sensitivity sets the noise; so any stands for it here."""
        noise = None if target.epsilon is None else proven(target, 1, Fraction(1))
        return stated(noise, target, "party", "party", TRUSTED, (*CAVEATS, *caveats(self.learner)))

    def functionality(self, public: Public, target: Target) -> Sum:
        """The sum of the parties' integers, with noise."""
        G = self.whitened(public)[1]
        return _noisy_sum(target, coordinates(public.classes) * G.shape[1], sensitivity(G, public.classes))

    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Vector:
        """What the party's own votes add to the sum."""
        counts = counted([own_votes(rows, public, self)], public.classes)
        return tuple(statistic_in_integers(self.whitened(public)[1], counts))

    def finish(self, value: Vector, public: Public, target: Target) -> Release:
        """The statistic, and the model that it gives."""
        whitening, G = self.whitened(public)
        T = np.array(GRID.decode(value, len(G) * public.parties))
        W = whitening.weights(model_of(G, T, public.classes, self.lam_global))
        return Release(LinearModel.from_coordinates(W, public.classes), self.statement(public, target))

    def train(self, federation: Federation) -> TrainedStatistic:
        """Local classifiers, their votes, and the statistic."""
        auxiliary(federation, self)
        return self.train_from(ensemble(federation, self.lam, self.learner))

    def train_from(self, ensemble: Ensemble) -> TrainedStatistic:
        """The statistic from local classifiers, however they were trained."""
        public = ensemble.federation.public
        G = self.whitened(public)[1]
        total = tuple(statistic_in_integers(G, ensemble.counts))
        return TrainedStatistic(replace(self, learner=ensemble.learner), G, total, public)


@dataclass(frozen=True, eq=False, repr=False)
class TrainedStatistic:
    """G: (N, d), public; total: N M T on the grid, p d integers, secret."""

    method: SoftStatistic
    G: Array
    total: Vector
    public: Public

    def release(self, target: Target, rng: Stream) -> Release:
        """The statistic with noise, and the model that it gives."""
        check_target(target, self.method)
        noisy = _noisy_sum(target, len(self.total), self._sensitivity)
        return released(self.method, [self.total], self.public, target, rng, noisy)

    @cached_property
    def _sensitivity(self) -> Fraction:
        return sensitivity(self.G, self.public.classes)


def _noisy_sum(target: Target, dimension: int, delta: Fraction) -> Sum:
    return Sum() if target.epsilon is None else Sum(proven(target, dimension, delta).law)


def statistic_in_integers(G: Array, counts: npt.NDArray[np.int64]) -> list[int]:
    """N M T on the grid: the sum over rows i and classes k of counts[i, k] E_(k,i), p d integers, exactly.

    E_(k,i) = round(2^f B_k' g_i) are public integers; counts: (N, C), of M parties or of any of them: what each
    party would add is the same sum with its own votes. G: (N, d), entries below 2^20; N M below 2^43.
    """
    p = coordinates(counts.shape[1])
    total = np.zeros((p, G.shape[1]), dtype=object)
    for start in range(0, len(G), _ROWS):
        votes = counts[start : start + _ROWS]
        for a, k, E in _integers(G[start : start + _ROWS], counts.shape[1]):
            for shift in range(0, 63, _LIMB):
                limb = E >> shift if shift + _LIMB >= 63 else (E >> shift) & ((1 << _LIMB) - 1)
                total[a] += (votes[:, k] @ limb).astype(object) << shift
    return [int(value) for value in total.ravel()]


def _integers(G: Array, classes: int) -> Iterator[tuple[int, int, npt.NDArray[np.int64]]]:
    """(a, k, E) for each coordinate a and class k, E: (rows, d), round(2^f B[k, a] g)."""
    B = code(classes)
    for k, a in np.ndindex(B.shape):
        if B[k, a]:
            yield a, k, np.rint(np.ldexp(B[k, a] * G, GRID.fraction_bits)).astype(np.int64)


def sensitivity(G: Array, classes: int) -> Fraction:
    """In L2, of N M T (in reals, as it stands on the grid), to replacing one party: D sqrt N sigma + N sqrt(p d) 2^-f.

    sigma is the largest singular value of G. Proof. The party's votes change from k_i to l_i, so the sum of the
    integers moves by the sum over i of E_(l_i,i) - E_(k_i,i). Unrounded that is 2^f R'G, R: (N, p) with rows B_l - B_k
    no longer than D (`diameter`), and |R'G| <= |R| sigma <= D sqrt N sigma in Frobenius norms. Rounding moves each of
    the p d entries of each of the N differences by at most 1, so that the sum moves by N sqrt(p d) more. The floats
    of B and of its products with g err by less than 2^-40 of the first term.
    """
    N, p = len(G), coordinates(classes)
    widened = Fraction(diameter(classes)) * (1 + Fraction(1, 2**40)) * (1 << GRID.fraction_bits)
    pushed = ceil_sqrt(-(-N * widened**2 * Fraction(largest_square(G)) // 1))
    return Fraction(pushed + ceil_sqrt(N * N * p * G.shape[1]), 1 << GRID.fraction_bits)


def model_of(G: Array, T: Array, classes: int, lam: float) -> Array:
    """The minimiser V: (p, d) for rows G: (N, d) and the statistic T: (p d,), with regulariser (lam/2) |V|^2."""
    return minimise(SoftLabels(G, T.reshape(coordinates(classes), -1), classes, lam))
