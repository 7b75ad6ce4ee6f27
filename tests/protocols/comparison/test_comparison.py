"""The comparison: right for every pair of small numbers, and its views tell no more than the result."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from itertools import product
from typing import Any, NoReturn

import pytest
from support.toy import ACCEPT, dgk_key, opened_bit, uniformity

from protocols.arithmetic.ring import Ring
from protocols.arithmetic.rng import Stream
from protocols.comparison import ideal, roles, steps
from protocols.comparison.messages import DGK, ComparisonKey
from protocols.comparison.parameters import Comparisons
from protocols.crypto.dgk import BitCiphertext, DgkPrivateKey, DgkPublicKey, FreshBit
from protocols.errors import LocalError, PeerError
from tests.support.refusals import refused

LENGTH = 4
KEY = dgk_key(steps.plaintext_modulus(LENGTH))
PAIRS = list(product(range(1 << LENGTH), repeat=2))


class Desk:
    """An end of a link with a peer who answers in turn: what a role of two messages sees of the world."""

    def __init__(self, rng: Stream) -> None:
        self.rng, self.sent, self.inbox = rng, [], []  # type: ignore[var-annotated]

    def send(self, to: str, message: Any) -> None:
        self.sent.append(message)

    async def receive(self, sender: str, kind: type) -> Any:
        return self.inbox.pop(0)

    def admit(self, name: str, key: DgkPublicKey) -> None:
        self.sent.append((name, key))

    def refuse(self, sender: str, code: str, **fields: object) -> NoReturn:
        raise PeerError(sender, code, (), **fields)  # type: ignore[arg-type]


def finish(role: Coroutine[Any, Any, Any]) -> Any:
    try:
        role.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("the role waits")


def compare(key: DgkPrivateKey, x: int, y: int, flip: int, length: int, rng: Stream) -> tuple[int, Any]:
    """The holder's result by the two roles, and the message it saw."""
    holder, chooser = Desk(rng.fork("holder")), Desk(rng.fork("chooser"))
    roles.send_offer(holder, "chooser", key, y, length)  # type: ignore[arg-type]
    chooser.inbox = holder.sent
    finish(roles.answer_offer(chooser, "holder", key.public, x, flip))  # type: ignore[arg-type]
    holder.inbox = list(chooser.sent)
    return finish(roles.read_answer(holder, "chooser", key)), chooser.sent[0]  # type: ignore[arg-type]


def encrypted(key: DgkPrivateKey, y: int, length: int, rng: Stream) -> list[FreshBit]:
    return [key.encrypt(y >> i & 1, rng) for i in range(length)]


def values(key: DgkPrivateKey, c: Sequence[BitCiphertext]) -> list[int]:
    """What the holder can read: each c_i mod u."""
    return [opened_bit(key, c_i) for c_i in c]


def test_the_roles_for_every_pair_and_flip() -> None:
    for number, ((x, y), flip) in enumerate(product(PAIRS, (0, 1))):
        result, message = compare(KEY, x, y, flip, LENGTH, Stream.insecure_from_seed(f"roles {number}"))
        assert result == ideal.functionality(x, y, flip) == int(x <= y) ^ flip
        assert len(message.c) == LENGTH + 1


def test_at_most_one_zero_and_the_rest_uniform_whatever_the_inputs() -> None:
    rng = Stream.insecure_from_seed("values")
    for x, y in ((0, 15), (15, 0), (7, 7), (8, 7), (5, 4)):
        for delta_a in (0, 1):
            seen = [
                values(KEY, steps.blinded_differences(KEY.public, x, encrypted(KEY, y, LENGTH, rng), delta_a, rng))
                for _ in range(150)
            ]
            assert {c.count(0) for c in seen} == {int((x <= y) == (delta_a == 0))}
            assert uniformity((v for c in seen for v in c if v), range(1, KEY.public.u)) > ACCEPT


