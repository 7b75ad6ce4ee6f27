"""Results of the stages: plain frozen values, all that survives a stage."""

from __future__ import annotations

from dataclasses import dataclass

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.ring import Vector
from protocols.crypto import dgk, paillier
from protocols.errors import LocalError
from protocols.pathak2010.noisy_sum import SIZE_BITS


@dataclass(frozen=True, repr=False)
class PartyInput:
    """Party's private input: its size n in [0, 2**32), its weights w and its noise eta, both elements of Z_M^d."""

    n: int
    w: Vector
    eta: Vector

    def __post_init__(self) -> None:
        # A larger size would wrap in the ring of the comparison, and pass for the smallest.
        if not 0 <= self.n < 1 << SIZE_BITS:
            raise LocalError("size.outside", size_bits=SIZE_BITS, got=self.n)


@dataclass(frozen=True, repr=False)
class PartyKeys:
    """Keys of a party: xi with its secret key, zeta without, pi_1; and Charlie's comparison key, which only P_1 has."""

    xi: paillier.PrivateKey
    zeta: paillier.PublicKey
    pi1: Permutation
    dgk: dgk.DgkPublicKey | None


@dataclass(frozen=True, repr=False)
class CuratorKeys:
    """Keys of Charlie: zeta and the comparison key with their secret keys, xi without."""

    xi: paillier.PublicKey
    zeta: paillier.PrivateKey
    dgk: dgk.DgkPrivateKey


@dataclass(frozen=True, repr=False)
class Halves:
    """Charlie's b~, his halves of the blinded sizes, and his permutation pi_2."""

    b_tilde: Vector
    pi2: Permutation


@dataclass(frozen=True, repr=False)
class Announced:
    """Participant's own share y, and the commitments to all shares in the order of all participants, its own too."""

    y: Vector
    commitments: tuple[bytes, ...]


RECORDS = (PartyInput, PartyKeys, CuratorKeys, Halves, Announced)
