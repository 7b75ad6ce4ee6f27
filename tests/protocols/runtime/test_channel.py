"""The ends of a link: what is sealed opens once, at the right place; whatever else comes, nobody is named for it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import cbor2
import pytest
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.sessions import setup

from protocols.crypto import sealing
from protocols.errors import LocalError, PeerError, somebody_between
from protocols.runtime import channel as channels
from protocols.runtime.bulletin_board import BulletinBoard
from protocols.runtime.channel import Channel
from protocols.runtime.envelope import HELLO, START, Envelope
from protocols.runtime.session import PUBLIC_NAME
from tests.support.refusals import refused

MADE = setup(2, 1)


def channel(name: str, board: dict[str, Envelope]) -> Channel:
    session, identities, seeds, _ = MADE
    return Channel(session, name, identities[name], seeds[name], board)


def greeted() -> tuple[Channel, Channel]:
    """P1 and P2, everybody having greeted."""
    board: dict[str, Envelope] = {}
    ends = {name: channel(name, board) for name in MADE.session.names}
    board.update({name: end.greet(b"") for name, end in ends.items()})
    return ends["P1"], ends["P2"]


def test_mail_opens_in_order() -> None:
    one, two = greeted()
    for n, payload in enumerate((b"", b"x", bytes(100_000))):
        envelope = one.seal("P2", "Half", "stage1", payload)
        assert envelope.number == n
        assert two.open(envelope) == payload
        assert one.open(two.seal("P1", "Half", "stage1", payload)) == payload


def test_whoever_holds_the_link_key_is_the_sender_whatever_the_number() -> None:
    one, two = greeted()
    one.seal("P2", "Half", "stage1", b"")
    second = one.seal("P2", "Half", "stage1", b"x")
    assert two.is_of_sender(second)
    assert two.is_of_sender(second)  # it takes nothing
    alone = channel("P2", {"P2": two._board["P2"]})
    for end, envelope in (
        (two, replace(second, body=second.body[::-1])),
        (two, replace(second, number=0)),
        (two, replace(second, sender="charlie")),
        (two, replace(second, sender="mallory")),
        (two, replace(second, number=2**64)),
        (alone, second),
    ):
        assert not end.is_of_sender(envelope)


def test_a_link_that_is_closed_leaves_nothing_that_opens_its_mail() -> None:
    """Not what was recorded either, and not in a later process; the other links go on where they were."""
    one, two = greeted()
    three = channel("charlie", one._board)  # type: ignore[arg-type]
    recorded = one.seal("P2", "Half", "stage1", b"old")
    first = three.seal("P2", "Half", "stage1", b"first")
    assert two.open(recorded) == b"old"
    assert two.open(first) == b"first"
    keys = two.link("P1")
    two.close(["P1"])
    later = channel("P2", two._board)  # type: ignore[arg-type]
    later.restore(two.secret, two.counters, two.greetings, two.left)
    for end in (two, later):
        with refused("link.not_there", error=LocalError, name="P2", to="P1"):
            end.seal("P1", "Half", "stage1", b"")
        with refused("link.with_a_stranger", error=PeerError):
            end.open(one.seal("P2", "Half", "stage1", b""))
        assert not {keys.incoming, keys.outgoing} & {x for of in end.left.values() for x in vars(of).values()}
        assert end.secret == b""
    assert later.open(three.seal("P2", "Half", "stage1", b"second")) == b"second"


def test_nothing_is_closed_where_there_is_no_link() -> None:
    one, _ = greeted()
    secret = one.secret
    one.close(["somebody"])
    assert (one.secret, one.left) == (secret, {})


def test_a_greeting_is_public_and_signed_and_carries_the_key_first() -> None:
    one, two = greeted()
    hello = channel("P1", {}).greet(b"said")
    assert (hello.to, hello.number, hello.kind, hello.stage, hello.round) == (PUBLIC_NAME, 0, HELLO, "setup", 1)
    assert hello.prev == START
    assert hello.body[:36] == sealing.public_key(one.secret) + b"said"
    assert len(hello.body) == 36 + 64
    assert two.greeting("P1") == sealing.public_key(one.secret)


def test_envelope_on_the_wire() -> None:
    """The header is canonical CBOR of its fields; chain, round and size are as stated."""
    one, two = greeted()
    envelope = one.seal("P2", "Half", "stage1", b"payload")
    parts = [getattr(envelope, f.name) for f in fields(envelope)]
    assert len(parts) == 9
    assert cbor2.loads(envelope.header) == parts[:-1]
    assert envelope.prev == two._board["P1"].digest
    assert one.counters.chain == envelope.digest
    assert envelope.size == len(cbor2.dumps(parts))
    assert envelope.round == 2  # greetings are the first
    one.has_read(7)
    one.has_read(3)
    assert one.seal("P2", "Half", "stage1", b"").round == 8
    assert b"payload" not in envelope.body


def test_only_the_two_ends_can_read() -> None:
    """The body is ChaCha20-Poly1305 under the link's key, the number as nonce, the header as associated data."""
    one, two = greeted()
    one.seal("P2", "Half", "stage1", b"")
    envelope = one.seal("P2", "Half", "stage1", b"payload")
    public, session = sealing.public_key(one.secret), MADE.session.id
    key = sealing.link_keys(two.secret, public, session, "P2", "P1").incoming
    nonce = (1).to_bytes(12, "big")
    assert ChaCha20Poly1305(key).decrypt(nonce, envelope.body, envelope.header) == b"payload"
    others = {
        sealing.link_keys(two.secret, public, session, "P2", "P1").outgoing,  # the other direction
        sealing.link_keys(two.secret, public, bytes(32), "P2", "P1").incoming,  # another session
        sealing.link_keys(two.secret, public, session, "charlie", "P1").incoming,
        sealing.link_keys(two.secret, public, session, "P2", "charlie").incoming,
    }
    assert key not in others
    assert len(others) == 4


