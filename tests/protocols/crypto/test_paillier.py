"""Paillier against phe both ways, against Python's pow, and against its broken twins."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import islice
from math import gcd

import phe
import pytest
from broken import paillier_twins as twins
from hypothesis import given, settings
from hypothesis import strategies as st
from support.repetitions import with_slow
from support.toy import ACCEPT, REJECT, paillier_key, randomiser, uniformity

from protocols.arithmetic import modular
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.crypto import admission, paillier
from protocols.crypto.hashed import hash_to_residues
from protocols.crypto.paillier import Ciphertext, Fresh, PublicKey, Uniform
from protocols.errors import DecodeError, LocalError
from tests.support.refusals import refused

KEY = paillier_key()
PUBLIC, N = KEY.public, KEY.public.n
PLAINTEXTS = st.integers(0, N - 1) | st.integers(0, 3) | st.integers(N - 3, N - 1)
SEEDS = st.integers(0, 10**6).map(Stream.insecure_from_seed)
Blind = Callable[[PublicKey, Ciphertext, int, Stream], Fresh]


def opened_by_phe(c: Ciphertext) -> int:
    """By the textbook, with phe's key alone."""
    return int(phe.PaillierPrivateKey(phe.PaillierPublicKey(N), KEY.p, KEY.q).raw_decrypt(c.value))


def opened_by_definition(c: Ciphertext) -> int:
    """L(c**lambda mod n**2) / lambda mod n."""
    phi = (KEY.p - 1) * (KEY.q - 1)
    return (pow(c.value, phi, N * N) - 1) // N * pow(phi, -1, N) % N


# Against phe.


@settings(max_examples=25)
@given(PLAINTEXTS, SEEDS)
def test_phe_and_the_definition_open_ours(m: int, rng: Stream) -> None:
    for c in (PUBLIC.encrypt(m, rng), KEY.encrypt(m, rng)):
        assert opened_by_phe(c) == opened_by_definition(c) == KEY.decrypt(c) == m


@given(PLAINTEXTS, st.integers(1, N - 1))
def test_ours_opens_phe(m: int, r: int) -> None:
    assert KEY.decrypt(Ciphertext(N, phe.PaillierPublicKey(N).raw_encrypt(m, r_value=r))) == m


@pytest.mark.parametrize("m", [0, 1, -1, 12345, -(10**100)])
def test_phe_decodes_our_signed_numbers(m: int) -> None:
    ours = phe.EncryptedNumber(PUBLIC.phe, PUBLIC.encrypt(m, Stream.insecure_from_seed(m)).value)
    assert KEY.phe.decrypt(ours) == m
    assert KEY.phe.decrypt(ours + 7) == m + 7


# Its own identities.


@given(PLAINTEXTS, st.integers(0, 2**64))
def test_the_owner_makes_the_ciphertext_that_the_public_side_makes(m: int, seed: int) -> None:
    public, owner, swapped = (Stream.insecure_from_seed(seed) for _ in range(3))
    assert PUBLIC.encrypt(m, public) == KEY.encrypt(m, owner)
    assert public.bytes(8) == owner.bytes(8)
    assert twins.encrypt_by_halves_swapped(KEY, m, swapped) != KEY.encrypt(m, Stream.insecure_from_seed(seed))


@settings(max_examples=25)
@given(PLAINTEXTS, st.integers(0, 2**64))
def test_a_ciphertext_is_the_definition_with_an_exponent_64_bits_longer_than_n(m: int, seed: int) -> None:
    r = Stream.insecure_from_seed(seed).bits(512 + 64)
    assert PUBLIC.encrypt(m, Stream.insecure_from_seed(seed)).value == pow(1 + N, m, N * N) * pow(
        pow(PUBLIC.h, N, N * N), r, N * N
    ) % (N * N)


@settings(max_examples=25)
@given(st.lists(PLAINTEXTS, min_size=1, max_size=5), SEEDS)
def test_addition(plaintexts: list[int], rng: Stream) -> None:
    total = PUBLIC.add(*(PUBLIC.encrypt(m, rng) for m in plaintexts))
    assert opened_by_definition(total) == sum(plaintexts) % N
    assert type(total) is Ciphertext


