"""Stage 3. Generating secret additive shares of w^s.

The noise selected in stage 2 is that of the sum of the weights, on their own grid, so nothing is multiplied by K [N6].
"""

from __future__ import annotations

from protocols.arithmetic.ring import Vector
from protocols.crypto.paillier import Ciphertext
from protocols.pathak2010.messages import Masked, PublishedShare, Ready, Reshare
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import CuratorKeys, PartyKeys
from protocols.runtime.endpoint import Endpoint


async def party(me: Endpoint, p: Parameters, keys: PartyKeys, w: Vector, psi: tuple[Ciphertext, ...] | None) -> Vector:
    """P_j with weights w, and psi in the hands of P_1. Returns this party's published share."""
    if psi is not None:
        # 1. P_1 masks psi with s for Charlie, and takes s off its own weights
        s = [me.rng.bits(p.mask_bits) for _ in w]
        packed = p.packing.pack(s)
        me.send(me.curator, Masked(tuple(keys.zeta.blind(c, m, me.rng) for c, m in zip(psi, packed, strict=True))))
        w = p.weights.subtract_vectors(w, p.weights.vector(s))
    # 3.
    return await reshare(me, p, w)


async def curator(me: Endpoint, p: Parameters, keys: CuratorKeys) -> Vector:
    """Charlie. Returns his published share; learns eta + s, which is uniform up to 2**-sigma."""
    # 2. eta + s, which takes the place of a summand of its own
    masked = await me.receive(me.parties[0], Masked)
    x = p.weights.vector(p.packing.unpack(keys.zeta.decrypt_all(masked.psi)))
    # 3.
    return await reshare(me, p, x)


async def reshare(me: Endpoint, p: Parameters, x: Vector) -> Vector:
    """Step 3 for every participant alike, x being its summand. Returns and publishes its share of the sum."""
    # 3. each of the K+1 participants splits its summand among all, adds up what it got, and publishes the sum
    own, *shares = p.weights.split_vector(x, len(me.everyone), me.rng)
    others = [name for name in me.everyone if name != me.name]
    for other, share in zip(others, shares, strict=True):
        me.send(other, Reshare(share))
    got = await me.gather(others, Reshare)
    y = p.weights.add_vectors(own, *(message.x for message in got))
    # nobody publishes before everybody is ready: an abort up to here reveals nothing [N8]
    me.broadcast(others, Ready())
    await me.gather(others, Ready)
    me.publish(PublishedShare(y))
    return y
