"""The random stream against RFC 8439 written out, and its laws."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.toy import ACCEPT, uniformity

from protocols.arithmetic.rng import Stream

DRAWS = 20_000


def chacha20(key: bytes, blocks: int) -> bytes:
    """RFC 8439, section 2.3, with an all-zero nonce and counter from 0."""

    def quarter(s: list[int], a: int, b: int, c: int, d: int) -> None:
        for x, y, z, shift in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            s[x] = (s[x] + s[y]) & 0xFFFFFFFF
            s[z] ^= s[x]
            s[z] = (s[z] << shift | s[z] >> (32 - shift)) & 0xFFFFFFFF

    out = b""
    for counter in range(blocks):
        words = b"expand 32-byte k" + key + counter.to_bytes(4, "little") + bytes(12)
        start = [int.from_bytes(words[i : i + 4], "little") for i in range(0, 64, 4)]
        state = list(start)
        for _ in range(10):
            for i in range(4):
                quarter(state, i, i + 4, i + 8, i + 12)
            for i in range(4):
                quarter(state, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
        out += b"".join(((x + y) & 0xFFFFFFFF).to_bytes(4, "little") for x, y in zip(state, start, strict=True))
    return out


def test_stream_is_chacha20_across_its_buffer() -> None:
    key = bytes(range(32))
    rng = Stream(key, insecure=True)
    drawn = rng.bytes(1) + rng.bytes(4095) + rng.bytes(3) + rng.bytes(5000) + rng.bytes(0) + rng.bytes(7)
    assert drawn == chacha20(key, -(-len(drawn) // 64))[: len(drawn)]


@given(st.lists(st.integers(0, 5000), max_size=6))
def test_draws_concatenate(lengths: list[int]) -> None:
    one, many = Stream.insecure_from_seed("cut"), Stream.insecure_from_seed("cut")
    assert b"".join(many.bytes(n) for n in lengths) == one.bytes(sum(lengths))


def test_fork_is_hmac_of_the_label_whatever_was_drawn() -> None:
    rng = Stream.insecure_from_seed("root")
    before = rng.fork("a").key
    rng.bytes(100)
    assert rng.fork("a").key == before == hmac.new(rng.key, b"fork:a", hashlib.sha256).digest()
    assert len({rng.key, rng.fork("a").key, rng.fork("b").key, rng.fork("").key, rng.fork("a").fork("a").key}) == 5


def test_a_spawned_stream_is_keyed_by_the_next_bytes_and_each_is_another() -> None:
    rng, same = Stream.insecure_from_seed("root"), Stream.insecure_from_seed("root")
    assert [rng.spawn().key for _ in range(2)] == [same.bytes(32), same.bytes(32)]
    assert rng.spawn().insecure


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 10, 100, 257, 1000])
def test_below_is_uniform(n: int) -> None:
    rng = Stream.insecure_from_seed(f"below {n}")
    samples = [rng.below(n) for _ in range(DRAWS)]
    assert uniformity(samples, range(n)) > ACCEPT if n > 1 else set(samples) == {0}


@pytest.mark.parametrize("k", [1, 3, 8, 11])
def test_bits_are_uniform(k: int) -> None:
    rng = Stream.insecure_from_seed(f"bits {k}")
    assert uniformity((rng.bits(k) for _ in range(DRAWS)), range(1 << k)) > ACCEPT


@pytest.mark.parametrize("k", [65, 128, 3136])
def test_both_ends_of_wide_bits_are_uniform(k: int) -> None:
    rng = Stream.insecure_from_seed(f"wide {k}")
    samples = [rng.bits(k) for _ in range(5_000)]
    assert max(x.bit_length() for x in samples) == k
    assert uniformity((x >> (k - 6) for x in samples), range(64)) > ACCEPT
    assert uniformity((x & 63 for x in samples), range(64)) > ACCEPT


@given(st.integers(1, 10**40), st.integers(0, 10**6))
def test_below_is_below(n: int, seed: int) -> None:
    assert 0 <= Stream.insecure_from_seed(seed).below(n) < n


def test_no_bits_and_one_choice_draw_nothing() -> None:
    rng = Stream.insecure_from_seed("nothing")
    assert (rng.bits(0), rng.below(1)) == (0, 0)
    assert rng.bytes(8) == Stream.insecure_from_seed("nothing").bytes(8)


def test_the_insecure_mark_survives_forks() -> None:
    assert Stream.insecure_from_seed(1).fork("a").fork("b").insecure
    assert not Stream.from_system().insecure
    assert not Stream.from_system().fork("a").fork("b").insecure


def test_repr_shows_no_key() -> None:
    rng = Stream(bytes([0xAB]) * 32, insecure=False)
    for text in (repr(rng), str(rng), f"{rng}", repr([rng])):
        assert "secret" in text
        assert "ab" not in text
        assert "\\x" not in text
        assert "171" not in text
    assert repr(Stream.insecure_from_seed(1)) == "Stream(insecure)"


@pytest.mark.parametrize("length", [0, 16, 31, 33])
def test_keys_of_another_length_are_refused(length: int) -> None:
    with pytest.raises(ValueError, match=f"32 bytes, got {length}"):
        Stream(bytes(length), insecure=True)


def test_impossible_ranges_are_refused() -> None:
    rng = Stream.insecure_from_seed(1)
    for n in (0, -1):
        with pytest.raises(ValueError, match="positive"):
            rng.below(n)
    with pytest.raises(ValueError, match="not negative"):
        rng.bits(-1)


def test_of_a_stream_that_is_gone_its_forks_are_left_until_they_are_drawn_with() -> None:
    whole = Stream.insecure_from_seed(1)
    left = whole.forks("a", "b")
    assert [left.fork(label).bytes(40) for label in ("a", "b")] == [whole.fork(label).bytes(40) for label in ("a", "b")]
    assert left.left == {label: whole.fork(label).key for label in ("a", "b")}
    assert list(left.without_first().left) == ["b"]
    assert repr(left) == "Forks(a, b)"
    for gone in ("a", "c"):
        with pytest.raises(KeyError):
            left.without_first().fork(gone)