@settings(max_examples=25)
@given(PLAINTEXTS, st.lists(PLAINTEXTS, min_size=1, max_size=5), SEEDS)
def test_scaling(m: int, factors: list[int], rng: Stream) -> None:
    scaled = PUBLIC.scale(PUBLIC.encrypt(m, rng), factors)
    assert [opened_by_definition(c) for c in scaled] == [m * k % N for k in factors]
    assert {type(c) for c in scaled} == {Ciphertext}


@given(PLAINTEXTS, PLAINTEXTS, SEEDS)
def test_blinding_and_refreshing(m: int, r: int, rng: Stream) -> None:
    c = PUBLIC.encrypt(m, rng)
    blinded, refreshed = PUBLIC.blind(c, r, rng), PUBLIC.refresh(c, rng)
    assert [KEY.decrypt(c) for c in (blinded, refreshed)] == [(m + r) % N, m]
    assert (type(blinded), type(refreshed), type(c)) == (Uniform, Fresh, Fresh)
    assert len({c.value, blinded.value, refreshed.value}) == 3


def test_scaling_by_a_negative_factor_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        PUBLIC.scale(PUBLIC.encrypt(1, Stream.insecure_from_seed(1)), [-1])


def test_a_ciphertext_under_another_key_is_refused() -> None:
    rng, other = Stream.insecure_from_seed("wrong key"), paillier_key("other")
    mine, foreign = PUBLIC.encrypt(1, rng), other.public.encrypt(1, rng)
    for use in (
        lambda: PUBLIC.refresh(foreign, rng),
        lambda: PUBLIC.blind(foreign, 1, rng),
        lambda: PUBLIC.add(mine, foreign),
        lambda: PUBLIC.scale(foreign, [1]),
        lambda: KEY.decrypt(foreign),
    ):
        with refused("ciphertext.under_another_key", error=LocalError):
            use()


# Randomisers: what the holder of the secret key sees in a ciphertext beside its plaintext.


@pytest.mark.parametrize(
    ("blind", "fresh"),
    [
        (PublicKey.blind, True),
        (twins.blind_plaintext_only, False),
        (twins.blind_with_short_exponent, True),
        (twins.blind_by_a_power_of_h, True),
    ],
)
def test_blinding_replaces_the_randomiser(blind: Blind, fresh: bool) -> None:
    rng = Stream.insecure_from_seed("relink")
    sent = [PUBLIC.encrypt(rng.bits(80), rng) for _ in range(8)]
    pi2 = Permutation.random(8, rng)
    returned = pi2([blind(PUBLIC, c, rng.bits(160), rng) for c in sent])
    before = [randomiser(KEY, c.value) for c in sent]
    after = [randomiser(KEY, c.value) for c in returned]
    linked = [after.index(r) if r in after else None for r in before]
    assert linked == ([None] * 8 if fresh else list(pi2.images))


