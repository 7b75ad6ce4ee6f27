"""Security of the linear path: the ideal functionality, the simulators, and the trials of the claim.

Theorem. Let every participant follow the protocol, and let a coalition that has not both P_1 and Charlie, of whatever
size, combine its members' views. Then its view can be made from the coalition's own inputs and what `functionality` and
`heard` hand to its members, up to a distance of

    `distance`: 0
    + the advantage against CDH on curve25519 and square CDH on edwards25519 in the random-oracle model (HKDF-SHA256,
    SHA-256, SHA-512), AES-128 as an ideal permutation (`garbling.security_bits`: less than 128), ChaCha20 as a
    generator and ChaCha20-Poly1305, the sealed links, the commitments (SHA-256), and the coins.

Everybody gets the sum S as K+1 shares, uniform given S; P_1 gets rho and Charlie c, drawn independently of all inputs,
by which equal sizes are ordered; a coalition with Charlie learns which of its members has the smallest size, or that
none has. The proof is in NOTES.md; the simulator with Charlie is P_1's own code on other inputs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.comparison.garbled import Choices, Tables
from protocols.crypto import encapsulation, garbling, oblivious
from protocols.crypto.half_gates import LABEL_BYTES
from protocols.curator import CURATOR_NAME
from protocols.linear import masks
from protocols.linear.limitations import LIMITATIONS
from protocols.linear.messages import LockedRows, Submit
from protocols.linear.parameters import MASK_SEED_BYTES, Parameters
from protocols.linear.values import OpenedRow, PartyInput, Submitted
from protocols.pathak2010.noisy_sum import SIZE_BITS
from protocols.pathak2010.noisy_sum_claims import agrees, all_smallest, compared, everybody, inputs, noisy_sum, outcomes
from protocols.runtime.claims import Claim, Hygiene, Inputs, Mask, Model, Readings, Trials, View, numbered

NO_MEMBER = "none of them"
NOT_A_MEMBER = 2  # in place of the number of a row's owner: no epk that the coalition knows

ASSUMPTIONS = numbered(
    "computational Diffie-Hellman is hard on curve25519, and its square form on edwards25519",
    "HKDF, SHA-256 and SHA-512 are like random oracles, and AES-128 with a key that everybody knows is like a random "
    "permutation",
    "ChaCha20, ChaCha20-Poly1305, X25519 links and the commitments (SHA-256) are as strong as they are held to be",
    "the randomness of the operating system and its expansion (ChaCha20, HMAC-SHA-256) cannot be told from true "
    "randomness",
)


def search_security_bits(K: int) -> int:
    """Return the bits of security of the garbled search among K parties."""
    return garbling.security_bits(K, SIZE_BITS)


def strength(p: Parameters) -> str:
    """Return the sentence about the security bits of the garbling."""
    bits = search_security_bits(p.K)
    return (
        f"The garbled search has about {bits} bits of security, not 128: 2^{bits} calls of AES find the difference of "
        "its labels (derived for ideal permutations, and no artefact of the proof)"
    )


def place_of_smallest(sizes: Sequence[int], rho: Sequence[int], c: int) -> int:
    """Return j*, the place of the smallest size, equal sizes ordered by rho_j xor c."""
    return min(range(len(sizes)), key=lambda j: (sizes[j], rho[j] ^ c))


def functionality(p: Parameters, inputs: Sequence[PartyInput], rho: Sequence[int], c: int) -> Vector:
    """Return the sum S of all w_j and eta_j* in Z_M^d: all that anybody obtains, as K+1 shares uniform given S."""
    return noisy_sum(p, inputs, place_of_smallest([x.n for x in inputs], rho, c))


def heard(p: Parameters, names: Sequence[str], j: int) -> str:
    """Return the leakage to a coalition beside the sum when party j is the smallest: nothing without Charlie."""
    if CURATOR_NAME not in names:
        return ""
    return p.parties[j] if p.parties[j] in names else NO_MEMBER


def distance(p: Parameters) -> Fraction:
    """Return the statistical distance of the theorem, beside the advantage against an assumption: zero."""
    return Fraction(0)


# The simulators.


def simulate_parties(p: Parameters, members: Sequence[int], rng: Stream) -> Readings:
    """Return all that these parties read without Charlie: uniform numbers alone."""
    found: Readings = defaultdict(list)
    for j in members:
        found["Neighbour.seed"] += _seeds(len(p.before(j)), rng)
        if not j:
            others = p.K - 1
            found["Submit.a"] += [rng.bits(SIZE_BITS) for _ in range(others)]
            found["Submit.row"] += p.weights.random_vector(others * p.dimension, rng)
            found["Submit.seed"] += _seeds(others, rng)
            found["Extension.u"].append(rng.bits(8 * p.layout()["extension"]))
    return {place: values for place, values in found.items() if values}


def simulate_with_charlie(
    p: Parameters, members: Sequence[int], smallest: int | None, rng: Stream, garbler: SimulatedSearch | None = None
) -> Readings:
    """Return all that Charlie and these parties read without P_1, from which member, if any, is the smallest.

    `garbler` is the search that the simulator made before, for other members in the same execution.
    """
    search = garbler or SimulatedSearch(p, rng)
    return {
        **simulate_parties(p, members, rng),
        "Share.b": list(search.b),
        "Share.seed": _seeds(p.K, rng),
        **_of_the_garbler(search.points, search.tables, search.locked, p),
        "opened.summand": list(search.summand),
        "opened.owner": [NOT_A_MEMBER if smallest is None else NOT_A_MEMBER + 1 + smallest],
    }


class SimulatedSearch:
    """Garbled search as its evaluator sees it, made by the garbler's own code on other inputs.

    All halves a are zero and all rows random but the one that opens, which holds a fresh epk, or that of the member
    whom the functionality names, and a uniform vector under its mask.
    """

    def __init__(self, p: Parameters, rng: Stream) -> None:
        session = rng.bytes(MASK_SEED_BYTES)
        delta = bytes([1 | rng.bits(8), *rng.bytes(LABEL_BYTES - 1)])
        keys = tuple(rng.bytes(MASK_SEED_BYTES) for _ in range(oblivious.KEYS))
        self.points = tuple(oblivious.offer(rng).A for _ in range(_POINTS))
        self.b = tuple(rng.bits(SIZE_BITS) for _ in range(p.K))
        self.summand = p.weights.random_vector(p.dimension, rng)
        u = rng.bytes(p.layout()["extension"])
        rho = Permutation.random(p.K, rng).images
        garbled = garbling.garble(session, oblivious.Choice(delta, keys, ()), u, (0,) * p.K, rho, SIZE_BITS)
        epk, kappa = encapsulation.encapsulate(encapsulation.public_key(rng.bytes(MASK_SEED_BYTES)), session, rng)
        won = place_of_smallest(self.b, rho, rng.bits(p.index_bits))
        row = masks.pack_row(p, epk, masks.mask_row(p, self.summand, kappa))
        contents = [row if j == won else rng.bytes(len(row)) for j in range(p.K)]
        self.tables, self.locked = garbled.tables, garbling.lock(garbled, contents)


def _seeds(count: int, rng: Stream) -> list[int]:
    return [rng.bits(8 * MASK_SEED_BYTES) for _ in range(count)]


# What of the garbler's messages is looked at: they are declared public, for they tell nobody anything without labels.

_POINTS = 4  # of the 128 that are alike
_WORDS = 4  # at either end of the gates


def _of_the_garbler(points: Sequence[bytes], tables: bytes, locked: bytes, p: Parameters) -> Readings:
    """Return some points, the words at the ends of the gates, and tag and first bytes of each locked row."""
    size = len(locked) // p.K
    rows = [locked[i : i + size] for i in range(0, len(locked), size)]
    width = LABEL_BYTES
    words = [tables[i : i + width] for i in range(0, len(tables), width)]
    return {
        "Choices.R": _numbers(points[:_POINTS]),
        "Tables.words": _numbers([*words[:_WORDS], *words[-_WORDS:]]),
        "LockedRows.tags": _numbers([row[: garbling.TAG_BYTES] for row in rows]),
        "LockedRows.sealed": _numbers([row[garbling.TAG_BYTES :][:width] for row in rows]),
    }


def _numbers(texts: Sequence[bytes]) -> list[int]:
    return [int.from_bytes(text, "big") for text in texts]


def besides(p: Parameters, views: tuple[View, ...]) -> Readings:
    """Return what Charlie reads of the garbled search, and of the row that opened, with its owner if members know it.

    They know it by an epk of their own, or one in a message to them.
    """
    charlie = next((view for view in views if view.name == CURATOR_NAME), None)
    row = next((x for x in charlie.results if isinstance(x, OpenedRow)), None) if charlie else None
    if charlie is None or row is None:
        return {}
    points = next(m.R for _, m in charlie.messages if isinstance(m, Choices))
    tables, locked = (
        b"".join(m.part for _, m in charlie.messages if isinstance(m, kind)) for kind in (Tables, LockedRows)
    )
    known = {x.epk: view.name for view in views for x in view.results if isinstance(x, Submitted)}
    known |= {m.epk: sender for view in views for sender, m in view.messages if isinstance(m, Submit)}
    owner = known.get(row.epk)
    return {
        **_of_the_garbler(points, tables[: p.table_bytes], locked[: p.locked_bytes], p),
        "opened.summand": list(row.summand),
        "opened.owner": [NOT_A_MEMBER if owner is None else NOT_A_MEMBER + 1 + p.parties.index(owner)],
    }


# A model for audits.


def dry_run_parameters(p: Parameters) -> Parameters:
    """Return the same names and the same ring with one weight, and rows in as many messages."""
    return replace(p, dimension=1, row_messages=p.row_parts)


def hygiene_masks(p: Parameters) -> tuple[Mask, ...]:
    """Return every field that hides something from its reader, always by exclusive or, or mod a power of two."""
    seeds = ("Submit.seed", "Share.seed", "Neighbour.seed")
    return (
        Mask("Submit.a", SIZE_BITS),
        Mask("Share.b", SIZE_BITS),
        Mask("Submit.row", p.ring_bits),
        *(Mask(place, 8 * MASK_SEED_BYTES) for place in seeds),
        Mask("Extension.u", 8 * p.layout()["extension"]),
    )


def sample(K: int) -> Parameters:
    """Return K parties with two weights, who share masks with all others."""
    return Parameters(tuple(f"P{j}" for j in range(1, K + 1)), dimension=2)


def variants(p: Parameters) -> tuple[Parameters, ...]:
    """Return three weights, and a larger ring of integers."""
    return replace(p, dimension=3), replace(p, ring_bits=2048)


def profiles(p: Parameters) -> tuple[Parameters, ...]:
    """Return the sparsest ring of neighbours, where that is one."""
    sparse = replace(p, ring_degree=2)
    return (sparse,) if sparse.has_ring else ()


MODEL = Model(
    dry_run_parameters,
    inputs,
    ("rho",),
    compared,
    sample,
    outcomes,
    Hygiene(8 * MASK_SEED_BYTES, hygiene_masks, (), lambda p: (SIZE_BITS, 0), agrees, lambda p: p.ring_bits),
    variants=variants,
    profiles=profiles,
)

# Trials of the claim.


def claimed(p: Parameters, names: Sequence[str]) -> bool:
    """Tell whether the coalition has not both P_1 and Charlie."""
    return bool(names) and not {CURATOR_NAME, p.parties[0]} <= set(names)


def leakage(p: Parameters, inputs: Inputs, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return all that the functionality may reveal to this coalition in this world: randomness decides ties."""
    return tuple(dict.fromkeys(heard(p, names, j) for j in all_smallest(p, inputs)))


