"""What the stages leave behind: plain frozen values, all that survives a stage."""

from __future__ import annotations

from dataclasses import dataclass

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.ring import Vector
from protocols.crypto import dgk, paillier


@dataclass(frozen=True, repr=False)
class PartyInput:
    """A party's private input: its size n, its weights w and its noise eta, both as elements of Z_M^d."""

    n: int
    w: Vector
    eta: Vector


@dataclass(frozen=True, repr=False)
class PartyKeys:
    """xi with its secret key, zeta without, pi_1; and Charlie's comparison key, which only P_1 uses."""

    xi: paillier.PrivateKey
    zeta: paillier.PublicKey
    pi1: Permutation
    dgk: dgk.DgkPublicKey | None


@dataclass(frozen=True, repr=False)
class CuratorKeys:
    """zeta and the comparison key with their secret keys, xi without."""

    xi: paillier.PublicKey
    zeta: paillier.PrivateKey
    dgk: dgk.DgkPrivateKey


@dataclass(frozen=True, repr=False)
class Halves:
    """Charlie's b~, his halves of the blinded sizes, and his permutation pi_2."""

    b_tilde: Vector
    pi2: Permutation


RECORDS = (PartyInput, PartyKeys, CuratorKeys, Halves)
