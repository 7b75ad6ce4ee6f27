"""What the protocol is worth: the ideal functionality, what each coalition may learn, the simulators, and what is not
claimed.

Theorem. Let every participant follow the protocol, and let a coalition that is either Charlie alone, or any set of
parties without Charlie, look at all that its members see. Then its view can be made, up to a distance of

    K 2**-sigma (blinding, step 1.4) + K**2 2**-(t_b + 1) (equal tie bits) + d 2**-sigma (masks, step 3.1)
    + l 2**-(t/2) (each comparison of l bits)
    + the advantage against Paillier (DCR), DGK, the sealed links and the commitments,

from the coalition's own inputs and what `functionality` hands to its members.

Proof sketch. *Charlie*: the b are one-time pads in Z_(2**L'); xi-ciphertexts are replaced by encryptions of zero
(semantic security: he has no key). Sizes with tie bits are distinct but for the stated error, and stand in an order
that pi_1 makes uniform and that he does not know; so every comparison answer is that of a uniformly random ranking,
whatever the sizes are. In each comparison he reads at most one zero at a uniform place among otherwise uniform
non-zero values, and the exclusive or of two bits of which one is uniform. eta + s is uniform up to 2**-sigma per
coordinate, whatever slot it stands in, since no carry leaves a slot. Shares of step 3.3 are uniform given their sum;
a commitment to a share is opened with it, and is a function of what is then published.
*Parties*: a~ and the relayed a are uniform; a match names places behind pi_2, which they do not know, so the winners
of a tournament are uniform as well; zeta- and DGK-ciphertexts are replaced by encryptions of zero. A Paillier
ciphertext that returns to the holder of its key (steps 1.4 and 3.1) is perfectly uniform over those of its plaintext
with Jacobi symbol +1, whatever primes the holder took, so the randomisers tell nothing either. Each party sends a relay
or a cover of the same length to each other party, so neither Charlie nor a reader of the wire sees an edge of pi_1.

The same argument gives the computational differential privacy (SIM-CDP) of the noise for each such coalition that
does not contain the party whose noise was selected.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.comparison import steps
from protocols.comparison.ideal import simulate_holder
from protocols.crypto import paillier
from protocols.crypto.commitment import OPENING_BYTES
from protocols.curator import CURATOR_NAME
from protocols.pathak2010 import minimum
from protocols.pathak2010.boundary import NOT_CLAIMED, released
from protocols.pathak2010.messages import PublishedShare
from protocols.pathak2010.parameters import SEED_BYTES, SIGMA, SIZE_BITS, Parameters
from protocols.pathak2010.values import PartyInput
from protocols.runtime.claims import Claim, Hygiene, Inputs, Mask, Model, Readings, Trials, Unknown

TOY_KEY_BITS = 512


def smallest(sizes: Sequence[int], ties: Sequence[int]) -> int:
    """j*: the place of the smallest size, equal sizes ordered by their tie bits."""
    return min(range(len(sizes)), key=lambda j: (sizes[j], ties[j]))


def functionality(p: Parameters, inputs: Sequence[PartyInput], ties: Sequence[int]) -> Vector:
    """The sum S of all w_j and eta_j* in Z_M^d: all that anybody obtains, as K+1 shares uniform given S."""
    j = smallest([x.n for x in inputs], ties)
    return p.weights.add_vectors(*(x.w for x in inputs), inputs[j].eta)


def simulate_curator(p: Parameters, rng: Stream) -> Readings:
    """All that Charlie reads, made from the public parameters alone."""
    b_tilde = p.sizes.random_vector(p.K, rng)  # pi2(b - r), and r is uniform mod 2**L'
    zeros, deltas = [], []
    for i, j, left_smaller in _contest(p, rng):
        _, top = steps.holder_half(p.sizes, p.sizes.subtract(b_tilde[i], b_tilde[j]))
        found = simulate_holder(steps.is_negative(left_smaller, top), p.compared_bits, rng)
        zeros += found["Differences.c"]
        deltas += found["Differences.delta"]
    return {
        "Slot.b": list(p.sizes.random_vector(p.K, rng)),
        "Differences.c": zeros,
        "Differences.delta": deltas,
        "Masked.psi": p.packing.pack([rng.bits(p.mask_bits) for _ in range(p.dimension)]),
        "Reshare.x": list(p.weights.random_vector(p.K * p.dimension, rng)),
    }


def simulate_parties(
    p: Parameters, members: Sequence[int], rng: Stream, xi: paillier.PrivateKey | None = None
) -> Readings:
    """All that the parties with these numbers read, one after the other, made from the public parameters alone.

    `xi` is a key that the simulator made before, for other members in the same execution; without it, it makes one.
    The ciphertexts under the parties' key that Charlie returns open to numbers of `blind_bits`; see step 1.4.
    """
    xi = xi or paillier.generate(p.key_bits, rng)
    coins = [(rng.bits(8 * SEED_BYTES), rng.bits(8 * OPENING_BYTES)) for _ in range(p.K)]
    blinded = [rng.bits(p.blind_bits) for _ in range(p.K)]
    found: Readings = defaultdict(list)
    for j in members:
        if j:
            found["SharedKey.p"].append(xi.p)
            found["SharedKey.q"].append(xi.q)
        for seed, opening in coins[:j] + coins[j + 1 :]:
            found["Opening.seed"].append(seed)
            found["Opening.opening"].append(opening)
        found["Relay.a"] += p.sizes.random_vector(p.K - 1, rng)
        found["Blinded.a"].append(blinded[j])
        found["Reshare.x"] += p.weights.random_vector(p.K * p.dimension, rng)
    if 0 in members:
        found["Half.a_tilde"] += [p.sizes.reduce(a) for a in blinded[1:]]
        for i, j, _ in _contest(p, rng):
            found["Match.left"].append(i)
            found["Match.right"].append(j)
    return dict(found)


def _contest(p: Parameters, rng: Stream) -> Iterator[tuple[int, int, int]]:
    """(i, j, whether place i holds less than place j) for each comparison, as a uniformly random ranking has it."""
    rank, search = Permutation.random(p.K, rng), minimum.search(p.comparison, p.K)
    while not search.found:
        smaller = [int(rank[i] < rank[j]) for i, j in search.pairs]
        yield from ((i, j, left) for (i, j), left in zip(search.pairs, smaller, strict=True))
        search = search.after(smaller)


def toy(p: Parameters) -> Parameters:
    """The same names and comparisons with one weight and the smallest keys that hold a slot."""
    return replace(p, dimension=1, key_bits=TOY_KEY_BITS)


def inputs(p: Parameters, unknown: Unknown) -> dict[str, tuple[Any, ...]]:
    """Size n_j, weights w_j and noise eta_j of each party, each an unknown."""
    made: dict[str, tuple[Any, ...]] = {CURATOR_NAME: (p,)}
    for j, party in enumerate(p.parties, start=1):
        w, eta = (
            tuple(unknown(f"{letter}_{j}({i})", p.ring_bits) for i in range(1, p.dimension + 1))
            for letter in ("w", "eta")
        )
        made[party] = (p, PartyInput(unknown(f"n_{j}", SIZE_BITS), w, eta))
    return made


def masks(p: Parameters) -> tuple[Mask, ...]:
    """Every field in which a reader finds a masked number."""
    pads = ("Relay.a", "Slot.b", "Half.a_tilde")
    return (
        *(Mask(place, p.sizes.bits) for place in pads),
        Mask("Blinded.a", p.blind_bits, p.sizes.bits, p.K),
        Mask("Masked.psi", p.mask_bits, p.ring_bits, p.dimension, p.packing.unpack),
        Mask("Reshare.x", p.ring_bits),
    )


def agrees(p: Parameters, inputs: Inputs, published: Mapping[str, PublishedShare]) -> bool:
    """Whether the shares add up to the functionality's sum, for a party with the smallest size: coins decide ties."""
    mine = [inputs[party][1] for party in p.parties]
    least = min(x.n for x in mine)
    ties = [[int(i != j) for i in range(p.K)] for j in range(p.K) if mine[j].n == least]
    return released(p, published) in [functionality(p, mine, tie) for tie in ties]


