"""Shamir's sharing over GF(256): any T shares open, T - 1 tell nothing at all, and the field is that of AES."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.arithmetic import shamir
from protocols.arithmetic.rng import Stream
from protocols.errors import LocalError
from tests.support.refusals import refused


class Given(Stream):
    """The coins of a test, in their order."""

    def __init__(self, coins: bytes) -> None:
        super().__init__(bytes(32), insecure=True)
        self._coins = coins

    def bytes(self, n: int) -> bytes:
        drawn, self._coins = self._coins[:n], self._coins[n:]
        assert len(drawn) == n
        return drawn


# The field once more: polynomials are multiplied bit by bit, inverses are powers, secrets solve a linear system.


def times(a: int, b: int) -> int:
    product_ = 0
    for bit in range(8):
        product_ ^= (a << bit) * (b >> bit & 1)
    for degree in range(14, 7, -1):
        product_ ^= (0x11B << degree - 8) * (product_ >> degree & 1)
    return product_


def power(a: int, exponent: int) -> int:
    found = 1
    for _ in range(exponent):
        found = times(found, a)
    return found


def solved(points: Sequence[tuple[int, int]]) -> int:
    """The constant coefficient of the polynomial through these points, by Gauss' elimination."""
    rows = [[power(x, i) for i in range(len(points))] + [y] for x, y in points]
    for column in range(len(rows)):
        pivot = next(i for i in range(column, len(rows)) if rows[i][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        scale = power(rows[column][column], 254)
        rows[column] = [times(scale, v) for v in rows[column]]
        for i, row in enumerate(rows):
            if i != column and row[column]:
                rows[i] = [v ^ times(row[column], w) for v, w in zip(row, rows[column], strict=True)]
    return rows[0][-1]


def test_the_field_is_that_of_aes() -> None:
    """FIPS 197, 4.2: {57}{83} = {c1}, {57}{13} = {fe}; 4.2.1: {57} times 2, 4, 8, 16; 5.1.1: {53} is 1/{ca}."""
    assert (shamir.multiply(0x57, 0x83), shamir.multiply(0x57, 0x13)) == (0xC1, 0xFE)
    assert [shamir.multiply(0x57, x) for x in (2, 4, 8, 16)] == [0xAE, 0x47, 0x8E, 0x07]
    assert shamir.inverse(0x53) == 0xCA


def test_products_and_inverses_are_those_of_another_formula() -> None:
    for a, b in product(range(0, 256, 17), range(256)):
        assert shamir.multiply(a, b) == shamir.multiply(b, a) == times(a, b)
    for a in range(1, 256):
        assert times(a, shamir.inverse(a)) == 1
    with refused("sharing.zero_has_no_inverse", error=LocalError):
        shamir.inverse(0)


@given(st.binary(max_size=40), st.integers(1, 6), st.integers(0, 3), st.integers(0, 99))
def test_any_threshold_of_shares_opens_and_so_do_more(secret: bytes, T: int, more: int, seed: int) -> None:
    shares = shamir.deal(secret, T, T + more, Stream.insecure_from_seed(seed))
    assert {len(share) for share in shares} == {len(secret)}
    by_place = dict(enumerate(shares, start=1))
    for size in range(T, T + more + 1):
        for places in combinations(by_place, size):
            assert shamir.combine({x: by_place[x] for x in reversed(places)}) == secret


@settings(max_examples=15)
@given(st.binary(min_size=1, max_size=2), st.integers(1, 5), st.data())
def test_the_shares_are_points_of_a_polynomial_through_the_secret(secret: bytes, T: int, data: st.DataObject) -> None:
    """Shares of places far apart, up to the last one, against an oracle that solves for the coefficients."""
    shares = shamir.deal(secret, T, shamir.MOST_SHARES, Stream.insecure_from_seed(data.draw(st.integers(0, 9))))
    places = data.draw(st.lists(st.integers(1, shamir.MOST_SHARES), min_size=T, max_size=T, unique=True))
    for i, byte in enumerate(secret):
        assert solved([(x, shares[x - 1][i]) for x in places]) == byte
    assert shamir.combine({x: shares[x - 1] for x in places}) == secret


def every(T: int) -> bytes:
    """All coins that a secret of one byte takes, for as many bytes at once: all pairs of them for T = 3."""
    numbers = [n.to_bytes(2, "big") for n in range(256 ** (T - 1))]
    return b"".join(bytes(n[i] for n in numbers) for i in range(3 - T, 2))


def laws(T: int, places: Sequence[int], coins: bytes) -> list[Counter[tuple[int, ...]]]:
    """What these holders see of three secrets of one byte, over all these coins."""
    found = []
    for secret in (0, 1, 0xD7):
        shares = shamir.deal(bytes([secret]) * 256 ** (T - 1), T, max(*places, T), Given(coins))
        found.append(Counter(zip(*(shares[x - 1] for x in places), strict=True)))
    return found


@pytest.mark.parametrize("x", [1, 2, 255])
def test_one_of_two_shares_is_exactly_uniform_whatever_the_secret(x: int) -> None:
    assert laws(2, [x, x], every(2)) == [Counter({(y, y): 1 for y in range(256)})] * 3


@pytest.mark.parametrize("places", [(2, 7), pytest.param((254, 255), marks=pytest.mark.slow)])
def test_two_of_three_shares_are_exactly_uniform_whatever_the_secret(places: tuple[int, int]) -> None:
    assert laws(3, places, every(3)) == [Counter({pair: 1 for pair in product(range(256), repeat=2)})] * 3


@given(st.binary(min_size=1, max_size=8), st.integers(2, 5), st.data())
def test_each_wrong_share_among_those_that_open_gives_another_secret(
    secret: bytes, T: int, data: st.DataObject
) -> None:
    shares = dict(enumerate(shamir.deal(secret, T, T, Stream.insecure_from_seed("wrong")), start=1))
    x, i, change = (
        data.draw(st.integers(1, T)),
        data.draw(st.integers(0, len(secret) - 1)),
        data.draw(st.integers(1, 255)),
    )
    wrong = bytearray(shares[x])
    wrong[i] ^= change
    opened = shamir.combine(shares | {x: bytes(wrong)})
    assert [j for j in range(len(secret)) if opened[j] != secret[j]] == [i]


@pytest.mark.parametrize(("T", "count"), [(0, 3), (4, 3), (2, 256), (-1, 2)])
def test_impossible_thresholds_are_refused(T: int, count: int) -> None:
    with refused("sharing.threshold_outside", error=LocalError, threshold=T, shares=count):
        shamir.deal(b"secret", T, count, Stream.insecure_from_seed(1))


@pytest.mark.parametrize("shares", [{}, {0: b"a"}, {256: b"a"}, {-1: b"a", 2: b"b"}, {1: b"a", 2: b"ab"}])
def test_what_are_no_shares_is_refused(shares: dict[int, bytes]) -> None:
    with refused("sharing.shares_do_not_fit", error=LocalError, most_shares=255):
        shamir.combine(shares)
