"""Messages of the protocol, in the order they are sent, with round, route and protections.

a_j xor b_j = n_j are halves of a size; eta_j is the noise of P_j, kappa_j a key that Charlie can open, r_j = eta_j +
PRG(kappa_j) its row; s masks all rows from Charlie; Delta tells the labels of a one from those of a zero.
"""

from __future__ import annotations

from typing import Annotated

from protocols.arithmetic.ring import Vector
from protocols.comparison.garbled import Choices, Extension, OtKey, Tables
from protocols.runtime.message import CURATOR, PARTY, PUBLIC, Message, Times, masked, message, public, shared


@message("0", CURATOR >> PARTY)
class BoxKey(Message):
    """Charlie's X25519 key of this session, the same for all."""

    box: Annotated[bytes, public("key")]


@message("1", PARTY >> PARTY)
class Submit(Message):
    """P_1's half of a party's size, the party's encrypted row with an ephemeral key, and the seed of masks with P_1.

    `box`: digest of the box key that the party was sent.
    """

    a: Annotated[int, masked("size")]
    box: Annotated[bytes, public("digest")]
    epk: Annotated[bytes, public("key")]
    row: Annotated[Vector, masked("weight"), Times("dimension")]
    seed: Annotated[bytes, shared("seed")]


@message("1", PARTY >> CURATOR)
class Share(Message):
    """Charlie's half of a party's size, and the seed of the party's masks with him."""

    b: Annotated[int, masked("size")]
    seed: Annotated[bytes, shared("seed")]


@message("1", PARTY >> PARTY)
class Neighbour(Message):
    """Seed of the masks of two neighbours on the ring."""

    seed: Annotated[bytes, shared("seed")]


@message("3", PARTY >> CURATOR)
class LockedRows(Message):
    """Part of all locked rows, sorted by tag; Charlie's labels open one of them."""

    part: Annotated[bytes, public("rows part")]


@message("4", PARTY >> CURATOR)
class Ready(Message):
    """Commitment to the sender's share. The sender has all that it needs."""

    commitment: Annotated[bytes, public("commitment")]


@message("4", CURATOR >> PARTY)
class Go(Message):
    """Digest of all commitments, Charlie's too. All have committed, and nobody publishes before."""

    go: Annotated[bytes, public("digest")]


@message("5", (PARTY >> PUBLIC) | (CURATOR >> PUBLIC))
class PublishedShare(Message):
    """Additive share of the sum, with the opening of its commitment and the digest that Go announced to the sender."""

    y: Annotated[Vector, public("weight"), Times("dimension")]
    opening: Annotated[bytes, public("opening")]
    go: Annotated[bytes, public("digest")]


KINDS = (BoxKey, OtKey, Submit, Share, Neighbour, Choices, Extension, Tables, LockedRows, Ready, Go, PublishedShare)
