"""Seeds of a session's sums: made with the greeting, dealt to all, opened one kind for each party.

Every party has a seed b and a secret mask key s for each sum. b is opened of who survived the sum, s of who did not,
never both. A holder's two shares hash to a leaf, the leaves of all sums to a root, and the roots stand in the dealer's
greeting: a share that is not the dealer's is dropped, and what is opened is held against the dealer's commitment.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from protocols.arithmetic import shamir
from protocols.arithmetic.rng import Stream
from protocols.crypto import masking
from protocols.errors import DecodeError
from protocols.secure_sum import graph
from protocols.secure_sum.messages import MaskKeys, Shares
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import Held, Tree

SEED_BYTES = masking.SECRET_BYTES
_INDEX_BYTES, _NUMBER_BYTES = 2, 4


@dataclass(frozen=True, repr=False)
class Seeds:
    """Seeds b and secret mask keys s of one party by sum, and the shares of both by holder and sum. In a sparse graph
    holders are counted by their places beside the party, and there are the secret of its key for shares, `box`, and its
    coin.
    """

    b: tuple[bytes, ...]
    s: tuple[bytes, ...]
    shares: tuple[tuple[Held, ...], ...]
    box: bytes = b""
    coin: bytes = b""


@dataclass(frozen=True, repr=False)
class ClosedSeat:
    """Secret mask key of a party in a sparse graph where nobody may drop out, and its coin, which it shows."""

    secret: masking.ClosedSecret
    coin: bytes


def deal_seeds(p: Parameters, rng: Stream) -> Seeds:
    """Draw the seeds of a party from the stream of its greeting, where some parties may drop out."""
    b = tuple(rng.bytes(SEED_BYTES) for _ in range(p.R))
    s = tuple(rng.bytes(SEED_BYTES) for _ in range(p.R))
    of_b = [shamir.deal(seed, p.T, p.holders, rng) for seed in b]
    of_s = [shamir.deal(seed, p.T, p.holders, rng) for seed in s]
    shares = tuple(tuple(Held(of_b[r][j], of_s[r][j]) for r in range(p.R)) for j in range(p.holders))
    if not p.degree:
        return Seeds(b, s, shares)
    return Seeds(b, s, shares, rng.bytes(SEED_BYTES), rng.bytes(SEED_BYTES))


def closed_secret(rng: Stream) -> masking.ClosedSecret:
    """Draw the one secret mask key of a party, which nobody ever opens, from the stream of its greeting (D = 0)."""
    return masking.ClosedSecret(rng.bytes(SEED_BYTES))


def draw_greeting_secrets(p: Parameters, rng: Stream) -> Seeds | ClosedSeat | masking.ClosedSecret:
    """Draw what stands behind a party's greeting, from the stream of it."""
    if p.D:
        return deal_seeds(p, rng)
    secret = closed_secret(rng)
    return ClosedSeat(secret, rng.bytes(SEED_BYTES)) if p.degree else secret


def make_greeting(p: Parameters, name: str, dealt: Seeds | ClosedSeat | masking.ClosedSecret) -> MaskKeys:
    """Return the content of a party's greeting."""
    if isinstance(dealt, masking.ClosedSecret):
        return MaskKeys((masking.closed_key(dealt),), (), ())
    dealer = p.parties.index(name)
    if isinstance(dealt, ClosedSeat):
        return MaskKeys((masking.closed_key(dealt.secret),), (coin_commitment(dealer, dealt.coin),), ())
    secrets, promised = (*dealt.s, dealt.box), [seed_commitment(dealer, r, b) for r, b in enumerate(dealt.b)]
    return MaskKeys(
        keys=tuple(masking.public_key(s) for s in secrets if s),
        commitments=(*promised, coin_commitment(dealer, dealt.coin)) if p.degree else tuple(promised),
        leaves=tuple(merkle_root(share_tree(dealer, j, held)) for j, held in enumerate(dealt.shares)),
    )


def shares_for_holder(dealt: Seeds, holder: int) -> Shares:
    """Return the message of a dealer to a holder."""
    held = dealt.shares[holder]
    return Shares(tuple(h.b for h in held), tuple(h.s for h in held))


