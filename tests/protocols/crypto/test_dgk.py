"""The cryptosystem with the zero test: group orders, plaintexts by table, randomness."""

from __future__ import annotations

from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.toy import dgk_key, opened_bit

from protocols.arithmetic import modular
from protocols.arithmetic.rng import Stream
from protocols.comparison.steps import plaintext_modulus
from protocols.crypto import dgk
from protocols.crypto.dgk import DgkPrivateKey, DgkPublicKey, FreshBit
from protocols.errors import DecodeError, LocalError
from tests.support.refusals import refused

KEY = dgk_key()
PUBLIC, U = KEY.public, KEY.public.u
WIDE = dgk_key(plaintext_modulus(76), 512)
SEEDS = st.integers(0, 10**6).map(Stream.insecure_from_seed)


@pytest.mark.parametrize("key", [KEY, WIDE], ids=["u=17", "76 bits"])
def test_the_generators_have_their_orders(key: DgkPrivateKey) -> None:
    n, g, h, u = key.public.n, key.public.g, key.public.h, key.public.u
    assert n == key.p * key.q
    for p, v in ((key.p, key.v_p), (key.q, key.v_q)):
        assert (p - 1) % (2 * u * v) == 0
        assert v.bit_length() == key.public.t
        assert all(pow(2, x - 1, x) == 1 for x in (p, v, u))
        assert (pow(h, v, p), pow(g, u * v, p)) == (1, 1)
        assert 1 not in (h % p, pow(g, u, p), pow(g, v, p))


@pytest.mark.parametrize("key", [KEY, WIDE], ids=["u=17", "76 bits"])
def test_the_zero_test_for_every_plaintext(key: DgkPrivateKey) -> None:
    rng = Stream.insecure_from_seed("zero test")
    for m in range(key.public.u):
        for c in (key.public.encrypt(m, rng), key.encrypt(m, rng), key.public.constant(m)):
            assert key.is_zero(c) == (m == 0)
            assert key.decrypt(c) == opened_bit(key, c) == opened_bit(key, c, prime=1) == m


def test_what_is_no_ciphertext_has_no_plaintext() -> None:
    units = (Stream.insecure_from_seed(f"unit {i}").below(PUBLIC.n - 2) + 2 for i in range(20))
    assert {KEY.decrypt(PUBLIC.admit(unit)) for unit in units} == {None}
    assert KEY.decrypt(PUBLIC.admit(1)) == 0


@given(st.integers(-100, 100), st.integers(0, 10**6))
def test_a_ciphertext_is_the_definition(m: int, seed: int) -> None:
    n, r = PUBLIC.n, Stream.insecure_from_seed(seed).bits(80)  # 2.5 t for t = 32
    assert PUBLIC.encrypt(m, Stream.insecure_from_seed(seed)).value == pow(PUBLIC.g, m % U, n) * pow(PUBLIC.h, r, n) % n


@given(st.integers(-100, 100), st.integers(0, 10**6))
def test_the_owner_makes_the_ciphertext_that_the_public_side_makes(m: int, seed: int) -> None:
    public, owner = Stream.insecure_from_seed(seed), Stream.insecure_from_seed(seed)
    assert PUBLIC.encrypt(m, public) == KEY.encrypt(m, owner)
    assert public.bytes(8) == owner.bytes(8)


@given(st.lists(st.integers(0, U - 1), max_size=6), st.integers(0, U - 1), st.integers(1, U - 1), SEEDS)
def test_homomorphisms(plaintexts: list[int], m: int, factor: int, rng: Stream) -> None:
    total = PUBLIC.add(*(PUBLIC.encrypt(x, rng) for x in plaintexts))
    assert opened_bit(KEY, total) == sum(plaintexts) % U
    c = PUBLIC.encrypt(m, rng)
    assert opened_bit(KEY, PUBLIC.negate(c)) == -m % U
    blinded = PUBLIC.blind(c, factor, rng)
    assert opened_bit(KEY, blinded) == m * factor % U
    assert isinstance(blinded, FreshBit)
    assert not isinstance(PUBLIC.add(c), FreshBit)
    assert not isinstance(PUBLIC.negate(c), FreshBit)


