"""The place of the smallest sum: the bytes of a slow twin, the plain argmin, refusals, and what shows to whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log2

import pytest
from broken.garbling_twins import TWINS
from support import garbled_twin as twin
from support.garbled import SESSION, transferred

from protocols.arithmetic.rng import Stream
from protocols.crypto import garbled_place, oblivious
from protocols.errors import DecodeError


@dataclass(frozen=True)
class Summed:
    """What both sides have before the gates are made."""

    choice: oblivious.Choice
    u: bytes
    labels: bytes
    a: tuple[int, ...]
    b: tuple[int, ...]
    value_bits: int

    @property
    def numbers(self) -> list[int]:
        return [(x + y) % (1 << self.value_bits) for x, y in zip(self.a, self.b, strict=True)]

    def tables(self) -> bytes:
        return garbled_place.garble(SESSION, self.choice, self.u, self.a, self.value_bits)

    def place(self, tables: bytes, session: bytes = SESSION) -> int:
        return garbled_place.evaluate(session, self.labels, len(self.a), self.value_bits, tables)


def summed(numbers: list[int], value_bits: int, rng: Stream) -> Summed:
    """Summands of these numbers, and the labels of Charlie's."""
    b = [rng.bits(value_bits) for _ in numbers]
    a = tuple((n - y) % (1 << value_bits) for n, y in zip(numbers, b, strict=True))
    return Summed(*transferred(garbled_place.chosen(b, value_bits), rng), a, tuple(b), value_bits)


@pytest.mark.parametrize(("K", "value_bits"), [(2, 1), (3, 3), (5, 2), (8, 5)])
def test_gates_and_hashes_are_those_of_the_twin(K: int, value_bits: int) -> None:
    d = summed([stream(j).bits(value_bits) for j in range(K)], value_bits, stream(K))
    delta, tables = int.from_bytes(d.choice.delta, "little"), []
    q = twin.numbers_of(oblivious.zero_labels(d.choice, d.u, K * value_bits))
    own = [[(a >> i & 1) * delta for i in range(value_bits)] for a in d.a]
    gate = twin.garbling(SESSION, delta, tables)
    place = twin.place(gate, twin.sums(gate, twin.wired(q, K, value_bits), own))
    told = [twin.told(SESSION, i, x) for i, zero in enumerate(place) for x in (zero, zero ^ delta)]
    assert d.tables() == b"".join(x.to_bytes(16, "little") for x in tables) + b"".join(told)
    assert len(tables) == 2 * garbled_place.ands(K, value_bits)
    found = twin.evaluating(SESSION, tables)
    labels = twin.wired(twin.numbers_of(d.labels), K, value_bits)
    mine = twin.place(found, twin.sums(found, labels, [[0] * value_bits] * K))
    assert sum(told.index(twin.told(SESSION, i, x)) % 2 << i for i, x in enumerate(mine)) == d.place(d.tables())


def random_cases(count: int, rng: Stream) -> Iterator[Summed]:
    for _ in range(count):
        K, value_bits = 2 + rng.below(11), 1 + rng.below(6)
        yield summed([rng.bits(value_bits) for _ in range(K)], value_bits, rng)


def the_first_of_the_smallest_is_found(count: int = 60) -> None:
    for d in random_cases(count, stream("place")):
        assert d.place(d.tables()) == d.numbers.index(min(d.numbers))


def test_the_place_is_right() -> None:
    the_first_of_the_smallest_is_found()
    most = (1 << 84) - 1
    for numbers in ([most, most - 1, most], [most] * 5, [0, most], [most, 0]):
        d = summed(numbers, 84, stream("wide"))
        assert d.place(d.tables()) == numbers.index(min(numbers))


@pytest.mark.slow
def test_thousands_of_places_are_right() -> None:
    the_first_of_the_smallest_is_found(3_000)


@pytest.mark.parametrize("name", ["odd one dropped", "root lost", "carry lost"])
def test_a_twin_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*TWINS[name])
    with pytest.raises((AssertionError, DecodeError)):
        the_first_of_the_smallest_is_found()


def test_what_was_changed_gives_the_right_place_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    d = summed([5, 3, 6], 3, stream("flips"))
    tables = d.tables()
    outcomes = [outcome(d, flipped(tables, i)) for i in range(0, 8 * len(tables), 61)]
    assert set(outcomes) == {"refused", 1}
    told = tables[-64:]  # two bits, and for each the hashes of its label of zero and of one
    assert outcome(d, bytes(len(tables))) == "refused"
    assert outcome(d, tables[:-64] + bytes(64)) == "refused"
    assert outcome(d, tables[:-64] + told[:16] * 2 + told[32:]) == "refused"  # both alike, neither is his
    alike = tables[:-64] + told[16:32] * 2 + told[32:]
    assert outcome(d, alike) == "refused"  # and both are
    assert outcome(d, tables[:-64] + told[:32] + told[48:] + told[32:48]) == "refused"  # place 3 of 0, 1, 2
    with pytest.raises(DecodeError, match=r"^the labels of the place are none that were told$"):
        d.place(tables, bytes(32))
    for wrong in (tables[:-1], tables + b"\0", b""):
        with pytest.raises(DecodeError, match=rf"^gates and hashes have {len(wrong)} bytes, wanted {len(tables)}$"):
            d.place(wrong)
    monkeypatch.setattr(*TWINS["equal hashes"])
    assert (outcome(d, tables), outcome(d, alike)) == (1, 0)


def test_the_other_label_of_the_place_is_not_told() -> None:
    """Each hash is of its label alone: another session, place or label gives another."""
    d = summed([5, 3, 6], 3, stream("told"))
    one, other = d.tables()[-64:], garbled_place.garble(bytes(32), d.choice, d.u, d.a, 3)[-64:]
    hashes = [part[i : i + 16] for part in (one, other) for i in range(0, 64, 16)]
    assert len(set(hashes)) == 8


def test_sizes_and_security_follow_from_the_parameters() -> None:
    for K, value_bits, gates in ((50, 84, 12_344), (1_000, 93, 278_712)):
        assert garbled_place.ands(K, value_bits) == gates
        assert garbled_place.table_bytes(K, value_bits) == 32 * gates + 32 * (K - 1).bit_length()
        assert garbled_place.choice_bits(K, value_bits) == K * value_bits
        assert garbled_place.security_bits(K, value_bits) == int(127 - log2(2 * gates))


def stream(label: object) -> Stream:
    return Stream.insecure_from_seed(f"garbled place {label}")


def flipped(data: bytes, bit: int) -> bytes:
    return data[: bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1 :]


def outcome(d: Summed, tables: bytes) -> int | str:
    try:
        return d.place(tables)
    except DecodeError:
        return "refused"
