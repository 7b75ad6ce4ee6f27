"""`prr_mean`, `central`, `local`: the averaged models of Pathak, Rane and Raj (NIPS 2010), and what they compare with.

All minimise their objective (2), the mean log-loss plus lam |w|^2, so mu = 2 lam. One record replaced moves a model of
n records by at most G/(mu n). `prr_mean` is the plain mean of all parties' models with the noise of the smallest party,
`central` one model of all rows in one place, `local` the mean of models that each party publishes with its own noise,
which needs no cryptography at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.arrays import Array
from smc_dp.data.federation import Federation
from smc_dp.learning.batch import train_all
from smc_dp.learning.solver import PUBLIC_TAU
from smc_dp.methods.method import Method, check_modulus, check_sizes, check_target, two_classes
from smc_dp.methods.model import LinearModel, Release
from smc_dp.privacy.output import GRID, Calibrated, on_grid, perturb, proven, statement
from smc_dp.privacy.pathak2010 import noise_for
from smc_dp.privacy.sensitivity import replace_one
from smc_dp.privacy.target import Calibration, NoiseName, Target

SIZES = "The sizes of the data sets are constants of the neighbourhood: they are not protected."
COMPUTED = (
    "anyone who sees the release, except the one who computed it from the models of all parties and whoever drew the "
    "noise"
)
IN_ONE_PLACE = (
    "Whoever computed this release had all models and is trusted with them.",
    "The noise is made for the smallest party; whoever draws it knows it, can subtract it, and so has the exact mean.",
    "The sizes of the data sets are not protected: the smallest one sets the scale of the noise and can be estimated "
    "from the release.",
)
EVERYBODY = (
    "anyone who sees the published models and the release, except the party whose record it is: each party adds its "
    "noise itself and trusts nobody"
)
OWNER = "anyone who sees the release, but not the one who computed it and had all rows of all parties"


def models_of(federation: Federation, method: Method, lam: float) -> Array:
    """Every party's model: (K, d); InputError for other than two classes, or for more rows than tolerances allow."""
    two_classes(federation, method)
    check_sizes(federation)
    return train_all([(rows.X, rows.y) for rows in federation.parties], 2, 2 * lam)[:, 0]


def noise_of(target: Target, n: int, dimension: int, lam: float, parties: int = 1) -> Calibrated | None:
    """The noise of a sum of so many models when one record of a model of n rows is replaced; None for no noise."""
    if target.epsilon is None:
        return None
    delta = replace_one(n, 2 * Fraction(lam), PUBLIC_TAU)
    calibrated = proven(target, dimension, delta)
    if target.noise == "gauss":
        return calibrated
    law = noise_for(
        n, parties=parties, dimension=dimension, epsilon=target.epsilon, lam=Fraction(lam),
        calibration=target.calibration, noise=target.noise, grid=GRID, tau=PUBLIC_TAU,
    )  # fmt: skip
    return Calibrated(law, calibrated.sensitivity)


@dataclass(frozen=True)
class PathakMean:
    """The mean of the parties' models with noise for the smallest party; lam in [2^-29, 1e6].

    `paper`: the printed scale 2/(n_(1) epsilon lam), whichever the noise. `proven`: G/(mu K n_(1)), because the mean
    of K models moves K times less than one. The sizes of the parties set the scale, so neighbours have equal sizes:
    were a record added to the smallest party, the two scales would differ and no epsilon would bound the ratio.
    """

    lam: float = 1e-3
    name: ClassVar[str] = "prr_mean"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven", "paper")
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm", "laplace", "gauss")

    def __post_init__(self) -> None:
        check_modulus(self.lam)

    def train(self, federation: Federation) -> TrainedMean:
        """Each party's model; a party with one class only is of use too."""
        return TrainedMean(self, models_of(federation, self, self.lam), int(federation.sizes.min()))


@dataclass(frozen=True, eq=False, repr=False)
class TrainedMean:
    """w: (K, d), every party's model; the number of rows of the smallest party."""

    method: PathakMean
    w: Array
    smallest: int

    def release(self, target: Target, rng: Stream) -> Release:
        """Noise on the sum, then the mean: in the clear, what a protocol would compute without a trusted party."""
        check_target(target, self.method)
        parties, d = self.w.shape
        noise = noise_of(target, self.smallest, d, self.method.lam, parties)
        total = [sum(column) for column in zip(*map(on_grid, self.w), strict=True)]
        privacy = statement(noise, target, "record", "replace", COMPUTED, IN_ONE_PLACE, rng=rng)
        return Release(_binary(perturb(total, noise, rng, divisor=parties)), privacy)


@dataclass(frozen=True)
class Central:
    """One model of all rows in one place: the private w* of the paper's Figure 2; lam in [2^-29, 1e6].

    `paper`: scale 2/(n epsilon lam). `proven`: G/(mu n).
    """

    lam: float = 1e-3
    name: ClassVar[str] = "central"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven", "paper")
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm", "laplace", "gauss")

    def __post_init__(self) -> None:
        check_modulus(self.lam)

    def train(self, federation: Federation) -> TrainedCentral:
        """The model of all rows."""
        pooled = federation.pooled()
        one = Federation((pooled,), federation.classes, names=("of all rows",))
        return TrainedCentral(self, models_of(one, self, self.lam)[0], len(pooled))


@dataclass(frozen=True, eq=False, repr=False)
class TrainedCentral:
    """w: (d,), the model of all n rows."""

    method: Central
    w: Array
    n: int

    def release(self, target: Target, rng: Stream) -> Release:
        """The model with noise."""
        check_target(target, self.method)
        noise = noise_of(target, self.n, len(self.w), self.method.lam)
        privacy = statement(noise, target, "record", "replace", OWNER, (SIZES,), rng=rng)
        return Release(_binary(perturb(on_grid(self.w), noise, rng)), privacy)


@dataclass(frozen=True)
class Local:
    """The mean of models that the parties publish themselves, each with noise for its own rows; lam in [2^-29, 1e6].

    Sensitivity G/(mu n_j). The parties' records are disjoint, so what each model spends is what all of them spend.
    """

    lam: float = 1e-3
    name: ClassVar[str] = "local"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven",)
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm", "laplace", "gauss")

    def __post_init__(self) -> None:
        check_modulus(self.lam)

    def train(self, federation: Federation) -> TrainedLocal:
        """Each party's model; a party with one class only is of use too."""
        return TrainedLocal(self, models_of(federation, self, self.lam), tuple(federation.sizes.tolist()))


@dataclass(frozen=True, eq=False, repr=False)
class TrainedLocal:
    """w: (K, d), every party's model; sizes: K numbers of rows."""

    method: Local
    w: Array
    sizes: tuple[int, ...]

    def release(self, target: Target, rng: Stream) -> Release:
        """Noise on every model, then their mean."""
        check_target(target, self.method)
        d, noise = self.w.shape[1], None
        published = np.zeros_like(self.w)
        for j, (w, n) in enumerate(zip(self.w, self.sizes, strict=True)):
            noise = noise_of(target, n, d, self.method.lam)
            published[j] = perturb(on_grid(w), noise, rng)
        # Any party's noise stands for all: each spends exactly what was asked for.
        privacy = statement(noise, target, "record", "replace", EVERYBODY, (SIZES,), rng=rng)
        return Release(_binary(published.mean(axis=0)), privacy)


def _binary(w: Array) -> LinearModel:
    return LinearModel.from_coordinates(w[np.newaxis], 2)
