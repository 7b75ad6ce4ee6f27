"""Garbled argmins: the bytes of a slow twin, the plain argmin in every tie, one row that opens, and refusals."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain, product
from math import log2

import numpy as np
import pytest
from support import garbled_twin as twin
from support.garbled import SESSION, Drawn, drawn, rows

from protocols.arithmetic.rng import Stream
from protocols.crypto import circuit, garbling, half_gates, oblivious
from protocols.crypto.half_gates import Wires
from protocols.errors import DecodeError, LocalError
from tests.support.refusals import refused

NO_ROW = "garbling.no_row_opens"


def stream(label: object = "garbling") -> Stream:
    return Stream.insecure_from_seed(str(label))


# A slow twin gives the same bytes.


@pytest.mark.parametrize(("K", "value_bits"), [(2, 1), (3, 3), (5, 2), (8, 3), (9, 2)])
def test_gates_and_rows_are_those_of_the_twin(K: int, value_bits: int) -> None:
    d = drawn([stream(j).bits(value_bits) for j in range(K)], value_bits, stream(K))
    made = d.garbled()
    delta, count = int.from_bytes(d.choice.delta, "little"), garbling.choice_bits(K, value_bits)
    q = twin.numbers_of(oblivious.zero_labels(d.choice, d.u, count))
    zeros, l = twin.wired(q, K, value_bits), garbling.index_bits(K)
    whole = [rank | half << l for rank, half in zip(d.ranks, d.a, strict=True)]
    own = [[bits >> i & 1 for i in range(l + value_bits)] for bits in whole]
    zeros = [[wire ^ bit * delta for wire, bit in zip(*pair, strict=True)] for pair in zip(zeros, own, strict=True)]
    tables: list[int] = []
    place = twin.place(twin.garbling(SESSION, delta, tables), zeros)
    assert twin.numbers_of(made.tables) == tables
    assert len(tables) == 2 * garbling.and_count(K, value_bits)
    leaves = [[wire ^ (j >> i & 1) * delta for i, wire in enumerate(place)] for j in range(K)]
    assert [(lock.tag, lock.key) for lock in made.locks] == [twin.lock(SESSION, leaf) for leaf in leaves]
    found = twin.place(twin.evaluating(SESSION, tables), twin.wired(twin.numbers_of(d.labels), K, value_bits))
    assert leaves.index(found) == d.smallest == d.winner()


def test_choices_are_bits_the_lowest_first() -> None:
    assert list(garbling.chosen([1, 2, 4], 2, 3)) == [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1]
    for b, c in (([8, 0, 0], 0), ([0, 0, 0], 4), ([-1, 0, 0], 0)):
        with refused("garbling.number_too_long", error=LocalError):
            garbling.chosen(b, c, 3)


def test_ranks_are_all_different() -> None:
    d = drawn([1, 2, 3], 2, stream())
    with refused("garbling.ranks_not_each_once", error=LocalError):
        garbling.garble(SESSION, d.choice, d.u, d.a, (0, 1, 1), 2)


# What must hold.


def clear(x: Wires) -> half_gates.PendingAnds:
    """Gates of bits, as words of one or zero."""
    return [partial(np.bitwise_and, row) for row in x]


def small_cases() -> Iterator[tuple[int, ...]]:
    """All sizes of two bits, for two to five parties: 1,360 cases, most with ties."""
    for K in range(2, 6):
        yield from product(range(4), repeat=K)


def test_the_lowest_of_the_smallest_wins() -> None:
    """The circuit alone, with bits in the clear: no gate is garbled, so all small cases are tried."""
    cases = list(small_cases())
    assert len(cases) == 1360
    for sizes in [*cases, *([j] * 9 + [j - 1] + [j] * 7 for j in (1, 2, 3))]:
        numbers = np.array([[(n >> i & 1, 0) for n in sizes] for i in range(2)], np.uint64)
        place = circuit.smallest(clear, numbers)
        assert sum(int(bit) << i for i, bit in enumerate(place[:, 0])) == sizes.index(min(sizes))


def random_cases(count: int, rng: Stream) -> Iterator[Drawn]:
    """Sizes with many ties, extremes among them."""
    for _ in range(count):
        K, value_bits = 2 + rng.below(11), 1 + rng.below(6)
        few = [rng.bits(value_bits), 0, (1 << value_bits) - 1][: 1 + rng.below(3)]
        sizes = [rng.bits(value_bits) if rng.bits(2) == 0 else few[rng.below(len(few))] for _ in range(K)]
        yield drawn(sizes, value_bits, rng)


@pytest.mark.parametrize("count", [60, pytest.param(400, marks=pytest.mark.slow)])
def test_the_smallest_opens(count: int) -> None:
    """The row of argmin (n_j, rho_j xor c), and no other."""
    for d in random_cases(count, stream("argmin")):
        assert d.winner() == d.smallest


def test_one_row_opens() -> None:
    """K locks, all different, none of them that of another garbling, and one that Charlie's labels lead to."""
    rng = stream("locks")
    one, other = (drawn([5, 3, 3, 7, 3], 3, rng) for _ in range(2))
    locks, others = one.garbled().locks, other.garbled().locks
    assert len({lock.key for lock in locks}) == len({lock.tag for lock in locks}) == 5
    assert not {lock.key for lock in locks} & {lock.key for lock in others}
    place = circuit.smallest(
        half_gates.Evaluator(SESSION, one.garbled().tables).ands,
        garbling._inputs(half_gates.wires(one.labels), 5, 3),
    )
    mine = garbling._lock(SESSION, place.tobytes())
    assert [j for j, lock in enumerate(locks) if lock == mine] == [one.smallest]


