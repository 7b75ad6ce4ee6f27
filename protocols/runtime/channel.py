"""Channel: one participant's end of all its links. It seals, signs, numbers and chains, and checks what it receives.

Private envelopes are sealed to their addressee with the header as associated data. Public ones (the greeting with the
session's X25519 key, the published message, the end of a stage) are signed with the sender's identity over header and
payload; since the header holds the chain, each signature covers all earlier envelopes of the sender.

The keys of a link are derived at first use, from the peer's greeting, whose signature is checked then. An envelope that
does not open under the number that is due on its link was spoilt by somebody: nothing in it is believed, and its sender
is not blamed.

A closed link loses its keys, so that a later state does not open what was recorded on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from protocols.arithmetic.rng import Stream
from protocols.crypto import sealing
from protocols.crypto.identity import Signer
from protocols.crypto.sealing import LinkKeys, LinkSecret
from protocols.errors import DecodeError, LocalError, PeerError, somebody_between
from protocols.runtime.envelope import HELLO, MAX_ROUNDS, START, Envelope, is_signed, signed_payload
from protocols.runtime.session import PUBLIC_NAME, Session

GREETING_STAGE = "setup"  # the stage to which greetings belong
_SHOWN = 80


@dataclass(repr=False)
class Counters:
    """Counters of a channel: envelopes sent and received by link, its chain, and the latest round that it has read."""

    sent: dict[str, int] = field(default_factory=dict)
    received: dict[str, int] = field(default_factory=dict)
    chain: bytes = START
    round: int = 0


class Channel:
    """Links of one participant in one session; `board` holds the greetings that have been posted, by sender."""

    def __init__(self, session: Session, name: str, me: Signer, rng: Stream, board: Mapping[str, Envelope]) -> None:
        if session.identities.get(name) != me.public:
            raise LocalError("session.pins_another_identity", name=name)
        self.session, self.name, self._me, self._board = session, name, me, board
        self.peers = frozenset(session.peers(name))
        self.secret = rng.fork("x25519").bytes(sealing.KEY_BYTES)
        self._own: LinkSecret | None = None  # the same, once it was used
        self.counters = Counters()
        self.greetings: dict[str, Envelope] = {}  # those whose signature was checked here
        self._links: dict[str, LinkKeys] = {}

    def restore(
        self, secret: bytes, counters: Counters, greetings: Mapping[str, Envelope], left: Mapping[str, LinkKeys]
    ) -> None:
        """Continue from the values that an earlier channel of this participant saved."""
        self.secret, self.counters, self.greetings = secret, counters, dict(greetings)
        if not secret:
            self.peers, self._links = frozenset(left), dict(left)

    def close(self, peers: Iterable[str]) -> None:
        """Delete the keys of these links for good: the remaining state opens nothing that was sent on them."""
        kept = self.peers.difference(peers)
        if kept != self.peers:
            self._links = {peer: self.link(peer) for peer in sorted(kept)}
            self.peers, self.secret, self._own = kept, b"", None

    @property
    def left(self) -> Mapping[str, LinkKeys]:
        """Keys of the open links once some were closed; before that all keys follow from the secret."""
        return {} if self.secret else self._links

    def greet(self, said: bytes) -> Envelope:
        """Return the greeting: the session's X25519 key and the program's message, signed by the long-term identity."""
        hello = self.sign(HELLO, GREETING_STAGE, self._secret.public + said)
        self.counters.round = hello.round  # the sender of any other message has read greetings of that round
        return hello

    def sign(self, kind: str, stage: str, payload: bytes) -> Envelope:
        """Return a signed public envelope."""
        blank = self._next(PUBLIC_NAME, kind, stage)
        return self._post(blank, payload + self._me.sign(blank.header + payload))

    def seal(self, to: str, kind: str, stage: str, payload: bytes) -> Envelope:
        """Return a sealed private envelope; raise `LocalError` where there is no link to the addressee."""
        if to not in self.peers:
            raise LocalError("link.not_there", name=self.name, to=to)
        blank = self._next(to, kind, stage)
        return self._post(blank, sealing.seal(self.link(to).outgoing, blank.number, blank.header, payload))

    def open(self, envelope: Envelope) -> bytes:
        """Return the payload of the next envelope on its link; raise `PeerError` for any other, which names nobody."""
        sender = envelope.sender
        if sender not in self.peers:
            raise PeerError("somebody", "link.with_a_stranger", name=self.name, sender=sender[:_SHOWN])
        wanted = self.counters.received.get(sender, 0)
        expected = envelope.as_expected(self.session.id, self.name, wanted)
        key = self.link(sender).incoming
        try:
            payload = sealing.unseal(key, wanted, expected.header, envelope.body)
            if expected.header != envelope.header:
                raise DecodeError("envelope.another_header")
        except (DecodeError, ArithmeticError, UnicodeError) as error:
            raise PeerError(
                somebody_between(sender), "link.not_the_next", name=self.name, wanted=wanted, error=str(error)
            ) from None
        self.counters.received[sender] = wanted + 1
        return payload

    def is_of_sender(self, envelope: Envelope) -> bool:
        """Tell whether its sender sealed this envelope for this participant, whatever its number."""
        if envelope.sender not in self.peers or envelope.sender not in self._board:
            return False
        try:
            sealing.unseal(self.link(envelope.sender).incoming, envelope.number, envelope.header, envelope.body)
        except (DecodeError, PeerError, ArithmeticError, UnicodeError):
            return False
        return True

    def greeting(self, name: str) -> bytes:
        """Return the signed payload of a participant's greeting, its key first; its signature is checked here, once.

        Raise `LocalError` when there is none yet, and `PeerError` when its identity has not signed it.
        """
        if name not in self.greetings:
            if name not in self._board:
                raise LocalError("greeting.not_there", name=self.name, peer=name)
            hello = self._board[name]
            expected = Envelope(self.session.id, name, PUBLIC_NAME, HELLO, GREETING_STAGE, 0, 1, START, hello.body)
            if expected.header != hello.header or not is_signed(self.session.identities[name], hello):
                raise PeerError(somebody_between(name), "message.not_signed", kind=HELLO)
            self.greetings[name] = hello
        return signed_payload(self.greetings[name])

    def link(self, peer: str) -> LinkKeys:
        """Return the keys of both directions; raise `PeerError` when the peer signed an unusable key."""
        if peer not in self._links:
            try:
                theirs = self.greeting(peer)[: sealing.KEY_BYTES]
                self._links[peer] = sealing.link_keys(self._secret, theirs, self.session.id, self.name, peer)
            except DecodeError as error:
                raise PeerError(peer, error.fault.within(f"{HELLO} (public)"), evidence=[0]) from None
        return self._links[peer]

    @property
    def _secret(self) -> LinkSecret:
        if self._own is None or self._own.raw != self.secret:
            self._own = LinkSecret(self.secret)
        return self._own

    def has_read(self, number: int) -> None:
        """Note the round of a message that was read; the bound keeps a peer from forcing a round that others refuse."""
        self.counters.round = min(max(self.counters.round, number), MAX_ROUNDS - 2)

    def _next(self, to: str, kind: str, stage: str) -> Envelope:
        at = self.counters
        return Envelope(self.session.id, self.name, to, kind, stage, at.sent.get(to, 0), at.round + 1, at.chain, b"")

    def _post(self, blank: Envelope, body: bytes) -> Envelope:
        envelope = blank.holding(body)
        self.counters.sent[blank.to] = blank.number + 1
        self.counters.chain = envelope.digest
        return envelope
