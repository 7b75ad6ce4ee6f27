"""For each method two neighbours, small enough to train in no time, that move its release nearly as far as can be.

A record at x = 1 among records at 0, which curve the objective least, or a party that alone decides every label. The
regulariser is strong, because then minimisers move by nearly the bound for all regularisers: the gradient over lambda.
Neighbours that move a release further would only make the bounds larger; these are made by hand and prove nothing about
others. Where a proof allows for more than they do, half the noise need not exceed the claim, and the measured power is
next to none: `ofpa` and `ofaa` (a label changes the slope of the logistic loss by 1, the proofs allow for 2, which is
approached only by noise that hardly ever comes), `param_laplace` and `wsum_ar`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import scipy.special

from smc_dp.arrays import Array
from smc_dp.audit.epsilon.case import Score
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.collaborative.ofaa import Ofaa
from smc_dp.methods.collaborative.ofpa import Ofpa
from smc_dp.methods.collaborative.param_laplace import ParamLaplace
from smc_dp.methods.feature_method import AverageMethod, FeatureMethod
from smc_dp.methods.hamm2016.per_query import NoisyMax, ReleaseAll
from smc_dp.methods.hamm2016.votes import Average, Soft, SoftAuxiliary, Vote
from smc_dp.methods.method import Method
from smc_dp.methods.nonprivate import Batch, Individual
from smc_dp.methods.pathak2010.averages import Central, Local, PathakMean
from smc_dp.methods.sums.clipped_average import ClippedAverage
from smc_dp.methods.sums.soft_statistic import SoftStatistic
from smc_dp.methods.sums.weighted_sum import WeightedSum, WeightedSumAddRemove
from smc_dp.privacy.target import Calibration

Parties: TypeAlias = Callable[[Sequence[int]], Federation]
"""A federation in which each party's data follow a bit of their own."""

_STRONG = 10.0  # a regulariser beside which the curvature of the loss, at most 1/4, is small
_ONE = np.ones((1, 1))  # the only public row


@dataclass(frozen=True, eq=False)
class NeighbourPair:
    """Neighbours 0 and 1 of a method. `parties`: many canaries, where each party releases something of its own."""

    method: Method
    worlds: tuple[Federation, Federation]
    text: str
    parties: Parties | None = None
    own_scores: tuple[Score, ...] = ()


def pair(name: str, calibration: Calibration) -> NeighbourPair:
    """The neighbours of this method; KeyError for a name that is none."""
    if (name, calibration) == ("ofpa", "paper"):
        return _without_regulariser()
    return _PAIRS[name]()


def labelled(*labels: int) -> Rows:
    """The first record at 1, the others at 0."""
    X = np.zeros((len(labels), 1))
    X[0] = 1.0
    return Rows(X, np.array(labels))


def _one_party(bit: int) -> Rows:
    return labelled(bit, 0, 1, 0)


def _record(method: Method) -> NeighbourPair:
    """One record's label in the smaller of two parties."""
    other = labelled(0, 1, 0, 1, 0, 1, 0, 1)
    worlds = (Federation((_one_party(0), other), 2), Federation((_one_party(1), other), 2))
    return NeighbourPair(method, worlds, "one record of the smaller of two parties has the other label; d = 1")


def _own_noise(method: Method, several: bool = True, public: Rows | None = None) -> NeighbourPair:
    """One record's label, where each party has its own noise."""

    def parties(bits: Sequence[int]) -> Federation:
        return Federation(tuple(_one_party(bit) for bit in bits), 2, labelled=public)

    text = "one record of the only party has the other label; d = 1"
    return NeighbourPair(method, (parties([0]), parties([1])), text, parties if several else None)


def _party(method: Method, several: bool = False) -> NeighbourPair:
    """The one party's data set, whose model labels the one public row."""

    def parties(bits: Sequence[int]) -> Federation:
        return Federation(tuple(Rows(_ONE, np.array([bit])) for bit in bits), 2, unlabelled=_ONE)

    text = "the data set of the only party, one record, has the other label; d = 1"
    return NeighbourPair(method, (parties([0]), parties([1])), text, parties if several else None)


def _one_more(method: Method) -> NeighbourPair:
    """A record at 1 is added to one at 0."""
    worlds = (Federation((Rows(np.zeros((1, 1)), np.array([1])),), 2), Federation((labelled(1, 1),), 2))
    return NeighbourPair(method, worlds, "the only party has one record more; d = 1")


def _without_regulariser() -> NeighbourPair:
    """Enough records for a minimiser to exist, and a score for the equation of the bias, which has no noise."""
    X = np.where(np.arange(80)[:, np.newaxis] % 2, 1.0, -1.0)
    y = (np.arange(80) // 2) % 2
    flipped = np.where(np.arange(80) == 0, 1 - y, y)

    def residual(uploads: Array) -> Array:
        """The sum of sigmoid - y over the records of world 0: what the minimiser makes zero."""
        margins = uploads[:, :1] * X[:, 0] + uploads[:, 1:2]
        missed: Array = np.abs((scipy.special.expit(margins) - y).sum(axis=1))
        return missed

    worlds = (Federation((Rows(X, y),), 2), Federation((Rows(X, flipped),), 2))
    what = "one record of the only party, of 80, has the other label; d = 1"
    return NeighbourPair(Ofpa(), worlds, what, None, (residual,))


_PAIRS: Mapping[str, Callable[[], NeighbourPair]] = MappingProxyType(
    {
        "prr_mean": lambda: _record(PathakMean(_STRONG)),
        "central": lambda: _own_noise(Central(_STRONG), several=False),
        "local": lambda: _own_noise(Local(_STRONG), several=False),
        "wsum": lambda: _record(WeightedSum(_STRONG)),
        "wsum_ar": lambda: _one_more(WeightedSumAddRemove(_STRONG)),
        "feat_agg": lambda: _own_noise(FeatureMethod(_STRONG), public=labelled(1, 0)),
        "avg_agg": lambda: _own_noise(AverageMethod(_STRONG)),
        "ofpa": lambda: _own_noise(Ofpa(lam=_STRONG)),
        "ofaa": lambda: _party_of_one_record(Ofaa()),
        "param_laplace": lambda: _own_noise(ParamLaplace(_STRONG)),
        "vote": lambda: _party(Vote(_STRONG)),
        "soft": lambda: _party(Soft(_STRONG)),
        "soft_aux": lambda: _party(SoftAuxiliary(_STRONG)),
        "soft_ss": lambda: _party(SoftStatistic(_STRONG)),
        "avg": lambda: _party(Average(_STRONG)),
        "avg_clip": lambda: _party(ClippedAverage(lam=1e-2, clip=0.5)),
        "batch": lambda: _party(Batch(_STRONG)),
        "indiv": lambda: _party(Individual(_STRONG)),
        "release_all": lambda: _party(ReleaseAll(_STRONG), several=True),
        "noisy_max": lambda: _party(NoisyMax(_STRONG, queries=1)),
    }
)


def _party_of_one_record(method: Method) -> NeighbourPair:
    worlds = (Federation((labelled(0),), 2), Federation((labelled(1),), 2))
    return NeighbourPair(method, worlds, "the only record has the other label; d = 1")