def test_the_place_of_the_row_is_uniform() -> None:
    """Sorted by tags: where the row stands that opens says nothing of whose it is. A wrong alarm: 2^-59."""
    places = set()
    for i in range(60):
        d = drawn([0, 1], 1, stream(f"place {i}"))
        garbled = d.garbled()
        locked = garbling.lock(garbled, rows(2))
        places.add(locked.index(garbled.locks[0].tag))
    assert len(places) == 2


def test_no_tweak_is_used_twice() -> None:
    """Both sides hash under 0, 1, ..., 2 ANDs - 1."""
    d, seen = drawn([5, 3, 3, 7, 3, 1], 3, stream("tweaks")), []
    hashed = half_gates.Hash.__call__

    def noted(self: half_gates.Hash, x: Wires, tweaks: Wires) -> Wires:
        seen.append(tweaks.reshape(-1).tolist())
        return hashed(self, x, tweaks)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(half_gates.Hash, "__call__", noted)
        tables = d.garbled().tables
        made = sorted(chain.from_iterable(seen))
        seen.clear()
        circuit.smallest(half_gates.Evaluator(SESSION, tables).ands, np.zeros((6, 6, 2), np.uint64))
    assert made == sorted(chain.from_iterable(seen)) == list(range(2 * garbling.and_count(6, 3)))


def test_equal_gates_look_different() -> None:
    """Gates of the same two wires: without tweaks they would be the same, and with pi(x) xor x their xor is known."""
    delta = int.from_bytes(bytes([7] * 16), "little")
    gates = half_gates.Garbler(SESSION, bytes([7] * 16), 8)
    x, y = (half_gates.wires(bytes([n] * 16) * 8) for n in (1, 2))
    gates.ands(x[np.newaxis])[0](y)
    found = twin.numbers_of(gates.tables)
    assert len(set(found)) == 16
    tables: list[int] = []
    gate = twin.garbling(SESSION, delta, tables)
    for _ in range(8):
        gate(*(int.from_bytes(bytes([n] * 16), "little") for n in (1, 2)))
    assert found == tables


def test_another_row_in_its_place_is_refused() -> None:
    """Rows under each other's tags, and two rows with the tag that is looked for."""
    d = drawn([5, 3, 6], 3, stream("forged"))
    garbled = d.garbled()
    locked = garbling.lock(garbled, rows(3))
    size, tag = garbling.row_bytes(5), garbled.locks[1].tag
    cut = [locked[i : i + size] for i in range(0, len(locked), size)]
    mine = next(row for row in cut if row.startswith(tag))
    swapped = {row[:16]: other[16:] for row, other in zip(cut, [*cut[1:], cut[0]], strict=True)}
    doubled = sorted([mine, mine, next(row for row in cut if row != mine)])
    forged = sorted([mine, tag[:2] + bytes(14) + mine[16:], next(row for row in cut if row != mine)])
    with refused(NO_ROW, error=DecodeError):
        d.unlocked(garbled.tables, b"".join(t + row for t, row in swapped.items()))
    with refused("garbling.tags_not_in_order", error=DecodeError):
        d.unlocked(garbled.tables, b"".join(doubled))
    with refused("garbling.tags_not_in_order", error=DecodeError):
        d.unlocked(garbled.tables, b"".join(reversed(cut)))
    assert d.unlocked(garbled.tables, b"".join(forged)) == rows(3)[1]


