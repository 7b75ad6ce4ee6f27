"""Bulletin board: public envelopes of a session, readable by everybody, in the order of posting."""

from __future__ import annotations

from typing import Any

from protocols.errors import DecodeError, PeerError, shown, somebody_between
from protocols.runtime import message as messages
from protocols.runtime.envelope import HELLO, STAGE_END, Envelope, is_signed, signed_payload
from protocols.runtime.message import PUBLIC
from protocols.runtime.session import PUBLIC_NAME, Session


class BulletinBoard:
    """Public envelopes of one session.

    `greetings` holds each participant's first envelope as it was posted; its signature is checked where it is used.
    `received` counts each sender's envelopes, `published` holds each participant's one published message.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.greetings: dict[str, Envelope] = {}
        self.received: dict[str, int] = {}
        self.published: dict[str, Any] = {}

    def post(self, envelope: Envelope) -> None:
        """Add the next envelope of its sender; raise `PeerError` for one that is not due, or whose signature does not
        verify.

        A sender is blamed only for an envelope that it signed.
        """
        sender = envelope.sender
        if sender not in self.session.participants:
            raise PeerError("somebody", "board.sender_takes_no_part", sender=sender[:80])
        wanted = self.received.get(sender, 0)
        expected = envelope.as_expected(self.session.id, PUBLIC_NAME, wanted)
        greets = wanted == 0 and envelope.kind == HELLO
        if not _is_encodable(envelope) or expected.header != envelope.header or not self._holds(envelope, greets):
            raise PeerError(
                somebody_between(sender), "board.not_the_next", kind=envelope.kind[:80], wanted=wanted, sender=sender
            )
        if greets:
            self.greetings[sender] = envelope
        else:
            self._read(envelope)
        self.received[sender] = wanted + 1

    def _holds(self, envelope: Envelope, greets: bool) -> bool:
        return greets or is_signed(self.session.identities[envelope.sender], envelope)

    def _read(self, envelope: Envelope) -> None:
        try:
            self._keep(envelope, signed_payload(envelope))
        except DecodeError as error:
            fault = error.fault.within(f"{shown(envelope.kind)} (public)")
            raise PeerError(envelope.sender, fault, evidence=[envelope.number]) from None

    def _keep(self, envelope: Envelope, payload: bytes) -> None:
        sender = envelope.sender
        if envelope.kind == STAGE_END:
            if payload:
                raise DecodeError("board.stage_end_carries_something")
            return
        kind = self.session.kinds.get(envelope.kind)
        if kind is None or not kind.route.allows(self.session.kind(sender), PUBLIC):
            raise DecodeError("board.not_public")
        if sender in self.published:
            raise DecodeError("board.published_before")
        self.published[sender] = messages.decode(kind, payload, self.session.layout, {})


def _is_encodable(envelope: Envelope) -> bool:
    """Tell whether the header has an encoding: a Python string can hold surrogates, which no text has."""
    try:
        return bool(envelope.header)
    except (ArithmeticError, UnicodeError):
        return False
