"""Twins of the curator protocol, made without a look at the checks: the release is right, and a secret is told.

One of them, `SAYS_WHY`, ends without a release instead. Each says who learns what; the attacks that prove it are in
tests/protocols/pathak2010/test_strangers_twins.py. Stages keep their names, and messages their kinds. What the types
forbade on the way, and what was done instead:

* byte strings have one length, and integers one width: nothing can be told by a length;
* a width is in whole bytes, though, and a ring need not be: `SPARE_BITS` writes above it, `ABOVE_THE_RING` above it in
  a plaintext;
* a stale ciphertext is refused: `RELABELLED` calls the class by hand, `ONE_COIN_FOR_PACKS`, `ONE_COIN_FOR_SLOTS` and
  `KNOWN_COIN` encrypt with coins that are no coins, and the types cannot see it;
* a match has two different places below K, so Charlie tells by their order (`MATCHES_BY_SLOT`) or by how many there are
  (`CONFIRMATIONS`, where P_1 has to play along), and not in spare bytes of the numbers;
* a published share has to open its commitment, and all shares to add up: `PUBLISHED_WEIGHTS` keeps both rules.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from protocols.arithmetic import modular
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.comparison import roles as comparison
from protocols.comparison import steps
from protocols.comparison.messages import Bits, ComparisonKey, Differences
from protocols.crypto import commitment, paillier
from protocols.crypto.dgk import BitCiphertext, DgkPublicKey, FreshBit
from protocols.crypto.paillier import Ciphertext, Fresh
from protocols.pathak2010 import PROGRAM, minimum, setup, stage1, stage2, stage3
from protocols.pathak2010.messages import (
    XI,
    ZETA,
    Blinded,
    Half,
    Indicator,
    Masked,
    Match,
    PaillierKey,
    PublishedShare,
    Ready,
    Relay,
    Reshare,
    Selected,
    SharedKey,
    Slot,
)
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import Announced, CuratorKeys, Halves, PartyInput, PartyKeys
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import CURATOR, PARTY
from protocols.runtime.session import Program

Part = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class Twin:
    """A program that tells the coalition `who` of a session of three parties `what` it should not learn."""

    name: str
    program: Program
    who: tuple[str, ...]
    what: str


@dataclass(frozen=True)
class Parts:
    """The stages of the honest program; a twin has others in some places."""

    keys: Part = setup.party
    sizes: Part = stage1.party
    noise: Part = stage2.party
    shares: Part = stage3.party
    blinding: Part = stage1.curator
    search: Part = stage1.smallest
    indicator: Part = stage2.curator
    own_share: Part = stage3.curator


def program(**twins: Part) -> Program:
    """The program with these stages in the place of the honest ones, under the names of the honest ones."""
    parts = Parts(**twins)

    async def party(me: Endpoint, p: Parameters, mine: PartyInput) -> Announced:
        p.check_length(mine.w, mine.eta)
        keys = await me.stage(_called("party", parts.keys), p, name="setup")
        kept = await me.stage(_called("party", parts.sizes), p, keys, mine.n, name="stage1")
        psi = await me.stage(_called("party", parts.noise), p, keys, mine.eta, name="stage2")
        kept = () if kept is None else (kept,)
        return await me.stage(_called("party", parts.shares), p, keys, mine.w, psi, *kept, name="stage3")

    async def curator(me: Endpoint, p: Parameters) -> Announced:
        keys = await me.stage(setup.curator, p)
        halves = await me.stage(_called("curator", parts.blinding), p, keys, name="stage1")
        smallest = await me.stage(_called("smallest", parts.search), p, keys, halves, name="stage1")
        await me.stage(_called("curator", parts.indicator), p, keys, halves, smallest, name="stage2")
        return await me.stage(_called("curator", parts.own_share), p, keys, name="stage3")

    return replace(PROGRAM, roles={PARTY: party, CURATOR: curator})


def _called(name: str, role: Part) -> Any:
    async def part(*args: Any) -> Any:
        return await role(*args)

    part.__name__ = name
    return part


# The honest stages once more, with the places at which the twins differ as arguments.


def _split(me: Endpoint, p: Parameters, keys: PartyKeys, n: int) -> tuple[int, int]:
    return p.sizes.split(minimum.with_tie_bits(n, p.tie_bits, me.rng), me.rng)


def _cover(me: Endpoint, p: Parameters, n: int) -> int:
    return p.sizes.random(me.rng)


def _slot(me: Endpoint, keys: PartyKeys, a: int, b: Ciphertext) -> Slot:
    return Slot(keys.xi.encrypt(a, me.rng), keys.zeta.refresh(b, me.rng))


def _sizes(
    split: Callable[[Endpoint, Parameters, PartyKeys, int], tuple[int, int]] = _split,
    cover: Callable[[Endpoint, Parameters, int], int] = _cover,
    slot: Callable[[Endpoint, PartyKeys, int, Ciphertext], Slot] = _slot,
    half: Callable[[Parameters, int, int], int] = lambda p, n, a_tilde: a_tilde,
    compare: Part = stage1.compare,
    kept: Callable[[int], Any] = lambda b: None,
) -> Part:
    async def party(me: Endpoint, p: Parameters, keys: PartyKeys, n: int) -> Any:
        a, b = split(me, p, keys, n)
        target, source = me.parties[keys.pi1[me.index]], me.parties[keys.pi1.inverse[me.index]]
        locked: Ciphertext = keys.zeta.encrypt(b, me.rng)
        for other in me.others:
            me.send(other, Relay(a, locked) if other == target else Relay(cover(me, p, n), None))
        relays = dict(zip(me.others, await me.gather(me.others, Relay), strict=True))
        a_i, b_i = (a, locked) if source == me.name else (relays[source].a, relays[source].b)
        assert b_i is not None
        me.send(me.curator, slot(me, keys, a_i, b_i))
        blinded = await me.receive(me.curator, Blinded)
        a_tilde = p.sizes.reduce(keys.xi.decrypt(blinded.a))
        if me.index:
            me.send(me.parties[0], Half(half(p, n, a_tilde)))
        else:
            await compare(me, p, keys, [a_tilde, *(h.a_tilde for h in await me.gather(me.others, Half))])
        return kept(b)

    return party


def _blinds(me: Endpoint, p: Parameters) -> list[int]:
    return [me.rng.bits(p.blind_bits) for _ in range(p.K)]


def _blinding(
    blinds: Callable[[Endpoint, Parameters], list[int]] = _blinds,
    order: Callable[[Permutation], Sequence[int]] = lambda pi2: range(len(pi2.images)),
) -> Part:
    async def curator(me: Endpoint, p: Parameters, keys: CuratorKeys) -> Halves:
        slots = await me.gather(me.parties, Slot)
        r, pi2 = blinds(me, p), Permutation.random(p.K, me.rng)
        a = pi2([keys.xi.blind(slot.a, r_i, me.rng) for slot, r_i in zip(slots, r, strict=True)])
        b = keys.zeta.decrypt_all([slot.b for slot in slots])
        for place in order(pi2):
            me.send(me.parties[place], Blinded(a[place]))
        return Halves(tuple(pi2([p.sizes.subtract(b_i, r_i) for b_i, r_i in zip(b, r, strict=True)])), pi2)

    return curator


Answer = Callable[[Endpoint, Parameters, PartyKeys, int, int, Sequence[BitCiphertext], int], Differences]


def _answer(
    me: Endpoint, p: Parameters, keys: PartyKeys, k: int, x: int, y: Sequence[BitCiphertext], flip: int
) -> Differences:
    assert keys.dgk is not None
    key, delta_a = keys.dgk, me.rng.bits(1)
    c = [key.blind(c_i, 1 + me.rng.below(key.u - 1), me.rng) for c_i in _terms(key, x, y, delta_a)]
    return Differences(tuple(Permutation.random(len(c), me.rng)(c)), steps.xor(delta_a, flip))


def _comparing(answer: Answer) -> Part:
    async def compare(me: Endpoint, p: Parameters, keys: PartyKeys, a: list[int]) -> None:
        for k in range(minimum.comparisons(p.comparison, p.K)):
            match = await me.receive(me.curator, Match)
            x, flip = steps.chooser_half(p.sizes, p.sizes.subtract(a[match.left], a[match.right]))
            me.send(me.curator, answer(me, p, keys, k, x, (await me.receive(me.curator, Bits)).y, flip))

    return compare


def _terms(key: DgkPublicKey, x: int, y: Sequence[BitCiphertext], delta_a: int) -> list[BitCiphertext]:
    """The c_i before they are blinded and shuffled, highest bit first, that for equality last."""
    above, c = key.constant(0), []
    for x_i, y_i in reversed(list(zip(steps.bits(x, len(y)), y, strict=True))):
        c.append(key.add(key.constant(1 - 2 * delta_a + x_i), key.negate(y_i), above, above, above))
        above = key.add(above, key.add(key.constant(1), key.negate(y_i)) if x_i else y_i)
    return [*c, key.add(key.constant(delta_a), above)]


Split = Callable[[Endpoint, Parameters, Vector], Sequence[Vector]]


def _uniform(me: Endpoint, p: Parameters, x: Vector) -> Sequence[Vector]:
    return p.weights.split_vector(x, len(me.everyone), me.rng)


def _opening(me: Endpoint, x: Vector) -> bytes:
    return me.rng.bytes(commitment.OPENING_BYTES)


def _resharing(split: Split = _uniform, opening: Callable[[Endpoint, Vector], bytes] = _opening) -> Part:
    async def reshare(me: Endpoint, p: Parameters, x: Vector) -> Announced:
        own, *shares = split(me, p, x)
        others = [name for name in me.everyone if name != me.name]
        for other, share in zip(others, shares, strict=True):
            me.send(other, Reshare(share))
        got = await me.gather(others, Reshare)
        return await _published(me, p.weights.add_vectors(own, *(m.x for m in got)), opening(me, x))

    return reshare


async def _published(me: Endpoint, y: Vector, opening: bytes) -> Announced:
    others = [name for name in me.everyone if name != me.name]
    committed = commitment.made(stage3._context(me.session_id, me.name), commitment.canonical(y), opening)
    me.broadcast(others, Ready(committed))
    announced = [ready.commitment for ready in await me.gather(others, Ready)]
    me.publish(PublishedShare(y, opening))
    announced.insert(me.everyone.index(me.name), committed)
    return Announced(y, tuple(announced))


Mask = Callable[..., list[int]]


def _mask(me: Endpoint, p: Parameters) -> list[int]:
    return [me.rng.bits(p.mask_bits) for _ in range(p.dimension)]


def _shares(mask: Mask = _mask, reshare: Part = stage3.reshare) -> Part:
    async def party(
        me: Endpoint, p: Parameters, keys: PartyKeys, w: Vector, psi: tuple[Ciphertext, ...] | None, *kept: Any
    ) -> Any:
        if psi is not None:
            s = mask(me, p, *kept)
            packed = p.packing.pack(s)
            me.send(me.curator, Masked(tuple(keys.zeta.blind(c, m, me.rng) for c, m in zip(psi, packed, strict=True))))
            w = p.weights.subtract_vectors(w, p.weights.vector(s))
        return await reshare(me, p, w)

    return party


def _selecting(renewed: Callable[[Endpoint, paillier.PublicKey, Ciphertext], Fresh]) -> Part:
    async def party(me: Endpoint, p: Parameters, keys: PartyKeys, eta: Vector) -> tuple[Ciphertext, ...] | None:
        v = keys.pi1.inverse((await me.receive(me.curator, Indicator)).u)
        psi_j = keys.zeta.scale(v[me.index], p.packing.pack(eta))
        if me.index:
            me.send(me.parties[0], Selected(tuple(renewed(me, keys.zeta, c) for c in psi_j)))
            return None
        others = await me.gather(me.others, Selected)
        return tuple(keys.zeta.add(*column) for column in zip(psi_j, *(other.psi for other in others), strict=True))

    return party


# Coins that are used again.


def _one_mask(me: Endpoint, p: Parameters) -> list[int]:
    return [me.rng.bits(p.mask_bits)] * p.dimension


ONE_MASK = Twin(
    "one mask for all coordinates", program(shares=_shares(_one_mask)), ("charlie",), "differences of the chosen noise"
)
"""Charlie subtracts two coordinates of eta + s, for P_1 drew one s for all of them."""


def _one_blind(me: Endpoint, p: Parameters) -> list[int]:
    return [me.rng.bits(p.blind_bits)] * p.K


ONE_BLIND = Twin(
    "one blind for all parties", program(blinding=_blinding(_one_blind)), ("P1",), "which of two parties is smaller"
)
"""P_1 finds the difference of two a that it knows among those of the a~, so pi_2; the matches say the rest."""


def _one_coin(me: Endpoint, zeta: paillier.PublicKey, c: Ciphertext) -> Fresh:
    return zeta.refresh(c, me.rng.fork("psi"))


ONE_COIN_FOR_PACKS = Twin(
    "one coin for all packs", program(noise=_selecting(_one_coin)), ("P1",), "differences of the noise of P2"
)
"""P_1 divides one pack of P_2's noise by the next: the coin falls out, and v_j**(eta_0 - eta_1) is found by trying."""


