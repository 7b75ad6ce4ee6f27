"""`ofpa`: collaborative logistic regression with a noisy objective (Algorithm 2: output function perturbation).

As printed (`paper`) each party, in each round, minimises the sum of its log-likelihoods plus v.w for v of independent
Laplace numbers of scale 4/epsilon, and uploads (w, alpha). This is not differentially private for any epsilon. The
bias has no noise: d + 1 numbers are released with the randomness of d, so that two neighbours' uploads lie on two
surfaces of dimension d, and the equation for the bias holds exactly (`smc_dp.attacks.recovery` makes a record of it).
Nothing bounds the Jacobian from v to w, which the proof of theorem 2 leaves out, because there is no regulariser. For
the same reason there may be no minimiser, and the data decide whether there is
(`smc_dp.methods.collaborative.tilted.existence`);
there is none for certain if a feature is zero in all rows of a party, or if indicators of all the values of a column
stand beside the bias, because then the noise alone has a slope in some direction.
And noise is redrawn in each round around the same point: a convex objective has its minimiser wherever one starts, so
that downloading the average changes nothing, the rounds do not converge, and averaging a party's uploads removes it.

The form with a proof (`proven`) is objective perturbation as `smc_dp.privacy.objective_perturbation` has it: rows
(x, 1)/sqrt 2, a regulariser, noise on all d + 1 coordinates, the Jacobian and the solver's tolerance paid for, and
epsilon/T for each of T rounds. The server's average is no secret. One round is best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.arrays import Array
from smc_dp.data.federation import Federation
from smc_dp.errors import InputError
from smc_dp.learning.objective import RegularisedLogistic
from smc_dp.learning.perturbed import Logistic, minimise_perturbed
from smc_dp.learning.solver import PUBLIC_TAU, minimise
from smc_dp.methods.collaborative import tilted
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
from smc_dp.methods.method import check_modulus, check_sizes, check_target, two_classes
from smc_dp.privacy import objective_perturbation
from smc_dp.privacy.noise import DiscreteLaplace
from smc_dp.privacy.objective_perturbation import ObjectivePerturbation
from smc_dp.privacy.output import GRID, nothing
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.privacy.target import LOWEST, Calibration, NoiseName, Target

Reading = Literal["exact", "truncated"]
Upload = Callable[[int, Array], tuple[Array, bool]]
"""The upload (w, alpha) of the party with this number after a download, and whether it is a minimiser."""

_WHY: dict[Reading, str] = {
    "exact": "The bias has no noise: whoever knows all records of a party but one computes the label of the last from "
    "one upload, and the whole record from as many uploads as there are features.",
    "truncated": "The bias has no noise: the uploads that one data set can lead to and those of its neighbour hardly "
    "ever coincide; and the paper's argument is about minimisers, which are not reached.",
}
_NO_NOISE = "No noise was asked for (epsilon = inf)."
_UNBOUNDED = (
    "Without a regulariser the change of variables from noise to model has no bounded Jacobian, and whether the noisy "
    "objective has a minimiser at all depends on the data."
)


@dataclass(frozen=True)
class Ofpa:
    """OFPA with T `rounds`; `paper` takes Laplace noise, `proven` K-norm noise.

    `reading` of line 9, for `paper`: `exact` minimises, and where there is no minimiser uploads what 100 bounded Newton
    steps gave; `truncated` runs `epochs` steps of gradient descent from the downloaded average. lam, for `proven`: the
    regulariser lam |theta|^2 on the mean loss, in [2^-29, 1e6].
    """

    rounds: int = 1
    reading: Reading = "exact"
    epochs: int = 40
    lam: float = 1e-3
    name: ClassVar[str] = "ofpa"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven", "paper")
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm", "laplace")

    def __post_init__(self) -> None:
        check_rounds(self.rounds, self.epochs, self.reading)
        check_modulus(self.lam)

    def perturbation(self, target: Target, n: int, dimension: int) -> ObjectivePerturbation:
        """The proven noise of one round for a party with n rows (x, 1)/sqrt 2 of this width, d + 1."""
        epsilon = target.wanted / self.rounds
        if epsilon < LOWEST:
            raise InputError(f"rounds: wanted at least {float(LOWEST):g} of epsilon for each, got {float(epsilon):g}")
        curvature = Logistic().largest_curvature
        return objective_perturbation.proven(epsilon, n, 2 * self.lam, curvature, dimension, PUBLIC_TAU)

    def train(self, federation: Federation) -> RoundsOfPerturbation:
        """Nothing yet: what is minimised has the noise in it."""
        two_classes(federation, self)
        check_sizes(federation)
        return RoundsOfPerturbation(self, federation)


@dataclass(frozen=True, eq=False, repr=False)
class RoundsOfPerturbation:
    """The rows, until the noise is drawn."""

    method: Ofpa
    federation: Federation

    def release(self, target: Target, rng: Stream) -> RoundsRelease:
        """T rounds of local training and the server's average of the last."""
        check_target(target, self.method)
        privacy, upload = (self._printed if target.calibration == "paper" else self._proven)(target, rng)
        theta, uploads, unsolved = np.zeros(self.federation.dimension + 1), [], 0
        for _ in range(self.method.rounds):
            found = [upload(j, theta) for j in range(len(self.federation.parties))]
            uploads.append([w for w, _ in found])
            unsolved += sum(not solved for _, solved in found)
            theta = average(np.array(uploads[-1]), self.federation)
        return RoundsRelease(BiasedModel(theta), privacy, np.array(uploads), unsolved)

    def _printed(self, target: Target, rng: Stream) -> tuple[PrivacyStatement, Upload]:
        method = self.method
        rows = [(with_one(party.X), party.y.astype(np.float64)) for party in self.federation.parties]

        def upload(j: int, start: Array) -> tuple[Array, bool]:
            v = printed_noise(target, len(start) - 1, rng)
            if method.reading == "exact":
                return tilted.minimiser(*rows[j], v, start)
            return tilted.descend(*rows[j], v, start, method.epochs), True

        if target.epsilon is None:
            return nothing("record", "replace", _NO_NOISE), upload
        why = [_WHY[method.reading], _UNBOUNDED]
        if method.rounds > 1:
            why.append(f"Even if one round were private, {method.rounds} of them, each with new noise, would add up.")
        return nothing("record", "replace", *why), upload

    def _proven(self, target: Target, rng: Stream) -> tuple[PrivacyStatement, Upload]:
        rows = [(scaled(party.X), 2 * party.y.astype(np.float64) - 1) for party in self.federation.parties]
        if target.epsilon is None:
            objective = RegularisedLogistic(self.method.lam)
            models = [for_plain_rows(minimise(objective, X, y).weights) for X, y in rows]
            return nothing("record", "replace", _NO_NOISE), lambda j, _: (models[j], True)
        noises = [self.method.perturbation(target, len(y), X.shape[1]) for X, y in rows]

        def upload(j: int, _: Array) -> tuple[Array, bool]:
            (X, y), noise = rows[j], noises[j]
            solution = minimise_perturbed(Logistic(), X, y, noise.total, noise.linear(rng), PUBLIC_TAU)
            return for_plain_rows(noise.release(solution, rng)), True

        epsilon = self.method.rounds * max(noise.epsilon for noise in noises)
        return pure(epsilon, target, SERVER, (SIZES,), rng), upload


def printed_noise(target: Target, d: int, rng: Stream) -> Array:
    """(v, 0): d Laplace numbers of scale 4/epsilon on a fine grid, and none for the bias; zeros without noise."""
    if target.epsilon is None:
        return np.zeros(d + 1)
    law = DiscreteLaplace(d, Fraction(4 << GRID.fraction_bits) / target.epsilon)
    return np.array([*GRID.decode(law.sample(rng)), 0.0])
