"""The ends of a link: what is sealed opens once, at the right place; everything else is the sender's fault."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import cbor2
import pytest
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from hypothesis import given, settings
from hypothesis import strategies as st
from support.sessions import setup

from protocols.crypto import sealing
from protocols.errors import LocalError, PeerError
from protocols.runtime.board import Board
from protocols.runtime.channel import HELLO, START, Channel, Envelope
from protocols.runtime.session import PUBLIC_NAME

MADE = setup(2, 1)
# Points of small order on curve25519 (RFC 7748, section 7): the shared secret would be zero for everybody.
SMALL_ORDER = (
    bytes(32),
    (1).to_bytes(32, "little"),
    bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
    bytes.fromhex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
    (2**255 - 20).to_bytes(32, "little"),
    (2**255 - 19).to_bytes(32, "little"),
    (2**255 - 18).to_bytes(32, "little"),
)


def channel(name: str) -> Channel:
    session, identities, seeds, _ = MADE
    return Channel(session, name, identities[name], seeds[name])


def greeted() -> tuple[Channel, Channel]:
    """P1 and P2, each having opened the other's greeting."""
    one, two = channel("P1"), channel("P2")
    two.open(one.hello("P2"), 1)
    one.open(two.hello("P1"), 2)
    return one, two


def test_mail_opens_in_order() -> None:
    one, two = greeted()
    for n, payload in enumerate((b"", b"x", bytes(100_000))):
        envelope = one.seal("P2", "Half", "stage1", payload)
        assert envelope.number == n + 1
        assert two.open(envelope, n) == payload
        assert one.open(two.seal("P1", "Half", "stage1", payload), n) == payload


def test_envelope_on_the_wire() -> None:
    """The header is canonical CBOR of its fields; chain and size are as stated."""
    one, _ = greeted()
    first = channel("P1").hello("P2")
    assert first.prev == START
    envelope = one.seal("P2", "Half", "stage1", b"payload")
    parts = [getattr(envelope, f.name) for f in fields(envelope)]
    assert cbor2.loads(envelope.header) == parts[:-1]
    assert envelope.prev == first.digest
    assert one.chain == envelope.digest
    assert envelope.size == len(cbor2.dumps(parts))
    assert b"payload" not in envelope.body


def test_only_the_two_ends_can_read() -> None:
    """The body is ChaCha20-Poly1305 under the link's key, the number as nonce, the header as associated data."""
    one, two = greeted()
    envelope = one.seal("P2", "Half", "stage1", b"payload")
    key = sealing.link_key(two.secret, two.peers["P1"], MADE.session.id, "P1", "P2")
    nonce = (1).to_bytes(12, "big")
    assert ChaCha20Poly1305(key).decrypt(nonce, envelope.body, envelope.header) == b"payload"
    others = {
        sealing.link_key(two.secret, two.peers["P1"], MADE.session.id, "P2", "P1"),  # the other direction
        sealing.link_key(two.secret, two.peers["P1"], bytes(32), "P1", "P2"),  # another session
        sealing.link_key(two.secret, two.peers["P1"], MADE.session.id, "P1", "charlie"),
    }
    assert key not in others
    assert len(others) == 3


@pytest.mark.parametrize(
    "change",
    [
        {"session": bytes(32)},
        {"sender": "charlie"},
        {"sender": "P2"},
        {"sender": "mallory"},
        {"sender": PUBLIC_NAME},
        {"sender": ""},
        {"to": "P1"},
        {"to": "charlie"},
        {"to": PUBLIC_NAME},
        {"kind": "Slot"},
        {"kind": HELLO},
        {"stage": "stage2"},
        {"number": 0},
        {"number": 2},
        {"number": -1},
        {"number": 2**63},
        {"prev": bytes(32)},
        {"body": b""},
        {"body": bytes(16)},
        {"body": bytes(100)},
    ],
    ids=repr,
)
def test_every_field_is_bound(change: dict[str, Any]) -> None:
    one, two = greeted()
    envelope = one.seal("P2", "Half", "stage1", b"payload")
    with pytest.raises(PeerError) as caught:
        two.open(replace(envelope, **change), 17)
    assert caught.value.culprit == change.get("sender", "P1")
    assert caught.value.evidence == (17,)
    words = {"session": "another session", "to": "is addressed to", "number": "has number"}
    assert words.get(next(iter(change)), "") in caught.value.rule
    assert two.open(envelope, 18) == b"payload"  # a refusal spoils nothing


