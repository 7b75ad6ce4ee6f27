"""Public parameters of a run, checked once, with the inequalities that all else relies on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from protocols.arithmetic.packing import Packing
from protocols.arithmetic.ring import Ring
from protocols.comparison import steps
from protocols.crypto import admission, commitment
from protocols.crypto.paillier import EXPONENTS
from protocols.errors import LocalError
from protocols.pathak2010.noisy_sum import SIZE_BITS, WeightParameters
from protocols.runtime.session import read_names, read_parameters

SIGMA = 64  # statistical security of every mask, in bits
TIE_SECURITY = 40  # two parties draw equal tie bits with probability below 2**-40 in any run
PERMUTATION_SEED_BYTES = 32
COMPARISONS = ("tournament", "all-pairs")
MAX_KEY_BITS = 16384


@dataclass(frozen=True)
class Parameters(WeightParameters):
    """K parties by name, d weights in Z_M with M = 2**ring_bits, the key length, the way to find the minimum.

    `agreed` is a digest of whatever else the parties agreed on before; the protocol only binds the session to it.
    `exponents` is the length of those by which Paillier ciphertexts are randomised, full or short, but for the
    ciphertexts that return to the owner of their key, which are uniform.
    """

    parties: tuple[str, ...]
    dimension: int
    key_bits: int = 3072
    ring_bits: int = 64
    comparison: str = "tournament"
    agreed: str = ""
    exponents: str = "short"

    def __post_init__(self) -> None:
        self.check_weights()
        if self.comparison not in COMPARISONS:
            raise LocalError("comparison.unknown", comparisons=COMPARISONS, got=self.comparison)
        if self.exponents not in EXPONENTS:
            raise LocalError("exponents.unknown", exponents=EXPONENTS, got=self.exponents)
        if self.key_bits % 16 or self.packing_slot_bits > self.key_bits - 2 or self.blind_bits + 2 > self.key_bits:
            raise LocalError("key_bits.without_room", got=self.key_bits)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Parameters:
        """Return the parameters that `as_dict` wrote; raise `LocalError` for anything that it would not write.

        Without a value, exponents are full: they were in all transcripts before there was a choice.
        """
        numbers = dict.fromkeys(("dimension", "key_bits", "ring_bits"), int)
        texts = dict.fromkeys(("comparison", "agreed", "exponents"), str)
        return read_parameters(cls, plain, {"parties": read_names, **numbers, **texts}, exponents="full")

    @property
    def tie_bits(self) -> int:
        """t_b: random low bits of each size, so that equal sizes are ordered by coins."""
        return TIE_SECURITY + 2 * (self.K - 1).bit_length()

    @property
    def sizes(self) -> Ring:
        """Z_(2**L'), L' = L + t_b + 1: every compared value is below half the modulus, so the top bit is the sign."""
        return Ring(SIZE_BITS + self.tie_bits + 1)

    @property
    def blind_bits(self) -> int:
        """Bits of r in step 1.4: sigma + log2 K more than what it hides, and far below the plaintext space."""
        return self.sizes.bits + SIGMA + (self.K - 1).bit_length()

    @property
    def mask_bits(self) -> int:
        """Bits of each s(i) in step 3.1: sigma + log2 d more than what it hides."""
        return self.ring_bits + SIGMA + (self.dimension - 1).bit_length()

    @property
    def packing_slot_bits(self) -> int:
        """One bit more than a mask: noise in [0, M) plus a mask never carries into the next slot."""
        return self.mask_bits + 1

    @property
    def packing(self) -> Packing:
        """Packing of noise under Charlie's key: as few packs as can be, and none longer than it has to be."""
        most = (self.key_bits - 2) // self.packing_slot_bits
        packs = -(-self.dimension // most)
        return Packing(self.packing_slot_bits, -(-self.dimension // packs), self.dimension)

    @property
    def compared_bits(self) -> int:
        """Length of the values in one two-party comparison: the low parts of shares in Z_(2**L')."""
        return self.sizes.bits - 1

    def layout(self) -> Mapping[str, int]:
        """Bytes of every field width and the length of every vector: the size of a message depends on this alone."""
        return self._layout

    @cached_property
    def _layout(self) -> Mapping[str, int]:
        modulus = self.key_bits // 8
        return {
            "modulus": modulus,
            "prime": modulus // 2,
            "parties' key": 2 * modulus,
            "charlie's key": 2 * modulus,
            "dgk": modulus,
            "sizes": -(-self.sizes.bits // 8),
            "weights": self.ring_bits // 8,
            "wide": -(-self.packing_slot_bits // 8),
            "index": 4,
            "bit": 1,
            "commitment": commitment.COMMITMENT_BYTES,
            "opening": commitment.OPENING_BYTES,
            "seed": PERMUTATION_SEED_BYTES,
            "K": self.K,
            "dimension": self.dimension,
            "packs": self.packing.packs,
            "proof_points": admission.POINTS,
            "compared_bits": self.compared_bits,
            "differences": self.compared_bits + 1,
        }

    @property
    def u(self) -> int:
        """Plaintext modulus of the comparison's key."""
        return steps.plaintext_modulus(self.compared_bits)

    def as_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values: they enter the session id and line 0 of the transcript."""
        short = {} if self.exponents == "full" else {"exponents": self.exponents}
        return short | {
            "parties": list(self.parties),
            "dimension": self.dimension,
            "key_bits": self.key_bits,
            "ring_bits": self.ring_bits,
            "comparison": self.comparison,
            "agreed": self.agreed,
            "sigma": SIGMA,
            "size_bits": SIZE_BITS,
            "tie_bits": self.tie_bits,
        }
