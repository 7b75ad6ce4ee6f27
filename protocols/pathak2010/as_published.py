"""Steps of the paper exactly as published, leaks included: for audits and demonstrations, never for data.

The fault of each step stands beside it. Where the paper leaves a choice open (the range of a random integer, who sends
the parties' products to whom) the plainest reading is taken. Set-up, comparison and resharing are those of the hardened
protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from protocols.arithmetic import modular
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.ring import Ring, Vector
from protocols.arithmetic.rng import Stream
from protocols.comparison.messages import Bits, ComparisonKey, Differences
from protocols.crypto import dgk, paillier
from protocols.crypto.paillier import Ciphertext
from protocols.curator import parties_and_curator
from protocols.pathak2010 import ideal, noisy_sum_claims, setup, stage1, stage2, stage3
from protocols.pathak2010.messages import (
    XI,
    ZETA,
    Blinded,
    Commitment,
    Half,
    Indicator,
    Match,
    Opening,
    PaillierKey,
    PublishedShare,
    Ready,
    Reshare,
    SharedKey,
)
from protocols.pathak2010.noisy_sum import SIZE_BITS
from protocols.pathak2010.parameters import SIGMA, Parameters
from protocols.pathak2010.values import RECORDS, Announced, CuratorKeys, Halves, PartyKeys
from protocols.runtime.claims import Hygiene, Inputs, Mask, Model, Unknown
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import CURATOR, PARTY, Message, Times, encrypted, message, public, shared
from protocols.runtime.session import Program


@dataclass(frozen=True, repr=False)
class PrintedInput:
    """Party's size, weights in Z_M^d, and noise eta_j of the mean as signed integers."""

    n: int
    w: Vector
    eta: Vector


@message("1.2", PARTY >> PARTY, as_published=True)
class PrintedShare(Message):
    """a_j, straight to the party to which pi_1 leads: an observer of the addressee sees that much of pi_1."""

    a: Annotated[int, shared("sizes")]


@message("1.2", PARTY >> CURATOR, as_published=True)
class PrintedCuratorShare(Message):
    """b_j "with the index changed according to the permutation": sender and index together are pi_1."""

    index: Annotated[int, public("index")]
    b: Annotated[int, shared("sizes")]


@message("1.3", PARTY >> CURATOR, as_published=True)
class PrintedSlot(Message):
    """xi(pi_1(a)_i)."""

    a: Annotated[Ciphertext, encrypted(XI)]


@message("1.4", CURATOR >> PARTY, as_published=True)
class PlainlyBlinded(Message):
    """xi(pi_2(pi_1(a) + r)_i) with r multiplied in as the plaintext 1 + r n: the randomiser is the one that came."""

    a: Annotated[Ciphertext, encrypted(XI)]


@message("2.4", PARTY >> PARTY, as_published=True)
class PrintedSelected(Message):
    """Ciphertext psi_j of each coordinate, deterministic in zeta(v_j) and eta_j: a reader finds eta_j by trying."""

    psi: Annotated[tuple[Ciphertext, ...], encrypted(ZETA), Times("dimension")]


@message("3.1", PARTY >> CURATOR, as_published=True)
class PrintedMasked(Message):
    """psi(i) zeta(s(i))."""

    psi: Annotated[tuple[Ciphertext, ...], encrypted(ZETA), Times("dimension")]


async def stage1_party(me: Endpoint, p: Parameters, keys: PartyKeys, n: int) -> None:
    """Carry out steps 1.1 to 1.6 for P_j."""
    await find_smallest(me, p, keys, n, Blinded)


async def plain_stage1_party(me: Endpoint, p: Parameters, keys: PartyKeys, n: int) -> None:
    """Carry out steps 1.1 to 1.6 for P_j, where r comes as a plaintext."""
    await find_smallest(me, p, keys, n, PlainlyBlinded)