@pytest.mark.parametrize(
    "change", [{"session": bytes(32)}, {"kind": "Half"}, {"number": 1}, {"stage": "x"}, {"to": "P1"}]
)
def test_greeting_is_bound(change: dict[str, Any]) -> None:
    one, two = channel("P1"), channel("P2")
    envelope = one.hello("P2")
    with pytest.raises(PeerError):
        two.open(replace(envelope, **change), 0)
    assert two.open(envelope, 0) == sealing.public_key(one.secret)
    with pytest.raises(PeerError, match="number 0"):
        two.open(envelope, 1)


def test_greeting_by_another_identity_is_refused() -> None:
    session, identities, seeds, _ = MADE
    twin = Channel(replace(session, identities=dict(session.identities) | {"P1": identities["charlie"].public}), "P1",
                   identities["charlie"], seeds["P1"])  # fmt: skip
    twin.session = session
    with pytest.raises(PeerError, match="pinned identity"):
        channel("P2").open(twin.hello("P2"), 0)


@pytest.mark.parametrize("point", [*SMALL_ORDER, b"", bytes(31), bytes(33)], ids=bytes.hex)
def test_bad_points_are_refused(point: bytes) -> None:
    """Properly signed by its sender, and still no key."""
    one = channel("P1")
    envelope = one._sign("P2", HELLO, "setup", point)
    with pytest.raises(PeerError, match="X25519 key is not usable") as caught:
        channel("P2").open(envelope, 3)
    assert (caught.value.culprit, caught.value.evidence) == ("P1", (3,))


def test_mail_before_the_greeting_is_refused() -> None:
    one, _ = greeted()
    envelope = one.seal("P2", "Half", "stage1", b"")
    with pytest.raises(PeerError):
        channel("P2").open(envelope, 0)
    with pytest.raises(PeerError, match="must be the greeting"):
        channel("P2").open(replace(envelope, number=0), 0)


def test_pinned_identity_is_needed() -> None:
    session, identities, seeds, _ = MADE
    with pytest.raises(LocalError, match="pins another identity"):
        Channel(session, "P1", identities["P2"], seeds["P1"])


def test_no_nonce_is_used_twice() -> None:
    """Each number is used once on each link of a run, and greetings are not sealed."""
    envelopes = MADE.simulate().transcript.envelopes
    used = [(e.sender, e.to, e.number) for e in envelopes]
    assert len(set(used)) == len(used)
    assert all((e.number == 0) == (e.kind == HELLO) for e in envelopes if e.to != PUBLIC_NAME)


ENVELOPES = st.builds(
    Envelope,
    st.just(MADE.session.id) | st.binary(max_size=33),
    st.sampled_from(["P1", "P2", "charlie", PUBLIC_NAME, "mallory", "\ud800"]),
    st.sampled_from(["P2", PUBLIC_NAME, "P1"]),
    st.sampled_from([HELLO, "Half", "StageEnd", "PublishedShare"]) | st.text(max_size=3),
    st.text(max_size=3),
    st.integers(-1, 2) | st.integers(),
    st.binary(max_size=33),
    st.binary(max_size=100),
)


@settings(max_examples=300, deadline=None)
@given(ENVELOPES, st.booleans())
def test_arbitrary_envelopes_are_the_senders_fault(envelope: Envelope, known: bool) -> None:
    two = greeted()[1] if known else channel("P2")
    with pytest.raises(PeerError) as caught:
        two.open(envelope, 5)
    assert (caught.value.culprit, caught.value.evidence) == (envelope.sender, (5,))
    with pytest.raises(PeerError):
        Board(MADE.session).post(envelope, 5)
