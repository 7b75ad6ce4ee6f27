"""Envelope: a header in clear and a body, sealed to its addressee or signed for everybody.

The header has session, sender, addressee, kind, stage, the number of the envelope on its link, its round, and the
digest of the sender's previous envelope. A round is a causal step: one more than the latest round of all that the
sender had read. It depends on the actions of roles and not on times of arrival, so rounds can be counted from a
transcript.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import cbor2

from protocols.crypto.identity import SIGNATURE_BYTES
from protocols.errors import DecodeError
from protocols.runtime import shared_work
from protocols.runtime.cbor_limits import ARRAY, STRING, is_plain, shortest_head
from protocols.runtime.session import PUBLIC_NAME

HELLO = "Hello"
STAGE_END = "StageEnd"
MAX_ENVELOPE_BYTES = 1 << 26
MAX_ROUNDS = 1 << 32
START = bytes(32)  # the chain of a sender that has sent nothing
_PARTS = 9  # eight of the header, and the body


@dataclass(frozen=True)
class Envelope:
    """Envelope on the wire. `number` counts the envelopes of one sender to one addressee, from 0."""

    session: bytes = field(repr=False)
    sender: str
    to: str
    kind: str
    stage: str
    number: int
    round: int
    prev: bytes = field(repr=False)
    body: bytes = field(repr=False)

    @cached_property
    def header(self) -> bytes:
        """Canonical bytes of the header, which seal and signature bind."""
        parts = [self.session, self.sender, self.to, self.kind, self.stage, self.number, self.round, self.prev]
        return cbor2.dumps(parts, canonical=True)

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of header and body: the next element of the sender's chain."""
        return hashlib.sha256(self.header + self.body).digest()

    @cached_property
    def size(self) -> int:
        """Bytes on the wire."""
        return wire_size(len(self.header), len(self.body))

    @property
    def is_public(self) -> bool:
        """True for an envelope to everybody, which is signed; any other is sealed."""
        return self.to == PUBLIC_NAME

    def as_expected(self, session: bytes, to: str, number: int) -> Envelope:
        """Return this envelope as its reader expects it: a copy whose header has this session, addressee and number."""
        if (session, to, number) == (self.session, self.to, self.number):
            return self
        return replace(self, session=session, to=to, number=number)

    def holding(self, body: bytes) -> Envelope:
        """Return an envelope with the same header and this body."""
        made = Envelope(
            self.session, self.sender, self.to, self.kind, self.stage, self.number, self.round, self.prev, body
        )
        made.__dict__["header"] = self.header  # the body is no part of it
        return made

    def encode(self) -> bytes:
        """Return the wire format: a canonical CBOR array of the header's eight parts and the body."""
        return shortest_head(ARRAY, _PARTS) + self.header[1:] + shortest_head(STRING, len(self.body)) + self.body

    @classmethod
    def decode(cls, data: bytes) -> Envelope:
        """Return the envelope; raise `DecodeError` unless `data` is exactly the encoding of one, and not too long."""
        if len(data) > MAX_ENVELOPE_BYTES:
            raise DecodeError("envelope.too_large", most=MAX_ENVELOPE_BYTES, got=len(data))
        if not is_plain(data, _PARTS + 1, 1):  # an array and its parts
            raise DecodeError("envelope.malformed")
        try:
            parts = cbor2.loads(data, max_depth=2, allow_indefinite=False, allow_duplicate_keys=False)
            envelope = cls(*parts)
            kinds = [type(part) for part in parts]
            same = kinds == [bytes, str, str, str, str, int, int, bytes, bytes] and envelope.encode() == data
        except (cbor2.CBORError, ArithmeticError, LookupError, TypeError, ValueError):
            same = False
        if not same or not (0 <= envelope.number < 1 << 64 and 0 <= envelope.round < 1 << 64):
            raise DecodeError("envelope.malformed")
        return envelope


def first_greetings(envelopes: Iterable[Envelope]) -> dict[str, Envelope]:
    """Return the first greeting of each sender as posted; its signature is checked where it is used."""
    greetings: dict[str, Envelope] = {}
    for e in envelopes:
        if e.kind == HELLO and e.is_public:
            greetings.setdefault(e.sender, e)
    return greetings


def wire_size(header: int, body: int) -> int:
    """Return the bytes on the wire of a header and a body of these lengths."""
    return header + len(shortest_head(STRING, body)) + body


def is_signed(public: bytes, envelope: Envelope) -> bool:
    """Tell whether the body ends with a signature by this identity over header and payload."""
    return shared_work.verify(public, envelope.header + signed_payload(envelope), envelope.body[-SIGNATURE_BYTES:])


def signed_payload(envelope: Envelope) -> bytes:
    """Return the body of a public envelope without its signature."""
    return envelope.body[:-SIGNATURE_BYTES]