async def find_smallest(
    me: Endpoint, p: Parameters, keys: PartyKeys, n: int, kind: type[Blinded] | type[PlainlyBlinded]
) -> None:
    """Carry out steps 1.1 to 1.6 for P_j, who receives this kind of message in step 1.5."""
    # 1. integers with a_j + b_j = n_j: a_j <= n_j says something of n_j; ties are not broken at random
    a, b = split_integer(n, me.rng)
    # 2. the edge j -> pi1(j) shows on the wire, and Charlie reads pi1(j) off the message of P_j
    target, source = me.parties[keys.pi1[me.index]], me.parties[keys.pi1.inverse[me.index]]
    if target != me.name:
        me.send(target, PrintedShare(a))
    me.send(me.curator, PrintedCuratorShare(keys.pi1[me.index], b))
    share = PrintedShare(a) if source == me.name else await me.receive(source, PrintedShare)
    # 3.
    me.send(me.curator, PrintedSlot(keys.xi.encrypt(share.a, me.rng)))
    # 5.
    blinded = await me.receive(me.curator, kind)
    a_tilde = signed(p.sizes, keys.xi, blinded.a)
    # 6.
    if me.index:
        me.send(me.parties[0], Half(a_tilde))
    else:
        halves = [a_tilde, *(half.a_tilde for half in await me.gather(me.others, Half))]
        await stage1.compare(me, p, keys, halves)


async def stage1_curator(me: Endpoint, p: Parameters, keys: CuratorKeys) -> Halves:
    """Carry out steps 1.2 to 1.5 for Charlie."""
    return await blind_and_permute(me, p, lambda c, r: Blinded(keys.xi.blind(c, r, me.rng)))


async def plain_stage1_curator(me: Endpoint, p: Parameters, keys: CuratorKeys) -> Halves:
    """Carry out steps 1.2 to 1.5 for Charlie, who multiplies r in as a plaintext."""
    return await blind_and_permute(me, p, lambda c, r: PlainlyBlinded(plain_product(keys.xi, c, r)))


async def blind_and_permute(me: Endpoint, p: Parameters, blind: Callable[[Ciphertext, int], Message]) -> Halves:
    """Carry out steps 1.2 to 1.5 for Charlie, who multiplies r in by `blind`."""
    b = shares_in_order(me, await me.gather(me.parties, PrintedCuratorShare))
    slots = await me.gather(me.parties, PrintedSlot)
    # 4. r is an integer of either sign, as long as a size: it hides a only in part
    r = [signed_integer(SIZE_BITS, me.rng) for _ in slots]
    pi2 = Permutation.random(p.K, me.rng)
    a = pi2([blind(slot.a, r_i) for slot, r_i in zip(slots, r, strict=True)])
    b_tilde = pi2([p.sizes.subtract(b_i, r_i) for b_i, r_i in zip(b, r, strict=True)])
    for party_i, a_i in zip(me.parties, a, strict=True):
        me.send(party_i, a_i)
    return Halves(tuple(b_tilde), pi2)


async def stage2_party(me: Endpoint, p: Parameters, keys: PartyKeys, eta: Vector) -> tuple[Ciphertext, ...]:
    """Carry out steps 2.2 to 2.4 for P_j."""
    # 2.
    v = keys.pi1.inverse((await me.receive(me.curator, Indicator)).u)
    # 3. zeta(v_j)^eta_j(i), without new randomness
    psi_j = [scale_signed(keys.zeta, v[me.index], x) for x in eta]
    # 4. "all parties now compute" psi, so each psi_j goes to all of them
    me.broadcast(me.others, PrintedSelected(tuple(psi_j)))
    others = await me.gather(me.others, PrintedSelected)
    return tuple(keys.zeta.add(*column) for column in zip(psi_j, *(o.psi for o in others), strict=True))


