"""Stage 2. Obliviously obtaining the encrypted noise vector from the smallest database."""

from __future__ import annotations

from protocols.arithmetic.ring import Vector
from protocols.crypto.paillier import Ciphertext
from protocols.pathak2010.messages import Indicator, Selected
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import CuratorKeys, Halves, PartyKeys
from protocols.runtime.endpoint import Endpoint


async def curator(me: Endpoint, p: Parameters, keys: CuratorKeys, halves: Halves, permuted_place: int) -> None:
    """Run Charlie, who knows the place j~ of the smallest behind both permutations, not whose it is."""
    # 1. u has a one at j~; zeta(pi2^-1(u)) to every party
    u = [int(place == permuted_place) for place in range(p.K)]
    me.broadcast(me.parties, Indicator(tuple(keys.zeta.encrypt(x, me.rng) for x in halves.pi2.inverse(u))))


async def party(me: Endpoint, p: Parameters, keys: PartyKeys, eta: Vector) -> tuple[Ciphertext, ...] | None:
    """Run P_j with noise eta. Returns psi for P_1, None for the others; learns nothing, for it cannot open zeta."""
    zeta, j = keys.zeta, me.index
    # 2. zeta(v) = pi1^-1(zeta(pi2^-1(u)))
    indicator = await me.receive(me.curator, Indicator)
    v = keys.pi1.inverse(indicator.u)
    # 3. psi_j = zeta(v_j eta_j), the whole noise vector in a few ciphertexts
    psi_j = zeta.scale(v[j], p.packing.pack(eta))
    # 4. psi = the product of all psi_j, made by P_1; on their way to it they carry new randomness [N5]
    if j:
        me.send(me.parties[0], Selected(tuple(zeta.refresh(c, me.rng) for c in psi_j)))
        return None
    others = await me.gather(me.others, Selected)
    return tuple(zeta.add(*column) for column in zip(psi_j, *(other.psi for other in others), strict=True))
