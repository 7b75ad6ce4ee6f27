"""Masks: SHAKE-256 of all that they are bound to, added up word by word; keys that give no secret are refused."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from protocols.arithmetic.rng import Stream
from protocols.crypto import masking
from protocols.errors import DecodeError
from tests.support.refusals import refused

CONTEXT = bytes(range(32))
P = 2**255 - 19
# Every u of order 1, 2, 4 or 8 on the curve and its twist, and their other spellings below 2**255 or with the top bit.
LOW_ORDER = [
    *(0, 1, P - 1, P, P + 1),
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
]


def key(u: int) -> bytes:
    return u.to_bytes(32, "little")


def usual(masks: list[bytes], length: int, width: int) -> list[int]:
    """The sum of the masks word by word, without a modulus."""
    cut = [[int.from_bytes(m[i * width : (i + 1) * width], "big") for i in range(length)] for m in masks]
    return [sum(column) for column in zip(*cut, strict=True)] if cut else [0] * length


@given(st.data(), st.integers(0, 9), st.integers(0, 9), st.integers(1, 9), st.integers(1, 128))
def test_masks_are_added_up_word_by_word(data: st.DataObject, plus: int, minus: int, length: int, width: int) -> None:
    size = length * width
    word = st.binary(min_size=size, max_size=size) | st.just(b"\xff" * size) | st.just(bytes(size))
    more, less = (data.draw(st.lists(word, min_size=n, max_size=n)) for n in (plus, minus))
    wanted = zip(usual(more, length, width), usual(less, length, width), strict=True)
    assert masking.combined(more, less, length, width) == tuple((a - b) % 256**width for a, b in wanted)


@pytest.mark.parametrize(("length", "width"), [(1, 1), (2, 1), (7, 1), (3, 8), (5, 128)])
@pytest.mark.parametrize("many", [200, 257, 10_000])
def test_however_many_of_the_largest_masks_do_not_carry_into_other_words(length: int, width: int, many: int) -> None:
    """There are about K^2 / 2 to take off when half of K vanish: far more than a word of one byte has values."""
    largest, nothing = [b"\xff" * length * width] * many, masking.combined([], [], length, width)
    assert nothing == (0,) * length
    assert masking.combined(largest, [], length, width) == (-many % 256**width,) * length
    assert masking.combined([], largest, length, width) == (many % 256**width,) * length
    assert masking.combined(largest, largest, length, width) == nothing


@given(st.binary(min_size=32, max_size=32), st.integers(0, 199), st.integers(0, 9), st.sampled_from([1, 3, 8, 128]))
@example(bytes(32), 199, 5, 128)
def test_masks_are_shake_256_of_all_that_they_are_bound_to(seed: bytes, index: int, length: int, width: int) -> None:
    other, size = (index + 7) % 200, length * width
    alone = b"smc-dp sum self\0" + CONTEXT + index.to_bytes(2, "big") + seed
    assert masking.self_mask(CONTEXT, index, seed, length, width) == hashlib.shake_256(alone).digest(size)
    low, high = sorted((index, other))
    both = b"smc-dp sum pair\0" + CONTEXT + low.to_bytes(2, "big") + high.to_bytes(2, "big") + seed
    assert masking.pair_mask(CONTEXT, index, other, seed, length, width) == hashlib.shake_256(both).digest(size)
    assert masking.pair_mask(CONTEXT, other, index, seed, length, width) == hashlib.shake_256(both).digest(size)


@given(st.binary(min_size=32, max_size=32), st.integers(1, 40), st.sampled_from([1, 3, 8, 128]))
@example(bytes(32), 8, 8)
def test_expanded_words_are_those_of_chacha20_with_nonce_0(seed: bytes, length: int, width: int) -> None:
    """`Stream` is held against RFC 8439 in its own tests."""
    assert masking.expand(seed, length, width) == Stream(seed, insecure=True).bytes(length * width)


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_a_mask_that_is_too_short_is_refused(width: int) -> None:
    """Numpy would take its one word for all."""
    with pytest.raises(ValueError, match="buffer"):
        masking.combined([bytes(width)], [], 2, width)


@given(st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_both_ends_agree(one: bytes, other: bytes) -> None:
    agreed = masking.agree(one, masking.public_key(other))
    assert agreed == masking.agree(other, masking.public_key(one))
    assert masking.agreeing(masking.public_key(one)) is not None
    assert masking.agree_with_all(one, [masking.public_key(x) for x in (other, one)])[0] == agreed
    flipped = bytes([one[0] ^ 7]) + one[1:-1] + bytes([one[-1] ^ 0xC0])  # the five bits that X25519 sets itself
    assert masking.agree(flipped, masking.public_key(other)) == agreed


@pytest.mark.parametrize("u", LOW_ORDER)
@pytest.mark.parametrize("top", [0, 1 << 255])
def test_a_point_of_small_order_is_no_mask_key(u: int, top: int) -> None:
    small = key(u | top)
    assert masking.agreeing(small) is None
    with refused("mask_key.not_usable", error=DecodeError):
        masking.agree(Stream.insecure_from_seed("small").bytes(32), small)


@given(st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_keys_agree_alike_when_they_are_one_key_and_not_otherwise(one: bytes, other: bytes) -> None:
    """Other spellings of a key: with the top bit; the prime added, where that fits."""
    mine, theirs = masking.public_key(one), masking.public_key(other)
    assert masking.agreeing(mine[:-1] + bytes([mine[-1] | 0x80])) == masking.agreeing(mine)
    assert (masking.agreeing(mine) == masking.agreeing(theirs)) == (mine == theirs)
    nine = masking.agreeing(key(9))
    assert nine == masking.agreeing(key(P + 9)) != masking.agreeing(key(10))


def agreed_by(secret: bytes, theirs: bytes) -> bytes | None:
    """What X25519 agrees on: the slow twin of `agreeing`, under any secret."""
    try:
        return masking.agree(secret, theirs)
    except DecodeError:
        return None


def with_torsion(u: int) -> set[int]:
    """The points of this u with every multiple of a point of order 8 added; u is on the curve, not on its twist."""

    def lifted(u: int) -> tuple[int, int]:
        square = (u * u * u + 486662 * u * u + u) % P
        roots = [r for r in (pow(square, (P + 3) // 8, P) * pow(2, i * (P - 1) // 4, P) % P for i in (0, 1))]
        return u, next(r for r in roots if r * r % P == square)

    def added(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
        slope = (other[1] - one[1]) * pow(other[0] - one[0], -1, P) % P
        u = (slope * slope - 486662 - one[0] - other[0]) % P
        return u, (slope * (one[0] - u) - one[1]) % P

    found = [lifted(u)]
    for _ in range(7):
        found.append(added(found[-1], lifted(LOW_ORDER[5])))
    return {u for u, _ in found}


@given(st.lists(st.binary(min_size=32, max_size=32), max_size=4))
def test_keys_agree_alike_where_everybody_agrees_alike_with_them(drawn: list[bytes]) -> None:
    """Whatever the secret, on the curve and on its twist, with points of small order added."""
    low = [key(u) for u in LOW_ORDER]
    shifted = [key(u) for u in sorted(with_torsion(9))]
    assert len(shifted) == 8
    every = [*drawn, *low, *shifted, *(bytes([k[0] ^ 1]) + k[1:] for k in drawn)]
    for secret in (bytes(32), bytes([255] * 32), Stream.insecure_from_seed("any").bytes(32)):
        pairs = {(masking.agreeing(k), agreed_by(secret, k)) for k in every}
        assert len({fast for fast, _ in pairs}) == len({slow for _, slow in pairs}) == len(pairs)
        assert (None, None) in pairs
        assert len({masking.agreeing(k) for k in shifted}) == 1


@pytest.mark.parametrize("bad", [b"", bytes(31), b"\1" * 33])
def test_what_is_no_point_is_no_mask_key(bad: bytes) -> None:
    assert masking.agreeing(bad) is None


@given(st.lists(st.integers(0, 2**24 - 1), max_size=5))
def test_a_digest_is_that_of_the_words(words: list[int]) -> None:
    encoded = b"".join(x.to_bytes(3, "big") for x in words)
    assert masking.digest(tuple(words), 3) == hashlib.sha256(encoded).digest()