def simulation(p: Parameters, rng: Stream) -> Callable[..., Readings]:
    """Return the simulators for one execution, in which Charlie sees one search whatever the coalition."""
    search = cache(lambda: SimulatedSearch(p, rng.fork("search")))

    def simulated(names: tuple[str, ...], said: str = NO_MEMBER) -> Readings:
        members = sorted(p.parties.index(name) for name in names if name != CURATOR_NAME)
        if CURATOR_NAME not in names:
            return simulate_parties(p, members, rng)
        j = p.parties.index(said) if said in p.parties else None
        return simulate_with_charlie(p, members, j, rng, search())

    return simulated


def small(p: Parameters) -> Parameters:
    """Return a session of three parties with two weights, in one ring for every `ring_bits`.

    They share all masks, whatever the degree. The roles have no branch on the ring: rows and shares are uniform in Z_M
    for every M, and the search compares sizes, which have the same length in every ring.
    """
    return Parameters(("P1", "P2", "P3"), dimension=2)


def worlds(p: Parameters) -> tuple[Inputs, ...]:
    """Return worlds with equal sums.

    P_1 is the smallest with few records and small weights; the last party, and twice the one before it, with large
    weights that differ; and all parties alike, with as many records as there can be. So a coalition with Charlie finds
    two of them in which different parties beside it are the smallest, or the same member is.
    """
    K, M, most = p.K, p.weights.modulus, (1 << SIZE_BITS) - 1
    numbers = range(1, K + 1)
    few = _world(p, numbers, [1] * K, 5)
    last = _world(p, [most - j for j in numbers], [M // 3 + j for j in numbers], M - M // 4)
    middle = _world(p, [most // 2 + (j != K - 1) * j for j in numbers], [j * (M // 7) for j in numbers], M // 5)
    other = _world(p, [most * (j != K - 1) for j in numbers], [M // 2 - j for j in numbers], 1)
    alike = _world(p, [most] * K, [M - 1] * K, M // 2)
    return few, last, middle, other, alike


def _world(p: Parameters, sizes: Sequence[int], weights: Sequence[int], noise: int) -> Inputs:
    """Return the inputs of all, each with one noise in all coordinates; P_1's weights make up the common sum."""
    places = range(p.dimension)
    first = [-noise - sum(w + i for w in weights[1:]) for i in places]
    entered = [first, *([w + i for i in places] for w in weights[1:])]
    return everybody(p, [(n, w, [noise] * p.dimension) for n, w in zip(sizes, entered, strict=True)])


CLAIM = Claim(
    simulators={
        "any parties without Charlie": simulate_parties,
        "Charlie and any parties but P_1": simulate_with_charlie,
    },
    limitations=LIMITATIONS,
    trials=Trials(
        claimed,
        simulation,
        small,
        worlds,
        lambda p, found: found,
        leakage=leakage,
        besides=besides,
        sessions=(small(sample(3)),),
    ),
    distance=distance,
    assumptions=ASSUMPTIONS,
    strength=strength,
    simulated_from=(
        "the release, its own inputs, its own randomness that orders equal sizes and, with Charlie, which of its "
        "members has the smallest data set (or that none has)"
    ),
)