async def stage3_party(
    me: Endpoint, p: Parameters, keys: PartyKeys, w: Vector, psi: tuple[Ciphertext, ...]
) -> Announced:
    """Carry out steps 3.1 to 3.3 for P_j."""
    if me.index == 0:
        # 1. P_1 computes w_1 - K s
        s = p.weights.random_vector(p.dimension, me.rng)
        masked = [keys.zeta.blind(c, s_i, me.rng) for c, s_i in zip(psi, s, strict=True)]
        me.send(me.curator, PrintedMasked(tuple(masked)))
        w = p.weights.subtract_vectors(w, times(p.weights, p.K, s))
    # 3.
    return await stage3.reshare(me, p, w)


async def stage3_curator(me: Endpoint, p: Parameters, keys: CuratorKeys) -> Announced:
    """Carry out steps 3.2 and 3.3 for Charlie."""
    # 2. K (eta + s): on integers the published sum then shows the sum of the weights mod K, without noise
    masked = await me.receive(me.parties[0], PrintedMasked)
    x = [signed(p.weights, keys.zeta, c) for c in masked.psi]
    return await stage3.reshare(me, p, times(p.weights, p.K, p.weights.vector(x)))


async def party(me: Endpoint, p: Parameters, mine: PrintedInput) -> Announced:
    """Run P_j as published."""
    return await _party(me, p, mine, stage1_party)


async def plain_party(me: Endpoint, p: Parameters, mine: PrintedInput) -> Announced:
    """Run P_j as published, where r comes as a plaintext."""
    return await _party(me, p, mine, plain_stage1_party)


async def _party(
    me: Endpoint, p: Parameters, mine: PrintedInput, first: Callable[..., Coroutine[Any, Any, None]]
) -> Announced:
    p.check_length(mine.w, mine.eta)
    keys = await me.stage(setup.party, p)
    await me.stage(first, p, keys, mine.n, name="stage1")
    psi = await me.stage(stage2_party, p, keys, mine.eta, name="stage2")
    return await me.stage(stage3_party, p, keys, mine.w, psi, name="stage3")


async def curator(me: Endpoint, p: Parameters) -> Announced:
    """Run Charlie as published."""
    return await _curator(me, p, stage1_curator)


async def plain_curator(me: Endpoint, p: Parameters) -> Announced:
    """Run Charlie as published, who multiplies r in as a plaintext."""
    return await _curator(me, p, plain_stage1_curator)


async def _curator(me: Endpoint, p: Parameters, first: Callable[..., Coroutine[Any, Any, Halves]]) -> Announced:
    keys = await me.stage(setup.curator, p)
    halves = await me.stage(first, p, keys, name="stage1")
    smallest = await me.stage(stage1.smallest, p, keys, halves)
    await me.stage(stage2.curator, p, keys, halves, smallest)
    return await me.stage(stage3_curator, p, keys, name="stage3")


def split_integer(n: int, rng: Stream) -> tuple[int, int]:
    """Return (a, b) with a + b = n and a uniform on 0 ... n."""
    a = rng.below(n + 1)
    return a, n - a


def signed_integer(bits: int, rng: Stream) -> int:
    """Return an integer uniform on (-2**bits, 2**bits)."""
    return rng.below((2 << bits) - 1) - ((1 << bits) - 1)


def signed(ring: Ring, key: paillier.PrivateKey, c: Ciphertext) -> int:
    """Return the plaintext as an integer of (-n/2, n/2), in the ring."""
    m = key.decrypt(c)
    return ring.reduce(m - key.public.n if 2 * m > key.public.n else m)


def plain_product(key: paillier.PublicKey, c: Ciphertext, r: int) -> Ciphertext:
    """Return c (1 + r n): a ciphertext of D(c) + r with the randomiser of c."""
    return Ciphertext(key.n, modular.multiply(c.value, 1 + r % key.n * key.n, key.n_square))


def scale_signed(key: paillier.PublicKey, c: Ciphertext, factor: int) -> Ciphertext:
    """Return c**factor, for a factor of either sign."""
    return Ciphertext(key.n, modular.power(c.value, factor, key.n_square))