def test_ciphertexts_carry_new_randomness() -> None:
    rng = Stream.insecure_from_seed("fresh bits")
    c = PUBLIC.encrypt(0, rng)
    assert len({c.value, *(PUBLIC.encrypt(0, rng).value for _ in range(50))}) == 51
    assert len({c.value, *(PUBLIC.blind(c, 1, rng).value for _ in range(50))}) == 51
    assert PUBLIC.exponent_bits == 2.5 * PUBLIC.t


@pytest.mark.parametrize("value", [0, PUBLIC.n, PUBLIC.n + 1, -1, KEY.p, 3 * KEY.q])
def test_what_is_no_unit_is_not_admitted(value: int) -> None:
    with refused("dgk.not_a_unit", error=DecodeError):
        PUBLIC.admit(value)


def test_a_ciphertext_under_another_key_is_refused() -> None:
    rng = Stream.insecure_from_seed("wrong key")
    foreign = WIDE.public.encrypt(1, rng)
    for use in (
        lambda: PUBLIC.add(PUBLIC.constant(1), foreign),
        lambda: PUBLIC.negate(foreign),
        lambda: PUBLIC.blind(foreign, 1, rng),
        lambda: KEY.is_zero(foreign),
    ):
        with refused("ciphertext.under_another_key", error=LocalError):
            use()


@pytest.mark.parametrize(("g", "h"), [(1, 2), (2, 1), (0, 2), (2, KEY.p), (PUBLIC.n, 2), (2, -3)])
def test_generators_that_are_none_are_refused(g: int, h: int) -> None:
    with pytest.raises(ValueError, match="units"):
        DgkPublicKey(PUBLIC.n, g, h, U, PUBLIC.t)


@pytest.mark.parametrize(("bits", "u"), [(256, 15), (256, 1), (256, -7)])
def test_a_plaintext_modulus_must_be_prime(bits: int, u: int) -> None:
    with pytest.raises(ValueError, match="u must be prime"):
        dgk.generate(bits, u, Stream.insecure_from_seed(1))


def test_a_key_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="no room"):
        dgk.generate(256, modular.next_prime(1 << 90), Stream.insecure_from_seed(1))


def test_an_order_without_a_prime_in_its_range_makes_way_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (modular.next_prime(1 << bits) for bits in (44, 45))
    orders = iter([first, second])
    monkeypatch.setattr(modular, "random_prime", lambda bits, rng: next(orders))
    monkeypatch.setattr(modular, "is_prime", lambda n: n % first != 1)
    monkeypatch.setattr(dgk, "COFACTOR_MINIMUM", 1)
    p, v = dgk._prime(64, 17, 45, Stream.insecure_from_seed(1))
    assert (v, p % (2 * 17 * second), p >> 62) == (second, 1, 3)


@pytest.mark.parametrize("bits", [256, 384, 512])
def test_keys_have_exactly_the_stated_size(bits: int) -> None:
    for seed in range(5):
        key = dgk.generate(bits, 17, Stream.insecure_from_seed(f"dgk size {seed}"))
        assert key.public.n.bit_length() == bits
        assert key.p != key.q
        assert gcd(key.v_p, key.v_q) == 1
        assert dgk.has_size(key.public, bits)
        assert not dgk.has_size(key.public, bits + 1)
        assert not dgk.has_size(DgkPublicKey(3 * key.public.n, 2, 2, 17, 32), (3 * key.public.n).bit_length())


def test_orders_have_twice_the_security_level() -> None:
    assert [dgk.order_bits(bits) for bits in (512, 1024, 2048, 3071, 3072, 4096)] == [64, 128, 224, 224, 256, 256]
