"""Model of the noisy sum for claims and audits: inputs as unknowns, outcomes, and attacks on the sum alone.

An attack here is given own inputs and the published messages, so it succeeds whatever protocol has added up. Where
sizes are equal, randomness decides, and there is nothing to find.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from protocols.arithmetic.ring import Vector
from protocols.curator import CURATOR_NAME
from protocols.pathak2010.noisy_sum import SIZE_BITS, WeightParameters
from protocols.pathak2010.values import PartyInput
from protocols.runtime.claims import Attack, Inputs, Limitation, Unknown, View, first_instance

Coalitions = tuple[tuple[str, ...], ...]


def published_sum(p: WeightParameters, published: Mapping[str, Any]) -> Vector:
    """Return S, the sum of all published shares."""
    return p.weights.add_vectors(*(share.y for share in published.values()))


# A model for audits.


def inputs(p: WeightParameters, unknown: Unknown) -> dict[str, tuple[Any, ...]]:
    """Make size n_j, weights w_j and noise eta_j of each party, each an unknown."""
    made: dict[str, tuple[Any, ...]] = {CURATOR_NAME: (p,)}
    for j, party in enumerate(p.parties, start=1):
        w, eta = (
            tuple(unknown(f"{symbol}_{j}({i})", p.ring_bits) for i in range(1, p.dimension + 1))
            for symbol in ("w", "eta")
        )
        made[party] = (p, PartyInput(unknown(f"n_{j}", SIZE_BITS), w, eta))
    return made


def everybody(p: WeightParameters, numbers: Iterable[tuple[int, Sequence[int], Sequence[int]]]) -> Inputs:
    """Make the inputs of all from each party's size, weights and noise."""
    made: dict[str, tuple[Any, ...]] = {CURATOR_NAME: (p,)}
    for party, (n, w, eta) in zip(p.parties, numbers, strict=True):
        made[party] = (p, PartyInput(n, p.weights.vector(w), p.weights.vector(eta)))
    return made


def noisy_sum(p: WeightParameters, inputs: Sequence[PartyInput], j: int) -> Vector:
    """Return the sum S of all w_j and the noise of party j in Z_M^d."""
    return p.weights.add_vectors(*(x.w for x in inputs), inputs[j].eta)


def compared(p: WeightParameters) -> tuple[str, ...]:
    """Return the names of the sizes, which are compared."""
    return tuple(f"n_{j}" for j in range(1, p.K + 1))


def outcomes(p: WeightParameters, j: int) -> dict[str, tuple[str, ...]]:
    """Name the selected noise eta_j* and the sum of all weights without noise, coordinate by coordinate."""
    places = range(1, p.dimension + 1)
    noise = {f"selected noise({i})": (f"eta_{j + 1}({i})",) for i in places}
    return noise | {f"exact sum({i})": tuple(f"w_{k}({i})" for k in range(1, p.K + 1)) for i in places}


def agrees(p: WeightParameters, inputs: Inputs, published: Mapping[str, Any]) -> bool:
    """Tell whether the shares add up to the exact sum and the noise of a party with the smallest size; randomness
    decides ties.
    """
    noises = [input_of(inputs, p.parties[j]).eta for j in all_smallest(p, inputs)]
    return published_sum(p, published) in [p.weights.add_vectors(exact_sum(p, inputs), eta) for eta in noises]


# Secrets to be found.


def input_of(inputs: Inputs, party: str) -> PartyInput:
    """Return the private input of a party."""
    return first_instance(inputs[party], PartyInput, party)


def own_input(view: View) -> PartyInput:
    """Return the private input of the party that has this view."""
    return first_instance(view.inputs, PartyInput, view.name)


def exact_sum(p: WeightParameters, inputs: Inputs) -> Vector:
    """Return the sum of all weights without noise."""
    return p.weights.add_vectors(*(input_of(inputs, party).w for party in p.parties))


def all_smallest(p: WeightParameters, inputs: Inputs) -> list[int]:
    """Return the places of the parties with the fewest records; randomness decides among them."""
    sizes = [input_of(inputs, party).n for party in p.parties]
    return [j for j, n in enumerate(sizes) if n == min(sizes)]


def sum_for_smallest(p: WeightParameters, inputs: Inputs, names: tuple[str, ...]) -> Vector | None:
    """Return the exact sum for a coalition with the party that has fewer records than all others."""
    return exact_sum(p, inputs) if _smallest(p, inputs) in names else None


def _smallest(p: WeightParameters, inputs: Inputs) -> str | None:
    places = all_smallest(p, inputs)
    return p.parties[places[0]] if len(places) == 1 else None


def _weights_for_the_others(p: WeightParameters, inputs: Inputs, names: tuple[str, ...]) -> Vector | None:
    if _smallest(p, inputs) not in names:
        return None
    (left,) = set(p.parties) - set(names)
    return input_of(inputs, left).w


# Attacks.


def exact_sum_of_smallest(p: WeightParameters, smallest: View, S: Vector) -> Vector:
    """Return the sum of all w_j without any noise: S less the noise that the smallest party put in itself.

    From the view of any other party the same computation gives a meaningless vector.
    """
    return p.weights.subtract_vectors(S, own_input(smallest).eta)


def weights_of_the_last(p: WeightParameters, views: Sequence[View], S: Vector) -> Vector:
    """Return w_j of the only party outside: the exact sum, by the smallest party's noise, less all w of the members.

    If the party outside has the smallest data set, the same computation gives a meaningless vector.
    """
    mine = [own_input(view) for view in views]
    smallest = min(mine, key=lambda x: x.n)
    known = p.weights.add_vectors(smallest.eta, *(x.w for x in mine))
    return p.weights.subtract_vectors(S, known)


BY_SMALLEST = Attack(
    lambda p: tuple((party,) for party in p.parties),
    lambda p, views, published: exact_sum_of_smallest(p, views[0], published_sum(p, published)),
    sum_for_smallest,
)
BY_ALL_BUT_ONE = Attack(
    lambda p: tuple(tuple(party for party in p.parties if party != left) for left in p.parties),
    lambda p, views, published: weights_of_the_last(p, views, published_sum(p, published)),
    _weights_for_the_others,
)
SCALE_OF_THE_NOISE = Limitation(
    "The size of the smallest data set sets the scale of the noise; anybody can estimate it from the release."
)
