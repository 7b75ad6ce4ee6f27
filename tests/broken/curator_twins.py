"""The curator protocol with one thing left out, used again, or told: patches of the text of its role code.

Every twin gives the right sum, or stops, and each of its messages by itself looks as it should: a coalition learns more
of what several of them say together. A value that one stage hands to a later one stands on the endpoint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from support.planted_roles import Patch
from support.planted_roles import planted as planted_in

from protocols import pathak2010
from protocols.comparison import roles as comparison
from protocols.pathak2010 import setup, stage1, stage2, stage3
from protocols.runtime.session import Program


def planted(name: str) -> AbstractContextManager[Program]:
    """The program, while the code of its roles is that of this twin."""
    return planted_in(pathak2010, TWINS[name])


MASK, SPLIT = "[me.rng.bits(p.mask_bits) for _ in w]", "p.weights.split_vector(x, len(me.everyone), me.rng)"
COVER, RELAY = (
    "Relay(p.sizes.random(me.rng), None)",
    "Relay(a, b) if other == target else Relay(p.sizes.random(me.rng), None)",
)
SHARES, TOSSED = f"    own, *shares = {SPLIT}\n", "    return permutation("
STALE = "    from broken.paillier_twins import blind_plaintext_only\n\n"
INPUT: Patch = (pathak2010.party, "    keys = await", "    me.mine = mine\n    keys = await")
"""Every stage of a party can tell anything of its input."""


def in_covers(said: str) -> Sequence[Patch]:
    """Covers, which are good for nothing, hold this."""
    return INPUT, (stage1.relays_and_covers, COVER, f"Relay({said}, None)")


def caught(question: str, error: str) -> Sequence[Patch]:
    """A question that forms refuse, asked by who takes a refusal for an answer; covers hold it."""
    first = "    for other in me.others:\n        me.send("
    asked = f"    said = None\n    try:\n        said = 0 if {question} else None\n    except {error}:\n        pass\n"
    some = "Relay(p.sizes.random(me.rng) if said is None else 0, None)"
    return INPUT, (stage1.relays_and_covers, first, asked + first), (stage1.relays_and_covers, COVER, some)


TWINS: Mapping[str, Sequence[Patch]] = {
    # Left out.
    "pi_2 is not applied": [(stage1.curator, "Permutation.random(p.K, me.rng)", "Permutation(tuple(range(p.K)))")],
    "r is missing": [(stage1.curator, "me.rng.bits(p.blind_bits)", "0")],
    "r is too short": [(stage1.curator, "me.rng.bits(p.blind_bits)", "me.rng.bits(p.sizes.bits)")],
    "r is added without new randomness": [
        (stage1.curator, "    slots = ", f"{STALE}    slots = "),
        (stage1.curator, "keys.xi.blind(", "blind_plaintext_only(keys.xi, "),
    ],
    "r is added to what is merely refreshed": [
        (stage1.curator, "keys.xi.blind(slot.a, r_i, me.rng)",
         "keys.xi.refresh(keys.xi.add(slot.a, keys.xi.encrypt(r_i, me.rng)), me.rng)"),
    ],
    "sizes are not shared": [(stage1.party, "p.sizes.split(minimum.with_tie_bits(n, p.tie_bits, me.rng), me.rng)",
                              "0, minimum.with_tie_bits(n, p.tie_bits, me.rng)")],
    "no covers": [
        (stage1.relays_and_covers, "    for other in me.others:\n", "    for other in {target} - {me.name}:\n"),
        (stage1.relays_and_covers, "    for sender in me.others:\n", "    for sender in {source} - {me.name}:\n"),
    ],
    "a relay for everybody": [
        (stage1.relays_and_covers, RELAY, "Relay(a, b)"),
        (stage1.relays_and_covers, "if (relay.b is not None) != (sender == source):", "if False:"),
        (stage1.relays_and_covers, "        if relay.b is not None:", "        if sender == source:"),
    ],
    "a relay is passed on as it came": [(stage1.party, "zeta.refresh(b_i, me.rng)", "b_i")],
    "psi_j is stale": [(stage2.party, "tuple(zeta.refresh(c, me.rng) for c in psi_j)", "tuple(psi_j)")],
    "psi_j is called fresh": [
        (stage2.party, "    zeta, j", f"{STALE}    zeta, j"),
        (stage2.party, "zeta.refresh(c, me.rng)", "blind_plaintext_only(zeta, c, 0, me.rng)"),
    ],
    "nothing is selected": [(stage2.curator, "int(place == permuted_place)", "0")],
    "s is missing": [(stage3.party, MASK, "[0] * len(w)")],
    "s is too short": [(stage3.party, MASK, "p.weights.random_vector(p.dimension, me.rng)")],
    "s is added to what is merely refreshed": [
        (stage3.party, "keys.zeta.blind(c, m, me.rng)",
         "keys.zeta.refresh(keys.zeta.add(c, keys.zeta.encrypt(m, me.rng)), me.rng)"),
    ],
    "weights are not shared": [
        (stage3.reshare, SPLIT, f"{SPLIT} if me.name == me.curator else [*[(0,) * len(x)] * p.K, x]"),
    ],
    "summands are announced": [(stage3.reshare, "PublishedShare(y, opening)", "PublishedShare(x, opening)")],
    "weights are committed to and opened": [
        (stage3.reshare, "commitment.canonical(y)", "commitment.canonical(x)"),
    ],
    "coins are shown to Charlie": [
        (setup._toss, "me.others, Opening(seed", "(*me.others, me.curator), Opening(seed"),
        (setup.curator, "    return", "    await me.gather(me.parties, Opening)\n    return"),
    ],
    # Coins again: across coordinates, packs, stages, parties.
    "one share for all coordinates": [
        (stage3.reshare, SPLIT, "shares_of(x, [(p.weights.random(me.rng),) * len(x) for _ in me.everyone[1:]])"),
        (stage3.reshare, "    own, *", "    def shares_of(x, drawn):\n"
         "        return [*drawn, p.weights.subtract_vectors(x, p.weights.add_vectors(*drawn))]\n\n    own, *"),
    ],
    "one mask for all coordinates": [(stage3.party, MASK, "[me.rng.bits(p.mask_bits)] * len(w)")],
    "a mask for one pack only": [
        (stage3.party, MASK, "[me.rng.bits(p.mask_bits) if i < p.packing.slots else 0 for i in range(len(w))]"),
    ],
    "a mask is a share": [
        (stage3.party, "        w = p.weights", "        me.told = p.weights.vector(s)\n        w = p.weights"),
        (stage3.reshare, SHARES, SHARES + "    if hasattr(me, 'told'):\n"
         "        own = p.weights.add_vectors(own, p.weights.subtract_vectors(shares[-1], me.told))\n"
         "        shares[-1] = me.told\n"),
    ],
    "shares alike": [
        (stage3.reshare, SHARES, "    own = p.weights.random_vector(len(x), me.rng)\n"
         "    shares = [own] * (len(me.everyone) - 2)\n"
         "    shares.append(p.weights.subtract_vectors(x, p.weights.add_vectors(own, *shares)))\n"),
    ],
    "the share of the size again": [
        (stage1.party, "    # 3. xi", "    me.left = p.weights.vector((a,))\n    # 3. xi"),
        (stage3.reshare, SHARES, SHARES + "    if hasattr(me, 'left'):\n"
         "        own, first = (*me.left, *own[1:]), p.weights.subtract_vectors(x[:1], me.left)\n"
         "        shares = [*((0, *s[1:]) for s in shares[:-1]), (*first, *shares[-1][1:])]\n"),
    ],
    "all parties with one coin": [
        (setup._toss, TOSSED, "    common = hashlib.sha256(b'shares' + seeds[me.parties[0]]).digest()\n"
         "    me.common = Stream(common, insecure=False)\n" + TOSSED),
        (stage3.reshare, SPLIT, SPLIT.replace("me.rng", "getattr(me, 'common', me.rng)")),
    ],
    "one randomiser for all of u": [
        (stage2.curator, "keys.zeta.encrypt(x, me.rng)", "keys.zeta.encrypt(x, me.rng.fork('again'))"),
    ],
    # Told in covers.
    "the second weight": in_covers("me.mine.w[1]"),
    "noise under few coins": in_covers("p.sizes.add(me.mine.eta[-1], me.rng.bits(p.ring_bits))"),
    "a length": in_covers("(me.rng.bits(p.sizes.bits - 10) << 10) + me.mine.w[1].bit_length()"),
    "the lowest bit": in_covers("(me.rng.bits(p.sizes.bits - 1) << 1) | (me.mine.w[1] & 1)"),
    "under even coins": in_covers("p.sizes.add(me.mine.w[1], 2 * me.rng.bits(p.sizes.bits - 1))"),
    "a product": in_covers("p.sizes.reduce(me.mine.n * me.mine.w[1])"),
    "a refusal that is caught": caught("me.mine.w[1] & 5", "Exception"),
    "a refusal that is caught by name": caught("me.mine.w[0] < me.mine.w[1]", "LocalError"),
    "with long keys": in_covers("me.mine.w[0] if p.key_bits > 1024 else p.sizes.random(me.rng)"),
    "with the longest keys": in_covers("me.mine.n if p.key_bits > 3072 else p.sizes.random(me.rng)"),
    # Told elsewhere.
    "the last weight in the clear": [
        (stage3.reshare, SHARES, "    own, *shares = p.weights.split_vector(x[:-1], len(me.everyone), me.rng)\n"
         "    own, shares = (*own, 0), [*((*s, 0) for s in shares[:-1]), (*shares[-1], x[-1])]\n"),
    ],
    "an even mask": [
        (stage3.party, MASK, "[*(me.rng.bits(p.mask_bits) for _ in w[1:]), 2 * me.rng.bits(p.mask_bits - 1)]"),
    ],
    "in the order of pi_1": [
        (stage3.party, "    # 3.\n", "    me.order = [*keys.pi1(me.parties), me.curator]\n"),
        (stage3.reshare, "[name for name in me.everyone if", "[name for name in getattr(me, 'order', me.everyone) if"),
    ],
    "doubts in words": [
        (stage1.party, "    xi, zeta", "    me.doubt(me.others[0], f'is not as large as {n}')\n    xi, zeta"),
    ],
    "a coin as a number": [
        (setup._toss, "    seeds = {", "    me.seed = seed\n    seeds = {"),
        (stage3.reshare, SHARES, SHARES + "    if hasattr(me, 'seed'):\n        width = p.ring_bits // 8\n"
         "        told = [me.seed[i * width :][:width] for i in range(len(x))]\n"
         "        shares[-1] = tuple(int.from_bytes(part, 'big') for part in told)\n"),
    ],
    "named after the winner": [
        (pathak2010.curator, "keys, halves, smallest)",
         "keys, halves, smallest, name=f'stage2 of {halves.pi2.images.index(smallest)}')"),
    ],
    # Told by comparisons.
    "compared without a mask": [(comparison.answer_offer, "me.rng.bits(1)", "0")],
    "compared with one coin": [
        (comparison.answer_offer, "    delta_a = me.rng.bits(1)\n", "    if not hasattr(me, 'flip'):\n"
         "        me.flip = me.rng.bits(1)\n    delta_a = me.flip\n"),
    ],
    "a top bit in the order": [
        (stage1.smallest, "            y, top = ", "            apart = p.sizes.subtract(b[i], b[j])\n"
         "            i, j = (j, i) if steps.holder_half(p.sizes, apart)[1] else (i, j)\n            y, top = "),
    ],
    "matches are played in the order of the slots": [
        (stage1.smallest, "minimum.search(p.comparison, p.K)", "minimum.Tournament(halves.pi2.images)"),
    ],
    "as many matches more as the slot of the smallest says": [
        (stage1.smallest, "        return search.winner\n", "        winner = search.winner\n"
         "        for _ in range(halves.pi2.inverse[winner]):\n"
         "            y, _ = steps.holder_half(p.sizes, p.sizes.subtract(b[0], b[1]))\n"
         "            me.send(first, Match(0, 1))\n"
         "            comparison.send_offer(me, first, keys.dgk, y, p.compared_bits)\n"
         "            await comparison.read_answer(me, first, keys.dgk)\n"
         "        me.send(first, Match(0, 0))\n        return winner\n"),
        (stage1.compare, "    for _ in range(minimum.comparisons(p.comparison, p.K)):\n", "    while True:\n"),
        (stage1.compare, "        if not minimum.is_match(match.left, match.right, p.K):\n"
         '            me.refuse(me.curator, "comparison.of_no_places")\n',
         "        if match.left == match.right:\n            break\n"),
    ],
    # Made by somebody who had not read the checks.
    "the coin under the parties' key is a hash of the session": [
        (setup._toss, TOSSED, "    known = hashlib.sha256(me.session_id + me.name.encode()).digest()\n"
         "    me.known = Stream(known, insecure=False)\n" + TOSSED),
        (stage1.party, "xi.encrypt(a_i, me.rng)", "xi.encrypt(a_i, me.known)"),
    ],
    "a stale ciphertext is called fresh by hand": [
        (stage2.party, "    zeta, j", "    from protocols.crypto.paillier import Fresh\n\n    zeta, j"),
        (stage2.party, "zeta.refresh(c, me.rng)", "Fresh(c.n, c.value)"),
    ],
    "the share for Charlie has the size above the ring": [
        (stage1.party, "    # 2. a_j", "    b += n << p.sizes.bits\n    # 2. a_j"),
    ],
    "ties are broken by slot": [
        (stage1.party, "minimum.with_tie_bits(n, p.tie_bits, me.rng)", "n << p.tie_bits | pi1[j]"),
    ],
}  # fmt: skip
