"""Commitments: binding, bound to their context, hiding."""

from __future__ import annotations

import hashlib
import hmac

from hypothesis import given
from hypothesis import strategies as st

from protocols.arithmetic.rng import Stream
from protocols.crypto import commitment

CONTEXT, VALUE = b"session and P1", b"a coin of 32 bytes, or nearly so"
C, OPENING = commitment.commit(CONTEXT, VALUE, Stream.insecure_from_seed("commit"))


@given(st.binary(max_size=80), st.binary(max_size=80), st.integers(0, 99))
def test_a_commitment_opens_and_is_an_hmac(context: bytes, value: bytes, seed: int) -> None:
    c, opening = commitment.commit(context, value, Stream.insecure_from_seed(seed))
    assert (len(c), len(opening)) == (commitment.COMMITMENT_BYTES, commitment.OPENING_BYTES)
    assert commitment.opens(c, context, value, opening)
    assert c == hmac.digest(opening, hashlib.sha256(context).digest() + value, "sha256")


@given(st.sampled_from(["commitment", "context", "value", "opening"]), st.integers(0, 31), st.integers(1, 255))
def test_nothing_altered_opens(part: str, at: int, change: int) -> None:
    parts = {"commitment": C, "context": CONTEXT, "value": VALUE, "opening": OPENING}
    altered = bytearray(parts[part])
    altered[at % len(altered)] ^= change
    assert not commitment.opens(**(parts | {part: bytes(altered)}))


def test_other_numbers_are_other_bytes() -> None:
    vectors = [(), (0,), (1,), (0, 0), (1, 1), (11,), (1, 11), (11, 1), (111,), (2**64 - 1,)]
    assert len({commitment.canonical(v) for v in vectors}) == len(vectors)
    assert len({b"".join(b"%d" % x for x in v) for v in vectors}) < len(vectors)  # without a mark between them
