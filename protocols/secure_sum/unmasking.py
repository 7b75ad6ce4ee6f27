"""Which shares of a seed leave its holder, and what they open."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from protocols.crypto import masking
from protocols.secure_sum import dealing
from protocols.secure_sum.messages import Unmask
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import Book, Vault


def unmask(p: Parameters, vault: Vault, r: int, U: Collection[int]) -> Unmask:
    """Of every party one share: of its seed b if it is in U, of its secret mask key s if not; never both."""
    held = vault.of(r).held
    shown = tuple(h.b if i in U else h.s for i, h in enumerate(held))
    hidden = tuple(h.s if i in U else h.b for i, h in enumerate(held))
    paths = (step for leaves in vault.trees for step in dealing.path(leaves, r))
    return Unmask(shown, tuple(dealing.hashed(share) for share in hidden), tuple(paths))


def not_dealt(p: Parameters, book: Book, r: int, holder: int, U: Collection[int], got: Unmask) -> tuple[int, ...]:
    """The dealers whose shares here are not those that they committed to give to this holder."""
    return tuple(i for i in range(p.K) if not is_dealt(p, book.leaves, r, i, holder, i in U, got))


def seed(p: Parameters, shares: Mapping[int, bytes]) -> bytes:
    """What T of these shares open, by holder."""
    return dealing.opened(dict(list(shares.items())[: p.T]))


def is_as_promised(book: Book, r: int, dealer: int, survived: bool, opened: bytes) -> bool:
    """Whether this is the seed, or the secret mask key, that the dealer greeted with."""
    return is_promised(book.commitments[r][dealer], book.vault.keys[r][dealer], dealer, r, survived, opened)


def is_promised(commitment: bytes, key: bytes, dealer: int, r: int, of_seed: bool, opened: bytes) -> bool:
    """Whether this is the seed behind a commitment, or the secret behind a mask key.

    Of a secret mask key only the public one is held against it: five bits of it make no difference.
    """
    return dealing.commitment(dealer, r, opened) == commitment if of_seed else masking.public_key(opened) == key


def is_dealt(
    p: Parameters, leaves: Sequence[Sequence[bytes]], r: int, dealer: int, holder: int, survived: bool, got: Unmask
) -> bool:
    """Whether the share shown here is the one that this dealer committed to; `leaves` by dealer and holder."""
    shown, hidden = dealing.hashed(got.shares[dealer]), got.siblings[dealer]
    start = dealing.leaf(dealer, holder, r, *((shown, hidden) if survived else (hidden, shown)))
    depth = len(got.paths) // p.K
    path = got.paths[dealer * depth : (dealer + 1) * depth]
    return dealing.climbed(start, r, path) == leaves[dealer][holder]