def test_the_place_of_the_zero_is_uniform() -> None:
    rng = Stream.insecure_from_seed("place")
    for x, y in ((0, 15), (6, 7), (9, 9)):
        places = [
            values(KEY, steps.blinded_differences(KEY.public, x, encrypted(KEY, y, LENGTH, rng), 0, rng)).index(0)
            for _ in range(300)
        ]
        assert uniformity(places, range(LENGTH + 1)) > ACCEPT


def test_the_plaintext_modulus_is_the_smallest_prime_beyond_all_values() -> None:
    for length in range(1, 120):
        u = steps.plaintext_modulus(length)
        assert u > 3 * length + 2
        primes = [m for m in range(3 * length + 3, u + 1) if all(m % d for d in range(2, m))]
        assert primes == [u]


def test_no_value_but_zero_vanishes_mod_u() -> None:
    for length in (1, 2, 3, 4, 5):
        u = steps.plaintext_modulus(length)
        for x, y in product(range(1 << length), repeat=2):
            for s in (1, -1):
                above = 0
                for i in reversed(range(length)):
                    x_i, y_i = x >> i & 1, y >> i & 1
                    c = s + x_i - y_i + 3 * above
                    assert (c % u == 0) == (c == 0)
                    above += x_i ^ y_i
                assert above + 1 < u


# The sign of a difference that both share.

RING = Ring(5)


def shared_differences() -> list[tuple[int, int, int]]:
    """(D, D_c, D_p) for every |D| < 2**4 and every way to share it."""
    return [(d, d_c, (d - d_c) % 32) for d in range(-15, 16) for d_c in range(32)]


def test_the_sign_of_every_shared_difference_in_the_clear() -> None:
    for d, d_c, d_p in shared_differences():
        x, flip = steps.chooser_half(RING, d_p)
        y, top = steps.holder_half(RING, d_c)
        assert max(x, y) < 16
        assert steps.is_negative(int(x <= y) ^ flip, top) == int(d < 0)


def test_a_difference_of_half_the_ring_is_beyond_the_rule() -> None:
    x, flip = steps.chooser_half(RING, 16)
    y, top = steps.holder_half(RING, 0)
    assert steps.is_negative(int(x <= y) ^ flip, top) == 1  # 16 reads as -16: why all sizes stay below half


def test_bits_and_xor() -> None:
    assert steps.bits(0b1101, 6) == [1, 0, 1, 1, 0, 0]
    assert steps.bits(0b1101, 2) == [1, 0]
    assert [steps.xor(a, b) for a, b in product((0, 1), repeat=2)] == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("plain", "code"),
    [
        ({"comparisons": 0}, "comparison.nothing_to_compare"),
        ({"bits": 1}, "comparison.nothing_to_compare"),
        ({"key_bits": 500}, "comparison.key_bits_unusable"),
        ({"key_bits": 32}, "comparison.key_bits_unusable"),
        ({"bits": 8.0}, "parameters.not_as_written"),
        ({"more": 1}, "parameters.not_as_written"),
    ],
)
def test_parameters_are_read_back_and_no_others(plain: dict[str, Any], code: str) -> None:
    p = Comparisons(3, 8, 512)
    assert Comparisons.from_dict(p.as_dict()) == p
    with refused(code, error=LocalError):
        Comparisons.from_dict(p.as_dict() | plain)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({}, ""),
        ({"n": KEY.public.n >> 1 | 1, "g": 2, "h": 2}, "comparison_key.of_another_length"),
        ({"n": KEY.public.n << 1 | 1}, "comparison_key.of_another_length"),
        ({"g": 0}, "comparison_key.unusable"),
    ],
)
def test_a_key_of_another_length_or_without_generators_is_not_admitted(change: dict[str, int], code: str) -> None:
    key = KEY.public
    desk, got = Desk(Stream.from_system()), ComparisonKey(**{"n": key.n, "g": key.g, "h": key.h} | change)
    if not code:
        assert roles.admit_key(desk, "holder", got, 256, key.u) == key  # type: ignore[arg-type]
        assert desk.sent == [(DGK, key)]
        return
    with refused(code, error=PeerError):
        roles.admit_key(desk, "holder", got, 256, key.u)  # type: ignore[arg-type]
    assert desk.sent == []
