"""The Merkle tree against the recursive definition of RFC 6962, and against the vectors of another implementation."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc_dp.privacy.ledger.merkle import EMPTY_ROOT, consistency_proof, is_extension, leaf_hash, tree_root

MOST = 40
DATA = [bytes([number]) * number for number in range(MOST)]
LEAVES = [leaf_hash(data) for data in DATA]


def tree(data: Sequence[bytes]) -> bytes:
    """MTH of RFC 6962, 2.1, as it is defined: over the data of leaves."""
    if not data:
        return hashlib.sha256(b"").digest()
    if len(data) == 1:
        return hashlib.sha256(b"\0" + data[0]).digest()
    k = split(len(data))
    return hashlib.sha256(b"\1" + tree(data[:k]) + tree(data[k:])).digest()


def split(n: int) -> int:
    """The largest power of two smaller than n."""
    k = 1
    while 2 * k < n:
        k *= 2
    return k


def proof(m: int, data: Sequence[bytes]) -> list[bytes]:
    """PROOF of RFC 6962, 2.1.2, as it is defined, for 0 < m <= n."""
    return subproof(m, data, known=True)


def subproof(m: int, data: Sequence[bytes], *, known: bool) -> list[bytes]:
    if m == len(data):
        return [] if known else [tree(data)]
    k = split(len(data))
    if m <= k:
        return [*subproof(m, data[:k], known=known), tree(data[k:])]
    return [*subproof(m - k, data[k:], known=False), tree(data[:k])]


ROOTS = [tree(DATA[:size]) for size in range(MOST + 1)]


def holds(old: int, new: int, path: Sequence[bytes], old_root: bytes | None = None) -> bool:
    return is_extension(old, ROOTS[old] if old_root is None else old_root, new, ROOTS[new], path)


def test_every_root_is_that_of_the_definition() -> None:
    assert [tree_root(LEAVES[:size]) for size in range(MOST + 1)] == ROOTS
    assert ROOTS[0] == EMPTY_ROOT


def test_every_pair_of_sizes_has_the_proof_of_the_definition_and_it_is_accepted() -> None:
    for new in range(MOST + 1):
        for old in range(1, new + 1):
            path = consistency_proof(LEAVES[:new], old)
            assert list(path) == proof(old, DATA[:new])
            assert holds(old, new, path)
        assert consistency_proof(LEAVES[:new], 0) == ()
        assert holds(0, new, ())


@pytest.mark.parametrize("new", [1, 2, 3, 7, 8, 13, 31, 32, 33, MOST])
def test_every_changed_proof_is_refused(new: int) -> None:
    other = leaf_hash(b"of nobody")
    for old in range(new + 1):
        path = list(consistency_proof(LEAVES[:new], old))
        changed = [[*path[:place], other, *path[place + 1 :]] for place in range(len(path))]
        changed += [[*path[:place], *path[place + 1 :]] for place in range(len(path))]
        changed += [[*path[:place], other, *path[place:]] for place in range(len(path) + 1)]
        changed += [[*path[:place], path[place], *path[place:]] for place in range(len(path))]
        assert not any(holds(old, new, one) for one in changed)
        assert not any(
            holds(old, new, path, root)
            for root in (other, ROOTS[MOST] if old == new else ROOTS[new])
            if root != ROOTS[old]
        )
        assert is_extension(old, ROOTS[old], new, other, path) == (old == 0)  # every tree extends the empty one


@given(st.integers(0, MOST), st.integers(0, MOST), st.integers(0, MOST), st.data())
def test_no_proof_shows_another_size_or_a_tree_with_other_leaves(old: int, new: int, said: int, data: st.DataObject):
    old, new = sorted((old, new))
    path = consistency_proof(LEAVES[:new], old)
    assert holds(said, new, path) == (said in (0, new) and not path if said != old else True)
    if old:
        place = data.draw(st.integers(0, old - 1))
        forked = [*LEAVES[:place], leaf_hash(b"another"), *LEAVES[place + 1 : new]]
        their_root, their_path = tree_root(forked), consistency_proof(forked, old)
        assert not is_extension(old, ROOTS[old], new, their_root, their_path)


def test_a_proof_is_of_no_tree_of_another_height() -> None:
    for new in range(2, MOST):
        other = [size for size in (new // 2, 2 * new, 3 * new) if (size - 1).bit_length() != (new - 1).bit_length()]
        for old in range(1, new):
            path = consistency_proof(LEAVES[:new], old)
            assert not any(is_extension(old, ROOTS[old], size, ROOTS[new], path) for size in other)


def test_a_larger_tree_is_no_part_of_a_smaller_one() -> None:
    assert not any(holds(old, new, ()) for new in range(MOST) for old in range(new + 1, MOST + 1))
    with pytest.raises(ValueError, match="old"):
        consistency_proof(LEAVES[:3], 4)


# testdata/consistency/1/happy-path.json of github.com/transparency-dev/merkle (commit bcba819e).
VECTOR = {
    "sizes": (1, 8),
    "root1": "bjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0=",
    "root2": "XcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg=",
}
VECTOR_PROOF = (
    "lqKW0iTyhcZ77pPDD4owkVfw2qNdxbh+QQt4YwoJz8c=",
    "Xwg/ChozygdqlSeYMlgNs+DvRYS9/x9UyKNg9Q3jAx4=",
    "a0eq8p7jwq+a+Im8H7klTavTEXfxYjLdaqsDXKOb9uQ=",
)


def test_a_published_proof_is_accepted() -> None:
    first, second = (base64.b64decode(str(VECTOR[name])) for name in ("root1", "root2"))
    assert is_extension(1, first, 8, second, [base64.b64decode(line) for line in VECTOR_PROOF])