async def _indicator(me: Endpoint, p: Parameters, keys: CuratorKeys, halves: Halves, smallest: int) -> None:
    u = halves.pi2.inverse([int(place == smallest) for place in range(p.K)])
    me.broadcast(me.parties, Indicator(tuple(keys.zeta.encrypt(bit, me.rng.fork("u")) for bit in u)))


ONE_COIN_FOR_SLOTS = Twin(
    "one coin for all slots of the indicator", program(indicator=_indicator), ("P3",), "who is the smallest"
)
"""Any party sees that all slots of the indicator are the same ciphertext but one, and knows pi_1."""


def _expanded(p: Parameters, b: int) -> list[int]:
    coins = Stream(hashlib.sha256(b.to_bytes(32, "big")).digest(), insecure=False)
    return [coins.bits(p.mask_bits) for _ in range(p.dimension)]


def _mask_of_share(me: Endpoint, p: Parameters, b: int) -> list[int]:
    return _expanded(p, b)


MASK_OF_STAGE_1 = Twin(
    "the mask is expanded from the share b of stage 1",
    program(sizes=_sizes(kept=lambda b: b), shares=_shares(_mask_of_share)),
    ("charlie",),
    "the chosen noise",
)
"""Charlie opened every b in stage 1, one of them P_1's: he takes the mask that it expands to off eta + s."""


