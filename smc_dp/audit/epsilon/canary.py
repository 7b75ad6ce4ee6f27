"""Neighbours at the dimension and lambda of a method, searched for so that they move the release most.

Hand-made neighbours at a strong regulariser and d = 1 say nothing of a weak one, beside which the other rows matter.
Here a party has 100 rows: one that changes, and two kinds of others, all in a plane, which is enough, as the loss knows
rows by their products with the weights alone. The search is always the same: 80 random choices of four rows of the unit
disc and of the number of each kind, then the simplex method of Nelder and Mead from the best two. The plane is then
laid into d dimensions so that the change of the weights has equal entries, which makes it as long in L1 as L2 allows.
The search proves nothing about what it did not find.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import sqrt
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import minimize

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.neighbours import NeighbourPair
from smc_dp.methods.pathak2010.averages import Central, Local
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.methods.pathak2010.models import model_noise
from smc_dp.methods.sums.weighted_sum import WeightedSum, WeightedSumAddRemove
from smc_dp.privacy.output import GRID, calibrate_noise
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.target import NoiseName, Target

CANARY_PARTY_ROWS = 100  # of the party with the canary
_STARTS, _REFINED, _STEPS = 80, 2, 300
_INSIDE = 1 - 2.0**-40  # how long a row may be, for every rounding

NeighbouringFederations: TypeAlias = tuple[Federation, Federation]


@dataclass(frozen=True)
class NeighbourDistance:
    """Distance by which the neighbours move the release, beside the claimed sensitivity, in the norm of the noise."""

    moved: float
    claimed: float

    @property
    def text(self) -> str:
        """Sentence with both figures."""
        share = self.moved / self.claimed
        return f"they move the release by {self.moved:.4g}, which is {share:.3f} of the {self.claimed:.4g} claimed"

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class _Kind:
    """Kind of method: `make` for a lambda, its federation `together` with this party, the L2 sensitivity `claimed`."""

    make: Callable[[float], Any]
    together: Callable[[Rows], Federation]
    claimed: Callable[[Any, Federation, Target], Fraction]


def _alone(rows: Rows) -> Federation:
    return Federation((rows,), 2)


def _with_another(rows: Rows) -> Federation:
    number = len(rows) + 1  # so that the noise is for the party with the canary
    other = Rows(np.zeros((number, rows.X.shape[1])), np.arange(number) % 2)
    return Federation((rows, other), 2)


def _of_model(method: Any, federation: Federation, target: Target) -> Fraction:
    """Return the sensitivity of the mean of models, of which that of the first party moves."""
    noise = model_noise(target, federation.sizes[0], federation.public.dimension, method.lam)
    return _released(noise.sensitivity if noise else 0, len(federation.parties))


def _of_sum(method: Any, federation: Federation, target: Target) -> Fraction:
    sensitivity = calibrate_noise(target, federation.public.dimension, method.sensitivity).sensitivity
    every = LARGEST_N if isinstance(method, WeightedSumAddRemove) else sum(federation.sizes)
    return _released(sensitivity, every)


def _released(units: int, divisor: int) -> Fraction:
    return Fraction(units, divisor << GRID.fraction_bits)


_KINDS: Mapping[str, _Kind] = MappingProxyType(
    {
        "prr_mean": _Kind(PathakMean, _with_another, _of_model),
        "central": _Kind(Central, _alone, _of_model),
        "local": _Kind(Local, _alone, _of_model),
        "wsum": _Kind(WeightedSum, _with_another, _of_sum),
        "wsum_ar": _Kind(WeightedSumAddRemove, _alone, _of_sum),
    }
)
SEARCHED_METHODS = tuple(_KINDS)
CANARY_LAMBDA = 0.001  # of all these methods


def search_neighbours(name: str, lam: float, dimension: int) -> NeighbourPair:
    """Search for neighbours of this method, one of `SEARCHED_METHODS`, in at least two dimensions."""
    method = _KINDS[name].make(lam)
    found = _best(name, method)
    plane = _plane(dimension, _change(name, method, _rows(name, found)))
    worlds = _worlds(name, tuple(Rows(rows.X @ plane, rows.y) for rows in _rows(name, found)))
    change = "is added" if name == "wsum_ar" else "is replaced"
    text = f"one of {CANARY_PARTY_ROWS} records {change}, searched for at lambda {lam:g}, d = {dimension}"
    return NeighbourPair(method, worlds, text)


def measure_neighbour_distance(
    name: str, pair: NeighbourPair, noise: NoiseName, centres: tuple[Array, Array]
) -> NeighbourDistance:
    """Measure how far the neighbours move the released weights; two classes are published as half of them, twice."""
    moved = np.split(centres[1] - centres[0], 2)
    weights = moved[1] - moved[0]
    kind, target = _KINDS[name], Target(Fraction(1), noise=noise)
    length = float(np.linalg.norm(weights, 1 if noise == "laplace" else 2))
    return NeighbourDistance(length, float(kind.claimed(pair.method, pair.worlds[1], target)))


def orthogonal_canaries(name: str, method: Any, bits: Sequence[int]) -> Federation:
    """Return a federation with a row along each axis, each with a label of its own: d canaries in one run.

    Further rows of zeros make the objective as steep as a strong regulariser does beside one row.
    """
    d = len(bits)
    others = max(0, round(4 / method.lam) - d)
    X = np.concatenate([np.eye(d) * _INSIDE, np.zeros((others, d))])
    return _KINDS[name].together(Rows(X, np.array([*bits, *(i % 2 for i in range(others))])))


def _best(name: str, method: Any) -> Array:
    """Return nine numbers: the row that changes, before and after, two other rows, the share of the first of them."""
    generator = np.random.default_rng(0)

    def length(numbers: Array) -> float:
        return float(np.linalg.norm(_change(name, method, _rows(name, numbers))))

    starts = [np.append(generator.normal(size=8), generator.uniform()) for _ in range(_STARTS)]
    starts.sort(key=lambda numbers: -length(numbers))
    options = {"maxfev": _STEPS, "xatol": 1e-3, "fatol": 1e-6}
    refined = [
        minimize(lambda x: -length(x), start, method="Nelder-Mead", options=options).x for start in starts[:_REFINED]
    ]
    found: Array = max(refined, key=length)
    return found


def _rows(name: str, numbers: Array) -> tuple[Rows, Rows]:
    """Return the party's rows in the plane, in both worlds; a row with label 0 acts as its negative with label 1."""
    before, after, *others = (_in_the_ball(row) for row in numbers[:8].reshape(4, 2))
    first = round((CANARY_PARTY_ROWS - 1) * float(np.clip(numbers[8], 0, 1)))
    common = [others[0]] * first + [others[1]] * (CANARY_PARTY_ROWS - 1 - first)
    worlds = (common, [after, *common]) if name == "wsum_ar" else ([before, *common], [after, *common])
    zero, one = (Rows(np.array(X), np.ones(len(X), dtype=np.int64)) for X in worlds)
    return zero, one


def _in_the_ball(row: Array) -> Array:
    length = float(np.linalg.norm(row))
    return row if length <= _INSIDE else row * (_INSIDE / length)


def _worlds(name: str, rows: tuple[Rows, ...]) -> NeighbouringFederations:
    zero, one = (_KINDS[name].together(part) for part in rows)
    return zero, one


def _change(name: str, method: Any, rows: tuple[Rows, Rows]) -> Array:
    """Return the change of the released weights without noise, in the plane."""
    nobody = Stream.from_system()
    first, second = (
        method.train(federation).release(Target(None), nobody).model.W for federation in _worlds(name, rows)
    )
    moved: Array = (second - first)[1] - (second - first)[0]
    return moved


def _plane(dimension: int, change: Array) -> Array:
    """Return two orthonormal rows, (2, d), which lay the change along all ones."""
    along = np.ones(dimension) / sqrt(dimension)
    across = np.arange(dimension) - (dimension - 1) / 2
    across /= np.linalg.norm(across)
    cosine, sine = change / max(float(np.linalg.norm(change)), 1e-300)
    found: Array = np.array([[cosine, -sine], [sine, cosine]]) @ np.array([along, across]) * _INSIDE
    return found