@pytest.mark.parametrize(("blind", "uniform"), [(PublicKey.blind, True), (twins.blind_with_short_exponent, False)])
def test_randomisers_after_blinding_are_uniform(blind: Blind, uniform: bool) -> None:
    key, rng = paillier_key("tiny", 256), Stream.insecure_from_seed("randomiser law")
    c = key.public.encrypt(5, rng)
    drawn = [randomiser(key, blind(key.public, c, rng.bits(40), rng).value) for _ in range(800)]
    for part in (lambda r: r & 31, lambda r: 32 * r // key.public.n):
        p = uniformity(map(part, drawn), range(32))
        assert p > ACCEPT if uniform else p < REJECT


@settings(max_examples=25)
@given(PLAINTEXTS, PLAINTEXTS, st.integers(0, 2**64))
def test_blinding_is_the_definition_with_the_first_unit_of_symbol_plus_one(m: int, r: int, seed: int) -> None:
    c, rng = KEY.encrypt(m, Stream.insecure_from_seed("blinded")), Stream.insecure_from_seed(seed)
    y = next(y for y in iter(lambda: rng.below(N), None) if gcd(y, N) == 1 and symbol(Ciphertext(N, y)) == 1)
    blinded = PUBLIC.blind(c, r, Stream.insecure_from_seed(seed))
    assert blinded.value == c.value * pow(1 + N, r, N * N) * pow(y, N, N * N) % (N * N)


def bad_key(common: int) -> paillier.PrivateKey:
    """A key whose h generates 1/common of the units of symbol +1, for `common` is 2 or divides both p - 1 and q - 1."""
    rng = Stream.insecure_from_seed(f"bad key {common}")
    residue, modulus = (1, 4) if common == 2 else (2 * common + 1, 4 * common)
    p, q = (modular.random_prime(128, rng, residue=residue, modulus=modulus) for _ in range(2))
    return paillier.PrivateKey(PublicKey(p * q), p, q)


@cache
def _logarithms(prime: int, common: int) -> dict[int, int]:
    powers = (pow(x, (prime - 1) // common, prime) for x in range(2, prime))
    root = next(y for y in powers if y != 1)
    return {pow(root, k, prime): k for k in range(common)}


def coset(key: paillier.PrivateKey, value: int, common: int) -> int:
    """In which coset of the powers of h, of `common` many, the holder of such a key finds a randomiser."""

    def log(x: int, prime: int) -> int:
        return _logarithms(prime, common)[pow(x, (prime - 1) // common, prime)]

    if common == 2:
        return log(value, key.p)
    h = key.public.h
    return (log(value, key.p) * log(h, key.q) - log(value, key.q) * log(h, key.p)) % common


@pytest.mark.parametrize(
    ("common", "by_chance"), with_slow([(2, range(240, 361)), (23, range(2, 53))], (2, range(240, 361)))
)
def test_a_holder_with_other_primes_than_agreed_recognises_nothing_that_was_blinded(
    common: int, by_chance: range
) -> None:
    """By chance 300 and 26 of 600 would be recognised; the ranges have five standard deviations on each side."""
    key, rng = bad_key(common), Stream.insecure_from_seed(f"cosets {common}")
    assert admission.verify(key.public, 256, admission.prove(key, b"bad"), b"bad", rng) is None
    classic = iter(lambda: twins.encrypt_classically(key.public, 5, rng), None)
    sent = list(islice((c for c in classic if modular.jacobi(c.value, c.n) == 1), 600))
    before = [coset(key, c.value, common) for c in sent]
    assert uniformity(before, range(common)) > ACCEPT

    def moves(blind: Blind) -> list[int]:
        after = (coset(key, blind(key.public, c, rng.bits(40), rng).value, common) for c in sent)
        return [(y - x) % common for x, y in zip(before, after, strict=True)]

    hidden = moves(PublicKey.blind)
    assert hidden.count(0) in by_chance
    assert uniformity(hidden, range(common)) > ACCEPT
    assert moves(twins.blind_by_a_power_of_h) == [0] * 600


def symbol(c: Ciphertext) -> int:
    """By Euler's criterion at both primes."""
    return 1 if (pow(c.value, (KEY.p - 1) // 2, KEY.p) == 1) == (pow(c.value, (KEY.q - 1) // 2, KEY.q) == 1) else -1


def test_every_ciphertext_of_ours_has_symbol_plus_one() -> None:
    rng = Stream.insecure_from_seed("symbols")
    c = PUBLIC.encrypt(3, rng)
    made = [c, KEY.encrypt(4, rng), PUBLIC.refresh(c, rng), *PUBLIC.scale(c, [2, 3, 4])]
    made += [PUBLIC.encrypt(m, rng) for m in range(60)] + [PUBLIC.blind(c, m, rng) for m in range(60)]
    assert {symbol(c) for c in made} == {1}
    assert all(PUBLIC.admit(c.value).value == c.value for c in made)
    assert {symbol(twins.blind_by_any_unit(PUBLIC, c, m, rng)) for m in range(60)} == {1, -1}


@pytest.mark.parametrize(
    "value",
    [0, N, N * N, N * N + 1, 3 * N, KEY.p, KEY.q * 12345, KEY.p**2, -1, N * (N - 1), KEY.p * KEY.q * 2],
)
def test_what_is_no_unit_is_not_admitted(value: int) -> None:
    with refused("paillier.not_a_unit", error=DecodeError):
        PUBLIC.admit(value)


# Short exponents.


class Counted(Stream):
    """A stream that remembers how many bits it was asked for."""

    def __init__(self) -> None:
        super().__init__(bytes(32), insecure=True)
        self.asked: list[int] = []

    def bits(self, k: int) -> int:
        self.asked.append(k)
        return super().bits(k)


@pytest.mark.parametrize(("exponents", "bits"), [("short", 256), ("full", 512 + 64)])
def test_a_key_draws_exponents_of_the_length_that_it_says_and_blinds_without_any(exponents: str, bits: int) -> None:
    key = paillier.assemble(KEY.p, KEY.q, 512, exponents)
    rng = Counted()
    c = key.public.encrypt(5, rng)
    made = [c, key.encrypt(6, rng), key.public.refresh(c, rng)]
    assert rng.asked == [bits] * 3
    assert [KEY.decrypt(c) for c in made] == [5, 6, 5]
    assert all(PUBLIC.admit(x.value) == Ciphertext(N, x.value) for x in made)
    rng.asked.clear()
    assert KEY.decrypt(key.public.blind(c, 1, rng)) == 6
    assert {length for length in rng.asked} == {N.bit_length()}  # those of y below n


@settings(max_examples=25)
@given(PLAINTEXTS, st.integers(0, 2**64))
def test_the_owner_makes_the_same_ciphertext_with_short_exponents(m: int, seed: int) -> None:
    short = paillier.assemble(KEY.p, KEY.q, 512, "short")
    r = Stream.insecure_from_seed(seed).bits(256)
    made = [key.encrypt(m, Stream.insecure_from_seed(seed)).value for key in (short, short.public)]
    assert made == [pow(1 + N, m, N * N) * pow(PUBLIC.h_s, r, N * N) % (N * N)] * 2


def test_exponents_have_one_of_two_lengths_and_short_ones_are_never_the_longer() -> None:
    with pytest.raises(ValueError, match="got long"):
        PublicKey(N, "long")
    assert [PublicKey(13, exponents).exponent_bits for exponents in paillier.EXPONENTS] == [4 + 64] * 2
    assert PublicKey(N, "short") == PublicKey(N, "full")  # one key, whoever draws how


# Many narrow plaintexts under one decryption.


@pytest.mark.parametrize("bits", [1, 40, 85, 170, 255, 510])
@pytest.mark.parametrize("count", [0, 1, 4, 13])
def test_narrow_plaintexts_are_those_of_decryption(bits: int, count: int) -> None:
    rng = Stream.insecure_from_seed(f"narrow {bits} {count}")
    values = [((1 << bits) - 1, 0, rng.bits(bits))[i % 3] for i in range(count)]
    sent = [KEY.encrypt(m, rng) for m in values]
    assert KEY.decrypt_batch(sent, bits, rng) == values


@pytest.mark.parametrize("wrong", [1 << 40, (1 << 40) * 7 + 5, 1 << 200, N - 1, N // 3])
@pytest.mark.parametrize("place", [0, 3, 12])
def test_a_plaintext_longer_than_its_slot_changes_no_other(wrong: int, place: int) -> None:
    """What a peer should not have sent; a twin that does not check what it took apart gets its neighbours wrong."""
    rng = Stream.insecure_from_seed(f"long {wrong} {place}")
    values = [rng.bits(40) for _ in range(13)]
    values[place] = wrong
    sent = [KEY.encrypt(m, rng) for m in values]
    assert KEY.decrypt_batch(sent, 40, rng) == values
    assert twins.decrypt_batch_unchecked(KEY, sent[:12], 40) != values[:12] or place == 12


def test_a_slot_one_bit_too_narrow_is_noticed_and_each_is_opened_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, opened, real = Stream.insecure_from_seed("too narrow"), [], paillier.PrivateKey.decrypt
    monkeypatch.setattr(paillier.PrivateKey, "decrypt", lambda key, c: (opened.append(c), real(key, c))[1])
    values = [(1 << 39) + i for i in range(8)]
    sent = [KEY.encrypt(m, rng) for m in values]
    assert (KEY.decrypt_batch(sent, 40, rng), opened) == (values, [])
    assert (KEY.decrypt_batch(sent, 39, rng), opened) == (values, sent)
    assert twins.decrypt_batch_unchecked(KEY, sent, 40) == values != twins.decrypt_batch_unchecked(KEY, sent, 39)


# Keys.


@pytest.mark.parametrize("bits", [256, 258, 512, 640])
def test_keys_have_the_stated_shape(bits: int) -> None:
    for seed in range(3):
        key = paillier.generate(bits, Stream.insecure_from_seed(f"shape {seed}"))
        p, q = key.p, key.q
        assert key.public.n == p * q
        assert key.public.bits == bits == (p * q).bit_length()
        for prime in (p, q):
            assert prime.bit_length() == bits // 2
            assert prime >> (bits // 2 - 2) == 3
            assert prime % 4 == 3
            assert all(pow(a, prime - 1, prime) == 1 for a in (2, 3, 5, 7, 11))
        assert gcd(p - 1, q - 1) == 2
        assert gcd(p * q, (p - 1) * (q - 1)) == 1
        assert modular.jacobi(key.public.h, p) == modular.jacobi(key.public.h, q) == -1
        assert key.public.h_s == pow(key.public.h, p * q, (p * q) ** 2)


@pytest.mark.parametrize("bits", [0, 128, 254, 511, -512])
def test_key_lengths_that_cannot_be_are_refused(bits: int) -> None:
    with pytest.raises(ValueError, match="at least 256 bits"):
        paillier.generate(bits, Stream.insecure_from_seed(1))


@pytest.mark.parametrize("n", [0, 1, -3, -N, N - 1, N + 1, N + 2, KEY.p, 2 * N])
def test_a_modulus_under_which_h_could_have_symbol_minus_one_is_refused(n: int) -> None:
    with pytest.raises(ValueError, match="n must be 1 mod 4"):
        PublicKey(n)


@given(st.integers(2, 10**60).map(lambda k: 4 * k + 1))
def test_h_follows_from_n_alone_and_has_symbol_plus_one(n: int) -> None:
    h = PublicKey(n).h
    assert h == PublicKey(n).h
    assert 0 <= h < n
    assert modular.jacobi(h, n) == (1 if gcd(h, n) == 1 else 0)


def test_h_is_minus_a_square_that_nobody_chose_and_differs_from_key_to_key() -> None:
    keys = [paillier_key(name, 256) for name in "abcdefgh"]
    for key in keys:
        (x,) = hash_to_residues(b"smc-dp h", key.public.n, 1)
        assert (key.public.h + x * x) % key.public.n == 0
        assert all(pow(key.public.h, (prime - 1) // 2, prime) == prime - 1 for prime in (key.p, key.q))
    assert len({key.public.h for key in keys}) == len(keys)


def test_primes_of_another_modulus_are_refused() -> None:
    with pytest.raises(ValueError, match="p q must be n"):
        paillier.PrivateKey(PUBLIC, KEY.p, KEY.p)


def test_assembling_gives_the_key_back() -> None:
    assert paillier.assemble(KEY.p, KEY.q, 512) == KEY


def _prime(start: int, step: int = 1) -> int:
    while not modular.is_prime(start):
        start += step
    return start


@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        (KEY.p, KEY.p, "gcd"),
        (KEY.p + 2, KEY.q, "primes of 256 bits"),
        (KEY.p, _prime(3 << 300), "primes of 256 bits"),
        (KEY.p, _prime((3 << 254) + 1, 4), "primes of 256 bits"),
        (_prime((1 << 255) + 3, 4), _prime((1 << 255) + (1 << 100) + 3, 4), "512 bits, got 511"),
    ],
)
def test_shared_primes_that_generate_would_not_make_are_refused(p: int, q: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        paillier.assemble(p, q, 512)
