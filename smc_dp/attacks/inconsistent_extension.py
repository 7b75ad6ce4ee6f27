"""`inconsistent-extension`: in the linear protocol a malicious Charlie finds Delta in two halves.

The extension has a column of bits for each bit of Delta, and all columns should hold the same choices. Charlie flips
one choice in some columns E only. Then the two labels of that wire are his label t xor (Delta and E), and t xor (Delta
and not E); he tries all values of Delta in E until the garbled circuit opens a row, and all values outside of E the
same way. Each search stands alone: 2^63 and 2^64 guesses at Delta's 127 bits in place of 2^127, and nobody notices.

`BITS_EACH` bits are really searched in each of the two; those in E in the run itself, before Charlie goes on. The other
bits he is given, as a longer search would find them; `search_costs` says how long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log2

import numpy as np

from protocols import linear
from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.comparison.garbled import Extension, Tables, join_parts
from protocols.crypto import encapsulation, garbling, oblivious
from protocols.crypto.half_gates import LABEL_BYTES, Evaluator, Wires, wires
from protocols.errors import DecodeError
from protocols.linear import masks, publication, selection, setup, submission
from protocols.linear.limitations import Everything
from protocols.linear.messages import LockedRows
from protocols.linear.parameters import Parameters
from protocols.linear.values import Announced, CuratorKeys, Gathered, Halves
from protocols.pathak2010.noisy_sum import SIZE_BITS
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import CURATOR
from protocols.runtime.session import Program
from smc_dp.attacks.attack import StepCode, Variant, describe_attack
from smc_dp.attacks.charlie_and_first import true_secrets
from smc_dp.attacks.sessions import draw_secrets, linear_variant, run_program

PARTIES, DIMENSION = 4, 2  # as many parties as all meet in the first round of the tournament
BITS_EACH = 7
FLIPPED_COLUMNS = range(1, 1 + BITS_EACH)  # bit 0 of Delta is 1, as everybody knows
"""E: the bits of Delta in whose columns Charlie flips the choice, counted from the lowest of the first byte."""
SEARCHED_OUTSIDE = range(1 + BITS_EACH, 1 + 2 * BITS_EACH)
"""Bits of Delta outside E that are really searched; the other bits outside E are given."""
WIRE = SIZE_BITS - 1
"""Wire whose choice is flipped: the highest bit of P_1's size."""
KNOWN_NOISE_PARTY = 1
"""Index of the party whose noise Charlie knows: P_2."""


@dataclass(frozen=True, repr=False)
class Loot:
    """Values that Charlie keeps of the session.

    `session`: its id. `box_secret`: the secret of his box key, which unmasks rows. `labels`: his labels, of which that
    of the flipped wire is wrong by bits of Delta. `tables`, `locked`: the garbled circuit and the locked rows, as P_1
    sent them. `inside`: Delta and E, found when a row opened. `summand`: that row, eta + s.
    """

    session: bytes
    box_secret: bytes
    labels: bytes
    tables: bytes
    locked: bytes
    inside: int
    summand: Vector

    def opened(self, p: Parameters, labels: bytes) -> bytes | None:
        """Return the row that opens with these labels; None if none does."""
        try:
            return garbling.unlock(self.session, labels, p.K, SIZE_BITS, self.tables, self.locked)
        except DecodeError:
            return None

    def with_wire(self, shift: int) -> bytes:
        """Return the labels with that of the flipped wire shifted by these bits."""
        return shift_label(self.labels, WIRE, shift)


def shift_label(labels: bytes, wire: int, shift: int) -> bytes:
    """Return the labels with one of them xor `shift`."""
    at = wire * LABEL_BYTES
    label = int.from_bytes(labels[at : at + LABEL_BYTES], "little") ^ shift
    return labels[:at] + label.to_bytes(LABEL_BYTES, "little") + labels[at + LABEL_BYTES :]


