"""Pairs of neighbours, small enough to train in no time, that move a release nearly as far as can be.

A record at x = 1 among records at 0, which curve the objective least, or a party that alone decides every label. The
regulariser is strong, because then minimisers move by nearly the bound for all regularisers: the gradient over lambda.
Neighbours that move a release further would only make the bounds larger; these are made by hand and prove nothing about
others. Where a proof allows for more than they do, half the noise need not exceed the claim, and the measured power is
next to none: `ofpa`, `ofaa` and `central_obj` (a label changes the slope of the logistic loss by 1, the proofs allow
for 2, which is approached only by noise that hardly ever comes), `param_laplace` and `wsum_ar`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from smc_dp.core.arrays import OUTCOME_BITS, Array
from smc_dp.data.federation import Federation, Rows

Parties: TypeAlias = Callable[[Sequence[int]], Federation]
"""Function from a bit for each party to a federation whose data follow these bits."""
Score: TypeAlias = Callable[[Array], Array]
"""Function from n released vectors, (n, d), to n scores: larger where the second data set is more likely."""

STRONG_LAMBDA = 10.0  # a regulariser beside which the curvature of the loss, at most 1/4, is small
_ONE = np.ones((1, 1))  # the only public row


@dataclass(frozen=True, eq=False)
class NeighbourPair:
    """Neighbours 0 and 1 of a method (with the settings to use). `parties`: many canaries, where each party releases
    something of its own. `own_scores`: scores that see what no generic one does.
    """

    method: Any
    worlds: tuple[Federation, Federation]
    text: str
    parties: Parties | None = None
    own_scores: tuple[Score, ...] = ()


def labelled_rows(*labels: int) -> Rows:
    """Return rows with the first record at 1 and the others at 0."""
    X = np.zeros((len(labels), 1))
    X[0] = 1.0
    return Rows(X, np.array(labels))


def record_pair(method: Any) -> NeighbourPair:
    """Return neighbours in one record's label, in the smaller of two parties."""
    other = labelled_rows(0, 1, 0, 1, 0, 1, 0, 1)
    worlds = (Federation((_one_party(0), other), 2), Federation((_one_party(1), other), 2))
    return NeighbourPair(method, worlds, "one record of the smaller of two parties has the other label; d = 1")


def outcome_pair(method: Any) -> NeighbourPair:
    """Return neighbours in one record's outcome, at the two ends of its range, in the smaller of two parties."""
    end = 1 << OUTCOME_BITS

    def world(outcome: int) -> Federation:
        X = np.zeros((8, 1))
        X[0] = 1.0
        return Federation((Rows(X[:2], np.array([outcome, 0])), Rows(X, np.zeros(8, dtype=np.int64))), 0)

    return NeighbourPair(
        method, (world(-end), world(end)), "one record of the smaller of two parties has the other outcome; d = 1"
    )


def own_noise_pair(method: Any, several: bool = True, public: Rows | None = None) -> NeighbourPair:
    """Return neighbours in one record's label, where each party has its own noise."""

    def parties(bits: Sequence[int]) -> Federation:
        return Federation(tuple(_one_party(bit) for bit in bits), 2, labelled=public)

    text = "one record of the only party has the other label; d = 1"
    return NeighbourPair(method, (parties([0]), parties([1])), text, parties if several else None)


def party_pair(method: Any, several: bool = False) -> NeighbourPair:
    """Return neighbours in the one party's data set, whose model labels the one public row."""

    def parties(bits: Sequence[int]) -> Federation:
        return Federation(tuple(Rows(_ONE, np.array([bit])) for bit in bits), 2, unlabelled=_ONE)

    text = "the data set of the only party, one record, has the other label; d = 1"
    return NeighbourPair(method, (parties([0]), parties([1])), text, parties if several else None)


def added_record_pair(method: Any) -> NeighbourPair:
    """Return neighbours with a record at 1 added to one at 0."""
    worlds = (Federation((Rows(np.zeros((1, 1)), np.array([1])),), 2), Federation((labelled_rows(1, 1),), 2))
    return NeighbourPair(method, worlds, "the only party has one record more; d = 1")


def single_record_pair(method: Any) -> NeighbourPair:
    """Return neighbours in the label of the only record of the only party."""
    worlds = (Federation((labelled_rows(0),), 2), Federation((labelled_rows(1),), 2))
    return NeighbourPair(method, worlds, "the only record has the other label; d = 1")


def _one_party(bit: int) -> Rows:
    return labelled_rows(bit, 0, 1, 0)
