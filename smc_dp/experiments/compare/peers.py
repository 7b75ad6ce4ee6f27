"""Other people's tools with all rows in one trusted place: beside our methods, and never offered for a run.

`diffprivlib` is IBM's library, pure epsilon by objective perturbation, and an extra that need not be there. `dp_sgd` is
the usual way to train with privacy, on logistic regression: a few lines here and the accounting of `dp_accounting`,
because the libraries that have it bring half a gigabyte of PyTorch. Both compute in floating point, which their
theorems do not speak of; their statements say so.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

import numpy as np
import scipy

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.core.errors import Fault, InputError, InputFault
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.method import SEED_CAVEAT, Trained
from smc_dp.methods.model import LinearModel, Release
from smc_dp.methods.pathak2010.averages import AGAINST_OUTSIDERS
from smc_dp.methods.pathak2010.models import SIZES_CAVEAT, binary
from smc_dp.methods.training.softmax import one_hot
from smc_dp.privacy.output import no_guarantee
from smc_dp.privacy.statement import PrivacyStatement, round_up
from smc_dp.privacy.target import Calibration, NoiseName, Target

NO_DIFFPRIVLIB = InputFault("peer.not_installed")
_SEED_BITS = 128
_LOSS_STEP = 1e-3  # of the grid of privacy losses, in parts of epsilon: a smaller one gains .1 % of noise at most
_FLOATS = "The proof is of real numbers; noise and gradients are computed in floating point, which it does not cover."


class Entrant(Protocol):
    """A method or a peer that a grid can train and release."""

    def train(self, federation: Federation) -> Trained:
        """Do everything that needs no noise."""
        ...


@dataclass(frozen=True)
class Diffprivlib:
    """diffprivlib's logistic regression on all rows; `C` as there, 1 over the regulariser times the number of rows.

    With more than two classes it trains one against the others, and epsilon is shared among them.
    """

    C: float = 1.0
    name: ClassVar[str] = "diffprivlib"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven",)
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm",)
    colour: ClassVar[str] = "#b40078"

    def train(self, federation: Federation) -> TrainedDiffprivlib:
        """Return the rows in one place; InputError where the library is missing."""
        return TrainedDiffprivlib(self, pool_rows(federation), federation.classes, load_diffprivlib())


@dataclass(frozen=True, eq=False, repr=False)
class TrainedDiffprivlib:
    """Rows of all parties, and the library's class of models."""

    method: Diffprivlib
    rows: Rows
    classes: int
    kind: Any

    def release(self, target: Target, rng: Stream) -> Release:
        """Train a model, with noise of the library's own from the system's generator unless there is a seed.

        Raises InputError for rows without one of the classes.
        """
        epsilon = requested_epsilon(target, self.method)
        if len(np.unique(self.rows.y)) < self.classes:
            raise InputError("peer.class_without_rows", peer=self.method.name, classes=self.classes)
        seed = np.random.RandomState(rng.bits(32)) if rng.insecure else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of SciPy about the library's way to call it
            fitted = self.kind(
                epsilon=epsilon, data_norm=1.0, C=self.method.C, fit_intercept=False, max_iter=1000,
                random_state=seed,
            ).fit(self.rows.X, self.rows.y)  # fmt: skip
        W = np.asarray(fitted.coef_, dtype=np.float64)
        caveats = (SIZES_CAVEAT, _FLOATS, "The proof is of an exact minimiser; the library stops at a tolerance.")
        statement = PrivacyStatement("pure", epsilon, 0.0, "record", "replace", AGAINST_OUTSIDERS, caveats)
        return _release(binary(W[0]) if len(W) == 1 else LinearModel(W), statement, rng)


@dataclass(frozen=True)
class SgdSettings:
    """Settings of gradient descent: each of `steps` steps takes every row with chance `rate`, whatever others do."""

    rate: float
    steps: int
    clip: float
    speed: float
    momentum: float = 0.9

    def descend(self, rows: Rows, classes: int, deviation: float, generator: np.random.Generator) -> Array:
        """Return the last weights, (classes, d), with noise of this deviation on every sum of gradients."""
        answers, lengths = one_hot(rows.y, classes), np.linalg.norm(rows.X, axis=1)
        W = np.zeros((classes, rows.X.shape[1]))
        velocity = np.zeros_like(W)
        for _ in range(self.steps):
            taken = np.flatnonzero(generator.random(len(rows)) < self.rate)
            X = rows.X[taken]
            slopes = scipy.special.softmax(X @ W.T, axis=1) - answers[taken]
            norms = np.linalg.norm(slopes, axis=1) * lengths[taken]
            slopes *= np.minimum(1.0, self.clip / np.maximum(norms, self.clip))[:, np.newaxis]
            noisy = slopes.T @ X + deviation * generator.standard_normal(W.shape)
            velocity = self.momentum * velocity - self.speed / (self.rate * len(rows)) * noisy
            W = W + velocity
        return W


_SGD_OF_LITTLE = SgdSettings(rate=1.0, steps=60, clip=0.7, speed=0.6)
_SGD_OF_MUCH = SgdSettings(rate=0.05, steps=100, clip=0.5, speed=1.6)
_MUCH = 2000
"""Product of the rows and epsilon from which the second settings are the better ones.

All three were chosen on rows of Covertype and MNIST (tests/make_dp_sgd.py), the last two after those of Bank and HAR
had been seen.
"""


def choose_settings(rows: int, epsilon: float) -> SgdSettings:
    """Return the settings for so many rows, a public number where rows are replaced."""
    return _SGD_OF_MUCH if rows * epsilon >= _MUCH else _SGD_OF_LITTLE


