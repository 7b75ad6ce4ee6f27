"""Bias, rounds and weighted average of the collaborative logistic regressions.

In every round each party sends its model to the server, which sends back the average weighted by numbers of rows.
Rows come without a column for the bias: the methods append it, (x, 1) as published, and (x, 1)/sqrt 2 where a theorem
needs the unit ball. Models leave here as (w, alpha) for rows (x, 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from typing_extensions import override

from smc_dp.core.arrays import Array, with_bias
from smc_dp.core.errors import check_one_of
from smc_dp.data.federation import Public
from smc_dp.methods.method import Method, announced_sizes, check_count
from smc_dp.methods.model import LinearModel, Release, ScoringModel
from smc_dp.privacy.output import published_noise_caveat
from smc_dp.privacy.statement import PrivacyStatement, round_up
from smc_dp.privacy.target import Target

AGAINST_SERVER = "anyone who sees every upload of every round, the server included: each party adds its own noise"
"""Adversary in the statements of methods whose parties trust nobody."""
_MOST_ROUNDS = 10_000

Upload: TypeAlias = tuple[Array, bool]
"""Uploaded weights (w, alpha), and whether they are a minimiser by the method's own criterion."""
Answer: TypeAlias = Callable[[Sequence[Sequence[Upload]]], Upload]
"""Function of the uploads of all parties in the rounds before: one party's next upload."""


@dataclass(frozen=True, eq=False)
class BiasedModel(ScoringModel):
    """Class 1 where w.x + alpha > 0, which is a probability above 1/2; theta = (w, alpha): (d+1,)."""

    theta: Array

    @property
    def linear(self) -> LinearModel:
        """Linear model with these scores for rows (x, 1)."""
        return LinearModel.from_coordinates(self.theta[np.newaxis], 2)

    def with_constant(self, constant: float) -> LinearModel:
        """Return these scores for rows x whose last entry is this constant, not 0: alpha goes to its weight."""
        w, alpha = self.theta[:-1].copy(), self.theta[-1]
        w[-1] += alpha / constant
        return LinearModel.from_coordinates(w[np.newaxis], 2)

    @override
    def scores(self, X: Array) -> Array:
        return self.linear.scores(append_one(X))


@dataclass(frozen=True, eq=False)
class RoundsRelease(Release):
    """A release with the models that the server saw: uploads (w, alpha) by round and party, (T, K, d+1).

    K is 1 where parties do not send models but noisy polynomials, from which the server makes one in each round.
    unsolved: how many of the T K minimisations ended without a minimiser, by the method's own criterion; the paper does
    not say what happens then.
    """

    uploads: Array
    unsolved: int


def append_one(X: Array) -> Array:
    """Append 1 to each row, as published: (n, d+1)."""
    extended: Array = np.concatenate([X, np.ones((len(X), 1))], axis=1)
    return extended


def scale_into_ball(X: Array) -> Array:
    """Return (x, 1)/sqrt 2 for each row x of the unit ball, which stays inside it: (n, d+1)."""
    return with_bias(X, 1.0)


def for_plain_rows(theta: Array) -> Array:
    """Return the model for rows (x, 1) that scores as theta does for `scale_into_ball` rows."""
    plain: Array = theta * scale_into_ball(np.zeros((1, 1)))[0, 1]
    return plain


def weighted_average(uploads: Array, sizes: Sequence[int]) -> Array:
    """Return the server's average of (K, ...) uploads, weighted by n_i/n."""
    mean: Array = np.average(uploads, axis=0, weights=sizes)
    return mean


def download(history: Sequence[Sequence[Upload]], public: Public, method: Method) -> Array:
    """Return each party's download after these rounds: the average of the last, zero before the first."""
    if not history:
        return np.zeros(public.dimension + 1)
    return weighted_average(np.array([w for w, _ in history[-1]]), announced_sizes(public, method))


def release_of_rounds(
    history: Sequence[Sequence[Upload]], public: Public, method: Method, target: Target
) -> RoundsRelease:
    """Return the release of these rounds: the average of the last, and all uploads."""
    uploads = np.array([[w for w, _ in each] for each in history])
    unsolved = sum(not solved for each in history for _, solved in each)
    model = BiasedModel(download(history, public, method))
    return RoundsRelease(model, method.statement(public, target), uploads, unsolved)


def pure_statement(epsilon: Fraction, target: Target, adversary: str, caveats: tuple[str, ...]) -> PrivacyStatement:
    """State pure epsilon for one record replaced."""
    true = round_up(epsilon)
    if target.calibration == "paper":
        caveats += (f"{published_noise_caveat(target.wanted, true)}.",)
    return PrivacyStatement("pure", true, 0.0, "record", "replace", adversary, caveats)


def check_round_settings(rounds: int, epochs: int, reading: str) -> None:
    """Raise InputError for settings of a method with rounds that make no sense."""
    for name, value in (("rounds", rounds), ("epochs", epochs)):
        check_count(name, value, _MOST_ROUNDS)
    check_one_of("reading", reading, ("exact", "truncated"))