def agreements(monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[str]]:
    """Who derives the keys of a link, and who checks a signature of a greeting, from now on."""
    derived: list[str] = []
    checked: list[str] = []
    derive, check = sealing.link_keys, channels.is_signed

    def deriving(secret: bytes, peer: bytes, session: bytes, me: str, other: str) -> sealing.LinkKeys:
        derived.append(f"{me} {other}")
        return derive(secret, peer, session, me, other)

    def checking(public: bytes, envelope: Envelope) -> bool:
        checked.append(envelope.sender)
        return check(public, envelope)

    monkeypatch.setattr(sealing, "link_keys", deriving)
    monkeypatch.setattr(channels, "is_signed", checking)
    return derived, checked


def talk(one: Channel, two: Channel) -> None:
    """Three letters each way."""
    for _ in range(3):
        two.open(one.seal("P2", "Half", "stage1", b""))
        one.open(two.seal("P1", "Half", "stage1", b""))


def test_one_agreement_and_one_signature_a_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both directions, however much is said; and none before the first letter."""
    derived, checked = agreements(monkeypatch)
    one, two = greeted()
    assert (derived, checked) == ([], [])
    talk(one, two)
    assert sorted(derived) == ["P1 P2", "P2 P1"]
    assert sorted(checked) == ["P1", "P2"]


CHANGES = [
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
    {"round": 1},
    {"round": 3},
    {"round": -1},
    {"round": 2**70},
    {"prev": bytes(32)},
    {"body": b""},
    {"body": bytes(16)},
    {"body": bytes(100)},
]


@pytest.mark.parametrize("change", CHANGES, ids=repr)
def test_every_field_is_bound(change: dict[str, Any]) -> None:
    """Nothing that a spoilt envelope says is believed, and nobody is named for it."""
    one, two = greeted()
    two.open(one.seal("P2", "Half", "stage1", b""))
    envelope = one.seal("P2", "Half", "stage1", b"payload")
    with pytest.raises(PeerError) as caught:
        two.open(replace(envelope, **change))
    linked = change.get("sender", "P1") in ("P1", "charlie")
    claimed = f"somebody on the way from {change.get('sender', 'P1')}" if linked else "somebody"
    assert (caught.value.culprit, caught.value.evidence) == (claimed, ())
    if linked:
        assert (caught.value.code, caught.value.fault.fields["name"]) == ("link.not_the_next", "P2")
    else:
        assert (caught.value.code, caught.value.fault.fields["sender"]) == ("link.with_a_stranger", change["sender"])
    assert two.open(envelope) == b"payload"  # a refusal spoils nothing


def test_mail_opens_once_and_no_letter_is_skipped() -> None:
    one, two = greeted()
    first, second = (one.seal("P2", "Half", "stage1", b"payload") for _ in range(2))
    for wrong, wanted in ((second, 0), (first, None), (first, 1)):
        if wanted is None:
            assert two.open(wrong) == b"payload"
            continue
        with refused("link.not_the_next", error=PeerError, wanted=wanted) as caught:
            two.open(wrong)
        assert (caught.value.culprit, caught.value.evidence) == ("somebody on the way from P1", ())
    assert two.open(second) == b"payload"


def refusal(board: dict[str, Envelope]) -> PeerError:
    """What P2 says of this board's greeting of P1, the first time it wants to write to P1."""
    with pytest.raises(PeerError) as caught:
        channel("P2", board).seal("P1", "Half", "stage1", b"")
    return caught.value


@pytest.mark.parametrize(
    "change",
    [
        {"session": bytes(32)},
        {"sender": "charlie"},
        {"kind": "Half"},
        {"number": 1},
        {"round": 2},
        {"stage": "x"},
        {"to": "P2"},
        {"prev": bytes([1]) * 32},
        {"body": b""},
        {"body": bytes(96)},
    ],
    ids=repr,
)
def test_greeting_is_bound(change: dict[str, Any]) -> None:
    one = channel("P1", {})
    hello = one.greet(b"")
    error = refusal({"P1": replace(hello, **change)})
    assert (error.culprit, error.evidence) == ("somebody on the way from P1", ())
    assert error.code == "message.not_signed"
    of_another_stage = channel("P1", {}).sign(HELLO, "stage1", b"")
    assert refusal({"P1": of_another_stage}).code == "message.not_signed"
    two = channel("P2", {"P1": hello})
    assert two.seal("P1", "Half", "stage1", b"").number == 0
    assert two.greeting("P1") == sealing.public_key(one.secret)