def _same_share(me: Endpoint, p: Parameters, x: Vector) -> Sequence[Vector]:
    share = p.weights.random_vector(len(x), me.rng)
    others = [share] * (len(me.everyone) - 1)
    return [p.weights.subtract_vectors(x, p.weights.add_vectors(*others)), *others]


async def _own_same_share(me: Endpoint, p: Parameters, keys: CuratorKeys) -> Announced:
    masked = await me.receive(me.parties[0], Masked)
    x = p.weights.vector(p.packing.unpack(keys.zeta.decrypt_all(masked.psi)))
    reshared: Announced = await _resharing(_same_share)(me, p, x)
    return reshared


SAME_SHARE_TO_ALL = Twin(
    "one share for all others",
    program(shares=_shares(reshare=_resharing(_same_share)), own_share=_own_same_share),
    ("P3",),
    "the weights of P2",
)
"""P_3 has the one share that everybody sends, takes them off what P_2 published, and has what P_2 kept, so all of w."""


# Coins that the reader knows.


def _of_the_parties(me: Endpoint, keys: PartyKeys) -> Stream:
    return Stream(hashlib.sha256(f"{keys.xi.p} {me.name}".encode()).digest(), insecure=False)


async def _shares_of_key(
    me: Endpoint, p: Parameters, keys: PartyKeys, w: Vector, psi: tuple[Ciphertext, ...] | None
) -> Any:
    def split(me: Endpoint, p: Parameters, x: Vector) -> Sequence[Vector]:
        return p.weights.split_vector(x, len(me.everyone), _of_the_parties(me, keys))

    return await _shares(reshare=_resharing(split))(me, p, keys, w, psi)


