"""What the claim does not cover, the worst first; each attack of a coalition outside of it succeeds in every run.

The claim of `ideal.py` would be timid if these failed; `NOT_CLAIMED` is part of it. An attack is given the public
parameters p, the views of the coalition's members, and the released sum S where it needs that; nothing else. All
members follow the protocol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from protocols.arithmetic.ring import Vector
from protocols.curator import CURATOR_NAME
from protocols.pathak2010.messages import Indicator, PublishedShare, Selected, Slot
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import CuratorKeys, PartyInput, PartyKeys
from protocols.runtime.claims import Attack, Inputs, Unclaimed, View, first_of, left_by, letter_from


@dataclass(frozen=True, repr=False)
class Sizes:
    """n_1 ... n_K, and j*: the place of the smallest, equal sizes ordered by their tie bits."""

    n: tuple[int, ...]
    smallest: int


def released(p: Parameters, published: Mapping[str, PublishedShare]) -> Vector:
    """S, the sum of all published shares."""
    return p.weights.add_vectors(*(share.y for share in published.values()))


def exact_sum_of_smallest(p: Parameters, smallest: View, S: Vector) -> Vector:
    """The sum of all w_j without any noise: S less the noise that the party with the smallest data set put in itself.

    From the view of any other party the same computation gives a meaningless vector.
    """
    return p.weights.subtract_vectors(S, _input(smallest).eta)


def weights_of_the_last(p: Parameters, views: Sequence[View], S: Vector) -> Vector:
    """w_j of the only party that is not here: the exact sum, from the smallest party's noise, less all w of these.

    If the one that is not here has the smallest data set, the same computation gives a meaningless vector.
    """
    mine = [_input(view) for view in views]
    smallest = min(mine, key=lambda x: x.n)
    known = p.weights.add_vectors(smallest.eta, *(x.w for x in mine))
    return p.weights.subtract_vectors(S, known)


def sizes_of_charlie_and_party(p: Parameters, charlie: View, party: View) -> Sizes:
    """Every size and who is smallest, from Charlie's view and that of any party.

    Slot i of step 1.3 holds pi_1(a)_i under xi, which every party opens, and pi_1(b)_i under zeta, which Charlie opens;
    every party knows pi_1. So r and pi_2, which are to keep the two apart, are not even in the way.
    """
    keys, zeta = left_by(party, PartyKeys), left_by(charlie, CuratorKeys).zeta
    slots = [letter_from(charlie, name, Slot) for name in p.parties]
    whole = [p.sizes.add(keys.xi.decrypt(slot.a), zeta.decrypt(slot.b)) for slot in slots]
    tied = keys.pi1.inverse(whole)  # n_j followed by its tie bits, at place j
    return Sizes(tuple(n >> p.tie_bits for n in tied), tied.index(min(tied)))


def noise_of_charlie_and_first(p: Parameters, charlie: View, first: View) -> Vector:
    """eta_j*, the noise in S, from Charlie's view and that of P_1.

    P_1 receives the psi_j of step 2.3 one by one, and Charlie opens them: all are zero but that of j*. If P_1 is the
    smallest itself, the indicator of step 2.1 says so, and the noise is P_1's own.
    """
    keys, zeta = left_by(first, PartyKeys), left_by(charlie, CuratorKeys).zeta
    u = letter_from(first, charlie.name, Indicator).u
    smallest = p.parties[keys.pi1.inverse(zeta.decrypt_all(u)).index(1)]
    if smallest == first.name:
        return _input(first).eta
    return p.weights.vector(p.packing.unpack(zeta.decrypt_all(letter_from(first, smallest, Selected).psi)))


def _input(view: View) -> PartyInput:
    return first_of(view.inputs, PartyInput, view.name)


# The same in the form in which a claim is tried. Sizes that differ say who is smallest without anybody's coins.


def _alone(p: Parameters) -> tuple[tuple[str, ...], ...]:
    return tuple((party,) for party in p.parties)


def _with_charlie(p: Parameters) -> tuple[tuple[str, ...], ...]:
    return tuple((CURATOR_NAME, party) for party in p.parties)


def _with_charlie_first(p: Parameters) -> tuple[tuple[str, ...], ...]:
    return _with_charlie(p)[:1]


def _sizes(p: Parameters, inputs: Inputs) -> Sizes:
    n = tuple(_party_input(inputs, party).n for party in p.parties)
    return Sizes(n, n.index(min(n)))


def _party_input(inputs: Inputs, party: str) -> PartyInput:
    return first_of(inputs[party], PartyInput, party)


def _sum(p: Parameters, inputs: Inputs) -> Vector:
    return p.weights.add_vectors(*(_party_input(inputs, party).w for party in p.parties))


def _noise(p: Parameters, inputs: Inputs) -> Vector:
    return _party_input(inputs, p.parties[_sizes(p, inputs).smallest]).eta


def _sum_for_smallest(p: Parameters, inputs: Inputs, names: tuple[str, ...]) -> Vector | None:
    return _sum(p, inputs) if names == (p.parties[_sizes(p, inputs).smallest],) else None


def _noise_and_sum(p: Parameters, views: tuple[View, ...], published: Mapping[str, Any]) -> tuple[Vector, Vector]:
    eta = noise_of_charlie_and_first(p, *views)
    return eta, p.weights.subtract_vectors(released(p, published), eta)


def _all_but_one(p: Parameters) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(party for party in p.parties if party != left) for left in p.parties)


def _last_ones_weights(p: Parameters, inputs: Inputs, names: tuple[str, ...]) -> Vector | None:
    if p.parties[_sizes(p, inputs).smallest] not in names:
        return None
    (left,) = set(p.parties) - set(names)
    return _party_input(inputs, left).w


NOT_CLAIMED = (
    Unclaimed(
        "One party that breaks the rules removes all noise: it enters no rows, or few, and no noise, and the release "
        "is the exact sum of all weights, for everybody; with noise that it chose itself, for itself alone."
    ),
    Unclaimed(
        "Charlie removes all noise too if he breaks the rules: he selects none. He or a party can also spoil the "
        "result."
    ),
    Unclaimed(
        "The party with the smallest data set knows its own noise: it obtains the exact sum of all weights.",
        Attack(
            _alone,
            lambda p, views, published: exact_sum_of_smallest(p, views[0], released(p, published)),
            _sum_for_smallest,
        ),
    ),
    Unclaimed(
        "All parties but one, the smallest among them, together obtain the weights of the last one exactly; of two "
        "parties, the smaller one obtains the other's.",
        Attack(
            _all_but_one,
            lambda p, views, published: weights_of_the_last(p, views, released(p, published)),
            _last_ones_weights,
        ),
    ),
    Unclaimed(
        "Charlie together with any party learns every size and who is smallest, for all parties hold the key of xi.",
        Attack(
            _with_charlie,
            lambda p, views, published: sizes_of_charlie_and_party(p, *views),
            lambda p, inputs, names: _sizes(p, inputs),
        ),
    ),
    Unclaimed(
        "Charlie together with P_1 learns the noise eta, and so the exact sum of all weights.",
        Attack(
            _with_charlie_first,
            _noise_and_sum,
            lambda p, inputs, names: (_noise(p, inputs), _sum(p, inputs)),
        ),
    ),
    Unclaimed(
        "The size of the smallest data set sets the scale of the noise; anybody can estimate it from the release."
    ),
    Unclaimed(
        "Where all pairs are compared, a P_1 that answers one comparison against the rules sees by whether Charlie "
        "refuses something of how the two sizes stand to the others; whose they are, it does not see."
    ),
)
