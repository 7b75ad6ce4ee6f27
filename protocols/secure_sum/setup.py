"""Stages 0 and 1: everybody's mask keys and shares are there, and everybody saw the same greetings.

Nothing that depends on anybody's numbers leaves before `Start`, so a party that is missing until then is left out of a
new session, and nobody has paid. Where masked inputs are published there is nobody to say so to, and no `Start`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from protocols.crypto import masking
from protocols.runtime.endpoint import Endpoint, Greeted
from protocols.secure_sum import dealing, disputes, roster
from protocols.secure_sum.messages import MaskKeys, Ready, Start
from protocols.secure_sum.parameters import CURATOR, Parameters
from protocols.secure_sum.values import CuratorState, Secrets, Vault


async def party(me: Endpoint, p: Parameters) -> Vault:
    """Run P_j: return its shares of all seeds, when everybody is ready; where nobody may drop out, its common values
    with the other parties.
    """
    if not p.D:
        vault = await _paired(me, p)
        if p.output == CURATOR:
            me.send(me.curator, Ready(vault.roster, (), ()))
            await disputes.await_start(me, vault.roster)
        return vault
    greetings, vault = await _greeted(me, p)
    dealt = me.greeting_secrets
    _own(me, masking.public_key(dealt.s[0]), vault.keys[0])
    # 1. shares of all seeds to everybody, a share of the own ones kept
    for other in me.others:
        me.send(other, dealing.shares_for_holder(dealt, p.parties.index(other)))
    held = await disputes.receive_shares(me, p, dealt)
    held, trees = await disputes.settle_complaints(me, p, greetings, vault.roster, dealt, held)
    secrets = tuple(Secrets(dealt.b[r], dealt.s[r], tuple(of_dealer[r] for of_dealer in held)) for r in range(p.R))
    return replace(vault, secrets=secrets, trees=trees)


async def curator(me: Endpoint, p: Parameters) -> CuratorState:
    """Run Charlie: return what the parties committed to, when all of them are ready."""
    greetings, vault = await _greeted(me, p)
    said = [greetings[name].message for name in p.parties]
    # A holder waits one deadline for a silent dealer before it is ready, and accuses it.
    every = await me.gather(p.parties, Ready, deadlines=disputes.READY if p.may_accuse_silence else None)
    for name, ready in zip(p.parties, every, strict=True):
        if ready.roster != vault.roster:  # the party that greeted twice is at fault, and that need not be this one
            me.stop("greetings.not_alike", party=name)
    if p.D:
        await disputes.mediate_complaints(me, p, greetings, vault.roster, every)
    else:
        me.broadcast(p.parties, Start(vault.roster, ()))
    # With D = 0 no seed is ever opened, so none is committed to.
    commitments = tuple(tuple(own.commitments[r] for own in said) for r in range(p.R if p.D else 0))
    return CuratorState(vault, commitments, tuple(own.leaves for own in said))


async def _greeted(me: Endpoint, p: Parameters) -> tuple[Mapping[str, Greeted[MaskKeys]], Vault]:
    """Return all greetings, or none: a party that some do not see would have its masks with the others alone (step
    0).
    """
    greetings = await me.greetings(MaskKeys)
    return greetings, _vault(me, p, greetings, masking.agreeing)


async def _paired(me: Endpoint, p: Parameters) -> Vault:
    """Return the common values of a party with each other one, by one agreement (step 0). No greeting is kept."""
    greetings, secret = await me.greetings(MaskKeys), me.greeting_secrets
    keys = roster.mask_keys(p, greetings)[0]
    pairs = masking.closed_pairs(secret, me.index, keys)
    vault = _vault(me, p, greetings, dict(zip(keys, pairs.agreed, strict=True)).get)
    _own(me, masking.closed_key(secret), keys)
    return replace(vault, keys=(), secrets=pairs)


def _vault(
    me: Endpoint, p: Parameters, greetings: Mapping[str, Greeted[MaskKeys]], agreeing: Callable[[bytes], bytes | None]
) -> Vault:
    """Return the vault of greetings whose mask keys can all be used."""
    roster.check_mask_keys(me, p, greetings, agreeing)
    return Vault(
        roster.greetings_digest(p, greetings), roster.first_query(me.session_id), roster.mask_keys(p, greetings)
    )


def _own(me: Endpoint, key: bytes, posted: Sequence[bytes]) -> None:
    if key != posted[me.index]:  # an older one, and the digest of all is not fresh
        me.stop("greeting.not_the_own")
