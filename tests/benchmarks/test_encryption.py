"""Paillier encryptions and keys against those of phe, taken in turn."""

from __future__ import annotations

import phe
import pytest
from benchmarks.conftest import Compare
from benchmarks.timing import side_by_side, timed

from protocols.arithmetic.rng import Stream
from protocols.crypto import paillier

LEAST = {"short": 20, "full": 3}
TRIES, WARM, KEYS = 30, 520, 24  # uses of a key before it is timed; keys, one of which takes half to twice the mean


@pytest.mark.parametrize("side", ["public", "owner"])
@pytest.mark.parametrize("exponents", LEAST)
@pytest.mark.parametrize("bits", [2048, 3072])
def test_encryption_against_phe(bits: int, exponents: str, side: str, compare: Compare) -> None:
    rng = Stream.from_system()
    made = paillier.generate(bits, rng, exponents)
    encrypt = made.public.encrypt if side == "public" else made.encrypt
    for _ in range(WARM):
        encrypt(0, rng)
    numbers, ours, theirs = iter([rng.below(1 << 40) for _ in range(2 * (TRIES + 1))]), {}, {}

    def one() -> None:
        m = next(numbers)
        ours[encrypt(m, rng).value] = m

    def other() -> None:
        m = next(numbers)
        theirs[made.public.phe.encrypt(m).ciphertext()] = m

    seconds = side_by_side(one, other, TRIES)
    for found in (ours, theirs):
        assert len(found) == TRIES + 1
        assert [made.phe.raw_decrypt(c) for c in found] == list(found.values())
    compare(f"encrypt over phe, {side} side, {exponents} exponents, {bits} bits", *seconds, LEAST[exponents])


@pytest.mark.parametrize("bits", [2048, 3072])
def test_keys_against_phe(bits: int, compare: Compare) -> None:
    rng = Stream.from_system()
    ours = theirs = 0.0
    for _ in range(KEYS):
        seconds, key = timed(lambda: paillier.generate(bits, rng))
        ours += seconds
        seconds, (public, _) = timed(lambda: phe.generate_paillier_keypair(n_length=bits))
        theirs += seconds
        assert key.public.bits == public.n.bit_length()
    compare(f"key generation over phe's, {bits} bits", ours / KEYS, theirs / KEYS, 0.5)