SHARES_OF_THE_KEY = Twin(
    "the coins of the last sharing follow from the parties' key",
    program(shares=_shares_of_key),
    ("charlie", "P1"),
    "the weights of P2",
)
"""P_1 makes P_2's random shares again from the key that all parties have; Charlie has the share that closes the sum."""


def _session_coin(me: Endpoint) -> Stream:
    return Stream(hashlib.sha256(me.session_id + me.name.encode()).digest(), insecure=False)


def _known_slot(me: Endpoint, keys: PartyKeys, a: int, b: Ciphertext) -> Slot:
    return Slot(keys.xi.encrypt(a, _session_coin(me)), keys.zeta.refresh(b, me.rng))


KNOWN_COIN = Twin(
    "the coin under the parties' key is a hash of the session",
    program(sizes=_sizes(slot=_known_slot)),
    ("charlie",),
    "all sizes",
)
"""Charlie divides a slot by an encryption of zero that he makes with the same coin: what is left is 1 + a n."""


async def _close_primes(me: Endpoint, p: Parameters) -> PartyKeys:
    if me.index:
        return await setup.party(me, p)
    xi = me.once("xi", lambda rng: _close(p.key_bits, rng))
    me.send(me.curator, setup._announce(me, xi))
    zeta = setup._admitted(me, me.curator, await me.receive(me.curator, PaillierKey), p)
    me.broadcast(me.others, SharedKey(xi.p, xi.q))
    compare = comparison.admit_key(me, me.curator, await me.receive(me.curator, ComparisonKey), p.key_bits, p.u)
    me.admit(XI, xi.public)
    me.admit(ZETA, zeta)
    return PartyKeys(xi, zeta, await setup._toss(me, p, xi.public, zeta), compare)


