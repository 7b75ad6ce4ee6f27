"""One sum without drop-outs (D = 0): masks of pairs alone, which cancel when all are there.

No seed is ever opened, so there are no shares, and nothing to agree on. Two parties agree once, in set-up; what they
have in common for the next sum follows from that for this one, and not the other way. A drop-out ends
the session, and the charges of the others stay: nobody can know who has seen what.
"""

from __future__ import annotations

from dataclasses import replace

from protocols.arithmetic.ring import Vector
from protocols.crypto import masking
from protocols.runtime.endpoint import Endpoint
from protocols.secure_sum import masks, roster, steps
from protocols.secure_sum.messages import Masked, PublishedShare
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import Addends, CuratorState, Opening, Vault


async def party(me: Endpoint, p: Parameters, vault: Vault, mine: Addends, r: int) -> Vault:
    """Run P_j, who learns S_r."""
    at = steps.own_context(me, vault, r)
    steps.send_masked(me, p, at, steps.masked_input(me, p, vault, mine, r, at))
    return with_next_pairs(p, await steps.receive_result(me, p, vault, r, at, p.everybody))


def with_next_pairs(p: Parameters, over: Vault) -> Vault:
    """Return the vault after a sum with the pairs that mask the next one, and none after the last."""
    return replace(over, secrets=masking.closed_after(over.pairs) if len(over.values) < p.R else ())


async def publisher(me: Endpoint, p: Parameters, vault: Vault, mine: Addends, r: int) -> Vector:
    """Run P_j where masked inputs are published as shares: anybody learns S_r, and there is no Charlie."""
    at = steps.own_context(me, vault, r)
    y = steps.masked_input(me, p, vault, mine, r, at)
    me.publish(PublishedShare(y))
    return y


async def curator(me: Endpoint, p: Parameters, state: CuratorState, r: int) -> CuratorState:
    """Run Charlie, who learns S_r."""
    vault = state.vault
    at = steps.own_context(me, vault, r)
    got = dict(zip(p.parties, await me.gather(p.parties, Masked), strict=True))
    inputs = steps.admit_inputs(me, p, at, got)
    if absent := roster.missing_parties(p.parties, tuple(inputs)):
        me.stop("sum.input_unusable", sum=r, absent=absent)
    y = {i: masked.y for i, masked in inputs.items()}
    S = masks.unmask_sum(p, at, y, {}, vault.keys[r])
    opening = Opening(tuple(y.values()), tuple(masked.signature for masked in inputs.values()), (), ())
    return steps.announce_result(me, p, state, r, p.everybody, S, opening)
