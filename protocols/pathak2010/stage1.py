"""Stage 1. Finding the index of the smallest database obfuscated by permutation."""

from __future__ import annotations

from protocols.arithmetic.permutation import Permutation
from protocols.comparison import roles as comparison
from protocols.comparison import steps
from protocols.crypto.paillier import Ciphertext, Fresh
from protocols.errors import LocalError
from protocols.pathak2010 import minimum
from protocols.pathak2010.messages import Blinded, Half, Match, Relay, Slot
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import CuratorKeys, Halves, PartyKeys
from protocols.runtime.endpoint import Endpoint


async def party(me: Endpoint, p: Parameters, keys: PartyKeys, n: int) -> None:
    """Run P_j with n records. Learns nothing: every size it sees is masked, and the result goes to Charlie alone."""
    xi, zeta, pi1, j = keys.xi, keys.zeta, keys.pi1, me.index
    # 1. n_j = a_j + b_j, the shares uniform in Z_(2**L') and n_j followed by random tie bits [N2]
    a, b = p.sizes.split(minimum.with_tie_bits(n, p.tie_bits, me.rng), me.rng)
    # 2. a_j goes to P_pi1(j); so does b_j, locked, since Charlie would see the sender. All others get a cover [N1]
    a_i, b_i = await relays_and_covers(me, p, pi1, a, zeta.encrypt(b, me.rng))
    # 3. xi(pi1(a)) to Charlie, and with it pi1(b)
    me.send(me.curator, Slot(xi.encrypt(a_i, me.rng), zeta.refresh(b_i, me.rng)))
    # 5. this party's element of pi2(pi1(a) + r)
    blinded = await me.receive(me.curator, Blinded)
    a_tilde = p.sizes.reduce(xi.decrypt(blinded.a))
    # 6. compared by P_1, for all parties, against Charlie [N3]
    if j:
        me.send(me.parties[0], Half(a_tilde))
    else:
        halves = [a_tilde, *(half.a_tilde for half in await me.gather(me.others, Half))]
        await compare(me, p, keys, halves)


async def curator(me: Endpoint, p: Parameters, keys: CuratorKeys) -> Halves:
    """Run Charlie, who blinds and permutes both halves of all sizes; return b~ and pi2.

    Learns uniform shares b, and uniform b~ = pi2(b - r).
    """
    slots = await me.gather(me.parties, Slot)
    # 4. blind both halves with r, then permute both with pi2; fresh randomness, or the parties would link them [N4]
    r = [me.rng.bits(p.blind_bits) for _ in slots]
    pi2 = Permutation.random(p.K, me.rng)
    a = pi2([keys.xi.blind(slot.a, r_i, me.rng) for slot, r_i in zip(slots, r, strict=True)])
    # all b at once, for they are short [N11]
    b = keys.zeta.decrypt_batch([slot.b for slot in slots], p.sizes.bits, me.rng)
    b_tilde = pi2([p.sizes.subtract(b_i, r_i) for b_i, r_i in zip(b, r, strict=True)])
    for party_i, a_i in zip(me.parties, a, strict=True):
        me.send(party_i, Blinded(a_i))
    return Halves(tuple(b_tilde), pi2)


async def smallest(me: Endpoint, p: Parameters, keys: CuratorKeys, halves: Halves) -> int:
    """Run Charlie's side of step 6: the place j~ of the smallest size behind both permutations."""
    first, b = me.parties[0], halves.b_tilde
    search = minimum.search(p.comparison, p.K)
    while not search.found:
        # 6. a~_i + b~_i < a~_j + b~_j for each pair of this level, by a two-party comparison with P_1
        tops = []
        for i, j in search.pairs:
            y, top = steps.holder_half(p.sizes, p.sizes.subtract(b[i], b[j]))
            me.send(first, Match(i, j))
            comparison.send_offer(me, first, keys.dgk, y, p.compared_bits)
            tops.append(top)
        answers = [await comparison.read_answer(me, first, keys.dgk) for _ in tops]
        search = search.after([steps.is_negative(answer, top) for answer, top in zip(answers, tops, strict=True)])
    try:
        return search.winner
    except ValueError:
        me.refuse(first, "comparison.answers_contradict")


async def compare(me: Endpoint, p: Parameters, keys: PartyKeys, a: list[int]) -> None:
    """Run P_1's side of step 6, with all blinded halves a~. Learns nothing: these and the matches are uniform."""
    if keys.dgk is None:
        raise LocalError("comparison.without_a_key", name=me.name)
    for _ in range(minimum.comparisons(p.comparison, p.K)):
        match = await me.receive(me.curator, Match)
        if not minimum.is_match(match.left, match.right, p.K):
            me.refuse(me.curator, "comparison.of_no_places")
        x, flip = steps.chooser_half(p.sizes, p.sizes.subtract(a[match.left], a[match.right]))
        await comparison.answer_offer(me, me.curator, keys.dgk, x, flip)


async def relays_and_covers(me: Endpoint, p: Parameters, pi1: Permutation, a: int, b: Fresh) -> tuple[int, Ciphertext]:
    """Exchange relays and covers; return the relay of P_pi1^-1(j) for this party."""
    target, source = me.parties[pi1[me.index]], me.parties[pi1.inverse[me.index]]
    for other in me.others:
        me.send(other, Relay(a, b) if other == target else Relay(p.sizes.random(me.rng), None))
    relayed: tuple[int, Ciphertext] = a, b
    for sender in me.others:
        relay = await me.receive(sender, Relay)
        if (relay.b is not None) != (sender == source):
            me.refuse(sender, "relay.not_as_due")
        if relay.b is not None:
            relayed = relay.a, relay.b
    return relayed