def encrypt_shares(context: bytes, dealer: int, others: Mapping[int, bytes], dealt: Seeds) -> tuple[bytes, ...]:
    """Return the encrypted shares of a dealer for its neighbours, in their order; `others`: its common value with
    each.
    """
    return tuple(
        masking.covered(context, dealer, holder, agreed, [share for h in dealt.shares[at] for share in (h.b, h.s)])
        for at, (holder, agreed) in enumerate(others.items())
    )


def decrypt_shares(context: bytes, dealer: int, holder: int, agreed: bytes, body: bytes) -> tuple[Held, ...] | None:
    """Return the shares of all sums that a dealer sent to a holder; None if somebody has altered them on the way."""
    try:
        plain = masking.uncovered(context, dealer, holder, agreed, body)
    except DecodeError:
        return None
    return tuple(Held(b, s) for b, s in zip(plain[::2], plain[1::2], strict=True))


def shares_passed_on(p: Parameters, near: Sequence[int], dealt: Sequence[Sequence[bytes]]) -> tuple[bytes, ...]:
    """Return the encrypted shares that Charlie passes on to the neighbour of these dealers in the sparse graph, in
    their order; `dealt` is by dealer.
    """
    return tuple(dealt[i][graph.share_number(p.degree, at)] for at, i in enumerate(near))


def seed_commitment(dealer: int, r: int, b: bytes) -> bytes:
    """Return the commitment of a dealer to its seed b of sum r. The greeting that it stands in is bound to the
    session.
    """
    return hashlib.sha256(b"smc-dp sum seed\0" + _index(dealer) + _number(r) + b).digest()


def coin_commitment(index: int, coin: bytes) -> bytes:
    """Return the commitment of a party to its coin."""
    return hashlib.sha256(b"smc-dp sum coin\0" + _index(index) + coin).digest()


def share_digest(share: bytes) -> bytes:
    """Return the digest of one share."""
    return hashlib.sha256(b"smc-dp sum share\0" + share).digest()


def share_leaf(dealer: int, holder: int, r: int, b_digest: bytes, s_digest: bytes) -> bytes:
    """Return the leaf of the digests of both shares of a holder, for one sum."""
    said = _index(dealer) + _index(holder) + _number(r) + b_digest + s_digest
    return hashlib.sha256(b"smc-dp sum leaf\0" + said).digest()


def share_leaves(dealer: int, holder: int, held: Sequence[Held]) -> tuple[bytes, ...]:
    """Return the leaves of all sums."""
    return tuple(share_leaf(dealer, holder, r, share_digest(h.b), share_digest(h.s)) for r, h in enumerate(held))


def share_tree(dealer: int, holder: int, held: Sequence[Held]) -> Tree:
    """Return the Merkle tree of the shares of all sums; its root stands in the dealer's greeting."""
    return merkle_tree(share_leaves(dealer, holder, held))


def merkle_tree(leaves: Sequence[bytes]) -> Tree:
    """Return the levels of the Merkle tree above these leaves, hashed in pairs; an odd one is paired with itself."""
    levels = [tuple(leaves)]
    while len(below := levels[-1]) > 1:
        pairs = ((below[i], below[min(i + 1, len(below) - 1)]) for i in range(0, len(below), 2))
        levels.append(tuple(_node(left, right) for left, right in pairs))
    return tuple(levels)


def merkle_root(tree: Tree) -> bytes:
    """Return the root of a tree."""
    return tree[-1][0]


def merkle_path(tree: Tree, r: int) -> tuple[bytes, ...]:
    """Return the path from leaf r to the root: its neighbour on each level."""
    return tuple(level[min(r >> depth ^ 1, len(level) - 1)] for depth, level in enumerate(tree[:-1]))


def climb_path(start: bytes, r: int, steps: Sequence[bytes]) -> bytes:
    """Return the root above leaf r."""
    at = start
    for step in steps:
        at = _node(step, at) if r & 1 else _node(at, step)
        r >>= 1
    return at


def seed_of_shares(shares: Mapping[int, bytes]) -> bytes:
    """Return the seed that these holders' shares give."""
    return shamir.combine({holder + 1: share for holder, share in shares.items()})


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"smc-dp sum node\0" + left + right).digest()


def _index(index: int) -> bytes:
    return index.to_bytes(_INDEX_BYTES, "big")


def _number(r: int) -> bytes:
    return r.to_bytes(_NUMBER_BYTES, "big")
