"""The size and depth of CBOR values by their heads alone, against values that cbor2 has read."""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.arithmetic.rng import Stream
from protocols.errors import DecodeError, ReplayError
from protocols.pathak2010 import PROGRAM
from protocols.runtime import state
from protocols.runtime.cbor_limits import is_plain
from protocols.runtime.envelope import Envelope
from tests.support.refusals import refused

LEAVES = st.none() | st.booleans() | st.integers(-(2**64), 2**64 - 1) | st.text() | st.binary() | st.floats()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


def size(value: Any) -> int:
    inner = value if isinstance(value, list) else [x for pair in value.items() for x in pair] if is_map(value) else []
    return 1 + sum(map(size, inner))


def depth(value: Any) -> int:
    inner = value if isinstance(value, list) else value.values() if is_map(value) else []
    return max(map(depth, inner), default=0) + (1 if inner else 0)


def is_map(value: Any) -> bool:
    return isinstance(value, dict)


@given(VALUES)
@settings(max_examples=30)
def test_just_as_many_items_and_as_deep_as_there_are(value):
    data = cbor2.dumps(value)
    items, deep = size(value), depth(value)
    assert is_plain(data, items, deep)
    assert not is_plain(data, items - 1, deep)
    assert deep == 0 or not is_plain(data, items, deep - 1)
    assert not is_plain(data + b"\x00", items + 1, deep)
    assert not is_plain(data[:-1], items, deep)


def refusal(data: bytes) -> str:
    """What cbor2 says against the bytes."""
    try:
        cbor2.loads(data)
    except (cbor2.CBORError, ValueError) as error:
        return str(error).lower()
    return ""


@given(st.binary(max_size=60))
def test_what_passes_can_be_cut_into_items(data):
    if is_plain(data, 60, 60):  # then only a text that is no UTF-8, or a simple value that nobody has, is refused
        assert not any(word in refusal(data) for word in ("nesting", "premature", "tag", "length"))


LYING = (
    *(b"", b"\xc2\x41\x01", b"\x9f\xff", b"\x5f\x41\x00\xff", b"\xbf\xff", b"\x81", b"\x42\x00", b"\x1c", b"\xff"),
    *(b"\x9b" + b"\xff" * 8, b"\x5b" + b"\xff" * 8, b"\xd8\x1d\x00", b"\x81\xc1\x00"),
)


@pytest.mark.parametrize("data", LYING)
def test_tags_and_lengths_that_lie_are_refused(data):
    assert not is_plain(data, 1000, 10)


@pytest.mark.parametrize("data", [b"\x9a\x00\x50\x00\x00" + b"\x80" * (5 << 20), b"\x81" * (5 << 20)])
def test_decoders_refuse_many_items_without_making_them(data):
    start = time.process_time()
    tracemalloc.start()
    with refused("envelope.malformed", error=DecodeError):
        Envelope.decode(data)
    if data[0] == 0x81:  # the other is refused too, after counting to four million
        with refused("state.not_plain", error=ReplayError):
            state.load_state(data, PROGRAM.records)
    assert tracemalloc.get_traced_memory()[1] < 10 << 20
    tracemalloc.stop()
    assert time.process_time() - start < 2


def test_a_state_has_no_integer_longer_than_a_key_needs():
    longest = 1 << (8 * 8192 - 2)
    assert state.load_state(state.dump_state(longest, ()), ()) == longest
    with refused("state.not_restorable", error=ReplayError):
        state.load_state(state.dump_state(longest << 8, ()), ())


def test_whatever_the_random_bytes_nothing_else_is_raised():
    rng = Stream.insecure_from_seed("heads")
    for _ in range(2000):
        is_plain(rng.bytes(40), 20, 5)
