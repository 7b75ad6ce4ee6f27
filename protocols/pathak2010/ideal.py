"""What the protocol is worth: the ideal functionality, what each coalition may learn, the simulators, and what is not
claimed.

Theorem. Let every participant follow the protocol, and let a coalition that is either Charlie alone, or any set of
parties without Charlie, look at all that its members see. Then its view can be made, up to a distance of

    K 2**-sigma (blinding, step 1.4) + K**2 2**-(t_b + 1) (equal tie bits) + d 2**-sigma (masks, step 3.1)
    + the advantage against Paillier (DCR), DGK, the sealed links and the commitments,

from the coalition's own inputs and what `functionality` hands to its members.

Proof sketch. *Charlie*: the b are one-time pads in Z_(2**L'); xi-ciphertexts are replaced by encryptions of zero
(semantic security: he has no key). Sizes with tie bits are distinct but for the stated error, and stand in an order
that pi_1 makes uniform and that he does not know; so every comparison answer is that of a uniformly random ranking,
whatever the sizes are. In each comparison he reads at most one zero at a uniform place among otherwise uniform
non-zero values, and the exclusive or of two bits of which one is uniform. eta + s is uniform up to 2**-sigma per
coordinate, whatever slot it stands in, since no carry leaves a slot. Shares of step 3.3 are uniform given their sum.
*Parties*: a~ and the relayed a are uniform; a match names places behind pi_2, which they do not know, so the winners
of a tournament are uniform as well; zeta- and DGK-ciphertexts are replaced by encryptions of zero. Whatever returns
to the holder of a key carries an encryption of zero with a full-length exponent, within 2**-64 of uniform over the
group, so the randomisers tell nothing either. Each party sends a relay or a cover of the same length to each other
party, so neither Charlie nor a reader of the wire sees an edge of pi_1.

The same argument gives the computational differential privacy (SIM-CDP) of the noise for each such coalition that
does not contain the party whose noise was selected.
"""

from __future__ import annotations

from collections.abc import Sequence

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.pathak2010 import minimum
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import PartyInput
from protocols.runtime.claims import Claim, Readings


def smallest(sizes: Sequence[int], ties: Sequence[int]) -> int:
    """j*: the place of the smallest size, equal sizes ordered by their tie bits."""
    return min(range(len(sizes)), key=lambda j: (sizes[j], ties[j]))


def functionality(p: Parameters, inputs: Sequence[PartyInput], ties: Sequence[int]) -> Vector:
    """S = sum of all w_j + eta_j* in Z_M^d, which is all that anybody obtains, as K+1 shares uniform given their
    sum.
    """
    j = smallest([x.n for x in inputs], ties)
    return p.weights.add_vectors(*(x.w for x in inputs), inputs[j].eta)


def simulate_curator(p: Parameters, rng: Stream) -> Readings:
    """All that Charlie reads, made from the public parameters alone."""
    zeros, deltas = [], []
    for _ in range(p.K - 1 if p.comparison == "tournament" else p.K * (p.K - 1) // 2):
        zero = rng.bits(1)
        zeros += Permutation.random(p.compared_bits + 1, rng)([zero] + [0] * p.compared_bits)
        deltas.append(rng.bits(1))
    return {
        "Slot.b": [p.sizes.random(rng) for _ in range(p.K)],
        "Differences.c": zeros,
        "Differences.delta": deltas,
        "Masked.psi": p.packing.pack([rng.bits(p.mask_bits) for _ in range(p.dimension)]),
        "Reshare.x": [x for _ in range(p.K) for x in p.weights.random_vector(p.dimension, rng)],
    }


def simulate_party(p: Parameters, index: int, rng: Stream) -> Readings:
    """All that P_j reads beside keys and pi_1 (the coins of all parties), made from the public parameters alone.

    The ciphertexts under the parties' key that Charlie returns open to numbers of `blind_bits`; see step 1.4.
    """
    found: Readings = {
        "Relay.a": [p.sizes.random(rng) for _ in range(p.K - 1)],
        "Blinded.a": [rng.bits(p.blind_bits)],
        "Reshare.x": [x for _ in range(p.K) for x in p.weights.random_vector(p.dimension, rng)],
    }
    if index == 0:
        found["Half.a_tilde"] = [p.sizes.random(rng) for _ in range(p.K - 1)]
        found |= _matches(p, rng)
    return found


def _matches(p: Parameters, rng: Stream) -> Readings:
    """The places that meet when each comparison falls as a uniformly random ranking has it."""
    rank = Permutation.random(p.K, rng)
    search, left, right = minimum.search(p.comparison, p.K), [], []
    while not search.found:
        left += [i for i, _ in search.pairs]
        right += [j for _, j in search.pairs]
        search = search.after([int(rank[i] < rank[j]) for i, j in search.pairs])
    return {"Match.left": left, "Match.right": right}


CLAIM = Claim(
    simulators={"charlie": simulate_curator, "a party": simulate_party},
    not_claimed=(
        "The party with the smallest data set knows its own noise: it obtains the exact sum of all weights.",
        "Charlie together with any party learns every size and who is smallest, for all parties hold the key of xi.",
        "Charlie together with P_1 learns the noise eta, and so the exact sum of all weights.",
        "The size of the smallest data set sets the scale of the noise; anybody can estimate it from the release.",
        "Participants follow the protocol; a malicious one can select other noise, or none, or spoil the result.",
    ),
)
