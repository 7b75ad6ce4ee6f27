"""`feat_agg` and `avg_agg`: the sites' classifiers, combined on the aggregator's own rows, or averaged.

Every site i minimises (1/m_i) sum of l(y f.x) + lam |f|^2, so Lambda = 2 lam in objective perturbation, and sends f_i.
The average method takes the mean. The feature method (Algorithm 1) takes M x as features of a row x, M: (N, d) with
rows f_i, trains weights omega: (N,) of logistic regression with lam |omega|^2 on the aggregator's rows D_0, and returns
M' omega (line 8 is printed M omega, which has the wrong shape). With noise the f_i are private as they leave their
sites; all the rest is post-processing of them, so nobody is trusted, and each row is in one site, so the epsilons of
sites do not add up. The curves of the paper: FL and AL with noise, FN and AN for epsilon = inf.

Theorem 1 of the paper gives orders of magnitude with an unspecified constant C_N, so there is nothing of it to compute.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, get_args

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.arrays import Array
from smc_dp.data.federation import Federation, Rows
from smc_dp.errors import InputError, shown
from smc_dp.learning.perturbed import Huber, Logistic, Loss, minimise, minimise_perturbed
from smc_dp.learning.solver import PUBLIC_TAU
from smc_dp.methods.method import check_modulus, check_sizes, check_target, two_classes
from smc_dp.methods.model import LinearModel, Release
from smc_dp.privacy import objective_perturbation
from smc_dp.privacy.objective_perturbation import ObjectivePerturbation
from smc_dp.privacy.output import nothing
from smc_dp.privacy.statement import PrivacyStatement, round_up
from smc_dp.privacy.statement import short_figure as figure
from smc_dp.privacy.target import Calibration, NoiseName, Target
from smc_dp.unit_ball import into_ball

LossName = Literal["huber", "logistic"]
Scale = Literal["none", "unit"]

ADVERSARY = (
    "anyone who sees everything that leaves the sites, the aggregator and the other sites included: each site adds "
    "its noise itself and trusts nobody"
)
SIZES = "The sizes of the data sets are constants of the neighbourhood: they are not protected."
PUBLIC = "The aggregator's labelled rows count as public: they are not protected."
PRIVATE = (
    "The aggregator's labelled rows are protected like those of a site, but not from the aggregator, who holds them; "
    "what was fitted to them before, such as a projection, is not covered."
)
EXTRA = (
    "That includes an epsilon/100 for noise on each solution, which the paper does not have: with it the proof holds "
    "for what is computed, not only for real numbers."
)

_TINY = float(np.finfo(float).tiny)
Labels = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True)
class AverageMethod:
    """The mean of the sites' classifiers; lam in [2^-29, 1e6], h of the Huber loss in [2^-10, 2^10].

    site_epsilons: for each site the multiple of the target's epsilon that it spends, all 1 if None.
    """

    lam: float = 1e-2
    h: float = 0.5
    loss: LossName = "huber"
    site_epsilons: tuple[float, ...] | None = None
    name: ClassVar[str] = "avg_agg"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven", "paper")
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm",)

    def __post_init__(self) -> None:
        _check_settings(self)

    def train(self, federation: Federation) -> TrainedSites:
        """Checks only: the noise is part of the training, which happens at the release. One class is enough."""
        _check_sites(self, federation)
        return TrainedSites(self, federation)


@dataclass(frozen=True)
class FeatureMethod:
    """The combination of the sites' classifiers that the aggregator's labelled rows teach.

    Its settings are those of `AverageMethod` and two more. scale: `unit` divides every f_i by its length, which noise
    makes arbitrary, before it is a feature (post-processing). private_labelled: the labelled rows are private too;
    omega then comes from objective perturbation at the target's epsilon in the N dimensions of M x/|M|, which are rows
    of the unit ball because |M x| <= |M| |x| in the Frobenius norm.
    """

    lam: float = 1e-2
    h: float = 0.5
    loss: LossName = "huber"
    site_epsilons: tuple[float, ...] | None = None
    scale: Scale = "none"
    private_labelled: bool = False
    name: ClassVar[str] = "feat_agg"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven", "paper")
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm",)

    def __post_init__(self) -> None:
        _check_settings(self)
        if self.scale not in get_args(Scale):
            raise InputError(f"scale: wanted one of {', '.join(get_args(Scale))}, got {shown(self.scale)}")
        if not isinstance(self.private_labelled, bool):
            raise InputError(f"private_labelled: wanted True or False, got {shown(self.private_labelled)}")

    def train(self, federation: Federation) -> TrainedSites:
        """Checks only, as for `AverageMethod`; InputError without labelled rows of the aggregator."""
        _check_sites(self, federation)
        if federation.labelled is None:
            raise InputError(f"the public labelled rows: {self.name} wants some at the aggregator, got none")
        return TrainedSites(self, federation)


@dataclass(frozen=True, eq=False, repr=False)
class TrainedSites:
    """The rows of all sites, secret: objective perturbation trains anew with every noise."""

    method: AverageMethod | FeatureMethod
    federation: Federation

    def classifiers(self, target: Target, rng: Stream) -> Array:
        """What the sites send: (N, d), f_i in row i; without noise for epsilon None."""
        check_target(target, self.method)
        loss, modulus = _loss(self.method), 2 * self.method.lam
        parties = zip(self.federation.parties, self.laws(target), strict=True)
        return np.array([_minimiser(loss, rows.X, rows.y, modulus, law, rng) for rows, law in parties])

    def combine(self, M: Array, target: Target, rng: Stream) -> Array:
        """What the aggregator makes of the classifiers: (d,)."""
        if isinstance(self.method, AverageMethod) or self.federation.labelled is None:
            return np.asarray(M.mean(axis=0))
        if self.method.scale == "unit":
            M = M / np.maximum(np.linalg.norm(M, axis=1, keepdims=True), _TINY)
        labelled, law = self.federation.labelled, self.law_of_aggregator(target)
        if self.method.private_labelled:
            M = M / max(float(np.linalg.norm(M)), _TINY)
        features = labelled.X @ M.T
        if self.method.private_labelled:
            features = into_ball(features, 1.0)  # where they are but for rounding
        return np.asarray(M.T @ _minimiser(Logistic(), features, labelled.y, 2 * self.method.lam, law, rng))

    def release(self, target: Target, rng: Stream) -> Release:
        """New noise at every site, then the mean or the aggregator's combination."""
        weights = self.combine(self.classifiers(target, rng), target, rng)
        model = LinearModel.from_coordinates(weights[np.newaxis], 2)
        return Release(model, self._statement(target, rng))

    def laws(self, target: Target) -> list[ObjectivePerturbation | None]:
        """For each site, how it perturbs its objective; None for no noise."""
        shares = self.method.site_epsilons or (1.0,) * len(self.federation.parties)
        c, d = _loss(self.method).largest_curvature, self.federation.dimension
        return [
            _law(self.method.lam, target, Fraction(share), int(n), c, d)
            for share, n in zip(shares, self.federation.sizes, strict=True)
        ]

    def law_of_aggregator(self, target: Target) -> ObjectivePerturbation | None:
        """How the aggregator perturbs its objective; None for no noise, and where its rows are public."""
        labelled = self.federation.labelled
        if labelled is None or isinstance(self.method, AverageMethod) or not self.method.private_labelled:
            return None
        N = len(self.federation.parties)
        return _law(self.method.lam, target, Fraction(1), len(labelled), Logistic().largest_curvature, N)

    def _statement(self, target: Target, rng: Stream) -> PrivacyStatement:
        """The worst epsilon of all who add noise."""
        if target.epsilon is None:
            return nothing("record", "replace", "No noise was asked for (epsilon = inf).")
        if rng.insecure:
            return nothing("record", "replace", "All randomness comes from a seed: whoever guesses it has the noise.")
        each = [law.epsilon for law in self.laws(target) if law is not None]
        own = self.law_of_aggregator(target)
        worst = round_up(max([*each, *([] if own is None else [own.epsilon])]))
        caveats: tuple[str, ...] = (SIZES,)
        if isinstance(self.method, FeatureMethod):
            caveats += (PUBLIC if own is None else PRIVATE,)
        if self.method.site_epsilons is not None:
            listed = ", ".join(f"{self.federation.name(j)} {figure(round_up(e))}" for j, e in enumerate(each))
            caveats += (f"For the rows of each site alone epsilon is: {listed}.",)
        if target.calibration == "paper":
            nominal = figure(float(target.epsilon))
            true = f"its nominal epsilon is {nominal}, what it is proved to give is at most {figure(worst)}"
            caveats += (f"The noise is the paper's: {true}. {EXTRA}",)
        return PrivacyStatement("pure", worst, 0.0, "record", "replace", ADVERSARY, caveats)


