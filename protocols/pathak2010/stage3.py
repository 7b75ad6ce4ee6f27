"""Stage 3. Generating secret additive shares of w^s.

The noise selected in stage 2 is that of the sum of the weights, on their own grid, so nothing is multiplied by K [N6].
"""

from __future__ import annotations

from collections.abc import Mapping

from protocols.arithmetic.ring import Vector
from protocols.crypto import commitment
from protocols.crypto.paillier import Ciphertext
from protocols.errors import Fault
from protocols.pathak2010.messages import Masked, PublishedShare, Ready, Reshare
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import Announced, CuratorKeys, PartyKeys
from protocols.runtime.endpoint import Endpoint


async def party(
    me: Endpoint, p: Parameters, keys: PartyKeys, w: Vector, psi: tuple[Ciphertext, ...] | None
) -> Announced:
    """Run P_j with weights w, and psi for P_1. Returns this party's published share, and all commitments."""
    if psi is not None:
        # 1. P_1 masks psi with s for Charlie, and takes s off its own weights
        s = [me.rng.bits(p.mask_bits) for _ in w]
        packed = p.packing.pack(s)
        me.send(me.curator, Masked(tuple(keys.zeta.blind(c, m, me.rng) for c, m in zip(psi, packed, strict=True))))
        w = p.weights.subtract_vectors(w, p.weights.vector(s))
    # 3.
    return await reshare(me, p, w)


async def curator(me: Endpoint, p: Parameters, keys: CuratorKeys) -> Announced:
    """Run Charlie. Returns his share, and all commitments; learns eta + s, which is uniform up to 2**-sigma."""
    # 2. eta + s, which takes the place of a summand of its own
    masked = await me.receive(me.parties[0], Masked)
    x = p.weights.vector(p.packing.unpack([keys.zeta.decrypt(c) for c in masked.psi]))
    # 3.
    return await reshare(me, p, x)


async def reshare(me: Endpoint, p: Parameters, x: Vector) -> Announced:
    """Carry out step 3, alike for all participants, with summand x; announce and publish a share of the sum."""
    # 3. each of the K+1 participants splits its summand among all, adds up what it got, and publishes the sum
    own, *shares = p.weights.split_vector(x, len(me.everyone), me.rng)
    others = [name for name in me.everyone if name != me.name]
    for other, share in zip(others, shares, strict=True):
        me.send(other, Reshare(share))
    got = await me.gather(others, Reshare)
    y = p.weights.add_vectors(own, *(message.x for message in got))
    # nobody publishes before everybody has committed to its share: an abort up to here reveals nothing, and the last
    # to publish can choose nothing [N8]
    committed, opening = commitment.commit(_context(me.session_id, me.name), commitment.canonical(y), me.rng)
    me.broadcast(others, Ready(committed))
    announced = [ready.commitment for ready in await me.gather(others, Ready)]
    me.publish(PublishedShare(y, opening))
    announced.insert(me.everyone.index(me.name), committed)
    return Announced(y, tuple(announced))


def broken_commitment(
    session_id: bytes, names: tuple[str, ...], announced: Announced, published: Mapping[str, PublishedShare]
) -> tuple[str, Fault] | None:
    """Return the participant that published another share than it had announced to this one, and the fault, or None.

    An absent publication names nobody: its sender may have dropped out, or a carrier may have held it back.
    """
    for name, committed in zip(names, announced.commitments, strict=True):
        if name not in published:
            continue
        y, opening = commitment.canonical(published[name].y), published[name].opening
        if not commitment.opens(committed, _context(session_id, name), y, opening):
            return name, Fault("share.not_as_announced")
    return None


def _context(session_id: bytes, name: str) -> bytes:
    return b"smc-dp share" + session_id + name.encode()
