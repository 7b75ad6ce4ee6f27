"""Commitments: binding, bound to their context, hiding; each with the twin that is not."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable

import pytest
from broken import sealing_twins as twins
from hypothesis import given
from hypothesis import strategies as st
from support.toy import ACCEPT, REJECT, uniformity

from protocols.arithmetic.rng import Stream
from protocols.crypto import commitment

Commit = Callable[[bytes, bytes, Stream], tuple[bytes, bytes]]
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


@given(st.binary(max_size=40), st.binary(max_size=40), st.binary(max_size=40), st.binary(max_size=40))
def test_arbitrary_bytes_do_not_open(c: bytes, context: bytes, value: bytes, opening: bytes) -> None:
    assert not commitment.opens(c, CONTEXT, VALUE, OPENING)
    assert not commitment.opens(C, context, value, opening)


def test_context_and_value_cannot_trade_bytes() -> None:
    rng = Stream.insecure_from_seed("trade")
    c, opening = commitment.commit(b"ab", b"cd", rng)
    for context, value in ((b"a", b"bcd"), (b"abc", b"d"), (b"", b"abcd")):
        assert not commitment.opens(c, context, value, opening)


def test_another_party_cannot_copy_a_commitment() -> None:
    rng = Stream.insecure_from_seed("copy")
    c, opening = commitment.commit(b"session P1", VALUE, rng)
    assert not commitment.opens(c, b"session P2", VALUE, opening)
    c, opening = twins.commit_without_context(b"session P1", VALUE, rng)
    assert twins.opens_without_context(c, b"session P2", VALUE, opening)


def test_other_numbers_are_other_bytes() -> None:
    vectors = [(), (0,), (1,), (0, 0), (1, 1), (11,), (1, 11), (11, 1), (111,), (2**64 - 1,)]
    assert len({commitment.canonical(v) for v in vectors}) == len(vectors)
    assert len({b"".join(b"%d" % x for x in v) for v in vectors}) < len(vectors)  # without a mark between them


@pytest.mark.parametrize(("commit", "hides"), [(commitment.commit, True), (twins.commit_without_opening, False)])
def test_a_commitment_to_a_bit_hides_it(commit: Commit, hides: bool) -> None:
    rng = Stream.insecure_from_seed("hide")
    for value in (b"\x00", b"\x01"):
        p = uniformity((commit(CONTEXT, value, rng)[0][0] for _ in range(5_000)), range(256))
        assert p > ACCEPT if hides else p < REJECT