@dataclass(frozen=True)
class DpSgd:
    """Stochastic gradient descent with clipped gradients and Gaussian noise, on softmax regression of all rows."""

    name: ClassVar[str] = "dp_sgd"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven",)
    noises: ClassVar[tuple[NoiseName, ...]] = ("gauss",)
    colour: ClassVar[str] = "#a89ca8"

    def train(self, federation: Federation) -> TrainedDpSgd:
        """Return the rows in one place."""
        return TrainedDpSgd(self, pool_rows(federation), federation.classes)


@dataclass(frozen=True, eq=False, repr=False)
class TrainedDpSgd:
    """Rows of all parties, for gradient descent."""

    method: DpSgd
    rows: Rows
    classes: int

    def release(self, target: Target, rng: Stream) -> Release:
        """Train a model."""
        epsilon, delta = requested_epsilon(target, self.method), float(target.delta)
        settings = choose_settings(len(self.rows), epsilon)
        deviation = settings.clip * noise_multiplier(epsilon, delta, settings.rate, settings.steps)
        generator = np.random.default_rng(rng.bits(_SEED_BITS))
        W = settings.descend(self.rows, self.classes, deviation, generator)
        how = (
            "Accounted by the privacy loss distribution of `dp_accounting`, tightly for one row replaced by another; a "
            "step takes each row with the same chance, and all rows where that is 1."
        )
        caveats, delta = (SIZES_CAVEAT, _FLOATS, how), round_up(target.delta)
        statement = PrivacyStatement("approx", epsilon, delta, "record", "replace", AGAINST_OUTSIDERS, caveats)
        return _release(LinearModel(W), statement, rng)


PEERS: MappingProxyType[str, type[Diffprivlib] | type[DpSgd]] = MappingProxyType(
    {Diffprivlib.name: Diffprivlib, DpSgd.name: DpSgd}
)
"""Peers by the name that an entry of a grid has for them."""


def missing_peers() -> tuple[Fault, ...]:
    """Return a fault for each peer that cannot run in this environment."""
    try:
        load_diffprivlib()
    except InputError as error:
        return (error.fault,)
    return ()


def load_diffprivlib() -> Any:
    """Return diffprivlib's class of models, tried once; InputError where it cannot be had, and how it can."""
    try:
        from diffprivlib.models import LogisticRegression

        LogisticRegression(epsilon=1.0, data_norm=1.0)  # which scikit-learn 1.8 refuses
    except (ImportError, TypeError) as error:
        raise InputError(NO_DIFFPRIVLIB) from error
    return LogisticRegression


def pool_rows(federation: Federation) -> Rows:
    """Return the rows of all parties."""
    parties = federation.parties
    return Rows(np.concatenate([rows.X for rows in parties]), np.concatenate([rows.y for rows in parties]))


def requested_epsilon(target: Target, peer: Diffprivlib | DpSgd) -> float:
    """Return the epsilon asked for; InputError for none, or for noise that the peer does not have."""
    if target.epsilon is None:
        raise InputError("peer.needs_noise", peer=peer.name)
    if target.calibration not in peer.calibrations or target.noise not in peer.noises:
        raise InputError(
            "peer.other_noise", peer=peer.name, known=peer.noises[0], calibration=target.calibration, noise=target.noise
        )
    return float(target.epsilon)


@cache
def noise_multiplier(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """Return the deviation of the noise over the clip at which replacing one row costs (epsilon, delta), tightly.

    Let a step add noise N of deviation s to a sum of rows' gradients, each of length at most 1 and in the sum with
    chance q. Given which other rows are in it, a row x replaced by x' turns (1-q) N + q (N + x) into
    (1-q) N + q (N + x'), up to a shift. The divergence E of such mixtures is largest for opposite x and x' of length 1,
    at any factor a >= 1:

    1. The density of the first less a times that of the second is q times that of N + x, less c times that of a mixture
       of N and N + x'. Here c and the weights of the mixture depend on a and q alone.
    2. Over the density of N + x the mixture is a weighted sum of lognormals of mean 1, exp(<m, z>/s - |m|^2/(2 s^2)),
       for a standard normal z and m = -x and m = x' - x. E is the mean of a convex function of this sum.
    3. A weighted sum of given lognormals is largest in the convex order where all grow with the same normal, so where
       -x and x' - x have one direction. It grows with their lengths, which are at most 1 and 2.
    4. Both are reached by x' = -x of length 1. Swapped sides, and so a < 1, follow by symmetry.

    A pair that dominates each step dominates all of them together. Rows whose gradients are opposite and at least as
    long as the clip reach the bound.
    """
    from dp_accounting import mechanism_calibration  # seconds that a grid without it should not pay
    from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
    from dp_accounting.privacy_accountant import NeighboringRelation

    found = mechanism_calibration.calibrate_dp_mechanism(
        lambda: PLDAccountant(NeighboringRelation.REPLACE_ONE, _LOSS_STEP * epsilon),
        lambda noise: sampled_event(noise, rate, steps),
        epsilon,
        delta,
        bracket_interval=mechanism_calibration.LowerEndpointAndGuess(0.3, 5.0),
        tol=1e-3,
    )
    return float(found)


def sampled_event(noise: float, rate: float, steps: int) -> Any:
    """Return the event to account for: so many Gaussian releases, each of a Poisson sample of the rows."""
    from dp_accounting import dp_event

    one = dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(noise))
    return dp_event.SelfComposedDpEvent(one, steps)


def _release(model: LinearModel, statement: PrivacyStatement, rng: Stream) -> Release:
    if rng.insecure:
        statement = no_guarantee(statement.unit, statement.adjacency, SEED_CAVEAT)
    return Release(model, statement)
