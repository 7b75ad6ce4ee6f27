"""Complaints about shares: who accuses whom, the shares that accused dealers open, and whether they committed to these.

A holder complains of shares that do not hash to the root in their dealer's greeting. The dealer opens these shares, and
the same predicate decides. A number `accused` lists the dealers that one holder accuses, bit i for party i; there is
one for each holder, zero for most.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_

from protocols.runtime.endpoint import Greeted
from protocols.secure_sum import dealing
from protocols.secure_sum.messages import Disclosed, MaskKeys, Replaced, Shares
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import Held, Tree

_Greetings = Mapping[str, Greeted[MaskKeys]]
NOTHING_HELD = Held(bytes(dealing.SEED_BYTES), bytes(dealing.SEED_BYTES))


def is_committed(p: Parameters, greetings: _Greetings, dealer: int, holder: int, tree: Tree) -> bool:
    """Return whether this is the tree of the shares that the dealer committed to give to this holder. The empty tree
    of no shares is not, whatever it committed to.
    """
    return bool(tree) and dealing.merkle_root(tree) == greetings[p.parties[dealer]].message.leaves[holder]


def share_trees(holder: int, held: Sequence[Sequence[Held]]) -> tuple[Tree, ...]:
    """Return the Merkle trees of what a holder holds, dealer by dealer."""
    return tuple(dealing.share_tree(i, holder, shares) if shares else () for i, shares in enumerate(held))


def shares_held(
    p: Parameters, got: Mapping[str, Shares], holder: int, own: dealing.Seeds
) -> tuple[tuple[Held, ...], ...]:
    """Return the shares of a holder, dealer by dealer, its own ones included; none of a dealer that sent it none."""
    every = {name: shares_in(shares) for name, shares in got.items()} | {p.parties[holder]: own.shares[holder]}
    return tuple(every.get(name, ()) for name in p.parties)


def accused_dealers(p: Parameters, greetings: _Greetings, holder: int, trees: Sequence[Tree]) -> int:
    """Return the other dealers whose shares are not those that they committed to; `trees` of these, by dealer."""
    return p.listed(
        i for i, tree in enumerate(trees) if i != holder and not is_committed(p, greetings, i, holder, tree)
    )


def wrong_shares(shares: Shares) -> Shares:
    """Return shares of which their holder has to complain: zeros."""
    return Shares((NOTHING_HELD.b,) * len(shares.b), (NOTHING_HELD.s,) * len(shares.s))


def all_accused(accused_by_holder: Sequence[int]) -> int:
    """Return the dealers that somebody accuses."""
    return reduce(or_, accused_by_holder, 0)


def complaints_digest(p: Parameters, accused_by_holder: Sequence[int]) -> bytes:
    """Return the digest of all complaints, by holder: what a disclosure answers."""
    said = b"".join(one.to_bytes((p.K + 7) // 8, "big") for one in accused_by_holder)
    return hashlib.sha256(b"smc-dp sum complaints\0" + said).digest()


def shares_to_disclose(
    p: Parameters, accused_by_holder: Sequence[int], dealer: int, dealt: dealing.Seeds
) -> tuple[Held, ...]:
    """Return the dealer's shares of those who accuse it, for all sums, and zeros for the others, holder by holder."""
    return tuple(
        share if _accuses(accused_by_holder, holder, dealer) else NOTHING_HELD
        for holder, of_holder in enumerate(dealt.shares)
        for share in of_holder
    )


def shares_digest(shares: Sequence[Held]) -> bytes:
    """Return the digest of what a dealer discloses."""
    return hashlib.sha256(b"smc-dp sum disclosure\0" + b"".join(held.b + held.s for held in shares)).digest()


def shares_in(got: Shares | Disclosed | Replaced) -> tuple[Held, ...]:
    """Return the shares in a message."""
    return tuple(Held(b, s) for b, s in zip(got.b, got.s, strict=True))


def is_wrong_disclosure(
    p: Parameters, greetings: _Greetings, accused_by_holder: Sequence[int], dealer: int, got: Disclosed
) -> bool:
    """Return whether a dealer disclosed, to somebody who accuses it, other shares than it committed to."""
    shares = shares_in(got)
    return any(
        not is_committed(p, greetings, dealer, holder, dealing.share_tree(dealer, holder, _of(p, shares, holder)))
        for holder in range(p.K)
        if _accuses(accused_by_holder, holder, dealer)
    )


def first_wrong_disclosure(
    p: Parameters, greetings: _Greetings, accused_by_holder: Sequence[int], disclosures: Sequence[Disclosed]
) -> int | None:
    """Return the first dealer that disclosed other shares than it committed to."""
    return next(
        (i for i, got in enumerate(disclosures) if is_wrong_disclosure(p, greetings, accused_by_holder, i, got)), None
    )


def replacements(
    p: Parameters, accused_by_holder: Sequence[int], holder: int, disclosures: Sequence[Disclosed]
) -> Replaced:
    """Return what the dealers that this holder accuses disclosed to it, and zeros for the others, dealer by dealer."""
    found = [
        held
        for dealer, got in enumerate(disclosures)
        for held in (
            _of(p, shares_in(got), holder) if _accuses(accused_by_holder, holder, dealer) else (NOTHING_HELD,) * p.R
        )
    ]
    return Replaced(tuple(held.b for held in found), tuple(held.s for held in found))


def with_disclosed_shares(
    p: Parameters, held: Sequence[tuple[Held, ...]], accused: int, got: Replaced
) -> tuple[tuple[Held, ...], ...]:
    """Return what a holder holds of each dealer, with the disclosed shares in place of those it complained of."""
    shares = shares_in(got)
    return tuple(_of(p, shares, i) if accused >> i & 1 else own for i, own in enumerate(held))


def count_accusers(accused_by_holder: Sequence[int], dealer: int) -> int:
    """Return the number of holders who accuse this dealer."""
    return sum(_accuses(accused_by_holder, holder, dealer) for holder in range(len(accused_by_holder)))


def _accuses(accused_by_holder: Sequence[int], holder: int, dealer: int) -> bool:
    return bool(accused_by_holder[holder] >> dealer & 1)


def _of(p: Parameters, shares: Sequence[Held], place: int) -> tuple[Held, ...]:
    """Return the shares of all sums at one place."""
    return tuple(shares[place * p.R : (place + 1) * p.R])
