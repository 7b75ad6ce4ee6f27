"""Neighbours that lie as far apart in the sums of a method as can be, and the sums that Charlie announces for it.

*`newton`, `gd`.* One record has the other label, and every sum is announced as zero. So all sums are asked at w = 0, to
which every record is orthogonal: there nothing is clipped, and a pair x, -x lies as far apart as any pair anywhere, 2 C
in every sum (and in the first twice its length, while its curvature does not differ). Where rows have weights, the
record that differs has the largest.

*`logistic`.* Nothing clips its gradients, and they are longest where the weights are wrong. The announced sums lead to
the steepest weights, which put two records of other labels, x and nearly x, each on the wrong side. They lie 2 |x|
apart in every sum but the first, which is asked at 0. Neither Hessian nor meat differ.

*`linear`.* One record is as long as can be, with the largest outcome, and the other is left out: they lie as far apart
in a Gram matrix as any two, and all blocks of all sums differ. The announced matrix has so many rows that residuals are
clipped at the least clip, which makes the first record's share of the last sum the largest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from protocols.arithmetic.ring import Vector
from protocols.secure_sum.parameters import Parameters
from smc_dp.audit.epsilon.deviations import AnnouncedSum, announce_zero
from smc_dp.core.arrays import OUTCOME_BITS
from smc_dp.data.federation import Rows
from smc_dp.data.row_weights import RowWeights
from smc_dp.methods.gradients.gradient_descent import GradientDescent
from smc_dp.methods.gradients.gradient_sums import GradientMethod
from smc_dp.methods.gradients.newton import Newton
from smc_dp.methods.statistics.linear import LinearRegression
from smc_dp.methods.statistics.logistic import LogisticCoefficients
from smc_dp.privacy.statement import RecordAdjacency

_WEIGHTS = RowWeights(column="weight", most=4.0)  # public terms where rows have weights
_TILT = 2.0**-9  # second feature of a record of `logistic`: times the steepest weight, 2^14, it decides the class


@dataclass(frozen=True)
class WorstPair:
    """Records of `dimension` features that differ, and what Charlie announces.

    one, zero: the records, each with a length and a label. rows: function of such records. place, differs: where sums
    are asked, and how the record differs where it is replaced, in words. `classes`: 0 for outcomes that are numbers.
    """

    method: type[GradientMethod]
    rows: Callable[..., Rows]
    announced: AnnouncedSum
    place: str
    dimension: int = 1
    classes: int = 2
    one: tuple[float, int] = (1.0, 1)
    zero: tuple[float, int] = (1.0, 0)
    differs: str = "has the other label"

    @property
    def has_weights(self) -> bool:
        """True where rows may have weights: all of them are clipped."""
        return self.announced is announce_zero

    def rows_in_world(
        self, world: int, adjacency: RecordAdjacency = "replace", *, weighted: bool = False
    ) -> list[Rows]:
        """Return everybody's rows in a world: only the first party's first record differs."""
        empty = (0.0, 1)
        first = [(self.one if world else self.zero), empty]
        if adjacency == "addremove":
            first = [*[self.one] * world, empty]
        found = [self.rows(*records) for records in (first, (self.zero, empty), (self.one,))]
        return [_with_weights(rows) for rows in found] if weighted else found


def with_unclipped_weights(rows: Rows) -> Rows:
    """Return rows that add up to what these do where a weight is no part of the largest: v times the weight 1."""
    if rows.weights is None:
        raise ValueError("wanted rows with weights")
    copies = np.repeat(np.arange(len(rows)), np.rint(rows.weights * _WEIGHTS.most).astype(np.int64))
    return Rows(rows.X[copies], rows.y[copies], np.ones(len(copies)))


def _with_weights(rows: Rows) -> Rows:
    """Return the rows with the largest weight for records at 1, and 1 for those at 0, in parts of the largest."""
    numbers = np.where(rows.X[:, 0] == 1, _WEIGHTS.most, 1.0)
    return replace(rows, weights=_WEIGHTS.of_rows(rows.y, numbers))


def _rows(*records: tuple[float, int]) -> Rows:
    return Rows(np.array([[x] for x, _ in records]), np.array([y for _, y in records]))


def _tilted_rows(*records: tuple[float, int]) -> Rows:
    """Return rows as long as these with a second feature, by which the steepest weights say the other class."""
    each = [(x * np.sqrt(1 - _TILT**2), x * (_TILT if y == 0 else -_TILT)) for x, y in records]
    return Rows(np.array(each), np.array([y for _, y in records]))


def _rows_of_numbers(*records: tuple[float, int]) -> Rows:
    """Return rows as long as these of two equal features, with outcomes of 0 and the largest."""
    each = [(0.6 * x, 0.8 * x) for x, _ in records]
    return Rows(np.array(each), np.array([y << OUTCOME_BITS for _, y in records]))


def announce_steep(p: Parameters, S: Vector) -> Vector:
    """Announce a gradient that is 0 but for the second feature, and there so large that no weight is larger."""
    return (0, 1 << p.ring.bits - 2, *(0 for _ in S[2:]))


def announce_many(p: Parameters, S: Vector) -> Vector:
    """Announce the Gram matrix of very many rows whose outcomes are 0."""
    return (1 << p.ring.bits - 2, 1 << p.ring.bits - 2, *(0 for _ in S[2:]))


_OF_CLIPPED = (_rows, announce_zero, "w = 0")
WORST_PAIRS: Mapping[str, WorstPair] = MappingProxyType(
    {
        pair.method.name: pair
        for pair in (
            WorstPair(Newton, *_OF_CLIPPED),
            WorstPair(GradientDescent, *_OF_CLIPPED),
            WorstPair(LogisticCoefficients, _tilted_rows, announce_steep, "the steepest weights", dimension=2),
            WorstPair(
                LinearRegression,
                *(_rows_of_numbers, announce_many, "the least clip"),
                dimension=2,
                classes=0,
                zero=(0.0, 0),
                differs="is left out or not",
            ),
        )
    }
)
"""Worst pair of each method by several sums that can be audited."""
