"""Security of the protocol: the ideal functionality, what each coalition may learn, and the simulators.

Theorem. Let every participant follow the protocol, and let a coalition that is either Charlie alone, or any set of
parties without Charlie, combine its members' views. Then its view can be made, up to a distance of

    `distance`: 2**-sigma (blinding, step 1.4) + K (K-1) 2**-(t_b + 1) (equal tie bits of parties with equal sizes)
    + 2**-sigma (masks, step 3.1) + (2l + 1) 2**-(t/2) (each comparison of l bits, the DGK key's orders of t bits)
    + K (4 + packs) 2**-64 (full exponents: powers of h_s instead of its whole group)
    + the advantage against short exponents (`SHORT_EXPONENTS_ASSUMPTION`), unless they are full, in K (4 + packs)
    ciphertexts
    + the advantage against Paillier (DCR), DGK, the sealed links (X25519, HKDF, ChaCha20-Poly1305), the commitments
    (SHA-256), the hash that makes h (SHAKE-256), and the generators of coins (the operating system's, ChaCha20,
    HMAC-SHA-256),

from the coalition's own inputs and what `functionality` hands to its members.

Proof sketch. *Charlie*: the b are one-time pads in Z_(2**L'); xi-ciphertexts are replaced by encryptions of zero
(semantic security: he has no key). Sizes with tie bits are distinct but for the stated error, and stand in an order
that pi_1 makes uniform and that he does not know; so every comparison answer is that of a uniformly random ranking,
whatever the sizes are. In each comparison he reads at most one zero at a uniform place among otherwise uniform
non-zero values, and the exclusive or of two bits of which one is uniform. eta + s is uniform up to 2**-sigma per
coordinate, whatever slot it stands in, since no carry leaves a slot. Shares of step 3.3 are uniform given their sum;
a commitment to a share is opened with it, and is a function of what is then published.
An exponent, short or full, is drawn anew for each ciphertext; where Charlie reads one, in the b of a slot, it is the
sum of two that nobody's input enters, which the simulator draws as well.
*Parties*: a~ and the relayed a are uniform; a match names places behind pi_2, which they do not know, so the winners
of a tournament are uniform as well; zeta- and DGK-ciphertexts are replaced by encryptions of zero, short exponents
having first been replaced by full ones: for that nobody may hold the key, and among the parties nobody does. (zeta(v_j)
to the power of the noise carries a randomiser that depends on the noise; the new one that it is multiplied by hides it
just as well.) A Paillier
ciphertext that returns to the holder of its key (steps 1.4 and 3.1) is perfectly uniform over those of its plaintext
with Jacobi symbol +1, whatever primes the holder took, so the randomisers reveal nothing either. Each party sends a
relay or a cover of the same length to each other party, so neither Charlie nor a reader of the wire sees an edge of
pi_1.

The same argument gives the computational differential privacy (SIM-CDP) of the noise for each such coalition that
does not contain the party whose noise was selected.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.comparison import steps
from protocols.comparison.ideal import simulate_holder
from protocols.crypto import dgk, paillier
from protocols.crypto.commitment import OPENING_BYTES
from protocols.curator import CURATOR_NAME
from protocols.pathak2010 import minimum
from protocols.pathak2010.limitations import LIMITATIONS
from protocols.pathak2010.noisy_sum import SIZE_BITS
from protocols.pathak2010.noisy_sum_claims import agrees, compared, everybody, inputs, noisy_sum, outcomes
from protocols.pathak2010.parameters import MAX_KEY_BITS, PERMUTATION_SEED_BYTES, SIGMA, Parameters
from protocols.pathak2010.values import PartyInput
from protocols.runtime.claims import Claim, Hygiene, Inputs, Mask, Model, Readings, Trials, numbered

DRY_RUN_KEY_BITS, SHORTER_KEY_BITS = 512, 384  # three slots and two
_RING_BITS = 64  # of the small session

_STRENGTH = (
    "Paillier (DCR), DGK, X25519, ChaCha20-Poly1305, HKDF, SHA-256 (commitments) and SHAKE-256 (which makes h_s) are "
    "as strong as they are held to be",
    "the randomness of the operating system and its expansion (ChaCha20, HMAC-SHA-256) cannot be told from true "
    "randomness",
)
SHORT_EXPONENTS_ASSUMPTION = (
    f"discrete logarithms with exponents of {paillier.SHORT_BITS} bits stay hard modulo Paillier keys (short exponents "
    "then give randomisers that look uniform without the key; full exponents do not need this)"
)
ASSUMPTIONS = numbered(*_STRENGTH)


def assumed(p: Parameters) -> str:
    """Return the assumptions of the claim beside `distance`."""
    return ASSUMPTIONS if p.exponents == "full" else numbered(*_STRENGTH, SHORT_EXPONENTS_ASSUMPTION)


def place_of_smallest(sizes: Sequence[int], ties: Sequence[int]) -> int:
    """Return j*, the place of the smallest size, equal sizes ordered by their tie bits."""
    return min(range(len(sizes)), key=lambda j: (sizes[j], ties[j]))


def functionality(p: Parameters, inputs: Sequence[PartyInput], ties: Sequence[int]) -> Vector:
    """Return the sum S of all w_j and eta_j* in Z_M^d: all that anybody obtains, as K+1 shares uniform given S."""
    return noisy_sum(p, inputs, place_of_smallest([x.n for x in inputs], ties))


def distance(p: Parameters) -> Fraction:
    """Return the total statistical distance of the theorem: all that is not the advantage against an assumption.

    For 124 weights it is below 2**-41 up to 1,000 parties; nearly all of it comes from equal tie bits, and none where
    all sizes differ.
    """
    blinding = Fraction(p.K, 1 << (p.blind_bits - p.sizes.bits))
    ties = Fraction(p.K * (p.K - 1), 1 << (p.tie_bits + 1))
    masks = Fraction(p.dimension, 1 << (p.mask_bits - p.ring_bits))
    bits = minimum.comparisons(p.comparison, p.K) * (2 * p.compared_bits + 1)
    # Exponents by party: three in its slot, one in its entry of the indicator, and those of its packs of noise.
    powers = Fraction(p.K * (4 + p.packing.packs) * (p.exponents == "full"), 1 << paillier.RANDOMISER_SLACK)
    return blinding + ties + masks + Fraction(bits, 1 << (dgk.order_bits(p.key_bits) // 2)) + powers


def simulate_curator(p: Parameters, rng: Stream) -> Readings:
    """Return all that Charlie reads, made from the public parameters alone."""
    return {
        "Slot.b": list(p.sizes.random_vector(p.K, rng)),
        **_simulated_answers(p, rng),
        "Masked.psi": p.packing.pack([rng.bits(p.mask_bits) for _ in range(p.dimension)]),
        "Reshare.x": list(p.weights.random_vector(p.K * p.dimension, rng)),
    }


def _simulated_answers(p: Parameters, rng: Stream) -> Readings:
    """Return what Charlie opens of the comparisons."""
    b_tilde = p.sizes.random_vector(p.K, rng)  # pi2(b - r), and r is uniform mod 2**L'
    terms, deltas = [], []
    for i, j, left_smaller in _contest(p, rng):
        _, top = steps.holder_half(p.sizes, p.sizes.subtract(b_tilde[i], b_tilde[j]))
        found = simulate_holder(steps.is_negative(left_smaller, top), p.compared_bits, rng)
        terms += found["Differences.c"]
        deltas += found["Differences.delta"]
    return {"Differences.c": terms, "Differences.delta": deltas}


def simulate_parties(
    p: Parameters, members: Sequence[int], rng: Stream, xi: paillier.PrivateKey | None = None
) -> Readings:
    """Return all that these parties read, one after the other, made from the public parameters alone.

    `xi` is a key that the simulator made before, for other members in the same execution. The ciphertexts under the
    parties' key that Charlie returns open to numbers of `blind_bits`; see step 1.4.
    """
    xi = xi or paillier.generate(p.key_bits, rng)
    opened = [(rng.bits(8 * PERMUTATION_SEED_BYTES), rng.bits(8 * OPENING_BYTES)) for _ in range(p.K)]
    blinded = [rng.bits(p.blind_bits) for _ in range(p.K)]
    found: Readings = defaultdict(list)
    for j in members:
        if j:
            found["SharedKey.p"].append(xi.p)
            found["SharedKey.q"].append(xi.q)
        for seed, opening in opened[:j] + opened[j + 1 :]:
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
    """Yield (i, j, whether place i holds less than place j) for each comparison of a uniformly random ranking."""
    rank, search = Permutation.random(p.K, rng), minimum.search(p.comparison, p.K)
    while not search.found:
        smaller = [int(rank[i] < rank[j]) for i, j in search.pairs]
        yield from ((i, j, left) for (i, j), left in zip(search.pairs, smaller, strict=True))
        search = search.after(smaller)


def dry_run_parameters(p: Parameters) -> Parameters:
    """Return the same names and comparisons with one weight and the smallest keys that hold a slot."""
    return replace(p, dimension=1, key_bits=DRY_RUN_KEY_BITS)


def hygiene_masks(p: Parameters) -> tuple[Mask, ...]:
    """Return every field in which a reader finds a masked number."""
    pads = ("Relay.a", "Slot.b", "Half.a_tilde")
    return (
        *(Mask(place, p.sizes.bits) for place in pads),
        Mask("Blinded.a", p.blind_bits, p.sizes.bits, p.K),
        Mask("Masked.psi", p.mask_bits, p.ring_bits, p.dimension, p.packing.unpack),
        Mask("Reshare.x", p.ring_bits),
    )


def sample(K: int) -> Parameters:
    """Return K parties with two weights, each of which takes a pack of its own."""
    return Parameters(tuple(f"P{j}" for j in range(1, K + 1)), dimension=2, key_bits=256)


def variants(p: Parameters) -> tuple[Parameters, ...]:
    """Return three weights in two packs, real key lengths, and a ring so large that three weights take three packs."""
    return (
        replace(p, dimension=3, key_bits=272),
        replace(p, key_bits=2048),
        replace(p, dimension=3, key_bits=3072, ring_bits=2048),
        replace(p, key_bits=MAX_KEY_BITS),
    )


MODEL = Model(
    dry_run_parameters,
    inputs,
    ("pi_1", "pi_2"),
    compared,
    sample,
    outcomes,
    Hygiene(SIGMA, hygiene_masks, ("Indicator",), lambda p: (p.sizes.bits, p.tie_bits), agrees, lambda p: p.ring_bits),
    variants=variants,
)

# Trials of the claim.


def claimed(p: Parameters, names: tuple[str, ...]) -> bool:
    """Tell whether the coalition is Charlie alone, or any set of parties."""
    return names == (CURATOR_NAME,) or (bool(names) and set(names) <= set(p.parties))


def simulation(p: Parameters, rng: Stream) -> Callable[[tuple[str, ...]], Readings]:
    """Return the simulators for one execution, in which all coalitions of parties have one key xi."""
    xi = cache(lambda: paillier.generate(p.key_bits, rng.fork("xi")))

    def simulated(names: tuple[str, ...]) -> Readings:
        if names == (CURATOR_NAME,):
            return simulate_curator(p, rng)
        return simulate_parties(p, sorted(p.parties.index(name) for name in names), rng, xi())

    return simulated


def small(p: Parameters) -> Parameters:
    """Return a session of three parties with four weights in two packs, in the same ring for every `ring_bits`.

    The roles have no branch on the ring: shares are uniform in Z_M for every M, and a mask is always SIGMA bits and
    log2 d longer than what it hides, so `distance` does not grow with M.
    """
    names = ("P1", "P2", "P3")
    return replace(p, parties=names, agreed="", dimension=4, key_bits=DRY_RUN_KEY_BITS, ring_bits=_RING_BITS)


TRIAL_SESSIONS = tuple(
    small(Parameters(("P1", "P2"), 1, comparison=comparison, exponents=exponents))
    for comparison in ("tournament", "all-pairs")
    for exponents in paillier.EXPONENTS
)
"""Parameters of the small sessions in which the claim is tried: one of every kind in use."""


def with_key_lengths(p: Parameters) -> tuple[Parameters, ...]:
    """Return the session with keys of two lengths, under which a vector takes as many packs, for `Trials`."""
    return replace(p, key_bits=SHORTER_KEY_BITS), p


def worlds(p: Parameters) -> tuple[Inputs, Inputs]:
    """Return two worlds with equal sums.

    Few records and small weights, the same in all coordinates; as many records as there can be, all alike, and large
    weights, far apart from one coordinate to the next.
    """
    K, M, most = p.K, p.weights.modulus, (1 << SIZE_BITS) - 1
    places = range(p.dimension)
    few = [(j, [j] * p.dimension, [5] * p.dimension) for j in range(1, K + 1)]
    noise = [i * (M // 5) - M // 4 for i in places]
    big = [[M // 3 + j + i * (M // 7) for i in places] for j in range(1, K)]
    rest = [K * (K + 1) // 2 + 5 - noise[i] - sum(w[i] for w in big) for i in places]
    return everybody(p, few), everybody(p, [(most, w, noise) for w in (rest, *big)])


def condensed(p: Parameters, found: Readings) -> Readings:
    """Return the readings with packs taken apart, and the opened terms of comparisons condensed.

    For each comparison: the number of zeros, the seventh of the vector with the first one (7 if there is none), and the
    answer; and the number of terms above u / 2 and of equal pairs: without factors few are large, and under one factor
    many are equal.
    """
    if "Masked.psi" in found:
        found = {**found, "Masked.psi": p.packing.unpack(found["Masked.psi"])}
    if "Differences.c" not in found:
        return found
    terms, opened = p.compared_bits + 1, found["Differences.c"]
    chunks = [opened[i : i + terms] for i in range(0, len(opened), terms)]
    zeros = [chunk.count(0) for chunk in chunks]
    return {
        **{place: values for place, values in found.items() if place != "Differences.c"},
        "zeros": zeros,
        "where": [7 * chunk.index(0) // terms if 0 in chunk else 7 for chunk in chunks],
        "large": [sum(2 * c > p.u for c in chunk) for chunk in chunks],
        "equal": [sum(n * (n - 1) // 2 for n in Counter(chunk).values()) for chunk in chunks],
        "answers": [delta ^ (zero > 0) for delta, zero in zip(found["Differences.delta"], zeros, strict=True)],
    }


CLAIM = Claim(
    simulators={"charlie": simulate_curator, "any set of parties": simulate_parties},
    limitations=LIMITATIONS,
    trials=Trials(claimed, simulation, small, worlds, condensed, with_key_lengths, sessions=TRIAL_SESSIONS),
    distance=distance,
    assumptions=ASSUMPTIONS,
    assumed=assumed,
)
