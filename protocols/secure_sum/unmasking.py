"""Shares of a seed that leave their holder, and what they open."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from math import comb

from protocols.arithmetic import permutation
from protocols.arithmetic.rng import Stream
from protocols.crypto import masking
from protocols.secure_sum import dealing, graph
from protocols.secure_sum.messages import Unmask
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import CuratorState, Vault

MOST_TRIES = 128  # subsets of shares for one secret: a second of Charlie's time with 200 parties


def shares_to_unmask(p: Parameters, vault: Vault, r: int, U: Collection[int]) -> Unmask:
    """Return one share of each dealer: of its seed b if it is in U, of its mask key s if not, never both."""
    held, inside = tuple(zip(vault.near or range(p.K), vault.of(r).held, strict=True)), frozenset(U)
    shown = tuple(h.b if i in inside else h.s for i, h in held)
    hidden = tuple(h.s if i in inside else h.b for i, h in held)
    paths = (step for tree in vault.trees for step in dealing.merkle_path(tree, r))
    return Unmask(shown, tuple(dealing.share_digest(share) for share in hidden), tuple(paths))


def dealers_of_other_shares(
    p: Parameters, state: CuratorState, r: int, holder: int, U: Collection[int], got: Unmask
) -> tuple[int, ...]:
    """Return the dealers whose shares here are not those that they committed to give to this holder."""
    dealers = enumerate(state.dealers(holder))
    return tuple(i for at, i in dealers if not is_committed_share(p, state.leaves, r, i, holder, i in U, got, at))


def open_secret(
    p: Parameters, state: CuratorState, r: int, dealer: int, survived: bool, shares: Mapping[int, bytes], rng: Stream
) -> tuple[bytes | None, bool]:
    """Return the seed, or the secret mask key, that the dealer greeted with and T of these shares open, and whether the
    first T did; None where none of `MOST_TRIES` subsets opens it.

    All shares are what the dealer committed to, so if any T of them open anything else the dealer has deviated.
    """
    said = state.commitments[r][dealer], state.vault.keys[r][dealer]
    for tried, holders in enumerate(subsets(tuple(shares), p.T, rng)):
        opened = dealing.seed_of_shares({holder: shares[holder] for holder in holders})
        if is_promised(*said, dealer, r, survived, opened):
            return opened, not tried
    return None, False


def subsets(holders: Sequence[int], count: int, rng: Stream) -> Iterator[tuple[int, ...]]:
    """Yield subsets of so many of these, the first ones first: all where there are at most `MOST_TRIES`, else as many
    at random, so that the dealer of bad shares cannot place them where each subset has one.
    """
    if comb(len(holders), count) <= MOST_TRIES:
        yield from combinations(holders, count)
        return
    yield tuple(holders[:count])
    for _ in range(MOST_TRIES - 1):
        order = permutation.drawn(rng.bytes(masking.DIGEST_BYTES), len(holders))
        yield tuple(holders[place] for place in order[:count])


def is_promised(commitment: bytes, key: bytes, dealer: int, r: int, of_seed: bool, opened: bytes) -> bool:
    """Return whether this is the seed behind a commitment, or the secret behind a mask key.

    Of a secret mask key only the public one is held against it: five bits of it make no difference.
    """
    return dealing.seed_commitment(dealer, r, opened) == commitment if of_seed else masking.public_key(opened) == key


def is_committed_share(
    p: Parameters,
    leaves: Sequence[Sequence[bytes]],
    r: int,
    dealer: int,
    holder: int,
    survived: bool,
    got: Unmask,
    at: int,
) -> bool:
    """Return whether the share shown here, as number `at`, is the one that this dealer committed to; `leaves` by dealer
    and holder.
    """
    shown, hidden = dealing.share_digest(got.shares[at]), got.siblings[at]
    slot = graph.share_number(p.degree, at) if p.degree else holder
    start = dealing.share_leaf(dealer, slot, r, *((shown, hidden) if survived else (hidden, shown)))
    depth = len(got.paths) // p.holders
    path = got.paths[at * depth : (at + 1) * depth]
    return dealing.climb_path(start, r, path) == leaves[dealer][slot]
