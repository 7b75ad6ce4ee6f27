"""Stages 0 and 1 in a sparse graph: neighbours follow from everybody's coin, and shares come through Charlie.

Each party commits to a coin in its greeting, and opens it when everybody has greeted. The order of the circle is a
function of the root over all greetings and coins: a party sees that its own are under it, and that all coins are as
they were committed to is for Charlie to see. So what a party does and reads depends on its neighbours alone. What
passes through Charlie is encrypted and authenticated under what two neighbours agree on by keys that are used for
nothing else, and that nobody has when set-up is over. Where nobody may drop out there are no shares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from protocols.crypto import masking
from protocols.runtime.endpoint import Endpoint, Greeted
from protocols.secure_sum import dealing, graph, roster
from protocols.secure_sum.messages import Circle, Coin, Handed, MaskKeys, Passed
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import CuratorState, Held, Secrets, Vault

_Greetings = Mapping[str, Greeted[MaskKeys]]


async def party(me: Endpoint, p: Parameters) -> Vault:
    """Run P_j: return its neighbours, and its shares of their seeds, when everybody has dealt."""
    dealt = me.greeting_secrets
    own = await _greeted(me, masking.public_key(dealt.s[0]))
    root, near = await _seated(me, p, own, dealt.coin)
    greetings = await me.greetings(MaskKeys, tuple(p.parties[i] for i in near))
    roster.check_mask_keys(me, p, greetings)
    held = await _held(me, p, root, near, greetings, dealt)
    secrets = tuple(Secrets(dealt.b[r], dealt.s[r], tuple(of_dealer[r] for of_dealer in held)) for r in range(p.R))
    trees = tuple(dealing.share_tree(i, graph.share_number(p.degree, at), held[at]) for at, i in enumerate(near))
    keys = tuple(tuple(greetings[p.parties[i]].message.keys[r] for i in near) for r in range(p.R))
    return Vault(root, roster.first_query(me.session_id), keys, secrets, trees, near=near)


async def curator(me: Endpoint, p: Parameters) -> CuratorState:
    """Run Charlie: return what the parties committed to, and the neighbours of each, when all of them have dealt."""
    greetings = await me.greetings(MaskKeys)
    roster.check_mask_keys(me, p, greetings)
    said = [greetings[name].message for name in p.parties]
    root = await _drawn(me, p, greetings)
    near = graph.all_neighbours(p.degree, graph.draw_order(me.session_id, root, p.K))
    dealt = [message.shares for message in await me.gather(p.parties, Handed)]
    for name, beside in zip(p.parties, near, strict=True):
        me.send(name, Passed(dealing.shares_passed_on(p, beside, dealt)))
    vault = Vault(root, roster.first_query(me.session_id), roster.mask_keys(p, greetings))
    commitments = tuple(tuple(own.commitments[r] for own in said) for r in range(p.R))
    return CuratorState(vault, commitments, tuple(own.leaves for own in said), near=near)


async def closed_party(me: Endpoint, p: Parameters) -> Vault:
    """Run P_j where nobody may drop out: return its neighbours, and its common values with them, when everybody has
    shown its coin.
    """
    seat = me.greeting_secrets
    own = await _greeted(me, masking.closed_key(seat.secret))
    root, near = await _seated(me, p, own, seat.coin)
    greetings = await me.greetings(MaskKeys, tuple(p.parties[i] for i in near))
    keys = [*(greetings[p.parties[i]].message.keys[0] for i in near), own.message.keys[0]]
    pairs = masking.closed_pairs(seat.secret, me.index, keys)  # the last is with itself, to see that nobody has its key
    roster.check_mask_keys(me, p, {**greetings, me.name: own}, dict(zip(keys, pairs.agreed, strict=True)).get)
    return Vault(root, roster.first_query(me.session_id), (), pairs, near=near)


async def closed_curator(me: Endpoint, p: Parameters) -> CuratorState:
    """Run Charlie where nobody may drop out: return the root, when everybody has shown its coin."""
    greetings = await me.greetings(MaskKeys)
    roster.check_mask_keys(me, p, greetings)
    root = await _drawn(me, p, greetings)
    return CuratorState(Vault(root, roster.first_query(me.session_id), roster.mask_keys(p, greetings)), (), ())


async def _greeted(me: Endpoint, key: bytes) -> Greeted[MaskKeys]:
    """Return what is posted as my greeting; stop unless it has this mask key."""
    own = (await me.greetings(MaskKeys, (me.name,)))[me.name]
    if key != own.message.keys[0]:  # an older one, whose coin is known
        me.stop("greeting.not_the_own")
    return own


async def _seated(me: Endpoint, p: Parameters, own: Greeted[MaskKeys], coin: bytes) -> tuple[bytes, tuple[int, ...]]:
    """Return the root over all greetings and coins, mine among them, and my neighbours (step 1)."""
    me.send(me.curator, Coin(coin))
    got = await me.receive(me.curator, Circle)
    if dealing.climb_path(graph.greeting_leaf(me.index, own.digest, coin), me.index, got.path) != got.root:
        me.refuse(me.curator, "circle.without_a_greeting")
    order = graph.draw_order(me.session_id, got.root, p.K)
    return got.root, graph.neighbours(p.degree, order, order.index(me.index))


async def _drawn(me: Endpoint, p: Parameters, greetings: _Greetings) -> bytes:
    """Return the root over all greetings and coins, checked against their commitments, and send everybody its path
    (step 1).
    """
    opened = [message.coin for message in await me.gather(p.parties, Coin)]
    for i, name in enumerate(p.parties):
        *_, committed = greetings[name].message.commitments
        if dealing.coin_commitment(i, opened[i]) != committed:
            me.refuse(name, "coin.not_as_committed")
    leaves = [graph.greeting_leaf(i, greetings[name].digest, opened[i]) for i, name in enumerate(p.parties)]
    tree = dealing.merkle_tree(leaves)
    root = dealing.merkle_root(tree)
    for i, name in enumerate(p.parties):
        me.send(name, Circle(root, dealing.merkle_path(tree, i)))
    return root


async def _held(
    me: Endpoint, p: Parameters, root: bytes, near: Sequence[int], greetings: _Greetings, dealt: dealing.Seeds
) -> tuple[tuple[Held, ...], ...]:
    """Send every neighbour its shares, and return those that I hold, as greeted with (step 1)."""
    context = roster.shares_context(me.session_id, root)
    agreed = {i: masking.agree(dealt.box, greetings[p.parties[i]].message.keys[p.R]) for i in near}
    me.send(me.curator, Handed(dealing.encrypt_shares(context, me.index, agreed, dealt)))
    got = await me.receive(me.curator, Passed)
    found = []
    for at, i in enumerate(near):
        held = dealing.decrypt_shares(context, i, me.index, agreed[i], got.shares[at])
        if held is None:  # Charlie can have altered them, or the dealer can have covered them otherwise
            me.stop("shares.altered", dealer=p.parties[i])
        slot = graph.share_number(p.degree, at)
        if dealing.merkle_root(dealing.share_tree(i, slot, held)) != greetings[p.parties[i]].message.leaves[slot]:
            me.refuse(p.parties[i], "shares.not_as_committed")
        found.append(held)
    return tuple(found)
