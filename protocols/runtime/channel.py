"""One participant's end of all its links: seals, signs, numbers and chains what it sends; checks what it gets.

Private mail is sealed to its addressee with the header as associated data. Public mail (the greeting with the
session's X25519 key, the published share, the mark at the end of a stage) is signed with the sender's identity over
header and payload; since the header holds the chain, each signature signs all that came before.

A link is derived when it is first used, from the peer's greeting, whose signature is checked then. What does not open
under the number that is due on its link was spoilt by somebody: nothing that it says of itself is believed, and its
sender is not blamed.

A link that is done with is closed: its keys are forgotten, so that whoever gets hold of a later state cannot open what
was recorded on it.
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
    """How far a channel has come: envelopes sent and received by link, its chain, and the latest round it has read."""

    sent: dict[str, int] = field(default_factory=dict)
    received: dict[str, int] = field(default_factory=dict)
    chain: bytes = START
    round: int = 0


class Channel:
    """The links of one participant in one session; `board` holds the greetings that have been posted, by sender."""

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
        """Continue from what an earlier channel of this participant left behind."""
        self.secret, self.counters, self.greetings = secret, counters, dict(greetings)
        if not secret:
            self.peers, self._links = frozenset(left), dict(left)

    def close(self, peers: Iterable[str]) -> None:
        """Forget the keys of these links for good: with what is left nobody can open what was sent on them."""
        kept = self.peers.difference(peers)
        if kept != self.peers:
            self._links = {peer: self.link(peer) for peer in sorted(kept)}
            self.peers, self.secret, self._own = kept, b"", None

    @property
    def left(self) -> Mapping[str, LinkKeys]:
        """The links that are left once some were closed; before that all follow from the secret."""
        return {} if self.secret else self._links

    def greet(self, said: bytes) -> Envelope:
        """The greeting: this session's X25519 key and what the program says, signed by the long-term identity."""
        hello = self.sign(HELLO, GREETING_STAGE, self._secret.public + said)
        self.counters.round = hello.round  # whoever sends anything else has read greetings of that round
        return hello

    def sign(self, kind: str, stage: str, payload: bytes) -> Envelope:
        """A signed public envelope."""
        blank = self._next(PUBLIC_NAME, kind, stage)
        return self._post(blank, payload + self._me.sign(blank.header + payload))

    def seal(self, to: str, kind: str, stage: str, payload: bytes) -> Envelope:
        """A sealed private envelope; raises `LocalError` for somebody with whom there is no link."""
        if to not in self.peers:
            raise LocalError("link.not_there", name=self.name, to=to)
        blank = self._next(to, kind, stage)
        return self._post(blank, sealing.seal(self.link(to).outgoing, blank.number, blank.header, payload))

    def open(self, envelope: Envelope) -> bytes:
        """The payload of the next mail on its link; raises `PeerError` for whatever else it is, blaming nobody."""
        sender = envelope.sender
        if sender not in self.peers:
            raise PeerError("somebody", "link.with_a_stranger", name=self.name, sender=sender[:_SHOWN])
        wanted = self.counters.received.get(sender, 0)
        due = envelope.due(self.session.id, self.name, wanted)
        key = self.link(sender).incoming
        try:
            payload = sealing.unseal(key, wanted, due.header, envelope.body)
            if due.header != envelope.header:
                raise DecodeError("envelope.another_header")
        except (DecodeError, ArithmeticError, UnicodeError) as error:
            raise PeerError(
                somebody_between(sender), "link.not_the_next", name=self.name, wanted=wanted, error=str(error)
            ) from None
        self.counters.received[sender] = wanted + 1
        return payload

    def is_of_sender(self, envelope: Envelope) -> bool:
        """Whether its sender sealed this envelope for this participant, be it the next on its link or not."""
        if envelope.sender not in self.peers or envelope.sender not in self._board:
            return False
        try:
            sealing.unseal(self.link(envelope.sender).incoming, envelope.number, envelope.header, envelope.body)
        except (DecodeError, PeerError, ArithmeticError, UnicodeError):
            return False
        return True

    def greeting(self, name: str) -> bytes:
        """What a participant signed in its greeting, its key first; the signature is checked here, and once.

        Raises `LocalError` when there is none yet, and `PeerError` for one that its identity has not signed.
        """
        if name not in self.greetings:
            if name not in self._board:
                raise LocalError("greeting.not_there", name=self.name, peer=name)
            hello = self._board[name]
            due = Envelope(self.session.id, name, PUBLIC_NAME, HELLO, GREETING_STAGE, 0, 1, START, hello.body)
            if due.header != hello.header or not is_signed(self.session.identities[name], hello):
                raise PeerError(somebody_between(name), "message.not_signed", kind=HELLO)
            self.greetings[name] = hello
        return signed_payload(self.greetings[name])

    def link(self, peer: str) -> LinkKeys:
        """The keys of both directions; raises `PeerError` when the peer signed a key that cannot be used."""
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
        """The role has read mail of this round; a peer cannot make it state one that others refuse."""
        self.counters.round = min(max(self.counters.round, number), MAX_ROUNDS - 2)

    def _next(self, to: str, kind: str, stage: str) -> Envelope:
        at = self.counters
        return Envelope(self.session.id, self.name, to, kind, stage, at.sent.get(to, 0), at.round + 1, at.chain, b"")

    def _post(self, blank: Envelope, body: bytes) -> Envelope:
        envelope = blank.holding(body)
        self.counters.sent[blank.to] = blank.number + 1
        self.counters.chain = envelope.digest
        return envelope
