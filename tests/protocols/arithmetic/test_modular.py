"""Modular arithmetic against Python's own integers."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod

import gmpy2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.arithmetic import modular
from protocols.arithmetic.rng import Stream

MODULI = st.integers(3, 2**200).map(lambda n: n | 1)
NUMBERS = st.integers(0, 2**220)


def by_trial_division(x: int) -> bool:
    return x > 1 and all(x % d for d in range(2, int(x**0.5) + 1))


@given(NUMBERS, NUMBERS, MODULI)
def test_power_and_product(x: int, e: int, n: int) -> None:
    assert modular.power(x, e, n) == pow(x, e, n)
    assert modular.multiply(x, e, n) == x * e % n


@given(NUMBERS, MODULI)
def test_inverse(x: int, n: int) -> None:
    if gcd(x, n) == 1:
        assert modular.invert(x, n) == pow(x, -1, n) == modular.power(x, -1, n)
    else:
        with pytest.raises(ZeroDivisionError):
            modular.invert(x, n)


def test_units_exhaustively() -> None:
    for n in range(1, 40):
        assert [x for x in range(-2, n + 3) if modular.is_unit(x, n)] == [x for x in range(1, n) if gcd(x, n) == 1]


@pytest.mark.parametrize("factors", [(3,), (7, 11), (3, 3, 5), (19, 23, 7)])
def test_jacobi_is_the_product_of_eulers_criterion(factors: tuple[int, ...]) -> None:
    for x in range(prod(factors)):
        legendre = [(pow(x, (p - 1) // 2, p) + 1) % p - 1 for p in factors]
        assert modular.jacobi(x, prod(factors)) == prod(legendre)


def test_primes_against_trial_division() -> None:
    for x in range(2000):
        assert modular.is_prime(x) == by_trial_division(x)
        following = modular.next_prime(x)
        assert by_trial_division(following)
        assert not any(by_trial_division(y) for y in range(x + 1, following))
    for carmichael in (561, 41041, 825265, 321197185, 9746347772161):
        assert not modular.is_prime(carmichael)


@pytest.mark.parametrize("bits", [8, 12, 16, 20])
@pytest.mark.parametrize(("residue", "modulus"), [(1, 2), (3, 4), (5, 8)])
def test_random_primes_have_their_shape(bits: int, residue: int, modulus: int) -> None:
    rng = Stream.insecure_from_seed(f"primes {bits}")
    for _ in range(30):
        p = modular.random_prime(bits, rng, residue=residue, modulus=modulus)
        assert by_trial_division(p)
        assert p.bit_length() == bits
        assert p >> (bits - 2) == 3
        assert p % modulus == residue


@pytest.mark.parametrize("apart", [1, 15, 3 * 7 * 11 * 13])
def test_random_primes_less_one_share_nothing_with_what_they_are_to_be_apart_from(apart: int) -> None:
    rng = Stream.insecure_from_seed("apart")
    made = [modular.random_prime(24, rng, residue=3, modulus=4, apart=apart) for _ in range(40)]
    assert {gcd(p - 1, apart) for p in made} == {1}
    assert apart > 1 or any(gcd(p - 1, 15) > 1 for p in made)


@pytest.mark.parametrize(("bits", "rounds"), [(256, 40), (599, 40), (600, 25), (1536, 25)])
def test_long_candidates_need_one_round_beyond_baillie_psw_and_short_ones_many(
    bits: int, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, real = [], gmpy2.is_prime
    monkeypatch.setattr(modular.gmpy2, "is_prime", lambda x, n: (asked.append((x.bit_length(), n)), real(x, n))[1])
    modular.random_prime(bits, Stream.insecure_from_seed(f"rounds {bits}"))
    assert set(asked) == {(bits, rounds)}


def test_a_composite_with_a_small_factor_costs_no_power(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modular.gmpy2, "is_prime", lambda x, n: pytest.fail("a power"))
    big = modular.next_prime(1 << 1500)
    assert not any(modular.is_prime(p * big) for p in (2, 3, 101, 1031, 131071))


def test_random_primes_vary() -> None:
    rng = Stream.insecure_from_seed("vary")
    assert len({modular.random_prime(64, rng) for _ in range(20)}) == 20


@given(st.integers(1, 2**40), st.sampled_from([1, 2, 3, 10, 100, 1000]))
def test_small_factors(x: int, bound: int) -> None:
    primes = (p for p in range(2, bound + 1) if by_trial_division(p))
    assert modular.small_factors(x, bound) == prod(p for p in primes if x % p == 0)


@given(st.integers(0, 10006), st.integers(0, 10008))
def test_chinese_remainders(a: int, b: int) -> None:
    p, q = 10007, 10009
    x = modular.crt(a, b, p, q)
    assert 0 <= x < p * q
    assert (x % p, x % q) == (a, b)


@given(NUMBERS, MODULI, st.integers(1, 130), st.integers(1, 7), st.data())
def test_fixed_base_against_pow(base: int, n: int, bits: int, window: int, data: st.DataObject) -> None:
    table = modular.FixedBase(base, n, bits, window)
    for e in (0, 1, (1 << bits) - 1, data.draw(st.integers(0, (1 << bits) - 1))):
        assert table.power(e) == pow(base, e, n)


@pytest.mark.parametrize("exponent", [-1, 1 << 20, 1 << 300])
def test_fixed_base_refuses_exponents_beyond_its_table(exponent: int) -> None:
    with pytest.raises(ValueError, match=r"exponent must be in \[0, 2\*\*20\)"):
        modular.FixedBase(3, 1009, 20).power(exponent)


@given(NUMBERS, st.lists(st.integers(0, 2**90) | st.integers(0, 2), max_size=20), MODULI)
def test_powers_against_pow(base: int, exponents: Sequence[int], n: int) -> None:
    assert modular.powers(base, exponents, n) == [pow(base, e, n) for e in exponents]


def test_powers_refuse_a_negative_exponent() -> None:
    with pytest.raises(ValueError, match="negative"):
        modular.powers(3, [1, -1], 1009)


@given(st.integers(0, 2**64 - 1), st.integers(2, 2**64), st.integers(0, 3))
def test_fixed_base_is_pow_before_and_after_its_table(exponent: int, base: int, plain: int) -> None:
    table = modular.FixedBase(base, 2**89 - 1, 64, 4, plain)
    assert {table.power(exponent) for _ in range(5)} == {pow(base, exponent, 2**89 - 1)}