def printed_error(model: LinearModel, test: Rows) -> float:
    """The misclassification rate of the paper's section 4, where a row at margin zero counts as correct."""
    margins = (2.0 * test.y - 1) * (test.X @ (model.W[1] - model.W[0]))
    return float(np.mean(margins < 0))


def _check_settings(method: AverageMethod | FeatureMethod) -> None:
    check_modulus(method.lam)
    if not isinstance(method.h, int | float) or not 2.0**-10 <= method.h <= 2.0**10:
        raise InputError(f"h: wanted a number from 2**-10 to 2**10, got {shown(method.h)}")
    if method.loss not in get_args(LossName):
        raise InputError(f"loss: wanted one of {', '.join(get_args(LossName))}, got {shown(method.loss)}")
    shares = () if method.site_epsilons is None else method.site_epsilons
    if not isinstance(shares, tuple | list):
        raise InputError(f"site_epsilons: wanted a tuple with a number for each site, or None, got {shown(shares)}")
    for share in shares:
        if not isinstance(share, int | float) or not 2.0**-20 <= share <= 2.0**20:
            raise InputError(f"site_epsilons: wanted multiples of epsilon from 2**-20 to 2**20, got {shown(share)}")


def _check_sites(method: AverageMethod | FeatureMethod, federation: Federation) -> None:
    two_classes(federation, method)
    check_sizes(federation)
    if method.site_epsilons is not None and len(method.site_epsilons) != len(federation.parties):
        raise InputError(
            f"site_epsilons: wanted {len(federation.parties)}, one for each party, got {len(method.site_epsilons)}"
        )


def _loss(method: AverageMethod | FeatureMethod) -> Loss:
    return Huber(method.h) if method.loss == "huber" else Logistic()


def _law(lam: float, target: Target, share: Fraction, n: int, c: Fraction, d: int) -> ObjectivePerturbation | None:
    if target.epsilon is None:
        return None
    rule = objective_perturbation.paper if target.calibration == "paper" else objective_perturbation.proven
    return rule(share * target.epsilon, n, 2 * lam, c, d, PUBLIC_TAU)


def _minimiser(
    loss: Loss, X: Array, y: Labels, modulus: float, law: ObjectivePerturbation | None, rng: Stream
) -> Array:
    """The classifier of these rows, as it may leave their owner: private if there is a law."""
    signs: Array = 2.0 * y.astype(np.float64) - 1
    if law is None:
        return minimise(loss, X, signs, modulus)
    return law.release(minimise_perturbed(loss, X, signs, law.total, law.linear(rng)), rng)
