"""Z_M against numpy's wrapping integers, and the law of its shares."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.toy import ACCEPT, uniformity

from protocols.arithmetic.ring import Ring
from protocols.arithmetic.rng import Stream

RING = Ring(64)
SIGNED = st.integers(-(2**63), 2**63 - 1)
DRAWS = 20_000


@given(st.lists(st.tuples(SIGNED, SIGNED, SIGNED), min_size=1, max_size=8))
def test_vectors_wrap_like_unsigned_machine_words(rows: Sequence[tuple[int, int, int]]) -> None:
    x, y, z = (RING.vector(column) for column in zip(*rows, strict=True))
    a, b, c = (np.array(column, dtype=np.int64).view(np.uint64) for column in zip(*rows, strict=True))
    assert x == tuple(int(v) for v in a)
    assert RING.add_vectors(x, y, z) == tuple(int(v) for v in a + b + c)
    assert RING.subtract_vectors(x, y) == tuple(int(v) for v in a - b)


def test_a_ring_of_other_width() -> None:
    for bits in (1, 5, 83):
        ring = Ring(bits)
        assert ring.modulus == 2**bits
        assert ring.reduce(-1) == 2**bits - 1 == ring.subtract(0, 1)
        assert ring.add(ring.modulus - 1, 1) == 0
    assert RING.add_vectors((2**64,), (1,)) == (1,)  # no machine word is as long


@given(st.data(), st.integers(1, 90), st.integers(1, 6), st.integers(0, 9))
def test_whole_vectors_are_what_each_place_gives(data: st.DataObject, bits: int, count: int, length: int) -> None:
    """By the operations on single elements, the largest and the smallest among them."""
    ring = Ring(bits)
    element = st.integers(0, ring.modulus - 1) | st.sampled_from([0, ring.modulus - 1, ring.modulus // 2])
    vectors = [tuple(data.draw(st.lists(element, min_size=length, max_size=length))) for _ in range(count)]
    assert ring.add_vectors(*vectors) == tuple(reduce(ring.add, column) for column in zip(*vectors, strict=True))
    x, y = vectors[0], vectors[-1]
    assert ring.subtract_vectors(x, y) == tuple(ring.subtract(a, b) for a, b in zip(x, y, strict=True))
    near = ring.nearest(x)
    assert ring.vector(near) == x
    assert all(-ring.modulus <= 2 * n < ring.modulus for n in near)
    far = [a + data.draw(st.integers(-3, 3)) * ring.modulus for a in x]
    assert ring.vector(far) == x
    one, same = Stream.insecure_from_seed(f"{bits} {length}"), Stream.insecure_from_seed(f"{bits} {length}")
    assert ring.random_vector(length, one) == tuple(ring.random(same) for _ in range(length))
    shares = ring.split_vector(x, count, one)
    drawn = [ring.random_vector(length, same) for _ in range(count - 1)]
    assert shares == [*drawn, reduce(ring.subtract_vectors, drawn, x)]


@given(st.integers(0, 2**64 - 1), st.integers(0, 1000))
def test_shares_add_up(x: int, seed: int) -> None:
    a, b = RING.split(x, Stream.insecure_from_seed(seed))
    assert (a + b) % 2**64 == x
    assert max(a, b) < 2**64


def test_each_share_alone_is_uniform_whatever_it_hides() -> None:
    ring, rng = Ring(4), Stream.insecure_from_seed("share law")
    for x in (0, 1, 15):
        pairs = [ring.split(x, rng) for _ in range(DRAWS)]
        assert uniformity((a for a, _ in pairs), range(16)) > ACCEPT
        assert uniformity((b for _, b in pairs), range(16)) > ACCEPT


def test_all_vector_shares_but_one_are_jointly_uniform() -> None:
    ring, rng = Ring(2), Stream.insecure_from_seed("joint law")
    cells = [(a, b) for a in range(4) for b in range(4)]
    for hidden in (0, 3):
        draws = [[share[0] for share in ring.split_vector((hidden,), 3, rng)] for _ in range(4_000)]
        for i, j in combinations(range(3), 2):
            assert uniformity(((d[i], d[j]) for d in draws), cells) > ACCEPT


def test_vectors_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        RING.add_vectors((1,), (1, 2))
    with pytest.raises(ValueError, match="zip"):
        RING.subtract_vectors((1, 2), (1,))
