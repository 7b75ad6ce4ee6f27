"""Packing of many small numbers into one plaintext: slots wide enough that no carry ever leaves one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Packing:
    """Layout of vectors of `length` numbers in plaintexts of `slots` slots of `slot_bits` bits."""

    slot_bits: int
    slots: int
    length: int

    @property
    def packs(self) -> int:
        """Number of plaintexts of a vector."""
        return -(-self.length // self.slots)

    def pack(self, values: Sequence[int]) -> list[int]:
        """Return the plaintexts: each is the sum of value * 2**(slot_bits * place), first value lowest."""
        if len(values) != self.length or any(v < 0 or v.bit_length() > self.slot_bits for v in values):
            raise ValueError(f"wanted {self.length} values in [0, 2**{self.slot_bits})")
        blocks = (values[i : i + self.slots] for i in range(0, self.length, self.slots))
        return [sum(v << (self.slot_bits * i) for i, v in enumerate(block)) for block in blocks]

    def unpack(self, packs: Sequence[int]) -> list[int]:
        """Return the numbers in the slots."""
        mask = (1 << self.slot_bits) - 1
        return [(packs[i // self.slots] >> (self.slot_bits * (i % self.slots))) & mask for i in range(self.length)]