def signed_hello(payload: bytes) -> Envelope:
    """A greeting of P1 with this content, properly signed."""
    return channel("P1", {}).sign(HELLO, "setup", payload)


@pytest.mark.parametrize("point", [bytes(32), b"", bytes(31)], ids=bytes.hex)
def test_bad_points_are_refused(point: bytes) -> None:
    """Properly signed by its sender, and still no key: this is its sender's fault, and the greeting shows it."""
    error = refusal({"P1": signed_hello(point)})
    assert error.code == "peer_key.not_usable"
    assert (error.culprit, error.evidence) == ("P1", (0,))


def test_another_point_is_a_key() -> None:
    """It is the point that is refused above."""
    assert channel("P2", {"P1": signed_hello(b"\x09" + bytes(31))}).seal("P1", "Half", "stage1", b"").number == 0


def test_nothing_is_sealed_or_opened_before_the_greeting() -> None:
    one, _ = greeted()
    envelope = one.seal("P2", "Half", "stage1", b"")
    with refused("greeting.not_there", error=LocalError, name="P2", peer="P1"):
        channel("P2", {}).open(envelope)
    with refused("greeting.not_there", error=LocalError, name="P2", peer="P1"):
        channel("P2", {}).seal("P1", "Half", "stage1", b"")


@pytest.mark.parametrize("name", ["P1", "mallory", PUBLIC_NAME])
def test_there_is_no_link_but_to_peers(name: str) -> None:
    one, _ = greeted()
    with refused("link.not_there", error=LocalError, name="P1", to=name):
        one.seal(name, "Half", "stage1", b"")


def test_pinned_identity_is_needed() -> None:
    session, identities, seeds, _ = MADE
    with refused("session.pins_another_identity", error=LocalError):
        Channel(session, "P1", identities["P2"], seeds["P1"], {})


def test_no_nonce_is_used_twice() -> None:
    """Each number is used once on each link of a run, from 0 without a gap; only greetings begin a public link."""
    envelopes = MADE.simulate().transcript.envelopes
    used: dict[tuple[str, str], list[int]] = {}
    for e in envelopes:
        used.setdefault((e.sender, e.to), []).append(e.number)
    assert all(numbers == list(range(len(numbers))) for numbers in used.values())
    assert all((e.is_public and e.number == 0) == (e.kind == HELLO) for e in envelopes)
    assert len(used) == 9  # three links with two directions each, and three public ones


ENVELOPES = st.builds(
    Envelope,
    st.just(MADE.session.id) | st.binary(max_size=33),
    st.sampled_from(["P1", "P2", "charlie", PUBLIC_NAME, "mallory", "\ud800"]),
    st.sampled_from(["P2", PUBLIC_NAME, "P1"]),
    st.sampled_from([HELLO, "Half", "StageEnd", "PublishedShare"]) | st.text(max_size=3),
    st.text(max_size=3),
    st.integers(-1, 2) | st.integers(),
    st.integers(-1, 2) | st.integers(),
    st.binary(max_size=33),
    st.binary(max_size=100),
)


NOBODY = ("somebody", *(f"somebody on the way from {name}" for name in MADE.session.names))


READER = greeted()[1]  # a refusal changes nothing in it


@settings(max_examples=150)
@given(ENVELOPES)
def test_arbitrary_envelopes_are_nobodys_fault(envelope: Envelope) -> None:
    with pytest.raises(PeerError) as caught:
        READER.open(envelope)
    assert (caught.value.culprit in NOBODY, caught.value.evidence) == (True, ())


def is_posted(envelope: Envelope) -> bool:
    """Whether the board takes it as a greeting: it looks like one, and whoever reads it checks its signature."""
    return (envelope.session, envelope.to, envelope.kind, envelope.number) == (MADE.session.id, PUBLIC_NAME, HELLO, 0)


@settings(max_examples=150)
@given(ENVELOPES)
def test_arbitrary_envelopes_are_nobodys_fault_on_the_board(envelope: Envelope) -> None:
    board = BulletinBoard(MADE.session)
    assume(not is_posted(envelope) or envelope.sender not in MADE.session.names)
    with pytest.raises(PeerError) as caught:
        board.post(envelope)
    assert (caught.value.culprit in NOBODY, caught.value.evidence) == (True, ())
    assert (board.greetings, board.received, board.published) == ({}, {}, {})


@settings(max_examples=50)
@given(ENVELOPES, st.sampled_from(["P1", "charlie"]))
def test_an_arbitrary_greeting_is_posted_and_then_refused_by_its_readers(envelope: Envelope, sender: str) -> None:
    board = BulletinBoard(MADE.session)
    board.post(
        replace(envelope, session=MADE.session.id, sender=sender, to=PUBLIC_NAME, kind=HELLO, number=0),
    )
    with refused("message.not_signed", error=PeerError) as caught:
        channel("P2", board.greetings).seal(sender, "Half", "stage1", b"")
    assert (caught.value.culprit, caught.value.evidence) == (somebody_between(sender), ())
