"""Decryption of one participant's sealed envelopes, both ways, with its X25519 secret and the recorded greetings.

Envelopes are found by their lines in a transcript. Both ends of a link have its keys, so a view opens sent and received
envelopes; each line is opened by itself, whatever the role did with the lines before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from protocols.crypto import sealing
from protocols.crypto.sealing import KEY_BYTES, LinkKeys, LinkSecret
from protocols.errors import DecodeError, LocalError
from protocols.runtime import message as messages
from protocols.runtime.envelope import Envelope, first_greetings
from protocols.runtime.message import Keys, Message
from protocols.runtime.session import Session


@dataclass(frozen=True, repr=False)
class DecryptedEnvelope:
    """Sealed envelope of the transcript as one of its two ends sees it.

    `payload` is None when the seal does not verify, `message` when there is none or it cannot be decoded; `fault` gives
    the reason, and is None as well where a key is missing that the role had not received yet.
    """

    line: int
    envelope: Envelope
    payload: bytes | None
    message: Message | None
    fault: str | None = None


class LinkDecryption:
    """Sealed links of one participant, from its X25519 `secret`.

    Greetings are taken as they stand in the transcript; their signatures are checked elsewhere.
    """

    def __init__(self, session: Session, name: str, secret: bytes, record: Mapping[int, Envelope]) -> None:
        self._session, self.name, self._secret = session, name, LinkSecret(secret)
        self._record = record
        self._links: dict[str, LinkKeys] = {}

    @property
    def public(self) -> bytes:
        """X25519 key that the participant's own greeting must carry."""
        return self._secret.public

    @cached_property
    def greetings(self) -> Mapping[str, bytes]:
        """First key that each participant announced."""
        return {sender: e.body[:KEY_BYTES] for sender, e in first_greetings(self._record.values()).items()}

    def key(self, sender: str, to: str) -> bytes:
        """Return the key of one direction of a link; raise `DecodeError` when the peer announced no usable key."""
        peer = to if sender == self.name else sender
        if peer not in self._links:
            theirs = self.greetings.get(peer, b"")
            self._links[peer] = sealing.link_keys(self._secret, theirs, self._session.id, self.name, peer)
        return self._links[peer].outgoing if sender == self.name else self._links[peer].incoming

    def open(self, line: int, keys: Keys) -> DecryptedEnvelope:
        """Open one line; `keys` are those of its ciphertexts."""
        envelope = self._record[line]
        try:
            key = self.key(envelope.sender, envelope.to)
            payload = sealing.unseal(key, envelope.number, envelope.header, envelope.body)
        except (DecodeError, OverflowError):  # a number that no nonce holds
            return DecryptedEnvelope(line, envelope, None, None, "the seal is broken")
        kind = self._session.kinds.get(envelope.kind)
        if kind is None:
            return DecryptedEnvelope(line, envelope, payload, None, f"not a message of {self._session.program.name}")
        try:
            return DecryptedEnvelope(
                line, envelope, payload, messages.decode(kind, payload, self._session.layout_in(envelope.stage), keys)
            )
        except DecodeError as error:
            return DecryptedEnvelope(line, envelope, payload, None, str(error))
        except LocalError:
            return DecryptedEnvelope(line, envelope, payload, None)

    def open_all(self, keys: Keys, read: Mapping[int, tuple[bytes, Message]]) -> tuple[DecryptedEnvelope, ...]:
        """Open every sealed line from or to this participant, in the order of the transcript; `read`: those read
        before.
        """
        mine = {n: e for n, e in self._record.items() if self.name in (e.sender, e.to) and e.sender != e.to}
        sealed = {n: e for n, e in mine.items() if not e.is_public}
        return tuple(DecryptedEnvelope(n, e, *read[n]) if n in read else self.open(n, keys) for n, e in sealed.items())
