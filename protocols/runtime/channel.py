"""One participant's end of all its links: seals, signs, numbers and chains what it sends; checks what it gets.

Every envelope carries its header in clear: session, sender, addressee, kind, stage, its number on the link, and the
digest of the sender's previous envelope. Private mail is sealed to its addressee with the header as associated data.
Public mail (the greeting with the session's X25519 key, the published share, the mark at the end of a stage) is
signed with the sender's identity over header and payload; since the header holds the chain, each signature signs all
that came before.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import cbor2

from protocols.arithmetic.rng import Stream
from protocols.crypto import identity, sealing
from protocols.crypto.identity import SIGNATURE_BYTES, Signer
from protocols.errors import DecodeError, LocalError, PeerError
from protocols.runtime.cbor_limits import is_plain
from protocols.runtime.session import PUBLIC_NAME, Session

HELLO = "Hello"
STAGE_END = "StageEnd"
MAX_ENVELOPE_BYTES = 1 << 26
START = bytes(32)  # the chain of a sender that has sent nothing


@dataclass(frozen=True)
class Envelope:
    """A message on the wire. `number` counts the envelopes of one sender to one addressee, from 0."""

    session: bytes = field(repr=False)
    sender: str
    to: str
    kind: str
    stage: str
    number: int
    prev: bytes = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def header(self) -> bytes:
        """The canonical bytes that seal and signature bind."""
        return cbor2.dumps(self._parts, canonical=True)

    @property
    def _parts(self) -> list[bytes | str | int]:
        return [self.session, self.sender, self.to, self.kind, self.stage, self.number, self.prev]

    @property
    def digest(self) -> bytes:
        """SHA-256 of header and body: the next link of the sender's chain."""
        return hashlib.sha256(self.header + self.body).digest()

    @property
    def size(self) -> int:
        """Bytes on the wire."""
        return len(self.encode())

    def encode(self) -> bytes:
        """The wire format: a canonical CBOR array of the header's seven parts and the body."""
        return cbor2.dumps([*self._parts, self.body], canonical=True)

    @classmethod
    def decode(cls, data: bytes) -> Envelope:
        """The envelope; raises `DecodeError` unless `data` is exactly the encoding of one, and not too long."""
        if len(data) > MAX_ENVELOPE_BYTES:
            raise DecodeError(f"an envelope has at most {MAX_ENVELOPE_BYTES} bytes, got {len(data)}")
        if not is_plain(data, 9, 1):  # an array and its eight parts
            raise DecodeError("not an envelope: not a plain array of eight parts")
        try:
            parts = cbor2.loads(data, max_depth=2, allow_indefinite=False, allow_duplicate_keys=False)
            envelope = cls(*parts)
            kinds = [type(part) for part in parts]
            same = kinds == [bytes, str, str, str, str, int, bytes, bytes] and envelope.encode() == data
        except (cbor2.CBORError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise DecodeError(f"not an envelope: {type(error).__name__}") from None
        if not same or not 0 <= envelope.number < 1 << 64:
            raise DecodeError("not the canonical encoding of an envelope")
        return envelope


class Channel:
    """The links of one participant in one session."""

    def __init__(self, session: Session, name: str, me: Signer, rng: Stream) -> None:
        if session.identities.get(name) != me.public:
            raise LocalError(f"{name}: the session pins another identity")
        self.session, self.name, self._me = session, name, me
        self.secret = rng.fork("x25519").bytes(sealing.KEY_BYTES)
        self.peers: dict[str, bytes] = {}
        self.sent: dict[str, int] = {}
        self.received: dict[str, int] = {}
        self.chain = START
        self._links: dict[tuple[str, str], bytes] = {}  # derived from the above, made when first needed

    def hello(self, to: str) -> Envelope:
        """The greeting: this session's X25519 key, signed by the long-term identity."""
        return self._sign(to, HELLO, "setup", sealing.public_key(self.secret))

    def sign(self, kind: str, stage: str, payload: bytes) -> Envelope:
        """A signed public envelope."""
        return self._sign(PUBLIC_NAME, kind, stage, payload)

    def seal(self, to: str, kind: str, stage: str, payload: bytes) -> Envelope:
        """A sealed private envelope."""
        blank = self._next(to, kind, stage)
        key = self._key(self.name, to, self.peers[to])
        return self._post(blank, sealing.seal(key, blank.number, blank.header, payload))

    def open(self, envelope: Envelope, reference: int) -> bytes:
        """The payload of mail addressed to us; `reference` is how the driver numbers it in evidence.

        Raises `PeerError` for whatever does not belong: wrong session or addressee, out of order, replayed, tampered.
        """
        sender = envelope.sender
        wanted = self.received.get(sender, 0)
        check_header(self.session, self.name, envelope, wanted, reference)
        try:
            payload = self._open_hello(envelope) if wanted == 0 else self._unseal(envelope)
        except DecodeError as error:
            raise PeerError(sender, f"{envelope.kind} to {self.name}: {error}", [reference]) from None
        self.received[sender] = wanted + 1
        return payload

    def _open_hello(self, envelope: Envelope) -> bytes:
        if envelope.kind != HELLO:
            raise DecodeError("the first message must be the greeting")
        self.peers[envelope.sender] = verify_signed(self.session, envelope)
        self._key(envelope.sender, self.name, self.peers[envelope.sender])  # refuses points of small order now
        return self.peers[envelope.sender]

    def _unseal(self, envelope: Envelope) -> bytes:
        if envelope.kind == HELLO:
            raise DecodeError("only the first message greets")
        key = self._key(envelope.sender, self.name, self.peers[envelope.sender])
        return sealing.unseal(key, envelope.number, envelope.header, envelope.body)

    def _key(self, sender: str, receiver: str, peer: bytes) -> bytes:
        if (sender, receiver) not in self._links:
            key = sealing.link_key(self.secret, peer, self.session.id, sender, receiver)
            self._links[sender, receiver] = key
        return self._links[sender, receiver]

    def _sign(self, to: str, kind: str, stage: str, payload: bytes) -> Envelope:
        blank = self._next(to, kind, stage)
        return self._post(blank, payload + self._me.sign(blank.header + payload))

    def _next(self, to: str, kind: str, stage: str) -> Envelope:
        return Envelope(self.session.id, self.name, to, kind, stage, self.sent.get(to, 0), self.chain, b"")

    def _post(self, blank: Envelope, body: bytes) -> Envelope:
        envelope = Envelope(
            blank.session, blank.sender, blank.to, blank.kind, blank.stage, blank.number, blank.prev, body
        )
        self.sent[blank.to] = blank.number + 1
        self.chain = envelope.digest
        return envelope


def check_header(session: Session, reader: str, envelope: Envelope, wanted: int, reference: int) -> None:
    """Raise `PeerError` unless the envelope is a participant's `wanted`-th to this reader in this session."""
    sender, kind = envelope.sender, envelope.kind
    if sender not in session.names:
        raise PeerError(sender, "is not a participant of this session", [reference])
    if envelope.session != session.id:
        raise PeerError(sender, f"{kind} belongs to another session", [reference])
    if envelope.to != reader or sender == reader:
        raise PeerError(sender, f"{kind} is addressed to {envelope.to}, not {reader}", [reference])
    if envelope.number != wanted:
        rule = f"{kind} has number {envelope.number} on the link to {reader}, wanted {wanted}"
        raise PeerError(sender, rule, [reference])


def verify_signed(session: Session, envelope: Envelope) -> bytes:
    """The payload of a signed envelope; raises `DecodeError` unless its sender's pinned identity signed it."""
    if not is_signed(session.identities[envelope.sender], envelope):
        raise DecodeError("the signature is not by the pinned identity")
    return envelope.body[:-SIGNATURE_BYTES]


def is_signed(public: bytes, envelope: Envelope) -> bool:
    """Whether the envelope's body ends with a signature by this identity over header and payload."""
    payload, signature = envelope.body[:-SIGNATURE_BYTES], envelope.body[-SIGNATURE_BYTES:]
    return identity.verify(public, envelope.header + payload, signature)
