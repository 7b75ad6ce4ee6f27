"""Limitations of the claim, the worst first; each attack of a coalition outside of it succeeds in every run.

The claim of `ideal.py` would be timid if these failed; `LIMITATIONS` is part of it. An attack is given the public
parameters p, the views of the coalition's members, and the released sum S where it needs that; nothing else. All
members follow the protocol. Attacks that need nothing but own inputs and the sum are in `noisy_sum_claims.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from protocols.arithmetic.ring import Vector
from protocols.curator import CURATOR_NAME
from protocols.pathak2010.messages import Indicator, Selected, Slot
from protocols.pathak2010.noisy_sum_claims import (
    BY_ALL_BUT_ONE,
    BY_SMALLEST,
    SCALE_OF_THE_NOISE,
    Coalitions,
    exact_sum,
    input_of,
    own_input,
    published_sum,
)
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import CuratorKeys, PartyKeys
from protocols.runtime.claims import Attack, Inputs, Limitation, View, message_from, stage_result


@dataclass(frozen=True, repr=False)
class Sizes:
    """Sizes n_1 ... n_K, and the place j* of the smallest, equal sizes ordered by their tie bits."""

    n: tuple[int, ...]
    smallest: int


def sizes_of_charlie_and_party(p: Parameters, charlie: View, party: View) -> Sizes:
    """Return every size and the place of the smallest, from Charlie's view and that of any party.

    Slot i of step 1.3 holds pi_1(a)_i under xi, which every party opens, and pi_1(b)_i under zeta, which Charlie opens;
    every party knows pi_1. So r and pi_2, which are to keep the two apart, are not even in the way.
    """
    keys, zeta = stage_result(party, PartyKeys), stage_result(charlie, CuratorKeys).zeta
    slots = [message_from(charlie, name, Slot) for name in p.parties]
    whole = [p.sizes.add(keys.xi.decrypt(slot.a), zeta.decrypt(slot.b)) for slot in slots]
    tied = keys.pi1.inverse(whole)  # n_j followed by its tie bits, at place j
    return Sizes(tuple(n >> p.tie_bits for n in tied), tied.index(min(tied)))


def noise_of_charlie_and_first(p: Parameters, charlie: View, first: View) -> Vector:
    """Return eta_j*, the noise in S, from Charlie's view and that of P_1.

    P_1 receives the psi_j of step 2.3 one by one, and Charlie opens them: all are zero but that of j*. If P_1 is the
    smallest itself, the indicator of step 2.1 says so, and the noise is P_1's own.
    """
    keys, zeta = stage_result(first, PartyKeys), stage_result(charlie, CuratorKeys).zeta
    u = message_from(first, charlie.name, Indicator).u
    smallest = p.parties[keys.pi1.inverse([zeta.decrypt(c) for c in u]).index(1)]
    if smallest == first.name:
        return own_input(first).eta
    psi = message_from(first, smallest, Selected).psi
    return p.weights.vector(p.packing.unpack([zeta.decrypt(c) for c in psi]))


# The same attacks, in the form in which a claim is tried. Where sizes differ, they alone decide who is the smallest.


def _with_charlie(p: Parameters) -> Coalitions:
    return tuple((CURATOR_NAME, party) for party in p.parties)


def _sizes(p: Parameters, inputs: Inputs) -> Sizes:
    n = tuple(input_of(inputs, party).n for party in p.parties)
    return Sizes(n, n.index(min(n)))


def _noise(p: Parameters, inputs: Inputs) -> Vector:
    return input_of(inputs, p.parties[_sizes(p, inputs).smallest]).eta


def _noise_and_sum(p: Parameters, views: tuple[View, ...], published: Mapping[str, Any]) -> tuple[Vector, Vector]:
    eta = noise_of_charlie_and_first(p, *views)
    return eta, p.weights.subtract_vectors(published_sum(p, published), eta)


LIMITATIONS = (
    Limitation(
        "One malicious party removes all noise: it claims few rows or none, and enters a noise of zero. Everybody then "
        "has the exact sum of all weights. If it enters noise that it chose itself, it alone has the exact sum."
    ),
    Limitation("A malicious Charlie removes all noise too: he selects none. He or a party can also spoil the result."),
    Limitation(
        "The party with the smallest data set knows its own noise: it obtains the exact sum of all weights. The "
        "protocol does not tell the party that it is the smallest, but the result often shows it.",
        BY_SMALLEST,
    ),
    Limitation(
        "All parties but one, with the smallest among them, together obtain the weights of the last one exactly. Of "
        "two parties, the smaller one obtains the other's.",
        BY_ALL_BUT_ONE,
    ),
    Limitation(
        "Charlie together with any party learns every size and who is smallest, because all parties hold one secret "
        "key.",
        Attack(
            _with_charlie,
            lambda p, views, published: sizes_of_charlie_and_party(p, *views),
            lambda p, inputs, names: _sizes(p, inputs),
        ),
    ),
    Limitation(
        "Charlie together with P_1, the first party, learns the noise, and so the exact sum of all weights.",
        Attack(
            lambda p: _with_charlie(p)[:1],
            _noise_and_sum,
            lambda p, inputs, names: (_noise(p, inputs), exact_sum(p, inputs)),
        ),
    ),
    SCALE_OF_THE_NOISE,
    Limitation(
        "Where all pairs are compared, a malicious P_1 can answer one comparison against the protocol. From whether "
        "Charlie refuses, it learns something about how the two compared sizes rank among the others. It does not "
        "learn whose sizes they are.",
        applies=lambda p: p.comparison == "all-pairs",
    ),
    Limitation(
        "If an attacker reads the memory of a participant before that participant's own part is over, the "
        "participant counts as a member of the coalition. The memory holds its weights, the keys of its links and, "
        "until they are used, its size and its noise."
    ),
)
