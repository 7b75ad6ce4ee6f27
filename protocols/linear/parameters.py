"""Public parameters of a run, checked once; and the graph on which masks are shared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from protocols.comparison.garbled import part_bytes, part_count
from protocols.crypto import commitment, encapsulation, garbling, masking, oblivious
from protocols.errors import LocalError
from protocols.pathak2010.noisy_sum import SIZE_BITS, WeightParameters
from protocols.runtime.session import read_names, read_parameters

GO_BYTES = MASK_SEED_BYTES = 32
_LEAST_DEGREE = 2


@dataclass(frozen=True)
class Parameters(WeightParameters):
    """K parties by name, d weights in Z_M with M = 2**ring_bits, and the degree k of the ring of P_2 ... P_K.

    `agreed` is a digest of whatever else the parties agreed on before; the protocol only binds the session to it.
    `row_messages`: number of messages of the locked rows in a dry run with the conversation of longer rows; else it
    follows from their length, and no transcript has it. Raises `LocalError` for unusable parameters.
    """

    parties: tuple[str, ...]
    dimension: int
    ring_bits: int = 64
    ring_degree: int = 8
    agreed: str = ""
    row_messages: int | None = None

    def __post_init__(self) -> None:
        self.check_weights()
        if self.ring_degree < _LEAST_DEGREE or self.ring_degree % 2:
            raise LocalError("ring_degree.not_even_or_too_small", least=_LEAST_DEGREE, got=self.ring_degree)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Parameters:
        """Return the parameters that `as_dict` wrote; raise `LocalError` for anything that it would not write."""
        numbers = dict.fromkeys(("dimension", "ring_bits", "ring_degree"), int)
        return read_parameters(cls, plain, {"parties": read_names, **numbers, "agreed": str})

    def as_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values: they enter the session id and line 0 of the transcript."""
        return {
            "parties": list(self.parties),
            "dimension": self.dimension,
            "ring_bits": self.ring_bits,
            "ring_degree": self.ring_degree,
            "agreed": self.agreed,
            "size_bits": SIZE_BITS,
        }

    @property
    def width(self) -> int:
        """Bytes of a number in Z_M."""
        return self.ring_bits // 8

    @property
    def index_bits(self) -> int:
        """Bits l of a party's place, and of the rank by which equal sizes are ordered."""
        return garbling.index_bits(self.K)

    @property
    def table_bytes(self) -> int:
        """Bytes of all garbled gates."""
        return garbling.table_bytes(self.K, SIZE_BITS)

    @property
    def locked_bytes(self) -> int:
        """Bytes of all locked rows: each has an epk and d numbers."""
        return self.K * garbling.row_bytes(encapsulation.KEY_BYTES + self.dimension * self.width)

    @property
    def has_ring(self) -> bool:
        """True when some of P_2 ... P_K share no mask with each other."""
        return self.ring_degree < self.K - 2

    def after(self, j: int) -> tuple[int, ...]:
        """Return the places to which party j sends the seed of a ring edge; P_1 and Charlie, the hubs, are apart."""
        ring = self.K - 1
        if not j:
            return ()
        if not self.has_ring:
            return tuple(range(j + 1, self.K))
        return tuple((j - 1 + h) % ring + 1 for h in range(1, self.ring_degree // 2 + 1))

    def before(self, j: int) -> tuple[int, ...]:
        """Return the places from which party j gets one."""
        ring = self.K - 1
        if not j:
            return ()
        if not self.has_ring:
            return tuple(range(1, j))
        return tuple((j - 1 - h) % ring + 1 for h in range(1, self.ring_degree // 2 + 1))

    def layout(self) -> Mapping[str, int]:
        """Return the bytes of every field and the length of every vector: message sizes depend on this alone."""
        return self._layout

    @cached_property
    def _layout(self) -> Mapping[str, int]:
        return {
            "size": SIZE_BITS // 8,
            "key": encapsulation.KEY_BYTES,
            "digest": GO_BYTES,
            "seed": masking.SECRET_BYTES,
            "weight": self.width,
            "dimension": self.dimension,
            "point": oblivious.POINT_BYTES,
            "points": oblivious.KEYS,
            "extension": oblivious.u_bytes(garbling.choice_bits(self.K, SIZE_BITS)),
            "tables part": part_bytes(self.table_bytes),
            "rows part": part_bytes(self.locked_bytes, self.row_parts),
            "commitment": commitment.COMMITMENT_BYTES,
            "opening": commitment.OPENING_BYTES,
        }

    @property
    def table_parts(self) -> int:
        """Number of messages of the garbled gates."""
        return part_count(self.table_bytes)

    @property
    def row_parts(self) -> int:
        """Number of messages of the locked rows."""
        return part_count(self.locked_bytes) if self.row_messages is None else self.row_messages