def flip_columns(u: bytes, columns: Sequence[int]) -> bytes:
    """Return the extension with the choice for the wire flipped in these columns alone."""
    changed, width = bytearray(u), len(u) // oblivious.KEYS
    for column in columns:
        changed[column * width + WIRE // 8] ^= 1 << WIRE % 8
    return bytes(changed)


def subsets_of_bits(bits: Sequence[int]) -> Iterator[int]:
    """Yield all numbers that have ones among these bits only."""
    for chosen in range(1 << len(bits)):
        yield sum(1 << bit for i, bit in enumerate(bits) if chosen >> i & 1)


def flipping_program(columns: Sequence[int]) -> Program:
    """Return the program whose Charlie flips one choice in these columns; with none he follows the protocol."""

    async def evaluate(me: Endpoint, p: Parameters, keys: CuratorKeys, mine: Halves) -> Loot:
        garbler = p.parties[0]
        bits = garbling.chosen(mine.b, me.rng.bits(p.index_bits), SIZE_BITS)
        extension = oblivious.extend(me.session_id, keys.offer, mine.choice_points, bits)
        me.send(garbler, Extension(flip_columns(extension.u, columns)))
        tables = join_parts([(await me.receive(garbler, Tables)).part for _ in range(p.table_parts)], p.table_bytes)
        locked = join_parts([(await me.receive(garbler, LockedRows)).part for _ in range(p.row_parts)], p.locked_bytes)
        loot = Loot(me.session_id, keys.box, extension.labels, tables, locked, 0, ())
        for inside in subsets_of_bits(columns):
            content = loot.opened(p, loot.with_wire(inside))
            if content is not None:
                return replace(loot, inside=inside, summand=_bare(p, loot, content))
        me.refuse(garbler, "search.opens_nothing")

    async def curator(me: Endpoint, p: Parameters) -> Announced:
        keys = await me.stage(setup.curator, p)
        mine = await me.stage(submission.curator, p)
        loot = await me.stage(evaluate, p, keys, mine, name="selection")
        return await me.stage(publication.curator, p, loot.summand, mine.masks)

    return replace(linear.PROGRAM, roles={**linear.PROGRAM.roles, CURATOR: curator})


def search_delta(p: Parameters, loot: Loot, given_bits: int) -> int | None:
    """Return Delta, from the bits in E, those that are given, and a search of the others; None if nothing opens."""
    for rest in subsets_of_bits(SEARCHED_OUTSIDE):
        outside = given_bits | rest
        if loot.opened(p, loot.with_wire(outside)) is not None:  # the label of the other bit
            return loot.inside | outside
    return None


def read_everything_with(p: Parameters, loot: Loot, delta: int, noise: Vector, S: Vector) -> Everything | None:
    """Return sizes, noises and the exact sum, from Delta and `noise`; None if some row stays locked.

    `noise`: that of `KNOWN_NOISE_PARTY`. With Delta both labels of every wire are known. Of an AND three pairs of
    labels lead to one output label and the fourth to the other: that is the pair of ones. So every input bit shows; and
    with these bits the attacker makes any party the smallest, whose row opens then.
    """
    labels = loot.with_wire(loot.inside)
    sizes = _sizes(p, loot, labels, delta)
    behind_s = []
    for j in range(p.K):
        content = loot.opened(p, _with_smallest(labels, sizes, j, delta))
        if content is None:
            return None
        behind_s.append(_bare(p, loot, content))
    s = p.weights.subtract_vectors(behind_s[KNOWN_NOISE_PARTY], noise)
    noises = tuple(p.weights.subtract_vectors(row, s) for row in behind_s)
    return Everything(tuple(sizes), noises, p.weights.subtract_vectors(S, noises[sizes.index(min(sizes))]))


def search_costs(K: int) -> dict[str, float]:
    """Return exponents of two: guesses at Delta with and without the flip, and hashes in all.

    A guess evaluates what depends on the wire: one comparison, and from then on a comparison and a choice of the winner
    in every round of the tournament. To compare first outputs instead takes two hashes a guess, and memory for 2^63 of
    them.
    """
    rounds, width = garbling.index_bits(K), SIZE_BITS + garbling.index_bits(K)
    gates = 1 + width + (rounds - 1) * 2 * width
    guesses = log2(2**63 + 2**64)
    return {"consistent": 127.0, "guesses": guesses, "hashes": guesses + log2(2 * gates), "with memory": guesses + 1}


def _bare(p: Parameters, loot: Loot, content: bytes) -> Vector:
    epk, masked = masks.unpack_row(p, content)
    return masks.unmask_row(p, masked, encapsulation.opened(loot.box_secret, epk, loot.session))


def _with_smallest(labels: bytes, sizes: Sequence[int], place: int, delta: int) -> bytes:
    """Return labels of size 0 for this party, and of the largest one for all others."""
    for j, n in enumerate(sizes):
        for bit in range(SIZE_BITS):
            if (n >> bit & 1) != (j != place):
                labels = shift_label(labels, j * SIZE_BITS + bit, delta)
    return labels


def _sizes(p: Parameters, loot: Loot, labels: bytes, delta: int) -> list[int]:
    """Return the sizes, from truth values of x xor y and of y xor borrow in the first round of comparisons."""
    both = np.array([[0, 0], [delta % 2**64, delta >> 64]], np.uint64)
    all_wires = wires(labels)
    values = all_wires[: p.K * SIZE_BITS].reshape(p.K, SIZE_BITS, 2).swapaxes(0, 1)
    ties = np.broadcast_to(all_wires[p.K * SIZE_BITS :, np.newaxis], (p.index_bits, p.K, 2))
    numbers = np.concatenate((ties, values))
    x, y = numbers[:, 1::2], numbers[:, ::2]
    gates = [Evaluator(loot.session, loot.tables).ands(x ^ y ^ shift) for shift in both]
    borrow, borrowed = np.zeros_like(y[0]), np.zeros(p.K // 2, np.int64)
    found = np.zeros(p.K, np.int64)
    for i, (as_is, other) in enumerate(zip(*gates, strict=True)):
        second = borrow ^ y[i]
        outputs = [[gate(second ^ shift) for shift in both] for gate in (as_is, other)]
        differ, bit = _truths(outputs)
        if i >= p.index_bits:
            left = bit ^ borrowed
            found[::2] |= left << (i - p.index_bits)
            found[1::2] |= (left ^ differ) << (i - p.index_bits)
        borrow, borrowed = borrow ^ outputs[0][0], borrowed ^ (differ & bit)
    return [int(n) for n in found]


def _truths(outputs: list[list[Wires]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the truth values of the inputs: of the four outputs that of two ones is unlike the others.

    It stands where the first input is flipped unless that is a one, and so with the second.
    """
    (kept, second), (first, _) = ([one[:, 0] for one in row] for row in outputs)
    return (kept != second).astype(np.int64), (kept != first).astype(np.int64)


def _attacked(name: str, about: str, columns: Sequence[int]) -> Variant:
    def trial(rng: Stream, key_bits: int) -> bool:
        drawn = draw_secrets(PARTIES, DIMENSION, rng)
        seen = run_program(flipping_program(columns), drawn, key_bits, rng)
        loot = next(result for result in seen.charlie.results if isinstance(result, Loot))
        gathered: Gathered = seen.party(0).results[1][1]
        given_bits = int.from_bytes(gathered.choice.delta, "little") & ~sum(
            1 << bit for bit in (*FLIPPED_COLUMNS, *SEARCHED_OUTSIDE)
        )
        delta = search_delta(seen.parameters, loot, given_bits)
        if delta is None:
            return False
        known = seen.ring.vector(drawn[KNOWN_NOISE_PARTY].eta)
        return read_everything_with(seen.parameters, loot, delta, known, seen.released) == true_secrets(seen, drawn)

    malicious = bool(columns)
    code: tuple[StepCode, ...] = (flipping_program, flip_columns) if malicious else (oblivious.extend, selection.first)
    return linear_variant(name, about, trial, malicious=malicious, code=code)


_AT_1000 = search_costs(1000)

ATTACK = describe_attack(
    "inconsistent-extension",
    variants=(
        _attacked("columns that differ", "Charlie flips a choice in some columns", tuple(FLIPPED_COLUMNS)),
        _attacked("columns alike", "Charlie sends the extension that is due", ()),
    ),
    chance=2.0**-BITS_EACH,
    uses_keys=False,
    bits=BITS_EACH,
    searched=2 * BITS_EACH,
    guesses=_AT_1000["guesses"],
    hashes=_AT_1000["hashes"],
    with_memory=_AT_1000["with memory"],
)
