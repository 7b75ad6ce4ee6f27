"""Merkle tree of RFC 6962 over the entries of a ledger: one hash fixes all of them and their number.

A consistency proof shows that a later tree begins with the leaves of an earlier one. It has at most as many hashes as
the number of leaves has binary digits, plus one. Assumption: SHA-256 is collision-resistant.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

HASH_BYTES = 32
EMPTY_ROOT = hashlib.sha256().digest()
"""Root of the tree without leaves."""


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of a leaf. The first byte tells it from that of a node."""
    return hashlib.sha256(b"\x00" + data).digest()


def _node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def tree_root(leaves: Iterable[bytes]) -> bytes:
    """Return the root of the tree over these hashes of leaves (RFC 6962, 2.1)."""
    full: list[tuple[int, bytes]] = []  # full subtrees from the left: number of leaves, hash
    for leaf in leaves:
        size, found = 1, leaf
        while full and full[-1][0] == size:
            found = _node_hash(full.pop()[1], found)
            size *= 2
        full.append((size, found))
    if not full:
        return EMPTY_ROOT
    _, root = full.pop()
    while full:
        root = _node_hash(full.pop()[1], root)
    return root


def consistency_proof(leaves: Sequence[bytes], old: int) -> tuple[bytes, ...]:
    """Return the proof that this tree begins with its first `old` leaves (RFC 6962, 2.1.2)."""
    if not 0 <= old <= len(leaves):
        raise ValueError("old: wanted the size of an earlier tree")
    if old in (0, len(leaves)):
        return ()
    first, end, found = 0, len(leaves), list[bytes]()
    while old < end:
        middle = first + (1 << (end - first - 1).bit_length() - 1)  # left subtree: the most leaves, a power of two
        if old <= middle:
            found.append(tree_root(leaves[middle:end]))
            end = middle
        else:
            found.append(tree_root(leaves[first:middle]))
            first = middle
    if first:  # the subtree in which the old tree ends is not the old tree itself, whose root the reader has
        found.append(tree_root(leaves[first:end]))
    return tuple(reversed(found))


def is_extension(old: int, old_root: bytes, new: int, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Return whether the proof shows that the new tree begins with the leaves of the old one (RFC 9162, 2.1.4.2)."""
    if old == 0 or old == new:
        same = old_root == (EMPTY_ROOT if old == 0 else new_root)
        return same and not proof and (new != 0 or new_root == EMPTY_ROOT)
    if not 0 < old < new:
        return False
    path = [old_root, *proof] if old & (old - 1) == 0 else list(proof)
    if not path:
        return False
    left, last = old - 1, new - 1  # places of the last leaves, on the level of the tree that the path has come to
    while left & 1:
        left, last = left >> 1, last >> 1
    old_found = new_found = path[0]
    for step in path[1:]:
        if last == 0:
            return False
        if left & 1 or left == last:
            old_found, new_found = _node_hash(step, old_found), _node_hash(step, new_found)
            while left and not left & 1:
                left, last = left >> 1, last >> 1
        else:
            new_found = _node_hash(new_found, step)
        left, last = left >> 1, last >> 1
    return last == 0 and (old_found, new_found) == (old_root, new_root)
