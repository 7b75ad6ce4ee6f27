"""Stage 0: the keys xi and zeta, the comparison key, and pi_1. The paper assumes them."""

from __future__ import annotations

import hashlib

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.comparison import roles as comparison
from protocols.comparison.messages import DGK, ComparisonKey
from protocols.crypto import admission, commitment, dgk, paillier
from protocols.pathak2010.messages import XI, ZETA, Commitment, Opening, PaillierKey, SharedKey
from protocols.pathak2010.parameters import PERMUTATION_SEED_BYTES, Parameters
from protocols.pathak2010.values import CuratorKeys, PartyKeys
from protocols.runtime.endpoint import Endpoint


async def party(me: Endpoint, p: Parameters) -> PartyKeys:
    """Run P_j: its keys and pi_1. P_1 makes xi for all parties; Charlie makes zeta."""
    first = me.parties[0]
    # 1. Charlie's key zeta, and from P_1 the public part of xi to Charlie, each with its proof.
    if me.name == first:
        xi = me.once("xi", lambda rng: paillier.generate(p.key_bits, rng, p.exponents))
        me.send(me.curator, _announce(me, xi))
    zeta = _admitted(me, me.curator, await me.receive(me.curator, PaillierKey), p)
    # 2. xi with its secret key to every party; the comparison key to P_1.
    compare = None
    if me.name == first:
        me.broadcast(me.others, SharedKey(xi.p, xi.q))
        got = await me.receive(me.curator, ComparisonKey)
        compare = comparison.admit_key(me, me.curator, got, p.key_bits, p.u)
    else:
        xi = _assembled(me, first, await me.receive(first, SharedKey), p)
    me.admit(XI, xi.public)
    me.admit(ZETA, zeta)
    # 3. pi_1 by commit and open: uniform if one party is honest, unknown to Charlie.
    pi1 = await _toss(me, p, xi.public, zeta)
    return PartyKeys(xi, zeta, pi1, compare)


async def curator(me: Endpoint, p: Parameters) -> CuratorKeys:
    """Run Charlie: his keys."""
    first = me.parties[0]
    zeta = me.once("zeta", lambda rng: paillier.generate(p.key_bits, rng, p.exponents))
    # 1.
    me.broadcast(me.parties, _announce(me, zeta))
    xi = _admitted(me, first, await me.receive(first, PaillierKey), p)
    me.admit(XI, xi)
    me.admit(ZETA, zeta.public)
    # 2.
    compare = me.once("dgk", lambda rng: dgk.generate(p.key_bits, p.u, rng))
    me.send(first, ComparisonKey(compare.public.n, compare.public.g, compare.public.h))
    me.admit(DGK, compare.public)
    return CuratorKeys(xi, zeta, compare)


async def _toss(me: Endpoint, p: Parameters, xi: paillier.PublicKey, zeta: paillier.PublicKey) -> Permutation:
    # The commitments are to the keys as well, so parties who were shown different keys do not get any further.
    seed = me.rng.bytes(PERMUTATION_SEED_BYTES)
    committed, opening = commitment.commit(_context(me, me.name, xi, zeta), seed, me.rng)
    me.broadcast(me.others, Commitment(committed))
    commitments = await me.gather(me.others, Commitment)
    me.broadcast(me.others, Opening(seed, opening))
    seeds = {me.name: seed}
    for other, c in zip(me.others, commitments, strict=True):
        opened = await me.receive(other, Opening)
        if not commitment.opens(c.commitment, _context(me, other, xi, zeta), opened.seed, opened.opening):
            me.refuse(other, "coin.not_as_committed_or_other_keys")
        seeds[other] = opened.seed
    return permutation([seeds[name] for name in me.parties], p.K)


def permutation(seeds: list[bytes], size: int) -> Permutation:
    """Return pi_1 from the seeds of P_1 ... P_K."""
    key = hashlib.sha256(b"smc-dp pi_1" + b"".join(seeds)).digest()
    return Permutation.random(size, Stream(key, insecure=False))


def _announce(me: Endpoint, key: paillier.PrivateKey) -> PaillierKey:
    return PaillierKey(key.public.n, admission.prove(key, _context(me, me.name)))


def _admitted(me: Endpoint, holder: str, got: PaillierKey, p: Parameters) -> paillier.PublicKey:
    try:
        key = paillier.PublicKey(got.n, p.exponents)
    except ValueError as error:
        me.refuse(holder, "paillier_key.unusable", why=str(error))
    fault = admission.verify(key, p.key_bits, got.proof, _context(me, holder), me.rng)
    if fault:
        me.refuse(holder, fault.within("sent an unusable Paillier key"))
    return key


def _assembled(me: Endpoint, holder: str, got: SharedKey, p: Parameters) -> paillier.PrivateKey:
    try:
        return paillier.assemble(got.p, got.q, p.key_bits, p.exponents)
    except ValueError as error:
        me.refuse(holder, "shared_key.unusable", why=str(error))


def _context(me: Endpoint, holder: str, *keys: paillier.PublicKey) -> bytes:
    return me.session_id + holder.encode() + b"".join(key.digest for key in keys)
