"""Steps that sums with and without drop-outs have in common: a masked input goes in, a signed result comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from protocols.arithmetic.ring import Vector
from protocols.crypto import masking
from protocols.errors import LocalError
from protocols.runtime.endpoint import Endpoint
from protocols.secure_sum import masks, roster
from protocols.secure_sum.messages import Ended, Input, Masked, Result
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import Addends, CuratorState, Opening, Vault


def charge_label(r: int) -> str:
    """Return the label under which sum r is charged."""
    return f"sum {r}"


def own_context(me: Endpoint, vault: Vault, r: int) -> bytes:
    """Return the context that sum r is bound to, as this participant sees it."""
    return roster.sum_context(me.session_id, vault.roster, r, vault.query)


def masked_input(me: Endpoint, p: Parameters, vault: Vault, mine: Addends, r: int, at: bytes) -> Vector:
    """Return y_j of sum r. It is charged when this returns: from here on the sum may come out, whichever others
    drop out.
    """
    z = p.ring.add_vectors(mine.numbers[r], mine.noise[r])
    if len(z) != p.length(r):
        raise LocalError("numbers.of_other_lengths", lengths=[p.length(r)])
    y = masks.mask_vector(p, vault, z, at, me.index, r)
    me.spend(charge_label(r))
    return y


def send_masked(me: Endpoint, p: Parameters, at: bytes, y: Vector) -> None:
    """Send y to Charlie, signed as the only one of this sum (step 2)."""
    me.send(me.curator, Masked(at, y, me.attest(Input(at, masking.digest(y, p.width)))))


def admit_inputs(me: Endpoint, p: Parameters, at: bytes, got: Mapping[str, Masked]) -> dict[int, Masked]:
    """Return the masked inputs that are of this sum and signed, by party; Charlie treats the others as absent."""
    found: dict[int, Masked] = {}
    for name, masked in got.items():
        if masked.context != at:
            me.doubt(name, "sum.masked_otherwise")
        elif not me.attested(name, Input(at, masking.digest(masked.y, p.width)), masked.signature):
            me.doubt(name, "sum.input_not_signed")
        else:
            found[p.parties.index(name)] = masked
    return found


async def receive_result(me: Endpoint, p: Parameters, vault: Vault, r: int, at: bytes, members: int) -> Vault:
    """Read what Charlie says the sum is, and erase what made it (step 7)."""
    got = await me.receive(me.curator, Result)
    if not me.attested(me.curator, Ended(at, members, masking.digest(got.S, p.width)), got.signature):
        me.refuse(me.curator, "sum.not_signed")
    return vault_after(me, p, vault, r, members, got.S)


def announce_result(
    me: Endpoint, p: Parameters, state: CuratorState, r: int, members: int, S: Vector, opening: Opening
) -> CuratorState:
    """Tell all parties the sum, signed by Charlie (step 7)."""
    signature = me.attest(Ended(own_context(me, state.vault, r), members, masking.digest(S, p.width)))
    me.broadcast(p.parties, Result(S, signature))
    openings = (*state.openings, opening) if p.verifiable else ()
    return replace(state, vault=vault_after(me, p, state.vault, r, members, S), openings=openings)


def vault_after(me: Endpoint, p: Parameters, vault: Vault, r: int, members: int, S: Vector) -> Vault:
    """Return the vault once sum r is over."""
    return vault.after(r, roster.next_query(p, me.session_id, r, vault.query, members, S), members, S)