def sample(K: int) -> Parameters:
    """K parties at toy size."""
    return toy(Parameters(tuple(f"P{j}" for j in range(1, K + 1)), dimension=1))


def outcomes(p: Parameters, j: int) -> dict[str, tuple[str, ...]]:
    """The selected noise eta_j* and the sum of all weights without noise, in their first coordinate."""
    return {"selected noise": (f"eta_{j + 1}(1)",), "exact sum": tuple(f"w_{i}(1)" for i in range(1, p.K + 1))}


MODEL = Model(
    toy,
    inputs,
    ("pi_1", "pi_2"),
    lambda p: tuple(f"n_{j}" for j in range(1, p.K + 1)),
    sample,
    outcomes,
    hygiene=Hygiene(SIGMA, masks, ("Indicator",), lambda p: (p.sizes.bits, p.tie_bits), agrees, lambda p: p.ring_bits),
)

# How the claim is tried.


def claimed(p: Parameters, names: tuple[str, ...]) -> bool:
    """Charlie alone, or any set of parties."""
    return names == (CURATOR_NAME,) or (bool(names) and set(names) <= set(p.parties))


def simulation(p: Parameters, rng: Stream) -> Callable[[tuple[str, ...]], Readings]:
    """The simulators for one execution, in which all parties have the same key xi whatever coalition is looked at."""
    xi = cache(lambda: paillier.generate(p.key_bits, rng.fork("xi")))

    def simulated(names: tuple[str, ...]) -> Readings:
        if names == (CURATOR_NAME,):
            return simulate_curator(p, rng)
        return simulate_parties(p, sorted(p.parties.index(name) for name in names), rng, xi())

    return simulated