def _close(bits: int, rng: Stream) -> paillier.PrivateKey:
    first = modular.random_prime(bits // 2, rng, residue=3, modulus=4)
    second = first
    while True:
        second = modular.next_prime(second)
        try:
            return paillier.assemble(first, second, bits)
        except ValueError:
            continue


CLOSE_PRIMES = Twin("the parties' key has close primes", program(keys=_close_primes), ("charlie",), "all sizes")
"""Charlie factors the parties' modulus by Fermat's method and opens every slot, for P_1 took the next prime for q."""


# Subliminal channels in fields that are uniform otherwise.


def _marked_cover(me: Endpoint, p: Parameters, n: int) -> int:
    while (cover := p.sizes.random(me.rng)) % 16 != n % 16:
        pass
    return cover


MARKED_COVERS = Twin(
    "covers are drawn until they end like the size",
    program(sizes=_sizes(cover=_marked_cover)),
    ("P2", "P3"),
    "the size of P1 mod 16",
)
"""Whoever gets a cover from P_1 reads four bits of its size in it, and one of P_2 and P_3 always gets one."""


def _telling_coin(
    me: Endpoint, p: Parameters, keys: PartyKeys, k: int, x: int, y: Sequence[BitCiphertext], flip: int
) -> Differences:
    assert keys.dgk is not None
    delta_a = (keys.pi1[0] >> k) % 2 ^ flip
    return Differences(steps.blinded_differences(keys.dgk, x, y, delta_a, me.rng), steps.xor(delta_a, flip))


TELLING_COIN = Twin(
    "the coins of the comparisons spell where P_1 stands",
    program(sizes=_sizes(compare=_comparing(_telling_coin))),
    ("charlie",),
    "pi_1 of P_1",
)
"""Charlie reads pi_1(1), a bit for each comparison, in `Differences.delta`, whose coin P_1 does not toss."""


def _spare(p: Parameters, n: int, a_tilde: int) -> int:
    return a_tilde | n % 8 << p.sizes.bits


SPARE_BITS = Twin("a half has its size in the spare bits", program(sizes=_sizes(half=_spare)), ("P1",), "n of P2 mod 8")
"""P_1 reads three bits of each size above the 77 bits of a half: the field is 80 bits wide, and P_1 reduces anyway."""


def _above(me: Endpoint, p: Parameters, keys: PartyKeys, n: int) -> tuple[int, int]:
    a, b = _split(me, p, keys, n)
    return a, b + (n << p.sizes.bits)


ABOVE_THE_RING = Twin(
    "the share for Charlie has the size above the ring", program(sizes=_sizes(_above)), ("charlie",), "all sizes"
)
"""Charlie opens b + 2**L' n and reads n before he reduces: a plaintext holds more than an element of the ring."""


def _hashed(me: Endpoint, x: Vector) -> bytes:
    return hashlib.sha256(commitment.canonical(x)).digest()


HASHED_OPENING = Twin(
    "the opening is a hash of the weights",
    program(shares=_shares(reshare=_resharing(opening=_hashed))),
    ("P3",),
    "the weights of P2, by trying",
)
"""Everybody reads openings, and tries weights until their hash is that of P_2."""


async def _rushing(me: Endpoint, p: Parameters, x: Vector) -> Announced:
    if me.index != 1:
        return await stage3.reshare(me, p, x)
    others = [name for name in me.everyone if name != me.name]
    got = await me.gather(others, Reshare)
    own = p.weights.subtract_vectors(x, p.weights.add_vectors(*(m.x for m in got)))
    shares = p.weights.split_vector(p.weights.subtract_vectors(x, own), len(others), me.rng)
    for other, share in zip(others, shares, strict=True):
        me.send(other, Reshare(share))
    return await _published(me, x, me.rng.bytes(commitment.OPENING_BYTES))


PUBLISHED_WEIGHTS = Twin(
    "P_2 waits for all shares and publishes its weights",
    program(shares=_shares(reshare=_rushing)),
    ("P3",),
    "the weights of P2",
)
"""Everybody reads w in P_2's published share: it sent its shares last, and kept what makes its share of the sum w."""


# Laws that are not uniform.


def _multiples(me: Endpoint, p: Parameters, x: Vector) -> Sequence[Vector]:
    factors = p.weights.random_vector(len(me.everyone) - 1, me.rng)
    shares = [p.weights.vector([k * x_i for x_i in x]) for k in factors]
    return [p.weights.subtract_vectors(x, p.weights.add_vectors(*shares)), *shares]


MULTIPLES = Twin(
    "shares are random multiples of the weights",
    program(shares=_shares(reshare=_resharing(_multiples))),
    ("P3",),
    "the quotient of two weights of P2",
)
"""P_3 has k w for one random k: the quotient of two coordinates is that of the weights, and a zero stays a zero."""


def _narrow(me: Endpoint, p: Parameters) -> list[int]:
    return [me.rng.bits(p.ring_bits) for _ in range(p.dimension)]


NARROW_MASK = Twin(
    "a mask as wide as the ring", program(shares=_shares(_narrow)), ("charlie",), "the signs of the chosen noise"
)
"""Charlie sees eta + s before he reduces it: it reaches 2**ring_bits where eta is negative, and nowhere else."""


def _third(me: Endpoint, p: Parameters, keys: PartyKeys, n: int) -> tuple[int, int]:
    a, b = _split(me, p, keys, n)
    return (0, p.sizes.add(a, b)) if me.index >= 2 else (a, b)


THIRD_PARTY = Twin("from the third party on nothing is shared", program(sizes=_sizes(_third)), ("charlie",), "n of P3")
"""Charlie opens b = n for P_3, whose a is zero; two parties alone would never see it."""


def _by_slot(me: Endpoint, p: Parameters, keys: PartyKeys, n: int) -> tuple[int, int]:
    return p.sizes.split(n << p.tie_bits | keys.pi1[me.index], me.rng)


TIES_BY_SLOT = Twin(
    "ties are broken by slot", program(sizes=_sizes(_by_slot)), ("charlie",), "whether all sizes are equal"
)
"""Charlie sees the first slot win whenever all sizes are equal."""


def _second_bare(me: Endpoint, p: Parameters, x: Vector) -> Sequence[Vector]:
    own, *shares = p.weights.split_vector(x, len(me.everyone), me.rng)
    bare = x[1:]
    nothing = (0,) * len(bare)
    return [own[:1] + nothing, shares[0][:1] + bare, *(share[:1] + nothing for share in shares[1:])]


SECOND_COORDINATE = Twin(
    "only the first coordinate is shared",
    program(shares=_shares(reshare=_resharing(_second_bare))),
    ("P1",),
    "the second weight of P2",
)
"""P_1 gets all coordinates of P_2's weights but the first as they are, and the others get zeros there."""


def _none_for_long_keys(me: Endpoint, p: Parameters) -> list[int]:
    return _mask(me, p) if p.key_bits <= 512 else [0] * p.dimension


LONG_KEYS = Twin(
    "no mask with keys of more than 512 bits", program(shares=_shares(_none_for_long_keys)), ("charlie",), "the noise"
)
"""Charlie opens the chosen noise itself, but not with the keys that tests have."""


# The comparisons.


def _last_bare(
    me: Endpoint, p: Parameters, keys: PartyKeys, k: int, x: int, y: Sequence[BitCiphertext], flip: int
) -> Differences:
    assert keys.dgk is not None
    key, delta_a = keys.dgk, me.rng.bits(1)
    last = k == minimum.comparisons(p.comparison, p.K) - 1
    c = [key.blind(c_i, 1 if last else 1 + me.rng.below(key.u - 1), me.rng) for c_i in _terms(key, x, y, delta_a)]
    return Differences(tuple(Permutation.random(len(c), me.rng)(c)), steps.xor(delta_a, flip))


LAST_COMPARISON = Twin(
    "the last comparison is not blinded",
    program(sizes=_sizes(compare=_comparing(_last_bare))),
    ("charlie",),
    "by how much two sizes differ",
)
"""Charlie reads the c_i of the last comparison: sorted, they spell P_1's half bit by bit, so the difference itself."""


def _turned(
    me: Endpoint, p: Parameters, keys: PartyKeys, k: int, x: int, y: Sequence[BitCiphertext], flip: int
) -> Differences:
    assert keys.dgk is not None
    key, delta_a = keys.dgk, me.rng.bits(1)
    c: list[FreshBit] = [key.blind(c_i, 1 + me.rng.below(key.u - 1), me.rng) for c_i in _terms(key, x, y, delta_a)]
    turn = p.K
    return Differences((*c[turn:], *c[:turn]), steps.xor(delta_a, flip))


TURNED = Twin(
    "the differences are turned by K places instead of shuffled",
    program(sizes=_sizes(compare=_comparing(_turned))),
    ("charlie",),
    "a bound on how much two sizes differ",
)
"""Charlie sees at which bit the zero stands: the values compared agree above it, so the sizes differ by no more."""


async def _matches_by_slot(me: Endpoint, p: Parameters, keys: CuratorKeys, halves: Halves) -> int:
    return await _played(me, p, keys, halves, minimum.Tournament(halves.pi2.images))


SENT_IN_ORDER = Twin(
    "blinded halves are sent in the order of the slots",
    program(blinding=_blinding(order=lambda pi2: pi2.images)),
    ("P1",),
    "which of two parties is smaller, with the wire record",
)
"""P_1 reads pi_2 in the wire record, or on a network that it watches: whom Charlie serves first has what slot 0 had."""


async def _played(
    me: Endpoint, p: Parameters, keys: CuratorKeys, halves: Halves, search: minimum.Tournament | minimum.AllPairs
) -> int:
    while not search.found:
        wins = [await _match(me, p, keys, halves, i, j) for i, j in search.pairs]
        search = search.after(wins)
    return search.winner


async def _match(me: Endpoint, p: Parameters, keys: CuratorKeys, halves: Halves, i: int, j: int) -> int:
    first, b = me.parties[0], halves.b_tilde
    y, top = steps.holder_half(p.sizes, p.sizes.subtract(b[i], b[j]))
    me.send(first, Match(i, j))
    comparison.send_offer(me, first, keys.dgk, y, p.compared_bits)
    return steps.is_negative(await comparison.read_answer(me, first, keys.dgk), top)


MATCHES_BY_SLOT = Twin(
    "matches are played in the order of the slots",
    program(search=_matches_by_slot),
    ("P1",),
    "which of two parties is smaller",
)
"""P_1 knows that slots 0 and 1 meet first, and sees which of them goes on: pi_2 hides nothing."""


async def _confirmed(me: Endpoint, p: Parameters, keys: CuratorKeys, halves: Halves) -> int:
    winner = await _played(me, p, keys, halves, minimum.search(p.comparison, p.K))
    for _ in range(halves.pi2.inverse[winner]):
        await _match(me, p, keys, halves, 0, 1)
    me.send(me.parties[0], Match(0, 0))
    return winner


async def _until_told(me: Endpoint, p: Parameters, keys: PartyKeys, a: list[int]) -> None:
    assert keys.dgk is not None
    while (match := await me.receive(me.curator, Match)).left != match.right:
        x, flip = steps.chooser_half(p.sizes, p.sizes.subtract(a[match.left], a[match.right]))
        await comparison.answer_offer(me, me.curator, keys.dgk, x, flip)


CONFIRMATIONS = Twin(
    "as many matches more as the slot of the smallest says",
    program(sizes=_sizes(compare=_until_told), search=_confirmed),
    ("P1",),
    "who is the smallest",
)
"""P_1 counts matches: Charlie repeats the first one as often as the slot of the smallest says, and P_1 knows pi_1."""


SHORT_BITS = 8  # of the coins that hide y; 2.5 t are due


async def _short_coins(me: Endpoint, p: Parameters, keys: CuratorKeys, halves: Halves) -> int:
    first, b, key = me.parties[0], halves.b_tilde, keys.dgk.public
    search = minimum.search(p.comparison, p.K)
    while not search.found:
        wins = []
        for i, j in search.pairs:
            y, top = steps.holder_half(p.sizes, p.sizes.subtract(b[i], b[j]))
            coins = [modular.power(key.h, me.rng.bits(SHORT_BITS), key.n) for _ in range(p.compared_bits)]
            hidden = [
                key.add(key.constant(bit), BitCiphertext(key.n, coin))
                for bit, coin in zip(steps.bits(y, p.compared_bits), coins, strict=True)
            ]
            me.send(first, Match(i, j))
            me.send(first, Bits(tuple(FreshBit(c.n, c.value) for c in hidden)))
            wins.append(steps.is_negative(await comparison.read_answer(me, first, keys.dgk), top))
        search = search.after(wins)
    return search.winner


SHORT_COINS = Twin(
    "the coins of the bits of y are short", program(search=_short_coins), ("P1",), "by how much two sizes differ"
)
"""P_1 tries all powers of h up to 2**8, reads Charlie's half of a difference and adds its own."""


# What the types would have refused, and a loud end.


def _relabelled(me: Endpoint, zeta: paillier.PublicKey, c: Ciphertext) -> Fresh:
    return Fresh(c.n, c.value)


RELABELLED = Twin(
    "a stale ciphertext is called fresh by hand", program(noise=_selecting(_relabelled)), ("P1",), "the noise of P2"
)
"""P_1 raises the indicator to every small number until it has P_2's psi."""


async def _says_why(me: Endpoint, p: Parameters, keys: PartyKeys, n: int) -> None:
    if n < 10:
        me.stop("records.too_few", n=n)
    await stage1.party(me, p, keys, n)


SAYS_WHY = Twin(
    "whoever has few records says how many and stops", program(sizes=_says_why), ("P1",), "that P2 has few records"
)
"""P_1 is left waiting for P_2, which nobody is who has ten records; and whoever reads P_2's log has the size itself."""


COPIED = program(
    sizes=_sizes(compare=_comparing(_answer)),
    noise=_selecting(lambda me, zeta, c: zeta.refresh(c, me.rng)),
    shares=_shares(reshare=_resharing()),
    blinding=_blinding(),
)
"""The stages as they are copied here, with nothing broken: the same bytes as the honest program."""

TWINS: tuple[Twin, ...] = (
    *(ONE_MASK, ONE_BLIND, ONE_COIN_FOR_PACKS, ONE_COIN_FOR_SLOTS, MASK_OF_STAGE_1, SAME_SHARE_TO_ALL),
    *(SHARES_OF_THE_KEY, KNOWN_COIN, CLOSE_PRIMES),
    *(MARKED_COVERS, TELLING_COIN, SPARE_BITS, ABOVE_THE_RING, HASHED_OPENING, PUBLISHED_WEIGHTS),
    *(MULTIPLES, NARROW_MASK, THIRD_PARTY, TIES_BY_SLOT, SECOND_COORDINATE, LONG_KEYS),
    *(LAST_COMPARISON, TURNED, MATCHES_BY_SLOT, SENT_IN_ORDER, CONFIRMATIONS, SHORT_COINS),
    *(RELABELLED, SAYS_WHY),
)
