"""Stages 0 and 1: everybody's mask keys and shares are there, and everybody saw the same greetings.

Nothing that depends on anybody's numbers leaves before `Start`, so a party that is missing until then is left out of a
new session, and nobody has paid. Where masked inputs are published there is nobody to say so to, and no `Start`.
"""

from __future__ import annotations

from collections.abc import Mapping

from protocols.crypto import masking
from protocols.runtime.endpoint import Endpoint, Greeted
from protocols.secure_sum import dealing, roster
from protocols.secure_sum.messages import MaskKeys, Ready, Shares, Start
from protocols.secure_sum.parameters import CURATOR, Parameters
from protocols.secure_sum.values import Book, Held, Secrets, Vault


async def party(me: Endpoint, p: Parameters) -> Vault:
    """P_j: its shares of all seeds if there are any, when everybody is ready."""
    greetings, vault = await _greeted(me, p)
    dealt = dealing.deal(p, me.greeting_rng)
    if masking.public_key(dealt.s[0]) != vault.keys[0][me.index]:  # an older one, and the digest of all is not fresh
        me.stop("what is posted as its greeting is not what it greeted with")
    if not p.D:
        if p.output == CURATOR:
            await _started(me, vault.roster)
        return _with(vault, tuple(Secrets(b"", dealt.s[0], ()) for _ in range(p.R)), ())
    # 1. shares of all seeds to everybody, a share of the own ones kept
    for other in me.others:
        me.send(other, dealing.shares_for(dealt, p.parties.index(other)))
    held = [await _held(me, name, greetings) if name != me.name else dealt.shares[me.index] for name in p.parties]
    await _started(me, vault.roster)
    secrets = tuple(Secrets(dealt.b[r], dealt.s[r], tuple(of_dealer[r] for of_dealer in held)) for r in range(p.R))
    return _with(vault, secrets, tuple(dealing.tree(i, me.index, shares) for i, shares in enumerate(held)))


async def curator(me: Endpoint, p: Parameters) -> Book:
    """Charlie: what the parties committed to, when all of them are ready."""
    greetings, vault = await _greeted(me, p)
    said = [greetings[name].message for name in p.parties]
    for name, ready in zip(p.parties, await me.gather(p.parties, Ready), strict=True):
        if ready.roster != vault.roster:  # whoever greeted twice is at fault, and that need not be this one
            me.stop(f"{name} saw other greetings")
    me.broadcast(p.parties, Start(vault.roster))
    commitments = tuple(tuple(own.commitments[r] for own in said) for r in range(p.R if p.D else 0))
    return Book(vault, commitments, tuple(own.leaves for own in said))


async def _greeted(me: Endpoint, p: Parameters) -> tuple[Mapping[str, Greeted[MaskKeys]], Vault]:
    """0. All greetings, or none: a party that some do not see would have its masks with the others alone."""
    greetings = await me.greetings(MaskKeys)
    if fault := roster.fault(p, greetings):
        culprit, why = fault
        if culprit is None:
            me.stop(why)
        me.refuse(culprit, why)
    return greetings, Vault(roster.digest(p, greetings), roster.first_query(me.session_id), roster.keys(p, greetings))


async def _started(me: Endpoint, roster: bytes) -> None:
    """1. Everybody is still there, and saw the same greetings."""
    me.send(me.curator, Ready(roster))
    if (await me.receive(me.curator, Start)).roster != roster:
        me.refuse(me.curator, "starts a sum among parties that greeted otherwise")


async def _held(me: Endpoint, dealer: str, greetings: Mapping[str, Greeted[MaskKeys]]) -> tuple[Held, ...]:
    """What this dealer gives me to hold, if it is what it greeted with."""
    got = await me.receive(dealer, Shares)
    held = tuple(Held(b, s) for b, s in zip(got.b, got.s, strict=True))
    leaves = dealing.tree(me.parties.index(dealer), me.index, held)
    if dealing.root(leaves) != greetings[dealer].message.leaves[me.index]:
        me.refuse(dealer, "deals other shares than it committed to")
    return held


def _with(vault: Vault, secrets: tuple[Secrets, ...], trees: tuple[tuple[bytes, ...], ...]) -> Vault:
    return Vault(vault.roster, vault.query, vault.keys, secrets, trees)