def test_seals_are_bound_to_tags() -> None:
    """Each row is ChaCha20-Poly1305 under its own key, nonce zero, its tag as associated data."""
    garbled = drawn([5, 3, 6], 3, stream("seals")).garbled()
    locked = garbling.lock(garbled, rows(3))
    for lock, row in zip(garbled.locks, rows(3), strict=True):
        at = locked.index(lock.tag)
        sealed = locked[at + 16 : at + garbling.row_bytes(5)]
        assert garbling.ChaCha20Poly1305(lock.key).encrypt(bytes(12), row, lock.tag) == sealed


# Refusals.


def test_what_was_changed_opens_the_right_row_or_none() -> None:
    """A flipped bit may stand where the evaluator does not look; a wrong row never opens."""
    d = drawn([5, 3, 6], 3, stream("flips"))
    garbled = d.garbled()
    locked = garbling.lock(garbled, rows(3))
    at = locked.index(garbled.locks[1].tag)
    spoilt = [(flipped(garbled.tables, i), locked) for i in range(0, 8 * len(garbled.tables), 97)]
    spoilt += [(garbled.tables, flipped(locked, i)) for i in range(0, 8 * len(locked), 13)]
    outcomes = [outcome(d, *sent) for sent in spoilt]
    assert set(outcomes) == {"refused", rows(3)[1]}
    for i in (8 * at, 8 * at + 127, 8 * at + 128, 8 * (at + 16 + 5) + 1):  # tag, row and seal of the one that opens
        assert outcome(d, garbled.tables, flipped(locked, i)) == "refused"
    assert outcome(d, bytes(len(garbled.tables)), locked) == "refused"
    assert outcome(d, garbled.tables, bytes(len(locked))) == "refused"
    assert outcome(d, garbled.tables, locked) == rows(3)[1]


def test_a_changed_u_shows_where_delta_is_one() -> None:
    d = drawn([5, 3, 6], 3, stream("u"))
    found = set()
    for i in range(0, 128, 5):
        spoilt = Drawn(d.choice, flipped(d.u, i * len(d.u) // 16), d.labels, d.sizes, d.a, d.ranks, d.c, 3)
        garbled = spoilt.garbled()
        done = outcome(spoilt, garbled.tables, garbling.lock(garbled, rows(3)))
        bit = d.choice.delta[i // 8] >> i % 8 & 1
        assert done == ("refused" if bit else rows(3)[1])
        found.add(bit)
    assert found == {0, 1}


def test_another_size_or_session_is_refused() -> None:
    d = drawn([5, 3, 6], 3, stream("sizes"))
    garbled = d.garbled()
    locked = garbling.lock(garbled, rows(3))
    for tables, sealed in ((garbled.tables[:-1], locked), (garbled.tables, locked[:-1]), (b"", locked)):
        with refused("garbling.another_size", error=DecodeError):
            d.unlocked(tables, sealed)
    with refused(NO_ROW, error=DecodeError):
        d.unlocked(garbled.tables, locked, bytes(32))


def flipped(data: bytes, bit: int) -> bytes:
    return data[: bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1 :]


def outcome(d: Drawn, tables: bytes, locked: bytes) -> bytes | str:
    try:
        return d.unlocked(tables, locked)
    except DecodeError:
        return "refused"


# Sizes and security, from parameters alone.


@pytest.mark.parametrize(("K", "gates", "bits"), [(50, 3_732, 114), (1_000, 84_865, 109), (10_000, 929_853, 106)])
def test_gates_and_their_security_are_those_of_the_formula(K: int, gates: int, bits: int) -> None:
    assert garbling.and_count(K, 32) == gates
    assert garbling.table_bytes(K, 32) == 32 * gates
    assert garbling.choice_bits(K, 32) == 32 * K + (K - 1).bit_length()
    assert garbling.security_bits(K, 32) == bits == int(127 - log2(2 * gates))
