"""Words of vectors against what Python says of each number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.arithmetic.rng import Stream
from protocols.arithmetic.words import Words, canonical, from_bytes, to_bytes


@given(st.data(), st.integers(1, 20))
def test_words_are_the_bytes_of_each_number(data: st.DataObject, width: int) -> None:
    edge = st.sampled_from([0, 1, 256**width - 1, 256**width // 2])
    vector = data.draw(st.lists(st.integers(0, 256**width - 1) | edge, max_size=20))
    raw = b"".join(x.to_bytes(width, "big") for x in vector)
    assert to_bytes(vector, width) == raw
    words = from_bytes(raw, width)
    assert words == tuple(vector)
    assert to_bytes(words, width) == raw
    assert to_bytes(words, width + 1) == to_bytes(vector, width + 1)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 8, 9])
def test_what_does_not_fit_is_refused(width: int) -> None:
    for wrong in (-1, 256**width):
        with pytest.raises(OverflowError):
            to_bytes([0, wrong, 0], width)
        if wrong < 2**63:
            with pytest.raises(OverflowError):
                to_bytes(Words(np.array([0, wrong, 0])), width)
    if width > 1:
        with pytest.raises(ValueError, match=f"wanted words of {width} bytes, got {width + 1} bytes"):
            from_bytes(bytes(width + 1), width)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=9), st.slices(9), st.integers(-10, 9))
def test_words_are_a_vector_like_the_tuple_of_their_numbers(numbers: list[int], some: slice, at: int) -> None:
    words, plain = Words(np.array(numbers, np.int64)), tuple(numbers)
    assert words == plain
    assert plain == words
    assert words != (*plain, 0)
    assert words != numbers
    assert hash(words) == hash(plain)
    assert (len(words), list(words)) == (len(plain), numbers)
    assert set(map(type, words)) <= {int}
    assert words[some] == plain[some]
    if -len(plain) <= at < len(plain):
        assert (words[at], type(words[at])) == (plain[at], int)
        with pytest.raises(ValueError, match="read-only"):
            words.array[at] = 0
    assert repr(words) == repr(plain)
    if min(plain, default=0) >= 0:
        assert words == Words(np.array(numbers, np.uint64))


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