def small(p: Parameters) -> Parameters:
    """Three parties at toy size, who agreed on nothing beside."""
    return replace(toy(p), parties=("P1", "P2", "P3"), agreed="")


def worlds(p: Parameters) -> tuple[Inputs, Inputs]:
    """Few records and small weights; as many records as there can be, all alike, and large weights. Equal sums."""
    K, M, most = p.K, p.weights.modulus, (1 << SIZE_BITS) - 1
    few = [(j, j, 5) for j in range(1, K + 1)]
    big = [M // 3 + j for j in range(1, K)]
    rest = sum(w for _, w, _ in few) + 5 + M // 4 - sum(big)
    return _everybody(p, few), _everybody(p, [(most, w, -(M // 4)) for w in (rest, *big)])


def _everybody(p: Parameters, numbers: Sequence[tuple[int, int, int]]) -> Inputs:
    """The inputs of all from each party's size, and the weight and the noise of all its coordinates."""
    made: dict[str, tuple[Any, ...]] = {CURATOR_NAME: (p,)}
    for party, (n, *both) in zip(p.parties, numbers, strict=True):
        w, eta = (p.weights.vector([x] * p.dimension) for x in both)
        made[party] = (p, PartyInput(n, w, eta))
    return made


def condensed(p: Parameters, found: Readings) -> Readings:
    """The readings with each comparison's opened terms replaced by how many zeros there are, in which seventh of the
    vector the first one is (7 if there is none), and the answer that they give.
    """
    if "Differences.c" not in found:
        return found
    terms, opened = p.compared_bits + 1, found["Differences.c"]
    chunks = [opened[i : i + terms] for i in range(0, len(opened), terms)]
    zeros = [sum(chunk) for chunk in chunks]
    return {
        **{place: values for place, values in found.items() if place != "Differences.c"},
        "zeros": zeros,
        "where": [7 * chunk.index(1) // terms if any(chunk) else 7 for chunk in chunks],
        "answers": [delta ^ (zero > 0) for delta, zero in zip(found["Differences.delta"], zeros, strict=True)],
    }


CLAIM = Claim(
    simulators={"charlie": simulate_curator, "any set of parties": simulate_parties},
    not_claimed=NOT_CLAIMED,
    trials=Trials(claimed, simulation, small, worlds, condensed),
)
