"""Garbled argmins without their base transfers, which are most of the time, and what must hold of every part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.crypto import garbling, oblivious
from protocols.crypto.oblivious import Choice

SESSION = bytes(range(32))


@dataclass(frozen=True)
class Drawn:
    """What both sides have before the gates are made."""

    choice: Choice
    u: bytes
    labels: bytes
    sizes: tuple[int, ...]
    a: tuple[int, ...]
    ranks: tuple[int, ...]
    c: int
    value_bits: int

    @property
    def smallest(self) -> int:
        """The place that must win."""
        return min(range(len(self.sizes)), key=lambda j: (self.sizes[j], self.ranks[j] ^ self.c))

    def garbled(self, session: bytes = SESSION) -> garbling.Garbled:
        return garbling.garble(session, self.choice, self.u, self.a, self.ranks, self.value_bits)

    def unlocked(self, tables: bytes, locked: bytes, session: bytes = SESSION) -> bytes:
        return garbling.unlock(session, self.labels, len(self.a), self.value_bits, tables, locked)

    def winner(self) -> int:
        """The place whose row opens."""
        garbled = self.garbled()
        return int.from_bytes(self.unlocked(garbled.tables, garbling.lock(garbled, rows(len(self.a)))), "big")


def rows(K: int) -> list[bytes]:
    """A row for each place, which says which."""
    return [j.to_bytes(5, "big") for j in range(K)]


def drawn(sizes: Sequence[int], value_bits: int, rng: Stream) -> Drawn:
    """Halves, ranks and labels of these sizes."""
    K = len(sizes)
    a, c = [rng.bits(value_bits) for _ in sizes], rng.bits(garbling.index_bits(K))
    bits = garbling.chosen([x ^ n for x, n in zip(a, sizes, strict=True)], c, value_bits)
    sent = transferred(bits, rng)
    return Drawn(*sent, tuple(sizes), tuple(a), Permutation.random(K, rng).images, c, value_bits)


def transferred(bits: bytes, rng: Stream) -> tuple[Choice, bytes, bytes]:
    """A choice, any u, and the labels for these bits that it leads to."""
    keys = tuple(rng.bytes(32) for _ in range(oblivious.KEYS))
    first, *rest = rng.bytes(oblivious.LABEL_BYTES)
    choice = Choice(bytes([first | 1, *rest]), keys, ())
    u = rng.bytes(oblivious.u_bytes(len(bits)))
    q, delta = oblivious.zero_labels(choice, u, len(bits)), int.from_bytes(choice.delta, "big")
    zeros = (int.from_bytes(q[i : i + 16], "big") for i in range(0, len(q), 16))
    labels = b"".join((zero ^ bit * delta).to_bytes(16, "big") for zero, bit in zip(zeros, bits, strict=True))
    return choice, u, labels
