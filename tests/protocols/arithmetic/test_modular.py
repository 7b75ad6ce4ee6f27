"""Modular arithmetic against Python's own integers."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, log2, prod, sqrt

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
def test_received_numbers_need_one_round_beyond_baillie_psw_and_short_ones_many(
    bits: int, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(modular.gmpy2, "is_prime", lambda x, n: asked.append((x.bit_length(), n)))
    modular.is_prime(modular.next_prime(1 << (bits - 1)))
    assert asked == [(bits, rounds)]


def composite_below(k: int, t: int) -> float:
    """log2 of the bound of Damgard, Landrock and Pomerance on p(k, t), by the formula for this range."""
    if t == 2 or 3 <= t <= k / 9:
        return 1.5 * log2(k) + t - log2(t) / 2 + 2 * (2 - sqrt(t * k))
    assert k / 9 <= t <= k / 4
    return log2(7 / 20 * k * 2 ** (-5 * t) + k**3.75 / 7 * 2 ** (-k / 2 - 2 * t) + 12 * k * 2 ** (-k / 4 - 3 * t))


def test_random_primes_pass_as_many_rounds_as_the_cited_bound_asks_for() -> None:
    """A twin with a round less, at the lengths of real keys, has no such bound."""
    assert all(composite_below(bits, modular.miller_rabin_rounds(bits)) < -133 for bits in range(224, 4097))
    assert all(composite_below(bits, modular.miller_rabin_rounds(bits) - 1) > -133 for bits in (512, 1024, 1536, 2048))
    assert modular.miller_rabin_rounds(223) * 2 == 128  # Rabin: 4**-64 for each composite


def test_random_primes_pass_their_rounds_with_bases_that_their_stream_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, real = [], gmpy2.is_strong_prp
    monkeypatch.setattr(modular.gmpy2, "is_strong_prp", lambda x, a: (asked.append((x, a)), real(x, a))[1])
    bases = []
    for seed in range(2):
        prime = modular.random_prime(1024, Stream.insecure_from_seed(seed))
        bases += [a for x, a in asked if x == prime]
        assert sum(x == prime for x, _ in asked) == 1 + modular.miller_rabin_rounds(1024)
    assert len(set(bases)) == len(bases) - 1  # but for the 2 that both begin with


def test_strong_pseudoprimes_to_small_bases_do_not_pass_drawn_ones() -> None:
    for composite in (3215031751, 3825123056546413051, 318665857834031151167461):  # to 2 ... 7, to 23, to 37
        assert gmpy2.is_strong_prp(composite, 2)
        assert not modular._passes(composite, Stream.insecure_from_seed(composite))


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


@given(NUMBERS, MODULI, st.integers(1, 130), st.data())
def test_fixed_base_against_pow_before_and_after_its_tables(base: int, n: int, bits: int, data: st.DataObject) -> None:
    table = modular.FixedBase(base, n, bits)
    drawn = data.draw(st.lists(st.integers(0, (1 << bits) - 1), min_size=4, max_size=4))
    for e in (0, 1, (1 << bits) - 1, *drawn, *drawn):  # the second and the eighth use make a table
        assert table.power(e) == pow(base, e, n)


@pytest.mark.parametrize(("bits", "uses"), [(1, 14), (20, 14), (256, 1), (256, 3584), (640, 56), (3136, 448)])
@pytest.mark.parametrize("entries", [0, 64, 1 << 14])
def test_a_comb_covers_its_exponents_within_its_entries(bits: int, uses: int, entries: int) -> None:
    shape = modular.Comb.for_uses(bits, uses, entries)
    assert shape.teeth * shape.columns >= bits
    assert shape.blocks << shape.teeth <= max(2, entries)


@pytest.mark.parametrize("exponent", [-1, 1 << 20, 1 << 300])
def test_fixed_base_refuses_exponents_beyond_its_table(exponent: int) -> None:
    with pytest.raises(ValueError, match=r"exponent must be in \[0, 2\*\*20\)"):
        modular.FixedBase(3, 1009, 20).power(exponent)


@given(NUMBERS, st.lists(st.integers(0, 2**90) | st.integers(0, 2), max_size=20), MODULI)
def test_powers_against_pow(base: int, exponents: Sequence[int], n: int) -> None:
    assert modular.powers_of_base(base, exponents, n) == [pow(base, e, n) for e in exponents]


def test_powers_refuse_a_negative_exponent() -> None:
    with pytest.raises(ValueError, match="negative"):
        modular.powers_of_base(3, [1, -1], 1009)


@given(st.lists(st.tuples(NUMBERS, st.integers(0, 2**90) | st.integers(0, 2)), max_size=8), MODULI, st.integers(1, 40))
def test_products_of_powers_and_horner_against_pow(pairs: list[tuple[int, int]], n: int, shift: int) -> None:
    bases, exponents = [base for base, _ in pairs], [e for _, e in pairs]
    assert modular.product_of_powers(bases, exponents, n) == prod(pow(b, e, n) for b, e in pairs) % n
    packed = prod(pow(b, 1 << (shift * i), n) for i, b in enumerate(bases)) % n
    assert modular.horner(bases, shift, n) == packed


def test_products_of_powers_refuse_a_negative_exponent() -> None:
    with pytest.raises(ValueError, match="negative"):
        modular.product_of_powers([3], [-1], 1009)
