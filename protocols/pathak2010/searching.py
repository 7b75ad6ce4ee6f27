"""What Charlie reads of a garbled search [N12], and the same made without anybody's input.

The letters of the garbler are declared public: without labels they tell nobody anything. So the simulator of Charlie's
view makes them as well, by the garbler's own code: for uniform b~, and numbers of which one at a uniform place is the
smallest.
"""

from __future__ import annotations

from collections.abc import Sequence

from protocols.arithmetic.rng import Stream
from protocols.comparison.garbled import Choices, Tables
from protocols.crypto import garbled_place, oblivious
from protocols.curator import CURATOR_NAME
from protocols.pathak2010.parameters import SEED_BYTES, Parameters
from protocols.runtime.claims import Readings, View

_POINTS = 4  # of the 128 that are alike
_WORDS = 4  # at either end of the gates, the hashes of the place among them

ASSUMED = (
    "; for the garbled search that the square form of computational Diffie-Hellman is hard on edwards25519, SHA-256 is "
    "like a random oracle and AES-128 under a public key like a random permutation, and ChaCha20 a generator"
)


def strength(p: Parameters) -> str:
    """What is left of 128 bits in the garbling, if there is one."""
    if not p.is_garbled:
        return ""
    bits = garbled_place.security_bits(p.K, p.compared.bits)
    return (
        f"The garbled search is worth {bits} bits, not 128: about 2^{bits} calls of AES find the secret difference of "
        "its labels (derived for ideal permutations)"
    )


def simulated(p: Parameters, rng: Stream) -> Readings:
    """What Charlie reads of a search in which one of all places, drawn at random, is found."""
    won = rng.below(p.K)
    numbers = [int(place != won) for place in range(p.K)]
    a = p.compared.subtract_vectors(tuple(numbers), p.compared.random_vector(p.K, rng))
    delta = bytes([1 | rng.bits(8), *rng.bytes(oblivious.LABEL_BYTES - 1)])
    keys = tuple(rng.bytes(SEED_BYTES) for _ in range(oblivious.KEYS))
    u = rng.bytes(p.layout()["extension"])
    tables = garbled_place.garble(rng.bytes(SEED_BYTES), oblivious.Choice(delta, keys, ()), u, a, p.compared.bits)
    return _looked_at(won, [oblivious.offer(rng).A for _ in range(_POINTS)], tables)


def besides(p: Parameters, views: tuple[View, ...]) -> Readings:
    """The same of what he did read."""
    charlie = next((view for view in views if view.name == CURATOR_NAME), None)
    place = next((x for x in charlie.results if type(x) is int), None) if charlie and p.is_garbled else None
    if charlie is None or place is None:
        return {}
    points = next(m.R for _, m in charlie.mail if isinstance(m, Choices))
    parts = [m.part for _, m in charlie.mail if isinstance(m, Tables)]
    return _looked_at(place, points[:_POINTS], b"".join(parts)[: p.table_bytes])


def _looked_at(place: int, points: Sequence[bytes], tables: bytes) -> Readings:
    width = oblivious.LABEL_BYTES
    words = [tables[i : i + width] for i in range(0, len(tables), width)]
    texts = {"Choices.R": points, "Tables.words": (*words[:_WORDS], *words[-_WORDS:])}
    return {"place": [place]} | {name: [int.from_bytes(t, "big") for t in found] for name, found in texts.items()}
