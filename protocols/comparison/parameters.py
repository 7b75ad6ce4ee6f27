"""Public parameters of comparisons that are a protocol of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from protocols.arithmetic.ring import Ring
from protocols.comparison import steps
from protocols.crypto import dgk
from protocols.errors import LocalError
from protocols.runtime.session import read_parameters

LEAST_BITS = 2  # the top bit is the sign, and there must be a bit below it to compare


@dataclass(frozen=True)
class Comparisons:
    """Number of comparisons, bits of the ring of the shared differences whose signs they find, and the key length."""

    comparisons: int
    bits: int
    key_bits: int = 3072

    def __post_init__(self) -> None:
        if self.comparisons < 1 or self.bits < LEAST_BITS:
            raise LocalError(
                "comparison.nothing_to_compare", least_bits=LEAST_BITS, comparisons=self.comparisons, bits=self.bits
            )
        if self.key_bits % 16 or not dgk.has_room(self.key_bits, self.u):
            raise LocalError("comparison.key_bits_unusable", u=self.u)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Comparisons:
        """Return the parameters that `as_dict` wrote; raise `LocalError` for anything that it would not write."""
        return read_parameters(cls, plain, {field.name: int for field in fields(cls)})

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for line 0 of a transcript."""
        return dict(vars(self))

    @property
    def ring(self) -> Ring:
        """Ring in which both roles share the difference."""
        return Ring(self.bits)

    @property
    def compared_bits(self) -> int:
        """Length of the values that are compared: the low parts of shares."""
        return self.bits - 1

    @property
    def u(self) -> int:
        """Plaintext modulus of the key."""
        return steps.plaintext_modulus(self.compared_bits)

    def layout(self) -> Mapping[str, int]:
        """Return the widths in bytes and the counts that messages name."""
        terms = self.compared_bits + 1
        return {"dgk": self.key_bits // 8, "bit": 1, "compared_bits": self.compared_bits, "differences": terms}