def times(ring: Ring, factor: int, x: Vector) -> Vector:
    """Return the vector factor * x in the ring."""
    return ring.vector([factor * x_i for x_i in x])


def shares_in_order(me: Endpoint, shares: list[PrintedCuratorShare]) -> list[int]:
    """Return the b of P_1 ... P_K in the order of their indices; refuse an index out of range or used before."""
    places: dict[int, int] = {}
    for sender, share in zip(me.parties, shares, strict=True):
        if share.index >= len(shares) or share.index in places:
            me.refuse(sender, "share.index_unusable", index=share.index)
        places[share.index] = share.b
    return [places[i] for i in range(len(shares))]


def inputs_as_published(p: Parameters, unknown: Unknown) -> dict[str, tuple[Any, ...]]:
    """Return the unknowns of the hardened protocol in the records of this one."""
    hardened = noisy_sum_claims.inputs(p, unknown)
    return {
        name: (p, *(PrintedInput(mine.n, mine.w, mine.eta) for mine in rest)) for name, (_, *rest) in hardened.items()
    }


def hygiene_masks(p: Parameters) -> tuple[Mask, ...]:
    """Return the masks and how little they hide: integers as long as the secrets themselves."""
    return (
        *(Mask(place, SIZE_BITS, SIZE_BITS, p.K) for place in ("PrintedShare.a", "PrintedCuratorShare.b")),
        Mask("Blinded.a", SIZE_BITS + 1, SIZE_BITS, p.K),
        Mask("PrintedMasked.psi", p.ring_bits, p.ring_bits, p.dimension),
        Mask("Reshare.x", p.ring_bits),
    )


def agrees_as_published(p: Parameters, inputs: Inputs, published: Mapping[str, PublishedShare]) -> bool:
    """Tell whether the shares add up to all w_j and K eta of a party with the smallest size."""
    mine = [inputs[party][1] for party in p.parties]
    w = p.weights.add_vectors(*(x.w for x in mine))
    noise = [times(p.weights, p.K, x.eta) for x in mine if x.n == min(y.n for y in mine)]
    return noisy_sum_claims.published_sum(p, published) in [p.weights.add_vectors(w, eta) for eta in noise]


MODEL = Model(
    ideal.dry_run_parameters,
    inputs_as_published,
    ideal.MODEL.permutations,
    ideal.MODEL.compared,
    ideal.MODEL.sample,
    ideal.MODEL.outcomes,
    hygiene=Hygiene(
        SIGMA,
        hygiene_masks,
        ("Indicator", "PrintedSelected"),
        lambda p: (p.sizes.bits, 0),
        agrees_as_published,
        lambda p: p.ring_bits,
    ),
    variants=ideal.variants,
)

PROGRAM = Program(
    "pathak2010-as-printed-insecure",
    2,
    {PARTY: party, CURATOR: curator},
    (
        *(PaillierKey, ComparisonKey, SharedKey, Commitment, Opening),
        *(PrintedShare, PrintedCuratorShare, PrintedSlot, Blinded, Half, Match, Bits, Differences),
        *(Indicator, PrintedSelected, PrintedMasked, Reshare, Ready, PublishedShare),
    ),
    (
        *(*RECORDS, PrintedInput, Permutation),
        *(paillier.PublicKey, paillier.PrivateKey, paillier.Ciphertext, dgk.DgkPublicKey, dgk.DgkPrivateKey),
    ),
    Parameters,
    participants=parties_and_curator,
    broken_commitment=stage3.broken_commitment,
)

PLAIN_BLINDING = replace(
    PROGRAM,
    name="pathak2010-as-printed-plain-blinding-insecure",
    roles={PARTY: plain_party, CURATOR: plain_curator},
    kinds=tuple(PlainlyBlinded if kind is Blinded else kind for kind in PROGRAM.kinds),
)
"""Other reading of step 1.4, in which r is no new encryption but a plaintext factor [N4]."""
