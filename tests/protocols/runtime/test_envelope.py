"""The wire format of envelopes: one encoding each, and nothing else is read."""

from __future__ import annotations

import cbor2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from protocols.errors import DecodeError
from protocols.runtime import envelope as envelopes
from protocols.runtime.envelope import Envelope
from tests.support.refusals import refused

NAMES = st.text(max_size=8)
ENVELOPES = st.builds(
    Envelope,
    session=st.binary(min_size=32, max_size=32),
    sender=NAMES,
    to=NAMES,
    kind=NAMES,
    stage=NAMES,
    number=st.integers(0, 2**64 - 1),
    round=st.integers(0, 2**64 - 1),
    prev=st.binary(min_size=32, max_size=32),
    body=st.binary(max_size=64),
)
ONE = Envelope(bytes(32), "P1", "P2", "Relay", "stage1", 3, 7, bytes(32), b"sealed")
PARTS = [bytes(32), "P1", "P2", "Relay", "stage1", 3, 7, bytes(32), b"sealed"]


@given(ENVELOPES)
def test_round_trip(envelope: Envelope) -> None:
    data = envelope.encode()
    assert Envelope.decode(data) == envelope
    assert envelope.size == len(data)


def test_the_encoding_is_plain_cbor() -> None:
    assert cbor2.loads(ONE.encode()) == PARTS


@given(st.binary(max_size=200))
@example(b"\xc2\x41\x01")
@example(b"\xd8\x1d\x00")
@example(b"\x9f\xff")
def test_arbitrary_bytes_are_refused_or_canonical(data: bytes) -> None:
    try:
        envelope = Envelope.decode(data)
    except DecodeError:
        return
    assert envelope.encode() == data


@given(st.data())
def test_mutations_are_refused_or_canonical(data: st.DataObject) -> None:
    good = bytearray(ONE.encode())
    place = data.draw(st.integers(0, len(good) - 1))
    good[place] ^= data.draw(st.integers(1, 255))
    test_arbitrary_bytes_are_refused_or_canonical.hypothesis.inner_test(bytes(good))


@pytest.mark.parametrize(
    "wrong",
    [
        PARTS[:-1],
        [*PARTS, b""],
        *([*PARTS[:i], wrong, *PARTS[i + 1 :]] for i in (5, 6) for wrong in (True, -1, 1 << 64, 3.0)),
        ["x", *PARTS[1:]],
        [bytes(32), b"P1", *PARTS[2:]],
        [*PARTS[:8], "text"],
        [*PARTS[:8], [b"sealed"]],
        {"session": bytes(32)},
        cbor2.CBORTag(24, b"x"),
        None,
    ],
)
def test_other_values_are_refused(wrong: object) -> None:
    with pytest.raises(DecodeError):
        Envelope.decode(cbor2.dumps(wrong))


def test_second_forms_are_refused() -> None:
    good = ONE.encode()
    indefinite = b"\x9f" + good[1:] + b"\xff"
    trailing = good + b"\x00"
    long_head = good[:1] + b"\x59\x00\x20" + good[3:]  # 0x58 0x20 says the same in fewer bytes
    assert cbor2.loads(long_head) == PARTS
    for data in (indefinite, trailing, long_head, good[:-1]):
        with pytest.raises(DecodeError):
            Envelope.decode(data)


def test_size_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert envelopes.MAX_ENVELOPE_BYTES == 64 * 1024 * 1024
    longest = len(ONE.encode())
    monkeypatch.setattr(envelopes, "MAX_ENVELOPE_BYTES", longest)
    assert Envelope.decode(ONE.encode()) == ONE
    monkeypatch.setattr(envelopes, "MAX_ENVELOPE_BYTES", longest - 1)
    with refused("envelope.too_large", error=DecodeError, most=longest - 1, got=longest):
        Envelope.decode(ONE.encode())
