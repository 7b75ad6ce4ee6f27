"""Words of vectors against what Python says of each number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.arithmetic.rng import Stream
from protocols.arithmetic.words import canonical, from_bytes, to_bytes


@given(st.data(), st.integers(1, 20))
def test_words_are_the_bytes_of_each_number(data: st.DataObject, width: int) -> None:
    edge = st.sampled_from([0, 1, 256**width - 1, 256**width // 2])
    vector = data.draw(st.lists(st.integers(0, 256**width - 1) | edge, max_size=20))
    raw = b"".join(x.to_bytes(width, "big") for x in vector)
    assert to_bytes(vector, width) == raw
    assert from_bytes(raw, width) == tuple(vector)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 8, 9])
def test_what_does_not_fit_is_refused(width: int) -> None:
    for wrong in (-1, 256**width):
        with pytest.raises(OverflowError):
            to_bytes([0, wrong, 0], width)
    if width > 1:
        with pytest.raises(ValueError, match=f"wanted words of {width} bytes, got {width + 1} bytes"):
            from_bytes(bytes(width + 1), width)


@given(st.integers(0, 90), st.integers(0, 30), st.integers(0, 99))
def test_numbers_are_those_that_come_one_by_one(k: int, count: int, seed: int) -> None:
    """And the stream goes on where it would."""
    bulk, single = Stream.insecure_from_seed(seed), Stream.insecure_from_seed(seed)
    assert bulk.numbers(count, k) == tuple(single.bits(k) for _ in range(count))
    assert bulk.bytes(9) == single.bytes(9)


VECTORS = st.lists(st.integers(0, 1 << 80) | st.sampled_from([0, 1, 255, 256, 65535, 65536, 1 << 64]), max_size=5)


@given(VECTORS, VECTORS)
def test_other_vectors_have_other_bytes(one: list[int], other: list[int]) -> None:
    assert (canonical(one) == canonical(other)) == (one == other)
    width = int.from_bytes(canonical(one)[:4], "big")
    assert list(from_bytes(canonical(one)[4:], width)) == one
    # twin: without the width in front, two bytes and one word of two bytes are the same
    assert canonical([1, 2])[4:] == canonical([0x102])[4:]
