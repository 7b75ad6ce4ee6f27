"""Messages of the protocol, in the order they are sent, with their step in the paper, route and protections.

Letters as in the paper, section 3.2: a_j + b_j = n_j are shares of a size; r blinds them; pi_1 and pi_2 permute them;
xi is encryption under the parties' key, zeta under Charlie's; u is Charlie's indicator of the smallest, v the same with
both permutations undone; eta_j is the noise of P_j, psi_j the noise selected by v_j; s masks the selected noise from
Charlie.
"""

from __future__ import annotations

from typing import Annotated

from protocols.arithmetic.ring import Vector
from protocols.comparison.messages import Bits, ComparisonKey, Differences
from protocols.crypto.paillier import Ciphertext
from protocols.runtime.message import (
    CURATOR,
    PARTY,
    PUBLIC,
    Message,
    Times,
    encrypted,
    masked,
    message,
    public,
    returned,
    shared,
)

XI = "parties' key"
ZETA = "charlie's key"

EVERY_PAIR = (PARTY >> PARTY) | (PARTY >> CURATOR) | (CURATOR >> PARTY)


@message("setup 1", (PARTY >> CURATOR) | (CURATOR >> PARTY))
class PaillierKey(Message):
    """Public key of xi, from P_1 to Charlie, or of zeta, from Charlie to each party, with a proof that it is valid."""

    n: Annotated[int, public("modulus")]
    proof: Annotated[Vector, public("modulus"), Times("proof_points")]


@message("setup 2", PARTY >> PARTY)
class SharedKey(Message):
    """Secret key of the parties, from P_1 to each other party."""

    p: Annotated[int, shared("prime")]
    q: Annotated[int, shared("prime")]


@message("setup 3", PARTY >> PARTY)
class Commitment(Message):
    """Commitment to a seed for pi_1."""

    commitment: Annotated[bytes, public("commitment")]


@message("setup 3", PARTY >> PARTY)
class Opening(Message):
    """Seed for pi_1, with the opening of its commitment."""

    seed: Annotated[bytes, shared("seed")]
    opening: Annotated[bytes, shared("opening")]


@message("1.2", PARTY >> PARTY)
class Relay(Message):
    """a_j, and b_j encrypted for Charlie, to P_pi1(j); or a cover message of the same size [N1]."""

    a: Annotated[int, masked("sizes")]
    b: Annotated[Ciphertext | None, encrypted(ZETA)]


@message("1.3", PARTY >> CURATOR)
class Slot(Message):
    """xi(pi_1(a)_i) and zeta(pi_1(b)_i), which P_i forwards as slot i without saying whose they are."""

    a: Annotated[Ciphertext, encrypted(XI)]
    b: Annotated[Ciphertext, encrypted(ZETA)]


@message("1.4", CURATOR >> PARTY)
class Blinded(Message):
    """xi(pi_2(pi_1(a) + r)_i), blinded so that the parties do not recognise their own ciphertext [N4]."""

    a: Annotated[Ciphertext, returned(XI)]


@message("1.6", PARTY >> PARTY)
class Half(Message):
    """a~_i, decrypted and reduced mod 2**L', to P_1, who compares on behalf of the parties [N3].

    It is uniform to them, for they do not know r.
    """

    a_tilde: Annotated[int, masked("sizes")]


@message("1.6", CURATOR >> PARTY)
class Match(Message):
    """Two places after both permutations, whose sizes are compared next.

    They are uniform to a party, which does not know pi_2.
    """

    left: Annotated[int, masked("index")]
    right: Annotated[int, masked("index")]


@message("2.1", CURATOR >> PARTY)
class Indicator(Message):
    """zeta(pi_2^-1(u)), the indicator vector, encrypted under Charlie's key."""

    u: Annotated[tuple[Ciphertext, ...], encrypted(ZETA), Times("K")]


@message("2.3", PARTY >> PARTY)
class Selected(Message):
    """psi_j = zeta(v_j eta_j), packed and re-randomised, to P_1 alone [N5]."""

    psi: Annotated[tuple[Ciphertext, ...], encrypted(ZETA), Times("packs")]


@message("3.1", PARTY >> CURATOR)
class Masked(Message):
    """psi zeta(s), re-randomised, which Charlie opens to eta + s. He must not recognise his indicator in it [N4]."""

    psi: Annotated[tuple[Ciphertext, ...], returned(ZETA), Times("packs")]


@message("3.3", EVERY_PAIR)
class Reshare(Message):
    """One of K+1 additive shares of the sender's summand."""

    x: Annotated[Vector, masked("weights"), Times("dimension")]


@message("3.3", EVERY_PAIR)
class Ready(Message):
    """Commitment to the sender's share [N8].

    The sender has all that it needs. Nobody publishes before all have committed.
    """

    commitment: Annotated[bytes, public("commitment")]


@message("3.3", (PARTY >> PUBLIC) | (CURATOR >> PUBLIC))
class PublishedShare(Message):
    """Additive share of K w^s on the grid, with the opening of its commitment."""

    y: Annotated[Vector, public("weights"), Times("dimension")]
    opening: Annotated[bytes, public("opening")]


KINDS = (
    *(PaillierKey, ComparisonKey, SharedKey, Commitment, Opening),
    *(Relay, Slot, Blinded, Half, Match, Bits, Differences),
    *(Indicator, Selected, Masked, Reshare, Ready, PublishedShare),
)
